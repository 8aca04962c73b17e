//! The steps of `cargo xtask test`, in order, and how one is run.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::example::Example;
use crate::process::Call;
use crate::report;
use crate::step_report::Report;
use crate::{bench, fuzz, licences, metadata, no_std, python, setup, tidy, web};

/// One step.
pub(crate) struct Step {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it does, in a line.
    pub(crate) summary: &'static str,
    run: fn(&Path, &mut Report),
}

/// Every step, quick ones first.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        summary: "install what the tests need that cargo does not bring",
        run: setup::run,
    },
    Step {
        name: "fmt",
        summary: "the source is formatted",
        run: |root, report| {
            report.call(cargo(root, &["fmt", "--all", "--check"]));
            // Modules that a build script lists are not followed.
            match arms(root) {
                Ok(files) => {
                    let mut arguments = vec!["--edition", "2024", "--check"];
                    arguments.extend(files.iter().map(String::as_str));
                    report.call(Call::new(root, "rustfmt", &arguments));
                }
                Err(error) => report.fail(&format!("crates/simulator/src/arms: {error}")),
            }
        },
    },
    Step {
        name: "tidy",
        summary: "crate arrows, manifests, file lengths, stray paths",
        run: tidy::run,
    },
    Step {
        name: "licences",
        summary: "dependencies have licences that are on the list",
        run: |root, report| {
            let complaints = metadata::everything(root).map(|packages| licences::check(&packages));
            report.complain(complaints);
        },
    },
    Step {
        name: "web",
        summary: "the viewer's page is typed, and what is embedded is what its source builds",
        run: web::run,
    },
    Step {
        name: "clippy",
        summary: "clippy over all targets, warnings denied (compiles the benches too)",
        run: |root, report| {
            with_features(root, report, |features| {
                let arguments = [
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--features",
                    features,
                    "--",
                    "-D",
                    "warnings",
                ];
                cargo(root, &arguments)
            });
        },
    },
    Step {
        name: "tests",
        summary: "unit and integration tests, under nextest",
        run: |root, report| {
            let output = with_features(root, report, |features| {
                let arguments = [
                    "nextest",
                    "run",
                    "--workspace",
                    "--features",
                    features,
                    "--no-fail-fast",
                ];
                cargo(root, &arguments)
            });
            report.count_or_fail(report::nextest_counts(&output), "nextest");
        },
    },
    Step {
        name: "bench",
        summary: "short runs take no more instructions than they did",
        run: |root, report| bench::run(root, false, report),
    },
    Step {
        name: "doctests",
        summary: "examples in the documentation",
        run: |root, report| {
            let output = with_features(root, report, |features| {
                cargo(
                    root,
                    &[
                        "test",
                        "--doc",
                        "--workspace",
                        "--features",
                        features,
                        "--no-fail-fast",
                    ],
                )
            });
            report.count_or_fail(report::harness_counts(&output), "the doc tests");
        },
    },
    Step {
        name: "docs",
        summary: "the documentation builds, warnings denied",
        run: |root, report| {
            with_features(root, report, |features| {
                cargo(
                    root,
                    &["doc", "--no-deps", "--workspace", "--features", features],
                )
                .env("RUSTDOCFLAGS", "-D warnings")
            });
        },
    },
    Step {
        name: "alone",
        summary: "every crate can be built by itself, with no more features than it asks for",
        run: alone,
    },
    Step {
        name: "no-std",
        summary: "the protocol crate needs no operating system",
        run: no_std::run,
    },
    Step {
        name: "example",
        summary: "a crate outside the workspace has Covey's commands for a policy of its own",
        run: own_policy,
    },
    Step {
        name: "python",
        summary: "the Python package does what the program does, and its notebooks run",
        run: python::test,
    },
    Step {
        name: "fuzz",
        summary: "every fuzz target: its corpus, then a short search guided by coverage",
        run: |root, report| fuzz::run(root, &fuzz::Search::short(), report),
    },
];

impl Step {
    /// Runs the step.
    pub(crate) fn run(&self, root: &Path, report: &mut Report) -> Duration {
        let begin = Instant::now();
        (self.run)(root, report);
        begin.elapsed()
    }
}

/// Checks every crate by itself: what it uses of others must not be switched on by a third.
fn alone(root: &Path, report: &mut Report) {
    let packages = match metadata::workspace(root) {
        Ok(packages) => packages,
        Err(error) => return report.fail(&error),
    };
    for package in packages {
        report.call(cargo(root, &["check", "--package", &package.name]));
    }
}

/// Builds and runs `examples/own-policy` with the workspace's versions of everything and its target folder.
fn own_policy(root: &Path, report: &mut Report) {
    let folder = root.join("examples/own-policy");
    if let Err(error) = std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")) {
        report.fail(&format!(
            "cannot copy Cargo.lock to {}: {error}",
            folder.display()
        ));
        return;
    }
    let target = match metadata::target_folder(root) {
        Ok(target) => target,
        Err(error) => return report.fail(&error),
    };
    let build = [
        "build",
        "--manifest-path",
        "examples/own-policy/Cargo.toml",
        "--target-dir",
        &target,
    ];
    if !report.call(cargo(root, &build)) {
        return;
    }
    let example = Example::new(&target);
    if example
        .calls(root)
        .into_iter()
        .all(|call| report.call(call))
    {
        report.complain(example.check());
    }
}

/// The files of the arms.
fn arms(root: &Path) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root.join("crates/simulator/src/arms"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    files.sort();
    Ok(files)
}

fn cargo(root: &Path, arguments: &[&str]) -> Call {
    // The output is read by this program and printed later, so colours would be in the way.
    Call::new(root, "cargo", arguments).env("CARGO_TERM_COLOR", "never")
}

/// Runs the call that `make` gives for the workspace's features; its output.
fn with_features(root: &Path, report: &mut Report, make: impl FnOnce(&str) -> Call) -> String {
    match metadata::workspace(root) {
        Ok(packages) => report.call_for_output(make(&metadata::test_features(&packages))),
        Err(error) => {
            report.fail(&error);
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_setup_comes_first() {
        let names: std::collections::BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        assert_eq!(STEPS[0].name, "setup");
    }
}
