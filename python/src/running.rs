//! `covey.run` and `covey.sweep`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use covey::Failure;
use covey::calls::{self, RunCall};
use covey_experiment::report;
use covey_experiment::world::hash_file;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::attendant::{PythonAttendant, Trouble};
use crate::errors;
use crate::policy::{Own, arms_with};

/// A key and its value, from JSON to TOML.
pub(crate) fn settings(text: &str) -> PyResult<Vec<(String, toml::Value)>> {
    let values: serde_json::Map<String, Value> =
        serde_json::from_str(text).map_err(|error| errors::input(format!("set: {error}")))?;
    values
        .into_iter()
        .map(|(key, value)| match toml::Value::try_from(&value) {
            Ok(value) => Ok((key, value)),
            Err(_) => Err(errors::input(format!(
                "set: {key}: found {value}, expected a number, text, true or false, a list or a table"
            ))),
        })
        .collect()
}

/// The package's own native file by its hash: results of another build are never mixed in.
fn native_print(file: &str) -> &'static str {
    static PRINT: OnceLock<String> = OnceLock::new();
    PRINT.get_or_init(|| {
        hash_file(std::path::Path::new(file))
            .unwrap_or_else(|_| covey_experiment::revision::REVISION.to_string())
    })
}

/// What tells a program with these policies from every other.
fn program(file: &str, policies: &[Own]) -> String {
    let mut text = format!("python {}", native_print(file));
    for policy in policies {
        text.push_str(&format!(" {}={}", policy.name, policy.print));
    }
    text
}

/// Does `work` without the interpreter's lock; what was raised meanwhile comes before what the work says.
fn released<T: Send>(
    py: Python<'_>,
    trouble: &Trouble,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let outcome = py.detach(work);
    match trouble.take() {
        Some(error) => Err(error),
        None => outcome.map_err(errors::failure),
    }
}

/// Runs arms on a scenario: the table as text, the summary as JSON, and figures by name as SVG.
#[pyfunction]
#[pyo3(signature = (*, scenario, arms, seeds, warmup_s, measure_s, set, record, csv, jobs, out, policies, watcher, file))]
#[expect(
    clippy::too_many_arguments,
    reason = "named ones, by the package alone"
)]
pub(crate) fn run<'py>(
    py: Python<'py>,
    scenario: Option<PathBuf>,
    arms: Vec<String>,
    seeds: Vec<u64>,
    warmup_s: f64,
    measure_s: f64,
    set: &str,
    record: bool,
    csv: bool,
    jobs: Option<usize>,
    out: PathBuf,
    policies: Vec<Own>,
    watcher: Py<PyAny>,
    file: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let trouble = Arc::new(Trouble::default());
    let call = RunCall {
        scenario,
        arms,
        seeds,
        warmup_s,
        measure_s,
        set: settings(set)?,
        record,
        csv,
        jobs,
        out,
    };
    let attendant = PythonAttendant {
        watcher,
        trouble: Arc::clone(&trouble),
        program: program(file, &policies),
    };
    let known = arms_with(policies, &trouble)?;
    let (text, summary, figures) = released(py, &trouble, || {
        let input = calls::run(&call, &known, Arc::new(attendant))?;
        let text = calls::table(&input.summary, None);
        let summary = input.summary.to_json();
        let summary = summary.map_err(|error| Failure::Other(format!("summary: {error}")))?;
        Ok((text, summary, report::render(&input, &known).figures))
    })?;
    let found = PyDict::new(py);
    found.set_item("text", text)?;
    found.set_item("summary", summary)?;
    found.set_item("figures", figures)?;
    Ok(found)
}

/// Runs a plan: its name, the tables as text, and label and summary of every world.
#[pyfunction]
#[pyo3(signature = (*, plan, out, jobs, csv, policies, watcher, file))]
#[expect(
    clippy::too_many_arguments,
    reason = "named ones, by the package alone"
)]
pub(crate) fn sweep<'py>(
    py: Python<'py>,
    plan: PathBuf,
    out: PathBuf,
    jobs: Option<usize>,
    csv: bool,
    policies: Vec<Own>,
    watcher: Py<PyAny>,
    file: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let trouble = Arc::new(Trouble::default());
    let attendant = PythonAttendant {
        watcher,
        trouble: Arc::clone(&trouble),
        program: program(file, &policies),
    };
    let known = arms_with(policies, &trouble)?;
    let (name, text, worlds) = released(py, &trouble, || {
        let swept = calls::sweep(&plan, &out, jobs, csv, &known, Arc::new(attendant))?;
        let worlds: Result<Vec<(String, String)>, Failure> = swept
            .worlds
            .iter()
            .map(|(label, summary)| {
                let text = summary.to_json();
                let text = text.map_err(|error| Failure::Other(format!("summary: {error}")))?;
                Ok((label.clone(), text))
            })
            .collect();
        Ok((swept.name, swept.told, worlds?))
    })?;
    let found = PyDict::new(py);
    found.set_item("name", name)?;
    found.set_item("text", text)?;
    found.set_item("worlds", worlds)?;
    Ok(found)
}

/// Every arm: its name as it is written, what it does, whether hosts decide.
#[pyfunction]
pub(crate) fn arms() -> Vec<(String, &'static str, bool)> {
    let known = covey::Arms::builtin();
    let told = known
        .iter()
        .map(|s| (s.pattern(), s.summary, s.is_hosted()));
    told.collect()
}
