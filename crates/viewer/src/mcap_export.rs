//! A recording as MCAP, for Foxglove and its kin.
//!
//! Topics: `/map` (roads and buildings, once), `/ARM/vehicles` (boxes coloured by role, once a cycle, each an entity of its own with the vehicle's
//! number, its role and what it misses; both `foxglove.SceneUpdate` in frame `map`), and `/ARM/cycle` (deficit, load, price and contributors, to be plotted). All JSON.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use covey_simulator::recording::{
    ArmCycle, CycleRelevance, Manifest, Reader, RecordingError, Role,
};
use serde_json::{Value, json};
use thiserror::Error;

use crate::mcap_file::McapFile;

/// Why there is no MCAP file.
#[derive(Debug, Error)]
pub enum McapError {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The map in the recording is none.
    #[error("the recording's map: {0}")]
    Map(serde_json::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
}

/// Writes the recording to `out`. Returns how many messages it has.
///
/// # Errors
/// The recording is damaged or `out` cannot be written.
pub fn write_mcap(reader: &mut Reader, out: impl Write) -> Result<u64, McapError> {
    let library = format!("covey {}", env!("CARGO_PKG_VERSION"));
    let out = McapFile::new(BufWriter::new(out), &library).map_err(McapError::Write)?;
    Export { out }.all(reader)
}

struct Export<W: Write> {
    out: McapFile<W>,
}

impl<W: Write> Export<W> {
    fn all(mut self, reader: &mut Reader) -> Result<u64, McapError> {
        let manifest = reader.manifest().clone();
        let world: Value = serde_json::from_slice(&reader.world()?).map_err(McapError::Map)?;
        let io = McapError::Write;
        let scene = scene_schema().to_string();
        let scene = self
            .out
            .schema("foxglove.SceneUpdate", &scene)
            .map_err(io)?;
        let cycle = self
            .out
            .schema("covey.Cycle", &cycle_schema().to_string())
            .map_err(io)?;
        let channel = self.out.channel("/map", scene).map_err(io)?;
        let start = u64::from(manifest.first_step) * u64::from(manifest.header.step_us);
        self.put(channel, start, &map_scene(&world, start))
            .map_err(io)?;
        let mut channels = Vec::new();
        for arm in &manifest.header.arms {
            channels.push([
                self.out
                    .channel(&format!("/{}/vehicles", arm.name), scene)
                    .map_err(io)?,
                self.out
                    .channel(&format!("/{}/cycle", arm.name), cycle)
                    .map_err(io)?,
            ]);
        }
        for chunk in reader.chunks() {
            let steps = reader.steps(chunk)?;
            let relevance = reader.relevance(chunk)?;
            for (number, channels) in channels.iter().enumerate() {
                for cycle in reader.arm_cycles(number as u16, chunk)? {
                    // Roles are of the vehicles at the step of the decision.
                    let header = &manifest.header;
                    let decision = (header.cycle_us / header.step_us)
                        .saturating_mul(cycle.cycle)
                        .saturating_add(header.decision_us / header.step_us);
                    let Some(step) = steps.iter().find(|s| s.step == decision) else {
                        continue;
                    };
                    let time = u64::from(step.step) * u64::from(manifest.header.step_us);
                    let relevant = relevance.iter().find(|r| r.cycle == cycle.cycle);
                    let misses = missed_by(relevant, &cycle);
                    let scene = vehicle_scene(&manifest, step, &cycle.roles, &misses, time);
                    self.put(channels[0], time, &scene).map_err(io)?;
                    let relevant: u64 = cycle.tiles.iter().map(|t| t.deficit.relevant).sum();
                    let missed: u64 = cycle.tiles.iter().map(|t| t.deficit.missed).sum();
                    let mean =
                        |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
                    let hosted = || cycle.tiles.iter().filter(|t| t.host.is_some());
                    let row = json!({
                        "relevant": relevant,
                        "missed": missed,
                        "deficit": missed as f64 / relevant.max(1) as f64,
                        "load": mean(cycle.tiles.iter().map(|t| t.load).collect()),
                        "busy": mean(cycle.tiles.iter().map(|t| t.busy).collect()),
                        "price": mean(hosted().map(|t| t.price).collect()),
                        "contributors": mean(hosted().map(|t| f64::from(t.contributors)).collect()),
                    });
                    self.put(channels[1], time, &row).map_err(io)?;
                }
            }
        }
        self.out.finish().map_err(io)
    }

    fn put(&mut self, channel: u16, time_us: u64, message: &Value) -> io::Result<()> {
        let text = message.to_string();
        self.out.message(channel, time_us * 1000, text.as_bytes())
    }
}

fn cycle_schema() -> Value {
    let number = json!({"type": "number"});
    json!({"type": "object", "properties": {
        "relevant": number, "missed": number, "deficit": number, "load": number, "busy": number,
        "price": number, "contributors": number}})
}

fn entity(id: &str, time_us: u64, primitives: Value) -> Value {
    let mut entity = json!({
        "timestamp": timestamp(time_us),
        "frame_id": "map", "id": id, "lifetime": {"sec": 0, "nsec": 0}, "frame_locked": false, "metadata": [],
        "arrows": [], "cubes": [], "spheres": [], "cylinders": [], "lines": [], "triangles": [], "texts": [], "models": [],
    });
    if let (Some(entity), Value::Object(primitives)) = (entity.as_object_mut(), primitives) {
        entity.extend(primitives);
    }
    entity
}

/// A message of these entities alone: whatever was there before is gone.
fn update(time_us: u64, entities: &[Value]) -> Value {
    let all = json!({"timestamp": timestamp(time_us), "type": 1, "id": ""});
    json!({"deletions": [all], "entities": entities})
}

fn timestamp(time_us: u64) -> Value {
    json!({"sec": time_us / 1_000_000, "nsec": time_us % 1_000_000 * 1000})
}

/// What each vehicle misses in a cycle.
fn missed_by(relevant: Option<&CycleRelevance>, cycle: &ArmCycle) -> BTreeMap<u32, Vec<u32>> {
    let mut misses: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let pairs = relevant.map_or(&[][..], |relevant| &relevant.pairs);
    for (pair, known) in pairs.iter().zip(&cycle.knowledge) {
        if known.missed {
            misses.entry(pair.vehicle).or_default().push(pair.object);
        }
    }
    misses
}

fn pose(x: f64, y: f64, z: f64, heading: f64) -> Value {
    let (sin, cos) = (heading / 2.0).sin_cos();
    json!({"position": {"x": x, "y": y, "z": z}, "orientation": {"x": 0, "y": 0, "z": sin, "w": cos}})
}

fn colour(rgb: [f64; 3], a: f64) -> Value {
    json!({"r": rgb[0], "g": rgb[1], "b": rgb[2], "a": a})
}

/// Lines of lanes and outlines of buildings, the latter at roof height too.
fn map_scene(world: &Value, time_us: u64) -> Value {
    let line = |points: &Value, z: f64, closed: bool, rgb: [f64; 3]| {
        let flat: Vec<f64> = points
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_f64).collect())
            .unwrap_or_default();
        let points: Vec<Value> = flat
            .chunks_exact(2)
            .map(|p| json!({"x": p[0] / 100.0, "y": p[1] / 100.0, "z": z}))
            .collect();
        json!({"type": if closed { 1 } else { 0 }, "pose": pose(0.0, 0.0, 0.0, 0.0), "thickness": 1.5,
               "scale_invariant": true, "points": points, "color": colour(rgb, 1.0), "colors": [], "indices": []})
    };
    let list = |key: &str| world[key].as_array().cloned().unwrap_or_default();
    let mut lines: Vec<Value> = list("lanes")
        .iter()
        .map(|lane| line(&lane["p"], 0.0, false, [0.5, 0.5, 0.5]))
        .collect();
    for building in list("buildings") {
        let height = building["h"].as_f64().unwrap_or(0.0) / 10.0;
        for z in [0.0, height] {
            lines.push(line(&building["p"], z, true, [0.65, 0.5, 0.35]));
        }
    }
    update(time_us, &[entity("map", time_us, json!({"lines": lines}))])
}

fn vehicle_scene(
    manifest: &Manifest,
    step: &covey_simulator::recording::StepRecord,
    roles: &[Role],
    misses: &BTreeMap<u32, Vec<u32>>,
    time_us: u64,
) -> Value {
    let entities: Vec<Value> = step
        .vehicles
        .iter()
        .zip(roles)
        .filter_map(|(v, role)| {
            let at = manifest.vehicles.binary_search_by_key(&v.id, |header| header.id);
            let body = manifest.vehicles.get(at.ok()?)?;
            let (rgb, name) = match role {
                Role::Unequipped => ([0.6, 0.6, 0.6], "unequipped"),
                Role::Listener => ([0.35, 0.55, 0.85], "listener"),
                Role::Candidate => ([0.3, 0.75, 0.75], "candidate"),
                Role::Contributor => ([0.95, 0.6, 0.1], "contributor"),
                Role::Host => ([0.85, 0.1, 0.35], "host"),
            };
            let missed = misses.get(&v.id).map_or(&[][..], Vec::as_slice);
            let missed: Vec<String> = missed.iter().map(u32::to_string).collect();
            let heading = f64::from(v.heading) / 65_536.0 * std::f64::consts::TAU;
            let height = f64::from(body.height);
            let cube = json!({
                "pose": pose(f64::from(v.x_cm) / 100.0, f64::from(v.y_cm) / 100.0, height / 2.0, heading),
                "size": {"x": body.length, "y": body.width, "z": height},
                "color": colour(rgb, 1.0),
            });
            let metadata = json!([
                {"key": "role", "value": name},
                {"key": "kind", "value": body.kind},
                {"key": "misses", "value": missed.join(", ")},
            ]);
            let parts = json!({"cubes": [cube], "metadata": metadata});
            Some(entity(&v.id.to_string(), time_us, parts))
        })
        .collect();
    update(time_us, &entities)
}

/// The part of Foxglove's schema that is used here.
fn scene_schema() -> Value {
    let number = json!({"type": "number"});
    let integer = json!({"type": "integer"});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let array = |items: Value| json!({"type": "array", "items": items});
    let time = object(json!({"sec": integer, "nsec": integer}));
    let vector = object(json!({"x": number, "y": number, "z": number}));
    let quaternion = object(json!({"x": number, "y": number, "z": number, "w": number}));
    let pose = object(json!({"position": vector, "orientation": quaternion}));
    let colour = object(json!({"r": number, "g": number, "b": number, "a": number}));
    let cube = object(json!({"pose": pose, "size": vector, "color": colour}));
    let line = object(json!({
        "type": integer, "pose": pose, "thickness": number, "scale_invariant": {"type": "boolean"},
        "points": array(vector.clone()), "color": colour, "colors": array(colour.clone()), "indices": array(integer.clone()),
    }));
    let any = array(object(json!({})));
    let entity = object(json!({
        "timestamp": time, "frame_id": {"type": "string"}, "id": {"type": "string"}, "lifetime": time,
        "frame_locked": {"type": "boolean"},
        "metadata": array(object(json!({"key": {"type": "string"}, "value": {"type": "string"}}))),
        "arrows": any, "cubes": array(cube), "spheres": any, "cylinders": any, "lines": array(line), "triangles": any,
        "texts": any, "models": any,
    }));
    let deletion = object(json!({"timestamp": time, "type": integer, "id": {"type": "string"}}));
    json!({"title": "foxglove.SceneUpdate", "type": "object",
           "properties": {"deletions": array(deletion), "entities": array(entity)}})
}
