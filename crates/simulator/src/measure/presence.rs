//! Who was there in the measured window.

use crate::world::World;

/// Who was there in the measured window.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    vehicles: Vec<bool>,
    participants: Vec<bool>,
    tiles: Vec<bool>,
}

impl Presence {
    pub(crate) fn note(&mut self, world: &World<'_>) {
        for (vehicle, &slot) in world.road.frame.vehicles.iter().zip(world.road.present()) {
            let id = vehicle.id.0 as usize;
            if self.vehicles.len() <= id {
                self.vehicles.resize(id + 1, false);
                self.participants.resize(id + 1, false);
            }
            self.vehicles[id] = true;
            if world.road.participates(slot) {
                self.participants[id] = true;
                let tile = world.tile(slot).index();
                if self.tiles.len() <= tile {
                    self.tiles.resize(tile + 1, false);
                }
                self.tiles[tile] = true;
            }
        }
    }

    pub(crate) fn vehicles(&self) -> u64 {
        count(&self.vehicles)
    }

    pub(crate) fn participants(&self) -> u64 {
        count(&self.participants)
    }

    pub(crate) fn tiles(&self) -> u64 {
        count(&self.tiles)
    }
}

fn count(flags: &[bool]) -> u64 {
    flags.iter().filter(|&&flag| flag).count() as u64
}
