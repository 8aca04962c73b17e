//! Where the grid of a run lies on Earth: grid frame, map plane, WGS 84 and back.
//!
//! Messages speak of latitude and longitude, the protocol of the grid frame. A place comes back within 2 cm, most of it the
//! resolution of a message (1e-7 degree).

use covey_its::{EarthPosition, GeoReference, TangentPlane};
use covey_protocol::Position;
use covey_protocol::messages::{AgentState, Size};
use covey_world::network::Location;
use covey_world::projection::ProjectionError;
use covey_world::scene::BodyKind;
use covey_world::{Body, GridFrame, LonLat, Map, Point, Projection, VehicleState};

use crate::scenario::{Scenario, ScenarioError};

/// The place of a scenario's grid on Earth.
#[derive(Debug)]
pub struct MapReference {
    grid: GridFrame,
    /// Direction of the grid's first axis in the map plane.
    azimuth: f64,
    earth: Earth,
}

#[derive(Debug)]
enum Earth {
    Projected(Box<Projection>),
    Nowhere(TangentPlane),
}

impl MapReference {
    /// Of a map whose plane lies where `location` says, with a grid laid over it.
    ///
    /// A map without a projection is put where the equator meets the zero meridian, its x axis pointing east: such a map is
    /// nowhere, but its messages are whole.
    ///
    /// # Errors
    /// The projection is not understood.
    pub fn new(location: Option<&Location>, grid: GridFrame) -> Result<Self, ProjectionError> {
        let projection = match location {
            Some(location) => Projection::new(location)?,
            None => None,
        };
        let axis = grid.turn_to_map(Point::new(1.0, 0.0));
        Ok(Self {
            grid,
            azimuth: axis.y.atan2(axis.x),
            earth: projection.map_or_else(
                || Earth::Nowhere(TangentPlane::new(EarthPosition::default(), 90.0)),
                |projection| Earth::Projected(Box::new(projection)),
            ),
        })
    }

    /// Of a scenario and its map.
    ///
    /// # Errors
    /// The map's projection is not understood, or the grid is none.
    pub fn of(scenario: &Scenario, map: &Map) -> Result<Self, ScenarioError> {
        let value = |problem: String| ScenarioError::Value {
            file: scenario.name.clone(),
            problem,
        };
        let origin = Point::new(scenario.grid.origin_x_m, scenario.grid.origin_y_m);
        let azimuth = scenario.grid.azimuth_deg.to_radians();
        let grid = GridFrame::new(origin, azimuth, scenario.protocol.cell_m)
            .ok_or_else(|| value("grid: not a grid".to_string()))?;
        Self::new(map.network.location.as_ref(), grid)
            .map_err(|error| value(format!("{}: {error}", scenario.net().display())))
    }

    /// The map says where it lies.
    #[must_use]
    pub fn is_projected(&self) -> bool {
        matches!(self.earth, Earth::Projected(_))
    }

    /// A vehicle of the map plane as its messages tell it.
    #[must_use]
    pub fn agent_state(&self, vehicle: &VehicleState) -> AgentState {
        let p = self.grid.to_grid(vehicle.position);
        AgentState {
            position: Position::new(p.x, p.y),
            heading: vehicle.heading - self.azimuth,
            speed: vehicle.speed,
            size: size_of(&vehicle.body),
        }
    }
}

/// The size of a body as participants tell it.
pub(crate) fn size_of(body: &Body) -> Size {
    match body.kind {
        BodyKind::Roadside => Size::roadside(body.height),
        _ => Size {
            length: body.length,
            width: body.width,
            height: body.height,
        },
    }
}

impl GeoReference for MapReference {
    fn to_earth(&self, position: Position) -> Option<EarthPosition> {
        let map = self.grid.to_map(Point::new(position.x, position.y));
        match &self.earth {
            Earth::Projected(projection) => {
                let place = projection.to_earth(map).ok()?;
                let earth = EarthPosition::new(place.lat, place.lon);
                earth.is_valid().then_some(earth)
            }
            Earth::Nowhere(plane) => plane.to_earth(Position::new(map.x, map.y)),
        }
    }

    fn to_plane(&self, earth: EarthPosition) -> Option<Position> {
        if !earth.is_valid() {
            return None;
        }
        let map = match &self.earth {
            Earth::Projected(projection) => {
                let place = LonLat {
                    lon: earth.longitude,
                    lat: earth.latitude,
                };
                projection.to_map(place).ok()?
            }
            Earth::Nowhere(plane) => {
                let p = plane.to_plane(earth)?;
                Point::new(p.x, p.y)
            }
        };
        let grid = self.grid.to_grid(map);
        grid.is_finite().then(|| Position::new(grid.x, grid.y))
    }
}

#[cfg(test)]
mod tests {
    use covey_its::cam::WirePosition;
    use covey_its::{ItsTime, Wire};
    use covey_protocol::messages::Beacon;
    use covey_protocol::{AgentId, Instant};
    use proptest::prelude::*;

    use super::*;

    /// The corridor's: UTM zone 54, the grid turned by 29.42 degrees.
    fn corridor() -> MapReference {
        let location = Location {
            projection: "+proj=utm +zone=54 +ellps=WGS84 +datum=WGS84 +units=m +no_defs".to_owned(),
            offset: Point::new(-379_464.22, -3_944_946.85),
        };
        let grid = GridFrame::new(Point::new(470.0, 276.9), 29.42_f64.to_radians(), 20.0);
        MapReference::new(Some(&location), grid.unwrap()).unwrap()
    }

    fn simple() -> MapReference {
        let location = Location {
            projection: "-".to_owned(),
            offset: Point::new(-1_491_700.0, -5_834_600.0),
        };
        let grid = GridFrame::new(Point::new(-40.0, 12.5), -2.0, 20.0).unwrap();
        MapReference::new(Some(&location), grid).unwrap()
    }

    fn nowhere() -> MapReference {
        let grid = GridFrame::new(Point::new(100.0, 0.0), 1.0, 20.0).unwrap();
        MapReference::new(None, grid).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_place_comes_back_within_two_centimetres(x in -6_000.0..6_000.0_f64, y in -6_000.0..6_000.0_f64) {
            for reference in [corridor(), simple(), nowhere()] {
                let there = Position::new(x, y);
                let earth = reference.to_earth(there).unwrap();
                let back = reference.to_plane(earth).unwrap();
                prop_assert!(back.distance(there) < 0.001, "{reference:?} {there:?} {back:?}");
                // As rounded in a message.
                let rounded = WirePosition::of(earth).and_then(WirePosition::to_earth).unwrap();
                let back = reference.to_plane(rounded).unwrap();
                prop_assert!(back.distance(there) < 0.02, "{reference:?} {there:?} {back:?}");
            }
        }

        #[test]
        fn a_beacon_comes_back_through_the_projection(
            x in -6_000.0..6_000.0_f64, y in -6_000.0..6_000.0_f64, heading in -3.0..3.0_f64, speed in 0.0..50.0_f64,
        ) {
            for reference in [corridor(), simple(), nowhere()] {
                let wire = Wire::new(&reference, ItsTime(700_000_000_000));
                let size = Size { length: 4.5, width: 1.8, height: 1.5 };
                let state = AgentState { position: Position::new(x, y), heading, speed, size };
                let beacon = Beacon { sender: AgentId(1), at: Instant::ZERO, state, digest: None, low_frequency: false };
                let heard = wire.beacon(&wire.cam(&beacon, None).unwrap(), Instant::ZERO).unwrap().state;
                prop_assert!(heard.position.distance(state.position) < 0.02, "{heard:?}");
                // Half a step of 0.1 degrees; SUMO's simple projection skews angles by up to a third here.
                prop_assert!((heard.heading - heading).abs() < 0.07_f64.to_radians(), "{heard:?}");
                prop_assert!((heard.speed - speed).abs() < 0.0051);
            }
        }
    }

    #[test]
    fn the_corridor_lies_in_tokyo_and_its_grid_points_east_north_east() {
        let reference = corridor();
        assert!(reference.is_projected());
        let earth = reference.to_earth(Position::new(0.0, 0.0)).unwrap();
        assert!((35.5..35.8).contains(&earth.latitude), "{earth:?}");
        assert!((139.5..139.9).contains(&earth.longitude), "{earth:?}");
        // Map east is 29.42 degrees clockwise of the grid's first axis; true north differs from the map's by the convergence, about
        // (139.67 - 141) sin(35.6) = -0.77 degrees.
        let frame = covey_its::geo::LocalFrame::at(&reference, earth).unwrap();
        let bearing = frame.to_bearing(0.0);
        assert!((bearing - (90.0 - 29.42 - 0.77)).abs() < 0.1, "{bearing}");
    }

    #[test]
    fn vehicles_are_turned_into_the_grid() {
        let reference = nowhere();
        assert!(!reference.is_projected());
        let vehicle = VehicleState {
            id: covey_world::VehicleId(3),
            position: Point::new(100.0 + 1.0_f64.cos(), 1.0_f64.sin()),
            heading: 1.5,
            speed: 7.0,
            body: covey_world::Body::CAR,
            lane: None,
            lane_position: 0.0,
            next: None,
        };
        let state = reference.agent_state(&vehicle);
        assert!(state.position.distance(Position::new(1.0, 0.0)) < 1e-9);
        assert!((state.heading - 0.5).abs() < 1e-9);
        assert_eq!((state.speed, state.size.length), (7.0, 5.0));
    }

    #[test]
    fn places_that_are_none_give_none() {
        for reference in [corridor(), simple(), nowhere()] {
            assert_eq!(reference.to_earth(Position::new(f64::NAN, 0.0)), None);
            assert_eq!(reference.to_plane(EarthPosition::new(91.0, 0.0)), None);
            assert_eq!(reference.to_plane(EarthPosition::new(f64::NAN, 0.0)), None);
        }
    }
}
