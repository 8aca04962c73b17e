//! Recordings for `covey view`, one per seed.

use std::path::{Path, PathBuf};

use covey_simulator::recording::{self, EXTENSION, Reader, Recorder};
use covey_simulator::{Arm, Observer};

use super::{Beginning, Job, Output, OutputError, Sink};
use crate::files::FileError;
use crate::store::{Fingerprint, Store};

/// What the names of recordings begin with.
const PREFIX: &str = "seed-";

/// Recordings of some seeds, beside the results.
#[derive(Debug, Clone, Copy)]
pub struct Recordings<'a> {
    /// Where they go.
    pub folder: &'a Path,
    /// The seeds to be recorded.
    pub seeds: &'a [u64],
    /// How many worlds there are; where there are several, names tell them apart.
    pub worlds: usize,
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

    /// Sets aside recordings of other runs than `current`, wanted or not: beside results that they do not belong to, they would
    /// mislead. How many there were.
    ///
    /// # Errors
    /// One cannot be moved.
    pub fn set_aside_others(
        &self,
        store: &Store,
        current: &[Fingerprint],
    ) -> Result<usize, FileError> {
        let Ok(files) = recording::files_in(self.folder) else {
            // There is none.
            return Ok(0);
        };
        let ours = |file: &Path| {
            let name = file.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(PREFIX)
        };
        let mut count = 0;
        for file in files.iter().filter(|file| ours(file)) {
            let run = run_of(file).unwrap_or_default();
            if !current.iter().any(|print| print.as_str() == run) {
                store.set_aside(file)?;
                count += 1;
            }
        }
        Ok(count)
    }
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
        Ok(Box::new(recorder.of_run(run.run)))
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
