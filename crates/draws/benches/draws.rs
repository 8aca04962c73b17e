//! Cost of a draw, beside that of Philox.

use std::hint::black_box;

use covey_draws::{Draws, Purpose};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Receivers of a sender: the letter's corridor has about as many.
const RECEIVERS: u32 = 140;

fn draws(c: &mut Criterion) {
    let mut group = c.benchmark_group("draw");
    let receivers: Vec<u32> = (0..RECEIVERS).collect();
    let mut units = vec![0.0; receivers.len()];
    group.throughput(Throughput::Elements(u64::from(RECEIVERS)));
    let addressed = Draws::new(1, Purpose::Reception, 0, 7);
    group.bench_function("splitmix", |b| {
        b.iter(|| addressed.fill_units(black_box(3), &receivers, &mut units));
    });
    group.bench_function("philox", |b| {
        b.iter(|| {
            let sender = black_box(3);
            for (unit, receiver) in units.iter_mut().zip(&receivers) {
                let words = rand_philox::philox4x32_10([sender, *receiver, 7, 1], [1, 0]);
                *unit = rand_philox::u32_to_unit_f32(words[0]);
            }
        });
    });
    group.bench_function("normal", |b| {
        b.iter(|| {
            (0..RECEIVERS)
                .map(|n| addressed.at(black_box(3), n).normal())
                .sum::<f64>()
        });
    });
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
