//! What `reproduce`, `run` and `sweep` share: workers, the results folder, interruptions.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use covey_experiment::files::FileError;
use covey_experiment::finish::FinishError;
use covey_experiment::lab::{self, LabError, Work};
use covey_experiment::outputs::{Job, Output, Recordings};
use covey_experiment::plan::PlanError;
use covey_experiment::runner::{Runner, RunnerError};
use covey_experiment::store::{Fingerprint, Store};
use covey_experiment::world::{World, WorldError};
use covey_experiment::{refit, revision};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::failure::{Failure, note};
use crate::progress::Progress;

/// Options of every command that runs seeds.
#[derive(Debug, Args)]
pub(crate) struct WorkOptions {
    /// Workers, each on a seed of its own; default: one per core
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Tables as CSV, too
    #[arg(long)]
    pub(crate) csv: bool,
    /// No progress, no remarks
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl WorkOptions {
    pub(crate) fn workers(&self) -> Result<usize, Failure> {
        match self.jobs {
            Some(0) => Err(Failure::input("--jobs", "found 0, expected at least 1")),
            Some(jobs) => Ok(jobs.min(4096)),
            None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        }
    }

    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }
}

/// Worlds and seeds, and where their results go.
pub(crate) struct Bench<'a> {
    pub(crate) worlds: &'a [World],
    pub(crate) seeds: &'a [u64],
    pub(crate) out: &'a Path,
    pub(crate) cycles: bool,
    pub(crate) options: &'a WorkOptions,
    /// Seeds to be recorded for the viewer.
    pub(crate) record: &'a [u64],
    /// What runs leave besides results and recordings.
    pub(crate) outputs: &'a [&'a dyn Output],
    /// The part of the work to be done here: number from 1, and how many.
    pub(crate) shard: Option<(usize, usize)>,
}

/// What is ready to be put together.
pub(crate) struct Ready {
    pub(crate) store: Store,
    pub(crate) prints: Vec<Fingerprint>,
    /// How many seeds were there already.
    pub(crate) kept: usize,
    /// How many were computed now.
    pub(crate) computed: usize,
}

impl Bench<'_> {
    /// Says what became of keys of earlier programs, each once.
    fn say_words(&self) {
        let words = self.worlds.iter().flat_map(|world| &world.scenario.words);
        for word in words.collect::<BTreeSet<_>>() {
            self.options.remark(word);
        }
    }

    /// Opens the results folder, sets aside what is not of this program and these worlds, and computes what is missing.
    pub(crate) fn compute(&self) -> Result<Ready, Failure> {
        let workers = self.options.workers()?;
        self.say_words();
        let (store, prints) = self.open()?;
        let recordings = Recordings {
            folder: self.out,
            seeds: self.record,
            worlds: self.worlds.len(),
        };
        self.set_aside_recordings(&recordings, &store, &prints)?;
        let all = lab::jobs(self.worlds.len(), self.seeds);
        let mine = match self.shard {
            Some((number, count)) => covey_experiment::plan::shard(&all, number, count),
            None => all,
        };
        let mut outputs: Vec<&dyn Output> = vec![&recordings];
        outputs.extend(self.outputs);
        // A finished seed that lacks an output is run once more.
        let missing = lab::missing(&store, &prints, &mine, &outputs).map_err(file_failure)?;
        let kept = mine.len() - missing.len();
        if kept > 0 && !missing.is_empty() {
            self.options.remark(&format!(
                "{kept} of {} runs are finished already in {}; going on with the rest",
                mine.len(),
                self.out.display()
            ));
        }
        let stop = stop_flag()?;
        let runner = Runner::new(self.worlds, workers, self.out);
        let work = Work {
            store: &store,
            prints: &prints,
            runner: &runner,
            workers,
            stop: &stop,
            cycles: self.cycles,
            outputs: &outputs,
        };
        let mut progress = Progress::new(self.names(&missing), self.options.quiet);
        let computed = work
            .compute(&missing, |state| progress.show(state))
            .map_err(lab_failure)?;
        if computed.stopped {
            return Err(Failure::Other(format!(
                "stopped; {} of {} runs are finished and kept in {}. Run the same command again to go on",
                kept + computed.done,
                mine.len(),
                self.out.display()
            )));
        }
        Ok(Ready {
            store,
            prints,
            kept,
            computed: computed.done,
        })
    }

    fn open(&self) -> Result<(Store, Vec<Fingerprint>), Failure> {
        let program = revision::program();
        let prints: Vec<Fingerprint> = self
            .worlds
            .iter()
            .map(|world| {
                let print = world.fingerprint(program);
                // With or without cycles, results are not the same files.
                Fingerprint::new([
                    ("world", print.as_str().as_bytes()),
                    ("cycles", &[u8::from(self.cycles)]),
                ])
            })
            .collect();
        let current: BTreeSet<Fingerprint> = prints.iter().cloned().collect();
        let (store, found) = Store::open(self.out, &current).map_err(file_failure)?;
        if found.stale > 0 {
            // Said even to those who want silence: their old results have moved.
            note(&format!(
                "{} results of another revision or other parameters are set aside in {} and computed again",
                found.stale,
                found.stale_folder.display()
            ));
        }
        Ok((store, prints))
    }

    /// Recordings of other runs than these go where their results went, and the user is told.
    fn set_aside_recordings(
        &self,
        recordings: &Recordings<'_>,
        store: &Store,
        prints: &[Fingerprint],
    ) -> Result<(), Failure> {
        let count = recordings
            .set_aside_others(store, prints)
            .map_err(file_failure)?;
        if count > 0 {
            note(&format!(
                "{count} recording{} of another revision or other parameters {} set aside in {}",
                if count == 1 { "" } else { "s" },
                if count == 1 { "is" } else { "are" },
                self.out.join("stale").display()
            ));
        }
        Ok(())
    }

    fn names(&self, jobs: &[Job]) -> Vec<String> {
        jobs.iter()
            .map(|job| {
                let label = self.worlds[job.world].label();
                match label.is_empty() {
                    true => format!("seed {}", job.seed),
                    false => format!("seed {} of {label}", job.seed),
                }
            })
            .collect()
    }
}

/// Fits d_min of the worlds that want it, those of this shard alone, and puts the margins into force.
pub(crate) fn fit_margins(
    worlds: &mut [World],
    seeds: &[u64],
    shard: Option<(usize, usize)>,
    out: &Path,
    options: &WorkOptions,
) -> Result<(), Failure> {
    let jobs = lab::jobs(worlds.len(), seeds);
    let mine = match shard {
        Some((number, count)) => covey_experiment::plan::shard(&jobs, number, count),
        None => jobs,
    };
    let which: BTreeSet<usize> = mine.iter().map(|job| job.world).collect();
    let which: Vec<usize> = which.into_iter().collect();
    let stop = stop_flag()?;
    let work = refit::Work {
        folder: out,
        program: revision::program(),
        workers: options.workers()?,
        stop: &stop,
    };
    let progress = RefCell::new(None);
    let begin = |names: Vec<String>| {
        if !names.is_empty() {
            options.remark(&format!(
                "fitting d_min first: {} runs of cam-only",
                names.len()
            ));
        }
        *progress.borrow_mut() = Some(Progress::new(names, options.quiet));
    };
    let computed = work
        .fit(worlds, &which, begin, |state| {
            if let Some(progress) = progress.borrow_mut().as_mut() {
                progress.show(state);
            }
        })
        .map_err(lab_failure)?;
    if computed.stopped {
        return Err(Failure::Other(format!(
            "stopped while d_min was fitted; fits that are finished are kept in {}. Run the same command again to go on",
            out.display()
        )));
    }
    for world in worlds.iter() {
        if let Some(remark) = world.fit.as_ref().and_then(refit::remark) {
            note(&format!("{}: {remark}", world.label()));
        }
    }
    Ok(())
}

/// A flag that Ctrl-C or a polite kill sets. The second Ctrl-C ends the program at once, which does no harm either.
fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let other = |error: std::io::Error| Failure::Other(format!("signals: {error}"));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .map_err(other)?;
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(other)?;
    }
    Ok(stop)
}

fn lab_failure(error: LabError) -> Failure {
    match error {
        LabError::File(error) => file_failure(error),
        LabError::Run(RunnerError::Input(text)) => Failure::Input(text),
        LabError::Run(RunnerError::Other(text)) => Failure::Other(text),
    }
}

pub(crate) fn file_failure(error: FileError) -> Failure {
    Failure::Other(error.to_string())
}

pub(crate) fn world_failure(error: WorldError) -> Failure {
    Failure::Input(error.to_string())
}

pub(crate) fn plan_failure(error: PlanError) -> Failure {
    Failure::Input(error.to_string())
}

pub(crate) fn finish_failure(error: FinishError) -> Failure {
    Failure::Other(error.to_string())
}

/// A window of measurement, checked.
pub(crate) fn window(warmup_s: f64, measure_s: f64) -> Result<(f64, f64), Failure> {
    for (name, value, least) in [("--warmup", warmup_s, 0.0), ("--measure", measure_s, 0.2)] {
        if !(value.is_finite() && value >= least && value <= 86_400.0) {
            return Err(Failure::input(
                name,
                format!("found {value}, expected {least} to 86400 seconds"),
            ));
        }
    }
    Ok((warmup_s, measure_s))
}

/// A name that can be part of a folder's name.
pub(crate) fn folder_name(name: &str) -> PathBuf {
    let name: String = name
        .chars()
        .map(|c| match c {
            c if c.is_alphanumeric() || "-_.".contains(c) => c,
            _ => '-',
        })
        .collect();
    Path::new("out").join(name.trim_start_matches('.'))
}
