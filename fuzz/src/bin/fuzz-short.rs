//! A short run of every fuzz target on a stable toolchain: its corpus, its seeds, then random changes of both.
//!
//! The run depends on the seed alone, so that it finds the same today and tomorrow; the time limit only ends it earlier
//! on a slow machine. To search longer, raise `--iterations` and `--seconds`, and take another `--seed`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use covey_fuzz::mutate::{self, Draws};
use covey_fuzz::{TARGETS, Target};

const HELP: &str = "\
Runs fuzz targets for a short while, on a stable toolchain.

Usage: cargo run -p covey-fuzz --bin fuzz-short -- [OPTION]... [TARGET]...
       cargo run -p covey-fuzz --bin fuzz-short -- replay TARGET FILE...

  --iterations N   at most so many random inputs per target (50000)
  --seconds N      at most so long per target (3)
  --seed N         another random run (0)
  --list           list the targets

Without TARGET, all of them. `replay` runs a target on given files, for instance on one that
a failed run has written to fuzz/artifacts/TARGET/.
";

/// An input that takes longer than this has found a hang.
const HANG: Duration = Duration::from_secs(10);

struct Options {
    targets: Vec<&'static Target>,
    iterations: u64,
    time: Duration,
    seed: u64,
}

enum Task {
    Help,
    List,
    Fuzz(Options),
    Replay(&'static Target, Vec<PathBuf>),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match parse(&arguments) {
        Ok(Task::Help) => {
            print!("{HELP}");
            Ok(true)
        }
        Ok(Task::List) => {
            for target in TARGETS {
                println!("{}", target.name);
            }
            Ok(true)
        }
        Ok(Task::Fuzz(options)) => fuzz(&options),
        Ok(Task::Replay(target, files)) => replay(target, &files),
        Err(error) => {
            eprintln!("{error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Result<Task, String> {
    let find = |name: &str| {
        covey_fuzz::target(name).ok_or_else(|| format!("there is no target or option `{name}`"))
    };
    if let [replay, rest @ ..] = arguments
        && replay == "replay"
    {
        return match rest {
            [name, files @ ..] if !files.is_empty() => Ok(Task::Replay(
                find(name)?,
                files.iter().map(PathBuf::from).collect(),
            )),
            _ => Err("`replay` needs a target and a file".to_owned()),
        };
    }
    let mut options = Options {
        targets: Vec::new(),
        iterations: 50_000,
        time: Duration::from_secs(3),
        seed: 0,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().map(String::as_str).unwrap_or_default();
            value
                .parse::<u64>()
                .map_err(|_| format!("`{word}` needs a whole number, found `{value}`"))
        };
        match word.as_str() {
            "--help" | "-h" => return Ok(Task::Help),
            "--list" => return Ok(Task::List),
            "--iterations" => options.iterations = number()?,
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--seed" => options.seed = number()?,
            name => options.targets.push(find(name)?),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().collect();
    }
    Ok(Task::Fuzz(options))
}

/// Runs the targets one after the other; whether all passed.
fn fuzz(options: &Options) -> Result<bool, String> {
    let runner = Runner::start();
    let (mut passed, mut failed) = (0, 0);
    for target in &options.targets {
        // Printed before, so that an abort (a stack overflow, say) can be told to its target.
        eprintln!("{}: seed {} …", target.name, options.seed);
        let corpus = read_corpus(target)?;
        if fuzz_target(&runner, target, &corpus, options)? {
            passed += 1;
        } else {
            failed += 1;
        }
    }
    println!("{passed} targets passed, {failed} failed");
    Ok(failed == 0)
}

fn fuzz_target(
    runner: &Runner,
    target: &Target,
    corpus: &[(PathBuf, Vec<u8>)],
    options: &Options,
) -> Result<bool, String> {
    let name = target.name;
    let begin = Instant::now();
    for (path, bytes) in corpus {
        if let Err(message) = runner.run(target, bytes) {
            println!("{name}: FAILED on {}: {message}", path.display());
            return Ok(false);
        }
    }
    let mut pool = (target.seeds)();
    for (number, bytes) in pool.iter().enumerate() {
        if let Err(message) = runner.run(target, bytes) {
            return failure(
                target,
                bytes,
                &format!("its own seed input {number}"),
                &message,
            );
        }
    }
    pool.extend(corpus.iter().map(|(_, bytes)| bytes.clone()));
    let mut executions = 0;
    while executions < options.iterations && begin.elapsed() < options.time {
        let bytes = mutate::input(&pool, &mut Draws::new(options.seed, name, executions));
        if let Err(message) = runner.run(target, &bytes) {
            let which = format!("random input {executions} of seed {}", options.seed);
            return failure(target, &bytes, &which, &message);
        }
        executions += 1;
    }
    println!(
        "{name}: ok, {} corpus files, {executions} random inputs, {:.1} s",
        corpus.len(),
        begin.elapsed().as_secs_f64()
    );
    Ok(true)
}

/// Reports a failure and keeps the input. Always `Ok(false)`, unless the input cannot be kept.
fn failure(target: &Target, bytes: &[u8], which: &str, message: &str) -> Result<bool, String> {
    let name = target.name;
    let path = keep(target, bytes)?;
    println!("{name}: FAILED on {which}: {message}");
    println!("  again: cargo run -p covey-fuzz --bin fuzz-short -- replay {name} {path}");
    println!("  once mended, keep the input: cp {path} fuzz/corpus/{name}/");
    Ok(false)
}

/// Writes `bytes` to `fuzz/artifacts/TARGET/`; the path from the top of the repository.
fn keep(target: &Target, bytes: &[u8]) -> Result<String, String> {
    // FNV-1a: the same input gets the same name.
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    });
    let folder = package().join("artifacts").join(target.name);
    let file = format!("crash-{hash:016x}");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(&file), bytes))
        .map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
    Ok(format!("fuzz/artifacts/{}/{file}", target.name))
}

fn replay(target: &Target, files: &[PathBuf]) -> Result<bool, String> {
    let runner = Runner::start();
    let mut all = true;
    for path in files {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        match runner.run(target, &bytes) {
            Ok(()) => println!("{}: ok", path.display()),
            Err(message) => {
                println!("{}: FAILED: {message}", path.display());
                all = false;
            }
        }
    }
    Ok(all)
}

/// The corpus of `target`, by file name; empty if it has no folder.
fn read_corpus(target: &Target) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let folder = package().join("corpus").join(target.name);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_file() {
            let bytes = std::fs::read(&path).map_err(wrong)?;
            files.push((path, bytes));
        }
    }
    files.sort();
    Ok(files)
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs inputs, catches panics, and ends the program where an input takes too long.
struct Runner {
    current: Arc<Mutex<Option<Running>>>,
    message: Arc<Mutex<String>>,
}

struct Running {
    target: Target,
    bytes: Vec<u8>,
    since: Instant,
}

impl Runner {
    fn start() -> Self {
        let message = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&message);
        panic::set_hook(Box::new(move |info| *lock(&heard) = info.to_string()));
        let current: Arc<Mutex<Option<Running>>> = Arc::default();
        let watched = Arc::clone(&current);
        std::thread::spawn(move || watch(&watched));
        Self { current, message }
    }

    /// Runs `target` on `bytes`; the panic's message if it panicked.
    fn run(&self, target: &Target, bytes: &[u8]) -> Result<(), String> {
        *lock(&self.current) = Some(Running {
            target: *target,
            bytes: bytes.to_vec(),
            since: Instant::now(),
        });
        let result = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
        *lock(&self.current) = None;
        result.map_err(|_| std::mem::take(&mut *lock(&self.message)))
    }
}

fn watch(current: &Mutex<Option<Running>>) {
    loop {
        std::thread::sleep(HANG / 10);
        let guard = lock(current);
        if let Some(running) = &*guard
            && running.since.elapsed() > HANG
        {
            let message = format!("did not end within {} s", HANG.as_secs());
            if let Err(error) = failure(&running.target, &running.bytes, "an input", &message) {
                eprintln!("{error}");
            }
            std::process::exit(1);
        }
    }
}

/// Locks, whether or not somebody panicked with the lock held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
