//! Knowing something means knowing it right: where there are errors, an object is known if a known state is one of it.
//!
//! A participant holds one state of each thing it knows: what its own sensors tell in time, else the newest that it was told in time.
//! Moved to the present, states and objects are matched one to one, the nearest pair first, within a [`Gate`]. An object that is
//! matched is known, whatever the state was meant to be of. More states never make a known object unknown, so what own sensors alone tell
//! is found once for all arms.

use covey_protocol::Position;
use covey_world::scene::BodyKind;

use super::knowledge::{Knowledge, oldest_in_time};
use crate::ids::Slot;
use crate::sensing::Gate;
use crate::world::{Stamp, World};

/// Where everybody really is, by squares as wide as a gate reaches.
#[derive(Debug)]
pub(crate) struct Places {
    gate: Gate,
    /// Everybody who can be known of, by row, column and place.
    bodies: Vec<Body>,
    /// The first row, and where each row from it on begins.
    first_row: i32,
    rows: Vec<u32>,
    /// By place: where it is among the bodies.
    at: Vec<Option<u32>>,
}

/// Somebody who can be known of.
#[derive(Debug, Clone, Copy)]
struct Body {
    row: i32,
    column: i32,
    slot: Slot,
    at: Position,
    /// Sine and cosine of its heading.
    heading: (f64, f64),
    /// Nothing that is nearer to it is as near to another, in metres.
    alone_m: f64,
}

/// A little less than half: what rounding leaves open.
const HALF: f64 = 0.5 - 1e-9;

impl Places {
    /// The places of a step; none where there are no errors.
    pub(crate) fn new(world: &World<'_>) -> Option<Self> {
        let gate = world.prepared.gate?;
        let mut bodies = Vec::with_capacity(world.road.present().len());
        for &slot in world.road.present() {
            if world.road.vehicle(slot).body.kind != BodyKind::Roadside {
                let here = world.here(slot);
                let (row, column) = square(gate, here.truth());
                bodies.push(Body {
                    row,
                    column,
                    slot,
                    at: here.truth(),
                    heading: here.state.heading.sin_cos(),
                    alone_m: 0.0,
                });
            }
        }
        bodies.sort_unstable_by_key(|body| (body.row, body.column, body.slot));
        let mut at = vec![None; world.road.size()];
        for (number, body) in (0u32..).zip(&bodies) {
            at[body.slot.index()] = Some(number);
        }
        let first_row = bodies.first().map_or(0, |body| body.row);
        let rows = bodies.last().map_or(0, |body| body.row - first_row + 1);
        let begin = |row| bodies.partition_point(|body| body.row < first_row + row) as u32;
        let rows = (0..=rows).map(begin).collect();
        let mut places = Self {
            gate,
            bodies,
            first_row,
            rows,
            at,
        };
        for number in 0..places.bodies.len() {
            places.bodies[number].alone_m = places.alone_m(number);
        }
        Some(places)
    }

    /// Nothing that is nearer to a body than this is as near to another.
    fn alone_m(&self, number: usize) -> f64 {
        let own = &self.bodies[number];
        let others = self
            .around(own.at, 1)
            .filter(|body| body.slot != own.slot)
            .map(|body| body.at.distance(own.at));
        // Whoever is in none of these squares is farther off than a gate reaches.
        HALF * others.fold(self.gate.reach_m(), f64::min)
    }

    /// The bodies of a row.
    fn row(&self, row: i32) -> &[Body] {
        let Ok(row) = usize::try_from(i64::from(row) - i64::from(self.first_row)) else {
            return &[];
        };
        match self.rows.get(row..) {
            Some(&[begin, end, ..]) => &self.bodies[begin as usize..end as usize],
            _ => &[],
        }
    }

    /// Those in the squares around a position, so many to each side.
    fn around(&self, at: Position, squares: i32) -> impl Iterator<Item = &Body> {
        let (row, column) = square(self.gate, at);
        (row - squares..=row + squares).flat_map(move |row| {
            let row = self.row(row);
            let begin = row.partition_point(|body| body.column < column - squares);
            row[begin..]
                .iter()
                .take_while(move |body| body.column <= column + squares)
        })
    }

    /// How far a state is off somebody; none beyond the gate.
    fn distance(&self, body: &Body, state: Position) -> Option<f64> {
        self.gate.distance_along(body.at, body.heading, state)
    }

    /// The one whom a state is nearest to, within the gate, `own` apart.
    fn nearest(&self, state: Position, own: Slot) -> Option<Slot> {
        let others = self.around(state, 1).filter(|body| body.slot != own);
        others
            .filter_map(|body| Some((self.distance(body, state)?, body.slot)))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(_, object)| object)
    }

    /// A state is nearer to `object` than to anybody else but `own`, and within the gate.
    fn is_nearest(&self, object: Slot, state: Position, own: Slot) -> bool {
        let Some(number) = self.at[object.index()] else {
            return false;
        };
        let body = &self.bodies[number as usize];
        self.distance(body, state)
            .is_some_and(|off_m| off_m < body.alone_m || self.nearest(state, own) == Some(object))
    }

    /// `receiver` knows `object` right, by its own sensors and by what it was told, if that is given, each in time.
    pub(crate) fn knows(
        &self,
        world: &World<'_>,
        knowledge: Option<&Knowledge<'_>>,
        [receiver, object]: [Slot; 2],
        deadline_us: i64,
    ) -> bool {
        let oldest = oldest_in_time(world, deadline_us);
        let state = |of: Slot| held(world, knowledge, receiver, of, oldest);
        // Nothing can take a state away from the object that it is nearest to, unless that is known by another.
        if let Some(state) = state(object)
            && self.is_nearest(object, state, receiver)
        {
            return true;
        }
        if knowledge.is_some_and(|knowledge| knowledge.oracle)
            && seen_by_anybody(world, object, oldest, |state| {
                self.is_nearest(object, state, receiver)
            })
        {
            return true;
        }
        // Who could be taken for whom: two gates reach that far.
        let here = world.here(object).truth();
        let near = |other: &&Body| {
            other.slot != receiver && other.at.distance(here) <= 2.0 * self.gate.reach_m()
        };
        let others: Vec<&Body> = self.around(here, 2).filter(near).collect();
        let mut pairs = Vec::new();
        for (number, of) in others.iter().enumerate() {
            if let Some(state) = state(of.slot) {
                for other in &others {
                    if let Some(distance) = self.distance(other, state) {
                        pairs.push((distance, number, other.slot));
                    }
                }
            }
        }
        is_taken(pairs, object)
    }
}

/// Takes the nearest pair of state and object again and again, each once; `wanted` is among the objects that were taken.
fn is_taken(mut pairs: Vec<(f64, usize, Slot)>, wanted: Slot) -> bool {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut taken: Vec<(usize, Slot)> = Vec::new();
    for (_, state, object) in pairs {
        if taken.iter().all(|one| one.0 != state && one.1 != object) {
            if object == wanted {
                return true;
            }
            taken.push((state, object));
        }
    }
    false
}

fn square(gate: Gate, at: Position) -> (i32, i32) {
    let side = gate.reach_m();
    ((at.y / side).floor() as i32, (at.x / side).floor() as i32)
}

/// The state that `receiver` holds of `object`, moved to the present; none that is older than `oldest`.
fn held(
    world: &World<'_>,
    knowledge: Option<&Knowledge<'_>>,
    receiver: Slot,
    object: Slot,
    oldest: Stamp,
) -> Option<Position> {
    let sensed = world.sights.sensed.at(object, receiver);
    let state = if sensed >= oldest {
        world.whereabouts(receiver, object, world.time.step_of(sensed))
    } else {
        knowledge?.state(world, object, receiver, oldest)?
    };
    Some(state.later(world.now()))
}

/// What some participant saw of an object in time, moved to the present, is as it should be.
fn seen_by_anybody(
    world: &World<'_>,
    object: Slot,
    oldest: Stamp,
    is_right: impl Fn(Position) -> bool,
) -> bool {
    world.road.participants().iter().any(|&observer| {
        let sensed = world.sights.sensed.at(object, observer);
        sensed >= oldest && {
            let step = world.time.step_of(sensed);
            let state = world.whereabouts(observer, object, step);
            is_right(state.later(world.now()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_pair_is_taken_first_and_each_once() {
        let [a, b, c] = [0, 1, 2].map(Slot);
        // One state between two objects is that of the nearer.
        let pairs = vec![(1.0, 0, a), (1.5, 0, b)];
        assert!(is_taken(pairs.clone(), a));
        assert!(!is_taken(pairs, b));
        // The state of a is nearer to b, whose own is nearer still: then it is left for a.
        let pairs = vec![(0.5, 1, b), (1.0, 0, b), (2.0, 0, a), (3.0, 1, a)];
        assert!(is_taken(pairs.clone(), a));
        assert!(is_taken(pairs.clone(), b));
        assert!(!is_taken(pairs, c));
    }
}
