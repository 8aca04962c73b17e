//! A whole program with an arm of its own: hosts that ask everyone, the lowest id first, as far as the allowance goes.
//!
//! `cargo run -p covey --example own_arm -- run scenarios/toy/blind-junction/scenario.toml --arm lowest-id@0.4 --arm cam-only`

use std::process::ExitCode;

use covey::protocol::admission::{Admission, Binding};
use covey::protocol::policy::{Plan, Policy, Reporters, View};
use covey::{ArmError, Arms, Strategy};

struct LowestId;

impl Policy for LowestId {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        let problem = view.problem;
        let members = problem.contributors.iter().map(|c| c.id);
        let mut all: Vec<_> = members
            .chain(problem.candidates.iter().map(|c| c.id))
            .collect();
        all.sort_unstable();
        Plan::new(Reporters::Ranking(all), Binding::Value, view.parameters)
    }
}

fn main() -> Result<ExitCode, ArmError> {
    let arm = Strategy::own("lowest-id", "hosts ask the lowest ids first", |_seed| {
        Box::new(LowestId)
    });
    Ok(covey::main_with(Arms::builtin().with(arm)?))
}
