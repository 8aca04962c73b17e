//! What reaches a live node from its radio and its vehicle: envelopes and certificates, lines of JSON, NMEA and gpsd, and whole frames
//! with the clock stepping in between.

use std::sync::{Arc, LazyLock};

use covey_its::frame::ETHERNET_LEN;
use covey_its::{decode_frame, samples};
use covey_node::secure::certificate::{AID_CAM, Known, Role, issue, new_key};
use covey_node::secure::envelope::{self, Header, Signer};
use covey_node::station::{Settings, Station};
use covey_node::vehicle::lines::{Context, Line};
use covey_node::vehicle::{gpsd, nmea};
use covey_protocol::messages::{AgentState, ObjectState, Size};
use covey_protocol::{AgentId, Duration, Instant, Position, Profile};
use covey_simulator::MapReference;
use covey_world::{GridFrame, Point};

use super::its::frame_seeds;
use super::script::Script;
use super::stations::step;

/// When everything happens: all sample messages are of this time.
const NOW: Instant = Instant::from_micros(700_000_000_000_000);
/// So many frames and steps: more say nothing new, and take long.
const LONGEST: usize = 64;

/// A map that lies nowhere; made once.
static REFERENCE: LazyLock<Arc<MapReference>> = LazyLock::new(|| {
    let grid = GridFrame::new(Point::new(0.0, 0.0), 0.0, 20.0).expect("a grid");
    Arc::new(MapReference::new(None, grid).expect("no projection"))
});

/// An envelope and a certificate: whatever can be read can be written and read again alike.
pub(crate) fn envelopes(bytes: &[u8]) {
    if let Ok(known) = Known::read(bytes) {
        check_certificate(&known);
    }
    if let Ok(opened) = envelope::open(bytes) {
        assert!(opened.frame.len() < bytes.len(), "an envelope takes space");
        assert_eq!(
            envelope::open(&opened.frame).err(),
            Some(envelope::Closed::Unsigned)
        );
        let _ = decode_frame(&opened.frame);
        if let Signer::Certificate(one) = opened.signer
            && let Ok(known) = Known::of(*one)
        {
            check_certificate(&known);
        }
    }
}

fn check_certificate(known: &Known) {
    let again = Known::read(&known.bytes).expect("what was written can be read");
    assert_eq!(again.bytes, known.bytes, "canonical");
    assert_eq!(again.hash, known.hash);
    assert_eq!(again.valid_us, known.valid_us);
    assert!(known.valid_us.0 <= known.valid_us.1);
    let _ = (known.permits(AID_CAM), known.issues(), known.name());
    let _ = known.check_issued_by(None);
}

pub(crate) fn envelope_seeds() -> Vec<Vec<u8>> {
    let key = new_key().expect("random numbers");
    let ticket = |role| {
        issue(
            role,
            "root",
            key.verifying_key(),
            700_000_000,
            24,
            (None, &key),
        )
        .expect("a certificate")
    };
    let mut seeds: Vec<Vec<u8>> = [Role::Root, Role::Authority, Role::Ticket]
        .map(|role| ticket(role).bytes)
        .to_vec();
    let known = ticket(Role::Ticket);
    let header = Header {
        aid: AID_CAM,
        generated_us: NOW.micros(),
        asks: vec![[1, 2, 3]],
        gives: None,
    };
    for signer in [
        Signer::Digest(known.digest()),
        Signer::Certificate(Box::new(known.certificate.clone())),
    ] {
        let frame = &frame_seeds()[0];
        seeds.push(
            envelope::seal(frame, &header, signer, &known.hash, &key).expect("a signed frame"),
        );
    }
    seeds
}

/// A line that the vehicle wrote: it is refused, or what it tells are numbers.
pub(crate) fn vehicles(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let context = Context {
        reference: &**REFERENCE,
        own: AgentId(1),
        last: Some(standing()),
        size: Size::default(),
        now: NOW,
    };
    let fixes = [nmea::read(&text).ok(), gpsd::read(&text).ok()];
    for fix in fixes.into_iter().flatten().flatten() {
        if let Ok((state, _)) = context.fix(&fix) {
            assert!(state.is_finite());
        }
    }
    match serde_json::from_str::<Line>(&text) {
        Ok(Line::State(line)) => {
            if let Ok((state, _)) = context.state(&line) {
                assert!(state.is_finite());
            }
        }
        Ok(Line::Sensed(line)) => {
            if let Ok(objects) = context.objects(&line) {
                assert!(objects.iter().all(ObjectState::is_finite));
            }
        }
        _ => {}
    }
}

pub(crate) fn vehicle_seeds() -> Vec<Vec<u8>> {
    [
        r#"{"type":"state","latitude":0.001,"longitude":0.001,"heading_deg":271.5,"speed_m_s":8.3}"#,
        r#"{"type":"state","time_ms":1794920400250.0,"x_m":250.0,"y_m":247.5,"heading_rad":0.0,"speed_m_s":8.3,"size_m":[4.5,1.8,1.5]}"#,
        r#"{"type":"sensed","objects":[{"id":3,"east_m":10.5,"north_m":-4.2,"velocity_m_s":[1.0,0.0],"confidence":0.9,"age_ms":40}]}"#,
        r#"{"type":"sensed","objects":[{"station":9,"x_m":260.0,"y_m":250.0}],"cells":[[12,12],[13,12]]}"#,
        r#"{"class":"TPV","mode":3,"time":"2026-11-17T13:00:00.250Z","lat":35.6123,"lon":139.6273,"track":271.5,"speed":8.33}"#,
        "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A",
    ]
    .map(|line| line.as_bytes().to_vec())
    .to_vec()
}

fn standing() -> AgentState {
    AgentState {
        position: Position::new(250.0, 250.0),
        ..AgentState::default()
    }
}

fn station(id: u64, now: Instant) -> Station {
    let settings = Settings {
        id: AgentId(id),
        profile: Profile::letter(),
        reference: Arc::clone(&REFERENCE),
        sensors: vec![samples::sensor()],
        station_type: 5,
        decide_after: Duration::ZERO,
    };
    Station::new(settings, None, now)
}

/// A station that hears whatever is on the air, while its clock steps: what it says can be read, and it keeps to its bounds.
pub(crate) fn stations(bytes: &[u8]) {
    let mut script = Script { bytes };
    let mut now = NOW;
    let mut station = station(1, now);
    station.locate(now, &standing(), now);
    for _ in 0..LONGEST {
        if script.bytes.is_empty() {
            break;
        }
        match script.byte() % 8 {
            0 => {
                now = now + step(&mut script);
                station.tick(now);
            }
            1 => station.locate(now, &script.state(), now),
            2 => station.sense(now, &script.objects(now), &script.cells()),
            _ => {
                let length = usize::from(u16::from_be_bytes([script.byte(), script.byte()]));
                let (frame, rest) = script.bytes.split_at(length.min(script.bytes.len()));
                script.bytes = rest;
                station.hear(now, frame);
            }
        }
        for frame in station.take_frames() {
            assert!(frame.len() > ETHERNET_LEN);
            decode_frame(&frame).expect("what a station says can be read");
        }
        assert!(station.take_events().len() <= 1_024);
    }
}

/// What somebody says who stands beside it, with the time that passes in between; so mutations reach what lies behind plausibility.
pub(crate) fn station_seeds() -> Vec<Vec<u8>> {
    let mut now = NOW;
    let mut other = station(2, now);
    let beside = AgentState {
        position: Position::new(255.0, 250.0),
        ..AgentState::default()
    };
    let mut all = Vec::new();
    let mut seeds = Vec::new();
    for frame in frame_seeds() {
        seeds.push(heard(&frame));
    }
    for _ in 0..30 {
        now = now + Duration::from_millis(50);
        other.locate(now, &beside, now);
        other.tick(now);
        // A clock step of 50 ms.
        all.extend([0, 50]);
        for frame in other.take_frames() {
            all.extend(heard(&frame));
        }
    }
    seeds.push(all);
    seeds
}

/// A frame as the script of a station has it.
fn heard(frame: &[u8]) -> Vec<u8> {
    let mut input = vec![3];
    input.extend((frame.len() as u16).to_be_bytes());
    input.extend(frame);
    input
}
