//! Cost of the built-in traffic.
#![allow(
    missing_docs,
    reason = "criterion's macros make undocumented functions"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use covey_traffic::Source;
use covey_traffic::builtin::{Builtin, BuiltinConfig};
use covey_world::Frame;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use support::{Grid, grid};

/// One second of traffic (20 frames) on grids that grow with the number of vehicles.
fn one_second(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("builtin");
    group.sample_size(20);
    for rows in [2, 4, 8, 16, 32] {
        let network = grid(&Grid {
            columns: 10,
            rows,
            spacing: 170.0,
            main_lanes: 3,
            ..Grid::default()
        });
        let config = BuiltinConfig {
            warmup_s: 60.0,
            ..BuiltinConfig::default()
        };
        let Ok(traffic) = Builtin::new(&network, &config, 1) else {
            continue;
        };
        let vehicles = traffic.summary().vehicles;
        group.throughput(Throughput::Elements(20 * vehicles as u64));
        group.bench_function(BenchmarkId::new("second", vehicles), |bencher| {
            let mut traffic = traffic.clone();
            let mut frame = Frame::default();
            bencher.iter(|| {
                for _ in 0..20 {
                    let _ = traffic.next_frame(&mut frame);
                }
                frame.time_us
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one_second);
criterion_main!(benches);
