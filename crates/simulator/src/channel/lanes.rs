//! Beacons of several arms at once: one draw serves all.

use covey_draws::Draws;
use covey_radio::{LANES, LaneReception, LaneRow};

use super::air::Air;
use super::heard::{BeaconHistory, SPREAD};
use super::parcel::Class;
use super::scheduled::Arrived;
use crate::gang::Gang;
use crate::ids::{Lane, Slot, Step};
use crate::outcome::{DISTANCE_BIN_M, DISTANCE_BINS, Mean};
use crate::prepared::STEP_S;
use crate::world::{Stamp, World};

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

/// How loaded the channel is in a step, and who listens, in up to [`LANES`] arms.
#[derive(Debug, Default)]
struct Loads {
    rows: Vec<LaneRow>,
    listening: Vec<[f32; LANES]>,
}

impl Loads {
    /// Takes over an arm's.
    fn take(&mut self, world: &World<'_>, lane: Lane, air: &Air) {
        let (tiles, size) = (world.prepared.tiles.len(), world.road.size());
        self.rows.resize(tiles, LaneRow::DEAF);
        for (lanes, row) in self.rows.iter_mut().zip(&air.rows) {
            lanes.set(lane.index(), row);
        }
        self.listening.resize(size, [0.0; LANES]);
        for slot in world.road.participants() {
            self.listening[slot.index()][lane.index()] = air.listening[slot.index()];
        }
    }

    /// Draws who receives a beacon in the first so many lanes, a number of `hits` for each receiver of the sender.
    fn draw(
        &self,
        world: &World<'_>,
        reception: &Draws,
        sender: Slot,
        lanes: usize,
        (units, hits): (&mut Vec<f32>, &mut [u16]),
    ) {
        let range = world.links.range(sender);
        units.resize(range.len(), 0.0);
        let ids = &world.links.ids[range.clone()];
        let places = &world.links.receivers[range.clone()];
        let links = &world.links.links[range];
        reception.fill_units(world.road.id(sender), ids, units);
        LaneReception {
            rows: &self.rows,
            tile_of: world.road.tiles(),
            listening: &self.listening,
            lanes,
        }
        .draw(places, links, units, hits);
    }
}

/// Who receives the beacons of a step in up to [`LANES`] arms, drawn for all of them before parts of the arms take theirs.
#[derive(Debug)]
pub(crate) struct DrawnBeacons {
    lanes: usize,
    loads: Loads,
    pieces: Vec<DrawnPiece>,
    /// Senders in each piece.
    each: usize,
}

/// What was drawn for some of the senders.
#[derive(Debug, Default)]
struct DrawnPiece {
    units: Vec<f32>,
    hits: Vec<u16>,
    /// Where each sender's hits end.
    ends: Vec<usize>,
}

impl DrawnBeacons {
    pub(crate) fn new(lanes: usize) -> Self {
        Self {
            lanes,
            loads: Loads::default(),
            pieces: Vec::new(),
            each: 1,
        }
    }

    /// Takes over an arm's loads for this step.
    pub(crate) fn begin(&mut self, world: &World<'_>, lane: Lane, air: &Air) {
        self.loads.take(world, lane, air);
    }

    /// Draws who receives the beacons of these senders. Gives the CPU seconds of threads other than the caller's.
    pub(crate) fn draw(&mut self, world: &World<'_>, senders: &[Slot], gang: &Gang) -> f64 {
        self.each = senders.len().div_ceil(gang.pieces()).max(1);
        let pieces = senders.len().div_ceil(self.each);
        self.pieces.resize_with(pieces, DrawnPiece::default);
        let reception = Class::Beacon.reception(world);
        let (loads, lanes) = (&self.loads, self.lanes);
        let pieces = self.pieces.iter_mut().zip(senders.chunks(self.each));
        let work = |(piece, senders): (&mut DrawnPiece, &[Slot])| {
            piece.hits.clear();
            piece.ends.clear();
            for &sender in senders {
                let begin = piece.hits.len();
                let end = begin + world.links.range(sender).len();
                piece.hits.resize(end, 0);
                piece.ends.push(end);
                let hits = &mut piece.hits[begin..];
                loads.draw(world, &reception, sender, lanes, (&mut piece.units, hits));
            }
        };
        gang.share(pieces.collect(), work)
    }

    /// Of the sender of this number: the lanes in which each of its receivers would hear it.
    pub(crate) fn hits(&self, number: usize) -> &[u16] {
        let piece = &self.pieces[number / self.each];
        let at = number % self.each;
        let begin = at.checked_sub(1).map_or(0, |before| piece.ends[before]);
        &piece.hits[begin..piece.ends[at]]
    }
}

/// Beacons of up to [`LANES`] arms, delivered together: one draw serves all.
#[derive(Debug)]
pub(crate) struct BeaconLanes {
    /// When each receiver last heard each sender.
    pub(crate) heard: BeaconHistory,
    loads: Loads,
    /// The lanes whose arms are here.
    own: u16,
    /// Lanes in which a place hosts.
    pub(crate) hosts: Vec<u16>,
    /// Beacons that hosts heard in this step, by lane: host, sender, and when it was made.
    pub(crate) heard_by_hosts: Vec<Vec<(Slot, Slot, Step)>>,
    pub(crate) statistics: Vec<BeaconStatistics>,
    units: Vec<f32>,
    hits: Vec<u16>,
}

impl BeaconLanes {
    /// For these lanes, of so many.
    pub(crate) fn new(own: u16, lanes: usize) -> Self {
        Self {
            heard: BeaconHistory::default(),
            loads: Loads::default(),
            own,
            hosts: Vec::new(),
            heard_by_hosts: vec![Vec::new(); LANES],
            statistics: vec![BeaconStatistics::default(); lanes],
            units: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// Takes over an arm's loads for this step.
    pub(crate) fn begin(&mut self, world: &World<'_>, lane: Lane, air: &Air) {
        self.loads.take(world, lane, air);
        self.hosts.resize(world.road.size(), 0);
        self.heard_by_hosts[lane.index()].clear();
    }

    /// Delivers `sender`'s beacon in the lanes in which it is carried, and adds to each lane's delivered pairs. Who would hear it is
    /// drawn, unless it is `drawn` already.
    pub(crate) fn deliver(
        &mut self,
        world: &World<'_>,
        (reception, drawn): (&Draws, Option<&[u16]>),
        sender: Slot,
        carried: u16,
        measured: bool,
        delivered: &mut [u64; LANES],
    ) {
        let range = world.links.range(sender);
        self.hits.resize(range.len(), 0);
        match drawn {
            Some(drawn) => self.hits.copy_from_slice(drawn),
            None => {
                let room = (&mut self.units, &mut self.hits[..]);
                let lanes = self.statistics.len();
                self.loads.draw(world, reception, sender, lanes, room);
            }
        }
        let places = &world.links.receivers[range];
        let stamp = world.time.stamp(world.step());
        let sampled = measured
            && world
                .agent(sender)
                .mixed()
                .is_multiple_of(u64::from(world.prepared.scenario.evaluation.sample_one_in));
        for hits in &mut self.hits {
            *hits &= carried;
        }
        if sampled {
            self.note(world, sender, stamp);
        }
        count_lanes(&self.hits, delivered);
        let Some(step) = world.counts_from(sender, world.step()) else {
            return;
        };
        let stamp = world.time.stamp(step);
        for (&place, &bits) in places.iter().zip(&self.hits) {
            let mut hosts = bits & self.hosts[place.index()];
            while hosts != 0 {
                let lane = hosts.trailing_zeros() as usize;
                self.heard_by_hosts[lane].push((place, sender, step));
                hosts &= hosts - 1;
            }
        }
        self.heard.push(sender, stamp, places, &self.hits);
    }

    /// Notes who heard a beacon that took its time, in the only lane.
    pub(crate) fn arrive(&mut self, world: &World<'_>, arrived: &Arrived, measured: bool) {
        let sender = arrived.parcel.sender;
        let range = world.links.range(sender);
        let places = &world.links.receivers[range];
        // Both ascend.
        let mut receivers = arrived.receivers.iter().peekable();
        let heard = |place: &Slot| {
            while receivers.next_if(|&receiver| receiver < place).is_some() {}
            u16::from(receivers.peek() == Some(&place))
        };
        self.hits.clear();
        self.hits.extend(places.iter().map(heard));
        let stamp = world.time.stamp(arrived.offered);
        let one_in = u64::from(world.prepared.scenario.evaluation.sample_one_in);
        if measured && world.agent(sender).mixed().is_multiple_of(one_in) {
            self.note(world, sender, stamp);
        }
        let Some(step) = world.counts_from(sender, arrived.offered) else {
            return;
        };
        let stamp = world.time.stamp(step);
        for (&place, &hit) in places.iter().zip(&self.hits) {
            if hit & self.hosts[place.index()] != 0 {
                self.heard_by_hosts[0].push((place, sender, step));
            }
        }
        let interval = world.prepared.timeline.beacon;
        let ago = world.step().0 / interval - arrived.offered.0 / interval;
        self.heard
            .push_late(ago as usize, sender, stamp, places, &self.hits);
    }

    /// Adds a sampled sender's beacon to the statistics.
    fn note(&mut self, world: &World<'_>, sender: Slot, stamp: Stamp) {
        let range = world.links.range(sender);
        let places = &world.links.receivers[range.clone()];
        let links = &world.links.links[range];
        for ((&place, &bits), link) in places.iter().zip(&self.hits).zip(links) {
            let distance = f64::from(link.distance_m);
            let bin = ((distance / DISTANCE_BIN_M) as usize).min(DISTANCE_BINS - 1);
            let heard = self.heard.at_each(sender, place, bits);
            let lanes = self.statistics.iter_mut().enumerate();
            for (lane, statistics) in lanes.filter(|&(lane, _)| self.own >> lane & 1 != 0) {
                statistics.reception[bin][0] += 1;
                if bits >> lane & 1 != 0 {
                    statistics.reception[bin][1] += 1;
                    let before = heard[lane];
                    if before > 0 {
                        let gap = f64::from(stamp.saturating_sub(before)) * STEP_S;
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
