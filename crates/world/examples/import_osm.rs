//! Makes a map from an OpenStreetMap extract: `cargo run -p covey-world --features import --example import_osm -- OSM OUT`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use covey_world::import::{Converters, ImportOptions, import_osm};

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [osm, out] = &paths[..] else {
        eprintln!("usage: import_osm FILE.osm[.gz|.pbf] OUT");
        return ExitCode::FAILURE;
    };
    let result = Converters::find(&std::env::current_dir().unwrap_or_default())
        .and_then(|converters| import_osm(osm, out, &converters, &ImportOptions::default()));
    match result {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok(imported) => {
            println!(
                "{} edges, {} lights, {} buildings, {}-hand traffic, by {}",
                imported.map.network.edges.len(),
                imported.map.network.signals.len(),
                imported.map.buildings.len(),
                if imported.left_hand { "left" } else { "right" },
                imported.version,
            );
            println!("{}", imported.warnings);
            ExitCode::SUCCESS
        }
    }
}
