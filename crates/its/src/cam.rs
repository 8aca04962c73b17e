//! The cooperative awareness message: where a station is, and where it can see.
//!
//! EN 302 637-2 v1.4.1, which receivers of TS 103 900 read as well. The coverage digest is the second
//! extension addition of `CamParameters`, an OCTET STRING of the digest's own bytes; stations that do not know it skip it.

use c_its_parser::standards::cam_1_4_1::cam_pdu_descriptions as stock;
use c_its_parser::standards::cdd_1_3_1_1::its_container as cdd;
use covey_protocol::CoverageDigest;
use rasn::types::FixedBitString;

use crate::asn::{CamMessage, CamParameters, CoopAwareness, OpenBytes};
use crate::error::{DecodeError, EncodeError};
use crate::{EarthPosition, MAX_MESSAGE_LEN};

/// Identifies a CAM in the ITS PDU header.
pub const MESSAGE_ID: u8 = 2;
/// The protocol version that is written, and that EN 302 637-2 v1.4.1 and TS 103 900 share. Version 1 is an older CAM with
/// other ranges, which is not read.
pub const PROTOCOL_VERSION: u8 = 2;
/// Station type of a passenger car.
pub const PASSENGER_CAR: u8 = 5;
/// Station type of a station beside the road.
pub const ROADSIDE_UNIT: u8 = 15;

const HEADING_UNAVAILABLE: u16 = 3601;
const SPEED_UNAVAILABLE: u16 = 16_383;
/// The greatest speed, 163.82 m/s: faster ones are said to be as fast.
pub const SPEED_MAX: u16 = 16_382;
const LENGTH_UNAVAILABLE: u16 = 1_023;
/// The greatest vehicle length, 102.2 m; it also means "longer".
pub const LENGTH_MAX: u16 = 1_022;
const WIDTH_UNAVAILABLE: u8 = 62;
/// The greatest vehicle width, 6.1 m; it also means "wider".
pub const WIDTH_MAX: u8 = 61;
/// The most points of a path history.
pub const PATH_MAX: usize = 40;

/// A position as messages carry it: tenths of a microdegree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WirePosition {
    /// -900000000 to 900000000.
    pub latitude: i32,
    /// -1800000000 to 1800000000.
    pub longitude: i32,
}

impl WirePosition {
    /// What stands for "unavailable".
    pub const UNAVAILABLE: Self = Self {
        latitude: 900_000_001,
        longitude: 1_800_000_001,
    };

    /// The nearest one to `earth`; none if it is not on Earth.
    #[must_use]
    pub fn of(earth: EarthPosition) -> Option<Self> {
        let steps = |degrees: f64| libm::round(degrees * 1e7) as i32;
        earth.is_valid().then(|| Self {
            latitude: steps(earth.latitude),
            longitude: steps(earth.longitude),
        })
    }

    /// In degrees; none if either is marked unavailable.
    #[must_use]
    pub fn to_earth(self) -> Option<EarthPosition> {
        let earth = EarthPosition::new(
            f64::from(self.latitude) * 1e-7,
            f64::from(self.longitude) * 1e-7,
        );
        (self.latitude <= 900_000_000 && self.longitude <= 1_800_000_000 && earth.is_valid())
            .then_some(earth)
    }
}

/// A point that the vehicle passed, relative to the next newer one, or to the vehicle for the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPoint {
    /// In tenths of a microdegree, -131071 to 131071; 131072 is unavailable.
    pub latitude: i32,
    /// In tenths of a microdegree, -131071 to 131071; 131072 is unavailable.
    pub longitude: i32,
    /// How long ago, in steps of 10 ms from 1 to 65535.
    pub age: Option<u16>,
}

/// The digest as a CAM carried it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CarriedDigest {
    /// The cells that the sender sees.
    Cells(CoverageDigest),
    /// 1 to 255 bytes in its place that are no digest.
    Unreadable(Vec<u8>),
    /// An addition in its place that is no octet string of 1 to 255 bytes: all its bytes.
    Foreign(Vec<u8>),
}

impl CarriedDigest {
    fn of(OpenBytes(addition): &OpenBytes) -> Self {
        match addition.split_first() {
            Some((&length, bytes)) if length < 255 && bytes.len() == usize::from(length) + 1 => {
                CoverageDigest::decode(bytes)
                    .map_or_else(|_| Self::Unreadable(bytes.to_vec()), Self::Cells)
            }
            _ => Self::Foreign(addition.clone()),
        }
    }

    fn to_asn(&self) -> Result<OpenBytes, EncodeError> {
        let bytes = match self {
            Self::Cells(digest) => digest.encode(),
            Self::Unreadable(bytes) => bytes.clone(),
            Self::Foreign(addition) => return Ok(OpenBytes(addition.clone())),
        };
        if !(1..=255).contains(&bytes.len()) {
            return Err(EncodeError::Field {
                field: "the digest's length in bytes",
                found: bytes.len() as i64,
                low: 1,
                high: 255,
            });
        }
        let length = [(bytes.len() - 1) as u8];
        Ok(OpenBytes([&length[..], &bytes].concat()))
    }
}

/// A CAM in the units of the standard; `None` where it says "unavailable".
///
/// What the protocol does not use (acceleration, curvature, lights, special vehicles) is written as unavailable and not kept
/// when read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cam {
    /// The station that sent it.
    pub station_id: u32,
    /// What kind of station, 5 for a passenger car.
    pub station_type: u8,
    /// When: milliseconds of ITS time, modulo 65536.
    pub generation_ms: u16,
    /// The middle of the vehicle's front, on the ground.
    pub position: WirePosition,
    /// Tenths of a degree clockwise from north, 0 to 3600.
    pub heading: Option<u16>,
    /// Hundredths of m/s, 0 to [`SPEED_MAX`].
    pub speed: Option<u16>,
    /// The vehicle goes backwards; none if not said.
    pub backward: Option<bool>,
    /// Tenths of a metre, 1 to [`LENGTH_MAX`].
    pub length: Option<u16>,
    /// Tenths of a metre, 1 to [`WIDTH_MAX`].
    pub width: Option<u8>,
    /// The path history of the low-frequency container, newest first, where the message has that container.
    pub path: Option<Vec<PathPoint>>,
    /// Where the station can see.
    pub digest: Option<CarriedDigest>,
}

impl Cam {
    /// The bytes, unaligned PER.
    ///
    /// # Errors
    /// A field holds a value outside its documented range.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let refused = |error: rasn::error::EncodeError| EncodeError::Asn1(error.to_string());
        rasn::uper::encode(&self.to_asn()?).map_err(refused)
    }

    /// The message that `bytes` are. Whatever stands in the digest's place, the CAM counts, see [`CarriedDigest`].
    ///
    /// # Errors
    /// The bytes are no CAM, or longer than [`MAX_MESSAGE_LEN`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.len() > MAX_MESSAGE_LEN {
            return Err(DecodeError::TooLong { found: bytes.len() });
        }
        check_header(bytes, MESSAGE_ID, "a CAM, message id 2")?;
        let message: CamMessage = rasn::uper::decode(bytes).map_err(|error| DecodeError::Asn1 {
            message: "CAM",
            reason: error.to_string(),
        })?;
        Ok(Self::from_asn(&message))
    }

    fn to_asn(&self) -> Result<CamMessage, EncodeError> {
        let unavailable_altitude = cdd::Altitude {
            altitude_value: cdd::AltitudeValue(800_001),
            altitude_confidence: cdd::AltitudeConfidence::unavailable,
        };
        let basic = stock::BasicContainer::new(
            cdd::StationType(self.station_type),
            cdd::ReferencePosition {
                latitude: cdd::Latitude(self.position.latitude),
                longitude: cdd::Longitude(self.position.longitude),
                position_confidence_ellipse: cdd::PosConfidenceEllipse {
                    semi_major_confidence: cdd::SemiAxisLength(4095),
                    semi_minor_confidence: cdd::SemiAxisLength(4095),
                    semi_major_orientation: cdd::HeadingValue(HEADING_UNAVAILABLE),
                },
                altitude: unavailable_altitude,
            },
        );
        let digest = self
            .digest
            .as_ref()
            .map(CarriedDigest::to_asn)
            .transpose()?;
        let low = self.path.as_ref().map(|path| {
            stock::LowFrequencyContainer::basicVehicleContainerLowFrequency(
                stock::BasicVehicleContainerLowFrequency {
                    vehicle_role: cdd::VehicleRole::default,
                    exterior_lights: cdd::ExteriorLights(FixedBitString::<8>::default()),
                    path_history: cdd::PathHistory(path.iter().map(path_point).collect()),
                },
            )
        });
        Ok(CamMessage {
            header: cdd::ItsPduHeader {
                protocol_version: PROTOCOL_VERSION,
                message_id: MESSAGE_ID,
                station_id: cdd::StationID(self.station_id),
            },
            cam: CoopAwareness {
                generation_delta_time: stock::GenerationDeltaTime(self.generation_ms),
                cam_parameters: CamParameters {
                    basic_container: basic,
                    high_frequency_container: if self.is_roadside() {
                        stock::HighFrequencyContainer::rsuContainerHighFrequency(
                            stock::RSUContainerHighFrequency::new(None),
                        )
                    } else {
                        stock::HighFrequencyContainer::basicVehicleContainerHighFrequency(
                            self.high_frequency(),
                        )
                    },
                    low_frequency_container: low,
                    special_vehicle_container: None,
                    extension_containers: None,
                    coverage_digest: digest,
                },
            },
        })
    }

    /// It is of a station beside the road, which has neither motion nor size: its high-frequency container is another one.
    #[must_use]
    pub fn is_roadside(&self) -> bool {
        self.station_type == ROADSIDE_UNIT
            && (self.heading, self.speed, self.backward) == (None, None, None)
            && (self.length, self.width) == (None, None)
    }

    /// The container of every vehicle's CAM; what we do not know is marked so.
    fn high_frequency(&self) -> stock::BasicVehicleContainerHighFrequency {
        stock::BasicVehicleContainerHighFrequency {
            heading: cdd::Heading {
                heading_value: cdd::HeadingValue(self.heading.unwrap_or(HEADING_UNAVAILABLE)),
                heading_confidence: cdd::HeadingConfidence(127),
            },
            speed: cdd::Speed {
                speed_value: cdd::SpeedValue(self.speed.unwrap_or(SPEED_UNAVAILABLE)),
                speed_confidence: cdd::SpeedConfidence(127),
            },
            drive_direction: match self.backward {
                Some(false) => cdd::DriveDirection::forward,
                Some(true) => cdd::DriveDirection::backward,
                None => cdd::DriveDirection::unavailable,
            },
            vehicle_length: cdd::VehicleLength {
                vehicle_length_value: cdd::VehicleLengthValue(
                    self.length.unwrap_or(LENGTH_UNAVAILABLE),
                ),
                vehicle_length_confidence_indication:
                    cdd::VehicleLengthConfidenceIndication::trailerPresenceIsUnknown,
            },
            vehicle_width: cdd::VehicleWidth(self.width.unwrap_or(WIDTH_UNAVAILABLE)),
            longitudinal_acceleration: cdd::LongitudinalAcceleration {
                longitudinal_acceleration_value: cdd::LongitudinalAccelerationValue(161),
                longitudinal_acceleration_confidence: cdd::AccelerationConfidence(102),
            },
            curvature: cdd::Curvature {
                curvature_value: cdd::CurvatureValue(1023),
                curvature_confidence: cdd::CurvatureConfidence::unavailable,
            },
            curvature_calculation_mode: cdd::CurvatureCalculationMode::unavailable,
            yaw_rate: cdd::YawRate {
                yaw_rate_value: cdd::YawRateValue(32_767),
                yaw_rate_confidence: cdd::YawRateConfidence::unavailable,
            },
            acceleration_control: None,
            lane_position: None,
            steering_wheel_angle: None,
            lateral_acceleration: None,
            vertical_acceleration: None,
            performance_class: None,
            cen_dsrc_tolling_zone: None,
        }
    }

    fn from_asn(message: &CamMessage) -> Self {
        let parameters = &message.cam.cam_parameters;
        let basic = &parameters.basic_container;
        let low = parameters.low_frequency_container.as_ref();
        let vehicle = match &parameters.high_frequency_container {
            stock::HighFrequencyContainer::basicVehicleContainerHighFrequency(vehicle) => {
                Some(vehicle)
            }
            _ => None,
        };
        let path = match low {
            Some(stock::LowFrequencyContainer::basicVehicleContainerLowFrequency(low)) => Some(
                low.path_history
                    .0
                    .iter()
                    .map(|point| PathPoint {
                        latitude: point.path_position.delta_latitude.0,
                        longitude: point.path_position.delta_longitude.0,
                        // Times over ten minutes are in the type's extension: not kept.
                        age: point
                            .path_delta_time
                            .as_ref()
                            .and_then(|age| u16::try_from(&age.0).ok()),
                    })
                    .collect(),
            ),
            _ => None,
        };
        Self {
            station_id: message.header.station_id.0,
            station_type: basic.station_type.0,
            generation_ms: message.cam.generation_delta_time.0,
            position: WirePosition {
                latitude: basic.reference_position.latitude.0,
                longitude: basic.reference_position.longitude.0,
            },
            heading: vehicle
                .map(|v| v.heading.heading_value.0)
                .filter(|&heading| heading < HEADING_UNAVAILABLE),
            speed: vehicle
                .map(|v| v.speed.speed_value.0)
                .filter(|&speed| speed < SPEED_UNAVAILABLE),
            backward: vehicle.and_then(|v| match v.drive_direction {
                cdd::DriveDirection::forward => Some(false),
                cdd::DriveDirection::backward => Some(true),
                cdd::DriveDirection::unavailable => None,
            }),
            length: vehicle
                .map(|v| v.vehicle_length.vehicle_length_value.0)
                .filter(|&length| length < LENGTH_UNAVAILABLE),
            width: vehicle
                .map(|v| v.vehicle_width.0)
                .filter(|&width| width < WIDTH_UNAVAILABLE),
            path,
            digest: parameters.coverage_digest.as_ref().map(CarriedDigest::of),
        }
    }
}

fn path_point(point: &PathPoint) -> cdd::PathPoint {
    cdd::PathPoint {
        path_position: cdd::DeltaReferencePosition {
            delta_latitude: cdd::DeltaLatitude(point.latitude),
            delta_longitude: cdd::DeltaLongitude(point.longitude),
            delta_altitude: cdd::DeltaAltitude(12_800),
        },
        path_delta_time: point
            .age
            .map(|age| cdd::PathDeltaTime(rasn::types::Integer::from(age))),
    }
}

/// The first two bytes of every ITS message say which version of which message it is.
pub(crate) fn check_header(
    bytes: &[u8],
    id: u8,
    expected: &'static str,
) -> Result<(), DecodeError> {
    match bytes.get(1) {
        None => Err(DecodeError::Truncated {
            what: "the ITS PDU header",
            found: bytes.len(),
            needed: 6,
        }),
        Some(&found) if found != id => Err(DecodeError::Unexpected {
            what: "the message id",
            found: u32::from(found),
            expected,
        }),
        Some(_) if bytes[0] == 1 => Err(DecodeError::Unexpected {
            what: "the protocol version",
            found: 1,
            expected: "2 or more: version 1 is an older message of the same name",
        }),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{cam as car, cam_with_digest as with_digest};

    #[test]
    fn a_plain_cam_is_the_bytes_of_the_stock_type() {
        let bytes = car().encode().unwrap();
        assert_eq!(bytes.len(), 41);
        let stock: stock::CAM = rasn::uper::decode(&bytes).unwrap();
        assert_eq!(rasn::uper::encode(&stock).unwrap(), bytes);
        assert_eq!(Cam::decode(&bytes), Ok(car()));
    }

    #[test]
    fn stock_types_read_a_cam_with_a_digest_and_skip_it() {
        for path in [
            None,
            Some(vec![]),
            Some(vec![
                PathPoint {
                    latitude: -12,
                    longitude: 131_071,
                    age: Some(7)
                };
                9
            ]),
        ] {
            let plain = Cam { path, ..car() };
            let extended = Cam {
                digest: with_digest().digest,
                ..plain.clone()
            };
            let bytes = extended.encode().unwrap();
            assert_eq!(Cam::decode(&bytes), Ok(extended));
            let stock: stock::CAM = rasn::uper::decode(&bytes).unwrap();
            let without: stock::CAM = rasn::uper::decode(&plain.encode().unwrap()).unwrap();
            assert_eq!(stock, without);
        }
    }

    #[test]
    fn bytes_that_are_no_digest_are_kept_and_the_cam_still_counts() {
        let cam = Cam {
            digest: Some(CarriedDigest::Unreadable(vec![0xC5, 9, 9])),
            ..car()
        };
        assert_eq!(Cam::decode(&cam.encode().unwrap()), Ok(cam));
        // An octet string that says it is longer than its addition, an addition longer than any digest, and one of a byte.
        for foreign in [vec![200, 1, 2, 3], vec![0x5A; 400], vec![7]] {
            let cam = Cam {
                digest: Some(CarriedDigest::Foreign(foreign)),
                ..car()
            };
            let bytes = cam.encode().unwrap();
            assert_eq!(Cam::decode(&bytes), Ok(cam));
            let stock: stock::CAM = rasn::uper::decode(&bytes).unwrap();
            assert_eq!(stock.header.station_id.0, 4711);
        }
        // A byte of a digest that is damaged on the way leaves the rest of the CAM as it was.
        let bytes = with_digest().encode().unwrap();
        let length_at = bytes.len() - 15;
        let mut damaged = bytes.clone();
        damaged[length_at] ^= 0xFF;
        let read = Cam::decode(&damaged).unwrap();
        assert!(
            matches!(&read.digest, Some(CarriedDigest::Foreign(_))),
            "{read:?}"
        );
        assert_eq!(
            Cam {
                digest: None,
                ..read
            },
            car()
        );
    }

    #[test]
    fn an_addition_without_bytes_comes_back_alike() {
        let cam = Cam {
            digest: Some(CarriedDigest::Foreign(vec![])),
            ..car()
        };
        let read = Cam::decode(&cam.encode().unwrap()).unwrap();
        assert_eq!(Cam::decode(&read.encode().unwrap()).unwrap(), read);
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = with_digest().encode().unwrap();
        for end in 0..bytes.len() {
            assert!(Cam::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn what_is_no_cam_is_refused_by_name() {
        let mut bytes = car().encode().unwrap();
        bytes[1] = 14;
        let error = Cam::decode(&bytes).unwrap_err().to_string();
        assert_eq!(error, "the message id is 14, expected a CAM, message id 2");
        bytes[..2].copy_from_slice(&[1, 2]);
        assert!(matches!(
            Cam::decode(&bytes),
            Err(DecodeError::Unexpected { found: 1, .. })
        ));
        assert!(matches!(
            Cam::decode(&vec![0; 9000]),
            Err(DecodeError::TooLong { found: 9000 })
        ));
        let wrong = Cam {
            heading: Some(4000),
            ..car()
        };
        assert!(matches!(wrong.encode(), Err(EncodeError::Asn1(_))));
    }
}
