//! What everybody made of what it saw, drawn once for all arms.

use std::sync::OnceLock;

use covey_protocol::messages::ObjectState;

use crate::ids::Slot;

/// States of the objects seen at the newest sensing, by observer, from the first time that somebody asks for one.
///
/// Drawing errors takes longer than all else that is done with a state, and every arm asks for the same ones.
#[derive(Debug, Default)]
pub(super) struct Perceived {
    by: Vec<OnceLock<Vec<(Slot, ObjectState)>>>,
}

impl Perceived {
    /// Begins anew, with so many places.
    pub(super) fn restart(&mut self, size: usize) {
        self.by.iter_mut().for_each(|seen| drop(seen.take()));
        self.by.resize_with(size, OnceLock::new);
    }

    /// The states that `observer` saw, found by `see` unless they are known; none of a place that is not there.
    pub(super) fn of(
        &self,
        observer: Slot,
        see: impl FnOnce() -> Vec<(Slot, ObjectState)>,
    ) -> &[(Slot, ObjectState)] {
        let seen = self.by.get(observer.index());
        seen.map_or(&[], |seen| seen.get_or_init(see))
    }
}

#[cfg(test)]
mod tests {
    use covey_protocol::messages::Confidence;
    use covey_protocol::{Instant, ObjectId, Position, Velocity};

    use super::*;

    #[test]
    fn states_are_found_once_until_the_next_look() {
        let state = |x: f64| ObjectState {
            id: ObjectId(7),
            position: Position::new(x, 0.0),
            velocity: Velocity::new(0.0, 0.0),
            size: Default::default(),
            sensed_at: Instant::ZERO,
            confidence: Confidence::FULL,
        };
        let see = |x: f64| move || vec![(Slot(3), state(x))];
        let mut perceived = Perceived::default();
        assert!(perceived.of(Slot(0), see(1.0)).is_empty());
        perceived.restart(2);
        assert_eq!(perceived.of(Slot(1), see(1.0)), [(Slot(3), state(1.0))]);
        assert_eq!(perceived.of(Slot(1), see(2.0)), [(Slot(3), state(1.0))]);
        assert!(perceived.of(Slot(2), see(1.0)).is_empty());
        perceived.restart(2);
        assert_eq!(perceived.of(Slot(1), see(2.0)), [(Slot(3), state(2.0))]);
    }
}
