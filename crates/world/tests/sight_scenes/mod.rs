//! Scenes for the tests and benches of sight, made in code from a seed.
#![allow(dead_code, unreachable_pub)]

use covey_draws::SplitMix;
use covey_world::scene::{Body, VehicleId, VehicleState};
use covey_world::{Building, Point};

/// Random numbers in turn, the same everywhere.
pub struct Random(SplitMix);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform between `low` and `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.between(0.0, 1.0) < share
    }
}

pub fn vehicle(id: u32, position: Point, heading: f64, body: Body) -> VehicleState {
    VehicleState {
        id: VehicleId(id),
        position,
        heading,
        speed: 0.0,
        body,
        lane: None,
        lane_position: 0.0,
        next: None,
    }
}

/// Buildings and the vehicles among them.
#[derive(Debug, Default)]
pub struct Scene {
    pub buildings: Vec<Building>,
    pub vehicles: Vec<VehicleState>,
}

impl Scene {
    /// Turns and shifts everything.
    pub fn moved(mut self, azimuth: f64, shift: Point) -> Self {
        let u = Point::from_heading(azimuth);
        let place = |p: Point| Point::new(p.x * u.x - p.y * u.y, p.x * u.y + p.y * u.x) + shift;
        for building in &mut self.buildings {
            for p in &mut building.outline {
                *p = place(*p);
            }
        }
        for v in &mut self.vehicles {
            v.position = place(v.position);
            v.heading += azimuth;
        }
        self
    }
}

fn rectangle(x0: f64, y0: f64, x1: f64, y1: f64, height: f64) -> Building {
    let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)];
    Building {
        outline: corners.map(|(x, y)| Point::new(x, y)).to_vec(),
        height,
    }
}

/// Lanes of the main road on each side, and their width in metres.
const LANES: usize = 3;
const LANE_WIDTH: f64 = 3.25;
/// Vehicles per km and lane on the main road and on side streets.
const MAIN_DENSITY: f64 = 43.08;
const SIDE_DENSITY: f64 = 12.0;
/// Distance between side streets, their depth and half of their width, in metres.
const BLOCK: f64 = 168.0;
const SIDE_DEPTH: f64 = 200.0;
const SIDE_HALF_WIDTH: f64 = 5.0;

/// A row of buildings along the x axis from `x0` to `x1`, the front between `front` and `front + 3` away from it on the side
/// of the sign of `side`, in map coordinates given by `place`.
fn row(
    random: &mut Random,
    scene: &mut Scene,
    (x0, x1): (f64, f64),
    front: f64,
    place: impl Fn(f64, f64) -> Point,
) {
    let mut x = x0;
    while x + 6.0 < x1 {
        let width = random.between(7.0, 24.0).min(x1 - x);
        let depth = random.between(9.0, 20.0);
        let set_back = random.between(0.0, 3.0) + front;
        let height = (random.between(0.0, 1.0).powi(2) * 40.0 + 7.0).min(60.0);
        let mut outline = vec![
            place(x, set_back),
            place(x + width, set_back),
            place(x + width, set_back + depth),
            place(x, set_back + depth),
        ];
        if random.chance(0.2) {
            // An L-shaped house.
            outline[2] = place(x + width, set_back + depth * 0.5);
            outline.insert(3, place(x + width * 0.6, set_back + depth * 0.5));
            outline.insert(4, place(x + width * 0.6, set_back + depth));
        }
        scene.buildings.push(Building { outline, height });
        x += width
            + if random.chance(0.15) {
                random.between(2.0, 7.0)
            } else {
                random.between(0.2, 1.2)
            };
    }
}

/// A street canyon with at least `count` vehicles: a straight main road of 2 x 3 lanes at 1.5 times the critical density
/// with a quarter of the traffic bunched in queues, side streets every 168 m with buildings to the corner and beyond,
/// cars and 20 % heavy vehicles, turned by half a radian so that nothing lies along the axes.
pub fn corridor(count: usize, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene::default();
    let half_road = LANES as f64 * LANE_WIDTH;
    let body = |random: &mut Random| {
        if random.chance(0.2) {
            Body::HEAVY
        } else {
            Body::CAR
        }
    };
    let per_block = BLOCK / 1000.0 * MAIN_DENSITY * 2.0 * LANES as f64
        + 2.0 * 2.0 * SIDE_DEPTH / 1000.0 * SIDE_DENSITY;
    let blocks = (count as f64 / per_block).ceil().max(1.0) as usize;
    let length = blocks as f64 * BLOCK;
    for lane in 0..2 * LANES {
        let y = (lane as f64 + 0.5) * LANE_WIDTH - half_road;
        let heading = if lane < LANES {
            0.0
        } else {
            std::f64::consts::PI
        };
        let mut x = random.between(0.0, 10.0);
        while x < length {
            let body = body(&mut random);
            let at = Point::new(x + body.length * 0.5, y + random.between(-0.3, 0.3));
            let turn = random.between(-0.02, 0.02);
            scene.vehicles.push(vehicle(0, at, heading + turn, body));
            // The mean spacing is 1000 / 43.08 = 23.2 m with a mean length of 6.6 m.
            x += body.length
                + if random.chance(0.25) {
                    random.between(1.5, 3.0)
                } else {
                    random.between(3.0, 38.3)
                };
        }
    }
    for block in 0..blocks {
        let start = block as f64 * BLOCK;
        let end = start + BLOCK;
        for side in [-1.0, 1.0] {
            let front = half_road + 3.5;
            let street = SIDE_HALF_WIDTH + 2.0;
            row(
                &mut random,
                &mut scene,
                (start + street, end - street),
                front,
                |x, y| Point::new(x, side * y),
            );
            // Along both side streets, behind the corner houses.
            for (x, inward) in [(start, 1.0), (end, -1.0)] {
                row(
                    &mut random,
                    &mut scene,
                    (front + 24.0, front + SIDE_DEPTH),
                    street,
                    |along, away| Point::new(x + inward * away, side * along),
                );
            }
            // A second row behind the front.
            row(
                &mut random,
                &mut scene,
                (start + 35.0, end - 35.0),
                front + 30.0,
                |x, y| Point::new(x, side * y),
            );
            for lane in [-0.5, 0.5] {
                let mut y = half_road + random.between(4.0, 60.0);
                while y < half_road + SIDE_DEPTH {
                    let body = body(&mut random);
                    let at = Point::new(start + lane * SIDE_HALF_WIDTH, side * y);
                    let heading = lane.signum() * std::f64::consts::FRAC_PI_2;
                    scene.vehicles.push(vehicle(0, at, heading, body));
                    y += body.length + random.between(2.0, 2000.0 / SIDE_DENSITY - 15.0);
                }
            }
        }
    }
    for (i, v) in scene.vehicles.iter_mut().enumerate() {
        v.id = VehicleId(i as u32);
    }
    scene.moved(0.5, Point::new(1234.5, -678.9))
}

/// Vehicles and buildings anywhere, at any angle: boxes of many sizes, rectangles, triangles, L shapes and stars, some lower
/// than a bus.
pub fn jumble(vehicles: usize, buildings: usize, size: f64, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene::default();
    for _ in 0..buildings {
        let (w, d) = (random.between(3.0, 30.0), random.between(3.0, 30.0));
        let mut building = rectangle(-w * 0.5, -d * 0.5, w * 0.5, d * 0.5, 0.0);
        building.height = if random.chance(0.3) {
            random.between(0.3, 4.0)
        } else {
            random.between(4.0, 40.0)
        };
        match random.bits() % 4 {
            0 => {
                building.outline.pop();
            }
            1 => {
                building.outline.insert(2, Point::new(0.0, 0.0));
            }
            2 => {
                let corners = 5 + random.bits() % 6;
                building.outline = (0..corners)
                    .map(|i| {
                        let turn = i as f64 / corners as f64 * std::f64::consts::TAU;
                        Point::from_heading(turn) * random.between(0.2 * w, w)
                    })
                    .collect();
            }
            _ => {}
        }
        if random.chance(0.5) {
            building.outline.reverse();
        }
        let at = Point::new(random.between(0.0, size), random.between(0.0, size));
        let one = Scene {
            buildings: vec![building],
            vehicles: vec![],
        };
        let turned = one.moved(random.between(0.0, 7.0), at);
        scene.buildings.extend(turned.buildings);
    }
    for id in 0..vehicles {
        let mut body = if random.chance(0.3) {
            Body::HEAVY
        } else {
            Body::CAR
        };
        if random.chance(0.3) {
            body.length = random.between(0.5, 18.0);
            body.width = random.between(0.5, 3.0);
            body.height = random.between(0.5, 4.5);
        }
        let at = Point::new(random.between(0.0, size), random.between(0.0, size));
        let heading = random.between(-4.0, 4.0);
        scene.vehicles.push(vehicle(id as u32, at, heading, body));
    }
    scene
}
