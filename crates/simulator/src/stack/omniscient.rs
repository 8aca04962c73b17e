//! The yardstick: a selector that knows who misses what, who sees it, and how good every link is, within the same bytes.
//!
//! It gets the evaluator's relevance, which nothing else in a run may see: that is why it is no policy of a host but a part of
//! the run of its own. At the end of a cycle, for each tile with participants, it chooses which participants of the tile
//! report which objects in the next cycle, by expected misses avoided per byte. Its commands are never lost; they are booked
//! as a broadcast of the tile's first reporter. It does not know the future: misses are those it expects from the present,
//! and no draw of the channel is known to it.

use std::collections::BTreeMap;

use covey_protocol::messages::{Broadcast, Content, Message};
use covey_protocol::{AgentId, Duration};

use super::reports::SentReports;
use super::{Stack, Turn};
use crate::channel::{BeaconHistory, Class, Parcel, Told};
use crate::ids::{FrameIndex, Lane, Slot, TileNumber};
use crate::world::{Stamp, World};

/// Weight of a pair whose vehicle knows the object now: it may lose sight of it within the cycle.
const HEDGE: f64 = 0.03;
/// What is left of the budget goes to ever smaller chances, down to this one.
const LEAST_GAIN: f64 = 2e-3;

/// The selector's plan for a cycle.
#[derive(Debug, Default)]
pub(crate) struct Omniscient {
    allowance: f64,
    /// Objects to report, by reporter.
    plan: BTreeMap<Slot, Vec<Slot>>,
    /// Commands by tile: all reporters, the first of whom speaks them.
    commands: Vec<Vec<Slot>>,
    reports: SentReports,
}

/// A relevant pair that its vehicle is expected to miss.
#[derive(Debug, Clone, Copy)]
struct Miss {
    vehicle: Slot,
    left: f64,
}

/// A report of an object by somebody: how much of which misses it avoids.
struct Offer {
    reporter: Slot,
    object: Slot,
    /// Misses by number, and the link's success.
    heard: Vec<(u32, f64)>,
}

impl Stack for Omniscient {
    fn wants_relevance(&self) -> bool {
        true
    }

    fn report(&mut self, turn: &mut Turn<'_>) {
        let (world, clock) = (turn.stage.world, turn.stage.clock);
        self.reports.clear(world);
        let thinning = Class::Report.thinning(world);
        for (&slot, objects) in &self.plan {
            if clock.reports(world, slot) && world.road.participates(slot) {
                // What it no longer sees it cannot report.
                let seen = world.sights.seen.of(slot);
                let objects = objects.iter().copied();
                let objects: Vec<Slot> = objects.filter(|object| seen.contains(object)).collect();
                let told = (objects, Vec::new());
                self.reports.send(turn, &thinning, slot, told, true);
            }
        }
    }

    fn tell_reports(&self, turn: &mut Turn<'_>) {
        self.reports.tell(turn);
    }

    fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        self.reports.deliver(turn, carried);
    }

    fn arrive(&mut self, turn: &mut Turn<'_>) {
        self.reports.arrive(turn);
    }

    fn wait(&mut self, turn: &mut Turn<'_>) {
        self.reports.wait(turn);
    }

    fn decide(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        if turn.stage.relevance_known {
            self.choose(world, turn.told, &turn.beacons.heard, turn.lane);
        }
        turn.air.clear_offers();
        let thinning = Class::Broadcast.thinning(world);
        for (slot, broadcast) in self.commands(world) {
            let certificate = turn.air.certificate(world, Class::Broadcast, slot);
            let bytes = turn.stage.sizes.broadcast(&broadcast, certificate);
            let parcel = Parcel::broadcast(slot, bytes);
            turn.air.offer(world, &thinning, parcel);
            if turn.observer.wants_messages() {
                turn.tell_offered(slot, &Message::Broadcast(broadcast), bytes);
            }
        }
        turn.air.carry();
    }
}

impl Omniscient {
    pub(crate) fn new(allowance: f64, cycle: u32) -> Self {
        Self {
            allowance,
            reports: SentReports::every(cycle),
            ..Self::default()
        }
    }

    /// Plans the next cycle. `known` is what reports told of late, `heard` what beacons told in the arm of `lane`; beacons to
    /// come are expected to be lost as links are.
    fn choose(&mut self, world: &World<'_>, known: &Told, heard: &BeaconHistory, lane: Lane) {
        self.plan.clear();
        self.commands.clear();
        let p = &world.prepared.scenario.protocol;
        let budget = self.allowance * p.capacity_bytes_per_s * p.cycle_s;
        let mut missing = Missing::expected(world, known, heard, lane);
        for offers in missing.offers(world).values() {
            self.fill(p, budget, offers, &mut missing.misses);
        }
    }

    /// Greedy by misses avoided per byte; the first object of a reporter pays for its message.
    fn fill(
        &mut self,
        p: &covey_protocol::Parameters,
        budget: f64,
        offers: &[Offer],
        misses: &mut [Miss],
    ) {
        let mut spent = p.empty_bytes();
        let mut taken = vec![false; offers.len()];
        let mut reporters: Vec<Slot> = Vec::new();
        loop {
            let mut best: Option<(f64, usize, f64)> = None;
            for (k, offer) in offers.iter().enumerate() {
                if taken[k] {
                    continue;
                }
                let mut bytes = p.object_bytes;
                if !reporters.contains(&offer.reporter) {
                    bytes += p.report_bytes(0.0) + p.contributor_bytes;
                }
                if spent + bytes > budget {
                    continue;
                }
                let gain: f64 = offer
                    .heard
                    .iter()
                    .map(|&(m, p)| misses[m as usize].left * p)
                    .sum();
                if gain > LEAST_GAIN && best.is_none_or(|(most, ..)| gain / bytes > most) {
                    best = Some((gain / bytes, k, bytes));
                }
            }
            let Some((_, k, bytes)) = best else { break };
            taken[k] = true;
            spent += bytes;
            let offer = &offers[k];
            if !reporters.contains(&offer.reporter) {
                reporters.push(offer.reporter);
            }
            for &(m, p) in &offer.heard {
                misses[m as usize].left *= 1.0 - p;
            }
            self.plan
                .entry(offer.reporter)
                .or_default()
                .push(offer.object);
        }
        if !reporters.is_empty() {
            reporters.sort_unstable();
            self.commands.push(reporters);
        }
    }

    /// What is said to reporters, by whom.
    fn commands(&self, world: &World<'_>) -> Vec<(Slot, Broadcast)> {
        let now = world.now();
        let p = &world.prepared.scenario.protocol;
        let command = |reporters: &Vec<Slot>| {
            let &speaker = reporters.first()?;
            let tile = world.tile(speaker);
            let mut contributors: Vec<AgentId> =
                reporters.iter().map(|&slot| world.agent(slot)).collect();
            contributors.sort_unstable();
            let broadcast = Broadcast {
                host: world.agent(speaker),
                tile: world.prepared.tiles.tile(tile).unwrap_or_default(),
                at: now,
                position: world.here(speaker).state.position,
                sequence: world.step().0,
                epoch: 0,
                tenure: Duration::ZERO,
                price: 0.0,
                cycle_start: now - Duration::from_seconds(p.decision_phase_s),
                contributors,
                lease: Duration::from_seconds(p.cycle_s),
                content: Content::AllVisible,
                requested: Vec::new(),
                full: false,
                objects: Vec::new(),
                withdrawn: Vec::new(),
                unchanged_since: now,
            };
            Some((speaker, broadcast))
        };
        self.commands.iter().filter_map(command).collect()
    }
}

/// Who is expected to miss what at the end of the next cycle.
#[derive(Default)]
struct Missing {
    misses: Vec<Miss>,
    /// Numbers of misses by object.
    by_object: BTreeMap<Slot, Vec<u32>>,
}

impl Missing {
    fn expected(world: &World<'_>, known: &Told, heard: &BeaconHistory, lane: Lane) -> Self {
        let p = &world.prepared.scenario.protocol;
        let timeline = &world.prepared.timeline;
        let cycle_us = i64::from(timeline.cycle) * covey_traffic::STEP_US;
        let age_us = |stamp: Stamp| Some(i64::from(world.age(stamp)?) * covey_traffic::STEP_US);
        let mut missing = Self::default();
        for (vehicle, relevant) in world.relevant().iter() {
            let vehicle = world.road.at(FrameIndex(vehicle));
            let object = world.road.at(FrameIndex(relevant.object));
            if !world.road.participates(vehicle) {
                continue;
            }
            // Who sees it now will see it then.
            let sees = age_us(world.sights.sensed.at(object, vehicle))
                .is_some_and(|age| age <= i64::from(timeline.beacon) * covey_traffic::STEP_US);
            let newest = known
                .at(object, vehicle)
                .max(heard.at(object, vehicle, lane));
            let told = age_us(newest).is_some_and(|age| age + cycle_us <= relevant.deadline_us);
            let mut left = if sees || told { HEDGE } else { 1.0 };
            if world.road.participates(object) {
                // Those to come that will be within the deadline then; those that came are known.
                let seconds = relevant.deadline_us.clamp(0, cycle_us) as f64 * 1e-6;
                let interval = p.beacon_interval_s(world.here(object).state.speed);
                let beacons = (seconds / interval + 1e-9).floor();
                left *= (1.0 - success(world, object, vehicle)).powf(beacons);
            }
            if left > 1e-3 {
                let number = missing.misses.len() as u32;
                missing.by_object.entry(object).or_default().push(number);
                missing.misses.push(Miss { vehicle, left });
            }
        }
        missing
    }

    /// What participants could report of it, by their tile.
    fn offers(&self, world: &World<'_>) -> BTreeMap<TileNumber, Vec<Offer>> {
        let mut by_tile: BTreeMap<TileNumber, Vec<Offer>> = BTreeMap::new();
        for &reporter in world.road.participants() {
            for &object in world.sights.seen.of(reporter) {
                let Some(missing) = self.by_object.get(&object) else {
                    continue;
                };
                let heard: Vec<(u32, f64)> = missing
                    .iter()
                    .map(|&m| (m, success(world, reporter, self.misses[m as usize].vehicle)))
                    .filter(|&(_, p)| p > 0.0)
                    .collect();
                if !heard.is_empty() {
                    let tile = world.tile(reporter);
                    by_tile.entry(tile).or_default().push(Offer {
                        reporter,
                        object,
                        heard,
                    });
                }
            }
        }
        by_tile
    }
}

/// Chance that a message gets from one place to another, collisions apart.
fn success(world: &World<'_>, from: Slot, to: Slot) -> f64 {
    let range = world.links.range(from);
    let receivers = &world.links.receivers[range.clone()];
    // Receivers ascend.
    receivers.binary_search(&to).map_or(0.0, |at| {
        // Collisions at the usual load of the channel.
        0.9 * f64::from(world.links.links[range.start + at].success)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use covey_protocol::Parameters;

    /// Who reports what of three offers within `budget` bytes: 1 sees objects 5 and 6, 2 sees 5, heard less well.
    fn planned(budget: f64) -> BTreeMap<u32, Vec<u32>> {
        let offer = |reporter, object, miss, p| Offer {
            reporter: Slot(reporter),
            object: Slot(object),
            heard: vec![(miss, p)],
        };
        let offers = [
            offer(2, 5, 0, 0.5),
            offer(1, 5, 0, 0.9),
            offer(1, 6, 1, 0.8),
        ];
        let miss = |vehicle| Miss {
            vehicle: Slot(vehicle),
            left: 1.0,
        };
        let mut omniscient = Omniscient::new(0.1, 4);
        let mut misses = [miss(7), miss(8)];
        omniscient.fill(&Parameters::default(), budget, &offers, &mut misses);
        let named: usize = omniscient.commands.iter().map(Vec::len).sum();
        assert_eq!(named, omniscient.plan.len());
        let numbers = |objects: Vec<Slot>| objects.iter().map(|object| object.0).collect();
        let plan = omniscient.plan.into_iter();
        plan.map(|(slot, objects)| (slot.0, numbers(objects)))
            .collect()
    }

    #[test]
    fn the_yardstick_fills_its_budget_by_misses_avoided_per_byte() {
        // The broadcast's header, then a report of 160 bytes with its list entry and 35 for each object.
        assert!(planned(121.0 + 190.0).is_empty());
        assert_eq!(planned(121.0 + 195.0), BTreeMap::from([(1, vec![5])]));
        let both = BTreeMap::from([(1, vec![5, 6])]);
        assert_eq!(planned(121.0 + 230.0), both);
        // What is left over goes to the second best teller of what one of ten still misses.
        let all = BTreeMap::from([(1, vec![5, 6]), (2, vec![5])]);
        assert_eq!(planned(1_000.0), all);
    }
}
