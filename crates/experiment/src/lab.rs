//! The laboratory: computes the seeds that are missing and keeps each as it is finished.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use crate::files::FileError;
use crate::pool::{self, JobError, PoolState};
use crate::runner::{RecordTo, Runner, RunnerError};
use crate::store::{Fingerprint, Store};

/// A seed of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The world's number.
    pub world: usize,
    /// The seed.
    pub seed: u64,
}

/// Why the work ended early.
#[derive(Debug, Error)]
pub enum LabError {
    /// A folder or file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A seed could not be run.
    #[error(transparent)]
    Run(#[from] RunnerError),
}

/// How far the work got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Computed {
    /// Seeds that were finished.
    pub done: usize,
    /// Stopped from outside before all were.
    pub stopped: bool,
}

/// Every seed of every world, seeds of a world together.
#[must_use]
pub fn jobs(worlds: usize, seeds: &[u64]) -> Vec<Job> {
    (0..worlds)
        .flat_map(|world| seeds.iter().map(move |&seed| Job { world, seed }))
        .collect()
}

/// Those of `jobs` that are not finished. Damaged results are set aside.
///
/// # Errors
/// A file is there but cannot be read.
pub fn missing(store: &Store, prints: &[Fingerprint], jobs: &[Job]) -> Result<Vec<Job>, FileError> {
    let mut missing = Vec::new();
    for &job in jobs {
        if store.get(&prints[job.world], job.seed)?.is_none() {
            missing.push(job);
        }
    }
    Ok(missing)
}

/// How to work.
pub struct Work<'a> {
    /// Where results go.
    pub store: &'a Store,
    /// The fingerprint of each world.
    pub prints: &'a [Fingerprint],
    /// What runs them.
    pub runner: &'a Runner<'a>,
    /// How many at once.
    pub workers: usize,
    /// Set to end the work.
    pub stop: &'a AtomicBool,
    /// Keep cycles, which are most of a result's size.
    pub cycles: bool,
    /// Where the recording of a job goes, if it is to be recorded.
    pub record: &'a (dyn Fn(&Job) -> Option<PathBuf> + Sync),
}

impl Work<'_> {
    /// Computes `jobs`, all of which are missing.
    ///
    /// # Errors
    /// A seed cannot be run or a result cannot be kept; others that are finished stay.
    pub fn compute(
        &self,
        jobs: &[Job],
        watch: impl FnMut(&PoolState),
    ) -> Result<Computed, LabError> {
        let work = |job: &Job, monitor: pool::Monitor<'_>| {
            let file = (self.record)(job);
            let record = file.as_deref().map(|file| RecordTo {
                file,
                run: self.prints[job.world].as_str(),
            });
            let mut result = self
                .runner
                .run(job.world, job.seed, monitor, record)
                .map_err(|error| match error {
                    JobError::Stopped => JobError::Stopped,
                    JobError::Failed(error) => JobError::Failed(LabError::Run(error)),
                })?;
            if !self.cycles {
                result.cycles.clear();
            }
            self.store
                .put(&self.prints[job.world], &result)
                .map_err(|error| JobError::Failed(LabError::File(error)))
        };
        let outcome = pool::run(jobs, self.workers, self.stop, work, watch);
        match outcome.failure {
            Some((_, error)) => Err(error),
            None => Ok(Computed {
                done: outcome.done,
                stopped: outcome.stopped && outcome.done < jobs.len(),
            }),
        }
    }
}
