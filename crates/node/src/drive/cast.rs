//! Which vehicles are nodes.

use std::collections::BTreeMap;

use covey_simulator::Prepared;
use covey_traffic::builtin::Builtin;
use covey_traffic::{STEP_US, Source as _};
use covey_world::Frame;

/// The `count` vehicles that are on the road the longest, of those the nearest to the middle of the first tile, and all others.
///
/// # Errors
/// There are not so many.
pub fn choose(
    prepared: &Prepared,
    seed: u64,
    seconds: f64,
    count: usize,
) -> Result<(Vec<u32>, Vec<u32>), String> {
    let mut traffic = Builtin::new(&prepared.map.network, &prepared.scenario.traffic, seed)
        .map_err(|error| error.to_string())?;
    let steps = (seconds * 1e6 / STEP_US as f64).round() as u64;
    let mut frame = Frame::default();
    // Steps that each was there, and the sum of its distances from the middle.
    let mut seen: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    let scenario = &prepared.scenario;
    let half = 0.5 * scenario.protocol.tile_m;
    let (x, y) = (
        scenario.grid.origin_x_m + half,
        scenario.grid.origin_y_m + half,
    );
    for _ in 0..steps {
        if !traffic
            .next_frame(&mut frame)
            .map_err(|error| error.to_string())?
        {
            break;
        }
        for vehicle in &frame.vehicles {
            let entry = seen.entry(vehicle.id.0).or_default();
            entry.0 += 1;
            entry.1 += (vehicle.position.x - x).hypot(vehicle.position.y - y);
        }
    }
    if seen.len() < count {
        return Err(format!(
            "--nodes: found {count}, expected at most {}: so many vehicles come by within {seconds} s",
            seen.len()
        ));
    }
    let mut order: Vec<(u64, f64, u32)> = seen
        .iter()
        .map(|(&id, &(there, sum))| (there, sum / there as f64, id))
        .collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut chosen: Vec<u32> = order.iter().take(count).map(|&(_, _, id)| id).collect();
    chosen.sort_unstable();
    let others = seen
        .keys()
        .copied()
        .filter(|id| chosen.binary_search(id).is_err())
        .collect();
    Ok((chosen, others))
}
