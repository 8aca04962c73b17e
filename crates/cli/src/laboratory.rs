//! What `reproduce`, `run` and `sweep` share: workers, the results folder, interruptions.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use covey_experiment::files::{self, FileError};
use covey_experiment::finish::FinishError;
use covey_experiment::folder::{self, Lock, Writing};
use covey_experiment::lab::{self, LabError, Lot, Work};
use covey_experiment::outputs::{Output, PARKED, Recordings};
use covey_experiment::plan::PlanError;
use covey_experiment::pool::Crew;
use covey_experiment::runner::{Runner, RunnerError};
use covey_experiment::store::{Fingerprint, Kept, Store};
use covey_experiment::world::{World, WorldError};
use covey_experiment::{refit, revision};
use covey_simulator::recording::Growth;

use crate::attendant::{Attendant, PoolState};
use crate::failure::{Failure, note};
use crate::progress::Progress;
use crate::stopping::{Gently, Stopping};
use crate::teller::Teller;

// Options of every command that runs seeds.
#[derive(Debug, Clone, Default, Args)]
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
    /// Who looks after the work in place of the terminal, where the caller is another program.
    #[arg(skip)]
    pub(crate) attendant: Option<Arc<dyn Attendant>>,
    /// What results are kept under, where that is more than the program itself.
    #[arg(skip)]
    pub(crate) own_program: Option<String>,
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
        match &self.attendant {
            Some(attendant) => attendant.remark(text),
            None if self.quiet => {}
            None => note(text),
        }
    }

    /// What results are kept under.
    pub(crate) fn program(&self) -> &str {
        match (&self.own_program, &self.attendant) {
            (Some(program), _) => program,
            (None, Some(attendant)) => attendant.program(),
            (None, None) => revision::program(),
        }
    }

    /// Who sees how far jobs of these names are.
    fn watcher(&self, names: Vec<String>) -> Watcher {
        match &self.attendant {
            Some(attendant) => {
                attendant.begin(&names);
                Watcher::Attendant(Arc::clone(attendant))
            }
            None => Watcher::Terminal(Progress::new(names, self.quiet)),
        }
    }
}

/// Who sees how far the work is.
enum Watcher {
    Terminal(Progress),
    Attendant(Arc<dyn Attendant>),
}

impl Watcher {
    fn show(&mut self, state: &PoolState) {
        match self {
            Self::Terminal(progress) => progress.show(state),
            Self::Attendant(attendant) => attendant.progress(state),
        }
    }

    fn say(&mut self, text: &str) {
        match self {
            Self::Terminal(progress) => progress.say(text),
            Self::Attendant(attendant) => attendant.remark(text),
        }
    }
}

/// Who may end the work.
enum Ender {
    Signals(&'static Stopping),
    Attendant(Arc<dyn Attendant>),
}

impl Ender {
    fn new(options: &WorkOptions) -> Result<Self, Failure> {
        Ok(match &options.attendant {
            Some(attendant) => Self::Attendant(Arc::clone(attendant)),
            None => Self::Signals(Stopping::install()?),
        })
    }

    fn flag(&self) -> &AtomicBool {
        match self {
            Self::Signals(stopping) => stopping.flag(),
            Self::Attendant(attendant) => attendant.stop(),
        }
    }

    /// A program ends by itself where workers do not end in time; an attendant waits for them.
    fn gently(&self) -> Option<Gently<'_>> {
        match self {
            Self::Signals(stopping) => Some(stopping.gently()),
            Self::Attendant(_) => None,
        }
    }

    /// While the work waits: an attendant may end it, a signal does so by itself.
    fn wait(&self) -> Result<(), Failure> {
        if let Self::Attendant(attendant) = self {
            attendant.look();
            if attendant.stop().load(Ordering::Relaxed) {
                return Err(Failure::Other(
                    "stopped before anything was computed".to_string(),
                ));
            }
        }
        std::thread::sleep(Duration::from_millis(100));
        Ok(())
    }
}

/// The right to write in a results folder, with the signals in hand.
pub(crate) struct Entered {
    lock: Lock,
    ender: Ender,
}

/// Waits until nobody else writes in `out`, removes what ended processes left there, and keeps others out: all of them, or, for a
/// shard, those that are none. To be called when everything that can be checked has been.
pub(crate) fn enter(
    out: &Path,
    shard: Option<(usize, usize)>,
    options: &WorkOptions,
) -> Result<Entered, Failure> {
    let writing = match shard {
        Some(_) => Writing::Together,
        None => Writing::Alone,
    };
    let ender = Ender::new(options)?;
    let mut told = false;
    let lock = loop {
        if let Some(lock) = Lock::ask(out, writing).map_err(file_failure)? {
            break lock;
        }
        if !told {
            let who = Lock::holder(out).unwrap_or_else(|| "another process".to_string());
            options.remark(&format!(
                "{} is in use by {who}; waiting for its end",
                out.display()
            ));
            told = true;
        }
        ender.wait()?;
    };
    let count = files::remove_leftovers(out, lock.is_alone());
    if count > 0 {
        options.remark(&format!(
            "{} removed that {} ended process left in {}",
            counted(count, "partial file"),
            if count == 1 { "an" } else { "some" },
            out.display()
        ));
    }
    Ok(Entered { lock, ender })
}

/// Makes a table of what is finished, if anything is.
pub(crate) type Early<'a> = dyn Fn(&Store, &[Fingerprint]) -> Option<String> + Sync + 'a;

/// Worlds and seeds, and where their results go.
pub(crate) struct Bench<'a> {
    pub(crate) worlds: &'a [World],
    pub(crate) seeds: &'a [u64],
    pub(crate) out: &'a Path,
    pub(crate) cycles: bool,
    pub(crate) options: &'a WorkOptions,
    /// Seeds to be recorded for the viewer.
    pub(crate) record: &'a [u64],
    /// Who reads those recordings while they are written.
    pub(crate) watched: Option<&'a Growth>,
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
    /// Others stay out until all is written.
    _lock: Lock,
}

impl Bench<'_> {
    /// Says what became of keys of earlier programs, each once.
    fn say_words(&self) {
        let words = self.worlds.iter().flat_map(|world| &world.scenario.words);
        for word in words.collect::<BTreeSet<_>>() {
            self.options.remark(word);
        }
    }

    /// What runs the worlds, all of which can be run as far as that is known beforehand.
    pub(crate) fn runner(&self) -> Result<Runner<'_>, Failure> {
        let runner = Runner::new(self.worlds, self.options.workers()?, self.out);
        runner.check().map_err(runner_failure)?;
        self.say_words();
        if let Some(map) = runner.map_remark() {
            self.options.remark(&map);
        }
        Ok(runner)
    }

    /// Checks everything, enters the results folder and computes what is missing.
    pub(crate) fn compute(&self) -> Result<Ready, Failure> {
        self.compute_and_tell(None)
    }

    /// The same, telling on the way what is known so far.
    pub(crate) fn compute_and_tell(&self, early: Option<&Early<'_>>) -> Result<Ready, Failure> {
        let runner = self.runner()?;
        let entered = enter(self.out, self.shard, self.options)?;
        self.compute_within(&runner, entered, early)
    }

    /// Computes what is missing in the folder.
    pub(crate) fn compute_within(
        &self,
        runner: &Runner<'_>,
        entered: Entered,
        early: Option<&Early<'_>>,
    ) -> Result<Ready, Failure> {
        let workers = self.options.workers()?;
        let (store, prints) = self.open()?;
        let recordings = Recordings {
            folder: self.out,
            seeds: self.record,
            worlds: self.worlds.len(),
            watched: self.watched,
        };
        if self.shard.is_none() {
            self.arrange(&recordings, &prints)?;
        }
        let all = lab::jobs(self.worlds.len(), self.seeds);
        let mine = match self.shard {
            Some((number, count)) => covey_experiment::plan::shard(&all, number, count),
            None => all,
        };
        let mut outputs: Vec<&dyn Output> = vec![&recordings];
        outputs.extend(self.outputs);
        let work = Work {
            store: &store,
            worlds: self.worlds,
            prints: &prints,
            runner,
            // Whoever wants to hear early hears of the first seed as soon as can be.
            crew: Crew {
                workers,
                first_together: early.is_some(),
            },
            stop: entered.ender.flag(),
            cycles: self.cycles,
            outputs: &outputs,
        };
        // A finished seed that lacks an output is run once more.
        let missing = work.missing(&mine).map_err(file_failure)?;
        let kept = mine.len() - missing.len();
        if !missing.is_empty() {
            self.say_what_is_there(&store, &prints, kept, mine.len());
        }
        let word = |done: usize| {
            format!(
                "stopped; {} of {} finished and kept in {}. Run the same command again to go on",
                kept + done,
                counted(mine.len(), "run"),
                self.out.display()
            )
        };
        let lots = work.lots(missing);
        let mut watcher = self.options.watcher(self.names(&lots));
        let known = (&store, &prints);
        let computed = std::thread::scope(|scope| {
            let mut teller = early
                .map(|early| Teller::new(move || scope.spawn(move || early(known.0, known.1))));
            let mut gently = entered.ender.gently();
            work.compute(&lots, |state| {
                if let Some(teller) = &mut teller
                    && let Some(table) = teller.look(state)
                {
                    watcher.say(&table);
                }
                watcher.show(state);
                if let Some(gently) = &mut gently {
                    gently.look(|| word(state.done));
                }
            })
            .map_err(lab_failure)
        })?;
        if computed.stopped {
            return Err(Failure::Other(word(computed.done)));
        }
        Ok(Ready {
            store,
            prints,
            kept,
            computed: computed.done,
            _lock: entered.lock,
        })
    }

    /// What this call finds in the folder: its own results, and those of others, which stay apart.
    fn say_what_is_there(&self, store: &Store, prints: &[Fingerprint], kept: usize, of: usize) {
        let others: Vec<Kept> = store
            .all()
            .into_iter()
            .filter(|kept| kept.seeds > 0)
            .filter(|kept| {
                prints
                    .iter()
                    .all(|print| print.as_str() != kept.fingerprint)
            })
            .collect();
        let results: usize = others.iter().map(|kept| kept.seeds).sum();
        if results > 0 {
            self.options.remark(&format!(
                "{} of another revision or other parameters {} kept apart in {} and not mixed in; `covey clean {}` shows them",
                counted(results, "result"),
                if results == 1 { "is" } else { "are" },
                self.out.join("seeds").display(),
                self.out.display()
            ));
        }
        if kept > 0 {
            self.options.remark(&format!(
                "{kept} of {} are finished already in {}; going on with the rest",
                counted(of, "run"),
                self.out.display()
            ));
        }
    }

    fn open(&self) -> Result<(Store, Vec<Fingerprint>), Failure> {
        let program = self.options.program();
        let prints: Vec<Fingerprint> = self
            .worlds
            .iter()
            .map(|world| world.fingerprint(program))
            .collect();
        let notes = self
            .worlds
            .iter()
            .map(|world| world.note(program, revision::REVISION));
        let store = Store::open(self.out, prints.iter().zip(notes)).map_err(file_failure)?;
        Ok((store, prints))
    }

    /// Recordings of other runs than these are laid apart, and the user is told.
    fn arrange(&self, recordings: &Recordings<'_>, prints: &[Fingerprint]) -> Result<(), Failure> {
        let runs: Vec<Fingerprint> = self
            .worlds
            .iter()
            .zip(prints)
            .map(|(world, print)| print.of_run(&world.arm_names()))
            .collect();
        let count = recordings.arrange(&runs).map_err(file_failure)?;
        if count > 0 {
            self.options.remark(&format!(
                "{} of other runs {} laid apart in {}",
                counted(count, "recording"),
                if count == 1 { "is" } else { "are" },
                self.out.join(PARKED).display()
            ));
        }
        Ok(())
    }

    fn names(&self, lots: &[Lot]) -> Vec<String> {
        lots.iter()
            .map(|Lot { tasks }| {
                let first = tasks.first().map(|task| task.job);
                let (world, seed) = first.map_or((0, 0), |job| (job.world, job.seed));
                let label = self.worlds[world].label();
                match (tasks.len(), label.is_empty()) {
                    (1, true) => format!("seed {seed}"),
                    (1, false) => format!("seed {seed} of {label}"),
                    (count, true) => format!("seed {seed} of {count} worlds"),
                    (count, false) => format!("seed {seed} of {count} worlds, {label} first"),
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
    entered: &Entered,
) -> Result<(), Failure> {
    let jobs = lab::jobs(worlds.len(), seeds);
    let mine = match shard {
        Some((number, count)) => covey_experiment::plan::shard(&jobs, number, count),
        None => jobs,
    };
    let which: BTreeSet<usize> = mine.iter().map(|job| job.world).collect();
    let which: Vec<usize> = which.into_iter().collect();
    let work = refit::Work {
        folder: out,
        program: options.program(),
        workers: options.workers()?,
        stop: entered.ender.flag(),
    };
    let stopped = || {
        format!(
            "stopped while d_min was fitted; fits that are finished are kept in {}. Run the same command again to go on",
            out.display()
        )
    };
    let mut gently = entered.ender.gently();
    let watcher = RefCell::new(None);
    let begin = |names: Vec<String>| {
        if !names.is_empty() {
            options.remark(&format!(
                "fitting d_min first: {} runs of cam-only",
                names.len()
            ));
        }
        *watcher.borrow_mut() = Some(options.watcher(names));
    };
    let computed = work
        .fit(worlds, &which, begin, |state| {
            if let Some(watcher) = watcher.borrow_mut().as_mut() {
                watcher.show(state);
            }
            if let Some(gently) = &mut gently {
                gently.look(stopped);
            }
        })
        .map_err(lab_failure)?;
    if computed.stopped {
        return Err(Failure::Other(stopped()));
    }
    for world in worlds.iter() {
        if let Some(remark) = world.fit.as_ref().and_then(refit::remark) {
            options.remark(&format!("{}: {remark}", world.label()));
        }
    }
    Ok(())
}

/// Makes room on top of `out` for summary, tables and report of `source`: those of another program are set apart, which is said,
/// and the folder gets a note of who made the new ones.
pub(crate) fn on_top(out: &Path, source: &Path, options: &WorkOptions) -> Result<(), Failure> {
    let program = options.program();
    if let Some(apart) = folder::set_earlier_apart(out, program).map_err(file_failure)? {
        options.remark(&format!(
            "summary, tables and report of another revision are set apart in {}",
            apart.display()
        ));
    }
    let note = folder::Note::new(program, revision::REVISION, source);
    note.write(out).map_err(file_failure)
}

/// So many of a thing: "1 seed", "17 seeds".
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

pub(crate) fn runner_failure(error: RunnerError) -> Failure {
    match error {
        RunnerError::Input(text) => Failure::Input(text),
        RunnerError::Other(text) => Failure::Other(text),
    }
}

fn lab_failure(error: LabError) -> Failure {
    match error {
        LabError::File(error) => file_failure(error),
        LabError::Run(error) => runner_failure(error),
    }
}

pub(crate) fn file_failure(error: FileError) -> Failure {
    Failure::Other(error.to_string())
}

impl From<WorldError> for Failure {
    fn from(error: WorldError) -> Self {
        world_failure(error)
    }
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

/// The folder for results of `source` under `name`. Where that holds results of another file of the same name, the name of the
/// file's folder tells them apart.
pub(crate) fn own_folder(name: &str, source: &Path) -> PathBuf {
    let note = folder::Note::new("", "", source);
    let free =
        |out: &PathBuf| folder::Note::read(out).is_none_or(|there| there.source == note.source);
    let full = PathBuf::from(&note.source);
    let parents = full.ancestors().skip(1);
    let mut name = name.to_string();
    let mut out = folder_name(&name);
    for parent in parents {
        let Some(parent) = parent.file_name().filter(|_| !free(&out)) else {
            break;
        };
        name = format!("{name}-{}", parent.to_string_lossy());
        out = folder_name(&name);
    }
    out
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
