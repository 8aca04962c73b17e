//! Recognising bodies by place, against comparing everything with everything.

use super::*;
use crate::grid::Velocity;
use crate::messages::Confidence;
use proptest::prelude::*;

/// What [`Sighted`] does, without looking anything up by place.
#[derive(Default)]
struct Plain {
    labels: Vec<ObjectId>,
    seen: Vec<Seen>,
}

impl Plain {
    fn recognise(
        &self,
        accuracy: Accuracy,
        looker: Option<ObjectId>,
        objects: &[ObjectState],
    ) -> Vec<Option<ObjectId>> {
        let entries: Vec<Seen> = objects.iter().map(Seen::of_object).collect();
        let near: Vec<Vec<u32>> = entries
            .iter()
            .map(|entry| {
                let beside = |&number: &u32| {
                    let there = self.seen[number as usize].position;
                    (there.x - entry.position.x).abs() <= CELL_M
                        && (there.y - entry.position.y).abs() <= CELL_M
                        && Some(self.labels[number as usize]) != looker
                };
                (0..self.seen.len() as u32).filter(beside).collect()
            })
            .collect();
        let mut found = Assignment::default();
        found.find(&self.seen, &entries, accuracy, |entry| &near[entry][..]);
        let label = |track: &Option<u32>| track.map(|track| self.labels[track as usize]);
        found.track_of.iter().map(label).collect()
    }
}

prop_compose! {
    /// Something on a road, seen up to a second before or after 2 s; few are where nothing can be.
    fn state()(
        place in (-120.0..120.0, 0u8..5),
        along in prop::bool::ANY,
        speed in prop_oneof![8 => 0.0..20.0, 1 => 60.0..200.0, 1 => Just(f64::INFINITY)],
        angle in -0.2..0.2,
        millis in 1_000i64..3_000,
        length in prop_oneof![Just(0.0), 4.0..12.0],
    ) -> ObjectState {
        let (at, off) = (place.0, 3.5 * f64::from(place.1));
        let heading = if along { angle } else { angle + core::f64::consts::FRAC_PI_2 };
        ObjectState {
            id: ObjectId(0),
            position: if along { Position::new(at, off) } else { Position::new(off, at) },
            velocity: Velocity::new(speed * libm::cos(heading), speed * libm::sin(heading)),
            size: Size { length, width: 2.0, height: 1.6 },
            sensed_at: Instant::from_millis(millis),
            confidence: Confidence::FULL,
        }
    }
}

/// The same body a while later, a little off: mostly recognised.
fn later(state: &ObjectState, seconds: f64, off: f64) -> ObjectState {
    let moved = Position::new(
        state.position.x + seconds * state.velocity.x + off,
        state.position.y + seconds * state.velocity.y - off,
    );
    ObjectState {
        position: moved,
        sensed_at: state.sensed_at + Duration::from_seconds(seconds),
        ..*state
    }
}

proptest! {
    #[test]
    fn bodies_are_recognised_as_among_all(
        known in prop::collection::vec(state(), 1..80),
        looks in prop::collection::vec(
            prop::collection::vec((state(), any::<prop::sample::Index>(), -0.8..0.8, 0.0..1.5, any::<bool>()), 1..12),
            1..12,
        ),
        position_m in prop_oneof![Just(0.0), 0.5..4.0],
    ) {
        let accuracy = Accuracy { position_m, velocity_m_per_s: 0.0, sizes: true };
        let now = Instant::from_millis(2_000);
        let mut plain = Plain::default();
        let mut sighted = Sighted::new(accuracy, now, []);
        let mut next = 0;
        let mut add = |plain: &mut Plain, sighted: &mut Sighted, seen: Seen| {
            next += 1;
            plain.labels.push(ObjectId(next));
            plain.seen.push(seen);
            sighted.add(ObjectId(next), seen);
        };
        for state in &known {
            add(&mut plain, &mut sighted, Seen::of_object(state));
        }
        for (k, look) in (0u64..).zip(&looks) {
            let entries: Vec<ObjectState> = look
                .iter()
                .map(|(other, of, seconds, off, again)| match again {
                    true => later(of.get(&known), *seconds, *off),
                    false => *other,
                })
                .collect();
            let looker = Some(ObjectId(k));
            let found = sighted.recognise(looker, &entries);
            prop_assert_eq!(&found, &plain.recognise(accuracy, looker, &entries));
            for (entry, found) in entries.iter().zip(found) {
                if found.is_none() {
                    add(&mut plain, &mut sighted, Seen::of_object(entry));
                }
            }
        }
    }
    #[test]
    fn tracks_are_found_as_among_all(
        looks in prop::collection::vec(
            prop::collection::vec((state(), any::<prop::sample::Index>(), -0.8..0.8, 0.0..1.5, any::<bool>()), 1..16),
            1..12,
        ),
        stations in prop::collection::vec(state(), 1..20),
        position_m in prop_oneof![Just(0.0), 0.5..4.0],
        at_once in any::<bool>(),
        // All entries of a look are off by so much, often by more than is tried at first.
        offset in prop_oneof![Just([0.0; 2]), prop::array::uniform2(-6.0..6.0)],
    ) {
        let accuracy = Accuracy { position_m, velocity_m_per_s: 0.5, sizes: true };
        let mut tracks = Association::new(AgentId(9), accuracy);
        let mut known: Vec<ObjectState> = Vec::new();
        for (number, state) in (1u64..).zip(&stations) {
            let told = AgentState {
                position: state.position,
                heading: libm::atan2(state.velocity.y, state.velocity.x),
                speed: state.velocity.speed(),
                size: state.size,
            };
            tracks.announce(ObjectId(number), &told, state.sensed_at);
            known.push(*state);
        }
        for (k, look) in (0u64..).zip(&looks) {
            let now = Instant::from_millis(2_000);
            let entries: Vec<ObjectState> = look
                .iter()
                .map(|(other, of, seconds, off, again)| match again {
                    true => later(of.get(&known), *seconds, *off),
                    false => *other,
                })
                .map(|state| match at_once {
                    true => ObjectState { sensed_at: now, ..state },
                    false => state,
                })
                .map(|state| {
                    let Position { x, y } = state.position;
                    let position = Position::new(x + offset[0], y + offset[1]);
                    ObjectState { position, ..state }
                })
                .collect();
            let looker = Some(ObjectId(1 + k % 3));
            let plain = among_all(&tracks, looker, &entries);
            prop_assert_eq!(&tracks.clone().label(looker, &entries, false), &plain);
            let labels = tracks.label(looker, &entries, true);
            for ((label, plain), entry) in labels.iter().zip(&plain).zip(&entries) {
                prop_assert!(plain.is_none() || label == plain);
                if plain.is_none() && entry.is_finite() {
                    known.push(*entry);
                }
            }
        }
    }
}

/// What [`Association::label`] finds for a look that creates nothing, every entry compared with all tracks in its cell and beside it.
fn among_all(
    tracks: &Association,
    sender: Option<ObjectId>,
    objects: &[ObjectState],
) -> Vec<Option<ObjectId>> {
    let mut sorted: Vec<(ObjectId, Seen)> = tracks
        .tracks
        .iter()
        .map(|track| (track.label, track.seen))
        .collect();
    sorted.sort_by_key(|&(label, _)| label);
    let (labels, seen): (Vec<ObjectId>, Vec<Seen>) = sorted.into_iter().unzip();
    let usable: Vec<&ObjectState> = objects.iter().filter(|o| o.is_finite()).collect();
    let entries: Vec<Seen> = usable.iter().map(|o| Seen::of_object(o)).collect();
    let beside = |a: Position, b: Position| {
        let (a, b) = (cell(a), cell(b));
        a[0].abs_diff(b[0]) <= 1 && a[1].abs_diff(b[1]) <= 1
    };
    let near: Vec<Vec<u32>> = entries
        .iter()
        .map(|entry| {
            let numbers = 0..seen.len() as u32;
            numbers
                .filter(|&n| Some(labels[n as usize]) != sender)
                .filter(|&n| beside(seen[n as usize].position, entry.position))
                .collect()
        })
        .collect();
    let mut found = Assignment::default();
    found.find(&seen, &entries, tracks.accuracy, |entry| &near[entry][..]);
    let mut found = found.track_of.iter();
    let label = |object: &ObjectState| {
        let track = object.is_finite().then(|| found.next().copied().flatten());
        track.flatten().map(|track| labels[track as usize])
    };
    objects.iter().map(label).collect()
}

#[test]
fn cells_are_floors() {
    for (at, expected) in [
        (0.0, 0),
        (49.9, 0),
        (50.0, 1),
        (-0.1, -1),
        (-50.0, -1),
        (-50.1, -2),
        (1e300, i32::MAX),
        (-1e300, i32::MIN),
    ] {
        assert_eq!(cell(Position::new(at, 0.0)), [expected, 0], "{at}");
    }
}

/// Something at a place, with a motion, a length and a time in milliseconds.
fn something(x: f64, y: f64, vx: f64, length: f64, millis: i64) -> ObjectState {
    ObjectState {
        id: ObjectId(0),
        position: Position::new(x, y),
        velocity: Velocity::new(vx, 0.0),
        size: Size {
            length,
            width: 2.0,
            height: 1.6,
        },
        sensed_at: Instant::from_millis(millis),
        confidence: Confidence::FULL,
    }
}

const EXACT: Accuracy = Accuracy {
    position_m: 0.0,
    velocity_m_per_s: 0.0,
    sizes: true,
};

/// Whether both may be one body.
fn fits(accuracy: Accuracy, a: &ObjectState, b: &ObjectState) -> bool {
    let (a, b) = (Seen::of_object(a), Seen::of_object(b));
    let [apart, _] = accuracy.variances();
    a.distance(&b, [0.0; 2], accuracy.spread(apart)).is_some()
}

#[test]
fn one_body_is_within_three_deviations_of_where_it_went() {
    let standing = something(0.0, 0.0, 0.0, 4.0, 0);
    let at = |x, y| something(x, y, 0.0, 4.0, 0);
    for (x, y, one) in [
        (1.79, 0.0, true),
        (1.81, 0.0, false),
        (0.0, -1.79, true),
        (0.0, -1.81, false),
        (1.3, 1.3, false),
        (1.2, -1.2, true),
    ] {
        assert_eq!(fits(EXACT, &standing, &at(x, y)), one, "{x} {y}");
    }
    // A second later it may have braked or gone faster by 3 m/s2, and is as near to its lane as before.
    let driving = something(0.0, 0.0, 10.0, 4.0, 0);
    let later = |x, y| something(x, y, 10.0, 4.0, 1_000);
    for (x, y, one) in [
        (14.8, 0.0, true),
        (14.9, 0.0, false),
        (5.2, 0.0, true),
        (5.1, 0.0, false),
        (10.0, 1.79, true),
        (10.0, 1.81, false),
        (10.0, -1.81, false),
        (13.0, 1.79, false),
    ] {
        assert_eq!(fits(EXACT, &driving, &later(x, y)), one, "{x} {y}");
    }
    // Nothing is moved on for more than two seconds, nor back for more than one.
    let seen = Seen::of_object(&driving);
    let place = |millis| seen.moved(Instant::from_millis(millis)).0.x;
    assert_eq!([place(-500), place(-3_000)], [-5.0, -10.0]);
    assert_eq!([place(1_500), place(9_000)], [15.0, 20.0]);
}

#[test]
fn one_body_has_one_speed_and_one_length() {
    let a = something(0.0, 0.0, 10.0, 4.0, 0);
    let speed = |accuracy, vx, millis: i64| {
        let b = something(10e-3 * millis as f64, 0.0, vx, 4.0, millis);
        fits(accuracy, &a, &b)
    };
    assert!(speed(EXACT, 11.49, 0) && !speed(EXACT, 11.51, 0));
    assert!(speed(EXACT, 8.51, 0) && !speed(EXACT, 8.49, 0));
    assert!(speed(EXACT, 20.4, 1_000) && !speed(EXACT, 20.6, 1_000));
    let rough = Accuracy {
        velocity_m_per_s: 1.0,
        ..EXACT
    };
    assert!(speed(rough, 16.1, 0) && !speed(rough, 16.3, 0));
    let odd = Accuracy {
        velocity_m_per_s: f64::INFINITY,
        ..EXACT
    };
    assert!(!speed(odd, 11.51, 0));
    let length = |accuracy, length| fits(accuracy, &a, &something(0.0, 0.0, 10.0, length, 0));
    assert!(length(EXACT, 6.4) && !length(EXACT, 6.6));
    assert!(length(EXACT, 1.6) && !length(EXACT, 1.4));
    assert!(length(EXACT, 0.0), "not known");
    assert!(length(EXACT, f64::INFINITY), "not known");
    let sizeless = Accuracy {
        sizes: false,
        ..EXACT
    };
    assert!(length(sizeless, 30.0));
}

#[test]
fn how_far_off_is_told_in_squared_deviations() {
    let cost = |a: &ObjectState, b: &ObjectState| {
        let (a, b) = (Seen::of_object(a), Seen::of_object(b));
        let cost = a.distance(&b, [0.0; 2], EXACT.spread(EXACT.variances()[0]));
        (cost.unwrap() * 1e9).round() / 1e9
    };
    let standing = something(0.0, 0.0, 0.0, 4.0, 0);
    assert_eq!(cost(&standing, &something(0.6, 0.0, 0.0, 4.0, 0)), 1.0);
    assert_eq!(cost(&standing, &something(0.6, -0.6, 0.0, 4.0, 0)), 2.0);
    assert_eq!(cost(&standing, &something(0.0, 0.0, 0.25, 4.0, 0)), 0.25);
    let driving = something(0.0, 0.0, 10.0, 4.0, 0);
    let later = something(11.5, 0.6, 10.0, 4.0, 1_000);
    assert_eq!(
        cost(&driving, &later),
        ((1.0 + 2.25 / 2.61) * 1e9f64).round() / 1e9
    );
    let with = |position_m| Accuracy {
        position_m,
        ..EXACT
    };
    assert_eq!(with(1.0).variances(), [0.36 + 2.0, 0.36 + 1.2]);
    assert_eq!(with(2.0).spread_m2(), 0.36 + 4.8);
    assert_eq!(with(99.0).variances(), with(20.0).variances());
    assert_eq!(with(f64::NAN).variances(), EXACT.variances());
}

#[test]
fn bodies_keep_their_labels_and_are_forgotten_after_the_memory() {
    let mut tracks = Association::new(AgentId(7), EXACT);
    let look = |millis: i64| {
        let x = 10e-3 * millis as f64;
        [
            something(x - 0.2, 0.0, 10.0, 4.0, millis),
            something(x + 20.0, 0.0, 10.0, 4.0, millis),
            something(f64::NAN, 0.0, 10.0, 4.0, millis),
        ]
    };
    assert_eq!(tracks.label(None, &look(0), false), [None; 3]);
    assert!(tracks.is_empty());
    let first = tracks.label(None, &look(0), true);
    assert!(first[0].is_some() && first[1].is_some() && first[0] != first[1]);
    assert_eq!((first[2], tracks.len()), (None, 2));
    // Across the borders of cells, too: the first was at -0.2 m.
    assert_eq!(tracks.label(None, &look(100), false), first);
    assert_eq!(tracks.label(None, &look(400), true), first);
    let memory = Duration::from_millis(1_000);
    tracks.forget(Instant::from_millis(1_400), memory);
    assert_eq!(tracks.len(), 2);
    tracks.drop(first[0].unwrap());
    assert_eq!(tracks.len(), 1);
    let again = tracks.label(None, &look(500), true);
    assert!(again[0] != first[0] && again[1] == first[1]);
    tracks.forget(Instant::from_millis(1_501), memory);
    assert!(tracks.is_empty() && tracks.cells.is_empty());
}

#[test]
fn a_look_moves_a_track_half_way_and_a_station_not_while_it_is_heard() {
    let mut tracks = Association::new(AgentId(7), EXACT);
    let state = AgentState {
        position: Position::new(0.0, 0.0),
        ..AgentState::default()
    };
    let station = ObjectId(5);
    assert_eq!(tracks.announce(station, &state, Instant::ZERO), None);
    let place = |tracks: &Association, label| {
        let number = tracks.numbers.get(label).copied().unwrap();
        tracks.tracks[number as usize].seen.position.x
    };
    let look = |x, millis| [something(x, 0.0, 0.0, 0.0, millis)];
    assert_eq!(tracks.label(None, &look(1.0, 500), true), [Some(station)]);
    assert_eq!(place(&tracks, station), 0.0);
    assert_eq!(tracks.label(None, &look(1.0, 501), true), [Some(station)]);
    assert_eq!(place(&tracks, station), 0.5);
    // Of the past nothing is learned; its own next word is better than all looks, and an old one is passed over.
    assert_eq!(tracks.label(None, &look(1.0, 501), true), [Some(station)]);
    assert_eq!(place(&tracks, station), 0.5);
    tracks.announce(station, &state, Instant::from_millis(600));
    assert_eq!(place(&tracks, station), 0.0);
    let moved = AgentState {
        position: Position::new(1.0, 0.0),
        ..state
    };
    tracks.announce(station, &moved, Instant::from_millis(600));
    assert_eq!(place(&tracks, station), 0.0);
    // Whoever looks does not see itself.
    let labels = tracks.label(Some(station), &look(0.0, 600), true);
    assert!(labels[0].is_some_and(|label| label != station));
    let odd = AgentState {
        speed: f64::NAN,
        ..state
    };
    assert_eq!(tracks.announce(ObjectId(6), &odd, Instant::ZERO), None);
    assert_eq!(tracks.len(), 2);
}

#[test]
fn a_station_that_was_seen_before_it_spoke_takes_the_place_of_what_was_seen_nearest() {
    let mut tracks = Association::new(AgentId(7), EXACT);
    let seen = [
        something(1.0, 0.0, 0.0, 0.0, 0),
        something(-1.2, 0.0, 0.0, 0.0, 0),
        something(40.0, 0.0, 0.0, 0.0, 0),
    ];
    let labels = tracks.label(None, &seen, true);
    let state = AgentState::default();
    assert_eq!(
        tracks.announce(ObjectId(5), &state, Instant::ZERO),
        labels[0]
    );
    assert_eq!(tracks.len(), 3);
    // Another one at the same place retires what is left there, and a third nobody: stations are not mixed up.
    assert_eq!(
        tracks.announce(ObjectId(6), &state, Instant::ZERO),
        labels[1]
    );
    assert_eq!(tracks.announce(ObjectId(8), &state, Instant::ZERO), None);
    assert_eq!(tracks.len(), 4);
}

#[test]
fn no_more_tracks_are_kept_than_there_is_room_for() {
    let mut tracks = Association::new(AgentId(7), EXACT);
    let all: Vec<ObjectState> = (0..MOST_TRACKS + 3)
        .map(|k| something(100.0 * k as f64, 0.0, 0.0, 0.0, 0))
        .collect();
    let labels = tracks.label(None, &all, true);
    assert_eq!(tracks.len(), MOST_TRACKS);
    assert!(labels[..MOST_TRACKS].iter().all(Option::is_some));
    assert_eq!(labels[MOST_TRACKS..], [None; 3]);
    let state = AgentState {
        position: Position::new(-500.0, 0.0),
        ..AgentState::default()
    };
    tracks.announce(ObjectId(5), &state, Instant::ZERO);
    assert_eq!(tracks.len(), MOST_TRACKS);
}

#[test]
fn how_far_off_is_told_along_and_across_the_way_whichever_way_it_goes() {
    let seen = |direction: Option<[f64; 2]>| Seen {
        position: Position::default(),
        velocity: [0.0; 2],
        direction,
        length: 0.0,
        at: Instant::ZERO,
    };
    let none = seen(None);
    let off = [2.0, 1.0];
    let of = |a: &Seen, b: &Seen| a.squared_deviations(b, off, [4.0, 0.5]);
    // Towards (0.6, 0.8): 2 along and -1 across. Towards (0.8, -0.6): 1 along and 2 across.
    for (direction, expected) in [([0.6, 0.8], 1.0 + 2.0), ([0.8, -0.6], 0.25 + 8.0)] {
        let one = seen(Some(direction));
        assert!((of(&one, &none) - expected).abs() < 1e-12);
        assert!((of(&none, &one) - expected).abs() < 1e-12);
    }
    assert_eq!(of(&none, &none), 1.25);
}

#[test]
fn of_two_as_near_the_one_with_the_lower_label_is_taken() {
    let at = |x: f64| something(x, 0.0, 0.0, 0.0, 0);
    for places in [[-0.5, 0.5], [0.5, -0.5]] {
        let mut tracks = Association::new(AgentId(7), EXACT);
        let labels = tracks.label(None, &places.map(at), true);
        let lower = labels.iter().copied().min().unwrap();
        assert_eq!(tracks.label(None, &[at(0.0)], false), [lower]);
        let state = AgentState::default();
        assert_eq!(tracks.announce(ObjectId(5), &state, Instant::ZERO), lower);
    }
    // The last comes first once the first is gone.
    let mut tracks = Association::new(AgentId(7), EXACT);
    let labels = tracks.label(None, &[at(40.0), at(0.5), at(-0.5)], true);
    tracks.drop(labels[0].unwrap());
    assert!(labels[2] < labels[1]);
    assert_eq!(tracks.label(None, &[at(0.0)], false), [labels[2]]);
    let state = AgentState::default();
    assert_eq!(
        tracks.announce(ObjectId(5), &state, Instant::ZERO),
        labels[2]
    );
}
