//! Making a snapshot of what a host sees.

use alloc::vec::Vec;

use super::{Agent, Snapshot};
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
}
