//! One evaluation, as far as all arms share it: what is relevant and not seen by oneself.

use covey_world::paths::RelevantObject;
use covey_world::sight::{Observed, Sighting};

use super::knowledge::in_time;
use crate::ids::{FrameIndex, Slot};
use crate::world::{Stamp, World};

/// Environmental awareness looks as far as this, in metres, and this often, in cycles.
const AWARENESS_M: f64 = 150.0;
const AWARENESS_EVERY: u32 = 5;

/// A relevant pair that the vehicle's own sensors do not tell of in time.
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
    pub(super) around: Vec<(Slot, Slot)>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(world: &'a World<'_>) -> Self {
        let tiles = world.prepared.tiles.len();
        let mut evaluation = Self {
            observed: world.prepared.sight.observe(&world.road.frame.vehicles),
            relevant: vec![0; tiles],
            relevant_all: 0,
            missed_unequipped: 0,
            pairs: Vec::new(),
            participants: vec![0; tiles],
            around: Vec::new(),
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
            if !seen {
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
        let cycle = world.cycle();
        let one_in = u64::from(world.prepared.scenario.evaluation.sample_one_in);
        for &slot in world.road.participants() {
            evaluation.participants[world.tile(slot).index()] += 1;
            if cycle.is_multiple_of(AWARENESS_EVERY)
                && (world.agent(slot).mixed() >> 4).is_multiple_of(one_in)
            {
                let here = world.here(slot).truth();
                let near = |&other: &Slot| {
                    other != slot && world.here(other).truth().distance(here) <= AWARENESS_M
                };
                let others = world.road.present().iter().copied().filter(near);
                evaluation.around.extend(others.map(|other| (slot, other)));
            }
        }
        evaluation
    }
}
