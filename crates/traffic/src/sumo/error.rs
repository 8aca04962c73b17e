//! What can go wrong with SUMO.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::recorded::FcdError;
use crate::recording::RecordingFileError;

/// Why SUMO gave no traffic.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum SumoError {
    /// SUMO is not installed.
    #[error(
        "SUMO's `{program}` was not found on PATH, in SUMO_HOME ({home}) or in a .venv here or above; to get it: python3 -m venv .venv && .venv/bin/pip install eclipse-sumo"
    )]
    NotFound {
        program: String,
        /// What `SUMO_HOME` says.
        home: String,
    },
    /// A program could not be started.
    #[error("{program}: cannot be started: {source}")]
    Start {
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program ended with an error.
    #[error("{program} failed ({status}); it said:\n{said}")]
    Failed {
        program: PathBuf,
        status: String,
        /// The end of its error output.
        said: String,
    },
    /// A program gave no sign of life.
    #[error(
        "{program} gave no output for {} s and was ended; a longer wait can be set (`quiet_limit`). It said:\n{said}",
        .waited.as_secs()
    )]
    Quiet {
        program: PathBuf,
        /// How long it was waited for.
        waited: Duration,
        /// The end of its error output.
        said: String,
    },
    /// It was told to stop.
    #[error("stopped before SUMO had ended")]
    Stopped,
    /// SUMO ended well, but before it was to.
    #[error(
        "{program} ended after {found_s:.2} of {expected_s:.2} s, though nothing was wrong: it was stopped from outside. Run it again. It said:\n{said}"
    )]
    CutShort {
        program: PathBuf,
        /// Seconds there are.
        found_s: f64,
        /// Seconds that were asked for.
        expected_s: f64,
        /// The end of its error output.
        said: String,
    },
    /// What SUMO wrote cannot be used.
    #[error("what SUMO wrote cannot be used: {0}")]
    Output(FcdError),
    /// A file of the scenario cannot be used.
    #[error(transparent)]
    Scenario(FcdError),
    /// A configuration file cannot be used.
    #[error("{file}{}: {problem}", .line.map(|n| format!(", line {n}")).unwrap_or_default())]
    Config {
        file: PathBuf,
        /// The line, where there is one.
        line: Option<u64>,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A file of a scenario cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file for SUMO cannot be written.
    #[error("{file}: cannot be written: {source}")]
    Write {
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A kept recording cannot be saved.
    #[error(transparent)]
    Cache(#[from] RecordingFileError),
    /// A parameter lies outside its range.
    #[error("SUMO traffic: `{field}` is {found}, expected {expected}")]
    Parameter {
        field: &'static str,
        found: String,
        expected: &'static str,
    },
    /// The net has no roads that a closed population could stay on.
    #[error("SUMO traffic: {problem}")]
    NoCircuit { problem: String },
    /// More vehicles are asked for than have a place.
    #[error(
        "SUMO traffic: {wanted} vehicles asked for on the {road}, room for {room} at {spacing} m each; lower the density to at most {most:.1} vehicles per km and lane"
    )]
    TooDense {
        /// Main road or side streets.
        road: &'static str,
        wanted: usize,
        /// Places there are.
        room: usize,
        /// Metres taken by each.
        spacing: f64,
        /// The density at which they fit.
        most: f64,
    },
    /// The population did not stay whole.
    #[error(
        "SUMO traffic: {found} of {expected} vehicles are on the road at {time:.2} s, expected all of them at all times. SUMO said:\n{said}"
    )]
    NotClosed {
        found: usize,
        expected: usize,
        /// Seconds from the first frame.
        time: f64,
        /// The end of SUMO's error output.
        said: String,
    },
}
