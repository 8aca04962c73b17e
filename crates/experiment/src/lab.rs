//! The laboratory: computes the seeds that are missing and keeps each as it is finished.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use covey_simulator::Arm;
use thiserror::Error;

use crate::files::FileError;
use crate::outputs::{Job, Output};
use crate::pool::{self, Crew, JobError, PoolState};
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

/// Tasks that are computed at once: seeds of one number of worlds that have one road.
#[derive(Debug, Clone, PartialEq)]
pub struct Lot {
    /// In the order of tasks, at least one.
    pub tasks: Vec<Task>,
}

/// Puts tasks of one seed whose worlds have one road together, up to so many arms, by `road`, which tells roads apart; those for
/// which `alone` holds are lots by themselves.
fn lots(
    tasks: Vec<Task>,
    most_arms: usize,
    road: impl Fn(&Task) -> usize,
    alone: impl Fn(&Task) -> bool,
) -> Vec<Lot> {
    let mut lots: Vec<Lot> = Vec::new();
    // The lot that others may join, by road and seed, and how many arms it has.
    let mut open: BTreeMap<(usize, u64), (usize, usize)> = BTreeMap::new();
    for task in tasks {
        let arms = task.arms.len();
        if alone(&task) {
            lots.push(Lot { tasks: vec![task] });
            continue;
        }
        let key = (road(&task), task.job.seed);
        match open.get_mut(&key) {
            Some((lot, there)) if *there + arms <= most_arms => {
                *there += arms;
                lots[*lot].tasks.push(task);
            }
            _ => {
                open.insert(key, (lots.len(), arms));
                lots.push(Lot { tasks: vec![task] });
            }
        }
    }
    lots
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
    /// How many at once, and whether all begin with the first.
    pub crew: Crew,
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

    /// The outputs that a job lacks.
    fn lacking(&self, job: &Job) -> Vec<&dyn Output> {
        let run = self.run_print(job);
        let outputs = self.outputs.iter().copied();
        outputs
            .filter(|output| output.is_missing(job, run.as_str()))
            .collect()
    }

    /// The tasks in lots: worlds that differ in what arms do alone are computed together, over one road. Runs that leave more than
    /// results are computed alone.
    #[must_use]
    pub fn lots(&self, tasks: Vec<Task>) -> Vec<Lot> {
        let roads: Vec<String> = self.worlds.iter().map(World::road).collect();
        // Roads by the first world that has them.
        let first = |task: &Task| {
            let own = &roads[task.job.world];
            let found = roads.iter().position(|road| road == own);
            found.unwrap_or(task.job.world)
        };
        let most_arms = self.runner.most_arms();
        lots(tasks, most_arms, first, |task| {
            !self.lacking(&task.job).is_empty()
        })
    }

    /// Computes `lots`, all of whose tasks are missing.
    ///
    /// # Errors
    /// A seed cannot be run or a result cannot be kept; others that are finished stay.
    pub fn compute(
        &self,
        lots: &[Lot],
        watch: impl FnMut(&PoolState),
    ) -> Result<Computed, LabError> {
        let failed = |error| match error {
            JobError::Stopped => JobError::Stopped,
            JobError::Failed(error) => JobError::Failed(LabError::Run(error)),
        };
        let work = |lot: &Lot, monitor: pool::Monitor<'_>| {
            let results = match &lot.tasks[..] {
                [task] => {
                    let run = self.run_print(&task.job);
                    let lacking = self.lacking(&task.job);
                    let result = self
                        .runner
                        .run(task.job, &task.arms, &run, monitor, &lacking);
                    vec![result.map_err(failed)?]
                }
                tasks => {
                    let tasks: Vec<(Job, &[Arm])> = tasks
                        .iter()
                        .map(|task| (task.job, &task.arms[..]))
                        .collect();
                    let results = self.runner.run_together(&tasks, monitor);
                    results.map_err(failed)?
                }
            };
            for (task, mut result) in lot.tasks.iter().zip(results) {
                if !self.cycles {
                    result.cycles.clear();
                }
                self.store
                    .put(&self.prints[task.job.world], &result)
                    .map_err(|error| JobError::Failed(LabError::File(error)))?;
            }
            Ok(())
        };
        let weight = |lot: &Lot| lot.tasks.len();
        let outcome = pool::run_weighted(lots, weight, self.crew, self.stop, work, watch);
        match outcome.failure {
            Some((_, error)) => Err(error),
            None => Ok(Computed {
                done: outcome.done,
                stopped: outcome.stopped && outcome.done < lots.iter().map(weight).sum(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_one_road_and_seed_are_computed_together() {
        let task = |world, seed, arms: usize| Task {
            job: Job { world, seed },
            arms: vec!["cam-only".parse().unwrap(); arms],
        };
        let tasks = vec![
            task(0, 1, 2),
            task(0, 2, 2),
            task(1, 1, 2),
            task(2, 1, 2),
            task(3, 1, 2),
            task(3, 2, 13),
            task(4, 1, 11),
            task(5, 1, 2),
        ];
        // World 2 has a road of its own; of world 3 one run leaves more than its results.
        let road = |task: &Task| usize::from(task.job.world == 2);
        let alone = |task: &Task| task.job == Job { world: 3, seed: 1 };
        let lots = lots(tasks, 16, road, alone);
        let jobs: Vec<Vec<(usize, u64)>> = lots
            .iter()
            .map(|lot| {
                lot.tasks
                    .iter()
                    .map(|t| (t.job.world, t.job.seed))
                    .collect()
            })
            .collect();
        assert_eq!(
            jobs,
            [
                vec![(0, 1), (1, 1), (4, 1)],
                vec![(0, 2), (3, 2)],
                vec![(2, 1)],
                vec![(3, 1)],
                vec![(5, 1)],
            ]
        );
    }
}
