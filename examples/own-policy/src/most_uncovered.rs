//! Admit whoever sees the most that nobody else covers, by the byte. No risk, no timeliness, no price.

use covey::protocol::AgentId;
use covey::protocol::admission::{Admission, Binding};
use covey::protocol::policy::{Plan, Policy, Reporters, View};

/// Somebody is worth hearing if it sees at least this many cells that nobody covers.
const LEAST_CELLS: f64 = 4.0;

/// The policy. It remembers nothing from cycle to cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct MostUncovered;

impl Policy for MostUncovered {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let problem = view.problem;
        // Who reports now. A contributor's own cells are covered because it reports, so what counts is what the host does
        // not see itself.
        let members = problem.contributors.iter().map(|c| {
            let hidden = |cell: &&u32| !problem.host_cells.contains(cell);
            let cells = c.cells.iter().filter(hidden).count() as f64;
            (c.id, cells, c.report_bytes + c.broadcast_bytes)
        });
        // Who might. The map says how well each cell is covered, 0 to 1.
        let map = admission.map();
        let candidates = problem.candidates.iter().map(|c| {
            let cells = c.cells.iter().map(|&cell| 1.0 - map[cell as usize]).sum();
            (c.id, cells, c.report_bytes + c.broadcast_bytes)
        });
        let mut worth: Vec<(f64, AgentId)> = members
            .chain(candidates)
            .filter(|&(_, cells, _)| cells >= LEAST_CELLS)
            .map(|(id, cells, bytes)| (cells / bytes.max(1.0), id))
            .collect();
        // The most worthy first; of equals the lower id. The host takes whoever fits.
        worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ranking = worth.into_iter().map(|(_, id)| id).collect();
        Plan::new(
            Reporters::Ranking(ranking),
            Binding::Value,
            view.parameters,
        )
    }
}
