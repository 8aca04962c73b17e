//! Messages written and read per second. `cargo bench -p covey-its --bench codec`

use std::hint::black_box;

use covey_its::cam::{CarriedDigest, PASSENGER_CAR, WirePosition};
use covey_its::{Cam, Cpm, CpmObject};
use covey_protocol::{Cell, CoverageDigest};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn cam() -> Cam {
    let row = (0..7).map(|ix| Cell::new(ix, 0)).collect();
    Cam {
        station_id: 4711,
        station_type: PASSENGER_CAR,
        generation_ms: 1,
        position: WirePosition::default(),
        heading: Some(900),
        speed: Some(1_389),
        backward: Some(false),
        length: Some(45),
        width: Some(18),
        path: None,
        digest: CoverageDigest::new(row).ok().map(CarriedDigest::Cells),
    }
}

fn cpm(objects: u16) -> Cpm {
    Cpm {
        station_id: 4711,
        reference_ms: 700_000_000_123,
        position: WirePosition::default(),
        segment: None,
        orientation: Some(Some(900)),
        sensors: vec![],
        objects_known: objects as u8,
        objects: (0..objects)
            .map(|id| CpmObject {
                id: Some(id),
                measured_ms: -50,
                east: i32::from(id) * 100,
                north: -12_345,
                velocity: Some((1_389, -20)),
                length: Some(45),
                width: Some(18),
                height: Some(15),
                quality: Some(15),
            })
            .collect(),
        fused: None,
    }
}

fn codec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("messages");
    group.throughput(Throughput::Elements(1));
    let message = cam();
    let bytes = message.encode().expect("a valid CAM");
    group.bench_function("cam encode", |b| b.iter(|| black_box(&message).encode()));
    group.bench_function("cam decode", |b| b.iter(|| Cam::decode(black_box(&bytes))));
    for objects in [10, 32] {
        let message = cpm(objects);
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
