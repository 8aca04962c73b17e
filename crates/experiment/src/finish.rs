//! From finished seeds to files for people: summary and tables of a run, tables of a sweep.
//!
//! Results are read one by one, in the order of worlds and seeds, so memory does not grow with their number and the bytes do not
//! depend on who computed what when.

use std::path::Path;

use covey_simulator::Arms;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::files::{self, FileError};
use crate::store::{Fingerprint, SeedResult, Store, Want};
use crate::summary::{Setting, Summary, TimingSummary};
use crate::tables::sheet::Sheet;
use crate::tables::typed::{Cell, Column};
use crate::tables::{estimates, rows};
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
        /// Which one is missing.
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

/// What to put together.
pub struct Finish<'a> {
    /// Where finished seeds are kept.
    pub store: &'a Store,
    /// All worlds, in the order of the plan.
    pub worlds: &'a [World],
    /// The fingerprint of each.
    pub prints: &'a [Fingerprint],
    /// Ascending; every world has all of them.
    pub seeds: &'a [u64],
    /// Where summary and tables go.
    pub folder: &'a Path,
    /// Tables as CSV, too.
    pub csv: bool,
    /// Cycles were kept and get a table.
    pub cycles: bool,
    /// Which source computed them.
    pub revision: &'a str,
    /// The table of arms.
    pub known: &'a Arms,
}

impl Finish<'_> {
    fn result(&self, world: usize, seed: u64) -> Result<SeedResult, FinishError> {
        let arms = self.worlds[world].arm_names();
        let want = Want {
            arms: &arms,
            cycles: self.cycles,
        };
        self.store
            .get(&self.prints[world], seed, want)?
            .ok_or_else(|| FinishError::Missing {
                seed,
                world: self.worlds[world].label(),
            })
    }

    fn setting(&self, world: &World) -> Setting {
        world.setting(self.revision)
    }

    /// Writes `runs`, and `cycles` if they were kept, of all worlds; hands every result to `each` and gives the results of every
    /// world, without their cycles.
    fn tables(
        &self,
        each: &mut dyn FnMut(&SeedResult),
    ) -> Result<(Vec<Vec<SeedResult>>, TimingSummary), FinishError> {
        let keys = estimates::value_columns(self.worlds);
        let with_keys = |columns: Vec<Column>| [keys.clone(), columns].concat();
        let mut runs = Sheet::new(
            self.folder,
            "runs",
            with_keys(rows::run_columns()),
            self.csv,
        )?;
        let mut cycles = match self.cycles {
            true => {
                let columns = with_keys(rows::cycle_columns());
                Some(Sheet::new(self.folder, "cycles", columns, self.csv)?)
            }
            false => None,
        };
        let mut timing = TimingSummary::default();
        let mut all = Vec::new();
        for (number, world) in self.worlds.iter().enumerate() {
            let values = estimates::value_cells(&keys, world);
            let keyed = |row: Vec<Cell>| [values.clone(), row].concat();
            let mut outcomes = Vec::new();
            let mut run_rows = Vec::new();
            for &seed in self.seeds {
                let mut result = self.result(number, seed)?;
                for arm in &result.arms {
                    run_rows.push(keyed(rows::run_row(&result.shared, arm)));
                }
                if let Some(cycles) = &mut cycles {
                    let mut cycle_rows = Vec::new();
                    for (arm, of_arm) in result.arms.iter().zip(&result.cycles) {
                        cycle_rows.extend(
                            of_arm
                                .iter()
                                .map(|c| keyed(rows::cycle_row(&arm.arm, seed, c))),
                        );
                    }
                    cycles.rows(&cycle_rows)?;
                }
                timing.add(&result.timing, result.cpu_s);
                each(&result);
                // Most of a result's size, of which nothing is needed any more.
                result.cycles = Vec::new();
                outcomes.push(result);
            }
            runs.rows(&run_rows)?;
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
        let mut summary = Summary::new(&self.setting(&self.worlds[0]), &outcomes, self.known);
        summary.timing = timing;
        Ok(summary)
    }

    /// Puts a sweep together: `runs` (and `cycles`), `arms` (estimates with intervals by world and arm), `paired` (comparisons by
    /// world), `sweep.json`, which says what was run, and `worlds/N/summary.json` in the order of `sweep.json`, N from 1 on. Gives the
    /// summary of every world.
    ///
    /// # Errors
    /// A seed is missing or a file cannot be written.
    pub fn sweep(&self, name: &str) -> Result<Vec<Summary>, FinishError> {
        let (outcomes, _) = self.tables(&mut |_| {})?;
        let keys = estimates::value_columns(self.worlds);
        let mut arms = Sheet::new(
            self.folder,
            "arms",
            [keys.clone(), estimates::arm_columns()].concat(),
            self.csv,
        )?;
        let mut paired = Sheet::new(
            self.folder,
            "paired",
            [keys.clone(), estimates::paired_columns()].concat(),
            self.csv,
        )?;
        let mut summaries = Vec::new();
        let (mut arm_rows, mut paired_rows) = (Vec::new(), Vec::new());
        for (number, (world, outcomes)) in self.worlds.iter().zip(&outcomes).enumerate() {
            let summary = Summary::new(&self.setting(world), outcomes, self.known);
            self.write_summary(number, &summary)?;
            let values = estimates::value_cells(&keys, world);
            for (name, arm) in &summary.arms.0 {
                arm_rows.push([values.clone(), estimates::arm_row(name, arm, &summary)].concat());
            }
            for pair in &summary.paired {
                paired_rows.push([values.clone(), estimates::paired_row(pair)].concat());
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

    /// Writes what one world of a sweep says.
    fn write_summary(&self, number: usize, summary: &Summary) -> Result<(), FinishError> {
        let folder = self.folder.join("worlds").join((number + 1).to_string());
        files::make_folder(&folder)?;
        let path = folder.join(crate::summary::FILE);
        let text = serde_json::to_string_pretty(summary)
            .map_err(|error| FileError::new(&path, "cannot be written")(error.into()))?;
        files::write(&path, format!("{text}\n").as_bytes())?;
        Ok(())
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
                let mut described = json!({
                    "values": values, "scenario": summary.scenario, "readings": summary.readings
                });
                // Only where there is something to say: sweeps without fits or without the letter's arms are described as ever.
                if let Some(fit) = world.fit {
                    described["fit"] = json!({
                        "margin_m": fit.margin_m,
                        "cam_only_deficit": fit.cam_only_deficit,
                        "seeds": world.refit,
                    });
                }
                if let Some(distance) = summary.distance_to_letter {
                    described["distance_to_letter"] = json!(distance);
                }
                described
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
