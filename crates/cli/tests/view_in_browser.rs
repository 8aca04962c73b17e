//! The viewer in a real browser: Chromium, driven from Node with playwright-core.
//!
//! `cargo xtask test setup` installs both; without them this test fails.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use covey_synthetic::Plan;

/// Processor time of all scripts per frame with 1,209 vehicles on the screen, as many as the corridor has, in ms: what leaves room for the browser at 60 frames a second.
const FRAME_MS: f64 = 8.0;

/// The same with two arms side by side.
const TWO_ARMS_FRAME_MS: f64 = 12.0;

/// Processor time of the page's thread from the address to the first whole picture with 1,209 vehicles, in ms.
const OPENING_MS: f64 = 2000.0;

/// `covey view` at work, until it is dropped.
struct View {
    child: Child,
    url: String,
}

impl View {
    fn of(folder: &Path) -> Self {
        Self::with(&[folder.as_os_str()])
    }

    fn with(what: &[&OsStr]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_covey"))
            .arg("view")
            .args(what)
            .arg("--no-open")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut url).unwrap();
        let url = url.trim().to_string();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        Self { child, url }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn marks_are_true_and_a_miss_is_explained() {
    let junction = View::of(&top().join("examples/blind-junction"));
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view-answers");
    let program = Path::new(env!("CARGO_BIN_EXE_covey"));
    script("answers.mjs", &junction.url, &[program, &pictures]);
}

/// Runs a script of `web/e2e` against an address, which ends well, and gives what it printed.
fn script(name: &str, url: &str, arguments: &[&Path]) -> Vec<u8> {
    let output = Command::new("node")
        .arg(top().join("web/e2e").join(name))
        .arg(top().join(".npm"))
        .arg(url)
        .args(arguments)
        .output()
        .expect("node runs; `cargo xtask test setup` says what is missing");
    assert!(
        output.status.success(),
        "{}\n{}\n({name} {arguments:?})",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    output.stdout
}

/// Runs a script of `web/e2e` against an address and gives what it measured.
fn in_browser(name: &str, url: &str, pictures: &Path) -> serde_json::Value {
    serde_json::from_slice(&script(name, url, &[pictures])).unwrap()
}

/// From the address of the playground to its first picture with an answer, in ms: on a machine where others work too.
const PLAYGROUND_MS: f64 = 3000.0;

/// Processor time of an answer for 30 vehicles in ms, for each of two policies, which have a thread each: thirty of them a second.
const ANSWER_MS: f64 = 1000.0 / 30.0;

#[test]
fn a_scene_is_drawn_and_a_miss_is_cured() {
    let playground = View::with(&[OsStr::new("--playground")]);
    assert!(playground.url.ends_with("/playground/"));
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("playground");
    let measured = in_browser("playground.mjs", &playground.url, &pictures);
    let shown = measured["shown_ms"].as_f64().unwrap();
    assert!(shown <= PLAYGROUND_MS, "to the first picture: {measured}");
    let answer = measured["thirty"]["cpu_ms"].as_f64().unwrap();
    assert!(answer <= ANSWER_MS, "an answer for 30 vehicles: {measured}");
}

#[test]
fn a_run_is_shown_while_it_computes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view-live");
    let _ = std::fs::remove_dir_all(&folder);
    let run = |out: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_covey"));
        command
            .arg("run")
            .arg(top().join("scenarios/toy/blind-junction/scenario.toml"))
            .args([
                "--arm",
                "proposed@0.4",
                "--arm",
                "demand@0.2",
                "--seed",
                "3",
            ])
            .args(["--warmup", "4", "--measure", "40", "--record", "--out"])
            .arg(folder.join(out))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    };
    let mut child = run("shown", &["--view", "--no-open", "--pace", "2"])
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    said.read_line(&mut first).unwrap();
    let url = first.split(": the run").next().unwrap().to_string();
    // What it says later must not fill the pipe.
    let rest = std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    let mut view = View { child, url };
    assert!(view.url.starts_with("http://127.0.0.1:"), "{first}");
    in_browser("live.mjs", &view.url, &folder.join("pictures"));
    assert!(view.child.try_wait().unwrap().is_none(), "the page stays");
    drop(view);
    let _ = rest.join();
    // Whoever watches changes nothing.
    assert!(run("alone", &["--quiet"]).status().unwrap().success());
    let recording = |out: &str| std::fs::read(folder.join(out).join("seed-3.covey")).unwrap();
    assert!(recording("shown") == recording("alone"));
}

#[test]
fn a_person_watches_a_run_and_asks_why() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
    let _ = std::fs::remove_dir_all(&folder);
    let large = folder.join("large");
    std::fs::create_dir_all(&large).unwrap();
    let plan = Plan {
        vehicles: 1209,
        seconds: 8,
        arms: vec!["proposed@0.4".into(), "cpm-rmr".into()],
    };
    covey_synthetic::write(&large.join("run.covey"), &plan).unwrap();
    let junction = View::of(&top().join("examples/blind-junction"));
    let crowd = View::of(&large);
    let pictures = folder.join("pictures");
    let program = Path::new(env!("CARGO_BIN_EXE_covey"));
    let more = [program, &pictures, Path::new(&crowd.url)];
    let printed = script("viewer.mjs", &junction.url, &more);
    let measured: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(measured["vehicles"], 1209);
    let script = measured["script_cpu_ms_per_frame"].as_f64().unwrap();
    assert!(script <= FRAME_MS, "script time of a frame: {measured}");
    let script = &measured["two_arms_script_cpu_ms_per_frame"];
    let script = script.as_f64().unwrap();
    assert!(
        script <= TWO_ARMS_FRAME_MS,
        "script time of a frame with two arms: {measured}"
    );
    let opening = measured["large_shown_cpu_ms"].as_f64().unwrap();
    assert!(
        opening <= OPENING_MS,
        "time to the first picture: {measured}"
    );
}
