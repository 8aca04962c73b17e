//! Lane changes: because the way demands it, or to get on faster.
//!
//! A vehicle that changes lanes belongs to the new lane at once and keeps its place on the old one until its body has left
//! it, so both followers keep clear of it. A change begins only if both the vehicle and the one behind it in the new lane
//! could still stop behind the one in front of them.

use super::following::safe_speed;
use super::motion::{Motion, STANDING};
use super::roads::NONE;

/// Drivers look at the neighbouring lane at this interval, s.
const INTERVAL: f64 = 0.25;
/// Headway (s) that is accepted in a change that the way demands.
const TIGHT: f64 = 0.4;
/// Headway (s) that is accepted in a change to get on faster.
const EASY: f64 = 0.8;
/// Least distance between bumpers after a change, m.
const BUMPER_GAP: f64 = 1.0;
/// Nobody leaves a lane that leads where he wants to go closer to its end than this, m.
const KEEP_WITHIN: f64 = 250.0;
/// A driver weighs the speed that he could have over this time, s.
const PROSPECT: f64 = 6.0;
/// A driver who has changed lanes to get on faster stays at least this long, s.
const SETTLE: f64 = 4.0;
/// Share of a change after which the body has left the old lane.
const LEFT_AT: f64 = 0.7;
/// Metres forward for each metre sideways, at least.
const SLOPE: f64 = 3.0;

/// Room (m) to pull out behind somebody who stands.
const PULL_OUT: f64 = 9.0;

/// A vehicle that has changed lanes in this step.
struct Arrival {
    lane: u32,
    front: f64,
    vehicle: u32,
}

impl Motion {
    /// Starts lane changes; whether there was one.
    pub(crate) fn change_lanes(&mut self, dt: f64) -> bool {
        let stride = (INTERVAL / dt).round().max(1.0) as u64;
        let turn = self.step % stride;
        let mut arrivals: Vec<Arrival> = Vec::new();
        for i in 0..self.vehicles.len() {
            if i as u64 % stride != turn {
                continue;
            }
            let vehicle = &self.vehicles[i];
            if vehicle.lateral != 0.0
                || vehicle.bound > 0
                || vehicle.position < vehicle.length()
                || vehicle.trail.len() > 0
            {
                continue;
            }
            let Some(lane) = self.roads.lane(vehicle.track) else {
                continue;
            };
            if lane.inner == NONE && lane.outer == NONE {
                if vehicle.path.len() == 0 && vehicle.wants.len() > 0 {
                    self.take_own_lane(i, None);
                }
                continue;
            }
            if let Some(target) = self.choose_lane(i, &arrivals) {
                self.begin_change(i, target);
                arrivals.push(Arrival {
                    lane: target,
                    front: self.vehicles[i].position,
                    vehicle: i as u32,
                });
            }
        }
        !arrivals.is_empty()
    }

    /// The lane that a vehicle changes to now, if any.
    fn choose_lane(&mut self, i: usize, arrivals: &[Arrival]) -> Option<u32> {
        let vehicle = &self.vehicles[i];
        let lane = self.roads.lane(vehicle.track)?;
        let (outer, inner) = (lane.outer, lane.inner);
        let left = self.roads.length(vehicle.track) - vehicle.position;
        let want = vehicle.wants.first().unwrap_or(NONE);
        match self.lane_towards(vehicle.track, want) {
            Some((0, _)) | None => self.faster_lane(i, want, left, arrivals),
            Some((lanes, inwards)) => {
                let target = if inwards { inner } else { outer };
                if self.fits(i, target, TIGHT, arrivals) {
                    return Some(target);
                }
                let near = (2.0 * vehicle.speed).max(20.0);
                if left < near * lanes as f64 && self.take_own_lane(i, None) {
                    return None;
                }
                if left < 100.0 * lanes as f64 {
                    self.ask_for_gap(i, target);
                }
                None
            }
        }
    }

    /// A neighbouring lane on which the vehicle would get on faster and still reach its street.
    fn faster_lane(&self, i: usize, want: u32, left: f64, arrivals: &[Arrival]) -> Option<u32> {
        let vehicle = &self.vehicles[i];
        if vehicle.speed < 1.0 || vehicle.settled < SETTLE {
            return None;
        }
        // A change must be over before the junction.
        if left < vehicle.speed * self.config.lane_change_s + 10.0 {
            return None;
        }
        let lane = self.roads.lane(vehicle.track)?;
        let here = self.prospect(i, vehicle.track);
        let mut best = None;
        let mut needed = here * 1.1 + 1.0;
        for target in [lane.outer, lane.inner] {
            if target == NONE {
                continue;
            }
            let leads = self.lane_towards(target, want).is_some_and(|(n, _)| n == 0);
            if !leads && left < KEEP_WITHIN {
                continue;
            }
            let there = self.prospect(i, target);
            if there > needed && self.fits(i, target, EASY, arrivals) {
                needed = there;
                best = Some(target);
            }
        }
        best
    }

    /// The vehicle's place on a lane of its street.
    fn place_on(&self, i: usize, target: u32) -> f64 {
        let vehicle = &self.vehicles[i];
        vehicle.position * self.roads.length(target) / self.roads.length(vehicle.track)
    }

    /// The speed that a vehicle could have on a lane for a while.
    fn prospect(&self, i: usize, target: u32) -> f64 {
        let vehicle = &self.vehicles[i];
        let track = &self.roads.tracks[target as usize];
        let wish = (track.limit * vehicle.factor).min(vehicle.model.max_speed);
        let place = self.place_on(i, target);
        let leader = self.occupancy.ahead_of(target, place, i as u32);
        leader.map_or(wish, |entry| {
            let gap = (entry.back - place - vehicle.model.min_gap).max(0.0);
            let speed = self.vehicles[entry.vehicle as usize].speed;
            (speed + gap / PROSPECT).min(wish)
        })
    }

    /// Whether a vehicle can move over to `target` with at least `headway` seconds to both sides.
    fn fits(&self, i: usize, target: u32, headway: f64, arrivals: &[Arrival]) -> bool {
        let me = &self.vehicles[i];
        if let Some(leader) = self.occupancy.ahead(i as u32, me.track)
            && leader.back - me.position < PULL_OUT
            && self.vehicles[leader.vehicle as usize].speed < 2.0
        {
            return false;
        }
        let place = self.place_on(i, target);
        let back = place - me.length();
        if back < self.promised[target as usize] as f64 / 1000.0 {
            return false;
        }
        let clear = |front: f64, other: usize| -> bool {
            let other = &self.vehicles[other];
            if front > place {
                let gap = front - other.length() - place - BUMPER_GAP;
                gap >= 0.0
                    && me.speed
                        <= safe_speed(gap, other.speed, me.model.decel, other.model.decel, headway)
            } else {
                let gap = back - front - BUMPER_GAP;
                gap >= 0.0
                    && other.speed
                        <= safe_speed(gap, me.speed, other.model.decel, me.model.decel, headway)
            }
        };
        for arrival in arrivals {
            if arrival.lane == target && !clear(arrival.front, arrival.vehicle as usize) {
                return false;
            }
        }
        let entries = self.occupancy.on(target);
        let behind = entries.partition_point(|e| e.front > place);
        if let Some(leader) = entries[..behind].last()
            && !clear(leader.front, leader.vehicle as usize)
        {
            return false;
        }
        match entries.get(behind) {
            Some(follower) => clear(follower.front, follower.vehicle as usize),
            None => self.clear_upstream(i, target, back, 0, headway),
        }
    }

    /// Whether nobody who comes over the tracks before `track` is too close to a tail `distance` metres past its beginning.
    fn clear_upstream(
        &self,
        i: usize,
        track: u32,
        distance: f64,
        depth: usize,
        headway: f64,
    ) -> bool {
        let me = &self.vehicles[i];
        if depth > 6 || distance > 100.0 {
            return true;
        }
        self.roads.tracks[track as usize]
            .incoming
            .iter()
            .all(|&before| {
                let data = &self.roads.tracks[before as usize];
                let comes = self.occupancy.on(before).iter().find(|e| {
                    let other = &self.vehicles[e.vehicle as usize];
                    e.vehicle != i as u32
                        && other.track == before
                        && other.path.as_slice().contains(&track)
                });
                match comes {
                    Some(entry) => {
                        let other = &self.vehicles[entry.vehicle as usize];
                        let gap = distance + data.length - entry.front - BUMPER_GAP;
                        other.speed
                            <= safe_speed(gap, me.speed, other.model.decel, me.model.decel, headway)
                    }
                    None => {
                        self.clear_upstream(i, before, distance + data.length, depth + 1, headway)
                    }
                }
            })
    }

    /// Asks the next vehicle behind on the target lane to leave a gap.
    fn ask_for_gap(&mut self, i: usize, target: u32) {
        let back = self.place_on(i, target) - self.vehicles[i].length();
        let entries = self.occupancy.on(target);
        let behind = entries.partition_point(|e| e.front > back);
        if let Some(entry) = entries.get(behind) {
            let helper = &mut self.vehicles[entry.vehicle as usize];
            if helper.track == target && entry.vehicle != i as u32 {
                helper.helps = (i as u32, 2.0 * INTERVAL);
            }
        }
    }

    fn begin_change(&mut self, i: usize, target: u32) {
        let place = self.place_on(i, target);
        let half = 0.5 * self.vehicles[i].length();
        let from = self.behind(&self.vehicles[i], half);
        let vehicle = &mut self.vehicles[i];
        vehicle.shadow = vehicle.track;
        vehicle.track = target;
        vehicle.position = place.min(self.roads.length(target));
        // The body stays where it is and comes over bit by bit.
        let to = self.behind(&self.vehicles[i], half);
        let shape = &self.roads.tracks[target as usize].shape;
        let ahead = covey_world::Point::from_heading(shape.heading_at(place - half));
        let lateral = ahead.cross(from - to);
        let vehicle = &mut self.vehicles[i];
        // Never 0, which means that no change is under way.
        vehicle.lateral = if lateral.abs() < 1e-6 { 1e-6 } else { lateral };
        vehicle.slip = ahead.dot(from - to);
        vehicle.progress = 0.0;
        vehicle.path.truncate(0);
        vehicle.path_metres = 0.0;
        self.extend_path(i);
    }

    /// Goes on with a lane change. The body moves sideways only as it moves forward.
    pub(crate) fn move_sideways(&mut self, i: usize, dt: f64) {
        let vehicle = &mut self.vehicles[i];
        if vehicle.lateral == 0.0 {
            return;
        }
        let width = vehicle.lateral.abs().max(0.1);
        let rate = (1.0 / self.config.lane_change_s).min(vehicle.speed / (SLOPE * width));
        if vehicle.speed > STANDING {
            vehicle.progress += rate * dt;
        }
        if vehicle.shadow != NONE
            && (vehicle.progress >= LEFT_AT
                || super::occupancy::shadow_front(&self.roads, vehicle).is_none())
        {
            vehicle.shadow = NONE;
        }
        if vehicle.progress >= 1.0 {
            vehicle.lateral = 0.0;
            vehicle.slip = 0.0;
            vehicle.progress = 0.0;
            vehicle.shadow = NONE;
            vehicle.settled = 0.0;
        }
    }
}
