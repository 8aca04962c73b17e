//! The bundled maps are what their provenance notes say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use covey_world::network::{EdgeKind, JunctionKind, Lane, Turn};
use covey_world::{Building, Map, MapOptions, Point, Projection};

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn corridor() -> Map {
    let folder = scenarios().join("tamagawa");
    let (map, warnings) = Map::read(
        &folder.join("tamagawa.net.xml.gz"),
        &[folder.join("tamagawa.poly.xml.gz")],
        &MapOptions::default(),
    )
    .unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    map
}

fn toy(name: &str, polygons: bool) -> Map {
    let folder = scenarios().join("toy").join(name);
    let polygons = polygons.then(|| folder.join(format!("{name}.poly.xml")));
    let (map, warnings) = Map::read(
        &folder.join(format!("{name}.net.xml")),
        &polygons.into_iter().collect::<Vec<_>>(),
        &MapOptions::default(),
    )
    .unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    map
}

fn road_type<'a>(map: &'a Map, lane: &Lane) -> &'a str {
    &map.network.edges[lane.edge.index()].road_type
}

#[test]
fn the_main_road_is_3700_metres_of_three_lanes_a_direction() {
    let map = corridor();
    let net = &map.network;
    assert!(net.left_hand);
    let main: Vec<_> = net
        .edges
        .iter()
        .filter(|edge| edge.road_type == "highway.trunk")
        .collect();
    assert_eq!(main.len(), 46);
    assert!(main.iter().all(|edge| edge.lanes.len() == 3));
    for lane in net
        .lanes
        .iter()
        .filter(|lane| road_type(&map, lane) == "highway.trunk")
    {
        assert!((lane.speed_limit * 3.6 - 60.0).abs() < 0.1);
        assert!((lane.width - 3.25).abs() < 1e-9);
    }
    for direction in ["w", "e"] {
        let mut length = 0.0;
        for edge in main.iter().filter(|edge| edge.name.starts_with(direction)) {
            let lane = &net.lanes[edge.lanes[1].index()];
            length += lane.length;
            for connection in &lane.outgoing {
                let connection = &net.connections[connection.index()];
                let ahead = net.lanes[connection.to.index()].edge;
                if net.edges[ahead.index()].road_type == "highway.trunk" {
                    length += connection
                        .via
                        .iter()
                        .map(|via| net.lanes[via.index()].length)
                        .sum::<f64>();
                }
            }
        }
        assert!((length - 3700.0).abs() < 100.0, "{direction}: {length}");
    }
}

#[test]
fn all_22_junctions_have_lights_and_all_turns() {
    let map = corridor();
    let net = &map.network;
    assert_eq!(net.signals.len(), 22);
    let signalised = net
        .junctions
        .iter()
        .enumerate()
        .filter(|(_, junction)| junction.kind == JunctionKind::TrafficLight);
    let mut count = 0;
    for (ix, junction) in signalised {
        count += 1;
        let mut turns: BTreeMap<&str, Vec<Turn>> = BTreeMap::new();
        let mut requests = Vec::new();
        for connection in net.connections.iter().filter(|c| c.junction.index() == ix) {
            let from = net.lanes[connection.from.index()].edge;
            turns
                .entry(&net.edges[from.index()].name)
                .or_default()
                .push(connection.turn);
            assert!(connection.signal.is_some());
            requests.push(connection.request.unwrap());
        }
        assert_eq!(turns.len(), 4, "{}", junction.name);
        for (edge, turns) in turns {
            for turn in [Turn::Left, Turn::Straight, Turn::Right] {
                assert!(turns.contains(&turn), "{edge} has no {turn:?}");
            }
        }
        requests.sort_unstable();
        assert!(
            requests
                .iter()
                .map(|&row| row as usize)
                .eq(0..junction.requests.len())
        );
    }
    assert_eq!(count, 22);
}

#[test]
fn cross_streets_are_at_least_150_metres_deep_on_both_sides() {
    let map = corridor();
    let mut arms = 0;
    for edge in &map.network.edges {
        if matches!(
            edge.road_type.as_str(),
            "highway.secondary" | "highway.tertiary"
        ) {
            arms += 1;
            for lane in &edge.lanes {
                let lane = &map.network.lanes[lane.index()];
                assert!(lane.length >= 150.0, "{}: {}", lane.name, lane.length);
                assert!((lane.speed_limit * 3.6 - 40.0).abs() < 0.1);
            }
        }
    }
    // Two directions, two sides, 22 junctions.
    assert_eq!(arms, 88);
}

#[test]
fn every_street_can_be_reached_from_every_other() {
    for map in [
        corridor(),
        toy("blind-junction", true),
        toy("bus", false),
        toy("straight", false),
    ] {
        let net = &map.network;
        let normal = net
            .edges
            .iter()
            .filter(|edge| edge.kind == EdgeKind::Normal)
            .count();
        let start = net
            .edges
            .iter()
            .position(|edge| edge.kind == EdgeKind::Normal)
            .unwrap();
        for backwards in [false, true] {
            let mut seen = vec![false; net.edges.len()];
            seen[start] = true;
            let mut open = vec![start];
            while let Some(edge) = open.pop() {
                for connection in &net.connections {
                    let from = net.lanes[connection.from.index()].edge.index();
                    let to = net.lanes[connection.to.index()].edge.index();
                    let (here, there) = if backwards { (to, from) } else { (from, to) };
                    if here == edge && !seen[there] {
                        seen[there] = true;
                        open.push(there);
                    }
                }
            }
            assert_eq!(seen.iter().filter(|&&seen| seen).count(), normal);
        }
    }
}

/// At any instant the same share of the junctions shows green to the main road, so that any window of a run is like any
/// other.
#[test]
fn the_share_of_green_on_the_main_road_is_steady() {
    let map = corridor();
    let net = &map.network;
    // By light: offset, and for each phase its duration and whether it is green.
    type Plan = (f64, Vec<(f64, bool)>);
    let mut greens: BTreeMap<&str, Plan> = BTreeMap::new();
    for connection in &net.connections {
        let from = net.lanes[connection.from.index()].edge;
        let Some((signal, place)) = connection.signal else {
            continue;
        };
        if net.edges[from.index()].road_type == "highway.trunk" && connection.turn == Turn::Straight
        {
            let signal = &net.signals[signal.index()];
            let phases = signal
                .phases
                .iter()
                .map(|phase| (phase.duration, phase.state[place as usize] == b'G'))
                .collect();
            greens.insert(&signal.name, (signal.offset, phases));
        }
    }
    assert_eq!(greens.len(), 22);
    let mut shares = Vec::new();
    for second in 0..240 {
        let green = greens
            .values()
            .filter(|(offset, phases)| {
                let cycle: f64 = phases.iter().map(|phase| phase.0).sum();
                assert!((cycle - 120.0).abs() < 1e-9);
                let mut t = (f64::from(second) - offset).rem_euclid(cycle);
                for &(duration, green) in phases {
                    if t < duration {
                        return green;
                    }
                    t -= duration;
                }
                false
            })
            .count();
        shares.push(green as f64 / 22.0);
    }
    let low = shares.iter().copied().fold(1.0, f64::min);
    let high = shares.iter().copied().fold(0.0, f64::max);
    assert!(high - low <= 0.1, "{low} to {high}");
    assert!(low >= 0.5, "{low}");
    let mut offsets: Vec<f64> = greens.values().map(|(offset, _)| *offset).collect();
    offsets.sort_by(f64::total_cmp);
    for pair in offsets.windows(2) {
        assert!(
            (pair[1] - pair[0] - 120.0 / 22.0).abs() < 0.11,
            "{offsets:?}"
        );
    }
}

fn inside(p: Point, outline: &[Point]) -> bool {
    let mut inside = false;
    for (i, &a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        if (a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x {
            inside = !inside;
        }
    }
    inside
}

fn crosses(a: Point, b: Point, c: Point, d: Point) -> bool {
    let side = |p: Point, q: Point, r: Point| (q - p).cross(r - p);
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

fn distance_to_segment(p: Point, a: Point, b: Point) -> f64 {
    let along = b - a;
    let share = ((p - a).dot(along) / along.dot(along).max(1e-12)).clamp(0.0, 1.0);
    p.distance(a + along * share)
}

/// Distance between the stretch from `a` to `b` and a building; 0 where they meet.
fn distance(a: Point, b: Point, building: &Building) -> f64 {
    let outline = &building.outline;
    if inside(a, outline) || inside(b, outline) {
        return 0.0;
    }
    let mut least = f64::MAX;
    for (i, &c) in outline.iter().enumerate() {
        let d = outline[(i + 1) % outline.len()];
        if crosses(a, b, c, d) {
            return 0.0;
        }
        for (p, q, r) in [(a, c, d), (b, c, d), (c, a, b), (d, a, b)] {
            least = least.min(distance_to_segment(p, q, r));
        }
    }
    least
}

fn bounds(points: &[Point]) -> [f64; 4] {
    points.iter().fold(
        [f64::MAX, f64::MAX, f64::MIN, f64::MIN],
        |[a, b, c, d], p| [a.min(p.x), b.min(p.y), c.max(p.x), d.max(p.y)],
    )
}

#[test]
fn no_building_touches_a_lane() {
    for map in [corridor(), toy("blind-junction", true)] {
        assert!(!map.buildings.is_empty());
        let boxes: Vec<[f64; 4]> = map.buildings.iter().map(|b| bounds(&b.outline)).collect();
        let mut nearest = f64::MAX;
        for lane in &map.network.lanes {
            let near = lane.width / 2.0 + 2.0;
            for pair in lane.shape.points().windows(2) {
                let [a, b, c, d] = bounds(pair);
                for (building, own) in map.buildings.iter().zip(&boxes) {
                    if own[0] < c + near
                        && own[2] > a - near
                        && own[1] < d + near
                        && own[3] > b - near
                    {
                        let gap = distance(pair[0], pair[1], building) - lane.width / 2.0;
                        assert!(gap > 0.3, "{}: {gap}", lane.name);
                        nearest = nearest.min(gap);
                    }
                }
            }
        }
        // The check has looked at something: footways are 2 to 4 m wide.
        assert!(nearest < 4.0, "{nearest}");
    }
}

/// Cross traffic is hidden: from 20 m before the stop line of a cross street, a car on the main road 40 m to the left or
/// right of the junction cannot be seen.
#[test]
fn corners_are_blind() {
    let map = corridor();
    let net = &map.network;
    let hidden = |a: Point, b: Point| {
        map.buildings
            .iter()
            .any(|building| distance(a, b, building) <= 0.0)
    };
    let (mut blind, mut open) = (0, 0);
    for side in net.edges.iter().filter(|edge| edge.name.ends_with("in")) {
        let lane = &net.lanes[side.lanes[0].index()];
        let eye = lane.shape.point_at(lane.shape.length() - 20.0);
        // The kerb lane of each carriageway, 40 m before the junction.
        for edge in net
            .edges
            .iter()
            .filter(|edge| edge.to == side.to && edge.road_type == "highway.trunk")
        {
            let kerb = &net.lanes[edge.lanes[0].index()];
            if kerb.shape.length() < 40.0 {
                continue;
            }
            let target = kerb.shape.point_at(kerb.shape.length() - 40.0);
            if hidden(eye, target) {
                blind += 1;
            } else {
                open += 1;
            }
        }
    }
    assert_eq!(blind + open, 84);
    assert!(
        open <= 4,
        "{open} of {} corners can be looked through",
        blind + open
    );
}

#[test]
fn building_heights_follow_the_documented_statistics() {
    let folder = scenarios().join("tamagawa");
    let options = MapOptions {
        buildings: covey_world::polygons::BuildingRule {
            type_prefixes: vec!["building.frontage".to_owned()],
            ..Default::default()
        },
        ..MapOptions::default()
    };
    let (map, _) = Map::read(
        &folder.join("tamagawa.net.xml.gz"),
        &[folder.join("tamagawa.poly.xml.gz")],
        &options,
    )
    .unwrap();
    let mut heights: Vec<f64> = map
        .buildings
        .iter()
        .map(|building| building.height)
        .collect();
    heights.sort_by(f64::total_cmp);
    assert!(heights.len() > 300, "{}", heights.len());
    let share = |p: f64| heights[(heights.len() as f64 * p) as usize];
    assert!((share(0.5) - 15.0).abs() < 0.5, "median {}", share(0.5));
    assert!(
        (share(0.9) - 43.0).abs() < 1.0,
        "90th percentile {}",
        share(0.9)
    );
}

/// The junctions stand where the facts table says, through the stored projection.
#[test]
fn real_junctions_stand_at_their_coordinates() {
    let map = corridor();
    let net = &map.network;
    let projection = Projection::new(net.location.as_ref().unwrap())
        .unwrap()
        .unwrap();
    let facts = std::fs::read_to_string(scenarios().join("tamagawa/facts.csv")).unwrap();
    let rows = facts.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut real = 0;
    for (number, row) in rows.enumerate() {
        let fields: Vec<&str> = row.split(',').collect();
        let name = format!("J{:02}", number + 1);
        let junction = net.junctions.iter().find(|j| j.name == name).unwrap();
        if let (Ok(lat), Ok(lon)) = (fields[2].parse(), fields[3].parse()) {
            real += 1;
            let place = projection.to_map(covey_world::LonLat { lon, lat }).unwrap();
            let off = place.distance(junction.position);
            assert!(off < 0.02, "{name}: {off}");
        }
    }
    assert_eq!(real, 14);
}

#[test]
fn the_main_road_lies_in_one_row_of_tiles() {
    let map = corridor();
    let text = std::fs::read_to_string(scenarios().join("tamagawa/grid.toml")).unwrap();
    let value = |key: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split('=').nth(1).unwrap().trim().parse().unwrap()
    };
    let origin = Point::new(value("origin_x_m"), value("origin_y_m"));
    let axis = Point::from_heading(value("azimuth_deg").to_radians());
    for lane in map
        .network
        .lanes
        .iter()
        .filter(|lane| road_type(&map, lane) == "highway.trunk")
    {
        for &p in lane.shape.points() {
            let (u, v) = (axis.dot(p - origin), axis.cross(p - origin));
            assert!((0.0..4000.0).contains(&u), "{}: {u}", lane.name);
            assert!((100.0..400.0).contains(&v), "{}: {v}", lane.name);
        }
    }
}

#[test]
fn toy_maps_are_what_they_are_called() {
    let blind = toy("blind-junction", true);
    assert!(blind.network.left_hand);
    assert_eq!(blind.buildings.len(), 2);
    let junction = blind
        .network
        .junctions
        .iter()
        .find(|j| j.name == "C")
        .unwrap();
    assert_eq!(junction.kind, JunctionKind::Priority);
    let eye = Point::new(0.0, -25.0);
    for target in [Point::new(-25.0, 0.0), Point::new(25.0, 0.0)] {
        assert!(
            blind
                .buildings
                .iter()
                .any(|b| distance(eye, target, b) <= 0.0)
        );
    }

    let bus = toy("bus", false);
    assert!(!bus.network.left_hand);
    let edge = bus
        .network
        .edges
        .iter()
        .find(|edge| edge.name == "AB")
        .unwrap();
    assert_eq!(edge.lanes.len(), 2);

    let straight = toy("straight", false);
    for name in ["AB", "BA"] {
        let edge = straight
            .network
            .edges
            .iter()
            .find(|edge| edge.name == name)
            .unwrap();
        let lane = &straight.network.lanes[edge.lanes[0].index()];
        assert!((lane.length - 1000.0).abs() < 20.0, "{}", lane.length);
    }
}
