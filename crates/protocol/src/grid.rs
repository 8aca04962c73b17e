//! The coverage grid and the tiles: squares of the map plane that everyone indexes alike.
//!
//! Both are aligned to one global origin, the origin of the scenario's grid frame. A [`Cell`] (20 m) is what digests and
//! coverage maps speak of; a [`Tile`] (500 m) is the resource region that has one host.

use core::fmt;

/// A position in the grid frame, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Position {
    /// Along the frame's first axis.
    pub x: f64,
    /// Along the frame's second axis.
    pub y: f64,
}

impl Position {
    /// A position from its coordinates in metres.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Distance to `other`, in metres.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        libm::sqrt(dx * dx + dy * dy)
    }

    /// Both coordinates are finite numbers.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

/// A velocity in the grid frame, in metres per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Velocity {
    /// Along the frame's first axis.
    pub x: f64,
    /// Along the frame's second axis.
    pub y: f64,
}

impl Velocity {
    /// A velocity from its components in m/s.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The speed in m/s.
    #[must_use]
    pub fn speed(self) -> f64 {
        libm::sqrt(self.x * self.x + self.y * self.y)
    }
}

/// A cell of the coverage grid. Ordered as digests scan: by row (`iy`), then by column (`ix`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Column: floor(x / cell side).
    pub ix: i32,
    /// Row: floor(y / cell side).
    pub iy: i32,
}

impl Cell {
    /// A cell from its column and row.
    #[must_use]
    pub const fn new(ix: i32, iy: i32) -> Self {
        Self { ix, iy }
    }

    /// The cell of side `side_m` that holds `position`; none if the index does not fit or something is not finite.
    #[must_use]
    pub fn containing(position: Position, side_m: f64) -> Option<Self> {
        Some(Self {
            ix: floor_index(position.x, side_m)?,
            iy: floor_index(position.y, side_m)?,
        })
    }

    /// The cell's centre, for a side of `side_m`.
    #[must_use]
    pub fn centre(self, side_m: f64) -> Position {
        Position::new(
            (f64::from(self.ix) + 0.5) * side_m,
            (f64::from(self.iy) + 0.5) * side_m,
        )
    }
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.iy, self.ix).cmp(&(other.iy, other.ix))
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.ix, self.iy)
    }
}

/// A tile: the resource region of one regional twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tile {
    /// Column: floor(x / tile side).
    pub tx: i32,
    /// Row: floor(y / tile side).
    pub ty: i32,
}

impl Tile {
    /// A tile from its column and row.
    #[must_use]
    pub const fn new(tx: i32, ty: i32) -> Self {
        Self { tx, ty }
    }

    /// The tile of side `side_m` that holds `position`; none if the index does not fit or something is not finite.
    #[must_use]
    pub fn containing(position: Position, side_m: f64) -> Option<Self> {
        Some(Self {
            tx: floor_index(position.x, side_m)?,
            ty: floor_index(position.y, side_m)?,
        })
    }

    /// The tile's centre, for a side of `side_m`.
    #[must_use]
    pub fn centre(self, side_m: f64) -> Position {
        Position::new(
            (f64::from(self.tx) + 0.5) * side_m,
            (f64::from(self.ty) + 0.5) * side_m,
        )
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.tx, self.ty)
    }
}

fn floor_index(coordinate: f64, side_m: f64) -> Option<i32> {
    let index = libm::floor(coordinate / side_m);
    // Not-a-number fails both comparisons.
    if index >= f64::from(i32::MIN) && index <= f64::from(i32::MAX) {
        Some(index as i32)
    } else {
        None
    }
}

/// A rectangle of cells that a host numbers densely, so that its maps are flat arrays.
///
/// A host's window is its tile and the eight around it: its footprint (300 m) and a view of 150 m beyond it always fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    low: Cell,
    columns: u32,
    rows: u32,
}

impl Window {
    /// The window of `tile` and the eight tiles around it.
    #[must_use]
    pub fn around(tile: Tile, tile_side_m: f64, cell_side_m: f64) -> Self {
        let first = |t: i32| libm::floor((f64::from(t) - 1.0) * tile_side_m / cell_side_m);
        let count = libm::ceil(3.0 * tile_side_m / cell_side_m) + 1.0;
        // A tile at the very end of the index range has a window that is cut there, not wrapped.
        let low = Cell::new(first(tile.tx) as i32, first(tile.ty) as i32);
        let cap = |low: i32| {
            (count as u32)
                .min(i32::MAX.abs_diff(low).saturating_add(1))
                .min(4_096)
        };
        Self {
            low,
            columns: cap(low.ix),
            rows: cap(low.iy),
        }
    }

    /// How many cells it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// It has no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dense number of `cell`, if it lies inside.
    #[must_use]
    pub fn index(&self, cell: Cell) -> Option<u32> {
        // No window passes the end of the index range, so a difference that wraps is never below its size.
        let column = cell.ix.wrapping_sub(self.low.ix) as u32;
        let row = cell.iy.wrapping_sub(self.low.iy) as u32;
        (column < self.columns && row < self.rows).then(|| row * self.columns + column)
    }

    /// The cell with dense number `index`; the inverse of [`Window::index`].
    #[must_use]
    pub fn cell(&self, index: u32) -> Cell {
        let columns = self.columns.max(1);
        Cell::new(
            self.low.ix.saturating_add((index % columns) as i32),
            self.low.iy.saturating_add((index / columns) as i32),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_tiles_floor_towards_minus_infinity() {
        assert_eq!(
            Cell::containing(Position::new(-0.1, 39.9), 20.0),
            Some(Cell::new(-1, 1))
        );
        assert_eq!(
            Tile::containing(Position::new(500.0, -500.0), 500.0),
            Some(Tile::new(1, -1))
        );
        assert_eq!(Cell::containing(Position::new(f64::NAN, 0.0), 20.0), None);
        assert_eq!(Cell::containing(Position::new(1e300, 0.0), 20.0), None);
    }

    #[test]
    fn cells_are_ordered_as_digests_scan() {
        assert!(Cell::new(9, 0) < Cell::new(0, 1));
        assert!(Cell::new(0, 1) < Cell::new(1, 1));
    }

    #[test]
    fn a_window_numbers_its_cells_densely() {
        let window = Window::around(Tile::new(0, 0), 500.0, 20.0);
        assert!(!window.is_empty());
        assert_eq!(window.index(Cell::new(-25, -25)), Some(0));
        assert_eq!(window.index(Cell::new(-26, 0)), None);
        for index in 0..window.len() as u32 {
            assert_eq!(window.index(window.cell(index)), Some(index));
        }
        let last = window.len() as u32 - 1;
        assert_eq!(window.index(Cell::new(50, 50)), Some(last));
        assert_eq!(window.index(Cell::new(51, 0)), None);
        assert_eq!(window.index(Cell::new(0, 51)), None);
        let last = Window::around(Tile::new(i32::MAX, i32::MIN), 500.0, 20.0);
        assert_eq!(last.index(last.cell(0)), Some(0));
    }

    #[test]
    fn the_centre_of_a_cell_is_in_its_middle() {
        assert_eq!(Cell::new(0, 0).centre(20.0), Position::new(10.0, 10.0));
        assert_eq!(Cell::new(3, -2).centre(20.0), Position::new(70.0, -30.0));
        assert_eq!(Tile::new(1, -1).centre(500.0), Position::new(750.0, -250.0));
    }
}
