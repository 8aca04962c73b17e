//! The road network as SUMO describes it, in flat arrays by index, and the buildings beside it.

use crate::geometry::{Point, Polyline};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the network's array.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// Position of a lane in [`Network::lanes`].
    LaneIx
);
index!(
    /// Position of an edge in [`Network::edges`].
    EdgeIx
);
index!(
    /// Position of a junction in [`Network::junctions`].
    JunctionIx
);
index!(
    /// Position of a connection in [`Network::connections`].
    ConnectionIx
);
index!(
    /// Position of a traffic-light program in [`Network::signals`].
    SignalIx
);

/// What an edge is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// A street between two junctions.
    Normal,
    /// Lanes inside a junction.
    Internal,
    /// For pedestrians: crossings and walking areas.
    Pedestrian,
    /// A macroscopic connector or anything else.
    Other,
}

/// A directed stretch of road between two junctions.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// SUMO's id.
    pub name: String,
    /// What it is for.
    pub kind: EdgeKind,
    /// Where it begins; none inside a junction.
    pub from: Option<JunctionIx>,
    /// Where it ends; none inside a junction.
    pub to: Option<JunctionIx>,
    /// SUMO's priority of the road.
    pub priority: i32,
    /// SUMO's road type, such as `highway.primary`; empty where the net gives none.
    pub road_type: String,
    /// Its lanes, from the outer (kerb) side inwards, as SUMO numbers them.
    pub lanes: Vec<LaneIx>,
}

/// A lane of a street, or one inside a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// SUMO's id.
    pub name: String,
    /// The edge it belongs to.
    pub edge: EdgeIx,
    /// SUMO's number on the edge, 0 at the kerb.
    pub index: u32,
    /// Width in metres.
    pub width: f64,
    /// Speed limit in m/s.
    pub speed_limit: f64,
    /// SUMO's length in metres; positions along the lane are counted in it. It may differ from the shape's arc length.
    pub length: f64,
    /// Centre line in the direction of travel.
    pub shape: Polyline,
    /// Passenger cars may use it (SUMO's class `passenger`).
    pub drivable: bool,
    /// What can be taken at its end.
    pub outgoing: Vec<ConnectionIx>,
    /// What leads into its beginning.
    pub incoming: Vec<ConnectionIx>,
}

/// The direction that a connection takes at the junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// Straight on.
    Straight,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Back.
    Around,
    /// None, or unknown.
    Other,
}

/// A way from one lane to another over a junction. Connections out of internal lanes are not listed here: `via` names the
/// internal lanes in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The lane it leaves.
    pub from: LaneIx,
    /// The lane it reaches.
    pub to: LaneIx,
    /// Internal lanes it runs over, in order; empty in nets without internal lanes.
    pub via: Vec<LaneIx>,
    /// The junction it crosses.
    pub junction: JunctionIx,
    /// Its row in the junction's request table, where there is one.
    pub request: Option<u32>,
    /// Where it goes, as the net says.
    pub turn: Turn,
    /// The traffic light that rules it and its place in the light's state string.
    pub signal: Option<(SignalIx, u32)>,
}

/// How right of way is settled at a junction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JunctionKind {
    /// Traffic lights.
    TrafficLight,
    /// A main road and streets that give way (SUMO `priority`, `priority_stop`).
    Priority,
    /// Nothing to settle: dead ends and joints of edges.
    Open,
    /// Anything else, by SUMO's name (`right_before_left`, `rail_signal`, `zipper`, ...).
    Other(String),
}

/// One row of a junction's right-of-way table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// For each request of the junction: this one must yield to it.
    pub yields_to: Vec<bool>,
    /// For each request of the junction: the two paths conflict.
    pub foes: Vec<bool>,
    /// A vehicle may wait inside the junction.
    pub waits_inside: bool,
}

/// Where edges meet, with the table of who yields to whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Junction {
    /// SUMO's id.
    pub name: String,
    /// How right of way is settled.
    pub kind: JunctionKind,
    /// The net's reference point for it, about its middle.
    pub position: Point,
    /// Its outline; empty where the net gives none.
    pub outline: Vec<Point>,
    /// Lanes that lead into it, those of pedestrians left out.
    pub incoming: Vec<LaneIx>,
    /// The right-of-way table, one row a connection, by request index.
    pub requests: Vec<Request>,
}

/// One phase of a traffic light.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Seconds.
    pub duration: f64,
    /// One letter a link, as SUMO writes it (`G`, `g`, `y`, `r`, `o`, `O`, `u`, `s`).
    pub state: Vec<u8>,
}

/// A traffic light: the program that is in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// SUMO's id.
    pub name: String,
    /// Seconds by which the program is shifted.
    pub offset: f64,
    /// The phases in order.
    pub phases: Vec<Phase>,
}

/// Where the map plane lies on the earth: SUMO's `<location>`.
#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    /// The projection as a PROJ string; `!` where the map has none.
    pub projection: String,
    /// Added to projected coordinates to get map coordinates, in metres.
    pub offset: Point,
}

/// Streets, junctions and traffic lights, which name each other by index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    /// By [`EdgeIx`].
    pub edges: Vec<Edge>,
    /// By [`LaneIx`].
    pub lanes: Vec<Lane>,
    /// All junctions, without SUMO's waiting places inside junctions (type `internal`).
    pub junctions: Vec<Junction>,
    /// All connections between normal lanes.
    pub connections: Vec<Connection>,
    /// By [`SignalIx`].
    pub signals: Vec<Signal>,
    /// Where the plane lies on the earth.
    pub location: Option<Location>,
    /// Vehicles drive on the left.
    pub left_hand: bool,
}

/// A building: an upright prism.
#[derive(Debug, Clone, PartialEq)]
pub struct Building {
    /// The footprint's corners, in order, not closed; counter-clockwise where they were read from a file.
    pub outline: Vec<Point>,
    /// Height in metres.
    pub height: f64,
}

/// A road network and the buildings beside it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map {
    /// What vehicles drive on.
    pub network: Network,
    /// What blocks sight and radio.
    pub buildings: Vec<Building>,
}
