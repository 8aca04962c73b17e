//! Made-up recordings, for tests of the viewer and for measuring it at any size.
//!
//! A straight road with a crossing street every 200 m and buildings between them; vehicles at constant speed; hosts near tile
//! centres that really decide ([`Snapshot::decide`]) on views cut off by the buildings. Nothing in it is a result: what vehicles
//! know is drawn from a hash.

use std::path::Path;

use covey_protocol::AgentId;
use covey_protocol::ObjectId;
use covey_protocol::admission::{
    Action, Because, Binding, Change, Factors, Role as Standing, Rules,
};
use covey_protocol::demand::select::{
    DemandCandidate, DemandListener, DemandProblem, Need, Object, Selection,
};
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::grid::{Cell, Position};
use covey_protocol::link::LinkQuality;
use covey_protocol::snapshot::{Agent, Snapshot};
use covey_world::network::{Building, Edge, EdgeIx, EdgeKind, Lane};
use covey_world::{Body, Map, Point, Polyline, VehicleId, VehicleState};

use super::{
    ArmCycle, ArmHeader, Delivery, DemandDecision, Grid, Header, HostDecision, Knowledge,
    MessageKind, OwnSight, RecordingError, Relation, Relevant, Role, Source, Summary, Writer,
};
use crate::outcome::{self, CycleRow, Deficit};

/// What to make up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How many vehicles.
    pub vehicles: u32,
    /// How long.
    pub seconds: u32,
    /// Names of arms.
    pub arms: Vec<String>,
}

/// Vehicles per metre of road, all lanes.
const DENSITY: f64 = 0.17;
const CELL: f64 = 20.0;
const TILE: f64 = 500.0;
const SIGHT: f64 = 150.0;
const LANES: [f64; 4] = [-5.25, -1.75, 1.75, 5.25];
/// Every fifth vehicle drives on a crossing street.
const CROSSING: u32 = 5;

/// Makes a recording up and writes it to `path`.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, plan: &Plan) -> Result<Summary, RecordingError> {
    let length = (f64::from(plan.vehicles) / DENSITY / 200.0).ceil().max(2.0) * 200.0;
    let header = Header {
        scenario: "synthetic".to_string(),
        seed: 1,
        arms: plan
            .arms
            .iter()
            .map(|name| ArmHeader {
                name: name.clone(),
                hosted: name.contains('@'),
                scored: name.contains('@') && !name.starts_with("random"),
            })
            .collect(),
        step_us: 50_000,
        cycle_us: 200_000,
        decision_us: 150_000,
        grid: Grid {
            origin_x_m: 0.0,
            origin_y_m: -TILE / 2.0,
            azimuth_deg: 0.0,
        },
        cell_m: CELL,
        tile_m: TILE,
        target: 0.3,
        measured_from_us: 0,
        program: format!("covey {}", env!("CARGO_PKG_VERSION")),
        run: String::new(),
    };
    let mut writer = Writer::create(path, &header, &map(length))?;
    let mut arms: Vec<MadeUp> = plan.arms.iter().map(|name| MadeUp::new(name)).collect();
    for step in 0..plan.seconds * 20 {
        let vehicles: Vec<VehicleState> = (0..plan.vehicles)
            .map(|id| place(id, f64::from(step) * 0.05, length))
            .collect();
        writer.step(step, &vehicles, &|id| equipped(id.0))?;
        if step % 4 == 3 {
            let cycle = step / 4;
            let pairs = relevant(&vehicles);
            writer.relevance(&pairs)?;
            for (number, arm) in arms.iter_mut().enumerate() {
                let (record, decisions, demands) = arm.cycle(cycle, &vehicles, &pairs, length);
                writer.arm_cycle(number, record, &decisions)?;
                writer.demands(number, &demands)?;
            }
        }
    }
    writer.finish()
}

fn hash(parts: &[u64]) -> u64 {
    let parts = parts.iter();
    parts.fold(7, |sum, &part| AgentId(sum ^ part).mixed())
}

fn share(parts: &[u64]) -> f64 {
    (hash(parts) >> 11) as f64 / (1u64 << 53) as f64
}

fn equipped(id: u32) -> bool {
    share(&[1, u64::from(id)]) < 0.5
}

fn place(id: u32, t: f64, length: f64) -> VehicleState {
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

fn map(length: f64) -> Map {
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
fn relevant(vehicles: &[VehicleState]) -> Vec<Relevant> {
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
fn visible(v: &VehicleState) -> Vec<Cell> {
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

/// What the host of a decision would choose by demand: the relevant pairs around it are the needs.
fn demand(
    decision: &HostDecision,
    vehicles: &[VehicleState],
    pairs: &[Relevant],
) -> DemandDecision {
    let host = decision.snapshot.host;
    let at = |id: u64| {
        let place = vehicles[id as usize].position;
        Position::new(place.x, place.y)
    };
    let mut ids: Vec<u64> = decision.snapshot.agents.iter().map(|a| a.id.0).collect();
    ids.push(host.0);
    ids.sort_unstable();
    let near: Vec<&Relevant> = pairs
        .iter()
        .filter(|pair| ids.binary_search(&u64::from(pair.vehicle)).is_ok())
        .filter(|pair| pair.sight != OwnSight::Visible)
        .collect();
    let mut wanted: Vec<u64> = near.iter().map(|pair| u64::from(pair.object)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let number = |ids: &[u64], id: u32| ids.binary_search(&u64::from(id)).unwrap_or(0) as u32;
    let mut needs: Vec<Need> = near
        .iter()
        .map(|pair| {
            let key = [12, u64::from(pair.vehicle), u64::from(pair.object)];
            Need {
                listener: number(&ids, pair.vehicle),
                object: number(&wanted, pair.object),
                now: share(&key),
                next: share(&key).max(0.5),
            }
        })
        .collect();
    needs.sort_by_key(|need| (need.object, need.listener));
    let objects = wanted.iter().map(|&id| Object {
        id: ObjectId(id),
        silent: !equipped(id as u32),
        repeat_bytes: (!hash(&[13, id]).is_multiple_of(3)).then_some(35.0),
    });
    let candidates = ids.iter().filter(|&&id| id != host.0).map(|&id| {
        let views = (0u32..).zip(&wanted);
        let views = views.filter(|&(_, &o)| o != id && at(o).distance(at(id)) < SIGHT / 2.0);
        DemandCandidate {
            id: AgentId(id),
            position: at(id),
            command: 0.9,
            bonus: 0.1 * (hash(&[14, id]) % 4) as f64,
            extra_bytes: 0.0,
            views: views
                .map(|(k, &o)| (k, 0.5 + 0.5 * share(&[15, id, o])))
                .collect(),
        }
    });
    let problem = DemandProblem {
        budget_bytes: decision.snapshot.rules.allowance * 48_400.0,
        base_bytes: 121.0,
        report_bytes: 160.0,
        object_bytes: 35.0,
        requested_bytes: 3.0,
        threshold: 0.3,
        least_gain: 0.02,
        request_factor: Some(3.0),
        host: at(host.0),
        links: LinkQuality::fixed(&[0.97, 0.95, 0.9, 0.85, 0.75, 0.6]),
        listeners: ids
            .iter()
            .map(|&id| DemandListener {
                id: AgentId(id),
                position: at(id),
            })
            .collect(),
        objects: objects.collect(),
        needs,
        candidates: candidates.collect(),
    };
    let chosen = Selection::choose(&problem);
    DemandDecision {
        tile: decision.tile,
        snapshot: DemandSnapshot { host, problem },
        picks: chosen.picks.iter().map(|picked| picked.pick).collect(),
    }
}

struct MadeUp {
    name: String,
    allowance: f64,
    /// Per tile: last map, contributors, price, epoch.
    tiles: Vec<Tile>,
}

#[derive(Clone, Default)]
struct Tile {
    prior: Vec<(Cell, f64)>,
    contributors: Vec<u64>,
    price: f64,
    epoch: u32,
}

impl MadeUp {
    fn new(name: &str) -> Self {
        let allowance = name.split_once('@').and_then(|(_, b)| b.parse().ok());
        Self {
            name: name.to_string(),
            allowance: allowance.unwrap_or(0.0),
            tiles: Vec::new(),
        }
    }

    fn cycle(
        &mut self,
        cycle: u32,
        vehicles: &[VehicleState],
        pairs: &[Relevant],
        length: f64,
    ) -> (ArmCycle, Vec<HostDecision>, Vec<DemandDecision>) {
        let mut record = ArmCycle {
            cycle,
            roles: vehicles
                .iter()
                .map(|v| match (equipped(v.id.0), self.name.starts_with("cpm")) {
                    (false, _) => Role::Unequipped,
                    (true, true) => Role::Contributor,
                    (true, false) => Role::Listener,
                })
                .collect(),
            ..ArmCycle::default()
        };
        let arm = u64::from(self.name.bytes().map(u32::from).sum::<u32>());
        let missing = if self.name.contains('@') { 0.03 } else { 0.09 };
        record.knowledge = pairs
            .iter()
            .map(|pair| {
                let key = [
                    arm,
                    u64::from(pair.vehicle),
                    u64::from(pair.object),
                    u64::from(cycle / 3),
                ];
                let missed = pair.sight != OwnSight::Visible && share(&key) < 3.0 * missing;
                let unknown = missed && hash(&key).is_multiple_of(2);
                Knowledge {
                    source: match (unknown, pair.sight, hash(&key) % 3) {
                        (true, _, _) => Source::Unknown,
                        (_, OwnSight::Visible, _) => Source::Sensing,
                        (_, _, 0) => Source::Beacon,
                        (_, _, 1) => Source::Report,
                        _ => Source::Broadcast,
                    },
                    age_ms: match (unknown, missed) {
                        (true, _) => 0,
                        (_, true) => pair.deadline_ms + 50,
                        _ => 50 * (1 + (hash(&key) % 3) as u32),
                    },
                    missed,
                    seen_by_nobody: unknown && hash(&key).is_multiple_of(8),
                    from: None,
                }
            })
            .collect();
        let count = (length / TILE).ceil() as usize;
        self.tiles.resize_with(count, Tile::default);
        let mut decisions = Vec::new();
        for tx in 0..count {
            self.tile(tx, cycle, vehicles, pairs, &mut record, &mut decisions);
        }
        let mut demands = Vec::new();
        if self.name.starts_with("demand") {
            demands = decisions
                .iter()
                .map(|decision| demand(decision, vehicles, pairs))
                .collect();
            decisions.clear();
        }
        (record, decisions, demands)
    }

    fn tile(
        &mut self,
        tx: usize,
        cycle: u32,
        vehicles: &[VehicleState],
        pairs: &[Relevant],
        record: &mut ArmCycle,
        decisions: &mut Vec<HostDecision>,
    ) {
        let inside = |v: &VehicleState| (v.position.x / TILE) as usize == tx;
        let mut row = CycleRow {
            cycle,
            tile: [tx as i32, 0],
            participants: 0,
            host: None,
            epoch: 0,
            contributors: 0,
            price: 0.0,
            load: 0.0,
            busy: 0.64,
            airtime_s: 0.0,
            binding: None,
            deficit: Deficit::default(),
        };
        for (pair, k) in pairs.iter().zip(&record.knowledge) {
            // Vehicles are numbered densely here, so a number is a place.
            if inside(&vehicles[pair.vehicle as usize]) {
                row.deficit.relevant += 1;
                row.deficit.missed += u64::from(k.missed);
            }
        }
        let equipped = |v: &&VehicleState| equipped(v.id.0);
        row.participants = vehicles
            .iter()
            .filter(equipped)
            .filter(|v| inside(v))
            .count() as u32;
        let centre = Point::new((tx as f64 + 0.5) * TILE, 0.0);
        // One host for two seconds, so that there is somebody to click on.
        let then = |v: &VehicleState| {
            v.position - Point::from_heading(v.heading) * (v.speed * f64::from(cycle % 10) * 0.2)
        };
        let host = vehicles
            .iter()
            .filter(equipped)
            .filter(|v| inside(v))
            .min_by(|a, b| {
                then(a)
                    .distance(centre)
                    .total_cmp(&then(b).distance(centre))
            });
        let hosted = self.name.contains('@');
        let (Some(host), true) = (host, hosted && row.participants > 0) else {
            if row.participants > 0 {
                row.load = if self.name.starts_with("cpm") {
                    0.3
                } else {
                    0.0
                };
                row.busy += row.load;
                record.tiles.push(row);
            }
            return;
        };
        let tile = &mut self.tiles[tx];
        tile.contributors.retain(|&id| id != u64::from(host.id.0));
        let mut agents = Vec::new();
        for v in vehicles.iter().filter(equipped) {
            let id = u64::from(v.id.0);
            let contributes = tile.contributors.binary_search(&id).is_ok();
            let near = v.position.distance(host.position) <= 300.0;
            if v.id == host.id || !(near || contributes) {
                continue;
            }
            let draw = share(&[10, id, u64::from(cycle / 4)]);
            agents.push(Agent {
                id: AgentId(id),
                role: if contributes {
                    Standing::Contributor
                } else {
                    Standing::Candidate
                },
                cells: visible(v),
                decoded: contributes && draw < 0.8,
                decoded_fraction: (draw * 10.0).round() / 10.0,
                report_bytes: 156.0 + 35.0 * (draw * 12.0).round(),
                broadcast_bytes: 4.0 + 35.0 * (draw * 3.0).round(),
                prior_without: None,
            });
        }
        let host_cells = visible(host);
        let risk = host_cells
            .iter()
            .chain(agents.iter().flat_map(|a| &a.cells))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .map(|&cell| {
                let rho = 0.5 * (hash(&[11, cell.ix as u64, cell.iy as u64]) % 4) as f64;
                (cell, rho, if rho > 0.0 { 0.4 } else { 0.0 })
            })
            .filter(|&(_, rho, _)| rho > 0.0)
            .collect();
        let snapshot = Snapshot {
            rules: Rules {
                cycle_s: 0.2,
                t_max_s: 0.2,
                kappa_per_s: 2.0,
                eta_add: 0.25,
                eta_rem: -0.25,
                n_max: 1,
                allowance: self.allowance,
                rate_bytes_per_s: 650_000.0,
                capacity_bytes_per_s: 242_000.0,
                airtime_unit_s: 0.001,
                factors: Factors::ALL,
            },
            broadcast_base_bytes: 2400.0,
            broadcast_delivery: 0.95,
            price: tile.price,
            host: AgentId(u64::from(host.id.0)),
            host_cells,
            prior: std::mem::take(&mut tile.prior),
            overheard: Vec::new(),
            risk,
            agents,
        };
        let outcome = snapshot.decide();
        let mut changes = Vec::new();
        for change in &outcome.changes {
            let admit = change.action == "admit";
            tile.contributors.retain(|&id| id != change.id);
            if admit {
                tile.contributors.push(change.id);
                tile.contributors.sort_unstable();
            }
            changes.push(Change {
                action: if admit { Action::Admit } else { Action::Remove },
                id: AgentId(change.id),
                because: match change.because {
                    "allowance" => Because::Allowance,
                    "cycle" => Because::Cycle,
                    _ => Because::Score,
                },
                score: change.score,
            });
        }
        tile.epoch += changes.len() as u32;
        let (binding, of_row) = match outcome.binding {
            "value" => (Binding::Value, outcome::Binding::Value),
            "price" => (Binding::Price, outcome::Binding::Price),
            "allowance" => (Binding::Allowance, outcome::Binding::Allowance),
            "cycle" => (Binding::Cycle, outcome::Binding::Cycle),
            "quota" => (Binding::Quota, outcome::Binding::Quota),
            _ => (Binding::Nothing, outcome::Binding::Nothing),
        };
        tile.prior = outcome
            .map
            .iter()
            .map(|&(ix, iy, m)| (Cell::new(ix, iy), m))
            .collect();
        row.host = Some(u64::from(host.id.0));
        row.epoch = tile.epoch;
        row.contributors = tile.contributors.len() as u32;
        row.price = tile.price;
        row.load = outcome.airtime_after.fraction;
        row.busy += row.load;
        row.airtime_s = outcome.airtime_after.seconds;
        row.binding = Some(of_row);
        tile.price = (tile.price + 0.5 * (row.load - 0.3)).max(0.0);
        for agent in &snapshot.agents {
            let role = &mut record.roles[agent.id.0 as usize];
            if *role == Role::Listener {
                *role = Role::Candidate;
            }
        }
        let near = |centre: Point| {
            let near = vehicles
                .iter()
                .filter(equipped)
                .filter(move |v| v.position.distance(centre) < 150.0);
            near.map(|v| v.id.0).collect::<Vec<u32>>()
        };
        for &id in &tile.contributors {
            record.roles[id as usize] = Role::Contributor;
            record.deliveries.push(Delivery {
                sender: id as u32,
                kind: MessageKind::Report,
                receivers: near(vehicles[id as usize].position),
            });
        }
        record.roles[host.id.0 as usize] = Role::Host;
        record.deliveries.push(Delivery {
            sender: host.id.0,
            kind: MessageKind::Broadcast,
            receivers: near(host.position),
        });
        record.tiles.push(row);
        decisions.push(HostDecision {
            tile: [tx as i32, 0],
            snapshot,
            changes,
            binding,
        });
    }
}
