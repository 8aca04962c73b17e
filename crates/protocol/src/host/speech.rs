//! What a host will say: the objects of its broadcast and what it asks contributors for, by the policy's plan.

use alloc::vec::Vec;

use super::costs::AskedReports;
use super::fused::{FusedState, ListedObjects};
use crate::admission::{AdmissionProblem, Rules};
use crate::ids::{AgentId, ObjectId};
use crate::messages::Content;
use crate::parameters::Parameters;
use crate::policy::Repeat;
use crate::time::Instant;

/// A broadcast that is composed but for the contributor list.
pub(super) struct Speech {
    pub(super) content: Content,
    pub(super) requested: Vec<ObjectId>,
    pub(super) listing: ListedObjects,
    /// Bytes of the broadcast without contributors: at the size that counts, or as it is where objects are picked.
    pub(super) base_bytes: f64,
    /// Objects were picked one by one, so contributors add nothing to the broadcast but their names.
    picked: bool,
}

/// Bytes that a broadcast may have, and has.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// All that the bounds leave.
    pub(super) bytes: f64,
    /// What it has with all that is fresh, without contributors, at the size that counts.
    pub(super) fresh_bytes: f64,
}

impl Room {
    /// By both bounds, and by what the problem says of the broadcast.
    pub(super) fn of(rules: &Rules, problem: &AdmissionProblem<'_>) -> Self {
        Self {
            bytes: rules.room_bytes(),
            fresh_bytes: problem.broadcast_base_bytes,
        }
    }
}

impl Speech {
    /// Lists what the plan repeats and asks for by name: of both no more than there is room for.
    pub(super) fn compose(
        parameters: &Parameters,
        room: Room,
        (content, mut requested): (Content, Vec<ObjectId>),
        repeat: Repeat,
        fused: &mut FusedState,
        now: Instant,
    ) -> Self {
        let p = parameters;
        if content != Content::Requested {
            requested.clear();
        }
        let listings = match &repeat {
            Repeat::Fresh => Vec::new(),
            Repeat::Picked(_) => fused.listings(p, now),
        };
        let least = match &repeat {
            Repeat::Fresh => room.fresh_bytes,
            Repeat::Picked(_) => {
                let withdrawn = fused.withdrawals(p, &listings, now);
                p.empty_bytes() + p.withdrawn_bytes * withdrawn as f64
            }
        };
        // Casting cuts what is below zero, and not-a-number.
        requested.truncate(((room.bytes - least) / p.requested_bytes) as usize);
        let requests = p.requested_bytes * requested.len() as f64;
        let picked = matches!(repeat, Repeat::Picked(_));
        let (listing, base_bytes) = match repeat {
            Repeat::Fresh => (fused.list(p, now), least + requests),
            Repeat::Picked(ids) => {
                let left = room.bytes - least - requests;
                let ids = fused.fitting(p, listings, &ids, left);
                let listing = fused.list_picked(p, &ids, now);
                let bytes = p.empty_bytes()
                    + p.object_bytes * listing.objects.len() as f64
                    + p.withdrawn_bytes * listing.withdrawn.len() as f64;
                (listing, bytes + requests)
            }
        };
        Self {
            content,
            requested,
            listing,
            base_bytes,
            picked,
        }
    }

    /// Bytes that an agent of the decision costs; none for others.
    pub(super) fn cost<'p>(
        &self,
        parameters: &Parameters,
        problem: &AdmissionProblem<'p>,
        asked: &AskedReports,
    ) -> impl Fn(AgentId) -> Option<f64> + use<'p> {
        let own_choice = self.content.is_by_need().then(|| asked.bytes());
        let name_only = self.picked.then_some(parameters.contributor_bytes);
        let (contributors, candidates) = (problem.contributors, problem.candidates);
        move |id| {
            let (report, broadcast) = match contributors.binary_search_by_key(&id, |c| c.id) {
                Ok(at) => (
                    contributors[at].report_bytes,
                    contributors[at].broadcast_bytes,
                ),
                Err(_) => {
                    let at = candidates.binary_search_by_key(&id, |c| c.id).ok()?;
                    (candidates[at].report_bytes, candidates[at].broadcast_bytes)
                }
            };
            Some(own_choice.unwrap_or(report) + name_only.unwrap_or(broadcast))
        }
    }
}
