//! What everyone in scope would report, and what that costs: the agents of a decision.

use alloc::vec::Vec;

use super::costs::{Costs, LastBroadcast};
use super::maps::CoverageMaps;
use super::members::Member;
use super::scope::Scope;
use crate::admission::{AdmissionCandidate, AdmissionContributor};
use crate::grid::Tile;
use crate::ids::AgentId;
use crate::parameters::Parameters;
use crate::policy::ScopeMember;
use crate::sorted::SortedMap;
use crate::time::Instant;

/// What the agents of a decision are worked out from.
pub(super) struct Assessment<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) tile: Tile,
    pub(super) cycle_start: Instant,
    /// The broadcast that counts.
    pub(super) counted: LastBroadcast,
}

impl Assessment<'_> {
    /// The contributors, with the maps without each of them, whose values `priors` is room for.
    pub(super) fn contributors<'p>(
        &self,
        held: &[(AgentId, &Member, &'p [u32])],
        maps: &CoverageMaps,
        costs: &mut Costs,
        priors: &'p mut Vec<f64>,
    ) -> Vec<AdmissionContributor<'p>> {
        priors.clear();
        let mut kept = Vec::with_capacity(held.len());
        for &(id, _, cells) in held {
            kept.push(maps.read_without(id, cells, priors));
        }
        let mut priors = &priors[..];
        // The last map serves for contributors not yet heard; candidates are judged by the new one.
        let round = self.parameters.reports_in_round();
        let is_new = |(_, member, _): &(AgentId, &Member, &[u32])| member.reports.is_new(round);
        if held.iter().any(is_new) {
            costs.weigh(maps.map());
        }
        let mut contributors = Vec::with_capacity(held.len());
        for (&(id, member, cells), kept) in held.iter().zip(kept) {
            let prior_without = kept.then(|| {
                let (own, rest) = priors.split_at(cells.len());
                priors = rest;
                own
            });
            let reports = &member.reports;
            let [report_bytes, broadcast_bytes] =
                costs.of_contributor(self.parameters, reports, cells, self.counted);
            contributors.push(AdmissionContributor {
                id,
                cells,
                decoded: reports.at.is_some_and(|at| at >= self.cycle_start),
                decoded_fraction: reports
                    .history
                    .share(self.parameters.report_window, 0)
                    .unwrap_or(0.0),
                report_bytes,
                broadcast_bytes,
                prior_without,
            });
        }
        contributors
    }

    /// Everyone in scope but `contributors` and those `barred`.
    pub(super) fn candidates<'s>(
        &self,
        scope: &Scope<'s>,
        contributors: &[AgentId],
        barred: &SortedMap<AgentId, Instant>,
        costs: &Costs,
    ) -> Vec<AdmissionCandidate<'s>> {
        let p = self.parameters;
        let eligible = |s: &ScopeMember<'_>| {
            contributors.binary_search(&s.id).is_err()
                && (barred.len() == 0 || barred.get(s.id).is_none())
                && (!p.candidates_in_tile_only
                    || Tile::containing(s.state.position, p.tile_m) == Some(self.tile))
        };
        let others = scope.iter().filter(|(s, _)| eligible(s));
        others
            .map(|(s, cells)| {
                let [report_bytes, broadcast_bytes] = costs.of_candidate(p, cells, self.counted);
                AdmissionCandidate {
                    id: s.id,
                    cells,
                    decoded_fraction: s.beacon_share,
                    report_bytes,
                    broadcast_bytes,
                }
            })
            .collect()
    }
}
