//! When messages and their containers are due: the protocol's own rules, asked once for all arms.

use covey_protocol::Duration;
use covey_protocol::beacons::{BeaconTimer, DueBeacon};

use crate::ids::Slot;
use crate::world::World;

/// Seconds from one message with sensor information to the next (TS 103 324).
const SENSOR_INFORMATION_S: f64 = 1.0;

/// Who beacons in a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct DueBeacons {
    /// Places, ascending.
    pub(crate) senders: Vec<Slot>,
    /// What goes with their beacons, in the same order.
    pub(crate) due: Vec<DueBeacon>,
}

/// When everyone beacons and reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeaconClock {
    timers: Vec<BeaconTimer>,
    /// By place: at which step of a beacon interval it may beacon, and of a cycle it reports.
    beacon_phase: Vec<u32>,
    report_phase: Vec<u32>,
}

impl BeaconClock {
    /// Newcomers get their phases; gives who beacons in this step.
    pub(crate) fn begin(&mut self, world: &World<'_>) -> DueBeacons {
        let size = world.road.size();
        self.timers.resize(size, BeaconTimer::default());
        self.beacon_phase.resize(size, 0);
        self.report_phase.resize(size, 0);
        let p = &world.prepared.scenario.protocol;
        for &slot in world.road.taken() {
            let agent = world.agent(slot);
            self.timers[slot.index()] = BeaconTimer::default();
            self.beacon_phase[slot.index()] = steps(p.beacon_phase(agent));
            self.report_phase[slot.index()] = steps(p.report_phase(agent));
        }
        let phase = world.step().0 % world.prepared.timeline.beacon;
        let mut beacons = DueBeacons::default();
        let now = world.now();
        for &slot in world.road.participants() {
            if self.beacon_phase[slot.index()] == phase
                && let Some(beacon) =
                    self.timers[slot.index()].next(p.beacons, &world.here(slot).state, now)
            {
                beacons.senders.push(slot);
                beacons.due.push(beacon);
            }
        }
        beacons
    }

    /// Reports of a place are due in this step.
    pub(crate) fn reports(&self, world: &World<'_>, slot: Slot) -> bool {
        self.report_phase[slot.index()] == world.phase()
    }
}

fn steps(phase: Duration) -> u32 {
    (phase.micros() / covey_traffic::STEP_US) as u32
}

/// A report of a place in this cycle carries sensor information: once a second, each agent in a cycle of its own.
pub(crate) fn sensor_information_is_due(world: &World<'_>, slot: Slot) -> bool {
    let steps = (SENSOR_INFORMATION_S / crate::prepared::STEP_S) as u64;
    let cycles = steps / u64::from(world.prepared.timeline.cycle);
    let turn = u64::from(world.cycle()).wrapping_add(world.agent(slot).mixed() >> 8);
    turn.is_multiple_of(cycles.max(1))
}
