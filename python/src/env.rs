//! An episode that waits for its hosts' decisions: what the environments are made of.
//!
//! The simulator runs on a thread of its own and is asked for nothing but what `covey run` asks; the policy of one tile's hosts, or of all,
//! hands its view over and waits for an answer. Whoever drops an episode ends its thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
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

/// What a tile's cycles came to since its last decision.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    cycles: u32,
    relevant: u64,
    missed: u64,
    load: f64,
    all_relevant: u64,
    all_missed: u64,
}

/// By column and row of the tile.
type Tallies = BTreeMap<(i32, i32), Tally>;

/// A decision that is to be made.
struct Asked {
    features: Features,
    now_s: f64,
    tile: Tile,
    host: u64,
    tally: Tally,
}

enum FromRun {
    Asked(Box<Asked>),
    Ended(Result<Tallies, String>),
}

/// The run's end of an episode.
#[derive(Clone)]
struct Link {
    asks: Sender<FromRun>,
    answers: Arc<Mutex<Receiver<Vec<AgentId>>>>,
    tallies: Arc<Mutex<Tallies>>,
    stop: Arc<AtomicBool>,
    /// The tiles whose hosts ask.
    tiles: Arc<[Tile]>,
}

/// A lock whose holder panicked is as good as any: nothing is left half done under it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Hosts of this tile ask.
    fn is_for(&self, tile: Tile) -> bool {
        self.tiles.contains(&tile)
    }

    /// Hands a decision over and waits for the answer; none where the episode is over.
    fn ask(&self, view: &View<'_>, admission: &Admission) -> Option<Vec<AgentId>> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mut tallies = lock(&self.tallies);
        let tally = tallies.entry((view.tile.tx, view.tile.ty)).or_default();
        let asked = Asked {
            features: Features::new(view, admission),
            now_s: view.now.micros() as f64 * 1e-6,
            tile: view.tile,
            host: view.host.0,
            tally: std::mem::take(tally),
        };
        drop(tallies);
        self.asks.send(FromRun::Asked(Box::new(asked))).ok()?;
        lock(&self.answers).recv().ok()
    }
}

thread_local! {
    /// What hosts of the run on this thread are linked to: several episodes of one environment may be under way.
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

/// Hosts of one tile ask, or all; the others decide as the letter's do.
struct Steered(Option<Link>);

impl Policy for Steered {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        match &self.0 {
            Some(link) if link.is_for(view.tile) => {
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

/// Counts what vehicles in the tiles of those who ask miss.
struct Counter(Link);

impl Observer for Counter {
    fn cycle(&mut self, _: usize, rows: &[CycleRow], _: &[Miss]) {
        let mut tallies = lock(&self.0.tallies);
        let mut all = Tally::default();
        for row in rows {
            all.relevant += row.deficit.relevant;
            all.missed += row.deficit.missed;
            let [tx, ty] = row.tile;
            if self.0.is_for(Tile::new(tx, ty)) {
                let tally = tallies.entry((tx, ty)).or_default();
                tally.relevant += row.deficit.relevant;
                tally.missed += row.deficit.missed;
                tally.load += row.load;
            }
        }
        for tally in tallies.values_mut() {
            tally.cycles += 1;
            tally.all_relevant += all.relevant;
            tally.all_missed += all.missed;
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

impl Episode {
    /// It is to end, whenever it comes to it: within a step.
    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A policy that waits for its answer sees that there is none.
        self.answers = None;
    }
}

impl Drop for Episode {
    fn drop(&mut self) {
        self.stop();
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
    tile: (i32, i32),
    host_id: u64,
    ids: Vec<u64>,
    /// At the end: what came of every tile's last action.
    ended: Option<Tallies>,
}

/// What environments of one scenario have in common: nothing of it depends on actions.
struct Shared {
    prepared: Prepared,
    /// Traffic of the last seeds, which takes longer to make than to copy.
    traffic: Mutex<Vec<(u64, Builtin)>>,
}

/// One host of a running simulator, or all of them.
#[pyclass(frozen, module = "covey", name = "NativeEnv")]
pub(crate) struct Env {
    shared: Arc<Shared>,
    arm: Arm,
    slots: usize,
    tile: Option<Tile>,
    options: RunOptions,
    episode: Mutex<Option<Episode>>,
    /// The next one, which waits at its first decision or is on its way there.
    ready: Mutex<Option<(u64, Episode)>>,
    /// Episodes that were left and are about to end, the oldest first: nobody waits for them.
    leaving: Mutex<Vec<Episode>>,
}

/// So many seeds' traffic is kept, some 200 kB each on the corridor.
const KEPT: usize = 64;
/// So many episodes may be about to end.
const LEAVING: usize = 2;

impl Shared {
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
}

impl Env {
    fn with(
        shared: Arc<Shared>,
        arm: Arm,
        slots: usize,
        tile: Option<Tile>,
        options: RunOptions,
    ) -> Self {
        Self {
            shared,
            arm,
            slots,
            tile,
            options,
            episode: Mutex::new(None),
            ready: Mutex::new(None),
            leaving: Mutex::new(Vec::new()),
        }
    }

    /// Leaves an episode, which ends by itself. Where too many are still about to, the oldest is waited for.
    fn leave(&self, episode: Option<Episode>) {
        let mut leaving = lock(&self.leaving);
        leaving.retain(|left| {
            left.thread
                .as_ref()
                .is_some_and(|thread| !thread.is_finished())
        });
        if let Some(mut episode) = episode {
            episode.stop();
            leaving.push(episode);
        }
        while leaving.len() > LEAVING {
            leaving.remove(0);
        }
    }

    fn begin(&self, seed: u64) -> Result<Episode, String> {
        let (asks, asked) = channel();
        let (answer, answers) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let mine = self
            .tile
            .iter()
            .map(|tile| ((tile.tx, tile.ty), Tally::default()));
        let link = Link {
            asks,
            answers: Arc::new(Mutex::new(answers)),
            tallies: Arc::new(Mutex::new(mine.collect())),
            stop: Arc::clone(&stop),
            tiles: match self.tile {
                Some(tile) => Arc::from([tile]),
                None => Arc::from(self.shared.prepared.tiles_with_road()),
            },
        };
        let mut traffic = Stoppable {
            traffic: self.shared.traffic(seed)?,
            stop: Arc::clone(&stop),
        };
        let (shared, arm, options) = (Arc::clone(&self.shared), self.arm, self.options);
        let work = move || {
            LINK.set(Some(link.clone()));
            let mut counter = Counter(link.clone());
            let outcome = simulate(
                &shared.prepared,
                &mut traffic,
                &[arm],
                seed,
                &options,
                &mut counter,
            );
            let last = std::mem::take(&mut *lock(&link.tallies));
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
                    tile,
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
                    tile: (tile.tx, tile.ty),
                    host_id: host,
                    ids: episode.slots.iter().map(|id| id.0).collect(),
                    ended: None,
                })
            }
            Ok(FromRun::Ended(Ok(tallies))) => {
                episode.over = true;
                episode.slots.clear();
                let tile = self.tile.map_or((0, 0), |tile| (tile.tx, tile.ty));
                Ok(Shown {
                    agents: vec![0.0; self.slots * width],
                    mask: vec![0; self.slots],
                    host: vec![0.0; HOST.len()],
                    tally: tallies.get(&tile).copied().unwrap_or_default(),
                    now_s: self.options.warmup_s + self.options.measure_s,
                    tile,
                    host_id: 0,
                    ids: Vec::new(),
                    ended: Some(tallies),
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
    put(&dict, &shown.tally)?;
    dict.set_item("now_s", shown.now_s)?;
    dict.set_item("tile", shown.tile)?;
    dict.set_item("host_id", shown.host_id)?;
    dict.set_item("ids", PyArray1::from_vec(py, shown.ids))?;
    dict.set_item("truncated", shown.ended.is_some())?;
    let ended = PyDict::new(py);
    for (tile, tally) in shown.ended.unwrap_or_default() {
        let of_tile = PyDict::new(py);
        put(&of_tile, &tally)?;
        ended.set_item(tile, of_tile)?;
    }
    dict.set_item("ended", ended)?;
    Ok(dict)
}

/// Puts what cycles came to into a dictionary.
fn put(dict: &Bound<'_, PyDict>, tally: &Tally) -> PyResult<()> {
    dict.set_item("cycles", tally.cycles)?;
    dict.set_item("relevant", tally.relevant)?;
    dict.set_item("missed", tally.missed)?;
    dict.set_item("load", tally.load / f64::from(tally.cycles.max(1)))?;
    dict.set_item("all_relevant", tally.all_relevant)?;
    dict.set_item("all_missed", tally.all_missed)
}

fn failed(text: String) -> PyErr {
    PyRuntimeError::new_err(text)
}

#[pymethods]
impl Env {
    #[new]
    #[pyo3(signature = (*, scenario, folder, set, allowance, tile, everyone, slots, episode_s))]
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
        everyone: bool,
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
            Ok((prepared, options))
        })?;
        let tile = match tile {
            _ if everyone => None,
            Some((tx, ty)) => Some(Tile::new(tx, ty)),
            None => Some(
                prepared
                    .tile_with_most_road()
                    .ok_or_else(|| errors::input("tile: the map has no road"))?,
            ),
        };
        let strategy = Strategy::own("environment", "hosts ask an environment's agent", |_| {
            Box::new(Steered(LINK.with_borrow(Clone::clone)))
        });
        let arms = Arms::builtin().with(strategy).map_err(errors::input)?;
        let arm = arms
            .parse(&format!("environment@{allowance}"))
            .map_err(|error| errors::input(format!("allowance: {error}")))?;
        let shared = Arc::new(Shared {
            prepared,
            traffic: Mutex::new(Vec::new()),
        });
        Ok(Self::with(shared, arm, slots, tile, options))
    }

    /// Another environment of the same scenario: both share what does not depend on actions.
    fn twin(&self) -> Self {
        Self::with(
            Arc::clone(&self.shared),
            self.arm,
            self.slots,
            self.tile,
            self.options,
        )
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

    /// The tile whose hosts ask; none where all do.
    #[getter]
    fn tile(&self) -> Option<(i32, i32)> {
        self.tile.map(|tile| (tile.tx, tile.ty))
    }

    /// The tiles that roads run through.
    #[getter]
    fn tiles(&self) -> Vec<(i32, i32)> {
        let tiles = self.shared.prepared.tiles_with_road().iter();
        tiles.map(|tile| (tile.tx, tile.ty)).collect()
    }

    /// Begins an episode and gives its first observation.
    fn reset<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        let first = py.detach(|| {
            let mut place = lock(&self.episode);
            self.leave(place.take());
            let mut episode = match lock(&self.ready).take() {
                Some((there, episode)) if there == seed => episode,
                other => {
                    self.leave(other.map(|(_, episode)| episode));
                    self.begin(seed)?
                }
            };
            let first = self.next(&mut episode)?;
            if first.ended.is_some() {
                let whose = self.tile.map_or("no tile had a host".to_string(), |tile| {
                    format!("tile ({}, {}) had no host", tile.tx, tile.ty)
                });
                return Err(format!(
                    "{whose} within the episode; choose another tile or a longer episode"
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
                self.leave(ready.take().map(|(_, episode)| episode));
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
            lock(&self.leaving).clear();
        });
    }
}
