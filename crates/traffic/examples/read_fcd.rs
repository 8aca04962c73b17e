//! Reads a floating-car recording and prints what is in it:
//! `cargo run --release -p covey-traffic --example read_fcd -- NET FCD [SECONDS]`.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use covey_traffic::recorded::{FcdOptions, record};
use covey_world::Network;
use covey_world::xml::Limits;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [net, fcd, rest @ ..] = &arguments[..] else {
        return Err("usage: read_fcd NET FCD [SECONDS]".into());
    };
    let seconds: f64 = rest.first().map_or(Ok(3600.0), |text| text.parse())?;
    let (network, _) = Network::read(Path::new(net), Limits::default())?;
    let begin = Instant::now();
    let recording = record(
        Path::new(fcd),
        &network,
        FcdOptions::default(),
        seconds,
        60.0,
    )?;
    println!(
        "{recording:?} read in {:.2} s",
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}
