//! Reports of arms in which nobody serves as a host: everyone who decodes one learns of its objects.

use covey_protocol::messages::{Message, ObjectState, Report};

use super::Turn;
use crate::channel::{Class, Parcel, Speaker, Ticket};
use crate::ids::{Slot, Step};
use crate::world::{GhostId, World};

/// An object as somebody tells of it: who sensed it, when, and how many hops lie behind it at whoever hears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hearsay {
    pub(super) object: Slot,
    pub(super) by: Slot,
    pub(super) sensed: Step,
    pub(super) hops: u32,
}

impl Hearsay {
    /// As whoever sensed it saw it, at the confidence that is left.
    pub(super) fn state(&self, world: &World<'_>) -> ObjectState {
        let mut state = world.perceived_at(self.by, self.object, self.sensed);
        let age = world.now().since(state.sensed_at);
        for _ in 1..self.hops {
            state.confidence = state.confidence.relayed(age);
        }
        state
    }
}

/// What some receivers learned from a report.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) told: Vec<Hearsay>,
    pub(super) receivers: Vec<Slot>,
}

/// A report.
#[derive(Debug)]
struct SentReport {
    parcel: Parcel,
    ticket: Ticket,
    objects: Vec<Slot>,
    /// What it tells of besides that is not there.
    ghosts: Vec<ObjectState>,
    /// What it tells of besides that others sensed.
    forwarded: Vec<Hearsay>,
    /// When they were sensed.
    sensed: Step,
    sensor_information: bool,
    /// As it was composed, where it takes its time and somebody watches.
    composed: Option<Message>,
}

impl SentReport {
    /// What these receivers learn from it, what is not there apart.
    fn arrival(&self, receivers: &[Slot]) -> Arrival {
        let own = self.objects.iter().map(|&object| Hearsay {
            object,
            by: self.parcel.sender,
            sensed: self.sensed,
            hops: 1,
        });
        Arrival {
            told: own.chain(self.forwarded.iter().copied()).collect(),
            receivers: receivers.to_vec(),
        }
    }

    fn message(&self, world: &World<'_>) -> Message {
        if let Some(composed) = &self.composed {
            return composed.clone();
        }
        let sender = self.parcel.sender;
        let perceived = |&object: &Slot| world.perceived(sender, object);
        let objects = self.objects.iter().map(perceived);
        let forwarded = self.forwarded.iter().map(|told| told.state(world));
        Message::Report(Report {
            sender: world.agent(sender),
            at: world.now(),
            objects: objects
                .chain(self.ghosts.iter().copied())
                .chain(forwarded)
                .collect(),
            sensor_information: self.sensor_information,
        })
    }
}

/// The reports of a step.
#[derive(Debug, Default)]
pub(super) struct SentReports {
    sent: Vec<SentReport>,
    /// Reports of earlier steps that have not arrived.
    waiting: Vec<SentReport>,
    receivers: Vec<Slot>,
    /// Steps from one report of a sender to the next that may follow.
    period: u32,
    /// What arrived and nobody has taken yet, where somebody asks for it.
    arrivals: Option<Vec<Arrival>>,
}

impl SentReports {
    /// None yet; a sender may have one after so many steps.
    pub(super) fn every(period: u32) -> Self {
        Self {
            period,
            ..Self::default()
        }
    }

    /// Keeps what arrives until it is taken.
    pub(super) fn collecting(mut self) -> Self {
        self.arrivals = Some(Vec::new());
        self
    }

    /// What arrived since this was last asked, in order.
    pub(super) fn take_arrivals(&mut self) -> Vec<Arrival> {
        self.arrivals
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Begins a step.
    pub(super) fn clear(&mut self, world: &World<'_>) {
        self.sent.clear();
        for &left in world.road.left() {
            for report in &mut self.waiting {
                report.objects.retain(|&object| object != left);
                report
                    .forwarded
                    .retain(|told| told.object != left && told.by != left);
            }
        }
    }

    /// Offers a report.
    pub(super) fn send(
        &mut self,
        turn: &mut Turn<'_>,
        thinning: &covey_draws::Draws,
        sender: Slot,
        told: (Vec<Slot>, Vec<ObjectState>),
        sensor_information: bool,
    ) {
        self.send_on(turn, thinning, sender, told, Vec::new(), sensor_information);
    }

    /// Offers a report that tells of what others sensed, too.
    pub(super) fn send_on(
        &mut self,
        turn: &mut Turn<'_>,
        thinning: &covey_draws::Draws,
        sender: Slot,
        (objects, ghosts): (Vec<Slot>, Vec<ObjectState>),
        forwarded: Vec<Hearsay>,
        sensor_information: bool,
    ) {
        let stage = turn.stage;
        let own = stage.world.road.outfit(stage.world.prepared, sender).sender;
        let certificate = turn.air.certificate(stage.world, Class::Report, sender);
        let sizes = stage.sizes;
        let count = objects.len() + ghosts.len() + forwarded.len();
        let bytes = sizes.report(count, sensor_information, own, certificate);
        let parcel = Parcel::report(sender, bytes, self.period);
        let ticket = turn.air.offer(stage.world, thinning, parcel);
        self.sent.push(SentReport {
            parcel,
            ticket,
            objects,
            ghosts,
            forwarded,
            sensed: stage.world.sights.step,
            sensor_information,
            composed: None,
        });
    }

    /// Tells whoever watches of them.
    pub(super) fn tell(&self, turn: &mut Turn<'_>) {
        for report in &self.sent {
            let message = report.message(turn.stage.world);
            turn.tell_offered(report.parcel.sender, &message, report.parcel.bytes);
        }
    }

    /// Delivers them; `carried` goes with them one by one.
    pub(super) fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        let mut receivers = std::mem::take(&mut self.receivers);
        for (report, &carried) in self.sent.iter().zip(carried) {
            turn.deliver(report.parcel, carried, &mut receivers);
            hear(turn, report, &receivers);
            if let Some(arrivals) = &mut self.arrivals {
                arrivals.push(report.arrival(&receivers));
            }
        }
        self.receivers = receivers;
    }

    /// Those of earlier steps arrive, where they take their time.
    pub(super) fn arrive(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        for arrived in turn.air.take_arrived(Class::Report) {
            let at = self
                .waiting
                .iter()
                .position(|report| report.ticket == arrived.ticket);
            if let Some(at) = at {
                let report = self.waiting.remove(at);
                hear(turn, &report, &arrived.receivers);
                if let Some(arrivals) = &mut self.arrivals {
                    arrivals.push(report.arrival(&arrived.receivers));
                }
            }
        }
        // What was refused never comes.
        self.waiting
            .retain(|report| !is_overdue(world, report.sensed));
    }

    /// Keeps the reports of this step until they arrive.
    pub(super) fn wait(&mut self, turn: &Turn<'_>) {
        let world = turn.stage.world;
        if turn.observer.wants_deliveries() {
            for report in &mut self.sent {
                report.composed = Some(report.message(world));
            }
        }
        self.waiting.append(&mut self.sent);
    }
}

/// Steps of the longest latency bound, and some.
pub(super) const LONGEST_LATENCY: u32 = 24;

/// Nothing of that step is still on its way.
pub(super) fn is_overdue(world: &World<'_>, step: Step) -> bool {
    step.after(LONGEST_LATENCY) < world.step()
}

/// Receivers of a report learn of its objects.
fn hear(turn: &mut Turn<'_>, report: &SentReport, receivers: &[Slot]) {
    let world = turn.stage.world;
    let objects = report.objects.len() + report.ghosts.len() + report.forwarded.len();
    turn.ledger.receptions += (receivers.len() * objects) as u64;
    let message = turn.told.message(world.step(), receivers.iter().copied());
    let speaker = Speaker::Reporter(report.parcel.sender);
    turn.told.spoken_by(message, speaker);
    let stamp = world.time.stamp(report.sensed);
    for &object in &report.objects {
        turn.told.tell(message, object, stamp);
    }
    for ghost in report
        .ghosts
        .iter()
        .filter_map(|state| GhostId::of(state.id))
    {
        turn.told.tell_ghost(message, ghost, stamp);
    }
    // What others sensed is as they saw it.
    let mut forwarded = report.forwarded.clone();
    forwarded.sort_unstable_by_key(|told| (told.by, told.object));
    for same in forwarded.chunk_by(|a, b| a.by == b.by) {
        let message = turn.told.message(world.step(), receivers.iter().copied());
        turn.told.spoken_by(message, Speaker::Reporter(same[0].by));
        for told in same {
            let stamp = world.time.stamp(told.sensed);
            turn.told.tell(message, told.object, stamp);
        }
    }
    if turn.observer.wants_deliveries() {
        turn.tell_delivered(&report.message(world), receivers);
    }
}
