//! Who is on the road in a step: places, radios, tiles, states.

use covey_draws::{Draws, Purpose};
use covey_protocol::messages::AgentState;
use covey_protocol::{AgentId, ObjectId, Position, Tile, Velocity};
use covey_world::scene::BodyKind;
use covey_world::sight::Sensor;
use covey_world::{Frame, GridFrame, Point, VehicleState};

use super::slots::{Placed, Slots};
use crate::ids::{FrameIndex, Slot, Step, TileNumber};
use crate::prepared::{Outfit, OutfitIx, Prepared, RING, size_of};
use crate::stations::FIRST_STATION;

/// Stands for no index in the frame: the place is free.
const ABSENT: u32 = u32::MAX;

/// A vehicle's state at one step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment {
    /// In the grid frame, as beacons tell it: with the vehicle's own idea of where it is.
    pub(crate) state: AgentState,
    /// Of that state: whoever looks asks for it.
    pub(crate) velocity: Velocity,
    /// How far that is off the truth.
    pub(crate) error: [f64; 2],
    /// In the map's plane.
    pub(crate) map: Point,
}

impl Moment {
    fn new(grid: &GridFrame, azimuth: f64, vehicle: &VehicleState) -> Self {
        let p = grid.to_grid(vehicle.position);
        let state = AgentState {
            position: Position::new(p.x, p.y),
            heading: vehicle.heading - azimuth,
            speed: vehicle.speed,
            size: size_of(&vehicle.body),
        };
        Self {
            state,
            velocity: state.velocity(),
            error: [0.0; 2],
            map: vehicle.position,
        }
    }

    /// Where it really is, in the grid frame.
    pub(crate) fn truth(&self) -> Position {
        let Position { x, y } = self.state.position;
        Position::new(x - self.error[0], y - self.error[1])
    }

    fn displace(&mut self, grid: &GridFrame, error: [f64; 2]) {
        self.error = error;
        let Position { x, y } = self.state.position;
        self.state.position = Position::new(x + error[0], y + error[1]);
        self.map = grid.to_map(Point::new(x + error[0], y + error[1]));
    }
}

/// The vehicles of a step, by place, and their states of the last steps.
#[derive(Debug)]
pub(crate) struct Road {
    /// The step's frame, as the traffic gives it.
    pub(crate) frame: Frame,
    slots: Slots,
    placed: Placed,
    /// Index in the frame by place; [`ABSENT`] for free places.
    index: Vec<u32>,
    /// By place: it has a radio.
    equipped: Vec<bool>,
    /// By place: what it carries.
    outfits: Vec<OutfitIx>,
    /// By vehicle number, where outfits do not follow from kinds alone.
    outfit_of: Vec<Option<OutfitIx>>,
    participants: Vec<Slot>,
    /// Since which step a place is taken.
    appeared: Vec<Step>,
    tile: Vec<TileNumber>,
    /// States by step and place.
    ring: Vec<Vec<Moment>>,
}

impl Default for Road {
    fn default() -> Self {
        Self {
            frame: Frame::default(),
            slots: Slots::default(),
            placed: Placed::default(),
            index: Vec::new(),
            equipped: Vec::new(),
            outfits: Vec::new(),
            outfit_of: Vec::new(),
            participants: Vec::new(),
            appeared: Vec::new(),
            tile: Vec::new(),
            ring: vec![Vec::new(); RING],
        }
    }
}

impl Road {
    /// How many places there are, free ones included.
    pub(crate) fn size(&self) -> usize {
        self.slots.len()
    }

    /// All places, free ones included.
    pub(crate) fn places(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.size() as u32).map(Slot)
    }

    /// The place of a vehicle, if it is present.
    pub(crate) fn slot(&self, id: u32) -> Option<Slot> {
        self.slots.of(id)
    }

    /// The vehicle at a place.
    #[inline]
    pub(crate) fn id(&self, slot: Slot) -> u32 {
        self.slots.id(slot)
    }

    /// The agent at a place.
    #[inline]
    pub(crate) fn agent(&self, slot: Slot) -> AgentId {
        AgentId(u64::from(self.id(slot)))
    }

    /// The place of an object, if it is present.
    pub(crate) fn slot_of(&self, object: ObjectId) -> Option<Slot> {
        self.slots.of(u32::try_from(object.0).ok()?)
    }

    /// The place of who stands there in the frame.
    #[inline]
    pub(crate) fn at(&self, index: FrameIndex) -> Slot {
        self.placed.places[index.index()]
    }

    /// Everyone's place, in the order of the frame.
    pub(crate) fn present(&self) -> &[Slot] {
        &self.placed.places
    }

    /// Places left in this step.
    pub(crate) fn left(&self) -> &[Slot] {
        &self.placed.left
    }

    /// Places newly taken in this step.
    pub(crate) fn taken(&self) -> &[Slot] {
        &self.placed.taken
    }

    /// Where the vehicle at a place stands in the frame, if the place is taken.
    #[inline]
    pub(crate) fn index(&self, slot: Slot) -> Option<FrameIndex> {
        let index = self.index[slot.index()];
        (index != ABSENT).then_some(FrameIndex(index))
    }

    /// The vehicle at a place that is taken.
    pub(crate) fn vehicle(&self, slot: Slot) -> &VehicleState {
        &self.frame.vehicles[self.index[slot.index()] as usize]
    }

    /// The vehicle at a place has a radio.
    #[inline]
    pub(crate) fn participates(&self, slot: Slot) -> bool {
        self.equipped[slot.index()]
    }

    /// Participants' places, ascending.
    pub(crate) fn participants(&self) -> &[Slot] {
        &self.participants
    }

    /// Since which step a place is taken.
    pub(crate) fn appeared(&self, slot: Slot) -> Step {
        self.appeared[slot.index()]
    }

    /// The tile in which a place's vehicle really is.
    #[inline]
    pub(crate) fn tile(&self, slot: Slot) -> TileNumber {
        self.tile[slot.index()]
    }

    /// Tiles by place.
    pub(crate) fn tiles(&self) -> &[TileNumber] {
        &self.tile
    }

    /// A vehicle's state at a step of the last [`RING`].
    #[inline]
    pub(crate) fn moment(&self, slot: Slot, step: Step) -> &Moment {
        &self.ring[step.0 as usize % RING][slot.index()]
    }

    /// All of them by place, as far as there were places at that step.
    pub(crate) fn moments(&self, step: Step) -> &[Moment] {
        &self.ring[step.0 as usize % RING]
    }

    /// What the vehicle at a place carries.
    pub(crate) fn outfit<'p>(&self, prepared: &'p Prepared, slot: Slot) -> &'p Outfit {
        prepared.outfits.get(self.outfits[slot.index()])
    }

    /// The sensors at a place, where they are not everybody's: whoever has no radio has eyes.
    pub(crate) fn sensor<'p>(&self, prepared: &'p Prepared, slot: Slot) -> Option<&'p Sensor> {
        let outfit = self.participates(slot).then(|| self.outfit(prepared, slot));
        outfit.and_then(|outfit| outfit.sensor.as_ref())
    }

    /// Gives the vehicles of the frame, as the traffic made it, kinds and sizes, and adds the stations beside the road.
    pub(crate) fn outfit_all<'t>(
        &mut self,
        prepared: &Prepared,
        type_of: impl Fn(u32) -> Option<&'t str>,
    ) -> Result<(), String> {
        let outfits = &prepared.outfits;
        if outfits.are_plain() {
            return Ok(());
        }
        for vehicle in &mut self.frame.vehicles {
            let id = vehicle.id.0;
            if id >= FIRST_STATION && !outfits.stations().is_empty() {
                return Err(format!(
                    "found more than {FIRST_STATION} vehicles, expected fewer where there are stations beside the road"
                ));
            }
            if self.outfit_of.len() <= id as usize {
                self.outfit_of.resize(id as usize + 1, None);
            }
            let kind = vehicle.body.kind;
            let outfit = *self.outfit_of[id as usize]
                .get_or_insert_with(|| outfits.of_type(&prepared.scenario, kind, type_of(id)));
            outfits.get(outfit).fit(vehicle);
        }
        self.frame.vehicles.extend_from_slice(outfits.stations());
        Ok(())
    }

    /// Gives the vehicles of the frame their places and states.
    pub(super) fn place(&mut self, prepared: &Prepared, seed: u64, step: Step) {
        let ids = self.frame.vehicles.iter().map(|v| v.id.0);
        self.slots.update(step, ids, &mut self.placed);
        let size = self.slots.len();
        self.index.clear();
        self.index.resize(size, ABSENT);
        self.equipped.resize(size, false);
        self.outfits.resize(size, OutfitIx::default());
        self.appeared.resize(size, Step(0));
        self.tile.resize(size, TileNumber(0));
        for &slot in &self.placed.left {
            self.equipped[slot.index()] = false;
        }
        for (at, slot) in self.placed.places.iter().enumerate() {
            self.index[slot.index()] = at as u32;
        }
        let equipment = Draws::new(seed, Purpose::Equipment, 0, 0);
        for &slot in &self.placed.taken {
            let id = self.slots.id(slot);
            let share = equipment.at(id, 0).uniform();
            let scenario = &prepared.scenario;
            let kind = self.frame.vehicles[self.index[slot.index()] as usize]
                .body
                .kind;
            let outfits = &prepared.outfits;
            let outfit = match kind {
                BodyKind::Roadside => outfits.of_station(id),
                _ => match self.outfit_of.get(id as usize) {
                    Some(&Some(outfit)) => outfit,
                    _ => outfits.of_kind(kind),
                },
            };
            self.outfits[slot.index()] = outfit;
            self.equipped[slot.index()] =
                share < outfits.get(outfit).radio && !scenario.unequipped.contains(&id);
            self.appeared[slot.index()] = step;
        }
        self.take_states(prepared, seed, step);
        self.participants.clear();
        for slot in self.places() {
            if self.equipped[slot.index()] && self.index[slot.index()] != ABSENT {
                self.participants.push(slot);
            }
        }
    }

    /// Keeps everyone's state, as it believes it to be.
    fn take_states(&mut self, prepared: &Prepared, seed: u64, step: Step) {
        let grid = &prepared.grid;
        let errors = &prepared.scenario.errors;
        let tile_m = prepared.scenario.protocol.tile_m;
        let now = step.0 as usize;
        let mut moments = std::mem::take(&mut self.ring[now % RING]);
        moments.resize(self.size(), Moment::default());
        let vehicles = self.frame.vehicles.iter().zip(&self.placed.places);
        for (at, (vehicle, &slot)) in vehicles.enumerate() {
            self.index[slot.index()] = at as u32;
            let mut moment = Moment::new(grid, prepared.azimuth, vehicle);
            let tile = Tile::containing(moment.state.position, tile_m);
            self.tile[slot.index()] = prepared.tiles.number(tile);
            if errors.position_error_m > 0.0 {
                let before = &self.ring[(now + RING - 1) % RING];
                let before =
                    (self.appeared[slot.index()] < step).then(|| before[slot.index()].error);
                moment.displace(grid, errors.next(seed, vehicle.id.0, step.0, before));
            }
            moments[slot.index()] = moment;
        }
        self.ring[now % RING] = moments;
    }
}
