//! What stands between antennas: the links of one vehicle with those that follow it in the order of positions.
//!
//! The order runs from west to east, so all of them lie in the eastern half plane. Buildings are the business of prospects, or
//! of a horizon, as for sight. What stood in between at the last instant is looked at first: if it is one of the tallest
//! vehicles there are, no other has to be. The tallest are kept apart from the others, which often do not matter.

use super::bearing::{bearing, bin, lesser};
use super::hints::{Hint, Hints};
use super::horizon::{Horizon, Outlook};
use super::nearby::{Crowd, Nearby};
use super::prospect::{self, NearBounds, Prospect};
use super::rule;
use super::vehicles::{Role, Vehicles};
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
    /// The vehicles that can stand in between: the tallest of the frame, and all others, which few lines ask about.
    tallest: Nearby,
    others: Crowd,
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

/// The line to another vehicle.
struct Line {
    along: Point,
    distance_squared: f64,
    /// Its slot.
    target: usize,
}

impl Sender<'_> {
    /// The slot of the vehicle that stood in between, if it still does.
    #[inline]
    fn vehicle_between(&self, hint: Hint, line: &Line) -> Option<usize> {
        let vehicles = &self.observed.vehicles;
        let slot = self.observed.slot_of(hint.as_vehicle()?)?;
        let body = &vehicles.boxes[slot];
        let over = |&slot: &usize| {
            slot != line.target
                && slot != self.slot
                && (rule::surely_over_box(self.from, line.along, line.distance_squared, body)
                    || (!vehicles.looks_only[slot]
                        && rule::over_box(self.from, line.along, body).is_some()))
        };
        Some(slot).filter(over)
    }

    /// What stood in between still does.
    #[inline]
    fn still_between(&self, hint: Hint, line: &Line) -> bool {
        match hint.as_wall() {
            Some(wall) => {
                let buildings = &self.observed.sight.buildings;
                buildings.enters_by(wall, self.from, line.along, 0.0)
            }
            None => self.vehicle_between(hint, line).is_some(),
        }
    }
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
        let targets = std::mem::take(&mut self.targets);
        for &target in &targets {
            let along = vehicles.centres[target as usize] - from;
            let distance_squared = along.dot(along);
            let line = Line {
                along,
                distance_squared,
                target: target as usize,
            };
            let other = vehicles.index[target as usize];
            let hint = hints.of(other);
            // So far away, whatever stands in between ends the link.
            if options.links_only_clear(distance_squared) && sender.still_between(hint, &line) {
                hints.note(other, hint);
                continue;
            }
            let (state, hint) = self.state(&sender, &line, hint);
            hints.note(other, hint);
            if options.links(state, distance_squared) {
                out.push(Link { other, state });
            }
        }
        self.targets = targets;
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
        for run in runs.iter() {
            let centres = &vehicles.centres[run.clone()];
            for (other, &centre) in run.clone().zip(centres) {
                let away = centre - from;
                let distance_squared = away.dot(away);
                let in_range = distance_squared <= limit;
                // Its centre may lie out of range and the rest of it not; west of the sender there is nothing to hide.
                if !in_range || away.x < 0.0 {
                    let reach = vehicles.reach[other];
                    let hides_up_to = range + reach;
                    if away.x < -reach || distance_squared * SHRINK > hides_up_to * hides_up_to {
                        continue;
                    }
                }
                if other == slot {
                    continue;
                }
                match vehicles.roles[other] {
                    Role::Highest => tallest.push(other, away, distance_squared.sqrt()),
                    Role::Lower => others.push(other),
                    Role::LooksOnly => {}
                }
                // What lies strictly to the east follows.
                if in_range
                    && (away.x > 0.0 || (away.x >= 0.0 && vehicles.precedes(slot, other)))
                    && is_linked(linked, vehicles.index[other])
                {
                    targets.push(other as u32);
                }
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

    /// What stands between the sender and another vehicle, and what to look at first the next time.
    #[inline]
    fn state(&mut self, sender: &Sender<'_>, line: &Line, hint: Hint) -> (LinkState, Hint) {
        let (observed, from) = (sender.observed, sender.from);
        let Observed { sight, vehicles } = observed;
        let &Line {
            along,
            distance_squared,
            target,
        } = line;
        if let Some(wall) = hint.as_wall()
            && sight.buildings.enters_by(wall, from, along, 0.0)
        {
            return (LinkState::Building, hint);
        }
        let distance = distance_squared.sqrt();
        if let Some(hint) = self.wall_between(sender, along, distance) {
            return (LinkState::Building, hint);
        }
        let over = |slot: usize| rule::over_box(from, along, &vehicles.boxes[slot]).is_some();
        let mut best = sender.vehicle_between(hint, line);
        let mut height = best.map_or(0.0, |slot| vehicles.boxes[slot].height);
        if height < vehicles.highest {
            let test = |slot: u32| slot as usize != target && over(slot as usize);
            if let Some(slot) = self.tallest.find(along, distance, test) {
                best = Some(slot as usize);
                height = vehicles.highest;
            }
        }
        let top = vehicles.second_highest;
        if height < top {
            let test = |slot: u32| {
                let slot = slot as usize;
                let b = &vehicles.boxes[slot];
                if b.height > height && slot != target && over(slot) {
                    height = b.height;
                    best = Some(slot);
                }
                height >= top
            };
            self.others
                .place(from, &vehicles.centres, &vehicles.outlines);
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
