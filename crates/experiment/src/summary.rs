//! `summary.json`, schema `covey.summary/1`: what a finished run says in numbers.
//!
//! Made from the outcomes of all seeds alone, so its bytes do not depend on how they were obtained; `timing` and
//! `peak_rss_bytes` are the exception and are filled in by whoever ran the seeds. Deficits and loads are fractions. A field
//! that does not apply to an arm (the price of an arm without hosts) is 0; a ratio with nothing to count is null.

use covey_simulator::{Arm, Outcome, SharedOutcome, Strategy};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::letter::{self, Figures};
use crate::stats::{self, Estimate, Share};

/// Name and version of the format.
pub const SCHEMA: &str = "covey.summary/1";

/// Entries by name, in an order of their own: a JSON object that people can read from top to bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// The entry called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, t)| t)
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Named<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Named(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

/// An estimate with its interval, or nulls where there was nothing to count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end of the 95 % interval.
    pub hi: Option<f64>,
}

impl From<Option<Estimate>> for Interval {
    fn from(estimate: Option<Estimate>) -> Self {
        Self {
            mean: estimate.map(|e| e.mean),
            lo: estimate.map(|e| e.lo),
            hi: estimate.map(|e| e.hi),
        }
    }
}

/// A difference with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Difference {
    /// The estimate.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end of the 95 % interval.
    pub hi: Option<f64>,
    /// Zero lies in the interval: the sign is not decided.
    pub includes_zero: Option<bool>,
}

impl From<Option<Estimate>> for Difference {
    fn from(estimate: Option<Estimate>) -> Self {
        Self {
            mean: estimate.map(|e| e.mean),
            lo: estimate.map(|e| e.lo),
            hi: estimate.map(|e| e.hi),
            includes_zero: estimate.map(Estimate::includes_zero),
        }
    }
}

/// A mean without interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Average {
    /// The mean.
    pub mean: Option<f64>,
}

/// Load by kind of message, fractions of capacity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadParts {
    /// Coverage digests in beacons.
    pub digest: Option<f64>,
    /// Reports.
    pub reports: Option<f64>,
    /// Host broadcasts.
    pub broadcast: Option<f64>,
}

/// An arm on one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerSeed {
    /// The seed.
    pub seed: u64,
    /// Missed over relevant.
    pub deficit: Option<f64>,
    /// Cooperative offered load.
    pub load: Option<f64>,
    /// The part of digests.
    #[serde(default)]
    pub load_digest: Option<f64>,
    /// Relevant pairs.
    pub relevant: u64,
    /// Missed pairs.
    pub missed: u64,
}

/// An arm over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmSummary {
    /// Missed over relevant, pooled over seeds.
    pub deficit: Interval,
    /// Cooperative bytes offered over capacity, mean over every (tile, cycle) that holds a participant.
    pub load: Interval,
    /// The load by kind.
    pub load_parts: LoadParts,
    /// Congestion price, mean over (tile, cycle) with a host.
    pub price: Interval,
    /// Contributors besides the host, mean over (tile, cycle) with a host.
    pub contributors: Interval,
    /// Size of a digest.
    pub digest_bytes: Interval,
    /// The same deficit over all vehicles, those without a radio included.
    pub deficit_all: Interval,
    /// Load of mandatory beacons.
    pub beacon_load: Average,
    /// Load of everything.
    pub busy: Average,
    /// Changes of the contributor set per (tile, cycle) with a host.
    pub churn: Average,
    /// Age of what participants hold of vehicles within sensing range, in seconds.
    pub age_s: Average,
    /// Share of other vehicles within 150 m that participants know of.
    pub awareness: Option<f64>,
    /// Times an object was received per second and participant.
    pub redundancy: Average,
    /// Share of 5 m cells on participants' own paths that were seen in time.
    pub path_coverage: Option<f64>,
    /// Where misses come from: counts over all seeds.
    pub misses: Value,
    /// How often each constraint bound a host's decision, over all seeds.
    pub binding: Named<u64>,
    /// Every seed.
    pub per_seed: Vec<PerSeed>,
}

/// Two arms compared seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedSummary {
    /// The arm expected to miss less.
    pub better: String,
    /// The arm it is compared with.
    pub worse: String,
    /// Mean per-seed difference, in percentage points; positive where `better` misses less.
    pub deficit_reduction_pp: Difference,
    /// Mean per-seed relative reduction, a fraction.
    pub deficit_reduction_rel: Difference,
}

/// How the intervals were made and whether they mean anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalNote {
    /// What they are.
    pub method: String,
    /// Resamples.
    pub resamples: u64,
    /// False for quick runs and for few seeds.
    pub meaningful: bool,
    /// Why not, if so.
    pub remark: Option<String>,
}

/// Time spent. Not reproducible, and the only such part together with `peak_rss_bytes`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TimingSummary {
    /// Seconds from start to end of the last invocation.
    pub wall_s: f64,
    /// CPU seconds of all seeds.
    pub cpu_s: f64,
    /// CPU seconds of all seeds by phase.
    pub phases: Map<String, Value>,
}

/// Which scenario was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioSummary {
    /// Its name.
    pub name: String,
    /// Its files, by their contents.
    pub files: Named<String>,
    /// Distinct vehicles present in the measured window, mean over seeds.
    pub vehicles: Option<f64>,
    /// Those of them with a radio, mean over seeds.
    pub participants: Option<f64>,
    /// Tiles that held a participant, mean over seeds.
    pub tiles: Option<f64>,
    /// Mean speed, in m/s.
    pub speed_m_per_s: Option<f64>,
    /// Length of the corridor; null where there is none.
    pub corridor_km: Option<f64>,
    /// Capacity share of a tile.
    pub capacity_bytes_per_s: f64,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: String,
    /// Which source made it.
    pub revision: String,
    /// Every parameter and reading in force.
    pub readings: Value,
    /// Which scenario.
    pub scenario: ScenarioSummary,
    /// Which seeds.
    pub seeds: Vec<u64>,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Seconds measured.
    pub measure_s: f64,
    /// Whose traffic.
    pub traffic: String,
    /// How to take the intervals.
    pub intervals: IntervalNote,
    /// Every arm.
    pub arms: Named<ArmSummary>,
    /// Arms compared.
    pub paired: Vec<PairedSummary>,
    /// What the letter says of those arms that it has.
    pub letter: Named<Figures>,
    /// Time spent.
    pub timing: TimingSummary,
    /// Highest resident memory of the last invocation.
    pub peak_rss_bytes: Option<u64>,
}

/// What was run, apart from outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Which source.
    pub revision: String,
    /// Every parameter and reading in force.
    pub readings: Value,
    /// The scenario's name.
    pub scenario: String,
    /// Its files with the hash of each.
    pub files: Vec<(String, String)>,
    /// Length of the corridor, if there is one.
    pub corridor_km: Option<f64>,
    /// Capacity share of a tile.
    pub capacity_bytes_per_s: f64,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Seconds measured.
    pub measure_s: f64,
    /// Whose traffic.
    pub traffic: String,
    /// A run too short to take its figures for results.
    pub quick: bool,
}

/// What came of one seed, as far as summaries need it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeedSummary {
    /// What all arms share.
    pub shared: SharedOutcome,
    /// Every arm, in the same order on every seed.
    pub arms: Vec<Outcome>,
}

/// The names of the constraints, in the order of [`Outcome::binding`].
pub const BINDINGS: [&str; 6] = ["nothing", "value", "price", "allowance", "cycle", "quota"];

impl Summary {
    /// The summary of `seeds`, which are in ascending order and hold the same arms in the same order.
    #[must_use]
    pub fn new(setting: &Setting, seeds: &[SeedSummary]) -> Self {
        let names: Vec<String> = seeds.first().map_or_else(Vec::new, |seed| {
            seed.arms.iter().map(|arm| arm.arm.clone()).collect()
        });
        let arms: Vec<(String, ArmSummary)> = names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let outcomes: Vec<&Outcome> = seeds.iter().filter_map(|s| s.arms.get(i)).collect();
                (name.clone(), ArmSummary::new(name, &outcomes))
            })
            .collect();
        let arms = Named(arms);
        let shared = |value: fn(&SharedOutcome) -> f64| {
            let sum: f64 = seeds.iter().map(|seed| value(&seed.shared)).sum();
            (!seeds.is_empty()).then(|| sum / seeds.len() as f64)
        };
        let speed: Vec<Share> = seeds.iter().map(|seed| share(&seed.shared.speed)).collect();
        Self {
            schema: SCHEMA.to_string(),
            revision: setting.revision.clone(),
            readings: setting.readings.clone(),
            scenario: ScenarioSummary {
                name: setting.scenario.clone(),
                files: Named(setting.files.clone()),
                vehicles: shared(|s| s.vehicles as f64),
                participants: shared(|s| s.participants as f64),
                tiles: shared(|s| s.tiles as f64),
                speed_m_per_s: ratio(&speed),
                corridor_km: setting.corridor_km,
                capacity_bytes_per_s: setting.capacity_bytes_per_s,
            },
            seeds: seeds.iter().map(|seed| seed.shared.seed).collect(),
            warmup_s: setting.warmup_s,
            measure_s: setting.measure_s,
            traffic: setting.traffic.clone(),
            intervals: note(setting.quick, seeds.len()),
            paired: pairs(&names)
                .into_iter()
                .filter_map(|(better, worse)| compare(&arms, better, worse))
                .collect(),
            letter: Named(
                names
                    .iter()
                    .filter_map(|name| Some((name.clone(), letter::arm(name)?)))
                    .collect(),
            ),
            arms,
            timing: TimingSummary::default(),
            peak_rss_bytes: None,
        }
    }

    /// The file's text.
    ///
    /// # Errors
    /// None that a summary can cause: all its keys are text and all its numbers can be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

fn note(quick: bool, seeds: usize) -> IntervalNote {
    let remark = if quick {
        Some("a quick run: its intervals are not meaningful".to_string())
    } else if seeds < stats::FEWEST_SEEDS {
        Some(format!(
            "{seeds} seeds: intervals of fewer than {} are not meaningful",
            stats::FEWEST_SEEDS
        ))
    } else {
        None
    };
    IntervalNote {
        method: "95 % percentile bootstrap over seeds".to_string(),
        resamples: stats::RESAMPLES,
        meaningful: remark.is_none(),
        remark,
    }
}

fn share(mean: &covey_simulator::outcome::Mean) -> Share {
    Share {
        part: mean.sum,
        whole: mean.count as f64,
    }
}

fn deficit_share(deficit: &covey_simulator::outcome::Deficit) -> Share {
    Share {
        part: deficit.missed as f64,
        whole: deficit.relevant as f64,
    }
}

/// The pooled ratio without interval.
fn ratio(shares: &[Share]) -> Option<f64> {
    let part: f64 = shares.iter().map(|s| s.part).sum();
    let whole: f64 = shares.iter().map(|s| s.whole).sum();
    (whole > 0.0).then(|| part / whole)
}

impl ArmSummary {
    /// One arm's outcomes on all seeds.
    #[must_use]
    pub fn new(name: &str, outcomes: &[&Outcome]) -> Self {
        let shares = |of: fn(&Outcome) -> Share| -> Vec<Share> {
            outcomes.iter().map(|outcome| of(outcome)).collect()
        };
        let mean = |of: fn(&Outcome) -> Share| ratio(&shares(of));
        let strategy = name.parse::<Arm>().ok().map(|arm| arm.strategy);
        // Parts that an arm cannot have are 0, not unknown.
        let hosted = strategy.is_none_or(Strategy::is_hosted);
        let zero = Estimate {
            mean: 0.0,
            lo: 0.0,
            hi: 0.0,
        };
        let if_hosted = |of: fn(&Outcome) -> Share| match hosted {
            true => stats::pooled(&shares(of)).into(),
            false => Interval::from(Some(zero)),
        };
        let part = |of: fn(&Outcome) -> Share| mean(of).or(if hosted { None } else { Some(0.0) });
        let average = |of: fn(&Outcome) -> Share| Average { mean: mean(of) };
        let counts = |pair: &[u64; 2]| Share {
            part: pair[0] as f64,
            whole: pair[1] as f64,
        };
        Self {
            deficit: stats::pooled(&shares(|o| deficit_share(&o.deficit))).into(),
            load: stats::pooled(&shares(|o| share(&o.load))).into(),
            load_parts: LoadParts {
                digest: part(|o| share(&o.load_digest)),
                reports: part(|o| share(&o.load_reports)),
                broadcast: part(|o| share(&o.load_broadcast)),
            },
            price: if_hosted(|o| share(&o.price)),
            contributors: if_hosted(|o| share(&o.contributors)),
            digest_bytes: if_hosted(|o| share(&o.digest_bytes)),
            deficit_all: stats::pooled(&shares(|o| deficit_share(&o.deficit_all))).into(),
            beacon_load: average(|o| share(&o.beacon_load)),
            busy: average(|o| share(&o.busy)),
            churn: Average {
                mean: part(|o| share(&o.churn)),
            },
            age_s: average(|o| share(&o.age)),
            awareness: ratio(
                &outcomes
                    .iter()
                    .map(|o| counts(&o.aware))
                    .collect::<Vec<_>>(),
            ),
            redundancy: average(|o| share(&o.redundancy)),
            path_coverage: ratio(
                &outcomes
                    .iter()
                    .map(|o| counts(&o.path_cells))
                    .collect::<Vec<_>>(),
            ),
            misses: sum_of_counts(outcomes),
            binding: Named(
                BINDINGS
                    .iter()
                    .enumerate()
                    .map(|(i, name)| {
                        let sum = outcomes.iter().map(|o| o.binding[i]).sum();
                        ((*name).to_string(), sum)
                    })
                    .collect(),
            ),
            per_seed: outcomes
                .iter()
                .map(|o| PerSeed {
                    seed: o.seed,
                    deficit: o.deficit.ratio(),
                    load: o.load.value(),
                    load_digest: o.load_digest.value(),
                    relevant: o.deficit.relevant,
                    missed: o.deficit.missed,
                })
                .collect(),
        }
    }
}

/// The misses of all outcomes, field by field.
fn sum_of_counts(outcomes: &[&Outcome]) -> Value {
    let mut sum = Map::new();
    for outcome in outcomes {
        let Ok(Value::Object(misses)) = serde_json::to_value(outcome.misses) else {
            continue;
        };
        for (name, count) in misses {
            let before = sum.get(&name).and_then(Value::as_u64).unwrap_or(0);
            sum.insert(name, (before + count.as_u64().unwrap_or(0)).into());
        }
    }
    Value::Object(sum)
}

/// The pairs worth comparing among arms of these names: the proposal against both randoms at each allowance and against
/// mitigation at 0.8, the steps of the ladder wherever both ends were run, and choice by demand against all that do not know
/// more than it does.
fn pairs(names: &[String]) -> Vec<(&str, &str)> {
    let find = |strategy: Strategy, allowance: f64| {
        let wanted = Arm::at(strategy, allowance).to_string();
        names.iter().find(|name| **name == wanted)
    };
    let mut pairs = Vec::new();
    let at: Vec<(&str, f64)> = names
        .iter()
        .filter_map(|name| {
            let arm: Arm = name.parse().ok()?;
            (arm.strategy == Strategy::Proposed).then_some((name.as_str(), arm.allowance?))
        })
        .collect();
    for random in [Strategy::Random, Strategy::RandomRedraw] {
        for &(proposed, b) in &at {
            pairs.extend(find(random, b).map(|random| (proposed, random.as_str())));
        }
    }
    let rmr = Arm::plain(Strategy::CpmRmr).to_string();
    if let Some(rmr) = names.iter().find(|name| **name == rmr) {
        pairs.extend(at.iter().map(|&(proposed, _)| (proposed, rmr.as_str())));
    }
    let ladder = [
        Strategy::Random,
        Strategy::CoverageOnly,
        Strategy::Conditional,
        Strategy::ConditionalRisk,
        Strategy::Proposed,
    ];
    let mut allowances: Vec<f64> = names
        .iter()
        .filter_map(|name| name.parse::<Arm>().ok()?.allowance)
        .collect();
    allowances.sort_by(f64::total_cmp);
    allowances.dedup();
    for b in allowances {
        for step in ladder.windows(2) {
            if let (Some(worse), Some(better)) = (find(step[0], b), find(step[1], b)) {
                pairs.push((better, worse));
            }
        }
    }
    let arms: Vec<(&str, Strategy)> = names
        .iter()
        .filter_map(|name| Some((name.as_str(), name.parse::<Arm>().ok()?.strategy)))
        .collect();
    for &(demand, _) in arms.iter().filter(|arm| arm.1 == Strategy::Demand) {
        let others = arms.iter().filter(|arm| {
            !matches!(
                arm.1,
                Strategy::Demand | Strategy::Omniscient | Strategy::Oracle
            )
        });
        pairs.extend(others.map(|&(other, _)| (demand, other)));
    }
    pairs
}

fn compare(arms: &Named<ArmSummary>, better: &str, worse: &str) -> Option<PairedSummary> {
    let deficits = |name: &str| -> Option<Vec<Option<f64>>> {
        Some(arms.get(name)?.per_seed.iter().map(|s| s.deficit).collect())
    };
    let reduction = stats::reduction(&deficits(better)?, &deficits(worse)?);
    Some(PairedSummary {
        better: better.to_string(),
        worse: worse.to_string(),
        deficit_reduction_pp: reduction.points.into(),
        deficit_reduction_rel: reduction.relative.into(),
    })
}

#[cfg(test)]
mod tests {
    use covey_simulator::outcome::{Deficit, Mean};

    use super::*;

    fn outcome(arm: &str, seed: u64, missed: u64) -> Outcome {
        let mean = |sum, count| Mean { sum, count };
        Outcome {
            arm: arm.to_string(),
            seed,
            deficit: Deficit {
                relevant: 1000,
                missed,
            },
            load: mean(60.0, 200),
            price: mean(1.5, 3),
            ..Outcome::default()
        }
    }

    fn setting() -> Setting {
        Setting {
            revision: "abc".to_string(),
            readings: Value::Null,
            scenario: "toy".to_string(),
            files: vec![("toy.net.xml".to_string(), "00".to_string())],
            corridor_km: None,
            capacity_bytes_per_s: 242_000.0,
            warmup_s: 1.0,
            measure_s: 1.0,
            traffic: "builtin".to_string(),
            quick: false,
        }
    }

    fn seeds(arms: &[&str], count: u64) -> Vec<SeedSummary> {
        (1..=count)
            .map(|seed| SeedSummary {
                shared: SharedOutcome {
                    seed,
                    vehicles: 10 + seed,
                    ..SharedOutcome::default()
                },
                arms: arms
                    .iter()
                    .enumerate()
                    .map(|(i, arm)| outcome(arm, seed, 600 - 10 * i as u64 + seed))
                    .collect(),
            })
            .collect()
    }

    #[test]
    fn fields_that_do_not_apply_are_zero_and_empty_ratios_null() {
        let mut seeds = seeds(&["cam-only", "random@0.4", "proposed@0.4"], 7);
        for seed in &mut seeds {
            seed.arms[2].contributors = Mean::default();
            seed.arms[1].deficit = Deficit::default();
        }
        let summary = Summary::new(&setting(), &seeds);
        let json: Value = serde_json::from_str(&summary.to_json().unwrap()).unwrap();
        assert_eq!(json["schema"], "covey.summary/1");
        let arms = &json["arms"];
        assert_eq!(arms["cam-only"]["price"]["mean"], 0.0);
        assert_eq!(arms["proposed@0.4"]["price"]["mean"], 0.5);
        assert_eq!(arms["proposed@0.4"]["contributors"]["mean"], Value::Null);
        assert_eq!(arms["random@0.4"]["deficit"]["mean"], Value::Null);
        assert_eq!(arms["random@0.4"]["per_seed"][0]["deficit"], Value::Null);
        assert_eq!(arms["cam-only"]["load"]["mean"], 0.3);
        assert_eq!(json["scenario"]["vehicles"], 14.0);
        assert_eq!(json["scenario"]["corridor_km"], Value::Null);
        assert_eq!(json["letter"]["proposed@0.4"]["deficit"], 0.031);
        assert_eq!(json["intervals"]["meaningful"], true);
        let paired = &json["paired"][0];
        assert_eq!(paired["worse"], "random@0.4");
        assert_eq!(paired["deficit_reduction_pp"]["mean"], Value::Null);
        // Arms stay in the order of the run.
        let text = summary.to_json().unwrap();
        assert!(text.find("\"cam-only\"").unwrap() < text.find("\"random@0.4\"").unwrap());
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }

    #[test]
    fn the_contracts_pairs_are_compared() {
        let names: Vec<String> = Arm::letter().iter().map(ToString::to_string).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let summary = Summary::new(&setting(), &seeds(&names, 1));
        assert!(!summary.intervals.meaningful);
        let has = |better: &str, worse: &str| {
            summary
                .paired
                .iter()
                .filter(|p| p.better == better && p.worse == worse)
                .count()
        };
        for b in ["0.2", "0.4", "0.8"] {
            for random in ["random", "random-redraw"] {
                assert_eq!(has(&format!("proposed@{b}"), &format!("{random}@{b}")), 1);
            }
        }
        assert_eq!(has("proposed@0.8", "cpm-rmr"), 1);
        assert_eq!(has("coverage-only@0.4", "random@0.4"), 1);
        assert_eq!(has("conditional@0.4", "coverage-only@0.4"), 1);
        assert_eq!(has("conditional-risk@0.4", "conditional@0.4"), 1);
        assert_eq!(has("proposed@0.4", "conditional-risk@0.4"), 1);
        let step = &summary.paired.last().unwrap().deficit_reduction_pp;
        assert_eq!(step.includes_zero, Some(false));
        assert_eq!(summary.letter.0.len(), 13);
    }

    #[test]
    fn quick_runs_and_few_seeds_say_so() {
        let quick = Setting {
            quick: true,
            ..setting()
        };
        let summary = Summary::new(&quick, &seeds(&["oracle"], 9));
        assert!(summary.intervals.remark.unwrap().contains("quick"));
        let few = Summary::new(&setting(), &seeds(&["oracle"], 5));
        assert!(few.intervals.remark.unwrap().starts_with("5 seeds"));
    }
}
