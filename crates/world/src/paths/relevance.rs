//! Ground truth of decision relevance: which objects a vehicle must know of. For evaluation only.
//!
//! The letter: an object is decision-relevant to a vehicle when its ground-truth state lies on a map-derived conflict
//! course with that vehicle's predicted path. Here, for a vehicle i and an object o (any other body), with v the speed of
//! each, H the horizon and d_min the margin:
//!
//! - **Ahead.** o stands on a lane of i's predicted path, and its front bumper is ahead of i's front bumper on it. The
//!   *gap* is the path distance from i's front bumper to o's rear bumper, 0 where they overlap. Relevant if
//!   gap <= v_i H + d_min. A body stands on every lane between its two bumpers, so that the tail of a vehicle that turns
//!   off still blocks the lane it leaves. Vehicles on other lanes, neighbouring or oncoming, are not ahead.
//! - **Conflict.** The ways of i and o meet in the [`ConflictTable`]: they cross or merge at a junction. Each one's
//!   *distance* is the path distance from its front bumper to the point; it is 0 while the body stands on the point, and
//!   once the rear bumper is past it the conflict is over. Relevant if distance_i <= v_i H + d_min and
//!   distance_o <= v_o H + d_min. This is symmetric: o is relevant to i exactly when i is to o.
//!
//! Signals and right of way do not enter: a vehicle that waits at a red light is relevant all the same. Paths are those of
//! the [`Predictor`], from true lanes and intentions. Pedestrians and bodies off the road have no path, so nothing is
//! relevant to them. A person or bicycle on no lane stands on every lane whose centre line is within 2 m ([`Relevance::with_lanes`]):
//! whoever walks on the carriageway is ahead of those who come along it. Any other body on no lane is relevant to nobody.
//!
//! Where a body's tail hangs over the beginning of a lane that several connections lead into, it came by the one whose
//! way passes nearest to its rear bumper.

use std::sync::Arc;

use super::conflict::{Conflict, ConflictKind, ConflictTable};
use super::deadline::{Moving, ReactionDeadline, clean};
use super::graph::NONE;
use super::lane_match::LaneMatcher;
use super::predict::{PathBuffer, PathConnection, PathStart, Predictor};
use crate::geometry::Point;
use crate::network::ConnectionIx;
use crate::scene::{BodyKind, Frame, VehicleState};

/// Which objects count as being on a conflict course.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum RelevanceRule {
    /// All objects ahead, and all conflicts, within reach.
    #[default]
    Reach,
    /// Only those whose motion at constant speed would bring the two together within the horizon. Ahead: the gap is at most
    /// d_min plus what i gains on o in H. Conflict: as in `Reach`, and the times at which the bodies, each lengthened by
    /// d_min to the front, cover the point overlap.
    KinematicOverlap,
    /// Only the nearest object ahead, and crossings: no second leader, no merging.
    LeaderAndCrossings,
}

/// The readings in force for relevance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelevanceParameters {
    /// Horizon H in seconds. Default 4.
    pub horizon: f64,
    /// Margin d_min in metres. Default 7; calibrated on the deficit of the arm without cooperation.
    pub margin: f64,
    /// Which objects count as relevant.
    pub rule: RelevanceRule,
    /// How old the knowledge may be.
    pub deadline: ReactionDeadline,
}

impl Default for RelevanceParameters {
    fn default() -> Self {
        Self {
            horizon: 4.0,
            margin: 7.0,
            rule: RelevanceRule::default(),
            deadline: ReactionDeadline::default(),
        }
    }
}

/// Why an object is relevant; several reasons may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Reasons(u8);

impl Reasons {
    const AHEAD: Self = Self(1);
    const CROSSING: Self = Self(2);
    const MERGING: Self = Self(4);

    /// It is ahead on the path.
    #[must_use]
    pub fn ahead(self) -> bool {
        self.0 & Self::AHEAD.0 != 0
    }

    /// The two ways cross.
    #[must_use]
    pub fn crossing(self) -> bool {
        self.0 & Self::CROSSING.0 != 0
    }

    /// The two ways merge.
    #[must_use]
    pub fn merging(self) -> bool {
        self.0 & Self::MERGING.0 != 0
    }
}

/// An object that is relevant to a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelevantObject {
    /// Place of the object in [`Frame::vehicles`].
    pub object: u32,
    /// What makes the object relevant.
    pub reasons: Reasons,
    /// The oldest that the vehicle's knowledge of it may be, in microseconds.
    pub deadline_us: i64,
    /// The least margin d_min with which it is relevant, in metres; below 0 where the speeds alone are enough. With a
    /// smaller margin the pairs are exactly those whose least margin is at most that: one pass serves a calibration.
    pub least_margin: f64,
}

/// The relevant objects of each vehicle of a frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RelevantPairs {
    offsets: Vec<u32>,
    objects: Vec<RelevantObject>,
}

impl RelevantPairs {
    /// No pairs, no vehicles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is relevant to the vehicle at place `i` of the frame, by ascending place of the object.
    ///
    /// # Panics
    /// If the frame had no such vehicle.
    #[must_use]
    pub fn of(&self, i: usize) -> &[RelevantObject] {
        &self.objects[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// The number of vehicles.
    #[must_use]
    pub fn vehicles(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// There is no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// All pairs as (place of the vehicle, relevant object), in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &RelevantObject)> {
        (0u32..)
            .zip(self.offsets.windows(2))
            .flat_map(|(i, range)| {
                self.objects[range[0] as usize..range[1] as usize]
                    .iter()
                    .map(move |object| (i, object))
            })
    }
}

/// A body on a lane. `front` is the lane position of its front bumper, past the lane's end where only the tail is on it.
#[derive(Debug, Clone, Copy)]
struct Standing {
    vehicle: u32,
    front: f64,
}

/// A vehicle that will take a connection, is on it, or has its tail on it.
#[derive(Debug, Clone, Copy)]
struct Approach {
    vehicle: u32,
    /// Path distance of the connection's beginning.
    distance: f64,
}

/// What is needed of a vehicle, cleaned of odd numbers.
#[derive(Debug, Clone, Copy)]
struct Motion {
    speed: f64,
    length: f64,
}

/// Finds the relevant objects of every vehicle, step by step. Holds memory that is used again; clone it for each thread.
///
/// The result depends on the frame alone. Cost grows linearly with the vehicles at fixed density.
#[derive(Debug, Clone)]
pub struct Relevance {
    predictor: Arc<Predictor>,
    conflicts: Arc<ConflictTable>,
    parameters: RelevanceParameters,
    motion: Vec<Motion>,
    moving: Vec<Moving>,
    paths: PathBuffer,
    /// Connections under the tail of each vehicle that has left them with its front, by vehicle.
    tails: Vec<(u32, PathConnection)>,
    standing: Buckets<Standing>,
    approaches: Buckets<Approach>,
    row: Vec<(u32, Reasons, f64)>,
    /// Finds the lanes under those who are on none.
    lanes: Option<Arc<LaneMatcher>>,
    /// Lanes under one of them.
    under: Vec<(u32, f64)>,
}

/// How far from a lane's centre line somebody on foot is on it, in metres.
const ON_LANE_M: f64 = 2.0;

impl Relevance {
    /// Relevance on the network of `predictor` and `conflicts`.
    #[must_use]
    pub fn new(
        predictor: Arc<Predictor>,
        conflicts: Arc<ConflictTable>,
        parameters: RelevanceParameters,
    ) -> Self {
        Self {
            predictor,
            conflicts,
            parameters,
            motion: Vec::new(),
            moving: Vec::new(),
            paths: PathBuffer::new(),
            tails: Vec::new(),
            standing: Buckets::default(),
            approaches: Buckets::default(),
            row: Vec::new(),
            lanes: None,
            under: Vec::new(),
        }
    }

    /// The same, which finds the lanes under persons and bicycles that the traffic gives none.
    #[must_use]
    pub fn with_lanes(self, lanes: Arc<LaneMatcher>) -> Self {
        Self {
            lanes: Some(lanes),
            ..self
        }
    }

    /// The readings in force.
    #[must_use]
    pub fn parameters(&self) -> &RelevanceParameters {
        &self.parameters
    }

    /// Replaces `out` by the relevant pairs of `frame`.
    pub fn step(&mut self, frame: &Frame, out: &mut RelevantPairs) {
        let longest = frame
            .vehicles
            .iter()
            .fold(0.0, |longest: f64, v| longest.max(clean(v.body.length)));
        self.place(frame, longest);
        out.objects.clear();
        out.offsets.clear();
        out.offsets.push(0);
        let mut row = std::mem::take(&mut self.row);
        let mut tails = self.tails.iter().peekable();
        for i in (0u32..).take(frame.vehicles.len()) {
            row.clear();
            self.find_ahead(i, longest, frame, &mut row);
            for &taken in self.paths.path(i as usize).connections {
                self.find_conflicts(i, taken, &mut row);
            }
            while let Some(&(_, taken)) = tails.next_if(|(owner, _)| *owner == i) {
                self.find_conflicts(i, taken, &mut row);
            }
            row.sort_unstable_by_key(|entry| entry.0);
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                let object = same[0].0;
                out.objects.push(RelevantObject {
                    object,
                    reasons: Reasons(same.iter().fold(0, |all, (_, reason, _)| all | reason.0)),
                    deadline_us: self
                        .parameters
                        .deadline
                        .between_moving(&self.moving[i as usize], &self.moving[object as usize]),
                    least_margin: same.iter().fold(f64::INFINITY, |least, s| least.min(s.2)),
                });
            }
            out.offsets
                .push(u32::try_from(out.objects.len()).unwrap_or(u32::MAX));
        }
        self.row = row;
    }

    /// Fills the tables of who stands on which lane and who takes which connection.
    fn place(&mut self, frame: &Frame, longest: f64) {
        self.motion.clear();
        self.moving.clear();
        self.paths.clear();
        self.tails.clear();
        self.standing.begin();
        self.approaches.begin();
        for (i, vehicle) in (0u32..).zip(&frame.vehicles) {
            let moving = Moving::of(vehicle);
            self.moving.push(moving);
            let motion = Motion {
                speed: moving.speed,
                length: clean(vehicle.body.length),
            };
            self.motion.push(motion);
            match PathStart::of(vehicle) {
                Some(start) => {
                    // Far enough for every body whose rear bumper is within reach to be found by its front bumper, and a
                    // hair more, so that rounding never cuts off what the comparison would admit.
                    let reach = motion.speed * clean(self.parameters.horizon)
                        + clean(self.parameters.margin)
                        + longest
                        + 1e-6;
                    self.predictor.predict(start, reach, &mut self.paths);
                }
                None => self.paths.push_empty(),
            }
            self.stand(i, vehicle, motion.length);
            for taken in self.paths.path(i as usize).connections {
                self.approaches.push(
                    taken.connection.0,
                    Approach {
                        vehicle: i,
                        distance: taken.distance,
                    },
                );
            }
        }
        for (i, taken) in &self.tails {
            self.approaches.push(
                taken.connection.0,
                Approach {
                    vehicle: *i,
                    distance: taken.distance,
                },
            );
        }
        self.standing.finish(self.predictor.lanes());
        self.approaches.finish(self.predictor.connections());
        // Ties are ordered by id, so that the order of vehicles in the frame cannot matter.
        self.standing.sort_each(|a, b| {
            let id = |s: &Standing| frame.vehicles[s.vehicle as usize].id;
            a.front.total_cmp(&b.front).then_with(|| id(a).cmp(&id(b)))
        });
    }

    /// Notes every lane that a body stands on, and the connections under its tail that its front has left.
    fn stand(&mut self, i: u32, vehicle: &VehicleState, length: f64) {
        let graph = &self.predictor.graph;
        let Some(lane) = vehicle.lane.map(|lane| lane.0) else {
            self.stand_off_lanes(i, vehicle);
            return;
        };
        if lane as usize >= graph.lane_length.len() || !vehicle.lane_position.is_finite() {
            return;
        }
        let mut lane = lane;
        let mut front = vehicle
            .lane_position
            .clamp(0.0, graph.lane_length[lane as usize]);
        // A long body may hang over several short lanes; lanes of length 0 must not make this endless.
        for _ in 0..16 {
            self.standing.push(lane, Standing { vehicle: i, front });
            if front >= length {
                return;
            }
            let mut connection = graph.owner[lane as usize];
            let mut place = graph.via_place[lane as usize];
            if connection == NONE {
                let rear = vehicle.position - Point::from_heading(vehicle.heading) * (length / 2.0);
                let Some(came_by) = graph.came_by(lane, rear) else {
                    return;
                };
                connection = came_by;
                place = u32::try_from(graph.via(connection).len()).unwrap_or(0);
                self.tails.push((
                    i,
                    PathConnection {
                        connection: ConnectionIx(connection),
                        distance: -(front + graph.connection_length[connection as usize]),
                    },
                ));
            }
            lane = match place.checked_sub(1) {
                Some(before) => graph.via(connection)[before as usize],
                None => graph.from[connection as usize],
            };
            front += graph.lane_length[lane as usize];
        }
    }

    /// Notes the lanes under a person or bicycle that is on none.
    fn stand_off_lanes(&mut self, i: u32, vehicle: &VehicleState) {
        let Some(lanes) = &self.lanes else {
            return;
        };
        if !matches!(vehicle.body.kind, BodyKind::Pedestrian | BodyKind::Bicycle) {
            return;
        }
        let under = &mut self.under;
        under.clear();
        lanes.lanes_under(vehicle.position, ON_LANE_M, |lane, at| {
            under.push((lane, at));
        });
        // Stretches of one lane meet; the first counts.
        under.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        under.dedup_by_key(|entry| entry.0);
        for &(lane, front) in &*under {
            self.standing.push(lane, Standing { vehicle: i, front });
        }
    }

    fn find_ahead(&self, i: u32, longest: f64, frame: &Frame, row: &mut Vec<(u32, Reasons, f64)>) {
        let me = self.motion[i as usize];
        let horizon = clean(self.parameters.horizon);
        let margin = clean(self.parameters.margin);
        let only_leader = self.parameters.rule == RelevanceRule::LeaderAndCrossings;
        let mut leader: Option<(f64, u32)> = None;
        for piece in self.paths.path(i as usize).pieces {
            let bodies = self.standing.row(piece.lane.0);
            // Path distance of lane position 0.
            let origin = piece.distance - piece.start;
            let first = bodies.partition_point(|body| origin + body.front <= 0.0);
            for body in &bodies[first..] {
                let front = origin + body.front;
                if front - longest - me.speed * horizon > margin {
                    break;
                }
                if body.vehicle == i {
                    continue;
                }
                let other = self.motion[body.vehicle as usize];
                let gap = (front - other.length).max(0.0);
                let gained = match self.parameters.rule {
                    RelevanceRule::KinematicOverlap => (me.speed - other.speed).max(0.0),
                    RelevanceRule::Reach | RelevanceRule::LeaderAndCrossings => me.speed,
                };
                let needed = gap - gained * horizon;
                if needed > margin {
                    continue;
                }
                if only_leader {
                    let id = |place: u32| frame.vehicles[place as usize].id;
                    let nearer = leader.is_none_or(|(least, who)| {
                        needed < least || (needed <= least && id(body.vehicle) < id(who))
                    });
                    if nearer {
                        leader = Some((needed, body.vehicle));
                    }
                } else {
                    row.push((body.vehicle, Reasons::AHEAD, needed));
                }
            }
        }
        if let Some((needed, who)) = leader {
            row.push((who, Reasons::AHEAD, needed));
        }
    }

    fn find_conflicts(&self, i: u32, taken: PathConnection, row: &mut Vec<(u32, Reasons, f64)>) {
        let margin = clean(self.parameters.margin);
        for conflict in self.conflicts.of(taken.connection) {
            let reasons = match conflict.kind {
                ConflictKind::Crossing => Reasons::CROSSING,
                ConflictKind::Merging => Reasons::MERGING,
            };
            if reasons == Reasons::MERGING
                && self.parameters.rule == RelevanceRule::LeaderAndCrossings
            {
                continue;
            }
            let mine = taken.distance + conflict.own;
            if self
                .needed_to_reach(i, mine)
                .is_none_or(|needed| needed > margin)
            {
                continue;
            }
            for approach in self.approaches.row(conflict.other.0) {
                if approach.vehicle == i {
                    continue;
                }
                if let Some(needed) = self.needed_for(i, mine, conflict, approach)
                    && needed <= margin
                {
                    row.push((approach.vehicle, reasons, needed));
                }
            }
        }
    }

    /// The margin that a vehicle needs to have a point at path distance `distance` within reach; none if it has left it.
    fn needed_to_reach(&self, vehicle: u32, distance: f64) -> Option<f64> {
        let motion = self.motion[vehicle as usize];
        (distance + motion.length >= 0.0)
            .then(|| distance.max(0.0) - motion.speed * clean(self.parameters.horizon))
    }

    /// The margin with which a conflict makes the vehicle of `approach` relevant to vehicle `i`; none if it is over.
    fn needed_for(
        &self,
        i: u32,
        mine: f64,
        conflict: &Conflict,
        approach: &Approach,
    ) -> Option<f64> {
        let theirs = approach.distance + conflict.theirs;
        let o = approach.vehicle;
        let mut needed = self
            .needed_to_reach(i, mine)?
            .max(self.needed_to_reach(o, theirs)?);
        if self.parameters.rule == RelevanceRule::KinematicOverlap {
            let (me, other) = (self.motion[i as usize], self.motion[o as usize]);
            // One arrives, with the margin before it, no later than the other leaves; a standing body never leaves.
            let in_time = |distance: f64, speed: f64, left: f64, leaving: Motion| {
                if leaving.speed > 0.0 {
                    distance.max(0.0) - speed * (left + leaving.length) / leaving.speed
                } else {
                    f64::NEG_INFINITY
                }
            };
            needed = needed
                .max(in_time(mine, me.speed, theirs, other))
                .max(in_time(theirs, other.speed, mine, me));
        }
        Some(needed)
    }
}

/// Items by key in flat arrays, filled in any order and sorted by counting.
#[derive(Debug, Clone)]
struct Buckets<T> {
    keys: Vec<u32>,
    unsorted: Vec<T>,
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Buckets<T> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            unsorted: Vec::new(),
            offsets: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T: Copy> Buckets<T> {
    fn begin(&mut self) {
        self.keys.clear();
        self.unsorted.clear();
    }

    fn push(&mut self, key: u32, item: T) {
        self.keys.push(key);
        self.unsorted.push(item);
    }

    /// Sorts what was pushed into `rows` rows; within a row in the order of pushing.
    fn finish(&mut self, rows: usize) {
        self.offsets.clear();
        self.offsets.resize(rows + 1, 0);
        for &key in &self.keys {
            self.offsets[key as usize + 1] += 1;
        }
        for i in 1..self.offsets.len() {
            self.offsets[i] += self.offsets[i - 1];
        }
        self.items.clear();
        self.items.extend_from_slice(&self.unsorted);
        // Each row's offset runs from its beginning to its end while the row fills, and is moved back afterwards.
        for (&key, &item) in self.keys.iter().zip(&self.unsorted) {
            let at = &mut self.offsets[key as usize];
            self.items[*at as usize] = item;
            *at += 1;
        }
        for i in (1..self.offsets.len()).rev() {
            self.offsets[i] = self.offsets[i - 1];
        }
        if let Some(first) = self.offsets.first_mut() {
            *first = 0;
        }
    }

    fn sort_each(&mut self, mut order: impl FnMut(&T, &T) -> std::cmp::Ordering) {
        for range in self.offsets.windows(2) {
            let row = &mut self.items[range[0] as usize..range[1] as usize];
            if row.len() > 1 {
                row.sort_unstable_by(&mut order);
            }
        }
    }

    fn row(&self, key: u32) -> &[T] {
        &self.items[self.offsets[key as usize] as usize..self.offsets[key as usize + 1] as usize]
    }
}
