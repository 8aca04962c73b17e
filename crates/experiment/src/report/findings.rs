//! The letter's findings, each held against this run.

use super::draw::plain;
use super::figures::with_interval;
use super::paired::{deficit_of, mean_load, mean_of, mean_value, paired_rows, pooled_deficit};
use super::view::{Interval, View, arm_at};
use crate::letter;
use crate::stats::estimate;

/// What a run says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The interval lies on the finding's side, or meets the letter's rounded value.
    Held,
    /// The interval lies on the other side, or misses the letter's rounded value.
    NotHeld,
    /// The interval has both.
    Undecided,
    /// Met by calibration, so nothing was found.
    Calibrated,
    /// Too few seeds for intervals to mean anything.
    NotMeaningful,
    /// An arm that it needs was not run.
    NotRun,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::NotHeld => "not held",
            Self::Undecided => "undecided",
            Self::Calibrated => "calibrated, no finding",
            Self::NotMeaningful => "not meaningful (too few or too short runs)",
            Self::NotRun => "not run",
        }
    }
}

/// A finding of the letter and what this run says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// A short name, by which an explanation can be given.
    pub key: &'static str,
    /// What the letter says.
    pub claim: &'static str,
    /// By which rule it is held, not held or undecided.
    pub rule: &'static str,
    /// What this run has.
    pub ours: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why it does not, where that is known. Empty where it holds.
    pub reason: String,
}

/// Half a unit of the last digit that the letter prints of deficits in per cent, and of loads.
const LAST_DIGIT: (f64, f64) = (0.05, 0.005);

const BY_VALUE: &str = "held where the letter's value, give or take half a unit of its last digit, meets our interval; else not held";
const BY_BOTH_VALUES: &str = "held where the letter's deficit and load, each give or take half a unit of its last digit, both meet our intervals; else not held";
const GAIN: &str = "mean paired per-seed relative reduction: held where its interval lies above 0, not held below 0, undecided with 0 inside; its size beside the letter's is no part of the rule";
const STEP: &str = "mean paired per-seed reduction in points: held where its interval lies above 0, not held below 0, undecided with 0 inside";
const DOMINATED: &str = "held where an arm, the oracle aside, misses less and loads less, both paired intervals without 0; undecided where so only in the means; else not held";

/// Every finding, in the letter's order.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    let mut all = vec![
        finding(
            "cam-only",
            "CAM-only misses 5.8 %",
            "none: d_min is calibrated to it, on other seeds",
            value(view, "cam-only", false),
        ),
        finding(
            "cpm-rmr",
            "CPM-RMR misses 5.6 % at load 0.30",
            BY_BOTH_VALUES,
            value(view, "cpm-rmr", true),
        ),
        finding(
            "cpm-etsi",
            "CPM-ETSI misses 3.9 % at load 1.35",
            BY_BOTH_VALUES,
            value(view, "cpm-etsi", true),
        ),
        finding(
            "proposed@0.2",
            "Proposed at b = 0.2 misses 4.9 % at load 0.19",
            BY_BOTH_VALUES,
            value(view, "proposed@0.2", true),
        ),
        finding(
            "proposed@0.4",
            "Proposed at b = 0.4 misses 3.1 %",
            BY_VALUE,
            value(view, "proposed@0.4", false),
        ),
        finding(
            "proposed@0.8",
            "Proposed at b = 0.8 misses 1.4 % at load 0.29",
            BY_BOTH_VALUES,
            value(view, "proposed@0.8", true),
        ),
        finding(
            "falls-with-b",
            "Proposed falls with the allowance",
            "held where both paired differences in points, 0.2 to 0.4 and 0.4 to 0.8, have intervals above 0; not held where one lies below 0; else undecided",
            falls(view),
        ),
        finding(
            "load-0.4-below-rmr",
            "Proposed at b = 0.4 loads less than CPM-RMR",
            "paired difference of loads: held where its interval lies above 0, not held below 0, undecided with 0 inside",
            less_load(view, "proposed@0.4", "cpm-rmr"),
        ),
        finding(
            "fourfold",
            "Proposed at b = 0.8 has a fourfold lower deficit than CPM-RMR at comparable load",
            "ratio of pooled deficits: held where its interval lies above 3.5 (what rounds to four, or more), not held below, undecided across; loads are shown, not judged",
            fourfold(view),
        ),
        finding(
            "near-oracle",
            "Proposed at b = 0.8 is within 0.5 points of the oracle",
            "paired difference in points: held where its interval lies below 0.5, not held above, undecided across",
            near_oracle(view),
        ),
        finding(
            "reporting-airtime",
            "Proposed at b = 0.8 spends 27 % less on reporting, net of the digest, than CPM-RMR",
            "relative saving of load net of digests: held where its interval lies above 0, not held below 0, undecided with 0 inside; its size beside 27 % is no part of the rule",
            reporting(view),
        ),
    ];
    for (b, key, claim) in [
        (
            0.2,
            "gain-0.2",
            "Proposed misses 26 % less than random at b = 0.2, interval without zero",
        ),
        (
            0.4,
            "gain-0.4",
            "Proposed misses 33 % less than random at b = 0.4, interval without zero",
        ),
        (
            0.8,
            "gain-0.8",
            "Proposed misses 10 % less than random at b = 0.8, interval without zero",
        ),
    ] {
        let pair = view.pair(&arm_at("proposed", b), &arm_at("random", b));
        let relative = pair
            .and_then(|pair| pair.relative)
            .map(|relative| relative.scaled(100.0));
        all.push(finding(
            key,
            claim,
            GAIN,
            relative.map(|relative| (with_interval(relative, 1, " %"), above(relative, 0.0))),
        ));
    }
    all.extend([
        finding(
            "random-worse-than-cam",
            "Random at b = 0.2 misses more than CAM-only",
            "paired difference in points: held where its interval lies above 0, not held below 0, undecided with 0 inside",
            more_missed(view, "random@0.2", "cam-only"),
        ),
        finding(
            "random-dominated-0.4",
            "Random at b = 0.4 is dominated",
            DOMINATED,
            dominated(view, "random@0.4"),
        ),
        finding(
            "random-dominated-0.8",
            "Random at b = 0.8 is dominated",
            DOMINATED,
            dominated(view, "random@0.8"),
        ),
        finding(
            "random-over-target",
            "Random at b = 0.8 loads more than the target",
            "held where the interval of its load lies above the target, not held below, undecided across",
            over_target(view),
        ),
        finding(
            "price",
            "Mean price 0.007 at b = 0.2 and 8 at b = 0.8: the allowance binds first, then the price",
            "regimes, not values: held where the interval at 0.2 lies below 0.1 and that at 0.8 above 1, not held where one lies on the other side, else undecided",
            price(view),
        ),
    ]);
    for (arm, below, key, claim) in [
        (
            "conditional@0.4",
            "coverage-only@0.4",
            "step-conditioning",
            "Conditioning takes off 0.65 points, interval without zero",
        ),
        (
            "conditional-risk@0.4",
            "conditional@0.4",
            "step-risk",
            "Risk weighting takes off 0.39 points, interval without zero",
        ),
        (
            "proposed@0.4",
            "conditional-risk@0.4",
            "step-timeliness",
            "Timeliness takes off 0.21 points, interval with zero",
        ),
    ] {
        let points = view.pair(arm, below).and_then(|pair| pair.points);
        let result = points.map(|points| {
            let verdict = match (key, points.includes_zero()) {
                ("step-timeliness", true) => Verdict::Held,
                ("step-timeliness", false) => Verdict::NotHeld,
                _ => above(points, 0.0),
            };
            (with_interval(points, 2, " points"), verdict)
        });
        let rule = match key {
            "step-timeliness" => {
                "mean paired per-seed reduction in points: held where its interval has 0 inside, as the letter's; else not held"
            }
            _ => STEP,
        };
        all.push(finding(key, claim, rule, result));
    }
    all.extend([
        finding(
            "ladder-load",
            "Load falls along the ladder, 0.29 to 0.26",
            "paired difference of the first and the last rung's loads: held where its interval lies above 0, not held below 0, undecided with 0 inside",
            ladder_load(view),
        ),
        finding(
            "digest",
            "A digest has about 13 B and takes 0.07 of capacity",
            "held where the interval of the bytes meets 12.5 to 13.5 and that of the load 0.065 to 0.075; else not held",
            digest(view),
        ),
    ]);
    for one in &mut all {
        if one.key == "cam-only" && one.verdict != Verdict::NotRun {
            one.verdict = Verdict::Calibrated;
        } else if view.quick && one.verdict != Verdict::NotRun {
            one.verdict = Verdict::NotMeaningful;
        }
        if matches!(one.verdict, Verdict::NotHeld | Verdict::Undecided) {
            one.reason = letter::known_reason(one.key)
                .unwrap_or_default()
                .to_string();
        }
    }
    all
}

fn finding(
    key: &'static str,
    claim: &'static str,
    rule: &'static str,
    result: Option<(String, Verdict)>,
) -> Finding {
    let (ours, verdict) = result.unwrap_or_else(|| ("\u{2013}".to_string(), Verdict::NotRun));
    Finding {
        key,
        claim,
        rule,
        ours,
        verdict,
        reason: String::new(),
    }
}

/// Held where all of the interval is above the bound.
fn above(value: Interval, bound: f64) -> Verdict {
    if value.lo > bound {
        Verdict::Held
    } else if value.hi < bound {
        Verdict::NotHeld
    } else {
        Verdict::Undecided
    }
}

fn negated(value: Interval) -> Interval {
    Interval {
        mean: -value.mean,
        lo: -value.hi,
        hi: -value.lo,
    }
}

/// `value`, give or take `half`, meets the interval.
fn meets(ours: Interval, value: f64, half: f64) -> bool {
    ours.lo <= value + half && ours.hi >= value - half
}

fn both(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Held, Verdict::Held) => Verdict::Held,
        (Verdict::NotHeld, _) | (_, Verdict::NotHeld) => Verdict::NotHeld,
        _ => Verdict::Undecided,
    }
}

/// The letter's deficit of an arm, and its load if `with_load`.
fn value(view: &View<'_>, arm: &str, with_load: bool) -> Option<(String, Verdict)> {
    let ours = view.deficit(arm)?.scaled(100.0);
    let ours_load = view.load(arm)?;
    let theirs = letter::arm(arm)?;
    let met = meets(ours, 100.0 * theirs.deficit?, LAST_DIGIT.0)
        && (!with_load || meets(ours_load, theirs.load?, LAST_DIGIT.1));
    let mut text = with_interval(ours, 2, " %");
    if with_load {
        text.push_str(&format!(" at load {}", with_interval(ours_load, 3, "")));
    }
    Some((text, if met { Verdict::Held } else { Verdict::NotHeld }))
}

/// Mean per-seed difference of deficits in points.
fn deficit_difference(view: &View<'_>, more: &str, less: &str) -> Option<Interval> {
    let rows = paired_rows(&[view.arm(more)?, view.arm(less)?]);
    estimate(rows.len(), |drawn| {
        mean_of(&rows, drawn, |row| {
            Some(100.0 * (deficit_of(&row[0])? - deficit_of(&row[1])?))
        })
    })
}

fn load_difference(view: &View<'_>, more: &str, less: &str) -> Option<Interval> {
    let rows = paired_rows(&[view.arm(more)?, view.arm(less)?]);
    estimate(rows.len(), |drawn| {
        Some(mean_load(&rows, drawn, 0)? - mean_load(&rows, drawn, 1)?)
    })
}

fn falls(view: &View<'_>) -> Option<(String, Verdict)> {
    let first = deficit_difference(view, "proposed@0.2", "proposed@0.4")?;
    let second = deficit_difference(view, "proposed@0.4", "proposed@0.8")?;
    let text = format!(
        "by {} from 0.2 to 0.4, by {} from 0.4 to 0.8",
        with_interval(first, 2, " points"),
        with_interval(second, 2, " points")
    );
    Some((text, both(above(first, 0.0), above(second, 0.0))))
}

fn less_load(view: &View<'_>, less: &str, more: &str) -> Option<(String, Verdict)> {
    let by = load_difference(view, more, less)?;
    Some((
        format!("less by {}", with_interval(by, 3, "")),
        above(by, 0.0),
    ))
}

fn fourfold(view: &View<'_>) -> Option<(String, Verdict)> {
    let rows = paired_rows(&[view.arm("cpm-rmr")?, view.arm("proposed@0.8")?]);
    let ratio = estimate(rows.len(), |drawn| {
        let (rmr, ours) = (
            pooled_deficit(&rows, drawn, 0)?,
            pooled_deficit(&rows, drawn, 1)?,
        );
        (ours > 0.0).then(|| rmr / ours)
    })?;
    let loads = (view.load("proposed@0.8")?.mean, view.load("cpm-rmr")?.mean);
    let text = format!(
        "{}-fold [{}, {}], at load {:.2} against {:.2}",
        plain(ratio.mean, 1),
        plain(ratio.lo, 1),
        plain(ratio.hi, 1),
        loads.0,
        loads.1
    );
    // "Fourfold" is what rounds to four, or more.
    Some((text, above(ratio, 3.5)))
}

fn near_oracle(view: &View<'_>) -> Option<(String, Verdict)> {
    let distance = deficit_difference(view, "proposed@0.8", "oracle")?;
    Some((
        with_interval(distance, 2, " points"),
        above(negated(distance), -0.5),
    ))
}

fn reporting(view: &View<'_>) -> Option<(String, Verdict)> {
    let (rmr, ours) = (view.arm("cpm-rmr")?, view.arm("proposed@0.8")?);
    let rows = paired_rows(&[rmr, ours]);
    let mean_digest = ours.digest_load?;
    let less = estimate(rows.len(), |drawn| {
        let (rmr, ours) = (mean_load(&rows, drawn, 0)?, mean_load(&rows, drawn, 1)?);
        // Summaries of older revisions have no digest load by seed.
        let digest = mean_value(&rows, drawn, 1, |row| row.digest_load).unwrap_or(mean_digest);
        (rmr > 0.0).then(|| 100.0 * (1.0 - (ours - digest) / rmr))
    })?;
    Some((
        format!("{} less", with_interval(less, 0, " %")),
        above(less, 0.0),
    ))
}

fn more_missed(view: &View<'_>, more: &str, less: &str) -> Option<(String, Verdict)> {
    let by = deficit_difference(view, more, less)?;
    Some((
        format!("more by {}", with_interval(by, 2, " points")),
        above(by, 0.0),
    ))
}

fn dominated(view: &View<'_>, name: &str) -> Option<(String, Verdict)> {
    let arm = view.arm(name)?;
    arm.deficit?;
    let Some(by) = view.dominated_by(arm) else {
        return Some((
            "no arm has both less deficit and less load".to_string(),
            Verdict::NotHeld,
        ));
    };
    let by = by.to_string();
    // Any arm will do whose both differences are decided.
    let decided = view
        .arms
        .iter()
        .filter(|other| other.strategy != "oracle" && other.name != name)
        .filter(|other| {
            // Only an arm that dominates by the means can do so by the intervals.
            let below = |ours: Option<Interval>, theirs: Option<Interval>| {
                ours.zip(theirs)
                    .is_some_and(|(ours, theirs)| ours.mean < theirs.mean)
            };
            below(other.deficit, arm.deficit) && below(other.load, arm.load)
        })
        .find(|other| {
            let deficit = deficit_difference(view, name, &other.name);
            let load = load_difference(view, name, &other.name);
            deficit.is_some_and(|d| d.lo > 0.0) && load.is_some_and(|l| l.lo > 0.0)
        });
    Some(match decided {
        Some(other) => (
            format!("by {}, both intervals without zero", other.name),
            Verdict::Held,
        ),
        None => (
            format!("by {by} in the means, an interval includes zero"),
            Verdict::Undecided,
        ),
    })
}

fn over_target(view: &View<'_>) -> Option<(String, Verdict)> {
    let load = view.load("random@0.8")?;
    let text = format!(
        "load {}, target {}",
        with_interval(load, 3, ""),
        view.target()
    );
    Some((text, above(load, view.target())))
}

fn price(view: &View<'_>) -> Option<(String, Verdict)> {
    let low = view.arm("proposed@0.2")?.price?;
    let high = view.arm("proposed@0.8")?.price?;
    let text = format!(
        "{} and {}",
        with_interval(low, 3, ""),
        with_interval(high, 2, "")
    );
    let verdict = both(above(negated(low), -0.1), above(high, 1.0));
    Some((text, verdict))
}

fn ladder_load(view: &View<'_>) -> Option<(String, Verdict)> {
    let rungs = [
        "coverage-only@0.4",
        "conditional@0.4",
        "conditional-risk@0.4",
        "proposed@0.4",
    ];
    let loads = rungs
        .iter()
        .map(|arm| Some(plain(view.load(arm)?.mean, 3)))
        .collect::<Option<Vec<_>>>()?;
    let whole = load_difference(view, rungs[0], rungs[3])?;
    let text = format!(
        "{}; in all by {}",
        loads.join(", "),
        with_interval(whole, 3, "")
    );
    Some((text, above(whole, 0.0)))
}

fn digest(view: &View<'_>) -> Option<(String, Verdict)> {
    let arm = view
        .arm("proposed@0.4")
        .or_else(|| view.arms.iter().find(|arm| arm.hosted()))?;
    let rows = paired_rows(&[arm]);
    let bytes = arm.digest_bytes?;
    let mean = arm.digest_load?;
    // Summaries of older revisions have no digest load by seed.
    let load = estimate(rows.len(), |drawn| {
        mean_value(&rows, drawn, 0, |row| row.digest_load)
    })
    .unwrap_or(Interval {
        mean,
        lo: mean,
        hi: mean,
    });
    let held = meets(bytes, letter::DIGEST_BYTES, 0.5) && meets(load, letter::DIGEST_LOAD, 0.005);
    let text = format!(
        "{} and {} of capacity",
        with_interval(bytes, 1, " B"),
        with_interval(load, 3, "")
    );
    Some((
        text,
        if held {
            Verdict::Held
        } else {
            Verdict::NotHeld
        },
    ))
}
