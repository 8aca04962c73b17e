//! Decision blocks: what every host of an arm knew and did, exactly.
//!
//! A table of values and entries by cycle and host (`values`); the bytes of each:
//! `z` tile column and row; the rules (ten values: cycle, t_max, kappa, eta_add, eta_rem, allowance, rate, capacity, airtime
//! unit; `v` n_max; one byte of factors); values base bytes, delivery, price; cells of the host, prior with values, overheard cells, risk
//! with two values each; `v` number of agents and per agent `v` id, one byte (1 contributor, 2 decoded, 4 has a map of its own), three
//! values (decoded fraction, report bytes, broadcast bytes), cells, and where it has one its own map with values; one byte
//! binding; `v` number of changes and per change `v` id, one byte action + 2 x because, a value (score).
//!
//! A value is `v`, its place among the values. Coverage values repeat (1, 1 aged once, 1 aged twice, ...), which is what makes this
//! small though nothing is rounded. Cells are runs: `v` number of runs, per run `z` row less the row of the run before, `z`
//! column less the end of the run before, `v` length.

use covey_protocol::AgentId;
use covey_protocol::admission::{Action, Because, Binding, Change, Factors, Role, Rules};
use covey_protocol::grid::Cell;
use covey_protocol::snapshot::{Agent, Snapshot};

use super::HostDecision;
use super::bytes::{Fault, Take, put_v, put_z};
use super::values::{Encoder, Entry, Values};

/// Cells that one snapshot may hold in all; a run makes many of few bytes.
const MAX_CELLS: usize = 4_000_000;

pub(super) fn push(encoder: &mut Encoder, cycle: u32, decision: &HostDecision) {
    let mut out = Vec::new();
    put(encoder, &mut out, decision);
    encoder.push(cycle, decision.snapshot.host.0, &out);
}

fn put_map(values: &mut Encoder, out: &mut Vec<u8>, map: &[(Cell, f64)]) {
    put_cells(out, map.iter().map(|&(cell, _)| cell));
    for &(_, m) in map {
        values.value(out, m);
    }
}

fn put(values: &mut Encoder, out: &mut Vec<u8>, decision: &HostDecision) {
    let s = &decision.snapshot;
    let rules = &s.rules;
    put_z(out, i64::from(decision.tile[0]));
    put_z(out, i64::from(decision.tile[1]));
    for x in [
        rules.cycle_s,
        rules.t_max_s,
        rules.kappa_per_s,
        rules.eta_add,
        rules.eta_rem,
        rules.allowance,
        rules.rate_bytes_per_s,
        rules.capacity_bytes_per_s,
        rules.airtime_unit_s,
    ] {
        values.value(out, x);
    }
    put_v(out, u64::from(rules.n_max));
    let f = rules.factors;
    out.push(u8::from(f.novelty) | u8::from(f.risk) << 1 | u8::from(f.timeliness) << 2);
    for x in [s.broadcast_base_bytes, s.broadcast_delivery, s.price] {
        values.value(out, x);
    }
    put_cells(out, s.host_cells.iter().copied());
    put_map(values, out, &s.prior);
    put_cells(out, s.overheard.iter().copied());
    put_cells(out, s.risk.iter().map(|&(cell, _, _)| cell));
    for &(_, rho, deadline) in &s.risk {
        values.value(out, rho);
        values.value(out, deadline);
    }
    put_v(out, s.agents.len() as u64);
    for agent in &s.agents {
        put_v(out, agent.id.0);
        out.push(
            u8::from(agent.role == Role::Contributor)
                | u8::from(agent.decoded) << 1
                | u8::from(agent.prior_without.is_some()) << 2,
        );
        for x in [
            agent.decoded_fraction,
            agent.report_bytes,
            agent.broadcast_bytes,
        ] {
            values.value(out, x);
        }
        put_cells(out, agent.cells.iter().copied());
        if let Some(without) = &agent.prior_without {
            put_map(values, out, without);
        }
    }
    out.push(decision.binding as u8);
    put_v(out, decision.changes.len() as u64);
    for change in &decision.changes {
        put_v(out, change.id.0);
        let because = match change.because {
            Because::Score => 0,
            Because::Allowance => 1,
            Because::Cycle => 2,
            Because::Quota => 3,
            Because::Scope => 4,
        };
        out.push(u8::from(change.action == Action::Remove) | because << 1);
        values.value(out, change.score);
    }
}

fn put_cells(out: &mut Vec<u8>, cells: impl Iterator<Item = Cell>) {
    let mut runs: Vec<(Cell, u64)> = Vec::new();
    for cell in cells {
        match runs.last_mut() {
            Some((first, length))
                if first.iy == cell.iy
                    && i64::from(first.ix) + *length as i64 == i64::from(cell.ix) =>
            {
                *length += 1;
            }
            _ => runs.push((cell, 1)),
        }
    }
    put_v(out, runs.len() as u64);
    let (mut row, mut column) = (0i64, 0i64);
    for (cell, length) in runs {
        put_z(out, i64::from(cell.iy) - row);
        put_z(out, i64::from(cell.ix) - column);
        put_v(out, length);
        row = i64::from(cell.iy);
        column = i64::from(cell.ix) + length as i64;
    }
}

pub(super) fn decode(values: &Values, entry: &Entry<'_>) -> Result<HostDecision, Fault> {
    let mut d = One {
        take: Take::new(entry.bytes),
        values,
        cells: MAX_CELLS,
    };
    let decision = d.decision(AgentId(entry.host))?;
    d.take.end()?;
    Ok(decision)
}

struct One<'a> {
    take: Take<'a>,
    values: &'a Values,
    /// Cells that may still come.
    cells: usize,
}

impl One<'_> {
    fn value(&mut self) -> Result<f64, Fault> {
        self.values.take(&mut self.take)
    }

    /// Cells in ascending order, each once.
    fn cell_list(&mut self) -> Result<Vec<Cell>, Fault> {
        let runs = self.take.count(3)?;
        let mut cells: Vec<Cell> = Vec::new();
        let (mut row, mut column) = (0i64, 0i64);
        for _ in 0..runs {
            row = row.saturating_add(self.take.z()?);
            column = column.saturating_add(self.take.z()?);
            let length = self.take.v()?;
            let count = usize::try_from(length).unwrap_or(usize::MAX);
            self.cells = self
                .cells
                .checked_sub(count)
                .ok_or_else(|| format!("a decision of more than {MAX_CELLS} cells"))?;
            let iy = i32::try_from(row).map_err(|_| "a cell out of range".to_string())?;
            let end = column.saturating_add(count as i64);
            if i32::try_from(column).is_err() || i32::try_from(end).is_err() {
                return Err("a cell out of range".to_string());
            }
            let first = Cell::new(column as i32, iy);
            if count == 0 || cells.last().is_some_and(|&last| last >= first) {
                return Err(format!("cell {first} out of order"));
            }
            cells.extend((column..end).map(|ix| Cell::new(ix as i32, iy)));
            column = end;
        }
        Ok(cells)
    }

    fn map(&mut self) -> Result<Vec<(Cell, f64)>, Fault> {
        let cells = self.cell_list()?;
        cells
            .into_iter()
            .map(|cell| Ok((cell, self.value()?)))
            .collect()
    }

    fn rules(&mut self) -> Result<Rules, Fault> {
        let mut numbers = [0.0; 9];
        for x in &mut numbers {
            *x = self.value()?;
        }
        let n_max = self.take.v32()?;
        let bits = self.take.byte()?;
        Ok(Rules {
            cycle_s: numbers[0],
            t_max_s: numbers[1],
            kappa_per_s: numbers[2],
            eta_add: numbers[3],
            eta_rem: numbers[4],
            n_max,
            allowance: numbers[5],
            rate_bytes_per_s: numbers[6],
            capacity_bytes_per_s: numbers[7],
            airtime_unit_s: numbers[8],
            factors: Factors {
                novelty: bits & 1 != 0,
                risk: bits & 2 != 0,
                timeliness: bits & 4 != 0,
            },
        })
    }

    fn agent(&mut self) -> Result<Agent, Fault> {
        let id = AgentId(self.take.v()?);
        let bits = self.take.byte()?;
        let [decoded_fraction, report_bytes, broadcast_bytes] =
            [self.value()?, self.value()?, self.value()?];
        let cells = self.cell_list()?;
        Ok(Agent {
            id,
            role: if bits & 1 != 0 {
                Role::Contributor
            } else {
                Role::Candidate
            },
            cells,
            decoded: bits & 2 != 0,
            decoded_fraction,
            report_bytes,
            broadcast_bytes,
            prior_without: if bits & 4 != 0 {
                Some(self.map()?)
            } else {
                None
            },
        })
    }

    fn change(&mut self) -> Result<Change, Fault> {
        let id = AgentId(self.take.v()?);
        let bits = self.take.byte()?;
        Ok(Change {
            id,
            action: if bits & 1 == 0 {
                Action::Admit
            } else {
                Action::Remove
            },
            because: match bits >> 1 {
                0 => Because::Score,
                1 => Because::Allowance,
                2 => Because::Cycle,
                3 => Because::Quota,
                4 => Because::Scope,
                other => return Err(format!("reason {other}, expected at most 4")),
            },
            score: self.value()?,
        })
    }

    fn decision(&mut self, host: AgentId) -> Result<HostDecision, Fault> {
        let tile = [self.take.z32()?, self.take.z32()?];
        let rules = self.rules()?;
        let [base, delivery, price] = [self.value()?, self.value()?, self.value()?];
        let host_cells = self.cell_list()?;
        let prior = self.map()?;
        let overheard = self.cell_list()?;
        let cells = self.cell_list()?;
        let risk = cells
            .into_iter()
            .map(|cell| Ok((cell, self.value()?, self.value()?)))
            .collect::<Result<Vec<_>, Fault>>()?;
        let n = self.take.count(6)?;
        let mut agents: Vec<Agent> = Vec::with_capacity(n);
        for _ in 0..n {
            let agent = self.agent()?;
            let id = agent.id;
            if id == host || agents.last().is_some_and(|last| last.id >= id) {
                return Err(format!("agent {id} out of order"));
            }
            agents.push(agent);
        }
        let (binding, all) = (usize::from(self.take.byte()?), Binding::ALL);
        let binding = *all
            .get(binding)
            .ok_or_else(|| format!("binding {binding}, expected less than {}", all.len()))?;
        let n = self.take.count(3)?;
        let mut changes = Vec::with_capacity(n);
        for _ in 0..n {
            changes.push(self.change()?);
        }
        Ok(HostDecision {
            tile,
            snapshot: Snapshot {
                rules,
                broadcast_base_bytes: base,
                broadcast_delivery: delivery,
                price,
                host,
                host_cells,
                prior,
                overheard,
                risk,
                agents,
            },
            changes,
            binding,
        })
    }
}
