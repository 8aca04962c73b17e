//! What a host knows, as a few numbers for each agent: what learned policies look at.
//!
//! The environment for learning and arms that run a learned model make them here, so that a model sees in a run what it saw when it
//! learned. All are of ordinary size, from about -1 to 1, and cut at [`MOST`].

use covey_protocol::AgentId;
use covey_protocol::admission::Admission;
use covey_protocol::policy::View;

/// Nothing is larger.
pub const MOST: f32 = 10.0;

/// What is told of an agent, in this order.
pub const AGENT: [&str; 10] = [
    "reports",
    "dx",
    "dy",
    "speed",
    "decoded",
    "report_bytes",
    "broadcast_bytes",
    "cells",
    "new_cells",
    "new_risk",
];

/// What is told of the host, in this order.
pub const HOST: [&str; 6] = [
    "price",
    "occupancy",
    "contributors",
    "candidates",
    "allowance",
    "base_bytes",
];

/// The numbers of one decision.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features {
    /// Who the rows are about: contributors by id, then candidates by id.
    pub ids: Vec<AgentId>,
    /// Metres to the host, in the same order; infinite where the place is unknown.
    pub distance_m: Vec<f64>,
    /// A row per agent.
    pub agents: Vec<[f32; AGENT.len()]>,
    /// Of the host.
    pub host: [f32; HOST.len()],
}

fn cut(x: f64) -> f32 {
    // Not-a-number has no place in a model.
    if x.is_nan() {
        return 0.0;
    }
    (x as f32).clamp(-MOST, MOST)
}

struct Row<'a> {
    id: AgentId,
    cells: &'a [u32],
    decoded: f64,
    report_bytes: f64,
    broadcast_bytes: f64,
    /// The map without it, on its cells, where it reports.
    without: Option<&'a [f64]>,
    reports: bool,
}

impl Features {
    /// The numbers of a view; `admission` has fused its map.
    #[must_use]
    pub fn new(view: &View<'_>, admission: &Admission) -> Self {
        let problem = view.problem;
        let place = |id: AgentId| {
            let at = view.scope.binary_search_by_key(&id, |member| member.id);
            at.ok().map(|at| view.scope[at].state)
        };
        let host = place(view.host);
        let contributors = problem.contributors.iter().map(|c| Row {
            id: c.id,
            cells: c.cells,
            decoded: c.decoded_fraction,
            report_bytes: c.report_bytes,
            broadcast_bytes: c.broadcast_bytes,
            without: c.prior_without,
            reports: true,
        });
        let candidates = problem.candidates.iter().map(|c| Row {
            id: c.id,
            cells: c.cells,
            decoded: c.decoded_fraction,
            report_bytes: c.report_bytes,
            broadcast_bytes: c.broadcast_bytes,
            without: None,
            reports: false,
        });
        let map = admission.map();
        let mut features = Self::default();
        for row in contributors.chain(candidates) {
            let (mut new_cells, mut new_risk) = (0.0, 0.0);
            for (at, &cell) in row.cells.iter().enumerate() {
                let covered = match row.without {
                    Some(without) => without.get(at).copied(),
                    None => map.get(cell as usize).copied(),
                };
                let new = 1.0 - covered.unwrap_or(0.0);
                new_cells += new;
                new_risk += new * problem.rho.get(cell as usize).copied().unwrap_or(0.0);
            }
            let state = place(row.id);
            let both = state.zip(host).map(|(s, h)| (s.position, h.position));
            let away = both.map_or(f64::INFINITY, |(a, b)| a.distance(b));
            features.ids.push(row.id);
            features.distance_m.push(away);
            features.agents.push([
                f32::from(u8::from(row.reports)),
                cut(both.map_or(0.0, |(a, b)| (a.x - b.x) / 250.0)),
                cut(both.map_or(0.0, |(a, b)| (a.y - b.y) / 250.0)),
                cut(state.map_or(0.0, |s| s.speed / 15.0)),
                cut(row.decoded),
                cut(row.report_bytes / 500.0),
                cut(row.broadcast_bytes / 500.0),
                cut(row.cells.len() as f64 / 100.0),
                cut(new_cells / 50.0),
                cut(new_risk / 10.0),
            ]);
        }
        features.host = [
            cut(problem.price),
            cut(view.occupancy.unwrap_or(0.0)),
            cut(problem.contributors.len() as f64 / 32.0),
            cut(problem.candidates.len() as f64 / 32.0),
            cut(view.rules.allowance),
            cut(problem.broadcast_base_bytes / 1000.0),
        ];
        features
    }
}
