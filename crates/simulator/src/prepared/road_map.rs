//! The map as participants carry it: lanes and buildings of the scenario, in the grid frame.
//!
//! It answers from positions and headings alone, as a navigation map would; nothing of the traffic reaches it.

use std::sync::{Arc, Mutex, PoisonError};

use covey_protocol::messages::PathCell;
use covey_protocol::{AgentState, Cell, Duration, Position, RoadMap};
use covey_world::paths::{
    BeaconState, LaneMatcher, PathBuffer, PathStart, Predictor, RiskCell, RiskPrior,
};
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
    pub(crate) risk_prior: Arc<RiskPrior>,
}

/// Working memory for paths.
#[derive(Debug, Default)]
struct PathScratch {
    path: PathBuffer,
    risk: Vec<RiskCell>,
}

impl CarriedMap {
    fn to_map(&self, p: Position) -> Point {
        self.grid.to_map(Point::new(p.x, p.y))
    }

    fn path_with(&self, scratch: &mut PathScratch, state: &AgentState, path: &mut Vec<PathCell>) {
        let beacon = BeaconState {
            position: self.to_map(state.position),
            heading: state.heading + self.azimuth,
            speed: state.speed,
        };
        self.risk_prior
            .cells(&beacon, &mut scratch.path, &mut scratch.risk);
        path.extend(scratch.risk.iter().map(|cell| PathCell {
            cell: Cell::new(cell.ix, cell.iy),
            after: Duration::from_micros(cell.arrival_us),
            weight: cell.weight,
        }));
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

    /// Along the lanes, in the cells of the scenario's grid.
    fn path_ahead(&self, state: &AgentState, _: f64, path: &mut Vec<PathCell>) {
        self.path_with(&mut PathScratch::default(), state, path);
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

/// Answers kept: about as many as there are vehicles, at the ages that their beacons may have.
const KEPT: usize = 1 << 13;

/// The same map, which remembers its newest answers: contributors near each other ask the same of everyone around them.
/// Answers depend on the arguments alone, so it cannot be told from the map itself.
#[derive(Debug)]
pub(crate) struct Remembering {
    map: Arc<CarriedMap>,
    ways: Mutex<Answers<4, Vec<Position>>>,
    points: Mutex<Answers<3, Option<Position>>>,
    headings: Mutex<Answers<2, Option<f64>>>,
    paths: Mutex<Answers<4, Vec<PathCell>>>,
    scratch: Mutex<PathScratch>,
}

impl Remembering {
    pub(crate) fn new(map: &Arc<CarriedMap>) -> Self {
        Self {
            map: Arc::clone(map),
            ways: Mutex::default(),
            points: Mutex::default(),
            headings: Mutex::default(),
            paths: Mutex::default(),
            scratch: Mutex::default(),
        }
    }
}

/// The last answer to each group of questions.
#[derive(Debug)]
struct Answers<const N: usize, T> {
    rows: Vec<([u64; N], T)>,
}

impl<const N: usize, T: Default> Default for Answers<N, T> {
    fn default() -> Self {
        let none = || ([u64::MAX; N], T::default());
        Self {
            rows: std::iter::repeat_with(none).take(KEPT).collect(),
        }
    }
}

/// The answer to `question`, made by `answer` into the old one's place where it is not at hand.
fn ask<const N: usize, T: Default, R>(
    answers: &Mutex<Answers<N, T>>,
    question: [f64; N],
    answer: impl FnOnce(&mut T),
    give: impl FnOnce(&T) -> R,
) -> R {
    let question = question.map(f64::to_bits);
    let mixed = question.iter().fold(0u64, |sum, &bits| {
        (sum.rotate_left(23) ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    // Whoever panicked while holding it would have ended the run.
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    let row = &mut answers.rows[(mixed >> 40) as usize % KEPT];
    if row.0 != question {
        answer(&mut row.1);
        row.0 = question;
    }
    give(&row.1)
}

impl RoadMap for Remembering {
    fn building_between(&self, a: Position, b: Position) -> bool {
        self.map.building_between(a, b)
    }

    fn way_ahead(&self, position: Position, heading: f64, length: f64, way: &mut Vec<Position>) {
        ask(
            &self.ways,
            [position.x, position.y, heading, length],
            |kept| {
                kept.clear();
                self.map.way_ahead(position, heading, length, kept);
            },
            |kept| way.extend_from_slice(kept),
        );
    }

    fn path_ahead(&self, state: &AgentState, _: f64, path: &mut Vec<PathCell>) {
        let Position { x, y } = state.position;
        ask(
            &self.paths,
            [x, y, state.heading, state.speed],
            |kept| {
                kept.clear();
                let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
                self.map.path_with(&mut scratch, state, kept);
            },
            |kept| path.extend_from_slice(kept),
        );
    }

    fn lane_point(&self, position: Position, heading: f64) -> Option<Position> {
        ask(
            &self.points,
            [position.x, position.y, heading],
            |kept| *kept = self.map.lane_point(position, heading),
            |&kept| kept,
        )
    }

    fn lane_heading(&self, position: Position) -> Option<f64> {
        ask(
            &self.headings,
            [position.x, position.y],
            |kept| *kept = self.map.lane_heading(position),
            |&kept| kept,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_asked() {
        let answers = Mutex::<Answers<2, Option<f64>>>::default();
        let mut made = 0;
        let mut sum_of = |a: f64, b: f64| {
            let sum = ask(
                &answers,
                [a, b],
                |kept| {
                    made += 1;
                    *kept = Some(a + b);
                },
                |&kept| kept,
            );
            assert_eq!(sum, Some(a + b));
        };
        // More questions than places: some are forgotten, none is answered with another's.
        for round in 0..2 {
            for k in 0..3 * KEPT {
                sum_of(k as f64, 0.5 * f64::from(round / 2));
            }
        }
        for _ in 0..10 {
            sum_of(1.0, 2.0);
        }
        assert!(made > 3 * KEPT && made <= 6 * KEPT + 1, "{made}");
    }
}
