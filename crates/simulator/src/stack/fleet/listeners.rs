//! What receivers learn of objects from reports and broadcasts.

use covey_protocol::messages::{Broadcast, ObjectState};
use covey_protocol::{Instant, ObjectId};

use super::offices::{InOffice, Listed};
use crate::channel::{Speaker, Told};
use crate::ids::{Slot, Step};
use crate::world::{GhostId, Stamp, World};

/// Receivers of a report learn of its objects, sensed at `stamp`; so does `reported`, where reports are told apart.
pub(super) fn hear_report(
    world: &World<'_>,
    told: &mut Told,
    reported: Option<&mut Told>,
    reporter: Slot,
    receivers: &[Slot],
    objects: &[ObjectState],
    stamp: Stamp,
) {
    for told in [Some(told), reported].into_iter().flatten() {
        let message = told.message(world.step(), receivers.iter().copied());
        told.spoken_by(message, Speaker::Reporter(reporter));
        for object in objects {
            match thing(world, object.id) {
                Some(Thing::Vehicle(slot)) => told.tell(message, slot, stamp),
                Some(Thing::Ghost(ghost)) => told.tell_ghost(message, ghost, stamp),
                None => {}
            }
        }
    }
}

/// Receivers of a broadcast learn of the objects that it lists, and by silence of those listed before.
pub(super) fn hear_broadcast(
    world: &World<'_>,
    told: &mut Told,
    office: &mut InOffice,
    broadcast: &Broadcast,
    receivers: &[Slot],
    silence_refreshes: bool,
) {
    let stamp = |at: Instant| {
        let step = (at.micros() / covey_traffic::STEP_US) as u32;
        world.time.stamp(Step(step))
    };
    let slot = office.slot;
    follow(office, world.road.size(), broadcast.sequence, receivers);
    unlist(office, broadcast);
    if silence_refreshes {
        let unchanged = stamp(broadcast.unchanged_since);
        // Objects last listed together are known to the same receivers.
        office.listed.sort_unstable_by_key(|listed| listed.since);
        for same in office.listed.chunk_by(|a, b| a.since == b.since) {
            let unbroken = |receiver: &Slot| office.following[receiver.index()].1 <= same[0].since;
            let followers = receivers.iter().copied().filter(unbroken);
            let message = told.message(world.step(), followers);
            told.spoken_by(message, Speaker::Host(slot));
            told.is_silence(message);
            let at = broadcast.unchanged_since;
            let states = same.iter().map(|listed| ObjectState {
                sensed_at: at,
                ..listed.state
            });
            tell_all(world, told, office, message, states, |_| unchanged);
        }
    }
    let message = told.message(world.step(), receivers.iter().copied());
    told.spoken_by(message, Speaker::Host(slot));
    let states = broadcast.objects.iter().copied();
    tell_all(world, told, office, message, states, |state| {
        stamp(state.sensed_at)
    });
    let since = broadcast.sequence;
    let listed = broadcast.objects.iter();
    office
        .listed
        .extend(listed.map(|&state| Listed { state, since }));
}

/// A message tells of objects as the host holds them; `stamp` says of which step.
fn tell_all(
    world: &World<'_>,
    told: &mut Told,
    office: &InOffice,
    message: u64,
    states: impl Iterator<Item = ObjectState>,
    stamp: impl Fn(&ObjectState) -> Stamp,
) {
    let mut said = Vec::new();
    for state in states {
        match measured(world, office, state.id) {
            Some(Thing::Vehicle(slot)) => {
                told.tell(message, slot, stamp(&state));
                if world.prepared.gate.is_some() {
                    said.push((slot, state));
                }
            }
            Some(Thing::Ghost(ghost)) => told.tell_ghost(message, ghost, stamp(&state)),
            None => {}
        }
    }
    if !said.is_empty() {
        told.say(message, said);
    }
}

/// Notes who received a broadcast.
fn follow(office: &mut InOffice, size: usize, sequence: u32, receivers: &[Slot]) {
    office.following.resize(size, (0, 0));
    for &receiver in receivers {
        let (next, first) = &mut office.following[receiver.index()];
        if *next == 0 || *next != sequence {
            *first = sequence;
        }
        *next = sequence + 1;
    }
}

/// Takes out of the list what the broadcast withdraws, begins anew or lists itself.
fn unlist(office: &mut InOffice, broadcast: &Broadcast) {
    if broadcast.full {
        office.listed.clear();
    }
    let mut now_listed: Vec<ObjectId> = broadcast.objects.iter().map(|o| o.id).collect();
    now_listed.sort_unstable();
    office.listed.retain(|listed| {
        let held = &listed.state.id;
        broadcast.withdrawn.binary_search(held).is_err() && now_listed.binary_search(held).is_err()
    });
}

/// What a number stands for.
enum Thing {
    Vehicle(Slot),
    Ghost(GhostId),
}

fn thing(world: &World<'_>, object: ObjectId) -> Option<Thing> {
    match GhostId::of(object) {
        Some(ghost) => Some(Thing::Ghost(ghost)),
        None => world.road.slot_of(object).map(Thing::Vehicle),
    }
}

/// Whatever the host calls it: what is told is the object that was measured last.
fn measured(world: &World<'_>, office: &InOffice, object: ObjectId) -> Option<Thing> {
    let source = office.host.source_of(object).unwrap_or(object);
    thing(world, source)
}
