//! `covey view` as far as it can be seen without a browser.

mod common;

use std::path::Path;
use std::process::Command;

use crate::common::{Directory, covey};

#[test]
fn what_is_no_recording_is_refused_with_advice() {
    let folder = Directory::new("view-nothing");
    covey(&["view", &folder.path("")], "").refused(&["--record"]);
    folder.file("x.covey", "COVEYREC but then nothing");
    covey(&["view", &folder.path("")], "").refused(&["x.covey", "cut short"]);
    folder.file("x.covey", "something else");
    covey(&["view", &folder.path("")], "").refused(&["x.covey", "another kind of file"]);
    covey(&["view", "no/such/folder"], "").refused(&["no/such/folder"]);
}

#[test]
fn the_example_becomes_an_mcap_file() {
    let folder = Directory::new("view-mcap");
    let out = folder.path("junction.mcap");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/blind-junction");
    assert_eq!(covey(&["view", example, "--mcap", &out], "").done(), "");
    let bytes = std::fs::read(&out).unwrap();
    assert!(bytes.starts_with(b"\x89MCAP0\r\n") && bytes.ends_with(b"\x89MCAP0\r\n"));
    // On standard output, and through a link.
    let through = Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(["view", example, "--mcap", "-"])
        .output()
        .expect("covey starts");
    assert!(through.status.success() && through.stdout == bytes);
    let link = folder.path("link.mcap");
    std::os::unix::fs::symlink("there.mcap", &link).expect("a link");
    covey(&["view", example, "--mcap", &link], "").done();
    assert!(Path::new(&link).is_symlink());
    assert!(std::fs::read(folder.path("there.mcap")).expect("a file") == bytes);
}

/// The arms of a folder's recording of seed 1001.
fn recorded(folder: &Directory) -> Vec<String> {
    let file = folder.path("seed-1001.covey");
    let reader = covey_simulator::recording::Reader::open(file.as_ref()).unwrap();
    let arms = reader.manifest().header.arms.iter();
    arms.map(|arm| arm.name.clone()).collect()
}

#[test]
fn a_recording_never_lies_beside_results_of_another_run() {
    let folder = Directory::new("view-stale");
    let toy = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/toy/blind-junction/scenario.toml"
    );
    let out = folder.path("");
    let run = |arm: &str, more: &[&str]| {
        let mut words = vec![
            "run",
            toy,
            "--seed",
            "1001",
            "--warmup",
            "1",
            "--measure",
            "2",
        ];
        words.extend(["--out", &out, "--arm", arm]);
        words.extend(more);
        let call = covey(&words, "");
        assert_eq!(call.code, Some(0), "{call:?}");
        call.stderr
    };
    let file = std::path::PathBuf::from(folder.path("seed-1001.covey"));
    run("proposed@0.4", &["--record"]);
    assert_eq!(recorded(&folder), ["proposed@0.4"]);
    let first = std::fs::read(&file).unwrap();
    // The same run, not asked to record: its recording is still the right one.
    run("proposed@0.4", &[]);
    assert_eq!(std::fs::read(&file).unwrap(), first);
    // Another arm: the old recording is laid apart, and is said to be.
    let said = run("cpm-rmr", &[]);
    assert!(said.contains("1 recording"), "{said}");
    assert!(!file.exists());
    let mut parked = std::fs::read_dir(folder.path("recordings")).unwrap();
    let apart = parked.next().unwrap().unwrap().path();
    assert_eq!(std::fs::read(apart.join("seed-1001.covey")).unwrap(), first);
    // Results are there, the recording is not: the seed is run once more for it.
    run("cpm-rmr", &["--record"]);
    assert_eq!(recorded(&folder), ["cpm-rmr"]);
    // A file of that name that is no recording does not stay either.
    folder.file("seed-1001.covey", "something else");
    run("cpm-rmr", &["--record"]);
    assert_eq!(recorded(&folder), ["cpm-rmr"]);
    // Back to the first run: its recording is there again.
    run("proposed@0.4", &[]);
    assert_eq!(std::fs::read(&file).unwrap(), first);
}

#[test]
fn a_damaged_recording_does_not_keep_others_from_being_seen() {
    use std::io::{BufRead, BufReader, Read};
    let folder = Directory::new("view-damaged");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/blind-junction");
    let whole = common::walk(example.as_ref())
        .into_iter()
        .find(|file| file.extension().is_some_and(|ending| ending == "covey"))
        .unwrap();
    let bytes = std::fs::read(whole).unwrap();
    folder.file("a.covey", &bytes[..bytes.len() / 2]);
    folder.file("b.covey", &bytes);
    let mut view = std::process::Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(["view", &folder.path(""), "--no-open"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(view.stdout.take().unwrap())
        .read_line(&mut address)
        .unwrap();
    view.kill().unwrap();
    let mut said = String::new();
    view.stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    view.wait().unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address} {said}");
    assert!(
        said.starts_with("left out: ") && said.contains("a.covey"),
        "{said}"
    );
}
