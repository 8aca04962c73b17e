//! How long messages are, without making them: for simulations, which need a length for every transmission.
//!
//! Exact for what [`Wire`](crate::Wire) makes of objects whose velocity and three extents are known; the tests compare with
//! encoded messages. GeoNetworking and BTP-B are counted by [`on_air`], link-layer headers and signatures are not.

use crate::cpm::{OBJECTS_MAX, SEGMENTS_MAX};
use crate::frame::HEADERS_LEN;
use crate::fused::{CONTRIBUTORS_MAX, WITHDRAWN_MAX};
use crate::wire::DEFAULT_MAX_BYTES;

/// Bits of an object with velocity and three extents: options 15, id 16, time 12, position 61, velocity 46, extents 39,
/// quality 4.
const OBJECT_BITS: usize = 193;
/// Bits of the container around them: extension and number 9, list length 9.
const OBJECTS_BITS: usize = 18;
/// Header 48 and payload up to the container list: extension bits and options 4, time 42, position 123.
const CPM_HEAD_BITS: usize = 217;
/// Segmentation info: two numbers from 1 to 8.
const SEGMENT_BITS: usize = 6;
/// The list's length, and an id for each container.
const LIST_BITS: usize = 3;
const CONTAINER_ID_BITS: usize = 4;
/// Bytes of the originating vehicle container: extension, options, angle and its confidence, 23 bits.
const VEHICLE_BYTES: usize = 3;
/// Bits of the fused state without its lists: extension 1, tile 48, counters 96, price 24, times 48, flags 2, lengths 8 and 10.
const FUSED_BITS: usize = 237;
/// How many additions are known and which are there: 1 + 6 bits of count, 2 bits of map.
const ADDITIONS_BITS: usize = 9;
/// Bits of a CAM with a high-frequency container alone: header 48, time 16, options 3, basic container 132, choice 2, high-frequency
/// container 121.
const CAM_BITS: usize = 322;
/// A low-frequency container without path points: choice 1, role 4, lights 8, number of points 6.
const LOW_FREQUENCY_BITS: usize = 19;

/// Bits of a path point with a time: position 51, option and extension bit, time 16.
const PATH_POINT_BITS: usize = 69;

/// Bytes of an open type: its length takes one byte below 128, else two.
const fn open_type(bytes: usize) -> usize {
    if bytes < 128 { bytes + 1 } else { bytes + 2 }
}

/// Bytes of a CAM, with a low-frequency container of no path points where asked, and a digest of `digest` bytes.
#[must_use]
pub const fn cam(low_frequency: bool, digest: Option<usize>) -> usize {
    cam_with_path(low_frequency, 0, digest)
}

const fn cam_with_path(low_frequency: bool, points: usize, digest: Option<usize>) -> usize {
    let mut bits = CAM_BITS;
    if low_frequency {
        bits += LOW_FREQUENCY_BITS + PATH_POINT_BITS * points;
    }
    if let Some(digest) = digest {
        // An octet string of 1 to 255 bytes has its length in 8 bits.
        bits += ADDITIONS_BITS + 8 * open_type(digest + 1);
    }
    bits.div_ceil(8)
}

/// What a CPM holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpmContent {
    /// How many objects.
    pub objects: usize,
    /// How many sensors are told, all with a circular range.
    pub sensors: usize,
    /// Contributors and withdrawn objects of a fused state; none for a report.
    pub fused: Option<(usize, usize)>,
}

/// Bytes of one CPM, and whether it is one of several segments; none where there are more objects than one can carry.
#[must_use]
pub const fn cpm(content: CpmContent, segmented: bool) -> Option<usize> {
    if content.objects > OBJECTS_MAX || content.sensors > 128 {
        return None;
    }
    let objects = (OBJECTS_BITS + OBJECT_BITS * content.objects).div_ceil(8);
    let mut bits = CPM_HEAD_BITS + LIST_BITS;
    if segmented {
        bits += SEGMENT_BITS;
    }
    bits += CONTAINER_ID_BITS + 8 * open_type(VEHICLE_BYTES);
    if content.sensors > 0 {
        bits += CONTAINER_ID_BITS + 8 * open_type((8 + SENSOR_BITS * content.sensors).div_ceil(8));
    }
    bits += CONTAINER_ID_BITS + 8 * open_type(objects);
    if let Some((contributors, withdrawn)) = content.fused {
        let fused = (FUSED_BITS + 32 * contributors + 16 * withdrawn).div_ceil(8);
        bits += ADDITIONS_BITS + 8 * open_type(fused);
    }
    Some(bits.div_ceil(8))
}

/// Bits of a sensor with a circular range: extension and options 3, id 8, kind 5, shape 4, range 2 + 12, shadowing 1.
const SENSOR_BITS: usize = 35;

/// Bytes on the air of a report or fused state, in as many messages of at most `max_bytes` as it takes, GeoNetworking and
/// BTP-B of each included; none where eight are not enough.
#[must_use]
pub fn on_air(content: CpmContent, max_bytes: usize) -> Option<usize> {
    let fewest = content.objects.div_ceil(OBJECTS_MAX).max(1);
    (fewest..=SEGMENTS_MAX).find_map(|count| {
        let mut total = 0;
        for index in 0..count {
            let share = content.objects * (index + 1) / count - content.objects * index / count;
            let part = CpmContent {
                objects: share,
                ..content
            };
            let bytes = cpm(part, count > 1).filter(|&bytes| bytes <= max_bytes)?;
            total += bytes + HEADERS_LEN;
        }
        Some(total)
    })
}

/// The size model `uper`: bytes on the air of what the protocol sends, GeoNetworking and BTP-B of each message included.
///
/// A few additions and divisions a message. It is exact where the objects have a velocity and three extents, as simulated
/// ones have, and where they lie within the reach of a CPM; an object without some of these takes less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The longest CPM in bytes, GeoNetworking and BTP-B not counted; what is longer is split.
    pub max_bytes: usize,
    /// Points of the path history in a low-frequency container.
    pub path_points: usize,
    /// Sensors that a vehicle tells of.
    pub sensors: usize,
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Model {
    /// As [`Wire`](crate::Wire) writes messages by default: CPMs of at most 1394 bytes, no path history, one sensor.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_bytes: DEFAULT_MAX_BYTES,
            path_points: 0,
            sensors: 1,
        }
    }

    /// A CAM, with a digest of so many bytes, and with a low-frequency container (every 0.5 s).
    #[must_use]
    pub const fn cam(&self, digest_bytes: Option<usize>, low_frequency: bool) -> usize {
        let points = if low_frequency { self.path_points } else { 0 };
        HEADERS_LEN + cam_with_path(low_frequency, points, digest_bytes)
    }

    /// A CAM as it is on average, where two in ten have a low-frequency container: those of one vehicle within a second.
    #[must_use]
    pub fn mean_cam(&self, digest_bytes: Option<usize>) -> f64 {
        let (with, without) = (self.cam(digest_bytes, true), self.cam(digest_bytes, false));
        (2.0 * with as f64 + 8.0 * without as f64) / 10.0
    }

    /// A report of so many objects, with sensor information (once a second) or without.
    #[must_use]
    pub fn cpm(&self, objects: usize, sensor_information: bool) -> usize {
        self.total(CpmContent {
            objects,
            sensors: if sensor_information { self.sensors } else { 0 },
            fused: None,
        })
    }

    /// A host's fused state.
    #[must_use]
    pub fn fused(&self, objects: usize, withdrawn: usize, contributors: usize) -> usize {
        self.total(CpmContent {
            objects,
            sensors: 0,
            fused: Some((
                contributors.min(CONTRIBUTORS_MAX),
                withdrawn.min(WITHDRAWN_MAX),
            )),
        })
    }

    /// Simulations go on where a real sender would have to choose: more than eight messages are counted as if there could be
    /// more, and lists that fill a message by themselves as one message.
    fn total(&self, content: CpmContent) -> usize {
        if let Some(bytes) = on_air(content, self.max_bytes) {
            return bytes;
        }
        let length = |objects| {
            let part = CpmContent { objects, ..content };
            cpm(part, true).unwrap_or(usize::MAX)
        };
        let most = (1..=OBJECTS_MAX)
            .rev()
            .find(|&objects| length(objects) <= self.max_bytes)
            .unwrap_or(OBJECTS_MAX);
        let (full, rest) = (content.objects / most, content.objects % most);
        let last = if rest > 0 || full == 0 {
            HEADERS_LEN + length(rest)
        } else {
            0
        };
        full * (HEADERS_LEN + length(most)) + last
    }
}
