//! Who beacons in a step: the protocol's own rule, asked once for all arms.

use covey_protocol::beacons::{BeaconTimer, DueBeacon};

use crate::shared::Shared;

impl Shared<'_> {
    /// The places that beacon in this step, ascending, of those in their phase, and what goes with their beacons.
    pub(crate) fn beacon_senders(&mut self, phases: &[u32]) -> (Vec<u32>, Vec<DueBeacon>) {
        let phase = self.step % self.prepared.timeline.beacon;
        let rule = self.prepared.scenario.protocol.beacons;
        let mut timers = std::mem::take(&mut self.beacon_timers);
        timers.resize(self.slots.len(), BeaconTimer::default());
        for &slot in &self.taken {
            timers[slot as usize] = BeaconTimer::default();
        }
        let (mut senders, mut due) = (Vec::new(), Vec::new());
        let now = self.now();
        for &slot in &self.participants {
            if phases[slot as usize] == phase
                && let Some(beacon) = timers[slot as usize].next(rule, &self.here(slot).state, now)
            {
                senders.push(slot);
                due.push(beacon);
            }
        }
        self.beacon_timers = timers;
        (senders, due)
    }
}
