//! The answer in one paragraph, made from the numbers.

use super::draw::plain;
use super::figures::benefit::EqualLoad;
use super::view::{Interval, View};
use crate::names::{
    CAM_ONLY, CPM_ETSI, CPM_RMR, DEMAND, ORACLE, PROPOSED, RANDOM, RIVALS, at, rung,
};

fn percent(value: Interval) -> String {
    let value = value.scaled(100.0);
    format!(
        "{} % [{}, {}]",
        plain(value.mean, 1),
        plain(value.lo, 1),
        plain(value.hi, 1)
    )
}

/// `a`, `a and b`, `a, b and c`.
fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Sentences in plain text; what was not run is left out.
pub(crate) fn paragraph(view: &View<'_>, curves: &[EqualLoad]) -> String {
    let mut said: Vec<String> = Vec::new();
    if let Some(cam) = view.deficit(CAM_ONLY) {
        said.push(format!(
            "With beacons alone, vehicles miss {} of the objects that matter to them.",
            percent(cam)
        ));
    }
    said.extend(strategy(view, PROPOSED, "The proposed selection misses"));
    said.extend(strategy(view, DEMAND, "Choice by demand misses"));
    said.extend(against_senders(view));
    said.extend(against_random(view));
    said.extend(equal_load(curves));
    said.extend(ladder(view));
    if said.is_empty() {
        return "The summary holds no arm with a deficit, so there is nothing to answer."
            .to_string();
    }
    let brackets = if view.quick {
        "Brackets are 95 % intervals of too few or too short runs to mean anything: take all figures as a smoke test."
    } else {
        "Brackets are 95 % intervals over seeds."
    };
    said.push(brackets.to_string());
    said.join(" ")
}

/// Deficits and loads of a strategy at all allowances at which it was run.
fn strategy(view: &View<'_>, strategy: &str, misses: &str) -> Option<String> {
    let mut deficits = Vec::new();
    let mut loads = Vec::new();
    let mut allowances = Vec::new();
    for b in view.allowances(strategy) {
        let arm = view.arm(&at(strategy, b))?;
        deficits.push(percent(arm.deficit?));
        loads.push(plain(arm.load?.mean, 2));
        allowances.push(b.to_string());
    }
    if deficits.is_empty() {
        return None;
    }
    let plural = if deficits.len() > 1 {
        "allowances"
    } else {
        "an allowance of"
    };
    Some(format!(
        "{misses} {} at {plural} {}, for {} of capacity in cooperative load.",
        list(&deficits),
        list(&allowances),
        list(&loads)
    ))
}

fn against_senders(view: &View<'_>) -> Option<String> {
    let b = *view.allowances(PROPOSED).last()?;
    let ours = at(PROPOSED, b);
    let mut parts = Vec::new();
    for (arm, name) in [(CPM_RMR, "CPM-RMR"), (CPM_ETSI, "CPM-ETSI")] {
        if let (Some(deficit), Some(load)) = (view.deficit(arm), view.load(arm)) {
            parts.push(format!(
                "{name} misses {} at load {}",
                percent(deficit),
                plain(load.mean, 2)
            ));
        }
    }
    let oracle = view.deficit(ORACLE).zip(view.deficit(&ours)).map(|(oracle, ours)| {
        format!(
            "the oracle, which nothing can beat, {}, {} points less than the proposed selection at {b}",
            percent(oracle),
            plain(100.0 * (ours.mean - oracle.mean), 1)
        )
    });
    parts.extend(oracle);
    (!parts.is_empty()).then(|| format!("For comparison: {}.", list(&parts)))
}

/// Both kinds of random admission at equal allowance, in one sentence.
fn against_random(view: &View<'_>) -> Option<String> {
    let mut rivals = Vec::new();
    for rival in RIVALS {
        let mut parts = Vec::new();
        for b in view.allowances(PROPOSED) {
            let pair = view.pair(&at(PROPOSED, b), &at(rival, b));
            if let Some(relative) = pair.and_then(|pair| pair.relative) {
                parts.push(format!("{} at {b}", comparison(relative.scaled(100.0))));
            }
        }
        if !parts.is_empty() {
            rivals.push(format!("{} than {}", list(&parts), described(rival)));
        }
    }
    (!rivals.is_empty()).then(|| {
        format!(
            "At equal allowance it misses {}.",
            rivals.join("; it misses ")
        )
    })
}

fn described(rival: &str) -> &'static str {
    match rival {
        RANDOM => "random admission that keeps its set",
        _ => "random admission redrawn every cycle",
    }
}

/// `26 % less [21, 31]`, turned round where it is more.
fn comparison(relative: Interval) -> String {
    let (way, value) = if relative.mean >= 0.0 {
        ("less", relative)
    } else {
        (
            "more",
            Interval {
                mean: -relative.mean,
                lo: -relative.hi,
                hi: -relative.lo,
            },
        )
    };
    let zero = if relative.includes_zero() {
        ", an interval that includes zero,"
    } else {
        ""
    };
    format!(
        "{} % {way} [{}, {}]{zero}",
        plain(value.mean, 0),
        plain(value.lo, 0),
        plain(value.hi, 0)
    )
}

/// Both kinds of random admission at equal load, in one sentence.
fn equal_load(curves: &[EqualLoad]) -> Option<String> {
    let parts: Vec<String> = curves
        .iter()
        .filter_map(|curve| {
            let (lo, hi) = curve.overlap?;
            let decided = |sign: f64| {
                curve
                    .points
                    .iter()
                    .filter(|(_, value)| !value.includes_zero() && value.mean * sign > 0.0)
                    .count()
            };
            let (less, more, all) = (decided(1.0), decided(-1.0), curve.points.len());
            let rival = curve.rival;
            let what = if less == all {
                format!("less than {rival} throughout")
            } else if more == all {
                format!("more than {rival} throughout")
            } else if less == 0 && more == 0 {
                format!("as much as {rival}, as far as the intervals tell")
            } else {
                let counted = |count: usize| match count {
                    0 => "none".to_string(),
                    _ => format!("{count} of {all} loads"),
                };
                let rest = if less + more < all {
                    ", undecided at the rest"
                } else {
                    ""
                };
                format!(
                    "more than {rival} at {}, less at {}{rest}",
                    counted(more),
                    counted(less)
                )
            };
            Some(format!("{what} ({} to {})", plain(lo, 2), plain(hi, 2)))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "At equal load, where their ranges overlap, it misses {}.",
            list(&parts)
        )
    })
}

fn ladder(view: &View<'_>) -> Option<String> {
    let names = ["conditioning", "risk", "timeliness"];
    let mut parts = Vec::new();
    for (i, name) in names.iter().enumerate() {
        // Coverage alone is the rung above random admission, and the first that the letter steps from.
        let points = view.pair(&rung(i + 2), &rung(i + 1))?.points?;
        let zero = if points.includes_zero() {
            ", including zero"
        } else {
            ""
        };
        parts.push(format!(
            "{name} {} [{}, {}{zero}]",
            plain(points.mean, 2),
            plain(points.lo, 2),
            plain(points.hi, 2)
        ));
    }
    Some(format!(
        "At an allowance of 0.4 the factors of the score take off, in points: {}.",
        list(&parts)
    ))
}
