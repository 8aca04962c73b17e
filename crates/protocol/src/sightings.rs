//! Since when a contributor has had in sight what it sees.
//!
//! Something that is not there is seen by one sensor alone, and mostly not for long. Once a cycle a contributor compares what it sees
//! with what it saw before, by place, motion and size ([`crate::associate`]); a look that misses something does not begin anew.

use alloc::vec::Vec;

use crate::associate::{Accuracy, Seen, Sighted};
use crate::ids::ObjectId;
use crate::messages::ObjectState;
use crate::time::{Duration, Instant};

/// What was not seen for longer is forgotten: one look that misses it does no harm.
const FORGOTTEN: Duration = Duration::from_millis(450);

/// What was seen of late, and since when.
#[derive(Debug, Clone, Default)]
pub struct Sightings {
    tracks: Vec<(Seen, Instant)>,
}

impl Sightings {
    /// Takes in a look at `now`; gives for each of `sensed` since when it has been in sight.
    pub(crate) fn look(
        &mut self,
        accuracy: Accuracy,
        now: Instant,
        sensed: &[ObjectState],
    ) -> Vec<Instant> {
        self.tracks
            .retain(|(seen, _)| now.since(seen.at) <= FORGOTTEN && seen.at <= now);
        let labelled = (0u64..).zip(&self.tracks);
        let labelled = labelled.map(|(label, (seen, _))| (ObjectId(label), *seen));
        let found = Sighted::new(accuracy, now, labelled).recognise(None, sensed);
        let mut again = alloc::vec![false; self.tracks.len()];
        let mut since = Vec::with_capacity(sensed.len());
        for (state, found) in sensed.iter().zip(found) {
            since.push(found.map_or(state.sensed_at, |label| {
                let track = label.0 as usize;
                again[track] = true;
                self.tracks[track].1.min(state.sensed_at)
            }));
        }
        let mut again = again.into_iter();
        self.tracks.retain(|_| !again.next().unwrap_or(false));
        let seen = sensed.iter().map(Seen::of_object);
        self.tracks.extend(seen.zip(since.iter().copied()));
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Position, Velocity};
    use crate::messages::{Confidence, Size};
    use alloc::vec;

    /// Something that goes 10 m/s and was at `x` at the beginning.
    fn seen(x: f64, at: Instant) -> ObjectState {
        ObjectState {
            id: ObjectId(0),
            position: Position::new(x + 10.0 * at.since(Instant::ZERO).seconds(), 0.0),
            velocity: Velocity::new(10.0, 0.0),
            size: Size::default(),
            sensed_at: at,
            confidence: Confidence::FULL,
        }
    }

    fn looks(seen_at: &[(i64, &[f64])]) -> Vec<Vec<i64>> {
        let mut sightings = Sightings::default();
        let mut all = Vec::new();
        for &(millis, places) in seen_at {
            let at = Instant::from_millis(millis);
            let sensed: Vec<ObjectState> = places.iter().map(|&x| seen(x, at)).collect();
            let since = sightings.look(Accuracy::default(), at, &sensed);
            let millis = |since: &Instant| since.since(Instant::ZERO).micros() / 1_000;
            all.push(since.iter().map(millis).collect());
        }
        all
    }

    #[test]
    fn what_stays_in_sight_is_known_again_in_any_order() {
        let all = looks(&[(0, &[0.0, 50.0]), (200, &[50.0, 90.0, 0.0]), (400, &[90.0])]);
        assert_eq!(all, [vec![0, 0], vec![0, 200, 0], vec![200]]);
    }

    #[test]
    fn one_look_may_miss_it_but_not_two() {
        let once = looks(&[(0, &[0.0]), (200, &[]), (400, &[0.0]), (600, &[0.0])]);
        assert_eq!(once[2..], [vec![0], vec![0]]);
        let twice = looks(&[(0, &[0.0]), (200, &[]), (400, &[]), (600, &[0.0])]);
        assert_eq!(twice[3], [600]);
    }

    #[test]
    fn something_else_elsewhere_is_new() {
        let all = looks(&[(0, &[0.0]), (200, &[30.0])]);
        assert_eq!(all[1], [200]);
    }
}
