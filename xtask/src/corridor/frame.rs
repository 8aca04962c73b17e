//! The grid frame of the corridor: along the chord, the road in the middle of one row of tiles.

use super::facts::{MainRoad, carriageway_offset};
use super::roads::{MAIN_LANE_WIDTH, MAIN_LANES, STUB};
use super::shapes::Point;

/// Side of a tile, in metres.
const TILE: f64 = 500.0;

/// `grid.toml`: origin and azimuth of the grid's x axis.
pub(crate) fn text(road: &MainRoad) -> String {
    let count = road.junctions.len();
    let first = road.junctions[0].along - STUB;
    let last = road.junctions[count - 1].along + STUB;
    // From west to east, so that the grid's x grows to the right of a map as one is used to.
    let chord = road.centre.at(first) - road.centre.at(last);
    let azimuth = (chord.y.atan2(chord.x).to_degrees() * 100.0).round() / 100.0;
    let (sin, cos) = azimuth.to_radians().sin_cos();
    let axis = Point { x: cos, y: sin };
    let mut low = Point {
        x: f64::MAX,
        y: f64::MAX,
    };
    let mut high = low * -1.0;
    let mut along = first;
    while along <= last {
        let normal = road.centre.smooth_direction(along).left();
        let half = carriageway_offset(along) + MAIN_LANES as f64 * MAIN_LANE_WIDTH / 2.0;
        for side in [-half, half] {
            let p = road.centre.at(along) + normal * side;
            let (u, v) = (axis.dot(p), axis.cross(p));
            low = Point {
                x: low.x.min(u),
                y: low.y.min(v),
            };
            high = Point {
                x: high.x.max(u),
                y: high.y.max(v),
            };
        }
        along += 1.0;
    }
    let tiles = ((high.x - low.x) / TILE).ceil();
    // The road in the middle of its row, and the row's spare length shared by both ends.
    let u = (low.x + high.x - tiles * TILE) / 2.0;
    let v = (low.y + high.y - TILE) / 2.0;
    let origin = axis * u + axis.left() * v;
    format!(
        "# The grid of the corridor, made by `cargo xtask corridor`: fold these keys into the scenario.\n\
         # The x axis runs along the road's chord from west to east; azimuth_deg counts from map east, counter-clockwise.\n\
         # The whole main road lies in tile row 0, tiles 0 to {}: {:.0} m across a row of {TILE:.0} m.\n\
         [grid]\n\
         origin_x_m = {:.1}\n\
         origin_y_m = {:.1}\n\
         azimuth_deg = {azimuth:.2}\n",
        tiles - 1.0,
        high.y - low.y,
        origin.x,
        origin.y,
    )
}
