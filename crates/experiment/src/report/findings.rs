//! The letter's findings, each held against this run.

mod claims;
mod judge;

use super::view::View;
use crate::letter;
use crate::names::{CAM_ONLY, ORACLE};
use claims::{CLAIMS, Claim};

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
    /// As tables and the report put it.
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
    /// What follows by the rule.
    pub verdict: Verdict,
    /// Why it does not, where that is known. Empty where it holds.
    pub reason: String,
}

/// Why an arm or finding differs, as far as that is known and fits what this run has.
pub(crate) fn known_reason(key: &str, view: &View<'_>) -> Option<&'static str> {
    let oracle = view.deficit(ORACLE).map(|deficit| deficit.mean);
    match key {
        "oracle" | "near-oracle" if oracle.is_some_and(|deficit| deficit < 5e-4) => {
            Some("Here the oracle misses next to nothing: whatever is missed, somebody saw.")
        }
        _ => letter::known_reason(key),
    }
}

/// How many findings are held, not held and undecided, of those that could be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) held: usize,
    pub(crate) not_held: usize,
    pub(crate) undecided: usize,
}

impl Tally {
    pub(crate) fn of(findings: &[Finding]) -> Self {
        let count = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
        Self {
            held: count(Verdict::Held),
            not_held: count(Verdict::NotHeld),
            undecided: count(Verdict::Undecided),
        }
    }

    pub(crate) fn all(self) -> usize {
        self.held + self.not_held + self.undecided
    }
}

/// Every finding, in the letter's order; none is judged where another scenario was run than the letter's.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    CLAIMS.iter().map(|claim| finding(claim, view)).collect()
}

fn finding(claim: &Claim, view: &View<'_>) -> Finding {
    let (ours, verdict) = match (claim.judge)(view) {
        None => ("\u{2013}".to_string(), Verdict::NotRun),
        Some((ours, _)) if claim.key == CAM_ONLY => (ours, Verdict::Calibrated),
        Some((ours, _)) if view.quick => (ours, Verdict::NotMeaningful),
        Some(judged) => judged,
    };
    let reason = match verdict {
        Verdict::NotHeld | Verdict::Undecided => known_reason(claim.key, view),
        _ => None,
    };
    Finding {
        key: claim.key,
        claim: claim.claim,
        rule: claim.rule,
        ours,
        verdict,
        reason: reason.unwrap_or_default().to_string(),
    }
}
