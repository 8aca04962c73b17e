//! From the outcomes of all seeds to a summary.

use covey_simulator::outcome::{Binding, Deficit, FieldMetrics, Mean, Misses};
use covey_simulator::{Arms, Outcome, SharedOutcome};
use covey_world::scene::BodyKind;

use super::{
    ArmSummary, Average, ClassCount, FieldSummary, Interval, IntervalNote, LoadParts, Named,
    NearConflicts, PairedSummary, PerSeed, ReceptionSummary, SCHEMA, ScenarioSummary, Setting,
    Summary, TimingSummary, WINDOWS,
};
use crate::field::{DELIVERY_RANGES, DeliveryRange, age_quantile, busy_ratio};
use crate::letter::{self, Quantity};
use crate::names::{
    ArmName, CPM_RMR, DEMAND, LADDER, PROPOSED, RIVALS, allowance_of, at, strategy_of,
};
use crate::stats::{self, Estimate, Share};
use crate::store::SeedResult;

/// The name of traffic that is one recording, whatever the seed.
const RECORDED: &str = "fcd";

impl Summary {
    /// The summary of `seeds`, which are in ascending order and hold the same arms in the same order; their cycles are not looked
    /// at. What arms are is told by the table `known`.
    #[must_use]
    pub fn new(setting: &Setting, seeds: &[SeedResult], known: &Arms) -> Self {
        let names: Vec<String> = seeds.first().map_or_else(Vec::new, |seed| {
            seed.arms.iter().map(|arm| arm.arm.clone()).collect()
        });
        let arms: Vec<(String, ArmSummary)> = names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let outcomes: Vec<&Outcome> = seeds.iter().filter_map(|s| s.arms.get(i)).collect();
                (name.clone(), ArmSummary::new(name, &outcomes, known))
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
                classes: classes(seeds),
                tiles: shared(|s| s.tiles as f64),
                speed_m_per_s: ratio(&speed),
                corridor_km: setting.corridor_km,
                capacity_bytes_per_s: setting.capacity_bytes_per_s,
            },
            seeds: seeds.iter().map(|seed| seed.shared.seed).collect(),
            warmup_s: setting.warmup_s,
            measure_s: setting.measure_s,
            traffic: setting.traffic.clone(),
            profile: setting.profile.map(|profile| profile.name.to_string()),
            label: setting
                .profile
                .and_then(|profile| Some(profile.label()?.to_string())),
            intervals: note(setting.quick, seeds.len(), &setting.traffic),
            paired: pairs(&names, known)
                .into_iter()
                .filter_map(|(better, worse)| compare(&arms, better, worse))
                .collect(),
            letter: Named(
                names
                    .iter()
                    .filter(|_| setting.letters)
                    .filter_map(|name| Some((name.clone(), letter::arm(name)?)))
                    .collect(),
            ),
            distance_to_letter: distance(&arms).filter(|_| setting.letters),
            arms,
            timing: TimingSummary::default(),
            peak_rss_bytes: None,
        }
    }
}

/// Everybody on the road by class, in the order of tables.
fn classes(seeds: &[SeedResult]) -> Named<ClassCount> {
    let mean = |name: &str, which: usize| {
        let count = |seed: &SeedResult| seed.shared.classes.get(name).map_or(0, |c| c[which]);
        seeds.iter().map(count).sum::<u64>() as f64 / seeds.len().max(1) as f64
    };
    let there = BodyKind::ALL.into_iter().map(BodyKind::name);
    let there = there.filter(|name| mean(name, 0) > 0.0);
    let counted = there.map(|name| {
        let count = ClassCount {
            present: mean(name, 0),
            participants: mean(name, 1),
        };
        (name.to_string(), count)
    });
    Named(counted.collect())
}

/// How far the arms' figures are from the letter's.
fn distance(arms: &Named<ArmSummary>) -> Option<f64> {
    letter::distance(|figure| {
        let arm = arms.get(figure.arm)?;
        match figure.quantity {
            Quantity::Deficit => arm.deficit.mean,
            Quantity::Load => arm.load.mean,
            Quantity::Price => arm.price.mean,
            Quantity::DigestBytes => arm.digest_bytes.mean,
            Quantity::DigestLoad => arm.load_parts.digest,
            Quantity::Beacons => arm.beacon_load.mean,
        }
    })
}

pub(super) fn note(quick: bool, seeds: usize, traffic: &str) -> IntervalNote {
    let remark = if quick {
        Some("a quick run: its intervals are not meaningful".to_string())
    } else if seeds < stats::FEWEST_SEEDS {
        Some(format!(
            "{seeds} seed{}: intervals of fewer than {} are not meaningful",
            if seeds == 1 { "" } else { "s" },
            stats::FEWEST_SEEDS
        ))
    } else if traffic == RECORDED {
        Some(
            "traffic is one recording on all seeds: intervals cover who has a radio and what is lost on the air, not traffic"
                .to_string(),
        )
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

fn share(mean: &Mean) -> Share {
    Share {
        part: mean.sum,
        whole: mean.count as f64,
    }
}

fn deficit_share(deficit: &Deficit) -> Share {
    Share {
        part: deficit.missed as f64,
        whole: deficit.relevant as f64,
    }
}

fn counts(pair: &[u64; 2]) -> Share {
    Share {
        part: pair[0] as f64,
        whole: pair[1] as f64,
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
    pub fn new(name: &str, outcomes: &[&Outcome], known: &Arms) -> Self {
        let shares = |of: fn(&Outcome) -> Share| -> Vec<Share> {
            outcomes.iter().map(|outcome| of(outcome)).collect()
        };
        let mean = |of: fn(&Outcome) -> Share| ratio(&shares(of));
        // Parts that an arm cannot have are 0, not unknown.
        let hosted = ArmName::new(name, known).is_hosted();
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
        let scheduled =
            |of: fn(&Outcome) -> Share| mean(of).map(|mean| Average { mean: Some(mean) });
        Self {
            deficit: stats::pooled(&shares(|o| deficit_share(&o.deficit))).into(),
            load: stats::pooled(&shares(|o| share(&o.load))).into(),
            load_by_tile: Some(average(|o| share(&o.load_by_tile))),
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
            beacon_occupancy: Some(stats::pooled(&shares(|o| share(&o.beacon_load))).into()),
            busy: average(|o| share(&o.busy)),
            cbr: scheduled(|o| share(busy_ratio(o))),
            load_resources: scheduled(|o| share(&o.load_resources)),
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
            field: field(outcomes),
            path_coverage: ratio(
                &outcomes
                    .iter()
                    .map(|o| counts(&o.path_cells))
                    .collect::<Vec<_>>(),
            ),
            misses: sum_of_misses(outcomes),
            binding: Named(
                Binding::ALL
                    .iter()
                    .map(|&binding| {
                        let sum = outcomes.iter().map(|o| o.binding[binding as usize]).sum();
                        (binding.name().to_string(), sum)
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
                    windows: windows(&o.by_cycle),
                })
                .collect(),
        }
    }
}

/// The metrics of the field over all seeds.
fn field(outcomes: &[&Outcome]) -> FieldSummary {
    let average = |shares: Vec<Share>| {
        let mean = ratio(&shares)?;
        Some(Average { mean: Some(mean) })
    };
    let aware = |at: usize| {
        let known = outcomes.iter().map(|o| counts(&o.field.aware[at]));
        average(known.collect())
    };
    let mut ages: Vec<u64> = Vec::new();
    for outcome in outcomes {
        let more = &outcome.field.ages;
        ages.resize(ages.len().max(more.len()), 0);
        ages.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
    }
    let redundancy = outcomes.iter().map(|o| share(&o.field.redundancy));
    let near = |which: usize| outcomes.iter().map(|o| o.field.near[which]).sum();
    let false_alarms = outcomes.iter().map(|o| Share {
        part: o.field.false_alarms as f64,
        whole: o.deficit.relevant as f64,
    });
    // Older seeds have none of it.
    let measured = outcomes.iter().any(|o| o.field != FieldMetrics::default());
    FieldSummary {
        awareness_100: aware(0),
        awareness_200: aware(1),
        awareness_300: aware(2),
        age_p95_s: age_quantile(&ages, 0.95).map(|age| Average { mean: Some(age) }),
        redundancy_per_s: average(redundancy.collect()),
        reception: reception(outcomes),
        near_conflicts: measured.then(|| NearConflicts {
            unaware: near(0),
            all: near(1),
        }),
        false_alarms: average(false_alarms.collect()).filter(|_| measured),
    }
}

/// What became of sampled beacons over distance, over all seeds; nothing where none were looked at.
fn reception(outcomes: &[&Outcome]) -> Vec<ReceptionSummary> {
    let over = |range: &DeliveryRange| {
        let bins = |o: &Outcome| {
            let [pairs, delivered] = range.reception(o);
            Share {
                part: delivered as f64,
                whole: pairs as f64,
            }
        };
        let pairs: Vec<Share> = outcomes.iter().map(|o| bins(o)).collect();
        let gaps: Vec<Share> = outcomes.iter().map(|o| share(&range.gap(o))).collect();
        let [from_m, to_m] = range.metres();
        ReceptionSummary {
            from_m,
            to_m,
            ratio: ratio(&pairs),
            gap_s: ratio(&gaps),
        }
    };
    let all: Vec<ReceptionSummary> = DELIVERY_RANGES.iter().map(over).collect();
    let any = all.iter().any(|range| range.ratio.is_some());
    if any { all } else { Vec::new() }
}

/// The deficit in each quarter of the measured window; nothing of fewer cycles than quarters.
fn windows(by_cycle: &[Deficit]) -> Vec<Option<f64>> {
    if by_cycle.len() < WINDOWS {
        return Vec::new();
    }
    let window = |number: usize| {
        let begin = number * by_cycle.len() / WINDOWS;
        let end = (number + 1) * by_cycle.len() / WINDOWS;
        let mut sum = Deficit::default();
        for cycle in &by_cycle[begin..end] {
            sum.relevant += cycle.relevant;
            sum.missed += cycle.missed;
        }
        sum.ratio()
    };
    (0..WINDOWS).map(window).collect()
}

/// The misses of all outcomes, count by count.
fn sum_of_misses(outcomes: &[&Outcome]) -> Misses {
    let mut sum = Misses::default();
    for outcome in outcomes {
        sum.add(&outcome.misses);
    }
    sum
}

/// The pairs worth comparing among arms of these names: the proposal against both randoms and against mitigation at each
/// allowance, the steps of the ladder wherever both ends were run, and choice by demand and a program's own arms against all
/// that do not know more than they do.
fn pairs<'a>(names: &'a [String], known: &Arms) -> Vec<(&'a str, &'a str)> {
    let find = |wanted: &str| {
        names
            .iter()
            .map(String::as_str)
            .find(|name| *name == wanted)
    };
    let of = |strategy: &'static str| {
        let names = names.iter().map(String::as_str);
        names.filter(move |name| strategy_of(name) == strategy)
    };
    let mut pairs = Vec::new();
    for random in RIVALS {
        for proposed in of(PROPOSED) {
            let random = allowance_of(proposed).and_then(|b| find(&at(random, b)));
            pairs.extend(random.map(|random| (proposed, random)));
        }
    }
    if let Some(rmr) = find(CPM_RMR) {
        pairs.extend(of(PROPOSED).map(|proposed| (proposed, rmr)));
    }
    let mut allowances: Vec<f64> = names.iter().filter_map(|name| allowance_of(name)).collect();
    allowances.sort_by(f64::total_cmp);
    allowances.dedup();
    for b in allowances {
        for step in LADDER.windows(2) {
            if let (Some(worse), Some(better)) = (find(&at(step[0], b)), find(&at(step[1], b))) {
                pairs.push((better, worse));
            }
        }
    }
    let builtin = Arms::builtin();
    let is_own = |name: &str| builtin.get(strategy_of(name)).is_none();
    for ours in names.iter().map(String::as_str) {
        let strategy = strategy_of(ours);
        if strategy != DEMAND && !is_own(ours) {
            continue;
        }
        let others = names.iter().map(String::as_str).filter(|other| {
            strategy_of(other) != strategy
                && (is_own(ours) || !is_own(other))
                && !ArmName::new(other, known).is_yardstick()
        });
        pairs.extend(others.map(|other| (ours, other)));
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
