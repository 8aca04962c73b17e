//! What is known so far: table and report after the first seeds, made again as more come in.
//!
//! Made after 1, 2, 4, 8, … seeds, beside the results (`interim/`), from the seeds that are finished, with intervals that say how few they
//! are. The final results take its place.

use std::path::Path;
use std::time::Instant;

use covey_experiment::files;
use covey_experiment::store::{Fingerprint, Store, Want};
use covey_experiment::world::World;
use covey_simulator::Arms;

use crate::failure::Failure;
use crate::laboratory::{WorkOptions, counted};
use crate::outcome_table;
use crate::report::Conclusion;
use crate::terminal::error_width;

/// Where it lies, in the results folder.
pub(crate) const FOLDER: &str = "interim";

/// A run of one world that tells what it knows on the way.
pub(crate) struct Interim<'a> {
    pub(crate) world: &'a World,
    pub(crate) seeds: &'a [u64],
    pub(crate) out: &'a Path,
    /// The scenario, as it was given.
    pub(crate) source: &'a Path,
    pub(crate) options: &'a WorkOptions,
    pub(crate) arms: &'a Arms,
    pub(crate) start: Instant,
}

/// What intervals of so few seeds are worth.
fn meaning(seeds: usize) -> &'static str {
    match seeds {
        1 => ", and an interval of one means nothing",
        2..6 => ", and intervals of so few mean little",
        _ => "",
    }
}

impl Interim<'_> {
    /// Writes summary and report of the finished seeds and gives the table; none where none is finished.
    pub(crate) fn make(
        &self,
        store: &Store,
        prints: &[Fingerprint],
    ) -> Result<Option<String>, Failure> {
        let names = self.world.arm_names();
        let want = Want {
            arms: &names,
            cycles: true,
        };
        let finished = |seed: &&u64| {
            let print = prints.first();
            print.is_some_and(|print| matches!(store.get(print, **seed, want), Ok(Some(_))))
        };
        let seeds: Vec<u64> = self.seeds.iter().filter(finished).copied().collect();
        if seeds.is_empty() {
            return Ok(None);
        }
        let folder = self.out.join(FOLDER);
        files::make_folder(&folder).map_err(crate::laboratory::file_failure)?;
        let input = Conclusion {
            world: self.world,
            seeds: &seeds,
            store,
            prints,
            out: &folder,
            source: self.source,
            options: self.options,
            json: false,
            aside: true,
            arms: self.arms,
        }
        .make(self.start)?;
        Ok(Some(format!(
            "So far, {} of {}{}; {} grows with them.\n\n{}",
            seeds.len(),
            counted(self.seeds.len(), "seed"),
            meaning(seeds.len()),
            folder.join("report.html").display(),
            outcome_table::arms(&input.summary, error_width())
        )))
    }

    /// The final results are there.
    pub(crate) fn clear(&self) {
        // What cannot be removed is no reason to fail: it says how many seeds it is of.
        let _ = std::fs::remove_dir_all(self.out.join(FOLDER));
    }
}
