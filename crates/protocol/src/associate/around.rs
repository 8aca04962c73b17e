//! Which tracks the entries of one look may be.

use alloc::vec::Vec;

use super::{Association, GATE, MOST_S, ROUNDING_M, Seen, cell, drift};
use crate::time::Instant;

/// Tracks are put into so many strips across the look.
const STRIPS: usize = 64;
/// No spot comes next.
const END: u32 = u32::MAX;

/// The tracks that entries of a look may be, and room to find them.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// Tracks that any entry may be, by label ascending, so that ties go to the lower one.
    pub(super) numbers: Vec<u32>,
    /// The same tracks as they were seen last.
    pub(super) seen: Vec<Seen>,
    /// Places in `numbers`, entry by entry; those of an entry begin and end as `begin` says.
    near: Vec<u32>,
    begin: Vec<u32>,
    spots: Vec<Spot>,
    /// By strip: the first of its spots.
    first: [u32; STRIPS],
    /// By spot: some entry may be its track, and then the track's place in `numbers`.
    places: Vec<u32>,
    used: Vec<u32>,
}

impl Default for Around {
    fn default() -> Self {
        Self {
            numbers: Vec::new(),
            seen: Vec::new(),
            near: Vec::new(),
            begin: Vec::new(),
            spots: Vec::new(),
            first: [END; STRIPS],
            places: Vec::new(),
            used: Vec::new(),
        }
    }
}

/// Where a track is when an entry was seen.
#[derive(Debug, Clone, Copy)]
struct Spot {
    place: [f64; 2],
    /// Nothing farther off along an axis is within its first gate, in metres.
    gate: f64,
    cell: [i32; 2],
    number: u32,
    /// The next spot of its strip.
    next: u32,
}

/// The entries of a look lie within these bounds.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: [f64; 2],
    high: [f64; 2],
}

impl Bounds {
    fn new(entries: &[Seen]) -> Self {
        let mut bounds = Self {
            low: [f64::INFINITY; 2],
            high: [f64::NEG_INFINITY; 2],
        };
        for entry in entries {
            let place = [entry.position.x, entry.position.y];
            for (axis, at) in place.into_iter().enumerate() {
                bounds.low[axis] = bounds.low[axis].min(at);
                bounds.high[axis] = bounds.high[axis].max(at);
            }
        }
        bounds
    }

    /// Strips lie across the axis along which entries are spread the most.
    fn strips(&self) -> Strips {
        let spread = [0, 1].map(|axis| self.high[axis] - self.low[axis]);
        let axis = usize::from(spread[1] > spread[0]);
        Strips {
            axis,
            low: self.low[axis],
            // Entries at one place have one strip.
            per_m: (STRIPS as f64 / spread[axis]).min(1e3),
        }
    }
}

/// How places are put into strips: in order, so what lies between two places is in a strip between theirs.
#[derive(Debug, Clone, Copy)]
struct Strips {
    axis: usize,
    low: f64,
    per_m: f64,
}

impl Strips {
    fn of(&self, along: f64) -> usize {
        // Casting cuts what is below zero, and not-a-number.
        (((along - self.low) * self.per_m) as usize).min(STRIPS - 1)
    }
}

impl Around {
    /// Finds the tracks, `not` apart, that each of `entries` may be: those in its cell or beside it that are not so far off that they fit
    /// under no offset of the look.
    pub(super) fn find(&mut self, tracks: &Association, not: Option<u32>, entries: &[Seen]) {
        self.near.clear();
        self.begin.clear();
        self.begin.push(0);
        let bounds = Bounds::new(entries);
        let strips = bounds.strips();
        self.gather(tracks, not, bounds);
        let at_once = entries.windows(2).all(|two| two[0].at == two[1].at);
        let (mut at, mut offset, mut widest): (Option<Instant>, f64, f64) = (None, 0.0, 0.0);
        for entry in entries {
            if at != Some(entry.at) {
                at = Some(entry.at);
                widest = self.move_to(tracks, entry.at, strips);
                offset = offset_m(tracks, widest, at_once);
            }
            self.try_near(entry, strips, offset, widest);
            self.begin.push(self.near.len() as u32);
        }
        self.number(tracks);
    }

    /// Places of the tracks that an entry may be.
    pub(super) fn of(&self, entry: usize) -> &[u32] {
        &self.near[self.begin[entry] as usize..self.begin[entry + 1] as usize]
    }

    /// Gathers the tracks in all cells between those of entries, and beside them.
    fn gather(&mut self, tracks: &Association, not: Option<u32>, bounds: Bounds) {
        self.spots.clear();
        let corner = |[x, y]: [f64; 2]| cell(crate::grid::Position::new(x, y));
        let low = corner(bounds.low).map(|at| at.saturating_sub(1));
        let high = corner(bounds.high).map(|at| at.saturating_add(1));
        for (number, &cell) in (0u32..).zip(&tracks.cells) {
            let inside = (cell[0] >= low[0])
                & (cell[0] <= high[0])
                & (cell[1] >= low[1])
                & (cell[1] <= high[1]);
            if inside && Some(number) != not {
                self.spots.push(Spot {
                    place: [0.0; 2],
                    gate: 0.0,
                    cell,
                    number,
                    next: END,
                });
            }
        }
    }

    /// Moves all tracks to where they are at `at`, and puts them into strips. Gives the widest of their first gates.
    fn move_to(&mut self, tracks: &Association, at: Instant, strips: Strips) -> f64 {
        let [apart, _] = tracks.accuracy.variances();
        let mut widest = 0.0f64;
        self.first.fill(END);
        for (k, spot) in (0u32..).zip(&mut self.spots) {
            let (here, seconds) = tracks.tracks[spot.number as usize].seen.moved(at);
            spot.place = [here.x, here.y];
            spot.gate = gate_m(apart, seconds);
            widest = widest.max(spot.gate);
            let first = &mut self.first[strips.of(spot.place[strips.axis])];
            spot.next = core::mem::replace(first, k);
        }
        widest
    }

    /// Adds the spots that an entry may be, `offset` apart; no gate is wider than `widest`.
    fn try_near(&mut self, entry: &Seen, strips: Strips, offset: f64, widest: f64) {
        let place = [entry.position.x, entry.position.y];
        let cell = cell(entry.position);
        let beside = |a: i32, b: i32| a.abs_diff(b) <= 1;
        let (along, most) = (place[strips.axis], widest + offset);
        for strip in strips.of(along - most)..=strips.of(along + most) {
            let mut next = self.first[strip];
            while let Some(spot) = self.spots.get(next as usize) {
                let most = spot.gate + offset;
                if (place[0] - spot.place[0]).abs() <= most
                    && (place[1] - spot.place[1]).abs() <= most
                    && beside(spot.cell[0], cell[0])
                    && beside(spot.cell[1], cell[1])
                {
                    self.near.push(next);
                }
                next = spot.next;
            }
        }
    }

    /// Numbers the tracks that entries may be by their labels.
    fn number(&mut self, tracks: &Association) {
        self.places.clear();
        self.places.resize(self.spots.len(), 0);
        self.used.clear();
        for &k in &self.near {
            let place = &mut self.places[k as usize];
            if *place == 0 {
                *place = 1;
                self.used.push(k);
            }
        }
        let number = |k: u32| self.spots[k as usize].number;
        self.used
            .sort_unstable_by_key(|&k| tracks.tracks[number(k) as usize].label);
        self.numbers.clear();
        self.seen.clear();
        for (place, &k) in (0u32..).zip(&self.used) {
            self.places[k as usize] = place;
            self.numbers.push(number(k));
            self.seen.push(tracks.tracks[number(k) as usize].seen);
        }
        for k in &mut self.near {
            *k = self.places[*k as usize];
        }
    }
}

/// Nothing that is farther off along an axis is within the first gate of a track that was moved by so many seconds, in metres.
fn gate_m(variance: f64, seconds: f64) -> f64 {
    let drift = drift(seconds);
    GATE * libm::sqrt(variance + drift * drift) + ROUNDING_M
}

/// How far off all entries of a look may be, axis by axis: a median of offsets within first gates, the widest of which is `widest` if all
/// were seen at once.
fn offset_m(tracks: &Association, widest: f64, at_once: bool) -> f64 {
    let [apart, aligned] = tracks.accuracy.variances();
    match (aligned < apart, at_once) {
        (false, _) => 0.0,
        (true, true) => widest,
        (true, false) => gate_m(apart, MOST_S),
    }
}
