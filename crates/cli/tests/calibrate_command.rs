//! `covey calibrate`, as a user calls it.

mod common;

use std::path::{Path, PathBuf};

use common::covey;

/// A copy of a toy scenario that may be written to.
fn toy(name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toy/blind-junction");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("calibrate-{name}"));
    std::fs::create_dir_all(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to.join("scenario.toml")
}

fn calibrate(file: &Path, more: &[&str]) -> common::Call {
    let file = file.to_string_lossy().into_owned();
    let short = ["--seeds", "2", "--warmup", "2", "--measure", "4"];
    let call = [&["calibrate", &file][..], &short, more].concat();
    covey(&call, "")
}

/// What a call that went well said. On a toy no margin may give the letter's deficit, which is remarked on stderr.
fn fine(call: common::Call) -> String {
    assert_eq!(call.code, Some(0), "{call:?}");
    call.stdout
}

#[test]
fn it_writes_one_table_however_often_and_the_scenario_takes_effect() {
    let file = toy("write");
    let before = std::fs::read_to_string(&file).unwrap();

    let said = fine(calibrate(&file, &["--dry-run"]));
    assert!(said.contains("[calibrated]"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);

    let first = fine(calibrate(&file, &[]));
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with(before.trim_end()), "{written}");
    assert!(written.ends_with(&first), "{written}");

    // Nothing changes the second time, nor with other threads.
    let second = fine(calibrate(&file, &["--jobs", "1"]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    assert_eq!(first, second);
    let value = |key: &str| -> f64 {
        let line = first.lines().find(|line| line.starts_with(key)).unwrap();
        line.split(" = ").nth(1).unwrap().parse().unwrap()
    };
    assert!(!first.contains("capacity"), "{first}");
    assert!((0.0..0.1).contains(&value("beacon_occupancy")), "{first}");
    assert!((0.0..=60.0).contains(&value("margin_m")), "{first}");
}

#[test]
fn a_profiles_margin_is_told_and_not_written() {
    let file = toy("profile");
    let before = std::fs::read_to_string(&file).unwrap();
    let usual = fine(calibrate(&file, &["--dry-run"]));
    let fitted = fine(calibrate(&file, &["--profile", "closest-hosted"]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert_ne!(usual, fitted, "it is found under other readings");
    let unknown = calibrate(&file, &["--profile", "closer"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("closest-hosted"), "{unknown:?}");
}

#[test]
fn what_cannot_be_calibrated_is_explained() {
    let file = toy("refuse");
    let refused = |more: &[&str], hint: &str| {
        let said = calibrate(&file, more);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.stderr.contains(hint), "{said:?}");
    };
    let text = std::fs::read_to_string(&file).unwrap();
    let other = "[calibrated]\nmargin_m = 7.0\nseeds = []\nbeacon_occupancy = 0.64\n\
                 cam_only_deficit = 0.058\nhysteresis_by_rule = 0.25\n";
    std::fs::write(&file, format!("{text}\n{other}")).unwrap();
    refused(&[], "remove it first");
    std::fs::write(&file, text.replace("name =", "nam =")).unwrap();
    refused(&[], "nam");
    let gone = file.with_file_name("nothing.toml");
    assert_eq!(calibrate(&gone, &[]).code, Some(2));
}
