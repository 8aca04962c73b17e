//! The bins of bearing that a box touches as seen from a point, and how far away it is.

use super::bearing::{PAD, bearing, greater, silhouette, touched_bins};
use super::rule::UprightBox;
use crate::geometry::Point;

/// Distances are taken a little shorter, or longer, than they come out, by far more than their rounding.
pub(crate) const MARGIN: f64 = 1e-9;
/// A box whose centre is farther away than this many times its reach is bounded, not measured.
const FAR: f64 = 4.0;

/// Where a box lies as seen from a point, at least.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sector {
    /// The first bin that it touches.
    pub first: usize,
    /// How many it touches, from there on counter-clockwise.
    pub count: usize,
    /// No point of it is nearer.
    pub near: f64,
    /// No point of it is farther away.
    pub far: f64,
}

impl Sector {
    /// Looks at a box whose centre lies `away`, at the bearing `centre`, and whose corners are `reach` from the centre.
    #[inline]
    pub(crate) fn new<const BINS: usize>(
        b: &UprightBox,
        reach: f64,
        away: Point,
        distance: f64,
        centre: f64,
    ) -> Self {
        if distance <= FAR * reach {
            return Self::measured::<BINS>(b, away);
        }
        let middle = Point::new(b.axis.dot(away).abs(), b.axis.cross(away).abs());
        // Corners lie no farther than this beside the line to the centre, times the distance; the angle between is less
        // than its tangent.
        let beside = b.half.x * middle.y + b.half.y * middle.x;
        let near = distance - reach;
        let angle = beside / (distance * near);
        // A bearing grows with the angle by this much here, and that changes by twice as much over an angle at most, so by
        // a factor of less than 1 + 3 angle over a third.
        let sum = away.x.abs() + away.y.abs();
        let slope = distance * distance / (sum * sum);
        let half = angle * slope * (1.0 + 3.0 * angle) + PAD;
        let (first, count) = touched_bins::<BINS>(centre - half, centre + half);
        Self {
            first,
            count,
            near: near * (1.0 - MARGIN),
            far: (distance + reach) * (1.0 + MARGIN),
        }
    }

    /// As [`Self::new`], as close as it gets.
    fn measured<const BINS: usize>(b: &UprightBox, away: Point) -> Self {
        // The footprint in the vehicle's own axes, as seen from the point.
        let middle = Point::new(b.axis.dot(away), b.axis.cross(away));
        let (min, max) = (middle - b.half, middle + b.half);
        let gap = Point::new(
            greater(greater(min.x, -max.x), 0.0),
            greater(greater(min.y, -max.y), 0.0),
        );
        let far = Point::new(greater(max.x, -min.x), greater(max.y, -min.y));
        let near = gap.dot(gap);
        let (first, count) = if near > 0.0 {
            let (first, last) = silhouette(min, max);
            let turn = |p: Point| {
                Point::new(
                    p.x * b.axis.x - p.y * b.axis.y,
                    p.x * b.axis.y + p.y * b.axis.x,
                )
            };
            touched_bins::<BINS>(bearing(turn(first)), bearing(turn(last)))
        } else {
            (0, BINS)
        };
        Self {
            first,
            count,
            near: near.sqrt() * (1.0 - MARGIN),
            far: far.dot(far).sqrt() * (1.0 + MARGIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_holds_all_corners_at_any_distance() {
        const BINS: usize = 512;
        for i in 0..4_000 {
            let turn = f64::from(i);
            let b = UprightBox {
                centre: Point::default(),
                axis: Point::from_heading(turn * 0.37),
                half: Point::new(0.5 + turn % 7.0, 1.0),
                height: 1.0,
            };
            let reach = b.half.length();
            let distance = reach * (1.1 + turn % 13.0 * 0.9);
            let away = Point::from_heading(turn * 0.011) * distance;
            let sector = Sector::new::<BINS>(&b, reach, away, distance, bearing(away));
            for corner in super::super::plain::corners(b.axis, b.half) {
                let p = away + corner;
                let at = super::super::bearing::bin::<BINS>(bearing(p));
                assert!((at + BINS - sector.first) % BINS < sector.count, "{i}");
                assert!(p.length() >= sector.near && p.length() <= sector.far);
            }
        }
    }
}
