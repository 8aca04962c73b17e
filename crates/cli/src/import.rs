//! `covey import`: a scenario from an OpenStreetMap extract, or from recorded trajectories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use covey_experiment::world::hash_file;
use covey_traffic::import::{ImportError, ImportOptions, import_osm};
use covey_traffic::sumo::Sumo;
use covey_traffic::trajectories::ngsim::Part;
use covey_traffic::trajectories::{self, Tracks, TrajectoryError, commonroad, ngsim};

use crate::failure::{Failure, note, print, write_atomically};
use crate::laboratory::counted;

/// Make a scenario from an OpenStreetMap extract, or from recorded trajectories
///
/// Writes scenario.toml, its road network, buildings or recorded traffic, and a note on where it all comes from into a folder. Needs SUMO's
/// converters (on PATH, in SUMO_HOME, or in a .venv here or above). Recordings are the NGSIM program's CSV
/// (data.transportation.gov; Lankershim, Peachtree, US-101, I-80), whose streets are made from the trajectories, and
/// CommonRoad's XML.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("source").required(true).args(["osm", "ngsim", "commonroad"])),
    after_help = "Examples:\n  \
    covey import --osm town.osm.pbf --out scenarios/town\n  \
    covey import --osm town.osm.gz --out scenarios/town --left-hand true\n  \
    covey import --ngsim trajectories.csv --location lankershim --from 300 --to 420 --out scenarios/lankershim\n  \
    covey import --commonroad DEU_Hhr-1_1.cr.xml --out scenarios/hhr")]
pub(crate) struct Arguments {
    /// An extract: OSM XML, plain or gzipped, or protobuf
    #[arg(long, value_name = "FILE.osm[.gz|.pbf]")]
    osm: Option<PathBuf>,
    /// Trajectories of the NGSIM program, as its public CSV has them
    #[arg(long, value_name = "FILE.csv")]
    ngsim: Option<PathBuf>,
    /// A scenario of CommonRoad with recorded obstacles
    #[arg(long, value_name = "FILE.xml")]
    commonroad: Option<PathBuf>,
    /// The place that is wanted of an NGSIM file that has several
    #[arg(long, value_name = "NAME", requires = "ngsim")]
    location: Option<String>,
    /// From this second of an NGSIM recording on
    #[arg(long, value_name = "S", requires = "ngsim", value_parser = second)]
    from: Option<f64>,
    /// Up to this second of an NGSIM recording
    #[arg(long, value_name = "S", requires = "ngsim", value_parser = second)]
    to: Option<f64>,
    /// The folder to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Vehicles drive on the left; guessed from the place if not given
    #[arg(long, value_name = "true|false", requires = "osm")]
    left_hand: Option<bool>,
    /// Write over files of the folder that somebody changed or made
    #[arg(long)]
    force: bool,
}

fn second(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds, from 0 on".to_string()),
    }
}

/// What the last import wrote, beside it.
const RECORD: &str = ".covey-import.json";

/// Files of a scenario in `folder`, with the hash of each.
fn written(folder: &Path) -> BTreeMap<String, String> {
    let ours = |name: &str| {
        ["scenario.toml", "PROVENANCE.md"].contains(&name)
            || name.contains(".net.xml")
            || name.contains(".poly.xml")
            || name.ends_with(".csv.gz")
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
    if let (Some(from), Some(to)) = (arguments.from, arguments.to)
        && from >= to
    {
        let problem = format!("found {to} with --from {from}, expected a later second");
        return Err(Failure::input("--to", problem));
    }
    if !arguments.force {
        check_replaceable(&arguments.out)?;
    }
    let told = match (&arguments.osm, &arguments.ngsim, &arguments.commonroad) {
        (Some(osm), ..) => from_osm(arguments, osm)?,
        (_, Some(file), _) => {
            let part = Part {
                location: arguments.location.clone(),
                from_s: arguments.from.unwrap_or(0.0),
                to_s: arguments.to,
            };
            from_tracks(arguments, file, |file| ngsim::read(file, &part))?
        }
        (_, _, Some(file)) => from_tracks(arguments, file, commonroad::read)?,
        _ => {
            return Err(Failure::Input(
                "give --osm, --ngsim or --commonroad".to_string(),
            ));
        }
    };
    let record = serde_json::to_string_pretty(&written(&arguments.out))
        .map_err(|error| Failure::Other(error.to_string()))?;
    write_atomically(&arguments.out.join(RECORD), record.as_bytes())?;
    print(&format!(
        "{}: {told}\n",
        arguments.out.join("scenario.toml").display()
    ))
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A map from OpenStreetMap; says what is in it.
fn from_osm(arguments: &Arguments, osm: &Path) -> Result<String, Failure> {
    let sumo = Sumo::find().map_err(|error| Failure::Other(error.to_string()))?;
    note(&format!(
        "converting {} with SUMO {} ...",
        osm.display(),
        sumo.version
    ));
    let options = ImportOptions {
        left_hand: arguments.left_hand,
        ..ImportOptions::default()
    };
    let imported =
        import_osm(osm, &arguments.out, &sumo, &options).map_err(|error| match error {
            ImportError::Extract { .. } | ImportError::Converter { .. } => {
                Failure::Input(error.to_string())
            }
            ImportError::File { ref path, .. } if *path == osm.display().to_string() => {
                Failure::Input(error.to_string())
            }
            _ => Failure::Other(error.to_string()),
        })?;
    let text = format!(
        "# Made by `covey import` from {}; see PROVENANCE.md. Every key that is not here has its documented default.\n\n\
         [map]\nnet = {:?}\nbuildings = [{:?}]\n\n\
         # Streets end where the extract ends; the built-in traffic keeps away from those without a way back.\n\
         [traffic]\ndead_ends = \"avoid\"\n",
        name(osm),
        name(&imported.net),
        name(&imported.polygons),
    );
    write_atomically(&arguments.out.join("scenario.toml"), text.as_bytes())?;
    let warnings = imported.warnings.to_string();
    if !warnings.is_empty() {
        note(&warnings);
    }
    Ok(format!(
        "{} edges, {} traffic lights, {} buildings, {}-hand traffic",
        imported.map.network.edges.len(),
        imported.map.network.signals.len(),
        imported.map.buildings.len(),
        if imported.left_hand { "left" } else { "right" },
    ))
}

/// A scenario with recorded traffic; says what is in it.
fn from_tracks(
    arguments: &Arguments,
    file: &Path,
    read: impl FnOnce(&Path) -> Result<Tracks, TrajectoryError>,
) -> Result<String, Failure> {
    let failure = |error: TrajectoryError| match error {
        TrajectoryError::Content { .. } | TrajectoryError::Field { .. } => {
            Failure::Input(error.to_string())
        }
        TrajectoryError::File { ref path, .. } if *path == file.display().to_string() => {
            Failure::Input(error.to_string())
        }
        error => Failure::Other(error.to_string()),
    };
    // The file first: what is wrong with it needs no SUMO to be told.
    let tracks = read(file).map_err(failure)?;
    let sumo = Sumo::find().map_err(|error| Failure::Other(error.to_string()))?;
    note(&format!(
        "building the streets of {} with SUMO {} ...",
        file.display(),
        sumo.version
    ));
    let mut stem = name(file);
    for ending in [".gz", ".csv", ".xml", ".cr"] {
        stem = stem.strip_suffix(ending).unwrap_or(&stem).to_string();
    }
    let made = trajectories::make(&tracks, file, &arguments.out, &stem, &sumo).map_err(failure)?;
    let text = format!(
        "# Made by `covey import` from {}; see PROVENANCE.md. Every key that is not here has its documented default.\n\n\
         [map]\nnet = {:?}\n\n\
         # Recorded traffic, {:.1} s of it.\n[source]\nfcd = {:?}\n",
        name(file),
        name(&made.net),
        made.duration_s,
        name(&made.fcd),
    );
    write_atomically(&arguments.out.join("scenario.toml"), text.as_bytes())?;
    let provenance = format!(
        "# Where this scenario comes from\n\nMade by `covey import` from `{}`, with netconvert of SUMO {}. {}\n",
        name(file),
        sumo.version,
        tracks.note
    );
    write_atomically(&arguments.out.join("PROVENANCE.md"), provenance.as_bytes())?;
    let [samples, on_lanes] = made.samples;
    Ok(format!(
        "{}, {:.1} s, {}, {:.0} % of all samples on a lane",
        counted(tracks.tracks.len(), "track"),
        made.duration_s,
        counted(tracks.streets.len(), "street"),
        100.0 * on_lanes as f64 / samples.max(1) as f64
    ))
}
