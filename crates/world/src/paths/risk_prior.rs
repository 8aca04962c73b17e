//! The risk prior: which cells matter to a vehicle, as far as its beacon and the map tell. This is what a host may use.
//!
//! Nothing here sees a [`crate::VehicleState`]: lane and way ahead are guessed from the beaconed position and heading, and
//! nobody's intention is known, so ways go straight on where they part.

use std::sync::Arc;

use super::cells::{PathReach, RiskCell, lane_cells, straight_cells, sub_chain};
use super::conflict::ConflictTable;
use super::graph::NONE;
use super::lane_match::{LaneMatchParameters, LaneMatcher};
use super::predict::{PathBuffer, PathStart, Predictor};
use crate::geometry::Point;
use crate::grid::GridFrame;
use crate::network::ConnectionIx;

/// What a beacon tells of its sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeaconState {
    /// The centre of the body, in metres in the map plane.
    pub position: Point,
    /// Direction of travel, radians counter-clockwise from +x.
    pub heading: f64,
    /// Speed in m/s.
    pub speed: f64,
}

/// The readings in force for the risk prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskPriorParameters {
    /// How far the path looks ahead: 5 s of travel and 10 m.
    pub reach: PathReach,
    /// The weight of a cell of a conflicting approach; a cell on the path has 1. Default 0.5.
    pub approach_weight: f64,
    /// How far back from the conflict point a conflicting approach counts, in metres. Default 50.
    pub approach_length: f64,
    /// How beaconed positions are matched to lanes.
    pub lane_match: LaneMatchParameters,
}

impl Default for RiskPriorParameters {
    fn default() -> Self {
        Self {
            reach: PathReach::default(),
            approach_weight: 0.5,
            approach_length: 50.0,
            lane_match: LaneMatchParameters::default(),
        }
    }
}

/// A cell of an approach that conflicts with a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ApproachCell {
    iy: i32,
    ix: i32,
    /// Connection coordinates of the first and the last conflict with approaches through this cell.
    first: f64,
    last: f64,
}

/// Finds the cells that matter to a vehicle. Built once per network and grid; immutable.
///
/// A vehicle's cells are
/// - those that its predicted path runs through, from the body's centre over v x 5 s + 10 m, with weight 1; straight ahead
///   where no lane matches;
/// - those of conflicting approaches, with weight 0.5: for every conflict point of the [`ConflictTable`] that lies ahead on
///   the path, the last 50 m of the other connection's way up to that point, looked back over its internal lanes, its
///   incoming lane, and further back over the straightest connection into that.
///
/// Each cell comes once; a cell of both sorts is one of the path.
#[derive(Debug, Clone)]
pub struct RiskPrior {
    predictor: Arc<Predictor>,
    matcher: LaneMatcher,
    grid: GridFrame,
    parameters: RiskPriorParameters,
    offsets: Vec<u32>,
    approaches: Vec<ApproachCell>,
}

impl RiskPrior {
    /// The risk prior on the network of `predictor` and `conflicts`, for the cells of `grid`.
    #[must_use]
    pub fn new(
        predictor: Arc<Predictor>,
        conflicts: &ConflictTable,
        grid: GridFrame,
        parameters: RiskPriorParameters,
    ) -> Self {
        let mut offsets = vec![0u32];
        let mut approaches: Vec<ApproachCell> = Vec::new();
        let mut found: Vec<ApproachCell> = Vec::new();
        let length = if parameters.approach_length.is_finite() {
            parameters.approach_length
        } else {
            0.0
        };
        for c in 0..predictor.connections() {
            found.clear();
            let c = ConnectionIx(u32::try_from(c).unwrap_or(NONE));
            for conflict in conflicts.of(c) {
                look_back(
                    &predictor,
                    conflict.other.0,
                    conflict.theirs,
                    length,
                    |a, b| {
                        grid.trace(a, b, |(ix, iy), _| {
                            found.push(ApproachCell {
                                iy,
                                ix,
                                first: conflict.own,
                                last: conflict.own,
                            });
                        });
                    },
                );
            }
            found.sort_by(|a, b| {
                (a.iy, a.ix)
                    .cmp(&(b.iy, b.ix))
                    .then(a.first.total_cmp(&b.first))
            });
            for same in found.chunk_by(|a, b| (a.iy, a.ix) == (b.iy, b.ix)) {
                approaches.push(ApproachCell {
                    last: same[same.len() - 1].last,
                    ..same[0]
                });
            }
            offsets.push(u32::try_from(approaches.len()).unwrap_or(u32::MAX));
        }
        let matcher = LaneMatcher::new(&predictor, parameters.lane_match);
        Self {
            predictor,
            matcher,
            grid,
            parameters,
            offsets,
            approaches,
        }
    }

    /// How beaconed positions are matched to lanes.
    #[must_use]
    pub fn matcher(&self) -> &LaneMatcher {
        &self.matcher
    }

    /// Replaces `out` by the cells that matter to the sender of a beacon, by ascending row (`iy`), then column (`ix`).
    /// `buffer` is scratch memory.
    pub fn cells(&self, beacon: &BeaconState, buffer: &mut PathBuffer, out: &mut Vec<RiskCell>) {
        out.clear();
        let reach = &self.parameters.reach;
        let length = reach.length(beacon.speed);
        if let Some((lane, position)) = self.matcher.match_lane(beacon.position, beacon.heading) {
            buffer.clear();
            self.predictor.predict(
                PathStart {
                    lane,
                    position,
                    next: None,
                },
                length,
                buffer,
            );
            let path = buffer.path(0);
            lane_cells(&self.predictor, path, reach, beacon.speed, &self.grid, out);
            for taken in path.connections {
                let row = self.offsets[taken.connection.index()] as usize
                    ..self.offsets[taken.connection.index() + 1] as usize;
                // Connection coordinates between here and the end of the path.
                let (here, end) = ((-taken.distance).max(0.0), length - taken.distance);
                for cell in &self.approaches[row] {
                    if cell.last < here || cell.first > end {
                        continue;
                    }
                    let distance = taken.distance + cell.first.max(here);
                    out.push(RiskCell {
                        ix: cell.ix,
                        iy: cell.iy,
                        arrival_us: reach.arrival_us(distance, beacon.speed),
                        weight: self.parameters.approach_weight,
                    });
                }
            }
        } else {
            straight_cells(
                beacon.position,
                beacon.heading,
                length,
                reach,
                beacon.speed,
                &self.grid,
                out,
            );
        }
        out.sort_unstable_by(|a, b| {
            (a.iy, a.ix)
                .cmp(&(b.iy, b.ix))
                .then(b.weight.total_cmp(&a.weight))
                .then(a.arrival_us.cmp(&b.arrival_us))
        });
        out.dedup_by_key(|cell| (cell.iy, cell.ix));
    }
}

/// Calls `visit` with the straight parts of the last `length` metres of the way over connection `c` up to its coordinate
/// `until`.
fn look_back(
    predictor: &Predictor,
    c: u32,
    until: f64,
    length: f64,
    mut visit: impl FnMut(Point, Point),
) {
    let graph = &predictor.graph;
    let mut left = length;
    let (mut connection, mut until) = (c, until);
    // Circles of lanes of length 0 must end.
    for _ in 0..64 {
        let mut draw = |shape, to: f64, left: &mut f64| {
            let from = (to - *left).max(0.0);
            let mut last = None;
            sub_chain(shape, from, to, |point, _| {
                visit(last.unwrap_or(point), point);
                last = Some(point);
            });
            *left -= to - from;
        };
        draw(graph.connection_shape(connection), until, &mut left);
        if left <= 0.0 {
            return;
        }
        let lane = graph.from[connection as usize];
        draw(
            graph.lane_shape(lane),
            graph.lane_length[lane as usize],
            &mut left,
        );
        if left <= 0.0 {
            return;
        }
        connection = graph.straight_in[lane as usize];
        if connection == NONE {
            return;
        }
        until = graph.connection_length[connection as usize];
    }
}
