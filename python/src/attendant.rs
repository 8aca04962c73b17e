//! Python looks after a run: its signals, its progress, its exceptions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use covey::attendant::{Attendant, PoolState};
use pyo3::prelude::*;

/// The first exception of a run, which ends it.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    stop: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Trouble {
    /// Something was raised: the first counts, and the run ends.
    pub(crate) fn raise(&self, error: PyErr) {
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Something was raised already.
    pub(crate) fn is_there(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What was raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.take()
    }
}

/// Hands remarks and progress to a Python object with the methods `remark`, `begin` and `progress`.
#[derive(Debug)]
pub(crate) struct PythonAttendant {
    pub(crate) watcher: Py<PyAny>,
    pub(crate) trouble: Arc<Trouble>,
    pub(crate) program: String,
}

impl PythonAttendant {
    fn tell(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        let told = Python::attach(|py| {
            py.check_signals()?;
            call(self.watcher.bind(py))
        });
        if let Err(error) = told {
            self.trouble.raise(error);
        }
    }
}

impl Attendant for PythonAttendant {
    fn remark(&self, text: &str) {
        self.tell(|watcher| watcher.call_method1("remark", (text,)).map(drop));
    }

    fn begin(&self, names: &[String]) {
        self.tell(|watcher| watcher.call_method1("begin", (names.to_vec(),)).map(drop));
    }

    fn progress(&self, state: &PoolState) {
        let left = state.left().map(|left| left.as_secs_f64());
        let at: Vec<(usize, f64)> = state
            .workers
            .iter()
            .filter_map(|worker| Some((worker.job?, worker.share)))
            .collect();
        let elapsed = state.elapsed.as_secs_f64();
        let told = (
            state.done,
            state.jobs,
            state.done_share(),
            elapsed,
            left,
            at,
        );
        self.tell(|watcher| watcher.call_method1("progress", told).map(drop));
    }

    fn look(&self) {
        self.tell(|_| Ok(()));
    }

    fn stop(&self) -> &AtomicBool {
        &self.trouble.stop
    }

    fn program(&self) -> &str {
        &self.program
    }
}
