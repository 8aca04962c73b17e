//! A fleet of the protocol's roles: hosts of tiles, the contributors that they admit, and the host rule.
//!
//! Every host is the protocol's own [`Host`](covey_protocol::host::Host), every contributor's side its
//! [`Contributor`](covey_protocol::contributor::Contributor), and the host rule and the choice of content are the protocol's. What
//! a participant would keep of what it heard is kept here for all at once, in flat arrays; a test holds what is sent against
//! real participants.

mod contributors;
mod ears;
mod listeners;
mod offices;
mod witness;

use std::sync::Arc;

use covey_protocol::admission::Role;
use covey_protocol::messages::{Broadcast, Message};
use covey_protocol::{Event, Input, Output, Parameters, Profile, RoadMap, Tile};

use super::conduct::twist;
use super::reports::is_overdue;
use super::{Spoken, Stack, Turn};
use crate::channel::{Class, Parcel, Ticket, Told};
use crate::ids::{Slot, Step, TileNumber};
use crate::measure::{Credit, Evaluation, HostView, Knowledge, Ledger, Served};
use crate::prepared::{Prepared, Remembering};
use crate::world::{World, rebase};

use contributors::{Contributors, SentReport};
use offices::{InOffice, Offices};
use witness::Show;

/// The participants of one arm with hosts.
#[derive(Debug)]
pub(crate) struct Fleet {
    profile: Profile,
    offices: Offices,
    contributors: Contributors,
    served: Vec<Served>,
    /// Broadcasts that have not arrived, where they take their time.
    waiting: Vec<SentBroadcast>,
    /// What decisions are good for.
    credit: Credit,
    /// Set where someone records.
    record: Option<Record>,
    /// Steps for which messages matter.
    soft_state: u32,
}

/// What is kept for whoever records.
#[derive(Debug)]
struct Record {
    show: Show,
    /// What was learned from reports alone: it tells them from broadcasts.
    reported: Told,
}

/// A broadcast on its way.
#[derive(Debug)]
struct SentBroadcast {
    parcel: Parcel,
    ticket: Ticket,
    broadcast: Broadcast,
    offered: Step,
}

impl Fleet {
    /// Participants of this profile. Maps answer the same to all that only ask for paths, so these share `paths`, what was asked
    /// before; what contributors ask to judge needs is each arm's own.
    pub(crate) fn new(mut profile: Profile, prepared: &Prepared, paths: &Arc<dyn RoadMap>) -> Self {
        profile.map = Some(match profile.judgement {
            None => Arc::clone(paths),
            Some(_) => Arc::new(Remembering::new(&prepared.carried)),
        });
        Self {
            offices: Offices::new(&profile.parameters),
            contributors: Contributors::new(&profile),
            served: Vec::new(),
            waiting: Vec::new(),
            credit: Credit::default(),
            record: None,
            soft_state: prepared.timeline.soft_state,
            profile,
        }
    }

    /// Hosts hear the beacons of this step.
    fn hear(&mut self, turn: &Turn<'_>) {
        let world = turn.stage.world;
        let now = world.now();
        for &(place, sender, step) in &turn.beacons.heard_by_hosts[turn.lane.index()] {
            let Some(office) = self.offices.held_by(place) else {
                continue;
            };
            let parameters = &self.profile.parameters;
            turn.spoken.hand_over(sender, step, parameters, |beacon| {
                office.host.handle_input(now, Input::Beacon(beacon));
            });
        }
    }

    /// Tells hosts what their sensors see, and where they are.
    fn sense(&mut self, world: &World<'_>, spoken: &mut Spoken) {
        let now = world.now();
        for office in self.offices.all() {
            if world.is_sensing() {
                let sensed = Input::Sensed {
                    objects: spoken.sensed(world, office.slot),
                    cells: world.sights.cells.of(office.slot),
                };
                office.host.handle_input(now, sensed);
            }
            let state = &world.here(office.slot).state;
            office.host.handle_input(now, Input::Moved(state));
        }
    }

    /// Tells hosts how busy their tile is.
    fn measure_load(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        let timeline = &world.prepared.timeline;
        if world.phase() % timeline.beacon != timeline.decision % timeline.beacon {
            return;
        }
        let now = world.now();
        let air = &*turn.air;
        let occupancy = |tile: TileNumber| {
            let bytes = air.last_cycle(tile).cooperative();
            bytes as f64 / world.cycle_capacity()
        };
        for office in self.offices.all() {
            let measured = match air.scheduled() {
                // What a station hears taken by more than plain beacons.
                Some(pool) => pool.cooperative_ratio(world, office.slot),
                None => occupancy(office.tile),
            };
            office.host.handle_input(now, Input::Occupancy(measured));
        }
        if turn.observer.wants_senses() {
            let tiles = &world.prepared.tiles;
            let loads: Vec<(Tile, f64)> = tiles
                .numbers()
                .filter_map(|number| Some((tiles.tile(number)?, occupancy(number))))
                .collect();
            turn.observer.loads(turn.number, now, &loads);
        }
    }

    /// Delivers the reports of this step; `carried` goes with them one by one.
    fn deliver_reports(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        let world = turn.stage.world;
        let reception = Class::Report.reception(world);
        let mut receivers = Vec::new();
        let sent = std::mem::take(&mut self.contributors.sent);
        for (sent, &carried) in sent.iter().zip(carried) {
            turn.air
                .deliver(world, &reception, sent.parcel, carried, &mut receivers);
            self.hear_report(turn, sent, &receivers);
        }
        self.contributors.sent = sent;
    }

    /// Who received a report learns of its objects.
    fn hear_report(&mut self, turn: &mut Turn<'_>, sent: &SentReport, receivers: &[Slot]) {
        let world = turn.stage.world;
        let now = world.now();
        let report = &sent.report;
        if report.at > now {
            // From a clock that is too far ahead.
            return;
        }
        let lag = world.lag(sent.parcel.sender);
        let stamp = world.time.stamp(sent.sensed.before(lag));
        turn.ledger.receptions += (receivers.len() * report.objects.len()) as u64;
        let reporter = sent.parcel.sender;
        let record = self.record.as_mut().map(|record| &mut record.reported);
        let objects = &report.objects;
        listeners::hear_report(
            world, turn.told, record, reporter, receivers, objects, stamp,
        );
        self.contributors
            .overhear(world, report.sender, &report.objects, receivers);
        if turn.observer.wants_deliveries() {
            turn.tell_delivered(&Message::Report(report.clone()), receivers);
        }
        for &receiver in receivers {
            if let Some(office) = self.offices.held_by(receiver) {
                office.host.handle_input(now, Input::Report(report));
            }
        }
    }

    /// Hosts fuse, decide and offer their broadcasts.
    fn serve(&mut self, turn: &mut Turn<'_>) -> Vec<SentBroadcast> {
        let world = turn.stage.world;
        self.served.clear();
        self.credit.begin(world);
        let now = world.now();
        let thinning = Class::Broadcast.thinning(world);
        let mut broadcasts = Vec::new();
        for office in self.offices.all() {
            let price = office.host.price();
            office.host.handle_input(now, Input::Tick);
            let mut drops = 0;
            while let Some(output) = office.host.poll_output() {
                match output {
                    Output::Event(Event::Dropped(_)) => drops += 1,
                    Output::Event(Event::Decided(decision)) => {
                        note_retention(turn, office);
                        let host = &office.host;
                        let agent = world.agent(office.slot);
                        let contributors = host.contributors();
                        self.credit
                            .decided(agent, &decision, host.scores(), contributors);
                        self.served.push(Served {
                            tile: office.tile,
                            host: agent.0,
                            epoch: host.epoch(),
                            contributors: contributors.len() as u32,
                            price,
                            airtime_s: decision.airtime_after.seconds,
                            changes: decision.changes.len() as u32 + drops,
                            binding: decision.binding,
                        });
                        let view = HostView {
                            host: agent.0,
                            tile: host.tile(),
                            decision: &decision,
                            scores: host.scores(),
                            contributors,
                            price,
                            epoch: host.epoch(),
                            shown: self.record.as_ref().and_then(|record| record.show.take()),
                        };
                        turn.observer.decision(turn.number, &view);
                    }
                    Output::Transmit(Message::Broadcast(broadcast)) => {
                        let footprint_m = self.profile.parameters.footprint_m;
                        let first = &mut office.first;
                        let Some(broadcast) =
                            twist(world, office.slot, footprint_m, first, broadcast)
                        else {
                            continue;
                        };
                        let certificate =
                            turn.air.certificate(world, Class::Broadcast, office.slot);
                        let bytes = turn.stage.sizes.broadcast(&broadcast, certificate);
                        let parcel = Parcel::broadcast(office.slot, bytes);
                        let ticket = turn.air.offer(world, &thinning, parcel);
                        broadcasts.push(SentBroadcast {
                            parcel,
                            ticket,
                            broadcast,
                            offered: world.step(),
                        });
                    }
                    _ => {}
                }
            }
        }
        broadcasts
    }

    /// Delivers broadcasts, in order.
    fn deliver_broadcasts(&mut self, turn: &mut Turn<'_>, broadcasts: &[SentBroadcast]) {
        let world = turn.stage.world;
        let reception = Class::Broadcast.reception(world);
        let carried = turn.air.carried.clone();
        let mut delivered = Vec::with_capacity(broadcasts.len());
        for (sent, carried) in broadcasts.iter().zip(carried) {
            let mut receivers = Vec::new();
            turn.air
                .deliver(world, &reception, sent.parcel, carried, &mut receivers);
            self.hear_broadcast(turn, sent, &receivers);
            delivered.push(receivers);
        }
        // Only then, for it may drive a host out of office that has spoken in this step.
        for (sent, receivers) in broadcasts.iter().zip(&delivered) {
            for &receiver in receivers {
                self.heed(turn, receiver, &sent.broadcast);
            }
        }
    }

    /// Who received a broadcast learns of its objects.
    fn hear_broadcast(&mut self, turn: &mut Turn<'_>, sent: &SentBroadcast, receivers: &[Slot]) {
        let world = turn.stage.world;
        let broadcast = &sent.broadcast;
        let believing: Vec<Slot>;
        let receivers = match world.misbehaviour(sent.parcel.sender) {
            None => receivers,
            Some(_) => {
                let believe = |&&slot: &&Slot| self.offices.is_plausible(turn, slot, broadcast);
                believing = receivers.iter().filter(believe).copied().collect();
                &believing
            }
        };
        let silence_refreshes = self.profile.parameters.silence_refreshes;
        turn.ledger.receptions += (receivers.len() * broadcast.objects.len()) as u64;
        if let Some(office) = self.offices.held_by(sent.parcel.sender) {
            let told = &mut *turn.told;
            listeners::hear_broadcast(world, told, office, broadcast, receivers, silence_refreshes);
        }
        self.contributors
            .overhear(world, broadcast.host, &broadcast.objects, receivers);
        if turn.observer.wants_deliveries() {
            turn.tell_delivered(&Message::Broadcast(broadcast.clone()), receivers);
        }
    }

    /// Reports and broadcasts of earlier steps arrive.
    fn take_arrivals(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        for arrived in turn.air.take_arrived(Class::Report) {
            let waiting = &mut self.contributors.waiting;
            if let Some(at) = waiting
                .iter()
                .position(|sent| sent.ticket == arrived.ticket)
            {
                let sent = waiting.remove(at);
                self.hear_report(turn, &sent, &arrived.receivers);
            }
        }
        let mut heard = Vec::new();
        for arrived in turn.air.take_arrived(Class::Broadcast) {
            let waiting = &mut self.waiting;
            if let Some(at) = waiting
                .iter()
                .position(|sent| sent.ticket == arrived.ticket)
            {
                let sent = waiting.remove(at);
                self.hear_broadcast(turn, &sent, &arrived.receivers);
                heard.push((sent, arrived.receivers));
            }
        }
        for (sent, receivers) in &heard {
            for &receiver in receivers {
                self.heed(turn, receiver, &sent.broadcast);
            }
        }
        // What was refused never comes.
        self.waiting.retain(|sent| !is_overdue(world, sent.offered));
        let reports = &mut self.contributors.waiting;
        reports.retain(|sent| !is_overdue(world, sent.sensed));
    }

    /// What a receiver does with a broadcast, apart from learning of objects.
    fn heed(&mut self, turn: &mut Turn<'_>, receiver: Slot, broadcast: &Broadcast) {
        if self.offices.heed(turn, receiver, broadcast) {
            let world = turn.stage.world;
            self.contributors
                .heed(world, &self.profile, receiver, broadcast);
        }
    }
}

/// Notes the scores of those who are kept, for the letter's rule for x.
fn note_retention(turn: &mut Turn<'_>, office: &InOffice) {
    if !turn.stage.measured {
        return;
    }
    for score in office.host.scores() {
        if score.role == Role::Contributor && score.score > 0.0 {
            turn.ledger.note_retention(score.score);
        }
    }
}

impl Stack for Fleet {
    fn watch(&mut self) {
        self.record = Some(Record {
            show: Show::default(),
            reported: Told::new(self.soft_state),
        });
    }

    fn rebase(&mut self) {
        if let Some(record) = &mut self.record {
            record.reported.each(rebase);
        }
    }

    fn begin(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        if let Some(record) = &mut self.record {
            let now = world.time.stamp(world.step());
            let size = world.road.size();
            record.reported.begin(world.step(), now, size);
            for &slot in world.road.left() {
                record.reported.clear(slot);
            }
        }
        self.contributors.begin(world, self.soft_state);
        self.offices.begin(turn);
    }

    fn parameters(&self) -> Option<&Parameters> {
        Some(&self.profile.parameters)
    }

    fn report(&mut self, turn: &mut Turn<'_>) {
        self.contributors.report(&self.profile, turn);
    }

    fn tell_reports(&self, turn: &mut Turn<'_>) {
        for sent in &self.contributors.sent {
            let message = Message::Report(sent.report.clone());
            turn.tell_offered(sent.parcel.sender, &message, sent.parcel.bytes);
        }
    }

    fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        if turn.is_scheduled() {
            return;
        }
        self.sense(turn.stage.world, turn.spoken);
        self.hear(turn);
        self.deliver_reports(turn, carried);
        self.measure_load(turn);
    }

    fn arrive(&mut self, turn: &mut Turn<'_>) {
        self.sense(turn.stage.world, turn.spoken);
        self.hear(turn);
        self.take_arrivals(turn);
        self.measure_load(turn);
    }

    fn wait(&mut self, _turn: &mut Turn<'_>) {
        let contributors = &mut self.contributors;
        contributors.waiting.append(&mut contributors.sent);
    }

    fn decide(&mut self, turn: &mut Turn<'_>) {
        let show = self.record.as_ref().map(|record| &record.show);
        self.offices.elect(&self.profile, show, turn);
        turn.air.clear_offers();
        let broadcasts = self.serve(turn);
        if turn.observer.wants_messages() {
            for sent in &broadcasts {
                let message = Message::Broadcast(sent.broadcast.clone());
                turn.tell_offered(sent.parcel.sender, &message, sent.parcel.bytes);
            }
        }
        turn.air.carry();
        if turn.is_scheduled() {
            self.waiting.extend(broadcasts);
        } else {
            self.deliver_broadcasts(turn, &broadcasts);
        }
        if turn.stage.measured {
            turn.ledger.serve(&self.served);
        }
    }

    fn served(&self) -> &[Served] {
        &self.served
    }

    fn settle(
        &mut self,
        world: &World<'_>,
        knowledge: &Knowledge<'_>,
        evaluation: &Evaluation<'_>,
        ledger: &mut Ledger,
    ) {
        let footprint_m = self.profile.parameters.footprint_m;
        let cured = &mut ledger.outcome.cured;
        let pairs = evaluation.pairs.iter();
        self.credit
            .settle(world, knowledge, pairs, footprint_m, cured);
    }

    fn reported(&self) -> Option<&Told> {
        self.record.as_ref().map(|record| &record.reported)
    }
}
