//! Records arms on one seed of a scenario, for `covey view`.
//!
//! `cargo run --release -p covey-simulator --example record -- scenarios/toy/blind-junction/scenario.toml 1 10 30 OUT.covey cpm-rmr proposed@0.4`

#![allow(clippy::print_stdout)]

use std::path::Path;

use covey_simulator::recording::Recorder;
use covey_simulator::{Arm, Prepared, RunOptions, Scenario, simulate};
use covey_traffic::builtin::Builtin;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, seed, warmup, measure, out, names @ ..] = &arguments[..] else {
        return Err("usage: record SCENARIO SEED WARMUP MEASURE OUT ARM...".into());
    };
    let seed = seed.parse()?;
    let mut arms = Vec::new();
    for name in names {
        arms.push(name.parse::<Arm>()?);
    }
    let scenario = Scenario::read(Path::new(file))?;
    let prepared = Prepared::new(&scenario)?;
    let mut traffic = Builtin::new(&prepared.map.network, &scenario.traffic, seed)?;
    let options = RunOptions {
        warmup_s: warmup.parse()?,
        measure_s: measure.parse()?,
        ..RunOptions::default()
    };
    let headers = arms.iter().map(Arm::header).collect();
    let mut recorder =
        Recorder::create(Path::new(out), &prepared, headers, seed, options.warmup_s)?;
    let result = simulate(
        &prepared,
        &mut traffic,
        &arms,
        seed,
        &options,
        &mut recorder,
    )?;
    let summary = recorder.finish()?;
    println!("{:?}", result.shared);
    for outcome in &result.arms {
        println!("{:22} {:?}", outcome.arm, outcome.deficit);
    }
    println!(
        "{} bytes; manifest, world, motion, relevance, arms, decisions, tiles, demands, curves: {:?}",
        summary.bytes, summary.by_kind
    );
    Ok(())
}
