//! Figure 1: deficit over load.

use covey_simulator::arms;

use super::super::draw::{Anchor, Look, Paint, Panel, SMALL, Scale, Stroke, Svg, plain};
use super::super::view::{ArmView, Interval, View};
use super::labels::{self, Area};
use super::{Figure, Layout, Swatch, extent, legend, with_interval};
use crate::names::{CPM_RMR, DEMAND_RANDOM, ORACLE, PROPOSED};

/// An arm with both values in place.
struct Dot<'a> {
    arm: &'a ArmView<'a>,
    look: Look,
    /// Per cent.
    deficit: Interval,
    load: Interval,
    dominated: Option<&'a str>,
}

pub(crate) fn figure(view: &View<'_>) -> Option<Figure> {
    let dots: Vec<Dot<'_>> = view
        .arms
        .iter()
        .filter(|arm| arm.who.strategy != ORACLE)
        .filter_map(|arm| {
            Some(Dot {
                arm,
                look: arm.who.look(),
                deficit: arm.deficit?.scaled(100.0),
                load: arm.load?,
                dominated: view.dominated_by(arm),
            })
        })
        .collect();
    if dots.is_empty() {
        return None;
    }
    let oracle = view.deficit(ORACLE).map(|deficit| deficit.scaled(100.0));
    Some(Figure::new(
        "1-deficit-over-load.svg",
        "Timely actionable coverage deficit over cooperative offered load, all arms with 95 % intervals on both axes",
        |layout| draw(layout, view, &dots, oracle),
    ))
}

/// A line per strategy, and what else needs a word.
fn legend_of(view: &View<'_>, dots: &[Dot<'_>], oracle: bool) -> Vec<(Swatch, String)> {
    let mut items: Vec<(Swatch, String)> = Vec::new();
    for dot in dots {
        if !items.iter().any(|(_, text)| *text == dot.arm.who.strategy) {
            items.push((
                Swatch::Marker(dot.look, false),
                dot.arm.who.strategy.to_string(),
            ));
        }
    }
    if let Some(dot) = dots.iter().find(|dot| dot.dominated.is_some()) {
        let hollow = Look {
            paint: arms::Paint::Muted,
            ..view.look(if dot.arm.who.is_hosted() {
                PROPOSED
            } else {
                CPM_RMR
            })
        };
        items.push((
            Swatch::Marker(hollow, true),
            "hollow: dominated".to_string(),
        ));
    }
    if oracle {
        items.push((
            Swatch::Bar(Paint::SKY, 0.3),
            "oracle, 95 % interval".to_string(),
        ));
    }
    items.push((
        Swatch::Line(Stroke::dashed(Paint::MUTED, 1.2, "5 4")),
        "congestion target".to_string(),
    ));
    items
}

fn draw(layout: Layout, view: &View<'_>, dots: &[Dot<'_>], oracle: Option<Interval>) -> Svg {
    let items = legend_of(view, dots, oracle.is_some());
    let plot = if layout.is_wide() { 350.0 } else { 310.0 };
    // The legend's height is only known once it is drawn, so it is drawn on a drawing of its own first.
    let mut trial = Svg::new(layout.width(), 10.0);
    let below_legend = legend(&mut trial, 8.0, 4.0, &items);
    let top = below_legend + 26.0;
    let mut svg = Svg::new(layout.width(), top + plot + 44.0);
    legend(&mut svg, 8.0, 4.0, &items);

    let (left, right) = (36.0, layout.width() - 12.0);
    let deficits = dots
        .iter()
        .flat_map(|dot| [dot.deficit.lo, dot.deficit.hi])
        .chain(oracle.map(|oracle| oracle.hi));
    let panel = Panel {
        left,
        top,
        right,
        bottom: top + plot,
        x: load_scale(dots, (left + 12.0, right - 10.0)),
        y: Scale::linear(extent(deficits, true), (top + plot, top)),
    };
    panel.y_axis(&mut svg, "deficit (% of decision-relevant objects)", 8.0, 6);
    panel.x_axis(
        &mut svg,
        "cooperative offered load (share of channel capacity)",
        if layout.is_wide() { 8 } else { 4 },
    );
    let mut taken: Vec<Area> = Vec::new();
    if let Some(oracle) = oracle {
        draw_oracle(&mut svg, &panel, oracle, &mut taken);
    }
    draw_target(&mut svg, &panel, view.summary.target(), &mut taken);
    for pair in dots.windows(2) {
        if pair[0].arm.who.strategy == pair[1].arm.who.strategy {
            let [from, to] =
                [&pair[0], &pair[1]].map(|dot| panel.point(dot.load.mean, dot.deficit.mean));
            svg.line(from, to, Stroke::solid(Paint::of(pair[0].look), 1.4));
            taken.extend(labels::along(from, to));
        }
    }
    let mut names = Vec::new();
    for dot in dots {
        draw_dot(&mut svg, &panel, dot, &mut taken);
        if let Some(b) = dot
            .arm
            .who
            .allowance
            .filter(|_| view.allowances(dot.arm.who.strategy).len() > 1)
            // They lie on top of those whose budgets they share.
            .filter(|_| !dot.arm.who.is_yardstick() && dot.arm.who.strategy != DEMAND_RANDOM)
        {
            names.push((
                panel.point(dot.load.mean, dot.deficit.mean),
                plain_allowance(b),
            ));
        }
    }
    let bounds = [panel.left, panel.top, panel.right, panel.bottom];
    labels::place(&mut svg, bounds, taken, &names);
    svg
}

fn plain_allowance(b: f64) -> String {
    format!("b={b}")
}

fn draw_oracle(svg: &mut Svg, panel: &Panel, oracle: Interval, taken: &mut Vec<Area>) {
    let (lo, hi) = (panel.y.at(oracle.lo), panel.y.at(oracle.hi));
    let title = format!(
        "oracle, the information ceiling: deficit {}",
        with_interval(oracle, 2, " %")
    );
    svg.titled(&title, |svg| {
        svg.rect(
            (panel.left, hi),
            (panel.right - panel.left, (lo - hi).max(1.5)),
            Paint::SKY,
            0.3,
        );
        panel.rule_y(svg, oracle.mean, Stroke::solid(Paint::SKY, 1.2));
    });
    taken.push([panel.left, hi, panel.right, lo]);
    let text = format!("oracle {} %", plain(oracle.mean, 1));
    let y = if hi - panel.top > 20.0 {
        hi - 4.0
    } else {
        lo + 13.0
    };
    svg.muted((panel.left + 4.0, y), Anchor::Start, SMALL, &text);
}

fn draw_target(svg: &mut Svg, panel: &Panel, target: f64, taken: &mut Vec<Area>) {
    let at = panel.x.at(target);
    svg.titled(&format!("congestion target: {target} of capacity"), |svg| {
        svg.line(
            (at, panel.top),
            (at, panel.bottom),
            Stroke::dashed(Paint::MUTED, 1.2, "5 4"),
        );
    });
    taken.extend(labels::along((at, panel.top), (at, panel.bottom)));
}

fn draw_dot(svg: &mut Svg, panel: &Panel, dot: &Dot<'_>, taken: &mut Vec<Area>) {
    let (x, y) = panel.point(dot.load.mean, dot.deficit.mean);
    let (x_lo, x_hi) = (panel.x.at(dot.load.lo), panel.x.at(dot.load.hi));
    let (y_lo, y_hi) = (panel.y.at(dot.deficit.lo), panel.y.at(dot.deficit.hi));
    let dominated = dot
        .dominated
        .map(|by| format!("; dominated by {by}"))
        .unwrap_or_default();
    let title = format!(
        "{}: deficit {}, load {}{dominated}",
        dot.arm.name,
        with_interval(dot.deficit, 2, " %"),
        with_interval(dot.load, 3, "")
    );
    svg.titled(&title, |svg| {
        let thin = Stroke::solid(Paint::of(dot.look), 1.2);
        if x_hi - x_lo > 0.5 {
            svg.whisker_x(x_lo, x_hi, y, thin);
        }
        svg.whisker_y(x, y_lo, y_hi, thin);
        svg.marker((x, y), dot.look, 5.2, dot.dominated.is_some());
    });
    taken.push(labels::around((x, y), 7.0, 7.0));
    taken.push([x - 4.0, y_hi, x + 4.0, y_lo]);
    taken.push([x_lo, y - 4.0, x_hi, y + 4.0]);
}

/// Straight, or with a gap where few arms lie far beyond all others.
fn load_scale(dots: &[Dot<'_>], (left, right): (f64, f64)) -> Scale {
    let mut loads: Vec<&Dot<'_>> = dots.iter().collect();
    loads.sort_by(|a, b| a.load.mean.total_cmp(&b.load.mean));
    let gap = loads
        .windows(2)
        .map(|pair| (pair[0].load.hi, pair[1].load.lo))
        .rfind(|(below, above)| *below > 0.05 && *above > 2.0 * below);
    let Some((below, above)) = gap else {
        return Scale::linear(
            extent(dots.iter().flat_map(|dot| [dot.load.lo, dot.load.hi]), true),
            (left, right),
        );
    };
    let most = dots.iter().map(|dot| dot.load.hi).fold(above, f64::max);
    let air = ((most - above) * 0.8).max(0.06);
    let edge = left + (right - left) * 0.8;
    Scale::Broken {
        near: ((0.0, below * 1.06), (left, edge - 8.0)),
        far: ((above - air, most + air), (edge + 8.0, right)),
    }
}
