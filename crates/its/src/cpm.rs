//! The collective perception message: what a station sees, or what a host has fused.
//!
//! TS 103 324 v2.1.1 (Release 2). Objects are relative to the reference position of the message, to the east and to the
//! north. A fused state is a CPM with one extension more, see [`FusedState`].

use c_its_parser::standards::cdd_2_2_1::etsi_its_cdd as cdd;
use c_its_parser::standards::cpm_2_1_1::cpm_originating_station_containers as station;
use c_its_parser::standards::cpm_2_1_1::cpm_pdu_descriptions as pdu;
use c_its_parser::standards::cpm_2_1_1::cpm_perceived_object_container as perceived;
use c_its_parser::standards::cpm_2_1_1::cpm_sensor_information_container as sensing;
use rasn::types::Any;

use crate::MAX_MESSAGE_LEN;
use crate::asn::{Containers, CpmMessage, CpmPayload, OpenBytes};
use crate::cam::{WirePosition, check_header};
use crate::error::{DecodeError, EncodeError};
use crate::fused::FusedState;

pub use crate::plain::{CpmObject, OBJECTS_MAX, SEGMENTS_MAX, Sensor};

/// Identifies a CPM in the ITS PDU header.
pub const MESSAGE_ID: u8 = 14;
/// The protocol version that is written: Release 2.
pub const PROTOCOL_VERSION: u8 = 2;
/// The farthest an object can be, in hundredths of a metre to the east or north; beyond it, it is left out.
pub const OFFSET_MAX: i32 = 131_070;
/// The fastest component of a velocity, in hundredths of m/s: faster ones are said to be as fast.
pub const VELOCITY_MAX: i16 = 16_382;
/// The greatest extent, 25.5 m; it also means "larger".
pub const EXTENT_MAX: u16 = 255;

const ANGLE_UNAVAILABLE: u16 = 3601;
const VELOCITY_UNAVAILABLE: i16 = 16_383;
const EXTENT_UNAVAILABLE: u16 = 256;
const COORDINATE_CONFIDENCE_UNAVAILABLE: u16 = 4096;

/// A CPM in the units of the standard; `None` where it says "unavailable" or a container is missing.
///
/// What the protocol does not use (perception regions, road-side units' maps, classification, accelerations) is not kept when
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpm {
    /// The station that sent it.
    pub station_id: u32,
    /// When: milliseconds of ITS time.
    pub reference_ms: u64,
    /// What objects are relative to.
    pub position: WirePosition,
    /// Which of how many messages of one report, from 1 to 8, where there are several.
    pub segment: Option<(u8, u8)>,
    /// The sender's direction, tenths of a degree clockwise from north; none of it for a road-side unit, an inner none where
    /// it is unavailable.
    pub orientation: Option<Option<u16>>,
    /// The sender's sensors, where the message tells them (once a second).
    pub sensors: Vec<Sensor>,
    /// How many objects the sender knows, at most 255; this message may list fewer.
    pub objects_known: u8,
    /// What the sender perceives.
    pub objects: Vec<CpmObject>,
    /// What makes it a host's fused state.
    pub fused: Option<FusedState>,
}

fn refused(error: rasn::error::EncodeError) -> EncodeError {
    EncodeError::Asn1(error.to_string())
}

fn unread(error: rasn::error::DecodeError) -> DecodeError {
    DecodeError::Asn1 {
        message: "CPM",
        reason: error.to_string(),
    }
}

fn wrapped<T: rasn::Encode>(
    id: pdu::CpmContainerId,
    container: &T,
) -> Result<pdu::WrappedCpmContainer, EncodeError> {
    let bytes = rasn::uper::encode(container).map_err(refused)?;
    Ok(pdu::WrappedCpmContainer::new(id, Any::new(bytes)))
}

impl Cpm {
    /// The bytes, unaligned PER.
    ///
    /// # Errors
    /// A field holds a value outside its documented range, or there are more than [`OBJECTS_MAX`] objects.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        if self.objects.len() > OBJECTS_MAX {
            return Err(EncodeError::Field {
                field: "the number of objects",
                found: self.objects.len() as i64,
                low: 0,
                high: OBJECTS_MAX as i64,
            });
        }
        let mut containers = Vec::with_capacity(3);
        if let Some(orientation) = self.orientation {
            let angle = cdd::Wgs84Angle {
                value: cdd::Wgs84AngleValue(orientation.unwrap_or(ANGLE_UNAVAILABLE)),
                confidence: cdd::Wgs84AngleConfidence(127),
            };
            containers.push(wrapped(
                pdu::ORIGINATING_VEHICLE_CONTAINER,
                &station::OriginatingVehicleContainer::new(angle, None, None, None),
            )?);
        }
        if !self.sensors.is_empty() {
            containers.push(wrapped(
                pdu::SENSOR_INFORMATION_CONTAINER,
                &sensing::SensorInformationContainer(self.sensors.iter().map(sensor).collect()),
            )?);
        }
        containers.push(wrapped(
            pdu::PERCEIVED_OBJECT_CONTAINER,
            &perceived::PerceivedObjectContainer::new(
                cdd::CardinalNumber1B(self.objects_known),
                perceived::PerceivedObjects(self.objects.iter().map(object).collect()),
            ),
        )?);
        let fused = self.fused.as_ref().map(FusedState::to_asn);
        let fused = fused.map(|fused| rasn::uper::encode(&fused).map_err(refused));
        let fused = fused.transpose()?;
        let message = CpmMessage {
            header: cdd::ItsPduHeader {
                protocol_version: cdd::OrdinalNumber1B(PROTOCOL_VERSION),
                message_id: cdd::MessageId(MESSAGE_ID),
                station_id: cdd::StationId(self.station_id),
            },
            payload: CpmPayload {
                management_container: pdu::ManagementContainer::new(
                    cdd::TimestampIts(self.reference_ms),
                    reference_position(self.position),
                    self.segment
                        .map(|(this, total)| cdd::MessageSegmentationInfo {
                            total_msg_no: cdd::CardinalNumber3b(total),
                            this_msg_no: cdd::OrdinalNumber3b(this),
                        }),
                    None,
                ),
                cpm_containers: Containers(containers),
                reserved: None,
                fused_state: fused.map(OpenBytes),
            },
        };
        rasn::uper::encode(&message).map_err(refused)
    }

    /// The message that `bytes` are. An addition in the place of our extension that is something else is skipped.
    ///
    /// # Errors
    /// The bytes are no CPM, or longer than [`MAX_MESSAGE_LEN`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.len() > MAX_MESSAGE_LEN {
            return Err(DecodeError::TooLong { found: bytes.len() });
        }
        check_header(bytes, MESSAGE_ID, "a CPM, message id 14")?;
        let message: CpmMessage = rasn::uper::decode(bytes).map_err(unread)?;
        let management = message.payload.management_container;
        let mut cpm = Self {
            station_id: message.header.station_id.0,
            reference_ms: management.reference_time.0,
            position: WirePosition {
                latitude: management.reference_position.latitude.0,
                longitude: management.reference_position.longitude.0,
            },
            segment: management
                .segmentation_info
                .map(|info| (info.this_msg_no.0, info.total_msg_no.0)),
            orientation: None,
            sensors: Vec::new(),
            objects_known: 0,
            objects: Vec::new(),
            fused: message
                .payload
                .fused_state
                .and_then(|OpenBytes(addition)| rasn::uper::decode(&addition).ok())
                .map(|fused| FusedState::from_asn(&fused)),
        };
        for container in &message.payload.cpm_containers.0 {
            cpm.read_container(container)?;
        }
        Ok(cpm)
    }

    fn read_container(&mut self, wrapped: &pdu::WrappedCpmContainer) -> Result<(), DecodeError> {
        let bytes = wrapped.container_data.as_bytes();
        match wrapped.container_id {
            pdu::ORIGINATING_VEHICLE_CONTAINER => {
                let vehicle: station::OriginatingVehicleContainer =
                    rasn::uper::decode(bytes).map_err(unread)?;
                let angle = vehicle.orientation_angle.value.0;
                self.orientation = Some((angle < ANGLE_UNAVAILABLE).then_some(angle));
            }
            pdu::SENSOR_INFORMATION_CONTAINER => {
                let sensors: sensing::SensorInformationContainer =
                    rasn::uper::decode(bytes).map_err(unread)?;
                self.sensors = sensors.0.iter().map(plain_sensor).collect();
            }
            pdu::PERCEIVED_OBJECT_CONTAINER => {
                let objects: perceived::PerceivedObjectContainer =
                    rasn::uper::decode(bytes).map_err(unread)?;
                self.objects_known = objects.number_of_perceived_objects.0;
                self.objects = objects
                    .perceived_objects
                    .0
                    .iter()
                    .take(OBJECTS_MAX)
                    .map(plain_object)
                    .collect();
            }
            // Containers that the protocol does not use, and those of the future.
            _ => {}
        }
        Ok(())
    }
}

fn sensor(sensor: &Sensor) -> sensing::SensorInformation {
    let shape = sensor.range.map(|range| match sensor.sector {
        None => cdd::Shape::circular(cdd::CircularShape {
            shape_reference_point: None,
            radius: cdd::StandardLength12b(range),
            height: None,
        }),
        Some([from, to]) => cdd::Shape::radial(cdd::RadialShape::new(
            None,
            cdd::StandardLength12b(range),
            cdd::CartesianAngleValue(from),
            cdd::CartesianAngleValue(to),
            None,
            None,
        )),
    });
    sensing::SensorInformation::new(
        cdd::Identifier1B(sensor.id),
        cdd::SensorType(sensor.kind),
        shape,
        None,
        true,
    )
}

fn plain_sensor(sensor: &sensing::SensorInformation) -> Sensor {
    let (range, sector) = match &sensor.perception_region_shape {
        Some(cdd::Shape::circular(circle)) if circle.shape_reference_point.is_none() => {
            (Some(circle.radius.0), None)
        }
        Some(cdd::Shape::radial(radial)) if radial.shape_reference_point.is_none() => {
            let angles = [
                radial.horizontal_opening_angle_start.0,
                radial.horizontal_opening_angle_end.0,
            ];
            // Whose directions are unavailable, of that one it is not known where it looks.
            let known = angles.iter().all(|&angle| angle < ANGLE_UNAVAILABLE);
            (known.then_some(radial.range.0), known.then_some(angles))
        }
        _ => (None, None),
    };
    Sensor {
        id: sensor.sensor_id.0,
        kind: sensor.sensor_type.0,
        range,
        sector,
    }
}

fn reference_position(position: WirePosition) -> cdd::ReferencePosition {
    cdd::ReferencePosition {
        latitude: cdd::Latitude(position.latitude),
        longitude: cdd::Longitude(position.longitude),
        position_confidence_ellipse: cdd::PosConfidenceEllipse {
            semi_major_confidence: cdd::SemiAxisLength(4095),
            semi_minor_confidence: cdd::SemiAxisLength(4095),
            semi_major_orientation: cdd::HeadingValue(ANGLE_UNAVAILABLE),
        },
        altitude: cdd::Altitude {
            altitude_value: cdd::AltitudeValue(800_001),
            altitude_confidence: cdd::AltitudeConfidence::unavailable,
        },
    }
}

fn object(object: &CpmObject) -> cdd::PerceivedObject {
    let coordinate = |value| cdd::CartesianCoordinateWithConfidence {
        value: cdd::CartesianCoordinateLarge(value),
        confidence: cdd::CoordinateConfidence(COORDINATE_CONFIDENCE_UNAVAILABLE),
    };
    let component = |value| cdd::VelocityComponent {
        value: cdd::VelocityComponentValue(value),
        confidence: cdd::SpeedConfidence(127),
    };
    let extent = |value: Option<u16>| {
        value.map(|value| cdd::ObjectDimension {
            value: cdd::ObjectDimensionValue(value),
            confidence: cdd::ObjectDimensionConfidence(32),
        })
    };
    cdd::PerceivedObject::new(
        object.id.map(cdd::Identifier2B),
        cdd::DeltaTimeMilliSecondSigned(object.measured_ms),
        cdd::CartesianPosition3dWithConfidence {
            x_coordinate: coordinate(object.east),
            y_coordinate: coordinate(object.north),
            z_coordinate: None,
        },
        object.velocity.map(|(east, north)| {
            cdd::Velocity3dWithConfidence::cartesianVelocity(cdd::VelocityCartesian {
                x_velocity: component(east),
                y_velocity: component(north),
                z_velocity: None,
            })
        }),
        None,
        None,
        None,
        None,
        extent(object.height),
        extent(object.width),
        extent(object.length),
        None,
        object.quality.map(cdd::ObjectPerceptionQuality),
        None,
        None,
        None,
    )
}

fn plain_object(object: &cdd::PerceivedObject) -> CpmObject {
    let extent = |dimension: &Option<cdd::ObjectDimension>| {
        dimension
            .as_ref()
            .map(|dimension| dimension.value.0)
            .filter(|&value| value < EXTENT_UNAVAILABLE)
    };
    CpmObject {
        id: object.object_id.as_ref().map(|id| id.0),
        measured_ms: object.measurement_delta_time.0,
        east: object.position.x_coordinate.value.0,
        north: object.position.y_coordinate.value.0,
        velocity: object.velocity.as_ref().and_then(cartesian),
        length: extent(&object.object_dimension_x),
        width: extent(&object.object_dimension_y),
        height: extent(&object.object_dimension_z),
        quality: object
            .object_perception_quality
            .as_ref()
            .map(|quality| quality.0),
    }
}

/// A velocity as components, also where another stack gives speed and direction.
fn cartesian(velocity: &cdd::Velocity3dWithConfidence) -> Option<(i16, i16)> {
    match velocity {
        cdd::Velocity3dWithConfidence::cartesianVelocity(velocity) => {
            let (east, north) = (velocity.x_velocity.value.0, velocity.y_velocity.value.0);
            (east < VELOCITY_UNAVAILABLE && north < VELOCITY_UNAVAILABLE).then_some((east, north))
        }
        cdd::Velocity3dWithConfidence::polarVelocity(velocity) => {
            let speed = velocity.velocity_magnitude.speed_value.0;
            let angle = velocity.velocity_direction.value.0;
            if speed >= 16_383 || angle >= ANGLE_UNAVAILABLE {
                return None;
            }
            // A CartesianAngle turns counter-clockwise from the x axis, which points east.
            let angle = (f64::from(angle) * 0.1).to_radians();
            let part = |share: f64| libm::round(f64::from(speed) * share) as i16;
            Some((part(libm::cos(angle)), part(libm::sin(angle))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, report};

    #[test]
    fn reports_go_there_and_back() {
        for cpm in [
            report(0),
            report(1),
            report(255),
            Cpm {
                sensors: vec![samples::sensor()],
                segment: Some((2, 8)),
                orientation: Some(None),
                ..report(3)
            },
            Cpm {
                orientation: None,
                ..report(1)
            },
        ] {
            let bytes = cpm.encode().unwrap();
            assert_eq!(Cpm::decode(&bytes), Ok(cpm));
        }
        assert!(report(256).encode().is_err());
    }

    #[test]
    fn the_container_list_has_no_extension_bit() {
        // Header 6 bytes; payload extension bit, then the management container: extension bit, 2 option bits, time 42,
        // latitude 31, longitude 32, ellipse 12 + 12 + 12, altitude 20 + 4; then 3 bits of container count, 2 - 1 = 001.
        let bytes = report(1).encode().unwrap();
        let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
        let count_at = 48 + 1 + 3 + 42 + 31 + 32 + 36 + 24;
        let count = (0..3).fold(0, |sum, i| sum * 2 + bit(count_at + i));
        assert_eq!(count, 1, "two containers");
        // Then the first container's id, 4 bits: originating vehicle, 1 - 1.
        assert_eq!((0..4).map(|i| bit(count_at + 3 + i)).sum::<u8>(), 0);
        // The stock type of the crate writes the extension bit and reads something else.
        type Stock = pdu::CollectivePerceptionMessage;
        assert!(
            rasn::uper::decode::<Stock>(&bytes).is_err_and(|_| true) || {
                let stock: Stock = rasn::uper::decode(&bytes).unwrap();
                rasn::uper::encode(&stock).unwrap() != bytes
            }
        );
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = report(3).encode().unwrap();
        for end in 0..bytes.len() {
            assert!(Cpm::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
