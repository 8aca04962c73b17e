//! Workers over a list of jobs, with progress and a way to stop.
//!
//! Jobs are taken in order. Results leave through the job itself (a file), so what a pool returns is only how far it got.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often progress is shown.
const TICK: Duration = Duration::from_millis(100);
/// Progress of a job is kept in millionths.
const WHOLE: f64 = 1e6;
const IDLE: usize = usize::MAX;

/// What a job sees of the pool.
#[derive(Clone, Copy)]
pub struct Monitor<'a> {
    share: &'a AtomicU64,
    traffic: &'a AtomicBool,
    stop: &'a [&'a AtomicBool],
    threads: usize,
}

impl Monitor<'_> {
    /// So much of the job is done, from 0 to 1.
    pub fn progress(&self, share: f64) {
        self.share
            .store((share.clamp(0.0, 1.0) * WHOLE) as u64, Ordering::Relaxed);
    }

    /// The job waits, or no longer waits, for traffic that another program makes.
    pub fn awaits_traffic(&self, waits: bool) {
        self.traffic.store(waits, Ordering::Relaxed);
    }

    /// How many threads the job may use: more than one where it is among the last, and workers have nothing else to do.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The job is to end as soon as it can, without result.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.iter().any(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Why a job gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobError<E> {
    /// It was asked to stop.
    Stopped,
    /// It failed; the other jobs are stopped.
    Failed(E),
}

/// A worker, as progress shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerState {
    /// Which job it is at, if any.
    pub job: Option<usize>,
    /// For how many that job counts.
    pub weight: usize,
    /// How much of it is done, from 0 to 1.
    pub share: f64,
    /// For how long it has been at it.
    pub elapsed: Duration,
    /// Another program makes the traffic meanwhile.
    pub traffic: bool,
}

impl WorkerState {
    /// Time left for the job at the pace so far.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.job?;
        (self.share > 0.01).then(|| {
            self.elapsed
                .mul_f64(((1.0 - self.share) / self.share).max(0.0))
        })
    }
}

/// The pool, as progress shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolState {
    /// How many jobs there are, by weight.
    pub jobs: usize,
    /// How many of them are finished, by weight.
    pub done: usize,
    /// Time since the start.
    pub elapsed: Duration,
    /// What each worker is at.
    pub workers: Vec<WorkerState>,
}

impl PoolState {
    /// Jobs done, those under way counted by their share.
    #[must_use]
    pub fn done_share(&self) -> f64 {
        let under_way: f64 = self
            .workers
            .iter()
            .filter(|w| w.job.is_some())
            .map(|w| w.share * w.weight as f64)
            .sum();
        (self.done as f64 + under_way).min(self.jobs as f64)
    }

    /// Time left for everything at the pace so far.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let done = self.done_share();
        (done > 0.02).then(|| {
            self.elapsed
                .mul_f64((self.jobs as f64 - done).max(0.0) / done)
        })
    }
}

/// How far a pool got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOutcome<E> {
    /// Jobs that gave their result, by weight.
    pub done: usize,
    /// The pool was stopped from outside.
    pub stopped: bool,
    /// The first failure, by order of jobs, if there was one.
    pub failure: Option<(usize, E)>,
}

/// What a worker shows of itself.
struct Worker {
    job: AtomicUsize,
    share: AtomicU64,
    traffic: AtomicBool,
    since: Mutex<Instant>,
}

/// Who works, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crew {
    /// How many jobs are under way at once.
    pub workers: usize,
    /// All workers share the first job, before they take one each: somebody waits for its result.
    pub first_together: bool,
}

impl Crew {
    /// Threads for job number `at`: the last jobs, fewer than there are workers, share them, and so may the first.
    fn threads_for(self, at: usize, jobs: usize) -> usize {
        let workers = self.workers.max(1);
        let rest = if self.first_together {
            jobs.saturating_sub(1)
        } else {
            jobs
        };
        let last = rest % workers;
        if self.first_together && at == 0 {
            workers
        } else if at + last < jobs {
            1
        } else {
            workers / last.max(1)
        }
    }
}

/// What all workers share.
struct Bench<'a, J, E> {
    jobs: &'a [J],
    /// For how many each counts.
    weights: &'a [usize],
    crew: Crew,
    /// The first job has ended.
    begun: AtomicBool,
    start: Instant,
    /// Number of the next job to be taken.
    next: AtomicUsize,
    done: AtomicUsize,
    failed: AtomicBool,
    failure: Mutex<Option<(usize, E)>>,
}

impl<J, E> Bench<'_, J, E> {
    fn state(&self, workers: &[Worker]) -> PoolState {
        let state = |worker: &Worker| {
            let job = worker.job.load(Ordering::Relaxed);
            WorkerState {
                job: (job != IDLE).then_some(job),
                weight: self.weights.get(job).copied().unwrap_or(1),
                share: worker.share.load(Ordering::Relaxed) as f64 / WHOLE,
                elapsed: worker.since.lock().map_or(Duration::ZERO, |s| s.elapsed()),
                traffic: job != IDLE && worker.traffic.load(Ordering::Relaxed),
            }
        };
        PoolState {
            jobs: self.weights.iter().sum(),
            done: self.done.load(Ordering::Relaxed),
            elapsed: self.start.elapsed(),
            workers: workers.iter().map(state).collect(),
        }
    }

    /// What one worker does: takes jobs until there are none, one fails, or `stop` is set.
    fn work_through(
        &self,
        worker: &Worker,
        stop: &AtomicBool,
        work: &impl Fn(&J, Monitor<'_>) -> Result<(), JobError<E>>,
    ) {
        let mut monitor = Monitor {
            share: &worker.share,
            traffic: &worker.traffic,
            stop: &[stop, &self.failed],
            threads: 1,
        };
        while !monitor.stopped() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(at) else { break };
            if self.crew.first_together && at > 0 && !self.first_has_ended(&monitor) {
                break;
            }
            monitor.threads = self.crew.threads_for(at, self.jobs.len());
            worker.share.store(0, Ordering::Relaxed);
            if let Ok(mut since) = worker.since.lock() {
                *since = Instant::now();
            }
            worker.job.store(at, Ordering::Relaxed);
            let outcome = work(job, monitor);
            worker.job.store(IDLE, Ordering::Relaxed);
            self.begun.store(true, Ordering::Relaxed);
            match outcome {
                Ok(()) => {
                    self.done.fetch_add(self.weights[at], Ordering::Relaxed);
                }
                Err(JobError::Stopped) => break,
                Err(JobError::Failed(error)) => {
                    self.fail(at, error);
                    break;
                }
            }
        }
    }

    /// Waits for the end of the first job; false where all work is to end before.
    fn first_has_ended(&self, monitor: &Monitor<'_>) -> bool {
        while !self.begun.load(Ordering::Relaxed) && !monitor.stopped() {
            thread::sleep(TICK / 10);
        }
        !monitor.stopped()
    }

    fn fail(&self, at: usize, error: E) {
        self.failed.store(true, Ordering::Relaxed);
        if let Ok(mut first) = self.failure.lock()
            && first.as_ref().is_none_or(|(earlier, _)| at < *earlier)
        {
            *first = Some((at, error));
        }
    }
}

/// Works through `jobs` on `workers` threads until all are done, one fails, or `stop` is set. `watch` is called now and then, and
/// once at the end.
pub fn run<J: Sync, E: Send>(
    jobs: &[J],
    workers: usize,
    stop: &AtomicBool,
    work: impl Fn(&J, Monitor<'_>) -> Result<(), JobError<E>> + Sync,
    watch: impl FnMut(&PoolState),
) -> PoolOutcome<E> {
    let crew = Crew {
        workers,
        first_together: false,
    };
    run_weighted(jobs, |_| 1, crew, stop, work, watch)
}

/// The same with jobs that count for several each.
pub fn run_weighted<J: Sync, E: Send>(
    jobs: &[J],
    weight: impl Fn(&J) -> usize,
    crew: Crew,
    stop: &AtomicBool,
    work: impl Fn(&J, Monitor<'_>) -> Result<(), JobError<E>> + Sync,
    mut watch: impl FnMut(&PoolState),
) -> PoolOutcome<E> {
    let weights: Vec<usize> = jobs.iter().map(weight).collect();
    let start = Instant::now();
    let count = crew.workers.clamp(1, jobs.len().max(1));
    let states: Vec<Worker> = (0..count)
        .map(|_| Worker {
            job: AtomicUsize::new(IDLE),
            share: AtomicU64::new(0),
            traffic: AtomicBool::new(false),
            since: Mutex::new(start),
        })
        .collect();
    let bench = Bench {
        jobs,
        weights: &weights,
        crew,
        begun: AtomicBool::new(false),
        start,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    thread::scope(|scope| {
        let (bench, work) = (&bench, &work);
        let threads: Vec<_> = states
            .iter()
            .map(|state| scope.spawn(move || bench.work_through(state, stop, work)))
            .collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(TICK.min(Duration::from_millis(5) + start.elapsed() / 10));
            watch(&bench.state(&states));
        }
    });
    watch(&bench.state(&states));
    PoolOutcome {
        done: bench.done.into_inner(),
        stopped: stop.load(Ordering::Relaxed),
        failure: bench.failure.into_inner().unwrap_or(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_by_any_number_of_workers() {
        for workers in [1, 2, 7] {
            let counts: Vec<AtomicUsize> = (0..20).map(|_| AtomicUsize::new(0)).collect();
            let jobs: Vec<usize> = (0..20).collect();
            let mut last = None;
            let outcome = run(
                &jobs,
                workers,
                &AtomicBool::new(false),
                |&job, monitor| {
                    monitor.progress(0.5);
                    counts[job].fetch_add(1, Ordering::Relaxed);
                    Ok::<(), JobError<()>>(())
                },
                |state| last = Some(state.done),
            );
            assert_eq!((outcome.done, outcome.stopped), (20, false));
            assert_eq!(last, Some(20));
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn jobs_count_by_their_weight() {
        let mut seen = Vec::new();
        let outcome = run_weighted(
            &[3usize, 1],
            |&job| job,
            Crew {
                workers: 1,
                first_together: false,
            },
            &AtomicBool::new(false),
            |_, monitor| {
                monitor.progress(0.5);
                thread::sleep(Duration::from_millis(60));
                Ok::<(), JobError<()>>(())
            },
            |state| seen.push((state.jobs, state.done, state.done_share())),
        );
        assert_eq!(outcome.done, 4);
        assert!(seen.contains(&(4, 0, 1.5)), "{seen:?}");
        assert_eq!(seen.last(), Some(&(4, 4, 4.0)));
    }

    #[test]
    fn a_failure_or_a_stop_ends_the_work() {
        let jobs: Vec<usize> = (0..1000).collect();
        let stop = AtomicBool::new(false);
        let work = |&job: &usize, monitor: Monitor<'_>| {
            if job == 3 {
                return Err(JobError::Failed("broken"));
            }
            if monitor.stopped() {
                return Err(JobError::Stopped);
            }
            thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let outcome = run(&jobs, 2, &stop, work, |_| {});
        assert_eq!(outcome.failure, Some((3, "broken")));
        assert!(outcome.done < 1000 && !outcome.stopped);

        let outcome = run(
            &jobs,
            2,
            &stop,
            |_, _| {
                thread::sleep(Duration::from_millis(1));
                Ok::<(), JobError<()>>(())
            },
            |state| {
                if state.done > 5 {
                    stop.store(true, Ordering::Relaxed);
                }
            },
        );
        assert!(outcome.stopped && outcome.done < 1000, "{outcome:?}");
    }

    #[test]
    fn the_last_jobs_share_idle_workers() {
        let crew = |workers, first_together| Crew {
            workers,
            first_together,
        };
        let of = |crew: Crew, jobs| -> Vec<usize> {
            (0..jobs).map(|at| crew.threads_for(at, jobs)).collect()
        };
        let threads = |jobs, workers| of(crew(workers, false), jobs);
        assert_eq!(threads(3, 2), [1, 1, 2]);
        assert_eq!(threads(4, 2), [1; 4]);
        assert_eq!(threads(1, 2), [2]);
        assert_eq!(threads(6, 4), [1, 1, 1, 1, 2, 2]);
        assert_eq!(threads(2, 0), [1, 1]);
        assert_eq!(of(crew(2, true), 4), [2, 1, 1, 2]);
        assert_eq!(of(crew(2, true), 5), [2, 1, 1, 1, 1]);
        assert_eq!(of(crew(3, true), 1), [3]);
    }

    #[test]
    fn all_may_share_the_first_job() {
        let order = Mutex::new(Vec::new());
        let crew = Crew {
            workers: 3,
            first_together: true,
        };
        let outcome = run_weighted(
            &[0usize, 1, 2, 3],
            |_| 1,
            crew,
            &AtomicBool::new(false),
            |&job, monitor| {
                order.lock().unwrap().push((job, true, monitor.threads()));
                thread::sleep(Duration::from_millis(30));
                order.lock().unwrap().push((job, false, monitor.threads()));
                Ok::<(), JobError<()>>(())
            },
            |_| {},
        );
        assert_eq!(outcome.done, 4);
        assert_eq!(
            order.into_inner().unwrap()[..2],
            [(0, true, 3), (0, false, 3)]
        );

        // A failure of the first lets nobody wait for ever.
        let outcome = run_weighted(
            &[0usize, 1, 2, 3],
            |_| 1,
            crew,
            &AtomicBool::new(false),
            |_, _| Err(JobError::Failed("broken")),
            |_| {},
        );
        assert_eq!(outcome.failure, Some((0, "broken")));
    }

    #[test]
    fn time_left_follows_the_pace() {
        let worker = |job, share| WorkerState {
            job,
            weight: 1,
            share,
            elapsed: Duration::from_secs(10),
            traffic: false,
        };
        assert_eq!(worker(Some(1), 0.5).left(), Some(Duration::from_secs(10)));
        assert_eq!(worker(Some(1), 0.0).left(), None);
        let state = PoolState {
            jobs: 4,
            done: 1,
            elapsed: Duration::from_secs(30),
            workers: vec![worker(Some(1), 0.5), worker(None, 0.9)],
        };
        assert_eq!(state.left(), Some(Duration::from_secs(50)));
    }
}
