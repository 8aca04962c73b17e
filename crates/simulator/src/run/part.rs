//! Some of the arms of a run, with all that is theirs: parts of a run share nothing but the world, so they can go on side by
//! side.

use std::sync::Arc;

use covey_protocol::RoadMap;
use covey_protocol::beacons::DueBeacon;

use super::*;
use crate::road_map::Remembering;

/// A step, as all parts see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// Who beacons, ascending.
    pub(super) senders: &'a [u32],
    /// What goes with their beacons.
    pub(super) due: &'a [DueBeacon],
    /// By place: at which step of a cycle it reports.
    pub(super) report_phase: &'a [u32],
    /// The step belongs to the measured window.
    pub(super) measured: bool,
    /// It is the first that does, or the first after no warm-up.
    pub(super) begins_window: bool,
    /// Relevance is found in this step's cycle.
    pub(super) relevance_known: bool,
    /// Stamps have a new origin.
    pub(super) rebased: bool,
}

/// Some of the arms.
#[derive(Debug)]
pub(crate) struct Part {
    pub(super) spoken: Spoken,
    sizes: Sizes,
    pub(crate) arms: Vec<ArmRun>,
    pub(crate) groups: Vec<BeaconLanes>,
    pub(super) timing: Timing,
    /// Relevant and missed pairs of the first arm by margin, for calibration.
    pub(super) margins: Option<Margins>,
}

impl Part {
    /// A part with these arms, whose groups and lanes are given anew.
    pub(super) fn new(prepared: &Prepared, mut arms: Vec<ArmRun>) -> Self {
        for (at, run) in arms.iter_mut().enumerate() {
            run.group = at / LANES;
            run.lane = at % LANES;
        }
        // Paths are asked for alike in all arms; what contributors ask to judge needs is each arm's own.
        let remembering = || Arc::new(Remembering::new(&prepared.carried)) as Arc<dyn RoadMap>;
        let shared = remembering();
        for run in &mut arms {
            if let Kind::Hosted(hosted) = &mut run.kind {
                hosted.carry(match hosted.profile.judgement {
                    None => Arc::clone(&shared),
                    Some(_) => remembering(),
                });
            }
        }
        Self {
            spoken: Spoken::default(),
            sizes: Sizes::new(prepared.scenario.sizes, &prepared.scenario.protocol),
            groups: arms
                .chunks(LANES)
                .map(|chunk| BeaconLanes::new(chunk.len()))
                .collect(),
            arms,
            timing: Timing::default(),
            margins: None,
        }
    }

    /// Does the part's share of a step.
    pub(super) fn step(
        &mut self,
        shared: &Shared<'_>,
        step: &Step<'_>,
        observer: &mut dyn Observer,
    ) {
        if step.rebased {
            self.rebase();
        }
        if step.begins_window {
            for run in &mut self.arms {
                run.air.traffic = Default::default();
                run.ledger.receptions = 0;
            }
        }
        self.begin(shared);
        let clock = Clock::now();
        self.beacons_and_reports(shared, step, observer);
        self.timing.beacons_s += clock.elapsed().as_secs_f64();
        let clock = Clock::now();
        self.deliver_reports(shared, observer);
        if shared.is_decision() {
            self.serve(shared, step, observer);
        }
        self.timing.arms_s += clock.elapsed().as_secs_f64();
        if shared.is_decision() && step.measured {
            let clock = Clock::now();
            self.measure(shared, observer);
            self.timing.metric_s += clock.elapsed().as_secs_f64();
        }
        for run in &mut self.arms {
            run.air.end();
            if let Some(log) = run.air.log.as_mut().filter(|_| shared.is_decision()) {
                log.clear();
            }
        }
    }

    /// Moves all stamps to the new origin.
    fn rebase(&mut self) {
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

    /// Makes room, forgets who left, and opens the step on the channel.
    fn begin(&mut self, shared: &Shared<'_>) {
        let size = shared.slots.len();
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
    }

    /// Offers all beacons and reports of the step, decides which are carried, and delivers the beacons.
    fn beacons_and_reports(
        &mut self,
        shared: &Shared<'_>,
        step: &Step<'_>,
        observer: &mut dyn Observer,
    ) {
        let Step {
            senders,
            due,
            report_phase,
            measured,
            ..
        } = *step;
        self.spoken.speak(shared, senders, due);
        let thinning = air::thinning(shared, BEACON);
        let mut carried = vec![vec![0u16; senders.len()]; self.groups.len()];
        for run in &mut self.arms {
            for (&slot, due) in senders.iter().zip(due) {
                let mut digest = None;
                if let Kind::Hosted(hosted) = &run.kind
                    && let Some(made) =
                        self.spoken
                            .digest(slot, shared.step, &hosted.profile.parameters)
                {
                    let bytes = made.encoded_len() as u32;
                    digest = Some(bytes);
                    if measured {
                        run.ledger.outcome.digest_bytes.add(f64::from(bytes));
                    }
                }
                let (bytes, digest) = self.sizes.beacon(digest, due.low_frequency);
                run.air
                    .offer(shared, &thinning, slot, BEACON, bytes, digest);
            }
            run.compose_reports(
                shared,
                &mut self.spoken,
                &self.groups[run.group],
                report_phase,
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
            self.tell_messages(shared, senders, observer);
        }
        if observer.wants_deliveries() {
            self.tell_delivered_beacons(shared, senders, observer);
        }
    }

    fn deliver_reports(&mut self, shared: &Shared<'_>, observer: &mut dyn Observer) {
        for run in &mut self.arms {
            let number = run.number;
            let group = &self.groups[run.group];
            let carried = std::mem::take(&mut run.air.carried);
            match &mut run.kind {
                Kind::Silent => {}
                Kind::Senders(_) | Kind::Omniscient(_) => {
                    let reception = air::reception(shared, REPORT);
                    let stamp = shared.stamp(shared.sensed_step);
                    for (report, &carried) in run.reports.iter().zip(&carried) {
                        let SentReport {
                            sender,
                            objects,
                            bytes,
                            ..
                        } = report;
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
                            let message = Message::Report(report.message(shared));
                            tell_delivered(observer, number, shared, &message, &run.receivers);
                        }
                    }
                }
                Kind::Hosted(hosted) => {
                    hosted.sense(shared, &mut self.spoken);
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
                    hosted.measure_load(shared, &run.air, number, observer);
                }
            }
            run.air.carried = carried;
        }
    }

    /// Hosts are found, decide, and broadcast.
    fn serve(&mut self, shared: &Shared<'_>, step: &Step<'_>, observer: &mut dyn Observer) {
        let measured = step.measured;
        for run in &mut self.arms {
            let number = run.number;
            if let Kind::Omniscient(omniscient) = &mut run.kind {
                // Relevance is found only in the measured window and the cycle before it.
                if step.relevance_known {
                    let heard = &self.groups[run.group].heard;
                    omniscient.choose(shared, &run.told, heard, run.lane);
                }
                run.air.offers.clear();
                let thinning = air::thinning(shared, BROADCAST);
                for (slot, broadcast) in omniscient.commands(shared) {
                    let bytes = self.sizes.broadcast(&broadcast);
                    run.air.offer(shared, &thinning, slot, BROADCAST, bytes, 0);
                    if observer.wants_messages() {
                        let message = Message::Broadcast(broadcast);
                        tell_offered(observer, number, shared, slot, &message, bytes);
                    }
                }
                run.air.carry();
                continue;
            }
            let Kind::Hosted(hosted) = &mut run.kind else {
                continue;
            };
            let group = &mut self.groups[run.group];
            hosted.elect(
                shared,
                &mut self.spoken,
                group,
                run.lane,
                &mut run.ledger.outcome,
                measured,
            );
            run.air.offers.clear();
            let retention = measured.then_some(&mut run.ledger.outcome.retention_scores);
            let broadcasts = hosted.serve(
                shared,
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
            for (slot, broadcast, bytes) in told {
                let message = Message::Broadcast(broadcast.clone());
                tell_offered(observer, number, shared, *slot, &message, *bytes);
            }
            run.air.carry();
            hosted.deliver_broadcasts(
                shared,
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

    fn measure(&mut self, shared: &Shared<'_>, observer: &mut dyn Observer) {
        let mut evaluation = metric::Evaluation::new(shared);
        let mut paths = PathCells::new(shared);
        for run in &mut self.arms {
            let number = run.number;
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
                metric::by_margin(shared, &knowledge, margins);
            }
            run.ledger.measure(
                shared,
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
                    shared,
                    &knowledge,
                    evaluation.pairs.iter(),
                    hosted.profile.parameters.footprint_m,
                    &mut outcome.cured,
                );
            }
            let cells = paths.count(shared, &evaluation.observed, &knowledge);
            outcome.path_cells[0] += cells[0];
            outcome.path_cells[1] += cells[1];
            if observer.wants_record() {
                let reported = match &run.kind {
                    Kind::Hosted(hosted) => hosted.reported.as_ref(),
                    _ => None,
                };
                let (relevant, known) = knowledge.record(shared, &evaluation, reported);
                let deliveries = run.air.log.as_deref().unwrap_or_default();
                observer.record(
                    number,
                    &CycleView {
                        relevant: &relevant,
                        known: &known,
                        deliveries: &deliveries_by_id(shared, deliveries),
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

/// Tells an observer of a message that was offered.
pub(super) fn tell_offered(
    observer: &mut dyn Observer,
    arm: usize,
    shared: &Shared<'_>,
    sender: u32,
    message: &Message,
    bytes: u32,
) {
    let tile = shared.prepared.tiles.tile(shared.tile[sender as usize]);
    observer.message(arm, shared.now(), tile, message, bytes);
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
