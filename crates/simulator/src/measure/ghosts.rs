//! False alarms: what is not there, and is believed to be relevant.

use super::knowledge::{Knowledge, in_time};
use crate::world::World;

/// How many ghosts participants of an arm believe to be relevant: they see them themselves, or were told of them, in time.
pub(super) fn believed(world: &World<'_>, knowledge: &Knowledge<'_>) -> u64 {
    let mut alarms = 0;
    for one in world.relevant_ghosts() {
        let (ghost, vehicle) = (&one.ghost, world.road.at(one.vehicle));
        if !world.road.participates(vehicle) {
            continue;
        }
        let sensed = world.sights.step;
        let in_time = |stamp| in_time(world, stamp, one.deadline_us);
        let is_seen = ghost.is_seen(sensed) && in_time(world.time.stamp(sensed));
        let told = || knowledge.told.ghost_at(ghost.id, vehicle);
        // Whoever knows all that anybody sees knows its ghosts, too.
        let own = ghost.observer == vehicle || knowledge.oracle;
        alarms += u64::from(own && is_seen || in_time(told()));
    }
    alarms
}
