//! What receivers learn of objects from reports and broadcasts.

use covey_protocol::messages::Broadcast;
use covey_protocol::{Instant, ObjectId};

use super::offices::InOffice;
use crate::channel::{Speaker, Told};
use crate::ids::{Slot, Step};
use crate::world::{Stamp, World};

/// Receivers of a report learn of its objects, sensed at `stamp`; so does `reported`, where reports are told apart.
pub(super) fn hear_report(
    world: &World<'_>,
    told: &mut Told,
    reported: Option<&mut Told>,
    reporter: Slot,
    receivers: &[Slot],
    objects: impl Iterator<Item = Slot> + Clone,
    stamp: Stamp,
) {
    for told in [Some(told), reported].into_iter().flatten() {
        let message = told.message(world.step(), receivers.iter().copied());
        told.spoken_by(message, Speaker::Reporter(reporter));
        for object in objects.clone() {
            told.tell(message, object, stamp);
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
        office.listed.sort_unstable_by_key(|&(_, since)| since);
        for same in office.listed.chunk_by(|a, b| a.1 == b.1) {
            let unbroken = |receiver: &Slot| office.following[receiver.index()].1 <= same[0].1;
            let followers = receivers.iter().copied().filter(unbroken);
            let message = told.message(world.step(), followers);
            told.spoken_by(message, Speaker::Host(slot));
            for &(object, _) in same {
                if let Some(object) = measured(world, office, object) {
                    told.tell(message, object, unchanged);
                }
            }
        }
    }
    let message = told.message(world.step(), receivers.iter().copied());
    told.spoken_by(message, Speaker::Host(slot));
    for object in &broadcast.objects {
        if let Some(slot) = measured(world, office, object.id) {
            told.tell(message, slot, stamp(object.sensed_at));
        }
        office.listed.push((object.id, broadcast.sequence));
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
    office.listed.retain(|(held, _)| {
        broadcast.withdrawn.binary_search(held).is_err() && now_listed.binary_search(held).is_err()
    });
}

/// Whatever the host calls it: what is told is the object that was measured last.
fn measured(world: &World<'_>, office: &InOffice, object: ObjectId) -> Option<Slot> {
    let source = office.host.source_of(object).unwrap_or(object);
    world.road.slot_of(source)
}
