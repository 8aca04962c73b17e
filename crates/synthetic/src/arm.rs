//! An arm: what its vehicles know, and what hosts of its tiles decide.

use std::collections::BTreeSet;

use covey_protocol::admission::{Action, Because, Binding, Change, Role as Standing};
use covey_protocol::grid::Cell;
use covey_protocol::snapshot::{Agent, Outcome, Snapshot};
use covey_protocol::{AgentId, Parameters};
use covey_simulator::CycleRow;
use covey_simulator::outcome::Deficit;
use covey_simulator::recording::{
    ArmCycle, Delivery, DemandDecision, HostDecision, Knowledge, MessageKind, OwnSight, Relevant,
    Role, Source,
};
use covey_world::{Point, VehicleState};

use crate::demand::demand;
use crate::road::{TILE, equipped, hash, share, visible};

/// An arm under way.
pub(crate) struct MadeUp {
    name: String,
    allowance: f64,
    tiles: Vec<Tile>,
}

#[derive(Clone, Default)]
struct Tile {
    prior: Vec<(Cell, f64)>,
    contributors: Vec<u64>,
    price: f64,
    epoch: u32,
}

impl MadeUp {
    pub(crate) fn new(name: &str) -> Self {
        let allowance = name.split_once('@').and_then(|(_, b)| b.parse().ok());
        Self {
            name: name.to_string(),
            allowance: allowance.unwrap_or(0.0),
            tiles: Vec::new(),
        }
    }

    pub(crate) fn cycle(
        &mut self,
        cycle: u32,
        vehicles: &[VehicleState],
        pairs: &[Relevant],
        length: f64,
    ) -> (ArmCycle, Vec<HostDecision>, Vec<DemandDecision>) {
        let mut record = ArmCycle {
            cycle,
            roles: vehicles
                .iter()
                .map(|v| match (equipped(v.id.0), self.name.starts_with("cpm")) {
                    (false, _) => Role::Unequipped,
                    (true, true) => Role::Contributor,
                    (true, false) => Role::Listener,
                })
                .collect(),
            ..ArmCycle::default()
        };
        let arm = u64::from(self.name.bytes().map(u32::from).sum::<u32>());
        let missing = if self.name.contains('@') { 0.03 } else { 0.09 };
        record.knowledge = pairs
            .iter()
            .map(|pair| {
                let key = [
                    arm,
                    u64::from(pair.vehicle),
                    u64::from(pair.object),
                    u64::from(cycle / 3),
                ];
                let missed = pair.sight != OwnSight::Visible && share(&key) < 3.0 * missing;
                let unknown = missed && hash(&key).is_multiple_of(2);
                Knowledge {
                    source: match (unknown, pair.sight, hash(&key) % 3) {
                        (true, _, _) => Source::Unknown,
                        (_, OwnSight::Visible, _) => Source::Sensing,
                        (_, _, 0) => Source::Beacon,
                        (_, _, 1) => Source::Report,
                        _ => Source::Broadcast,
                    },
                    age_ms: match (unknown, missed) {
                        (true, _) => 0,
                        (_, true) => pair.deadline_ms + 50,
                        _ => 50 * (1 + (hash(&key) % 3) as u32),
                    },
                    missed,
                    seen_by_nobody: unknown && hash(&key).is_multiple_of(8),
                    from: None,
                }
            })
            .collect();
        let count = (length / TILE).ceil() as usize;
        self.tiles.resize_with(count, Tile::default);
        let mut decisions = Vec::new();
        for tx in 0..count {
            self.tile(tx, cycle, vehicles, pairs, &mut record, &mut decisions);
        }
        let mut demands = Vec::new();
        if self.name.starts_with("demand") {
            demands = decisions
                .iter()
                .map(|decision| demand(decision, vehicles, pairs))
                .collect();
            decisions.clear();
        }
        (record, decisions, demands)
    }

    fn tile(
        &mut self,
        tx: usize,
        cycle: u32,
        vehicles: &[VehicleState],
        pairs: &[Relevant],
        record: &mut ArmCycle,
        decisions: &mut Vec<HostDecision>,
    ) {
        let mut row = row(tx, cycle, vehicles, pairs, &record.knowledge);
        if row.participants == 0 {
            return;
        }
        let host = host(tx, cycle, vehicles).filter(|_| self.name.contains('@'));
        let Some(host) = host else {
            row.load = if self.name.starts_with("cpm") {
                0.3
            } else {
                0.0
            };
            row.busy += row.load;
            record.tiles.push(row);
            return;
        };
        let tile = &mut self.tiles[tx];
        let snapshot = tile.snapshot(host, cycle, vehicles, self.allowance);
        let outcome = snapshot.decide();
        let changes = tile.apply(&outcome);
        let mut all = Binding::ALL.iter().copied();
        let binding = all.find(|binding| binding.name() == outcome.binding);
        let binding = binding.unwrap_or(Binding::Nothing);
        row.host = Some(u64::from(host.id.0));
        row.epoch = tile.epoch;
        row.contributors = tile.contributors.len() as u32;
        row.price = tile.price;
        row.load = outcome.airtime_after.fraction;
        row.busy += row.load;
        row.airtime_s = outcome.airtime_after.seconds;
        row.binding = Some(binding);
        tile.price = (tile.price + 0.5 * (row.load - 0.3)).max(0.0);
        for agent in &snapshot.agents {
            let role = &mut record.roles[agent.id.0 as usize];
            if *role == Role::Listener {
                *role = Role::Candidate;
            }
        }
        for &id in &tile.contributors {
            record.roles[id as usize] = Role::Contributor;
            let reporter = &vehicles[id as usize];
            let report = delivery(reporter, MessageKind::Report, vehicles);
            record.deliveries.push(report);
        }
        record.roles[host.id.0 as usize] = Role::Host;
        let broadcast = delivery(host, MessageKind::Broadcast, vehicles);
        record.deliveries.push(broadcast);
        record.tiles.push(row);
        decisions.push(HostDecision {
            tile: [tx as i32, 0],
            snapshot,
            changes,
            binding,
        });
    }
}

impl Tile {
    /// What the host is shown.
    fn snapshot(
        &mut self,
        host: &VehicleState,
        cycle: u32,
        vehicles: &[VehicleState],
        allowance: f64,
    ) -> Snapshot {
        self.contributors.retain(|&id| id != u64::from(host.id.0));
        let mut agents = Vec::new();
        for v in vehicles.iter().filter(|v| equipped(v.id.0)) {
            let id = u64::from(v.id.0);
            let contributes = self.contributors.binary_search(&id).is_ok();
            let near = v.position.distance(host.position) <= 300.0;
            if v.id == host.id || !(near || contributes) {
                continue;
            }
            let draw = share(&[10, id, u64::from(cycle / 4)]);
            agents.push(Agent {
                id: AgentId(id),
                role: if contributes {
                    Standing::Contributor
                } else {
                    Standing::Candidate
                },
                cells: visible(v),
                decoded: contributes && draw < 0.8,
                decoded_fraction: (draw * 10.0).round() / 10.0,
                report_bytes: 156.0 + 35.0 * (draw * 12.0).round(),
                broadcast_bytes: 4.0 + 35.0 * (draw * 3.0).round(),
                prior_without: None,
            });
        }
        let host_cells = visible(host);
        let seen = agents.iter().flat_map(|agent| &agent.cells);
        let seen: BTreeSet<Cell> = seen.chain(&host_cells).copied().collect();
        let risk = seen.into_iter().filter_map(|cell| {
            let rho = 0.5 * (hash(&[11, cell.ix as u64, cell.iy as u64]) % 4) as f64;
            (rho > 0.0).then_some((cell, rho, 0.4))
        });
        let parameters = Parameters {
            allowance,
            ..Parameters::default()
        };
        Snapshot {
            rules: parameters.rules(),
            broadcast_base_bytes: 2400.0,
            broadcast_delivery: 0.95,
            price: self.price,
            host: AgentId(u64::from(host.id.0)),
            prior: std::mem::take(&mut self.prior),
            overheard: Vec::new(),
            risk: risk.collect(),
            host_cells,
            agents,
        }
    }

    /// Does what was decided, and tells the changes.
    fn apply(&mut self, outcome: &Outcome) -> Vec<Change> {
        let mut changes = Vec::new();
        for change in &outcome.changes {
            let admit = change.action == "admit";
            self.contributors.retain(|&id| id != change.id);
            if admit {
                self.contributors.push(change.id);
                self.contributors.sort_unstable();
            }
            changes.push(Change {
                action: if admit { Action::Admit } else { Action::Remove },
                id: AgentId(change.id),
                because: match change.because {
                    "allowance" => Because::Allowance,
                    "cycle" => Because::Cycle,
                    _ => Because::Score,
                },
                score: change.score,
            });
        }
        self.epoch += changes.len() as u32;
        let map = outcome.map.iter();
        self.prior = map.map(|&(ix, iy, m)| (Cell::new(ix, iy), m)).collect();
        changes
    }
}

fn inside(tx: usize, v: &VehicleState) -> bool {
    (v.position.x / TILE) as usize == tx
}

/// A tile's row before anybody decided there.
fn row(
    tx: usize,
    cycle: u32,
    vehicles: &[VehicleState],
    pairs: &[Relevant],
    knowledge: &[Knowledge],
) -> CycleRow {
    let mut deficit = Deficit::default();
    for (pair, known) in pairs.iter().zip(knowledge) {
        // Vehicles are numbered densely here, so a number is a place.
        if inside(tx, &vehicles[pair.vehicle as usize]) {
            deficit.relevant += 1;
            deficit.missed += u64::from(known.missed);
        }
    }
    let participants = vehicles.iter().filter(|v| equipped(v.id.0));
    CycleRow {
        cycle,
        tile: [tx as i32, 0],
        participants: participants.filter(|v| inside(tx, v)).count() as u32,
        host: None,
        epoch: 0,
        contributors: 0,
        price: 0.0,
        load: 0.0,
        busy: 0.64,
        airtime_s: 0.0,
        binding: None,
        deficit,
    }
}

/// Who hosts: one for two seconds, so that there is somebody to click on.
fn host(tx: usize, cycle: u32, vehicles: &[VehicleState]) -> Option<&VehicleState> {
    let centre = Point::new((tx as f64 + 0.5) * TILE, 0.0);
    let then = |v: &VehicleState| {
        let driven = v.speed * f64::from(cycle % 10) * 0.2;
        (v.position - Point::from_heading(v.heading) * driven).distance(centre)
    };
    let participants = vehicles.iter().filter(|v| equipped(v.id.0));
    participants
        .filter(|v| inside(tx, v))
        .min_by(|a, b| then(a).total_cmp(&then(b)))
}

/// Everybody near hears.
fn delivery(sender: &VehicleState, kind: MessageKind, vehicles: &[VehicleState]) -> Delivery {
    let participants = vehicles.iter().filter(|v| equipped(v.id.0));
    let near = participants.filter(|v| v.position.distance(sender.position) < 150.0);
    Delivery {
        sender: sender.id.0,
        kind,
        receivers: near.map(|v| v.id.0).collect(),
    }
}
