//! What went wrong, and the exit code that says whose turn it is.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::program::Program;

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) enum Failure {
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
    #[allow(clippy::print_stderr)] // This is where errors reach a person.
    pub(crate) fn report(self, program: &Program) -> ExitCode {
        let (text, code) = match self {
            Self::Input(text) => (text, 2),
            Self::Other(text) => (text, 1),
        };
        eprintln!("error: {}", program.named(&text));
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

/// Tells the user something on standard error: progress, or a remark.
#[allow(clippy::print_stderr)] // Diagnostics go there.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// Writes a file under a temporary name and renames it, so that nobody ever sees half of it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = Path::new(&temporary);
    std::fs::write(temporary, bytes)
        .and_then(|()| std::fs::rename(temporary, path))
        .map_err(|error| {
            // A left-over does no harm, and there is nothing more to be done about it.
            let _ = std::fs::remove_file(temporary);
            Failure::Other(format!("{}: cannot be written: {error}", path.display()))
        })
}
