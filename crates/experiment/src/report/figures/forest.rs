//! Rows of values with intervals: the panel that three figures share.

use covey_simulator::arms;

use super::super::draw::{Anchor, Look, Paint, Panel, SMALL, Scale, Shape, Stroke, Svg, TEXT};
use super::super::view::Interval;
use super::{extent, with_interval};

/// How the letter's values look.
pub(super) const LETTER: Look = Look::new(arms::Paint::Muted, Shape::Diamond);

/// What is drawn on one line: an arm, its value and the letter's.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) label: String,
    pub(super) look: Look,
    pub(super) hollow: bool,
    pub(super) value: Option<Interval>,
    pub(super) letter: Option<f64>,
    /// The letter's own interval.
    pub(super) letter_interval: Option<(f64, f64)>,
}

/// Some row has a value of the letter.
pub(super) fn has_letter(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.letter.is_some())
}

/// Some row has a hollow mark.
pub(super) fn has_hollow(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.hollow && row.value.is_some())
}

/// What goes for all rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    /// With its unit.
    pub(super) label: &'static str,
    pub(super) unit: &'static str,
    pub(super) decimals: usize,
    /// A rule at zero, for differences.
    pub(super) rule: bool,
}

/// Where row labels go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Labels {
    /// In a column of this width left of the panel.
    Left(f64),
    /// On a line of their own above each row, with the value at the right.
    Above,
    /// Nowhere: the panel to the left has them.
    None,
}

/// Height of the panel with its axis.
pub(super) fn height(rows: usize, labels: Labels) -> f64 {
    pitch(labels) * rows as f64 + 40.0
}

fn pitch(labels: Labels) -> f64 {
    if labels == Labels::Above { 40.0 } else { 26.0 }
}

/// Draws the panel between `left` and `right` from `top` down.
pub(super) fn draw(
    svg: &mut Svg,
    (left, right): (f64, f64),
    top: f64,
    rows: &[Row],
    axis: Axis,
    labels: Labels,
) {
    let inner = match labels {
        Labels::Left(column) => left + column,
        Labels::Above | Labels::None => left,
    };
    let values = rows.iter().flat_map(|row| {
        let own = row.value.map(|value| [value.mean, value.lo, value.hi]);
        let theirs = row.letter_interval.map(|(lo, hi)| [lo, hi]);
        own.into_iter()
            .flatten()
            .chain(row.letter)
            .chain(theirs.into_iter().flatten())
    });
    let pitch = pitch(labels);
    let bottom = top + pitch * rows.len() as f64;
    let panel = Panel {
        left: inner,
        top,
        right,
        bottom,
        x: Scale::linear(extent(values, true), (inner + 8.0, right - 8.0)),
        y: Scale::linear((0.0, 1.0), (bottom, top)),
    };
    panel.x_axis(svg, axis.label, ((right - inner) / 55.0) as usize);
    if axis.rule {
        panel.rule_x(svg, 0.0);
    }
    for (i, row) in rows.iter().enumerate() {
        let line = top + pitch * (i as f64 + 0.5);
        let y = match labels {
            Labels::Above => {
                let base = top + pitch * i as f64 + 12.0;
                svg.text((inner + 2.0, base), Anchor::Start, SMALL, &row.label);
                if let Some(value) = row.value {
                    let text = with_interval(value, axis.decimals, "");
                    svg.muted((right - 2.0, base), Anchor::End, SMALL, &text);
                }
                base + 12.0
            }
            Labels::Left(_) => {
                svg.text((inner - 8.0, line + 4.0), Anchor::End, TEXT, &row.label);
                line
            }
            Labels::None => line,
        };
        draw_row(svg, &panel, y, row, axis);
    }
}

fn draw_row(svg: &mut Svg, panel: &Panel, y: f64, row: &Row, axis: Axis) {
    if let Some(letter) = row.letter {
        let mut title = format!(
            "{}: the letter has {letter:.*}{}",
            row.label, axis.decimals, axis.unit
        );
        if let Some((lo, hi)) = row.letter_interval {
            title.push_str(&format!(" [{lo:.0$}, {hi:.0$}]", axis.decimals));
        }
        svg.titled(&title, |svg| {
            let below = y + 8.0;
            if let Some((lo, hi)) = row.letter_interval {
                svg.line(
                    (panel.x.at(lo), below),
                    (panel.x.at(hi), below),
                    Stroke::dashed(Paint::MUTED, 1.2, "2 2"),
                );
            }
            svg.marker((panel.x.at(letter), below), LETTER, 3.4, true);
        });
    }
    let Some(value) = row.value else {
        return;
    };
    let zero = if axis.rule && value.includes_zero() {
        "; the interval includes zero"
    } else {
        ""
    };
    let title = format!(
        "{}: {}{zero}",
        row.label,
        with_interval(value, axis.decimals, axis.unit)
    );
    svg.titled(&title, |svg| {
        svg.whisker_x(
            panel.x.at(value.lo),
            panel.x.at(value.hi),
            y,
            Stroke::solid(Paint::of(row.look), 1.6),
        );
        svg.marker((panel.x.at(value.mean), y), row.look, 5.0, row.hollow);
    });
}
