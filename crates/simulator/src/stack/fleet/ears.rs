//! What a contributor heard, over flat arrays, as the protocol's choice of content asks for it.

use std::collections::VecDeque;

use covey_protocol::knowledge::{Heard, Neighbour};
use covey_protocol::messages::ObjectState;
use covey_protocol::{AgentId, Instant};

use crate::channel::BeaconHistory;
use crate::ids::{Lane, Slot, Step};
use crate::world::{Time, World};

/// Reports and broadcasts of the last soft-state time, and who received them.
#[derive(Debug, Default)]
pub(super) struct Sayings {
    kept: VecDeque<Saying>,
}

#[derive(Debug)]
struct Saying {
    step: Step,
    at: Instant,
    by: AgentId,
    objects: Vec<ObjectState>,
    /// A bit for each place.
    receivers: Vec<u64>,
}

impl Sayings {
    /// Lets go of what is older than `soft` steps, and of places that were left.
    pub(super) fn begin(&mut self, step: Step, soft: u32, left: &[Slot]) {
        while self
            .kept
            .front()
            .is_some_and(|said| said.step.after(soft) < step)
        {
            self.kept.pop_front();
        }
        for said in &mut self.kept {
            for &slot in left {
                if let Some(word) = said.receivers.get_mut(slot.index() / 64) {
                    *word &= !(1 << (slot.0 % 64));
                }
            }
        }
    }

    /// Somebody spoke of objects.
    pub(super) fn push(
        &mut self,
        world: &World<'_>,
        by: AgentId,
        objects: &[ObjectState],
        receivers: &[Slot],
    ) {
        let mut bits = vec![0; world.road.size().div_ceil(64)];
        for &receiver in receivers {
            bits[receiver.index() / 64] |= 1 << (receiver.0 % 64);
        }
        self.kept.push_back(Saying {
            step: world.step(),
            at: world.now(),
            by,
            objects: objects.to_vec(),
            receivers: bits,
        });
    }
}

/// What the participant at a place heard.
#[derive(Clone, Copy)]
pub(super) struct ContributorEars<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) heard: &'a BeaconHistory,
    pub(super) sayings: Option<&'a Sayings>,
    pub(super) lane: Lane,
    pub(super) slot: Slot,
}

impl Heard for ContributorEars<'_> {
    fn hears(&self, agent: AgentId) -> bool {
        let soft = self.world.prepared.timeline.soft_state;
        self.world.road.slot_of(agent.into()).is_some_and(|other| {
            let stamp = self.heard.at(other, self.slot, self.lane);
            self.world.age(stamp).is_some_and(|age| age <= soft)
        })
    }

    fn neighbours(&self, radius_m: f64, mut tell: impl FnMut(Neighbour)) {
        let world = self.world;
        let timeline = &world.prepared.timeline;
        let memory_s = world.prepared.scenario.protocol.soft_state_s;
        let around: Vec<Slot> = world.around(self.slot, radius_m, memory_s).collect();
        let since = Step(world.step().0.saturating_sub(timeline.soft_state));
        let since = world.time.stamp(since);
        let counts = self.heard.counts(&around, self.slot, self.lane, since);
        for (&other, heard) in around.iter().zip(counts) {
            if heard.beacons == 0 {
                continue;
            }
            let newest = world.time.step_of(heard.newest);
            tell(Neighbour {
                id: world.agent(other),
                state: world.told(other, newest),
                at: Time::instant(newest),
                beacons: heard.beacons,
                first_at: Time::instant(world.time.step_of(heard.first)),
            });
        }
    }

    fn sayings<'s>(&'s self, mut tell: impl FnMut(Instant, AgentId, &'s [ObjectState])) {
        let Some(sayings) = self.sayings else { return };
        for said in &sayings.kept {
            let word = said.receivers.get(self.slot.index() / 64);
            if word.is_some_and(|word| word >> (self.slot.0 % 64) & 1 != 0) {
                tell(said.at, said.by, &said.objects);
            }
        }
    }
}
