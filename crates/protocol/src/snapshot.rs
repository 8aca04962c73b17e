//! One host decision as a file: `covey.snapshot/1` in, `covey.decision/1` out.
//!
//! [`Snapshot::parse`] reads the JSON of a snapshot and checks every field; its errors name the field, what was found and
//! what was expected. [`Snapshot::decide`] runs [`Admission`] on it, the code that hosts run. A key that is not known is
//! refused, with the nearest known one, and so is a key given twice.

mod document;
pub(crate) mod reading;
mod view;

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::admission::{
    Admission, AdmissionCandidate, AdmissionContributor, AdmissionProblem, Airtime, Ladder, Role,
    Rules,
};
use crate::grid::Cell;
use crate::ids::AgentId;

use document::Document;

pub use reading::SnapshotError;

/// The schema that [`Snapshot::parse`] reads.
pub const SNAPSHOT_SCHEMA: &str = "covey.snapshot/1";
/// The schema that an [`Outcome`] is written in.
pub const DECISION_SCHEMA: &str = "covey.decision/1";

/// What a host knew at the end of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// What stays the same from cycle to cycle.
    pub rules: Rules,
    /// Bytes of the broadcast without contributors.
    pub broadcast_base_bytes: f64,
    /// Probability that a receiver decodes a broadcast.
    pub broadcast_delivery: f64,
    /// The congestion price, per unit of airtime.
    pub price: f64,
    /// Who decides; it is none of the agents.
    pub host: AgentId,
    /// Cells the host sees itself; sorted, each once.
    pub host_cells: Vec<Cell>,
    /// The last cycle's map, by cell.
    pub prior: Vec<(Cell, f64)>,
    /// Cells in which overheard broadcasts placed an object of this cycle.
    pub overheard: Vec<Cell>,
    /// Risk and deadline in seconds, by cell.
    pub risk: Vec<(Cell, f64, f64)>,
    /// Everyone but the host, by ascending id.
    pub agents: Vec<Agent>,
}

/// A candidate or contributor of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its station id; agents are in this order.
    pub id: AgentId,
    /// It might be admitted, or removed.
    pub role: Role,
    /// Cells it sees; sorted, each once.
    pub cells: Vec<Cell>,
    /// A contributor's report of this cycle was decoded.
    pub decoded: bool,
    /// Share of its reports that is decoded.
    pub decoded_fraction: f64,
    /// Bytes of its report.
    pub report_bytes: f64,
    /// Bytes that the broadcast carries because of it.
    pub broadcast_bytes: f64,
    /// A contributor's leave-one-out map, by cell, sorted.
    pub prior_without: Option<Vec<(Cell, f64)>>,
}

/// A decision with its reasons; serialises as `covey.decision/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Always [`DECISION_SCHEMA`].
    pub schema: &'static str,
    /// The map of the set as given: column, row, m; only m > 0, by row, then column.
    pub map: Vec<(i32, i32, f64)>,
    /// Airtime of the set as given.
    pub airtime: AirtimeRow,
    /// Everyone but the host, by id, before any change.
    pub scores: Vec<ScoreRow>,
    /// The changes, in order.
    pub changes: Vec<ChangeRow>,
    /// By how much the epoch advances: the number of changes.
    pub epoch_advance: usize,
    /// The id of the host that decided.
    pub host: u64,
    /// The congestion price, per unit of airtime.
    pub price: f64,
    /// Airtime of the set after the changes.
    pub airtime_after: AirtimeRow,
    /// What kept the set from growing further: `nothing`, `value`, `price`, `allowance`, `cycle` or `quota`.
    pub binding: &'static str,
}

/// Airtime of a set of contributors, as a decision is written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AirtimeRow {
    /// T(D): airtime of broadcast and reports, in seconds.
    pub seconds: f64,
    /// B(D) / (C T_s).
    pub fraction: f64,
}

/// A score and its factors, as written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreRow {
    /// The id of the agent.
    pub id: u64,
    /// `candidate` or `contributor`.
    pub role: &'static str,
    /// Eq. (3), with the factors that count.
    pub value: f64,
    /// Delta C, in units of airtime.
    pub airtime: f64,
    /// Value - price x airtime.
    pub score: f64,
    /// The factors, each multiplied onto the ones before it, whether they count or not.
    pub factors: FactorRow,
}

/// The factors behind a value, as written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FactorRow {
    /// Cells that the agent sees.
    pub visible: f64,
    /// Their summed novelty, 1 - M.
    pub novel: f64,
    /// Their summed novelty x risk.
    pub at_risk: f64,
    /// Novelty x risk x timeliness.
    pub in_time: f64,
}

/// A change, as written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeRow {
    /// `admit` or `remove`.
    pub action: &'static str,
    /// The id of the agent.
    pub id: u64,
    /// `score`, `allowance` or `cycle`.
    pub because: &'static str,
    /// The score it had at that moment.
    pub score: f64,
}

impl From<Airtime> for AirtimeRow {
    fn from(a: Airtime) -> Self {
        Self {
            seconds: a.seconds,
            fraction: a.fraction,
        }
    }
}

impl From<Ladder> for FactorRow {
    fn from(l: Ladder) -> Self {
        Self {
            visible: l.visible,
            novel: l.novel,
            at_risk: l.at_risk,
            in_time: l.in_time,
        }
    }
}

impl Snapshot {
    /// Reads and checks a snapshot.
    ///
    /// # Errors
    /// Anything that is not a snapshot of this schema; the error names the field.
    pub fn parse(json: &str) -> Result<Self, SnapshotError> {
        reading::read::<Document>(json, SNAPSHOT_SCHEMA)?.check()
    }

    /// The snapshot as JSON of schema `covey.snapshot/1`; [`Snapshot::parse`] gives it back.
    #[must_use]
    pub fn to_json(&self) -> String {
        reading::text(&Document::of(self))
    }

    /// The snapshot as a JSON value of schema `covey.snapshot/1`.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        reading::value(&Document::of(self))
    }

    /// Decides, and says why.
    #[must_use]
    pub fn decide(&self) -> Outcome {
        let dense = Dense::of(self);
        let (contributors, candidates) = dense.agents(self);
        let problem = AdmissionProblem {
            price: self.price,
            broadcast_base_bytes: self.broadcast_base_bytes,
            broadcast_delivery: self.broadcast_delivery,
            prior: &dense.prior,
            rho: &dense.rho,
            deadline_s: &dense.deadline_s,
            host_cells: &dense.host_cells,
            overheard: &dense.overheard,
            contributors: &contributors,
            candidates: &candidates,
        };
        let mut admission = Admission::new();
        let decision = admission.decide(&self.rules, &problem);
        let held = dense.cells.iter().zip(admission.map());
        let changes = decision.changes.iter().map(|change| ChangeRow {
            action: change.action.name(),
            id: change.id.0,
            because: change.because.name(),
            score: change.score,
        });
        Outcome {
            schema: DECISION_SCHEMA,
            map: held
                .filter(|&(_, &m)| m > 0.0)
                .map(|(cell, &m)| (cell.ix, cell.iy, m))
                .collect(),
            airtime: decision.airtime.into(),
            scores: score_rows(&admission, &self.rules, &problem),
            changes: changes.collect(),
            epoch_advance: decision.changes.len(),
            host: self.host.0,
            price: self.price,
            airtime_after: decision.airtime_after.into(),
            binding: decision.binding.name(),
        }
    }
}

/// What everyone was worth, and why, by ascending id.
fn score_rows(
    admission: &Admission,
    rules: &Rules,
    problem: &AdmissionProblem<'_>,
) -> Vec<ScoreRow> {
    let scores = admission.scores().iter().enumerate();
    let rows = scores.map(|(at, score)| ScoreRow {
        id: score.id.0,
        role: score.role.name(),
        value: score.value,
        airtime: score.airtime,
        score: score.score,
        factors: admission.ladder(rules, problem, at).into(),
    });
    let mut rows: Vec<ScoreRow> = rows.collect();
    rows.sort_unstable_by_key(|row| row.id);
    rows
}

impl Outcome {
    /// What is no longer a finite number, where the snapshot's numbers, each in its range, are together too large or too
    /// small to compute with.
    #[must_use]
    pub fn overflow(&self) -> Option<String> {
        let airtimes = [
            ("airtime.seconds", self.airtime.seconds),
            ("airtime.fraction", self.airtime.fraction),
            ("airtime_after.seconds", self.airtime_after.seconds),
            ("airtime_after.fraction", self.airtime_after.fraction),
        ];
        for (name, number) in airtimes {
            if !number.is_finite() {
                return Some(name.into());
            }
        }
        for row in &self.scores {
            let f = &row.factors;
            let numbers = [
                ("value", row.value),
                ("airtime", row.airtime),
                ("score", row.score),
                ("factors", f.novel + f.at_risk + f.in_time),
            ];
            for (name, number) in numbers {
                if !number.is_finite() {
                    return Some(alloc::format!("the {name} of agent {}", row.id));
                }
            }
        }
        None
    }
}

impl Agent {
    /// The leave-one-out prior on each of its cells.
    fn own_prior(&self) -> Option<Vec<f64>> {
        let without = self.prior_without.as_ref()?;
        let m = |cell: &Cell| match without.binary_search_by_key(cell, |&(cell, _)| cell) {
            Ok(at) => without[at].1,
            Err(_) => 0.0,
        };
        Some(self.cells.iter().map(m).collect())
    }
}

/// A snapshot over cells numbered in scan order.
struct Dense {
    cells: Vec<Cell>,
    prior: Vec<f64>,
    rho: Vec<f64>,
    deadline_s: Vec<f64>,
    host_cells: Vec<u32>,
    overheard: Vec<u32>,
    /// What each agent sees.
    seen: Vec<Vec<u32>>,
    /// Each agent's leave-one-out prior on those cells.
    without: Vec<Option<Vec<f64>>>,
}

impl Dense {
    fn of(snapshot: &Snapshot) -> Self {
        let mut cells: Vec<Cell> = snapshot
            .prior
            .iter()
            .map(|&(cell, _)| cell)
            .chain(snapshot.risk.iter().map(|&(cell, _, _)| cell))
            .chain(snapshot.overheard.iter().copied())
            .chain(snapshot.host_cells.iter().copied())
            .chain(snapshot.agents.iter().flat_map(|a| a.cells.iter().copied()))
            .collect();
        cells.sort_unstable();
        cells.dedup();
        // All cells are among them.
        let at = |cell: Cell| cells.binary_search(&cell).unwrap_or_else(|at| at);
        let all = |cells: &[Cell]| cells.iter().map(|&cell| at(cell) as u32).collect();
        let mut prior = alloc::vec![0.0; cells.len()];
        for &(cell, m) in &snapshot.prior {
            prior[at(cell)] = m;
        }
        let mut rho = alloc::vec![0.0; cells.len()];
        let mut deadline_s = rho.clone();
        for &(cell, risk, deadline) in &snapshot.risk {
            rho[at(cell)] = risk;
            deadline_s[at(cell)] = deadline;
        }
        Self {
            prior,
            rho,
            deadline_s,
            host_cells: all(&snapshot.host_cells),
            overheard: all(&snapshot.overheard),
            seen: snapshot.agents.iter().map(|a| all(&a.cells)).collect(),
            without: snapshot.agents.iter().map(Agent::own_prior).collect(),
            cells,
        }
    }

    /// Contributors and candidates, each by ascending id.
    fn agents(
        &self,
        snapshot: &Snapshot,
    ) -> (Vec<AdmissionContributor<'_>>, Vec<AdmissionCandidate<'_>>) {
        let (mut contributors, mut candidates) = (Vec::new(), Vec::new());
        for (at, agent) in snapshot.agents.iter().enumerate() {
            match agent.role {
                Role::Contributor => contributors.push(AdmissionContributor {
                    id: agent.id,
                    cells: &self.seen[at],
                    decoded: agent.decoded,
                    decoded_fraction: agent.decoded_fraction,
                    report_bytes: agent.report_bytes,
                    broadcast_bytes: agent.broadcast_bytes,
                    prior_without: self.without[at].as_deref(),
                }),
                Role::Candidate => candidates.push(AdmissionCandidate {
                    id: agent.id,
                    cells: &self.seen[at],
                    decoded_fraction: agent.decoded_fraction,
                    report_bytes: agent.report_bytes,
                    broadcast_bytes: agent.broadcast_bytes,
                }),
            }
        }
        (contributors, candidates)
    }
}
