//! What a run says in the end: counts, not opinions. Ratios are formed by whoever reads them.

use std::collections::BTreeMap;

pub use covey_protocol::admission::Binding;
use serde::{Deserialize, Serialize};

/// Distance bins of the reception statistics, 25 m each, from 0 m on.
pub const DISTANCE_BINS: usize = 20;
/// Width of a distance bin, in metres.
pub const DISTANCE_BIN_M: f64 = 25.0;

/// A sum and how many went into it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Mean {
    /// Sum of the values.
    pub sum: f64,
    /// How many values.
    pub count: u64,
}

impl Mean {
    /// One value more.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// One value that counts as `weight`.
    pub fn add_weighted(&mut self, value: f64, weight: u64) {
        self.sum += value * weight as f64;
        self.count += weight;
    }

    /// The mean; none of nothing.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Relevant objects and those missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Deficit {
    /// Decision-relevant pairs of vehicle and object, over all cycles.
    pub relevant: u64,
    /// Those unknown or staler than the reaction deadline.
    pub missed: u64,
}

impl Deficit {
    /// Missed over relevant; none of nothing.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.relevant > 0).then(|| self.missed as f64 / self.relevant as f64)
    }
}

/// Why relevant objects were missed. Counts of missed pairs of participants; the first four add up to all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Misses {
    /// The object has a radio; its state was known once but is too old.
    pub equipped_stale: u64,
    /// The object has a radio; nothing of it was known.
    pub equipped_unknown: u64,
    /// The object has no radio; its state was known once but is too old.
    pub unequipped_stale: u64,
    /// The object has no radio; nothing of it was known.
    pub unequipped_unknown: u64,
    /// Of all: the vehicle's own view is blocked by a building.
    pub behind_building: u64,
    /// Of all: the vehicle's own view is blocked by another vehicle.
    pub behind_vehicle: u64,
    /// Of all: beyond the range of the vehicle's sensor.
    pub out_of_range: u64,
    /// Of all: the object is ahead on the vehicle's path (others cross or merge).
    pub ahead: u64,
    /// Of all: no participant saw the object or heard it speak within the deadline; no policy could have helped.
    pub seen_by_nobody: u64,
}

impl Misses {
    /// The misses of another run, count by count.
    pub fn add(&mut self, other: &Self) {
        // Taken apart, so that a new count cannot be forgotten here.
        let Self {
            equipped_stale,
            equipped_unknown,
            unequipped_stale,
            unequipped_unknown,
            behind_building,
            behind_vehicle,
            out_of_range,
            ahead,
            seen_by_nobody,
        } = other;
        self.equipped_stale += equipped_stale;
        self.equipped_unknown += equipped_unknown;
        self.unequipped_stale += unequipped_stale;
        self.unequipped_unknown += unequipped_unknown;
        self.behind_building += behind_building;
        self.behind_vehicle += behind_vehicle;
        self.out_of_range += out_of_range;
        self.ahead += ahead;
        self.seen_by_nobody += seen_by_nobody;
    }
}

/// What one message class did on the air. Every (message, receiver in range) pair is in exactly one of the last three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Messages offered.
    pub messages: u64,
    /// Bytes offered.
    pub bytes: u64,
    /// Pairs of message and receiver in range.
    pub in_range: u64,
    /// Pairs delivered.
    pub delivered: u64,
    /// Pairs lost because the message was not carried: thinned or over the cap.
    pub thinned: u64,
    /// Pairs lost on the way: block errors, collisions, half duplex.
    pub lost: u64,
}

/// Within these distances, in metres, participants are asked what they know of others.
pub const AWARENESS_M: [f64; 3] = [100.0, 200.0, 300.0];

/// What papers of the field report (docs/metrics.md), of the sampled participants where nothing else is said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldMetrics {
    /// Other vehicles within each of [`AWARENESS_M`] that participants know of, and all of them.
    pub aware: [[u64; 2]; 3],
    /// Ages of what participants hold of others within 150 m that they know of: a histogram in steps of 0.05 s.
    pub ages: Vec<u64>,
    /// Times within a second that an object within 200 m was received beyond the first, by object that was received at all.
    pub redundancy: Mean,
    /// Share of the channel taken, by tile and cycle weighted as the load: all bytes offered over capacity, at most 1.
    pub taken: Mean,
    /// Pairs of a cycle below 1.5 s to collision of which one did not know of the other in time, and all of them with a
    /// participant. Of all participants.
    pub near: [u64; 2],
    /// Objects that are not there and are believed to be relevant in time, by participant and cycle. Of all participants.
    pub false_alarms: u64,
}

impl FieldMetrics {
    /// One more age.
    pub(crate) fn add_age(&mut self, steps: u32) {
        let at = steps as usize;
        if self.ages.len() <= at {
            self.ages.resize(at + 1, 0);
        }
        self.ages[at] += 1;
    }
}

/// One arm on one seed, in the measured window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// The arm's name, with its allowance.
    pub arm: String,
    /// What all random draws of the run begin with.
    pub seed: u64,
    /// Over participants: the letter's primary metric.
    pub deficit: Deficit,
    /// Over all vehicles, those without a radio included.
    pub deficit_all: Deficit,
    /// Of the relevant pairs of participants, those of which no state came in time from the object itself or from somebody who saw it,
    /// however wrong: the same as missed where there are no errors.
    pub missed_by_provenance: u64,
    /// Where misses come from.
    pub misses: Misses,
    /// Cooperative bytes offered over capacity, by (tile, cycle), each as often as participants are in it: the load that a
    /// participant meets.
    pub load: Mean,
    /// The same with every (tile, cycle) that holds a participant counted once.
    pub load_by_tile: Mean,
    /// The part of digests in `load`.
    pub load_digest: Mean,
    /// The part of reports.
    pub load_reports: Mean,
    /// The part of host broadcasts.
    pub load_broadcast: Mean,
    /// Bytes of mandatory beacons over capacity, weighted as `load`.
    pub beacon_load: Mean,
    /// All bytes over capacity, weighted as `load`.
    pub busy: Mean,
    /// Subchannels that cooperative messages take, over all of a cycle, weighted as `load`: where slots are simulated.
    pub load_resources: Mean,
    /// Busy ratio as participants measure it, by participant and cycle: where slots are simulated.
    pub cbr: Mean,
    /// Share of the channel that a participant itself takes over a second, likewise.
    pub channel_occupancy: Mean,
    /// Seconds from offer to arrival of messages, likewise.
    pub latency: Mean,
    /// (tile, cycle) whose whole load passes capacity.
    pub overloaded: u64,
    /// The congestion price, by (tile, cycle) with a host, weighted as `load`.
    pub price: Mean,
    /// Contributors, the host not counted, by (tile, cycle) with a host.
    pub contributors: Mean,
    /// Changes of the contributor set, by (tile, cycle) with a host.
    pub churn: Mean,
    /// Hosts that took office.
    pub host_changes: u64,
    /// (tile, cycle) with two hosts or more.
    pub rival_hosts: u64,
    /// Bytes of a digest, by digest sent.
    pub digest_bytes: Mean,
    /// How often each constraint bound a host's decision, in the order of [`Binding`].
    pub binding: [u64; 6],
    /// Positive retention scores of contributors, for the letter's rule for x: a histogram in steps of 0.1 up to 100.
    pub retention_scores: Vec<u64>,
    /// Beacons, reports, broadcasts.
    pub traffic: [Traffic; 3],
    /// Beacon pairs in range and delivered by distance, of the sampled senders.
    pub reception: Vec<[u64; 2]>,
    /// Time between two beacons received of the same sender by distance, in seconds, of the sampled senders.
    pub inter_reception: Vec<Mean>,
    /// Age of what participants hold of others within sensing range that they know of, in seconds.
    pub age: Mean,
    /// Other vehicles within 150 m that participants know of (at most 1 s old), and all of them: environmental awareness.
    pub aware: [u64; 2],
    /// Times an object was received per second and participant, by beacon, report or broadcast.
    pub redundancy: Mean,
    /// The metrics of the field.
    pub field: FieldMetrics,
    /// Cells of 5 m on the own paths of sampled participants seen in time, and all of them: reading 40.
    pub path_cells: [u64; 2],
    /// Deficit by cycle of the measured window.
    pub by_cycle: Vec<Deficit>,
    /// Misses cured over the score that the contributor had: score at its admission or retention, and misses cured in the cycle
    /// after; of one cycle in eleven.
    pub cured: Vec<[f64; 2]>,
}

/// A row of the table of cycles: one (tile, cycle) of one arm and seed that holds a participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleRow {
    /// Cycle number from the beginning of the run.
    pub cycle: u32,
    /// Tile column and row.
    pub tile: [i32; 2],
    /// Participants in the tile.
    pub participants: u32,
    /// The host, if any.
    pub host: Option<u64>,
    /// How many changes of its set the host counts; 0 without a host.
    pub epoch: u32,
    /// Contributors, the host not counted.
    pub contributors: u32,
    /// The congestion price.
    pub price: f64,
    /// Cooperative bytes offered over capacity.
    pub load: f64,
    /// All bytes offered over capacity.
    pub busy: f64,
    /// Airtime of the cycle as the host planned it, in seconds.
    pub airtime_s: f64,
    /// What bound the decision, where there is a host.
    pub binding: Option<Binding>,
    /// Relevant pairs of participants in the tile, and missed ones.
    pub deficit: Deficit,
}

/// What all arms of a seed share.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedOutcome {
    /// What all random draws of the run begin with.
    pub seed: u64,
    /// Distinct vehicles present in the measured window; persons on foot are none.
    pub vehicles: u64,
    /// Distinct participants present in the measured window.
    pub participants: u64,
    /// Tiles that held a participant in the measured window.
    pub tiles: u64,
    /// Mean speed in the measured window, in m/s.
    pub speed: Mean,
    /// By class that was there in the measured window: how many, and how many of them with a radio.
    pub classes: BTreeMap<String, [u64; 2]>,
}

/// Seconds by phase of a run, as the clock of the thread that ran it tells: CPU time where nothing else wants the core.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Vehicle motion.
    pub traffic_s: f64,
    /// Visible objects and cells.
    pub sight_s: f64,
    /// Link states and fading.
    pub links_s: f64,
    /// Relevance and risk priors.
    pub paths_s: f64,
    /// Beacon delivery of all arms.
    pub beacons_s: f64,
    /// Reports, hosts and awareness of all arms.
    pub arms_s: f64,
    /// Comparing what is relevant with what is known, in all arms.
    pub metric_s: f64,
}

impl Timing {
    /// The time of another run, phase by phase.
    pub fn add(&mut self, other: &Self) {
        // Taken apart, so that a new phase cannot be forgotten here.
        let Self {
            traffic_s,
            sight_s,
            links_s,
            paths_s,
            beacons_s,
            arms_s,
            metric_s,
        } = other;
        self.traffic_s += traffic_s;
        self.sight_s += sight_s;
        self.links_s += links_s;
        self.paths_s += paths_s;
        self.beacons_s += beacons_s;
        self.arms_s += arms_s;
        self.metric_s += metric_s;
    }

    /// Every phase by name with its seconds, in the order of the work.
    #[must_use]
    pub fn phases(&self) -> [(&'static str, f64); 7] {
        let Self {
            traffic_s,
            sight_s,
            links_s,
            paths_s,
            beacons_s,
            arms_s,
            metric_s,
        } = *self;
        [
            ("traffic", traffic_s),
            ("sight", sight_s),
            ("links", links_s),
            ("paths", paths_s),
            ("beacons", beacons_s),
            ("arms", arms_s),
            ("metric", metric_s),
        ]
    }
}
