//! What stands between antennas: the links of one vehicle with those that follow it in the order of positions.
//!
//! The order runs from west to east, so all of them lie in the eastern half plane. Buildings become a horizon, as for
//! sight. For vehicles, the neighbours are sorted by bearing; each vehicle then hides a run of them: those between its
//! silhouette's bearings and farther away than its farthest corner are hidden for certain, and the few that lie
//! alongside it or on the silhouette are tested exactly.

use super::bearing::{PAD, bearing, bin, silhouette};
use super::horizon::{Horizon, Outlook};
use super::rule;
use super::{Link, LinkState, Observed};
use crate::geometry::Point;

/// Bins of bearing: far down the road, neighbours and fronts of buildings lie close together.
const BINS: usize = 512;
/// Distances are widened by this share, far more than their rounding.
const MARGIN: f64 = 1e-9;

/// A vehicle near the sender.
#[derive(Debug, Clone, Copy, Default)]
struct Neighbour {
    /// Bearing of its centre.
    bearing: f64,
    /// Its place among the linked neighbours by bearing; [`NOT_LINKED`] if it only hides.
    rank: u32,
    /// From the sender to its centre.
    distance: f64,
    /// The bearings between which it hides what is behind it.
    first: f64,
    last: f64,
    /// Nothing nearer than this is hidden, and everything farther away than `far` is.
    near: f64,
    far: f64,
    /// Height of its box.
    height: f64,
    slot: u32,
}

/// Working memory for links.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkScratch {
    horizon: Horizon<BINS>,
    neighbours: Vec<Neighbour>,
    /// The linked neighbours by bearing: the bearing's leading bits, then the place in `neighbours`.
    order: Vec<u64>,
    /// The linked neighbours by bearing, and how far they are.
    bearings: Vec<f64>,
    distances: Vec<f64>,
    /// The tallest vehicle in between by bearing; infinite for a building, negative for none.
    tallest: Vec<f64>,
    /// Linked neighbours that have to be tested exactly.
    close: Vec<u32>,
}

/// A key that sorts by bearing, to 2^-38, and holds a place of at most 2^24.
#[inline]
fn key(bearing: f64, place: usize) -> u64 {
    (((bearing * (1_u64 << 36) as f64) as i64 as u64) << 24) | (place as u64 & PLACE)
}

#[inline]
fn place(key: u64) -> usize {
    (key & PLACE) as usize
}

const PLACE: u64 = (1 << 24) - 1;
/// Bearings are widened by this: neighbours are sorted by their leading bits only.
const SPREAD: f64 = 2.0 * PAD;

const NOT_LINKED: u32 = u32::MAX;
/// In place of a height: a building stands in between.
const BUILDING: f64 = f64::INFINITY;
const CLEAR: f64 = -1.0;

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
        let range = sight.options.link_range;
        let from = vehicles.boxes[slot].centre;
        self.gather(observed, slot, range, linked);
        if self.order.is_empty() {
            return;
        }
        self.order.sort_unstable();

        let outlook = Outlook {
            from,
            range,
            height: 0.0,
            west: from.x,
        };
        match sight.link_prospects.at(&sight.buildings, from) {
            Some(prospect) => self
                .horizon
                .build_from(&sight.buildings, &outlook, prospect),
            None => self.horizon.build(&sight.buildings, &outlook),
        }
        self.bearings.clear();
        self.distances.clear();
        self.tallest.clear();
        let horizon = &self.horizon;
        for (rank, &key) in self.order.iter().enumerate() {
            let neighbour = &mut self.neighbours[place(key)];
            neighbour.rank = rank as u32;
            let along = vehicles.boxes[neighbour.slot as usize].centre - from;
            let at = bin::<BINS>(neighbour.bearing);
            let distance = neighbour.distance;
            let hidden = horizon.enclosed
                || horizon.blocks(&sight.buildings, from, along, distance, at)
                || horizon
                    .apart
                    .iter()
                    .any(|&b| sight.buildings.cuts(b, from, along));
            self.bearings.push(neighbour.bearing);
            self.distances.push(distance);
            self.tallest.push(if hidden { BUILDING } else { CLEAR });
        }

        for n in 0..self.neighbours.len() {
            self.hide_behind(observed, from, n);
        }

        for (&key, &tallest) in self.order.iter().zip(&self.tallest) {
            let state = if tallest == BUILDING {
                LinkState::Building
            } else if tallest > 0.0 {
                LinkState::Vehicle { tallest }
            } else {
                LinkState::Clear
            };
            let slot = self.neighbours[place(key)].slot as usize;
            let along = vehicles.boxes[slot].centre - from;
            if sight.options.links(state, along.dot(along)) {
                let other = vehicles.index[slot];
                out.push(Link { other, state });
            }
        }
    }

    /// Collects the vehicles that can stand in between, and the order of those that are linked.
    fn gather(
        &mut self,
        observed: &Observed<'_>,
        slot: usize,
        range: f64,
        linked: Option<&[bool]>,
    ) {
        let vehicles = &observed.vehicles;
        let from = vehicles.boxes[slot].centre;
        let limit = range * range;
        self.neighbours.clear();
        self.order.clear();
        vehicles.near_east(from, range, |other| {
            let b = &vehicles.boxes[other];
            let away = b.centre - from;
            // West of the sender there is nothing to hide.
            if away.x < -vehicles.reach[other] || other == slot {
                return;
            }
            // The footprint in the vehicle's own axes, as seen from the sender.
            let middle = Point::new(b.axis.dot(away), b.axis.cross(away));
            let (min, max) = (middle - b.half, middle + b.half);
            let gap = Point::new(min.x.max(-max.x).max(0.0), min.y.max(-max.y).max(0.0));
            let near = gap.dot(gap);
            if near * (1.0 - MARGIN) > limit {
                return;
            }
            let far = Point::new(max.x.max(-min.x), max.y.max(-min.y));
            let (first, last) = if near > 0.0 {
                let (first, last) = silhouette(min, max);
                let turn = |p: Point| {
                    Point::new(
                        p.x * b.axis.x - p.y * b.axis.y,
                        p.x * b.axis.y + p.y * b.axis.x,
                    )
                };
                (bearing(turn(first)), bearing(turn(last)))
            } else {
                (f64::NAN, f64::NAN)
            };
            let distance_squared = away.dot(away);
            // The bearing of a null vector is not a number.
            let at = if distance_squared > 0.0 {
                bearing(away)
            } else {
                0.0
            };
            let is_linked = || {
                let index = vehicles.index[other] as usize;
                linked.is_none_or(|linked| linked.get(index) == Some(&true))
            };
            if distance_squared <= limit && vehicles.precedes(slot, other) && is_linked() {
                self.order.push(key(at, self.neighbours.len()));
            }
            self.neighbours.push(Neighbour {
                bearing: at,
                rank: NOT_LINKED,
                distance: distance_squared.sqrt(),
                first,
                last,
                near: near.sqrt() * (1.0 - MARGIN),
                far: far.dot(far).sqrt() * (1.0 + MARGIN),
                height: b.height,
                slot: other as u32,
            });
        });
    }

    /// Raises the height of what stands in between for all linked neighbours that one vehicle hides.
    #[inline]
    fn hide_behind(&mut self, observed: &Observed<'_>, from: Point, n: usize) {
        let hider = self.neighbours[n];
        // The run of bearings that it may hide, and the part of it that it hides for certain. Linked neighbours lie east of
        // the sender, at bearings from 0 to 2, so a silhouette that crosses the south starts at 0 for them.
        let (mut low, mut high) = (hider.first - SPREAD, hider.last + SPREAD);
        let (mut sure_low, sure_high) = (hider.first + SPREAD, hider.last - SPREAD);
        if hider.first.is_nan() {
            (low, high) = (-1.0, 5.0);
        } else if hider.first > hider.last {
            (low, sure_low) = (-1.0, -1.0);
        }
        let start = if hider.rank == NOT_LINKED {
            self.bearings.partition_point(|&b| b < low)
        } else {
            let mut start = hider.rank as usize;
            while start > 0 && self.bearings[start - 1] >= low {
                start -= 1;
            }
            start
        };
        let run = self.bearings[start..]
            .iter()
            .zip(&self.distances[start..])
            .zip(&mut self.tallest[start..]);
        self.close.clear();
        for (k, ((&bearing, &distance), tallest)) in run.enumerate() {
            if bearing > high {
                break;
            }
            if distance < hider.near || *tallest >= hider.height {
                continue;
            }
            if distance > hider.far && bearing > sure_low && bearing < sure_high {
                *tallest = hider.height;
            } else {
                self.close.push((start + k) as u32);
            }
        }
        for i in 0..self.close.len() {
            let k = self.close[i] as usize;
            if self.stands_between(observed, from, &hider, k) {
                self.tallest[k] = hider.height;
            }
        }
    }

    #[cold]
    fn stands_between(
        &self,
        observed: &Observed<'_>,
        from: Point,
        hider: &Neighbour,
        k: usize,
    ) -> bool {
        let boxes = &observed.vehicles.boxes;
        let target = self.neighbours[place(self.order[k])].slot;
        let along = boxes[target as usize].centre - from;
        target != hider.slot && rule::over_box(from, along, &boxes[hider.slot as usize]).is_some()
    }
}
