//! The road as it is: all arms under ideal and under real beacons and sensors, by the metrics of the field.

use std::io;
use std::path::Path;

use crate::plan::{BASELINE, VARIANT};
use crate::report::figures::with_interval;
use crate::stats::{self, FEWEST_SEEDS, Share};
use crate::tables::typed::{self, Cell};
use crate::text_table::TextTable;

const NONE: &str = "\u{2013}";

/// Columns of the table of runs that are read, the name of the arm apart.
const COLUMNS: [&str; 12] = [
    "relevant",
    "missed",
    "missed_by_provenance",
    "load",
    "participant_cycles",
    "aware_known_200m",
    "aware_all_200m",
    "age_s",
    "aware_known",
    "object_redundancy_per_s",
    "busy_ratio",
    "false_alarms",
];

/// What is shown, with its unit, a factor and decimals.
const QUANTITIES: [(&str, f64, usize); 8] = [
    ("Deficit, %", 100.0, 2),
    ("Deficit by provenance, %", 100.0, 2),
    ("Load", 1.0, 3),
    ("Known within 200 m, %", 100.0, 1),
    ("Age, s", 1.0, 3),
    ("Received again, per s and object", 1.0, 1),
    ("Busy ratio", 1.0, 3),
    ("False alarms, % of relevant objects", 100.0, 3),
];

/// An arm in a world: parts and wholes of every quantity, by seed.
#[derive(Debug, Clone, Default)]
struct ArmRuns {
    name: String,
    shares: [Vec<Share>; QUANTITIES.len()],
}

impl ArmRuns {
    /// One more seed, with the values of [`COLUMNS`].
    fn add(&mut self, row: &[Cell]) {
        let number = |name: &str| {
            let at = COLUMNS.iter().position(|column| *column == name)?;
            row.get(at)?.number()
        };
        let count = |name| number(name).unwrap_or(0.0);
        let over = |part, whole| Share { part, whole };
        // A mean that is not there has no weight.
        let mean = |name, weight: f64| match number(name) {
            Some(mean) => over(mean * weight, weight),
            None => over(0.0, 0.0),
        };
        let (relevant, cycles) = (count("relevant"), count("participant_cycles"));
        let values = [
            over(count("missed"), relevant),
            over(count("missed_by_provenance"), relevant),
            mean("load", cycles),
            over(count("aware_known_200m"), count("aware_all_200m")),
            mean("age_s", count("aware_known")),
            mean("object_redundancy_per_s", count("aware_known_200m")),
            mean("busy_ratio", cycles),
            over(count("false_alarms"), relevant),
        ];
        for (shares, value) in self.shares.iter_mut().zip(values) {
            shares.push(value);
        }
    }

    /// A quantity as text: deficits with their intervals where seeds are enough.
    fn shown(&self, quantity: usize) -> String {
        let (_, factor, decimals) = QUANTITIES[quantity];
        let shares = &self.shares[quantity];
        let Some(estimate) = stats::pooled(shares) else {
            return NONE.to_string();
        };
        let estimate = estimate.scaled(factor);
        if quantity == 0 && shares.len() >= FEWEST_SEEDS {
            with_interval(estimate, decimals, "")
        } else {
            format!("{:.decimals$}", estimate.mean)
        }
    }
}

/// A world and its arms, in the order of the table.
#[derive(Debug, Clone, Default)]
struct RoadWorld {
    title: String,
    arms: Vec<ArmRuns>,
}

fn read(file: &Path) -> io::Result<Vec<RoadWorld>> {
    let columns = [&[VARIANT, "arm"][..], &COLUMNS].concat();
    let mut worlds: Vec<RoadWorld> = Vec::new();
    typed::read(file, &columns, |row| {
        let (Some(title), Some(arm)) = (row[0].text(), row[1].text()) else {
            return;
        };
        let title = match title {
            BASELINE => "ideal",
            other => other,
        };
        let at = match worlds.iter().position(|world| world.title == title) {
            Some(at) => at,
            None => {
                worlds.push(RoadWorld {
                    title: title.to_string(),
                    arms: Vec::new(),
                });
                worlds.len() - 1
            }
        };
        let arms = &mut worlds[at].arms;
        let at = match arms.iter().position(|known| known.name == arm) {
            Some(at) => at,
            None => {
                arms.push(ArmRuns {
                    name: arm.to_string(),
                    ..ArmRuns::default()
                });
                arms.len() - 1
            }
        };
        arms[at].add(&row[2..]);
    })?;
    Ok(worlds)
}

/// A table for each quantity, a row per arm and a column per world, from the runs of the sweep.
pub(crate) fn tables(file: &Path) -> io::Result<String> {
    let worlds = read(file)?;
    let mut text = String::new();
    for (quantity, (title, ..)) in QUANTITIES.iter().enumerate() {
        let mut head = vec!["arm".to_string()];
        head.extend(worlds.iter().map(|world| format!("#{}", world.title)));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&head);
        for arm in worlds.first().map_or(&[][..], |world| &world.arms) {
            let mut row = vec![arm.name.clone()];
            row.extend(worlds.iter().map(|world| {
                let same = world.arms.iter().find(|other| other.name == arm.name);
                same.map_or_else(|| NONE.to_string(), |same| same.shown(quantity))
            }));
            table.row(row);
        }
        text.push_str(&format!("**{title}**\n\n{}\n", table.markdown().trim_end()));
        if quantity + 1 < QUANTITIES.len() {
            text.push('\n');
        }
    }
    Ok(text.trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use crate::tables::typed::{Column, Kind, ParquetTable};

    #[test]
    fn every_quantity_has_a_table_of_arms_and_worlds() {
        let folder = Folder::new("road-tables");
        std::fs::create_dir_all(&folder.0).unwrap();
        let mut columns = vec![
            Column::new(VARIANT, Kind::Text),
            Column::new("arm", Kind::Text),
        ];
        columns.extend(COLUMNS.map(|name| Column::new(name, Kind::Number)));
        let row = |variant: &str, arm: &str, missed: f64, age: Option<f64>| {
            let mut row: Vec<Cell> = vec![variant.into(), arm.into()];
            row.extend([1_000.0, missed, missed / 2.0, 0.25, 10.0, 90.0, 100.0].map(Cell::from));
            row.push(age.into());
            row.extend([50.0, 7.0, 0.6, 2.0].map(Cell::from));
            row
        };
        let rows = [
            row(BASELINE, "cam-only", 50.0, Some(0.1)),
            row(BASELINE, "cam-only", 70.0, Some(0.2)),
            row(BASELINE, "oracle", 0.0, None),
            row("real", "cam-only", 100.0, Some(0.3)),
        ];
        let mut table = ParquetTable::new(Vec::new(), columns).unwrap();
        table.rows(&rows).unwrap();
        let file = folder.0.join("runs.parquet");
        std::fs::write(&file, table.finish().unwrap()).unwrap();
        let text = tables(&file).unwrap();
        for line in [
            "| cam-only | 6.00 | 10.00 |",
            "| cam-only | 3.00 | 5.00 |",
            "| cam-only | 0.250 | 0.250 |",
            "| cam-only | 90.0 | 90.0 |",
            "| cam-only | 0.150 | 0.300 |",
            "| cam-only | 0.200 | 0.200 |",
            "| oracle | 0.00 | \u{2013} |",
            "| oracle | \u{2013} | \u{2013} |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert_eq!(text.matches("**").count(), 2 * QUANTITIES.len());
    }
}
