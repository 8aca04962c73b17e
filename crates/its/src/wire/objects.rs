//! Objects of the protocol as objects of a CPM, and back.

use covey_protocol::messages::{Confidence, ObjectState, Size};
use covey_protocol::{Duration, Instant, ObjectId, Position, Velocity};

use crate::cpm::{self, CpmObject};
use crate::error::DecodeError;
use crate::geo::LocalFrame;
use crate::units::{clamped, decimetres, within};

/// The object as it is listed, without its number; none where it does not fit.
pub(super) fn wire_object(
    frame: &LocalFrame,
    at: Instant,
    object: &ObjectState,
) -> Option<CpmObject> {
    let (east, north) = frame.to_east_north(
        object.position.x - frame.origin.x,
        object.position.y - frame.origin.y,
    );
    let offset = |metres: f64| within(metres, 0.01, -cpm::OFFSET_MAX, cpm::OFFSET_MAX);
    let millis = object.sensed_at.since(at).micros().div_euclid(1_000);
    let (Some(east), Some(north), -2_048..=2_047) = (offset(east), offset(north), millis) else {
        return None;
    };
    let (east_v, north_v) = frame.to_east_north(object.velocity.x, object.velocity.y);
    let most = i32::from(cpm::VELOCITY_MAX);
    let component = |speed: f64| clamped(speed, 0.01, -most, most).map(|speed| speed as i16);
    let extent = |metres: f64| decimetres(metres, cpm::EXTENT_MAX);
    Some(CpmObject {
        id: None,
        measured_ms: millis as i16,
        east,
        north,
        velocity: component(east_v).zip(component(north_v)),
        length: extent(object.size.length),
        width: extent(object.size.width),
        height: extent(object.size.height),
        quality: Some(quality(object.confidence)),
    })
}

/// The objects of a list. Those without a number, and those marked as out of range, are passed over; `id_of` is asked for the id
/// of each number, in their order.
pub(super) fn protocol_objects(
    frame: &LocalFrame,
    at: Instant,
    objects: &[CpmObject],
    mut id_of: impl FnMut(u16) -> Result<ObjectId, DecodeError>,
) -> Result<Vec<ObjectState>, DecodeError> {
    let mut known = Vec::with_capacity(objects.len());
    for object in objects {
        if let Some(number) = object.id {
            known.extend(protocol_object(frame, at, object, id_of(number)?));
        }
    }
    Ok(known)
}

fn protocol_object(
    frame: &LocalFrame,
    at: Instant,
    object: &CpmObject,
    id: ObjectId,
) -> Option<ObjectState> {
    if object.east.abs() > cpm::OFFSET_MAX || object.north.abs() > cpm::OFFSET_MAX {
        return None;
    }
    let centi = |steps: i32| f64::from(steps) * 0.01;
    let (dx, dy) = frame.to_plane(centi(object.east), centi(object.north));
    let (vx, vy) = object.velocity.map_or((0.0, 0.0), |(east, north)| {
        frame.to_plane(centi(east.into()), centi(north.into()))
    });
    let metres = |steps: Option<u16>| steps.map_or(0.0, |steps| f64::from(steps) * 0.1);
    Some(ObjectState {
        id,
        position: Position::new(frame.origin.x + dx, frame.origin.y + dy),
        velocity: Velocity::new(vx, vy),
        size: Size {
            length: metres(object.length),
            width: metres(object.width),
            height: metres(object.height),
        },
        sensed_at: at + Duration::from_millis(i64::from(object.measured_ms)),
        confidence: confidence(object.quality),
    })
}

fn quality(confidence: Confidence) -> u8 {
    ((u32::from(confidence.percent()) * 15 + 50) / 100) as u8
}

/// Without a quality nothing is known of it: 0.
fn confidence(quality: Option<u8>) -> Confidence {
    let quality = u32::from(quality.unwrap_or(0).min(15));
    Confidence::from_percent(((quality * 100 + 7) / 15) as u8)
}
