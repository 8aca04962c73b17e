//! Sweeps: a plan file names worlds, arms and seeds.
//!
//! ```toml
//! name = "density-penetration"
//! scenario = "../scenarios/tamagawa/scenario.toml"   # left out: the bundled one
//! traffic = "builtin"                                # or "sumo"; left out: as the scenario says
//!                                                    # in place of `scenario`: sumocfg = "city.sumocfg", or net and fcd; with buildings = [...]
//! arms = ["cam-only", "proposed@0.4"]                # left out: the letter's sixteen
//! seeds = "101..=117"                                # or a list
//! warmup_s = 40.0
//! measure_s = 40.0
//! cycles = false                                     # true: keep every cycle, too
//! refit_margin = "1001..=1004"                       # fit d_min to each world on these seeds; left out: as the scenario says
//!
//! [set]                                              # for all worlds
//! "protocol.target" = 0.3
//!
//! [vary]                                             # every combination
//! "traffic.main_density" = [14.36, 28.72, 43.08]
//! penetration = [0.2, 0.8]
//!
//! [[variant]]                                        # besides the base, one at a time
//! name = "closing speed"
//! set = { "evaluation.relative_speed" = "closing" }
//! ```
//! Keys of `set`, `vary` and variants are those of the scenario file, dotted. Everything is checked before anything runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use covey_parameters::unknown_field;
use covey_simulator::scenario::{line, value_key, wrong_key};
use covey_simulator::{Arm, Arms};
use serde::Deserialize;
use thiserror::Error;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

pub use crate::plan_scenario::{PlanScenario, name_of};
use crate::seeds;
use crate::world::{Base, MARGIN, TrafficSource, World, WorldError};

/// Runs of a plan: more than this is a slip of the pen.
const MOST_RUNS: usize = 1_000_000;

/// The column of a variant's name.
pub const VARIANT: &str = "variant";
/// The name of the world in which nothing is changed, where a plan has variants.
pub const BASELINE: &str = "base";

/// A plan that was read.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What results are called.
    pub name: String,
    /// What is run.
    pub scenario: PlanScenario,
    /// Where vehicles come from; none: from where the scenario says.
    pub traffic: Option<TrafficSource>,
    /// What is compared in every world.
    pub arms: Vec<Arm>,
    /// Ascending; every world has all of them.
    pub seeds: Vec<u64>,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Length of the measured window, in seconds.
    pub measure_s: f64,
    /// Cycles are kept, too.
    pub cycles: bool,
    /// Calibration seeds on which d_min is fitted to each world; none: it stays as the scenario says.
    pub refit_margin: Vec<u64>,
    file: String,
    set: Vec<(String, Value)>,
    vary: Vec<(String, Vec<Value>)>,
    variants: Vec<Variant>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    name: String,
    #[serde(default)]
    set: Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: Option<String>,
    scenario: Option<PathBuf>,
    sumocfg: Option<PathBuf>,
    net: Option<PathBuf>,
    fcd: Option<PathBuf>,
    #[serde(default)]
    buildings: Vec<PathBuf>,
    traffic: Option<String>,
    arms: Option<Vec<String>>,
    seeds: Seeds,
    warmup_s: Option<f64>,
    measure_s: Option<f64>,
    #[serde(default)]
    cycles: bool,
    refit_margin: Option<Seeds>,
    #[serde(default)]
    set: Table,
    #[serde(default)]
    vary: Table,
    #[serde(default)]
    variant: Vec<Variant>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Seeds {
    List(Vec<i64>),
    Range(String),
}

impl Seeds {
    fn numbers(&self) -> Result<Vec<u64>, String> {
        let whole = |seed: &i64| {
            u64::try_from(*seed)
                .map_err(|_| format!("found {seed}, expected whole numbers from 0 on"))
        };
        match self {
            Self::List(list) => list.iter().map(whole).collect(),
            Self::Range(text) => range(text),
        }
    }
}

/// The keys of a plan, and those of a variant.
const KEYS: [&str; 16] = [
    "name",
    "scenario",
    "sumocfg",
    "net",
    "fcd",
    "buildings",
    "traffic",
    "arms",
    "seeds",
    "warmup_s",
    "measure_s",
    "cycles",
    "refit_margin",
    "set",
    "vary",
    "variant",
];
const VARIANT_KEYS: [&str; 2] = ["name", "set"];

/// The first key that a plan or a scenario does not have, with its line.
fn wrong_keys(text: &str, table: &DeTable<'_>) -> Option<String> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for (key, value) in table {
        let name: &str = key.get_ref();
        match name {
            "set" | "vary" => wrong_scenario_keys(name, "", value.get_ref(), &mut all),
            "variant" => {
                for variant in value.get_ref().as_array().into_iter().flatten() {
                    let keys = variant.get_ref().as_table();
                    for (key, value) in keys.into_iter().flat_map(DeTable::iter) {
                        match key.get_ref().as_ref() {
                            "set" => {
                                wrong_scenario_keys("variant.set", "", value.get_ref(), &mut all);
                            }
                            name if VARIANT_KEYS.contains(&name) => {}
                            name => all.push((
                                key.span().start,
                                unknown_field("variant", name, &VARIANT_KEYS),
                            )),
                        }
                    }
                }
            }
            name if KEYS.contains(&name) => {}
            name => all.push((key.span().start, unknown_field("", name, &KEYS))),
        }
    }
    let (at, problem) = all.into_iter().min_by_key(|(at, _)| *at)?;
    Some(format!("line {}: {problem}", line(text, at)))
}

/// The keys inside `value` that a scenario does not have, where they stand and what is wrong.
fn wrong_scenario_keys(
    place: &str,
    group: &str,
    value: &DeValue<'_>,
    all: &mut Vec<(usize, String)>,
) {
    for (key, value) in value.as_table().into_iter().flat_map(DeTable::iter) {
        let name: &str = key.get_ref();
        let full = match group {
            "" => name.to_string(),
            group => format!("{group}.{name}"),
        };
        match wrong_key(&full) {
            Some(problem) => all.push((key.span().start, format!("{place}.{full}: {problem}"))),
            None => wrong_scenario_keys(place, &full, value.get_ref(), all),
        }
    }
}

/// The keys that are varied, each with its values.
fn varied(vary: &Table) -> Result<Vec<(String, Vec<Value>)>, String> {
    let mut varied = Vec::new();
    for (key, values) in flat(vary) {
        let Value::Array(values) = values else {
            return Err(format!(
                "vary.{key}: found {values}, expected a list of values"
            ));
        };
        if values.is_empty() {
            return Err(format!(
                "vary.{key}: found an empty list, expected at least one value"
            ));
        }
        if let Some(twice) = twice(&values) {
            return Err(format!("vary.{key}: {twice} is given twice"));
        }
        varied.push((key, values));
    }
    Ok(varied)
}

/// The seeds on which d_min is fitted: calibration seeds, in a plan that does not set it.
fn refit(document: &Document) -> Result<Vec<u64>, String> {
    let Some(seeds) = &document.refit_margin else {
        return Ok(Vec::new());
    };
    let problem = |problem: String| format!("refit_margin: {problem}");
    let seeds = seeds
        .numbers()
        .and_then(|seeds| check_seeds(&seeds))
        .map_err(problem)?;
    seeds::check_calibration(&seeds).map_err(problem)?;
    let mut keys = flat(&document.set);
    keys.extend(flat(&document.vary));
    keys.extend(
        document
            .variant
            .iter()
            .flat_map(|variant| flat(&variant.set)),
    );
    match keys.iter().any(|(key, _)| key == MARGIN) {
        true => Err(problem(format!(
            "the plan sets {MARGIN}, which would be replaced; remove one of both"
        ))),
        false => Ok(seeds),
    }
}

/// Names of variants tell them apart.
fn check_names(variants: &[Variant]) -> Result<(), String> {
    let mut names = BTreeSet::from([BASELINE]);
    match variants.iter().find(|variant| !names.insert(&variant.name)) {
        None => Ok(()),
        Some(variant) => Err(format!(
            "variant: the name `{}` is given twice or is that of the unchanged world",
            variant.name
        )),
    }
}

/// Why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The plan, as it was given.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something in it is wrong.
    #[error("{file}: {problem}")]
    Wrong {
        /// The plan, as it was given.
        file: String,
        /// Which field, what was found, what was expected.
        problem: String,
    },
    /// The scenario is wrong, apart from the plan.
    #[error(transparent)]
    World(#[from] WorldError),
}

impl Plan {
    /// Reads a plan whose arms are among those `known`.
    ///
    /// # Errors
    /// The file cannot be read or is no plan: an unknown key, an arm that there is not, a seed given twice, ...
    pub fn read(file: &Path, known: &Arms) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(file).map_err(|source| PlanError::Read {
            file: file.to_path_buf(),
            source,
        })?;
        let mut plan = Self::parse(&file.display().to_string(), &text, known)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        plan.scenario = plan.scenario.within(folder);
        if plan.name.is_empty() {
            plan.name = file.file_stem().map_or_else(
                || "sweep".into(),
                |stem| stem.to_string_lossy().into_owned(),
            );
        }
        Ok(plan)
    }

    /// Reads a plan from text; `file` stands for it in errors.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(file: &str, text: &str, known: &Arms) -> Result<Self, PlanError> {
        let wrong = |problem: String| PlanError::Wrong {
            file: file.to_string(),
            problem,
        };
        let parse = |error: toml::de::Error| wrong(error.to_string().trim_end().to_string());
        if let Some(problem) = wrong_keys(text, DeTable::parse(text).map_err(parse)?.get_ref()) {
            return Err(wrong(problem));
        }
        let mut document: Document = toml::from_str(text).map_err(parse)?;
        let scenario = PlanScenario::new(
            [
                document.scenario.take(),
                document.sumocfg.take(),
                document.net.take(),
                document.fcd.take(),
            ],
            std::mem::take(&mut document.buildings),
        )
        .map_err(wrong)?;
        let refit_margin = refit(&document).map_err(wrong)?;
        let traffic = match document.traffic.as_deref() {
            None => None,
            Some("builtin") => Some(TrafficSource::Builtin),
            Some("sumo") => Some(TrafficSource::Sumo),
            Some(other) => {
                return Err(wrong(format!(
                    "traffic: found `{other}`, expected `builtin` or `sumo`"
                )));
            }
        };
        let arms = match document.arms {
            None => known.letter(),
            Some(names) => {
                arms(&names, known).map_err(|problem| wrong(format!("arms: {problem}")))?
            }
        };
        let seeds = document
            .seeds
            .numbers()
            .and_then(|seeds| check_seeds(&seeds))
            .map_err(|problem| wrong(format!("seeds: {problem}")))?;
        let time = |name: &str, value: Option<f64>, least: f64| {
            let value = value.unwrap_or(40.0);
            if value.is_finite() && value >= least && value <= 86_400.0 {
                Ok(value)
            } else {
                Err(wrong(format!(
                    "{name}: found {value}, expected {least} to 86400 seconds"
                )))
            }
        };
        let vary = varied(&document.vary).map_err(wrong)?;
        check_names(&document.variant).map_err(wrong)?;
        Ok(Self {
            name: document.name.unwrap_or_default(),
            scenario,
            traffic,
            arms,
            seeds,
            warmup_s: time("warmup_s", document.warmup_s, 0.0)?,
            measure_s: time("measure_s", document.measure_s, 0.2)?,
            cycles: document.cycles,
            refit_margin,
            file: file.to_string(),
            set: flat(&document.set),
            vary,
            variants: document.variant,
        })
    }

    /// The worlds of the plan on the scenario `base`, in a fixed order.
    ///
    /// # Errors
    /// A key is unknown, a value out of range, a file unreadable; there are too many worlds.
    pub fn worlds(&self, base: &Base) -> Result<Vec<World>, PlanError> {
        let wrong = |place: &str, error: &WorldError| PlanError::Wrong {
            file: self.file.clone(),
            problem: match error {
                WorldError::Scenario { problem, .. } => format!("{place}: {problem}"),
                error => error.to_string(),
            },
        };
        // Each change alone first, so that an error names its place.
        for parts in self.set.chunk_by(|a, b| value_key(&a.0) == value_key(&b.0)) {
            let given = parts.iter().map(|(key, value)| format!("{key} = {value}"));
            let given: Vec<String> = given.collect();
            base.with(parts)
                .map_err(|error| wrong(&format!("set.{}", given.join(", ")), &error))?;
        }
        for (key, values) in &self.vary {
            for value in values {
                base.with(&[(key.clone(), value.clone())])
                    .map_err(|error| wrong(&format!("vary.{key} = {value}"), &error))?;
            }
        }
        let combinations = self.combinations()?;
        let unchanged = Variant {
            name: BASELINE.to_string(),
            set: Table::new(),
        };
        let mut worlds = Vec::new();
        for variant in [&unchanged].into_iter().chain(&self.variants) {
            let changes = flat(&variant.set);
            base.with(&changes)
                .map_err(|error| wrong(&format!("variant `{}`", variant.name), &error))?;
            for combination in &combinations {
                let mut all = self.set.clone();
                all.extend(combination.iter().cloned());
                all.extend(changes.iter().cloned());
                let changed = base
                    .with(&all)
                    .map_err(|error| wrong(&format!("variant `{}`", variant.name), &error))?;
                let traffic = match &self.traffic {
                    Some(traffic) => traffic.clone(),
                    None => TrafficSource::of(&changed.scenario),
                };
                let mut world = World::new(
                    changed,
                    traffic,
                    self.arms.clone(),
                    (self.warmup_s, self.measure_s),
                )?;
                world.values.clone_from(combination);
                world.refit.clone_from(&self.refit_margin);
                if !self.variants.is_empty() {
                    let name = variant.name.as_str().into();
                    world.values.insert(0, (VARIANT.to_string(), name));
                }
                worlds.push(world);
            }
        }
        Ok(worlds)
    }

    /// Every combination of what is varied.
    fn combinations(&self) -> Result<Vec<Vec<(String, Value)>>, PlanError> {
        let mut combinations: Vec<Vec<(String, Value)>> = vec![Vec::new()];
        for (key, values) in &self.vary {
            let many = combinations.len().saturating_mul(values.len());
            if many.saturating_mul(self.seeds.len()) > MOST_RUNS {
                return Err(PlanError::Wrong {
                    file: self.file.clone(),
                    problem: format!(
                        "more than {MOST_RUNS} runs (worlds x seeds); vary fewer keys at once"
                    ),
                });
            }
            combinations = combinations
                .iter()
                .flat_map(|combination| {
                    values.iter().map(|value| {
                        let mut longer = combination.clone();
                        longer.push((key.clone(), value.clone()));
                        longer
                    })
                })
                .collect();
        }
        Ok(combinations)
    }
}

/// Dotted keys of nested tables: `a.b = 1` and `"a.b" = 1` are the same.
fn flat(table: &Table) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                for (name, value) in flat(inner) {
                    all.push((format!("{key}.{name}"), value));
                }
            }
            value => all.push((key.clone(), value.clone())),
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn twice(values: &[Value]) -> Option<&Value> {
    values
        .iter()
        .enumerate()
        .find(|(i, value)| values[..*i].contains(value))
        .map(|(_, value)| value)
}

/// The arms of these names, among those `known`, in the order of the table of arms: they are a set.
///
/// # Errors
/// None is given, a name is none, or one is given twice.
pub fn arms(names: &[String], known: &Arms) -> Result<Vec<Arm>, String> {
    let mut arms: Vec<Arm> = Vec::new();
    for name in names {
        let arm = known.parse(name).map_err(|error| error.to_string())?;
        if arms.contains(&arm) {
            return Err(format!("`{arm}` is given twice"));
        }
        arms.push(arm);
    }
    if arms.is_empty() {
        return Err("found none, expected at least one (`covey arms` lists them)".to_string());
    }
    arms.sort_by(|a, b| {
        let place = |arm: &Arm| (arm.strategy.order, arm.strategy.name);
        let allowance = |arm: &Arm| arm.allowance.unwrap_or(0.0);
        let by_place = place(a).cmp(&place(b));
        by_place.then(allowance(a).total_cmp(&allowance(b)))
    });
    Ok(arms)
}

/// Seeds in ascending order.
///
/// # Errors
/// There are none, one is given twice, or one is too large.
pub fn check_seeds(seeds: &[u64]) -> Result<Vec<u64>, String> {
    let mut sorted = seeds.to_vec();
    sorted.sort_unstable();
    if sorted.is_empty() {
        return Err("found none, expected at least one".to_string());
    }
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("{} is given twice", pair[0]));
    }
    if let Some(large) = sorted.last().filter(|&&seed| seed > i64::MAX as u64) {
        return Err(format!("found {large}, expected at most {}", i64::MAX));
    }
    Ok(sorted)
}

/// The seeds of `"1..=17"`.
///
/// # Errors
/// The text is no range, or has too many.
pub fn range(text: &str) -> Result<Vec<u64>, String> {
    let ends = text.split_once("..=").and_then(|(first, last)| {
        Some((
            first.trim().parse::<u64>().ok()?,
            last.trim().parse::<u64>().ok()?,
        ))
    });
    match ends {
        Some((first, last)) if first > last => Ok(Vec::new()),
        Some((first, last)) if last - first < MOST_RUNS as u64 => Ok((first..=last).collect()),
        Some(_) => Err(format!(
            "found `{text}`, expected at most {MOST_RUNS} seeds"
        )),
        None => Err(format!(
            "found `{text}`, expected a list such as [1, 2, 3] or a range such as \"1..=17\""
        )),
    }
}

/// Every `count`-th of `items`, beginning with the one at `number` (from 1).
#[must_use]
pub fn shard<T: Clone>(items: &[T], number: usize, count: usize) -> Vec<T> {
    items
        .iter()
        .skip(number.saturating_sub(1))
        .step_by(count.max(1))
        .cloned()
        .collect()
}

/// The shard of `"3/10"`: number from 1, and how many.
///
/// # Errors
/// The text is no shard.
pub fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    match parts {
        Some((i, n)) if (1..=n).contains(&i) => Ok((i, n)),
        _ => Err(format!(
            "found `{text}`, expected I/N with I from 1 to N, such as 3/10"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Base {
        Base::from_map(
            "toy",
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../scenarios/toy/straight/straight.net.xml"),
            &[],
        )
    }

    fn error(text: &str) -> String {
        match Plan::parse("p.toml", text, &Arms::builtin()).and_then(|plan| plan.worlds(&base())) {
            Ok(_) => panic!("no error: {text}"),
            Err(error) => error.to_string(),
        }
    }

    /// The text is no plan, for a reason with `expected` in it.
    fn check(text: &str, expected: &str) {
        let error = error(text);
        assert!(error.starts_with("p.toml: "), "{error}");
        assert!(error.contains(expected), "{error} lacks {expected}");
    }

    #[test]
    fn worlds_are_every_combination_in_a_fixed_order() {
        let plan = Plan::parse(
            "p.toml",
            r#"
            seeds = "1..=3"
            arms = ["oracle"]
            [vary]
            penetration = [0.2, 0.8]
            "traffic.main_density" = [10.0, 20.0, 30.0]
            [[variant]]
            name = "closing"
            set = { "evaluation.relative_speed" = "closing" }
            "#,
            &Arms::builtin(),
        )
        .unwrap();
        assert_eq!(plan.seeds, [1, 2, 3]);
        let worlds = plan.worlds(&base()).unwrap();
        assert_eq!(worlds.len(), 12);
        assert_eq!(
            worlds[1].label(),
            "variant = base, penetration = 0.2, traffic.main_density = 20.0"
        );
        assert_eq!(worlds[1].scenario.traffic.main_density, 20.0);
        let prints: BTreeSet<_> = worlds.iter().map(|w| w.fingerprint("")).collect();
        assert_eq!(prints.len(), 12);
    }

    #[test]
    fn a_table_that_is_one_value_may_stand_in_every_place() {
        let law = |text: &str| {
            let text = format!("seeds = [1]\narms = [\"oracle\"]\n{text}");
            let plan = Plan::parse("p.toml", &text, &Arms::builtin()).unwrap();
            let worlds = plan.worlds(&base()).unwrap();
            let last = worlds.last().unwrap();
            serde_json::to_value(last.scenario.channel.collision).unwrap()
        };
        let table = "{ coefficient = 0.21, exponent = 1.93 }";
        let set = law(&format!("set.\"channel.collision\" = {table}"));
        assert_eq!(set["coefficient"], 0.21, "{set}");
        let section = "[set.channel.collision]\ncoefficient = 0.21\nexponent = 1.93";
        assert_eq!(law(section), set);
        assert_eq!(law(&format!("vary.\"channel.collision\" = [{table}]")), set);
        let variant = format!("[[variant]]\nname = \"law\"\nset.\"channel.collision\" = {table}");
        assert_eq!(law(&variant), set);
        check(
            "seeds = [1]\nset.channel.collision.coefficient = 0.2",
            "set.channel.collision.coefficient = 0.2: ",
        );
    }

    #[test]
    fn bad_plans_are_answered() {
        check(
            "seeds = [1]\nsedes = 1",
            "line 2: unknown field `sedes`: did you mean `seeds`?",
        );
        check(
            "seeds = [1]\n[[variant]]\nname = \"x\"\nsett.sizes = \"uper\"",
            "line 4: unknown field `sett` in `variant`: did you mean `set`?",
        );
        check(
            "seeds = [1]\n[set]\nprotocol.targt = 0.1",
            "line 3: set.protocol.targt: unknown field `targt` in `protocol`: did you mean `target`?",
        );
        check(
            "seeds = [1]\n[[variant]]\nname = \"x\"\nset = { \"demand.vews\" = \"digests\" }",
            "line 4: variant.set.demand.vews: unknown field `vews` in `demand`: did you mean `views`?",
        );
        check(
            "seeds = [1]\nset.channel.capacity_bytes_per_s = 1e5",
            "set `protocol.capacity_bytes_per_s`",
        );
        check("arms = [\"oracle\"]", "missing field `seeds`");
        check("seeds = []", "seeds: found none");
        check("seeds = \"3..=1\"", "seeds: found none");
        check("seeds = [1, 2, 1]", "seeds: 1 is given twice");
        check("seeds = [-1]", "seeds: found -1");
        check("seeds = \"all\"", "a range such as");
        check("seeds = [1]\narms = []", "arms: found none");
        check(
            "seeds = [1]\narms = [\"proposed@0\"]",
            "above 0 and at most 1",
        );
        check(
            "seeds = [1]\narms = [\"proposed@2\"]",
            "above 0 and at most 1",
        );
        check(
            "seeds = [1]\narms = [\"oracle\", \"oracle\"]",
            "`oracle` is given twice",
        );
        check(
            "seeds = [1]\nvary.penetration = [0.5, 0.0]",
            "vary.penetration = 0.0: penetration: found 0",
        );
        check(
            "seeds = [1]\nvary.\"protocol.targt\" = [0.1]",
            "line 2: vary.protocol.targt: unknown field `targt` in `protocol`: did you mean `target`?",
        );
        check(
            "seeds = [1]\nvary.protocol.allowance = [2.0]",
            "protocol.allowance: found 2",
        );
        check("seeds = [1]\nvary.penetration = 0.5", "expected a list");
        check("seeds = [1]\nvary.penetration = []", "an empty list");
        check("seeds = [1]\nvary.penetration = [0.5, 0.5]", "given twice");
        check("seeds = [1]\ntraffic = \"horses\"", "`builtin` or `sumo`");
        check("seeds = [1]\nmeasure_s = 0", "measure_s: found 0");
        check(
            "seeds = [1]\n[[variant]]\nname = \"base\"",
            "the name `base`",
        );
        check(
            "seeds = [1]\n[[variant]]\nname = \"x\"\nset.sizes = \"huge\"",
            "variant `x`: sizes: found \"huge\", expected \"tr103562\"",
        );
        check("seeds = \"0..=2000000\"", "at most 1000000 seeds");
    }

    #[test]
    fn only_calibration_seeds_are_fitted_to_and_only_where_nothing_else_is_said() {
        check(
            "seeds = [1, 2]\nrefit_margin = [2]",
            "refit_margin: found 2, expected calibration seeds, from 1001 on",
        );
        check("seeds = [1]\nrefit_margin = []", "refit_margin: found none");
        check(
            "seeds = [1]\nrefit_margin = [1001, 1001]",
            "refit_margin: 1001 is given twice",
        );
        check(
            "seeds = [1]\nrefit_margin = [1001]\nvary.evaluation.margin_m = [1.0]",
            "refit_margin: the plan sets evaluation.margin_m",
        );
    }

    #[test]
    fn every_world_is_fitted_where_the_plan_says_so() {
        let plan = |text: &str| Plan::parse("p.toml", text, &Arms::builtin()).unwrap();
        // Seeds that only fits have may be in both.
        let fitted = plan("seeds = \"1001..=1010\"\nrefit_margin = \"1001..=1010\"");
        let worlds = fitted.worlds(&base()).unwrap();
        assert_eq!(worlds[0].refit, (1001..=1010).collect::<Vec<u64>>());
        let frozen = plan("seeds = \"1001..=1010\"").worlds(&base()).unwrap();
        assert!(frozen[0].refit.is_empty());
        assert_ne!(worlds[0].fingerprint(""), frozen[0].fingerprint(""));
    }

    #[test]
    fn shards_share_the_work_without_overlap() {
        let items: Vec<u32> = (0..10).collect();
        let mut all: Vec<u32> = (1..=3).flat_map(|i| shard(&items, i, 3)).collect();
        all.sort_unstable();
        assert_eq!(all, items);
        assert_eq!(parse_shard("3/10"), Ok((3, 10)));
        for bad in ["0/3", "4/3", "x", "1/0", "1/x", ""] {
            assert!(parse_shard(bad).is_err(), "{bad}");
        }
    }
}
