//! What short runs cost, in instructions: counted by callgrind, held against a file that is kept in the repository.
//!
//! Instructions of the same program and input repeat whatever else the machine does, so a change that costs more shows in the tests,
//! where a time would not. The program is the one that the tests have built. Another compiler makes other code: its counts are told
//! and not compared.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata;
use crate::process::Call;
use crate::report::Counts;
use crate::step_report::Report;

/// How to use it.
pub(crate) const HELP: &str = "\
Counts the instructions of short runs (callgrind) and compares them with those kept in xtask/counts.tsv.

Usage: cargo xtask bench [--keep]

  --keep   put the counts into the file: for a change whose cost is wanted, which its commit says

More than 3 % above what is kept fails, here and in `cargo xtask test`; fewer is told.
";

/// A run may cost so much more than what is kept, in per cent.
const TOLERANCE_PERCENT: u64 = 3;
/// Where counts are kept.
const FILE: &str = "xtask/counts.tsv";

/// A short run: its name, and what `covey` is called with.
struct Short {
    name: &'static str,
    call: &'static [&'static str],
}

const RUNS: &[Short] = &[
    Short {
        name: "junction",
        call: &[
            "run",
            "scenarios/toy/blind-junction/scenario.toml",
            "--arm",
            "cpm-rmr",
            "--arm",
            "proposed@0.4",
            "--arm",
            "demand@0.15",
            "--warmup",
            "2",
            "--measure",
            "4",
        ],
    },
    Short {
        name: "junction, slot by slot",
        call: &[
            "run",
            "scenarios/toy/blind-junction/scenario.toml",
            "--arm",
            "proposed@0.4",
            "--set",
            "channel.model=\"sps\"",
            "--warmup",
            "1",
            "--measure",
            "2",
        ],
    },
    Short {
        name: "corridor",
        call: &[
            "run",
            "scenarios/tamagawa/scenario.toml",
            "--arm",
            "proposed@0.4",
            "--warmup",
            "0.2",
            "--measure",
            "0.2",
        ],
    },
];

/// What the file holds: the compiler, and a count for each run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kept {
    compiler: String,
    counts: Vec<(String, u64)>,
}

impl Kept {
    fn parse(text: &str) -> Result<Self, String> {
        let mut kept = Self::default();
        for (number, line) in text.lines().enumerate() {
            let wrong = || {
                format!(
                    "{FILE}:{}: found `{line}`, expected a name, a tab and a number; `cargo xtask bench --keep` makes the file anew",
                    number + 1
                )
            };
            let (name, value) = line.split_once('\t').ok_or_else(wrong)?;
            if name == "compiler" {
                value.clone_into(&mut kept.compiler);
            } else {
                let count = value.parse().map_err(|_| wrong())?;
                kept.counts.push((name.to_owned(), count));
            }
        }
        Ok(kept)
    }

    fn text(&self) -> String {
        let mut text = format!("compiler\t{}\n", self.compiler);
        for (name, count) in &self.counts {
            let _ = writeln!(text, "{name}\t{count}");
        }
        text
    }

    fn of(&self, name: &str) -> Option<u64> {
        let mut counts = self.counts.iter();
        counts
            .find(|(other, _)| other == name)
            .map(|&(_, count)| count)
    }
}

/// What to say of a run that took `now` instructions, and whether that is too many.
fn verdict(name: &str, before: Option<u64>, now: u64) -> (String, bool) {
    let millions = now / 1_000_000;
    let Some(before) = before else {
        let text = format!(
            "{name}: {millions} million instructions; none are kept: `cargo xtask bench --keep`"
        );
        return (text, true);
    };
    let change = 100.0 * (now as f64 / before.max(1) as f64 - 1.0);
    let text = format!("{name}: {millions} million instructions, {change:+.1} %");
    let too_many = now * 100 > before * (100 + TOLERANCE_PERCENT);
    (text, too_many)
}

/// Counts every run and compares; with `keep`, the counts are put into the file.
pub(crate) fn run(root: &Path, keep: bool, report: &mut Report) {
    let (program, compiler) = match prepare(root, report) {
        Some(ready) => ready,
        None => return,
    };
    let kept = match fs::read_to_string(root.join(FILE)).map(|text| Kept::parse(&text)) {
        Ok(Ok(kept)) => kept,
        Ok(Err(error)) if !keep => return report.fail(&error),
        _ => Kept::default(),
    };
    let comparable = kept.compiler == compiler;
    if !comparable && !keep {
        let of = match kept.compiler.as_str() {
            "" => "no compiler",
            other => other,
        };
        report.note(format!(
            "counts are kept of {of}, this is {compiler}: not compared"
        ));
    }
    let mut now = Kept {
        compiler,
        counts: Vec::new(),
    };
    let mut counts = Counts::default();
    for short in RUNS {
        let count = match count(root, &program, short, report) {
            Ok(count) => count,
            Err(error) => return report.fail(&error),
        };
        let (text, too_many) = verdict(short.name, kept.of(short.name), count);
        report.note(text);
        let failed = too_many && comparable && !keep;
        counts.passed += u64::from(!failed);
        counts.failed += u64::from(failed);
        now.counts.push((short.name.to_owned(), count));
    }
    if counts.failed > 0 {
        report.say(&format!(
            "more than {TOLERANCE_PERCENT} % above {FILE}: make it cheaper, or say in the commit what it is for and run `cargo xtask bench --keep`"
        ));
    }
    report.count(counts);
    if keep && let Err(error) = fs::write(root.join(FILE), now.text()) {
        report.fail(&format!("{FILE}: cannot be written: {error}"));
    }
}

/// The program as the tests build it, and the compiler's version.
fn prepare(root: &Path, report: &mut Report) -> Option<(PathBuf, String)> {
    let ready = metadata::workspace(root).and_then(|packages| {
        let features = metadata::test_features(&packages);
        let version = Call::new(root, "rustc", &["--version"]).read()?;
        Ok((
            features,
            version.trim().to_owned(),
            metadata::target_folder(root)?,
        ))
    });
    let (features, compiler, target) = match ready {
        Ok(ready) => ready,
        Err(error) => {
            report.fail(&error);
            return None;
        }
    };
    // As the tests are built, so that what they compiled serves.
    let build = [
        "test",
        "--no-run",
        "--locked",
        "--workspace",
        "--features",
        &features,
    ];
    let call = Call::new(root, "cargo", &build).env("CARGO_TERM_COLOR", "never");
    report
        .call(call)
        .then(|| (Path::new(&target).join("debug/covey"), compiler))
}

/// The instructions of one run.
fn count(root: &Path, program: &Path, short: &Short, report: &mut Report) -> Result<u64, String> {
    let out = std::env::temp_dir().join(format!("covey-bench-{}", std::process::id()));
    let (program, folder) = (program.to_string_lossy(), out.to_string_lossy());
    let mut arguments = vec![
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        &program,
    ];
    arguments.extend(short.call);
    arguments.extend(["--seed", "1", "--jobs", "1", "--quiet", "--out", &folder]);
    let output = report.call_for_output(Call::new(root, "valgrind", &arguments));
    // What is left there is of no use to anybody.
    let _ = fs::remove_dir_all(&out);
    collected(&output).ok_or_else(|| format!("{}: valgrind printed no count", short.name))
}

/// The number that callgrind prints at its end.
fn collected(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_kept_and_read_again() {
        let kept = Kept {
            compiler: "rustc 1.95.0".to_owned(),
            counts: vec![("corridor".to_owned(), 12), ("junction".to_owned(), 3)],
        };
        assert_eq!(Kept::parse(&kept.text()), Ok(kept));
        let error = Kept::parse("compiler\tx\ncorridor 12\n").unwrap_err();
        assert!(
            error.contains("counts.tsv:2: found `corridor 12`"),
            "{error}"
        );
    }

    #[test]
    fn three_per_cent_more_are_too_many() {
        assert!(!verdict("a", Some(1000), 1030).1);
        assert!(verdict("a", Some(1000), 1031).1);
        assert!(!verdict("a", Some(1000), 500).1);
        assert!(verdict("a", None, 1).1);
        let (text, _) = verdict("a", Some(200_000_000), 190_000_000);
        assert_eq!(text, "a: 190 million instructions, -5.0 %");
    }

    #[test]
    fn the_count_is_found_in_what_callgrind_says() {
        let said = "==1== Events    : Ir\n==1== Collected : 934440396\n==1== \n";
        assert_eq!(collected(said), Some(934_440_396));
        assert_eq!(collected("nothing"), None);
    }
}
