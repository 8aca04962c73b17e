//! Coverage summaries and requests, after SRA-CP (Liu et al. 2025, arXiv 2511.17461).
//!
//! Everyone's beacons carry a summary of the cells it sees (the digest). Once a cycle a station looks which cells of its way it
//! does not see, weighs each by how soon it gets there, and where that is risky enough asks those peers whose summaries cover
//! most of it: a message of its own that names them. Who is asked answers for a while, once a cycle, with what it sees on the way
//! of others that these do not see. Nobody hosts.
//!
//! Everybody keeps its share of the budget: what the budget leaves each station that it hears in its tile, or more while the tile
//! stays below the budget. What there is no room for waits; of an answer the most needed objects go first.
//!
//! A request has the form of a host's broadcast without objects, an answer is an ordinary report.

use std::collections::BTreeMap;
use std::sync::Arc;

use covey_protocol::demand::DemandOptions;
use covey_protocol::demand::need::Needs;
use covey_protocol::demand::scene::{Body, Scene};
use covey_protocol::messages::{Broadcast, Content, Message, ObjectState, PathCell};
use covey_protocol::{AgentId, AgentState, Cell, Duration, Parameters, RoadMap, Tile};

use super::reports::{SentReports, is_overdue};
use super::senders::recognises;
use super::{Stack, Turn};
use crate::channel::{Class, Parcel, Ticket};
use crate::ids::{Slot, Step, TileNumber};
use crate::prepared::{Prepared, STEP_S};
use crate::rivals::Requests as Reading;
use crate::sensing::Whereabouts;
use crate::world::{Time, World};

/// Nobody farther off than this can be helped or asked, in metres.
const AROUND_M: f64 = 300.0;
/// Seconds of its share that somebody can save.
const SAVED_S: f64 = 1.0;
/// Bytes that somebody can save in any case: a message is no smaller because many share the channel.
const SAVED_BYTES: f64 = 600.0;
/// Seconds from one answer with sensor information to the next (TS 103 324).
const SENSOR_INFORMATION_S: f64 = 1.0;

/// Stations that ask and answer.
#[derive(Debug)]
pub(crate) struct Requests {
    reading: Reading,
    allowance: f64,
    /// What beacons carry.
    parameters: Parameters,
    /// What is a way, how far sensors see, what is to be believed: as in choice by demand.
    options: DemandOptions,
    map: Arc<dyn RoadMap>,
    /// By place.
    stations: Vec<Station>,
    answers: SentReports,
    /// Requests of this step.
    sent: Vec<SentRequest>,
    /// Those of earlier steps that have not arrived.
    waiting: Vec<SentRequest>,
    scene: Scene,
    needs: Needs,
    path: Vec<PathCell>,
}

/// A station's memory.
#[derive(Debug, Clone)]
struct Station {
    /// Who asked it, and until when it answers.
    asked_by: BTreeMap<Slot, Step>,
    /// Peers that are asked, by it or by others, and until when.
    running: BTreeMap<Slot, Step>,
    /// Bytes that it may spend.
    purse: f64,
    /// How many shares of the budget it takes.
    shares: f64,
    /// When it last told of its sensors.
    sensors_at: Option<Step>,
}

impl Default for Station {
    fn default() -> Self {
        Self {
            asked_by: BTreeMap::new(),
            running: BTreeMap::new(),
            purse: 0.0,
            shares: 1.0,
            sensors_at: None,
        }
    }
}

/// A request on its way.
#[derive(Debug)]
struct SentRequest {
    parcel: Parcel,
    ticket: Ticket,
    broadcast: Broadcast,
    offered: Step,
}

/// Somebody whose beacons a station hears.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    slot: Slot,
    state: AgentState,
    /// Of its newest beacon.
    at: Step,
}

/// A cell on the way that a station does not see.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Blind {
    cell: Cell,
    risk: f64,
}

/// Peers that cover most of what is risky, the best first: places in `covers`, which say of each peer the blind cells that it
/// sees, by number. Of equals the first.
fn choose_peers(blind: &[Blind], covers: &[Vec<usize>], most: usize) -> Vec<usize> {
    let mut open: Vec<f64> = blind.iter().map(|blind| blind.risk).collect();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let mut best: Option<(f64, usize)> = None;
        for (place, cells) in covers.iter().enumerate() {
            let gain: f64 = cells.iter().map(|&k| open[k]).sum();
            if gain > 1e-9 && best.is_none_or(|(more, _)| gain > more) {
                best = Some((gain, place));
            }
        }
        let Some((_, place)) = best else { break };
        for &k in &covers[place] {
            open[k] = 0.0;
        }
        chosen.push(place);
    }
    chosen
}

impl Requests {
    pub(crate) fn new(allowance: f64, prepared: &Prepared, map: &Arc<dyn RoadMap>) -> Self {
        let scenario = &prepared.scenario;
        let reading = scenario.rivals.requests;
        Self {
            allowance,
            parameters: Parameters {
                allowance,
                digest_every: reading.summary_every,
                ..scenario.protocol.clone()
            },
            options: DemandOptions {
                sensor_range_m: scenario.sensing.range_m,
                ..scenario.demand.clone()
            },
            reading,
            map: Arc::clone(map),
            stations: Vec::new(),
            answers: SentReports::every(prepared.timeline.cycle),
            sent: Vec::new(),
            waiting: Vec::new(),
            scene: Scene::default(),
            needs: Needs::default(),
            path: Vec::new(),
        }
    }

    /// Steps for which a request holds.
    fn lease(&self) -> u32 {
        (self.reading.lease_s / STEP_S).round().max(1.0) as u32
    }

    /// Those whose beacons a station heard of late, by place.
    fn neighbours(&self, turn: &Turn<'_>, slot: Slot) -> Vec<Neighbour> {
        let world = turn.stage.world;
        let within = self.parameters.heard_within(self.options.heard_within_s);
        let steps = (within.seconds() / STEP_S).round() as u32;
        let here = world.here(slot).state.position;
        let around: Vec<Slot> = world.around(slot, AROUND_M, within.seconds()).collect();
        let since = world.time.stamp(world.step().before(steps));
        let counts = turn
            .beacons
            .heard
            .counts(&around, slot, turn.lane, since.max(1));
        let heard = around.iter().zip(counts).filter(|(_, c)| c.beacons > 0);
        let heard = heard.map(|(&slot, count)| {
            let at = world.time.step_of(count.newest);
            let state = world.told(slot, at);
            Neighbour { slot, state, at }
        });
        heard
            .filter(|n| n.state.position.distance(here) <= AROUND_M)
            .collect()
    }

    /// A station's share of the budget comes in, once a cycle.
    fn refill(&mut self, world: &World<'_>, slot: Slot, neighbours: &[Neighbour]) {
        let tile_m = self.parameters.tile_m;
        let own = Tile::containing(world.here(slot).state.position, tile_m);
        let beside = neighbours
            .iter()
            .filter(|n| Tile::containing(n.state.position, tile_m) == own);
        let share = self.allowance * world.cycle_capacity() / (1 + beside.count()) as f64;
        let station = &mut self.stations[slot.index()];
        let income = share * station.shares;
        let most = SAVED_BYTES.max(income * SAVED_S / self.parameters.cycle_s);
        station.purse = (station.purse + income).min(most);
    }

    /// What of its way a station does not see, and nobody asked of late covers.
    fn blind(&mut self, turn: &Turn<'_>, slot: Slot, neighbours: &[Neighbour]) -> Vec<Blind> {
        let world = turn.stage.world;
        let state = &world.here(slot).state;
        self.path.clear();
        if !state.size.is_body() {
            return Vec::new();
        }
        self.map
            .path_ahead(state, self.parameters.cell_m, &mut self.path);
        let own = world.sights.cells.of(slot);
        let mut blind: Vec<Blind> = Vec::new();
        for on_way in &self.path {
            let after = on_way.after.seconds();
            let risk = on_way.weight * (1.0 - after / self.reading.horizon_s);
            if risk > 0.0 && !own.contains(&on_way.cell) {
                let cell = on_way.cell;
                blind.push(Blind { cell, risk });
            }
        }
        let step = world.step();
        self.stations[slot.index()]
            .running
            .retain(|_, until| *until >= step);
        let running = &self.stations[slot.index()].running;
        for neighbour in neighbours {
            if !blind.is_empty() && running.contains_key(&neighbour.slot) {
                let covered = self.summary(turn, slot, neighbour.slot);
                blind.retain(|b| covered.binary_search(&b.cell).is_err());
            }
        }
        blind
    }

    /// The newest summary that a station has of a peer.
    fn summary<'t>(&self, turn: &'t Turn<'_>, slot: Slot, peer: Slot) -> &'t [Cell] {
        let world = turn.stage.world;
        let soft = world.prepared.timeline.soft_state;
        let heard = turn.beacons.heard.each_at(peer, slot, turn.lane);
        let mut heard = heard.filter(|&stamp| world.age(stamp).is_some_and(|age| age <= soft));
        let newest = heard.find_map(|stamp| {
            let step = world.time.step_of(stamp);
            turn.spoken.digest(peer, step, &self.parameters)
        });
        newest.map_or(&[], |digest| digest.cells())
    }

    /// Whom a station asks, if it has to.
    fn peers(
        &self,
        turn: &Turn<'_>,
        slot: Slot,
        blind: &[Blind],
        neighbours: &[Neighbour],
    ) -> Vec<Slot> {
        let risk: f64 = blind.iter().map(|blind| blind.risk).sum();
        if risk < self.reading.least_risk {
            return Vec::new();
        }
        let running = &self.stations[slot.index()].running;
        let (mut peers, mut covers) = (Vec::new(), Vec::new());
        for neighbour in neighbours {
            if running.contains_key(&neighbour.slot) {
                continue;
            }
            let cells = self.summary(turn, slot, neighbour.slot);
            let covered = |&(_, blind): &(usize, &Blind)| cells.binary_search(&blind.cell).is_ok();
            let covered = blind.iter().enumerate().filter(covered);
            let covered: Vec<usize> = covered.map(|(k, _)| k).collect();
            if !covered.is_empty() {
                peers.push(neighbour.slot);
                covers.push(covered);
            }
        }
        let chosen = choose_peers(blind, &covers, self.reading.most_peers as usize);
        chosen.into_iter().map(|place| peers[place]).collect()
    }

    /// A station asks its peers, if it can pay for it.
    fn ask(
        &mut self,
        turn: &mut Turn<'_>,
        thinning: &covey_draws::Draws,
        slot: Slot,
        peers: &[Slot],
    ) {
        let world = turn.stage.world;
        let broadcast = self.request(world, slot, peers);
        let plain = f64::from(turn.stage.sizes.broadcast(&broadcast, false));
        if plain > self.stations[slot.index()].purse {
            return;
        }
        let certificate = turn.air.certificate(world, Class::Broadcast, slot);
        let bytes = turn.stage.sizes.broadcast(&broadcast, certificate);
        let until = world.step().after(self.lease());
        let station = &mut self.stations[slot.index()];
        station.purse -= f64::from(bytes);
        station
            .running
            .extend(peers.iter().map(|&peer| (peer, until)));
        let parcel = Parcel::broadcast(slot, bytes);
        let ticket = turn.air.offer(world, thinning, parcel);
        self.sent.push(SentRequest {
            parcel,
            ticket,
            broadcast,
            offered: world.step(),
        });
    }

    fn request(&self, world: &World<'_>, slot: Slot, peers: &[Slot]) -> Broadcast {
        let now = world.now();
        let mut contributors: Vec<AgentId> = peers.iter().map(|&p| world.agent(p)).collect();
        contributors.sort_unstable();
        let position = world.here(slot).state.position;
        Broadcast {
            host: world.agent(slot),
            tile: Tile::containing(position, self.parameters.tile_m).unwrap_or_default(),
            at: now,
            position,
            sequence: world.cycle(),
            epoch: 0,
            tenure: Duration::ZERO,
            price: 0.0,
            cycle_start: now,
            contributors,
            lease: Duration::from_seconds(f64::from(self.lease()) * STEP_S),
            content: Content::Requested,
            requested: Vec::new(),
            full: false,
            objects: Vec::new(),
            withdrawn: Vec::new(),
            unchanged_since: now,
        }
    }

    /// All that a station knows of the moment: itself, whoever it hears, what it sees.
    fn look_around(&mut self, world: &World<'_>, slot: Slot, neighbours: &[Neighbour]) {
        let now = world.now();
        let age = |step: Step| now.since(Time::instant(step)).seconds();
        let own = (body_of(world, slot, &world.here(slot).state), 0.0);
        let others = neighbours
            .iter()
            .map(|n| (body_of(world, n.slot, &n.state), age(n.at)));
        let mut bodies: Vec<(Body, f64)> = others.chain([own]).collect();
        let mut seen = Vec::new();
        world.sensed(slot, &mut seen);
        // Whoever beacons is where it says.
        bodies.sort_by_key(|(body, _)| body.id);
        let stations: Vec<_> = bodies.iter().map(|(body, _)| body.id).collect();
        for state in seen
            .iter()
            .filter(|s| stations.binary_search(&s.id).is_err())
        {
            bodies.push((body_of_object(state), now.since(state.sensed_at).seconds()));
        }
        bodies.sort_by_key(|(body, _)| body.id);
        bodies.dedup_by_key(|(body, _)| body.id);
        let course = self.options.course;
        self.scene.rebuild(
            world.here(slot).state.position,
            AROUND_M,
            bodies,
            Some(&*self.map),
            |body| course.reach_m(body.speed) + body.size.length,
        );
    }

    /// What a station answers: of what it sees, what those who asked (or all near it) need and do not see, the most needed first.
    fn needed(
        &mut self,
        turn: &Turn<'_>,
        slot: Slot,
        neighbours: &[Neighbour],
    ) -> Vec<ObjectState> {
        let world = turn.stage.world;
        let sensed = self.told_of(turn, slot);
        if sensed.is_empty() {
            return Vec::new();
        }
        self.look_around(world, slot, neighbours);
        let course = self.options.course;
        let scene = &self.scene;
        scene.allow(self.parameters.guard.work);
        let asked_by = &self.stations[slot.index()].asked_by;
        let counts = |n: &&Neighbour| self.reading.overheard || asked_by.contains_key(&n.slot);
        let mut listeners: Vec<u32> = neighbours
            .iter()
            .filter(counts)
            .filter_map(|n| scene.find(world.agent(n.slot).into()))
            .collect();
        listeners.sort_unstable();
        let numbers: Vec<Option<u32>> = sensed.iter().map(|s| scene.find(s.id)).collect();
        let walls = Some(&*self.map).filter(|_| self.options.buildings);
        let (range, trust) = (self.options.sensor_range_m, course.sight_trust);
        self.needs.find(
            scene,
            &course,
            &self.parameters,
            &listeners,
            |object| numbers.contains(&Some(object)),
            |i, o| {
                let [a, b] = [i, o].map(|body| scene.bodies()[body as usize].position);
                let sees = a.distance(b) <= range && scene.sees(i, o, walls);
                if sees { trust } else { 0.0 }
            },
        );
        let mut need: BTreeMap<u32, f64> = BTreeMap::new();
        for pair in self.needs.pairs() {
            *need.entry(pair.object).or_default() += pair.unseen;
        }
        let needed = |number: &Option<u32>| {
            let need = number.and_then(|number| need.get(&number));
            need.copied().unwrap_or(0.0)
        };
        let rated = sensed.into_iter().zip(numbers.iter().map(needed));
        let mut rated: Vec<(ObjectState, f64)> = rated
            .filter(|&(_, need)| need >= self.options.threshold)
            .collect();
        rated.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
        rated.into_iter().map(|(state, _)| state).collect()
    }

    /// What a station sees and may tell of: what speaks for itself is left out.
    fn told_of(&self, turn: &Turn<'_>, slot: Slot) -> Vec<ObjectState> {
        let world = turn.stage.world;
        let mut sensed = Vec::new();
        world.sensed(slot, &mut sensed);
        let soft = world.prepared.timeline.soft_state;
        let speaks = |state: &ObjectState| {
            let Some(object) = world.road.slot_of(state.id) else {
                return false;
            };
            let stamp = turn.beacons.heard.at(object, slot, turn.lane);
            let recent = world.age(stamp).is_some_and(|age| age <= soft);
            recent && {
                let told = world.announced(object, world.time.step_of(stamp));
                recognises(world, state, Whereabouts::from(&told))
            }
        };
        sensed.retain(|state| self.reading.announced || !speaks(state));
        sensed
    }

    /// A station answers whoever asked it, as far as it can pay for it.
    fn answer(
        &mut self,
        turn: &mut Turn<'_>,
        thinning: &covey_draws::Draws,
        slot: Slot,
        neighbours: &[Neighbour],
    ) {
        let world = turn.stage.world;
        let step = world.step();
        let station = &mut self.stations[slot.index()];
        station.asked_by.retain(|_, until| *until >= step);
        if station.asked_by.is_empty() {
            return;
        }
        let mut states = self.needed(turn, slot, neighbours);
        let station = &mut self.stations[slot.index()];
        let outfit = world.road.outfit(world.prepared, slot).sender;
        let every = (SENSOR_INFORMATION_S / STEP_S) as u32;
        let due = station.sensors_at.is_none_or(|at| step.since(at) >= every);
        let sensors = outfit.sensors() > 0 && due;
        let bytes = |count: usize| {
            let sizes = turn.stage.sizes;
            f64::from(sizes.report(count, sensors, outfit, false))
        };
        while !states.is_empty() && bytes(states.len()) > station.purse {
            states.pop();
        }
        if states.is_empty() {
            return;
        }
        station.purse -= bytes(states.len());
        if sensors {
            station.sensors_at = Some(step);
        }
        let slots = states.iter().filter_map(|s| world.road.slot_of(s.id));
        let ghosts = states
            .iter()
            .filter(|s| world.road.slot_of(s.id).is_none())
            .copied();
        let told = (slots.collect(), ghosts.collect());
        self.answers.send(turn, thinning, slot, told, sensors);
    }

    /// Who received a request answers it, or knows that it is asked.
    fn hear(&mut self, turn: &mut Turn<'_>, sent: &SentRequest, receivers: &[Slot]) {
        let world = turn.stage.world;
        let until = world.step().after(self.lease());
        let asked = &sent.broadcast.contributors;
        let peers: Vec<Slot> = asked
            .iter()
            .filter_map(|&agent| world.road.slot_of(agent.into()))
            .collect();
        for &receiver in receivers {
            let station = &mut self.stations[receiver.index()];
            if asked.binary_search(&world.agent(receiver)).is_ok() {
                station.asked_by.insert(sent.parcel.sender, until);
            }
            if self.reading.overheard {
                station
                    .running
                    .extend(peers.iter().map(|&peer| (peer, until)));
            }
        }
        if turn.observer.wants_deliveries() {
            turn.tell_delivered(&Message::Broadcast(sent.broadcast.clone()), receivers);
        }
    }
}

fn body_of(world: &World<'_>, slot: Slot, state: &AgentState) -> Body {
    Body {
        id: world.agent(slot).into(),
        position: state.position,
        heading: Some(state.heading),
        speed: state.speed,
        size: state.size,
        silent: false,
        spoken: None,
    }
}

fn body_of_object(state: &ObjectState) -> Body {
    let speed = state.velocity.speed();
    Body {
        id: state.id,
        position: state.position,
        heading: (speed >= 0.5).then(|| state.velocity.y.atan2(state.velocity.x)),
        speed,
        size: state.size,
        silent: true,
        spoken: None,
    }
}

impl Stack for Requests {
    fn begin(&mut self, turn: &mut Turn<'_>) {
        let road = &turn.stage.world.road;
        self.stations.resize_with(road.size(), Station::default);
        for &left in road.left() {
            for station in &mut self.stations {
                station.asked_by.remove(&left);
                station.running.remove(&left);
            }
            self.stations[left.index()] = Station::default();
        }
    }

    fn parameters(&self) -> Option<&Parameters> {
        Some(&self.parameters)
    }

    fn report(&mut self, turn: &mut Turn<'_>) {
        let (world, clock) = (turn.stage.world, turn.stage.clock);
        self.answers.clear(world);
        self.sent.clear();
        let mut asking = Vec::new();
        let thinning = Class::Report.thinning(world);
        for &slot in world.road.participants() {
            if !clock.reports(world, slot) {
                continue;
            }
            let neighbours = self.neighbours(turn, slot);
            self.refill(world, slot, &neighbours);
            self.answer(turn, &thinning, slot, &neighbours);
            let blind = self.blind(turn, slot, &neighbours);
            let peers = self.peers(turn, slot, &blind, &neighbours);
            if !peers.is_empty() {
                asking.push((slot, peers));
            }
        }
        // After all answers: what is carried is told in the order of offers.
        let thinning = Class::Broadcast.thinning(world);
        for (slot, peers) in asking {
            self.ask(turn, &thinning, slot, &peers);
        }
    }

    fn tell_reports(&self, turn: &mut Turn<'_>) {
        self.answers.tell(turn);
        for sent in &self.sent {
            let message = Message::Broadcast(sent.broadcast.clone());
            turn.tell_offered(sent.parcel.sender, &message, sent.parcel.bytes);
        }
    }

    fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        if turn.is_scheduled() {
            return;
        }
        let world = turn.stage.world;
        let (answers, requests) = carried.split_at(carried.len() - self.sent.len());
        self.answers.deliver(turn, answers);
        let reception = Class::Broadcast.reception(world);
        let mut receivers = Vec::new();
        let sent = std::mem::take(&mut self.sent);
        for (sent, &carried) in sent.iter().zip(requests) {
            turn.air
                .deliver(world, &reception, sent.parcel, carried, &mut receivers);
            self.hear(turn, sent, &receivers);
        }
        self.sent = sent;
    }

    fn arrive(&mut self, turn: &mut Turn<'_>) {
        self.answers.arrive(turn);
        let world = turn.stage.world;
        for arrived in turn.air.take_arrived(Class::Broadcast) {
            let mut waiting = self.waiting.iter();
            if let Some(at) = waiting.position(|sent| sent.ticket == arrived.ticket) {
                let sent = self.waiting.remove(at);
                self.hear(turn, &sent, &arrived.receivers);
            }
        }
        // What was refused never comes.
        self.waiting.retain(|sent| !is_overdue(world, sent.offered));
    }

    fn wait(&mut self, turn: &mut Turn<'_>) {
        self.answers.wait(turn);
        self.waiting.append(&mut self.sent);
    }

    /// Everybody takes more of the budget while its tile stays below it, and less down to its share while it does not.
    fn decide(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        let spent = |tile: TileNumber| {
            let booked = turn.air.last_cycle(tile);
            (booked.reports + booked.broadcasts) as f64 / world.cycle_capacity()
        };
        for &slot in world.road.participants() {
            let room = self.allowance / spent(world.tile(slot)).max(1e-6);
            let shares = &mut self.stations[slot.index()].shares;
            let wanted = *shares * room.clamp(0.7, 1.3);
            *shares = wanted.clamp(1.0, self.reading.most_shares);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_asked_for_what_is_risky_and_not_covered_by_another() {
        let blind: Vec<Blind> = [0.9, 0.5, 0.2]
            .iter()
            .zip(0..)
            .map(|(&risk, x)| Blind {
                cell: Cell::new(x, 0),
                risk,
            })
            .collect();
        // The second covers most; of what is left the third covers more than the first, which covers nothing new.
        let covers = [vec![0], vec![0, 1], vec![1, 2], vec![2]];
        assert_eq!(choose_peers(&blind, &covers, 1), [1]);
        assert_eq!(choose_peers(&blind, &covers, 9), [1, 2]);
        assert!(choose_peers(&blind, &[], 2).is_empty());
        assert!(choose_peers(&[], &[Vec::new()], 2).is_empty());
    }
}
