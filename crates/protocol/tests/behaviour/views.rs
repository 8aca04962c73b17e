//! A snapshot of what a host sees is decided as the host decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use covey_protocol::admission::Admission;
use covey_protocol::policy::{ConditionalCoverage, Hints, Plan, Policy, Reporters, View};
use covey_protocol::snapshot::Snapshot;
use covey_protocol::{Parameters, Profile};

use crate::record::record;

/// Decides twice: on what it is shown, and on a snapshot of that which went through a file.
struct Twice {
    inner: ConditionalCoverage,
    changes: Arc<AtomicU32>,
}

impl Policy for Twice {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let plan = self.inner.plan(view, admission);
        let snapshot = Snapshot::of_view(view);
        let read = Snapshot::parse(&snapshot.to_json()).unwrap();
        assert_eq!(read, snapshot);
        let told = read.decide();
        let Reporters::Changes(changes) = &plan.reporters else {
            panic!("the letter's policy names changes");
        };
        let rows = told.changes.iter().map(|c| (c.action, c.id, c.because));
        let mine = changes
            .iter()
            .map(|c| (c.action.name(), c.id.0, c.because.name()));
        assert_eq!(rows.collect::<Vec<_>>(), mine.collect::<Vec<_>>());
        assert_eq!(told.binding, plan.binding.name());
        let scores = told.scores.iter().map(|s| (s.id, s.value, s.score));
        let mine = admission.scores().iter();
        let mut mine: Vec<(u64, f64, f64)> = mine.map(|s| (s.id.0, s.value, s.score)).collect();
        mine.sort_by_key(|row| row.0);
        assert_eq!(told.scores.len(), mine.len());
        for (a, b) in scores.zip(mine) {
            assert_eq!(a.0, b.0);
            assert!((a.1 - b.1).abs() < 1e-9 && (a.2 - b.2).abs() < 1e-9);
        }
        self.changes
            .fetch_add(changes.len() as u32, Ordering::Relaxed);
        plan
    }

    fn hints(&self) -> Hints {
        self.inner.hints()
    }
}

#[test]
fn snapshots_of_views_are_decided_alike() {
    for [novelty, risk, timeliness] in [[true; 3], [true, true, false], [true, false, false]] {
        let parameters = Parameters {
            novelty,
            risk,
            timeliness,
            ..Parameters::default()
        };
        let changes = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&changes);
        record(
            Profile::new(parameters, move || Twice {
                inner: ConditionalCoverage,
                changes: Arc::clone(&counted),
            }),
            3,
        );
        assert!(changes.load(Ordering::Relaxed) > 3, "{changes:?}");
    }
}
