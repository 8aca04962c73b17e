//! Making a snapshot of what a host sees, and writing it as JSON.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use super::{Agent, SNAPSHOT_SCHEMA, Snapshot};
use crate::admission::Role;
use crate::grid::Cell;
use crate::policy::View;

impl Snapshot {
    /// What a policy is given, as a snapshot: deciding on it gives what [`ConditionalCoverage`] gives on the view.
    ///
    /// [`ConditionalCoverage`]: crate::policy::ConditionalCoverage
    #[must_use]
    pub fn of_view(view: &View<'_>) -> Self {
        let problem = view.problem;
        let cell = |at: u32| view.window.cell(at);
        let cells = |numbers: &[u32]| {
            let mut cells: Vec<Cell> = numbers.iter().map(|&at| cell(at)).collect();
            cells.sort_unstable();
            cells.dedup();
            cells
        };
        let mut agents: Vec<Agent> = problem
            .contributors
            .iter()
            .map(|c| Agent {
                id: c.id,
                role: Role::Contributor,
                cells: cells(c.cells),
                decoded: c.decoded,
                decoded_fraction: c.decoded_fraction,
                report_bytes: c.report_bytes,
                broadcast_bytes: c.broadcast_bytes,
                prior_without: c.prior_without.map(|without| {
                    let pairs = c.cells.iter().zip(without);
                    let mut list: Vec<(Cell, f64)> = pairs
                        .filter(|&(_, &m)| m > 0.0)
                        .map(|(&at, &m)| (cell(at), m))
                        .collect();
                    list.sort_unstable_by_key(|&(cell, _)| cell);
                    list.dedup_by_key(|&mut (cell, _)| cell);
                    list
                }),
            })
            .collect();
        agents.extend(problem.candidates.iter().map(|c| Agent {
            id: c.id,
            role: Role::Candidate,
            cells: cells(c.cells),
            decoded: false,
            decoded_fraction: c.decoded_fraction,
            report_bytes: c.report_bytes,
            broadcast_bytes: c.broadcast_bytes,
            prior_without: None,
        }));
        agents.sort_by_key(|agent| agent.id);
        let numbered = |values: &[f64]| {
            let values = values.iter().enumerate();
            let list = values.filter(|&(_, &m)| m > 0.0);
            list.map(|(at, &m)| (cell(at as u32), m)).collect()
        };
        Self {
            rules: *view.rules,
            broadcast_base_bytes: problem.broadcast_base_bytes,
            broadcast_delivery: problem.broadcast_delivery,
            price: problem.price,
            host: view.host,
            host_cells: cells(problem.host_cells),
            prior: numbered(problem.prior),
            overheard: cells(problem.overheard),
            risk: problem
                .rho
                .iter()
                .zip(problem.deadline_s)
                .enumerate()
                .filter(|&(_, (&rho, &deadline))| rho > 0.0 || deadline > 0.0)
                .map(|(at, (&rho, &deadline))| (cell(at as u32), rho, deadline))
                .collect(),
            agents,
        }
    }

    /// The snapshot as JSON of schema `covey.snapshot/1`; [`Snapshot::parse`] gives it back.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The snapshot as a JSON value of schema `covey.snapshot/1`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let rules = &self.rules;
        let mut factors = Vec::new();
        for (name, counts) in [
            ("novelty", rules.factors.novelty),
            ("risk", rules.factors.risk),
            ("timeliness", rules.factors.timeliness),
        ] {
            if counts {
                factors.push(name);
            }
        }
        let mut agents = alloc::vec![json!({
            "id": self.host.0, "role": "host", "cells": pairs(&self.host_cells),
        })];
        for agent in &self.agents {
            let mut object = Map::new();
            let mut set = |key: &str, value: Value| object.insert(key.to_string(), value);
            set("id", json!(agent.id.0));
            set("role", json!(agent.role.name()));
            set("cells", pairs(&agent.cells));
            set("decoded_fraction", json!(agent.decoded_fraction));
            set("report_bytes", json!(agent.report_bytes));
            set("broadcast_bytes", json!(agent.broadcast_bytes));
            if agent.role == Role::Contributor {
                set("decoded", json!(agent.decoded));
            }
            if let Some(without) = &agent.prior_without {
                set("prior_without", triples(without));
            }
            agents.push(Value::Object(object));
        }
        json!({
            "schema": SNAPSHOT_SCHEMA,
            "parameters": {
                "cycle_s": rules.cycle_s,
                "t_max_s": rules.t_max_s,
                "kappa_per_s": rules.kappa_per_s,
                "eta_add": rules.eta_add,
                "eta_rem": rules.eta_rem,
                "n_max": rules.n_max,
                "allowance": rules.allowance,
                "rate_bytes_per_s": rules.rate_bytes_per_s,
                "capacity_bytes_per_s": rules.capacity_bytes_per_s,
                "airtime_unit_s": rules.airtime_unit_s,
                "broadcast_base_bytes": self.broadcast_base_bytes,
                "broadcast_delivery": self.broadcast_delivery,
                "factors": factors,
            },
            "price": self.price,
            "host": self.host.0,
            "prior": triples(&self.prior),
            "overheard": pairs(&self.overheard),
            "risk": self.risk.iter().map(|&(c, rho, deadline)| json!([c.ix, c.iy, rho, deadline])).collect::<Vec<_>>(),
            "agents": agents,
        })
    }
}

fn pairs(cells: &[Cell]) -> Value {
    cells.iter().map(|c| json!([c.ix, c.iy])).collect()
}

fn triples(cells: &[(Cell, f64)]) -> Value {
    cells.iter().map(|&(c, m)| json!([c.ix, c.iy, m])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = include_str!("../../../../examples/snapshot.json");
        let snapshot = Snapshot::parse(text).unwrap();
        assert_eq!(Snapshot::parse(&snapshot.to_json()), Ok(snapshot));
    }
}
