//! Who may report and what it costs, for policies that choose among them by a rank.

use covey_protocol::AgentId;
use covey_protocol::admission::Binding;
use covey_protocol::policy::{Plan, Reporters, View};

/// Someone who may report, and what it costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) id: AgentId,
    pub(crate) bytes: f64,
    /// Lowest first.
    pub(crate) draw: u64,
}

/// Contributors and candidates with their costs, each in the order of `rank`.
pub(crate) fn options_of(
    view: &View<'_>,
    rank: impl Fn(AgentId) -> u64,
) -> (Vec<Choice>, Vec<Choice>) {
    let option = |id: AgentId, bytes: f64| Choice {
        id,
        bytes,
        draw: rank(id),
    };
    let problem = view.problem;
    let mut members: Vec<Choice> = problem
        .contributors
        .iter()
        .map(|c| option(c.id, c.report_bytes + c.broadcast_bytes))
        .collect();
    let mut others: Vec<Choice> = problem
        .candidates
        .iter()
        .map(|c| option(c.id, c.report_bytes + c.broadcast_bytes))
        .collect();
    members.sort_by_key(|c| (c.draw, c.id));
    others.sort_by_key(|c| (c.draw, c.id));
    (members, others)
}

/// Everyone in the order of `rank`, members and candidates alike, for the host to take whoever fits.
pub(crate) fn ranking(view: &View<'_>, rank: impl Fn(AgentId) -> u64) -> Plan {
    let (members, others) = options_of(view, rank);
    let mut all: Vec<Choice> = members.into_iter().chain(others).collect();
    all.sort_by_key(|choice| (choice.draw, choice.id));
    let ids = all.iter().map(|choice| choice.id).collect();
    Plan::new(Reporters::Ranking(ids), Binding::Nothing, view.parameters)
}
