//! Summaries of made-up outcomes, and those that are kept.

use std::path::Path;

use covey_simulator::outcome::{Deficit, Mean};
use covey_simulator::{Arms, Outcome, SharedOutcome};

use serde_json::Value;

use super::*;
use crate::store::SeedResult;

fn outcome(arm: &str, seed: u64, missed: u64) -> Outcome {
    let mean = |sum, count| Mean { sum, count };
    Outcome {
        arm: arm.to_string(),
        seed,
        deficit: Deficit {
            relevant: 1000,
            missed,
        },
        load: mean(60.0, 200),
        load_by_tile: mean(5.0, 50),
        beacon_load: mean(32.0 + seed as f64, 50),
        price: mean(1.5, 3),
        ..Outcome::default()
    }
}

fn setting() -> Setting {
    Setting {
        revision: "abc".to_string(),
        readings: Readings::default(),
        scenario: "toy".to_string(),
        files: vec![("toy.net.xml".to_string(), "00".to_string())],
        corridor_km: None,
        capacity_bytes_per_s: 242_000.0,
        warmup_s: 1.0,
        measure_s: 1.0,
        traffic: "builtin".to_string(),
        quick: false,
        letters: true,
        profile: None,
    }
}

fn seeds(arms: &[&str], count: u64) -> Vec<SeedResult> {
    (1..=count)
        .map(|seed| SeedResult {
            seed,
            cycles: Vec::new(),
            timing: Timing::default(),
            cpu_s: 0.0,
            shared: SharedOutcome {
                seed,
                vehicles: 10 + seed,
                ..SharedOutcome::default()
            },
            arms: arms
                .iter()
                .enumerate()
                .map(|(i, arm)| outcome(arm, seed, 600 - 10 * i as u64 + seed))
                .collect(),
        })
        .collect()
}

#[test]
fn fields_that_do_not_apply_are_zero_and_empty_ratios_null() {
    let mut seeds = seeds(&["cam-only", "random@0.4", "proposed@0.4"], 7);
    for seed in &mut seeds {
        seed.arms[2].contributors = Mean::default();
        seed.arms[1].deficit = Deficit::default();
    }
    let summary = Summary::new(&setting(), &seeds, &Arms::builtin());
    let json: Value = serde_json::from_str(&summary.to_json().unwrap()).unwrap();
    assert_eq!(json["schema"], "covey.summary/1");
    let arms = &json["arms"];
    assert_eq!(arms["cam-only"]["price"]["mean"], 0.0);
    assert_eq!(arms["proposed@0.4"]["price"]["mean"], 0.5);
    assert_eq!(arms["proposed@0.4"]["contributors"]["mean"], Value::Null);
    assert_eq!(arms["random@0.4"]["deficit"]["mean"], Value::Null);
    assert_eq!(arms["random@0.4"]["per_seed"][0]["deficit"], Value::Null);
    assert_eq!(arms["cam-only"]["load"]["mean"], 0.3);
    assert_eq!(arms["cam-only"]["load_by_tile"]["mean"], 0.1);
    let beacons = &arms["cam-only"]["beacon_occupancy"];
    assert_eq!(beacons["mean"], arms["cam-only"]["beacon_load"]["mean"]);
    assert!(beacons["lo"].as_f64() < beacons["mean"].as_f64());
    assert_eq!(json["scenario"]["vehicles"], 14.0);
    assert_eq!(json["scenario"]["corridor_km"], Value::Null);
    assert_eq!(json["letter"]["proposed@0.4"]["deficit"], 0.031);
    assert_eq!(json["intervals"]["meaningful"], true);
    let paired = &json["paired"][0];
    assert_eq!(paired["worse"], "random@0.4");
    assert_eq!(paired["deficit_reduction_pp"]["mean"], Value::Null);
    // Arms stay in the order of the run.
    let text = summary.to_json().unwrap();
    assert!(text.find("\"cam-only\"").unwrap() < text.find("\"random@0.4\"").unwrap());
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn what_reports_carried_in_earlier_programs_is_still_told() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/letter");
    let text = std::fs::read_to_string(results.join(FILE)).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let readings = value["readings"].as_object_mut().unwrap();
    readings.remove("senders");
    let protocol = readings["protocol"].as_object_mut().unwrap();
    protocol.remove("report_content");
    protocol.remove("empty_reports");
    protocol.insert("report_silent_only".to_string(), false.into());
    let readings = Summary::parse(&value.to_string()).unwrap().readings;
    assert_eq!(readings.protocol.report_content.name(), "all");
    assert_eq!(readings.senders.interval_s, 0.2);
}

/// Everything that `kept` says, `now` says too, at every depth.
fn assert_within(kept: &Value, now: &Value, place: &str) {
    match kept.as_object() {
        Some(values) => {
            for (key, value) in values {
                assert_within(value, &now[key], &format!("{place}.{key}"));
            }
        }
        None => assert_eq!(now, kept, "{place}"),
    }
}

#[test]
fn kept_summaries_are_read_and_written_again_as_they_are() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let mut count = 0;
    for entry in std::fs::read_dir(results).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join(FILE).is_file() {
            let summary = Summary::read(&folder).unwrap();
            let text = std::fs::read_to_string(folder.join(FILE)).unwrap();
            let apart = |text: &str| {
                let mut all: Value = serde_json::from_str(text).unwrap();
                let readings = all.as_object_mut().unwrap().remove("readings").unwrap();
                (all, readings)
            };
            let (written, now) = apart(&summary.to_json().unwrap());
            let (kept, then) = apart(&text);
            assert_eq!(written, kept, "{}", folder.display());
            // Readings that were added since stand at their defaults; none is lost or changed.
            assert_within(&then, &now, "readings");
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn a_file_of_the_first_version_is_enough() {
    let text = r#"{"schema": "covey.summary/1", "revision": "r", "readings": {}, "seeds": [1], "warmup_s": 1.0,
        "measure_s": 2.0, "traffic": "builtin",
        "scenario": {"name": "toy", "vehicles": 3.0, "participants": 2.0, "corridor_km": null, "capacity_bytes_per_s": 242000.0},
        "arms": {"cam-only": {"deficit": {"mean": 0.1, "lo": 0.0, "hi": 0.2}, "load": {"mean": 0.0, "lo": 0.0, "hi": 0.0},
            "load_parts": {"digest": 0.0, "reports": 0.0, "broadcast": 0.0}, "price": {"mean": 0.0}, "contributors": {"mean": 0.0},
            "digest_bytes": {"mean": 0.0}, "load_by_tile": {"mean": 0.0},
            "per_seed": [{"seed": 1, "deficit": 0.1, "load": 0.0, "relevant": 10, "missed": 1}]}}}"#;
    let summary = Summary::parse(text).unwrap();
    let arm = summary.arms.get("cam-only").unwrap();
    assert_eq!(arm.deficit.estimate().map(|e| e.hi), Some(0.2));
    assert_eq!(arm.price.estimate().map(|e| e.hi), Some(0.0));
    assert_eq!(arm.misses, Misses::default());
    assert!(summary.intervals.meaningful);
}

#[test]
fn the_target_is_the_protocols() {
    let mut summary = Summary::default();
    assert_eq!(summary.target(), 0.3);
    summary.readings.protocol.target = 0.4;
    assert_eq!(summary.target(), 0.4);
}

#[test]
fn misses_and_phases_are_summed_and_sorted_by_name() {
    let mut seeds = seeds(&["cam-only"], 2);
    for seed in &mut seeds {
        seed.arms[0].misses.equipped_stale = 2;
        seed.arms[0].misses.ahead = 5;
    }
    let mut summary = Summary::new(&setting(), &seeds, &Arms::builtin());
    let timing = Timing {
        traffic_s: 0.5,
        arms_s: 2.0,
        ..Timing::default()
    };
    summary.timing.add(&timing, 3.0);
    summary.timing.add(&timing, 4.0);
    let text = summary.to_json().unwrap();
    assert!(
        text.contains("\"misses\": {\n        \"ahead\": 10,\n        \"behind_building\": 0,"),
        "{text}"
    );
    assert_eq!(summary.timing.cpu_s, 7.0);
    let phases = "\"phases\": {\n      \"arms_s\": 4.0,\n      \"beacons_s\": 0.0,";
    assert!(text.contains(phases), "{text}");
}

#[test]
fn the_contracts_pairs_are_compared() {
    let names: Vec<String> = Arms::builtin()
        .letter()
        .iter()
        .map(ToString::to_string)
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let summary = Summary::new(&setting(), &seeds(&names, 1), &Arms::builtin());
    assert!(!summary.intervals.meaningful);
    let has = |better: &str, worse: &str| {
        summary
            .paired
            .iter()
            .filter(|p| p.better == better && p.worse == worse)
            .count()
    };
    for b in ["0.2", "0.4", "0.8"] {
        for random in ["random", "random-redraw"] {
            assert_eq!(has(&format!("proposed@{b}"), &format!("{random}@{b}")), 1);
        }
    }
    assert_eq!(has("proposed@0.8", "cpm-rmr"), 1);
    assert_eq!(has("coverage-only@0.4", "random@0.4"), 1);
    assert_eq!(has("conditional@0.4", "coverage-only@0.4"), 1);
    assert_eq!(has("conditional-risk@0.4", "conditional@0.4"), 1);
    assert_eq!(has("proposed@0.4", "conditional-risk@0.4"), 1);
    let step = &summary.paired.last().unwrap().deficit_reduction_pp;
    assert_eq!(step.includes_zero, Some(false));
    assert_eq!(summary.letter.0.len(), 13);
    // A yardstick is nobody's rival.
    let names = ["demand@0.22", "omniscient@0.22", "oracle", "cam-only"];
    let summary = Summary::new(&setting(), &seeds(&names, 1), &Arms::builtin());
    assert_eq!(summary.paired.len(), 1);
    assert_eq!(summary.paired[0].worse, "cam-only");
}

#[test]
fn own_arms_are_held_against_all_that_know_no_more() {
    let names = ["cam-only", "demand@0.1", "oracle", "mine@0.1", "mine@0.2"];
    let summary = Summary::new(&setting(), &seeds(&names, 7), &Arms::builtin());
    let pairs: Vec<(&str, &str)> = summary
        .paired
        .iter()
        .map(|pair| (pair.better.as_str(), pair.worse.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("demand@0.1", "cam-only"),
            ("mine@0.1", "cam-only"),
            ("mine@0.1", "demand@0.1"),
            ("mine@0.2", "cam-only"),
            ("mine@0.2", "demand@0.1"),
        ]
    );
}

#[test]
fn the_measured_window_is_cut_into_quarters() {
    let mut results = seeds(&["cam-only", "oracle"], 1);
    let cycle = |relevant, missed| Deficit { relevant, missed };
    // Ten cycles: two, three, two and three of them.
    let cycles = [1, 1, 2, 2, 2, 0, 0, 4, 4, 4];
    results[0].arms[0].by_cycle = cycles
        .map(|missed| cycle(if missed == 0 { 0 } else { 10 }, missed))
        .to_vec();
    results[0].arms[1].by_cycle = vec![cycle(10, 1); 3];
    let summary = Summary::new(&setting(), &results, &Arms::builtin());
    let windows = |arm: &str| summary.arms.get(arm).unwrap().per_seed[0].windows.clone();
    assert_eq!(windows("cam-only"), [Some(0.1), Some(0.2), None, Some(0.4)]);
    assert_eq!(windows("oracle"), []);
    let json: Value = serde_json::from_str(&summary.to_json().unwrap()).unwrap();
    let seed = &json["arms"]["cam-only"]["per_seed"][0];
    assert_eq!(seed["windows"], serde_json::json!([0.1, 0.2, null, 0.4]));
}

#[test]
fn figures_of_a_fitted_profile_say_so() {
    let of = |name: Option<&str>| {
        let setting = Setting {
            profile: name.map(|name| Profile::find(name).unwrap()),
            ..setting()
        };
        let summary = Summary::new(&setting, &seeds(&["oracle"], 6), &Arms::builtin());
        let json: Value = serde_json::from_str(&summary.to_json().unwrap()).unwrap();
        (json, summary.warning())
    };
    let (json, warning) = of(Some("closest"));
    assert_eq!(json["profile"], "closest");
    let label = "fitted to the letter's figures, evidence for nothing";
    assert_eq!(json["label"], label);
    assert_eq!(warning, Some(format!("Profile closest: {label}.")));
    let (json, warning) = of(Some("letter"));
    assert_eq!((&json["profile"], warning), (&"letter".into(), None));
    assert!(json.get("label").is_none());
    assert!(of(None).0.get("profile").is_none());
}

#[test]
fn the_distance_to_the_letter_needs_all_of_its_arms() {
    let names: Vec<String> = Arms::builtin()
        .letter()
        .iter()
        .map(ToString::to_string)
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut results = seeds(&names, 2);
    for arm in results.iter_mut().flat_map(|seed| &mut seed.arms) {
        let mean = |value: f64| Mean {
            sum: 100.0 * value,
            count: 100,
        };
        let theirs = crate::letter::arm(&arm.arm);
        let deficit = theirs.and_then(|f| f.deficit).unwrap_or(0.02);
        arm.deficit.missed = (1000.0 * deficit).round() as u64;
        arm.load = mean(theirs.and_then(|f| f.load).unwrap_or(0.3));
        arm.price = mean(8.0);
        arm.beacon_load = mean(0.64);
        arm.digest_bytes = mean(13.0);
        arm.load_digest = mean(0.07);
    }
    let known = Arms::builtin();
    let whole = Summary::new(&setting(), &results, &known);
    assert!(whole.distance_to_letter.unwrap() < 1e-9);
    for seed in &mut results {
        seed.arms.retain(|arm| arm.arm != "cpm-rmr");
    }
    let less = Summary::new(&setting(), &results, &known);
    assert_eq!(less.distance_to_letter, None);
    assert!(!less.to_json().unwrap().contains("distance_to_letter"));
}

#[test]
fn quick_runs_and_few_seeds_say_so() {
    let quick = Setting {
        quick: true,
        ..setting()
    };
    let summary = Summary::new(&quick, &seeds(&["oracle"], 9), &Arms::builtin());
    assert!(summary.intervals.remark.unwrap().contains("quick"));
    let few = Summary::new(&setting(), &seeds(&["oracle"], 5), &Arms::builtin());
    assert!(few.intervals.remark.unwrap().starts_with("5 seeds"));
}
