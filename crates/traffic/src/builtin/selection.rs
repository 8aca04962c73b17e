//! Which parts of a network vehicles use: lanes, ways over junctions, the main road, and what to leave out.

use super::config::{BuiltinError, DeadEnds};
use covey_world::network::{ConnectionIx, EdgeIx, EdgeKind, JunctionKind, LaneIx, Network, Turn};

/// A connection that can be driven, or a turn back at a dead end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) from: LaneIx,
    pub(crate) to: LaneIx,
    /// The connection; none for a turn back.
    pub(crate) connection: Option<ConnectionIx>,
    pub(crate) turn: Turn,
}

pub(crate) fn check_indices(network: &Network) -> Result<(), BuiltinError> {
    let lane = |l: LaneIx| l.index() < network.lanes.len();
    let fault = |what: String| Err(BuiltinError::Network { what });
    for edge in &network.edges {
        if !edge.lanes.iter().all(|&l| lane(l)) {
            return fault(format!(
                "edge `{}` names a lane that is not there",
                edge.name
            ));
        }
    }
    for l in &network.lanes {
        if l.edge.index() >= network.edges.len() {
            return fault(format!("lane `{}` belongs to no edge", l.name));
        }
    }
    for (i, c) in network.connections.iter().enumerate() {
        let signal = c
            .signal
            .is_none_or(|(s, _)| s.index() < network.signals.len());
        if !lane(c.from)
            || !lane(c.to)
            || !c.via.iter().all(|&l| lane(l))
            || c.junction.index() >= network.junctions.len()
            || !signal
        {
            return fault(format!("connection {i} names a part that is not there"));
        }
    }
    Ok(())
}

/// All connections between usable lanes, and turns back where an edge ends without any.
pub(crate) fn ways(network: &Network, usable: &[bool]) -> Result<Vec<Way>, BuiltinError> {
    let mut ways = Vec::new();
    let mut has_exit = vec![false; network.edges.len()];
    for (i, c) in network.connections.iter().enumerate() {
        if !usable[c.from.index()] || !usable[c.to.index()] {
            continue;
        }
        let junction = &network.junctions[c.junction.index()];
        if let JunctionKind::Other(kind) = &junction.kind {
            return Err(BuiltinError::Junction {
                junction: junction.name.clone(),
                kind: kind.clone(),
            });
        }
        has_exit[network.lanes[c.from.index()].edge.index()] = true;
        ways.push(Way {
            from: c.from,
            to: c.to,
            connection: Some(ConnectionIx(i as u32)),
            turn: c.turn,
        });
    }
    for (i, edge) in network.edges.iter().enumerate() {
        let lanes = usable_lanes(network, i, usable);
        if has_exit[i] || lanes.is_empty() || edge.to.is_none() {
            continue;
        }
        let opposite = network
            .edges
            .iter()
            .position(|other| other.from == edge.to && other.to == edge.from);
        let Some(back) = opposite.map(|o| usable_lanes(network, o, usable)) else {
            continue;
        };
        // Nested turns, the innermost lane onto the innermost, so that they do not cross. A lane too many gets none.
        for (from, to) in lanes.iter().rev().zip(back.iter().rev()) {
            ways.push(Way {
                from: *from,
                to: *to,
                connection: None,
                turn: Turn::Around,
            });
        }
    }
    Ok(ways)
}

pub(crate) fn usable_lanes(network: &Network, edge: usize, usable: &[bool]) -> Vec<LaneIx> {
    network.edges[edge]
        .lanes
        .iter()
        .copied()
        .filter(|l| usable[l.index()])
        .collect()
}

/// Which lanes and which edges vehicles can use.
pub(crate) fn usable(network: &Network) -> (Vec<bool>, Vec<bool>) {
    let lanes: Vec<bool> = network
        .lanes
        .iter()
        .map(|lane| {
            lane.drivable
                && network.edges[lane.edge.index()].kind == EdgeKind::Normal
                && lane.shape.length() > 0.0
        })
        .collect();
    let edges = network
        .edges
        .iter()
        .map(|edge| edge.lanes.iter().any(|l| lanes[l.index()]))
        .collect();
    (lanes, edges)
}

/// The edges that make up the main road of `network`, by the rule of [`BuiltinConfig::main_edges`](super::BuiltinConfig::main_edges).
///
/// # Errors
/// If a prefix names no edge that motor vehicles may use, or the network is inconsistent.
pub fn main_road(network: &Network, prefixes: &[String]) -> Result<Vec<EdgeIx>, BuiltinError> {
    check_indices(network)?;
    let (_, in_use) = usable(network);
    let main = main_edges(network, &in_use, prefixes)?;
    Ok((0..network.edges.len() as u32)
        .filter(|&e| main[e as usize])
        .map(EdgeIx)
        .collect())
}

/// Which edges make up the main road.
pub(crate) fn main_edges(
    network: &Network,
    in_use: &[bool],
    prefixes: &[String],
) -> Result<Vec<bool>, BuiltinError> {
    let edges = &network.edges;
    if !prefixes.is_empty() {
        let mut main = vec![false; edges.len()];
        for prefix in prefixes {
            let mut found = false;
            for (i, edge) in edges.iter().enumerate() {
                if in_use[i] && edge.name.starts_with(prefix.as_str()) {
                    main[i] = true;
                    found = true;
                }
            }
            if !found {
                return Err(BuiltinError::NoSuchEdge {
                    prefix: prefix.clone(),
                });
            }
        }
        return Ok(main);
    }
    let of_use = || (0..edges.len()).filter(|&i| in_use[i]);
    let highest = of_use().map(|i| edges[i].priority).max();
    let lowest = of_use().map(|i| edges[i].priority).min();
    let most = of_use().map(|i| edges[i].lanes.len()).max();
    Ok((0..edges.len())
        .map(|i| {
            in_use[i]
                && if highest == lowest {
                    Some(edges[i].lanes.len()) == most
                } else {
                    Some(edges[i].priority) == highest
                }
        })
        .collect())
}

/// Takes out of use the edges that lead nowhere, until the rest can go round for ever.
pub(crate) fn drop_dead_ends(
    network: &Network,
    ways: &[Way],
    main: &[bool],
    in_use: &mut [bool],
    policy: DeadEnds,
) -> Result<Vec<EdgeIx>, BuiltinError> {
    let n = network.edges.len();
    let edge = |l: LaneIx| network.lanes[l.index()].edge.index();
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); n];
    for way in ways {
        into[edge(way.to)].push(edge(way.from));
    }
    let mut dropped = Vec::new();
    loop {
        let mut has_exit = vec![false; n];
        for way in ways {
            if in_use[edge(way.to)] {
                has_exit[edge(way.from)] = true;
            }
        }
        let mut reaches = vec![false; n];
        let mut todo: Vec<usize> = (0..n).filter(|&e| in_use[e] && main[e]).collect();
        for &e in &todo {
            reaches[e] = true;
        }
        while let Some(e) = todo.pop() {
            for &before in &into[e] {
                if in_use[before] && !reaches[before] {
                    reaches[before] = true;
                    todo.push(before);
                }
            }
        }
        let bad: Vec<usize> = (0..n)
            .filter(|&e| in_use[e] && (!has_exit[e] || !reaches[e]))
            .collect();
        let Some(&first) = bad.first() else {
            return Ok(dropped);
        };
        if policy == DeadEnds::Error {
            return Err(BuiltinError::DeadEnd {
                edge: network.edges[first].name.clone(),
                problem: if has_exit[first] {
                    "has no way back to the main road"
                } else {
                    "is a dead end: it has no connection onwards and no edge back"
                },
            });
        }
        for e in bad {
            in_use[e] = false;
            dropped.push(EdgeIx(e as u32));
        }
    }
}
