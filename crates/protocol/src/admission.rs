//! One host decision: Algorithm 1 of the letter, with everything it weighed.
//!
//! A [`AdmissionProblem`] is what the host knows at the end of a cycle, over cells that it has numbered densely; an [`Admission`]
//! holds the buffers and decides. The same code runs in a host, in the simulator, behind `covey decide` and behind the
//! viewer's explanation; ablations are masks on its [`Factors`].
//!
//! With `D` the host and its contributors, `T_s` the cycle, `R` the physical rate and `C` the tile's capacity share:
//!
//! 1. **Map** (eq. 4): `M = 1 - (1 - e^(-kappa T_s) prior) Π (1 - c)`, with `c = 1` on the host's cells, on a decoded
//!    contributor's and on overheard ones, and the contributor's decoded fraction where its report was not decoded.
//! 2. **Airtime** (eq. 5): `B(D) = base + Σ (report + broadcast bytes)`, `T(D) = B(D) / R`, allowance fraction
//!    `B(D) / (C T_s)`.
//! 3. **Value** (eq. 3): the sum over an agent's cells of novelty x risk x timeliness. A candidate is valued against `M` with
//!    `T(D + j)`; a contributor with `T(D)` against the map that the twin would have had without it.
//! 4. **Score** (eq. 6): value - price x airtime.
//! 5. **Changes**: (a) while a hard bound is broken the lowest contributor goes, and then nothing else changes; (b) the best
//!    candidate that reaches `eta_add` and keeps both bounds is admitted; (c) contributors at or below `eta_rem` go; (b) and
//!    (c) share the quota `n_max`, and scores are computed anew after each change.
//!
//! Ties go to the lower id. Scores that differ by less than a part in 10^12 of the value and the price that they are the
//! difference of are ties: they differ only by rounding.
//!
//! The cost is one pass over the candidates' cells per round. That takes a trick, since each candidate has a completion
//! time of its own: timeliness is a straight line in it over the narrow range in question (`timeliness.rs`), so a
//! cell needs two numbers, and a candidate whose view touches a kink is summed up exactly instead.

mod decide;

use alloc::vec::Vec;

use crate::ids::AgentId;

pub use decide::Admission;
pub(crate) use decide::sum_columns;

/// Which factors of the score count; one left out is 1 everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factors {
    /// Novelty, 1 - M.
    pub novelty: bool,
    /// Task risk, rho: how many are about to drive there, and how soon.
    pub risk: bool,
    /// Timely delivery, P(A <= deadline).
    pub timeliness: bool,
}

impl Factors {
    /// The letter's score: all three count.
    pub const ALL: Self = Self {
        novelty: true,
        risk: true,
        timeliness: true,
    };
    /// Unconditional coverage: the number of visible cells.
    pub const NONE: Self = Self {
        novelty: false,
        risk: false,
        timeliness: false,
    };
}

impl Default for Factors {
    fn default() -> Self {
        Self::ALL
    }
}

/// What stays the same from cycle to cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Cycle T_s, in seconds; > 0.
    pub cycle_s: f64,
    /// Hard bound on the cycle's airtime T(D), in seconds.
    pub t_max_s: f64,
    /// Ageing of the coverage map, per second.
    pub kappa_per_s: f64,
    /// A candidate needs at least this score.
    pub eta_add: f64,
    /// A contributor goes at this score or below; at most `eta_add`.
    pub eta_rem: f64,
    /// At most so many changes per cycle, those that a broken bound forces aside.
    pub n_max: u32,
    /// Hard bound on B(D) / (C T_s).
    pub allowance: f64,
    /// Physical rate R, in bytes per second; > 0.
    pub rate_bytes_per_s: f64,
    /// The tile's capacity share C, in bytes per second; > 0.
    pub capacity_bytes_per_s: f64,
    /// Seconds of airtime that one unit of the price pays for; > 0.
    pub airtime_unit_s: f64,
    /// The factors that count.
    pub factors: Factors,
}

/// A contributor, as the host sees it at the end of a cycle.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionContributor<'a> {
    /// Its station id; the lower one goes first on a tie.
    pub id: AgentId,
    /// The cells its digest marks, each once.
    pub cells: &'a [u32],
    /// Its report of this cycle was decoded.
    pub decoded: bool,
    /// The share of its recent reports that was decoded, p_m.
    pub decoded_fraction: f64,
    /// Bytes of its report.
    pub report_bytes: f64,
    /// Bytes that the broadcast carries because of it.
    pub broadcast_bytes: f64,
    /// The map of the twin without it, before ageing, on each of its `cells`; the common prior where there is none.
    pub prior_without: Option<&'a [f64]>,
}

/// A candidate, as the host sees it at the end of a cycle.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionCandidate<'a> {
    /// Its station id; the lower one goes first on a tie.
    pub id: AgentId,
    /// The cells its digest marks, each once.
    pub cells: &'a [u32],
    /// The share of its reports that can be expected to be decoded.
    pub decoded_fraction: f64,
    /// Bytes that its report would have.
    pub report_bytes: f64,
    /// Bytes that the broadcast would carry because of it.
    pub broadcast_bytes: f64,
}

/// What the host knows at the end of a cycle. Cells are numbers below `prior.len()`; all cell arrays have that length.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionProblem<'a> {
    /// The congestion price, per unit of airtime.
    pub price: f64,
    /// Bytes of the broadcast without contributors.
    pub broadcast_base_bytes: f64,
    /// Probability that a receiver decodes a broadcast.
    pub broadcast_delivery: f64,
    /// The last cycle's map, before ageing, cell by cell.
    pub prior: &'a [f64],
    /// Task risk, cell by cell.
    pub rho: &'a [f64],
    /// Reaction deadline in seconds, cell by cell; 0 where there is no risk.
    pub deadline_s: &'a [f64],
    /// Cells that the host sees itself, each once.
    pub host_cells: &'a [u32],
    /// Cells in which broadcasts of neighbouring hosts placed an object of this cycle.
    pub overheard: &'a [u32],
    /// Contributors, by ascending id.
    pub contributors: &'a [AdmissionContributor<'a>],
    /// Candidates, by ascending id.
    pub candidates: &'a [AdmissionCandidate<'a>],
}

/// Airtime of a set of contributors.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Airtime {
    /// T(D): airtime of broadcast and reports, in seconds.
    pub seconds: f64,
    /// B(D) / (C T_s).
    pub fraction: f64,
}

/// An agent's role in a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Listens, might be admitted.
    Candidate,
    /// Reports, might be removed.
    Contributor,
}

/// What an agent was worth, before any change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Its station id; the lower one goes first on a tie.
    pub id: AgentId,
    /// It might be admitted, or removed.
    pub role: Role,
    /// Eq. (3), with the factors that count.
    pub value: f64,
    /// Delta C, in units of airtime.
    pub airtime: f64,
    /// Value - price x airtime.
    pub score: f64,
}

/// The factors behind a value, each multiplied onto the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ladder {
    /// Cells that the agent sees.
    pub visible: f64,
    /// Their summed novelty, 1 - M.
    pub novel: f64,
    /// Their summed novelty x risk.
    pub at_risk: f64,
    /// Novelty x risk x timeliness.
    pub in_time: f64,
}

/// How the contributor set was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A candidate became a contributor.
    Admit,
    /// A contributor became a listener.
    Remove,
}

/// Why somebody was admitted, removed or kept out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Its score passed the threshold.
    Score,
    /// The set had outgrown the allowance.
    Allowance,
    /// The set had outgrown the cycle.
    Cycle,
    /// No more admissions in this cycle.
    Quota,
    /// It is neither a contributor nor a candidate.
    Scope,
}

/// One change of the contributor set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// It came in or went out.
    pub action: Action,
    /// Its station id; the lower one goes first on a tie.
    pub id: AgentId,
    /// The threshold or bound that made the change.
    pub because: Because,
    /// The score it had at that moment.
    pub score: f64,
}

/// What kept the set from growing further. Files and tables call it by [`name`](Self::name) or by its number here; both stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[repr(u8)]
pub enum Binding {
    /// Nothing: no candidate was left.
    Nothing = 0,
    /// No candidate is worth its place even for free.
    Value = 1,
    /// A candidate would have been worth its place at price 0.
    Price = 2,
    /// A worthy candidate, or the set itself, does not fit into the allowance.
    Allowance = 3,
    /// A worthy candidate, or the set itself, does not fit into the cycle.
    Cycle = 4,
    /// The quota of changes is used up and another worthy candidate waits.
    Quota = 5,
}

/// The outcome of one cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Airtime of the set as given.
    pub airtime: Airtime,
    /// Airtime of the set after the changes.
    pub airtime_after: Airtime,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// What kept the set from growing further.
    pub binding: Binding,
    /// Whom the policy wanted and the host refused, or shed although the policy did not.
    pub cut: Vec<Cut>,
}

/// Somebody whom the host's bounds kept out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Its station id; the lower one goes first on a tie.
    pub id: AgentId,
    /// The bound that it did not fit.
    pub because: Because,
}

impl Role {
    /// As files and tables call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Contributor => "contributor",
        }
    }
}

impl Action {
    /// As files and tables call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Remove => "remove",
        }
    }
}

impl Because {
    /// As files and tables call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Allowance => "allowance",
            Self::Cycle => "cycle",
            Self::Quota => "quota",
            Self::Scope => "scope",
        }
    }
}

impl Binding {
    /// Each of them, at the place that its number says.
    pub const ALL: [Self; 6] = [
        Self::Nothing,
        Self::Value,
        Self::Price,
        Self::Allowance,
        Self::Cycle,
        Self::Quota,
    ];

    /// As files and tables call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Value => "value",
            Self::Price => "price",
            Self::Allowance => "allowance",
            Self::Cycle => "cycle",
            Self::Quota => "quota",
        }
    }
}

impl Change {
    /// A change of somebody that has no score.
    #[must_use]
    pub const fn new(action: Action, id: AgentId, because: Because) -> Self {
        Self {
            action,
            id,
            because,
            score: 0.0,
        }
    }
}

impl AdmissionContributor<'_> {
    /// How far its digest counts as coverage in this cycle: c_m on its visible cells.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        if self.decoded {
            1.0
        } else {
            self.decoded_fraction
        }
    }
}

impl Rules {
    /// What is left of the map after one cycle.
    #[must_use]
    pub fn decay(&self) -> f64 {
        libm::exp(-self.kappa_per_s * self.cycle_s)
    }

    /// Airtime of `bytes` in one cycle.
    #[must_use]
    pub fn airtime(&self, bytes: f64) -> Airtime {
        Airtime {
            seconds: bytes / self.rate_bytes_per_s,
            fraction: bytes / (self.capacity_bytes_per_s * self.cycle_s),
        }
    }

    /// Bytes that fit into one cycle by both bounds.
    #[must_use]
    pub fn room_bytes(&self) -> f64 {
        let allowed = self.allowance * self.capacity_bytes_per_s * self.cycle_s;
        allowed.min(self.t_max_s * self.rate_bytes_per_s)
    }

    /// The bound that this airtime breaks; the allowance where it breaks both.
    #[must_use]
    pub fn broken(&self, airtime: Airtime) -> Option<Because> {
        if airtime.fraction > self.allowance {
            Some(Because::Allowance)
        } else if airtime.seconds > self.t_max_s {
            Some(Because::Cycle)
        } else {
            None
        }
    }

    /// Delta C: `bytes` in units of airtime.
    #[must_use]
    pub fn airtime_units(&self, bytes: f64) -> f64 {
        bytes / self.rate_bytes_per_s / self.airtime_unit_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_numbered_and_named_for_good() {
        let names = ["nothing", "value", "price", "allowance", "cycle", "quota"];
        for (number, (binding, name)) in Binding::ALL.into_iter().zip(names).enumerate() {
            assert_eq!(binding as usize, number);
            assert_eq!(binding.name(), name);
            #[cfg(feature = "snapshot")]
            assert_eq!(serde_json::to_value(binding).unwrap(), name);
        }
    }

    #[test]
    fn airtime_and_its_bounds_are_those_of_the_letter() {
        let rules = crate::Parameters::default().rules();
        assert!((rules.decay() - libm::exp(-0.4)).abs() < 1e-12);
        let airtime = rules.airtime(6_500.0);
        assert!((airtime.seconds - 0.01).abs() < 1e-12);
        assert!((airtime.fraction - 6_500.0 / 48_400.0).abs() < 1e-12);
        assert!((rules.airtime_units(6_500.0) - 10.0).abs() < 1e-9);
        // 0.4 of 48,400 B bind first, and where more is allowed, 0.2 s at 650,000 B/s.
        assert!((rules.room_bytes() - 19_360.0).abs() < 1e-6);
        let wide = Rules {
            allowance: 1.0,
            capacity_bytes_per_s: 1e6,
            ..rules
        };
        assert!((wide.room_bytes() - 130_000.0).abs() < 1e-6);
        let broken = |fraction, seconds| rules.broken(Airtime { seconds, fraction });
        assert_eq!(broken(0.4, 0.2), None);
        assert_eq!(broken(0.41, 0.3), Some(Because::Allowance));
        assert_eq!(broken(0.4, 0.21), Some(Because::Cycle));
    }

    #[test]
    fn a_contributor_covers_its_cells_as_surely_as_it_was_decoded() {
        let contributor = |decoded| AdmissionContributor {
            id: AgentId(1),
            cells: &[],
            decoded,
            decoded_fraction: 0.7,
            report_bytes: 0.0,
            broadcast_bytes: 0.0,
            prior_without: None,
        };
        assert_eq!([true, false].map(|d| contributor(d).coverage()), [1.0, 0.7]);
    }

    #[test]
    fn roles_actions_and_reasons_have_names() {
        assert_eq!(
            [Role::Candidate, Role::Contributor].map(Role::name),
            ["candidate", "contributor"]
        );
        assert_eq!(
            [Action::Admit, Action::Remove].map(Action::name),
            ["admit", "remove"]
        );
        assert_eq!(
            [Because::Score, Because::Allowance, Because::Cycle].map(Because::name),
            ["score", "allowance", "cycle"]
        );
    }
}
