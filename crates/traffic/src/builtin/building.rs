//! From the network to the tracks that vehicles drive on.

use super::config::{BuiltinConfig, BuiltinError};
use super::conflicts;
use super::roads::{
    Crossing, Exit, LaneTrack, Movement, NONE, Piece, Roads, Street, Track, TrackKind, WayPath,
};
use super::selection::{
    Way, check_indices, drop_dead_ends, main_edges, usable, usable_lanes, ways,
};
use covey_world::network::{EdgeIx, LaneIx, Network, Turn};
use covey_world::{Point, Polyline};

/// Speed limit (m/s) of a turn back at a dead end that the network does not describe.
const TURN_BACK_SPEED: f64 = 4.0;

/// Builds the tracks of `network`.
pub(crate) fn build(network: &Network, config: &BuiltinConfig) -> Result<Roads, BuiltinError> {
    check_indices(network)?;
    let (usable, mut in_use) = usable(network);
    if !in_use.contains(&true) {
        return Err(BuiltinError::NoRoad);
    }
    let ways = ways(network, &usable)?;
    let main = main_edges(network, &in_use, &config.main_edges)?;
    let avoided = drop_dead_ends(network, &ways, &main, &mut in_use, config.dead_ends)?;
    if !(0..network.edges.len()).any(|e| in_use[e] && main[e]) {
        return Err(BuiltinError::NoRoad);
    }
    let mut builder = Builder::new(network, &usable, &in_use, &main);
    for way in &ways {
        builder.add_way(way);
    }
    Ok(builder.finish(avoided))
}

struct Builder<'a> {
    network: &'a Network,
    tracks: Vec<Track>,
    streets: Vec<Street>,
    track_of_lane: Vec<u32>,
    paths: Vec<WayPath>,
}

impl<'a> Builder<'a> {
    fn new(network: &'a Network, usable: &[bool], in_use: &[bool], main: &[bool]) -> Self {
        let mut builder = Self {
            network,
            tracks: Vec::new(),
            streets: Vec::new(),
            track_of_lane: vec![NONE; network.lanes.len()],
            paths: Vec::new(),
        };
        for e in (0..network.edges.len()).filter(|&e| in_use[e]) {
            builder.add_street(e, usable, main[e]);
        }
        builder
    }

    fn add_street(&mut self, edge: usize, usable: &[bool], main: bool) {
        let street = self.streets.len() as u32;
        let mut lanes: Vec<u32> = Vec::new();
        let mut lane_metres = 0.0;
        let mut previous: Option<u32> = None;
        for l in usable_lanes(self.network, edge, usable) {
            let lane = &self.network.lanes[l.index()];
            let track = self.tracks.len() as u32;
            let mut outer = NONE;
            if let Some(&before) = lanes.last()
                && previous.map(|index| index + 1) == Some(lane.index)
            {
                outer = before;
                if let TrackKind::Lane(data) = &mut self.tracks[before as usize].kind {
                    data.inner = track;
                }
            }
            previous = Some(lane.index);
            let length = lane.shape.length();
            lane_metres += length;
            self.track_of_lane[l.index()] = track;
            lanes.push(track);
            self.tracks.push(Track {
                length,
                limit: lane.speed_limit.max(1.0),
                shape: lane.shape.clone(),
                main,
                incoming: Vec::new(),
                kind: TrackKind::Lane(LaneTrack {
                    street,
                    exits: Vec::new(),
                    outer,
                    inner: NONE,
                }),
                pieces: vec![Piece {
                    lane: Some(l),
                    start: 0.0,
                    length,
                    offset: 0.0,
                    scale: scale(lane.length, length),
                }],
            });
        }
        self.streets.push(Street {
            edge: EdgeIx(edge as u32),
            lanes,
            main,
            movements: Vec::new(),
            lane_metres,
        });
    }

    fn add_way(&mut self, way: &Way) {
        let network = self.network;
        if self.track_of_lane[way.from.index()] == NONE
            || self.track_of_lane[way.to.index()] == NONE
        {
            return;
        }
        let via: &[LaneIx] = way
            .connection
            .map_or(&[], |c| &network.connections[c.index()].via);
        let begin = network.lanes[way.from.index()].shape.points();
        let end = network.lanes[way.to.index()].shape.points();
        let far = |points: &[Point], p: Point| points.last().is_none_or(|q| q.distance(p) > 1e-3);
        // From the end of one lane to the beginning of the other, without a gap.
        let mut points: Vec<Point> = begin.last().copied().into_iter().collect();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut limit = f64::INFINITY;
        for l in via {
            let lane = &network.lanes[l.index()];
            for &p in lane.shape.points() {
                if far(&points, p) {
                    points.push(p);
                }
            }
            limit = limit.min(lane.speed_limit.max(1.0));
            let start = pieces.last().map_or(0.0, |p| p.start + p.length);
            let length = arc_length(&points) - start;
            pieces.push(Piece {
                lane: Some(*l),
                start,
                length,
                offset: 0.0,
                scale: scale(lane.length, length),
            });
        }
        if way.connection.is_none() {
            turn_back(&mut points, begin, end);
        }
        if far(&points, end[0]) {
            points.push(end[0]);
        }
        if via.is_empty() {
            limit = if way.connection.is_none() {
                TURN_BACK_SPEED
            } else {
                network.lanes[way.to.index()].speed_limit.max(1.0)
            };
            // Off the road that the network describes.
            pieces.push(Piece {
                lane: None,
                start: 0.0,
                length: arc_length(&points),
                offset: 0.0,
                scale: 0.0,
            });
        }
        let waiting = (pieces.len() > 1).then(|| pieces[0].length);
        if let Some(shape) = Polyline::new(points) {
            self.paths.push(WayPath {
                way: *way,
                shape,
                waiting,
                pieces,
                limit,
            });
        }
    }

    /// Makes the tracks of a way, cut at its waiting place if it has one.
    fn add_tracks(&mut self, path: &WayPath, waiting: Option<f64>) -> Vec<u32> {
        let network = self.network;
        let from = self.track_of_lane[path.way.from.index()];
        let to = self.track_of_lane[path.way.to.index()];
        let first = self.tracks.len() as u32;
        let length = path.shape.length();
        let cuts = match waiting {
            Some(w) => vec![0.0, w, length],
            None => vec![0.0, length],
        };
        let count = cuts.len() - 1;
        for k in 0..count {
            let id = first + k as u32;
            let shape = if count == 1 {
                path.shape.clone()
            } else {
                part(&path.shape, cuts[k], cuts[k + 1])
            };
            self.tracks.push(Track {
                length: shape.length(),
                limit: path.limit,
                shape,
                main: self.tracks[from as usize].main && self.tracks[to as usize].main,
                incoming: vec![if k == 0 { from } else { id - 1 }],
                kind: TrackKind::Crossing(Crossing {
                    connection: path.way.connection,
                    next: if k + 1 == count { to } else { id + 1 },
                    to_lane: to,
                    entry: k == 0,
                    signal: path
                        .way
                        .connection
                        .and_then(|c| network.connections[c.index()].signal)
                        .map(|(s, link)| (s.0, link)),
                    conflicts: Vec::new(),
                    keep_clear: false,
                    before: if k == 0 { NONE } else { id - 1 },
                }),
                pieces: part_pieces(&path.pieces, cuts[k], cuts[k + 1]),
            });
        }
        let last = first + count as u32 - 1;
        self.tracks[to as usize].incoming.push(last);
        let to_street = self.tracks[to as usize].lane().map_or(NONE, |l| l.street);
        if let TrackKind::Lane(lane) = &mut self.tracks[from as usize].kind {
            lane.exits.push(Exit {
                first,
                to_lane: to,
                to_street,
            });
            let movements = &mut self.streets[lane.street as usize].movements;
            if !movements.iter().any(|m| m.to == to_street) {
                movements.push(Movement {
                    to: to_street,
                    turn: path.way.turn,
                });
            }
        }
        (first..=last).collect()
    }

    fn finish(mut self, avoided: Vec<EdgeIx>) -> Roads {
        let paths = std::mem::take(&mut self.paths);
        let mut by_junction: Vec<Vec<usize>> = vec![Vec::new(); self.network.junctions.len()];
        for (i, path) in paths.iter().enumerate() {
            match path.connection() {
                Some(c) => {
                    by_junction[self.network.connections[c.index()].junction.index()].push(i);
                }
                None => {
                    self.add_tracks(path, None);
                }
            }
        }
        for members in &by_junction {
            let ways: Vec<&WayPath> = members.iter().map(|&i| &paths[i]).collect();
            let meetings = conflicts::find(self.network, &ways);
            let tracks: Vec<Vec<u32>> = ways
                .iter()
                .enumerate()
                .map(|(k, way)| {
                    let waiting = conflicts::waiting_place(way, k, &meetings);
                    self.add_tracks(way, waiting)
                })
                .collect();
            conflicts::assign(&meetings, &tracks, &mut self.tracks);
        }
        let mut main_metres = 0.0;
        let mut side_metres = 0.0;
        for street in &self.streets {
            if street.main {
                main_metres += street.lane_metres;
            } else {
                side_metres += street.lane_metres;
            }
        }
        for track in &self.tracks {
            if let TrackKind::Crossing(crossing) = &track.kind
                && track.main
                && crossing
                    .connection
                    .is_some_and(|c| self.network.connections[c.index()].turn == Turn::Straight)
            {
                main_metres += track.length;
            }
        }
        Roads {
            lengths: self.tracks.iter().map(|t| t.length).collect(),
            tracks: self.tracks,
            streets: self.streets,
            main_metres,
            side_metres,
            avoided,
        }
    }
}

/// The part of a line between two arc lengths.
fn part(line: &Polyline, from: f64, to: f64) -> Polyline {
    let mut points = vec![line.point_at(from)];
    let mut s = 0.0;
    for pair in line.points().windows(2) {
        s += pair[0].distance(pair[1]);
        if s > from + 1e-6 && s < to - 1e-6 {
            points.push(pair[1]);
        }
    }
    points.push(line.point_at(to));
    Polyline::new(points).unwrap_or_else(|| line.clone())
}

/// The pieces of a way between two arc lengths, in the coordinates of the part.
fn part_pieces(pieces: &[Piece], from: f64, to: f64) -> Vec<Piece> {
    let mut parts: Vec<Piece> = pieces
        .iter()
        .filter(|p| p.start < to - 1e-6 && p.start + p.length > from + 1e-6)
        .map(|p| {
            let begin = p.start.max(from);
            Piece {
                lane: p.lane,
                start: begin - from,
                length: (p.start + p.length).min(to) - begin,
                offset: begin - p.start,
                scale: p.scale,
            }
        })
        .collect();
    if parts.is_empty() {
        // A way of no length.
        parts.extend(pieces.last().copied());
    }
    parts
}

fn scale(sumo: f64, arc: f64) -> f64 {
    if arc > 0.0 && sumo > 0.0 {
        sumo / arc
    } else {
        0.0
    }
}

fn arc_length(points: &[Point]) -> f64 {
    points.windows(2).map(|p| p[0].distance(p[1])).sum()
}

/// Adds half an ellipse from the end of one lane to the beginning of the lane back.
fn turn_back(points: &mut Vec<Point>, from: &[Point], to: &[Point]) {
    let (Some(&a), Some(&b)) = (from.last(), to.first()) else {
        return;
    };
    let middle = (a + b) * 0.5;
    let across = (a - b) * 0.5;
    let before = from[from.len().saturating_sub(2)];
    let ahead = a - before;
    let length = ahead.length();
    if length <= 0.0 {
        return;
    }
    let depth = across.length().max(2.0);
    let ahead = ahead * (depth / length);
    for k in 1..12 {
        let angle = std::f64::consts::PI * f64::from(k) / 12.0;
        points.push(middle + across * libm::cos(angle) + ahead * libm::sin(angle));
    }
}
