//! Figure 8: where the time goes.

use super::super::draw::{Anchor, Paint, Panel, SMALL, Scale, Svg, TEXT, width};
use super::super::series::{Phase, Series};
use super::super::view::View;
use super::{Figure, Layout, extent};

/// Time by phase: of the series, else of the summary.
pub(crate) fn phases(view: &View<'_>, series: &Series) -> Vec<Phase> {
    if !series.phases.is_empty() {
        return series.phases.clone();
    }
    let phases = &view.summary.timing.phases;
    phases
        .0
        .iter()
        .map(|(name, seconds)| Phase {
            name: name.trim_end_matches("_s").to_string(),
            seconds: *seconds,
        })
        .collect()
}

/// What a phase is, in plain words; its name where it is not known.
pub(crate) fn describe(name: &str) -> &str {
    match name {
        "traffic" => "vehicle motion",
        "sight" => "visible objects and cells",
        "links" => "link states, fading",
        "paths" => "relevance, risk priors",
        "beacons" => "beacons, all arms",
        "arms" => "hosts, awareness, all arms",
        "metric" => "metric",
        other => other,
    }
}

pub(crate) fn figure(phases: &[Phase]) -> Option<Figure> {
    if phases.is_empty() {
        return None;
    }
    Some(Figure::new(
        "8-timing.svg",
        "Seconds by phase, over all seeds and threads",
        |layout| draw(layout, phases),
    ))
}

fn draw(layout: Layout, phases: &[Phase]) -> Svg {
    let total: f64 = phases.iter().map(|phase| phase.seconds).sum();
    let widest = phases
        .iter()
        .map(|phase| width(describe(&phase.name), TEXT))
        .fold(0.0, f64::max);
    let (labels, pitch) = if layout.is_wide() {
        (widest + 16.0, 25.0)
    } else {
        (4.0, 34.0)
    };
    let top = 8.0;
    let bottom = top + pitch * phases.len() as f64;
    let mut svg = Svg::new(layout.width(), bottom + 42.0);
    let right = layout.width() - if layout.is_wide() { 118.0 } else { 8.0 };
    let panel = Panel {
        left: labels,
        top,
        right,
        bottom,
        x: Scale::linear(
            extent(phases.iter().map(|phase| phase.seconds), true),
            (labels, right),
        ),
        y: Scale::linear((0.0, 1.0), (bottom, top)),
    };
    panel.x_axis(
        &mut svg,
        "time over all seeds and threads (s)",
        if layout.is_wide() { 7 } else { 4 },
    );
    for (i, phase) in phases.iter().enumerate() {
        let name = describe(&phase.name);
        let share = if total > 0.0 {
            100.0 * phase.seconds / total
        } else {
            0.0
        };
        let value = format!("{:.1} s, {share:.0} %", phase.seconds);
        let line = top + pitch * i as f64;
        let end = panel.x.at(phase.seconds);
        let y = if layout.is_wide() {
            svg.text((labels - 8.0, line + 17.0), Anchor::End, TEXT, name);
            svg.muted((end + 6.0, line + 17.0), Anchor::Start, SMALL, &value);
            line + 6.0
        } else {
            svg.text((labels + 2.0, line + 12.0), Anchor::Start, SMALL, name);
            svg.muted((right - 2.0, line + 12.0), Anchor::End, SMALL, &value);
            line + 16.0
        };
        svg.titled(&format!("{name}: {value}"), |svg| {
            svg.rect((labels, y), (end - labels, 13.0), Paint::BLUE, 1.0);
        });
    }
    svg
}
