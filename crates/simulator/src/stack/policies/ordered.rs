//! Whoever comes first in a fixed order, as long as there is room: nearest to the host first, or longest without a report first
//! (age of information).
//!
//! Ordinary reports, the hard bounds of the letter's decision, the whole set anew every cycle, and no need of digests.

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::admission::Admission;
use covey_protocol::policy::{Hints, Plan, Policy, View};
use covey_protocol::{AgentId, Instant};

use super::choices::ranking;

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
    /// When each agent last reported or was last admitted.
    attended: BTreeMap<AgentId, Instant>,
    /// When it last planned, and who contributed then.
    planned: Option<(Instant, BTreeSet<AgentId>)>,
}

impl Ordered {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            order,
            attended: BTreeMap::new(),
            planned: None,
        }
    }
}

impl Policy for Ordered {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        let contributors = view.problem.contributors.iter().map(|c| c.id).collect();
        if let Some((at, before)) = self.planned.replace((view.now, contributors)) {
            let admitted = view.problem.contributors.iter().map(|c| c.id);
            let new = admitted.filter(|id| !before.contains(id));
            self.attended.extend(new.map(|id| (id, at)));
        }
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
        ranking(view, rank)
    }

    fn hints(&self) -> Hints {
        Hints::COSTS
    }
}
