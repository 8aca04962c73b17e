//! Who can hear whom, and how well: links of participants, found anew at every beacon interval.

use std::ops::Range;
use std::sync::Arc;

use covey_radio::sidelink::LinkClass;
use covey_radio::{Blockage, ChannelModel, FadingDraws, LinkGeometry, LinkState, PairLink};
use covey_world::{Point, sight};

use super::pair_memory::{PairMemory, PairUpdate, Vehicle};
use super::reach::{PairPower, Powers};
use super::road::Road;
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
    /// One for each piece of the work.
    listeners: Vec<Listener>,
    /// Room for links, where others still ask for those of the last update.
    spare: Arc<Links>,
    linked: Vec<bool>,
    /// By index in the frame.
    antennas: Vec<Antenna>,
    pairs: Vec<LinkedPair>,
    /// Of the pairs by either end: where each place's begin.
    firsts: Vec<u32>,
    seconds: Vec<u32>,
    turned: Vec<(Slot, PairLink)>,
    /// One for each piece of the work.
    tables: Vec<Table>,
    /// CPU seconds of threads other than the caller's.
    pub(super) helpers_cpu_s: f64,
}

/// Working memory for rows: their receivers, a bit each, and what belongs to them.
#[derive(Debug, Default)]
struct Table {
    present: Vec<u64>,
    by_place: Vec<PairLink>,
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

/// What is found of the links of the senders of one piece, and working memory.
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
    pub(super) fn link(&self, links: &mut Arc<Links>, powers: &mut Arc<Powers>, ears: &mut Ears) {
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
        ears.listeners
            .resize_with(self.gang.pieces(), Listener::default);
        let last_update = self.step.before(self.prepared.timeline.beacon);
        let updates = ears.listeners.iter_mut().map(|one| &mut one.fading);
        ears.fading
            .begin(updates, self.step, last_update, self.road.size());
        let (listeners, memory) = (&mut ears.listeners[..], &ears.fading);
        let among = (&ears.linked[..], &ears.antennas[..]);
        ears.helpers_cpu_s += self.share_out(listeners, |listener, places| {
            listener.link(self, places, among, memory);
        });
        ears.pairs.clear();
        if let [all] = &mut ears.listeners[..] {
            std::mem::swap(&mut ears.pairs, &mut all.pairs);
        } else {
            for listener in &mut ears.listeners {
                ears.pairs.append(&mut listener.pairs);
            }
        }
        if Arc::get_mut(links).is_none() {
            std::mem::swap(links, &mut ears.spare);
        }
        if Arc::get_mut(links).is_none() {
            *links = Arc::default();
        }
        self.tabulate(Arc::make_mut(links), ears);
        let channel = &self.prepared.channel;
        if channel.parameters().model == ChannelModel::Sps {
            let near_m = self.prepared.sight.options().link_range;
            let powers = Arc::make_mut(powers);
            powers.pairs.clear();
            for listener in &mut ears.listeners {
                powers.pairs.append(&mut listener.powers);
            }
            powers.tabulate(self.road, channel, &self.prepared.sight, near_m);
        }
    }

    /// Lists the pairs at both ends, each sender's receivers by ascending place. Pairs come by ascending first end.
    fn tabulate(&self, links: &mut Links, ears: &mut Ears) {
        let Ears {
            pairs,
            firsts,
            seconds,
            turned,
            tables,
            ..
        } = ears;
        let size = self.road.size();
        for counts in [&mut *firsts, &mut *seconds] {
            counts.clear();
            counts.resize(size + 1, 0);
        }
        for &(a, b, _) in pairs.iter() {
            firsts[a.index() + 1] += 1;
            seconds[b.index() + 1] += 1;
        }
        for slot in 0..size {
            firsts[slot + 1] += firsts[slot];
            seconds[slot + 1] += seconds[slot];
        }
        links.begin.clear();
        let both = firsts.iter().zip(seconds.iter());
        links
            .begin
            .extend(both.map(|(first, second)| first + second));
        // Each pair at its second end; that moves every beginning to the next.
        turned.resize(pairs.len(), (Slot(0), PairLink::LOST));
        for &(a, b, link) in pairs.iter() {
            let place = &mut seconds[b.index()];
            turned[*place as usize] = (a, link);
            *place += 1;
        }
        let all = 2 * pairs.len();
        links.receivers.resize(all, Slot(0));
        links.ids.resize(all, 0);
        links.links.resize(all, PairLink::LOST);
        tables.resize_with(self.gang.pieces(), Table::default);
        let share = size.div_ceil(tables.len()).max(1);
        let mut left = Rows {
            receivers: &mut links.receivers,
            ids: &mut links.ids,
            links: &mut links.links,
        };
        let begin = &links.begin;
        let rows = (0..size).step_by(share);
        let pieces = rows.zip(tables).map(|(from, table)| {
            let to = (from + share).min(size);
            let rows = left.take((begin[to] - begin[from]) as usize);
            (from..to, rows, table)
        });
        let (pairs, turned, firsts, seconds) = (&*pairs, &*turned, &*firsts, &*seconds);
        let work = |(places, rows, table): (Range<usize>, Rows<'_>, &mut Table)| {
            table.list(self.road, places, rows, |row| {
                let back = row.checked_sub(1).map_or(0, |before| seconds[before]);
                let back = &turned[back as usize..seconds[row] as usize];
                let onward = &pairs[firsts[row] as usize..firsts[row + 1] as usize];
                let onward = onward.iter().map(|&(_, other, link)| (other, link));
                back.iter().copied().chain(onward)
            });
        };
        ears.helpers_cpu_s += self.gang.share(pieces.collect(), work);
    }
}

/// Some rows of the lists of links.
struct Rows<'a> {
    receivers: &'a mut [Slot],
    ids: &'a mut [u32],
    links: &'a mut [PairLink],
}

impl<'a> Rows<'a> {
    /// Takes the first so many links from these.
    fn take(&mut self, count: usize) -> Self {
        fn first<'a, T>(all: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            let (first, rest) = std::mem::take(all).split_at_mut(count);
            *all = rest;
            first
        }
        Self {
            receivers: first(&mut self.receivers, count),
            ids: first(&mut self.ids, count),
            links: first(&mut self.links, count),
        }
    }
}

impl Table {
    /// Lists what `of` gives for each of some rows by ascending place. A row is sorted by marking its receivers: all of that stays in the
    /// nearest cache.
    fn list<I: Iterator<Item = (Slot, PairLink)>>(
        &mut self,
        road: &Road,
        places: Range<usize>,
        rows: Rows<'_>,
        of: impl Fn(usize) -> I,
    ) {
        let Self { present, by_place } = self;
        present.resize(road.size().div_ceil(64), 0);
        by_place.resize(road.size(), PairLink::LOST);
        let mut at = 0;
        for row in places {
            let (mut low, mut high) = (usize::MAX, 0);
            for (other, link) in of(row) {
                let word = other.index() / 64;
                by_place[other.index()] = link;
                present[word] |= 1 << (other.0 % 64);
                low = low.min(word);
                high = high.max(word + 1);
            }
            let begin = at;
            // Where nothing is marked, nothing is taken.
            for (word, set) in present.iter_mut().enumerate().take(high).skip(low) {
                let mut set = std::mem::take(set);
                while set != 0 {
                    rows.receivers[at] = Slot((word * 64) as u32 + set.trailing_zeros());
                    set &= set - 1;
                    at += 1;
                }
            }
            let receivers = &rows.receivers[begin..at];
            for (id, &other) in rows.ids[begin..at].iter_mut().zip(receivers) {
                *id = road.id(other);
            }
            for (link, other) in rows.links[begin..at].iter_mut().zip(receivers) {
                *link = by_place[other.index()];
            }
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
        self.fading.begin_at(Slot(places.start));
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
