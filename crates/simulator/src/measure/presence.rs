//! Who was there in the measured window.

use std::collections::BTreeMap;

use covey_world::scene::BodyKind;

use crate::world::World;

/// Who was there in the measured window.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// By number, what each is that was there.
    vehicles: Vec<Option<BodyKind>>,
    /// By number: it has a radio.
    radios: Vec<bool>,
    tiles: Vec<bool>,
}

impl Presence {
    pub(crate) fn note(&mut self, world: &World<'_>) {
        for (vehicle, &slot) in world.road.frame.vehicles.iter().zip(world.road.present()) {
            let id = vehicle.id.0 as usize;
            if self.vehicles.len() <= id {
                self.vehicles.resize(id + 1, None);
                self.radios.resize(id + 1, false);
            }
            self.vehicles[id] = Some(vehicle.body.kind);
            if world.road.participates(slot) {
                self.radios[id] = true;
                let tile = world.tile(slot).index();
                if self.tiles.len() <= tile {
                    self.tiles.resize(tile + 1, false);
                }
                self.tiles[tile] = true;
            }
        }
    }

    /// How many vehicles: persons, trains, ships and stations are counted by class alone.
    pub(crate) fn vehicles(&self) -> u64 {
        let kinds = self.vehicles.iter().flatten();
        kinds.filter(|kind| kind.is_road_vehicle()).count() as u64
    }

    /// By class: how many, and how many with a radio.
    pub(crate) fn classes(&self) -> BTreeMap<String, [u64; 2]> {
        let mut classes: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        for (kind, &radio) in self.vehicles.iter().zip(&self.radios) {
            if let Some(kind) = kind {
                let counts = classes.entry(kind.name().to_string()).or_default();
                counts[0] += 1;
                counts[1] += u64::from(radio);
            }
        }
        classes
    }

    /// How many have a radio, whatever they are; stations beside the road are counted by class alone.
    pub(crate) fn participants(&self) -> u64 {
        let all = self.vehicles.iter().zip(&self.radios);
        all.filter(|&(kind, &radio)| radio && *kind != Some(BodyKind::Roadside))
            .count() as u64
    }

    pub(crate) fn tiles(&self) -> u64 {
        count(&self.tiles)
    }
}

fn count(flags: &[bool]) -> u64 {
    flags.iter().filter(|&&flag| flag).count() as u64
}
