//! Wireshark reads captures of a real run, on a junction full of vehicles, and finds what was sent.
//!
//! `cargo xtask setup` installs Wireshark (as WebAssembly, from npm) into `.npm`; without it the test fails.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use covey_its::{CpmOptions, ItsTime, Numbering, Wire};
use covey_protocol::messages::{AgentState, Message};
use covey_protocol::{AgentId, Instant, Tile};
use covey_simulator::events::StepView;
use covey_simulator::{
    Capture, CaptureFilter, MapReference, Observer, Prepared, RunOptions, simulate,
};

const FIELDS: &[&str] = &[
    "frame.time_epoch",
    "btpb.dstport",
    "its.messageId",
    "its.stationId",
    "its.latitude",
    "its.longitude",
    "itsv1.latitude",
    "itsv1.longitude",
    "its.headingValue",
    "its.speedValue",
    "cpm.numberOfPerceivedObjects",
    "cpm.perceivedObjects",
    "its.objectId",
];

/// 2026-01-01 00:00 UTC, when runs begin.
const BEGIN_UNIX_S: i64 = 1_767_225_600;

/// Writes a capture and keeps what was sent in its window, with the sender's state.
struct Watch {
    capture: Capture<Vec<u8>>,
    reference: MapReference,
    arm: usize,
    window: (Instant, Instant),
    states: Vec<(AgentId, AgentState)>,
    sent: Vec<(Instant, Message, AgentState)>,
}

impl Watch {
    fn new(prepared: &Prepared, arm: usize, from_ms: i64, to_ms: i64) -> Self {
        let reference = || MapReference::of(&prepared.scenario, &prepared.map).unwrap();
        let window = (Instant::from_millis(from_ms), Instant::from_millis(to_ms));
        let filter = CaptureFilter {
            from: Some(window.0),
            to: Some(window.1),
            ..CaptureFilter::default()
        };
        Self {
            capture: Capture::new(Vec::new(), reference(), filter)
                .unwrap()
                .of_arm(arm),
            reference: reference(),
            arm,
            window,
            states: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// What Wireshark has to say of each frame.
    fn expected(&self) -> Vec<String> {
        let zero = ItsTime::from_unix_millis(BEGIN_UNIX_S * 1_000).unwrap();
        let wire = Wire::new(&self.reference, zero);
        let mut lines = Vec::new();
        // Numbers are small and shared here: everybody has them as they are, and one table does for all.
        let mut numbering = Numbering::new();
        for (now, message, state) in &self.sent {
            let micros = BEGIN_UNIX_S * 1_000_000 + now.micros();
            let head = format!(
                "malformed=0 frame.time_epoch={}.{:06}000",
                micros / 1_000_000,
                micros % 1_000_000
            );
            let cpms = match message {
                Message::Beacon(beacon) => {
                    let cam = wire.cam(beacon, None).unwrap();
                    lines.push(format!(
                        "{head} btpb.dstport=2001 its.messageId=2 its.stationId={} its.latitude={} its.longitude={} \
                         its.headingValue={} its.speedValue={:.0}",
                        beacon.sender,
                        cam.position.latitude,
                        cam.position.longitude,
                        cam.heading.unwrap(),
                        beacon.state.speed * 100.0,
                    ));
                    continue;
                }
                Message::Report(report) => {
                    wire.report_cpms(report, state, &CpmOptions::default(), &mut numbering)
                }
                Message::Broadcast(broadcast) => {
                    wire.broadcast_cpms(broadcast, &CpmOptions::default(), &mut numbering)
                }
            }
            .unwrap();
            assert_eq!(cpms.left_out, 0);
            let objects = match message {
                Message::Report(report) => &report.objects,
                Message::Broadcast(broadcast) => &broadcast.objects,
                Message::Beacon(_) => continue,
            };
            let mut listed = 0;
            for cpm in &cpms.messages {
                let ids: Vec<String> = objects[listed..listed + cpm.objects.len()]
                    .iter()
                    .map(|object| object.id.to_string())
                    .collect();
                listed += cpm.objects.len();
                let ids = match ids.is_empty() {
                    true => String::new(),
                    false => format!(" its.objectId={}", ids.join(",")),
                };
                lines.push(format!(
                    "{head} btpb.dstport=2009 its.messageId=14 its.stationId={} itsv1.latitude={} itsv1.longitude={} \
                     cpm.numberOfPerceivedObjects={} cpm.perceivedObjects={}{ids}",
                    message.sender(),
                    cpm.position.latitude,
                    cpm.position.longitude,
                    objects.len(),
                    cpm.objects.len(),
                ));
            }
            assert_eq!(listed, objects.len());
        }
        lines
    }

    /// Compares, and gives how many CAMs, reports and fused states there were.
    fn compare(self, name: &str) -> [usize; 3] {
        let expected = self.expected();
        let counts = [
            |message: &Message| matches!(message, Message::Beacon(_)),
            |message: &Message| matches!(message, Message::Report(_)),
            |message: &Message| matches!(message, Message::Broadcast(_)),
        ]
        .map(|is| {
            self.sent
                .iter()
                .filter(|(_, message, _)| is(message))
                .count()
        });
        let (bytes, _) = self.capture.finish().unwrap();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, bytes).unwrap();
        let found = dissect(&path);
        for (number, (found, expected)) in found.lines().zip(&expected).enumerate() {
            assert_eq!(found, expected, "{name}, frame {}", number + 1);
        }
        assert_eq!(found.lines().count(), expected.len());
        counts
    }
}

impl Observer for Watch {
    fn step(&mut self, view: &StepView<'_>) {
        self.capture.step(view);
        self.states.clear();
        self.states.extend(view.vehicles.iter().map(|vehicle| {
            let id = AgentId(u64::from(vehicle.id.0));
            (id, self.reference.agent_state(vehicle))
        }));
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(
        &mut self,
        arm: usize,
        now: Instant,
        tile: Option<Tile>,
        message: &Message,
        bytes: u32,
    ) {
        Observer::message(&mut self.capture, arm, now, tile, message, bytes);
        if arm == self.arm && now >= self.window.0 && now < self.window.1 {
            let sender = message.sender();
            let (_, state) = self.states.iter().find(|(id, _)| *id == sender).unwrap();
            self.sent.push((now, message.clone(), *state));
        }
    }
}

fn dissect(capture: &Path) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script: PathBuf = top.join("crates/its/tests/dissector/dissect.cjs");
    let output = Command::new("node")
        .arg(script)
        .arg(top.join(".npm"))
        .arg(capture)
        .args(FIELDS)
        .output()
        .expect("Node runs");
    assert!(
        output.status.success(),
        "{}\nIs it installed? `cargo xtask setup` does that.",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Tells two observers of everything.
struct Both<'a>(&'a mut Watch, &'a mut Watch);

impl Observer for Both<'_> {
    fn step(&mut self, view: &StepView<'_>) {
        self.0.step(view);
        self.1.step(view);
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(
        &mut self,
        arm: usize,
        now: Instant,
        tile: Option<Tile>,
        message: &Message,
        bytes: u32,
    ) {
        self.0.message(arm, now, tile, message, bytes);
        self.1.message(arm, now, tile, message, bytes);
    }
}

#[test]
fn wireshark_reads_captures_of_a_real_run_and_finds_what_was_sent() {
    let prepared = support::crowded_junction();
    let arms = support::arms(&["proposed@0.4", "cpm-etsi"]);
    let mut hosted = Watch::new(&prepared, 0, 1_000, 4_000);
    let mut etsi = Watch::new(&prepared, 1, 0, 1_000);
    let options = RunOptions {
        warmup_s: 0.0,
        measure_s: 4.0,
        ..RunOptions::default()
    };
    let mut traffic = support::traffic(&prepared, 1);
    simulate(
        &prepared,
        &mut traffic,
        &arms,
        1,
        &options,
        &mut Both(&mut hosted, &mut etsi),
    )
    .unwrap();
    let [beacons, reports, broadcasts] = hosted.compare("hosted.pcap");
    assert!(broadcasts > 100, "{broadcasts} fused states");
    let [more_beacons, more_reports, _] = etsi.compare("etsi.pcap");
    assert!(more_reports > 20, "{more_reports} reports");
    let all = beacons + reports + broadcasts + more_beacons + more_reports;
    assert!(all >= 1_000, "{all} messages");
}
