//! The capture of a run, wherever the user wants it.
//!
//! A capture cannot say which run it belongs to. A note beside the results does: the run, what was asked for, and the hash of what
//! was written.

use std::path::{Path, PathBuf};

use covey_simulator::MapReference;
use covey_simulator::capture::{Capture, CaptureFilter};
use covey_simulator::{Observer, capture};
use serde::{Deserialize, Serialize};

use super::{Beginning, Job, Output, OutputError, Sink};
use crate::files::{self, Pending};
use crate::world::hash_file;

/// The note's name, beside the results.
const NOTE: &str = "capture.json";

/// A capture of the first arm of one job.
#[derive(Debug, Clone, Copy)]
pub struct Captures<'a> {
    /// Where the frames go.
    pub file: &'a Path,
    /// Where the results are.
    pub folder: &'a Path,
    /// What is captured.
    pub filter: CaptureFilter,
}

/// What a capture holds, and of which run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureNote {
    /// Where it was written.
    pub file: PathBuf,
    /// The fingerprint of the results it belongs to.
    pub run: String,
    /// The seed whose frames it holds.
    pub seed: u64,
    /// What was asked for.
    pub filter: String,
    /// The hash of the file.
    pub hash: String,
    /// Frames with CAMs.
    pub cams: u64,
    /// Frames with CPMs that are reports.
    pub reports: u64,
    /// Frames with CPMs that are fused states.
    pub fused: u64,
}

impl Captures<'_> {
    /// The note on the last capture; none where there was none.
    #[must_use]
    pub fn note(&self) -> Option<CaptureNote> {
        let text = std::fs::read_to_string(self.folder.join(NOTE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The file under a name that is the same from any folder.
    fn absolute(&self) -> PathBuf {
        std::path::absolute(self.file).unwrap_or_else(|_| self.file.to_path_buf())
    }
}

impl Output for Captures<'_> {
    fn is_missing(&self, job: &Job, run: &str) -> bool {
        // A pipe is no file that could be looked at again.
        let hash = || self.file.is_file().then(|| hash_file(self.file).ok());
        !self.note().is_some_and(|note| {
            (note.run.as_str(), note.seed) == (run, job.seed)
                && note.file == self.absolute()
                && note.filter == format!("{:?}", self.filter)
                && hash().flatten() == Some(note.hash)
        })
    }

    fn begin(&self, run: &Beginning<'_>) -> Result<Box<dyn Sink + '_>, OutputError> {
        let scenario = &run.prepared.scenario;
        let reference = MapReference::of(scenario, &run.prepared.map)
            .map_err(|error| OutputError::Input(error.to_string()))?;
        let file = Pending::new(self.file).map_err(OutputError::write)?;
        let mut capture =
            Capture::new(file, reference, self.filter).map_err(|error| self.named(&error))?;
        if scenario.carries_more_than_is_captured() {
            capture = capture.with_carried_lengths();
        }
        Ok(Box::new(Writing {
            of: self,
            capture,
            run: run.run.to_string(),
            seed: run.job.seed,
        }))
    }
}

impl Captures<'_> {
    fn named(&self, error: &capture::CaptureError) -> OutputError {
        OutputError::Write(format!("{}: {error}", self.file.display()))
    }
}

/// A capture while it is written.
struct Writing<'a> {
    of: &'a Captures<'a>,
    capture: Capture<Pending>,
    run: String,
    seed: u64,
}

impl Sink for Writing<'_> {
    fn observer(&mut self) -> &mut dyn Observer {
        &mut self.capture
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        let of = self.of;
        let (file, counts) = self.capture.finish().map_err(|error| of.named(&error))?;
        file.commit().map_err(OutputError::write)?;
        let note = CaptureNote {
            file: of.absolute(),
            run: self.run,
            seed: self.seed,
            filter: format!("{:?}", of.filter),
            hash: match files::is_stream(of.file) {
                true => String::new(),
                false => hash_file(of.file).map_err(OutputError::write)?,
            },
            cams: counts.cams,
            reports: counts.reports,
            fused: counts.fused,
        };
        let text = serde_json::to_string_pretty(&note).map_err(OutputError::write)?;
        files::write(&of.folder.join(NOTE), text.as_bytes()).map_err(OutputError::write)
    }
}
