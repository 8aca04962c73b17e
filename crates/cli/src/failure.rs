//! What went wrong, and the exit code that says whose turn it is.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::program::Program;
use crate::terminal::{error_width, fold, output_width};

/// Why a command ended without its result.
#[derive(Debug)]
pub enum Failure {
    /// The input or the call was wrong: exit code 2. The text names the file, the field, what was found and expected.
    Input(String),
    /// Anything else: exit code 1.
    Other(String),
}

impl Failure {
    /// The input `name` is wrong.
    pub(crate) fn input(name: impl fmt::Display, problem: impl fmt::Display) -> Self {
        Self::Input(format!("{name}: {problem}"))
    }

    /// Tells the user and gives the exit code.
    pub(crate) fn report(self, program: &Program) -> ExitCode {
        let (text, code) = match self {
            Self::Input(text) => (text, 2),
            Self::Other(text) => (text, 1),
        };
        note(&format!("error: {}", program.named(&text)));
        ExitCode::from(code)
    }
}

/// The text of a file, or of standard input for `-`, and the name to call it by in messages.
pub(crate) fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let outcome = io::stdin().lock().read_to_end(&mut bytes);
        ("standard input".to_string(), outcome.map(|_| bytes))
    } else {
        (path.display().to_string(), std::fs::read(path))
    };
    let bytes = bytes.map_err(|error| Failure::input(&name, format!("cannot be read: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Failure::input(
            name,
            format!(
                "byte {} is not UTF-8 text",
                error.utf8_error().valid_up_to()
            ),
        )),
    }
}

/// Writes a result to standard output. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Other(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a result for people to standard output, in lines that fit the terminal where it is one.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    print(&fold(text, output_width()))
}

/// Tells the user something on standard error: progress, or a remark. That nobody listens is no reason to stop.
pub(crate) fn note(text: &str) {
    let text = fold(text, error_width());
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a file whole or not at all.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    covey_experiment::files::write(path, bytes).map_err(|error| Failure::Other(error.to_string()))
}
