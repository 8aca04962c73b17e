//! What recorders are told of a cycle.

use covey_world::sight::Sighting;

use super::evaluation::Evaluation;
use super::facts::{self, OwnSight, Relation, Relevant, Seen, Source};
use super::knowledge::{Knowledge, age_us, in_time};
use crate::channel::Told;
use crate::ids::{FrameIndex, Slot};
use crate::world::World;

impl Knowledge<'_> {
    /// What participants know of each object that matters to them, for whoever records; by vehicle, then object.
    ///
    /// `reported` tells reports from broadcasts; without it everything that is no beacon counts as a report.
    pub(crate) fn record(
        &self,
        world: &World<'_>,
        evaluation: &Evaluation<'_>,
        reported: Option<&Told>,
    ) -> Recorded {
        let mut list = Vec::new();
        for (place, relevant) in world.relevant().iter() {
            let vehicle = world.road.at(FrameIndex(place));
            let object = world.road.at(FrameIndex(relevant.object));
            if !world.road.participates(vehicle) {
                continue;
            }
            let sensed = world.sights.sensed.at(object, vehicle);
            let told = self.told(world, object, vehicle);
            let newest = sensed.max(told);
            let in_time_at = |stamp| in_time(world, stamp, relevant.deadline_us);
            let hidden = if in_time_at(sensed) {
                Sighting::Seen
            } else {
                let own = world.road.sensor(world.prepared, vehicle);
                evaluation.observed.hidden_from(place, own, relevant.object)
            };
            let age = age_us(world, newest);
            let source = if age.is_none() {
                Source::Unknown
            } else if sensed == newest {
                Source::Sensing
            } else if self.beacons.at(object, vehicle, self.lane) == newest {
                Source::Beacon
            } else if reported.is_none_or(|reported| reported.at(object, vehicle) == newest) {
                Source::Report
            } else {
                Source::Broadcast
            };
            let missed = !evaluation.places.as_ref().map_or_else(
                || in_time_at(newest),
                |places| {
                    let pair = [vehicle, object];
                    places.knows(world, Some(self), pair, relevant.deadline_us)
                },
            );
            let silent =
                !world.road.participates(object) && !in_time_at(world.sights.by_any(object));
            list.push((
                Relevant {
                    vehicle: world.road.id(vehicle),
                    object: world.road.id(object),
                    deadline_ms: (relevant.deadline_us / 1000).clamp(0, i64::from(u32::MAX)) as u32,
                    relation: if relevant.reasons.ahead() {
                        Relation::Ahead
                    } else {
                        Relation::Crossing
                    },
                    sight: match hidden {
                        Sighting::Seen => OwnSight::Visible,
                        Sighting::Building => OwnSight::Building,
                        Sighting::Vehicle => OwnSight::Vehicle,
                        Sighting::OutOfRange => OwnSight::Range,
                    },
                },
                facts::Knowledge {
                    source,
                    age_ms: age.map_or(0, |age| (age / 1000) as u32),
                    missed,
                    seen_by_nobody: missed && silent,
                    from: None,
                },
                match missed {
                    true => seen_by(world, [vehicle, object], relevant.deadline_us),
                    false => Vec::new(),
                },
            ));
        }
        list.sort_by_key(|(pair, _, _)| (pair.vehicle, pair.object));
        let mut all = Recorded::default();
        for (number, (pair, known, by)) in (0u32..).zip(list) {
            if known.missed {
                all.seen.push(Seen { pair: number, by });
            }
            all.relevant.push(pair);
            all.known.push(known);
        }
        all
    }
}

/// What is known of each object that matters, in lists of the same order, and who could have told of the missed ones.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) relevant: Vec<Relevant>,
    pub(crate) known: Vec<facts::Knowledge>,
    pub(crate) seen: Vec<Seen>,
}

/// Participants besides the two whose own sensors had seen the object within the deadline, by ascending number.
fn seen_by(world: &World<'_>, [vehicle, object]: [Slot; 2], deadline_us: i64) -> Vec<u32> {
    let others = world.road.places();
    let others = others.filter(|&slot| slot != vehicle && slot != object);
    let others = others.filter(|&slot| world.road.participates(slot));
    let saw = |slot: &Slot| in_time(world, world.sights.sensed.at(object, *slot), deadline_us);
    let mut by: Vec<u32> = others.filter(saw).map(|slot| world.road.id(slot)).collect();
    by.sort_unstable();
    by
}
