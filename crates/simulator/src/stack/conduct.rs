//! What misbehaving participants do.

use covey_protocol::messages::{Broadcast, Confidence, Content, ObjectState, Report};
use covey_protocol::{AgentId, Cell, Duration, Instant, ObjectId, Position, Velocity};

use crate::conduct::{Lie, Misbehaviour};
use crate::ids::Slot;
use crate::world::World;

/// The cells that the digest of a place marks.
pub(super) fn claimed_cells(world: &World<'_>, slot: Slot) -> Vec<Cell> {
    if world.misbehaviour(slot) != Some(Misbehaviour::ClaimViews) {
        return world.sights.cells.of(slot).to_vec();
    }
    let scenario = &world.prepared.scenario;
    let here = world.road.moment(slot, world.sights.step).state.position;
    cells_within(here, scenario.sensing.range_m, scenario.protocol.cell_m)
}

/// Objects that a liar invents.
const GHOSTS: u32 = 30;

/// Objects around a place that are not there, sensed at `at`: in rings, the same in every cycle.
pub(super) fn ghosts(world: &World<'_>, slot: Slot, at: Instant) -> Vec<ObjectState> {
    let here = world.here(slot).state;
    let number = u64::from(world.road.id(slot));
    let ghost = |k: u32| {
        let angle = f64::from(k) * 0.7;
        let off = 15.0 + 2.5 * f64::from(k);
        ObjectState {
            // No vehicle has such a number.
            id: ObjectId(0x8000_0000 + (number % 1_000_000) * u64::from(GHOSTS) + u64::from(k)),
            position: Position::new(
                here.position.x + off * angle.cos(),
                here.position.y + off * angle.sin(),
            ),
            velocity: Velocity::default(),
            size: here.size,
            sensed_at: at,
            confidence: Confidence::FULL,
        }
    };
    (0..GHOSTS).map(ghost).collect()
}

/// How much later than now a vehicle says that it is.
fn told_later(world: &World<'_>, slot: Slot) -> Duration {
    match world.lie(slot) {
        Some(Lie::Ahead) => {
            let ahead_s = world.prepared.scenario.protocol.guard.ahead_s;
            Duration::from_seconds(4.0 * ahead_s.max(0.05))
        }
        _ => Duration::from_micros(-i64::from(world.lag(slot)) * covey_traffic::STEP_US),
    }
}

/// What a contributor at a place says instead of `report`, where it lies of the time.
pub(super) fn misdate(world: &World<'_>, slot: Slot, report: &mut Report) {
    let later = told_later(world, slot);
    report.at = report.at + later;
    for object in &mut report.objects {
        object.sensed_at = object.sensed_at + later;
    }
}

/// What a host at a place says instead of `broadcast`, where it lies in office, if it says anything; `first` is what it said first.
pub(super) fn twist(
    world: &World<'_>,
    slot: Slot,
    footprint_m: f64,
    first: &mut Option<Box<Broadcast>>,
    mut broadcast: Broadcast,
) -> Option<Broadcast> {
    let Some(misbehaviour) = world.misbehaviour(slot) else {
        return Some(broadcast);
    };
    match misbehaviour {
        Misbehaviour::SilentHost => return None,
        Misbehaviour::Replay => {
            let first = first.get_or_insert_with(|| Box::new(broadcast));
            return Some((**first).clone());
        }
        _ => twist_words(world, slot, footprint_m, misbehaviour, &mut broadcast),
    }
    if world.lie(slot).is_some() {
        broadcast.position = world.told(slot, world.step()).position;
        let later = told_later(world, slot);
        for at in [
            &mut broadcast.at,
            &mut broadcast.cycle_start,
            &mut broadcast.unchanged_since,
        ] {
            *at = *at + later;
        }
        for object in &mut broadcast.objects {
            object.sensed_at = object.sensed_at + later;
        }
    }
    Some(broadcast)
}

/// Lies in what a broadcast tells.
fn twist_words(
    world: &World<'_>,
    slot: Slot,
    footprint_m: f64,
    misbehaviour: Misbehaviour,
    broadcast: &mut Broadcast,
) {
    match misbehaviour {
        Misbehaviour::ServeNobody => {
            broadcast.contributors.clear();
            broadcast.requested.clear();
            broadcast.objects.clear();
            broadcast.withdrawn.clear();
            broadcast.full = true;
        }
        Misbehaviour::AskEverybody => {
            let around = world.around(slot, footprint_m, 0.0);
            let mut all: Vec<AgentId> = around.map(|other| world.agent(other)).collect();
            all.sort_unstable();
            // As many as a message names.
            all.truncate(255);
            broadcast.contributors = all;
            broadcast.content = Content::AllVisible;
            broadcast.requested.clear();
            broadcast.lease = Duration::from_millis(65_535);
        }
        Misbehaviour::HighPrice => broadcast.price = 1_677.721_5,
        Misbehaviour::LongTenure => {
            broadcast.tenure = broadcast.tenure + Duration::from_seconds(49.0 * 86_400.0);
        }
        _ => {}
    }
}

/// All cells whose centre is within `range` of a position.
fn cells_within(here: Position, range: f64, cell_m: f64) -> Vec<Cell> {
    let corner = |d: f64| Cell::containing(Position::new(here.x + d, here.y + d), cell_m);
    let (Some(low), Some(high)) = (corner(-range), corner(range)) else {
        return Vec::new();
    };
    let mut cells = Vec::new();
    for iy in low.iy..=high.iy {
        for ix in low.ix..=high.ix {
            let centre = Position::new(
                (f64::from(ix) + 0.5) * cell_m,
                (f64::from(iy) + 0.5) * cell_m,
            );
            if centre.distance(here) <= range {
                cells.push(Cell { ix, iy });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cells_in_range_are_claimed() {
        let cells = cells_within(Position::new(10.0, 10.0), 150.0, 20.0);
        // A circle of 150 m has 177 times the area of a cell.
        assert!((170..=184).contains(&cells.len()), "{}", cells.len());
        assert!(cells.contains(&Cell { ix: 0, iy: 0 }));
        assert!(cells.contains(&Cell { ix: 7, iy: 0 }));
        assert!(!cells.contains(&Cell { ix: 8, iy: 0 }));
        assert!(cells_within(Position::new(f64::NAN, 0.0), 150.0, 20.0).is_empty());
    }
}
