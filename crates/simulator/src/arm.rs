//! Arms: the policies that are compared, by name.
//!
//! All arms share the entire stack and differ only in who reports and what is filtered. A name with an allowance, such as
//! `proposed@0.4`, gives the share of capacity that a host may spend on reports and its broadcast.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use covey_protocol::policy::Policy;
use thiserror::Error;

/// What an arm does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// Beacons only.
    CamOnly,
    /// Everyone reports by the generation rules of TS 103 324, without mitigation.
    CpmEtsi,
    /// The same with the redundancy mitigation of TR 103 562.
    CpmRmr,
    /// Lossless and instant delivery of all equipped observations.
    Oracle,
    /// Hosts admit at random and keep whom they have.
    Random,
    /// Hosts draw a fresh random set every cycle.
    RandomRedraw,
    /// The letter's protocol.
    Proposed,
    /// The letter's protocol ranking by visible cells alone.
    CoverageOnly,
    /// The letter's protocol with novelty as its only factor.
    Conditional,
    /// The letter's protocol with novelty and risk, without timeliness.
    ConditionalRisk,
    /// The letter's protocol with reports of silent objects only and digests at 2 Hz.
    ProposedLean,
    /// Choice by demand: whoever can tell somebody what it needs.
    Demand,
    /// The same content, but who reports is drawn at random.
    DemandRandom,
    /// Choice by demand with views from digests instead of sight lines.
    DemandDigest,
    /// Knows who misses what, who sees it and how well links are: the yardstick.
    Omniscient,
    /// TS 103 324 with objects chosen by utility under a size limit.
    CpmUtility,
    /// Budgeted maximum coverage with exploration.
    Cmass,
    /// Hosts admit whose last report is oldest.
    MaxAge,
    /// Hosts admit whoever is nearest.
    Nearest,
}

/// Every strategy, in the order of tables.
pub const STRATEGIES: [Strategy; 19] = [
    Strategy::CamOnly,
    Strategy::CpmEtsi,
    Strategy::CpmRmr,
    Strategy::Random,
    Strategy::RandomRedraw,
    Strategy::CoverageOnly,
    Strategy::Conditional,
    Strategy::ConditionalRisk,
    Strategy::Proposed,
    Strategy::ProposedLean,
    Strategy::CpmUtility,
    Strategy::Nearest,
    Strategy::MaxAge,
    Strategy::Cmass,
    Strategy::DemandRandom,
    Strategy::DemandDigest,
    Strategy::Demand,
    Strategy::Omniscient,
    Strategy::Oracle,
];

impl Strategy {
    /// Its name without allowance.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CamOnly => "cam-only",
            Self::CpmEtsi => "cpm-etsi",
            Self::CpmRmr => "cpm-rmr",
            Self::Oracle => "oracle",
            Self::Random => "random",
            Self::RandomRedraw => "random-redraw",
            Self::Proposed => "proposed",
            Self::CoverageOnly => "coverage-only",
            Self::Conditional => "conditional",
            Self::ConditionalRisk => "conditional-risk",
            Self::ProposedLean => "proposed-lean",
            Self::Demand => "demand",
            Self::DemandRandom => "demand-random",
            Self::DemandDigest => "demand-digest",
            Self::Omniscient => "omniscient",
            Self::CpmUtility => "cpm-utility",
            Self::Cmass => "cmass",
            Self::MaxAge => "max-age",
            Self::Nearest => "nearest",
        }
    }

    /// One line for people.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::CamOnly => "beacons only, nobody reports what it sees",
            Self::CpmEtsi => {
                "everyone reports by the rules of TS 103 324, no redundancy mitigation"
            }
            Self::CpmRmr => "the same with the redundancy mitigation of TR 103 562",
            Self::Oracle => {
                "all equipped observations, lossless and instant: the information ceiling"
            }
            Self::Random => "hosts admit at random within the allowance and keep whom they have",
            Self::RandomRedraw => "hosts draw a fresh random set every cycle within the allowance",
            Self::Proposed => {
                "the letter's protocol: conditional coverage, risk and timeliness against a price"
            }
            Self::CoverageOnly => "ablation: candidates ranked by visible cells alone",
            Self::Conditional => "ablation: novelty only",
            Self::ConditionalRisk => "ablation: novelty and risk, without timeliness",
            Self::ProposedLean => {
                "the letter's protocol, reports of silent objects only, digests at 2 Hz"
            }
            Self::Demand => "hosts ask whoever can tell somebody what it needs, per byte",
            Self::DemandRandom => "the same content and bytes, but who reports is drawn at random",
            Self::DemandDigest => "choice by demand with views from digests, not sight lines",
            Self::Omniscient => {
                "yardstick: knows who misses what, who sees it and every link, same bytes"
            }
            Self::CpmUtility => "TS 103 324 with objects chosen by utility under a size limit",
            Self::Cmass => "hosts choose by budgeted maximum coverage with exploration",
            Self::MaxAge => "hosts ask whose last report is oldest",
            Self::Nearest => "hosts ask whoever is nearest to them",
        }
    }

    /// A host decides, so the name carries an allowance and beacons a digest.
    #[must_use]
    pub fn is_hosted(self) -> bool {
        !matches!(
            self,
            Self::CamOnly
                | Self::CpmEtsi
                | Self::CpmRmr
                | Self::CpmUtility
                | Self::Oracle
                | Self::Omniscient
        )
    }

    /// The name carries an allowance.
    #[must_use]
    pub fn has_allowance(self) -> bool {
        self.is_hosted() || self == Self::Omniscient
    }
}

/// A strategy with its allowance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arm {
    /// What it does.
    pub strategy: Strategy,
    /// The host's allowance as a share of capacity; only hosted strategies have one.
    pub allowance: Option<f64>,
}

/// Why a name is no arm.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("arm `{name}`: {problem}")]
pub struct ArmError {
    /// What was given.
    pub name: String,
    /// What is wrong and what to write.
    pub problem: String,
}

impl Arm {
    /// An arm without allowance.
    #[must_use]
    pub const fn plain(strategy: Strategy) -> Self {
        Self {
            strategy,
            allowance: None,
        }
    }

    /// A hosted arm.
    #[must_use]
    pub const fn at(strategy: Strategy, allowance: f64) -> Self {
        Self {
            strategy,
            allowance: Some(allowance),
        }
    }

    /// The sixteen arms of the reproduction: the letter's thirteen, and random admission redrawn every cycle.
    #[must_use]
    pub fn letter() -> Vec<Self> {
        let mut arms = vec![
            Self::plain(Strategy::CamOnly),
            Self::plain(Strategy::CpmEtsi),
            Self::plain(Strategy::CpmRmr),
        ];
        for strategy in [Strategy::Random, Strategy::RandomRedraw, Strategy::Proposed] {
            arms.extend([0.2, 0.4, 0.8].map(|b| Self::at(strategy, b)));
        }
        for strategy in [
            Strategy::CoverageOnly,
            Strategy::Conditional,
            Strategy::ConditionalRisk,
        ] {
            arms.push(Self::at(strategy, 0.4));
        }
        arms.push(Self::plain(Strategy::Oracle));
        arms
    }

    /// The letter's arms and those beyond it: choice by demand at three budgets, the steps that lead to it, the rivals that a
    /// reviewer would ask for, and the yardstick.
    #[must_use]
    pub fn beyond() -> Vec<Self> {
        let mut arms = Self::letter();
        for (strategy, budgets) in [
            (Strategy::ProposedLean, &[0.2, 0.4][..]),
            (Strategy::Demand, &[0.15, 0.22, 0.45]),
            (Strategy::DemandRandom, &[0.15, 0.22]),
            (Strategy::DemandDigest, &[0.22]),
            (Strategy::Omniscient, &[0.15, 0.22, 0.45]),
            (Strategy::Cmass, &[0.2, 0.4]),
            (Strategy::MaxAge, &[0.2]),
            (Strategy::Nearest, &[0.2]),
        ] {
            arms.extend(budgets.iter().map(|&b| Self::at(strategy, b)));
        }
        arms.push(Self::plain(Strategy::CpmUtility));
        arms
    }
}

/// Makes a host-side policy for the seed of a run; every host that takes office gets one of its own.
#[derive(Clone)]
pub struct PolicyMaker(Arc<dyn Fn(u64) -> Box<dyn Policy> + Send + Sync>);

impl PolicyMaker {
    /// From a function of the seed.
    ///
    /// A run is a pure function of its inputs only if the policy is one too: it must depend on nothing but the seed and
    /// what it is shown.
    pub fn new(make: impl Fn(u64) -> Box<dyn Policy> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self, seed: u64) -> Box<dyn Policy> {
        (self.0)(seed)
    }
}

impl fmt::Debug for PolicyMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PolicyMaker")
    }
}

/// What takes part in a run: an arm by name, or hosts with a policy of your own on the same stack.
#[derive(Debug, Clone)]
pub enum Contender {
    /// One of the arms that Covey knows.
    Arm(Arm),
    /// Hosts like those of `proposed`, save that they choose by another policy and know no quota of changes.
    Own {
        /// What it is called in the outcome.
        name: String,
        /// The host's allowance as a share of capacity.
        allowance: f64,
        /// The policy.
        policy: PolicyMaker,
    },
}

impl Contender {
    /// The arm whose stack it runs on.
    pub(crate) fn arm(&self) -> Arm {
        match self {
            Self::Arm(arm) => *arm,
            Self::Own { allowance, .. } => Arm::at(Strategy::Proposed, *allowance),
        }
    }

    /// The policy in place of the arm's.
    pub(crate) fn own_policy(&self) -> Option<PolicyMaker> {
        match self {
            Self::Arm(_) => None,
            Self::Own { policy, .. } => Some(policy.clone()),
        }
    }
}

impl From<Arm> for Contender {
    fn from(arm: Arm) -> Self {
        Self::Arm(arm)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arm(arm) => arm.fmt(f),
            Self::Own { name, .. } => f.write_str(name),
        }
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.allowance {
            Some(b) => write!(f, "{}@{b}", self.strategy.name()),
            None => f.write_str(self.strategy.name()),
        }
    }
}

impl FromStr for Arm {
    type Err = ArmError;

    fn from_str(name: &str) -> Result<Self, ArmError> {
        let error = |problem: String| ArmError {
            name: name.to_string(),
            problem,
        };
        let (base, allowance) = match name.split_once('@') {
            Some((base, b)) => (base, Some(b)),
            None => (name, None),
        };
        let strategy = STRATEGIES
            .into_iter()
            .find(|s| s.name() == base)
            .ok_or_else(|| {
                let known: Vec<&str> = STRATEGIES.iter().map(|s| s.name()).collect();
                error(format!(
                    "unknown; expected one of {} (`covey arms` explains them)",
                    known.join(", ")
                ))
            })?;
        match (strategy.has_allowance(), allowance) {
            (false, None) => Ok(Self::plain(strategy)),
            (false, Some(_)) => Err(error(format!(
                "has no allowance; write `{}`",
                strategy.name()
            ))),
            (true, None) => Err(error(format!(
                "needs an allowance as a share of capacity, such as `{}@0.4`",
                strategy.name()
            ))),
            (true, Some(b)) => match b.parse::<f64>() {
                Ok(b) if b > 0.0 && b <= 1.0 => Ok(Self::at(strategy, b)),
                _ => Err(error(format!(
                    "allowance `{b}`: expected a number above 0 and at most 1, such as `{}@0.4`",
                    strategy.name()
                ))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let arms = Arm::letter();
        assert_eq!(arms.len(), 16);
        for arm in arms {
            assert_eq!(arm.to_string().parse(), Ok(arm));
        }
        assert_eq!(
            "proposed@0.40".parse::<Arm>().unwrap().to_string(),
            "proposed@0.4"
        );
    }

    #[test]
    fn what_is_no_arm_is_explained() {
        let error = |name: &str| name.parse::<Arm>().unwrap_err().to_string();
        assert!(error("proposd@0.4").contains("`covey arms`"));
        assert!(error("proposed").contains("`proposed@0.4`"));
        assert!(error("oracle@0.4").contains("write `oracle`"));
        for b in ["0", "2", "-0.1", "nan", ""] {
            assert!(error(&format!("proposed@{b}")).contains("above 0 and at most 1"));
        }
    }
}
