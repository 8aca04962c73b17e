//! Runs a SUMO scenario and prints what came of it:
//! `cargo run --release -p covey-traffic --example run_sumocfg -- FILE.sumocfg [SECONDS]`.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use covey_traffic::sumo::{RunOptions, Sumo, SumoConfig, record};
use covey_world::{Frame, Map, MapOptions};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which .sumocfg?")?;
    let seconds = arguments.next().map_or(Ok(80.0), |text| text.parse())?;
    let sumo = Sumo::find()?;
    let config = SumoConfig::read(Path::new(&file))?;
    println!(
        "SUMO {}; begin {} s, step {} s, {} route, {} additional, {} polygon file(s), {} vehicle types; not handed on: {}",
        sumo.version,
        config.begin_s,
        config.step_s,
        config.routes.len(),
        config.additional.len(),
        config.polygons.len(),
        config.types.len(),
        config.left_out.join(" ")
    );
    let (map, _) = Map::read(&config.net, &config.polygons, &MapOptions::default())?;
    let options = RunOptions {
        duration_s: seconds,
        ..RunOptions::default()
    };
    let begin = Instant::now();
    let recording = record(&sumo, &config, &map.network, &options)?;
    println!(
        "{} lanes, {} buildings; {recording:?} in {:.1} s",
        map.network.lanes.len(),
        map.buildings.len(),
        begin.elapsed().as_secs_f64()
    );
    let mut frame = Frame::default();
    for step in (0..recording.steps()).step_by(200) {
        recording.frame_into(step, &mut frame);
        let n = frame.vehicles.len();
        let speed: f64 = frame.vehicles.iter().map(|v| v.speed).sum();
        let known = frame.vehicles.iter().filter(|v| v.next.is_some()).count();
        println!(
            "{:4} s: {n} bodies, mean speed {:.2} m/s, {known} intentions",
            step / 20,
            speed / n.max(1) as f64
        );
    }
    Ok(())
}
