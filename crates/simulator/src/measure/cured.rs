//! Does the score foretell the benefit? Misses cured over the score that the contributor had.
//!
//! A miss cured by an admission is a relevant pair of a member of the host's service scope and an object whose only in-time
//! information at the next evaluation came from the admitted one: by its own reports, or by broadcasts of what the host had
//! from it alone. That is the benefit of eq. (2), where the score is its surrogate, eq. (3).
//!
//! Only one cycle in [`EVERY`] is looked at, the same ones in every arm. Nothing here reaches a participant.

use covey_protocol::AgentId;
use covey_protocol::admission::{Decision, Score};

use super::evaluation::Pair;
use super::knowledge::{Knowledge, in_time};
use crate::channel::Speaker;
use crate::ids::Slot;
use crate::world::World;

/// One cycle in this many is looked at; prime to the cycles from one full broadcast to the next.
pub(crate) const EVERY: u32 = 11;

/// Someone who was admitted or kept.
#[derive(Debug, Clone, Copy)]
struct Admitted {
    /// Vehicle numbers: places may be given to others until the next evaluation.
    agent: u32,
    host: u32,
    score: f64,
    cured: u32,
}

/// The decisions whose benefit the next evaluation will tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Credit {
    open: bool,
    admitted: Vec<Admitted>,
}

impl Credit {
    /// Hosts are about to decide.
    pub(crate) fn begin(&mut self, world: &World<'_>) {
        self.open = (world.cycle() + 1).is_multiple_of(EVERY);
        if self.open {
            self.admitted.clear();
        }
    }

    /// A host decided; `contributors` is the set that it decided for.
    pub(crate) fn decided(
        &mut self,
        host: AgentId,
        decision: &Decision,
        scores: &[Score],
        contributors: &[AgentId],
    ) {
        // Policies that do not score leave none.
        if !self.open || scores.is_empty() {
            return;
        }
        for &agent in contributors {
            let changed = decision.changes.iter().rev().find(|c| c.id == agent);
            let score = match changed {
                Some(change) => Some(change.score),
                None => scores.iter().find(|s| s.id == agent).map(|s| s.score),
            };
            if let Some(score) = score {
                self.admitted.push(Admitted {
                    agent: agent.0 as u32,
                    host: host.0 as u32,
                    score,
                    cured: 0,
                });
            }
        }
    }

    /// Counts what the decisions of the cycle before cured, as (score, misses cured), by agent and host.
    pub(crate) fn settle<'a>(
        &mut self,
        world: &World<'_>,
        knowledge: &Knowledge<'_>,
        pairs: impl Iterator<Item = &'a Pair>,
        footprint_m: f64,
        out: &mut Vec<[f64; 2]>,
    ) {
        if !world.cycle().is_multiple_of(EVERY) || self.admitted.is_empty() {
            return;
        }
        self.admitted.sort_unstable_by_key(|a| (a.agent, a.host));
        for pair in pairs {
            let Some(reporter) = sole_reporter(world, knowledge, pair) else {
                continue;
            };
            let agent = world.road.id(reporter);
            let first = self.admitted.partition_point(|a| a.agent < agent);
            for admitted in &mut self.admitted[first..] {
                if admitted.agent != agent {
                    break;
                }
                let serves = world.road.slot(admitted.host).is_some_and(|host| {
                    in_scope(world, knowledge, host, pair.vehicle, footprint_m)
                });
                admitted.cured += u32::from(serves);
            }
        }
        out.extend(
            self.admitted
                .drain(..)
                .map(|a| [a.score, f64::from(a.cured)]),
        );
    }
}

/// The one whose reports alone told the vehicle of the object in time; none where there are several, or other sources.
fn sole_reporter(world: &World<'_>, knowledge: &Knowledge<'_>, pair: &Pair) -> Option<Slot> {
    let fresh = |stamp| in_time(world, stamp, pair.relevant.deadline_us);
    let heard = |listener| fresh(knowledge.beacons.at(pair.object, listener, knowledge.lane));
    if heard(pair.vehicle) {
        return None;
    }
    let mut sole = None;
    let mut only = |reporter: Slot| *sole.get_or_insert(reporter) == reporter;
    let told = knowledge.told;
    for (speaker, stamp) in told.of(pair.object, pair.vehicle) {
        if !fresh(stamp) {
            continue;
        }
        let alone = match speaker {
            Speaker::Reporter(reporter) => only(reporter),
            Speaker::Host(host) => {
                // What the host knows otherwise it would have told anyway.
                !heard(host)
                    && !fresh(world.sights.sensed.at(pair.object, host))
                    && told
                        .of(pair.object, host)
                        .filter(|&(_, stamp)| fresh(stamp))
                        .all(|(speaker, _)| match speaker {
                            Speaker::Reporter(reporter) => only(reporter),
                            // Another host's object is that host's to keep.
                            Speaker::Host(_) => true,
                            Speaker::Gone => false,
                        })
            }
            Speaker::Gone => false,
        };
        if !alone {
            return None;
        }
    }
    sole
}

/// The host heard the vehicle within the soft-state time, within its footprint.
fn in_scope(
    world: &World<'_>,
    knowledge: &Knowledge<'_>,
    host: Slot,
    vehicle: Slot,
    footprint_m: f64,
) -> bool {
    if host == vehicle {
        return true;
    }
    let stamp = knowledge.beacons.at(vehicle, host, knowledge.lane);
    let remembered = world.prepared.timeline.soft_state;
    let step = world.time.step_of(stamp.max(1));
    world.age(stamp).is_some_and(|age| age <= remembered)
        && world
            .road
            .moment(vehicle, step)
            .state
            .position
            .distance(world.here(host).state.position)
            <= footprint_m
}
