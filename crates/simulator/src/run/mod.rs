//! One run: all arms of one seed, in lockstep over a world that they share.
//!
//! A step of 50 ms: vehicles move; every second step sensors look and links are found anew; beacons and reports that are due
//! are offered, carried or thinned, and delivered; at the decision step of a cycle hosts decide and broadcast, and then
//! the metric looks at what everyone knows.

mod crowd;
mod part;

use std::sync::Arc;
use std::thread;
use std::time::Instant as Clock;

use covey_protocol::RoadMap;
use covey_traffic::Source;
use covey_world::{Frame, VehicleId};
use thiserror::Error;

use crate::arms::{Arm, Behaviour};
use crate::channel::BeaconClock;
use crate::cpu::thread_cpu_s;
use crate::ids::Step;
use crate::measure::{Margins, Nobody, Observer, Presence, Senses, StepView};
use crate::outcome::{CycleRow, Outcome, SharedOutcome, Timing};
use crate::prepared::{Prepared, RING, Remembering, STEP_S};
use crate::stack::{Fleet, Omniscient, SenderRules, Senders, Silent, Stack};
use crate::world::{Wanted, World};

use part::PartStep;
pub(crate) use part::{ArmRun, Part};

/// How long to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunOptions {
    /// Seconds before measuring begins.
    pub warmup_s: f64,
    /// Seconds to measure.
    pub measure_s: f64,
    /// Threads that may work on the run. The outcome is the same with any number; observers are served by one alone.
    pub threads: usize,
}

impl Default for RunOptions {
    /// The letter's: 40 s and 40 s. One thread.
    fn default() -> Self {
        Self {
            warmup_s: 40.0,
            measure_s: 40.0,
            threads: 1,
        }
    }
}

impl RunOptions {
    /// The window is one that can be run, with cycles of `cycle_s`.
    ///
    /// # Errors
    /// It is empty, too long or not whole cycles.
    pub fn check(&self, cycle_s: f64) -> Result<(), RunError> {
        self.cycles(cycle_s).map(|_| ())
    }

    /// Cycles of warm-up and of measurement.
    fn cycles(&self, cycle_s: f64) -> Result<(u32, u32), RunError> {
        let cycles = |field, seconds: f64, least: f64| {
            let cycles = (seconds / cycle_s).round();
            if cycles >= least && seconds <= 100_000.0 && (cycles * cycle_s - seconds).abs() < 1e-6
            {
                Ok(cycles as u32)
            } else {
                Err(RunError::Options {
                    field,
                    found: seconds,
                    expected: format!(
                        "whole cycles of {cycle_s} s, at least {}, at most 100000 s",
                        least * cycle_s
                    ),
                })
            }
        };
        Ok((
            cycles("warmup", self.warmup_s, 0.0)?,
            cycles("measure", self.measure_s, 1.0)?,
        ))
    }
}

/// Frames for a run, whatever makes them.
pub trait FrameSource {
    /// The next step's vehicles; `false` when there is no more.
    ///
    /// # Errors
    /// Whatever keeps the traffic from going on.
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError>;

    /// The type that the traffic's own files give a vehicle that was in a frame, where there is one.
    fn vehicle_type(&self, _id: VehicleId) -> Option<&str> {
        None
    }
}

impl<S: Source> FrameSource for S {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        Source::next_frame(self, frame).map_err(|error| RunError::Traffic(error.to_string()))
    }

    fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        Source::vehicle_type(self, id)
    }
}

/// Why a run cannot go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// The traffic broke off.
    #[error("traffic: {0}")]
    Traffic(String),
    /// The traffic ends before the measured window does.
    #[error(
        "traffic: it ends after {found_s:.2} s, expected {needed_s:.2} s (warm-up and measurement); shorten them or record more"
    )]
    TooShort {
        /// What there was.
        found_s: f64,
        /// What was asked for.
        needed_s: f64,
    },
    /// There are more vehicles than fit.
    #[error(
        "traffic: at {at_s:.2} s there are {found} vehicles; expected at most {most} at a time; take fewer vehicles, or a smaller part of the recording"
    )]
    TooMany {
        /// When.
        at_s: f64,
        /// How many there are.
        found: usize,
        /// How many are taken.
        most: usize,
    },
    /// Too many vehicles hear each other.
    #[error(
        "traffic: at {at_s:.2} s {crowd} vehicles are in the square of {side_m:.0} m around ({x_m:.0}, {y_m:.0}) m, and {pairs} pairs within reach of each other; expected at most {most}; take fewer vehicles, or a smaller part of the recording"
    )]
    TooClose {
        /// When.
        at_s: f64,
        /// Vehicles in the fullest square.
        crowd: u64,
        /// Its side.
        side_m: f64,
        /// Its middle, on the map.
        x_m: f64,
        /// Its middle, on the map.
        y_m: f64,
        /// Pairs that may hear each other.
        pairs: u64,
        /// How many are taken.
        most: u64,
    },
    /// The window is empty, too long or not whole cycles.
    #[error("{field}: found {found}, expected {expected}")]
    Options {
        /// The option's name.
        field: &'static str,
        /// What was given.
        found: f64,
        /// What it may be.
        expected: String,
    },
}

/// What a run of one seed gives.
#[derive(Debug, Clone, Default)]
pub struct SeedOutcome {
    /// What all arms share.
    pub shared: SharedOutcome,
    /// By arm, in the order given.
    pub arms: Vec<Outcome>,
    /// Rows of cycles by arm, of the measured window.
    pub cycles: Vec<Vec<CycleRow>>,
    /// Where the time went.
    pub timing: Timing,
    /// CPU seconds of threads other than the caller's.
    pub helpers_cpu_s: f64,
}

/// Runs all arms of one seed.
///
/// The outcome of an arm does not depend on which others run with it, nor on their order.
///
/// # Errors
/// The window is senseless, or the traffic breaks off or ends too early.
pub fn simulate(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    arms: &[Arm],
    seed: u64,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<SeedOutcome, RunError> {
    let mut options = *options;
    if !observer.is_nobody() {
        options.threads = 1;
    }
    Run::new(prepared, arms, seed, &options, None)?.finish(traffic, observer)
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Run<'p> {
    pub(crate) world: World<'p>,
    clock: BeaconClock,
    /// The arms, in as many parts as there are threads.
    pub(crate) parts: Vec<Part>,
    window: Window,
    outcome: SharedOutcome,
    present: Presence,
    /// CPU seconds of threads other than the caller's.
    helpers_cpu_s: f64,
}

/// The steps of a run.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// The first that is measured.
    measured_from: Step,
    /// One more than the last.
    end: Step,
}

impl Window {
    fn new(prepared: &Prepared, options: &RunOptions) -> Result<Self, RunError> {
        let (warmup, measured) = options.cycles(prepared.scenario.protocol.cycle_s)?;
        let steps = prepared.timeline.cycle;
        let measured_from = Step(warmup * steps);
        Ok(Self {
            measured_from,
            end: measured_from.after(measured * steps),
        })
    }

    fn steps(self) -> impl Iterator<Item = Step> + use<> {
        (0..self.end.0).map(Step)
    }
}

/// What an arm's participants do in a run.
fn stack(arm: &Arm, seed: u64, prepared: &Prepared, paths: &Arc<dyn RoadMap>) -> Box<dyn Stack> {
    match &arm.strategy.behaviour {
        Behaviour::Silent | Behaviour::Oracle => Box::new(Silent),
        Behaviour::Senders(rules) => Box::new(Senders::new(*rules, prepared)),
        Behaviour::Omniscient => {
            let allowance = arm.allowance.unwrap_or(0.0);
            Box::new(Omniscient::new(allowance, prepared.timeline.cycle))
        }
        Behaviour::Hosted(maker) => {
            let profile = arm.bare_profile(maker, seed, prepared);
            Box::new(Fleet::new(profile, prepared, paths))
        }
    }
}

/// For how many steps an arm's messages are remembered.
fn memory(arm: &Arm, prepared: &Prepared) -> u32 {
    match &arm.strategy.behaviour {
        // Mitigation compares with reports that are older than the soft state.
        Behaviour::Senders(SenderRules::Mitigation) => RING as u32 - 1,
        _ => prepared.timeline.soft_state,
    }
}

/// The arms in so many parts, in turn, so that no part gets all of a kind.
fn parts(prepared: &Prepared, arms: &[Arm], seed: u64, count: usize) -> Vec<Part> {
    let mut shares: Vec<Vec<ArmRun>> = Vec::new();
    shares.resize_with(count.clamp(1, arms.len().max(1)), Vec::new);
    let maps: Vec<Arc<dyn RoadMap>> = shares
        .iter()
        .map(|_| Arc::new(Remembering::new(&prepared.carried)) as Arc<dyn RoadMap>)
        .collect();
    let count = shares.len();
    for (number, arm) in arms.iter().enumerate() {
        let share = number % count;
        let stack = stack(arm, seed, prepared, &maps[share]);
        let memory = memory(arm, prepared);
        let run = ArmRun::new(prepared, number, arm, seed, stack, memory);
        shares[share].push(run);
    }
    shares
        .into_iter()
        .map(|arms| Part::new(prepared, arms))
        .collect()
}

impl<'p> Run<'p> {
    /// `margin_m` takes the place of the scenario's d_min, for calibration.
    pub(crate) fn new(
        prepared: &'p Prepared,
        arms: &[Arm],
        seed: u64,
        options: &RunOptions,
        margin_m: Option<f64>,
    ) -> Result<Self, RunError> {
        let wanted = Wanted {
            cells: arms.iter().any(|arm| arm.strategy.is_hosted()),
            margin_m: margin_m.unwrap_or(prepared.scenario.evaluation.margin_m),
            threads: options.threads,
        };
        let window = Window::new(prepared, options)?;
        for arm in arms {
            if let Some(found) = arm.allowance
                && !(found > 0.0 && found <= 1.0)
            {
                return Err(RunError::Options {
                    field: "allowance",
                    found,
                    expected: format!("above 0 and at most 1 (arm `{arm}`)"),
                });
            }
        }
        Ok(Self {
            world: World::new(prepared, seed, wanted),
            clock: BeaconClock::default(),
            parts: parts(prepared, arms, seed, options.threads),
            window,
            outcome: SharedOutcome {
                seed,
                ..SharedOutcome::default()
            },
            present: Presence::default(),
            helpers_cpu_s: 0.0,
        })
    }

    /// All its steps.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> + use<> {
        self.window.steps()
    }

    /// Runs to the end and gives the first arm's pairs by margin.
    pub(crate) fn finish_with_margins(
        mut self,
        traffic: &mut dyn FrameSource,
    ) -> Result<(SeedOutcome, Margins), RunError> {
        self.parts[0].margins = Some(Margins::default());
        for step in self.window.steps() {
            self.step(step, traffic, &mut Nobody)?;
        }
        let margins = self.parts[0].margins.take().unwrap_or_default();
        Ok((self.conclude(), margins))
    }

    /// Runs to the end.
    pub(crate) fn finish(
        mut self,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<SeedOutcome, RunError> {
        if observer.wants_record() {
            for run in self.parts.iter_mut().flat_map(|part| &mut part.arms) {
                run.watch();
            }
        }
        for step in self.window.steps() {
            self.step(step, traffic, observer)?;
        }
        Ok(self.conclude())
    }

    fn conclude(mut self) -> SeedOutcome {
        self.outcome.vehicles = self.present.vehicles();
        self.outcome.participants = self.present.participants();
        self.outcome.tiles = self.present.tiles();
        self.outcome.classes = self.present.classes();
        let spent = self.world.spent;
        let mut result = SeedOutcome {
            shared: self.outcome,
            timing: Timing {
                traffic_s: spent.traffic_s,
                sight_s: spent.sight_s,
                links_s: spent.links_s,
                paths_s: spent.paths_s,
                ..Timing::default()
            },
            helpers_cpu_s: self.helpers_cpu_s + spent.helpers_cpu_s,
            ..SeedOutcome::default()
        };
        let mut arms = Vec::new();
        for part in self.parts {
            result.timing.beacons_s += part.timing.beacons_s;
            result.timing.arms_s += part.timing.arms_s;
            result.timing.metric_s += part.timing.metric_s;
            arms.extend(part.finish());
        }
        arms.sort_by_key(|&(number, _)| number);
        for (_, (outcome, cycles)) in arms {
            result.arms.push(outcome);
            result.cycles.push(cycles);
        }
        result
    }

    /// One step.
    pub(crate) fn step(
        &mut self,
        step: Step,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let clock = Clock::now();
        if !traffic.next_frame(&mut self.world.road.frame)? {
            return Err(RunError::TooShort {
                found_s: f64::from(step.0) * STEP_S,
                needed_s: f64::from(self.window.end.0) * STEP_S,
            });
        }
        let prepared = self.world.prepared;
        let type_of = |id| traffic.vehicle_type(VehicleId(id));
        self.world
            .road
            .outfit_all(prepared, type_of)
            .map_err(RunError::Traffic)?;
        self.world.spent.traffic_s += clock.elapsed().as_secs_f64();
        let channel = self.world.prepared.channel.parameters();
        let reach_m = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        let at_s = f64::from(step.0) * STEP_S;
        crowd::check(at_s, reach_m, &self.world.road.frame.vehicles)?;
        let timeline = &self.world.prepared.timeline;
        let begin = self.window.measured_from;
        let measured = step >= begin;
        // The yardstick plans the first measured cycle in the one before it.
        let mut arms = self.parts.iter().flat_map(|part| &part.arms);
        let soon = step.after(timeline.cycle) >= begin;
        let evaluate = measured || soon && arms.any(|run| run.stack.wants_relevance());
        // Nobody remembers for longer what it saw.
        let everyone_looks = step.after(timeline.soft_state) >= begin;
        let rebased = self.world.advance(step, evaluate, everyone_looks);
        self.begin(measured, observer);
        let beacons = self.clock.begin(&self.world);
        let step = PartStep {
            world: &self.world,
            clock: &self.clock,
            beacons: &beacons,
            measured,
            begins_window: step == begin,
            relevance_known: soon,
            rebased,
        };
        match &mut self.parts[..] {
            [] => {}
            [all] => all.step(&step, observer),
            // Whoever watches is served by one part alone, so here nobody does.
            parts => self.helpers_cpu_s += side_by_side(parts, &step),
        }
        Ok(())
    }

    /// Tells who is there.
    fn begin(&mut self, measured: bool, observer: &mut dyn Observer) {
        let world = &self.world;
        let vehicles = &world.road.frame.vehicles;
        if measured {
            self.present.note(world);
            let on_road = vehicles.iter().filter(|v| v.body.kind.is_road_vehicle());
            for vehicle in on_road {
                self.outcome.speed.add(vehicle.speed);
            }
        }
        let present = world.road.present().iter();
        let participates: Vec<bool> = present.map(|&slot| world.road.participates(slot)).collect();
        let present = world.road.present().iter();
        let (station_types, sensors): (Vec<u8>, Vec<_>) = present
            .map(|&slot| world.road.outfit(world.prepared, slot))
            .map(|outfit| (outfit.station_type, &outfit.told[..]))
            .unzip();
        observer.step(&StepView {
            step: world.step().0,
            now: world.now(),
            measured,
            vehicles,
            participates: &participates,
            station_types: &station_types,
            sensors: &sensors,
        });
        if observer.wants_senses() {
            tell_senses(world, observer);
        }
    }
}

/// Does all parts' share of a step, a thread each; gives the CPU seconds of threads other than this one.
fn side_by_side(parts: &mut [Part], step: &PartStep<'_>) -> f64 {
    let [first, others @ ..] = parts else {
        return 0.0;
    };
    thread::scope(|scope| {
        let helpers: Vec<_> = others
            .iter_mut()
            .map(|part| {
                scope.spawn(|| {
                    part.step(step, &mut Nobody);
                    thread_cpu_s()
                })
            })
            .collect();
        first.step(step, &mut Nobody);
        let joined = helpers.into_iter().map(|helper| {
            helper
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.sum::<f64>()
    })
}

/// Tells what everyone knows of itself.
fn tell_senses(world: &World<'_>, observer: &mut dyn Observer) {
    let mut objects = Vec::new();
    for &slot in world.road.participants() {
        world.sensed(slot, &mut objects);
        let cells = world.sights.cells.of(slot);
        let senses = Senses {
            state: &world.here(slot).state,
            sensed: world.is_sensing().then_some((&objects, cells)),
        };
        observer.senses(world.now(), world.agent(slot), &senses);
    }
}
