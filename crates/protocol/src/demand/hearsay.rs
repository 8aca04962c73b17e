//! What was said of objects of late, as far as the host knows.

use alloc::vec::Vec;

use super::scene::Scene;
use crate::grid::Position;
use crate::ids::ObjectId;
use crate::policy::{Listing, View};
use crate::sorted::SortedMap;
use crate::time::Instant;

/// Chance that a receiver of this broadcast has followed the host so far that silence about an object tells it something.
const FOLLOWS: f64 = 0.8;

/// What was said of each object of late, and by whom: decoded reports, and the host's own broadcasts.
pub(super) struct Hearsay {
    pub(super) host: Position,
    /// By object: where it was said, when it was sensed, how likely a listener in range makes use of it.
    said: Vec<(u32, Position, Instant, f64)>,
    offsets: Vec<u32>,
}

impl Hearsay {
    pub(super) fn new(
        view: &View<'_>,
        scene: &Scene,
        listed: &SortedMap<ObjectId, Instant>,
    ) -> Self {
        let host = match scene.find(view.host.into()) {
            Some(host) => scene.bodies()[host as usize].position,
            None => Position::default(),
        };
        let mut said = Vec::new();
        for report in view.reports {
            let Some(sender) = scene.find(report.sender.into()) else {
                continue;
            };
            let from = scene.bodies()[sender as usize].position;
            for &object in report.objects {
                if let Some(object) = scene.find(object) {
                    said.push((object, from, report.sensed_at, 1.0));
                }
            }
        }
        for (object, &sensed_at) in listed.iter() {
            if let Some(object) = scene.find(object) {
                said.push((object, host, sensed_at, 1.0));
            }
        }
        if !view.refresh {
            for known in view.known {
                if known.listing == Listing::Unchanged
                    && let Some(object) = scene.find(known.state.id)
                {
                    said.push((object, host, known.state.sensed_at, FOLLOWS));
                }
            }
        }
        said.sort_by_key(|&(object, ..)| object);
        let offsets = (0..=scene.bodies().len() as u32)
            .map(|object| said.partition_point(|&(o, ..)| o < object) as u32)
            .collect();
        Self {
            host,
            said,
            offsets,
        }
    }

    /// Chances that a listener at `place` got none of what was said of `object` and is still within its deadline: now, and
    /// `ahead_s` seconds from now.
    pub(super) fn missed(
        &self,
        view: &View<'_>,
        object: u32,
        place: Position,
        deadline_s: f64,
        ahead_s: f64,
    ) -> [f64; 2] {
        let object = object as usize;
        let range = self.offsets[object] as usize..self.offsets[object + 1] as usize;
        let mut missed = [1.0; 2];
        for &(_, from, sensed_at, use_of_it) in &self.said[range] {
            let age_s = view.now.since(sensed_at).seconds();
            let counts = [0.0, ahead_s].map(|ahead_s| age_s + ahead_s <= deadline_s + 1e-9);
            if counts == [false; 2] {
                continue;
            }
            let lost = 1.0 - use_of_it * view.links.between(from, place);
            for (missed, counts) in missed.iter_mut().zip(counts) {
                if counts {
                    *missed *= lost;
                }
            }
        }
        missed
    }
}
