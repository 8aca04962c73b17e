//! One message after the other, filled with what is to be listed.

use super::Cpms;
use crate::cpm::{Cpm, CpmObject, SEGMENTS_MAX};
use crate::error::EncodeError;
use crate::sizes::{Entry, Shape, fill, object_bits, sensor_bits};

/// Something that a message lists.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Contributor(u32),
    Requested(u32),
    WithdrawnStation(u32),
    WithdrawnLabel(u16),
    /// With its number, and the station that it is.
    Object(CpmObject, Option<u32>),
}

impl Item {
    fn entry(&self) -> Entry {
        match self {
            Self::Contributor(_) | Self::Requested(_) | Self::WithdrawnStation(_) => Entry::STATION,
            Self::WithdrawnLabel(_) => Entry::LABEL,
            Self::Object(object, station) => Entry::object(object_bits(object), station.is_some()),
        }
    }

    fn put(self, cpm: &mut Cpm) {
        let (object, station) = match self {
            Self::Object(object, station) => (Some(object), station),
            _ => (None, None),
        };
        cpm.objects.extend(object);
        let Some(fused) = &mut cpm.fused else {
            return;
        };
        fused.stations.extend(station);
        match self {
            Self::Contributor(id) => fused.contributors.push(id),
            Self::Requested(id) => fused.requested.push(id),
            Self::WithdrawnStation(id) => fused.withdrawn_stations.push(id),
            Self::WithdrawnLabel(number) => fused.withdrawn.push(number),
            Self::Object(..) => {}
        }
    }
}

/// What one report or fused state lists, in the order in which it is written.
pub(super) struct Filling {
    base: Cpm,
    max_bytes: usize,
    items: Vec<Item>,
    objects: usize,
    left_out: usize,
}

impl Filling {
    /// Nothing yet; messages are as `base`, which lists nothing.
    pub(super) fn new(base: Cpm, max_bytes: usize) -> Self {
        Self {
            base,
            max_bytes,
            items: Vec::new(),
            objects: 0,
            left_out: 0,
        }
    }

    pub(super) fn add(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Adds it, or counts it as left out.
    pub(super) fn add_some(&mut self, item: Option<Item>) {
        self.left_out += usize::from(item.is_none());
        self.items.extend(item);
    }

    /// Adds an object, or counts it as left out; only one that is listed needs a number.
    pub(super) fn list(
        &mut self,
        object: Option<CpmObject>,
        number: impl FnOnce() -> Option<u16>,
        station: Option<u32>,
    ) {
        let item = object.and_then(|object| {
            let id = Some(number()?);
            Some(Item::Object(CpmObject { id, ..object }, station))
        });
        self.objects += usize::from(item.is_some());
        self.add_some(item);
    }

    /// The fewest messages.
    pub(super) fn finish(self) -> Result<Cpms, EncodeError> {
        let shape = Shape {
            vehicle: self.base.orientation.is_some(),
            sensor_bits: self.base.sensors.iter().map(sensor_bits).sum(),
            fused: self.base.fused.is_some(),
        };
        let loads = fill(self.items.iter().map(Item::entry), shape, self.max_bytes);
        let total = loads.len();
        let fit = loads
            .iter()
            .all(|load| load.fits(shape, total > 1, self.max_bytes));
        if !fit || total > SEGMENTS_MAX {
            return Err(EncodeError::TooManyObjects {
                objects: self.objects,
                max_bytes: self.max_bytes,
            });
        }
        let base = Cpm {
            objects_known: self.objects.min(255) as u8,
            ..self.base
        };
        let mut items = self.items.into_iter();
        let messages = loads.iter().enumerate().map(|(index, load)| {
            let mut cpm = Cpm {
                segment: (total > 1).then_some((index as u8 + 1, total as u8)),
                ..base.clone()
            };
            for item in items.by_ref().take(load.entries) {
                item.put(&mut cpm);
            }
            cpm
        });
        Ok(Cpms {
            messages: messages.collect(),
            left_out: self.left_out,
        })
    }
}
