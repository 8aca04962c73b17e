//! Results of single (world, seed) pairs, in files of their own: what makes interruptions harmless.
//!
//! ```text
//! DIR/seeds/<fingerprint>/world.json                 what the fingerprint stands for, in words
//! DIR/seeds/<fingerprint>/<seed>.<arms>.json.zst     one finished seed with the arms that were computed together
//! ```
//! The fingerprint names everything that a result depends on, except seed and arm: the outcome of an arm does not depend on which
//! others run with it. So a file that is there under the right fingerprint is the result, nothing else can be taken for it, and an
//! arm that comes later gets a file of its own beside those that are there. Results of other programs and parameters have other
//! fingerprints: they stay where they are, and a call with the parameters of an earlier one finds its results again. Any number of
//! processes may work on one folder: a file written twice is written with the same results.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use covey_simulator::{CycleRow, Outcome, SharedOutcome, Timing};
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};

/// Version of the files; part of the fingerprint, so that others are never read.
const FORMAT: &str = "covey.seed/2";
/// The end of their names.
const EXTENSION: &str = ".json.zst";
/// What a fingerprint stands for, beside the results.
const WORLD_FILE: &str = "world.json";

/// Everything that a result depends on, except seed and arm, as 32 hexadecimal digits.
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

    /// The fingerprint of one run of several arms together, in this order: what a recording or a capture belongs to.
    #[must_use]
    pub fn of_run(&self, arms: &[String]) -> Self {
        let arms = arms.join(" ");
        Self::new([("world", self.0.as_bytes()), ("arms", arms.as_bytes())])
    }
}

/// The result of one seed: what the simulator's `SeedOutcome` tells, the seed itself, by which a file is checked, and the CPU time of
/// all threads that worked on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedResult {
    /// Which seed, so that a file under a wrong name is found out.
    pub seed: u64,
    /// What all arms share.
    pub shared: SharedOutcome,
    /// Outcome of every arm, in the same order on every seed.
    pub arms: Vec<Outcome>,
    /// The cycles of every arm; empty where they were not kept.
    pub cycles: Vec<Vec<CycleRow>>,
    /// CPU time by phase: the one part that differs from run to run. Of all arms that were computed together.
    pub timing: Timing,
    /// CPU seconds of all threads.
    pub cpu_s: f64,
}

impl SeedResult {
    fn has_cycles(&self) -> bool {
        self.cycles.len() == self.arms.len()
    }

    fn names(&self) -> Vec<String> {
        self.arms.iter().map(|arm| arm.arm.clone()).collect()
    }
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    format: String,
    fingerprint: String,
    result: T,
}

/// What is wanted of a seed.
#[derive(Debug, Clone, Copy)]
pub struct Want<'a> {
    /// The arms, in the order of tables.
    pub arms: &'a [String],
    /// With their cycles.
    pub cycles: bool,
}

/// What a fingerprint stands for, for people and for `covey clean`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldNote {
    /// The program, by the hash of its file.
    pub program: String,
    /// The commit it was built from.
    pub revision: String,
    /// The scenario's name.
    pub scenario: String,
    /// What sets the world apart from others of its sweep; empty for a single one.
    pub values: String,
    /// Where vehicles come from.
    pub traffic: String,
    /// Warm-up and measured window, in seconds.
    pub window: String,
}

/// The results under one folder.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// Results of one fingerprint in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The folder's name: the fingerprint.
    pub fingerprint: String,
    /// Where they are.
    pub path: PathBuf,
    /// What the fingerprint stands for; none where an earlier revision made them.
    pub note: Option<WorldNote>,
    /// Distinct seeds that have results.
    pub seeds: usize,
    /// Size of all files.
    pub bytes: u64,
}

impl Store {
    /// The store of the results folder `folder`; folders for the worlds are made, and each gets its note. Nothing that is there is
    /// moved.
    ///
    /// # Errors
    /// A folder cannot be made or written.
    pub fn open<'a>(
        folder: &Path,
        worlds: impl IntoIterator<Item = (&'a Fingerprint, WorldNote)>,
    ) -> Result<Self, FileError> {
        let store = Self::existing(folder);
        for (fingerprint, note) in worlds {
            let home = store.seeds().join(fingerprint.as_str());
            files::make_folder(&home)?;
            let path = home.join(WORLD_FILE);
            if !path.is_file() {
                let text = serde_json::to_string_pretty(&note)
                    .map_err(|error| FileError::new(&path, "cannot be written")(error.into()))?;
                files::write(&path, format!("{text}\n").as_bytes())?;
            }
        }
        Ok(store)
    }

    /// A store for reading alone: nothing is made.
    #[must_use]
    pub fn existing(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
        }
    }

    fn seeds(&self) -> PathBuf {
        self.folder.join("seeds")
    }

    /// All results of the folder by fingerprint, in the order of names.
    #[must_use]
    pub fn all(&self) -> Vec<Kept> {
        let mut all: Vec<Kept> = fs::read_dir(self.seeds())
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .map(|entry| kept(&entry.path()))
            .collect();
        all.sort_by(|a, b| a.fingerprint.cmp(&b.fingerprint));
        all
    }

    /// Where a result of these arms goes.
    #[must_use]
    pub fn path(&self, fingerprint: &Fingerprint, seed: u64, want: Want<'_>) -> PathBuf {
        let sorted: BTreeSet<&String> = want.arms.iter().collect();
        let mut hasher = blake3::Hasher::new();
        for arm in sorted {
            hasher.update(arm.as_bytes()).update(b" ");
        }
        hasher.update(&[u8::from(want.cycles)]);
        let hash = hasher.finalize().to_hex();
        let name = format!("{seed:06}.{}{EXTENSION}", &hash[..8]);
        self.seeds().join(fingerprint.as_str()).join(name)
    }

    /// Keeps a result under its fingerprint and seed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&self, fingerprint: &Fingerprint, result: &SeedResult) -> Result<(), FileError> {
        let want = Want {
            arms: &result.names(),
            cycles: result.has_cycles(),
        };
        let path = self.path(fingerprint, result.seed, want);
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

    /// The files that may hold results of a seed: first the one of just these arms, which mostly is the only one.
    fn candidates(&self, print: &Fingerprint, seed: u64, want: Want<'_>) -> Vec<PathBuf> {
        let exact = self.path(print, seed, want);
        let beginning = format!("{seed:06}.");
        let mut others: Vec<PathBuf> = match exact.is_file() {
            true => Vec::new(),
            false => result_files(&self.seeds().join(print.as_str()))
                .into_iter()
                .filter(|path| file_name(path).starts_with(&beginning))
                .collect(),
        };
        others.sort();
        others.insert(0, exact);
        others
    }

    /// What there is of a seed: the wanted arms that are finished, in the order wanted. A damaged file is moved to `DIR/damaged` and
    /// counts as not there.
    ///
    /// # Errors
    /// A file is there but cannot be read or moved.
    pub fn partial(
        &self,
        fingerprint: &Fingerprint,
        seed: u64,
        want: Want<'_>,
    ) -> Result<Option<SeedResult>, FileError> {
        let mut found: Option<SeedResult> = None;
        for path in self.candidates(fingerprint, seed, want) {
            let Some(mut read) = self.read(&path, fingerprint, seed)? else {
                continue;
            };
            if want.cycles && !read.has_cycles() {
                continue;
            }
            if !want.cycles {
                read.cycles.clear();
            }
            found = Some(match found {
                None => read,
                Some(found) => joined(found, read),
            });
            let there = found.as_ref().map_or_else(Vec::new, SeedResult::names);
            if want.arms.iter().all(|arm| there.contains(arm)) {
                break;
            }
        }
        Ok(found.and_then(|found| chosen(found, want)))
    }

    /// The result of a seed with all wanted arms; none if it is not finished.
    ///
    /// # Errors
    /// As [`Self::partial`].
    pub fn get(
        &self,
        fingerprint: &Fingerprint,
        seed: u64,
        want: Want<'_>,
    ) -> Result<Option<SeedResult>, FileError> {
        let found = self.partial(fingerprint, seed, want)?;
        Ok(found.filter(|found| found.arms.len() == want.arms.len()))
    }

    fn read(
        &self,
        path: &Path,
        fingerprint: &Fingerprint,
        seed: u64,
    ) -> Result<Option<SeedResult>, FileError> {
        let packed = match fs::read(path) {
            Ok(packed) => packed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::new(path, "cannot be read")(error)),
        };
        match decode(&packed) {
            Some(stored)
                if stored.fingerprint == fingerprint.as_str() && stored.result.seed == seed =>
            {
                Ok(Some(stored.result))
            }
            _ => {
                set_apart(path, &self.folder.join("damaged"))?;
                Ok(None)
            }
        }
    }
}

/// Two results of one seed as one; an arm that both have is the same in both.
fn joined(mut one: SeedResult, other: SeedResult) -> SeedResult {
    let there = one.names();
    let with_cycles = one.has_cycles() && other.has_cycles();
    let mut new = false;
    let mut cycles = other.cycles.into_iter();
    for arm in other.arms {
        let of_arm = cycles.next();
        if there.contains(&arm.arm) {
            continue;
        }
        new = true;
        one.arms.push(arm);
        if with_cycles {
            one.cycles.push(of_arm.unwrap_or_default());
        }
    }
    if new {
        one.timing.add(&other.timing);
        one.cpu_s += other.cpu_s;
    }
    one
}

/// Of a result, the arms that are wanted and there; none where there is none.
fn chosen(result: SeedResult, want: Want<'_>) -> Option<SeedResult> {
    let with_cycles = result.has_cycles();
    let mut cycles: Vec<Option<Vec<CycleRow>>> = match with_cycles {
        true => result.cycles.into_iter().map(Some).collect(),
        false => result.arms.iter().map(|_| None).collect(),
    };
    let mut arms: Vec<Option<Outcome>> = result.arms.into_iter().map(Some).collect();
    let mut chosen = SeedResult {
        arms: Vec::new(),
        cycles: Vec::new(),
        ..SeedResult {
            seed: result.seed,
            shared: result.shared,
            arms: Vec::new(),
            cycles: Vec::new(),
            timing: result.timing,
            cpu_s: result.cpu_s,
        }
    };
    for name in want.arms {
        let at = arms
            .iter()
            .position(|arm| arm.as_ref().is_some_and(|arm| &arm.arm == name));
        if let Some(at) = at {
            chosen.arms.extend(arms[at].take());
            chosen.cycles.extend(cycles[at].take());
        }
    }
    (!chosen.arms.is_empty()).then_some(chosen)
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

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn result_files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| file_name(path).ends_with(EXTENSION))
        .collect()
}

fn kept(path: &Path) -> Kept {
    let results = result_files(path);
    let seeds: BTreeSet<String> = results
        .iter()
        .filter_map(|path| Some(file_name(path).split('.').next()?.to_string()))
        .collect();
    let note = fs::read_to_string(path.join(WORLD_FILE)).ok();
    Kept {
        fingerprint: file_name(path),
        path: path.to_path_buf(),
        note: note.and_then(|text| serde_json::from_str(&text).ok()),
        seeds: seeds.len(),
        bytes: files::size(path),
    }
}

/// Moves a file or folder into `folder`, under its own name or, if that is taken, with a number. That another process was quicker
/// is fine.
pub(crate) fn set_apart(path: &Path, folder: &Path) -> Result<(), FileError> {
    files::make_folder(folder)?;
    let name = file_name(path);
    let mut target = folder.join(&name);
    let mut number = 1;
    while target.exists() {
        number += 1;
        target = folder.join(format!("{name}.{number}"));
    }
    match fs::rename(path, &target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::new(path, "cannot be set apart")(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::files::tests::Folder;

    fn outcome(arm: &str, seed: u64) -> Outcome {
        Outcome {
            arm: arm.to_string(),
            seed,
            ..Outcome::default()
        }
    }

    fn result(seed: u64, arms: &[&str], cycles: bool) -> SeedResult {
        SeedResult {
            seed,
            shared: SharedOutcome {
                seed,
                vehicles: 3,
                ..SharedOutcome::default()
            },
            arms: arms.iter().map(|arm| outcome(arm, seed)).collect(),
            cycles: match cycles {
                true => arms.iter().map(|_| Vec::new()).collect(),
                false => Vec::new(),
            },
            timing: Timing::default(),
            cpu_s: 0.5,
        }
    }

    fn fingerprint(revision: &str) -> Fingerprint {
        Fingerprint::new([("revision", revision.as_bytes())])
    }

    fn note() -> WorldNote {
        WorldNote {
            program: "p".to_string(),
            revision: "r".to_string(),
            scenario: "toy".to_string(),
            values: String::new(),
            traffic: "builtin".to_string(),
            window: "1 s + 1 s".to_string(),
        }
    }

    fn names(arms: &[&str]) -> Vec<String> {
        arms.iter().map(ToString::to_string).collect()
    }

    fn open(folder: &Folder, print: &Fingerprint) -> Store {
        Store::open(&folder.0, [(print, note())]).unwrap()
    }

    #[test]
    fn results_come_back_as_they_were() {
        let folder = Folder::new("store");
        let print = fingerprint("a");
        let store = open(&folder, &print);
        let arms = names(&["cam-only", "oracle"]);
        let want = Want {
            arms: &arms,
            cycles: true,
        };
        assert_eq!(store.get(&print, 7, want).unwrap(), None);
        let kept = result(7, &["cam-only", "oracle"], true);
        store.put(&print, &kept).unwrap();
        assert_eq!(store.get(&print, 7, want).unwrap(), Some(kept));
    }

    #[test]
    fn arms_are_a_set_and_come_one_by_one() {
        let folder = Folder::new("store-arms");
        let print = fingerprint("a");
        let store = open(&folder, &print);
        store
            .put(&print, &result(1, &["cam-only", "oracle"], true))
            .unwrap();
        store.put(&print, &result(1, &["cpm-rmr"], true)).unwrap();
        let wanted = |arms: &[&str]| {
            let arms = names(arms);
            let want = Want {
                arms: &arms,
                cycles: true,
            };
            let found = store.get(&print, 1, want).unwrap();
            found.map(|found| found.names())
        };
        // Any of them, in any order.
        for order in [
            ["cpm-rmr", "cam-only", "oracle"],
            ["oracle", "cpm-rmr", "cam-only"],
        ] {
            assert_eq!(wanted(&order), Some(names(&order)));
        }
        assert_eq!(wanted(&["oracle"]), Some(names(&["oracle"])));
        // What is not there is told apart from what is.
        assert_eq!(wanted(&["oracle", "cpm-etsi"]), None);
        let arms = names(&["oracle", "cpm-etsi"]);
        let want = Want {
            arms: &arms,
            cycles: true,
        };
        let partial = store.partial(&print, 1, want).unwrap().unwrap();
        assert_eq!(partial.names(), names(&["oracle"]));
    }

    #[test]
    fn results_without_cycles_are_none_where_cycles_are_wanted() {
        let folder = Folder::new("store-cycles");
        let print = fingerprint("a");
        let store = open(&folder, &print);
        let arms = names(&["cam-only"]);
        let want = |cycles| Want {
            arms: &arms,
            cycles,
        };
        store.put(&print, &result(1, &["cam-only"], false)).unwrap();
        assert_eq!(store.get(&print, 1, want(true)).unwrap(), None);
        assert!(store.get(&print, 1, want(false)).unwrap().is_some());
        store.put(&print, &result(2, &["cam-only"], true)).unwrap();
        assert_eq!(
            store.get(&print, 2, want(false)).unwrap(),
            Some(result(2, &["cam-only"], false))
        );
    }

    #[test]
    fn results_of_another_fingerprint_stay_and_are_found_again() {
        let folder = Folder::new("store-side-by-side");
        let (old, new) = (fingerprint("a"), fingerprint("b"));
        let arms = names(&["cam-only"]);
        let want = Want {
            arms: &arms,
            cycles: false,
        };
        let store = open(&folder, &old);
        store.put(&old, &result(1, &["cam-only"], false)).unwrap();
        let store = open(&folder, &new);
        assert_eq!(store.get(&new, 1, want).unwrap(), None);
        store.put(&new, &result(1, &["cam-only"], false)).unwrap();
        let all = store.all();
        assert_eq!(all.iter().map(|kept| kept.seeds).sum::<usize>(), 2);
        assert!(all.iter().all(|kept| kept.note == Some(note())));
        let store = open(&folder, &old);
        assert!(store.get(&old, 1, want).unwrap().is_some());
    }

    #[test]
    fn damaged_files_are_never_results() {
        let folder = Folder::new("store-damaged");
        let print = fingerprint("a");
        let store = open(&folder, &print);
        let arms = names(&["cam-only"]);
        let want = Want {
            arms: &arms,
            cycles: false,
        };
        store.put(&print, &result(1, &["cam-only"], false)).unwrap();
        let path = store.path(&print, 1, want);
        let whole = fs::read(&path).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(store.get(&print, 1, want).unwrap(), None, "cut at {cut}");
            assert!(!path.exists());
        }
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        fs::write(&path, &flipped).unwrap();
        assert_eq!(store.get(&print, 1, want).unwrap(), None);
        // Somebody else's file under this name.
        fs::write(&path, &whole).unwrap();
        fs::rename(&path, store.path(&print, 2, want)).unwrap();
        assert_eq!(store.get(&print, 2, want).unwrap(), None);
    }

    #[test]
    fn parts_do_not_run_together() {
        let f = |a: &[u8], b: &[u8]| Fingerprint::new([("x", a), ("y", b)]);
        assert_ne!(f(b"ab", b"c"), f(b"a", b"bc"));
        assert_eq!(f(b"ab", b"c"), f(b"ab", b"c"));
    }
}
