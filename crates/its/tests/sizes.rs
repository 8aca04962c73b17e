//! What messages cost in bytes: the tables of the documentation, and the size model of simulations, against encoded messages.

use std::fmt::Write as _;

use c_its_parser::standards::cdd_2_2_1::etsi_its_cdd as cdd;
use covey_its::cam::PathPoint;
use covey_its::frame::HEADERS_LEN;
use covey_its::numbering::FIRST_LABEL;
use covey_its::sizes::{self, CpmContent, FusedCounts, Sender};
use covey_its::{Cam, CarriedDigest, Cpm, CpmObject, FusedState, Sensor, samples};
use covey_protocol::{Cell, CoverageDigest};
use rasn::prelude::*;

fn cam(path: Option<usize>, digest_cells: Option<i32>) -> Cam {
    let point = PathPoint {
        latitude: -100,
        longitude: 200,
        age: Some(20),
    };
    Cam {
        path: path.map(|points| vec![point; points]),
        digest: digest_cells.map(|cells| {
            let row = (0..cells).map(|ix| Cell::new(ix * 2, 0)).collect();
            CarriedDigest::Cells(CoverageDigest::new(row).unwrap())
        }),
        ..samples::cam()
    }
}

fn cpm(content: CpmContent, segmented: bool) -> Cpm {
    let segment = segmented.then_some((1, 2));
    let counts = match content {
        CpmContent::Report { objects, sender } => {
            let report = samples::report(objects as u16);
            let sector = Sensor {
                sector: Some([3_000, 600]),
                ..samples::sensor()
            };
            return Cpm {
                segment,
                sensors: [
                    vec![samples::sensor(); sender.circles],
                    vec![sector; sender.sectors],
                ]
                .concat(),
                orientation: report.orientation.filter(|_| !sender.roadside),
                ..report
            };
        }
        CpmContent::Fused(counts) => counts,
    };
    let object = |index: usize| CpmObject {
        id: Some(if index < counts.stations {
            index as u16
        } else {
            FIRST_LABEL + index as u16
        }),
        ..samples::object(index as u16)
    };
    Cpm {
        segment,
        objects: (0..counts.stations + counts.labels).map(object).collect(),
        fused: Some(FusedState {
            contributors: vec![3_000_000_001; counts.contributors],
            requested: vec![3_000_000_001; counts.requested],
            withdrawn_stations: vec![3_000_000_001; counts.withdrawn_stations],
            withdrawn: vec![FIRST_LABEL; counts.withdrawn_labels],
            stations: vec![3_000_000_001; counts.stations],
            ..samples::fused(0, 0)
        }),
        ..samples::report(0)
    }
}

fn bytes(content: CpmContent) -> usize {
    cpm(content, false).encode().unwrap().len()
}

fn reports(objects: usize, circles: usize) -> usize {
    let sender = Sender {
        circles,
        ..Sender::default()
    };
    bytes(CpmContent::Report { objects, sender })
}

fn fused(counts: FusedCounts) -> usize {
    bytes(CpmContent::Fused(counts))
}

#[test]
fn the_size_model_is_exact() {
    for low in [false, true] {
        let path = low.then_some(0);
        assert_eq!(
            sizes::cam(low, None),
            cam(path, None).encode().unwrap().len()
        );
        for cells in [1, 2, 30, 100] {
            let cam = cam(path, Some(cells));
            let Some(CarriedDigest::Cells(digest)) = &cam.digest else {
                unreachable!()
            };
            assert_eq!(
                sizes::cam(low, Some(digest.encoded_len())),
                cam.encode().unwrap().len(),
                "{cells} cells"
            );
        }
    }
    let exact = |content| {
        for segmented in [false, true] {
            let encoded = cpm(content, segmented).encode().unwrap().len();
            assert_eq!(sizes::cpm(content, segmented), Some(encoded), "{content:?}");
        }
    };
    for objects in (0..=40).chain([64, 127, 128, 254, 255]) {
        for (circles, sectors, roadside) in [
            (0, 0, false),
            (1, 0, false),
            (2, 0, true),
            (5, 3, false),
            (0, 1, true),
            (0, 2, false),
        ] {
            let sender = Sender {
                roadside,
                circles,
                sectors,
            };
            exact(CpmContent::Report { objects, sender });
        }
        for stations in [0, objects / 3, objects] {
            for lists in [0, 1, 3, 30, 255] {
                exact(CpmContent::Fused(FusedCounts {
                    stations,
                    labels: objects - stations,
                    withdrawn_stations: lists,
                    withdrawn_labels: lists / 2,
                    contributors: lists % 40,
                    requested: lists / 3,
                }));
            }
        }
    }
    let report = |objects| CpmContent::Report {
        objects,
        sender: Sender::default(),
    };
    assert_eq!(sizes::cpm(report(256), false), None);
    let too_many = FusedCounts {
        requested: 256,
        ..FusedCounts::default()
    };
    assert_eq!(sizes::cpm(CpmContent::Fused(too_many), false), None);
    let one = sizes::cpm(report(10), false).unwrap();
    assert_eq!(sizes::on_air(report(10), 1_394), Some(one + HEADERS_LEN));
    // One message after the other is filled.
    let most = (1..=255)
        .rfind(|&objects| sizes::cpm(report(objects), true).is_some_and(|bytes| bytes <= 1_394))
        .unwrap();
    let segment = |objects| sizes::cpm(report(objects), true).unwrap() + HEADERS_LEN;
    assert_eq!(
        sizes::on_air(report(100), 1_394),
        Some(segment(most) + segment(100 - most))
    );
    assert_eq!(sizes::on_air(report(2_000), 1_394), None);
    assert_eq!(sizes::on_air(report(1), 20), None);
}

#[test]
fn a_road_side_units_cam_has_no_motion() {
    for digest in [None, Some(1), Some(30)] {
        let car = cam(None, digest);
        let length = match &car.digest {
            Some(CarriedDigest::Cells(digest)) => Some(digest.encoded_len()),
            _ => None,
        };
        let roadside = Cam {
            station_type: covey_its::cam::ROADSIDE_UNIT,
            heading: None,
            speed: None,
            backward: None,
            length: None,
            width: None,
            ..car
        };
        let encoded = roadside.encode().unwrap().len();
        assert_eq!(sizes::roadside_cam(length), encoded);
    }
}

#[test]
fn the_model_goes_on_where_a_sender_would_have_to_choose() {
    let model = sizes::Model::new();
    // 41 bytes, 43 with a low-frequency container, 57 with a digest of 13 bytes; 44 bytes of GeoNetworking and BTP.
    assert_eq!(model.cam(None, false), 85);
    assert_eq!(model.cam(Some(13), true), 103);
    assert!((model.mean_cam(Some(13)) - 101.4).abs() < 1e-9);
    let nine = sizes::Model {
        path_points: 9,
        ..model
    };
    let encoded = cam(Some(9), None).encode().unwrap().len();
    assert_eq!(nine.cam(None, true), encoded + HEADERS_LEN);
    // 450 objects are more than eight messages; each further one costs what it costs in a full message.
    let mut last = 0;
    for objects in 0..=3_000 {
        let bytes = model.cpm(objects, true);
        assert!(bytes > last, "{objects} objects in {bytes} bytes");
        last = bytes;
    }
    assert!((24.0..28.0).contains(&(last as f64 / 3_000.0)), "{last}");
    // Lists that no message of 1394 bytes can hold.
    let listed = |withdrawn: usize, named: usize| {
        model.fused(FusedCounts {
            stations: 10,
            labels: 0,
            withdrawn_stations: withdrawn,
            withdrawn_labels: withdrawn,
            contributors: named,
            requested: named,
        })
    };
    assert!(listed(1_000, 0) > 6_000);
    assert_eq!(
        listed(5_000, 300),
        listed(1_023, 255),
        "no list is longer than its field"
    );
    // Messages that hold nothing at all are counted as if they held one entry each.
    let tiny = sizes::Model {
        max_bytes: 1,
        ..model
    };
    assert!(tiny.cpm(3, false) > model.cpm(3, false));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of messages and their sizes")]
fn the_documented_sizes_are_those_of_encoded_messages() {
    let documentation = include_str!("../../../docs/messages.md");
    let mut table = String::from("| CAM | message | with GN + BTP | letter |\n|---|---|---|---|\n");
    for (name, path, digest, letter) in [
        ("high-frequency container", None, None, "121"),
        (
            "high-frequency container, 13-byte digest",
            None,
            Some(1),
            "121 + 13 = 134",
        ),
        ("and low-frequency container", Some(0), None, "121"),
        (
            "and low-frequency container, 13-byte digest",
            Some(0),
            Some(1),
            "121 + 13 = 134",
        ),
        ("and 10 path points", Some(10), None, "121"),
        (
            "and 10 path points, 13-byte digest",
            Some(10),
            Some(1),
            "121 + 13 = 134",
        ),
    ] {
        let bytes = cam(path, digest).encode().unwrap().len();
        writeln!(
            table,
            "| {name} | {bytes} | {} | {letter} |",
            bytes + HEADERS_LEN
        )
        .unwrap();
    }
    table += "\n| objects | CPM | with sensor | with GN + BTP | letter, 121 + 35 + 35 n |\n|---|---|---|---|---|\n";
    for objects in [1, 2, 5, 10, 20, 32, 64] {
        let (without, with) = (reports(objects, 0), reports(objects, 1));
        writeln!(
            table,
            "| {objects} | {without} | {with} | {} | {} |",
            with + HEADERS_LEN,
            156 + 35 * objects
        )
        .unwrap();
    }
    table += "\n| fused state | message | each |\n|---|---|---|\n";
    let none = FusedCounts::default();
    let empty = fused(none);
    writeln!(table, "| without lists | {empty} | |").unwrap();
    for (name, counts) in [
        ("20 objects with labels", FusedCounts { labels: 20, ..none }),
        (
            "20 objects that are stations",
            FusedCounts {
                stations: 20,
                ..none
            },
        ),
        (
            "20 contributors",
            FusedCounts {
                contributors: 20,
                ..none
            },
        ),
        (
            "20 requested stations",
            FusedCounts {
                requested: 20,
                ..none
            },
        ),
        (
            "20 withdrawn stations",
            FusedCounts {
                withdrawn_stations: 20,
                ..none
            },
        ),
        (
            "20 withdrawn labels",
            FusedCounts {
                withdrawn_labels: 20,
                ..none
            },
        ),
    ] {
        let bytes = fused(counts);
        let each = (bytes - empty) as f64 / 20.0;
        writeln!(table, "| {name} | {bytes} | {each:.1} |").unwrap();
    }
    assert!(
        documentation.contains(&table),
        "docs/messages.md should have:\n{table}"
    );
}

/// The alternative that was not taken: a message of its own, of the same ranges and resolutions.
#[derive(AsnType, Debug, Clone, Encode, Decode, PartialEq)]
#[rasn(automatic_tags)]
#[non_exhaustive]
struct OwnMessage {
    header: cdd::ItsPduHeader,
    reference_time: cdd::TimestampIts,
    latitude: cdd::Latitude,
    longitude: cdd::Longitude,
    #[rasn(value("-8388608..=8388607"))]
    tile_x: i32,
    #[rasn(value("-8388608..=8388607"))]
    tile_y: i32,
    #[rasn(value("0..=4294967295"))]
    sequence: u32,
    #[rasn(value("0..=4294967295"))]
    epoch: u32,
    #[rasn(value("0..=4294967295"))]
    tenure: u32,
    #[rasn(value("0..=16777215"))]
    price: u32,
    #[rasn(value("0..=65535"))]
    cycle_age: u16,
    #[rasn(value("0..=65535"))]
    unchanged_age: u16,
    #[rasn(value("0..=65535"))]
    lease: u16,
    #[rasn(value("0..=3"))]
    content: u8,
    full: bool,
    #[rasn(size("0..=255"))]
    contributors: SequenceOf<cdd::StationId>,
    #[rasn(size("0..=255"))]
    requested: SequenceOf<cdd::StationId>,
    #[rasn(size("0..=1023"))]
    withdrawn_stations: SequenceOf<cdd::StationId>,
    #[rasn(size("0..=1023"))]
    withdrawn: SequenceOf<cdd::Identifier2B>,
    #[rasn(size("0..=1023"))]
    objects: SequenceOf<OwnObject>,
}

#[derive(AsnType, Debug, Clone, Encode, Decode, PartialEq)]
#[rasn(automatic_tags, choice)]
enum OwnId {
    Station(cdd::StationId),
    Label(cdd::Identifier2B),
}

#[derive(AsnType, Debug, Clone, Encode, Decode, PartialEq)]
#[rasn(automatic_tags)]
struct OwnObject {
    id: OwnId,
    measured: cdd::DeltaTimeMilliSecondSigned,
    east: cdd::CartesianCoordinateLarge,
    north: cdd::CartesianCoordinateLarge,
    east_velocity: cdd::VelocityComponentValue,
    north_velocity: cdd::VelocityComponentValue,
    length: cdd::ObjectDimensionValue,
    width: cdd::ObjectDimensionValue,
    height: cdd::ObjectDimensionValue,
    quality: cdd::ObjectPerceptionQuality,
}

fn own_message(id: &OwnId, objects: usize, contributors: usize) -> usize {
    let object = OwnObject {
        id: id.clone(),
        measured: cdd::DeltaTimeMilliSecondSigned(-50),
        east: cdd::CartesianCoordinateLarge(-12_345),
        north: cdd::CartesianCoordinateLarge(6_789),
        east_velocity: cdd::VelocityComponentValue(1_389),
        north_velocity: cdd::VelocityComponentValue(-20),
        length: cdd::ObjectDimensionValue(45),
        width: cdd::ObjectDimensionValue(18),
        height: cdd::ObjectDimensionValue(15),
        quality: cdd::ObjectPerceptionQuality(15),
    };
    let message = OwnMessage {
        header: cdd::ItsPduHeader {
            protocol_version: cdd::OrdinalNumber1B(1),
            message_id: cdd::MessageId(200),
            station_id: cdd::StationId(4711),
        },
        reference_time: cdd::TimestampIts(700_000_000_123),
        latitude: cdd::Latitude(0),
        longitude: cdd::Longitude(0),
        tile_x: -3,
        tile_y: 4,
        sequence: 7,
        epoch: 9,
        tenure: 12_000,
        price: 7_000,
        cycle_age: 150,
        unchanged_age: 150,
        lease: 600,
        content: 0,
        full: true,
        contributors: vec![cdd::StationId(1); contributors],
        requested: vec![],
        withdrawn_stations: vec![],
        withdrawn: vec![],
        objects: vec![object; objects],
    };
    rasn::uper::encode(&message).unwrap().len()
}

#[test]
fn the_decision_on_the_fused_state_rests_on_these_figures() {
    let decision = include_str!("../../../docs/decisions/0001-fused-state.md");
    let mut table = String::from(
        "| objects | CPM | labels: CPM with the extension | own message | ratio | stations: CPM with the extension | own message | \
         ratio |\n|---|---|---|---|---|---|---|---|\n",
    );
    for objects in [0, 10, 50, 150] {
        write!(table, "| {objects} | {} |", reports(objects, 0)).unwrap();
        let none = FusedCounts {
            contributors: 8,
            ..FusedCounts::default()
        };
        for (counts, id) in [
            (
                FusedCounts {
                    labels: objects,
                    ..none
                },
                OwnId::Label(cdd::Identifier2B(65_535)),
            ),
            (
                FusedCounts {
                    stations: objects,
                    ..none
                },
                OwnId::Station(cdd::StationId(3_000_000_001)),
            ),
        ] {
            let (extended, own) = (fused(counts), own_message(&id, objects, 8));
            let ratio = own as f64 / extended as f64;
            write!(table, " {extended} | {own} | {ratio:.2} |").unwrap();
        }
        table.push('\n');
    }
    assert!(
        decision.contains(&table),
        "docs/decisions/0001-fused-state.md should have:\n{table}"
    );
}
