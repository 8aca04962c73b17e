//! The viewer in a real browser: Chromium, driven from Node with playwright-core.
//!
//! `cargo xtask test setup` installs both; without them this test fails.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use covey_synthetic::Plan;

/// Processor time of all scripts per frame with 1,000 vehicles on the screen, in ms: what leaves room for the browser at 60 frames a second.
const FRAME_MS: f64 = 8.0;

/// Processor time of the page's thread from the address to the first whole picture with 1,000 vehicles, in ms.
const OPENING_MS: f64 = 2000.0;

/// `covey view` at work, until it is dropped.
struct View {
    child: Child,
    url: String,
}

impl View {
    fn of(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_covey"))
            .arg("view")
            .arg(folder)
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
    let output = Command::new("node")
        .arg(top().join("web/e2e/answers.mjs"))
        .arg(top().join(".npm"))
        .arg(&junction.url)
        .arg(env!("CARGO_BIN_EXE_covey"))
        .arg(&pictures)
        .output()
        .expect("node runs; `cargo xtask test setup` says what is missing");
    assert!(
        output.status.success(),
        "{}\n{}\n(pictures: {})",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        pictures.display()
    );
}

#[test]
fn a_person_watches_a_run_and_asks_why() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
    let _ = std::fs::remove_dir_all(&folder);
    let large = folder.join("large");
    std::fs::create_dir_all(&large).unwrap();
    let plan = Plan {
        vehicles: 1000,
        seconds: 8,
        arms: vec!["proposed@0.4".into(), "cpm-rmr".into()],
    };
    covey_synthetic::write(&large.join("run.covey"), &plan).unwrap();
    let junction = View::of(&top().join("examples/blind-junction"));
    let crowd = View::of(&large);
    let pictures = folder.join("pictures");
    let output = Command::new("node")
        .arg(top().join("web/e2e/viewer.mjs"))
        .arg(top().join(".npm"))
        .arg(&junction.url)
        .arg(env!("CARGO_BIN_EXE_covey"))
        .arg(&pictures)
        .arg(&crowd.url)
        .output()
        .expect("node runs; `cargo xtask test setup` says what is missing");
    assert!(
        output.status.success(),
        "{}\n{}\n(pictures: {})",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        pictures.display()
    );
    let measured: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(measured["vehicles"], 1000);
    let script = measured["script_cpu_ms_per_frame"].as_f64().unwrap();
    assert!(script <= FRAME_MS, "script time of a frame: {measured}");
    let opening = measured["large_shown_cpu_ms"].as_f64().unwrap();
    assert!(
        opening <= OPENING_MS,
        "time to the first picture: {measured}"
    );
}
