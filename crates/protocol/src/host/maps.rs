//! The coverage map, and the map without each contributor.
//!
//! A map without somebody is kept as the cells in which it differs from the map itself. Both start equal and age alike, so
//! they can differ only where the contributor has seen something since its admission, and no longer than it takes to fade: a
//! few per cent of the window.

use alloc::vec::Vec;

use crate::admission::{Admission, AdmissionContributor};
use crate::ids::AgentId;
use crate::policy::Coverage;
use crate::sorted::SortedMap;

/// Coverage below this is none; it keeps the map from filling up with numbers too small to matter.
const NO_COVERAGE: f64 = 1e-12;

/// The maps of a host, over the cells of its window.
#[derive(Debug, Clone)]
pub(super) struct CoverageMaps {
    kept: Coverage,
    map: Vec<f64>,
    without: SortedMap<AgentId, MapWithout>,
    /// Room to use again.
    spare: Vec<(u32, f64)>,
}

impl CoverageMaps {
    /// Empty maps of `cells` cells, as far as somebody looks at them.
    pub(super) fn new(kept: Coverage, cells: usize) -> Self {
        Self {
            kept,
            map: alloc::vec![0.0; cells],
            without: SortedMap::default(),
            spare: Vec::new(),
        }
    }

    /// The map, cell by cell.
    pub(super) fn map(&self) -> &[f64] {
        &self.map
    }

    /// Appends the values of the map without `id` in each of `cells`, which ascend; gives whether there is such a map.
    pub(super) fn read_without(&self, id: AgentId, cells: &[u32], out: &mut Vec<f64>) -> bool {
        let without = self.without.get(id);
        if let Some(without) = without {
            without.read(&self.map, cells, out);
        }
        without.is_some()
    }

    /// Brings all maps to the cycle of `admission`, whose rules leave `decay` of them.
    pub(super) fn advance(
        &mut self,
        admission: &Admission,
        decay: f64,
        contributors: &[AdmissionContributor<'_>],
    ) {
        if self.kept == Coverage::Ignored {
            return;
        }
        for contributor in contributors {
            if let Some(without) = self.without.get_mut(contributor.id)
                && let Some(before) = contributor.prior_without
            {
                without.age(admission, decay, contributor, before, &mut self.spare);
            }
        }
        self.map.clear();
        let map = admission.map().iter();
        self.map.extend(map.map(|&m| without_trace(m)));
    }

    /// Begins a map without somebody who was admitted.
    pub(super) fn admit(&mut self, id: AgentId) {
        if self.kept == Coverage::Weighed {
            self.without.insert(id, MapWithout::default());
        }
    }

    /// Lets go of the maps without those who are not among `contributors`, which ascend.
    pub(super) fn keep(&mut self, contributors: &[AgentId]) {
        self.without
            .retain(|id, _| contributors.binary_search(&id).is_ok());
    }
}

/// The map without one contributor: cells that differ, by ascending number.
#[derive(Debug, Clone, Default)]
struct MapWithout {
    cells: Vec<(u32, f64)>,
}

impl MapWithout {
    /// Appends its value in each of `cells`, which ascend; `map` is the map itself.
    fn read(&self, map: &[f64], cells: &[u32], out: &mut Vec<f64>) {
        let mut differing = self.cells.iter().copied().peekable();
        out.extend(cells.iter().map(|&cell| {
            while differing.next_if(|&(at, _)| at < cell).is_some() {}
            match differing.peek() {
                Some(&(at, value)) if at == cell => value,
                _ => map[cell as usize],
            }
        }));
    }

    /// Brings it from the cycle before to that of `admission`, whose rules leave `decay` of a map. `before` are its values in
    /// the cells of `contributor`; `spare` is a buffer.
    fn age(
        &mut self,
        admission: &Admission,
        decay: f64,
        contributor: &AdmissionContributor<'_>,
        before: &[f64],
        spare: &mut Vec<(u32, f64)>,
    ) {
        spare.clear();
        let map = admission.map();
        let mut keep = |cell: u32, value: f64| {
            let value = without_trace(value);
            if value != without_trace(map[cell as usize]) {
                spare.push((cell, value));
            }
        };
        let mut differing = self.cells.iter().copied().peekable();
        for (&cell, &prior) in contributor.cells.iter().zip(before) {
            while let Some((at, value)) = differing.next_if(|&(at, _)| at <= cell) {
                if at < cell {
                    keep(at, admission.aged(decay, at, value));
                }
            }
            let value = admission.aged_without(decay, cell, prior, contributor.coverage());
            keep(cell, value);
        }
        for (at, value) in differing {
            keep(at, admission.aged(decay, at, value));
        }
        core::mem::swap(&mut self.cells, spare);
    }
}

/// Coverage that is too little to matter is none.
fn without_trace(coverage: f64) -> f64 {
    if coverage < NO_COVERAGE {
        0.0
    } else {
        coverage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{Admission, Because, Binding, Change};
    use crate::digest::CoverageDigest;
    use crate::grid::{Cell, Position, Tile};
    use crate::host::Host;
    use crate::messages::{AgentState, Beacon, Report};
    use crate::policy::{Hints, Plan, Policy, Reporters, View};
    use crate::role::Input;
    use crate::time::Instant;
    use crate::{Parameters, Profile};

    /// Admits whoever it can, and looks at as much of the map as it says.
    struct Admits(Coverage);

    impl Policy for Admits {
        fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
            let admit = |id| Change::new(crate::admission::Action::Admit, id, Because::Score);
            let ids = view.problem.candidates.iter().map(|c| admit(c.id));
            let changes = Reporters::Changes(ids.collect());
            Plan::new(changes, Binding::Nothing, view.parameters)
        }

        fn hints(&self) -> Hints {
            Hints {
                coverage: self.0,
                ..Hints::COSTS
            }
        }
    }

    /// A host after some cycles in which itself and two contributors look around.
    fn host(coverage: Coverage) -> Host {
        let profile = Profile::new(Parameters::default(), move || Admits(coverage));
        let mut host = Host::new(&profile, AgentId(1), Tile::new(0, 0), Instant::ZERO, None);
        let state = AgentState {
            position: Position::new(250.0, 250.0),
            ..AgentState::default()
        };
        for cycle in 0..8 {
            let at = Instant::from_millis(200 * cycle + 50);
            host.handle_input(at, Input::Moved(&state));
            let seen = Input::Sensed {
                objects: &[],
                cells: &[Cell::new(12, 12)],
            };
            host.handle_input(at, seen);
            for (id, cell) in [(2, Cell::new(13, 12)), (3, Cell::new(14, 12))] {
                let sender = AgentId(id);
                let beacon = Beacon {
                    sender,
                    at,
                    state,
                    digest: CoverageDigest::new(std::vec![cell]).ok(),
                    low_frequency: false,
                };
                host.handle_input(at, Input::Beacon(&beacon));
                let report = Report {
                    sender,
                    at,
                    objects: Vec::new(),
                    sensor_information: false,
                };
                host.handle_input(at, Input::Report(&report));
            }
            host.handle_input(Instant::from_millis(200 * cycle + 150), Input::Tick);
        }
        assert_eq!(host.contributors(), [AgentId(2), AgentId(3)]);
        host
    }

    #[test]
    fn maps_are_made_as_far_as_the_policy_looks_at_them() {
        let ignored = host(Coverage::Ignored);
        assert_eq!(ignored.coverage().count(), 0);
        assert!(
            ignored.choice.admission.map().is_empty(),
            "nothing was fused"
        );
        assert_eq!(ignored.maps.without.len(), 0);
        let priced = host(Coverage::Priced);
        assert_eq!(priced.coverage().count(), 3);
        assert_eq!(priced.maps.without.len(), 0);
        let weighed = host(Coverage::Weighed);
        assert!(weighed.coverage().eq(priced.coverage()));
        assert_eq!(weighed.maps.without.len(), 2);
    }

    /// Kept as differences, a map without somebody is the one that is kept whole.
    #[test]
    fn a_map_without_somebody_is_the_same_cell_by_cell() {
        let rules = Parameters::default().rules();
        let views: [(u64, &[u32]); 2] = [(2, &[1, 2, 5]), (3, &[2, 6, 7])];
        let mut maps = CoverageMaps::new(Coverage::Weighed, 8);
        let mut whole = std::vec![std::vec![0.0; 8]; 2];
        let mut admission = Admission::new();
        for (id, _) in views {
            maps.admit(AgentId(id));
        }
        let all: Vec<u32> = (0..8).collect();
        for cycle in 0..12u32 {
            // What somebody sees moves on, and reports are lost now and then.
            let views = views.map(|(id, cells)| {
                let least = match cycle {
                    0..4 => 0,
                    4..9 => 2,
                    _ => 3,
                };
                let moved = cells.iter().filter(|&&cell| cell >= least);
                (id, moved.copied().collect::<Vec<u32>>())
            });
            let mut priors = Vec::new();
            for (id, cells) in &views {
                assert!(maps.read_without(AgentId(*id), cells, &mut priors));
            }
            let (first, second) = priors.split_at(views[0].1.len());
            let contributor = |k: usize, prior| AdmissionContributor {
                id: AgentId(views[k].0),
                cells: &views[k].1,
                decoded: !(cycle as usize + k).is_multiple_of(3),
                decoded_fraction: 0.5,
                report_bytes: 100.0,
                broadcast_bytes: 10.0,
                prior_without: Some(prior),
            };
            let contributors = [contributor(0, first), contributor(1, second)];
            let prior = maps.map().to_vec();
            let host: &[u32] = if cycle < 6 { &[0, 3] } else { &[3] };
            admission.fuse(
                &rules,
                &crate::admission::AdmissionProblem {
                    price: 0.0,
                    broadcast_base_bytes: 100.0,
                    broadcast_delivery: 1.0,
                    prior: &prior,
                    rho: &[1.0; 8],
                    deadline_s: &[1.0; 8],
                    host_cells: host,
                    overheard: &[],
                    contributors: &contributors,
                    candidates: &[],
                },
            );
            for (contributor, map) in contributors.iter().zip(&mut whole) {
                admission.age_map_without(&rules, contributor, map);
            }
            maps.advance(&admission, rules.decay(), &contributors);
            for ((id, _), map) in views.iter().zip(&whole) {
                let mut kept = Vec::new();
                maps.read_without(AgentId(*id), &all, &mut kept);
                let same = kept.iter().zip(map).all(|(a, b)| (a - b).abs() < 1e-9);
                assert!(same, "{cycle}: {kept:?} {map:?}");
            }
        }
        let mut kept = Vec::new();
        maps.read_without(AgentId(2), &[0, 2, 5], &mut kept);
        let map = maps.map();
        assert_eq!(kept[0], map[0], "both look where neither does");
        assert!(kept[2] < map[5], "nobody else saw that cell");
        // Who is no longer asked has none.
        maps.keep(&[AgentId(3)]);
        assert!(!maps.read_without(AgentId(2), &[0], &mut kept));
        assert!(maps.read_without(AgentId(3), &[0], &mut kept));
    }
}
