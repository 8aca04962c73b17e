//! Captures in the newer format, pcapng, read as if they were in the older one.

use std::io::{self, Chain, Cursor, Read};

/// The type of a section's first block, in either byte order.
const SECTION: u32 = 0x0a0d_0d0a;
const ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;
/// The option of an interface that says what its time stamps count.
const RESOLUTION: u16 = 9;
/// The older format's magic number, with nanoseconds.
const MAGIC_NANOS: u32 = 0xa1b2_3c4d;
/// No block is longer, so that a file that is not what it seems cannot fill the memory.
const LONGEST: usize = 16 << 20;

/// A capture in the older format, whichever it is in.
pub(crate) enum Capture<R> {
    /// As it is.
    Old(Chain<Cursor<Vec<u8>>, R>),
    /// Turned into the older format on the way.
    New(Box<Converted<R>>),
}

impl<R> Capture<R> {
    /// Places in what is read are those of the file.
    pub(crate) fn has_places(&self) -> bool {
        matches!(self, Self::Old(_))
    }
}

impl<R: Read> Read for Capture<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Old(input) => input.read(out),
            Self::New(input) => input.read(out),
        }
    }
}

/// Looks at the first bytes.
pub(crate) fn as_pcap<R: Read>(mut input: R) -> io::Result<Capture<R>> {
    let mut head = Vec::new();
    input.by_ref().take(4).read_to_end(&mut head)?;
    let new = head == SECTION.to_be_bytes();
    let input = Cursor::new(head).chain(input);
    Ok(match new {
        false => Capture::Old(input),
        true => Capture::New(Box::new(Converted {
            input,
            big: false,
            interfaces: Vec::new(),
            link: None,
            ready: Vec::new(),
            at: 0,
        })),
    })
}

struct Interface {
    link: u16,
    /// Time stamps in a second.
    ticks: u128,
    snap: u32,
}

/// A pcapng that comes out as a pcap.
pub(crate) struct Converted<R> {
    input: Chain<Cursor<Vec<u8>>, R>,
    big: bool,
    interfaces: Vec<Interface>,
    /// The kind of link that the older format has one of.
    link: Option<u16>,
    ready: Vec<u8>,
    at: usize,
}

fn wrong(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("pcapng: {problem}"))
}

impl<R: Read> Converted<R> {
    fn u16(&self, bytes: &[u8], at: usize) -> io::Result<u16> {
        let two = bytes.get(at..at + 2).and_then(|two| two.try_into().ok());
        let two = two.ok_or_else(|| wrong("a block is too short"))?;
        Ok(match self.big {
            true => u16::from_be_bytes(two),
            false => u16::from_le_bytes(two),
        })
    }

    fn u32(&self, bytes: &[u8], at: usize) -> io::Result<u32> {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        let four = four.ok_or_else(|| wrong("a block is too short"))?;
        Ok(match self.big {
            true => u32::from_be_bytes(four),
            false => u32::from_le_bytes(four),
        })
    }

    /// Reads the next block into `ready`; false at the end of the file.
    fn advance(&mut self) -> io::Result<bool> {
        let mut head = Vec::new();
        self.input.by_ref().take(8).read_to_end(&mut head)?;
        if head.is_empty() {
            return Ok(false);
        }
        let kind = self.u32(&head, 0)?;
        if kind == SECTION {
            // Its first number says in which order the bytes of all others are.
            let order = self.body(4)?;
            let order = [order[0], order[1], order[2], order[3]];
            self.big = match (u32::from_le_bytes(order), u32::from_be_bytes(order)) {
                (ORDER, _) => false,
                (_, ORDER) => true,
                _ => return Err(wrong("a section has no byte order")),
            };
            self.interfaces.clear();
            let rest = self.length(&head)?.saturating_sub(12);
            self.body(rest)?;
            return Ok(true);
        }
        let length = self.length(&head)?.saturating_sub(8);
        let body = self.body(length)?;
        match kind {
            INTERFACE => self.interface(&body)?,
            PACKET => {
                let number = self.u32(&body, 0)? as usize;
                let high = u64::from(self.u32(&body, 4)?) << 32;
                let time = high | u64::from(self.u32(&body, 8)?);
                let length = self.u32(&body, 12)? as usize;
                let data = body.get(20..20 + length);
                self.packet(number, time, data)?;
            }
            SIMPLE_PACKET => {
                let snap = self.interfaces.first().map_or(0, |first| first.snap);
                let whole = self.u32(&body, 0)?;
                let length = if snap == 0 { whole } else { whole.min(snap) } as usize;
                self.packet(0, 0, body.get(4..4 + length))?;
            }
            _ => {}
        }
        Ok(true)
    }

    fn length(&self, head: &[u8]) -> io::Result<usize> {
        match self.u32(head, 4)? as usize {
            length if (12..=LONGEST).contains(&length) => Ok(length),
            _ => Err(wrong("a block's length is senseless")),
        }
    }

    /// The rest of a block, its length at the end included.
    fn body(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.input
            .by_ref()
            .take(length as u64)
            .read_to_end(&mut body)?;
        match body.len() == length {
            true => Ok(body),
            false => Err(wrong("the file breaks off within a block")),
        }
    }

    fn interface(&mut self, body: &[u8]) -> io::Result<()> {
        let mut interface = Interface {
            link: self.u16(body, 0)?,
            ticks: 1_000_000,
            snap: self.u32(body, 4)?,
        };
        let mut at = 8;
        while let (Ok(option), Ok(length)) = (self.u16(body, at), self.u16(body, at + 2)) {
            if option == 0 {
                break;
            }
            if let (RESOLUTION, Some(&value)) = (option, body.get(at + 4)) {
                let power = u32::from(value & 0x7f);
                let base: u128 = if value & 0x80 == 0 { 10 } else { 2 };
                let ticks = base.checked_pow(power);
                interface.ticks = ticks.ok_or_else(|| wrong("time stamps are too fine"))?;
            }
            at += 4 + usize::from(length).next_multiple_of(4);
        }
        if self.link.is_none() {
            self.link = Some(interface.link);
            for number in [MAGIC_NANOS, 0x0004_0002, 0, 0, 0x0004_0000] {
                self.ready.extend_from_slice(&number.to_le_bytes());
            }
            let link = u32::from(interface.link);
            self.ready.extend_from_slice(&link.to_le_bytes());
        }
        self.interfaces.push(interface);
        Ok(())
    }

    fn packet(&mut self, number: usize, time: u64, data: Option<&[u8]>) -> io::Result<()> {
        let data = data.ok_or_else(|| wrong("a packet is longer than its block"))?;
        let interface = self.interfaces.get(number);
        let interface = interface.ok_or_else(|| wrong("a packet has no interface"))?;
        if Some(interface.link) != self.link {
            return Err(wrong("its interfaces are of different kinds"));
        }
        let nanos = u128::from(time) * 1_000_000_000 / interface.ticks;
        let seconds = u32::try_from(nanos / 1_000_000_000).unwrap_or(u32::MAX);
        let length = data.len() as u32;
        for value in [seconds, (nanos % 1_000_000_000) as u32, length, length] {
            self.ready.extend_from_slice(&value.to_le_bytes());
        }
        self.ready.extend_from_slice(data);
        Ok(())
    }
}

impl<R: Read> Read for Converted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.ready.len() {
            self.ready.clear();
            self.at = 0;
            if !self.advance()? {
                return Ok(0);
            }
        }
        let n = (self.ready.len() - self.at).min(out.len());
        out[..n].copy_from_slice(&self.ready[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, body: &[u8], big: bool) -> Vec<u8> {
        let number = |n: u32| {
            if big {
                n.to_be_bytes()
            } else {
                n.to_le_bytes()
            }
        };
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = number(body.len() as u32 + 12);
        [&number(kind)[..], &length, &body, &length].concat()
    }

    #[test]
    fn both_byte_orders_come_out_the_same() {
        let mut outcomes = Vec::new();
        for big in [false, true] {
            let n4 = |n: u32| {
                if big {
                    n.to_be_bytes()
                } else {
                    n.to_le_bytes()
                }
            };
            let n2 = |n: u16| {
                if big {
                    n.to_be_bytes()
                } else {
                    n.to_le_bytes()
                }
            };
            let section = [&n4(ORDER)[..], &n2(1), &n2(0), &[0xff; 8]].concat();
            // Nanoseconds.
            let interface = [
                &n2(1)[..],
                &n2(0),
                &n4(0),
                &n2(9),
                &n2(1),
                &[9, 0, 0, 0],
                &n4(0),
            ]
            .concat();
            let time: u64 = 5_000_000_007;
            let packet = [
                &n4(0)[..],
                &n4((time >> 32) as u32),
                &n4(time as u32),
                &n4(3),
                &n4(3),
                b"abc",
            ]
            .concat();
            let mut file = block(SECTION, &section, big);
            file.extend(block(INTERFACE, &interface, big));
            file.extend(block(5, b"statistics", big));
            file.extend(block(PACKET, &packet, big));
            let mut out = Vec::new();
            as_pcap(&file[..]).unwrap().read_to_end(&mut out).unwrap();
            assert_eq!(&out[..4], MAGIC_NANOS.to_le_bytes());
            assert_eq!(&out[24..], b"\x05\0\0\0\x07\0\0\0\x03\0\0\0\x03\0\0\0abc");
            outcomes.push(out);
            // Cut anywhere, it is an error or a shorter capture.
            for end in 0..file.len() {
                let _ = as_pcap(&file[..end]).map(|mut cut| cut.read_to_end(&mut Vec::new()));
            }
        }
        assert_eq!(outcomes[0], outcomes[1]);
    }
}
