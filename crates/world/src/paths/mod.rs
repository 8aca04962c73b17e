//! Where vehicles are going, where their ways meet, and what follows from it.
//!
//! Two uses, kept apart so that ground truth cannot reach a participant:
//! - [`relevance`] is the *evaluator's* view: from true lanes, positions and intentions it says which objects are
//!   decision-relevant to which vehicle, and within which reaction deadline. Nothing but the metric may call it.
//! - [`risk_prior`] is a *host's* view: from what beacons tell (position, heading, speed) it guesses the lane and the
//!   way ahead, and says which grid cells matter to a member of the service scope.
//!
//! Both stand on two tables that are built once per network and never change: [`Predictor`] (how lanes and connections
//! chain up, and which way is straight on) and [`ConflictTable`] (where two connections of a junction meet).
//!
//! # Coordinates
//! - A *lane position* is counted in SUMO's lane length, as traffic sources count it. Where the drawn shape is longer or
//!   shorter than that, points of the shape are scaled to it.
//! - A *connection coordinate* runs from 0 where the connection leaves its lane to [`Predictor::connection_length`] where
//!   it enters the next one; it is the sum of the lengths of the internal lanes. Where a net has no internal lanes,
//!   vehicles jump from lane to lane and every connection has length 0.
//! - A *path distance* is counted from the vehicle's front bumper; what lies behind it is negative.
//!
//! # Example
//! ```
//! use std::{path::Path, sync::Arc};
//! use covey_world::network::LaneIx;
//! use covey_world::paths::{ConflictTable, Predictor, Relevance, RelevanceParameters, RelevantPairs};
//! use covey_world::{Body, Frame, Network, VehicleId, VehicleState, xml::Limits};
//!
//! let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toy/straight/straight.net.xml");
//! let (network, _) = Network::read(&file, Limits::default())?;
//! let predictor = Arc::new(Predictor::new(&network));
//! let conflicts = Arc::new(ConflictTable::new(&network, &predictor));
//! let mut relevance = Relevance::new(predictor, conflicts, RelevanceParameters::default());
//!
//! // Two cars at 10 m/s on a normal lane, 35 m between the bumpers.
//! let lane = network.lanes.iter().position(|lane| !lane.outgoing.is_empty()).unwrap();
//! let shape = &network.lanes[lane].shape;
//! let car = |id, front: f64| VehicleState {
//!     id: VehicleId(id),
//!     position: shape.point_at(front - 2.5),
//!     heading: shape.heading_at(front),
//!     speed: 10.0,
//!     body: Body::CAR,
//!     lane: Some(LaneIx(lane as u32)),
//!     lane_position: front,
//!     next: None,
//! };
//! let frame = Frame { time_us: 0, vehicles: vec![car(0, 20.0), car(1, 60.0)] };
//! let mut pairs = RelevantPairs::new();
//! relevance.step(&frame, &mut pairs);
//!
//! let leader = pairs.of(0)[0];
//! assert!(leader.object == 1 && leader.reasons.ahead());
//! assert_eq!(leader.deadline_us, 200_000);
//! assert!(pairs.of(1).is_empty());
//! # Ok::<(), covey_world::MapError>(())
//! ```

pub mod cells;
pub mod collision;
pub mod conflict;
pub mod deadline;
mod graph;
pub mod lane_match;
pub mod predict;
pub mod relevance;
pub mod risk_prior;

pub use cells::{PathReach, RiskCell, own_path_cells};
pub use collision::time_to_collision;
pub use conflict::{Conflict, ConflictKind, ConflictTable};
pub use deadline::{ReactionDeadline, RelativeSpeed};
pub use lane_match::{LaneMatchParameters, LaneMatcher};
pub use predict::{PathBuffer, PathConnection, PathPiece, PathStart, PathView, Predictor};
pub use relevance::{
    Reasons, Relevance, RelevanceParameters, RelevanceRule, RelevantObject, RelevantPairs,
};
pub use risk_prior::{BeaconState, RiskPrior, RiskPriorParameters};
