//! A closed population on any net: set densities, exact counts, random turns, a warmed-up start.
//!
//! Every vehicle has a place of its own on a lane and a route that is longer than it can drive in the time, so nobody enters
//! or leaves. A route is a random walk over the net by turn shares, drawn by (seed, vehicle, junction). Roads that lead
//! nowhere are left out: those from which no way goes on for ever.
//!
//! SUMO first runs for [`ClosedPopulation::warmup_s`] at a coarse step, saves its state, and goes on from there at the
//! simulator's step; teleports are off and collisions are only warned of, since either would take vehicles off the road. The
//! outcome is checked: a frame that lacks a vehicle is an error.
//!
//! A random walk does not keep densities by itself: what main road and side streets hold settles by how long vehicles stay on them. Where
//! the share of vehicles on the main road after the warm-up is off by more than [`ClosedPopulation::tolerance`], the odds
//! of main-road edges at every turn are changed accordingly and the warm-up is run again, a few times at most.

mod roads;
mod warmup;

use covey_world::network::{EdgeIx, LaneIx, Network};
use covey_world::{Body, VehicleId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

use super::cache::{Key, kept};
use super::discovery::Sumo;
use super::error::SumoError;
use super::run::{RunOptions, capture, common_arguments, fcd_options};
use super::workspace::WorkFolder;
use crate::builtin::TurnShares;
use crate::recorded::VehicleTypes;
use crate::{Recording, STEP_US};
use roads::{Roads, place};
use warmup::{Bench, Start, Tuning};

/// A closed population. Every field has a default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClosedPopulation {
    /// Vehicles per km and lane of the main road. Default 43.08, the letter's 1.5 k_c.
    pub main_density: f64,
    /// Vehicles per km and lane of all other roads. Default 12.
    pub side_density: f64,
    /// Names or beginnings of names of the edges that make up the main road. Default empty: the drivable edges of the
    /// highest SUMO priority, and among these the ones with the most lanes.
    pub main_edges: Vec<String>,
    /// Share of heavy vehicles (TR 37.885 type 3, 13 m long and 3 m high), 0 to 1. Default 0.1. SUMO drives them by its
    /// truck's acceleration, but lets them use every lane that is open to cars.
    pub heavy_share: f64,
    /// Which way vehicles go at junctions.
    pub turns: TurnShares,
    /// Time that a lane change takes, in seconds. Default 2.5; 0 lets vehicles jump to the other lane, as SUMO does unless
    /// told otherwise.
    pub lane_change_s: f64,
    /// Traffic-only time before the first frame, in seconds. Default 300.
    pub warmup_s: f64,
    /// SUMO's step during that time, in seconds. Default 0.5.
    pub warmup_step_s: f64,
    /// By how much the share of vehicles on the main road after the warm-up may miss its aim, relative to it, before the
    /// warm-up is run again with other odds. Default 0.05.
    pub tolerance: f64,
    /// How often the warm-up is run at most. Default 4; 1 leaves the turn weights as they are.
    pub warmups: u32,
}

impl Default for ClosedPopulation {
    fn default() -> Self {
        Self {
            main_density: 43.08,
            side_density: 12.0,
            main_edges: Vec::new(),
            heavy_share: 0.1,
            turns: TurnShares::default(),
            lane_change_s: 2.5,
            warmup_s: 300.0,
            warmup_step_s: 0.5,
            tolerance: 0.05,
            warmups: 4,
        }
    }
}

impl ClosedPopulation {
    fn check(&self) -> Result<(), SumoError> {
        let check = |field, value: f64, low: f64, high: f64, expected| {
            // Written so that NaN fails.
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(SumoError::Parameter {
                    field,
                    found: value.to_string(),
                    expected,
                })
            }
        };
        let density = "0 to 150 vehicles per km and lane";
        check("main_density", self.main_density, 0.0, 150.0, density)?;
        check("side_density", self.side_density, 0.0, 150.0, density)?;
        check("heavy_share", self.heavy_share, 0.0, 1.0, "0 to 1")?;
        for (field, weight) in [
            ("turns.straight", self.turns.straight),
            ("turns.left", self.turns.left),
            ("turns.right", self.turns.right),
            ("turns.around", self.turns.around),
        ] {
            check(field, weight, 0.0, 1e6, "0 to 1e6")?;
        }
        check("lane_change_s", self.lane_change_s, 0.0, 10.0, "0 to 10 s")?;
        check("warmup_s", self.warmup_s, 0.0, 86_400.0, "0 to 86400 s")?;
        check(
            "warmup_step_s",
            self.warmup_step_s,
            0.01,
            2.0,
            "0.01 to 2 s",
        )?;
        check("tolerance", self.tolerance, 0.0, 10.0, "0 to 10")?;
        check("warmups", f64::from(self.warmups), 1.0, 20.0, "1 to 20")
    }
}

/// Records a closed population on the net at `net`, which was read as `network`.
///
/// Of the options, begin, look-ahead and persons have no meaning here; the step is the simulator's unless set.
///
/// # Errors
/// A parameter lies outside its range, the vehicles do not fit, the net has no circuit, SUMO fails, or the population
/// does not stay whole.
pub fn record_closed(
    sumo: &Sumo,
    net: &Path,
    network: &Network,
    population: &ClosedPopulation,
    options: &RunOptions,
) -> Result<Recording, SumoError> {
    population.check()?;
    // Routes are known: there is no need to look ahead.
    let (frames, _) = options.frames()?;
    let roads = Roads::new(network, population)?;
    let vehicles = place(network, &roads, population, options.seed)?;
    let aim = vehicles
        .iter()
        .filter(|v| roads.main[v.edge.index()])
        .count();
    let step = options.step_s.unwrap_or(STEP_US as f64 / 1e6);
    let lasts = options.duration_s + 2.0 * step;
    let bench = Bench {
        sumo,
        net: std::path::absolute(net).unwrap_or_else(|_| net.to_owned()),
        network,
        roads: &roads,
        vehicles: &vehicles,
        population,
        options,
        lasts,
        folder: WorkFolder::new()?,
    };
    let mut tuning = Tuning::new(aim, vehicles.len());
    let mut warmups = 0;
    let mut best: Option<Start> = None;
    let start = loop {
        warmups += 1;
        let start = bench.start(tuning.bias(), warmups)?;
        let off = |start: &Start| (start.on_main as f64 / (aim as f64).max(1.0) - 1.0).abs();
        let (found, this) = (start.on_main, off(&start));
        if best.as_ref().is_none_or(|best| this < off(best)) {
            best = Some(start);
        }
        let enough = this <= population.tolerance
            || warmups >= population.warmups
            || population.warmup_s <= 0.0
            || aim == 0;
        match best.take() {
            Some(best) if enough => break best,
            kept => best = kept,
        }
        tuning.learn(found);
    };
    let begin = start.begin;
    let mut command = bench.command(&start.routes)?;
    if let Some(state) = &start.state {
        command.arg("--load-state").arg(state);
    }
    command
        .args(["--begin", &format!("{begin:.3}")])
        .args(["--step-length", &step.to_string()]);
    common_arguments(&mut command, options, begin + lasts);
    let mut types = VehicleTypes::new();
    types.set("car", Body::CAR);
    types.set("heavy", Body::HEAVY);
    let fcd = fcd_options(begin, types);
    let (mut recording, said) = capture(command, network, fcd, frames, options)?;
    for at in 0..frames {
        let found = recording.ids(at).len();
        if found != vehicles.len() {
            return Err(SumoError::NotClosed {
                found,
                expected: vehicles.len(),
                time: at as f64 * STEP_US as f64 / 1e6,
                said,
            });
        }
    }
    recording.derive_next(network);
    intend(&mut recording, network, &start.walks, &start.places);
    recording.origin = format!(
        "SUMO {}, closed population of {} ({aim} on the main road), seed {}, {} on it after {warmups} warm-up(s) with main-road odds x {:.3}",
        sumo.version,
        vehicles.len(),
        options.seed,
        start.on_main,
        start.bias,
    );
    Ok(recording)
}

/// As [`record_closed`], with the recording kept in `folder`.
///
/// # Errors
/// As [`record_closed`]; also if the recording cannot be saved.
pub fn record_closed_cached(
    sumo: &Sumo,
    net: &Path,
    network: &Network,
    population: &ClosedPopulation,
    options: &RunOptions,
    folder: &Path,
) -> Result<Recording, SumoError> {
    let mut key = Key::new("closed population", sumo, network);
    key.add_file(net)?;
    key.add(&format!("{population:?}"));
    let RunOptions {
        seed,
        duration_s,
        step_s,
        look_ahead_s: _,
        begin_s: _,
        fill_s: _,
        depart_offset_s: _,
        persons: _,
        quiet_limit: _,
        stop: _,
    } = options;
    key.add(&format!("{seed} {duration_s:?} {step_s:?}"));
    kept(&key, folder, network, || {
        record_closed(sumo, net, network, population, options)
    })
}

/// Fills in what drivers mean to do next where they have not been seen to do it: it is in their routes.
fn intend(
    recording: &mut Recording,
    network: &Network,
    routes: &[Vec<EdgeIx>],
    places: &BTreeMap<String, usize>,
) {
    // By vehicle: its route and how far it is on it.
    let mut known: Vec<(&[EdgeIx], usize)> = (0..recording.vehicles())
        .map(|id| {
            let name = recording.name(VehicleId(id as u32)).unwrap_or("");
            let number = name.parse::<usize>().ok();
            let route = number.and_then(|n| routes.get(n)).map_or(&[][..], |r| r);
            (route, places.get(name).copied().unwrap_or(0))
        })
        .collect();
    recording.fill_next(|id, lane| {
        let (route, at) = &mut known[id.0 as usize];
        let lane = &network.lanes[lane.index()];
        // Frames are close together: at most a very short edge is missed.
        let ahead = route.get(*at..)?.iter().take(3);
        *at += ahead.copied().position(|edge| edge == lane.edge)?;
        let next = *route.get(*at + 1)?;
        let edge_of = |lane: LaneIx| network.lanes[lane.index()].edge;
        let ways = lane.outgoing.iter().copied();
        ways.into_iter()
            .find(|c| edge_of(network.connections[c.index()].to) == next)
    });
}
