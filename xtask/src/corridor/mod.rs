//! `cargo xtask corridor`: makes the bundled maps under `scenarios/`.
//!
//! The corridor is made from the facts table `scenarios/tamagawa/facts.csv`, documented statistics and a fixed seed; the
//! toy maps from a few lines each. SUMO's netconvert turns our plain XML into nets. The same inputs and the same SUMO give
//! the same bytes. `--check` writes nothing and fails if a stored file differs; `--keep FOLDER` keeps the plain XML there.

mod buildings;
mod facts;
mod frame;
mod output;
mod random;
mod roads;
mod shapes;
mod signals;
mod toys;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use buildings::Building;

/// Writes the bundled maps of the repository at `root`.
///
/// # Errors
/// If an argument is not known, SUMO is not found, or a file cannot be read or written.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let mut check = false;
    let mut plain_folder: Option<PathBuf> = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--check" => check = true,
            "--keep" => {
                plain_folder = Some(rest.next().ok_or("--keep needs a folder")?.into());
            }
            other => {
                return Err(format!(
                    "unknown argument {other}; known: --check, --keep FOLDER"
                ));
            }
        }
    }
    let folder = plain_folder.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("covey-corridor-{}", std::process::id()))
    });
    let keep = arguments.iter().any(|argument| argument == "--keep");
    let mut files = corridor(root, &folder.join("tamagawa"))?;
    files.extend(toys::all(root, &folder)?);
    if !keep {
        // Left-overs in the temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&folder);
    }
    for (path, bytes) in files {
        let path = root.join("scenarios").join(path);
        if check {
            if std::fs::read(&path).ok().as_deref() != Some(&bytes[..]) {
                return Err(format!(
                    "{} is not what cargo xtask corridor makes",
                    path.display()
                ));
            }
            continue;
        }
        let parent = path.parent().unwrap_or(root);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, &bytes))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        say(&format!("{}: {} bytes", path.display(), bytes.len()));
    }
    Ok(())
}

/// A file to be stored: path under `scenarios/`, bytes.
type Stored = (PathBuf, Vec<u8>);

fn corridor(root: &Path, folder: &Path) -> Result<Vec<Stored>, String> {
    let facts_path = root.join("scenarios/tamagawa/facts.csv");
    let text = std::fs::read_to_string(&facts_path)
        .map_err(|error| format!("{}: {error}", facts_path.display()))?;
    let road = facts::main_road(&facts::parse(&text)?);
    let cross_lanes: Vec<usize> = road.junctions.iter().map(|j| j.cross_lanes).collect();
    let plans = signals::plans(&cross_lanes);
    let location = format!(
        "<location netOffset=\"{:.2},{:.2}\" convBoundary=\"0.00,0.00,4000.00,3000.00\" origBoundary=\"139.66,35.63,139.71,35.67\" projParameter=\"{}\"/>",
        facts::NET_OFFSET.x,
        facts::NET_OFFSET.y,
        facts::PROJECTION
    );
    let plain = roads::plain(&road, &plans, &location);
    let netconvert = output::netconvert(root)?;
    let net = output::convert(&netconvert, folder, &roads::types(), &plain, true)?;
    let rows = buildings::all(&road);
    let before = rows.len();
    let (mut rows, dropped) = buildings::clear_of(rows, &output::lane_shapes(&net));
    buildings::set_heights(&mut rows);
    say(&format!(
        "corridor: {} buildings ({before} planned, {dropped} too near to a lane)",
        rows.len()
    ));
    let polygons = polygon_file(&rows, &location);
    Ok(vec![
        ("tamagawa/tamagawa.net.xml.gz".into(), output::gzip(&net)?),
        (
            "tamagawa/tamagawa.poly.xml.gz".into(),
            output::gzip(&polygons)?,
        ),
        ("tamagawa/grid.toml".into(), frame::text(&road).into_bytes()),
    ])
}

/// Buildings as SUMO's polygons.
fn polygon_file(buildings: &[Building], location: &str) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<additional>\n");
    if !location.is_empty() {
        let _ = writeln!(text, "    {location}");
    }
    for (i, building) in buildings.iter().enumerate() {
        let kind = if building.frontage {
            "building.frontage"
        } else {
            "building.side"
        };
        let _ = writeln!(
            text,
            "    <poly id=\"b{i}\" type=\"{kind}\" color=\"200,190,180\" fill=\"1\" layer=\"-1\" shape=\"{}\"><param key=\"height\" value=\"{:.1}\"/></poly>",
            roads::shape(building.outline.corners()),
            building.height
        );
    }
    text + "</additional>\n"
}

/// Tells the person at the terminal.
pub(crate) fn say(text: &str) {
    #[allow(clippy::print_stdout, reason = "a program for the terminal")]
    {
        println!("{text}");
    }
}
