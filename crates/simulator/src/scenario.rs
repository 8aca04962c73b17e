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

mod estimates;
mod in_force;
mod keys;
mod retired;
mod schema;
mod sides;

use std::path::{Path, PathBuf};

use covey_parameters::{Key, OutOfRange, Value, parameters};

use covey_protocol::Parameters;
use covey_protocol::beacons::BeaconRule;
use covey_protocol::demand::DemandOptions;
use covey_protocol::security::Security;
use covey_radio::ChannelParameters;
use covey_traffic::builtin::BuiltinConfig;
#[cfg(feature = "files")]
use covey_traffic::sumo::{ClosedPopulation, SumoConfig};
use covey_world::polygons::read_buildings;
use covey_world::{Map, MapError, MapOptions, Network, WarningKind, Warnings};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::de::DeTable;

use crate::calibrated::Calibrated;
use crate::classes::{Classes, TypeRule};
use crate::conduct::Conduct;
use crate::errors::Errors;
use crate::readings::{Evaluation, Senders, Sensing, SizeModel};
use crate::rivals::Rivals;
use crate::stations::Station;

#[cfg(test)]
pub(crate) use estimates::estimate_encoded;
pub use in_force::{Readings, TAKEN};
pub use keys::{ScenarioKey, fields, keys, line, value_key, wrong_key};
pub use schema::{json_schema, markdown};
pub use sides::Side;

/// A scenario, as its file gives it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it is called. Default: the name of its folder.
    #[serde(default)]
    pub name: String,
    /// Roads and buildings. May be left out where a SUMO configuration names them.
    #[serde(default)]
    pub map: MapFiles,
    /// Traffic that others made. Default none: the built-in traffic drives.
    #[serde(default)]
    pub source: TrafficFiles,
    /// Where the grid of cells and tiles lies in the map.
    #[serde(default)]
    pub grid: GridFrame,
    /// The built-in traffic, and the densities of a closed SUMO population.
    #[serde(default)]
    pub traffic: BuiltinConfig,
    /// The protocol's parameters.
    #[serde(default)]
    pub protocol: Parameters,
    /// Choice by demand, for the arms that use it; the sensors' range and the errors of positions are those of `sensing` and
    /// `errors`.
    #[serde(default)]
    pub demand: DemandOptions,
    /// The channel; its capacity is that of the protocol's parameters.
    #[serde(default)]
    pub channel: ChannelParameters,
    /// When everyone checks what to report, in the arms in which nobody is asked.
    #[serde(default)]
    pub senders: Senders,
    /// How published rivals are read, for the arms that are one.
    #[serde(default)]
    pub rivals: Rivals,
    /// How far and from where everyone sees, and what counts as seen.
    #[serde(default)]
    pub sensing: Sensing,
    /// Errors of positions. Default none.
    #[serde(default)]
    pub errors: Errors,
    /// What counts as relevant.
    #[serde(default)]
    pub evaluation: Evaluation,
    /// Share of vehicles that participate.
    #[serde(default = "default_penetration")]
    pub penetration: f64,
    /// Vehicles that do not participate whatever the share, by their number in order of first appearance: for scenarios
    /// small enough to know every vehicle. Default none.
    #[serde(default)]
    pub unequipped: Vec<u32>,
    /// Who is on the road, by class. Default: motor vehicles have radios, others have none.
    #[serde(default)]
    pub classes: Classes,
    /// What differs for types of traffic, by name. Default nothing.
    #[serde(default)]
    pub types: Vec<TypeRule>,
    /// Stations beside the road. Default none.
    #[serde(default)]
    pub stations: Vec<Station>,
    /// How participants behave. Default: by the rules.
    #[serde(default)]
    pub conduct: Conduct,
    /// What messages weigh.
    #[serde(default)]
    pub sizes: SizeModel,
    /// What `covey calibrate` found; takes effect where the file does not set the margin itself.
    #[serde(default)]
    pub calibrated: Option<Calibrated>,
    /// Length of the corridor in km, for the record; nothing is computed from it. Default: none, for maps that are no corridor.
    #[serde(default)]
    pub corridor_km: Option<f64>,
    /// The folder that relative paths start from.
    #[serde(skip)]
    pub folder: PathBuf,
    /// What is to be said of keys of earlier programs that the file has.
    #[serde(skip)]
    pub words: Vec<String>,
}

fn default_penetration() -> f64 {
    Readings::default().penetration
}

/// Roads and buildings.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapFiles {
    /// SUMO network, plain or gzipped; empty where the file leaves it to a SUMO configuration.
    pub net: PathBuf,
    /// SUMO polygons, plain or gzipped. Default none.
    pub buildings: Vec<PathBuf>,
    /// Files of stations beside the road: SUMO's points of interest of type `rsu`. Default none.
    pub stations: Vec<PathBuf>,
}

/// Traffic that others made, and which part of it is taken.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrafficFiles {
    /// A SUMO configuration; SUMO is run for its traffic.
    pub sumocfg: Option<PathBuf>,
    /// Recorded floating-car data on the map's net.
    pub fcd: Option<PathBuf>,
    /// Where our time 0 lies in the traffic's own time, in seconds. Default: where it begins.
    pub begin_s: Option<f64>,
    /// How much of SUMO's traffic before that is simulated, traffic alone, in seconds. Default: all of it.
    pub fill_s: Option<f64>,
    /// Everybody of SUMO's departs later by a time drawn from 0 to this, in seconds.
    pub depart_offset_s: Option<f64>,
}

impl TrafficFiles {
    /// What departures are shifted by where nothing is said, in seconds: enough for seeds to differ in who meets whom, too little to
    /// change a peak hour.
    pub const DEPART_OFFSET_S: f64 = 10.0;
}

#[cfg(feature = "files")]
impl MapFiles {
    /// The map of a SUMO configuration: its net, and `buildings`, or, where there are none, those of its polygon files that have any.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(config: &SumoConfig, buildings: &[PathBuf]) -> Result<Self, ScenarioError> {
        let full = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mut map = Self {
            net: full(&config.net),
            buildings: buildings.to_vec(),
            stations: Vec::new(),
        };
        if buildings.is_empty() {
            let options = MapOptions::default();
            let (network, _) = Network::read(&map.net, options.limits)?;
            for path in &config.polygons {
                let found = read_buildings(
                    path,
                    &options.buildings,
                    network.location.as_ref(),
                    options.limits,
                    &mut Warnings::default(),
                )?;
                if !found.is_empty() {
                    map.buildings.push(full(path));
                }
            }
        }
        Ok(map)
    }
}

parameters! {
    /// Where the grid lies: cells and tiles count from `origin`, along axes turned by `azimuth`.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct GridFrame {
        /// Map x of the grid's origin.
        origin_x_m: f64 = 0.0, unit "m", source "scenario; reading 7";
        /// Map y of the grid's origin.
        origin_y_m: f64 = 0.0, unit "m", source "scenario; reading 7";
        /// Direction of the grid's first axis, counter-clockwise from map east.
        azimuth_deg: f64 = 0.0, unit "°", source "scenario; reading 7";
    }
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
    /// A key is unknown, or a name is none to choose.
    #[error("{file}: line {line}: {problem}")]
    Key {
        /// The scenario file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Which key, and which may be meant.
        problem: String,
    },
    /// The file is not a scenario: not TOML, a value of the wrong kind.
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
    /// A file of buildings has none.
    #[error(
        "{file}: found no building{found}, expected polygons (<poly>) whose type begins with `building`; leave the file out if there are none"
    )]
    NoBuildings {
        /// The polygon file.
        file: String,
        /// What there is instead, if anything.
        found: String,
    },
    /// A file of stations has none.
    #[error(
        "{file}: found no station, expected points (<poi x=… y=…>) whose type begins with `rsu` or `roadside`"
    )]
    NoStations {
        /// The file of points.
        file: String,
    },
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
        scenario.settle_map(file)?;
        let files = std::mem::take(&mut scenario.map.stations);
        for path in &files {
            scenario.add_stations(&scenario.folder.join(path))?;
        }
        Ok(scenario)
    }

    /// Adds the stations of a file of SUMO's points of interest.
    ///
    /// # Errors
    /// The file cannot be read, or has no station.
    pub fn add_stations(&mut self, file: &Path) -> Result<(), ScenarioError> {
        let stations = Station::read(file)?;
        if stations.is_empty() {
            return Err(ScenarioError::NoStations {
                file: file.display().to_string(),
            });
        }
        self.stations.extend(stations);
        Ok(())
    }

    /// Takes the net, and buildings where none are named, from the SUMO configuration, if the file leaves the map to it.
    fn settle_map(&mut self, file: &Path) -> Result<(), ScenarioError> {
        let (true, Some(config)) = (self.map.net.as_os_str().is_empty(), self.sumocfg()) else {
            return Ok(());
        };
        self.take_map(file, &config)
    }

    #[cfg(feature = "files")]
    fn take_map(&mut self, file: &Path, config: &Path) -> Result<(), ScenarioError> {
        let config = SumoConfig::read(config).map_err(|error| ScenarioError::Value {
            file: file.display().to_string(),
            problem: format!("source.sumocfg: {error}"),
        })?;
        let stations = std::mem::take(&mut self.map.stations);
        self.map = MapFiles {
            stations,
            ..MapFiles::of(&config, &self.map.buildings)?
        };
        Ok(())
    }

    #[cfg(not(feature = "files"))]
    fn take_map(&mut self, file: &Path, config: &Path) -> Result<(), ScenarioError> {
        Err(ScenarioError::Value {
            file: file.display().to_string(),
            problem: format!(
                "source.sumocfg: found {}, but this program reads no files",
                config.display()
            ),
        })
    }

    /// The SUMO configuration's path.
    #[must_use]
    pub fn sumocfg(&self) -> Option<PathBuf> {
        let file = self.source.sumocfg.as_ref()?;
        Some(self.folder.join(file))
    }

    /// The path of recorded floating-car data.
    #[must_use]
    pub fn fcd(&self) -> Option<PathBuf> {
        Some(self.folder.join(self.source.fcd.as_ref()?))
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
        let document = DeTable::parse(text).map_err(parse)?;
        if let Some(wrong) = keys::first_wrong(text, document.get_ref()) {
            return Err(ScenarioError::Key {
                file: name.to_string(),
                line: wrong.line(text),
                problem: wrong.problem,
            });
        }
        let words = retired::words(document.get_ref());
        let mut scenario: Self = if words.is_empty() {
            toml::from_str(text).map_err(parse)?
        } else {
            let mut table: toml::Table = toml::from_str(text).map_err(parse)?;
            retired::modernise(&mut table);
            // Written and read again, so that a scenario is read in one way alone. Lines would be those of what was written.
            let problem = |problem: String| ScenarioError::Parse {
                file: name.to_string(),
                problem,
            };
            let text = toml::to_string(&table).map_err(|error| problem(error.to_string()))?;
            toml::from_str(&text).map_err(|error| problem(error.message().to_string()))?
        };
        scenario.words = words;
        if let Some(calibrated) = &scenario.calibrated
            && !sets(document.get_ref(), "evaluation", "margin_m")
        {
            scenario.evaluation.margin_m = calibrated.margin_m;
        }
        let wrong = |problem: String| ScenarioError::Value {
            file: name.to_string(),
            problem,
        };
        scenario.check().map_err(|error| wrong(error.to_string()))?;
        scenario.check_source().map_err(wrong)?;
        Ok(scenario)
    }

    /// Checks that map and traffic go together.
    fn check_source(&self) -> Result<(), String> {
        let TrafficFiles {
            sumocfg,
            fcd,
            begin_s,
            fill_s,
            depart_offset_s,
        } = &self.source;
        if sumocfg.is_some() && fcd.is_some() {
            return Err("source: found both `sumocfg` and `fcd`, expected one of them".to_string());
        }
        if self.map.net.as_os_str().is_empty() && sumocfg.is_none() {
            return Err(
                "missing field `map`: expected `net` in it, or `sumocfg` in `source`".to_string(),
            );
        }
        if sumocfg.is_none() && (fill_s.is_some() || depart_offset_s.is_some()) {
            return Err(
                "source: `fill_s` and `depart_offset_s` are for `sumocfg` alone".to_string(),
            );
        }
        if sumocfg.is_none() && fcd.is_none() && begin_s.is_some() {
            return Err("source: `begin_s` is for `sumocfg` and `fcd` alone".to_string());
        }
        Ok(())
    }

    /// Checks every number.
    fn check(&self) -> Result<(), OutOfRange> {
        if let Some(calibrated) = &self.calibrated {
            let problem = |error: OutOfRange| error.within(&Key::ROOT.join("calibrated"));
            calibrated.validate().map_err(problem)?;
        }
        let corridor = fields().iter().find(|field| field.name == "corridor_km");
        if let (Some(field), Some(km)) = (corridor, self.corridor_km) {
            field.check(&Key::ROOT.join(field.name), &Value::Number(km))?;
        }
        for (name, value) in [
            ("begin_s", self.source.begin_s),
            ("fill_s", self.source.fill_s),
            ("depart_offset_s", self.source.depart_offset_s),
        ] {
            let field = keys::SOURCE.iter().find(|field| field.name == name);
            if let (Some(field), Some(value)) = (field, value) {
                let key = Key::ROOT.join("source");
                field.check(&key.join(name), &Value::Number(value))?;
            }
        }
        for rule in &self.types {
            let problem = |error: OutOfRange| error.within(&Key::ROOT.join("types"));
            rule.outfit.validate().map_err(problem)?;
        }
        for station in &self.stations {
            let problem = |error: OutOfRange| error.within(&Key::ROOT.join("stations"));
            station.validate().map_err(problem)?;
        }
        self.sections().validate()
    }

    /// The closed population that SUMO is to keep, with the densities, roads, vehicles and turns of the built-in traffic.
    #[cfg(feature = "files")]
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

    /// Encoded messages weigh more on the channel than a capture of them holds: they are signed, or as large as measured ones.
    #[must_use]
    pub fn carries_more_than_is_captured(&self) -> bool {
        let p = &self.protocol;
        let more = p.security != Security::None || p.beacons == BeaconRule::Measured;
        more && self.sizes == SizeModel::Uper
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
        let options = MapOptions::default();
        let (network, mut warnings) = Network::read(&self.net(), options.limits)?;
        let mut buildings = Vec::new();
        for path in self.buildings() {
            let others = warnings.count(WarningKind::OtherPolygon);
            let found = read_buildings(
                &path,
                &options.buildings,
                network.location.as_ref(),
                options.limits,
                &mut warnings,
            )?;
            if found.is_empty() {
                let others = warnings.count(WarningKind::OtherPolygon) - others;
                return Err(ScenarioError::NoBuildings {
                    file: path.display().to_string(),
                    found: match others {
                        0 => String::new(),
                        1 => " in its polygon".to_string(),
                        others => format!(" among {others} polygons"),
                    },
                });
            }
            buildings.extend(found);
        }
        Ok((Map { network, buildings }, warnings))
    }
}

/// The file itself gives `key` of `section`.
fn sets(document: &DeTable<'_>, section: &str, key: &str) -> bool {
    let section = document.iter().find(|(name, _)| name.get_ref() == section);
    section
        .and_then(|(_, value)| value.get_ref().as_table())
        .is_some_and(|table| table.iter().any(|(name, _)| name.get_ref() == key))
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
        let error = |text: &str| Scenario::parse("x.toml", text).unwrap_err().to_string();
        let unknown = error("[map]\nnet = \"a\"\nbuilding = []\n");
        assert!(unknown.starts_with("x.toml: "), "{unknown}");
        assert!(unknown.contains("unknown field `building`"), "{unknown}");
        assert!(unknown.contains("line 3"), "{unknown}");
        assert!(unknown.ends_with("did you mean `buildings`?"), "{unknown}");
        for key in [
            "demand.threshold",
            "demand.course.sight_trust",
            "evaluation.margin_m",
            "channel.range_los_m",
        ] {
            let nan = error(&format!("map.net = \"a\"\n{key} = nan\n"));
            assert!(
                nan.starts_with(&format!("x.toml: {key}: found NaN, expected ")),
                "{nan}"
            );
        }
        assert!(error("").contains("missing field `map`"));
        assert_eq!(
            error("map.net = \"a\"\nprotocol.allowance = 2.0\n"),
            "x.toml: protocol.allowance: found 2, expected above 0 and at most 1 (a share of capacity)"
        );
        assert!(error("map.net = \"a\"\ngrid.azimuth_deg = inf\n").contains("grid.azimuth_deg"));
        assert!(error("map.net = \"a\"\ntraffic.main_density = -1.0\n").contains("main_density"));
    }
}
