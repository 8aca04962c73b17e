//! The facts table `scenarios/tamagawa/facts.csv` and the road's centre line through it.

use proj4rs::Proj;

use super::shapes::{Chain, Point, curve_through, point};

/// The projection of the map, as SUMO writes it.
pub(crate) const PROJECTION: &str =
    "+proj=utm +zone=54 +ellps=WGS84 +datum=WGS84 +units=m +no_defs";

/// Added to projected coordinates, so that the map's coordinates are small.
pub(crate) const NET_OFFSET: Point = point(-379_000.0, -3_944_500.0);

/// One row of the table.
pub(crate) struct Row {
    /// Metres along the centre line as the table counts them.
    pub(crate) s: f64,
    /// Place on the map, where the junction is real.
    pub(crate) place: Option<Point>,
    /// Lanes per direction of the cross street.
    pub(crate) cross_lanes: usize,
}

/// A signalised junction on the centre line.
pub(crate) struct Junction {
    /// Arc length on the centre line.
    pub(crate) along: f64,
    /// Lanes per direction of the cross street.
    pub(crate) cross_lanes: usize,
}

/// The main road: its centre line and its junctions from east to west.
pub(crate) struct MainRoad {
    pub(crate) centre: Chain,
    pub(crate) junctions: Vec<Junction>,
}

pub(crate) fn parse(text: &str) -> Result<Vec<Row>, String> {
    let projection = |text: &str| {
        Proj::from_proj_string(text).map_err(|error| format!("projection {text}: {error}"))
    };
    let plane = projection(PROJECTION)?;
    let earth = projection("+proj=longlat +datum=WGS84 +no_defs")?;
    let mut rows = Vec::new();
    let lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line))
        .filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty())
        .skip(1);
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [s, _, lat, lon, _, lanes, _] = fields[..] else {
            return Err(format!("facts.csv, line {number}: expected 7 fields"));
        };
        let parse = |text: &str, what: &str| {
            text.parse::<f64>()
                .map_err(|_| format!("facts.csv, line {number}: {what} is \"{text}\""))
        };
        let place = if lat.is_empty() {
            None
        } else {
            let (lon, lat) = (parse(lon, "lon")?, parse(lat, "lat")?);
            let (x, y) =
                proj4rs::adaptors::transform_xy(&earth, &plane, lon.to_radians(), lat.to_radians())
                    .map_err(|error| format!("facts.csv, line {number}: {error}"))?;
            Some(point(x, y) + NET_OFFSET)
        };
        rows.push(Row {
            s: parse(s, "s_m")?,
            place,
            cross_lanes: lanes
                .parse()
                .map_err(|_| format!("facts.csv, line {number}: cross_lanes is \"{lanes}\""))?,
        });
    }
    let ends_known = rows.first().is_some_and(|row| row.place.is_some())
        && rows.last().is_some_and(|row| row.place.is_some());
    if rows.len() < 3 || !ends_known {
        return Err("facts.csv: needs junctions with coordinates at both ends".to_owned());
    }
    Ok(rows)
}

/// A smooth centre line through the real junctions; the assumed ones lie between their neighbours in proportion to `s`.
pub(crate) fn main_road(rows: &[Row]) -> MainRoad {
    const STEPS: usize = 120;
    let real: Vec<(f64, Point)> = rows
        .iter()
        .filter_map(|row| row.place.map(|place| (row.s, place)))
        .collect();
    let places: Vec<Point> = real.iter().map(|&(_, place)| place).collect();
    let centre = Chain::new(curve_through(&places, STEPS));
    let along = |s: f64| {
        let next = real[1..real.len() - 1].partition_point(|&(known, _)| known < s);
        let ((s0, _), (s1, _)) = (real[next], real[next + 1]);
        let (a0, a1) = (centre.along(STEPS * next), centre.along(STEPS * (next + 1)));
        a0 + (a1 - a0) * (s - s0) / (s1 - s0)
    };
    let junctions = rows
        .iter()
        .map(|row| Junction {
            along: along(row.s),
            cross_lanes: row.cross_lanes,
        })
        .collect();
    MainRoad { centre, junctions }
}

/// Lateral distance of a carriageway's centre from the centre line, by arc length: 9 to 16 m as measured on the real road;
/// which stretch has how much is assumed (wide at the station and at Ohashi).
const OFFSETS: [(f64, f64); 9] = [
    (-60.0, 14.0),
    (350.0, 16.0),
    (900.0, 11.5),
    (1150.0, 10.0),
    (1640.0, 13.0),
    (2080.0, 10.0),
    (2730.0, 9.0),
    (3470.0, 11.0),
    (3800.0, 12.0),
];

/// Metres from the centre line to the middle of a carriageway at arc length `along`.
pub(crate) fn carriageway_offset(along: f64) -> f64 {
    let next = OFFSETS.partition_point(|&(a, _)| a < along);
    if next == 0 {
        return OFFSETS[0].1;
    }
    if next == OFFSETS.len() {
        return OFFSETS[next - 1].1;
    }
    let ((a0, d0), (a1, d1)) = (OFFSETS[next - 1], OFFSETS[next]);
    let share = (along - a0) / (a1 - a0);
    // A cosine, so that the carriageway has no kinks.
    d0 + (d1 - d0) * (1.0 - (std::f64::consts::PI * share).cos()) / 2.0
}
