//! The letter's findings, each held against this run.

use super::bootstrap::{deficit_of, interval, mean_load, mean_of, paired_rows, pooled_deficit};
use super::draw::plain;
use super::figures::with_interval;
use super::letter;
use super::view::{Interval, View, arm_at};

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
            Self::NotMeaningful => "not meaningful (quick run)",
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
    /// What this run has.
    pub ours: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why it does not, where that is known. Empty where it holds.
    pub reason: String,
}

/// Every finding, in the letter's order.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    let mut all = vec![
        finding(
            "cam-only",
            "CAM-only misses 5.8 %",
            value(view, "cam-only", Some((5.8, 0.05)), None),
        ),
        finding(
            "cpm-rmr",
            "CPM-RMR misses 5.6 % at load 0.30",
            value(view, "cpm-rmr", Some((5.6, 0.05)), Some((0.30, 0.005))),
        ),
        finding(
            "cpm-etsi",
            "CPM-ETSI misses 3.9 % at load 1.35",
            value(view, "cpm-etsi", Some((3.9, 0.05)), Some((1.35, 0.005))),
        ),
        finding(
            "proposed@0.2",
            "Proposed at b = 0.2 misses 4.9 % at load 0.19",
            value(view, "proposed@0.2", Some((4.9, 0.05)), Some((0.19, 0.005))),
        ),
        finding(
            "proposed@0.4",
            "Proposed at b = 0.4 misses 3.1 %",
            value(view, "proposed@0.4", Some((3.1, 0.05)), None),
        ),
        finding(
            "proposed@0.8",
            "Proposed at b = 0.8 misses 1.4 % at load 0.29",
            value(view, "proposed@0.8", Some((1.4, 0.05)), Some((0.29, 0.005))),
        ),
        finding(
            "falls-with-b",
            "Proposed falls with the allowance",
            falls(view),
        ),
        finding(
            "load-0.4-below-rmr",
            "Proposed at b = 0.4 loads less than CPM-RMR",
            less_load(view, "proposed@0.4", "cpm-rmr"),
        ),
        finding(
            "fourfold",
            "Proposed at b = 0.8 has a fourfold lower deficit than CPM-RMR",
            fourfold(view),
        ),
        finding(
            "near-oracle",
            "Proposed at b = 0.8 is within 0.5 points of the oracle",
            near_oracle(view),
        ),
        finding(
            "reporting-airtime",
            "Proposed at b = 0.8 spends 27 % less on reporting, net of the digest, than CPM-RMR",
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
            relative.map(|relative| (with_interval(relative, 1, " %"), above(relative, 0.0))),
        ));
    }
    all.extend([
        finding("random-worse-than-cam", "Random at b = 0.2 misses more than CAM-only", more_missed(view, "random@0.2", "cam-only")),
        finding("random-dominated-0.4", "Random at b = 0.4 is dominated", dominated(view, "random@0.4")),
        finding("random-dominated-0.8", "Random at b = 0.8 is dominated", dominated(view, "random@0.8")),
        finding("random-over-target", "Random at b = 0.8 loads more than the target", over_target(view)),
        finding("price", "Mean price 0.007 at b = 0.2 and 8 at b = 0.8: the allowance binds first, then the price", price(view)),
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
        all.push(finding(key, claim, result));
    }
    all.extend([
        finding(
            "ladder-load",
            "Load falls along the ladder, 0.29 to 0.26",
            ladder_load(view),
        ),
        finding(
            "digest",
            "A digest has about 13 B and takes 0.07 of capacity",
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

fn finding(key: &'static str, claim: &'static str, result: Option<(String, Verdict)>) -> Finding {
    let (ours, verdict) = result.unwrap_or_else(|| ("\u{2013}".to_string(), Verdict::NotRun));
    Finding {
        key,
        claim,
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

/// The letter's value and half the unit of its last digit meet the interval.
fn meets(value: Interval, (letter, half): (f64, f64)) -> bool {
    value.lo <= letter + half && value.hi >= letter - half
}

fn both(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Held, Verdict::Held) => Verdict::Held,
        (Verdict::NotHeld, _) | (_, Verdict::NotHeld) => Verdict::NotHeld,
        _ => Verdict::Undecided,
    }
}

fn value(
    view: &View<'_>,
    arm: &str,
    deficit: Option<(f64, f64)>,
    load: Option<(f64, f64)>,
) -> Option<(String, Verdict)> {
    let ours = view.deficit(arm)?.scaled(100.0);
    let ours_load = view.load(arm)?;
    let met = deficit.is_none_or(|letter| meets(ours, letter))
        && load.is_none_or(|letter| meets(ours_load, letter));
    let mut text = with_interval(ours, 2, " %");
    if load.is_some() {
        text.push_str(&format!(" at load {}", with_interval(ours_load, 3, "")));
    }
    Some((text, if met { Verdict::Held } else { Verdict::NotHeld }))
}

/// Mean per-seed difference of deficits in points.
fn deficit_difference(view: &View<'_>, more: &str, less: &str) -> Option<Interval> {
    let rows = paired_rows(&[view.arm(more)?, view.arm(less)?]);
    interval(rows.len(), |drawn| {
        mean_of(&rows, drawn, |row| {
            Some(100.0 * (deficit_of(&row[0])? - deficit_of(&row[1])?))
        })
    })
}

fn load_difference(view: &View<'_>, more: &str, less: &str) -> Option<Interval> {
    let rows = paired_rows(&[view.arm(more)?, view.arm(less)?]);
    interval(rows.len(), |drawn| {
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
    let ratio = interval(rows.len(), |drawn| {
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
    let digest = ours.digest_load?;
    let rows = paired_rows(&[rmr, ours]);
    let less = interval(rows.len(), |drawn| {
        let (rmr, ours) = (mean_load(&rows, drawn, 0)?, mean_load(&rows, drawn, 1)?);
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

/// The summary has no interval of the price, so only the regimes are judged.
fn price(view: &View<'_>) -> Option<(String, Verdict)> {
    let low = view.arm("proposed@0.2")?.price?;
    let high = view.arm("proposed@0.8")?.price?;
    let held = low < 0.1 && high > 1.0;
    let text = format!(
        "{} and {}, no interval; judged by the regimes alone (below 0.1, above 1)",
        plain(low, 3),
        plain(high, 1)
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
    let (bytes, load) = (arm.digest_bytes?, arm.digest_load?);
    let held = (12.5..13.5).contains(&bytes) && (0.065..0.075).contains(&load);
    let text = format!(
        "{} B and {} of capacity, no interval",
        plain(bytes, 1),
        plain(load, 3)
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
