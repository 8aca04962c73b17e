//! Whole participants driven by a byte stream of messages, clock steps and losses: nothing panics, bounds hold, memory stays below a
//! cap, and once it is quiet a tile has one host.

use std::collections::VecDeque;

use covey_protocol::demand::DemandOptions;
use covey_protocol::messages::{AgentState, Message};
use covey_protocol::{
    AgentId, Duration, Input, Instant, Output, Parameters, Participant, Position, Profile, Tile,
};

use super::messages::check_wake;
use super::script::Script;

/// The tile in which everybody stands.
const TILE: Tile = Tile::new(0, 0);
/// How many real participants there are in a neighbourhood.
const STATIONS: usize = 3;
/// So many inputs of one participant: more say nothing new, and take long.
const LONGEST: usize = 400;
/// So many slots of a neighbourhood before it is quiet, three seconds, and so many while it is.
const BUSY: usize = 60;
const QUIET: usize = 50;

/// Cells are large: a host's maps are small then, and inputs quick.
fn profile(script: &mut Script<'_>) -> Profile {
    let parameters = Parameters {
        cell_m: 100.0,
        ..Parameters::default()
    };
    match script.byte() % 2 {
        0 => Profile::letter_with(parameters),
        _ => Profile::demand_with(parameters, DemandOptions::default()),
    }
}

fn standing_at(x: f64) -> AgentState {
    AgentState {
        position: Position::new(x, 250.0),
        ..AgentState::default()
    }
}

/// What a step of the own clock is: mostly some milliseconds, now and then back, an hour, or to an end of time.
pub(crate) fn step(script: &mut Script<'_>) -> Duration {
    match script.byte() {
        0xFF => Duration::from_seconds(3_600.0),
        0xFE => Duration::from_seconds(-3_600.0),
        0xFD => Duration::from_millis(-50),
        0xFC => Duration::from_millis(1_100),
        small => Duration::from_millis(i64::from(small % 64)),
    }
}

/// A message of somebody's making, with an author from a wide range: floods have many names.
fn forged(script: &mut Script<'_>, now: Instant) -> Message {
    let name = AgentId(u64::from(u16::from_le_bytes([
        script.byte(),
        script.byte(),
    ])));
    match script.byte() % 3 {
        0 => {
            let mut beacon = script.beacon(now);
            beacon.sender = name;
            Message::Beacon(beacon)
        }
        1 => {
            let mut report = script.report(now);
            report.sender = name;
            Message::Report(report)
        }
        _ => {
            let mut broadcast = script.broadcast(now);
            broadcast.host = name;
            Message::Broadcast(broadcast)
        }
    }
}

fn heard(message: &Message) -> Input<'_> {
    match message {
        Message::Beacon(beacon) => Input::Beacon(beacon),
        Message::Report(report) => Input::Report(report),
        Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
    }
}

/// What everybody can rely on, whatever was heard.
fn check(participant: &Participant) {
    let listener = participant.listener();
    let mut known = 0;
    for entry in listener.iter() {
        assert!(entry.state.is_finite());
        assert_ne!(entry.state.id, participant.id().into(), "knows itself");
        known += 1;
    }
    assert!(known <= 4_096, "{known} objects kept");
    if let Some(host) = participant.host() {
        assert!(host.price() >= 0.0 && host.price().is_finite());
        assert!(host.contributors().is_sorted());
    }
}

/// One participant against everything.
pub(crate) fn participant(bytes: &[u8]) {
    let mut script = Script { bytes };
    let profile = profile(&mut script);
    let mut now = Instant::ZERO;
    let mut participant = Participant::new(&profile, AgentId(1), now);
    for _ in 0..LONGEST {
        if script.bytes.is_empty() {
            break;
        }
        match script.byte() % 8 {
            0 => {
                let state = script.state();
                participant.handle_input(now, Input::Moved(&state));
            }
            1 => {
                let (objects, cells) = (script.objects(now), script.cells());
                let sensed = Input::Sensed {
                    objects: &objects,
                    cells: &cells,
                };
                participant.handle_input(now, sensed);
            }
            2 => participant.handle_input(now, Input::Occupancy(script.number())),
            3 => {
                now = now + step(&mut script);
                participant.handle_input(now, Input::Tick);
            }
            _ => {
                let message = forged(&mut script, now);
                participant.handle_input(now, heard(&message));
            }
        }
        while let Some(output) = participant.poll_output() {
            check_wake(&output, now);
        }
        check(&participant);
    }
}

/// Three participants that hear each other unless the script says not, a forger among them, and clocks that jump.
struct Neighbourhood {
    /// True time.
    now: Instant,
    stations: Vec<Participant>,
    /// How far each clock is ahead of true time.
    ahead: Vec<Duration>,
    air: VecDeque<(usize, Message)>,
}

impl Neighbourhood {
    fn new(profile: &Profile) -> Self {
        let now = Instant::ZERO;
        let make = |n: usize| Participant::new(profile, AgentId(n as u64 + 1), now);
        Self {
            now,
            stations: (0..STATIONS).map(make).collect(),
            ahead: vec![Duration::ZERO; STATIONS],
            air: VecDeque::new(),
        }
    }

    fn clock(&self, station: usize) -> Instant {
        self.now + self.ahead[station]
    }

    /// A slot of 50 ms goes by; `lost` says which of the messages said in them nobody hears.
    fn go_on(&mut self, mut lost: impl FnMut() -> bool) {
        self.now = self.now + Duration::from_millis(50);
        for station in 0..STATIONS {
            let clock = self.clock(station);
            let state = standing_at(200.0 + 40.0 * station as f64);
            self.stations[station].handle_input(clock, Input::Moved(&state));
            self.stations[station].handle_input(clock, Input::Tick);
            while let Some(output) = self.stations[station].poll_output() {
                check_wake(&output, clock);
                if let Output::Transmit(message) = output
                    && !lost()
                {
                    self.air.push_back((station, message));
                }
            }
            check(&self.stations[station]);
        }
        while let Some((from, message)) = self.air.pop_front() {
            for station in (0..STATIONS).filter(|&station| station != from) {
                let clock = self.clock(station);
                self.stations[station].handle_input(clock, heard(&message));
            }
        }
    }

    fn hosts(&self) -> usize {
        let hosting = |station: &&Participant| station.host().is_some_and(|h| h.tile() == TILE);
        self.stations.iter().filter(hosting).count()
    }
}

/// Three participants, then quiet time with right clocks: one of them hosts.
pub(crate) fn neighbourhood(bytes: &[u8]) {
    let mut script = Script { bytes };
    let profile = profile(&mut script);
    let mut road = Neighbourhood::new(&profile);
    for _ in 0..BUSY {
        if script.bytes.is_empty() {
            break;
        }
        match script.byte() {
            0xFF => {
                let station = usize::from(script.byte()) % STATIONS;
                road.ahead[station] = step(&mut script);
            }
            0xFE => {
                let message = forged(&mut script, road.now);
                road.air.push_back((STATIONS, message));
            }
            losses => {
                let mut left = losses;
                road.go_on(|| {
                    left = left.rotate_right(1);
                    left & 1 == 1
                });
            }
        }
    }
    road.ahead.fill(Duration::ZERO);
    for _ in 0..QUIET {
        road.go_on(|| false);
    }
    assert_eq!(road.hosts(), 1, "hosts of the tile after quiet time");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let quiet = vec![0; 300];
    let lossy: Vec<u8> = (0..300u32).map(|i| (i * 37 % 61) as u8).collect();
    let forged: Vec<u8> = (0..300u32)
        .map(|i| {
            if i % 40 == 0 {
                0xFE
            } else {
                (i * 91 % 97) as u8
            }
        })
        .collect();
    let stepping: Vec<u8> = (0..300u32)
        .map(|i| {
            if i % 50 == 1 {
                0xFF
            } else {
                (i * 13 % 29) as u8
            }
        })
        .collect();
    vec![quiet, lossy, forged, stepping]
}
