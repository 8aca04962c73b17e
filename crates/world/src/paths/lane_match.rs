//! Which lane a body is on, from its position and heading alone: what a receiver of beacons can know.

use super::graph::{NONE, heading_difference, share_of_foot};
use super::predict::Predictor;
use crate::geometry::Point;
use crate::network::LaneIx;

/// How lanes are matched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneMatchParameters {
    /// A lane's centre line further off than this, in metres, is not matched; at most 100. Default 3.
    pub max_distance: f64,
    /// A lane whose direction differs by more than this, in radians, is not matched. Default pi / 4.
    pub max_turn: f64,
    /// One radian of difference in direction counts like so many metres off. Default 3.
    pub metres_per_radian: f64,
    /// An internal lane of a connection that is not the straightest one counts as so many metres further off, since
    /// where ways part nothing else tells them from the straight one. Default 0.5.
    pub turning_penalty: f64,
}

impl Default for LaneMatchParameters {
    fn default() -> Self {
        Self {
            max_distance: 3.0,
            max_turn: std::f64::consts::FRAC_PI_4,
            metres_per_radian: 3.0,
            turning_penalty: 0.5,
        }
    }
}

/// A short straight part of a lane.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    lane: u32,
    a: Point,
    b: Point,
    /// Lane positions of the two ends.
    at: (f64, f64),
    heading: f64,
}

/// Finds the lane under a body. A grid over short stretches of all drivable lanes, internal ones included.
#[derive(Debug, Clone)]
pub struct LaneMatcher {
    parameters: LaneMatchParameters,
    corner: Point,
    side: f64,
    columns: usize,
    rows: usize,
    offsets: Vec<u32>,
    members: Vec<u32>,
    stretches: Vec<Stretch>,
    penalty: Vec<f64>,
}

impl LaneMatcher {
    /// The matcher for the network of `predictor`.
    #[must_use]
    pub fn new(predictor: &Predictor, parameters: LaneMatchParameters) -> Self {
        let graph = &predictor.graph;
        let lanes = (0u32..)
            .zip(&graph.drivable)
            .filter(|(_, drivable)| **drivable);
        let lanes: Vec<u32> = lanes.map(|(lane, _)| lane).collect();
        let (mut low, mut high) = (
            Point::new(f64::INFINITY, f64::INFINITY),
            Point::new(f64::NEG_INFINITY, f64::NEG_INFINITY),
        );
        let mut points = 0usize;
        for &lane in &lanes {
            for p in graph.lane_shape(lane).points {
                low = Point::new(low.x.min(p.x), low.y.min(p.y));
                high = Point::new(high.x.max(p.x), high.y.max(p.y));
                points += 1;
            }
        }
        let mut matcher = Self {
            parameters,
            corner: low,
            side: 1.0,
            columns: 0,
            rows: 0,
            offsets: vec![0],
            members: Vec::new(),
            stretches: Vec::new(),
            penalty: vec![0.0; graph.lane_length.len()],
        };
        let (width, height) = (high.x - low.x, high.y - low.y);
        if points == 0 || !width.is_finite() || !height.is_finite() {
            return matcher;
        }
        for (lane, penalty) in matcher.penalty.iter_mut().enumerate() {
            let owner = graph.owner[lane];
            if owner != NONE && graph.straight_out[graph.from[owner as usize] as usize] != owner {
                *penalty = parameters.turning_penalty;
            }
        }
        // Cells of 12.5 m, or larger where a vast map would need too many of them.
        let margin = parameters.max_distance.clamp(0.0, 100.0);
        let most = 16.0 * points as f64 + 65_536.0;
        let mut side = margin.max(12.5);
        while (width / side + 3.0) * (height / side + 3.0) > most {
            side *= 2.0;
        }
        matcher.side = side;
        matcher.corner = low - Point::new(side, side);
        matcher.columns = (width / side) as usize + 3;
        matcher.rows = (height / side) as usize + 3;
        let mut entries: Vec<(u32, u32)> = Vec::new();
        for &lane in &lanes {
            matcher.add(predictor, lane, margin, &mut entries);
        }
        entries.sort_unstable();
        matcher.offsets = vec![0; matcher.columns * matcher.rows + 1];
        for &(bucket, _) in &entries {
            matcher.offsets[bucket as usize + 1] += 1;
        }
        for i in 1..matcher.offsets.len() {
            matcher.offsets[i] += matcher.offsets[i - 1];
        }
        matcher.members = entries.into_iter().map(|(_, stretch)| stretch).collect();
        matcher
    }

    fn add(
        &mut self,
        predictor: &Predictor,
        lane: u32,
        margin: f64,
        entries: &mut Vec<(u32, u32)>,
    ) {
        let shape = predictor.graph.lane_shape(lane);
        for k in 1..shape.points.len() {
            let (p, q) = (shape.points[k - 1], shape.points[k]);
            let d = q - p;
            let heading = d.y.atan2(d.x);
            // Parts no longer than a cell, so that a long slanting lane fills no more cells than it crosses.
            let parts = (d.length() / self.side).ceil().max(1.0);
            for part in 0..parts as u32 {
                let (from, to) = (f64::from(part) / parts, f64::from(part + 1) / parts);
                let along = |share: f64| shape.at[k - 1] + (shape.at[k] - shape.at[k - 1]) * share;
                let stretch = Stretch {
                    lane,
                    a: p + d * from,
                    b: p + d * to,
                    at: (along(from), along(to)),
                    heading,
                };
                let number = u32::try_from(self.stretches.len()).unwrap_or(u32::MAX);
                let (low_x, low_y) = self.bucket(
                    stretch.a.x.min(stretch.b.x) - margin,
                    stretch.a.y.min(stretch.b.y) - margin,
                );
                let (high_x, high_y) = self.bucket(
                    stretch.a.x.max(stretch.b.x) + margin,
                    stretch.a.y.max(stretch.b.y) + margin,
                );
                for y in low_y..=high_y {
                    for x in low_x..=high_x {
                        let bucket = y * self.columns + x;
                        entries.push((u32::try_from(bucket).unwrap_or(u32::MAX), number));
                    }
                }
                self.stretches.push(stretch);
            }
        }
    }

    fn bucket(&self, x: f64, y: f64) -> (usize, usize) {
        let place = |v: f64, corner: f64, count: usize| {
            // Casting moves what lies before the grid to its first cell.
            (((v - corner) / self.side) as usize).min(count - 1)
        };
        (
            place(x, self.corner.x, self.columns),
            place(y, self.corner.y, self.rows),
        )
    }

    /// Tells every lane whose centre line comes within `reach` of a point, once or more, with the lane position of the nearest
    /// point; whatever its direction. No farther than the matcher's own distance.
    pub(super) fn lanes_under(&self, position: Point, reach: f64, mut tell: impl FnMut(u32, f64)) {
        if self.columns == 0 || !position.is_finite() {
            return;
        }
        let (x, y) = self.bucket(position.x, position.y);
        let bucket = y * self.columns + x;
        let members = self.offsets[bucket] as usize..self.offsets[bucket + 1] as usize;
        for &member in &self.members[members] {
            let stretch = &self.stretches[member as usize];
            let share = share_of_foot(position, stretch.a, stretch.b);
            let off = position - (stretch.a + (stretch.b - stretch.a) * share);
            if off.dot(off) <= reach * reach {
                let at = stretch.at.0 + (stretch.at.1 - stretch.at.0) * share;
                tell(stretch.lane, at);
            }
        }
    }

    /// The lane that fits best, and the lane position of the point of it that is nearest; none if no lane fits.
    ///
    /// Best: least sum of the distance to the centre line and the difference in direction, weighed by the parameters; the
    /// lowest lane index on a tie.
    #[must_use]
    pub fn match_lane(&self, position: Point, heading: f64) -> Option<(LaneIx, f64)> {
        if self.columns == 0 || !position.is_finite() || !heading.is_finite() {
            return None;
        }
        let (x, y) = self.bucket(position.x, position.y);
        let bucket = y * self.columns + x;
        let members = self.offsets[bucket] as usize..self.offsets[bucket + 1] as usize;
        let mut best: Option<(f64, u32, f64)> = None;
        for &member in &self.members[members] {
            let stretch = &self.stretches[member as usize];
            let share = share_of_foot(position, stretch.a, stretch.b);
            let off = position - (stretch.a + (stretch.b - stretch.a) * share);
            // Squares first: most stretches of a bucket are too far off.
            let squared = off.dot(off);
            if squared > self.parameters.max_distance * self.parameters.max_distance {
                continue;
            }
            let turn = heading_difference(heading, stretch.heading);
            if turn > self.parameters.max_turn {
                continue;
            }
            let score = squared.sqrt()
                + turn * self.parameters.metres_per_radian
                + self.penalty[stretch.lane as usize];
            let better = best.is_none_or(|(least, lane, _)| {
                score < least || (score <= least && stretch.lane < lane)
            });
            if better {
                let at = stretch.at.0 + (stretch.at.1 - stretch.at.0) * share;
                best = Some((score, stretch.lane, at));
            }
        }
        best.map(|(_, lane, at)| (LaneIx(lane), at))
    }
}
