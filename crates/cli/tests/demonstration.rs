//! The bundled demonstration is what this program records, by the command that its README names.

use std::path::{Path, PathBuf};
use std::process::Command;

use covey_simulator::recording::Reader;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn bundled() -> PathBuf {
    top().join("examples/blind-junction")
}

/// The words after `covey` of the command in the README.
fn command() -> Vec<String> {
    let text = std::fs::read_to_string(bundled().join("README.md")).unwrap();
    let line = text.lines().find(|line| line.starts_with("covey run "));
    let line = line.expect("the README names the command");
    line.split_whitespace()
        .skip(1)
        .map(str::to_string)
        .collect()
}

/// What a recording says of itself, without which program made it.
fn described(reader: &Reader) -> serde_json::Value {
    let mut manifest = serde_json::to_value(reader.manifest()).unwrap();
    for key in ["program", "revision", "run"] {
        manifest[key] = serde_json::Value::Null;
    }
    manifest
}

#[test]
fn the_demonstration_is_what_this_program_records() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demonstration");
    let _ = std::fs::remove_dir_all(&out);
    let status = Command::new(env!("CARGO_BIN_EXE_covey"))
        .current_dir(top())
        .args(command())
        .args(["--quiet", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(
        status.status.success(),
        "{}",
        String::from_utf8_lossy(&status.stderr)
    );
    let again = "make it again: cargo xtask demonstration";
    let mut made = Reader::open(&out.join("seed-1003.covey")).unwrap();
    let mut shipped = Reader::open(&bundled().join("seed-1003.covey")).unwrap();
    assert!(
        !shipped.manifest().header.revision.is_empty(),
        "the recording names its revision"
    );
    assert_eq!(described(&made), described(&shipped), "{again}");
    assert!(made.world().unwrap() == shipped.world().unwrap(), "{again}");
    assert_eq!(made.chunks(), shipped.chunks(), "{again}");
    let arms = made.manifest().header.arms.len() as u16;
    for chunk in made.chunks() {
        let what = format!("chunk {chunk}: {again}");
        let [a, b] = [&mut made, &mut shipped];
        assert!(a.steps(chunk).unwrap() == b.steps(chunk).unwrap(), "{what}");
        assert!(
            a.relevance(chunk).unwrap() == b.relevance(chunk).unwrap(),
            "{what}"
        );
        for arm in 0..arms {
            let what = format!("arm {arm}, {what}");
            assert!(
                a.arm_cycles(arm, chunk).unwrap() == b.arm_cycles(arm, chunk).unwrap(),
                "{what}"
            );
            assert!(
                a.seen(arm, chunk).unwrap() == b.seen(arm, chunk).unwrap(),
                "{what}"
            );
            let deciders = a.deciders(arm, chunk).unwrap();
            assert_eq!(deciders, b.deciders(arm, chunk).unwrap(), "{what}");
            for (cycle, host) in deciders {
                assert!(
                    a.decision(arm, cycle, host).unwrap() == b.decision(arm, cycle, host).unwrap(),
                    "{what}"
                );
                let [one, other] = [&mut *a, &mut *b].map(|r| r.demand(arm, cycle, host).unwrap());
                assert!(one == other, "{what}");
            }
        }
    }
}
