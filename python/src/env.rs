//! An episode that waits for its host's decisions: what the environments are made of.
//!
//! The simulator runs on a thread of its own and is asked for nothing but what `covey run` asks; the policy of one tile's hosts hands
//! its view over and waits for an answer. Whoever drops an episode ends its thread.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use covey::{Arm, Arms, Strategy};
use covey_experiment::bundled;
use covey_experiment::world::{Base, TrafficSource};
use covey_protocol::admission::{Admission, Binding};
use covey_protocol::policy::{ConditionalCoverage, Plan, Policy, Reporters, View};
use covey_protocol::{AgentId, Tile};
use covey_simulator::events::Miss;
use covey_simulator::features::{AGENT, Features, HOST};
use covey_simulator::{CycleRow, FrameSource, Observer, Prepared, RunError, RunOptions, simulate};
use covey_traffic::builtin::Builtin;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::running::settings;

/// What the tile's cycles came to since the last decision.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    cycles: u32,
    relevant: u64,
    missed: u64,
    load: f64,
    all_relevant: u64,
    all_missed: u64,
}

/// A decision that is to be made.
struct Asked {
    features: Features,
    now_s: f64,
    host: u64,
    tally: Tally,
}

enum FromRun {
    Asked(Box<Asked>),
    Ended(Result<Tally, String>),
}

/// The run's end of an episode.
#[derive(Clone)]
struct Link {
    asks: Sender<FromRun>,
    answers: Arc<Mutex<Receiver<Vec<AgentId>>>>,
    tally: Arc<Mutex<Tally>>,
    stop: Arc<AtomicBool>,
    tile: Tile,
}

/// A lock whose holder panicked is as good as any: nothing is left half done under it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Hands a decision over and waits for the answer; none where the episode is over.
    fn ask(&self, view: &View<'_>, admission: &Admission) -> Option<Vec<AgentId>> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let asked = Asked {
            features: Features::new(view, admission),
            now_s: view.now.micros() as f64 * 1e-6,
            host: view.host.0,
            tally: std::mem::take(&mut *lock(&self.tally)),
        };
        self.asks.send(FromRun::Asked(Box::new(asked))).ok()?;
        lock(&self.answers).recv().ok()
    }
}

thread_local! {
    /// What hosts of the run on this thread are linked to: several episodes of one environment may be under way.
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

/// Hosts of one tile ask; all others decide as the letter's do.
struct Steered(Option<Link>);

impl Policy for Steered {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        match &self.0 {
            Some(link) if link.tile == view.tile => {
                let reporters = match link.ask(view, admission) {
                    Some(ranking) => Reporters::Ranking(ranking),
                    None => Reporters::Changes(Vec::new()),
                };
                Plan::new(reporters, Binding::Nothing, view.parameters)
            }
            _ => ConditionalCoverage.plan(view, admission),
        }
    }
}

/// Counts what the tile's vehicles miss.
struct Counter(Link);

impl Observer for Counter {
    fn cycle(&mut self, _: usize, rows: &[CycleRow], _: &[Miss]) {
        let mut tally = lock(&self.0.tally);
        tally.cycles += 1;
        for row in rows {
            tally.all_relevant += row.deficit.relevant;
            tally.all_missed += row.deficit.missed;
            if row.tile == [self.0.tile.tx, self.0.tile.ty] {
                tally.relevant += row.deficit.relevant;
                tally.missed += row.deficit.missed;
                tally.load += row.load;
            }
        }
    }
}

/// Traffic that ends when the episode does.
struct Stoppable {
    traffic: Builtin,
    stop: Arc<AtomicBool>,
}

impl FrameSource for Stoppable {
    fn next_frame(&mut self, frame: &mut covey_world::Frame) -> Result<bool, RunError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(RunError::Traffic("stopped".to_string()));
        }
        self.traffic.next_frame(frame)
    }
}

/// An episode under way.
struct Episode {
    asks: Receiver<FromRun>,
    answers: Option<Sender<Vec<AgentId>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Who the slots of the last observation are.
    slots: Vec<AgentId>,
    over: bool,
}

impl Drop for Episode {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A policy that waits for its answer sees that there is none.
        self.answers = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

/// What an agent is shown: numbers by slot, nearest first, and what came of its last action.
struct Shown {
    agents: Vec<f32>,
    mask: Vec<i8>,
    host: Vec<f32>,
    tally: Tally,
    now_s: f64,
    host_id: u64,
    ids: Vec<u64>,
    truncated: bool,
}

/// One host of a running simulator.
#[pyclass(frozen, module = "covey", name = "NativeEnv")]
pub(crate) struct Env {
    prepared: Arc<Prepared>,
    arm: Arm,
    slots: usize,
    tile: Tile,
    options: RunOptions,
    episode: Mutex<Option<Episode>>,
    /// The next one, which waits at its first decision or is on its way there.
    ready: Mutex<Option<(u64, Episode)>>,
    /// Traffic of the last seeds, which takes longer to make than to copy.
    traffic: Mutex<Vec<(u64, Builtin)>>,
}

/// So many seeds' traffic is kept, some 200 kB each on the corridor.
const KEPT: usize = 64;

impl Env {
    fn traffic(&self, seed: u64) -> Result<Builtin, String> {
        if let Some((_, kept)) = lock(&self.traffic).iter().find(|(s, _)| *s == seed) {
            return Ok(kept.clone());
        }
        let (network, config) = (&self.prepared.map.network, &self.prepared.scenario.traffic);
        let made = Builtin::new(network, config, seed).map_err(|error| error.to_string())?;
        let mut kept = lock(&self.traffic);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((seed, made.clone()));
        Ok(made)
    }

    fn begin(&self, seed: u64) -> Result<Episode, String> {
        let (asks, asked) = channel();
        let (answer, answers) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let link = Link {
            asks,
            answers: Arc::new(Mutex::new(answers)),
            tally: Arc::default(),
            stop: Arc::clone(&stop),
            tile: self.tile,
        };
        let mut traffic = Stoppable {
            traffic: self.traffic(seed)?,
            stop: Arc::clone(&stop),
        };
        let (prepared, arm, options) = (Arc::clone(&self.prepared), self.arm, self.options);
        let work = move || {
            LINK.set(Some(link.clone()));
            let mut counter = Counter(link.clone());
            let outcome = simulate(
                &prepared,
                &mut traffic,
                &[arm],
                seed,
                &options,
                &mut counter,
            );
            let last = std::mem::take(&mut *lock(&link.tally));
            let ended = outcome.map(|_| last).map_err(|error| error.to_string());
            // Whoever no longer listens does not want to know.
            let _ = link.asks.send(FromRun::Ended(ended));
        };
        let thread = std::thread::Builder::new().name("covey episode".to_string());
        let thread = thread.spawn(work).map_err(|error| error.to_string())?;
        Ok(Episode {
            asks: asked,
            answers: Some(answer),
            stop,
            thread: Some(thread),
            slots: Vec::new(),
            over: false,
        })
    }

    /// Waits for the next decision, or the end.
    fn next(&self, episode: &mut Episode) -> Result<Shown, String> {
        let width = AGENT.len();
        match episode.asks.recv() {
            Ok(FromRun::Asked(asked)) => {
                let Asked {
                    features,
                    now_s,
                    host,
                    tally,
                } = *asked;
                let mut order: Vec<usize> = (0..features.ids.len()).collect();
                order.sort_by(|&a, &b| {
                    let by_place = features.distance_m[a].total_cmp(&features.distance_m[b]);
                    by_place.then(features.ids[a].cmp(&features.ids[b]))
                });
                order.truncate(self.slots);
                let mut agents = vec![0.0; self.slots * width];
                let mut mask = vec![0; self.slots];
                for (slot, &at) in order.iter().enumerate() {
                    agents[slot * width..(slot + 1) * width].copy_from_slice(&features.agents[at]);
                    mask[slot] = 1;
                }
                episode.slots = order.iter().map(|&at| features.ids[at]).collect();
                Ok(Shown {
                    agents,
                    mask,
                    host: features.host.to_vec(),
                    tally,
                    now_s,
                    host_id: host,
                    ids: episode.slots.iter().map(|id| id.0).collect(),
                    truncated: false,
                })
            }
            Ok(FromRun::Ended(Ok(tally))) => {
                episode.over = true;
                episode.slots.clear();
                Ok(Shown {
                    agents: vec![0.0; self.slots * width],
                    mask: vec![0; self.slots],
                    host: vec![0.0; HOST.len()],
                    tally,
                    now_s: self.options.warmup_s + self.options.measure_s,
                    host_id: 0,
                    ids: Vec::new(),
                    truncated: true,
                })
            }
            Ok(FromRun::Ended(Err(error))) => Err(error),
            Err(_) => Err("the simulator ended unexpectedly; please report this".to_string()),
        }
    }
}

fn shown<'py>(py: Python<'py>, shown: Shown, slots: usize) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let agents = PyArray1::from_vec(py, shown.agents);
    dict.set_item("agents", agents.reshape([slots, AGENT.len()])?)?;
    dict.set_item("mask", PyArray1::from_vec(py, shown.mask))?;
    dict.set_item("host", PyArray1::from_vec(py, shown.host))?;
    let tally = shown.tally;
    dict.set_item("cycles", tally.cycles)?;
    dict.set_item("relevant", tally.relevant)?;
    dict.set_item("missed", tally.missed)?;
    dict.set_item("load", tally.load / f64::from(tally.cycles.max(1)))?;
    dict.set_item("all_relevant", tally.all_relevant)?;
    dict.set_item("all_missed", tally.all_missed)?;
    dict.set_item("now_s", shown.now_s)?;
    dict.set_item("host_id", shown.host_id)?;
    dict.set_item("ids", PyArray1::from_vec(py, shown.ids))?;
    dict.set_item("truncated", shown.truncated)?;
    Ok(dict)
}

fn failed(text: String) -> PyErr {
    PyRuntimeError::new_err(text)
}

#[pymethods]
impl Env {
    #[new]
    #[pyo3(signature = (*, scenario, folder, set, allowance, tile, slots, episode_s))]
    #[expect(
        clippy::too_many_arguments,
        reason = "named ones, by the package alone"
    )]
    fn new(
        py: Python<'_>,
        scenario: Option<PathBuf>,
        folder: PathBuf,
        set: &str,
        allowance: f64,
        tile: Option<(i32, i32)>,
        slots: usize,
        episode_s: f64,
    ) -> PyResult<Self> {
        let changes = settings(set)?;
        if !(1..=1024).contains(&slots) {
            return Err(errors::input(format!(
                "slots: found {slots}, expected 1 to 1024"
            )));
        }
        let (prepared, options) = py.detach(|| {
            let file = match scenario {
                Some(file) => file,
                None => bundled::unpack(&folder).map_err(errors::input)?,
            };
            let base = Base::read(&file).map_err(errors::input)?;
            let scenario = base.with(&changes).map_err(errors::input)?.scenario;
            if TrafficSource::of(&scenario) != TrafficSource::Builtin {
                return Err(errors::input(format!(
                    "{}: source: found traffic of SUMO or a recording, expected the built-in traffic",
                    file.display()
                )));
            }
            let options = RunOptions {
                warmup_s: 0.0,
                measure_s: episode_s,
                threads: 1,
            };
            let cycle_s = scenario.protocol.cycle_s;
            options
                .check(cycle_s)
                .map_err(|error| errors::input(format!("episode_s: {error}")))?;
            let prepared = Prepared::new(&scenario).map_err(errors::input)?;
            Ok((Arc::new(prepared), options))
        })?;
        let tile = match tile {
            Some((tx, ty)) => Tile::new(tx, ty),
            None => prepared
                .tile_with_most_road()
                .ok_or_else(|| errors::input("tile: the map has no road"))?,
        };
        let strategy = Strategy::own("environment", "hosts ask an environment's agent", |_| {
            Box::new(Steered(LINK.with_borrow(Clone::clone)))
        });
        let arms = Arms::builtin().with(strategy).map_err(errors::input)?;
        let arm = arms
            .parse(&format!("environment@{allowance}"))
            .map_err(|error| errors::input(format!("allowance: {error}")))?;
        Ok(Self {
            prepared,
            arm,
            slots,
            tile,
            options,
            episode: Mutex::new(None),
            ready: Mutex::new(None),
            traffic: Mutex::new(Vec::new()),
        })
    }

    /// Names of an agent's numbers.
    #[staticmethod]
    fn agent_features() -> Vec<&'static str> {
        AGENT.to_vec()
    }

    /// Names of the host's numbers.
    #[staticmethod]
    fn host_features() -> Vec<&'static str> {
        HOST.to_vec()
    }

    /// The tile whose hosts ask.
    #[getter]
    fn tile(&self) -> (i32, i32) {
        (self.tile.tx, self.tile.ty)
    }

    /// Begins an episode and gives its first observation.
    fn reset<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        let first = py.detach(|| {
            let mut place = lock(&self.episode);
            // The last one ends first.
            *place = None;
            let ready = lock(&self.ready).take().filter(|(there, _)| *there == seed);
            let mut episode = match ready {
                Some((_, episode)) => episode,
                None => self.begin(seed)?,
            };
            let first = self.next(&mut episode)?;
            if first.truncated {
                return Err(format!(
                    "tile ({}, {}) had no host within the episode; choose another tile or a longer episode",
                    self.tile.tx, self.tile.ty
                ));
            }
            *place = Some(episode);
            Ok(first)
        });
        shown(py, first.map_err(failed)?, self.slots)
    }

    /// Answers with scores by slot: those above 0 are wanted, the highest first.
    fn act(&self, scores: Vec<f32>) -> PyResult<()> {
        let mut place = lock(&self.episode);
        let Some(episode) = place.as_mut().filter(|episode| !episode.over) else {
            return Err(failed("the episode is over; call reset()".to_string()));
        };
        if scores.len() != self.slots {
            let found = scores.len();
            let slots = self.slots;
            return Err(errors::input(format!(
                "action: found {found} scores, expected {slots}"
            )));
        }
        let mut wanted: Vec<(f32, AgentId)> = scores
            .into_iter()
            .zip(episode.slots.iter().copied())
            .filter(|(score, _)| *score > 0.0)
            .collect();
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ranking = wanted.into_iter().map(|(_, id)| id).collect();
        // Where the run has ended, the next observation says why.
        if let Some(answers) = &episode.answers {
            let _ = answers.send(ranking);
        }
        Ok(())
    }

    /// Waits for the observation after an answer.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let next = py.detach(|| {
            let mut place = lock(&self.episode);
            match place.as_mut().filter(|episode| !episode.over) {
                Some(episode) => self.next(episode),
                None => Err("the episode is over; call reset()".to_string()),
            }
        });
        shown(py, next.map_err(failed)?, self.slots)
    }

    /// Begins an episode that `reset` with this seed will take: it goes on to its first decision meanwhile.
    fn prepare(&self, py: Python<'_>, seed: u64) -> PyResult<()> {
        let begun = py.detach(|| {
            let mut ready = lock(&self.ready);
            if ready.as_ref().is_none_or(|(there, _)| *there != seed) {
                *ready = None;
                *ready = Some((seed, self.begin(seed)?));
            }
            Ok(())
        });
        begun.map_err(failed)
    }

    /// Ends the episode, and the one that waits.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            *lock(&self.episode) = None;
            *lock(&self.ready) = None;
        });
    }
}
