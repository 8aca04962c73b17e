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

/// What a vehicle is to lines between others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing that can stand in between is higher.
    Highest,
    /// Others are higher.
    Lower,
    /// It looks and has links, hides nothing and is not seen.
    LooksOnly,
}

/// Where a vehicle stands in the sorted arrays, or nowhere.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The vehicles of one instant by slot: sorted by grid row, then column, then position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vehicles {
    /// Grid cell of each slot, ascending over the slots in the grid.
    keys: Vec<CellKey>,
    /// The boxes by slot.
    pub boxes: Vec<UprightBox>,
    /// Their centres once more, close together.
    pub centres: Vec<Point>,
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
    /// The highest roof that is lower than [`Self::highest`]; 0 if there is none.
    pub second_highest: f64,
    /// By slot.
    pub roles: Vec<Role>,
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
    /// By row: a bit for each column, set if somebody stands there, in so many words.
    occupied: Vec<u64>,
    words: usize,
}

impl AllCells {
    /// Calls `visit` with the slots of some cells of a row, where there are any: a bit for each column from `west` on.
    #[inline]
    fn runs(&self, row: i32, west: i32, bits: u64, visit: &mut impl FnMut(Range<usize>)) {
        let row = row - self.south;
        if row < 0 || row >= self.rows {
            return;
        }
        let west = west - self.west;
        let mut bits = bits & self.occupied_from(row as usize, west);
        let base = row * self.columns + west;
        while bits != 0 {
            let first = bits.trailing_zeros();
            let count = (bits >> first).trailing_ones();
            // Adding at the lowest bit of the run clears it; a run up to the last bit leaves nothing.
            bits &= bits.wrapping_add(1 << first);
            let begin = (base + first as i32) as usize;
            let slots = self.begin[begin] as usize..self.begin[begin + count as usize] as usize;
            visit(slots);
        }
    }

    /// A bit for each of 64 columns of a row, set if somebody stands there.
    #[inline]
    fn occupied_from(&self, row: usize, column: i32) -> u64 {
        let words = &self.occupied[row * self.words..][..self.words];
        let (word, shift) = (column >> 6, column & 63);
        let at = |word: i32| words.get(word as usize).copied().unwrap_or(0);
        // Shifted in two steps, so that none is as wide as the word.
        at(word) >> shift | at(word.wrapping_add(1)) << (63 - shift) << 1
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
        let words = (columns as usize).div_ceil(64);
        let mut occupied = vec![0; words * rows as usize];
        for key in keys {
            let (x, y) = key.cell();
            let (row, column) = ((y - first.1) as usize, (x - west) as usize);
            begin[row * columns as usize + column + 1] += 1;
            occupied[row * words + column / 64] |= 1_u64 << (column % 64);
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
            occupied,
            words,
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
                let (length, width) = (v.body.length * 0.5, v.body.width * 0.5);
                let long = length * length + width * width > LONGEST_REACH * LONGEST_REACH;
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
        result.centres.reserve_exact(order.len());
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
            let axis = Point::from_heading(v.heading);
            let mut upright = UprightBox::new(v.position, axis, half, v.body.height);
            if looks_only {
                upright.inner = 0.0;
            }
            result.outlines.push(Outline::new(&upright, reach));
            result.boxes.push(upright);
            result.centres.push(v.position);
            if !long {
                result.longest = result.longest.max(reach);
            }
            result.looks_only.push(looks_only);
            if !looks_only {
                result.highest = result.highest.max(v.body.height);
            }
        }
        result.assign_roles();
        result.all_cells = AllCells::new(&result.keys[..result.long_from]);
        result
    }

    fn assign_roles(&mut self) {
        let highest = self.highest;
        let bodies = self.boxes.iter().zip(&self.looks_only);
        let roles = bodies.map(|(body, &looks_only)| {
            if looks_only {
                Role::LooksOnly
            } else if body.height < highest {
                Role::Lower
            } else {
                Role::Highest
            }
        });
        self.roles = roles.collect();
        let lower = self.boxes.iter().zip(&self.roles);
        let lower = lower.filter(|&(_, &role)| role == Role::Lower);
        self.second_highest = lower.fold(0.0, |top, (body, _)| f64::max(top, body.height));
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
            cells.runs(row, open.west, bits, &mut |run| match runs.last_mut() {
                // Between them lie only cells where nobody stands.
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            });
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
