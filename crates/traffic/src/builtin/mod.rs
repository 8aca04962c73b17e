//! Built-in microscopic traffic: the default source, with nothing to install.
//!
//! Vehicles follow one another by Krauss's model with SUMO's default parameters, obey traffic lights and right of way, keep
//! junctions clear, change lanes and turn. The population is closed: vehicles never enter, leave or jump, so their number is
//! exact at all times. Any network will do whose junctions are signalised, priority junctions or open joints.
//!
//! Guarantees:
//! - The frames are a function of (network, configuration, seed). Every random draw is addressed by what it decides.
//! - Vehicles on the same way never overlap, speeds are never negative, nobody passes a red light who could have stopped.
//! - Positions are continuous, through junctions and lane changes too.
//!
//! How it works: `roads` turns the network into tracks, `placement` puts vehicles on them, `motion` moves them;
//! `gates` settles who may enter a junction, `lane_change` and `routes` what the names say.
//!
//! What differs from SUMO: drivers do not plan routes, they turn by shares; lane changes take time; there is no rule to keep
//! to the kerb side; a driver who misses his lane turns elsewhere instead of blocking it; nobody is ever teleported.

mod building;
mod config;
mod conflicts;
mod following;
mod gates;
mod lane_change;
mod lists;
mod motion;
mod occupancy;
mod patience;
mod placement;
mod roads;
mod routes;
mod selection;
mod signals;
mod vehicle;

pub use config::{BuiltinConfig, BuiltinError, DeadEnds, DriverModel, SpeedFactor, TurnShares};
pub use motion::Interventions;
pub use selection::main_road;

use crate::Source;
use covey_world::network::{EdgeIx, Network};
use covey_world::{Frame, Point, VehicleId, VehicleState};
use motion::{Motion, STANDING};
use roads::TrackKind;
use signals::Signals;
use vehicle::Vehicle;

/// The built-in traffic, ready to give frames.
///
/// The first frame is that of time 0, after the warm-up; each further one lies a step later. There is no last one.
#[derive(Debug, Clone)]
pub struct Builtin {
    motion: Motion,
    started: bool,
}

/// The traffic of one instant in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Vehicles on all roads; the same at all times.
    pub vehicles: usize,
    /// Vehicles on the main road, its junctions included.
    pub on_main: usize,
    /// Mean speed of all vehicles, m/s.
    pub mean_speed: f64,
    /// Share of all vehicles slower than 0.1 m/s.
    pub stopped: f64,
    /// Mean speed on the main road, m/s.
    pub main_speed: f64,
    /// Share of the vehicles on the main road that are slower than 0.1 m/s.
    pub main_stopped: f64,
    /// Vehicles per km and lane on the main road.
    pub main_density: f64,
    /// Vehicles per km and lane on all other roads.
    pub side_density: f64,
}

impl Builtin {
    /// Sets up the traffic on `network` and runs the warm-up.
    ///
    /// # Errors
    /// A parameter out of range, a junction of a type that is not known, a road without a way back, or a density that does
    /// not fit on the road.
    pub fn new(network: &Network, config: &BuiltinConfig, seed: u64) -> Result<Self, BuiltinError> {
        config.validate()?;
        let roads = building::build(network, config)?;
        let (vehicles, main) = placement::place(&roads, config, seed)?;
        let step_us = i64::from(config.warmup_step_ms) * 1000;
        let steps = (config.warmup_s * 1e6 / step_us as f64).ceil() as i64;
        let mut motion = Motion::new(
            roads,
            Signals::new(network),
            config.clone(),
            vehicles,
            main,
            -steps * step_us,
        );
        for _ in 0..steps {
            motion.advance(config.warmup_step_ms);
        }
        Ok(Self {
            motion,
            started: false,
        })
    }

    /// The traffic of the last frame in a few numbers.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let motion = &self.motion;
        let stands = |v: &&Vehicle| v.speed < STANDING;
        let mean = |sum: f64, n: usize| if n > 0 { sum / n as f64 } else { 0.0 };
        let on_main = |v: &&Vehicle| motion.roads.tracks[v.track as usize].main;
        let n = motion.vehicles.len();
        let all = || motion.vehicles.iter();
        let main_count = all().filter(on_main).count();
        let per_km = |n: usize, metres: f64| mean(n as f64 * 1000.0, 1) / metres.max(1.0);
        Summary {
            vehicles: n,
            on_main: main_count,
            mean_speed: mean(all().map(|v| v.speed).sum(), n),
            stopped: mean(all().filter(stands).count() as f64, n),
            main_speed: mean(all().filter(on_main).map(|v| v.speed).sum(), main_count),
            main_stopped: mean(
                all().filter(on_main).filter(stands).count() as f64,
                main_count,
            ),
            main_density: per_km(main_count, motion.roads.main_metres),
            side_density: per_km(n - main_count, motion.roads.side_metres),
        }
    }

    /// The time of the last frame, microseconds.
    #[must_use]
    pub fn time_us(&self) -> i64 {
        self.motion.time_us
    }

    /// Kilometres of main-road lanes, the straight ways over its junctions included: what `main_density` refers to.
    #[must_use]
    pub fn main_lane_km(&self) -> f64 {
        self.motion.roads.main_metres / 1000.0
    }

    /// The edges of the main road.
    pub fn main_edges(&self) -> impl Iterator<Item = EdgeIx> {
        let streets = self.motion.roads.streets.iter();
        streets.filter(|s| s.main).map(|s| s.edge)
    }

    /// Edges that vehicles keep away from because they lead nowhere (with [`DeadEnds::Avoid`]).
    #[must_use]
    pub fn avoided_edges(&self) -> &[EdgeIx] {
        &self.motion.roads.avoided
    }

    /// The factor on the odds of choosing the main road that is in force: 1 while the main road has its density.
    #[must_use]
    pub fn turning_bias(&self) -> f64 {
        self.motion.bias
    }

    /// How often the rules against standstill have acted, the warm-up included.
    #[must_use]
    pub fn interventions(&self) -> Interventions {
        self.motion.interventions
    }

    fn write(&self, frame: &mut Frame) {
        frame.time_us = self.motion.time_us;
        frame.vehicles.clear();
        let states = self.motion.vehicles.iter().enumerate();
        frame
            .vehicles
            .extend(states.map(|(i, vehicle)| self.state(i, vehicle)));
    }

    fn state(&self, i: usize, vehicle: &Vehicle) -> VehicleState {
        let roads = &self.motion.roads;
        let track = &roads.tracks[vehicle.track as usize];
        let half = 0.5 * vehicle.length();
        let centre = self.motion.behind(vehicle, half);
        let back = self.motion.behind(vehicle, 1.5 * half);
        let front = self.motion.behind(vehicle, 0.5 * half);
        let along = front - back;
        let distance = along.length();
        let ahead = if distance > 1e-6 {
            along * (1.0 / distance)
        } else {
            Point::from_heading(track.shape.heading_at(vehicle.position))
        };
        // Smooth at both ends of a lane change.
        let p = vehicle.progress;
        let rest = 1.0 - p * p * (3.0 - 2.0 * p);
        let beside = Point::new(-ahead.y, ahead.x) * vehicle.lateral + ahead * vehicle.slip;
        let (lane, lane_position) = track.report(vehicle.position);
        let next =
            vehicle
                .path
                .as_slice()
                .iter()
                .find_map(|&t| match &roads.tracks[t as usize].kind {
                    TrackKind::Crossing(c) if c.entry => Some(c.connection),
                    _ => None,
                });
        VehicleState {
            id: VehicleId(i as u32),
            position: centre + beside * rest,
            heading: ahead.y.atan2(ahead.x),
            speed: vehicle.speed,
            body: vehicle.body,
            lane,
            lane_position,
            next: next.flatten(),
        }
    }
}

impl Source for Builtin {
    type Error = std::convert::Infallible;

    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, Self::Error> {
        if self.started {
            self.motion.advance(self.motion.config.step_ms);
        }
        self.started = true;
        self.write(frame);
        Ok(true)
    }
}
