//! The channel as the arms use it: what is offered, what is carried, who receives.

use covey_draws::Draws;
use covey_protocol::security::CertificateTimer;
use covey_radio::{CollisionRow, LoadMeter, Offer};

use crate::ids::{Lane, Slot, TileNumber};
use crate::outcome::{Mean, Traffic};
use crate::prepared::{Prepared, STEP_S};
use crate::world::World;

use super::parcel::{Class, Parcel};
use super::scheduled::{Arrived, Scheduled, Ticket};

const CLASSES: usize = 3;

/// A message that was carried, and who received it.
#[derive(Debug, Clone)]
pub(crate) struct Carried {
    pub(crate) sender: Slot,
    pub(crate) class: Class,
    pub(crate) receivers: Vec<Slot>,
}

/// Bytes that one subchannel, and both together, carry in a subframe (TS 36.213, MCS 6).
const ONE_SUBCHANNEL_BYTES: u32 = 261;
const BOTH_SUBCHANNELS_BYTES: u32 = 621;

/// Subframes that a message takes.
fn subframes(bytes: u32) -> u16 {
    if bytes <= ONE_SUBCHANNEL_BYTES {
        1
    } else {
        u16::try_from(bytes.div_ceil(BOTH_SUBCHANNELS_BYTES)).unwrap_or(u16::MAX)
    }
}

/// Bytes offered to a tile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Booked {
    pub(crate) beacons: u64,
    pub(crate) digests: u64,
    pub(crate) reports: u64,
    pub(crate) broadcasts: u64,
    /// Subchannels that plain beacons would not take, where slots are simulated.
    pub(crate) resources: u64,
}

impl Booked {
    pub(crate) fn cooperative(&self) -> u64 {
        self.digests + self.reports + self.broadcasts
    }

    fn add(&mut self, other: &Self) {
        self.beacons += other.beacons;
        self.digests += other.digests;
        self.reports += other.reports;
        self.broadcasts += other.broadcasts;
        self.resources += other.resources;
    }
}

/// One arm's side of the channel.
#[derive(Debug)]
pub(crate) struct Air {
    meter: LoadMeter,
    pub(super) rows: Vec<CollisionRow>,
    pub(super) listening: Vec<f32>,
    /// Subframes sent by place in each of the steps of the last cycle.
    sent: Vec<Vec<u16>>,
    /// Booked bytes by tile in each of the steps of the last cycle, and the present step.
    booked: Vec<Vec<Booked>>,
    present: usize,
    pub(crate) offers: Vec<Offer>,
    pub(crate) carried: Vec<bool>,
    pub(crate) traffic: [Traffic; CLASSES],
    /// Carried reports and broadcasts, where someone records.
    pub(crate) log: Option<Vec<Carried>>,
    /// When everyone last sent its certificate with a report and with a broadcast, by place.
    certificates: [Vec<CertificateTimer>; 2],
    /// The pool, where slots are simulated.
    scheduled: Option<Box<Scheduled>>,
}

impl Air {
    pub(crate) fn new(prepared: &Prepared, seed: u64) -> Self {
        let steps = prepared.timeline.cycle as usize;
        let tiles = prepared.tiles.len();
        Self {
            meter: LoadMeter::new(prepared.channel.parameters(), tiles, 1, STEP_S, steps),
            rows: Vec::new(),
            listening: Vec::new(),
            sent: vec![Vec::new(); steps],
            booked: vec![vec![Booked::default(); tiles]; steps + 1],
            present: 0,
            offers: Vec::new(),
            carried: Vec::new(),
            traffic: [Traffic::default(); CLASSES],
            log: None,
            certificates: Default::default(),
            scheduled: Scheduled::new(prepared, seed).map(Box::new),
        }
    }

    /// The pool, where slots are simulated.
    pub(crate) fn scheduled(&self) -> Option<&Scheduled> {
        self.scheduled.as_deref()
    }

    /// What is counted over a window begins anew.
    pub(crate) fn begin_counting(&mut self) {
        self.traffic = Default::default();
        if let Some(scheduled) = &mut self.scheduled {
            scheduled.latency = Mean::default();
        }
    }

    /// Begins a step: collision rows by the loads so far, half duplex by what was sent.
    pub(crate) fn begin(&mut self, world: &World<'_>) {
        let channel = &world.prepared.channel;
        let size = world.road.size();
        for sent in &mut self.sent {
            sent.resize(size, 0);
            for slot in world.road.left() {
                sent[slot.index()] = 0;
            }
        }
        for timers in &mut self.certificates {
            timers.resize(size, CertificateTimer::default());
            for slot in world.road.left() {
                timers[slot.index()] = CertificateTimer::default();
            }
        }
        self.listening.resize(size, 1.0);
        let per_second = 1.0 / (STEP_S * self.sent.len() as f64);
        for slot in world.road.participants() {
            let subframes: u16 = self.sent.iter().map(|sent| sent[slot.index()]).sum();
            let loss = channel.half_duplex_loss(f64::from(subframes) * per_second);
            self.listening[slot.index()] = (1.0 - loss) as f32;
        }
        let window = self.sent.len();
        self.sent[world.step().0 as usize % window].fill(0);
        self.rows.clear();
        let loads = (0..world.prepared.tiles.len()).map(|tile| self.meter.load(tile));
        self.rows.extend(loads.map(|load| channel.row(load)));
        self.offers.clear();
    }

    /// What a place sends now, if it is signed, carries the certificate. Beacons have a clock of their own.
    pub(crate) fn certificate(&mut self, world: &World<'_>, class: Class, sender: Slot) -> bool {
        let timers = match class {
            Class::Beacon => return false,
            Class::Report => &mut self.certificates[0],
            Class::Broadcast => &mut self.certificates[1],
        };
        timers[sender.index()].is_due(world.now())
    }

    /// Ends the step.
    pub(crate) fn end(&mut self) {
        self.meter.advance();
        self.present = (self.present + 1) % self.booked.len();
        self.booked[self.present].fill(Booked::default());
    }

    /// Bytes offered to a tile in the cycle before this step.
    pub(crate) fn last_cycle(&self, tile: TileNumber) -> Booked {
        let mut sum = Booked::default();
        for (step, booked) in self.booked.iter().enumerate() {
            if step != self.present {
                sum.add(&booked[tile.index()]);
            }
        }
        sum
    }

    /// Bytes offered to a tile in the cycle that ends with this step.
    pub(crate) fn this_cycle(&self, tile: TileNumber) -> Booked {
        let oldest = (self.present + 1) % self.booked.len();
        let mut sum = Booked::default();
        for (step, booked) in self.booked.iter().enumerate() {
            if step != oldest {
                sum.add(&booked[tile.index()]);
            }
        }
        sum
    }

    /// Offers a message to the channel; `thinning` are the draws of its class. Gives what it is known by where it takes its time.
    pub(crate) fn offer(&mut self, world: &World<'_>, thinning: &Draws, parcel: Parcel) -> Ticket {
        let Parcel {
            sender,
            class,
            bytes,
            digest,
            ..
        } = parcel;
        let tile = world.tile(sender);
        let id = world.road.id(sender);
        let booked = &mut self.booked[self.present][tile.index()];
        match class {
            Class::Beacon => {
                booked.beacons += u64::from(bytes - digest);
                booked.digests += u64::from(digest);
            }
            Class::Report => booked.reports += u64::from(bytes),
            Class::Broadcast => booked.broadcasts += u64::from(bytes),
        }
        let window = self.sent.len();
        self.sent[world.step().0 as usize % window][sender.index()] += subframes(bytes);
        self.offers.push(Offer {
            sender: id,
            tile: tile.0,
            class: 0,
            bytes,
            unit: thinning.at(id, id).unit(),
        });
        let Some(scheduled) = &mut self.scheduled else {
            return Ticket::default();
        };
        let mandatory = match class {
            Class::Beacon => bytes - digest,
            Class::Report | Class::Broadcast => 0,
        };
        booked.resources += scheduled.resources(bytes, mandatory);
        scheduled.offer(world.step(), parcel)
    }

    /// Lets the slots before this step pass, where slots are simulated, and counts what arrived.
    pub(crate) fn advance(&mut self, world: &World<'_>) {
        let Some(scheduled) = &mut self.scheduled else {
            return;
        };
        scheduled.advance(world);
        for arrived in &scheduled.arrived {
            let in_range = world.links.range(arrived.parcel.sender).len() as u64;
            let delivered = arrived.receivers.len() as u64;
            let traffic = &mut self.traffic[arrived.parcel.class as usize];
            traffic.messages += 1;
            traffic.bytes += u64::from(arrived.parcel.bytes);
            // Somebody may have come into range since the pair was last looked at.
            traffic.in_range += in_range.max(delivered);
            traffic.delivered += delivered;
            traffic.lost += in_range.saturating_sub(delivered);
            if let Some(log) = &mut self.log {
                log.push(Carried {
                    sender: arrived.parcel.sender,
                    class: arrived.parcel.class,
                    receivers: arrived.receivers.clone(),
                });
            }
        }
    }

    /// Hands over the messages of this step, where slots are simulated.
    pub(crate) fn hand_over(&mut self, world: &World<'_>) {
        let Some(scheduled) = &mut self.scheduled else {
            return;
        };
        scheduled.hand_over(world);
        for parcel in &scheduled.refused {
            let in_range = world.links.range(parcel.sender).len() as u64;
            let traffic = &mut self.traffic[parcel.class as usize];
            traffic.messages += 1;
            traffic.bytes += u64::from(parcel.bytes);
            traffic.in_range += in_range;
            traffic.thinned += in_range;
        }
    }

    /// What arrived in this step of one class, in order.
    pub(crate) fn take_arrived(&mut self, class: Class) -> Vec<Arrived> {
        let Some(scheduled) = &mut self.scheduled else {
            return Vec::new();
        };
        let (taken, left) = std::mem::take(&mut scheduled.arrived)
            .into_iter()
            .partition(|arrived| arrived.parcel.class == class);
        scheduled.arrived = left;
        taken
    }

    /// Seconds that messages took to arrive, where slots are simulated.
    pub(crate) fn latency(&self) -> Mean {
        self.scheduled()
            .map_or_else(Mean::default, |scheduled| scheduled.latency)
    }

    /// The share of a cycle's subchannels that a tile's messages took beyond plain beacons, where slots are simulated.
    pub(crate) fn share_of_resources(&self, world: &World<'_>, booked: &Booked) -> Option<f64> {
        let scheduled = self.scheduled()?;
        Some(booked.resources as f64 / scheduled.cycle_resources(world))
    }

    /// Forgets the offers that were dealt with.
    pub(crate) fn clear_offers(&mut self) {
        self.offers.clear();
    }

    /// Decides which of the offers are carried, in their order.
    pub(crate) fn carry(&mut self) {
        if self.scheduled.is_some() {
            self.carried.clear();
            return;
        }
        self.meter.carry(&self.offers, &mut self.carried);
    }

    /// Delivers one message if it was carried, or counts it as thinned; `drawn` is which lanes each of the links' receivers gets
    /// it in, and the arm's lane. Writes the receivers' places.
    pub(crate) fn deliver(
        &mut self,
        world: &World<'_>,
        parcel: Parcel,
        drawn: Option<(&[u16], Lane)>,
        receivers: &mut Vec<Slot>,
    ) {
        let Parcel {
            sender,
            class,
            bytes,
            ..
        } = parcel;
        receivers.clear();
        let range = world.links.range(sender);
        let traffic = &mut self.traffic[class as usize];
        traffic.messages += 1;
        traffic.bytes += u64::from(bytes);
        traffic.in_range += range.len() as u64;
        let Some((hits, lane)) = drawn else {
            traffic.thinned += range.len() as u64;
            return;
        };
        let places = &world.links.receivers[range];
        // Whoever misses it is written over by the next: no branch that could not be foretold.
        receivers.resize(places.len(), Slot(0));
        let mut count = 0;
        for (&place, &hits) in places.iter().zip(hits) {
            receivers[count] = place;
            count += usize::from(hits >> lane.0 & 1);
        }
        receivers.truncate(count);
        traffic.delivered += receivers.len() as u64;
        traffic.lost += (places.len() - receivers.len()) as u64;
        if let Some(log) = &mut self.log {
            log.push(Carried {
                sender,
                class,
                receivers: receivers.clone(),
            });
        }
    }
}
