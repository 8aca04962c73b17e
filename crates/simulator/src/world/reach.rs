//! Who receives whom with which power, for the channel that is simulated slot by slot.

use std::collections::BTreeMap;

use covey_radio::sidelink::{Far, LinkClass, Reach};
use covey_radio::{Channel, LinkKind};
use covey_world::{Point, Sight};

use super::road::Road;
use crate::ids::Slot;

/// Side of the areas between which far power is taken, in metres.
const AREA_M: f64 = 100.0;
/// Farther areas do not reach each other, in metres: less than noise even in line of sight behind vehicles.
const FARTHEST_M: f64 = 3_000.0;

/// Both ends of a pair, power in mW, and how they are linked.
pub(super) type PairPower = (Slot, Slot, f32, LinkClass);

/// Powers of pairs that are near, and between areas that are far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Powers {
    /// Pairs of this update.
    pub(super) pairs: Vec<PairPower>,
    begin: Vec<u32>,
    receivers: Vec<u32>,
    power_mw: Vec<f32>,
    beside_far_mw: Vec<f32>,
    links: Vec<LinkClass>,
    ids: Vec<u32>,
    areas: Areas,
    rows: Rows,
}

/// Working memory: the pairs of each place, at first in any order.
#[derive(Debug, Clone, Default)]
struct Rows {
    next: Vec<u32>,
    listed: Vec<(Slot, f32, LinkClass)>,
    /// Receivers of the row under way, a bit each, and what belongs to them.
    present: Vec<u64>,
    by_place: Vec<(f32, LinkClass)>,
}

const NOTHING: (f32, LinkClass) = (0.0, LinkClass::SILENT);

/// Areas in which participants were seen.
#[derive(Debug, Clone, Default)]
struct Areas {
    numbers: BTreeMap<[i32; 2], u16>,
    /// By area: which it is, and where somebody was first seen in it.
    places: Vec<([i32; 2], Point)>,
    /// By area of the sender and of the receiver.
    power_mw: Vec<f32>,
    /// By place: the area.
    of: Vec<u16>,
}

impl Powers {
    /// What the slots until the next update go by.
    pub(crate) fn reach(&self) -> Reach<'_> {
        Reach {
            begin: &self.begin,
            receivers: &self.receivers,
            power_mw: &self.power_mw,
            beside_far_mw: &self.beside_far_mw,
            links: &self.links,
            ids: &self.ids,
            far: Some(Far {
                area: &self.areas.of,
                power_mw: &self.areas.power_mw,
                areas: self.areas.places.len(),
            }),
        }
    }

    /// Lists the pairs of this update at both ends, each sender's receivers by ascending place, and finds everyone's area.
    pub(super) fn tabulate(&mut self, road: &Road, channel: &Channel, sight: &Sight, near_m: f64) {
        let size = road.size();
        let all = road.participants().iter().copied();
        self.areas.find(road, all, channel, sight, near_m);
        self.rows.list(size, &self.pairs);
        self.begin.clear();
        self.begin.push(0);
        self.receivers.clear();
        self.power_mw.clear();
        self.beside_far_mw.clear();
        self.links.clear();
        let areas = self.areas.places.len();
        for row in 0..size {
            let area = usize::from(self.areas.of[row]);
            let far = &self.areas.power_mw[area * areas..][..areas.min(self.areas.power_mw.len())];
            self.rows.sorted(row, |receiver, (power, link)| {
                let counted = far[usize::from(self.areas.of[receiver.index()])];
                self.receivers.push(receiver.0);
                self.power_mw.push(power);
                self.beside_far_mw.push(power - counted);
                self.links.push(link);
            });
            self.begin.push(self.receivers.len() as u32);
        }
        self.ids.clear();
        self.ids
            .extend((0..size as u32).map(|slot| road.id(Slot(slot))));
    }

    /// Takes up who came since the last update: nobody near receives it yet, but it has its number and its area.
    pub(super) fn admit(&mut self, road: &Road, channel: &Channel, sight: &Sight, near_m: f64) {
        let newcomers = road.taken().iter().copied();
        let newcomers = newcomers.filter(|&slot| road.participates(slot));
        self.areas.find(road, newcomers, channel, sight, near_m);
        let end = self.receivers.len() as u32;
        self.begin.resize(road.size() + 1, end);
        self.ids.resize(road.size(), 0);
        for &slot in road.taken() {
            self.ids[slot.index()] = road.id(slot);
        }
    }

    /// Takes who left out of the lists, before others get their places.
    pub(super) fn forget(&mut self, gone: &[bool]) {
        let senders = self.begin.windows(2).zip(gone);
        for (range, &sender_is_gone) in senders {
            for at in range[0] as usize..range[1] as usize {
                if sender_is_gone || gone[self.receivers[at] as usize] {
                    self.power_mw[at] = 0.0;
                    self.beside_far_mw[at] = 0.0;
                }
            }
        }
    }
}

impl Rows {
    /// Lists the pairs at both ends.
    fn list(&mut self, size: usize, pairs: &[PairPower]) {
        self.next.clear();
        self.next.resize(size + 1, 0);
        for &(a, b, ..) in pairs {
            self.next[a.index() + 1] += 1;
            self.next[b.index() + 1] += 1;
        }
        for slot in 0..size {
            self.next[slot + 1] += self.next[slot];
        }
        self.listed
            .resize(2 * pairs.len(), (Slot(0), NOTHING.0, NOTHING.1));
        for &(a, b, power, link) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                let at = self.next[from.index()] as usize;
                self.next[from.index()] += 1;
                self.listed[at] = (to, power, link);
            }
        }
        self.present.resize(size.div_ceil(64), 0);
        self.by_place.resize(size, NOTHING);
    }

    /// Gives the receivers of a row by ascending place; rows have to be asked for in order.
    fn sorted(&mut self, row: usize, mut give: impl FnMut(Slot, (f32, LinkClass))) {
        // Filling the lists has moved every beginning to the next.
        let begin = match row {
            0 => 0,
            row => self.next[row - 1] as usize,
        };
        let (mut low, mut high) = (usize::MAX, 0);
        for &(other, power, link) in &self.listed[begin..self.next[row] as usize] {
            let word = other.index() / 64;
            self.by_place[other.index()] = (power, link);
            self.present[word] |= 1 << (other.0 % 64);
            low = low.min(word);
            high = high.max(word + 1);
        }
        for (word, set) in self.present.iter_mut().enumerate().take(high).skip(low) {
            let mut set = std::mem::take(set);
            while set != 0 {
                let other = Slot((word * 64) as u32 + set.trailing_zeros());
                set &= set - 1;
                give(other, self.by_place[other.index()]);
            }
        }
    }
}

impl Areas {
    /// Finds the areas of some stations. That of others stays, for what is counted beside it goes with it.
    fn find(
        &mut self,
        road: &Road,
        stations: impl Iterator<Item = Slot>,
        channel: &Channel,
        sight: &Sight,
        near_m: f64,
    ) {
        self.of.resize(road.size(), 0);
        let known = self.places.len();
        for slot in stations {
            let place = road.vehicle(slot).position;
            let key = [place.x, place.y].map(|m| (m / AREA_M).floor() as i32);
            let number = self.places.len().min(usize::from(u16::MAX)) as u16;
            let number = *self.numbers.entry(key).or_insert(number);
            if usize::from(number) == self.places.len() {
                self.places.push((key, place));
            }
            self.of[slot.index()] = number;
        }
        if self.places.len() > known {
            self.relate(known, channel, sight, near_m);
        }
    }

    /// Powers of all areas from number `known` on.
    fn relate(&mut self, known: usize, channel: &Channel, sight: &Sight, near_m: f64) {
        let count = self.places.len();
        let mut powers = vec![0.0; count * count];
        for from in 0..known {
            powers[from * count..][..known]
                .copy_from_slice(&self.power_mw[from * known..][..known]);
        }
        for a in known..count {
            for b in 0..a {
                let [(area, here), (other, there)] = [self.places[a], self.places[b]];
                // Of areas near each other all stations are listed pair by pair; of those at the border some, and
                // who is not is farther away than that.
                let distance = (here - there).length().max(near_m);
                if farthest_apart_m(area, other) <= near_m || distance > FARTHEST_M {
                    continue;
                }
                let kind = match sight.building_between(here, there) {
                    true => LinkKind::Nlos,
                    false => LinkKind::NlosV,
                };
                let power = channel.mean_received_mw(distance, kind) as f32;
                powers[a * count + b] = power;
                powers[b * count + a] = power;
            }
        }
        self.power_mw = powers;
    }
}

/// How far two stations of two areas can be apart.
fn farthest_apart_m(a: [i32; 2], b: [i32; 2]) -> f64 {
    let [x, y] = [0, 1].map(|axis| f64::from(a[axis].abs_diff(b[axis]) + 1) * AREA_M);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_near_only_where_all_their_pairs_are() {
        // Squares of 100 m: four apart in a row, the farthest corners are 500 m and 100 m apart.
        assert!((farthest_apart_m([0, 0], [0, 0]) - 141.42).abs() < 0.01);
        assert!(farthest_apart_m([0, 0], [3, 0]) < 500.0);
        assert!(farthest_apart_m([4, 0], [0, 0]) > 500.0);
        assert_eq!(farthest_apart_m([-1, 2], [1, 5]), 500.0);
    }

    #[test]
    fn pairs_are_listed_at_both_ends_by_ascending_place() {
        let link = |power: f32| (power, LinkClass::new(LinkKind::Los, true));
        let pairs = [(0, 130, 1.0), (0, 2, 2.0), (1, 0, 3.0), (130, 2, 4.0)];
        let pairs = pairs.map(|(a, b, mw)| (Slot(a), Slot(b), mw, link(mw).1));
        let mut rows = Rows::default();
        rows.list(131, &pairs);
        let mut all = Vec::new();
        for row in 0..131 {
            rows.sorted(row, |other, (power, _)| all.push((row, other.0, power)));
        }
        let expected = [
            (0, 1, 3.0),
            (0, 2, 2.0),
            (0, 130, 1.0),
            (1, 0, 3.0),
            (2, 0, 2.0),
            (2, 130, 4.0),
            (130, 0, 1.0),
            (130, 2, 4.0),
        ];
        assert_eq!(all, expected);
    }
}
