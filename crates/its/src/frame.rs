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
//! checked), and messages that are none of ours, whose bytes it hands back. [`decode_any`] finds out for itself whether bytes
//! are such a frame, a packet without Ethernet, or a message alone. Headers are written by the `geonetworking` crate;
//! they are read here, because that crate's reader panics on negative speeds (0.4.2) and recurses with nested signatures.

use c_its_parser::gn::en302636_4_1 as gn;
use c_its_parser::gn::{Encode as _, Packet};

use crate::cam::{self, Cam, WirePosition};
use crate::cpm::{self, Cpm};
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
pub use crate::plain::HEADERS_LEN;

const LIFETIME_MS: u32 = 1_000;
const BASIC_LEN: usize = 4;
const COMMON_LEN: usize = 8;
const BTP_LEN: usize = 4;
/// Packet type that carries a position and nothing else.
const BEACON: u8 = 1;
/// Packet type of single-hop (subtype 0) and multi-hop (1) broadcasts.
const TOPOLOGICALLY_SCOPED: u8 = 5;
/// Packet type of questions where a station is, and of their answers.
const LOCATION_SERVICE: u8 = 6;

/// Who sends a frame, as its header tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The station; its number makes the link-layer address 02:00 and four bytes.
    pub station_id: u32,
    /// When its position was taken.
    pub time: ItsTime,
    /// The sender's position, for receivers that know none of the message.
    pub position: WirePosition,
    /// Hundredths of m/s; negative backwards.
    pub speed: i16,
    /// Tenths of a degree clockwise from north.
    pub heading: u16,
    /// What kind of station it is, as in its CAMs.
    pub station_type: u8,
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
            station_type: cam.station_type,
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
            station_type: cam::PASSENGER_CAR,
        }
    }

    /// The same, as another kind of station: a CPM does not tell.
    #[must_use]
    pub fn of_type(self, station_type: u8) -> Self {
        Self {
            station_type,
            ..self
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
    let station_type = gn::StationType::try_from(source.station_type).unwrap_or_default();
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
                gn::Address::new(false, station_type, address),
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
    /// No message: what follows the headers of a packet without BTP, a secured packet that cannot be opened, or the content of a
    /// frame that is not GeoNetworking.
    Nothing(Vec<u8>),
}

/// A frame, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The link-layer address of the sender; none without an Ethernet header.
    pub address: Option<[u8; 6]>,
    /// The Ethernet type; none without an Ethernet header.
    pub ethertype: Option<u16>,
    /// The GeoNetworking packet type: 1 beacon, 2 unicast, 3 geo-anycast, 4 geo-broadcast, 5 (multi- or single-hop) broadcast,
    /// 6 location service; none where there is no such header, or it is hidden in a secured packet.
    pub packet_type: Option<u8>,
    /// The BTP destination port; none where there is no BTP.
    pub port: Option<u16>,
    /// The packet is secured; a signature was not checked.
    pub signed: bool,
    /// Where the packet came from.
    pub position: Option<WirePosition>,
    /// When that was, in milliseconds of ITS time modulo 2^32 ([`Wire::beacon_in`](crate::Wire::beacon_in) tells an old CAM from a
    /// new one by it).
    pub time_ms: Option<u32>,
    /// The message, read if it is a CAM or CPM.
    pub message: Message,
}

impl Decoded {
    fn nothing(bytes: &[u8]) -> Self {
        Self {
            address: None,
            ethertype: None,
            packet_type: None,
            port: None,
            signed: false,
            position: None,
            time_ms: None,
            message: Message::Nothing(bytes.to_vec()),
        }
    }
}

/// Takes an Ethernet frame apart. A frame that is not GeoNetworking is handed back unread.
///
/// # Errors
/// It is longer than [`MAX_MESSAGE_LEN`], is cut, its GeoNetworking headers are none, or it carries a CAM or CPM that cannot
/// be read.
pub fn decode_frame(frame: &[u8]) -> Result<Decoded, DecodeError> {
    let (ethernet, packet) = split(frame, ETHERNET_LEN, "the Ethernet header")?;
    let ethertype = u16::from_be_bytes([ethernet[12], ethernet[13]]);
    let mut address = [0; 6];
    address.copy_from_slice(&ethernet[6..12]);
    let decoded = if ethertype == ETHERTYPE {
        decode_packet(packet)?
    } else {
        Decoded::nothing(packet)
    };
    Ok(Decoded {
        address: Some(address),
        ethertype: Some(ethertype),
        ..decoded
    })
}

/// As [`decode_frame`], of a GeoNetworking packet without Ethernet.
///
/// # Errors
/// As [`decode_frame`].
pub fn decode_packet(packet: &[u8]) -> Result<Decoded, DecodeError> {
    if packet.len() > MAX_MESSAGE_LEN {
        return Err(DecodeError::TooLong {
            found: packet.len(),
        });
    }
    let (basic, rest) = split(packet, BASIC_LEN, "the GeoNetworking basic header")?;
    match basic[0] & 0x0F {
        1 => decode_after_basic(rest),
        2 => match secured_payload(rest)? {
            Some(inner) => decode_after_basic(inner),
            None => Ok(Decoded::nothing(rest)),
        }
        .map(|decoded| Decoded {
            signed: true,
            ..decoded
        }),
        found => Err(DecodeError::Unexpected {
            what: "what follows the GeoNetworking basic header",
            found: u32::from(found),
            expected: "a common header (1) or a secured packet (2)",
        }),
    }
}

/// The rest of a packet, from the common header on.
fn decode_after_basic(rest: &[u8]) -> Result<Decoded, DecodeError> {
    let (common, rest) = split(rest, COMMON_LEN, "the GeoNetworking common header")?;
    let (packet_type, subtype) = (common[1] >> 4, common[1] & 0x0F);
    // Bytes of the extended header, and where in it the sender's position vector begins.
    let (extended_len, vector_at) = match (packet_type, subtype) {
        (BEACON, _) => (24, 0),
        (TOPOLOGICALLY_SCOPED, 0) => (28, 0),
        (TOPOLOGICALLY_SCOPED, _) => (28, 4),
        // Geographically scoped anycast and broadcast, unicast.
        (3 | 4, _) => (44, 4),
        (2, _) => (48, 4),
        // A request has 36 bytes, a reply 48; neither carries a message.
        (LOCATION_SERVICE, 0) => (36, 4),
        (LOCATION_SERVICE, _) => (48, 4),
        (found, _) => {
            return Err(DecodeError::Unexpected {
                what: "the GeoNetworking packet type",
                found: u32::from(found),
                expected: "1 to 6",
            });
        }
    };
    let (extended, rest) = split(rest, extended_len, "the GeoNetworking extended header")?;
    let payload_len = usize::from(u16::from_be_bytes([common[4], common[5]]));
    // What lies beyond the stated length is padding of the link layer.
    let (payload, _) = split(rest, payload_len, "the GeoNetworking payload")?;
    let decoded = Decoded {
        packet_type: Some(packet_type),
        position: Some(WirePosition {
            latitude: number(&extended[vector_at + 12..]),
            longitude: number(&extended[vector_at + 16..]),
        }),
        time_ms: Some(number(&extended[vector_at + 8..]) as u32),
        ..Decoded::nothing(payload)
    };
    // BTP-A and BTP-B; anything else is no message of the facilities layer.
    if !matches!(common[0] >> 4, 1 | 2) || matches!(packet_type, BEACON | LOCATION_SERVICE) {
        return Ok(decoded);
    }
    let (btp, message) = split(payload, BTP_LEN, "the BTP header")?;
    let port = u16::from_be_bytes([btp[0], btp[1]]);
    Ok(Decoded {
        port: Some(port),
        message: decode_message(port, message)?,
        ..decoded
    })
}

/// The message that came to `port`. Version 1 of both messages, which older stations send, is handed back unread; a CAM or CPM
/// that came to another port is read if it can be.
///
/// # Errors
/// It came to the port of a CAM or CPM and is none.
pub fn decode_message(port: u16, message: &[u8]) -> Result<Message, DecodeError> {
    match (port, message.first()) {
        (PORT_CAM | PORT_CPM, Some(1)) => Ok(Message::Other(message.to_vec())),
        (PORT_CAM, _) => Cam::decode(message).map(Message::Cam),
        (PORT_CPM, _) => Cpm::decode(message).map(Message::Cpm),
        _ => Ok(decode_pdu(message).unwrap_or_else(|_| Message::Other(message.to_vec()))),
    }
}

/// A message without any header around it, by the message id of its ITS PDU header.
///
/// # Errors
/// It says that it is a CAM or CPM and is none.
pub fn decode_pdu(message: &[u8]) -> Result<Message, DecodeError> {
    match message {
        [0 | 1, ..] => Ok(Message::Other(message.to_vec())),
        [_, cam::MESSAGE_ID, ..] => Cam::decode(message).map(Message::Cam),
        [_, cpm::MESSAGE_ID, ..] => Cpm::decode(message).map(Message::Cpm),
        _ => Ok(Message::Other(message.to_vec())),
    }
}

/// Takes bytes apart of which nobody says what they are: an Ethernet frame (its type is 0x8947), a GeoNetworking packet
/// (version 0 or 1, a known next header, a reserved byte of 0), or a message alone (version 1 to 3, a message id that ETSI has
/// given, [`message_name`]).
///
/// # Errors
/// They are none of these, or as [`decode_frame`].
pub fn decode_any(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    match bytes {
        _ if bytes.get(12..ETHERNET_LEN) == Some(&ETHERTYPE.to_be_bytes()) => decode_frame(bytes),
        // A message id is never 0, so that these are no messages.
        [0x01 | 0x02 | 0x11 | 0x12, 0, ..] => decode_packet(bytes),
        [1..=3, id, ..] if message_name(*id).is_some() => {
            let message = decode_pdu(bytes)?;
            Ok(Decoded {
                message,
                ..Decoded::nothing(&[])
            })
        }
        _ => Err(DecodeError::Unknown {
            found: bytes.iter().take(4).copied().collect(),
        }),
    }
}

/// What ETSI calls the message with this id (TS 102 894-2 v2.2.1, `MessageId`), in lower case.
#[must_use]
pub fn message_name(id: u8) -> Option<&'static str> {
    Some(match id {
        1 => "denm",
        2 => "cam",
        3 => "poim",
        4 => "spatem",
        5 => "mapem",
        6 => "ivim",
        9 => "srem",
        10 => "ssem",
        11 => "evcsn",
        12 => "saem",
        13 => "rtcmem",
        14 => "cpm",
        15 => "imzm",
        16 => "vam",
        17 => "dsm",
        18 => "pcim",
        19 => "pcvm",
        20 => "mcm",
        21 => "pam",
        _ => return None,
    })
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

/// The data inside the outermost envelope of IEEE 1609.2 (canonical OER): version 3, plain data, or signed data whose payload is
/// plain data; none of encrypted packets, certificate requests and older versions. Read by hand, because what lies around it
/// may nest as deep as its sender likes.
fn secured_payload(bytes: &[u8]) -> Result<Option<&[u8]>, DecodeError> {
    let rest = match bytes {
        [3, 0x80, rest @ ..] | [3, 0x81, _, 0x40, 3, 0x80, rest @ ..] => rest,
        _ => {
            split(bytes, 6, "the security header")?;
            return Ok(None);
        }
    };
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
    Ok(Some(split(rest, length, "the signed data")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{cam as car, cam_with_digest as with_digest, report};

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
        assert_eq!(decoded.address, Some([2, 0, 0, 0, 0x12, 0x67]));
        assert_eq!(
            (decoded.port, decoded.packet_type),
            (Some(PORT_CAM), Some(5))
        );
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
        // An encrypted one cannot be opened.
        signed[18..20].copy_from_slice(&[3, 0x82]);
        let closed = decode_frame(&signed).unwrap();
        assert!(closed.signed && closed.port.is_none());
        assert_eq!(closed.message, Message::Nothing(signed[18..].to_vec()));
    }

    #[test]
    fn packets_of_every_type_tell_where_they_come_from() {
        let cam = car();
        let source = Source::of_cam(&cam, ItsTime(1));
        let frame = encode_frame(&cam.encode().unwrap(), PORT_CAM, &source).unwrap();
        let vector = &frame[26..50];
        let payload = &frame[54..];
        // Multi-hop broadcast, geo-broadcast, geo-anycast, unicast: 4 bytes before the vector, and what comes after it.
        for (kind, after) in [(0x51, 0), (0x40, 16), (0x30, 16), (0x20, 20)] {
            let mut packet = frame[14..26].to_vec();
            packet[5] = kind;
            packet.extend([0; 4]);
            packet.extend_from_slice(vector);
            packet.extend(vec![0; after]);
            packet.extend_from_slice(payload);
            let decoded = decode_packet(&packet).unwrap();
            assert_eq!(decoded.packet_type, Some(kind >> 4));
            assert_eq!(decoded.position, Some(cam.position), "{kind:x}");
            assert_eq!(decoded.message, Message::Cam(cam.clone()));
        }
        let mut beacon = frame[14..50].to_vec();
        beacon[4..6].copy_from_slice(&[0, 0x10]);
        beacon[8..10].copy_from_slice(&[0, 0]);
        let decoded = decode_packet(&beacon).unwrap();
        assert_eq!((decoded.port, decoded.packet_type), (None, Some(1)));
        assert_eq!(decoded.position, Some(cam.position));
        assert_eq!(decoded.message, Message::Nothing(vec![]));
    }

    #[test]
    fn bytes_of_any_layer_are_told_apart() {
        let cam = with_digest();
        let bytes = cam.encode().unwrap();
        let source = Source::of_cam(&cam, ItsTime(1));
        let frame = encode_frame(&bytes, PORT_CAM, &source).unwrap();
        for given in [&frame[..], &frame[14..], &bytes] {
            assert_eq!(
                decode_any(given).unwrap().message,
                Message::Cam(cam.clone())
            );
        }
        // On another port, too.
        let frame = encode_frame(&bytes, 3_000, &source).unwrap();
        assert_eq!(decode_any(&frame).unwrap().message, Message::Cam(cam));
        for unknown in [&[][..], &[9], &[2, 22, 0, 0], &[0x13, 0], &[0xFF; 60]] {
            assert!(decode_any(unknown).is_err(), "{unknown:?}");
        }
        let denm = [2, 1, 0, 0, 0, 7, 99];
        let decoded = decode_any(&denm).unwrap();
        assert_eq!(decoded.message, Message::Other(denm.to_vec()));
    }

    #[test]
    fn other_messages_and_other_frames_are_handed_back() {
        let source = Source::of_cam(&car(), ItsTime(1));
        let frame = encode_frame(&[1, 2, 3], 2_002, &source).unwrap();
        let decoded = decode_frame(&frame).unwrap();
        assert_eq!(decoded.message, Message::Other(vec![1, 2, 3]));
        let mut ip = frame.clone();
        ip[12..14].copy_from_slice(&[8, 0]);
        let decoded = decode_frame(&ip).unwrap();
        assert_eq!((decoded.ethertype, decoded.port), (Some(0x0800), None));
        assert_eq!(decoded.message, Message::Nothing(ip[14..].to_vec()));
        let mut long = vec![0; 10_000];
        long[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
        assert!(decode_frame(&long).is_err());
        assert!(encode_frame(&vec![0; 10_000], 1, &source).is_err());
    }
}
