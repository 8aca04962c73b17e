//! A capture of what a run sent: an observer that writes every message as a frame, byte for byte as on the road.
//!
//! - A beacon is a CAM, with the low-frequency container where the beacon says so.
//! - A report is a CPM, or several, with the sender's own sensors where the report says so.
//! - A broadcast is a CPM, or several, with the fused state.
//!
//! It has no timing of its own: when containers are due is part of the message, which the size model counts, too.
//!
//! Time stamps are those of the simulation, which begins on 2026-01-01 at 00:00 UTC. What was offered to the channel is written, also
//! where the channel did not carry it. The same run makes the same bytes. Signatures are not written: where messages are signed, or beacons as large
//! as measured ones, records can tell the length that was booked ([`Capture::with_carried_lengths`]), the rest of which was not captured.

use std::collections::BTreeMap;
use std::io::{self, Write};

use covey_its::cam::PASSENGER_CAR;
use covey_its::frame::{PORT_CAM, PORT_CPM, Source, encode_frame};
use covey_its::pcap::{CaptureTime, Writer};
use covey_its::{Cpm, CpmOptions, Cpms, EncodeError, ItsTime, Numbering, Sensor, Wire};
use covey_protocol::messages::{AgentState, Message};
use covey_protocol::{AgentId, Instant, Tile};
use thiserror::Error;

use super::events::{Observer, StepView};
use crate::prepared::MapReference;

/// When a run begins: 2026-01-01 00:00:00 UTC, in milliseconds of Unix time.
const BEGIN_UNIX_MS: i64 = 1_767_225_600_000;
/// Bytes of an Ethernet header, which the channel does not have.
const ETHERNET_LEN: usize = 14;

/// Which messages are written; all, unless something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaptureFilter {
    /// Only what was sent from this tile.
    pub tile: Option<Tile>,
    /// Only what this station sent.
    pub station: Option<AgentId>,
    /// Only what was sent at this time or later; times count from the beginning of the run, warm-up included.
    pub from: Option<Instant>,
    /// Only what was sent before this time.
    pub to: Option<Instant>,
}

impl CaptureFilter {
    fn lets_pass(&self, now: Instant, tile: Option<Tile>, sender: AgentId) -> bool {
        self.tile.is_none_or(|wanted| tile == Some(wanted))
            && self.station.is_none_or(|wanted| sender == wanted)
            && self.from.is_none_or(|from| now >= from)
            && self.to.is_none_or(|to| now < to)
    }
}

/// Why a capture could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file could not be written.
    #[error("the capture cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A message has no form on the wire.
    #[error("a message of station {station} at {at} cannot be written: {source}")]
    Message {
        /// Who sent it.
        station: AgentId,
        /// When.
        at: Instant,
        /// Why.
        source: EncodeError,
    },
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaptureCounts {
    /// Frames with CAMs.
    pub cams: u64,
    /// Frames with CPMs that are reports.
    pub reports: u64,
    /// Frames with CPMs that are fused states.
    pub fused: u64,
    /// Objects that a CPM cannot carry (farther than 1310.70 m to a side, older than 2 s, or more than there are numbers).
    pub objects_left_out: u64,
}

/// Writes what one arm of a run sends. The first error ends the writing; [`Capture::finish`] tells it.
#[derive(Debug)]
pub struct Capture<W> {
    writer: Writer<W>,
    reference: MapReference,
    filter: CaptureFilter,
    options: CpmOptions,
    arm: usize,
    zero: ItsTime,
    states: BTreeMap<AgentId, AgentState>,
    /// What kind of station those are that are no passenger cars.
    station_types: BTreeMap<AgentId, u8>,
    /// Everybody's sensors.
    sensors: BTreeMap<AgentId, Vec<Sensor>>,
    /// The object numbers of those who list objects.
    numberings: BTreeMap<AgentId, Numbering>,
    counts: CaptureCounts,
    /// Records tell the lengths that the channel carried.
    carried: bool,
    error: Option<CaptureError>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture. `reference` says where the map lies.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(
        out: W,
        reference: MapReference,
        filter: CaptureFilter,
    ) -> Result<Self, CaptureError> {
        Ok(Self {
            writer: Writer::new(out)?,
            reference,
            filter,
            options: CpmOptions::default(),
            arm: 0,
            zero: ItsTime::from_unix_millis(BEGIN_UNIX_MS).unwrap_or_default(),
            states: BTreeMap::new(),
            station_types: BTreeMap::new(),
            sensors: BTreeMap::new(),
            numberings: BTreeMap::new(),
            counts: CaptureCounts::default(),
            carried: false,
            error: None,
        })
    }

    /// The same, with records that tell how long messages were on the channel, and so that a part was not captured: what signing
    /// adds, or what a measured beacon has besides.
    #[must_use]
    pub fn with_carried_lengths(self) -> Self {
        Self {
            carried: true,
            ..self
        }
    }

    /// The same, of another arm than the first of the run.
    #[must_use]
    pub fn of_arm(self, arm: usize) -> Self {
        Self { arm, ..self }
    }

    /// A message that was sent at `now` from `tile` and weighed so many bytes on the channel.
    pub fn message(&mut self, now: Instant, tile: Option<Tile>, message: &Message, bytes: u32) {
        if self.error.is_some() {
            return;
        }
        if let Message::Beacon(beacon) = message {
            self.states.insert(beacon.sender, beacon.state);
        }
        if !self.filter.lets_pass(now, tile, message.sender()) {
            return;
        }
        if let Err(error) = self.write(now, message, bytes) {
            self.error = Some(error);
        }
    }

    fn write(&mut self, now: Instant, message: &Message, carried: u32) -> Result<(), CaptureError> {
        let sender = message.sender();
        let refused = |source| CaptureError::Message {
            station: sender,
            at: now,
            source,
        };
        let station_type = self.station_types.get(&sender).copied();
        let station_type = station_type.unwrap_or(PASSENGER_CAR);
        let wire = Wire::new(&self.reference, self.zero);
        let at = CaptureTime(self.zero.to_unix_micros().saturating_add(now.micros()));
        let state = self.states.get(&sender).copied().unwrap_or_default();
        let cpms: Cpms = match message {
            Message::Beacon(beacon) => {
                let mut cam = wire.cam(beacon, None).map_err(refused)?;
                if !cam.is_roadside() {
                    cam.station_type = station_type;
                }
                let source = Source::of_cam(&cam, wire.its_time(now).map_err(refused)?);
                let bytes = cam.encode().map_err(refused)?;
                let frame = encode_frame(&bytes, PORT_CAM, &source).map_err(refused)?;
                self.counts.cams += 1;
                return self.write_frames(at, &[frame], carried);
            }
            Message::Report(report) => {
                let numbering = self.numberings.entry(sender).or_default();
                let own = self.sensors.get(&sender);
                let own = own.filter(|_| report.sensor_information);
                self.options.sensors.clone_from(own.unwrap_or(&Vec::new()));
                wire.report_cpms(report, &state, &self.options, numbering)
            }
            Message::Broadcast(broadcast) => {
                let numbering = self.numberings.entry(sender).or_default();
                wire.broadcast_cpms(broadcast, &self.options, numbering)
            }
        }
        .map_err(refused)?;
        self.counts.objects_left_out += cpms.left_out as u64;
        let speed = (state.speed * 100.0).round();
        let speed = speed.clamp(-16_382.0, 16_382.0) as i16;
        let mut frames = Vec::with_capacity(cpms.messages.len());
        for cpm in &cpms.messages {
            frames.push(cpm_frame(cpm, speed, station_type).map_err(refused)?);
            if cpm.fused.is_some() {
                self.counts.fused += 1;
            } else {
                self.counts.reports += 1;
            }
        }
        self.write_frames(at, &frames, carried)
    }

    /// Writes the frames of a message that weighed so much; what they do not hold of it is not captured of the first.
    fn write_frames(
        &mut self,
        at: CaptureTime,
        frames: &[Vec<u8>],
        carried: u32,
    ) -> Result<(), CaptureError> {
        let link = frames.len() * ETHERNET_LEN;
        let captured: usize = frames.iter().map(Vec::len).sum();
        let mut missing = match self.carried {
            true => (carried as usize + link).saturating_sub(captured),
            false => 0,
        };
        for frame in frames {
            let length = frame.len() + std::mem::take(&mut missing);
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            self.writer.write_of(at, frame, length)?;
        }
        Ok(())
    }

    /// Ends the capture and gives the output back.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub fn finish(self) -> Result<(W, CaptureCounts), CaptureError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok((self.writer.finish()?, self.counts)),
        }
    }
}

fn cpm_frame(cpm: &Cpm, speed: i16, station_type: u8) -> Result<Vec<u8>, EncodeError> {
    let source = Source::of_cpm(cpm, speed).of_type(station_type);
    encode_frame(&cpm.encode()?, PORT_CPM, &source)
}

impl<W: Write> Observer for Capture<W> {
    fn step(&mut self, view: &StepView<'_>) {
        // Reports go out between two beacons: their position is that of their own time.
        let stations = view.station_types.iter().zip(view.sensors);
        let vehicles = view.vehicles.iter().zip(view.participates).zip(stations);
        for ((vehicle, _), (&station_type, sensors)) in vehicles.filter(|((_, with), _)| **with) {
            let id = AgentId(u64::from(vehicle.id.0));
            self.states.insert(id, self.reference.agent_state(vehicle));
            if station_type != PASSENGER_CAR {
                self.station_types.insert(id, station_type);
            }
            self.sensors.entry(id).or_insert_with(|| sensors.to_vec());
        }
    }

    fn wants_messages(&self) -> bool {
        self.error.is_none()
    }

    fn message(
        &mut self,
        arm: usize,
        now: Instant,
        tile: Option<Tile>,
        message: &Message,
        bytes: u32,
    ) {
        if arm == self.arm {
            Self::message(self, now, tile, message, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use covey_its::frame::Message as Framed;
    use covey_its::pcap::Reader;
    use covey_its::{Decoded, decode_frame, samples};
    use covey_protocol::messages::{Beacon, Confidence, ObjectState, Report, Size};
    use covey_protocol::{Cell, CoverageDigest, ObjectId, Position, Velocity};
    use covey_world::{GridFrame, Point};

    use super::*;

    fn capture(filter: CaptureFilter) -> Capture<Vec<u8>> {
        let grid = GridFrame::new(Point::default(), 0.3, 20.0).unwrap();
        let reference = MapReference::new(None, grid).unwrap();
        let mut capture = Capture::new(Vec::new(), reference, filter).unwrap();
        capture.sensors = BTreeMap::from([(AgentId(1), vec![samples::sensor()])]);
        capture
    }

    fn frames(capture: Capture<Vec<u8>>) -> Vec<(i64, Decoded)> {
        let (bytes, _) = capture.finish().unwrap();
        let mut reader = Reader::new(&bytes[..]).unwrap();
        let mut frames = Vec::new();
        while let Some((CaptureTime(at), frame)) = reader.next_frame().unwrap() {
            let begin = BEGIN_UNIX_MS * 1_000;
            frames.push((at - begin, decode_frame(&frame).unwrap()));
        }
        frames
    }

    fn state(x: f64) -> AgentState {
        AgentState {
            position: Position::new(x, 5.0),
            heading: 0.0,
            speed: 10.0,
            size: Size {
                length: 4.5,
                width: 1.8,
                height: 1.5,
            },
        }
    }

    /// A beacon, with a low-frequency container every 0.5 s.
    fn beacon(id: u64, at: Instant) -> Message {
        Message::Beacon(Beacon {
            sender: AgentId(id),
            at,
            state: state(id as f64),
            digest: CoverageDigest::new(vec![Cell::new(1, 2)]).ok(),
            low_frequency: at.micros() % 500_000 == 0,
        })
    }

    /// A report, with sensor information every second.
    fn report(id: u64, at: Instant, objects: u64) -> Message {
        Message::Report(Report {
            sender: AgentId(id),
            at,
            objects: (0..objects)
                .map(|object| ObjectState {
                    id: ObjectId(object),
                    position: Position::new(object as f64, 7.0),
                    velocity: Velocity::new(1.0, 2.0),
                    size: state(0.0).size,
                    sensed_at: at,
                    confidence: Confidence::FULL,
                })
                .collect(),
            sensor_information: at.micros() % 1_000_000 == 0,
        })
    }

    /// Two stations in two tiles for two seconds: beacons every 100 ms, reports every 200 ms.
    fn two_seconds(filter: CaptureFilter) -> Vec<(i64, Decoded)> {
        let mut capture = capture(filter);
        for step in 0..20 {
            let now = Instant::from_millis(100 * step);
            for id in [1, 2] {
                let tile = Some(Tile::new(id as i32, 0));
                capture.message(now, tile, &beacon(id, now), 0);
                if step % 2 == 0 {
                    capture.message(now, tile, &report(id, now, 3), 0);
                }
            }
        }
        frames(capture)
    }

    #[test]
    fn times_are_true_and_containers_are_where_messages_have_them() {
        let frames = two_seconds(CaptureFilter::default());
        assert_eq!(frames.len(), 2 * (20 + 10));
        let times: Vec<i64> = frames.iter().map(|&(at, _)| at / 1_000).collect();
        assert!(times.is_sorted() && times[0] == 0 && times[59] == 1_900);
        let (mut low, mut sensors) = (Vec::new(), Vec::new());
        for (at, decoded) in &frames {
            match &decoded.message {
                Framed::Cam(cam) if cam.station_id == 1 => {
                    assert_eq!((cam.speed, cam.length), (Some(1_000), Some(45)));
                    assert!(cam.digest.is_some());
                    low.extend(cam.path.is_some().then_some(at / 1_000));
                }
                Framed::Cpm(cpm) if cpm.station_id == 1 => {
                    assert_eq!(cpm.objects.len(), 3);
                    sensors.extend((!cpm.sensors.is_empty()).then_some(at / 1_000));
                }
                Framed::Cam(_) | Framed::Cpm(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(low, [0, 500, 1_000, 1_500]);
        assert_eq!(sensors, [0, 1_000]);
    }

    #[test]
    fn one_tile_one_station_and_a_window_are_let_through() {
        let all = two_seconds(CaptureFilter::default()).len();
        let tile = two_seconds(CaptureFilter {
            tile: Some(Tile::new(2, 0)),
            ..CaptureFilter::default()
        });
        let station = two_seconds(CaptureFilter {
            station: Some(AgentId(2)),
            ..CaptureFilter::default()
        });
        assert_eq!((tile.len(), station.len()), (all / 2, all / 2));
        assert_eq!(tile, station);
        let window = two_seconds(CaptureFilter {
            from: Some(Instant::from_millis(500)),
            to: Some(Instant::from_millis(700)),
            ..CaptureFilter::default()
        });
        let times: Vec<i64> = window.iter().map(|&(at, _)| at / 1_000).collect();
        assert_eq!(times, [500, 500, 600, 600, 600, 600]);
    }

    #[test]
    fn the_first_error_is_told_in_the_end_and_large_reports_are_split() {
        let mut split = capture(CaptureFilter::default());
        let now = Instant::from_millis(50);
        split.message(now, None, &beacon(1, now), 0);
        split.message(now, None, &report(1, now, 120), 0);
        let frames = frames(split);
        assert_eq!(frames.len(), 1 + 3);
        let mut wrong = capture(CaptureFilter::default());
        wrong.message(now, None, &beacon(1, now), 0);
        wrong.message(now, None, &beacon(1 << 40, now), 0);
        assert!(!wrong.wants_messages());
        let error = wrong.finish().unwrap_err().to_string();
        assert!(
            error.starts_with("a message of station 1099511627776 at 0.050000 s cannot be written"),
            "{error}"
        );
    }

    #[test]
    fn another_arm_is_not_written() {
        let mut capture = capture(CaptureFilter::default()).of_arm(1);
        let now = Instant::ZERO;
        for arm in 0..3 {
            Observer::message(&mut capture, arm, now, None, &beacon(7, now), 0);
        }
        assert_eq!(capture.finish().unwrap().1.cams, 1);
    }
}
