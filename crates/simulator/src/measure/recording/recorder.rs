//! An observer that records a run.

use std::path::Path;

use covey_protocol::admission::Role as Standing;

use super::{
    ArmCycle, ArmHeader, DemandDecision, Grid, Growth, Header, HostDecision, MessageKind,
    RecordingError, Role, Summary, Writer,
};
use crate::measure::events::{CycleView, HostView, Miss, Observer, Shown, StepView};
use crate::outcome::CycleRow;
use crate::prepared::Prepared;

/// Records the measured window of a run. Give it to [`simulate`](crate::simulate), then [`finish`](Self::finish) it.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer,
    /// What went wrong first; nothing is recorded after it.
    error: Option<RecordingError>,
    cycle_steps: u32,
    /// The present step, and its vehicles: number and whether it participates.
    step: u32,
    vehicles: Vec<(u32, bool)>,
    rows: Vec<CycleRow>,
    decided: Vec<Decided>,
    /// The cycle whose relevant pairs are written.
    written: Option<u32>,
}

/// What an arm's hosts decided in this cycle.
#[derive(Debug, Clone, Default)]
struct Decided {
    decisions: Vec<HostDecision>,
    demands: Vec<DemandDecision>,
    /// Contributors after it.
    contributors: Vec<u64>,
}

impl Recorder {
    /// Begins a recording of these arms of a seed at `path`; the measured window begins after `warmup_s` seconds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(
        path: &Path,
        prepared: &Prepared,
        arms: Vec<ArmHeader>,
        seed: u64,
        warmup_s: f64,
    ) -> Result<Self, RecordingError> {
        let (scenario, timeline) = (&prepared.scenario, &prepared.timeline);
        let step_us = covey_traffic::STEP_US as u32;
        let header = Header {
            scenario: scenario.name.clone(),
            seed,
            arms,
            step_us,
            cycle_us: timeline.cycle * step_us,
            decision_us: timeline.decision * step_us,
            grid: Grid {
                origin_x_m: scenario.grid.origin_x_m,
                origin_y_m: scenario.grid.origin_y_m,
                azimuth_deg: scenario.grid.azimuth_deg,
            },
            cell_m: scenario.protocol.cell_m,
            tile_m: scenario.protocol.tile_m,
            target: scenario.protocol.target,
            measured_from_us: (warmup_s * 1e6).round() as i64,
            program: format!("covey {}", env!("CARGO_PKG_VERSION")),
            run: String::new(),
            revision: String::new(),
            readings: serde_json::to_value(scenario.readings()).unwrap_or_default(),
        };
        Ok(Self {
            writer: Writer::create(path, &header, &prepared.map)?,
            error: None,
            cycle_steps: timeline.cycle,
            step: 0,
            vehicles: Vec::new(),
            rows: Vec::new(),
            decided: vec![Decided::default(); header.arms.len()],
            written: None,
        })
    }

    /// Notes the results that it belongs to, by their fingerprint.
    #[must_use]
    pub fn of_run(mut self, fingerprint: &str) -> Self {
        self.writer.of_run(fingerprint);
        self
    }

    /// Notes the program's revision.
    #[must_use]
    pub fn of_revision(mut self, revision: &str) -> Self {
        self.writer.of_revision(revision);
        self
    }

    /// Lets others read while it is written.
    #[must_use]
    pub fn watched_by(mut self, growth: &Growth) -> Self {
        self.writer.watched_by(growth);
        self
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// Something could not be written, now or during the run.
    pub fn finish(self) -> Result<Summary, RecordingError> {
        match self.error {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }

    /// Does something unless something went wrong before.
    fn attempt(&mut self, act: impl FnOnce(&mut Self) -> Result<(), RecordingError>) {
        if self.error.is_none()
            && let Err(error) = act(self)
        {
            self.error = Some(error);
        }
    }

    /// Everyone's role in an arm.
    fn roles(&self, arm: usize, view: &CycleView<'_>) -> Vec<Role> {
        let mut roles: Vec<Role> = self
            .vehicles
            .iter()
            .map(|&(_, participates)| match participates {
                true => Role::Listener,
                false => Role::Unequipped,
            })
            .collect();
        let mut raise = |id: u64, role: Role| {
            let place = self
                .vehicles
                .binary_search_by_key(&id, |&(id, _)| u64::from(id));
            if let Ok(at) = place
                && roles[at] as u8 <= role as u8
            {
                roles[at] = role;
            }
        };
        let decided = &self.decided[arm];
        for decision in &decided.decisions {
            raise(decision.snapshot.host.0, Role::Host);
            for agent in &decision.snapshot.agents {
                if agent.role == Standing::Candidate {
                    raise(agent.id.0, Role::Candidate);
                }
            }
        }
        for demand in &decided.demands {
            raise(demand.snapshot.host.0, Role::Host);
            for candidate in &demand.snapshot.problem.candidates {
                raise(candidate.id.0, Role::Candidate);
            }
        }
        for &id in &decided.contributors {
            raise(id, Role::Contributor);
        }
        // Where senders decide themselves, whoever reported in this cycle contributes.
        if decided.decisions.is_empty() && decided.demands.is_empty() {
            for delivery in view.deliveries {
                if delivery.kind == MessageKind::Report {
                    raise(u64::from(delivery.sender), Role::Contributor);
                }
            }
        }
        roles
    }
}

impl Observer for Recorder {
    fn step(&mut self, view: &StepView<'_>) {
        for decided in &mut self.decided {
            decided.decisions.clear();
            decided.demands.clear();
            decided.contributors.clear();
        }
        self.step = view.step;
        self.vehicles.clear();
        let ids = view.vehicles.iter().map(|v| v.id.0);
        self.vehicles
            .extend(ids.zip(view.participates.iter().copied()));
        if view.measured {
            self.attempt(|this| {
                let vehicles = &this.vehicles;
                this.writer.step(view.step, view.vehicles, &|id| {
                    let place = vehicles.binary_search_by_key(&id.0, |&(id, _)| id);
                    place.is_ok_and(|at| vehicles[at].1)
                })
            });
        }
    }

    fn wants_record(&self) -> bool {
        self.error.is_none()
    }

    fn decision(&mut self, arm: usize, view: &HostView<'_>) {
        let Some(decided) = self.decided.get_mut(arm) else {
            return;
        };
        let tile = [view.tile.tx, view.tile.ty];
        let contributors = view.contributors.iter().map(|id| id.0);
        decided.contributors.extend(contributors);
        match &view.shown {
            Some(Shown::Coverage(snapshot)) => decided.decisions.push(HostDecision {
                tile,
                snapshot: (**snapshot).clone(),
                changes: view.decision.changes.clone(),
                binding: view.decision.binding,
            }),
            Some(Shown::Demand(shown)) => {
                let picks = shown.selection.picks.iter();
                decided.demands.push(DemandDecision {
                    tile,
                    snapshot: shown.snapshot.clone(),
                    picks: picks.map(|picked| picked.pick).collect(),
                    tracks: shown.tracks.clone(),
                });
            }
            None => {}
        }
    }

    fn cycle(&mut self, _arm: usize, rows: &[CycleRow], _misses: &[Miss]) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
    }

    fn record(&mut self, arm: usize, view: &CycleView<'_>) {
        self.attempt(|this| {
            let cycle = this.step / this.cycle_steps;
            if this.written != Some(cycle) {
                this.writer.relevance(view.relevant)?;
                this.written = Some(cycle);
            }
            let record = ArmCycle {
                cycle,
                roles: this.roles(arm, view),
                tiles: std::mem::take(&mut this.rows),
                knowledge: view.known.to_vec(),
                deliveries: view.deliveries.to_vec(),
            };
            let decisions = std::mem::take(&mut this.decided[arm].decisions);
            let seen = view.seen;
            this.writer.arm_cycle(arm, record, &decisions)?;
            let demands = std::mem::take(&mut this.decided[arm].demands);
            this.writer.demands(arm, &demands)?;
            this.writer.seen(arm, seen)
        });
    }
}
