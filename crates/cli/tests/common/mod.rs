//! The real binary, as a user calls it.

#![allow(dead_code)] // Every test program uses its own part of this.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a call left behind.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `covey` with these arguments and this standard input, and sees to it that no panic reaches the user.
pub(crate) fn covey<A: AsRef<OsStr>>(arguments: &[A], stdin: impl AsRef<[u8]>) -> Call {
    call(Path::new(env!("CARGO_BIN_EXE_covey")), arguments, stdin)
}

/// The same with another program.
pub(crate) fn call<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    stdin: impl AsRef<[u8]>,
) -> Call {
    let mut child = Command::new(program)
        .args(arguments)
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("covey starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A call that is refused for its arguments reads nothing, which closes the pipe.
    let _ = pipe.write_all(stdin.as_ref());
    drop(pipe);
    let output = child.wait_with_output().expect("covey ends");
    let call = Call {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("results are UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    };
    call.is_calm();
    call
}

/// Runs `covey` with a standard output that nobody reads.
pub(crate) fn covey_unread(arguments: &[&str], stdin: &str) -> Call {
    let mut child = Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("covey starts");
    // Gone before covey can have written: it still waits for its input, or else writes into a closed pipe.
    drop(child.stdout.take());
    let mut pipe = child.stdin.take().expect("a pipe");
    let _ = pipe.write_all(stdin.as_bytes());
    drop(pipe);
    let mut stderr = String::new();
    let mut messages = child.stderr.take().expect("a pipe");
    messages.read_to_string(&mut stderr).expect("UTF-8");
    let call = Call {
        code: child.wait().expect("covey ends").code(),
        stdout: String::new(),
        stderr,
    };
    call.is_calm();
    call
}

impl Call {
    fn is_calm(&self) {
        for alarm in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!self.stderr.contains(alarm), "{self:?}");
        }
        assert!(self.code.is_some(), "ended by a signal: {self:?}");
    }

    /// The call did its work in silence.
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self.stdout
    }

    /// The call was refused as wrong input: exit code 2, no result, a message with all of `names`.
    pub(crate) fn refused(self, names: &[&str]) {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        for name in names {
            assert!(self.stderr.contains(name), "no {name:?} in {self:?}");
        }
    }
}

/// A fresh directory that goes away with the test.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// `name` must be the test's own.
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file for the test");
        path.display().to_string()
    }

    /// The path of something in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A scenario of some thirty vehicles at the toy junction, beside which a plan may lie.
pub(crate) fn toy(directory: &Directory) -> String {
    let toy = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/toy/blind-junction/blind-junction"
    );
    directory.file(
        "scenario.toml",
        format!(
            "name = \"toy\"\n[map]\nnet = \"{toy}.net.xml\"\nbuildings = [\"{toy}.poly.xml\"]\n\
             [traffic]\nmain_density = 20.0\nside_density = 20.0\nwarmup_s = 2.0\ndead_ends = \"avoid\"\n"
        ),
    )
}

/// A short run of two arms, in silence.
pub(crate) fn run_arguments<'a>(scenario: &'a str, out: &'a str) -> Vec<&'a str> {
    vec![
        "run",
        scenario,
        "--arm",
        "proposed@0.4",
        "--arm",
        "oracle",
        "--warmup",
        "0.4",
        "--measure",
        "1",
        "--quiet",
        "--out",
        out,
    ]
}

/// The content of a file.
pub(crate) fn read(path: impl AsRef<Path>) -> Vec<u8> {
    let path = path.as_ref();
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The summary without what differs from run to run.
pub(crate) fn summary(out: &str) -> serde_json::Value {
    let mut json: serde_json::Value =
        serde_json::from_slice(&read(format!("{out}/summary.json"))).expect("JSON");
    let object = json.as_object_mut().expect("an object");
    object.remove("timing").expect("timing");
    object.remove("peak_rss_bytes").expect("memory");
    json
}

/// Results that a sweep has finished.
pub(crate) fn finished(out: &str) -> usize {
    let seeds = Path::new(out).join("seeds");
    if !seeds.exists() {
        return 0;
    }
    let files = walk(&seeds);
    files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "zst"))
        .count()
}

/// All files under a folder.
pub(crate) fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(walk(&path)),
            path => files.push(path),
        }
    }
    files
}

/// Waits until something is so, not for ever.
pub(crate) fn wait_for(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(
            begin.elapsed() < Duration::from_secs(120),
            "waited too long"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
