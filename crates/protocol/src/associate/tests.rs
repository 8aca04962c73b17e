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
}
