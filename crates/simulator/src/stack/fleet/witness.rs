//! What hosts were shown when they decided, for whoever records.

use std::sync::{Arc, Mutex, PoisonError};

use covey_protocol::demand::select::DemandProblem;
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::host::Witness;
use covey_protocol::policy::{Explanation, View};
use covey_protocol::snapshot::Snapshot;

use crate::measure::{Choice, Shown, Track};

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
                Shown::Demand(Box::new(Choice {
                    tracks: tracks(view, problem),
                    snapshot,
                    selection: selection.clone(),
                }))
            }
            _ => Shown::Coverage(Box::new(Snapshot::of_view(view))),
        };
        self.replace(Some(shown));
    }
}

/// Where the host believes the objects of its problem to be at the moment of planning.
fn tracks(view: &View<'_>, problem: &DemandProblem) -> Vec<Track> {
    let cm = |metres: f64| (metres * 100.0).round();
    let turn = |radians: f64| (radians / std::f64::consts::TAU * 65536.0).round() as i64 as u16;
    let own = view.scope.iter().find(|member| member.id == view.host);
    let mut tracks = Vec::new();
    for (number, object) in (0u32..).zip(&problem.objects) {
        let known = view.known.binary_search_by_key(&object.id, |k| k.state.id);
        let (x, y, heading, size, age_s) = match (known, own) {
            (Ok(at), _) => {
                let known = &view.known[at];
                let state = &known.state;
                let age_s = view.now.since(state.sensed_at).seconds();
                let heading = known.heading.unwrap_or(0.0);
                let x = state.position.x + state.velocity.x * age_s;
                let y = state.position.y + state.velocity.y * age_s;
                (x, y, heading, state.size, age_s)
            }
            (Err(_), Some(own)) if object.id == view.host.into() => {
                let at = own.state.position;
                (at.x, at.y, own.state.heading, own.state.size, 0.0)
            }
            _ => continue,
        };
        tracks.push(Track {
            object: number,
            x_cm: cm(x) as i32,
            y_cm: cm(y) as i32,
            heading: turn(heading),
            length_cm: cm(size.length) as u16,
            width_cm: cm(size.width) as u16,
            age_ms: (age_s * 1e3).round() as u32,
        });
    }
    tracks
}
