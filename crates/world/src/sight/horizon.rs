//! The horizon of buildings around one point, by bins of bearing.
//!
//! For each bin: a distance below which no wall stands, a distance beyond which everything is behind one wall that
//! covers the bin. A point in a bin is then free, hidden, or, between the two distances, tested against the walls that touch
//! the bin by the exact rule.
//!
//! Distances are kept as their inverses: along a straight wall the inverse of the distance is linear in the direction
//! vector, so that a bin's border costs two multiplications.
//!
//! Only walls of simple footprints at least as high as any sight line are entered; the other buildings are listed apart.

use super::bearing::{BinRange, Borders, bearing, silhouette, touched_bins, widest_bin};
use super::buildings::Buildings;
use super::lanes::{LANES, Lanes, select, zip};
use super::prospect::Prospect;
use super::rule;
use crate::geometry::Point;
use std::ops::Range;

/// Inverse distances are widened by this share. They are found in single precision from coordinates that are off by less
/// than 0.1 mm within the longest range, and walls pass no nearer than [`GRAZING`].
const MARGIN: f64 = 1e-3;
/// A wall whose line passes nearer than this to the point, in metres, is always tested exactly.
const GRAZING: f64 = 0.5;

/// The numbers of four bins.
const LANE: Lanes = [0.0, 1.0, 2.0, 3.0];
/// Bearings found in single precision are widened by this.
const SINGLE_PAD: f32 = 3e-4;

/// A wall that was looked at, and the bins that it touches.
#[derive(Debug, Clone, Copy)]
struct Entry {
    wall: u32,
    first: u16,
    touched: u16,
}

/// From where one looks, and at what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    /// Where one stands.
    pub from: Point,
    /// Buildings beyond this distance do not count.
    pub range: f64,
    /// No sight line is higher than this.
    pub height: f64,
    /// Buildings that do not reach east of this do not count.
    pub west: f64,
}

/// The horizon around one point.
#[derive(Debug, Clone)]
pub(crate) struct Horizon<const BINS: usize> {
    /// By bin: 1 / distance of the nearest wall, rounded up; 0 if there is none.
    near: Vec<Lanes>,
    /// By bin: 1 / distance beyond which all is hidden, rounded down; 0 if there is none.
    cover: Vec<Lanes>,
    /// The walls that make the horizon.
    entries: Vec<Entry>,
    /// Unit vectors along the borders of the bins: x and y of those before, x and y of those after.
    borders: Vec<[Lanes; 4]>,
    /// The point lies inside a building that is as high as any sight line: nothing is seen.
    pub enclosed: bool,
    /// Buildings in range that are lower than some sight line or whose outline crosses itself.
    pub apart: Vec<u32>,
    /// By building: the last call that looked at it.
    stamps: Vec<u32>,
    stamp: u32,
    cells: Vec<(f64, u32)>,
}

impl<const BINS: usize> Default for Horizon<BINS> {
    fn default() -> Self {
        let borders = Borders::<BINS>::default().0;
        let borders = (0..BINS / LANES)
            .map(|chunk| {
                let at = |i: usize| borders[chunk * LANES + i];
                [
                    std::array::from_fn(|i| at(i).x as f32),
                    std::array::from_fn(|i| at(i).y as f32),
                    std::array::from_fn(|i| at(i + 1).x as f32),
                    std::array::from_fn(|i| at(i + 1).y as f32),
                ]
            })
            .collect();
        Self {
            near: vec![[0.0; LANES]; BINS / LANES],
            cover: vec![[0.0; LANES]; BINS / LANES],
            entries: Vec::new(),
            borders,
            enclosed: false,
            apart: Vec::new(),
            stamps: Vec::new(),
            stamp: 0,
            cells: Vec::new(),
        }
    }
}

impl<const BINS: usize> Horizon<BINS> {
    /// Within a bin, a straight wall may come nearer than at the bin's borders, by one over the cosine of the bin's width
    /// at most. (The cosine is bounded from below by the first terms of its series.)
    const WIDEN: f32 = ((1.0 + MARGIN) / (1.0 - widest_bin(BINS) * widest_bin(BINS) / 2.0)) as f32;

    /// Covers are taken for a little farther away than they come out.
    const NARROW: f32 = 1.0 - MARGIN as f32;

    fn clear(&mut self) {
        self.near.fill([0.0; LANES]);
        self.cover.fill([0.0; LANES]);
        self.entries.clear();
        self.apart.clear();
        self.enclosed = false;
    }

    /// Leaves the walls to a prospect, and notes only what it does not deal with. It must reach at least as far as the
    /// outlook and take no lower buildings for walls than the outlook asks for.
    pub(crate) fn defer_to(
        &mut self,
        buildings: &Buildings,
        outlook: &Outlook,
        prospect: &Prospect,
    ) {
        self.enclosed = prospect.encloses(buildings, outlook.from);
        let limit = outlook.range * outlook.range;
        self.apart.clear();
        for &index in &prospect.others {
            let footprint = &buildings.footprints[index as usize];
            if footprint.distance_squared(outlook.from) <= limit {
                self.apart.push(index);
            }
        }
    }

    /// Looks around at all buildings.
    pub(crate) fn build(&mut self, buildings: &Buildings, outlook: &Outlook) {
        self.clear();
        let from = outlook.from;
        if self.stamps.len() != buildings.footprints.len() || self.stamp == u32::MAX {
            self.stamps.clear();
            self.stamps.resize(buildings.footprints.len(), 0);
            self.stamp = 0;
        }
        self.stamp += 1;

        // Near cells first, so that what lies behind them is known to be hidden without a look at it.
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        buildings.cells_near(from, outlook.range, |cell, distance_squared| {
            cells.push((distance_squared, cell));
        });
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for &(distance_squared, cell) in &cells {
            let (min, max) = buildings.square_of(cell);
            if max.x < outlook.west || self.hides(min - from, max - from, distance_squared) {
                continue;
            }
            for &index in buildings.in_cell(cell) {
                self.look_at(buildings, index, outlook);
            }
        }
        self.cells = cells;
        for &index in &buildings.wide {
            self.look_at(buildings, index, outlook);
        }
    }

    /// A rectangle along the axes, given relative to the point with its distance, lies behind walls entirely.
    #[inline]
    fn hides(&self, min: Point, max: Point, distance_squared: f64) -> bool {
        if distance_squared <= 0.0 {
            return false;
        }
        let (first, last) = silhouette(min, max);
        let range = BinRange::<BINS>::new(bearing(first), bearing(last));
        // A bin hides all of it if the cover is nearer than its nearest point.
        let needed = ((1.0 + MARGIN) * (1.0 + MARGIN) / distance_squared) as f32;
        let cover = self.cover.as_flattened();
        let hidden = |cover: &[f32]| cover.iter().all(|cover| cover * cover >= needed);
        let end = range.first + range.touched;
        if end <= BINS {
            hidden(&cover[range.first..end])
        } else {
            hidden(&cover[range.first..]) && hidden(&cover[..end - BINS])
        }
    }

    fn look_at(&mut self, buildings: &Buildings, index: u32, outlook: &Outlook) {
        let from = outlook.from;
        if std::mem::replace(&mut self.stamps[index as usize], self.stamp) == self.stamp {
            return;
        }
        let footprint = &buildings.footprints[index as usize];
        let distance_squared = footprint.distance_squared(from);
        if distance_squared > outlook.range * outlook.range || footprint.max.x < outlook.west {
            return;
        }
        if footprint.height < outlook.height || !footprint.simple {
            self.apart.push(index);
            return;
        }
        if distance_squared <= 0.0 && buildings.holds(footprint, from) {
            self.enclosed = true;
            return;
        }
        if self.hides(footprint.min - from, footprint.max - from, distance_squared) {
            return;
        }
        let walls = buildings.walls_of(footprint);
        let first = buildings.first_wall_of(footprint);
        let mut start_bearing = f64::NAN;
        for (i, wall) in walls.iter().enumerate() {
            let start = wall.start - from;
            let area = start.cross(wall.along);
            // Only walls with their outer side towards the point can be entered.
            if area > 0.0 {
                start_bearing = f64::NAN;
                continue;
            }
            if start_bearing.is_nan() {
                start_bearing = bearing(start);
            }
            let end_bearing = bearing(wall.end() - from);
            let range = BinRange::<BINS>::new(end_bearing, start_bearing);
            self.put(start, wall.along, area, range, first + i as u32);
            start_bearing = end_bearing;
        }
    }

    /// Enters a wall into the bins. `area` is twice that of the triangle over the wall, with the point as its tip.
    #[inline]
    fn put(&mut self, start: Point, along: Point, area: f64, range: BinRange<BINS>, wall: u32) {
        if area >= -GRAZING * (along.x.abs() + along.y.abs()) || area.is_nan() {
            self.put_grazing(start, start + along, wall);
            return;
        }
        self.entries.push(Entry {
            wall,
            first: range.first as u16,
            touched: range.touched as u16,
        });
        // The inverse distance in direction `u` is `u.cross(slope)`.
        let slope = along * (1.0 / area);
        let end = range.first + range.touched;
        let covered = range.first + range.open_before..end - range.open_after;
        self.sweep_around(range.first..end, covered, slope.x as f32, slope.y as f32);
    }

    /// As [`Self::sweep`], for bins that may go on around the circle.
    #[inline]
    fn sweep_around(&mut self, bins: Range<usize>, covered: Range<usize>, x: f32, y: f32) {
        if bins.end <= BINS {
            self.sweep(bins, covered, x, y);
        } else {
            let (a, b) = (covered.start, covered.end);
            self.sweep(bins.start..BINS, a..b, x, y);
            self.sweep(
                0..bins.end - BINS,
                a.saturating_sub(BINS)..b.saturating_sub(BINS),
                x,
                y,
            );
        }
    }

    /// Lowers the distances of a run of bins, and where all may be hidden in those that are covered.
    ///
    /// Four bins at a time, in single precision, which is wide enough to prune with: what rounding may do is added.
    #[inline]
    fn sweep(&mut self, bins: Range<usize>, covered: Range<usize>, sx: f32, sy: f32) {
        let rounding = (sx.abs() + sy.abs()) * 5e-7;
        // Casts from `i32` are the cheapest.
        let number = |n: usize| n as i32 as f32;
        let (low, high) = (number(bins.start), number(bins.end));
        let (covered_low, covered_high) = (number(covered.start), number(covered.end));
        let chunks = bins.start / LANES..bins.end.div_ceil(LANES);
        let mut bin = LANE.map(|lane| lane + number(chunks.start * LANES));
        let more = |a: f32, b: f32| if a > b { a } else { b };
        let less = |a: f32, b: f32| if a < b { a } else { b };
        if covered.start >= covered.end {
            let near = self.near[chunks.clone()].iter_mut();
            for (near, border) in near.zip(&self.borders[chunks]) {
                let before = zip(border[0], border[1], |x, y| x * sy - y * sx);
                let after = zip(border[2], border[3], |x, y| x * sy - y * sx);
                let nearest = zip(before, after, |b, a| (more(b, a) + rounding) * Self::WIDEN);
                *near = zip(*near, select(bin, low, high, nearest), more);
                bin = bin.map(|bin| bin + LANES as f32);
            }
            return;
        }
        let bins = self.near[chunks.clone()]
            .iter_mut()
            .zip(&mut self.cover[chunks.clone()]);
        for (border, (near, cover)) in self.borders[chunks].iter().zip(bins) {
            let before = zip(border[0], border[1], |x, y| x * sy - y * sx);
            let after = zip(border[2], border[3], |x, y| x * sy - y * sx);
            let nearest = zip(before, after, |b, a| (more(b, a) + rounding) * Self::WIDEN);
            *near = zip(*near, select(bin, low, high, nearest), more);
            let hidden = zip(before, after, |b, a| (less(b, a) - rounding) * Self::NARROW);
            *cover = zip(*cover, select(bin, covered_low, covered_high, hidden), more);
            bin = bin.map(|bin| bin + LANES as f32);
        }
    }

    /// Enters a wall whose line passes close to the point: every line in its bins is tested against it.
    #[cold]
    fn put_grazing(&mut self, start: Point, end: Point, wall: u32) {
        let (a, b) = (bearing(start), bearing(end));
        let (low, high) = (a.min(b), a.max(b));
        let (from, to) = if high - low <= 2.0 {
            (low, high)
        } else {
            (high, low + 4.0)
        };
        let pad = f64::from(SINGLE_PAD);
        let (first, touched) = if start.length().min(end.length()) < 1.0 || to - from > 1.0 {
            // The wall is right here.
            (0, BINS)
        } else {
            touched_bins::<BINS>(from - pad, to + pad)
        };
        self.entries.push(Entry {
            wall,
            first: first as u16,
            touched: touched as u16,
        });
        let near = self.near.as_flattened_mut();
        for i in 0..touched {
            near[(first + i) & (BINS - 1)] = f32::INFINITY;
        }
    }

    /// A wall stands between the point and the one `along` away at `distance` in bin `at`.
    #[inline]
    pub(crate) fn blocks(
        &self,
        buildings: &Buildings,
        from: Point,
        along: Point,
        distance: f64,
        at: usize,
    ) -> bool {
        if distance * f64::from(self.near[at / LANES][at % LANES]) < 1.0 - MARGIN {
            return false;
        }
        if distance * f64::from(self.cover[at / LANES][at % LANES]) > 1.0 + MARGIN {
            return true;
        }
        self.blocks_exactly(buildings, from, along, at)
    }

    #[cold]
    fn blocks_exactly(&self, buildings: &Buildings, from: Point, along: Point, at: usize) -> bool {
        self.entries.iter().any(|entry| {
            let offset = at.wrapping_sub(usize::from(entry.first)) & (BINS - 1);
            offset < usize::from(entry.touched)
                && rule::enters(from, along, &buildings.walls[entry.wall as usize])
        })
    }
}
