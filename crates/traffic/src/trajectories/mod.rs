//! Recorded trajectories of public data sets as a map and floating-car data.
//!
//! [`ngsim`] reads the CSV of the NGSIM program, [`commonroad`] scenarios of CommonRoad. Both give [`Tracks`]: who moved how, and the
//! streets below. [`make`] has netconvert build a SUMO net of the streets, finds the lane of every sample on it, and writes the traffic as
//! CSV with the recorded sizes.

pub mod commonroad;
mod ends;
pub mod ngsim;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use covey_world::geometry::Point;
use covey_world::paths::{LaneMatchParameters, LaneMatcher, Predictor};
use covey_world::xml::Limits;
use covey_world::{MapError, Network};

use crate::sumo::{Sumo, SumoError};

/// Why recorded trajectories cannot be used. The text names the file, the line, the field, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum TrajectoryError {
    /// A file cannot be read or written.
    #[error("{path}: {source}; check the path, its permissions and the space on the disk")]
    File { path: String, source: io::Error },
    /// The file lacks something.
    #[error("{file}: {problem}")]
    Content { file: String, problem: String },
    /// A field holds something that it cannot.
    #[error("{file}: line {line}: {field}: found {found}, expected {expected}")]
    Field {
        file: String,
        line: u64,
        field: String,
        found: String,
        expected: String,
    },
    /// SUMO or its converter is not installed.
    #[error(transparent)]
    Sumo(Box<SumoError>),
    /// The converter failed.
    #[error("netconvert failed on the streets of {file}: {message}")]
    Converter { file: String, message: String },
    /// The converter's result cannot be read.
    #[error("the converted map cannot be read: {0}")]
    Map(#[from] MapError),
}

impl From<SumoError> for TrajectoryError {
    fn from(error: SumoError) -> Self {
        Self::Sumo(Box::new(error))
    }
}

/// Somebody at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Microseconds from the recording's beginning.
    pub time_us: i64,
    /// The middle of the front, in metres.
    pub front: Point,
    /// Radians counter-clockwise from +x.
    pub heading: f64,
    /// In m/s.
    pub speed: f64,
}

/// Somebody's way.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Its name in the recording.
    pub name: String,
    /// Its type: a name that says its class (`car`, `truck`, `motorcycle`, `bicycle`, `pedestrian`, `bus`).
    pub kind: String,
    /// Along its heading, in metres.
    pub length: f64,
    /// Across it, in metres.
    pub width: f64,
    /// By ascending time.
    pub moments: Vec<Moment>,
}

/// A street: one direction of a road between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Street {
    /// Its name in the net.
    pub name: String,
    /// Numbers of the nodes at its ends.
    pub ends: [usize; 2],
    /// Centre lines of its lanes, the rightmost first.
    pub lanes: Vec<Vec<Point>>,
    /// In metres.
    pub lane_width: f64,
    /// Speed limit, in m/s.
    pub speed: f64,
}

/// A way from a lane of one street to a lane of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Number of the street, and of its lane.
    pub from: (usize, usize),
    /// Number of the street, and of its lane.
    pub to: (usize, usize),
    /// Its course, where it is known.
    pub shape: Option<Vec<Point>>,
}

/// A recording: who moved how, and the streets below.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tracks {
    /// Everybody's way.
    pub tracks: Vec<Track>,
    /// Places of the nodes.
    pub nodes: Vec<Point>,
    /// The streets.
    pub streets: Vec<Street>,
    /// The ways between them.
    pub turns: Vec<Turn>,
    /// What is to be said of the data's origin.
    pub note: String,
}

/// What was made.
#[derive(Debug)]
pub struct Made {
    /// The SUMO net.
    pub net: PathBuf,
    /// The traffic.
    pub fcd: PathBuf,
    /// How many samples there are, and how many of them are on a lane.
    pub samples: [u64; 2],
    /// How long the recording is, in seconds.
    pub duration_s: f64,
}

fn file_error(path: &Path) -> impl Fn(io::Error) -> TrajectoryError + '_ {
    |source| TrajectoryError::File {
        path: path.display().to_string(),
        source,
    }
}

/// Reads a whole text file, gzipped or not.
fn read_text(path: &Path) -> Result<String, TrajectoryError> {
    let bytes = fs::read(path).map_err(file_error(path))?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        io::Read::read_to_end(
            &mut flate2::bufread::MultiGzDecoder::new(&bytes[..]),
            &mut plain,
        )
        .map_err(file_error(path))?;
        plain
    } else {
        bytes
    };
    String::from_utf8(bytes).map_err(|_| TrajectoryError::Content {
        file: path.display().to_string(),
        problem: "found bytes that are not UTF-8, expected text".to_string(),
    })
}

/// Makes `out/NAME.net.xml` and `out/NAME.csv.gz` of a recording that was read from `from`.
///
/// # Errors
/// SUMO's netconvert is missing or fails, or a file cannot be written.
pub fn make(
    tracks: &Tracks,
    from: &Path,
    out: &Path,
    name: &str,
    sumo: &Sumo,
) -> Result<Made, TrajectoryError> {
    fs::create_dir_all(out).map_err(file_error(out))?;
    let net = out.join(format!("{name}.net.xml"));
    let work = out.join(format!(".import-{}", std::process::id()));
    fs::create_dir_all(&work).map_err(file_error(&work))?;
    let converted = convert(tracks, from, &work, &net, sumo);
    // Left-overs do no harm; the result counts.
    let _ = fs::remove_dir_all(&work);
    converted?;
    let (network, _) = Network::read(&net, Limits::default())?;
    let fcd = out.join(format!("{name}.csv.gz"));
    let samples = write_traffic(tracks, &network, &fcd)?;
    let last = tracks.tracks.iter().filter_map(|t| t.moments.last());
    let end_us = last.map(|moment| moment.time_us).max().unwrap_or(0);
    Ok(Made {
        net,
        fcd,
        samples,
        duration_s: end_us as f64 / 1e6,
    })
}

fn points(shape: &[Point]) -> String {
    let points: Vec<String> = shape
        .iter()
        .map(|p| format!("{:.2},{:.2}", p.x, p.y))
        .collect();
    points.join(" ")
}

/// Has netconvert build a net of the streets.
fn convert(
    tracks: &Tracks,
    from: &Path,
    work: &Path,
    net: &Path,
    sumo: &Sumo,
) -> Result<(), TrajectoryError> {
    let mut nodes = String::from("<nodes>\n");
    for (number, place) in tracks.nodes.iter().enumerate() {
        // Writing into text cannot fail.
        let _ = writeln!(
            nodes,
            "<node id=\"n{number}\" x=\"{:.2}\" y=\"{:.2}\" type=\"priority\"/>",
            place.x, place.y
        );
    }
    nodes.push_str("</nodes>\n");
    let mut edges = String::from("<edges>\n");
    for street in &tracks.streets {
        let middle = &street.lanes[street.lanes.len() / 2];
        let _ = writeln!(
            edges,
            "<edge id=\"{}\" from=\"n{}\" to=\"n{}\" numLanes=\"{}\" speed=\"{:.2}\" width=\"{:.2}\" spreadType=\"center\" shape=\"{}\">",
            street.name,
            street.ends[0],
            street.ends[1],
            street.lanes.len(),
            street.speed,
            street.lane_width,
            points(middle)
        );
        for (index, lane) in street.lanes.iter().enumerate() {
            let shape = points(lane);
            let _ = writeln!(edges, "<lane index=\"{index}\" shape=\"{shape}\"/>");
        }
        edges.push_str("</edge>\n");
    }
    edges.push_str("</edges>\n");
    let mut turns = String::from("<connections>\n");
    for turn in &tracks.turns {
        let shape = turn.shape.as_ref().map_or(String::new(), |shape| {
            format!(" shape=\"{}\"", points(shape))
        });
        let _ = writeln!(
            turns,
            "<connection from=\"{}\" to=\"{}\" fromLane=\"{}\" toLane=\"{}\"{shape}/>",
            tracks.streets[turn.from.0].name,
            tracks.streets[turn.to.0].name,
            turn.from.1,
            turn.to.1
        );
    }
    turns.push_str("</connections>\n");
    let mut command = sumo.command("netconvert")?;
    for (option, name, text) in [
        ("--node-files", "nodes.nod.xml", nodes),
        ("--edge-files", "edges.edg.xml", edges),
        ("--connection-files", "turns.con.xml", turns),
    ] {
        let file = work.join(name);
        fs::write(&file, text).map_err(file_error(&file))?;
        command.arg(option).arg(file);
    }
    command.arg("--output-file").arg(net).args([
        "--offset.disable-normalization=true",
        "--no-turnarounds=true",
        "--junctions.join=false",
    ]);
    let output = command.output().map_err(file_error(work))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    Err(TrajectoryError::Converter {
        file: from.display().to_string(),
        message: lines[lines.len().saturating_sub(4)..].join(" | "),
    })
}

/// Writes everybody at every instant, with the lanes of the net.
fn write_traffic(
    tracks: &Tracks,
    network: &Network,
    file: &Path,
) -> Result<[u64; 2], TrajectoryError> {
    let predictor = Predictor::new(network);
    let matcher = LaneMatcher::new(&predictor, LaneMatchParameters::default());
    let mut by_time: BTreeMap<i64, Vec<(usize, usize)>> = BTreeMap::new();
    for (track, one) in tracks.tracks.iter().enumerate() {
        for (at, moment) in one.moments.iter().enumerate() {
            by_time.entry(moment.time_us).or_default().push((track, at));
        }
    }
    let part = file.with_extension("gz.part");
    let broken = file_error(&part);
    let packed = io::BufWriter::new(fs::File::create(&part).map_err(&broken)?);
    let mut out = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
    writeln!(
        out,
        "time;id;x;y;angle;speed;type;pos;lane;tag;length;width"
    )
    .map_err(&broken)?;
    let mut samples = [0, 0];
    for (time_us, present) in &by_time {
        for &(track, at) in present {
            let one = &tracks.tracks[track];
            let moment = &one.moments[at];
            let on_foot = one.kind == "pedestrian";
            let lane = (!on_foot)
                .then(|| matcher.match_lane(moment.front, moment.heading))
                .flatten();
            samples[0] += 1;
            samples[1] += u64::from(lane.is_some());
            let (lane, pos) = lane.map_or((String::new(), String::new()), |(lane, at)| {
                let name = network.lanes[lane.index()].name.clone();
                (name, format!("{at:.2}"))
            });
            let angle = (90.0 - moment.heading.to_degrees()).rem_euclid(360.0);
            writeln!(
                out,
                "{}.{:06};{};{:.3};{:.3};{angle:.2};{:.3};{};{pos};{lane};{};{:.2};{:.2}",
                time_us / 1_000_000,
                time_us % 1_000_000,
                one.name,
                moment.front.x,
                moment.front.y,
                moment.speed,
                one.kind,
                if on_foot { "person" } else { "vehicle" },
                one.length,
                one.width
            )
            .map_err(&broken)?;
        }
    }
    let packed = out.finish().map_err(&broken)?;
    packed
        .into_inner()
        .map_err(|error| broken(error.into_error()))?
        .sync_all()
        .map_err(&broken)?;
    fs::rename(&part, file).map_err(file_error(file))?;
    Ok(samples)
}
