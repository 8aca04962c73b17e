//! Folders of ours for SUMO to run in, so that nothing is ever written in the user's.
//!
//! A user's scenario is laid out anew: links to all files it reads, each at the place that it has on the user's disk, below a root of
//! ours. SUMO puts outputs that an additional file names beside that file, so they land here and go away with the folder. Files that
//! name outputs are copied instead of linked, with every output sent to a folder of its own, absolute names included.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::config::SumoConfig;
use super::error::SumoError;
use super::outputs::copy_without_outputs;

/// How the names of such folders begin; the process that made one follows.
const BEGINNING: &str = "covey-sumo-";

/// A folder for one run of SUMO, which goes away with it.
pub(super) struct WorkFolder {
    pub(super) path: PathBuf,
}

impl WorkFolder {
    pub(super) fn new() -> Result<Self, SumoError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            remove_leftovers();
        }
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("{BEGINNING}{process}-{number}"));
        fs::create_dir_all(&path).map_err(|source| SumoError::Write {
            file: path.clone(),
            source,
        })?;
        Ok(Self { path })
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm; it is removed when the next one is made.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes folders whose process was ended before it could.
fn remove_leftovers() {
    let entries = fs::read_dir(std::env::temp_dir());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(BEGINNING)?.split('-').next())
            .and_then(|process| process.parse::<u32>().ok());
        let ended = |process: u32| !Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(ended) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A user's scenario, laid out in a folder of ours.
pub(super) struct Workspace {
    /// In which the files are.
    _folder: WorkFolder,
    root: PathBuf,
    /// Where outputs go that files name.
    outputs: PathBuf,
    /// Where SUMO runs: the place of the configuration's folder.
    pub(super) here: PathBuf,
}

impl Workspace {
    /// Lays out all files of a configuration.
    pub(super) fn new(config: &SumoConfig) -> Result<Self, SumoError> {
        let folder = WorkFolder::new()?;
        let root = folder.path.join("root");
        let here = inside(&root, &absolute(&config.folder))?;
        let outputs = folder.path.join("outputs");
        make(&outputs)?;
        let space = Self {
            _folder: folder,
            root,
            outputs,
            here,
        };
        make(&space.here)?;
        for input in &config.inputs {
            space.lay(input, config.naming_outputs.contains(input))?;
        }
        Ok(space)
    }

    fn lay(&self, input: &Path, copied: bool) -> Result<(), SumoError> {
        let target = absolute(input);
        let place = inside(&self.root, &target)?;
        if place.symlink_metadata().is_ok() {
            return Ok(());
        }
        if let Some(folder) = place.parent() {
            make(folder)?;
        }
        if copied {
            return copy_without_outputs(&target, &place, &self.outputs);
        }
        symlink(&target, &place).map_err(|source| SumoError::Write {
            file: place,
            source,
        })
    }

    /// An option's value for SUMO in this folder: files of the scenario that are named by their full path have theirs here.
    pub(super) fn value(&self, config: &SumoConfig, value: &str) -> String {
        let names = config.names(value);
        let ours = |name: &str| {
            let path = Path::new(name);
            (path.is_absolute() && config.inputs.iter().any(|input| input == path))
                .then(|| inside(&self.root, path).ok())
                .flatten()
        };
        if !names.iter().any(|name| ours(name).is_some()) {
            return value.to_string();
        }
        let placed: Vec<String> = names
            .into_iter()
            .map(|name| ours(name).map_or(name.to_string(), |path| path.display().to_string()))
            .collect();
        placed.join(",")
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn make(folder: &Path) -> Result<(), SumoError> {
    fs::create_dir_all(folder).map_err(|source| SumoError::Write {
        file: folder.to_path_buf(),
        source,
    })
}

/// The place of a full path below `root`. Folders that it passes through are made, since `a/../b` needs an `a`.
fn inside(root: &Path, path: &Path) -> Result<PathBuf, SumoError> {
    let mut place = root.to_path_buf();
    for part in path.components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::ParentDir => {
                make(&place)?;
                if place != root {
                    place.pop();
                }
            }
            _ => {}
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        let root = std::env::temp_dir().join(format!("covey-inside-{}", std::process::id()));
        let at = |path: &str| inside(&root, Path::new(path)).unwrap();
        assert_eq!(at("/a/b/c.xml"), root.join("a/b/c.xml"));
        assert_eq!(at("/a/b/../c.xml"), root.join("a/c.xml"));
        assert!(root.join("a/b").is_dir());
        assert_eq!(at("/../../../../etc/x"), root.join("etc/x"));
        let _ = fs::remove_dir_all(&root);
    }
}
