//! ETSI messages and frames that anybody may have sent: nothing panics, and what was read is written and read again alike.

use covey_its::cam::{self, CarriedDigest, WirePosition};
use covey_its::frame::{Message, PORT_CAM, PORT_CPM, Source, encode_frame};
use covey_its::{
    Cam, Cpm, CpmObject, EarthPosition, FusedState, ItsTime, Sensor, TangentPlane, Wire,
    decode_frame,
};
use covey_protocol::messages::ObjectState;
use covey_protocol::{Cell, CoverageDigest, Instant, Tile};

fn plane() -> TangentPlane {
    TangentPlane::new(EarthPosition::new(35.6, 139.6), 77.0)
}

pub(crate) fn cams(bytes: &[u8]) {
    if let Ok(cam) = Cam::decode(bytes) {
        check_cam(&cam);
    }
}

fn check_cam(cam: &Cam) {
    let written = cam.encode().expect("what was read can be written");
    assert_eq!(Cam::decode(&written).as_ref(), Ok(cam));
    let plane = plane();
    let wire = Wire::new(&plane, ItsTime(700_000_000_000));
    if let Ok(beacon) = wire.beacon(cam, Instant::ZERO) {
        assert!(beacon.state.is_finite());
    }
}

pub(crate) fn cpms(bytes: &[u8]) {
    if let Ok(cpm) = Cpm::decode(bytes) {
        check_cpm(&cpm);
    }
}

fn check_cpm(cpm: &Cpm) {
    let written = cpm.encode().expect("what was read can be written");
    assert_eq!(Cpm::decode(&written).as_ref(), Ok(cpm));
    let plane = plane();
    let wire = Wire::new(&plane, ItsTime(700_000_000_000));
    if let Ok(report) = wire.report(cpm) {
        assert!(report.objects.iter().all(ObjectState::is_finite));
    }
    let _ = wire.broadcast(std::slice::from_ref(cpm));
}

pub(crate) fn frames(bytes: &[u8]) {
    if let Ok(decoded) = decode_frame(bytes) {
        match &decoded.message {
            Message::Cam(cam) => check_cam(cam),
            Message::Cpm(cpm) => check_cpm(cpm),
            Message::Other(message) => assert!(message.len() < bytes.len()),
        }
    }
}

fn sample_cams() -> Vec<Cam> {
    let plain = Cam {
        station_id: 4711,
        station_type: cam::PASSENGER_CAR,
        generation_ms: 12_345,
        position: WirePosition {
            latitude: 356_000_000,
            longitude: 1_396_000_000,
        },
        heading: Some(900),
        speed: Some(1_389),
        backward: Some(false),
        length: Some(45),
        width: Some(18),
        path: None,
        digest: None,
    };
    let row = (3..10).map(|ix| Cell::new(ix, -2)).collect();
    let digest = CoverageDigest::new(row).ok().map(CarriedDigest::Cells);
    let point = cam::PathPoint {
        latitude: -100,
        longitude: 200,
        age: Some(20),
    };
    vec![
        plain.clone(),
        Cam {
            digest,
            path: Some(vec![point; 3]),
            ..plain
        },
    ]
}

fn sample_cpms() -> Vec<Cpm> {
    let object = CpmObject {
        id: Some(7),
        measured_ms: -50,
        east: -12_345,
        north: 6_789,
        velocity: Some((1_389, -20)),
        length: Some(45),
        width: Some(18),
        height: Some(15),
        quality: Some(15),
    };
    let report = Cpm {
        station_id: 4711,
        reference_ms: 700_000_000_123,
        position: WirePosition {
            latitude: 356_000_000,
            longitude: 1_396_000_000,
        },
        segment: None,
        orientation: Some(Some(900)),
        sensors: vec![Sensor {
            id: 1,
            kind: 12,
            range: Some(1_500),
        }],
        objects_known: 2,
        objects: vec![object, object],
        fused: None,
    };
    let fused = FusedState {
        tile: Tile::new(-3, 4),
        sequence: 7,
        epoch: 9,
        tenure_ms: 12_000,
        price: 7_000,
        cycle_age_ms: 150,
        unchanged_age_ms: 150,
        lease_ms: 600,
        silent_only: false,
        full: true,
        contributors: vec![1, 2, 3],
        withdrawn: vec![1, 65_535],
    };
    vec![
        report.clone(),
        Cpm {
            fused: Some(fused),
            segment: Some((1, 2)),
            ..report
        },
    ]
}

pub(crate) fn cam_seeds() -> Vec<Vec<u8>> {
    let encoded = |cam: Cam| cam.encode().expect("a valid CAM");
    sample_cams().into_iter().map(encoded).collect()
}

pub(crate) fn cpm_seeds() -> Vec<Vec<u8>> {
    let encoded = |cpm: Cpm| cpm.encode().expect("a valid CPM");
    sample_cpms().into_iter().map(encoded).collect()
}

pub(crate) fn frame_seeds() -> Vec<Vec<u8>> {
    let source = Source::of_cam(&sample_cams()[0], ItsTime(700_000_000_123));
    let framed = |messages: Vec<Vec<u8>>, port| {
        messages
            .into_iter()
            .map(move |message| encode_frame(&message, port, &source).expect("a valid frame"))
    };
    framed(cam_seeds(), PORT_CAM)
        .chain(framed(cpm_seeds(), PORT_CPM))
        .collect()
}
