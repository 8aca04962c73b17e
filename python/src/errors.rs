//! What goes wrong, as Python's exceptions.

use covey::Failure;
use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

/// The options of the command line that Python calls by another name.
const NAMES: &[(&str, &str)] = &[
    ("--seeds", "seeds"),
    ("--seed", "seeds"),
    ("--arm", "arms"),
    ("--warmup", "warmup_s"),
    ("--measure", "measure_s"),
    ("--jobs", "jobs"),
    ("--set", "set"),
];

/// What was wrong with the input is a `ValueError`, anything else a `RuntimeError`.
pub(crate) fn failure(failure: Failure) -> PyErr {
    match failure {
        Failure::Input(text) => input(in_python(&text)),
        Failure::Other(text) => PyRuntimeError::new_err(in_python(&text)),
    }
}

/// The input is wrong, which `text` says.
pub(crate) fn input(text: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

/// The text with the names that arguments have in Python.
fn in_python(text: &str) -> String {
    for (option, name) in NAMES {
        if let Some(rest) = text.strip_prefix(option)
            && rest.starts_with(':')
        {
            return format!("{name}{rest}");
        }
    }
    text.replace("`covey arms`", "`covey.arms()`")
}
