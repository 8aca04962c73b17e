//! What goes over the air comes back: any protocol value that fits, within the resolution of its fields, and any message byte
//! for byte.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use covey_its::cam::{PathPoint, WirePosition};
use covey_its::cpm::{CpmObject, OFFSET_MAX, VELOCITY_MAX};
use covey_its::sizes::{FusedCounts, Model};
use covey_its::{
    Cam, CarriedDigest, Cpm, CpmOptions, EncodeError, FusedState, ItsTime, Numbering, Sensor, Wire,
    decode_frame, frame,
};
use covey_protocol::messages::{AgentState, Beacon, Broadcast, ObjectState, Report, Size};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Instant, ObjectId, Position, Tile, Velocity,
};
use proptest::prelude::*;

use common::{
    SENDER, SENSOR, assert_same, broadcast, contents, ids, object, objects, plane, states, zero,
};

fn option<T: Clone + std::fmt::Debug>(
    values: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(values)
}

fn wire_positions() -> impl Strategy<Value = WirePosition> {
    (
        -900_000_000..=900_000_001_i32,
        -1_800_000_000..=1_800_000_001_i32,
    )
        .prop_map(|(latitude, longitude)| WirePosition {
            latitude,
            longitude,
        })
}

fn digests() -> impl Strategy<Value = CoverageDigest> {
    (
        any::<i16>(),
        any::<i16>(),
        prop::collection::vec((0..40_i32, 0..40_i32), 0..60),
    )
        .prop_map(|(x, y, cells)| {
            let cells = cells
                .into_iter()
                .map(|(ix, iy)| Cell::new(i32::from(x) + ix, i32::from(y) + iy))
                .collect();
            CoverageDigest::new(cells).unwrap()
        })
}

prop_compose! {
    fn path_points()(
        latitude in -131_071..=131_072_i32,
        longitude in -131_071..=131_072_i32,
        age in option(1..=65_535_u16),
    ) -> PathPoint {
        PathPoint { latitude, longitude, age }
    }
}

prop_compose! {
    fn cams()(
        station_id: u32,
        station_type: u8,
        generation_ms: u16,
        position in wire_positions(),
        heading in option(0..=3_600_u16),
        speed in option(0..=16_382_u16),
        backward in option(any::<bool>()),
        length in option(1..=1_022_u16),
        width in option(1..=61_u8),
        path in option(prop::collection::vec(path_points(), 0..=40)),
        digest in option(prop_oneof![
            digests().prop_map(CarriedDigest::Cells),
            prop::collection::vec(any::<u8>(), 1..=11).prop_map(CarriedDigest::Unreadable),
        ]),
    ) -> Cam {
        Cam { station_id, station_type, generation_ms, position, heading, speed, backward, length, width, path, digest }
    }
}

prop_compose! {
    fn cpm_objects()(
        id in option(any::<u16>()),
        measured_ms in -2_048..=2_047_i16,
        east in -OFFSET_MAX..=OFFSET_MAX,
        north in -OFFSET_MAX..=OFFSET_MAX,
        velocity in option((-VELOCITY_MAX..=VELOCITY_MAX, -VELOCITY_MAX..=VELOCITY_MAX)),
        length in option(1..=255_u16),
        width in option(1..=255_u16),
        height in option(1..=255_u16),
        quality in option(0..=15_u8),
    ) -> CpmObject {
        CpmObject { id, measured_ms, east, north, velocity, length, width, height, quality }
    }
}

prop_compose! {
    fn fused_states()(
        tile in (-8_388_608..=8_388_607_i32, -8_388_608..=8_388_607_i32),
        counters in any::<[u32; 3]>(),
        price in 0..=16_777_215_u32,
        times in any::<[u16; 3]>(),
        content in contents(),
        full: bool,
        contributors in prop::collection::vec(any::<u32>(), 0..=255),
        requested in prop::collection::vec(any::<u32>(), 0..=255),
        withdrawn_stations in prop::collection::vec(any::<u32>(), 0..=300),
        withdrawn in prop::collection::vec(any::<u16>(), 0..=300),
        stations in prop::collection::vec(any::<u32>(), 0..=255),
    ) -> FusedState {
        FusedState {
            tile: Tile::new(tile.0, tile.1),
            sequence: counters[0],
            epoch: counters[1],
            tenure_ms: counters[2],
            price,
            cycle_age_ms: times[0],
            unchanged_age_ms: times[1],
            lease_ms: times[2],
            content,
            full,
            contributors,
            requested,
            withdrawn_stations,
            withdrawn,
            stations,
        }
    }
}

prop_compose! {
    fn cpms()(
        station_id: u32,
        reference_ms in 0..=4_398_046_511_103_u64,
        position in wire_positions(),
        segment in option((1..=8_u8, 1..=8_u8)),
        orientation in option(option(0..=3_600_u16)),
        sensors in prop::collection::vec(
            (any::<u8>(), 0..=31_u8, option((0..=4_095_u16, option([0..=3_600_u16, 0..=3_600_u16])))).prop_map(|(id, kind, seen)| {
                let (range, sector) = (seen.map(|seen| seen.0), seen.and_then(|seen| seen.1));
                Sensor { id, kind, range, sector }
            }), 0..4),
        objects_known: u8,
        objects in prop::collection::vec(cpm_objects(), 0..=64),
        fused in option(fused_states()),
    ) -> Cpm {
        Cpm { station_id, reference_ms, position, segment, orientation, sensors, objects_known, objects, fused }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn cams_are_read_as_written(cam in cams()) {
        let bytes = cam.encode().unwrap();
        let back = Cam::decode(&bytes).unwrap();
        prop_assert_eq!(&back, &cam);
        prop_assert_eq!(back.encode().unwrap(), bytes);
    }

    #[test]
    fn cpms_are_read_as_written(cpm in cpms()) {
        let bytes = cpm.encode().unwrap();
        let back = Cpm::decode(&bytes).unwrap();
        prop_assert_eq!(&back, &cpm);
        prop_assert_eq!(back.encode().unwrap(), bytes);
    }

    #[test]
    fn a_beacon_comes_back_within_the_resolution_of_a_cam(
        id: u32, at_ms in 0..10_000_000_i64, late_ms in 0..30_000_i64, state in states(), digest in option(digests()),
        low_frequency: bool,
    ) {
        let plane = plane();
        let wire = Wire::new(&plane, zero());
        let at = Instant::from_millis(at_ms);
        let beacon = Beacon { sender: AgentId(u64::from(id)), at, state, digest, low_frequency };
        let cam = wire.cam(&beacon, None).unwrap();
        let heard = wire.beacon(&Cam::decode(&cam.encode().unwrap()).unwrap(), at + Duration::from_millis(late_ms)).unwrap();
        prop_assert_eq!(heard.sender, beacon.sender);
        prop_assert_eq!(heard.at, beacon.at);
        prop_assert_eq!(&heard.digest, &beacon.digest);
        prop_assert_eq!(heard.low_frequency, low_frequency);
        prop_assert!(heard.state.position.distance(state.position) < 0.02, "{:?}", heard.state);
        prop_assert!((heard.state.speed - state.speed).abs() <= 0.0051);
        let turn = (heard.state.heading - state.heading).to_degrees().rem_euclid(360.0);
        prop_assert!(!(0.051..=359.949).contains(&turn), "{turn}");
        prop_assert!((heard.state.size.length - state.size.length).abs() < 0.051);
        prop_assert!((heard.state.size.width - state.size.width).abs() < 0.051);
        // Canonical: the value that was read makes the same message.
        let again = wire.cam(&heard, None).unwrap();
        prop_assert_eq!((again.speed, again.length, again.width), (cam.speed, cam.length, cam.width));
        prop_assert_eq!(again.path, cam.path);
    }

    #[test]
    fn a_report_comes_back_within_the_resolution_of_a_cpm(
        state in states(), seen in prop::collection::vec(objects(), 0..40), sensor_information: bool,
    ) {
        let plane = plane();
        let wire = Wire::new(&plane, zero());
        // Objects around the sender, wherever it is.
        let seen: Vec<_> = seen.into_iter().map(|object| ObjectState {
            position: Position::new(object.position.x + state.position.x, object.position.y + state.position.y),
            ..object
        }).collect();
        let report = Report { sender: SENDER, at: Instant::from_millis(10_000), objects: seen, sensor_information };
        let options = CpmOptions { sensors: vec![SENSOR], max_bytes: 4_000 };
        let mut numbering = Numbering::new();
        let sent = wire.report_cpms(&report, &state, &options, &mut numbering).unwrap();
        prop_assert_eq!((sent.messages.len(), sent.left_out), (1, 0));
        let read = Cpm::decode(&sent.messages[0].encode().unwrap()).unwrap();
        let back = wire.report(&read).unwrap();
        prop_assert_eq!((back.sender, back.at), (report.sender, report.at));
        prop_assert_eq!(back.sensor_information, sensor_information);
        assert_same(&report.objects, &back.objects, 0.011);
        // Each object has one id, and no two have the same.
        let mut meant: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
        for (sent, got) in report.objects.iter().zip(&back.objects) {
            prop_assert_eq!(*meant.entry(got.id).or_insert(sent.id), sent.id);
            prop_assert!(got.id.scope().is_some_and(|(by, _)| by == SENDER));
        }
        let distinct: BTreeSet<ObjectId> = report.objects.iter().map(|object| object.id).collect();
        prop_assert_eq!(meant.len(), distinct.len());
        // What was read is said again with the same numbers.
        let again = Report { objects: back.objects.clone(), ..back };
        let again = wire.report_cpms(&again, &state, &options, &mut Numbering::new()).unwrap();
        let numbers = |cpm: &Cpm| cpm.objects.iter().map(|object| object.id).collect::<Vec<_>>();
        prop_assert_eq!(numbers(&again.messages[0]), numbers(&read));
    }

    #[test]
    fn the_size_model_is_exact_for_what_a_simulation_sends(
        state in states(), digest in option(digests()), seen in prop::collection::vec(objects(), 0..150),
        contributors in 0..30_usize, withdrawn in prop::collection::vec(ids(), 0..400), flag: bool,
    ) {
        let plane = plane();
        let wire = Wire::new(&plane, zero());
        let model = Model::new();
        let at = Instant::from_millis(10_000);
        let beacon = Beacon { sender: AgentId(1), at, state, digest, low_frequency: flag };
        let cam = wire.cam(&beacon, None).unwrap().encode().unwrap();
        let digest_bytes = beacon.digest.as_ref().map(CoverageDigest::encoded_len);
        prop_assert_eq!(model.cam(digest_bytes, flag), cam.len() + frame::HEADERS_LEN);
        let on_air = |cpms: Vec<Cpm>| cpms.iter().map(|cpm| cpm.encode().unwrap().len() + frame::HEADERS_LEN).sum::<usize>();
        let state = AgentState { position: Position::new(0.0, 0.0), ..state };
        let report = Report { sender: SENDER, at, objects: seen.clone(), sensor_information: flag };
        let options = CpmOptions { sensors: vec![SENSOR], ..CpmOptions::default() };
        let sent = wire.report_cpms(&report, &state, &options, &mut Numbering::new()).unwrap();
        prop_assert_eq!(sent.left_out, 0);
        prop_assert_eq!(model.cpm(seen.len(), flag), on_air(sent.messages));
        let host = Broadcast {
            host: SENDER,
            position: Position::new(0.0, 0.0),
            contributors: (0..contributors as u64).map(AgentId).collect(),
            requested: (0..contributors as u64 / 2).map(ObjectId).collect(),
            withdrawn,
            objects: seen,
            ..broadcast(0)
        };
        let sent = wire.broadcast_cpms(&host, &options, &mut Numbering::new()).unwrap();
        prop_assert_eq!(model.fused(FusedCounts::of(&host)), on_air(sent.messages));
    }

    #[test]
    fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), port in prop_oneof![Just(2_001_u16), Just(2_009)]) {
        let _ = decode_frame(&bytes);
        let _ = frame::decode_packet(&bytes);
        let _ = frame::decode_any(&bytes);
        for id in [2, 14] {
            let mut message = vec![2, id];
            message.extend_from_slice(&bytes);
            let _ = frame::decode_message(port, &message);
        }
    }

    #[test]
    fn damaged_messages_never_panic_and_are_stable(cpm in cpms(), cam in cams(), flips in prop::collection::vec((0.0..1.0_f64, 0..8_u8), 1..4)) {
        for bytes in [cpm.encode().unwrap(), cam.encode().unwrap()] {
            let mut bytes = bytes;
            for (place, bit) in &flips {
                let at = (place * bytes.len() as f64) as usize;
                bytes[at] ^= 1 << bit;
            }
            if let Ok(read) = Cam::decode(&bytes) {
                let again = Cam::decode(&read.encode().unwrap()).unwrap();
                prop_assert_eq!(again, read);
            }
            if let Ok(read) = Cpm::decode(&bytes) {
                let again = Cpm::decode(&read.encode().unwrap()).unwrap();
                prop_assert_eq!(again, read);
            }
        }
    }
}

#[test]
fn containers_are_there_where_the_message_says_so() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let point = PathPoint {
        latitude: -100,
        longitude: 200,
        age: Some(20),
    };
    let options = CpmOptions {
        sensors: vec![SENSOR],
        ..CpmOptions::default()
    };
    for flag in [false, true] {
        let beacon = Beacon {
            sender: AgentId(1),
            at: Instant::ZERO,
            state: AgentState::default(),
            digest: None,
            low_frequency: flag,
        };
        let cam = wire.cam(&beacon, Some(&[point; 50])).unwrap();
        assert_eq!(cam.path, flag.then(|| vec![point; 40]));
        let report = Report {
            sender: AgentId(1),
            at: Instant::ZERO,
            objects: vec![],
            sensor_information: flag,
        };
        let sent = wire
            .report_cpms(
                &report,
                &AgentState::default(),
                &options,
                &mut Numbering::new(),
            )
            .unwrap();
        let read = Cpm::decode(&sent.messages[0].encode().unwrap()).unwrap();
        assert_eq!(read.sensors.is_empty(), !flag);
        assert_eq!(wire.report(&read).unwrap().sensor_information, flag);
    }
    let fused = wire
        .broadcast_cpms(&broadcast(0), &options, &mut Numbering::new())
        .unwrap();
    assert!(fused.messages[0].sensors.is_empty());
}

#[test]
fn far_and_old_objects_are_left_out_and_counted() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let state = AgentState::default();
    let report = |objects| Report {
        sender: AgentId(1),
        at: Instant::from_millis(10_000),
        objects,
        sensor_information: false,
    };
    let old = ObjectState {
        sensed_at: Instant::from_millis(7_000),
        ..object(3, 0.0, 0.0)
    };
    let nowhere = object(4, f64::NAN, 0.0);
    let fast = ObjectState {
        velocity: Velocity::new(1e9, 0.0),
        ..object(5, 0.0, 0.0)
    };
    let given = report(vec![
        object(1, 2_000.0, 0.0),
        object(2, 900.0, -900.0),
        old,
        nowhere,
        fast,
    ]);
    let sent = wire
        .report_cpms(
            &given,
            &state,
            &CpmOptions::default(),
            &mut Numbering::new(),
        )
        .unwrap();
    assert_eq!(sent.left_out, 3);
    let back = wire.report(&sent.messages[0]).unwrap();
    let ids: Vec<ObjectId> = back.objects.iter().map(|object| object.id).collect();
    assert_eq!(
        ids,
        [2, 5].map(|number| ObjectId::perceived(AgentId(1), number))
    );
    // 163.82 m/s in each of two axes at most, and never backwards.
    assert!(back.objects[1].velocity.x > 163.0 && back.objects[1].velocity.x < 232.0);
}

#[test]
fn three_hundred_objects_are_split_and_too_many_refused() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let state = AgentState::default();
    let report = |count: u64| Report {
        sender: AgentId(1),
        at: Instant::from_millis(10_000),
        objects: (0..count)
            .map(|id| object(id, id as f64 * 0.5, 1.0))
            .collect(),
        sensor_information: false,
    };
    let long = CpmOptions {
        max_bytes: 8_000,
        ..CpmOptions::default()
    };
    let sent = wire
        .report_cpms(&report(300), &state, &long, &mut Numbering::new())
        .unwrap();
    let counts: Vec<usize> = sent.messages.iter().map(|cpm| cpm.objects.len()).collect();
    assert_eq!(counts, [255, 45]);
    assert_eq!(sent.messages[1].segment, Some((2, 2)));
    assert_eq!(sent.messages[0].objects_known, 255);
    let short = wire
        .report_cpms(
            &report(300),
            &state,
            &CpmOptions::default(),
            &mut Numbering::new(),
        )
        .unwrap();
    assert!(short.messages.len() > 2);
    assert!(matches!(
        wire.report_cpms(&report(2_041), &state, &long, &mut Numbering::new()),
        Err(EncodeError::TooManyObjects { objects: 2_041, .. })
    ));
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one case after another, each a few lines"
)]
fn values_that_do_not_fit_are_clamped_marked_or_refused_never_wrapped() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let beacon = |sender, state| Beacon {
        sender: AgentId(sender),
        at: Instant::ZERO,
        state,
        digest: None,
        low_frequency: false,
    };
    let state = AgentState {
        speed: 200.0,
        size: Size {
            length: 500.0,
            width: 50.0,
            height: 3.0,
        },
        ..AgentState::default()
    };
    let cam = wire.cam(&beacon(1, state), None).unwrap();
    assert_eq!(
        (cam.speed, cam.length, cam.width),
        (Some(16_382), Some(1_022), Some(61))
    );
    let unknown = AgentState {
        speed: f64::NAN,
        heading: f64::INFINITY,
        ..AgentState::default()
    };
    let cam = wire.cam(&beacon(1, unknown), None).unwrap();
    assert_eq!((cam.speed, cam.heading, cam.length), (None, None, None));
    assert!(wire.beacon(&cam, Instant::ZERO).is_err());
    let id = u64::from(u32::MAX) + 1;
    assert_eq!(
        wire.cam(&beacon(id, state), None),
        Err(EncodeError::StationId { found: id })
    );
    let lost = AgentState {
        position: Position::new(f64::NAN, 0.0),
        ..state
    };
    assert!(matches!(
        wire.cam(&beacon(1, lost), None),
        Err(EncodeError::Position { .. })
    ));
    let early = Wire::new(&plane, ItsTime(0));
    let report = Report {
        sender: AgentId(1),
        at: Instant::from_millis(-1),
        objects: vec![],
        sensor_information: false,
    };
    assert!(matches!(
        early.report_cpms(
            &report,
            &state,
            &CpmOptions::default(),
            &mut Numbering::new()
        ),
        Err(EncodeError::Time { .. })
    ));
    let large_id = Report {
        at: Instant::ZERO,
        objects: vec![object(1 << 32, 0.0, 0.0)],
        ..report
    };
    assert_eq!(
        wire.report_cpms(
            &large_id,
            &state,
            &CpmOptions::default(),
            &mut Numbering::new()
        ),
        Err(EncodeError::ObjectId { found: 1 << 32 })
    );
    let refused = |change: fn(&mut Broadcast)| {
        let mut broadcast = broadcast(1);
        change(&mut broadcast);
        wire.broadcast_cpms(&broadcast, &CpmOptions::default(), &mut Numbering::new())
            .unwrap_err()
            .to_string()
    };
    assert_text(
        &refused(|b| b.tile.tx = i32::MAX),
        "the tile's column is 2147483647, the fused state carries -8388608 to 8388607",
    );
    assert_text(
        &refused(|b| b.contributors = (0..256).map(AgentId).collect()),
        "the number of contributors is 256, the fused state carries 0 to 255",
    );
    assert_text(
        &refused(|b| b.requested = (0..256).map(ObjectId).collect()),
        "the number of requested objects is 256, the fused state carries 0 to 255",
    );
    assert_text(
        &refused(|b| b.requested = vec![ObjectId::perceived(AgentId(77), 65_535)]),
        "object 77:65535 is asked for, and only stations can be; ask for station ids",
    );
    assert!(refused(|b| b.withdrawn = vec![ObjectId(1 << 32)]).contains("object id 4294967296"));
    assert_text(
        &refused(|b| b.unchanged_since = Instant::from_millis(10_001)),
        "the age of unchanged objects in ms is -1, the fused state carries 0 to 65535",
    );
    let mut dear = broadcast(0);
    dear.price = 1e9;
    dear.lease = Duration::from_millis(100_000);
    let sent = wire
        .broadcast_cpms(&dear, &CpmOptions::default(), &mut Numbering::new())
        .unwrap();
    let fused = sent.messages[0].fused.as_ref().unwrap();
    assert_eq!((fused.price, fused.lease_ms), (16_777_215, 65_535));
}

#[track_caller]
fn assert_text(found: &str, expected: &str) {
    assert_eq!(found, expected);
}
