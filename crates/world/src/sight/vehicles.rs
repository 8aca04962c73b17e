//! The vehicles of one instant, sorted into a grid so that those near a point lie in few contiguous runs.

use super::lookup::{CellKey, Window, cell};
use super::rule::UprightBox;
use crate::geometry::Point;
use crate::scene::VehicleState;

/// Side of a cell of the vehicle grid, in metres.
const CELL: f64 = 50.0;
/// Vehicles whose footprint reaches further than this from its centre are looked at always, in metres.
pub(crate) const LONGEST_REACH: f64 = 30.0;

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
    /// The caller's index by slot.
    pub index: Vec<u32>,
    /// The slot by the caller's index; [`NOWHERE`] for vehicles that have no place or body.
    pub slot: Vec<u32>,
    /// Slots from here on are not in the grid but always near.
    long_from: usize,
    /// The longest reach within the grid.
    longest: f64,
    /// The highest roof.
    pub highest: f64,
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
        for (slot, &(long, place, i)) in order.iter().enumerate() {
            let v = &frame[i as usize];
            let half = Point::new(v.body.length * 0.5, v.body.width * 0.5);
            let reach = half.length();
            result.slot[i as usize] = slot as u32;
            result.keys.push(place);
            result.index.push(i);
            result.reach.push(reach);
            result.boxes.push(UprightBox {
                centre: v.position,
                axis: Point::from_heading(v.heading),
                half,
                height: v.body.height,
            });
            if !long {
                result.longest = result.longest.max(reach);
            }
            result.highest = result.highest.max(v.body.height);
        }
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

    /// Calls `visit` with each slot whose footprint may come within `range` of `p`: all that do, and few others.
    #[inline]
    pub(crate) fn near(&self, p: Point, range: f64, visit: impl FnMut(usize)) {
        let window = Window::around(p, range + self.longest, CELL);
        self.in_window(&window, visit);
    }

    /// As [`Self::near`], for footprints that reach east of `p`.
    #[inline]
    pub(crate) fn near_east(&self, p: Point, range: f64, visit: impl FnMut(usize)) {
        let mut window = Window::around(p, range + self.longest, CELL);
        window.west = cell(p.x - self.longest, CELL);
        self.in_window(&window, visit);
    }

    #[inline]
    fn in_window(&self, window: &Window, mut visit: impl FnMut(usize)) {
        window.runs(&self.keys[..self.long_from], |run| {
            run.for_each(&mut visit);
        });
        for slot in self.long_from..self.boxes.len() {
            visit(slot);
        }
    }
}
