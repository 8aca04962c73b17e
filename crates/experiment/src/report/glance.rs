//! The report at a glance: three lines before anything else.

use super::draw::plain;
use super::findings::{Finding, Tally};
use super::parameters::thousands;
use super::view::{ArmView, Interval, View};
use crate::names::{DEMAND, PROPOSED, at};

/// How much more than the target still counts as keeping to it.
const SLACK: f64 = 0.005;

/// What was run, what came of it, and what is best: each a word and a sentence.
pub(crate) fn lines(view: &View<'_>, findings: &[Finding]) -> Vec<(&'static str, String)> {
    vec![
        ("Run", run(view)),
        ("Verdict", verdict(view, findings)),
        ("Best", best(view)),
    ]
}

fn run(view: &View<'_>) -> String {
    let summary = view.summary;
    let scenario = &summary.scenario;
    let count = |x: Option<f64>| x.map(|x| thousands(x.round()));
    let vehicles = match (count(scenario.vehicles), count(scenario.participants)) {
        (Some(all), Some(with)) => format!(", {all} vehicles ({with} with radio)"),
        _ => String::new(),
    };
    let seeds = match summary.seeds.len() {
        1 => "1 seed".to_string(),
        n => format!("{n} paired seeds"),
    };
    format!(
        "{} arms in scenario {}, {} traffic{vehicles}, {seeds} of {} s each.",
        view.arms.len(),
        scenario.name,
        summary.traffic,
        plain(summary.measure_s, 0),
    )
}

fn verdict(view: &View<'_>, findings: &[Finding]) -> String {
    let tally = Tally::of(findings);
    if !view.is_the_letters() {
        return "The letter is not judged: this is not its evaluation.".to_string();
    }
    if view.quick {
        return "Nothing is judged: too few or too short runs.".to_string();
    }
    if tally.all() == 0 {
        return "Nothing is judged: none of the letter's findings is about the arms that were run."
            .to_string();
    }
    format!(
        "Of {} findings of the letter that could be judged, {} held, {} not held, {} undecided.",
        tally.all(),
        tally.held,
        tally.not_held,
        tally.undecided
    )
}

/// The arm that misses least of those that can be built and keep to the target; of all that can be built where none does.
fn best_arm<'v, 'a>(view: &'v View<'a>) -> Option<(&'v ArmView<'a>, bool)> {
    let buildable = || {
        let arms = view.arms.iter();
        arms.filter(|arm| !arm.who.is_yardstick() && arm.deficit.is_some() && arm.load.is_some())
    };
    let least = |a: &&ArmView<'_>, b: &&ArmView<'_>| {
        let of = |arm: &ArmView<'_>| arm.deficit.map_or(f64::INFINITY, |deficit| deficit.mean);
        of(a).total_cmp(&of(b))
    };
    let target = view.summary.target() + SLACK;
    let keeps = |arm: &&ArmView<'_>| arm.load.is_some_and(|load| load.mean <= target);
    match buildable().filter(keeps).min_by(least) {
        Some(arm) => Some((arm, true)),
        None => buildable().min_by(least).map(|arm| (arm, false)),
    }
}

fn misses(arm: &ArmView<'_>) -> String {
    let percent = |value: Interval| {
        let value = value.scaled(100.0);
        let [mean, lo, hi] = [value.mean, value.lo, value.hi].map(|x| plain(x, 1));
        format!("{mean} % [{lo}, {hi}]")
    };
    format!(
        "{} misses {} at load {}",
        arm.name,
        arm.deficit.map_or_else(String::new, percent),
        arm.load
            .map_or_else(String::new, |load| plain(load.mean, 2))
    )
}

fn best(view: &View<'_>) -> String {
    let Some((best, keeps)) = best_arm(view) else {
        return "No arm has a deficit and a load.".to_string();
    };
    let of = if keeps {
        format!(
            "of arms that keep to the congestion target of {}",
            plain(view.summary.target(), 2)
        )
    } else {
        "no arm keeps to the congestion target; of all".to_string()
    };
    let letters = view
        .allowances(PROPOSED)
        .iter()
        .filter_map(|&b| view.arm(&at(PROPOSED, b)))
        .filter(|arm| arm.deficit.is_some())
        .min_by(|a, b| {
            let of = |arm: &ArmView<'_>| arm.deficit.map_or(f64::INFINITY, |d| d.mean);
            of(a).total_cmp(&of(b))
        });
    let beside = match letters {
        Some(arm) if arm.name == best.name => ", the letter's own".to_string(),
        Some(arm) => format!("; the letter's {}", misses(arm)),
        None => String::new(),
    };
    format!("{} ({of}){beside}. {}", misses(best), caveat(view, best))
}

/// The one thing that must be known of it.
fn caveat(view: &View<'_>, best: &ArmView<'_>) -> &'static str {
    if view.quick {
        "Caveat: intervals of so few or so short runs mean nothing."
    } else if view.summary.label.is_some() {
        "Caveat: constants were fitted to the letter's figures."
    } else if best.who.strategy.starts_with(DEMAND) {
        "Caveat: choice by demand was made on this corridor, on other seeds than these."
    } else if view.is_the_letters() {
        "Caveat: beacons alone are calibrated to the letter, and three readings were chosen with its results in view."
    } else {
        "Caveat: one scenario, one traffic model."
    }
}
