//! What liars cost, from the sweep whose worlds are named by share and kind.

use super::sweep::{ArmRuns, WorldRuns, cell};
use crate::plan::BASELINE;
use crate::tables::typed::Cell;
use crate::text_table::TextTable;

/// The share of liars, in per cent, that the aim speaks of.
const AIM_AT: &str = "5";
/// Liars shall cost no more than this part of an arm's deficit without them,
const AIM_PART: f64 = 0.25;
/// or this much of it, a fraction, whichever is more.
const AIM_LEAST: f64 = 0.001;

/// Takes the name of a world apart: "5 % claim views" are 5 and "claim views".
fn parts(name: &str) -> Option<(&str, &str)> {
    name.split_once(" % ")
}

fn name(world: &WorldRuns) -> &str {
    world.key.first().and_then(Cell::text).unwrap_or_default()
}

/// What 5 % of liars add to the deficit of an arm, in points, marked where it is more than aimed for.
fn cost(honest: Option<f64>, with: Option<f64>) -> String {
    let (Some(honest), Some(with)) = (honest, with) else {
        return "\u{2013}".to_string();
    };
    let added = with - honest;
    let text = format!("{:+.2}", 100.0 * added).replace('-', "\u{2212}");
    if added <= (AIM_PART * honest).max(AIM_LEAST) {
        text
    } else {
        format!("**{text}**")
    }
}

/// A row per kind of liar, and for each arm deficit and load by their share and what 5 % cost. None without an honest world.
pub(crate) fn table(worlds: &[WorldRuns]) -> Option<String> {
    let honest = worlds.iter().find(|world| name(world) == BASELINE)?;
    let mut shares: Vec<&str> = Vec::new();
    let mut kinds: Vec<&str> = Vec::new();
    for (share, kind) in worlds.iter().filter_map(|world| parts(name(world))) {
        if !shares.contains(&share) {
            shares.push(share);
        }
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut head = vec!["who lies".to_string()];
    for (arm, _) in &honest.arms {
        head.extend(shares.iter().map(|share| format!("#{arm}: {share} %")));
        head.push(format!("#{AIM_AT} % cost, points"));
    }
    let heads: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&heads);
    let shown = |runs: Option<&ArmRuns>| {
        cell(
            runs.and_then(ArmRuns::deficit),
            runs.and_then(ArmRuns::load),
        )
    };
    let mut row = vec!["nobody".to_string()];
    for (_, runs) in &honest.arms {
        row.push(shown(Some(runs)));
        row.extend(shares.iter().map(|_| String::new()));
    }
    table.row(row);
    for kind in kinds {
        let with = |share: &str, arm: &str| {
            let world = worlds
                .iter()
                .find(|world| parts(name(world)) == Some((share, kind)));
            world.and_then(|world| world.arm(arm))
        };
        let mut row = vec![kind.to_string()];
        for (arm, runs) in &honest.arms {
            row.extend(shares.iter().map(|share| shown(with(share, arm))));
            let lied_to = with(AIM_AT, arm).and_then(ArmRuns::deficit);
            row.push(cost(runs.deficit(), lied_to));
        }
        table.row(row);
    }
    Some(table.markdown())
}
