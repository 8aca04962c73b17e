//! A program with an arm of its own, `examples/own_arm.rs`: whatever Covey does for its arms it does for that one.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Call, Directory, call, covey};

const SCENARIO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scenarios/toy/blind-junction/scenario.toml"
);
const ARM: &str = "lowest-id@0.4";

/// The program, which cargo builds with the tests of this crate.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    let folder = test.ancestors().nth(2).expect("the target folder");
    let program = folder.join("examples/own_arm");
    assert!(
        program.is_file(),
        "{}: not there; `cargo build -p covey --example own_arm` makes it",
        program.display()
    );
    program
}

fn own(arguments: &[&str]) -> Call {
    call(&program(), arguments, "")
}

/// A run of the own arm and two others on these seeds.
fn run_arguments<'a>(out: &'a str, seeds: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["run", SCENARIO, "--arm", "cam-only", "--arm", "random@0.4"];
    words.extend(["--arm", ARM, "--warmup", "1", "--measure", "2", "--quiet"]);
    words.extend(["--jobs", "1", "--csv", "--record", "--out", out]);
    for seed in seeds {
        words.extend(["--seed", seed]);
    }
    words
}

fn summary(out: &str) -> Value {
    let text = std::fs::read_to_string(format!("{out}/summary.json")).expect("a summary");
    let mut json: Value = serde_json::from_str(&text).expect("JSON");
    let object = json.as_object_mut().expect("an object");
    object.remove("timing").expect("timing");
    object.remove("peak_rss_bytes").expect("memory");
    json
}

fn results(out: &str) -> Vec<PathBuf> {
    let Ok(worlds) = std::fs::read_dir(Path::new(out).join("seeds")) else {
        return Vec::new();
    };
    worlds
        .flatten()
        .flat_map(|world| std::fs::read_dir(world.path()).expect("a world").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "zst"))
        .collect()
}

#[test]
fn an_own_arm_is_run_interrupted_resumed_and_reported() {
    let directory = Directory::new("own-arm");
    let (whole, killed) = (directory.path("whole"), directory.path("killed"));
    let seeds = ["1", "2", "3", "4", "5", "6"];
    let table = own(&run_arguments(&whole, &seeds)).done();
    assert!(table.contains(ARM), "{table}");

    let mut child = Command::new(program())
        .args(run_arguments(&killed, &seeds))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    while results(&killed).len() < 2 && begin.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("a kill");
    child.wait().expect("an end");
    let kept = results(&killed);
    assert!(!kept.is_empty() && kept.len() < 6, "{kept:?}");
    let stamp = |file: &PathBuf| std::fs::metadata(file).and_then(|m| m.modified()).ok();
    let stamps: Vec<_> = kept.iter().map(stamp).collect();
    own(&run_arguments(&killed, &seeds)).done();
    assert_eq!(kept.iter().map(stamp).collect::<Vec<_>>(), stamps);
    assert_eq!(summary(&killed), summary(&whole));

    // Intervals of six seeds mean something, and the arm is held against the others.
    let json = summary(&whole);
    assert_eq!(json["intervals"]["meaningful"], true);
    let deficit = &json["arms"][ARM]["deficit"];
    let number = |field: &str| deficit[field].as_f64().expect("a number");
    assert!(number("lo") <= number("mean") && number("mean") <= number("hi"));
    assert!(json["arms"][ARM]["contributors"]["mean"].as_f64() > Some(0.0));
    let pairs = json["paired"].as_array().expect("pairs");
    for other in ["cam-only", "random@0.4"] {
        let has = |pair: &&Value| pair["better"] == ARM && pair["worse"] == other;
        assert_eq!(pairs.iter().filter(has).count(), 1, "{other}");
    }
    let runs = std::fs::read_to_string(directory.path("whole/runs.csv")).expect("a table");
    let row = runs.lines().find(|line| line.starts_with(ARM));
    assert!(
        row.is_some_and(|row| row.starts_with("lowest-id@0.4,lowest-id,0.4,1,")),
        "{row:?}"
    );

    // The report is made again by the program that knows the arm.
    let html = directory.path("whole/report.html");
    std::fs::remove_file(&html).expect("a report");
    assert_eq!(own(&["report", &whole]).done(), table);
    assert!(
        std::fs::read_to_string(&html)
            .expect("a report")
            .contains(ARM)
    );
}

#[test]
fn a_recording_of_an_own_arm_is_served_to_the_viewer() {
    let directory = Directory::new("own-arm-view");
    let out = directory.path("out");
    own(&run_arguments(&out, &["1"])).done();
    let mut child = Command::new(program())
        .args(["view", &out, "--no-open"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut url = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    lines.read_line(&mut url).expect("an address");
    let host = url
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let get = |path: &str| {
        let mut stream = TcpStream::connect(host).expect("a server");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str::<Value>(body).expect("JSON")
    };
    let list = get("/api/recordings");
    let manifest = get("/api/0/manifest");
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert_eq!(list[0]["arms"][2], ARM, "{list}");
    let arm = &manifest["arms"][2];
    assert_eq!((&arm["name"], &arm["hosted"]), (&ARM.into(), &true.into()));
}

#[test]
fn plans_know_own_arms() {
    let directory = Directory::new("own-arm-sweep");
    let plan = format!(
        "scenario = \"{SCENARIO}\"\narms = [\"cam-only\", \"{ARM}\"]\nseeds = [1, 2]\n\
         warmup_s = 1.0\nmeasure_s = 1.0\nvary.penetration = [0.5, 1.0]\n"
    );
    let (plan, out) = (directory.file("plan.toml", plan), directory.path("out"));
    let table = own(&["sweep", &plan, "--quiet", "--csv", "--out", &out]).done();
    assert_eq!(table.matches(ARM).count(), 2, "{table}");
    let arms = std::fs::read_to_string(directory.path("out/arms.csv")).expect("a table");
    assert_eq!(arms.matches(ARM).count(), 2, "{arms}");
    // Where it is not registered, it is no arm.
    covey(&["sweep", &plan, "--out", &out], "").refused(&["plan.toml", "arms", ARM, "covey arms"]);
}

#[test]
fn results_of_a_changed_program_are_never_taken_for_its_own() {
    let directory = Directory::new("own-arm-changed");
    let (copy, out) = (PathBuf::from(directory.path("mine")), directory.path("out"));
    std::fs::copy(program(), &copy).expect("a copy");
    let run = || call(&copy, &run_arguments(&out, &["1"]), "");
    run().done();
    let first = results(&out);
    // Called again it keeps them; another build makes its own.
    run().done();
    assert_eq!(results(&out), first);
    let mut file = std::fs::File::options()
        .append(true)
        .open(&copy)
        .expect("the copy");
    file.write_all(b"another build").expect("a change");
    drop(file);
    run().done();
    assert_ne!(results(&out), first);
}

#[test]
fn help_and_errors_go_by_the_programs_own_name_and_arms() {
    let help = own(&["run", "--help"]).done();
    assert!(help.contains("Usage: own_arm run"), "{help}");
    assert!(help.contains("own_arm run scenarios/"), "{help}");
    assert!(help.contains("lowest-id@B"), "{help}");
    assert!(!help.contains("covey run"), "{help}");
    let arms = own(&["arms"]).done();
    assert!(arms.contains("lowest-id@B") && arms.contains("hosts ask the lowest ids first"));
    assert!(arms.contains("`own_arm reproduce` runs 16"), "{arms}");
    own(&["run", SCENARIO, "--arm", "lowest@0.4"]).refused(&["lowest-id", "`own_arm arms`"]);
    covey(&["run", SCENARIO, "--arm", ARM], "").refused(&["lowest-id@0.4", "`covey arms`"]);
}
