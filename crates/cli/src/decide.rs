//! `covey decide`: one host decision, explained.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use covey_protocol::demand::snapshot::{DEMAND_SNAPSHOT_SCHEMA, DemandOutcome, DemandSnapshot};
use covey_protocol::snapshot::{ChangeRow, Outcome, Snapshot};

use crate::failure::{Failure, print, read_text, say};
use crate::terminal::output_width;
use crate::terminal_table::Table;

/// Make one host decision from a JSON snapshot and explain it, factor by factor
///
/// The snapshot (schema covey.snapshot/1 for the letter's policy, covey.demand-snapshot/1 for choice by demand) holds what a
/// host knows at the end of a cycle. The decision is made by the same code that hosts run in the simulator.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey decide examples/snapshot.json\n  \
    covey decide examples/demand-snapshot.json\n  \
    covey decide --json - < examples/snapshot.json | jq .changes")]
pub(crate) struct Arguments {
    /// Print the decision as JSON (schema covey.decision/1) instead of a table
    #[arg(long)]
    json: bool,
    /// The snapshot, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (name, text) = read_text(&arguments.file)?;
    let decided = decide(&name, &text)?;
    match arguments.json {
        true => print(&format!("{}\n", decided.json)),
        false => say(&decided.told),
    }
}

/// A decision, for programs and for people.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The outcome: schema covey.decision/1, or that of choice by demand.
    pub json: String,
    /// Factor by factor, in words.
    pub told: String,
}

/// Decides on the snapshot `text`, which messages call `name`.
pub(crate) fn decide(name: &str, text: &str) -> Result<Decided, Failure> {
    if is_demand(text) {
        return decide_demand(name, text);
    }
    let snapshot = Snapshot::parse(text).map_err(|error| Failure::input(name, error))?;
    let outcome = snapshot.decide();
    if let Some(what) = outcome.overflow() {
        return Err(Failure::input(
            name,
            format!(
                "{what} is not a finite number: risk, bytes, price, rates or times are too large or too small together"
            ),
        ));
    }
    Ok(Decided {
        json: json(&outcome)?,
        told: explain(&snapshot, &outcome),
    })
}

fn json(outcome: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(outcome).map_err(|error| Failure::Other(error.to_string()))
}

/// The text says that it is a snapshot of choice by demand.
fn is_demand(text: &str) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_str(text);
    value.is_ok_and(|value| value["schema"] == DEMAND_SNAPSHOT_SCHEMA)
}

fn decide_demand(name: &str, text: &str) -> Result<Decided, Failure> {
    let snapshot = DemandSnapshot::parse(text).map_err(|error| Failure::input(name, error))?;
    let outcome = snapshot.decide();
    if let Some(what) = outcome.overflow() {
        return Err(Failure::input(
            name,
            format!("{what} is not a finite number: bytes, bonuses or positions are too large"),
        ));
    }
    Ok(Decided {
        json: json(&outcome)?,
        told: explain_demand(&snapshot, &outcome),
    })
}

/// The choice for a person: what was picked, what it is worth, what stays open.
fn explain_demand(snapshot: &DemandSnapshot, outcome: &DemandOutcome) -> String {
    let problem = &snapshot.problem;
    let mut out = format!(
        "Host {}: {} listeners need {} objects ({} needs); {} could report.\n\n",
        outcome.host,
        problem.listeners.len(),
        problem.objects.len(),
        problem.needs.len(),
        problem.candidates.len(),
    );
    let mut table = Table::new(2, &["pick", "id", "gain", "bytes", "gain per 100 bytes"]);
    for row in &outcome.picks {
        table.row(vec![
            row.pick.to_string(),
            row.id.to_string(),
            number(row.gain),
            number(row.bytes),
            number(100.0 * row.gain / row.bytes.max(1e-9)),
        ]);
    }
    if outcome.picks.is_empty() {
        out.push_str("Nothing is worth its bytes.\n");
    } else {
        let _ = writeln!(out, "{}", table.fit(output_width()));
    }
    let _ = writeln!(
        out,
        "{} of {} bytes; needs left open: {} now, {} in the next cycle.",
        number(outcome.bytes),
        number(outcome.budget_bytes),
        number(outcome.open_now),
        number(outcome.open_next),
    );
    let bound = if outcome.cut {
        "What bound: the budget; something worth picking did not fit."
    } else {
        "What bound: nothing; no other pick is worth it."
    };
    let _ = writeln!(out, "{bound}");
    out
}

/// The decision for a person: who scored what, why the winner won, what bound.
fn explain(snapshot: &Snapshot, outcome: &Outcome) -> String {
    let rules = &snapshot.rules;
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line(format!(
        "Host {} at price {}; the set as given takes {:.3} of its allowance {} and {:.1} ms of {:.0} ms.",
        outcome.host,
        number(outcome.price),
        outcome.airtime.fraction,
        rules.allowance,
        outcome.airtime.seconds * 1e3,
        rules.t_max_s * 1e3,
    ));
    let covered = outcome.map.len();
    line(format!(
        "The twin holds something of {covered} cell{}, {:.1} in all.\n",
        if covered == 1 { "" } else { "s" },
        outcome.map.iter().map(|&(_, _, m)| m).sum::<f64>(),
    ));
    if outcome.scores.is_empty() {
        line("There is no candidate and no contributor.".to_string());
    } else {
        line(scores(snapshot, outcome).fit(output_width()));
        let factors = rules.factors;
        if !(factors.novelty && factors.risk && factors.timeliness) {
            line("A factor in brackets is shown, but does not count in this score.\n".to_string());
        }
    }
    for change in &outcome.changes {
        line(because(change, snapshot, outcome));
    }
    if outcome.changes.is_empty() {
        line("Nothing changes.".to_string());
    }
    line(bound(snapshot, outcome));
    out
}

/// Everyone's score, the highest first, factor by factor.
fn scores(snapshot: &Snapshot, outcome: &Outcome) -> Table {
    let factors = snapshot.rules.factors;
    let mark = |name: &str, counts: bool| {
        if counts {
            name.to_string()
        } else {
            format!("({name})")
        }
    };
    let mut table = Table::new(
        2,
        &[
            "agent",
            "role",
            "sees cells",
            &mark("x new", factors.novelty),
            &mark("x risk", factors.risk),
            &mark("x in time", factors.timeliness),
            "value",
            "airtime",
            "x price",
            "score",
            "",
        ],
    );
    let mut rows: Vec<_> = outcome.scores.iter().collect();
    rows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    for row in rows {
        let remark = match outcome.changes.iter().rfind(|change| change.id == row.id) {
            Some(change) if change.action == "admit" => "<- admitted",
            Some(_) => "<- removed",
            None => "",
        };
        table.row(vec![
            row.id.to_string(),
            row.role.to_string(),
            number(row.factors.visible),
            number(row.factors.novel),
            number(row.factors.at_risk),
            number(row.factors.in_time),
            number(row.value),
            number(row.airtime),
            number(outcome.price * row.airtime),
            number(row.score),
            remark.to_string(),
        ]);
    }
    table
}

fn because(change: &ChangeRow, snapshot: &Snapshot, outcome: &Outcome) -> String {
    let rules = &snapshot.rules;
    let score = number(change.score);
    match (change.action, change.because) {
        ("admit", _) => format!(
            "{} is admitted: its score {score} reaches {} and is the highest that fits (allowance used afterwards: {:.3} of {}).",
            change.id, rules.eta_add, outcome.airtime_after.fraction, rules.allowance
        ),
        (_, "allowance") => format!(
            "{} is removed: the set had outgrown its allowance of {} and {} scored lowest ({score}).",
            change.id, rules.allowance, change.id
        ),
        (_, "cycle") => format!(
            "{} is removed: the set had outgrown the cycle's {:.0} ms and {} scored lowest ({score}).",
            change.id,
            rules.t_max_s * 1e3,
            change.id
        ),
        _ => format!(
            "{} is removed: its score {score} is at or below {}.",
            change.id, rules.eta_rem
        ),
    }
}

fn bound(snapshot: &Snapshot, outcome: &Outcome) -> String {
    let rules = &snapshot.rules;
    let what = match outcome.binding {
        "value" => format!("no candidate is worth {} even for free", rules.eta_add),
        "price" => format!(
            "the price of {}: at price 0 another candidate would reach {}",
            number(outcome.price),
            rules.eta_add
        ),
        "allowance" => format!(
            "the allowance of {}: what is worth admitting does not fit",
            rules.allowance
        ),
        "cycle" => format!(
            "the cycle of {:.0} ms: what is worth admitting does not fit",
            rules.t_max_s * 1e3
        ),
        "quota" => format!(
            "the quota of {} change{} per cycle: another candidate is worth a place",
            rules.n_max,
            if rules.n_max == 1 { "" } else { "s" }
        ),
        _ => "nothing: no candidate is left".to_string(),
    };
    format!("What bound: {what}.")
}

/// A number as precise as a reader needs it: whole from 100 on, one decimal from 10 on, else at most three. The viewer's page writes
/// the same (`web/src/why.ts`).
fn number(x: f64) -> String {
    let places = match x.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 3,
    };
    let scale = f64::powi(10.0, places);
    let rounded = (x * scale).round() / scale;
    let text = format!("{rounded:.*}", places as usize);
    let short = match places {
        0 => text.as_str(),
        _ => text.trim_end_matches('0').trim_end_matches('.'),
    };
    match short {
        "" | "-" | "-0" => "0".to_string(),
        short => short.to_string(),
    }
}
