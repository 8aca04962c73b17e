//! Beacons and sensed objects of everyone, made once for all arms.

use covey_protocol::messages::{Beacon, ObjectState};
use covey_protocol::{CoverageDigest, Instant, Parameters, Tile};

use super::conduct::claimed_cells;
use crate::channel::DueBeacons;
use crate::ids::{Slot, Step, TileNumber};
use crate::prepared::RING;
use crate::world::World;

/// Beacons and sensed objects of everyone, made once for all arms.
#[derive(Debug)]
pub(crate) struct Spoken {
    /// Beacons by step and place.
    beacons: Vec<Vec<Option<Made>>>,
    /// What a place sensed, as objects, with the step after that of the sensing.
    sensed: Vec<(u32, Vec<ObjectState>)>,
    /// By tile: the step after that of the list, and participants in and around it with their distance from its centre.
    nearest_first: Vec<(u32, Vec<(f64, Slot)>)>,
}

/// A beacon, and when its sender sent the one before it.
type Made = (Beacon, Option<Instant>);

impl Default for Spoken {
    fn default() -> Self {
        Self {
            beacons: vec![Vec::new(); RING],
            sensed: Vec::new(),
            nearest_first: Vec::new(),
        }
    }
}

impl Spoken {
    /// Makes the beacons of this step.
    pub(crate) fn speak(&mut self, world: &World<'_>, beacons: &DueBeacons) {
        let size = world.road.size();
        let row = &mut self.beacons[world.step().0 as usize % RING];
        row.clear();
        row.resize_with(size, || None);
        for (&slot, beacon) in beacons.senders.iter().zip(&beacons.due) {
            let due = beacon.due;
            let digest = CoverageDigest::new(claimed_cells(world, slot)).ok();
            let beacon = Beacon {
                sender: world.agent(slot),
                at: world.now(),
                state: world.told(slot, world.step()),
                digest,
                low_frequency: due.low_frequency,
            };
            row[slot.index()] = Some((beacon, due.previous));
        }
        if !world.road.left().is_empty() {
            // What was sensed of them, or by them, is not to be told any more.
            for (made, _) in &mut self.sensed {
                *made = 0;
            }
        }
        self.sensed.resize_with(size, Default::default);
    }

    fn made(&self, slot: Slot, step: Step) -> Option<&Made> {
        let row = &self.beacons[step.0 as usize % RING];
        row.get(slot.index())?.as_ref()
    }

    /// The digest that a place's beacon of a step carries, with these parameters.
    pub(crate) fn digest(
        &self,
        slot: Slot,
        step: Step,
        parameters: &Parameters,
    ) -> Option<&CoverageDigest> {
        let (beacon, previous) = self.made(slot, step)?;
        let carried = parameters.carries_digest(beacon.sender, *previous, beacon.at);
        beacon.digest.as_ref().filter(|_| carried)
    }

    /// The beacon that a place sent at a step, as it sounds with these parameters.
    pub(crate) fn beacon(&self, slot: Slot, step: Step, parameters: &Parameters) -> Option<Beacon> {
        let (beacon, _) = self.made(slot, step)?;
        Some(Beacon {
            digest: self.digest(slot, step, parameters).cloned(),
            ..*beacon
        })
    }

    /// The beacon that a place sent at a step, without digest.
    pub(crate) fn plain_beacon(&self, slot: Slot, step: Step) -> Option<Beacon> {
        let (beacon, _) = self.made(slot, step)?;
        Some(Beacon {
            digest: None,
            ..*beacon
        })
    }

    /// Hands over the beacon that a place sent at a step, as it sounds with these parameters.
    pub(super) fn hand_over(
        &self,
        slot: Slot,
        step: Step,
        parameters: &Parameters,
        take: impl FnOnce(&Beacon),
    ) {
        let Some((beacon, previous)) = self.made(slot, step) else {
            return;
        };
        if parameters.carries_digest(beacon.sender, *previous, beacon.at) {
            take(beacon);
        } else {
            take(&Beacon {
                digest: None,
                ..*beacon
            });
        }
    }

    /// What a place sensed last.
    pub(super) fn sensed(&mut self, world: &World<'_>, slot: Slot) -> &[ObjectState] {
        let (made, objects) = &mut self.sensed[slot.index()];
        if *made != world.sights.step.0 + 1 {
            *made = world.sights.step.0 + 1;
            world.sensed(slot, objects);
        }
        objects
    }

    /// Participants in a tile, around it, or off all roads, nearest to its centre first.
    pub(super) fn nearest_first(
        &mut self,
        world: &World<'_>,
        tile: Tile,
        tile_m: f64,
    ) -> &[(f64, Slot)] {
        let tiles = &world.prepared.tiles;
        let number = tiles.number(Some(tile));
        if tiles.tile(number).is_none() {
            return &[];
        }
        self.nearest_first
            .resize_with(tiles.len(), Default::default);
        let (made, list) = &mut self.nearest_first[number.index()];
        if *made != world.step().0 + 1 {
            *made = world.step().0 + 1;
            list.clear();
            let centre = tile.centre(tile_m);
            let near = |of: TileNumber| {
                tiles
                    .tile(of)
                    .is_none_or(|of| of.tx.abs_diff(tile.tx) <= 1 && of.ty.abs_diff(tile.ty) <= 1)
            };
            for &slot in world.road.participants() {
                if near(world.tile(slot)) {
                    let position = world.told(slot, world.step()).position;
                    list.push((position.distance(centre), slot));
                }
            }
            list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        list
    }
}
