//! The letter's findings as a table: what it says, by which rule a run is held against it, and the function that does so.

use super::judge::{
    Judged, above, beacons, digest, dominated, falls, fourfold, gain, held_if, ladder_load,
    less_load, more_missed, near_oracle, over_target, price, reporting, shown, step, value,
};
use crate::names::{
    CAM_ONLY, CPM_ETSI, CPM_RMR, PROPOSED_02, PROPOSED_04, PROPOSED_08, RANDOM_02, RANDOM_04,
    RANDOM_08,
};
use crate::report::view::View;

/// One finding, before it is held against a run.
pub(super) struct Claim {
    /// A short name, by which an explanation can be given.
    pub(super) key: &'static str,
    /// What the letter says.
    pub(super) claim: &'static str,
    /// By which rule it is held, not held or undecided.
    pub(super) rule: &'static str,
    /// What a run has and what follows; none where an arm that it needs was not run.
    pub(super) judge: fn(&View<'_>) -> Judged,
}

const BY_VALUE: &str = "held where the letter's value, give or take half a unit of its last digit, meets our interval; else not held";
const BY_BOTH_VALUES: &str = "held where the letter's deficit and load, each give or take half a unit of its last digit, both meet our intervals; else not held";
const GAIN: &str = "mean paired per-seed relative reduction: held where its interval lies above 0, not held below 0, undecided with 0 inside; its size beside the letter's is no part of the rule";
const STEP: &str = "mean paired per-seed reduction in points: held where its interval lies above 0, not held below 0, undecided with 0 inside";
const DOMINATED: &str = "held where an arm, the oracle aside, misses less and loads less, both paired intervals without 0; undecided where so only in the means; else not held";

/// Every finding, in the letter's order.
pub(super) const CLAIMS: [Claim; 25] = [
    Claim {
        key: "cam-only",
        claim: "CAM-only misses 5.8 %",
        rule: "none: d_min is calibrated to it, on other seeds",
        judge: |view| value(view, CAM_ONLY, false),
    },
    Claim {
        key: "beacons",
        claim: "Beacons alone occupy 64 % of capacity",
        rule: BY_VALUE,
        judge: beacons,
    },
    Claim {
        key: "cpm-rmr",
        claim: "CPM-RMR misses 5.6 % at load 0.30",
        rule: BY_BOTH_VALUES,
        judge: |view| value(view, CPM_RMR, true),
    },
    Claim {
        key: "cpm-etsi",
        claim: "CPM-ETSI misses 3.9 % at load 1.35",
        rule: BY_BOTH_VALUES,
        judge: |view| value(view, CPM_ETSI, true),
    },
    Claim {
        key: "proposed@0.2",
        claim: "Proposed at b = 0.2 misses 4.9 % at load 0.19",
        rule: BY_BOTH_VALUES,
        judge: |view| value(view, PROPOSED_02, true),
    },
    Claim {
        key: "proposed@0.4",
        claim: "Proposed at b = 0.4 misses 3.1 %",
        rule: BY_VALUE,
        judge: |view| value(view, PROPOSED_04, false),
    },
    Claim {
        key: "proposed@0.8",
        claim: "Proposed at b = 0.8 misses 1.4 % at load 0.29",
        rule: BY_BOTH_VALUES,
        judge: |view| value(view, PROPOSED_08, true),
    },
    Claim {
        key: "falls-with-b",
        claim: "Proposed falls with the allowance",
        rule: "held where both paired differences in points, 0.2 to 0.4 and 0.4 to 0.8, have intervals above 0; not held where one lies below 0; else undecided",
        judge: falls,
    },
    Claim {
        key: "load-0.4-below-rmr",
        claim: "Proposed at b = 0.4 loads less than CPM-RMR",
        rule: "paired difference of loads: held where its interval lies above 0, not held below 0, undecided with 0 inside",
        judge: |view| less_load(view, PROPOSED_04, CPM_RMR),
    },
    Claim {
        key: "fourfold",
        claim: "Proposed at b = 0.8 has a fourfold lower deficit than CPM-RMR at comparable load",
        rule: "ratio of pooled deficits: held where its interval lies above 3.5 (what rounds to four, or more), not held below, undecided across; loads are shown, not judged",
        judge: fourfold,
    },
    Claim {
        key: "near-oracle",
        claim: "Proposed at b = 0.8 is within 0.5 points of the oracle",
        rule: "paired difference in points: held where its interval lies below 0.5, not held above, undecided across",
        judge: near_oracle,
    },
    Claim {
        key: "reporting-airtime",
        claim: "Proposed at b = 0.8 spends 27 % less on reporting, net of the digest, than CPM-RMR",
        rule: "relative saving of load net of digests: held where its interval lies above 0, not held below 0, undecided with 0 inside; its size beside 27 % is no part of the rule",
        judge: reporting,
    },
    Claim {
        key: "gain-0.2",
        claim: "Proposed misses 26 % less than random at b = 0.2, interval without zero",
        rule: GAIN,
        judge: |view| gain(view, 0.2),
    },
    Claim {
        key: "gain-0.4",
        claim: "Proposed misses 33 % less than random at b = 0.4, interval without zero",
        rule: GAIN,
        judge: |view| gain(view, 0.4),
    },
    Claim {
        key: "gain-0.8",
        claim: "Proposed misses 10 % less than random at b = 0.8, interval without zero",
        rule: GAIN,
        judge: |view| gain(view, 0.8),
    },
    Claim {
        key: "random-worse-than-cam",
        claim: "Random at b = 0.2 misses more than CAM-only",
        rule: "paired difference in points: held where its interval lies above 0, not held below 0, undecided with 0 inside",
        judge: |view| more_missed(view, RANDOM_02, CAM_ONLY),
    },
    Claim {
        key: "random-dominated-0.4",
        claim: "Random at b = 0.4 is dominated",
        rule: DOMINATED,
        judge: |view| dominated(view, RANDOM_04),
    },
    Claim {
        key: "random-dominated-0.8",
        claim: "Random at b = 0.8 is dominated",
        rule: DOMINATED,
        judge: |view| dominated(view, RANDOM_08),
    },
    Claim {
        key: "random-over-target",
        claim: "Random at b = 0.8 loads more than the target",
        rule: "held where the interval of its load lies above the target, not held below, undecided across",
        judge: over_target,
    },
    Claim {
        key: "price",
        claim: "Mean price 0.007 at b = 0.2 and 8 at b = 0.8: the allowance binds first, then the price",
        rule: "regimes, not values: held where the interval at 0.2 lies below 0.1 and that at 0.8 above 1, not held where one lies on the other side, else undecided",
        judge: price,
    },
    Claim {
        key: "step-conditioning",
        claim: "Conditioning takes off 0.65 points, interval without zero",
        rule: STEP,
        judge: |view| step(view, 2).map(|step| (shown(step), above(step, 0.0))),
    },
    Claim {
        key: "step-risk",
        claim: "Risk weighting takes off 0.39 points, interval without zero",
        rule: STEP,
        judge: |view| step(view, 3).map(|step| (shown(step), above(step, 0.0))),
    },
    Claim {
        key: "step-timeliness",
        claim: "Timeliness takes off 0.21 points, interval with zero",
        rule: "mean paired per-seed reduction in points: held where its interval has 0 inside, as the letter's; else not held",
        judge: |view| step(view, 4).map(|step| (shown(step), held_if(step.includes_zero()))),
    },
    Claim {
        key: "ladder-load",
        claim: "Load falls along the ladder, 0.29 to 0.26",
        rule: "paired difference of the first and the last rung's loads: held where its interval lies above 0, not held below 0, undecided with 0 inside",
        judge: ladder_load,
    },
    Claim {
        key: "digest",
        claim: "A digest has about 13 B and takes 0.07 of capacity",
        rule: "held where the interval of the bytes meets 12.5 to 13.5 and that of the load 0.065 to 0.075; else not held",
        judge: digest,
    },
];
