//! Who needs to know of what: objects on a collision course that a listener does not see.
//!
//! A listener needs an object that is *ahead* on its way, unless it is the nearest one there, which it sees; and one whose
//! way *meets* its own, when both can be at the meeting point within the horizon and no sight line tells the listener of it.
//! Ways come from [`Scene`]: along lanes where there is a map, else straight on.

use alloc::vec::Vec;

use super::scene::{Scene, Segment};
use crate::grid::Position;
use crate::parameters::Parameters;

covey_parameters::parameters! {
    /// How far ahead needs are looked for, and what counts as being on a way.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
    pub struct Course {
        /// Travel time ahead.
        horizon_s: f64 = 5.0, unit "s", range at_least(0.0).at_most(60.0), source "design: choice by demand";
        /// Added to the distance travelled.
        margin_m: f64 = 10.0, unit "m", range at_least(0.0).at_most(1_000.0), source "design: choice by demand";
        /// A body whose centre is no further than this off a way's centre line is on it.
        lane_half_m: f64 = 1.7, unit "m", range at_least(0.0).at_most(100.0), source "design: half a lane";
        /// Two ways meet where their centre lines come this near.
        meeting_m: f64 = 1.5, unit "m", range at_least(0.0).at_most(100.0), source "design: choice by demand";
        /// Chance that somebody really sees what a sight line over known boxes says it sees.
        sight_trust: f64 = 0.85, range at_least(0.0).at_most(1.0), source "design: choice by demand";
    }
}

impl Course {
    /// How far ahead of its front a body at `speed` m/s is looked after.
    #[must_use]
    pub fn reach_m(&self, speed: f64) -> f64 {
        self.horizon_s * speed + self.margin_m
    }
}

/// A listener and an object that it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The listener's number in the scene.
    pub listener: u32,
    /// The object's number in the scene.
    pub object: u32,
    /// How old what it knows may be, in seconds.
    pub deadline_s: f64,
    /// Chance that it does not see the object itself.
    pub unseen: f64,
}

/// Up to so many wanted objects are compared with each listener one by one; more are looked up by place.
const FEW: usize = 32;
/// How far beyond half a lane a body may be off a way's bounding box and still be looked at, in metres.
const BESIDE_M: f64 = 3.0;

/// Much more than rounding leaves open, in metres.
const ROUNDING_M: f64 = 1e-6;

/// Buffers for [`Needs::find`].
#[derive(Debug, Clone, Default)]
pub struct Needs {
    pairs: Vec<Pair>,
    /// The wanted objects, ascending; none where they are more than a few.
    few: Option<Vec<u32>>,
    near: Vec<u32>,
    ahead: Vec<(f64, u32)>,
    boxes: Vec<[f64; 4]>,
    longest_m: f64,
}

impl Needs {
    /// The pairs of the last search, by listener, each object once for a listener.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Finds what each of `listeners` needs, among the objects that `wanted` lets through; what it no longer lets through, it need
    /// not be asked for again. `sees(i, o)` is the chance that i sees o.
    pub fn find(
        &mut self,
        scene: &Scene,
        course: &Course,
        parameters: &Parameters,
        listeners: &[u32],
        wanted: impl Fn(u32) -> bool,
        mut sees: impl FnMut(u32, u32) -> f64,
    ) {
        self.pairs.clear();
        self.measure(scene);
        let mut few = self.few.take().unwrap_or_default();
        few.clear();
        let all = 0..scene.bodies().len() as u32;
        few.extend(all.filter(|&object| wanted(object)).take(FEW + 1));
        if few.is_empty() {
            return;
        }
        self.few = (few.len() <= FEW).then_some(few);
        let order = nearest_first(scene, listeners);
        for &listener in order.as_deref().unwrap_or(listeners) {
            let idle = |few: &Vec<u32>| !few.iter().any(|&object| wanted(object));
            if scene.is_spent() || self.few.as_ref().is_some_and(idle) {
                break;
            }
            self.ahead.clear();
            if self.may_be_ahead(scene, course, listener) {
                self.find_ahead(scene, course, listener);
            }
            let ahead = core::mem::take(&mut self.ahead);
            let push = |pairs: &mut Vec<Pair>, object: u32, seen: f64| {
                pairs.push(Pair {
                    listener,
                    object,
                    deadline_s: deadline_s(scene, parameters, listener, object),
                    unseen: 1.0 - seen,
                });
            };
            // The nearest one ahead is seen.
            for &(_, object) in ahead.iter().skip(1).filter(|&&(_, o)| wanted(o)) {
                push(&mut self.pairs, object, sees(listener, object));
            }
            self.find_meeting(scene, course, listener, &wanted, &ahead);
            let near = core::mem::take(&mut self.near);
            for &object in &near {
                push(&mut self.pairs, object, sees(listener, object));
            }
            self.near = near;
            self.ahead = ahead;
        }
        if order.is_some() {
            self.pairs.sort_by_key(|pair| pair.listener);
        }
    }

    fn measure(&mut self, scene: &Scene) {
        self.boxes.clear();
        self.longest_m = 0.0;
        for (k, body) in (0u32..).zip(scene.bodies()) {
            let mut bounds = [
                body.position.x,
                body.position.y,
                body.position.x,
                body.position.y,
            ];
            for p in scene.way(k) {
                bounds[0] = bounds[0].min(p.x);
                bounds[1] = bounds[1].min(p.y);
                bounds[2] = bounds[2].max(p.x);
                bounds[3] = bounds[3].max(p.y);
            }
            let [x0, y0, x1, y1] = bounds;
            self.longest_m = self.longest_m.max(x1 - x0).max(y1 - y0);
            self.boxes.push(bounds);
        }
    }

    /// A wanted object is near the way of `listener`; always where they are many.
    fn may_be_ahead(&self, scene: &Scene, course: &Course, listener: u32) -> bool {
        let [x0, y0, x1, y1] = self.boxes[listener as usize];
        let wide = course.lane_half_m + BESIDE_M;
        self.few.as_ref().is_none_or(|few| {
            few.iter().any(|&object| {
                let p = scene.bodies()[object as usize].position;
                p.x >= x0 - wide && p.x <= x1 + wide && p.y >= y0 - wide && p.y <= y1 + wide
            })
        })
    }

    /// Bodies ahead of `listener` on its way and within reach, nearest first.
    fn find_ahead(&mut self, scene: &Scene, course: &Course, listener: u32) {
        let way = scene.segments(listener);
        if way.is_empty() {
            return;
        }
        let me = &scene.bodies()[listener as usize];
        let [x0, y0, x1, y1] = self.boxes[listener as usize];
        let wide = course.lane_half_m + BESIDE_M;
        self.near.clear();
        scene.in_box(
            Position::new(x0 - wide, y0 - wide),
            Position::new(x1 + wide, y1 + wide),
            &mut self.near,
        );
        scene.spend(4 * self.near.len());
        let front = 0.5 * me.size.length;
        let reach = course.reach_m(me.speed);
        for &object in self.near.iter().filter(|&&o| o != listener) {
            let other = &scene.bodies()[object as usize];
            let Some(spot) = spot_on(way, other.position, course.lane_half_m) else {
                continue;
            };
            let gap = spot.along - front - 0.5 * other.size.length;
            // One that goes another way only crosses; that is for the other rule.
            let same_way = other.heading.is_none() || {
                let [c, s] = scene.direction(object);
                c * spot.direction[0] + s * spot.direction[1] > 0.5
            };
            if spot.along > 0.5 && gap <= reach && same_way {
                self.ahead.push((spot.along, object));
            }
        }
        self.ahead
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }

    /// Into `near`: bodies whose ways meet the listener's within both reaches and that are not ahead.
    fn find_meeting(
        &mut self,
        scene: &Scene,
        course: &Course,
        listener: u32,
        wanted: &impl Fn(u32) -> bool,
        ahead: &[(f64, u32)],
    ) {
        self.near.clear();
        let way = scene.segments(listener);
        if way.is_empty() {
            return;
        }
        let points = scene.way(listener).len();
        let me = &scene.bodies()[listener as usize];
        let mine = self.boxes[listener as usize];
        let wide = course.meeting_m;
        if let Some(few) = &self.few {
            self.near.extend_from_slice(few);
        } else {
            let far = wide + self.longest_m;
            scene.in_box(
                Position::new(mine[0] - far, mine[1] - far),
                Position::new(mine[2] + far, mine[3] + far),
                &mut self.near,
            );
        }
        scene.spend(self.near.len());
        let boxes = &self.boxes;
        let front = 0.5 * me.size.length;
        let reach = course.reach_m(me.speed);
        self.near.retain(|&object| {
            let theirs = boxes[object as usize];
            let apart = theirs[0] > mine[2] + wide
                || theirs[2] < mine[0] - wide
                || theirs[1] > mine[3] + wide
                || theirs[3] < mine[1] - wide;
            if apart
                || object == listener
                || !wanted(object)
                || ahead.iter().any(|&(_, o)| o == object)
            {
                return false;
            }
            let other = &scene.bodies()[object as usize];
            scene.spend(2 + points * scene.way(object).len());
            let Some(meeting) = meet(way, scene.segments(object), &theirs, wide) else {
                return false;
            };
            // It follows in the same lane: the meeting point is where the listener is.
            if meeting.mine < 1.0 && meeting.cosine > 0.7 {
                return false;
            }
            meeting.mine - front <= reach
                && meeting.theirs - 0.5 * other.size.length <= course.reach_m(other.speed)
        });
    }
}

/// Up to so many listeners are looked after whatever their order.
const MANY: usize = 384;

/// Where listeners are so many that work may not suffice for all: those nearest to the middle of them first.
fn nearest_first(scene: &Scene, listeners: &[u32]) -> Option<Vec<u32>> {
    if listeners.len() <= MANY || scene.left().is_none() {
        return None;
    }
    let place = |listener: u32| scene.bodies()[listener as usize].position;
    let centre = scene.centre();
    let mut order: Vec<(f64, u32)> = listeners
        .iter()
        .map(|&listener| (place(listener).distance(centre), listener))
        .collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Some(order.into_iter().map(|(_, listener)| listener).collect())
}

/// How old what `listener` knows of `object` may be, in seconds.
#[must_use]
pub fn deadline_s(scene: &Scene, parameters: &Parameters, listener: u32, object: u32) -> f64 {
    let (a, b) = (
        &scene.bodies()[listener as usize],
        &scene.bodies()[object as usize],
    );
    let ([ac, as_], [bc, bs]) = (scene.direction(listener), scene.direction(object));
    let relative = length_of([a.speed * ac - b.speed * bc, a.speed * as_ - b.speed * bs]);
    parameters.reaction_deadline_s(relative)
}

fn length_of([x, y]: [f64; 2]) -> f64 {
    libm::sqrt(x * x + y * y)
}

/// A place on a way.
struct Spot {
    /// From its beginning, in metres.
    along: f64,
    /// Of the way there.
    direction: [f64; 2],
}

/// Where on `way` a body at `p` is, no more than `off_m` beside it: the nearest place.
fn spot_on(way: &[Segment], p: Position, off_m: f64) -> Option<Spot> {
    let mut best: Option<(f64, Spot)> = None;
    // Whatever is farther off a segment's bounding box is farther off the segment, rounding included.
    let wide = off_m + ROUNDING_M;
    for segment in way {
        if p.x < segment.low.x - wide
            || p.x > segment.high.x + wide
            || p.y < segment.low.y - wide
            || p.y > segment.high.y + wide
            || segment.length <= 0.0
        {
            continue;
        }
        let direction = segment.direction;
        let o = [p.x - segment.from.x, p.y - segment.from.y];
        let along = (o[0] * direction[0] + o[1] * direction[1]).clamp(0.0, segment.length);
        let off = length_of([o[0] - along * direction[0], o[1] - along * direction[1]]);
        if off <= off_m && best.as_ref().is_none_or(|(least, _)| off < *least) {
            let spot = Spot {
                along: segment.begin + along,
                direction,
            };
            best = Some((off, spot));
        }
    }
    best.map(|(_, spot)| spot)
}

/// Where two ways first come together.
struct Meeting {
    mine: f64,
    theirs: f64,
    /// Of the angle between them.
    cosine: f64,
}

/// `bounds` are lowest and highest coordinates of the way `b`.
fn meet(a: &[Segment], b: &[Segment], bounds: &[f64; 4], near_m: f64) -> Option<Meeting> {
    for p in a.iter().filter(|p| p.length > 0.0) {
        let [x0, y0, x1, y1] = *bounds;
        if p.high.x + near_m < x0
            || x1 + near_m < p.low.x
            || p.high.y + near_m < y0
            || y1 + near_m < p.low.y
        {
            continue;
        }
        let mut first: Option<Meeting> = None;
        for q in b {
            if q.length > 0.0
                && !apart(p, q, near_m)
                && let Some((ta, tb)) = approach(p, q, near_m)
            {
                let mine = p.begin + ta * p.length;
                if first.as_ref().is_none_or(|held| mine < held.mine) {
                    first = Some(Meeting {
                        mine,
                        theirs: q.begin + tb * q.length,
                        cosine: (p.span[0] * q.span[0] + p.span[1] * q.span[1])
                            / (p.length * q.length),
                    });
                }
            }
        }
        if first.is_some() {
            return first;
        }
    }
    None
}

fn apart(p: &Segment, q: &Segment, near_m: f64) -> bool {
    p.high.x + near_m < q.low.x
        || q.high.x + near_m < p.low.x
        || p.high.y + near_m < q.low.y
        || q.high.y + near_m < p.low.y
}

/// Shares of two segments at which they cross, else at which they come nearest within `near_m`.
fn approach(p: &Segment, q: &Segment, near_m: f64) -> Option<(f64, f64)> {
    let (da, db) = (p.span, q.span);
    let turn = da[0] * db[1] - da[1] * db[0];
    let r = [q.from.x - p.from.x, q.from.y - p.from.y];
    if turn.abs() > 1e-9 {
        let ta = (r[0] * db[1] - r[1] * db[0]) / turn;
        let tb = (r[0] * da[1] - r[1] * da[0]) / turn;
        if (0.0..=1.0).contains(&ta) && (0.0..=1.0).contains(&tb) {
            return Some((ta, tb));
        }
    }
    // Else one of the ends is nearest to the other segment.
    let foot = |x: Position, s: &Segment| {
        let [dx, dy] = s.span;
        let square = dx * dx + dy * dy;
        (((x.x - s.from.x) * dx + (x.y - s.from.y) * dy) / square).clamp(0.0, 1.0)
    };
    let ends = [
        (0.0, foot(p.from, q)),
        (foot(q.from, p), 0.0),
        (foot(q.to, p), 1.0),
        (1.0, foot(p.to, q)),
    ];
    let off = |(ta, tb): (f64, f64)| {
        length_of([
            p.from.x + ta * da[0] - q.from.x - tb * db[0],
            p.from.y + ta * da[1] - q.from.y - tb * db[1],
        ])
    };
    let near = ends.into_iter().filter(|&t| off(t) <= near_m);
    near.min_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests;
