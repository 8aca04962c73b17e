//! Who receives: the hot end of the channel.
//!
//! A simulation draws some hundred million receptions per run, so everything that does not depend
//! on the load is folded into [`PairLink`] beforehand and everything that does not depend on the
//! link into [`CollisionRow`]; what is left per reception is two loads, an interpolation and a
//! comparison. Arithmetic is `f32` throughout, in the same order in the scalar and the lane form,
//! so both give the same answers bit by bit.

use wide::f32x4;

use crate::tables::DISTANCES_M;

/// Distances at which collision rows have values.
const KNOTS: usize = DISTANCES_M.len();

/// How many policies [`LaneReception`] draws for at once.
pub const LANES: usize = 16;

/// Lanes of a register.
const FOUR: usize = 4;

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
    #[inline]
    pub fn new(distance_m: f64, success: f64) -> Self {
        let clamped = distance_m.clamp(DISTANCES_M[0], DISTANCES_M[KNOTS - 1]);
        let knot = knot_below(clamped);
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

/// All knots but the first are multiples of this many metres.
const APART_M: f64 = 25.0;

/// By multiple of [`APART_M`]: the last knot but one that is not beyond it, or the first.
const BELOW: [u8; 21] = {
    let mut below = [0; 21];
    let mut multiple = 0;
    while multiple < below.len() {
        let mut knot = 0;
        while knot + 2 < KNOTS && DISTANCES_M[knot + 1] <= multiple as f64 * APART_M {
            knot += 1;
        }
        below[multiple] = knot as u8;
        multiple += 1;
    }
    below
};

/// The last knot but one that is not beyond a distance, or the first.
#[inline]
fn knot_below(distance_m: f64) -> usize {
    let multiple = (distance_m * (1.0 / APART_M)) as usize;
    let knot = usize::from(BELOW[multiple.min(BELOW.len() - 1)]);
    // The product is rounded: it may lie on the other side of a knot.
    if DISTANCES_M[knot] > distance_m {
        knot.saturating_sub(1)
    } else if knot + 2 < KNOTS && DISTANCES_M[knot + 1] <= distance_m {
        knot + 1
    } else {
        knot
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
        match self.lanes {
            0..=FOUR => self.draw_first::<1, V>(receivers, links, units, received),
            5..=8 => self.draw_first::<2, V>(receivers, links, units, received),
            _ => self.draw_first::<{ LANES / FOUR }, V>(receivers, links, units, received),
        }
    }

    /// The same for so many times four lanes: as many at a time as fit into a register of any processor.
    fn draw_first<const FOURS: usize, V: Number>(
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
            let fours = |lanes: &[f32; LANES], at: usize| f32x4::new(lanes.as_chunks().0[at]);
            let listening = &self.listening[receiver];
            let unit = f32x4::splat(*unit);
            let success = f32x4::splat(link.success);
            let [this, other] = [1.0 - link.weight, link.weight].map(f32x4::splat);
            let mut bits = 0;
            for at in 0..FOURS {
                // As `delivery` has it.
                let p = (fours(near, at) * this + fours(far, at) * other)
                    * success
                    * fours(listening, at);
                bits |= unit.simd_lt(p).to_bitmask() << (FOUR * at);
            }
            *received = bits as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knots_are_found_on_either_side_of_every_border() {
        let search = |d: f64| DISTANCES_M[1..KNOTS - 1].partition_point(|knot| *knot <= d);
        for tenth in 0..6_000 {
            let at = f64::from(tenth) * 0.1;
            for d in [at, at.next_down(), at.next_up()] {
                assert_eq!(knot_below(d), search(d), "{d}");
            }
        }
        for d in DISTANCES_M {
            for d in [d, d.next_down(), d.next_up()] {
                assert_eq!(knot_below(d), search(d), "{d}");
            }
        }
        for d in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(knot_below(d), search(d), "{d}");
        }
    }
}
