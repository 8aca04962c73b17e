//! A scenario: which map, which grid, which traffic, which parameters.
//!
//! A scenario is a TOML file; paths in it are relative to its folder. Every key has a default except the net, an unknown key
//! is an error that names it, and every value is checked before anything runs.
//!
//! ```toml
//! name = "tamagawa"
//!
//! [map]
//! net = "tamagawa.net.xml.gz"
//! buildings = ["tamagawa.poly.xml.gz"]
//!
//! [grid]
//! origin_x_m = 470.0
//! origin_y_m = 276.9
//! azimuth_deg = 29.42
//!
//! [traffic]
//! main_density = 43.08
//! ```

use std::path::{Path, PathBuf};

use covey_protocol::Parameters;
use covey_protocol::demand::DemandOptions;
use covey_radio::ChannelParameters;
use covey_traffic::builtin::BuiltinConfig;
use covey_traffic::sumo::ClosedPopulation;
use covey_world::{Map, MapError, MapOptions, Warnings};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::calibrate::Calibrated;
use crate::errors::Errors;
use crate::readings::{Evaluation, Sensing, SizeModel};

/// A scenario, as its file gives it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it is called. Default: the name of its folder.
    #[serde(default)]
    pub name: String,
    /// Roads and buildings.
    pub map: MapFiles,
    /// Where the grid of cells and tiles lies in the map.
    #[serde(default)]
    pub grid: GridFrame,
    /// The built-in traffic, and the densities of a closed SUMO population.
    #[serde(default)]
    pub traffic: BuiltinConfig,
    /// The protocol's parameters.
    #[serde(default)]
    pub protocol: Parameters,
    /// Choice by demand, for the arms that use it; the sensors' range is that of `sensing`.
    #[serde(default)]
    pub demand: DemandOptions,
    /// The channel; its capacity is that of the protocol's parameters.
    #[serde(default)]
    pub channel: ChannelParameters,
    /// The sensors.
    #[serde(default)]
    pub sensing: Sensing,
    /// Errors of positions. Default none.
    #[serde(default)]
    pub errors: Errors,
    /// What counts as relevant.
    #[serde(default)]
    pub evaluation: Evaluation,
    /// Share of vehicles that participate. Default 0.8; letter, table of parameters.
    #[serde(default = "default_penetration")]
    pub penetration: f64,
    /// Vehicles that do not participate whatever the share, by their number in order of first appearance: for scenarios
    /// small enough to know every vehicle. Default none.
    #[serde(default)]
    pub unequipped: Vec<u32>,
    /// What messages weigh. Default `tr103562`; reading 21.
    #[serde(default)]
    pub sizes: SizeModel,
    /// What `covey calibrate` found; takes effect where the file does not set capacity or margin itself.
    #[serde(default)]
    pub calibrated: Option<Calibrated>,
    /// Length of the corridor in km, for the record; nothing is computed from it. Default: none, for maps that are no corridor.
    #[serde(default)]
    pub corridor_km: Option<f64>,
    /// The folder that relative paths start from.
    #[serde(skip)]
    pub folder: PathBuf,
}

fn default_penetration() -> f64 {
    0.8
}

/// Roads and buildings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapFiles {
    /// SUMO network, plain or gzipped.
    pub net: PathBuf,
    /// SUMO polygons, plain or gzipped. Default none.
    #[serde(default)]
    pub buildings: Vec<PathBuf>,
}

/// Where the grid lies: cells and tiles count from `origin`, along axes turned by `azimuth`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GridFrame {
    /// Map x of the grid's origin, in metres. Default 0.
    pub origin_x_m: f64,
    /// Map y of the grid's origin, in metres. Default 0.
    pub origin_y_m: f64,
    /// Direction of the grid's first axis, in degrees counter-clockwise from map east. Default 0.
    pub azimuth_deg: f64,
}

/// Why a scenario cannot be used.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The scenario file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a scenario: not TOML, an unknown key, a value of the wrong kind.
    #[error("{file}: {problem}")]
    Parse {
        /// The scenario file.
        file: String,
        /// Where and what.
        problem: String,
    },
    /// A value is out of range.
    #[error("{file}: {problem}")]
    Value {
        /// The scenario file.
        file: String,
        /// Which field, what was found, what was expected.
        problem: String,
    },
    /// The map cannot be read.
    #[error(transparent)]
    Map(#[from] MapError),
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has an unknown key or a value out of range.
    pub fn read(file: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(file).map_err(|source| ScenarioError::Read {
            file: file.display().to_string(),
            source,
        })?;
        let mut scenario = Self::parse(&file.display().to_string(), &text)?;
        scenario.folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        if scenario.name.is_empty() {
            let folder = std::fs::canonicalize(&scenario.folder).unwrap_or_default();
            scenario.name = folder.file_name().map_or_else(
                || "scenario".to_string(),
                |name| name.to_string_lossy().into_owned(),
            );
        }
        Ok(scenario)
    }

    /// Reads a scenario from text; `name` stands for the file in errors.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown key or a value out of range.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let parse = |error: toml::de::Error| ScenarioError::Parse {
            file: name.to_string(),
            problem: error.to_string().trim_end().to_string(),
        };
        let mut scenario: Self = toml::from_str(text).map_err(parse)?;
        if let Some(calibrated) = &scenario.calibrated {
            let document: toml::Table = text.parse().map_err(parse)?;
            let sets = |table: &str, key: &str| {
                document
                    .get(table)
                    .and_then(toml::Value::as_table)
                    .is_some_and(|table| table.contains_key(key))
            };
            if !sets("protocol", "capacity_bytes_per_s") {
                scenario.protocol.capacity_bytes_per_s = calibrated.capacity_bytes_per_s;
            }
            if !sets("evaluation", "margin_m") {
                scenario.evaluation.margin_m = calibrated.margin_m;
            }
        }
        let scenario = scenario;
        let value = |problem: String| ScenarioError::Value {
            file: name.to_string(),
            problem,
        };
        scenario
            .protocol
            .validate()
            .map_err(|error| value(format!("protocol.{error}")))?;
        scenario
            .traffic
            .validate()
            .map_err(|error| value(error.to_string()))?;
        scenario
            .channel
            .validate()
            .map_err(|error| value(error.to_string()))?;
        if !(scenario.penetration > 0.0 && scenario.penetration <= 1.0) {
            return Err(value(format!(
                "penetration: found {}, expected above 0 and at most 1 (a share of vehicles)",
                scenario.penetration
            )));
        }
        let (sensing, evaluation) = (&scenario.sensing, &scenario.evaluation);
        for (field, x, high) in [
            ("sensing.range_m", sensing.range_m, 1_000.0),
            ("sensing.above_roof_m", sensing.above_roof_m, 100.0),
            (
                "sensing.above_ground_m",
                sensing.above_ground_m.unwrap_or(0.0),
                100.0,
            ),
            ("sensing.cell_height_m", sensing.cell_height_m, 100.0),
            (
                "errors.position_error_m",
                scenario.errors.position_error_m,
                20.0,
            ),
            (
                "errors.position_correlation_s",
                scenario.errors.position_correlation_s,
                1e6,
            ),
            (
                "errors.object_error_m",
                scenario.errors.object_error_m,
                20.0,
            ),
            ("evaluation.horizon_s", evaluation.horizon_s, 60.0),
            ("evaluation.margin_m", evaluation.margin_m, 1_000.0),
        ] {
            if !(0.0..=high).contains(&x) {
                return Err(value(format!("{field}: found {x}, expected 0 to {high}")));
            }
        }
        if evaluation.sample_one_in == 0 {
            return Err(value(
                "evaluation.sample_one_in: found 0, expected 1 or more".to_string(),
            ));
        }
        let grid = &scenario.grid;
        for (field, x) in [
            ("grid.origin_x_m", grid.origin_x_m),
            ("grid.origin_y_m", grid.origin_y_m),
            ("grid.azimuth_deg", grid.azimuth_deg),
        ] {
            if !x.is_finite() {
                return Err(value(format!(
                    "{field}: found {x}, expected a finite number"
                )));
            }
        }
        Ok(scenario)
    }

    /// The closed population that SUMO is to keep, with the densities, roads, vehicles and turns of the built-in traffic.
    #[must_use]
    pub fn closed_population(&self) -> ClosedPopulation {
        let traffic = &self.traffic;
        ClosedPopulation {
            main_density: traffic.main_density,
            side_density: traffic.side_density,
            main_edges: traffic.main_edges.clone(),
            heavy_share: traffic.heavy_share,
            turns: traffic.turn_shares,
            lane_change_s: traffic.lane_change_s,
            warmup_s: traffic.warmup_s,
            ..ClosedPopulation::default()
        }
    }

    /// The net's path.
    #[must_use]
    pub fn net(&self) -> PathBuf {
        self.folder.join(&self.map.net)
    }

    /// The polygon files' paths.
    #[must_use]
    pub fn buildings(&self) -> Vec<PathBuf> {
        self.map
            .buildings
            .iter()
            .map(|file| self.folder.join(file))
            .collect()
    }

    /// Reads the map.
    ///
    /// # Errors
    /// A file cannot be read or is broken.
    pub fn read_map(&self) -> Result<(Map, Warnings), ScenarioError> {
        let map = Map::read(&self.net(), &self.buildings(), &MapOptions::default())?;
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_scenario_is_one() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tamagawa/scenario.toml");
        let scenario = Scenario::read(&file).unwrap();
        assert_eq!(scenario.name, "tamagawa");
        let (map, _) = scenario.read_map().unwrap();
        assert!(map.network.left_hand);
        assert_eq!(map.network.signals.len(), 22);
        assert!(map.buildings.len() > 100);
    }

    #[test]
    fn errors_name_the_file_the_key_and_the_fix() {
        let error = |text| Scenario::parse("x.toml", text).unwrap_err().to_string();
        let unknown = error("[map]\nnet = \"a\"\nbuilding = []\n");
        assert!(unknown.starts_with("x.toml: "), "{unknown}");
        assert!(unknown.contains("unknown field `building`"), "{unknown}");
        assert!(unknown.contains("line 3"), "{unknown}");
        assert!(error("").contains("missing field `map`"));
        assert_eq!(
            error("map.net = \"a\"\nprotocol.allowance = 2.0\n"),
            "x.toml: protocol.allowance: found 2, expected above 0 and at most 1 (a share of capacity)"
        );
        assert!(error("map.net = \"a\"\ngrid.azimuth_deg = inf\n").contains("grid.azimuth_deg"));
        assert!(error("map.net = \"a\"\ntraffic.main_density = -1.0\n").contains("main_density"));
    }
}
