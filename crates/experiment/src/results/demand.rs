//! Choice by demand: what it gains and misses beside others, what it bears in sweeps, and how it does on SUMO's traffic.

use std::io;
use std::path::Path;

use super::runs::Run;
use super::sweep::{ArmRuns, WorldRuns, cell};
use crate::names::{CAM_ONLY, CPM_RMR, DEMAND, ORACLE, PROPOSED_04, RANDOM_REDRAW_04, strategy_of};
use crate::plan::BASELINE;
use crate::summary::ArmSummary;
use crate::tables::typed::{self, Cell};
use crate::text_table::TextTable;

/// A row per world, deficit and load of every arm, the unchanged world first. None where there are no worlds.
pub(crate) fn robustness_table(worlds: &[WorldRuns]) -> Option<String> {
    let name = |world: &WorldRuns| {
        let name = world.key.first().and_then(Cell::text);
        name.unwrap_or_default().to_string()
    };
    let arms: Vec<&str> = worlds.first()?.arms.iter().map(|(a, _)| &a[..]).collect();
    let heads: Vec<String> = arms.iter().map(|arm| format!("#{arm}")).collect();
    let mut head = vec!["changed"];
    head.extend(heads.iter().map(String::as_str));
    let mut table = TextTable::new(&head);
    let (same, changed): (Vec<_>, Vec<_>) = worlds.iter().partition(|w| name(w) == BASELINE);
    for world in same.into_iter().chain(changed) {
        let label = match name(world) {
            name if name == BASELINE => "nothing".to_string(),
            name => name,
        };
        let mut row = vec![label];
        row.extend(arms.iter().map(|arm| {
            let runs = world.arm(arm);
            cell(
                runs.and_then(ArmRuns::deficit),
                runs.and_then(ArmRuns::load),
            )
        }));
        table.row(row);
    }
    Some(table.markdown())
}

/// Arms of the short table, in its order, with a word each.
const GAINS: [(&str, &str); 19] = [
    (CAM_ONLY, "beacons alone"),
    (CPM_RMR, "standard messages, redundancy mitigation"),
    ("cpm-utility", "standard messages, objects by utility"),
    ("random-redraw@0.2", "who reports is drawn anew every cycle"),
    (RANDOM_REDRAW_04, ""),
    ("proposed@0.2", "the letter's protocol"),
    (PROPOSED_04, ""),
    ("nearest@0.2", "whoever is nearest to the host"),
    ("cmass@0.2", "maximum coverage with exploration"),
    ("cmass@0.4", ""),
    ("max-age@0.2", "whoever has not reported for longest"),
    (
        "proposed-lean@0.2",
        "the letter's, silent objects only, digests at 2 Hz",
    ),
    ("proposed-lean@0.4", ""),
    ("demand@0.15", "choice by demand"),
    ("demand@0.22", ""),
    ("demand@0.45", ""),
    (
        "omniscient@0.15",
        "the yardstick: knows needs, views and links",
    ),
    ("omniscient@0.22", ""),
    (ORACLE, "all that anyone equipped sees, at once"),
];

/// From the letter's protocol to choice by demand, one idea at a time.
const STEPS: [(&str, &str); 6] = [
    (PROPOSED_04, "the letter's protocol"),
    (
        "proposed-lean@0.4",
        "reports of silent objects only, digests at 2 Hz",
    ),
    (
        "demand-random@0.22",
        "content by need, who speaks drawn at random, no digest, no full broadcast",
    ),
    (
        "demand-digest@0.22",
        "who speaks by need, views from digests",
    ),
    ("demand@0.22", "views by sight lines"),
    (
        "omniscient@0.22",
        "perfect knowledge of needs, views and links",
    ),
];

/// Arms whose misses are told apart.
const MISSING: [&str; 5] = [
    CAM_ONLY,
    PROPOSED_04,
    "demand@0.15",
    "demand@0.45",
    "omniscient@0.15",
];

/// The parts of a document that tell of choice by demand, from the run with all arms: what it gains, by which idea, what it misses.
pub(crate) fn parts(run: &Run<'_>) -> Vec<(String, String)> {
    let arms = &run.input.summary.arms;
    let estimates = |arm: &ArmSummary| {
        let deficit = [arm.deficit.mean, arm.deficit.lo, arm.deficit.hi];
        let load = [arm.load.mean, arm.load.lo, arm.load.hi];
        [with_ends(deficit, 100.0, 2), with_ends(load, 1.0, 3)]
    };
    let mut gains = TextTable::new(&["arm", "#deficit, %", "#load", ""]);
    for (name, words) in GAINS {
        if let Some(arm) = arms.get(name) {
            let [deficit, load] = estimates(arm);
            gains.row([format!("`{name}`"), deficit, load, words.to_string()]);
        }
    }
    let mut steps = TextTable::new(&["step", "arm", "#deficit, %", "#load"]);
    for (name, words) in STEPS {
        if let Some(arm) = arms.get(name) {
            let [deficit, load] = estimates(arm);
            steps.row([words.to_string(), format!("`{name}`"), deficit, load]);
        }
    }
    vec![
        ("demand-gains".to_string(), gains.markdown()),
        ("demand-steps".to_string(), steps.markdown()),
        ("demand-misses".to_string(), misses(run)),
    ]
}

/// Misses by cause, in per cent of relevant pairs.
fn misses(run: &Run<'_>) -> String {
    let arms: Vec<(&str, &ArmSummary, f64)> = MISSING
        .into_iter()
        .filter_map(|name| {
            let arm = run.input.summary.arms.get(name)?;
            let relevant: u64 = arm.per_seed.iter().map(|seed| seed.relevant).sum();
            Some((name, arm, relevant as f64))
        })
        .collect();
    let heads: Vec<String> = arms.iter().map(|(name, ..)| format!("#`{name}`")).collect();
    let mut head = vec!["what was missed"];
    head.extend(heads.iter().map(String::as_str));
    let mut table = TextTable::new(&head);
    let mut line = |words: &str, count: fn(&ArmSummary) -> u64| {
        let mut row = vec![words.to_string()];
        row.extend(arms.iter().map(|(_, arm, relevant)| {
            let share = 100.0 * count(arm) as f64 / relevant.max(1.0);
            format!("{share:.2}")
        }));
        table.row(row);
    };
    line("object without a radio, never told", |arm| {
        arm.misses.unequipped_unknown
    });
    line("object without a radio, told too long ago", |arm| {
        arm.misses.unequipped_stale
    });
    line("object with a radio, beacons lost or too old", |arm| {
        arm.misses.equipped_unknown + arm.misses.equipped_stale
    });
    line("of all: hidden by a vehicle", |arm| {
        arm.misses.behind_vehicle
    });
    line("of all: hidden by a building", |arm| {
        arm.misses.behind_building
    });
    table.markdown()
}

/// A value with its interval, scaled, as tables show it.
fn with_ends(ends: [Option<f64>; 3], scale: f64, decimals: usize) -> String {
    let shown = |value: Option<f64>| {
        value.map_or_else(
            || "\u{2013}".to_string(),
            |value| format!("{:.decimals$}", scale * value).replace('-', "\u{2212}"),
        )
    };
    let [value, low, high] = ends.map(shown);
    format!("{value} [{low}, {high}]")
}

fn bracketed(row: &[Cell], scale: f64, decimals: usize) -> String {
    match row {
        [value, low, high] => {
            let ends = [value.number(), low.number(), high.number()];
            with_ends(ends, scale, decimals)
        }
        _ => String::new(),
    }
}

/// A row per arm with its intervals, from the estimates of a sweep of one world.
pub(crate) fn arms_table(file: &Path) -> io::Result<String> {
    let mut table = TextTable::new(&["arm", "#deficit, %", "#load"]);
    let columns = [
        "arm",
        "deficit",
        "deficit_lo",
        "deficit_hi",
        "load",
        "load_lo",
        "load_hi",
    ];
    typed::read(file, &columns, |row| {
        table.row([
            row[0].text().unwrap_or_default().to_string(),
            bracketed(&row[1..4], 100.0, 2),
            bracketed(&row[4..7], 1.0, 3),
        ]);
    })?;
    Ok(table.markdown())
}

/// Choice by demand beside each other arm, from the comparisons of a sweep of one world.
pub(crate) fn paired_table(file: &Path) -> io::Result<String> {
    let mut table = TextTable::new(&[
        "arm",
        "misses less than",
        "#by, points",
        "#by, %",
        "intervals without zero",
    ]);
    let columns = [
        "better",
        "worse",
        "reduction_pp",
        "reduction_pp_lo",
        "reduction_pp_hi",
        "reduction_rel",
        "reduction_rel_lo",
        "reduction_rel_hi",
    ];
    typed::read(file, &columns, |row| {
        let name = |at: usize| row[at].text().unwrap_or_default().to_string();
        if strategy_of(&name(0)) != DEMAND {
            return;
        }
        let above = |at: usize| row[at].number().is_some_and(|low| low > 0.0);
        let clear = above(3) && above(6);
        table.row([
            name(0),
            name(1),
            bracketed(&row[2..5], 1.0, 2),
            bracketed(&row[5..8], 100.0, 1),
            if clear { "yes" } else { "**no**" }.to_string(),
        ]);
    })?;
    Ok(table.markdown())
}
