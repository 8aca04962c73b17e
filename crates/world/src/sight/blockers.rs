//! The vehicles around one sensor, by bins of bearing and by distance.
//!
//! Each vehicle near the sensor gets a rank by its distance, and each bin a set of ranks: the vehicles whose silhouettes
//! touch the bin. A sight line is tested only against those in its own bin that begin nearer than it ends, nearest first.

use super::bearing::{bearing, bin, lesser, whole_part};
use super::prospect::{self, OpenTiles};
use super::rule::{self, SightLine};
use super::sector::Sector;
use super::vehicles::Vehicles;
use super::view::BINS;
use std::ops::Range;

/// Steps of distance.
const LEVELS: usize = 64;
/// Distances are taken a little shorter than they come out, by far more than their rounding.
const SHRINK: f64 = 1.0 - 1e-9;

#[derive(Debug, Clone, Copy)]
struct Staged {
    blocker: Blocker,
    level: u16,
    first_bin: u16,
    bins: u16,
}

/// A vehicle near the sensor.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Blocker {
    pub slot: u32,
    /// The bin of its centre among those of prospects.
    pub at: u16,
    /// The distance of its centre.
    pub distance: f64,
    /// Its farthest corner's distance over its roof's depth below the sensor; infinite if the roof is not below. A line that
    /// sinks by one metre over a longer distance passes above the roof.
    steepness: f64,
}

/// The vehicles around one sensor.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blockers {
    runs: Vec<Range<usize>>,
    staged: Vec<Staged>,
    by_rank: Vec<Blocker>,
    /// Words per bin.
    words: usize,
    /// Sets of ranks by bin.
    sets: Vec<u64>,
    /// How many vehicles begin within each step of distance or before.
    up_to: Vec<u32>,
    levels_per_metre: f64,
}

/// The step of a distance. Rounding is the same for all, so a longer distance never has a lower step.
#[inline]
fn level(levels_per_metre: f64, distance: f64) -> usize {
    whole_part(lesser(distance * levels_per_metre, LEVELS as f64 - 3.0) + 2.0)
}

impl Blockers {
    /// Looks around from the vehicle in `slot`, whose sensor is at `height`, at all others that come within `range` and, if
    /// that is known, are not hidden by buildings entirely.
    pub(crate) fn build(
        &mut self,
        vehicles: &Vehicles,
        slot: usize,
        range: f64,
        height: f64,
        open: Option<&OpenTiles>,
    ) {
        let from = vehicles.boxes[slot].centre;
        self.staged.clear();
        self.up_to.clear();
        self.up_to.resize(LEVELS, 0);
        let levels_per_metre = LEVELS as f64 / range.max(1e-3);
        self.levels_per_metre = levels_per_metre;
        let by_tile = open.is_some_and(|open| vehicles.runs_in_open_tiles(open, &mut self.runs));
        if !by_tile {
            vehicles.runs_near(from, range, &mut self.runs);
        }
        for other in self.runs.iter().flat_map(Range::clone) {
            let b = &vehicles.boxes[other];
            let away = b.centre - from;
            let reach = range + vehicles.reach[other];
            if away.dot(away) * SHRINK > reach * reach || other == slot {
                continue;
            }
            let distance = away.dot(away).sqrt();
            let centre = bearing(away);
            let sector = Sector::new::<BINS>(b, vehicles.reach[other], away, distance, centre);
            let level = level(levels_per_metre, sector.near);
            let depth = height - b.height;
            let steepness = if depth > 0.0 {
                sector.far / depth * (2.0 - SHRINK)
            } else {
                f64::INFINITY
            };
            self.up_to[level] += 1;
            self.staged.push(Staged {
                blocker: Blocker {
                    slot: other as u32,
                    at: bin::<{ prospect::BINS }>(centre) as u16,
                    distance,
                    steepness,
                },
                level: level as u16,
                first_bin: sector.first as u16,
                bins: sector.count as u16,
            });
        }
        self.rank();
    }

    /// Ranks the staged vehicles by distance and enters them into the bins.
    fn rank(&mut self) {
        let mut next = [0_u32; LEVELS];
        let mut sum = 0;
        for (up_to, next) in self.up_to.iter_mut().zip(&mut next) {
            *next = sum;
            sum += *up_to;
            *up_to = sum;
        }
        self.words = self.staged.len().div_ceil(64);
        self.sets.clear();
        self.sets.resize(self.words * BINS, 0);
        self.by_rank.clear();
        self.by_rank.resize(self.staged.len(), Blocker::default());
        for staged in &self.staged {
            let rank = next[staged.level as usize];
            next[staged.level as usize] += 1;
            self.by_rank[rank as usize] = staged.blocker;
            let (word, bit) = (rank as usize / 64, 1_u64 << (rank % 64));
            let first = staged.first_bin as usize;
            let end = first + staged.bins as usize;
            let mut enter = |bins: Range<usize>| {
                let mut at = bins.start * self.words + word;
                for _ in bins {
                    self.sets[at] |= bit;
                    at += self.words;
                }
            };
            enter(first..end.min(BINS));
            enter(0..end.saturating_sub(BINS));
        }
    }

    /// The vehicles that come within range, nearest first by steps.
    pub(crate) fn by_rank(&self) -> &[Blocker] {
        &self.by_rank
    }

    /// A vehicle other than `target` blocks the line, which is `distance` long and lies in bin `at`.
    #[inline]
    pub(crate) fn blocks(
        &self,
        vehicles: &Vehicles,
        line: &SightLine,
        distance: f64,
        at: usize,
        target: usize,
    ) -> bool {
        let near_enough = self.up_to[level(self.levels_per_metre, distance)] as usize;
        // Metres of distance for each metre that the line sinks; none if it rises.
        let fall = line.from_height - line.to_height;
        let steepness = if fall > 0.0 { distance / fall } else { 0.0 };
        let sets = &self.sets[at * self.words..(at + 1) * self.words];
        for (&set, base) in sets.iter().zip((0..near_enough).step_by(64)) {
            let left = near_enough - base;
            let mut set = if left < 64 { set & !(!0 << left) } else { set };
            while set != 0 {
                let blocker = &self.by_rank[base + set.trailing_zeros() as usize];
                let slot = blocker.slot as usize;
                if blocker.steepness >= steepness
                    && slot != target
                    && rule::box_blocks(line, &vehicles.boxes[slot])
                {
                    return true;
                }
                set &= set - 1;
            }
        }
        false
    }
}
