//! Observers: whoever wants to watch a run. They cost nothing where there are none.

use covey_protocol::admission::{Decision, Score};
use covey_protocol::demand::select::Selection;
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::messages::Message;
use covey_protocol::snapshot::Snapshot;
use covey_protocol::{AgentId, AgentState, Cell, Instant, ObjectState, Tile};
use covey_world::VehicleState;

use crate::channel::{Carried, Class};
use crate::outcome::CycleRow;
use crate::world::World;

pub use super::facts::{
    Delivery, Knowledge, MessageKind, OwnSight, Relation, Relevant, Seen, Source, Track,
};

/// What everyone can see of a step, whatever the arm.
#[derive(Debug)]
pub struct StepView<'a> {
    /// The step's number.
    pub step: u32,
    /// When it is; the first step is at 0.
    pub now: Instant,
    /// The step belongs to the measured window.
    pub measured: bool,
    /// All vehicles, in the map's plane.
    pub vehicles: &'a [VehicleState],
    /// Who participates, in the same order.
    pub participates: &'a [bool],
    /// What kind of station the messages of each say it is, in the same order (ETSI TS 102 894-2).
    pub station_types: &'a [u8],
    /// The sensors that the messages of each tell, in the same order; sectors count from the heading.
    pub sensors: &'a [&'a [covey_its::Sensor]],
}

/// What a participant's own vehicle tells it.
#[derive(Debug)]
pub struct Senses<'a> {
    /// Where it is and how it moves, as it believes.
    pub state: &'a AgentState,
    /// Objects and cells that its sensors see, where they looked in this step.
    pub sensed: Option<(&'a [ObjectState], &'a [Cell])>,
}

/// A host and its decision of this cycle.
#[derive(Debug)]
pub struct HostView<'a> {
    /// The number of the vehicle that hosts.
    pub host: u64,
    /// The tile it hosts.
    pub tile: Tile,
    /// Who is admitted and removed, and what bound the choice.
    pub decision: &'a Decision,
    /// Everyone's score before it; empty where the policy has none.
    pub scores: &'a [Score],
    /// Contributors after it.
    pub contributors: &'a [covey_protocol::AgentId],
    /// The price that it read.
    pub price: f64,
    /// The epoch after it.
    pub epoch: u32,
    /// All that it knew, for observers that record.
    pub shown: Option<Shown>,
}

/// What a host's policy was shown, as far as it matters to the policy.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Coverage, risk and airtime, as Algorithm 1 wants them.
    Coverage(Box<Snapshot>),
    /// Who needs what and who could tell it, and what was picked.
    Demand(Box<Choice>),
}

/// A choice by demand and what it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What the host knew.
    pub snapshot: DemandSnapshot,
    /// What it picked, and why.
    pub selection: Selection,
    /// Where it believes the objects to be, by ascending number; those whose place it does not know are left out.
    pub tracks: Vec<Track>,
}

/// A cycle of one arm in full, for observers that record.
#[derive(Debug)]
pub struct CycleView<'a> {
    /// Who matters to which participant, whatever the arm; by vehicle, then object.
    pub relevant: &'a [Relevant],
    /// What the arm let them know of each, in the same order.
    pub known: &'a [Knowledge],
    /// Who could have told of those that were missed, in the same order.
    pub seen: &'a [Seen],
    /// Reports and broadcasts since the last cycle's evaluation that were carried, and who decoded them.
    pub deliveries: &'a [Delivery],
}

/// A relevant object that a participant missed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Miss {
    /// Who missed it.
    pub vehicle: u32,
    /// What.
    pub object: u32,
    /// How old its knowledge was, in microseconds; none where it had none.
    pub age_us: Option<i64>,
    /// How old it might have been.
    pub deadline_us: i64,
}

/// Watches a run. Every method does nothing unless it is written.
pub trait Observer {
    /// Nobody watches: the run may work on several arms at once. Default false.
    fn is_nobody(&self) -> bool {
        false
    }

    /// A step began.
    fn step(&mut self, _view: &StepView<'_>) {}

    /// Whether [`senses`](Self::senses) is to be called.
    fn wants_senses(&self) -> bool {
        false
    }

    /// What a participant knows of itself in this step, whatever the arm; comes before anything is sent in it.
    fn senses(&mut self, _now: Instant, _agent: AgentId, _senses: &Senses<'_>) {}

    /// How busy each tile is in arm number `arm`, as hosts measure it: once per beacon interval, after beacons and reports of
    /// the step were delivered and before hosts decide. Comes to those who want senses, of arms that have hosts.
    fn loads(&mut self, _arm: usize, _now: Instant, _loads: &[(Tile, f64)]) {}

    /// Whether [`message`](Self::message) is to be called: messages are made for whoever wants them.
    fn wants_messages(&self) -> bool {
        false
    }

    /// A message was offered to the channel by arm number `arm`, from `tile`; it was booked as so many bytes.
    fn message(
        &mut self,
        _arm: usize,
        _now: Instant,
        _tile: Option<Tile>,
        _message: &Message,
        _bytes: u32,
    ) {
    }

    /// Whether [`delivered`](Self::delivered) is to be called.
    fn wants_deliveries(&self) -> bool {
        false
    }

    /// The channel has dealt with a message of arm number `arm`: the numbers of the vehicles that received it. There are
    /// none where it was thinned.
    fn delivered(&mut self, _arm: usize, _now: Instant, _message: &Message, _receivers: &[u32]) {}

    /// A host decided.
    fn decision(&mut self, _arm: usize, _view: &HostView<'_>) {}

    /// Whether [`record`](Self::record) is to be called and decisions are to come with their snapshot.
    fn wants_record(&self) -> bool {
        false
    }

    /// A cycle was evaluated, in full; comes after [`cycle`](Self::cycle) of the same arm.
    fn record(&mut self, _arm: usize, _view: &CycleView<'_>) {}

    /// A cycle was evaluated: the rows of its tiles, and what participants missed.
    fn cycle(&mut self, _arm: usize, _rows: &[CycleRow], _misses: &[Miss]) {}
}

/// Deliveries of places as deliveries of vehicles.
pub(crate) fn deliveries_by_id(world: &World<'_>, log: &[Carried]) -> Vec<Delivery> {
    log.iter()
        .map(|carried| {
            let ids = carried.receivers.iter().map(|&slot| world.road.id(slot));
            let mut receivers: Vec<u32> = ids.collect();
            receivers.sort_unstable();
            Delivery {
                sender: world.road.id(carried.sender),
                kind: match carried.class {
                    Class::Report => MessageKind::Report,
                    Class::Beacon | Class::Broadcast => MessageKind::Broadcast,
                },
                receivers,
            }
        })
        .collect()
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn is_nobody(&self) -> bool {
        true
    }
}

/// Several observers of one run: each hears what it would hear alone.
#[derive(Default)]
pub struct Tee<'a> {
    observers: Vec<&'a mut dyn Observer>,
}

impl std::fmt::Debug for Tee<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tee of {}", self.observers.len())
    }
}

impl<'a> Tee<'a> {
    /// One more.
    #[must_use]
    pub fn with(mut self, observer: &'a mut dyn Observer) -> Self {
        if !observer.is_nobody() {
            self.observers.push(observer);
        }
        self
    }

    fn those(
        &mut self,
        want: fn(&dyn Observer) -> bool,
    ) -> impl Iterator<Item = &mut (dyn Observer + 'a)> {
        self.observers
            .iter_mut()
            .map(|observer| &mut **observer)
            .filter(move |observer| want(*observer))
    }

    fn any(&self, want: fn(&dyn Observer) -> bool) -> bool {
        self.observers.iter().any(|observer| want(&**observer))
    }
}

impl Observer for Tee<'_> {
    fn is_nobody(&self) -> bool {
        self.observers.is_empty()
    }

    fn step(&mut self, view: &StepView<'_>) {
        for observer in self.those(|_| true) {
            observer.step(view);
        }
    }

    fn wants_senses(&self) -> bool {
        self.any(|o| o.wants_senses())
    }

    fn senses(&mut self, now: Instant, agent: AgentId, senses: &Senses<'_>) {
        for observer in self.those(|o| o.wants_senses()) {
            observer.senses(now, agent, senses);
        }
    }

    fn loads(&mut self, arm: usize, now: Instant, loads: &[(Tile, f64)]) {
        for observer in self.those(|o| o.wants_senses()) {
            observer.loads(arm, now, loads);
        }
    }

    fn wants_messages(&self) -> bool {
        self.any(|o| o.wants_messages())
    }

    fn message(
        &mut self,
        arm: usize,
        now: Instant,
        tile: Option<Tile>,
        message: &Message,
        bytes: u32,
    ) {
        for observer in self.those(|o| o.wants_messages()) {
            observer.message(arm, now, tile, message, bytes);
        }
    }

    fn wants_deliveries(&self) -> bool {
        self.any(|o| o.wants_deliveries())
    }

    fn delivered(&mut self, arm: usize, now: Instant, message: &Message, receivers: &[u32]) {
        for observer in self.those(|o| o.wants_deliveries()) {
            observer.delivered(arm, now, message, receivers);
        }
    }

    fn decision(&mut self, arm: usize, view: &HostView<'_>) {
        for observer in self.those(|_| true) {
            observer.decision(arm, view);
        }
    }

    fn wants_record(&self) -> bool {
        self.any(|o| o.wants_record())
    }

    fn record(&mut self, arm: usize, view: &CycleView<'_>) {
        for observer in self.those(|o| o.wants_record()) {
            observer.record(arm, view);
        }
    }

    fn cycle(&mut self, arm: usize, rows: &[CycleRow], misses: &[Miss]) {
        for observer in self.those(|_| true) {
            observer.cycle(arm, rows, misses);
        }
    }
}
