//! Parameters of the built-in traffic and what may be wrong with them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a class of vehicles is driven: the parameters of Krauss's model as SUMO names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverModel {
    /// Highest acceleration, m/s². SUMO: 2.6 for passenger cars, 1.3 for trucks.
    pub accel: f64,
    /// Braking that a driver counts on, m/s². SUMO: 4.5 for passenger cars, 4.0 for trucks.
    pub decel: f64,
    /// The driver's imperfection, 0 to 1. SUMO: 0.5.
    pub sigma: f64,
    /// Time headway that a driver wants, s. SUMO: 1.
    pub tau: f64,
    /// Empty space in front when standing, m. SUMO: 2.5.
    pub min_gap: f64,
    /// Highest speed of the vehicle, m/s. SUMO: 55.56 for passenger cars, 36.11 for trucks.
    pub max_speed: f64,
}

impl DriverModel {
    /// SUMO's passenger car.
    pub const CAR: Self = Self {
        accel: 2.6,
        decel: 4.5,
        sigma: 0.5,
        tau: 1.0,
        min_gap: 2.5,
        max_speed: 55.56,
    };
    /// SUMO's truck.
    pub const HEAVY: Self = Self {
        accel: 1.3,
        decel: 4.0,
        sigma: 0.5,
        tau: 1.0,
        min_gap: 2.5,
        max_speed: 36.11,
    };
}

/// How the wish of drivers is spread around the speed limit: a normal distribution cut at both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeedFactor {
    /// Mean of the wished speed over the limit. SUMO's passenger car: 1.
    pub mean: f64,
    /// Standard deviation. SUMO: 0.1.
    pub deviation: f64,
    /// Least value. SUMO: 0.2.
    pub min: f64,
    /// Greatest value. SUMO: 2.
    pub max: f64,
}

/// How likely each direction is at a junction that offers all of them. Only the ratios matter; the shares of directions
/// that a road does not offer fall to the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TurnShares {
    /// Straight on. Default 0.8.
    pub straight: f64,
    /// Left. Default 0.1.
    pub left: f64,
    /// Right. Default 0.1.
    pub right: f64,
    /// Back. Default 0; taken anyway where there is nothing else (dead ends).
    pub around: f64,
}

impl Default for TurnShares {
    fn default() -> Self {
        Self {
            straight: 0.8,
            left: 0.1,
            right: 0.1,
            around: 0.0,
        }
    }
}

/// What to do about roads that lead into a dead end without a way back, or from which the main road cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadEnds {
    /// Refuse the network and name the road.
    Error,
    /// Never drive there.
    Avoid,
}

/// Parameters of the built-in traffic. Every field has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BuiltinConfig {
    /// Time between frames, ms. Default 50, the simulator's step. At most 500: a driver's `tau` must not be shorter.
    pub step_ms: u32,
    /// Vehicles per km and lane of the main road. Default 43.08, the letter's 1.5 k_c.
    pub main_density: f64,
    /// Vehicles per km and lane of all other roads. Default 12.
    pub side_density: f64,
    /// Names or beginnings of names of the edges that make up the main road. Default empty: the edges of the highest
    /// SUMO priority among those that can be driven on; where all have the same, the ones with the most lanes.
    pub main_edges: Vec<String>,
    /// Share of heavy vehicles (TR 37.885 type 3, 13 m long and 3 m high), 0 to 1. Default 0.1.
    pub heavy_share: f64,
    /// Traffic-only time before the first frame, s. Default 300.
    pub warmup_s: f64,
    /// Step during that time, ms. Default 250.
    pub warmup_step_ms: u32,
    /// Which way vehicles go at junctions.
    pub turn_shares: TurnShares,
    /// How strongly turning is bent so that the main road keeps its density: the odds of every choice of a main-road
    /// edge are multiplied by exp(gain x missing share of the main road's vehicles), where a lack that lasts counts more and
    /// more (see `routes.rs`). Default 20; 0 switches it off.
    pub density_gain: f64,
    /// How cars are driven.
    pub car: DriverModel,
    /// How trucks and buses are driven.
    pub heavy: DriverModel,
    /// Wished speeds of cars relative to the limit. Heavy vehicles use half the deviation, as SUMO's trucks do.
    pub speed_factor: SpeedFactor,
    /// Vehicles may change lanes. Default true; if false, drivers take what their lane offers.
    pub lane_changes: bool,
    /// Time that a lane change takes, s. Default 2.5.
    pub lane_change_s: f64,
    /// Time that must remain before a vehicle with right of way arrives when another crosses in front of it, s. Default 1.
    pub gap_margin_s: f64,
    /// What to do about roads without a way back. Default `error`.
    pub dead_ends: DeadEnds,
}

impl Default for BuiltinConfig {
    fn default() -> Self {
        Self {
            step_ms: 50,
            main_density: 43.08,
            side_density: 12.0,
            main_edges: Vec::new(),
            heavy_share: 0.1,
            warmup_s: 300.0,
            warmup_step_ms: 250,
            turn_shares: TurnShares::default(),
            density_gain: 20.0,
            car: DriverModel::CAR,
            heavy: DriverModel::HEAVY,
            speed_factor: SpeedFactor {
                mean: 1.0,
                deviation: 0.1,
                min: 0.2,
                max: 2.0,
            },
            lane_changes: true,
            lane_change_s: 2.5,
            gap_margin_s: 1.0,
            dead_ends: DeadEnds::Error,
        }
    }
}

/// Why the built-in traffic cannot be set up.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BuiltinError {
    /// A parameter lies outside its range.
    #[error("built-in traffic: `{field}` is {value}, expected {expected}")]
    Parameter {
        /// The field's path in the configuration.
        field: &'static str,
        /// What was found.
        value: f64,
        /// The range.
        expected: &'static str,
    },
    /// A prefix in `main_edges` names nothing.
    #[error(
        "built-in traffic: no edge open to motor vehicles has a name that begins with `{prefix}` (in `main_edges`); check the names in the .net.xml"
    )]
    NoSuchEdge {
        /// The entry.
        prefix: String,
    },
    /// There is no road.
    #[error("built-in traffic: the network has no lane that motor vehicles may use")]
    NoRoad,
    /// A junction of a type that the built-in traffic does not know.
    #[error(
        "built-in traffic: junction `{junction}` is of type `{kind}`; it knows traffic lights, priority junctions and open joints only: use SUMO traffic for this map"
    )]
    Junction {
        /// Its name.
        junction: String,
        /// SUMO's type.
        kind: String,
    },
    /// A road without a way on.
    #[error(
        "built-in traffic: edge `{edge}` {problem}; set `dead_ends = \"avoid\"` to keep vehicles away from such roads, or use SUMO traffic"
    )]
    DeadEnd {
        /// Its name.
        edge: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The road is too short for so many vehicles.
    #[error(
        "built-in traffic: `{field}` = {density} asks for {wanted} vehicles, but only {fit} fit with their gaps; lower it to at most {most:.1}"
    )]
    TooDense {
        /// The field.
        field: &'static str,
        /// Its value.
        density: f64,
        /// Vehicles asked for.
        wanted: usize,
        /// Vehicles that were placed before the road was full.
        fit: usize,
        /// About the highest density that fits.
        most: f64,
    },
    /// The network refers to something that it does not have.
    #[error("built-in traffic: the network is inconsistent: {what}")]
    Network {
        /// What is wrong.
        what: String,
    },
}

impl BuiltinConfig {
    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`BuiltinError::Parameter`] for the first field that lies outside.
    pub fn validate(&self) -> Result<(), BuiltinError> {
        let check = |field, value: f64, low: f64, high: f64, expected| {
            // Written so that NaN fails.
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(BuiltinError::Parameter {
                    field,
                    value,
                    expected,
                })
            }
        };
        let share = "a number from 0 to 1";
        check("step_ms", f64::from(self.step_ms), 10.0, 500.0, "10 to 500")?;
        check(
            "main_density",
            self.main_density,
            0.0,
            150.0,
            "0 to 150 vehicles per km and lane",
        )?;
        check(
            "side_density",
            self.side_density,
            0.0,
            150.0,
            "0 to 150 vehicles per km and lane",
        )?;
        check("heavy_share", self.heavy_share, 0.0, 1.0, share)?;
        check("warmup_s", self.warmup_s, 0.0, 86_400.0, "0 to 86400 s")?;
        check(
            "warmup_step_ms",
            f64::from(self.warmup_step_ms),
            10.0,
            500.0,
            "10 to 500",
        )?;
        let shares = &self.turn_shares;
        check(
            "turn_shares.straight",
            shares.straight,
            0.0,
            1e6,
            "a number from 0 to 1e6",
        )?;
        check(
            "turn_shares.left",
            shares.left,
            0.0,
            1e6,
            "a number from 0 to 1e6",
        )?;
        check(
            "turn_shares.right",
            shares.right,
            0.0,
            1e6,
            "a number from 0 to 1e6",
        )?;
        check(
            "turn_shares.around",
            shares.around,
            0.0,
            1e6,
            "a number from 0 to 1e6",
        )?;
        check("density_gain", self.density_gain, 0.0, 1000.0, "0 to 1000")?;
        for (fields, model) in [
            (
                [
                    "car.accel",
                    "car.decel",
                    "car.sigma",
                    "car.tau",
                    "car.min_gap",
                    "car.max_speed",
                ],
                &self.car,
            ),
            (
                [
                    "heavy.accel",
                    "heavy.decel",
                    "heavy.sigma",
                    "heavy.tau",
                    "heavy.min_gap",
                    "heavy.max_speed",
                ],
                &self.heavy,
            ),
        ] {
            check(fields[0], model.accel, 0.1, 10.0, "0.1 to 10 m/s²")?;
            check(fields[1], model.decel, 0.5, 10.0, "0.5 to 10 m/s²")?;
            check(fields[2], model.sigma, 0.0, 1.0, share)?;
            check(fields[3], model.tau, 0.5, 10.0, "0.5 to 10 s")?;
            check(fields[4], model.min_gap, 0.5, 20.0, "0.5 to 20 m")?;
            check(fields[5], model.max_speed, 1.0, 100.0, "1 to 100 m/s")?;
        }
        let factor = &self.speed_factor;
        check("speed_factor.mean", factor.mean, 0.2, 2.0, "0.2 to 2")?;
        check(
            "speed_factor.deviation",
            factor.deviation,
            0.0,
            0.5,
            "0 to 0.5",
        )?;
        check(
            "speed_factor.min",
            factor.min,
            0.1,
            factor.mean,
            "0.1 to speed_factor.mean",
        )?;
        check(
            "speed_factor.max",
            factor.max,
            factor.mean,
            3.0,
            "speed_factor.mean to 3",
        )?;
        check(
            "lane_change_s",
            self.lane_change_s,
            0.5,
            10.0,
            "0.5 to 10 s",
        )?;
        check("gap_margin_s", self.gap_margin_s, 0.0, 10.0, "0 to 10 s")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_is_the_default_and_valid() {
        let config: BuiltinConfig = serde_json::from_str("{}").unwrap();
        assert_eq!(config, BuiltinConfig::default());
        config.validate().unwrap();
    }

    #[test]
    fn an_unknown_field_is_refused_by_name() {
        let error = serde_json::from_str::<BuiltinConfig>(r#"{"main_densty": 3}"#).unwrap_err();
        assert!(error.to_string().contains("main_densty"));
    }

    #[test]
    fn a_value_out_of_range_is_named_with_its_range() {
        let config = BuiltinConfig {
            heavy_share: 1.5,
            ..BuiltinConfig::default()
        };
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "built-in traffic: `heavy_share` is 1.5, expected a number from 0 to 1"
        );
        let config = BuiltinConfig {
            main_density: f64::NAN,
            ..BuiltinConfig::default()
        };
        assert!(config.validate().is_err());
    }
}
