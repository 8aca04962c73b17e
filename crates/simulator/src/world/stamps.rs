//! When something was known: step numbers in 16 bits, and those of pairs.

use covey_protocol::Instant;
use covey_traffic::STEP_US;

use crate::ids::{Slot, Step};

/// Steps are kept in 16 bits; the run moves its origin before they run out. Zero stands for never.
pub(crate) type Stamp = u16;

/// Stamps by object and by who knows of it, of those pairs alone that have one.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairStamps {
    /// By who knows: objects and stamps, by ascending object.
    rows: Vec<Vec<(Slot, Stamp)>>,
    /// By object: what is older was of another that had the place.
    since: Vec<Stamp>,
    /// Room to use again.
    spare: Vec<(Slot, Stamp)>,
    sorted: Vec<Slot>,
}

impl PairStamps {
    /// For how many places there is room.
    pub(crate) fn size(&self) -> usize {
        self.rows.len()
    }

    /// Makes room for `size` places.
    pub(crate) fn grow(&mut self, size: usize) {
        if self.rows.len() < size {
            self.rows.resize_with(size, Vec::new);
            self.since.resize(size, 0);
        }
    }

    /// The stamp of an object and who knows of it; zero where there is none.
    #[inline]
    pub(crate) fn at(&self, object: Slot, by: Slot) -> Stamp {
        let row = &self.rows[by.index()];
        match row.binary_search_by_key(&object, |&(object, _)| object) {
            Ok(at) if row[at].1 >= self.since[object.index()] => row[at].1,
            _ => 0,
        }
    }

    /// Sets the stamp of an object and who knows of it.
    pub(crate) fn set(&mut self, object: Slot, by: Slot, stamp: Stamp) {
        let row = &mut self.rows[by.index()];
        match row.binary_search_by_key(&object, |&(object, _)| object) {
            Ok(at) => row[at].1 = stamp,
            Err(at) => row.insert(at, (object, stamp)),
        }
    }

    /// Sets the stamp of all of `objects`, and forgets what is older than `oldest` of whoever knows of them.
    pub(crate) fn set_all(&mut self, objects: &[Slot], by: Slot, stamp: Stamp, oldest: Stamp) {
        let mut objects = objects;
        if !objects.is_sorted() {
            self.sorted.clear();
            self.sorted.extend_from_slice(objects);
            self.sorted.sort_unstable();
            objects = &self.sorted;
        }
        let row = &mut self.rows[by.index()];
        self.spare.clear();
        let mut new = objects.iter().copied().peekable();
        for &(object, before) in row.iter() {
            while let Some(next) = new.next_if(|&next| next < object) {
                self.spare.push((next, stamp));
            }
            if new.next_if_eq(&object).is_some() {
                self.spare.push((object, stamp));
            } else if before >= oldest {
                self.spare.push((object, before));
            }
        }
        self.spare.extend(new.map(|object| (object, stamp)));
        row.clone_from(&self.spare);
    }

    /// Forgets a place, as object and as who knows: whoever comes there from `now` on is another.
    pub(crate) fn clear(&mut self, slot: Slot, now: Stamp) {
        if let Some(row) = self.rows.get_mut(slot.index()) {
            row.clear();
            self.since[slot.index()] = now;
        }
    }

    /// Moves all stamps; those that become zero are forgotten.
    pub(crate) fn each(&mut self, f: impl Fn(&mut Stamp)) {
        for row in &mut self.rows {
            row.retain_mut(|(_, stamp)| {
                f(stamp);
                *stamp > 0
            });
        }
        self.since.iter_mut().for_each(f);
    }
}

/// After this many steps stamps are counted from a new origin.
const REBASE_AT: u32 = 60_000;
const REBASE_BY: u16 = if cfg!(test) { 100 } else { 30_000 };

/// The present, and what stamps stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    /// The present step.
    pub(crate) step: Step,
    /// The step that stamp 1 stands for.
    origin: Step,
    /// Steps after which the origin moves.
    rebase_at: u32,
}

impl Default for Time {
    fn default() -> Self {
        Self {
            step: Step(0),
            origin: Step(0),
            rebase_at: REBASE_AT,
        }
    }
}

impl Time {
    /// Goes on to a step. Gives whether stamps have a new origin: all must then be moved by [`rebase`].
    pub(crate) fn go_to(&mut self, step: Step) -> bool {
        self.step = step;
        let rebased = step.since(self.origin) >= self.rebase_at;
        if rebased {
            self.origin = self.origin.after(u32::from(REBASE_BY));
        }
        rebased
    }

    /// The time of a step.
    pub(crate) fn instant(step: Step) -> Instant {
        Instant::from_micros(i64::from(step.0) * STEP_US)
    }

    /// The stamp of a step.
    pub(crate) fn stamp(&self, step: Step) -> Stamp {
        (step.0 + 1).saturating_sub(self.origin.0) as Stamp
    }

    /// The step of a stamp that is not zero.
    pub(crate) fn step_of(&self, stamp: Stamp) -> Step {
        Step(u32::from(stamp) + self.origin.0 - 1)
    }

    /// Moves the origin after fewer steps than it would be.
    #[cfg(test)]
    pub(crate) fn rebase_after(&mut self, steps: u32) {
        self.rebase_at = steps;
    }
}

/// Moves a stamp to the new origin; what is older than that is forgotten.
pub(crate) fn rebase(stamp: &mut Stamp) {
    *stamp = stamp.saturating_sub(REBASE_BY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_their_newest_stamp_until_a_place_is_left() {
        let mut stamps = PairStamps::default();
        stamps.grow(2);
        stamps.set(Slot(1), Slot(0), 7);
        stamps.grow(5);
        let at = |stamps: &PairStamps, object, by| stamps.at(Slot(object), Slot(by));
        stamps.set_all(&[Slot(4), Slot(3)], Slot(0), 9, 7);
        stamps.set(Slot(2), Slot(1), 8);
        let all = |stamps: &PairStamps| {
            [(1, 0), (3, 0), (4, 0), (2, 1), (0, 1)].map(|(a, b)| at(stamps, a, b))
        };
        assert_eq!(all(&stamps), [7, 9, 9, 8, 0]);
        // What is too old goes with the next look, and what is seen again is new.
        stamps.set_all(&[Slot(2), Slot(3)], Slot(0), 11, 8);
        assert_eq!(all(&stamps), [0, 11, 9, 8, 0]);
        assert_eq!(at(&stamps, 2, 0), 11);
        // A new vehicle at the place of another.
        stamps.clear(Slot(3), 12);
        assert_eq!(all(&stamps), [0, 0, 9, 8, 0]);
        stamps.set_all(&[Slot(3)], Slot(0), 12, 0);
        assert_eq!(all(&stamps), [0, 12, 9, 8, 0]);
        stamps.clear(Slot(0), 12);
        assert_eq!(all(&stamps), [0, 0, 0, 8, 0]);
        stamps.set(Slot(3), Slot(1), 13);
        stamps.each(|stamp| *stamp = stamp.saturating_sub(12));
        assert_eq!([at(&stamps, 2, 1), at(&stamps, 3, 1)], [0, 1]);
    }
}
