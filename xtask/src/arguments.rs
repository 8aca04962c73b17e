//! The command line of `cargo xtask`. Small enough to be read by hand: a task runner that is built before everything
//! else should be built quickly.

use crate::fuzz;
use crate::steps::STEPS;
use crate::{audit, bench, dist, mutants, performance, python, release};

const HELP: &str = "\
The project's own tasks.

Usage: cargo xtask test [--keep-going] [STEP]...
       cargo xtask setup
       cargo xtask corridor
       cargo xtask demonstration
       cargo xtask playground
       cargo xtask pictures
       cargo xtask results [OUT]
       cargo xtask mutants [OPTION]... [FILE]...
       cargo xtask audit [DATABASE]
       cargo xtask fuzz [OPTION]... [TARGET]...
       cargo xtask bench [--keep]
       cargo xtask performance [OPTION]...
       cargo xtask dist [--try]
       cargo xtask release [--allow-dirty]
       cargo xtask python [PACKAGE]...

  test       set up what the tests need and run every check, or only the steps named
  setup      only install what the tests need that cargo does not bring
  corridor   make the bundled maps (scenarios/) anew from their facts; needs `cargo xtask setup`
  demonstration  record the bundled demonstration (examples/blind-junction) anew
  playground  build the playground's simulator (crates/viewer/playground) as WebAssembly
  pictures   make the pictures of README.md and docs/viewer.md (docs/figures/*.png) anew in a browser; needs `cargo xtask setup`
  results    make results/, docs/figures and the generated tables of docs/results.md and README.md from the finished
             folders in OUT (default: out); says which are missing and what makes them
  mutants    put mistakes into the source and see whether tests notice
  audit      check dependencies against known advisories
  fuzz       search for inputs that break a promise, guided by coverage
  bench      count the instructions of short runs and compare them with those kept
  performance  measure what runs cost and write the tables of docs/performance.md
  dist       make a static binary and an archive for people who build nothing
  release    check that a release could be made: versions, packages
  python     build the Python package into python/.venv

`cargo xtask TASK --help` says more.
";

const TEST_HELP: &str = "\
Runs every check of the project: what CI runs.

Usage: cargo xtask test [--keep-going] [STEP]...
       cargo xtask test --list

  --keep-going   go on after a step that failed
  --list         list the steps

Steps run in the order of the list, whatever the order here. The first failure ends the run.
The last line counts tests, examples in the documentation, fuzz targets and tidy checks, as
in `812 passed, 0 failed`. A step that counts none of these (fmt, clippy, ...) adds nothing when
it passes and one failure when it fails. The exit code is 0 only if every step passed.

Examples:
  cargo xtask test                  everything
  cargo xtask test fmt tidy clippy  three steps alone, without setting up
  cargo xtask test --keep-going     everything, though something fails
";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Run steps.
    Run(Plan),
    /// List the steps.
    List,
    /// Make the bundled maps anew.
    Corridor(Vec<String>),
    /// Record the bundled demonstration anew.
    Demonstration,
    /// Build the playground's simulator.
    Playground,
    /// Make the pictures of the documents.
    Pictures,
    /// Make results from finished outputs, in this folder.
    Results(String),
    /// Put mistakes into the source.
    Mutants(mutants::Choice),
    /// Check dependencies against advisories, with the database in this folder.
    Audit(Option<String>),
    /// Search for inputs that break a promise.
    Fuzz(fuzz::Search),
    /// Count instructions; keep the counts.
    Bench(bool),
    /// Measure what runs cost.
    Performance(performance::Wanted),
    /// Check that a release could be made, of uncommitted files too.
    Release(bool),
    /// Make the archive; try it on a bare system.
    Dist(bool),
    /// Build the Python package, with these packages of others beside it.
    Python(Vec<String>),
    /// Print a help text.
    Help(&'static str),
}

/// Which steps, and how.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Go on after a failure.
    pub(crate) keep_going: bool,
    /// The steps named; empty for all.
    steps: Vec<&'static str>,
}

impl Plan {
    /// The step `name` is to be run.
    pub(crate) fn includes(&self, name: &str) -> bool {
        self.steps.is_empty() || self.steps.contains(&name)
    }
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Task, String> {
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let asks_for = |long: &str, short: &str| rest.iter().any(|word| word == long || word == short);
    match task.as_deref() {
        None | Some("help" | "--help" | "-h") => Ok(Task::Help(HELP)),
        Some("corridor") if asks_for("--help", "-h") => Ok(Task::Help(HELP)),
        Some("corridor") => Ok(Task::Corridor(rest)),
        Some("demonstration") if rest.is_empty() => Ok(Task::Demonstration),
        Some("demonstration") => Ok(Task::Help(HELP)),
        Some("pictures") if rest.is_empty() => Ok(Task::Pictures),
        Some("pictures") => Ok(Task::Help(HELP)),
        Some("playground") if rest.is_empty() => Ok(Task::Playground),
        Some("playground") => Ok(Task::Help(HELP)),
        Some("results") if asks_for("--help", "-h") => Ok(Task::Help(HELP)),
        Some("results") => folder("results", &rest)
            .map(|out| Task::Results(out.unwrap_or_else(|| "out".to_owned()))),
        Some("mutants") if asks_for("--help", "-h") => Ok(Task::Help(mutants::HELP)),
        Some("mutants") => mutants::Choice::parse(&rest).map(Task::Mutants),
        Some("audit") if asks_for("--help", "-h") => Ok(Task::Help(audit::HELP)),
        Some("audit") => folder("audit", &rest).map(Task::Audit),
        Some("fuzz") if asks_for("--help", "-h") => Ok(Task::Help(fuzz::HELP)),
        Some("fuzz") => fuzz::Search::parse(&rest).map(Task::Fuzz),
        Some("python") if asks_for("--help", "-h") => Ok(Task::Help(python::HELP)),
        Some("python") => Ok(Task::Python(rest)),
        Some("bench") if asks_for("--help", "-h") => Ok(Task::Help(bench::HELP)),
        Some("bench") => switch("bench", "--keep", &rest).map(Task::Bench),
        Some("performance") if asks_for("--help", "-h") => Ok(Task::Help(performance::HELP)),
        Some("performance") => performance::Wanted::parse(&rest).map(Task::Performance),
        Some("release") if asks_for("--help", "-h") => Ok(Task::Help(release::HELP)),
        Some("release") => switch("release", "--allow-dirty", &rest).map(Task::Release),
        Some("dist") if asks_for("--help", "-h") => Ok(Task::Help(dist::HELP)),
        Some("dist") => switch("dist", "--try", &rest).map(Task::Dist),
        Some("setup") if asks_for("--help", "-h") => Ok(Task::Help(HELP)),
        Some("setup") => match rest.first() {
            None => Ok(Task::Run(Plan {
                keep_going: false,
                steps: vec!["setup"],
            })),
            Some(word) => Err(format!(
                "`cargo xtask setup` takes no arguments, found `{word}`"
            )),
        },
        Some("test") if asks_for("--help", "-h") => Ok(Task::Help(TEST_HELP)),
        Some("test") if asks_for("--list", "--list") => Ok(Task::List),
        Some("test") => test_plan(&rest).map(Task::Run),
        Some(other) => Err(format!("there is no task `{other}`\n\n{HELP}")),
    }
}

/// At most one folder.
fn folder(task: &str, rest: &[String]) -> Result<Option<String>, String> {
    match rest {
        [] => Ok(None),
        [folder] if !folder.starts_with('-') => Ok(Some(folder.clone())),
        _ => Err(format!(
            "`cargo xtask {task}` takes at most one folder, found `{}`",
            rest.join(" ")
        )),
    }
}

/// Whether the one switch of a task is given.
fn switch(task: &str, switch: &str, rest: &[String]) -> Result<bool, String> {
    match rest {
        [] => Ok(false),
        [word] if word == switch => Ok(true),
        _ => Err(format!(
            "`cargo xtask {task}` takes `{switch}` alone, found `{}`",
            rest.join(" ")
        )),
    }
}

fn test_plan(arguments: &[String]) -> Result<Plan, String> {
    let mut plan = Plan::default();
    for word in arguments {
        if word == "--keep-going" {
            plan.keep_going = true;
        } else if let Some(step) = STEPS.iter().find(|step| step.name == word) {
            plan.steps.push(step.name);
        } else {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            return Err(format!(
                "`cargo xtask test` has no step or option `{word}`; steps are {}; options are --keep-going, --list, --help",
                names.join(", ")
            ));
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn steps_and_options_are_read_in_any_order() {
        let Ok(Task::Run(all)) = parsed("test") else {
            panic!("not a run")
        };
        assert!(!all.keep_going && STEPS.iter().all(|step| all.includes(step.name)));
        let Ok(Task::Run(some)) = parsed("test fmt --keep-going docs") else {
            panic!("not a run")
        };
        assert!(
            some.keep_going
                && some.includes("fmt")
                && some.includes("docs")
                && !some.includes("setup")
        );
        let Ok(Task::Run(setup)) = parsed("setup") else {
            panic!("not a run")
        };
        assert!(setup.includes("setup") && !setup.includes("fmt"));
    }

    #[test]
    fn help_and_list_win() {
        assert_eq!(parsed(""), Ok(Task::Help(HELP)));
        assert_eq!(parsed("test fmt --help"), Ok(Task::Help(TEST_HELP)));
        assert_eq!(parsed("test --list"), Ok(Task::List));
        assert_eq!(parsed("results"), Ok(Task::Results("out".to_owned())));
        assert_eq!(parsed("results x"), Ok(Task::Results("x".to_owned())));
        assert_eq!(parsed("audit x"), Ok(Task::Audit(Some("x".to_owned()))));
        assert_eq!(parsed("audit"), Ok(Task::Audit(None)));
        assert_eq!(parsed("bench --keep"), Ok(Task::Bench(true)));
        assert_eq!(parsed("release"), Ok(Task::Release(false)));
        assert_eq!(parsed("dist --try"), Ok(Task::Dist(true)));
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert!(
            parsed("test fnt")
                .unwrap_err()
                .contains("no step or option `fnt`; steps are setup, fmt,")
        );
        assert!(parsed("tset").unwrap_err().contains("no task `tset`"));
        assert!(parsed("setup now").unwrap_err().contains("`now`"));
        assert!(parsed("results a b").unwrap_err().contains("`a b`"));
        assert!(parsed("audit a b").unwrap_err().contains("`a b`"));
        assert!(parsed("bench x").unwrap_err().contains("found `x`"));
        assert!(parsed("release x").unwrap_err().contains("found `x`"));
        assert!(parsed("performance x").unwrap_err().contains("found `x`"));
        assert!(parsed("dist x").unwrap_err().contains("found `x`"));
    }
}
