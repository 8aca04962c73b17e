//! Sweeps: a plan file names worlds, arms and seeds.
//!
//! ```toml
//! name = "density-penetration"
//! scenario = "../scenarios/tamagawa/scenario.toml"   # left out: the bundled one
//! traffic = "builtin"                                # or "sumo"
//! arms = ["cam-only", "proposed@0.4"]                # left out: the letter's sixteen
//! seeds = "1..=17"                                   # or a list
//! warmup_s = 40.0
//! measure_s = 40.0
//! cycles = false                                     # true: keep every cycle, too
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

use covey_simulator::Arm;
use serde::Deserialize;
use thiserror::Error;
use toml::{Table, Value};

use crate::world::{Base, TrafficSource, World, WorldError};

/// Runs of a plan: more than this is a slip of the pen.
const MOST_RUNS: usize = 1_000_000;

/// The column of a variant's name.
pub const VARIANT: &str = "variant";
/// The name of the world in which nothing is changed, where a plan has variants.
pub const BASELINE: &str = "base";

/// A plan that was read.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The scenario file; none for the bundled one.
    pub scenario: Option<PathBuf>,
    /// Whose traffic.
    pub traffic: TrafficSource,
    /// The arms.
    pub arms: Vec<Arm>,
    /// The seeds, ascending.
    pub seeds: Vec<u64>,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Seconds measured.
    pub measure_s: f64,
    /// Cycles are kept, too.
    pub cycles: bool,
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
    traffic: Option<String>,
    arms: Option<Vec<String>>,
    seeds: Seeds,
    warmup_s: Option<f64>,
    measure_s: Option<f64>,
    #[serde(default)]
    cycles: bool,
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

/// Why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The plan.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Something in it is wrong.
    #[error("{file}: {problem}")]
    Wrong {
        /// The plan.
        file: String,
        /// Which field, what was found, what was expected.
        problem: String,
    },
    /// The scenario is wrong, apart from the plan.
    #[error(transparent)]
    World(#[from] WorldError),
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// The file cannot be read or is no plan: an unknown key, an arm that there is not, a seed given twice, ...
    pub fn read(file: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(file).map_err(|source| PlanError::Read {
            file: file.to_path_buf(),
            source,
        })?;
        let mut plan = Self::parse(&file.display().to_string(), &text)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        plan.scenario = plan.scenario.map(|scenario| folder.join(scenario));
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
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let wrong = |problem: String| PlanError::Wrong {
            file: file.to_string(),
            problem,
        };
        let document: Document = toml::from_str(text)
            .map_err(|error| wrong(error.to_string().trim_end().to_string()))?;
        let traffic = match document.traffic.as_deref() {
            None | Some("builtin") => TrafficSource::Builtin,
            Some("sumo") => TrafficSource::Sumo,
            Some(other) => {
                return Err(wrong(format!(
                    "traffic: found `{other}`, expected `builtin` or `sumo`"
                )));
            }
        };
        let arms = match document.arms {
            None => Arm::letter(),
            Some(names) => arms(&names).map_err(|problem| wrong(format!("arms: {problem}")))?,
        };
        let seeds = match document.seeds {
            Seeds::List(list) => list
                .iter()
                .map(|&seed| {
                    u64::try_from(seed)
                        .map_err(|_| format!("found {seed}, expected whole numbers from 0 on"))
                })
                .collect::<Result<Vec<u64>, String>>(),
            Seeds::Range(text) => range(&text),
        };
        let seeds = seeds
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
        let mut vary = Vec::new();
        for (key, values) in flat(&document.vary) {
            let Value::Array(values) = values else {
                return Err(wrong(format!(
                    "vary.{key}: found {values}, expected a list of values"
                )));
            };
            if values.is_empty() {
                return Err(wrong(format!(
                    "vary.{key}: found an empty list, expected at least one value"
                )));
            }
            if let Some(twice) = twice(&values) {
                return Err(wrong(format!("vary.{key}: {twice} is given twice")));
            }
            vary.push((key, values));
        }
        let mut names = BTreeSet::from([BASELINE]);
        for variant in &document.variant {
            if !names.insert(&variant.name) {
                return Err(wrong(format!(
                    "variant: the name `{}` is given twice or is that of the unchanged world",
                    variant.name
                )));
            }
        }
        Ok(Self {
            name: document.name.unwrap_or_default(),
            scenario: document.scenario,
            traffic,
            arms,
            seeds,
            warmup_s: time("warmup_s", document.warmup_s, 0.0)?,
            measure_s: time("measure_s", document.measure_s, 0.2)?,
            cycles: document.cycles,
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
        for (key, value) in &self.set {
            base.with(&[(key.clone(), value.clone())])
                .map_err(|error| wrong(&format!("set.{key} = {value}"), &error))?;
        }
        for (key, values) in &self.vary {
            for value in values {
                base.with(&[(key.clone(), value.clone())])
                    .map_err(|error| wrong(&format!("vary.{key} = {value}"), &error))?;
            }
        }
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
                let mut world = World::new(
                    changed,
                    self.traffic.clone(),
                    self.arms.clone(),
                    (self.warmup_s, self.measure_s),
                    &[],
                )?;
                world.values.clone_from(combination);
                if !self.variants.is_empty() {
                    let name = variant.name.as_str().into();
                    world.values.insert(0, (VARIANT.to_string(), name));
                }
                worlds.push(world);
            }
        }
        Ok(worlds)
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

/// The arms of these names.
///
/// # Errors
/// None is given, a name is none, or one is given twice.
pub fn arms(names: &[String]) -> Result<Vec<Arm>, String> {
    let mut arms: Vec<Arm> = Vec::new();
    for name in names {
        let arm: Arm = name
            .parse()
            .map_err(|error: covey_simulator::ArmError| error.to_string())?;
        if arms.contains(&arm) {
            return Err(format!("`{arm}` is given twice"));
        }
        arms.push(arm);
    }
    if arms.is_empty() {
        return Err("found none, expected at least one (`covey arms` lists them)".to_string());
    }
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
fn range(text: &str) -> Result<Vec<u64>, String> {
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
        match Plan::parse("p.toml", text).and_then(|plan| plan.worlds(&base())) {
            Ok(_) => panic!("no error: {text}"),
            Err(error) => error.to_string(),
        }
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
    fn bad_plans_are_answered() {
        let check = |text: &str, expected: &str| {
            let error = error(text);
            assert!(error.starts_with("p.toml: "), "{error}");
            assert!(error.contains(expected), "{error} lacks {expected}");
        };
        check("seeds = [1]\nsedes = 1", "unknown field `sedes`");
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
            "vary.protocol.targt = 0.1: unknown field `targt`",
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
            "variant `x`: unknown variant `huge`",
        );
        check("seeds = \"0..=2000000\"", "at most 1000000 seeds");
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
