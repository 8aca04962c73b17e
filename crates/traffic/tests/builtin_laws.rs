//! What the built-in traffic promises, checked in every step on several networks and seeds.

mod support;

use covey_traffic::Source;
use covey_traffic::builtin::{Builtin, BuiltinConfig, BuiltinError, DeadEnds};
use covey_world::network::{EdgeKind, JunctionKind, Network};
use covey_world::scene::BodyKind;
use covey_world::{Frame, VehicleState};
use support::{Grid, grid, ring, ring_with_light};

fn config(main: f64, side: f64) -> BuiltinConfig {
    BuiltinConfig {
        main_density: main,
        side_density: side,
        warmup_s: 20.0,
        ..BuiltinConfig::default()
    }
}

/// What a light shows to a connection at an instant, read from the network anew.
fn letter(network: &Network, signal: usize, link: usize, time_us: i64) -> u8 {
    let signal = &network.signals[signal];
    let us = |seconds: f64| (seconds * 1e6).round() as i64;
    let cycle: i64 = signal.phases.iter().map(|p| us(p.duration)).sum();
    let mut at = (time_us - us(signal.offset)).rem_euclid(cycle);
    for phase in &signal.phases {
        if at < us(phase.duration) {
            return phase.state[link];
        }
        at -= us(phase.duration);
    }
    unreachable!()
}

/// The four corners of a vehicle's box, a little smaller than life.
fn corners(v: &VehicleState) -> [covey_world::Point; 4] {
    let ahead = covey_world::Point::from_heading(v.heading);
    let left = covey_world::Point::new(-ahead.y, ahead.x);
    let (l, w) = (v.body.length / 2.0 - 0.05, v.body.width / 2.0 - 0.05);
    [(l, w), (l, -w), (-l, -w), (-l, w)].map(|(a, b)| v.position + ahead * a + left * b)
}

/// Whether two boxes overlap: no side of either separates them. A long vehicle that turns sweeps over the next lane, as a
/// rigid box on a lane's centre line must; that does not count.
fn overlap(a: &VehicleState, b: &VehicleState) -> bool {
    let long = a.body.kind == BodyKind::Heavy || b.body.kind == BodyKind::Heavy;
    if long && (a.heading - b.heading).sin().abs() > 0.05 {
        return false;
    }
    if a.position.distance(b.position) > (a.body.length + b.body.length) / 2.0 + 3.0 {
        return false;
    }
    let (ca, cb) = (corners(a), corners(b));
    let separated = |heading: f64| {
        let axis = covey_world::Point::from_heading(heading);
        let range = |c: &[covey_world::Point; 4]| {
            let d = c.map(|p| p.dot(axis));
            (
                d.iter().copied().fold(f64::INFINITY, f64::min),
                d.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let (a, b) = (range(&ca), range(&cb));
        a.1 < b.0 || b.1 < a.0
    };
    let right = std::f64::consts::FRAC_PI_2;
    ![a.heading, a.heading + right, b.heading, b.heading + right]
        .into_iter()
        .any(separated)
}

#[derive(Default, Debug)]
struct Seen {
    lane_overlaps: usize,
    body_overlaps: usize,
    red_runs: usize,
    moved: f64,
    jumps: usize,
    turns: usize,
    lane_changes: usize,
}

/// Runs `seconds` and checks what holds in every step.
fn watch(network: &Network, config: &BuiltinConfig, seed: u64, seconds: f64) -> Seen {
    let mut traffic = Builtin::new(network, config, seed).unwrap();
    let mut seen = Seen::default();
    let (mut frame, mut before) = (Frame::default(), Frame::default());
    let steps = (seconds * 1000.0 / f64::from(config.step_ms)) as usize;
    let dt = f64::from(config.step_ms) / 1000.0;
    for step in 0..steps {
        traffic.next_frame(&mut frame).unwrap();
        assert_eq!(
            frame.time_us,
            step as i64 * i64::from(config.step_ms) * 1000
        );
        if step > 0 {
            assert_eq!(frame.vehicles.len(), before.vehicles.len());
        }
        check_lanes(network, &frame, &mut seen);
        for (k, v) in frame.vehicles.iter().enumerate() {
            assert_eq!(v.id.0 as usize, k);
            assert!(v.speed >= 0.0 && v.position.is_finite());
            if let Some(lane) = v.lane.map(|l| &network.lanes[l.index()]) {
                assert!((0.0..=lane.length + 1e-6).contains(&v.lane_position));
                let normal = network.edges[lane.edge.index()].kind == EdgeKind::Normal;
                if let (Some(next), true) = (v.next, normal) {
                    assert_eq!(Some(network.connections[next.index()].from), v.lane);
                }
            }
            let Some(old) = before.vehicles.get(k) else {
                continue;
            };
            seen.moved += v.speed * dt;
            if v.position.distance(old.position) > v.speed * dt * 1.5 + 0.12 {
                seen.jumps += 1;
            }
            check_passage(network, old, v, before.time_us, &mut seen);
        }
        std::mem::swap(&mut frame, &mut before);
    }
    seen
}

/// Counts red lights passed, turns taken and lanes changed in one step.
fn check_passage(
    network: &Network,
    old: &VehicleState,
    new: &VehicleState,
    time_us: i64,
    seen: &mut Seen,
) {
    let (Some(a), Some(b)) = (old.lane, new.lane) else {
        return;
    };
    if a == b {
        return;
    }
    let edge = |l: covey_world::network::LaneIx| network.lanes[l.index()].edge;
    if edge(a) == edge(b) {
        seen.lane_changes += 1;
    }
    for connection in &network.connections {
        if connection.from == a && connection.via.first() == Some(&b) {
            seen.turns += 1;
            if let Some((signal, link)) = connection.signal
                && letter(network, signal.index(), link as usize, time_us) == b'r'
            {
                seen.red_runs += 1;
            }
        }
    }
}

/// Places without connections: there vehicles turn back more tightly than their boxes can without touching.
fn dead_ends(network: &Network) -> Vec<covey_world::Point> {
    let connected: Vec<_> = network.connections.iter().map(|c| c.junction).collect();
    (0..network.junctions.len() as u32)
        .filter(|&j| !connected.contains(&covey_world::network::JunctionIx(j)))
        .map(|j| network.junctions[j as usize].position)
        .collect()
}

/// Counts overlaps along each lane and of boxes in the plane.
fn check_lanes(network: &Network, frame: &Frame, seen: &mut Seen) {
    let rim = dead_ends(network);
    let mut order: Vec<&VehicleState> = frame.vehicles.iter().collect();
    order.sort_by(|a, b| {
        (a.lane.map(|l| l.0), a.lane_position)
            .partial_cmp(&(b.lane.map(|l| l.0), b.lane_position))
            .unwrap()
    });
    for pair in order.windows(2) {
        let Some(lane) = pair[0].lane.map(|l| &network.lanes[l.index()]) else {
            continue;
        };
        // Lane positions count in SUMO's lengths; bodies are as long as they look.
        let metres = lane.shape.length() / lane.length;
        if pair[0].lane == pair[1].lane
            && (pair[1].lane_position - pair[0].lane_position) * metres < pair[1].body.length - 1e-6
        {
            seen.lane_overlaps += 1;
        }
    }
    order.sort_by(|a, b| a.position.x.total_cmp(&b.position.x));
    for (i, a) in order.iter().enumerate() {
        for b in &order[i + 1..] {
            if b.position.x - a.position.x > 15.0 {
                break;
            }
            if overlap(a, b) && rim.iter().all(|p| p.distance(a.position) > 25.0) {
                seen.body_overlaps += 1;
            }
        }
    }
}

#[test]
fn a_ring_flows_without_overlaps_at_every_density() {
    let network = ring(1000.0, 2, 13.9);
    let mut flows = Vec::new();
    for density in [10.0, 40.0, 90.0] {
        let seen = watch(&network, &config(density, 0.0), 1, 60.0);
        assert_eq!(
            (seen.lane_overlaps, seen.body_overlaps, seen.jumps),
            (0, 0, 0),
            "{seen:?}"
        );
        flows.push(seen.moved);
    }
    assert!(flows[1] > flows[0], "more vehicles, more flow: {flows:?}");
    assert!(flows[2] < flows[1], "beyond capacity, less flow: {flows:?}");
}

#[test]
fn nobody_runs_a_red_light_on_a_ring() {
    let network = ring_with_light(600.0, 2, 16.7, 20.0, 25.0);
    for seed in 0..3 {
        let seen = watch(&network, &config(35.0, 0.0), seed, 120.0);
        assert_eq!(
            (seen.lane_overlaps, seen.body_overlaps, seen.red_runs),
            (0, 0, 0),
            "{seen:?}"
        );
        assert!(seen.turns > 20, "the light lets vehicles through: {seen:?}");
    }
}

fn grids() -> Vec<(&'static str, Grid)> {
    vec![
        ("signals", Grid::default()),
        (
            "left-hand signals",
            Grid {
                left_hand: true,
                main_lanes: 3,
                ..Grid::default()
            },
        ),
        (
            "priority",
            Grid {
                signals: false,
                split_turns: false,
                ..Grid::default()
            },
        ),
        (
            "short blocks",
            Grid {
                spacing: 70.0,
                columns: 4,
                ..Grid::default()
            },
        ),
    ]
}

#[test]
fn grids_flow_without_overlaps_or_red_runs() {
    for (name, shape) in grids() {
        let network = grid(&shape);
        for seed in 0..2 {
            let seen = watch(&network, &config(30.0, 12.0), seed, 30.0);
            assert_eq!(
                (seen.lane_overlaps, seen.body_overlaps),
                (0, 0),
                "{name}, seed {seed}: {seen:?}"
            );
            assert_eq!(
                (seen.red_runs, seen.jumps),
                (0, 0),
                "{name}, seed {seed}: {seen:?}"
            );
            assert!(seen.turns > 10 && seen.lane_changes > 0, "{name}: {seen:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_frames_and_another_seed_others() {
    let network = grid(&Grid::default());
    let run = |seed| {
        let mut traffic = Builtin::new(&network, &config(30.0, 12.0), seed).unwrap();
        let mut frame = Frame::default();
        let mut frames = Vec::new();
        for _ in 0..100 {
            traffic.next_frame(&mut frame).unwrap();
            frames.push(frame.clone());
        }
        frames
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_junction_of_another_type_is_refused_by_name() {
    let mut network = grid(&Grid::default());
    let junction = network
        .junctions
        .iter_mut()
        .find(|j| j.name == "j1.0")
        .unwrap();
    junction.kind = JunctionKind::Other("right_before_left".into());
    let error = Builtin::new(&network, &config(10.0, 5.0), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "built-in traffic: junction `j1.0` is of type `right_before_left`; it knows traffic lights, priority junctions and open joints only: use SUMO traffic for this map"
    );
}

#[test]
fn a_dead_end_without_a_way_back_is_named_or_avoided() {
    let mut network = grid(&Grid::default());
    // The street back from the rim is closed to motor vehicles.
    let closed = network
        .edges
        .iter()
        .position(|e| e.name == "side0.1-")
        .unwrap();
    for lane in network.edges[closed].lanes.clone() {
        network.lanes[lane.index()].drivable = false;
    }
    let error = Builtin::new(&network, &config(10.0, 5.0), 1).unwrap_err();
    assert!(
        matches!(&error, BuiltinError::DeadEnd { edge, .. } if edge == "side0.1"),
        "{error}"
    );
    let avoiding = BuiltinConfig {
        dead_ends: DeadEnds::Avoid,
        ..config(10.0, 5.0)
    };
    let traffic = Builtin::new(&network, &avoiding, 1).unwrap();
    assert_eq!(traffic.avoided_edges().len(), 1);
}

#[test]
fn a_density_that_does_not_fit_is_refused() {
    let network = ring(500.0, 1, 13.9);
    let error = Builtin::new(&network, &config(140.0, 0.0), 1).unwrap_err();
    assert!(
        matches!(
            error,
            BuiltinError::TooDense {
                field: "main_density",
                ..
            }
        ),
        "{error}"
    );
}

fn corridor() -> Network {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/tamagawa/tamagawa.net.xml.gz");
    Network::read(&path, covey_world::xml::Limits::default())
        .unwrap()
        .0
}

#[test]
fn the_corridor_flows_without_overlaps_or_red_runs() {
    let network = corridor();
    let config = BuiltinConfig {
        warmup_s: 60.0,
        ..BuiltinConfig::default()
    };
    let seen = watch(&network, &config, 1, 8.0);
    assert_eq!((seen.lane_overlaps, seen.body_overlaps), (0, 0), "{seen:?}");
    assert_eq!((seen.red_runs, seen.jumps), (0, 0), "{seen:?}");
    assert!(seen.turns > 50, "{seen:?}");
}

#[test]
fn the_main_road_keeps_its_density_and_the_population_is_exact() {
    let network = corridor();
    let config = BuiltinConfig {
        main_density: 20.0,
        warmup_s: 300.0,
        warmup_step_ms: 500,
        ..BuiltinConfig::default()
    };
    let mut traffic = Builtin::new(&network, &config, 3).unwrap();
    let mut frame = Frame::default();
    traffic.next_frame(&mut frame).unwrap();
    let summary = traffic.summary();
    let main = (traffic.main_lane_km() * 20.0).round() as usize;
    assert!(summary.vehicles > main && frame.vehicles.len() == summary.vehicles);
    assert!(
        (summary.main_density - 20.0).abs() < 2.0,
        "the main road has {} of 20 vehicles per km and lane",
        summary.main_density
    );
    assert!(
        summary.mean_speed > 2.0 && summary.stopped < 0.7,
        "{summary:?}"
    );
}

#[test]
fn who_stands_stands_still_and_drives_off_again() {
    let network = corridor();
    let config = BuiltinConfig {
        warmup_s: 60.0,
        ..BuiltinConfig::default()
    };
    let mut traffic = Builtin::new(&network, &config, 1).unwrap();
    let mut frame = Frame::default();
    let mut stood = std::collections::BTreeSet::new();
    let (mut standing, mut creeping, mut drove_off) = (0, 0, 0);
    for _ in 0..400 {
        traffic.next_frame(&mut frame).unwrap();
        for vehicle in &frame.vehicles {
            if vehicle.speed == 0.0 {
                standing += 1;
                stood.insert(vehicle.id);
            } else if vehicle.speed < 0.03 {
                creeping += 1;
            } else if vehicle.speed > 3.0 && stood.remove(&vehicle.id) {
                drove_off += 1;
            }
        }
    }
    let all = 400 * frame.vehicles.len();
    assert_eq!(creeping, 0);
    assert!(standing > all / 4, "{standing} of {all}");
    assert!(drove_off > 100, "{drove_off}");
}

#[test]
fn heavy_vehicles_come_in_the_share_asked_for() {
    let network = ring(4000.0, 3, 13.9);
    let config = BuiltinConfig {
        heavy_share: 0.25,
        warmup_s: 0.0,
        ..config(30.0, 0.0)
    };
    let mut traffic = Builtin::new(&network, &config, 5).unwrap();
    let mut frame = Frame::default();
    traffic.next_frame(&mut frame).unwrap();
    let heavy = frame
        .vehicles
        .iter()
        .filter(|v| v.body == covey_world::Body::HEAVY)
        .count();
    let share = heavy as f64 / frame.vehicles.len() as f64;
    assert!((share - 0.25).abs() < 0.06, "{share}");
}

/// A vehicle that must yield crosses a priority junction only in gaps: those with right of way hardly brake.
#[test]
fn side_streets_yield_at_priority_junctions() {
    let network = grid(&Grid {
        columns: 1,
        rows: 1,
        spacing: 400.0,
        signals: false,
        split_turns: false,
        ..Grid::default()
    });
    let config = BuiltinConfig {
        heavy_share: 0.0,
        ..config(12.0, 12.0)
    };
    let mut traffic = Builtin::new(&network, &config, 1).unwrap();
    let mut frame = Frame::default();
    let mut stopped = [0, 0];
    for _ in 0..2400 {
        traffic.next_frame(&mut frame).unwrap();
        for v in &frame.vehicles {
            let Some(lane) = v.lane else { continue };
            let lane = &network.lanes[lane.index()];
            let edge = &network.edges[lane.edge.index()];
            let junction = edge.to.map(|j| network.junctions[j.index()].name.as_str());
            if junction == Some("j0.0") && lane.length - v.lane_position < 30.0 && v.speed < 0.1 {
                stopped[usize::from(edge.name.starts_with("main"))] += 1;
            }
        }
    }
    assert!(
        stopped[0] > 5 * stopped[1],
        "side streets stand {} vehicle-steps, the main road {}",
        stopped[0],
        stopped[1]
    );
}

/// Vehicles too long for the waiting place inside a junction ask for the whole way over it at once.
#[test]
fn long_vehicles_find_their_way_over_junctions_with_waiting_places() {
    for spacing in [70.0, 90.0, 120.0, 200.0] {
        let network = grid(&Grid {
            spacing,
            ..Grid::default()
        });
        let config = BuiltinConfig {
            heavy_share: 1.0,
            warmup_s: 120.0,
            warmup_step_ms: 500,
            ..config(15.0, 8.0)
        };
        let seen = watch(&network, &config, 1, 10.0);
        assert_eq!(
            (seen.lane_overlaps, seen.red_runs),
            (0, 0),
            "{spacing} m: {seen:?}"
        );
    }
}

/// Crowded single-lane streets in a grid are where junctions block one another for ever.
#[test]
fn a_crowded_grid_never_comes_to_a_stop() {
    for signals in [false, true] {
        let network = grid(&Grid {
            columns: 4,
            rows: 4,
            spacing: 140.0,
            main_lanes: 1,
            signals,
            ..Grid::default()
        });
        let config = BuiltinConfig {
            heavy_share: 0.0,
            warmup_s: 900.0,
            warmup_step_ms: 500,
            ..config(50.0, 50.0)
        };
        let mut traffic = Builtin::new(&network, &config, 1).unwrap();
        let mut frame = Frame::default();
        traffic.next_frame(&mut frame).unwrap();
        let before = frame.clone();
        for _ in 0..600 {
            traffic.next_frame(&mut frame).unwrap();
        }
        let moved = before
            .vehicles
            .iter()
            .zip(&frame.vehicles)
            .filter(|(a, b)| a.position.distance(b.position) > 5.0)
            .count();
        let share = moved as f64 / frame.vehicles.len() as f64;
        assert!(
            share > 0.4,
            "{share:.2} of the vehicles moved in 30 s, signals {signals}"
        );
    }
}
