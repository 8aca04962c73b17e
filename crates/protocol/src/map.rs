//! The map that a participant carries: lanes and buildings, as far as the caller has any.
//!
//! The protocol needs little of a map, and asks for it through [`RoadMap`]: whether a building stands between two points,
//! and where a body on the road is going. Positions are those of the grid frame. Without a map, bodies are taken to go
//! straight on and no building to stand anywhere.

use alloc::vec::Vec;
use core::fmt;

use crate::grid::Position;

/// Roads and buildings, as the caller knows them. Answers depend on the arguments alone.
pub trait RoadMap: fmt::Debug + Send + Sync {
    /// A building stands between `a` and `b`, for a line of sight near the ground.
    fn building_between(&self, a: Position, b: Position) -> bool;

    /// The way ahead of a body at `position`, in direction `heading` (radians, counter-clockwise from the first axis), over
    /// at least `length` metres where the road is that long: appends the points of the lane's centre line from abreast of
    /// the body on. Appends nothing where no lane matches.
    fn way_ahead(&self, position: Position, heading: f64, length: f64, way: &mut Vec<Position>);

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
