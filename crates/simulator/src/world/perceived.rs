//! What everybody made of what it saw, drawn once for all arms.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use covey_protocol::messages::ObjectState;

use crate::ids::{Slot, Step};

/// So many looks are kept: little that anybody asks for is older than a second.
const LOOKS: usize = 12;

/// States of the objects seen at the last looks, by observer, from the first time that somebody asks for one.
///
/// Drawing errors takes longer than all else that is done with a state, and every arm asks for the same ones.
#[derive(Debug, Default)]
pub(super) struct Perceived {
    /// The newest first.
    looks: VecDeque<Look>,
    /// Room to use again.
    spare: Mutex<Vec<Seen>>,
}

#[derive(Debug, Default)]
struct Look {
    step: Step,
    /// By place.
    by: Vec<OnceLock<Seen>>,
}

/// What one observer saw at a look.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The observer's number: others may have its place later.
    pub(super) observer: u32,
    /// Places of objects, and their states, one by one.
    pub(super) objects: Vec<Slot>,
    pub(super) states: Vec<ObjectState>,
}

impl Seen {
    /// Nothing.
    const NONE: &Self = &Self {
        observer: 0,
        objects: Vec::new(),
        states: Vec::new(),
    };

    /// The state of the object with this place and number.
    pub(super) fn of(&self, object: Slot, number: u32) -> Option<&ObjectState> {
        let at = self.objects.iter().position(|&seen| seen == object)?;
        let state = &self.states[at];
        (state.id.0 == u64::from(number)).then_some(state)
    }
}

impl Perceived {
    /// Begins the look of a step, with so many places; what is known of that step is forgotten.
    pub(super) fn begin(&mut self, step: Step, size: usize) {
        let mut look = match self.looks.front() {
            Some(newest) if newest.step == step => self.looks.pop_front(),
            _ if self.looks.len() >= LOOKS => self.looks.pop_back(),
            _ => None,
        }
        .unwrap_or_default();
        look.step = step;
        let spare = self.spare.get_mut();
        let spare = spare.unwrap_or_else(PoisonError::into_inner);
        spare.extend(look.by.iter_mut().filter_map(OnceLock::take));
        look.by.resize_with(size, OnceLock::new);
        self.looks.push_front(look);
    }

    /// What `observer` saw at the newest look, put in place of what else is there by `see` unless it is known; nothing of a place that
    /// is not there.
    pub(super) fn newest_of(&self, observer: Slot, see: impl FnOnce(&mut Seen)) -> &Seen {
        let look = self.looks.front();
        let seen = look.and_then(|look| look.by.get(observer.index()));
        seen.map_or(Seen::NONE, |seen| {
            seen.get_or_init(|| {
                let mut room = self.spare().pop().unwrap_or_default();
                see(&mut room);
                room
            })
        })
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the observer with this place and number saw at the look of a step, as far as that is known.
    pub(super) fn known(&self, observer: Slot, number: u32, step: Step) -> Option<&Seen> {
        let look = self.looks.iter().find(|look| look.step == step)?;
        let seen = look.by.get(observer.index())?.get()?;
        (seen.observer == number).then_some(seen)
    }
}

#[cfg(test)]
mod tests {
    use covey_protocol::messages::Confidence;
    use covey_protocol::{Instant, ObjectId, Position, Velocity};

    use super::*;

    #[test]
    fn states_are_found_once_and_kept_for_some_looks() {
        let state = |x: f64| ObjectState {
            id: ObjectId(7),
            position: Position::new(x, 0.0),
            velocity: Velocity::new(0.0, 0.0),
            size: Default::default(),
            sensed_at: Instant::ZERO,
            confidence: Confidence::FULL,
        };
        let see = |x: f64| {
            move |seen: &mut Seen| {
                *seen = Seen {
                    observer: 5,
                    objects: vec![Slot(3)],
                    states: vec![state(x)],
                };
            }
        };
        let mut perceived = Perceived::default();
        assert!(perceived.newest_of(Slot(0), see(1.0)).states.is_empty());
        perceived.begin(Step(2), 2);
        assert!(perceived.known(Slot(1), 5, Step(2)).is_none());
        for x in [1.0, 2.0] {
            assert_eq!(perceived.newest_of(Slot(1), see(x)).states, [state(1.0)]);
        }
        assert!(perceived.newest_of(Slot(2), see(1.0)).states.is_empty());
        // Once more the same step, as it is after somebody left.
        perceived.begin(Step(2), 2);
        assert_eq!(perceived.newest_of(Slot(1), see(2.0)).states, [state(2.0)]);
        perceived.begin(Step(4), 2);
        assert_eq!(perceived.newest_of(Slot(1), see(3.0)).states, [state(3.0)]);
        let x = |perceived: &Perceived, observer, number, object, step| {
            let seen = perceived.known(Slot(1), observer, Step(step))?;
            Some(seen.of(Slot(object), number)?.position.x)
        };
        assert_eq!(x(&perceived, 5, 7, 3, 2), Some(2.0));
        assert_eq!(x(&perceived, 5, 7, 3, 4), Some(3.0));
        assert_eq!(x(&perceived, 5, 7, 3, 3), None, "no look");
        assert_eq!(x(&perceived, 6, 7, 3, 2), None, "another observer");
        assert_eq!(x(&perceived, 5, 8, 3, 2), None, "another object");
        assert_eq!(x(&perceived, 5, 7, 2, 2), None, "not seen");
        for step in 0..LOOKS as u32 {
            assert!(perceived.known(Slot(1), 5, Step(4)).is_some());
            perceived.begin(Step(6 + 2 * step), 2);
        }
        assert!(perceived.known(Slot(1), 5, Step(4)).is_none());
    }
}
