//! Random admission: the hard bounds of Algorithm 1 without its score.
//!
//! Both kinds see the same view as the letter's policy and keep the same bounds, but choose by addressed draws and do not
//! know the price.

use covey_draws::{Draws, Purpose};
use covey_protocol::admission::{Action, Admission, AdmissionProblem, Because, Binding, Change};
use covey_protocol::policy::{Hints, Plan, Policy, Reporters, View};
use covey_protocol::{AgentId, Instant};

use super::choices::{Choice, options_of, ranking};

/// Random choice within the bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomChoice {
    seed: u64,
    /// A fresh set every cycle, instead of one change at a time.
    redraw: bool,
}

impl RandomChoice {
    /// Keeps whom it has and adds to it.
    pub(crate) fn sticking(seed: u64) -> Self {
        let redraw = false;
        Self { seed, redraw }
    }

    /// Draws a fresh set every cycle.
    pub(crate) fn redrawing(seed: u64) -> Self {
        let redraw = true;
        Self { seed, redraw }
    }
}

/// Addressed draws for random choice among those who could tell something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lottery {
    pub(crate) seed: u64,
}

impl covey_protocol::demand::Draw for Lottery {
    fn draw(&self, host: AgentId, agent: AgentId, at: Instant) -> u64 {
        let step = at.micros() as u64 / covey_traffic::STEP_US as u64;
        let draws = Draws::new(self.seed, Purpose::Choice, 1, step);
        draws.at(host.0 as u32, agent.0 as u32).bits()
    }
}

impl Policy for RandomChoice {
    fn plan(&mut self, view: &View<'_>, _admission: &mut Admission) -> Plan {
        let step = view.now.micros() as u64 / covey_traffic::STEP_US as u64;
        let draws = Draws::new(self.seed, Purpose::Choice, 0, step);
        let draw = |id: AgentId| draws.at(view.host.0 as u32, id.0 as u32).bits();
        if self.redraw {
            ranking(view, draw)
        } else {
            let (members, others) = options_of(view, draw);
            stick(view, members, &others)
        }
    }

    fn hints(&self) -> Hints {
        Hints::COSTS
    }
}

fn bytes(problem: &AdmissionProblem<'_>, members: &[Choice]) -> f64 {
    problem.broadcast_base_bytes + members.iter().map(|m| m.bytes).sum::<f64>()
}

/// Sheds members drawn at random while a bound is broken; otherwise admits candidates drawn at random, within the quota.
fn stick(view: &View<'_>, mut members: Vec<Choice>, others: &[Choice]) -> Plan {
    let (rules, problem) = (view.rules, view.problem);
    let broken = |bytes: f64| rules.broken(rules.airtime(bytes));
    let mut changes = Vec::new();
    while let Some(because) = broken(bytes(problem, &members)) {
        let Some(member) = members.pop() else { break };
        changes.push(Change::new(Action::Remove, member.id, because));
    }
    let mut refused = None;
    if changes.is_empty() {
        for other in others {
            match broken(bytes(problem, &members) + other.bytes) {
                Some(because) => refused = refused.or(Some(because)),
                None if changes.len() < rules.n_max as usize => {
                    changes.push(Change::new(Action::Admit, other.id, Because::Score));
                    members.push(*other);
                }
                None => break,
            }
        }
    }
    let binding = match refused {
        None if changes.len() >= rules.n_max as usize => Binding::Quota,
        None => Binding::Nothing,
        Some(Because::Cycle) => Binding::Cycle,
        Some(_) => Binding::Allowance,
    };
    Plan::new(Reporters::Changes(changes), binding, view.parameters)
}
