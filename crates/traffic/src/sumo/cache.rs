//! SUMO's traffic, kept on disk so that it is simulated once.

use covey_world::Network;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::config::SumoConfig;
use super::discovery::Sumo;
use super::error::SumoError;
use super::run::{RunOptions, record};
use crate::Recording;

/// Part of every key: to be changed whenever the same inputs come to give other recordings, or files of another version, so that those of
/// earlier programs stay. Recordings of edition 1 may have been cut short by an interruption; those of edition 2 do not know types.
const EDITION: u32 = 3;

/// What the names of recordings begin with.
fn beginning() -> String {
    format!("sumo-{EDITION}-")
}

/// The name is that of a kept recording that is still of use.
#[must_use]
pub fn is_current_trace(name: &str) -> bool {
    name.starts_with(&beginning()) && name.ends_with(".trace")
}

/// A name for what a recording depends on.
pub(super) struct Key(blake3::Hasher);

impl Key {
    /// A key for traffic of `kind` on `network` by this SUMO.
    pub(super) fn new(kind: &str, sumo: &Sumo, network: &Network) -> Self {
        let mut key = Self(blake3::Hasher::new());
        key.add(&beginning()).add(kind).add(&sumo.version);
        // Recordings refer to lanes and connections by their places.
        for lane in &network.lanes {
            key.add(&lane.name);
        }
        for connection in &network.connections {
            key.add(&format!("{} {}", connection.from.0, connection.to.0));
        }
        key
    }

    /// Adds a text; no two lists of texts give the same key.
    pub(super) fn add(&mut self, text: &str) -> &mut Self {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
        self
    }

    /// Adds a file's content.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<&mut Self, SumoError> {
        let unreadable = |source| SumoError::Read {
            file: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut hasher = blake3::Hasher::new();
        let mut portion = vec![0; 1 << 16];
        loop {
            match file.read(&mut portion).map_err(unreadable)? {
                0 => break,
                n => hasher.update(&portion[..n]),
            };
        }
        self.0.update(hasher.finalize().as_bytes());
        Ok(self)
    }

    /// The file in `folder` that belongs to the key.
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        let name = self.0.finalize().to_hex();
        folder.join(format!("{}{}.trace", beginning(), &name[..32]))
    }
}

/// The recording of `key` in `folder`; made with `make` and kept there if it is not there yet, or is damaged.
pub(super) fn kept(
    key: &Key,
    folder: &Path,
    network: &Network,
    make: impl FnOnce() -> Result<Recording, SumoError>,
) -> Result<Recording, SumoError> {
    let path = key.path(folder);
    if let Ok(recording) = Recording::load(&path, network) {
        return Ok(recording);
    }
    let recording = make()?;
    fs::create_dir_all(folder).map_err(|source| SumoError::Write {
        file: folder.to_owned(),
        source,
    })?;
    recording.save(&path)?;
    Ok(recording)
}

/// As [`record`], with the recording kept in `folder`: a further run with the same files, SUMO, seed and window reads it
/// from there.
///
/// # Errors
/// As [`record`]; also if the recording cannot be saved.
pub fn record_cached(
    sumo: &Sumo,
    config: &SumoConfig,
    network: &Network,
    options: &RunOptions,
    folder: &Path,
) -> Result<Recording, SumoError> {
    let mut key = Key::new("scenario", sumo, network);
    for input in &config.inputs {
        key.add_file(input)?;
    }
    for (name, value) in &config.options {
        key.add(name).add(value);
    }
    // How long SUMO may be quiet has no part in what it says.
    let RunOptions {
        seed,
        begin_s,
        fill_s,
        depart_offset_s,
        duration_s,
        step_s,
        look_ahead_s,
        persons,
        quiet_limit: _,
        stop: _,
    } = options;
    key.add(&format!(
        "{seed} {begin_s:?} {fill_s:?} {depart_offset_s:?} {duration_s:?} {step_s:?} {look_ahead_s:?} {persons}"
    ));
    kept(&key, folder, network, || {
        record(sumo, config, network, options)
    })
}
