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
