//! All links of a frame in one flat table, listed at both ends.

use super::links::Link;
use super::{LinkState, Observed, Scratch};

const NONE: Link = Link {
    other: 0,
    state: LinkState::Clear,
};

/// All links of a frame, listed at both ends: one flat list, sorted by vehicle and then by the other vehicle.
///
/// A table can be filled again and again ([`Observed::links_among`], [`Self::refill`]); it then keeps its memory. What it
/// held before never influences what it holds.
#[derive(Debug, Clone, Default)]
pub struct LinkTable {
    links: Vec<Link>,
    /// Where each vehicle's links begin, and the end of the last.
    begin: Vec<u32>,
    /// Working memory: each pair at the end that comes second in the order of positions.
    backward: Rows,
    /// Working memory: each pair at the end that comes first.
    onward: Rows,
    next: Vec<u32>,
}

impl PartialEq for LinkTable {
    fn eq(&self, other: &Self) -> bool {
        (&self.links, &self.begin) == (&other.links, &other.begin)
    }
}

/// Lists by vehicle, one after the other.
#[derive(Debug, Clone, Default)]
struct Rows {
    links: Vec<Link>,
    begin: Vec<u32>,
}

impl Rows {
    fn of(&self, i: usize) -> &[Link] {
        &self.links[self.begin[i] as usize..self.begin[i + 1] as usize]
    }
}

/// Turns how many links each vehicle has (one place too far on) into where they begin.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

fn empty(counts: &mut Vec<u32>, n: usize) {
    counts.clear();
    counts.resize(n + 1, 0);
}

impl LinkTable {
    /// Merges what [`Observed::links_onward`] gave for each vehicle of a frame, in the frame's order. Links to vehicles out
    /// of the frame are dropped.
    #[must_use]
    pub fn new<L: AsRef<[Link]>>(onward: &[L]) -> Self {
        let mut table = Self::default();
        table.refill(onward);
        table
    }

    /// As [`Self::new`], in place of what the table held.
    pub fn refill<L: AsRef<[Link]>>(&mut self, onward: &[L]) {
        self.merge(onward.len(), |i| onward[i].as_ref());
    }

    fn merge<'a>(&mut self, n: usize, onward: impl Fn(usize) -> &'a [Link]) {
        let known = |link: &&Link| (link.other as usize) < n;
        let (begin, back) = (&mut self.begin, &mut self.backward);
        empty(begin, n);
        empty(&mut back.begin, n);
        for i in 0..n {
            for link in onward(i).iter().filter(known) {
                begin[i + 1] += 1;
                back.begin[link.other as usize + 1] += 1;
            }
        }
        for (all, back) in begin.iter_mut().zip(&back.begin) {
            *all += back;
        }
        sum_up(begin);
        sum_up(&mut back.begin);

        let put = |next: &mut [u32], links: &mut [Link], at: u32, link: Link| {
            let next = &mut next[at as usize];
            links[*next as usize] = link;
            *next += 1;
        };
        back.links.resize(back.begin[n] as usize, NONE);
        self.next.clone_from(&back.begin);
        for i in 0..n {
            let other = i as u32;
            for link in onward(i).iter().filter(known) {
                let back_link = Link { other, ..*link };
                put(&mut self.next, &mut back.links, link.other, back_link);
            }
        }
        // Vehicles enter themselves at their neighbours in ascending order, so each list comes out sorted.
        self.links.resize(begin[n] as usize, NONE);
        self.next.clone_from(begin);
        for i in 0..n {
            let other = i as u32;
            for link in onward(i).iter().filter(known).chain(back.of(i)) {
                let here = Link { other, ..*link };
                put(&mut self.next, &mut self.links, link.other, here);
            }
        }
    }

    /// The links of one vehicle by ascending index of the other; empty for a vehicle out of the frame.
    #[must_use]
    pub fn of(&self, vehicle: u32) -> &[Link] {
        let i = vehicle as usize;
        if i + 1 >= self.begin.len() {
            return &[];
        }
        &self.links[self.begin[i] as usize..self.begin[i + 1] as usize]
    }

    /// The links of all vehicles, one vehicle's after the other's.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Where each vehicle's links begin in [`Self::links`], and the end of the last; empty if the table was never filled.
    #[must_use]
    pub fn begin(&self) -> &[u32] {
        &self.begin
    }
}

impl Observed<'_> {
    /// All links between vehicles of which `linked` says that they have an antenna, by their index in the frame; those
    /// that it does not reach have none. Vehicles without an antenna stand in between like all others.
    ///
    /// To share the work among threads, call [`Self::links_onward_among`] for each vehicle and [`LinkTable::refill`]: the
    /// table comes out the same.
    pub fn links_among(&self, linked: &[bool], scratch: &mut Scratch, table: &mut LinkTable) {
        let mut onward = std::mem::take(&mut table.onward);
        onward.links.clear();
        onward.begin.clear();
        onward.begin.push(0);
        for i in 0..self.len() as u32 {
            self.add_links_onward(i, Some(linked), scratch, &mut onward.links);
            onward.begin.push(onward.links.len() as u32);
        }
        table.merge(self.len(), |i| onward.of(i));
        table.onward = onward;
    }

    /// The links from `vehicle` to the vehicles within [`SightOptions::link_range`](super::SightOptions::link_range) that
    /// follow it in the order of positions (from west to east, then from south to north), in no particular order.
    ///
    /// A link is the same in both directions, so each unordered pair is computed, and listed, once: at the vehicle that
    /// comes first. [`LinkTable::new`] lists them at both ends.
    pub fn links_onward(&self, vehicle: u32, scratch: &mut Scratch, out: &mut Vec<Link>) {
        out.clear();
        self.add_links_onward(vehicle, None, scratch, out);
    }

    /// As [`Self::links_onward`], for links between vehicles of which `linked` says that they have an antenna.
    pub fn links_onward_among(
        &self,
        vehicle: u32,
        linked: &[bool],
        scratch: &mut Scratch,
        out: &mut Vec<Link>,
    ) {
        out.clear();
        self.add_links_onward(vehicle, Some(linked), scratch, out);
    }

    fn add_links_onward(
        &self,
        vehicle: u32,
        linked: Option<&[bool]>,
        scratch: &mut Scratch,
        out: &mut Vec<Link>,
    ) {
        if linked.is_some_and(|linked| linked.get(vehicle as usize) != Some(&true)) {
            return;
        }
        if let Some(slot) = self.slot_of(vehicle) {
            scratch.links.add_links_onward(self, slot, linked, out);
        }
    }
}
