//! The map that a participant carries: lanes and buildings, as far as the caller has any.
//!
//! The protocol needs little of a map, and asks for it through [`RoadMap`]: whether a building stands between two points,
//! where a body on the road is going, and which cells lie on its path. Positions are those of the grid frame. Without a map,
//! bodies are taken to go straight on and no building to stand anywhere.

use alloc::vec::Vec;
use core::fmt;

use crate::grid::{Cell, Position};
use crate::messages::{AgentState, PathCell};
use crate::time::Duration;

/// Roads and buildings, as the caller knows them. Answers depend on the arguments alone.
pub trait RoadMap: fmt::Debug + Send + Sync {
    /// A building stands between `a` and `b`, for a line of sight near the ground.
    fn building_between(&self, a: Position, b: Position) -> bool;

    /// The way ahead of a body at `position`, in direction `heading` (radians, counter-clockwise from the first axis), over
    /// at least `length` metres where the road is that long: appends the points of the lane's centre line from abreast of
    /// the body on. Appends nothing where no lane matches.
    fn way_ahead(&self, position: Position, heading: f64, length: f64, way: &mut Vec<Position>);

    /// The cells of side `cell_m` on the predicted path of an agent in `state`, each once: appends them, and those of approaches
    /// that conflict with the path, at less weight. Straight on, unless the map knows better.
    fn path_ahead(&self, state: &AgentState, cell_m: f64, path: &mut Vec<PathCell>) {
        straight_ahead(state, cell_m, path);
    }

    /// The direction of the lane at `position`, for a body whose heading nobody told; none off the road, and where lanes of
    /// several directions meet.
    fn lane_heading(&self, position: Position) -> Option<f64>;

    /// The place on a lane's centre line abreast of a body whose position is not exact: the lane that fits best by distance
    /// and direction. None where no lane fits, or for a map that cannot tell; positions are then taken as they are.
    fn lane_point(&self, position: Position, heading: f64) -> Option<Position> {
        let _ = (position, heading);
        None
    }
}

/// How far ahead predicted paths run: so many seconds of travel, and so many metres more. Reading 8.
const HORIZON_S: f64 = 5.0;
const HORIZON_M: f64 = 10.0;
/// No path is longer, whatever speed somebody claims, in metres.
const LONGEST_M: f64 = 500.0;

/// The cells of side `cell_m` on the path of an agent in `state`: as the map has it, else straight on.
pub(crate) fn path_ahead(
    map: Option<&dyn RoadMap>,
    state: &AgentState,
    cell_m: f64,
    path: &mut Vec<PathCell>,
) {
    path.clear();
    match map {
        Some(map) => map.path_ahead(state, cell_m, path),
        None => straight_ahead(state, cell_m, path),
    }
}

/// The cells of side `cell_m` that lie straight ahead of an agent, each once.
pub fn straight_ahead(state: &AgentState, cell_m: f64, path: &mut Vec<PathCell>) {
    let begin = path.len();
    let speed = state.speed.abs();
    let length = (speed * HORIZON_S + HORIZON_M).min(LONGEST_M);
    let (along, across) = (libm::cos(state.heading), libm::sin(state.heading));
    let step = cell_m / 4.0;
    let steps = libm::ceil(length / step);
    // Not-a-number and senseless cells fail here.
    if !(0.0..=10_000.0).contains(&steps) {
        return;
    }
    for k in 0..=steps as u32 {
        let way = (f64::from(k) * step).min(length);
        let place = Position::new(
            state.position.x + way * along,
            state.position.y + way * across,
        );
        let Some(cell) = Cell::containing(place, cell_m) else {
            continue;
        };
        if path[begin..].last().is_none_or(|last| last.cell != cell) {
            path.push(PathCell {
                cell,
                after: Duration::from_seconds(way / speed.max(0.1)),
                weight: 1.0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_map_the_path_goes_straight_on() {
        let state = AgentState {
            position: Position::new(10.0, 10.0),
            heading: 0.0,
            speed: 10.0,
            ..AgentState::default()
        };
        let mut path = Vec::new();
        path_ahead(None, &state, 20.0, &mut path);
        let cells: Vec<i32> = path.iter().map(|p| p.cell.ix).collect();
        assert_eq!(cells, [0, 1, 2, 3]);
        assert!(path.iter().all(|p| p.cell.iy == 0 && p.weight == 1.0));
        assert!(path.windows(2).all(|p| p[0].after < p[1].after));
        for odd in [f64::NAN, f64::INFINITY] {
            let mad = AgentState {
                speed: odd,
                ..state
            };
            path_ahead(None, &mad, 20.0, &mut path);
            assert!(path.len() <= 27, "{odd}: {}", path.len());
        }
    }

    #[test]
    fn each_cell_is_there_once_at_the_time_at_which_the_agent_is_in_it() {
        for (heading, speed) in [(2.5, 10.0), (-0.9, 20.0), (-2.0, -7.0), (1.2, 0.0)] {
            let state = AgentState {
                position: Position::new(13.0, -7.0),
                heading,
                speed,
                ..AgentState::default()
            };
            let place = |way: f64| {
                let (y, x) = libm::sincos(heading);
                let place = Position::new(13.0 + way * x, way * y - 7.0);
                Cell::containing(place, 20.0)
            };
            let mut path = Vec::new();
            straight_ahead(&state, 20.0, &mut path);
            let fast = speed.abs();
            for entry in &path {
                let way = entry.after.seconds() * fast.max(0.1);
                assert_eq!(place(way), Some(entry.cell), "{heading} {way}");
            }
            assert!(path.windows(2).all(|two| two[0].cell != two[1].cell));
            let length = fast * HORIZON_S + HORIZON_M;
            assert_eq!(path.last().map(|entry| entry.cell), place(length));
            let crossed = |of: fn(Cell) -> i32| {
                let ends = [place(0.0), place(length)].map(|cell| cell.map_or(0, of));
                ends[0].abs_diff(ends[1]) as usize
            };
            // Corners that are cut by less than five metres are passed over.
            let most = 1 + crossed(|cell| cell.ix) + crossed(|cell| cell.iy);
            assert!((most / 2 + 1..=most).contains(&path.len()), "{path:?}");
        }
    }
}
