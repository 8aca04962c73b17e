//! The bodies around, where they are going, and who can see whom: geometry over what is known.
//!
//! A [`Scene`] is built from states of different ages, moved forward at constant speed. It holds what a participant knows
//! and nothing else; two participants may hold different scenes of one place. Bodies are numbered by ascending id.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::spoken::Spoken;
use crate::grid::Position;
use crate::ids::ObjectId;
use crate::map::RoadMap;
use crate::messages::{AgentState, Size};

/// Side of the cells of the index, in metres.
const CELL_M: f64 = 20.0;
/// A car where no size is known.
pub const NOMINAL: Size = Size {
    length: 5.0,
    width: 2.0,
    height: 1.6,
};
/// No body is larger than this, in metres, whatever a message says.
const LARGEST_M: f64 = 30.0;
/// A line that passes a body by at least so much more than the body reaches is not held against its box, in metres: much more
/// than rounding leaves open.
pub(super) const SLACK_M: f64 = 1e-6;
/// No body is faster than this, in m/s, whatever a message says.
const FASTEST: f64 = 80.0;

/// A body, as somebody knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// The station, or a label where it is none.
    pub id: ObjectId,
    /// The centre of the body, moved forward to the present.
    pub position: Position,
    /// Its direction, in radians; none where nobody knows.
    pub heading: Option<f64>,
    /// Along its direction, in m/s.
    pub speed: f64,
    /// Its size; zeros for unknown.
    pub size: Size,
    /// No beacon of it is heard.
    pub silent: bool,
    /// How it tells of itself; none where it is silent.
    pub spoken: Option<Spoken>,
}

/// Extent of a station beside the road: nothing hides behind it.
const STATION_M: f64 = 0.01;

impl Body {
    /// A station beside the road.
    pub(crate) fn station(id: ObjectId, state: &AgentState) -> Self {
        Self {
            id,
            position: state.position,
            heading: None,
            speed: 0.0,
            size: state.size,
            silent: false,
            spoken: None,
        }
    }

    /// It can be met on the road; stations beside it cannot.
    pub(crate) fn is_object(&self) -> bool {
        self.size.length > STATION_M
    }

    /// Moves it forward by `seconds` and replaces what cannot be by what can. Gives its direction as a unit vector, too, where
    /// that is known.
    fn settled(mut self, seconds: f64) -> (Self, Option<[f64; 2]>) {
        self.speed = if self.speed.is_finite() {
            self.speed.clamp(0.0, FASTEST)
        } else {
            0.0
        };
        if !self.heading.is_some_and(f64::is_finite) {
            self.heading = None;
        }
        if !self.size.is_body() {
            // It goes nowhere.
            self.heading = None;
            self.size.length = STATION_M;
            self.size.width = STATION_M;
        }
        let or = |x: f64, usual: f64| {
            if x > 0.0 && x.is_finite() {
                x.min(LARGEST_M)
            } else {
                usual
            }
        };
        self.size = Size {
            length: or(self.size.length, NOMINAL.length),
            width: or(self.size.width, NOMINAL.width),
            height: or(self.size.height, NOMINAL.height),
        };
        let along = self.heading.map(direction);
        if let Some([c, s]) = along {
            let moved = self.speed * seconds.clamp(0.0, 2.0);
            self.position.x += moved * c;
            self.position.y += moved * s;
        }
        (self, along)
    }

    /// Half its length and width, as it stands in the way of sight.
    fn half(&self) -> [f64; 2] {
        let across = 0.5 * self.size.width;
        match self.heading {
            Some(_) => [0.5 * self.size.length, across],
            // Whichever way it stands, it is at least this thick.
            None => [across, across],
        }
    }
}

/// A piece of a way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) from: Position,
    pub(crate) to: Position,
    /// From one end to the other.
    pub(crate) span: [f64; 2],
    pub(crate) length: f64,
    /// As a unit vector; nothing to go by where it has no length.
    pub(crate) direction: [f64; 2],
    /// How far along the way it begins, in metres.
    pub(crate) begin: f64,
    /// Lowest and highest coordinates.
    pub(crate) low: Position,
    pub(crate) high: Position,
}

impl Segment {
    fn new(from: Position, to: Position, begin: f64) -> Self {
        let span = [to.x - from.x, to.y - from.y];
        let length = libm::sqrt(span[0] * span[0] + span[1] * span[1]);
        Self {
            from,
            to,
            span,
            length,
            direction: [span[0] / length, span[1] / length],
            begin,
            low: Position::new(from.x.min(to.x), from.y.min(to.y)),
            high: Position::new(from.x.max(to.x), from.y.max(to.y)),
        }
    }
}

/// The box of a body, as it stands in the way of sight.
#[derive(Debug, Clone, Copy)]
struct Upright {
    middle: Position,
    along: [f64; 2],
    half: [f64; 2],
    height: f64,
}

/// Bodies with an index and the ways ahead of them.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    bodies: Vec<Body>,
    /// Direction of each body as a unit vector.
    along: Vec<[f64; 2]>,
    ways: Vec<Position>,
    way_ends: Vec<u32>,
    /// The pieces of all ways, one behind the other.
    segments: Vec<Segment>,
    segment_ends: Vec<u32>,
    /// Where whoever looks is.
    centre: Position,
    corner: Position,
    columns: usize,
    rows: usize,
    offsets: Vec<u32>,
    members: Vec<u32>,
    /// Where each body is, a little more than it reaches from there at most, and its height, in metres.
    discs: Vec<[f64; 4]>,
    /// The box of each body.
    boxes: Vec<Upright>,
    /// The discs of `members`.
    spots: Vec<[f64; 4]>,
    /// Room to find bodies in a box: a bit each.
    marks: RefCell<Vec<u64>>,
    /// How far bodies were moved onto their lanes; kept for the next scene where one follows the other.
    corrections: Vec<[f64; 2]>,
    before: Option<Vec<(ObjectId, [f64; 2])>>,
    /// By body: what last stood in the way of a line from it, and to it.
    hints: RefCell<Vec<[u32; 2]>>,
    /// Steps of work that may still be done with it; none where nobody counts.
    left: Cell<Option<u32>>,
}

/// No body.
const NOBODY: u32 = u32::MAX;

impl Scene {
    /// A scene that is rebuilt cycle by cycle with the same ids for the same bodies: whoever may be on two lanes stays on the
    /// one that it was on.
    #[must_use]
    pub fn with_memory() -> Self {
        Self {
            before: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// From here on so many steps of work may be done with it, about ten nanoseconds each.
    pub fn allow(&self, steps: u32) {
        self.left.set(Some(steps));
    }

    /// So many steps were done.
    pub(crate) fn spend(&self, steps: usize) {
        if let Some(left) = self.left.get() {
            let steps = u32::try_from(steps).unwrap_or(u32::MAX);
            self.left.set(Some(left.saturating_sub(steps)));
        }
    }

    /// The steps that are left, where they are counted.
    pub(crate) fn left(&self) -> Option<u32> {
        self.left.get()
    }

    /// No steps are left: whoever works goes with what was found so far.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == Some(0)
    }

    /// Starts anew with the bodies within `radius_m` of `centre`, each with the age of its state in seconds. They must come
    /// by ascending id, each once. `reach` says how far ahead the way of a body is wanted, in metres from its centre.
    pub fn rebuild(
        &mut self,
        centre: Position,
        radius_m: f64,
        bodies: impl IntoIterator<Item = (Body, f64)>,
        map: Option<&dyn RoadMap>,
        reach: impl Fn(&Body) -> f64,
    ) {
        self.place(centre, radius_m, bodies, map);
        self.lay_ways(map, |_, body| Some(reach(body)));
    }

    /// The same without ways: nobody goes anywhere before they are [laid](Self::lay_ways).
    pub(crate) fn place(
        &mut self,
        centre: Position,
        radius_m: f64,
        bodies: impl IntoIterator<Item = (Body, f64)>,
        map: Option<&dyn RoadMap>,
    ) {
        if let Some(before) = &mut self.before {
            before.clear();
            before.extend(
                self.bodies
                    .iter()
                    .map(|b| b.id)
                    .zip(self.corrections.iter().copied()),
            );
        }
        self.corrections.clear();
        self.bodies.clear();
        self.along.clear();
        self.ways.clear();
        self.way_ends.clear();
        self.segments.clear();
        self.segment_ends.clear();
        let radius_m = radius_m.clamp(0.0, 5_000.0);
        self.centre = centre;
        for (body, age_s) in bodies {
            let (mut body, along) = body.settled(age_s);
            // Also false for what is not a number.
            let near = body.position.distance(centre) <= radius_m;
            if !near {
                continue;
            }
            if body.heading.is_none() {
                body.heading = map.and_then(|map| map.lane_heading(body.position));
            }
            // Bodies keep to lanes: that puts right what positions have wrong across them.
            let mut correction = [0.0; 2];
            if let (Some(map), Some(heading)) = (map, body.heading)
                && let Some(on_lane) = map.lane_point(self.expected(&body), heading)
                && on_lane.is_finite()
                && on_lane.distance(centre) <= radius_m
            {
                correction = [on_lane.x - body.position.x, on_lane.y - body.position.y];
                body.position = on_lane;
            }
            self.corrections.push(correction);
            let along = along.unwrap_or_else(|| direction(body.heading.unwrap_or(0.0)));
            self.along.push(along);
            self.bodies.push(body);
        }
        self.build_index();
    }

    /// Finds the ways ahead of those bodies for which `reach` says how far; all others have none.
    pub(crate) fn lay_ways(
        &mut self,
        map: Option<&dyn RoadMap>,
        reach: impl Fn(u32, &Body) -> Option<f64>,
    ) {
        self.ways.clear();
        self.way_ends.clear();
        self.segments.clear();
        self.segment_ends.clear();
        for at in 0..self.bodies.len() {
            let (body, along) = (self.bodies[at], self.along[at]);
            match reach(at as u32, &body) {
                Some(reach) => self.add_way(&body, along, map, reach),
                None => {
                    self.way_ends.push(self.ways.len() as u32);
                    self.segment_ends.push(self.segments.len() as u32);
                }
            }
        }
    }

    /// Where to look for the lane of a body: half-way to where it would be if its position were off as it was before. So a
    /// body changes lanes when its position clearly does, not when it is somewhere in between.
    fn expected(&self, body: &Body) -> Position {
        let before = self.before.as_deref().unwrap_or_default();
        let found = before.binary_search_by_key(&body.id, |&(id, _)| id);
        let [x, y] = found.map_or([0.0; 2], |at| before[at].1);
        Position::new(body.position.x + 0.5 * x, body.position.y + 0.5 * y)
    }

    fn add_way(&mut self, body: &Body, along: [f64; 2], map: Option<&dyn RoadMap>, length: f64) {
        let begin = self.ways.len();
        if let Some(heading) = body.heading {
            if let Some(map) = map {
                map.way_ahead(body.position, heading, length, &mut self.ways);
                if self.ways[begin..].iter().any(|p| !p.is_finite()) {
                    self.ways.truncate(begin);
                }
            }
            if self.ways.len() < begin + 2 {
                self.ways.truncate(begin);
                let from = body.position;
                self.ways.push(from);
                self.ways.push(Position::new(
                    from.x + length * along[0],
                    from.y + length * along[1],
                ));
            }
        }
        self.way_ends.push(self.ways.len() as u32);
        let mut length = 0.0;
        for ends in self.ways[begin..].windows(2) {
            let segment = Segment::new(ends[0], ends[1], length);
            length += segment.length;
            self.segments.push(segment);
        }
        self.segment_ends.push(self.segments.len() as u32);
    }

    fn build_index(&mut self) {
        let (mut low, mut high) = (
            Position::new(f64::INFINITY, f64::INFINITY),
            Position::new(f64::NEG_INFINITY, f64::NEG_INFINITY),
        );
        for body in &self.bodies {
            low = Position::new(low.x.min(body.position.x), low.y.min(body.position.y));
            high = Position::new(high.x.max(body.position.x), high.y.max(body.position.y));
        }
        if self.bodies.is_empty() {
            (low, high) = Default::default();
        }
        // Boxes reach beyond their centres. All are within the radius, so there are not too many cells.
        self.corner = Position::new(low.x - LARGEST_M, low.y - LARGEST_M);
        let count = |low: f64, high: f64| ((high - low + 2.0 * LARGEST_M) / CELL_M) as usize + 1;
        self.columns = count(low.x, high.x);
        self.rows = count(low.y, high.y);
        self.offsets.clear();
        self.offsets.resize(self.columns * self.rows + 1, 0);
        let mut spans = Vec::with_capacity(self.bodies.len());
        let hints = self.hints.get_mut();
        hints.clear();
        hints.resize(self.bodies.len(), [NOBODY; 2]);
        self.discs.clear();
        self.boxes.clear();
        for (body, &direction) in self.bodies.iter().zip(&self.along) {
            let half = body.half();
            self.boxes.push(Upright {
                middle: body.position,
                along: direction,
                half,
                height: body.size.height,
            });
            let [along, across] = half;
            let reach = libm::sqrt(along * along + across * across) + SLACK_M;
            let height = body.size.height;
            self.discs
                .push([body.position.x, body.position.y, reach, height]);
            let r = 0.5 * libm::hypot(body.size.length, body.size.width);
            let (x0, y0) = self.cell(body.position.x - r, body.position.y - r);
            let (x1, y1) = self.cell(body.position.x + r, body.position.y + r);
            for y in y0..=y1 {
                for x in x0..=x1 {
                    self.offsets[y * self.columns + x + 1] += 1;
                }
            }
            spans.push((x0, x1, y0, y1));
        }
        for at in 1..self.offsets.len() {
            self.offsets[at] += self.offsets[at - 1];
        }
        let total = self.offsets.last().copied().unwrap_or(0) as usize;
        self.members.clear();
        self.members.resize(total, 0);
        self.spots.clear();
        self.spots.resize(total, [0.0; 4]);
        let mut next = self.offsets.clone();
        for (number, &(x0, x1, y0, y1)) in (0u32..).zip(&spans) {
            let spot = self.discs[number as usize];
            for y in y0..=y1 {
                for x in x0..=x1 {
                    let at = &mut next[y * self.columns + x];
                    self.members[*at as usize] = number;
                    self.spots[*at as usize] = spot;
                    *at += 1;
                }
            }
        }
    }

    fn cell(&self, x: f64, y: f64) -> (usize, usize) {
        // Casting saturates below and maps not-a-number to 0.
        let place = |v: f64, corner: f64, count: usize| {
            (((v - corner) / CELL_M) as usize).min(count.saturating_sub(1))
        };
        (
            place(x, self.corner.x, self.columns),
            place(y, self.corner.y, self.rows),
        )
    }

    /// The bodies, by ascending id.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Where whoever looks is.
    pub(crate) fn centre(&self) -> Position {
        self.centre
    }

    /// The number of the body with this id.
    #[must_use]
    pub fn find(&self, id: ObjectId) -> Option<u32> {
        let found = self.bodies.binary_search_by_key(&id, |body| body.id);
        found.ok().map(|at| at as u32)
    }

    /// The way ahead of a body; empty where its direction is unknown.
    #[must_use]
    pub fn way(&self, body: u32) -> &[Position] {
        let end = self.way_ends[body as usize] as usize;
        let begin = match body {
            0 => 0,
            body => self.way_ends[body as usize - 1] as usize,
        };
        &self.ways[begin..end]
    }

    /// The pieces of the way ahead of a body.
    pub(crate) fn segments(&self, body: u32) -> &[Segment] {
        let end = self.segment_ends[body as usize] as usize;
        let begin = match body {
            0 => 0,
            body => self.segment_ends[body as usize - 1] as usize,
        };
        &self.segments[begin..end]
    }

    /// The direction of a body as a unit vector, the first axis where it is unknown.
    #[must_use]
    pub fn direction(&self, body: u32) -> [f64; 2] {
        self.along[body as usize]
    }

    /// Appends the bodies that may touch the box `low..=high`, each once, by ascending number.
    pub fn in_box(&self, low: Position, high: Position, out: &mut Vec<u32>) {
        let (x0, y0) = self.cell(low.x, low.y);
        let (x1, y1) = self.cell(high.x, high.y);
        if x0 > x1 {
            return;
        }
        let mut marks = self.marks.borrow_mut();
        marks.clear();
        marks.resize(self.bodies.len().div_ceil(64), 0);
        for y in y0..=y1 {
            let row = y * self.columns;
            let (from, to) = (self.offsets[row + x0], self.offsets[row + x1 + 1]);
            for &body in &self.members[from as usize..to as usize] {
                marks[body as usize / 64] |= 1 << (body % 64);
            }
        }
        for (&word, first) in marks.iter().zip((0u32..).step_by(64)) {
            let mut left = word;
            while left != 0 {
                out.push(first + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }

    /// Body `from` can see the middle of body `to` from just above its own roof, past all known boxes and buildings.
    #[must_use]
    pub fn sees(&self, from: u32, to: u32, map: Option<&dyn RoadMap>) -> bool {
        !self.blocked(&self.line(from, to), from, to) && !self.walled_off(from, to, map)
    }

    /// A building stands between two bodies.
    pub(crate) fn walled_off(&self, from: u32, to: u32, map: Option<&dyn RoadMap>) -> bool {
        let place = |body: u32| self.bodies[body as usize].position;
        map.is_some_and(|map| map.building_between(place(from), place(to)))
    }

    /// The line from just above the roof of one body to the middle of another.
    pub(crate) fn line(&self, from: u32, to: u32) -> Line {
        let (a, b) = (&self.bodies[from as usize], &self.bodies[to as usize]);
        let span = [b.position.x - a.position.x, b.position.y - a.position.y];
        Line {
            from: a.position,
            to: b.position,
            span,
            length: libm::sqrt(span[0] * span[0] + span[1] * span[1]),
            height: a.size.height + 0.1,
            fall: a.size.height + 0.1 - 0.5 * b.size.height,
        }
    }

    /// Where a body is, a little more than it reaches from there at most, and its height, in metres.
    pub(crate) fn disc(&self, body: u32) -> [f64; 4] {
        self.discs[body as usize]
    }

    /// Half the length of a body, as it lies, and half its width, as it stands in the way of sight.
    pub(crate) fn half_axes(&self, body: u32) -> [[f64; 2]; 2] {
        let Upright { along, half, .. } = self.boxes[body as usize];
        let [c, s] = along;
        [[half[0] * c, half[0] * s], [-half[1] * s, half[1] * c]]
    }

    /// A box stands in the way: mostly one that stood in the way of the last line from there, or to there.
    pub(crate) fn blocked(&self, line: &Line, from: u32, to: u32) -> bool {
        let mut hints = self.hints.borrow_mut();
        let stands = |&body: &u32| {
            body != NOBODY
                && body != from
                && body != to
                && !line.clears_disc(&self.discs[body as usize])
                && self.in_the_way(line, body)
        };
        let before = [hints[from as usize][0], hints[to as usize][1]];
        if before.iter().any(stands) {
            self.spend(2);
            return true;
        }
        let found = self.first_in_the_way(line, from, to);
        if let Some(body) = found {
            hints[from as usize][0] = body;
            hints[to as usize][1] = body;
        }
        found.is_some()
    }

    /// Walks the cells under the line and tries the boxes in them.
    fn first_in_the_way(&self, line: &Line, from: u32, to: u32) -> Option<u32> {
        let (mut x, mut y) = self.cell(line.from.x, line.from.y);
        let [dx, dy] = line.span;
        let last = self.cell(line.to.x, line.to.y);
        // The share of the line at which the next column or row begins.
        let next = |at: usize, d: f64, from: f64, corner: f64| {
            let edge = corner + (at as f64 + if d > 0.0 { 1.0 } else { 0.0 }) * CELL_M;
            if d == 0.0 {
                f64::INFINITY
            } else {
                (edge - from) / d
            }
        };
        let mut at_x = next(x, dx, line.from.x, self.corner.x);
        let mut at_y = next(y, dy, line.from.y, self.corner.y);
        for _ in 0..self.columns + self.rows + 2 {
            let at = y * self.columns + x;
            let range = self.offsets[at] as usize..self.offsets[at + 1] as usize;
            self.spend(1 + range.len());
            let bodies = self.members[range.clone()].iter().zip(&self.spots[range]);
            for (&body, spot) in bodies {
                if !line.clears_disc(spot)
                    && body != from
                    && body != to
                    && self.in_the_way(line, body)
                {
                    return Some(body);
                }
            }
            if (x, y) == last {
                return None;
            }
            if at_x <= at_y {
                x = if dx > 0.0 { x + 1 } else { x.wrapping_sub(1) };
                at_x = next(x, dx, line.from.x, self.corner.x);
            } else {
                y = if dy > 0.0 { y + 1 } else { y.wrapping_sub(1) };
                at_y = next(y, dy, line.from.y, self.corner.y);
            }
            if x >= self.columns || y >= self.rows {
                return None;
            }
        }
        None
    }

    /// The box of a body stands in the way of a line.
    pub(crate) fn in_the_way(&self, line: &Line, body: u32) -> bool {
        let b = &self.boxes[body as usize];
        let [c, s] = b.along;
        // In the body's own frame the box is upright: clip the line against it.
        let (px, py) = (line.from.x - b.middle.x, line.from.y - b.middle.y);
        let [qx, qy] = line.span;
        let p = [px * c + py * s, py * c - px * s];
        let d = [qx * c + qy * s, qy * c - qx * s];
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for axis in 0..2 {
            if d[axis].abs() < 1e-12 {
                if p[axis].abs() > b.half[axis] {
                    return false;
                }
                continue;
            }
            let t0 = (-b.half[axis] - p[axis]) / d[axis];
            let t1 = (b.half[axis] - p[axis]) / d[axis];
            let (first, last) = if t0 < t1 { (t0, t1) } else { (t1, t0) };
            // Nothing here is not a number.
            enter = if first > enter { first } else { enter };
            leave = if last < leave { last } else { leave };
            if enter > leave {
                return false;
            }
        }
        // The line falls (or rises) evenly; its lowest point over the box is at one end.
        let lowest = (line.height - line.fall * enter).min(line.height - line.fall * leave);
        lowest < b.height
    }
}

fn direction(heading: f64) -> [f64; 2] {
    let (sine, cosine) = libm::sincos(heading);
    [cosine, sine]
}

/// A sight line: where it begins, how far it goes, at which height it begins and by how much it falls.
pub(crate) struct Line {
    from: Position,
    to: Position,
    /// From one end to the other.
    span: [f64; 2],
    length: f64,
    height: f64,
    fall: f64,
}

impl Line {
    /// From one end to the other.
    pub(crate) fn span(&self) -> [f64; 2] {
        self.span
    }

    /// From one end to the other, in metres.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// A body does not stand in its way, as can be told from what the body is within: [`Scene::disc`].
    fn clears_disc(&self, &[x, y, reach, height]: &[f64; 4]) -> bool {
        self.clears(x - self.from.x, y - self.from.y, reach, height)
    }

    /// The same by how far it is from where the line begins. Most lines pass well beside a body, end before it or are still
    /// above it when they are past it.
    pub(crate) fn clears(&self, dx: f64, dy: f64, reach: f64, height: f64) -> bool {
        let [x, y] = self.span;
        // Distances across and along, times the length.
        let (off, along) = (x * dy - y * dx, x * dx + y * dy);
        let reach = reach * self.length;
        if off.abs() > reach {
            return true;
        }
        let square = self.length * self.length;
        along > square + reach
            || along < -reach
            || (self.fall > 0.0
                && (self.height - height - SLACK_M) * square > self.fall * (along + reach))
    }
}

#[cfg(test)]
mod tests;
