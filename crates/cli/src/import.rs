//! `covey import`: a scenario from an OpenStreetMap extract.

use std::path::PathBuf;

use clap::Args;
use covey_traffic::import::{ImportError, ImportOptions, import_osm};
use covey_traffic::sumo::Sumo;

use crate::failure::{Failure, note, print, write_atomically};

/// Make a scenario from an OpenStreetMap extract, with SUMO's own converters
///
/// Writes the road network, the buildings, scenario.toml and a note on where it all comes from into a folder. Needs SUMO's
/// netconvert and polyconvert (on PATH, in SUMO_HOME, or in a .venv here or above).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey import --osm town.osm.pbf --out scenarios/town\n  \
    covey import --osm town.osm.gz --out scenarios/town --left-hand true")]
pub(crate) struct Arguments {
    /// The extract: OSM XML, plain or gzipped, or protobuf
    #[arg(long, value_name = "FILE.osm[.gz|.pbf]")]
    osm: PathBuf,
    /// The folder to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Vehicles drive on the left; guessed from the place if not given
    #[arg(long, value_name = "true|false")]
    left_hand: Option<bool>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let sumo = Sumo::find().map_err(|error| Failure::Other(error.to_string()))?;
    note(&format!(
        "converting {} with SUMO {} ...",
        arguments.osm.display(),
        sumo.version
    ));
    let options = ImportOptions {
        left_hand: arguments.left_hand,
        ..ImportOptions::default()
    };
    let imported = import_osm(&arguments.osm, &arguments.out, &sumo, &options).map_err(
        |error| match error {
            ImportError::Extract { .. } | ImportError::Converter { .. } => {
                Failure::Input(error.to_string())
            }
            ImportError::File { ref path, .. } if *path == arguments.osm.display().to_string() => {
                Failure::Input(error.to_string())
            }
            _ => Failure::Other(error.to_string()),
        },
    )?;
    let name = |path: &std::path::Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let scenario = arguments.out.join("scenario.toml");
    let text = format!(
        "# Made by `covey import` from {}; see PROVENANCE.md. Every key that is not here has its documented default.\n\n\
         [map]\nnet = {:?}\nbuildings = [{:?}]\n\n\
         # Streets end where the extract ends; the built-in traffic keeps away from those without a way back.\n\
         [traffic]\ndead_ends = \"avoid\"\n",
        name(&arguments.osm),
        name(&imported.net),
        name(&imported.polygons),
    );
    write_atomically(&scenario, text.as_bytes())?;
    let warnings = imported.warnings.to_string();
    if !warnings.is_empty() {
        note(&warnings);
    }
    print(&format!(
        "{}: {} edges, {} traffic lights, {} buildings, {}-hand traffic\n",
        scenario.display(),
        imported.map.network.edges.len(),
        imported.map.network.signals.len(),
        imported.map.buildings.len(),
        if imported.left_hand { "left" } else { "right" },
    ))
}
