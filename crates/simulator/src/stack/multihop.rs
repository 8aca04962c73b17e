//! Collective perception over several hops (Wolff, Xhoxhi, Tautz, IV 2024, arXiv 2404.07761).
//!
//! Everyone reports what it sees by the generation rules, and forwards in the same messages what others told it and it does not
//! see itself: what it received since its last check goes into its picture of the surroundings, the newest state of each object
//! counts, and an object is forwarded by the rules by which its own ones are reported, over two hops at most.
//!
//! Redundancy is kept down as far as a station can tell: whoever is near to who sensed an object waits longer before it forwards
//! it, and does not if it hears of it again meanwhile; nothing is forwarded that speaks for itself or where the channel is full.

use std::collections::BTreeMap;

use covey_protocol::inclusion::Inclusion;
use covey_protocol::messages::ObjectState;

use super::reports::{Hearsay, SentReports};
use super::senders::{SenderRules, Senders};
use super::{Stack, Turn};
use crate::channel::{Class, sensor_information_is_due};
use crate::ids::{Slot, Step};
use crate::prepared::{Prepared, STEP_S};
use crate::rivals::MultiHop as Reading;

/// What others told counts for so long, in seconds: the longest from one report of an object to the next.
const FRESH_S: f64 = 1.0;

/// The stations' memory.
#[derive(Debug)]
pub(crate) struct MultiHop {
    reading: Reading,
    senders: Senders,
    reports: SentReports,
    /// By place.
    stations: Vec<Station>,
}

/// What a station keeps of what others told.
#[derive(Debug, Clone, Default)]
struct Station {
    /// Objects that it may forward, as they were told last, and when it first heard of them since it last did.
    pending: BTreeMap<Slot, (Hearsay, Step)>,
    /// What it forwarded of late.
    forwarded: Inclusion,
}

impl MultiHop {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        let reading = prepared.scenario.rivals.multihop;
        let rules = match reading.mitigation {
            true => SenderRules::Mitigation,
            false => SenderRules::Generation,
        };
        Self {
            reading,
            senders: Senders::new(rules, prepared),
            reports: SentReports::every(prepared.timeline.senders).collecting(),
            stations: Vec::new(),
        }
    }

    /// What arrived goes into everyone's picture; the newest state of an object counts.
    fn learn(&mut self, turn: &Turn<'_>) {
        let world = turn.stage.world;
        for arrival in self.reports.take_arrivals() {
            for told in arrival.told {
                for &receiver in &arrival.receivers {
                    if receiver == told.object || receiver == told.by {
                        continue;
                    }
                    let pending = &mut self.stations[receiver.index()].pending;
                    let (known, _) = pending.entry(told.object).or_insert((told, world.step()));
                    if (known.sensed, told.hops) < (told.sensed, known.hops) {
                        *known = told;
                    }
                }
            }
        }
    }

    /// What a station forwards now.
    fn forward(&mut self, turn: &Turn<'_>, slot: Slot) -> Vec<Hearsay> {
        let world = turn.stage.world;
        let reading = &self.reading;
        let station = &mut self.stations[slot.index()];
        let fresh = (FRESH_S / STEP_S) as u32;
        station
            .pending
            .retain(|_, (told, _)| world.step().since(told.sensed) < fresh);
        if reading.max_hops < 2 || is_full(turn, slot, reading.gate) {
            station.pending.clear();
            return Vec::new();
        }
        let seen = world.sights.seen.of(slot);
        let now = world.now();
        let (mut chosen, mut states): (Vec<Hearsay>, Vec<ObjectState>) = Default::default();
        let forwarded = &station.forwarded;
        station.pending.retain(|&object, &mut (told, since)| {
            if told.hops >= reading.max_hops || seen.contains(&object) {
                return false;
            }
            let there = world.told(told.by, told.sensed).position;
            let metres = there.distance(world.here(slot).state.position);
            if metres < reading.least_distance_m {
                return false;
            }
            let waits = reading.hold_s * (1.0 - metres / reading.hold_m).max(0.0);
            if f64::from(world.step().since(since)) * STEP_S + 1e-9 < waits {
                return true;
            }
            let copies = turn.told.times(object, slot, since);
            if copies <= reading.most_copies && !speaks(turn, slot, object, reading.announced) {
                let state = told.state(world);
                if forwarded.is_due(now, &state) {
                    states.push(state);
                    chosen.push(Hearsay {
                        hops: told.hops + 1,
                        ..told
                    });
                }
            }
            false
        });
        station.forwarded.note(now, &states);
        chosen
    }
}

/// The channel around a station carries more than a share of its capacity.
fn is_full(turn: &Turn<'_>, slot: Slot, gate: f64) -> bool {
    let world = turn.stage.world;
    let booked = turn.air.last_cycle(world.tile(slot));
    let bytes = (booked.beacons + booked.cooperative()) as f64;
    bytes > gate * world.cycle_capacity()
}

/// An object's own beacons are heard, where that keeps it from being forwarded.
fn speaks(turn: &Turn<'_>, slot: Slot, object: Slot, announced: bool) -> bool {
    let world = turn.stage.world;
    let stamp = turn.beacons.heard.at(object, slot, turn.lane);
    let soft = world.prepared.timeline.soft_state;
    !announced && world.age(stamp).is_some_and(|age| age <= soft)
}

/// Lets go of everything that concerns a place.
fn forget(stations: &mut [Station], left: Slot) {
    for station in stations.iter_mut() {
        station
            .pending
            .retain(|&object, (told, _)| object != left && told.by != left);
    }
    if let Some(station) = stations.get_mut(left.index()) {
        *station = Station::default();
    }
}

impl Stack for MultiHop {
    fn rebase(&mut self) {
        self.senders.rebase();
    }

    fn begin(&mut self, turn: &mut Turn<'_>) {
        self.senders.begin(turn);
        let road = &turn.stage.world.road;
        self.stations.resize_with(road.size(), Station::default);
        for &left in road.left() {
            forget(&mut self.stations, left);
        }
    }

    fn report(&mut self, turn: &mut Turn<'_>) {
        let (world, clock) = (turn.stage.world, turn.stage.clock);
        self.reports.clear(world);
        let thinning = Class::Report.thinning(world);
        for &slot in world.road.participants() {
            if !clock.checks(world, slot) {
                continue;
            }
            let own = self.senders.compose_any(turn, slot);
            let forwarded = self.forward(turn, slot);
            let outfit = world.road.outfit(world.prepared, slot).sender;
            let sensors = outfit.sensors() > 0 && sensor_information_is_due(world, slot);
            let silent = own.0.is_empty() && own.1.is_empty() && forwarded.is_empty();
            if sensors || !silent {
                self.reports
                    .send_on(turn, &thinning, slot, own, forwarded, sensors);
            }
        }
    }

    fn tell_reports(&self, turn: &mut Turn<'_>) {
        self.reports.tell(turn);
    }

    fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        self.reports.deliver(turn, carried);
        self.learn(turn);
    }

    fn arrive(&mut self, turn: &mut Turn<'_>) {
        self.reports.arrive(turn);
        self.learn(turn);
    }

    fn wait(&mut self, turn: &mut Turn<'_>) {
        self.reports.wait(turn);
    }
}
