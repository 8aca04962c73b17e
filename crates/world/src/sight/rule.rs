//! The exact rule of blocking: one sight line against one box, one wall or one footprint.
//!
//! Everything that decides visibility ends in these functions. The fast path only leaves out tests whose outcome it
//! knows with a margin, so fast and plain answers are the same, bit for bit.
//!
//! Boxes, prisms and sight lines are closed sets: touching blocks.

use super::bearing::{greater, lesser};
use crate::geometry::Point;

/// A straight line of sight from a sensor to a point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SightLine {
    /// Where the sensor stands.
    pub from: Point,
    /// From the sensor to the point, in the plane.
    pub along: Point,
    /// Height of the sensor.
    pub from_height: f64,
    /// Height of the point.
    pub to_height: f64,
}

impl SightLine {
    /// The lowest height over the stretch between two shares of the line.
    fn lowest(&self, first: f64, last: f64) -> f64 {
        let rise = self.to_height - self.from_height;
        let share = if rise < 0.0 { last } else { first };
        self.from_height + rise * share
    }
}

/// An upright box standing on the ground. It fills a line of the processor's cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct UprightBox {
    /// Centre in the plane.
    pub centre: Point,
    /// Unit vector along its length.
    pub axis: Point,
    /// Half of length and width.
    pub half: Point,
    /// From the ground to the roof.
    pub height: f64,
    /// The square of the radius of a circle around the centre that lies well inside the footprint; 0 if there is none.
    pub inner: f64,
}

/// Well inside, in metres: far more than rounding makes of lines that are not longer than [`LONGEST_SURE`].
const INSIDE: f64 = 1e-6;
/// The square of the length up to which lines are judged by a point of theirs.
const LONGEST_SURE: f64 = 1e10;
/// Heights up to which they are, in metres.
pub(crate) const HIGHEST_SURE: f64 = 1e6;

impl UprightBox {
    /// A box that hides things.
    pub(crate) fn new(centre: Point, axis: Point, half: Point, height: f64) -> Self {
        let inner = greater(lesser(half.x, half.y) - INSIDE, 0.0);
        Self {
            centre,
            axis,
            half,
            height,
            inner: inner * inner,
        }
    }
}

/// The line certainly lies over the box's footprint, by [`over_box`]: where it comes nearest to the centre it is well inside. Its length
/// squared is given. One that is not certain may do so too.
#[inline]
pub(crate) fn surely_over_box(
    from: Point,
    along: Point,
    length_squared: f64,
    b: &UprightBox,
) -> bool {
    let to = b.centre - from;
    let (aside, ahead) = (along.cross(to), along.dot(to));
    aside * aside < b.inner * length_squared
        && ahead >= 0.0
        && ahead <= length_squared
        && length_squared < LONGEST_SURE
}

/// The box certainly blocks the line, by [`box_blocks`]; as [`surely_over_box`]. The line's heights must lie below [`HIGHEST_SURE`].
#[inline]
pub(crate) fn surely_blocks(line: &SightLine, length_squared: f64, b: &UprightBox) -> bool {
    let to = b.centre - line.from;
    let (aside, ahead) = (line.along.cross(to), line.along.dot(to));
    let rise = line.to_height - line.from_height;
    // Where it comes nearest, it is below the roof by more than rounding makes of heights.
    let at_height = line.from_height * length_squared + rise * ahead;
    aside * aside < b.inner * length_squared
        && ahead >= 0.0
        && ahead <= length_squared
        && at_height <= (b.height - INSIDE) * length_squared
        && length_squared < LONGEST_SURE
}

/// The stretch of the line (shares of its length) on which a coordinate that starts at `p` and grows by `d` lies within
/// `half` of 0; empty if the first number exceeds the second.
#[inline]
fn within(p: f64, d: f64, half: f64) -> (f64, f64) {
    if d == 0.0 {
        return if p.abs() <= half {
            (0.0, 1.0)
        } else {
            (1.0, 0.0)
        };
    }
    let inverse = 1.0 / d;
    let (middle, reach) = (-p * inverse, half * inverse.abs());
    (middle - reach, middle + reach)
}

/// The stretch of the line (shares of its length) that lies over the box's footprint.
#[inline]
pub(crate) fn over_box(from: Point, along: Point, b: &UprightBox) -> Option<(f64, f64)> {
    let r = from - b.centre;
    let p = Point::new(b.axis.dot(r), b.axis.cross(r));
    let d = Point::new(b.axis.dot(along), b.axis.cross(along));
    // The whole box lies to one side of the line.
    if p.cross(d).abs() > b.half.x * d.y.abs() + b.half.y * d.x.abs() {
        return None;
    }
    let (x, y) = (within(p.x, d.x, b.half.x), within(p.y, d.y, b.half.y));
    let first = greater(greater(x.0, y.0), 0.0);
    let last = lesser(lesser(x.1, y.1), 1.0);
    (first <= last).then_some((first, last))
}

/// The box blocks the line: some point of the line lies over its footprint and not above its roof.
#[inline]
pub(crate) fn box_blocks(line: &SightLine, b: &UprightBox) -> bool {
    over_box(line.from, line.along, b)
        .is_some_and(|(first, last)| line.lowest(first, last) <= b.height)
}

/// One side of a footprint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wall {
    /// Where it begins.
    pub start: Point,
    /// From its beginning to its end; the inside of a simple footprint lies to the left.
    pub along: Point,
}

impl Wall {
    pub(crate) fn end(&self) -> Point {
        self.start + self.along
    }
}

/// The share of the line at which it crosses the wall, seen from either side. A wall that lies in the line itself does
/// not count: its neighbours do.
#[inline]
pub(crate) fn crosses(from: Point, along: Point, wall: &Wall) -> Option<f64> {
    let (start, end) = (wall.start - from, wall.end() - from);
    let (s, e) = (along.cross(start), along.cross(end));
    if (s > 0.0 && e > 0.0) || (s < 0.0 && e < 0.0) || (s == 0.0 && e == 0.0) {
        return None;
    }
    let a = start.cross(wall.along);
    let b = (start - along).cross(wall.along);
    if (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0) || a == b {
        return None;
    }
    Some(a / (a - b))
}

/// The line crosses the wall from its right side, the outside of a simple footprint, to its left.
#[inline]
pub(crate) fn enters(from: Point, along: Point, wall: &Wall) -> bool {
    let start = wall.start - from;
    // Negative where the sensor, and positive where the point, lies on the proper side of the wall.
    let a = start.cross(wall.along);
    let b = (start - along).cross(wall.along);
    if a > 0.0 || b < 0.0 || a == b {
        return false;
    }
    let (s, e) = (along.cross(start), along.cross(wall.end() - from));
    s >= 0.0 && e <= 0.0 && (s > 0.0 || e < 0.0)
}

/// The point lies inside the closed chain of walls, by the even-odd rule.
pub(crate) fn inside(p: Point, walls: &[Wall]) -> bool {
    let mut odd = false;
    for wall in walls {
        let (a, b) = (wall.start, wall.end());
        if (a.y > p.y) != (b.y > p.y) {
            let left = wall.along.cross(p - a) > 0.0;
            odd ^= left == (b.y > a.y);
        }
    }
    odd
}

/// A prism at least as high as both ends of the line blocks it. `from_inside` says that the line begins inside.
#[inline]
pub(crate) fn tall_blocks(
    from: Point,
    along: Point,
    walls: &[Wall],
    simple: bool,
    from_inside: bool,
) -> bool {
    from_inside
        || if simple {
            walls.iter().any(|wall| enters(from, along, wall))
        } else {
            walls
                .iter()
                .any(|wall| crosses(from, along, wall).is_some())
        }
}

/// A prism lower than one of the line's ends blocks it: some point of the line lies over the footprint and not above the
/// roof.
pub(crate) fn low_blocks(line: &SightLine, walls: &[Wall], height: f64) -> bool {
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for wall in walls {
        if let Some(share) = crosses(line.from, line.along, wall) {
            first = first.min(share);
            last = last.max(share);
        }
    }
    if inside(line.from, walls) {
        first = 0.0;
        last = last.max(0.0);
    }
    if inside(line.from + line.along, walls) {
        first = first.min(1.0);
        last = 1.0;
    }
    first <= last && line.lowest(first, last) <= height
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x0: f64, y0: f64, z0: f64, x1: f64, y1: f64, z1: f64) -> SightLine {
        let from = Point::new(x0, y0);
        SightLine {
            from,
            along: Point::new(x1, y1) - from,
            from_height: z0,
            to_height: z1,
        }
    }

    fn square() -> Vec<Wall> {
        let corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        (0..4)
            .map(|i| {
                let ((x, y), (u, v)) = (corners[i], corners[(i + 1) % 4]);
                Wall {
                    start: Point::new(x, y),
                    along: Point::new(u - x, v - y),
                }
            })
            .collect()
    }

    #[test]
    fn a_box_blocks_what_passes_below_its_roof() {
        let b = UprightBox::new(
            Point::new(10.0, 0.0),
            Point::new(0.0, 1.0),
            Point::new(1.0, 2.5),
            1.6,
        );
        // It reaches from x = 7.5 to 12.5; at 12.5 of 50 m the line is at 1.7 - 0.25 * 0.9 = 1.475.
        assert!(box_blocks(&line(0.0, 0.0, 1.7, 50.0, 0.0, 0.8), &b));
        // At 12.5 of 200 m it is at 1.64.
        assert!(!box_blocks(&line(0.0, 0.0, 1.7, 200.0, 0.0, 0.8), &b));
        // Upwards, where it enters counts: at 7.5 of 30 m it is at 1.575, at 7.5 of 20 m at 1.7.
        assert!(box_blocks(&line(0.0, 0.0, 1.5, 30.0, 0.0, 1.8), &b));
        assert!(!box_blocks(&line(0.0, 0.0, 1.5, 20.0, 0.0, 2.0334), &b));
        // Past it, before it, and touching its side.
        assert!(!box_blocks(&line(0.0, 1.1, 1.0, 50.0, 1.1, 0.8), &b));
        assert!(!box_blocks(&line(0.0, 0.0, 1.0, 7.0, 0.0, 0.8), &b));
        assert!(box_blocks(&line(0.0, 1.0, 1.0, 50.0, 1.0, 0.8), &b));
    }

    /// Whatever is certain holds, and most of what holds is certain.
    #[test]
    fn what_is_certain_holds() {
        let unit = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
        let (mut over, mut sure, mut blocked, mut sure_blocked) = (0, 0, 0, 0);
        for i in 0..40_000 {
            let at = |k: u32| unit(16 * i + k);
            let scale = [40.0, 300.0, 40_000.0][i as usize % 3];
            let size = [1.0, 1.0, 1e-6, 30.0][i as usize % 4];
            let from = Point::new(at(0) - 0.5, at(1) - 0.5) * scale + Point::new(3e3, -7e3);
            let mut to = Point::new(at(2) - 0.5, at(3) - 0.5) * scale + Point::new(3e3, -7e3);
            let mut centre = from + (to - from) * (at(4) * 1.1 - 0.05);
            centre = centre + Point::new(at(5) - 0.5, at(6) - 0.5) * 6.0;
            // Some lines begin or end at the centre, or go nowhere.
            match i % 50 {
                0 => to = centre,
                1 => centre = from,
                2 => to = from,
                _ => {}
            }
            let half = Point::new(2.5, 1.0) * size;
            let b = UprightBox::new(centre, Point::from_heading(at(7) * 7.0), half, 1.6);
            let line = SightLine {
                from,
                along: to - from,
                from_height: at(8) * 3.0,
                to_height: at(9) * 3.0,
            };
            let length_squared = line.along.dot(line.along);
            let is_over = over_box(from, line.along, &b).is_some();
            let is_sure = surely_over_box(from, line.along, length_squared, &b);
            assert!(is_over || !is_sure, "{i}");
            let blocks = box_blocks(&line, &b);
            let surely = surely_blocks(&line, length_squared, &b);
            assert!(blocks || !surely, "{i}");
            over += u32::from(is_over);
            sure += u32::from(is_sure);
            blocked += u32::from(blocks);
            sure_blocked += u32::from(surely);
        }
        assert!(over > 8_000 && sure > over / 3, "{over} {sure}");
        assert!(blocked > 3_000 && sure_blocked > blocked / 3);
    }

    #[test]
    fn walls_block_from_outside_only_and_prisms_from_anywhere() {
        let walls = square();
        let (from, to) = (Point::new(-5.0, 5.0), Point::new(5.0, 5.0));
        assert!(enters(from, to - from, &walls[3]));
        assert!(!enters(to, from - to, &walls[3]));
        assert!(tall_blocks(from, to - from, &walls, true, false));
        assert!(tall_blocks(from, to - from, &walls, false, false));
        let short = Point::new(4.9, 0.0);
        assert!(!tall_blocks(from, short, &walls, true, false));
        assert!(!tall_blocks(from, short, &walls, false, false));
        assert!(inside(to, &walls) && !inside(from, &walls));
    }

    #[test]
    fn a_low_prism_blocks_what_passes_below_its_roof() {
        let walls = square();
        // Down from 4 m at x = -10 to 0.5 m at x = 25: 2 m where it leaves at x = 10.
        let down = line(-10.0, 5.0, 4.0, 25.0, 5.0, 0.5);
        assert!(low_blocks(&down, &walls, 2.01));
        assert!(!low_blocks(&down, &walls, 1.99));
        // Upwards, where it enters counts.
        let up = line(25.0, 5.0, 0.5, -10.0, 5.0, 4.0);
        assert!(low_blocks(&up, &walls, 2.01));
        assert!(!low_blocks(&up, &walls, 1.99));
        // Ends inside.
        assert!(low_blocks(
            &line(-10.0, 5.0, 4.0, 5.0, 5.0, 0.5),
            &walls,
            1.0
        ));
        assert!(!low_blocks(
            &line(5.0, 5.0, 4.0, 5.0, 6.0, 1.5),
            &walls,
            1.0
        ));
    }
}
