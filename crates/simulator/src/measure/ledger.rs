//! An arm's books: relevant objects that were missed, and what the air carried.

use covey_world::sight::Sighting;

use super::evaluation::{Evaluation, HeardOfPairs, Pair};
use super::events::Miss;
use super::field;
use super::ghosts::believed;
use super::knowledge::{Knowledge, age_us, in_time};
use super::matching::Places;
use crate::channel::{Air, BeaconStatistics};
use crate::ids::TileNumber;
use crate::outcome::{Binding, CycleRow, Deficit, Outcome};
use crate::world::{Stamp, World};

/// Bins of the histogram of retention scores: 0.1 each.
const RETENTION_BINS: usize = 1_000;

/// What a tile's host did in a cycle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served {
    pub(crate) tile: TileNumber,
    pub(crate) host: u64,
    pub(crate) epoch: u32,
    pub(crate) contributors: u32,
    pub(crate) price: f64,
    pub(crate) airtime_s: f64,
    pub(crate) changes: u32,
    pub(crate) binding: Binding,
}

/// One arm's books.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) outcome: Outcome,
    /// States of objects received since the last evaluation.
    pub(crate) receptions: u64,
    rows: Vec<CycleRow>,
    /// Where the rows of the newest cycle begin.
    newest: usize,
    missed: Vec<u64>,
    misses: Vec<Miss>,
}

impl Ledger {
    pub(crate) fn new(arm: String, seed: u64) -> Self {
        Self {
            outcome: Outcome {
                arm,
                seed,
                retention_scores: vec![0; RETENTION_BINS],
                ..Outcome::default()
            },
            receptions: 0,
            rows: Vec::new(),
            newest: 0,
            missed: Vec::new(),
            misses: Vec::new(),
        }
    }

    /// Books what hosts did in this cycle.
    pub(crate) fn serve(&mut self, served: &[Served]) {
        let outcome = &mut self.outcome;
        let mut tiles: Vec<TileNumber> = Vec::with_capacity(served.len());
        for host in served {
            outcome.contributors.add(f64::from(host.contributors));
            outcome.churn.add(f64::from(host.changes));
            outcome.binding[host.binding as usize] += 1;
            tiles.push(host.tile);
        }
        tiles.sort_unstable();
        for same in tiles.chunk_by(|a, b| a == b) {
            outcome.rival_hosts += u64::from(same.len() > 1);
        }
    }

    /// Evaluates a cycle.
    pub(crate) fn measure(
        &mut self,
        world: &World<'_>,
        evaluation: &mut Evaluation<'_>,
        heard: &HeardOfPairs,
        knowledge: &Knowledge<'_>,
        air: &Air,
        served: &[Served],
    ) {
        self.find_misses(world, evaluation, heard, knowledge);
        self.book_tiles(world, evaluation, air, served);
        let participants = world.road.participants().len();
        let cycle_s = world.prepared.scenario.protocol.cycle_s;
        let outcome = &mut self.outcome;
        outcome.redundancy.sum += self.receptions as f64 / cycle_s;
        outcome.redundancy.count += participants as u64;
        self.receptions = 0;
        if let Some(pool) = air.scheduled() {
            for &slot in world.road.participants() {
                outcome.cbr.add(pool.busy_ratio(slot));
                outcome.channel_occupancy.add(pool.occupancy(slot));
            }
        }
        let around = &evaluation.around;
        field::look_around(world, around, &heard.around, knowledge, outcome);
        field::count_near(world, &evaluation.near, knowledge, &mut outcome.field);
    }

    /// Rows of the newest cycle, and what participants missed in it.
    pub(crate) fn newest(&self) -> (&[CycleRow], &[Miss]) {
        (&self.rows[self.newest..], &self.misses)
    }

    fn find_misses(
        &mut self,
        world: &World<'_>,
        evaluation: &mut Evaluation<'_>,
        heard: &HeardOfPairs,
        knowledge: &Knowledge<'_>,
    ) {
        self.missed.clear();
        self.missed.resize(world.prepared.tiles.len(), 0);
        self.misses.clear();
        let mut by_provenance = 0;
        for (pair, heard) in evaluation.pairs.iter_mut().zip(&heard.pairs) {
            let told = knowledge.told_besides(world, [pair.object, pair.vehicle], heard);
            let deadline_us = pair.relevant.deadline_us;
            let known = in_time(world, told.max(pair.sensed), deadline_us);
            by_provenance += u64::from(!known);
            let right = |places: &Places| {
                let pair = [pair.vehicle, pair.object];
                places.knows(world, Some(knowledge), pair, deadline_us)
            };
            if !evaluation.places.as_ref().map_or(known, right) {
                self.missed[world.tile(pair.vehicle).index()] += 1;
                let observed = &evaluation.observed;
                let hidden = *pair.hidden.get_or_insert_with(|| {
                    let own = world.road.sensor(world.prepared, pair.vehicle);
                    observed.hidden_from(pair.at.0, own, pair.relevant.object)
                });
                self.note(world, pair, told, hidden);
            }
        }
        self.outcome.missed_by_provenance += by_provenance;
        self.outcome.field.false_alarms += believed(world, knowledge);
    }

    /// Books the loads and misses of all tiles that hold a participant, a row each.
    fn book_tiles(
        &mut self,
        world: &World<'_>,
        evaluation: &Evaluation<'_>,
        air: &Air,
        served: &[Served],
    ) {
        let outcome = &mut self.outcome;
        let mut cycle = Deficit::default();
        let capacity = world.cycle_capacity();
        self.newest = self.rows.len();
        // The first of each tile.
        let mut hosts: Vec<Option<&Served>> = vec![None; world.prepared.tiles.len()];
        for host in served.iter().rev() {
            hosts[host.tile.index()] = Some(host);
        }
        for tile in world.prepared.tiles.numbers() {
            let at = tile.index();
            let deficit = Deficit {
                relevant: evaluation.relevant[at],
                missed: self.missed[at],
            };
            cycle.relevant += deficit.relevant;
            cycle.missed += deficit.missed;
            if evaluation.participants[at] == 0 {
                continue;
            }
            let booked = air.this_cycle(tile);
            let share = |bytes: u64| bytes as f64 / capacity;
            let load = share(booked.cooperative());
            let busy = share(booked.cooperative() + booked.beacons);
            let weight = u64::from(evaluation.participants[at]);
            for (mean, bytes) in [
                (&mut outcome.load, booked.cooperative()),
                (&mut outcome.load_digest, booked.digests),
                (&mut outcome.load_reports, booked.reports),
                (&mut outcome.load_broadcast, booked.broadcasts),
                (&mut outcome.beacon_load, booked.beacons),
                (&mut outcome.busy, booked.cooperative() + booked.beacons),
            ] {
                mean.add_weighted(share(bytes), weight);
            }
            let taken = busy.min(1.0);
            outcome.field.taken.add_weighted(taken, weight);
            if let Some(taken) = air.share_of_resources(world, &booked) {
                outcome.load_resources.add_weighted(taken, weight);
            }
            outcome.load_by_tile.add(load);
            outcome.overloaded += u64::from(busy > 1.0);
            let host = hosts[at];
            if let Some(host) = host {
                outcome.price.add_weighted(host.price, weight);
            }
            let name = world.prepared.tiles.tile(tile).unwrap_or_default();
            self.rows.push(CycleRow {
                cycle: world.cycle(),
                tile: [name.tx, name.ty],
                participants: evaluation.participants[at],
                host: host.map(|h| h.host),
                epoch: host.map_or(0, |h| h.epoch),
                contributors: host.map_or(0, |h| h.contributors),
                price: host.map_or(0.0, |h| h.price),
                load,
                busy,
                airtime_s: host.map_or(0.0, |h| h.airtime_s),
                binding: host.map(|h| h.binding),
                deficit,
            });
        }
        outcome.deficit.relevant += cycle.relevant;
        outcome.deficit.missed += cycle.missed;
        outcome.deficit_all.relevant += evaluation.relevant_all;
        outcome.deficit_all.missed += cycle.missed + evaluation.missed_unequipped;
        outcome.by_cycle.push(cycle);
    }

    /// Notes a score of somebody who is kept, for the letter's rule for x.
    pub(crate) fn note_retention(&mut self, score: f64) {
        let histogram = &mut self.outcome.retention_scores;
        let last = histogram.len() - 1;
        histogram[((score * 10.0) as usize).min(last)] += 1;
    }

    /// Sorts a missed pair by why it was missed.
    fn note(&mut self, world: &World<'_>, pair: &Pair, told: Stamp, hidden: Sighting) {
        let newest = told.max(pair.sensed);
        let age = age_us(world, newest);
        let misses = &mut self.outcome.misses;
        let equipped = world.road.participates(pair.object);
        match (equipped, age.is_some()) {
            (true, true) => misses.equipped_stale += 1,
            (true, false) => misses.equipped_unknown += 1,
            (false, true) => misses.unequipped_stale += 1,
            (false, false) => misses.unequipped_unknown += 1,
        }
        match hidden {
            Sighting::Seen => {}
            Sighting::OutOfRange => misses.out_of_range += 1,
            Sighting::Vehicle => misses.behind_vehicle += 1,
            Sighting::Building => misses.behind_building += 1,
        }
        misses.ahead += u64::from(pair.relevant.reasons.ahead());
        let by_any = world.sights.by_any(pair.object);
        misses.seen_by_nobody +=
            u64::from(!equipped && !in_time(world, by_any, pair.relevant.deadline_us));
        self.misses.push(Miss {
            vehicle: world.road.id(pair.vehicle),
            object: world.road.id(pair.object),
            age_us: age,
            deadline_us: pair.relevant.deadline_us,
        });
    }

    /// The outcome and the rows of cycles.
    pub(crate) fn finish(
        mut self,
        air: &Air,
        statistics: &BeaconStatistics,
    ) -> (Outcome, Vec<CycleRow>) {
        self.outcome.traffic = air.traffic;
        self.outcome.latency = air.latency();
        self.outcome.reception.clone_from(&statistics.reception);
        self.outcome.inter_reception.clone_from(&statistics.gaps);
        (self.outcome, self.rows)
    }
}
