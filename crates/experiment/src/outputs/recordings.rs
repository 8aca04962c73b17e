//! Recordings for `covey view`, one per seed.

use std::path::{Path, PathBuf};

use covey_simulator::recording::{self, EXTENSION, Growth, Reader, Recorder};
use covey_simulator::{Arm, Observer};

use super::{Beginning, Job, Output, OutputError, Sink};
use crate::files::FileError;
use crate::revision::REVISION;
use crate::store::{Fingerprint, set_apart};

/// What the names of recordings begin with.
const PREFIX: &str = "seed-";
/// Where recordings of other runs than the last are, each run in a folder of its own.
pub const PARKED: &str = "recordings";

/// Recordings of some seeds, beside the results.
#[derive(Debug, Clone, Copy)]
pub struct Recordings<'a> {
    /// Where they go.
    pub folder: &'a Path,
    /// The seeds to be recorded.
    pub seeds: &'a [u64],
    /// How many worlds there are; where there are several, names tell them apart.
    pub worlds: usize,
    /// Who reads while they are written.
    pub watched: Option<&'a Growth>,
}

impl Recordings<'_> {
    /// Where the recording of a job is.
    #[must_use]
    pub fn path(&self, job: &Job) -> PathBuf {
        self.folder.join(match self.worlds {
            1 => format!("{PREFIX}{}.{EXTENSION}", job.seed),
            _ => format!("{PREFIX}{}-{}.{EXTENSION}", job.seed, job.world + 1),
        })
    }

    /// Lays the recordings of `runs` beside the results, and those of other runs apart, in `DIR/recordings`: beside results that they
    /// do not belong to, they would mislead. How many were laid apart.
    ///
    /// # Errors
    /// One cannot be moved.
    pub fn arrange(&self, runs: &[Fingerprint]) -> Result<usize, FileError> {
        let parked = self.folder.join(PARKED);
        let mut count = 0;
        for file in of_runs(self.folder) {
            match run_of(&file) {
                None => set_apart(&file, &self.folder.join("damaged"))?,
                Some(run) if runs.iter().any(|print| print.as_str() == run) => {}
                Some(run) => {
                    let run = if run.is_empty() { "unknown" } else { &run };
                    set_apart(&file, &parked.join(run))?;
                    count += 1;
                }
            }
        }
        for run in runs {
            let home = parked.join(run.as_str());
            for file in of_runs(&home) {
                let there = file.file_name().map(|name| self.folder.join(name));
                if there.is_some_and(|there| !there.exists()) {
                    set_apart(&file, self.folder)?;
                }
            }
            // Where something is left in it, it stays.
            let _ = std::fs::remove_dir(&home);
        }
        Ok(count)
    }
}

/// The recordings in a folder that runs left there.
fn of_runs(folder: &Path) -> Vec<PathBuf> {
    let ours = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(PREFIX)
    };
    let files = recording::files_in(folder).unwrap_or_default();
    files.into_iter().filter(ours).collect()
}

/// The fingerprint of the results that a recording belongs to; none where it cannot be read.
fn run_of(file: &Path) -> Option<String> {
    let reader = Reader::open(file).ok()?;
    Some(reader.manifest().header.run.clone())
}

impl Output for Recordings<'_> {
    fn is_missing(&self, job: &Job, run: &str) -> bool {
        self.seeds.contains(&job.seed) && run_of(&self.path(job)).as_deref() != Some(run)
    }

    fn begin(&self, run: &Beginning<'_>) -> Result<Box<dyn Sink + '_>, OutputError> {
        let recorder = Recorder::create(
            &self.path(&run.job),
            run.prepared,
            run.world.arms.iter().map(Arm::header).collect(),
            run.job.seed,
            run.options.warmup_s,
        )
        .map_err(OutputError::write)?;
        let recorder = recorder.of_run(run.run).of_revision(REVISION);
        Ok(Box::new(match self.watched {
            Some(growth) => recorder.watched_by(growth),
            None => recorder,
        }))
    }
}

impl Sink for Recorder {
    fn observer(&mut self) -> &mut dyn Observer {
        self
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        (*self).finish().map(|_| ()).map_err(OutputError::write)
    }
}
