//! ETSI messages and frames that anybody may have sent: nothing panics, and what was read is written and read again alike.

use std::sync::LazyLock;

use covey_its::cam::PathPoint;
use covey_its::frame::{ETHERTYPE, Message, PORT_CAM, PORT_CPM, Source, decode_any, encode_frame};
use covey_its::{
    Cam, Cpm, CpmOptions, EarthPosition, ItsTime, Numbering, TangentPlane, Wire, decode_frame,
    samples,
};
use covey_protocol::messages::{AgentState, Broadcast, ObjectState, Report};
use covey_protocol::{Instant, ObjectId};

/// Where all stations are; made once.
static PLANE: LazyLock<TangentPlane> =
    LazyLock::new(|| TangentPlane::new(EarthPosition::new(35.6, 139.6), 77.0));

fn wire() -> Wire<'static> {
    Wire::new(&*PLANE, ItsTime(700_000_000_000))
}

pub(crate) fn cams(bytes: &[u8]) {
    if let Ok(cam) = Cam::decode(bytes) {
        check_cam(&cam);
    }
}

fn check_cam(cam: &Cam) {
    let written = cam.encode().expect("what was read can be written");
    assert_eq!(Cam::decode(&written).as_ref(), Ok(cam));
    let wire = wire();
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
    let wire = wire();
    if let Ok(report) = wire.report(cpm) {
        check_report(&wire, &report, cpm);
    }
    if let Ok(broadcast) = wire.broadcast(std::slice::from_ref(cpm)) {
        check_broadcast(&wire, &broadcast);
    }
}

fn ids(objects: &[ObjectState]) -> Vec<ObjectId> {
    objects.iter().map(|object| object.id).collect()
}

/// Every object is the sender's, and said again it has the same number.
fn check_report(wire: &Wire<'_>, report: &Report, cpm: &Cpm) {
    assert!(report.objects.iter().all(ObjectState::is_finite));
    assert_eq!(report.sensor_information, !cpm.sensors.is_empty());
    let state = AgentState::default();
    let mut numbering = Numbering::new();
    let sent = wire.report_cpms(report, &state, &CpmOptions::default(), &mut numbering);
    let Ok(sent) = sent else {
        return;
    };
    if sent.left_out == 0 {
        let heard = sent
            .messages
            .iter()
            .filter_map(|cpm| wire.report(cpm).ok())
            .flat_map(|report| ids(&report.objects));
        assert_eq!(heard.collect::<Vec<_>>(), ids(&report.objects));
    }
}

/// Said again, all ids and lists are the same, however it is split.
fn check_broadcast(wire: &Wire<'_>, broadcast: &Broadcast) {
    assert!(broadcast.objects.iter().all(ObjectState::is_finite));
    // In many messages or in few: one of the two for each input.
    let max_bytes = match broadcast.epoch % 2 {
        0 => 1_394,
        _ => 8_000,
    };
    let options = CpmOptions {
        max_bytes,
        ..CpmOptions::default()
    };
    let mut numbering = Numbering::new();
    let Ok(sent) = wire.broadcast_cpms(broadcast, &options, &mut numbering) else {
        return;
    };
    assert!(sent.messages.iter().all(|cpm| {
        let bytes = cpm.encode().expect("what is made can be written");
        bytes.len() <= max_bytes && Cpm::decode(&bytes).as_ref() == Ok(cpm)
    }));
    let again = wire
        .broadcast(&sent.messages)
        .expect("what was made can be read");
    assert_eq!(again.contributors, broadcast.contributors);
    assert_eq!(again.requested, broadcast.requested);
    assert_eq!(again.withdrawn, broadcast.withdrawn);
    assert_eq!(again.content, broadcast.content);
    if sent.left_out == 0 {
        // Stations go first; who mixes them with labels gets them sorted.
        let mut listed = ids(&broadcast.objects);
        listed.sort_by_key(|id| id.scope().is_some());
        assert_eq!(ids(&again.objects), listed);
    }
}

/// A length in two bytes, then a message; and again, up to eight.
pub(crate) fn segments(bytes: &[u8]) {
    let mut rest = bytes;
    let mut cpms = Vec::new();
    while let Some((&[high, low], after)) = rest.split_first_chunk::<2>()
        && cpms.len() < 8
    {
        let length = usize::from(u16::from_be_bytes([high, low])).min(after.len());
        let (message, more) = after.split_at(length);
        cpms.extend(Cpm::decode(message));
        rest = more;
    }
    for cpm in &cpms {
        check_cpm(cpm);
    }
    let wire = wire();
    if let Ok(broadcast) = wire.broadcast(&cpms) {
        check_broadcast(&wire, &broadcast);
    }
    // Put together by hand, so that damaged segments meet their like: as if all were of one message.
    let Some(first) = cpms.first().cloned() else {
        return;
    };
    let total = cpms.len() as u8;
    let mut forced = cpms;
    for (index, cpm) in forced.iter_mut().enumerate() {
        cpm.segment = Some((index as u8 + 1, total));
        cpm.station_id = first.station_id;
        cpm.reference_ms = first.reference_ms;
        cpm.position = first.position;
        if let (Some(fused), Some(head)) = (&mut cpm.fused, &first.fused) {
            let lists = fused.clone();
            *fused = head.without_lists();
            fused.contributors = lists.contributors;
            fused.requested = lists.requested;
            fused.withdrawn_stations = lists.withdrawn_stations;
            fused.withdrawn = lists.withdrawn;
            fused.stations = lists.stations;
        }
    }
    if let Ok(broadcast) = wire.broadcast(&forced) {
        check_broadcast(&wire, &broadcast);
    }
}

pub(crate) fn frames(bytes: &[u8]) {
    // Bytes of any layer; frames of other types are handed back unread.
    if bytes.get(12..14) != Some(&ETHERTYPE.to_be_bytes())
        && let Ok(decoded) = decode_frame(bytes)
    {
        assert_eq!(decoded.message, Message::Nothing(bytes[14..].to_vec()));
    }
    if let Ok(decoded) = decode_any(bytes) {
        match &decoded.message {
            Message::Cam(cam) => check_cam(cam),
            Message::Cpm(cpm) => check_cpm(cpm),
            Message::Other(rest) | Message::Nothing(rest) => assert!(rest.len() <= bytes.len()),
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
        samples::fused_state(5, 3, 2),
        Cpm {
            segment: Some((1, 2)),
            ..samples::fused_state(2, 3, 2)
        },
    ]
}

/// A fused state in so many messages.
fn segmented(total: u8) -> Vec<u8> {
    let mut input = Vec::new();
    for this in 1..=total {
        let cpm = Cpm {
            segment: Some((this, total)),
            ..samples::fused_state(u16::from(this) + 1, 2, 1)
        };
        let bytes = cpm.encode().expect("a valid CPM");
        input.extend((bytes.len() as u16).to_be_bytes());
        input.extend(bytes);
    }
    input
}

pub(crate) fn segment_seeds() -> Vec<Vec<u8>> {
    [1, 2, 3, 8].map(segmented).to_vec()
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
