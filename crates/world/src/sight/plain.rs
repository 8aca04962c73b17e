//! The rule of sight as plain loops: every line against every occluder near enough to matter.
//!
//! It finds neighbours with the same lookup as the fast path but tests each sight line against each of them. It is the
//! meaning of the fast path, which gives the same answers bit for bit, and the measure of its speed.

use super::cells::{cell_corners, cells_in_range};
use super::links::Link;
use super::rule::{self, SightLine};
use super::{CellRule, LinkState, ObjectRule, Observed, Sensor, Sighting};
use crate::geometry::Point;
use crate::grid::GridFrame;

/// The occluders near one sensor.
struct Near {
    from: Point,
    from_height: f64,
    vehicles: Vec<u32>,
    buildings: Vec<u32>,
}

impl Near {
    fn new(observed: &Observed<'_>, slot: usize, sensor: Option<&Sensor>, range: f64) -> Self {
        let vehicles = &observed.vehicles;
        let from = vehicles.boxes[slot].centre;
        let mut near = Self {
            from,
            from_height: observed.sensor_height(slot, sensor),
            vehicles: Vec::new(),
            buildings: Vec::new(),
        };
        vehicles.near(from, range, |other| {
            let reach = range + vehicles.reach[other];
            let away = vehicles.boxes[other].centre - from;
            if other != slot && !vehicles.looks_only[other] && away.dot(away) <= reach * reach {
                near.vehicles.push(other as u32);
            }
        });
        let buildings = &observed.sight.buildings;
        buildings.near(from, range, |building| near.buildings.push(building));
        near
    }

    /// The way to the point `along` away at `height` is free of all but the vehicle `target`. `ALL` goes on to the last
    /// occluder even if one blocks.
    fn free<const ALL: bool>(
        &self,
        observed: &Observed<'_>,
        along: Point,
        height: f64,
        target: usize,
    ) -> bool {
        let line = SightLine {
            from: self.from,
            along,
            from_height: self.from_height,
            to_height: height,
        };
        let vehicles = &observed.vehicles;
        let buildings = &observed.sight.buildings;
        let boxed = |&other: &u32| {
            other as usize != target && rule::box_blocks(&line, &vehicles.boxes[other as usize])
        };
        let built = |&building: &u32| buildings.blocks(building, &line);
        if ALL {
            let blockers = self.vehicles.iter().filter(|other| boxed(other)).count()
                + self.buildings.iter().filter(|b| built(b)).count();
            blockers == 0
        } else {
            !self.vehicles.iter().any(boxed) && !self.buildings.iter().any(built)
        }
    }
}

/// The state of the link between two slots, of which `first` comes first in the order of positions.
pub(super) fn link_state(observed: &Observed<'_>, first: usize, second: usize) -> LinkState {
    let vehicles = &observed.vehicles;
    let buildings = &observed.sight.buildings;
    let from = vehicles.boxes[first].centre;
    let along = vehicles.boxes[second].centre - from;
    let range = along.length();
    let mut built_up = false;
    buildings.near(from, range, |b| {
        built_up = built_up || buildings.cuts(b, from, along);
    });
    if built_up {
        return LinkState::Building;
    }
    let mut tallest = 0.0_f64;
    vehicles.near(from, range, |other| {
        let b = &vehicles.boxes[other];
        let between = other != first && other != second && !vehicles.looks_only[other];
        if between && rule::over_box(from, along, b).is_some() {
            tallest = tallest.max(b.height);
        }
    });
    if tallest > 0.0 {
        LinkState::Vehicle { tallest }
    } else {
        LinkState::Clear
    }
}

/// The links from one vehicle to those that follow it in the order of positions, each pair tested by itself.
pub fn links_onward(observed: &Observed<'_>, vehicle: u32, out: &mut Vec<Link>) {
    out.clear();
    let Some(slot) = observed.slot_of(vehicle) else {
        return;
    };
    let vehicles = &observed.vehicles;
    let from = vehicles.boxes[slot].centre;
    let range = observed.sight.options.link_range;
    vehicles.near(from, range, |other| {
        let along = vehicles.boxes[other].centre - from;
        let distance_squared = along.dot(along);
        if vehicles.precedes(slot, other) && distance_squared <= range * range {
            let state = link_state(observed, slot, other);
            if observed.sight.options.links(state, distance_squared) {
                let other = vehicles.index[other];
                out.push(Link { other, state });
            }
        }
    });
    out.sort_unstable_by_key(|link| link.other);
}

/// No vehicle is the target.
const NONE: usize = usize::MAX;

/// The four corners of an object's footprint, seen from its centre.
pub(super) fn corners(axis: Point, half: Point) -> [Point; 4] {
    let (u, n) = (axis * half.x, Point::new(-axis.y, axis.x) * half.y);
    [u + n, u - n, Point::default() - u - n, n - u]
}

/// As [`Observed::hidden_by`], for two slots.
pub(super) fn sighting(
    observed: &Observed<'_>,
    from: usize,
    sensor: Option<&Sensor>,
    to: usize,
) -> Sighting {
    let range = observed.range(sensor);
    let target = &observed.vehicles.boxes[to];
    let along = target.centre - observed.vehicles.boxes[from].centre;
    if along.dot(along) > range * range || !observed.faces(from, sensor, along) {
        return Sighting::OutOfRange;
    }
    // Nothing beyond the object's farthest point can hide it.
    let mut near = Near::new(
        observed,
        from,
        sensor,
        along.length() + target.half.length() + 1.0,
    );
    if object_is_seen::<false>(observed, &near, to) {
        return Sighting::Seen;
    }
    near.vehicles.clear();
    if object_is_seen::<false>(observed, &near, to) {
        Sighting::Vehicle
    } else {
        Sighting::Building
    }
}

/// The object's [`ObjectRule`] holds.
fn object_is_seen<const ALL: bool>(observed: &Observed<'_>, near: &Near, object: usize) -> bool {
    let target = &observed.vehicles.boxes[object];
    let along = target.centre - near.from;
    let height = target.height * 0.5;
    let free = |corner: Point| near.free::<ALL>(observed, along + corner, height, object);
    match observed.sight.options.object_rule {
        ObjectRule::Centre => free(Point::default()),
        ObjectRule::AnyCorner => corners(target.axis, target.half).into_iter().any(free),
        ObjectRule::AllCorners => corners(target.axis, target.half).into_iter().all(free),
    }
}

/// As [`View::objects`](super::View::objects).
pub fn objects(observed: &Observed<'_>, observer: u32, out: &mut Vec<u32>) {
    look_at_objects::<false>(observed, observer, out);
}

/// As [`objects`], but each line is tested against each occluder to the last, even if an earlier one blocks it.
pub fn objects_exhaustively(observed: &Observed<'_>, observer: u32, out: &mut Vec<u32>) {
    look_at_objects::<true>(observed, observer, out);
}

fn look_at_objects<const ALL: bool>(observed: &Observed<'_>, observer: u32, out: &mut Vec<u32>) {
    out.clear();
    let Some(slot) = observed.slot_of(observer) else {
        return;
    };
    let options = &observed.sight.options;
    // Corners of an object may lie out of range, and what hides them may too.
    let slack = match options.object_rule {
        ObjectRule::Centre => 0.0,
        ObjectRule::AnyCorner | ObjectRule::AllCorners => observed.vehicles.longest_reach(),
    };
    let near = Near::new(observed, slot, None, options.range + slack);
    for &other in &near.vehicles {
        let target = &observed.vehicles.boxes[other as usize];
        let along = target.centre - near.from;
        if along.dot(along) <= options.range * options.range
            && object_is_seen::<ALL>(observed, &near, other as usize)
        {
            out.push(observed.vehicles.index[other as usize]);
        }
    }
    out.sort_unstable();
}

/// As [`View::cells`](super::View::cells).
pub fn cells(observed: &Observed<'_>, observer: u32, grid: &GridFrame, out: &mut Vec<(i32, i32)>) {
    look_at_cells::<false>(observed, observer, grid, out);
}

/// As [`cells`], but each line is tested against each occluder to the last, even if an earlier one blocks it.
pub fn cells_exhaustively(
    observed: &Observed<'_>,
    observer: u32,
    grid: &GridFrame,
    out: &mut Vec<(i32, i32)>,
) {
    look_at_cells::<true>(observed, observer, grid, out);
}

fn look_at_cells<const ALL: bool>(
    observed: &Observed<'_>,
    observer: u32,
    grid: &GridFrame,
    out: &mut Vec<(i32, i32)>,
) {
    out.clear();
    let Some(slot) = observed.slot_of(observer) else {
        return;
    };
    let options = &observed.sight.options;
    let slack = match options.cell_rule {
        CellRule::Centre => 0.0,
        CellRule::Strict => grid.cell_size(),
    };
    let near = Near::new(observed, slot, None, options.range + slack);
    let height = options.cell_height;
    let corners = cell_corners(grid);
    cells_in_range(grid, near.from, options.range, |cell, along| {
        let seen = near.free::<ALL>(observed, along, height, NONE)
            && (options.cell_rule == CellRule::Centre
                || corners
                    .iter()
                    .all(|&corner| near.free::<ALL>(observed, along + corner, height, NONE)));
        if seen {
            out.push(cell);
        }
    });
}

/// As [`View::points`](super::View::points).
pub fn points(
    observed: &Observed<'_>,
    observer: u32,
    points: &[Point],
    height: f64,
    out: &mut Vec<bool>,
) {
    out.clear();
    let Some(slot) = observed.slot_of(observer) else {
        out.resize(points.len(), false);
        return;
    };
    let range = observed.sight.options.range;
    let near = Near::new(observed, slot, None, range);
    out.extend(points.iter().map(|&p| {
        let along = p - near.from;
        along.dot(along) <= range * range && near.free::<false>(observed, along, height, NONE)
    }));
}
