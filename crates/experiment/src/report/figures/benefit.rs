//! Figure 2: what selection gains over random admission, at equal allowance and at equal load.

use covey_simulator::arms;

use super::super::draw::Anchor;
use super::super::draw::{Look, Paint, Panel, SMALL, Scale, Shape, Stroke, Svg, TEXT};
use super::super::paired::{mean_load, paired_rows, pooled_deficit};
use super::super::view::{ArmView, Interval, SeedRow, View};
use super::forest::{self, Axis, LETTER, Labels, Row};
use super::{Figure, Layout, Swatch, extent, legend, with_interval};
use crate::letter;
use crate::names::{PROPOSED, RIVALS, at};
use crate::stats::estimates;

/// Points of a curve at equal load.
const POINTS: usize = 13;

/// The relative reduction at equal load against one rival.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EqualLoad {
    pub(crate) rival: &'static str,
    /// Loads that both strategies reach, by their means; None where they have none in common.
    pub(crate) overlap: Option<(f64, f64)>,
    /// Load and reduction in per cent.
    pub(crate) points: Vec<(f64, Interval)>,
}

/// Deficits between allowances are interpolated linearly in load. A resample whose own range ends a little earlier is
/// carried on along its last piece.
pub(crate) fn equal_load(view: &View<'_>, rival: &'static str) -> EqualLoad {
    let arms_of = |strategy: &str| -> Vec<&ArmView<'_>> {
        view.arms
            .iter()
            .filter(|arm| arm.who.strategy == strategy && !arm.seeds.is_empty())
            .collect()
    };
    let (ours, theirs) = (arms_of(PROPOSED), arms_of(rival));
    let split = ours.len();
    let all: Vec<&ArmView<'_>> = ours.iter().chain(&theirs).copied().collect();
    let rows = paired_rows(&all);
    let everyone: Vec<usize> = (0..rows.len()).collect();
    let mut result = EqualLoad {
        rival,
        overlap: None,
        points: Vec::new(),
    };
    if split < 2 || theirs.len() < 2 || rows.is_empty() {
        return result;
    }
    let curves = |drawn: &[usize]| {
        Some((
            curve(&rows, drawn, 0..split)?,
            curve(&rows, drawn, split..all.len())?,
        ))
    };
    let Some((a, b)) = curves(&everyone) else {
        return result;
    };
    let lo = a[0].0.max(b[0].0);
    let hi = a[a.len() - 1].0.min(b[b.len() - 1].0);
    if hi <= lo {
        return result;
    }
    result.overlap = Some((lo, hi));
    let loads: Vec<f64> = (0..POINTS)
        .map(|i| lo + (hi - lo) * i as f64 / (POINTS - 1) as f64)
        .collect();
    let reductions = estimates(rows.len(), POINTS, |drawn, places| {
        let Some((ours, theirs)) = curves(drawn) else {
            return;
        };
        for (place, &load) in places.iter_mut().zip(&loads) {
            let theirs = value_at(&theirs, load);
            if theirs > 0.0 {
                *place = 100.0 * (1.0 - value_at(&ours, load) / theirs);
            }
        }
    });
    result.points = loads
        .iter()
        .zip(reductions)
        .filter_map(|(&load, reduction)| Some((load, reduction?)))
        .collect();
    result
}

/// (load, deficit) of some arms over the drawn seeds, by ascending load.
fn curve(
    rows: &[Vec<SeedRow>],
    drawn: &[usize],
    arms: std::ops::Range<usize>,
) -> Option<Vec<(f64, f64)>> {
    let mut points = arms
        .map(|arm| {
            Some((
                mean_load(rows, drawn, arm)?,
                pooled_deficit(rows, drawn, arm)?,
            ))
        })
        .collect::<Option<Vec<_>>>()?;
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(points)
}

fn value_at(curve: &[(f64, f64)], load: f64) -> f64 {
    let piece = curve
        .windows(2)
        .find(|pair| load <= pair[1].0)
        .unwrap_or(&curve[curve.len() - 2..]);
    let (from, to) = (piece[0], piece[1]);
    if to.0 - from.0 < 1e-9 {
        return (from.1 + to.1) / 2.0;
    }
    from.1 + (load - from.0) / (to.0 - from.0) * (to.1 - from.1)
}

pub(crate) fn figure(view: &View<'_>, curves: &[EqualLoad]) -> Option<Figure> {
    let mut rows = Vec::new();
    for b in view.allowances(PROPOSED) {
        for rival in RIVALS {
            let (better, worse) = (at(PROPOSED, b), at(rival, b));
            let relative = view.pair(&better, &worse).and_then(|pair| pair.relative);
            let Some(value) = relative.map(|relative| relative.scaled(100.0)) else {
                continue;
            };
            rows.push(Row {
                label: format!("b={b} vs {rival}"),
                look: view.look(rival),
                hollow: value.includes_zero(),
                value: Some(value),
                letter: letter::paired(&better, &worse)
                    .filter(|_| view.is_the_letters())
                    .and_then(|pair| pair.relative)
                    .map(|x| 100.0 * x),
                letter_interval: None,
            });
        }
    }
    if rows.is_empty() && curves.iter().all(|curve| curve.points.is_empty()) {
        return None;
    }
    Some(Figure::new(
        "2-benefit-over-random.svg",
        "Relative deficit reduction of the proposed selection against both random admissions, at equal allowance and at equal load",
        |layout| draw(layout, view, &rows, curves),
    ))
}

fn draw(layout: Layout, view: &View<'_>, rows: &[Row], curves: &[EqualLoad]) -> Svg {
    let drawn = |rival: &&str| {
        let curve = |curve: &EqualLoad| curve.rival == *rival && !curve.points.is_empty();
        let row = |row: &Row| row.label.ends_with(&format!("vs {rival}"));
        curves.iter().any(curve) || rows.iter().any(row)
    };
    let mut items: Vec<(Swatch, String)> = RIVALS
        .iter()
        .filter(|rival| drawn(rival))
        .map(|rival| {
            (
                Swatch::Marker(view.look(rival), false),
                format!("against {rival}"),
            )
        })
        .collect();
    if forest::has_letter(rows) {
        items.push((
            Swatch::Marker(LETTER, true),
            "the letter's value".to_string(),
        ));
    }
    if forest::has_hollow(rows) {
        items.push((
            Swatch::Marker(Look::new(arms::Paint::Muted, Shape::TriangleUp), true),
            "hollow: interval includes zero".to_string(),
        ));
    }
    let width = layout.width();
    let mut trial = Svg::new(width, 10.0);
    let head = legend(&mut trial, 8.0, 4.0, &items) + 24.0;
    let labels = if layout.is_wide() {
        Labels::Left(168.0)
    } else {
        Labels::Above
    };
    let forest_height = forest::height(rows.len(), labels);
    let plot = if layout.is_wide() {
        forest_height - 40.0
    } else {
        220.0
    };
    let (split, second_top, height) = if layout.is_wide() {
        (412.0, head, head + forest_height)
    } else {
        (
            width - 4.0,
            head + forest_height + 36.0,
            head + forest_height + 36.0 + plot + 44.0,
        )
    };
    let mut svg = Svg::new(width, height);
    legend(&mut svg, 8.0, 4.0, &items);
    svg.bold((8.0, head - 8.0), Anchor::Start, TEXT, "At equal allowance");
    let axis = Axis {
        label: "misses avoided (% of rival's)",
        unit: " %",
        decimals: 1,
        rule: true,
    };
    forest::draw(&mut svg, (4.0, split), head, rows, axis, labels);
    let left = if layout.is_wide() { split + 44.0 } else { 36.0 };
    draw_curves(
        &mut svg,
        view,
        (left, width - 12.0),
        (second_top, plot),
        curves,
    );
    svg
}

fn draw_curves(
    svg: &mut Svg,
    view: &View<'_>,
    (left, right): (f64, f64),
    (top, plot): (f64, f64),
    curves: &[EqualLoad],
) {
    svg.bold(
        (left - 28.0, top - 8.0),
        Anchor::Start,
        TEXT,
        "At equal load",
    );
    let loads = || {
        curves
            .iter()
            .flat_map(|curve| curve.points.iter().map(|point| point.0))
    };
    let values = curves.iter().flat_map(|curve| {
        curve
            .points
            .iter()
            .flat_map(|point| [point.1.lo, point.1.hi])
    });
    let bottom = top + plot;
    let panel = Panel {
        left,
        top,
        right,
        bottom,
        x: Scale::linear(extent(loads(), false), (left, right)),
        y: Scale::linear(extent(values, true), (bottom, top)),
    };
    if loads().next().is_none() {
        svg.muted(
            ((left + right) / 2.0, (top + bottom) / 2.0),
            Anchor::Middle,
            SMALL,
            "no load that both strategies reach",
        );
        return;
    }
    panel.y_axis(svg, "", left, 5);
    svg.muted((right, top - 8.0), Anchor::End, SMALL, "misses avoided (%)");
    panel.x_axis(svg, "load (share of capacity)", 4);
    panel.rule_y(svg, 0.0, Stroke::solid(Paint::INK, 1.2));
    for curve in curves.iter().filter(|curve| !curve.points.is_empty()) {
        let look = view.look(curve.rival);
        let upper = curve
            .points
            .iter()
            .map(|(load, value)| panel.point(*load, value.hi));
        let lower = curve
            .points
            .iter()
            .rev()
            .map(|(load, value)| panel.point(*load, value.lo));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        svg.polygon(&band, Paint::of(look), 0.18);
        let line: Vec<(f64, f64)> = curve
            .points
            .iter()
            .map(|(load, value)| panel.point(*load, value.mean))
            .collect();
        svg.polyline(&line, Stroke::solid(Paint::of(look), 1.8));
        for ((load, value), at) in curve.points.iter().zip(&line).step_by(3) {
            let zero = if value.includes_zero() {
                "; the interval includes zero"
            } else {
                ""
            };
            let title = format!(
                "against {} at load {load:.3}: {} of its misses avoided{zero}",
                curve.rival,
                with_interval(*value, 1, " %")
            );
            svg.titled(&title, |svg| {
                svg.marker(*at, look, 4.2, value.includes_zero());
            });
        }
    }
}
