//! One evaluation, as far as all arms share it: what is relevant and not seen by oneself.

use covey_world::paths::RelevantObject;
use covey_world::sight::{Observed, Sighting};

use super::field::{Around, NearPair, around, heard_around, near_pairs};
use super::knowledge::in_time;
use super::matching::Places;
use crate::channel::{BeaconHistory, HeardByLane};
use crate::ids::{FrameIndex, Slot};
use crate::world::{Stamp, World};

/// A relevant pair that the vehicle's own sensors do not tell of in time, or not right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) vehicle: Slot,
    pub(crate) object: Slot,
    /// Where the vehicle stands in the frame.
    pub(super) at: FrameIndex,
    pub(crate) relevant: RelevantObject,
    pub(super) sensed: Stamp,
    /// Why the vehicle does not see the object; found when an arm misses it.
    pub(super) hidden: Option<Sighting>,
}

/// What all arms share of one evaluation: relevant pairs that need more than own sensing.
#[derive(Debug)]
pub(crate) struct Evaluation<'a> {
    pub(crate) observed: Observed<'a>,
    /// Relevant pairs of participants by tile, and of all vehicles.
    pub(super) relevant: Vec<u64>,
    pub(super) relevant_all: u64,
    /// Missed by vehicles without a radio, whatever the arm.
    pub(super) missed_unequipped: u64,
    pub(crate) pairs: Vec<Pair>,
    /// Participants by tile.
    pub(super) participants: Vec<u32>,
    /// Participants whose surroundings are looked at in this cycle, each with everyone around it.
    pub(super) around: Vec<Around>,
    /// Where everybody is, where known states must be right to count.
    pub(super) places: Option<Places>,
    /// Pairs that are about to collide.
    pub(super) near: Vec<NearPair>,
}

/// What was heard of beacons in all arms of a group, as far as an evaluation asks for it.
#[derive(Debug)]
pub(crate) struct HeardOfPairs {
    /// Of the pairs, one by one.
    pub(super) pairs: Vec<HeardByLane>,
    /// Of those around the participants whose surroundings are looked at, one by one.
    pub(super) around: Vec<HeardByLane>,
}

impl<'a> Evaluation<'a> {
    /// Looks up what the arms of a group heard, all of them at once.
    pub(crate) fn heard(&self, world: &World<'_>, beacons: &BeaconHistory) -> HeardOfPairs {
        let pairs = self.pairs.iter();
        HeardOfPairs {
            pairs: pairs
                .map(|pair| beacons.of_each(pair.object, pair.vehicle, Stamp::MAX))
                .collect(),
            around: heard_around(world, &self.around, beacons),
        }
    }

    pub(crate) fn new(world: &'a World<'_>) -> Self {
        let tiles = world.prepared.tiles.len();
        let mut evaluation = Self {
            observed: world.prepared.sight.observe(&world.road.frame.vehicles),
            relevant: vec![0; tiles],
            relevant_all: 0,
            missed_unequipped: 0,
            pairs: Vec::new(),
            participants: vec![0; tiles],
            places: Places::new(world),
            around: around(world),
            near: near_pairs(world),
        };
        for (at, relevant) in world.relevant().iter() {
            let at = FrameIndex(at);
            let vehicle = world.road.at(at);
            let object = world.road.at(FrameIndex(relevant.object));
            let sensed = world.sights.sensed.at(object, vehicle);
            let seen = in_time(world, sensed, relevant.deadline_us);
            evaluation.relevant_all += 1;
            if !world.road.participates(vehicle) {
                evaluation.missed_unequipped += u64::from(!seen);
                continue;
            }
            evaluation.relevant[world.tile(vehicle).index()] += 1;
            let known = seen
                && evaluation.places.as_ref().is_none_or(|places| {
                    let deadline_us = relevant.deadline_us;
                    places.knows(world, None, [vehicle, object], deadline_us)
                });
            if !known {
                evaluation.pairs.push(Pair {
                    vehicle,
                    object,
                    at,
                    relevant: *relevant,
                    sensed,
                    hidden: None,
                });
            }
        }
        for &slot in world.road.participants() {
            evaluation.participants[world.tile(slot).index()] += 1;
        }
        evaluation
    }
}
