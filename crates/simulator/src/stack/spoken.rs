//! Beacons and sensed objects of everyone, made once for all arms.

use covey_protocol::messages::{Beacon, ObjectState};
use covey_protocol::{CoverageDigest, Instant, Parameters, Tile};
use covey_radio::ChannelModel;

use super::conduct::claimed_cells;
use super::reports::LONGEST_LATENCY;
use crate::channel::DueBeacons;
use crate::ids::{Slot, Step, TileNumber};
use crate::prepared::{Prepared, RING};
use crate::world::World;

/// Beacons and sensed objects of everyone, made once for all arms.
#[derive(Debug)]
pub(crate) struct Spoken {
    /// Beacons by step and place, as far back as somebody may ask for them.
    beacons: Vec<Vec<Option<Made>>>,
    /// What a place sensed, as objects, with the step after that of the sensing.
    sensed: Vec<(u32, Vec<ObjectState>)>,
    /// By tile: the step after that of the list, and participants in and around it with their distance from its centre.
    nearest_first: Vec<(u32, Vec<(f64, Slot)>)>,
    by_tile: ByTile,
}

/// Participants by the tile in which they are.
#[derive(Debug, Default)]
struct ByTile {
    /// The step after that of the lists.
    made: u32,
    /// Where each tile's participants begin, and the end of the last.
    begin: Vec<u32>,
    slots: Vec<Slot>,
}

impl ByTile {
    /// Lists them as they are in this step.
    fn list(&mut self, world: &World<'_>) {
        if self.made == world.step().0 + 1 {
            return;
        }
        self.made = world.step().0 + 1;
        let participants = world.road.participants();
        self.begin.clear();
        self.begin.resize(world.prepared.tiles.len() + 1, 0);
        for &slot in participants {
            self.begin[world.tile(slot).index()] += 1;
        }
        let mut sum = 0;
        for begin in &mut self.begin {
            sum += *begin;
            *begin = sum;
        }
        self.slots.resize(participants.len(), Slot(0));
        for &slot in participants.iter().rev() {
            let place = &mut self.begin[world.tile(slot).index()];
            *place -= 1;
            self.slots[*place as usize] = slot;
        }
    }

    fn of(&self, tile: TileNumber) -> &[Slot] {
        let [begin, end] = [0, 1].map(|next| self.begin[tile.index() + next] as usize);
        &self.slots[begin..end]
    }
}

/// A beacon, and when its sender sent the one before it.
type Made = (Beacon, Option<Instant>);

/// Steps for which somebody may ask what a beacon said.
fn memory(prepared: &Prepared) -> usize {
    let timeline = &prepared.timeline;
    // Beacons are known by interval, and the oldest of them is not forgotten at once.
    let heard = timeline.soft_state + 3 * timeline.beacon + 1;
    let late = match prepared.channel.parameters().model {
        ChannelModel::Load => 0,
        ChannelModel::Sps => LONGEST_LATENCY,
    };
    let lag = match prepared.scenario.conduct.misbehaving > 0.0 {
        true => timeline.soft_state,
        false => 0,
    };
    RING.min((heard + late + lag) as usize)
}

impl Spoken {
    /// Nothing was said yet.
    pub(crate) fn new(prepared: &Prepared) -> Self {
        Self {
            beacons: vec![Vec::new(); memory(prepared)],
            sensed: Vec::new(),
            nearest_first: Vec::new(),
            by_tile: ByTile::default(),
        }
    }

    /// Makes the beacons of this step.
    pub(crate) fn speak(&mut self, world: &World<'_>, beacons: &DueBeacons) {
        let size = world.road.size();
        let memory = self.beacons.len();
        let row = &mut self.beacons[world.step().0 as usize % memory];
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
        let row = &self.beacons[step.0 as usize % self.beacons.len()];
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
            self.by_tile.list(world);
            let nine = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
            let around = nine.filter_map(|(dx, dy)| {
                let (tx, ty) = (tile.tx.checked_add(dx)?, tile.ty.checked_add(dy)?);
                let number = tiles.number(Some(Tile::new(tx, ty)));
                tiles.tile(number).map(|_| number)
            });
            // Whoever is off all roads may be anywhere.
            for of in around.chain([tiles.number(None)]) {
                for &slot in self.by_tile.of(of) {
                    let position = world.told(slot, world.step()).position;
                    list.push((position.distance(centre), slot));
                }
            }
            list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        list
    }
}
