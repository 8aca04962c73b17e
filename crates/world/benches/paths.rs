//! Cost of relevance and of the risk prior on a long road of many junctions.
//!
//! The density is the same for all sizes, so the time per vehicle should be too. Times are for all vehicles of one step:
//! divide by the number in the name, or see the throughput column (elements are vehicles).

#[path = "../tests/paths_support/mod.rs"]
mod paths_support;

use std::hint::black_box;
use std::sync::Arc;

use covey_world::paths::{
    BeaconState, ConflictTable, PathBuffer, Predictor, Relevance, RelevanceParameters,
    RelevantPairs, RiskPrior, RiskPriorParameters,
};
use covey_world::{Frame, GridFrame, Network, Point, VehicleState};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use paths_support::{car, corridor};

/// Vehicles 23 m apart (43 to the kilometre and lane) on all lanes, some standing, some turning, internal lanes included.
fn traffic(network: &Network) -> Vec<VehicleState> {
    let mut vehicles = Vec::new();
    let mut id = 0u32;
    for (l, lane) in (0u32..).zip(&network.lanes) {
        let mut at = 3.0 + f64::from(l * 7 % 20);
        while at < lane.length {
            let speed = f64::from((id * 7) % 5) * 3.0;
            let mut vehicle = car(network, id, covey_world::network::LaneIx(l), at, speed);
            let choices = &lane.outgoing;
            if !choices.is_empty() {
                vehicle.next = Some(choices[id as usize % choices.len()]);
            }
            vehicles.push(vehicle);
            id += 1;
            at += 23.2;
        }
    }
    vehicles
}

fn paths(criterion: &mut Criterion) {
    for (junctions, wanted) in [(22, 1_000), (88, 4_000), (352, 16_000)] {
        let network = corridor(junctions, 3, true);
        let predictor = Arc::new(Predictor::new(&network));
        let conflicts = Arc::new(ConflictTable::new(&network, &predictor));
        let mut vehicles = traffic(&network);
        // Vehicles leave evenly until the wanted number stays, so that the density is the same for all sizes.
        let all = vehicles.len();
        assert!(all >= wanted, "{all} vehicles fit on the road");
        let mut place = 0;
        vehicles.retain(|_| {
            place += 1;
            place * wanted / all > (place - 1) * wanted / all
        });
        let frame = Frame {
            time_us: 0,
            vehicles,
        };
        let number = frame.vehicles.len();

        let mut relevance = Relevance::new(
            predictor.clone(),
            conflicts.clone(),
            RelevanceParameters::default(),
        );
        let mut pairs = RelevantPairs::new();
        let mut group = criterion.benchmark_group("relevance");
        group.throughput(Throughput::Elements(number as u64));
        group.bench_with_input(BenchmarkId::from_parameter(number), &frame, |b, frame| {
            b.iter(|| {
                relevance.step(black_box(frame), &mut pairs);
                black_box(pairs.len())
            });
        });
        group.finish();

        let grid = GridFrame::new(Point::new(0.0, 0.0), 0.0, 20.0).unwrap();
        let prior = RiskPrior::new(
            predictor.clone(),
            &conflicts,
            grid,
            RiskPriorParameters::default(),
        );
        let (mut buffer, mut cells) = (PathBuffer::new(), Vec::new());
        let mut group = criterion.benchmark_group("risk prior");
        group.throughput(Throughput::Elements(number as u64));
        group.bench_with_input(BenchmarkId::from_parameter(number), &frame, |b, frame| {
            b.iter(|| {
                let mut sum = 0;
                for v in &frame.vehicles {
                    let beacon = BeaconState {
                        position: v.position,
                        heading: v.heading,
                        speed: v.speed,
                    };
                    prior.cells(black_box(&beacon), &mut buffer, &mut cells);
                    sum += cells.len();
                }
                black_box(sum)
            });
        });
        group.finish();

        let mut group = criterion.benchmark_group("tables");
        group.sample_size(10);
        group.bench_function(
            BenchmarkId::from_parameter(network.connections.len()),
            |b| {
                b.iter(|| ConflictTable::new(black_box(&network), &predictor).pairs());
            },
        );
        group.finish();
    }
}

criterion_group!(benches, paths);
criterion_main!(benches);
