//! Where SUMO is.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::error::SumoError;
use super::process::{Running, Stop};

/// Where to look for SUMO's programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// A list of folders as in `PATH`.
    pub path: Option<OsString>,
    /// As in `SUMO_HOME`: programs are in its `bin`.
    pub home: Option<PathBuf>,
    /// A `.venv` is sought in this folder and those above it.
    pub folder: Option<PathBuf>,
}

impl Search {
    /// As this process's environment says.
    #[must_use]
    pub fn here() -> Self {
        Self {
            path: env::var_os("PATH"),
            home: env::var_os("SUMO_HOME")
                .filter(|home| !home.is_empty())
                .map(PathBuf::from),
            folder: env::current_dir().ok(),
        }
    }

    /// The first place that has `program`, by its name (`sumo`, `netconvert`, ...).
    ///
    /// # Errors
    /// It is in none of them; the message says how to get it.
    pub fn program(&self, program: &str) -> Result<PathBuf, SumoError> {
        let on_path = self.path.iter().flat_map(env::split_paths);
        let in_home = self.home.iter().map(|home| home.join("bin"));
        let in_venvs = self
            .folder
            .iter()
            .flat_map(|folder| folder.ancestors())
            .flat_map(|folder| {
                let venv = folder.join(".venv");
                let mut folders = packaged(&venv);
                folders.push(venv.join("bin"));
                folders
            });
        on_path
            .chain(in_home)
            .chain(in_venvs)
            .map(|folder| folder.join(program))
            .find(|file| is_program(file))
            .map(|file| behind_wrapper(&file, program))
            .ok_or_else(|| SumoError::NotFound {
                program: program.to_owned(),
                home: match &self.home {
                    Some(home) => home.display().to_string(),
                    None => "not set".into(),
                },
            })
    }
}

/// The folders in which PyPI's package keeps SUMO's programs, in a given venv.
fn packaged(venv: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(venv.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .map(|entry| entry.path().join("site-packages/sumo/bin"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    folders
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The program itself where `file` is one of Python's starter scripts: a starter that is ended leaves SUMO running.
fn behind_wrapper(file: &Path, program: &str) -> PathBuf {
    let script = fs::read(file).is_ok_and(|content| content.starts_with(b"#!"));
    let venv = file.parent().and_then(Path::parent);
    match venv {
        Some(venv) if script => packaged(venv)
            .into_iter()
            .map(|folder| folder.join(program))
            .find(|file| is_program(file))
            .unwrap_or_else(|| file.to_owned()),
        _ => file.to_owned(),
    }
}

/// A SUMO that was found and told its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sumo {
    /// The program `sumo`.
    pub program: PathBuf,
    /// Its version, such as `1.28.0`.
    pub version: String,
    search: Search,
}

impl Sumo {
    /// Looks for SUMO where this process's environment says, and asks its version.
    ///
    /// # Errors
    /// It is not there, or does not run.
    pub fn find() -> Result<Self, SumoError> {
        Self::find_in(Search::here())
    }

    /// Looks for SUMO in given places.
    ///
    /// # Errors
    /// As for [`Self::find`].
    pub fn find_in(search: Search) -> Result<Self, SumoError> {
        let program = search.program("sumo")?;
        // SUMO is run in other folders.
        let program = std::path::absolute(&program).unwrap_or(program);
        let mut command = command(&program);
        command.arg("--version");
        let said = Running::start(command, Duration::from_secs(60), Stop::default())?.text()?;
        let version = version_in(&said).ok_or_else(|| SumoError::Failed {
            program: program.clone(),
            status: "its version could not be read".into(),
            said: said.lines().take(3).collect::<Vec<_>>().join("\n"),
        })?;
        Ok(Self {
            program,
            version,
            search,
        })
    }

    /// The version is this one or a later one.
    #[must_use]
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        let mut parts = self.version.split(['.', '-', '+']);
        let mut part = || {
            parts
                .next()
                .and_then(|p| p.parse::<u32>().ok())
                .unwrap_or(0)
        };
        (part(), part()) >= (major, minor)
    }

    /// Another of SUMO's programs (`netconvert`, `polyconvert`, `netgenerate`, ...): the one beside `sumo` if there is one.
    ///
    /// # Errors
    /// It is not installed.
    pub fn tool(&self, name: &str) -> Result<PathBuf, SumoError> {
        let beside = self.program.with_file_name(name);
        if is_program(&beside) {
            return Ok(beside);
        }
        self.search.program(name)
    }

    /// A command that runs one of SUMO's programs with the environment it needs.
    ///
    /// # Errors
    /// It is not installed.
    pub fn command(&self, name: &str) -> Result<Command, SumoError> {
        Ok(command(&self.tool(name)?))
    }
}

/// A command for one of SUMO's programs. Those of PyPI's package find their data by `SUMO_HOME`, which must be theirs.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let home = program.parent().and_then(Path::parent);
    if let Some(home) = home.filter(|home| home.join("data/xsd").is_dir()) {
        command.env("SUMO_HOME", home);
    }
    command
}

/// The version in what `sumo --version` says: `Eclipse SUMO sumo 1.28.0`, formerly `... Version 1.8.0`.
fn version_in(said: &str) -> Option<String> {
    let line = said.lines().find(|line| line.contains("SUMO"))?;
    line.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_both_spellings() {
        let of = |text| version_in(text).unwrap();
        assert_eq!(
            of("Eclipse SUMO sumo 1.28.0\n Build features: Linux-6.17"),
            "1.28.0"
        );
        assert_eq!(of("Eclipse SUMO sumo Version 1.8.0"), "1.8.0");
        assert_eq!(version_in("command not found"), None);
    }
}
