//! From plain XML to the stored files, by netconvert.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::{Compression, GzBuilder};

use super::roads::Plain;
use super::shapes::{Convex, Point, point};

/// Where netconvert is: the project's venv, `SUMO_HOME`, or the search path.
pub(crate) fn netconvert(root: &Path) -> Result<PathBuf, String> {
    let home = std::env::var_os("SUMO_HOME").map(PathBuf::from);
    let mut candidates = vec![root.join(".venv/bin/netconvert")];
    candidates.extend(home.map(|home| home.join("bin/netconvert")));
    candidates.extend(
        std::env::var_os("PATH")
            .iter()
            .flat_map(std::env::split_paths)
            .map(|folder| folder.join("netconvert")),
    );
    candidates
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            "netconvert not found in .venv, SUMO_HOME or PATH; install SUMO with: \
             python3 -m venv .venv && .venv/bin/pip install eclipse-sumo"
                .to_owned()
        })
}

/// The net that netconvert makes of `plain`, without the comment that tells date and paths.
pub(crate) fn convert(
    netconvert: &Path,
    folder: &Path,
    types: &str,
    plain: &Plain,
    left_hand: bool,
) -> Result<String, String> {
    let describe = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(|error| describe(folder, error))?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| describe(&path, error))
    };
    write("plain.typ.xml", types)?;
    write("plain.nod.xml", &plain.nodes)?;
    write("plain.edg.xml", &plain.edges)?;
    write("plain.con.xml", &plain.connections)?;
    write("plain.tll.xml", &plain.lights)?;
    let mut command = Command::new(netconvert);
    command.current_dir(folder).args([
        "--type-files=plain.typ.xml",
        "--node-files=plain.nod.xml",
        "--edge-files=plain.edg.xml",
        "--connection-files=plain.con.xml",
        "--tllogic-files=plain.tll.xml",
        "--output-file=made.net.xml",
        "--offset.disable-normalization=true",
        "--no-turnarounds.except-deadend=true",
        "--junctions.corner-detail=5",
    ]);
    if left_hand {
        command.arg("--lefthand=true");
    }
    let output = command
        .output()
        .map_err(|error| describe(netconvert, error))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("netconvert failed:\n{messages}"));
    }
    if !messages.trim().is_empty() {
        crate::corridor::say(&format!("netconvert says:\n{}", messages.trim()));
    }
    let path = folder.join("made.net.xml");
    let text = std::fs::read_to_string(&path).map_err(|error| describe(&path, error))?;
    Ok(without_comment(&text))
}

fn without_comment(text: &str) -> String {
    match (text.find("<!--"), text.find("-->")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{}", &text[..start], text[end + 3..].trim_start())
        }
        _ => text.to_owned(),
    }
}

/// Stretches of all lanes as convex shapes, out of a net that netconvert just wrote.
pub(crate) fn lane_shapes(net: &str) -> Vec<Convex> {
    let mut shapes = Vec::new();
    for line in net.lines().filter(|line| line.contains("<lane ")) {
        let attribute = |name: &str| {
            let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
            let end = start + line[start..].find('"')?;
            Some(&line[start..end])
        };
        let width: f64 = attribute("width")
            .and_then(|w| w.parse().ok())
            .unwrap_or(3.2);
        let points: Vec<Point> = attribute("shape")
            .unwrap_or_default()
            .split(' ')
            .filter_map(|pair| {
                let (x, y) = pair.split_once(',')?;
                Some(point(x.parse().ok()?, y.parse().ok()?))
            })
            .collect();
        for pair in points.windows(2) {
            let along = pair[1] - pair[0];
            if along.length() < 1e-6 {
                continue;
            }
            // Half a metre longer at both ends: the corners of a bend are rounder than its stretches.
            let ahead = along.unit() * 0.5;
            let half = along.unit().left() * (width / 2.0);
            shapes.extend(Convex::new(vec![
                pair[0] - ahead - half,
                pair[1] + ahead - half,
                pair[1] + ahead + half,
                pair[0] - ahead + half,
            ]));
        }
    }
    shapes
}

/// Packs `text` with a header that has no name, date or system in it, so that the same text gives the same bytes.
pub(crate) fn gzip(text: &str) -> Result<Vec<u8>, String> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish())
        .map_err(|error| format!("gzip: {error}"))
}
