//! Who reports in the next cycle: the decision that host-side policies differ in.
//!
//! A [`Host`](crate::host::Host) gathers what it knows into a [`View`] and asks its [`Policy`] for a [`Plan`]. The letter's
//! protocol is [`ConditionalCoverage`]; its ablations are masks on the score. Others (random choice, choice by demand) see
//! the same view and obey the same hard bounds, so that they differ in nothing but the choice.

use alloc::vec::Vec;

use crate::admission::{Admission, Decision, Problem, Rules};
use crate::grid::{Tile, Window};
use crate::ids::AgentId;
use crate::messages::{AgentState, ObjectState, PathCell};
use crate::time::Instant;

/// What a host knows when it plans the next cycle. Nothing in it comes from anywhere but decoded messages, own sensing and
/// the map that the host carries.
#[derive(Debug)]
pub struct View<'a> {
    /// The present.
    pub now: Instant,
    /// The host.
    pub host: AgentId,
    /// Its tile.
    pub tile: Tile,
    /// Its window of cells; cell numbers below refer to it.
    pub window: &'a Window,
    /// The rules of the decision: bounds, thresholds, factors.
    pub rules: &'a Rules,
    /// Map, risk, airtime, contributors and candidates, as Algorithm 1 wants them.
    pub problem: &'a Problem<'a>,
    /// The service scope: every participant within the footprint, by ascending id, the host included.
    pub scope: &'a [ScopeMember<'a>],
    /// Objects that are fresh at the host, by ascending id.
    pub objects: &'a [HeldObject],
}

/// A member of the service scope.
#[derive(Debug, Clone, Copy)]
pub struct ScopeMember<'a> {
    /// Who.
    pub id: AgentId,
    /// Its last beacon's state.
    pub state: &'a AgentState,
    /// When that was.
    pub heard_at: Instant,
    /// Share of its recent beacons that the host decoded.
    pub beacon_share: f64,
    /// Its predicted path, as far as the caller gave one.
    pub path: &'a [PathCell],
}

/// An object that the host holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldObject {
    /// Its state.
    pub state: ObjectState,
    /// The host senses it, or hears its beacons, itself.
    pub direct: bool,
    /// Its own beacons are heard.
    pub announced: bool,
}

/// What a policy wants of the next cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The changes of the contributor set and what bound them.
    pub decision: Decision,
}

/// Chooses who reports in the next cycle.
pub trait Policy {
    /// Plans the next cycle.
    ///
    /// `admission` has fused the map of `view.problem` ([`Admission::fuse`]); a policy may decide with it
    /// ([`Admission::decide_fused`]), read its map, or leave it alone. The plan must keep the hard bounds of `view.rules`
    /// unless the broadcast alone breaks them, change only agents of `view.problem`, and depend on nothing but its
    /// arguments and the policy's own parameters.
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan;
}

/// The letter's policy: admit whose timely, new, risk-relevant view is worth its airtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConditionalCoverage;

impl Policy for ConditionalCoverage {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        Plan {
            decision: admission.decide_fused(view.rules, view.problem),
        }
    }
}

impl<P: Policy + ?Sized> Policy for alloc::boxed::Box<P> {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        (**self).plan(view, admission)
    }
}

/// The contributor set that a plan leads to, by ascending id.
pub(crate) fn apply(contributors: &mut Vec<AgentId>, plan: &Plan) {
    use crate::admission::Action;
    for change in &plan.decision.changes {
        match (change.action, contributors.binary_search(&change.id)) {
            (Action::Admit, Err(at)) => contributors.insert(at, change.id),
            (Action::Remove, Ok(at)) => {
                contributors.remove(at);
            }
            _ => {}
        }
    }
}
