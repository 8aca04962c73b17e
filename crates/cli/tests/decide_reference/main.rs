//! `covey decide` against a straightforward second implementation, on thousands of random snapshots.

mod exact;
mod generator;
mod reference;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use covey_protocol::snapshot::Snapshot;
use serde_json::Value;

use crate::generator::Random;
use crate::reference::Decision;

/// Through the library, in every test run.
const SNAPSHOTS: u64 = 6000;
/// Through the binary.
const RUNS: u64 = 100;
/// Of the snapshots, those that may hang on rounding.
const HANGING_SHARE: f64 = 0.01;

fn covey(text: &str) -> Result<String, String> {
    let snapshot = Snapshot::parse(text).map_err(|error| format!("refused: {error}"))?;
    serde_json::to_string(&snapshot.decide()).map_err(|error| error.to_string())
}

/// What differs between the decision of `covey` and the reference's.
fn differences(text: &str, output: &str) -> Vec<String> {
    let snapshot: Value = serde_json::from_str(text).expect("the snapshot is JSON");
    let output: Value = serde_json::from_str(output).expect("the decision is JSON");
    let expected = reference::decide(&snapshot);
    let mut differences = Vec::new();
    let mut differ = |what: String| differences.push(what);

    if output["schema"] != "covey.decision/1" {
        differ(format!("schema {}", output["schema"]));
    }
    compare_maps(&expected, &output, &mut differ);
    let airtime = &output["airtime"];
    for (name, ours) in [
        ("seconds", expected.seconds),
        ("fraction", expected.fraction),
    ] {
        let theirs = airtime[name].as_f64().unwrap_or(f64::NAN);
        if !agree(theirs, ours, 0.0) {
            differ(format!("airtime.{name} {theirs}, expected {ours}"));
        }
    }
    compare_scores(&expected, &output, &mut differ);
    let changes: Vec<Value> = output["changes"].as_array().cloned().unwrap_or_default();
    let theirs: Vec<(&str, u64, &str)> = changes
        .iter()
        .map(|change| {
            (
                change["action"].as_str().unwrap_or("?"),
                change["id"].as_u64().unwrap_or(u64::MAX),
                change["because"].as_str().unwrap_or("?"),
            )
        })
        .collect();
    if theirs != expected.changes && !expected.hangs {
        differ(format!(
            "changes {theirs:?}, expected {:?}",
            expected.changes
        ));
    }
    if output["epoch_advance"].as_u64() != Some(theirs.len() as u64) {
        differ(format!(
            "epoch_advance {} with {} changes",
            output["epoch_advance"],
            theirs.len()
        ));
    }
    differences
}

fn compare_maps(expected: &Decision, output: &Value, differ: &mut impl FnMut(String)) {
    let rows = output["map"].as_array().cloned().unwrap_or_default();
    let mut theirs = BTreeMap::new();
    let mut last = None;
    for row in &rows {
        let part = |at: usize| row[at].as_i64().and_then(|i| i32::try_from(i).ok());
        let (Some(ix), Some(iy), Some(m)) = (part(0), part(1), row[2].as_f64()) else {
            return differ(format!("map row {row}"));
        };
        if m <= 0.0 || last >= Some((iy, ix)) {
            differ(format!("map row {row} is out of order or not above 0"));
        }
        last = Some((iy, ix));
        theirs.insert((iy, ix), m);
    }
    for (&cell, m) in &expected.map {
        let listed = theirs.remove(&cell).unwrap_or(0.0);
        // Where a small m was computed as 1 - (1 - m), its last digits are lost.
        if !agree(listed, m.value, 1e-15) {
            differ(format!("map at {cell:?}: {listed}, expected {}", m.value));
        }
    }
    for (cell, m) in theirs {
        // One minus a product so near 1 that it rounds to 1 is 0 in one order of the sums and not in another.
        if m > 1e-15 {
            differ(format!("map at {cell:?}: {m}, expected 0"));
        }
    }
}

fn compare_scores(expected: &Decision, output: &Value, differ: &mut impl FnMut(String)) {
    let rows = output["scores"].as_array().cloned().unwrap_or_default();
    let ids: Vec<Option<u64>> = rows.iter().map(|row| row["id"].as_u64()).collect();
    let expected_ids: Vec<Option<u64>> = expected.scores.keys().copied().map(Some).collect();
    if ids != expected_ids {
        return differ(format!("scores of {ids:?}, expected {expected_ids:?}"));
    }
    for (row, (id, (role, worth))) in rows.iter().zip(&expected.scores) {
        if row["role"] != *role {
            differ(format!("role of {id}: {}, expected {role}", row["role"]));
        }
        for (name, ours, slack) in [
            ("value", worth.value, worth.scale * 1e-9),
            ("airtime", worth.airtime, 0.0),
            ("score", worth.score, worth.scale * 1e-9),
        ] {
            let theirs = row[name].as_f64().unwrap_or(f64::NAN);
            if !agree(theirs, ours.value, slack) {
                differ(format!("{name} of {id}: {theirs}, expected {}", ours.value));
            }
        }
    }
}

/// Within 1e-9 of the larger, or within `slack`.
fn agree(a: f64, b: f64, slack: f64) -> bool {
    (a - b).abs() <= (1e-9 * a.abs().max(b.abs())).max(slack)
}

/// The same disagreement in as small a snapshot as leaving things out gives.
fn smallest(text: &str, disagrees: impl Fn(&str) -> bool) -> String {
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    loop {
        let mut smaller = None;
        for path in arrays(&value, String::new()) {
            let length = value
                .pointer(&path)
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            for at in 0..length {
                let mut candidate = value.clone();
                let rows = candidate.pointer_mut(&path).and_then(Value::as_array_mut);
                rows.expect("an array").remove(at);
                if disagrees(&candidate.to_string()) {
                    smaller = Some(candidate);
                    break;
                }
            }
            if smaller.is_some() {
                break;
            }
        }
        match smaller {
            Some(found) => value = found,
            None => return value.to_string(),
        }
    }
}

/// Pointers to the arrays that can be shortened.
fn arrays(value: &Value, at: String) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "factors")
            .flat_map(|(name, field)| arrays(field, format!("{at}/{name}")))
            .collect(),
        Value::Array(rows) if rows.first().is_none_or(|row| !row.is_number()) => {
            let inside = rows
                .iter()
                .enumerate()
                .flat_map(|(nth, row)| arrays(row, format!("{at}/{nth}")));
            std::iter::once(at.clone()).chain(inside).collect()
        }
        _ => Vec::new(),
    }
}

fn disagreement(text: &str) -> Vec<String> {
    match covey(text) {
        Ok(output) => differences(text, &output),
        Err(refusal) => vec![refusal],
    }
}

/// Decides `count` snapshots with a given seed offset, and fails with the smallest disagreement.
fn check(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let mut hanging = 0;
    let mut kinds: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for seed in seeds {
        let text = generator::snapshot(seed);
        let found = disagreement(&text);
        if !found.is_empty() {
            // A snapshot that became invalid by leaving something out disagrees too, but about nothing.
            let small = smallest(&text, |text| {
                covey(text).is_ok_and(|output| !differences(text, &output).is_empty())
            });
            panic!(
                "seed {seed}: {found:#?}\nsmallest: {small}\nthere: {:#?}\ncovey says: {:?}",
                disagreement(&small),
                covey(&small),
            );
        }
        let decision = reference::decide(&serde_json::from_str(&text).expect("JSON"));
        hanging += u64::from(decision.hangs);
        let admits = |change: &&(&str, u64, &str)| change.0 == "admit";
        let admitted = decision.changes.iter().filter(admits).count();
        if admitted > 0 && decision.changes.len() > admitted + 1 {
            *kinds.entry(("admit", "then remove several")).or_default() += 1;
        }
        for (action, _, because) in decision.changes {
            *kinds.entry((action, because)).or_default() += 1;
        }
    }
    assert!(
        (hanging as f64) < HANGING_SHARE * count as f64,
        "{hanging} of {count} snapshots hang on rounding: the generator proves too little"
    );
    // A generator that never sheds or never removes would prove nothing about it.
    for (kind, one_in) in [
        (("admit", "score"), 20),
        (("remove", "score"), 20),
        (("remove", "allowance"), 20),
        (("remove", "cycle"), 20),
        (("admit", "then remove several"), 300),
    ] {
        let times = kinds.get(&kind).copied().unwrap_or(0);
        assert!(
            times * one_in > count,
            "{kind:?} only {times} times in {count} snapshots: {kinds:?}"
        );
    }
}

// In four parts, so that they run side by side.
#[test]
fn random_snapshots_first_quarter() {
    check(0..SNAPSHOTS / 4);
}

#[test]
fn random_snapshots_second_quarter() {
    check(SNAPSHOTS / 4..SNAPSHOTS / 2);
}

#[test]
fn random_snapshots_third_quarter() {
    check(SNAPSHOTS / 2..SNAPSHOTS / 4 * 3);
}

#[test]
fn random_snapshots_fourth_quarter() {
    check(SNAPSHOTS / 4 * 3..SNAPSHOTS);
}

/// Everything that is a set in a snapshot, in another order.
fn permuted(text: &str, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    for path in arrays(&value, String::new()).iter().rev() {
        let rows = value.pointer_mut(path).and_then(Value::as_array_mut);
        random.shuffle(rows.expect("an array"));
    }
    if let Some(Value::Array(factors)) = value.pointer_mut("/parameters/factors") {
        random.shuffle(factors);
    }
    value.to_string()
}

#[test]
fn the_order_of_agents_and_cells_changes_no_byte() {
    for seed in 2_000_000..2_000_400 {
        let text = generator::snapshot(seed);
        let other = permuted(&text, seed);
        assert_eq!(covey(&other), covey(&text), "{text}\n{other}");
    }
}

#[test]
fn the_binary_agrees_on_random_snapshots() {
    for seed in 1_000_000..1_000_000 + RUNS {
        let text = generator::snapshot(seed);
        let mut child = Command::new(env!("CARGO_BIN_EXE_covey"))
            .args(["decide", "--json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("covey starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin
            .write_all(text.as_bytes())
            .expect("covey reads all of it");
        drop(stdin);
        let output = child.wait_with_output().expect("covey ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {stderr}\n{text}");
        assert_eq!(stderr, "", "seed {seed}");
        let stdout = String::from_utf8(output.stdout).expect("UTF-8");
        let found = differences(&text, &stdout);
        assert!(found.is_empty(), "seed {seed}: {found:#?}\n{text}");
    }
}
