//! The steps of `cargo xtask test`, in order, and how one is run.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::process::Call;
use crate::report::{self, Counts};
use crate::{licences, metadata, no_std, setup, tidy, web};

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
        name: "no-std",
        summary: "the protocol crate needs no operating system",
        run: no_std::run,
    },
    Step {
        name: "example",
        summary: "a crate outside the workspace builds and runs a policy of its own",
        run: own_policy,
    },
    Step {
        name: "fuzz",
        summary: "every fuzz target: its corpus, then a short random run",
        run: |root, report| {
            with_features(root, report, |features| {
                cargo(
                    root,
                    &[
                        "build",
                        "--workspace",
                        "--bin",
                        "fuzz-short",
                        "--features",
                        features,
                    ],
                )
            });
            match metadata::target_folder(root) {
                Ok(folder) if !report.failed() => {
                    let program = Path::new(&folder).join("debug/fuzz-short");
                    let output =
                        report.call_for_output(Call::new(root, &program.to_string_lossy(), &[]));
                    for line in output.lines().filter(|line| line.contains(": ok, ")) {
                        report.tell(line);
                    }
                    report.count_or_fail(report::fuzz_counts(&output), "fuzz-short");
                }
                Ok(_) => {}
                Err(error) => report.fail(&error),
            }
        },
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
    let output = report.call_for_output(cargo(
        root,
        &[
            "run",
            "--manifest-path",
            "examples/own-policy/Cargo.toml",
            "--target-dir",
            &target,
            "--",
            "scenarios/tamagawa/scenario.toml",
            "1.2",
            "0.6",
        ],
    ));
    for arm in ["cam-only", "proposed@0.4", "most-uncovered@0.4"] {
        match output.lines().find(|line| line.starts_with(arm)) {
            Some(line) => report.tell(line),
            None => report.fail(&format!("the example says nothing of {arm}")),
        }
    }
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

/// What a step has to say while it runs.
pub(crate) struct Report {
    failed: bool,
    output: String,
    counts: Option<Counts>,
    /// Prints a line at once, for a person who waits.
    tell: fn(&str),
}

impl Report {
    /// A report whose notes go through `tell`.
    pub(crate) fn new(tell: fn(&str)) -> Self {
        Self {
            failed: false,
            output: String::new(),
            counts: None,
            tell,
        }
    }

    /// A report that prints nothing, for tests.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Something went wrong.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// Everything said and done, to be shown if the step fails.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// The tests counted, if the step counts any.
    pub(crate) fn counts(&self) -> Option<Counts> {
        self.counts
    }

    /// A line for the record.
    pub(crate) fn say(&mut self, line: &str) {
        self.output.push_str(line);
        self.output.push('\n');
    }

    /// A line for the record that is also shown at once.
    pub(crate) fn note(&mut self, line: String) {
        self.tell(&line);
        self.say(&line);
    }

    /// A line that is shown at once and is on the record already.
    fn tell(&self, line: &str) {
        (self.tell)(line);
    }

    /// The step has failed, for the reason given.
    pub(crate) fn fail(&mut self, reason: &str) {
        self.failed = true;
        self.say(reason);
    }

    /// The step has failed if there are complaints, or if the check could not be made.
    pub(crate) fn complain(&mut self, complaints: Result<Vec<String>, String>) {
        match complaints {
            Ok(complaints) => {
                for complaint in complaints {
                    self.fail(&complaint);
                }
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Runs `call`; whether it succeeded. If not, the step has failed.
    pub(crate) fn call(&mut self, call: Call) -> bool {
        self.run_call(call).0
    }

    /// Runs `call`; its output. If it did not succeed, the step has failed.
    pub(crate) fn call_for_output(&mut self, call: Call) -> String {
        self.run_call(call).1
    }

    fn run_call(&mut self, call: Call) -> (bool, String) {
        self.say(&format!("$ {}", call.shown()));
        let tell = self.tell;
        let done = call.run(|passed, last| {
            tell(&format!("still at it after {} s: {last}", passed.as_secs()));
        });
        self.output.push_str(&done.output);
        self.failed |= !done.ok;
        (done.ok, done.output)
    }

    /// Adds to the step's counts; a failed test fails the step.
    pub(crate) fn count(&mut self, counts: Counts) {
        *self.counts.get_or_insert_default() += counts;
        self.failed |= counts.failed > 0;
    }

    /// Adds `counts`; where there are none though `tool` succeeded, the count cannot be trusted and the step fails.
    fn count_or_fail(&mut self, counts: Option<Counts>, tool: &str) {
        match counts {
            Some(counts) => self.count(counts),
            None if !self.failed => {
                self.fail(&format!("{tool} printed no summary that could be read"));
            }
            None => {}
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

    #[test]
    fn a_report_fails_by_a_call_a_complaint_or_a_count() {
        let root = Path::new(".");
        let mut report = Report::silent();
        assert!(report.call(Call::new(root, "true", &[])));
        report.complain(Ok(vec![]));
        report.count(Counts {
            passed: 2,
            ..Counts::default()
        });
        assert!(!report.failed());

        let mut report = Report::silent();
        assert!(!report.call(Call::new(root, "false", &[])));
        assert!(report.failed());

        let mut report = Report::silent();
        report.complain(Ok(vec!["a wrong arrow".to_owned()]));
        assert!(report.failed() && report.output().contains("a wrong arrow"));

        let mut report = Report::silent();
        report.count(Counts {
            failed: 1,
            ..Counts::default()
        });
        assert!(report.failed());

        let mut report = Report::silent();
        report.count_or_fail(None, "nextest");
        assert!(report.failed());
    }
}
