//! Admit whoever sees the most that nobody else covers, by the byte. No risk, no timeliness, no price.

use covey_protocol::AgentId;
use covey_protocol::admission::{Action, Admission, Because, Binding, Change, Decision};
use covey_protocol::policy::{Plan, Policy, View};

/// A candidate is worth hearing if it sees at least this many cells that nobody covers.
const LEAST_CELLS: f64 = 4.0;

/// The policy. It remembers nothing from cycle to cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct MostUncovered;

/// Someone who might report: uncovered cells and bytes.
struct Reporter {
    id: AgentId,
    cells: f64,
    bytes: f64,
}

impl Policy for MostUncovered {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let (rules, problem) = (view.rules, view.problem);

        // Who reports now. A contributor's own cells are covered because it reports, so what counts is what the host does
        // not see itself.
        let mut members: Vec<Reporter> = problem
            .contributors
            .iter()
            .map(|c| {
                let unseen = c
                    .cells
                    .iter()
                    .filter(|cell| !problem.host_cells.contains(cell));
                Reporter {
                    id: c.id,
                    cells: unseen.count() as f64,
                    bytes: c.report_bytes + c.broadcast_bytes,
                }
            })
            .collect();
        // Who might. The map says how well each cell is covered, 0 to 1.
        let map = admission.map();
        let candidates = problem.candidates.iter().map(|c| Reporter {
            id: c.id,
            cells: c.cells.iter().map(|&cell| 1.0 - map[cell as usize]).sum(),
            bytes: c.report_bytes + c.broadcast_bytes,
        });

        let mut bytes = problem.broadcast_base_bytes + members.iter().map(|m| m.bytes).sum::<f64>();
        let airtime = rules.airtime(bytes);
        let mut changes = Vec::new();

        // The hard bounds come first: the least worthy go until the rest fits.
        members.sort_by(worst_first);
        let mut members = members.into_iter();
        while let Some(because) = rules.broken(rules.airtime(bytes)) {
            let Some(member) = members.next() else { break };
            bytes -= member.bytes;
            changes.push(change(Action::Remove, &member, because));
        }
        // Nobody joins in a cycle in which someone had to go.
        let mut binding = Binding::Nothing;
        if changes.is_empty() {
            let best = candidates
                .filter(|c| c.cells >= LEAST_CELLS)
                .max_by(worst_first);
            if let Some(best) = best {
                match rules.broken(rules.airtime(bytes + best.bytes)) {
                    None => {
                        bytes += best.bytes;
                        changes.push(change(Action::Admit, &best, Because::Score));
                        binding = Binding::Quota;
                    }
                    Some(Because::Cycle) => binding = Binding::Cycle,
                    Some(_) => binding = Binding::Allowance,
                }
            } else if !problem.candidates.is_empty() {
                binding = Binding::Value;
            }
        }
        let decision = Decision {
            airtime,
            airtime_after: rules.airtime(bytes),
            changes,
            binding,
        };
        Plan::of(decision, view.parameters)
    }
}

/// By cells per byte; of equals the higher id is the worse.
fn worst_first(a: &Reporter, b: &Reporter) -> std::cmp::Ordering {
    let worth = |o: &Reporter| o.cells / o.bytes.max(1.0);
    worth(a).total_cmp(&worth(b)).then(b.id.cmp(&a.id))
}

fn change(action: Action, who: &Reporter, because: Because) -> Change {
    Change {
        action,
        id: who.id,
        because,
        score: who.cells,
    }
}
