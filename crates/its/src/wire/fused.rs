//! What a broadcast says besides its objects, and whether messages make up one.

use covey_protocol::messages::Broadcast;
use covey_protocol::{Duration, Instant};

use crate::cpm::{Cpm, SEGMENTS_MAX};
use crate::error::{DecodeError, EncodeError};
use crate::fused::{
    CONTRIBUTORS_MAX, FusedState, PRICE_MAX, PRICE_STEPS, REQUESTED_MAX, WITHDRAWN_MAX,
};
use crate::numbering::FIRST_LABEL;
use crate::sizes::FusedCounts;
use crate::units::clamped;

/// What a broadcast says besides its lists.
pub(super) fn head(broadcast: &Broadcast) -> Result<FusedState, EncodeError> {
    let fits = |field, found: i64, low: i64, high: i64| {
        if (low..=high).contains(&found) {
            Ok(found)
        } else {
            Err(EncodeError::Field {
                field,
                found,
                low,
                high,
            })
        }
    };
    let tile = |field, index: i32| fits(field, i64::from(index), -8_388_608, 8_388_607);
    tile("the tile's column", broadcast.tile.tx)?;
    tile("the tile's row", broadcast.tile.ty)?;
    let FusedCounts {
        withdrawn_stations,
        withdrawn_labels,
        contributors,
        requested,
        ..
    } = FusedCounts::of(broadcast);
    for (field, count, most) in [
        ("the number of contributors", contributors, CONTRIBUTORS_MAX),
        ("the number of requested objects", requested, REQUESTED_MAX),
        (
            "the number of withdrawn stations",
            withdrawn_stations,
            WITHDRAWN_MAX,
        ),
        (
            "the number of withdrawn labels",
            withdrawn_labels,
            WITHDRAWN_MAX,
        ),
    ] {
        fits(field, count as i64, 0, most as i64)?;
    }
    let millis = |instant: Instant| instant.micros().div_euclid(1_000);
    let age = |field, then: Instant| {
        let found = millis(broadcast.at).saturating_sub(millis(then));
        fits(field, found, 0, 65_535).map(|age| age as u16)
    };
    // A lease or a term that is too long for the field is said to be as long as fits: both err on the safe side.
    let at_most = |duration: Duration, most: i64| (duration.micros() / 1_000).clamp(0, most);
    Ok(FusedState {
        tile: broadcast.tile,
        sequence: broadcast.sequence,
        epoch: broadcast.epoch,
        tenure_ms: at_most(broadcast.tenure, i64::from(u32::MAX)) as u32,
        price: clamped(broadcast.price, 1.0 / PRICE_STEPS, 0, PRICE_MAX).unwrap_or(0) as u32,
        cycle_age_ms: age("the age of the cycle in ms", broadcast.cycle_start)?,
        unchanged_age_ms: age(
            "the age of unchanged objects in ms",
            broadcast.unchanged_since,
        )?,
        lease_ms: at_most(broadcast.lease, 65_535) as u16,
        content: broadcast.content,
        full: broadcast.full,
        contributors: Vec::new(),
        requested: Vec::new(),
        withdrawn_stations: Vec::new(),
        withdrawn: Vec::new(),
        stations: Vec::new(),
    })
}

/// A message and its extension.
pub(super) type Segment<'a> = (&'a Cpm, &'a FusedState);

/// The segments of one fused state in their order: there is at least one, and none is missing.
pub(super) fn together(segments: &[Cpm]) -> Result<Vec<Segment<'_>>, DecodeError> {
    let wrong = |expected| DecodeError::Segments {
        found: segments.len(),
        expected,
    };
    let first = segments.first().ok_or_else(|| wrong(1))?;
    let expected = first.segment.map_or(1, |(_, total)| usize::from(total));
    if segments.len() != expected || expected > SEGMENTS_MAX {
        return Err(wrong(expected));
    }
    let missing = DecodeError::Missing("the fused state");
    let mut sorted = Vec::with_capacity(expected);
    for cpm in segments {
        let fused = cpm.fused.as_ref().ok_or_else(|| missing.clone())?;
        sorted.push((cpm, fused));
    }
    sorted.sort_by_key(|(cpm, _)| cpm.segment);
    let head = sorted[0].1.without_lists();
    let together = sorted.iter().enumerate().all(|(index, (cpm, fused))| {
        let (this, total) = cpm.segment.unwrap_or((1, 1));
        (usize::from(this), usize::from(total)) == (index + 1, expected)
            && cpm.station_id == first.station_id
            && cpm.reference_ms == first.reference_ms
            && cpm.position == first.position
            && fused.without_lists() == head
    });
    if together {
        Ok(sorted)
    } else {
        Err(wrong(expected))
    }
}

/// The lists of a fused state, put together from all segments.
pub(super) struct Lists {
    pub(super) contributors: Vec<u32>,
    pub(super) requested: Vec<u32>,
    pub(super) withdrawn_stations: Vec<u32>,
    pub(super) withdrawn: Vec<u16>,
}

impl Lists {
    /// None is longer than one message could have it, and labels are of the upper half.
    pub(super) fn of(segments: &[Segment<'_>]) -> Result<Self, DecodeError> {
        fn joined<T: Copy>(
            segments: &[Segment<'_>],
            list: fn(&FusedState) -> &Vec<T>,
            what: &'static str,
            (most, expected): (usize, &'static str),
        ) -> Result<Vec<T>, DecodeError> {
            let all: Vec<T> = segments
                .iter()
                .flat_map(|(_, fused)| list(fused).iter().copied())
                .collect();
            if all.len() > most {
                let found = all.len() as u32;
                return Err(DecodeError::Unexpected {
                    what,
                    found,
                    expected,
                });
            }
            Ok(all)
        }
        for (_, fused) in segments {
            let lower = fused.withdrawn.iter().find(|&&label| label < FIRST_LABEL);
            lower.map_or(Ok(()), |&number| Err(unlisted(number)))?;
        }
        let few = (CONTRIBUTORS_MAX.min(REQUESTED_MAX), "at most 255");
        let many = (WITHDRAWN_MAX, "at most 1023");
        Ok(Self {
            contributors: joined(
                segments,
                |fused| &fused.contributors,
                "the number of contributors",
                few,
            )?,
            requested: joined(
                segments,
                |fused| &fused.requested,
                "the number of requested objects",
                few,
            )?,
            withdrawn_stations: joined(
                segments,
                |fused| &fused.withdrawn_stations,
                "the number of withdrawn stations",
                many,
            )?,
            withdrawn: joined(
                segments,
                |fused| &fused.withdrawn,
                "the number of withdrawn labels",
                many,
            )?,
        })
    }
}

/// A number of the lower half has no station.
pub(super) fn unlisted(number: u16) -> DecodeError {
    DecodeError::Unexpected {
        what: "the number of an object that no station is given for",
        found: u32::from(number),
        expected: "a label from 32768 on",
    }
}

/// Stations without an object are refused.
pub(super) fn all_used(left: usize) -> Result<(), DecodeError> {
    if left == 0 {
        return Ok(());
    }
    Err(DecodeError::Unexpected {
        what: "the number of stations beyond the objects",
        found: left as u32,
        expected: "as many stations as objects with numbers below 32768",
    })
}
