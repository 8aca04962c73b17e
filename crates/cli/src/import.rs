//! `covey import`: a scenario from an OpenStreetMap extract.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use covey_experiment::world::hash_file;
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
    /// Write over files of the folder that somebody changed or made
    #[arg(long)]
    force: bool,
}

/// What the last import wrote, beside it.
const RECORD: &str = ".covey-import.json";

/// Files of a scenario in `folder`, with the hash of each.
fn written(folder: &Path) -> BTreeMap<String, String> {
    let ours = |name: &str| {
        ["scenario.toml", "PROVENANCE.md"].contains(&name)
            || name.contains(".net.xml")
            || name.contains(".poly.xml")
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| ours(name))
        .filter_map(|name| Some((name.clone(), hash_file(&folder.join(&name)).ok()?)))
        .collect()
}

/// What is there was written by an import and left as it was.
fn check_replaceable(folder: &Path) -> Result<(), Failure> {
    let record = std::fs::read_to_string(folder.join(RECORD)).unwrap_or_default();
    let record: BTreeMap<String, String> = serde_json::from_str(&record).unwrap_or_default();
    let there = written(folder);
    let changed = there
        .iter()
        .find(|(name, hash)| record.get(*name) != Some(hash));
    match changed {
        None => Ok(()),
        Some((name, _)) => Err(Failure::input(
            folder.join(name).display(),
            "it was changed since it was imported, or is none of an import's; --force writes over it",
        )),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.force {
        check_replaceable(&arguments.out)?;
    }
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
    let record = serde_json::to_string_pretty(&written(&arguments.out))
        .map_err(|error| Failure::Other(error.to_string()))?;
    write_atomically(&arguments.out.join(RECORD), record.as_bytes())?;
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
