//! Golden pictures of toy scenes: who sees which cell.
//!
//! North is up. Each character is a cell of the scene's grid, 5 m unless said otherwise:
//! `O` the observer's cell, `.` seen, `-` not seen (hidden or out of range), `#` not seen and its centre lies in a building;
//! letters are other vehicles' centres: capital if the observer sees the vehicle, small if not.

use covey_world::scene::{Body, VehicleId, VehicleState};
use covey_world::sight::{CellRule, ObjectRule, Scratch, SensorHeight, Sight, SightOptions};
use covey_world::{Building, GridFrame, Point};

fn vehicle(x: f64, y: f64, heading_degrees: f64, body: Body) -> VehicleState {
    VehicleState {
        id: VehicleId(0),
        position: Point::new(x, y),
        heading: heading_degrees.to_radians(),
        speed: 0.0,
        body,
        lane: None,
        lane_position: 0.0,
        next: None,
    }
}

fn car(x: f64, y: f64, heading_degrees: f64) -> VehicleState {
    vehicle(x, y, heading_degrees, Body::CAR)
}

fn bus(x: f64, y: f64, heading_degrees: f64) -> VehicleState {
    vehicle(x, y, heading_degrees, Body::HEAVY)
}

fn block(x0: f64, y0: f64, x1: f64, y1: f64, height: f64) -> Building {
    let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)];
    Building {
        outline: corners.map(|(x, y)| Point::new(x, y)).to_vec(),
        height,
    }
}

struct Scene {
    buildings: Vec<Building>,
    /// The first is the observer, the next is `a`, then `b`, ...
    vehicles: Vec<VehicleState>,
    options: SightOptions,
    cell_size: f64,
    /// Both coordinates of the grid's origin.
    origin: f64,
    /// West, south, east and north border of the picture, in metres.
    window: [f64; 4],
}

impl Scene {
    fn picture(&self) -> String {
        let sight = Sight::new(&self.buildings, self.options);
        let observed = sight.observe(&self.vehicles);
        let grid =
            GridFrame::new(Point::new(self.origin, self.origin), 0.0, self.cell_size).unwrap();
        let mut scratch = Scratch::default();
        let mut view = observed.view(0, &mut scratch);
        let (mut objects, mut cells) = (Vec::new(), Vec::new());
        view.objects(&mut objects);
        view.cells(&grid, &mut cells);
        assert!(cells.is_sorted_by_key(|&(ix, iy)| (iy, ix)));

        let [west, south, east, north] = self
            .window
            .map(|m| ((m - self.origin) / self.cell_size) as i32);
        let mut text = String::from("\n");
        for iy in (south..north).rev() {
            for ix in west..east {
                let here = |v: &VehicleState| grid.cell_of(v.position) == Some((ix, iy));
                let centre = grid.centre_of((ix, iy));
                text.push(if let Some(i) = self.vehicles.iter().position(here) {
                    let name = (b'a' - 1 + i as u8) as char;
                    match i {
                        0 => 'O',
                        _ if objects.contains(&(i as u32)) => name.to_ascii_uppercase(),
                        _ => name,
                    }
                } else if cells.contains(&(ix, iy)) {
                    '.'
                } else if self.buildings.iter().any(|b| covers(b, centre)) {
                    '#'
                } else {
                    '-'
                });
            }
            text.push('\n');
        }
        text
    }
}

/// The buildings of these scenes are rectangles along the axes.
fn covers(building: &Building, p: Point) -> bool {
    let (low, high) = (building.outline[0], building.outline[2]);
    low.x <= p.x && p.x <= high.x && low.y <= p.y && p.y <= high.y
}

/// A street from the south meets a main road; buildings stand at both corners. `a` waits at the stop line to the east and
/// `b` drives up from the west behind the corner; `c` is on the far side.
fn blind_corner() -> Scene {
    Scene {
        buildings: vec![
            block(-60.0, -60.0, -10.0, -10.0, 12.0),
            block(10.0, -60.0, 60.0, -10.0, 12.0),
            block(-60.0, 20.0, 60.0, 40.0, 12.0),
        ],
        vehicles: vec![
            car(-2.0, -27.0, 90.0),
            car(7.0, -2.0, 180.0),
            car(-32.0, 2.0, 0.0),
            car(-2.0, 12.0, 0.0),
        ],
        options: SightOptions::default(),
        cell_size: 5.0,
        origin: 0.0,
        window: [-60.0, -60.0, 60.0, 40.0],
    }
}

#[test]
fn a_blind_corner() {
    assert_eq!(
        blind_corner().picture(),
        "
########################
########################
########################
########################
-------....-..--..------
--------...C..-..-------
--------.....--.--------
-----b---....-..--------
---------....A.---------
----------....----------
##########....##########
##########....##########
##########....##########
##########.O..##########
##########....##########
##########....##########
##########....##########
##########....##########
##########....##########
##########....##########
"
    );
}

#[test]
fn a_blind_corner_in_cells_of_20_metres() {
    let mut scene = blind_corner();
    scene.cell_size = 20.0;
    scene.origin = -10.0;
    scene.window = [-70.0, -70.0, 70.0, 50.0];
    assert_eq!(
        scene.picture(),
        "
#######
###C###
-b-A---
###O###
###.###
###.###
"
    );
}

/// Three lanes eastward: a bus beside the observer hides the lane behind it.
fn beside_a_bus() -> Scene {
    Scene {
        buildings: vec![],
        vehicles: vec![
            car(2.0, 1.5, 0.0),
            bus(14.0, 5.0, 0.0),
            car(17.0, 8.5, 0.0),
            car(32.0, 8.5, 0.0),
            car(52.0, 1.5, 0.0),
            car(57.0, 8.5, 0.0),
        ],
        options: SightOptions::default(),
        cell_size: 5.0,
        origin: 0.0,
        window: [-20.0, -20.0, 80.0, 40.0],
    }
}

#[test]
fn a_bus_hides_a_lane() {
    assert_eq!(
        beside_a_bus().picture(),
        "
.............-------
............--------
..........----------
.........-----------
........------------
.......-------------
......Ab--c---.e....
....O.........D-----
....................
....................
....................
....................
"
    );
}

#[test]
fn from_the_bus_one_looks_over_cars() {
    let mut scene = beside_a_bus();
    scene.vehicles.swap(0, 1);
    assert_eq!(
        scene.picture(),
        "
....................
....................
....................
....................
....................
.......--...--......
......OB..C....E....
....A.........D.....
..--...............-
....................
....................
....................
"
    );
}

/// A queue on a straight road: everyone sees over the next roof only as far as the slope allows.
fn queue() -> Scene {
    let mut vehicles = vec![car(2.5, 2.5, 0.0)];
    vehicles.extend((1..4).map(|i| car(2.5 + 10.0 * f64::from(i), 2.5, 0.0)));
    vehicles.push(bus(72.5, 2.5, 0.0));
    vehicles.push(car(87.5, 2.5, 0.0));
    Scene {
        buildings: vec![
            block(-20.0, 10.0, 120.0, 20.0, 9.0),
            block(-20.0, -20.0, 35.0, -10.0, 9.0),
            block(45.0, -20.0, 120.0, -10.0, 9.0),
        ],
        vehicles,
        options: SightOptions::default(),
        cell_size: 5.0,
        origin: 0.0,
        window: [-20.0, -30.0, 120.0, 20.0],
    }
}

/// The bus, 1.5 m at mid height, is seen over the roofs of the cars in between, but not the car right behind it.
#[test]
fn a_queue_on_a_straight_road() {
    assert_eq!(
        queue().picture(),
        "
############################
############################
............----------------
....O.A-b-c-------D--e------
............----------------
...................---------
###########-.###############
###########--###############
----------------------------
----------------------------
"
    );
}

#[test]
fn a_queue_seen_from_bumper_height() {
    let mut scene = queue();
    scene.options.sensor = SensorHeight::AboveGround(0.8);
    assert_eq!(
        scene.picture(),
        "
############################
############################
............----------------
....O.A-b-c-------d--e------
............----------------
...................---------
###########-.###############
###########--###############
----------------------------
----------------------------
"
    );
}

#[test]
fn corner_rules_are_ordered() {
    let mut more = 0;
    for scene in [blind_corner(), beside_a_bus(), queue()] {
        let seen = |rule: ObjectRule| {
            let options = SightOptions {
                object_rule: rule,
                ..scene.options
            };
            let sight = Sight::new(&scene.buildings, options);
            let mut out = Vec::new();
            sight
                .observe(&scene.vehicles)
                .view(0, &mut Scratch::default())
                .objects(&mut out);
            out
        };
        let any = seen(ObjectRule::AnyCorner);
        let all = seen(ObjectRule::AllCorners);
        assert!(all.iter().all(|i| any.contains(i)));
        assert!(!any.is_empty());
        more += any.len() - all.len();
    }
    assert!(more > 0);
}

#[test]
fn strict_cells_are_fewer() {
    let mut scene = blind_corner();
    scene.options.cell_rule = CellRule::Strict;
    assert_eq!(
        scene.picture(),
        "
########################
########################
########################
########################
------------------------
---------..C------------
---------....-----------
-----b----..------------
----------..-A----------
-----------..-----------
##########-..-##########
##########-..-##########
##########-..-##########
##########-O.-##########
##########-..-##########
##########-..-##########
##########-..-##########
##########-..-##########
##########-..-##########
##########-..-##########
"
    );
}

#[test]
fn sight_ends_at_its_range() {
    let scene = Scene {
        buildings: vec![],
        vehicles: vec![
            car(1.0, 1.0, 0.0),
            car(151.0, 1.0, 0.0),
            car(1.0, -149.01, 0.0),
        ],
        options: SightOptions::default(),
        cell_size: 20.0,
        origin: 0.0,
        window: [-160.0, -160.0, 180.0, 180.0],
    };
    assert_eq!(
        scene.picture(),
        "
-----------------
-------..--------
----........-----
---..........----
--............---
-..............--
-..............--
-..............--
-.......O......A-
-...............-
-..............--
-..............--
-..............--
--............---
---..........----
----........-----
--------b--------
"
    );
}
