//! Small nets written by hand.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::map_error::{MapError, WarningKind, Warnings};
use crate::network::{EdgeKind, JunctionKind, Network, Turn};
use crate::xml::Limits;

/// A street that crosses another under a traffic light, with a waiting place inside the junction, a crossing for
/// pedestrians and a railway; left-hand traffic.
const CROSSING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<net version="1.20" junctionCornerDetail="5" lefthand="true">
    <location netOffset="-379464.22,-3944946.85" convBoundary="0,0,1,1" origBoundary="0,0,1,1" projParameter="+proj=utm +zone=54 +datum=WGS84"/>
    <type id="highway.primary" priority="12"><restriction vClass="bus" speed="3"/></type>
    <edge id=":J_0" function="internal">
        <lane id=":J_0_0" index="0" speed="13.9" length="20.00" shape="100,2 120,2"/>
    </edge>
    <edge id=":J_1" function="internal">
        <lane id=":J_1_0" index="0" speed="6" length="8.00" shape="100,2,7.5 106,4,7.5"/>
    </edge>
    <edge id=":J_2" function="internal">
        <lane id=":J_2_0" index="0" speed="6" length="0.00" shape="106,4"/>
    </edge>
    <edge id=":J_c0" function="crossing" crossingEdges="a">
        <lane id=":J_c0_0" index="0" allow="pedestrian" speed="1" length="6" width="4" shape="98,0 98,6"/>
    </edge>
    <edge id=":J_w0" function="walkingarea">
        <lane id=":J_w0_0" index="0" allow="pedestrian" speed="1" length="2" width="2" shape="98,-1 98,-2"/>
    </edge>
    <edge id="a" from="W" to="J" priority="3" type="highway.primary">
        <lane id="a_0" index="0" allow="pedestrian" speed="1.4" length="100.00" width="2.00" shape="0,-1 100,-1"/>
        <lane id="a_1" index="1" disallow="pedestrian tram" speed="13.89" length="100.00" shape="0,2 100,2"><param key="k" value="v"/></lane>
    </edge>
    <edge id="b" from="J" to="E" priority="3">
        <lane id="b_0" index="0" speed="13.89" length="80.00" shape="120,2 200,2"/>
    </edge>
    <edge id="n" from="J" to="N" priority="1">
        <lane id="n_0" index="0" speed="8" length="50.00" width="3.50" shape="106,10 106,60"/>
    </edge>
    <edge id="rail" from="W" to="E" priority="1">
        <lane id="rail_0" index="0" allow="rail tram" speed="8" length="200" shape="0,30 200,30"/>
    </edge>
    <tlLogic id="light" type="static" programID="0" offset="12.5">
        <phase duration="31.00" state="Gr"/>
        <phase duration="4.00" state="yr"/>
        <phase duration="25.00" state="rG"/>
    </tlLogic>
    <junction id="J" type="traffic_light" x="110" y="5" incLanes="a_1 :J_w0_0" intLanes=":J_0_0 :J_2_0" shape="100,0 120,0 120,10">
        <request index="0" response="00" foes="10" cont="0"/>
        <request index="1" response="01" foes="01" cont="1"/>
    </junction>
    <junction id="W" type="dead_end" x="0" y="0" incLanes="" intLanes="" shape="0,0"/>
    <junction id="E" type="priority" x="200" y="0" incLanes="b_0" intLanes="" shape="200,0"/>
    <junction id="N" type="right_before_left" x="106" y="60" incLanes="n_0" intLanes="" shape=""/>
    <junction id=":J_2_0" type="internal" x="106" y="4" incLanes=":J_1_0" intLanes=":J_0_0"/>
    <connection from="a" to="b" fromLane="1" toLane="0" via=":J_0_0" tl="light" linkIndex="0" dir="s" state="O"/>
    <connection from="a" to="n" fromLane="1" toLane="0" via=":J_1_0" tl="light" linkIndex="1" dir="r" state="o"/>
    <connection from="a" to=":J_w0" fromLane="0" toLane="0" dir="s" state="M"/>
    <connection from=":J_0" to="b" fromLane="0" toLane="0" dir="s" state="M"/>
    <connection from=":J_1" to="n" fromLane="0" toLane="0" via=":J_2_0" dir="r" state="m"/>
    <connection from=":J_2" to="n" fromLane="0" toLane="0" dir="r" state="M"/>
    <roundabout nodes="J" edges="a b"/>
</net>
"#;

fn read(text: &str) -> Result<(Network, Warnings), MapError> {
    Network::read_from("test.net.xml", text.as_bytes(), Limits::default())
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn lanes_and_edges_are_read_with_widths_and_permissions() {
    let (net, _) = read(CROSSING).unwrap();
    assert!(net.left_hand);
    let lane = |name: &str| net.lanes.iter().find(|lane| lane.name == name).unwrap();
    assert_eq!(lane("a_1").width, 3.2);
    assert_eq!(lane("n_0").width, 3.5);
    assert_eq!(lane("a_1").index, 1);
    assert_eq!(lane("a_1").length, 100.0);
    // Heights are passed over.
    assert_eq!(lane(":J_1_0").shape.length(), 40.0_f64.sqrt());
    assert_eq!(lane(":J_2_0").shape.length(), 0.0);
    let drivable: Vec<&str> = net
        .lanes
        .iter()
        .filter(|lane| lane.drivable)
        .map(|lane| lane.name.as_str())
        .collect();
    assert_eq!(
        drivable,
        [":J_0_0", ":J_1_0", ":J_2_0", "a_1", "b_0", "n_0"]
    );
    let edge = |name: &str| net.edges.iter().find(|edge| edge.name == name).unwrap();
    assert_eq!(edge("a").road_type, "highway.primary");
    assert_eq!(edge(":J_c0").kind, EdgeKind::Pedestrian);
    assert_eq!(edge(":J_0").kind, EdgeKind::Internal);
    let end = edge("a").to.unwrap();
    assert_eq!(net.junctions[end.index()].name, "J");
}

#[test]
fn paths_over_the_junction_follow_the_internal_lanes() {
    let (net, _) = read(CROSSING).unwrap();
    let paths: Vec<(Vec<&str>, Turn, Option<u32>)> = net
        .connections
        .iter()
        .map(|connection| {
            let lanes = connection
                .via
                .iter()
                .map(|lane| net.lanes[lane.index()].name.as_str())
                .collect();
            (lanes, connection.turn, connection.request)
        })
        .collect();
    assert_eq!(
        paths,
        [
            (vec![":J_0_0"], Turn::Straight, Some(0)),
            (vec![":J_1_0", ":J_2_0"], Turn::Right, Some(1)),
        ]
    );
    let a = net.lanes.iter().find(|lane| lane.name == "a_1").unwrap();
    assert_eq!(a.outgoing.len(), 2);
    let (signal, place) = net.connections[1].signal.unwrap();
    assert_eq!(
        (net.signals[signal.index()].name.as_str(), place),
        ("light", 1)
    );
}

#[test]
fn the_last_character_of_a_row_is_request_0() {
    let (net, _) = read(CROSSING).unwrap();
    let junction = net.junctions.iter().find(|j| j.name == "J").unwrap();
    assert_eq!(junction.requests[0].yields_to, [false, false]);
    assert_eq!(junction.requests[0].foes, [false, true]);
    assert_eq!(junction.requests[1].yields_to, [true, false]);
    assert!(junction.requests[1].waits_inside);
    assert_eq!(junction.incoming.len(), 1);
}

#[test]
fn junction_types_lights_and_location_are_read() {
    let (net, _) = read(CROSSING).unwrap();
    let kinds: Vec<(&str, &JunctionKind)> = net
        .junctions
        .iter()
        .map(|junction| (junction.name.as_str(), &junction.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("J", &JunctionKind::TrafficLight),
            ("W", &JunctionKind::Open),
            ("E", &JunctionKind::Priority),
            ("N", &JunctionKind::Other("right_before_left".to_owned())),
        ]
    );
    let light = &net.signals[0];
    assert_eq!(light.offset, 12.5);
    assert_eq!(light.phases[1].duration, 4.0);
    assert_eq!(light.phases[1].state, b"yr");
    let location = net.location.unwrap();
    assert_eq!(location.offset.x, -379_464.22);
    assert!(location.projection.starts_with("+proj=utm"));
}

#[test]
fn what_is_left_out_is_counted() {
    let (_, warnings) = read(CROSSING).unwrap();
    let counts: Vec<(WarningKind, &str, u64)> = warnings
        .iter()
        .map(|(kind, detail, count)| (kind, detail, count.count))
        .collect();
    assert_eq!(
        counts,
        [
            (WarningKind::SkippedElement, "roundabout", 1),
            (WarningKind::JunctionType, "right_before_left", 1),
            (WarningKind::EdgeFunction, "crossing", 1),
            (WarningKind::EdgeFunction, "walkingarea", 1),
            (WarningKind::ClosedLane, "", 4),
            (WarningKind::ZeroLengthLane, "", 1),
            (WarningKind::PedestrianConnection, "", 1),
        ]
    );
}

#[test]
fn a_net_without_internal_lanes_counts_requests_as_sumo_does() {
    let text = r#"<net>
        <edge id="a" from="A" to="J"><lane id="a_0" speed="9" length="9" shape="0,0 9,0"/></edge>
        <edge id="b" from="B" to="J"><lane id="b_0" speed="9" length="9" shape="20,0 11,0"/></edge>
        <edge id="c" from="J" to="A"><lane id="c_0" speed="9" length="9" shape="10,1 10,9"/></edge>
        <junction id="A" type="dead_end" x="0" y="0"/>
        <junction id="B" type="dead_end" x="0" y="0"/>
        <junction id="J" type="priority" x="10" y="0" incLanes="b_0 a_0" intLanes="">
            <request index="1" response="01" foes="01"/>
            <request index="0" response="00" foes="10"/>
        </junction>
        <connection from="a" to="c" fromLane="0" toLane="0" dir="l"/>
        <connection from="b" to="c" fromLane="0" toLane="0" dir="r"/>
    </net>"#;
    let (net, warnings) = read(text).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    assert_eq!(net.connections[0].request, Some(1));
    assert_eq!(net.connections[1].request, Some(0));
    assert!(net.connections[0].via.is_empty());
    let junction = &net.junctions[2];
    assert_eq!(junction.requests[1].yields_to, [true, false]);
}

#[test]
fn the_last_program_of_a_light_is_in_force_unless_a_plan_says_otherwise() {
    let programs = r#"<tlLogic id="x" programID="0"><phase duration="5" state="G"/></tlLogic>
        <tlLogic id="x" programID="1"><phase duration="6" state="G"/></tlLogic>
        <tlLogic id="x" programID="2"><phase duration="7" state="G"/></tlLogic>"#;
    let (net, warnings) = read(&format!("<net>{programs}</net>")).unwrap();
    assert_eq!(net.signals.len(), 1);
    assert_eq!(net.signals[0].phases[0].duration, 7.0);
    assert_eq!(warnings.count(WarningKind::SpareProgram), 2);
    let plan = r#"<WAUT id="w" startProg="1"/><wautJunction wautID="w" junctionID="x"/>"#;
    let (net, _) = read(&format!("<net>{plan}{programs}</net>")).unwrap();
    assert_eq!(net.signals[0].phases[0].duration, 6.0);
}

#[test]
fn gzip_is_known_by_its_bytes() {
    let packed = gzip(CROSSING);
    let (plain, _) = read(CROSSING).unwrap();
    let (unpacked, _) =
        Network::read_from("no-gz-in-the-name", &packed[..], Limits::default()).unwrap();
    assert_eq!(plain, unpacked);
    let cut = &packed[..packed.len() / 2];
    let error = Network::read_from("cut.net.xml.gz", cut, Limits::default())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("cut.net.xml.gz, line "), "{error}");
    assert!(error.contains("gzip stream is cut short"), "{error}");
}

#[test]
fn a_gzip_bomb_is_stopped() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"<net>").unwrap();
    let blank = vec![b'\n'; 1 << 20];
    for _ in 0..80 {
        encoder.write_all(&blank).unwrap();
    }
    encoder.write_all(b"</net>").unwrap();
    let bomb = encoder.finish().unwrap();
    let limits = Limits {
        max_element_bytes: u64::MAX,
        ..Limits::default()
    };
    let error = Network::read_from("bomb.gz", &bomb[..], limits).unwrap_err();
    assert!(matches!(error, MapError::TooLarge { .. }), "{error}");
    let small = Limits {
        max_bytes: 1000,
        ..Limits::default()
    };
    let error = Network::read_from("big.xml", CROSSING.as_bytes(), small).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("unpacks to more than 1000 bytes"),
        "{error}"
    );
    let error = Network::read_from("bomb.gz", &bomb[..], Limits::default()).unwrap_err();
    assert!(error.to_string().contains("one element"), "{error}");
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a table of broken nets and what is said of each"
)]
fn errors_name_line_element_and_attribute() {
    let cases = [
        (
            CROSSING.replace(r#"shape="0,2 100,2""#, r#"shape="0,2 nan,2""#),
            "test.net.xml, line 23: <lane id=\"a_1\">: `shape` is \"nan,2\"",
        ),
        (
            CROSSING.replace(r#"shape="0,2 100,2""#, r#"shape="0,2 1e300,2""#),
            "test.net.xml, line 23: <lane id=\"a_1\">: `shape` is \"1e300,2\"",
        ),
        (
            CROSSING.replace(r#"shape="0,2 100,2""#, ""),
            "test.net.xml, line 23: <lane id=\"a_1\"> has no `shape`",
        ),
        (
            CROSSING.replace(r#"speed="13.89" length="80.00""#, r#"length="80.00""#),
            "test.net.xml, line 26: <lane id=\"b_0\"> has no `speed`",
        ),
        (
            CROSSING.replace(r#"length="80.00""#, r#"length="-80.00""#),
            "test.net.xml, line 26: <lane id=\"b_0\">: `length` is \"-80\"",
        ),
        (
            CROSSING.replace(r#"x="110""#, r#"x="inf""#),
            "test.net.xml, line 39: <junction id=\"J\">: `x` is \"inf\"",
        ),
        (
            CROSSING.replace(r#"incLanes="b_0""#, r#"incLanes="gone_0""#),
            "test.net.xml, line 44: <junction id=\"E\">: `incLanes` names \"gone_0\", but the file has no such lane",
        ),
        (
            CROSSING.replace(r#"from="J" to="E""#, r#"from="J" to="X""#),
            "test.net.xml, line 25: <edge id=\"b\">: `to` names \"X\", but the file has no such junction",
        ),
        (
            CROSSING.replace(r#"to="b" fromLane="1""#, r#"to="b" fromLane="5""#),
            "test.net.xml, line 47: <connection from=\"a\" to=\"b\">: `fromLane` names \"a_5\"",
        ),
        (
            CROSSING.replace(r#"via=":J_0_0""#, r#"via=":J_9_0""#),
            "test.net.xml, line 47: <connection from=\"a\" to=\"b\">: `via` names \":J_9_0\"",
        ),
        (
            CROSSING.replace(r#"foes="10""#, r#"foes="101""#),
            "test.net.xml, line 40: <request> of junction \"J\": `foes` is \"3 bits\"",
        ),
        (
            CROSSING.replace(r#"index="1" response"#, r#"index="4000000000" response"#),
            "test.net.xml, line 41: <request> of junction \"J\": `index` is \"4000000000\"",
        ),
        (
            CROSSING.replace(r#"linkIndex="1""#, r#"linkIndex="2""#),
            "test.net.xml, line 48: <connection from=\"a\" to=\"n\">: `linkIndex` is \"2\"",
        ),
        (
            CROSSING.replace(r#"state="yr""#, r#"state="yrr""#),
            "test.net.xml, line 36: <phase>: `state` is \"yrr\"",
        ),
        (
            CROSSING.replace(r#"<edge id="n""#, r#"<edge id="b""#),
            "test.net.xml, line 28: <edge id=\"b\">: the id was used before",
        ),
        (
            "<additional/>".to_owned(),
            "test.net.xml, line 1: the outermost element is <additional>, expected <net>",
        ),
        (
            "<net>\n<edge id=\"a\" from=\"x\" to=\"y\"/></net>".to_owned(),
            "test.net.xml, line 2: <edge id=\"a\"> has no `lane`",
        ),
        (
            "<net>\n<tlLogic id=\"t\"><phase duration=\"0\" state=\"r\"/></tlLogic></net>"
                .to_owned(),
            "test.net.xml, line 2: <tlLogic id=\"t\">: `duration` is \"0 in all phases\"",
        ),
        (
            CROSSING.replace("</net>", ""),
            "test.net.xml, line 55: not well-formed XML: the file ends with 1 elements still open",
        ),
    ];
    for (text, expected) in cases {
        let found = error(&text);
        assert!(found.starts_with(expected), "{found}\nexpected {expected}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Network::read(std::path::Path::new("no/such.net.xml"), Limits::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("no/such.net.xml: cannot be opened"),
        "{error}"
    );
}

#[test]
fn internal_lanes_in_a_ring_end() {
    let text = CROSSING.replace(
        r#"<connection from=":J_2" to="n" fromLane="0" toLane="0""#,
        r#"<connection from=":J_2" to="n" fromLane="0" toLane="0" via=":J_1_0""#,
    );
    let (net, warnings) = read(&text).unwrap();
    assert_eq!(net.connections[1].via.len(), 2);
    assert_eq!(warnings.count(WarningKind::EndlessInternalPath), 1);
}

#[test]
fn a_file_cut_anywhere_is_an_error_and_no_panic() {
    let end = CROSSING.trim_end().len();
    for cut in 0..end {
        let text = &CROSSING.as_bytes()[..cut];
        let result = Network::read_from("cut", text, Limits::default());
        assert!(result.is_err(), "cut at {cut}");
    }
    let packed = gzip(CROSSING);
    for cut in 0..packed.len() - 8 {
        let result = Network::read_from("cut", &packed[..cut], Limits::default());
        assert!(result.is_err(), "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Network::read_from("any", &bytes[..], Limits::default());
    }

    /// Damage inside a good file gets deeper than random bytes do.
    #[test]
    fn damaged_files_are_read_or_refused(
        changes in proptest::collection::vec((0..CROSSING.len(), any::<u8>()), 1..12)
    ) {
        let mut bytes = CROSSING.as_bytes().to_vec();
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        if let Ok((net, _)) = Network::read_from("damaged", &bytes[..], Limits::default()) {
            // Whatever is read is consistent: every index points into its array.
            for connection in &net.connections {
                prop_assert!(connection.from.index() < net.lanes.len());
                prop_assert!(connection.junction.index() < net.junctions.len());
                let rows = net.junctions[connection.junction.index()].requests.len();
                prop_assert!(connection.request.is_none_or(|row| (row as usize) < rows));
            }
            for edge in &net.edges {
                prop_assert!(!edge.lanes.is_empty());
            }
        }
    }
}

#[test]
fn oddities_of_published_nets_are_read() {
    // Both stand in nets that come with SUMO: a link that its light does not rule, and internal lanes all numbered 0.
    let text = CROSSING
        .replace(r#"tl="light" linkIndex="0""#, r#"tl="light" linkIndex="-1""#)
        .replace(
            "</edge>\n    <edge id=\":J_1\"",
            "<lane id=\":J_0_1\" index=\"0\" speed=\"9\" length=\"9\" shape=\"0,0 9,0\"/></edge>\n    <edge id=\":J_1\"",
        );
    let (net, _) = read(&text).unwrap();
    assert_eq!(net.connections[0].signal, None);
    assert_eq!(net.lanes[1].name, ":J_0_1");
    assert_eq!(net.lanes[1].index, 1);
}
