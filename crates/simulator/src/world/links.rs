//! Who can hear whom, and how well: links of participants, found anew at every beacon interval.

use std::ops::Range;

use covey_radio::sidelink::LinkClass;
use covey_radio::{Blockage, ChannelModel, FadingDraws, LinkGeometry, LinkState, PairLink};
use covey_world::{Point, sight};

use super::pair_memory::{PairMemory, PairUpdate, Vehicle};
use super::reach::{PairPower, Powers};
use super::scene::Scene;
use crate::ids::Slot;

/// Links of participants, by sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    begin: Vec<u32>,
    /// Receivers' places.
    pub(crate) receivers: Vec<Slot>,
    /// Receivers' numbers, for draws.
    pub(crate) ids: Vec<u32>,
    pub(crate) links: Vec<PairLink>,
}

impl Links {
    /// Where the links of a sender are.
    pub(crate) fn range(&self, sender: Slot) -> std::ops::Range<usize> {
        match (
            self.begin.get(sender.index()),
            self.begin.get(sender.index() + 1),
        ) {
            (Some(&a), Some(&b)) => a as usize..b as usize,
            _ => 0..0,
        }
    }

    /// Keeps the links for which `keep(sender, receiver)` holds.
    pub(super) fn retain(&mut self, keep: impl Fn(Slot, Slot) -> bool) {
        let (mut from, mut to) = (0, 0);
        for place in 1..self.begin.len() {
            let end = self.begin[place] as usize;
            for at in from..end {
                if keep(Slot(place as u32 - 1), self.receivers[at]) {
                    self.receivers[to] = self.receivers[at];
                    self.ids[to] = self.ids[at];
                    self.links[to] = self.links[at];
                    to += 1;
                }
            }
            self.begin[place] = to as u32;
            from = end;
        }
        self.receivers.truncate(to);
        self.ids.truncate(to);
        self.links.truncate(to);
    }
}

/// Working memory for links, and the fading of pairs.
#[derive(Debug, Default)]
pub(super) struct Ears {
    /// By unordered pair.
    fading: PairMemory,
    /// One for each thread.
    listeners: Vec<Listener>,
    linked: Vec<bool>,
    /// By index in the frame.
    antennas: Vec<Antenna>,
    pairs: Vec<LinkedPair>,
    next: Vec<u32>,
    turned: Vec<(Slot, PairLink)>,
    present: Vec<u64>,
    by_place: Vec<PairLink>,
    /// CPU seconds of threads other than the caller's.
    pub(super) helpers_cpu_s: f64,
}

/// What a link asks of a vehicle, close together: it is asked of every pair.
#[derive(Debug, Clone, Copy)]
struct Antenna {
    position: Point,
    height_m: f64,
    id: u32,
    place: Slot,
}

/// Both ends of a link, and the link.
type LinkedPair = (Slot, Slot, PairLink);

/// What is found of the links of senders whose turn it is in one thread, and working memory.
#[derive(Debug, Default)]
struct Listener {
    pairs: Vec<LinkedPair>,
    powers: Vec<PairPower>,
    fading: PairUpdate,
    scratch: sight::Scratch,
    onward: Vec<sight::Link>,
}

/// What stands between two antennas, as the channel takes it, and the case of blockage.
fn state_of(found: sight::LinkState, antennas: [f64; 2]) -> (LinkState, Option<Blockage>) {
    match found {
        sight::LinkState::Clear => (LinkState::Los, None),
        sight::LinkState::Vehicle { tallest } => (
            LinkState::NlosV {
                blocker_height_m: tallest,
            },
            Some(Blockage::of(antennas, tallest)),
        ),
        sight::LinkState::Building => (LinkState::Nlos, None),
    }
}

impl Scene<'_> {
    /// Links between participants are found anew, and with which power they receive each other where slots are simulated.
    pub(super) fn link(&self, links: &mut Links, powers: &mut Powers, ears: &mut Ears) {
        ears.linked.clear();
        let linked = self.road.present().iter();
        ears.linked
            .extend(linked.map(|&slot| self.road.participates(slot)));
        let vehicles = self.road.frame.vehicles.iter().zip(self.road.present());
        ears.antennas.clear();
        ears.antennas
            .extend(vehicles.map(|(vehicle, &place)| Antenna {
                position: vehicle.position,
                height_m: vehicle.body.height,
                id: vehicle.id.0,
                place,
            }));
        ears.listeners.resize_with(self.threads, Listener::default);
        let last_update = self.step.before(self.prepared.timeline.beacon);
        let updates = ears.listeners.iter_mut().map(|one| &mut one.fading);
        ears.fading
            .begin(updates, self.step, last_update, self.road.size());
        let (listeners, memory) = (&mut ears.listeners[..], &ears.fading);
        let among = (&ears.linked[..], &ears.antennas[..]);
        ears.helpers_cpu_s += self.share_out(listeners, |listener, places| {
            listener.link(self, places, among, memory);
        });
        powers.pairs.clear();
        ears.pairs.clear();
        if let [all] = &mut ears.listeners[..] {
            std::mem::swap(&mut ears.pairs, &mut all.pairs);
            std::mem::swap(&mut powers.pairs, &mut all.powers);
        } else {
            for listener in &mut ears.listeners {
                ears.pairs.append(&mut listener.pairs);
                powers.pairs.append(&mut listener.powers);
            }
        }
        self.tabulate(links, ears);
        let channel = &self.prepared.channel;
        if channel.parameters().model == ChannelModel::Sps {
            let near_m = self.prepared.sight.options().link_range;
            powers.tabulate(self.road, channel, &self.prepared.sight, near_m);
        }
    }

    /// Lists the pairs at both ends, each sender's receivers by ascending place. Pairs come by ascending first end.
    fn tabulate(&self, links: &mut Links, ears: &mut Ears) {
        let Ears {
            pairs,
            next,
            turned,
            present,
            by_place,
            ..
        } = ears;
        let size = self.road.size();
        // Each pair at its second end.
        next.clear();
        next.resize(size + 1, 0);
        for &(_, b, _) in pairs.iter() {
            next[b.index() + 1] += 1;
        }
        for slot in 0..size {
            next[slot + 1] += next[slot];
        }
        turned.resize(pairs.len(), (Slot(0), PairLink::LOST));
        for &(a, b, link) in pairs.iter() {
            let place = &mut next[b.index()];
            turned[*place as usize] = (a, link);
            *place += 1;
        }
        // A row is sorted by marking its receivers: all of that stays in the nearest cache.
        present.resize(size.div_ceil(64), 0);
        by_place.resize(size, PairLink::LOST);
        links.begin.clear();
        links.begin.push(0);
        links.receivers.clear();
        links.ids.clear();
        links.links.clear();
        let (mut first, mut back) = (0, 0);
        for (row, &end) in next[..size].iter().enumerate() {
            let (mut low, mut high) = (usize::MAX, 0);
            let mut mark = |other: Slot, link: PairLink| {
                let word = other.index() / 64;
                by_place[other.index()] = link;
                present[word] |= 1 << (other.0 % 64);
                low = low.min(word);
                high = high.max(word + 1);
            };
            for &(other, link) in &turned[back..end as usize] {
                mark(other, link);
            }
            back = end as usize;
            while let Some(&(_, other, link)) =
                pairs.get(first).filter(|&&(a, ..)| a.index() == row)
            {
                mark(other, link);
                first += 1;
            }
            // Where nothing is marked, nothing is taken.
            for (word, set) in present.iter_mut().enumerate().take(high).skip(low) {
                let mut set = std::mem::take(set);
                while set != 0 {
                    let other = Slot((word * 64) as u32 + set.trailing_zeros());
                    set &= set - 1;
                    links.receivers.push(other);
                }
            }
            let receivers = &links.receivers[links.ids.len()..];
            let numbers = receivers.iter().map(|&other| self.road.id(other));
            links.ids.extend(numbers);
            let found = receivers.iter().map(|other| by_place[other.index()]);
            links.links.extend(found);
            links.begin.push(links.receivers.len() as u32);
        }
    }
}

impl Listener {
    /// Finds the links of the participants at some places with those that follow them in the order of positions. Who participates,
    /// and everyone's antenna, are given by index in the frame.
    fn link(
        &mut self,
        scene: &Scene<'_>,
        places: Range<u32>,
        (linked, antennas): (&[bool], &[Antenna]),
        memory: &PairMemory,
    ) {
        let road = scene.road;
        let channel = &scene.prepared.channel;
        let ranges = channel.parameters();
        let scheduled = ranges.model == ChannelModel::Sps;
        let draws = FadingDraws::new(scene.seed, u64::from(scene.step.0));
        self.pairs.clear();
        self.powers.clear();
        for slot in places.map(Slot) {
            let Some(at) = road.index(slot).filter(|_| road.participates(slot)) else {
                continue;
            };
            scene
                .observed
                .links_onward_among(at.0, linked, &mut self.scratch, &mut self.onward);
            let own = antennas[at.index()];
            let sender = Vehicle {
                place: slot,
                id: own.id,
            };
            self.fading.visit(memory, sender);
            for link in &self.onward {
                let peer = &antennas[link.other as usize];
                let other = peer.place;
                let offset = own.position - peer.position;
                let heights = [own.height_m, peer.height_m];
                let dz = heights[0] - heights[1];
                let distance = (offset.dot(offset) + dz * dz).sqrt();
                let (state, case) = state_of(link.state, heights);
                let in_range = distance <= ranges.range_m(state.kind());
                if !in_range && !scheduled {
                    continue;
                }
                let mean = match state {
                    LinkState::Nlos => None,
                    _ if scheduled => None,
                    _ => scene.prepared.mean_errors.of(case, distance),
                };
                let pair = match mean {
                    Some(error) => PairLink::new(distance, 1.0 - error),
                    None => {
                        let id = peer.id;
                        let fading = self.fading.of(memory, Vehicle { place: other, id });
                        // The order of the ends must not change from update to update.
                        let (offset, heights) = if own.id < id {
                            (offset, heights)
                        } else {
                            (offset * -1.0, [heights[1], heights[0]])
                        };
                        let geometry = LinkGeometry {
                            offset_m: [offset.x, offset.y],
                            antennas_m: heights,
                            state,
                        };
                        let pair = channel.update(fading, &draws, [own.id, id], &geometry);
                        if scheduled {
                            let power = channel.received_mw(fading.loss_db()) as f32;
                            let class = LinkClass::new(state.kind(), in_range);
                            self.powers.push((slot, other, power, class));
                        }
                        pair
                    }
                };
                if pair.success > 0.0 {
                    self.pairs.push((slot, other, pair));
                }
            }
        }
    }
}
