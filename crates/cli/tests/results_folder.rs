//! What becomes of results: kept side by side, found again, never displaced; one writer at a time; what is stale can be seen and removed.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    Directory, covey, finished, read, run_arguments, summary, toy, wait_for, walk,
};

/// Makes the results of a folder look like those of a revision whose loads had no weights.
fn make_old(out: &str) {
    let file = format!("{out}/summary.json");
    let mut json: serde_json::Value = serde_json::from_slice(&read(&file)).expect("JSON");
    json["revision"] = "0123abc".into();
    for arm in json["arms"].as_object_mut().expect("arms").values_mut() {
        let arm = arm.as_object_mut().expect("an arm");
        arm.remove("load_by_tile").expect("the plain mean");
        arm.remove("beacon_occupancy").expect("its interval");
        for seed in arm["per_seed"].as_array_mut().expect("seeds") {
            let seed = seed.as_object_mut().expect("a seed");
            seed.remove("windows").expect("windows");
        }
    }
    std::fs::write(&file, json.to_string()).expect("an old summary");
    let seeds = std::fs::read_dir(format!("{out}/seeds")).expect("seeds");
    let folder = seeds.flatten().next().expect("a world").path();
    std::fs::rename(&folder, folder.with_file_name("0".repeat(32))).expect("another program's");
    // Such a revision left no notes.
    std::fs::remove_file(format!("{out}/covey.json")).expect("a note");
    std::fs::remove_file(format!("{out}/seeds/{}/world.json", "0".repeat(32))).expect("a note");
}

#[test]
fn what_an_older_revision_left_is_set_apart_and_can_still_be_told() {
    let directory = Directory::new("older");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let arguments = run_arguments(&scenario, &out);
    let table = covey(&arguments, "").done();
    assert!(!table.contains("older revision"), "{table}");
    let fresh = summary(&out);
    make_old(&out);
    let told = covey(&["report", &out], "").done();
    assert!(
        told.contains("Note: an older revision made these figures"),
        "{told}"
    );
    assert!(told.contains("proposed@0.4"), "{told}");
    let page = String::from_utf8(read(format!("{out}/report.html"))).expect("text");
    assert!(page.contains("Of an older revision."));
    let old = read(format!("{out}/summary.json"));
    // Run again, nothing of it is taken over, and that is said.
    let loud: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|argument| *argument != "--quiet")
        .collect();
    let again = covey(&loud, "");
    assert_eq!(
        (again.code, again.stdout),
        (Some(0), table),
        "{}",
        again.stderr
    );
    for part in [
        "1 result of another revision or other parameters is kept apart",
        "of another revision are set apart in",
    ] {
        assert!(again.stderr.contains(part), "{}", again.stderr);
    }
    assert_eq!(summary(&out), fresh);
    // Nothing of it is lost.
    assert_eq!(read(format!("{out}/earlier/0123abc/summary.json")), old);
    assert!(Path::new(&format!("{out}/earlier/0123abc/report.html")).is_file());
    let kept = walk(Path::new(&format!("{out}/seeds/{}", "0".repeat(32))));
    assert_eq!(kept.len(), 1);
}

/// Every file of finished seeds, with what is in it.
fn results(out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walk(&Path::new(out).join("seeds"));
    files
        .into_iter()
        .map(|file| (file.clone(), read(file)))
        .collect()
}

#[test]
fn results_are_never_displaced_and_only_what_is_missing_is_computed() {
    let directory = Directory::new("resume");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let with = |arms: &[&str], more: &[&str]| {
        let mut arguments = vec!["run", &scenario, "--warmup", "0.4", "--measure", "1"];
        arguments.extend(["--jobs", "1", "--out", &out]);
        arguments.extend(arms.iter().flat_map(|arm| ["--arm", arm]));
        arguments.extend(more);
        let call = covey(&arguments, "");
        assert_eq!(call.code, Some(0), "{call:?}");
        call
    };
    let two = ["proposed@0.4", "oracle"];
    let seeds = ["--seed", "1", "--seed", "2"];
    let first = with(&two, &seeds);
    let (kept, told) = (results(&out), summary(&out));
    let tables = || ["runs.parquet", "cycles.parquet"].map(|name| read(format!("{out}/{name}")));
    let made = tables();
    // Arms are a set: named in another order they are the same.
    let turned = with(&["oracle", "proposed@0.4"], &seeds);
    assert_eq!(turned.stdout, first.stdout);
    assert_eq!((results(&out), summary(&out)), (kept.clone(), told.clone()));
    assert!(tables() == made);
    // One more arm is computed alone, one more seed too, and what was there is left as it was.
    with(&["proposed@0.4", "oracle", "cam-only"], &seeds);
    with(&two, &["--seed", "1", "--seed", "2", "--seed", "3"]);
    let more = results(&out);
    assert_eq!(
        more.len(),
        kept.len() + 3,
        "two seeds of an arm and one seed"
    );
    assert!(
        kept.iter()
            .all(|(file, bytes)| more.get(file) == Some(bytes))
    );
    // Side by side: other parameters, and back, without a run.
    let other = with(&two, &["--seed", "1", "--penetration", "0.5"]);
    assert!(
        other
            .stderr
            .contains("3 results of another revision or other parameters are kept apart"),
        "{other:?}"
    );
    assert_eq!(summary(&out)["readings"]["penetration"], 0.5);
    let before = results(&out);
    let back = with(&two, &seeds);
    assert_eq!((back.stdout, summary(&out)), (first.stdout, told.clone()));
    assert!(tables() == made);
    assert_eq!(results(&out), before);
    // An arm computed alone is the one computed with others.
    let alone = directory.path("alone");
    let arguments = [
        "run",
        &scenario,
        "--warmup",
        "0.4",
        "--measure",
        "1",
        "--out",
        &alone,
        "--quiet",
        "--arm",
        "cam-only",
        "--arm",
        "oracle",
        "--arm",
        "proposed@0.4",
        "--seed",
        "1",
        "--seed",
        "2",
    ];
    covey(&arguments, "").done();
    with(&["proposed@0.4", "oracle", "cam-only"], &seeds);
    for table in ["runs.parquet", "cycles.parquet"] {
        assert!(
            read(format!("{out}/{table}")) == read(format!("{alone}/{table}")),
            "{table}"
        );
    }
}

#[test]
fn a_damaged_result_is_computed_again() {
    let directory = Directory::new("damaged");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    covey(&run_arguments(&scenario, &out), "").done();
    let told = summary(&out);
    for file in walk(&Path::new(&out).join("seeds")) {
        if file.extension().is_some_and(|end| end == "zst") {
            std::fs::write(&file, b"half a file").expect("damage");
        }
    }
    covey(&run_arguments(&scenario, &out), "").done();
    assert_eq!(summary(&out), told);
}

#[test]
fn a_call_that_is_refused_leaves_everything_as_it_was() {
    let directory = Directory::new("untouched");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let arguments = run_arguments(&scenario, &out);
    covey(&arguments, "").done();
    let all = || -> BTreeMap<PathBuf, Vec<u8>> {
        let files = walk(Path::new(&out));
        files.into_iter().map(|f| (f.clone(), read(f))).collect()
    };
    let before = all();
    let refused = |more: &[&str], parts: &[&str]| {
        let call = covey(&[&["run", &scenario, "--out", &out][..], more].concat(), "");
        assert_ne!(call.code, Some(0), "{call:?}");
        for part in parts {
            assert!(call.stderr.contains(part), "{call:?}");
        }
        assert_eq!(all(), before);
    };
    refused(
        &["--measure", "40.1"],
        &["measure: found 40.1", "whole cycles of 0.2 s"],
    );
    // SUMO is asked for and is nowhere.
    let call = Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(["run", &scenario, "--out", &out, "--traffic", "sumo"])
        .current_dir("/")
        .env("PATH", "/nowhere")
        .env_remove("SUMO_HOME")
        .output()
        .expect("covey starts");
    assert_eq!(call.status.code(), Some(1), "{call:?}");
    assert_eq!(all(), before);
    // A net that breaks off.
    let text = std::fs::read_to_string(&scenario).expect("text");
    let net = text
        .split('"')
        .find(|part| part.ends_with(".net.xml"))
        .expect("a net");
    let whole = read(net);
    let cut = directory.file("cut.net.xml", &whole[..whole.len() / 2]);
    std::fs::write(&scenario, text.replace(net, &cut)).expect("a scenario");
    refused(&["--measure", "1"], &["cut.net.xml"]);
}

#[test]
fn one_at_a_time_writes_in_a_folder() {
    let directory = Directory::new("two-at-once");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let start = |arm: &str, seeds: &str| {
        Command::new(env!("CARGO_BIN_EXE_covey"))
            .args(["run", &scenario, "--arm", arm, "--out", &out, "--jobs", "1"])
            .args(["--warmup", "0.4", "--measure", "1", "--seeds", seeds])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("covey starts")
    };
    let first = start("proposed@0.4", "1..=8");
    wait_for(|| finished(&out) > 0);
    let second = start("oracle", "1..=2");
    let first = first.wait_with_output().expect("an end");
    let second = second.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(first.status.success() && second.status.success(), "{said}");
    assert!(said.contains("is in use by process"), "{said}");
    // Both results are there, and the last call's summary lies on top.
    assert_eq!(finished(&out), 10);
    let arms = &summary(&out)["arms"];
    assert!(arms["oracle"].is_object() && arms["proposed@0.4"].is_null());
    // A process that is killed takes its lock with it, and what it left half-written goes at the next start.
    let mut third = start("proposed@0.4", "1..=200");
    wait_for(|| finished(&out) > 10);
    third.kill().expect("a kill");
    third.wait().expect("an end");
    let part = format!("{out}/seeds/x.json.zst.{}.part", third.id());
    std::fs::write(&part, "half").expect("a left-over");
    let after = start("oracle", "1..=1").wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&after.stderr);
    assert!(after.status.success() && !said.contains("in use"), "{said}");
    assert!(!Path::new(&part).exists(), "{said}");
}

#[test]
fn what_is_stale_is_shown_and_removed_when_asked() {
    let directory = Directory::new("clean");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let arguments = run_arguments(&scenario, &out);
    covey(&arguments, "").done();
    covey(&["clean", &out], "").done();
    make_old(&out);
    covey(&arguments, "").done();
    let told = summary(&out);
    let shown = covey(&["clean", &out], "");
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert_eq!(shown.stdout.matches("stale").count(), 2, "{shown:?}");
    assert!(shown.stderr.contains("--remove"), "{shown:?}");
    assert!(Path::new(&format!("{out}/earlier")).exists());
    let removed = covey(&["clean", &out, "--remove"], "").done();
    assert_eq!(removed.matches("removed").count(), 2, "{removed}");
    assert!(!Path::new(&format!("{out}/earlier")).exists());
    assert_eq!(finished(&out), 1);
    covey(&arguments, "").done();
    assert_eq!(summary(&out), told);
    covey(&["clean", &directory.path("")], "").refused(&["no results"]);
    covey(&["clean", "/nowhere"], "").refused(&["/nowhere", "no such folder"]);
}

#[test]
fn recordings_of_other_runs_are_laid_apart_and_come_back() {
    let directory = Directory::new("recorded");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let arguments = run_arguments(&scenario, &out);
    let with = |more: &[&str]| covey(&[&arguments[..], more].concat(), "").done();
    with(&["--record"]);
    let recording = |folder: &str| {
        let mut files = walk(Path::new(folder));
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("seed-")
        });
        files
    };
    let top = recording(&out).pop().expect("a recording");
    let bytes = read(&top);
    with(&["--penetration", "0.5"]);
    assert!(!top.exists());
    assert_eq!(recording(&format!("{out}/recordings")).len(), 1);
    with(&[]);
    assert!(read(&top) == bytes);
}

#[test]
fn files_of_one_name_in_two_folders_have_a_folder_each() {
    let directory = Directory::new("names");
    for place in ["a", "b"] {
        std::fs::create_dir(directory.path(place)).expect("a folder");
        std::fs::copy(
            toy(&directory),
            directory.path(&format!("{place}/scenario.toml")),
        )
        .expect("a scenario");
        let call = Command::new(env!("CARGO_BIN_EXE_covey"))
            .args([
                "run",
                &format!("{place}/scenario.toml"),
                "--arm",
                "oracle",
                "--quiet",
            ])
            .args(["--warmup", "0.4", "--measure", "0.4"])
            .current_dir(directory.path(""))
            .output()
            .expect("covey starts");
        assert!(call.status.success(), "{call:?}");
    }
    for out in ["out/run-toy", "out/run-toy-b"] {
        assert!(
            Path::new(&directory.path(out))
                .join("summary.json")
                .is_file(),
            "{out}"
        );
    }
}
