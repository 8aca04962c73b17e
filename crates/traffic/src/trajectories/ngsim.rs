//! Trajectories of the NGSIM program (FHWA), as its public CSV has them.
//!
//! Columns go by their names, whatever their order and case: `Vehicle_ID`, `Global_Time` (ms), `Global_X`, `Global_Y` (feet, the middle
//! of the front), `v_length`, `v_Width` (feet), `v_Class` (1 motorcycle, 2 car, 3 truck), `v_Vel` (feet/s), `Lane_ID`, and where a file
//! has them `O_Zone`, `D_Zone`, `Int_ID`, `Section_ID`, `Direction` (arterials) and `Location` (the file of all places). Instants are 0.1 s
//! apart. A number that is used again after a gap of 10 s is another vehicle.
//!
//! The data have no map: a street is made of each section and direction, with a lane along the mean way of those who drove in it; ways
//! between streets are those that somebody took. Whoever begins or ends within a junction does so on a stub of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use covey_world::geometry::Point;

use super::ends::Ends;
use super::{Moment, Street, Track, Tracks, TrajectoryError, Turn, file_error};

const FOOT_M: f64 = 0.3048;
/// A vehicle that is missing for longer has left; its number is another's.
const GAP_MS: i64 = 10_000;
/// Length of a stub, in metres.
const STUB_M: f64 = 15.0;
/// Spacing of the points of a lane, in metres.
const SPACING_M: f64 = 10.0;
/// Width of lanes, in metres: the data have none.
const LANE_WIDTH_M: f64 = 3.3;
/// Lanes that fewer samples are in are none.
const LEAST_SAMPLES: usize = 5;

/// Which part of a file is wanted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// One of the places of a file that has several, as its column `Location` names it.
    pub location: Option<String>,
    /// From this second of the recording on.
    pub from_s: f64,
    /// Up to this second; all of it where none is given.
    pub to_s: Option<f64>,
}

/// Columns that a file must have, then those that it may have.
const COLUMNS: [(&str, bool); 15] = [
    ("vehicle_id", true),
    ("global_time", true),
    ("global_x", true),
    ("global_y", true),
    ("v_length", true),
    ("v_width", true),
    ("v_class", true),
    ("v_vel", true),
    ("lane_id", true),
    ("o_zone", false),
    ("d_zone", false),
    ("int_id", false),
    ("section_id", false),
    ("direction", false),
    ("location", false),
];

/// A line of the file.
#[derive(Debug, Clone, Copy)]
struct Row {
    time_ms: i64,
    front: Point,
    size: [f64; 2],
    class: u32,
    speed: f64,
    lane: u32,
    zones: [u32; 2],
    junction: u32,
    section: u32,
    direction: u32,
}

/// A street of the data: a section and direction, or a stub of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Section { section: u32, direction: u32 },
    In { junction: u32, zone: u32 },
    Out { junction: u32, zone: u32 },
}

impl Key {
    fn name(self) -> String {
        match self {
            Self::Section { section, direction } => format!("s{section}d{direction}"),
            Self::In { junction, zone } => format!("in{junction}z{zone}"),
            Self::Out { junction, zone } => format!("out{junction}z{zone}"),
        }
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read, lacks columns, has a field that is none, or has nothing of what is wanted.
pub fn read(file: &Path, part: &Part) -> Result<Tracks, TrajectoryError> {
    let vehicles = read_rows(file, part)?;
    let content = |problem: String| TrajectoryError::Content {
        file: file.display().to_string(),
        problem,
    };
    if vehicles.is_empty() {
        return Err(content(
            "found no vehicle in the part that is wanted, expected some; try another location or time".to_string(),
        ));
    }
    let first = vehicles.values().flatten().map(|row| row.time_ms).min();
    let lowest = |f: fn(&Row) -> f64| {
        let all = vehicles.values().flatten().map(f);
        (all.fold(f64::INFINITY, f64::min) / 100.0).floor() * 100.0
    };
    let corner = Point::new(lowest(|row| row.front.x), lowest(|row| row.front.y));
    let mut ways = Vec::new();
    for ((vehicle, turn), rows) in &vehicles {
        let name = match turn {
            0 => vehicle.to_string(),
            turn => format!("{vehicle}.{}", turn + 1),
        };
        ways.push(Way::new(name, rows, first.unwrap_or(0), corner));
    }
    let mut tracks = streets(&ways);
    if tracks.streets.is_empty() {
        return Err(content(
            "found no lane that anybody drove along for 10 m, expected some; take a longer part"
                .to_string(),
        ));
    }
    tracks.tracks = ways.into_iter().map(|way| way.track).collect();
    tracks.note = format!(
        "NGSIM vehicle trajectories (FHWA, public domain). Places are those of the data in metres, less ({:.0}, {:.0}); heights are those \
         of the class. Streets and ways between them were made from the trajectories.",
        corner.x, corner.y
    );
    Ok(tracks)
}

/// Rows by vehicle and how often its number was used before, by ascending time.
type Vehicles = BTreeMap<(u64, u32), Vec<Row>>;

fn read_rows(file: &Path, part: &Part) -> Result<Vehicles, TrajectoryError> {
    let shown = file.display().to_string();
    let broken = file_error(file);
    let mut lines = BufReader::new(File::open(file).map_err(&broken)?).lines();
    let header = lines
        .next()
        .transpose()
        .map_err(&broken)?
        .unwrap_or_default();
    let columns = columns(&shown, &header)?;
    let mut vehicles: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    let mut places = BTreeSet::new();
    for (line, text) in (2_u64..).zip(lines) {
        let text = text.map_err(&broken)?;
        if text.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = text
            .split(',')
            .map(|field| field.trim().trim_matches('"'))
            .collect();
        let reader = Fields {
            file: &shown,
            line,
            fields: &fields,
            columns: &columns,
        };
        if let Some(place) = reader.text(14) {
            let place = place.to_ascii_lowercase();
            let wanted = part.location.as_ref();
            if wanted.is_some_and(|wanted| !place.eq_ignore_ascii_case(wanted)) {
                places.insert(place);
                continue;
            }
            places.insert(place);
        }
        let (vehicle, row) = reader.row()?;
        vehicles.entry(vehicle).or_default().push(row);
    }
    check_places(&shown, part, &places)?;
    let first = vehicles.values().flatten().map(|row| row.time_ms).min();
    Ok(split(vehicles, first.unwrap_or(0), part))
}

fn check_places(file: &str, part: &Part, places: &BTreeSet<String>) -> Result<(), TrajectoryError> {
    let names: Vec<&str> = places.iter().map(String::as_str).collect();
    let problem = match &part.location {
        Some(wanted) if !places.contains(&wanted.to_ascii_lowercase()) => {
            format!(
                "--location: found `{wanted}`, expected one of its places: {}",
                names.join(", ")
            )
        }
        None if places.len() > 1 => {
            format!(
                "found several places, expected --location with one of {}",
                names.join(", ")
            )
        }
        _ => return Ok(()),
    };
    Err(TrajectoryError::Content {
        file: file.to_string(),
        problem,
    })
}

/// Rows sorted by time, numbers that are used again told apart, and only the part that is wanted.
fn split(vehicles: BTreeMap<u64, Vec<Row>>, first: i64, part: &Part) -> Vehicles {
    let ms = |seconds: f64| (seconds * 1000.0).round() as i64;
    let from = first + ms(part.from_s);
    let to = part
        .to_s
        .map_or(i64::MAX, |to| first.saturating_add(ms(to)));
    let mut all = Vehicles::new();
    for (vehicle, mut rows) in vehicles {
        rows.sort_by_key(|row| row.time_ms);
        rows.dedup_by_key(|row| row.time_ms);
        let mut before: Option<i64> = None;
        let mut turn = 0;
        for row in rows {
            if before.is_some_and(|before| row.time_ms - before > GAP_MS) {
                turn += 1;
            }
            before = Some(row.time_ms);
            if (from..=to).contains(&row.time_ms) {
                all.entry((vehicle, turn)).or_default().push(row);
            }
        }
    }
    all
}

fn columns(file: &str, header: &str) -> Result<[Option<usize>; COLUMNS.len()], TrajectoryError> {
    let names: Vec<String> = header
        .trim_start_matches('\u{feff}')
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_ascii_lowercase())
        .collect();
    let mut found = [None; COLUMNS.len()];
    for (slot, (wanted, _)) in found.iter_mut().zip(COLUMNS) {
        *slot = names.iter().position(|name| name == wanted);
    }
    let missing: Vec<&str> = COLUMNS
        .iter()
        .zip(&found)
        .filter(|((_, needed), slot)| *needed && slot.is_none())
        .map(|((name, _), _)| *name)
        .collect();
    if missing.is_empty() {
        return Ok(found);
    }
    Err(TrajectoryError::Field {
        file: file.to_string(),
        line: 1,
        field: "header".to_string(),
        found: format!("no column {}", missing.join(", ")),
        expected: "the columns of NGSIM's CSV, separated by commas (Vehicle_ID, Global_Time, Global_X, ...)".to_string(),
    })
}

/// The fields of a line.
struct Fields<'a> {
    file: &'a str,
    line: u64,
    fields: &'a [&'a str],
    columns: &'a [Option<usize>; COLUMNS.len()],
}

impl Fields<'_> {
    fn text(&self, column: usize) -> Option<&str> {
        let text = *self.fields.get(self.columns[column]?)?;
        (!text.is_empty()).then_some(text)
    }

    fn wrong(&self, column: usize, expected: &str) -> TrajectoryError {
        TrajectoryError::Field {
            file: self.file.to_string(),
            line: self.line,
            field: COLUMNS[column].0.to_string(),
            found: self
                .text(column)
                .map_or("nothing".to_string(), |text| format!("`{text}`")),
            expected: expected.to_string(),
        }
    }

    fn number(&self, column: usize, expected: &str) -> Result<f64, TrajectoryError> {
        let number: Option<f64> = self.text(column).and_then(|text| text.parse().ok());
        number
            .filter(|number| number.is_finite() && number.abs() < 1e15)
            .ok_or_else(|| self.wrong(column, expected))
    }

    /// A whole number; 0 where a column that may be left out is.
    fn whole(&self, column: usize) -> Result<u32, TrajectoryError> {
        if self.text(column).is_none() && !COLUMNS[column].1 {
            return Ok(0);
        }
        let expected = "a whole number from 0 on";
        let number = self.number(column, expected)?;
        if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
            return Ok(number as u32);
        }
        Err(self.wrong(column, expected))
    }

    fn row(&self) -> Result<(u64, Row), TrajectoryError> {
        let feet = |column| -> Result<f64, TrajectoryError> {
            Ok(self.number(column, "a number of feet")? * FOOT_M)
        };
        let size = |column| {
            let size = feet(column)?;
            if size > 0.0 && size < 100.0 {
                return Ok(size);
            }
            Err(self.wrong(column, "a number of feet above 0 and below 328"))
        };
        let class = self.whole(6)?;
        if !(1..=3).contains(&class) {
            return Err(self.wrong(6, "1 (motorcycle), 2 (car) or 3 (truck)"));
        }
        let row = Row {
            time_ms: self.number(1, "milliseconds since 1970")? as i64,
            front: Point::new(feet(2)?, feet(3)?),
            size: [size(4)?, size(5)?],
            class,
            speed: self.number(7, "feet per second")?.abs() * FOOT_M,
            lane: self.whole(8)?,
            zones: [self.whole(9)?, self.whole(10)?],
            junction: self.whole(11)?,
            section: self.whole(12)?,
            direction: self.whole(13)?,
        };
        Ok((u64::from(self.whole(0)?), row))
    }
}

/// A track, and where each of its moments was.
struct Way {
    track: Track,
    /// By moment: street and lane, as the data number them.
    at: Vec<Option<(Key, u32)>>,
    /// By moment: the junction it was in, 0 for none.
    junctions: Vec<u32>,
}

impl Way {
    fn new(name: String, rows: &[Row], first_ms: i64, corner: Point) -> Self {
        let front = |row: &Row| row.front - corner;
        let mut moments: Vec<Moment> = rows
            .iter()
            .map(|row| Moment {
                time_us: (row.time_ms - first_ms) * 1_000,
                front: front(row),
                heading: 0.0,
                speed: row.speed,
            })
            .collect();
        point_ahead(&mut moments);
        // How far from the track's beginning each moment is.
        let mut gone = vec![0.0];
        for pair in moments.windows(2) {
            let before = gone.last().copied().unwrap_or(0.0);
            gone.push(before + pair[1].front.distance(pair[0].front));
        }
        let all = gone.last().copied().unwrap_or(0.0);
        let last = rows.len().saturating_sub(1);
        let arterial = rows.iter().any(|row| row.section > 0 || row.junction > 0);
        let at = rows.iter().enumerate().map(|(at, row)| {
            if row.section > 0 || !arterial {
                let (section, direction) = (row.section, row.direction);
                return Some((Key::Section { section, direction }, row.lane));
            }
            let junction = row.junction;
            let begins = rows[0].section == 0 && gone[at] <= STUB_M;
            let ends = rows[last].section == 0 && all - gone[at] <= STUB_M;
            match (begins, ends) {
                (true, _) => Some((
                    Key::In {
                        junction: rows[0].junction,
                        zone: row.zones[0],
                    },
                    0,
                )),
                (_, true) => Some((
                    Key::Out {
                        junction,
                        zone: row.zones[1],
                    },
                    0,
                )),
                _ => None,
            }
        });
        Self {
            at: at.collect(),
            junctions: rows.iter().map(|row| row.junction).collect(),
            track: Track {
                name,
                kind: match rows.first().map_or(2, |row| row.class) {
                    1 => "motorcycle",
                    3 => "truck",
                    _ => "car",
                }
                .to_string(),
                length: rows.first().map_or(5.0, |row| row.size[0]),
                width: rows.first().map_or(2.0, |row| row.size[1]),
                moments,
            },
        }
    }
}

/// Headings by where one is half a metre later, or was half a metre earlier; who never moves points east.
fn point_ahead(moments: &mut [Moment]) {
    let mut heading = None;
    let mut behind = 0;
    let mut found = vec![None; moments.len()];
    for at in 0..moments.len() {
        while behind < at && moments[at].front.distance(moments[behind].front) > 1.0 {
            behind += 1;
        }
        let before = behind.saturating_sub(1);
        let way = moments[at].front - moments[before].front;
        if way.length() >= 0.5 {
            heading = Some(way.y.atan2(way.x));
        }
        found[at] = heading;
    }
    // Before the first move: as at the first move.
    let first = found.iter().flatten().next().copied().unwrap_or(0.0);
    for (moment, heading) in moments.iter_mut().zip(found) {
        moment.heading = heading.unwrap_or(first);
    }
}

/// All samples of a lane, with the sum of the ways made in it.
#[derive(Default)]
struct Lane {
    points: Vec<Point>,
    way: Point,
}

impl Lane {
    /// Its centre line along the mean way, and how far to the left of that way it lies.
    fn line(&self, along: Point) -> Option<(Vec<Point>, f64)> {
        if self.points.len() < LEAST_SAMPLES {
            return None;
        }
        let mut bins: BTreeMap<i64, (Point, f64)> = BTreeMap::new();
        let mut left = 0.0;
        for &point in &self.points {
            let bin = (point.dot(along) / SPACING_M).floor() as i64;
            let (sum, count) = bins.entry(bin).or_default();
            *sum = *sum + point;
            *count += 1.0;
            left += along.cross(point);
        }
        let line: Vec<Point> = bins
            .values()
            .map(|(sum, count)| *sum * (1.0 / count))
            .collect();
        // Means of neighbouring bins may nearly meet; such points only bend the line.
        let mut kept: Vec<Point> = Vec::new();
        for point in line {
            if kept
                .last()
                .is_none_or(|last| last.distance(point) >= 0.3 * SPACING_M)
            {
                kept.push(point);
            }
        }
        (kept.len() >= 2).then(|| (kept, left / self.points.len() as f64))
    }
}

/// Where everybody was, by street and lane of the data.
type Driven = BTreeMap<Key, BTreeMap<u32, Lane>>;
/// Where a lane of the data is among the streets.
type Places = BTreeMap<(Key, u32), (usize, usize)>;
/// Ways that somebody took, from lane to lane, and the junction that it went through, 0 for none.
type Taken = BTreeMap<((usize, usize), (usize, usize)), u32>;

fn driven(ways: &[Way]) -> (Driven, BTreeMap<Key, f64>) {
    let mut lanes = Driven::new();
    let mut fastest: BTreeMap<Key, f64> = BTreeMap::new();
    for way in ways {
        let mut before: Option<((Key, u32), Point)> = None;
        for (at, moment) in way.at.iter().zip(&way.track.moments) {
            if let Some((key, number)) = *at {
                let lane = lanes.entry(key).or_default().entry(number).or_default();
                lane.points.push(moment.front);
                if let Some((last, point)) = before
                    && last == (key, number)
                {
                    lane.way = lane.way + (moment.front - point);
                }
                let speed = fastest.entry(key).or_default();
                *speed = speed.max(moment.speed);
            }
            before = at.map(|at| (at, moment.front));
        }
    }
    (lanes, fastest)
}

/// Streets along the mean ways, and which lane of the data is which of theirs.
fn lay(lanes: &Driven, fastest: &BTreeMap<Key, f64>) -> (Vec<Street>, Places) {
    let mut streets = Vec::new();
    let mut places = Places::new();
    for (key, lanes) in lanes {
        let sum = |sum: Point, lane: &Lane| sum + lane.way;
        let way = lanes.values().fold(Point::default(), sum);
        if way.length() < SPACING_M {
            continue;
        }
        let along = way * (1.0 / way.length());
        let mut lines: Vec<(f64, u32, Vec<Point>)> = lanes
            .iter()
            .filter_map(|(&number, lane)| lane.line(along).map(|(line, left)| (left, number, line)))
            .collect();
        if lines.is_empty() {
            continue;
        }
        // The rightmost first.
        lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (at, (_, number, _)) in lines.iter().enumerate() {
            places.insert((*key, *number), (streets.len(), at));
        }
        streets.push(Street {
            name: key.name(),
            ends: [0; 2],
            lanes: lines.into_iter().map(|(_, _, line)| line).collect(),
            lane_width: LANE_WIDTH_M,
            speed: fastest.get(key).copied().unwrap_or(0.0).max(5.0),
        });
    }
    (streets, places)
}

fn taken(ways: &[Way], places: &Places) -> Taken {
    let mut taken = Taken::new();
    for way in ways {
        let mut last: Option<(usize, usize)> = None;
        let mut through = 0;
        for (at, &junction) in way.at.iter().zip(&way.junctions) {
            through = through.max(junction);
            let Some(&here) = at.as_ref().and_then(|at| places.get(at)) else {
                continue;
            };
            if let Some(before) = last
                && before.0 != here.0
            {
                taken.insert((before, here), through);
            }
            // A stub is still within its junction.
            through = junction;
            last = Some(here);
        }
    }
    taken
}

/// Streets from where everybody was, and the ways that somebody took between them.
fn streets(ways: &[Way]) -> Tracks {
    let (lanes, fastest) = driven(ways);
    let (mut streets, places) = lay(&lanes, &fastest);
    let taken = taken(ways, &places);
    let mut ends = Ends::new(streets.len());
    let mut junctions: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (&((from, _), (to, _)), &junction) in &taken {
        ends.join(from, to);
        // All ways through one junction meet in one node.
        if junction > 0 {
            let (first_from, first_to) = *junctions.entry(junction).or_insert((from, to));
            ends.join(first_from, to);
            ends.join(from, first_to);
        }
    }
    let (nodes, of) = ends.nodes(|street| {
        let lanes = &streets[street].lanes;
        let line = &lanes[lanes.len() / 2];
        [line[0], line[line.len() - 1]]
    });
    for (street, both) in streets.iter_mut().zip(of) {
        street.ends = both;
    }
    let turns = taken.into_keys().map(|(from, to)| Turn {
        from,
        to,
        shape: None,
    });
    Tracks {
        turns: turns.collect(),
        streets,
        nodes,
        ..Tracks::default()
    }
}

#[cfg(test)]
mod tests;
