//! What stood in the way the last time, to be looked at first this time.
//!
//! Traffic moves little from one instant to the next, so what hid a target usually still does, and one exact test
//! then answers for all. A hint is only ever a guess: it is tested like everything else, so it never changes an answer, even
//! if numbers of vehicles, or the map, have come to mean something else since.

/// Something that can stand in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hint(u32);

impl Hint {
    /// Nothing is known.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Set for walls.
    const WALL: u32 = 1 << 31;

    /// The vehicle of this index in the frame.
    pub(crate) fn vehicle(index: u32) -> Self {
        if index & Self::WALL == 0 {
            Self(index)
        } else {
            Self::NONE
        }
    }

    /// The wall of this number; none if the number is no wall's.
    pub(crate) fn wall(number: u32) -> Self {
        Self(number | Self::WALL)
    }

    /// The vehicle's index in its frame.
    pub(crate) fn as_vehicle(self) -> Option<u32> {
        (self.0 & Self::WALL == 0).then_some(self.0)
    }

    pub(crate) fn as_wall(self) -> Option<u32> {
        (self.0 & Self::WALL != 0 && self != Self::NONE).then_some(self.0 & !Self::WALL)
    }
}

/// The hints of all observers about vehicles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    /// By observer: targets and hints.
    rows: Vec<Vec<(u32, Hint)>>,
    /// By target: the visit that brought the hint, and the hint.
    by_target: Vec<(u32, Hint)>,
    visit: u32,
    observer: usize,
}

impl Hints {
    /// Goes on to an observer among `vehicles`. What it does not note now is forgotten.
    pub(crate) fn visit(&mut self, observer: u32, vehicles: usize) {
        if self.visit == u32::MAX {
            self.by_target.fill((0, Hint::NONE));
            self.visit = 0;
        }
        self.visit += 1;
        self.by_target
            .resize(self.by_target.len().max(vehicles), (0, Hint::NONE));
        self.observer = observer as usize;
        if self.rows.len() <= self.observer {
            self.rows
                .resize_with(vehicles.max(self.observer + 1), Vec::new);
        }
        for (target, hint) in self.rows[self.observer].drain(..) {
            self.by_target[target as usize] = (self.visit, hint);
        }
    }

    /// What stood between the observer and a target.
    #[inline]
    pub(crate) fn of(&self, target: u32) -> Hint {
        match self.by_target.get(target as usize) {
            Some(&(visit, hint)) if visit == self.visit => hint,
            _ => Hint::NONE,
        }
    }

    /// Notes what stands between the observer and a target, which is one of its vehicles.
    #[inline]
    pub(crate) fn note(&mut self, target: u32, hint: Hint) {
        if hint != Hint::NONE {
            self.rows[self.observer].push((target, hint));
        }
    }
}

/// A cell, column and row.
type Cell = (i32, i32);

/// The hints of all observers about cells of a grid, in scan order.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellHints {
    rows: Vec<Vec<(Cell, Hint)>>,
    last: Vec<(Cell, Hint)>,
    next: usize,
    observer: usize,
}

impl CellHints {
    /// Goes on to an observer. What it does not note now is forgotten.
    pub(crate) fn visit(&mut self, observer: u32) {
        self.observer = observer as usize;
        if self.rows.len() <= self.observer {
            self.rows.resize_with(self.observer + 1, Vec::new);
        }
        self.last.clear();
        std::mem::swap(&mut self.last, &mut self.rows[self.observer]);
        self.next = 0;
    }

    /// What stood before a cell; to be asked in scan order.
    #[inline]
    pub(crate) fn of(&mut self, (x, y): Cell) -> Hint {
        while let Some(&((column, row), hint)) = self.last.get(self.next) {
            if (row, column) > (y, x) {
                break;
            }
            self.next += 1;
            if (row, column) == (y, x) {
                return hint;
            }
        }
        Hint::NONE
    }

    /// Notes what stands before a cell.
    #[inline]
    pub(crate) fn note(&mut self, cell: Cell, hint: Hint) {
        if hint != Hint::NONE {
            self.rows[self.observer].push((cell, hint));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_kept_by_observer_and_target_until_the_next_visit() {
        let mut hints = Hints::default();
        hints.visit(3, 10);
        assert_eq!(hints.of(7), Hint::NONE);
        hints.note(7, Hint::vehicle(1));
        hints.note(2, Hint::wall(5));
        hints.note(4, Hint::NONE);
        hints.visit(0, 10);
        assert_eq!(hints.of(7), Hint::NONE);
        hints.note(7, Hint::vehicle(9));
        // Fewer vehicles than before.
        hints.visit(3, 4);
        assert_eq!(hints.of(7).as_vehicle(), Some(1));
        assert_eq!(
            (hints.of(7).as_wall(), hints.of(2).as_wall()),
            (None, Some(5))
        );
        assert_eq!((hints.of(4), hints.of(99)), (Hint::NONE, Hint::NONE));
        hints.visit(3, 4);
        assert_eq!(hints.of(7), Hint::NONE);
    }

    #[test]
    fn hints_about_cells_are_found_in_scan_order() {
        let mut hints = CellHints::default();
        hints.visit(1);
        for cell in [(-3, -1), (5, -1), (-7, 2)] {
            assert_eq!(hints.of(cell), Hint::NONE);
            hints.note(cell, Hint::vehicle(cell.0.unsigned_abs()));
        }
        hints.visit(1);
        let found = [(-4, -1), (-3, -1), (0, 0), (-7, 2), (-6, 2)].map(|cell| hints.of(cell));
        let (a, b) = (Hint::vehicle(3), Hint::vehicle(7));
        assert_eq!(found, [Hint::NONE, a, Hint::NONE, b, Hint::NONE]);
    }

    #[test]
    fn a_number_that_is_no_walls_is_no_hint() {
        assert_eq!(Hint::wall(u32::MAX), Hint::NONE);
        assert_eq!(Hint::NONE.as_wall(), None);
        assert_eq!(Hint::NONE.as_vehicle(), None);
        assert_eq!(Hint::vehicle(u32::MAX - 1), Hint::NONE);
    }
}
