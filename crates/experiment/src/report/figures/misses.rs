//! Figure 5: where misses come from.

use covey_simulator::outcome::Misses;

use super::super::draw::{Anchor, Paint, Panel, SMALL, Scale, Svg, TEXT};
use super::super::series::Series;
use super::super::view::{ArmView, View};
use super::{Figure, Layout, Swatch, extent, legend};

/// A part of all misses.
type Part = (&'static str, Paint, f64, fn(&Misses) -> u64);

/// By what was known of the object; these add up to all misses.
pub(crate) const BY_KNOWLEDGE: [Part; 4] = [
    ("with radio, stale", Paint::BLUE, 0.5, |m| m.equipped_stale),
    ("with radio, unknown", Paint::BLUE, 1.0, |m| {
        m.equipped_unknown
    }),
    ("no radio, stale", Paint::ORANGE, 0.5, |m| {
        m.unequipped_stale
    }),
    ("no radio, unknown", Paint::ORANGE, 1.0, |m| {
        m.unequipped_unknown
    }),
];

/// By what hides the object from the vehicle itself.
pub(crate) const BY_SIGHT: [Part; 4] = [
    ("behind a building", Paint::VERMILLION, 1.0, |m| {
        m.behind_building
    }),
    ("behind a vehicle", Paint::GREEN, 1.0, |m| m.behind_vehicle),
    ("out of range", Paint::SKY, 1.0, |m| m.out_of_range),
    ("other", Paint::GRID, 1.0, |m| {
        all(m).saturating_sub(m.behind_building + m.behind_vehicle + m.out_of_range)
    }),
];

fn all(m: &Misses) -> u64 {
    m.equipped_stale + m.equipped_unknown + m.unequipped_stale + m.unequipped_unknown
}

/// One arm's bar.
pub(crate) struct Bar {
    pub(crate) arm: String,
    pub(crate) relevant: u64,
    pub(crate) misses: Misses,
}

impl Bar {
    /// A count as per cent of all relevant objects.
    pub(crate) fn share(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.relevant as f64
    }
}

/// The bars in the order of tables; the summary has the counts, too.
pub(crate) fn bars(view: &View<'_>, series: &Series) -> Vec<Bar> {
    if series.misses.is_empty() {
        return view.arms.iter().filter_map(bar_of).collect();
    }
    let order = |arm: &str| {
        view.arms
            .iter()
            .position(|known| known.name == arm)
            .unwrap_or(usize::MAX)
    };
    let mut bars: Vec<Bar> = series
        .misses
        .iter()
        .filter(|row| row.relevant > 0)
        .map(|row| Bar {
            arm: row.arm.clone(),
            relevant: row.relevant,
            misses: row.misses,
        })
        .collect();
    bars.sort_by(|a, b| {
        order(&a.arm)
            .cmp(&order(&b.arm))
            .then_with(|| a.arm.cmp(&b.arm))
    });
    bars
}

fn bar_of(arm: &ArmView<'_>) -> Option<Bar> {
    let relevant: u64 = arm.all.per_seed.iter().map(|seed| seed.relevant).sum();
    // Older summaries have no counts by kind.
    let counted = all(&arm.all.misses) > 0 || arm.all.per_seed.iter().all(|seed| seed.missed == 0);
    (relevant > 0 && counted).then(|| Bar {
        arm: arm.name.to_string(),
        relevant,
        misses: arm.all.misses,
    })
}

/// The least part of the longest bar that can be seen: half a point of some 270.
const VISIBLE: f64 = 1.0 / 540.0;

/// Whether a part can be seen in some bar: what cannot needs no entry.
fn shows(bars: &[Bar], count: impl Fn(&Misses) -> u64) -> bool {
    let most = bars.iter().map(|bar| bar.share(all(&bar.misses)));
    let most = most.fold(0.0, f64::max);
    bars.iter()
        .any(|bar| count(&bar.misses) > 0 && bar.share(count(&bar.misses)) >= VISIBLE * most)
}

/// Whether the line under the bars, the part that nobody saw or heard in time, can be seen.
pub(crate) fn shows_nobody(bars: &[Bar]) -> bool {
    shows(bars, |misses| misses.seen_by_nobody)
}

pub(crate) fn figure(bars: &[Bar]) -> Option<Figure> {
    if bars.is_empty() {
        return None;
    }
    Some(Figure::new(
        "5-where-misses-come-from.svg",
        "Misses by what was known of the object, and by what hides it from the vehicle itself, for every arm",
        |layout| draw(layout, bars),
    ))
}

fn draw(layout: Layout, bars: &[Bar]) -> Svg {
    let items = |parts: &[Part]| -> Vec<(Swatch, String)> {
        parts
            .iter()
            .filter(|(_, _, _, count)| shows(bars, count))
            .map(|(name, paint, opacity, _)| (Swatch::Bar(*paint, *opacity), (*name).to_string()))
            .collect()
    };
    let mut second = items(&BY_SIGHT);
    let nobody = shows_nobody(bars);
    if nobody {
        second.push((
            Swatch::Line(super::Stroke::solid(Paint::INK, 3.0)),
            "seen or heard by nobody in time".to_string(),
        ));
    }
    let first = items(&BY_KNOWLEDGE);
    let width = layout.width();
    let most = bars.iter().map(|bar| bar.share(all(&bar.misses)));
    let data = extent(most, true);
    let titles = [
        "What was known of the missed object",
        "What hides it from the vehicle itself",
    ];
    if layout.is_wide() {
        let labels = 150.0;
        let top = 60.0 + 22.0;
        let pitch = 22.0;
        let bottom = top + pitch * bars.len() as f64;
        let mut svg = Svg::new(width, bottom + 40.0);
        legend(&mut svg, 8.0, 4.0, &first);
        legend(&mut svg, 8.0, 24.0, &second);
        let panel_width = (width - labels - 4.0 - 12.0 - 20.0) / 2.0;
        for (i, parts) in [&BY_KNOWLEDGE, &BY_SIGHT].into_iter().enumerate() {
            let left = 4.0 + labels + i as f64 * (panel_width + 20.0);
            let panel = panel(left, left + panel_width, top, bottom, data);
            svg.bold((left, top - 10.0), Anchor::Start, TEXT, titles[i]);
            panel.x_axis(&mut svg, "misses (% of relevant objects)", 4);
            for (row, bar) in bars.iter().enumerate() {
                let y = top + pitch * row as f64 + 4.0;
                if i == 0 {
                    svg.text((left - 8.0, y + 11.0), Anchor::End, TEXT, &bar.arm);
                }
                stack(&mut svg, &panel, y, 12.0, bar, parts, nobody && i == 1);
            }
        }
        return svg;
    }
    let pitch = 31.0;
    let panel_height = pitch * bars.len() as f64;
    let mut trial = Svg::new(width, 10.0);
    let heads = [
        legend(&mut trial, 8.0, 0.0, &first),
        legend(&mut trial, 8.0, 0.0, &second),
    ];
    let mut svg = Svg::new(
        width,
        heads[0] + heads[1] + 2.0 * (panel_height + 64.0) + 24.0,
    );
    let mut y = 0.0;
    for (i, (parts, items)) in [(&BY_KNOWLEDGE, &first), (&BY_SIGHT, &second)]
        .into_iter()
        .enumerate()
    {
        svg.bold((6.0, y + 14.0), Anchor::Start, TEXT, titles[i]);
        let top = legend(&mut svg, 8.0, y + 22.0, items) + 4.0;
        let panel = panel(4.0, width - 8.0, top, top + panel_height, data);
        panel.x_axis(&mut svg, "misses (% of relevant objects)", 5);
        for (row, bar) in bars.iter().enumerate() {
            let line = top + pitch * row as f64;
            svg.text((6.0, line + 12.0), Anchor::Start, SMALL, &bar.arm);
            let total = format!("{:.2} %", bar.share(all(&bar.misses)));
            svg.muted((width - 10.0, line + 12.0), Anchor::End, SMALL, &total);
            let nobody = nobody && i == 1;
            stack(&mut svg, &panel, line + 16.0, 10.0, bar, parts, nobody);
        }
        y += heads[i] + 22.0 + 4.0 + panel_height + 44.0;
    }
    svg.height = y;
    svg
}

fn panel(left: f64, right: f64, top: f64, bottom: f64, data: (f64, f64)) -> Panel {
    Panel {
        left,
        top,
        right,
        bottom,
        x: Scale::linear(data, (left, right)),
        y: Scale::linear((0.0, 1.0), (bottom, top)),
    }
}

fn stack(
    svg: &mut Svg,
    panel: &Panel,
    y: f64,
    height: f64,
    bar: &Bar,
    parts: &[Part],
    nobody: bool,
) {
    let mut before = 0;
    let total = all(&bar.misses);
    for (name, paint, opacity, count) in parts {
        let count = count(&bar.misses);
        if count == 0 {
            continue;
        }
        let (from, to) = (
            panel.x.at(bar.share(before)),
            panel.x.at(bar.share(before + count)),
        );
        let title = format!(
            "{}, {name}: {:.2} % of relevant objects, {:.0} % of its misses",
            bar.arm,
            bar.share(count),
            100.0 * count as f64 / total.max(1) as f64
        );
        svg.titled(&title, |svg| {
            // A hair of paper between neighbours, so that they part without colour.
            let gap = if to - from > 2.0 { 0.8 } else { 0.0 };
            svg.rect((from, y), (to - from - gap, height), *paint, *opacity);
        });
        before += count;
    }
    if nobody && bar.misses.seen_by_nobody > 0 {
        let share = bar.share(bar.misses.seen_by_nobody);
        let title = format!(
            "{}: {share:.2} % of relevant objects were seen or heard by no participant in time; no policy could have helped",
            bar.arm
        );
        svg.titled(&title, |svg| {
            svg.rect(
                (panel.left, y + height + 1.0),
                (panel.x.at(share) - panel.left, 3.0),
                Paint::INK,
                1.0,
            );
        });
    }
}
