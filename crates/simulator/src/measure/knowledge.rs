//! What an arm's participants know, and how old it is.

use crate::channel::{BeaconHistory, HeardByLane, Speaker, Told};
use crate::ids::{Lane, Slot, Step};
use crate::sensing::Whereabouts;
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
        self.or_seen(world, object, told)
    }

    /// As [`told`](Self::told), where it is known what was heard of beacons.
    pub(super) fn told_besides(
        &self,
        world: &World<'_>,
        [object, receiver]: [Slot; 2],
        heard: &HeardByLane,
    ) -> Stamp {
        let heard = heard.newest[self.lane.index()];
        let told = heard.max(self.told.at(object, receiver));
        self.or_seen(world, object, told)
    }

    /// As [`told_besides`](Self::told_besides), and how many messages since `since` told `receiver` of `object`: its own beacons,
    /// which were counted since then, reports and broadcasts.
    pub(super) fn told_and_times(
        &self,
        world: &World<'_>,
        [object, receiver]: [Slot; 2],
        heard: &HeardByLane,
        since: Step,
    ) -> (Stamp, u32) {
        let (told, times) = self.told.at_and_times(object, receiver, since);
        let told = told.max(heard.newest[self.lane.index()]);
        let times = times + heard.times(self.lane);
        (self.or_seen(world, object, told), times)
    }

    /// The newest that is known of `object`, where messages told of `told`.
    fn or_seen(&self, world: &World<'_>, object: Slot, told: Stamp) -> Stamp {
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

    /// The newest state that `receiver` was told of `object`, its own sensing apart; none that is older than `oldest`, which is not zero.
    pub(super) fn state(
        &self,
        world: &World<'_>,
        object: Slot,
        receiver: Slot,
        oldest: Stamp,
    ) -> Option<Whereabouts> {
        let announced = |step| Some(Whereabouts::from(&world.announced(object, step)));
        if self.oracle && world.road.participates(object) {
            return announced(world.step());
        }
        let heard = self.beacons.at(object, receiver, self.lane);
        // What is no newer than its own beacon is not asked for, nor what is too old.
        let than = heard.max(oldest - 1);
        match self.told.newest(object, receiver, than) {
            Some((_, _, Some(said))) => Some(*said),
            Some((stamp, Speaker::Reporter(by), None)) => {
                let step = world.time.step_of(stamp);
                Some(world.whereabouts(by, object, step))
            }
            Some(_) => None,
            None if heard >= oldest => announced(world.time.step_of(heard)),
            None => None,
        }
    }
}

/// The oldest stamp whose age is within the deadline and not forgotten; at least that of the first step there is one of.
pub(super) fn oldest_in_time(world: &World<'_>, deadline_us: i64) -> Stamp {
    let steps = (deadline_us / covey_traffic::STEP_US).max(0);
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    let steps = steps.min(world.prepared.timeline.soft_state);
    let oldest = Step(world.step().0.saturating_sub(steps));
    world.time.stamp(oldest).max(1)
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
