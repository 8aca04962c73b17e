//! The map as participants carry it: lanes and buildings of the scenario, in the grid frame.
//!
//! It answers from positions and headings alone, as a navigation map would; nothing of the traffic reaches it.

use std::sync::Arc;

use covey_protocol::Position;
use covey_protocol::map::RoadMap;
use covey_world::paths::{LaneMatcher, PathBuffer, PathStart, Predictor};
use covey_world::{GridFrame, Network, Point, Sight};

/// Points of a way are this far apart, in metres.
const SPACING_M: f64 = 15.0;

/// Lanes and buildings.
#[derive(Debug, Clone)]
pub(crate) struct CarriedMap {
    pub(crate) grid: GridFrame,
    pub(crate) azimuth: f64,
    pub(crate) network: Arc<Network>,
    pub(crate) predictor: Arc<Predictor>,
    pub(crate) matcher: Arc<LaneMatcher>,
    /// None for a map without buildings.
    pub(crate) sight: Option<Arc<Sight>>,
}

impl CarriedMap {
    fn to_map(&self, p: Position) -> Point {
        self.grid.to_map(Point::new(p.x, p.y))
    }
}

impl RoadMap for CarriedMap {
    fn building_between(&self, a: Position, b: Position) -> bool {
        let sight = self.sight.as_ref();
        sight.is_some_and(|sight| sight.building_between(self.to_map(a), self.to_map(b)))
    }

    fn way_ahead(&self, position: Position, heading: f64, length: f64, way: &mut Vec<Position>) {
        let Some((lane, at)) = self
            .matcher
            .match_lane(self.to_map(position), heading + self.azimuth)
        else {
            return;
        };
        let mut buffer = PathBuffer::new();
        let start = PathStart {
            lane,
            position: at,
            next: None,
        };
        self.predictor.predict(start, length, &mut buffer);
        let mut add = |p: Point| {
            let p = self.grid.to_grid(p);
            way.push(Position::new(p.x, p.y));
        };
        let pieces = buffer.path(0).pieces;
        for (at, piece) in pieces.iter().enumerate() {
            let lane = &self.network.lanes[piece.lane.index()];
            let scale = if lane.length > 0.0 {
                lane.shape.length() / lane.length
            } else {
                1.0
            };
            let span = piece.end - piece.start;
            let parts = (span / SPACING_M).ceil().max(1.0) as usize;
            for part in 0..parts {
                let s = piece.start + span * part as f64 / parts as f64;
                add(lane.shape.point_at(s * scale));
            }
            if at + 1 == pieces.len() {
                add(lane.shape.point_at(piece.end * scale));
            }
        }
    }

    fn lane_point(&self, position: Position, heading: f64) -> Option<Position> {
        let p = self.to_map(position);
        let (lane, at) = self.matcher.match_lane(p, heading + self.azimuth)?;
        let lane = &self.network.lanes[lane.index()];
        let scale = if lane.length > 0.0 {
            lane.shape.length() / lane.length
        } else {
            1.0
        };
        let p = self.grid.to_grid(lane.shape.point_at(at * scale));
        Some(Position::new(p.x, p.y))
    }

    fn lane_heading(&self, position: Position) -> Option<f64> {
        let p = self.to_map(position);
        let mut best: Option<(f64, f64)> = None;
        for quarter in 0..8 {
            let heading = f64::from(quarter) * std::f64::consts::FRAC_PI_4;
            if let Some((lane, _)) = self.matcher.match_lane(p, heading) {
                let shape = &self.network.lanes[lane.index()].shape;
                let (s, off) = shape.project(p);
                if best.is_none_or(|(least, _)| off.abs() < least) {
                    best = Some((off.abs(), shape.heading_at(s) - self.azimuth));
                }
            }
        }
        best.map(|(_, heading)| heading)
    }
}
