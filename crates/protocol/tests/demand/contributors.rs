//! What a contributor beside a queue reports: what is needed or named, whatever numbers come with objects.

use std::collections::BTreeSet;

use covey_protocol::demand::DemandOptions;
use covey_protocol::demand::associate::Identities;
use covey_protocol::messages::{Beacon, Broadcast, Content, Message, ObjectState, Report};
use covey_protocol::{
    AgentId, Duration, Input, Instant, ObjectId, Output, Parameters, Participant, Position,
    Profile, Tile,
};

use crate::scenes::{Car, mute, object, queue, state};

/// The contributor.
const OWN: u64 = 3;

/// Under which numbers perceived objects come, in own sensing and in what others say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// Those that everybody means the same by.
    Shared,
    /// Anything, new with every entry.
    Random(u64),
    /// What whoever sees them calls them, new with every entry.
    Scoped(u64),
    /// Those of stations, the contributor's own among them, some of them twice in a message.
    Stations(u64),
}

impl Numbers {
    fn give(self, car: u64, by: u64, at: Instant) -> ObjectId {
        let key = |seed: u64| AgentId(seed ^ car << 40 ^ by << 20 ^ at.micros() as u64).mixed();
        match self {
            Self::Shared => ObjectId(car),
            Self::Random(seed) => ObjectId(key(seed)),
            Self::Scoped(seed) => ObjectId::perceived(AgentId(by), key(seed) as u16),
            Self::Stations(seed) => ObjectId([1, 2, 3, 5, 9][key(seed) as usize % 5]),
        }
    }
}

/// What others do in a cycle.
#[derive(Debug, Clone, Copy)]
struct Others<'a> {
    content: Content,
    /// Whom the host asks for by name.
    requested: &'a [u64],
    /// What the host's broadcast lists.
    told: &'a [u64],
    /// What car 1 reports.
    reported: &'a [u64],
}

/// A participant beside the queue, which sees 2 and the silent 90 and 91, and perhaps the silent 92, far off to the side,
/// where nobody needs it.
struct Beside {
    participant: Participant,
    cars: Vec<Car>,
    sees: &'static [u64],
    numbers: Numbers,
    now: Instant,
}

impl Beside {
    fn new(identities: Identities, numbers: Numbers) -> Self {
        let options = DemandOptions {
            identities,
            ..DemandOptions::default()
        };
        let profile = Profile::demand_with(Parameters::default(), options);
        let mut cars = queue();
        cars.push(mute(92, 226.0, -25.0));
        Self {
            participant: Participant::new(&profile, AgentId(OWN), Instant::ZERO),
            cars,
            sees: &[2, 90, 91],
            numbers,
            now: Instant::ZERO,
        }
    }

    fn seen(&self, ids: &[u64], by: u64, at: Instant) -> Vec<ObjectState> {
        let cars = ids
            .iter()
            .map(|id| self.cars.iter().find(|c| c.id == *id).unwrap());
        cars.map(|car| ObjectState {
            id: self.numbers.give(car.id, by, at),
            ..object(car, at)
        })
        .collect()
    }

    /// One cycle in which everyone beacons and others speak; what is reported in it, by what was asked before.
    fn cycle(&mut self, others: Others<'_>) -> Vec<ObjectState> {
        let (start, at) = (self.now, self.now + Duration::from_millis(150));
        self.now = self.now + Duration::from_millis(200);
        let cars = self.cars.clone();
        let own = cars.iter().find(|car| car.id == OWN).unwrap();
        self.participant
            .handle_input(start, Input::Moved(&state(own)));
        let sensed = self.seen(self.sees, OWN, start);
        let sensed = Input::Sensed {
            objects: &sensed,
            cells: &[],
        };
        self.participant.handle_input(start, sensed);
        for car in cars.iter().filter(|car| car.equipped && car.id != OWN) {
            let beacon = Beacon {
                sender: AgentId(car.id),
                at: start,
                state: state(car),
                digest: None,
                low_frequency: false,
            };
            self.participant.handle_input(start, Input::Beacon(&beacon));
        }
        let mut reported = Vec::new();
        // Ticks in all slots of the cycle: the own one is among them.
        for slot in 0..3 {
            let tick = start + Duration::from_millis(50 * slot);
            self.participant.handle_input(tick, Input::Tick);
            while let Some(output) = self.participant.poll_output() {
                if let Output::Transmit(Message::Report(report)) = output {
                    reported.extend(report.objects);
                }
            }
        }
        let report = Report {
            sender: AgentId(1),
            at: start,
            objects: self.seen(others.reported, 1, start),
            sensor_information: false,
        };
        self.participant.handle_input(at, Input::Report(&report));
        let broadcast = self.broadcast(others, start, at);
        self.participant
            .handle_input(at, Input::Broadcast(&broadcast));
        for car in &mut self.cars {
            car.x += car.speed * 0.2;
        }
        reported
    }

    fn broadcast(&self, others: Others<'_>, start: Instant, at: Instant) -> Broadcast {
        Broadcast {
            host: AgentId(9),
            tile: Tile::new(0, 0),
            at,
            position: Position::new(150.0, 10.5),
            sequence: 0,
            epoch: 0,
            tenure: Duration::ZERO,
            price: 0.0,
            cycle_start: start,
            contributors: vec![AgentId(OWN)],
            lease: Duration::from_millis(600),
            content: others.content,
            requested: others.requested.iter().map(|&id| ObjectId(id)).collect(),
            full: true,
            objects: self.seen(others.told, 9, start),
            withdrawn: Vec::new(),
            unchanged_since: start,
        }
    }
}

#[test]
fn a_contributor_reports_what_is_needed_or_named_and_nothing_else() {
    let mut beside = Beside::new(Identities::Associated, Numbers::Shared);
    let mut cycle = |requested: &[u64], told: &[u64]| -> Vec<u64> {
        let reported = beside.cycle(Others {
            content: Content::Requested,
            requested,
            told,
            reported: &[],
        });
        reported.iter().map(|o| o.id.0).collect()
    };
    assert!(cycle(&[], &[]).is_empty(), "not asked yet");
    // Nobody has spoken of the silent cars for a second; number 2 beacons for itself.
    assert_eq!(cycle(&[2], &[]), [90, 91]);
    assert_eq!(cycle(&[], &[90, 91]), [2, 90, 91], "2 was named");
    // Both are known from others now, but cars 1 and 2 cannot see 91, and 1 cannot see 90: they still need them.
    assert_eq!(cycle(&[], &[90, 91]), [90, 91]);
}

/// The cars that are reported, cycle by cycle, told by their places, while others speak of ever other things.
fn reported(identities: Identities, numbers: Numbers, content: Content) -> Vec<Vec<u64>> {
    let mut beside = Beside::new(identities, numbers);
    beside.sees = &[2, 90, 91, 92];
    let cycles = 0..24_usize;
    cycles
        .map(|k| {
            let cars = beside.cars.clone();
            let objects = beside.cycle(Others {
                content,
                requested: [&[][..], &[2], &[]][k % 3],
                told: [&[][..], &[90, 1], &[92], &[91, 90, 3], &[], &[], &[]][k / 2 % 7],
                reported: [&[][..], &[91, 2], &[], &[90, 3], &[]][k % 5],
            });
            let at = |o: &ObjectState, car: &Car| {
                o.position.distance(Position::new(car.x, car.y)) < 1e-6
            };
            let car = |o: &ObjectState| cars.iter().find(|car| at(o, car)).unwrap().id;
            objects.iter().map(car).collect()
        })
        .collect()
}

/// The numbers that come with perceived objects may be anything, in own sensing and in messages: what is reported is told by
/// places.
#[test]
fn reports_do_not_depend_on_the_ids_of_perceived_objects() {
    let contents = [
        Content::Demanded,
        Content::Requested,
        Content::SilentOnly,
        Content::AllVisible,
    ];
    let mut different = BTreeSet::new();
    for content in contents {
        let plain = reported(Identities::Associated, Numbers::Shared, content);
        let of_92 = plain.iter().filter(|cycle| cycle.contains(&92)).count();
        match content {
            // It is reported until somebody speaks of it, and from a second after that on.
            Content::Demanded | Content::Requested => {
                assert!((6..18).contains(&of_92), "{plain:?}");
            }
            _ => assert_eq!(of_92, 23),
        }
        for seed in 1..=5 {
            for numbers in [
                Numbers::Random(seed),
                Numbers::Scoped(seed),
                Numbers::Stations(seed),
            ] {
                let scrambled = reported(Identities::Associated, numbers, content);
                assert_eq!(scrambled, plain, "{content:?} {numbers:?}");
                // Where numbers are believed they matter: the scenes would show it.
                if reported(Identities::True, numbers, content) != plain {
                    different.insert(content as u8);
                }
            }
        }
        // With exact places association finds what true numbers tell.
        let named = reported(Identities::True, Numbers::Shared, content);
        assert_eq!(named, plain, "{content:?}");
    }
    assert_eq!(different.len(), contents.len(), "{different:?}");
}
