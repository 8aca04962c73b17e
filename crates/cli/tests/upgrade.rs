//! Results that an earlier revision made with its own program: they open, are set apart, and nothing of them is lost.
//!
//! `upgrade/45292ce` is what that revision left: `covey run scenario.toml --arm proposed@0.4 --arm oracle --warmup 0.4 --measure 1
//! --record --out 45292ce`, on the toy scenario of these tests.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Directory, covey, finished, read, run_arguments, summary, toy, walk};

const MADE_THEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upgrade/45292ce");

/// A copy of the results, with what is in each file.
fn lay_out(directory: &Directory) -> (String, BTreeMap<PathBuf, Vec<u8>>) {
    let out = directory.path("out");
    let copied = Command::new("cp").args(["-r", MADE_THEN, &out]).status();
    assert!(copied.expect("cp").success());
    let files = walk(Path::new(&out)).into_iter();
    let within = |file: &Path| file.strip_prefix(&out).expect("inside").to_path_buf();
    let files = files.map(|file| (within(&file), read(file))).collect();
    (out, files)
}

#[test]
fn results_of_an_earlier_program_open() {
    let directory = Directory::new("upgrade-open");
    let (out, files) = lay_out(&directory);
    let told = covey(&["report", &out], "").done();
    for arm in ["proposed@0.4", "oracle"] {
        assert!(told.contains(arm), "{told}");
    }
    let mcap = directory.path("then.mcap");
    covey(&["view", &out, "--mcap", &mcap], "").done();
    assert!(read(&mcap).len() > 1000);
    let shown = covey(&["clean", &out], "");
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.stdout.contains("stale"), "{shown:?}");
    // The report is made anew; all else is as it was.
    for (name, bytes) in &files {
        let now = read(Path::new(&out).join(name));
        let made = ["report.html", "report.json", "figures", "covey.json"];
        let made = made.iter().any(|made| name.starts_with(made));
        assert!(made || now == *bytes, "{}", name.display());
    }
}

#[test]
fn a_run_in_the_same_folder_sets_them_apart_and_loses_nothing() {
    let directory = Directory::new("upgrade-run");
    let (out, files) = lay_out(&directory);
    let revision = summary(&out)["revision"].clone();
    let scenario = toy(&directory);
    let mut arguments = run_arguments(&scenario, &out);
    arguments.retain(|word| *word != "--quiet");
    arguments.push("--record");
    let said = covey(&arguments, "");
    assert_eq!(said.code, Some(0), "{said:?}");
    for part in [
        "1 result of another revision or other parameters is kept apart",
        "of another revision are set apart in",
    ] {
        assert!(said.stderr.contains(part), "{said:?}");
    }
    assert_ne!(summary(&out)["revision"], revision);
    assert_eq!(finished(&out), 2);
    // Every file is still there, byte for byte, wherever it lies now.
    let kept: Vec<Vec<u8>> = walk(Path::new(&out)).iter().map(read).collect();
    for (name, bytes) in &files {
        assert!(kept.contains(bytes), "{} is lost", name.display());
    }
    // The same call again changes nothing, and what is stale goes when that is asked for.
    let (told, again) = (summary(&out), covey(&arguments, ""));
    assert_eq!((again.code, summary(&out)), (Some(0), told.clone()));
    covey(&["clean", &out, "--remove"], "").done();
    assert_eq!(finished(&out), 1);
    assert_eq!(summary(&out), told);
}
