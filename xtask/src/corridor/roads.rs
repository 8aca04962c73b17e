//! The corridor's roads as SUMO plain XML: nodes, edges and connections.
//!
//! Westbound is the direction of growing arc length. Traffic drives on the left, so the westbound carriageway lies to the
//! left (south) of the centre line. Edges `w01` ... run west from junction 1 on, `e22` ... east; `w00` and `e23` lead in
//! from the turnarounds at the ends, `w22` and `e01` lead out to them. Cross streets: `n07in`, `n07out`, `s07in`, `s07out`.

use std::f64::consts::PI;
use std::fmt::Write as _;

use super::facts::{MainRoad, carriageway_offset};
use super::random::{between, draw};
use super::shapes::Point;
use super::signals::{Movement, Plan};

/// Lanes per direction of the main road.
pub(crate) const MAIN_LANES: usize = 3;
/// Width of a lane of the main road, in metres (Road Structure Ordinance, class 4-1: 3.25).
pub(crate) const MAIN_LANE_WIDTH: f64 = 3.25;
/// Width of a lane of a cross street, in metres (class 4-2 and 4-3: 3.0).
pub(crate) const SIDE_LANE_WIDTH: f64 = 3.0;
/// 60 km/h.
const MAIN_SPEED: f64 = 16.67;
/// 40 km/h.
const SIDE_SPEED: f64 = 11.11;
/// 30 km/h on the turnarounds.
const TURN_SPEED: f64 = 8.33;
/// Length of a cross street beyond the main road's kerb, in metres; at least 150 are asked for.
pub(crate) const SIDE_DEPTH: f64 = 180.0;
/// The main road goes on so far beyond its first and last junction, in metres.
pub(crate) const STUB: f64 = 35.0;

/// One arm of a cross street, from the centre line outwards.
pub(crate) struct Arm {
    pub(crate) origin: Point,
    /// Unit vector away from the main road.
    pub(crate) direction: Point,
    /// Half the width of the street between its kerbs.
    pub(crate) half_width: f64,
    /// From the centre line to the end of the street.
    pub(crate) length: f64,
}

/// The arms of the junction of number `i` (from 0): south, then north.
pub(crate) fn arms(road: &MainRoad, i: usize) -> [Arm; 2] {
    let junction = &road.junctions[i];
    let along = road.centre.smooth_direction(junction.along);
    let degree = PI / 180.0;
    // Few cross streets meet the road at a right angle; the two arms are nearly in line.
    let skew = between(-10.0, 10.0, draw("skew", i, 0, 0)) * degree;
    let reach = carriageway_offset(junction.along) + MAIN_LANES as f64 * MAIN_LANE_WIDTH / 2.0;
    let arm = |side: usize| {
        let own = between(-3.0, 3.0, draw("skew", i, 1, side)) * degree;
        let normal = if side == 0 {
            along.left()
        } else {
            along.left() * -1.0
        };
        Arm {
            origin: road.centre.at(junction.along),
            direction: normal.turned(skew + own),
            half_width: junction.cross_lanes as f64 * SIDE_LANE_WIDTH,
            length: reach + SIDE_DEPTH,
        }
    };
    [arm(0), arm(1)]
}

/// The four files of SUMO's plain XML.
pub(crate) struct Plain {
    pub(crate) nodes: String,
    pub(crate) edges: String,
    pub(crate) connections: String,
    pub(crate) lights: String,
}

/// Points as SUMO writes them, to the centimetre.
pub(crate) fn shape(points: &[Point]) -> String {
    let texts: Vec<String> = points
        .iter()
        .map(|p| format!("{:.2},{:.2}", p.x, p.y))
        .collect();
    texts.join(" ")
}

/// Part of a carriageway, in the direction of growing arc length. `side` is 1 for westbound (left), -1 for eastbound.
fn carriageway(road: &MainRoad, from: f64, to: f64, side: f64) -> Vec<Point> {
    let pieces = (((to - from) / 10.0).ceil() as usize).max(1);
    (0..=pieces)
        .map(|i| {
            let along = from + (to - from) * i as f64 / pieces as f64;
            let normal = road.centre.smooth_direction(along).left();
            road.centre.at(along) + normal * (side * carriageway_offset(along))
        })
        .collect()
}

/// The half circle from the end of one carriageway to the beginning of the other, bulging outwards.
fn turnaround(road: &MainRoad, along: f64, outwards: f64) -> Vec<Point> {
    let centre = road.centre.at(along);
    let direction = road.centre.smooth_direction(along) * outwards;
    let radius = carriageway_offset(along);
    (0..=12)
        .map(|i| {
            // From the left of the way out to its right.
            let angle = PI / 2.0 - PI * f64::from(i) / 12.0;
            centre + direction.turned(angle) * radius
        })
        .collect()
}

struct Writer {
    nodes: String,
    edges: String,
    connections: String,
    lights: String,
}

impl Writer {
    fn node(&mut self, id: &str, p: Point, kind: &str, light: Option<&str>) {
        let light = light.map_or(String::new(), |id| format!(" tl=\"{id}\""));
        let _ = writeln!(
            self.nodes,
            "    <node id=\"{id}\" x=\"{:.2}\" y=\"{:.2}\" type=\"{kind}\"{light}/>",
            p.x, p.y
        );
    }

    fn edge(&mut self, id: &str, ends: (&str, &str), kind: &str, lanes: usize, points: &[Point]) {
        // Carriageways are drawn by their own centre lines, two-way streets by the line between the directions.
        let spread = if kind == TERTIARY || kind == SECONDARY {
            "right"
        } else {
            "center"
        };
        let _ = writeln!(
            self.edges,
            "    <edge id=\"{id}\" from=\"{}\" to=\"{}\" type=\"{kind}\" numLanes=\"{lanes}\" spreadType=\"{spread}\" shape=\"{}\"/>",
            ends.0,
            ends.1,
            shape(points)
        );
    }

    fn connection(&mut self, from: &str, to: &str, lanes: (usize, usize)) {
        let _ = writeln!(
            self.connections,
            "    <connection from=\"{from}\" to=\"{to}\" fromLane=\"{}\" toLane=\"{}\"/>",
            lanes.0, lanes.1
        );
    }
}

const TRUNK: &str = "highway.trunk";
const LINK: &str = "highway.trunk_link";
const SECONDARY: &str = "highway.secondary";
const TERTIARY: &str = "highway.tertiary";

/// The road types that the edges name, as SUMO's type file.
pub(crate) fn types() -> String {
    let mut text = String::from("<types>\n");
    for (id, priority, speed, width) in [
        (TRUNK, 13, MAIN_SPEED, MAIN_LANE_WIDTH),
        (LINK, 12, TURN_SPEED, MAIN_LANE_WIDTH),
        (SECONDARY, 11, SIDE_SPEED, SIDE_LANE_WIDTH),
        (TERTIARY, 10, SIDE_SPEED, SIDE_LANE_WIDTH),
    ] {
        let _ = writeln!(
            text,
            "    <type id=\"{id}\" priority=\"{priority}\" speed=\"{speed}\" width=\"{width}\"/>"
        );
    }
    text + "</types>\n"
}

/// All roads of the corridor, with the lights' `plans` by junction.
pub(crate) fn plain(road: &MainRoad, plans: &[Plan], location: &str) -> Plain {
    let mut out = Writer {
        nodes: format!("<nodes>\n    {location}\n"),
        edges: "<edges>\n".to_owned(),
        connections: "<connections>\n".to_owned(),
        lights: "<tlLogics>\n".to_owned(),
    };
    let count = road.junctions.len();
    let first = road.junctions[0].along - STUB;
    let last = road.junctions[count - 1].along + STUB;
    for (i, junction) in road.junctions.iter().enumerate() {
        out.node(
            &name(i),
            road.centre.at(junction.along),
            "traffic_light",
            Some(&name(i)),
        );
    }
    turnarounds(&mut out, road, first, last);
    main_edges(&mut out, road, first, last);
    cross_streets(&mut out, road, plans);
    out.nodes += "</nodes>\n";
    out.edges += "</edges>\n";
    out.connections += "</connections>\n";
    out.lights += "</tlLogics>\n";
    Plain {
        nodes: out.nodes,
        edges: out.edges,
        connections: out.connections,
        lights: out.lights,
    }
}

/// The name of junction number `i`.
fn name(i: usize) -> String {
    format!("J{:02}", i + 1)
}

/// The ends of the main road: one node where a carriageway ends, one where the other begins, and the loop between them.
fn turnarounds(out: &mut Writer, road: &MainRoad, first: f64, last: f64) {
    let count = road.junctions.len();
    for (prefix, along, outwards) in [("East", first, -1.0), ("West", last, 1.0)] {
        let loop_points = turnaround(road, along, outwards);
        let (leave, enter) = (format!("{prefix}Leave"), format!("{prefix}Enter"));
        out.node(&leave, loop_points[0], "priority", None);
        out.node(&enter, loop_points[loop_points.len() - 1], "priority", None);
        let id = format!("turn{prefix}");
        out.edge(&id, (&leave, &enter), LINK, MAIN_LANES, &loop_points);
        let (inbound, outbound) = if outwards < 0.0 {
            ("w00".to_owned(), "e01".to_owned())
        } else {
            (format!("e{:02}", count + 1), format!("w{count:02}"))
        };
        for lane in 0..MAIN_LANES {
            out.connection(&outbound, &id, (lane, lane));
            out.connection(&id, &inbound, (lane, lane));
        }
    }
}

/// Both carriageways, from junction to junction.
fn main_edges(out: &mut Writer, road: &MainRoad, first: f64, last: f64) {
    let count = road.junctions.len();
    for i in 0..=count {
        let from = if i == 0 {
            first
        } else {
            road.junctions[i - 1].along
        };
        let to = if i == count {
            last
        } else {
            road.junctions[i].along
        };
        let west = carriageway(road, from, to, 1.0);
        let mut east = carriageway(road, from, to, -1.0);
        east.reverse();
        let end = |i: usize, westbound: bool| match (i, westbound) {
            (0, true) => "EastEnter".to_owned(),
            (0, false) => "EastLeave".to_owned(),
            (i, true) if i > count => "WestLeave".to_owned(),
            (i, false) if i > count => "WestEnter".to_owned(),
            (i, _) => name(i - 1),
        };
        let w = (end(i, true), end(i + 1, true));
        let e = (end(i + 1, false), end(i, false));
        out.edge(&format!("w{i:02}"), (&w.0, &w.1), TRUNK, MAIN_LANES, &west);
        out.edge(
            &format!("e{:02}", i + 1),
            (&e.0, &e.1),
            TRUNK,
            MAIN_LANES,
            &east,
        );
    }
}

/// The arms of every junction, with the ways over it.
fn cross_streets(out: &mut Writer, road: &MainRoad, plans: &[Plan]) {
    for (i, junction) in road.junctions.iter().enumerate() {
        let kind = if junction.cross_lanes > 1 {
            SECONDARY
        } else {
            TERTIARY
        };
        for (letter, arm) in ["s", "n"].iter().zip(arms(road, i)) {
            let end = format!("{}{}", letter.to_uppercase(), &name(i)[1..]);
            let far = arm.origin + arm.direction * arm.length;
            out.node(&end, far, "priority", None);
            let id = |way: &str| format!("{letter}{}{way}", &name(i)[1..]);
            let lanes = junction.cross_lanes;
            out.edge(
                &id("out"),
                (&name(i), &end),
                kind,
                lanes,
                &[arm.origin, far],
            );
            out.edge(&id("in"), (&end, &name(i)), kind, lanes, &[far, arm.origin]);
        }
        connect(out, i, junction.cross_lanes, &plans[i]);
    }
}

/// Ways over the junction of number `i` and its light.
///
/// Main road: the kerb lane goes left and straight, the middle one straight, the inner one straight and right. Cross
/// streets: left, straight and right from one lane, or left and straight, straight and right from two.
fn connect(out: &mut Writer, i: usize, side_lanes: usize, plan: &Plan) {
    let n = i + 1;
    let (west_in, west_out) = (format!("w{:02}", n - 1), format!("w{n:02}"));
    let (east_in, east_out) = (format!("e{:02}", n + 1), format!("e{n:02}"));
    let side = |letter: &str, way: &str| format!("{letter}{n:02}{way}");
    let inner = MAIN_LANES - 1;
    let mut links: Vec<(String, String, usize, usize, Movement)> = Vec::new();
    // Heading west, south is to the left; heading east, north.
    for (from, ahead, left, right) in [
        (west_in, &west_out, "s", "n"),
        (east_in, &east_out, "n", "s"),
    ] {
        links.push((from.clone(), side(left, "out"), 0, 0, Movement::Main));
        for lane in 0..MAIN_LANES {
            links.push((from.clone(), ahead.clone(), lane, lane, Movement::Main));
        }
        let target = side_lanes - 1;
        links.push((from, side(right, "out"), inner, target, Movement::MainRight));
    }
    // Heading south (from the north arm), east is to the left; heading north, west.
    for (letter, opposite, left, right) in [
        ("n", "s", &east_out, &west_out),
        ("s", "n", &west_out, &east_out),
    ] {
        let from = side(letter, "in");
        links.push((from.clone(), left.clone(), 0, 0, Movement::Side));
        for lane in 0..side_lanes {
            links.push((
                from.clone(),
                side(opposite, "out"),
                lane,
                lane,
                Movement::Side,
            ));
        }
        links.push((
            from,
            right.clone(),
            side_lanes - 1,
            inner,
            Movement::SideRight,
        ));
    }
    for (from, to, from_lane, to_lane, _) in &links {
        out.connection(from, to, (*from_lane, *to_lane));
    }
    let movements: Vec<Movement> = links.iter().map(|link| link.4).collect();
    out.lights += &plan.logic(&format!("J{n:02}"), &movements);
    for (place, (from, to, from_lane, to_lane, _)) in links.iter().enumerate() {
        let _ = writeln!(
            out.lights,
            "    <connection from=\"{from}\" to=\"{to}\" fromLane=\"{from_lane}\" toLane=\"{to_lane}\" tl=\"J{n:02}\" linkIndex=\"{place}\"/>"
        );
    }
}
