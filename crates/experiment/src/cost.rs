//! What a run will cost, from a short measurement of this machine and this build.
//!
//! The first world of a plan is run for a moment ([`PROBE_SIMULATED_S`], or as far as [`PROBE_WALL`] allows), on a seed that
//! is never evaluated. Cost grows with vehicles and simulated time, so other worlds follow by their number of vehicles. Sets of
//! contributors are still growing in those first seconds: the estimate is rather low, by a tenth or two.

use std::time::{Duration, Instant};

use covey_simulator::{FrameSource, Nobody, Prepared, RunError, RunOptions, simulate};
use covey_traffic::builtin::{Builtin, BuiltinConfig};
use covey_world::{Frame, Network};

use crate::runner::RunnerError;
use crate::usage;
use crate::world::{TrafficSource, World};

/// A probe simulates no more than this, in seconds.
pub const PROBE_SIMULATED_S: f64 = 2.0;
/// A probe goes on no longer than this after its first frame.
pub const PROBE_WALL: Duration = Duration::from_secs(3);
/// Of which the beginning does not count: every place of the map is looked at for the first time.
const SKIPPED_S: f64 = 0.4;
/// A calibration seed, so that nothing of the evaluation is seen.
const PROBE_SEED: u64 = 1001;

/// How fast this machine simulates, in CPU seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Before the first step of a run: vehicles placed and driven until traffic is settled.
    pub start_s: f64,
    /// A simulated second of one vehicle, all arms of the plan included.
    pub per_vehicle_s: f64,
    /// How many vehicles the probe had.
    pub vehicles: usize,
}

impl Pace {
    /// CPU seconds of a run of `seconds` with so many vehicles.
    #[must_use]
    pub fn cost_s(&self, vehicles: usize, seconds: f64) -> f64 {
        let share = vehicles as f64 / self.vehicles.max(1) as f64;
        self.start_s * share + self.per_vehicle_s * vehicles as f64 * seconds
    }
}

/// Traffic that looks at the clock before every step.
struct Paced {
    source: Builtin,
    started: Option<Instant>,
    /// CPU seconds before each step.
    before: Vec<f64>,
}

impl FrameSource for Paced {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        let started = *self.started.get_or_insert_with(Instant::now);
        self.before.push(usage::thread_cpu_s());
        if self.before.len() > 2 && started.elapsed() > PROBE_WALL {
            return Err(RunError::Traffic("enough".to_string()));
        }
        self.source.next_frame(frame)
    }
}

/// CPU seconds of one run of each world; none where the number of vehicles is not known beforehand (traffic that is not ours).
///
/// # Errors
/// A world's map or traffic cannot be used.
pub fn estimate(worlds: &[World]) -> Result<Option<Vec<f64>>, RunnerError> {
    let Some(first) = worlds.first() else {
        return Ok(Some(Vec::new()));
    };
    if first.traffic != TrafficSource::Builtin {
        return Ok(None);
    }
    let prepared =
        Prepared::new(&first.scenario).map_err(|error| RunnerError::Input(error.to_string()))?;
    let pace = probe(first, &prepared)?;
    let mut known: Vec<(BuiltinConfig, usize)> = Vec::new();
    let mut costs = Vec::new();
    for world in worlds {
        let vehicles = vehicles(world, &prepared.map.network, &mut known)?;
        costs.push(pace.cost_s(vehicles, world.warmup_s + world.measure_s));
    }
    Ok(Some(costs))
}

/// Measures the pace of a world with built-in traffic.
///
/// # Errors
/// Its traffic cannot be made, or the run fails.
pub fn probe(world: &World, prepared: &Prepared) -> Result<Pace, RunnerError> {
    let input = |text: String| RunnerError::Input(format!("{}: {text}", world.scenario.name));
    let start = usage::thread_cpu_s();
    let source = Builtin::new(&prepared.map.network, &world.scenario.traffic, PROBE_SEED)
        .map_err(|error| input(error.to_string()))?;
    let vehicles = source.summary().vehicles;
    let mut paced = Paced {
        source,
        started: None,
        before: Vec::new(),
    };
    let options = RunOptions {
        warmup_s: 0.0,
        measure_s: PROBE_SIMULATED_S,
        ..RunOptions::default()
    };
    let outcome = simulate(
        prepared,
        &mut paced,
        &world.arms,
        PROBE_SEED,
        &options,
        &mut Nobody,
    );
    match outcome {
        Ok(_) => paced.before.push(usage::thread_cpu_s()),
        // Broken off by the clock.
        Err(RunError::Traffic(_)) if paced.before.len() > 2 => {}
        Err(error) => return Err(input(error.to_string())),
    }
    let step_s = covey_traffic::STEP_US as f64 * 1e-6;
    let steps = paced.before.len() - 1;
    // A slow machine may not get beyond what is to be skipped.
    let skipped = ((SKIPPED_S / step_s).round() as usize).min(steps / 2);
    let seconds = (steps - skipped) as f64 * step_s;
    let spent = paced.before[steps] - paced.before[skipped];
    Ok(Pace {
        start_s: (paced.before[0] - start).max(0.0),
        per_vehicle_s: spent.max(0.0) / seconds.max(step_s) / vehicles.max(1) as f64,
        vehicles,
    })
}

fn vehicles(
    world: &World,
    network: &Network,
    known: &mut Vec<(BuiltinConfig, usize)>,
) -> Result<usize, RunnerError> {
    // Placing vehicles is quick; driving them is not.
    let config = BuiltinConfig {
        warmup_s: 0.0,
        ..world.scenario.traffic.clone()
    };
    if let Some((_, vehicles)) = known.iter().find(|(c, _)| *c == config) {
        return Ok(*vehicles);
    }
    let traffic = Builtin::new(network, &config, 0)
        .map_err(|error| RunnerError::Input(format!("{}: {error}", world.label())))?;
    let vehicles = traffic.summary().vehicles;
    known.push((config, vehicles));
    Ok(vehicles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_grows_with_vehicles_and_time() {
        let pace = Pace {
            start_s: 2.0,
            per_vehicle_s: 3e-4,
            vehicles: 1000,
        };
        assert!((pace.cost_s(1000, 40.0) - (2.0 + 12.0)).abs() < 1e-9);
        assert!((pace.cost_s(500, 80.0) - (1.0 + 12.0)).abs() < 1e-9);
    }
}
