//! One run: all arms of one seed, in lockstep over a world that they share.
//!
//! A step of 50 ms: vehicles move; every second step sensors look and links are found anew; beacons and reports that are due
//! are offered, carried or thinned, and delivered; at the decision step of a cycle hosts decide and broadcast, and then
//! the metric looks at what everyone knows.

mod ahead;
mod crew;
mod crowd;
mod part;

use std::time::Instant as Clock;

use covey_traffic::Source;
use covey_world::{Frame, VehicleId};
use thiserror::Error;

use crate::arms::Arm;
use crate::cpu::thread_cpu_s;
use crate::gang::Gang;
use crate::ids::Step;
use crate::measure::{Margins, Nobody, Observer};
use crate::outcome::{CycleRow, Outcome, SharedOutcome, Timing};
use crate::prepared::{Prepared, STEP_S};
use crate::world::{Wanted, World};

pub(crate) use crew::Crew;
use crew::Moment;

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
    /// Scenarios that were to be run together do not have one road.
    #[error("scenarios: found several roads, expected scenarios that differ in what arms do alone")]
    OtherRoad,
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
    /// Where the time went; of what several scenarios share, each has its part.
    pub timing: Timing,
    /// CPU seconds of the caller's thread that were for this scenario alone, where several were run together.
    pub own_cpu_s: f64,
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
    let mut outcomes =
        Run::new(&[(prepared, arms)], seed, &options, None)?.finish(traffic, observer)?;
    Ok(outcomes.pop().unwrap_or_default())
}

/// Runs all arms of one seed of several scenarios in lockstep, over one road: that of all of them. The outcome of each is what
/// [`simulate`] gives of it alone.
///
/// # Errors
/// As [`simulate`]; or scenarios do not have one road.
pub fn simulate_together(
    scenarios: &[(&Prepared, &[Arm])],
    traffic: &mut dyn FrameSource,
    seed: u64,
    options: &RunOptions,
) -> Result<Vec<SeedOutcome>, RunError> {
    if scenarios.is_empty() {
        return Ok(Vec::new());
    }
    let mut roads = scenarios
        .iter()
        .map(|(prepared, _)| prepared.scenario.road());
    let first = roads.next();
    if roads.any(|road| Some(road) != first) {
        return Err(RunError::OtherRoad);
    }
    Run::new(scenarios, seed, options, None)?.finish(traffic, &mut Nobody)
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Run<'p> {
    pub(crate) world: World<'p>,
    /// What the arms of each scenario do.
    pub(crate) crews: Vec<Crew>,
    window: Window,
    gang: Gang,
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

    /// Makes the world of a step, at the turn of the first scenario.
    fn make(
        self,
        world: &mut World<'_>,
        step: Step,
        traffic: &mut dyn FrameSource,
        gang: &Gang,
    ) -> Result<Moment, RunError> {
        let clock = Clock::now();
        if !traffic.next_frame(&mut world.road.frame)? {
            return Err(RunError::TooShort {
                found_s: f64::from(step.0) * STEP_S,
                needed_s: f64::from(self.end.0) * STEP_S,
            });
        }
        let prepared = world.prepared;
        let type_of = |id| traffic.vehicle_type(VehicleId(id));
        world
            .road
            .outfit_all(prepared, type_of)
            .map_err(RunError::Traffic)?;
        world.spent.traffic_s += clock.elapsed().as_secs_f64();
        let channel = prepared.channel.parameters();
        let reach_m = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        let at_s = f64::from(step.0) * STEP_S;
        crowd::check(at_s, reach_m, &world.road.frame.vehicles)?;
        let timeline = &prepared.timeline;
        let begin = self.measured_from;
        // Nobody remembers for longer what it saw.
        let everyone_looks = step.after(timeline.soft_state) >= begin;
        let rebased = world.advance(step, everyone_looks, gang);
        Ok(Moment {
            measured: step >= begin,
            begins_window: step == begin,
            // The yardstick plans the first measured cycle in the one before it.
            soon: step.after(timeline.cycle) >= begin,
            rebased,
        })
    }
}

/// What of the arms is asked for, and whether it makes sense.
fn wanted<'a>(
    arms: impl Iterator<Item = &'a Arm>,
    margin_m: Option<f64>,
) -> Result<Wanted, RunError> {
    let mut wanted = Wanted {
        cells: false,
        margin_m,
    };
    for arm in arms {
        wanted.cells |= arm.strategy.has_summaries();
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
    Ok(wanted)
}

impl<'p> Run<'p> {
    /// A run of some scenarios with one road, at least one. `margin_m` takes the place of their d_min, for calibration.
    pub(crate) fn new(
        scenarios: &[(&'p Prepared, &[Arm])],
        seed: u64,
        options: &RunOptions,
        margin_m: Option<f64>,
    ) -> Result<Self, RunError> {
        let arms = scenarios.iter().flat_map(|(_, arms)| arms.iter());
        let wanted = wanted(arms, margin_m)?;
        let prepared: Vec<&Prepared> = scenarios.iter().map(|(prepared, _)| *prepared).collect();
        let [first, others @ ..] = &prepared[..] else {
            return Err(RunError::OtherRoad);
        };
        let crew = |&(prepared, arms): &(&'p Prepared, &[Arm])| {
            Crew::new(prepared, arms, seed, options.threads)
        };
        Ok(Self {
            world: World::new(first, others, seed, wanted),
            crews: scenarios.iter().map(crew).collect(),
            window: Window::new(first, options)?,
            gang: Gang::new(options.threads),
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
        self.crews[0].parts[0].margins = Some(Margins::default());
        self.go(traffic, &mut Nobody)?;
        let margins = self.crews[0].parts[0].margins.take().unwrap_or_default();
        Ok((self.conclude().pop().unwrap_or_default(), margins))
    }

    /// Runs to the end; what is watched is one scenario's.
    pub(crate) fn finish(
        mut self,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SeedOutcome>, RunError> {
        if observer.wants_record() {
            self.crews.iter_mut().for_each(Crew::watch);
        }
        self.go(traffic, observer)?;
        Ok(self.conclude())
    }

    /// Goes through all steps.
    fn go(
        &mut self,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        if self.gang.size() > 1 && observer.is_nobody() {
            let (world, crews) = (&mut self.world, &mut self.crews);
            return ahead::go(world, crews, self.window, &self.gang, traffic);
        }
        for step in self.window.steps() {
            self.step(step, traffic, observer)?;
        }
        Ok(())
    }

    fn conclude(self) -> Vec<SeedOutcome> {
        let share = 1.0 / self.crews.len().max(1) as f64;
        let spent = self.world.spent;
        let shared = Timing {
            traffic_s: spent.traffic_s * share,
            sight_s: spent.sight_s * share,
            links_s: spent.links_s * share,
            ..Timing::default()
        };
        let crews = self.crews.into_iter();
        crews
            .map(|crew| crew.conclude(&shared, spent.helpers_cpu_s * share))
            .collect()
    }

    /// One step.
    pub(crate) fn step(
        &mut self,
        step: Step,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        self.world.turn_to(0);
        let moment = self
            .window
            .make(&mut self.world, step, traffic, &self.gang)?;
        self.world.perceive();
        let alone = self.crews.len() == 1;
        for (turn, crew) in self.crews.iter_mut().enumerate() {
            let before = if alone { 0.0 } else { thread_cpu_s() };
            self.world.turn_to(turn);
            crew.step(&mut self.world, &moment, observer, &self.gang);
            if !alone {
                crew.own_cpu_s += thread_cpu_s() - before;
            }
        }
        Ok(())
    }
}
