//! What one sensor sees, fast.
//!
//! A line is first tested against what blocked it at the last instant. What buildings hide is kept by the square of the map that
//! the sensor stands in; of the vehicles, only those are tested that a line may touch. Which tests are left out never changes
//! an answer.

use super::bearing::{bearing, bin, greater};
use super::hints::{CellHints, Hint, Hints};
use super::horizon::{Horizon, Outlook};
use super::links::LinkScratch;
use super::nearby::Nearby;
use super::prospect::{self, NearBounds, Prospect};
use super::rule::{self, SightLine};
use super::{CellRule, ObjectRule, Observed, Sensor, cells, plain};
use crate::geometry::Point;
use crate::grid::GridFrame;
use std::ops::Range;

/// Bins of bearing around a sensor that does without a prospect.
const BINS: usize = 256;
/// Distances are taken a little shorter than they come out, by far more than their rounding.
const SHRINK: f64 = 1.0 - 1e-9;

/// Working memory of one thread, to be reused from sensor to sensor and from instant to instant. It never influences an
/// answer.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    horizon: Horizon<BINS>,
    runs: Vec<Range<usize>>,
    bounds: NearBounds,
    nearby: Nearby,
    objects: Hints,
    cells: CellHints,
    pub(super) links: LinkScratch,
}

/// One sensor's view. The vectors that its methods fill are cleared first.
#[derive(Debug)]
pub struct View<'s> {
    observed: &'s Observed<'s>,
    slot: Option<usize>,
    /// Sensors of its own, where it has some.
    sensor: Option<&'s Sensor>,
    /// How far it sees.
    range: f64,
    scratch: &'s mut Scratch,
    /// How far the horizon and the sets reach; negative before they are made.
    prepared: f64,
    /// No line that can be tested goes higher than this.
    prepared_top: f64,
    from: Point,
    from_height: f64,
    /// Neither it nor what it looks at is so high that lines cannot be judged by a point of theirs.
    low: bool,
    /// What buildings hide from here, if the map has prospects; else the horizon says so.
    prospect: Option<&'s Prospect>,
}

/// Squares of the map remember their cells of grids that are not finer than this, in cells over the range.
const MOST_CELLS_ACROSS: f64 = 32.0;

/// No vehicle is the target.
const NONE: usize = usize::MAX;

impl<'s> View<'s> {
    pub(super) fn new(
        observed: &'s Observed<'s>,
        slot: Option<usize>,
        sensor: Option<&'s Sensor>,
        scratch: &'s mut Scratch,
    ) -> Self {
        let (from, from_height) = match slot {
            Some(slot) => (
                observed.vehicles.boxes[slot].centre,
                observed.sensor_height(slot, sensor),
            ),
            None => (Point::default(), 0.0),
        };
        Self {
            observed,
            slot,
            sensor,
            range: observed.range(sensor),
            scratch,
            prepared: -1.0,
            prepared_top: 0.0,
            from,
            from_height,
            low: [
                from_height,
                observed.vehicles.highest,
                observed.sight.options.cell_height,
            ]
            .iter()
            .all(|height| height.abs() < rule::HIGHEST_SURE),
            prospect: None,
        }
    }

    /// Makes sure that lines up to `range` long, and no end of them higher than the sensor, half the highest roof or
    /// `height`, can be tested.
    fn prepare(&mut self, slot: usize, range: f64, height: f64) {
        if range <= self.prepared && height <= self.prepared_top {
            return;
        }
        let Observed { sight, vehicles } = self.observed;
        let top = self.from_height.max(vehicles.highest * 0.5).max(height);
        let range = range.max(self.prepared);
        let Scratch {
            horizon,
            runs,
            bounds,
            nearby,
            ..
        } = &mut *self.scratch;
        let outlook = Outlook {
            from: self.from,
            range,
            height: top,
            west: f64::NEG_INFINITY,
        };
        let prospects = &sight.sight_prospects;
        self.prospect = (range <= prospects.range && top <= prospects.height)
            .then(|| prospects.at(&sight.buildings, self.from))
            .flatten();
        match self.prospect {
            Some(prospect) => {
                bounds.copy(prospect);
                horizon.defer_to(&sight.buildings, &outlook, prospect);
            }
            None => horizon.build(&sight.buildings, &outlook),
        }
        let open = self.prospect.map(|prospect| &prospect.open);
        if !open.is_some_and(|open| vehicles.runs_in_open_tiles(open, runs)) {
            vehicles.runs_near(self.from, range, runs);
        }
        nearby.clear(range, vehicles.longest_reach());
        let limit = range * range;
        for run in runs.iter() {
            for (other, &centre) in run.clone().zip(&vehicles.centres[run.clone()]) {
                let away = centre - self.from;
                let distance_squared = away.dot(away);
                if distance_squared > limit {
                    let reach = range + vehicles.reach[other];
                    if distance_squared * SHRINK > reach * reach {
                        continue;
                    }
                }
                if other != slot && !vehicles.looks_only[other] {
                    nearby.push(other, away, distance_squared.sqrt());
                }
            }
        }
        nearby.rank(&vehicles.outlines);
        self.prepared = range;
        self.prepared_top = top;
    }

    fn line(&self, along: Point, height: f64) -> SightLine {
        SightLine {
            from: self.from,
            along,
            from_height: self.from_height,
            to_height: height,
        }
    }

    /// The way to the point `along` away at `height` is free.
    fn free(&self, along: Point, height: f64, target: usize) -> bool {
        self.blocker(&self.line(along, height), target).is_none()
    }

    /// Something that blocks the line, unless it is the vehicle `target`: a hint, or [`Hint::NONE`] if it has no name.
    fn blocker(&self, line: &SightLine, target: usize) -> Option<Hint> {
        let Observed { sight, vehicles } = self.observed;
        let buildings = &sight.buildings;
        let Scratch {
            horizon,
            bounds,
            nearby,
            ..
        } = &*self.scratch;
        let along = line.along;
        let distance = along.dot(along).sqrt();
        let bearing = bearing(along);
        let wall = match self.prospect {
            Some(prospect) => {
                let at = bin::<{ prospect::BINS }>(bearing);
                prospect.wall_between(bounds, buildings, self.from, along, distance, at)
            }
            None => horizon
                .blocks(buildings, self.from, along, distance, bin::<BINS>(bearing))
                .then_some(prospect::UNKNOWN),
        };
        if let Some(wall) = wall {
            return Some(Hint::wall(wall));
        }
        let vehicle = nearby.find(along, distance, |slot| {
            let slot = slot as usize;
            slot != target && rule::box_blocks(line, &vehicles.boxes[slot])
        });
        if let Some(slot) = vehicle {
            return Some(Hint::vehicle(vehicles.index[slot as usize]));
        }
        let mut apart = horizon.apart.iter();
        apart
            .any(|&building| buildings.blocks(building, line))
            .then_some(Hint::NONE)
    }

    /// What stood in the way still does.
    #[inline]
    fn still_blocks(&self, hint: Hint, line: &SightLine, target: usize) -> bool {
        let Observed { sight, vehicles } = self.observed;
        if let Some(vehicle) = hint.as_vehicle() {
            let slot = self.observed.slot_of(vehicle);
            return slot.is_some_and(|slot| {
                let body = &vehicles.boxes[slot];
                let length_squared = line.along.dot(line.along);
                slot != target
                    && self.slot != Some(slot)
                    && ((self.low && rule::surely_blocks(line, length_squared, body))
                        || (!vehicles.looks_only[slot] && rule::box_blocks(line, body)))
            });
        }
        hint.as_wall().is_some_and(|wall| {
            let height = greater(line.from_height, line.to_height);
            sight
                .buildings
                .enters_by(wall, line.from, line.along, height)
        })
    }

    /// As [`Self::blocker`], with a guess.
    #[inline]
    fn blocker_or(&self, hint: Hint, line: &SightLine, target: usize) -> Option<Hint> {
        if self.still_blocks(hint, line, target) {
            Some(hint)
        } else {
            self.blocker(line, target)
        }
    }

    /// The vehicles seen, by ascending index in the frame.
    pub fn objects(&mut self, out: &mut Vec<u32>) {
        out.clear();
        let Some(slot) = self.slot else {
            return;
        };
        let options = &self.observed.sight.options;
        let vehicles = &self.observed.vehicles;
        // Corners of an object may lie out of range, and what hides them may too.
        let slack = match options.object_rule {
            ObjectRule::Centre => 0.0,
            ObjectRule::AnyCorner | ObjectRule::AllCorners => vehicles.longest_reach(),
        };
        self.prepare(slot, self.range + slack, 0.0);
        if self.scratch.horizon.enclosed {
            return;
        }
        let mut hints = std::mem::take(&mut self.scratch.objects);
        hints.visit(vehicles.index[slot], vehicles.slot.len());
        for &other in self.scratch.nearby.slots() {
            let other = other as usize;
            let target = &vehicles.boxes[other];
            let along = target.centre - self.from;
            if along.dot(along) > self.range * self.range
                || !self.observed.faces(slot, self.sensor, along)
            {
                continue;
            }
            let index = vehicles.index[other];
            let height = target.height * 0.5;
            let free = |corner: Point| self.free(along + corner, height, other);
            let seen = match options.object_rule {
                ObjectRule::Centre => {
                    let line = self.line(along, height);
                    let blocker = self.blocker_or(hints.of(index), &line, other);
                    hints.note(index, blocker.unwrap_or(Hint::NONE));
                    blocker.is_none()
                }
                ObjectRule::AnyCorner => plain::corners(target.axis, target.half)
                    .into_iter()
                    .any(free),
                ObjectRule::AllCorners => plain::corners(target.axis, target.half)
                    .into_iter()
                    .all(free),
            };
            if seen {
                out.push(index);
            }
        }
        self.scratch.objects = hints;
        out.sort_unstable();
    }

    /// How much shows of a vehicle, by its index in the frame: the share of its four corners, at half its height, to which the way is
    /// free. Nothing of who is not there.
    pub fn shown(&mut self, object: u32) -> f64 {
        let (Some(slot), Some(target)) = (self.slot, self.observed.slot_of(object)) else {
            return 0.0;
        };
        let vehicles = &self.observed.vehicles;
        self.prepare(slot, self.range + vehicles.longest_reach(), 0.0);
        if self.scratch.horizon.enclosed {
            return 0.0;
        }
        let body = &vehicles.boxes[target];
        let along = body.centre - self.from;
        let corners = plain::corners(body.axis, body.half).into_iter();
        let free = corners.filter(|&corner| self.free(along + corner, body.height * 0.5, target));
        free.count() as f64 / 4.0
    }

    /// The cells of `grid` seen, in scan order: by row (the second number), then column.
    ///
    /// A grid so fine that the range spans a million cells gives none.
    pub fn cells(&mut self, grid: &GridFrame, out: &mut Vec<(i32, i32)>) {
        out.clear();
        let Some(slot) = self.slot else {
            return;
        };
        let options = &self.observed.sight.options;
        let height = options.cell_height;
        let slack = match options.cell_rule {
            CellRule::Centre => 0.0,
            CellRule::Strict => grid.cell_size(),
        };
        self.prepare(slot, self.range + slack, height);
        if self.scratch.horizon.enclosed {
            return;
        }
        let mut hints = std::mem::take(&mut self.scratch.cells);
        hints.visit(self.observed.vehicles.index[slot]);
        let corners = cells::cell_corners(grid);
        let look_at = |cell, along| {
            if !self.observed.faces(slot, self.sensor, along) {
                return;
            }
            let line = self.line(along, height);
            let blocker = self.blocker_or(hints.of(cell), &line, NONE);
            hints.note(cell, blocker.unwrap_or(Hint::NONE));
            let seen = blocker.is_none()
                && (options.cell_rule == CellRule::Centre
                    || corners
                        .iter()
                        .all(|&corner| self.free(along + corner, height, NONE)));
            if seen {
                out.push(cell);
            }
        };
        let range = self.range;
        let fine = grid.cell_size() * MOST_CELLS_ACROSS < options.range;
        let prospect = self.prospect.filter(|_| !fine);
        // A prospect remembers the cells of everybody's range; who sees farther has none.
        match prospect.and_then(|prospect| prospect.open_cells(grid, options.range)) {
            Some(open) => cells::cells_of_list_in_range(grid, self.from, range, open, look_at),
            None => cells::cells_in_range(grid, self.from, range, look_at),
        }
        self.scratch.cells = hints;
    }

    /// For each point of the map plane, at `height` above the ground: it is within range and the line to it is free.
    /// All vehicles but the observer can block.
    pub fn points(&mut self, points: &[Point], height: f64, out: &mut Vec<bool>) {
        out.clear();
        let Some(slot) = self.slot else {
            out.resize(points.len(), false);
            return;
        };
        let range = self.range;
        self.prepare(slot, range, height);
        let enclosed = self.scratch.horizon.enclosed;
        out.extend(points.iter().map(|&p| {
            let along = p - self.from;
            !enclosed
                && along.dot(along) <= range * range
                && self.observed.faces(slot, self.sensor, along)
                && self.free(along, height, NONE)
        }));
    }
}
