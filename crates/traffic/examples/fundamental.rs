//! Measures the fundamental diagram of the built-in traffic on a net, prints it and writes a figure.
//!
//! ```text
//! cargo run --release -p covey-traffic --example fundamental -- NET FIGURE.svg [--ring] [--seeds N] [DENSITY...]
//! ```
//!
//! With `--ring` nobody turns off the main road and the side streets are empty.
#![allow(clippy::print_stdout, reason = "it is a command")]

use covey_traffic::builtin::{Builtin, BuiltinConfig, TurnShares, main_road};
use covey_traffic::fundamental::{MainRoad, Plan, measure};
use covey_world::Network;
use covey_world::xml::Limits;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut plain = Vec::new();
    let mut config = BuiltinConfig::default();
    let mut plan = Plan::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--ring" => {
                config.side_density = 0.0;
                config.density_gain = 0.0;
                config.turn_shares = TurnShares {
                    straight: 1.0,
                    left: 0.0,
                    right: 0.0,
                    around: 0.0,
                };
            }
            "--seeds" => {
                let n: u64 = args.next().ok_or("--seeds needs a number")?.parse()?;
                plan.seeds = (1..=n).collect();
            }
            _ => plain.push(arg),
        }
    }
    let [net, figure, densities @ ..] = plain.as_slice() else {
        return Err("usage: fundamental NET FIGURE.svg [--ring] [--seeds N] [DENSITY...]".into());
    };
    if !densities.is_empty() {
        plan.densities = densities
            .iter()
            .map(|d| d.parse())
            .collect::<Result<_, _>>()?;
    }
    let (network, _) = Network::read(net.as_ref(), Limits::default())?;
    let road = MainRoad::new(&network, &main_road(&network, &config.main_edges)?);
    let diagram = measure(&road, &plan, |density, seed| {
        let config = BuiltinConfig {
            main_density: density,
            ..config.clone()
        };
        Builtin::new(&network, &config, seed)
    })?;
    println!("{}", diagram.table());
    std::fs::write(figure, diagram.svg("Built-in traffic: flow over density"))?;
    Ok(())
}
