//! Speed of sight and links in a street canyon.
//!
//! `cargo bench -p covey-world --bench sight` (with `-- --quick` for a first impression). One element is one sensor, or one
//! sender; results go into docs/performance.md.
//!
//! - `sight/fast/N`: objects and 20 m cells of all of about N vehicles, the frame's index included. Four frames take turns,
//!   so that consecutive frames differ.
//! - `sight/plain/1000` and `sight/exhaustive/1000`: the same by plain loops with the same neighbour lookup, stopping at the
//!   first blocker of a line or testing it against every occluder in range.
//! - `sight/new_map/1000`: the fast path on a map that it has never seen, preparation of the buildings included.
//! - `links/fast/N`, `links/plain/1000`: link states of all pairs within 500 m.

#[path = "../tests/sight_scenes/mod.rs"]
mod sight_scenes;

use covey_world::scene::VehicleState;
use covey_world::sight::{Observed, Scratch, Sight, SightOptions, plain};
use covey_world::{GridFrame, Point};
use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use std::hint::black_box;

/// A map and frames of traffic on it.
struct World {
    sight: Sight,
    buildings: Vec<covey_world::Building>,
    frames: Vec<Vec<VehicleState>>,
    grid: GridFrame,
}

impl World {
    fn new(count: usize) -> Self {
        let buildings = sight_scenes::corridor(count, 42).buildings;
        // Streets are the same whatever the seed.
        let frames: Vec<_> = (0..4)
            .map(|seed| {
                let mut vehicles = sight_scenes::corridor(count, seed).vehicles;
                vehicles.truncate(count);
                vehicles
            })
            .collect();
        Self {
            sight: Sight::new(&buildings, SightOptions::default()),
            buildings,
            frames,
            grid: GridFrame::new(Point::new(1234.5, -678.9), 0.5, 20.0).expect("a grid"),
        }
    }

    /// Measures what `run` does to one frame after the other.
    fn bench(
        &self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        mut run: impl FnMut(&Observed<'_>) -> usize,
    ) {
        let count = self.frames[0].len();
        group.throughput(Throughput::Elements(count as u64));
        // A run of many frames meets a square of the map for the first time once; that is measured by `new_map`.
        for frame in &self.frames {
            run(&self.sight.observe(frame));
        }
        let mut turn = 0;
        group.bench_function(BenchmarkId::new(name, count), |b| {
            b.iter(|| {
                turn = (turn + 1) % self.frames.len();
                run(&self.sight.observe(black_box(&self.frames[turn])))
            });
        });
    }
}

/// Objects and cells of all vehicles; the number of both, so that nothing can be left out.
fn fast(observed: &Observed<'_>, grid: &GridFrame, scratch: &mut Scratch) -> usize {
    let (mut objects, mut cells) = (Vec::new(), Vec::new());
    let mut total = 0;
    for i in 0..observed.len() as u32 {
        let mut view = observed.view(i, scratch);
        view.objects(&mut objects);
        view.cells(grid, &mut cells);
        total += objects.len() + cells.len();
    }
    total
}

fn slow<const ALL: bool>(observed: &Observed<'_>, grid: &GridFrame) -> usize {
    let (mut objects, mut cells) = (Vec::new(), Vec::new());
    let mut total = 0;
    for i in 0..observed.len() as u32 {
        if ALL {
            plain::objects_exhaustively(observed, i, &mut objects);
            plain::cells_exhaustively(observed, i, grid, &mut cells);
        } else {
            plain::objects(observed, i, &mut objects);
            plain::cells(observed, i, grid, &mut cells);
        }
        total += objects.len() + cells.len();
    }
    total
}

fn sight(c: &mut Criterion) {
    let mut scratch = Scratch::default();
    let mut group = c.benchmark_group("sight");
    group.sample_size(20);
    for count in [1_000, 2_000, 4_000, 8_000, 16_000] {
        let world = World::new(count);
        let grid = &world.grid;
        world.bench(&mut group, "fast", |frame| fast(frame, grid, &mut scratch));
        if count == 1_000 {
            let frame = world.sight.observe(&world.frames[0]);
            let expected = fast(&frame, grid, &mut scratch);
            assert_eq!(slow::<false>(&frame, grid), expected);
            assert_eq!(slow::<true>(&frame, grid), expected);
            world.bench(&mut group, "plain", |frame| slow::<false>(frame, grid));
            world.bench(&mut group, "exhaustive", |frame| slow::<true>(frame, grid));
            group.bench_function(BenchmarkId::new("new_map", count), |b| {
                b.iter(|| {
                    let sight = Sight::new(black_box(&world.buildings), SightOptions::default());
                    fast(&sight.observe(&world.frames[0]), grid, &mut scratch)
                });
            });
        }
    }
    group.finish();
}

fn links(c: &mut Criterion) {
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    let mut group = c.benchmark_group("links");
    group.sample_size(20);
    for count in [1_000, 4_000, 16_000] {
        let world = World::new(count);
        world.bench(&mut group, "fast", |frame| {
            let mut total = 0;
            for i in 0..frame.len() as u32 {
                frame.links_onward(i, &mut scratch, &mut out);
                total += out.len();
            }
            total
        });
    }
    let world = World::new(1_000);
    world.bench(&mut group, "plain", |frame| {
        let mut total = 0;
        for i in 0..frame.len() as u32 {
            plain::links_onward(frame, i, &mut out);
            total += out.len();
        }
        total
    });
    group.finish();
}

criterion_group!(benches, sight, links);
criterion_main!(benches);
