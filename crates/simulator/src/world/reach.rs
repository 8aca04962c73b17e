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

/// Powers of pairs that are near, and between areas that are far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Powers {
    /// Pairs of this update: both ends, power in mW, and how they are linked.
    pub(super) pairs: Vec<(Slot, Slot, f32, LinkClass)>,
    begin: Vec<u32>,
    receivers: Vec<u32>,
    power_mw: Vec<f32>,
    links: Vec<LinkClass>,
    ids: Vec<u32>,
    next: Vec<u32>,
    areas: Areas,
}

/// Areas in which participants were seen.
#[derive(Debug, Clone, Default)]
struct Areas {
    numbers: BTreeMap<(i32, i32), u16>,
    /// By area: where somebody was first seen in it.
    places: Vec<Point>,
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
            links: &self.links,
            ids: &self.ids,
            far: Some(Far {
                area: &self.areas.of,
                power_mw: &self.areas.power_mw,
                areas: self.areas.places.len(),
            }),
        }
    }

    /// Lists the pairs of this update at both ends, and finds everyone's area.
    pub(super) fn tabulate(&mut self, road: &Road, channel: &Channel, sight: &Sight, near_m: f64) {
        let size = road.size();
        self.next.clear();
        self.next.resize(size + 1, 0);
        for &(a, b, ..) in &self.pairs {
            self.next[a.index() + 1] += 1;
            self.next[b.index() + 1] += 1;
        }
        for slot in 0..size {
            self.next[slot + 1] += self.next[slot];
        }
        self.begin.clone_from(&self.next);
        let all = 2 * self.pairs.len();
        self.receivers.resize(all, 0);
        self.power_mw.resize(all, 0.0);
        self.links.resize(all, LinkClass::new(LinkKind::Los, false));
        for &(a, b, power, link) in &self.pairs {
            for (from, to) in [(a, b), (b, a)] {
                let at = self.next[from.index()] as usize;
                self.next[from.index()] += 1;
                self.receivers[at] = to.0;
                self.power_mw[at] = power;
                self.links[at] = link;
            }
        }
        self.ids.clear();
        self.ids
            .extend((0..size as u32).map(|slot| road.id(Slot(slot))));
        self.areas.find(road, channel, sight, near_m);
    }

    /// Takes who left out of the lists, before others get their places.
    pub(super) fn forget(&mut self, gone: &[bool]) {
        for at in 0..self.receivers.len() {
            if gone[self.receivers[at] as usize] {
                self.power_mw[at] = 0.0;
            }
        }
    }
}

impl Areas {
    fn find(&mut self, road: &Road, channel: &Channel, sight: &Sight, near_m: f64) {
        self.of.resize(road.size(), 0);
        let known = self.places.len();
        for &slot in road.participants() {
            let place = road.vehicle(slot).position;
            let key = [place.x, place.y].map(|m| (m / AREA_M).floor() as i32);
            let number = self.places.len().min(usize::from(u16::MAX)) as u16;
            let number = *self.numbers.entry((key[0], key[1])).or_insert(number);
            if usize::from(number) == self.places.len() {
                self.places.push(place);
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
                let [here, there] = [self.places[a], self.places[b]];
                let distance = (here - there).length();
                // Nearer stations are listed pair by pair.
                if distance <= near_m || distance > FARTHEST_M {
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
