//! Messages written and read per second. `cargo bench -p covey-its --bench codec`

use std::hint::black_box;

use covey_its::{Cam, Cpm, samples};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn codec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("messages");
    group.throughput(Throughput::Elements(1));
    let message = samples::cam_with_digest();
    let bytes = message.encode().expect("a valid CAM");
    group.bench_function("cam encode", |b| b.iter(|| black_box(&message).encode()));
    group.bench_function("cam decode", |b| b.iter(|| Cam::decode(black_box(&bytes))));
    for objects in [10, 32] {
        let message = samples::report(objects);
        let bytes = message.encode().expect("a valid CPM");
        group.bench_function(BenchmarkId::new("cpm encode", objects), |b| {
            b.iter(|| black_box(&message).encode());
        });
        group.bench_function(BenchmarkId::new("cpm decode", objects), |b| {
            b.iter(|| Cpm::decode(black_box(&bytes)));
        });
    }
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
