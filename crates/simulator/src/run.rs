//! One run: all arms of one seed, in lockstep over a world that they share.
//!
//! A step of 50 ms: vehicles move; every second step sensors look and links are found anew; beacons and reports that are due
//! are offered, carried or thinned, and delivered; at the decision step of a cycle hosts decide and broadcast, and then
//! the metric looks at what everyone knows.

mod arm_run;
mod part;
mod telling;

use std::thread;
use std::time::Instant as Clock;

use covey_protocol::messages::{Beacon, Message, Report};
use covey_radio::LANES;
use covey_traffic::Source;
use covey_world::Frame;
use thiserror::Error;

use crate::air::{self, Air, BEACON, BROADCAST, BeaconLanes, REPORT};
use crate::arm::{Arm, Contender, Strategy};
use crate::awareness::{Speaker, Told};
use crate::calibrate::Margins;
use crate::cpu::thread_cpu_s;
use crate::hosted::{Hosted, Spoken};
use crate::metric::{self, Ledger};
use crate::observe::{CycleView, Nobody, Observer, Senses, StepView};
use crate::omniscient::Omniscient;
use crate::outcome::{CycleRow, Outcome, SharedOutcome, Timing};
use crate::path_cells::PathCells;
use crate::prepared::{Prepared, STEP_S};
use crate::recording::{Delivery, MessageKind};
use crate::senders::Senders;
use crate::shared::{RING, Shared, rebase};
use crate::sizes::Sizes;

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

/// Frames for a run, whatever makes them.
pub trait FrameSource {
    /// The next step's vehicles; `false` when there is no more.
    ///
    /// # Errors
    /// Whatever keeps the traffic from going on.
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError>;
}

impl<S: Source> FrameSource for S {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        Source::next_frame(self, frame).map_err(|error| RunError::Traffic(error.to_string()))
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
    /// The window is empty, too long or not whole cycles.
    #[error("{field}: found {found}, expected {expected}")]
    Options {
        /// Which option.
        field: &'static str,
        /// Its value.
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

/// One arm at work.
#[derive(Debug)]
pub(crate) struct ArmRun {
    arm: Arm,
    /// Its number among all arms of the run.
    pub(crate) number: usize,
    pub(crate) group: usize,
    pub(crate) lane: usize,
    kind: Kind,
    air: Air,
    /// What everyone learned from reports and broadcasts.
    pub(crate) told: Told,
    ledger: Ledger,
    receivers: Vec<u32>,
    /// Reports of sender-side arms in this step.
    reports: Vec<SentReport>,
}

#[derive(Debug)]
enum Kind {
    /// Beacons only; the oracle differs in what the metric counts as known.
    Silent,
    Senders(Senders),
    /// The yardstick; the only arm that gets the evaluator's relevance.
    Omniscient(Omniscient),
    Hosted(Box<Hosted>),
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
    let contenders: Vec<Contender> = arms.iter().map(|&arm| arm.into()).collect();
    simulate_contenders(prepared, traffic, &contenders, seed, options, observer)
}

/// Runs arms and policies of your own on one seed, side by side.
///
/// # Errors
/// As [`simulate`], and an allowance of a policy of your own may be out of range.
pub fn simulate_contenders(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    contenders: &[Contender],
    seed: u64,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<SeedOutcome, RunError> {
    let mut options = *options;
    if !observer.is_nobody() {
        options.threads = 1;
    }
    Run::new(prepared, contenders, seed, &options, None)?.finish(traffic, observer)
}

use arm_run::SentReport;
pub(crate) use part::Part;
use part::Step;
pub(crate) use part::tell_delivered;

/// A run under way.
#[derive(Debug)]
pub(crate) struct Run<'p> {
    pub(crate) shared: Shared<'p>,
    /// The arms, in as many parts as there are threads.
    pub(crate) parts: Vec<Part>,
    beacon_phase: Vec<u32>,
    report_phase: Vec<u32>,
    warmup: u32,
    pub(crate) steps: u32,
    outcome: SharedOutcome,
    present: metric::Presence,
}

impl<'p> Run<'p> {
    /// `margin_m` takes the place of the scenario's d_min, for calibration.
    pub(crate) fn new(
        prepared: &'p Prepared,
        contenders: &[Contender],
        seed: u64,
        options: &RunOptions,
        margin_m: Option<f64>,
    ) -> Result<Self, RunError> {
        let cycle_s = prepared.scenario.protocol.cycle_s;
        let cycles = |field, seconds: f64, least: f64| {
            let cycles = (seconds / cycle_s).round();
            if cycles >= least && seconds <= 100_000.0 && (cycles * cycle_s - seconds).abs() < 1e-6
            {
                Ok(cycles as u32 * prepared.timeline.cycle)
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
        let warmup = cycles("warmup", options.warmup_s, 0.0)?;
        let steps = warmup + cycles("measure", options.measure_s, 1.0)?;
        for contender in contenders {
            if let Some(found) = contender.arm().allowance
                && !(found > 0.0 && found <= 1.0)
            {
                return Err(RunError::Options {
                    field: "allowance",
                    found,
                    expected: format!("above 0 and at most 1 (arm `{contender}`)"),
                });
            }
        }
        let hosted = |contender: &Contender| contender.arm().strategy.is_hosted();
        let with_cells = contenders.iter().any(hosted);
        let margin = margin_m.unwrap_or(prepared.scenario.evaluation.margin_m);
        let runs: Vec<ArmRun> = contenders
            .iter()
            .map(|contender| (contender, contender.arm()))
            .enumerate()
            .map(|(number, (contender, arm))| ArmRun {
                arm,
                number,
                group: 0,
                lane: 0,
                kind: match arm.strategy {
                    Strategy::CamOnly | Strategy::Oracle => Kind::Silent,
                    Strategy::CpmEtsi => Kind::Senders(Senders::new(false)),
                    Strategy::CpmRmr => Kind::Senders(Senders::new(true)),
                    Strategy::CpmUtility => Kind::Senders(Senders::by_utility()),
                    Strategy::Omniscient => {
                        Kind::Omniscient(Omniscient::new(arm.allowance.unwrap_or(0.0)))
                    }
                    _ => {
                        let own = contender.own_policy();
                        Kind::Hosted(Box::new(Hosted::new(arm, own, seed, prepared)))
                    }
                },
                air: Air::new(prepared),
                told: Told::new(match arm.strategy {
                    // Mitigation compares with reports that are older than the soft state.
                    Strategy::CpmRmr => RING as u32 - 1,
                    _ => prepared.timeline.soft_state,
                }),
                ledger: Ledger::new(contender.to_string(), seed),
                receivers: Vec::new(),
                reports: Vec::new(),
            })
            .collect();
        // In turn, so that no part gets all of a kind.
        let count = options.threads.clamp(1, runs.len().max(1));
        let mut arms: Vec<Vec<ArmRun>> = (0..count).map(|_| Vec::new()).collect();
        for run in runs {
            arms[run.number % count].push(run);
        }
        let parts = arms.into_iter().map(|arms| Part::new(prepared, arms));
        let mut shared = Shared::new(prepared, seed, with_cells, margin);
        shared.threads = options.threads;
        Ok(Self {
            shared,
            parts: parts.collect(),
            beacon_phase: Vec::new(),
            report_phase: Vec::new(),
            warmup,
            steps,
            outcome: SharedOutcome {
                seed,
                ..SharedOutcome::default()
            },
            present: metric::Presence::default(),
        })
    }

    /// Without sight and links: only the load of beacons means anything.
    pub(crate) fn blind(mut self) -> Self {
        self.shared.blind = true;
        self
    }

    /// Runs to the end and gives the first arm's pairs by margin.
    pub(crate) fn finish_with_margins(
        mut self,
        traffic: &mut dyn FrameSource,
    ) -> Result<(SeedOutcome, Margins), RunError> {
        self.parts[0].margins = Some(Margins::default());
        for step in 0..self.steps {
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
                run.air.log = Some(Vec::new());
                if let Kind::Hosted(hosted) = &mut run.kind {
                    hosted.watch();
                }
            }
        }
        for step in 0..self.steps {
            self.step(step, traffic, observer)?;
        }
        Ok(self.conclude())
    }

    fn conclude(mut self) -> SeedOutcome {
        self.outcome.vehicles = self.present.vehicles();
        self.outcome.participants = self.present.participants();
        self.outcome.tiles = self.present.tiles();
        let mut result = SeedOutcome {
            shared: self.outcome,
            timing: self.shared.timing,
            helpers_cpu_s: self.shared.helpers_cpu_s,
            ..SeedOutcome::default()
        };
        let mut arms = Vec::new();
        for part in self.parts {
            result.timing.beacons_s += part.timing.beacons_s;
            result.timing.arms_s += part.timing.arms_s;
            result.timing.metric_s += part.timing.metric_s;
            for run in part.arms {
                let statistics = &part.groups[run.group].statistics[run.lane];
                arms.push((run.number, run.ledger.finish(&run.air, statistics)));
            }
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
        step: u32,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let clock = Clock::now();
        if !traffic.next_frame(&mut self.shared.frame)? {
            return Err(RunError::TooShort {
                found_s: f64::from(step) * STEP_S,
                needed_s: f64::from(self.steps) * STEP_S,
            });
        }
        self.shared.timing.traffic_s += clock.elapsed().as_secs_f64();
        let measured = step >= self.warmup;
        // The yardstick plans the first measured cycle in the one before it.
        let yardstick = |run: &ArmRun| matches!(run.kind, Kind::Omniscient(_));
        let mut arms = self.parts.iter().flat_map(|part| &part.arms);
        let soon = step + self.shared.prepared.timeline.cycle >= self.warmup;
        let evaluate = measured || soon && arms.any(yardstick);
        // Nobody remembers for longer what it saw.
        self.shared.everyone_looks = step + self.shared.prepared.timeline.soft_state >= self.warmup;
        let rebased = self.shared.advance(step, evaluate);
        self.begin(measured, observer);
        let (senders, due) = self.shared.beacon_senders(&self.beacon_phase);
        let step = Step {
            senders: &senders,
            due: &due,
            report_phase: &self.report_phase,
            measured,
            begins_window: step == self.warmup,
            relevance_known: soon,
            rebased,
        };
        let (shared, step) = (&self.shared, &step);
        match &mut self.parts[..] {
            [] => {}
            [all] => all.step(shared, step, observer),
            [first, others @ ..] => {
                // Whoever watches is served by one part alone, so here nobody does.
                let helpers_cpu_s = thread::scope(|scope| {
                    let helpers: Vec<_> = others
                        .iter_mut()
                        .map(|part| {
                            scope.spawn(|| {
                                part.step(shared, step, &mut Nobody);
                                thread_cpu_s()
                            })
                        })
                        .collect();
                    first.step(shared, step, &mut Nobody);
                    let joined = helpers.into_iter().map(|helper| {
                        helper
                            .join()
                            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    });
                    joined.sum::<f64>()
                });
                self.shared.helpers_cpu_s += helpers_cpu_s;
            }
        }
        Ok(())
    }

    /// Gives newcomers their phases, and tells who is there.
    fn begin(&mut self, measured: bool, observer: &mut dyn Observer) {
        let shared = &self.shared;
        let size = shared.slots.len();
        self.beacon_phase.resize(size, 0);
        self.report_phase.resize(size, 0);
        for &slot in &shared.taken {
            let p = &shared.prepared.scenario.protocol;
            let agent = shared.agent(slot);
            let steps = |d: covey_protocol::Duration| (d.micros() / covey_traffic::STEP_US) as u32;
            self.beacon_phase[slot as usize] = steps(p.beacon_phase(agent));
            self.report_phase[slot as usize] = steps(p.report_phase(agent));
        }
        if measured {
            self.present.note(shared);
            for vehicle in &shared.frame.vehicles {
                self.outcome.speed.add(vehicle.speed);
            }
        }
        let participates: Vec<bool> = shared
            .places
            .iter()
            .map(|&slot| shared.participant[slot as usize])
            .collect();
        observer.step(&StepView {
            step: shared.step,
            now: shared.now(),
            measured,
            vehicles: &shared.frame.vehicles,
            participates: &participates,
        });
        if observer.wants_senses() {
            self.tell_senses(observer);
        }
    }

    /// Tells what everyone knows of itself.
    fn tell_senses(&self, observer: &mut dyn Observer) {
        let shared = &self.shared;
        let mut objects = Vec::new();
        for &slot in &shared.participants {
            objects.clear();
            let seen = shared.seen.of(slot).iter();
            objects.extend(seen.map(|&object| shared.perceived(slot, object, shared.sensed_step)));
            let senses = Senses {
                state: &shared.here(slot).state,
                sensed: shared
                    .is_sensing()
                    .then_some((&objects, shared.cells.of(slot))),
            };
            observer.senses(shared.now(), shared.agent(slot), &senses);
        }
    }
}
