//! A folder of results: who may write in it, what ended processes left in it, and which call made what lies on top.
//!
//! ```text
//! DIR/covey.json          which program and scenario made the summary, the tables and the report
//! DIR/earlier/REVISION    those of another program, which this one could not make again
//! DIR/.covey.lock         held by whoever writes; gone with the process, however that ends
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::store::set_apart;

const LOCK_FILE: &str = ".covey.lock";
const NOTE_FILE: &str = "covey.json";
const SCHEMA: &str = "covey.folder/1";
/// What lies on top of a folder and is made from its results.
const MADE: [&str; 12] = [
    "summary.json",
    "report.json",
    "report.html",
    "figures",
    "runs.parquet",
    "cycles.parquet",
    "arms.parquet",
    "paired.parquet",
    "runs.csv",
    "cycles.csv",
    "arms.csv",
    "paired.csv",
];
const SWEEP_FILE: &str = "sweep.json";
/// Where that of other programs goes.
pub const EARLIER: &str = "earlier";

/// Who writes in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// Nobody else may, meanwhile.
    Alone,
    /// Others may, too: shards of one plan, each on runs of its own.
    Together,
}

/// The right to write in a folder, until it is dropped or its process ends.
#[derive(Debug)]
pub struct Lock {
    /// Closing it gives the right back.
    _file: Option<File>,
    writing: Writing,
}

impl Lock {
    /// Asks for the right to write in `folder`, which is made if need be; none while somebody else has it. Where the file system
    /// knows no locks, everybody gets it.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn ask(folder: &Path, writing: Writing) -> Result<Option<Self>, FileError> {
        files::make_folder(folder)?;
        let path = folder.join(LOCK_FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(FileError::new(&path, "cannot be written"))?;
        let taken = match writing {
            Writing::Alone => file.try_lock(),
            Writing::Together => file.try_lock_shared(),
        };
        match taken {
            Ok(()) => {
                // Who it is, for those who find it taken; that it cannot be written is no reason to stop.
                let who = format!("process {} on {}\n", std::process::id(), files::host());
                let _ = file
                    .set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| file.write_all(who.as_bytes()));
                Ok(Some(Self {
                    _file: Some(file),
                    writing,
                }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(_)) => Ok(Some(Self {
                _file: None,
                writing,
            })),
        }
    }

    /// Who has the right, as far as the folder tells.
    #[must_use]
    pub fn holder(folder: &Path) -> Option<String> {
        let mut text = String::new();
        let file = File::open(folder.join(LOCK_FILE)).ok()?;
        file.take(200).read_to_string(&mut text).ok()?;
        Some(text.trim().to_string()).filter(|text| !text.is_empty())
    }

    /// Nobody else writes in the folder.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self._file.is_some() && self.writing == Writing::Alone
    }
}

/// Which call made what lies on top of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    schema: String,
    /// The program, by the hash of its file.
    pub program: String,
    /// The commit it was built from.
    pub revision: String,
    /// The scenario or plan, by its full path.
    pub source: String,
    /// The hash of the report that was written; empty where none was.
    #[serde(default)]
    pub report: String,
}

impl Note {
    /// The note of a program on a scenario or plan.
    #[must_use]
    pub fn new(program: &str, revision: &str, source: &Path) -> Self {
        let source = std::path::absolute(source).unwrap_or_else(|_| source.to_path_buf());
        Self {
            schema: SCHEMA.to_string(),
            program: program.to_string(),
            revision: revision.to_string(),
            source: source.display().to_string(),
            report: String::new(),
        }
    }

    /// The note in `folder`; none where there is none that can be read.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(NOTE_FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Puts the note into `folder`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        let path = folder.join(NOTE_FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| FileError::new(&path, "cannot be written")(error.into()))?;
        files::write(&path, format!("{text}\n").as_bytes())
    }
}

/// The commit that made a summary, as it says itself.
fn revision_in(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let json: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(json.get("revision")?.as_str()?.to_string())
}

/// Moves summary, tables and report of another program than `program` to a folder of their own, and says where. This program could
/// not make them again, and is about to write its own.
///
/// # Errors
/// Something cannot be moved.
pub fn set_earlier_apart(folder: &Path, program: &str) -> Result<Option<PathBuf>, FileError> {
    let all = || MADE.iter().chain([&SWEEP_FILE, &NOTE_FILE]);
    let note = Note::read(folder);
    let results = ["summary.json", SWEEP_FILE].map(|name| folder.join(name));
    let ours = note.as_ref().is_some_and(|note| note.program == program);
    if ours || !results.iter().any(|path| path.is_file()) {
        return Ok(None);
    }
    let revision = note
        .map(|note| note.revision)
        .or_else(|| results.iter().find_map(|path| revision_in(path)))
        .unwrap_or_else(|| "unknown".to_string());
    let name: String = revision
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let mut target = folder.join(EARLIER).join(&name);
    let mut number = 1;
    while target.exists() {
        number += 1;
        target = folder.join(EARLIER).join(format!("{name}.{number}"));
    }
    for name in all() {
        let path = folder.join(name);
        if path.exists() {
            set_apart(&path, &target)?;
        }
    }
    Ok(Some(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;

    #[test]
    fn one_writes_or_several_together() {
        let folder = Folder::new("lock");
        let ask = |writing| Lock::ask(&folder.0, writing).unwrap();
        let alone = ask(Writing::Alone).unwrap();
        assert!(alone.is_alone());
        assert!(ask(Writing::Alone).is_none() && ask(Writing::Together).is_none());
        let who = Lock::holder(&folder.0).unwrap();
        assert!(
            who.contains(&format!("process {}", std::process::id())),
            "{who}"
        );
        drop(alone);
        let one = ask(Writing::Together).unwrap();
        let two = ask(Writing::Together).unwrap();
        assert!(ask(Writing::Alone).is_none());
        drop((one, two));
        assert!(ask(Writing::Alone).is_some());
    }

    #[test]
    fn what_another_program_made_is_set_apart_and_kept() {
        let folder = Folder::new("earlier");
        let path = |name: &str| folder.0.join(name);
        assert_eq!(set_earlier_apart(&folder.0, "p").unwrap(), None);
        // As revisions before this one left it: without a note.
        fs::write(path("summary.json"), r#"{"revision":"0123abc"}"#).unwrap();
        fs::create_dir(path("figures")).unwrap();
        fs::write(path("figures/1.svg"), "one").unwrap();
        fs::write(path("notes.txt"), "the user's own").unwrap();
        let apart = set_earlier_apart(&folder.0, "p").unwrap().unwrap();
        assert_eq!(apart, path("earlier/0123abc"));
        assert!(!path("summary.json").exists() && path("notes.txt").is_file());
        assert_eq!(
            fs::read(apart.join("figures/1.svg")).unwrap(),
            b"one".to_vec()
        );
        // Its own it makes again.
        fs::write(path("summary.json"), "{}").unwrap();
        Note::new("p", "1", Path::new("x"))
            .write(&folder.0)
            .unwrap();
        assert_eq!(set_earlier_apart(&folder.0, "p").unwrap(), None);
        // Twice the same revision, another build.
        let again = set_earlier_apart(&folder.0, "q").unwrap().unwrap();
        assert_eq!(again, path("earlier/1"));
        fs::write(path("summary.json"), "{}").unwrap();
        Note::new("p", "1", Path::new("x"))
            .write(&folder.0)
            .unwrap();
        let again = set_earlier_apart(&folder.0, "q").unwrap().unwrap();
        assert_eq!(again, path("earlier/1.2"));
    }
}
