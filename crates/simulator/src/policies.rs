//! Random admission: the hard bounds of Algorithm 1 without its score.
//!
//! Both kinds see the same view as the letter's policy and keep the same bounds, but choose by addressed draws and do not
//! know the price.

use covey_protocol::admission::{
    Action, Admission, AdmissionProblem, Airtime, Because, Binding, Change, Decision, Rules,
};
use covey_protocol::policy::{Plan, Policy, View};
use covey_protocol::{AgentId, Instant};
use covey_radio::draw::{Draws, Purpose};

const CHOICE: Purpose = Purpose::custom(2);

/// Random choice within the bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomChoice {
    pub(crate) seed: u64,
    /// A fresh set every cycle, instead of one change at a time.
    pub(crate) redraw: bool,
}

/// Addressed draws for random choice among those who could tell something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lottery {
    pub(crate) seed: u64,
}

impl covey_protocol::demand::Draw for Lottery {
    fn draw(&self, host: AgentId, agent: AgentId, at: Instant) -> u64 {
        let step = at.micros() as u64 / covey_traffic::STEP_US as u64;
        let draws = Draws::new(self.seed, CHOICE, 1, step);
        draws.at(host.0 as u32, agent.0 as u32).bits()
    }
}

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

/// Fills the bounds in the order of the options, members and candidates alike.
pub(crate) fn fill(view: &View<'_>, members: Vec<Choice>, others: Vec<Choice>) -> Decision {
    let before = bytes(view.problem, &members);
    Decision {
        airtime: airtime(view.rules, before),
        ..redraw(view.rules, view.problem, members, others)
    }
}

impl Policy for RandomChoice {
    fn plan(&mut self, view: &View<'_>, _admission: &mut Admission) -> Plan {
        let step = view.now.micros() as u64 / covey_traffic::STEP_US as u64;
        let draws = Draws::new(self.seed, CHOICE, 0, step);
        let (rules, problem) = (view.rules, view.problem);
        let (members, others) =
            options_of(view, |id| draws.at(view.host.0 as u32, id.0 as u32).bits());
        let before = bytes(problem, &members);
        let decision = if self.redraw {
            redraw(rules, problem, members, others)
        } else {
            stick(rules, problem, members, &others)
        };
        let decision = Decision {
            airtime: airtime(rules, before),
            ..decision
        };
        Plan::of(decision, view.parameters)
    }
}

fn bytes(problem: &AdmissionProblem<'_>, members: &[Choice]) -> f64 {
    problem.broadcast_base_bytes + members.iter().map(|m| m.bytes).sum::<f64>()
}

fn airtime(rules: &Rules, bytes: f64) -> Airtime {
    Airtime {
        seconds: bytes / rules.rate_bytes_per_s,
        fraction: bytes / (rules.capacity_bytes_per_s * rules.cycle_s),
    }
}

/// Which bound `bytes` breaks.
fn broken(rules: &Rules, bytes: f64) -> Option<Because> {
    let airtime = airtime(rules, bytes);
    if airtime.fraction > rules.allowance {
        Some(Because::Allowance)
    } else if airtime.seconds > rules.t_max_s {
        Some(Because::Cycle)
    } else {
        None
    }
}

fn change(action: Action, id: AgentId, because: Because) -> Change {
    Change {
        action,
        id,
        because,
        score: 0.0,
    }
}

fn binding(refused: Option<Because>) -> Binding {
    match refused {
        None => Binding::Nothing,
        Some(Because::Cycle) => Binding::Cycle,
        Some(_) => Binding::Allowance,
    }
}

/// Sheds members drawn at random while a bound is broken; otherwise admits candidates drawn at random, within the quota.
fn stick(
    rules: &Rules,
    problem: &AdmissionProblem<'_>,
    mut members: Vec<Choice>,
    others: &[Choice],
) -> Decision {
    let mut changes = Vec::new();
    while let Some(because) = broken(rules, bytes(problem, &members)) {
        let Some(member) = members.pop() else { break };
        changes.push(change(Action::Remove, member.id, because));
    }
    let mut refused = None;
    if changes.is_empty() {
        for other in others {
            let with = bytes(problem, &members) + other.bytes;
            match broken(rules, with) {
                Some(because) => refused = refused.or(Some(because)),
                None if changes.len() < rules.n_max as usize => {
                    changes.push(change(Action::Admit, other.id, Because::Score));
                    members.push(*other);
                }
                None => break,
            }
        }
    }
    Decision {
        airtime: Airtime::default(),
        airtime_after: airtime(rules, bytes(problem, &members)),
        binding: if changes.len() >= rules.n_max as usize && refused.is_none() {
            Binding::Quota
        } else {
            binding(refused)
        },
        changes,
    }
}

/// Fills the bounds with whoever is drawn, members and candidates alike.
fn redraw(
    rules: &Rules,
    problem: &AdmissionProblem<'_>,
    members: Vec<Choice>,
    others: Vec<Choice>,
) -> Decision {
    let held = members.len();
    let mut all: Vec<(Choice, bool)> = members.into_iter().map(|m| (m, true)).collect();
    all.extend(others.into_iter().map(|o| (o, false)));
    all.sort_by_key(|(a, _)| (a.draw, a.id));
    let mut sum = problem.broadcast_base_bytes;
    let mut refused = None;
    let (mut out, mut into) = (Vec::with_capacity(held), Vec::new());
    for (option, member) in all {
        match (broken(rules, sum + option.bytes), member) {
            (None, was_in) => {
                sum += option.bytes;
                if !was_in {
                    into.push(change(Action::Admit, option.id, Because::Score));
                }
            }
            (Some(because), true) => {
                refused = Some(because);
                out.push(change(Action::Remove, option.id, because));
            }
            (Some(because), false) => refused = Some(because),
        }
    }
    out.extend(into);
    Decision {
        airtime: Airtime::default(),
        airtime_after: airtime(rules, sum),
        binding: binding(refused),
        changes: out,
    }
}
