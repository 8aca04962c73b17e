//! From finished seeds to files for people: summary and tables of a run, tables of a sweep.
//!
//! Results are read one by one, in the order of worlds and seeds, so memory does not grow with their number and the bytes do not
//! depend on who computed what when.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::files::{self, FileError, Pending};
use crate::store::{Fingerprint, SeedResult, Store};
use crate::summary::{ArmSummary, Difference, SeedSummary, Setting, Summary, TimingSummary};
use crate::table::{Cell, Column, Kind, ParquetTable, csv_head, csv_rows};
use crate::tables;
use crate::world::World;

/// Why results could not be put together.
#[derive(Debug, Error)]
pub enum FinishError {
    /// A folder or file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A seed is not finished.
    #[error(
        "seed {seed}{}: not finished; run the same command again",
        world_suffix(world)
    )]
    Missing {
        /// The seed.
        seed: u64,
        /// What sets its world apart, if anything.
        world: String,
    },
}

fn world_suffix(world: &str) -> String {
    if world.is_empty() {
        String::new()
    } else {
        format!(" of {world}")
    }
}

/// A table that is being written as Parquet and, if asked, as CSV.
struct Sheet {
    parquet: ParquetTable<Pending>,
    csv: Option<Pending>,
    path: PathBuf,
}

impl Sheet {
    fn new(folder: &Path, name: &str, columns: Vec<Column>, csv: bool) -> Result<Self, FileError> {
        let path = folder.join(format!("{name}.parquet"));
        let mut csv_file = None;
        if csv {
            let mut file = Pending::new(&folder.join(format!("{name}.csv")))?;
            let head = csv_head(&columns);
            io::Write::write_all(&mut file, head.as_bytes()).map_err(|e| file.failed(e))?;
            csv_file = Some(file);
        }
        let parquet = ParquetTable::new(Pending::new(&path)?, columns)
            .map_err(FileError::new(&path, "cannot be written"))?;
        Ok(Self {
            parquet,
            csv: csv_file,
            path,
        })
    }

    fn rows(&mut self, rows: &[Vec<Cell>]) -> Result<(), FileError> {
        self.parquet
            .rows(rows)
            .map_err(FileError::new(&self.path, "cannot be written"))?;
        if let Some(csv) = &mut self.csv {
            io::Write::write_all(csv, csv_rows(rows).as_bytes()).map_err(|e| csv.failed(e))?;
        }
        Ok(())
    }

    fn commit(self) -> Result<(), FileError> {
        let pending = self
            .parquet
            .finish()
            .map_err(FileError::new(&self.path, "cannot be written"))?;
        pending.commit()?;
        match self.csv {
            Some(csv) => csv.commit(),
            None => Ok(()),
        }
    }
}

/// What to put together.
pub struct Finish<'a> {
    /// Where results are.
    pub store: &'a Store,
    /// The worlds.
    pub worlds: &'a [World],
    /// The fingerprint of each.
    pub prints: &'a [Fingerprint],
    /// The seeds, ascending.
    pub seeds: &'a [u64],
    /// Where files go.
    pub folder: &'a Path,
    /// Tables as CSV, too.
    pub csv: bool,
    /// Cycles were kept and get a table.
    pub cycles: bool,
    /// Which source computed them.
    pub revision: &'a str,
}

impl Finish<'_> {
    fn result(&self, world: usize, seed: u64) -> Result<SeedResult, FinishError> {
        self.store
            .get(&self.prints[world], seed)?
            .ok_or_else(|| FinishError::Missing {
                seed,
                world: self.worlds[world].label(),
            })
    }

    fn setting(&self, world: &World) -> Setting {
        world.setting(self.revision)
    }

    /// Writes `runs`, and `cycles` if they were kept, of all worlds; hands every result to `each` and gives the outcomes of every
    /// world.
    fn tables(
        &self,
        each: &mut dyn FnMut(&SeedResult),
    ) -> Result<(Vec<Vec<SeedSummary>>, TimingSummary), FinishError> {
        let keys = value_columns(self.worlds);
        let with_keys = |columns: Vec<Column>| [keys.clone(), columns].concat();
        let mut runs = Sheet::new(
            self.folder,
            "runs",
            with_keys(tables::run_columns()),
            self.csv,
        )?;
        let mut cycles = match self.cycles {
            true => {
                let columns = with_keys(tables::cycle_columns());
                Some(Sheet::new(self.folder, "cycles", columns, self.csv)?)
            }
            false => None,
        };
        let mut timing = TimingSummary::default();
        let mut all = Vec::new();
        for (number, world) in self.worlds.iter().enumerate() {
            let values = value_cells(&keys, world);
            let keyed = |row: Vec<Cell>| [values.clone(), row].concat();
            let mut outcomes = Vec::new();
            let mut rows = Vec::new();
            for &seed in self.seeds {
                let result = self.result(number, seed)?;
                for arm in &result.arms {
                    rows.push(keyed(tables::run_row(&result.shared, arm)));
                }
                if let Some(cycles) = &mut cycles {
                    let mut rows = Vec::new();
                    for (arm, of_arm) in result.arms.iter().zip(&result.cycles) {
                        rows.extend(
                            of_arm
                                .iter()
                                .map(|c| keyed(tables::cycle_row(&arm.arm, seed, c))),
                        );
                    }
                    cycles.rows(&rows)?;
                }
                timing.cpu_s += result.cpu_s;
                add_phases(&mut timing.phases, &result);
                each(&result);
                outcomes.push(SeedSummary {
                    shared: result.shared,
                    arms: result.arms,
                });
            }
            runs.rows(&rows)?;
            all.push(outcomes);
        }
        runs.commit()?;
        if let Some(cycles) = cycles {
            cycles.commit()?;
        }
        Ok((all, timing))
    }

    /// Puts a single world together: `runs`, `cycles`; gives the summary, whose wall time and memory are still to be filled in. Every
    /// result is handed to `each` on the way.
    ///
    /// # Errors
    /// A seed is missing or a file cannot be written.
    pub fn run(&self, each: &mut dyn FnMut(&SeedResult)) -> Result<Summary, FinishError> {
        let (mut outcomes, timing) = self.tables(each)?;
        let outcomes = outcomes.pop().unwrap_or_default();
        let mut summary = Summary::new(&self.setting(&self.worlds[0]), &outcomes);
        summary.timing = timing;
        Ok(summary)
    }

    /// Puts a sweep together: `runs` (and `cycles`), `arms` (estimates with intervals by world and arm), `paired` (comparisons by
    /// world), and `sweep.json`, which says what was run. Gives the summary of every world.
    ///
    /// # Errors
    /// A seed is missing or a file cannot be written.
    pub fn sweep(&self, name: &str) -> Result<Vec<Summary>, FinishError> {
        let (outcomes, _) = self.tables(&mut |_| {})?;
        let keys = value_columns(self.worlds);
        let mut arms = Sheet::new(
            self.folder,
            "arms",
            [keys.clone(), arm_columns()].concat(),
            self.csv,
        )?;
        let mut paired = Sheet::new(
            self.folder,
            "paired",
            [keys.clone(), paired_columns()].concat(),
            self.csv,
        )?;
        let mut summaries = Vec::new();
        let (mut arm_rows, mut paired_rows) = (Vec::new(), Vec::new());
        for (world, outcomes) in self.worlds.iter().zip(&outcomes) {
            let summary = Summary::new(&self.setting(world), outcomes);
            let values = value_cells(&keys, world);
            for (name, arm) in &summary.arms.0 {
                arm_rows.push([values.clone(), arm_row(name, arm, &summary)].concat());
            }
            for pair in &summary.paired {
                let mut row = values.clone();
                row.extend([pair.better.as_str().into(), pair.worse.as_str().into()]);
                row.extend(difference_cells(&pair.deficit_reduction_pp));
                row.extend(difference_cells(&pair.deficit_reduction_rel));
                paired_rows.push(row);
            }
            summaries.push(summary);
        }
        arms.rows(&arm_rows)?;
        paired.rows(&paired_rows)?;
        arms.commit()?;
        paired.commit()?;
        let description = self.describe(name, &summaries);
        let path = self.folder.join("sweep.json");
        let text = serde_json::to_string_pretty(&description)
            .map_err(|error| FileError::new(&path, "cannot be written")(error.into()))?;
        files::write(&path, format!("{text}\n").as_bytes())?;
        Ok(summaries)
    }

    fn describe(&self, name: &str, summaries: &[Summary]) -> Value {
        let worlds: Vec<Value> = self
            .worlds
            .iter()
            .zip(summaries)
            .map(|(world, summary)| {
                let values: Map<String, Value> = world
                    .values
                    .iter()
                    .map(|(key, value)| {
                        (
                            key.clone(),
                            serde_json::to_value(value).unwrap_or(Value::Null),
                        )
                    })
                    .collect();
                json!({"values": values, "scenario": summary.scenario, "readings": summary.readings})
            })
            .collect();
        let first = &self.worlds[0];
        json!({
            "schema": "covey.sweep/1",
            "name": name,
            "revision": self.revision,
            "traffic": first.traffic.name(),
            "arms": first.arms.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "seeds": self.seeds,
            "warmup_s": first.warmup_s,
            "measure_s": first.measure_s,
            "intervals": summaries.first().map(|s| &s.intervals),
            "worlds": worlds,
        })
    }
}

fn add_phases(phases: &mut Map<String, Value>, result: &SeedResult) {
    let Ok(Value::Object(timing)) = serde_json::to_value(&result.timing) else {
        return;
    };
    for (name, seconds) in timing {
        let before = phases.get(&name).and_then(Value::as_f64).unwrap_or(0.0);
        let sum = before + seconds.as_f64().unwrap_or(0.0);
        phases.insert(name, sum.into());
    }
}

/// A column for every key that sets worlds apart: numbers where all values are.
fn value_columns(worlds: &[World]) -> Vec<Column> {
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

fn value_cells(keys: &[Column], world: &World) -> Vec<Cell> {
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

fn arm_columns() -> Vec<Column> {
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
            "load_digest",
            "load_reports",
            "load_broadcast",
            "price",
            "contributors",
            "digest_bytes",
            "beacon_load",
            "vehicles",
            "participants",
        ]
        .map(|name| Column::new(name, Kind::Number)),
    );
    columns
}

fn arm_row(name: &str, arm: &ArmSummary, summary: &Summary) -> Vec<Cell> {
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
            arm.load_parts.digest,
            arm.load_parts.reports,
            arm.load_parts.broadcast,
            arm.price.mean,
            arm.contributors.mean,
            arm.digest_bytes.mean,
            arm.beacon_load.mean,
            summary.scenario.vehicles,
            summary.scenario.participants,
        ]
        .map(Cell::from),
    );
    row
}

fn paired_columns() -> Vec<Column> {
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

fn difference_cells(difference: &Difference) -> [Cell; 4] {
    [
        difference.mean.into(),
        difference.lo.into(),
        difference.hi.into(),
        difference.includes_zero.map_or(Cell::Null, Cell::Flag),
    ]
}
