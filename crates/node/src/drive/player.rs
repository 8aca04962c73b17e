//! Plays the world: tells nodes where they are and what they see, and asks what they know.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use covey_its::cam::WirePosition;
use covey_its::{Cam, GeoReference as _, samples};
use covey_protocol::{AgentId, Instant, Message, Position, Tile};
use covey_simulator::events::{CycleView, Senses, StepView};
use covey_simulator::{MapReference, Observer};

use super::Options;
use super::flood::Flood;
use super::nodes::{Node, Nodes};
use super::played::{Kill, Played};
use super::relay::Relay;
use crate::clock::wall_micros;
use crate::vehicle::lines::{
    Answer, ClockLine, KnownObject, Line, ObjectLine, SensedLine, StateLine,
};

/// Nodes are told of a step so long before it.
const LEAD_US: i64 = 10_000;
/// And asked what they know so long after the decision.
const ASK_US: i64 = 28_000;
/// A known place this near to the true one at the same time is one of the object, in metres.
const GATE_M: f64 = 1.0;
/// True places that are remembered, in microseconds.
const MEMORY_US: i64 = 3_000_000;
/// A step told more than this after its time is late.
const LATE_US: i64 = 20_000;

/// Watches the run and is its stage manager.
pub(super) struct Player<'a> {
    options: &'a Options,
    relay: &'a Relay,
    nodes: Nodes,
    reference: MapReference,
    begin_us: i64,
    tile_m: f64,
    tell: &'a mut dyn FnMut(&str),
    now: Instant,
    measured: bool,
    by_vehicle: BTreeMap<u64, usize>,
    truth: BTreeMap<u32, VecDeque<(i64, Position)>>,
    flood: Option<Flood>,
    /// Kills that are still to come, and nodes to be started again: when, which.
    kills: VecDeque<f64>,
    revivals: Vec<(f64, usize)>,
    clock_step: Option<(f64, f64)>,
    memory: BTreeMap<u32, u64>,
    told_s: f64,
    played: Played,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        options: &'a Options,
        relay: &'a Relay,
        nodes: Nodes,
        reference: MapReference,
        (begin_us, tile_m): (i64, f64),
        tell: &'a mut dyn FnMut(&str),
    ) -> Self {
        let numbered = nodes.all.iter().enumerate();
        Self {
            by_vehicle: numbered
                .map(|(at, node)| (u64::from(node.vehicle), at))
                .collect(),
            kills: options.kills.iter().copied().collect(),
            clock_step: options.clock_step,
            options,
            relay,
            nodes,
            reference,
            begin_us,
            tile_m,
            tell,
            now: Instant::ZERO,
            measured: false,
            truth: BTreeMap::new(),
            flood: None,
            revivals: Vec::new(),
            memory: BTreeMap::new(),
            told_s: 0.0,
            played: Played::default(),
        }
    }

    fn wall(&self, at: Instant) -> i64 {
        self.begin_us + at.micros()
    }

    fn time_ms(&self, at: Instant) -> f64 {
        self.wall(at) as f64 / 1_000.0
    }

    /// How far the nodes' clocks were set ahead, in milliseconds.
    fn ahead_ms(&self) -> f64 {
        match (self.options.clock_step, self.clock_step) {
            (Some((_, ahead)), None) => ahead,
            _ => 0.0,
        }
    }

    /// Things that go wrong on purpose.
    fn interfere(&mut self, seconds: f64) {
        if let Some((rate, from, to)) = self.options.flood {
            if (from..to).contains(&seconds) && self.flood.is_none() {
                let places: Vec<_> = self.nodes.all.iter().map(Node::place).collect();
                self.flood = Some(Flood::start(&places, rate, self.stranger()));
            }
            if seconds >= to
                && let Some(flood) = self.flood.take()
            {
                self.played.flooded = flood.stop();
            }
        }
        if let Some((at, ahead_ms)) = self.clock_step
            && seconds >= at
        {
            self.clock_step = None;
            for node in &mut self.nodes.all {
                node.tell(&Line::Clock(ClockLine { ahead_ms }));
            }
        }
        if self.kills.front().is_some_and(|&at| seconds >= at)
            && let Some((node, tile, last_us)) = self.relay.last_host()
            && self.nodes.all[node].alive
        {
            self.kills.pop_front();
            self.nodes.all[node].kill();
            self.played.kills.push(Kill {
                at_s: seconds,
                vehicle: self.nodes.all[node].vehicle,
                tile,
                last_word_us: last_us,
                next: None,
                after_s: None,
            });
            if let Some(after) = self.options.revive_s {
                self.revivals.push((seconds + after, node));
            }
        }
        let due: Vec<usize> = self
            .revivals
            .iter()
            .filter(|(at, _)| seconds >= *at)
            .map(|&(_, node)| node)
            .collect();
        self.revivals.retain(|(at, _)| seconds < *at);
        for node in due {
            let _ = self.nodes.all[node].spawn();
        }
    }

    /// The CAM of somebody who stands where the first of the nodes is.
    fn stranger(&self) -> Cam {
        let places = self
            .nodes
            .all
            .first()
            .and_then(|node| self.truth.get(&node.vehicle));
        let place = places.and_then(VecDeque::back).map(|&(_, place)| place);
        let earth = place.and_then(|place| self.reference.to_earth(place));
        let mut cam = samples::cam();
        cam.position = earth.and_then(WirePosition::of).unwrap_or(cam.position);
        cam
    }

    fn remember(&mut self, view: &StepView<'_>) {
        let at = view.now.micros();
        for vehicle in view.vehicles {
            let places = self.truth.entry(vehicle.id.0).or_default();
            places.push_back((at, self.reference.agent_state(vehicle).position));
            while places
                .front()
                .is_some_and(|(then, _)| at - then > MEMORY_US)
            {
                places.pop_front();
            }
        }
    }

    /// Where a vehicle was at a time of the run.
    fn place(&self, vehicle: u32, at_us: i64) -> Option<Position> {
        let places = self.truth.get(&vehicle)?;
        let after = places.iter().position(|&(then, _)| then >= at_us)?;
        let (t1, p1) = places[after];
        if after == 0 || t1 == at_us {
            return (t1 - at_us < 100_000).then_some(p1);
        }
        let (t0, p0) = places[after - 1];
        let share = (at_us - t0) as f64 / (t1 - t0).max(1) as f64;
        Some(Position::new(
            p0.x + (p1.x - p0.x) * share,
            p0.y + (p1.y - p0.y) * share,
        ))
    }

    /// Whether somebody who knows this knows where `object` is, not older than its deadline.
    fn knows(&self, known: &[KnownObject], object: u32, deadline_ms: u32) -> bool {
        let now_ms = self.time_ms(self.now);
        known.iter().any(|entry| {
            let age_ms = now_ms - entry.sensed_ms;
            if age_ms > f64::from(deadline_ms) {
                return false;
            }
            let then = self.now.micros() - (age_ms * 1_000.0) as i64;
            // What was sensed a moment after the instant of the question counts, too.
            let then = then.min(self.now.micros());
            self.place(object, then)
                .is_some_and(|place| place.distance(Position::new(entry.x_m, entry.y_m)) < GATE_M)
        })
    }

    /// Asks every node that lives what it knows.
    fn ask(&mut self) -> Vec<Option<Vec<KnownObject>>> {
        for node in &mut self.nodes.all {
            node.tell(&Line::Ask {});
        }
        let now_ms = self.time_ms(self.now);
        let ahead_ms = self.ahead_ms();
        let mut all = Vec::new();
        for node in &mut self.nodes.all {
            if !node.alive {
                all.push(None);
                continue;
            }
            self.played.asked += 1;
            // An answer to an earlier question is none to this one.
            let fresh = |answer: &Answer| matches!(answer, Answer::Known { time_ms, .. } if *time_ms - ahead_ms >= now_ms);
            match node.answer(fresh) {
                Some(Answer::Known { mut objects, .. }) => {
                    for object in &mut objects {
                        object.sensed_ms -= ahead_ms;
                    }
                    all.push(Some(objects));
                }
                _ => {
                    self.played.unanswered += 1;
                    all.push(Some(Vec::new()));
                }
            }
        }
        all
    }

    /// Ends all nodes, and gives what came of it.
    pub(super) fn finish(mut self) -> Played {
        if let Some(flood) = self.flood.take() {
            self.played.flooded = flood.stop();
        }
        let now = self.counts();
        for (vehicle, (counts, resident)) in now {
            let before = self.memory.get(&vehicle).copied().unwrap_or(resident);
            self.played
                .counts
                .insert(vehicle, (counts, [before, resident]));
        }
        let mut longest = Some(0.0_f64);
        for node in self.nodes.all.iter_mut().filter(|node| node.alive) {
            longest = match (longest, node.stop()) {
                (Some(longest), Some(took)) => Some(longest.max(took)),
                _ => None,
            };
        }
        self.played.stopped_s = longest;
        self.played
    }

    fn counts(&mut self) -> BTreeMap<u32, (BTreeMap<String, u64>, u64)> {
        let mut all = BTreeMap::new();
        for node in self.nodes.all.iter_mut().filter(|node| node.alive) {
            node.tell(&Line::Count {});
            let counts = |answer: &Answer| matches!(answer, Answer::Counts { .. });
            // A busy machine gets a second chance.
            let answer = node.answer(counts).or_else(|| node.answer(counts));
            if let Some(Answer::Counts {
                counts,
                resident_kb,
                ..
            }) = answer
            {
                all.insert(node.vehicle, (counts, resident_kb));
            }
        }
        all
    }
}

impl Observer for Player<'_> {
    fn step(&mut self, view: &StepView<'_>) {
        let due = self.wall(view.now) - LEAD_US;
        let wait = due - wall_micros();
        if wait > 0 {
            std::thread::sleep(Duration::from_micros(wait as u64));
        }
        self.played.steps += 1;
        self.played.late_steps += u64::from(-wait > LEAD_US + LATE_US);
        self.now = view.now;
        if view.measured && !self.measured {
            self.measured = true;
            let counts = self.counts();
            self.memory = counts.into_iter().map(|(v, (_, kb))| (v, kb)).collect();
        }
        self.remember(view);
        let seconds = view.now.micros() as f64 * 1e-6;
        self.interfere(seconds);
        if seconds >= self.told_s + 5.0 {
            self.told_s = seconds;
            let all = self.options.warmup_s + self.options.measure_s;
            let alive = self.nodes.all.iter().filter(|node| node.alive).count();
            (self.tell)(&format!("{seconds:.0} of {all:.0} s, {alive} nodes alive"));
        }
    }

    fn wants_senses(&self) -> bool {
        true
    }

    fn senses(&mut self, now: Instant, agent: AgentId, senses: &Senses<'_>) {
        let Some(&at) = self.by_vehicle.get(&agent.0) else {
            return;
        };
        let time_ms = Some(self.time_ms(now) + self.ahead_ms());
        let state = senses.state;
        let node = &mut self.nodes.all[at];
        node.tell(&Line::State(StateLine {
            time_ms,
            x_m: Some(state.position.x),
            y_m: Some(state.position.y),
            heading_rad: Some(state.heading),
            speed_m_s: state.speed,
            size_m: Some([state.size.length, state.size.width, state.size.height]),
            ..StateLine::default()
        }));
        let Some((objects, cells)) = senses.sensed else {
            return;
        };
        let objects = objects.iter().map(|object| ObjectLine {
            // A track of the vehicle's own: nobody told it which station that is.
            id: Some((object.id.0 & 0x7FFF) as u16),
            x_m: Some(object.position.x),
            y_m: Some(object.position.y),
            velocity_m_s: [object.velocity.x, object.velocity.y],
            size_m: Some([object.size.length, object.size.width, object.size.height]),
            age_ms: now.since(object.sensed_at).seconds() * 1_000.0,
            ..ObjectLine::default()
        });
        node.tell(&Line::Sensed(SensedLine {
            time_ms,
            objects: objects.collect(),
            cells: Some(cells.iter().map(|cell| [cell.ix, cell.iy]).collect()),
        }));
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(&mut self, _: usize, now: Instant, _: Option<Tile>, message: &Message, _: u32) {
        if !self.measured {
            return;
        }
        let seconds = now.micros() as f64 * 1e-6;
        match message {
            Message::Report(report) => {
                self.played
                    .simulated_reports
                    .push((seconds, report.sender.0));
            }
            Message::Broadcast(broadcast) => {
                let tile = [broadcast.tile.tx, broadcast.tile.ty];
                self.played
                    .simulated_broadcasts
                    .push((seconds, broadcast.host.0, tile));
            }
            Message::Beacon(_) => {}
        }
    }

    fn wants_record(&self) -> bool {
        true
    }

    fn record(&mut self, _: usize, view: &CycleView<'_>) {
        let wait = self.wall(self.now) + ASK_US - wall_micros();
        if wait > 0 {
            std::thread::sleep(Duration::from_micros(wait as u64));
        }
        let known = self.ask();
        let mut tiles: BTreeMap<[i32; 2], u64> = BTreeMap::new();
        for node in &self.nodes.all {
            if let Some(place) = self.place(node.vehicle, self.now.micros())
                && let Some(tile) = Tile::containing(place, self.tile_m)
            {
                *tiles.entry([tile.tx, tile.ty]).or_default() += 1;
            }
        }
        self.played.tiles.push(tiles);
        for relevant in view.relevant {
            let Some(&node) = self.by_vehicle.get(&u64::from(relevant.vehicle)) else {
                continue;
            };
            let Some(known) = &known[node] else {
                continue;
            };
            self.played.relevant += 1;
            let knows = self.knows(known, relevant.object, relevant.deadline_ms);
            self.played.missed += u64::from(!knows);
        }
    }
}
