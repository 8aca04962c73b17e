//! Makes a map from an OpenStreetMap extract, with SUMO's own converters.
//!
//! The extract is OSM XML (`.osm`), gzipped or not, or protobuf (`.osm.pbf`), told apart by its first bytes. A protobuf file is
//! first turned into OSM XML ([`pbf`]). netconvert makes the roads, polyconvert the buildings with their heights, and the
//! result is read once by [`Map::read`], so that a map that this library cannot use is found out here.
//!
//! The converters' results depend on their version, which is recorded in the `PROVENANCE.md` beside the map.

pub mod pbf;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::bufread::MultiGzDecoder;

use covey_world::{Map, MapError, MapOptions, Warnings};

use crate::sumo::{Sumo, SumoError};

/// How an extract becomes a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportOptions {
    /// Vehicles drive on the left; where not told, it is guessed from the place ([`drives_on_the_left`]).
    pub left_hand: Option<bool>,
    /// How the finished map is read.
    pub map: MapOptions,
}

/// The files that an import has made.
#[derive(Debug)]
pub struct Imported {
    /// For SUMO and for Covey: `.net.xml`.
    pub net: PathBuf,
    /// Buildings: `.poly.xml`.
    pub polygons: PathBuf,
    /// The map as it was read.
    pub map: Map,
    /// What was left out when it was read.
    pub warnings: Warnings,
    /// Vehicles drive on the left.
    pub left_hand: bool,
}

/// Why an extract could not be made into a map.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum ImportError {
    /// SUMO or one of its converters is not installed.
    #[error(transparent)]
    Sumo(Box<SumoError>),
    /// A file cannot be read or written.
    #[error("{path}: {source}; check the path, its permissions and the space on the disk")]
    File {
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no OpenStreetMap extract that can be read.
    #[error("{path}: {problem}; expected OSM XML (.osm, .osm.gz) or protobuf (.osm.pbf)")]
    Extract { path: String, problem: String },
    /// A converter failed.
    #[error(
        "{tool} failed on {path}: {message}; check that the extract has roads (ways with a `highway` tag) and is complete"
    )]
    Converter {
        tool: &'static str,
        path: String,
        /// The end of what it printed.
        message: String,
    },
    /// The converters' result cannot be read.
    #[error("the converted map cannot be read: {0}")]
    Map(#[from] MapError),
}

impl From<SumoError> for ImportError {
    fn from(error: SumoError) -> Self {
        Self::Sumo(Box::new(error))
    }
}

/// Regions of left-hand traffic whose boxes hold little else: west, south, east, north in degrees.
const LEFT_HAND: [(&str, [f64; 4]); 8] = [
    ("Japan", [129.6, 30.0, 146.0, 45.6]),
    ("Okinawa", [122.9, 24.0, 131.4, 28.6]),
    ("Great Britain", [-8.2, 50.0, 1.77, 60.9]),
    ("Ireland", [-10.7, 51.3, -5.4, 55.5]),
    ("Australia", [112.9, -43.7, 153.7, -10.7]),
    ("New Zealand", [166.3, -47.4, 178.6, -34.3]),
    ("Singapore and Malaya", [101.2, 1.1, 104.5, 5.5]),
    ("southern India and Sri Lanka", [72.6, 5.9, 82.3, 21.0]),
];

/// Whether one drives on the left at a place, by a short list of boxes: Japan, Great Britain, Ireland, Australia, New Zealand,
/// Singapore and Malaya, southern India and Sri Lanka. Elsewhere the answer is no; say so yourself where that is wrong.
#[must_use]
pub fn drives_on_the_left(lon: f64, lat: f64) -> bool {
    LEFT_HAND.iter().any(|(_, [west, south, east, north])| {
        (*west..=*east).contains(&lon) && (*south..=*north).contains(&lat)
    })
}

/// A protobuf file becomes at most so many times as long as XML, where that is more than is read otherwise: an honest one, some 20 times.
const PBF_GROWTH: u64 = 60;

/// Makes `out/NAME.net.xml.gz`, `out/NAME.poly.xml.gz` and `out/PROVENANCE.md` from the extract `osm`, `NAME` being the
/// extract's name without endings.
///
/// # Errors
/// If the extract cannot be read, a converter fails, or the result cannot be read.
pub fn import_osm(
    osm: &Path,
    out: &Path,
    sumo: &Sumo,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    std::fs::create_dir_all(out).map_err(|source| file_error(out, source))?;
    let name = base_name(osm);
    let work = out.join(format!(".import-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|source| file_error(&work, source))?;
    let result = convert(osm, out, &work, &name, sumo, options);
    // Left-overs do no harm; the result counts.
    let _ = std::fs::remove_dir_all(&work);
    result
}

fn convert(
    osm: &Path,
    out: &Path,
    work: &Path,
    name: &str,
    sumo: &Sumo,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let plain = work.join("extract.osm");
    let place = unpack(osm, &plain, options.map.limits.max_bytes)?;
    let left_hand = options
        .left_hand
        .unwrap_or_else(|| place.is_some_and(|(lon, lat)| drives_on_the_left(lon, lat)));
    let net = out.join(format!("{name}.net.xml.gz"));
    let polygons = out.join(format!("{name}.poly.xml.gz"));
    let mut netconvert = sumo.command("netconvert")?;
    netconvert
        .arg("--osm-files")
        .arg(&plain)
        .arg("--output-file")
        .arg(&net)
        .args([
            "--geometry.remove=true",
            "--ramps.guess=true",
            "--junctions.join=true",
            "--tls.guess-signals=true",
            "--tls.discard-simple=true",
            "--tls.join=true",
            "--tls.default-type=static",
            "--keep-edges.by-vclass=passenger",
            "--remove-edges.isolated=true",
            "--keep-edges.components=1",
            "--no-turnarounds.except-deadend=true",
        ])
        .arg(format!("--lefthand={left_hand}"));
    run(netconvert, "netconvert", osm)?;
    let types = work.join("types.xml");
    std::fs::write(
        &types,
        "<polygonTypes><polygonType id=\"building\" name=\"building\" color=\"200,190,180\" layer=\"-1\"/></polygonTypes>\n",
    )
    .map_err(|source| file_error(&types, source))?;
    let mut polyconvert = sumo.command("polyconvert")?;
    polyconvert
        .arg("--net-file")
        .arg(&net)
        .arg("--osm-files")
        .arg(&plain)
        .arg("--type-file")
        .arg(&types)
        .arg("--output-file")
        .arg(&polygons)
        .args([
            "--discard=true",
            "--all-attributes=true",
            "--osm.merge-relations=1",
        ]);
    run(polyconvert, "polyconvert", osm)?;
    let (map, warnings) = Map::read(&net, std::slice::from_ref(&polygons), &options.map)?;
    provenance(osm, out, &sumo.version, left_hand)?;
    Ok(Imported {
        net,
        polygons,
        map,
        warnings,
        left_hand,
    })
}

/// The extract's name without its endings, or `map`.
fn base_name(osm: &Path) -> String {
    let name = osm.file_name().unwrap_or_default().to_string_lossy();
    let mut name = name.as_ref();
    for ending in [".gz", ".pbf", ".osm", ".xml"] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    let kept: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    if kept.trim_matches('.').is_empty() {
        "map".to_owned()
    } else {
        kept
    }
}

fn file_error(path: &Path, source: io::Error) -> ImportError {
    ImportError::File {
        path: path.display().to_string(),
        source,
    }
}

fn extract_error(path: &Path, problem: impl Into<String>) -> ImportError {
    ImportError::Extract {
        path: path.display().to_string(),
        problem: problem.into(),
    }
}

/// Writes the extract as plain OSM XML to `plain`; gives the longitude and latitude of one of its nodes.
fn unpack(osm: &Path, plain: &Path, max_bytes: u64) -> Result<Option<(f64, f64)>, ImportError> {
    let open = |path: &Path| File::open(path).map_err(|source| file_error(path, source));
    let mut head = [0_u8; 64];
    let mut file = open(osm)?;
    let mut filled = 0;
    while filled < head.len() {
        match file.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(file_error(osm, source)),
        }
    }
    let head = &head[..filled];
    let mut writer =
        BufWriter::new(File::create(plain).map_err(|source| file_error(plain, source))?);
    if head.starts_with(&[0x1f, 0x8b]) {
        let decoder = MultiGzDecoder::new(BufReader::new(open(osm)?));
        let mut limited = decoder.take(max_bytes.saturating_add(1));
        let written = io::copy(&mut limited, &mut writer)
            .map_err(|error| extract_error(osm, format!("the gzip stream is damaged ({error})")))?;
        if written > max_bytes {
            return Err(extract_error(
                osm,
                format!("unpacks to more than {max_bytes} bytes"),
            ));
        }
    } else if head.windows(9).any(|window| window == b"OSMHeader") {
        let packed = std::fs::metadata(osm).map_or(0, |data| data.len());
        let most = max_bytes.max(packed.saturating_mul(PBF_GROWTH));
        pbf::to_xml(BufReader::new(open(osm)?), &mut writer, most)
            .map_err(|error| extract_error(osm, error.to_string()))?;
    } else if head
        .iter()
        .find(|byte| !byte.is_ascii_whitespace() && **byte < 0x80)
        == Some(&b'<')
    {
        io::copy(&mut open(osm)?, &mut writer).map_err(|source| file_error(plain, source))?;
    } else {
        return Err(extract_error(osm, "neither XML nor gzip nor protobuf"));
    }
    writer.flush().map_err(|source| file_error(plain, source))?;
    drop(writer);
    a_node(plain).map_err(|source| file_error(plain, source))
}

/// Longitude and latitude of the first node of an OSM XML file.
fn a_node(plain: &Path) -> io::Result<Option<(f64, f64)>> {
    // The first nodes stand near the beginning, after at most some header elements.
    let mut text = Vec::new();
    File::open(plain)?.take(1 << 16).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let Some(start) = text.find("<node ") else {
        return Ok(None);
    };
    let node = text[start..].split('>').next().unwrap_or_default();
    let attribute = |name: &str| -> Option<f64> {
        let rest = node.split_once(&format!(" {name}="))?.1;
        let quote = rest.chars().next()?;
        rest[1..].split(quote).next()?.parse().ok()
    };
    Ok(attribute("lon").zip(attribute("lat")))
}

fn run(mut command: Command, tool: &'static str, osm: &Path) -> Result<(), ImportError> {
    let output = command
        .output()
        .map_err(|source| file_error(Path::new(command.get_program()), source))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(6)..].join(" | ");
    Err(ImportError::Converter {
        tool,
        path: osm.display().to_string(),
        message: if last.is_empty() {
            output.status.to_string()
        } else {
            last
        },
    })
}

fn provenance(osm: &Path, out: &Path, version: &str, left_hand: bool) -> Result<(), ImportError> {
    let size = std::fs::metadata(osm).map_or(0, |data| data.len());
    let name = osm.file_name().unwrap_or_default().to_string_lossy();
    let side = if left_hand { "left" } else { "right" };
    let text = format!(
        "# Where this map comes from\n\n\
         Made by `covey import` from `{name}` ({size} bytes), an OpenStreetMap extract, with netconvert and polyconvert of SUMO {version}. Roads \
         for passenger cars only, largest connected part, {side}-hand traffic; buildings as mapped, with their heights where given.\n\n\
         Map data (c) OpenStreetMap contributors, Open Database License 1.0.\n"
    );
    let path = out.join("PROVENANCE.md");
    std::fs::write(&path, text).map_err(|source| file_error(&path, source))
}

#[cfg(test)]
mod tests;
