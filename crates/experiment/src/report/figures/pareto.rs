//! Figure 1: deficit over load.

use covey_simulator::arms;

use super::super::draw::{Anchor, Look, Paint, Panel, SMALL, Scale, Stroke, Svg, plain, width};
use super::super::view::{ArmView, Interval, View};
use super::labels::{self, Area, Label};
use super::{Figure, Layout, Swatch, extent, legend, with_interval};
use crate::names::{CPM_RMR, DEMAND, DEMAND_RANDOM, ORACLE, PROPOSED};

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

/// Strategies that no text in the figure names, and what else needs a word: every entry has a mark.
fn legend_of(
    view: &View<'_>,
    dots: &[Dot<'_>],
    oracle: bool,
    unnamed: &[&str],
) -> Vec<(Swatch, String)> {
    let mut items: Vec<(Swatch, String)> = Vec::new();
    for dot in dots {
        let strategy = dot.arm.who.strategy;
        if unnamed.contains(&strategy) && !items.iter().any(|(_, text)| text == strategy) {
            let hollow = dot.dominated.is_some();
            items.push((Swatch::Marker(dot.look, hollow), strategy.to_string()));
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
    // Strategies are named beside their marks; those for which there is no room are named by the legend, which moves all else
    // down but changes no room.
    let (_, unnamed) = compose(layout, view, dots, oracle, &[]);
    let (svg, _) = compose(layout, view, dots, oracle, &unnamed);
    svg
}

/// The figure, and the strategies that found no room for their names.
fn compose<'a>(
    layout: Layout,
    view: &View<'_>,
    dots: &[Dot<'a>],
    oracle: Option<Interval>,
    unnamed: &[&str],
) -> (Svg, Vec<&'a str>) {
    let items = legend_of(view, dots, oracle.is_some(), unnamed);
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
    let target = view.summary.target();
    let panel = Panel {
        left,
        top,
        right,
        bottom: top + plot,
        x: load_scale(dots, target, (left + 12.0, right - 10.0)),
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
    draw_target(&mut svg, &panel, target, &mut taken);
    for pair in dots.windows(2) {
        if pair[0].arm.who.strategy == pair[1].arm.who.strategy {
            let [from, to] =
                [&pair[0], &pair[1]].map(|dot| panel.point(dot.load.mean, dot.deficit.mean));
            svg.line(from, to, Stroke::solid(Paint::of(pair[0].look), 1.4));
            taken.extend(labels::along(from, to));
        }
    }
    for dot in dots {
        draw_dot(&mut svg, &panel, dot, &mut taken);
    }
    let (names, strategies) = names_of(view, dots, &panel);
    let bounds = [panel.left, panel.top, panel.right, panel.bottom];
    let placed = labels::place(&mut svg, bounds, taken, &names);
    let without = strategies.into_iter().zip(placed);
    let without = without.filter_map(|(strategy, placed)| strategy.filter(|_| !placed));
    (svg, without.collect())
}

/// A name beside one mark of each strategy, the last, and the allowance beside the others; the names first.
fn names_of<'a>(
    view: &View<'_>,
    dots: &[Dot<'a>],
    panel: &Panel,
) -> (Vec<Label>, Vec<Option<&'a str>>) {
    let mut names = Vec::new();
    let mut rest = Vec::new();
    for (number, dot) in dots.iter().enumerate() {
        let who = &dot.arm.who;
        let at = panel.point(dot.load.mean, dot.deficit.mean);
        let several = view.allowances(who.strategy).len() > 1;
        let b = who.allowance.filter(|_| several).map(plain_allowance);
        let next = dots.get(number + 1);
        if next.is_none_or(|next| next.arm.who.strategy != who.strategy) {
            let text = match b {
                Some(b) => format!("{} {b}", who.strategy),
                None => who.strategy.to_string(),
            };
            let leads = true;
            names.push((Label { at, text, leads }, Some(who.strategy)));
        // They lie on top of those whose budgets they share.
        } else if let Some(text) = b
            && !who.is_yardstick()
            && who.strategy != DEMAND_RANDOM
        {
            let leads = false;
            rest.push((Label { at, text, leads }, None));
        }
    }
    // The letter's and our own find their places first.
    let first =
        |(_, strategy): &(Label, Option<&str>)| !matches!(strategy, Some(PROPOSED | DEMAND));
    names.sort_by_key(first);
    names.into_iter().chain(rest).unzip()
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
    let wide = width(&text, SMALL);
    taken.push([panel.left, y - SMALL, panel.left + 8.0 + wide, y + 3.0]);
}

/// The target at its load; where that is beyond the axis, an arrow at the edge that says so.
fn draw_target(svg: &mut Svg, panel: &Panel, target: f64, taken: &mut Vec<Area>) {
    let at = panel.x.at(target);
    let dashes = Stroke::dashed(Paint::MUTED, 1.2, "5 4");
    let title = format!("congestion target: {target} of capacity");
    if panel.x.shows(target) {
        svg.titled(&title, |svg| {
            svg.line((at, panel.top), (at, panel.bottom), dashes);
        });
        taken.extend(labels::along((at, panel.top), (at, panel.bottom)));
        return;
    }
    let text = format!("target {target} \u{2192}");
    let (edge, y) = (panel.right - 2.0, panel.top + 14.0);
    svg.titled(&format!("{title}, beyond the axis"), |svg| {
        svg.muted((edge, y), Anchor::End, SMALL, &text);
        svg.line((edge, panel.top), (edge, panel.top + 18.0), dashes);
    });
    taken.push([
        edge - width(&text, SMALL),
        panel.top,
        edge,
        panel.top + 20.0,
    ]);
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

/// Straight, or with a gap where few arms lie far beyond all others: at most one in five, at three times their loads and more. The
/// target is part of the axis unless that would leave a third of it empty.
fn load_scale(dots: &[Dot<'_>], target: f64, (left, right): (f64, f64)) -> Scale {
    let mut loads: Vec<&Dot<'_>> = dots.iter().collect();
    loads.sort_by(|a, b| a.load.mean.total_cmp(&b.load.mean));
    let few = dots.len() / 5;
    let gap = loads
        .windows(2)
        .enumerate()
        // So many lie beyond the gap; near it there are at least twice as many.
        .filter(|(at, _)| {
            let beyond = loads.len() - 1 - at;
            beyond <= few && at + 1 >= 2 * beyond
        })
        .map(|(_, pair)| (pair[0].load.hi, pair[1].load.lo))
        .find(|(below, above)| *below > 0.05 && *above > 3.0 * below);
    let with_target = |most: f64| {
        if target > most && target <= 1.5 * most {
            target
        } else {
            most
        }
    };
    let Some((below, above)) = gap else {
        let ends = dots.iter().flat_map(|dot| [dot.load.lo, dot.load.hi]);
        let most = dots.iter().map(|dot| dot.load.hi).fold(0.0, f64::max);
        let ends = ends.chain([with_target(most)]);
        return Scale::linear(extent(ends, true), (left, right));
    };
    let most = dots.iter().map(|dot| dot.load.hi).fold(above, f64::max);
    let air = ((most - above) * 0.8).max(0.06);
    let edge = left + (right - left) * 0.8;
    let below = with_target(below).min(above - air);
    Scale::Broken {
        near: ((0.0, below * 1.06), (left, edge - 8.0)),
        far: ((above - air, most + air), (edge + 8.0, right)),
    }
}
