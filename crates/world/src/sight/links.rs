//! What stands between antennas: the links of one vehicle with those that follow it in the order of positions.
//!
//! The order runs from west to east, so all of them lie in the eastern half plane. Buildings are the business of prospects, or
//! of a horizon, as for sight. What stood in between at the last instant is looked at first: if it is one of the tallest
//! vehicles there are, no other has to be. The tallest are kept apart from the others, which often do not matter.

use super::bearing::{bearing, bin, lesser};
use super::hints::{Hint, Hints};
use super::horizon::{Horizon, Outlook};
use super::nearby::Nearby;
use super::prospect::{self, NearBounds, Prospect};
use super::rule;
use super::vehicles::Vehicles;
use super::{LinkState, Observed};
use crate::geometry::Point;
use std::ops::Range;

/// Bins of bearing: far down the road, fronts of buildings lie close together.
const BINS: usize = prospect::BINS;
/// Distances are taken a little shorter than they come out, by far more than their rounding.
const SHRINK: f64 = 1.0 - 1e-9;

/// The state of the link to another vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The other vehicle's index in the frame.
    pub other: u32,
    /// What stands between.
    pub state: LinkState,
}

/// Working memory for links.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkScratch {
    horizon: Horizon<BINS>,
    bounds: NearBounds,
    runs: Vec<Range<usize>>,
    /// Slots that the sender may be linked with.
    targets: Vec<u32>,
    /// The vehicles that can stand in between: the tallest of the frame, and all others.
    tallest: Nearby,
    others: Nearby,
    /// The tallest of the others.
    others_top: f64,
    hints: Hints,
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

/// What the lines of one sender have in common.
struct Sender<'a> {
    observed: &'a Observed<'a>,
    slot: usize,
    from: Point,
    prospect: Option<&'a Prospect>,
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
        self.tallest.rank(&vehicles.outlines);
        self.others.rank(&vehicles.outlines);
        let outlook = Outlook {
            from,
            range: options.link_range,
            height: 0.0,
            west: from.x,
        };
        match prospect {
            Some(prospect) => {
                self.bounds.copy(prospect);
                self.horizon.defer_to(buildings, &outlook, prospect);
            }
            None => self.horizon.build(buildings, &outlook),
        }
        let sender = Sender {
            observed,
            slot,
            from,
            prospect,
        };
        let mut hints = std::mem::take(&mut self.hints);
        hints.visit(vehicles.index[slot], vehicles.slot.len());
        for &target in &self.targets {
            let along = vehicles.boxes[target as usize].centre - from;
            let other = vehicles.index[target as usize];
            let (state, hint) = self.state(&sender, along, target, hints.of(other));
            hints.note(other, hint);
            if options.links(state, along.dot(along)) {
                out.push(Link { other, state });
            }
        }
        self.hints = hints;
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
        let Self {
            runs,
            targets,
            tallest,
            others,
            others_top,
            ..
        } = self;
        let by_tile =
            prospect.is_some_and(|prospect| vehicles.runs_in_open_tiles(&prospect.open, runs));
        if !by_tile {
            vehicles.runs_near_east(from, range, runs);
        }
        targets.clear();
        let longest = vehicles.longest_reach();
        tallest.clear(range, longest);
        others.clear(range, longest);
        *others_top = 0.0;
        for other in runs.iter().flat_map(Range::clone) {
            let b = &vehicles.boxes[other];
            let reach = vehicles.reach[other];
            let away = b.centre - from;
            let distance_squared = away.dot(away);
            let hides_up_to = range + reach;
            // West of the sender there is nothing to hide.
            if away.x < -reach
                || distance_squared * SHRINK > hides_up_to * hides_up_to
                || other == slot
            {
                continue;
            }
            let distance = distance_squared.sqrt();
            if vehicles.looks_only[other] {
                // It has links and hides nothing.
            } else if b.height < vehicles.highest {
                others.push(other, away, distance);
                if b.height > *others_top {
                    *others_top = b.height;
                }
            } else {
                tallest.push(other, away, distance);
            }
            if distance_squared <= limit
                && away.x >= 0.0
                && is_linked(linked, vehicles.index[other])
                && vehicles.precedes(slot, other)
            {
                targets.push(other as u32);
            }
        }
        by_tile
    }

    /// A wall, or a building apart, stands in between.
    #[inline]
    fn wall_between(&self, sender: &Sender<'_>, along: Point, distance: f64) -> Option<Hint> {
        let (buildings, from) = (&sender.observed.sight.buildings, sender.from);
        let horizon = &self.horizon;
        if horizon.enclosed {
            return Some(Hint::NONE);
        }
        // The bearing of a null vector is not a number, and any bin will do.
        let at = bin::<BINS>(bearing(along));
        let wall = match sender.prospect {
            Some(prospect) => {
                let at = prospect.kept_bin(at);
                prospect.wall_between(&self.bounds, buildings, from, along, distance, at)
            }
            None => horizon
                .blocks(buildings, from, along, distance, at)
                .then_some(prospect::UNKNOWN),
        };
        let mut apart = horizon.apart.iter();
        wall.map(Hint::wall).or_else(|| {
            apart
                .any(|&b| buildings.cuts(b, from, along))
                .then_some(Hint::NONE)
        })
    }

    /// What stands between the sender and the slot `target`, which lies `along`, and what to look at first the next time.
    #[inline]
    fn state(
        &self,
        sender: &Sender<'_>,
        along: Point,
        target: u32,
        hint: Hint,
    ) -> (LinkState, Hint) {
        let (observed, from) = (sender.observed, sender.from);
        let Observed { sight, vehicles } = observed;
        if let Some(wall) = hint.as_wall()
            && sight.buildings.enters_by(wall, from, along, 0.0)
        {
            return (LinkState::Building, hint);
        }
        let distance = along.dot(along).sqrt();
        if let Some(hint) = self.wall_between(sender, along, distance) {
            return (LinkState::Building, hint);
        }
        let over = |slot: usize| rule::over_box(from, along, &vehicles.boxes[slot]).is_some();
        let mut best = hint
            .as_vehicle()
            .and_then(|index| observed.slot_of(index))
            .filter(|&slot| slot != target as usize && slot != sender.slot)
            .filter(|&slot| !vehicles.looks_only[slot] && over(slot));
        let mut height = best.map_or(0.0, |slot| vehicles.boxes[slot].height);
        if height < vehicles.highest {
            let test = |slot: u32| slot != target && over(slot as usize);
            if let Some(slot) = self.tallest.find(along, distance, test) {
                best = Some(slot as usize);
                height = vehicles.highest;
            }
        }
        if height < self.others_top {
            let top = self.others_top;
            let test = |slot: u32| {
                let b = &vehicles.boxes[slot as usize];
                if b.height > height && slot != target && over(slot as usize) {
                    height = b.height;
                    best = Some(slot as usize);
                }
                height >= top
            };
            self.others.find(along, distance, test);
        }
        match best {
            Some(slot) => (
                LinkState::Vehicle { tallest: height },
                Hint::vehicle(vehicles.index[slot]),
            ),
            None => (LinkState::Clear, Hint::NONE),
        }
    }
}
