//! Captures: the classic pcap format, Ethernet, microseconds.
//!
//! Read in either byte order, with micro- or nanoseconds; the writer makes little endian with microseconds.

use std::io::{self, Read, Write};

use thiserror::Error;

use crate::{ItsTime, MAX_MESSAGE_LEN};

const MAGIC_MICROS: u32 = 0xA1B2_C3D4;
const MAGIC_NANOS: u32 = 0xA1B2_3C4D;
const LINK_ETHERNET: u32 = 1;
const SNAP_LEN: u32 = 65_535;
/// The longest packet of a foreign capture that is read.
const PACKET_MAX: u32 = 262_144;

/// A time stamp of a capture: microseconds of Unix time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CaptureTime(pub i64);

impl From<ItsTime> for CaptureTime {
    fn from(time: ItsTime) -> Self {
        Self(time.to_unix_micros())
    }
}

/// Writes a capture that Wireshark opens.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins a capture.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(mut out: W) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend_from_slice(&MAGIC_MICROS.to_le_bytes());
        header.extend_from_slice(&[2, 0, 4, 0]);
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&SNAP_LEN.to_le_bytes());
        header.extend_from_slice(&LINK_ETHERNET.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out })
    }

    /// Adds a frame that was sent at `at`. Times before 1970 are written as 1970, those after 2106 as 2106.
    ///
    /// # Errors
    /// What the output says, or the frame is longer than [`MAX_MESSAGE_LEN`].
    pub fn write(&mut self, at: CaptureTime, frame: &[u8]) -> io::Result<()> {
        self.write_of(at, frame, 0)
    }

    /// Adds the beginning of a frame of `length` bytes: readers are told that the rest was not captured. A length below that of
    /// `frame` is that of `frame`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_of(&mut self, at: CaptureTime, frame: &[u8], length: u32) -> io::Result<()> {
        if frame.len() > MAX_MESSAGE_LEN {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "a frame of {} bytes is longer than {MAX_MESSAGE_LEN}",
                    frame.len()
                ),
            ));
        }
        let micros = at.0.clamp(0, i64::from(u32::MAX) * 1_000_000);
        let captured = frame.len() as u32;
        let mut header = [0; 16];
        header[..4].copy_from_slice(&((micros / 1_000_000) as u32).to_le_bytes());
        header[4..8].copy_from_slice(&((micros % 1_000_000) as u32).to_le_bytes());
        header[8..12].copy_from_slice(&captured.to_le_bytes());
        header[12..].copy_from_slice(&captured.max(length).to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(frame)
    }

    /// Ends the capture and gives the output back.
    ///
    /// # Errors
    /// What the output says when flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Why a capture cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum ReadError {
    /// The file could not be read.
    #[error("the capture cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file ends inside its header or inside a packet.
    #[error(
        "the capture ends at byte {offset}, inside {}; it is cut", if *packet == 0 { "its header".to_owned() } else { format!("packet {packet}") }
    )]
    Truncated {
        /// Which packet, from 1; 0 for the header of the file.
        packet: u64,
        /// How long the file is.
        offset: u64,
    },
    /// It does not begin as a capture does.
    #[error(
        "the file begins with {found:#010x}, expected a pcap capture (0xa1b2c3d4); save pcapng as \"pcap\""
    )]
    NoCapture {
        /// The first four bytes, little endian.
        found: u32,
    },
    /// It was not taken from Ethernet.
    #[error("the capture has link type {found}, expected Ethernet (1)")]
    LinkType { found: u32 },
    /// A packet claims to be longer than any.
    #[error(
        "packet {packet} at byte {offset} claims to have {found} bytes, expected at most {PACKET_MAX}; the file is damaged"
    )]
    PacketTooLong {
        /// Which one, from 1.
        packet: u64,
        /// Where its header begins in the file.
        offset: u64,
        found: u32,
    },
}

/// Reads a capture, packet by packet; memory is bounded by one packet.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    big_endian: bool,
    nanos: bool,
    packets: u64,
    offset: u64,
    frame_at: u64,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// It is no capture of Ethernet frames.
    pub fn new(mut input: R) -> Result<Self, ReadError> {
        let mut header = [0; 24];
        let got = fill(&mut input, &mut header)?;
        if got < header.len() {
            return Err(ReadError::Truncated {
                packet: 0,
                offset: got as u64,
            });
        }
        let magic = [header[0], header[1], header[2], header[3]];
        let little = u32::from_le_bytes(magic);
        let big = u32::from_be_bytes(magic);
        let (big_endian, nanos) = match (little, big) {
            (MAGIC_MICROS, _) => (false, false),
            (MAGIC_NANOS, _) => (false, true),
            (_, MAGIC_MICROS) => (true, false),
            (_, MAGIC_NANOS) => (true, true),
            _ => return Err(ReadError::NoCapture { found: little }),
        };
        let reader = Self {
            input,
            big_endian,
            nanos,
            packets: 0,
            offset: header.len() as u64,
            frame_at: 0,
        };
        // The upper bits may tell about frame check sequences.
        let link = reader.number(&header[20..]) & 0xFFFF;
        if link != LINK_ETHERNET {
            return Err(ReadError::LinkType { found: link });
        }
        Ok(reader)
    }

    fn number(&self, bytes: &[u8]) -> u32 {
        let mut four = [0; 4];
        four.copy_from_slice(&bytes[..4]);
        if self.big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
    }

    /// Which frame was read last, from 1; 0 before the first.
    #[must_use]
    pub fn frame_number(&self) -> u64 {
        self.packets
    }

    /// Where in the file the frame that was read last begins.
    #[must_use]
    pub fn frame_offset(&self) -> u64 {
        self.frame_at
    }

    /// The next frame; none at the end.
    ///
    /// # Errors
    /// The file ends inside a packet, or is damaged.
    pub fn next_frame(&mut self) -> Result<Option<(CaptureTime, Vec<u8>)>, ReadError> {
        let mut header = [0; 16];
        let got = fill(&mut self.input, &mut header)?;
        if got == 0 {
            return Ok(None);
        }
        self.packets += 1;
        self.whole(got, header.len())?;
        let length = self.number(&header[8..]);
        if length > PACKET_MAX {
            return Err(ReadError::PacketTooLong {
                packet: self.packets,
                offset: self.offset - header.len() as u64,
                found: length,
            });
        }
        self.frame_at = self.offset;
        let mut frame = vec![0; length as usize];
        let got = fill(&mut self.input, &mut frame)?;
        self.whole(got, frame.len())?;
        let fraction = i64::from(self.number(&header[4..]));
        let micros = if self.nanos {
            fraction / 1_000
        } else {
            fraction
        };
        let at = CaptureTime(i64::from(self.number(&header)) * 1_000_000 + micros);
        Ok(Some((at, frame)))
    }

    /// Counts `got` bytes; fewer than `wanted` are the end of the file in the wrong place.
    fn whole(&mut self, got: usize, wanted: usize) -> Result<(), ReadError> {
        self.offset += got as u64;
        if got == wanted {
            Ok(())
        } else {
            Err(ReadError::Truncated {
                packet: self.packets,
                offset: self.offset,
            })
        }
    }
}

/// Reads until `buffer` is full or the input ends; how many bytes there were.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_go_there_and_back_with_their_times() {
        // 2026-11-15 23:00:00 UTC.
        let at = ItsTime::from_unix_millis(1_794_783_600_123).unwrap();
        assert_eq!(at.to_unix_micros(), 1_794_783_600_123_000);
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.write(at.into(), &[1, 2, 3]).unwrap();
        writer.write(CaptureTime(-5), &[]).unwrap();
        assert!(writer.write(CaptureTime(0), &vec![0; 10_000]).is_err());
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes.len(), 24 + 16 + 3 + 16);
        let mut reader = Reader::new(&bytes[..]).unwrap();
        let first = reader.next_frame().unwrap();
        assert_eq!(first, Some((at.into(), vec![1, 2, 3])));
        assert_eq!((reader.frame_number(), reader.frame_offset()), (1, 24 + 16));
        assert_eq!(reader.next_frame().unwrap(), Some((CaptureTime(0), vec![])));
        assert_eq!(reader.next_frame().unwrap(), None);
        assert_eq!((reader.frame_number(), reader.frame_offset()), (2, 59));
        for end in 0..bytes.len() {
            let Ok(mut reader) = Reader::new(&bytes[..end]) else {
                assert!(end < 24);
                continue;
            };
            let error = loop {
                match reader.next_frame() {
                    Ok(Some(_)) => {}
                    Ok(None) => break None,
                    Err(error) => break Some(error.to_string()),
                }
            };
            // Cut between packets it is a shorter capture.
            let packet = 1 + u32::from(end > 43);
            let text = format!("the capture ends at byte {end}, inside packet {packet}; it is cut");
            assert_eq!(error, (end != 24 && end != 43).then_some(text));
        }
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let mut bytes = Writer::new(Vec::new()).unwrap().finish().unwrap();
        bytes[20] = 105;
        let error = Reader::new(&bytes[..]).unwrap_err().to_string();
        assert_eq!(
            error,
            "the capture has link type 105, expected Ethernet (1)"
        );
        bytes[0] = 0;
        assert!(matches!(
            Reader::new(&bytes[..]),
            Err(ReadError::NoCapture { .. })
        ));
        let mut damaged = Writer::new(Vec::new()).unwrap().finish().unwrap();
        damaged.extend([0xFF; 16]);
        let mut reader = Reader::new(&damaged[..]).unwrap();
        assert!(matches!(
            reader.next_frame(),
            Err(ReadError::PacketTooLong {
                packet: 1,
                offset: 24,
                ..
            })
        ));
    }
}
