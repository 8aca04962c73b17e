//! Where a closed population drives: the roads in use, first places, random routes.

use covey_world::Body;
use covey_world::network::{EdgeIx, EdgeKind, LaneIx, Network, Turn};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;

use super::ClosedPopulation;
use crate::sumo::error::SumoError;

/// Space in front of a standing vehicle, in metres: SUMO's default `minGap`.
const MIN_GAP: f64 = 2.5;
/// More space, so that SUMO finds every first place free.
const MARGIN: f64 = 1.0;

/// A way on from the end of an edge.
#[derive(Clone, Copy)]
struct Way {
    from: LaneIx,
    to: EdgeIx,
    turn: Turn,
}

/// What of the net a closed population uses, by edge.
pub(super) struct Roads {
    /// Ways on to edges that are in use; empty for edges that are not.
    ways: Vec<Vec<Way>>,
    pub(super) main: Vec<bool>,
}

impl Roads {
    pub(super) fn new(network: &Network, population: &ClosedPopulation) -> Result<Self, SumoError> {
        let drivable = |lane: LaneIx| network.lanes[lane.index()].drivable;
        let mut ways: Vec<Vec<Way>> = vec![Vec::new(); network.edges.len()];
        for (edge, ways) in network.edges.iter().zip(&mut ways) {
            if edge.kind != EdgeKind::Normal {
                continue;
            }
            for &lane in edge.lanes.iter().filter(|lane| drivable(**lane)) {
                for connection in &network.lanes[lane.index()].outgoing {
                    let connection = &network.connections[connection.index()];
                    let to = network.lanes[connection.to.index()].edge;
                    let normal = network.edges[to.index()].kind == EdgeKind::Normal;
                    if drivable(connection.to) && normal {
                        ways.push(Way {
                            from: lane,
                            to,
                            turn: connection.turn,
                        });
                    }
                }
            }
        }
        // Edges without a way on drop out, then those that led only to them, and so on.
        loop {
            let open: Vec<bool> = ways.iter().map(|w| !w.is_empty()).collect();
            let mut changed = false;
            for ways in &mut ways {
                let before = ways.len();
                ways.retain(|way| open[way.to.index()]);
                changed |= ways.len() != before;
            }
            if !changed {
                break;
            }
        }
        if ways.iter().all(Vec::is_empty) {
            return Err(SumoError::NoCircuit {
                problem: "no road of the net leads on for ever: a closed population needs turnarounds at dead ends (netconvert makes them unless told --no-turnarounds)".into(),
            });
        }
        let main = main_road(network, &ways, population)?;
        Ok(Self { ways, main })
    }

    fn in_use(&self, edge: EdgeIx) -> bool {
        !self.ways[edge.index()].is_empty()
    }
}

/// Which edges make up the main road.
fn main_road(
    network: &Network,
    ways: &[Vec<Way>],
    population: &ClosedPopulation,
) -> Result<Vec<bool>, SumoError> {
    let in_use = || (0..network.edges.len()).filter(|&e| !ways[e].is_empty());
    let mut main = vec![false; network.edges.len()];
    if population.main_edges.is_empty() {
        let lanes = |e: usize| {
            let drivable = |lane: &&LaneIx| network.lanes[lane.index()].drivable;
            network.edges[e].lanes.iter().filter(drivable).count()
        };
        let rank = |e: usize| (network.edges[e].priority, lanes(e));
        if let Some(best) = in_use().map(rank).max() {
            in_use()
                .filter(|&e| rank(e) == best)
                .for_each(|e| main[e] = true);
        }
        return Ok(main);
    }
    for prefix in &population.main_edges {
        let mut any = false;
        for e in in_use().filter(|&e| network.edges[e].name.starts_with(prefix.as_str())) {
            main[e] = true;
            any = true;
        }
        if !any {
            return Err(SumoError::Parameter {
                field: "main_edges",
                found: format!("`{prefix}`"),
                expected: "the beginning of an edge's name, of an edge that cars can drive on and get away from",
            });
        }
    }
    Ok(main)
}

/// What a vehicle's routes are drawn for. The numbers go into a hash of their own ([`draw`]), apart from the addresses of
/// `covey_draws::Purpose`, and are part of every trace: never change one.
#[derive(Clone, Copy)]
enum Part {
    /// Which vehicles are heavy.
    Kind = 1,
    /// Which way to go at a junction.
    Turn = 2,
}

/// A number in [0, 1) that depends on nothing but what it is for.
fn draw(seed: u64, part: Part, vehicle: u64, n: u64) -> f64 {
    let mut hasher = blake3::Hasher::new();
    for part in [seed, part as u64, vehicle, n] {
        hasher.update(&part.to_le_bytes());
    }
    let mut bits = [0; 8];
    hasher.finalize_xof().fill(&mut bits);
    (u64::from_le_bytes(bits) >> 11) as f64 / (1u64 << 53) as f64
}

/// A vehicle and its first place.
pub(super) struct Placed {
    pub(super) heavy: bool,
    pub(super) edge: EdgeIx,
    pub(super) lane: LaneIx,
    /// Of the front bumper, in metres.
    pub(super) position: f64,
}

/// Gives every vehicle a place: exact counts, spread evenly over each group's lanes.
pub(super) fn place(
    network: &Network,
    roads: &Roads,
    population: &ClosedPopulation,
    seed: u64,
) -> Result<Vec<Placed>, SumoError> {
    let mut vehicles = Vec::new();
    for (main, road, density) in [
        (true, "main road", population.main_density),
        (false, "side streets", population.side_density),
    ] {
        let lanes: Vec<LaneIx> = (0u32..)
            .map(LaneIx)
            .take(network.lanes.len())
            .filter(|lane| {
                let lane = &network.lanes[lane.index()];
                lane.drivable && roads.in_use(lane.edge) && roads.main[lane.edge.index()] == main
            })
            .collect();
        let length = |lane: usize| network.lanes[lanes[lane].index()].length;
        let metres: f64 = (0..lanes.len()).map(length).sum();
        let wanted = (metres / 1000.0 * density).round() as usize;
        // Each takes the lane that is the least full and has room, the first of equals.
        let key = |taken: f64, lane: usize| Reverse(((taken / length(lane) * 1e9) as u64, lane));
        let mut emptiest: BinaryHeap<_> = (0..lanes.len()).map(|lane| key(0.0, lane)).collect();
        let mut members: Vec<Vec<(f64, bool)>> = vec![Vec::new(); lanes.len()];
        let mut taken = vec![0.0; lanes.len()];
        let mut placed = 0;
        let mut all_taken = 0.0;
        for k in 0..wanted {
            let id = (vehicles.len() + k) as u64;
            let heavy = draw(seed, Part::Kind, id, 0) < population.heavy_share;
            let body = if heavy { Body::HEAVY } else { Body::CAR };
            let space = body.length + MIN_GAP + MARGIN;
            all_taken += space;
            let mut full = Vec::new();
            while let Some(top) = emptiest.pop() {
                let lane = top.0.1;
                if taken[lane] + space <= length(lane) {
                    taken[lane] += space;
                    members[lane].push((space, heavy));
                    emptiest.push(key(taken[lane], lane));
                    placed += 1;
                    break;
                }
                full.push(top);
            }
            emptiest.extend(full);
        }
        if placed < wanted {
            let spacing = all_taken / wanted as f64;
            return Err(SumoError::TooDense {
                road,
                wanted,
                room: placed,
                spacing: (spacing * 10.0).round() / 10.0,
                most: 0.9 * placed as f64 / (metres / 1000.0),
            });
        }
        for (lane, members) in members.iter().enumerate() {
            let free = (length(lane) - taken[lane]) / members.len().max(1) as f64;
            let mut filled = 0.0;
            for &(space, heavy) in members {
                filled += space + free / 2.0;
                vehicles.push(Placed {
                    heavy,
                    edge: network.lanes[lanes[lane].index()].edge,
                    lane: lanes[lane],
                    position: filled - MARGIN,
                });
                filled += free / 2.0;
            }
        }
    }
    if vehicles.is_empty() {
        return Err(SumoError::NoCircuit {
            problem: "no vehicles: the roads in use are too short for one at these densities"
                .into(),
        });
    }
    Ok(vehicles)
}

/// A route for every vehicle, longer than it can drive in the time.
pub(super) fn walk(
    network: &Network,
    roads: &Roads,
    population: &ClosedPopulation,
    vehicles: &[Placed],
    bias: f64,
    seed: u64,
    lasts: f64,
) -> Vec<Vec<EdgeIx>> {
    // SUMO's drivers wish for up to twice the limit at the most, and hardly ever for 1.4 times.
    let seconds = |edge: EdgeIx| {
        let lanes = network.edges[edge.index()].lanes.iter();
        lanes
            .map(|lane| &network.lanes[lane.index()])
            .map(|lane| lane.length / (1.5 * lane.speed_limit).max(1.0))
            .fold(f64::INFINITY, f64::min)
            .max(0.01)
    };
    let weights = &population.turns;
    let weight = |way: &Way| {
        let turn = match way.turn {
            Turn::Straight => weights.straight,
            Turn::Left => weights.left,
            Turn::Right => weights.right,
            Turn::Around => weights.around,
            Turn::Other => 0.0,
        };
        turn * if roads.main[way.to.index()] {
            bias
        } else {
            1.0
        }
    };
    let needed = population.warmup_s + lasts + 30.0;
    let mut walks = Vec::with_capacity(vehicles.len());
    for (id, vehicle) in vehicles.iter().enumerate() {
        let mut route = vec![vehicle.edge];
        let mut edge = vehicle.edge;
        let mut time = 0.0;
        let mut n = 0;
        while time < needed {
            // One entry for each edge that can be reached, however many lanes lead there.
            let mut offers: BTreeMap<EdgeIx, f64> = BTreeMap::new();
            let ways = &roads.ways[edge.index()];
            // At first only what the lane offers, if it offers anything: nobody shall begin by blocking others.
            let own = n == 0 && ways.iter().any(|way| way.from == vehicle.lane);
            for way in ways.iter().filter(|way| !own || way.from == vehicle.lane) {
                let offer = offers.entry(way.to).or_insert(0.0);
                *offer = offer.max(weight(way));
            }
            let total: f64 = offers.values().sum();
            let mut left = draw(seed, Part::Turn, id as u64, n);
            left *= if total > 0.0 {
                total
            } else {
                offers.len() as f64
            };
            let mut chosen = None;
            for (&to, &weight) in &offers {
                let weight = if total > 0.0 { weight } else { 1.0 };
                if weight > 0.0 {
                    chosen = Some(to);
                }
                left -= weight;
                if left < 0.0 && chosen.is_some() {
                    break;
                }
            }
            let Some(next) = chosen else { break };
            route.push(next);
            edge = next;
            time += seconds(edge);
            n += 1;
        }
        walks.push(route);
    }
    walks
}

/// A name in XML.
fn escaped(name: &str) -> std::borrow::Cow<'_, str> {
    quick_xml::escape::escape(name)
}

pub(super) fn routes_xml(network: &Network, vehicles: &[Placed], walks: &[Vec<EdgeIx>]) -> String {
    let mut out = String::from("<routes>\n");
    // Sizes by TR 37.885; dynamics are SUMO's for cars and trucks.
    for (id, body, dynamics) in [
        (
            "car",
            Body::CAR,
            "accel=\"2.6\" decel=\"4.5\" speedDev=\"0.1\"",
        ),
        (
            "heavy",
            Body::HEAVY,
            "accel=\"1.3\" decel=\"4\" maxSpeed=\"36.11\" speedDev=\"0.05\" guiShape=\"truck\"",
        ),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<vType id=\"{id}\" vClass=\"passenger\" length=\"{}\" width=\"{}\" height=\"{}\" minGap=\"{MIN_GAP}\" {dynamics}/>",
            body.length, body.width, body.height
        );
    }
    for (id, (vehicle, walk)) in vehicles.iter().zip(walks).enumerate() {
        let kind = if vehicle.heavy { "heavy" } else { "car" };
        let _ = write!(
            out,
            "<vehicle id=\"{id}\" type=\"{kind}\" depart=\"0\" departLane=\"{}\" departPos=\"{:.2}\" departSpeed=\"0\"><route edges=\"",
            network.lanes[vehicle.lane.index()].index,
            vehicle.position
        );
        for (i, edge) in walk.iter().enumerate() {
            if i > 0 {
                out.push(' ');
            }
            out.push_str(&escaped(&network.edges[edge.index()].name));
        }
        out.push_str("\"/></vehicle>\n");
    }
    out.push_str("</routes>\n");
    out
}
