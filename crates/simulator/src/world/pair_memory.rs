//! What pairs of vehicles remember from one update of their links to the next.
//!
//! Pairs are visited sender by sender, and a sender's pairs of the last update lie side by side: going through them costs
//! no search. A pair that was not updated at the last update begins anew. Senders may be shared out among several threads, which
//! all read what was remembered last and write each what it visits.

use covey_radio::PairFading;

use crate::ids::{Slot, Step};

/// Fading by unordered pair of vehicles at the last update, as the threads wrote it.
#[derive(Debug, Default)]
pub(crate) struct PairMemory {
    /// By ascending places.
    last: Vec<Rows>,
}

/// What one thread remembers of an update.
#[derive(Debug, Default)]
pub(crate) struct PairUpdate {
    this: Rows,
    /// By place: the visit that found it in the last row of the sender, and where.
    found: Vec<(u32, u32)>,
    visit: u32,
    /// The sender that is visited: its place and number.
    sender: Vehicle,
    /// Among whose rows its last one is.
    by: usize,
}

/// A vehicle's place and number. Places are given to others in time, numbers are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Vehicle {
    pub(crate) place: Slot,
    pub(crate) id: u32,
}

/// The pairs of one update, by sender.
#[derive(Debug, Default)]
struct Rows {
    /// The step of the update; none before the first.
    step: Option<Step>,
    /// The first place whose pairs are here.
    first: usize,
    /// Begin and end of each sender's pairs, by place from the first on.
    range: Vec<(u32, u32)>,
    /// Sender's number and the other vehicle.
    ends: Vec<(u32, Vehicle)>,
    fading: Vec<PairFading>,
}

impl Rows {
    fn clear(&mut self) {
        self.step = None;
        self.range.clear();
        self.ends.clear();
        self.fading.clear();
    }

    /// Where the pairs of a place begin, and the pairs.
    fn of(&self, place: Slot) -> (usize, &[(u32, Vehicle)]) {
        let range = place.index().checked_sub(self.first);
        let range = range.and_then(|at| self.range.get(at));
        let (begin, end) = range.copied().unwrap_or((0, 0));
        (begin as usize, &self.ends[begin as usize..end as usize])
    }
}

impl PairMemory {
    /// Begins the update of a step. Only what was updated at step `last` is remembered.
    pub(crate) fn begin<'u>(
        &mut self,
        updates: impl Iterator<Item = &'u mut PairUpdate>,
        step: Step,
        last: Step,
        places: usize,
    ) {
        let mut count = 0;
        for update in updates {
            if self.last.len() <= count {
                self.last.push(Rows::default());
            }
            let rows = &mut self.last[count];
            count += 1;
            std::mem::swap(rows, &mut update.this);
            if rows.step != Some(last) {
                rows.clear();
            }
            update.this.clear();
            update.this.step = Some(step);
            update.found.resize(places.max(update.found.len()), (0, 0));
        }
        self.last.truncate(count);
    }

    /// Among whose rows the pairs of a place are, where they begin, and the pairs.
    fn of(&self, place: Slot) -> (usize, usize, &[(u32, Vehicle)]) {
        let after = self
            .last
            .partition_point(|rows| rows.first <= place.index());
        let by = after.saturating_sub(1);
        let of = self.last.get(by).map(|rows| rows.of(place));
        let (begin, ends) = of.unwrap_or((0, &[]));
        (by, begin, ends)
    }
}

impl PairUpdate {
    /// Senders at the places from this one on are visited, by ascending place.
    pub(crate) fn begin_at(&mut self, place: Slot) {
        self.this.first = place.index();
    }

    /// Goes on to the pairs of a sender, each sender once.
    pub(crate) fn visit(&mut self, memory: &PairMemory, sender: Vehicle) {
        if self.visit == u32::MAX {
            self.found.fill((0, 0));
            self.visit = 0;
        }
        self.visit += 1;
        self.sender = sender;
        let here = self.this.ends.len() as u32;
        self.this
            .range
            .resize(sender.place.index() - self.this.first, (here, here));
        self.this.range.push((here, here));
        let (by, begin, ends) = memory.of(sender.place);
        self.by = by;
        for (at, &(_, other)) in (begin as u32..).zip(ends) {
            self.found[other.place.index()] = (self.visit, at);
        }
    }

    /// The fading of the pair of the sender and another vehicle, to be advanced; each pair once, at either end.
    pub(crate) fn of(&mut self, memory: &PairMemory, other: Vehicle) -> &mut PairFading {
        let sender = self.sender;
        let (visit, at) = self.found[other.place.index()];
        let here = (visit == self.visit).then(|| (&memory.last[self.by], at as usize));
        let at = here
            .filter(|&(rows, at)| rows.ends[at] == (sender.id, other))
            .or_else(|| {
                // The vehicles may have changed roles.
                let (by, begin, ends) = memory.of(other.place);
                let at = ends.iter().position(|&ends| ends == (other.id, sender))?;
                Some((&memory.last[by], begin + at))
            });
        let this = &mut self.this;
        let fading = at.map_or_else(PairFading::default, |(rows, at)| rows.fading[at]);
        if let Some((_, end)) = this.range.last_mut() {
            *end += 1;
        }
        this.ends.push((sender.id, other));
        let at = this.fading.len();
        this.fading.push(fading);
        &mut this.fading[at]
    }
}
