//! How long messages are, without making them: for simulations, which need a length for every transmission.
//!
//! Exact for what [`Wire`](crate::Wire) makes of objects whose velocity and three extents are known; the tests compare with
//! encoded messages. GeoNetworking and BTP-B are counted by [`on_air`], link-layer headers and signatures are not.
//!
//! Where something takes several messages, one function says what goes into which, here and in `Wire` alike.

use std::iter::repeat_n;

use covey_protocol::messages::Broadcast;

use crate::plain::{
    CONTRIBUTORS_MAX, CpmObject, HEADERS_LEN, OBJECTS_MAX, REQUESTED_MAX, SEGMENTS_MAX, Sensor,
    WITHDRAWN_MAX,
};

/// The longest CPM unless told otherwise, see [`CpmOptions`](crate::CpmOptions).
pub(crate) const DEFAULT_MAX_BYTES: usize = 1_394;

/// Bits of an object that has a number and nothing else that may be missing: options 15, number 16, time 12, position 61.
const BARE_OBJECT_BITS: usize = 104;
/// Two components with their accuracies.
const VELOCITY_BITS: usize = 46;
/// One extent with its accuracy.
const EXTENT_BITS: usize = 13;
const QUALITY_BITS: usize = 4;
/// Bits of an object with everything that the protocol tells of one.
const OBJECT_BITS: usize = BARE_OBJECT_BITS + VELOCITY_BITS + 3 * EXTENT_BITS + QUALITY_BITS;
/// Bits of a station id, and of a label.
const STATION_BITS: usize = 32;
const LABEL_BITS: usize = 16;
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
/// Bits of the fused state without its lists: extension 1, tile 48, counters 96, price 24, times 48, content 3, flag 1, lengths
/// three times 8 and twice 10.
const FUSED_BITS: usize = 265;
/// How many additions are known and which are there: 1 + 6 bits of count, 2 bits of map.
const ADDITIONS_BITS: usize = 9;
/// Bits of a CAM with a high-frequency container alone: header 48, time 16, options 3, basic container 132, choice 2, high-frequency
/// container 121.
const CAM_BITS: usize = 322;
/// Bits of a road-side unit's CAM: its high-frequency container is 2 bits.
const ROADSIDE_CAM_BITS: usize = CAM_BITS - 121 + 2;
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

/// Bytes of a road-side unit's CAM, which has no low-frequency container.
#[must_use]
pub const fn roadside_cam(digest: Option<usize>) -> usize {
    with_digest(ROADSIDE_CAM_BITS, digest)
}

const fn cam_with_path(low_frequency: bool, points: usize, digest: Option<usize>) -> usize {
    let mut bits = CAM_BITS;
    if low_frequency {
        bits += LOW_FREQUENCY_BITS + PATH_POINT_BITS * points;
    }
    with_digest(bits, digest)
}

const fn with_digest(mut bits: usize, digest: Option<usize>) -> usize {
    if let Some(digest) = digest {
        // An octet string of 1 to 255 bytes has its length in 8 bits.
        bits += ADDITIONS_BITS + 8 * open_type(digest + 1);
    }
    bits.div_ceil(8)
}

/// What of a broadcast counts for its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FusedCounts {
    /// Listed objects that are stations, or have a shared number.
    pub stations: usize,
    /// Other listed objects.
    pub labels: usize,
    /// Withdrawn objects that are stations, or have a shared number.
    pub withdrawn_stations: usize,
    /// Other withdrawn objects.
    pub withdrawn_labels: usize,
    /// Who is asked to report.
    pub contributors: usize,
    /// Objects asked for by name.
    pub requested: usize,
}

impl FusedCounts {
    /// Those of `broadcast`.
    #[must_use]
    pub fn of(broadcast: &Broadcast) -> Self {
        let labels = broadcast
            .objects
            .iter()
            .filter(|object| object.id.scope().is_some())
            .count();
        let withdrawn_labels = broadcast
            .withdrawn
            .iter()
            .filter(|id| id.scope().is_some())
            .count();
        Self {
            stations: broadcast.objects.len() - labels,
            labels,
            withdrawn_stations: broadcast.withdrawn.len() - withdrawn_labels,
            withdrawn_labels,
            contributors: broadcast.contributors.len(),
            requested: broadcast.requested.len(),
        }
    }

    /// With no list longer than its field.
    const fn cut(self) -> Self {
        const fn at_most(count: usize, most: usize) -> usize {
            if count > most { most } else { count }
        }
        Self {
            withdrawn_stations: at_most(self.withdrawn_stations, WITHDRAWN_MAX),
            withdrawn_labels: at_most(self.withdrawn_labels, WITHDRAWN_MAX),
            contributors: at_most(self.contributors, CONTRIBUTORS_MAX),
            requested: at_most(self.requested, REQUESTED_MAX),
            ..self
        }
    }
}

/// What of a sender counts for the size of its reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sender {
    /// It stands beside the road: it has no direction to tell.
    pub roadside: bool,
    /// How many sensors are told that see all around.
    pub circles: usize,
    /// How many sensors are told that look between two directions.
    pub sectors: usize,
}

impl Sender {
    /// Whoever has these sensors, all with a range.
    #[must_use]
    pub fn with(sensors: &[Sensor], roadside: bool) -> Self {
        let sectors = sensors.iter().filter(|s| s.sector.is_some()).count();
        Self {
            roadside,
            circles: sensors.len() - sectors,
            sectors,
        }
    }

    /// The same, in a report that tells its sensors or does not.
    #[must_use]
    pub const fn telling(self, sensors: bool) -> Self {
        Self {
            roadside: self.roadside,
            circles: if sensors { self.circles } else { 0 },
            sectors: if sensors { self.sectors } else { 0 },
        }
    }

    /// How many sensors.
    #[must_use]
    pub const fn sensors(&self) -> usize {
        self.circles + self.sectors
    }
}

/// What a CPM holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpmContent {
    /// What a station sees.
    Report {
        /// How many objects.
        objects: usize,
        /// Who sends it, with which sensors told.
        sender: Sender,
    },
    /// What a host has fused.
    Fused(FusedCounts),
}

impl CpmContent {
    const fn shape(self) -> Shape {
        match self {
            Self::Report { sender, .. } => Shape {
                vehicle: !sender.roadside,
                sensor_bits: CIRCLE_BITS * sender.circles + SECTOR_BITS * sender.sectors,
                fused: false,
            },
            Self::Fused(_) => Shape {
                vehicle: true,
                sensor_bits: 0,
                fused: true,
            },
        }
    }

    /// All that is listed, in the order in which it is written.
    fn entries(self) -> impl Iterator<Item = Entry> + Clone {
        let (bare, counts) = match self {
            Self::Report { objects, .. } => (objects, FusedCounts::default()),
            Self::Fused(counts) => (0, counts),
        };
        let named = counts.contributors + counts.requested + counts.withdrawn_stations;
        repeat_n(Entry::STATION, named)
            .chain(repeat_n(Entry::LABEL, counts.withdrawn_labels))
            .chain(repeat_n(Entry::object(OBJECT_BITS, true), counts.stations))
            .chain(repeat_n(
                Entry::object(OBJECT_BITS, false),
                bare + counts.labels,
            ))
    }
}

/// What a message has besides its lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Whether it has the container of a vehicle.
    pub(crate) vehicle: bool,
    /// Bits of the sensors that are told.
    pub(crate) sensor_bits: usize,
    /// Whether it has the extension of a fused state.
    pub(crate) fused: bool,
}

/// What one listed thing adds to a message, in bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// In the list of objects.
    object: Option<usize>,
    /// In the extension.
    extension: usize,
}

impl Entry {
    /// A station in one of the extension's lists.
    pub(crate) const STATION: Self = Self {
        object: None,
        extension: STATION_BITS,
    };
    /// A label in one of the extension's lists.
    pub(crate) const LABEL: Self = Self {
        object: None,
        extension: LABEL_BITS,
    };

    /// An object of so many bits, and whether the extension tells which station it is.
    pub(crate) const fn object(bits: usize, station: bool) -> Self {
        Self {
            object: Some(bits),
            extension: if station { STATION_BITS } else { 0 },
        }
    }
}

/// Bits of an object that has a number.
pub(crate) fn object_bits(object: &CpmObject) -> usize {
    let extents = [object.length, object.width, object.height];
    let known = extents.iter().filter(|extent| extent.is_some()).count();
    BARE_OBJECT_BITS
        + object.velocity.map_or(0, |_| VELOCITY_BITS)
        + known * EXTENT_BITS
        + object.quality.map_or(0, |_| QUALITY_BITS)
}

/// What a message lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Load {
    pub(crate) entries: usize,
    objects: usize,
    object_bits: usize,
    extension_bits: usize,
}

impl Load {
    fn with(self, entry: Entry) -> Self {
        Self {
            entries: self.entries + 1,
            objects: self.objects + usize::from(entry.object.is_some()),
            object_bits: self.object_bits + entry.object.unwrap_or(0),
            extension_bits: self.extension_bits + entry.extension,
        }
    }

    /// Bytes of the message.
    pub(crate) fn bytes(&self, shape: Shape, segmented: bool) -> usize {
        let mut bits = CPM_HEAD_BITS + LIST_BITS;
        if segmented {
            bits += SEGMENT_BITS;
        }
        if shape.vehicle {
            bits += CONTAINER_ID_BITS + 8 * open_type(VEHICLE_BYTES);
        }
        if shape.sensor_bits > 0 {
            let sensors = (8 + shape.sensor_bits).div_ceil(8);
            bits += CONTAINER_ID_BITS + 8 * open_type(sensors);
        }
        let objects = (OBJECTS_BITS + self.object_bits).div_ceil(8);
        bits += CONTAINER_ID_BITS + 8 * open_type(objects);
        if shape.fused {
            let fused = (FUSED_BITS + self.extension_bits).div_ceil(8);
            bits += ADDITIONS_BITS + 8 * open_type(fused);
        }
        bits.div_ceil(8)
    }

    /// Whether it can be one message.
    pub(crate) fn fits(&self, shape: Shape, segmented: bool, max_bytes: usize) -> bool {
        self.objects <= OBJECTS_MAX && self.bytes(shape, segmented) <= max_bytes
    }
}

/// What goes into which message: one takes all if it can, else each takes in turn as much as fits, which makes the fewest.
///
/// Every message takes at least one entry, so that there is an end; the caller sees to what does not fit even so.
pub(crate) fn fill(
    entries: impl Iterator<Item = Entry> + Clone,
    shape: Shape,
    max_bytes: usize,
) -> Vec<Load> {
    let whole = entries.clone().fold(Load::default(), Load::with);
    if whole.fits(shape, false, max_bytes) {
        return vec![whole];
    }
    let mut loads = Vec::new();
    let mut load = Load::default();
    for entry in entries {
        let more = load.with(entry);
        if load.entries > 0 && !more.fits(shape, true, max_bytes) {
            loads.push(load);
            load = Load::default().with(entry);
        } else {
            load = more;
        }
    }
    loads.push(load);
    loads
}

/// Bytes of one CPM, and whether it is one of several segments; none where it lists more than one can carry.
#[must_use]
pub fn cpm(content: CpmContent, segmented: bool) -> Option<usize> {
    let shape = content.shape();
    let fits = match content {
        CpmContent::Report { sender, .. } => sender.sensors() <= 128,
        CpmContent::Fused(counts) => counts == counts.cut(),
    };
    let load = content.entries().fold(Load::default(), Load::with);
    (fits && load.fits(shape, segmented, usize::MAX)).then(|| load.bytes(shape, segmented))
}

/// Bits of a sensor without a range: extension and options 3, id 8, kind 5, shadowing 1.
const SENSOR_BITS: usize = 17;
/// Bits of a sensor that sees all around: its shape 4, range 2 + 12.
const CIRCLE_BITS: usize = SENSOR_BITS + 18;
/// Bits of a sensor that looks between two directions: its shape 4, options 3, range 12, directions twice 12.
const SECTOR_BITS: usize = SENSOR_BITS + 43;

/// Bits of a sensor.
pub(crate) fn sensor_bits(sensor: &Sensor) -> usize {
    match (sensor.range, sensor.sector) {
        (None, _) => SENSOR_BITS,
        (Some(_), None) => CIRCLE_BITS,
        (Some(_), Some(_)) => SECTOR_BITS,
    }
}

/// Bytes on the air of a report or fused state, in as many messages of at most `max_bytes` as it takes, GeoNetworking and
/// BTP-B of each included; none where eight are not enough.
#[must_use]
pub fn on_air(content: CpmContent, max_bytes: usize) -> Option<usize> {
    let shape = content.shape();
    let loads = fill(content.entries(), shape, max_bytes);
    let segmented = loads.len() > 1;
    let fit = loads
        .iter()
        .all(|load| load.fits(shape, segmented, max_bytes));
    (fit && loads.len() <= SEGMENTS_MAX).then(|| total(&loads, shape))
}

fn total(loads: &[Load], shape: Shape) -> usize {
    let segmented = loads.len() > 1;
    loads
        .iter()
        .map(|load| HEADERS_LEN + load.bytes(shape, segmented))
        .sum()
}

/// The size model `uper`: bytes on the air of what the protocol sends, GeoNetworking and BTP-B of each message included.
///
/// A few additions for each thing that a message lists. It is exact where the objects have a velocity and three extents, as simulated
/// ones have, and where they lie within the reach of a CPM; an object without some of these takes less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The longest CPM in bytes, GeoNetworking and BTP-B not counted; what is longer is split.
    pub max_bytes: usize,
    /// Points of the path history in a low-frequency container.
    pub path_points: usize,
    /// Sensors that a vehicle tells of, all around.
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

    /// A road-side unit's CAM, with a digest of so many bytes.
    #[must_use]
    pub const fn roadside_cam(&self, digest_bytes: Option<usize>) -> usize {
        HEADERS_LEN + roadside_cam(digest_bytes)
    }

    /// A CAM as it is on average, where two in ten have a low-frequency container: those of one vehicle within a second.
    #[must_use]
    pub fn mean_cam(&self, digest_bytes: Option<usize>) -> f64 {
        let (with, without) = (self.cam(digest_bytes, true), self.cam(digest_bytes, false));
        (2.0 * with as f64 + 8.0 * without as f64) / 10.0
    }

    /// A vehicle's report of so many objects, with sensor information (once a second) or without.
    #[must_use]
    pub fn cpm(&self, objects: usize, sensor_information: bool) -> usize {
        let sender = Sender {
            circles: self.sensors,
            ..Sender::default()
        };
        self.report(objects, sender.telling(sensor_information))
    }

    /// A report of so many objects by somebody who tells its sensors.
    #[must_use]
    pub fn report(&self, objects: usize, sender: Sender) -> usize {
        self.total(CpmContent::Report { objects, sender })
    }

    /// A host's fused state. Lists longer than their fields are cut.
    #[must_use]
    pub fn fused(&self, counts: FusedCounts) -> usize {
        self.total(CpmContent::Fused(counts.cut()))
    }

    /// How many messages a report of so many objects takes, by somebody who tells its sensors.
    #[must_use]
    pub fn report_messages(&self, objects: usize, sender: Sender) -> usize {
        self.messages(CpmContent::Report { objects, sender })
    }

    /// How many messages a host's fused state takes.
    #[must_use]
    pub fn fused_messages(&self, counts: FusedCounts) -> usize {
        self.messages(CpmContent::Fused(counts.cut()))
    }

    fn messages(&self, content: CpmContent) -> usize {
        fill(content.entries(), content.shape(), self.max_bytes).len()
    }

    /// Simulations go on where a real sender would have to choose: more than eight messages are counted as if there could be
    /// more.
    fn total(&self, content: CpmContent) -> usize {
        let shape = content.shape();
        total(&fill(content.entries(), shape, self.max_bytes), shape)
    }
}
