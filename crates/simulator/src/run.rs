//! One run: all arms of one seed, in lockstep over a world that they share.
//!
//! A step of 50 ms: vehicles move; every second step sensors look and links are found anew; beacons and reports that are due
//! are offered, carried or thinned, and delivered; at the decision step of a cycle hosts decide and broadcast, and then
//! the metric looks at what everyone knows.

mod arm_run;
mod telling;

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
use crate::hosted::{Hosted, Spoken};
use crate::metric::{self, Ledger};
use crate::observe::{CycleView, Nobody, Observer, StepView};
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
}

impl Default for RunOptions {
    /// The letter's: 40 s and 40 s.
    fn default() -> Self {
        Self {
            warmup_s: 40.0,
            measure_s: 40.0,
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
}

/// One arm at work.
#[derive(Debug)]
pub(crate) struct ArmRun {
    arm: Arm,
    pub(crate) group: usize,
    pub(crate) lane: usize,
    kind: Kind,
    air: Air,
    /// What everyone learned from reports and broadcasts.
    pub(crate) told: Told,
    ledger: Ledger,
    receivers: Vec<u32>,
    /// Reports of sender-side arms in this step: sender, objects, bytes.
    reports: Vec<(u32, Vec<u32>, u32)>,
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
    Run::new(prepared, contenders, seed, options, None)?.finish(traffic, observer)
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Run<'p> {
    pub(crate) shared: Shared<'p>,
    spoken: Spoken,
    sizes: Sizes,
    pub(crate) arms: Vec<ArmRun>,
    pub(crate) groups: Vec<BeaconLanes>,
    beacon_phase: Vec<u32>,
    report_phase: Vec<u32>,
    warmup: u32,
    pub(crate) steps: u32,
    outcome: SharedOutcome,
    present: metric::Presence,
    /// Relevant and missed pairs of the first arm by margin, for calibration.
    margins: Option<Margins>,
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
            .map(|(at, (contender, arm))| ArmRun {
                arm,
                group: at / LANES,
                lane: at % LANES,
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
        let groups = contenders
            .chunks(LANES)
            .map(|chunk| BeaconLanes::new(chunk.len()))
            .collect();
        Ok(Self {
            shared: Shared::new(prepared, seed, with_cells, margin),
            spoken: Spoken::default(),
            sizes: Sizes::new(prepared.scenario.sizes, &prepared.scenario.protocol),
            arms: runs,
            groups,
            beacon_phase: Vec::new(),
            report_phase: Vec::new(),
            warmup,
            steps,
            outcome: SharedOutcome {
                seed,
                ..SharedOutcome::default()
            },
            present: metric::Presence::default(),
            margins: None,
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
        self.margins = Some(Margins::default());
        for step in 0..self.steps {
            self.step(step, traffic, &mut Nobody)?;
        }
        let margins = self.margins.take().unwrap_or_default();
        Ok((self.conclude(), margins))
    }

    /// Runs to the end.
    pub(crate) fn finish(
        mut self,
        traffic: &mut dyn FrameSource,
        observer: &mut dyn Observer,
    ) -> Result<SeedOutcome, RunError> {
        if observer.wants_record() {
            for run in &mut self.arms {
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
            ..SeedOutcome::default()
        };
        for run in self.arms {
            let statistics = &self.groups[run.group].statistics[run.lane];
            let (outcome, cycles) = run.ledger.finish(&run.air, statistics);
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
        let soon = step + self.shared.prepared.timeline.cycle >= self.warmup;
        let evaluate = measured || soon && self.arms.iter().any(yardstick);
        // Nobody remembers for longer what it saw.
        self.shared.everyone_looks = step + self.shared.prepared.timeline.soft_state >= self.warmup;
        if self.shared.advance(step, evaluate) {
            for run in &mut self.arms {
                run.told.each(rebase);
                match &mut run.kind {
                    Kind::Silent | Kind::Omniscient(_) => {}
                    Kind::Senders(senders) => senders.included.each(rebase),
                    Kind::Hosted(hosted) => {
                        if let Some(reported) = &mut hosted.reported {
                            reported.each(rebase);
                        }
                    }
                }
            }
            for group in &mut self.groups {
                group.heard.each(rebase);
            }
        }
        if step == self.warmup {
            for run in &mut self.arms {
                run.air.traffic = Default::default();
                run.ledger.receptions = 0;
            }
        }
        self.begin(measured, observer);
        let clock = Clock::now();
        self.beacons_and_reports(measured, observer);
        self.shared.timing.beacons_s += clock.elapsed().as_secs_f64();
        let clock = Clock::now();
        self.deliver_reports(observer);
        if self.shared.is_decision() {
            self.serve(measured, observer);
        }
        self.shared.timing.arms_s += clock.elapsed().as_secs_f64();
        if self.shared.is_decision() && measured {
            let clock = Clock::now();
            self.measure(observer);
            self.shared.timing.metric_s += clock.elapsed().as_secs_f64();
        }
        let evaluated = self.shared.is_decision();
        for run in &mut self.arms {
            run.air.end();
            if let Some(log) = run.air.log.as_mut().filter(|_| evaluated) {
                log.clear();
            }
        }
        Ok(())
    }

    /// Makes room, forgets who left, and opens the step on the channel.
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
        for group in &mut self.groups {
            group.hosts.resize(size, 0);
            if shared.is_sensing() {
                let timeline = &shared.prepared.timeline;
                let keep = timeline.soft_state.div_ceil(timeline.beacon) + 2;
                group.heard.begin_interval(size, keep as usize);
            }
            for &slot in &shared.left {
                group.heard.clear(slot);
            }
        }
        for run in &mut self.arms {
            run.told.begin(shared.step, size);
            let group = &mut self.groups[run.group];
            match &mut run.kind {
                Kind::Silent | Kind::Omniscient(_) => {}
                Kind::Senders(senders) => senders.included.grow(size),
                Kind::Hosted(hosted) => hosted.begin(shared, &mut group.hosts, run.lane),
            }
            for &slot in &shared.left {
                run.told.clear(slot);
                if let Kind::Senders(senders) = &mut run.kind {
                    senders.included.clear(slot);
                }
            }
            run.air.begin(shared);
            group.begin(shared, run.lane, &run.air);
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
    }

    /// Offers all beacons and reports of the step, decides which are carried, and delivers the beacons.
    fn beacons_and_reports(&mut self, measured: bool, observer: &mut dyn Observer) {
        let senders = self.shared.beacon_senders(&self.beacon_phase);
        let low_frequency = self.shared.low_frequency(&senders);
        let shared = &self.shared;
        self.spoken.speak(shared, &senders);
        let thinning = air::thinning(shared, BEACON);
        let mut carried = vec![vec![0u16; senders.len()]; self.groups.len()];
        for run in &mut self.arms {
            for (&slot, &low_frequency) in senders.iter().zip(&low_frequency) {
                let mut digest = None;
                if let Kind::Hosted(hosted) = &run.kind
                    && hosted.digest_due(shared, slot)
                    && let Some(made) = self
                        .spoken
                        .beacon(slot, shared.step)
                        .and_then(|beacon| beacon.digest.as_ref())
                {
                    let bytes = made.encoded_len() as u32;
                    digest = Some(bytes);
                    if measured {
                        run.ledger.outcome.digest_bytes.add(f64::from(bytes));
                    }
                }
                let (bytes, digest) = self.sizes.beacon(digest, low_frequency);
                run.air
                    .offer(shared, &thinning, slot, BEACON, bytes, digest);
            }
            run.compose_reports(
                shared,
                &mut self.spoken,
                &self.groups[run.group],
                &self.report_phase,
                &self.sizes,
            );
            run.air.carry();
            for (mask, &carried) in carried[run.group].iter_mut().zip(&run.air.carried) {
                *mask |= u16::from(carried) << run.lane;
            }
        }
        let reception = air::reception(shared, BEACON);
        let mut delivered = vec![[0u64; LANES]; self.groups.len()];
        let mut in_range = 0u64;
        for (at, &slot) in senders.iter().enumerate() {
            in_range += shared.links.range(slot).len() as u64;
            for ((group, masks), delivered) in
                self.groups.iter_mut().zip(&carried).zip(&mut delivered)
            {
                group.deliver(shared, &reception, slot, masks[at], measured, delivered);
            }
        }
        for run in &mut self.arms {
            let traffic = &mut run.air.traffic[BEACON as usize];
            let delivered = delivered[run.group][run.lane];
            let thinned: u64 = senders
                .iter()
                .zip(&carried[run.group])
                .filter(|&(_, mask)| mask >> run.lane & 1 == 0)
                .map(|(&slot, _)| shared.links.range(slot).len() as u64)
                .sum();
            traffic.messages += senders.len() as u64;
            traffic.bytes += run.air.offers[..senders.len()]
                .iter()
                .map(|offer| u64::from(offer.bytes))
                .sum::<u64>();
            traffic.in_range += in_range;
            traffic.delivered += delivered;
            traffic.thinned += thinned;
            traffic.lost += in_range - delivered - thinned;
            run.ledger.receptions += delivered;
            // What is left of the carried flags is the reports'.
            run.air.carried.drain(..senders.len());
        }
        if observer.wants_messages() {
            self.tell_messages(&senders, observer);
        }
        if observer.wants_deliveries() {
            self.tell_delivered_beacons(&senders, observer);
        }
    }

    fn deliver_reports(&mut self, observer: &mut dyn Observer) {
        let shared = &self.shared;
        for (number, run) in self.arms.iter_mut().enumerate() {
            let group = &self.groups[run.group];
            let carried = std::mem::take(&mut run.air.carried);
            match &mut run.kind {
                Kind::Silent => {}
                Kind::Senders(_) | Kind::Omniscient(_) => {
                    let reception = air::reception(shared, REPORT);
                    let stamp = shared.stamp(shared.sensed_step);
                    for ((sender, objects, bytes), &carried) in run.reports.iter().zip(&carried) {
                        run.air.deliver(
                            shared,
                            &reception,
                            *sender,
                            REPORT,
                            *bytes,
                            carried,
                            &mut run.receivers,
                        );
                        run.ledger.receptions += (run.receivers.len() * objects.len()) as u64;
                        let receivers = run.receivers.iter().copied();
                        let message = run.told.message(shared.step, receivers);
                        run.told.spoken_by(message, Speaker::Reporter(*sender));
                        for &object in objects {
                            run.told.tell(message, object, stamp);
                        }
                        if observer.wants_deliveries() {
                            let message = Message::Report(report(shared, *sender, objects));
                            tell_delivered(observer, number, shared, &message, &run.receivers);
                        }
                    }
                }
                Kind::Hosted(hosted) => {
                    hosted.hear(shared, &self.spoken, &group.heard_by_hosts, run.lane);
                    hosted.deliver_reports(
                        shared,
                        &mut run.air,
                        &carried,
                        &mut run.told,
                        &mut run.ledger.receptions,
                        number,
                        observer,
                    );
                    hosted.inform(shared, &mut self.spoken, &run.air);
                }
            }
            run.air.carried = carried;
        }
    }

    /// Hosts are found, decide, and broadcast.
    fn serve(&mut self, measured: bool, observer: &mut dyn Observer) {
        for (number, run) in self.arms.iter_mut().enumerate() {
            if let Kind::Omniscient(omniscient) = &mut run.kind {
                // Relevance is found only in the measured window and the cycle before it.
                if self.shared.step + self.shared.prepared.timeline.cycle >= self.warmup {
                    let heard = &self.groups[run.group].heard;
                    omniscient.choose(&self.shared, &run.told, heard, run.lane);
                }
                run.air.offers.clear();
                let thinning = air::thinning(&self.shared, BROADCAST);
                for &(slot, reporters) in &omniscient.commands {
                    let bytes = self.sizes.commands(reporters);
                    run.air
                        .offer(&self.shared, &thinning, slot, BROADCAST, bytes, 0);
                }
                run.air.carry();
                continue;
            }
            let Kind::Hosted(hosted) = &mut run.kind else {
                continue;
            };
            let group = &mut self.groups[run.group];
            hosted.elect(
                &self.shared,
                &mut self.spoken,
                &group.heard,
                &mut group.hosts,
                run.lane,
                &mut run.ledger.outcome,
                measured,
            );
            run.air.offers.clear();
            let retention = measured.then_some(&mut run.ledger.outcome.retention_scores);
            let broadcasts = hosted.serve(
                &mut self.shared,
                &mut self.spoken,
                &mut run.air,
                &self.sizes,
                number,
                observer,
                retention,
            );
            let told = if observer.wants_messages() {
                &broadcasts[..]
            } else {
                &[]
            };
            for (slot, broadcast, _) in told {
                let tile = self
                    .shared
                    .prepared
                    .tiles
                    .tile(self.shared.tile[*slot as usize]);
                let message = Message::Broadcast(broadcast.clone());
                observer.message(number, self.shared.now(), tile, &message);
            }
            run.air.carry();
            hosted.deliver_broadcasts(
                &self.shared,
                &mut run.air,
                &broadcasts,
                &mut run.told,
                &mut group.hosts,
                run.lane,
                &mut run.ledger.receptions,
                number,
                observer,
            );
            if measured {
                run.ledger.serve(&hosted.served);
            }
        }
    }

    fn measure(&mut self, observer: &mut dyn Observer) {
        let mut evaluation = metric::Evaluation::new(&self.shared);
        let mut paths = PathCells::new(&self.shared);
        for (number, run) in self.arms.iter_mut().enumerate() {
            let served = match &run.kind {
                Kind::Hosted(hosted) => &hosted.served[..],
                _ => &[],
            };
            let knowledge = metric::Knowledge {
                beacons: &self.groups[run.group].heard,
                lane: run.lane,
                told: &run.told,
                oracle: run.arm.strategy == Strategy::Oracle,
            };
            if let (0, Some(margins)) = (number, &mut self.margins) {
                metric::by_margin(&self.shared, &knowledge, margins);
            }
            run.ledger.measure(
                &self.shared,
                &mut evaluation,
                &knowledge,
                &run.air,
                served,
                number,
                observer,
            );
            let outcome = &mut run.ledger.outcome;
            if let Kind::Hosted(hosted) = &mut run.kind {
                hosted.credit.settle(
                    &self.shared,
                    &knowledge,
                    evaluation.pairs.iter(),
                    hosted.parameters.footprint_m,
                    &mut outcome.cured,
                );
            }
            let cells = paths.count(&self.shared, &evaluation.observed, &knowledge);
            outcome.path_cells[0] += cells[0];
            outcome.path_cells[1] += cells[1];
            if observer.wants_record() {
                let reported = match &run.kind {
                    Kind::Hosted(hosted) => hosted.reported.as_ref(),
                    _ => None,
                };
                let (relevant, known) = knowledge.record(&self.shared, &evaluation, reported);
                let deliveries = run.air.log.as_deref().unwrap_or_default();
                observer.record(
                    number,
                    &CycleView {
                        relevant: &relevant,
                        known: &known,
                        deliveries: &deliveries_by_id(&self.shared, deliveries),
                    },
                );
            }
        }
    }
}

/// Deliveries of places as deliveries of vehicles.
fn deliveries_by_id(shared: &Shared<'_>, log: &[(u32, u8, Vec<u32>)]) -> Vec<Delivery> {
    log.iter()
        .map(|(sender, class, receivers)| {
            let mut receivers: Vec<u32> = receivers.iter().map(|&r| shared.slots.id(r)).collect();
            receivers.sort_unstable();
            Delivery {
                sender: shared.slots.id(*sender),
                kind: if *class == REPORT {
                    MessageKind::Report
                } else {
                    MessageKind::Broadcast
                },
                receivers,
            }
        })
        .collect()
}

/// A sender-side report, as a message.
fn report(shared: &Shared<'_>, sender: u32, objects: &[u32]) -> Report {
    Report {
        sender: shared.agent(sender),
        at: shared.now(),
        objects: objects
            .iter()
            .map(|&object| shared.perceived(sender, object, shared.sensed_step))
            .collect(),
    }
}

/// Tells an observer who received a message.
pub(crate) fn tell_delivered(
    observer: &mut dyn Observer,
    arm: usize,
    shared: &Shared<'_>,
    message: &Message,
    places: &[u32],
) {
    let receivers: Vec<u32> = places.iter().map(|&place| shared.slots.id(place)).collect();
    observer.delivered(arm, shared.now(), message, &receivers);
}
