//! What a cycle costs a host with many members, in milliseconds of CPU and, under callgrind, in instructions.
//!
//!     cargo run --release -p covey-node --example budget -- 150 50
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/budget 150 50
//!
//! So many stations stand around a junction, beacon ten times a second with a digest, and report ten objects when they are asked.
//! Two numbers: members and cycles; with no cycles the cost of everything else is left.

#![expect(clippy::print_stdout, reason = "a measurement")]
#![expect(clippy::too_many_lines, reason = "one measurement, from top to bottom")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use covey_its::frame::{Message as Framed, PORT_CAM, PORT_CPM, Source, decode_frame, encode_frame};
use covey_its::{CpmOptions, ItsTime, Numbering, Wire};
use covey_node::station::{Settings, Station};
use covey_protocol::messages::{Beacon, Confidence, Report, Size};
use covey_protocol::{
    AgentId, AgentState, Cell, CoverageDigest, Duration, Instant, ObjectId, ObjectState, Position,
    Velocity,
};
use covey_simulator::cpu::thread_cpu_s;
use covey_simulator::{Arm, MapReference, Prepared, Scenario};

const SIZE: Size = Size {
    length: 4.5,
    width: 1.8,
    height: 1.5,
};

fn state(number: u64) -> AgentState {
    // Along both roads, 5 m apart.
    let along = 60.0 + 5.0 * (number / 2) as f64;
    let position = match number % 2 {
        0 => Position::new(along, 251.5),
        _ => Position::new(251.5, along),
    };
    AgentState {
        position,
        heading: 0.0,
        speed: 5.0,
        size: SIZE,
    }
}

fn main() {
    let arguments: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok())
        .collect();
    let (members, cycles) = match arguments[..] {
        [members, cycles] => (members, cycles),
        _ => (150, 50),
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/toy/blind-junction/scenario.toml");
    let Ok(prepared) = Scenario::read(&file).and_then(|scenario| Prepared::new(&scenario)) else {
        return println!("no scenario");
    };
    let arm: Result<Arm, _> = "proposed@0.4".parse();
    let (Ok(arm), Ok(reference)) = (arm, MapReference::of(&prepared.scenario, &prepared.map))
    else {
        return println!("no arm");
    };
    let Some(profile) = arm.profile(1, &prepared) else {
        return println!("no hosts");
    };
    let reference = Arc::new(reference);
    let mut now = Instant::from_millis(720_000_000_000);
    let settings = Settings {
        id: AgentId(9_999),
        profile,
        reference: Arc::clone(&reference),
        sensors: Vec::new(),
        station_type: 5,
        decide_after: Duration::ZERO,
    };
    let mut host = Station::new(settings, None, now);
    let mut numbers: Vec<Numbering> = (0..members).map(|_| Numbering::new()).collect();
    let mut asked: BTreeSet<u32> = BTreeSet::new();
    let (mut spent, mut frames) = (0.0, 0_u64);
    for step in 0..cycles * 4 {
        let wire = Wire::new(&*reference, ItsTime(0));
        let mut air = Vec::new();
        for member in 0..members {
            let state = state(member);
            if step % 2 == member % 2 {
                let cells = (0..40)
                    .map(|k| Cell::new(5 + (member % 10) as i32 + k % 8, 8 + k / 8))
                    .collect();
                let beacon = Beacon {
                    sender: AgentId(member),
                    at: now,
                    state,
                    digest: CoverageDigest::new(cells).ok(),
                    low_frequency: false,
                };
                if let Ok(cam) = wire.cam(&beacon, None)
                    && let Ok(bytes) = cam.encode()
                    && let Ok(frame) = encode_frame(
                        &bytes,
                        PORT_CAM,
                        &Source::of_cam(&cam, ItsTime((now.micros() / 1_000) as u64)),
                    )
                {
                    air.push(frame);
                }
            }
            if step % 4 == member % 3 && asked.contains(&(member as u32)) {
                let object = |k: u16| ObjectState {
                    id: ObjectId::perceived(AgentId(member), k),
                    position: Position::new(
                        state.position.x + 3.0 * f64::from(k),
                        state.position.y + 3.0,
                    ),
                    velocity: Velocity::new(1.0, 0.0),
                    size: SIZE,
                    sensed_at: now,
                    confidence: Confidence::FULL,
                };
                let report = Report {
                    sender: AgentId(member),
                    at: now,
                    objects: (0..10).map(object).collect(),
                    sensor_information: false,
                };
                let cpms = wire.report_cpms(
                    &report,
                    &state,
                    &CpmOptions::default(),
                    &mut numbers[member as usize],
                );
                for cpm in cpms.map(|cpms| cpms.messages).unwrap_or_default() {
                    if let Ok(bytes) = cpm.encode()
                        && let Ok(frame) = encode_frame(&bytes, PORT_CPM, &Source::of_cpm(&cpm, 0))
                    {
                        air.push(frame);
                    }
                }
            }
        }
        let begin = thread_cpu_s();
        let own = AgentState {
            position: Position::new(250.0, 250.0),
            speed: 0.0,
            heading: 0.0,
            size: SIZE,
        };
        host.locate(now, &own, now);
        for frame in &air {
            host.hear(now, frame);
        }
        host.tick(now);
        spent += thread_cpu_s() - begin;
        frames += air.len() as u64;
        for frame in host.take_frames() {
            if let Ok(Framed::Cpm(cpm)) = decode_frame(&frame).map(|decoded| decoded.message)
                && let Some(fused) = cpm.fused
            {
                asked = fused.contributors.into_iter().collect();
            }
        }
        now = now + Duration::from_millis(50);
    }
    let tally = host.tally();
    println!(
        "{members} members, {cycles} cycles, {frames} frames heard, {} broadcasts, {} contributors at the end: {:.2} ms of CPU a cycle",
        tally.broadcasts_sent,
        asked.len(),
        1e3 * spent / (cycles.max(1)) as f64
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
    {
        println!("{line}");
    }
}
