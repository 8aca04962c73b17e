//! A recording that is read while it is written.
//!
//! The file is the one that the writer writes; what is in it so far is told here, chunk by chunk. Curves, which a finished recording has at its
//! end, are kept in memory until then.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file::{Entry, Kind};
use super::manifest::Manifest;

/// What a writer has written so far, for whoever reads at the same time.
#[derive(Debug, Clone, Default)]
pub struct Growth(Arc<Mutex<Grown>>);

/// The present state.
#[derive(Debug, Clone, Default)]
pub(super) struct Grown {
    /// The file as it is called for now.
    pub(super) file: PathBuf,
    /// Blocks that are in the file, by key.
    pub(super) index: Vec<Entry>,
    /// Blocks that will stand at the end of the file, by arm.
    pub(super) ends: BTreeMap<(u16, Kind), Vec<u8>>,
    pub(super) manifest: Manifest,
    /// Goes up with every change; 0 before there is anything.
    pub(super) edition: u64,
}

impl Growth {
    fn lock(&self) -> MutexGuard<'_, Grown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that there is more.
    pub(super) fn tell(&self, mut grown: Grown) {
        let mut held = self.lock();
        grown.edition = held.edition + 1;
        grown.index.sort_by_key(Entry::key);
        *held = grown;
    }

    /// What there is, unless it is what was seen before.
    pub(super) fn newer(&self, than: u64) -> Option<Grown> {
        let held = self.lock();
        (held.edition > than).then(|| held.clone())
    }

    /// How many cycles can be read.
    #[must_use]
    pub fn cycles(&self) -> u32 {
        self.lock().manifest.cycles
    }
}
