//! Why a message could not be written or read.

use covey_protocol::ObjectId;
use thiserror::Error;

/// Why a value cannot be put into a message.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum EncodeError {
    /// A station id has more than 32 bits.
    #[error(
        "station id {found} does not fit into the 32 bits of a station id; number the stations from 0 to 4294967295"
    )]
    StationId { found: u64 },
    /// An object id is neither shared nor scoped.
    #[error(
        "object id {found} has more than the 32 bits of a station id and does not say who gave it; number the objects from 0 to \
         4294967295, or by who perceives them"
    )]
    ObjectId { found: u64 },
    /// An object is asked for by name and is no station.
    #[error("object {object} is asked for, and only stations can be; ask for station ids")]
    Requested { object: ObjectId },
    /// The position is not on Earth, or the projection does not know it.
    #[error(
        "position ({x}, {y}) m of the map plane has no place on Earth; check the map's projection"
    )]
    Position {
        /// Along the plane's first axis.
        x: f64,
        /// Along the plane's second axis.
        y: f64,
    },
    /// The time is before the ITS epoch, or after the end of its 42 bits.
    #[error(
        "time {micros} us lies outside the ITS time stamps (0 to 4398046511103 ms since 2004); check the start time"
    )]
    Time {
        /// Microseconds since the caller's zero.
        micros: i64,
    },
    /// A field of the fused state does not fit.
    #[error("{field} is {found}, the fused state carries {low} to {high}")]
    Field {
        field: &'static str,
        found: i64,
        /// The least that fits.
        low: i64,
        /// The most that fits.
        high: i64,
    },
    /// Objects and lists are more than eight messages of the asked-for length can carry.
    #[error(
        "{objects} objects and what goes with them do not fit into 8 messages of at most {max_bytes} bytes; allow longer messages or \
         send fewer objects"
    )]
    TooManyObjects {
        objects: usize,
        /// The longest message allowed.
        max_bytes: usize,
    },
    /// The ASN.1 encoder refused a value: an invalid plain value was given.
    #[error(
        "the ASN.1 encoder refused the message: {0}; a field holds a value outside its documented range"
    )]
    Asn1(String),
}

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum DecodeError {
    /// Longer than [`MAX_MESSAGE_LEN`](crate::MAX_MESSAGE_LEN).
    #[error("{found} bytes are longer than any message ({max} bytes)", max = crate::MAX_MESSAGE_LEN)]
    TooLong { found: usize },
    /// A header or message ends too early.
    #[error("{what} ends after {found} bytes, at least {needed} were expected")]
    Truncated {
        what: &'static str,
        found: usize,
        needed: usize,
    },
    /// A header field has a value that is not read here.
    #[error("{what} is {found}, expected {expected}")]
    Unexpected {
        what: &'static str,
        found: u32,
        /// What can be read.
        expected: &'static str,
    },
    /// Neither a frame nor a packet nor a message.
    #[error(
        "begins with {found:02x?}, expected an Ethernet frame of type 0x8947, a GeoNetworking packet (11 00, 12 00) or an ITS message \
         (02 02 for a CAM)"
    )]
    Unknown { found: Vec<u8> },
    /// The message is not what its type says.
    #[error("{message}: {reason}")]
    Asn1 {
        /// CAM or CPM.
        message: &'static str,
        /// What the ASN.1 decoder says.
        reason: String,
    },
    /// A value that has to be there for the conversion is marked unavailable or missing.
    #[error("{0} is unavailable, so there is no protocol value of this message")]
    Missing(&'static str),
    /// The position has no place in the map plane.
    #[error("latitude {latitude}, longitude {longitude} have no place in the map plane")]
    Position {
        /// In degrees.
        latitude: f64,
        /// In degrees.
        longitude: f64,
    },
    /// The segments of one fused state are not all there, or do not belong together.
    #[error(
        "{found} segments of a fused state, {expected} belong together; give all segments of one time stamp and host"
    )]
    Segments {
        /// How many were given.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
}
