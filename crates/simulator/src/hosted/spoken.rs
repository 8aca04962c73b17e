//! Beacons, predicted paths and sensed objects of everyone, made once for all arms.

use super::*;
use crate::shared::PathScratch;

/// Beacons and predicted paths of everyone, made once for all arms.
#[derive(Debug)]
pub(crate) struct Spoken {
    /// Beacons by step and place.
    beacons: Vec<Vec<Option<Beacon>>>,
    /// The two newest paths of each place, with the step after that of their beacon.
    paths: Vec<[(u32, Vec<PathCell>); 2]>,
    /// What a place sensed, as objects, with the step after that of the sensing.
    sensed: Vec<(u32, Vec<ObjectState>)>,
    /// By tile: the step after that of the list, and participants in and around it with their distance from its centre.
    nearest_first: Vec<(u32, Vec<(f64, u32)>)>,
    scratch: PathScratch,
}

impl Default for Spoken {
    fn default() -> Self {
        Self {
            beacons: vec![Vec::new(); RING],
            paths: Vec::new(),
            sensed: Vec::new(),
            nearest_first: Vec::new(),
            scratch: PathScratch::default(),
        }
    }
}

impl Spoken {
    /// Makes the beacons of this step.
    pub(crate) fn speak(&mut self, shared: &Shared<'_>, senders: &[u32]) {
        let size = shared.slots.len();
        let row = &mut self.beacons[shared.step as usize % RING];
        row.clear();
        row.resize_with(size, || None);
        for &slot in senders {
            let digest = CoverageDigest::new(shared.claimed_cells(slot)).ok();
            row[slot as usize] = Some(Beacon {
                sender: shared.agent(slot),
                at: shared.now(),
                state: shared.here(slot).state,
                digest,
                low_frequency: false,
            });
        }
        if !shared.left.is_empty() {
            // What was sensed of them, or by them, is not to be told any more.
            for (made, _) in &mut self.sensed {
                *made = 0;
            }
        }
        self.paths.resize_with(size, Default::default);
        self.sensed.resize_with(size, Default::default);
    }

    /// The beacon that a place sent at a step.
    pub(crate) fn beacon(&self, slot: u32, step: u32) -> Option<&Beacon> {
        self.beacons[step as usize % RING]
            .get(slot as usize)?
            .as_ref()
    }

    /// The path that follows from the beacon of a step.
    pub(super) fn path(&mut self, shared: &Shared<'_>, slot: u32, step: u32) -> &[PathCell] {
        let at = (step / shared.prepared.timeline.beacon) as usize % 2;
        let (made, path) = &mut self.paths[slot as usize][at];
        if *made != step + 1 {
            *made = step + 1;
            shared.path_of(slot, step, &mut self.scratch, path);
        }
        path
    }

    /// The path of a place as it is now.
    pub(super) fn own_path(&mut self, shared: &Shared<'_>, slot: u32, out: &mut Vec<PathCell>) {
        shared.path_of(slot, shared.step, &mut self.scratch, out);
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
        number: u32,
        tile: Tile,
        tile_m: f64,
    ) -> &[(f64, u32)] {
        let tiles = &shared.prepared.tiles;
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
