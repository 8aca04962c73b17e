//! Messages with any values at all, given to real roles: nothing panics, nothing is known that could not be.
//!
//! The input is read as a script: which message, its fields byte by byte (numbers are mostly sane, sometimes anything, such
//! as not-a-number or the end of the range), and how much time passes before the next.

use covey_protocol::host::Host;
use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, ObjectState, Report, Size,
};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Input, Instant, ObjectId, Output, Parameters,
    Participant, Position, Profile, Tile, Velocity,
};

/// Bytes, one after the other; zeros when they run out.
struct Script<'a> {
    bytes: &'a [u8],
}

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    fn number(&mut self) -> f64 {
        match self.byte() {
            0xFF => f64::NAN,
            0xFE => f64::INFINITY,
            0xFD => -1e300,
            0xFC => f64::from_bits(u64::from_le_bytes(core::array::from_fn(|_| self.byte()))),
            small => f64::from(small as i8) * 8.0,
        }
    }

    fn time(&mut self, now: Instant) -> Instant {
        match self.byte() {
            0xFF => Instant::from_micros(i64::MAX),
            0xFE => Instant::from_micros(i64::MIN),
            small => now - Duration::from_millis(10 * (i64::from(small) - 4)),
        }
    }

    fn position(&mut self) -> Position {
        Position::new(250.0 + self.number(), 250.0 + self.number())
    }

    fn agent(&mut self) -> AgentId {
        AgentId(u64::from(self.byte() % 8))
    }

    fn state(&mut self) -> AgentState {
        AgentState {
            position: self.position(),
            heading: self.number(),
            speed: self.number(),
            size: Size::default(),
        }
    }

    /// Small numbers, which are stations too, large ones, and numbers of somebody's making.
    fn object(&mut self) -> ObjectId {
        match self.byte() {
            0xFF => ObjectId(u64::MAX),
            0xFE => ObjectId(3_000_000_000 + u64::from(self.byte())),
            byte if byte >= 0xC0 => {
                let number = u16::from_be_bytes([self.byte(), byte]);
                ObjectId::perceived(self.agent(), number)
            }
            byte => ObjectId(u64::from(byte % 12)),
        }
    }

    fn objects(&mut self, now: Instant) -> Vec<ObjectState> {
        (0..self.byte() % 6)
            .map(|_| ObjectState {
                id: self.object(),
                position: self.position(),
                velocity: Velocity::new(self.number(), self.number()),
                size: Size::default(),
                sensed_at: self.time(now),
                confidence: Confidence::from_percent(self.byte()),
            })
            .collect()
    }

    fn cells(&mut self) -> Vec<Cell> {
        (0..self.byte() % 20)
            .map(|_| match self.byte() {
                0xFF => Cell::new(i32::MIN, i32::MAX),
                small => Cell::new(i32::from(small % 32), i32::from(small / 8)),
            })
            .collect()
    }

    fn beacon(&mut self, now: Instant) -> Beacon {
        Beacon {
            sender: self.agent(),
            at: self.time(now),
            state: self.state(),
            digest: CoverageDigest::new(self.cells()).ok(),
            low_frequency: self.byte().is_multiple_of(2),
        }
    }

    fn report(&mut self, now: Instant) -> Report {
        Report {
            sender: self.agent(),
            at: self.time(now),
            objects: self.objects(now),
            sensor_information: self.byte().is_multiple_of(2),
        }
    }

    fn broadcast(&mut self, now: Instant) -> Broadcast {
        Broadcast {
            host: self.agent(),
            tile: Tile::new(i32::from(self.byte() % 2), 0),
            at: self.time(now),
            position: self.position(),
            sequence: u32::from(self.byte() % 4),
            epoch: u32::MAX,
            tenure: self.time(now).since(now),
            price: self.number(),
            cycle_start: self.time(now),
            contributors: (0..self.byte() % 4).map(|_| self.agent()).collect(),
            lease: now.since(self.time(now)),
            content: match self.byte() % 5 {
                0 => Content::AllVisible,
                1 => Content::SilentOnly,
                2 => Content::Demanded,
                3 => Content::Requested,
                _ => Content::Included,
            },
            requested: (0..self.byte() % 3).map(|_| self.object()).collect(),
            full: self.byte().is_multiple_of(2),
            objects: self.objects(now),
            withdrawn: (0..self.byte() % 4).map(|_| self.object()).collect(),
            unchanged_since: self.time(now),
        }
    }
}

/// Which message a target plays mostly.
#[derive(Clone, Copy)]
enum Kind {
    Beacon,
    Report,
    Broadcast,
}

pub(crate) fn beacons(bytes: &[u8]) {
    play(bytes, Kind::Beacon);
}

pub(crate) fn reports(bytes: &[u8]) {
    play(bytes, Kind::Report);
}

pub(crate) fn broadcasts(bytes: &[u8]) {
    play(bytes, Kind::Broadcast);
}

fn play(bytes: &[u8], mostly: Kind) {
    let mut script = Script { bytes };
    // Whether it judges by itself what others need is the script's to say.
    let profile = match script.byte() % 2 {
        0 => Profile::letter(),
        _ => Profile::demand(),
    };
    let mut now = Instant::ZERO;
    let mut participant = Participant::new(&profile, AgentId(1), now);
    let mut host = Host::new(&profile, AgentId(2), Tile::new(0, 0), now, None);
    let own = AgentState {
        position: Position::new(250.0, 250.0),
        ..AgentState::default()
    };
    participant.handle_input(now, Input::Moved(&own));
    host.handle_input(now, Input::Moved(&own));
    while !script.bytes.is_empty() {
        let kind = match script.byte() % 8 {
            0 => Kind::Beacon,
            1 => Kind::Report,
            2 => Kind::Broadcast,
            3 => {
                host.handle_input(now, Input::Occupancy(script.number()));
                let objects = script.objects(now);
                let cells = script.cells();
                let sensed = Input::Sensed {
                    objects: &objects,
                    cells: &cells,
                };
                host.handle_input(now, sensed);
                participant.handle_input(now, sensed);
                continue;
            }
            _ => mostly,
        };
        let (beacon, report, broadcast);
        let input = match kind {
            Kind::Beacon => {
                beacon = script.beacon(now);
                Input::Beacon(&beacon)
            }
            Kind::Report => {
                report = script.report(now);
                Input::Report(&report)
            }
            Kind::Broadcast => {
                broadcast = script.broadcast(now);
                Input::Broadcast(&broadcast)
            }
        };
        host.handle_input(now, input);
        participant.handle_input(now, input);
        now = now + Duration::from_millis(i64::from(script.byte() % 64));
        host.handle_input(now, Input::Tick);
        participant.handle_input(now, Input::Tick);
        while let Some(output) = host.poll_output() {
            check_wake(&output, now);
        }
        while let Some(output) = participant.poll_output() {
            check_wake(&output, now);
        }
        check(&host, &participant, &profile.parameters);
    }
}

fn check_wake(output: &Output, now: Instant) {
    if let Output::WakeAt(at) = output {
        assert!(*at > now, "a wake-up in the past");
    }
}

fn check(host: &Host, participant: &Participant, parameters: &Parameters) {
    assert!(host.coverage().all(|(_, m)| m > 0.0 && m <= 1.0));
    assert!(host.price() >= 0.0 && host.price().is_finite());
    assert!(host.contributors().is_sorted());
    let listener = participant.listener();
    for known in listener.iter() {
        assert!(known.state.is_finite());
        assert_ne!(
            known.state.id,
            AgentId(1).into(),
            "knows itself as an object"
        );
        let age = listener.age(known.state.id);
        assert!(age.is_some_and(|age| {
            age >= Duration::ZERO && age <= Duration::from_seconds(parameters.soft_state_s)
        }));
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let ramp: Vec<u8> = (0..=255).collect();
    let sane: Vec<u8> = (0..400u32).map(|i| (i * 37 % 61) as u8).collect();
    vec![ramp, sane]
}
