//! The protocol crate must run without an operating system: what can be checked of that on any machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::process::Call;
use crate::source;
use crate::step_report::Report;

const PACKAGE: &str = "covey-protocol";
/// The crate and what it uses of ours.
const FOLDERS: [&str; 2] = ["crates/parameters", "crates/protocol"];
/// A target without `std`; used where the toolchain has it, never downloaded.
const BARE_TARGET: &str = "thumbv7em-none-eabihf";
/// What on-board units mostly are; likewise.
const BOARD_TARGET: &str = "aarch64-unknown-linux-gnu";

/// Builds the crate alone with no default features, looks for `std` among the features of what it depends on and in its
/// source, and builds it for a bare microcontroller where the toolchain can.
pub(crate) fn run(root: &Path, report: &mut Report) {
    report.call(Call::new(
        root,
        "cargo",
        &["build", "--package", PACKAGE, "--no-default-features"],
    ));
    report.complain(features_with_std(root));
    for folder in FOLDERS {
        report.complain(source_with_std(root, folder));
    }
    // A microcontroller; and the processors of on-board units, for the messages, too.
    for (target, arguments) in [
        (
            BARE_TARGET,
            &["build", "--package", PACKAGE, "--all-features"][..],
        ),
        (
            BOARD_TARGET,
            &["check", "--package", PACKAGE, "--package", "covey-its"],
        ),
    ] {
        if is_installed(root, target) {
            let arguments = [arguments, &["--target", target]].concat();
            report.call(Call::new(root, "cargo", &arguments));
        } else {
            report.note(format!(
                "not built for {target}: the toolchain does not have it"
            ));
        }
    }
}

/// Complaints about dependencies of the crate, with all its features, that are built with their feature `std`.
fn features_with_std(root: &Path) -> Result<Vec<String>, String> {
    let tree = Call::new(
        root,
        "cargo",
        &[
            "tree",
            "--package",
            PACKAGE,
            "--all-features",
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}|{f}",
        ],
    )
    .read()?;
    let mut complaints = BTreeSet::new();
    for line in tree.lines() {
        let Some((package, features)) = line.split_once('|') else {
            continue;
        };
        if features.split(',').any(|feature| feature.trim() == "std") {
            let name = package.split(' ').next().unwrap_or(package);
            complaints.insert(format!(
                "{PACKAGE} depends on {name} with its feature `std`: use `default-features = false`"
            ));
        }
    }
    Ok(complaints.into_iter().collect())
}

/// Complaints about source lines outside tests that name `std`, and about a crate root without `no_std`.
fn source_with_std(root: &Path, folder: &str) -> Result<Vec<String>, String> {
    let folder = root.join(folder).join("src");
    let mut files = Vec::new();
    rust_files(&folder, &mut files)?;
    files.sort();
    let mut complaints = Vec::new();
    let mut sources = Vec::new();
    let mut test_modules = Vec::new();
    for path in files {
        let text = read(&path)?;
        if path == folder.join("lib.rs")
            && !text.contains("no_std)]")
            && !text.contains("#![no_std]")
        {
            complaints.push(format!("{}: has no `#![no_std]`", relative(root, &path)));
        }
        let (code, modules) = source::without_tests(&source::code_only(&text));
        let inside = module_folder(&path);
        test_modules.extend(modules.iter().map(|name| inside.join(name)));
        sources.push((path, code));
    }
    for (path, code) in sources {
        let as_module = path.with_extension("");
        if test_modules
            .iter()
            .any(|module| as_module.starts_with(module))
        {
            continue;
        }
        for word in ["std::", "extern crate std"] {
            for line in source::lines_with(&code, word) {
                complaints.push(format!(
                    "{} line {line}: uses `{word}` outside #[cfg(test)]: use core or alloc",
                    relative(root, &path)
                ));
            }
        }
    }
    Ok(complaints)
}

/// The folder in which the file at `path` finds its modules.
fn module_folder(path: &Path) -> PathBuf {
    let root_like = ["lib.rs", "main.rs", "mod.rs"]
        .iter()
        .any(|name| path.ends_with(name));
    if root_like {
        path.parent().unwrap_or(path).to_owned()
    } else {
        path.with_extension("")
    }
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .path();
        if path.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn is_installed(root: &Path, target: &str) -> bool {
    Call::new(
        root,
        "rustc",
        &["--print", "target-libdir", "--target", target],
    )
    .read()
    .is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_looked_for_where_rust_does() {
        assert_eq!(module_folder(Path::new("src/lib.rs")), Path::new("src"));
        assert_eq!(
            module_folder(Path::new("src/host.rs")),
            Path::new("src/host")
        );
        assert_eq!(
            module_folder(Path::new("src/host/mod.rs")),
            Path::new("src/host")
        );
    }
}
