//! Where to put small labels so that they cover nothing.

use super::super::draw::{Anchor, SMALL, Svg, width};

/// A rectangle: left, top, right, bottom.
pub(super) type Area = [f64; 4];

fn overlap(a: &Area, b: &Area) -> f64 {
    let w = a[2].min(b[2]) - a[0].max(b[0]);
    let h = a[3].min(b[3]) - a[1].max(b[1]);
    if w > 0.0 && h > 0.0 { w * h } else { 0.0 }
}

/// The area around a point.
pub(super) fn around((x, y): (f64, f64), dx: f64, dy: f64) -> Area {
    [x - dx, y - dy, x + dx, y + dy]
}

/// Small areas along a line, to keep labels off it.
pub(super) fn along(from: (f64, f64), to: (f64, f64)) -> Vec<Area> {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let pieces = (length / 6.0).ceil().clamp(1.0, 200.0) as usize;
    (0..=pieces)
        .map(|i| {
            let share = i as f64 / pieces as f64;
            let x = from.0 + share * (to.0 - from.0);
            let y = from.1 + share * (to.1 - from.1);
            around((x, y), 2.0, 2.0)
        })
        .collect()
}

/// Writes each label beside its point, within `bounds`, where it covers least of `taken` and of the labels before it.
pub(super) fn place(
    svg: &mut Svg,
    bounds: Area,
    mut taken: Vec<Area>,
    labels: &[((f64, f64), String)],
) {
    const WAYS: [(f64, f64); 8] = [
        (1.0, -0.7),
        (1.0, 0.7),
        (-1.0, -0.7),
        (-1.0, 0.7),
        (0.0, -1.0),
        (0.0, 1.0),
        (1.0, 0.0),
        (-1.0, 0.0),
    ];
    for ((x, y), text) in labels {
        let (w, h) = (width(text, SMALL), SMALL);
        let mut best: Option<(f64, Area)> = None;
        for distance in [7.0, 11.0, 16.0, 22.0] {
            for (dx, dy) in WAYS {
                let middle = (x + dx * (distance + w / 2.0), y + dy * (distance + h / 2.0));
                let area = around(middle, w / 2.0 + 1.0, h / 2.0);
                let covered: f64 = taken.iter().map(|other| overlap(&area, other)).sum();
                let whole = (area[2] - area[0]) * (area[3] - area[1]);
                let outside = whole - overlap(&area, &bounds);
                let cost = covered + 20.0 * outside + 0.4 * distance;
                if best.is_none_or(|(least, _)| cost < least - 1e-9) {
                    best = Some((cost, area));
                }
            }
        }
        if let Some((_, area)) = best {
            svg.text((area[0] + 1.0, area[3] - 2.0), Anchor::Start, SMALL, text);
            taken.push(area);
        }
    }
}
