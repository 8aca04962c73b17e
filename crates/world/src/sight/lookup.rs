//! A sorted list of grid cells that answers "what lies near this point" with few contiguous runs.
//!
//! Cells that hold nothing cost nothing, wherever the items lie; queries look at each occupied row once.

use crate::geometry::Point;
use std::ops::Range;

/// A cell as a number that sorts by row, then column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellKey(u64);

impl CellKey {
    pub(crate) fn new(ix: i32, iy: i32) -> Self {
        let flip = |i: i32| u64::from((i as u32) ^ 0x8000_0000);
        Self((flip(iy) << 32) | flip(ix))
    }

    /// Column and row.
    pub(crate) fn cell(self) -> (i32, i32) {
        ((self.0 as u32 ^ 0x8000_0000) as i32, self.row())
    }

    fn row(self) -> i32 {
        ((self.0 >> 32) as u32 ^ 0x8000_0000) as i32
    }
}

/// The grid column or row of a coordinate. Far outside, coordinates share the outermost cells.
#[inline]
pub(crate) fn cell(x: f64, size: f64) -> i32 {
    // As `floor` would have it, without a call where the processor has no such instruction.
    let share = x / size;
    let towards_zero = share as i32;
    if share < f64::from(towards_zero) {
        towards_zero.saturating_sub(1)
    } else {
        towards_zero
    }
}

/// A square of cells around a point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub west: i32,
    pub east: i32,
    pub south: i32,
    pub north: i32,
}

impl Window {
    pub(crate) fn around(p: Point, range: f64, size: f64) -> Self {
        Self {
            west: cell(p.x - range, size),
            east: cell(p.x + range, size),
            south: cell(p.y - range, size),
            north: cell(p.y + range, size),
        }
    }

    /// Calls `visit` with each run of positions in the ascending `keys` that lies in the window, in order.
    #[inline]
    pub(crate) fn runs(&self, keys: &[CellKey], mut visit: impl FnMut(Range<usize>)) {
        let mut row = self.south;
        let mut from = 0;
        loop {
            let first = CellKey::new(self.west, row);
            from += keys[from..].partition_point(|&k| k < first);
            if from == keys.len() {
                return;
            }
            let found = keys[from].row();
            if found > row {
                // Rows without anything are skipped at once.
                row = found;
                if row > self.north {
                    return;
                }
                continue;
            }
            let last = CellKey::new(self.east, row);
            let mut end = from;
            while end < keys.len() && keys[end] <= last {
                end += 1;
            }
            if end > from {
                visit(from..end);
            }
            from = end;
            if row >= self.north {
                return;
            }
            row += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_rounded_down() {
        for x in [
            0.0,
            -0.0,
            31.9,
            32.0,
            -1e-300,
            -32.0,
            -32.1,
            1e9,
            -1e9,
            6.9e10,
            -6.9e10,
            1e300,
            -1e300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ] {
            assert_eq!(cell(x, 32.0), (x / 32.0_f64).floor() as i32, "{x}");
        }
        assert_eq!(cell(f64::from(i32::MIN) - 0.5, 1.0), i32::MIN);
    }

    #[test]
    fn runs_cover_the_window_and_nothing_else() {
        let mut keys: Vec<CellKey> = (-7..9)
            .flat_map(|iy| (-9..5).map(move |ix| (ix, iy)))
            .filter(|(ix, iy)| (ix * 7 + iy * 3) % 4 != 0 && *iy != 2)
            .map(|(ix, iy)| CellKey::new(ix, iy))
            .collect();
        keys.push(CellKey::new(i32::MAX, i32::MAX));
        keys.sort();
        for (p, range) in [
            (Point::new(0.0, 0.0), 25.0),
            (Point::new(-80.0, 75.0), 30.0),
            (Point::new(1e300, 0.0), 30.0),
            (Point::new(0.0, 0.0), 1e300),
            (Point::new(0.0, 0.0), f64::NAN),
        ] {
            let window = Window::around(p, range, 10.0);
            let mut found = Vec::new();
            window.runs(&keys, |run| found.extend(run));
            let all: Vec<usize> = (0..keys.len())
                .filter(|&i| {
                    let (ix, iy) = keys[i].cell();
                    (window.west..=window.east).contains(&ix)
                        && (window.south..=window.north).contains(&iy)
                })
                .collect();
            assert_eq!(found, all);
        }
    }
}
