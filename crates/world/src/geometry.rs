//! Points and polylines in the map plane.

use std::ops::{Add, Mul, Sub};

/// A point or vector in the map plane, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// East, in metres.
    pub x: f64,
    /// North, in metres.
    pub y: f64,
}

impl Point {
    /// A point from its coordinates.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The scalar product with `other`.
    #[must_use]
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// The z component of the vector product with `other`; positive where `other` lies to the left.
    #[must_use]
    pub fn cross(self, other: Self) -> f64 {
        self.x * other.y - self.y * other.x
    }

    /// Distance from the origin, in metres.
    #[must_use]
    pub fn length(self) -> f64 {
        self.x.hypot(self.y)
    }

    /// Distance to `other`, in metres.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        (self - other).length()
    }

    /// The unit vector in direction `heading` (radians, counter-clockwise from +x).
    #[must_use]
    pub fn from_heading(heading: f64) -> Self {
        let (sin, cos) = heading.sin_cos();
        Self::new(cos, sin)
    }

    /// Both coordinates are finite numbers.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

impl Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Point {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f64> for Point {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }
}

/// A chain of points with arc lengths.
///
/// It has at least one point; a chain of one point (SUMO writes internal lanes of zero length) has length 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyline {
    points: Vec<Point>,
    /// Arc length from the first point to each point, in metres.
    along: Vec<f64>,
}

impl Polyline {
    /// A polyline through `points`, or `None` if there is none or one is not finite.
    #[must_use]
    pub fn new(points: Vec<Point>) -> Option<Self> {
        if points.is_empty() || !points.iter().all(|p| p.is_finite()) {
            return None;
        }
        let mut along = Vec::with_capacity(points.len());
        let mut s = 0.0;
        along.push(0.0);
        for pair in points.windows(2) {
            s += pair[0].distance(pair[1]);
            along.push(s);
        }
        Some(Self { points, along })
    }

    /// Its corners in order, both ends included.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The arc length of the whole chain, in metres.
    #[must_use]
    pub fn length(&self) -> f64 {
        *self.along.last().unwrap_or(&0.0)
    }

    /// The segment that holds arc length `s`, and the share of it that lies before `s` (below 0 or above 1 past the ends).
    fn locate(&self, s: f64) -> Option<(usize, f64)> {
        if self.points.len() < 2 {
            return None;
        }
        let last = self.points.len() - 2;
        let segment = self.along[1..=last].partition_point(|&end| end < s);
        let length = self.along[segment + 1] - self.along[segment];
        let share = if length > 0.0 {
            (s - self.along[segment]) / length
        } else {
            0.0
        };
        Some((segment, share))
    }

    /// The point at arc length `s`; the first and last segments go on straight beyond the ends.
    #[must_use]
    pub fn point_at(&self, s: f64) -> Point {
        match self.locate(s) {
            None => self.points[0],
            Some((i, share)) => self.points[i] + (self.points[i + 1] - self.points[i]) * share,
        }
    }

    /// The direction of travel at arc length `s`, in radians counter-clockwise from +x; 0 for a single point.
    #[must_use]
    pub fn heading_at(&self, s: f64) -> f64 {
        match self.locate(s) {
            None => 0.0,
            Some((i, _)) => {
                let d = self.points[i + 1] - self.points[i];
                d.y.atan2(d.x)
            }
        }
    }

    /// The arc length of the point of the chain nearest to `p`, and the signed distance to it (positive to the left).
    #[must_use]
    pub fn project(&self, p: Point) -> (f64, f64) {
        let mut best = (0.0, p.distance(self.points[0]));
        for (i, pair) in self.points.windows(2).enumerate() {
            let d = pair[1] - pair[0];
            let squared = d.dot(d);
            let share = if squared > 0.0 {
                ((p - pair[0]).dot(d) / squared).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let foot = pair[0] + d * share;
            let distance = p.distance(foot);
            if distance < best.1.abs() {
                let side = if d.cross(p - pair[0]) < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                best = (self.along[i] + share * squared.sqrt(), side * distance);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_is_followed_by_arc_length() {
        let line = Polyline::new(vec![
            Point::new(0.0, 0.0),
            Point::new(10.0, 0.0),
            Point::new(10.0, 5.0),
        ])
        .unwrap();
        assert_eq!(line.length(), 15.0);
        assert_eq!(line.point_at(12.0), Point::new(10.0, 2.0));
        assert_eq!(line.point_at(-1.0), Point::new(-1.0, 0.0));
        assert_eq!(line.point_at(16.0), Point::new(10.0, 6.0));
        assert_eq!(line.heading_at(12.0), std::f64::consts::FRAC_PI_2);
        assert_eq!(line.project(Point::new(4.0, 2.0)), (4.0, 2.0));
        assert_eq!(line.project(Point::new(11.0, 3.0)), (13.0, -1.0));
    }

    #[test]
    fn a_single_point_has_no_length() {
        let line = Polyline::new(vec![Point::new(3.0, 4.0)]).unwrap();
        assert_eq!(line.length(), 0.0);
        assert_eq!(line.point_at(2.0), Point::new(3.0, 4.0));
        assert!(Polyline::new(vec![]).is_none());
        assert!(Polyline::new(vec![Point::new(f64::NAN, 0.0)]).is_none());
    }
}
