//! The report: one self-contained page with figures, made from a summary and its series.
//!
//! [`render`] is a pure function of [`Input`] and the table of arms: the same input gives the same bytes, nothing is read or fetched, and every text of
//! the input is escaped. The page opens offline, on a phone, on paper, in light and dark; it has no scripts. Figures stand in the
//! page and are given as files of their own too.
//!
//! What is missing in a summary is left out of the page and said to be missing; nothing makes it fail.

mod answer;
pub(crate) mod draw;
pub(crate) mod errors;
mod field;
pub(crate) mod figures;
mod findings;
mod glance;
mod page;
mod paired;
mod parameters;
mod series;
mod texts;
pub(crate) mod view;

#[cfg(test)]
#[path = "../../tests/report_sample/mod.rs"]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use covey_simulator::Arms;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::summary::{Summary, SummaryError};
pub use findings::{Finding, Verdict};
pub use series::{ArmCured, ArmMisses, CuredBin, Phase, Series, SeriesBuilder, Trace, TracePoint};

/// Name of the series beside the summary.
pub const SERIES_FILE: &str = "report.json";
/// Name of the folder of figures beside the summary.
pub const FIGURES: &str = "figures";

/// What a report is made from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Input {
    /// What a finished run says in numbers.
    pub summary: Summary,
    /// `report.json`: the series that only figures need. Empty where there are none.
    #[serde(default)]
    pub series: Series,
    /// Figures that an earlier report of the folder left: name and contents. Those that need series which are not there are shown as they
    /// were.
    #[serde(skip)]
    pub kept: Vec<(String, String)>,
}

/// Why a folder has no input for a report.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The summary cannot be used.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// The series are there but cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file of the series.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The series are not what they should be.
    #[error(
        "{}: not the series of a report: {problem}; make the results again",
        file.display()
    )]
    Series {
        /// The file of the series.
        file: PathBuf,
        /// Which field, what was found, what was expected.
        problem: String,
    },
}

impl Input {
    /// Reads `summary.json` and, where they are there, `report.json` and figures of a folder of results.
    ///
    /// # Errors
    /// A file cannot be read or is not what it should be.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        Ok(Self {
            summary: Summary::read(folder)?,
            series: Series::read(&folder.join(SERIES_FILE))?,
            kept: read_figures(&folder.join(FIGURES)),
        })
    }
}

/// The figures of a folder, by name; none where there is no folder.
fn read_figures(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut figures: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let svg = name.ends_with(".svg");
            Some((name, std::fs::read_to_string(entry.path()).ok()?)).filter(|_| svg)
        })
        .collect();
    figures.sort();
    figures
}

/// A finished report, not yet written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The page, figures and style included.
    pub html: String,
    /// Figures as files of their own: name and contents.
    pub figures: Vec<(String, String)>,
    /// The same figures as PDF: name and contents.
    pub pdfs: Vec<(String, Vec<u8>)>,
    /// Figures that the page shows as an earlier report left them, by name.
    pub kept: Vec<String>,
}

/// Makes the report. Order, looks and kinds of arms come from the table `known`.
#[must_use]
pub fn render(input: &Input, known: &Arms) -> Report {
    page::render(input, known)
}

/// The letter's findings, each held against the run: held, not held or undecided, with the figures and the reason where known.
#[must_use]
pub fn findings(input: &Input, known: &Arms) -> Vec<Finding> {
    let view = view::View::new(&input.summary, known);
    findings::findings(&view)
}
