//! Do the tests notice? Mistakes put into the source one at a time by cargo-mutants, and the crate's own tests run on each.
//!
//! All of them take hours, so a sample drawn by a seed can be run, or a share; cargo-mutants is installed when it is asked for.

use std::path::Path;

use covey_draws::mix;

use crate::component::{Component, Source};
use crate::process::Call;
use crate::step_report::Report;

/// The help text of `cargo xtask mutants`.
pub(crate) const HELP: &str = "\
Puts mistakes into the source, one at a time, and runs the tests of its crate on each: those that no test notices are listed.

Usage: cargo xtask mutants [--sample N] [--seed N] [--shard K/N] [--list] [FILE]... [-- TESTS]

  --sample N   only so many, drawn by the seed (all)
  --seed N     what the sample is drawn by (1)
  --shard K/N  only every N-th, beginning with the K-th (from 0)
  --list       only say which
  TESTS        what cargo test is told, such as `--lib`: only these tests run

FILE is a path as cargo-mutants takes it (`crates/protocol/src/office.rs`, `crates/protocol/src/host/*`); without any, all of
protocol and its, and the simulator's channel and metric. A mutant takes about half a minute; outcomes are in
target/mutants.out. The exit code is 0 only if every mutant was noticed, or could not be built.

Examples:
  cargo xtask mutants crates/protocol/src/guard.rs
  cargo xtask mutants --sample 60 --seed 7 'crates/protocol/src/*'
  cargo xtask mutants --shard 3/40
";

/// What is mutated where no file is named.
const FILES: [&str; 4] = [
    "crates/protocol/src/**/*.rs",
    "crates/its/src/**/*.rs",
    "crates/simulator/src/channel/**/*.rs",
    "crates/simulator/src/measure/**/*.rs",
];

const TOOL: Component = Component {
    name: "cargo-mutants",
    purpose: "puts mistakes into the source, to see whether tests notice",
    probe: (&["cargo", "mutants", "--version"], "cargo-mutants 27."),
    source: Source::Cargo {
        package: "cargo-mutants",
        version: "27.1.0",
    },
};

/// Which mutants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    sample: Option<usize>,
    seed: u64,
    /// Which share, of how many.
    shard: Option<(usize, usize)>,
    list: bool,
    files: Vec<String>,
    /// What cargo test is told.
    tests: Vec<String>,
}

impl Choice {
    /// Reads the arguments of `cargo xtask mutants`.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Self {
            sample: None,
            seed: 1,
            shard: None,
            list: false,
            files: Vec::new(),
            tests: Vec::new(),
        };
        let mut parts = arguments.splitn(2, |word| word == "--");
        let (own, tests) = (parts.next(), parts.next());
        choice.tests = tests.unwrap_or_default().to_vec();
        let mut words = own.unwrap_or_default().iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().map(String::as_str).unwrap_or_default();
            match word.as_str() {
                "--sample" => choice.sample = Some(number(word, value())?),
                "--seed" => choice.seed = number(word, value())?,
                "--shard" => choice.shard = Some(share(value())?),
                "--list" => choice.list = true,
                option if option.starts_with('-') => {
                    return Err(format!("there is no option `{option}`\n\n{HELP}"));
                }
                file => choice.files.push(file.to_owned()),
            }
        }
        Ok(choice)
    }

    /// Those that are to be run, of all.
    fn of(&self, all: Vec<String>) -> Vec<String> {
        let (k, n) = self.shard.unwrap_or((0, 1));
        let mine = all.into_iter().skip(k).step_by(n);
        let mut mine: Vec<(u64, String)> = (0u64..)
            .zip(mine)
            .map(|(at, name)| (mix(mix(self.seed) ^ at), name))
            .collect();
        if let Some(sample) = self.sample {
            mine.sort();
            mine.truncate(sample);
        }
        mine.into_iter().map(|(_, name)| name).collect()
    }
}

fn number<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    let wrong = |_| format!("`{option}` needs a whole number, found `{value}`");
    value.parse().map_err(wrong)
}

fn share(value: &str) -> Result<(usize, usize), String> {
    let parts = value.split_once('/');
    let parts = parts.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|&(k, n): &(usize, usize)| k < n)
        .ok_or_else(|| format!("`--shard` needs K/N with K below N, found `{value}`"))
}

/// Runs the mutants of `choice`.
pub(crate) fn run(root: &Path, choice: &Choice, report: &mut Report) {
    if TOOL.probe(root).is_err() && !TOOL.source.install(root, report) {
        return report.fail("cargo-mutants cannot be installed; it needs crates.io");
    }
    let files: Vec<&str> = match choice.files.is_empty() {
        true => FILES.to_vec(),
        false => choice.files.iter().map(String::as_str).collect(),
    };
    let mut list = vec!["mutants", "--list"];
    list.extend(files.iter().flat_map(|&file| ["--file", file]));
    let all = match Call::new(root, "cargo", &list).read() {
        Ok(output) => output.lines().map(str::to_owned).collect::<Vec<_>>(),
        Err(error) => return report.fail(&error),
    };
    let of = all.len();
    let chosen = choice.of(all);
    report.note(format!("{} of {of} mutants", chosen.len()));
    if chosen.is_empty() {
        return report.fail("there are no such mutants");
    }
    if choice.list {
        for name in &chosen {
            report.note(name.clone());
        }
        return;
    }
    // Names are what cargo-mutants tells them apart by; a line number is part of them.
    let exact: Vec<String> = chosen.iter().map(|name| literally(name)).collect();
    let mut arguments = vec![
        "mutants",
        "--output",
        "target",
        "--no-shuffle",
        "--colors=never",
        "--timeout-multiplier=5",
        "--minimum-test-timeout=60",
    ];
    arguments.extend(files.iter().flat_map(|&file| ["--file", file]));
    arguments.extend(exact.iter().flat_map(|name| ["--re", name.as_str()]));
    if !choice.tests.is_empty() {
        arguments.push("--");
        arguments.extend(choice.tests.iter().map(String::as_str));
    }
    let output = report.call_for_output(Call::new(root, "cargo", &arguments));
    for line in output.lines() {
        report.tell(line);
    }
}

/// A regular expression that matches this text alone.
fn literally(text: &str) -> String {
    let mut out = String::from("^");
    for character in text.chars() {
        if !character.is_alphanumeric() && character != ' ' && character != '_' {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('$');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Choice, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Choice::parse(&words)
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_named() {
        let choice = parse(&["--sample", "7", "a.rs", "--shard", "1/3"]).unwrap();
        assert_eq!((choice.sample, choice.shard), (Some(7), Some((1, 3))));
        assert_eq!(choice.files, ["a.rs"]);
        let choice = parse(&["a.rs", "--list", "--", "--lib", "--"]).unwrap();
        assert!(choice.list && choice.files == ["a.rs"]);
        assert_eq!(choice.tests, ["--lib", "--"]);
        assert!(parse(&["--shard", "3/3"]).unwrap_err().contains("3/3"));
        assert!(parse(&["--sample", "few"]).unwrap_err().contains("few"));
        assert!(parse(&["--fast"]).unwrap_err().contains("`--fast`"));
    }

    #[test]
    fn samples_and_shares_are_the_same_every_time() {
        let all: Vec<String> = (0..100).map(|n| format!("mutant {n}")).collect();
        let sample = |seed: &str| {
            let choice = parse(&["--sample", "10", "--seed", seed]).unwrap();
            choice.of(all.clone())
        };
        assert_eq!(sample("1").len(), 10);
        assert_eq!(sample("1"), sample("1"));
        assert_ne!(sample("1"), sample("2"));
        // Shares are apart and make up the whole.
        let mut together: Vec<String> = Vec::new();
        for k in 0..3 {
            together.extend(
                parse(&["--shard", &format!("{k}/3")])
                    .unwrap()
                    .of(all.clone()),
            );
        }
        together.sort();
        let mut whole = all.clone();
        whole.sort();
        assert_eq!(together, whole);
    }

    #[test]
    fn names_become_expressions_that_match_them_alone() {
        assert_eq!(
            literally("a.rs:1:2: replace + with - in f"),
            r"^a\.rs\:1\:2\: replace \+ with \- in f$"
        );
    }
}
