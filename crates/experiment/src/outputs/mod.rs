//! What a run may leave besides its results: recordings, captures, or whatever else watches it.
//!
//! One run serves them all. Each output has a file of its own, which gets its name when the run has ended well and is never
//! seen otherwise.

mod captures;
mod recordings;

use covey_simulator::{Observer, Prepared, RunOptions};
use thiserror::Error;

pub use captures::{CaptureNote, Captures};
pub use recordings::{PARKED, Recordings};

use crate::world::World;

/// A seed of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The world's place among those of the call.
    pub world: usize,
    /// What is run in it.
    pub seed: u64,
}

/// Why an output could not be made.
#[derive(Debug, Clone, Error)]
pub enum OutputError {
    /// The input is wrong.
    #[error("{0}")]
    Input(String),
    /// It could not be written.
    #[error("{0}")]
    Write(String),
}

impl OutputError {
    fn write(problem: impl std::fmt::Display) -> Self {
        Self::Write(problem.to_string())
    }
}

/// A run that is about to begin.
#[derive(Clone, Copy)]
pub struct Beginning<'a> {
    /// The world and seed of which it is the run.
    pub job: Job,
    /// That world, as it was read.
    pub world: &'a World,
    /// The same, ready to run.
    pub prepared: &'a Prepared,
    /// Warm-up and measurement.
    pub options: &'a RunOptions,
    /// The fingerprint of its results.
    pub run: &'a str,
}

/// Something that runs leave besides their results.
pub trait Output: Sync {
    /// It is wanted of this job, and what is there is not of the run with fingerprint `run`. A job whose results are there
    /// is run once more for it.
    fn is_missing(&self, job: &Job, run: &str) -> bool;

    /// Begins to write it.
    ///
    /// # Errors
    /// The world is not fit for it, or its file cannot be written.
    fn begin(&self, run: &Beginning<'_>) -> Result<Box<dyn Sink + '_>, OutputError>;
}

/// An output of one run while it is written. Dropped before it is finished, it leaves nothing behind.
pub trait Sink {
    /// Who watches the run for it.
    fn observer(&mut self) -> &mut dyn Observer;

    /// The run has ended well: gives the file its name.
    ///
    /// # Errors
    /// Something could not be written, now or during the run.
    fn finish(self: Box<Self>) -> Result<(), OutputError>;
}
