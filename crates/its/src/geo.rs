//! Where the map plane lies on Earth.
//!
//! Messages speak of latitude and longitude, and of metres to the east and to the north; the protocol speaks of a plane whose
//! axes may point anywhere. The caller's [`GeoReference`] knows both; a [`LocalFrame`] made of it turns directions and short
//! distances, with the projection's own scale and the convergence of its meridians.

use covey_protocol::Position;

/// A place on Earth, WGS84, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EarthPosition {
    /// North is positive.
    pub latitude: f64,
    /// East is positive.
    pub longitude: f64,
}

impl EarthPosition {
    /// From latitude and longitude in degrees.
    #[must_use]
    pub const fn new(latitude: f64, longitude: f64) -> Self {
        Self {
            latitude,
            longitude,
        }
    }

    /// Both are numbers, latitude within 90 and longitude within 180 degrees.
    #[must_use]
    pub fn is_valid(self) -> bool {
        self.latitude.abs() <= 90.0 && self.longitude.abs() <= 180.0
    }
}

/// The projection of the map: from the plane to Earth and back.
///
/// The two have to be inverse to each other within the map; places they do not know give `None`.
pub trait GeoReference {
    /// The place on Earth of `position` in the plane.
    fn to_earth(&self, position: Position) -> Option<EarthPosition>;
    /// The place in the plane of `earth`.
    fn to_plane(&self, earth: EarthPosition) -> Option<Position>;
}

/// Semi-major axis of WGS84, in metres.
const EARTH_AXIS_M: f64 = 6_378_137.0;
/// First eccentricity of WGS84, squared.
const ECCENTRICITY_2: f64 = 6.694_379_990_141_316e-3;

/// Metres per degree of latitude and of longitude.
fn metres_per_degree(latitude: f64) -> (f64, f64) {
    let phi = latitude.to_radians();
    let (sin, cos) = (libm::sin(phi), libm::cos(phi));
    let w2 = 1.0 - ECCENTRICITY_2 * sin * sin;
    let w = libm::sqrt(w2);
    let meridian = EARTH_AXIS_M * (1.0 - ECCENTRICITY_2) / (w2 * w);
    let parallel = EARTH_AXIS_M / w * cos;
    (meridian.to_radians(), parallel.to_radians())
}

/// A plane that touches Earth: for maps without a projection of their own.
///
/// Good to a centimetre within a few kilometres of its origin, and exactly invertible everywhere but at the poles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TangentPlane {
    origin: EarthPosition,
    /// Direction of true north in the plane: (cos, sin).
    north: (f64, f64),
    metres: (f64, f64),
}

impl TangentPlane {
    /// A plane whose origin lies at `origin` and whose first axis points `bearing_deg` degrees clockwise from north: 90 makes
    /// the first axis point east and the second north.
    #[must_use]
    pub fn new(origin: EarthPosition, bearing_deg: f64) -> Self {
        let bearing = bearing_deg.to_radians();
        Self {
            origin,
            north: (libm::cos(bearing), libm::sin(bearing)),
            metres: metres_per_degree(origin.latitude),
        }
    }
}

impl GeoReference for TangentPlane {
    fn to_earth(&self, p: Position) -> Option<EarthPosition> {
        let (c, s) = self.north;
        let north = c * p.x + s * p.y;
        let east = s * p.x - c * p.y;
        let earth = EarthPosition::new(
            self.origin.latitude + north / self.metres.0,
            self.origin.longitude + east / self.metres.1,
        );
        earth.is_valid().then_some(earth)
    }

    fn to_plane(&self, earth: EarthPosition) -> Option<Position> {
        let north = (earth.latitude - self.origin.latitude) * self.metres.0;
        let east = (earth.longitude - self.origin.longitude) * self.metres.1;
        let (c, s) = self.north;
        let p = Position::new(c * north + s * east, s * north - c * east);
        p.is_finite().then_some(p)
    }
}

/// East and north at one place of the plane, in true metres.
///
/// Sender and receiver make it of the same reference position, as rounded in the message, so that one undoes exactly what the
/// other did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalFrame {
    /// The place, in the plane.
    pub origin: Position,
    /// The plane's step per metre to the east, and to the north.
    east: (f64, f64),
    north: (f64, f64),
    determinant: f64,
}

impl LocalFrame {
    /// The frame at `place`; none where the projection fails.
    #[must_use]
    pub fn at(geo: &dyn GeoReference, place: EarthPosition) -> Option<Self> {
        const STEP_M: f64 = 10.0;
        let origin = geo.to_plane(place)?;
        let (per_lat, per_lon) = metres_per_degree(place.latitude);
        let (dlat, dlon) = (STEP_M / per_lat, STEP_M / per_lon);
        let step = |lat: f64, lon: f64| {
            geo.to_plane(EarthPosition::new(
                place.latitude + lat,
                place.longitude + lon,
            ))
        };
        let slope = |ahead: Position, behind: Position| {
            (
                (ahead.x - behind.x) / (2.0 * STEP_M),
                (ahead.y - behind.y) / (2.0 * STEP_M),
            )
        };
        let east = slope(step(0.0, dlon)?, step(0.0, -dlon)?);
        let north = slope(step(dlat, 0.0)?, step(-dlat, 0.0)?);
        let determinant = east.0 * north.1 - east.1 * north.0;
        // A projection that mirrors or squashes is none.
        (origin.is_finite() && determinant.is_finite() && determinant > 1e-6).then_some(Self {
            origin,
            east,
            north,
            determinant,
        })
    }

    /// A step (dx, dy) of the plane as metres to the east and to the north.
    #[must_use]
    pub fn to_east_north(&self, dx: f64, dy: f64) -> (f64, f64) {
        (
            (dx * self.north.1 - dy * self.north.0) / self.determinant,
            (dy * self.east.0 - dx * self.east.1) / self.determinant,
        )
    }

    /// Metres to the east and to the north as a step of the plane.
    #[must_use]
    pub fn to_plane(&self, east: f64, north: f64) -> (f64, f64) {
        (
            self.east.0 * east + self.north.0 * north,
            self.east.1 * east + self.north.1 * north,
        )
    }

    /// A direction, radians counter-clockwise from the plane's first axis, as degrees clockwise from true north, 0 to 360.
    #[must_use]
    pub fn to_bearing(&self, heading: f64) -> f64 {
        let (east, north) = self.to_east_north(libm::cos(heading), libm::sin(heading));
        let degrees = libm::atan2(east, north).to_degrees();
        if degrees < 0.0 {
            degrees + 360.0
        } else {
            degrees
        }
    }

    /// The inverse of [`LocalFrame::to_bearing`], within (-pi, pi].
    #[must_use]
    pub fn to_heading(&self, bearing_deg: f64) -> f64 {
        let bearing = bearing_deg.to_radians();
        let (x, y) = self.to_plane(libm::sin(bearing), libm::cos(bearing));
        libm::atan2(y, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn east_and_north_are_where_they_should_be() {
        let plane = TangentPlane::new(EarthPosition::new(35.6, 139.66), 90.0);
        let earth = plane.to_earth(Position::new(100.0, 0.0)).unwrap();
        assert!(earth.longitude > 139.66 && (earth.latitude - 35.6).abs() < 1e-12);
        let earth = plane.to_earth(Position::new(0.0, 100.0)).unwrap();
        // 110,949 m per degree at this latitude (WGS84 series).
        assert!(((earth.latitude - 35.6) * 110_949.0 - 100.0).abs() < 0.01);
        let frame = LocalFrame::at(&plane, EarthPosition::new(35.6, 139.66)).unwrap();
        for (heading, bearing) in [(0.0, 90.0), (90.0, 0.0), (180.0, 270.0), (-90.0, 180.0)] {
            let found = frame.to_bearing(f64::to_radians(heading));
            assert!((found - bearing).abs() < 1e-9 || (found - bearing - 360.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_turned_plane_goes_there_and_back() {
        let plane = TangentPlane::new(EarthPosition::new(-33.9, 18.4), 217.0);
        for (x, y) in [(0.0, 0.0), (1234.5, -77.0), (-5000.0, 4000.0)] {
            let back = plane
                .to_plane(plane.to_earth(Position::new(x, y)).unwrap())
                .unwrap();
            assert!((back.x - x).abs() < 1e-6 && (back.y - y).abs() < 1e-6);
        }
        let frame = LocalFrame::at(&plane, EarthPosition::new(-33.9, 18.4)).unwrap();
        // The first axis points to 217 degrees.
        assert!((frame.to_bearing(0.0) - 217.0).abs() < 1e-6);
        assert!((frame.to_heading(217.0)).abs() < 1e-6);
        let (east, north) = frame.to_east_north(3.0, 4.0);
        let (x, y) = frame.to_plane(east, north);
        assert!((x - 3.0).abs() < 1e-9 && (y - 4.0).abs() < 1e-9);
        assert!((libm::hypot(east, north) - 5.0).abs() < 1e-3);
    }

    #[test]
    fn places_that_are_none_give_none() {
        let plane = TangentPlane::new(EarthPosition::new(35.0, 139.0), 90.0);
        assert_eq!(plane.to_earth(Position::new(f64::NAN, 0.0)), None);
        assert_eq!(plane.to_earth(Position::new(0.0, 1e9)), None);
        assert_eq!(
            LocalFrame::at(&plane, EarthPosition::new(90.0, f64::NAN)),
            None
        );
    }
}
