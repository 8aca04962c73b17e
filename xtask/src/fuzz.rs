//! Fuzzing guided by coverage on a stable toolchain: builds `fuzz/examples/guided.rs` with LLVM's counters and runs libFuzzer for each
//! target.
//!
//! Counters are in our crates alone (and in what they make of others' generic code): this program stands between cargo and the compiler
//! for them and adds the options, so that everything else is what the tests have built already.
//!
//! Targets are the folders of `fuzz/corpus`. What libFuzzer finds on its way is kept in `target/fuzz-corpus`, from where the next
//! search goes on; `--keep` puts the smallest set of inputs with the same coverage into `fuzz/corpus`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata;
use crate::process::Call;
use crate::report::Counts;
use crate::step_report::Report;

/// How to use it.
pub(crate) const HELP: &str = "\
Lets libFuzzer search for inputs that break a promise, guided by coverage, on a stable toolchain.

Usage: cargo xtask fuzz [--seconds N] [--runs N] [--seed N] [--keep] [TARGET]...
       cargo xtask fuzz --replay TARGET FILE...

  --seconds N   so long per target (60; 0: no limit)
  --runs N      at most so many inputs per target (no limit; 0: only what is kept already)
  --seed N      libFuzzer's own seed (by the revision)
  --keep        put the smallest inputs with the same coverage into fuzz/corpus, 32 kB a target
  --replay      run a target on given files

Without TARGET, all of them: the folders of fuzz/corpus. An input that fails is written to
fuzz/artifacts/TARGET/ with the command that runs it again.

Examples:
  cargo xtask fuzz cam cpm --seconds 600
  cargo xtask fuzz --runs 10000000 --seconds 0 --keep
";

/// What makes LLVM put counters into the code that libFuzzer reads, without a nightly compiler. Dead code is left out: libFuzzer looks at
/// all counters after every input, used or not.
const COUNTERS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cdebuginfo=line-tables-only",
    "--cfg=fuzzing",
];

/// Tells libFuzzer what numbers and texts are compared with, so that it finds words and magic numbers.
const COMPARES: &str = "-Cllvm-args=-sanitizer-coverage-trace-compares";

/// Crates that inputs spend their time in: optimised. A little optimisation builds as quickly as none in the others.
const OPTIMISED: [&str; 5] = [
    "covey_fuzz",
    "covey_its",
    "covey_parameters",
    "covey_protocol",
    "covey_world",
];

/// Reads bit by bit: there are no words to find, and most of its time would go into telling of comparisons.
const BITWISE: &str = "covey_its";

/// Inputs that are kept of a target, in bytes, the smallest first: replaying them is a matter of a second, and they are read by nobody.
const KEPT_BYTES: u64 = 32 * 1024;

/// Set where this program is called in place of the compiler.
const AS_COMPILER: &str = "COVEY_FUZZ_COMPILER";

/// An input that takes longer than this, in seconds, has found a hang.
const HANG_S: &str = "-timeout=10";
/// A target that needs more than this, in megabytes, has found a leak.
const MEMORY_MB: &str = "-rss_limit_mb=2048";

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    seconds: u64,
    runs: Option<u64>,
    seed: Option<u64>,
    keep: bool,
    targets: Vec<String>,
    /// Files to run the one target on, instead of searching.
    replay: Vec<String>,
}

impl Search {
    /// What `cargo xtask test fuzz` does: everything that is kept, then a few seconds that differ from revision to revision.
    pub(crate) const fn short() -> Self {
        Self {
            seconds: 3,
            runs: None,
            seed: None,
            keep: false,
            targets: Vec::new(),
            replay: Vec::new(),
        }
    }

    /// Reads the arguments of `cargo xtask fuzz`.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut search = Self {
            seconds: 60,
            ..Self::short()
        };
        if let Some((first, rest)) = arguments.split_first()
            && first == "--replay"
        {
            let [target, files @ ..] = rest else {
                return Err("`--replay` needs a target and a file".to_owned());
            };
            if files.is_empty() {
                return Err(format!("`--replay {target}` needs a file"));
            }
            search.targets.push(target.clone());
            search.replay = files.to_vec();
            return Ok(search);
        }
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().map(String::as_str).unwrap_or_default();
                value
                    .parse::<u64>()
                    .map_err(|_| format!("`{word}` needs a whole number, found `{value}`"))
            };
            match word.as_str() {
                "--seconds" => search.seconds = number()?,
                "--runs" => search.runs = Some(number()?),
                "--seed" => search.seed = Some(number()?),
                "--keep" => search.keep = true,
                option if option.starts_with('-') => {
                    return Err(format!("there is no option `{option}`\n\n{HELP}"));
                }
                target => search.targets.push(target.to_owned()),
            }
        }
        Ok(search)
    }
}

/// Builds the program and runs it for every target of `search`.
pub(crate) fn run(root: &Path, search: &Search, report: &mut Report) {
    let known = match names(&root.join("fuzz/corpus")) {
        Ok(known) => known,
        Err(error) => return report.fail(&format!("fuzz/corpus: {error}")),
    };
    if let Some(stranger) = search.targets.iter().find(|name| !known.contains(name)) {
        return report.fail(&format!(
            "there is no target `{stranger}`; targets are {}",
            known.join(", ")
        ));
    }
    let Some(program) = build(root, report) else {
        return;
    };
    let chosen: &[String] = if search.targets.is_empty() {
        &known
    } else {
        &search.targets
    };
    let seed = search.seed.unwrap_or_else(|| seed_of_revision(root));
    let mut counts = Counts::default();
    for name in chosen {
        let guided = Guided {
            root,
            program: &program,
            name,
        };
        match guided.search(search, seed, report) {
            Ok(line) => {
                report.tell(&line);
                counts.passed += 1;
            }
            Err(error) => {
                report.fail(&error);
                counts.failed += 1;
            }
        }
    }
    report.count_or_fail(Some(counts), "the fuzz targets");
}

/// The program with counters in all of our code.
fn build(root: &Path, report: &mut Report) -> Option<PathBuf> {
    let built = metadata::target_folder(root).and_then(|folder| {
        let packages = metadata::workspace(root)?;
        let this = std::env::current_exe().map_err(|error| format!("cargo xtask: {error}"))?;
        Ok((folder, metadata::test_features(&packages), this))
    });
    let (folder, features, this) = match built {
        Ok(found) => found,
        Err(error) => {
            report.fail(&error);
            return None;
        }
    };
    // The features of the tests: other ones would build half of the dependencies anew.
    let features = format!("{features},covey-fuzz/libfuzzer");
    let arguments = [
        "build",
        "--locked",
        "--workspace",
        "--features",
        &features,
        "--example",
        "guided",
    ];
    report.call(
        Call::new(root, "cargo", &arguments)
            .env(AS_COMPILER, "1")
            .env("RUSTC_WORKSPACE_WRAPPER", &this.to_string_lossy()),
    );
    (!report.failed()).then(|| PathBuf::from(folder).join("debug/examples/guided"))
}

/// Where cargo calls this program in place of the compiler: what the compiler is to be called with.
pub(crate) fn compiler_call() -> Option<Vec<String>> {
    std::env::var_os(AS_COMPILER)?;
    let call: Vec<String> = std::env::args().skip(1).collect();
    // As a task it is called with the name of one; cargo names the compiler first.
    let compiler = Path::new(call.first()?).file_stem()?;
    (compiler == "rustc").then(|| with_counters(call))
}

/// The compiler's call with counters where it compiles a crate of ours that ends up in the program, not in a build script.
fn with_counters(mut call: Vec<String>) -> Vec<String> {
    let name = call
        .iter()
        .skip_while(|word| *word != "--crate-name")
        .nth(1);
    let ours = |name: &String| name.starts_with("covey") || name == "guided";
    let Some(name) = name.cloned().filter(ours) else {
        return call;
    };
    call.extend(COUNTERS.iter().map(|&word| word.to_owned()));
    if name != BITWISE {
        call.push(COMPARES.to_owned());
    }
    let level = match OPTIMISED.contains(&name.as_str()) {
        true => "-Copt-level=2",
        false => "-Copt-level=1",
    };
    call.push(level.to_owned());
    call
}

/// A seed that changes with every commit, and is the same for the same one.
fn seed_of_revision(root: &Path) -> u64 {
    let output = std::process::Command::new("git")
        .args(["rev-parse", "--short=7", "HEAD"])
        .current_dir(root)
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // libFuzzer takes 0 for "by the clock".
    text.ok()
        .and_then(|text| u64::from_str_radix(&text, 16).ok())
        .map_or(1, |seed| seed + 1)
}

/// The names in `folder`, sorted.
fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// One target and the program that runs it.
struct Guided<'a> {
    root: &'a Path,
    program: &'a Path,
    name: &'a str,
}

impl Guided<'_> {
    fn call(&self, arguments: &[&str]) -> Call {
        Call::new(self.root, &self.program.to_string_lossy(), arguments)
            .env("COVEY_FUZZ_TARGET", self.name)
    }

    fn folder(&self, under: &str) -> Result<PathBuf, String> {
        let folder = self.root.join(under).join(self.name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Searches, or replays; the line to show, or what went wrong.
    fn search(&self, search: &Search, seed: u64, report: &mut Report) -> Result<String, String> {
        if !search.replay.is_empty() {
            let files: Vec<&str> = search.replay.iter().map(String::as_str).collect();
            let output = self.finish(self.call(&files), report)?;
            return Ok(format!("{}: {}", self.name, last_line(&output)));
        }
        let grown = self.folder("target/fuzz-corpus")?;
        let kept = self.folder("fuzz/corpus")?;
        let artifacts = self.folder("fuzz/artifacts")?;
        let limits = [
            format!("-seed={seed}"),
            format!("-max_total_time={}", search.seconds),
            format!("-runs={}", search.runs.map_or(-1, u64::cast_signed)),
            format!("-artifact_prefix={}/", artifacts.display()),
            HANG_S.to_owned(),
            MEMORY_MB.to_owned(),
            "-print_final_stats=1".to_owned(),
            grown.to_string_lossy().into_owned(),
            kept.to_string_lossy().into_owned(),
        ];
        let arguments: Vec<&str> = limits.iter().map(String::as_str).collect();
        let call = self
            .call(&arguments)
            .env("COVEY_FUZZ_SEEDS", &grown.to_string_lossy());
        let output = self.finish(call, report)?;
        let mut line = format!("{}: ok, {}", self.name, figures(&output));
        if search.keep {
            let files = self.keep(&grown, &kept, report)?;
            line.push_str(&format!(", {files} files kept"));
        }
        Ok(line)
    }

    /// The fewest inputs that reach what those of both folders reach take the place of `kept`, as far as there is room.
    fn keep(&self, grown: &Path, kept: &Path, report: &mut Report) -> Result<usize, String> {
        let least = self.root.join("target/fuzz-least").join(self.name);
        let problem = |error: std::io::Error| format!("{}: {error}", kept.display());
        let _ = fs::remove_dir_all(&least);
        fs::create_dir_all(&least).map_err(problem)?;
        let folders = [&least, kept, grown].map(|folder| folder.to_string_lossy().into_owned());
        let mut arguments = vec![
            "-set_cover_merge=1",
            "-use_counters=0",
            "-use_cmp=0",
            HANG_S,
            MEMORY_MB,
        ];
        arguments.extend(folders.iter().map(String::as_str));
        self.finish(self.call(&arguments), report)?;
        // Inputs that a person named stay, whatever they cover.
        let named = |name: &str| name.len() != 40 || !name.bytes().all(|b| b.is_ascii_hexdigit());
        for name in names(kept).map_err(problem)? {
            if !named(&name) {
                fs::remove_file(kept.join(name)).map_err(problem)?;
            }
        }
        let mut files = Vec::new();
        for name in names(&least).map_err(problem)? {
            let size = fs::metadata(least.join(&name)).map_err(problem)?.len();
            files.push((size, name));
        }
        files.sort();
        let mut kept_bytes = 0;
        let mut count = 0;
        for (size, name) in &files {
            kept_bytes += size;
            if kept_bytes > KEPT_BYTES {
                break;
            }
            fs::copy(least.join(name), kept.join(name)).map_err(problem)?;
            count += 1;
        }
        Ok(count)
    }

    fn finish(&self, call: Call, report: &mut Report) -> Result<String, String> {
        let finished = call.run(|passed, last| {
            report.tell(&format!(
                "{}: {:.0} s, {last}",
                self.name,
                passed.as_secs_f64()
            ));
        });
        if finished.ok {
            return Ok(finished.output);
        }
        let tail: Vec<&str> = finished.output.lines().rev().take(40).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        Err(format!(
            "{name} FAILED:\n{}\n  the input is in fuzz/artifacts/{name}/; again: cargo xtask fuzz --replay {name} FILE\n  \
             once mended, keep it in fuzz/corpus/{name}/ under a name that says what it is",
            tail.join("\n"),
            name = self.name
        ))
    }
}

fn last_line(output: &str) -> &str {
    output.lines().next_back().unwrap_or_default()
}

/// `123456 inputs, 789 places covered, 45 per second` from what libFuzzer says in the end.
fn figures(output: &str) -> String {
    let stat = |name: &str| {
        output
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map_or("?", str::trim)
    };
    let covered = output
        .lines()
        .rev()
        .find_map(|line| line.split_once(" cov: "))
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or("?");
    format!(
        "{} inputs, {covered} places covered, {} a second",
        stat("stat::number_of_executed_units:"),
        stat("stat::average_exec_per_sec:")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Search, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Search::parse(&words)
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_named() {
        let search = parse(&["cam", "--runs", "7", "--keep"]).unwrap();
        assert_eq!(
            (search.runs, search.keep, search.seconds),
            (Some(7), true, 60)
        );
        assert_eq!(search.targets, ["cam"]);
        assert!(parse(&["--runs", "x"]).unwrap_err().contains("`x`"));
        assert!(parse(&["--fast"]).unwrap_err().contains("`--fast`"));
        assert!(parse(&["--replay", "cam"]).unwrap_err().contains("a file"));
        assert_eq!(parse(&["--replay", "cam", "a"]).unwrap().replay, ["a"]);
    }

    #[test]
    fn counters_are_in_our_crates_and_not_in_build_scripts() {
        let call = |name: &str| {
            let words = ["rustc", "--crate-name", name, "--edition=2024"];
            with_counters(words.map(str::to_owned).to_vec()).len()
        };
        assert_eq!(call("covey_protocol"), 4 + COUNTERS.len() + 2);
        assert_eq!(call("covey_its"), 4 + COUNTERS.len() + 1);
        assert_eq!(call("guided"), 4 + COUNTERS.len() + 2);
        assert_eq!(call("build_script_build"), 4);
        assert_eq!(
            with_counters(vec!["rustc".to_owned(), "-vV".to_owned()]).len(),
            2
        );
    }

    #[test]
    fn figures_come_from_the_final_lines() {
        let output = "#2 INITED cov: 12 ft: 13\n#9 DONE   cov: 34 ft: 50 corp: 3\n\
                      stat::number_of_executed_units: 99\nstat::average_exec_per_sec:     33\n";
        assert_eq!(figures(output), "99 inputs, 34 places covered, 33 a second");
    }
}
