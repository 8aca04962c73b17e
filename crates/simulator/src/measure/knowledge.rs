//! What an arm's participants know, and how old it is.

use crate::channel::{BeaconHistory, Told};
use crate::ids::{Lane, Slot};
use crate::world::{Stamp, World};

/// What an arm's participants know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Knowledge<'a> {
    pub(crate) beacons: &'a BeaconHistory,
    pub(crate) lane: Lane,
    pub(crate) told: &'a Told,
    pub(crate) oracle: bool,
}

impl Knowledge<'_> {
    /// The newest step of which `receiver` has a state of `object`, its own sensing apart.
    pub(crate) fn told(&self, world: &World<'_>, object: Slot, receiver: Slot) -> Stamp {
        let heard = self.beacons.at(object, receiver, self.lane);
        let told = heard.max(self.told.at(object, receiver));
        if !self.oracle {
            return told;
        }
        let itself = if world.road.participates(object) {
            world.time.stamp(world.step())
        } else {
            0
        };
        told.max(itself).max(world.sights.by_any(object))
    }
}

/// The age of a stamp is within the deadline, and it is not forgotten.
pub(crate) fn in_time(world: &World<'_>, stamp: Stamp, deadline_us: i64) -> bool {
    age_us(world, stamp).is_some_and(|age| age <= deadline_us)
}

/// How old a stamp is; none where it is nothing or forgotten.
pub(crate) fn age_us(world: &World<'_>, stamp: Stamp) -> Option<i64> {
    let age = world.age(stamp)?;
    (age <= world.prepared.timeline.soft_state).then(|| i64::from(age) * covey_traffic::STEP_US)
}
