//! Which tracks the entries of one look may be.

use alloc::vec::Vec;

use super::assignment::Bodies;
use super::{Association, GATE, MOST_S, ROUNDING_M, Seen, Track, cell, drift};
use crate::time::Instant;

/// Mostly all entries of a look are off by no more than this along an axis, in metres.
pub(super) const SLACK_M: f64 = 0.75;
/// Tracks are put into so many strips across the look.
const STRIPS: usize = 64;
/// No spot comes next.
const END: u32 = u32::MAX;

/// Where all tracks are at one time: reports of one cycle mostly tell of one.
#[derive(Debug, Clone, Default)]
pub(super) struct Present {
    /// None: nothing is known.
    at: Option<Instant>,
    /// By track: its place, and its first gate.
    places: Vec<([f64; 2], f64)>,
}

impl Present {
    /// Tracks have changed.
    pub(super) fn forget(&mut self) {
        self.at = None;
    }

    /// A track is another now, or there is one more.
    pub(super) fn put(&mut self, number: usize, seen: &Seen, variance: f64) {
        if let Some(at) = self.at {
            let here = place_and_gate(seen, at, variance);
            match self.places.get_mut(number) {
                Some(place) => *place = here,
                None => self.places.push(here),
            }
        }
    }

    /// Finds where all are at `at`, unless that is known.
    fn go_to(&mut self, at: Instant, tracks: &[Track], variance: f64) {
        if self.at != Some(at) {
            self.at = Some(at);
            self.places.clear();
            let places = tracks
                .iter()
                .map(|track| place_and_gate(&track.seen, at, variance));
            self.places.extend(places);
        }
    }
}

/// Where something is at `at`, and its first gate.
fn place_and_gate(seen: &Seen, at: Instant, variance: f64) -> ([f64; 2], f64) {
    let (here, seconds) = seen.moved(at);
    ([here.x, here.y], gate_m(variance, seconds))
}

/// The tracks that entries of a look may be, and room to find them.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// Numbers of spots, entry by entry; those of an entry begin and end as `range` says.
    near: Vec<u32>,
    range: Vec<(u32, u32)>,
    spots: Vec<Spot>,
    /// By strip: the first of its spots.
    first: [u32; STRIPS],
    /// Entries in order of time.
    order: Vec<u32>,
}

impl Default for Around {
    fn default() -> Self {
        Self {
            near: Vec::new(),
            range: Vec::new(),
            spots: Vec::new(),
            first: [END; STRIPS],
            order: Vec::new(),
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

/// Tracks by the number of their spots.
pub(super) struct Spotted<'a> {
    spots: &'a [Spot],
    tracks: &'a [Track],
}

impl Spotted<'_> {
    fn track(&self, number: u32) -> &Track {
        &self.tracks[self.spots[number as usize].number as usize]
    }
}

impl Bodies for Spotted<'_> {
    fn count(&self) -> usize {
        self.spots.len()
    }

    fn seen(&self, number: u32) -> &Seen {
        &self.track(number).seen
    }

    fn rank(&self, number: u32) -> u64 {
        self.track(number).label.0
    }
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

    /// A place is no farther off than so many metres along either axis.
    fn has(&self, place: [f64; 2], within_m: f64) -> bool {
        let along = |axis: usize| {
            place[axis] >= self.low[axis] - within_m && place[axis] <= self.high[axis] + within_m
        };
        along(0) && along(1)
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
    /// under no offset of the look of up to `most_m` along either axis.
    pub(super) fn find(
        &mut self,
        tracks: &Association,
        present: &mut Present,
        not: Option<u32>,
        entries: &[Seen],
        most_m: f64,
    ) {
        self.near.clear();
        self.range.clear();
        self.range.resize(entries.len(), (0, 0));
        let bounds = Bounds::new(entries);
        let strips = bounds.strips();
        let [apart, _] = tracks.accuracy.variances();
        let at_once = entries.windows(2).all(|two| two[0].at == two[1].at);
        if let Some(entry) = entries.first()
            && at_once
        {
            present.go_to(entry.at, &tracks.tracks, apart);
            // None is off by more than the widest gate of those that are found.
            let most_m = offset_m(tracks, most_m);
            self.gather(tracks, Some((&*present, most_m)), not, bounds);
            let widest = self.widest();
            let offset = most_m.min(widest);
            self.lay_out(strips, bounds, widest + offset);
            for (k, entry) in entries.iter().enumerate() {
                self.try_near(k, entry, strips, [widest, offset]);
            }
            return;
        }
        self.gather(tracks, None, not, bounds);
        let mut order = core::mem::take(&mut self.order);
        order.clear();
        order.extend(0..entries.len() as u32);
        order.sort_unstable_by_key(|&k| (entries[k as usize].at, k));
        let offset = offset_m(tracks, most_m.min(gate_m(apart, MOST_S)));
        let same = |a: &u32, b: &u32| entries[*a as usize].at == entries[*b as usize].at;
        for some in order.chunk_by(same) {
            self.move_to(tracks, entries[some[0] as usize].at, apart);
            let widest = self.widest();
            self.lay_out(strips, bounds, widest + offset);
            for &k in some {
                let entry = &entries[k as usize];
                self.try_near(k as usize, entry, strips, [widest, offset]);
            }
        }
        self.order = order;
    }

    /// The widest gate of any spot.
    fn widest(&self) -> f64 {
        self.spots.iter().map(|spot| spot.gate).fold(0.0, f64::max)
    }

    /// Numbers of spots that an entry may be.
    pub(super) fn of(&self, entry: usize) -> &[u32] {
        let (begin, end) = self.range[entry];
        &self.near[begin as usize..end as usize]
    }

    /// The number of the track at a spot.
    pub(super) fn track(&self, spot: u32) -> u32 {
        self.spots[spot as usize].number
    }

    /// The tracks at spots.
    pub(super) fn spotted<'a>(&'a self, tracks: &'a Association) -> Spotted<'a> {
        Spotted {
            spots: &self.spots,
            tracks: &tracks.tracks,
        }
    }

    /// Gathers the tracks in all cells between those of entries, and beside them; where they are at the `present`, if that is given with
    /// the farthest that entries may be off, and without those that are too far off then.
    fn gather(
        &mut self,
        tracks: &Association,
        present: Option<(&Present, f64)>,
        not: Option<u32>,
        bounds: Bounds,
    ) {
        self.spots.clear();
        let corner = |[x, y]: [f64; 2]| cell(crate::grid::Position::new(x, y));
        let low = corner(bounds.low).map(|at| at.saturating_sub(1));
        let high = corner(bounds.high).map(|at| at.saturating_add(1));
        // There may be no entries.
        if low[0] > high[0] || low[1] > high[1] {
            return;
        }
        let wide = [0, 1].map(|axis| high[axis].abs_diff(low[axis]));
        for (number, &cell) in (0u32..).zip(&tracks.cells) {
            // What is below is far above as a number without a sign.
            let past = |axis: usize| cell[axis].wrapping_sub(low[axis]) as u32;
            let inside = (past(0) <= wide[0]) & (past(1) <= wide[1]);
            if inside && Some(number) != not {
                let (place, gate) = match present {
                    Some((present, most_m)) => {
                        let (place, gate) = present.places[number as usize];
                        if !bounds.has(place, gate + most_m) {
                            continue;
                        }
                        (place, gate)
                    }
                    None => ([0.0; 2], 0.0),
                };
                self.spots.push(Spot {
                    place,
                    gate,
                    cell,
                    number,
                    next: END,
                });
            }
        }
    }

    /// Moves all tracks to where they are at `at`.
    fn move_to(&mut self, tracks: &Association, at: Instant, variance: f64) {
        for spot in &mut self.spots {
            let seen = &tracks.tracks[spot.number as usize].seen;
            (spot.place, spot.gate) = place_and_gate(seen, at, variance);
        }
    }

    /// Puts all that are no farther off the bounds than so many metres into strips.
    fn lay_out(&mut self, strips: Strips, bounds: Bounds, within_m: f64) {
        self.first.fill(END);
        for (k, spot) in (0u32..).zip(&mut self.spots) {
            if bounds.has(spot.place, within_m) {
                let first = &mut self.first[strips.of(spot.place[strips.axis])];
                spot.next = core::mem::replace(first, k);
            }
        }
    }

    /// Notes the spots that an entry may be, `offset` apart; no gate is wider than `widest`.
    fn try_near(
        &mut self,
        number: usize,
        entry: &Seen,
        strips: Strips,
        [widest, offset]: [f64; 2],
    ) {
        let begin = self.near.len() as u32;
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
        self.range[number] = (begin, self.near.len() as u32);
    }
}

/// Nothing that is farther off along an axis is within the first gate of a track that was moved by so many seconds, in metres.
fn gate_m(variance: f64, seconds: f64) -> f64 {
    let drift = drift(seconds);
    GATE * libm::sqrt(variance + drift * drift) + ROUNDING_M
}

/// How far off all entries of a look may be, axis by axis, if that is no more than `most_m`: nothing where no offset is taken out.
fn offset_m(tracks: &Association, most_m: f64) -> f64 {
    let [apart, aligned] = tracks.accuracy.variances();
    if aligned < apart { most_m } else { 0.0 }
}
