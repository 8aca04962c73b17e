//! Stations at the blind junction, beside a run of the simulator: every station hears, as frames, what the run delivered to its vehicle, and
//! should host and report as the run does.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use covey_its::frame::{Message as Frame, decode_frame};
use covey_its::{ItsTime, Wire};
use covey_node::drive::{AsTold, Network, Options, prepare};
use covey_node::station::{Settings, Station};
use covey_protocol::associate::Accuracy;
use covey_protocol::messages::Size;
use covey_protocol::{AgentId, AgentState, Duration, Instant, Message, Position, Profile, Tile};
use covey_simulator::events::{Senses, StepView};
use covey_simulator::{Arm, MapReference, Observer, RunOptions, simulate};
use covey_traffic::builtin::Builtin;

/// ITS time at which a run begins here: the beginning of a cycle.
const BEGIN: Duration = Duration::from_millis(720_000_000_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Beacon,
    Report,
    Broadcast,
}

fn kind_of(message: &Message) -> Kind {
    match message {
        Message::Beacon(_) => Kind::Beacon,
        Message::Report(_) => Kind::Report,
        Message::Broadcast(_) => Kind::Broadcast,
    }
}

fn kind(frame: &[u8]) -> Kind {
    match decode_frame(frame).unwrap().message {
        Frame::Cam(_) => Kind::Beacon,
        Frame::Cpm(cpm) if cpm.fused.is_some() => Kind::Broadcast,
        Frame::Cpm(_) => Kind::Report,
        other => panic!("{other:?}"),
    }
}

#[derive(Debug)]
struct Beside {
    station: Station,
    /// Sent at this instant, and not by the run yet.
    out: VecDeque<(Kind, Vec<u8>)>,
}

#[derive(Debug)]
struct Crowd {
    profile: Profile,
    reference: Arc<MapReference>,
    stations: BTreeMap<AgentId, Beside>,
    /// Messages that both sent, that the run alone sent, that a station alone sent.
    both: BTreeMap<Kind, u64>,
    run_alone: BTreeMap<Kind, u64>,
    station_alone: BTreeMap<Kind, u64>,
    /// What the run just sent, and its frames here.
    on_air: Vec<(AgentId, Kind, Vec<Vec<u8>>)>,
}

impl Crowd {
    fn collect(&mut self, agent: AgentId) {
        if let Some(beside) = self.stations.get_mut(&agent) {
            let frames = beside.station.take_frames().into_iter();
            beside.out.extend(frames.map(|frame| (kind(&frame), frame)));
        }
    }

    fn decides_at(&self, now: Instant) -> bool {
        let p = &self.profile.parameters;
        let phase = Duration::from_seconds(p.decision_phase_s);
        now.floor_to(Duration::from_seconds(p.cycle_s), phase) == now
    }
}

impl Observer for Crowd {
    fn step(&mut self, view: &StepView<'_>) {
        for beside in self.stations.values_mut() {
            for (kind, _) in beside.out.drain(..) {
                *self.station_alone.entry(kind).or_default() += 1;
            }
        }
        let here: Vec<u64> = view.vehicles.iter().map(|v| u64::from(v.id.0)).collect();
        self.stations.retain(|agent, _| here.contains(&agent.0));
        self.on_air.clear();
    }

    fn wants_senses(&self) -> bool {
        true
    }

    fn senses(&mut self, now: Instant, agent: AgentId, senses: &Senses<'_>) {
        let at = now + BEGIN;
        let decides = self.decides_at(now);
        let beside = self.stations.entry(agent).or_insert_with(|| {
            let settings = Settings {
                id: agent,
                profile: self.profile.clone(),
                reference: Arc::clone(&self.reference),
                sensors: Vec::new(),
                station_type: 5,
                decide_after: Duration::ZERO,
            };
            Beside {
                station: Station::new(settings, None, at),
                out: VecDeque::new(),
            }
        });
        if let Some((objects, cells)) = senses.sensed {
            let mut objects = objects.to_vec();
            for object in &mut objects {
                object.sensed_at = object.sensed_at + BEGIN;
            }
            beside.station.sense(at, &objects, cells);
        }
        beside.station.locate(at, senses.state, at);
        if !decides {
            beside.station.tick(at);
        }
        self.collect(agent);
    }

    fn loads(&mut self, _: usize, now: Instant, _: &[(Tile, f64)]) {
        if self.decides_at(now) {
            let agents: Vec<AgentId> = self.stations.keys().copied().collect();
            for agent in agents {
                self.stations
                    .get_mut(&agent)
                    .unwrap()
                    .station
                    .tick(now + BEGIN);
                self.collect(agent);
            }
        }
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(&mut self, _: usize, _: Instant, _: Option<Tile>, message: &Message, _: u32) {
        let kind = kind_of(message);
        let out = &mut self.stations.get_mut(&message.sender()).unwrap().out;
        let mut frames = Vec::new();
        while let Some((_, frame)) = out.pop_front_if(|(of, _)| *of == kind) {
            frames.push(frame);
        }
        let count = match frames.is_empty() {
            true => &mut self.run_alone,
            false => &mut self.both,
        };
        *count.entry(kind).or_default() += 1;
        self.on_air.push((message.sender(), kind, frames));
    }

    fn wants_deliveries(&self) -> bool {
        true
    }

    fn delivered(&mut self, _: usize, now: Instant, message: &Message, receivers: &[u32]) {
        let of = (message.sender(), kind_of(message));
        let sent = self.on_air.iter().find(|(s, k, _)| (*s, *k) == of);
        let Some((_, _, frames)) = sent else {
            return;
        };
        for &receiver in receivers {
            if let Some(beside) = self.stations.get_mut(&AgentId(u64::from(receiver))) {
                for frame in frames {
                    beside.station.hear(now + BEGIN, frame);
                }
            }
        }
    }
}

fn options(seed: u64, warmup_s: f64, measure_s: f64) -> Options {
    Options {
        scenario: Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../scenarios/toy/blind-junction/scenario.toml"),
        nodes: 6,
        seed,
        arm: "proposed@0.4".to_string(),
        warmup_s,
        measure_s,
        loss: 0.0,
        delay_ms: 0.0,
        partitions: Vec::new(),
        kills: Vec::new(),
        revive_s: None,
        flood: None,
        clock_step: None,
        signed: false,
        change_s: 0.0,
        network: Network::Loopback,
        program: PathBuf::new(),
        folder: PathBuf::new(),
        pcap: None,
    }
}

/// Six stations beside a run of the world that `covey drive` plays to nodes.
fn six_stations(seed: u64, warmup_s: f64, measure_s: f64) -> Crowd {
    let (prepared, _) = prepare(&options(seed, warmup_s, measure_s)).unwrap();
    let arm: Arm = "proposed@0.4".parse().unwrap();
    let mut profile = arm.profile(seed, &prepared).unwrap();
    profile.association = Some(Accuracy {
        position_m: 0.1,
        velocity_m_per_s: 0.0,
        sizes: true,
    });
    let mut crowd = Crowd {
        profile,
        reference: Arc::new(MapReference::of(&prepared.scenario, &prepared.map).unwrap()),
        stations: BTreeMap::new(),
        both: BTreeMap::new(),
        run_alone: BTreeMap::new(),
        station_alone: BTreeMap::new(),
        on_air: Vec::new(),
    };
    let traffic = Builtin::new(&prepared.map.network, &prepared.scenario.traffic, seed).unwrap();
    let mut traffic = AsTold::new(traffic, &prepared).unwrap();
    let options = RunOptions {
        warmup_s,
        measure_s,
        ..RunOptions::default()
    };
    simulate(&prepared, &mut traffic, &[arm], seed, &options, &mut crowd).unwrap();
    crowd
}

fn count(of: &BTreeMap<Kind, u64>, kind: Kind) -> u64 {
    of.get(&kind).copied().unwrap_or(0)
}

/// Beacons and hosts are the same to the last message; whom hosts ask hangs on who is who, which stations find out by place.
fn assert_alike(crowd: &Crowd, what: &str) {
    let text = format!(
        "{what}: both {:?}, the run alone {:?}, stations alone {:?}",
        crowd.both, crowd.run_alone, crowd.station_alone
    );
    for kind in [Kind::Beacon, Kind::Broadcast] {
        let apart = count(&crowd.run_alone, kind) + count(&crowd.station_alone, kind);
        assert_eq!(apart, 0, "{text}");
    }
    let apart = count(&crowd.run_alone, Kind::Report) + count(&crowd.station_alone, Kind::Report);
    assert!(apart * 20 <= count(&crowd.both, Kind::Report), "{text}");
}

#[test]
fn six_stations_host_and_report_as_the_simulator_does_with_the_same_deliveries() {
    let crowd = six_stations(3, 4.0, 56.0);
    assert!(count(&crowd.both, Kind::Beacon) > 2_000, "{:?}", crowd.both);
    assert!(
        count(&crowd.both, Kind::Broadcast) > 200,
        "{:?}",
        crowd.both
    );
    assert!(count(&crowd.both, Kind::Report) > 100, "{:?}", crowd.both);
    assert_alike(&crowd, "seed 3");
}

/// Whoever is nearest to the centre hosts: a station has to compare itself with others by the place that they compare with.
#[test]
fn a_station_knows_itself_to_be_where_its_beacons_say() {
    let (prepared, _) = prepare(&options(1, 4.0, 6.0)).unwrap();
    let arm: Arm = "proposed@0.4".parse().unwrap();
    let reference = Arc::new(MapReference::of(&prepared.scenario, &prepared.map).unwrap());
    let wire = Wire::new(&*reference, ItsTime(0));
    let begin = Instant::ZERO + BEGIN;
    for number in 0..200_u32 {
        let settings = Settings {
            id: AgentId(7),
            profile: arm.profile(1, &prepared).unwrap(),
            reference: Arc::clone(&reference),
            sensors: Vec::new(),
            station_type: 5,
            decide_after: Duration::ZERO,
        };
        let mut station = Station::new(settings, None, begin);
        let n = f64::from(number);
        let state = AgentState {
            position: Position::new(150.0 + 1.0137 * n, 350.0 - 0.913 * n),
            heading: 0.031_7 * n,
            speed: 0.0,
            size: Size {
                length: 3.5 + 0.013 * n,
                width: 1.8,
                height: 1.5,
            },
        };
        let mut at = begin;
        let frames = loop {
            station.locate(at, &state, at);
            station.tick(at);
            let frames = station.take_frames();
            if !frames.is_empty() {
                break frames;
            }
            at = at + Duration::from_millis(50);
            assert!(at.since(begin) < Duration::from_millis(1_000), "no beacon");
        };
        let own = station.here(at).unwrap().position;
        let Frame::Cam(cam) = decode_frame(&frames[0]).unwrap().message else {
            panic!("a beacon comes first");
        };
        let heard = wire.beacon(&cam, at).unwrap().state.position;
        assert!(own.distance(heard) < 1e-7, "{own:?} {heard:?}");
        assert!(own.distance(state.position) < 0.02, "{own:?} {state:?}");
    }
}

#[test]
fn on_eight_seeds_the_same_stations_host_as_in_the_simulator() {
    for seed in 1..=8 {
        let crowd = six_stations(seed, 4.0, 6.0);
        assert!(
            count(&crowd.both, Kind::Broadcast) > 20,
            "seed {seed}: {:?}",
            crowd.both
        );
        assert_alike(&crowd, &format!("seed {seed}"));
    }
}
