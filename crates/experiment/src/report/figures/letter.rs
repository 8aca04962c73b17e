//! Figure 6: every arm beside the letter's.

use super::super::draw::{Anchor, Look, Svg, TEXT};
use super::super::view::View;
use super::forest::{self, Axis, LETTER, Labels, Row};
use super::{Figure, Layout, Swatch, legend};
use crate::names::PROPOSED;

pub(crate) fn figure(view: &View<'_>) -> Option<Figure> {
    let row = |arm: &super::super::view::ArmView<'_>| Row {
        label: arm.name.to_string(),
        look: arm.who.look(),
        hollow: false,
        value: None,
        letter: None,
        letter_interval: None,
    };
    let deficits: Vec<Row> = view
        .arms
        .iter()
        .map(|arm| Row {
            value: arm.deficit.map(|value| value.scaled(100.0)),
            letter: view
                .letter(arm.name)
                .and_then(|arm| arm.deficit)
                .map(|x| 100.0 * x),
            ..row(arm)
        })
        .collect();
    let loads: Vec<Row> = view
        .arms
        .iter()
        .map(|arm| Row {
            value: arm.load,
            letter: view.letter(arm.name).and_then(|arm| arm.load),
            ..row(arm)
        })
        .collect();
    if deficits.is_empty() {
        return None;
    }
    Some(Figure::new(
        "6-against-the-letter.svg",
        "Deficit and load of every arm, with 95 % intervals, beside the letter's values",
        |layout| draw(layout, view.look(PROPOSED), &deficits, &loads),
    ))
}

fn draw(layout: Layout, ours: Look, deficits: &[Row], loads: &[Row]) -> Svg {
    let axes = [
        Axis {
            label: "deficit (% of decision-relevant objects)",
            unit: " %",
            decimals: 2,
            rule: false,
        },
        Axis {
            label: "load (share of capacity)",
            unit: "",
            decimals: 3,
            rule: false,
        },
    ];
    let items = [
        (
            Swatch::Marker(ours, false),
            "this run, 95 % interval".to_string(),
        ),
        (
            Swatch::Marker(LETTER, true),
            "the letter's value, where it prints one".to_string(),
        ),
    ];
    let width = layout.width();
    let mut trial = Svg::new(width, 10.0);
    let head = legend(&mut trial, 8.0, 4.0, &items) + 24.0;
    if layout.is_wide() {
        let labels = 150.0;
        let mut svg = Svg::new(width, head + forest::height(deficits.len(), Labels::None));
        legend(&mut svg, 8.0, 4.0, &items);
        let middle = 446.0;
        svg.bold((4.0 + labels, head - 8.0), Anchor::Start, TEXT, "Deficit");
        forest::draw(
            &mut svg,
            (4.0, middle - 10.0),
            head,
            deficits,
            axes[0],
            Labels::Left(labels),
        );
        svg.bold((middle + 10.0, head - 8.0), Anchor::Start, TEXT, "Load");
        forest::draw(
            &mut svg,
            (middle + 10.0, width - 8.0),
            head,
            loads,
            axes[1],
            Labels::None,
        );
        return svg;
    }
    let pitch = forest::height(deficits.len(), Labels::Above) + 34.0;
    let mut svg = Svg::new(width, head + 2.0 * pitch - 34.0);
    legend(&mut svg, 8.0, 4.0, &items);
    for (i, (rows, title)) in [(deficits, "Deficit"), (loads, "Load")]
        .into_iter()
        .enumerate()
    {
        let top = head + i as f64 * pitch;
        svg.bold((6.0, top - 8.0), Anchor::Start, TEXT, title);
        forest::draw(
            &mut svg,
            (4.0, width - 4.0),
            top,
            rows,
            axes[i],
            Labels::Above,
        );
    }
    svg
}
