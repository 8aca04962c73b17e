//! What can be wrong with a floating-car recording.

use std::fmt;
use std::io;

/// Where in a recording something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or what stands for it (such as the name of a subprocess).
    pub file: String,
    /// The line or row, where there is one.
    pub at: At,
}

/// A position inside a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A row of a Parquet file, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Line(n) => write!(f, "{}, line {n}", self.file),
            At::Row(n) => write!(f, "{}, row {n}", self.file),
        }
    }
}

/// Why a floating-car recording cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum FcdError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is of another kind altogether.
    #[error(
        "{file}: found {found}, expected SUMO floating-car data (XML, CSV or Parquet, XML and CSV also gzipped)"
    )]
    NotFloatingCarData {
        file: String,
        /// What it seems to be.
        found: String,
    },
    /// The file ends, or stops being readable, in the middle.
    #[error(
        "{place}: the file breaks off: {found}; was it cut short, or is it still being written?"
    )]
    Truncated {
        /// How far it could be read.
        place: Place,
        found: String,
    },
    /// The text does not follow the format.
    #[error("{place}: found {found}, expected {expected}")]
    Syntax {
        place: Place,
        found: String,
        expected: String,
    },
    /// An attribute or value is missing.
    #[error("{place}: {element} has no `{field}`, which is needed")]
    MissingField {
        place: Place,
        /// The element or vehicle.
        element: String,
        /// The missing attribute or column.
        field: &'static str,
    },
    /// The header of a table lacks needed columns.
    #[error(
        "{file}: column {missing} is missing; found the columns {found}; needed are time, id, x, y, angle and speed (SUMO's prefixes such as `vehicle_` may stand before them)"
    )]
    MissingColumns {
        file: String,
        missing: String,
        /// The columns there are.
        found: String,
    },
    /// A value is not a usable number.
    #[error("{place}: {element}: `{field}` is {found}, expected {expected}")]
    BadValue {
        place: Place,
        /// The element or vehicle.
        element: String,
        /// The attribute or column.
        field: &'static str,
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// The time does not grow from step to step.
    #[error("{place}: time {time} s follows {previous} s; times must grow from step to step")]
    TimeNotGrowing {
        place: Place,
        /// The time found, in seconds.
        time: f64,
        /// The time before it, in seconds.
        previous: f64,
    },
    /// A vehicle is listed twice in one step.
    #[error("{place}: vehicle `{vehicle}` is listed twice at {time} s")]
    Twice {
        /// Where the second one is.
        place: Place,
        vehicle: String,
        /// The time, in seconds.
        time: f64,
    },
    /// The recording names a lane that the net lacks.
    #[error(
        "{place}: vehicle `{vehicle}` is on lane `{lane}`, which the net does not have; does the net belong to this recording?"
    )]
    UnknownLane {
        place: Place,
        vehicle: String,
        lane: String,
    },
    /// The recorded coordinates are not those of the net.
    #[error(
        "{place}: vehicle `{vehicle}` is at ({x}, {y}), {distance:.0} m from its lane `{lane}`; was the recording made on another net, or with `--fcd-output.geo` or `--fcd-output.utm` (leave these out)?"
    )]
    OffTheMap {
        place: Place,
        vehicle: String,
        lane: String,
        /// East, as recorded.
        x: f64,
        /// North, as recorded.
        y: f64,
        /// Metres to the lane.
        distance: f64,
    },
    /// A Parquet file is damaged.
    #[error("{place}: the Parquet file is damaged: {found}")]
    DamagedParquet {
        place: Place,
        /// What the reader said.
        found: String,
    },
}
