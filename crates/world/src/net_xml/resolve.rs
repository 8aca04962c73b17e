//! Turns names into positions in arrays.

use std::collections::{BTreeMap, HashMap};

use super::document::{Document, RawConnection, RawJunction, RawProgram};
use crate::map_error::{MapError, WarningKind, Warnings};
use crate::network::{
    Connection, ConnectionIx, Edge, EdgeIx, EdgeKind, Junction, JunctionIx, JunctionKind, Lane,
    LaneIx, Network, Request, Signal, SignalIx, Turn,
};
use crate::shorten::shorten;

/// Internal lanes of one path over a junction; SUMO uses at most three.
const MAX_VIA: usize = 16;

/// Looks names up; the maps are never iterated, so their order cannot reach a result.
#[derive(Default)]
struct Names {
    edges: HashMap<String, EdgeIx>,
    lanes: HashMap<String, LaneIx>,
    junctions: HashMap<String, JunctionIx>,
}

/// A position in an array; more than 2^32 things cannot come out of a file within the limits.
fn position(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

pub(super) fn network(
    file: &str,
    document: Document,
    warnings: &mut Warnings,
) -> Result<Network, MapError> {
    let mut names = Names::default();
    let mut network = Network {
        left_hand: document.left_hand,
        location: document.location,
        ..Network::default()
    };
    for junction in &document.junctions {
        if junction.kind != "internal" {
            let ix = JunctionIx(position(names.junctions.len()));
            if names.junctions.insert(junction.name.clone(), ix).is_some() {
                return Err(duplicate(file, junction.line, "junction", &junction.name));
            }
        }
    }
    edges(file, document.edges, &mut network, &mut names)?;
    let mut internal_lanes = Vec::new();
    for raw in document.junctions {
        if raw.kind != "internal" {
            let (junction, internal) = junction(file, raw, &network, &names, warnings)?;
            network.junctions.push(junction);
            internal_lanes.push(internal);
        }
    }
    let lights = signals(
        file,
        document.programs,
        &document.first_programs,
        &mut network,
        warnings,
    )?;
    connections(
        file,
        &document.connections,
        &mut network,
        &names,
        &lights,
        warnings,
    )?;
    number_requests(&mut network, &internal_lanes);
    Ok(network)
}

fn duplicate(file: &str, line: u64, element: &str, id: &str) -> MapError {
    MapError::Duplicate {
        file: file.to_owned(),
        line,
        element: format!("<{element} id=\"{}\">", shorten(id)),
    }
}

fn unknown(
    file: &str,
    line: u64,
    element: String,
    attribute: &'static str,
    found: &str,
    expected: &'static str,
) -> MapError {
    MapError::UnknownReference {
        file: file.to_owned(),
        line,
        element,
        attribute,
        found: shorten(found),
        expected,
    }
}

fn edges(
    file: &str,
    raw_edges: Vec<super::document::RawEdge>,
    network: &mut Network,
    names: &mut Names,
) -> Result<(), MapError> {
    for raw in raw_edges {
        let ix = EdgeIx(position(network.edges.len()));
        let end = |name: &Option<String>, attribute| match name {
            // SUMO leaves the ends of connectors open; those of pedestrian and internal edges mean nothing here.
            Some(name) if raw.kind == EdgeKind::Normal => match names.junctions.get(name) {
                Some(&junction) => Ok(Some(junction)),
                None => Err(unknown(
                    file,
                    raw.line,
                    format!("<edge id=\"{}\">", shorten(&raw.name)),
                    attribute,
                    name,
                    "junction",
                )),
            },
            _ => Ok(None),
        };
        let (from, to) = (end(&raw.from, "from")?, end(&raw.to, "to")?);
        let mut lanes = Vec::with_capacity(raw.lanes.len());
        for lane in raw.lanes {
            let lane_ix = LaneIx(position(network.lanes.len()));
            if names.lanes.insert(lane.name.clone(), lane_ix).is_some() {
                return Err(duplicate(file, lane.line, "lane", &lane.name));
            }
            lanes.push(lane_ix);
            network.lanes.push(Lane {
                name: lane.name,
                edge: ix,
                index: lane.index,
                width: lane.width,
                speed_limit: lane.speed,
                length: lane.length,
                shape: lane.shape,
                drivable: lane.drivable && raw.kind != EdgeKind::Pedestrian,
                outgoing: Vec::new(),
                incoming: Vec::new(),
            });
        }
        if names.edges.insert(raw.name.clone(), ix).is_some() {
            return Err(duplicate(file, raw.line, "edge", &raw.name));
        }
        network.edges.push(Edge {
            name: raw.name,
            kind: raw.kind,
            from,
            to,
            priority: raw.priority,
            road_type: raw.road_type,
            lanes,
        });
    }
    Ok(())
}

/// The junction, and the internal lanes that its requests stand for, in order.
fn junction(
    file: &str,
    raw: RawJunction,
    network: &Network,
    names: &Names,
    warnings: &mut Warnings,
) -> Result<(Junction, Vec<LaneIx>), MapError> {
    let label = || format!("<junction id=\"{}\">", shorten(&raw.name));
    let look_up = |list: &[String], attribute| -> Result<Vec<LaneIx>, MapError> {
        list.iter()
            .map(|name| {
                names
                    .lanes
                    .get(name)
                    .copied()
                    .ok_or_else(|| unknown(file, raw.line, label(), attribute, name, "lane"))
            })
            .collect()
    };
    let mut incoming = look_up(&raw.incoming, "incLanes")?;
    let internal = look_up(&raw.internal, "intLanes")?;
    incoming.retain(|&lane| {
        let edge = network.lanes[lane.index()].edge;
        network.edges[edge.index()].kind != EdgeKind::Pedestrian
    });
    let mut incoming_edges: Vec<EdgeIx> = incoming
        .iter()
        .map(|lane| network.lanes[lane.index()].edge)
        .collect();
    incoming_edges.dedup();
    let kind = match raw.kind.as_str() {
        "traffic_light" | "traffic_light_unregulated" | "traffic_light_right_on_red" => {
            JunctionKind::TrafficLight
        }
        "priority" | "priority_stop" => JunctionKind::Priority,
        "dead_end" => JunctionKind::Open,
        "unregulated" if incoming_edges.len() < 2 => JunctionKind::Open,
        other => {
            warnings.add(WarningKind::JunctionType, other, file, raw.line);
            JunctionKind::Other(other.to_owned())
        }
    };
    let count = raw.requests.len();
    let mut rows: Vec<Option<Request>> = vec![None; count];
    for (line, index, request) in raw.requests {
        let bad = |attribute, found: String, expected| MapError::BadAttribute {
            file: file.to_owned(),
            line,
            element: format!("<request> of junction \"{}\"", shorten(&raw.name)),
            attribute,
            found,
            expected,
        };
        for (attribute, bits) in [("response", &request.yields_to), ("foes", &request.foes)] {
            if bits.len() != count {
                return Err(bad(
                    attribute,
                    format!("{} bits", bits.len()),
                    "as many bits as the junction has requests",
                ));
            }
        }
        match rows.get_mut(index as usize) {
            Some(row @ None) => *row = Some(request),
            _ => {
                return Err(bad(
                    "index",
                    index.to_string(),
                    "each number from 0 to the number of requests, once",
                ));
            }
        }
    }
    Ok((
        Junction {
            kind,
            position: raw.position,
            outline: raw.outline,
            incoming,
            // As many rows as places and none taken twice: all are there.
            requests: rows.into_iter().flatten().collect(),
            name: raw.name,
        },
        internal,
    ))
}

fn signals(
    file: &str,
    programs: Vec<RawProgram>,
    first_programs: &BTreeMap<String, String>,
    network: &mut Network,
    warnings: &mut Warnings,
) -> Result<HashMap<String, SignalIx>, MapError> {
    let mut lights: HashMap<String, SignalIx> = HashMap::new();
    for program in programs {
        // Railway signals are written without phases: they follow the trains, not a plan.
        if program.phases.is_empty() {
            continue;
        }
        let cycle: f64 = program.phases.iter().map(|phase| phase.duration).sum();
        if cycle <= 0.0 {
            return Err(MapError::BadAttribute {
                file: file.to_owned(),
                line: program.line,
                element: format!("<tlLogic id=\"{}\">", shorten(&program.name)),
                attribute: "duration",
                found: "0 in all phases".to_owned(),
                expected: "a cycle longer than 0 s",
            });
        }
        let signal = Signal {
            name: program.name.clone(),
            offset: program.offset,
            phases: program.phases,
        };
        match lights.get(&program.name) {
            None => {
                lights.insert(program.name, SignalIx(position(network.signals.len())));
                network.signals.push(signal);
            }
            Some(&known) => {
                warnings.add(WarningKind::SpareProgram, "", file, program.line);
                let wanted = first_programs.get(&program.name);
                if wanted.is_none_or(|wanted| *wanted == program.program) {
                    network.signals[known.index()] = signal;
                }
            }
        }
    }
    Ok(lights)
}

/// A connection between normal edges, its lanes found.
struct Outer<'a> {
    raw: &'a RawConnection,
    from: LaneIx,
    to: LaneIx,
    /// The first internal lane.
    first: Option<LaneIx>,
    junction: JunctionIx,
}

/// Ways out of internal lanes: (internal lane, next internal lane, lane reached).
type Onward = Vec<(LaneIx, Option<LaneIx>, LaneIx)>;

fn connections(
    file: &str,
    raw_connections: &[RawConnection],
    network: &mut Network,
    names: &Names,
    lights: &HashMap<String, SignalIx>,
    warnings: &mut Warnings,
) -> Result<(), MapError> {
    let (onward, outer) = sort_out(file, raw_connections, network, names, warnings)?;
    for Outer {
        raw,
        from,
        to,
        first,
        junction,
    } in outer
    {
        let via = internal_path(&onward, first, to).unwrap_or_else(|cut| {
            warnings.add(WarningKind::EndlessInternalPath, "", file, raw.line);
            cut
        });
        let signal = signal_of(file, raw, network, lights, warnings)?;
        let ix = ConnectionIx(position(network.connections.len()));
        network.lanes[from.index()].outgoing.push(ix);
        network.lanes[to.index()].incoming.push(ix);
        network.connections.push(Connection {
            from,
            to,
            via,
            junction,
            request: None,
            turn: match raw.direction.as_str() {
                "s" => Turn::Straight,
                "l" | "L" => Turn::Left,
                "r" | "R" => Turn::Right,
                "t" | "T" => Turn::Around,
                _ => Turn::Other,
            },
            signal,
        });
    }
    Ok(())
}

/// Tells ways within junctions, sorted for look-up, from connections between streets; what is neither is warned of.
fn sort_out<'a>(
    file: &str,
    raw_connections: &'a [RawConnection],
    network: &Network,
    names: &Names,
    warnings: &mut Warnings,
) -> Result<(Onward, Vec<Outer<'a>>), MapError> {
    let mut onward = Onward::new();
    let mut outer = Vec::new();
    for raw in raw_connections {
        let missing = |attribute, name: &str, kind| {
            unknown(file, raw.line, label(raw), attribute, name, kind)
        };
        let edge_of = |name: &str, attribute| {
            let edge = names.edges.get(name).copied();
            edge.ok_or_else(|| missing(attribute, name, "edge"))
        };
        let lane_of = |edge: EdgeIx, index: u32, attribute| {
            let edge = &network.edges[edge.index()];
            edge.lanes.get(index as usize).copied().ok_or_else(|| {
                let name = format!("{}_{index}", edge.name);
                missing(attribute, &name, "lane")
            })
        };
        let from_edge = edge_of(&raw.from, "from")?;
        let to_edge = edge_of(&raw.to, "to")?;
        let from = lane_of(from_edge, raw.from_lane, "fromLane")?;
        let to = lane_of(to_edge, raw.to_lane, "toLane")?;
        let first = match &raw.via {
            None => None,
            Some(name) => match names.lanes.get(name) {
                Some(&lane) => Some(lane),
                None => return Err(missing("via", name, "lane")),
            },
        };
        let kinds = (
            network.edges[from_edge.index()].kind,
            network.edges[to_edge.index()].kind,
        );
        match kinds {
            (EdgeKind::Pedestrian, _) | (_, EdgeKind::Pedestrian) => {
                warnings.add(WarningKind::PedestrianConnection, "", file, raw.line);
            }
            (EdgeKind::Internal, _) => onward.push((from, first, to)),
            // A connection that ends inside a junction leads nowhere; connectors of districts are no streets.
            (_, EdgeKind::Internal) | (EdgeKind::Other, _) => {
                warnings.add(WarningKind::UnusedInternalConnection, "", file, raw.line);
            }
            (EdgeKind::Normal, _) => match network.edges[from_edge.index()].to {
                Some(junction) => outer.push(Outer {
                    raw,
                    from,
                    to,
                    first,
                    junction,
                }),
                None => return Err(missing("from", &raw.from, "edge that ends at a junction")),
            },
        }
    }
    onward.sort_by_key(|&(from, _, to)| (from, to));
    Ok((onward, outer))
}

/// The internal lanes from `first` towards `to`; as an error, those up to where the way has no end.
fn internal_path(
    onward: &Onward,
    first: Option<LaneIx>,
    to: LaneIx,
) -> Result<Vec<LaneIx>, Vec<LaneIx>> {
    let mut via = Vec::new();
    let mut next = first;
    while let Some(lane) = next {
        if via.len() >= MAX_VIA || via.contains(&lane) {
            return Err(via);
        }
        via.push(lane);
        // One that reaches the right lane counts first: an internal lane may serve several connections.
        let exact = onward.partition_point(|&(from, _, end)| (from, end) < (lane, to));
        let any = onward.partition_point(|&(from, _, _)| from < lane);
        next = onward
            .get(exact)
            .filter(|way| way.0 == lane && way.2 == to)
            .or_else(|| onward.get(any).filter(|way| way.0 == lane))
            .and_then(|way| way.1);
    }
    Ok(via)
}

/// The light of a connection and its place there.
fn signal_of(
    file: &str,
    raw: &RawConnection,
    network: &Network,
    lights: &HashMap<String, SignalIx>,
    warnings: &mut Warnings,
) -> Result<Option<(SignalIx, u32)>, MapError> {
    let Some((name, place)) = &raw.light else {
        return Ok(None);
    };
    let Some(&light) = lights.get(name) else {
        warnings.add(WarningKind::LightWithoutProgram, "", file, raw.line);
        return Ok(None);
    };
    let links = network.signals[light.index()].phases[0].state.len();
    if *place as usize >= links {
        return Err(MapError::BadAttribute {
            file: file.to_owned(),
            line: raw.line,
            element: label(raw),
            attribute: "linkIndex",
            found: place.to_string(),
            expected: "a place within the state of the light's phases",
        });
    }
    Ok(Some((light, *place)))
}

fn label(raw: &RawConnection) -> String {
    format!(
        "<connection from=\"{}\" to=\"{}\">",
        shorten(&raw.from),
        shorten(&raw.to)
    )
}

/// Gives each connection its row in the junction's table.
fn number_requests(network: &mut Network, internal_lanes: &[Vec<LaneIx>]) {
    // Where the net has internal lanes: the place of one of the connection's lanes in `intLanes`.
    let mut place_of: Vec<Option<(JunctionIx, u32)>> = vec![None; network.lanes.len()];
    for (junction, lanes) in internal_lanes.iter().enumerate() {
        for (place, lane) in lanes.iter().enumerate() {
            place_of[lane.index()] = Some((JunctionIx(position(junction)), position(place)));
        }
    }
    for connection in &mut network.connections {
        let rows = network.junctions[connection.junction.index()]
            .requests
            .len();
        connection.request = connection
            .via
            .iter()
            .filter_map(|lane| place_of[lane.index()])
            .filter(|&(junction, place)| junction == connection.junction && (place as usize) < rows)
            .map(|(_, place)| place)
            .next_back();
    }
    // Elsewhere SUMO counts the connections of the incoming lanes in order.
    for (junction, lanes) in internal_lanes.iter().enumerate() {
        let rows = network.junctions[junction].requests.len();
        if !lanes.is_empty() || rows == 0 {
            continue;
        }
        let links = network.junctions[junction]
            .incoming
            .iter()
            .flat_map(|lane| &network.lanes[lane.index()].outgoing);
        for (row, connection) in (0..).zip(links.take(rows)) {
            network.connections[connection.index()].request = Some(row);
        }
    }
}
