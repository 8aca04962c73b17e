//! Toy maps: small nets that a person can hold in mind.

use std::path::Path;

use super::buildings::Building;
use super::roads::{Plain, types};
use super::shapes::{Convex, point};
use super::{Stored, output, polygon_file};

/// A toy map: its name, whether traffic drives on the left, plain XML, buildings.
struct Toy {
    name: &'static str,
    left_hand: bool,
    nodes: &'static str,
    edges: &'static str,
    connections: &'static str,
    buildings: Vec<Building>,
}

pub(crate) fn all(root: &Path, folder: &Path) -> Result<Vec<Stored>, String> {
    let netconvert = output::netconvert(root)?;
    let mut files = Vec::new();
    for toy in [blind_junction(), bus(), straight()] {
        let plain = Plain {
            nodes: format!("<nodes>{}</nodes>\n", toy.nodes),
            edges: format!("<edges>{}</edges>\n", toy.edges),
            connections: format!("<connections>{}</connections>\n", toy.connections),
            lights: "<tlLogics/>\n".to_owned(),
        };
        let net = output::convert(
            &netconvert,
            &folder.join(toy.name),
            &types(),
            &plain,
            toy.left_hand,
        )?;
        let path = |ending: &str| format!("toy/{0}/{0}.{ending}", toy.name).into();
        files.push((path("net.xml"), net.into_bytes()));
        if !toy.buildings.is_empty() {
            files.push((
                path("poly.xml"),
                polygon_file(&toy.buildings, "").into_bytes(),
            ));
        }
    }
    Ok(files)
}

/// A box from corner to corner.
fn block(x: (f64, f64), y: (f64, f64), height: f64) -> Option<Building> {
    let outline = Convex::new(vec![
        point(x.0, y.0),
        point(x.1, y.0),
        point(x.1, y.1),
        point(x.0, y.1),
    ])?;
    Some(Building {
        outline,
        height,
        frontage: true,
    })
}

/// A main road from west to east and a street from south to north that gives way; both southern corners are built up,
/// 3 m from the kerbs. Left-hand traffic.
fn blind_junction() -> Toy {
    Toy {
        name: "blind-junction",
        left_hand: true,
        nodes: r#"
    <node id="C" x="0" y="0" type="priority"/>
    <node id="W" x="-200" y="0" type="priority"/>
    <node id="E" x="200" y="0" type="priority"/>
    <node id="S" x="0" y="-200" type="priority"/>
    <node id="N" x="0" y="200" type="priority"/>
"#,
        edges: r#"
    <edge id="WC" from="W" to="C" type="highway.secondary" numLanes="1"/>
    <edge id="CW" from="C" to="W" type="highway.secondary" numLanes="1"/>
    <edge id="EC" from="E" to="C" type="highway.secondary" numLanes="1"/>
    <edge id="CE" from="C" to="E" type="highway.secondary" numLanes="1"/>
    <edge id="SC" from="S" to="C" type="highway.tertiary" numLanes="1"/>
    <edge id="CS" from="C" to="S" type="highway.tertiary" numLanes="1"/>
    <edge id="NC" from="N" to="C" type="highway.tertiary" numLanes="1"/>
    <edge id="CN" from="C" to="N" type="highway.tertiary" numLanes="1"/>
"#,
        connections: "",
        buildings: [
            block((-60.0, -6.0), (-60.0, -6.0), 12.0),
            block((6.0, 60.0), (-60.0, -6.0), 12.0),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

/// A straight road of two lanes a direction, wide open: what hides a lane is a bus on the next one. Right-hand traffic.
fn bus() -> Toy {
    Toy {
        name: "bus",
        left_hand: false,
        nodes: r#"
    <node id="A" x="0" y="0" type="priority"/>
    <node id="B" x="400" y="0" type="priority"/>
"#,
        edges: r#"
    <edge id="AB" from="A" to="B" type="highway.secondary" numLanes="2"/>
    <edge id="BA" from="B" to="A" type="highway.secondary" numLanes="2"/>
"#,
        connections: "",
        buildings: Vec::new(),
    }
}

/// One kilometre of road, one lane a direction. Right-hand traffic.
fn straight() -> Toy {
    Toy {
        name: "straight",
        left_hand: false,
        nodes: r#"
    <node id="A" x="0" y="0" type="priority"/>
    <node id="B" x="1000" y="0" type="priority"/>
"#,
        edges: r#"
    <edge id="AB" from="A" to="B" type="highway.secondary" numLanes="1"/>
    <edge id="BA" from="B" to="A" type="highway.secondary" numLanes="1"/>
"#,
        connections: "",
        buildings: Vec::new(),
    }
}
