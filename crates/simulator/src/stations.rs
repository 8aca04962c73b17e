//! Stations beside the road: fixed, with a radio and sensors, objects to nobody.

use std::path::Path;

use covey_parameters::parameters;
use covey_world::points::read_points;
use covey_world::scene::BodyKind;
use covey_world::sight::{Sensor, SensorHeight};
use covey_world::{Body, MapError, Point, VehicleId, VehicleState};
use serde::{Deserialize, Serialize};

use crate::classes::{pairs, sectors};
use crate::readings::Sensing;

parameters! {
    /// A station beside the road. It beacons, hears, looks, reports when asked and may host, as anybody with a radio.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Station, checked by Self::pairs {
        /// What it is called.
        name: String = String::new(), source "scenario";
        /// Where it stands, map x.
        x_m: f64 = 0.0, unit "m", source "scenario";
        /// Where it stands, map y.
        y_m: f64 = 0.0, unit "m", source "scenario";
        /// How high antenna and sensors are above the ground.
        height_m: f64 = 6.0, unit "m", range above(0.0).at_most(100.0), source "TR 37.885, table 6.1.1-1 (5 m); signal poles";
        /// How far it sees; left out: `sensing.range_m`. 0: it has no sensors.
        range_m: Option<f64> = None, unit "m", range at_least(0.0).at_most(1_000.0), source "design";
        /// Its main direction, counter-clockwise from map east; sectors count from it.
        heading_deg: f64 = 0.0, unit "°", range at_least(-360.0).at_most(360.0), source "scenario";
        /// Where it looks: pairs of directions counter-clockwise from `heading_deg`; none: all round.
        sectors_deg: Vec<f64> = Vec::new(), unit "°", range at_least(-360.0).at_most(360.0), source "design";
    }
}

/// The number of the first station: vehicles have lower ones.
pub(crate) const FIRST_STATION: u32 = 1 << 20;

/// Extent of a station's box, in metres: it hides nothing, but a place must have a size.
const EXTENT_M: f64 = 0.01;

impl Station {
    fn pairs(&self) -> Result<(), covey_parameters::OutOfRange> {
        pairs(&self.sectors_deg)
    }

    /// Stations from a file of SUMO's points of interest (`<poi>`) whose type begins with `rsu` or `roadside`.
    ///
    /// # Errors
    /// The file cannot be read, or a point lacks its place.
    pub fn read(file: &Path) -> Result<Vec<Self>, MapError> {
        let standard = Self::default();
        let points = read_points(file, &["rsu", "roadside"])?;
        let stations = points.into_iter().map(|point| Self {
            name: point.name,
            x_m: point.position.x,
            y_m: point.position.y,
            height_m: point.height.unwrap_or(standard.height_m),
            range_m: point.range,
            heading_deg: point.heading.unwrap_or(standard.heading_deg),
            sectors_deg: Vec::new(),
        });
        Ok(stations.collect())
    }

    /// Its state, as that of a vehicle that does not move.
    pub(crate) fn state(&self, number: usize) -> VehicleState {
        VehicleState {
            id: VehicleId(FIRST_STATION + number as u32),
            position: Point::new(self.x_m, self.y_m),
            heading: self.heading_deg.to_radians(),
            speed: 0.0,
            body: Body {
                length: EXTENT_M,
                width: EXTENT_M,
                height: self.height_m,
                kind: BodyKind::Roadside,
            },
            lane: None,
            lane_position: 0.0,
            next: None,
        }
    }

    /// Its sensors.
    pub(crate) fn sensor(&self, sensing: &Sensing) -> Sensor {
        Sensor {
            range: self.range_m.unwrap_or(sensing.range_m),
            height: SensorHeight::AboveGround(self.height_m),
            sectors: sectors(&self.sectors_deg),
        }
    }
}
