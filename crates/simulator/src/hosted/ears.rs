//! What a contributor heard, over flat arrays, as the protocol's choice of content asks for it.

use std::collections::VecDeque;

use covey_protocol::knowledge::{Heard, Neighbour};

use super::*;

/// Reports and broadcasts of the last soft-state time, and who received them.
#[derive(Debug, Default)]
pub(super) struct Sayings {
    kept: VecDeque<Saying>,
}

#[derive(Debug)]
struct Saying {
    step: u32,
    at: Instant,
    by: AgentId,
    objects: Vec<ObjectState>,
    /// A bit for each place.
    receivers: Vec<u64>,
}

impl Sayings {
    /// Lets go of what is older than `soft` steps, and of places that were left.
    pub(super) fn begin(&mut self, step: u32, soft: u32, left: &[u32]) {
        while self
            .kept
            .front()
            .is_some_and(|said| said.step + soft < step)
        {
            self.kept.pop_front();
        }
        for said in &mut self.kept {
            for &slot in left {
                if let Some(word) = said.receivers.get_mut(slot as usize / 64) {
                    *word &= !(1 << (slot % 64));
                }
            }
        }
    }

    /// Somebody spoke of objects.
    pub(super) fn push(
        &mut self,
        shared: &Shared<'_>,
        by: AgentId,
        objects: &[ObjectState],
        receivers: &[u32],
    ) {
        let mut bits = vec![0; shared.slots.len().div_ceil(64)];
        for &receiver in receivers {
            bits[receiver as usize / 64] |= 1 << (receiver % 64);
        }
        self.kept.push_back(Saying {
            step: shared.step,
            at: shared.now(),
            by,
            objects: objects.to_vec(),
            receivers: bits,
        });
    }
}

/// What the participant at a place heard.
#[derive(Clone, Copy)]
pub(super) struct ContributorEars<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) heard: &'a BeaconHistory,
    pub(super) sayings: Option<&'a Sayings>,
    pub(super) lane: usize,
    pub(super) slot: u32,
}

impl Heard for ContributorEars<'_> {
    fn hears(&self, agent: AgentId) -> bool {
        let soft = self.shared.prepared.timeline.soft_state;
        self.shared.slot_of(agent.into()).is_some_and(|other| {
            let stamp = self.heard.at(other, self.slot, self.lane);
            stamp > 0 && self.shared.step - self.shared.step_of(stamp) <= soft
        })
    }

    fn neighbours(&self, radius_m: f64, mut tell: impl FnMut(Neighbour)) {
        let shared = self.shared;
        let timeline = &shared.prepared.timeline;
        let memory_s = shared.prepared.scenario.protocol.soft_state_s;
        for other in shared.around(self.slot, radius_m, memory_s) {
            let mut stamps = self
                .heard
                .each_at(other, self.slot, self.lane)
                .map(|stamp| shared.step_of(stamp))
                .take_while(|&step| shared.step - step <= timeline.soft_state);
            let Some(newest) = stamps.next() else {
                continue;
            };
            let (beacons, first) = stamps.fold((1, newest), |(count, _), step| (count + 1, step));
            tell(Neighbour {
                id: shared.agent(other),
                state: shared.moment(other, newest).state,
                at: shared.instant(newest),
                beacons,
                first_at: shared.instant(first),
            });
        }
    }

    fn sayings<'s>(&'s self, mut tell: impl FnMut(Instant, AgentId, &'s [ObjectState])) {
        let Some(sayings) = self.sayings else { return };
        for said in &sayings.kept {
            let word = said.receivers.get(self.slot as usize / 64);
            if word.is_some_and(|word| word >> (self.slot % 64) & 1 != 0) {
                tell(said.at, said.by, &said.objects);
            }
        }
    }
}
