//! Who is who on a busy road, from positions alone.

use std::collections::BTreeMap;

use covey_protocol::demand::associate::{Accuracy, Association};
use covey_protocol::messages::{AgentState, Confidence, ObjectState, Size};
use covey_protocol::{AgentId, Duration, Instant, ObjectId, Position};

/// Who keeps the tracks.
const OWN: AgentId = AgentId(4_000_000_001);

/// A reproducible number in 0..1.
fn unit(key: u64) -> f64 {
    (AgentId(key).mixed() >> 11) as f64 / (1u64 << 53) as f64
}

/// A standard normal one.
fn normal(key: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(key)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(key ^ 0xABCD_0000)).cos()
}

/// A road of six lanes of 3.5 m, three each way, with queues: 8 to 20 m from one vehicle to the next.
struct Road {
    cars: Vec<(f64, usize, f64)>,
    error_m: f64,
}

impl Road {
    fn new(error_m: f64) -> Self {
        let mut cars = Vec::new();
        for lane in 0..6 {
            let mut x = 0.0;
            while x < 400.0 {
                let key = cars.len() as u64;
                x += 8.0 + 12.0 * unit(key + 31);
                // A lane keeps together.
                cars.push((x, lane, 3.0 + 2.0 * unit(lane as u64)));
            }
        }
        Self { cars, error_m }
    }

    /// Four of five have a radio.
    fn equipped(car: usize) -> bool {
        unit(car as u64 + 5_000) < 0.8
    }

    /// How far a car's own position is off.
    fn off(&self, car: usize) -> [f64; 2] {
        [0, 1].map(|axis| self.error_m * normal(car as u64 * 2 + axis + 77_000))
    }

    fn state(&self, car: usize, seconds: f64) -> AgentState {
        let (x, lane, speed) = self.cars[car];
        let forward = lane < 3;
        let gone = seconds * speed * if forward { 1.0 } else { -1.0 };
        AgentState {
            position: Position::new(x + gone, 3.5 * lane as f64),
            heading: if forward { 0.0 } else { std::f64::consts::PI },
            speed,
            size: Size {
                length: 5.0,
                width: 2.0,
                height: 1.6,
            },
        }
    }
}

fn displaced(mut state: AgentState, off: [f64; 2]) -> AgentState {
    state.position = Position::new(state.position.x + off[0], state.position.y + off[1]);
    state
}

/// Shares of entries that were taken for something else, and that were taken for something new although known, over 5 s.
fn errors(error_m: f64, sizes: bool) -> [f64; 2] {
    let [wrong, split, ..] = shares(error_m, error_m, sizes);
    [wrong, split]
}

/// The same where the errors are thought to be `assumed_m`; then of silent cars those taken for stations, and of stations
/// those taken for silent cars.
#[expect(
    clippy::too_many_lines,
    reason = "a made-up road, told from top to bottom"
)]
fn shares(error_m: f64, assumed_m: f64, sizes: bool) -> [f64; 4] {
    let road = Road::new(error_m);
    let mut tracks = Association::new(
        OWN,
        Accuracy {
            position_m: assumed_m,
            velocity_m_per_s: 0.0,
            sizes,
        },
    );
    // What each label stood for last, and when each car was last spoken of.
    let mut meaning: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut spoken: BTreeMap<usize, Instant> = BTreeMap::new();
    let (mut entries, mut wrong, mut split) = (0, 0, 0);
    // Silent ones and those taken for stations, stations and those taken for silent ones.
    let mut kinds = [0; 4];
    for cycle in 0..25u64 {
        let now = Instant::from_millis(200 * cycle as i64);
        let seconds = 0.2 * cycle as f64;
        for car in (0..road.cars.len()).filter(|&car| Road::equipped(car)) {
            // One beacon in ten is lost.
            if unit(cycle * 1_000 + car as u64) < 0.9 {
                let state = displaced(road.state(car, seconds), road.off(car));
                let retired = tracks.announce(ObjectId(car as u64), &state, now);
                retired.into_iter().for_each(|label| {
                    meaning.remove(&label);
                });
                meaning.insert(ObjectId(car as u64), car);
                spoken.insert(car, now);
            }
        }
        for reporter in (0..road.cars.len()).filter(|&car| Road::equipped(car)) {
            if unit(cycle * 7_777 + reporter as u64) > 0.1 {
                continue;
            }
            let here = road.state(reporter, seconds).position;
            let off = road.off(reporter);
            let mut seen = Vec::new();
            let mut objects = Vec::new();
            for car in (0..road.cars.len()).filter(|&car| car != reporter) {
                let state = road.state(car, seconds);
                let visible = unit(cycle * 31 + (car * 1_009 + reporter) as u64) < 0.5;
                if state.position.distance(here) > 50.0 || !visible {
                    continue;
                }
                let key = (cycle * 100_000) + (reporter * 300 + car) as u64;
                let jitter = if error_m > 0.0 { 0.1 } else { 0.0 };
                let off = [0, 1]
                    .map(|axis| off[axis as usize] + jitter * normal(2 * key + axis + 900_000_000));
                let state = displaced(state, off);
                seen.push(car);
                objects.push(ObjectState {
                    // Whatever number comes with it tells nothing.
                    id: ObjectId(AgentId(key).mixed()),
                    position: state.position,
                    velocity: state.velocity(),
                    size: state.size,
                    sensed_at: now,
                    confidence: Confidence::FULL,
                });
            }
            let labels = tracks.label(Some(ObjectId(reporter as u64)), &objects, true);
            for (&car, label) in seen.iter().zip(labels) {
                let label = label.unwrap();
                let known = spoken
                    .get(&car)
                    .is_some_and(|&at| now.since(at) <= Duration::from_millis(1_000));
                entries += 1;
                let as_station = label.scope().is_none();
                match (Road::equipped(car), as_station) {
                    (false, taken) => {
                        kinds[0] += 1;
                        kinds[1] += i32::from(taken);
                    }
                    (true, taken) => {
                        kinds[2] += 1;
                        kinds[3] += i32::from(!taken);
                    }
                }
                match meaning.insert(label, car) {
                    Some(other) if other != car => wrong += 1,
                    None if known => split += 1,
                    _ => {}
                }
                spoken.insert(car, now);
            }
        }
        tracks.forget(now, Duration::from_millis(1_000));
    }
    assert!(entries > 2_000, "{entries}");
    let share = |some: i32, all: i32| f64::from(some) / f64::from(all);
    [
        share(wrong, entries),
        share(split, entries),
        share(kinds[1], kinds[0]),
        share(kinds[3], kinds[2]),
    ]
}

#[test]
fn exact_positions_tell_who_is_who() {
    assert_eq!(errors(0.0, true), [0.0, 0.0]);
    assert_eq!(errors(0.0, false), [0.0, 0.0], "by place alone");
}

#[test]
fn errors_of_positions_mix_some_up_and_no_more() {
    // Wrong, split, silent ones taken for stations, stations taken for silent ones.
    for (error_m, most) in [
        (0.5, [0.005, 0.005, 0.01, 0.01]),
        (1.0, [0.03, 0.01, 0.03, 0.04]),
        (2.0, [0.17, 0.02, 0.15, 0.20]),
        (3.0, [0.40, 0.02, 0.42, 0.25]),
    ] {
        let found = shares(error_m, error_m, true);
        for (found, most) in found.into_iter().zip(most) {
            assert!(found <= most, "{error_m} m: {found} > {most}");
        }
    }
}

fn body(x: f64, y: f64, speed: f64, length: f64) -> ObjectState {
    ObjectState {
        id: ObjectId(0),
        position: Position::new(x, y),
        velocity: covey_protocol::Velocity::new(speed, 0.0),
        size: Size {
            length,
            width: 2.0,
            height: 1.6,
        },
        sensed_at: Instant::ZERO,
        confidence: Confidence::FULL,
    }
}

#[test]
fn gates_keep_neighbours_the_other_way_and_other_lengths_apart() {
    let accuracy = Accuracy {
        position_m: 0.5,
        velocity_m_per_s: 0.0,
        sizes: true,
    };
    let fits = |entry: ObjectState| {
        let mut tracks = Association::new(OWN, accuracy);
        let first = tracks.label(None, &[body(0.0, 0.0, 10.0, 5.0)], true);
        let mut later = entry;
        later.sensed_at = Instant::from_millis(200);
        first == tracks.label(None, &[later], true)
    };
    assert!(fits(body(2.0, 0.3, 10.0, 5.0)), "moved on");
    assert!(!fits(body(2.0, 3.5, 10.0, 5.0)), "the next lane");
    assert!(!fits(body(2.0, 0.3, -10.0, 5.0)), "the other way");
    assert!(!fits(body(2.0, 0.3, 10.0, 12.0)), "a lorry");
    assert!(!fits(body(f64::NAN, 0.3, 10.0, 5.0)));
}

#[test]
fn one_look_shows_each_body_once_and_the_nearest_wins() {
    let mut tracks = Association::new(OWN, Accuracy::default());
    let labels = tracks.label(None, &[body(0.0, 0.0, 0.0, 5.0)], true);
    let two = [body(0.8, 0.0, 0.0, 5.0), body(0.1, 0.0, 0.0, 5.0)];
    let again = tracks.label(None, &two, true);
    assert_eq!(again[1], labels[0]);
    assert_ne!(again[0], labels[0]);
    let known_only = tracks.label(None, &[body(100.0, 0.0, 0.0, 5.0)], false);
    assert_eq!(known_only, [None]);
    // Labels are the keeper's own, from above.
    let scopes: Vec<_> = again.iter().map(|label| label.unwrap().scope()).collect();
    assert_eq!(scopes, [Some((OWN, 65_534)), Some((OWN, 65_535))]);
}

#[test]
fn a_station_takes_over_what_was_seen_of_it_before_its_first_beacon() {
    let mut tracks = Association::new(OWN, Accuracy::default());
    let seen = tracks.label(None, &[body(0.0, 0.0, 5.0, 5.0)], true);
    let state = AgentState {
        position: Position::new(0.5, 0.0),
        heading: 0.0,
        speed: 5.0,
        size: body(0.0, 0.0, 0.0, 5.0).size,
    };
    let station = ObjectId(7);
    let at = Instant::from_millis(100);
    assert_eq!(tracks.announce(station, &state, at), seen[0]);
    assert_eq!(tracks.len(), 1);
    assert_eq!(tracks.announce(station, &state, at), None);
    let mut again = body(0.5, 0.0, 5.0, 5.0);
    again.sensed_at = at;
    assert_eq!(tracks.label(None, &[again], true), [Some(station)]);
    // Its own report does not speak of it: what it sees right there is something else.
    let other = tracks.label(Some(station), &[again], true);
    assert_ne!(other, [Some(station)]);
    tracks.forget(Instant::from_millis(1_200), Duration::from_millis(1_000));
    assert!(tracks.is_empty());
}

#[test]
fn tracks_are_bounded_whatever_is_said() {
    let mut tracks = Association::new(OWN, Accuracy::default());
    let many: Vec<ObjectState> = (0..9_000)
        .map(|k| body(30.0 * f64::from(k), 0.0, 0.0, 5.0))
        .collect();
    let labels = tracks.label(None, &many, true);
    assert_eq!(tracks.len(), covey_protocol::demand::associate::MOST_TRACKS);
    assert!(labels.last().unwrap().is_none());
}
