//! The summary as the report reads it.
//!
//! Reading is lenient: a field that is missing, null or of the wrong kind is absent, and whatever needs it is left out of the
//! report or said to be missing. A report of half a summary is worth more than none.

use serde_json::Value;

use crate::stats::FEWEST_SEEDS;

/// A mean with its 95 % interval.
pub(crate) use crate::stats::Estimate as Interval;

/// One seed of one arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeedRow {
    pub(crate) seed: u64,
    pub(crate) load: f64,
    pub(crate) relevant: f64,
    pub(crate) missed: f64,
    /// The load of digests.
    pub(crate) digest_load: Option<f64>,
}

/// One arm.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArmView {
    pub(crate) name: String,
    pub(crate) strategy: String,
    pub(crate) allowance: Option<f64>,
    pub(crate) deficit: Option<Interval>,
    pub(crate) load: Option<Interval>,
    /// Mean over all vehicles, those without a radio included.
    pub(crate) deficit_all: Option<f64>,
    pub(crate) digest_load: Option<f64>,
    pub(crate) reports_load: Option<f64>,
    pub(crate) broadcast_load: Option<f64>,
    pub(crate) price: Option<Interval>,
    pub(crate) contributors: Option<f64>,
    pub(crate) digest_bytes: Option<Interval>,
    /// Share of 5 m cells on own paths seen in time, where it was counted.
    pub(crate) path_coverage: Option<f64>,
    /// By seed, ascending.
    pub(crate) seeds: Vec<SeedRow>,
}

impl ArmView {
    /// A host decides in this arm, as far as the name tells.
    pub(crate) fn hosted(&self) -> bool {
        self.allowance.is_some()
    }
}

/// A paired comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) better: String,
    pub(crate) worse: String,
    /// Percentage points.
    pub(crate) points: Option<Interval>,
    /// Share of the worse arm's deficit.
    pub(crate) relative: Option<Interval>,
}

/// What the letter has for an arm.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LetterArm {
    pub(crate) deficit: Option<f64>,
    pub(crate) load: Option<f64>,
}

/// The summary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View<'a> {
    pub(crate) raw: &'a Value,
    /// In the order of tables.
    pub(crate) arms: Vec<ArmView>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) seeds: Vec<u64>,
    /// Too few seeds or too short for intervals to mean anything.
    pub(crate) quick: bool,
}

/// Strategies in the order of tables; others come before the oracle, by name.
const ORDER: [&str; 10] = [
    "cam-only",
    "cpm-etsi",
    "cpm-rmr",
    "random",
    "random-redraw",
    "coverage-only",
    "conditional",
    "conditional-risk",
    "proposed",
    "oracle",
];

impl<'a> View<'a> {
    pub(crate) fn new(raw: &'a Value) -> Self {
        let mut arms: Vec<ArmView> = raw["arms"]
            .as_object()
            .map(|arms| arms.iter().map(|(name, arm)| read_arm(name, arm)).collect())
            .unwrap_or_default();
        arms.sort_by(|a, b| {
            let key = |arm: &ArmView| {
                let known = ORDER.iter().position(|&name| name == arm.strategy);
                match known {
                    Some(i) if i + 1 == ORDER.len() => ORDER.len(),
                    Some(i) => i,
                    None => ORDER.len() - 1,
                }
            };
            key(a)
                .cmp(&key(b))
                .then_with(|| a.strategy.cmp(&b.strategy))
                .then_with(|| {
                    let b_of = |arm: &ArmView| arm.allowance.unwrap_or(0.0);
                    b_of(a).total_cmp(&b_of(b))
                })
        });
        let pairs = raw["paired"]
            .as_array()
            .map(|pairs| {
                pairs
                    .iter()
                    .map(|pair| Pair {
                        better: text(&pair["better"]),
                        worse: text(&pair["worse"]),
                        points: interval(&pair["deficit_reduction_pp"]),
                        relative: interval(&pair["deficit_reduction_rel"]),
                    })
                    .collect()
            })
            .unwrap_or_default();
        let seeds: Vec<u64> = raw["seeds"]
            .as_array()
            .map(|seeds| seeds.iter().filter_map(Value::as_u64).collect())
            .unwrap_or_default();
        let quick = raw["quick"].as_bool() == Some(true)
            || raw["intervals"]["meaningful"].as_bool() == Some(false)
            || seeds.len() < FEWEST_SEEDS;
        Self {
            raw,
            arms,
            pairs,
            seeds,
            quick,
        }
    }

    /// What figures have to say of their intervals where they mean nothing.
    pub(crate) fn caveat(&self) -> Option<String> {
        self.quick.then(|| {
            let seeds = match self.seeds.len() {
                1 => "1 seed".to_string(),
                n => format!("{n} seeds"),
            };
            let measured = number(&self.raw["measure_s"])
                .map_or_else(String::new, |seconds| format!(" of {seconds} s"));
            format!("{seeds}{measured}: intervals are not meaningful.")
        })
    }

    pub(crate) fn arm(&self, name: &str) -> Option<&ArmView> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    pub(crate) fn deficit(&self, name: &str) -> Option<Interval> {
        self.arm(name)?.deficit
    }

    pub(crate) fn load(&self, name: &str) -> Option<Interval> {
        self.arm(name)?.load
    }

    pub(crate) fn pair(&self, better: &str, worse: &str) -> Option<&Pair> {
        self.pairs
            .iter()
            .find(|pair| pair.better == better && pair.worse == worse)
    }

    pub(crate) fn letter(&self, name: &str) -> Option<LetterArm> {
        let arm = self.raw["letter"].get(name)?;
        Some(LetterArm {
            deficit: number(&arm["deficit"]),
            load: number(&arm["load"]),
        })
    }

    /// Allowances at which a strategy was run, ascending.
    pub(crate) fn allowances(&self, strategy: &str) -> Vec<f64> {
        self.arms
            .iter()
            .filter(|arm| arm.strategy == strategy)
            .filter_map(|arm| arm.allowance)
            .collect()
    }

    /// The regional congestion target, as a share of capacity.
    pub(crate) fn target(&self) -> f64 {
        find(self.raw, "target").unwrap_or(0.3)
    }

    /// No arm but the oracle and the omniscient yardstick has at most this arm's deficit at a smaller load, or less deficit at the same load, by the means.
    pub(crate) fn dominated_by(&self, arm: &ArmView) -> Option<&str> {
        let (deficit, load) = (arm.deficit?.mean, arm.load?.mean);
        self.arms
            .iter()
            .filter(|other| !matches!(other.strategy.as_str(), "oracle" | "omniscient"))
            .filter(|other| other.name != arm.name)
            .find(|other| {
                let (Some(d), Some(l)) = (other.deficit, other.load) else {
                    return false;
                };
                d.mean <= deficit && l.mean <= load && (d.mean < deficit || l.mean < load)
            })
            .map(|other| other.name.as_str())
    }
}

fn read_arm(name: &str, arm: &Value) -> ArmView {
    let (strategy, allowance) = match name.split_once('@') {
        Some((strategy, b)) => (strategy, b.parse().ok().filter(|b: &f64| b.is_finite())),
        None => (name, None),
    };
    let mut seeds: Vec<SeedRow> = arm["per_seed"]
        .as_array()
        .map(|rows| {
            rows.iter()
                .filter_map(|row| {
                    Some(SeedRow {
                        seed: row["seed"].as_u64()?,
                        load: number(&row["load"])?,
                        relevant: number(&row["relevant"])?,
                        missed: number(&row["missed"])?,
                        digest_load: number(&row["load_digest"]),
                    })
                })
                .collect()
        })
        .unwrap_or_default();
    seeds.sort_by_key(|row| row.seed);
    seeds.dedup_by_key(|row| row.seed);
    ArmView {
        name: name.to_string(),
        strategy: strategy.to_string(),
        allowance,
        deficit: interval(&arm["deficit"]),
        load: interval(&arm["load"]),
        deficit_all: number(&arm["deficit_all"]["mean"]),
        digest_load: number(&arm["load_parts"]["digest"]),
        reports_load: number(&arm["load_parts"]["reports"]),
        broadcast_load: number(&arm["load_parts"]["broadcast"]),
        price: interval(&arm["price"]),
        contributors: number(&arm["contributors"]["mean"]),
        digest_bytes: interval(&arm["digest_bytes"]),
        path_coverage: number(&arm["path_coverage"]),
        seeds,
    }
}

/// A finite number.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|x| x.is_finite())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn interval(value: &Value) -> Option<Interval> {
    let mean = number(&value["mean"])?;
    Some(Interval {
        mean,
        lo: number(&value["lo"]).unwrap_or(mean),
        hi: number(&value["hi"]).unwrap_or(mean),
    })
}

/// The number under the first key of this name in readings or scenario, however deep.
fn find(raw: &Value, key: &str) -> Option<f64> {
    fn search(value: &Value, key: &str, depth: usize) -> Option<f64> {
        let object = value.as_object()?;
        if let Some(found) = object.get(key) {
            return number(found).or_else(|| number(found.get("value")?));
        }
        if depth == 0 {
            return None;
        }
        object
            .values()
            .find_map(|inner| search(inner, key, depth - 1))
    }
    search(&raw["readings"], key, 4).or_else(|| search(&raw["scenario"], key, 4))
}

/// The arm of a strategy at an allowance.
pub(crate) fn arm_at(strategy: &str, allowance: f64) -> String {
    format!("{strategy}@{allowance}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arms_come_in_the_order_of_tables() {
        let raw = json!({"arms": {
            "oracle": {}, "proposed@0.8": {}, "proposed@0.2": {}, "demand@0.4": {}, "cam-only": {}
        }});
        let view = View::new(&raw);
        let names: Vec<&str> = view.arms.iter().map(|arm| arm.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "cam-only",
                "proposed@0.2",
                "proposed@0.8",
                "demand@0.4",
                "oracle"
            ]
        );
    }

    #[test]
    fn what_is_no_number_is_absent() {
        let raw = json!({"arms": {"cam-only": {
            "deficit": {"mean": null}, "load": {"mean": 0.0},
            "per_seed": [{"seed": 1, "load": 0.0, "relevant": 10, "missed": "x"}]
        }}, "seeds": "many"});
        let view = View::new(&raw);
        let arm = view.arm("cam-only").unwrap();
        assert_eq!(arm.deficit, None);
        assert_eq!(arm.load.map(|load| load.hi), Some(0.0));
        assert!(arm.seeds.is_empty() && view.quick);
    }

    #[test]
    fn an_arm_is_dominated_by_means_and_never_by_the_oracle() {
        let at = |d: f64, l: f64| json!({"deficit": {"mean": d}, "load": {"mean": l}});
        let raw = json!({"arms": {
            "oracle": at(0.01, 0.0), "cam-only": at(0.058, 0.0), "random@0.2": at(0.066, 0.19),
            "proposed@0.2": at(0.049, 0.19), "omniscient@0.2": at(0.001, 0.1)
        }});
        let view = View::new(&raw);
        let by = |name: &str| view.dominated_by(view.arm(name).unwrap());
        assert_eq!(by("random@0.2"), Some("cam-only"));
        assert_eq!(by("proposed@0.2"), None);
        assert_eq!(by("cam-only"), None);
    }

    #[test]
    fn the_target_is_found_where_it_stands() {
        let raw = json!({"readings": {"protocol": {"target": 0.4}}});
        assert!((View::new(&raw).target() - 0.4).abs() < 1e-12);
        let raw = json!({"readings": {"target": {"value": 0.5, "source": "letter"}}});
        assert!((View::new(&raw).target() - 0.5).abs() < 1e-12);
    }
}
