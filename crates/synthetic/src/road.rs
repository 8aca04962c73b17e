//! The road: who drives where, what can be seen of it, and who matters to whom.

use covey_protocol::AgentId;
use covey_protocol::grid::Cell;
use covey_simulator::recording::{OwnSight, Relation, Relevant};
use covey_world::network::{Building, Edge, EdgeIx, EdgeKind, Lane};
use covey_world::{Body, Map, Point, Polyline, VehicleId, VehicleState};

/// Vehicles per metre of road, all lanes.
pub(crate) const DENSITY: f64 = 0.17;
pub(crate) const CELL: f64 = 20.0;
pub(crate) const TILE: f64 = 500.0;
pub(crate) const SIGHT: f64 = 150.0;
const LANES: [f64; 4] = [-5.25, -1.75, 1.75, 5.25];
/// Every fifth vehicle drives on a crossing street.
const CROSSING: u32 = 5;

pub(crate) fn hash(parts: &[u64]) -> u64 {
    let parts = parts.iter();
    parts.fold(7, |sum, &part| AgentId(sum ^ part).mixed())
}

pub(crate) fn share(parts: &[u64]) -> f64 {
    (hash(parts) >> 11) as f64 / (1u64 << 53) as f64
}

pub(crate) fn equipped(id: u32) -> bool {
    share(&[1, u64::from(id)]) < 0.5
}

pub(crate) fn place(id: u32, t: f64, length: f64) -> VehicleState {
    let draw = |purpose| share(&[purpose, u64::from(id)]);
    let speed = 8.0 + 6.0 * draw(2);
    let body = if draw(3) < 0.1 {
        Body::HEAVY
    } else {
        Body::CAR
    };
    let (position, heading) = if id.is_multiple_of(CROSSING) {
        let street = (draw(4) * length / 200.0).floor() * 200.0 + 100.0;
        let y = (draw(5) * 300.0 + speed * t) % 300.0 - 150.0;
        (Point::new(street + 1.75, y), std::f64::consts::FRAC_PI_2)
    } else {
        let lane = LANES[(hash(&[6, u64::from(id)]) % 4) as usize];
        let s = (draw(5) * length + speed * t) % length;
        if lane < 0.0 {
            (Point::new(s, lane), 0.0)
        } else {
            (Point::new(length - s, lane), std::f64::consts::PI)
        }
    };
    VehicleState {
        id: VehicleId(id),
        position,
        heading,
        speed,
        body,
        lane: None,
        lane_position: 0.0,
        next: None,
    }
}

pub(crate) fn map(length: f64) -> Map {
    let mut map = Map::default();
    let mut lane = |width: f64, from: Point, to: Point| {
        if let Some(shape) = Polyline::new(vec![from, to]) {
            let number = map.network.lanes.len() as u32;
            map.network.lanes.push(Lane {
                name: format!("lane{number}"),
                edge: EdgeIx(0),
                index: number,
                width,
                speed_limit: 14.0,
                length: shape.length(),
                shape,
                drivable: true,
                outgoing: Vec::new(),
                incoming: Vec::new(),
            });
        }
    };
    for y in LANES {
        lane(3.5, Point::new(0.0, y), Point::new(length, y));
    }
    let mut x = 100.0;
    while x < length {
        for side in [-1.75, 1.75] {
            lane(
                3.5,
                Point::new(x + side, -150.0),
                Point::new(x + side, 150.0),
            );
        }
        x += 200.0;
    }
    map.network.edges.push(Edge {
        name: "road".to_string(),
        kind: EdgeKind::Normal,
        from: None,
        to: None,
        priority: 0,
        road_type: String::new(),
        lanes: Vec::new(),
    });
    let mut x = 110.0;
    while x < length {
        for k in 0..6 {
            let left = x + f64::from(k) * 30.0;
            for side in [1.0, -1.0] {
                let (near, far) = (side * 14.0, side * (34.0 + 8.0 * f64::from(k % 3)));
                map.buildings.push(Building {
                    outline: vec![
                        Point::new(left, near),
                        Point::new(left + 26.0, near),
                        Point::new(left + 26.0, far),
                        Point::new(left, far),
                    ],
                    height: 8.0 + f64::from(k),
                });
            }
        }
        x += 200.0;
    }
    map
}

/// Two ahead on the road and one that crosses.
pub(crate) fn relevant(vehicles: &[VehicleState]) -> Vec<Relevant> {
    let mut pairs = Vec::new();
    for a in vehicles.iter().filter(|v| equipped(v.id.0)) {
        let ahead = Point::from_heading(a.heading);
        let mut near: Vec<(f64, &VehicleState)> = vehicles
            .iter()
            .filter(|b| b.id != a.id)
            .map(|b| (b, b.position - a.position))
            .filter(|(_, d)| d.length() < 70.0 && d.dot(ahead) > 0.0)
            .map(|(b, d)| (d.length(), b))
            .collect();
        near.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.id.cmp(&y.1.id)));
        near.truncate(4);
        near.sort_by_key(|(_, b)| b.id);
        pairs.extend(near.into_iter().map(|(distance, b)| {
            let crossing = (a.heading - b.heading).abs() > 1.0;
            Relevant {
                vehicle: a.id.0,
                object: b.id.0,
                deadline_ms: 200 + (distance * 8.0) as u32,
                relation: if crossing {
                    Relation::Crossing
                } else {
                    Relation::Ahead
                },
                sight: match hash(&[8, u64::from(a.id.0), u64::from(b.id.0)]) % 4 {
                    0 if crossing => OwnSight::Building,
                    1 => OwnSight::Vehicle,
                    _ => OwnSight::Visible,
                },
            }
        }));
    }
    pairs
}

/// The cells that a vehicle at `position` sees: along the road, and into the streets beside it.
pub(crate) fn visible(v: &VehicleState) -> Vec<Cell> {
    let g = Point::new(v.position.x, v.position.y + TILE / 2.0);
    let span = |x: f64| (((x - SIGHT) / CELL) as i32, ((x + SIGHT) / CELL) as i32);
    let (x0, x1) = span(g.x);
    let (y0, y1) = span(g.y);
    let mut cells = Vec::new();
    for iy in y0..=y1 {
        for ix in x0..=x1 {
            let (cx, cy) = ((f64::from(ix) + 0.5) * CELL, (f64::from(iy) + 0.5) * CELL);
            let on_road = (cy - TILE / 2.0).abs() < 15.0;
            let in_street = (cx - g.x).abs() < 30.0 && ((cx + 100.0) % 200.0 - 0.0).abs() < 20.0;
            let hidden =
                hash(&[9, u64::from(v.id.0), (ix / 2) as u64, iy as u64]).is_multiple_of(4);
            if (on_road || in_street) && !hidden && (cx - g.x).hypot(cy - g.y) <= SIGHT {
                cells.push(Cell::new(ix, iy));
            }
        }
    }
    cells
}
