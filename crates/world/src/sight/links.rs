//! What stands between antennas: the links of one vehicle with those that follow it in the order of positions.
//!
//! The order runs from west to east, so all of them lie in the eastern half plane. Buildings are the business of prospects, or
//! of a horizon, as for sight. The vehicles around the sender become sets by bins of bearing, the tallest first: the first
//! one that is found to stand in between is the tallest that does.

use super::bearing::{bearing, bin, lesser, whole_part};
use super::horizon::{Horizon, Outlook};
use super::prospect::{self, Prospect};
use super::rule;
use super::sector::{MARGIN, Sector};
use super::vehicles::{HEIGHT_CLASSES, Vehicles};
use super::{Link, LinkState, Observed};
use crate::geometry::Point;
use std::ops::Range;

/// Bins of bearing: far down the road, neighbours and fronts of buildings lie close together.
const BINS: usize = prospect::BINS;
/// Bins in which links lie: those of the eastern half plane, borders included.
const EAST: usize = BINS / 2 + 1;
/// Steps of distance by which vehicles of a height are ranked.
const LEVELS: usize = 16;
/// Vehicles are ranked by height, then by distance; a power of two.
const RANKS: usize = HEIGHT_CLASSES * LEVELS;

/// A vehicle that can stand in between, before it has a rank.
#[derive(Debug, Clone, Copy)]
struct Staged {
    slot: u32,
    order: u16,
    first: u16,
    count: u16,
    near: f32,
}

/// A vehicle that can stand in between.
#[derive(Debug, Clone, Copy, Default)]
struct Hider {
    slot: u32,
    /// No point of it is nearer to the sender.
    near: f32,
}

/// A vehicle that the sender may be linked with.
#[derive(Debug, Clone, Copy)]
struct Target {
    slot: u32,
    at: u16,
    distance: f64,
}

/// Working memory for links.
#[derive(Debug, Clone)]
pub(super) struct LinkScratch {
    horizon: Horizon<BINS>,
    runs: Vec<Range<usize>>,
    targets: Vec<Target>,
    staged: Vec<Staged>,
    /// How many there are of each height and step of distance.
    counts: [u32; RANKS],
    /// The hiders by rank.
    hiders: Vec<Hider>,
    /// Words per bin.
    words: usize,
    /// Sets of ranks by bin.
    sets: Vec<u64>,
}

impl Default for LinkScratch {
    fn default() -> Self {
        Self {
            horizon: Horizon::default(),
            runs: Vec::new(),
            targets: Vec::new(),
            staged: Vec::new(),
            counts: [0; RANKS],
            hiders: Vec::new(),
            words: 0,
            sets: Vec::new(),
        }
    }
}

fn is_linked(linked: Option<&[bool]>, index: u32) -> bool {
    linked.is_none_or(|linked| linked.get(index as usize) == Some(&true))
}

/// Adds the links to vehicles in tiles that buildings hide from the sender entirely.
fn add_hidden_links(
    observed: &Observed<'_>,
    slot: usize,
    linked: Option<&[bool]>,
    prospect: &Prospect,
    out: &mut Vec<Link>,
) {
    let Observed { sight, vehicles } = observed;
    let from = vehicles.boxes[slot].centre;
    let options = &sight.options;
    let range = lesser(options.building_link_range, options.link_range);
    let limit = range * range;
    vehicles.in_hidden_tiles(&prospect.open, from, range, |other| {
        let away = vehicles.boxes[other].centre - from;
        let index = vehicles.index[other];
        if away.dot(away) <= limit && vehicles.precedes(slot, other) && is_linked(linked, index) {
            out.push(Link {
                other: index,
                state: LinkState::Building,
            });
        }
    });
}

impl LinkScratch {
    /// Adds the links of the vehicle in `slot` to `out`; of all that follow it, or of those that `linked` names.
    pub(super) fn add_links_onward(
        &mut self,
        observed: &Observed<'_>,
        slot: usize,
        linked: Option<&[bool]>,
        out: &mut Vec<Link>,
    ) {
        let Observed { sight, vehicles } = observed;
        let (buildings, options) = (&sight.buildings, &sight.options);
        let from = vehicles.boxes[slot].centre;
        let prospect = sight.link_prospects.at(buildings, from);
        let by_tile = self.gather(vehicles, slot, options.link_range, linked, prospect);
        if let Some(prospect) = prospect.filter(|_| by_tile) {
            add_hidden_links(observed, slot, linked, prospect, out);
        }
        if self.targets.is_empty() {
            return;
        }
        self.rank();
        let outlook = Outlook {
            from,
            range: options.link_range,
            height: 0.0,
            west: from.x,
        };
        match prospect {
            Some(prospect) => self.horizon.defer_to(buildings, &outlook, prospect),
            None => self.horizon.build(buildings, &outlook),
        }
        let horizon = &self.horizon;
        for target in &self.targets {
            let along = vehicles.boxes[target.slot as usize].centre - from;
            let (at, distance) = (usize::from(target.at), target.distance);
            let distance_squared = along.dot(along);
            let hidden = horizon.enclosed
                || match prospect {
                    Some(prospect) => prospect.blocks(buildings, from, along, distance, at),
                    None => horizon.blocks(buildings, from, along, distance, at),
                }
                || horizon
                    .apart
                    .iter()
                    .any(|&b| buildings.cuts(b, from, along));
            let state = if hidden {
                LinkState::Building
            } else {
                self.state_among_vehicles(vehicles, from, along, target)
            };
            if options.links(state, distance_squared) {
                let other = vehicles.index[target.slot as usize];
                out.push(Link { other, state });
            }
        }
    }

    /// Collects the vehicles that can stand in between, and those that are linked. True if it left out those in tiles that
    /// buildings hide.
    fn gather(
        &mut self,
        vehicles: &Vehicles,
        slot: usize,
        range: f64,
        linked: Option<&[bool]>,
        prospect: Option<&Prospect>,
    ) -> bool {
        let from = vehicles.boxes[slot].centre;
        let limit = range * range;
        let levels_per_metre = LEVELS as f64 / range.max(1e-3);
        let Self {
            runs,
            targets,
            staged,
            counts,
            ..
        } = self;
        let by_tile =
            prospect.is_some_and(|prospect| vehicles.runs_in_open_tiles(&prospect.open, runs));
        if !by_tile {
            vehicles.runs_near_east(from, range, runs);
        }
        targets.clear();
        staged.clear();
        *counts = [0; RANKS];
        for other in runs.iter().flat_map(Range::clone) {
            let b = &vehicles.boxes[other];
            let reach = vehicles.reach[other];
            let away = b.centre - from;
            let distance_squared = away.dot(away);
            let hides_up_to = range + reach;
            // West of the sender there is nothing to hide.
            if away.x < -reach
                || distance_squared * (1.0 - MARGIN) > hides_up_to * hides_up_to
                || other == slot
            {
                continue;
            }
            let distance = distance_squared.sqrt();
            // The bearing of a null vector is not a number.
            let centre = if distance_squared > 0.0 {
                bearing(away)
            } else {
                0.0
            };
            let sector = Sector::new::<BINS>(b, reach, away, distance, centre);
            let level = lesser(sector.near * levels_per_metre, LEVELS as f64 - 2.0) + 1.0;
            let class = usize::from(vehicles.height_class[other]);
            let order = (class * LEVELS + whole_part(level)) & (RANKS - 1);
            counts[order] += 1;
            staged.push(Staged {
                slot: other as u32,
                order: order as u16,
                first: sector.first as u16,
                count: sector.count as u16,
                // Rounded down.
                near: sector.near as f32 * (1.0 - 1e-6),
            });
            if distance_squared <= limit
                && away.x >= 0.0
                && is_linked(linked, vehicles.index[other])
                && vehicles.precedes(slot, other)
            {
                targets.push(Target {
                    slot: other as u32,
                    at: bin::<BINS>(centre) as u16,
                    distance,
                });
            }
        }
        by_tile
    }

    /// Ranks the staged vehicles by height and distance and enters them into the bins.
    fn rank(&mut self) {
        let mut sum = 0;
        for count in &mut self.counts {
            sum += std::mem::replace(count, sum);
        }
        let words = self.staged.len().div_ceil(64);
        self.words = words;
        self.sets.clear();
        self.sets.resize(words * EAST, 0);
        self.hiders.clear();
        self.hiders.resize(self.staged.len(), Hider::default());
        for staged in &self.staged {
            let next = &mut self.counts[usize::from(staged.order)];
            let rank = *next as usize;
            *next += 1;
            let Staged { slot, near, .. } = *staged;
            self.hiders[rank] = Hider { slot, near };
            let (word, bit) = (rank / 64, 1_u64 << (rank % 64));
            let first = usize::from(staged.first);
            let end = first + usize::from(staged.count);
            let mut enter = |bins: Range<usize>| {
                let mut at = bins.start * words + word;
                for _ in bins {
                    self.sets[at] |= bit;
                    at += words;
                }
            };
            enter(first..end.min(EAST));
            if end > BINS {
                enter(0..(end - BINS).min(EAST));
            }
        }
    }

    /// The state of a link that no building cuts.
    #[inline]
    fn state_among_vehicles(
        &self,
        vehicles: &Vehicles,
        from: Point,
        along: Point,
        target: &Target,
    ) -> LinkState {
        let at = usize::from(target.at);
        let mut tallest = 0.0;
        for (word, &set) in self.sets[at * self.words..(at + 1) * self.words]
            .iter()
            .enumerate()
        {
            let mut set = set;
            while set != 0 {
                let hider = &self.hiders[word * 64 + set.trailing_zeros() as usize];
                set &= set - 1;
                if f64::from(hider.near) > target.distance || hider.slot == target.slot {
                    continue;
                }
                let b = &vehicles.boxes[hider.slot as usize];
                if b.height > tallest && rule::over_box(from, along, b).is_some() {
                    tallest = b.height;
                    // All that follow are lower, or as low as this one: only the last class mixes heights.
                    let class = vehicles.height_class[hider.slot as usize];
                    if usize::from(class) + 1 < HEIGHT_CLASSES {
                        return LinkState::Vehicle { tallest };
                    }
                }
            }
        }
        if tallest > 0.0 {
            LinkState::Vehicle { tallest }
        } else {
            LinkState::Clear
        }
    }
}
