//! Choice by demand in sweeps: what it bears, and how it does on SUMO's traffic.

use std::io;
use std::path::Path;

use super::sweep::{ArmRuns, WorldRuns, cell};
use crate::names::{DEMAND, strategy_of};
use crate::plan::BASELINE;
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

fn bracketed(row: &[Cell], scale: f64, decimals: usize) -> String {
    let shown = |cell: &Cell| {
        cell.number().map_or_else(
            || "\u{2013}".to_string(),
            |value| format!("{:.decimals$}", scale * value).replace('-', "\u{2212}"),
        )
    };
    match row {
        [value, low, high] => format!("{} [{}, {}]", shown(value), shown(low), shown(high)),
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
