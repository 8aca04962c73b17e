//! Some of the arms of a run, with all that is theirs: parts of a run share nothing but the world, so they can go on side by
//! side.

use std::time::Instant as Clock;

use covey_protocol::messages::Message;
use covey_radio::{ChannelModel, LANES};

use crate::arms::{Arm, Behaviour};
use crate::channel::{
    Air, Arrived, BeaconClock, BeaconLanes, Class, DrawnBeacons, DueBeacons, Parcel, Sizes, Told,
};
use crate::ids::{Lane, Slot};
use crate::measure::{
    CycleView, Evaluation, Knowledge, Ledger, Margins, Observer, PathCells, by_margin,
    deliveries_by_id,
};
use crate::outcome::{CycleRow, Outcome, Timing};
use crate::prepared::Prepared;
use crate::stack::{Spoken, Stack, Stage, Turn};
use crate::world::{World, rebase};

/// A step, as all parts see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartStep<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) clock: &'a BeaconClock,
    /// Who beacons.
    pub(super) beacons: &'a DueBeacons,
    /// The step belongs to the measured window.
    pub(super) measured: bool,
    /// It is the first that does, or the first after no warm-up.
    pub(super) begins_window: bool,
    /// Relevance is found in this step's cycle.
    pub(super) relevance_known: bool,
    /// Stamps have a new origin.
    pub(super) rebased: bool,
}

/// One arm at work.
#[derive(Debug)]
pub(crate) struct ArmRun {
    /// Its number among all arms of the run.
    pub(crate) number: usize,
    /// Which of the part's groups of lanes it belongs to, and its lane there.
    pub(crate) group: usize,
    pub(crate) lane: Lane,
    pub(super) stack: Box<dyn Stack>,
    air: Air,
    /// What everyone learned from reports and broadcasts.
    pub(crate) told: Told,
    /// Everybody knows what any participant sees.
    oracle: bool,
    ledger: Ledger,
}

impl ArmRun {
    /// An arm whose messages are remembered for `memory` steps.
    pub(super) fn new(
        prepared: &Prepared,
        number: usize,
        arm: &Arm,
        seed: u64,
        stack: Box<dyn Stack>,
        memory: u32,
    ) -> Self {
        Self {
            number,
            group: 0,
            lane: Lane(0),
            stack,
            air: Air::new(prepared, seed),
            told: Told::new(memory),
            oracle: matches!(arm.strategy.behaviour, Behaviour::Oracle),
            ledger: Ledger::new(arm.to_string(), seed),
        }
    }

    /// Someone records.
    pub(super) fn watch(&mut self) {
        self.air.log = Some(Vec::new());
        self.stack.watch();
    }
}

/// Some of the arms.
#[derive(Debug)]
pub(crate) struct Part {
    spoken: Spoken,
    sizes: Sizes,
    pub(crate) arms: Vec<ArmRun>,
    pub(crate) groups: Vec<BeaconLanes>,
    /// The number of each group among those of all parts.
    group_numbers: Vec<usize>,
    pub(super) timing: Timing,
    /// Relevant and missed pairs of the first arm by margin, for calibration.
    pub(super) margins: Option<Margins>,
}

/// How many arms' beacons are delivered together.
pub(super) fn lanes(prepared: &Prepared) -> usize {
    match prepared.channel.parameters().model {
        ChannelModel::Load => LANES,
        // Slot by slot, no two arms' beacons arrive together.
        ChannelModel::Sps => 1,
    }
}

impl Part {
    /// A part with these arms of `all`, whose groups and lanes are given by their numbers: those of a group may be in several parts.
    pub(super) fn new(prepared: &Prepared, mut arms: Vec<ArmRun>, all: usize) -> Self {
        let lanes = lanes(prepared);
        let mut group_numbers = Vec::new();
        let mut own = Vec::new();
        for run in &mut arms {
            let group = run.number / lanes;
            if group_numbers.last() != Some(&group) {
                group_numbers.push(group);
                own.push(0);
            }
            run.group = own.len() - 1;
            run.lane = Lane((run.number % lanes) as u8);
            own[run.group] |= run.lane.bit();
        }
        let groups = group_numbers.iter().zip(own);
        Self {
            spoken: Spoken::new(prepared),
            sizes: Sizes::new(prepared.scenario.sizes, &prepared.scenario.protocol),
            groups: groups
                .map(|(group, own)| BeaconLanes::new(own, lanes.min(all - group * lanes)))
                .collect(),
            group_numbers,
            arms,
            timing: Timing::default(),
            margins: None,
        }
    }

    /// Outcomes and rows of cycles of all arms, by their numbers.
    pub(super) fn finish(self) -> impl Iterator<Item = (usize, (Outcome, Vec<CycleRow>))> {
        let Self { arms, groups, .. } = self;
        arms.into_iter().map(move |run| {
            let statistics = &groups[run.group].statistics[run.lane.index()];
            (run.number, run.ledger.finish(&run.air, statistics))
        })
    }

    /// Does the first half of the part's share of a step: all beacons and reports are offered, and it is settled which are carried.
    pub(super) fn offer(&mut self, step: &PartStep<'_>, observer: &mut dyn Observer) {
        if step.rebased {
            self.rebase();
        }
        if step.begins_window {
            for run in &mut self.arms {
                run.air.begin_counting();
                run.ledger.receptions = 0;
            }
        }
        self.begin(step, observer);
        let clock = Clock::now();
        self.spoken.speak(step.world, step.beacons);
        self.arrive(step, observer);
        self.beacons_and_reports(step, observer);
        self.timing.beacons_s += clock.elapsed().as_secs_f64();
    }

    /// Adds its arms' loads to those of all parts.
    pub(super) fn add_loads(&self, world: &World<'_>, drawn: &mut [DrawnBeacons]) {
        for run in &self.arms {
            // Slot by slot nothing is drawn.
            if let Some(group) = drawn.get_mut(self.group_numbers[run.group]) {
                group.begin(world, run.lane, &run.air);
            }
        }
    }

    /// Does the other half: messages are delivered, hosts decide, and what everyone knows is looked at. Who receives beacons is
    /// drawn, unless it was `drawn` for all parts.
    pub(super) fn follow(
        &mut self,
        step: &PartStep<'_>,
        drawn: &[DrawnBeacons],
        observer: &mut dyn Observer,
    ) {
        let clock = Clock::now();
        self.send(step, drawn, observer);
        self.timing.beacons_s += clock.elapsed().as_secs_f64();
        let clock = Clock::now();
        self.deliver_and_decide(step, observer);
        self.timing.arms_s += clock.elapsed().as_secs_f64();
        let decision = step.world.is_decision();
        if decision && step.measured {
            let clock = Clock::now();
            self.measure(step.world, observer);
            self.timing.metric_s += clock.elapsed().as_secs_f64();
        }
        for run in &mut self.arms {
            run.air.hand_over(step.world);
            run.air.end();
            if let Some(log) = run.air.log.as_mut().filter(|_| decision) {
                log.clear();
            }
        }
    }

    /// Gives every arm its turn.
    fn each(
        &mut self,
        step: &PartStep<'_>,
        observer: &mut dyn Observer,
        mut act: impl FnMut(&mut dyn Stack, &mut Turn<'_>),
    ) {
        for run in &mut self.arms {
            let mut turn = Turn {
                stage: Stage {
                    world: step.world,
                    clock: step.clock,
                    sizes: &self.sizes,
                    measured: step.measured,
                    relevance_known: step.relevance_known,
                },
                number: run.number,
                lane: run.lane,
                spoken: &mut self.spoken,
                beacons: &mut self.groups[run.group],
                air: &mut run.air,
                told: &mut run.told,
                ledger: &mut run.ledger,
                observer,
            };
            act(&mut *run.stack, &mut turn);
        }
    }

    /// Moves all stamps to the new origin.
    fn rebase(&mut self) {
        for run in &mut self.arms {
            run.told.each(rebase);
            run.stack.rebase();
        }
        for group in &mut self.groups {
            group.heard.each(rebase);
        }
    }

    /// Makes room, forgets who left, and opens the step on the channel.
    fn begin(&mut self, step: &PartStep<'_>, observer: &mut dyn Observer) {
        let world = step.world;
        let size = world.road.size();
        for group in &mut self.groups {
            group.hosts.resize(size, 0);
            if world.is_sensing() {
                let timeline = &world.prepared.timeline;
                let keep = timeline.soft_state.div_ceil(timeline.beacon) + 2;
                group.heard.begin_interval(size, keep as usize);
            }
            for &slot in world.road.left() {
                group.heard.clear(slot);
            }
        }
        self.each(step, observer, |stack, turn| {
            let now = world.time.stamp(world.step());
            turn.told.begin(world.step(), now, size);
            stack.begin(turn);
            for &slot in world.road.left() {
                turn.told.clear(slot);
            }
            turn.air.begin(world);
            turn.beacons.begin(world, turn.lane, turn.air);
        });
    }

    /// Lets the slots before this step pass, where slots are simulated: what was sent in them arrives.
    fn arrive(&mut self, step: &PartStep<'_>, observer: &mut dyn Observer) {
        let world = step.world;
        self.each(step, observer, |stack, turn| {
            turn.air.advance(world);
            if !turn.is_scheduled() {
                return;
            }
            for arrived in turn.air.take_arrived(Class::Beacon) {
                turn.ledger.receptions += arrived.receivers.len() as u64;
                turn.beacons.arrive(world, &arrived, step.measured);
                if turn.observer.wants_deliveries() {
                    tell_arrived(stack, turn, &arrived);
                }
            }
            stack.arrive(turn);
        });
    }

    /// Offers all beacons and reports of the step, and decides which are carried.
    fn beacons_and_reports(&mut self, step: &PartStep<'_>, observer: &mut dyn Observer) {
        let (world, beacons) = (step.world, step.beacons);
        let thinning = Class::Beacon.thinning(world);
        self.each(step, observer, |stack, turn| {
            for (&sender, due) in beacons.senders.iter().zip(&beacons.due) {
                let parameters = stack.parameters();
                let digest = parameters
                    .and_then(|parameters| turn.spoken.digest(sender, world.step(), parameters))
                    .map(|digest| digest.encoded_len() as u32);
                if let Some(bytes) = digest.filter(|_| step.measured) {
                    turn.ledger.outcome.digest_bytes.add(f64::from(bytes));
                }
                let own = world.road.outfit(world.prepared, sender).sender;
                let (bytes, digest) = turn.stage.sizes.beacon(digest, due, own);
                let class = Class::Beacon;
                let parcel = Parcel {
                    sender,
                    class,
                    bytes,
                    digest,
                    period: 0,
                };
                turn.air.offer(world, &thinning, parcel);
            }
            stack.report(turn);
            turn.air.carry();
        });
    }

    /// Delivers the beacons of the step, or sends them on their way.
    fn send(&mut self, step: &PartStep<'_>, drawn: &[DrawnBeacons], observer: &mut dyn Observer) {
        let beacons = step.beacons;
        if self.is_scheduled() {
            self.each(step, observer, |stack, turn| {
                if turn.observer.wants_messages() {
                    tell_messages(stack, turn, beacons);
                }
                stack.wait(turn);
            });
            return;
        }
        self.deliver_beacons(step, drawn);
        if observer.wants_messages() {
            self.each(step, observer, |stack, turn| {
                tell_messages(stack, turn, beacons);
            });
        }
        if observer.wants_deliveries() {
            let senders = &beacons.senders;
            self.each(step, observer, |stack, turn| {
                tell_delivered(stack, turn, senders);
            });
        }
    }

    /// Slots are simulated.
    fn is_scheduled(&self) -> bool {
        self.arms.iter().any(|run| run.air.scheduled().is_some())
    }

    /// Delivers the beacons of the step to all arms at once.
    fn deliver_beacons(&mut self, step: &PartStep<'_>, drawn: &[DrawnBeacons]) {
        let (world, senders) = (step.world, &step.beacons.senders);
        let mut carried = vec![vec![0u16; senders.len()]; self.groups.len()];
        for run in &self.arms {
            for (mask, &carried) in carried[run.group].iter_mut().zip(&run.air.carried) {
                *mask |= u16::from(carried) << run.lane.0;
            }
        }
        let reception = Class::Beacon.reception(world);
        let mut delivered = vec![[0u64; LANES]; self.groups.len()];
        let in_range = |slot: Slot| world.links.range(slot).len() as u64;
        for (at, &slot) in senders.iter().enumerate() {
            let groups = self.groups.iter_mut().zip(&self.group_numbers);
            for (((group, &number), masks), delivered) in groups.zip(&carried).zip(&mut delivered) {
                let drawn = drawn.get(number).map(|drawn| drawn.hits(at));
                let draw = (&reception, drawn);
                group.deliver(world, draw, slot, masks[at], step.measured, delivered);
            }
        }
        let all: u64 = senders.iter().map(|&slot| in_range(slot)).sum();
        for run in &mut self.arms {
            let delivered = delivered[run.group][run.lane.index()];
            let thinned: u64 = senders
                .iter()
                .zip(&carried[run.group])
                .filter(|&(_, mask)| mask & run.lane.bit() == 0)
                .map(|(&slot, _)| in_range(slot))
                .sum();
            let offers = run.air.offers[..senders.len()].iter();
            let bytes: u64 = offers.map(|offer| u64::from(offer.bytes)).sum();
            let traffic = &mut run.air.traffic[Class::Beacon as usize];
            traffic.messages += senders.len() as u64;
            traffic.bytes += bytes;
            traffic.in_range += all;
            traffic.delivered += delivered;
            traffic.thinned += thinned;
            traffic.lost += all - delivered - thinned;
            run.ledger.receptions += delivered;
            // What is left of the carried flags is the reports'.
            run.air.carried.drain(..senders.len());
        }
    }

    /// Reports are delivered; at the step of decisions hosts are found, decide, and broadcast.
    fn deliver_and_decide(&mut self, step: &PartStep<'_>, observer: &mut dyn Observer) {
        let decision = step.world.is_decision();
        self.each(step, observer, |stack, turn| {
            let carried = std::mem::take(&mut turn.air.carried);
            stack.deliver(turn, &carried);
            turn.air.carried = carried;
        });
        if decision {
            self.each(step, observer, |stack, turn| stack.decide(turn));
        }
    }

    fn measure(&mut self, world: &World<'_>, observer: &mut dyn Observer) {
        let mut evaluation = Evaluation::new(world);
        let mut paths = PathCells::new(world);
        let groups = self.groups.iter();
        let heard: Vec<_> = groups
            .map(|group| evaluation.heard(world, &group.heard))
            .collect();
        for run in &mut self.arms {
            let knowledge = Knowledge {
                beacons: &self.groups[run.group].heard,
                lane: run.lane,
                told: &run.told,
                oracle: run.oracle,
            };
            if let (0, Some(margins)) = (run.number, &mut self.margins) {
                by_margin(world, &knowledge, margins);
            }
            let served = run.stack.served();
            run.ledger.measure(
                world,
                &mut evaluation,
                &heard[run.group],
                &knowledge,
                &run.air,
                served,
            );
            let (rows, misses) = run.ledger.newest();
            observer.cycle(run.number, rows, misses);
            run.stack
                .settle(world, &knowledge, &evaluation, &mut run.ledger);
            let cells = paths.count(world, &evaluation.observed, &knowledge);
            run.ledger.outcome.path_cells[0] += cells[0];
            run.ledger.outcome.path_cells[1] += cells[1];
            if observer.wants_record() {
                let reported = run.stack.reported();
                let recorded = knowledge.record(world, &evaluation, reported);
                let deliveries = run.air.log.as_deref().unwrap_or_default();
                observer.record(
                    run.number,
                    &CycleView {
                        relevant: &recorded.relevant,
                        known: &recorded.known,
                        seen: &recorded.seen,
                        deliveries: &deliveries_by_id(world, deliveries),
                    },
                );
            }
        }
    }
}

/// Tells whoever watches what was offered in this step, broadcasts apart.
fn tell_messages(stack: &mut dyn Stack, turn: &mut Turn<'_>, beacons: &DueBeacons) {
    let world = turn.stage.world;
    for (at, &slot) in beacons.senders.iter().enumerate() {
        if let Some(beacon) = stack.beacon(turn.spoken, world, slot) {
            let bytes = turn.air.offers[at].bytes;
            turn.tell_offered(slot, &Message::Beacon(beacon), bytes);
        }
    }
    stack.tell_reports(turn);
}

/// Tells whoever watches who received a beacon that took its time.
fn tell_arrived(stack: &mut dyn Stack, turn: &mut Turn<'_>, arrived: &Arrived) {
    let sender = arrived.parcel.sender;
    let beacon = match stack.parameters() {
        Some(parameters) => turn.spoken.beacon(sender, arrived.offered, parameters),
        None => turn.spoken.plain_beacon(sender, arrived.offered),
    };
    if let Some(beacon) = beacon {
        turn.tell_delivered(&Message::Beacon(beacon), &arrived.receivers);
    }
}

/// Tells whoever watches who received the beacons of this step.
fn tell_delivered(stack: &mut dyn Stack, turn: &mut Turn<'_>, senders: &[Slot]) {
    let world = turn.stage.world;
    let stamp = world.time.stamp(world.step());
    for &slot in senders {
        let Some(beacon) = stack.beacon(turn.spoken, world, slot) else {
            continue;
        };
        let receivers = &world.links.receivers[world.links.range(slot)];
        let heard = |place: &&Slot| turn.beacons.heard.at(slot, **place, turn.lane) == stamp;
        let receivers: Vec<Slot> = receivers.iter().filter(heard).copied().collect();
        turn.tell_delivered(&Message::Beacon(beacon), &receivers);
    }
}
