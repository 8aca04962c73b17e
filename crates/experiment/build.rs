//! Notes the revision that the program is built from.

use std::path::Path;
use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

fn main() {
    // Any commit, checkout, or change of source makes another program.
    if let Some(log) =
        git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|p| Path::new(p).exists())
    {
        println!("cargo::rerun-if-changed={log}");
    }
    for folder in ["..", "../../scenarios", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    let revision = match git(&["rev-parse", "HEAD"]) {
        Some(commit) => match git(&["status", "--porcelain", "--untracked-files=no"]) {
            Some(changes) if changes.is_empty() => commit,
            _ => format!("{commit}+changes"),
        },
        None => format!("{} without git", env!("CARGO_PKG_VERSION")),
    };
    println!("cargo::rustc-env=COVEY_REVISION={revision}");
}
