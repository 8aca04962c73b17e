//! Reads maps and says what is in them: `cargo run -p covey-world --example map_info -- NET [POLYGONS...]`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use covey_world::{Map, MapOptions};

fn main() -> ExitCode {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(net) = paths.next() else {
        eprintln!("usage: map_info NET.net.xml[.gz] [POLYGONS.poly.xml[.gz]...]");
        return ExitCode::FAILURE;
    };
    let polygons: Vec<PathBuf> = paths.collect();
    match Map::read(&net, &polygons, &MapOptions::default()) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok((map, warnings)) => {
            let net = &map.network;
            println!(
                "{} edges, {} lanes, {} junctions, {} connections, {} lights, {} buildings, {}-hand traffic",
                net.edges.len(),
                net.lanes.len(),
                net.junctions.len(),
                net.connections.len(),
                net.signals.len(),
                map.buildings.len(),
                if net.left_hand { "left" } else { "right" },
            );
            if !warnings.is_empty() {
                println!("{warnings}");
            }
            ExitCode::SUCCESS
        }
    }
}
