//! A policy that asks for too much: what its host grants, and what it cuts.

use std::fmt::Write as _;

use covey_protocol::admission::{Admission, Binding, Decision};
use covey_protocol::host::Host;
use covey_protocol::policy::{Hints, Plan, Policy, Reporters, View};
use covey_protocol::{
    AgentId, AgentState, Beacon, Event, Input, Instant, Output, Parameters, Position, Profile, Tile,
};

/// Somebody whom nobody ever heard.
const NOBODY: AgentId = AgentId(99);

/// Wants everybody in scope, the last first, and somebody who is not.
struct Greedy;

impl Policy for Greedy {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        let scope = view.scope.iter().rev().map(|member| member.id);
        let all = scope.filter(|&id| id != view.host).chain([NOBODY]);
        let wanted = Reporters::Ranking(all.collect());
        Plan::new(wanted, Binding::Nothing, view.parameters)
    }

    fn hints(&self) -> Hints {
        Hints::NO_COVERAGE
    }
}

/// Five agents around a host; what it decides in each of the cycles.
fn decisions(parameters: Parameters, cycles: i64) -> String {
    let profile = Profile::new(parameters, || Greedy);
    let (host, tile) = (AgentId(1), Tile::new(0, 0));
    let mut host = Host::new(&profile, host, tile, Instant::ZERO, None);
    let state = |id: u64| AgentState {
        position: Position::new(230.0 + 10.0 * id as f64, 250.0),
        ..AgentState::default()
    };
    let mut out = String::new();
    for cycle in 0..cycles {
        let now = Instant::from_millis(200 * cycle + 100);
        host.handle_input(now, Input::Moved(&state(1)));
        for id in 2..=6 {
            let beacon = Beacon {
                sender: AgentId(id),
                at: now,
                state: state(id),
                digest: None,
                low_frequency: false,
            };
            host.handle_input(now, Input::Beacon(&beacon));
        }
        host.handle_input(Instant::from_millis(200 * cycle + 150), Input::Tick);
        while let Some(output) = host.poll_output() {
            match output {
                Output::Event(Event::Decided(decision)) => tell(&mut out, cycle, &decision),
                Output::WakeAt(_) => break,
                _ => {}
            }
        }
        let set: Vec<String> = host
            .contributors()
            .iter()
            .map(|id| id.0.to_string())
            .collect();
        let _ = writeln!(out, "           contributors: {}", set.join(" "));
    }
    out
}

fn tell(out: &mut String, cycle: i64, decision: &Decision) {
    let changes = decision.changes.iter();
    let changes = changes.map(|c| format!("{} {}", c.action.name(), c.id.0));
    let cut = decision.cut.iter();
    let cut = cut.map(|c| format!("{} ({})", c.id.0, c.because.name()));
    let list = |items: Vec<String>| match items.len() {
        0 => "-".to_string(),
        _ => items.join(", "),
    };
    let _ = writeln!(
        out,
        "  cycle {cycle}: {}; cut: {}; bound by {}; {:.1} -> {:.1} % of capacity",
        list(changes.collect()),
        list(cut.collect()),
        decision.binding.name(),
        100.0 * decision.airtime.fraction,
        100.0 * decision.airtime_after.fraction,
    );
}

#[test]
fn what_a_host_grants_of_too_much() {
    let usual = Parameters::default();
    let cases = [
        (
            "at most two admissions in a cycle",
            2,
            usual.allowance,
            usual.t_max_s,
        ),
        ("an allowance for three", 9, 0.012, usual.t_max_s),
        ("a cycle for two", 9, usual.allowance, 0.0008),
    ];
    let mut out = String::new();
    for (name, n_max, allowance, t_max_s) in cases {
        let parameters = Parameters {
            n_max,
            allowance,
            t_max_s,
            ..Parameters::default()
        };
        let _ = writeln!(out, "{name}\n{}", decisions(parameters, 3));
    }
    insta::assert_snapshot!(out.trim_end());
}
