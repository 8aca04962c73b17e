//! Limits of messages, and what they list, as plain values: what lengths are worked out from, without knowing ASN.1.

/// The most objects of one message.
pub const OBJECTS_MAX: usize = 255;
/// The most messages that one report can be split into.
pub const SEGMENTS_MAX: usize = 8;
/// Bytes that GeoNetworking (single-hop broadcast) and BTP-B put before a message.
pub const HEADERS_LEN: usize = 4 + 8 + 28 + 4;
/// The most contributors that fit.
pub const CONTRIBUTORS_MAX: usize = 255;
/// The most requested objects that fit.
pub const REQUESTED_MAX: usize = 255;
/// The most withdrawn stations that fit, and the most withdrawn labels.
pub const WITHDRAWN_MAX: usize = 1_023;

/// An object in the units of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpmObject {
    /// Which, as the sender numbers them.
    pub id: Option<u16>,
    /// When it was sensed, in milliseconds after the message's time, -2048 to 2047.
    pub measured_ms: i16,
    /// Hundredths of a metre to the east, within `cpm::OFFSET_MAX`.
    pub east: i32,
    /// Hundredths of a metre to the north, within `cpm::OFFSET_MAX`.
    pub north: i32,
    /// Hundredths of m/s to the east and to the north, within `cpm::VELOCITY_MAX`.
    pub velocity: Option<(i16, i16)>,
    /// Tenths of a metre along the heading, 1 to `cpm::EXTENT_MAX`.
    pub length: Option<u16>,
    /// Tenths of a metre across the heading, 1 to `cpm::EXTENT_MAX`.
    pub width: Option<u16>,
    /// Tenths of a metre from the ground up, 1 to `cpm::EXTENT_MAX`.
    pub height: Option<u16>,
    /// How sure the sender is, 0 to 15.
    pub quality: Option<u8>,
}

/// A sensor: how far it sees, all around or between two directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sensor {
    /// The sender's number for it.
    pub id: u8,
    /// What it is: 1 radar, 2 lidar, 3 camera, 12 several fused; 0 to 31.
    pub kind: u8,
    /// How far it sees, in tenths of a metre, up to 4095; none where the message gives another shape than a circle or a sector
    /// around the sender.
    pub range: Option<u16>,
    /// From where to where it looks, tenths of a degree up to 3600, counter-clockwise from the sender's direction, or from east for a
    /// road-side unit; none: all around. Nothing where there is no range.
    pub sector: Option<[u16; 2]>,
}

impl Sensor {
    /// A sector between two directions in degrees, counter-clockwise from the same direction.
    #[must_use]
    pub fn between(from_deg: f64, to_deg: f64) -> [u16; 2] {
        let tenths = |degrees: f64| ((degrees * 10.0).round().rem_euclid(3_600.0)) as u16;
        [tenths(from_deg), tenths(to_deg)]
    }

    /// The same sensor, its sector counted from elsewhere: from `degrees` clockwise of where it was counted from.
    #[must_use]
    pub fn turned(self, degrees: f64) -> Self {
        let turn = |[from, to]: [u16; 2]| {
            let degree = |tenths: u16| f64::from(tenths) * 0.1 + degrees;
            Self::between(degree(from), degree(to))
        };
        Self {
            sector: self.sector.map(turn),
            ..self
        }
    }
}
