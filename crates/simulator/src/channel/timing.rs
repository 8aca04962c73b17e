//! When messages and their containers are due: the protocol's own rules, asked once for all arms.

use covey_draws::{Draws, Purpose};
use covey_protocol::beacons::{BeaconRule, BeaconTimer, Decides, DueBeacon};
use covey_protocol::security::CertificateTimer;
use covey_protocol::{AgentId, Duration};

use crate::ids::Slot;
use crate::readings::SenderPhase;
use crate::world::World;

/// Seconds from one message with sensor information to the next (TS 103 324).
const SENSOR_INFORMATION_S: f64 = 1.0;

/// What goes with a beacon.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accompanied {
    pub(crate) due: DueBeacon,
    /// Where it is signed, it carries the certificate.
    pub(crate) certificate: bool,
}

/// Who beacons in a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct DueBeacons {
    /// Places, ascending.
    pub(crate) senders: Vec<Slot>,
    /// What goes with their beacons, in the same order.
    pub(crate) due: Vec<Accompanied>,
}

/// When everyone beacons and reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeaconClock {
    timers: Vec<BeaconTimer>,
    certificates: Vec<CertificateTimer>,
    /// By place: at which step of a beacon interval it may beacon, of a cycle it reports, and of a senders' interval it checks what
    /// to report where nobody asks.
    beacon_phase: Vec<u32>,
    report_phase: Vec<u32>,
    sender_phase: Vec<u32>,
}

impl BeaconClock {
    /// Newcomers get their phases; gives who beacons in this step.
    pub(crate) fn begin(&mut self, world: &World<'_>) -> DueBeacons {
        let size = world.road.size();
        self.timers.resize(size, BeaconTimer::default());
        self.certificates.resize(size, CertificateTimer::default());
        self.beacon_phase.resize(size, 0);
        self.report_phase.resize(size, 0);
        self.sender_phase.resize(size, 0);
        let p = &world.prepared.scenario.protocol;
        for &slot in world.road.taken() {
            let agent = world.agent(slot);
            self.timers[slot.index()] = BeaconTimer::default();
            self.certificates[slot.index()] = CertificateTimer::default();
            self.beacon_phase[slot.index()] = steps(p.beacon_phase(agent));
            self.report_phase[slot.index()] = steps(p.report_phase(agent));
            self.sender_phase[slot.index()] = sender_phase(world, agent);
        }
        let phase = world.step().0 % world.prepared.timeline.beacon;
        let mut beacons = DueBeacons::default();
        let now = world.now();
        for &slot in world.road.participants() {
            if self.beacon_phase[slot.index()] != phase {
                continue;
            }
            let state = &world.here(slot).state;
            let timer = &mut self.timers[slot.index()];
            let due = match p.beacons {
                BeaconRule::Periodic | BeaconRule::Triggered => timer.next(p.beacons, state, now),
                BeaconRule::Measured => {
                    let agent = world.agent(slot);
                    let unit = |number, what| chance(world.seed, agent, number, what);
                    timer.next_measured(p.measured_beacons(), unit, state, now)
                }
            };
            if let Some(due) = due {
                let certificate = &mut self.certificates[slot.index()];
                beacons.senders.push(slot);
                beacons.due.push(Accompanied {
                    due,
                    certificate: certificate.is_due(now),
                });
            }
        }
        beacons
    }

    /// Reports of a place are due in this step.
    pub(crate) fn reports(&self, world: &World<'_>, slot: Slot) -> bool {
        self.report_phase[slot.index()] == world.phase()
    }

    /// A place checks in this step what to report, where nobody asks.
    pub(crate) fn checks(&self, world: &World<'_>, slot: Slot) -> bool {
        self.sender_phase[slot.index()] == world.step().0 % world.prepared.timeline.senders
    }
}

/// What is decided of an agent's measured beacon of this number, as a number from 0 to 1.
pub(crate) fn chance(seed: u64, agent: AgentId, number: u32, what: Decides) -> f64 {
    let number = u64::from(number);
    let draws = Draws::new(seed, Purpose::MeasuredBeacon, what as u8, number);
    // Vehicles have numbers of 32 bits.
    draws.at(agent.0 as u32, 0).uniform()
}

fn steps(phase: Duration) -> u32 {
    (phase.micros() / covey_traffic::STEP_US) as u32
}

/// In which step of the senders' interval an agent checks what to report.
fn sender_phase(world: &World<'_>, agent: AgentId) -> u32 {
    let scenario = &world.prepared.scenario;
    let (p, senders) = (&scenario.protocol, &scenario.senders);
    match senders.phase {
        SenderPhase::Staggered => {
            let before_decisions = senders.interval_s.min(p.decision_phase_s);
            steps(p.slot_within(agent, before_decisions))
        }
        SenderPhase::Common => 0,
    }
}

/// What a place reports in this interval carries sensor information: once a second, each agent in an interval of its own.
pub(crate) fn sensor_information_is_due(world: &World<'_>, slot: Slot) -> bool {
    let steps = (SENSOR_INFORMATION_S / crate::prepared::STEP_S) as u32;
    let interval = world.prepared.timeline.senders;
    let number = u64::from(world.step().0 / interval);
    let turn = number.wrapping_add(world.agent(slot).mixed() >> 8);
    turn.is_multiple_of(u64::from(steps / interval).max(1))
}
