//! The summary's file: read back as what was written, or refused with the field that is wrong.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

use super::{FILE, SCHEMA, Summary};

/// Why a summary cannot be used.
#[derive(Debug, Error)]
pub enum SummaryError {
    /// The file cannot be read.
    #[error(
        "{}: cannot be read: {source}; expected a folder that `covey reproduce` or `covey run` wrote",
        file.display()
    )]
    Read {
        /// The `summary.json` in question.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error(
        "{}: {problem}; run the command that made the folder again: what is finished is kept",
        file.display()
    )]
    Wrong {
        /// The `summary.json` in question.
        file: PathBuf,
        /// Which field, what was found, what was expected.
        problem: String,
    },
}

impl Summary {
    /// Reads the summary of a folder of results.
    ///
    /// # Errors
    /// The file cannot be read, or is no summary that this version knows.
    pub fn read(folder: &Path) -> Result<Self, SummaryError> {
        let file = folder.join(FILE);
        let text = std::fs::read_to_string(&file).map_err(|source| SummaryError::Read {
            file: file.clone(),
            source,
        })?;
        Self::parse(&text).map_err(|problem| SummaryError::Wrong { file, problem })
    }

    /// Reads a summary from the file's text.
    ///
    /// # Errors
    /// The text is no summary: the field, what was found there and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        /// The one field that every version has.
        #[derive(Deserialize)]
        #[serde(rename = "summary")]
        struct Head {
            schema: Option<String>,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| {
            let what = if error.is_data() {
                "no summary"
            } else {
                "not JSON"
            };
            format!("{what}: {error}")
        })?;
        let schema = head.schema.unwrap_or_default();
        if schema != SCHEMA {
            return Err(format!(
                "field schema: found `{schema}`, expected `{SCHEMA}`"
            ));
        }
        let said = |error: serde_path_to_error::Error<serde_json::Error>| match error
            .path()
            .to_string()
            .as_str()
        {
            "." => error.inner().to_string(),
            field => format!("field {field}: {}", error.inner()),
        };
        let mut text = std::borrow::Cow::Borrowed(text);
        if text.contains(SILENT_ONLY) {
            let mut value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            settle_earlier(&mut value);
            // Written and read again, so that a summary is read in one way alone: another one is a tenth of this crate's code.
            text = value.to_string().into();
        }
        let mut json = serde_json::Deserializer::from_str(&text);
        serde_path_to_error::deserialize(&mut json).map_err(said)
    }

    /// The text of the file, the same for the same summary.
    ///
    /// # Errors
    /// None that a summary can cause: all its keys are text and all its numbers can be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// The key in whose place earlier programs' summaries tell what reports carried.
const SILENT_ONLY: &str = "report_silent_only";

/// Puts what was in force when contributors reported everything, and senders checked every 0.2 s, under the keys of today.
fn settle_earlier(summary: &mut serde_json::Value) {
    let readings = &mut summary["readings"];
    if let Some(protocol) = readings["protocol"].as_object_mut()
        && let Some(silent) = protocol.remove(SILENT_ONLY)
    {
        let content = if silent == true { "silent" } else { "all" };
        protocol.insert("report_content".to_string(), content.into());
        readings["senders"] = serde_json::json!({"interval_s": 0.2, "phase": "staggered"});
    }
}

/// The fields of `value` sorted by name, as the file has had them from its first version on.
pub(super) fn by_name<S: Serializer>(
    value: &impl Serialize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // Objects of serde_json are sorted by key.
    serde_json::to_value(value)
        .map_err(serde::ser::Error::custom)?
        .serialize(serializer)
}
