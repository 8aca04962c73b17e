//! Sight agrees with an independent brute-force 3D ray test: vehicles as turned cuboids and buildings as closed
//! surfaces of triangles, both of parry3d.
//!
//! Where the two differ, the line must pass within [`EPSILON`] of an edge: moving one of its ends by that much must make
//! the oracle give our answer.

mod sight_scenes;

use std::path::Path;

use covey_world::network::JunctionKind;
use covey_world::scene::VehicleState;
use covey_world::sight::{LinkState, LinkTable, Scratch, Sight, SightOptions};
use covey_world::{Body, Building, GridFrame, Map, MapOptions, Point, VehicleId};
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::{Ray, RayCast};
use parry3d_f64::shape::{Cuboid, Triangle};
use sight_scenes::{Scene, corridor, jumble};

/// In metres.
const EPSILON: f64 = 1e-6;

struct Oracle {
    cuboids: Vec<(Cuboid, Pose)>,
    prisms: Vec<Vec<Triangle>>,
}

impl Oracle {
    /// With `flat`, everything is as tall as a mountain, so that only the plane counts.
    fn new(scene: &Scene, flat: bool) -> Self {
        let tall = |height: f64| if flat { 1e4 } else { height };
        let cuboids = scene.vehicles.iter().map(|v| {
            let height = tall(v.body.height);
            let half = Vector::new(v.body.length * 0.5, v.body.width * 0.5, height * 0.5);
            let at = Vector::new(v.position.x, v.position.y, height * 0.5);
            (
                Cuboid::new(half),
                Pose::new(at, Vector::new(0.0, 0.0, v.heading)),
            )
        });
        Self {
            cuboids: cuboids.collect(),
            prisms: scene
                .buildings
                .iter()
                .map(|b| prism(b, tall(b.height)))
                .collect(),
        }
    }

    /// Nothing but the vehicles `mine` and `target` meets the segment.
    fn free(&self, from: Vector, to: Vector, mine: usize, target: usize) -> bool {
        let ray = Ray::new(from, to - from);
        let up = Ray::new(from, Vector::new(0.0, 0.0, 1e5));
        let boxed = self.cuboids.iter().enumerate().any(|(i, (cuboid, pose))| {
            i != mine && i != target && cuboid.intersects_ray(pose, &ray, 1.0)
        });
        // A line that begins inside a prism sees its roof from below.
        !boxed
            && !self.prisms.iter().any(|prism| {
                prism.iter().any(|triangle| {
                    triangle.intersects_local_ray(&ray, 1.0)
                        || triangle.intersects_local_ray(&up, 1.0)
                })
            })
    }

    /// The oracle gives `answer`, or does so when an end moves by EPSILON. The second value says that it had to.
    fn agrees(
        &self,
        from: Vector,
        to: Vector,
        mine: usize,
        target: usize,
        answer: bool,
    ) -> Result<bool, String> {
        if self.free(from, to, mine, target) == answer {
            return Ok(false);
        }
        let nudges = [-1.0, 0.0, 1.0].map(|n| n * EPSILON);
        for (x, y, z) in nudges
            .into_iter()
            .flat_map(|x| nudges.map(|y| (x, y)))
            .flat_map(|(x, y)| nudges.map(|z| (x, y, z)))
        {
            let nudge = Vector::new(x, y, z);
            if self.free(from + nudge, to, mine, target) == answer
                || self.free(from, to + nudge, mine, target) == answer
            {
                return Ok(true);
            }
        }
        Err(format!(
            "{mine} to {target}: from {from} to {to} free: {answer}"
        ))
    }
}

/// A closed prism over a simple outline.
fn prism(building: &Building, height: f64) -> Vec<Triangle> {
    let outline = &building.outline;
    let n = outline.len() as u32;
    let level = |z: f64| outline.iter().map(move |p| Vector::new(p.x, p.y, z));
    let corners: Vec<Vector> = level(0.0).chain(level(height)).collect();
    let mut faces = Vec::new();
    for i in 0..n {
        let j = (i + 1) % n;
        faces.extend([[i, j, n + j], [i, n + j, n + i]]);
    }
    for [a, b, c] in ears(outline) {
        faces.extend([[a, b, c], [n + a, n + b, n + c]]);
    }
    let corner = |i: u32| corners[i as usize];
    faces
        .into_iter()
        .map(|[a, b, c]| Triangle::new(corner(a), corner(b), corner(c)))
        .collect()
}

/// Cuts a simple polygon into triangles, ear by ear.
fn ears(outline: &[Point]) -> Vec<[u32; 3]> {
    let area: f64 = (0..outline.len())
        .map(|i| outline[i].cross(outline[(i + 1) % outline.len()]))
        .sum();
    let turn = |a: u32, b: u32, c: u32| {
        let [a, b, c] = [a, b, c].map(|i| outline[i as usize]);
        (b - a).cross(c - a) * area.signum()
    };
    let mut left: Vec<u32> = (0..outline.len() as u32).collect();
    let mut triangles = Vec::new();
    while left.len() > 3 {
        let n = left.len();
        let ear = (0..n).find(|&i| {
            let (a, b, c) = (left[(i + n - 1) % n], left[i], left[(i + 1) % n]);
            turn(a, b, c) > 0.0
                && left.iter().all(|&p| {
                    [a, b, c].contains(&p)
                        || turn(a, b, p) < 0.0
                        || turn(b, c, p) < 0.0
                        || turn(c, a, p) < 0.0
                })
        });
        let i = ear.expect("a simple polygon has an ear");
        triangles.push([left[(i + n - 1) % n], left[i], left[(i + 1) % n]]);
        left.remove(i);
    }
    triangles.push([left[0], left[1], left[2]]);
    triangles
}

fn at_height(p: Point, z: f64) -> Vector {
    Vector::new(p.x, p.y, z)
}

/// What was compared.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    lines: usize,
    free: usize,
    /// Lines within EPSILON of an edge on which the two differ.
    on_edges: usize,
}

impl Tally {
    fn count(&mut self, agreed: Result<bool, String>, free: bool) {
        match agreed {
            Ok(on_edge) => {
                self.lines += 1;
                self.free += usize::from(free);
                self.on_edges += usize::from(on_edge);
            }
            Err(text) => panic!("{text}"),
        }
    }
}

/// Checks objects and cells of some of the vehicles.
fn check_sight(scene: &Scene, every: usize, tally: &mut Tally) {
    let options = SightOptions::default();
    let oracle = Oracle::new(scene, false);
    let sight = Sight::new(&scene.buildings, options);
    assert_eq!(sight.skipped_buildings(), 0);
    let observed = sight.observe(&scene.vehicles);
    let grid = GridFrame::new(Point::new(-7.0, 11.0), 0.3, 20.0).unwrap();
    let mut scratch = Scratch::default();
    let (mut objects, mut cells) = (Vec::new(), Vec::new());
    for (i, v) in scene.vehicles.iter().enumerate().step_by(every) {
        let mut view = observed.view(i as u32, &mut scratch);
        view.objects(&mut objects);
        view.cells(&grid, &mut cells);
        let from = at_height(v.position, v.body.height + 0.1);
        for (j, other) in scene.vehicles.iter().enumerate() {
            let in_range = other.position.distance(v.position) <= options.range;
            if j == i || !in_range {
                assert!(!objects.contains(&(j as u32)));
                continue;
            }
            let to = at_height(other.position, other.body.height * 0.5);
            let seen = objects.binary_search(&(j as u32)).is_ok();
            tally.count(oracle.agrees(from, to, i, j, seen), seen);
        }
        let (ix, iy) = grid.cell_of(v.position).unwrap();
        for cell in (iy - 9..=iy + 9).flat_map(|y| (ix - 9..=ix + 9).map(move |x| (x, y))) {
            let centre = grid.centre_of(cell);
            let seen = cells.contains(&cell);
            let distance = centre.distance(v.position);
            if (distance - options.range).abs() < EPSILON {
                continue;
            }
            if distance > options.range {
                assert!(!seen);
                continue;
            }
            let to = at_height(centre, options.cell_height);
            tally.count(oracle.agrees(from, to, i, usize::MAX, seen), seen);
        }
    }
}

/// Checks the link states of some of the vehicles.
fn check_links(scene: &Scene, every: usize, tally: &mut Tally) {
    let options = SightOptions {
        link_range: 200.0,
        ..SightOptions::default()
    };
    let sight = Sight::new(&scene.buildings, options);
    let observed = sight.observe(&scene.vehicles);
    let mut scratch = Scratch::default();
    let onward: Vec<_> = (0..scene.vehicles.len() as u32)
        .map(|i| {
            let mut out = Vec::new();
            observed.links_onward(i, &mut scratch, &mut out);
            out
        })
        .collect();
    let table = LinkTable::new(&onward);
    let built = Scene {
        buildings: scene.buildings.clone(),
        vehicles: vec![],
    };
    let open = Oracle::new(&built, true);
    let all = Oracle::new(scene, true);
    for (i, v) in scene.vehicles.iter().enumerate().step_by(every) {
        let from = at_height(v.position, 1.0);
        let links = table.of(i as u32);
        assert!(links.is_sorted_by_key(|link| link.other));
        let near = |other: &VehicleState| other.position.distance(v.position) <= 200.0;
        let expected = scene.vehicles.iter().filter(|other| near(other)).count() - 1;
        assert_eq!(links.len(), expected);
        for link in links {
            let j = link.other as usize;
            let to = at_height(scene.vehicles[j].position, 1.0);
            let clear_of_buildings = link.state != LinkState::Building;
            let none = usize::MAX;
            let agreed = open.agrees(from, to, none, none, clear_of_buildings);
            tally.count(agreed, clear_of_buildings);
            match link.state {
                LinkState::Building => {}
                LinkState::Clear => tally.count(all.agrees(from, to, i, j, true), true),
                LinkState::Vehicle { tallest } => {
                    // Some vehicle of that height stands between, and none that is taller.
                    let between = |keep: &dyn Fn(f64) -> bool| {
                        let chosen =
                            |k: &usize| *k != i && *k != j && keep(scene.vehicles[*k].body.height);
                        Scene {
                            buildings: vec![],
                            vehicles: (0..scene.vehicles.len())
                                .filter(chosen)
                                .map(|k| scene.vehicles[k])
                                .collect(),
                        }
                    };
                    let taller = between(&|h| h > tallest);
                    let such = between(&|h| h == tallest);
                    let oracle = Oracle::new(&taller, true);
                    tally.count(oracle.agrees(from, to, none, none, true), true);
                    let oracle = Oracle::new(&such, true);
                    tally.count(oracle.agrees(from, to, none, none, false), false);
                }
            }
        }
    }
}

#[test]
fn sight_in_thousands_of_random_scenes() {
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        check_sight(&jumble(8, 4, 80.0, seed), 4, &mut tally);
    }
    for seed in 0..20 {
        check_sight(&jumble(60, 30, 400.0, 10_000 + seed), 6, &mut tally);
    }
    assert!(tally.lines > 300_000 && tally.free > 50_000, "{tally:?}");
    assert!(tally.on_edges <= 10, "{tally:?}");
}

#[test]
fn sight_in_street_canyons() {
    let mut tally = Tally::default();
    for seed in 0..4 {
        check_sight(&corridor(80, seed), 5, &mut tally);
    }
    assert!(tally.lines > 5_000 && tally.free > 1_000, "{tally:?}");
    assert!(tally.on_edges <= 2, "{tally:?}");
}

#[test]
fn links_in_random_scenes_and_street_canyons() {
    let mut tally = Tally::default();
    for seed in 0..100 {
        check_links(&jumble(12, 4, 100.0, seed), 1, &mut tally);
    }
    check_links(&corridor(80, 5), 8, &mut tally);
    assert!(tally.lines > 10_000 && tally.free > 3_000, "{tally:?}");
    assert!(tally.on_edges <= 10, "{tally:?}");
}

/// Queues and gaps on every lane of the bundled corridor within `reach` of its `signal`-th light.
fn corridor_scene(signal: usize, reach: f64) -> Scene {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tamagawa");
    let (map, _) = Map::read(
        &folder.join("tamagawa.net.xml.gz"),
        &[folder.join("tamagawa.poly.xml.gz")],
        &MapOptions::default(),
    )
    .unwrap();
    let lights = map.network.junctions.iter();
    let mut lights = lights.filter(|j| j.kind == JunctionKind::TrafficLight);
    let centre = lights.nth(signal).unwrap().position;
    let near = |p: Point| p.distance(centre) <= reach;
    let mut vehicles = Vec::new();
    for (at, lane) in map
        .network
        .lanes
        .iter()
        .enumerate()
        .filter(|(_, l)| l.drivable)
    {
        let mut front = 6.0 + (at * 7 % 11) as f64;
        while front < lane.shape.length() {
            let body = if (at + vehicles.len()) % 9 == 0 {
                Body::HEAVY
            } else {
                Body::CAR
            };
            let position = lane.shape.point_at(front - body.length / 2.0);
            if near(position) {
                vehicles.push(VehicleState {
                    id: VehicleId(vehicles.len() as u32),
                    position,
                    heading: lane.shape.heading_at(front - body.length / 2.0),
                    speed: 0.0,
                    body,
                    lane: None,
                    lane_position: front,
                    next: None,
                });
            }
            front += body.length + 4.0 + (vehicles.len() * 13 % 17) as f64;
        }
    }
    let close = |b: &Building| {
        b.outline
            .iter()
            .any(|&p| p.distance(centre) <= reach + 150.0)
    };
    Scene {
        buildings: map.buildings.into_iter().filter(close).collect(),
        vehicles,
    }
}

#[test]
fn sight_and_links_on_the_bundled_corridor() {
    let (mut sight, mut links) = (Tally::default(), Tally::default());
    for signal in [3, 12, 20] {
        let scene = corridor_scene(signal, 120.0);
        assert!(scene.vehicles.len() > 50 && scene.buildings.len() > 30);
        check_sight(&scene, 9, &mut sight);
        check_links(&scene, 40, &mut links);
    }
    assert!(sight.lines > 5_000 && sight.free > 500, "{sight:?}");
    assert!(links.lines > 500 && links.free > 100, "{links:?}");
    assert!(sight.on_edges + links.on_edges <= 2, "{sight:?} {links:?}");
}
