//! What everybody made of what it saw, drawn once for all arms.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ids::{Slot, Step};
use crate::sensing::{Moving, Way};

/// So many looks are kept: little that anybody asks for is older than a second.
const LOOKS: usize = 12;

/// States of the objects seen at the last looks, by observer, from the first time that somebody asks for one.
///
/// Drawing errors takes longer than all else that is done with a state, and every arm asks for the same ones.
#[derive(Debug, Default)]
pub(super) struct Perceived {
    /// The newest first.
    looks: VecDeque<Look>,
    /// By place: which way objects really go at the newest look.
    pub(super) ways: Vec<Way>,
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
    /// Places of objects, their numbers and states, one by one.
    pub(super) objects: Vec<Slot>,
    pub(super) numbers: Vec<u32>,
    pub(super) states: Vec<Moving>,
}

impl Seen {
    /// Nothing.
    pub(super) const NONE: &Self = &Self {
        observer: 0,
        objects: Vec::new(),
        numbers: Vec::new(),
        states: Vec::new(),
    };

    /// The state of the object with this place and number.
    pub(super) fn of(&self, object: Slot, number: u32) -> Option<Moving> {
        // They mostly ascend.
        let at = match self.objects.binary_search(&object) {
            Ok(at) => at,
            Err(_) if self.objects.is_sorted() => return None,
            Err(_) => self.objects.iter().position(|&seen| seen == object)?,
        };
        (self.numbers[at] == number).then(|| self.states[at])
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
    use covey_protocol::{Position, Velocity};

    use super::*;

    #[test]
    fn states_are_found_once_and_kept_for_some_looks() {
        let state = |x: f64| Moving {
            position: Position::new(x, 0.0),
            velocity: Velocity::new(0.0, 0.0),
        };
        let see = |x: f64| {
            move |seen: &mut Seen| {
                *seen = Seen {
                    observer: 5,
                    objects: vec![Slot(3)],
                    numbers: vec![7],
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

    #[test]
    fn objects_are_found_in_any_order() {
        let moving = |x: f64| Moving {
            position: Position::new(x, 0.0),
            ..Moving::default()
        };
        for order in [[1, 4, 6], [6, 1, 4], [4, 1, 6]] {
            let seen = Seen {
                observer: 5,
                objects: order.map(Slot).to_vec(),
                numbers: order.to_vec(),
                states: order.map(|n| moving(f64::from(n))).to_vec(),
            };
            for n in 0..8 {
                let found = order.contains(&n).then(|| moving(f64::from(n)));
                assert_eq!(seen.of(Slot(n), n), found, "{n} of {order:?}");
                assert_eq!(seen.of(Slot(n), n + 1), None);
            }
        }
    }
}
