//! What sight and links cost on a real map, with the built-in traffic:
//! `cargo run --release -p covey-traffic --example corridor_sight -- [STEPS] [WARMUP_S] [PASSES] [SCENARIO_FOLDER]`.
//!
//! Traffic runs for WARMUP_S seconds; then one frame is kept every 100 ms, STEPS of them. Each pass goes through all of them
//! in order; the first one also meets each place of the map for the first time. 80 % of the vehicles have an antenna and
//! look at cells. The checksums depend on all answers, so two versions can be compared.
//!
//! Instructions of all passes but the first:
//! `valgrind --tool=callgrind --toggle-collect='*steady_sight*' EXAMPLE 20 60 2`, and likewise `*steady_links*`.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use covey_traffic::Source;
use covey_traffic::builtin::{Builtin, BuiltinConfig};
use covey_world::sight::{LinkState, LinkTable, Scratch, Sight, SightOptions};
use covey_world::{Frame, GridFrame, Map, MapOptions, Point, VehicleState};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

/// Answers, folded into a number.
#[derive(Default, PartialEq)]
struct Checksum {
    hash: u64,
    count: usize,
}

impl Checksum {
    fn add(&mut self, value: u64) {
        self.hash = (self.hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.count += 1;
    }
}

struct Corridor {
    sight: Sight,
    grid: GridFrame,
    frames: Vec<Vec<VehicleState>>,
}

fn has_antenna(v: &VehicleState) -> bool {
    !v.id.0.wrapping_mul(0x9E37_79B9).is_multiple_of(5)
}

/// Everything that a step needs of sight, for all frames.
fn measured_sight(corridor: &Corridor, scratch: &mut Scratch) -> (Checksum, Checksum) {
    let (mut objects, mut cells) = (Vec::new(), Vec::new());
    let mut sums = (Checksum::default(), Checksum::default());
    for frame in &corridor.frames {
        let observed = corridor.sight.observe(frame);
        for (i, vehicle) in frame.iter().enumerate() {
            let mut view = observed.view(i as u32, scratch);
            view.objects(&mut objects);
            objects.iter().for_each(|&j| sums.0.add(j.into()));
            if has_antenna(vehicle) {
                view.cells(&corridor.grid, &mut cells);
                let key = |&(x, y): &(i32, i32)| (u64::from(x as u32) << 32) | u64::from(y as u32);
                cells.iter().for_each(|cell| sums.1.add(key(cell)));
            }
        }
    }
    sums
}

/// Everything that a step needs of links, for all frames.
fn measured_links(corridor: &Corridor, scratch: &mut Scratch, table: &mut LinkTable) -> Checksum {
    let mut sum = Checksum::default();
    for frame in &corridor.frames {
        let observed = corridor.sight.observe(frame);
        let linked: Vec<bool> = frame.iter().map(has_antenna).collect();
        observed.links_among(&linked, scratch, table);
        // A sample of the links, so that the sum costs little.
        for link in table.links().iter().step_by(7) {
            sum.add(match link.state {
                LinkState::Clear => u64::from(link.other),
                LinkState::Vehicle { tallest } => u64::from(link.other) ^ tallest.to_bits(),
                LinkState::Building => !u64::from(link.other),
            });
        }
        sum.add(table.links().len() as u64);
    }
    sum
}

/// A name for profilers: sight on a map that is known.
#[inline(never)]
fn steady_sight(corridor: &Corridor, scratch: &mut Scratch) -> (Checksum, Checksum) {
    measured_sight(corridor, scratch)
}

/// A name for profilers: links on a map that is known.
#[inline(never)]
fn steady_links(corridor: &Corridor, scratch: &mut Scratch, table: &mut LinkTable) -> Checksum {
    measured_links(corridor, scratch, table)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: f64| match arguments.next() {
        Some(text) => text.parse::<f64>(),
        None => Ok(otherwise),
    };
    let (steps, warmup_s, passes) = (number(200.0)?, number(300.0)?, number(4.0)?);
    let folder = arguments.next().map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tamagawa"),
        PathBuf::from,
    );
    let (map, _) = Map::read(
        &folder.join("tamagawa.net.xml.gz"),
        &[folder.join("tamagawa.poly.xml.gz")],
        &MapOptions::default(),
    )?;
    let config = BuiltinConfig {
        main_density: 43.08,
        warmup_s,
        ..BuiltinConfig::default()
    };
    let mut traffic = Builtin::new(&map.network, &config, 1)?;
    let mut frame = Frame::default();
    let mut frames = Vec::new();
    for step in 0..2 * steps as usize {
        let _ = traffic.next_frame(&mut frame)?;
        if step % 2 == 0 {
            frames.push(frame.vehicles.clone());
        }
    }
    let sensors: usize = frames.iter().map(Vec::len).sum();
    let senders: usize = frames
        .iter()
        .flatten()
        .filter(|vehicle| has_antenna(vehicle))
        .count();
    let standing = frames.iter().flatten().filter(|v| v.speed <= 0.0).count();
    let options = SightOptions {
        vehicle_link_range: 400.0,
        building_link_range: 300.0,
        ..SightOptions::default()
    };
    let corridor = Corridor {
        sight: Sight::new(&map.buildings, options),
        grid: GridFrame::new(Point::new(470.0, 276.9), 29.42_f64.to_radians(), 20.0)
            .ok_or("a grid")?,
        frames,
    };
    println!(
        "{} buildings, {} frames, {sensors} sensors, {senders} senders, {:.0} % standing",
        map.buildings.len(),
        corridor.frames.len(),
        100.0 * standing as f64 / sensors as f64
    );
    let mut scratch = Scratch::default();
    let mut table = LinkTable::default();
    for pass in 0..passes as usize {
        let begin = Instant::now();
        let (objects, cells) = if pass == 0 {
            measured_sight(&corridor, &mut scratch)
        } else {
            steady_sight(&corridor, &mut scratch)
        };
        let sight_us = begin.elapsed().as_secs_f64() * 1e6 / sensors as f64;
        let begin = Instant::now();
        let links = if pass == 0 {
            measured_links(&corridor, &mut scratch, &mut table)
        } else {
            steady_links(&corridor, &mut scratch, &mut table)
        };
        let links_us = begin.elapsed().as_secs_f64() * 1e6 / senders as f64;
        println!(
            "pass {pass}: sight {sight_us:.2} us per sensor, links {links_us:.2} us per sender; \
             {} objects ({:x}), {} cells ({:x}), {} sums of links ({:x})",
            objects.count, objects.hash, cells.count, cells.hash, links.count, links.hash
        );
    }
    Ok(())
}
