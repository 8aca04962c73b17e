//! The project's own tasks, run as `cargo xtask TASK` from anywhere in the repository.
//!
//! `cargo xtask test` is the one command that people and CI use to find out whether the project is in order. It works
//! from a fresh clone: the first step installs what is missing.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

mod arguments;
mod arrows;
mod audit;
mod bench;
mod browser;
mod component;
mod corridor;
mod demonstration;
mod dist;
mod example;
mod fuzz;
mod licences;
mod metadata;
mod modules;
mod mutants;
mod no_std;
mod performance;
mod pictures;
mod playground;
mod process;
mod python;
mod release;
mod report;
mod setup;
mod source;
mod step_report;
mod steps;
mod tidy;
mod web;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use arguments::{Plan, Task};
use report::{Counts, Outcome, Row};
use step_report::Report;
use steps::{STEPS, Step};

fn main() -> ExitCode {
    if let Some(call) = fuzz::compiler_call().or_else(python::cargo_call) {
        return in_place_of(&call);
    }
    match arguments::parse(std::env::args().skip(1)) {
        Ok(Task::Help(text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Task::List) => {
            for step in STEPS {
                println!("{:<10} {}", step.name, step.summary);
            }
            ExitCode::SUCCESS
        }
        Ok(Task::Run(plan)) => run(&plan),
        Ok(Task::Corridor(arguments)) => match corridor::run(&root(), &arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Task::Demonstration) => match demonstration::run(&root()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Task::Playground) => run_alone(playground::run),
        Ok(Task::Pictures) => run_alone(pictures::run),
        Ok(Task::Results(out)) => results(&root(), &out),
        Ok(Task::Mutants(choice)) => run_alone(|root, report| mutants::run(root, &choice, report)),
        Ok(Task::Audit(database)) => {
            run_alone(|root, report| audit::run(root, database.as_deref(), report))
        }
        Ok(Task::Python(more)) => run_alone(|root, report| python::build(root, &more, report)),
        Ok(Task::Bench(keep)) => run_alone(|root, report| bench::run(root, keep, report)),
        Ok(Task::Performance(wanted)) => {
            run_alone(|root, report| performance::run(root, wanted, report))
        }
        Ok(Task::Release(dirty)) => run_alone(|root, report| release::run(root, dirty, report)),
        Ok(Task::Dist(try_it)) => run_alone(|root, report| dist::run(root, try_it, report)),
        Ok(Task::Fuzz(search)) => run_alone(|root, report| fuzz::run(root, &search, report)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Calls the compiler, or cargo, and ends as it does.
fn in_place_of(call: &[String]) -> ExitCode {
    let Some((program, arguments)) = call.split_first() else {
        return ExitCode::FAILURE;
    };
    match std::process::Command::new(program).args(arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {program} cannot be run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does something outside the tests, and says what came of it.
fn run_alone(task: impl FnOnce(&Path, &mut Report)) -> ExitCode {
    let mut report = Report::new(|line| {
        println!("{line}");
        flush();
    });
    task(&root(), &mut report);
    if report.failed() {
        println!("{}", report.output());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The work is a program of the experiment crate: this one stays small enough to be built before everything else. It is built as the
/// tests are, with all features of the workspace, so that what they compiled serves.
fn results(root: &Path, out: &str) -> ExitCode {
    let made = metadata::workspace(root).and_then(|packages| {
        let features = metadata::test_features(&packages);
        let build = [
            "build",
            "--quiet",
            "--locked",
            "--workspace",
            "--features",
            &features,
            "--example",
            "results",
        ];
        run_program(root, "cargo", &build)?;
        let program = Path::new(&metadata::target_folder(root)?).join("debug/examples/results");
        let out = root.join(out);
        run_program(
            root,
            &program.to_string_lossy(),
            &[&root.to_string_lossy(), &out.to_string_lossy()],
        )
    });
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a program at the terminal, to its end.
fn run_program(root: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let status = std::process::Command::new(program)
        .args(arguments)
        .current_dir(root)
        .status()
        .map_err(|error| format!("{program} cannot be run: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{program} did not end well: {status}"))
    }
}

/// Runs the steps of `plan`, prints the table and the closing line.
fn run(plan: &Plan) -> ExitCode {
    let root = root();
    let style = Style::detect();
    let mut rows: Vec<Row> = Vec::new();
    let mut total = Counts::default();
    for step in STEPS.iter().filter(|step| plan.includes(step.name)) {
        let stopped = !plan.keep_going && rows.iter().any(|row| row.outcome == Outcome::Failed);
        let row = if stopped {
            Row {
                step: step.name,
                outcome: Outcome::NotRun,
                duration: Duration::ZERO,
                counts: None,
            }
        } else {
            run_step(step, &root, &style, &mut total)
        };
        rows.push(row);
    }
    let failed = rows.iter().any(|row| row.outcome == Outcome::Failed);
    println!("\n{}{total}", report::table(&rows));
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn run_step(step: &Step, root: &Path, style: &Style, total: &mut Counts) -> Row {
    println!(
        "{}",
        style.bold(&format!("== {}: {}", step.name, step.summary))
    );
    flush();
    let mut report = Report::new(|line| {
        println!("   {line}");
        flush();
    });
    let duration = step.run(root, &mut report);
    let mut counts = report.counts().unwrap_or_default();
    if report.failed() {
        // A step that fails before or beside its tests must show in the closing line, too.
        counts.failed = counts.failed.max(1);
        println!("{}", report.output());
        println!(
            "{} after {:.1} s; to run it again: cargo xtask test {}",
            style.red(&format!("{} FAILED", step.name)),
            duration.as_secs_f64(),
            step.name
        );
    } else {
        let counts = report
            .counts()
            .map(|counts| format!(", {counts}"))
            .unwrap_or_default();
        println!("   ok, {:.1} s{counts}", duration.as_secs_f64());
    }
    flush();
    *total += counts;
    Row {
        step: step.name,
        outcome: if report.failed() {
            Outcome::Failed
        } else {
            Outcome::Passed
        },
        duration,
        counts: report.counts(),
    }
}

/// The top of the repository: the folder above this package's.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package
        .parent()
        .map_or_else(|| package.clone(), Path::to_path_buf)
}

fn flush() {
    // A closed standard output shows at the next print.
    let _ = std::io::stdout().flush();
}

/// Colours, where there is a person to see them.
struct Style {
    colours: bool,
}

impl Style {
    fn detect() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            colours: std::io::stdout().is_terminal() && !set("CI") && !set("NO_COLOR"),
        }
    }

    fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn red(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colours {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
