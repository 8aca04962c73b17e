//! Reads a floating-car recording and prints what is in it:
//! `cargo run --release -p covey-traffic --example read_fcd -- NET FCD [SECONDS]`.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use covey_traffic::Recording;
use covey_traffic::recorded::{FcdOptions, FloatingCarData};
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
    let mut source = FloatingCarData::open(Path::new(fcd), &network, FcdOptions::default())?;
    let mut recording = Recording::capture(&mut source, (seconds * 20.0) as usize)?;
    let read = begin.elapsed();
    let begin = Instant::now();
    recording.derive_next(&network);
    println!(
        "{recording:?} read in {:.2} s, intentions found in {:.2} s",
        read.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}
