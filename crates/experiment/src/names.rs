//! Names of arms that something here is about: a finding of the letter, a figure, a comparison of two arms.
//!
//! Order, looks and kinds of arms are none of these: they come from the table of arms, `covey_simulator::arms`, by way of
//! [`ArmName`].

use std::cmp::Ordering;

use covey_simulator::Arms;
use covey_simulator::arms::{Look, Strategy};

/// Beacons alone, to which the relevance rule is calibrated.
pub(crate) const CAM_ONLY: &str = "cam-only";
/// Everyone reports by the standard's rules.
pub(crate) const CPM_ETSI: &str = "cpm-etsi";
/// The same with redundancy mitigation.
pub(crate) const CPM_RMR: &str = "cpm-rmr";
/// The information ceiling.
pub(crate) const ORACLE: &str = "oracle";
/// The letter's protocol.
pub(crate) const PROPOSED: &str = "proposed";
/// Random admission that keeps its set.
pub(crate) const RANDOM: &str = "random";
/// Random admission redrawn every cycle.
pub(crate) const RANDOM_REDRAW: &str = "random-redraw";
/// Choice by demand, the policy of our own.
pub(crate) const DEMAND: &str = "demand";
/// The same content, but who reports is drawn at random.
pub(crate) const DEMAND_RANDOM: &str = "demand-random";

/// The two readings of random admission, against which the letter's protocol is held at equal allowance and at equal load.
pub(crate) const RIVALS: [&str; 2] = [RANDOM, RANDOM_REDRAW];
/// The steps from random admission to the letter's protocol, each with one factor more than the one before.
pub(crate) const LADDER: [&str; 5] = [
    RANDOM,
    "coverage-only",
    "conditional",
    "conditional-risk",
    PROPOSED,
];
/// The allowance at which the letter climbs the ladder.
pub(crate) const LADDER_ALLOWANCE: f64 = 0.4;

pub(crate) const PROPOSED_02: &str = "proposed@0.2";
pub(crate) const PROPOSED_04: &str = "proposed@0.4";
pub(crate) const PROPOSED_08: &str = "proposed@0.8";
pub(crate) const RANDOM_02: &str = "random@0.2";
pub(crate) const RANDOM_04: &str = "random@0.4";
pub(crate) const RANDOM_08: &str = "random@0.8";
pub(crate) const RANDOM_REDRAW_04: &str = "random-redraw@0.4";

/// The arm of a strategy at an allowance.
pub(crate) fn at(strategy: &str, allowance: f64) -> String {
    format!("{strategy}@{allowance}")
}

/// The strategy of an arm: its name without allowance.
pub(crate) fn strategy_of(arm: &str) -> &str {
    arm.split_once('@').map_or(arm, |(strategy, _)| strategy)
}

/// The allowance in an arm's name, if there is one that makes sense.
pub(crate) fn allowance_of(arm: &str) -> Option<f64> {
    let (_, allowance) = arm.split_once('@')?;
    allowance.parse().ok().filter(|b: &f64| b.is_finite())
}

/// The rung of the ladder with this number, from 0 for random admission on.
pub(crate) fn rung(number: usize) -> String {
    at(LADDER[number], LADDER_ALLOWANCE)
}

/// A name of an arm, taken apart and looked up in a table of arms. Results may hold arms that this program does not know, those
/// of another program or another version: they come after the others, and what they are is told from the name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArmName<'a> {
    /// Without allowance.
    pub(crate) strategy: &'a str,
    pub(crate) allowance: Option<f64>,
    known: Option<&'static Strategy>,
}

impl<'a> ArmName<'a> {
    pub(crate) fn new(name: &'a str, arms: &Arms) -> Self {
        let strategy = strategy_of(name);
        Self {
            strategy,
            allowance: allowance_of(name),
            known: arms.get(strategy),
        }
    }

    /// A host decides in this arm.
    pub(crate) fn is_hosted(&self) -> bool {
        self.known
            .map_or(self.allowance.is_some(), Strategy::is_hosted)
    }

    /// It is there to be compared with: nobody can build it.
    pub(crate) fn is_yardstick(&self) -> bool {
        self.known.is_some_and(Strategy::is_yardstick)
    }

    /// How it looks in figures.
    pub(crate) fn look(&self) -> Look {
        self.known.map_or(Look::PLAIN, |strategy| strategy.look)
    }

    /// By what tables are sorted: the place of the strategy, its name, the allowance.
    pub(crate) fn compare(&self, other: &ArmName<'_>) -> Ordering {
        let place = |name: &ArmName<'_>| name.known.map_or(u32::MAX, |strategy| strategy.order);
        let allowance = |name: &ArmName<'_>| name.allowance.unwrap_or(0.0);
        place(self)
            .cmp(&place(other))
            .then_with(|| self.strategy.cmp(other.strategy))
            .then_with(|| allowance(self).total_cmp(&allowance(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_told_from_the_name() {
        let arms = Arms::builtin();
        let name = |name| ArmName::new(name, &arms);
        assert!(name("proposed@0.4").is_hosted() && !name("proposed@0.4").is_yardstick());
        assert!(!name("omniscient@0.4").is_hosted() && name("omniscient@0.4").is_yardstick());
        assert!(!name("cam-only").is_hosted() && name("oracle").is_yardstick());
        assert!(name("theirs@0.4").is_hosted() && !name("theirs").is_hosted());
        assert_eq!(name("theirs@0.4").look(), Look::PLAIN);
        assert_eq!(name("theirs@much").allowance, None);
        // Behind all that is known, by name and allowance.
        for (first, second) in [
            ("oracle", "theirs@0.2"),
            ("theirs@0.2", "theirs@0.4"),
            ("theirs@0.4", "yours"),
            ("proposed@0.2", "proposed@0.4"),
            ("cam-only", "cpm-etsi"),
        ] {
            assert_eq!(name(first).compare(&name(second)), Ordering::Less);
        }
    }

    #[test]
    fn every_name_is_that_of_an_arm() {
        let arms = Arms::builtin();
        let alone = [
            CAM_ONLY,
            CPM_ETSI,
            CPM_RMR,
            ORACLE,
            DEMAND,
            DEMAND_RANDOM,
            RANDOM_REDRAW,
        ];
        for name in alone.iter().chain(&LADDER) {
            assert!(arms.get(name).is_some(), "{name}");
        }
        let at = [PROPOSED_02, PROPOSED_04, PROPOSED_08, RANDOM_02, RANDOM_04];
        for name in at.iter().chain(&[RANDOM_08, RANDOM_REDRAW_04]) {
            assert!(arms.parse(name).is_ok(), "{name}");
        }
    }
}
