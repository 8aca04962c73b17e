//! Protocol values as messages, and messages as protocol values.
//!
//! Resolution on the way: positions 1e-7 degree for stations and 1 cm for objects, speeds 1 cm/s, headings 0.1 degree, extents
//! 0.1 m, times 1 ms, confidence 1/15, price 0.0001. What does not fit is treated as `docs/messages.md` lists.

use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, ObjectState, Report, Size,
};
use covey_protocol::{AgentId, Duration, Instant, ObjectId, Position, Velocity};

use crate::cam::{self, Cam, CarriedDigest, WirePosition};
use crate::cpm::{self, Cpm, CpmObject, Sensor};
use crate::error::{DecodeError, EncodeError};
use crate::fused::{self, FusedState};
use crate::geo::{GeoReference, LocalFrame};
use crate::units::{clamped, decidegrees, decimetres, within};

/// Milliseconds of ITS time: TAI since 2004-01-01 00:00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ItsTime(pub u64);

/// Unix time of the ITS epoch, in seconds.
const ITS_EPOCH_UNIX_S: i64 = 1_072_915_200;
/// Leap seconds since the ITS epoch: ITS time runs ahead of UTC by them (2005, 2008, 2012, 2015, 2016).
const LEAP_SECONDS: i64 = 5;
/// The last time stamp, 42 bits.
const ITS_TIME_MAX: i64 = 4_398_046_511_103;

impl ItsTime {
    /// Of a Unix time in milliseconds, after 2017; none before the ITS epoch.
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Option<Self> {
        let its = millis
            .saturating_sub(ITS_EPOCH_UNIX_S * 1_000)
            .saturating_add(LEAP_SECONDS * 1_000);
        if its < 0 || its > ITS_TIME_MAX {
            return None;
        }
        Some(Self(its as u64))
    }

    /// As Unix time in microseconds.
    #[must_use]
    pub const fn to_unix_micros(self) -> i64 {
        // 2^42 ms are 4.4e18 / 1000 us: no overflow; hostile values saturate.
        let its = if self.0 > ITS_TIME_MAX as u64 {
            ITS_TIME_MAX
        } else {
            self.0 as i64
        };
        (its + (ITS_EPOCH_UNIX_S - LEAP_SECONDS) * 1_000) * 1_000
    }
}

/// How a report is made into messages.
#[derive(Debug, Clone, PartialEq)]
pub struct CpmOptions {
    /// The sender's sensors; empty where this report does not tell them (they are told once a second).
    pub sensors: Vec<Sensor>,
    /// The longest message in bytes, GeoNetworking and BTP not counted. 1394 by default: with the 44 bytes of both it fits
    /// into a maximum transfer unit of 1438 or more, as implementations of the CPM do.
    pub max_bytes: usize,
}

/// The longest CPM unless told otherwise, see [`CpmOptions`].
pub(crate) const DEFAULT_MAX_BYTES: usize = 1_394;

impl Default for CpmOptions {
    fn default() -> Self {
        Self {
            sensors: Vec::new(),
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }
}

/// The messages of one report or fused state, and what they do not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpms {
    /// One to eight messages, each complete in itself.
    pub messages: Vec<Cpm>,
    /// Objects left out: farther than 1310.70 m to a side, sensed more than two seconds before or after, or without a place.
    pub left_out: usize,
}

/// Turns protocol values into messages and back, for one map and one start of time.
#[derive(Clone, Copy)]
pub struct Wire<'a> {
    geo: &'a dyn GeoReference,
    zero: ItsTime,
}

impl core::fmt::Debug for Wire<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Wire")
            .field("zero", &self.zero)
            .finish_non_exhaustive()
    }
}

impl<'a> Wire<'a> {
    /// For a map that lies on Earth as `geo` says, and instants counted from `zero`.
    #[must_use]
    pub fn new(geo: &'a dyn GeoReference, zero: ItsTime) -> Self {
        Self { geo, zero }
    }

    /// The ITS time of an instant, rounded down to milliseconds.
    ///
    /// # Errors
    /// It lies outside the 42 bits of a time stamp.
    pub fn its_time(&self, at: Instant) -> Result<ItsTime, EncodeError> {
        let zero = i64::try_from(self.zero.0).unwrap_or(i64::MAX);
        let millis = zero.saturating_add(at.micros().div_euclid(1_000));
        if (0..=ITS_TIME_MAX).contains(&millis) {
            Ok(ItsTime(millis as u64))
        } else {
            Err(EncodeError::Time {
                micros: at.micros(),
            })
        }
    }

    /// The instant of an ITS time.
    #[must_use]
    pub fn instant(&self, time: ItsTime) -> Instant {
        let difference = i128::from(time.0) - i128::from(self.zero.0);
        Instant::from_millis(difference.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    fn wire_position(&self, position: Position) -> Result<WirePosition, EncodeError> {
        self.geo
            .to_earth(position)
            .and_then(WirePosition::of)
            .ok_or(EncodeError::Position {
                x: position.x,
                y: position.y,
            })
    }

    fn frame(&self, position: WirePosition) -> Option<LocalFrame> {
        LocalFrame::at(self.geo, position.to_earth()?)
    }

    /// The CAM of a beacon. `path` is the path history of the low-frequency container, newest first, where this CAM has one
    /// (every 0.5 s); more than 40 points are cut.
    ///
    /// The protocol's position is the middle of the body, that of a CAM the middle of its front. The way between them is
    /// taken from heading and length as rounded in the message, so that [`Wire::beacon`] undoes it exactly.
    ///
    /// # Errors
    /// The station id, the position or the time has no place in a CAM.
    pub fn cam(
        &self,
        beacon: &Beacon,
        path: Option<&[cam::PathPoint]>,
    ) -> Result<Cam, EncodeError> {
        let state = &beacon.state;
        let body = self.body(state)?;
        let backward = state.speed < 0.0;
        Ok(Cam {
            station_id: station_id(beacon.sender)?,
            station_type: cam::PASSENGER_CAR,
            generation_ms: (self.its_time(beacon.at)?.0 & 0xFFFF) as u16,
            position: body.front,
            heading: body.heading,
            speed: clamped(state.speed.abs(), 0.01, 0, i32::from(cam::SPEED_MAX))
                .map(|speed| speed as u16),
            backward: (!state.speed.is_nan()).then_some(backward),
            length: body.length,
            width: decimetres(state.size.width, u16::from(cam::WIDTH_MAX)).map(|w| w as u8),
            path: path.map(|points| points[..points.len().min(cam::PATH_MAX)].to_vec()),
            digest: beacon.digest.clone().map(CarriedDigest::Cells),
        })
    }

    fn body(&self, state: &AgentState) -> Result<Body, EncodeError> {
        let centre = self.wire_position(state.position)?;
        let no_place = EncodeError::Position {
            x: state.position.x,
            y: state.position.y,
        };
        let frame = self.frame(centre).ok_or(no_place)?;
        let heading = decidegrees(frame.to_bearing(state.heading));
        let length = decimetres(state.size.length, cam::LENGTH_MAX);
        let (dx, dy) = to_front(&frame, heading, length);
        let front =
            self.wire_position(Position::new(state.position.x + dx, state.position.y + dy))?;
        Ok(Body {
            front,
            heading,
            length,
        })
    }

    /// The beacon that a CAM is, heard at `heard_at`: a CAM tells the last 16 bits of its time only, the rest is taken so that
    /// it lies within half a minute of that.
    ///
    /// A CAM has no height; it is 0 here.
    ///
    /// # Errors
    /// Position, heading or speed are unavailable, or the position lies outside the map.
    pub fn beacon(&self, cam: &Cam, heard_at: Instant) -> Result<Beacon, DecodeError> {
        let earth = cam
            .position
            .to_earth()
            .ok_or(DecodeError::Missing("the position"))?;
        let heading = cam.heading.ok_or(DecodeError::Missing("the heading"))?;
        let speed = cam.speed.ok_or(DecodeError::Missing("the speed"))?;
        let frame = LocalFrame::at(self.geo, earth).ok_or(DecodeError::Position {
            latitude: earth.latitude,
            longitude: earth.longitude,
        })?;
        let (dx, dy) = to_front(&frame, Some(heading), cam.length);
        let speed = f64::from(speed) * 0.01;
        let metres = |steps: Option<u16>| steps.map_or(0.0, |steps| f64::from(steps) * 0.1);
        Ok(Beacon {
            sender: AgentId(u64::from(cam.station_id)),
            at: self.generated(cam.generation_ms, heard_at),
            state: AgentState {
                position: Position::new(frame.origin.x - dx, frame.origin.y - dy),
                heading: frame.to_heading(f64::from(heading) * 0.1),
                speed: if cam.backward == Some(true) {
                    -speed
                } else {
                    speed
                },
                size: Size {
                    length: metres(cam.length),
                    width: metres(cam.width.map(u16::from)),
                    height: 0.0,
                },
            },
            digest: match &cam.digest {
                Some(CarriedDigest::Cells(digest)) => Some(digest.clone()),
                _ => None,
            },
            low_frequency: false,
        })
    }

    fn generated(&self, generation_ms: u16, heard_at: Instant) -> Instant {
        let heard = i128::from(heard_at.micros().div_euclid(1_000)) + i128::from(self.zero.0);
        let ahead = (i128::from(generation_ms) - heard).rem_euclid(65_536);
        let millis = if ahead < 32_768 {
            heard + ahead
        } else {
            heard + ahead - 65_536
        };
        self.instant(ItsTime(millis.clamp(0, i128::from(u64::MAX)) as u64))
    }

    /// The CPMs of a report whose sender is in `state`.
    ///
    /// # Errors
    /// An id, the position or the time has no place in a CPM, or there are too many objects for eight messages.
    pub fn report_cpms(
        &self,
        report: &Report,
        state: &AgentState,
        options: &CpmOptions,
    ) -> Result<Cpms, EncodeError> {
        let body = self.body(state)?;
        let base = Cpm {
            station_id: station_id(report.sender)?,
            reference_ms: self.its_time(report.at)?.0,
            position: body.front,
            segment: None,
            orientation: Some(body.heading),
            sensors: options.sensors.clone(),
            objects_known: 0,
            objects: Vec::new(),
            fused: None,
        };
        self.with_objects(base, report.at, &report.objects, options)
    }

    /// The CPMs of a broadcast. The extension is in every one of them; a receiver needs all to have the broadcast.
    ///
    /// # Errors
    /// As [`Wire::report_cpms`], and where a field of the fused state does not fit.
    pub fn broadcast_cpms(
        &self,
        broadcast: &Broadcast,
        options: &CpmOptions,
    ) -> Result<Cpms, EncodeError> {
        let base = Cpm {
            station_id: station_id(broadcast.host)?,
            reference_ms: self.its_time(broadcast.at)?.0,
            position: self.wire_position(broadcast.position)?,
            segment: None,
            orientation: Some(None),
            sensors: options.sensors.clone(),
            objects_known: 0,
            objects: Vec::new(),
            fused: Some(fused_state(broadcast)?),
        };
        self.with_objects(base, broadcast.at, &broadcast.objects, options)
    }

    fn with_objects(
        &self,
        base: Cpm,
        at: Instant,
        objects: &[ObjectState],
        options: &CpmOptions,
    ) -> Result<Cpms, EncodeError> {
        let no_place = || {
            let earth = base.position;
            EncodeError::Position {
                x: f64::from(earth.longitude) * 1e-7,
                y: f64::from(earth.latitude) * 1e-7,
            }
        };
        let frame = self.frame(base.position).ok_or_else(no_place)?;
        let mut listed = Vec::with_capacity(objects.len());
        for object in objects {
            listed.extend(wire_object(&frame, at, object)?);
        }
        let left_out = objects.len() - listed.len();
        let too_many = EncodeError::TooManyObjects {
            objects: listed.len(),
            max_bytes: options.max_bytes,
        };
        if listed.len() > cpm::SEGMENTS_MAX * cpm::OBJECTS_MAX {
            return Err(too_many);
        }
        let base = Cpm {
            objects_known: listed.len().min(255) as u8,
            ..base
        };
        // The fewest messages, with the objects spread evenly.
        for count in listed.len().div_ceil(cpm::OBJECTS_MAX).max(1)..=cpm::SEGMENTS_MAX {
            let messages = segments(&base, &listed, count);
            let mut fits = true;
            for message in &messages {
                fits &= message.encode()?.len() <= options.max_bytes;
            }
            if fits {
                return Ok(Cpms { messages, left_out });
            }
        }
        Err(too_many)
    }

    /// The report that a CPM is. Objects without an id, and those marked as out of range, are passed over; one without a
    /// velocity is taken to stand.
    ///
    /// # Errors
    /// The position is unavailable or outside the map.
    pub fn report(&self, cpm: &Cpm) -> Result<Report, DecodeError> {
        let at = self.instant(ItsTime(cpm.reference_ms));
        Ok(Report {
            sender: AgentId(u64::from(cpm.station_id)),
            at,
            objects: self.objects(cpm, at)?.1,
            sensor_information: false,
        })
    }

    /// The broadcast that all segments of a fused state are, in any order.
    ///
    /// # Errors
    /// They are not all segments of one fused state, or the position is unavailable or outside the map.
    pub fn broadcast(&self, segments: &[Cpm]) -> Result<Broadcast, DecodeError> {
        let wrong = |expected| DecodeError::Segments {
            found: segments.len(),
            expected,
        };
        let first = segments.first().ok_or_else(|| wrong(1))?;
        let fused = first
            .fused
            .as_ref()
            .ok_or(DecodeError::Missing("the fused state"))?;
        let expected = first.segment.map_or(1, |(_, total)| usize::from(total));
        let mut sorted: Vec<&Cpm> = segments.iter().collect();
        sorted.sort_by_key(|cpm| cpm.segment);
        let together = sorted.len() == expected
            && sorted.iter().enumerate().all(|(index, cpm)| {
                let number = cpm.segment.map_or(1, |(this, _)| usize::from(this));
                number == index + 1
                    && cpm.station_id == first.station_id
                    && cpm.reference_ms == first.reference_ms
                    && cpm.position == first.position
                    && cpm.fused.as_ref() == Some(fused)
            });
        if !together {
            return Err(wrong(expected));
        }
        let at = self.instant(ItsTime(first.reference_ms));
        let (position, _) = self.objects(first, at)?;
        let mut objects = Vec::new();
        for cpm in sorted {
            objects.extend(self.objects(cpm, at)?.1);
        }
        let before = |millis: u16| at - Duration::from_millis(i64::from(millis));
        Ok(Broadcast {
            host: AgentId(u64::from(first.station_id)),
            tile: fused.tile,
            at,
            position,
            sequence: fused.sequence,
            epoch: fused.epoch,
            tenure: Duration::from_millis(i64::from(fused.tenure_ms)),
            price: f64::from(fused.price) / fused::PRICE_STEPS,
            cycle_start: before(fused.cycle_age_ms),
            contributors: fused
                .contributors
                .iter()
                .map(|&id| AgentId(u64::from(id)))
                .collect(),
            lease: Duration::from_millis(i64::from(fused.lease_ms)),
            content: if fused.silent_only {
                Content::SilentOnly
            } else {
                Content::AllVisible
            },
            requested: Vec::new(),
            full: fused.full,
            objects,
            withdrawn: fused
                .withdrawn
                .iter()
                .map(|&id| ObjectId(u64::from(id)))
                .collect(),
            unchanged_since: before(fused.unchanged_age_ms),
        })
    }

    /// The reference position in the plane, and the objects.
    fn objects(&self, cpm: &Cpm, at: Instant) -> Result<(Position, Vec<ObjectState>), DecodeError> {
        let earth = cpm
            .position
            .to_earth()
            .ok_or(DecodeError::Missing("the position"))?;
        let frame = LocalFrame::at(self.geo, earth).ok_or(DecodeError::Position {
            latitude: earth.latitude,
            longitude: earth.longitude,
        })?;
        let objects = cpm
            .objects
            .iter()
            .filter_map(|object| protocol_object(&frame, at, object))
            .collect();
        Ok((frame.origin, objects))
    }
}

/// Where the front is, and what it was computed from.
struct Body {
    front: WirePosition,
    heading: Option<u16>,
    length: Option<u16>,
}

/// The step of the plane from the middle of a body to the middle of its front.
fn to_front(frame: &LocalFrame, heading: Option<u16>, length: Option<u16>) -> (f64, f64) {
    let (Some(heading), Some(length)) = (heading, length) else {
        return (0.0, 0.0);
    };
    let bearing = (f64::from(heading) * 0.1).to_radians();
    let half = f64::from(length) * 0.05;
    frame.to_plane(half * libm::sin(bearing), half * libm::cos(bearing))
}

fn station_id(agent: AgentId) -> Result<u32, EncodeError> {
    u32::try_from(agent.0).map_err(|_| EncodeError::StationId { found: agent.0 })
}

fn object_id(object: ObjectId) -> Result<u16, EncodeError> {
    u16::try_from(object.0).map_err(|_| EncodeError::ObjectId { found: object.0 })
}

/// `count` messages that carry `objects` in their order.
fn segments(base: &Cpm, objects: &[CpmObject], count: usize) -> Vec<Cpm> {
    (0..count)
        .map(|index| Cpm {
            segment: (count > 1).then_some((index as u8 + 1, count as u8)),
            objects: objects[objects.len() * index / count..objects.len() * (index + 1) / count]
                .to_vec(),
            ..base.clone()
        })
        .collect()
}

fn wire_object(
    frame: &LocalFrame,
    at: Instant,
    object: &ObjectState,
) -> Result<Option<CpmObject>, EncodeError> {
    let id = object_id(object.id)?;
    let (east, north) = frame.to_east_north(
        object.position.x - frame.origin.x,
        object.position.y - frame.origin.y,
    );
    let offset = |metres: f64| within(metres, 0.01, -cpm::OFFSET_MAX, cpm::OFFSET_MAX);
    let millis = object.sensed_at.since(at).micros().div_euclid(1_000);
    let (Some(east), Some(north), -2_048..=2_047) = (offset(east), offset(north), millis) else {
        return Ok(None);
    };
    let (east_v, north_v) = frame.to_east_north(object.velocity.x, object.velocity.y);
    let most = i32::from(cpm::VELOCITY_MAX);
    let component = |speed: f64| clamped(speed, 0.01, -most, most).map(|speed| speed as i16);
    let extent = |metres: f64| decimetres(metres, cpm::EXTENT_MAX);
    Ok(Some(CpmObject {
        id: Some(id),
        measured_ms: millis as i16,
        east,
        north,
        velocity: component(east_v).zip(component(north_v)),
        length: extent(object.size.length),
        width: extent(object.size.width),
        height: extent(object.size.height),
        quality: Some(quality(object.confidence)),
    }))
}

fn protocol_object(frame: &LocalFrame, at: Instant, object: &CpmObject) -> Option<ObjectState> {
    let id = object.id?;
    if object.east.abs() > cpm::OFFSET_MAX || object.north.abs() > cpm::OFFSET_MAX {
        return None;
    }
    let centi = |steps: i32| f64::from(steps) * 0.01;
    let (dx, dy) = frame.to_plane(centi(object.east), centi(object.north));
    let (vx, vy) = object.velocity.map_or((0.0, 0.0), |(east, north)| {
        frame.to_plane(centi(east.into()), centi(north.into()))
    });
    let metres = |steps: Option<u16>| steps.map_or(0.0, |steps| f64::from(steps) * 0.1);
    Some(ObjectState {
        id: ObjectId(u64::from(id)),
        position: Position::new(frame.origin.x + dx, frame.origin.y + dy),
        velocity: Velocity::new(vx, vy),
        size: Size {
            length: metres(object.length),
            width: metres(object.width),
            height: metres(object.height),
        },
        sensed_at: at + Duration::from_millis(i64::from(object.measured_ms)),
        confidence: confidence(object.quality),
    })
}

fn quality(confidence: Confidence) -> u8 {
    ((u32::from(confidence.percent()) * 15 + 50) / 100) as u8
}

/// Without a quality nothing is known of it: 0.
fn confidence(quality: Option<u8>) -> Confidence {
    let quality = u32::from(quality.unwrap_or(0).min(15));
    Confidence::from_percent(((quality * 100 + 7) / 15) as u8)
}

fn fused_state(broadcast: &Broadcast) -> Result<FusedState, EncodeError> {
    let fits = |field, found: i64, low: i64, high: i64| {
        if (low..=high).contains(&found) {
            Ok(found)
        } else {
            Err(EncodeError::Field {
                field,
                found,
                low,
                high,
            })
        }
    };
    let tile = |field, index: i32| fits(field, i64::from(index), -8_388_608, 8_388_607);
    tile("the tile's column", broadcast.tile.tx)?;
    tile("the tile's row", broadcast.tile.ty)?;
    fits(
        "the number of contributors",
        broadcast.contributors.len() as i64,
        0,
        fused::CONTRIBUTORS_MAX as i64,
    )?;
    fits(
        "the number of withdrawn objects",
        broadcast.withdrawn.len() as i64,
        0,
        fused::WITHDRAWN_MAX as i64,
    )?;
    let millis = |instant: Instant| instant.micros().div_euclid(1_000);
    let age = |field, then: Instant| {
        let found = millis(broadcast.at).saturating_sub(millis(then));
        fits(field, found, 0, 65_535).map(|age| age as u16)
    };
    // A lease or a term that is too long for the field is said to be as long as fits: both err on the safe side.
    let at_most = |duration: Duration, most: i64| (duration.micros() / 1_000).clamp(0, most);
    Ok(FusedState {
        tile: broadcast.tile,
        sequence: broadcast.sequence,
        epoch: broadcast.epoch,
        tenure_ms: at_most(broadcast.tenure, i64::from(u32::MAX)) as u32,
        price: clamped(
            broadcast.price,
            1.0 / fused::PRICE_STEPS,
            0,
            fused::PRICE_MAX,
        )
        .unwrap_or(0) as u32,
        cycle_age_ms: age("the age of the cycle in ms", broadcast.cycle_start)?,
        unchanged_age_ms: age(
            "the age of unchanged objects in ms",
            broadcast.unchanged_since,
        )?,
        lease_ms: at_most(broadcast.lease, 65_535) as u16,
        // Finer rules of content, and requested objects, have no place on the wire yet; this is the nearest one.
        silent_only: broadcast.content != Content::AllVisible,
        full: broadcast.full,
        contributors: broadcast
            .contributors
            .iter()
            .map(|&agent| station_id(agent))
            .collect::<Result<_, _>>()?,
        withdrawn: broadcast
            .withdrawn
            .iter()
            .map(|&object| object_id(object))
            .collect::<Result<_, _>>()?,
    })
}
