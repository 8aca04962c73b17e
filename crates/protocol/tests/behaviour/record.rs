//! A crossing of two streets on record: what everybody says there and why, second by second.
//!
//! Published figures rest on each of these decisions, so one that comes out differently is noticed here, however small the difference is.
//! Where a change is meant to, its commit brings the new record and says why (`INSTA_UPDATE=always cargo test -p covey-protocol record`).

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::{Debug, Write};
use std::sync::Arc;

use covey_protocol::demand::{DemandOptions, Views};
use covey_protocol::messages::{AgentState, Confidence, Message, ObjectState, Size};
use covey_protocol::parameters::{BroadcastSize, Parameters};
use covey_protocol::{
    AgentId, Cell, Duration, Input, Instant, ObjectId, Output, Participant, Position, Profile,
    RoadMap, Velocity,
};

/// Where the streets cross.
pub(crate) const CROSSING: f64 = 250.0;
/// From the middle of a street to its lanes.
pub(crate) const LANE: f64 = 2.0;

/// One street along each axis, houses everywhere else.
#[derive(Debug)]
struct Crossing;

/// It is on the street along the first axis.
fn along(p: Position) -> bool {
    (p.y - CROSSING).abs() < 8.0
}

impl RoadMap for Crossing {
    fn building_between(&self, a: Position, b: Position) -> bool {
        let near = |p: Position| (p.x - CROSSING).abs().max((p.y - CROSSING).abs()) < 30.0;
        along(a) != along(b) && !(near(a) && near(b))
    }

    fn way_ahead(&self, from: Position, heading: f64, length: f64, way: &mut Vec<Position>) {
        // Lanes go along the axes.
        let [c, s] = match (heading / FRAC_PI_2).round() as i32 {
            0 => [1.0, 0.0],
            1 => [0.0, 1.0],
            -1 => [0.0, -1.0],
            _ => [-1.0, 0.0],
        };
        let half = 0.5 * length;
        for step in [0.0, half, length] {
            way.push(Position::new(from.x + step * c, from.y + step * s));
        }
    }

    fn lane_heading(&self, p: Position) -> Option<f64> {
        match (along(p), p.y > CROSSING, p.x > CROSSING) {
            (true, above, _) => Some(if above { PI } else { 0.0 }),
            (false, _, right) => Some(if right { FRAC_PI_2 } else { -FRAC_PI_2 }),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Car {
    pub(crate) id: u64,
    pub(crate) state: AgentState,
    pub(crate) equipped: bool,
}

/// A number from 0 to 1 by two keys.
pub(crate) fn unit(a: u64, b: u64) -> f64 {
    (AgentId(AgentId(a).mixed() ^ b).mixed() >> 11) as f64 / (1u64 << 53) as f64
}

/// Cars on four lanes, one in four of them silent, some of them large; and a station beside the road.
fn cars() -> Vec<Car> {
    let mut cars: Vec<Car> = (0..32)
        .map(|k| {
            let (lane, place) = (k % 4, (k / 4) as f64);
            let gap = 27.0 * place + 9.0 * unit(k, 1);
            let (x, y, heading) = match lane {
                0 => (130.0 + gap, CROSSING - LANE, 0.0),
                1 => (420.0 - gap, CROSSING + LANE, PI),
                2 => (CROSSING + LANE, 110.0 + gap, FRAC_PI_2),
                _ => (CROSSING - LANE, 400.0 - gap, -FRAC_PI_2),
            };
            let size = match k % 7 {
                3 => Size {
                    length: 12.0,
                    width: 2.55,
                    height: 3.1,
                },
                _ => Size::default(),
            };
            Car {
                id: 3 + 5 * k,
                state: AgentState {
                    position: Position::new(x, y),
                    heading,
                    speed: 4.0 + 9.0 * unit(k, 2),
                    size,
                },
                equipped: k % 4 == k / 8 || !(k / 4 + k).is_multiple_of(3),
            }
        })
        .collect();
    cars.push(Car {
        id: 200,
        state: AgentState {
            position: Position::new(CROSSING + 9.0, CROSSING - 9.0),
            size: Size::roadside(6.0),
            ..AgentState::default()
        },
        equipped: true,
    });
    cars
}

/// What is visible from `from`: near, on its own street or at the crossing, and not behind another in the same lane.
fn sees(cars: &[Car], from: &Car, to: &Car) -> bool {
    let (a, b) = (from.state.position, to.state.position);
    let between = |c: &Car| {
        let p = c.state.position;
        let lane = |p: Position, q: Position| (p.x - q.x).abs().min((p.y - q.y).abs()) < 1.0;
        c.id != from.id
            && c.id != to.id
            && lane(p, a)
            && lane(p, b)
            && p.distance(a) + p.distance(b) < a.distance(b) + 0.5
    };
    from.id != to.id
        && to.state.size.is_body()
        && a.distance(b) <= 110.0
        && !Crossing.building_between(a, b)
        && !cars.iter().any(between)
}

fn object(car: &Car, by: u64, at: Instant) -> ObjectState {
    let off = |key| 0.4 * (unit(car.id ^ by << 20, at.micros() as u64 ^ key) - 0.5);
    let p = car.state.position;
    let v = car.state.velocity();
    ObjectState {
        id: ObjectId(car.id),
        position: Position::new(p.x + off(1), p.y + off(2)),
        velocity: Velocity::new(v.x + off(3), v.y + off(4)),
        size: car.state.size,
        sensed_at: at,
        confidence: Confidence::from_percent(80 + (by % 20) as u8),
    }
}

/// Cells along the own street.
fn cells(car: &Car) -> Vec<Cell> {
    let p = car.state.position;
    let places = (-5..=5).map(|k| {
        let off = 20.0 * f64::from(k);
        match along(p) {
            true => Position::new(p.x + off, p.y),
            false => Position::new(p.x, p.y + off),
        }
    });
    places.filter_map(|p| Cell::containing(p, 20.0)).collect()
}

/// A short text that differs where `text` does.
pub(crate) fn digest(before: u64, text: &str) -> u64 {
    text.bytes().fold(before, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Of one kind of message, event or reason in a second: how many there were, and what they said.
#[derive(Clone, Copy, Default)]
struct Spoken(u32, u64);

impl Spoken {
    fn add(&mut self, what: &impl Debug) {
        self.0 += 1;
        self.1 = digest(self.1, &format!("{what:?}"));
    }
}

/// What comes of a message on its way to somebody.
pub(crate) enum Fate {
    Lost,
    Heard,
    /// It is heard, and once more so many steps later.
    Again(i64),
    /// It is heard so many steps later.
    Late(i64),
}

/// Everybody goes by `profile` for some seconds: what was said, and in the end what is known.
pub(crate) fn record(profile: Profile, seconds: i64) -> String {
    let fate = |chance: f64| {
        if chance < 0.85 {
            Fate::Heard
        } else {
            Fate::Lost
        }
    };
    let (mut out, stations) = record_of(cars(), profile, seconds, fate, |_, _| Vec::new());
    for station in &stations {
        let (known, sum) = known(station);
        let id = station.id().0;
        let _ = writeln!(out, "{id} knows {known} objects {sum:x}");
    }
    out
}

/// How many objects somebody knows, and a short text of what of them.
pub(crate) fn known(station: &Participant) -> (usize, u64) {
    let known = station.listener().iter();
    let mut known: Vec<String> = known.map(|known| format!("{known:?}")).collect();
    known.sort();
    (known.len(), digest(0, &known.join(" ")))
}

/// These cars go by `profile` for some seconds: what was said, and who said it. Of each message `fate` tells by a number from 0 to 1 what
/// comes of it, receiver by receiver; `others` speak, too, of whom the cars know nothing else.
#[expect(
    clippy::too_many_lines,
    reason = "a world of its own in the order of its events"
)]
pub(crate) fn record_of(
    mut cars: Vec<Car>,
    profile: Profile,
    seconds: i64,
    fate: impl Fn(f64) -> Fate,
    others: impl Fn(Instant, &[Car]) -> Vec<Message>,
) -> (String, Vec<Participant>) {
    let profile = profile.with_map(Arc::new(Crossing));
    let mut late: Vec<(Instant, AgentId, Message)> = Vec::new();
    let mut stations: Vec<Participant> = cars
        .iter()
        .filter(|car| car.equipped)
        .map(|car| Participant::new(&profile, AgentId(car.id), Instant::ZERO))
        .collect();
    let mut out = String::new();
    for second in 0..seconds {
        let mut spoken = [Spoken::default(); 3];
        let (mut events, mut reasons) = (Spoken::default(), Spoken::default());
        for step in 0..20 {
            let now = Instant::from_millis(1_000 * second + 50 * step);
            let mut said = Vec::new();
            for station in &mut stations {
                let car = cars.iter().find(|car| car.id == station.id().0).unwrap();
                station.handle_input(now, Input::Moved(&car.state));
                if step % 2 == 0 {
                    let seen = cars.iter().filter(|other| sees(&cars, car, other));
                    let objects: Vec<ObjectState> =
                        seen.map(|other| object(other, car.id, now)).collect();
                    let cells = cells(car);
                    let sensed = Input::Sensed {
                        objects: &objects,
                        cells: &cells,
                    };
                    station.handle_input(now, sensed);
                    let busy = if second % 4 < 2 { 0.44 } else { 0.21 };
                    station.handle_input(now, Input::Occupancy(busy));
                }
                station.handle_input(now, Input::Tick);
                let before = said.len();
                while let Some(output) = station.poll_output() {
                    match output {
                        Output::Transmit(message) => said.push(message),
                        Output::Event(event) => events.add(&event),
                        _ => {}
                    }
                }
                let decided = |m: &Message| matches!(m, Message::Broadcast(_));
                if let Some(host) = station.host()
                    && said[before..].iter().any(decided)
                {
                    let covered: Vec<_> = host.coverage().collect();
                    let explained = host.policy().explanation();
                    reasons.add(&(host.scores(), covered, explained, host.links().shares()));
                }
            }
            let (due, later) = late.into_iter().partition(|&(at, ..)| at <= now);
            late = later;
            for (_, to, message) in &due {
                let station = stations.iter_mut().find(|station| station.id() == *to);
                station.unwrap().handle_input(now, input(message));
            }
            said.extend(others(now, &cars));
            for (number, message) in (0u64..).zip(&said) {
                let kind = match message {
                    Message::Beacon(_) => 0,
                    Message::Report(_) => 1,
                    Message::Broadcast(_) => 2,
                };
                spoken[kind].add(message);
                for station in &mut stations {
                    let key = now.micros() as u64 ^ number << 40;
                    if station.id() == message.sender() {
                        continue;
                    }
                    let (at_once, then) = match fate(unit(key, station.id().0)) {
                        Fate::Lost => (false, None),
                        Fate::Heard => (true, None),
                        Fate::Again(steps) => (true, Some(steps)),
                        Fate::Late(steps) => (false, Some(steps)),
                    };
                    if at_once {
                        station.handle_input(now, input(message));
                    }
                    let then = then.map(|steps| now + Duration::from_millis(50 * steps));
                    late.extend(then.map(|at| (at, station.id(), message.clone())));
                }
            }
            for car in &mut cars {
                let v = car.state.velocity();
                car.state.position.x += 0.05 * v.x;
                car.state.position.y += 0.05 * v.y;
            }
        }
        let hosts = stations.iter().filter(|s| s.host().is_some());
        let hosts: Vec<u64> = hosts.map(|s| s.id().0).collect();
        let [b, r, f] = spoken;
        let _ = writeln!(
            out,
            "{second} s: {} beacons {:x}, {} reports {:x}, {} broadcasts {:x} for reasons {:x}, {} events {:x}, hosts {hosts:?}",
            b.0, b.1, r.0, r.1, f.0, f.1, reasons.1, events.0, events.1
        );
    }
    (out, stations)
}

fn input(message: &Message) -> Input<'_> {
    match message {
        Message::Beacon(beacon) => Input::Beacon(beacon),
        Message::Report(report) => Input::Report(report),
        Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
    }
}

#[test]
fn the_letters_protocol_is_as_on_record() {
    insta::assert_snapshot!(record(Profile::letter(), 7));
}

#[test]
fn lean_reports_and_changes_alone_are_as_on_record() {
    let parameters = Parameters {
        broadcast_counts: BroadcastSize::LastCycle,
        allowance: 0.05,
        ..Parameters::default()
    };
    insta::assert_snapshot!(record(Profile::lean_with(parameters), 5));
}

#[test]
fn choice_by_demand_is_as_on_record() {
    insta::assert_snapshot!(record(Profile::demand(), 7));
}

#[test]
fn choice_by_demand_on_the_road_is_as_on_record() {
    let options = DemandOptions {
        on_road: true,
        position_error_m: 0.3,
        velocity_error_m_per_s: 0.2,
        ..DemandOptions::default()
    };
    insta::assert_snapshot!(record(
        Profile::demand_with(Parameters::default(), options),
        7
    ));
}

#[test]
fn choice_by_demand_with_little_room_is_as_on_record() {
    let options = DemandOptions {
        target: Some(0.05),
        request_factor: None,
        views: Views::Digests,
        ..DemandOptions::default()
    };
    let parameters = Parameters {
        allowance: 0.05,
        ..Parameters::default()
    };
    insta::assert_snapshot!(record(Profile::demand_with(parameters, options), 5));
}
