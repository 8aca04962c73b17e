//! The laboratory: computes the seeds that are missing and keeps each as it is finished.

use std::sync::atomic::AtomicBool;

use covey_simulator::Arm;
use thiserror::Error;

use crate::files::FileError;
use crate::outputs::{Job, Output};
use crate::pool::{self, JobError, PoolState};
use crate::runner::{Runner, RunnerError};
use crate::store::{Fingerprint, Store, Want};
use crate::world::World;

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

/// A seed of a world with the arms that are to be computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Which world and seed.
    pub job: Job,
    /// Those of the world's arms that are missing; all where an output of the run is.
    pub arms: Vec<Arm>,
}

/// How to work.
pub struct Work<'a> {
    /// Where results go.
    pub store: &'a Store,
    /// All worlds, in the order of jobs.
    pub worlds: &'a [World],
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
    /// The run that a job's outputs belong to: all arms of its world together.
    fn run_print(&self, job: &Job) -> Fingerprint {
        self.prints[job.world].of_run(&self.worlds[job.world].arm_names())
    }

    /// What of `jobs` is not finished, or lacks an output.
    ///
    /// # Errors
    /// A file is there but cannot be read.
    pub fn missing(&self, jobs: &[Job]) -> Result<Vec<Task>, FileError> {
        let mut missing = Vec::new();
        for &job in jobs {
            let world = &self.worlds[job.world];
            let names = world.arm_names();
            let want = Want {
                arms: &names,
                cycles: self.cycles,
            };
            let run = self.run_print(&job);
            let lacks = |output: &&dyn Output| output.is_missing(&job, run.as_str());
            let arms: Vec<Arm> = if self.outputs.iter().any(lacks) {
                world.arms.clone()
            } else {
                let found = self
                    .store
                    .partial(&self.prints[job.world], job.seed, want)?;
                let there = |arm: &&Arm| {
                    let name = arm.to_string();
                    let found = found.as_ref();
                    found.is_some_and(|found| found.arms.iter().any(|there| there.arm == name))
                };
                let lacking = world.arms.iter().filter(|arm| !there(arm));
                lacking.copied().collect()
            };
            if !arms.is_empty() {
                missing.push(Task { job, arms });
            }
        }
        Ok(missing)
    }

    /// Computes `tasks`, all of which are missing.
    ///
    /// # Errors
    /// A seed cannot be run or a result cannot be kept; others that are finished stay.
    pub fn compute(
        &self,
        tasks: &[Task],
        watch: impl FnMut(&PoolState),
    ) -> Result<Computed, LabError> {
        let work = |task: &Task, monitor: pool::Monitor<'_>| {
            let job = &task.job;
            let run = self.run_print(job);
            let lacking: Vec<&dyn Output> = self
                .outputs
                .iter()
                .copied()
                .filter(|output| output.is_missing(job, run.as_str()))
                .collect();
            let mut result = self
                .runner
                .run(task.job, &task.arms, &run, monitor, &lacking)
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
        let outcome = pool::run(tasks, self.workers, self.stop, work, watch);
        match outcome.failure {
            Some((_, error)) => Err(error),
            None => Ok(Computed {
                done: outcome.done,
                stopped: outcome.stopped && outcome.done < tasks.len(),
            }),
        }
    }
}
