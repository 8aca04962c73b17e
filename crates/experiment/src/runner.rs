//! Runs one seed of a world with the simulator.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use covey_simulator::calibrate::{self, Margins, SeedCalibration};
use covey_simulator::scenario::TrafficFiles;
use covey_simulator::{
    Arm, FrameSource, Observer, Prepared, RunError, RunOptions, ScenarioError, SeedOutcome, Tee,
    simulate, simulate_together,
};
use covey_traffic::Recording;
use covey_traffic::builtin::Builtin;
use covey_traffic::recorded::{self, FcdOptions};
use covey_traffic::sumo::process::Stop;
use covey_traffic::sumo::{self, Sumo, SumoConfig, SumoError};
use covey_world::{Frame, VehicleId, WarningKind, Warnings};
use thiserror::Error;

use crate::outputs::{Beginning, Job, Output, OutputError, Sink};
use crate::pool::{JobError, Monitor};
use crate::store::{Fingerprint, SeedResult};
use crate::usage;
use crate::world::{TrafficSource, World};

/// Seconds of a recording that are looked at beyond its window, to know what drivers meant to do next.
const LOOK_AHEAD_S: f64 = 60.0;

/// Most arms that are computed at once over one road: some 20 MB each on the corridor, and the work that is lost where they are
/// stopped.
const MOST_ARMS: usize = 32;
/// Metres of lanes of a map on which so many are: twice as many as the corridor has.
const ROAD_M: f64 = 100_000.0;

/// Why a seed could not be run.
#[derive(Debug, Clone, Error)]
pub enum RunnerError {
    /// The input is wrong.
    #[error("{0}")]
    Input(String),
    /// Something else went wrong.
    #[error("{0}")]
    Other(String),
}

impl From<OutputError> for RunnerError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Input(text) => Self::Input(text),
            OutputError::Write(text) => Self::Other(text),
        }
    }
}

/// All who watch a run for these sinks.
fn tee<'a>(sinks: &'a mut [Box<dyn Sink + '_>]) -> Tee<'a> {
    let observers = sinks.iter_mut().map(|sink| sink.observer());
    observers.fold(Tee::default(), Tee::with)
}

/// The window of a world, for so many threads.
fn options(world: &World, threads: usize) -> RunOptions {
    RunOptions {
        warmup_s: world.warmup_s,
        measure_s: world.measure_s,
        threads,
    }
}

/// SUMO, which traffic of its own kind needs.
///
/// # Errors
/// It is not there; the text says how to get it.
pub fn find_sumo() -> Result<Sumo, RunnerError> {
    Sumo::find().map_err(|error| RunnerError::Other(error.to_string()))
}

/// Worlds that are ready to run, shared by all workers.
pub struct Runner<'w> {
    worlds: &'w [World],
    /// Where SUMO's traffic is kept.
    traces: PathBuf,
    /// The worlds in use, latest last.
    ready: Mutex<VecDeque<(usize, Arc<Slot>)>>,
    keep: usize,
    /// The first that was prepared: all worlds of a call have one map, and share what follows from it.
    first: OnceLock<Arc<Prepared>>,
}

type Slot = OnceLock<Result<Arc<Prepared>, String>>;

impl<'w> Runner<'w> {
    /// A runner of these worlds for so many workers. Traffic of SUMO is kept under `folder`.
    #[must_use]
    pub fn new(worlds: &'w [World], workers: usize, folder: &Path) -> Self {
        Self {
            worlds,
            traces: folder.join("traffic"),
            ready: Mutex::new(VecDeque::new()),
            keep: workers + 1,
            first: OnceLock::new(),
        }
    }

    fn slot(&self, world: usize) -> Arc<Slot> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, slot)) = ready.iter().find(|(w, _)| *w == world) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot::new());
        ready.push_back((world, Arc::clone(&slot)));
        if ready.len() > self.keep {
            ready.pop_front();
        }
        slot
    }

    fn prepared<'s>(&self, slot: &'s Slot, world: usize) -> Result<&'s Prepared, RunnerError> {
        slot.get_or_init(|| {
            let scenario = &self.worlds[world].scenario;
            let prepared = match self.first.get() {
                Some(first) => first.like(scenario),
                None => Prepared::new(scenario),
            };
            let prepared = prepared.map_err(|error: ScenarioError| error.to_string())?;
            let prepared = Arc::new(prepared);
            self.first.get_or_init(|| Arc::clone(&prepared));
            Ok(prepared)
        })
        .as_deref()
        .map_err(|error| RunnerError::Input(error.clone()))
    }

    /// Sees to it that every world can be run, as far as that can be known beforehand: its window, its map, the programs that it
    /// needs. To be called before anything is written.
    ///
    /// # Errors
    /// What keeps a run from beginning.
    pub fn check(&self) -> Result<(), RunnerError> {
        for world in self.worlds {
            let cycle_s = world.scenario.protocol.cycle_s;
            options(world, 1)
                .check(cycle_s)
                .map_err(|error| RunnerError::Input(error.to_string()))?;
        }
        // All worlds of a call have one map.
        if !self.worlds.is_empty() {
            self.prepared(&self.slot(0), 0)?;
        }
        let sumo = |world: &World| {
            matches!(
                world.traffic,
                TrafficSource::Sumo | TrafficSource::SumoConfig(_)
            )
        };
        if self.worlds.iter().any(sumo) {
            find_sumo()?;
        }
        Ok(())
    }

    /// How many arms may be computed at once: memory grows with arms and with the road that vehicles have.
    #[must_use]
    pub fn most_arms(&self) -> usize {
        let slot = self.slot(0);
        let Some(Ok(prepared)) = (!self.worlds.is_empty()).then(|| self.prepared(&slot, 0)) else {
            return 1;
        };
        let lanes = prepared.map.network.lanes.iter();
        let road_m: f64 = lanes.map(|lane| lane.length).sum();
        let share = (ROAD_M / road_m.max(1.0)).min(1.0);
        ((MOST_ARMS as f64 * share) as usize).max(1)
    }

    /// What was taken for buildings, where the map is of others: how many, and what was left out.
    #[must_use]
    pub fn map_remark(&self) -> Option<String> {
        let world = self.worlds.first()?;
        if world.scenario.corridor_km.is_some() {
            return None;
        }
        let slot = self.slot(0);
        let prepared = self.prepared(&slot, 0).ok()?;
        let count = prepared.map.buildings.len();
        let files = world.scenario.map.buildings.len();
        let mut text = match files {
            0 => format!(
                "{}: no buildings: nothing blocks sight but vehicles",
                world.scenario.name
            ),
            files => format!(
                "{}: {count} buildings from {files} polygon file{}",
                world.scenario.name,
                if files == 1 { "" } else { "s" }
            ),
        };
        text.push_str(&left_out(&prepared.warnings));
        Some(text)
    }

    /// Runs some arms of a job once, for their results and for all of `outputs`, whose files get their names when it has ended.
    /// `print` is the fingerprint of this run.
    ///
    /// # Errors
    /// The scenario or its traffic cannot be used, an output cannot be written, or the job was asked to stop. No output is left
    /// of a run that did not end.
    pub fn run(
        &self,
        job: Job,
        arms: &[Arm],
        print: &Fingerprint,
        monitor: Monitor<'_>,
        outputs: &[&dyn Output],
    ) -> Result<SeedResult, JobError<RunnerError>> {
        let slot = self.slot(job.world);
        let prepared = self.prepared(&slot, job.world).map_err(JobError::Failed)?;
        let world = &self.worlds[job.world];
        let before = usage::thread_cpu_s();
        let options = options(world, monitor.threads());
        let beginning = Beginning {
            job,
            world,
            prepared,
            options: &options,
            run: print.as_str(),
        };
        let unwritten = |error: OutputError| JobError::Failed(RunnerError::from(error));
        let mut sinks = Vec::new();
        for output in outputs {
            sinks.push(output.begin(&beginning).map_err(unwritten)?);
        }
        let SeedOutcome {
            shared,
            arms,
            cycles,
            timing,
            helpers_cpu_s,
            ..
        } = self.simulate(&beginning, arms, monitor, &mut tee(&mut sinks))?;
        for sink in sinks {
            sink.finish().map_err(unwritten)?;
        }
        Ok(SeedResult {
            seed: job.seed,
            shared,
            arms,
            cycles,
            timing,
            cpu_s: usage::thread_cpu_s() - before + helpers_cpu_s,
        })
    }

    /// Runs some arms of each of some jobs, of one seed of worlds that have one road ([`World::road`]), for their results alone.
    /// The results are those of each run by itself, but for the time that they took: of what they share, each has its part.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_together(
        &self,
        jobs: &[(Job, &[Arm])],
        monitor: Monitor<'_>,
    ) -> Result<Vec<SeedResult>, JobError<RunnerError>> {
        let Some(&(Job { world, seed }, _)) = jobs.first() else {
            return Ok(Vec::new());
        };
        // Slots are found first, so that all stay while they are in use.
        let slots: Vec<Arc<Slot>> = jobs.iter().map(|(job, _)| self.slot(job.world)).collect();
        let mut scenarios = Vec::new();
        for (slot, (job, arms)) in slots.iter().zip(jobs) {
            let prepared = self.prepared(slot, job.world).map_err(JobError::Failed)?;
            scenarios.push((prepared, *arms));
        }
        let world = &self.worlds[world];
        let before = usage::thread_cpu_s();
        let options = options(world, monitor.threads());
        let outcomes = self.watched(world, scenarios[0].0, seed, monitor, |traffic| {
            simulate_together(&scenarios, traffic, seed, &options)
        })?;
        let own: f64 = outcomes.iter().map(|outcome| outcome.own_cpu_s).sum();
        let shared = (usage::thread_cpu_s() - before - own) / jobs.len() as f64;
        let results = outcomes.into_iter().map(|outcome| SeedResult {
            seed,
            shared: outcome.shared,
            arms: outcome.arms,
            cycles: outcome.cycles,
            timing: outcome.timing,
            cpu_s: shared + outcome.own_cpu_s + outcome.helpers_cpu_s,
        });
        Ok(results.collect())
    }

    /// Runs `cam-only` alone on a seed of a world, with all margins at once.
    ///
    /// # Errors
    /// The scenario or its traffic cannot be used, or the job was asked to stop.
    pub fn margins(
        &self,
        world: usize,
        seed: u64,
        monitor: Monitor<'_>,
    ) -> Result<Margins, JobError<RunnerError>> {
        let slot = self.slot(world);
        let prepared = self.prepared(&slot, world).map_err(JobError::Failed)?;
        let world = &self.worlds[world];
        let options = options(world, monitor.threads());
        self.watched(world, prepared, seed, monitor, |traffic| {
            calibrate::margins_without_cooperation(prepared, traffic, seed, &options)
        })
    }

    fn simulate(
        &self,
        run: &Beginning<'_>,
        arms: &[Arm],
        monitor: Monitor<'_>,
        observer: &mut dyn Observer,
    ) -> Result<SeedOutcome, JobError<RunnerError>> {
        let (world, seed) = (run.world, run.job.seed);
        self.watched(world, run.prepared, seed, monitor, |traffic| {
            simulate(run.prepared, traffic, arms, seed, run.options, observer)
        })
    }

    /// Runs `cam-only` alone on a seed of a world, for a calibration.
    ///
    /// # Errors
    /// As [`Self::margins`].
    pub fn calibrate(
        &self,
        world: usize,
        seed: u64,
        monitor: Monitor<'_>,
    ) -> Result<SeedCalibration, JobError<RunnerError>> {
        let slot = self.slot(world);
        let prepared = self.prepared(&slot, world).map_err(JobError::Failed)?;
        let world = &self.worlds[world];
        let options = options(world, monitor.threads());
        self.watched(world, prepared, seed, monitor, |traffic| {
            calibrate::seed(prepared, traffic, seed, &options)
        })
    }

    /// Does `work` with the traffic of a world, which tells how far it is.
    fn watched<T>(
        &self,
        world: &World,
        prepared: &Prepared,
        seed: u64,
        monitor: Monitor<'_>,
        work: impl FnOnce(&mut dyn FrameSource) -> Result<T, RunError>,
    ) -> Result<T, JobError<RunnerError>> {
        let by_others = matches!(
            world.traffic,
            TrafficSource::Sumo | TrafficSource::SumoConfig(_)
        );
        monitor.awaits_traffic(by_others);
        let source = stoppable(monitor, |stop| self.traffic(world, prepared, seed, stop));
        monitor.awaits_traffic(false);
        let mut source = source.map_err(|error| match monitor.stopped() {
            true => JobError::Stopped,
            false => JobError::Failed(error),
        })?;
        let mut watched = Watched {
            source: &mut *source,
            monitor,
            frames: 0,
            all: (world.warmup_s + world.measure_s) * 1e6 / covey_traffic::STEP_US as f64,
        };
        work(&mut watched).map_err(|error| {
            if monitor.stopped() {
                return JobError::Stopped;
            }
            let text = format!("{}, seed {seed}: {error}", world.scenario.name);
            JobError::Failed(match error {
                RunError::Traffic(_) => RunnerError::Other(text),
                _ => RunnerError::Input(text),
            })
        })
    }

    fn traffic(
        &self,
        world: &World,
        prepared: &Prepared,
        seed: u64,
        stop: Stop,
    ) -> Result<Box<dyn FrameSource>, RunnerError> {
        let network = &prepared.map.network;
        let input = |error: &dyn std::fmt::Display| RunnerError::Input(error.to_string());
        let sumo_error = |error: SumoError| RunnerError::Other(error.to_string());
        let duration_s = world.warmup_s + world.measure_s;
        let asked = &world.scenario.source;
        let options = sumo::RunOptions {
            seed,
            duration_s,
            begin_s: asked.begin_s,
            fill_s: asked.fill_s,
            depart_offset_s: asked
                .depart_offset_s
                .unwrap_or(TrafficFiles::DEPART_OFFSET_S),
            stop,
            ..sumo::RunOptions::default()
        };
        let recording: Recording = match &world.traffic {
            TrafficSource::Builtin => {
                let builtin = Builtin::new(network, &world.scenario.traffic, seed)
                    .map_err(|error| input(&error))?;
                return Ok(Box::new(builtin));
            }
            TrafficSource::Sumo => {
                let sumo = find_sumo()?;
                sumo::record_closed_cached(
                    &sumo,
                    &world.scenario.net(),
                    network,
                    &world.scenario.closed_population(),
                    &options,
                    &self.traces,
                )
                .map_err(sumo_error)?
            }
            TrafficSource::SumoConfig(file) => {
                let sumo = find_sumo()?;
                let config = SumoConfig::read(file).map_err(|error| input(&error))?;
                let recording =
                    sumo::record_cached(&sumo, &config, network, &options, &self.traces)
                        .map_err(sumo_error)?;
                check_window(world, &recording, "vehicles depart", || config.departures_s)?;
                recording
            }
            TrafficSource::Recorded(file) => {
                let options = FcdOptions {
                    begin_us: asked.begin_s.map(|begin| (begin * 1e6).round() as i64),
                    ..FcdOptions::default()
                };
                let recording = recorded::record(file, network, options, duration_s, LOOK_AHEAD_S)
                    .map_err(|error| input(&error))?;
                let there = || recorded::span(file, network).ok()?;
                check_window(world, &recording, "vehicles are there", there)?;
                recording
            }
        };
        Ok(Box::new(recording.into_replay()))
    }
}

/// Polygons that were not taken for buildings, the most frequent types by name.
fn left_out(warnings: &Warnings) -> String {
    const NAMED: usize = 4;
    let of = |wanted: WarningKind| warnings.iter().filter(move |(kind, _, _)| *kind == wanted);
    let mut types: Vec<(u64, &str)> = of(WarningKind::OtherPolygon)
        .map(|(_, name, count)| (count.count, name))
        .collect();
    types.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    let all: u64 = types.iter().map(|(count, _)| count).sum();
    types.retain(|(_, name)| *name != "(others)");
    types.truncate(NAMED);
    let mut text = String::new();
    if all > 0 {
        let rest = all - types.iter().map(|(count, _)| count).sum::<u64>();
        let named = types
            .iter()
            .map(|(count, name)| format!("{count} `{name}`"));
        let named = named.chain((rest > 0).then(|| format!("{rest} of further types")));
        let named: Vec<String> = named.collect();
        let s = if all == 1 { "" } else { "s" };
        let named = named.join(", ");
        text = format!("; {all} polygon{s} of other types left out: {named}");
    }
    let flat: u64 = of(WarningKind::FlatBuilding).map(|(_, _, c)| c.count).sum();
    if flat > 0 {
        text.push_str(&format!("; {flat} without area left out"));
    }
    text
}

/// There is somebody in the measured window; `there` tells from when to when somebody does what is said, in the traffic's own seconds.
fn check_window(
    world: &World,
    recording: &Recording,
    what: &str,
    there: impl FnOnce() -> Option<(f64, f64)>,
) -> Result<(), RunnerError> {
    let frame = |seconds: f64| (seconds * 1e6 / covey_traffic::STEP_US as f64).round() as usize;
    let window = frame(world.warmup_s)..frame(world.warmup_s + world.measure_s);
    let mut measured = window.clone().take_while(|&at| at < recording.steps());
    // Traffic that ends too early is told elsewhere.
    if recording.steps() < window.end || measured.any(|at| !recording.ids(at).is_empty()) {
        return Ok(());
    }
    let when = match there() {
        Some((first, last)) => format!(
            "{what} from {first:.0} s to about {last:.0} s of the traffic's own time; `source.begin_s` (--begin) chooses when time begins"
        ),
        None => "there are none at any time".to_string(),
    };
    Err(RunnerError::Input(format!(
        "{}: no vehicle is on the road in the measured window, {} s to {} s: {when}",
        world.scenario.name,
        world.warmup_s,
        world.warmup_s + world.measure_s
    )))
}

/// Does `work` with a flag that is set as soon as the job is to end.
fn stoppable<T>(monitor: Monitor<'_>, work: impl FnOnce(Stop) -> T) -> T {
    let flag = Arc::new(AtomicBool::new(false));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = Arc::clone(&flag);
        let done = &done;
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                if monitor.stopped() {
                    watch.store(true, Ordering::Relaxed);
                    return;
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
        // The watch ends with the work, even where that panics.
        let _done = SetWhenDropped(done);
        work(Stop::new(flag))
    })
}

struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Traffic that tells how far the run is, and breaks off when it is to stop.
struct Watched<'a> {
    source: &'a mut dyn FrameSource,
    monitor: Monitor<'a>,
    frames: u64,
    all: f64,
}

impl FrameSource for Watched<'_> {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        if self.monitor.stopped() {
            return Err(RunError::Traffic("stopped".to_string()));
        }
        self.frames += 1;
        self.monitor.progress(self.frames as f64 / self.all);
        self.source.next_frame(frame)
    }

    fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        self.source.vehicle_type(id)
    }
}
