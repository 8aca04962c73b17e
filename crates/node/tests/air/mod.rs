//! Stations that hear each other, in a time of their own.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::path::Path;
use std::sync::Arc;

use covey_its::frame::{PORT_CAM, Source, encode_frame};
use covey_its::{ItsTime, samples};
use covey_node::clock::{its_micros, wall_micros};
use covey_node::secure::Security;
use covey_node::secure::pki::{make_authorities, make_tickets, read_security};
use covey_node::station::{Settings, Station};
use covey_protocol::messages::{Confidence, Size};
use covey_protocol::{
    AgentId, AgentState, Cell, Duration, Instant, ObjectId, ObjectState, Position, Profile,
    Velocity,
};
use covey_simulator::{MapReference, Prepared, Scenario};

pub(crate) const SECOND: i64 = 1_000;
const STEP: Duration = Duration::from_millis(50);

/// Keys of station `number`, with three tickets; made once.
pub(crate) fn security(number: usize) -> Security {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pki-{}", std::process::id()));
    if !folder.join("authority.cert").exists() {
        make_authorities(&folder).unwrap();
    }
    let tickets = folder.join(format!("tickets-{number}"));
    let _ = std::fs::remove_dir_all(&tickets);
    make_tickets(&folder, &tickets, 3, 24 * 7, 0).unwrap();
    read_security(&folder, &tickets).unwrap()
}

/// A frame of a station, not signed.
pub(crate) fn plain(station: u32) -> Vec<u8> {
    let mut cam = samples::cam();
    cam.station_id = station;
    let time = ItsTime((its_micros(wall_micros()) / 1_000) as u64);
    encode_frame(
        &cam.encode().unwrap(),
        PORT_CAM,
        &Source::of_cam(&cam, time),
    )
    .unwrap()
}

pub(crate) struct Air {
    pub(crate) stations: Vec<Station>,
    pub(crate) sent: Vec<(Instant, Vec<u8>)>,
    pub(crate) now: Instant,
    reference: Arc<MapReference>,
}

impl Air {
    pub(crate) fn new(count: usize, signed: bool) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../scenarios/toy/blind-junction/scenario.toml");
        let prepared = Prepared::new(&Scenario::read(&file).unwrap()).unwrap();
        let now = Instant::from_micros(its_micros(wall_micros()))
            .floor_to(Duration::from_millis(200), Duration::ZERO);
        let mut air = Self {
            stations: Vec::new(),
            sent: Vec::new(),
            now,
            reference: Arc::new(MapReference::of(&prepared.scenario, &prepared.map).unwrap()),
        };
        for number in 0..count {
            let keys = signed.then(|| security(number));
            air.push(number as u64 + 1, keys);
        }
        air
    }

    fn push(&mut self, id: u64, keys: Option<Security>) {
        let settings = Settings {
            id: AgentId(id),
            profile: Profile::letter(),
            reference: Arc::clone(&self.reference),
            sensors: vec![samples::sensor()],
            station_type: 5,
            decide_after: Duration::ZERO,
        };
        self.stations.push(Station::new(settings, keys, self.now));
    }

    pub(crate) fn add(&mut self, keys: Security) {
        self.push(0, Some(keys));
    }

    pub(crate) fn broadcasts(&self) -> u64 {
        self.stations
            .iter()
            .map(|s| s.tally().broadcasts_sent)
            .sum()
    }

    pub(crate) fn run(&mut self, time: impl Into<Millis>) {
        let end = self.now + time.into().0;
        self.step_until(|air| air.now >= end);
    }

    pub(crate) fn step_until(&mut self, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        for number in 0..self.stations.len() {
            let x = 200.0 + 30.0 * number as f64;
            let size = Size {
                length: 4.5,
                width: 1.8,
                height: 1.5,
            };
            let state = AgentState {
                position: Position::new(x, 250.0),
                heading: 0.0,
                speed: 0.0,
                size,
            };
            let walker = |k: u16| ObjectState {
                id: ObjectId::perceived(self.stations[number].id(), k),
                position: Position::new(x + 10.0 * f64::from(k), 260.0 + number as f64),
                velocity: Velocity::new(1.0, 0.5),
                size: Size {
                    length: 0.5,
                    width: 0.5,
                    height: 1.8,
                },
                sensed_at: now,
                confidence: Confidence::FULL,
            };
            let objects: Vec<ObjectState> = (1..4).map(walker).collect();
            let cells: Vec<Cell> = (0..6)
                .map(|k| Cell::new(8 + number as i32 * 2 + k, 12))
                .collect();
            let station = &mut self.stations[number];
            station.locate(now, &state, now);
            station.sense(now, &objects, &cells);
            station.tick(now);
            for frame in self.stations[number].take_frames() {
                for other in (0..self.stations.len()).filter(|&other| other != number) {
                    self.stations[other].hear(now + Duration::from_micros(300), &frame);
                }
                self.sent.push((now, frame));
            }
        }
        self.now = now + STEP;
    }
}

/// A length of time, in milliseconds or as it is.
pub(crate) struct Millis(Duration);

impl From<i64> for Millis {
    fn from(millis: i64) -> Self {
        Self(Duration::from_millis(millis))
    }
}

impl From<Duration> for Millis {
    fn from(time: Duration) -> Self {
        Self(time)
    }
}
