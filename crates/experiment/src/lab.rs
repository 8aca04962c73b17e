//! The laboratory: computes the seeds that are missing and keeps each as it is finished.

use std::sync::atomic::AtomicBool;

use thiserror::Error;

use crate::files::FileError;
use crate::outputs::{Job, Output};
use crate::pool::{self, JobError, PoolState};
use crate::runner::{Runner, RunnerError};
use crate::store::{Fingerprint, Store};

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

/// Those of `jobs` that are not finished, or lack one of `outputs`. Damaged results are set aside.
///
/// # Errors
/// A file is there but cannot be read.
pub fn missing(
    store: &Store,
    prints: &[Fingerprint],
    jobs: &[Job],
    outputs: &[&dyn Output],
) -> Result<Vec<Job>, FileError> {
    let mut missing = Vec::new();
    for &job in jobs {
        let print = &prints[job.world];
        let lacks = |output: &&dyn Output| output.is_missing(&job, print.as_str());
        if store.get(print, job.seed)?.is_none() || outputs.iter().any(lacks) {
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
    /// What jobs leave besides their results.
    pub outputs: &'a [&'a dyn Output],
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
            let print = &self.prints[job.world];
            let lacking: Vec<&dyn Output> = self
                .outputs
                .iter()
                .copied()
                .filter(|output| output.is_missing(job, print.as_str()))
                .collect();
            let mut result = self
                .runner
                .run(*job, print, monitor, &lacking)
                .map_err(|error| match error {
                    JobError::Stopped => JobError::Stopped,
                    JobError::Failed(error) => JobError::Failed(LabError::Run(error)),
                })?;
            if !self.cycles {
                result.cycles.clear();
            }
            self.store
                .put(print, &result)
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
