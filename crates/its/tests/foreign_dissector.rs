//! Foreign decoders read what we write: Wireshark, as WebAssembly from npm, under plain Node; pycrate and asn1tools from PyPI.
//!
//! `cargo xtask setup` installs them into `.npm` and `.venv`; without them these tests fail.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use covey_its::frame::{PORT_CAM, PORT_CPM, Source, encode_frame};
use covey_its::{
    Cam, Cpm, CpmOptions, EarthPosition, ItsTime, Numbering, Sensor, TangentPlane, Wire, pcap,
};
use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, ObjectState, Report, Size,
};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Instant, ObjectId, Position, Tile, Velocity,
};

/// What is compared, in the order of the script's output.
const FIELDS: &[&str] = &[
    "frame.time_epoch",
    "geonw.src_pos.lat",
    "geonw.src_pos.speed",
    "btpb.dstport",
    "its.messageId",
    "its.stationId",
    "its.latitude",
    "its.longitude",
    "itsv1.latitude",
    "itsv1.longitude",
    "its.headingValue",
    "its.speedValue",
    "its.vehicleLengthValue",
    "cam.vehicleWidth",
    "cam.pathHistory",
    "cpm.referenceTime",
    "cpm.numberOfPerceivedObjects",
    "cpm.perceivedObjects",
    "its.objectId",
    "its.measurementDeltaTime",
    "its.objectPerceptionQuality",
    "its.radius",
];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/dissector")
        .join(name)
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}\n`cargo xtask setup` installs what is missing.")
    });
    assert!(
        output.status.success(),
        "{}\nIs it installed? `cargo xtask setup` does that.",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn dissect(capture: &Path) -> String {
    output_of(
        Command::new("node")
            .arg(script("dissect.cjs"))
            .arg(top().join(".npm"))
            .arg(capture)
            .args(FIELDS),
    )
}

/// Numbers that look random and are the same everywhere.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        AgentId(self.0).mixed()
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn state(&mut self) -> AgentState {
        AgentState {
            position: Position::new(self.between(-3e3, 3e3), self.between(-3e3, 3e3)),
            heading: self.between(-4.0, 4.0),
            speed: self.between(-5.0, 50.0),
            size: Size {
                length: self.between(2.0, 20.0),
                width: self.between(1.0, 3.0),
                height: 1.5,
            },
        }
    }

    /// Stations, what `sender` has numbered itself, and what another one has.
    fn objects(
        &mut self,
        count: u64,
        sender: AgentId,
        around: Position,
        at: Instant,
    ) -> Vec<ObjectState> {
        (0..count)
            .map(|_| ObjectState {
                id: match self.next() % 4 {
                    0 => ObjectId(self.next() % 65_536),
                    1 => ObjectId(self.next() % (1 << 32)),
                    2 => ObjectId::perceived(sender, self.next() as u16),
                    _ => ObjectId::perceived(AgentId(7), self.next() as u16),
                },
                position: Position::new(
                    around.x + self.between(-800.0, 800.0),
                    around.y + self.between(-800.0, 800.0),
                ),
                velocity: Velocity::new(self.between(-40.0, 40.0), self.between(-40.0, 40.0)),
                size: self.state().size,
                sensed_at: at - Duration::from_millis((self.next() % 2_000) as i64),
                confidence: Confidence::from_percent((self.next() % 101) as u8),
            })
            .collect()
    }
}

fn listed<T: std::fmt::Display>(values: impl Iterator<Item = T>) -> String {
    values
        .map(|value| value.to_string())
        .collect::<Vec<_>>()
        .join(",")
}

fn epoch(time: ItsTime) -> String {
    let micros = time.to_unix_micros();
    format!("{}.{:06}000", micros / 1_000_000, micros % 1_000_000)
}

/// The line that the script must print for a CPM.
fn expected_cpm(cpm: &Cpm, source: &Source) -> String {
    let mut line = format!(
        "malformed=0 frame.time_epoch={} geonw.src_pos.lat={} geonw.src_pos.speed={} btpb.dstport=2009 its.messageId=14 \
         its.stationId={} itsv1.latitude={} itsv1.longitude={} cpm.referenceTime={} cpm.numberOfPerceivedObjects={} \
         cpm.perceivedObjects={}",
        epoch(source.time),
        source.position.latitude,
        source.speed,
        cpm.station_id,
        cpm.position.latitude,
        cpm.position.longitude,
        cpm.reference_ms,
        cpm.objects_known,
        cpm.objects.len(),
    );
    if !cpm.objects.is_empty() {
        let objects = || cpm.objects.iter();
        write!(
            line,
            " its.objectId={} its.measurementDeltaTime={} its.objectPerceptionQuality={}",
            listed(objects().map(|object| object.id.unwrap())),
            listed(objects().map(|object| object.measured_ms)),
            listed(objects().map(|object| object.quality.unwrap())),
        )
        .unwrap();
    }
    if let Some(sensor) = cpm.sensors.first() {
        write!(line, " its.radius={}", sensor.range.unwrap()).unwrap();
    }
    line
}

/// What the decoders must find in a capture.
#[derive(Default)]
struct Expected {
    /// Wireshark's lines.
    frames: Vec<String>,
    /// pycrate's lines.
    cams: Vec<String>,
    /// asn1tools' lines.
    plain_cams: Vec<String>,
}

/// Writes 600 CAMs and as many reports and fused states, one of each split, to `path`.
#[expect(
    clippy::too_many_lines,
    reason = "one message of every kind, field by field"
)]
fn write_capture(path: &Path) -> Expected {
    let plane = TangentPlane::new(EarthPosition::new(35.6123, 139.6273), 77.3);
    let zero = ItsTime::from_unix_millis(1_794_783_600_000).unwrap();
    let wire = Wire::new(&plane, zero);
    let mut capture = pcap::Writer::new(File::create(path).unwrap()).unwrap();
    let mut expected = Expected::default();
    let mut draws = Draws(0);
    let options = CpmOptions {
        sensors: vec![Sensor {
            id: 1,
            kind: 12,
            range: Some(1_500),
            sector: None,
        }],
        ..CpmOptions::default()
    };
    for step in 0..600_u64 {
        let at = Instant::from_millis(step as i64 * 50);
        let time = wire.its_time(at).unwrap();
        let state = draws.state();
        let sender = AgentId(draws.next() % (1 << 32));
        // A CAM, every other one with a digest, every fifth with a low-frequency container.
        let (ix, iy) = (step as i32 % 7 - 3, -(step as i32));
        let cells = (0..5 + step as i32 % 40).map(|k| Cell::new(ix + k % 9, iy + k / 5));
        let beacon = Beacon {
            sender,
            at,
            state,
            digest: step
                .is_multiple_of(2)
                .then(|| CoverageDigest::new(cells.collect()).unwrap()),
            low_frequency: step.is_multiple_of(5),
        };
        let cam = wire.cam(&beacon, None).unwrap();
        let source = Source::of_cam(&cam, time);
        let frame = encode_frame(&cam.encode().unwrap(), PORT_CAM, &source).unwrap();
        capture.write(time.into(), &frame).unwrap();
        let digest = beacon.digest.as_ref().map(|digest| {
            // An octet string of 1 to 255 bytes, its length less one first; the second addition counts from 0.
            let bytes = digest.encode();
            let length = [bytes.len() as u8 - 1];
            let hex = |byte: &u8| format!("{byte:02x}");
            format!(
                " _ext_1={}",
                length.iter().chain(&bytes).map(hex).collect::<String>()
            )
        });
        expected.cams.push(format!(
            "{sender} {} {} {} {}{}",
            cam.position.latitude,
            cam.position.longitude,
            cam.speed.unwrap(),
            cam.heading.unwrap(),
            digest.unwrap_or_default(),
        ));
        let plain = Cam {
            digest: None,
            ..cam.clone()
        };
        expected.plain_cams.push(format!(
            "{sender} {} {} {} {} {} {} {}",
            cam.position.latitude,
            cam.position.longitude,
            cam.speed.unwrap(),
            cam.heading.unwrap(),
            cam.length.unwrap(),
            cam.width.unwrap(),
            plain.encode().unwrap().len(),
        ));
        expected.frames.push(format!(
            "malformed=0 frame.time_epoch={} geonw.src_pos.lat={} geonw.src_pos.speed={} btpb.dstport=2001 its.messageId=2 \
             its.stationId={} its.latitude={} its.longitude={} its.headingValue={} its.speedValue={} \
             its.vehicleLengthValue={} cam.vehicleWidth={}{}",
            epoch(time),
            cam.position.latitude,
            source.speed,
            sender,
            cam.position.latitude,
            cam.position.longitude,
            cam.heading.unwrap(),
            cam.speed.unwrap(),
            cam.length.unwrap(),
            cam.width.unwrap(),
            if beacon.low_frequency { " cam.pathHistory=0" } else { "" },
        ));
        // A report, or every fourth time the fused state of a host.
        let count = if step == 7 || step == 8 {
            300
        } else {
            step % 33
        };
        let objects = draws.objects(count, sender, state.position, at);
        // Every message has another sender.
        let mut numbering = Numbering::new();
        let cpms = if step.is_multiple_of(4) {
            let broadcast = Broadcast {
                host: sender,
                tile: Tile::new(ix, iy),
                at,
                position: state.position,
                sequence: step as u32,
                epoch: 3,
                tenure: Duration::from_millis(4_000),
                price: draws.between(0.0, 2.0),
                cycle_start: at - Duration::from_millis(150),
                contributors: (0..step % 9).map(AgentId).collect(),
                lease: Duration::from_millis(600),
                content: Content::Requested,
                requested: (0..step % 3)
                    .map(|id| ObjectId(3_000_000_000 + id))
                    .collect(),
                full: true,
                objects,
                withdrawn: (0..step % 5)
                    .map(|id| ObjectId(3_000_000_000 + id))
                    .chain((0..step % 3).map(|id| ObjectId::perceived(sender, 65_535 - id as u16)))
                    .collect(),
                unchanged_since: at - Duration::from_millis(150),
            };
            wire.broadcast_cpms(&broadcast, &options, &mut numbering)
                .unwrap()
        } else {
            let report = Report {
                sender,
                at,
                objects,
                sensor_information: step.is_multiple_of(5),
            };
            wire.report_cpms(&report, &state, &options, &mut numbering)
                .unwrap()
        };
        assert_eq!(cpms.left_out, 0);
        for cpm in &cpms.messages {
            let source = Source::of_cpm(cpm, source.speed);
            let frame = encode_frame(&cpm.encode().unwrap(), PORT_CPM, &source).unwrap();
            capture.write(time.into(), &frame).unwrap();
            expected.frames.push(expected_cpm(cpm, &source));
        }
    }
    drop(capture.finish().unwrap());
    expected
}

#[track_caller]
fn assert_lines(found: &str, expected: &[String]) {
    let found: Vec<&str> = found.lines().collect();
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "line {}", number + 1);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn wireshark_reads_every_message_and_finds_what_was_sent() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wireshark.pcap");
    let expected = write_capture(&path);
    assert!(expected.frames.len() > 1_200);
    assert_lines(&dissect(&path), &expected.frames);
}

#[test]
fn pycrate_reads_every_cam_and_finds_the_digest_as_an_unknown_addition() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pycrate.pcap");
    let expected = write_capture(&path);
    let python = top().join(".venv/bin/python");
    let found = output_of(Command::new(python).arg(script("cams.py")).arg(&path));
    assert_lines(&found, &expected.cams);
}

#[test]
fn asn1tools_reads_every_cam_and_passes_over_the_digest() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("asn1tools.pcap");
    let expected = write_capture(&path);
    let python = top().join(".venv/bin/python");
    let found = output_of(
        Command::new(python)
            .arg(script("cams_asn1tools.py"))
            .arg(&path)
            .arg(top().join(".venv/source")),
    );
    assert_lines(&found, &expected.plain_cams);
}
