//! The metric: relevant objects that were missed, and what the air carried.

use covey_world::paths::RelevantObject;
use covey_world::sight::{Observed, Sighting};

use crate::air::{Air, BeaconStatistics};
use crate::awareness::{BeaconHistory, Stamp, Told};
use crate::calibrate::Margins;
use crate::hosted::Served;
use crate::observe::{Miss, Observer};
use crate::outcome::{CycleRow, Deficit, Outcome};
use crate::recording::{self, OwnSight, Relation, Relevant, Source};
use crate::shared::Shared;

/// Bins of the histogram of retention scores: 0.1 each.
const RETENTION_BINS: usize = 1_000;
/// Environmental awareness looks as far as this, in metres, and this often, in cycles.
const AWARENESS_M: f64 = 150.0;
const AWARENESS_EVERY: u32 = 5;

/// Who was there in the measured window.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    vehicles: Vec<bool>,
    participants: Vec<bool>,
    tiles: Vec<bool>,
}

impl Presence {
    pub(crate) fn note(&mut self, shared: &Shared<'_>) {
        for (vehicle, &slot) in shared.frame.vehicles.iter().zip(&shared.places) {
            let id = vehicle.id.0 as usize;
            if self.vehicles.len() <= id {
                self.vehicles.resize(id + 1, false);
                self.participants.resize(id + 1, false);
            }
            self.vehicles[id] = true;
            if shared.participant[slot as usize] {
                self.participants[id] = true;
                let tile = shared.tile[slot as usize] as usize;
                if self.tiles.len() <= tile {
                    self.tiles.resize(tile + 1, false);
                }
                self.tiles[tile] = true;
            }
        }
    }

    pub(crate) fn vehicles(&self) -> u64 {
        count(&self.vehicles)
    }

    pub(crate) fn participants(&self) -> u64 {
        count(&self.participants)
    }

    pub(crate) fn tiles(&self) -> u64 {
        count(&self.tiles)
    }
}

fn count(flags: &[bool]) -> u64 {
    flags.iter().filter(|&&flag| flag).count() as u64
}

/// What an arm's participants know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Knowledge<'a> {
    pub(crate) beacons: &'a BeaconHistory,
    pub(crate) lane: usize,
    pub(crate) told: &'a Told,
    pub(crate) oracle: bool,
}

impl Knowledge<'_> {
    /// The newest step of which `receiver` has a state of `object`, its own sensing apart.
    pub(crate) fn told(&self, shared: &Shared<'_>, object: u32, receiver: u32) -> Stamp {
        let heard = self.beacons.at(object, receiver, self.lane);
        let told = heard.max(self.told.at(object, receiver));
        if !self.oracle {
            return told;
        }
        let itself = if shared.participant[object as usize] {
            shared.stamp(shared.step)
        } else {
            0
        };
        told.max(itself).max(shared.sensed_by_any[object as usize])
    }
}

impl Knowledge<'_> {
    /// What participants know of each object that matters to them, for whoever records; by vehicle, then object.
    ///
    /// `reported` tells reports from broadcasts; without it everything that is no beacon counts as a report.
    pub(crate) fn record(
        &self,
        shared: &Shared<'_>,
        evaluation: &Evaluation<'_>,
        reported: Option<&Told>,
    ) -> (Vec<Relevant>, Vec<recording::Knowledge>) {
        let mut list = Vec::new();
        for (place, relevant) in shared.relevant.iter() {
            let vehicle = shared.places[place as usize];
            let object = shared.places[relevant.object as usize];
            if !shared.participant[vehicle as usize] {
                continue;
            }
            let sensed = shared.sensed.at(object, vehicle);
            let told = self.told(shared, object, vehicle);
            let newest = sensed.max(told);
            let in_time_at = |stamp| in_time(shared, stamp, relevant.deadline_us);
            let hidden = if in_time_at(sensed) {
                Sighting::Seen
            } else {
                evaluation.observed.hidden_by(place, relevant.object)
            };
            let age = age_us(shared, newest);
            let source = if age.is_none() {
                Source::Unknown
            } else if sensed == newest {
                Source::Sensing
            } else if self.beacons.at(object, vehicle, self.lane) == newest {
                Source::Beacon
            } else if reported.is_none_or(|reported| reported.at(object, vehicle) == newest) {
                Source::Report
            } else {
                Source::Broadcast
            };
            let missed = !in_time_at(newest);
            let silent = !shared.participant[object as usize]
                && !in_time_at(shared.sensed_by_any[object as usize]);
            list.push((
                Relevant {
                    vehicle: shared.slots.id(vehicle),
                    object: shared.slots.id(object),
                    deadline_ms: (relevant.deadline_us / 1000).clamp(0, i64::from(u32::MAX)) as u32,
                    relation: if relevant.reasons.ahead() {
                        Relation::Ahead
                    } else {
                        Relation::Crossing
                    },
                    sight: match hidden {
                        Sighting::Seen => OwnSight::Visible,
                        Sighting::Building => OwnSight::Building,
                        Sighting::Vehicle => OwnSight::Vehicle,
                        Sighting::OutOfRange => OwnSight::Range,
                    },
                },
                recording::Knowledge {
                    source,
                    age_ms: age.map_or(0, |age| (age / 1000) as u32),
                    missed,
                    seen_by_nobody: missed && silent,
                    from: None,
                },
            ));
        }
        list.sort_by_key(|(pair, _)| (pair.vehicle, pair.object));
        list.into_iter().unzip()
    }
}

/// A relevant pair that the vehicle's own sensors do not tell of in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) vehicle: u32,
    pub(crate) object: u32,
    pub(crate) relevant: RelevantObject,
    sensed: Stamp,
    /// Why the vehicle does not see the object; found when an arm misses it.
    hidden: Option<Sighting>,
}

/// What all arms share of one evaluation: relevant pairs that need more than own sensing.
#[derive(Debug)]
pub(crate) struct Evaluation<'a> {
    pub(crate) observed: Observed<'a>,
    /// Relevant pairs of participants by tile, and of all vehicles.
    relevant: Vec<u64>,
    relevant_all: u64,
    /// Missed by vehicles without a radio, whatever the arm.
    missed_unequipped: u64,
    pub(crate) pairs: Vec<Pair>,
    /// Participants by tile.
    participants: Vec<u32>,
    /// Participants whose surroundings are looked at in this cycle, each with everyone around it.
    around: Vec<(u32, u32)>,
}

/// The age of a stamp is within the deadline, and it is not forgotten.
pub(crate) fn in_time(shared: &Shared<'_>, stamp: Stamp, deadline_us: i64) -> bool {
    age_us(shared, stamp).is_some_and(|age| age <= deadline_us)
}

/// How old a stamp is; none where it is nothing or forgotten.
pub(crate) fn age_us(shared: &Shared<'_>, stamp: Stamp) -> Option<i64> {
    if stamp == 0 {
        return None;
    }
    let age = shared.step - shared.step_of(stamp);
    (age <= shared.prepared.timeline.soft_state).then(|| i64::from(age) * covey_traffic::STEP_US)
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(shared: &'a Shared<'_>) -> Self {
        let tiles = shared.prepared.tiles.len();
        let mut evaluation = Self {
            observed: shared.prepared.sight.observe(&shared.frame.vehicles),
            relevant: vec![0; tiles],
            relevant_all: 0,
            missed_unequipped: 0,
            pairs: Vec::new(),
            participants: vec![0; tiles],
            around: Vec::new(),
        };
        for (vehicle, relevant) in shared.relevant.iter() {
            let vehicle = shared.places[vehicle as usize];
            let object = shared.places[relevant.object as usize];
            let sensed = shared.sensed.at(object, vehicle);
            let seen = in_time(shared, sensed, relevant.deadline_us);
            evaluation.relevant_all += 1;
            if !shared.participant[vehicle as usize] {
                evaluation.missed_unequipped += u64::from(!seen);
                continue;
            }
            evaluation.relevant[shared.tile[vehicle as usize] as usize] += 1;
            if !seen {
                evaluation.pairs.push(Pair {
                    vehicle,
                    object,
                    relevant: *relevant,
                    sensed,
                    hidden: None,
                });
            }
        }
        let cycle = shared.step / shared.prepared.timeline.cycle;
        let one_in = u64::from(shared.prepared.scenario.evaluation.sample_one_in);
        for &slot in &shared.participants {
            evaluation.participants[shared.tile[slot as usize] as usize] += 1;
            if cycle.is_multiple_of(AWARENESS_EVERY)
                && (shared.agent(slot).mixed() >> 4).is_multiple_of(one_in)
            {
                let here = shared.here(slot).truth();
                let near = |&other: &u32| {
                    other != slot && shared.here(other).truth().distance(here) <= AWARENESS_M
                };
                let others = shared.places.iter().copied().filter(near);
                evaluation.around.extend(others.map(|other| (slot, other)));
            }
        }
        evaluation
    }
}

/// Adds all relevant pairs of participants to the margins that they need.
pub(crate) fn by_margin(shared: &Shared<'_>, knowledge: &Knowledge<'_>, margins: &mut Margins) {
    for (vehicle, relevant) in shared.relevant.iter() {
        let vehicle = shared.places[vehicle as usize];
        if shared.participant[vehicle as usize] {
            let object = shared.places[relevant.object as usize];
            let told = knowledge.told(shared, object, vehicle);
            let newest = told.max(shared.sensed.at(object, vehicle));
            let missed = !in_time(shared, newest, relevant.deadline_us);
            margins.add(relevant.least_margin, missed);
        }
    }
}

/// One arm's books.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) outcome: Outcome,
    /// States of objects received since the last evaluation.
    pub(crate) receptions: u64,
    rows: Vec<CycleRow>,
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
            missed: Vec::new(),
            misses: Vec::new(),
        }
    }

    /// Books what hosts did in this cycle.
    pub(crate) fn serve(&mut self, served: &[Served]) {
        let outcome = &mut self.outcome;
        let mut tiles: Vec<u32> = Vec::with_capacity(served.len());
        for host in served {
            outcome.price.add(host.price);
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
    #[expect(
        clippy::too_many_arguments,
        reason = "an arm's whole state, borrowed part by part"
    )]
    pub(crate) fn measure(
        &mut self,
        shared: &Shared<'_>,
        evaluation: &mut Evaluation<'_>,
        knowledge: &Knowledge<'_>,
        air: &Air,
        served: &[Served],
        number: usize,
        observer: &mut dyn Observer,
    ) {
        let tiles = shared.prepared.tiles.len();
        self.missed.clear();
        self.missed.resize(tiles, 0);
        self.misses.clear();
        for pair in &mut evaluation.pairs {
            let told = knowledge.told(shared, pair.object, pair.vehicle);
            if !in_time(shared, told, pair.relevant.deadline_us) {
                self.missed[shared.tile[pair.vehicle as usize] as usize] += 1;
                let hidden = *pair.hidden.get_or_insert_with(|| {
                    let at = |slot: u32| shared.index[slot as usize];
                    evaluation
                        .observed
                        .hidden_by(at(pair.vehicle), at(pair.object))
                });
                self.note(shared, pair, told, hidden);
            }
        }
        let outcome = &mut self.outcome;
        let mut cycle = Deficit::default();
        let capacity = shared.cycle_capacity();
        let begin = self.rows.len();
        for tile in 0..tiles as u32 {
            let at = tile as usize;
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
            outcome.load.add(load);
            outcome.load_digest.add(share(booked.digests));
            outcome.load_reports.add(share(booked.reports));
            outcome.load_broadcast.add(share(booked.broadcasts));
            outcome.beacon_load.add(share(booked.beacons));
            outcome.busy.add(busy);
            outcome.overloaded += u64::from(busy > 1.0);
            let host = served.iter().find(|host| host.tile == tile);
            let name = shared.prepared.tiles.tile(tile).unwrap_or_default();
            self.rows.push(CycleRow {
                cycle: shared.step / shared.prepared.timeline.cycle,
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
        let participants = shared.participants.len();
        let cycle_s = shared.prepared.scenario.protocol.cycle_s;
        outcome.redundancy.sum += self.receptions as f64 / cycle_s;
        outcome.redundancy.count += participants as u64;
        self.receptions = 0;
        self.look_around(shared, evaluation, knowledge);
        observer.cycle(number, &self.rows[begin..], &self.misses);
    }

    /// Sorts a missed pair by why it was missed.
    fn note(&mut self, shared: &Shared<'_>, pair: &Pair, told: Stamp, hidden: Sighting) {
        let newest = told.max(pair.sensed);
        let age = age_us(shared, newest);
        let misses = &mut self.outcome.misses;
        let equipped = shared.participant[pair.object as usize];
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
        let by_any = shared.sensed_by_any[pair.object as usize];
        misses.seen_by_nobody +=
            u64::from(!equipped && !in_time(shared, by_any, pair.relevant.deadline_us));
        self.misses.push(Miss {
            vehicle: shared.slots.id(pair.vehicle),
            object: shared.slots.id(pair.object),
            age_us: age,
            deadline_us: pair.relevant.deadline_us,
        });
    }

    /// Environmental awareness of the sampled participants.
    fn look_around(
        &mut self,
        shared: &Shared<'_>,
        evaluation: &Evaluation<'_>,
        knowledge: &Knowledge<'_>,
    ) {
        for &(slot, other) in &evaluation.around {
            self.outcome.aware[1] += 1;
            let told = knowledge.told(shared, other, slot);
            let newest = told.max(shared.sensed.at(other, slot));
            if let Some(age) = age_us(shared, newest) {
                self.outcome.aware[0] += 1;
                self.outcome.age.add(age as f64 * 1e-6);
            }
        }
    }

    /// The outcome and the rows of cycles.
    pub(crate) fn finish(
        mut self,
        air: &Air,
        statistics: &BeaconStatistics,
    ) -> (Outcome, Vec<CycleRow>) {
        self.outcome.traffic = air.traffic;
        self.outcome.reception.clone_from(&statistics.reception);
        self.outcome.inter_reception.clone_from(&statistics.gaps);
        (self.outcome, self.rows)
    }
}
