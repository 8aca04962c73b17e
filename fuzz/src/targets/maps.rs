//! Maps: any bytes are a map or an error that names the file; what a network holds refers to itself only.

use covey_world::paths::{ConflictTable, Predictor};
use covey_world::polygons::{BuildingRule, read_buildings_from};
use covey_world::xml::Limits;
use covey_world::{Network, Warnings};

const STRAIGHT: &[u8] = include_bytes!("../../../scenarios/toy/straight/straight.net.xml");
const JUNCTION: &[u8] =
    include_bytes!("../../../scenarios/toy/blind-junction/blind-junction.net.xml");
const BUILDINGS: &[u8] =
    include_bytes!("../../../scenarios/toy/blind-junction/blind-junction.poly.xml");

pub(crate) fn network(bytes: &[u8]) {
    match Network::read_from("fuzz.net.xml", bytes, Limits::default()) {
        Err(error) => assert!(error.to_string().contains("fuzz.net.xml"), "{error}"),
        Ok((network, _)) => {
            check(&network);
            let _ = ConflictTable::new(&network, &Predictor::new(&network));
        }
    }
}

/// Every index points to something.
fn check(network: &Network) {
    let lanes = network.lanes.len();
    for lane in &network.lanes {
        assert!(lane.edge.index() < network.edges.len());
        assert!(lane.length.is_finite() && lane.shape.length().is_finite());
        for connection in lane.outgoing.iter().chain(&lane.incoming) {
            assert!(connection.index() < network.connections.len());
        }
    }
    for edge in &network.edges {
        assert!(edge.lanes.iter().all(|lane| lane.index() < lanes));
        for junction in edge.from.iter().chain(&edge.to) {
            assert!(junction.index() < network.junctions.len());
        }
    }
    for connection in &network.connections {
        assert!(connection.from.index() < lanes && connection.to.index() < lanes);
        assert!(connection.via.iter().all(|lane| lane.index() < lanes));
        let junction = &network.junctions[connection.junction.index()];
        assert!(
            connection
                .request
                .is_none_or(|r| (r as usize) < junction.requests.len())
        );
        assert!(
            connection
                .signal
                .is_none_or(|(s, _)| s.index() < network.signals.len())
        );
    }
}

pub(crate) fn buildings(bytes: &[u8]) {
    let mut warnings = Warnings::default();
    let rule = BuildingRule::default();
    let limits = Limits::default();
    match read_buildings_from("fuzz.poly.xml", bytes, &rule, None, limits, &mut warnings) {
        Err(error) => assert!(error.to_string().contains("fuzz.poly.xml"), "{error}"),
        Ok(buildings) => {
            for building in buildings {
                assert!(building.outline.len() >= 3 && building.height >= 0.0);
                assert!(building.outline.iter().all(|p| p.is_finite()));
            }
        }
    }
}

pub(crate) fn network_seeds() -> Vec<Vec<u8>> {
    vec![STRAIGHT.to_vec(), JUNCTION.to_vec()]
}

pub(crate) fn building_seeds() -> Vec<Vec<u8>> {
    vec![BUILDINGS.to_vec()]
}

/// The network on which recordings are fuzzed.
pub(crate) fn straight_road() -> Network {
    match Network::read_from("straight.net.xml", STRAIGHT, Limits::default()) {
        Ok((network, _)) => network,
        Err(error) => panic!("the bundled map is broken: {error}"),
    }
}
