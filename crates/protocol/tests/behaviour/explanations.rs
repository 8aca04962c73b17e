//! One decision per policy, explained.

use std::fmt::Write as _;

use covey_protocol::admission::Factors;
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::snapshot::Snapshot;

const SNAPSHOT: &str = include_str!("../../../../examples/snapshot.json");
const DEMAND: &str = include_str!("../../../../examples/demand-snapshot.json");

/// The decision on a snapshot: what everyone is worth by each factor, what changes, and what bound.
fn explained(name: &str, snapshot: &Snapshot) -> String {
    let outcome = snapshot.decide();
    let mut out = format!("{name}\n");
    let _ = writeln!(
        out,
        "  {:<3} {:<11} {:>5} {:>6} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "id", "role", "sees", "new", "at risk", "in time", "value", "airtime", "score"
    );
    for row in &outcome.scores {
        let f = &row.factors;
        let _ = writeln!(
            out,
            "  {:<3} {:<11} {:>5} {:>6.3} {:>7.3} {:>7.3} {:>7.3} {:>7.3} {:>7.3}",
            row.id,
            row.role,
            f.visible,
            f.novel,
            f.at_risk,
            f.in_time,
            row.value,
            row.airtime,
            row.score
        );
    }
    for change in &outcome.changes {
        let _ = writeln!(
            out,
            "  {} {} because of {} ({:.3})",
            change.action, change.id, change.because, change.score
        );
    }
    let _ = writeln!(
        out,
        "  bound by {}; {:.2} -> {:.2} % of capacity",
        outcome.binding,
        100.0 * outcome.airtime.fraction,
        100.0 * outcome.airtime_after.fraction
    );
    out
}

#[test]
fn the_letters_policy_and_its_ablations() {
    let example = Snapshot::parse(SNAPSHOT).expect("the example is a snapshot");
    let with = |novelty, risk, timeliness| {
        let mut snapshot = example.clone();
        snapshot.rules.factors = Factors {
            novelty,
            risk,
            timeliness,
        };
        snapshot
    };
    let mut tight = example.clone();
    tight.rules.allowance = 0.06;
    let mut dear = example.clone();
    dear.price = 10.0;
    let mut two = example.clone();
    two.price = 0.0;
    two.rules.eta_add = 0.1;
    let told = [
        explained("novelty x risk x timeliness (proposed)", &example),
        explained(
            "novelty x risk (conditional-risk)",
            &with(true, true, false),
        ),
        explained("novelty (conditional)", &with(true, false, false)),
        explained("visible cells (coverage-only)", &with(false, false, false)),
        explained("proposed, the set has outgrown its allowance", &tight),
        explained("proposed, at a price of 10", &dear),
        explained("proposed, two are worth a place and one may come", &two),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn choice_by_demand() {
    let snapshot = DemandSnapshot::parse(DEMAND).expect("the example is a snapshot");
    let outcome = snapshot.decide();
    let p = &snapshot.problem;
    let object = |k: u32| p.objects[k as usize].id.0;
    let mut out = String::from("needs\n");
    for need in &p.needs {
        let _ = writeln!(
            out,
            "  {} of {}{}: {:.2} now, {:.2} next",
            p.listeners[need.listener as usize].id.0,
            object(need.object),
            match p.objects[need.object as usize].silent {
                true => " (silent)",
                false => "",
            },
            need.now,
            need.next
        );
    }
    out.push_str("offers\n");
    for candidate in &p.candidates {
        let views = candidate.views.iter();
        let views: Vec<String> = views
            .map(|&(k, chance)| format!("{} ({chance:.2})", object(k)))
            .collect();
        let _ = writeln!(
            out,
            "  {} hears of it {:.2}, bonus {:.2}, sees: {}",
            candidate.id.0,
            candidate.command,
            candidate.bonus,
            views.join(" ")
        );
    }
    out.push_str("picks\n");
    for row in &outcome.picks {
        let _ = writeln!(
            out,
            "  {:<7} {:>2}: gain {:.3} for {:.1} bytes",
            row.pick, row.id, row.gain, row.bytes
        );
    }
    let _ = write!(
        out,
        "contributors {:?}, repeat {:?}, requested {:?}\n{:.1} of {} bytes; open: {:.3} now, {:.3} next; cut: {}",
        outcome.contributors,
        outcome.repeat,
        outcome.requested,
        outcome.bytes,
        outcome.budget_bytes,
        outcome.open_now,
        outcome.open_next,
        outcome.cut
    );
    insta::assert_snapshot!(out);
}
