//! Small worlds whose every vehicle is known.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::path::Path;

use covey_radio::CollisionLaw;
use covey_simulator::{
    Arm, FrameSource, Nobody, Prepared, RunError, RunOptions, Scenario, SeedOutcome, simulate,
};
use covey_traffic::builtin::Builtin;
use covey_world::network::LaneIx;
use covey_world::{Body, Frame, Network, VehicleId, VehicleState};

/// A bundled scenario, by its folder.
pub(crate) fn scenario(folder: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(folder)
        .join("scenario.toml");
    Scenario::read(&file).unwrap()
}

/// A channel on which nothing is lost for load: no collisions, no half duplex, room for everything.
pub(crate) fn empty_channel(scenario: &mut Scenario) {
    scenario.protocol.capacity_bytes_per_s = 1e9;
    scenario.channel.collision = CollisionLaw::PowerLaw {
        coefficient: 0.0,
        exponent: 1.0,
    };
    scenario.channel.subframes_per_s = 1e9;
    scenario.channel.tx_power_dbm = 60.0;
}

/// The blind junction with small tiles and a channel that cannot carry everything: hosts come and go, messages are thinned.
pub(crate) fn crowded_junction() -> Prepared {
    let mut scenario = scenario("toy/blind-junction");
    scenario.protocol.tile_m = 125.0;
    scenario.protocol.capacity_bytes_per_s = 12_000.0;
    scenario.evaluation.sample_one_in = 1;
    scenario.traffic.main_density = 30.0;
    scenario.traffic.side_density = 25.0;
    scenario.traffic.warmup_s = 10.0;
    Prepared::new(&scenario).unwrap()
}

/// The built-in traffic of a scenario.
pub(crate) fn traffic(prepared: &Prepared, seed: u64) -> Builtin {
    Builtin::new(&prepared.map.network, &prepared.scenario.traffic, seed).unwrap()
}

/// Arms by name.
pub(crate) fn arms(names: &[&str]) -> Vec<Arm> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// Seconds before measuring and of it.
pub(crate) fn seconds(warmup_s: f64, measure_s: f64) -> RunOptions {
    RunOptions {
        warmup_s,
        measure_s,
        ..RunOptions::default()
    }
}

/// Runs arms over built-in traffic.
pub(crate) fn run(
    prepared: &Prepared,
    arms: &[Arm],
    seed: u64,
    options: &RunOptions,
) -> SeedOutcome {
    let mut traffic = traffic(prepared, seed);
    simulate(prepared, &mut traffic, arms, seed, options, &mut Nobody).unwrap()
}

/// Frames made by hand: the vehicles of each step, as long as there are any.
pub(crate) struct Script<F>(F, u32);

impl<F: FnMut(u32) -> Option<Vec<VehicleState>>> Script<F> {
    /// From a function of the step.
    pub(crate) fn new(frames: F) -> Self {
        Self(frames, 0)
    }
}

impl<F: FnMut(u32) -> Option<Vec<VehicleState>>> FrameSource for Script<F> {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        let Some(vehicles) = (self.0)(self.1) else {
            return Ok(false);
        };
        frame.time_us = i64::from(self.1) * 50_000;
        frame.vehicles = vehicles;
        self.1 += 1;
        Ok(true)
    }
}

/// The same vehicles in every step.
pub(crate) fn still(vehicles: Vec<VehicleState>) -> impl FrameSource {
    Script::new(move |_| Some(vehicles.clone()))
}

/// A car whose front is at `position` on a lane, going straight on.
pub(crate) fn car(
    network: &Network,
    id: u32,
    lane: &str,
    position: f64,
    speed: f64,
) -> VehicleState {
    let at = network.lanes.iter().position(|l| l.name == lane).unwrap();
    let shape = &network.lanes[at].shape;
    let (front, back) = (shape.point_at(position), shape.point_at(position - 0.1));
    let direction = front - back;
    let heading = direction.y.atan2(direction.x);
    let next = network.lanes[at]
        .outgoing
        .iter()
        .copied()
        .find(|c| network.connections[c.index()].turn == covey_world::network::Turn::Straight);
    VehicleState {
        id: VehicleId(id),
        position: shape.point_at(position - Body::CAR.length / 2.0),
        heading,
        speed,
        body: Body::CAR,
        lane: Some(LaneIx(at as u32)),
        lane_position: position,
        next,
    }
}
