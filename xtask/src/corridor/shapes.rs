//! Points, chains of points and convex shapes in the plane.

use std::ops::{Add, Mul, Sub};

/// A point or vector, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

pub(crate) const fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

impl Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        point(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Point {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        point(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f64> for Point {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        point(self.x * factor, self.y * factor)
    }
}

impl Point {
    pub(crate) fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    pub(crate) fn cross(self, other: Self) -> f64 {
        self.x * other.y - self.y * other.x
    }

    pub(crate) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    pub(crate) fn unit(self) -> Self {
        self * (1.0 / self.length())
    }

    /// Turned left by a right angle.
    pub(crate) fn left(self) -> Self {
        point(-self.y, self.x)
    }

    /// Turned left by `angle` radians.
    pub(crate) fn turned(self, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        point(self.x * cos - self.y * sin, self.x * sin + self.y * cos)
    }
}

/// A chain of points with arc lengths; goes on straight beyond its ends.
pub(crate) struct Chain {
    points: Vec<Point>,
    along: Vec<f64>,
}

impl Chain {
    pub(crate) fn new(points: Vec<Point>) -> Self {
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + (pair[1] - pair[0]).length());
        }
        Self { points, along }
    }

    /// Arc length at the point of number `i`.
    pub(crate) fn along(&self, i: usize) -> f64 {
        self.along[i]
    }

    fn segment(&self, s: f64) -> usize {
        let last = self.points.len() - 2;
        self.along[1..=last].partition_point(|&end| end < s)
    }

    pub(crate) fn at(&self, s: f64) -> Point {
        let i = self.segment(s);
        self.points[i] + self.direction(s) * (s - self.along[i])
    }

    /// The direction at `s`, averaged over some metres so that offset lines are smooth.
    pub(crate) fn smooth_direction(&self, s: f64) -> Point {
        (self.at(s + 6.0) - self.at(s - 6.0)).unit()
    }

    fn direction(&self, s: f64) -> Point {
        let i = self.segment(s);
        (self.points[i + 1] - self.points[i]).unit()
    }
}

/// A smooth curve through all `points` (centripetal Catmull-Rom), sampled `steps` times between each two. The sample
/// of number `steps * i` is point `i`.
pub(crate) fn curve_through(points: &[Point], steps: usize) -> Vec<Point> {
    let n = points.len();
    let mut all = Vec::with_capacity(n + 2);
    all.push(points[0] * 2.0 - points[1]);
    all.extend_from_slice(points);
    all.push(points[n - 1] * 2.0 - points[n - 2]);
    let mut curve = Vec::new();
    for window in all.windows(4) {
        let mut t = [0.0; 4];
        for i in 1..4 {
            t[i] = t[i - 1] + (window[i] - window[i - 1]).length().sqrt();
        }
        let between = |a: Point, b: Point, ta: f64, tb: f64, at: f64| {
            a * ((tb - at) / (tb - ta)) + b * ((at - ta) / (tb - ta))
        };
        for step in 0..steps {
            let at = t[1] + (t[2] - t[1]) * step as f64 / steps as f64;
            let a1 = between(window[0], window[1], t[0], t[1], at);
            let a2 = between(window[1], window[2], t[1], t[2], at);
            let a3 = between(window[2], window[3], t[2], t[3], at);
            let b1 = between(a1, a2, t[0], t[2], at);
            let b2 = between(a2, a3, t[1], t[3], at);
            curve.push(between(b1, b2, t[1], t[2], at));
        }
    }
    curve.push(points[n - 1]);
    curve
}

/// A convex shape, corners counter-clockwise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Convex(Vec<Point>);

impl Convex {
    /// The convex shape with these corners, in either order; `None` if they are not convex or enclose less than 1 m².
    pub(crate) fn new(mut corners: Vec<Point>) -> Option<Self> {
        let n = corners.len();
        if n < 3 {
            return None;
        }
        let area = |corners: &[Point]| {
            (0..n)
                .map(|i| corners[i].cross(corners[(i + 1) % n]))
                .sum::<f64>()
                / 2.0
        };
        // Relative to the first corner: map coordinates are large.
        let origin = corners[0];
        let relative: Vec<Point> = corners.iter().map(|&p| p - origin).collect();
        if area(&relative) < 0.0 {
            corners.reverse();
        }
        if area(&relative).abs() < 1.0 {
            return None;
        }
        let convex = (0..n).all(|i| {
            let (a, b, c) = (corners[i], corners[(i + 1) % n], corners[(i + 2) % n]);
            (b - a).cross(c - b) > -1e-6
        });
        convex.then_some(Self(corners))
    }

    pub(crate) fn corners(&self) -> &[Point] {
        &self.0
    }

    /// The part to the left of the line from `a` towards `a + direction`.
    pub(crate) fn left_of(&self, a: Point, direction: Point) -> Option<Self> {
        let side = |p: Point| direction.cross(p - a);
        let n = self.0.len();
        let mut kept: Vec<Point> = Vec::new();
        for i in 0..n {
            let (p, q) = (self.0[i], self.0[(i + 1) % n]);
            let (sp, sq) = (side(p), side(q));
            if sp >= 0.0 {
                kept.push(p);
            }
            if (sp < 0.0) != (sq < 0.0) {
                kept.push(p + (q - p) * (sp / (sp - sq)));
            }
        }
        kept.dedup_by(|a, b| (*a - *b).length() < 0.05);
        while kept.len() > 1 && (kept[0] - kept[kept.len() - 1]).length() < 0.05 {
            kept.pop();
        }
        Self::new(kept)
    }

    /// The two shapes come nearer to each other than `margin` (by the separating-axis rule; corner to corner it may
    /// say so at up to 1.4 times the margin).
    pub(crate) fn touches(&self, other: &Self, margin: f64) -> bool {
        let apart = |a: &Self, b: &Self| {
            let n = a.0.len();
            (0..n).any(|i| {
                let edge = a.0[(i + 1) % n] - a.0[i];
                if edge.length() < 1e-9 {
                    return false;
                }
                // Outwards, as the corners run counter-clockwise.
                let normal = edge.left().unit() * -1.0;
                let reach = normal.dot(a.0[i]);
                b.0.iter().all(|&p| normal.dot(p) > reach + margin)
            })
        };
        !apart(self, other) && !apart(other, self)
    }

    /// Smallest and largest coordinates.
    pub(crate) fn bounds(&self) -> (Point, Point) {
        let mut low = self.0[0];
        let mut high = self.0[0];
        for p in &self.0 {
            low = point(low.x.min(p.x), low.y.min(p.y));
            high = point(high.x.max(p.x), high.y.max(p.y));
        }
        (low, high)
    }

    /// The area in square metres.
    pub(crate) fn area(&self) -> f64 {
        let origin = self.0[0];
        self.0
            .windows(2)
            .map(|pair| (pair[0] - origin).cross(pair[1] - origin))
            .sum::<f64>()
            / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, size: f64) -> Convex {
        Convex::new(vec![
            point(x, y),
            point(x + size, y),
            point(x + size, y + size),
            point(x, y + size),
        ])
        .unwrap()
    }

    #[test]
    fn shapes_touch_within_the_margin_only() {
        let a = square(0.0, 0.0, 10.0);
        assert!(a.touches(&square(9.0, 9.0, 5.0), 0.0));
        assert!(!a.touches(&square(11.0, 0.0, 5.0), 0.5));
        assert!(a.touches(&square(11.0, 0.0, 5.0), 1.5));
    }

    #[test]
    fn a_cut_keeps_the_left_part() {
        let half = square(0.0, 0.0, 10.0)
            .left_of(point(4.0, 0.0), point(0.0, 1.0))
            .unwrap();
        assert!((half.area() - 40.0).abs() < 1e-9);
        assert!(
            square(5.0, 0.0, 10.0)
                .left_of(point(4.0, 0.0), point(0.0, 1.0))
                .is_none()
        );
    }

    #[test]
    fn the_curve_runs_through_its_points() {
        let points = [point(0.0, 0.0), point(100.0, 10.0), point(150.0, 60.0)];
        let curve = curve_through(&points, 20);
        assert_eq!(curve.len(), 41);
        for (i, &p) in points.iter().enumerate() {
            assert!((curve[20 * i] - p).length() < 1e-9);
        }
    }
}
