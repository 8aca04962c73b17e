//! The yardstick: a selector that knows who misses what, who sees it, and how good every link is, within the same bytes.
//!
//! It gets the evaluator's relevance, which nothing else in a run may see: that is why it is no policy of a host but a part of
//! the run of its own. At the end of a cycle, for each tile with participants, it chooses which participants of the tile
//! report which objects in the next cycle, by expected misses avoided per byte. Its commands are never lost; they are booked
//! as a broadcast of the tile's first reporter. It does not know the future: misses are those it expects from the present,
//! and no draw of the channel is known to it.

use std::collections::BTreeMap;

use covey_protocol::messages::{Broadcast, Content};
use covey_protocol::{AgentId, Duration};

use crate::awareness::{BeaconHistory, Stamp, Told};
use crate::shared::Shared;

/// Weight of a pair whose vehicle knows the object now: it may lose sight of it within the cycle.
const HEDGE: f64 = 0.03;
/// What is left of the budget goes to ever smaller chances, down to this one.
const LEAST_GAIN: f64 = 2e-3;

/// The selector's plan for a cycle.
#[derive(Debug, Default)]
pub(crate) struct Omniscient {
    allowance: f64,
    /// Objects to report, by reporter.
    pub(crate) plan: BTreeMap<u32, Vec<u32>>,
    /// Commands by tile: all reporters, the first of whom speaks them.
    commands: Vec<Vec<u32>>,
}

/// A relevant pair that its vehicle is expected to miss.
#[derive(Debug, Clone, Copy)]
struct Miss {
    vehicle: u32,
    left: f64,
}

/// A report of an object by somebody: how much of which misses it avoids.
struct Offer {
    reporter: u32,
    object: u32,
    /// Misses by number, and the link's success.
    heard: Vec<(u32, f64)>,
}

impl Omniscient {
    pub(crate) fn new(allowance: f64) -> Self {
        Self {
            allowance,
            ..Self::default()
        }
    }

    /// Plans the next cycle. `known` is what reports told of late, `heard` what beacons told in the arm of `lane`; beacons to
    /// come are expected to be lost as links are.
    pub(crate) fn choose(
        &mut self,
        shared: &Shared<'_>,
        known: &Told,
        heard: &BeaconHistory,
        lane: usize,
    ) {
        self.plan.clear();
        self.commands.clear();
        let p = &shared.prepared.scenario.protocol;
        let timeline = &shared.prepared.timeline;
        let budget = self.allowance * p.capacity_bytes_per_s * p.cycle_s;
        let cycle_us = i64::from(timeline.cycle) * covey_traffic::STEP_US;
        let age_us = |stamp: Stamp| {
            (stamp > 0)
                .then(|| i64::from(shared.step - shared.step_of(stamp)) * covey_traffic::STEP_US)
        };
        // Who is expected to miss what at the end of the next cycle, by object.
        let mut misses: Vec<Miss> = Vec::new();
        let mut by_object: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (vehicle, relevant) in shared.relevant.iter() {
            let vehicle = shared.places[vehicle as usize];
            let object = shared.places[relevant.object as usize];
            if !shared.participant[vehicle as usize] {
                continue;
            }
            // Who sees it now will see it then.
            let sees = age_us(shared.sensed.at(object, vehicle))
                .is_some_and(|age| age <= i64::from(timeline.beacon) * covey_traffic::STEP_US);
            let newest = known
                .at(object, vehicle)
                .max(heard.at(object, vehicle, lane));
            let told = age_us(newest).is_some_and(|age| age + cycle_us <= relevant.deadline_us);
            let mut left = if sees || told { HEDGE } else { 1.0 };
            if shared.participant[object as usize] {
                // Those to come that will be within the deadline then; those that came are known.
                let seconds = relevant.deadline_us.clamp(0, cycle_us) as f64 * 1e-6;
                let interval = p.beacon_interval_s(shared.here(object).state.speed);
                let beacons = (seconds / interval + 1e-9).floor();
                left *= (1.0 - success(shared, object, vehicle)).powf(beacons);
            }
            if left > 1e-3 {
                by_object
                    .entry(object)
                    .or_default()
                    .push(misses.len() as u32);
                misses.push(Miss { vehicle, left });
            }
        }
        let mut by_tile: BTreeMap<u32, Vec<Offer>> = BTreeMap::new();
        for &reporter in &shared.participants {
            for &object in shared.seen.of(reporter) {
                let Some(missing) = by_object.get(&object) else {
                    continue;
                };
                let heard: Vec<(u32, f64)> = missing
                    .iter()
                    .map(|&m| (m, success(shared, reporter, misses[m as usize].vehicle)))
                    .filter(|&(_, p)| p > 0.0)
                    .collect();
                if !heard.is_empty() {
                    let tile = shared.tile[reporter as usize];
                    by_tile.entry(tile).or_default().push(Offer {
                        reporter,
                        object,
                        heard,
                    });
                }
            }
        }
        for offers in by_tile.values() {
            self.fill(p, budget, offers, &mut misses);
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
        let mut spent = p.message_bytes;
        let mut taken = vec![false; offers.len()];
        let mut reporters: Vec<u32> = Vec::new();
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
    pub(crate) fn commands(&self, shared: &Shared<'_>) -> Vec<(u32, Broadcast)> {
        let now = shared.now();
        let p = &shared.prepared.scenario.protocol;
        let command = |reporters: &Vec<u32>| {
            let &speaker = reporters.first()?;
            let tile = shared.tile[speaker as usize];
            let mut contributors: Vec<AgentId> =
                reporters.iter().map(|&slot| shared.agent(slot)).collect();
            contributors.sort_unstable();
            let broadcast = Broadcast {
                host: shared.agent(speaker),
                tile: shared.prepared.tiles.tile(tile).unwrap_or_default(),
                at: now,
                position: shared.here(speaker).state.position,
                sequence: shared.step,
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

/// Chance that a message gets from one place to another, collisions apart.
fn success(shared: &Shared<'_>, from: u32, to: u32) -> f64 {
    let range = shared.links.range(from);
    let receivers = &shared.links.receivers[range.clone()];
    // Receivers ascend.
    receivers.binary_search(&to).map_or(0.0, |at| {
        // Collisions at the usual load of the channel.
        0.9 * f64::from(shared.links.links[range.start + at].success)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use covey_protocol::Parameters;

    /// Who reports what of three offers within `budget` bytes: 1 sees objects 5 and 6, 2 sees 5, heard less well.
    fn planned(budget: f64) -> BTreeMap<u32, Vec<u32>> {
        let offer = |reporter, object, miss, p| Offer {
            reporter,
            object,
            heard: vec![(miss, p)],
        };
        let offers = [
            offer(2, 5, 0, 0.5),
            offer(1, 5, 0, 0.9),
            offer(1, 6, 1, 0.8),
        ];
        let miss = |vehicle| Miss { vehicle, left: 1.0 };
        let mut omniscient = Omniscient::new(0.1);
        let mut misses = [miss(7), miss(8)];
        omniscient.fill(&Parameters::default(), budget, &offers, &mut misses);
        let named: usize = omniscient.commands.iter().map(Vec::len).sum();
        assert_eq!(named, omniscient.plan.len());
        omniscient.plan
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
