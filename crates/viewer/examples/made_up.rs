//! Makes a recording up, says how large it is, and serves it: to try the viewer, and to measure it, at any size.
//!
//! ```text
//! cargo run -p covey-viewer --example made_up -- FILE.covey [VEHICLES [SECONDS [ARM...]]]
//! ```
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::path::PathBuf;

use covey_synthetic::Plan;
use covey_viewer::{Library, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("which file?")?);
    let vehicles = arguments.next().map_or(Ok(200), |n| n.parse())?;
    let seconds = arguments.next().map_or(Ok(10), |n| n.parse())?;
    let mut arms: Vec<String> = arguments.collect();
    if arms.is_empty() {
        arms = vec!["proposed@0.4".into(), "cpm-rmr".into()];
    }
    let plan = Plan {
        vehicles,
        seconds,
        arms,
    };
    let summary = covey_synthetic::write(&file, &plan)?;
    println!(
        "{} bytes; manifest, world, motion, relevance, arms, decisions, tiles, demands, curves: {:?}",
        summary.bytes, summary.by_kind
    );
    let server = Server::bind(0, Library::open(&file)?)?;
    println!("{}", server.url());
    server.run();
    Ok(())
}
