//! Figure 3: one factor of the score after another.

use super::super::draw::{Anchor, Look, Svg, TEXT};
use super::super::view::View;
use super::forest::{self, Axis, LETTER, Labels, Row};
use super::{Figure, Layout, Swatch, legend};
use crate::letter;
use crate::names::{LADDER, PROPOSED, rung, strategy_of};

/// What each rung adds to the one before.
const ADDED: [&str; LADDER.len()] = [
    "random admission",
    "+ coverage",
    "+ conditioning",
    "+ risk",
    "+ timeliness",
];

/// The arms of the rungs, bottom first, each with what it adds to the one before.
pub(crate) fn rungs() -> impl Iterator<Item = (String, &'static str)> {
    ADDED
        .into_iter()
        .enumerate()
        .map(|(i, added)| (rung(i), added))
}

pub(crate) fn figure(view: &View<'_>) -> Option<Figure> {
    let rungs: Vec<(String, &str)> = rungs()
        .filter(|(arm, _)| view.deficit(arm).is_some())
        .collect();
    if rungs.len() < 2 {
        return None;
    }
    let row = |arm: &str, label: &str| Row {
        label: label.to_string(),
        look: view.look(strategy_of(arm)),
        hollow: false,
        value: None,
        letter: None,
        letter_interval: None,
    };
    let deficits: Vec<Row> = rungs
        .iter()
        .map(|(arm, label)| Row {
            value: view.deficit(arm).map(|value| value.scaled(100.0)),
            letter: view
                .letter(arm)
                .and_then(|arm| arm.deficit)
                .map(|x| 100.0 * x),
            ..row(arm, label)
        })
        .collect();
    let steps: Vec<Row> = rungs
        .iter()
        .enumerate()
        .map(|(i, (arm, label))| {
            let below = i.checked_sub(1).map(|i| rungs[i].0.as_str());
            let value = below
                .and_then(|below| view.pair(arm, below))
                .and_then(|pair| pair.points);
            let below = below.filter(|_| view.is_the_letters());
            let letter = below.and_then(|below| letter::paired(arm, below)?.points);
            Row {
                value,
                hollow: value.is_some_and(super::Interval::includes_zero),
                letter: letter.map(|[mean, _, _]| mean),
                letter_interval: letter.map(|[_, lo, hi]| (lo, hi)),
                ..row(arm, label)
            }
        })
        .collect();
    let loads: Vec<Row> = rungs
        .iter()
        .map(|(arm, label)| Row {
            value: view.load(arm),
            letter: view.letter(arm).and_then(|arm| arm.load),
            ..row(arm, label)
        })
        .collect();
    Some(Figure::new(
        "3-factor-ladder.svg",
        "Deficit, paired step and load as factors are added to the admission score at allowance 0.4",
        |layout| draw(layout, view.look(PROPOSED), &[&deficits, &steps, &loads]),
    ))
}

const AXES: [(&str, Axis); 3] = [
    (
        "Deficit",
        Axis {
            label: "deficit (%)",
            unit: " %",
            decimals: 2,
            rule: false,
        },
    ),
    (
        "Step from the row above",
        Axis {
            label: "reduction (points)",
            unit: " points",
            decimals: 2,
            rule: true,
        },
    ),
    (
        "Load",
        Axis {
            label: "load (share of capacity)",
            unit: "",
            decimals: 3,
            rule: false,
        },
    ),
];

fn draw(layout: Layout, ours: Look, panels: &[&Vec<Row>; 3]) -> Svg {
    let mut items = vec![(Swatch::Marker(ours, false), "this run".to_string())];
    if panels.iter().any(|rows| forest::has_letter(rows)) {
        items.push((
            Swatch::Marker(LETTER, true),
            "the letter's value".to_string(),
        ));
    }
    if panels.iter().any(|rows| forest::has_hollow(rows)) {
        items.push((
            Swatch::Marker(ours, true),
            "hollow: interval of the step includes zero".to_string(),
        ));
    }
    let width = layout.width();
    let mut trial = Svg::new(width, 10.0);
    let head = legend(&mut trial, 8.0, 4.0, &items) + 24.0;
    if layout.is_wide() {
        let labels = 128.0;
        let mut svg = Svg::new(width, head + forest::height(panels[0].len(), Labels::None));
        legend(&mut svg, 8.0, 4.0, &items);
        let gap = 18.0;
        let panel = (width - 12.0 - labels - 2.0 * gap) / 3.0;
        for (i, (rows, (title, axis))) in panels.iter().zip(AXES).enumerate() {
            let inner = 4.0 + labels + i as f64 * (panel + gap);
            svg.bold((inner, head - 8.0), Anchor::Start, TEXT, title);
            let (left, mode) = if i == 0 {
                (4.0, Labels::Left(labels))
            } else {
                (inner, Labels::None)
            };
            forest::draw(&mut svg, (left, inner + panel), head, rows, axis, mode);
        }
        return svg;
    }
    let pitch = forest::height(panels[0].len(), Labels::Above) + 34.0;
    let mut svg = Svg::new(width, head + 3.0 * pitch - 34.0 - 40.0);
    legend(&mut svg, 8.0, 4.0, &items);
    for (i, (rows, (title, axis))) in panels.iter().zip(AXES).enumerate() {
        // The first rung has no step: its row would be empty.
        let rows = if i == 1 { &rows[1..] } else { &rows[..] };
        let top = head + i as f64 * pitch - if i == 2 { 40.0 } else { 0.0 };
        svg.bold((6.0, top - 8.0), Anchor::Start, TEXT, title);
        forest::draw(&mut svg, (4.0, width - 4.0), top, rows, axis, Labels::Above);
    }
    svg
}
