//! Runs a policy of one's own against the letter's on the corridor.
//!
//! `cargo run --manifest-path examples/own-policy/Cargo.toml -- scenarios/tamagawa/scenario.toml [WARMUP MEASURE]`

mod most_uncovered;

use std::path::Path;

use covey_simulator::{
    Arm, Contender, Nobody, PolicyMaker, Prepared, RunOptions, Scenario, simulate_contenders,
};
use covey_traffic::builtin::Builtin;
use most_uncovered::MostUncovered;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, options) = match &arguments[..] {
        [file] => (file, ["2", "2"]),
        [file, warmup, measure] => (file, [warmup.as_str(), measure.as_str()]),
        _ => return Err("usage: own-policy SCENARIO [WARMUP MEASURE]".into()),
    };
    let options = RunOptions {
        warmup_s: options[0].parse()?,
        measure_s: options[1].parse()?,
        ..RunOptions::default()
    };
    let mut scenario = Scenario::read(Path::new(file))?;
    // Enough for a look at a policy; results want the scenario's own.
    scenario.traffic.warmup_s = 20.0;
    let prepared = Prepared::new(&scenario)?;

    let seed = 1;
    let contenders = [
        Contender::Arm("cam-only".parse::<Arm>()?),
        Contender::Arm("proposed@0.4".parse::<Arm>()?),
        Contender::Own {
            name: "most-uncovered@0.4".to_string(),
            allowance: 0.4,
            policy: PolicyMaker::new(|_seed| Box::new(MostUncovered)),
        },
    ];
    let mut traffic = Builtin::new(&prepared.map.network, &scenario.traffic, seed)?;
    let outcome = simulate_contenders(
        &prepared,
        &mut traffic,
        &contenders,
        seed,
        &options,
        &mut Nobody,
    )?;
    println!(
        "{} vehicles, {} participate",
        outcome.shared.vehicles, outcome.shared.participants
    );
    for arm in &outcome.arms {
        println!(
            "{:20} deficit {:5.2} %  load {:.3}  contributors {:.1}",
            arm.arm,
            100.0 * arm.deficit.ratio().unwrap_or(0.0),
            arm.load.value().unwrap_or(0.0),
            arm.contributors.value().unwrap_or(0.0),
        );
    }
    Ok(())
}
