//! The service scope of a decision: who is within the footprint, and what each of them sees.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::members::Member;
use crate::grid::{Position, Window};
use crate::ids::AgentId;
use crate::parameters::Parameters;
use crate::policy::{LastReport, ScopeMember};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Members within the footprint, by ascending id, the host not included.
pub(super) struct Scope<'a> {
    pub(super) members: Vec<ScopeMember<'a>>,
    /// Each of them with its view, as a part of `cells`.
    records: Vec<(&'a Member, Range<usize>)>,
    cells: &'a [u32],
    /// Mean share of their beacons that is decoded.
    pub(super) delivery: f64,
}

impl<'a> Scope<'a> {
    /// Finds them; `cells` is room for their views.
    pub(super) fn new(
        parameters: &Parameters,
        window: &Window,
        own: Position,
        members: &'a SortedMap<AgentId, Box<Member>>,
        now: Instant,
        cells: &'a mut Vec<u32>,
    ) -> Self {
        cells.clear();
        let mut scope = Vec::with_capacity(members.len() + 1);
        let mut records = Vec::with_capacity(members.len());
        let mut delivery = 0.0;
        for (id, member) in members.iter() {
            if !member.is_within(own, parameters.footprint_m) {
                continue;
            }
            let interval = Duration::from_seconds(parameters.beacon_interval_s(member.state.speed));
            let beacon_share = member.beacon_share(now, interval, parameters.beacon_window);
            delivery += beacon_share;
            scope.push(ScopeMember {
                id,
                state: &member.state,
                heard_at: member.heard_at,
                beacon_share,
                path: &member.path,
            });
            let begin = cells.len();
            member.view(window, cells);
            records.push((&**member, begin..cells.len()));
        }
        // The channel is reciprocal: how well members are heard tells how well they hear.
        let delivery = if scope.is_empty() {
            1.0
        } else {
            delivery / scope.len() as f64
        };
        Self {
            members: scope,
            records,
            cells,
            delivery,
        }
    }

    /// Everyone with its view.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ScopeMember<'a>, &'a [u32])> {
        let cells = self.cells;
        let members = self.members.iter().zip(&self.records);
        members.map(move |(s, (_, view))| (s, &cells[view.clone()]))
    }

    /// Those of `ids` who are there, with their records and views; both go by ascending id.
    pub(super) fn some(&self, ids: &[AgentId]) -> Vec<(AgentId, &'a Member, &'a [u32])> {
        let mut found = Vec::with_capacity(ids.len());
        let mut at = 0;
        for &id in ids {
            at += self.members[at..].iter().take_while(|s| s.id < id).count();
            if self.members.get(at).is_some_and(|s| s.id == id) {
                let (member, view) = &self.records[at];
                found.push((id, *member, &self.cells[view.clone()]));
            }
        }
        found
    }

    /// Everyone, the host included.
    pub(super) fn with_host<'h>(
        &self,
        id: AgentId,
        own: &'h super::Own,
        now: Instant,
    ) -> Vec<ScopeMember<'h>>
    where
        'a: 'h,
    {
        let mut members: Vec<ScopeMember<'h>> = Vec::with_capacity(self.members.len() + 1);
        let at = self.members.partition_point(|s| s.id < id);
        members.extend_from_slice(&self.members[..at]);
        members.push(ScopeMember {
            id,
            state: &own.state,
            heard_at: now,
            beacon_share: 1.0,
            path: &own.path,
        });
        members.extend_from_slice(&self.members[at..]);
        members
    }

    /// The last decoded report of everyone that sent one within `memory`.
    pub(super) fn reports(&self, now: Instant, memory: Duration) -> Vec<LastReport<'a>> {
        let members = self.members.iter().zip(&self.records);
        members
            .filter_map(|(s, (member, _))| {
                let reports = &member.reports;
                let at = reports.at.filter(|&at| now.since(at) <= memory)?;
                Some(LastReport {
                    sender: s.id,
                    at,
                    sensed_at: reports.sensed_at.unwrap_or(at),
                    objects: &reports.ids,
                })
            })
            .collect()
    }
}
