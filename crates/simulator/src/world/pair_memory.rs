//! What pairs of vehicles remember from one update of their links to the next.
//!
//! Pairs are visited sender by sender, and a sender's pairs of the last update lie side by side: going through them costs
//! no search. A pair that was not updated at the last update begins anew.

use covey_radio::PairFading;

use crate::ids::{Slot, Step};

/// Fading by unordered pair of vehicles, of two updates.
#[derive(Debug, Default)]
pub(crate) struct PairMemory {
    last: Rows,
    this: Rows,
    /// By place: the visit that found it in the last row of the sender, and where.
    found: Vec<(u32, u32)>,
    visit: u32,
    /// The sender that is visited: its place and number.
    sender: Vehicle,
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
    /// Begin and end of each sender's pairs, by place.
    range: Vec<(u32, u32)>,
    /// Sender's number and the other vehicle.
    ends: Vec<(u32, Vehicle)>,
    fading: Vec<PairFading>,
}

impl Rows {
    fn clear(&mut self, places: usize) {
        self.step = None;
        self.range.clear();
        self.range.resize(places, (0, 0));
        self.ends.clear();
        self.fading.clear();
    }

    /// Where the pairs of a place begin, and the pairs.
    fn of(&self, place: Slot) -> (usize, &[(u32, Vehicle)]) {
        let (begin, end) = self.range.get(place.index()).copied().unwrap_or((0, 0));
        (begin as usize, &self.ends[begin as usize..end as usize])
    }
}

impl PairMemory {
    /// Begins the update of a step. Only what was updated at step `last` is remembered.
    pub(crate) fn begin(&mut self, step: Step, last: Step, places: usize) {
        std::mem::swap(&mut self.last, &mut self.this);
        if self.last.step != Some(last) {
            self.last.clear(0);
        }
        self.this.clear(places);
        self.this.step = Some(step);
        self.found.resize(places.max(self.found.len()), (0, 0));
    }

    /// Goes on to the pairs of a sender, each sender once.
    pub(crate) fn visit(&mut self, sender: Vehicle) {
        if self.visit == u32::MAX {
            self.found.fill((0, 0));
            self.visit = 0;
        }
        self.visit += 1;
        self.sender = sender;
        let here = self.this.ends.len() as u32;
        self.this.range[sender.place.index()] = (here, here);
        let (begin, ends) = self.last.of(sender.place);
        for (at, &(_, other)) in (begin as u32..).zip(ends) {
            self.found[other.place.index()] = (self.visit, at);
        }
    }

    /// The fading of the pair of the sender and another vehicle, to be advanced; each pair once, at either end.
    pub(crate) fn of(&mut self, other: Vehicle) -> &mut PairFading {
        let sender = self.sender;
        let (visit, at) = self.found[other.place.index()];
        let here = (visit == self.visit).then_some(at as usize);
        let at = here
            .filter(|&at| self.last.ends[at] == (sender.id, other))
            .or_else(|| {
                // The vehicles may have changed roles.
                let (begin, ends) = self.last.of(other.place);
                let at = ends.iter().position(|&ends| ends == (other.id, sender))?;
                Some(begin + at)
            });
        let this = &mut self.this;
        let fading = at.map_or_else(PairFading::default, |at| self.last.fading[at]);
        this.range[sender.place.index()].1 += 1;
        this.ends.push((sender.id, other));
        let at = this.fading.len();
        this.fading.push(fading);
        &mut this.fading[at]
    }
}
