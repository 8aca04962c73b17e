//! The channel as the arms use it: what is offered, what is carried, who receives.

use covey_radio::draw::{Draws, Purpose};
use covey_radio::{CollisionRow, LANES, LaneReception, LaneRow, LoadMeter, Offer, Reception};

use crate::awareness::{BeaconHistory, Stamp};
use crate::outcome::{DISTANCE_BIN_M, DISTANCE_BINS, Mean, Traffic};
use crate::prepared::{Prepared, STEP_S};
use crate::shared::Shared;

/// Message classes on the air.
pub(crate) const BEACON: u8 = 0;
pub(crate) const REPORT: u8 = 1;
pub(crate) const BROADCAST: u8 = 2;
const CLASSES: usize = 3;

/// Bytes that one subchannel, and both together, carry in a subframe (TS 36.213, MCS 6).
const ONE_SUBCHANNEL_BYTES: u32 = 261;
const BOTH_SUBCHANNELS_BYTES: u32 = 621;

/// Subframes that a message takes.
fn subframes(bytes: u32) -> u16 {
    if bytes <= ONE_SUBCHANNEL_BYTES {
        1
    } else {
        u16::try_from(bytes.div_ceil(BOTH_SUBCHANNELS_BYTES)).unwrap_or(u16::MAX)
    }
}

/// Bytes offered to a tile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Booked {
    pub(crate) beacons: u64,
    pub(crate) digests: u64,
    pub(crate) reports: u64,
    pub(crate) broadcasts: u64,
}

impl Booked {
    pub(crate) fn cooperative(&self) -> u64 {
        self.digests + self.reports + self.broadcasts
    }

    fn add(&mut self, other: &Self) {
        self.beacons += other.beacons;
        self.digests += other.digests;
        self.reports += other.reports;
        self.broadcasts += other.broadcasts;
    }
}

/// One arm's side of the channel.
#[derive(Debug)]
pub(crate) struct Air {
    meter: LoadMeter,
    rows: Vec<CollisionRow>,
    listening: Vec<f32>,
    /// Subframes sent by place in each of the steps of the last cycle.
    sent: Vec<Vec<u16>>,
    /// Booked bytes by tile in each of the steps of the last cycle, and the present step.
    booked: Vec<Vec<Booked>>,
    present: usize,
    pub(crate) offers: Vec<Offer>,
    pub(crate) carried: Vec<bool>,
    pub(crate) traffic: [Traffic; CLASSES],
    units: Vec<f32>,
    hits: Vec<bool>,
    /// Carried reports and broadcasts with their receivers, where someone records: sender, class, places.
    pub(crate) log: Option<Vec<(u32, u8, Vec<u32>)>>,
}

impl Air {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        let steps = prepared.timeline.cycle as usize;
        let tiles = prepared.tiles.len();
        Self {
            meter: LoadMeter::new(prepared.channel.parameters(), tiles, 1, STEP_S, steps),
            rows: Vec::new(),
            listening: Vec::new(),
            sent: vec![Vec::new(); steps],
            booked: vec![vec![Booked::default(); tiles]; steps + 1],
            present: 0,
            offers: Vec::new(),
            carried: Vec::new(),
            traffic: [Traffic::default(); CLASSES],
            units: Vec::new(),
            hits: Vec::new(),
            log: None,
        }
    }

    /// Begins a step: collision rows by the loads so far, half duplex by what was sent.
    pub(crate) fn begin(&mut self, shared: &Shared<'_>) {
        let channel = &shared.prepared.channel;
        let size = shared.slots.len();
        for sent in &mut self.sent {
            sent.resize(size, 0);
            for &slot in &shared.left {
                sent[slot as usize] = 0;
            }
        }
        self.listening.resize(size, 1.0);
        let per_second = 1.0 / (STEP_S * self.sent.len() as f64);
        for &slot in &shared.participants {
            let subframes: u16 = self.sent.iter().map(|sent| sent[slot as usize]).sum();
            let loss = channel.half_duplex_loss(f64::from(subframes) * per_second);
            self.listening[slot as usize] = (1.0 - loss) as f32;
        }
        let window = self.sent.len();
        self.sent[shared.step as usize % window].fill(0);
        self.rows.clear();
        let loads = (0..shared.prepared.tiles.len()).map(|tile| self.meter.load(tile));
        self.rows.extend(loads.map(|load| channel.row(load)));
        self.offers.clear();
    }

    /// Ends the step.
    pub(crate) fn end(&mut self) {
        self.meter.advance();
        self.present = (self.present + 1) % self.booked.len();
        self.booked[self.present].fill(Booked::default());
    }

    /// Bytes offered to a tile in the cycle before this step.
    pub(crate) fn last_cycle(&self, tile: u32) -> Booked {
        let mut sum = Booked::default();
        for (step, booked) in self.booked.iter().enumerate() {
            if step != self.present {
                sum.add(&booked[tile as usize]);
            }
        }
        sum
    }

    /// Bytes offered to a tile in the cycle that ends with this step.
    pub(crate) fn this_cycle(&self, tile: u32) -> Booked {
        let oldest = (self.present + 1) % self.booked.len();
        let mut sum = Booked::default();
        for (step, booked) in self.booked.iter().enumerate() {
            if step != oldest {
                sum.add(&booked[tile as usize]);
            }
        }
        sum
    }

    /// Offers a message to the channel. `digest` bytes of it are a beacon's digest.
    pub(crate) fn offer(
        &mut self,
        shared: &Shared<'_>,
        thinning: &Draws,
        sender: u32,
        class: u8,
        bytes: u32,
        digest: u32,
    ) {
        let tile = shared.tile[sender as usize];
        let id = shared.slots.id(sender);
        let booked = &mut self.booked[self.present][tile as usize];
        match class {
            BEACON => {
                booked.beacons += u64::from(bytes - digest);
                booked.digests += u64::from(digest);
            }
            REPORT => booked.reports += u64::from(bytes),
            _ => booked.broadcasts += u64::from(bytes),
        }
        let window = self.sent.len();
        self.sent[shared.step as usize % window][sender as usize] += subframes(bytes);
        self.offers.push(Offer {
            sender: id,
            tile,
            class: 0,
            bytes,
            unit: thinning.at(id, id).unit(),
        });
    }

    /// Decides which of the offers are carried, in their order.
    pub(crate) fn carry(&mut self) {
        self.meter.carry(&self.offers, &mut self.carried);
    }

    /// Delivers one message that was carried, or counts it as thinned; writes the receivers' places.
    #[expect(clippy::too_many_arguments, reason = "a message, field by field")]
    pub(crate) fn deliver(
        &mut self,
        shared: &Shared<'_>,
        reception: &Draws,
        sender: u32,
        class: u8,
        bytes: u32,
        carried: bool,
        receivers: &mut Vec<u32>,
    ) {
        receivers.clear();
        let range = shared.links.range(sender);
        let traffic = &mut self.traffic[class as usize];
        traffic.messages += 1;
        traffic.bytes += u64::from(bytes);
        traffic.in_range += range.len() as u64;
        if !carried {
            traffic.thinned += range.len() as u64;
            return;
        }
        self.units.resize(range.len(), 0.0);
        self.hits.resize(range.len(), false);
        let ids = &shared.links.ids[range.clone()];
        let places = &shared.links.receivers[range.clone()];
        reception.fill_units(shared.slots.id(sender), ids, &mut self.units);
        Reception {
            rows: &self.rows,
            tile_of: &shared.tile,
            listening: &self.listening,
        }
        .draw(
            places,
            &shared.links.links[range],
            &self.units,
            &mut self.hits,
        );
        receivers.extend(
            places
                .iter()
                .zip(&self.hits)
                .filter(|&(_, &hit)| hit)
                .map(|(&place, _)| place),
        );
        traffic.delivered += receivers.len() as u64;
        traffic.lost += (places.len() - receivers.len()) as u64;
        if let Some(log) = &mut self.log {
            log.push((sender, class, receivers.clone()));
        }
    }
}

/// The reception draws of a message class in this step.
pub(crate) fn reception(shared: &Shared<'_>, class: u8) -> Draws {
    Draws::new(
        shared.seed,
        Purpose::RECEPTION,
        class,
        u64::from(shared.step),
    )
}

/// The thinning draws of a message class in this step.
pub(crate) fn thinning(shared: &Shared<'_>, class: u8) -> Draws {
    Draws::new(
        shared.seed,
        Purpose::THINNING,
        class,
        u64::from(shared.step),
    )
}

/// Beacon statistics of one arm.
#[derive(Debug, Clone)]
pub(crate) struct BeaconStatistics {
    /// In range and delivered, by distance.
    pub(crate) reception: Vec<[u64; 2]>,
    /// Time between receptions, by distance.
    pub(crate) gaps: Vec<Mean>,
}

impl Default for BeaconStatistics {
    fn default() -> Self {
        Self {
            reception: vec![[0; 2]; DISTANCE_BINS],
            gaps: vec![Mean::default(); DISTANCE_BINS],
        }
    }
}

/// Eight lanes' bits as eight bytes of a number, the lowest first.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut lane = 0;
        while lane < 8 {
            spread[bits] |= ((bits as u64) >> lane & 1) << (8 * lane);
            lane += 1;
        }
        bits += 1;
    }
    spread
};

/// Adds how many of `hits` have each lane's bit, eight lanes in one addition.
fn count_lanes(hits: &[u16], sums: &mut [u64; LANES]) {
    // No byte overflows within that many.
    for some in hits.chunks(255) {
        let mut counts = [0; 2];
        for bits in some {
            let [low, high] = bits.to_le_bytes();
            counts[0] += SPREAD[usize::from(low)];
            counts[1] += SPREAD[usize::from(high)];
        }
        let counts = counts.map(u64::to_le_bytes);
        for (sum, &count) in sums.iter_mut().zip(counts.as_flattened()) {
            *sum += u64::from(count);
        }
    }
}

/// Beacons of up to [`LANES`] arms, delivered together: one draw serves all.
#[derive(Debug)]
pub(crate) struct BeaconLanes {
    /// When each receiver last heard each sender.
    pub(crate) heard: BeaconHistory,
    rows: Vec<LaneRow>,
    listening: Vec<[f32; LANES]>,
    /// Lanes in which a place hosts.
    pub(crate) hosts: Vec<u16>,
    /// Beacons that hosts heard in this step, by lane: host and sender.
    pub(crate) heard_by_hosts: Vec<Vec<(u32, u32)>>,
    pub(crate) statistics: Vec<BeaconStatistics>,
    units: Vec<f32>,
    hits: Vec<u16>,
}

impl BeaconLanes {
    pub(crate) fn new(lanes: usize) -> Self {
        Self {
            heard: BeaconHistory::default(),
            rows: Vec::new(),
            listening: Vec::new(),
            hosts: Vec::new(),
            heard_by_hosts: vec![Vec::new(); LANES],
            statistics: vec![BeaconStatistics::default(); lanes],
            units: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// Takes over an arm's loads for this step.
    pub(crate) fn begin(&mut self, shared: &Shared<'_>, lane: usize, air: &Air) {
        let (tiles, size) = (shared.prepared.tiles.len(), shared.slots.len());
        self.rows.resize(tiles, LaneRow::DEAF);
        for (lanes, row) in self.rows.iter_mut().zip(&air.rows) {
            lanes.set(lane, row);
        }
        self.listening.resize(size, [0.0; LANES]);
        for &slot in &shared.participants {
            self.listening[slot as usize][lane] = air.listening[slot as usize];
        }
        self.hosts.resize(size, 0);
        self.heard_by_hosts[lane].clear();
    }

    /// Delivers `sender`'s beacon in the lanes in which it is carried, and adds to each lane's delivered pairs.
    pub(crate) fn deliver(
        &mut self,
        shared: &Shared<'_>,
        reception: &Draws,
        sender: u32,
        carried: u16,
        measured: bool,
        delivered: &mut [u64; LANES],
    ) {
        let range = shared.links.range(sender);
        self.units.resize(range.len(), 0.0);
        self.hits.resize(range.len(), 0);
        let ids = &shared.links.ids[range.clone()];
        let places = &shared.links.receivers[range.clone()];
        let links = &shared.links.links[range];
        let id = shared.slots.id(sender);
        reception.fill_units(id, ids, &mut self.units);
        LaneReception {
            rows: &self.rows,
            tile_of: &shared.tile,
            listening: &self.listening,
        }
        .draw(places, links, &self.units, &mut self.hits);
        let stamp = shared.stamp(shared.step);
        let sampled = measured
            && shared
                .agent(sender)
                .mixed()
                .is_multiple_of(u64::from(shared.prepared.scenario.evaluation.sample_one_in));
        for hits in &mut self.hits {
            *hits &= carried;
        }
        if sampled {
            self.note(shared, sender, stamp);
        }
        count_lanes(&self.hits, delivered);
        for (&place, &bits) in places.iter().zip(&self.hits) {
            let mut hosts = bits & self.hosts[place as usize];
            while hosts != 0 {
                let lane = hosts.trailing_zeros() as usize;
                self.heard_by_hosts[lane].push((place, sender));
                hosts &= hosts - 1;
            }
        }
        self.heard.push(sender, stamp, places, &self.hits);
    }

    /// Adds a sampled sender's beacon to the statistics.
    fn note(&mut self, shared: &Shared<'_>, sender: u32, stamp: Stamp) {
        let range = shared.links.range(sender);
        let places = &shared.links.receivers[range.clone()];
        let links = &shared.links.links[range];
        for ((&place, &bits), link) in places.iter().zip(&self.hits).zip(links) {
            let distance = f64::from(link.distance_m);
            let bin = ((distance / DISTANCE_BIN_M) as usize).min(DISTANCE_BINS - 1);
            let heard = self.heard.at_each(sender, place, bits);
            for (lane, statistics) in self.statistics.iter_mut().enumerate() {
                statistics.reception[bin][0] += 1;
                if bits >> lane & 1 != 0 {
                    statistics.reception[bin][1] += 1;
                    let before = heard[lane];
                    if before > 0 {
                        let gap = f64::from(stamp - before) * STEP_S;
                        statistics.gaps[bin].add(gap);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_counted_one_by_one() {
        let hits: Vec<u16> = (0..1_000u32).map(|n| (n * n * 77 + n) as u16).collect();
        let mut sums = [3; LANES];
        count_lanes(&hits, &mut sums);
        for (lane, sum) in sums.into_iter().enumerate() {
            let one_by_one = hits.iter().filter(|&&bits| bits >> lane & 1 != 0).count();
            assert_eq!(sum, 3 + one_by_one as u64, "{lane}");
        }
    }
}
