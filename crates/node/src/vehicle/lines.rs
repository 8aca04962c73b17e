//! The lines that a vehicle and its node exchange: one JSON object a line. docs/node.md has the schema.

use std::collections::BTreeMap;

use covey_its::geo::LocalFrame;
use covey_its::{EarthPosition, GeoReference};
use covey_protocol::listener::{Known, LearnedFrom};
use covey_protocol::messages::{Confidence, Size};
use covey_protocol::{
    AgentId, AgentState, Cell, Instant, ObjectId, ObjectState, Position, Velocity,
};
use serde::{Deserialize, Serialize};

use super::nmea::Fix;
use crate::clock::{its_micros, unix_micros};

/// A line to the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// Where the own vehicle is.
    State(StateLine),
    /// What its sensors see, all of it.
    Sensed(SensedLine),
    /// How far the vehicle's time is ahead of the machine's clock.
    Clock(ClockLine),
    /// The node is to answer with all that it knows.
    Ask {},
    /// The node is to answer with all its counts.
    Count {},
    /// The node is to tell what happens from now on.
    Watch {},
}

/// Where the own vehicle is: the middle of its body, either on Earth or in the grid of the map.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateLine {
    /// Unix time in milliseconds; left out: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<f64>,
    /// Degrees, WGS 84.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    /// Degrees, WGS 84.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    /// Metres along the grid's first axis, in place of latitude and longitude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_m: Option<f64>,
    /// Metres along the grid's second axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_m: Option<f64>,
    /// Degrees clockwise from north; left out: as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading_deg: Option<f64>,
    /// Radians counter-clockwise from the grid's first axis, in place of `heading_deg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading_rad: Option<f64>,
    /// m/s along the heading, negative backwards.
    pub speed_m_s: f64,
    /// Length, width, height; left out: as configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_m: Option<[f64; 3]>,
}

/// What the sensors see.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensedLine {
    /// Unix time of sensing in milliseconds; left out: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<f64>,
    /// Every object in sight.
    #[serde(default)]
    pub objects: Vec<ObjectLine>,
    /// Cells of the grid in view, column and row; left out: those within range that no building hides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<[i32; 2]>>,
}

/// An object in sight.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectLine {
    /// The own number of its track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u16>,
    /// The station that it is, where perception knows, in place of `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station: Option<u32>,
    /// Metres to the east of the own vehicle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub east_m: Option<f64>,
    /// Metres to the north of the own vehicle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub north_m: Option<f64>,
    /// Degrees, in place of east and north.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    /// Degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    /// Metres along the grid's axes, in place of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_m: Option<f64>,
    /// Metres along the grid's second axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_m: Option<f64>,
    /// m/s to the east and to the north, or along the grid's axes where the place is told so.
    #[serde(default)]
    pub velocity_m_s: [f64; 2],
    /// Length, width, height; left out: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_m: Option<[f64; 3]>,
    /// How sure perception is, 0 to 1; left out: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Sensed so long before the line's time.
    #[serde(default)]
    pub age_ms: f64,
}

/// How far the vehicle's time is ahead.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockLine {
    /// Milliseconds.
    pub ahead_ms: f64,
}

/// What a node knows of an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownObject {
    /// The station, or who numbered it and its number: `17` or `17:3`.
    pub id: String,
    /// In the grid.
    pub x_m: f64,
    /// In the grid.
    pub y_m: f64,
    /// Degrees; none where the map is nowhere.
    pub latitude: Option<f64>,
    /// Degrees.
    pub longitude: Option<f64>,
    /// Along the grid's axes.
    pub velocity_m_s: [f64; 2],
    /// Length, width, height.
    pub size_m: [f64; 3],
    /// When it was sensed, Unix time in milliseconds.
    pub sensed_ms: f64,
    /// `sensing`, `beacon`, `report` or `broadcast`.
    pub source: String,
    /// Who reported or broadcast it.
    pub from: Option<u64>,
    /// 0 to 1.
    pub confidence: f64,
}

/// A line from the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// All that it knows.
    Known {
        /// Unix time in milliseconds.
        time_ms: f64,
        /// The own number.
        station: u64,
        /// The tile that it hosts.
        hosts: Option<[i32; 2]>,
        /// Whether a host asks for its reports.
        reports: bool,
        /// Every object.
        objects: Vec<KnownObject>,
    },
    /// All counts since it was switched on, by name.
    Counts {
        /// The own number.
        station: u64,
        /// Kilobytes of memory that the process has.
        resident_kb: u64,
        /// As on the page of metrics.
        counts: BTreeMap<String, u64>,
    },
    /// Something happened.
    Event {
        /// Unix time in milliseconds.
        time_ms: f64,
        /// What.
        event: String,
    },
    /// A line was no good.
    Error {
        /// What is wrong with it.
        problem: String,
    },
}

/// The instant of a Unix time in milliseconds.
#[must_use]
pub fn instant(time_ms: f64) -> Instant {
    Instant::from_micros(its_micros((time_ms * 1_000.0).round() as i64))
}

/// Unix time in milliseconds of an instant.
#[must_use]
pub fn millis(at: Instant) -> f64 {
    unix_micros(at) as f64 / 1_000.0
}

/// What lines are understood with.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a, G> {
    /// Where the grid lies.
    pub reference: &'a G,
    /// The own number.
    pub own: AgentId,
    /// The own vehicle as it was told last.
    pub last: Option<AgentState>,
    /// How large it is, where it does not tell.
    pub size: Size,
    /// What time it is.
    pub now: Instant,
}

fn size([length, width, height]: [f64; 3]) -> Size {
    Size {
        length,
        width,
        height,
    }
}

impl<G: GeoReference> Context<'_, G> {
    fn place(
        &self,
        what: &str,
        earth: (Option<f64>, Option<f64>),
        grid: (Option<f64>, Option<f64>),
    ) -> Result<Option<Position>, String> {
        match (earth, grid) {
            ((Some(latitude), Some(longitude)), (None, None)) => Some(EarthPosition::new(latitude, longitude))
                .filter(|earth| earth.is_valid())
                .and_then(|earth| self.reference.to_plane(earth))
                .map(Some)
                .ok_or(format!(
                    "{what}: found latitude {latitude}, longitude {longitude}, expected a place on the map"
                )),
            ((None, None), (Some(x), Some(y))) if x.is_finite() && y.is_finite() => {
                Ok(Some(Position::new(x, y)))
            }
            ((None, None), (None, None)) => Ok(None),
            _ => Err(format!(
                "{what}: expected both of latitude and longitude, or both of x_m and y_m"
            )),
        }
    }

    fn frame(&self, at: Position) -> Option<LocalFrame> {
        LocalFrame::at(self.reference, self.reference.to_earth(at)?)
    }

    fn at(&self, time_ms: Option<f64>) -> Result<Instant, String> {
        match time_ms {
            None => Ok(self.now),
            Some(time) if time.abs() < 1e15 => Ok(instant(time)),
            Some(found) => Err(format!(
                "time_ms: found {found}, expected milliseconds of Unix time"
            )),
        }
    }

    /// The state that a line tells, and when that was.
    ///
    /// # Errors
    /// Something is missing or no number.
    pub fn state(&self, line: &StateLine) -> Result<(AgentState, Instant), String> {
        let place = self.place(
            "state",
            (line.latitude, line.longitude),
            (line.x_m, line.y_m),
        )?;
        let position = place
            .ok_or("state: found no place, expected latitude and longitude, or x_m and y_m")?;
        let heading = match (line.heading_deg, line.heading_rad) {
            (_, Some(radians)) => radians,
            (Some(degrees), None) => self
                .frame(position)
                .map(|frame| frame.to_heading(degrees))
                .ok_or("state: the map's projection fails here")?,
            (None, None) => self.last.map_or(0.0, |last| last.heading),
        };
        let state = AgentState {
            position,
            heading,
            speed: line.speed_m_s,
            size: line.size_m.map_or(self.size, size),
        };
        if !state.is_finite() || state.speed.abs() > 200.0 {
            return Err(format!(
                "state: found speed {} and heading {heading}, expected numbers, at most 200 m/s",
                line.speed_m_s
            ));
        }
        Ok((state, self.at(line.time_ms)?))
    }

    /// The state that a receiver of satellites tells.
    ///
    /// # Errors
    /// It lies outside the map.
    pub fn fix(&self, fix: &Fix) -> Result<(AgentState, Instant), String> {
        let line = StateLine {
            latitude: Some(fix.latitude),
            longitude: Some(fix.longitude),
            heading_deg: fix.course,
            speed_m_s: fix.speed,
            ..StateLine::default()
        };
        // A receiver's position is a tenth of a second old, more or less, and its time is not taken: the machine's clock is kept by
        // other means.
        self.state(&line)
    }

    /// The objects that a line tells.
    ///
    /// # Errors
    /// One has no number, no place, or is told without a place of the own vehicle.
    pub fn objects(&self, line: &SensedLine) -> Result<Vec<ObjectState>, String> {
        let at = self.at(line.time_ms)?;
        let own = self.last.map(|last| last.position);
        let frame = own.and_then(|own| self.frame(own));
        let objects = line.objects.iter().enumerate();
        objects
            .map(|(number, object)| self.object(number, object, at, frame.as_ref()))
            .collect()
    }

    fn object(
        &self,
        number: usize,
        line: &ObjectLine,
        at: Instant,
        frame: Option<&LocalFrame>,
    ) -> Result<ObjectState, String> {
        let what = format!("sensed: objects[{number}]");
        let id = match (line.id, line.station) {
            (Some(id), None) => ObjectId::perceived(self.own, id),
            (None, Some(station)) => ObjectId(u64::from(station)),
            _ => return Err(format!("{what}: expected one of id and station")),
        };
        let in_grid = line.x_m.is_some();
        let place = self.place(&what, (line.latitude, line.longitude), (line.x_m, line.y_m))?;
        let needs = || format!("{what}: the own place is not known, which it is relative to");
        let position = match (place, line.east_m, line.north_m) {
            (Some(place), None, None) => place,
            (None, Some(east), Some(north)) => {
                let frame = frame.ok_or_else(needs)?;
                let (dx, dy) = frame.to_plane(east, north);
                Position::new(frame.origin.x + dx, frame.origin.y + dy)
            }
            _ => {
                return Err(format!(
                    "{what}: expected a place: east_m and north_m, latitude and longitude, or x_m and y_m"
                ));
            }
        };
        let [a, b] = line.velocity_m_s;
        let velocity = if in_grid {
            Velocity::new(a, b)
        } else {
            let (x, y) = frame.ok_or_else(needs)?.to_plane(a, b);
            Velocity::new(x, y)
        };
        let confidence = line.confidence.unwrap_or(1.0).clamp(0.0, 1.0) * 100.0;
        let age = covey_protocol::Duration::from_seconds(line.age_ms / 1_000.0);
        let state = ObjectState {
            id,
            position,
            velocity,
            size: line.size_m.map_or_else(Size::default, size),
            sensed_at: at - age,
            confidence: Confidence::from_percent(confidence as u8),
        };
        match state.is_finite() {
            true => Ok(state),
            false => Err(format!(
                "{what}: found a place or velocity that is no number"
            )),
        }
    }

    /// What is told of something known.
    #[must_use]
    pub fn known(&self, known: &Known) -> KnownObject {
        let state = &known.state;
        let earth = self.reference.to_earth(state.position);
        let (source, from) = match known.source {
            LearnedFrom::Sensing => ("sensing", None),
            LearnedFrom::Beacon => ("beacon", None),
            LearnedFrom::Report(by) => ("report", Some(by.0)),
            LearnedFrom::Broadcast(by) => ("broadcast", Some(by.0)),
        };
        KnownObject {
            id: state.id.to_string(),
            x_m: state.position.x,
            y_m: state.position.y,
            latitude: earth.map(|earth| earth.latitude),
            longitude: earth.map(|earth| earth.longitude),
            velocity_m_s: [state.velocity.x, state.velocity.y],
            size_m: [state.size.length, state.size.width, state.size.height],
            sensed_ms: millis(state.sensed_at),
            source: source.to_string(),
            from,
            confidence: f64::from(state.confidence.percent()) / 100.0,
        }
    }
}

/// Cells that a line gives.
#[must_use]
pub fn cells(list: &[[i32; 2]]) -> Vec<Cell> {
    list.iter().map(|&[ix, iy]| Cell::new(ix, iy)).collect()
}

#[cfg(test)]
mod tests {
    use covey_its::TangentPlane;

    use super::*;

    fn context(plane: &TangentPlane) -> Context<'_, TangentPlane> {
        Context {
            reference: plane,
            own: AgentId(7),
            last: Some(AgentState {
                position: Position::new(100.0, 50.0),
                heading: 1.0,
                ..AgentState::default()
            }),
            size: Size::default(),
            now: Instant::from_millis(5),
        }
    }

    fn parse(text: &str) -> Result<Line, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_documents_lines_are_read() {
        let document = include_str!("../../../../docs/node.md");
        let lines: Vec<&str> = document
            .lines()
            .filter(|line| line.starts_with("{\"type\":"))
            .collect();
        assert!(lines.len() >= 5, "{lines:?}");
        for line in lines {
            let read = parse(line).is_ok() || serde_json::from_str::<Answer>(line).is_ok();
            assert!(read, "{line}: {:?}", parse(line));
        }
    }

    #[test]
    fn places_are_relative_on_earth_or_in_the_grid() {
        let plane = TangentPlane::new(EarthPosition::new(35.6, 139.6), 90.0);
        let context = context(&plane);
        let Ok(Line::Sensed(line)) = parse(
            r#"{"type":"sensed","objects":[{"id":3,"east_m":10,"north_m":-5,"velocity_m_s":[1,0],"age_ms":100},{"station":9,"x_m":1,"y_m":2}]}"#,
        ) else {
            panic!("no line");
        };
        let objects = context.objects(&line).unwrap();
        assert!(
            objects[0].position.distance(Position::new(110.0, 45.0)) < 0.01,
            "{objects:?}"
        );
        assert_eq!(objects[0].id, ObjectId::perceived(AgentId(7), 3));
        assert_eq!(objects[0].sensed_at, Instant::from_millis(-95));
        assert_eq!(
            (objects[1].id, objects[1].position),
            (ObjectId(9), Position::new(1.0, 2.0))
        );
        let Ok(Line::State(line)) = parse(
            r#"{"type":"state","latitude":35.6,"longitude":139.6,"heading_deg":0,"speed_m_s":3}"#,
        ) else {
            panic!("no line");
        };
        let (state, at) = context.state(&line).unwrap();
        assert!(state.position.distance(Position::new(0.0, 0.0)) < 0.01);
        assert!((state.heading - std::f64::consts::FRAC_PI_2).abs() < 1e-6);
        assert_eq!(at, context.now);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"type":"stat"}"#,
            r#"{"type":"state","speed":3}"#,
            r#"{"type":"sensed","objcts":[]}"#,
            r#"{"type":"sensed","objects":[{"idd":1}]}"#,
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let plane = TangentPlane::new(EarthPosition::new(35.6, 139.6), 90.0);
        let context = context(&plane);
        for (bad, expected) in [
            (r#"{"type":"state","speed_m_s":3}"#, "found no place"),
            (
                r#"{"type":"state","speed_m_s":3,"latitude":1}"#,
                "expected both",
            ),
            (
                r#"{"type":"state","speed_m_s":300,"x_m":1,"y_m":1}"#,
                "found speed 300",
            ),
            (
                r#"{"type":"state","speed_m_s":3,"latitude":95,"longitude":1}"#,
                "found latitude 95",
            ),
        ] {
            let Ok(Line::State(line)) = parse(bad) else {
                panic!("{bad}");
            };
            let error = context.state(&line).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        for (bad, expected) in [
            (r#"{"x_m":1,"y_m":1}"#, "expected one of id and station"),
            (r#"{"id":1}"#, "expected a place"),
            (r#"{"id":1,"east_m":1}"#, "expected a place"),
        ] {
            let object: ObjectLine = serde_json::from_str(bad).unwrap();
            let line = SensedLine {
                objects: vec![object],
                ..SensedLine::default()
            };
            let error = context.objects(&line).unwrap_err();
            assert!(
                error.contains("objects[0]") && error.contains(expected),
                "{error}"
            );
        }
    }
}
