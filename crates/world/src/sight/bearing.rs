//! Directions around a sensor, cut into bins.
//!
//! A bearing is a number that grows counter-clockwise like an angle from 0 (south) to 4, but takes one division to find.
//! Bearings only ever choose what is looked at; the exact rule decides.

use crate::geometry::Point;

/// How far bearings are widened: far more than their rounding.
pub(crate) const PAD: f64 = 1e-8;

/// The bearing of a vector, from 0 to 4.
#[inline]
pub(crate) fn bearing(v: Point) -> f64 {
    let share = v.y / (v.x.abs() + v.y.abs());
    (if v.x >= 0.0 { share } else { 2.0 - share }) + 1.0
}

/// The greater of two numbers; `f64::max` would spend more on the case that one is not a number.
#[inline]
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The lesser of two numbers.
#[inline]
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Rounds a number from 1 to 2^31 down, or from a whole number to the next lower one. Any other number gives anything.
///
/// Adding 2^52 leaves the whole part in the last bits; a cast would spend most of its time on numbers that do not occur.
#[inline]
pub(crate) fn whole_part(x: f64) -> usize {
    const SHIFT: f64 = (1_u64 << 52) as f64;
    ((x - 0.5) + SHIFT).to_bits() as u32 as usize
}

/// The bin of a bearing, of `BINS` around the circle; a power of two. On a border, either side will do.
#[inline]
pub(crate) fn bin<const BINS: usize>(bearing: f64) -> usize {
    whole_part((bearing + 4.0) * (BINS as f64 / 4.0)) & (BINS - 1)
}

/// Bounds the widest bin, in radians: bins along the diagonals span twice as much as along the axes.
pub(crate) const fn widest_bin(bins: usize) -> f64 {
    8.0 / bins as f64
}

/// The bins that an interval of bearings touches, and those that it covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BinRange<const BINS: usize> {
    /// First bin that is touched.
    pub first: usize,
    /// How many are touched, from there on counter-clockwise.
    pub touched: usize,
    /// How many of the touched bins at the beginning are not covered to the end.
    pub open_before: usize,
    /// How many of the touched bins at the end are not covered.
    pub open_after: usize,
}

/// The first bin that an interval of bearings touches, and how many it touches from there on counter-clockwise.
#[inline]
pub(crate) fn touched_bins<const BINS: usize>(from: f64, to: f64) -> (usize, usize) {
    let bin = |bearing: f64| whole_part((bearing + 4.0) * (BINS as f64 / 4.0));
    let to = if to < from { to + 4.0 } else { to };
    let first = bin(from - PAD);
    let count = bin(to + PAD) + 1 - first;
    (first & (BINS - 1), count.min(BINS))
}

impl<const BINS: usize> BinRange<BINS> {
    /// All bins, none of them covered.
    pub(crate) const ALL: Self = Self {
        first: 0,
        touched: BINS,
        open_before: BINS,
        open_after: BINS,
    };

    /// From one bearing counter-clockwise to another; less than the full circle. The bearing of a null vector is not a
    /// number and gives all bins.
    #[inline]
    pub(crate) fn new(from: f64, to: f64) -> Self {
        if (from + to).is_nan() {
            return Self::ALL;
        }
        let to = if to < from { to + 4.0 } else { to };
        // Shifted by the circle, so that nothing is negative.
        let bin = |bearing: f64| whole_part((bearing + 4.0) * (BINS as f64 / 4.0));
        let first = bin(from - PAD);
        let last = bin(to + PAD);
        let covered_from = bin(from + PAD) + 1;
        let covered_to = bin(to - PAD);
        let touched = (last + 1 - first).min(BINS);
        Self {
            first: first & (BINS - 1),
            touched,
            open_before: covered_from.wrapping_sub(first).min(touched),
            open_after: (last + 1).wrapping_sub(covered_to).min(touched),
        }
    }
}

/// The two corners of a rectangle along the axes that bound it as seen from the origin, counter-clockwise. The origin must
/// lie outside.
#[inline]
pub(crate) fn silhouette(min: Point, max: Point) -> (Point, Point) {
    // Which corners these are depends on where the rectangle lies: west, across or east, and south, across or north.
    // Bits: first corner at max.x, at max.y; last corner at max.x, at max.y.
    const CORNERS: [u8; 9] = [
        0b01_10, 0b01_11, 0b00_11, // south-west, south, south-east
        0b11_10, 0b00_00, 0b00_01, // west, (around the origin), east
        0b11_00, 0b10_00, 0b10_01, // north-west, north, north-east
    ];
    let column = usize::from(max.x >= 0.0) + usize::from(min.x > 0.0);
    let row = usize::from(max.y >= 0.0) + usize::from(min.y > 0.0);
    let bits = CORNERS[row * 3 + column];
    let pick = |bit: u8, low: f64, high: f64| if bits & bit != 0 { high } else { low };
    (
        Point::new(pick(8, min.x, max.x), pick(4, min.y, max.y)),
        Point::new(pick(2, min.x, max.x), pick(1, min.y, max.y)),
    )
}

/// Unit vectors along the borders of the bins: border `k` lies before bin `k`.
#[derive(Debug, Clone)]
pub(crate) struct Borders<const BINS: usize>(pub Vec<Point>);

impl<const BINS: usize> Default for Borders<BINS> {
    fn default() -> Self {
        let mut borders = vec![Point::default(); BINS + 1];
        for (k, border) in borders.iter_mut().enumerate() {
            let unit = (k % BINS) as f64 * (4.0 / BINS as f64) - 1.0;
            let (x, y) = if unit <= 1.0 {
                (1.0 - unit.abs(), unit)
            } else {
                let y = 2.0 - unit;
                (y.abs() - 1.0, y)
            };
            let v = Point::new(x, y);
            *border = v * (1.0 / v.length());
        }
        Self(borders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: usize = 256;

    #[test]
    fn bearings_grow_counter_clockwise_from_the_south() {
        let mut last = -1.0;
        for i in 0..10_000 {
            let angle =
                f64::from(i) / 10_000.0 * std::f64::consts::TAU - std::f64::consts::FRAC_PI_2;
            let b = bearing(Point::from_heading(angle + 1e-9) * 3.0);
            assert!(b > last && b < 4.0);
            last = b;
        }
    }

    #[test]
    fn borders_lie_between_their_bins() {
        let borders = Borders::<BINS>::default();
        for k in 0..=BINS {
            let border = borders.0[k];
            let nudge = Point::new(-border.y, border.x) * 1e-6;
            assert_eq!(bin::<BINS>(bearing(border + nudge)), k % BINS);
            assert_eq!(bin::<BINS>(bearing(border - nudge)), (k + BINS - 1) % BINS);
            if k > 0 {
                assert!(borders.0[k - 1].cross(border).asin() <= widest_bin(BINS));
            }
        }
    }

    #[test]
    fn a_silhouette_bounds_all_corners() {
        for (x, y) in (0..81).map(|i| (f64::from(i % 9) - 4.5, f64::from(i / 9) - 4.5)) {
            let (min, max) = (Point::new(x, y), Point::new(x + 2.0, y + 1.0));
            if x < 0.0 && max.x > 0.0 && y < 0.0 && max.y > 0.0 {
                continue;
            }
            let (first, last) = silhouette(min, max);
            for corner in [min, max, Point::new(min.x, max.y), Point::new(max.x, min.y)] {
                assert!(first.cross(corner) >= 0.0 && corner.cross(last) >= 0.0);
            }
        }
    }

    #[test]
    fn ranges_touch_and_cover_bins() {
        let check = |from: f64, to: f64, expected: (usize, usize, usize, usize)| {
            let r = BinRange::<BINS>::new(from / 64.0, to / 64.0);
            assert_eq!((r.first, r.touched, r.open_before, r.open_after), expected);
        };
        check(3.5, 6.5, (3, 4, 1, 1));
        check(3.5, 3.6, (3, 1, 1, 1));
        check(3.5, 4.5, (3, 2, 1, 1));
        // On a border, both sides are touched.
        check(3.0, 5.0, (2, 4, 2, 2));
        check(254.5, 1.5, (254, 4, 1, 1));
        check(0.0, 0.5, (255, 2, 2, 1));
        check(255.5, 256.0, (255, 2, 1, 2));
        check(10.5, 10.4, (10, 256, 1, 1));
    }
}
