//! The state of the traffic and one step of it.
//!
//! Order of a step: lights; who stands where; lane changes; paths, and announcements to junctions; new speeds, vehicle by
//! vehicle, each from the positions and speeds at the beginning of the step; then all move. Only the binding to gates is
//! visible within a step, so vehicles are treated in the order of their ids and the outcome is a function of the state alone.

use super::config::{BuiltinConfig, DriverModel};
use super::following::{braking_distance, safe_speed};
use super::lists::Lists;
use super::occupancy::{Occupancy, shadow_front};
use super::patience::SQUEEZE_AFTER;
use super::roads::{Meeting, NONE, Roads, TrackKind};
use super::signals::{Light, Signals};
use super::vehicle::{Denial, Vehicle};
use covey_world::Point;

/// Hardest braking, m/s²: SUMO's emergency deceleration of cars. Only misfortune needs more than the model's `decel`.
const EMERGENCY: f64 = 9.0;
/// Vehicles stop this far before a line or a zone, m.
const STOP_SHORT: f64 = 0.3;
/// A helper brakes no harder than this, m/s².
const HELPFUL_BRAKING: f64 = 2.0;
/// Time constant of the smoothed acceleration, s.
const SMOOTHING: f64 = 0.5;
/// Whoever would be slower than this (m/s), or than half of what a step's acceleration gives, stands.
const AT_REST: f64 = 0.05;
/// Below this speed (m/s) a vehicle counts as standing.
pub(crate) const STANDING: f64 = 0.1;

/// A vehicle that means to pass a gate and could still stop before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approach {
    pub(crate) vehicle: u32,
    /// How far it is from the gate, m.
    pub(crate) distance: f64,
}

/// How often the rules against standstill had to act; all 0 in traffic that flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Interventions {
    /// Vehicles that chose another way because theirs stayed full.
    pub reroutes: u64,
    /// Vehicles that entered a junction without room behind it.
    pub forced_entries: u64,
    /// Steps in which a vehicle inside a junction passed close by another that stood.
    pub squeezes: u64,
}

/// All vehicles and everything that moves with them.
#[derive(Debug, Clone)]
pub(crate) struct Motion {
    pub(crate) roads: Roads,
    pub(crate) config: BuiltinConfig,
    pub(crate) vehicles: Vec<Vehicle>,
    pub(crate) occupancy: Occupancy,
    pub(crate) signals: Signals,
    /// For each track, the vehicles bound to it or on it, in the order in which they were bound.
    pub(crate) users: Lists<(u32, u64)>,
    /// For each track, the vehicles that approach its gate; kept only where somebody yields to them.
    pub(crate) approaching: Lists<Approach>,
    announced: Vec<u32>,
    watched: Vec<bool>,
    /// For each track, millimetres promised to vehicles bound for it. An integer, so that it returns to 0.
    pub(crate) promised: Vec<i64>,
    next_order: u64,
    pub(crate) time_us: i64,
    pub(crate) step: u64,
    /// Vehicles that belong on the main road.
    pub(crate) main_target: usize,
    /// Factor on the odds of choosing the main road.
    pub(crate) bias: f64,
    /// The sum of what the main road has lacked, in shares of its vehicles.
    pub(crate) lasting_lack: f64,
    /// Share of each street that is taken.
    pub(crate) load: Vec<f64>,
    next_control_us: i64,
    pub(crate) interventions: Interventions,
}

struct Plan {
    next_speed: f64,
    denial: Denial,
    bound: usize,
    forced: bool,
    squeezed: bool,
}

/// What bounds a vehicle's speed in one step, as far as it is known.
struct Limits {
    /// The highest safe speed.
    safe: f64,
    /// Whatever lies farther away than this cannot matter in this step.
    horizon: f64,
    /// Somebody bound to a conflicting track is nearer than it should be.
    squeezed: bool,
}

impl Limits {
    fn slow_to(&mut self, speed: f64) {
        self.safe = self.safe.min(speed);
    }

    /// Heeds `leader`, whose rear bumper is `gap` metres ahead.
    fn follow(&mut self, model: &DriverModel, gap: f64, leader: &Vehicle) {
        let (decel, gap) = (model.decel, gap - model.min_gap);
        self.slow_to(safe_speed(
            gap,
            leader.speed,
            decel,
            leader.model.decel,
            model.tau,
        ));
        let stop = gap + braking_distance(leader.speed, leader.model.decel.max(decel));
        self.horizon = self.horizon.min(stop.max(0.0) + model.min_gap);
    }
}

/// What a vehicle finds on its path.
struct Ahead {
    denial: Denial,
    forced: bool,
    /// Gates that it may pass: the track's place on its path, and how far away it begins.
    gates: [(usize, f64); 14],
    gate_count: usize,
}

impl Motion {
    pub(crate) fn new(
        roads: Roads,
        signals: Signals,
        config: BuiltinConfig,
        vehicles: Vec<Vehicle>,
        main_target: usize,
        time_us: i64,
    ) -> Self {
        let n = roads.tracks.len();
        let mut watched = vec![false; n];
        for track in &roads.tracks {
            for conflict in track.crossing().map_or(&[][..], |c| &c.conflicts) {
                watched[conflict.other as usize] = true;
            }
        }
        let load = vec![0.0; roads.streets.len()];
        let mut motion = Self {
            roads,
            config,
            vehicles,
            occupancy: Occupancy::default(),
            signals,
            users: Lists::new(n),
            approaching: Lists::new(n),
            announced: Vec::new(),
            watched,
            promised: vec![0; n],
            next_order: 0,
            time_us,
            step: 0,
            main_target,
            bias: 1.0,
            lasting_lack: 0.0,
            load,
            next_control_us: time_us,
            interventions: Interventions::default(),
        };
        motion.signals.set(time_us);
        motion
    }

    /// Moves everything on by `step_ms`.
    pub(crate) fn advance(&mut self, step_ms: u32) {
        let dt = f64::from(step_ms) / 1000.0;
        self.signals.set(self.time_us);
        if self.time_us >= self.next_control_us {
            self.control_density();
            self.next_control_us += 1_000_000;
        }
        self.occupancy.build(&self.roads, &self.vehicles);
        if self.config.lane_changes && self.change_lanes(dt) {
            self.occupancy.build(&self.roads, &self.vehicles);
        }
        self.look_ahead(dt);
        for i in 0..self.vehicles.len() {
            let plan = self.plan(i, dt);
            self.bind(i, plan.bound);
            let vehicle = &mut self.vehicles[i];
            vehicle.next_speed = plan.next_speed;
            vehicle.denial = plan.denial;
            self.interventions.forced_entries += u64::from(plan.forced);
            self.interventions.squeezes += u64::from(plan.squeezed);
        }
        for i in 0..self.vehicles.len() {
            self.drive(i, dt);
        }
        self.step += 1;
        self.time_us += i64::from(step_ms) * 1000;
    }

    /// Extends paths, frees vehicles from gates that have closed in time, and announces approaching vehicles.
    fn look_ahead(&mut self, dt: f64) {
        for &track in &self.announced {
            self.approaching.clear(track);
        }
        self.announced.clear();
        for i in 0..self.vehicles.len() {
            self.reconsider_full_way(i);
            self.extend_path(i);
            if self.vehicles[i].bound > 0 {
                self.unbind_if_closed(i, dt);
            }
            let vehicle = &self.vehicles[i];
            // Somebody who was just refused and stands does not come.
            if vehicle.denial != Denial::None && vehicle.speed < 1.0 {
                continue;
            }
            let mut distance = self.roads.length(vehicle.track) - vehicle.position;
            for (k, &track) in vehicle.path.as_slice().iter().enumerate() {
                if k >= vehicle.bound
                    && let TrackKind::Crossing(crossing) = &self.roads.tracks[track as usize].kind
                {
                    if crossing.entry
                        && matches!(
                            self.signals.light(crossing.signal),
                            Light::Red | Light::Yellow
                        )
                    {
                        break;
                    }
                    if self.watched[track as usize] {
                        if self.approaching.on(track).is_empty() {
                            self.announced.push(track);
                        }
                        let approach = Approach {
                            vehicle: i as u32,
                            distance,
                        };
                        self.approaching.push(track, approach);
                    }
                }
                distance += self.roads.length(track);
            }
        }
    }

    /// Frees a vehicle from gates whose light has gone out of green, as long as it can stop before them.
    fn unbind_if_closed(&mut self, i: usize, dt: f64) {
        let vehicle = &self.vehicles[i];
        let mut distance = self.roads.length(vehicle.track) - vehicle.position;
        let needed = braking_distance(vehicle.speed, vehicle.model.decel) + vehicle.speed * dt;
        for k in 0..vehicle.bound {
            let track = vehicle.path.as_slice()[k];
            let data = &self.roads.tracks[track as usize];
            if let TrackKind::Crossing(crossing) = &data.kind
                && crossing.entry
                && distance > needed + 0.05
                && matches!(
                    self.signals.light(crossing.signal),
                    Light::Red | Light::Yellow
                )
            {
                self.unbind(i, k);
                return;
            }
            distance += data.length;
        }
    }

    fn unbind(&mut self, i: usize, from: usize) {
        let vehicle = &mut self.vehicles[i];
        let space = millimetres(vehicle.space());
        for &track in &vehicle.path.as_slice()[from..vehicle.bound] {
            if let TrackKind::Crossing(crossing) = &self.roads.tracks[track as usize].kind {
                self.users.retain(track, |&(user, _)| user != i as u32);
                if crossing.next == crossing.to_lane {
                    self.promised[crossing.to_lane as usize] -= space;
                }
            }
        }
        vehicle.bound = from;
    }

    fn bind(&mut self, i: usize, bound: usize) {
        let vehicle = &mut self.vehicles[i];
        let space = millimetres(vehicle.space());
        for &track in &vehicle.path.as_slice()[vehicle.bound.min(bound)..bound] {
            if let TrackKind::Crossing(crossing) = &self.roads.tracks[track as usize].kind {
                self.users.push(track, (i as u32, self.next_order));
                self.next_order += 1;
                if crossing.next == crossing.to_lane {
                    self.promised[crossing.to_lane as usize] += space;
                }
            }
        }
        vehicle.bound = vehicle.bound.max(bound);
    }

    /// The place of a vehicle's front relative to the beginning of a track that lies on its way.
    pub(crate) fn front_on(&self, vehicle: u32, track: u32) -> Option<f64> {
        let vehicle = &self.vehicles[vehicle as usize];
        let length = |t: u32| self.roads.length(t);
        if vehicle.track == track {
            return Some(vehicle.position);
        }
        let mut front = vehicle.position;
        for &t in vehicle.trail.as_slice() {
            front += length(t);
            if t == track {
                return Some(front);
            }
        }
        let mut front = vehicle.position - length(vehicle.track);
        for &t in vehicle.path.as_slice() {
            if t == track {
                return Some(front);
            }
            front -= length(t);
        }
        None
    }

    /// The point of a vehicle's way `distance` metres behind its front bumper.
    pub(crate) fn behind(&self, vehicle: &Vehicle, distance: f64) -> Point {
        let tracks = &self.roads.tracks;
        let mut track = &tracks[vehicle.track as usize];
        let mut at = vehicle.position - distance;
        for &before in vehicle.trail.as_slice() {
            if at >= 0.0 {
                break;
            }
            track = &tracks[before as usize];
            at += track.length;
        }
        track.shape.point_at(at)
    }

    /// The speed of a vehicle after this step and the gates that it is bound to then.
    fn plan(&self, i: usize, dt: f64) -> Plan {
        let me = &self.vehicles[i];
        debug_assert!(
            me.path
                .as_slice()
                .last()
                .is_none_or(|&track| self.roads.lane(track).is_some()),
            "a path must end on a lane"
        );
        let model = &me.model;
        let decel = model.decel;
        let here = &self.roads.tracks[me.track as usize];
        let wish = (here.limit * me.factor).min(model.max_speed);
        let fastest = (me.speed + model.accel * dt).min(wish.max(me.speed - decel * dt));
        let mut limits = Limits {
            safe: f64::INFINITY,
            horizon: fastest * model.tau
                + braking_distance(fastest, decel)
                + STOP_SHORT
                + model.min_gap,
            squeezed: false,
        };
        self.look_around(i, &mut limits);
        let ahead = self.look_along_path(i, fastest, &mut limits);
        if me.helps.0 != NONE {
            let polite = self.helpful_speed(i).max(me.speed - HELPFUL_BRAKING * dt);
            limits.slow_to(polite);
        }

        let target = fastest.min(limits.safe);
        let noise = model.sigma * me.dawdle.unit(self.step) * dt;
        let slack = noise
            * if target < model.accel {
                target
            } else {
                model.accel
            };
        let hardest = (me.speed - decel * dt).min(target);
        let mut next = (target - slack).max(hardest);
        next = next.max(me.speed - EMERGENCY * dt);
        if next < AT_REST.min(0.5 * model.accel * dt) {
            // The safe speed falls with the gap for ever: who would only creep stands.
            next = 0.0;
        }

        // A gate that can no longer be kept after this step is passed for good.
        let mut bound = me.bound;
        let mut forced = ahead.forced;
        for &(k, distance) in &ahead.gates[..ahead.gate_count] {
            let left = distance - next * dt;
            if left > braking_distance(next, decel) + next * dt + 0.1 {
                forced = false;
                break;
            }
            bound = k + 1;
        }
        Plan {
            next_speed: next,
            denial: ahead.denial,
            bound,
            forced,
            squeezed: limits.squeezed,
        }
    }

    /// What a vehicle heeds on the track it is on, and on the lane that it leaves.
    fn look_around(&self, i: usize, limits: &mut Limits) {
        let me = &self.vehicles[i];
        if let Some(entry) = self.occupancy.ahead(i as u32, me.track) {
            let leader = &self.vehicles[entry.vehicle as usize];
            limits.follow(&me.model, entry.back - me.position, leader);
        }
        if me.shadow != NONE
            && let Some(front) = shadow_front(&self.roads, me)
            && let Some(entry) = self.occupancy.ahead_of(me.shadow, front, i as u32)
        {
            // Until the body has left the old lane, the vehicle in front there counts as well, but not for what lies ahead.
            let leader = &self.vehicles[entry.vehicle as usize];
            let horizon = limits.horizon;
            limits.follow(&me.model, entry.back - front, leader);
            limits.horizon = horizon;
        }
        if self.roads.tracks[me.track as usize].crossing().is_some() {
            let speed = self.conflict_speed(i, me.track, -me.position, &mut limits.squeezed);
            limits.slow_to(speed);
        }
    }

    /// What a vehicle heeds on the tracks of its path, as far as it matters in this step.
    fn look_along_path(&self, i: usize, fastest: f64, limits: &mut Limits) -> Ahead {
        let me = &self.vehicles[i];
        let (decel, tau) = (me.model.decel, me.model.tau);
        let mut ahead = Ahead {
            denial: Denial::None,
            forced: false,
            gates: [(0, 0.0); 14],
            gate_count: 0,
        };
        let mut distance = self.roads.tracks[me.track as usize].length - me.position;
        for (k, &track) in me.path.as_slice().iter().enumerate() {
            if distance > limits.horizon {
                return ahead;
            }
            let data = &self.roads.tracks[track as usize];
            if data.crossing().is_some() {
                let speed = self.conflict_speed(i, track, distance, &mut limits.squeezed);
                limits.slow_to(speed);
                if k >= me.bound {
                    let (answer, force) = self.may_pass(i, k, distance);
                    if answer != Denial::None {
                        ahead.denial = answer;
                        limits.slow_to(safe_speed(distance - STOP_SHORT, 0.0, decel, decel, tau));
                        return ahead;
                    }
                    ahead.forced |= force;
                    ahead.gates[ahead.gate_count] = (k, distance);
                    ahead.gate_count += 1;
                }
            }
            let limit = data.limit * me.factor;
            if limit < fastest {
                limits.slow_to((limit * limit + 2.0 * decel * distance.max(0.0)).sqrt());
            }
            if let Some(entry) = self.occupancy.last(track)
                && entry.vehicle != i as u32
            {
                let leader = &self.vehicles[entry.vehicle as usize];
                limits.follow(&me.model, distance + entry.back, leader);
            }
            distance += data.length;
        }
        if distance <= limits.horizon {
            // The way is not known any further: the lane does not lead where the driver wants to go.
            limits.slow_to(safe_speed(distance - STOP_SHORT, 0.0, decel, decel, tau));
        }
        ahead
    }

    /// The speed that vehicles already bound to conflicting tracks leave on a track whose beginning is `start` metres ahead.
    fn conflict_speed(&self, i: usize, track: u32, start: f64, squeezed: &mut bool) -> f64 {
        let me = &self.vehicles[i];
        let Some(crossing) = self.roads.tracks[track as usize].crossing() else {
            return f64::INFINITY;
        };
        let (decel, tau) = (me.model.decel, me.model.tau);
        let length = self.roads.length(track);
        let mut safe = f64::INFINITY;
        let mut order = None;
        for conflict in &crossing.conflicts {
            for &(user, its_order) in self.users.on(conflict.other) {
                if user == i as u32 {
                    continue;
                }
                let Some(front) = self.front_on(user, conflict.other) else {
                    continue;
                };
                let other = &self.vehicles[user as usize];
                let back = front - other.length();
                if conflict.meeting == Meeting::Diverge {
                    // The one in front leads, whoever was bound first.
                    let mine = -start - conflict.enter;
                    if front - conflict.other_enter > mine && back < conflict.other_exit {
                        let gap = back - conflict.other_enter - mine - me.model.min_gap;
                        safe =
                            safe.min(safe_speed(gap, other.speed, decel, other.model.decel, tau));
                    }
                    continue;
                }
                let mine = *order.get_or_insert_with(|| self.order_of(i, track));
                if its_order > mine {
                    continue;
                }
                if conflict.meeting == Meeting::Merge {
                    let other_length = self.roads.length(conflict.other);
                    if back < other_length {
                        let gap = (start + length) - (other_length - back) - me.model.min_gap;
                        safe =
                            safe.min(safe_speed(gap, other.speed, decel, other.model.decel, tau));
                    }
                } else if back < conflict.other_exit && -start <= conflict.enter {
                    if me.waited > SQUEEZE_AFTER
                        && self.roads.lane(me.track).is_none()
                        && other.speed < STANDING
                    {
                        *squeezed = true;
                        continue;
                    }
                    let stop = start + conflict.enter - STOP_SHORT;
                    safe = safe.min(safe_speed(stop, 0.0, decel, decel, tau));
                }
            }
        }
        safe
    }

    /// When the vehicle was bound to the track; after everybody else if it is not.
    fn order_of(&self, i: usize, track: u32) -> u64 {
        self.users
            .on(track)
            .iter()
            .find(|&&(user, _)| user == i as u32)
            .map_or(u64::MAX, |&(_, order)| order)
    }

    /// The speed at which a vehicle leaves a gap for the one that it helps into its lane.
    fn helpful_speed(&self, i: usize) -> f64 {
        let me = &self.vehicles[i];
        let other = &self.vehicles[me.helps.0 as usize];
        let street = |track: u32| self.roads.lane(track).map(|l| l.street);
        if other.track == me.track
            || street(other.track).is_none()
            || street(other.track) != street(me.track)
        {
            return f64::INFINITY;
        }
        let scale = self.roads.length(me.track) / self.roads.length(other.track);
        let gap = other.position * scale - other.length() - me.position - me.model.min_gap;
        if gap < 0.0 {
            return f64::INFINITY;
        }
        safe_speed(
            gap,
            other.speed,
            me.model.decel,
            other.model.decel,
            me.model.tau,
        )
    }

    /// Moves one vehicle with its new speed.
    fn drive(&mut self, i: usize, dt: f64) {
        let vehicle = &self.vehicles[i];
        let ahead = self.roads.length(vehicle.track) - vehicle.position;
        if vehicle.bound == 0 && vehicle.path.len() > 0 && vehicle.next_speed * dt > ahead {
            // Only a vehicle that could not stop in spite of all comes here; others must still see it.
            self.bind(i, 1);
        }
        let vehicle = &mut self.vehicles[i];
        let tracks = &self.roads.tracks;
        let next = vehicle.next_speed;
        vehicle.accel += ((next - vehicle.speed) / dt - vehicle.accel) * (dt / SMOOTHING).min(1.0);
        vehicle.speed = next;
        vehicle.position += next * dt;
        vehicle.settled += dt;
        if vehicle.helps.0 != NONE {
            vehicle.helps.1 -= dt;
            if vehicle.helps.1 <= 0.0 {
                vehicle.helps.0 = NONE;
            }
        }
        if next < STANDING {
            let inside = tracks[vehicle.track as usize].crossing().is_some();
            if inside || !matches!(vehicle.denial, Denial::None | Denial::Signal) {
                vehicle.waited += dt;
            }
        }
        while vehicle.position > self.roads.length(vehicle.track) {
            let Some(track) = vehicle.path.first() else {
                vehicle.position = self.roads.length(vehicle.track);
                vehicle.speed = 0.0;
                break;
            };
            let left = vehicle.track;
            vehicle.position -= self.roads.length(left);
            if tracks[left as usize].lane().is_some() {
                vehicle.wants.pop_front();
            }
            vehicle.path.pop_front();
            vehicle.path_metres -= self.roads.length(track);
            vehicle.bound = vehicle.bound.saturating_sub(1);
            vehicle.track = track;
            vehicle.waited = 0.0;
            vehicle.reroutes = 0;
            if tracks[track as usize].lane().is_some() {
                self.promised[track as usize] -= millimetres(vehicle.space());
            }
            if let Some(lost) = vehicle.trail.push_front(left) {
                self.users.retain(lost, |&(user, _)| user != i as u32);
            }
        }
        // Tracks that the tail has left.
        let mut back = vehicle.position - vehicle.body.length;
        let mut kept = 0;
        for &track in vehicle.trail.as_slice() {
            if back >= 0.0 {
                break;
            }
            back += self.roads.length(track);
            kept += 1;
        }
        for k in kept..vehicle.trail.len() {
            let track = vehicle.trail.as_slice()[k];
            if tracks[track as usize].crossing().is_some() {
                self.users.retain(track, |&(user, _)| user != i as u32);
            }
        }
        vehicle.trail.truncate(kept);
        self.move_sideways(i, dt);
    }
}

fn millimetres(metres: f64) -> i64 {
    (metres * 1000.0).round() as i64
}
