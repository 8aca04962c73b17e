//! Predicted paths: the lanes that a vehicle will run over, as far as the map tells.

use super::deadline::clean;
use super::graph::{LaneGraph, NONE};
use crate::geometry::Point;
use crate::network::{ConnectionIx, LaneIx, Network};
use crate::scene::{BodyKind, VehicleState};

/// A path has at most this many pieces; lanes of length 0 that lead into one another would make an endless one.
pub const MAX_PIECES: usize = 256;

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStart {
    /// The lane, internal lanes included.
    pub lane: LaneIx,
    /// Along the lane, in metres.
    pub position: f64,
    /// The connection to take at the end of the first normal lane, if known.
    pub next: Option<ConnectionIx>,
}

impl PathStart {
    /// Where the path of `vehicle` begins: at its front bumper. None for pedestrians and off the road, where a lane
    /// position that is not finite counts as off the road.
    #[must_use]
    pub fn of(vehicle: &VehicleState) -> Option<Self> {
        if vehicle.body.kind == BodyKind::Pedestrian || !vehicle.lane_position.is_finite() {
            return None;
        }
        Some(Self {
            lane: vehicle.lane?,
            position: vehicle.lane_position,
            next: vehicle.next,
        })
    }
}

/// A stretch of one lane on a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathPiece {
    /// The lane, internal lanes included.
    pub lane: LaneIx,
    /// The lane position where the stretch begins: 0 but for the first piece.
    pub start: f64,
    /// The lane position where it ends: the lane's end but for the last piece.
    pub end: f64,
    /// The path distance of its beginning.
    pub distance: f64,
}

/// A connection that a path takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathConnection {
    /// The connection driven on.
    pub connection: ConnectionIx,
    /// The path distance of its beginning; negative for a connection that the vehicle is already on.
    pub distance: f64,
}

/// One path of a [`PathBuffer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathView<'a> {
    /// The stretches in order; none for an empty path.
    pub pieces: &'a [PathPiece],
    /// The connections in order.
    pub connections: &'a [PathConnection],
}

impl PathView<'_> {
    /// How far the path goes: the horizon, or less where the road or the number of pieces ends before it.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.pieces
            .last()
            .map_or(0.0, |last| last.distance + last.end - last.start)
    }
}

/// Paths in flat arrays that are used again and again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PathBuffer {
    pieces: Vec<PathPiece>,
    connections: Vec<PathConnection>,
    /// For each path, where its pieces and its connections end.
    ends: Vec<(u32, u32)>,
}

impl PathBuffer {
    /// A buffer without a path, to be filled again and again.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all paths and keeps the memory.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.connections.clear();
        self.ends.clear();
    }

    /// The number of paths, empty ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// There is no path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The path number `i`, in the order in which paths were added.
    ///
    /// # Panics
    /// If there is no such path.
    #[must_use]
    pub fn path(&self, i: usize) -> PathView<'_> {
        let (pieces, connections) = if i == 0 { (0, 0) } else { self.ends[i - 1] };
        let end = self.ends[i];
        PathView {
            pieces: &self.pieces[pieces as usize..end.0 as usize],
            connections: &self.connections[connections as usize..end.1 as usize],
        }
    }

    /// Adds a path without a piece: for a body off the road.
    pub fn push_empty(&mut self) {
        self.close();
    }

    fn close(&mut self) {
        let index = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.ends
            .push((index(self.pieces.len()), index(self.connections.len())));
    }
}

/// The straight-ahead path of a body that is on no lane: from `position` along `heading` for `horizon` metres. None if a
/// number is not finite.
#[must_use]
pub fn straight_ahead(position: Point, heading: f64, horizon: f64) -> Option<[Point; 2]> {
    let end = position + Point::from_heading(heading) * clean(horizon);
    (position.is_finite() && end.is_finite()).then_some([position, end])
}

/// Says which way a vehicle will take. Built once per network; immutable and free to share.
///
/// The rule: follow the lane to its end; there take the connection that the driver means to take, where it is known and
/// leaves this lane; else, and after that, the *straightest* one. Straightest: one that leads to a drivable lane before
/// any other, then one that the net calls straight, then the one with the smallest change of heading between the two
/// lanes (rounded to microradians), then the lowest index. On an internal lane the path first goes on along the
/// connection that the lane belongs to. It ends at the horizon, at a dead end, or after [`MAX_PIECES`] pieces.
#[derive(Debug, Clone)]
pub struct Predictor {
    pub(super) graph: LaneGraph,
}

impl Predictor {
    /// The predictor for `network`.
    ///
    /// # Panics
    /// If an index in the network points outside its arrays.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Self {
            graph: LaneGraph::new(network),
        }
    }

    /// How many lanes the network has.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.graph.lane_length.len()
    }

    /// How many connections the network has.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.graph.connection_length.len()
    }

    /// The length of a connection: the lengths of its internal lanes together.
    #[must_use]
    pub fn connection_length(&self, connection: ConnectionIx) -> f64 {
        self.graph.connection_length[connection.index()]
    }

    /// The connection that goes straight on at the end of a normal lane; none at a dead end and on internal lanes.
    #[must_use]
    pub fn straightest(&self, lane: LaneIx) -> Option<ConnectionIx> {
        let c = self.graph.straight_out[lane.index()];
        (c != NONE).then_some(ConnectionIx(c))
    }

    /// The connection that an internal lane belongs to, and the connection coordinate of the lane's beginning.
    #[must_use]
    pub fn connection_of(&self, lane: LaneIx) -> Option<(ConnectionIx, f64)> {
        let c = self.graph.owner[lane.index()];
        (c != NONE).then_some((ConnectionIx(c), self.graph.via_begin[lane.index()]))
    }

    /// Adds to `out` the path from `start` over `horizon` metres. A lane that the network does not have gives an empty
    /// path; positions off the lane's ends are moved to the ends; a horizon that is not finite counts as 0.
    pub fn predict(&self, start: PathStart, horizon: f64, out: &mut PathBuffer) {
        if start.lane.index() < self.lanes() && start.position.is_finite() {
            self.walk(start, clean(horizon), out);
        }
        out.close();
    }

    fn walk(&self, start: PathStart, horizon: f64, out: &mut PathBuffer) {
        let graph = &self.graph;
        let mut next = start.next;
        let mut lane = start.lane.0;
        let mut position = start.position.clamp(0.0, graph.lane_length[lane as usize]);
        let mut distance = 0.0;
        // The connection under way and the place of the lane in it.
        let mut under_way = (graph.owner[lane as usize], graph.via_place[lane as usize]);
        if under_way.0 != NONE {
            out.connections.push(PathConnection {
                connection: ConnectionIx(under_way.0),
                distance: -(graph.via_begin[lane as usize] + position),
            });
        }
        for _ in 0..MAX_PIECES {
            let length = graph.lane_length[lane as usize];
            let left = horizon - distance;
            let ahead = length - position;
            let end = if ahead <= left {
                length
            } else {
                position + left
            };
            out.pieces.push(PathPiece {
                lane: LaneIx(lane),
                start: position,
                end,
                distance,
            });
            // A junction that begins exactly at the horizon still belongs to the path.
            if ahead > left {
                return;
            }
            distance += ahead;
            position = 0.0;
            if under_way.0 == NONE {
                let meant = next
                    .take()
                    .filter(|c| graph.from.get(c.index()).is_some_and(|&from| from == lane));
                let c = meant.map_or(graph.straight_out[lane as usize], |c| c.0);
                if c == NONE {
                    return;
                }
                out.connections.push(PathConnection {
                    connection: ConnectionIx(c),
                    distance,
                });
                under_way = (c, 0);
            } else {
                under_way.1 += 1;
            }
            if let Some(&internal) = graph.via(under_way.0).get(under_way.1 as usize) {
                lane = internal;
            } else {
                lane = graph.to[under_way.0 as usize];
                under_way = (NONE, 0);
            }
        }
    }
}
