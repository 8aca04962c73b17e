//! The report: one self-contained page with figures, made from a summary and its series.
//!
//! [`render`] is a pure function of [`Input`]: the same input gives the same bytes, nothing is read or fetched, and every text of
//! the input is escaped. The page opens offline, on a phone, on paper, in light and dark; it has no scripts. Figures stand in the
//! page and are given as files of their own too.
//!
//! What is missing in a summary is left out of the page and said to be missing; nothing makes it fail.

mod answer;
pub(crate) mod draw;
pub(crate) mod figures;
mod findings;
mod html;
mod page;
mod paired;
mod parameters;
mod series;
pub(crate) mod view;

#[cfg(test)]
#[path = "../../tests/report_sample/mod.rs"]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use findings::{Finding, Verdict};
pub use series::{
    ArmCured, ArmMisses, CuredBin, Phase, Series, SeriesBuilder, Trace, TracePoint, phases,
};

/// Name of the summary in a folder of results.
pub const SUMMARY_FILE: &str = "summary.json";
/// Name of the series beside it.
pub const SERIES_FILE: &str = "report.json";

/// What a report is made from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Input {
    /// `summary.json`, schema `covey.summary/1`.
    pub summary: Value,
    /// `report.json`: the series that only figures need. Empty where there are none.
    #[serde(default)]
    pub series: Series,
}

/// Why a folder has no input for a report.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A file cannot be read.
    #[error(
        "{file}: cannot be read: {source}; expected a folder that `covey reproduce` or `covey run` wrote"
    )]
    Read {
        /// Which file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{file}: {problem}")]
    Parse {
        /// Which file.
        file: String,
        /// Where and what.
        problem: String,
    },
}

impl Input {
    /// Reads `summary.json` and, where it is there, `report.json` of a folder of results.
    ///
    /// # Errors
    /// A file cannot be read, is not JSON, or the summary is of another schema.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let read = |name: &str| {
            let file = folder.join(name);
            let shown = file.display().to_string();
            match std::fs::read_to_string(&file) {
                Ok(text) => Ok((shown, text)),
                Err(source) => Err(ReadError::Read {
                    file: shown,
                    source,
                }),
            }
        };
        let (file, text) = read(SUMMARY_FILE)?;
        let summary: Value = serde_json::from_str(&text).map_err(|error| ReadError::Parse {
            file: file.clone(),
            problem: format!("not JSON: {error}"),
        })?;
        let schema = summary["schema"].as_str().unwrap_or_default();
        if schema != "covey.summary/1" {
            return Err(ReadError::Parse {
                file,
                problem: format!("field schema: found `{schema}`, expected `covey.summary/1`"),
            });
        }
        let series = match read(SERIES_FILE) {
            Ok((file, text)) => serde_json::from_str(&text).map_err(|error| ReadError::Parse {
                file,
                problem: format!("not the series of a report: {error}; make the results again"),
            })?,
            Err(ReadError::Read { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Series::default()
            }
            Err(error) => return Err(error),
        };
        Ok(Self { summary, series })
    }
}

/// A finished report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The page.
    pub html: String,
    /// Figures as files of their own: name and contents.
    pub figures: Vec<(String, String)>,
}

/// Makes the report.
#[must_use]
pub fn render(input: &Input) -> Report {
    page::render(input)
}

/// The letter's findings, each held against the run: held, not held or undecided, with the figures and the reason where known.
#[must_use]
pub fn findings(input: &Input) -> Vec<Finding> {
    let view = view::View::new(&input.summary);
    findings::findings(&view)
}
