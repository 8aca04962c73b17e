//! When something was known: step numbers in 16 bits, and a matrix of them.

use covey_protocol::Instant;
use covey_traffic::STEP_US;

use crate::ids::{Slot, Step};

/// Steps are kept in 16 bits; the run moves its origin before they run out. Zero stands for never.
pub(crate) type Stamp = u16;

/// Square matrix by object and receiver, growing with the places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matrix<T> {
    size: usize,
    cells: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    /// Makes room for `size` places.
    pub(crate) fn grow(&mut self, size: usize) {
        if size <= self.size {
            return;
        }
        // Some to spare, so that open traffic does not copy every few steps.
        let wide = if self.size == 0 {
            size
        } else {
            size + size / 4
        };
        let mut cells = vec![T::default(); wide * wide];
        for row in 0..self.size {
            cells[row * wide..][..self.size]
                .copy_from_slice(&self.cells[row * self.size..][..self.size]);
        }
        self.size = wide;
        self.cells = cells;
    }

    /// All receivers' entries of one object.
    pub(crate) fn row_mut(&mut self, object: Slot) -> &mut [T] {
        &mut self.cells[object.index() * self.size..][..self.size]
    }

    /// One entry.
    pub(crate) fn at(&self, object: Slot, receiver: Slot) -> T {
        self.cells[object.index() * self.size + receiver.index()]
    }

    /// Forgets a place, as object and as receiver.
    pub(crate) fn clear(&mut self, slot: Slot) {
        if slot.index() >= self.size {
            return;
        }
        self.row_mut(slot).fill(T::default());
        for row in 0..self.size {
            self.cells[row * self.size + slot.index()] = T::default();
        }
    }

    /// Changes every entry.
    pub(crate) fn each(&mut self, f: impl Fn(&mut T)) {
        self.cells.iter_mut().for_each(f);
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
    fn a_matrix_keeps_what_it_holds_when_it_grows() {
        let mut matrix = Matrix::<Stamp>::default();
        matrix.grow(2);
        matrix.row_mut(Slot(1))[0] = 7;
        matrix.grow(5);
        matrix.row_mut(Slot(1))[4] = 9;
        assert_eq!(
            (matrix.at(Slot(1), Slot(0)), matrix.at(Slot(1), Slot(4))),
            (7, 9)
        );
        matrix.clear(Slot(0));
        assert_eq!(
            (matrix.at(Slot(1), Slot(0)), matrix.at(Slot(1), Slot(4))),
            (0, 9)
        );
        matrix.clear(Slot(1));
        assert_eq!(matrix.at(Slot(1), Slot(4)), 0);
    }
}
