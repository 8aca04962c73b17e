//! What hosts were shown when they decided, for whoever records.

use std::sync::{Arc, Mutex, PoisonError};

use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::host::Witness;
use covey_protocol::policy::{Explanation, View};
use covey_protocol::snapshot::Snapshot;

use crate::measure::Shown;

/// Where hosts leave what their policies were shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Show(Arc<Mutex<Option<Shown>>>);

impl Show {
    /// What was shown last.
    pub(super) fn take(&self) -> Option<Shown> {
        self.replace(None)
    }

    fn replace(&self, shown: Option<Shown>) -> Option<Shown> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut kept, shown)
    }
}

impl Witness for Show {
    fn planned(&mut self, view: &View<'_>, explanation: Option<Explanation<'_>>) {
        let shown = match explanation {
            Some(Explanation::Demand(problem, selection)) => {
                let snapshot = DemandSnapshot {
                    host: view.host,
                    problem: problem.clone(),
                };
                Shown::Demand(Box::new((snapshot, selection.clone())))
            }
            _ => Shown::Coverage(Box::new(Snapshot::of_view(view))),
        };
        self.replace(Some(shown));
    }
}
