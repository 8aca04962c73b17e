//! Small networks made in code, with coordinates that can be checked by hand.
//!
//! Streets are straight, lanes 3.2 m wide, and end 12 m before the middle of a junction. Lane 0 is at the kerb. For
//! right-hand traffic the lanes of an edge lie to the right of the line between its two junctions, else to the left.

#![allow(
    dead_code,
    reason = "each test binary and the bench use a part of this"
)]

use covey_world::network::{
    Connection, ConnectionIx, Edge, EdgeIx, EdgeKind, Junction, JunctionIx, JunctionKind, Lane,
    LaneIx, Network, Request, Turn,
};
use covey_world::paths::{ConflictTable, PathBuffer, PathStart, Predictor, RelevanceParameters};
use covey_world::{Body, Point, Polyline, VehicleId, VehicleState};

pub(crate) const LANE_WIDTH: f64 = 3.2;
pub(crate) const RADIUS: f64 = 12.0;

/// How the right-of-way tables of a test network are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    /// No table at all.
    None,
    /// All connections from different edges are foes: as careful as a table can be.
    AllFoes,
    /// Nobody is anybody's foe.
    NoFoes,
}

pub(crate) struct NetBuilder {
    pub(crate) network: Network,
    pub(crate) internal_lanes: bool,
    pub(crate) tables: Tables,
}

impl NetBuilder {
    pub(crate) fn new(left_hand: bool) -> Self {
        Self {
            network: Network {
                left_hand,
                ..Network::default()
            },
            internal_lanes: true,
            tables: Tables::AllFoes,
        }
    }

    pub(crate) fn junction(&mut self, name: &str, x: f64, y: f64) -> JunctionIx {
        self.network.junctions.push(Junction {
            name: name.to_owned(),
            kind: JunctionKind::Priority,
            position: Point::new(x, y),
            outline: Vec::new(),
            incoming: Vec::new(),
            requests: Vec::new(),
        });
        JunctionIx(self.network.junctions.len() as u32 - 1)
    }

    /// A straight edge from one junction to another.
    pub(crate) fn edge(
        &mut self,
        name: &str,
        from: JunctionIx,
        to: JunctionIx,
        lanes: u32,
    ) -> EdgeIx {
        let (a, b) = (
            self.network.junctions[from.index()].position,
            self.network.junctions[to.index()].position,
        );
        let along = (b - a) * (1.0 / a.distance(b));
        let side = if self.network.left_hand { 1.0 } else { -1.0 };
        let across = Point::new(-along.y, along.x) * side;
        let edge = EdgeIx(self.network.edges.len() as u32);
        let mut members = Vec::new();
        for index in 0..lanes {
            let offset = across * ((f64::from(lanes - index) - 0.5) * LANE_WIDTH);
            let shape = vec![a + along * RADIUS + offset, b - along * RADIUS + offset];
            members.push(self.lane(format!("{name}_{index}"), edge, index, shape));
        }
        self.network.junctions[to.index()].incoming.extend(&members);
        self.network.edges.push(Edge {
            name: name.to_owned(),
            kind: EdgeKind::Normal,
            from: Some(from),
            to: Some(to),
            priority: 1,
            road_type: String::new(),
            lanes: members,
        });
        edge
    }

    fn lane(&mut self, name: String, edge: EdgeIx, index: u32, shape: Vec<Point>) -> LaneIx {
        let shape = Polyline::new(shape).expect("finite points");
        self.network.lanes.push(Lane {
            name,
            edge,
            index,
            width: LANE_WIDTH,
            speed_limit: 13.9,
            length: shape.length(),
            shape,
            drivable: true,
            outgoing: Vec::new(),
            incoming: Vec::new(),
        });
        LaneIx(self.network.lanes.len() as u32 - 1)
    }

    /// Joins two lanes, with an internal lane that bends evenly from one to the other.
    pub(crate) fn connect(
        &mut self,
        junction: JunctionIx,
        from: LaneIx,
        to: LaneIx,
        turn: Turn,
    ) -> ConnectionIx {
        let ix = ConnectionIx(self.network.connections.len() as u32);
        let mut via = Vec::new();
        if self.internal_lanes {
            let lanes = &self.network.lanes;
            let (a, b) = (&lanes[from.index()].shape, &lanes[to.index()].shape);
            let (p, q) = (*a.points().last().unwrap(), b.points()[0]);
            let (u, v) = (
                Point::from_heading(a.heading_at(a.length())),
                Point::from_heading(b.heading_at(0.0)),
            );
            let shape = if u.cross(v).abs() < 1e-6 {
                vec![p, q]
            } else {
                let corner = p + u * ((q - p).cross(v) / u.cross(v));
                (0..=8)
                    .map(|k| {
                        let t = f64::from(k) / 8.0;
                        p * ((1.0 - t) * (1.0 - t)) + corner * (2.0 * t * (1.0 - t)) + q * (t * t)
                    })
                    .collect()
            };
            let name = format!(
                ":{}_{}_0",
                self.network.junctions[junction.index()].name,
                ix.0
            );
            let edge = EdgeIx(self.network.edges.len() as u32);
            let lane = self.lane(name.clone(), edge, 0, shape);
            self.network.edges.push(Edge {
                name,
                kind: EdgeKind::Internal,
                from: None,
                to: None,
                priority: 0,
                road_type: String::new(),
                lanes: vec![lane],
            });
            via.push(lane);
        }
        self.network.lanes[from.index()].outgoing.push(ix);
        self.network.lanes[to.index()].incoming.push(ix);
        self.network.connections.push(Connection {
            from,
            to,
            via,
            junction,
            request: None,
            turn,
            signal: None,
        });
        ix
    }

    /// Joins the edges of a junction: straight on from each lane to the same lane, turns to the kerb side from lane 0,
    /// turns to the other side from the inner lane, none back.
    pub(crate) fn connect_all(&mut self, junction: JunctionIx) {
        let heading = |network: &Network, edge: usize| {
            network.lanes[network.edges[edge].lanes[0].index()]
                .shape
                .heading_at(0.0)
        };
        let edges = 0..self.network.edges.len();
        let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
        for e in edges {
            if self.network.edges[e].to == Some(junction) {
                incoming.push(e);
            }
            if self.network.edges[e].from == Some(junction) {
                outgoing.push(e);
            }
        }
        let quarter = std::f64::consts::FRAC_PI_4;
        for &a in &incoming {
            for &b in &outgoing {
                let change = heading(&self.network, b) - heading(&self.network, a);
                let change = change.sin().atan2(change.cos());
                let (from, to) = (
                    self.network.edges[a].lanes.clone(),
                    self.network.edges[b].lanes.clone(),
                );
                if change.abs() < quarter {
                    for (&p, &q) in from.iter().zip(&to) {
                        self.connect(junction, p, q, Turn::Straight);
                    }
                } else if change.abs() < 3.0 * quarter {
                    let turn = if change > 0.0 {
                        Turn::Left
                    } else {
                        Turn::Right
                    };
                    let to_kerb = (turn == Turn::Left) == self.network.left_hand;
                    let pick = |lanes: &[LaneIx]| {
                        if to_kerb {
                            lanes[0]
                        } else {
                            lanes[lanes.len() - 1]
                        }
                    };
                    self.connect(junction, pick(&from), pick(&to), turn);
                }
            }
        }
    }

    pub(crate) fn build(mut self) -> Network {
        if self.tables != Tables::None {
            for j in 0..self.network.junctions.len() {
                let members: Vec<usize> = (0..self.network.connections.len())
                    .filter(|&c| self.network.connections[c].junction.index() == j)
                    .collect();
                let edge_of = |network: &Network, c: usize| {
                    network.lanes[network.connections[c].from.index()].edge
                };
                for (row, &c) in members.iter().enumerate() {
                    self.network.connections[c].request = Some(row as u32);
                    let foes: Vec<bool> = members
                        .iter()
                        .map(|&d| {
                            self.tables == Tables::AllFoes
                                && edge_of(&self.network, c) != edge_of(&self.network, d)
                        })
                        .collect();
                    self.network.junctions[j].requests.push(Request {
                        yields_to: foes.clone(),
                        foes,
                        waits_inside: false,
                    });
                }
            }
        }
        self.network
    }
}

/// Four arms of one lane each way, 200 m long, around (0, 0). Edges `w_in` (eastbound), `w_out`, `s_in` (northbound), ...
pub(crate) fn four_arms(left_hand: bool) -> NetBuilder {
    four_arms_with(NetBuilder::new(left_hand))
}

pub(crate) fn four_arms_with(mut builder: NetBuilder) -> NetBuilder {
    let reach = 200.0 + 2.0 * RADIUS;
    let centre = builder.junction("centre", 0.0, 0.0);
    for (name, x, y) in [
        ("w", -1.0, 0.0),
        ("s", 0.0, -1.0),
        ("e", 1.0, 0.0),
        ("n", 0.0, 1.0),
    ] {
        let end = builder.junction(name, x * reach, y * reach);
        builder.edge(&format!("{name}_in"), end, centre, 1);
        builder.edge(&format!("{name}_out"), centre, end, 1);
    }
    builder.connect_all(centre);
    builder
}

/// A main road of `junctions` junctions 150 m apart with `lanes` lanes each way, and cross streets of one lane each way
/// that end after 150 m.
pub(crate) fn corridor(junctions: u32, lanes: u32, left_hand: bool) -> Network {
    let mut builder = NetBuilder::new(left_hand);
    let spacing = 150.0;
    let row: Vec<JunctionIx> = (0..junctions + 2)
        .map(|k| builder.junction(&format!("j{k}"), spacing * f64::from(k), 0.0))
        .collect();
    for (k, pair) in row.windows(2).enumerate() {
        builder.edge(&format!("east{k}"), pair[0], pair[1], lanes);
        builder.edge(&format!("west{k}"), pair[1], pair[0], lanes);
    }
    for k in 1..=junctions {
        for (name, y) in [("north", spacing), ("south", -spacing)] {
            let end = builder.junction(&format!("{name}{k}"), spacing * f64::from(k), y);
            builder.edge(&format!("{name}{k}_in"), end, row[k as usize], 1);
            builder.edge(&format!("{name}{k}_out"), row[k as usize], end, 1);
        }
    }
    for &junction in &row[1..=junctions as usize] {
        builder.connect_all(junction);
    }
    builder.build()
}

pub(crate) fn lane(network: &Network, name: &str) -> LaneIx {
    let place = network.lanes.iter().position(|lane| lane.name == name);
    LaneIx(place.unwrap_or_else(|| panic!("no lane {name}")) as u32)
}

pub(crate) fn connection(network: &Network, from: &str, to: &str) -> ConnectionIx {
    let (from, to) = (lane(network, from), lane(network, to));
    let place = network
        .connections
        .iter()
        .position(|c| c.from == from && c.to == to);
    ConnectionIx(place.expect("no such connection") as u32)
}

/// A car with its front bumper at a lane position.
pub(crate) fn car(
    network: &Network,
    id: u32,
    lane: LaneIx,
    lane_position: f64,
    speed: f64,
) -> VehicleState {
    let body = Body::CAR;
    let shape = &network.lanes[lane.index()].shape;
    VehicleState {
        id: VehicleId(id),
        position: shape.point_at(lane_position - body.length / 2.0),
        heading: shape.heading_at(lane_position),
        speed,
        body,
        lane: Some(lane),
        lane_position,
        next: None,
    }
}

/// The same relation by looking at every pair, for bodies that stand on one lane only.
pub(crate) fn by_brute_force(
    predictor: &Predictor,
    conflicts: &ConflictTable,
    vehicles: &[VehicleState],
    parameters: &RelevanceParameters,
) -> Vec<(u32, u32)> {
    let reach = |v: &VehicleState| v.speed * parameters.horizon + parameters.margin;
    let paths: Vec<PathBuffer> = vehicles
        .iter()
        .map(|v| {
            let mut buffer = PathBuffer::new();
            predictor.predict(PathStart::of(v).unwrap(), reach(v) + 20.0, &mut buffer);
            buffer
        })
        .collect();
    let mut found = Vec::new();
    for (i, me) in vehicles.iter().enumerate() {
        for (o, other) in vehicles.iter().enumerate() {
            // Speeds up to 20 m/s reach less than 120 m, and a conflict point lies within the reach of both.
            if me.position.distance(other.position) > 300.0 {
                continue;
            }
            let mine = paths[i].path(0);
            let ahead = mine.pieces.iter().any(|piece| {
                let front = piece.distance - piece.start + other.lane_position;
                Some(piece.lane) == other.lane
                    && front > 0.0
                    && front - other.body.length <= reach(me)
            });
            let meets = mine.connections.iter().any(|a| {
                conflicts.of(a.connection).iter().any(|conflict| {
                    paths[o].path(0).connections.iter().any(|b| {
                        let (p, q) = (a.distance + conflict.own, b.distance + conflict.theirs);
                        b.connection == conflict.other
                            && p + me.body.length >= 0.0
                            && q + other.body.length >= 0.0
                            && p <= reach(me)
                            && q <= reach(other)
                    })
                })
            });
            if i != o && (ahead || meets) {
                found.push((me.id.0, other.id.0));
            }
        }
    }
    found
}
