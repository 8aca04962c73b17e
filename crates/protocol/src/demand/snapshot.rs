//! One choice by demand as a file: `covey.demand-snapshot/1` in, `covey.demand-decision/1` out.
//!
//! The snapshot holds a [`DemandProblem`] with agents and objects named by id; docs/protocol.md describes its fields. Deciding runs
//! [`Selection::choose`], the code that hosts run.

mod document;

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::ids::AgentId;
use crate::select::{DemandProblem, Pick, Selection};
use crate::snapshot::{SnapshotError, reading};

use document::Document;

/// The schema that [`DemandSnapshot::parse`] reads.
pub const DEMAND_SNAPSHOT_SCHEMA: &str = "covey.demand-snapshot/1";
/// The schema that a [`DemandOutcome`] is written in.
pub const DEMAND_DECISION_SCHEMA: &str = "covey.demand-decision/1";

/// What a host knew when it chose by demand.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandSnapshot {
    /// Who chooses; it is none of the candidates.
    pub host: AgentId,
    /// What there was to choose from.
    pub problem: DemandProblem,
}

/// A choice with its reasons; serialises as `covey.demand-decision/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemandOutcome {
    /// Always [`DEMAND_DECISION_SCHEMA`].
    pub schema: &'static str,
    /// The id of the host that chose.
    pub host: u64,
    /// Everything picked, in order.
    pub picks: Vec<PickRow>,
    /// Who reports in the next cycle, by id.
    pub contributors: Vec<u64>,
    /// What the broadcast lists, by id.
    pub repeat: Vec<u64>,
    /// What is asked for although it beacons, by id.
    pub requested: Vec<u64>,
    /// Expected bytes of broadcast and reports.
    pub bytes: f64,
    /// Bytes that it could spend.
    pub budget_bytes: f64,
    /// Needs that stay open, expected: at the end of this cycle and of the next.
    pub open_now: f64,
    /// At the end of the next cycle.
    pub open_next: f64,
    /// Something worth picking did not fit.
    pub cut: bool,
}

/// A pick, as written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PickRow {
    /// `report`, `repeat` or `request`.
    pub pick: &'static str,
    /// Of the agent or object.
    pub id: u64,
    /// Expected number of needs fulfilled, and the bonus.
    pub gain: f64,
    /// Bytes that it is expected to add.
    pub bytes: f64,
}

impl DemandSnapshot {
    /// Reads and checks a snapshot.
    ///
    /// # Errors
    /// Anything that is not a snapshot of this schema; the error names the field.
    pub fn parse(json: &str) -> Result<Self, SnapshotError> {
        reading::read::<Document>(json, DEMAND_SNAPSHOT_SCHEMA)?.check()
    }

    /// The snapshot as JSON of schema `covey.demand-snapshot/1`; [`DemandSnapshot::parse`] gives it back.
    #[must_use]
    pub fn to_json(&self) -> String {
        reading::text(&Document::of(self))
    }

    /// The snapshot as a JSON value of schema `covey.demand-snapshot/1`.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        reading::value(&Document::of(self))
    }

    /// Chooses, and says why.
    #[must_use]
    pub fn decide(&self) -> DemandOutcome {
        let problem = &self.problem;
        let chosen = Selection::choose(problem);
        let agent = |k: u32| problem.candidates[k as usize].id.0;
        let object = |k: u32| problem.objects[k as usize].id.0;
        let picks = chosen.picks.iter().map(|picked| {
            let (pick, id) = match picked.pick {
                Pick::Report(k) => ("report", agent(k)),
                Pick::Repeat(k) => ("repeat", object(k)),
                Pick::Request(k) => ("request", object(k)),
            };
            PickRow {
                pick,
                id,
                gain: picked.gain,
                bytes: picked.bytes,
            }
        });
        DemandOutcome {
            schema: DEMAND_DECISION_SCHEMA,
            host: self.host.0,
            picks: picks.collect(),
            contributors: chosen.reports().into_iter().map(agent).collect(),
            repeat: chosen.repeats().into_iter().map(object).collect(),
            requested: chosen.requests().into_iter().map(object).collect(),
            bytes: chosen.bytes,
            budget_bytes: problem.budget_bytes,
            open_now: chosen.open[0],
            open_next: chosen.open[1],
            cut: chosen.cut,
        }
    }
}

impl DemandOutcome {
    /// What is no longer a finite number, where the snapshot's numbers are together too large to compute with.
    #[must_use]
    pub fn overflow(&self) -> Option<String> {
        let picks = self.picks.iter().map(|p| p.gain + p.bytes);
        let all = picks.chain([self.bytes, self.open_now, self.open_next]);
        let odd = all.into_iter().any(|x| !x.is_finite());
        odd.then(|| "a gain or a number of bytes".into())
    }
}
