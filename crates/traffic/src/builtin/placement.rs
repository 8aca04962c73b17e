//! The first places of a closed population: exact counts, nobody overlaps, random by seed.

use super::config::{BuiltinConfig, BuiltinError, DriverModel};
use super::roads::{NONE, Roads};
use super::vehicle::{Denial, Short, Vehicle};
use covey_draws::{Purpose, Series};
use covey_world::Body;

/// A vehicle before it has a place.
struct Candidate {
    body: Body,
    model: DriverModel,
    factor: f64,
}

impl Candidate {
    fn space(&self) -> f64 {
        self.body.length + self.model.min_gap
    }
}

/// Places all vehicles: first those of the main road, then those of the side streets, each group spread over its lanes in
/// proportion to their lengths. Gives the vehicles and how many of them belong on the main road.
pub(crate) fn place(
    roads: &Roads,
    config: &BuiltinConfig,
    seed: u64,
) -> Result<(Vec<Vehicle>, usize), BuiltinError> {
    let mut vehicles = Vec::new();
    place_group(roads, config, seed, true, &mut vehicles)?;
    let main = vehicles.len();
    place_group(roads, config, seed, false, &mut vehicles)?;
    Ok((vehicles, main))
}

fn place_group(
    roads: &Roads,
    config: &BuiltinConfig,
    seed: u64,
    main: bool,
    vehicles: &mut Vec<Vehicle>,
) -> Result<(), BuiltinError> {
    let (metres, density, field) = if main {
        (roads.main_metres, config.main_density, "main_density")
    } else {
        (roads.side_metres, config.side_density, "side_density")
    };
    let wanted = (metres / 1000.0 * density).round() as usize;
    let lanes: Vec<u32> = roads
        .streets
        .iter()
        .filter(|s| s.main == main)
        .flat_map(|s| s.lanes.iter().copied())
        .collect();
    let first = vehicles.len();
    let candidates: Vec<Candidate> = (0..wanted)
        .map(|k| candidate(config, seed, (first + k) as u64))
        .collect();
    let shared = share_out(roads, &lanes, &candidates);
    let placed: usize = shared.iter().map(Vec::len).sum();
    if placed < wanted {
        let space: f64 = candidates.iter().map(Candidate::space).sum::<f64>() / wanted as f64;
        return Err(BuiltinError::TooDense {
            field,
            density,
            wanted,
            fit: placed,
            most: 0.9 * 1000.0 / space,
        });
    }
    // Ids run along the lanes, so that neighbours on the road are neighbours in memory, at least at first.
    for (&lane, members) in lanes.iter().zip(&shared) {
        let length = roads.tracks[lane as usize].length;
        let taken: f64 = members.iter().map(|&k| candidates[k].space()).sum();
        let draws = Series::new(seed, Purpose::Place, u64::from(lane));
        let mut cuts: Vec<f64> = (0..members.len())
            .map(|k| draws.unit(k as u64) * (length - taken).max(0.0))
            .collect();
        cuts.sort_by(f64::total_cmp);
        let mut filled = 0.0;
        for (&k, cut) in members.iter().zip(&cuts) {
            let candidate = &candidates[k];
            filled += candidate.space();
            let position = cut + filled - candidate.model.min_gap;
            let id = vehicles.len() as u64;
            vehicles.push(vehicle(candidate, seed, id, lane, position));
        }
    }
    Ok(())
}

fn candidate(config: &BuiltinConfig, seed: u64, id: u64) -> Candidate {
    let heavy = Series::new(seed, Purpose::Kind, id).unit(0) < config.heavy_share;
    let wish = &config.speed_factor;
    let deviation = if heavy {
        0.5 * wish.deviation
    } else {
        wish.deviation
    };
    let draws = Series::new(seed, Purpose::SpeedFactor, id);
    let factor = (0..64)
        .map(|n| wish.mean + deviation * draws.normal(n))
        .find(|f| (wish.min..=wish.max).contains(f))
        .unwrap_or(wish.mean);
    if heavy {
        Candidate {
            body: Body::HEAVY,
            model: config.heavy.clone(),
            factor,
        }
    } else {
        Candidate {
            body: Body::CAR,
            model: config.car.clone(),
            factor,
        }
    }
}

/// Spreads candidates over lanes: each goes to the lane with the most free road per metre of lane that still has room for
/// it (of equals, the first).
fn share_out(roads: &Roads, lanes: &[u32], candidates: &[Candidate]) -> Vec<Vec<usize>> {
    let length = |lane: u32| roads.tracks[lane as usize].length;
    let mut shared: Vec<Vec<usize>> = vec![Vec::new(); lanes.len()];
    let mut taken = vec![0.0; lanes.len()];
    // A heap of lanes by the share taken; the integer key makes the order total.
    let key = |taken: f64, lane: usize| {
        let share = taken / length(lanes[lane]);
        std::cmp::Reverse(((share * 1e9) as u64, lane))
    };
    let mut heap: std::collections::BinaryHeap<_> = (0..lanes.len()).map(|l| key(0.0, l)).collect();
    let mut aside = Vec::new();
    for (k, candidate) in candidates.iter().enumerate() {
        aside.clear();
        while let Some(top) = heap.pop() {
            let lane = top.0.1;
            if taken[lane] + candidate.space() + 1.0 <= length(lanes[lane]) {
                taken[lane] += candidate.space();
                shared[lane].push(k);
                heap.push(key(taken[lane], lane));
                break;
            }
            // Too full for this one, perhaps not for a shorter one. A lane too full for any is dropped.
            if taken[lane] + 8.5 <= length(lanes[lane]) {
                aside.push(top);
            }
        }
        heap.extend(aside.iter().copied());
    }
    shared
}

fn vehicle(candidate: &Candidate, seed: u64, id: u64, track: u32, position: f64) -> Vehicle {
    Vehicle {
        body: candidate.body,
        model: candidate.model.clone(),
        factor: candidate.factor,
        track,
        position,
        speed: 0.0,
        next_speed: 0.0,
        accel: 0.0,
        trail: Short::new(),
        path: Short::new(),
        path_metres: 0.0,
        bound: 0,
        wants: Short::new(),
        decisions: 0,
        shadow: NONE,
        lateral: 0.0,
        slip: 0.0,
        progress: 0.0,
        settled: 0.0,
        denial: Denial::None,
        waited: 0.0,
        reroutes: 0,
        helps: (NONE, 0.0),
        dawdle: Series::new(seed, Purpose::Dawdle, id),
        turns: Series::new(seed, Purpose::Turn, id),
    }
}
