//! What a host's decision costs, beside a plain pass over the same candidates' cells.
//!
//! `cargo bench -p covey-protocol --bench host_cycle`. The figures of a run stand in docs/performance.md; what counts is the
//! ratio of `host cycle` (everything between the tick and the broadcast: fusing, maps, costs, scores, changes) and
//! `decision` (Algorithm 1 alone) to `plain pass`, in the same run. A host goes on from cycle to cycle, so what is measured is
//! a host whose contributor set has settled.

use std::hint::black_box;
use std::sync::{Arc, Mutex};

use covey_protocol::admission::{
    Admission, AdmissionCandidate, AdmissionContributor, AdmissionProblem,
};
use covey_protocol::demand::DemandOptions;
use covey_protocol::demand::select::{DemandProblem, Selection};
use covey_protocol::host::{Host, Witness};
use covey_protocol::messages::{AgentState, Beacon, Confidence, ObjectState, Report, Size};
use covey_protocol::policy::{Explanation, View};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Input, Instant, ObjectId, Parameters, Position, Profile, Tile,
    Velocity, Window,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

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

/// A host, and what it hears from cycle to cycle.
struct Office<F> {
    host: Host,
    own: AgentState,
    own_cells: Vec<Cell>,
    /// Everyone's beacon, but for the time.
    beacons: Vec<Beacon>,
    /// The reports of a cycle, by the contributors and the time.
    reports: F,
    cycle: i64,
}

impl<F: Fn(&[AgentId], Instant) -> Vec<Report>> Office<F> {
    /// All that the host hears before its next decision, which is due at the time given.
    fn hear(&mut self) -> Instant {
        let sensed = Instant::from_millis(200 * self.cycle + 100);
        let due = Instant::from_millis(200 * self.cycle + 150);
        self.cycle += 1;
        self.host.handle_input(sensed, Input::Moved(&self.own));
        let seen = Input::Sensed {
            objects: &[],
            cells: &self.own_cells,
        };
        self.host.handle_input(sensed, seen);
        for beacon in &mut self.beacons {
            beacon.at = sensed;
            self.host.handle_input(sensed, Input::Beacon(beacon));
        }
        for report in (self.reports)(self.host.contributors(), sensed) {
            self.host.handle_input(sensed, Input::Report(&report));
        }
        due
    }

    /// The decision that is measured; callgrind finds it by name (`--toggle-collect='*measured*'`).
    #[inline(never)]
    fn measured(&mut self, due: Instant) {
        self.host.handle_input(due, Input::Tick);
    }

    /// Runs for so many cycles.
    fn run(&mut self, cycles: usize) {
        for _ in 0..cycles {
            let due = self.hear();
            self.host.handle_input(due, Input::Tick);
            while self.host.poll_output().is_some() {}
        }
    }

    /// What one decision takes, cycle after cycle; what is heard in between is not counted.
    fn time(&mut self, cycles: u64) -> std::time::Duration {
        let mut spent = std::time::Duration::ZERO;
        for _ in 0..cycles {
            let due = self.hear();
            let begun = std::time::Instant::now();
            self.measured(due);
            spent += begun.elapsed();
            while black_box(self.host.poll_output()).is_some() {}
        }
        spent
    }
}

/// A host that hears `members` agents and holds contributors.
fn letter_office(members: u64) -> Office<impl Fn(&[AgentId], Instant) -> Vec<Report>> {
    let profile = Profile::letter_with(Parameters {
        allowance: 0.8,
        // A host of a thousand members would have no room for reports beside its own broadcast.
        capacity_bytes_per_s: 2_000_000.0,
        ..Parameters::default()
    });
    let beacon = |id: u64| Beacon {
        sender: AgentId(id),
        at: Instant::ZERO,
        state: state(id),
        digest: CoverageDigest::new(view(position(id))).ok(),
        low_frequency: false,
    };
    let mut office = Office {
        host: Host::new(&profile, HOST, TILE, Instant::ZERO, None),
        own: AgentState {
            position: CENTRE,
            ..AgentState::default()
        },
        own_cells: view(CENTRE),
        beacons: (1..=members).map(beacon).collect(),
        reports: |contributors: &[AgentId], at| {
            let report = |&sender: &AgentId| Report {
                sender,
                at,
                objects: (0..20).map(|k| object(10_000 + k, at)).collect(),
                sensor_information: false,
            };
            contributors.iter().map(report).collect()
        },
        cycle: 0,
    };
    office.run(11);
    office
}

#[expect(
    clippy::too_many_lines,
    reason = "one group with all sizes and policies"
)]
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

        let mut office = letter_office(members);
        assert!(!office.host.contributors().is_empty());
        group.bench_function(BenchmarkId::new("host cycle", members), |b| {
            b.iter_custom(|cycles| office.time(cycles));
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

/// A host with choice by demand on a road of six lanes that goes on for `half_m` to either side, with `members` that have a
/// radio and as many silent vehicles.
fn demand_office(members: u64, half_m: f64) -> Office<impl Fn(&[AgentId], Instant) -> Vec<Report>> {
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
    let place = move |id: u64| {
        let lane = (id % 6) as f64;
        Position::new(
            centre.x + 2.0 * half_m * (unit(id) - 0.5),
            centre.y + 3.5 * lane - 8.75,
        )
    };
    let state = move |id: u64| AgentState {
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
    // One in ten reports the silent vehicles around it.
    let report = move |reporter: u64| Report {
        sender: AgentId(reporter),
        at: Instant::ZERO,
        objects: (silent..silent + members)
            .filter(|&id| place(id).distance(place(reporter)) < 60.0)
            .map(|id| ObjectState {
                position: place(id),
                velocity: state(id).velocity(),
                size: state(id).size,
                ..object(id, Instant::ZERO)
            })
            .collect(),
        sensor_information: false,
    };
    let said: Vec<Report> = (10..=members).step_by(10).map(report).collect();
    let beacon = |id: u64| Beacon {
        sender: AgentId(id),
        at: Instant::ZERO,
        state: state(id),
        digest: None,
        low_frequency: false,
    };
    let profile = Profile::demand_with(parameters, DemandOptions::default());
    let mut office = Office {
        host: Host::new(&profile, HOST, TILE, Instant::ZERO, None),
        own: AgentState {
            position: centre,
            ..AgentState::default()
        },
        own_cells: Vec::new(),
        beacons: (1..=members).map(beacon).collect(),
        reports: move |_: &[AgentId], at| {
            let mut said = said.clone();
            for report in &mut said {
                report.at = at;
                report.objects.iter_mut().for_each(|o| o.sensed_at = at);
            }
            said
        },
        cycle: 0,
    };
    office.run(5);
    office
}

/// Keeps what the last plan was chosen from.
#[derive(Clone, Default)]
struct Onlooker(Arc<Mutex<Option<DemandProblem>>>);

impl Witness for Onlooker {
    fn planned(&mut self, _: &View<'_>, explanation: Option<Explanation<'_>>) {
        if let Some(Explanation::Demand(problem, _)) = explanation {
            *self.0.lock().unwrap() = Some(problem.clone());
        }
    }
}

fn demand(c: &mut Criterion) {
    let mut group = c.benchmark_group("demand");
    // Along a road at one density, and twice as many in the place of 150.
    for (members, half_m, name) in [
        (150, 300.0, "150"),
        (300, 300.0, "300 in one spot"),
        (1_000, 2_000.0, "1000"),
    ] {
        group.throughput(Throughput::Elements(members));
        let mut office = demand_office(members, half_m);
        assert!(!office.host.contributors().is_empty());
        group.bench_function(BenchmarkId::new("host cycle", name), |b| {
            b.iter_custom(|cycles| office.time(cycles));
        });
        let onlooker = Onlooker::default();
        office.host.watch(Box::new(onlooker.clone()));
        office.run(1);
        let problem = onlooker.0.lock().unwrap().take().unwrap();
        group.bench_function(BenchmarkId::new("selection", name), |b| {
            b.iter(|| Selection::choose(black_box(&problem)));
        });
    }
    group.finish();
}

criterion_group!(benches, host_cycle, demand, digest);
criterion_main!(benches);
