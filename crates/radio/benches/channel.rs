//! Cost of links and receptions.

use std::hint::black_box;

use covey_draws::{Draws, Purpose};
use covey_radio::{
    Channel, FadingDraws, LANES, LaneReception, LaneRow, LinkGeometry, LinkState, PairFading,
    PairLink, Reception,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Senders of one step and receivers of each: the letter's corridor has about as many.
const SENDERS: u32 = 400;
const RECEIVERS: u32 = 140;
const TILES: u32 = 10;

/// A column of vehicles 7 m apart, every sender's receivers around it.
fn receivers(sender: u32) -> Vec<u32> {
    (0..RECEIVERS)
        .map(|n| (sender + n) % (2 * SENDERS))
        .collect()
}

fn geometry(n: u32, moved_m: f64) -> LinkGeometry {
    let state = match n % 4 {
        0 => LinkState::Los,
        1 => LinkState::Nlos,
        _ => LinkState::NlosV {
            blocker_height_m: 1.6,
        },
    };
    let offset_m = [5.0 + 3.5 * f64::from(n) + moved_m, 3.0];
    LinkGeometry {
        offset_m,
        antennas_m: [1.6, 1.6],
        state,
    }
}

fn links(c: &mut Criterion) {
    let mut group = c.benchmark_group("link");
    group.throughput(Throughput::Elements(u64::from(RECEIVERS)));
    let channel = Channel::default();
    let mut fading = vec![PairFading::default(); RECEIVERS as usize];
    let mut step = 0;
    group.bench_function("update", |b| {
        b.iter(|| {
            step += 1;
            let draws = FadingDraws::new(1, step);
            let moved_m = 0.3 * (step % 100) as f64;
            (0..RECEIVERS)
                .zip(&mut fading)
                .map(|(n, fading)| {
                    channel
                        .update(fading, &draws, [0, n], &geometry(n, moved_m))
                        .success
                })
                .sum::<f32>()
        });
    });
    group.finish();
}

fn receptions(c: &mut Criterion) {
    let channel = Channel::default();
    let fading = FadingDraws::new(1, 0);
    let links: Vec<PairLink> = (0..RECEIVERS)
        .map(|n| {
            channel.update(
                &mut PairFading::default(),
                &fading,
                [0, n],
                &geometry(n, 0.0),
            )
        })
        .collect();
    let senders: Vec<Vec<u32>> = (0..SENDERS).map(receivers).collect();
    let tile_of: Vec<u32> = (0..2 * SENDERS)
        .map(|n| n * TILES / (2 * SENDERS))
        .collect();
    let load = |tile: u32, lane: usize| 0.4 + 0.05 * f64::from(tile) + 0.03 * lane as f64;
    let rows: Vec<_> = (0..TILES).map(|tile| channel.row(load(tile, 0))).collect();
    let listening = vec![0.99; tile_of.len()];
    let one = Reception {
        rows: &rows,
        tile_of: &tile_of,
        listening: &listening,
    };
    let lane_rows: Vec<_> = (0..TILES)
        .map(|tile| {
            let mut lanes = LaneRow::DEAF;
            (0..LANES).for_each(|lane| lanes.set(lane, &channel.row(load(tile, lane))));
            lanes
        })
        .collect();
    let lane_listening = vec![[0.99; LANES]; tile_of.len()];
    let many = LaneReception {
        rows: &lane_rows,
        tile_of: &tile_of,
        listening: &lane_listening,
        lanes: LANES,
    };

    let mut group = c.benchmark_group("reception");
    let count = u64::from(SENDERS) * u64::from(RECEIVERS);
    let mut units = vec![0.0; RECEIVERS as usize];
    let mut step = 0;
    group.throughput(Throughput::Elements(count));
    group.bench_function("one arm, with draws", |b| {
        let mut received = vec![false; RECEIVERS as usize];
        b.iter(|| {
            step += 1;
            let draws = Draws::new(1, Purpose::Reception, 0, step);
            for (sender, receivers) in senders.iter().enumerate() {
                draws.fill_units(sender as u32, receivers, &mut units);
                one.draw(receivers, &links, &units, &mut received);
                black_box(&received);
            }
        });
    });
    group.throughput(Throughput::Elements(count * LANES as u64));
    group.bench_function("16 arms sharing draws", |b| {
        let mut received = vec![0; RECEIVERS as usize];
        b.iter(|| {
            step += 1;
            let draws = Draws::new(1, Purpose::Reception, 0, step);
            for (sender, receivers) in senders.iter().enumerate() {
                draws.fill_units(sender as u32, receivers, &mut units);
                many.draw(receivers, &links, &units, &mut received);
                black_box(&received);
            }
        });
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("row", |b| b.iter(|| channel.row(black_box(0.64))));
    group.finish();
}

criterion_group!(benches, links, receptions);
criterion_main!(benches);
