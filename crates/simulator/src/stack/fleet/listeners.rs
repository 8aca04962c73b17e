//! What receivers learn of objects from reports and broadcasts.

use covey_protocol::messages::{Broadcast, ObjectState};
use covey_protocol::{Instant, ObjectId};

use super::offices::{Follower, InOffice, Listed};
use crate::channel::{Speaker, Told};
use crate::ids::{Slot, Step};
use crate::sensing::Whereabouts;
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
    let firsts = follow(&mut office.following, broadcast.sequence, receivers);
    unlist(office, broadcast);
    if silence_refreshes {
        let unchanged = stamp(broadcast.unchanged_since);
        // Objects last listed together are known to the same receivers.
        office.listed.sort_unstable_by_key(|listed| listed.since);
        for same in office.listed.chunk_by(|a, b| a.since == b.since) {
            let unbroken = |&(_, &first): &(&Slot, &u32)| first <= same[0].since;
            let followers = receivers.iter().zip(&firsts).filter(unbroken);
            let followers = followers.map(|(&receiver, _)| receiver);
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
    for state in states {
        match measured(world, office, state.id) {
            Some(Thing::Vehicle(slot)) => {
                told.tell(message, slot, stamp(&state));
                if world.prepared.gate.is_some() {
                    told.say(slot, Whereabouts::from(&state));
                }
            }
            Some(Thing::Ghost(ghost)) => told.tell_ghost(message, ghost, stamp(&state)),
            None => {}
        }
    }
    told.said_all();
}

/// Notes who received a broadcast, by ascending place; gives of each the first broadcast of the unbroken run up to this one.
fn follow(following: &mut Vec<Follower>, sequence: u32, receivers: &[Slot]) -> Vec<u32> {
    let mut firsts = Vec::with_capacity(receivers.len());
    let mut now = Vec::with_capacity(receivers.len());
    let mut before = following.drain(..).peekable();
    for &slot in receivers {
        // Whoever missed this one begins anew with the next that it receives, unless an old one was repeated.
        while let Some(other) = before.next_if(|other| other.slot < slot) {
            now.extend((other.next > sequence).then_some(other));
        }
        let first = match before.next_if(|other| other.slot == slot) {
            Some(known) if known.next == sequence => known.first,
            _ => sequence,
        };
        firsts.push(first);
        now.push(Follower {
            slot,
            next: sequence + 1,
            first,
        });
    }
    now.extend(before.filter(|other| other.next > sequence));
    *following = now;
    firsts
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_misses_a_broadcast_begins_anew() {
        let mut following = Vec::new();
        let mut follow = |sequence, receivers: &[u32]| {
            let receivers: Vec<Slot> = receivers.iter().map(|&n| Slot(n)).collect();
            super::follow(&mut following, sequence, &receivers)
        };
        assert_eq!(follow(0, &[2, 5, 9]), [0, 0, 0]);
        assert_eq!(follow(1, &[1, 2, 9]), [1, 0, 0]);
        assert_eq!(follow(2, &[1, 5, 9]), [1, 2, 0]);
        // One that is repeated disturbs nobody who does not hear it.
        assert_eq!(follow(0, &[1, 7]), [0, 0]);
        assert_eq!(follow(3, &[1, 5, 9]), [3, 2, 0]);
        assert_eq!(follow(4, &[]), [0; 0]);
        assert_eq!(follow(5, &[9]), [5]);
    }
}
