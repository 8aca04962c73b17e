//! Frames of another stack: what Vanetza's own `socktap` sent, as captured (`tests/foreign/README.md` says how), is read, believed
//! where its chain of certificates ends at the trusted root, and counts as beacons and as reports that nobody asked for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use covey_its::frame::{Message, decode_frame};
use covey_its::pcap::{CaptureTime, Reader};
use covey_node::clock::its_micros;
use covey_node::secure::certificate::{Known, message_hash, verify};
use covey_node::secure::envelope::{self, Closed, Signer};
use covey_node::secure::pki::read_certificate;
use covey_node::station::{Settings, Station};
use covey_protocol::messages::Size;
use covey_protocol::{AgentId, AgentState, Duration, Instant, Position};
use covey_simulator::{Arm, MapReference, Prepared, Scenario};

/// The station id that the other stack was given.
const FOREIGN: u32 = 4_711;

/// It leaves out the leap seconds since 2004; here its time is gone by.
const BEHIND: Duration = Duration::from_millis(5_000);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign")
}

fn capture(name: &str) -> Vec<(Instant, Vec<u8>)> {
    let file = BufReader::new(File::open(folder().join(name)).unwrap());
    let mut reader = Reader::new(file).unwrap();
    let mut frames = Vec::new();
    while let Some((CaptureTime(unix_us), frame)) = reader.next_frame().unwrap() {
        frames.push((Instant::from_micros(its_micros(unix_us)) - BEHIND, frame));
    }
    frames
}

/// A station in the middle of the blind junction.
fn station(now: Instant) -> Station {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/toy/blind-junction/scenario.toml");
    let prepared = Prepared::new(&Scenario::read(&file).unwrap()).unwrap();
    let arm: Arm = "proposed@0.4".parse().unwrap();
    let settings = Settings {
        id: AgentId(7),
        profile: arm.profile(1, &prepared).unwrap(),
        reference: Arc::new(MapReference::of(&prepared.scenario, &prepared.map).unwrap()),
        sensors: Vec::new(),
        station_type: 5,
        decide_after: Duration::ZERO,
    };
    let mut station = Station::new(settings, None, now);
    station.locate(now, &here(), now);
    station
}

fn here() -> AgentState {
    AgentState {
        position: Position::new(250.0, 250.0),
        heading: 0.0,
        speed: 0.0,
        size: Size {
            length: 4.5,
            width: 1.8,
            height: 1.5,
        },
    }
}

#[test]
fn cams_of_another_stack_are_beacons_and_its_cpms_reports_that_nobody_asked_for() {
    let frames = capture("vanetza.pcap");
    let mut station = station(frames[0].0 - Duration::from_millis(50));
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, frame) in &frames {
        match decode_frame(frame).unwrap().message {
            Message::Cam(cam) => {
                assert_eq!(cam.station_id, FOREIGN);
                assert_eq!(
                    (cam.position.latitude, cam.position.longitude),
                    (1_000, 2_000)
                );
                assert_eq!(
                    (cam.heading, cam.speed, cam.length),
                    (Some(0), Some(0), None)
                );
                *kinds.entry("cam").or_default() += 1;
            }
            Message::Cpm(cpm) => {
                assert_eq!(cpm.station_id, FOREIGN);
                assert_eq!(cpm.objects.len(), 2);
                assert!(cpm.fused.is_none());
                *kinds.entry("cpm").or_default() += 1;
            }
            // Vanetza's router says where it is, too.
            _ => *kinds.entry("other").or_default() += 1,
        }
        station.locate(*at, &here(), *at);
        station.hear(*at, frame);
        station.tick(*at);
    }
    assert!(kinds["cam"] >= 10 && kinds["cpm"] >= 10, "{kinds:?}");
    let tally = station.tally();
    assert_eq!(tally.beacons_heard, kinds["cam"], "{tally:?}");
    assert_eq!(tally.reports_heard, kinds["cpm"], "{tally:?}");
    assert_eq!((tally.unreadable, tally.flooded), (0, 0), "{tally:?}");
}

#[test]
fn frames_that_another_stack_signed_are_verified_up_to_the_root() {
    let (asks, verified) = verify_all("vanetza-signed.pcap");
    assert!(verified[0] >= 10 && verified[1] >= 10, "{verified:?}");
    assert_eq!(asks, 0);
}

/// Its list of additions to the header has two bits, ours four: editions of the standard.
#[test]
fn frames_in_which_another_stack_asks_for_a_certificate_are_verified_too() {
    let (asks, verified) = verify_all("vanetza-asking.pcap");
    assert!(verified[0] >= 8 && verified[1] >= 8, "{verified:?}");
    assert!(asks >= 8, "{asks}");
}

/// Checks every frame of a capture: how many ask for a certificate, and how many are CAMs and CPMs.
fn verify_all(name: &str) -> (u64, [u64; 2]) {
    let frames = capture(name);
    let root = read_certificate(&folder().join("root.cert")).unwrap();
    let authority = read_certificate(&folder().join("authority.cert")).unwrap();
    root.check_issued_by(None).unwrap();
    authority.check_issued_by(Some(&root)).unwrap();
    let mut peers: BTreeMap<[u8; 8], Known> = BTreeMap::new();
    let (mut verified, mut with_certificate, mut asks) = ([0_u64; 2], 0, 0);
    for (at, frame) in &frames {
        assert_ne!(envelope::open(frame).err(), Some(Closed::Unsigned));
        let opened = envelope::open(frame).unwrap();
        asks += u64::from(!opened.header.asks.is_empty());
        let digest = match opened.signer {
            Signer::Digest(digest) => digest,
            Signer::Certificate(certificate) => {
                with_certificate += 1;
                let known = Known::of(*certificate).unwrap();
                known.check_issued_by(Some(&authority)).unwrap();
                let digest = known.digest();
                peers.insert(digest, known);
                digest
            }
        };
        let known = &peers[&digest];
        assert!(known.is_valid_at(opened.header.generated_us));
        assert!(known.permits(opened.header.aid));
        assert!((at.micros() - opened.header.generated_us).abs() < 1_000_000);
        let hash = message_hash(&opened.to_be_signed, &known.hash);
        assert!(verify(&known.key, &hash, &opened.signature));
        // One bit of it, and it is nobody's.
        let mut changed = opened.to_be_signed.clone();
        changed[20] ^= 1;
        let hash = message_hash(&changed, &known.hash);
        assert!(!verify(&known.key, &hash, &opened.signature));
        match decode_frame(&opened.frame).unwrap().message {
            Message::Cam(cam) => {
                assert_eq!((cam.station_id, opened.header.aid), (FOREIGN, 36));
                verified[0] += 1;
            }
            Message::Cpm(cpm) => {
                assert_eq!((cpm.station_id, opened.header.aid), (FOREIGN, 639));
                verified[1] += 1;
            }
            _ => {}
        }
    }
    assert!(
        with_certificate >= 2 && with_certificate < frames.len(),
        "{with_certificate}"
    );
    (asks, verified)
}
