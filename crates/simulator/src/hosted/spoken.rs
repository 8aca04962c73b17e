//! Beacons and sensed objects of everyone, made once for all arms.

use covey_protocol::beacons::DueBeacon;

use super::*;

/// Beacons and sensed objects of everyone, made once for all arms.
#[derive(Debug)]
pub(crate) struct Spoken {
    /// Beacons by step and place.
    beacons: Vec<Vec<Option<Made>>>,
    /// What a place sensed, as objects, with the step after that of the sensing.
    sensed: Vec<(u32, Vec<ObjectState>)>,
    /// By tile: the step after that of the list, and participants in and around it with their distance from its centre.
    nearest_first: Vec<(u32, Vec<(f64, u32)>)>,
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
    pub(crate) fn speak(&mut self, shared: &Shared<'_>, senders: &[u32], due: &[DueBeacon]) {
        let size = shared.slots.len();
        let row = &mut self.beacons[shared.step as usize % RING];
        row.clear();
        row.resize_with(size, || None);
        for (&slot, due) in senders.iter().zip(due) {
            let digest = CoverageDigest::new(shared.claimed_cells(slot)).ok();
            let beacon = Beacon {
                sender: shared.agent(slot),
                at: shared.now(),
                state: shared.here(slot).state,
                digest,
                low_frequency: due.low_frequency,
            };
            row[slot as usize] = Some((beacon, due.previous));
        }
        if !shared.left.is_empty() {
            // What was sensed of them, or by them, is not to be told any more.
            for (made, _) in &mut self.sensed {
                *made = 0;
            }
        }
        self.sensed.resize_with(size, Default::default);
    }

    fn made(&self, slot: u32, step: u32) -> Option<&Made> {
        let row = &self.beacons[step as usize % RING];
        row.get(slot as usize)?.as_ref()
    }

    /// The digest that a place's beacon of a step carries, with these parameters.
    pub(crate) fn digest(
        &self,
        slot: u32,
        step: u32,
        parameters: &Parameters,
    ) -> Option<&CoverageDigest> {
        let (beacon, previous) = self.made(slot, step)?;
        let carried = parameters.carries_digest(beacon.sender, *previous, beacon.at);
        beacon.digest.as_ref().filter(|_| carried)
    }

    /// The beacon that a place sent at a step, as it sounds with these parameters.
    pub(crate) fn beacon(&self, slot: u32, step: u32, parameters: &Parameters) -> Option<Beacon> {
        let (beacon, _) = self.made(slot, step)?;
        Some(Beacon {
            digest: self.digest(slot, step, parameters).cloned(),
            ..*beacon
        })
    }

    /// The beacon that a place sent at a step, without digest.
    pub(crate) fn plain_beacon(&self, slot: u32, step: u32) -> Option<Beacon> {
        let (beacon, _) = self.made(slot, step)?;
        Some(Beacon {
            digest: None,
            ..*beacon
        })
    }

    /// Hands over the beacon that a place sent at a step, as it sounds with these parameters.
    pub(super) fn hand_over(
        &self,
        slot: u32,
        step: u32,
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
    pub(super) fn sensed(&mut self, shared: &Shared<'_>, slot: u32) -> &[ObjectState] {
        let (made, objects) = &mut self.sensed[slot as usize];
        if *made != shared.sensed_step + 1 {
            *made = shared.sensed_step + 1;
            objects.clear();
            let seen = shared.seen.of(slot).iter();
            objects.extend(seen.map(|&object| shared.perceived(slot, object, shared.sensed_step)));
        }
        objects
    }

    /// Participants in a tile, around it, or off all roads, nearest to its centre first.
    pub(super) fn nearest_first(
        &mut self,
        shared: &Shared<'_>,
        tile: Tile,
        tile_m: f64,
    ) -> &[(f64, u32)] {
        let tiles = &shared.prepared.tiles;
        let number = tiles.number(Some(tile));
        if tiles.tile(number).is_none() {
            return &[];
        }
        self.nearest_first
            .resize_with(tiles.len(), Default::default);
        let (made, list) = &mut self.nearest_first[number as usize];
        if *made != shared.step + 1 {
            *made = shared.step + 1;
            list.clear();
            let centre = tile.centre(tile_m);
            let near = |of: u32| {
                tiles
                    .tile(of)
                    .is_none_or(|of| of.tx.abs_diff(tile.tx) <= 1 && of.ty.abs_diff(tile.ty) <= 1)
            };
            for &slot in &shared.participants {
                if near(shared.tile[slot as usize]) {
                    let position = shared.here(slot).state.position;
                    list.push((position.distance(centre), slot));
                }
            }
            list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        list
    }
}
