//! What a recording says about itself, and the map as the page draws it.

use std::fmt::Write as _;

use covey_world::network::EdgeKind;
use covey_world::{Body, Map, Point};
use serde::{Deserialize, Serialize};

use crate::outcome::CycleRow;

/// What is known before the run begins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Header {
    /// The scenario's name.
    pub scenario: String,
    /// The seed of the recorded run.
    pub seed: u64,
    /// The arms, in the order of their numbers.
    pub arms: Vec<ArmHeader>,
    /// Length of a step, in microseconds.
    pub step_us: u32,
    /// Length of a cycle, in microseconds; a whole number of steps.
    pub cycle_us: u32,
    /// When in a cycle hosts decide and the metric looks, in microseconds; a whole number of steps.
    pub decision_us: u32,
    /// Where cells and tiles lie.
    pub grid: Grid,
    /// Side of a cell, in metres.
    pub cell_m: f64,
    /// Side of a tile, in metres.
    pub tile_m: f64,
    /// The occupancy by cooperative messages that prices aim at.
    pub target: f64,
    /// From when on the metric counts, in microseconds.
    pub measured_from_us: i64,
    /// The program that recorded.
    pub program: String,
    /// The fingerprint of the results that it belongs to; empty where it was recorded by itself.
    #[serde(default)]
    pub run: String,
    /// The revision of the program that recorded; empty where nobody told.
    #[serde(default)]
    pub revision: String,
    /// Every parameter in force, by section, as summaries have them; null in recordings of older programs.
    #[serde(default)]
    pub readings: serde_json::Value,
}

/// An arm of the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmHeader {
    /// Its name, such as `proposed@0.4`.
    pub name: String,
    /// Hosts decide.
    pub hosted: bool,
    /// Its hosts decide as `covey decide` does on what they knew: by score, or by gain.
    pub scored: bool,
    /// Its colour in figures, by name; empty in recordings of older programs.
    #[serde(default)]
    pub paint: String,
}

/// Where the grid lies in the map's plane.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Grid {
    /// Map x of the origin, in metres.
    pub origin_x_m: f64,
    /// Map y of the origin, in metres.
    pub origin_y_m: f64,
    /// Direction of the first axis, in degrees counter-clockwise from map east.
    pub azimuth_deg: f64,
}

/// A vehicle of the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleHeader {
    /// Its number, in the order of first appearance.
    pub id: u32,
    /// Length in metres.
    pub length: f32,
    /// Width in metres.
    pub width: f32,
    /// Height in metres.
    pub height: f32,
    /// `car`, `heavy`, `two-wheeler` or `pedestrian`.
    pub kind: String,
    /// It has a radio.
    pub equipped: bool,
}

/// An arm over time, one entry a cycle.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// Relevant pairs of participants.
    pub relevant: Vec<u64>,
    /// Those missed.
    pub missed: Vec<u64>,
    /// Cooperative load, mean over tiles with a participant.
    pub load: Vec<f32>,
    /// All bytes over capacity, mean over tiles with a participant.
    pub busy: Vec<f32>,
    /// Price, mean over tiles with a host.
    pub price: Vec<f32>,
    /// Contributors, mean over tiles with a host.
    pub contributors: Vec<f32>,
}

impl Curve {
    pub(super) fn resize(&mut self, cycles: usize) {
        self.relevant.resize(cycles, 0);
        self.missed.resize(cycles, 0);
        for list in [
            &mut self.load,
            &mut self.busy,
            &mut self.price,
            &mut self.contributors,
        ] {
            list.resize(cycles, 0.0);
        }
    }

    /// Adds a tile's row at the last cycle, weighted where a mean is formed over tiles.
    pub(super) fn add(&mut self, row: &CycleRow, of_tiles: f64, of_hosts: f64) {
        let Some(at) = self.relevant.len().checked_sub(1) else {
            return;
        };
        self.relevant[at] += row.deficit.relevant;
        self.missed[at] += row.deficit.missed;
        self.load[at] += (row.load * of_tiles) as f32;
        self.busy[at] += (row.busy * of_tiles) as f32;
        if row.host.is_some() {
            self.price[at] += (row.price * of_hosts) as f32;
            self.contributors[at] += (f64::from(row.contributors) * of_hosts) as f32;
        }
    }
}

/// One tile of an arm over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TileCurve {
    /// Column and row.
    pub tile: [i32; 2],
    /// Its numbers.
    #[serde(flatten)]
    pub curve: Curve,
}

/// What a recording says about itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// `covey.recording/2`.
    pub schema: String,
    /// What was known before the run.
    #[serde(flatten)]
    pub header: Header,
    /// Cycles in a chunk.
    pub chunk_cycles: u32,
    /// The first recorded step.
    pub first_step: u32,
    /// Recorded steps.
    pub steps: u32,
    /// The first evaluated cycle.
    pub first_cycle: u32,
    /// Evaluated cycles.
    pub cycles: u32,
    /// All vehicles, by number.
    pub vehicles: Vec<VehicleHeader>,
}

/// The schema of the manifest.
pub(super) const SCHEMA: &str = "covey.recording/2";

impl VehicleHeader {
    pub(super) fn new(id: u32, body: Body, equipped: bool) -> Self {
        Self {
            id,
            length: body.length as f32,
            width: body.width as f32,
            height: body.height as f32,
            kind: body.kind.name().to_string(),
            equipped,
        }
    }
}

/// Roads and buildings as JSON: lines as flat lists of centimetres.
///
/// `{"left_hand", "lanes":[{"w":cm,"k":"normal"|"internal"|..., "p":[x,y,...]}], "junctions":[[x,y,...]], "buildings":[{"h":dm,"p":[x,y,...]}]}`
pub(super) fn world_json(map: &Map) -> String {
    let mut out = String::new();
    let network = &map.network;
    let _ = write!(out, "{{\"left_hand\":{},\"lanes\":[", network.left_hand);
    let mut first = true;
    for lane in network.lanes.iter().filter(|lane| lane.drivable) {
        let kind = match network.edges.get(lane.edge.index()).map(|edge| edge.kind) {
            Some(EdgeKind::Normal) | None => "normal",
            Some(_) => "internal",
        };
        comma(&mut out, &mut first);
        let _ = write!(out, "{{\"w\":{},\"k\":\"{kind}\",\"p\":", cm(lane.width));
        points(&mut out, lane.shape.points());
        out.push('}');
    }
    out.push_str("],\"junctions\":[");
    first = true;
    for junction in network.junctions.iter().filter(|j| j.outline.len() > 2) {
        comma(&mut out, &mut first);
        points(&mut out, &junction.outline);
    }
    out.push_str("],\"buildings\":[");
    first = true;
    for building in &map.buildings {
        comma(&mut out, &mut first);
        let _ = write!(out, "{{\"h\":{},\"p\":", (building.height * 10.0) as i64);
        points(&mut out, &building.outline);
        out.push('}');
    }
    out.push_str("]}");
    out
}

fn comma(out: &mut String, first: &mut bool) {
    if !std::mem::take(first) {
        out.push(',');
    }
}

pub(super) fn cm(metres: f64) -> i32 {
    (metres * 100.0).round() as i32
}

fn points(out: &mut String, points: &[Point]) {
    out.push('[');
    for (at, p) in points.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let _ = write!(out, "{},{}", cm(p.x), cm(p.y));
    }
    out.push(']');
}
