//! Figure 7: does the score foretell the benefit?

use super::super::draw::{Anchor, Look, Paint, Panel, SMALL, Scale, Stroke, Svg, TEXT, plain};
use super::super::series::{ArmCured, Series};
use super::super::view::View;
use super::{Figure, Layout, extent};
use crate::names::{PROPOSED, strategy_of};

/// Its file.
pub(crate) const FILE: &str = "7-score-and-benefit.svg";

/// The arms shown: the proposal at every allowance, else whatever there is.
pub(crate) fn shown<'a>(view: &View<'_>, series: &'a Series) -> Vec<&'a ArmCured> {
    let mut arms: Vec<&ArmCured> = series
        .cured
        .iter()
        .filter(|arm| strategy_of(&arm.arm) == PROPOSED && !arm.bins.is_empty())
        .collect();
    let order = |arm: &ArmCured| view.arms.iter().position(|known| known.name == arm.arm);
    arms.sort_by_key(|arm| order(arm));
    arms.truncate(4);
    arms
}

pub(crate) fn figure(view: &View<'_>, arms: &[&ArmCured]) -> Option<Figure> {
    if arms.is_empty() {
        return None;
    }
    Some(Figure::new(
        FILE,
        "Misses cured in the cycle after a decision, over the score with which a contributor was admitted or kept",
        |layout| draw(layout, view, arms),
    ))
}

fn draw(layout: Layout, view: &View<'_>, arms: &[&ArmCured]) -> Svg {
    let width = layout.width();
    let (gap, left) = (30.0, 40.0);
    let (panel_width, plot) = if layout.is_wide() {
        let count = arms.len() as f64;
        (((width - left - 12.0) - gap * (count - 1.0)) / count, 210.0)
    } else {
        (width - left - 12.0, 180.0)
    };
    let head = 34.0;
    let pitch = plot + 102.0;
    let rows = if layout.is_wide() {
        1.0
    } else {
        arms.len() as f64
    };
    let mut svg = Svg::new(width, head + rows * pitch - 34.0);
    let scores: Vec<f64> = arms
        .iter()
        .flat_map(|arm| arm.bins.iter().map(|bin| bin.score))
        .collect();
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let cured = arms
        .iter()
        .flat_map(|arm| arm.bins.iter().flat_map(|bin| [bin.cured_lo, bin.cured_hi]));
    let cured = extent(cured, true);
    for (i, arm) in arms.iter().enumerate() {
        let (x0, top) = if layout.is_wide() {
            (left + i as f64 * (panel_width + gap), head + 26.0)
        } else {
            (left, head + 26.0 + i as f64 * pitch)
        };
        let range = (x0 + 6.0, x0 + panel_width - 6.0);
        let panel = Panel {
            left: x0,
            top,
            right: x0 + panel_width,
            bottom: top + plot,
            x: if least > 0.0 && most > 8.0 * least {
                Scale::Log {
                    data: (least * 0.85, most * 1.15),
                    range,
                }
            } else {
                Scale::linear(extent(scores.iter().copied(), false), range)
            },
            y: Scale::linear(cured, (top + plot, top)),
        };
        let title_x = if i == 0 || !layout.is_wide() {
            x0 - 32.0
        } else {
            x0
        };
        svg.bold((title_x, top - 45.0), Anchor::Start, TEXT, &arm.arm);
        let label = if i == 0 || !layout.is_wide() {
            "misses cured per contributor"
        } else {
            ""
        };
        panel.y_axis(&mut svg, label, x0 - 32.0, 5);
        panel.x_axis(
            &mut svg,
            "score in the decision (value units)",
            if layout.is_wide() { 6 } else { 9 },
        );
        if let Some([mean, lo, hi]) = arm.rank_correlation {
            let text = format!(
                "rank corr. {} [{}, {}]",
                plain(mean, 2),
                plain(lo, 2),
                plain(hi, 2)
            );
            svg.muted((title_x, top - 28.0), Anchor::Start, SMALL, &text);
        }
        draw_bins(&mut svg, &panel, arm, view.look(strategy_of(&arm.arm)));
    }
    svg
}

fn draw_bins(svg: &mut Svg, panel: &Panel, arm: &ArmCured, look: Look) {
    let line: Vec<(f64, f64)> = arm
        .bins
        .iter()
        .map(|bin| panel.point(bin.score, bin.cured))
        .collect();
    svg.polyline(&line, Stroke::dashed(Paint::of(look), 1.0, "3 3"));
    for (bin, at) in arm.bins.iter().zip(&line) {
        let title = format!(
            "{}, {} contributors with scores {:.2} to {:.2}: {:.3} misses cured each [{:.3}, {:.3}]",
            arm.arm,
            bin.admissions,
            bin.score_lo,
            bin.score_hi,
            bin.cured,
            bin.cured_lo,
            bin.cured_hi
        );
        svg.titled(&title, |svg| {
            svg.whisker_y(
                at.0,
                panel.y.at(bin.cured_lo),
                panel.y.at(bin.cured_hi),
                Stroke::solid(Paint::of(look), 1.4),
            );
            svg.marker(*at, look, 4.4, false);
        });
    }
}
