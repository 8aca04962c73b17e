//! Where vehicles go.
//!
//! At each junction a vehicle draws the next street by the turn shares. Two things bend the draw: the odds of main-road
//! streets rise or fall with what the main road lacks or has too much of, so that a closed population keeps its density
//! there; and side streets that are nearly full are avoided. A driver who cannot reach the lane for the street he wanted
//! takes what his own lane offers.

use super::motion::Motion;
use super::roads::{NONE, TrackKind};
use super::vehicle::Denial;
use covey_world::network::Turn;

/// A driver counts on this much road (m) for each lane that he must change.
const CHANGE_ROOM: f64 = 60.0;
/// Side streets fuller than this are avoided more and more, up to `FULL`.
const BUSY: f64 = 0.5;
/// Side streets fuller than this are taken only if there is nothing else.
const FULL: f64 = 0.75;

/// Tracks from one lane to the next, that lane included, at most.
const LONGEST_WAY: usize = 3;
/// A lack of vehicles on the main road counts twice once it has lasted this long, in calls (one a second).
const LASTING: f64 = 120.0;

impl Motion {
    /// Sets how turning is bent, from where vehicles are.
    pub(crate) fn control_density(&mut self) {
        let streets = &self.roads.streets;
        self.load.iter_mut().for_each(|l| *l = 0.0);
        let mut on_main = 0_usize;
        for vehicle in &self.vehicles {
            let track = &self.roads.tracks[vehicle.track as usize];
            on_main += usize::from(track.main);
            if let TrackKind::Lane(lane) = &track.kind {
                self.load[lane.street as usize] += vehicle.space();
            }
        }
        for (load, street) in self.load.iter_mut().zip(streets) {
            *load /= street.lane_metres;
        }
        if self.main_target > 0 {
            let lack = (self.main_target as f64 - on_main as f64) / self.main_target as f64;
            // A lasting lack adds up, so that it goes away however hard the side streets let vehicles out.
            self.lasting_lack = (self.lasting_lack + lack / LASTING).clamp(-0.2, 0.2);
            let strength = self.config.density_gain * (lack + self.lasting_lack);
            self.bias = libm::exp(strength.clamp(-6.0, 6.0));
        }
    }

    /// How far (m) a vehicle's path must be known.
    fn needed_path(&self, i: usize) -> f64 {
        let vehicle = &self.vehicles[i];
        let speed = (self.roads.tracks[vehicle.track as usize].limit * vehicle.factor)
            .min(vehicle.model.max_speed)
            .max(vehicle.speed);
        20.0 + speed * vehicle.model.tau + speed * speed / (2.0 * vehicle.model.decel)
    }

    /// Makes the path long enough, drawing turns where needed.
    pub(crate) fn extend_path(&mut self, i: usize) {
        let vehicle = &self.vehicles[i];
        let ahead = self.roads.length(vehicle.track) - vehicle.position;
        let needed = self.needed_path(i);
        if ahead + vehicle.path_metres >= needed {
            return;
        }
        let mut lanes = usize::from(self.roads.lane(vehicle.track).is_some());
        for &track in vehicle.path.as_slice() {
            lanes += usize::from(self.roads.lane(track).is_some());
        }
        loop {
            let vehicle = &self.vehicles[i];
            let long_enough = ahead + vehicle.path_metres >= needed;
            let last = vehicle
                .path
                .as_slice()
                .last()
                .copied()
                .unwrap_or(vehicle.track);
            let next = match &self.roads.tracks[last as usize].kind {
                TrackKind::Crossing(crossing) => {
                    if crossing.next == crossing.to_lane {
                        lanes += 1;
                    }
                    crossing.next
                }
                TrackKind::Lane(_) => {
                    // A path ends on a lane: a way over a junction is entered into it as a whole.
                    if long_enough || vehicle.path.room() < LONGEST_WAY {
                        return;
                    }
                    let number = lanes - 1;
                    if self.vehicles[i].wants.len() == number {
                        if self.vehicles[i].wants.is_full() {
                            return;
                        }
                        let want = self.draw_street(i, last);
                        self.vehicles[i].wants.push(want);
                    }
                    match self.exit_towards(i, last, number) {
                        Some(first) => first,
                        None => return,
                    }
                }
            };
            let vehicle = &mut self.vehicles[i];
            vehicle.path.push(next);
            vehicle.path_metres += self.roads.length(next);
        }
    }

    /// The first track of a way from a lane to the street that the vehicle wants there; of several, one that leads on to the
    /// street wanted after that.
    fn exit_towards(&self, i: usize, lane: u32, number: usize) -> Option<u32> {
        let vehicle = &self.vehicles[i];
        let want = vehicle.wants.get(number)?;
        let then = vehicle.wants.get(number + 1);
        let exits = &self.roads.lane(lane)?.exits;
        let mut fallback = None;
        for exit in exits.iter().filter(|e| e.to_street == want) {
            let leads_on = then.is_none_or(|then| {
                self.roads
                    .lane(exit.to_lane)
                    .is_some_and(|l| l.exits.iter().any(|e| e.to_street == then))
            });
            if leads_on {
                return Some(exit.first);
            }
            fallback = fallback.or(Some(exit.first));
        }
        fallback
    }

    /// Draws the street that a vehicle takes at the end of a lane.
    fn draw_street(&mut self, i: usize, lane: u32) -> u32 {
        let track = &self.roads.tracks[lane as usize];
        let Some(data) = track.lane() else {
            return NONE;
        };
        let vehicle = &self.vehicles[i];
        let left = if vehicle.track == lane {
            track.length - vehicle.position
        } else {
            track.length
        };
        let street = data.street;
        let reach = if self.config.lane_changes {
            (left / CHANGE_ROOM) as usize
        } else {
            0
        };
        let choice = self
            .draw_among(i, street, |to| {
                self.shifts(lane, to).is_some_and(|n| n <= reach)
            })
            .or_else(|| self.draw_among(i, street, |_| true));
        self.vehicles[i].decisions += 1;
        choice.unwrap_or(NONE)
    }

    /// How many lanes away the nearest lane lies from which one can get to street `to`.
    pub(crate) fn shifts(&self, lane: u32, to: u32) -> Option<usize> {
        self.lane_towards(lane, to).map(|(n, _)| n)
    }

    /// The number of lanes to the nearest lane from which one can get to street `to`, and whether it lies inwards.
    pub(crate) fn lane_towards(&self, lane: u32, to: u32) -> Option<(usize, bool)> {
        let leads = |l: u32| {
            self.roads
                .lane(l)
                .is_some_and(|d| d.exits.iter().any(|e| e.to_street == to))
        };
        if leads(lane) {
            return Some((0, false));
        }
        let mut sides = [lane, lane];
        for n in 1..16 {
            for (side, inwards) in [(0, false), (1, true)] {
                if sides[side] == NONE {
                    continue;
                }
                let Some(data) = self.roads.lane(sides[side]) else {
                    continue;
                };
                sides[side] = if inwards { data.inner } else { data.outer };
                if sides[side] != NONE && leads(sides[side]) {
                    return Some((n, inwards));
                }
            }
        }
        None
    }

    fn draw_among(&self, i: usize, street: u32, allowed: impl Fn(u32) -> bool) -> Option<u32> {
        let movements = &self.roads.streets[street as usize].movements;
        let shares = &self.config.turn_shares;
        let vehicle = &self.vehicles[i];
        let mut weights = [0.0_f64; 32];
        let mut only = 0_usize;
        let count = movements.len().min(weights.len());
        for (weight, movement) in weights.iter_mut().zip(movements) {
            if !allowed(movement.to) {
                continue;
            }
            let share = match movement.turn {
                Turn::Left => shares.left,
                Turn::Right => shares.right,
                Turn::Around => shares.around,
                Turn::Straight | Turn::Other => shares.straight,
            };
            let alike = movements.iter().filter(|m| m.turn == movement.turn).count();
            let to = &self.roads.streets[movement.to as usize];
            let bend = if to.main {
                self.bias
            } else {
                let load = self.load[movement.to as usize];
                ((FULL - load) / (FULL - BUSY)).clamp(0.001, 1.0)
            };
            // The small part lets the last resort be drawn without a second rule.
            let rare = if movement.turn == Turn::Around {
                1e-12
            } else {
                1e-6
            };
            *weight = (share / alike as f64 + rare) * bend;
            only += 1;
        }
        if only == 0 {
            return None;
        }
        let total: f64 = weights[..count].iter().sum();
        let mut at = vehicle.turns.unit(vehicle.decisions) * total;
        let mut last = None;
        for (weight, movement) in weights[..count].iter().zip(movements) {
            if *weight > 0.0 {
                last = Some(movement.to);
                if at < *weight {
                    break;
                }
                at -= weight;
            }
        }
        last
    }

    /// Forgets all turns and the path from the current lane on; the vehicle must not be bound to a gate.
    pub(crate) fn forget_route(&mut self, i: usize) {
        let vehicle = &mut self.vehicles[i];
        debug_assert_eq!(vehicle.bound, 0);
        vehicle.wants.truncate(0);
        vehicle.path.truncate(0);
        vehicle.path_metres = 0.0;
    }

    /// Lets a vehicle take what its own lane offers; `false` if that is nothing (other than `but`).
    pub(crate) fn take_own_lane(&mut self, i: usize, but: Option<u32>) -> bool {
        let vehicle = &self.vehicles[i];
        let Some(data) = self.roads.lane(vehicle.track) else {
            return false;
        };
        let exits = &data.exits;
        let choice = self.draw_among(i, data.street, |to| {
            Some(to) != but && exits.iter().any(|e| e.to_street == to)
        });
        self.vehicles[i].decisions += 1;
        let Some(to) = choice else {
            return false;
        };
        self.forget_route(i);
        self.vehicles[i].wants.push(to);
        self.extend_path(i);
        true
    }

    /// Lets a vehicle that has stood long before a full street choose another one.
    pub(crate) fn reconsider_full_way(&mut self, i: usize) {
        let vehicle = &self.vehicles[i];
        if vehicle.denial != Denial::Room
            || vehicle.bound > 0
            || vehicle.waited < super::patience::REROUTE_AFTER * f64::from(vehicle.reroutes + 1)
            || self.roads.lane(vehicle.track).is_none()
        {
            return;
        }
        let but = vehicle.wants.first();
        self.vehicles[i].reroutes += 1;
        if self.take_own_lane(i, but) {
            self.interventions.reroutes += 1;
        }
    }
}
