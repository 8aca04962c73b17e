//! Made-up recordings, for tests of the viewer and for measuring it at any size. Part of no product.
//!
//! A straight road with a crossing street every 200 m and buildings between them; vehicles at constant speed; hosts near tile
//! centres that really decide ([`Snapshot::decide`](covey_protocol::snapshot::Snapshot::decide)) on views cut off by the
//! buildings. Nothing in it is a result: what vehicles know is drawn from a hash.

mod arm;
mod demand;
mod road;

use std::path::Path;

use covey_simulator::recording::{
    ArmHeader, Grid, Growth, Header, Knowledge, RecordingError, Relevant, Seen, Summary, Writer,
};
use covey_world::VehicleState;

use arm::MadeUp;
use road::{CELL, DENSITY, TILE, equipped, map, place, relevant};

/// What to make up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How many vehicles.
    pub vehicles: u32,
    /// How long.
    pub seconds: u32,
    /// Names of arms.
    pub arms: Vec<String>,
}

/// Makes a recording up and writes it to `path`.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, plan: &Plan) -> Result<Summary, RecordingError> {
    make(path, plan, None, &mut |_| {})
}

/// The same while somebody reads it; `each` is called after each cycle with its number.
///
/// # Errors
/// The file cannot be written.
pub fn write_watched(
    path: &Path,
    plan: &Plan,
    growth: &Growth,
    each: &mut dyn FnMut(u32),
) -> Result<Summary, RecordingError> {
    make(path, plan, Some(growth), each)
}

fn make(
    path: &Path,
    plan: &Plan,
    growth: Option<&Growth>,
    each: &mut dyn FnMut(u32),
) -> Result<Summary, RecordingError> {
    let length = (f64::from(plan.vehicles) / DENSITY / 200.0).ceil().max(2.0) * 200.0;
    let header = Header {
        scenario: "synthetic".to_string(),
        seed: 1,
        arms: plan
            .arms
            .iter()
            .map(|name| ArmHeader {
                name: name.clone(),
                hosted: name.contains('@'),
                scored: name.contains('@') && !name.starts_with("random"),
                paint: String::new(),
            })
            .collect(),
        step_us: 50_000,
        cycle_us: 200_000,
        decision_us: 150_000,
        grid: Grid {
            origin_x_m: 0.0,
            origin_y_m: -TILE / 2.0,
            azimuth_deg: 0.0,
        },
        cell_m: CELL,
        tile_m: TILE,
        target: 0.3,
        measured_from_us: 0,
        program: format!("covey {}", env!("CARGO_PKG_VERSION")),
        ..Header::default()
    };
    let mut writer = Writer::create(path, &header, &map(length))?;
    if let Some(growth) = growth {
        writer.watched_by(growth);
    }
    let mut arms: Vec<MadeUp> = plan.arms.iter().map(|name| MadeUp::new(name)).collect();
    for step in 0..plan.seconds * 20 {
        let vehicles: Vec<VehicleState> = (0..plan.vehicles)
            .map(|id| place(id, f64::from(step) * 0.05, length))
            .collect();
        writer.step(step, &vehicles, &|id| equipped(id.0))?;
        if step % 4 == 3 {
            let cycle = step / 4;
            let pairs = relevant(&vehicles);
            writer.relevance(&pairs)?;
            for (number, arm) in arms.iter_mut().enumerate() {
                let (record, decisions, demands) = arm.cycle(cycle, &vehicles, &pairs, length);
                let seen = seen(&record.knowledge, &vehicles, &pairs);
                writer.arm_cycle(number, record, &decisions)?;
                writer.demands(number, &demands)?;
                writer.seen(number, &seen)?;
            }
            each(cycle);
        }
    }
    writer.finish()
}

/// Who could have told of what was missed: every other participant near the object.
fn seen(knowledge: &[Knowledge], vehicles: &[VehicleState], pairs: &[Relevant]) -> Vec<Seen> {
    let mut all = Vec::new();
    for (number, (pair, known)) in (0u32..).zip(pairs.iter().zip(knowledge)) {
        if !known.missed {
            continue;
        }
        let at = vehicles[pair.object as usize].position;
        let near = vehicles
            .iter()
            .filter(|v| (v.position - at).length() < 60.0);
        let ids = near.map(|v| v.id.0);
        let by = ids.filter(|&id| equipped(id) && id != pair.vehicle && id != pair.object);
        all.push(Seen {
            pair: number,
            by: by.collect(),
        });
    }
    all
}
