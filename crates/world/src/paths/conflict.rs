//! Where the ways of two connections meet.

use std::fmt::Write as _;

use super::graph::{Shape, share_of_foot};
use super::predict::Predictor;
use crate::geometry::Point;
use crate::network::{Connection, ConnectionIx, JunctionIx, Network};

/// Two ways that the net calls foes meet if their centre lines come this near, in metres: the width of a car, below which
/// two cars on them would touch. Ways that the net does not call foes meet only where their centre lines do.
pub const NEAR_MISS: f64 = 2.0;

/// Centre lines this near, in metres, cross: nets are written with two decimals.
const TOUCH: f64 = 1e-3;

/// How two ways meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// They cross and part again.
    Crossing,
    /// They lead into the same lane.
    Merging,
}

/// A point where a connection meets another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conflict {
    /// The connection that gets in the way.
    pub other: ConnectionIx,
    /// Whether they part again.
    pub kind: ConflictKind,
    /// Where on this connection, as a connection coordinate.
    pub own: f64,
    /// Where on the other one.
    pub theirs: f64,
    /// Where in the map plane (on this connection's centre line).
    pub point: Point,
}

/// Where the connections of each junction meet. Built once per network.
///
/// For two connections of the same junction:
/// - from the same lane: they part, which is no conflict;
/// - into the same lane: they *merge* where they enter it, whatever the right-of-way table says;
/// - both in the junction's right-of-way table, and foes by it in either direction: they *cross* at the first point where
///   their centre lines cross (the least sum of the two connection coordinates), else where they come nearest if that is
///   within [`NEAR_MISS`], else not at all;
/// - one of them not in a table (SUMO writes none for some junctions): they cross where their centre lines do.
///
/// A connection's centre line is the end of its lane, its internal lanes' shapes, and the beginning of the next lane; so
/// without internal lanes it is the straight line over the junction, whose points all have connection coordinate 0.
/// The table is symmetric: a conflict of `a` with `b` is one of `b` with `a`, with the coordinates exchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictTable {
    offsets: Vec<u32>,
    conflicts: Vec<Conflict>,
}

impl ConflictTable {
    /// The table for `network`, whose ways `predictor` knows.
    ///
    /// # Panics
    /// If `predictor` was made from another network.
    #[must_use]
    pub fn new(network: &Network, predictor: &Predictor) -> Self {
        assert_eq!(
            network.connections.len(),
            predictor.connections(),
            "made from another network"
        );
        let mut by_junction: Vec<Vec<u32>> = vec![Vec::new(); network.junctions.len()];
        for (c, connection) in (0u32..).zip(&network.connections) {
            by_junction[connection.junction.index()].push(c);
        }
        let mut found: Vec<(u32, Conflict)> = Vec::new();
        for members in &by_junction {
            for (k, &a) in members.iter().enumerate() {
                for &b in &members[k + 1..] {
                    if let Some((kind, at)) = meet(network, predictor, a, b) {
                        let (other_a, other_b) = (ConnectionIx(a), ConnectionIx(b));
                        found.push((
                            a,
                            Conflict {
                                other: other_b,
                                kind,
                                own: at.a,
                                theirs: at.b,
                                point: at.on_a,
                            },
                        ));
                        found.push((
                            b,
                            Conflict {
                                other: other_a,
                                kind,
                                own: at.b,
                                theirs: at.a,
                                point: at.on_b,
                            },
                        ));
                    }
                }
            }
        }
        found.sort_by_key(|(c, conflict)| (*c, conflict.other));
        let mut offsets = vec![0u32; network.connections.len() + 1];
        for &(c, _) in &found {
            offsets[c as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        Self {
            offsets,
            conflicts: found.into_iter().map(|(_, conflict)| conflict).collect(),
        }
    }

    /// The conflicts of a connection, by ascending index of the other one, each other one at most once.
    #[must_use]
    pub fn of(&self, connection: ConnectionIx) -> &[Conflict] {
        let i = connection.index();
        &self.conflicts[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// How many pairs of connections meet.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.conflicts.len() / 2
    }

    /// The conflicts at one junction as text, for people: a line a connection, and below it a line a conflict
    /// in the order of the way.
    #[must_use]
    pub fn describe(
        &self,
        network: &Network,
        predictor: &Predictor,
        junction: JunctionIx,
    ) -> String {
        let mut text = String::new();
        let name = |c: &Connection| {
            format!(
                "{} -> {}",
                network.lanes[c.from.index()].name,
                network.lanes[c.to.index()].name
            )
        };
        for (c, connection) in (0u32..).zip(&network.connections) {
            if connection.junction != junction {
                continue;
            }
            let length = predictor.connection_length(ConnectionIx(c));
            let _ = writeln!(
                text,
                "{} ({:?}, {length:.1} m)",
                name(connection),
                connection.turn
            );
            let mut conflicts = self.of(ConnectionIx(c)).to_vec();
            conflicts.sort_by(|a, b| a.own.total_cmp(&b.own));
            for conflict in conflicts {
                let verb = match conflict.kind {
                    ConflictKind::Crossing => "crosses",
                    ConflictKind::Merging => "merges with",
                };
                let other = name(&network.connections[conflict.other.index()]);
                let _ = writeln!(
                    text,
                    "  at {:.1} m {verb} {other} at {:.1} m",
                    conflict.own, conflict.theirs
                );
            }
        }
        text
    }
}

/// Where two ways come together.
#[derive(Debug, Clone, Copy)]
struct Meeting {
    /// Connection coordinates.
    a: f64,
    b: f64,
    on_a: Point,
    on_b: Point,
}

fn meet(
    network: &Network,
    predictor: &Predictor,
    a: u32,
    b: u32,
) -> Option<(ConflictKind, Meeting)> {
    let (first, second) = (
        &network.connections[a as usize],
        &network.connections[b as usize],
    );
    if first.from == second.from {
        return None;
    }
    if first.to == second.to {
        let entry = network.lanes[first.to.index()].shape.points()[0];
        let at = Meeting {
            a: predictor.graph.connection_length[a as usize],
            b: predictor.graph.connection_length[b as usize],
            on_a: entry,
            on_b: entry,
        };
        return Some((ConflictKind::Merging, at));
    }
    let reach = match foes(network, first, second) {
        Some(true) => NEAR_MISS,
        Some(false) => return None,
        None => TOUCH,
    };
    let meeting = closest_approach(
        predictor.graph.connection_shape(a),
        predictor.graph.connection_shape(b),
        reach,
    )?;
    Some((ConflictKind::Crossing, meeting))
}

/// Whether the right-of-way table calls the two foes; none where it does not know them both.
fn foes(network: &Network, a: &Connection, b: &Connection) -> Option<bool> {
    let requests = &network.junctions[a.junction.index()].requests;
    let (i, j) = (a.request? as usize, b.request? as usize);
    let (row_a, row_b) = (requests.get(i)?, requests.get(j)?);
    Some(row_a.foes.get(j).copied().unwrap_or(false) || row_b.foes.get(i).copied().unwrap_or(false))
}

/// The first crossing of two chains; else where they come nearest, if within `reach`.
fn closest_approach(a: Shape<'_>, b: Shape<'_>, reach: f64) -> Option<Meeting> {
    // Distances that count as crossing are all alike: then the least sum of coordinates wins.
    let mut best: Option<(f64, f64, Meeting)> = None;
    let mut consider = |a0: usize, b0: usize, share_a: f64, share_b: f64| {
        let (on_a, at_a) = at_share(a, a0, share_a);
        let (on_b, at_b) = at_share(b, b0, share_b);
        let distance = on_a.distance(on_b);
        let rank = if distance <= TOUCH { 0.0 } else { distance };
        let sum = at_a + at_b;
        let better = best
            .as_ref()
            .is_none_or(|&(r, s, _)| rank < r || (rank <= r && sum < s));
        if distance <= reach && better {
            best = Some((
                rank,
                sum,
                Meeting {
                    a: at_a,
                    b: at_b,
                    on_a,
                    on_b,
                },
            ));
        }
    };
    for i in 0..a.points.len().saturating_sub(1).max(1) {
        let (p, q) = (a.points[i], a.points[(i + 1).min(a.points.len() - 1)]);
        for j in 0..b.points.len().saturating_sub(1).max(1) {
            let (r, s) = (b.points[j], b.points[(j + 1).min(b.points.len() - 1)]);
            if boxes_apart(p, q, r, s, reach) {
                continue;
            }
            let (d, e) = (q - p, s - r);
            let turn = d.cross(e);
            // Not (nearly) parallel: the point where the two lines cross.
            if turn.abs() > 1e-12 {
                let share_a = (r - p).cross(e) / turn;
                let share_b = (r - p).cross(d) / turn;
                if (0.0..=1.0).contains(&share_a) && (0.0..=1.0).contains(&share_b) {
                    consider(i, j, share_a, share_b);
                    continue;
                }
            }
            // Else one of the ends is nearest to the other segment.
            consider(i, j, 0.0, share_of_foot(p, r, s));
            consider(i, j, 1.0, share_of_foot(q, r, s));
            consider(i, j, share_of_foot(r, p, q), 0.0);
            consider(i, j, share_of_foot(s, p, q), 1.0);
        }
    }
    best.map(|(_, _, meeting)| meeting)
}

fn at_share(shape: Shape<'_>, segment: usize, share: f64) -> (Point, f64) {
    let end = (segment + 1).min(shape.points.len() - 1);
    let (p, q) = (shape.points[segment], shape.points[end]);
    let (at, until) = (shape.at[segment], shape.at[end]);
    (p + (q - p) * share, at + (until - at) * share)
}

fn boxes_apart(p: Point, q: Point, r: Point, s: Point, reach: f64) -> bool {
    p.x.max(q.x) + reach < r.x.min(s.x)
        || r.x.max(s.x) + reach < p.x.min(q.x)
        || p.y.max(q.y) + reach < r.y.min(s.y)
        || r.y.max(s.y) + reach < p.y.min(q.y)
}
