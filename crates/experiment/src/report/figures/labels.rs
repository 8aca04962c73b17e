//! Where to put small labels so that they cover nothing.

use super::super::draw::{Anchor, Paint, SMALL, Stroke, Svg, width};

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

/// A text that belongs to a point.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) at: (f64, f64),
    pub(super) text: String,
    /// It may stand farther off, with a line to its point.
    pub(super) leads: bool,
}

/// What a label may cover of marks and lines, in square units: the touch of a corner.
const TOUCH: f64 = 3.0;

/// Writes each label beside its point, within `bounds`, where it covers nothing of `taken` and no label before it. Which found a
/// place, by number: the others are not written.
pub(super) fn place(
    svg: &mut Svg,
    bounds: Area,
    mut taken: Vec<Area>,
    labels: &[Label],
) -> Vec<bool> {
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
    let mut placed = Vec::new();
    for label in labels {
        let (x, y) = label.at;
        let (w, h) = (width(&label.text, SMALL), SMALL);
        let near: &[f64] = &[7.0, 11.0, 16.0, 22.0];
        let far: &[f64] = &[7.0, 11.0, 16.0, 22.0, 30.0, 40.0, 52.0, 66.0, 82.0];
        let mut best: Option<(f64, f64, Area)> = None;
        for &distance in if label.leads { far } else { near } {
            for (dx, dy) in WAYS {
                let middle = (x + dx * (distance + w / 2.0), y + dy * (distance + h / 2.0));
                let area = around(middle, w / 2.0 + 1.0, h / 2.0);
                let covered: f64 = taken.iter().map(|other| overlap(&area, other)).sum();
                let whole = (area[2] - area[0]) * (area[3] - area[1]);
                let outside = whole - overlap(&area, &bounds);
                let cost = covered + 20.0 * outside;
                let better = best
                    .is_none_or(|(least, far, _)| cost + 0.4 * distance < least + 0.4 * far - 1e-9);
                if better {
                    best = Some((cost, distance, area));
                }
            }
        }
        let found = best.filter(|(cost, _, _)| *cost <= TOUCH);
        placed.push(found.is_some());
        let Some((_, distance, area)) = found else {
            continue;
        };
        if distance > 12.0 {
            let end = (x.clamp(area[0], area[2]), y.clamp(area[1], area[3]));
            svg.line((x, y), end, Stroke::solid(Paint::MUTED, 0.7));
        }
        let at = (area[0] + 1.0, area[3] - 2.0);
        svg.text(at, Anchor::Start, SMALL, &label.text);
        taken.push(area);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_cover_each_other_or_a_mark() {
        let mut svg = Svg::new(400.0, 300.0);
        let spots: Vec<(f64, f64)> = (0..12)
            .map(|i| (150.0 + 9.0 * f64::from(i), 150.0 + 7.0 * f64::from(i % 4)))
            .collect();
        let taken: Vec<Area> = spots.iter().map(|&at| around(at, 6.0, 6.0)).collect();
        let labels: Vec<Label> = spots
            .iter()
            .map(|&at| Label {
                at,
                text: format!("arm {}", at.0),
                leads: true,
            })
            .collect();
        let placed = place(&mut svg, [0.0, 0.0, 400.0, 300.0], taken, &labels);
        assert_eq!(placed.len(), 12);
        assert!(placed.iter().filter(|&&p| p).count() >= 6, "{placed:?}");
        // A point in a crowd too dense for any text has none.
        let full = vec![[0.0, 0.0, 400.0, 300.0]];
        let placed = place(&mut svg, [0.0, 0.0, 400.0, 300.0], full, &labels[..1]);
        assert_eq!(placed, [false]);
    }
}
