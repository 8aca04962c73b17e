//! Rival host policies: what else a host could do with the same bytes.
//!
//! All ask for ordinary reports, keep the hard bounds of the letter's decision, choose the whole set anew every cycle, and
//! see the same view as the others. None needs a digest.
//!
//! - [`Ordered`] fills the bounds in a fixed order: nearest to the host first, or longest without a report first (age of
//!   information).
//! - [`MaximumCoverage`] follows C-MASS (arXiv 2407.00412): scheduling of sensing vehicles as budgeted maximum coverage, where
//!   what a vehicle sees is learned by asking it, with an upper confidence bound for those seldom asked.

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::admission::{Action, Admission, Because, Change, Decision};
use covey_protocol::policy::{Plan, Policy, View};
use covey_protocol::{AgentId, Instant, ObjectId};

use crate::policies::{Choice, fill, options_of};

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Nearest,
    OldestReport,
}

/// Fills the bounds in an order.
#[derive(Debug, Clone)]
pub(crate) struct Ordered {
    order: Order,
    /// When each agent last reported or was last asked.
    attended: BTreeMap<AgentId, Instant>,
}

impl Ordered {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            order,
            attended: BTreeMap::new(),
        }
    }
}

impl Policy for Ordered {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        for report in view.reports {
            self.attended.insert(report.sender, report.at);
        }
        self.attended
            .retain(|id, _| view.scope.binary_search_by_key(id, |s| s.id).is_ok());
        let position = |id: AgentId| {
            let at = view.scope.binary_search_by_key(&id, |s| s.id).ok()?;
            Some(view.scope[at].state.position)
        };
        let rank = |id: AgentId| match self.order {
            Order::Nearest => {
                let distance = position(id).zip(position(view.host));
                let metres = distance.map_or(f64::MAX, |(a, b)| a.distance(b));
                // Millimetres: casting saturates.
                (metres * 1e3) as u64
            }
            Order::OldestReport => self
                .attended
                .get(&id)
                .map_or(0, |at| at.micros().max(0) as u64 + 1),
        };
        let (members, others) = options_of(view, rank);
        let decision = fill(view, members, others);
        for change in &decision.changes {
            if change.action == Action::Admit {
                self.attended.insert(change.id, view.now);
            }
        }
        Plan::of(decision, view.parameters)
    }
}

/// What is remembered of a vehicle.
#[derive(Debug, Clone, Default)]
struct Arm {
    /// How often it was asked.
    asked: u32,
    /// What it saw when it last reported.
    saw: Vec<ObjectId>,
    at: Option<Instant>,
}

/// Budgeted maximum coverage with exploration.
#[derive(Debug, Clone, Default)]
pub(crate) struct MaximumCoverage {
    arms: BTreeMap<AgentId, Arm>,
    rounds: u32,
}

/// Weight of the confidence bound, in objects.
const EXPLORATION: f64 = 2.0;
/// What was seen longer ago than this, in seconds, no longer counts.
const MEMORY_S: f64 = 2.0;

impl Policy for MaximumCoverage {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        self.rounds += 1;
        for report in view.reports {
            let arm = self.arms.entry(report.sender).or_default();
            if arm.at.is_none_or(|at| report.at > at) {
                arm.at = Some(report.at);
                arm.saw = report.objects.to_vec();
            }
        }
        self.arms
            .retain(|id, _| view.scope.binary_search_by_key(id, |s| s.id).is_ok());
        let (mut members, others) = options_of(view, |_| 0);
        let held: BTreeSet<AgentId> = members.iter().map(|m| m.id).collect();
        members.extend(others);
        let unknown = Arm::default();
        let mut covered: BTreeSet<ObjectId> = BTreeSet::new();
        let mut left = members;
        let mut chosen: Vec<Choice> = Vec::new();
        let mut bytes = view.problem.broadcast_base_bytes;
        while !left.is_empty() {
            let mut best: Option<(f64, usize)> = None;
            for (k, choice) in left.iter().enumerate() {
                let arm = self.arms.get(&choice.id).unwrap_or(&unknown);
                let fresh = arm
                    .at
                    .is_some_and(|at| view.now.since(at).seconds() <= MEMORY_S);
                let new = if fresh {
                    arm.saw.iter().filter(|o| !covered.contains(o)).count()
                } else {
                    0
                };
                let bound = (f64::from(self.rounds).ln() / f64::from(arm.asked + 1)).sqrt();
                let ratio = (new as f64 + EXPLORATION * bound) / choice.bytes.max(1.0);
                if best.is_none_or(|(most, _)| ratio > most) {
                    best = Some((ratio, k));
                }
            }
            let Some((_, k)) = best else { break };
            let choice = left.remove(k);
            if view
                .rules
                .broken(view.rules.airtime(bytes + choice.bytes))
                .is_some()
            {
                continue;
            }
            bytes += choice.bytes;
            if let Some(arm) = self.arms.get(&choice.id) {
                covered.extend(arm.saw.iter().copied());
            }
            chosen.push(choice);
        }
        let mut changes = Vec::new();
        let change = |action, id| Change {
            action,
            id,
            because: Because::Score,
            score: 0.0,
        };
        for &id in &held {
            if !chosen.iter().any(|c| c.id == id) {
                changes.push(change(Action::Remove, id));
            }
        }
        for choice in &chosen {
            let arm = self.arms.entry(choice.id).or_default();
            arm.asked += 1;
            if !held.contains(&choice.id) {
                changes.push(change(Action::Admit, choice.id));
            }
        }
        let decision = Decision {
            airtime: view.rules.airtime(view.problem.broadcast_base_bytes),
            airtime_after: view.rules.airtime(bytes),
            changes,
            binding: covey_protocol::admission::Binding::Allowance,
        };
        Plan::of(decision, view.parameters)
    }
}
