//! The network as the path functions need it: lanes and connections in flat arrays, with their shapes measured in lane
//! positions.

use crate::geometry::Point;
use crate::network::{ConnectionIx, LaneIx, Network, Turn};

/// "None" in arrays of indices.
pub(super) const NONE: u32 = u32::MAX;

/// A chain of points, each with its coordinate along the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) points: &'a [Point],
    pub(super) at: &'a [f64],
}

impl Shape<'_> {
    /// The coordinate of the point of the chain nearest to `p`, and its distance; the first of several nearest ones.
    pub(super) fn nearest(&self, p: Point) -> (f64, f64) {
        let mut best = (
            self.at.first().copied().unwrap_or(0.0),
            self.points
                .first()
                .map_or(f64::INFINITY, |&q| p.distance(q)),
        );
        for i in 1..self.points.len() {
            let (a, b) = (self.points[i - 1], self.points[i]);
            let share = share_of_foot(p, a, b);
            let distance = p.distance(a + (b - a) * share);
            if distance < best.1 {
                best = (
                    self.at[i - 1] + (self.at[i] - self.at[i - 1]) * share,
                    distance,
                );
            }
        }
        best
    }
}

/// How far along the segment from `a` to `b` the point nearest to `p` lies, 0 to 1.
pub(super) fn share_of_foot(p: Point, a: Point, b: Point) -> f64 {
    let d = b - a;
    let squared = d.dot(d);
    if squared > 0.0 {
        ((p - a).dot(d) / squared).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Many shapes one after another.
#[derive(Debug, Clone, Default)]
struct Shapes {
    offsets: Vec<u32>,
    points: Vec<Point>,
    at: Vec<f64>,
}

impl Shapes {
    fn new() -> Self {
        Self {
            offsets: vec![0],
            ..Self::default()
        }
    }

    fn push(&mut self, point: Point, at: f64) {
        let begin = *self.offsets.last().unwrap_or(&0) as usize;
        // A joint of two lanes is one point, unless there is a gap between them.
        if self.points.len() > begin
            && self.points.last() == Some(&point)
            && self.at.last() == Some(&at)
        {
            return;
        }
        self.points.push(point);
        self.at.push(at);
    }

    fn close(&mut self) {
        self.offsets
            .push(u32::try_from(self.points.len()).unwrap_or(u32::MAX));
    }

    fn get(&self, i: usize) -> Shape<'_> {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        Shape {
            points: &self.points[range.clone()],
            at: &self.at[range],
        }
    }
}

/// Lists of indices one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn from_rows<'a>(rows: impl Iterator<Item = &'a [ConnectionIx]>) -> Self {
        let mut lists = Self {
            offsets: vec![0],
            items: Vec::new(),
        };
        for row in rows {
            lists.items.extend(row.iter().map(|c| c.0));
            lists
                .offsets
                .push(u32::try_from(lists.items.len()).unwrap_or(u32::MAX));
        }
        lists
    }

    pub(super) fn row(&self, i: usize) -> &[u32] {
        &self.items[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// Lanes and connections in flat arrays.
#[derive(Debug, Clone)]
pub(super) struct LaneGraph {
    /// Lane positions run from 0 to this; finite and not negative.
    pub(super) lane_length: Vec<f64>,
    pub(super) drivable: Vec<bool>,
    /// The connection taken at a lane's end where nothing else is known.
    pub(super) straight_out: Vec<u32>,
    /// The same, looking back from a lane's beginning.
    pub(super) straight_in: Vec<u32>,
    /// For an internal lane: the connection it belongs to.
    pub(super) owner: Vec<u32>,
    /// For an internal lane: its place in the connection's `via`.
    pub(super) via_place: Vec<u32>,
    /// For an internal lane: the connection coordinate of its beginning.
    pub(super) via_begin: Vec<f64>,
    pub(super) from: Vec<u32>,
    pub(super) to: Vec<u32>,
    pub(super) connection_length: Vec<f64>,
    via: Lists,
    incoming: Lists,
    lane_shapes: Shapes,
    connection_shapes: Shapes,
}

impl LaneGraph {
    pub(super) fn new(network: &Network) -> Self {
        let lane_length: Vec<f64> = network
            .lanes
            .iter()
            .map(|lane| {
                if lane.length.is_finite() {
                    lane.length.max(0.0)
                } else {
                    0.0
                }
            })
            .collect();
        let mut lane_shapes = Shapes::new();
        for (lane, &length) in network.lanes.iter().zip(&lane_length) {
            push_scaled(&mut lane_shapes, lane.shape.points(), 0.0, length);
            lane_shapes.close();
        }

        let mut owner = vec![NONE; network.lanes.len()];
        let mut via_place = vec![0; network.lanes.len()];
        let mut via_begin = vec![0.0; network.lanes.len()];
        let mut connection_length = Vec::with_capacity(network.connections.len());
        let mut connection_shapes = Shapes::new();
        for (c, connection) in (0u32..).zip(&network.connections) {
            let mut begin = 0.0;
            if let Some(&end) = network.lanes[connection.from.index()].shape.points().last() {
                connection_shapes.push(end, 0.0);
            }
            for (place, &lane) in (0u32..).zip(&connection.via) {
                if owner[lane.index()] == NONE {
                    owner[lane.index()] = c;
                    via_place[lane.index()] = place;
                    via_begin[lane.index()] = begin;
                }
                let length = lane_length[lane.index()];
                push_scaled(
                    &mut connection_shapes,
                    network.lanes[lane.index()].shape.points(),
                    begin,
                    length,
                );
                begin += length;
            }
            if let Some(&start) = network.lanes[connection.to.index()].shape.points().first() {
                connection_shapes.push(start, begin);
            }
            connection_shapes.close();
            connection_length.push(begin);
        }

        Self {
            drivable: network.lanes.iter().map(|lane| lane.drivable).collect(),
            straight_out: network
                .lanes
                .iter()
                .map(|lane| straightest(network, &lane.outgoing, |c| c.to))
                .collect(),
            straight_in: network
                .lanes
                .iter()
                .map(|lane| straightest(network, &lane.incoming, |c| c.from))
                .collect(),
            owner,
            via_place,
            via_begin,
            from: network.connections.iter().map(|c| c.from.0).collect(),
            to: network.connections.iter().map(|c| c.to.0).collect(),
            connection_length,
            via: via_lists(network),
            incoming: Lists::from_rows(network.lanes.iter().map(|lane| lane.incoming.as_slice())),
            lane_length,
            lane_shapes,
            connection_shapes,
        }
    }

    pub(super) fn via(&self, connection: u32) -> &[u32] {
        self.via.row(connection as usize)
    }

    pub(super) fn lane_shape(&self, lane: u32) -> Shape<'_> {
        self.lane_shapes.get(lane as usize)
    }

    pub(super) fn connection_shape(&self, connection: u32) -> Shape<'_> {
        self.connection_shapes.get(connection as usize)
    }

    /// The connection by which a body whose rear end is at `rear` came into `lane`: of those that lead into it, the one
    /// whose way passes nearest to the rear end, the lowest index on a tie.
    pub(super) fn came_by(&self, lane: u32, rear: Point) -> Option<u32> {
        let incoming = self.incoming.row(lane as usize);
        if incoming.len() < 2 || !rear.is_finite() {
            return incoming.iter().min().copied();
        }
        let mut best: Option<(f64, u32)> = None;
        for &c in incoming {
            let distance = self.connection_shape(c).nearest(rear).1;
            let nearer = best.is_none_or(|(d, b)| distance < d || (distance <= d && c < b));
            if nearer {
                best = Some((distance, c));
            }
        }
        best.map(|(_, c)| c)
    }
}

/// Adds `points` with their arc lengths scaled so that they run from `begin` over `length`.
fn push_scaled(shapes: &mut Shapes, points: &[Point], begin: f64, length: f64) {
    let total: f64 = points
        .windows(2)
        .map(|pair| pair[0].distance(pair[1]))
        .sum();
    let scale = if total > 0.0 { length / total } else { 0.0 };
    let mut along = 0.0;
    for (i, &point) in points.iter().enumerate() {
        if i > 0 {
            along += points[i - 1].distance(point);
        }
        let last = i > 0 && i + 1 == points.len();
        shapes.push(point, begin + if last { length } else { along * scale });
    }
}

/// The internal lanes of every connection.
fn via_lists(network: &Network) -> Lists {
    let mut lists = Lists {
        offsets: vec![0],
        items: Vec::new(),
    };
    for connection in &network.connections {
        lists.items.extend(connection.via.iter().map(|lane| lane.0));
        lists
            .offsets
            .push(u32::try_from(lists.items.len()).unwrap_or(u32::MAX));
    }
    lists
}

/// Of `connections`, the one that goes straight on: one that joins drivable lanes before any other, then one that the net
/// calls straight, then the smallest change of heading (compared in microradians), then the lowest index.
fn straightest(
    network: &Network,
    connections: &[ConnectionIx],
    far_end: impl Fn(&crate::network::Connection) -> LaneIx,
) -> u32 {
    connections
        .iter()
        .min_by_key(|&&ix| {
            let connection = &network.connections[ix.index()];
            let from = &network.lanes[connection.from.index()];
            let to = &network.lanes[connection.to.index()];
            let change = heading_difference(
                from.shape.heading_at(from.shape.length()),
                to.shape.heading_at(0.0),
            );
            (
                !network.lanes[far_end(connection).index()].drivable,
                connection.turn != Turn::Straight,
                (change * 1e6).round() as i64,
                ix.0,
            )
        })
        .map_or(NONE, |ix| ix.0)
}

/// The angle between two headings, 0 to pi; 0 if one is not finite.
pub(super) fn heading_difference(a: f64, b: f64) -> f64 {
    let turn = (a - b).rem_euclid(std::f64::consts::TAU);
    if turn.is_finite() {
        turn.min(std::f64::consts::TAU - turn)
    } else {
        0.0
    }
}
