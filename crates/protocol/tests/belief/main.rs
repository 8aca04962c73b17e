//! What is believed, whom one serves, and what is let go: the bounds of docs/security.md one by one, at their edges.
//!
//! Attacks as a whole, over bytes, are in `covey-its`; here each rule stands alone, so that one that is off by one is noticed.

mod broadcasts;
mod claims;
mod contributor;
mod host;
mod listener;
mod participant;

use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, ObjectState, Report, Size,
};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Instant, ObjectId, Position, Tile, Velocity,
};

pub(crate) const TILE: Tile = Tile::new(0, 0);

pub(crate) fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

pub(crate) fn standing(x: f64) -> AgentState {
    AgentState {
        position: Position::new(x, 250.0),
        ..AgentState::default()
    }
}

pub(crate) fn beacon(sender: u64, millis: i64, x: f64) -> Beacon {
    Beacon {
        sender: AgentId(sender),
        at: at(millis),
        state: standing(x),
        digest: None,
        low_frequency: false,
    }
}

/// A beacon of one that sees these cells.
pub(crate) fn seeing(sender: u64, millis: i64, x: f64, cells: &[Cell]) -> Beacon {
    Beacon {
        digest: CoverageDigest::new(cells.to_vec()).ok(),
        ..beacon(sender, millis, x)
    }
}

pub(crate) fn object(id: u64, x: f64, millis: i64) -> ObjectState {
    ObjectState {
        id: ObjectId(id),
        position: Position::new(x, 250.0),
        velocity: Velocity::default(),
        size: Size::default(),
        sensed_at: at(millis),
        confidence: Confidence::FULL,
    }
}

pub(crate) fn report(sender: u64, millis: i64, objects: Vec<ObjectState>) -> Report {
    Report {
        sender: AgentId(sender),
        at: at(millis),
        objects,
        sensor_information: false,
    }
}

/// A broadcast from the middle of the tile that asks these.
pub(crate) fn broadcast(host: u64, millis: i64, contributors: &[u64]) -> Broadcast {
    Broadcast {
        host: AgentId(host),
        tile: TILE,
        at: at(millis),
        position: Position::new(250.0, 250.0),
        sequence: 0,
        epoch: 0,
        tenure: Duration::from_millis(millis.max(0)),
        price: 0.0,
        cycle_start: at(millis),
        contributors: contributors.iter().map(|&id| AgentId(id)).collect(),
        lease: Duration::from_millis(600),
        content: Content::AllVisible,
        requested: Vec::new(),
        full: true,
        objects: Vec::new(),
        withdrawn: Vec::new(),
        unchanged_since: at(millis),
    }
}
