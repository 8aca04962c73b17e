//! `cargo xtask python`: the package `covey` for Python, built into an environment of its own; and its tests.

use std::path::Path;

use crate::component::VENV;
use crate::metadata;
use crate::process::Call;
use crate::report::{self, Counts};
use crate::step_report::Report;

/// What `cargo xtask python --help` says.
pub(crate) const HELP: &str = "\
Builds the Python package `covey` and puts it into an environment of its own, python/.venv.

Usage: cargo xtask python [PACKAGE]...

Needed: rustc and python3, 3.10 or newer, with venv. What is named besides is installed by pip into the same environment.

Examples:
  cargo xtask python
  cargo xtask python jupyterlab pandas gymnasium
  python/.venv/bin/python -c \"import covey; print(covey.run(arms=['cam-only', 'proposed@0.4'], warmup_s=5, measure_s=5))\"
";

/// Where `cargo xtask python` puts it.
const OWN: &str = "python/.venv";
/// What builds wheels.
const MATURIN: &str = "maturin==1.16.0";
/// Set where this program is called in place of cargo: the features of the tests.
const AS_CARGO: &str = "COVEY_PYTHON_FEATURES";
/// What the tests need, by name and version.
pub(crate) const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// Builds the package with optimisation, for people.
pub(crate) fn build(root: &Path, more: &[String], report: &mut Report) {
    let python = format!("{OWN}/bin/python");
    let there = root.join(&python).to_string_lossy().into_owned();
    let has_pip = Call::new(root, &there, &["-m", "pip", "--version"]).read();
    if has_pip.is_err() {
        report.note(format!("making {OWN}"));
        if !report.call(Call::new(root, "python3", &["-m", "venv", "--clear", OWN])) {
            report.fail("python3 with venv is needed; on Debian: apt-get install python3-venv");
            return;
        }
    }
    report.note(format!("installing {MATURIN} and numpy"));
    let mut wanted = vec![
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        MATURIN,
        "numpy",
    ];
    wanted.extend(more.iter().map(String::as_str));
    if !report.call(Call::new(root, &there, &wanted)) {
        return;
    }
    report.note("building covey (some minutes the first time)".to_owned());
    if install(root, OWN, "release", &["--release"], None, report) {
        report.note(format!(
            "done. Try:\n  {python} -c \"import covey; print(covey.run(arms=['cam-only', 'proposed@0.4'], warmup_s=5, measure_s=5))\""
        ));
    }
}

/// Builds a wheel in a folder of its own below the target folder, and installs it into an environment. With the features of the tests, what they
/// compiled serves.
fn install(
    root: &Path,
    venv: &str,
    name: &str,
    options: &[&str],
    tests_features: Option<&str>,
    report: &mut Report,
) -> bool {
    let wheels = match metadata::target_folder(root) {
        Ok(target) => Path::new(&target).join("wheels").join(name),
        Err(error) => {
            report.fail(&error);
            return false;
        }
    };
    // Where there is none, there is nothing to remove.
    let _ = std::fs::remove_dir_all(&wheels);
    let wheels: &str = &wheels.to_string_lossy();
    let folder = root.join(venv);
    let program = |name: &str| folder.join("bin").join(name).to_string_lossy().into_owned();
    let mut build = vec!["build", "--locked", "--manifest-path", "python/Cargo.toml"];
    // For this machine: which others it fits is for those to find out who publish it.
    build.extend(["--compatibility", "linux", "--out", wheels]);
    build.extend(options);
    let mut call = Call::new(root, &program("maturin"), &build)
        .env("VIRTUAL_ENV", &folder.to_string_lossy())
        .env("CARGO_TERM_COLOR", "never");
    if let Some(features) = tests_features {
        match std::env::current_exe() {
            Ok(this) => {
                call = call
                    .env(AS_CARGO, features)
                    .env("CARGO", &this.to_string_lossy());
            }
            Err(error) => {
                report.fail(&format!("cargo xtask: {error}"));
                return false;
            }
        }
    }
    let pip = [
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-index",
        "--no-deps",
    ];
    let which = ["--force-reinstall", "--find-links", wheels, "covey"];
    let pip = [&pip[..], &which].concat();
    report.call(call) && report.call(Call::new(root, &program("python"), &pip))
}

/// Where maturin calls this program in place of cargo: what cargo is to be called with. A package by itself has other features of what others
/// wrote than the workspace with its tests, and half of it would be compiled anew; so the workspace's libraries are asked for, and an example, for
/// which cargo counts what tests use.
pub(crate) fn cargo_call() -> Option<Vec<String>> {
    let features = std::env::var(AS_CARGO).ok()?;
    let asked: Vec<String> = std::env::args().skip(1).collect();
    Some(with_features_of_tests(&features, asked))
}

fn with_features_of_tests(features: &str, asked: Vec<String>) -> Vec<String> {
    let call = ["cargo".to_string()].into_iter();
    // As a task it is called with the name of one; maturin asks cargo to compile, or for something else.
    if asked.first().is_none_or(|command| command != "rustc") {
        return call.chain(asked).collect();
    }
    let build = [
        "build",
        "--locked",
        "--message-format",
        "json-render-diagnostics",
        "--workspace",
        "--features",
        features,
        "--lib",
        "--example",
        "results",
    ];
    call.chain(build.map(str::to_string)).collect()
}

/// The step of `cargo xtask test`: a package as quick to build as the other tests, and what it must do.
pub(crate) fn test(root: &Path, report: &mut Report) {
    let features = match metadata::workspace(root) {
        Ok(packages) => metadata::test_features(&packages),
        Err(error) => return report.fail(&error),
    };
    if !install(root, VENV, "tests", &[], Some(&features), report) {
        return;
    }
    let python = root.join(VENV).join("bin/python");
    let arguments = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "python/tests",
    ];
    let mut call = Call::new(root, &python.to_string_lossy(), &arguments);
    // The program that the tests before this one have built; without it, theirs build one.
    if let Ok(target) = metadata::target_folder(root) {
        let program = Path::new(&target).join("debug/covey");
        if program.is_file() {
            call = call.env("COVEY_BINARY", &program.to_string_lossy());
        }
    }
    let output = report.call_for_output(call);
    report.count_or_fail(counts(&output), "pytest");
}

/// Reads pytest's last line, `12 passed, 1 failed in 3.21s`.
fn counts(output: &str) -> Option<Counts> {
    let line = output
        .lines()
        .rev()
        .find(|line| line.contains(" in ") && line.contains("passed"))?;
    let (parts, _) = line
        .trim_matches(|c| c == '=' || c == ' ')
        .rsplit_once(" in ")?;
    let mut counts = Counts::default();
    for (number, what) in parts.split(',').filter_map(report::number_and_words) {
        match what {
            "passed" => counts.passed += number,
            "skipped" => counts.skipped += number,
            "failed" | "error" | "errors" => counts.failed += number,
            _ => {}
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maturin_gets_what_the_tests_have_compiled() {
        let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
        let found = with_features_of_tests("a/b,c/d", words("rustc --lib -- -C strip=symbols"));
        assert_eq!(found[..2], words("cargo build"));
        assert!(
            found
                .windows(2)
                .any(|two| two == words("--features a/b,c/d"))
        );
        assert!(found.contains(&"--workspace".to_string()) && !found.contains(&"--".to_string()));
        let other = with_features_of_tests("a/b", words("metadata --format-version 1"));
        assert_eq!(other, words("cargo metadata --format-version 1"));
    }

    #[test]
    fn the_counts_of_pytest_are_read() {
        let found = counts("....F\n1 failed, 12 passed, 3 warnings in 3.21s\n").unwrap();
        assert_eq!((found.passed, found.failed), (12, 1));
        let found = counts("==== 7 passed in 0.10s ====").unwrap();
        assert_eq!((found.passed, found.failed), (7, 0));
        assert!(counts("no tests ran").is_none());
    }
}
