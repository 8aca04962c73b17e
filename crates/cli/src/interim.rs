//! What is known so far: table and report after the first seeds, made again as more come in.
//!
//! Made after 1, 2, 4, 8, … seeds, beside the results (`interim/`), from the seeds that are finished, with intervals that say how few they
//! are. The final results take its place.

use std::path::Path;
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use covey_experiment::files;
use covey_experiment::pool::PoolState;
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

/// Has tables made beside the work, one at a time, and hands them out.
pub(crate) struct Teller<'scope, F> {
    make: F,
    /// Seeds of the last table.
    told: usize,
    making: Option<ScopedJoinHandle<'scope, Option<String>>>,
}

impl<'scope, F> Teller<'scope, F>
where
    F: FnMut() -> ScopedJoinHandle<'scope, Option<String>>,
{
    /// Tables are made by `make`, on a thread of its own: drawing seeds anew takes longer than a signal may wait.
    pub(crate) fn new(make: F) -> Self {
        Self {
            make,
            told: 0,
            making: None,
        }
    }

    /// A table that has been made since the last look.
    pub(crate) fn look(&mut self, state: &PoolState) -> Option<String> {
        if self.making.is_none() && is_due(state.done, self.told, state.jobs) {
            self.told = state.done;
            self.making = Some((self.make)());
        }
        let made = self.making.take_if(|making| making.is_finished())?;
        made.join().ok().flatten()
    }
}

/// So many finished seeds are worth a table: 1, 2, 4, 8, …, and not the last, whose results follow anyway.
fn is_due(done: usize, told: usize, of: usize) -> bool {
    done < of && done > told && (told == 0 || done >= 2 * told)
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
            "So far, {} of {}; {} grows with them.\n\n{}",
            seeds.len(),
            counted(self.seeds.len(), "seed"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_early_and_then_less_often() {
        let mut told = 0;
        let mut tables = Vec::new();
        for done in 0..=17 {
            if is_due(done, told, 17) {
                told = done;
                tables.push(done);
            }
        }
        assert_eq!(tables, [1, 2, 4, 8, 16]);
        assert!(!is_due(1, 0, 1), "the results follow");
        assert!(is_due(3, 1, 17), "two that end at once are one table");
    }
}
