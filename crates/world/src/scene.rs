//! What moves: vehicle states at an instant.

use crate::geometry::Point;
use crate::network::{ConnectionIx, LaneIx};

/// A vehicle (or other moving body), numbered in order of first appearance in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VehicleId(pub u32);

/// What sort of moving body this is, as far as anyone needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// A passenger car.
    Car,
    /// A truck or bus: TR 37.885 vehicle type 3 where no size is known.
    Heavy,
    /// A motorcycle or moped.
    TwoWheeler,
    /// A person on foot.
    Pedestrian,
    /// A bicycle or scooter.
    Bicycle,
    /// A tram or train.
    Rail,
    /// What is no road user: ships, aircraft, containers.
    Other,
    /// A station beside the road: it looks and speaks, hides nothing and is no object.
    Roadside,
}

impl BodyKind {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Car,
        Self::Heavy,
        Self::TwoWheeler,
        Self::Bicycle,
        Self::Pedestrian,
        Self::Rail,
        Self::Other,
        Self::Roadside,
    ];

    /// Its name in files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Car => "car",
            Self::Heavy => "heavy",
            Self::TwoWheeler => "two-wheeler",
            Self::Pedestrian => "pedestrian",
            Self::Bicycle => "bicycle",
            Self::Rail => "rail",
            Self::Other => "other",
            Self::Roadside => "roadside",
        }
    }

    /// It is a vehicle on the road: no person, train, ship or station.
    #[must_use]
    pub const fn is_road_vehicle(self) -> bool {
        matches!(
            self,
            Self::Car | Self::Heavy | Self::TwoWheeler | Self::Bicycle
        )
    }
}

/// The box of a moving body, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Along the heading.
    pub length: f64,
    /// Across the heading.
    pub width: f64,
    /// From the ground to the roof.
    pub height: f64,
    /// What sort of body it is.
    pub kind: BodyKind,
}

impl Body {
    /// TR 37.885 clause 6.1.2, types 1 and 2: a passenger car, 5 x 2 x 1.6 m.
    pub const CAR: Self = Self {
        length: 5.0,
        width: 2.0,
        height: 1.6,
        kind: BodyKind::Car,
    };
    /// TR 37.885 clause 6.1.2, type 3: a truck or bus, 13 x 2.6 x 3 m.
    pub const HEAVY: Self = Self {
        length: 13.0,
        width: 2.6,
        height: 3.0,
        kind: BodyKind::Heavy,
    };
}

/// One vehicle at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VehicleState {
    /// The same in every frame.
    pub id: VehicleId,
    /// The centre of the body, in metres.
    pub position: Point,
    /// Direction of travel, radians counter-clockwise from +x.
    pub heading: f64,
    /// Along the heading, in m/s; never negative.
    pub speed: f64,
    /// Size and kind.
    pub body: Body,
    /// The lane it is on, internal lanes included; none off the road.
    pub lane: Option<LaneIx>,
    /// Arc length of the front bumper on that lane, in metres.
    pub lane_position: f64,
    /// The connection that the driver means to take at the end of the lane, where the traffic source knows it.
    pub next: Option<ConnectionIx>,
}

/// All vehicles at one instant, by ascending id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// The instant, in microseconds from the start of the run.
    pub time_us: i64,
    /// The vehicles, by ascending id, each at most once.
    pub vehicles: Vec<VehicleState>,
}
