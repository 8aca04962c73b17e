//! One arm's messages on the channel that is simulated slot by slot: they wait for their resources and arrive when they were sent.

use covey_radio::sidelink::{Arrival, CHUNK, Message, Sidelink};
use covey_radio::{ChannelModel, Reservation};

use super::parcel::{Class, Parcel};
use crate::ids::{Slot, Step};
use crate::outcome::Mean;
use crate::prepared::Prepared;
use crate::world::World;

/// What an arm calls a message that it offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Ticket(pub(crate) u64);

/// A message whose last block was sent.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    pub(crate) ticket: Ticket,
    pub(crate) parcel: Parcel,
    /// The step at which it was offered.
    pub(crate) offered: Step,
    /// Places that decoded all of it, ascending.
    pub(crate) receivers: Vec<Slot>,
}

/// Slots of a step.
const SLOTS: u64 = (covey_traffic::STEP_US / 1_000) as u64;

/// An arm's pool.
#[derive(Debug)]
pub(crate) struct Scheduled {
    sidelink: Sidelink,
    /// Messages that were offered and have not arrived, by ascending ticket.
    waiting: Vec<(Ticket, Parcel, Step)>,
    /// Where in it those of this step begin.
    fresh: usize,
    next: u64,
    arrivals: Vec<Arrival>,
    /// What arrived in this step, in order.
    pub(super) arrived: Vec<Arrived>,
    /// What was refused in this step.
    pub(super) refused: Vec<Parcel>,
    /// Seconds from offer to arrival.
    pub(super) latency: Mean,
}

impl Scheduled {
    /// The pool of a scenario, where its channel is simulated slot by slot. Parameters were checked when it was prepared.
    pub(super) fn new(prepared: &Prepared, seed: u64) -> Option<Self> {
        if prepared.channel.parameters().model != ChannelModel::Sps {
            return None;
        }
        Some(Self {
            sidelink: Sidelink::new(&prepared.channel, seed).ok()?,
            waiting: Vec::new(),
            fresh: 0,
            next: 0,
            arrivals: Vec::new(),
            arrived: Vec::new(),
            refused: Vec::new(),
            latency: Mean::default(),
        })
    }

    /// Lets the slots of the step before this one pass.
    pub(super) fn advance(&mut self, world: &World<'_>) {
        self.sidelink.resize(world.road.size());
        for &slot in world.road.left() {
            self.sidelink.forget(slot.0);
            self.waiting.retain(|(_, parcel, _)| parcel.sender != slot);
        }
        self.arrived.clear();
        self.arrivals.clear();
        let until = u64::from(world.step().0) * SLOTS;
        self.sidelink
            .run(until, &world.powers.reach(), &mut self.arrivals);
        for arrival in self.arrivals.drain(..) {
            let ticket = Ticket(arrival.ticket);
            let Ok(at) = self
                .waiting
                .binary_search_by_key(&ticket, |&(ticket, ..)| ticket)
            else {
                continue;
            };
            let (_, parcel, offered) = self.waiting.remove(at);
            let sent_after = arrival.slot + 1 - u64::from(offered.0) * SLOTS;
            self.latency.add(sent_after as f64 * 1e-3);
            let mut receivers: Vec<Slot> = arrival.receivers.into_iter().map(Slot).collect();
            receivers.sort_unstable();
            self.arrived.push(Arrived {
                ticket,
                parcel,
                offered,
                receivers,
            });
        }
        self.fresh = self.waiting.len();
    }

    /// Notes a message of this step.
    pub(super) fn offer(&mut self, step: Step, parcel: Parcel) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.waiting.push((ticket, parcel, step));
        ticket
    }

    /// Hands over the messages of this step: whoever has none reserved chooses a resource.
    pub(super) fn hand_over(&mut self, world: &World<'_>) {
        let reach = world.powers.reach();
        let channel = world.prepared.channel.parameters();
        self.refused.clear();
        let fresh: Vec<_> = self.waiting.drain(self.fresh..).collect();
        for (ticket, parcel, step) in fresh {
            let message = message(world, ticket, &parcel, step, &channel.sidelink);
            if self.sidelink.offer(&message, &reach) {
                self.waiting.push((ticket, parcel, step));
            } else {
                self.refused.push(parcel);
            }
        }
    }

    /// The busy ratio that a place measures.
    pub(crate) fn busy_ratio(&self, slot: Slot) -> f64 {
        self.sidelink.busy_ratio(slot.0)
    }

    /// The share of the channel that a place itself took over the last second.
    pub(crate) fn occupancy(&self, slot: Slot) -> f64 {
        self.sidelink.occupancy(slot.0)
    }

    /// The share of the channel that a place heard taken, in the last cycle, by more than plain beacons.
    pub(crate) fn cooperative_ratio(&self, world: &World<'_>, slot: Slot) -> f64 {
        let chunks = u64::from(world.prepared.timeline.cycle) * SLOTS / CHUNK;
        self.sidelink.cooperative_ratio(slot.0, chunks as u32)
    }

    /// Subchannels that a message takes beyond those of `mandatory` bytes.
    pub(super) fn resources(&self, bytes: u32, mandatory: u32) -> u64 {
        let pool = self.sidelink.pool();
        let without = match mandatory {
            0 => 0,
            bytes => pool.resources(bytes),
        };
        u64::from(pool.resources(bytes) - without)
    }

    /// Subchannels of a cycle.
    pub(super) fn cycle_resources(&self, world: &World<'_>) -> f64 {
        let slots = u64::from(world.prepared.timeline.cycle) * SLOTS;
        (slots * self.sidelink.pool().subchannels() as u64) as f64
    }
}

/// A message as the pool takes it. Its draws are those of its class and step, whatever it weighs.
fn message(
    world: &World<'_>,
    ticket: Ticket,
    parcel: &Parcel,
    step: Step,
    sidelink: &covey_radio::SidelinkParameters,
) -> Message {
    let timeline = &world.prepared.timeline;
    let (reserves, steps, latency, priority) = match parcel.class {
        Class::Beacon => (
            Reservation::Reserve,
            timeline.beacon,
            sidelink.beacon_latency_ms,
            sidelink.beacon_priority,
        ),
        Class::Report => (
            sidelink.reports,
            parcel.period,
            sidelink.report_latency_ms,
            sidelink.report_priority,
        ),
        Class::Broadcast => (
            sidelink.broadcasts,
            timeline.cycle,
            sidelink.broadcast_latency_ms,
            sidelink.broadcast_priority,
        ),
    };
    let period = match reserves {
        Reservation::Reserve => reservable(u64::from(steps) * SLOTS),
        Reservation::OneShot => 0,
    };
    Message {
        ticket: ticket.0,
        station: parcel.sender.0,
        class: parcel.class as u8,
        bytes: parcel.bytes,
        mandatory_bytes: match parcel.class {
            Class::Beacon => parcel.bytes - parcel.digest,
            Class::Report | Class::Broadcast => 0,
        },
        period,
        // The last slot has to be over when the time is: what is offered at a step is there `latency` later.
        latency: (latency - 1) as u16,
        address: step.0,
        priority,
    }
}

/// The period as it can be announced (TS 36.213 table 14.2.1-2): 20, 50 or hundreds of ms up to a second; 0 otherwise.
fn reservable(ms: u64) -> u16 {
    match ms {
        20 | 50 => ms as u16,
        100..=1_000 if ms.is_multiple_of(100) => ms as u16,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_announced_is_not_reserved() {
        // Beacons every 100 ms, reports and broadcasts every cycle of 200 ms; nothing can say 150 ms or more than a second.
        let announced = [20, 50, 100, 200, 1_000, 0, 10, 150, 1_100].map(reservable);
        assert_eq!(announced, [20, 50, 100, 200, 1_000, 0, 0, 0, 0]);
    }
}
