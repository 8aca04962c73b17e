//! ETSI messages and frames that anybody may have sent: nothing panics, and what was read is written and read again alike.

use covey_its::cam::PathPoint;
use covey_its::frame::{Message, PORT_CAM, PORT_CPM, Source, decode_any, encode_frame};
use covey_its::{Cam, Cpm, EarthPosition, ItsTime, TangentPlane, Wire, decode_frame, samples};
use covey_protocol::Instant;
use covey_protocol::messages::ObjectState;

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
    // Bytes of any layer.
    let _ = decode_any(bytes);
    if let Ok(decoded) = decode_frame(bytes) {
        match &decoded.message {
            Message::Cam(cam) => check_cam(cam),
            Message::Cpm(cpm) => check_cpm(cpm),
            Message::Other(rest) | Message::Nothing(rest) => assert!(rest.len() < bytes.len()),
        }
    }
}

fn sample_cams() -> Vec<Cam> {
    let point = PathPoint {
        latitude: -100,
        longitude: 200,
        age: Some(20),
    };
    vec![
        samples::cam(),
        Cam {
            path: Some(vec![point; 3]),
            ..samples::cam_with_digest()
        },
    ]
}

fn sample_cpms() -> Vec<Cpm> {
    let report = Cpm {
        sensors: vec![samples::sensor()],
        ..samples::report(2)
    };
    vec![
        report.clone(),
        Cpm {
            fused: Some(samples::fused(3, 2)),
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
