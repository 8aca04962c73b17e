//! Figure 4: price, contributors and occupancy over time.

use super::super::draw::{Anchor, Paint, Panel, SMALL, Scale, Stroke, Svg};
use super::super::series::{Series, Trace, TracePoint};
use super::super::view::View;
use super::{Figure, Layout, Swatch, extent, legend};
use crate::names::{DEMAND, PROPOSED, RANDOM, at, strategy_of};

/// Its file.
pub(crate) const FILE: &str = "4-price-contributors-occupancy.svg";

const HEIGHT: f64 = 120.0;

/// One of the three panels.
type Quantity = (&'static str, fn(&TracePoint) -> Option<f64>);

const QUANTITIES: [Quantity; 3] = [
    ("congestion price (per ms of airtime)", |point| point.price),
    ("contributors per host (vehicles)", |point| {
        point.contributors
    }),
    ("cooperative load (share of capacity)", |point| point.load),
];

pub(crate) fn figure(view: &View<'_>, series: &Series) -> Option<Figure> {
    let mut lines: Vec<(Stroke, &Trace)> = Vec::new();
    for strategy in [PROPOSED, DEMAND, RANDOM] {
        let mut allowances = view.allowances(strategy);
        if allowances.is_empty() {
            allowances = allowances_of(series, strategy);
        }
        for (i, b) in allowances.iter().enumerate() {
            let name = at(strategy, *b);
            if let Some(trace) = series.over_time.iter().find(|trace| trace.arm == name) {
                let dash = match allowances.len() - 1 - i {
                    0 => "",
                    1 => "7 3",
                    _ => "2 3",
                };
                let width = if strategy == RANDOM { 1.3 } else { 2.0 };
                lines.push((
                    Stroke::dashed(Paint::of(view.look(strategy)), width, dash),
                    trace,
                ));
            }
        }
    }
    if lines.iter().all(|(_, trace)| trace.points.len() < 2) {
        return None;
    }
    let warmup = view.summary.warmup_s;
    Some(Figure::new(
        FILE,
        "Congestion price, contributors per host and cooperative load over time",
        |layout| draw(layout, &lines, warmup, view.summary.target()),
    ))
}

fn allowances_of(series: &Series, strategy: &str) -> Vec<f64> {
    let mut found: Vec<f64> = series
        .over_time
        .iter()
        .filter_map(|trace| {
            trace
                .arm
                .strip_prefix(strategy)?
                .strip_prefix('@')?
                .parse()
                .ok()
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found
}

fn draw(layout: Layout, lines: &[(Stroke, &Trace)], warmup: f64, target: f64) -> Svg {
    let mut items: Vec<(Swatch, String)> = lines
        .iter()
        .map(|(stroke, trace)| (Swatch::Line(*stroke), trace.arm.clone()))
        .collect();
    items.push((
        Swatch::Line(Stroke::solid(Paint::INK, 1.0)),
        "congestion target".to_string(),
    ));
    let width = layout.width();
    let mut trial = Svg::new(width, 10.0);
    let head = legend(&mut trial, 8.0, 4.0, &items) + 24.0;
    let pitch = HEIGHT + 34.0;
    let mut svg = Svg::new(width, head + 3.0 * pitch - 34.0 + 44.0);
    legend(&mut svg, 8.0, 4.0, &items);
    let (left, right) = (40.0, width - 14.0);
    let times = extent_of(lines, |point| Some(point.time_s));
    for (i, (label, value)) in QUANTITIES.into_iter().enumerate() {
        let top = head + i as f64 * pitch;
        let bottom = top + HEIGHT;
        // Random admission and choice by demand know no price: what is not drawn sets no scale.
        let drawn: Vec<&(Stroke, &Trace)> = lines
            .iter()
            .filter(|(_, trace)| i > 0 || strategy_of(&trace.arm) == PROPOSED)
            .collect();
        let values = drawn
            .iter()
            .flat_map(|(_, trace)| trace.points.iter().filter_map(value))
            .chain((i == 2).then_some(target));
        let panel = Panel {
            left,
            top,
            right,
            bottom,
            x: Scale::linear((times.0 - 0.5, times.1 + 0.5), (left, right)),
            y: Scale::linear(extent(values, true), (bottom, top)),
        };
        if warmup > times.0 {
            let edge = panel.x.at(warmup);
            svg.rect((left, top), (edge - left, HEIGHT), Paint::GRID, 0.45);
            if i == 0 {
                svg.muted((left + 6.0, top + 14.0), Anchor::Start, SMALL, "warm-up");
            }
        }
        panel.y_axis(&mut svg, label, 8.0, 4);
        if i == 2 {
            panel.x_axis(
                &mut svg,
                "time from the beginning of the run (s)",
                if layout.is_wide() { 9 } else { 5 },
            );
            svg.titled(&format!("congestion target: {target} of capacity"), |svg| {
                panel.rule_y(svg, target, Stroke::solid(Paint::INK, 1.0));
            });
        } else {
            panel.rule_y(
                &mut svg,
                f64::NEG_INFINITY,
                Stroke::solid(Paint::MUTED, 1.0),
            );
        }
        for (stroke, trace) in drawn {
            draw_trace(&mut svg, &panel, *stroke, trace, label, value);
        }
    }
    svg
}

fn extent_of(lines: &[(Stroke, &Trace)], value: fn(&TracePoint) -> Option<f64>) -> (f64, f64) {
    lines
        .iter()
        .flat_map(|(_, trace)| trace.points.iter().filter_map(value))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| {
            (lo.min(x), hi.max(x))
        })
}

fn draw_trace(
    svg: &mut Svg,
    panel: &Panel,
    stroke: Stroke,
    trace: &Trace,
    label: &str,
    value: fn(&TracePoint) -> Option<f64>,
) {
    let known: Vec<(f64, f64)> = trace
        .points
        .iter()
        .filter_map(|point| Some((point.time_s, value(point)?)))
        .collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return;
    };
    let mean = known.iter().map(|(_, y)| y).sum::<f64>() / known.len() as f64;
    let title = format!(
        "{}, {label}: mean {mean:.3}, {:.3} in the first second, {:.3} in the last",
        trace.arm, first.1, last.1
    );
    let points: Vec<(f64, f64)> = known.iter().map(|&(x, y)| panel.point(x, y)).collect();
    svg.titled(&title, |svg| svg.polyline(&points, stroke));
}
