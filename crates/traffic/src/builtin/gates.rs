//! Who may pass a gate: traffic lights, right of way, and room behind the junction.
//!
//! A vehicle asks in every step until it can no longer stop before the gate; then it is bound to the way, and everybody who
//! is bound later lets it go first where their ways meet. Bound vehicles are ordered, each has room behind the junction, and
//! nobody is bound who could not still stop before the ways of those bound earlier: so vehicles inside a junction neither
//! collide nor wait for one another in a circle.
//!
//! Somebody who could wait for ever is helped by rules that act after fixed times: see [`Interventions`].
//!
//! [`Interventions`]: super::Interventions

use super::following::{braking_distance, travel_time};
use super::motion::{Motion, STANDING};
use super::patience::{FORCE_AFTER, IMPATIENT_AFTER, SQUEEZE_AFTER};
use super::roads::{Conflict, Crossing, Meeting, NONE};
use super::signals::Light;
use super::vehicle::{Denial, Vehicle};

/// A vehicle may wait inside a junction with this much of its tail (m) still before the line.
const OVERHANG: f64 = 3.0;
/// Below this speed (m/s), if not speeding up, a vehicle is taken to stand still soon.
const HALTING: f64 = 2.0;

impl Motion {
    /// Whether vehicle `i` may pass the gate of the `k`th track on its path, `distance` metres ahead; and whether it may only
    /// because it has waited too long for room.
    pub(crate) fn may_pass(&self, i: usize, k: usize, distance: f64) -> (Denial, bool) {
        let me = &self.vehicles[i];
        let Some(track) = me.path.get(k) else {
            return (Denial::Room, false);
        };
        let data = &self.roads.tracks[track as usize];
        let Some(crossing) = data.crossing() else {
            return (Denial::None, false);
        };
        let light = self.signals.light(crossing.signal);
        if crossing.entry {
            match light {
                Light::Red | Light::Yellow => return (Denial::Signal, false),
                Light::StopFirst if me.speed > 0.3 || distance > 3.0 => {
                    return (Denial::Signal, false);
                }
                _ => {}
            }
        }
        for conflict in &crossing.conflicts {
            let denial = self.conflict_denial(i, distance, crossing, conflict, light);
            if denial != Denial::None {
                return (denial, false);
            }
        }
        let mut forced = false;
        if crossing.keep_clear {
            if self.room(crossing.to_lane) < me.space() {
                if me.waited < FORCE_AFTER {
                    return (Denial::Room, false);
                }
                forced = true;
            }
            if crossing.next != crossing.to_lane && !self.may_wait_inside(me, track, data.length) {
                // No place to wait inside: only if the rest of the way is free as well.
                return self.may_pass(i, k + 1, distance + data.length);
            }
        }
        (Denial::None, forced)
    }

    fn conflict_denial(
        &self,
        i: usize,
        distance: f64,
        crossing: &Crossing,
        conflict: &Conflict,
        light: Light,
    ) -> Denial {
        if conflict.meeting == Meeting::Diverge {
            return if self.sibling_blocks(conflict) {
                Denial::Conflict
            } else {
                Denial::None
            };
        }
        if crossing.entry && !conflict.other_yields && self.somebody_waits(conflict.other) {
            return Denial::Conflict;
        }
        let me = &self.vehicles[i];
        let limit = self.roads.tracks[crossing.to_lane as usize].limit;
        let accel = 0.75 * me.model.accel;
        let enter = travel_time(distance + conflict.enter, me.speed, accel, limit);
        if conflict.meeting == Meeting::Cross {
            for &(user, _) in self.users.on(conflict.other) {
                let Some(front) = self.front_on(user, conflict.other) else {
                    continue;
                };
                let other = &self.vehicles[user as usize];
                let left = conflict.other_exit + other.length() - front;
                if left > 0.0 && user != i as u32 {
                    let clear = travel_time(left, other.speed, 0.75 * other.model.accel, limit);
                    let squeeze =
                        me.waited > SQUEEZE_AFTER && !crossing.entry && other.speed < STANDING;
                    if clear > enter + 0.5 && !squeeze {
                        return Denial::Conflict;
                    }
                }
            }
        }
        let yields = match light {
            Light::Protected => false,
            Light::StopFirst => true,
            _ => conflict.yields,
        };
        if !yields || me.waited > IMPATIENT_AFTER {
            return Denial::None;
        }
        let approaching = self.approaching.on(conflict.other);
        if approaching.is_empty() {
            return Denial::None;
        }
        let margin = self.config.gap_margin_s;
        let leave = travel_time(
            distance + conflict.exit + me.length(),
            me.speed,
            accel,
            limit,
        );
        for approach in approaching {
            let other = &self.vehicles[approach.vehicle as usize];
            if approach.vehicle == i as u32 {
                continue;
            }
            let its_limit = self.roads.tracks[other.track as usize].limit * other.factor;
            let its_enter = travel_time(
                approach.distance + conflict.other_enter,
                other.speed,
                other.model.accel,
                its_limit,
            );
            if leave + margin < its_enter {
                continue;
            }
            let its_leave = travel_time(
                approach.distance + conflict.other_exit + other.length(),
                other.speed,
                0.75 * other.model.accel,
                its_limit,
            );
            if its_leave + margin > enter {
                return Denial::Yield;
            }
        }
        Denial::None
    }

    /// Whether somebody from the same lane who takes another way may have to wait inside the junction with his tail on the
    /// common part. Who followed him in would block the other directions, and they him.
    fn sibling_blocks(&self, conflict: &Conflict) -> bool {
        let data = &self.roads.tracks[conflict.other as usize];
        let waiting_place = data.crossing().is_some_and(|c| c.next != c.to_lane);
        waiting_place
            && self.users.on(conflict.other).iter().any(|&(user, _)| {
                let other = &self.vehicles[user as usize];
                let on_it = other.track == conflict.other;
                let goes_on = if on_it {
                    other.bound > 0
                } else {
                    other.bound > 1
                };
                let back = self.front_on(user, conflict.other).unwrap_or(0.0) - other.length();
                (on_it || back < 0.0)
                    && !goes_on
                    && data.length - other.length() < conflict.other_exit
                    && back < conflict.other_exit
            })
    }

    /// Whether somebody inside the junction waits for the track: who stands before the junction must let him out first, unless
    /// he is the one who yields.
    fn somebody_waits(&self, track: u32) -> bool {
        let before = self.roads.tracks[track as usize]
            .crossing()
            .map_or(NONE, |c| c.before);
        before != NONE
            && self.users.on(before).iter().any(|&(user, _)| {
                let vehicle = &self.vehicles[user as usize];
                vehicle.track == before && vehicle.bound == 0
            })
    }

    /// Metres behind a junction that nobody takes or has been promised: up to the first vehicle that stands or is about to,
    /// less the space of those that still move towards it.
    pub(crate) fn room(&self, lane: u32) -> f64 {
        let mut taken = self.promised[lane as usize] as f64 / 1000.0;
        let entries = self.occupancy.on(lane);
        for entry in entries.iter().rev() {
            let vehicle = &self.vehicles[entry.vehicle as usize];
            let halting = (vehicle.speed < HALTING && vehicle.accel < 0.3) || vehicle.accel < -0.8;
            if halting {
                let rest = braking_distance(vehicle.speed, vehicle.model.decel);
                return entry.back + rest - taken;
            }
            taken += vehicle.space();
        }
        let head_leaves = entries
            .first()
            .is_some_and(|e| self.vehicles[e.vehicle as usize].bound > 0);
        if head_leaves || (entries.is_empty() && taken <= 0.0) {
            // Somebody fits even on a lane shorter than a vehicle.
            return f64::INFINITY;
        }
        self.roads.length(lane) - taken
    }

    /// Whether there is a free place on the first part of a way with a waiting place inside the junction.
    fn may_wait_inside(&self, me: &Vehicle, track: u32, length: f64) -> bool {
        let users = self.users.on(track);
        if users.is_empty() {
            return me.length() <= length + OVERHANG;
        }
        let taken: f64 = users
            .iter()
            .map(|&(user, _)| self.vehicles[user as usize].space())
            .sum();
        length - taken >= me.length()
    }
}
