//! One instant, as sensors and antennas meet it. What is seen and who is linked do not touch each other, so both can be found
//! at the same time.

use covey_protocol::Cell;
use covey_radio::{Blockage, FadingDraws, LinkGeometry, LinkState, PairLink};
use covey_world::Frame;
use covey_world::sight::{self, Observed, Scratch};

use crate::awareness::{Matrix, Stamp};
use crate::pair_memory::{PairMemory, Vehicle};
use crate::prepared::Prepared;
use crate::shared::{Links, Lists};
use crate::slots::{NO_SLOT, Slots};

/// The vehicles of one step. Fields are those of [`Shared`](crate::shared::Shared).
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) seed: u64,
    pub(crate) step: u32,
    pub(crate) observed: Observed<'a>,
    pub(crate) frame: &'a Frame,
    pub(crate) slots: &'a Slots,
    pub(crate) places: &'a [u32],
    pub(crate) index: &'a [u32],
    pub(crate) participant: &'a [bool],
    pub(crate) participants: &'a [u32],
}

/// What is to be sensed, and where it goes.
#[derive(Debug)]
pub(crate) struct Sensing<'a> {
    /// The stamp of the step.
    pub(crate) stamp: Stamp,
    pub(crate) with_cells: bool,
    pub(crate) everyone_looks: bool,
    pub(crate) seen: &'a mut Lists<u32>,
    pub(crate) cells: &'a mut Lists<Cell>,
    pub(crate) sensed: &'a mut Matrix<Stamp>,
    pub(crate) sensed_by_any: &'a mut [Stamp],
}

/// Working memory for sight.
#[derive(Debug, Default)]
pub(crate) struct Eyes {
    scratch: Scratch,
    objects: Vec<u32>,
    cells: Vec<(i32, i32)>,
}

/// Working memory for links, and the fading of pairs.
#[derive(Debug, Default)]
pub(crate) struct Ears {
    scratch: Scratch,
    /// By unordered pair.
    fading: PairMemory,
    onward: Vec<sight::Link>,
    linked: Vec<bool>,
    pairs: Vec<(u32, u32, PairLink)>,
    next: Vec<u32>,
    turned: Vec<(u32, PairLink)>,
    present: Vec<u64>,
    by_place: Vec<PairLink>,
}

impl Scene<'_> {
    /// Everyone looks around.
    pub(crate) fn sense(&self, out: Sensing<'_>, eyes: &mut Eyes) {
        let Sensing {
            stamp,
            with_cells,
            everyone_looks,
            seen,
            cells,
            sensed,
            sensed_by_any,
        } = out;
        for lists in [&mut seen.begin, &mut cells.begin] {
            lists.clear();
            lists.push(0);
        }
        seen.items.clear();
        cells.items.clear();
        for slot in 0..self.slots.len() {
            let at = self.index[slot];
            if at != NO_SLOT && (everyone_looks || self.participant[slot]) {
                let mut view = self.observed.view(at, &mut eyes.scratch);
                view.objects(&mut eyes.objects);
                if with_cells && self.participant[slot] {
                    view.cells(&self.prepared.grid, &mut eyes.cells);
                    let visible = eyes.cells.iter();
                    cells.items.extend(visible.map(|&(ix, iy)| Cell { ix, iy }));
                }
                for &object in &eyes.objects {
                    let object = self.places[object as usize];
                    seen.items.push(object);
                    sensed.row_mut(object)[slot] = stamp;
                    if self.participant[slot] {
                        sensed_by_any[object as usize] = stamp;
                    }
                }
            }
            seen.begin.push(seen.items.len() as u32);
            cells.begin.push(cells.items.len() as u32);
        }
    }

    /// Links between participants are found anew.
    pub(crate) fn link(&self, links: &mut Links, ears: &mut Ears) {
        let channel = &self.prepared.channel;
        let ranges = channel.parameters();
        let draws = FadingDraws::new(self.seed, u64::from(self.step));
        ears.pairs.clear();
        ears.linked.clear();
        let linked = self.places.iter();
        ears.linked
            .extend(linked.map(|&slot| self.participant[slot as usize]));
        let last_update = self.step.saturating_sub(self.prepared.timeline.beacon);
        ears.fading.begin(self.step, last_update, self.slots.len());
        for &slot in self.participants {
            let at = self.index[slot as usize];
            self.observed
                .links_onward_among(at, &ears.linked, &mut ears.scratch, &mut ears.onward);
            let vehicle = &self.frame.vehicles[at as usize];
            ears.fading.visit(Vehicle {
                place: slot,
                id: vehicle.id.0,
            });
            for link in &ears.onward {
                let other = self.places[link.other as usize];
                let peer = &self.frame.vehicles[link.other as usize];
                let offset = vehicle.position - peer.position;
                let antennas = [vehicle.body.height, peer.body.height];
                let dz = antennas[0] - antennas[1];
                let distance = (offset.dot(offset) + dz * dz).sqrt();
                let (state, case) = match link.state {
                    sight::LinkState::Clear => (LinkState::Los, None),
                    sight::LinkState::Vehicle { tallest } => (
                        LinkState::NlosV {
                            blocker_height_m: tallest,
                        },
                        Some(Blockage::of(antennas, tallest)),
                    ),
                    sight::LinkState::Building => (LinkState::Nlos, None),
                };
                if distance > ranges.range_m(state.kind()) {
                    continue;
                }
                let mean = match state {
                    LinkState::Nlos => None,
                    _ => self.prepared.mean_errors.of(case, distance),
                };
                let pair = match mean {
                    Some(error) => PairLink::new(distance, 1.0 - error),
                    None => {
                        let id = peer.id.0;
                        let fading = ears.fading.of(Vehicle { place: other, id });
                        // The order of the ends must not change from update to update.
                        let (offset, antennas) = if vehicle.id < peer.id {
                            (offset, antennas)
                        } else {
                            (offset * -1.0, [antennas[1], antennas[0]])
                        };
                        let geometry = LinkGeometry {
                            offset_m: [offset.x, offset.y],
                            antennas_m: antennas,
                            state,
                        };
                        channel.update(fading, &draws, [vehicle.id.0, id], &geometry)
                    }
                };
                if pair.success > 0.0 {
                    ears.pairs.push((slot, other, pair));
                }
            }
        }
        self.tabulate(links, ears);
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
        let size = self.slots.len();
        // Each pair at its second end.
        next.clear();
        next.resize(size + 1, 0);
        for &(_, b, _) in pairs.iter() {
            next[b as usize + 1] += 1;
        }
        for slot in 0..size {
            next[slot + 1] += next[slot];
        }
        turned.resize(pairs.len(), (0, PairLink::LOST));
        for &(a, b, link) in pairs.iter() {
            let place = &mut next[b as usize];
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
            let mut mark = |other: u32, link: PairLink| {
                let word = other as usize / 64;
                by_place[other as usize] = link;
                present[word] |= 1 << (other % 64);
                low = low.min(word);
                high = high.max(word + 1);
            };
            for &(other, link) in &turned[back..end as usize] {
                mark(other, link);
            }
            back = end as usize;
            while let Some(&(_, other, link)) =
                pairs.get(first).filter(|&&(a, ..)| a as usize == row)
            {
                mark(other, link);
                first += 1;
            }
            // Where nothing is marked, nothing is taken.
            for (word, set) in present.iter_mut().enumerate().take(high).skip(low) {
                let mut set = std::mem::take(set);
                while set != 0 {
                    let other = (word * 64) as u32 + set.trailing_zeros();
                    set &= set - 1;
                    links.receivers.push(other);
                    links.ids.push(self.slots.id(other));
                    links.links.push(by_place[other as usize]);
                }
            }
            links.begin.push(links.receivers.len() as u32);
        }
    }
}
