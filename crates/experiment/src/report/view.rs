//! The summary as the report looks at it: arms in the order of tables, names taken apart, estimates where there are any.
//!
//! Nothing is read here: a view borrows from a [`Summary`], and whatever the summary has not is absent. What needs it is left out
//! of the report or said to be missing.

use covey_simulator::Arms;
use covey_simulator::arms::Look;

use crate::letter::Figures;
use crate::names::ArmName;
use crate::stats::FEWEST_SEEDS;
use crate::summary::{ArmSummary, PerSeed, Summary};

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

/// One arm of it.
#[derive(Debug, Clone)]
pub(crate) struct ArmView<'a> {
    pub(crate) name: &'a str,
    pub(crate) who: ArmName<'a>,
    pub(crate) deficit: Option<Interval>,
    pub(crate) load: Option<Interval>,
    pub(crate) price: Option<Interval>,
    pub(crate) digest_bytes: Option<Interval>,
    /// What mandatory beacons take of capacity.
    pub(crate) beacons: Option<Interval>,
    /// By seed, ascending.
    pub(crate) seeds: Vec<SeedRow>,
    /// All that the summary has of it.
    pub(crate) all: &'a ArmSummary,
}

impl<'a> ArmView<'a> {
    fn new(name: &'a str, all: &'a ArmSummary, known: &Arms) -> Self {
        let mut seeds: Vec<SeedRow> = all.per_seed.iter().filter_map(SeedRow::new).collect();
        seeds.sort_by_key(|row| row.seed);
        seeds.dedup_by_key(|row| row.seed);
        Self {
            name,
            who: ArmName::new(name, known),
            deficit: all.deficit.estimate(),
            load: all.load.estimate(),
            price: all.price.estimate(),
            digest_bytes: all.digest_bytes.estimate(),
            beacons: beacons(all),
            seeds,
            all,
        }
    }
}

/// The occupancy by beacons; without interval in older files.
fn beacons(arm: &ArmSummary) -> Option<Interval> {
    let alone = crate::summary::Interval {
        mean: arm.beacon_load.mean,
        ..Default::default()
    };
    arm.beacon_occupancy.unwrap_or(alone).estimate()
}

impl SeedRow {
    /// None where the seed has no load.
    fn new(seed: &PerSeed) -> Option<Self> {
        Some(Self {
            seed: seed.seed,
            load: seed.load?,
            relevant: seed.relevant as f64,
            missed: seed.missed as f64,
            digest_load: seed.load_digest,
        })
    }
}

/// A paired comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    /// Percentage points.
    pub(crate) points: Option<Interval>,
    /// Share of the worse arm's deficit.
    pub(crate) relative: Option<Interval>,
}

/// A summary, ready to be shown.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub(crate) summary: &'a Summary,
    known: &'a Arms,
    /// In the order of tables.
    pub(crate) arms: Vec<ArmView<'a>>,
    /// Too few seeds or too short for intervals to mean anything.
    pub(crate) quick: bool,
}

impl<'a> View<'a> {
    pub(crate) fn new(summary: &'a Summary, known: &'a Arms) -> Self {
        let mut arms: Vec<ArmView<'a>> = summary
            .arms
            .0
            .iter()
            .map(|(name, arm)| ArmView::new(name, arm, known))
            .collect();
        arms.sort_by(|a, b| a.who.compare(&b.who));
        Self {
            summary,
            known,
            arms,
            quick: !summary.intervals.meaningful || summary.seeds.len() < FEWEST_SEEDS,
        }
    }

    /// What figures have to say: that they are of a fitted profile, that their intervals mean nothing.
    pub(crate) fn caveat(&self) -> Option<String> {
        let intervals = self.quick.then(|| {
            let seeds = match self.summary.seeds.len() {
                1 => "1 seed".to_string(),
                n => format!("{n} seeds"),
            };
            let measured = self.summary.measure_s;
            format!("{seeds} of {measured} s: intervals are not meaningful.")
        });
        let all: Vec<String> = self
            .summary
            .warning()
            .into_iter()
            .chain(intervals)
            .collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    pub(crate) fn arm(&self, name: &str) -> Option<&ArmView<'a>> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    pub(crate) fn deficit(&self, name: &str) -> Option<Interval> {
        self.arm(name)?.deficit
    }

    pub(crate) fn load(&self, name: &str) -> Option<Interval> {
        self.arm(name)?.load
    }

    pub(crate) fn pair(&self, better: &str, worse: &str) -> Option<Pair> {
        let mut pairs = self.summary.paired.iter();
        let pair = pairs.find(|pair| pair.better == better && pair.worse == worse)?;
        Some(Pair {
            points: pair.deficit_reduction_pp.estimate(),
            relative: pair.deficit_reduction_rel.estimate(),
        })
    }

    /// What the letter has for an arm, as the summary tells.
    pub(crate) fn letter(&self, name: &str) -> Option<Figures> {
        self.summary.letter.get(name).copied()
    }

    /// There are figures of the letter to hold these against.
    pub(crate) fn is_the_letters(&self) -> bool {
        !self.summary.letter.0.is_empty()
    }

    /// How a strategy looks, run or not.
    pub(crate) fn look(&self, strategy: &str) -> Look {
        ArmName::new(strategy, self.known).look()
    }

    /// Allowances at which a strategy was run, ascending.
    pub(crate) fn allowances(&self, strategy: &str) -> Vec<f64> {
        self.arms
            .iter()
            .filter(|arm| arm.who.strategy == strategy)
            .filter_map(|arm| arm.who.allowance)
            .collect()
    }

    /// The first arm, in the order of tables, that has no more deficit and no more load than this one and less of one of them, by
    /// the means. Yardsticks do not count: nobody can build them.
    pub(crate) fn dominated_by(&self, arm: &ArmView<'_>) -> Option<&'a str> {
        let (deficit, load) = (arm.deficit?.mean, arm.load?.mean);
        self.arms
            .iter()
            .filter(|other| !other.who.is_yardstick())
            .filter(|other| other.name != arm.name)
            .find(|other| {
                let (Some(d), Some(l)) = (other.deficit, other.load) else {
                    return false;
                };
                d.mean <= deficit && l.mean <= load && (d.mean < deficit || l.mean < load)
            })
            .map(|other| other.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Interval as Written, Named};

    fn summary(arms: &[(&str, ArmSummary)]) -> Summary {
        Summary {
            arms: Named(
                arms.iter()
                    .map(|(name, arm)| ((*name).to_string(), arm.clone()))
                    .collect(),
            ),
            ..Summary::default()
        }
    }

    fn at(deficit: Option<f64>, load: f64) -> ArmSummary {
        let mean = |mean| Written {
            mean,
            ..Written::default()
        };
        ArmSummary {
            deficit: mean(deficit),
            load: mean(Some(load)),
            ..ArmSummary::default()
        }
    }

    #[test]
    fn arms_come_in_the_order_of_tables() {
        let known = Arms::builtin();
        let names = [
            "theirs@0.4",
            "oracle",
            "proposed@0.8",
            "proposed@0.2",
            "demand@0.4",
            "cam-only",
        ];
        let summary = summary(&names.map(|name| (name, ArmSummary::default())));
        let view = View::new(&summary, &known);
        let names: Vec<&str> = view.arms.iter().map(|arm| arm.name).collect();
        assert_eq!(
            names,
            [
                "cam-only",
                "proposed@0.2",
                "proposed@0.8",
                "demand@0.4",
                "oracle",
                "theirs@0.4"
            ]
        );
    }

    #[test]
    fn what_has_nothing_to_count_is_absent() {
        let known = Arms::builtin();
        let mut arm = at(None, 0.0);
        arm.per_seed = vec![PerSeed {
            seed: 1,
            deficit: None,
            load: None,
            load_digest: None,
            relevant: 0,
            missed: 0,
            windows: Vec::new(),
        }];
        let summary = summary(&[("cam-only", arm)]);
        let view = View::new(&summary, &known);
        let arm = view.arm("cam-only").unwrap();
        assert_eq!(arm.deficit, None);
        assert_eq!(arm.load.map(|load| load.hi), Some(0.0));
        assert!(arm.seeds.is_empty() && view.quick);
    }

    #[test]
    fn an_arm_is_dominated_by_means_and_never_by_a_yardstick() {
        let known = Arms::builtin();
        let summary = summary(&[
            ("oracle", at(Some(0.01), 0.0)),
            ("cam-only", at(Some(0.058), 0.0)),
            ("random@0.2", at(Some(0.066), 0.19)),
            ("proposed@0.2", at(Some(0.049), 0.19)),
            ("omniscient@0.2", at(Some(0.001), 0.1)),
        ]);
        let view = View::new(&summary, &known);
        let by = |name: &str| view.dominated_by(view.arm(name).unwrap());
        assert_eq!(by("random@0.2"), Some("cam-only"));
        assert_eq!(by("proposed@0.2"), None);
        assert_eq!(by("cam-only"), None);
    }
}
