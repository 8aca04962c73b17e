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
            if observer.wants_deliveries() {
                let message = Message::Broadcast(broadcast.clone());
                tell_delivered(observer, number, shared, &message, &receivers);
            }
            delivered.push(receivers);
        }
        // Only then, for it may drive a host out of office that has spoken in this step.
        for ((_, broadcast, _), receivers) in broadcasts.iter().zip(&delivered) {
            let inside = Tile::containing(broadcast.position, self.parameters.tile_m);
            let office = Office {
                tile: broadcast.tile,
                host: broadcast.host,
                step: shared.step,
                position: broadcast.position,
                inside: inside == Some(broadcast.tile),
                inheritance: Inheritance {
                    price: broadcast.price,
                    epoch: broadcast.epoch,
                },
            };
            for &receiver in receivers {
                self.heed(shared, receiver, broadcast, &office, hosts, lane);
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
        if self.parameters.silence_refreshes {
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
    pub(super) fn heed(
        &mut self,
        shared: &Shared<'_>,
        receiver: u32,
        broadcast: &Broadcast,
        heard: &Office,
        hosts: &mut [u16],
        lane: usize,
    ) {
        let place = receiver as usize;
        let now = shared.now();
        match self.offices[place]
            .iter_mut()
            .find(|o| o.tile == broadcast.tile)
        {
            // Of two in one step the first counts, as for a participant.
            Some(office) if office.step < shared.step => *office = *heard,
            Some(_) => {}
            None => self.offices[place].push(*heard),
        }
        let agent = shared.agent(receiver);
        let asked = broadcast.contributors.binary_search(&agent).is_ok();
        if asked || self.contributors[place].is_some() {
            let contributor = self.contributors[place]
                .get_or_insert_with(|| Box::new(Contributor::new(&self.parameters, agent)));
            self.phases[place] = self.parameters.report_phase(agent);
            contributor.handle_input(now, Input::Broadcast(broadcast));
            while contributor.poll_output().is_some() {}
        }
        let at = self.host_of[place];
        if at != NO_SLOT {
            let rival = &mut self.hosts[at as usize];
            rival.host.handle_input(now, Input::Broadcast(broadcast));
            if rival.host.tile() == broadcast.tile {
                let mine = Claim {
                    host: agent,
                    tenure: broadcast.at.since(rival.host.in_office_since()),
                    position: shared.here(receiver).state.position,
                };
                let theirs = Claim {
                    host: broadcast.host,
                    tenure: broadcast.tenure,
                    position: broadcast.position,
                };
                let tile_m = self.parameters.tile_m;
                let gives_way = |a: &Claim, b: &Claim| {
                    self.parameters.handover.is_some_and(|handover| {
                        election::gives_way(
                            broadcast.tile,
                            tile_m,
                            handover,
                            a.position,
                            b.position,
                        )
                    })
                };
                // Whose office is handed over leaves, however long it was in office.
                let leaves = gives_way(&mine, &theirs)
                    || (!gives_way(&theirs, &mine)
                        && !election::stays(broadcast.tile, tile_m, &mine, &theirs));
                if leaves {
                    self.leave_office(receiver, hosts, lane);
                }
            }
        }
    }
}
