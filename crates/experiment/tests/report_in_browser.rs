//! The report in a real browser: Chromium, driven from Node with playwright-core.
//!
//! `cargo xtask test setup` installs Chromium from Debian and playwright-core from npm into `.npm`; without them this test fails.
//! With `COVEY_SCREENSHOTS=FOLDER` it leaves pictures of the page there.

mod report_sample;

use std::path::{Path, PathBuf};
use std::process::Command;

use covey_experiment::report::{Input, SeriesBuilder, render};
use covey_experiment::summary::Summary;
use covey_simulator::Arms;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn input(seeds: u64) -> Input {
    let mut builder = SeriesBuilder::new(0.2);
    for (outcome, cycles) in report_sample::runs(seeds) {
        builder.add(&outcome, &cycles);
        builder.add_timing(outcome.seed, &report_sample::timing());
    }
    Input {
        summary: Summary::parse(&report_sample::summary(seeds)).expect("a summary"),
        series: builder.finish(),
        kept: Vec::new(),
    }
}

/// Shows the page and its figures to the browser; what it complains about.
fn check(name: &str, input: &Input) {
    let folder = std::env::temp_dir().join(format!("covey-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("figures")).unwrap();
    let report = render(input, &Arms::builtin());
    std::fs::write(folder.join("report.html"), &report.html).unwrap();
    for (file, svg) in &report.figures {
        std::fs::write(folder.join("figures").join(file), svg).unwrap();
    }
    let mut command = Command::new("node");
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/check_report.mjs"))
        .arg(top().join(".npm"))
        .arg(&folder)
        .arg(report.figures.len().to_string());
    if let Some(pictures) = std::env::var_os("COVEY_SCREENSHOTS") {
        command.arg(Path::new(&pictures).join(name));
    }
    let output = command.output().expect("Node 20.19 or newer runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_whole_report_shows_without_error_or_clipped_text() {
    check("report", &input(17));
}

#[test]
fn a_quick_report_without_series_shows_too() {
    let mut input = input(3);
    input.series = Default::default();
    check("quick", &input);
}
