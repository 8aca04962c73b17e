//! Do the tests notice? Mistakes put into the source one at a time by cargo-mutants, and the crate's own tests run on each.
//!
//! All of them take hours, so a sample drawn by a seed can be run, or a share; cargo-mutants is installed when it is asked for.
//!
//! What makes a mutant cheap: mistakes are made in one copy of the source that stays ([`copy`]), so that only what a mistake touches is
//! built anew, with the dependencies that the tests have built already and little optimisation; examples and documentation are left
//! out; and the tests beside the code run first, those of `tests/` on what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use covey_draws::mix;

use crate::component::{Component, INSTALLED, Source};
use crate::metadata::{self, Package};
use crate::process::Call;
use crate::step_report::Report;
use crate::tidy;

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
protocol and its, and the simulator's channel and metric. What Debug and Display print is left alone. Tests beside the code run
first; whatever they do not notice meets those in tests/. Of a sample, the share of all that are noticed lies in the interval told
in 95 of 100 cases (Wilson's). Mistakes are made in a copy, target/mutants/tree; what each led to is in target/mutants. The exit
code is 0 only if every mutant was noticed, or could not be built.

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

/// What is not mutated: what is printed for people to read, and decides nothing.
const TEXT: &str = "impl fmt::(Debug|Display) for";

/// How long the tests of a mutant may take, in terms of those without a mistake, and at least, in seconds: one that never ends is
/// cut off.
const PATIENCE: [&str; 2] = ["--timeout-multiplier=5", "--minimum-test-timeout=10"];

/// Tests that take longer than all others beside the code together, with the file whose mistakes they are for: others do not meet them.
const SLOW: [(&str, &str); 1] = [(
    "crates/protocol/src/measured",
    "measured::tests::chains_have_the_published_means_and_correlations",
)];

/// Tests in `tests/` that notice most, by the folder of their crate: they are built and run before all others there.
const FIRST: [(&str, &str); 1] = [("crates/protocol", "--test=be*")];

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
    // Without `--workspace` only what `cargo run` would run is looked at.
    let mut list = vec!["mutants", "--list", "--workspace", "--exclude-re", TEXT];
    list.extend(files.iter().flat_map(|&file| ["--file", file]));
    let all = match Call::new(root, "cargo", &list).read() {
        Ok(output) => output.lines().map(str::to_owned).collect::<Vec<_>>(),
        Err(error) => return report.fail(&error),
    };
    let of = all.len();
    let chosen = choice.of(all);
    report.tell(&format!("{} of {of} mutants", chosen.len()));
    if chosen.is_empty() {
        return report.fail("there are no such mutants");
    }
    if choice.list {
        return chosen.iter().for_each(|name| report.tell(name));
    }
    let site = match Site::new(root) {
        Ok(site) => site,
        Err(error) => return report.fail(&error),
    };
    let mut outcome = Outcome::default();
    for (folder, names) in by_folder(chosen) {
        let done = site.try_all(&folder, names, &choice.tests, report);
        match done {
            Ok(done) => outcome.add(done),
            Err(error) => return report.fail(&error),
        }
    }
    for line in outcome.lines() {
        report.tell(&line);
    }
    if !outcome.missed.is_empty() {
        report.fail("there are mutants that no test notices");
    }
}

/// Mutants by the folder of their crate, such as `crates/protocol`.
fn by_folder(names: Vec<String>) -> BTreeMap<String, Vec<String>> {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let folder = name.split("/src/").next().unwrap_or_default().to_owned();
        folders.entry(folder).or_default().push(name);
    }
    folders
}

/// What became of mutants, by name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    caught: Vec<String>,
    /// They run for too long, which tests notice, too.
    timed_out: Vec<String>,
    unviable: Vec<String>,
    missed: Vec<String>,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.caught.extend(other.caught);
        self.timed_out.extend(other.timed_out);
        self.unviable.extend(other.unviable);
        self.missed.extend(other.missed);
    }

    /// Keeps those of `names`, of which it gives how many there are.
    fn keep(&mut self, names: &[String]) -> usize {
        let known: BTreeSet<&String> = names.iter().collect();
        let all = [
            &mut self.caught,
            &mut self.timed_out,
            &mut self.unviable,
            &mut self.missed,
        ];
        all.into_iter()
            .map(|list| {
                list.retain(|name| known.contains(name));
                list.len()
            })
            .sum()
    }

    /// What cargo-mutants wrote into `folder`.
    fn read(folder: &Path) -> Result<Self, String> {
        let names = |file: &str| {
            let path = folder.join(file);
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(text.lines().map(str::to_owned).collect())
        };
        Ok(Self {
            caught: names("caught.txt")?,
            timed_out: names("timeout.txt")?,
            unviable: names("unviable.txt")?,
            missed: names("missed.txt")?,
        })
    }

    /// What to show.
    fn lines(&self) -> Vec<String> {
        let noticed = self.caught.len() + self.timed_out.len();
        let viable = noticed + self.missed.len();
        let mut lines: Vec<String> = self
            .missed
            .iter()
            .map(|name| format!("not noticed: {name}"))
            .collect();
        lines.push(format!(
            "{noticed} of {viable} viable mutants noticed ({:.1} %), {} of them since they never end; {} could not be built",
            100.0 * noticed as f64 / viable.max(1) as f64,
            self.timed_out.len(),
            self.unviable.len()
        ));
        let [low, high] = interval(noticed, viable).map(|share| 100.0 * share);
        lines.push(format!("of a sample: {low:.1} to {high:.1} % of all"));
        lines
    }
}

/// Wilson's interval of 95 % for a share of which `hits` in `tries` were seen.
fn interval(hits: usize, tries: usize) -> [f64; 2] {
    const Z: f64 = 1.96;
    let n = tries.max(1) as f64;
    let share = hits as f64 / n;
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [middle - half, middle + half].map(|end| end / (1.0 + Z * Z / n))
}

/// Where mistakes are made.
struct Site<'a> {
    root: &'a Path,
    tree: PathBuf,
    target: String,
    packages: Vec<Package>,
}

impl<'a> Site<'a> {
    /// The copy, brought up to date.
    fn new(root: &'a Path) -> Result<Self, String> {
        let target = metadata::target_folder(root)?;
        let tree = Path::new(&target).join("mutants/tree");
        let files = tidy::tracked(root)?;
        copy(root, &tree, &files)
            .and_then(|()| lend(root, &tree))
            .map_err(|error| format!("{}: {error}", tree.display()))?;
        Ok(Self {
            root,
            tree,
            packages: metadata::workspace(root)?,
            target,
        })
    }

    /// Tries mutants of the crate in `folder`: with the tests that are named, or first with those beside the code and then, where these
    /// did not notice, with those of `tests/`.
    fn try_all(
        &self,
        folder: &str,
        names: Vec<String>,
        tests: &[String],
        report: &mut Report,
    ) -> Result<Outcome, String> {
        if !tests.is_empty() {
            let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
            return self.try_with(folder, &names, &tests, report);
        }
        let slow = |name: &&String| SLOW.iter().any(|(file, _)| name.starts_with(file));
        let (for_slow, quick): (Vec<&String>, Vec<&String>) = names.iter().partition(slow);
        let mut skip = vec!["--lib", "--"];
        skip.extend(SLOW.iter().flat_map(|(_, test)| ["--skip", test]));
        let mut outcome = Outcome::default();
        for (names, tests) in [(quick, &skip[..]), (for_slow, &["--lib"])] {
            if !names.is_empty() {
                let names: Vec<String> = names.into_iter().cloned().collect();
                outcome.add(self.try_with(folder, &names, tests, report)?);
            }
        }
        let first = FIRST.iter().filter(|(of, _)| *of == folder);
        for tests in first.map(|(_, tests)| *tests).chain(["--test=*"]) {
            let left = std::mem::take(&mut outcome.missed);
            if !left.is_empty() {
                outcome.add(self.try_with(folder, &left, &[tests], report)?);
            }
        }
        Ok(outcome)
    }

    fn try_with(
        &self,
        folder: &str,
        names: &[String],
        tests: &[&str],
        report: &mut Report,
    ) -> Result<Outcome, String> {
        let here = self.root.join(folder);
        let package = self
            .packages
            .iter()
            .find(|package| Path::new(&package.folder) == here)
            .ok_or_else(|| format!("{folder}: found no crate there"))?;
        let out = format!("{}/mutants/{}", self.target, package.name);
        fs::create_dir_all(&out).map_err(|error| format!("{out}: {error}"))?;
        let features = metadata::test_features(std::slice::from_ref(package));
        let mut arguments = words(&["mutants", "--in-place", "--colors=never"]);
        arguments.extend(words(&PATIENCE));
        arguments.push(format!("--dir={}", self.tree.display()));
        arguments.push(format!("--output={out}"));
        arguments.push(format!("--package={}", package.name));
        if !features.is_empty() {
            arguments.push(format!("--features={features}"));
        }
        for (key, value) in CHEAP {
            let key = key.replace("CRATE", &package.name);
            arguments.push(format!("--cargo-arg=--config=profile.dev.{key}={value}"));
        }
        let mut parts = tests.splitn(2, |word| *word == "--");
        let (cargo, own) = (parts.next(), parts.next());
        arguments.extend(
            cargo
                .into_iter()
                .flatten()
                .map(|test| format!("--cargo-arg={test}")),
        );
        if let Some(own) = own {
            arguments.push("--cargo-test-arg=--".to_owned());
            arguments.extend(own.iter().map(|test| format!("--cargo-test-arg={test}")));
        }
        let diff = format!("{out}/chosen.diff");
        let lines = lines_of(&self.tree, names)?;
        fs::write(&diff, lines).map_err(|error| format!("{diff}: {error}"))?;
        arguments.push(format!("--in-diff={diff}"));
        // Names are what cargo-mutants tells them apart by; a line number is part of them.
        arguments.extend(names.iter().map(|name| format!("--re={}", literally(name))));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        report.tell(&format!(
            "{}: {} mutants, {}",
            package.name,
            names.len(),
            tests.join(" ")
        ));
        let done = Call::new(self.root, "cargo", &arguments)
            .env("CARGO_TARGET_DIR", &self.target)
            .run(|passed, last| report.tell(&format!("{} s: {last}", passed.as_secs())));
        let mut outcome = Outcome::read(&Path::new(&out).join("mutants.out"))?;
        // Each has come to something: the tests pass without mistakes, and nobody stopped it.
        match outcome.keep(names) == names.len() {
            true => Ok(outcome),
            false => Err(format!(
                "cargo-mutants did not get to its end:\n{}",
                done.output
            )),
        }
    }
}

/// How the crate in question is built: quickly.
const CHEAP: [(&str, &str); 2] = [("package.CRATE.opt-level", "0"), ("debug", "false")];

/// The lines of the mutants called `names` as a diff that adds them: cargo-mutants passes over what is not in it. Its expressions alone
/// would do, were there not mutants (of fields of structs) that they are not asked about.
fn lines_of(tree: &Path, names: &[String]) -> Result<String, String> {
    let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for name in names {
        let mut parts = name.split(':');
        let (file, line) = (parts.next(), parts.next());
        let place = file.zip(line.and_then(|line| line.parse().ok()));
        let (file, line) = place.ok_or_else(|| format!("`{name}` names no line"))?;
        places.entry(file).or_default().insert(line);
    }
    let mut diff = String::new();
    for (file, lines) in places {
        let path = tree.join(file);
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        diff.push_str(&format!("--- a/{file}\n+++ b/{file}\n"));
        for (added, line) in lines.into_iter().enumerate() {
            let before = line - added - 1;
            let text = text.lines().nth(line - 1).unwrap_or_default();
            diff.push_str(&format!("@@ -{before},0 +{line},1 @@\n+{text}\n"));
        }
    }
    Ok(diff)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// What setup has installed at the top of the repository is at the top of the copy, too: tests look for other programs there.
fn lend(from: &Path, to: &Path) -> io::Result<()> {
    for name in INSTALLED {
        let (there, here) = (from.join(name), to.join(name));
        if there.exists() && fs::symlink_metadata(&here).is_err() {
            std::os::unix::fs::symlink(there, here)?;
        }
    }
    Ok(())
}

/// Brings `to` up to date with the `files` of `from`: those that differ are written, so that cargo sees no change where there is none;
/// what is no longer there is removed. Links are left as they are, and what they lead to.
fn copy(from: &Path, to: &Path, files: &[String]) -> io::Result<()> {
    for file in files {
        let (source, copy) = (from.join(file), to.join(file));
        let bytes = fs::read(source)?;
        if fs::read(&copy).is_ok_and(|held| held == bytes) {
            continue;
        }
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(copy, bytes)?;
    }
    let known: BTreeSet<PathBuf> = files.iter().map(|file| to.join(file)).collect();
    let mut folders = vec![to.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                continue;
            } else if !known.contains(&path) {
                fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}

/// A regular expression that matches this text alone.
fn literally(text: &str) -> String {
    let mut out = String::from("^");
    for character in text.chars() {
        // Not all that is no letter: `\<` and `\>` are ends of words.
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
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
    fn mutants_are_tried_crate_by_crate() {
        let names = ["crates/a/src/x.rs:1:2: z", "crates/b/src/y.rs:3:4: z"];
        let folders = by_folder(words(&names));
        let folders: Vec<&String> = folders.keys().collect();
        assert_eq!(folders, ["crates/a", "crates/b"]);
    }

    #[test]
    fn what_was_noticed_is_counted_of_what_could_be_built() {
        let outcome = Outcome {
            caught: words(&["a", "b"]),
            timed_out: words(&["c"]),
            unviable: words(&["d", "e"]),
            missed: words(&["f"]),
        };
        let lines = outcome.lines();
        assert_eq!(lines[0], "not noticed: f");
        assert!(lines[1].starts_with("3 of 4 viable mutants noticed (75.0 %), 1 of them"));
        assert_eq!(lines[2], "of a sample: 30.1 to 95.4 % of all");
        let mut few = outcome;
        assert_eq!(few.keep(&words(&["a", "f", "g"])), 2);
        assert_eq!((few.caught, few.timed_out), (words(&["a"]), Vec::new()));
    }

    #[test]
    fn lines_of_mutants_are_a_diff_that_adds_them() {
        let folder = std::env::temp_dir().join(format!("covey-lines-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.rs"), "one\ntwo\nthree\n").unwrap();
        let diff = lines_of(
            &folder,
            &words(&["a.rs:3:1: x", "a.rs:1:9: y", "a.rs:3:7: z"]),
        );
        assert_eq!(
            diff.unwrap(),
            "--- a/a.rs\n+++ b/a.rs\n@@ -0,0 +1,1 @@\n+one\n@@ -1,0 +3,1 @@\n+three\n"
        );
        assert!(
            lines_of(&folder, &words(&["a.rs"]))
                .unwrap_err()
                .contains("no line")
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_copy_follows_and_leaves_alone_what_is_the_same() {
        let folder = std::env::temp_dir().join(format!("covey-mutants-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        fs::write(from.join("src/a.rs"), "a").unwrap();
        fs::write(from.join("b.rs"), "b").unwrap();
        copy(&from, &to, &words(&["src/a.rs", "b.rs"])).unwrap();
        let written = |file: &str| fs::metadata(to.join(file)).unwrap().modified().unwrap();
        let before = (written("src/a.rs"), written("b.rs"));
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(from.join("b.rs"), "other").unwrap();
        copy(&from, &to, &words(&["src/a.rs", "b.rs"])).unwrap();
        assert_eq!(fs::read_to_string(to.join("b.rs")).unwrap(), "other");
        assert_eq!(written("src/a.rs"), before.0);
        assert!(written("b.rs") > before.1);
        copy(&from, &to, &words(&["b.rs"])).unwrap();
        assert!(!to.join("src/a.rs").exists());
        // What was installed is there as well, and no copy takes anything away from it.
        fs::create_dir_all(from.join(INSTALLED[0])).unwrap();
        let tool = Path::new(INSTALLED[0]).join("tool");
        fs::write(from.join(&tool), "tool").unwrap();
        for _ in 0..2 {
            lend(&from, &to).unwrap();
            copy(&from, &to, &words(&["b.rs"])).unwrap();
            assert_eq!(fs::read_to_string(to.join(&tool)).unwrap(), "tool");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_become_expressions_that_match_them_alone() {
        assert_eq!(
            literally("a.rs:1:2: replace f -> Vec<u8> with vec![1]"),
            r"^a\.rs:1:2: replace f \-> Vec<u8> with vec!\[1\]$"
        );
    }
}
