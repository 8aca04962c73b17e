//! Between the map plane and the earth.
//!
//! SUMO writes the projection as a PROJ string and the shift that it added to the projected coordinates. Two more forms
//! are read: `!` for none, and `-` for SUMO's simple projection (degrees times metres per degree).

use std::fmt;

use proj4rs::Proj;

use crate::geometry::Point;
use crate::network::Location;

/// SUMO's simple projection: metres per degree of longitude at the equator, and of latitude.
const SIMPLE_METRES_PER_DEGREE: (f64, f64) = (111_320.0, 111_136.0);

/// A place on the earth, WGS 84.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LonLat {
    /// Degrees east.
    pub lon: f64,
    /// Degrees north.
    pub lat: f64,
}

/// Why coordinates could not be converted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The PROJ string is not understood.
    #[error(
        "projection \"{text}\" is not understood ({problem}); make the net with a UTM projection (netconvert --proj.utm)"
    )]
    Unknown {
        /// The PROJ string.
        text: String,
        /// What the projection library said.
        problem: String,
    },
    /// A point lies where the projection is not defined.
    #[error("({x}, {y}) cannot be projected ({problem}); check that it belongs to this map")]
    OutOfRange {
        /// First coordinate, metres or degrees.
        x: f64,
        /// Second coordinate.
        y: f64,
        /// What the projection library said.
        problem: String,
    },
}

enum Method {
    Simple,
    Proj { plane: Box<Proj>, earth: Box<Proj> },
}

/// Converts between a map's plane and longitude and latitude (WGS 84).
///
/// There and back again differs by less than 2 cm (millimetres for UTM).
pub struct Projection {
    method: Method,
    offset: Point,
    text: String,
}

impl fmt::Debug for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projection")
            .field("text", &self.text)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl Projection {
    /// The projection of a net's location; `None` where the net has none (`!`).
    ///
    /// # Errors
    /// If the PROJ string is not understood.
    pub fn new(location: &Location) -> Result<Option<Self>, ProjectionError> {
        let text = location.projection.trim();
        let method = match text {
            "!" | "" => return Ok(None),
            "-" => Method::Simple,
            _ => {
                let proj = |text: &str| {
                    Proj::from_proj_string(text).map_err(|error| ProjectionError::Unknown {
                        text: crate::shorten::shorten(text),
                        problem: error.to_string(),
                    })
                };
                Method::Proj {
                    plane: Box::new(proj(text)?),
                    earth: Box::new(proj("+proj=longlat +datum=WGS84 +no_defs")?),
                }
            }
        };
        Ok(Some(Self {
            method,
            offset: location.offset,
            text: text.to_owned(),
        }))
    }

    /// Where a point of the map lies on the earth.
    ///
    /// # Errors
    /// If the projection is not defined there.
    pub fn to_earth(&self, p: Point) -> Result<LonLat, ProjectionError> {
        let plane = p - self.offset;
        match &self.method {
            Method::Simple => {
                let lat = plane.y / SIMPLE_METRES_PER_DEGREE.1;
                let lon = plane.x / SIMPLE_METRES_PER_DEGREE.0 / lat.to_radians().cos();
                Self::checked(lon, lat, p.x, p.y).map(|(lon, lat)| LonLat { lon, lat })
            }
            Method::Proj {
                plane: from,
                earth: to,
            } => {
                let (lon, lat) = Self::convert(from, to, plane.x, plane.y)?;
                Ok(LonLat {
                    lon: lon.to_degrees(),
                    lat: lat.to_degrees(),
                })
            }
        }
    }

    /// Where a place on the earth lies on the map.
    ///
    /// # Errors
    /// If the projection is not defined there.
    pub fn to_map(&self, place: LonLat) -> Result<Point, ProjectionError> {
        let (x, y) = match &self.method {
            Method::Simple => Self::checked(
                place.lon * SIMPLE_METRES_PER_DEGREE.0 * place.lat.to_radians().cos(),
                place.lat * SIMPLE_METRES_PER_DEGREE.1,
                place.lon,
                place.lat,
            )?,
            Method::Proj { plane, earth } => {
                Self::convert(earth, plane, place.lon.to_radians(), place.lat.to_radians())?
            }
        };
        Ok(Point::new(x, y) + self.offset)
    }

    fn convert(from: &Proj, to: &Proj, x: f64, y: f64) -> Result<(f64, f64), ProjectionError> {
        let (a, b) = proj4rs::adaptors::transform_xy(from, to, x, y).map_err(|error| {
            ProjectionError::OutOfRange {
                x,
                y,
                problem: error.to_string(),
            }
        })?;
        Self::checked(a, b, x, y)
    }

    fn checked(a: f64, b: f64, x: f64, y: f64) -> Result<(f64, f64), ProjectionError> {
        if a.is_finite() && b.is_finite() {
            Ok((a, b))
        } else {
            Err(ProjectionError::OutOfRange {
                x,
                y,
                problem: "the result is not a finite number".to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geographiclib_rs::{Geodesic, InverseGeodesic};

    fn utm54(offset: Point) -> Projection {
        Projection::new(&Location {
            projection: "+proj=utm +zone=54 +ellps=WGS84 +datum=WGS84 +units=m +no_defs".to_owned(),
            offset,
        })
        .unwrap()
        .unwrap()
    }

    /// Distance on the ellipsoid, by an independent implementation.
    fn metres(a: LonLat, b: LonLat) -> f64 {
        Geodesic::wgs84().inverse(a.lat, a.lon, b.lat, b.lon)
    }

    #[test]
    fn there_and_back_is_closer_than_two_centimetres() {
        let utm = utm54(Point::new(-379_464.22, -3_944_946.85));
        for i in 0..200 {
            let p = Point::new(f64::from(i) * 31.0 - 2000.0, f64::from(i * i % 97) * 53.0);
            let back = utm.to_map(utm.to_earth(p).unwrap()).unwrap();
            assert!(p.distance(back) < 0.001, "{p:?} {back:?}");
        }
    }

    #[test]
    fn known_values_of_utm() {
        // The central meridian of zone 54 is 141 E: easting exactly 500 km there, and at the equator northing 0.
        let utm = utm54(Point::default());
        let p = utm
            .to_map(LonLat {
                lon: 141.0,
                lat: 0.0,
            })
            .unwrap();
        assert!(p.distance(Point::new(500_000.0, 0.0)) < 0.001, "{p:?}");
        // The arc of the meridian from the equator to 35.65 N times UTM's scale of 0.9996, by geographiclib.
        let place = LonLat {
            lon: 141.0,
            lat: 35.65,
        };
        let arc = metres(
            LonLat {
                lon: 141.0,
                lat: 0.0,
            },
            place,
        );
        let p = utm.to_map(place).unwrap();
        assert!((p.y - arc * 0.9996).abs() < 0.01, "{p:?} {arc}");
    }

    #[test]
    fn distances_agree_with_the_ellipsoid_up_to_the_scale_of_the_projection() {
        // Off the axis of a transverse Mercator projection the scale is 0.9996 (1 + dx^2 / 2 R^2).
        let utm = utm54(Point::new(-380_000.0, -3_940_000.0));
        let a = LonLat {
            lon: 139.70432,
            lat: 35.65806,
        };
        let b = LonLat {
            lon: 139.67108,
            lat: 35.64335,
        };
        let plane = utm.to_map(a).unwrap().distance(utm.to_map(b).unwrap());
        let offset_from_axis: f64 = 118_900.0;
        let scale = 0.9996 * (1.0 + (offset_from_axis / 6_371_000.0).powi(2) / 2.0);
        assert!((plane - metres(a, b) * scale).abs() < 0.05, "{plane}");
    }

    #[test]
    fn the_simple_projection_inverts_itself() {
        let simple = Projection::new(&Location {
            projection: "-".to_owned(),
            offset: Point::new(10.0, 20.0),
        })
        .unwrap()
        .unwrap();
        let place = LonLat {
            lon: 13.4,
            lat: 52.5,
        };
        let back = simple.to_earth(simple.to_map(place).unwrap()).unwrap();
        assert!(metres(place, back) < 0.001, "{back:?}");
    }

    #[test]
    fn no_projection_and_nonsense_are_told_apart() {
        let location = |text: &str| Location {
            projection: text.to_owned(),
            offset: Point::default(),
        };
        assert!(Projection::new(&location("!")).unwrap().is_none());
        let error = Projection::new(&location("+proj=nonsense")).unwrap_err();
        assert!(error.to_string().contains("nonsense"), "{error}");
        let utm = utm54(Point::default());
        assert!(
            utm.to_map(LonLat {
                lon: f64::NAN,
                lat: 0.0
            })
            .is_err()
        );
    }
}
