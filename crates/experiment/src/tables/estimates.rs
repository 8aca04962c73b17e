//! Columns and rows of the tables that only a sweep leaves: `arms` (estimates with intervals by world and arm) and `paired`
//! (comparisons by world), and of the values that set worlds apart.

use super::typed::{Cell, Column, Kind};
use crate::summary::{ArmSummary, Difference, PairedSummary, Summary};
use crate::world::World;

/// A column for every key that sets worlds apart: numbers where all values are.
pub(crate) fn value_columns(worlds: &[World]) -> Vec<Column> {
    let Some(first) = worlds.first() else {
        return Vec::new();
    };
    first
        .values
        .iter()
        .map(|(key, _)| {
            let numbers = worlds.iter().all(|world| {
                world
                    .values
                    .iter()
                    .any(|(k, v)| k == key && (v.is_float() || v.is_integer()))
            });
            Column::new(key, if numbers { Kind::Number } else { Kind::Text })
        })
        .collect()
}

/// What sets a world apart, in the order of [`value_columns`].
pub(crate) fn value_cells(keys: &[Column], world: &World) -> Vec<Cell> {
    keys.iter()
        .map(|column| {
            let value = world.values.iter().find(|(key, _)| *key == column.name);
            match value.map(|(_, value)| value) {
                Some(toml::Value::Float(x)) if column.kind == Kind::Number => Cell::Number(*x),
                Some(toml::Value::Integer(x)) if column.kind == Kind::Number => {
                    Cell::Number(*x as f64)
                }
                Some(toml::Value::String(text)) => text.as_str().into(),
                Some(value) => value.to_string().as_str().into(),
                None => Cell::Null,
            }
        })
        .collect()
}

/// Columns of the table of arms.
pub(crate) fn arm_columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("arm", Kind::Text),
        Column::new("seeds", Kind::Integer),
    ];
    columns.extend(
        [
            "deficit",
            "deficit_lo",
            "deficit_hi",
            "deficit_all",
            "load",
            "load_lo",
            "load_hi",
            "load_by_tile",
            "load_digest",
            "load_reports",
            "load_broadcast",
            "price",
            "contributors",
            "digest_bytes",
            "beacon_load",
            "beacon_load_lo",
            "beacon_load_hi",
            "vehicles",
            "participants",
            "distance_to_letter",
        ]
        .map(|name| Column::new(name, Kind::Number)),
    );
    columns
}

/// The row of one arm of a world.
pub(crate) fn arm_row(name: &str, arm: &ArmSummary, summary: &Summary) -> Vec<Cell> {
    let mut row = vec![name.into(), (summary.seeds.len() as u64).into()];
    row.extend(
        [
            arm.deficit.mean,
            arm.deficit.lo,
            arm.deficit.hi,
            arm.deficit_all.mean,
            arm.load.mean,
            arm.load.lo,
            arm.load.hi,
            arm.load_by_tile.and_then(|load| load.mean),
            arm.load_parts.digest,
            arm.load_parts.reports,
            arm.load_parts.broadcast,
            arm.price.mean,
            arm.contributors.mean,
            arm.digest_bytes.mean,
            arm.beacon_load.mean,
            arm.beacon_occupancy.and_then(|load| load.lo),
            arm.beacon_occupancy.and_then(|load| load.hi),
            summary.scenario.vehicles,
            summary.scenario.participants,
            summary.distance_to_letter,
        ]
        .map(Cell::from),
    );
    row
}

/// Columns of the table of comparisons.
pub(crate) fn paired_columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("better", Kind::Text),
        Column::new("worse", Kind::Text),
    ];
    for what in ["reduction_pp", "reduction_rel"] {
        columns.push(Column::new(what, Kind::Number));
        columns.push(Column::new(format!("{what}_lo"), Kind::Number));
        columns.push(Column::new(format!("{what}_hi"), Kind::Number));
        columns.push(Column::new(format!("{what}_includes_zero"), Kind::Flag));
    }
    columns
}

/// The row of one comparison.
pub(crate) fn paired_row(pair: &PairedSummary) -> Vec<Cell> {
    let mut row = vec![pair.better.as_str().into(), pair.worse.as_str().into()];
    row.extend(difference_cells(&pair.deficit_reduction_pp));
    row.extend(difference_cells(&pair.deficit_reduction_rel));
    row
}

fn difference_cells(difference: &Difference) -> [Cell; 4] {
    [
        difference.mean.into(),
        difference.lo.into(),
        difference.hi.into(),
        difference.includes_zero.map_or(Cell::Null, Cell::Flag),
    ]
}
