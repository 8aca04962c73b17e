//! How a run is held against a finding: what it has, in words, and what follows from its intervals.

use super::Verdict;
use crate::letter;
use crate::names::{
    CAM_ONLY, CPM_RMR, LADDER, ORACLE, PROPOSED, PROPOSED_02, PROPOSED_04, PROPOSED_08, RANDOM,
    RANDOM_08, at, rung,
};
use crate::report::draw::plain;
use crate::report::figures::with_interval;
use crate::report::paired::{
    deficit_of, mean_load, mean_of, mean_value, paired_rows, pooled_deficit,
};
use crate::report::view::{Interval, View};
use crate::stats::estimate;

/// What a run has and what follows; none where an arm that the finding needs was not run.
pub(super) type Judged = Option<(String, Verdict)>;

/// Half a unit of the last digit that the letter prints of deficits in per cent, and of loads.
const LAST_DIGIT: (f64, f64) = (0.05, 0.005);

/// Held where all of the interval is above the bound.
pub(super) fn above(value: Interval, bound: f64) -> Verdict {
    if value.lo > bound {
        Verdict::Held
    } else if value.hi < bound {
        Verdict::NotHeld
    } else {
        Verdict::Undecided
    }
}

/// Held, or not held: nothing in between.
pub(super) fn held_if(held: bool) -> Verdict {
    if held {
        Verdict::Held
    } else {
        Verdict::NotHeld
    }
}

fn negated(value: Interval) -> Interval {
    Interval {
        mean: -value.mean,
        lo: -value.hi,
        hi: -value.lo,
    }
}

/// A difference with the word for its sign, so that it is no less than nothing.
fn turned(by: Interval, [above, below]: [&'static str; 2]) -> (&'static str, Interval) {
    if by.mean < 0.0 {
        (below, negated(by))
    } else {
        (above, by)
    }
}

/// `less by 0.15 [0.1, 0.2]`, or `more by …` where it is more.
fn by_how_much(by: Interval, ways: [&'static str; 2], decimals: usize, unit: &str) -> String {
    let (way, by) = turned(by, ways);
    format!("{way} by {}", with_interval(by, decimals, unit))
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
pub(super) fn value(view: &View<'_>, arm: &str, with_load: bool) -> Judged {
    let ours = view.deficit(arm)?.scaled(100.0);
    let ours_load = view.load(arm)?;
    let theirs = letter::arm(arm)?;
    let met = meets(ours, 100.0 * theirs.deficit?, LAST_DIGIT.0)
        && (!with_load || meets(ours_load, theirs.load?, LAST_DIGIT.1));
    let mut text = with_interval(ours, 2, " %");
    if with_load {
        text.push_str(&format!(" at load {}", with_interval(ours_load, 3, "")));
    }
    Some((text, held_if(met)))
}

/// What beacons alone take of capacity, where nothing else is sent.
pub(super) fn beacons(view: &View<'_>) -> Judged {
    let ours = view.arm(CAM_ONLY)?.beacons?.scaled(100.0);
    let met = meets(ours, 100.0 * letter::BEACON_LOAD, 100.0 * LAST_DIGIT.1);
    Some((with_interval(ours, 1, " %"), held_if(met)))
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

pub(super) fn falls(view: &View<'_>) -> Judged {
    let first = deficit_difference(view, PROPOSED_02, PROPOSED_04)?;
    let second = deficit_difference(view, PROPOSED_04, PROPOSED_08)?;
    let ways = ["less", "more"];
    let text = format!(
        "{} from 0.2 to 0.4, {} from 0.4 to 0.8",
        by_how_much(first, ways, 2, " points"),
        by_how_much(second, ways, 2, " points")
    );
    Some((text, both(above(first, 0.0), above(second, 0.0))))
}

pub(super) fn less_load(view: &View<'_>, less: &str, more: &str) -> Judged {
    let by = load_difference(view, more, less)?;
    Some((by_how_much(by, ["less", "more"], 3, ""), above(by, 0.0)))
}

pub(super) fn fourfold(view: &View<'_>) -> Judged {
    let rows = paired_rows(&[view.arm(CPM_RMR)?, view.arm(PROPOSED_08)?]);
    let ratio = estimate(rows.len(), |drawn| {
        let (rmr, ours) = (
            pooled_deficit(&rows, drawn, 0)?,
            pooled_deficit(&rows, drawn, 1)?,
        );
        (ours > 0.0).then(|| rmr / ours)
    })?;
    let loads = (view.load(PROPOSED_08)?.mean, view.load(CPM_RMR)?.mean);
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

pub(super) fn near_oracle(view: &View<'_>) -> Judged {
    let distance = deficit_difference(view, PROPOSED_08, ORACLE)?;
    Some((
        with_interval(distance, 2, " points"),
        above(negated(distance), -0.5),
    ))
}

pub(super) fn reporting(view: &View<'_>) -> Judged {
    let (rmr, ours) = (view.arm(CPM_RMR)?, view.arm(PROPOSED_08)?);
    let rows = paired_rows(&[rmr, ours]);
    let mean_digest = ours.all.load_parts.digest?;
    let less = estimate(rows.len(), |drawn| {
        let (rmr, ours) = (mean_load(&rows, drawn, 0)?, mean_load(&rows, drawn, 1)?);
        // Summaries of older revisions have no digest load by seed.
        let digest = mean_value(&rows, drawn, 1, |row| row.digest_load).unwrap_or(mean_digest);
        (rmr > 0.0).then(|| 100.0 * (1.0 - (ours - digest) / rmr))
    })?;
    let (way, shown) = turned(less, ["less", "more"]);
    Some((
        format!("{} {way}", with_interval(shown, 0, " %")),
        above(less, 0.0),
    ))
}

/// The proposal against random admission at the same allowance, relative.
pub(super) fn gain(view: &View<'_>, allowance: f64) -> Judged {
    let pair = view.pair(&at(PROPOSED, allowance), &at(RANDOM, allowance))?;
    let relative = pair.relative?.scaled(100.0);
    Some((with_interval(relative, 1, " %"), above(relative, 0.0)))
}

/// The paired reduction from the rung below, in points.
pub(super) fn step(view: &View<'_>, number: usize) -> Option<Interval> {
    view.pair(&rung(number), &rung(number - 1))?.points
}

/// A difference in points.
pub(super) fn shown(points: Interval) -> String {
    with_interval(points, 2, " points")
}

pub(super) fn more_missed(view: &View<'_>, more: &str, less: &str) -> Judged {
    let by = deficit_difference(view, more, less)?;
    let text = by_how_much(by, ["more", "less"], 2, " points");
    Some((text, above(by, 0.0)))
}

pub(super) fn dominated(view: &View<'_>, name: &str) -> Judged {
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
        .filter(|other| !other.who.is_yardstick() && other.name != name)
        .filter(|other| {
            // Only an arm that dominates by the means can do so by the intervals.
            let below = |ours: Option<Interval>, theirs: Option<Interval>| {
                ours.zip(theirs)
                    .is_some_and(|(ours, theirs)| ours.mean < theirs.mean)
            };
            below(other.deficit, arm.deficit) && below(other.load, arm.load)
        })
        .find(|other| {
            let deficit = deficit_difference(view, name, other.name);
            let load = load_difference(view, name, other.name);
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

pub(super) fn over_target(view: &View<'_>) -> Judged {
    let load = view.load(RANDOM_08)?;
    let text = format!(
        "load {}, target {}",
        with_interval(load, 3, ""),
        view.summary.target()
    );
    Some((text, above(load, view.summary.target())))
}

pub(super) fn price(view: &View<'_>) -> Judged {
    let low = view.arm(PROPOSED_02)?.price?;
    let high = view.arm(PROPOSED_08)?.price?;
    let text = format!(
        "{} and {}",
        with_interval(low, 3, ""),
        with_interval(high, 2, "")
    );
    let verdict = both(above(negated(low), -0.1), above(high, 1.0));
    Some((text, verdict))
}

pub(super) fn ladder_load(view: &View<'_>) -> Judged {
    // Random admission is no rung of the letter's here.
    let rungs = 1..LADDER.len();
    let loads = rungs
        .clone()
        .map(|number| Some(plain(view.load(&rung(number))?.mean, 3)))
        .collect::<Option<Vec<_>>>()?;
    let whole = load_difference(view, &rung(rungs.start), &rung(rungs.end - 1))?;
    let text = format!(
        "{}; in all by {}",
        loads.join(", "),
        with_interval(whole, 3, "")
    );
    Some((text, above(whole, 0.0)))
}

pub(super) fn digest(view: &View<'_>) -> Judged {
    let arm = view
        .arm(PROPOSED_04)
        .or_else(|| view.arms.iter().find(|arm| arm.who.is_hosted()))?;
    let rows = paired_rows(&[arm]);
    let bytes = arm.digest_bytes?;
    let mean = arm.all.load_parts.digest?;
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
    Some((text, held_if(held)))
}
