//! What a cycle costs a host with many members, in milliseconds of CPU and, under callgrind, in instructions.
//!
//!     cargo run --release -p covey-node --example budget -- 150 50 proposed@0.4
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/budget 150 50 proposed@0.4 1
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/budget 150 50 proposed@0.4 2
//!
//! So many stations drive on the roads of a junction at 5 m/s, 5 m apart, beacon ten times a second with a digest, and report ten objects when they are asked. What they
//! send is kept, and played to a new host as often as the fourth argument says: the difference of the last two lines is the cost of
//! one host over so many cycles, without that of the stations around it.

#![expect(clippy::print_stdout, reason = "a measurement")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use covey_its::frame::{PORT_CAM, PORT_CPM, Source, encode_frame};
use covey_its::{CpmOptions, ItsTime, Numbering, Wire};
use covey_node::station::{Settings, Station};
use covey_protocol::messages::{Beacon, Confidence, Report, Size};
use covey_protocol::{
    AgentId, AgentState, Cell, CoverageDigest, Duration, Instant, ObjectId, ObjectState, Position,
    Velocity,
};
use covey_simulator::cpu::thread_cpu_s;
use covey_simulator::{Arm, MapReference, Prepared, Scenario};

const BEGIN: Instant = Instant::from_millis(720_000_000_000);
const STEP: Duration = Duration::from_millis(50);
const SPEED: f64 = 5.0;
const STEPS_A_CYCLE: u64 = 4;
const SIZE: Size = Size {
    length: 4.5,
    width: 1.8,
    height: 1.5,
};

/// Frames of one step of 50 ms.
type Air = Vec<Vec<u8>>;

/// Along both roads.
fn state(number: u64, now: Instant) -> AgentState {
    let along = 60.0 + 5.0 * (number / 2) as f64 + SPEED * now.since(BEGIN).seconds();
    let (position, heading) = match number % 2 {
        0 => (Position::new(along, 248.5), 0.0),
        _ => (Position::new(251.5, along), std::f64::consts::FRAC_PI_2),
    };
    AgentState {
        position,
        heading,
        speed: SPEED,
        size: SIZE,
    }
}

fn beacon(wire: &Wire<'_>, member: u64, now: Instant) -> Option<Vec<u8>> {
    let state = state(member, now);
    let cell = |metres: f64| (metres / 20.0) as i32;
    let (x, y) = (cell(state.position.x), cell(state.position.y));
    let cells = (0..40).map(|k| Cell::new(x - 4 + k % 8, y - 2 + k / 8));
    let cells = cells.collect();
    let beacon = Beacon {
        sender: AgentId(member),
        at: now,
        state,
        digest: CoverageDigest::new(cells).ok(),
        low_frequency: false,
    };
    let cam = wire.cam(&beacon, None).ok()?;
    let source = Source::of_cam(&cam, ItsTime((now.micros() / 1_000) as u64));
    encode_frame(&cam.encode().ok()?, PORT_CAM, &source).ok()
}

fn report(wire: &Wire<'_>, member: u64, now: Instant, numbers: &mut Numbering) -> Air {
    let state = state(member, now);
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
    let cpms = wire.report_cpms(&report, &state, &CpmOptions::default(), numbers);
    let cpms = cpms.map(|cpms| cpms.messages).unwrap_or_default();
    let framed = cpms.iter().filter_map(|cpm| {
        let bytes = cpm.encode().ok()?;
        encode_frame(&bytes, PORT_CPM, &Source::of_cpm(cpm, 0)).ok()
    });
    framed.collect()
}

/// Lets the host live through one step; gives whom it asks from now on, where it said so.
fn live(host: &mut Station, now: Instant, air: &Air) -> Option<BTreeSet<AgentId>> {
    let own = AgentState {
        position: Position::new(250.0, 250.0),
        speed: 0.0,
        heading: 0.0,
        size: SIZE,
    };
    let said = host.tally().broadcasts_sent;
    host.locate(now, &own, now);
    for frame in air {
        host.hear(now, frame);
    }
    host.tick(now);
    host.take_frames();
    // Of several segments of a broadcast the first alone tells whom it asks, so the host itself is looked at.
    let office = host.participant().host()?;
    let asked = || office.contributors().iter().copied().collect();
    (host.tally().broadcasts_sent > said).then(asked)
}

/// What members send, those that a host asks reporting.
fn record(settings: &Settings, members: u64, cycles: u64) -> Vec<Air> {
    let wire = Wire::new(&*settings.reference, ItsTime(0));
    let mut host = Station::new(settings.clone(), None, BEGIN);
    let mut numbers: Vec<Numbering> = (0..members).map(|_| Numbering::new()).collect();
    let mut asked: BTreeSet<AgentId> = BTreeSet::new();
    let mut all = Vec::new();
    let mut now = BEGIN;
    for step in 0..cycles * STEPS_A_CYCLE {
        let mut air = Air::new();
        for member in 0..members {
            if step % 2 == member % 2 {
                air.extend(beacon(&wire, member, now));
            }
            if step % STEPS_A_CYCLE == member % 3 && asked.contains(&AgentId(member)) {
                air.extend(report(&wire, member, now, &mut numbers[member as usize]));
            }
        }
        if let Some(now_asked) = live(&mut host, now, &air) {
            asked = now_asked;
        }
        all.push(air);
        now = now + STEP;
    }
    all
}

/// Plays it to a new host; CPU seconds that it took, the most of a cycle, and the host.
fn replay(settings: &Settings, all: &[Air]) -> (f64, f64, Station, usize) {
    let mut host = Station::new(settings.clone(), None, BEGIN);
    let (mut spent, mut most, mut asked) = (0.0, 0.0_f64, 0);
    let mut now = BEGIN;
    for cycle in all.chunks(STEPS_A_CYCLE as usize) {
        let begin = thread_cpu_s();
        for air in cycle {
            if let Some(set) = live(&mut host, now, air) {
                asked = set.len();
            }
            now = now + STEP;
        }
        let took = thread_cpu_s() - begin;
        spent += took;
        most = most.max(took);
    }
    (spent, most, host, asked)
}

fn settings(name: &str) -> Option<Settings> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/toy/blind-junction/scenario.toml");
    let scenario = Scenario::read(&file).ok()?;
    let prepared = Prepared::new(&scenario).ok()?;
    let arm: Arm = name.parse().ok()?;
    Some(Settings {
        id: AgentId(9_999),
        profile: arm.profile(1, &prepared)?,
        reference: Arc::new(MapReference::of(&prepared.scenario, &prepared.map).ok()?),
        sensors: Vec::new(),
        station_type: 5,
        decide_after: Duration::ZERO,
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| {
        let text = arguments.get(at);
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (members, cycles, times) = (number(0, 150), number(1, 50), number(3, 1));
    let name = arguments.get(2).map_or("proposed@0.4", String::as_str);
    let Some(settings) = settings(name) else {
        return println!("{name}: not an arm with hosts");
    };
    let all = record(&settings, members, cycles);
    let frames: usize = all.iter().map(Vec::len).sum();
    for _ in 0..times {
        let (spent, most, host, asked) = replay(&settings, &all);
        println!(
            "{name}: {members} members, {cycles} cycles, {frames} frames, {} broadcasts, {} reports heard, {asked} asked at the end, {} frames refused: {:.2} ms of CPU a cycle, {:.2} at most",
            host.tally().broadcasts_sent,
            host.tally().reports_heard,
            host.tally().flooded + host.tally().unreadable,
            1e3 * spent / (cycles.max(1)) as f64,
            1e3 * most,
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
    {
        println!("{line}");
    }
}
