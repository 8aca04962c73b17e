//! Cells of a grid around a place.

use crate::geometry::Point;
use crate::grid::GridFrame;

/// Calls `visit` with each cell of `grid` whose centre lies within `range` of `from`, in scan order, and with the way
/// from there to the centre in the map's axes.
pub(super) fn cells_in_range(
    grid: &GridFrame,
    from: Point,
    range: f64,
    mut visit: impl FnMut((i32, i32), Point),
) {
    let size = grid.cell_size();
    let at = grid.to_grid(from);
    let limit = range * range;
    let bound = |x: f64| (x / size - 0.5).clamp(-2e9, 2e9);
    let (south, north) = (bound(at.y - range), bound(at.y + range));
    let rows = north - south;
    if rows.is_nan() || rows > 1e6 {
        return;
    }
    for iy in south.floor() as i32..=north.ceil() as i32 {
        let y = (f64::from(iy) + 0.5) * size - at.y;
        let chord = (limit - y * y).sqrt();
        if chord.is_nan() {
            continue;
        }
        let (west, east) = (bound(at.x - chord), bound(at.x + chord));
        for ix in west.floor() as i32..=east.ceil() as i32 {
            let x = (f64::from(ix) + 0.5) * size - at.x;
            if x * x + y * y <= limit {
                visit((ix, iy), grid.turn_to_map(Point::new(x, y)));
            }
        }
    }
}

/// As [`cells_in_range`], for cells of a list.
pub(super) fn cells_of_list_in_range(
    grid: &GridFrame,
    from: Point,
    range: f64,
    list: &[(i32, i32)],
    mut visit: impl FnMut((i32, i32), Point),
) {
    let size = grid.cell_size();
    let at = grid.to_grid(from);
    let limit = range * range;
    for &(ix, iy) in list {
        let x = (f64::from(ix) + 0.5) * size - at.x;
        let y = (f64::from(iy) + 0.5) * size - at.y;
        if x * x + y * y <= limit {
            visit((ix, iy), grid.turn_to_map(Point::new(x, y)));
        }
    }
}

/// The corners of a cell, seen from its centre, in the map's axes.
pub(super) fn cell_corners(grid: &GridFrame) -> [Point; 4] {
    let half = grid.cell_size() * 0.5;
    [(half, half), (half, -half), (-half, -half), (-half, half)]
        .map(|(x, y)| grid.turn_to_map(Point::new(x, y)))
}
