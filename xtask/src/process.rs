//! Running other programs: their output is collected, so that a step that succeeds stays short and one that fails can
//! show everything.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long a program may run before a line says that it is still at work.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// What a program left behind.
pub(crate) struct Finished {
    /// It ran and its exit code was 0.
    pub(crate) ok: bool,
    /// Standard output and standard error, in the order in which lines arrived.
    pub(crate) output: String,
}

/// A command line to run at the top of the repository.
pub(crate) struct Call {
    command: Command,
    shown: String,
}

impl Call {
    /// `program` with `arguments`, to be run in `root`.
    pub(crate) fn new(root: &Path, program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::null());
        if program == "cargo" {
            // `cargo xtask` itself runs under cargo: what that told xtask about its own package is no business of
            // the packages built here.
            for (name, _) in std::env::vars_os() {
                if name.to_string_lossy().starts_with("CARGO_PKG_") {
                    command.env_remove(name);
                }
            }
            command
                .env_remove("CARGO_MANIFEST_DIR")
                .env_remove("CARGO_MANIFEST_PATH");
        }
        let shown = std::iter::once(program)
            .chain(arguments.iter().copied())
            .map(quote)
            .collect::<Vec<_>>()
            .join(" ");
        Self { command, shown }
    }

    /// The same with an environment variable set.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.shown = format!("{name}={} {}", quote(value), self.shown);
        self
    }

    /// The command line as one would type it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Runs it to its end. A program that cannot be started counts as failed, with the reason as its output.
    ///
    /// `progress` is called about once a minute with the time passed and the last line of output.
    pub(crate) fn run(mut self, mut progress: impl FnMut(Duration, &str)) -> Finished {
        let begin = Instant::now();
        let child = self
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                return Finished::failed(format!("cannot run `{}`: {error}\n", self.shown));
            }
        };
        let (sender, lines) = mpsc::channel::<String>();
        let readers = [
            child
                .stdout
                .take()
                .map(|pipe| forward(pipe, sender.clone())),
            child.stderr.take().map(|pipe| forward(pipe, sender)),
        ];
        let mut output = String::new();
        let mut last = String::new();
        let mut next = HEARTBEAT;
        loop {
            match lines.recv_timeout(next.saturating_sub(begin.elapsed())) {
                Ok(line) => {
                    output.push_str(&line);
                    if !line.trim().is_empty() {
                        last.clear();
                        last.push_str(line.trim());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    progress(begin.elapsed(), &last);
                    next = begin.elapsed() + HEARTBEAT;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        for reader in readers.into_iter().flatten() {
            // A reader only ends by reaching the end of its pipe: there is nothing to learn from it.
            let _ = reader.join();
        }
        match child.wait() {
            Ok(status) => {
                if !status.success() {
                    output.push_str(&format!("`{}`: {status}\n", self.shown));
                }
                Finished {
                    ok: status.success(),
                    output,
                }
            }
            Err(error) => Finished::failed(format!("{output}lost `{}`: {error}\n", self.shown)),
        }
    }

    /// Runs it silently and gives its standard output alone, or a message that holds everything it said.
    pub(crate) fn read(mut self) -> Result<String, String> {
        let output = self
            .command
            .output()
            .map_err(|error| format!("cannot run `{}`: {error}", self.shown))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!(
                "`{}`: {}\n{}{}",
                self.shown,
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ))
        }
    }
}

impl Finished {
    fn failed(output: String) -> Self {
        Self { ok: false, output }
    }
}

/// Sends the lines of `pipe` on; bytes that are not UTF-8 are replaced.
fn forward(
    pipe: impl Read + Send + 'static,
    lines: mpsc::Sender<String>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while matches!(pipe.read_until(b'\n', &mut line), Ok(n) if n > 0) {
            if lines
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
            line.clear();
        }
    })
}

/// `word` as a shell would want it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_exit_code_are_kept() {
        let call = Call::new(
            Path::new("."),
            "sh",
            &["-c", "echo out; echo err >&2; exit 3"],
        );
        assert_eq!(call.shown(), "sh -c 'echo out; echo err >&2; exit 3'");
        let done = call.run(|_, _| {});
        assert!(!done.ok);
        assert!(done.output.contains("out\n") && done.output.contains("err\n"));
        assert!(done.output.contains("exit status: 3"), "{}", done.output);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let done = Call::new(Path::new("."), "no-such-program-here", &[]).run(|_, _| {});
        assert!(!done.ok);
        assert!(done.output.contains("cannot run `no-such-program-here`"));
    }
}
