//! Observers: whoever wants to watch a run. They cost nothing where there are none.

use covey_protocol::admission::{Decision, Score};
use covey_protocol::demand::select::Selection;
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::messages::Message;
use covey_protocol::snapshot::Snapshot;
use covey_protocol::{AgentId, AgentState, Cell, Instant, ObjectState, Tile};
use covey_world::VehicleState;

use crate::outcome::CycleRow;
use crate::recording::{Delivery, Knowledge, Relevant};

/// What everyone can see of a step, whatever the arm.
#[derive(Debug)]
pub struct StepView<'a> {
    /// The step's number.
    pub step: u32,
    /// The present.
    pub now: Instant,
    /// The step belongs to the measured window.
    pub measured: bool,
    /// All vehicles, in the map's plane.
    pub vehicles: &'a [VehicleState],
    /// Who participates, in the same order.
    pub participates: &'a [bool],
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
    /// The host.
    pub host: u64,
    /// Its tile.
    pub tile: Tile,
    /// The decision.
    pub decision: &'a Decision,
    /// Everyone's score before it; empty where the policy has none.
    pub scores: &'a [Score],
    /// Contributors after it.
    pub contributors: &'a [covey_protocol::AgentId],
    /// The price that it read.
    pub price: f64,
    /// The epoch after it.
    pub epoch: u32,
    /// The coverage map.
    pub coverage: Vec<(covey_protocol::Cell, f64)>,
    /// All that it knew, for observers that record.
    pub shown: Option<Shown>,
}

/// What a host's policy was shown, as far as it matters to the policy.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Coverage, risk and airtime, as Algorithm 1 wants them.
    Coverage(Box<Snapshot>),
    /// Who needs what and who could tell it, and what was picked.
    Demand(Box<(DemandSnapshot, Selection)>),
}

/// A cycle of one arm in full, for observers that record.
#[derive(Debug)]
pub struct CycleView<'a> {
    /// Who matters to which participant, whatever the arm; by vehicle, then object.
    pub relevant: &'a [Relevant],
    /// What the arm let them know of each, in the same order.
    pub known: &'a [Knowledge],
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

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn is_nobody(&self) -> bool {
        true
    }
}
