//! `covey run --pcap`: what was sent, as a capture that `covey messages decode` reads.

mod common;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{Directory, covey};

const SCENARIO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scenarios/toy/blind-junction/scenario.toml"
);

/// Runs two seconds of the blind junction with these options, and decodes the capture.
fn captured(folder: &Directory, options: &[&str]) -> Vec<Value> {
    let (file, out) = (folder.path("run.pcap"), folder.path("out"));
    let call = [
        &["run", SCENARIO, "--arm", "proposed@0.4", "--seed", "3"][..],
        &["--warmup", "0", "--measure", "2", "--quiet"],
        &["--out", &out, "--pcap", &file],
        options,
    ]
    .concat();
    covey(&call, "").done();
    covey(&["messages", "decode", &file], "")
        .done()
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn a_run_is_captured_whole_and_in_part() {
    let folder = Directory::new("run-capture");
    let all = captured(&folder, &[]);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &all {
        let kind = line["type"].as_str().expect("a type");
        let kind = if line["fused"].is_null() {
            kind
        } else {
            "fused"
        };
        *kinds.entry(kind).or_default() += 1;
    }
    assert!(kinds["cam"] > 100 && kinds["fused"] >= 5, "{kinds:?}");
    let digests = all.iter().filter(|line| line["digest"].is_object()).count();
    assert!(digests > 50, "{digests} digests");
    assert!(all.iter().all(|line| line["digest_raw"].is_null()));
    // Begins on 2026-01-01 and lasts two seconds.
    let time = |line: &Value| line["time_s"].as_f64().expect("a time") - 1_767_225_600.0;
    let times: Vec<f64> = all.iter().map(time).collect();
    assert!(times.is_sorted() && times[0] >= 0.0 && times[times.len() - 1] < 2.0);
    // Run again, results are there; the capture is written all the same, and has the same bytes.
    let bytes = std::fs::read(folder.path("run.pcap")).expect("a capture");
    let station = all[0]["station_id"].to_string();
    let one = captured(&folder, &["--pcap-station", &station]);
    let expected: Vec<&Value> = all
        .iter()
        .filter(|line| line["station_id"] == all[0]["station_id"])
        .collect();
    assert_eq!(one.len(), expected.len());
    assert!(
        one.iter()
            .all(|line| line["station_id"] == all[0]["station_id"])
    );
    let window = captured(&folder, &["--pcap-from", "0.5", "--pcap-to", "1"]);
    let expected = times
        .iter()
        .filter(|at| (0.4999..0.9999).contains(*at))
        .count();
    assert_eq!(window.len(), expected);
    assert!(captured(&folder, &["--pcap-tile", "-900,77"]).is_empty());
    captured(&folder, &[]);
    assert!(std::fs::read(folder.path("run.pcap")).expect("a capture") == bytes);
}

#[test]
fn one_run_serves_results_recording_and_capture() {
    let folder = Directory::new("run-capture-once");
    let (file, out) = (folder.path("run.pcap"), folder.path("out"));
    let call = [
        &["run", SCENARIO, "--arm", "proposed@0.4", "--seed", "3"][..],
        &["--warmup", "0", "--measure", "2", "--record"],
        &["--out", &out, "--pcap", &file],
    ]
    .concat();
    let run = || {
        let call = covey(&call, "");
        assert_eq!(call.code, Some(0), "{call:?}");
        assert!(call.stderr.contains("run.pcap: "), "{call:?}");
        assert!(call.stderr.contains(" fused states"), "{call:?}");
    };
    // When each file got its name: capture, recording, results.
    let seeds = std::path::PathBuf::from(folder.path("out/seeds"));
    let stamps = || {
        let mut worlds = std::fs::read_dir(&seeds).expect("results").flatten();
        let world = worlds.next().expect("a world").path();
        let mut results = std::fs::read_dir(&world).expect("results").flatten();
        let result =
            results.find(|entry| entry.file_name().to_string_lossy().starts_with("000003"));
        [
            std::path::PathBuf::from(&file),
            std::path::PathBuf::from(folder.path("out/seed-3.covey")),
            result.expect("a result").path(),
        ]
        .map(|path| {
            std::fs::metadata(&path)
                .and_then(|m| m.modified())
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
    };
    run();
    let first = stamps();
    // What watches a run is finished with it, before its results are kept. A second run would have come after them.
    assert!(first[0] <= first[2] && first[1] <= first[2], "{first:?}");
    // All is there: nothing is run, and what the capture holds is said all the same.
    run();
    assert_eq!(stamps(), first);
    // Without its capture the seed is run once more, and what is there is left alone.
    let bytes = std::fs::read(&file).expect("a capture");
    std::fs::remove_file(&file).expect("a capture");
    run();
    let again = stamps();
    assert!(again[0] > first[0] && again[1] == first[1], "{again:?}");
    assert!(std::fs::read(&file).expect("a capture") == bytes);
    // Somebody else's file under that name is no capture of this run.
    std::fs::write(&file, "something else").expect("a file");
    run();
    assert!(std::fs::read(&file).expect("a capture") == bytes);
}

#[test]
fn captures_that_cannot_be_are_refused() {
    let folder = Directory::new("run-capture-refused");
    let (file, out) = (folder.path("x.pcap"), folder.path("out"));
    let refused = |options: &[&str], names: &[&str]| {
        let call = [&["run", SCENARIO, "--out", &out, "--quiet"], options].concat();
        covey(&call, "").refused(names);
    };
    refused(&["--pcap", &file], &["--pcap", "1 seed,", "one --arm"]);
    let one = ["--arm", "proposed@0.4", "--pcap", &file];
    let two_seeds = [&one[..], &["--seed", "1", "--seed", "2"]].concat();
    refused(&two_seeds, &["1 arm and 2 seeds"]);
    let tile = [&one[..], &["--pcap-tile", "3"]].concat();
    refused(&tile, &["--pcap-tile", "column and row"]);
    let from = [&one[..], &["--pcap-from", "-1"]].concat();
    refused(&from, &["--pcap-from"]);
    refused(&["--arm", "cam-only", "--pcap-station", "3"], &["--pcap"]);
    assert!(!std::path::Path::new(&file).exists());
}
