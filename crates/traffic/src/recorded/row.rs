//! From a row of a recording to a moving body: units, lanes, sizes, passengers.

use covey_world::geometry::Point;
use covey_world::network::LaneIx;
use covey_world::scene::BodyKind;
use covey_world::{Body, Network};
use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::body::{PEDESTRIAN, VehicleTypes};
use super::error::{FcdError, Place};

/// A recorded point further than this from the lane it names is taken for a point of another map.
const FARTHEST_FROM_LANE: f64 = 100.0;

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Vehicle,
    Person,
    Container,
    /// The format does not say.
    Unknown,
}

/// One row as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) tag: Tag,
    pub(super) id: &'a str,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) angle: f64,
    pub(super) speed: f64,
    /// Empty where not given, as are the next ones.
    pub(super) kind: &'a str,
    pub(super) lane: &'a str,
    pub(super) edge: &'a str,
    /// The vehicle that a person rides in.
    pub(super) vehicle: &'a str,
    pub(super) pos: Option<f64>,
    /// Length, width and height, where the row has its own.
    pub(super) size: [Option<f64>; 3],
}

/// One moving body at one instant of the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub(super) key: u32,
    pub(super) centre: Point,
    pub(super) heading: f64,
    pub(super) speed: f64,
    pub(super) body: Body,
    pub(super) lane: Option<LaneIx>,
    pub(super) lane_position: f64,
    /// Line or row.
    pub(super) number: u64,
}

/// Turns rows into samples, with the net and the types at hand.
pub(super) struct Resolver<'n> {
    network: &'n Network,
    // Looked up by name only, never iterated: the order of the maps cannot reach a result.
    lanes: HashMap<&'n str, LaneIx>,
    keys: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
    /// By key: the type that it first came with, as a place in `kinds`.
    kind_of: Vec<u32>,
    kinds: Vec<Box<str>>,
    bodies: HashMap<Box<str>, Body>,
    types: VehicleTypes,
    persons: bool,
    /// The box of the vehicle listed last in this step, whose passengers may follow.
    last_vehicle: Option<(Point, f64, Body)>,
}

impl<'n> Resolver<'n> {
    pub(super) fn new(network: &'n Network, types: VehicleTypes, persons: bool) -> Self {
        let lanes = (0u32..)
            .zip(&network.lanes)
            .map(|(i, lane)| (lane.name.as_str(), LaneIx(i)))
            .collect();
        Self {
            network,
            lanes,
            keys: HashMap::new(),
            names: Vec::new(),
            kind_of: Vec::new(),
            kinds: Vec::new(),
            bodies: HashMap::new(),
            types,
            persons,
            last_vehicle: None,
        }
    }

    /// The name behind a key.
    pub(super) fn name(&self, key: u32) -> &str {
        self.names.get(key as usize).map_or("", |name| name)
    }

    /// The type behind a key.
    pub(super) fn kind(&self, key: u32) -> &str {
        let kind = self.kind_of.get(key as usize);
        kind.map_or("", |&kind| &self.kinds[kind as usize])
    }

    /// The number of names so far.
    pub(super) fn names(&self) -> usize {
        self.names.len()
    }

    /// A new instant begins.
    pub(super) fn begin_step(&mut self) {
        self.last_vehicle = None;
    }

    fn key(&mut self, name: &str, kind: &str) -> (u32, bool) {
        if let Some(&key) = self.keys.get(name) {
            return (key, false);
        }
        let key = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.into());
        // Few types: those that come together stand together.
        let known = self.kinds.iter().rposition(|known| **known == *kind);
        let place = known.unwrap_or_else(|| {
            self.kinds.push(kind.into());
            self.kinds.len() - 1
        });
        self.kind_of.push(u32::try_from(place).unwrap_or(u32::MAX));
        self.keys.insert(name.into(), key);
        (key, true)
    }

    fn body(&mut self, kind: &str) -> Body {
        if let Some(&body) = self.bodies.get(kind) {
            return body;
        }
        let body = self.types.body(kind);
        self.bodies.insert(kind.into(), body);
        body
    }

    /// The sample of a row; none for what is left out (containers, passengers, persons if so asked).
    pub(super) fn resolve(
        &mut self,
        row: &Row<'_>,
        place: &dyn Fn() -> Place,
        number: u64,
    ) -> Result<Option<Sample>, FcdError> {
        all_finite(row, place)?;
        let mut body = self.body(row.kind);
        let sane = |size: Option<f64>| size.filter(|size| *size > 0.0 && *size < 1000.0);
        body.length = sane(row.size[0]).unwrap_or(body.length);
        body.width = sane(row.size[1]).unwrap_or(body.width);
        body.height = sane(row.size[2]).unwrap_or(body.height);
        // SUMO puts persons and containers on edges, vehicles on lanes; columns keep no element names.
        let tag = match row.tag {
            Tag::Unknown if row.lane.is_empty() && !row.edge.is_empty() => {
                if row.kind.to_ascii_lowercase().contains("container") {
                    Tag::Container
                } else {
                    Tag::Person
                }
            }
            Tag::Unknown => Tag::Vehicle,
            tag => tag,
        };
        let heading = heading(row.angle);
        let point = Point::new(row.x, row.y);
        match tag {
            Tag::Container => return Ok(None),
            Tag::Person => {
                if !self.persons || !row.vehicle.is_empty() || self.rides(point) {
                    return Ok(None);
                }
                if body.kind != BodyKind::Pedestrian {
                    body = PEDESTRIAN;
                }
                let (key, _) = self.key(row.id, row.kind);
                return Ok(Some(Sample {
                    key,
                    centre: point,
                    heading,
                    speed: row.speed.max(0.0),
                    body,
                    lane: None,
                    lane_position: 0.0,
                    number,
                }));
            }
            Tag::Vehicle | Tag::Unknown => {}
        }
        let (key, new) = self.key(row.id, row.kind);
        let (lane, lane_position) = match self.on_lane(row, place, new)? {
            Some((lane, position)) => (Some(lane), position),
            None => (None, 0.0),
        };
        let centre = point - Point::from_heading(heading) * (body.length / 2.0);
        self.last_vehicle = Some((centre, heading, body));
        Ok(Some(Sample {
            key,
            centre,
            heading,
            speed: row.speed.max(0.0),
            body,
            lane,
            lane_position,
            number,
        }))
    }

    /// The lane of a row and the place on it, where it names one.
    fn on_lane(
        &self,
        row: &Row<'_>,
        place: &dyn Fn() -> Place,
        new: bool,
    ) -> Result<Option<(LaneIx, f64)>, FcdError> {
        if row.lane.is_empty() {
            return Ok(None);
        }
        let Some(&lane) = self.lanes.get(row.lane) else {
            return Err(FcdError::UnknownLane {
                place: place(),
                vehicle: row.id.to_owned(),
                lane: row.lane.to_owned(),
            });
        };
        let point = Point::new(row.x, row.y);
        let known = &self.network.lanes[lane.index()];
        if new {
            // One look at each vehicle finds a recording of another map, at no cost.
            let distance = known.shape.project(point).1.abs();
            if distance > FARTHEST_FROM_LANE {
                return Err(FcdError::OffTheMap {
                    place: place(),
                    vehicle: row.id.to_owned(),
                    lane: row.lane.to_owned(),
                    x: row.x,
                    y: row.y,
                    distance,
                });
            }
        }
        let position = row.pos.unwrap_or_else(|| {
            let arc = known.shape.length();
            let scale = if arc > 0.0 { known.length / arc } else { 1.0 };
            known.shape.project(point).0 * scale
        });
        Ok(Some((lane, position)))
    }

    /// SUMO lists passengers right after their vehicle, at its place, and pedestrians after all vehicles.
    fn rides(&self, point: Point) -> bool {
        let Some((centre, heading, body)) = self.last_vehicle else {
            return false;
        };
        let forward = Point::from_heading(heading);
        let offset = point - centre;
        offset.dot(forward).abs() <= body.length / 2.0 + 0.5
            && forward.cross(offset).abs() <= body.width / 2.0
    }
}

/// SUMO's angle (degrees clockwise from north) as a heading (radians counter-clockwise from east, within ±π).
pub(super) fn heading(angle: f64) -> f64 {
    turn(FRAC_PI_2 - (angle % 360.0).to_radians())
}

/// The same angle within -π..=π.
pub(super) fn turn(angle: f64) -> f64 {
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

/// Seconds as SUMO writes them (`12.50`, `1:02:03.5`, `2:01:02:03`), in microseconds.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    if !text.contains(':') {
        return seconds_to_us(text.parse().ok()?);
    }
    let parts: Vec<&str> = text.split(':').collect();
    let (factors, parts): (&[f64], _) = match parts.len() {
        3 => (&[3600.0, 60.0, 1.0], parts),
        4 => (&[86400.0, 3600.0, 60.0, 1.0], parts),
        _ => return None,
    };
    let mut seconds = 0.0;
    for (factor, part) in factors.iter().zip(parts) {
        seconds += factor * part.parse::<f64>().ok()?;
    }
    seconds_to_us(seconds)
}

/// Seconds in whole microseconds; none beyond ten thousand years or where it is no number.
pub(super) fn seconds_to_us(seconds: f64) -> Option<i64> {
    let us = (seconds * 1e6).round();
    (us.abs() < 3.2e17).then_some(us as i64)
}

/// Refuses a row with a number that is none.
fn all_finite(row: &Row<'_>, place: &dyn Fn() -> Place) -> Result<(), FcdError> {
    for (field, value) in [
        ("x", row.x),
        ("y", row.y),
        ("angle", row.angle),
        ("speed", row.speed),
        ("pos", row.pos.unwrap_or(0.0)),
    ] {
        if !value.is_finite() {
            return Err(FcdError::BadValue {
                place: place(),
                element: format!("vehicle `{}`", row.id),
                field,
                found: value.to_string(),
                expected: "a finite number",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_turn_from_north_to_east() {
        assert!((heading(0.0) - FRAC_PI_2).abs() < 1e-12);
        assert!(heading(90.0).abs() < 1e-12);
        assert!((heading(180.0) + FRAC_PI_2).abs() < 1e-12);
        assert!((heading(270.0).abs() - PI).abs() < 1e-12);
        assert!((heading(-90.0).abs() - PI).abs() < 1e-12);
        assert!((heading(359.0) - (FRAC_PI_2 + 1f64.to_radians())).abs() < 1e-12);
    }

    #[test]
    fn times_are_read_in_all_spellings() {
        assert_eq!(parse_time("12.50"), Some(12_500_000));
        assert_eq!(parse_time("0.05"), Some(50_000));
        assert_eq!(parse_time("1:02:03.5"), Some(3_723_500_000));
        assert_eq!(parse_time("1:00:00:00"), Some(86_400_000_000));
        assert_eq!(parse_time("nan"), None);
        assert_eq!(parse_time("1e300"), None);
        assert_eq!(parse_time("1:2"), None);
        assert_eq!(parse_time(""), None);
    }
}
