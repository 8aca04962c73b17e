//! Grid cells under a path.

use super::deadline::clean;
use super::graph::Shape;
use super::predict::{PathBuffer, PathStart, PathView, Predictor, straight_ahead};
use crate::geometry::Point;
use crate::grid::GridFrame;
use crate::scene::VehicleState;

/// Speeds above this, in m/s, are not believed: they would make paths and lists of cells without bound.
const TOP_SPEED: f64 = 100.0;

/// A cell and what it is to one vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskCell {
    /// Column.
    pub ix: i32,
    /// Row.
    pub iy: i32,
    /// When the vehicle arrives, in microseconds from now: at the cell, or for a cell of a conflicting approach at the
    /// conflict point. At its present speed, but not below [`PathReach::least_speed`].
    pub arrival_us: i64,
    /// 1 for a cell on the path, less for others.
    pub weight: f64,
}

/// How far a path looks ahead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathReach {
    /// Seconds of travel at the present speed. Default 5.
    pub seconds: f64,
    /// Metres on top of that. Default 10.
    pub extra: f64,
    /// Arrival times are computed with at least this speed, in m/s, so that a standing vehicle's are finite. Default 1.
    pub least_speed: f64,
}

impl Default for PathReach {
    fn default() -> Self {
        Self {
            seconds: 5.0,
            extra: 10.0,
            least_speed: 1.0,
        }
    }
}

impl PathReach {
    /// The length of the path at a speed, in metres. Speeds count up to 100 m/s.
    #[must_use]
    pub fn length(&self, speed: f64) -> f64 {
        clean(speed).min(TOP_SPEED) * clean(self.seconds) + clean(self.extra)
    }

    /// Microseconds to go a distance at a speed.
    pub(super) fn arrival_us(&self, distance: f64, speed: f64) -> i64 {
        let speed = clean(speed).clamp(
            clean(self.least_speed).max(1e-3),
            TOP_SPEED.max(self.least_speed),
        );
        (clean(distance) / speed * 1e6).floor() as i64
    }
}

/// The cells on a vehicle's own path, from its true lane and intention: ground truth, for evaluation only.
///
/// From the front bumper over [`PathReach::length`]; straight ahead from the body's centre where the vehicle is on no lane.
/// Replaces `out` by the cells in order of arrival, each once, with weight 1. `buffer` is scratch memory.
pub fn own_path_cells(
    predictor: &Predictor,
    vehicle: &VehicleState,
    reach: &PathReach,
    grid: &GridFrame,
    buffer: &mut PathBuffer,
    out: &mut Vec<RiskCell>,
) {
    out.clear();
    let length = reach.length(vehicle.speed);
    match PathStart::of(vehicle) {
        Some(start) => {
            buffer.clear();
            predictor.predict(start, length, buffer);
            lane_cells(predictor, buffer.path(0), reach, vehicle.speed, grid, out);
        }
        None => straight_cells(
            vehicle.position,
            vehicle.heading,
            length,
            reach,
            vehicle.speed,
            grid,
            out,
        ),
    }
    // Earliest first; a cell that the path comes back to counts at its first visit.
    out.sort_by_key(|c| (c.iy, c.ix, c.arrival_us));
    out.dedup_by_key(|c| (c.iy, c.ix));
    out.sort_by_key(|c| (c.arrival_us, c.iy, c.ix));
}

/// Adds the cells under a path over lanes, in order; a cell may come several times.
pub(super) fn lane_cells(
    predictor: &Predictor,
    path: PathView<'_>,
    reach: &PathReach,
    speed: f64,
    grid: &GridFrame,
    out: &mut Vec<RiskCell>,
) {
    let mut last: Option<Point> = None;
    for piece in path.pieces {
        let shape = predictor.graph.lane_shape(piece.lane.0);
        let mut from: Option<(Point, f64)> = None;
        sub_chain(shape, piece.start, piece.end, |point, at| {
            let distance = piece.distance + (at - piece.start);
            // Over a junction without internal lanes the path goes straight, and takes no distance.
            let (a, begin) = from
                .or(last.map(|p| (p, distance)))
                .unwrap_or((point, distance));
            grid.trace(a, point, |(ix, iy), share| {
                let arrival_us = reach.arrival_us(begin + (distance - begin) * share, speed);
                out.push(RiskCell {
                    ix,
                    iy,
                    arrival_us,
                    weight: 1.0,
                });
            });
            from = Some((point, distance));
        });
        last = from.map(|(point, _)| point).or(last);
    }
}

/// Adds the cells straight ahead.
pub(super) fn straight_cells(
    position: Point,
    heading: f64,
    length: f64,
    reach: &PathReach,
    speed: f64,
    grid: &GridFrame,
    out: &mut Vec<RiskCell>,
) {
    if let Some([a, b]) = straight_ahead(position, heading, length) {
        grid.trace(a, b, |(ix, iy), share| {
            let arrival_us = reach.arrival_us(length * share, speed);
            out.push(RiskCell {
                ix,
                iy,
                arrival_us,
                weight: 1.0,
            });
        });
    }
}

/// Calls `visit` with the points of the part of a chain between two coordinates, ends included, in order.
pub(super) fn sub_chain(shape: Shape<'_>, from: f64, to: f64, mut visit: impl FnMut(Point, f64)) {
    let (points, at) = (shape.points, shape.at);
    let point_at = |s: f64| {
        let k = at.partition_point(|&a| a < s).clamp(1, at.len().max(2) - 1);
        if k >= at.len() {
            return points[0];
        }
        let span = at[k] - at[k - 1];
        let share = if span > 0.0 {
            ((s - at[k - 1]) / span).clamp(0.0, 1.0)
        } else {
            0.0
        };
        points[k - 1] + (points[k] - points[k - 1]) * share
    };
    if points.is_empty() {
        return;
    }
    visit(point_at(from), from);
    let first = at.partition_point(|&a| a <= from);
    let last = at.partition_point(|&a| a < to);
    for k in first..last.max(first) {
        visit(points[k], at[k]);
    }
    visit(point_at(to), to);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(grid: &GridFrame, a: (f64, f64), b: (f64, f64)) -> Vec<((i32, i32), f64)> {
        let mut out = Vec::new();
        grid.trace(Point::new(a.0, a.1), Point::new(b.0, b.1), |cell, share| {
            out.push((cell, share));
        });
        out
    }

    fn grid() -> GridFrame {
        GridFrame::new(Point::new(0.0, 0.0), 0.0, 20.0).unwrap()
    }

    #[test]
    fn a_line_visits_its_cells_in_order() {
        assert_eq!(
            cells(&grid(), (10.0, 5.0), (50.0, 5.0)),
            vec![((0, 0), 0.0), ((1, 0), 0.25), ((2, 0), 0.75)]
        );
        assert_eq!(
            cells(&grid(), (-10.0, 30.0), (-10.0, -10.0)),
            vec![((-1, 1), 0.0), ((-1, 0), 0.25), ((-1, -1), 0.75)]
        );
        // Up and to the right: x border at 20 first, then y at 20.
        assert_eq!(
            cells(&grid(), (10.0, 5.0), (30.0, 25.0)),
            vec![((0, 0), 0.0), ((1, 0), 0.5), ((1, 1), 0.75)]
        );
        assert_eq!(cells(&grid(), (3.0, 3.0), (3.0, 3.0)), vec![((0, 0), 0.0)]);
    }

    #[test]
    fn a_turned_grid_turns_the_other_way() {
        let grid =
            GridFrame::new(Point::new(100.0, 0.0), std::f64::consts::FRAC_PI_2, 20.0).unwrap();
        // Its x axis is north, its y axis west.
        assert_eq!(grid.cell_of(Point::new(95.0, 30.0)), Some((1, 0)));
        assert_eq!(grid.cell_of(Point::new(105.0, 30.0)), Some((1, -1)));
    }

    #[test]
    fn odd_grids_and_points_have_no_cells() {
        assert_eq!(grid().cell_of(Point::new(f64::NAN, 0.0)), None);
        assert_eq!(grid().cell_of(Point::new(1e300, 0.0)), None);
        for side in [0.0, -1.0, f64::NAN] {
            assert_eq!(GridFrame::new(Point::new(0.0, 0.0), 0.0, side), None);
        }
        assert!(cells(&grid(), (0.0, 0.0), (f64::INFINITY, 0.0)).is_empty());
    }

    #[test]
    fn reach_and_arrival() {
        let reach = PathReach::default();
        assert_eq!(reach.length(10.0), 60.0);
        assert_eq!(reach.length(f64::NAN), 10.0);
        assert_eq!(reach.length(1e300), 510.0);
        assert_eq!(reach.arrival_us(20.0, 10.0), 2_000_000);
        assert_eq!(reach.arrival_us(10.0, 0.0), 10_000_000);
    }
}
