//! Small networks made in code: rings, grids of junctions, and what tests want to know about them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of it")]

use covey_world::network::{
    Connection, ConnectionIx, Edge, EdgeIx, EdgeKind, Junction, JunctionIx, JunctionKind, Lane,
    LaneIx, Network, Phase, Request, Signal, SignalIx, Turn,
};
use covey_world::{Point, Polyline};

pub const LANE: f64 = 3.2;
/// Streets end this far before the middle of a junction, m, on top of half the road's width.
const CORNER: f64 = 6.0;

/// A network under construction.
pub struct Roadworks {
    pub network: Network,
}

impl Roadworks {
    pub fn new(left_hand: bool) -> Self {
        Self {
            network: Network {
                left_hand,
                ..Network::default()
            },
        }
    }

    pub fn junction(&mut self, name: &str, x: f64, y: f64, kind: JunctionKind) -> JunctionIx {
        self.network.junctions.push(Junction {
            name: name.into(),
            kind,
            position: Point::new(x, y),
            outline: vec![],
            incoming: vec![],
            requests: vec![],
        });
        JunctionIx(self.network.junctions.len() as u32 - 1)
    }

    fn lane(&mut self, edge: EdgeIx, index: u32, speed: f64, points: Vec<Point>) -> LaneIx {
        let shape = Polyline::new(points).unwrap();
        let name = format!("{}_{index}", self.network.edges[edge.index()].name);
        self.network.lanes.push(Lane {
            name,
            edge,
            index,
            width: LANE,
            speed_limit: speed,
            length: shape.length(),
            shape,
            drivable: true,
            outgoing: vec![],
            incoming: vec![],
        });
        let lane = LaneIx(self.network.lanes.len() as u32 - 1);
        self.network.edges[edge.index()].lanes.push(lane);
        lane
    }

    fn empty_edge(
        &mut self,
        name: &str,
        kind: EdgeKind,
        ends: Option<(JunctionIx, JunctionIx)>,
        priority: i32,
    ) -> EdgeIx {
        self.network.edges.push(Edge {
            name: name.into(),
            kind,
            from: ends.map(|e| e.0),
            to: ends.map(|e| e.1),
            priority,
            road_type: String::new(),
            lanes: vec![],
        });
        EdgeIx(self.network.edges.len() as u32 - 1)
    }

    /// A one-way edge along `middle`, its lanes to the side of driving, lane 0 at the kerb.
    pub fn edge_along(
        &mut self,
        name: &str,
        ends: (JunctionIx, JunctionIx),
        lanes: u32,
        speed: f64,
        priority: i32,
        middle: &[Point],
    ) -> EdgeIx {
        let edge = self.empty_edge(name, EdgeKind::Normal, Some(ends), priority);
        let side = if self.network.left_hand { 1.0 } else { -1.0 };
        for index in 0..lanes {
            let offset = side * LANE * (f64::from(lanes - 1 - index) + 0.5);
            let points = (0..middle.len())
                .map(|i| {
                    let a = middle[i.saturating_sub(1)];
                    let b = middle[(i + 1).min(middle.len() - 1)];
                    let d = b - a;
                    let normal = Point::new(-d.y, d.x) * (1.0 / d.length());
                    middle[i] + normal * offset
                })
                .collect();
            self.lane(edge, index, speed, points);
        }
        edge
    }

    /// A straight one-way edge between two junctions, with room for them at both ends.
    #[allow(
        clippy::too_many_arguments,
        reason = "a test helper that mirrors the fields of an edge"
    )]
    pub fn edge(
        &mut self,
        name: &str,
        from: JunctionIx,
        to: JunctionIx,
        lanes: u32,
        speed: f64,
        priority: i32,
        set_back: (f64, f64),
    ) -> EdgeIx {
        let a = self.network.junctions[from.index()].position;
        let b = self.network.junctions[to.index()].position;
        let d = (b - a) * (1.0 / a.distance(b));
        let middle = [a + d * set_back.0, b - d * set_back.1];
        self.edge_along(name, (from, to), lanes, speed, priority, &middle)
    }

    pub fn connect(&mut self, from: LaneIx, to: LaneIx, turn: Turn, split: bool) -> ConnectionIx {
        let network = &self.network;
        let junction = network.edges[network.lanes[from.index()].edge.index()]
            .to
            .unwrap();
        let (a, b) = (
            &network.lanes[from.index()].shape,
            &network.lanes[to.index()].shape,
        );
        let points = curve(a, b, turn);
        let speed = if turn == Turn::Straight { 16.7 } else { 7.0 };
        let number = self.network.connections.len();
        let cut = if split { points.len() * 2 / 5 } else { 0 };
        let mut via = vec![];
        let pieces: Vec<Vec<Point>> = if cut > 0 {
            vec![points[..=cut].to_vec(), points[cut..].to_vec()]
        } else {
            vec![points]
        };
        for (k, piece) in pieces.into_iter().enumerate() {
            let name = format!(":{}_{number}_{k}", junction.0);
            let edge = self.empty_edge(&name, EdgeKind::Internal, None, -1);
            via.push(self.lane(edge, 0, speed, piece));
        }
        let ix = ConnectionIx(number as u32);
        self.network.connections.push(Connection {
            from,
            to,
            via,
            junction,
            request: None,
            turn,
            signal: None,
        });
        self.network.lanes[from.index()].outgoing.push(ix);
        self.network.lanes[to.index()].incoming.push(ix);
        ix
    }

    /// Connects all edges at a junction: straight lane by lane, kerb turns from the kerb lane, turns across the other side
    /// from the innermost.
    pub fn connect_junction(&mut self, junction: JunctionIx, split_turns: bool) {
        let edges = |at: fn(&Edge) -> Option<JunctionIx>, network: &Network| -> Vec<EdgeIx> {
            (0..network.edges.len())
                .filter(|&e| {
                    network.edges[e].kind == EdgeKind::Normal
                        && at(&network.edges[e]) == Some(junction)
                })
                .map(|e| EdgeIx(e as u32))
                .collect()
        };
        let incoming = edges(|e| e.to, &self.network);
        let outgoing = edges(|e| e.from, &self.network);
        let left_hand = self.network.left_hand;
        for &a in &incoming {
            for &b in &outgoing {
                let (ea, eb) = (
                    &self.network.edges[a.index()],
                    &self.network.edges[b.index()],
                );
                if ea.from == eb.to && incoming.len() > 1 {
                    continue;
                }
                let (la, lb) = (ea.lanes.clone(), eb.lanes.clone());
                let end = &self.network.lanes[la[0].index()].shape;
                let begin = &self.network.lanes[lb[0].index()].shape;
                let angle = Point::from_heading(end.heading_at(end.length()))
                    .cross(Point::from_heading(begin.heading_at(0.0)));
                let turn = if angle.abs() < 0.5 {
                    Turn::Straight
                } else if angle > 0.0 {
                    Turn::Left
                } else {
                    Turn::Right
                };
                let kerb = if left_hand { Turn::Left } else { Turn::Right };
                if turn == Turn::Straight {
                    for (&x, &y) in la.iter().zip(&lb) {
                        self.connect(x, y, turn, false);
                    }
                } else if turn == kerb {
                    self.connect(la[0], lb[0], turn, false);
                } else {
                    self.connect(*la.last().unwrap(), *lb.last().unwrap(), turn, split_turns);
                }
            }
        }
        self.settle_right_of_way(junction);
    }

    fn settle_right_of_way(&mut self, junction: JunctionIx) {
        let network = &mut self.network;
        let all: Vec<usize> = (0..network.connections.len())
            .filter(|&c| network.connections[c].junction == junction)
            .collect();
        let kerb = if network.left_hand {
            Turn::Left
        } else {
            Turn::Right
        };
        let points: Vec<Vec<Point>> = all.iter().map(|&c| way_points(network, c)).collect();
        let rank = |c: &Connection| {
            let edge = network.lanes[c.from.index()].edge;
            let turn = if c.turn == Turn::Straight {
                2
            } else {
                i32::from(c.turn == kerb)
            };
            network.edges[edge.index()].priority * 10 + turn
        };
        let requests = all
            .iter()
            .enumerate()
            .map(|(i, &a)| {
                let ca = &network.connections[a];
                let foe = |j: usize| {
                    let cb = &network.connections[all[j]];
                    i != j
                        && ca.from != cb.from
                        && points[i]
                            .iter()
                            .any(|p| points[j].iter().any(|q| p.distance(*q) < 2.2))
                };
                let foes: Vec<bool> = (0..all.len()).map(foe).collect();
                let yields_to = (0..all.len())
                    .map(|j| {
                        let cb = &network.connections[all[j]];
                        foes[j]
                            && (rank(ca), std::cmp::Reverse(i)) < (rank(cb), std::cmp::Reverse(j))
                    })
                    .collect();
                Request {
                    yields_to,
                    foes,
                    waits_inside: ca.via.len() > 1,
                }
            })
            .collect();
        for (i, &c) in all.iter().enumerate() {
            network.connections[c].request = Some(i as u32);
        }
        network.junctions[junction.index()].requests = requests;
    }

    /// A two-phase program: the roads along x, then those along y.
    pub fn signal(&mut self, junction: JunctionIx, green: f64, yellow: f64, offset: f64) {
        let network = &mut self.network;
        let ix = SignalIx(network.signals.len() as u32);
        let all: Vec<usize> = (0..network.connections.len())
            .filter(|&c| network.connections[c].junction == junction)
            .collect();
        let requests = network.junctions[junction.index()].requests.clone();
        let along_x: Vec<bool> = all
            .iter()
            .map(|&c| {
                let shape = &network.lanes[network.connections[c].from.index()].shape;
                shape.heading_at(shape.length()).cos().abs() > 0.7
            })
            .collect();
        let state = |x: bool, go: bool| -> Vec<u8> {
            (0..all.len())
                .map(|i| match (along_x[i] == x, go) {
                    (false, _) => b'r',
                    (true, false) => b'y',
                    (true, true) => {
                        let yields =
                            (0..all.len()).any(|j| along_x[j] == x && requests[i].yields_to[j]);
                        if yields { b'g' } else { b'G' }
                    }
                })
                .collect()
        };
        let phase = |duration, state| Phase { duration, state };
        let stop = vec![b'r'; all.len()];
        network.signals.push(Signal {
            name: network.junctions[junction.index()].name.clone(),
            offset,
            phases: vec![
                phase(green, state(true, true)),
                phase(yellow, state(true, false)),
                phase(2.0, stop.clone()),
                phase(green, state(false, true)),
                phase(yellow, state(false, false)),
                phase(2.0, stop),
            ],
        });
        for (i, &c) in all.iter().enumerate() {
            network.connections[c].signal = Some((ix, i as u32));
        }
    }
}

/// All points of a connection's way, half a metre apart.
pub fn way_points(network: &Network, connection: usize) -> Vec<Point> {
    let mut points = vec![];
    for lane in &network.connections[connection].via {
        let shape = &network.lanes[lane.index()].shape;
        let n = (shape.length() / 0.5).ceil().max(1.0);
        points.extend((0..=n as usize).map(|k| shape.point_at(shape.length() * k as f64 / n)));
    }
    points
}

fn curve(a: &Polyline, b: &Polyline, turn: Turn) -> Vec<Point> {
    let (p, q) = (a.point_at(a.length()), b.point_at(0.0));
    if turn == Turn::Straight || turn == Turn::Other {
        return vec![p, q];
    }
    let (u, w) = (
        Point::from_heading(a.heading_at(a.length())),
        Point::from_heading(b.heading_at(0.0)),
    );
    let across = u.cross(w);
    let control = if across.abs() > 0.1 {
        p + u * ((q - p).cross(w) / across)
    } else {
        (p + q) * 0.5 + u * p.distance(q)
    };
    (0..=10)
        .map(|k| {
            let t = f64::from(k) / 10.0;
            p * ((1.0 - t) * (1.0 - t)) + control * (2.0 * t * (1.0 - t)) + q * (t * t)
        })
        .collect()
}

/// A one-way ring of `metres`, of two edges joined at open junctions.
pub fn ring(metres: f64, lanes: u32, speed: f64) -> Network {
    let mut works = Roadworks::new(false);
    let radius = metres / std::f64::consts::TAU;
    let at = |angle: f64| Point::from_heading(angle) * radius;
    let east = works.junction("east", radius, 0.0, JunctionKind::Open);
    let west = works.junction("west", -radius, 0.0, JunctionKind::Open);
    let half = |from: f64| -> Vec<Point> {
        (0..=60)
            .map(|k| at(from + std::f64::consts::PI * f64::from(k) / 60.0))
            .collect()
    };
    works.edge_along("north", (east, west), lanes, speed, 1, &half(0.0));
    let pi = std::f64::consts::PI;
    works.edge_along("south", (west, east), lanes, speed, 1, &half(pi));
    let (north, south) = (
        works.network.edges[0].lanes.clone(),
        works.network.edges[1].lanes.clone(),
    );
    for k in 0..lanes as usize {
        works.connect(north[k], south[k], Turn::Straight, false);
        works.connect(south[k], north[k], Turn::Straight, false);
    }
    works.network
}

/// A ring with one traffic light.
pub fn ring_with_light(metres: f64, lanes: u32, speed: f64, green: f64, red: f64) -> Network {
    let mut network = ring(metres, lanes, speed);
    network.junctions[0].kind = JunctionKind::TrafficLight;
    let phase = |duration, letter: u8| Phase {
        duration,
        state: vec![letter; lanes as usize],
    };
    network.signals.push(Signal {
        name: "light".into(),
        offset: 0.0,
        phases: vec![phase(green, b'G'), phase(3.0, b'y'), phase(red, b'r')],
    });
    let mut link = 0;
    for connection in &mut network.connections {
        if connection.junction == JunctionIx(0) {
            connection.signal = Some((SignalIx(0), link));
            link += 1;
        }
    }
    network
}

/// What a grid of junctions is like.
pub struct Grid {
    pub columns: u32,
    pub rows: u32,
    pub spacing: f64,
    pub main_lanes: u32,
    pub side_lanes: u32,
    pub left_hand: bool,
    pub signals: bool,
    pub split_turns: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            columns: 3,
            rows: 2,
            spacing: 200.0,
            main_lanes: 2,
            side_lanes: 1,
            left_hand: false,
            signals: true,
            split_turns: true,
        }
    }
}

/// A grid of junctions with main roads along x and side streets along y; at the rim, dead ends without connections.
pub fn grid(shape: &Grid) -> Network {
    let mut works = Roadworks::new(shape.left_hand);
    let kind = if shape.signals {
        JunctionKind::TrafficLight
    } else {
        JunctionKind::Priority
    };
    let (columns, rows) = (shape.columns as i32, shape.rows as i32);
    let mut at = std::collections::BTreeMap::new();
    for r in -1..=rows {
        for c in -1..=columns {
            let inner = (0..columns).contains(&c) && (0..rows).contains(&r);
            let rim = (0..columns).contains(&c) || (0..rows).contains(&r);
            if !rim {
                continue;
            }
            let kind = if inner {
                kind.clone()
            } else {
                JunctionKind::Open
            };
            let (x, y) = (f64::from(c) * shape.spacing, f64::from(r) * shape.spacing);
            at.insert((c, r), works.junction(&format!("j{c}.{r}"), x, y, kind));
        }
    }
    let back = |other: u32| CORNER + LANE * f64::from(other);
    for (&(c, r), &from) in &at {
        for (dc, dr) in [(1, 0), (0, 1)] {
            let Some(&to) = at.get(&(c + dc, r + dr)) else {
                continue;
            };
            let main = dc == 1;
            let inner = |c: i32, r: i32| (0..columns).contains(&c) && (0..rows).contains(&r);
            if !inner(c, r) && !inner(c + dc, r + dr) {
                continue;
            }
            let (lanes, crossing, priority, name) = if main {
                (shape.main_lanes, shape.side_lanes, 10, "main")
            } else {
                (shape.side_lanes, shape.main_lanes, 5, "side")
            };
            let near = if inner(c, r) { back(crossing) } else { 0.0 };
            let far = if inner(c + dc, r + dr) {
                back(crossing)
            } else {
                0.0
            };
            let id = format!("{name}{c}.{r}");
            works.edge(&id, from, to, lanes, 13.9, priority, (near, far));
            works.edge(
                &format!("{id}-"),
                to,
                from,
                lanes,
                13.9,
                priority,
                (far, near),
            );
        }
    }
    for r in 0..rows {
        for c in 0..columns {
            let junction = at[&(c, r)];
            works.connect_junction(junction, shape.split_turns);
            if shape.signals {
                let offset = f64::from((c * 17 + r * 29) % 60);
                works.signal(junction, 25.0, 3.0, offset);
            }
        }
    }
    works.network
}
