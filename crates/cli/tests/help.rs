//! What a user sees who does not know the program yet.

mod common;

use crate::common::{covey, covey_unread};

/// Every command and its subcommands.
const LEVELS: &[&[&str]] = &[
    &["arms"],
    &["decide"],
    &["digest"],
    &["digest", "encode"],
    &["digest", "decode"],
    &["link"],
    &["messages"],
    &["messages", "decode"],
    &["schema"],
];

/// Levels whose examples would run for minutes, or need files of the reader's own.
const LONG: &[&[&str]] = &[
    &[],
    &["calibrate"],
    &["clean"],
    &["completions"],
    &["drive"],
    &["import"],
    &["man"],
    &["node"],
    &["pki"],
    &["report"],
    &["reproduce"],
    &["run"],
    &["sweep"],
    &["traffic"],
    &["view"],
];

#[test]
fn every_level_has_help() {
    for level in LEVELS.iter().chain(LONG) {
        for flag in ["--help", "-h"] {
            let help = covey(&[level, &[flag][..]].concat(), "").done();
            assert!(help.contains("Usage: covey"), "{level:?}: {help}");
        }
    }
}

#[test]
fn what_a_command_does_is_told_at_length() {
    for (command, part) in [
        ("link", "without shadowing"),
        ("run", "A scenario is a file of ours"),
        ("view", "on the loopback address"),
        ("arms", "B is the allowance"),
    ] {
        let help = covey(&[command, "--help"], "").done();
        let head = help.split("Usage:").next().unwrap_or_default();
        assert!(head.contains(part), "{help}");
        let short = covey(&[command, "-h"], "").done();
        assert!(!short.contains(part), "{short}");
    }
}

#[test]
fn every_level_shows_examples_that_work() {
    for level in LEVELS {
        let help = covey(&[level, &["--help"][..]].concat(), "").done();
        let examples = help.split_once("Examples:").map_or("", |(_, rest)| rest);
        let lines: Vec<&str> = examples
            .lines()
            .map(str::trim)
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty())
            .collect();
        assert!(
            !lines.is_empty(),
            "no examples in the help of {level:?}: {help}"
        );
        for line in lines {
            run_example(line);
        }
    }
}

/// Runs a line of shell as far as it needs: `echo TEXT | covey …`, `covey … < FILE`, `covey … FILE`.
fn run_example(line: &str) {
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (stdin, call) = match line.strip_prefix("echo ") {
        Some(piped) => {
            let (text, call) = piped.split_once(" | ").expect("echo is piped into covey");
            (text.trim_matches('\'').to_string(), call)
        }
        None => (String::new(), line),
    };
    let call = call.split(" | ").next().expect("a call");
    let (call, stdin) = match call.split_once(" < ") {
        Some((call, file)) => {
            let text = std::fs::read_to_string(format!("{top}/{file}"));
            (call, text.expect("the file of the example"))
        }
        None => (call, stdin),
    };
    let arguments: Vec<String> = call
        .strip_prefix("covey ")
        .expect("the example calls covey")
        .split(' ')
        .map(|word| match word.starts_with("examples/") {
            true => format!("{top}/{word}"),
            false => word.to_string(),
        })
        .collect();
    assert!(!covey(&arguments, stdin).done().is_empty(), "{line}");
}

#[test]
fn without_arguments_the_help_is_shown() {
    let call = covey::<&str>(&[], "");
    assert_eq!((call.code, call.stdout.as_str()), (Some(2), ""));
    assert!(call.stderr.contains("Usage: covey"), "{call:?}");
    assert!(call.stderr.contains("decide"), "{call:?}");
    let call = covey(&["digest"], "");
    assert_eq!(call.code, Some(2));
    assert!(call.stderr.contains("encode"), "{call:?}");
}

#[test]
fn wrong_calls_are_refused() {
    covey(&["frobnicate"], "").refused(&["frobnicate", "--help"]);
    covey(&["decied"], "").refused(&["decied", "decide"]);
    covey(&["decide"], "").refused(&["FILE"]);
    covey(&["decide", "a", "b"], "").refused(&["'b'"]);
    covey(&["decide", "--frob", "-"], "").refused(&["--frob"]);
    covey(&["digest", "code"], "").refused(&["code"]);
    covey(&["digest", "encode", "x"], "").refused(&["'x'"]);
    covey(&["--frob"], "").refused(&["--frob"]);
}

#[test]
fn the_version_is_told() {
    let version = covey(&["--version"], "").done();
    let beginning = format!("covey {} (", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&beginning), "{version}");
}

#[test]
fn help_that_nobody_reads_is_no_error() {
    covey_unread(&["--help"], "");
    covey_unread(&["decide", "--help"], "");
}
