//! Scenarios of CommonRoad (XML, versions 2018b and 2020a): lanelets and recorded obstacles.
//!
//! A lanelet is a street of one lane along the middle between its bounds. One that crosses others, from one lanelet to another, is
//! a way over a junction instead. A dynamic obstacle is a track of its initial state and its trajectory; a static one stands for as long as
//! anybody moves. Planning problems, signs and lights are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use covey_world::geometry::Point;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::ends::Ends;
use super::{Moment, Street, Track, Tracks, TrajectoryError, Turn, read_text};
use crate::recorded::elements::attribute;

/// Speed limit where lanelets tell none, in m/s.
const SPEED_M_PER_S: f64 = 13.9;

/// An element with its text and what is in it.
#[derive(Debug, Default)]
struct Node {
    name: String,
    at: usize,
    /// `id`, `ref` and `timeStepSize`, where it has them.
    attributes: BTreeMap<&'static str, String>,
    text: String,
    inside: Vec<Node>,
}

impl Node {
    fn of(tag: &BytesStart<'_>, at: usize) -> Self {
        let mut attributes = BTreeMap::new();
        for name in ["id", "ref", "timeStepSize"] {
            if let Some(value) = attribute(tag, name) {
                attributes.insert(name, value.into_owned());
            }
        }
        Self {
            name: tag.name().as_ref().to_string(),
            at,
            attributes,
            ..Self::default()
        }
    }

    fn all<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'n Self> {
        self.inside.iter().filter(move |node| node.name == name)
    }

    fn get(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| {
            node.inside.iter().find(|n| n.name == *name)
        })
    }
}

/// The file, for errors with lines.
struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn wrong(&self, at: usize, field: &str, found: &str, expected: &str) -> TrajectoryError {
        let before = self.text.as_bytes().iter().take(at);
        TrajectoryError::Field {
            file: self.name.to_string(),
            line: 1 + before.filter(|&&byte| byte == b'\n').count() as u64,
            field: field.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    fn content(&self, problem: String) -> TrajectoryError {
        TrajectoryError::Content {
            file: self.name.to_string(),
            problem,
        }
    }

    /// The elements of the file.
    fn tree(&self) -> Result<Node, TrajectoryError> {
        let mut reader = Reader::from_str(self.text);
        let mut open = vec![Node::default()];
        loop {
            let at = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                self.wrong(at, "XML", &error.to_string(), "a whole, well-formed file")
            })?;
            match event {
                Event::Start(tag) => open.push(Node::of(&tag, at)),
                Event::Empty(tag) => {
                    let node = Node::of(&tag, at);
                    if let Some(outer) = open.last_mut() {
                        outer.inside.push(node);
                    }
                }
                Event::Text(text) => {
                    if let Some(node) = open.last_mut() {
                        node.text.push_str(text.as_ref().trim());
                    }
                }
                Event::End(_) => {
                    if let Some(node) = open.pop()
                        && let Some(outer) = open.last_mut()
                    {
                        outer.inside.push(node);
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        let root = open.pop().unwrap_or_default();
        if !open.is_empty() {
            return Err(self.wrong(root.at, &root.name, "no end", "a whole file"));
        }
        let mut inside = root.inside.into_iter();
        match inside.find(|node| node.name == "commonRoad") {
            Some(scenario) => Ok(scenario),
            None => Err(self.content(
                "found no <commonRoad>, expected a CommonRoad scenario (XML)".to_string(),
            )),
        }
    }

    /// The number at a path below a node; the middle of an interval.
    fn number(&self, node: &Node, path: &[&str]) -> Result<f64, TrajectoryError> {
        let field = format!("{}.{}", node.name, path.join("."));
        let Some(value) = node.get(path) else {
            return Err(self.wrong(node.at, &field, "nothing", "a number"));
        };
        let parse = |node: &Node| -> Result<f64, TrajectoryError> {
            let number: Option<f64> = node.text.parse().ok();
            number
                .filter(|number| number.is_finite() && number.abs() < 1e8)
                .ok_or_else(|| self.wrong(node.at, &field, &format!("`{}`", node.text), "a number"))
        };
        match (
            value.get(&["exact"]),
            value.get(&["intervalStart"]),
            value.get(&["intervalEnd"]),
        ) {
            (Some(exact), ..) => parse(exact),
            (None, Some(low), Some(high)) => Ok((parse(low)? + parse(high)?) / 2.0),
            _ => parse(value),
        }
    }

    fn point(&self, node: &Node) -> Result<Point, TrajectoryError> {
        Ok(Point::new(
            self.number(node, &["x"])?,
            self.number(node, &["y"])?,
        ))
    }

    fn id(&self, node: &Node) -> Result<String, TrajectoryError> {
        let id = node.attributes.get("id").cloned();
        id.ok_or_else(|| self.wrong(node.at, &format!("{}.id", node.name), "nothing", "an id"))
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read, is no CommonRoad scenario, or a field is none.
pub fn read(path: &Path) -> Result<Tracks, TrajectoryError> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    let file = File {
        name: &name,
        text: &text,
    };
    let scenario = file.tree()?;
    let step = scenario.attributes.get("timeStepSize");
    let step_s = step
        .and_then(|step| step.parse::<f64>().ok())
        .filter(|step| *step > 0.0 && *step <= 10.0);
    let Some(step_s) = step_s else {
        let found = step.map_or("nothing".to_string(), |step| format!("`{step}`"));
        return Err(file.wrong(
            scenario.at,
            "commonRoad.timeStepSize",
            &found,
            "seconds above 0",
        ));
    };
    let mut tracks = streets(&file, &scenario)?;
    for obstacle in scenario
        .inside
        .iter()
        .filter(|node| node.name.ends_with("bstacle"))
    {
        if obstacle.name == "environmentObstacle" {
            continue;
        }
        tracks.tracks.push(track(&file, obstacle, step_s)?);
    }
    let times = tracks.tracks.iter().flat_map(|track| &track.moments);
    let end_us = times.map(|moment| moment.time_us).max().unwrap_or(0);
    if end_us == 0 {
        return Err(file.content(
            "found no obstacle that moves, expected <dynamicObstacle> with a trajectory"
                .to_string(),
        ));
    }
    let step_us = (step_s * 1e6).round() as i64;
    for track in tracks
        .tracks
        .iter_mut()
        .filter(|track| track.moments.len() == 1)
    {
        let first = track.moments[0];
        let later = (1..)
            .map(|n| first.time_us + n * step_us)
            .take_while(|t| *t <= end_us);
        let stays = later.map(|time_us| Moment { time_us, ..first });
        track.moments.extend(stays);
    }
    tracks.note = "A CommonRoad scenario (commonroad.in.tum.de); its own licence holds. Heights are those of the class.".to_string();
    Ok(tracks)
}

/// A class by the type of an obstacle.
fn kind(text: &str) -> &'static str {
    match text {
        "truck" | "constructionZone" => "truck",
        "bus" => "bus",
        "motorcycle" => "motorcycle",
        "bicycle" => "bicycle",
        "pedestrian" => "pedestrian",
        "train" => "train",
        _ => "car",
    }
}

fn track(file: &File<'_>, obstacle: &Node, step_s: f64) -> Result<Track, TrajectoryError> {
    let kind = kind(
        obstacle
            .get(&["type"])
            .map_or("", |node| node.text.as_str()),
    );
    let Some(shape) = obstacle.get(&["shape"]) else {
        return Err(file.wrong(
            obstacle.at,
            &format!("{}.shape", obstacle.name),
            "nothing",
            "a rectangle or circle",
        ));
    };
    let (length, width) = if shape.get(&["rectangle"]).is_some() {
        let size = |name| file.number(shape, &["rectangle", name]);
        (size("length")?, size("width")?)
    } else if shape.get(&["circle"]).is_some() {
        let across = 2.0 * file.number(shape, &["circle", "radius"])?;
        (across, across)
    } else {
        return Err(file.wrong(shape.at, "shape", "another one", "a rectangle or circle"));
    };
    if !(length > 0.0 && width > 0.0 && length < 400.0 && width < 50.0) {
        let found = format!("{length} x {width}");
        return Err(file.wrong(shape.at, "shape", &found, "lengths above 0, in metres"));
    }
    let Some(initial) = obstacle.get(&["initialState"]) else {
        return Err(file.wrong(
            obstacle.at,
            &format!("{}.initialState", obstacle.name),
            "nothing",
            "a state",
        ));
    };
    let states = obstacle.get(&["trajectory"]).into_iter();
    let states = states.flat_map(|trajectory| trajectory.all("state"));
    let mut moments = Vec::new();
    for state in std::iter::once(initial).chain(states) {
        let Some(point) = state.get(&["position", "point"]) else {
            return Err(file.wrong(state.at, "position.point", "nothing", "a point"));
        };
        let heading = file.number(state, &["orientation"])?;
        let centre = file.point(point)?;
        let speed = match state.get(&["velocity"]) {
            Some(_) => file.number(state, &["velocity"])?.abs(),
            None => 0.0,
        };
        let time_us = (file.number(state, &["time"])? * step_s * 1e6).round() as i64;
        let on_foot = kind == "pedestrian";
        moments.push(Moment {
            time_us,
            // Persons are where they stand.
            front: centre + Point::from_heading(heading) * if on_foot { 0.0 } else { length / 2.0 },
            heading,
            speed,
        });
    }
    moments.sort_by_key(|moment| moment.time_us);
    moments.dedup_by_key(|moment| moment.time_us);
    Ok(Track {
        name: file.id(obstacle)?,
        kind: kind.to_string(),
        length,
        width,
        moments,
    })
}

/// A lanelet: the middle between its bounds, and which follow it.
struct Lanelet {
    line: Vec<Point>,
    width: f64,
    successors: Vec<usize>,
}

fn lanelets(file: &File<'_>, scenario: &Node) -> Result<Vec<Lanelet>, TrajectoryError> {
    let nodes: Vec<&Node> = scenario.all("lanelet").collect();
    let mut numbers = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        numbers.insert(file.id(node)?, number);
    }
    let mut all = Vec::new();
    for node in nodes {
        let bound = |name: &str| -> Result<Vec<Point>, TrajectoryError> {
            let bound = node.get(&[name]);
            let points = bound.into_iter().flat_map(|bound| bound.all("point"));
            let points: Result<Vec<Point>, _> = points.map(|point| file.point(point)).collect();
            let points = points?;
            if points.len() < 2 {
                let found = format!("{} points", points.len());
                return Err(file.wrong(node.at, &format!("lanelet.{name}"), &found, "at least 2"));
            }
            Ok(points)
        };
        let (left, right) = (bound("leftBound")?, bound("rightBound")?);
        let count = left.len().max(right.len());
        let at = |line: &[Point], share: f64| along(line, share);
        let line = (0..count).map(|n| n as f64 / (count - 1) as f64);
        let line: Vec<Point> = line
            .map(|share| (at(&left, share) + at(&right, share)) * 0.5)
            .collect();
        let mut successors = Vec::new();
        for successor in node.all("successor") {
            let name = successor.attributes.get("ref").cloned().unwrap_or_default();
            match numbers.get(&name) {
                Some(&number) => successors.push(number),
                None => {
                    return Err(file.wrong(
                        successor.at,
                        "successor.ref",
                        &format!("`{name}`"),
                        "the id of a lanelet of the file",
                    ));
                }
            }
        }
        all.push(Lanelet {
            width: left[0].distance(right[0]).clamp(1.0, 10.0),
            line,
            successors,
        });
    }
    if all.is_empty() {
        return Err(file.content("found no <lanelet>, expected some".to_string()));
    }
    Ok(all)
}

/// The point at a share of a line's length.
fn along(line: &[Point], share: f64) -> Point {
    let length: f64 = line.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let mut left = share * length;
    for pair in line.windows(2) {
        let part = pair[0].distance(pair[1]);
        if left <= part && part > 0.0 {
            return pair[0] + (pair[1] - pair[0]) * (left / part);
        }
        left -= part;
    }
    line[line.len() - 1]
}

/// Two lines cross, not merely touch at their ends.
fn cross(a: &[Point], b: &[Point]) -> bool {
    let segments =
        |line: &[Point]| -> Vec<(Point, Point)> { line.windows(2).map(|p| (p[0], p[1])).collect() };
    segments(a).into_iter().any(|(p, q)| {
        segments(b).into_iter().any(|(r, s)| {
            let (d, e) = (q - p, s - r);
            let denominator = d.cross(e);
            if denominator.abs() < 1e-9 {
                return false;
            }
            let (t, u) = (
                (r - p).cross(e) / denominator,
                (r - p).cross(d) / denominator,
            );
            let ends = [a[0], a[a.len() - 1], b[0], b[b.len() - 1]];
            let meet = p + d * t;
            (0.0..=1.0).contains(&t)
                && (0.0..=1.0).contains(&u)
                && ends.iter().all(|end| end.distance(meet) > 1.0)
        })
    })
}

/// Which lanelets are ways over junctions: those that cross others, between two that do not.
fn over_junctions(all: &[Lanelet], before: &[Vec<usize>]) -> Vec<bool> {
    let mut over = vec![false; all.len()];
    for (number, lanelet) in all.iter().enumerate() {
        let crosses = || {
            let mut others = all.iter().enumerate();
            others.any(|(other, one)| other != number && cross(&lanelet.line, &one.line))
        };
        let open = !before[number].is_empty()
            && !lanelet.successors.is_empty()
            && before[number]
                .iter()
                .chain(&lanelet.successors)
                .all(|&n| !over[n]);
        over[number] = open && crosses();
    }
    over
}

fn streets(file: &File<'_>, scenario: &Node) -> Result<Tracks, TrajectoryError> {
    let all = lanelets(file, scenario)?;
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (number, lanelet) in all.iter().enumerate() {
        for &next in &lanelet.successors {
            before[next].push(number);
        }
    }
    let over = over_junctions(&all, &before);
    let mut tracks = Tracks::default();
    let mut street_of = vec![usize::MAX; all.len()];
    for (number, lanelet) in all.iter().enumerate().filter(|&(number, _)| !over[number]) {
        street_of[number] = tracks.streets.len();
        tracks.streets.push(Street {
            name: format!("l{number}"),
            ends: [0; 2],
            lanes: vec![lanelet.line.clone()],
            lane_width: lanelet.width,
            speed: SPEED_M_PER_S,
        });
    }
    let mut ends = Ends::new(tracks.streets.len());
    let mut taken = BTreeSet::new();
    for (number, lanelet) in all.iter().enumerate() {
        if over[number] {
            for &from in &before[number] {
                for &to in &lanelet.successors {
                    let (from, to) = (street_of[from], street_of[to]);
                    ends.join(from, to);
                    if taken.insert((from, to)) {
                        tracks.turns.push(Turn {
                            from: (from, 0),
                            to: (to, 0),
                            shape: Some(lanelet.line.clone()),
                        });
                    }
                }
            }
            continue;
        }
        for &next in lanelet.successors.iter().filter(|&&next| !over[next]) {
            let (from, to) = (street_of[number], street_of[next]);
            ends.join(from, to);
            if taken.insert((from, to)) {
                tracks.turns.push(Turn {
                    from: (from, 0),
                    to: (to, 0),
                    shape: None,
                });
            }
        }
    }
    // Ways that cross do so in one junction.
    for (a, first) in all.iter().enumerate().filter(|&(a, _)| over[a]) {
        for b in (0..a).filter(|&b| over[b]) {
            if cross(&first.line, &all[b].line) {
                ends.join(street_of[before[a][0]], street_of[all[b].successors[0]]);
            }
        }
    }
    let (nodes, of) = ends.nodes(|street| {
        let line = &tracks.streets[street].lanes[0];
        [line[0], line[line.len() - 1]]
    });
    for (street, both) in tracks.streets.iter_mut().zip(of) {
        street.ends = both;
    }
    tracks.nodes = nodes;
    Ok(tracks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cross_where_they_do_and_not_at_their_ends() {
        let line = |points: &[(f64, f64)]| -> Vec<Point> {
            points.iter().map(|&(x, y)| Point::new(x, y)).collect()
        };
        let east = line(&[(-10.0, 0.0), (10.0, 0.0)]);
        assert!(cross(&east, &line(&[(0.0, -10.0), (0.0, 10.0)])));
        assert!(!cross(&east, &line(&[(10.0, 0.0), (10.0, 10.0)])));
        assert!(!cross(&east, &line(&[(-10.0, 3.0), (10.0, 3.0)])));
        assert_eq!(along(&east, 0.75), Point::new(5.0, 0.0));
    }
}
