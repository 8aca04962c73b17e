//! The vehicles of one instant, sorted into a grid so that those near a point lie in few contiguous runs.

use super::lookup::{CellKey, Window, cell};
use super::nearby::Outline;
use super::prospect::{OpenTiles, TILE, TILE_RIM};
use super::rule::UprightBox;
use crate::geometry::Point;
use crate::scene::{BodyKind, VehicleState};
use std::ops::Range;

/// Side of a cell of the vehicle grid, in metres: cells are the tiles that prospects speak of.
const CELL: f64 = TILE;
/// Cells of the area in which vehicles stand, at most: larger areas do without a list of all cells.
const MOST_CELLS: i64 = 1 << 20;
/// Vehicles whose footprint reaches further than this from its centre are looked at always, in metres.
pub(crate) const LONGEST_REACH: f64 = 30.0;

/// Classes of height.
pub(crate) const HEIGHT_CLASSES: usize = 8;

/// Where a vehicle stands in the sorted arrays, or nowhere.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The vehicles of one instant by slot: sorted by grid row, then column, then position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vehicles {
    /// Grid cell of each slot, ascending over the slots in the grid.
    keys: Vec<CellKey>,
    /// The boxes by slot.
    pub boxes: Vec<UprightBox>,
    /// From the centre of the footprint to a corner, by slot.
    pub reach: Vec<f64>,
    /// What lines need to know of the boxes, by slot.
    pub outlines: Vec<Outline>,
    /// The caller's index by slot.
    pub index: Vec<u32>,
    /// The slot by the caller's index; [`NOWHERE`] for vehicles that have no place or body.
    pub slot: Vec<u32>,
    /// Slots from here on are not in the grid but always near.
    long_from: usize,
    /// The longest reach within the grid.
    longest: f64,
    /// By slot: it looks and has links, hides nothing and is not seen.
    pub looks_only: Vec<bool>,
    /// The highest roof.
    pub highest: f64,
    /// By slot: 0 for the highest roofs, 1 for the next lower, and so on; the last class holds all that are lower still.
    pub height_class: Vec<u8>,
    /// All cells of the area in which vehicles stand, empty ones too; none if it is too large.
    all_cells: Option<AllCells>,
}

/// Where the slots of each cell begin, row by row.
#[derive(Debug, Clone, Default)]
struct AllCells {
    south: i32,
    west: i32,
    rows: i32,
    columns: i32,
    /// One more number ends the last cell.
    begin: Vec<u32>,
}

impl AllCells {
    /// Calls `visit` with the slots of some cells of a row: a bit for each column from `west` on.
    #[inline]
    fn runs(&self, row: i32, west: i32, mut bits: u64, visit: &mut impl FnMut(Range<usize>)) {
        let row = row - self.south;
        if row < 0 || row >= self.rows {
            return;
        }
        let base = (row * self.columns) as usize;
        while bits != 0 {
            let first = bits.trailing_zeros();
            let count = (bits >> first).trailing_ones();
            // Adding at the lowest bit of the run clears it; a run up to the last bit leaves nothing.
            bits &= bits.wrapping_add(1 << first);
            let from = west - self.west + first as i32;
            let begin = from.clamp(0, self.columns) as usize;
            let end = (from + count as i32).clamp(0, self.columns) as usize;
            let slots = self.begin[base + begin] as usize..self.begin[base + end] as usize;
            if !slots.is_empty() {
                visit(slots);
            }
        }
    }

    fn new(keys: &[CellKey]) -> Option<Self> {
        let (first, last) = (keys.first()?.cell(), keys.last()?.cell());
        let west = keys.iter().map(|key| key.cell().0).min()?;
        let east = keys.iter().map(|key| key.cell().0).max()?;
        let columns = i64::from(east) - i64::from(west) + 1;
        let rows = i64::from(last.1) - i64::from(first.1) + 1;
        // Nor is the area known where coordinates do not fit the cells' numbers.
        let far = |i: i32| i.unsigned_abs() > 1 << 30;
        if columns.checked_mul(rows)? > MOST_CELLS
            || [west, east, first.1, last.1].iter().any(|&i| far(i))
        {
            return None;
        }
        let mut begin = vec![0_u32; (columns * rows) as usize + 1];
        for key in keys {
            let (x, y) = key.cell();
            begin[((i64::from(y - first.1)) * columns + i64::from(x - west)) as usize + 1] += 1;
        }
        let mut sum = 0;
        for begin in &mut begin {
            sum += *begin;
            *begin = sum;
        }
        Some(Self {
            south: first.1,
            west,
            rows: rows as i32,
            columns: columns as i32,
            begin,
        })
    }
}

/// The vehicle has a place and a body, as numbers go.
fn makes_sense(v: &VehicleState) -> bool {
    let body = &v.body;
    v.position.is_finite()
        && v.heading.is_finite()
        && [body.length, body.width, body.height]
            .iter()
            .all(|m| m.is_finite() && *m > 0.0)
}

impl Vehicles {
    pub(crate) fn new(frame: &[VehicleState]) -> Self {
        let mut order: Vec<(bool, CellKey, u32)> = Vec::with_capacity(frame.len());
        for (i, v) in frame.iter().enumerate() {
            if makes_sense(v) {
                let long = v.body.length.hypot(v.body.width) * 0.5 > LONGEST_REACH;
                let place = CellKey::new(cell(v.position.x, CELL), cell(v.position.y, CELL));
                order.push((long, place, i as u32));
            }
        }
        order.sort_unstable();
        let mut result = Self {
            slot: vec![NOWHERE; frame.len()],
            long_from: order.partition_point(|&(long, ..)| !long),
            ..Self::default()
        };
        result.keys.reserve_exact(order.len());
        result.boxes.reserve_exact(order.len());
        result.reach.reserve_exact(order.len());
        result.index.reserve_exact(order.len());
        result.outlines.reserve_exact(order.len());
        result.looks_only.reserve_exact(order.len());
        for (slot, &(long, place, i)) in order.iter().enumerate() {
            let v = &frame[i as usize];
            let looks_only = v.body.kind == BodyKind::Roadside;
            let half = Point::new(v.body.length * 0.5, v.body.width * 0.5);
            let reach = half.length();
            result.slot[i as usize] = slot as u32;
            result.keys.push(place);
            result.index.push(i);
            result.reach.push(reach);
            let upright = UprightBox {
                centre: v.position,
                axis: Point::from_heading(v.heading),
                half,
                height: v.body.height,
            };
            result.outlines.push(Outline::new(&upright, reach));
            result.boxes.push(upright);
            if !long {
                result.longest = result.longest.max(reach);
            }
            result.looks_only.push(looks_only);
            if !looks_only {
                result.highest = result.highest.max(v.body.height);
            }
        }
        let mut heights: Vec<f64> = Vec::new();
        for b in &result.boxes {
            // Few heights are the usual case; of many, the greatest are kept.
            let place = heights.partition_point(|&height| height > b.height);
            if heights.get(place) != Some(&b.height) && place + 1 < HEIGHT_CLASSES {
                heights.insert(place, b.height);
                heights.truncate(HEIGHT_CLASSES - 1);
            }
        }
        let class = |b: &UprightBox| heights.partition_point(|&height| height > b.height) as u8;
        result.height_class = result.boxes.iter().map(class).collect();
        result.all_cells = AllCells::new(&result.keys[..result.long_from]);
        result
    }

    /// One slot comes before another in the order of positions: from west to east, then from south to north.
    #[inline]
    pub(crate) fn precedes(&self, slot: usize, other: usize) -> bool {
        let (a, b) = (self.boxes[slot].centre, self.boxes[other].centre);
        a.x < b.x || (a.x == b.x && (a.y < b.y || (a.y == b.y && slot < other)))
    }

    /// How far any footprint reaches from its centre.
    pub(crate) fn longest_reach(&self) -> f64 {
        self.reach[self.long_from..]
            .iter()
            .fold(self.longest, |a, &b| a.max(b))
    }

    /// Calls `visit` with each slot of [`Self::runs_near`].
    #[inline]
    pub(crate) fn near(&self, p: Point, range: f64, visit: impl FnMut(usize)) {
        let mut runs = Vec::new();
        self.runs_near(p, range, &mut runs);
        runs.into_iter().flatten().for_each(visit);
    }

    /// The runs of slots in tiles that are open, and those that are always near. False, and no runs, if slots are not known
    /// by tile.
    pub(crate) fn runs_in_open_tiles(
        &self,
        open: &OpenTiles,
        runs: &mut Vec<Range<usize>>,
    ) -> bool {
        runs.clear();
        let Some(cells) = &self.all_cells else {
            return false;
        };
        if self.longest > TILE_RIM {
            return false;
        }
        for (row, &bits) in (open.south..).zip(&open.rows) {
            cells.runs(row, open.west, bits, &mut |run| runs.push(run));
        }
        runs.push(self.long_from..self.boxes.len());
        true
    }

    /// The runs of slots whose footprint may come within `range` of `p`: all that do, and few others.
    pub(crate) fn runs_near(&self, p: Point, range: f64, runs: &mut Vec<Range<usize>>) {
        let window = Window::around(p, range + self.longest, CELL);
        self.runs_in_window(&window, runs);
    }

    /// As [`Self::runs_near`], for footprints that reach east of `p`.
    pub(crate) fn runs_near_east(&self, p: Point, range: f64, runs: &mut Vec<Range<usize>>) {
        let mut window = Window::around(p, range + self.longest, CELL);
        window.west = cell(p.x - self.longest, CELL);
        self.runs_in_window(&window, runs);
    }

    fn runs_in_window(&self, window: &Window, runs: &mut Vec<Range<usize>>) {
        runs.clear();
        window.runs(&self.keys[..self.long_from], |run| runs.push(run));
        runs.push(self.long_from..self.boxes.len());
    }

    /// Calls `visit` with the slots of each tile within `range` of `p` (and some beyond) that lies in the area of `open` but
    /// is not open itself: buildings hide the vehicles in it entirely.
    #[inline]
    pub(crate) fn in_hidden_tiles(
        &self,
        open: &OpenTiles,
        p: Point,
        range: f64,
        mut visit: impl FnMut(usize),
    ) {
        let Some(cells) = &self.all_cells else {
            return;
        };
        let window = Window::around(p, range, CELL);
        let up_to = |column: i32| {
            let count = (i64::from(column) - i64::from(open.west)).clamp(0, 63);
            (1_u64 << count) - 1
        };
        let columns = up_to(window.east.saturating_add(1)) & !up_to(window.west);
        for (row, &bits) in (open.south..).zip(&open.rows) {
            if row >= window.south && row <= window.north {
                cells.runs(row, open.west, !bits & columns, &mut |run| {
                    run.for_each(&mut visit);
                });
            }
        }
    }
}
