//! Who beacons in a step, by the rule of the protocol's parameters.
//!
//! At the fixed rate that is a matter of the step alone. With triggered beacons (EN 302 637-2) it takes the state that each
//! participant last told; checks are made at the steps at which the fixed rate would send.

use covey_protocol::Duration;
use covey_protocol::beacons::{self, BeaconRule};

use crate::shared::{RING, Shared};

/// What triggered beacons need to be remembered; empty at the fixed rate.
#[derive(Debug, Default)]
pub(crate) struct Beaconing {
    /// By place: the step after that of its last beacon, 0 before the first.
    last: Vec<u32>,
    /// By place: the step after that of its last low-frequency container.
    low_frequency: Vec<u32>,
    /// By step and place: what `last` was before the beacon of that step.
    before: Vec<Vec<u32>>,
}

impl Shared<'_> {
    fn is_triggered(&self) -> bool {
        self.prepared.scenario.protocol.beacons == BeaconRule::Triggered
    }

    /// The places that beacon in this step, ascending, of those in their phase.
    pub(crate) fn beacon_senders(&mut self, phases: &[u32]) -> Vec<u32> {
        let phase = self.step % self.prepared.timeline.beacon;
        let mut senders: Vec<u32> = self
            .participants
            .iter()
            .copied()
            .filter(|&slot| phases[slot as usize] == phase)
            .collect();
        if !self.is_triggered() {
            return senders;
        }
        let mut beaconing = std::mem::take(&mut self.beaconing);
        let size = self.slots.len();
        beaconing.last.resize(size, 0);
        beaconing.low_frequency.resize(size, 0);
        beaconing.before.resize_with(RING, Vec::new);
        for &slot in &self.taken {
            beaconing.last[slot as usize] = 0;
            beaconing.low_frequency[slot as usize] = 0;
        }
        senders.retain(|&slot| {
            let last = beaconing.last[slot as usize];
            last == 0 || {
                let passed = self.step + 1 - last;
                let since = Duration::from_micros(i64::from(passed) * covey_traffic::STEP_US);
                let told = &self.moment(slot, last - 1).state;
                beacons::is_due(told, &self.here(slot).state, since)
            }
        });
        let before = &mut beaconing.before[self.step as usize % RING];
        before.clear();
        before.resize(size, 0);
        for &slot in &senders {
            before[slot as usize] = beaconing.last[slot as usize];
            beaconing.last[slot as usize] = self.step + 1;
        }
        self.beaconing = beaconing;
        senders
    }

    /// Which of the beacons of this step carry a low-frequency container: it goes out every 0.5 s, at the fixed rate at a
    /// time of each sender's own.
    pub(crate) fn low_frequency(&mut self, senders: &[u32]) -> Vec<bool> {
        let beacon = self.prepared.timeline.beacon;
        let half_second = (0.5 / (f64::from(beacon) * crate::prepared::STEP_S))
            .round()
            .max(1.0) as u64;
        if !self.is_triggered() {
            let interval = u64::from(self.step / beacon);
            let due = |&slot: &u32| {
                let turn = self.agent(slot).mixed() >> 24;
                interval.wrapping_add(turn).is_multiple_of(half_second)
            };
            return senders.iter().map(due).collect();
        }
        let steps = half_second as u32 * beacon;
        let now = self.step + 1;
        let last = &mut self.beaconing.low_frequency;
        let mut due = |&slot: &u32| {
            let last = &mut last[slot as usize];
            let due = *last == 0 || now - *last >= steps;
            if due {
                *last = now;
            }
            due
        };
        senders.iter().map(&mut due).collect()
    }

    /// The beacon that a place sent at a step carries a digest, where every `every`-th at the fixed rate would: of triggered
    /// ones the first in each span of as many intervals.
    pub(crate) fn carries_digest(&self, slot: u32, step: u32, every: u32) -> bool {
        let every = u64::from(every);
        if every == 0 {
            return false;
        }
        let turn = (self.agent(slot).mixed() >> 16) % every;
        let count = |step: u32| u64::from(step / self.prepared.timeline.beacon) + turn;
        if !self.is_triggered() {
            return count(step).is_multiple_of(every);
        }
        let before = self.beaconing.before.get(step as usize % RING);
        match before.and_then(|before| before.get(slot as usize)) {
            Some(&last) if last > 0 => count(last - 1) / every < count(step) / every,
            _ => true,
        }
    }
}
