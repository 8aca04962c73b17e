//! A scene: who is where, and what stands there.

use covey_simulator::{FrameSource, RunError};
use covey_world::network::{LaneIx, Turn};
use covey_world::{Body, Frame, Network, Point, VehicleId, VehicleState, network};
use serde::{Deserialize, Serialize};

/// Seconds of a step.
const STEP_S: f64 = 0.05;
/// Vehicles that a scene may have, and buildings.
const MOST: usize = 120;
/// Arms that are compared.
const MOST_ARMS: usize = 8;
/// A vehicle whose radio died goes on under this number more.
const WITHOUT: u32 = 10_000;

/// A moment at the junction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Who is there.
    pub vehicles: Vec<Vehicle>,
    /// What hides them from each other.
    #[serde(default)]
    pub buildings: Vec<Building>,
    /// The arms to compare, such as `proposed@0.4`.
    pub arms: Vec<String>,
    /// Of all draws.
    #[serde(default = "one")]
    pub seed: u64,
    /// The load that prices aim at, a share of capacity.
    #[serde(default = "target")]
    pub target: f64,
    /// What a tile's channel carries.
    #[serde(default = "capacity")]
    pub capacity_bytes_per_s: f64,
    /// How far the price rises in 0.1 s for each share of capacity above the target.
    #[serde(default = "price_step")]
    pub price_step: f64,
    /// How many seconds pass up to the moment of the scene.
    #[serde(default = "seconds")]
    pub seconds: f64,
    /// How many seconds before that moment radios that die fall silent.
    #[serde(default = "one_second")]
    pub dead_s: f64,
}

fn one() -> u64 {
    1
}

fn target() -> f64 {
    0.3
}

fn capacity() -> f64 {
    242_000.0
}

fn price_step() -> f64 {
    0.5
}

fn seconds() -> f64 {
    2.0
}

fn one_second() -> f64 {
    1.0
}

/// A vehicle on a lane of the junction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vehicle {
    /// Its number.
    pub id: u32,
    /// Where its front is, in metres from the middle of the junction.
    pub x: f64,
    /// Northwards.
    pub y: f64,
    /// In metres a second.
    pub speed: f64,
    /// A truck or bus instead of a car.
    #[serde(default)]
    pub heavy: bool,
    /// It takes part.
    #[serde(default)]
    pub radio: bool,
    /// Its radio fails before the moment, see [`Scene::dead_s`].
    #[serde(default)]
    pub dies: bool,
}

/// A building with a rectangular footprint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Building {
    /// West edge, in metres.
    pub x: f64,
    /// South edge.
    pub y: f64,
    /// Eastwards.
    pub w: f64,
    /// Northwards.
    pub h: f64,
}

impl Scene {
    /// Reads a scene and checks it.
    ///
    /// # Errors
    /// It is no scene, or something in it is too much or no number.
    pub fn parse(json: &str) -> Result<Self, String> {
        let scene: Self = serde_json::from_str(json).map_err(|error| format!("scene: {error}"))?;
        for (what, found, most) in [
            ("vehicles", scene.vehicles.len(), MOST),
            ("buildings", scene.buildings.len(), MOST),
            ("arms", scene.arms.len(), MOST_ARMS),
        ] {
            if found > most {
                return Err(format!("{what}: found {found}, expected at most {most}"));
            }
        }
        if !(1.0..=10.0).contains(&scene.seconds) {
            let found = scene.seconds;
            return Err(format!("seconds: found {found}, expected 1 to 10"));
        }
        let mut ids: Vec<u32> = scene.vehicles.iter().map(|v| v.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) || ids.iter().any(|&id| id >= WITHOUT) {
            return Err(format!(
                "vehicles: numbers must differ and lie below {WITHOUT}"
            ));
        }
        for v in &scene.vehicles {
            let near = |x: f64| x.abs() <= 300.0;
            if !(near(v.x) && near(v.y) && (0.0..=40.0).contains(&v.speed)) {
                return Err(format!(
                    "vehicle {}: found ({}, {}) at {} m/s, expected within 300 m and 0 to 40 m/s",
                    v.id, v.x, v.y, v.speed
                ));
            }
        }
        for b in &scene.buildings {
            let within = |x: f64| x.abs() <= 400.0;
            if ![b.x, b.y, b.w, b.h].into_iter().all(within) {
                return Err(format!(
                    "building: found {} by {} m at ({}, {}), expected within 400 m",
                    b.w, b.h, b.x, b.y
                ));
            }
        }
        Ok(scene)
    }

    /// Its buildings, those that can be seen.
    pub(crate) fn buildings(&self) -> Vec<network::Building> {
        let corner = |x, y| Point::new(x, y);
        let buildings = self.buildings.iter().filter(|b| b.w > 0.5 && b.h > 0.5);
        let buildings = buildings.map(|b| network::Building {
            outline: vec![
                corner(b.x, b.y),
                corner(b.x + b.w, b.y),
                corner(b.x + b.w, b.y + b.h),
                corner(b.x, b.y + b.h),
            ],
            height: 12.0,
        });
        buildings.collect()
    }

    /// The seconds up to the moment: everyone at constant speed on its lane.
    pub(crate) fn traffic(&self, network: &Network) -> Approach {
        let mut vehicles: Vec<(VehicleState, Vehicle)> = self
            .vehicles
            .iter()
            .filter_map(|vehicle| Some((placed(network, vehicle)?, vehicle.clone())))
            .collect();
        vehicles.sort_by_key(|(state, _)| state.id);
        Approach {
            vehicles,
            seconds: self.seconds,
            dead_s: self.dead_s,
            step: 0,
        }
    }
}

/// A vehicle on the lane that is nearest to it, going straight on.
fn placed(network: &Network, vehicle: &Vehicle) -> Option<VehicleState> {
    let at = Point::new(vehicle.x, vehicle.y);
    let mut best: Option<(f64, usize, f64)> = None;
    for (number, lane) in network.lanes.iter().enumerate().filter(|(_, l)| l.drivable) {
        // Into the junction there is more than one way; straight on is the first.
        let points = lane.shape.points();
        let mut along = 0.0;
        for pair in points.windows(2) {
            let way = pair[1] - pair[0];
            let length = way.length();
            if length < 1e-6 {
                continue;
            }
            let from = at - pair[0];
            let part = ((from.x * way.x + from.y * way.y) / (length * length)).clamp(0.0, 1.0);
            let foot = Point::new(pair[0].x + part * way.x, pair[0].y + part * way.y);
            let far = (at - foot).length();
            if best.is_none_or(|(least, _, _)| far < least - 1e-9) {
                best = Some((far, number, along + part * length));
            }
            along += length;
        }
    }
    let (_, number, position) = best?;
    let lane = &network.lanes[number];
    let body = if vehicle.heavy {
        Body::HEAVY
    } else {
        Body::CAR
    };
    let (front, back) = (
        lane.shape.point_at(position.max(0.2)),
        lane.shape.point_at(position.max(0.2) - 0.1),
    );
    let way = front - back;
    let heading = way.y.atan2(way.x);
    let next = lane.outgoing.iter().copied();
    let mut next = next.filter(|c| network.connections[c.index()].turn == Turn::Straight);
    let centre = lane.shape.point_at(position);
    Some(VehicleState {
        id: VehicleId(vehicle.id),
        position: Point::new(
            centre.x - heading.cos() * body.length / 2.0,
            centre.y - heading.sin() * body.length / 2.0,
        ),
        heading,
        speed: vehicle.speed,
        body,
        lane: Some(LaneIx(number as u32)),
        lane_position: position,
        next: next.next(),
    })
}

/// Frames of the last seconds before a moment.
#[derive(Debug)]
pub(crate) struct Approach {
    /// At the moment itself, by ascending number.
    vehicles: Vec<(VehicleState, Vehicle)>,
    seconds: f64,
    dead_s: f64,
    step: u32,
}

/// The number under which the simulator knows a vehicle, and that of the scene.
pub(crate) fn of_scene(id: u32) -> u32 {
    if id >= WITHOUT { id - WITHOUT } else { id }
}

impl FrameSource for Approach {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        // The moment is that of the last step.
        let left = self.seconds - STEP_S - f64::from(self.step) * STEP_S;
        frame.time_us = i64::from(self.step) * 50_000;
        frame.vehicles.clear();
        for (state, vehicle) in &self.vehicles {
            let mut state = *state;
            let back = state.speed * left;
            state.position = Point::new(
                state.position.x - state.heading.cos() * back,
                state.position.y - state.heading.sin() * back,
            );
            state.lane_position = (state.lane_position - back).max(0.0);
            if vehicle.dies && left < self.dead_s {
                state.id = VehicleId(vehicle.id + WITHOUT);
            }
            frame.vehicles.push(state);
        }
        frame.vehicles.sort_by_key(|state| state.id);
        self.step += 1;
        Ok(true)
    }

    fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        if id.0 >= WITHOUT {
            return Some("without");
        }
        let at = self
            .vehicles
            .binary_search_by_key(&id, |(state, _)| state.id);
        let radio = at.is_ok_and(|at| self.vehicles[at].1.radio);
        Some(if radio { "with" } else { "without" })
    }
}
