//! Parameters of the built-in traffic and what may be wrong with them.

use covey_parameters::{OutOfRange, choices, choices_by_name, parameters};
use serde::{Deserialize, Serialize};
use thiserror::Error;

parameters! {
    /// How a class of vehicles is driven: the parameters of Krauss's model as SUMO names them.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct DriverModel without default {
        /// Highest acceleration.
        accel: f64, unit "m/s²", range at_least(0.1).at_most(10.0), source "SUMO: 2.6 for passenger cars, 1.3 for trucks";
        /// Braking that a driver counts on.
        decel: f64, unit "m/s²", range at_least(0.5).at_most(10.0), source "SUMO: 4.5 for passenger cars, 4 for trucks";
        /// The driver's imperfection.
        sigma: f64, range at_least(0.0).at_most(1.0), source "SUMO: 0.5";
        /// Time headway that a driver wants.
        tau: f64, unit "s", range at_least(0.5).at_most(10.0), source "SUMO: 1";
        /// Empty space in front when standing.
        min_gap: f64, unit "m", range at_least(0.5).at_most(20.0), source "SUMO: 2.5";
        /// Highest speed of the vehicle.
        max_speed: f64, unit "m/s", range at_least(1.0).at_most(100.0),
            source "SUMO: 55.56 for passenger cars, 36.11 for trucks";
    }
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

parameters! {
    /// How the wish of drivers is spread around the speed limit: a normal distribution cut at both ends.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SpeedFactor without default, checked by Self::agree {
        /// Mean of the wished speed over the limit.
        mean: f64, range at_least(0.2).at_most(2.0), source "SUMO's passenger car: 1";
        /// Standard deviation of it.
        deviation: f64, range at_least(0.0).at_most(0.5), source "SUMO: 0.1";
        /// Least value; at most `mean`.
        min: f64, range at_least(0.1), source "SUMO: 0.2";
        /// Greatest value; at least `mean`.
        max: f64, range at_most(3.0), source "SUMO: 2";
    }
}

impl SpeedFactor {
    /// The rules between parameters.
    fn agree(&self) -> Result<(), OutOfRange> {
        if self.min > self.mean {
            return Err(OutOfRange::new("min", self.min, "0.1 to speed_factor.mean"));
        }
        if self.max < self.mean {
            return Err(OutOfRange::new("max", self.max, "speed_factor.mean to 3"));
        }
        Ok(())
    }
}

parameters! {
    /// How likely each direction is at a junction that offers all of them. Only the ratios matter; the shares of directions
    /// that a road does not offer fall to the others.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TurnShares {
        /// Straight on.
        straight: f64 = 0.8, range at_least(0.0).at_most(1e6), source "assumed";
        /// Left.
        left: f64 = 0.1, range at_least(0.0).at_most(1e6), source "assumed";
        /// Right.
        right: f64 = 0.1, range at_least(0.0).at_most(1e6), source "assumed";
        /// Back; taken anyway where there is nothing else (dead ends).
        around: f64 = 0.0, range at_least(0.0).at_most(1e6), source "assumed";
    }
}

choices! {
    /// What to do about roads that lead into a dead end without a way back, or from which the main road cannot be reached.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DeadEnds {
        /// Refuse the network and name the road.
        Error = "error",
        /// Never drive there.
        Avoid = "avoid",
    }
}
choices_by_name!(DeadEnds);

parameters! {
    /// Parameters of the built-in traffic. Every field has a default.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct BuiltinConfig {
        /// Time between frames, the simulator's step. A driver's `tau` must not be shorter than the longest.
        step_ms: u32 = 50, unit "ms", range at_least(10.0).at_most(500.0), source "letter, table I (step)";
        /// Vehicles of the main road: the letter's 1.5 k_c.
        main_density: f64 = 43.08, unit "vehicles per km and lane", range at_least(0.0).at_most(150.0),
            source "letter; reading 42";
        /// Vehicles of all other roads.
        side_density: f64 = 12.0, unit "vehicles per km and lane", range at_least(0.0).at_most(150.0), source "reading 42";
        /// Names or beginnings of names of the edges that make up the main road. Where none are given: the edges of the
        /// highest SUMO priority among those that can be driven on; where all have the same, the ones with the most lanes.
        main_edges: Vec<String> = Vec::new(), source "scenario";
        /// Heavy vehicles (TR 37.885 type 3, 13 m long and 3 m high).
        heavy_share: f64 = 0.1, unit "share of vehicles", range at_least(0.0).at_most(1.0), source "assumed; docs/validation.md";
        /// Traffic-only time before the first frame.
        warmup_s: f64 = 300.0, unit "s", range at_least(0.0).at_most(86_400.0), source "docs/validation.md";
        /// Step during that time.
        warmup_step_ms: u32 = 250, unit "ms", range at_least(10.0).at_most(500.0), source "docs/validation.md";
        /// Which way vehicles go at junctions.
        turn_shares: TurnShares = TurnShares::default(), source "assumed";
        /// How strongly turning is bent so that the main road keeps its density: the odds of every choice of a main-road
        /// edge are multiplied by exp(gain x missing share of the main road's vehicles), where a lack that lasts counts more
        /// and more (see `routes.rs`). 0 switches it off.
        density_gain: f64 = 20.0, range at_least(0.0).at_most(1000.0), source "design: a closed population";
        /// How cars are driven.
        car: DriverModel = DriverModel::CAR, source "SUMO, passenger";
        /// How trucks and buses are driven.
        heavy: DriverModel = DriverModel::HEAVY, source "SUMO, truck";
        /// Wished speeds of cars relative to the limit. Heavy vehicles use half the deviation, as SUMO's trucks do.
        speed_factor: SpeedFactor = SpeedFactor { mean: 1.0, deviation: 0.1, min: 0.2, max: 2.0 }, source "SUMO, passenger";
        /// Vehicles may change lanes; otherwise drivers take what their lane offers.
        lane_changes: bool = true, source "design";
        /// Time that a lane change takes.
        lane_change_s: f64 = 2.5, unit "s", range at_least(0.5).at_most(10.0), source "assumed";
        /// Time that must remain before a vehicle with right of way arrives when another crosses in front of it.
        gap_margin_s: f64 = 1.0, unit "s", range at_least(0.0).at_most(10.0), source "assumed";
        /// What to do about roads without a way back.
        dead_ends: DeadEnds = DeadEnds::Error, source "design";
    }
}

/// Why the built-in traffic cannot be set up.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum BuiltinError {
    /// A parameter lies outside its range.
    #[error("built-in traffic: {0}")]
    Parameter(#[from] OutOfRange),
    /// A prefix in `main_edges` names nothing.
    #[error(
        "built-in traffic: no edge open to motor vehicles has a name that begins with `{prefix}` (in `main_edges`); check the names in the .net.xml"
    )]
    NoSuchEdge { prefix: String },
    /// There is no road.
    #[error("built-in traffic: the network has no lane that motor vehicles may use")]
    NoRoad,
    /// A junction of a type that the built-in traffic does not know.
    #[error(
        "built-in traffic: junction `{junction}` is of type `{kind}`; it knows traffic lights, priority junctions and open joints only: use SUMO traffic for this map"
    )]
    Junction {
        junction: String,
        /// SUMO's type.
        kind: String,
    },
    /// A road without a way on.
    #[error(
        "built-in traffic: edge `{edge}` {problem}; set `dead_ends = \"avoid\"` to keep vehicles away from such roads, or use SUMO traffic"
    )]
    DeadEnd {
        edge: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The road is too short for so many vehicles.
    #[error(
        "built-in traffic: `{field}` = {density} asks for {wanted} vehicles, but only {fit} fit with their gaps; lower it to at most {most:.1}"
    )]
    TooDense {
        field: &'static str,
        density: f64,
        wanted: usize,
        /// Vehicles that were placed before the road was full.
        fit: usize,
        /// About the highest density that fits.
        most: f64,
    },
    /// The network refers to something that it does not have.
    #[error("built-in traffic: the network is inconsistent: {what}")]
    Network { what: String },
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
            BuiltinError::from(config.validate().unwrap_err()).to_string(),
            "built-in traffic: heavy_share: found 1.5, expected 0 to 1 (a share of vehicles)"
        );
        let config = BuiltinConfig {
            main_density: f64::NAN,
            ..BuiltinConfig::default()
        };
        assert!(config.validate().is_err());
    }
}
