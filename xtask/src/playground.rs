//! The playground: the simulator as WebAssembly, and the page around it, in `crates/viewer/playground`.
//!
//! Both are committed, so that building the binary needs neither Node nor another target. Beside them stands a hash of the sources that
//! the WebAssembly was built from: where they have changed since, the step `web` says so, and where the target is installed it builds again and compares.

use std::path::{Path, PathBuf};

use crate::process::Call;
use crate::step_report::Report;

/// Where the built files are.
const BUILT: &str = "crates/viewer/playground";
const WASM: &str = "playground.wasm";
const SOURCE: &str = "source.txt";
/// What it is built for: standard input and output, and nothing else of the system.
const TARGET: &str = "wasm32-wasip1";

/// Folders whose sources are part of it.
const FOLDERS: [&str; 10] = [
    "crates/draws/src",
    "crates/its/src",
    "crates/parameters/src",
    "crates/playground/src",
    "crates/protocol/src",
    "crates/radio/src",
    "crates/simulator/src",
    "crates/traffic/src/builtin",
    "crates/world/src",
    "scenarios/toy/blind-junction",
];

/// Builds the WebAssembly and puts it where it belongs, with the hash of its sources.
pub(crate) fn run(root: &Path, report: &mut Report) {
    if !is_installed(root) {
        report.complain(Ok(vec![format!(
            "the target {TARGET} is not installed: `rustup target add {TARGET}`"
        )]));
        return;
    }
    if report.call(build(root)) {
        let put = || -> Result<(), String> {
            let failed = |error: std::io::Error| format!("{BUILT}: {error}");
            std::fs::copy(made(root), root.join(BUILT).join(WASM)).map_err(failed)?;
            std::fs::write(root.join(BUILT).join(SOURCE), source(root)?).map_err(failed)
        };
        report.complain(put().map(|()| Vec::new()));
    }
}

/// What is wrong with the built files.
pub(crate) fn check(root: &Path, report: &mut Report) {
    let recorded = std::fs::read_to_string(root.join(BUILT).join(SOURCE)).unwrap_or_default();
    let complaints = source(root).map(|now| match now == recorded {
        true => Vec::new(),
        false => vec![format!(
            "{BUILT}/{WASM} was built from other sources than these: run `cargo xtask playground` and commit the result"
        )],
    });
    report.complain(complaints);
}

fn build(root: &Path) -> Call {
    let words = [
        "build",
        "--quiet",
        "--locked",
        "--profile",
        "playground",
        "--target",
        TARGET,
        "-p",
        "covey-playground",
    ];
    Call::new(root, "cargo", &words)
}

fn made(root: &Path) -> PathBuf {
    root.join("target")
        .join(TARGET)
        .join("playground/covey-playground.wasm")
}

fn is_installed(root: &Path) -> bool {
    let list = Call::new(root, "rustup", &["target", "list", "--installed"]).read();
    list.is_ok_and(|list| list.lines().any(|line| line.trim() == TARGET))
}

/// A hash of all sources, as it is written beside the built file.
fn source(root: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        gather(&root.join(folder), &mut files)?;
    }
    files.sort();
    // FNV-1a: against mistakes, not against malice.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in files {
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file);
        let name = name.to_string_lossy().into_owned();
        for byte in name.bytes().chain([0]).chain(bytes).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}\n"))
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs" || e == "xml") {
            files.push(path);
        }
    }
    Ok(())
}
