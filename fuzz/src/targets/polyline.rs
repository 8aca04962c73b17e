//! Polylines of any points: no panic, and distances stay what they claim to be.
//!
//! The input is a sequence of little-endian `f64`: a query point (x, y), an arc length, then the points. What is left
//! over is not read.

use covey_world::{Point, Polyline};

/// Coordinates beyond this (a thousand Earths, in metres) may overflow when squared; then only "no panic" is asked for.
const SANE: f64 = 1e10;

pub(crate) fn run(bytes: &[u8]) {
    let numbers: Vec<f64> = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|chunk| f64::from_le_bytes(*chunk))
        .collect();
    let [x, y, s, coordinates @ ..] = numbers.as_slice() else {
        return;
    };
    let query = Point::new(*x, *y);
    let points: Vec<Point> = coordinates
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&[x, y]| Point::new(x, y))
        .collect();
    let usable = !points.is_empty() && points.iter().all(|point| point.is_finite());
    let Some(line) = Polyline::new(points.clone()) else {
        assert!(!usable, "refused although every point is finite");
        return;
    };
    assert!(
        usable,
        "accepted although there is no point or one is not finite"
    );
    assert_eq!(line.points(), points);
    let _ = (line.point_at(*s), line.heading_at(*s));
    let (along, offset) = line.project(query);

    let sane = |number: &f64| number.abs() <= SANE;
    if !numbers.iter().all(sane) {
        return;
    }
    assert!(line.length() >= 0.0 && line.length().is_finite());
    assert!((-std::f64::consts::PI..=std::f64::consts::PI).contains(&line.heading_at(*s)));
    let tolerance = 1e-6 * (1.0 + line.length());
    assert!(
        along >= 0.0 && along <= line.length() + tolerance,
        "foot {along} beyond {}",
        line.length()
    );
    for point in &points {
        let distance = query.distance(*point);
        assert!(
            offset.abs() <= distance + 1e-9 * (1.0 + distance),
            "nearest at {offset}, but a point at {distance}"
        );
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    vec![
        bytes(&[4.0, 2.0, 12.0, 0.0, 0.0, 10.0, 0.0, 10.0, 5.0]),
        bytes(&[0.0, 0.0, 0.0, 3.0, 4.0]),
        bytes(&[1.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0]),
    ]
}
