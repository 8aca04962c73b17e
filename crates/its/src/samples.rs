//! Messages to try things with: for tests, benches and fuzzing.

use covey_protocol::messages::Content;
use covey_protocol::{Cell, CoverageDigest, Tile};

use crate::cam::{PASSENGER_CAR, WirePosition};
use crate::numbering::FIRST_LABEL;
use crate::{Cam, CarriedDigest, Cpm, CpmObject, FusedState, Sensor};

/// Somewhere on the bundled corridor.
pub const PLACE: WirePosition = WirePosition {
    latitude: 355_912_345,
    longitude: 1_396_698_765,
};

/// A car's CAM: high-frequency container alone, no digest.
#[must_use]
pub fn cam() -> Cam {
    Cam {
        station_id: 4711,
        station_type: PASSENGER_CAR,
        generation_ms: 65_535,
        position: PLACE,
        heading: Some(1_234),
        speed: Some(1_389),
        backward: Some(false),
        length: Some(45),
        width: Some(18),
        path: None,
        digest: None,
    }
}

/// The same with a digest of seven cells in a row, which is 13 bytes.
#[must_use]
pub fn cam_with_digest() -> Cam {
    let row = (3..10).map(|ix| Cell::new(ix, -2)).collect();
    Cam {
        digest: CoverageDigest::new(row).ok().map(CarriedDigest::Cells),
        ..cam()
    }
}

/// An object with everything that the protocol tells of one.
#[must_use]
pub fn object(id: u16) -> CpmObject {
    CpmObject {
        id: Some(id),
        measured_ms: -50,
        east: -12_345 + i32::from(id),
        north: 131_070,
        velocity: Some((1_389, -16_382)),
        length: Some(45),
        width: Some(18),
        height: Some(15),
        quality: Some(15),
    }
}

/// A sensor that sees 150 m all around.
#[must_use]
pub fn sensor() -> Sensor {
    Sensor {
        id: 1,
        kind: 12,
        range: Some(1_500),
        sector: None,
    }
}

/// A report of so many objects, without sensor information.
#[must_use]
pub fn report(objects: u16) -> Cpm {
    Cpm {
        station_id: 4711,
        reference_ms: 700_000_000_123,
        position: PLACE,
        segment: None,
        orientation: Some(Some(900)),
        sensors: vec![],
        objects_known: objects.min(255) as u8,
        objects: (0..objects).map(object).collect(),
        fused: None,
    }
}

/// A fused state of so many objects: the first half are stations, the others have labels.
#[must_use]
pub fn fused_state(objects: u16, contributors: u32, withdrawn: u16) -> Cpm {
    let stations = objects.div_ceil(2);
    let listed = |index| CpmObject {
        id: Some(if index < stations {
            index
        } else {
            u16::MAX - index
        }),
        ..object(index)
    };
    Cpm {
        objects: (0..objects).map(listed).collect(),
        fused: Some(FusedState {
            stations: (0..stations)
                .map(|index| 3_000_000_000 + u32::from(index))
                .collect(),
            ..fused(contributors, withdrawn)
        }),
        ..report(objects)
    }
}

/// What makes a CPM without objects a fused state: so many contributors, withdrawn stations and withdrawn labels.
#[must_use]
pub fn fused(contributors: u32, withdrawn: u16) -> FusedState {
    FusedState {
        tile: Tile::new(-3, 8_388_607),
        sequence: 7,
        epoch: u32::MAX,
        tenure_ms: 12_000,
        price: 7_000,
        cycle_age_ms: 150,
        unchanged_age_ms: 150,
        lease_ms: 600,
        content: Content::Requested,
        full: true,
        contributors: (0..contributors).collect(),
        requested: vec![3_000_000_001],
        withdrawn_stations: (0..withdrawn)
            .map(|id| 3_000_000_000 + u32::from(id))
            .collect(),
        withdrawn: (0..withdrawn).map(|id| FIRST_LABEL + id).collect(),
        stations: vec![],
    }
}
