//! The metrics of the field (docs/metrics.md): what participants know of everyone around them, how often they are told, and
//! whether those who are about to collide know of each other.
//!
//! Surroundings are looked at for one participant in `evaluation.sample_one_in` and one cycle in [`EVERY`], the same in all arms.

use covey_world::paths::time_to_collision;

use super::knowledge::{Knowledge, in_time};
use crate::channel::{BeaconHistory, HeardByLane};
use crate::ids::{FrameIndex, Slot, Step};
use crate::outcome::{AWARENESS_M, FieldMetrics, Outcome};
use crate::prepared::STEP_S;
use crate::world::World;

/// Surroundings are looked at in one cycle of this many.
const EVERY: u32 = 5;
/// How far ages are looked at, in metres: as far as sensors see.
const AGES_M: f64 = 150.0;
/// How far receptions of an object are counted, in metres.
const REDUNDANCY_M: f64 = 200.0;
/// Receptions are counted over this time, in seconds.
const SECOND_S: f64 = 1.0;
/// Whoever would collide within this time, in seconds, is near: the usual threshold of traffic conflicts.
const NEAR_S: f64 = 1.5;

/// Somebody around a sampled participant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    slot: Slot,
    other: Slot,
    distance_m: f64,
}

/// The surroundings of the participants that are looked at in this cycle.
pub(super) fn around(world: &World<'_>) -> Vec<Around> {
    let mut around = Vec::new();
    if !world.cycle().is_multiple_of(EVERY) {
        return around;
    }
    let farthest = AWARENESS_M.into_iter().fold(AGES_M, f64::max);
    let one_in = u64::from(world.prepared.scenario.evaluation.sample_one_in);
    for &slot in world.road.participants() {
        if !(world.agent(slot).mixed() >> 4).is_multiple_of(one_in) {
            continue;
        }
        let here = world.here(slot).truth();
        let others = world.road.present().iter().copied();
        around.extend(others.filter(|&other| other != slot).filter_map(|other| {
            let distance_m = world.here(other).truth().distance(here);
            (distance_m <= farthest).then_some(Around {
                slot,
                other,
                distance_m,
            })
        }));
    }
    around
}

/// Receptions are counted from this step on.
fn since(world: &World<'_>) -> Step {
    let steps = (SECOND_S / STEP_S) as u32;
    Step(world.step().0.saturating_sub(steps - 1))
}

/// What the sampled participants heard of those around them, in all arms of a group.
pub(super) fn heard_around(
    world: &World<'_>,
    around: &[Around],
    beacons: &BeaconHistory,
) -> Vec<HeardByLane> {
    let since = world.time.stamp(since(world));
    let heard = |pair: &Around| beacons.of_each(pair.other, pair.slot, since);
    around.iter().map(heard).collect()
}

/// What the sampled participants of an arm know of those around them; `heard` goes with `around` one by one.
pub(super) fn look_around(
    world: &World<'_>,
    around: &[Around],
    heard: &[HeardByLane],
    knowledge: &Knowledge<'_>,
    outcome: &mut Outcome,
) {
    let since = since(world);
    for (
        &Around {
            slot,
            other,
            distance_m,
        },
        heard,
    ) in around.iter().zip(heard)
    {
        let pair = [other, slot];
        let counted = distance_m <= REDUNDANCY_M;
        let (told, times) = match counted {
            true => knowledge.told_and_times(world, pair, heard, since),
            false => (knowledge.told_besides(world, pair, heard), 0),
        };
        let newest = told.max(world.sights.sensed.at(other, slot));
        let soft_state = world.prepared.timeline.soft_state;
        let age = world.age(newest).filter(|&age| age <= soft_state);
        for (counts, within) in outcome.field.aware.iter_mut().zip(AWARENESS_M) {
            if distance_m <= within {
                counts[0] += u64::from(age.is_some());
                counts[1] += 1;
            }
        }
        if distance_m <= AGES_M {
            outcome.aware[1] += 1;
            if let Some(age) = age {
                outcome.aware[0] += 1;
                let us = i64::from(age) * covey_traffic::STEP_US;
                outcome.age.add(us as f64 * 1e-6);
                outcome.field.add_age(age);
            }
        }
        if times > 0 {
            outcome.field.redundancy.add(f64::from(times - 1));
        }
    }
}

/// Two that would collide soon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NearPair {
    one: Slot,
    other: Slot,
    deadline_us: i64,
}

/// The relevant pairs that would collide soon, each once.
pub(super) fn near_pairs(world: &World<'_>) -> Vec<NearPair> {
    let vehicles = &world.road.frame.vehicles;
    let mut pairs = Vec::new();
    for (at, relevant) in world.relevant().iter() {
        let places = [at, relevant.object];
        let [one, other] = places.map(|at| &vehicles[at as usize]);
        if time_to_collision(one, other).is_some_and(|seconds| seconds < NEAR_S) {
            let [one, other] = places.map(|at| world.road.at(FrameIndex(at)));
            pairs.push(NearPair {
                one: one.min(other),
                other: one.max(other),
                deadline_us: relevant.deadline_us,
            });
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.one, pair.other, pair.deadline_us));
    pairs.dedup_by_key(|pair| (pair.one, pair.other));
    let participates = |slot| world.road.participates(slot);
    pairs.retain(|pair| participates(pair.one) || participates(pair.other));
    pairs
}

/// Counts the pairs about to collide of which one does not know of the other in time.
pub(super) fn count_near(
    world: &World<'_>,
    near: &[NearPair],
    knowledge: &Knowledge<'_>,
    counts: &mut FieldMetrics,
) {
    for &NearPair {
        one,
        other,
        deadline_us,
    } in near
    {
        let unaware = |vehicle: Slot, object: Slot| {
            let sensed = world.sights.sensed.at(object, vehicle);
            world.road.participates(vehicle)
                && !in_time(world, sensed, deadline_us)
                && !in_time(world, knowledge.told(world, object, vehicle), deadline_us)
        };
        counts.near[0] += u64::from(unaware(one, other) || unaware(other, one));
        counts.near[1] += 1;
    }
}
