//! The scenario's square grid over the map plane.
//!
//! The grid that observations are reported in need not lie along the map's axes: its origin and azimuth are scenario
//! parameters. A cell `(ix, iy)` covers `[ix, ix + 1) x [iy, iy + 1)` cell sizes in the grid's own axes.

use crate::geometry::Point;

/// A square grid laid over the map plane by a rigid motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridFrame {
    origin: Point,
    /// The grid's x axis in the map plane, a unit vector.
    axis: Point,
    cell_size: f64,
}

impl GridFrame {
    /// The smallest cell size that is accepted, in metres.
    pub const MIN_CELL_SIZE: f64 = 0.01;

    /// A grid whose origin lies at `origin` of the map plane and whose x axis points to `azimuth` (radians,
    /// counter-clockwise from the map's +x), with square cells of `cell_size` metres.
    ///
    /// `None` if a value is not finite or the cells are smaller than [`Self::MIN_CELL_SIZE`].
    #[must_use]
    pub fn new(origin: Point, azimuth: f64, cell_size: f64) -> Option<Self> {
        let fine = origin.is_finite() && azimuth.is_finite() && cell_size.is_finite();
        (fine && cell_size >= Self::MIN_CELL_SIZE).then(|| Self {
            origin,
            axis: Point::from_heading(azimuth),
            cell_size,
        })
    }

    /// The side of a cell, in metres.
    #[must_use]
    pub fn cell_size(&self) -> f64 {
        self.cell_size
    }

    /// The same grid with cells of another size, or `None` if that is below [`Self::MIN_CELL_SIZE`] or not finite.
    #[must_use]
    pub fn with_cell_size(&self, cell_size: f64) -> Option<Self> {
        (cell_size.is_finite() && cell_size >= Self::MIN_CELL_SIZE)
            .then_some(Self { cell_size, ..*self })
    }

    /// A map point in the grid's axes, in metres.
    #[must_use]
    pub fn to_grid(&self, p: Point) -> Point {
        let r = p - self.origin;
        Point::new(self.axis.dot(r), self.axis.cross(r))
    }

    /// A point given in the grid's axes, in the map plane.
    #[must_use]
    pub fn to_map(&self, g: Point) -> Point {
        self.origin + self.turn_to_map(g)
    }

    /// A vector given in the grid's axes, in the map's axes.
    #[must_use]
    pub fn turn_to_map(&self, g: Point) -> Point {
        Point::new(
            g.x * self.axis.x - g.y * self.axis.y,
            g.x * self.axis.y + g.y * self.axis.x,
        )
    }

    /// A map point in the grid's axes, in cells from the origin.
    fn in_cells(&self, p: Point) -> Point {
        self.to_grid(p) * (1.0 / self.cell_size)
    }

    /// The cell that holds a map point; none where that is not a number in the range of i32.
    #[must_use]
    pub fn cell_of(&self, p: Point) -> Option<(i32, i32)> {
        let fit = |v: f64| {
            let v = v.floor();
            (v >= f64::from(i32::MIN) && v <= f64::from(i32::MAX)).then_some(v as i32)
        };
        let p = self.in_cells(p);
        Some((fit(p.x)?, fit(p.y)?))
    }

    /// Calls `visit` for the cells on the straight line from `a` to `b` in order, with the share of the line before the cell
    /// is entered. A line exactly through a corner visits one of the two side cells as well.
    pub(crate) fn trace(&self, a: Point, b: Point, mut visit: impl FnMut((i32, i32), f64)) {
        let (Some(mut at), Some(end)) = (self.cell_of(a), self.cell_of(b)) else {
            return;
        };
        let (p, q) = (self.in_cells(a), self.in_cells(b));
        let d = q - p;
        visit(at, 0.0);
        let steps = at.0.abs_diff(end.0) as u64 + u64::from(at.1.abs_diff(end.1));
        for _ in 0..steps {
            // The share of the line at which the next border is met, in each direction.
            let border = |at: i32, end: i32, from: f64, length: f64| {
                if at == end {
                    f64::INFINITY
                } else {
                    let border = f64::from(at) + if end > at { 1.0 } else { 0.0 };
                    ((border - from) / length).clamp(0.0, 1.0)
                }
            };
            let (x, y) = (border(at.0, end.0, p.x, d.x), border(at.1, end.1, p.y, d.y));
            if x <= y {
                at.0 += (end.0 - at.0).signum();
                visit(at, x);
            } else {
                at.1 += (end.1 - at.1).signum();
                visit(at, y);
            }
        }
    }

    /// The centre of a cell in the map plane.
    #[must_use]
    pub fn centre_of(&self, cell: (i32, i32)) -> Point {
        self.to_map(Point::new(
            (f64::from(cell.0) + 0.5) * self.cell_size,
            (f64::from(cell.1) + 0.5) * self.cell_size,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_grid_maps_there_and_back() {
        let grid = GridFrame::new(Point::new(100.0, -50.0), 0.7, 20.0).unwrap();
        let p = Point::new(12.0, 345.0);
        assert!(grid.to_map(grid.to_grid(p)).distance(p) < 1e-9);
        let cell = grid.cell_of(p).unwrap();
        let off = grid.to_grid(p) - grid.to_grid(grid.centre_of(cell));
        assert!(off.x.abs() <= 10.0 && off.y.abs() <= 10.0);
        assert_eq!(grid.cell_of(grid.centre_of((-3, 7))), Some((-3, 7)));
    }

    #[test]
    fn the_x_axis_points_to_the_azimuth() {
        let quarter = std::f64::consts::FRAC_PI_2;
        let grid = GridFrame::new(Point::new(5.0, 5.0), quarter, 1.0).unwrap();
        assert_eq!(grid.cell_of(Point::new(4.5, 7.5)), Some((2, 0)));
    }

    #[test]
    fn senseless_grids_are_refused() {
        assert!(GridFrame::new(Point::new(f64::NAN, 0.0), 0.0, 20.0).is_none());
        assert!(GridFrame::new(Point::default(), f64::INFINITY, 20.0).is_none());
        assert!(GridFrame::new(Point::default(), 0.0, 0.0).is_none());
        let grid = GridFrame::new(Point::default(), 0.0, 20.0).unwrap();
        assert!(grid.with_cell_size(f64::NAN).is_none());
        assert_eq!(grid.cell_of(Point::new(1e300, -1e300)), None);
    }
}
