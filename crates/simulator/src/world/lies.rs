//! What vehicles that misbehave tell of themselves, beside what is true.

use covey_protocol::messages::{AgentState, ObjectState};
use covey_protocol::{Position, Tile};

use super::World;
use crate::conduct::{Lie, Misbehaviour};
use crate::ids::{Slot, Step};

impl World<'_> {
    /// What the vehicle at a place does wrong, if anything.
    pub(crate) fn misbehaviour(&self, slot: Slot) -> Option<Misbehaviour> {
        let conduct = &self.prepared.scenario.conduct;
        conduct
            .misbehaves(self.seed, self.road.id(slot))
            .then_some(conduct.misbehaviour)
    }

    /// What a vehicle does wrong with everything that it says, if anything.
    pub(crate) fn lie(&self, slot: Slot) -> Option<Lie> {
        self.misbehaviour(slot)?.lie()
    }

    /// A vehicle's state at a step, as its beacons tell it.
    pub(crate) fn told(&self, slot: Slot, step: Step) -> AgentState {
        let state = self.road.moment(slot, step).state;
        match self.lie(slot) {
            None => state,
            Some(lie) => AgentState {
                position: self.told_place(slot, lie, state.position),
                ..state
            },
        }
    }

    /// A vehicle at a step as its beacon tells it, as an object.
    pub(crate) fn announced(&self, slot: Slot, step: Step) -> ObjectState {
        let told = self.told(slot, step);
        ObjectState {
            position: told.position,
            velocity: self.road.moment(slot, step).velocity,
            ..self.object(slot, step)
        }
    }

    /// Where a liar that is at `place` says that it is.
    fn told_place(&self, slot: Slot, lie: Lie, place: Position) -> Position {
        let scenario = &self.prepared.scenario;
        let off = |metres: f64| {
            let angle = scenario.conduct.bearing(self.seed, self.road.id(slot));
            Position::new(
                place.x + metres * angle.cos(),
                place.y + metres * angle.sin(),
            )
        };
        match lie {
            Lie::Centre => {
                let tile_m = scenario.protocol.tile_m;
                Tile::containing(place, tile_m).map_or(place, |tile| tile.centre(tile_m))
            }
            Lie::Elsewhere => off(ELSEWHERE_M),
            Lie::FarOff => off(2.0 * scenario.protocol.guard.reach_m),
            Lie::Ahead | Lie::Behind => place,
        }
    }

    /// Nobody believes what a vehicle says, whatever it is: it cannot be where it says, or its time has not come.
    pub(crate) fn is_passed_over(&self, slot: Slot) -> bool {
        matches!(self.lie(slot), Some(Lie::FarOff | Lie::Ahead))
    }

    /// Steps by which what a vehicle says is older than it should be, by its own word.
    pub(crate) fn lag(&self, slot: Slot) -> u32 {
        match self.lie(slot) {
            Some(Lie::Behind) => {
                // A step before it would not be heard any more.
                self.prepared.timeline.soft_state.saturating_sub(2)
            }
            _ => 0,
        }
    }

    /// The step that a vehicle's message of a step counts from; none where nobody believes it, or it was not there by then.
    pub(crate) fn counts_from(&self, slot: Slot, step: Step) -> Option<Step> {
        if self.prepared.scenario.conduct.misbehaving <= 0.0 {
            return Some(step);
        }
        let from = step.before(self.lag(slot));
        (!self.is_passed_over(slot) && from >= self.road.appeared(slot)).then_some(from)
    }
}

/// How far from its true place a vehicle says it is, where that can be believed.
const ELSEWHERE_M: f64 = 150.0;
