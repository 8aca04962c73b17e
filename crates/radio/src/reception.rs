//! Who receives: the hot end of the channel.
//!
//! A simulation draws some hundred million receptions per run, so everything that does not depend
//! on the load is folded into [`PairLink`] beforehand and everything that does not depend on the
//! link into [`CollisionRow`]; what is left per reception is two loads, an interpolation and a
//! comparison. Arithmetic is `f32` throughout, in the same order in the scalar and the lane form,
//! so both give the same answers bit by bit.

use crate::tables::DISTANCES_M;

/// Distances at which collision rows have values.
const KNOTS: usize = DISTANCES_M.len();

/// How many policies [`LaneReception`] draws for at once.
pub const LANES: usize = 16;

/// One unordered pair's link for 100 ms, whatever is sent over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLink {
    /// Distance, m.
    pub distance_m: f32,
    /// Chance that a block is decoded where nothing collides: 1 - BLER, 0 out of range.
    pub success: f32,
    /// Where the distance lies between its two knots of a collision row, 0 to 1.
    weight: f32,
    /// Index of the lower knot.
    knot: u32,
}

impl PairLink {
    /// A link over which nothing arrives.
    pub const LOST: Self = Self {
        distance_m: f32::INFINITY,
        success: 0.0,
        weight: 0.0,
        knot: 0,
    };

    /// A link over this distance on which a block is decoded with probability `success` where nothing collides.
    pub fn new(distance_m: f64, success: f64) -> Self {
        let clamped = distance_m.clamp(DISTANCES_M[0], DISTANCES_M[KNOTS - 1]);
        let knot = DISTANCES_M[1..KNOTS - 1].partition_point(|d| *d <= clamped);
        let weight = (clamped - DISTANCES_M[knot]) / (DISTANCES_M[knot + 1] - DISTANCES_M[knot]);
        Self {
            distance_m: distance_m as f32,
            success: success as f32,
            weight: weight as f32,
            knot: knot as u32,
        }
    }

    /// Delivery probability where the receiver's tile has this collision row and the receiver
    /// listens with probability `listening` (1 less half-duplex loss).
    #[inline]
    pub fn delivery(&self, row: &CollisionRow, listening: f32) -> f32 {
        let [near, far] = [row.0[self.knot()], row.0[self.knot() + 1]];
        delivery(self.success, self.weight, near, far, listening)
    }

    #[inline]
    fn knot(&self) -> usize {
        // The bound is invariant; stating it spares the checks below.
        (self.knot as usize).min(KNOTS - 2)
    }
}

#[inline(always)]
fn delivery(success: f32, weight: f32, near: f32, far: f32, listening: f32) -> f32 {
    // Sums and products of non-negative numbers keep their order under rounding: no input can
    // grow and the result shrink.
    (near * (1.0 - weight) + far * weight) * success * listening
}

/// Collision survival over distance at one load.
#[derive(Clone, Debug, PartialEq)]
pub struct CollisionRow([f32; KNOTS]);

impl CollisionRow {
    pub(crate) fn new(survival: [f64; KNOTS]) -> Self {
        Self(survival.map(|share| share as f32))
    }
}

/// Collision rows of up to [`LANES`] policies in one tile, side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneRow([[f32; LANES]; KNOTS]);

impl LaneRow {
    /// No policy hears anything yet.
    pub const DEAF: Self = Self([[0.0; LANES]; KNOTS]);

    /// Sets one policy's row. Lanes from [`LANES`] on do not exist and are ignored.
    pub fn set(&mut self, lane: usize, row: &CollisionRow) {
        for (lanes, survival) in self.0.iter_mut().zip(row.0) {
            if let Some(slot) = lanes.get_mut(lane) {
                *slot = survival;
            }
        }
    }
}

/// A number of a vehicle or a tile by which arrays go: plain, or a type of the caller's own.
pub trait Number: Copy {
    /// As an index.
    fn index(self) -> usize;
}

impl Number for u32 {
    #[inline]
    fn index(self) -> usize {
        self as usize
    }
}

/// The receiving side of one policy in one step.
#[derive(Clone, Copy, Debug)]
pub struct Reception<'a, T = u32> {
    /// Collision row by tile.
    pub rows: &'a [CollisionRow],
    /// Tile by vehicle.
    pub tile_of: &'a [T],
    /// Probability of listening by vehicle: 1 less half-duplex loss.
    pub listening: &'a [f32],
}

impl<T: Number> Reception<'_, T> {
    /// Draws which of the receivers get one message.
    ///
    /// `links` and `units` (from [`Draws::fill_units`](covey_draws::Draws::fill_units)) go with
    /// `receivers` one by one; `received` is written as far as all of them reach.
    ///
    /// # Panics
    /// If a receiver or its tile has no entry.
    pub fn draw<V: Number>(
        &self,
        receivers: &[V],
        links: &[PairLink],
        units: &[f32],
        received: &mut [bool],
    ) {
        for (((received, receiver), link), unit) in
            received.iter_mut().zip(receivers).zip(links).zip(units)
        {
            let receiver = receiver.index();
            let row = &self.rows[self.tile_of[receiver].index()];
            *received = *unit < link.delivery(row, self.listening[receiver]);
        }
    }
}

/// The receiving side of up to [`LANES`] policies in one step.
#[derive(Clone, Copy, Debug)]
pub struct LaneReception<'a, T = u32> {
    /// Collision rows by tile.
    pub rows: &'a [LaneRow],
    /// Tile by vehicle.
    pub tile_of: &'a [T],
    /// Probability of listening by vehicle and lane.
    pub listening: &'a [[f32; LANES]],
    /// How many lanes are in use, the first ones: what is drawn in the others is of no use to anybody.
    pub lanes: usize,
}

impl<T: Number> LaneReception<'_, T> {
    /// Draws which of the receivers get one message, bit `n` of `received` for the policy in lane
    /// `n`; otherwise as [`Reception::draw`].
    ///
    /// # Panics
    /// If a receiver or its tile has no entry.
    pub fn draw<V: Number>(
        &self,
        receivers: &[V],
        links: &[PairLink],
        units: &[f32],
        received: &mut [u16],
    ) {
        // As many at a time as fit into a register of any processor.
        match self.lanes {
            0..=4 => self.draw_first::<4, V>(receivers, links, units, received),
            5..=8 => self.draw_first::<8, V>(receivers, links, units, received),
            _ => self.draw_first::<LANES, V>(receivers, links, units, received),
        }
    }

    /// The same for so many lanes.
    fn draw_first<const COUNT: usize, V: Number>(
        &self,
        receivers: &[V],
        links: &[PairLink],
        units: &[f32],
        received: &mut [u16],
    ) {
        for (((received, receiver), link), unit) in
            received.iter_mut().zip(receivers).zip(links).zip(units)
        {
            let receiver = receiver.index();
            let rows = &self.rows[self.tile_of[receiver].index()].0;
            let [near, far] = [&rows[link.knot()], &rows[link.knot() + 1]];
            let listening = &self.listening[receiver];
            let mut bits = 0;
            for lane in 0..COUNT {
                let p = delivery(
                    link.success,
                    link.weight,
                    near[lane],
                    far[lane],
                    listening[lane],
                );
                bits |= u16::from(*unit < p) << lane;
            }
            *received = bits;
        }
    }
}
