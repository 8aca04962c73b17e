//! What one sensor sees, fast.
//!
//! What buildings hide is kept by the square of the map that the sensor stands in, and the vehicles become sets by bearing,
//! once; every sight line then costs a look into its bin and few exact tests. Which tests are left out never changes an answer.

use super::bearing::{bearing, bin};
use super::blockers::Blockers;
use super::horizon::{Horizon, Outlook};
use super::links::LinkScratch;
use super::prospect::{self, Prospect};
use super::rule::SightLine;
use super::{CellRule, ObjectRule, Observed, plain};
use crate::geometry::Point;
use crate::grid::GridFrame;

/// Bins of bearing around a sensor.
pub(super) const BINS: usize = 256;

/// Working memory of one thread, to be reused from sensor to sensor and from instant to instant. It never influences an
/// answer.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    horizon: Horizon<BINS>,
    blockers: Blockers,
    pub(super) links: LinkScratch,
}

/// One sensor's view. The vectors that its methods fill are cleared first.
#[derive(Debug)]
pub struct View<'s> {
    observed: &'s Observed<'s>,
    slot: Option<usize>,
    scratch: &'s mut Scratch,
    /// How far the horizon and the sets reach; negative before they are made.
    prepared: f64,
    /// No line that can be tested goes higher than this.
    prepared_top: f64,
    from: Point,
    from_height: f64,
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
        scratch: &'s mut Scratch,
    ) -> Self {
        let (from, from_height) = match slot {
            Some(slot) => (
                observed.vehicles.boxes[slot].centre,
                observed.sensor_height(slot),
            ),
            None => (Point::default(), 0.0),
        };
        Self {
            observed,
            slot,
            scratch,
            prepared: -1.0,
            prepared_top: 0.0,
            from,
            from_height,
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
            horizon, blockers, ..
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
            Some(prospect) => horizon.defer_to(&sight.buildings, &outlook, prospect),
            None => horizon.build(&sight.buildings, &outlook),
        }
        let open = self.prospect.map(|prospect| &prospect.open);
        blockers.build(vehicles, slot, range, self.from_height, open);
        self.prepared = range;
        self.prepared_top = top;
    }

    /// The way to the point `along` away at `height` is free of all but the vehicle `target`.
    #[inline]
    fn free(&self, along: Point, height: f64, target: usize) -> bool {
        let distance_squared = along.dot(along);
        let at = bin::<{ prospect::BINS }>(bearing(along));
        self.free_in_bin(along, height, target, distance_squared.sqrt(), at)
    }

    /// As [`Self::free`], with the point's distance and its bin among those of prospects.
    #[inline]
    fn free_in_bin(
        &self,
        along: Point,
        height: f64,
        target: usize,
        distance: f64,
        at: usize,
    ) -> bool {
        let buildings = &self.observed.sight.buildings;
        let hidden = match self.prospect {
            Some(prospect) => prospect.blocks(buildings, self.from, along, distance, at),
            None => self.scratch.horizon.blocks(
                buildings,
                self.from,
                along,
                distance,
                at / (prospect::BINS / BINS),
            ),
        };
        !hidden
            && self.free_of_vehicles(
                along,
                height,
                target,
                distance,
                at / (prospect::BINS / BINS),
            )
    }

    /// No vehicle but `target` and no building apart blocks the way.
    #[inline(never)]
    fn free_of_vehicles(
        &self,
        along: Point,
        height: f64,
        target: usize,
        distance: f64,
        at: usize,
    ) -> bool {
        let Observed { sight, vehicles } = self.observed;
        let line = SightLine {
            from: self.from,
            along,
            from_height: self.from_height,
            to_height: height,
        };
        let Scratch {
            horizon, blockers, ..
        } = &*self.scratch;
        !blockers.blocks(vehicles, &line, distance, at, target)
            && !horizon
                .apart
                .iter()
                .any(|&building| sight.buildings.blocks(building, &line))
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
        self.prepare(slot, options.range + slack, 0.0);
        if self.scratch.horizon.enclosed {
            return;
        }
        for blocker in self.scratch.blockers.by_rank() {
            let other = blocker.slot;
            let target = &vehicles.boxes[other as usize];
            let along = target.centre - self.from;
            if along.dot(along) > options.range * options.range {
                continue;
            }
            let height = target.height * 0.5;
            let free = |corner: Point| self.free(along + corner, height, other as usize);
            let seen = match options.object_rule {
                ObjectRule::Centre => {
                    let (distance, at) = (blocker.distance, usize::from(blocker.at));
                    self.free_in_bin(along, height, other as usize, distance, at)
                }
                ObjectRule::AnyCorner => plain::corners(target.axis, target.half)
                    .into_iter()
                    .any(free),
                ObjectRule::AllCorners => plain::corners(target.axis, target.half)
                    .into_iter()
                    .all(free),
            };
            if seen {
                out.push(vehicles.index[other as usize]);
            }
        }
        out.sort_unstable();
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
        self.prepare(slot, options.range + slack, height);
        if self.scratch.horizon.enclosed {
            return;
        }
        let corners = plain::cell_corners(grid);
        let look_at = |cell, along| {
            let seen = self.free(along, height, NONE)
                && (options.cell_rule == CellRule::Centre
                    || corners
                        .iter()
                        .all(|&corner| self.free(along + corner, height, NONE)));
            if seen {
                out.push(cell);
            }
        };
        let range = options.range;
        let fine = grid.cell_size() * MOST_CELLS_ACROSS < range;
        let prospect = self.prospect.filter(|_| !fine);
        match prospect.and_then(|prospect| prospect.open_cells(grid, range)) {
            Some(open) => plain::cells_of_list_in_range(grid, self.from, range, open, look_at),
            None => plain::cells_in_range(grid, self.from, range, look_at),
        }
    }

    /// For each point of the map plane, at `height` above the ground: it is within range and the line to it is free.
    /// All vehicles but the observer can block.
    pub fn points(&mut self, points: &[Point], height: f64, out: &mut Vec<bool>) {
        out.clear();
        let Some(slot) = self.slot else {
            out.resize(points.len(), false);
            return;
        };
        let range = self.observed.sight.options.range;
        self.prepare(slot, range, height);
        let enclosed = self.scratch.horizon.enclosed;
        out.extend(points.iter().map(|&p| {
            let along = p - self.from;
            !enclosed && along.dot(along) <= range * range && self.free(along, height, NONE)
        }));
    }
}
