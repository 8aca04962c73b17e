//! What a host's decision costs, beside a plain pass over the same candidates' cells.
//!
//! `cargo bench -p covey-protocol --bench host_cycle`. The figures of a run stand in docs/performance.md; what counts is the
//! ratio of `host cycle` (everything between the tick and the broadcast: fusing, maps, costs, scores, changes) and
//! `decision` (Algorithm 1 alone) to `plain pass`, in the same run.

use std::hint::black_box;

use covey_protocol::admission::{
    Admission, AdmissionCandidate, AdmissionContributor, AdmissionProblem,
};
use covey_protocol::demand::select::Selection;
use covey_protocol::demand::{Demand, DemandOptions};
use covey_protocol::host::Host;
use covey_protocol::messages::{
    AgentState, Beacon, Confidence, ObjectState, PathCell, Report, Size,
};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Input, Instant, ObjectId, Parameters, Position, Tile,
    Velocity, Window,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const TILE: Tile = Tile::new(0, 0);
const HOST: AgentId = AgentId(0);
const CENTRE: Position = Position::new(250.0, 250.0);

/// A reproducible number in 0..1.
fn unit(key: u64) -> f64 {
    (AgentId(key).mixed() >> 11) as f64 / (1u64 << 53) as f64
}

/// Everyone stands within the footprint, on a road of six lanes.
fn position(id: u64) -> Position {
    Position::new(
        CENTRE.x + 580.0 * (unit(id) - 0.5),
        CENTRE.y + 20.0 * (unit(id + 1_000_000) - 0.5),
    )
}

/// All cells whose centres lie within 150 m: an unobstructed view.
fn view(from: Position) -> Vec<Cell> {
    let mut cells = Vec::new();
    for iy in -10..40 {
        for ix in -30..60 {
            let cell = Cell::new(ix, iy);
            if cell.centre(20.0).distance(from) <= 150.0 {
                cells.push(cell);
            }
        }
    }
    cells
}

fn state(id: u64) -> AgentState {
    AgentState {
        position: position(id),
        heading: 0.0,
        speed: 8.0 * unit(id + 7),
        size: Size::default(),
    }
}

fn path(id: u64) -> Vec<PathCell> {
    let from = position(id);
    (0..3)
        .filter_map(|step| {
            let ahead = Position::new(from.x + 20.0 * f64::from(step), from.y);
            Some(PathCell {
                cell: Cell::containing(ahead, 20.0)?,
                after: Duration::ZERO,
                weight: 1.0,
            })
        })
        .collect()
}

fn object(id: u64, at: Instant) -> ObjectState {
    ObjectState {
        id: ObjectId(id),
        position: position(id),
        velocity: Velocity::new(1.0, 0.0),
        size: Size::default(),
        sensed_at: at,
        confidence: Confidence::FULL,
    }
}

/// A host that has heard `members` agents, holds contributors, and is about to decide.
fn host_before_decision(members: u64) -> (Host, Instant) {
    let parameters = Parameters {
        allowance: 0.8,
        // A host of a thousand members would have no room for reports beside its own broadcast.
        capacity_bytes_per_s: 2_000_000.0,
        ..Parameters::default()
    };
    let start = Instant::from_millis(0);
    let mut host = Host::new(&parameters, HOST, TILE, start, None);
    let own = AgentState {
        position: CENTRE,
        ..AgentState::default()
    };
    let own_cells = view(CENTRE);
    let mut now = start;
    for cycle in 0..12 {
        let sensed = Instant::from_millis(200 * cycle + 100);
        now = Instant::from_millis(200 * cycle + 150);
        host.handle_input(sensed, Input::Moved(&own));
        host.handle_input(
            sensed,
            Input::Sensed {
                objects: &[],
                cells: &own_cells,
            },
        );
        for id in 1..=members {
            let beacon = Beacon {
                sender: AgentId(id),
                at: sensed,
                state: state(id),
                digest: CoverageDigest::new(view(position(id))).ok(),
                low_frequency: false,
            };
            host.handle_input(sensed, Input::Beacon(&beacon));
            host.handle_input(
                sensed,
                Input::Path {
                    agent: AgentId(id),
                    cells: &path(id),
                },
            );
        }
        for &contributor in &host.contributors().to_vec() {
            let report = Report {
                sender: contributor,
                at: sensed,
                objects: (0..20).map(|k| object(10_000 + k, sensed)).collect(),
                sensor_information: false,
            };
            host.handle_input(sensed, Input::Report(&report));
        }
        if cycle < 11 {
            host.handle_input(now, Input::Tick);
            while host.poll_output().is_some() {}
        }
    }
    (host, now)
}

fn host_cycle(c: &mut Criterion) {
    let mut group = c.benchmark_group("host");
    for members in [150, 1_000] {
        group.throughput(Throughput::Elements(members));
        let window = Window::around(TILE, 500.0, 20.0);
        let cells: Vec<Vec<u32>> = (1..=members)
            .map(|id| {
                view(position(id))
                    .iter()
                    .filter_map(|&c| window.index(c))
                    .collect()
            })
            .collect();
        let table: Vec<f64> = (0..window.len() as u64).map(unit).collect();
        group.bench_function(BenchmarkId::new("plain pass", members), |b| {
            b.iter(|| {
                let mut best = 0.0_f64;
                for cells in black_box(&cells) {
                    let mut sum = 0.0;
                    for &cell in cells {
                        sum += table[cell as usize];
                    }
                    best = best.max(sum);
                }
                best
            });
        });

        let parameters = Parameters::default();
        let mut rules = parameters.rules();
        rules.capacity_bytes_per_s = 2_000_000.0;
        let prior: Vec<f64> = (0..window.len() as u64).map(|k| unit(k + 99)).collect();
        let rho: Vec<f64> = (0..window.len() as u64)
            .map(|k| {
                if unit(k) < 0.2 {
                    1.0 + (5.0 * unit(k)).floor()
                } else {
                    0.0
                }
            })
            .collect();
        let deadline_s: Vec<f64> = rho
            .iter()
            .enumerate()
            .map(|(k, &rho)| {
                if rho > 0.0 {
                    0.2 + 0.5 * unit(k as u64)
                } else {
                    0.0
                }
            })
            .collect();
        let contributors: Vec<AdmissionContributor<'_>> = (0..10)
            .map(|k| AdmissionContributor {
                id: AgentId(k as u64 + 1),
                cells: &cells[k],
                decoded: k % 2 == 0,
                decoded_fraction: 0.9,
                report_bytes: 800.0,
                broadcast_bytes: 100.0,
                prior_without: None,
            })
            .collect();
        let candidates: Vec<AdmissionCandidate<'_>> = cells
            .iter()
            .enumerate()
            .skip(10)
            .map(|(k, cells)| AdmissionCandidate {
                id: AgentId(k as u64 + 1),
                cells,
                decoded_fraction: 0.9,
                report_bytes: 156.0 + 35.0 * (unit(k as u64) * 30.0).floor(),
                broadcast_bytes: 200.0 * unit(k as u64 + 5),
            })
            .collect();
        let problem = AdmissionProblem {
            price: 2.0,
            broadcast_base_bytes: 3_000.0,
            broadcast_delivery: 0.95,
            prior: &prior,
            rho: &rho,
            deadline_s: &deadline_s,
            host_cells: &cells[0],
            overheard: &[],
            contributors: &contributors,
            candidates: &candidates,
        };
        let mut admission = Admission::new();
        group.bench_function(BenchmarkId::new("decision", members), |b| {
            b.iter(|| admission.decide(black_box(&rules), black_box(&problem)));
        });

        let (host, now) = host_before_decision(members);
        assert!(!host.contributors().is_empty());
        group.bench_function(BenchmarkId::new("host cycle", members), |b| {
            b.iter_batched_ref(
                || host.clone(),
                |host| host.handle_input(now, Input::Tick),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn digest(c: &mut Criterion) {
    let mut group = c.benchmark_group("digest");
    let sparse: Vec<Cell> = view(CENTRE).into_iter().filter(|c| c.iy == 12).collect();
    let patchy: Vec<Cell> = view(CENTRE)
        .into_iter()
        .filter(|c| unit((c.ix + 100 * c.iy) as u64) < 0.4)
        .collect();
    for (name, cells) in [("one row", sparse), ("patchy view", patchy)] {
        let digest = CoverageDigest::new(cells.clone()).unwrap();
        let bytes = digest.encode();
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("new and encode", name), |b| {
            b.iter(|| CoverageDigest::new(black_box(cells.clone())).map(|d| d.encode()));
        });
        group.bench_function(BenchmarkId::new("decode", name), |b| {
            b.iter(|| CoverageDigest::decode(black_box(&bytes)));
        });
    }
    group.finish();
}

/// A host with choice by demand before its decision: a road of six lanes at a fixed density, half of the vehicles silent, as
/// long as it takes for `members` with a radio.
fn demand_host_before_decision(members: u64) -> (Host<Demand>, Instant) {
    // 150 members within 300 m to either side; more members need a longer road, not a fuller one.
    let half_m = 2.0 * members as f64;
    let parameters = Parameters {
        allowance: 0.8,
        tile_m: 2.5 * half_m,
        footprint_m: 1.1 * half_m,
        // Few cells: nothing here is about coverage.
        cell_m: 500.0,
        capacity_bytes_per_s: 1_600.0 * members as f64,
        ..Parameters::default()
    };
    let centre = TILE.centre(parameters.tile_m);
    let place = |id: u64| {
        let lane = (id % 6) as f64;
        Position::new(
            centre.x + 2.0 * half_m * (unit(id) - 0.5),
            centre.y + 3.5 * lane - 8.75,
        )
    };
    let state = |id: u64| AgentState {
        position: place(id),
        heading: if id % 6 < 3 {
            0.0
        } else {
            core::f64::consts::PI
        },
        speed: 8.0 * unit(id + 7),
        size: Size {
            length: 5.0,
            width: 2.0,
            height: 1.6,
        },
    };
    let silent = 1_000_000;
    let start = Instant::from_millis(0);
    let policy = Demand::new(DemandOptions::default());
    let mut host = Host::with_policy(&parameters, HOST, TILE, start, None, policy);
    let own = AgentState {
        position: centre,
        ..AgentState::default()
    };
    let mut now = start;
    for cycle in 0..6 {
        let sensed = Instant::from_millis(200 * cycle + 100);
        now = Instant::from_millis(200 * cycle + 150);
        host.handle_input(sensed, Input::Moved(&own));
        for id in 1..=members {
            let beacon = Beacon {
                sender: AgentId(id),
                at: sensed,
                state: state(id),
                digest: None,
                low_frequency: false,
            };
            host.handle_input(sensed, Input::Beacon(&beacon));
        }
        // One in ten reports the silent vehicles around it.
        for reporter in (1..=members).filter(|id| id % 10 == 0) {
            let around = (silent..silent + members)
                .filter(|&id| place(id).distance(place(reporter)) < 60.0)
                .map(|id| ObjectState {
                    position: place(id),
                    velocity: state(id).velocity(),
                    size: state(id).size,
                    ..object(id, sensed)
                });
            let report = Report {
                sender: AgentId(reporter),
                at: sensed,
                objects: around.collect(),
                sensor_information: false,
            };
            host.handle_input(sensed, Input::Report(&report));
        }
        if cycle < 5 {
            host.handle_input(now, Input::Tick);
            while host.poll_output().is_some() {}
        }
    }
    (host, now)
}

fn demand(c: &mut Criterion) {
    let mut group = c.benchmark_group("demand");
    for members in [150, 1_000] {
        group.throughput(Throughput::Elements(members));
        let (host, now) = demand_host_before_decision(members);
        assert!(!host.contributors().is_empty());
        group.bench_function(BenchmarkId::new("host cycle", members), |b| {
            b.iter_batched_ref(
                || host.clone(),
                |host| host.handle_input(now, Input::Tick),
                BatchSize::LargeInput,
            );
        });
        let problem = host.policy().problem().cloned().unwrap();
        group.bench_function(BenchmarkId::new("selection", members), |b| {
            b.iter(|| Selection::choose(black_box(&problem)));
        });
    }
    group.finish();
}

criterion_group!(benches, host_cycle, demand, digest);
criterion_main!(benches);
