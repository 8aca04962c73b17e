//! What a broadcast does to those who receive it.

use super::*;

impl Hosted {
    /// Delivers broadcasts, in order; `carried` goes with them one by one.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    pub(crate) fn deliver_broadcasts(
        &mut self,
        shared: &Shared<'_>,
        air: &mut Air,
        broadcasts: &[(u32, Broadcast, u32)],
        told: &mut Told,
        hosts: &mut [u16],
        lane: usize,
        receptions: &mut u64,
        number: usize,
        observer: &mut dyn Observer,
    ) {
        let reception = air::reception(shared, BROADCAST);
        let carried = air.carried.clone();
        let mut delivered = Vec::with_capacity(broadcasts.len());
        for ((slot, broadcast, bytes), carried) in broadcasts.iter().zip(carried) {
            let mut receivers = Vec::new();
            air.deliver(
                shared,
                &reception,
                *slot,
                BROADCAST,
                *bytes,
                carried,
                &mut receivers,
            );
            *receptions += (receivers.len() * broadcast.objects.len()) as u64;
            self.inform_listeners(shared, *slot, broadcast, &receivers, told);
            if let Some(sayings) = &mut self.sayings {
                sayings.push(shared, broadcast.host, &broadcast.objects, &receivers);
            }
            if observer.wants_deliveries() {
                let message = Message::Broadcast(broadcast.clone());
                tell_delivered(observer, number, shared, &message, &receivers);
            }
            delivered.push(receivers);
        }
        // Only then, for it may drive a host out of office that has spoken in this step.
        for ((_, broadcast, _), receivers) in broadcasts.iter().zip(&delivered) {
            for &receiver in receivers {
                self.heed(shared, receiver, broadcast, hosts, lane);
            }
        }
    }

    /// What receivers learn of objects: those listed, and by silence those listed before.
    pub(super) fn inform_listeners(
        &mut self,
        shared: &Shared<'_>,
        slot: u32,
        broadcast: &Broadcast,
        receivers: &[u32],
        told: &mut Told,
    ) {
        let at = self.host_of[slot as usize];
        let Some(host) = self.hosts.get_mut(at as usize) else {
            return;
        };
        let stamp = |at: covey_protocol::Instant| {
            shared.stamp((at.micros() / covey_traffic::STEP_US) as u32)
        };
        let sequence = broadcast.sequence;
        host.following.resize(shared.slots.len(), (0, 0));
        for &receiver in receivers {
            let (next, first) = &mut host.following[receiver as usize];
            if *next == 0 || *next != sequence {
                *first = sequence;
            }
            *next = sequence + 1;
        }
        if broadcast.full {
            host.listed.clear();
        }
        let listed = || broadcast.objects.iter().map(|object| object.id);
        host.listed
            .retain(|(held, _)| broadcast.withdrawn.binary_search(held).is_err());
        let mut now_listed: Vec<ObjectId> = listed().collect();
        now_listed.sort_unstable();
        // Whatever the host calls it: what is told is the object that was measured last.
        let measured = |of: &InOffice, object: ObjectId| {
            shared.slot_of(of.host.source_of(object).unwrap_or(object))
        };
        host.listed
            .retain(|(held, _)| now_listed.binary_search(held).is_err());
        if self.profile.parameters.silence_refreshes {
            let unchanged = stamp(broadcast.unchanged_since);
            // Objects last listed together are known to the same receivers.
            host.listed.sort_unstable_by_key(|&(_, since)| since);
            for same in host.listed.chunk_by(|a, b| a.1 == b.1) {
                let unbroken = |receiver: &u32| host.following[*receiver as usize].1 <= same[0].1;
                let followers = receivers.iter().copied().filter(unbroken);
                let message = told.message(shared.step, followers);
                told.spoken_by(message, Speaker::Host(slot));
                for &(object, _) in same {
                    if let Some(object) = measured(host, object) {
                        told.tell(message, object, unchanged);
                    }
                }
            }
        }
        let message = told.message(shared.step, receivers.iter().copied());
        told.spoken_by(message, Speaker::Host(slot));
        for object in &broadcast.objects {
            if let Some(slot) = measured(host, object.id) {
                told.tell(message, slot, stamp(object.sensed_at));
            }
            host.listed.push((object.id, sequence));
        }
    }

    /// What a receiver does with a broadcast, apart from learning of objects.
    fn heed(
        &mut self,
        shared: &Shared<'_>,
        receiver: u32,
        broadcast: &Broadcast,
        hosts: &mut [u16],
        lane: usize,
    ) {
        let place = receiver as usize;
        let now = shared.now();
        let (tile, claim) = (broadcast.tile, Claim::of(broadcast));
        match self.claims[place].iter_mut().find(|(of, _)| *of == tile) {
            // Of two in one step the first counts, as for a participant.
            Some((_, held)) if held.at < claim.at => *held = claim,
            Some(_) => {}
            None => self.claims[place].push((tile, claim)),
        }
        let agent = shared.agent(receiver);
        let asked = broadcast.contributors.binary_search(&agent).is_ok();
        if asked || self.contributors[place].is_some() {
            let parameters = &self.profile.parameters;
            let contributor = self.contributors[place]
                .get_or_insert_with(|| Box::new(Contributor::new(parameters, agent)));
            self.phases[place] = contributor.phase();
            contributor.obey(now, broadcast);
        }
        let at = self.host_of[place];
        if at == NO_SLOT {
            return;
        }
        let rival = &mut self.hosts[at as usize].host;
        rival.handle_input(now, Input::Broadcast(broadcast));
        if rival.tile() == tile && self.rule.yields(tile, &rival.claim(broadcast.at), &claim) {
            self.leave_office(receiver, hosts, lane);
        }
    }
}
