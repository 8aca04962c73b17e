//! Worlds: a scenario with every parameter settled, its traffic, its arms and its window. A world and a seed make one result.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use covey_simulator::scenario::{MapFiles, wrong_key};
use covey_simulator::stations::Station;
use covey_simulator::{Arm, Scenario, ScenarioError};
use covey_traffic::sumo::SumoConfig;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Table;

use crate::bundled;
use crate::profile::Profile;
use crate::store::{Fingerprint, WorldNote};
use crate::summary::Setting;

/// Where the vehicles of a world come from.
#[derive(Debug, Clone, PartialEq)]
pub enum TrafficSource {
    /// Covey's own, with the scenario's densities.
    Builtin,
    /// SUMO, with a closed population of the scenario's densities.
    Sumo,
    /// SUMO, running somebody's own configuration.
    SumoConfig(PathBuf),
    /// Floating-car data that somebody recorded.
    Recorded(PathBuf),
}

impl TrafficSource {
    /// The source that a scenario names; the built-in traffic where it names none.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        match (scenario.sumocfg(), scenario.fcd()) {
            (Some(config), _) => Self::SumoConfig(config),
            (None, Some(file)) => Self::Recorded(file),
            (None, None) => Self::Builtin,
        }
    }

    /// Every seed has traffic of its own.
    #[must_use]
    pub fn varies(&self) -> bool {
        !matches!(self, Self::Recorded(_))
    }

    /// Its name in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Sumo => "sumo",
            Self::SumoConfig(_) => "sumocfg",
            Self::Recorded(_) => "fcd",
        }
    }
}

/// Why a world cannot be made.
#[derive(Debug, Error)]
pub enum WorldError {
    /// The scenario, or what was changed in it, is wrong.
    #[error("{file}: {problem}")]
    Scenario {
        /// The scenario file, as it was given.
        file: String,
        /// Which key, what was found, what was expected.
        problem: String,
    },
    /// A file that results depend on cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file that was named.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A scenario file before anything is changed in it.
#[derive(Debug, Clone)]
pub struct Base {
    file: String,
    table: Table,
    folder: PathBuf,
    /// Files that traffic of others depends on.
    inputs: Vec<PathBuf>,
}

impl Base {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read or is no scenario.
    pub fn read(file: &Path) -> Result<Self, WorldError> {
        // Read as it is first, for errors with lines that the person can look up.
        let name = file.display().to_string();
        let scenario = Scenario::read(file).map_err(|error| WorldError::Scenario {
            file: name.clone(),
            problem: without_prefix(&error.to_string(), &name),
        })?;
        let text = std::fs::read_to_string(file).map_err(|source| WorldError::Read {
            path: file.to_path_buf(),
            source,
        })?;
        let mut table: Table = toml::from_str(&text).map_err(|error| WorldError::Scenario {
            file: name.clone(),
            problem: error.to_string(),
        })?;
        table.insert("name".to_string(), scenario.name.clone().into());
        // What the scenario takes from a SUMO configuration stands in it from now on.
        let files = map_table(&scenario.map.net, &scenario.map.buildings);
        table.insert("map".to_string(), files.into());
        let inputs = inputs(&scenario)?;
        let mut base = Self {
            file: name,
            table,
            folder: scenario.folder,
            inputs,
        };
        base.put_stations(&scenario.stations)?;
        Ok(base)
    }

    /// Adds stations beside the road from a file of SUMO's points of interest.
    ///
    /// # Errors
    /// The file cannot be read, or has no station.
    pub fn add_stations(&mut self, file: &Path) -> Result<(), WorldError> {
        let wrong = |problem: String| WorldError::Scenario {
            file: file.display().to_string(),
            problem: without_prefix(&problem, &file.display().to_string()),
        };
        let mut scenario = self.with(&[])?.scenario;
        scenario
            .add_stations(file)
            .map_err(|error| wrong(error.to_string()))?;
        self.put_stations(&scenario.stations)
    }

    /// Stations, of whichever file, stand in the scenario from now on.
    fn put_stations(&mut self, stations: &[Station]) -> Result<(), WorldError> {
        if stations.is_empty() {
            return Ok(());
        }
        let stations = toml::Value::try_from(stations).map_err(|error| WorldError::Scenario {
            file: self.file.clone(),
            problem: error.to_string(),
        })?;
        self.table.insert("stations".to_string(), stations);
        Ok(())
    }

    /// A SUMO configuration as a scenario, with defaults for everything else. Buildings that are not named may be among the
    /// configuration's own polygons.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn from_sumocfg(
        name: &str,
        file: &Path,
        buildings: &[PathBuf],
    ) -> Result<Self, WorldError> {
        let wrong = |problem: String| WorldError::Scenario {
            file: file.display().to_string(),
            problem: without_prefix(&problem, &file.display().to_string()),
        };
        let config = SumoConfig::read(file).map_err(|error| wrong(error.to_string()))?;
        let map = MapFiles::of(&config, buildings).map_err(|error| wrong(error.to_string()))?;
        let mut base = Self::from_map(name, &map.net, &map.buildings);
        base.source("sumocfg", file);
        base.file = file.display().to_string();
        base.inputs = config.inputs;
        Ok(base)
    }

    /// Recorded floating-car data on a net as a scenario, with defaults for everything else.
    #[must_use]
    pub fn from_recording(name: &str, net: &Path, fcd: &Path, buildings: &[PathBuf]) -> Self {
        let mut base = Self::from_map(name, net, buildings);
        base.source("fcd", fcd);
        base.inputs = vec![fcd.to_path_buf()];
        base
    }

    fn source(&mut self, key: &str, file: &Path) {
        let mut source = Table::new();
        source.insert(key.to_string(), path_value(file));
        self.table.insert("source".to_string(), source.into());
    }

    /// A scenario without a file of its own: a net, buildings, and defaults for everything else.
    #[must_use]
    pub fn from_map(name: &str, net: &Path, buildings: &[PathBuf]) -> Self {
        let map = map_table(net, buildings);
        let mut table = Table::new();
        table.insert("name".to_string(), name.into());
        table.insert("map".to_string(), map.into());
        Self {
            file: net.display().to_string(),
            table,
            folder: PathBuf::new(),
            inputs: Vec::new(),
        }
    }

    /// The scenario with `changes`, each a dotted key and its value.
    ///
    /// # Errors
    /// A key is unknown, or a value is of the wrong kind or out of range.
    pub fn with(&self, changes: &[(String, toml::Value)]) -> Result<Changed, WorldError> {
        let wrong = |problem: String| WorldError::Scenario {
            file: self.file.clone(),
            problem,
        };
        let mut table = self.table.clone();
        for (key, value) in changes {
            let fixed = ["name", "map", "source", "source.sumocfg", "source.fcd"];
            if fixed.contains(&key.as_str()) || key.starts_with("map.") {
                return Err(wrong(format!(
                    "{key}: cannot be changed here; write a scenario file for another map or other traffic"
                )));
            }
            if let Some(problem) = wrong_key(key) {
                return Err(wrong(problem));
            }
            set(&mut table, key, value.clone()).map_err(&wrong)?;
        }
        let text = toml::to_string(&table).map_err(|error| wrong(error.to_string()))?;
        let mut scenario = Scenario::parse(&self.file, &text).map_err(|error| match error {
            // Lines of a text that nobody has written help nobody; what is wrong stands last.
            ScenarioError::Key { problem, .. } => wrong(problem),
            error => {
                let error = without_prefix(&error.to_string(), &self.file);
                let last = error.lines().next_back().unwrap_or_default();
                wrong(last.to_string())
            }
        })?;
        scenario.folder.clone_from(&self.folder);
        let mut settled = String::new();
        flatten("", &toml::Value::Table(table), &mut settled);
        Ok(Changed {
            scenario,
            settled,
            inputs: self.inputs.clone(),
        })
    }
}

fn path_value(path: &Path) -> toml::Value {
    toml::Value::String(path.to_string_lossy().into_owned())
}

fn map_table(net: &Path, buildings: &[PathBuf]) -> Table {
    let mut map = Table::new();
    map.insert("net".to_string(), path_value(net));
    let buildings = buildings.iter().map(|path| path_value(path)).collect();
    map.insert("buildings".to_string(), toml::Value::Array(buildings));
    map
}

/// Files that the traffic of a scenario depends on, where others made it.
fn inputs(scenario: &Scenario) -> Result<Vec<PathBuf>, WorldError> {
    if let Some(config) = scenario.sumocfg() {
        let config = SumoConfig::read(&config).map_err(|error| WorldError::Scenario {
            file: config.display().to_string(),
            problem: without_prefix(&error.to_string(), &config.display().to_string()),
        })?;
        return Ok(config.inputs);
    }
    Ok(scenario.fcd().into_iter().collect())
}

fn without_prefix(text: &str, file: &str) -> String {
    text.strip_prefix(&format!("{file}: "))
        .unwrap_or(text)
        .to_string()
}

/// A scenario, and every key that is given for it as sorted lines.
#[derive(Debug, Clone)]
pub struct Changed {
    /// With all changes in it.
    pub scenario: Scenario,
    settled: String,
    inputs: Vec<PathBuf>,
}

fn set(table: &mut Table, key: &str, value: toml::Value) -> Result<(), String> {
    let (parents, name) = match key.rsplit_once('.') {
        Some((parents, name)) => (parents.split('.').collect(), name),
        None => (Vec::new(), key),
    };
    let mut at = table;
    for parent in parents {
        at = at
            .entry(parent)
            .or_insert_with(|| Table::new().into())
            .as_table_mut()
            .ok_or_else(|| format!("{key}: `{parent}` has no keys of its own"))?;
    }
    at.insert(name.to_string(), value);
    Ok(())
}

/// Every key with its value, a line each, sorted: the same text whatever the file's layout.
fn flatten(key: &str, value: &toml::Value, lines: &mut String) {
    match value {
        toml::Value::Table(table) => {
            let mut keys: Vec<&String> = table.keys().collect();
            keys.sort();
            for name in keys {
                let full = if key.is_empty() {
                    name.clone()
                } else {
                    format!("{key}.{name}")
                };
                flatten(&full, &table[name], lines);
            }
        }
        value => {
            // Writing into text cannot fail.
            let _ = writeln!(lines, "{key} = {value}");
        }
    }
}

/// The key of the margin d_min.
pub const MARGIN: &str = "evaluation.margin_m";

/// A margin d_min that was fitted to a world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// In metres.
    pub margin_m: f64,
    /// The deficit of `cam-only` with it, on the seeds of the fit.
    pub cam_only_deficit: f64,
}

/// A world: all that a run needs but the seed.
#[derive(Debug, Clone)]
pub struct World {
    /// What sets it apart from other worlds of its sweep: keys and values; empty for a single world.
    pub values: Vec<(String, toml::Value)>,
    /// Map, parameters and readings.
    pub scenario: Scenario,
    /// Where its vehicles come from.
    pub traffic: TrafficSource,
    /// The arms, in the order of tables.
    pub arms: Vec<Arm>,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Length of the measured window, in seconds.
    pub measure_s: f64,
    /// A run too short to take its figures for results.
    pub quick: bool,
    /// The profile that its readings come from, if it was asked for by name.
    pub profile: Option<Profile>,
    /// Calibration seeds on which d_min is fitted before the world is run; none: it stays as the scenario says.
    pub refit: Vec<u64>,
    /// The margin that was fitted, once it is in force.
    pub fit: Option<Fit>,
    /// Files that results depend on, with the hash of each.
    pub files: Vec<(String, String)>,
    settled: String,
}

impl World {
    /// A world with vehicles from `traffic`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn new(
        changed: Changed,
        traffic: TrafficSource,
        arms: Vec<Arm>,
        window: (f64, f64),
    ) -> Result<Self, WorldError> {
        let Changed {
            scenario,
            settled,
            mut inputs,
        } = changed;
        if matches!(traffic, TrafficSource::Builtin | TrafficSource::Sumo) {
            inputs.clear();
        }
        let mut files = Vec::new();
        for path in [scenario.net()]
            .into_iter()
            .chain(scenario.buildings())
            .chain(inputs)
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files.push((name.into_owned(), hash_file(&path)?));
        }
        Ok(Self {
            values: Vec::new(),
            scenario,
            traffic,
            arms,
            warmup_s: window.0,
            measure_s: window.1,
            quick: false,
            profile: None,
            refit: Vec::new(),
            fit: None,
            files,
            settled,
        })
    }

    /// Everything that this world's results depend on besides seed and arm. `program` stands for the program's own version.
    #[must_use]
    pub fn fingerprint(&self, program: &str) -> Fingerprint {
        let window = format!("{:?} {:?}", self.warmup_s, self.measure_s);
        let settled: String = self
            .settled()
            .fold(String::new(), |text, line| text + line + "\n");
        let mut parts: Vec<(&str, &[u8])> = vec![
            ("program", program.as_bytes()),
            ("scenario", settled.as_bytes()),
            ("traffic", self.traffic.name().as_bytes()),
            ("window", window.as_bytes()),
        ];
        // A fitted margin follows from these seeds and the rest: worlds that are not fitted yet have the fingerprint that they will have.
        let refit = format!("{:?}", self.refit);
        if !self.refit.is_empty() {
            parts.push(("refit", refit.as_bytes()));
        }
        for (_, hash) in &self.files {
            parts.push(("file", hash.as_bytes()));
        }
        Fingerprint::new(parts)
    }

    /// All that its road depends on besides the seed: worlds that say the same here differ in what arms do alone, and can be run
    /// over one road.
    #[must_use]
    pub fn road(&self) -> String {
        format!(
            "traffic {:?}\nwindow {:?} {:?}\nfiles {:?}\n{}",
            self.traffic,
            self.warmup_s,
            self.measure_s,
            self.files,
            self.scenario.road()
        )
    }

    /// The names of its arms, in the order of tables.
    #[must_use]
    pub fn arm_names(&self) -> Vec<String> {
        self.arms.iter().map(ToString::to_string).collect()
    }

    /// What its fingerprint stands for, in words.
    #[must_use]
    pub fn note(&self, program: &str, revision: &str) -> WorldNote {
        WorldNote {
            program: program.to_string(),
            revision: revision.to_string(),
            scenario: self.scenario.name.clone(),
            values: self.label(),
            traffic: self.traffic.name().to_string(),
            window: format!("{} s + {} s", self.warmup_s, self.measure_s),
        }
    }

    /// Every key that the scenario gives, with its value, a line each. Paths may differ from machine to machine and are left
    /// out: contents count.
    pub(crate) fn settled(&self) -> impl Iterator<Item = &str> {
        self.settled.lines().filter(|line| {
            let path = ["map.", "source.sumocfg ", "source.fcd "];
            !path.iter().any(|beginning| line.starts_with(beginning))
        })
    }

    /// The world with the margin that was fitted to it, which tables and names show from now on.
    pub fn put_into_force(&mut self, fit: Fit) {
        self.scenario.evaluation.margin_m = fit.margin_m;
        self.fit = Some(fit);
        self.values.retain(|(key, _)| key != MARGIN);
        self.values.push((MARGIN.to_string(), fit.margin_m.into()));
    }

    /// What the summary says of this world.
    #[must_use]
    pub fn setting(&self, revision: &str) -> Setting {
        Setting {
            revision: revision.to_string(),
            readings: self.scenario.readings(),
            scenario: self.scenario.name.clone(),
            files: self.files.clone(),
            corridor_km: self.scenario.corridor_km,
            capacity_bytes_per_s: self.scenario.protocol.capacity_bytes_per_s,
            warmup_s: self.warmup_s,
            measure_s: self.measure_s,
            traffic: self.traffic.name().to_string(),
            quick: self.quick,
            letters: self.files.iter().any(|(_, hash)| bundled::is_net(hash)),
            profile: self.profile,
        }
    }

    /// The values that set it apart, for people.
    #[must_use]
    pub fn label(&self) -> String {
        let values: Vec<String> = self
            .values
            .iter()
            .map(|(key, value)| match value {
                toml::Value::String(text) => format!("{key} = {text}"),
                value => format!("{key} = {value}"),
            })
            .collect();
        values.join(", ")
    }
}

/// The hash of a file's content, as 32 hexadecimal digits.
///
/// # Errors
/// The file cannot be read.
pub fn hash_file(path: &Path) -> Result<String, WorldError> {
    // Worlds of a plan share their files, which may be large.
    static KNOWN: Mutex<BTreeMap<HashKey, String>> = Mutex::new(BTreeMap::new());
    let key = std::fs::metadata(path).and_then(|meta| {
        let changed = meta.modified()?;
        Ok((path.to_path_buf(), meta.len(), changed))
    });
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(key) = &key
        && let Some(hash) = known().get(key)
    {
        return Ok(hash.clone());
    }
    let read = || -> std::io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(path)?)?;
        Ok(hasher.finalize().to_hex()[..32].to_string())
    };
    let hash = read().map_err(|source| WorldError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    if let Ok(key) = key {
        known().insert(key, hash.clone());
    }
    Ok(hash)
}

/// A file as it was at some time: path, length, last change.
type HashKey = (PathBuf, u64, SystemTime);

#[cfg(test)]
mod tests {
    use super::*;

    fn toy() -> Base {
        Base::from_map(
            "toy",
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../scenarios/toy/straight/straight.net.xml"),
            &[],
        )
    }

    fn world(changes: &[(&str, toml::Value)]) -> World {
        let changes: Vec<(String, toml::Value)> = changes
            .iter()
            .map(|(key, value)| ((*key).to_string(), value.clone()))
            .collect();
        World::new(
            toy().with(&changes).unwrap(),
            TrafficSource::Builtin,
            vec!["cam-only".parse().unwrap()],
            (1.0, 2.0),
        )
        .unwrap()
    }

    #[test]
    fn everything_that_counts_is_in_the_fingerprint() {
        let base = world(&[]).fingerprint("p");
        assert_eq!(base, world(&[]).fingerprint("p"));
        assert_ne!(base, world(&[]).fingerprint("q"));
        assert_ne!(base, world(&[("penetration", 0.5.into())]).fingerprint("p"));
        let change = |change: fn(&mut World)| {
            let mut world = world(&[]);
            change(&mut world);
            world.fingerprint("p")
        };
        assert_ne!(base, change(|w| w.traffic = TrafficSource::Sumo));
        assert_ne!(base, change(|w| w.warmup_s = 1.5));
        // Arms have results of their own, whichever run with them.
        assert_eq!(base, change(|w| w.arms.push("oracle".parse().unwrap())));
        assert_ne!(base, change(|w| w.files[0].1 = "0".to_string()));
        assert_ne!(base, change(|w| w.refit.push(1001)));
        assert_eq!(base, change(|w| w.values.push(("a".to_string(), 1.into()))));
    }

    #[test]
    fn wrong_changes_are_told_apart() {
        let error = |key: &str, value: toml::Value| {
            toy()
                .with(&[(key.to_string(), value)])
                .unwrap_err()
                .to_string()
        };
        assert!(
            error("protocol.targt", 0.3.into())
                .ends_with("unknown field `targt` in `protocol`: did you mean `target`?")
        );
        assert!(
            error("channel.capacity_bytes_per_s", 1e5.into())
                .contains("set `protocol.capacity_bytes_per_s`")
        );
        assert!(
            error("protocol.target", "much".into())
                .contains("protocol.target: found \"much\", expected above 0 and at most 1")
        );
        assert!(error("penetration", 0.0.into()).contains("penetration: found 0"));
        assert!(
            error("penetration.x", 0.1.into()).contains("penetration: found a section of keys")
        );
        assert!(error("map.net", "x".into()).contains("cannot be changed"));
        assert_eq!(
            world(&[("protocol.target", 0.2.into())])
                .scenario
                .protocol
                .target,
            0.2
        );
    }

    #[test]
    fn every_reading_is_written_down() {
        let setting = world(&[("sizes", "uper".into())]).setting("r");
        let readings = serde_json::to_value(&setting.readings).unwrap();
        assert_eq!(readings["sizes"], "uper");
        assert_eq!(readings["protocol"]["target"], 0.3);
        assert_eq!(readings["traffic"]["main_density"], 43.08);
        for part in [
            "channel",
            "conduct",
            "demand",
            "errors",
            "evaluation",
            "grid",
            "sensing",
        ] {
            assert!(readings[part].is_object(), "{part}");
        }
    }
}
