//! Protocol values as messages, and messages as protocol values.
//!
//! Resolution on the way: positions 1e-7 degree for stations and 1 cm for objects, speeds 1 cm/s, headings 0.1 degree, extents
//! 0.1 m, times 1 ms, confidence 1/15, price 0.0001. What does not fit is treated as `docs/messages.md` lists.

mod filling;
mod fused;
mod objects;

use covey_protocol::messages::{AgentState, Beacon, Broadcast, Report, Size};
use covey_protocol::{AgentId, Duration, Instant, ObjectId, Position};

use crate::cam::{self, Cam, CarriedDigest, WirePosition};
use crate::cpm::{Cpm, Sensor};
use crate::error::{DecodeError, EncodeError};
use crate::fused::PRICE_STEPS;
use crate::geo::{GeoReference, LocalFrame};
use crate::numbering::{FIRST_LABEL, Numbering};
use crate::sizes::DEFAULT_MAX_BYTES;
use crate::time::{ITS_TIME_MAX, ItsTime};
use crate::units::{clamped, decidegrees, decimetres};

use filling::{Filling, Item};
use objects::{protocol_objects, wire_object};

/// How a report is made into messages.
#[derive(Debug, Clone, PartialEq)]
pub struct CpmOptions {
    /// The sender's sensors, at most 128, their sectors counted from its direction. They are told where a report says so
    /// ([`Report::sensor_information`]).
    pub sensors: Vec<Sensor>,
    /// The longest message in bytes, GeoNetworking and BTP not counted. 1394 by default: with the 44 bytes of both it fits
    /// into a maximum transfer unit of 1438 or more, as implementations of the CPM do.
    pub max_bytes: usize,
}

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
    /// Objects left out: farther than 1310.70 m to a side, sensed more than two seconds before or after, without a place, or
    /// without a number because all are taken.
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

    /// The CAM of a beacon, with a low-frequency container where the beacon says so. `path` is its path history, newest first;
    /// without one it is empty, and more than 40 points are cut.
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
        let moves = state.size.is_body();
        Ok(Cam {
            station_id: station_id(beacon.sender)?,
            station_type: if moves {
                cam::PASSENGER_CAR
            } else {
                cam::ROADSIDE_UNIT
            },
            generation_ms: (self.its_time(beacon.at)?.0 & 0xFFFF) as u16,
            position: body.front,
            heading: body.heading,
            speed: clamped(state.speed.abs(), 0.01, 0, i32::from(cam::SPEED_MAX))
                .filter(|_| moves)
                .map(|speed| speed as u16),
            backward: (moves && !state.speed.is_nan()).then_some(backward),
            length: body.length,
            width: decimetres(state.size.width, u16::from(cam::WIDTH_MAX)).map(|w| w as u8),
            path: (moves && beacon.low_frequency).then(|| {
                let points = path.unwrap_or_default();
                points[..points.len().min(cam::PATH_MAX)].to_vec()
            }),
            digest: beacon.digest.clone().map(CarriedDigest::Cells),
        })
    }

    fn body(&self, state: &AgentState) -> Result<Body, EncodeError> {
        let centre = self.wire_position(state.position)?;
        if !state.size.is_body() {
            return Ok(Body {
                front: centre,
                heading: None,
                length: None,
            });
        }
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
        let roadside = cam.is_roadside();
        let still = roadside.then_some(0);
        let heading = cam
            .heading
            .or(still)
            .ok_or(DecodeError::Missing("the heading"))?;
        let speed = cam
            .speed
            .or(still)
            .ok_or(DecodeError::Missing("the speed"))?;
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
                size: if roadside {
                    Size::roadside(0.0)
                } else {
                    Size {
                        length: metres(cam.length),
                        width: metres(cam.width.map(u16::from)),
                        height: 0.0,
                    }
                },
            },
            digest: match &cam.digest {
                Some(CarriedDigest::Cells(digest)) => Some(digest.clone()),
                _ => None,
            },
            low_frequency: cam.path.is_some(),
        })
    }

    /// As [`Wire::beacon`], of a CAM that came in a packet whose header says when it was sent, modulo 2^32 ms
    /// ([`Decoded::time_ms`](crate::frame::Decoded::time_ms)). A CAM by itself says the same time again after 65.536 s; its packet does
    /// so after 49 days, so that one that was recorded and sent again is as old as it is.
    ///
    /// # Errors
    /// As [`Wire::beacon`].
    pub fn beacon_in(
        &self,
        cam: &Cam,
        packet_ms: u32,
        heard_at: Instant,
    ) -> Result<Beacon, DecodeError> {
        let sent = self.nearest(u64::from(packet_ms), 1 << 32, heard_at);
        self.beacon(cam, sent)
    }

    fn generated(&self, generation_ms: u16, heard_at: Instant) -> Instant {
        self.nearest(u64::from(generation_ms), 1 << 16, heard_at)
    }

    /// The instant nearest to `near` whose ITS time is `millis` modulo `period`.
    fn nearest(&self, millis: u64, period: u64, near: Instant) -> Instant {
        let period = i128::from(period);
        let heard = i128::from(near.micros().div_euclid(1_000)) + i128::from(self.zero.0);
        let ahead = (i128::from(millis) - heard).rem_euclid(period);
        let millis = if ahead < period / 2 {
            heard + ahead
        } else {
            heard + ahead - period
        };
        self.instant(ItsTime(millis.clamp(0, i128::from(u64::MAX)) as u64))
    }

    /// The CPMs of a report whose sender is in `state`. `numbering` is the sender's own, for all its messages.
    ///
    /// # Errors
    /// An id, the position or the time has no place in a CPM, or there are too many objects for eight messages.
    pub fn report_cpms(
        &self,
        report: &Report,
        state: &AgentState,
        options: &CpmOptions,
        numbering: &mut Numbering,
    ) -> Result<Cpms, EncodeError> {
        let body = self.body(state)?;
        // Who has no direction to tell counts from east.
        let turn = match state.size.is_body() {
            true => 0.0,
            false => 90.0 - self.encode_frame(body.front)?.to_bearing(state.heading),
        };
        let base = Cpm {
            station_id: station_id(report.sender)?,
            reference_ms: self.its_time(report.at)?.0,
            position: body.front,
            segment: None,
            orientation: state.size.is_body().then_some(body.heading),
            sensors: if report.sensor_information {
                let sensors = options.sensors.iter();
                sensors.map(|sensor| sensor.turned(turn)).collect()
            } else {
                Vec::new()
            },
            objects_known: 0,
            objects: Vec::new(),
            fused: None,
        };
        let frame = self.encode_frame(base.position)?;
        let mut filling = Filling::new(base, options.max_bytes);
        for object in &report.objects {
            named(object.id)?;
            filling.list(
                wire_object(&frame, report.at, object),
                || numbering.in_report(report.sender, object.id, report.at),
                None,
            );
        }
        filling.finish()
    }

    /// The CPMs of a broadcast. A receiver needs all of them to have the broadcast. `numbering` is the host's own, for all its
    /// messages.
    ///
    /// Stations, and all other objects with shared numbers, come before the others, in lists of objects as in the list of
    /// those withdrawn.
    ///
    /// # Errors
    /// As [`Wire::report_cpms`], and where a field of the fused state does not fit.
    pub fn broadcast_cpms(
        &self,
        broadcast: &Broadcast,
        options: &CpmOptions,
        numbering: &mut Numbering,
    ) -> Result<Cpms, EncodeError> {
        let (host, at) = (broadcast.host, broadcast.at);
        let base = Cpm {
            station_id: station_id(host)?,
            reference_ms: self.its_time(at)?.0,
            position: self.wire_position(broadcast.position)?,
            segment: None,
            orientation: Some(None),
            sensors: Vec::new(),
            objects_known: 0,
            objects: Vec::new(),
            fused: Some(fused::head(broadcast)?),
        };
        let frame = self.encode_frame(base.position)?;
        let mut filling = Filling::new(base, options.max_bytes);
        for &agent in &broadcast.contributors {
            filling.add(Item::Contributor(station_id(agent)?));
        }
        for &object in &broadcast.requested {
            filling.add(Item::Requested(station_of(object)?));
        }
        for &object in &broadcast.withdrawn {
            if let Named::Station(station) = named(object)? {
                filling.add(Item::WithdrawnStation(station));
            }
        }
        for &object in &broadcast.withdrawn {
            if let Named::Scoped = named(object)? {
                filling.add_some(
                    numbering
                        .in_fused_state(host, object, at)
                        .map(Item::WithdrawnLabel),
                );
            }
        }
        for stations in [true, false] {
            for object in &broadcast.objects {
                let station = match named(object.id)? {
                    Named::Station(station) => Some(station),
                    Named::Scoped => None,
                };
                if station.is_some() == stations {
                    filling.list(
                        wire_object(&frame, at, object),
                        || numbering.in_fused_state(host, object.id, at),
                        station,
                    );
                }
            }
        }
        filling.finish()
    }

    fn encode_frame(&self, position: WirePosition) -> Result<LocalFrame, EncodeError> {
        self.frame(position).ok_or(EncodeError::Position {
            x: f64::from(position.longitude) * 1e-7,
            y: f64::from(position.latitude) * 1e-7,
        })
    }

    /// The report that a CPM is. Its objects are the sender's ([`ObjectId::perceived`]), whatever their numbers mean elsewhere.
    /// Objects without a number, and those marked as out of range, are passed over; one without a velocity is taken to stand.
    ///
    /// # Errors
    /// The position is unavailable or outside the map.
    pub fn report(&self, cpm: &Cpm) -> Result<Report, DecodeError> {
        let at = self.instant(ItsTime(cpm.reference_ms));
        let sender = AgentId(u64::from(cpm.station_id));
        let perceived = |number| Ok(ObjectId::perceived(sender, number));
        let frame = self.decode_frame(cpm)?;
        Ok(Report {
            sender,
            at,
            objects: protocol_objects(&frame, at, &cpm.objects, perceived)?,
            sensor_information: !cpm.sensors.is_empty(),
        })
    }

    /// The broadcast that all segments of a fused state are, in any order.
    ///
    /// # Errors
    /// They are not all segments of one fused state, their lists are not what they should be, or the position is unavailable or
    /// outside the map.
    pub fn broadcast(&self, segments: &[Cpm]) -> Result<Broadcast, DecodeError> {
        let segments = fused::together(segments)?;
        let (first, head) = segments[0];
        let at = self.instant(ItsTime(first.reference_ms));
        let host = AgentId(u64::from(first.station_id));
        let frame = self.decode_frame(first)?;
        let mut objects = Vec::new();
        for (cpm, fused) in &segments {
            let mut stations = fused.stations.iter();
            objects.extend(protocol_objects(&frame, at, &cpm.objects, |number| {
                if number >= FIRST_LABEL {
                    return Ok(ObjectId::perceived(host, number));
                }
                let station = stations.next().ok_or(fused::unlisted(number))?;
                Ok(ObjectId(u64::from(*station)))
            })?);
            fused::all_used(stations.len())?;
        }
        let lists = fused::Lists::of(&segments)?;
        let before = |millis: u16| at - Duration::from_millis(i64::from(millis));
        let agents = |ids: Vec<u32>| ids.into_iter().map(|id| AgentId(u64::from(id))).collect();
        let stations = |ids: Vec<u32>| ids.into_iter().map(|id| ObjectId(u64::from(id)));
        let labels = lists
            .withdrawn
            .into_iter()
            .map(|number| ObjectId::perceived(host, number));
        Ok(Broadcast {
            host,
            tile: head.tile,
            at,
            position: frame.origin,
            sequence: head.sequence,
            epoch: head.epoch,
            tenure: Duration::from_millis(i64::from(head.tenure_ms)),
            price: f64::from(head.price) / PRICE_STEPS,
            cycle_start: before(head.cycle_age_ms),
            contributors: agents(lists.contributors),
            lease: Duration::from_millis(i64::from(head.lease_ms)),
            content: head.content,
            requested: stations(lists.requested).collect(),
            full: head.full,
            objects,
            withdrawn: stations(lists.withdrawn_stations).chain(labels).collect(),
            unchanged_since: before(head.unchanged_age_ms),
        })
    }

    fn decode_frame(&self, cpm: &Cpm) -> Result<LocalFrame, DecodeError> {
        let earth = cpm
            .position
            .to_earth()
            .ok_or(DecodeError::Missing("the position"))?;
        LocalFrame::at(self.geo, earth).ok_or(DecodeError::Position {
            latitude: earth.latitude,
            longitude: earth.longitude,
        })
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

/// How an object is named on the wire.
enum Named {
    /// By a station id.
    Station(u32),
    /// By a number that means something only together with its sender.
    Scoped,
}

fn named(object: ObjectId) -> Result<Named, EncodeError> {
    match (object.shared(), object.scope()) {
        (Some(station), _) => Ok(Named::Station(station)),
        (None, Some(_)) => Ok(Named::Scoped),
        (None, None) => Err(EncodeError::ObjectId { found: object.0 }),
    }
}

/// Only stations can be asked for by name.
fn station_of(object: ObjectId) -> Result<u32, EncodeError> {
    object.shared().ok_or(EncodeError::Requested { object })
}
