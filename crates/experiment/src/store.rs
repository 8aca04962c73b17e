//! Results of single (world, seed) pairs, each in a file of its own: what makes interruptions harmless.
//!
//! ```text
//! DIR/seeds/<fingerprint>/<seed>.json.zst    one finished seed with all arms
//! DIR/stale/<fingerprint>/...                what another revision or other parameters made
//! ```
//! The fingerprint names everything that a result depends on, except the seed. So a file that is there under the right
//! fingerprint is the result, and nothing else can be taken for it. Any number of processes may work on one folder: a file
//! written twice is written with the same results.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use covey_simulator::{CycleRow, Outcome, SharedOutcome, Timing};
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};

/// Version of the files; part of the fingerprint, so old ones are set aside.
const FORMAT: &str = "covey.seed/1";

/// Everything that a result depends on, except the seed, as 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of named parts. Order counts.
    #[must_use]
    pub fn new<'a>(parts: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut part = |name: &str, bytes: &[u8]| {
            // Lengths, so that no two lists of parts run together into the same bytes.
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part("format", FORMAT.as_bytes());
        for (name, bytes) in parts {
            part(name, bytes);
        }
        Self(hasher.finalize().to_hex()[..32].to_string())
    }

    /// As it stands in names of folders.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The result of one seed, as its file has it: what the simulator's `SeedOutcome` tells, the seed itself, by which a file is
/// checked, and the CPU time of all threads that worked on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedResult {
    /// Which seed, so that a file under a wrong name is found out.
    pub seed: u64,
    /// What all arms share.
    pub shared: SharedOutcome,
    /// Outcome of every arm, in the same order on every seed.
    pub arms: Vec<Outcome>,
    /// The cycles of every arm.
    pub cycles: Vec<Vec<CycleRow>>,
    /// CPU time by phase: the one part that differs from run to run.
    pub timing: Timing,
    /// CPU seconds of all threads.
    pub cpu_s: f64,
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    format: String,
    fingerprint: String,
    result: T,
}

/// The results under one folder.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// What was found in a folder that is about to be used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Results of other revisions or parameters, set aside.
    pub stale: usize,
    /// Where they are now.
    pub stale_folder: PathBuf,
}

impl Store {
    /// The store of the results folder `folder`, which is made if need be. Results that belong to none of `current` are set
    /// aside; left-overs of ended processes are not touched, for they may belong to one that still works.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn open(
        folder: &Path,
        current: &BTreeSet<Fingerprint>,
    ) -> Result<(Self, Found), FileError> {
        let store = Self {
            folder: folder.to_path_buf(),
        };
        let seeds = store.seeds();
        files::make_folder(&seeds)?;
        let stale_folder = folder.join("stale");
        let mut found = Found {
            stale: 0,
            stale_folder: stale_folder.clone(),
        };
        let entries = fs::read_dir(&seeds).map_err(FileError::new(&seeds, "cannot be read"))?;
        for entry in entries {
            let entry = entry.map_err(FileError::new(&seeds, "cannot be read"))?;
            let name = entry.file_name();
            if current.iter().any(|f| name == f.as_str()) {
                continue;
            }
            found.stale += count_results(&entry.path());
            set_aside(&entry.path(), &stale_folder)?;
        }
        for fingerprint in current {
            files::make_folder(&seeds.join(fingerprint.as_str()))?;
        }
        Ok((store, found))
    }

    /// Sets aside a file of the folder that other runs made than those at hand.
    ///
    /// # Errors
    /// It cannot be moved.
    pub fn set_aside(&self, file: &Path) -> Result<(), FileError> {
        set_aside(file, &self.folder.join("stale"))
    }

    /// A store for reading alone: nothing is made or moved.
    #[must_use]
    pub fn existing(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
        }
    }

    fn seeds(&self) -> PathBuf {
        self.folder.join("seeds")
    }

    /// Where the result of a seed is.
    #[must_use]
    pub fn path(&self, fingerprint: &Fingerprint, seed: u64) -> PathBuf {
        self.seeds()
            .join(fingerprint.as_str())
            .join(format!("{seed:06}.json.zst"))
    }

    /// The seed is finished, as far as the folder tells.
    #[must_use]
    pub fn has(&self, fingerprint: &Fingerprint, seed: u64) -> bool {
        self.path(fingerprint, seed).is_file()
    }

    /// Keeps a result under its fingerprint and seed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&self, fingerprint: &Fingerprint, result: &SeedResult) -> Result<(), FileError> {
        let path = self.path(fingerprint, result.seed);
        files::write_with(&path, |out| {
            let mut packed = zstd::Encoder::new(out, 3)?;
            packed.include_checksum(true)?;
            serde_json::to_writer(
                &mut packed,
                &Stored {
                    format: FORMAT.to_string(),
                    fingerprint: fingerprint.as_str().to_string(),
                    result,
                },
            )?;
            packed.finish()?.flush()
        })
    }

    /// The result of a seed; none if it is not finished. A file that is damaged is set aside and counts as not finished.
    ///
    /// # Errors
    /// A file is there but cannot be read or set aside.
    pub fn get(
        &self,
        fingerprint: &Fingerprint,
        seed: u64,
    ) -> Result<Option<SeedResult>, FileError> {
        let path = self.path(fingerprint, seed);
        let packed = match fs::read(&path) {
            Ok(packed) => packed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::new(&path, "cannot be read")(error)),
        };
        match decode(&packed) {
            Some(stored)
                if stored.fingerprint == fingerprint.as_str() && stored.result.seed == seed =>
            {
                Ok(Some(stored.result))
            }
            _ => {
                set_aside(&path, &self.folder.join("stale"))?;
                Ok(None)
            }
        }
    }
}

/// Unpacked results are a few megabytes; what grows beyond this is not one.
const MOST_BYTES: u64 = 4 << 30;

fn decode(packed: &[u8]) -> Option<Stored<SeedResult>> {
    let mut text = Vec::new();
    zstd::Decoder::new(packed)
        .ok()?
        .take(MOST_BYTES)
        .read_to_end(&mut text)
        .ok()?;
    let stored: Stored<SeedResult> = serde_json::from_slice(&text).ok()?;
    (stored.format == FORMAT).then_some(stored)
}

fn count_results(path: &Path) -> usize {
    fs::read_dir(path).map_or(0, |entries| {
        entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".json.zst"))
            .count()
    })
}

/// Moves a file or folder into `stale`, under its own name or, if that is taken, with a number. That another process was
/// quicker is fine.
fn set_aside(path: &Path, stale: &Path) -> Result<(), FileError> {
    files::make_folder(stale)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut target = stale.join(&*name);
    let mut number = 1;
    while target.exists() {
        number += 1;
        target = stale.join(format!("{name}.{number}"));
    }
    match fs::rename(path, &target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::new(path, "cannot be set aside")(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::files::tests::Folder;

    pub(crate) fn result(seed: u64) -> SeedResult {
        SeedResult {
            seed,
            shared: SharedOutcome {
                seed,
                vehicles: 3,
                ..SharedOutcome::default()
            },
            arms: vec![Outcome {
                arm: "cam-only".to_string(),
                seed,
                ..Outcome::default()
            }],
            cycles: vec![Vec::new()],
            timing: Timing::default(),
            cpu_s: 0.1 + 0.2,
        }
    }

    fn fingerprint(revision: &str) -> Fingerprint {
        Fingerprint::new([("revision", revision.as_bytes())])
    }

    #[test]
    fn results_come_back_as_they_were() {
        let folder = Folder::new("store");
        let print = fingerprint("a");
        let (store, found) = Store::open(&folder.0, &[print.clone()].into()).unwrap();
        assert_eq!(found.stale, 0);
        assert_eq!(store.get(&print, 7).unwrap(), None);
        store.put(&print, &result(7)).unwrap();
        assert!(store.has(&print, 7));
        assert_eq!(store.get(&print, 7).unwrap(), Some(result(7)));
    }

    #[test]
    fn results_of_another_fingerprint_are_set_aside_and_kept() {
        let folder = Folder::new("store-stale");
        let (old, new) = (fingerprint("a"), fingerprint("b"));
        for round in 1..=2 {
            let (store, _) = Store::open(&folder.0, &[old.clone()].into()).unwrap();
            store.put(&old, &result(1)).unwrap();
            store.put(&old, &result(2)).unwrap();
            let (store, found) = Store::open(&folder.0, &[new.clone()].into()).unwrap();
            assert_eq!(found.stale, 2, "round {round}");
            assert!(!store.has(&old, 1));
        }
        assert_eq!(fs::read_dir(folder.0.join("stale")).unwrap().count(), 3);
    }

    #[test]
    fn damaged_files_are_never_results() {
        let folder = Folder::new("store-damaged");
        let print = fingerprint("a");
        let (store, _) = Store::open(&folder.0, &[print.clone()].into()).unwrap();
        store.put(&print, &result(1)).unwrap();
        let path = store.path(&print, 1);
        let whole = fs::read(&path).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(store.get(&print, 1).unwrap(), None, "cut at {cut}");
            assert!(!store.has(&print, 1));
        }
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        fs::write(&path, &flipped).unwrap();
        assert_eq!(store.get(&print, 1).unwrap(), None);
        // Somebody else's file under this name.
        fs::write(&path, &whole).unwrap();
        fs::rename(&path, store.path(&print, 2)).unwrap();
        assert_eq!(store.get(&print, 2).unwrap(), None);
    }

    #[test]
    fn parts_do_not_run_together() {
        let f = |a: &[u8], b: &[u8]| Fingerprint::new([("x", a), ("y", b)]);
        assert_ne!(f(b"ab", b"c"), f(b"a", b"bc"));
        assert_eq!(f(b"ab", b"c"), f(b"ab", b"c"));
    }
}
