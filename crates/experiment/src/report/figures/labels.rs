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
/// Beyond this distance a label is tied to its point by a line.
const TIED: f64 = 12.0;
/// A line to a label begins so far from the point: at the edge of its mark.
const MARK: f64 = 6.0;
/// As many units of distance as it is worth not to lead a line over the mark of another.
const OVER_A_MARK: f64 = 30.0;
/// And not to stand nearer to the mark of another than to the own one.
const NEARER_TO_ANOTHER: f64 = 12.0;

/// Texts beside each other are so far apart.
const GAP: f64 = 5.0;

type Line = [(f64, f64); 2];

fn covers(area: &Area, line: &Line) -> bool {
    along(line[0], line[1])
        .iter()
        .any(|piece| overlap(area, piece) > 0.0)
}

/// Two lines meet.
fn cross(a: &Line, b: &Line) -> bool {
    let side = |line: &Line, p: (f64, f64)| {
        let ((x0, y0), (x1, y1)) = (line[0], line[1]);
        (x1 - x0) * (p.1 - y0) - (y1 - y0) * (p.0 - x0)
    };
    side(a, b[0]) * side(a, b[1]) < 0.0 && side(b, a[0]) * side(b, a[1]) < 0.0
}

/// How far a point is from an area.
fn apart((x, y): (f64, f64), area: &Area) -> f64 {
    let (nx, ny) = (x.clamp(area[0], area[2]), y.clamp(area[1], area[3]));
    (x - nx).hypot(y - ny)
}

/// The line from the edge of a mark to a label that stands off it.
fn line_to((x, y): (f64, f64), area: &Area) -> Line {
    let end = (x.clamp(area[0], area[2]), y.clamp(area[1], area[3]));
    let share = (MARK / (end.0 - x).hypot(end.1 - y).max(MARK)).min(1.0);
    [(x + share * (end.0 - x), y + share * (end.1 - y)), end]
}

/// What labels are kept off.
#[derive(Debug, Default)]
struct Room {
    taken: Vec<Area>,
    /// Labels that are written, and lines to them.
    written: Vec<Area>,
    lines: Vec<Line>,
    /// Points that labels belong to.
    points: Vec<(f64, f64)>,
}

/// A place for a label, and what speaks against it.
#[derive(Debug)]
struct Spot {
    area: Area,
    line: Option<Line>,
    covered: f64,
    cost: f64,
}

impl Room {
    fn look_at(&self, bounds: &Area, label: &Label, distance: f64, way: (f64, f64)) -> Spot {
        let (x, y) = label.at;
        let (w, h) = (width(&label.text, SMALL), SMALL);
        let middle = (
            x + way.0 * (distance + w / 2.0),
            y + way.1 * (distance + h / 2.0),
        );
        let area = around(middle, w / 2.0 + 1.0, h / 2.0);
        let all = self.taken.iter().chain(&self.written);
        let mut covered: f64 = all.map(|other| overlap(&area, other)).sum();
        let whole = (area[2] - area[0]) * (area[3] - area[1]);
        covered += 20.0 * (whole - overlap(&area, bounds));
        let others = self.points.iter().filter(|&&at| at != label.at);
        let nearer = others
            .clone()
            .any(|&at| apart(at, &area) < apart((x, y), &area));
        let mut cost = 0.4 * distance + if nearer { NEARER_TO_ANOTHER } else { 0.0 };
        let line = (distance > TIED || nearer).then(|| line_to(label.at, &area));
        if let Some(line) = &line {
            let hidden = self.written.iter().any(|text| covers(text, line));
            let crossed = self.lines.iter().any(|other| cross(other, line));
            covered += if hidden || crossed { 1e3 } else { 0.0 };
            let over = others.filter(|&&at| covers(&around(at, MARK, MARK), line));
            cost += OVER_A_MARK * over.count() as f64;
        }
        covered += self.lines.iter().filter(|line| covers(&area, line)).count() as f64 * 1e3;
        cost += covered;
        Spot {
            area,
            line,
            covered,
            cost,
        }
    }
}

/// Writes each label beside its point, within `bounds`, where it covers nothing of `taken` and no label before it; where it stands off, a
/// line that runs through no label and over no other line leads to it. Which found a place, by number: the others are not written.
pub(super) fn place(svg: &mut Svg, bounds: Area, taken: Vec<Area>, labels: &[Label]) -> Vec<bool> {
    const WAYS: [(f64, f64); 12] = [
        (1.0, -0.7),
        (1.0, 0.7),
        (-1.0, -0.7),
        (-1.0, 0.7),
        (0.0, -1.0),
        (0.0, 1.0),
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.5, -1.0),
        (0.5, 1.0),
        (-0.5, -1.0),
        (-0.5, 1.0),
    ];
    const NEAR: [f64; 4] = [7.0, 11.0, 16.0, 22.0];
    const FAR: [f64; 9] = [7.0, 11.0, 16.0, 22.0, 30.0, 40.0, 52.0, 66.0, 82.0];
    let mut room = Room {
        taken,
        points: labels.iter().map(|label| label.at).collect(),
        ..Room::default()
    };
    let mut placed = Vec::new();
    for label in labels {
        let distances: &[f64] = if label.leads { &FAR } else { &NEAR };
        let mut best: Option<Spot> = None;
        for &distance in distances {
            for way in WAYS {
                let spot = room.look_at(&bounds, label, distance, way);
                if best
                    .as_ref()
                    .is_none_or(|best| spot.cost < best.cost - 1e-9)
                {
                    best = Some(spot);
                }
            }
        }
        let found = best.filter(|spot| spot.covered <= TOUCH);
        placed.push(found.is_some());
        let Some(Spot { area, line, .. }) = found else {
            continue;
        };
        if let Some(line) = line {
            svg.line(line[0], line[1], Stroke::solid(Paint::MUTED, 0.7));
            room.lines.push(line);
        }
        let at = (area[0] + 1.0, area[3] - 2.0);
        svg.text(at, Anchor::Start, SMALL, &label.text);
        // Two texts in one line are kept apart.
        room.written
            .push([area[0] - GAP, area[1], area[2] + GAP, area[3]]);
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

    #[test]
    fn no_line_to_a_label_runs_through_another_label_or_line() {
        let points: Vec<(f64, f64)> = (0..9)
            .map(|i| (120.0 + 11.0 * f64::from(i), 140.0 + 6.0 * f64::from(i % 3)))
            .collect();
        let mut room = Room {
            taken: points.iter().map(|&at| around(at, 7.0, 7.0)).collect(),
            points: points.clone(),
            ..Room::default()
        };
        let label = Label {
            at: points[4],
            text: "proposed b=0.8".to_string(),
            leads: true,
        };
        let bounds = [0.0, 0.0, 400.0, 300.0];
        let free = room.look_at(&bounds, &label, 40.0, (1.0, 0.7));
        assert!(free.covered <= TOUCH && free.line.is_some(), "{free:?}");
        // Another text in the line's way, then another line.
        room.written = vec![around((171.0, 154.0), 4.0, 4.0)];
        let hidden = room.look_at(&bounds, &label, 40.0, (1.0, 0.7));
        assert!(hidden.covered > TOUCH, "{hidden:?}");
        room.written.clear();
        room.lines = vec![[(160.0, 160.0), (190.0, 150.0)]];
        let crossed = room.look_at(&bounds, &label, 40.0, (1.0, 0.7));
        assert!(crossed.covered > TOUCH, "{crossed:?}");
    }
}
