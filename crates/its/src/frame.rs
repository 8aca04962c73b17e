//! Frames: a message in BTP-B, in a GeoNetworking single-hop broadcast, in Ethernet.
//!
//! | bytes | what |
//! |---|---|
//! | 14 | Ethernet: broadcast address, sender, type 0x8947 |
//! | 4 + 8 | GeoNetworking basic and common header (EN 302 636-4-1 v1.3.1) |
//! | 28 | single-hop broadcast: the sender's address, time, position, speed, heading |
//! | 4 | BTP-B (EN 302 636-5-1): destination port |
//!
//! [`decode_frame`] takes frames of other stacks, too: any GeoNetworking packet type, signed ones (their signature is not
//! checked), and messages that are none of ours, whose bytes it hands back. Headers are written by the `geonetworking` crate;
//! they are read here, because that crate's reader panics on negative speeds (0.4.2) and recurses with nested signatures.

use c_its_parser::gn::en302636_4_1 as gn;
use c_its_parser::gn::{Encode as _, Packet};

use crate::cam::{Cam, WirePosition};
use crate::cpm::Cpm;
use crate::error::{DecodeError, EncodeError};
use crate::{ItsTime, MAX_MESSAGE_LEN};

/// GeoNetworking in Ethernet.
pub const ETHERTYPE: u16 = 0x8947;
/// BTP port of CAMs (TS 103 248).
pub const PORT_CAM: u16 = 2_001;
/// BTP port of CPMs (TS 103 248), fused states included.
pub const PORT_CPM: u16 = 2_009;
/// Bytes of the Ethernet header.
pub const ETHERNET_LEN: usize = 14;
/// Bytes that GeoNetworking (single-hop broadcast) and BTP-B put before a message.
pub const HEADERS_LEN: usize = 4 + 8 + 28 + 4;

const LIFETIME_MS: u32 = 1_000;
const BASIC_LEN: usize = 4;
const COMMON_LEN: usize = 8;
const BTP_LEN: usize = 4;
/// Packet type of single-hop (subtype 0) and multi-hop (1) broadcasts.
const TOPOLOGICALLY_SCOPED: u8 = 5;

/// Who sends a frame, as its header tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The station; its number makes the link-layer address 02:00 and four bytes.
    pub station_id: u32,
    /// When its position was taken.
    pub time: ItsTime,
    /// Where it is.
    pub position: WirePosition,
    /// Hundredths of m/s; negative backwards.
    pub speed: i16,
    /// Tenths of a degree clockwise from north.
    pub heading: u16,
}

impl Source {
    /// The sender of `cam` at `time`. Speed and heading that are unavailable are 0.
    #[must_use]
    pub fn of_cam(cam: &Cam, time: ItsTime) -> Self {
        let speed = cam.speed.map_or(0, |speed| speed.min(16_382) as i16);
        Self {
            station_id: cam.station_id,
            time,
            position: cam.position,
            speed: if cam.backward == Some(true) {
                -speed
            } else {
                speed
            },
            heading: cam.heading.unwrap_or(0),
        }
    }

    /// The sender of `cpm`, whose speed a CPM does not tell.
    #[must_use]
    pub fn of_cpm(cpm: &Cpm, speed: i16) -> Self {
        Self {
            station_id: cpm.station_id,
            time: ItsTime(cpm.reference_ms),
            position: cpm.position,
            speed,
            heading: cpm.orientation.flatten().unwrap_or(0),
        }
    }

    /// The link-layer address.
    #[must_use]
    pub fn address(&self) -> [u8; 6] {
        let [a, b, c, d] = self.station_id.to_be_bytes();
        // Bit 1 of the first byte: locally administered.
        [0x02, 0, a, b, c, d]
    }
}

/// The Ethernet frame that carries `message` to `port`.
///
/// # Errors
/// The message is longer than [`MAX_MESSAGE_LEN`], or the speed does not fit.
pub fn encode_frame(message: &[u8], port: u16, source: &Source) -> Result<Vec<u8>, EncodeError> {
    if message.len() > MAX_MESSAGE_LEN - ETHERNET_LEN - HEADERS_LEN {
        return Err(EncodeError::Field {
            field: "the message's length in bytes",
            found: message.len() as i64,
            low: 0,
            high: (MAX_MESSAGE_LEN - ETHERNET_LEN - HEADERS_LEN) as i64,
        });
    }
    let refused = |error: gn::Error| EncodeError::Asn1(error.to_string());
    let mut payload = Vec::with_capacity(BTP_LEN + message.len());
    payload.extend_from_slice(&port.to_be_bytes());
    payload.extend_from_slice(&[0, 0]);
    payload.extend_from_slice(message);
    let address = source.address();
    let packet = Packet::Unsecured {
        basic: gn::BasicHeader::try_new(
            1,
            gn::NextAfterBasic::CommonHeader,
            gn::Lifetime::from_milliseconds(LIFETIME_MS),
            1,
        )
        .map_err(refused)?,
        common: gn::CommonHeader::from_values(
            gn::NextAfterCommon::BTPB,
            gn::HeaderType::TopologicallyScopedBroadcast(gn::BroadcastType::SingleHop),
            gn::TrafficClass::try_new(false, false, 2).map_err(refused)?,
            true,
            payload.len() as u16,
            1,
        ),
        extended: Some(gn::ExtendedHeader::SHB(gn::SingleHopBroadcast {
            source_position_vector: gn::LongPositionVector::try_new(
                gn::Address::new(false, gn::StationType::PassengerCar, address),
                gn::Timestamp::from_its_timestamp(source.time.0),
                source.position.latitude,
                source.position.longitude,
                false,
                source.speed,
                source.heading,
            )
            .map_err(refused)?,
            media_dependent_data: [0; 4],
        })),
        payload: &payload,
    };
    let packet = packet
        .encode_to_vec()
        .map_err(|error| EncodeError::Asn1(error.message().to_owned()))?;
    let mut frame = Vec::with_capacity(ETHERNET_LEN + packet.len());
    frame.extend_from_slice(&[0xFF; 6]);
    frame.extend_from_slice(&address);
    frame.extend_from_slice(&ETHERTYPE.to_be_bytes());
    frame.extend_from_slice(&packet);
    Ok(frame)
}

/// What a frame carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A CAM.
    Cam(Cam),
    /// A CPM; with `fused`, a host's fused state.
    Cpm(Cpm),
    /// Another message, unread.
    Other(Vec<u8>),
}

/// A frame, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The link-layer address of the sender.
    pub address: [u8; 6],
    /// The BTP destination port.
    pub port: u16,
    /// The packet is signed; the signature was not checked.
    pub signed: bool,
    /// The sender's position of a single-hop broadcast.
    pub position: Option<WirePosition>,
    /// What it carries.
    pub message: Message,
}

/// Takes an Ethernet frame apart.
///
/// # Errors
/// It is longer than [`MAX_MESSAGE_LEN`], is cut, is not GeoNetworking with BTP, or carries a CAM or CPM that cannot be
/// read.
pub fn decode_frame(frame: &[u8]) -> Result<Decoded, DecodeError> {
    if frame.len() > MAX_MESSAGE_LEN {
        return Err(DecodeError::TooLong { found: frame.len() });
    }
    let (ethernet, packet) = split(frame, ETHERNET_LEN, "the Ethernet header")?;
    let ethertype = u16::from_be_bytes([ethernet[12], ethernet[13]]);
    if ethertype != ETHERTYPE {
        return Err(DecodeError::Unexpected {
            what: "the Ethernet type",
            found: u32::from(ethertype),
            expected: "GeoNetworking, 0x8947 (35143)",
        });
    }
    let mut address = [0; 6];
    address.copy_from_slice(&ethernet[6..12]);
    decode_packet(packet, address)
}

/// As [`decode_frame`], of a GeoNetworking packet without Ethernet.
///
/// # Errors
/// As [`decode_frame`].
pub fn decode_packet(packet: &[u8], address: [u8; 6]) -> Result<Decoded, DecodeError> {
    if packet.len() > MAX_MESSAGE_LEN {
        return Err(DecodeError::TooLong {
            found: packet.len(),
        });
    }
    let (basic, rest) = split(packet, BASIC_LEN, "the GeoNetworking basic header")?;
    let signed = match basic[0] & 0x0F {
        1 => false,
        2 => true,
        found => {
            return Err(DecodeError::Unexpected {
                what: "what follows the GeoNetworking basic header",
                found: u32::from(found),
                expected: "a common header (1) or a secured packet (2)",
            });
        }
    };
    let rest = if signed { signed_payload(rest)? } else { rest };
    let (common, rest) = split(rest, COMMON_LEN, "the GeoNetworking common header")?;
    let next = common[0] >> 4;
    if !matches!(next, 1 | 2) {
        return Err(DecodeError::Unexpected {
            what: "what follows the GeoNetworking headers",
            found: u32::from(next),
            expected: "BTP-A (1) or BTP-B (2)",
        });
    }
    let extended_len = match common[1] >> 4 {
        TOPOLOGICALLY_SCOPED => 28,
        // Geographically scoped anycast and broadcast, unicast.
        3 | 4 => 44,
        2 => 48,
        found => {
            return Err(DecodeError::Unexpected {
                what: "the GeoNetworking packet type",
                found: u32::from(found),
                expected: "one that carries messages (2 to 5)",
            });
        }
    };
    let (extended, rest) = split(rest, extended_len, "the GeoNetworking extended header")?;
    let position = (common[1] == TOPOLOGICALLY_SCOPED << 4).then(|| WirePosition {
        latitude: number(&extended[12..]),
        longitude: number(&extended[16..]),
    });
    let payload_len = usize::from(u16::from_be_bytes([common[4], common[5]]));
    // What lies beyond the stated length is padding of the link layer.
    let (payload, _) = split(rest, payload_len, "the GeoNetworking payload")?;
    let (btp, message) = split(payload, BTP_LEN, "the BTP header")?;
    let port = u16::from_be_bytes([btp[0], btp[1]]);
    Ok(Decoded {
        address,
        port,
        signed,
        position,
        message: decode_message(port, message)?,
    })
}

/// The message that came to `port`. Version 1 of both messages, which older stations send, is handed back unread.
///
/// # Errors
/// It came to the port of a CAM or CPM and is none.
pub fn decode_message(port: u16, message: &[u8]) -> Result<Message, DecodeError> {
    match (port, message.first()) {
        (PORT_CAM | PORT_CPM, Some(1)) => Ok(Message::Other(message.to_vec())),
        (PORT_CAM, _) => Cam::decode(message).map(Message::Cam),
        (PORT_CPM, _) => Cpm::decode(message).map(Message::Cpm),
        _ => Ok(Message::Other(message.to_vec())),
    }
}

fn number(bytes: &[u8]) -> i32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[..4]);
    i32::from_be_bytes(four)
}

fn split<'a>(
    bytes: &'a [u8],
    at: usize,
    what: &'static str,
) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
    bytes.split_at_checked(at).ok_or(DecodeError::Truncated {
        what,
        found: bytes.len(),
        needed: at,
    })
}

/// The data inside the outermost signature of IEEE 1609.2 (canonical OER): version 3, signed data, hash, a payload that is
/// plain data. Read by hand, because what lies around it may nest as deep as its sender likes.
fn signed_payload(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let (head, rest) = split(bytes, 6, "the security header")?;
    if !matches!(head, [3, 0x81, _, 0x40, 3, 0x80]) {
        return Err(DecodeError::GeoNetworking(
            "a secured packet that is not signed plain data".to_owned(),
        ));
    }
    let (first, rest) = split(rest, 1, "the length of the signed data")?;
    let (length, rest) = match first[0] {
        short @ 0..=0x7F => (usize::from(short), rest),
        0x81 => {
            let (length, rest) = split(rest, 1, "the length of the signed data")?;
            (usize::from(length[0]), rest)
        }
        0x82 => {
            let (length, rest) = split(rest, 2, "the length of the signed data")?;
            (
                usize::from(u16::from_be_bytes([length[0], length[1]])),
                rest,
            )
        }
        found => {
            return Err(DecodeError::Unexpected {
                what: "the length of the length of the signed data",
                found: u32::from(found & 0x7F),
                expected: "at most 2",
            });
        }
    };
    Ok(split(rest, length, "the signed data")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cam::tests::{car, with_digest};
    use crate::cpm::tests::report;

    #[test]
    fn headers_are_44_bytes_and_frames_go_there_and_back() {
        let cam = with_digest();
        let bytes = cam.encode().unwrap();
        let source = Source::of_cam(&cam, ItsTime(700_000_000_123));
        let frame = encode_frame(&bytes, PORT_CAM, &source).unwrap();
        assert_eq!(frame.len(), ETHERNET_LEN + HEADERS_LEN + bytes.len());
        // Basic: version 1, common header next, 1 s lifetime (20 x 50 ms), one hop. Common: BTP-B, single-hop broadcast, class 2.
        assert_eq!(frame[14..18], [0x11, 0, 0x50, 1]);
        assert_eq!(frame[18..22], [0x20, 0x50, 0x02, 0x80]);
        let decoded = decode_frame(&frame).unwrap();
        assert_eq!(decoded.address, [2, 0, 0, 0, 0x12, 0x67]);
        assert_eq!(decoded.port, PORT_CAM);
        assert_eq!(decoded.position, Some(cam.position));
        assert!(!decoded.signed);
        assert_eq!(decoded.message, Message::Cam(cam));
    }

    #[test]
    fn every_truncation_of_a_frame_is_an_error() {
        let cpm = report(2);
        let source = Source::of_cpm(&cpm, -1);
        let frame = encode_frame(&cpm.encode().unwrap(), PORT_CPM, &source).unwrap();
        for end in 0..frame.len() {
            assert!(decode_frame(&frame[..end]).is_err(), "cut at {end}");
        }
        // Ethernet pads short frames: what follows the stated length is ignored.
        let padded: Vec<u8> = frame.iter().copied().chain([0; 9]).collect();
        assert_eq!(decode_frame(&padded), decode_frame(&frame));
    }

    #[test]
    fn signed_frames_are_read_and_their_signature_passed_over() {
        let cam = car();
        let source = Source::of_cam(&cam, ItsTime(1));
        let frame = encode_frame(&cam.encode().unwrap(), PORT_CAM, &source).unwrap();
        let inner = &frame[18..];
        let mut signed = frame[..18].to_vec();
        signed[14] = 0x12;
        signed.extend([3, 0x81, 0, 0x40, 3, 0x80, inner.len() as u8]);
        signed.extend_from_slice(inner);
        signed.extend([0x40, 1, 0x24, 0, 2, 0x34]);
        let decoded = decode_frame(&signed).unwrap();
        assert!(decoded.signed);
        assert_eq!(decoded.message, Message::Cam(cam));
    }

    #[test]
    fn other_messages_are_handed_back_and_other_frames_refused() {
        let source = Source::of_cam(&car(), ItsTime(1));
        let frame = encode_frame(&[1, 2, 3], 2_002, &source).unwrap();
        let decoded = decode_frame(&frame).unwrap();
        assert_eq!(decoded.message, Message::Other(vec![1, 2, 3]));
        let mut ip = frame.clone();
        ip[12..14].copy_from_slice(&[8, 0]);
        let error = decode_frame(&ip).unwrap_err().to_string();
        assert_eq!(
            error,
            "the Ethernet type is 2048, expected GeoNetworking, 0x8947 (35143)"
        );
        assert!(decode_frame(&vec![0; 10_000]).is_err());
        assert!(encode_frame(&vec![0; 10_000], 1, &source).is_err());
    }
}
