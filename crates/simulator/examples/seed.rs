//! Runs the letter's arms on one seed of a scenario and prints deficit, load and where the time went.
//!
//! `cargo run --release -p covey-simulator --example seed -- scenarios/tamagawa/scenario.toml 1001 40 40 [ARM]...`

#![allow(clippy::print_stdout)]

use covey_simulator::{Arm, Arms, Nobody, Prepared, RunOptions, Scenario, simulate};
use covey_traffic::builtin::Builtin;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, seed, warmup, measure, arms @ ..] = &arguments[..] else {
        return Err("usage: seed SCENARIO SEED WARMUP MEASURE [ARM]...".into());
    };
    let seed = seed.parse()?;
    let mut chosen = Vec::new();
    for arm in arms {
        chosen.push(arm.parse::<Arm>()?);
    }
    if chosen.is_empty() {
        chosen = Arms::builtin().letter();
    }
    let scenario = Scenario::read(std::path::Path::new(file))?;
    let prepared = Prepared::new(&scenario)?;
    let mut traffic = Builtin::new(&prepared.map.network, &scenario.traffic, seed)?;
    let options = RunOptions {
        warmup_s: warmup.parse()?,
        measure_s: measure.parse()?,
        ..RunOptions::default()
    };
    let clock = std::time::Instant::now();
    let result = simulate(
        &prepared,
        &mut traffic,
        &chosen,
        seed,
        &options,
        &mut Nobody,
    )?;
    println!("{:?}", result.shared);
    for outcome in &result.arms {
        let mean = |m: &covey_simulator::outcome::Mean| m.value().unwrap_or(f64::NAN);
        println!(
            "{:22} deficit {:6.2} % all {:5.2} % load {:.3} = {:.3} + {:.3} + {:.3} cam {:.3} price {:7.3} members {:5.1} churn {:5.2} digest {:4.1} hosts {} rivals {} over {} binding {:?}",
            outcome.arm,
            100.0 * outcome.deficit.ratio().unwrap_or(f64::NAN),
            100.0 * outcome.deficit_all.ratio().unwrap_or(f64::NAN),
            mean(&outcome.load),
            mean(&outcome.load_digest),
            mean(&outcome.load_reports),
            mean(&outcome.load_broadcast),
            mean(&outcome.beacon_load),
            mean(&outcome.price),
            mean(&outcome.contributors),
            mean(&outcome.churn),
            mean(&outcome.digest_bytes),
            outcome.host_changes,
            outcome.rival_hosts,
            outcome.overloaded,
            outcome.binding,
        );
        println!("    {:?}", outcome.misses);
    }
    println!(
        "{:?}, {:.2} s in all",
        result.timing,
        clock.elapsed().as_secs_f64()
    );
    Ok(())
}
