//! Records a closed population on a net with SUMO and prints what came of it:
//! `cargo run --release -p covey-traffic --example closed_corridor -- NET [SEED] [MAIN_DENSITY] [SIDE_DENSITY]`.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use covey_traffic::Recording;
use covey_traffic::sumo::{ClosedPopulation, RunOptions, Sumo, record_closed};
use covey_world::xml::Limits;
use covey_world::{Frame, Network};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let net = PathBuf::from(arguments.next().ok_or("which net?")?);
    let mut number = |otherwise: f64| match arguments.next() {
        Some(text) => text.parse::<f64>(),
        None => Ok(otherwise),
    };
    let options = RunOptions {
        seed: number(1.0)? as u64,
        ..RunOptions::default()
    };
    let population = ClosedPopulation {
        main_density: number(43.08)?,
        side_density: number(12.0)?,
        ..ClosedPopulation::default()
    };
    let (network, _) = Network::read(&net, Limits::default())?;
    let sumo = Sumo::find()?;
    let begin = Instant::now();
    let recording = record_closed(&sumo, &net, &network, &population, &options)?;
    println!(
        "{}: {:.1} s",
        recording.origin,
        begin.elapsed().as_secs_f64()
    );
    let best = network.edges.iter().map(|e| e.priority).max().unwrap_or(0);
    let mut frame = Frame::default();
    println!(
        "second, mean speed m/s, share stopped, share on edges of the highest priority, share with known intention"
    );
    for step in (0..recording.steps()).step_by(200) {
        recording.frame_into(step, &mut frame);
        let n = frame.vehicles.len() as f64;
        let share = |test: &dyn Fn(&covey_world::VehicleState) -> bool| {
            frame.vehicles.iter().filter(|v| test(v)).count() as f64 / n
        };
        println!(
            "{:3} {:6.2} {:6.3} {:6.3} {:6.3}",
            step / 20,
            frame.vehicles.iter().map(|v| v.speed).sum::<f64>() / n,
            share(&|v| v.speed < 0.1),
            share(&|v| v.lane.is_some_and(|lane| {
                network.edges[network.lanes[lane.index()].edge.index()].priority == best
            })),
            share(&|v| v.next.is_some()),
        );
    }
    let file = std::env::temp_dir().join(format!("covey-example-{}.trace", std::process::id()));
    let begin = Instant::now();
    recording.save(&file)?;
    let saved = begin.elapsed().as_secs_f64();
    let size = std::fs::metadata(&file)?.len();
    let begin = Instant::now();
    let again = Recording::load(&file, &network)?;
    println!(
        "{} vehicles, {} steps, {} entries; saved in {saved:.2} s as {:.1} MB, loaded in {:.2} s, equal: {}",
        recording.vehicles(),
        recording.steps(),
        recording.entries(),
        size as f64 / 1e6,
        begin.elapsed().as_secs_f64(),
        again == recording
    );
    std::fs::remove_file(&file)?;
    Ok(())
}
