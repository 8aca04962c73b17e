//! What all arms of a seed share, step by step: traffic, sight, links, relevance. None of it depends on who transmits.

use std::thread;
use std::time::Instant as Clock;

use covey_protocol::beacons::BeaconTimer;
use covey_protocol::messages::{AgentState, Confidence, ObjectState, Size};
use covey_protocol::{AgentId, Cell, Instant, ObjectId, Position, Tile};
use covey_radio::PairLink;
use covey_radio::draw::{Draws, Purpose};
use covey_traffic::STEP_US;
use covey_world::paths::RelevantPairs;
use covey_world::{Frame, Point, VehicleState, paths};

use crate::awareness::{Matrix, Stamp};
use crate::cpu::thread_cpu_s;
use crate::outcome::Timing;
use crate::prepared::Prepared;
use crate::scene::{Ears, Eyes, Scene, Sensing};
use crate::slots::{NO_SLOT, Slots};

/// Steps of vehicle states that are remembered.
pub(crate) const RING: usize = 64;
/// Draws of who participates.
const EQUIPMENT: Purpose = Purpose::custom(1);
/// After this many steps stamps are counted from a new origin.
const REBASE_AT: u32 = 60_000;
const REBASE_BY: u16 = if cfg!(test) { 100 } else { 30_000 };

/// A vehicle's state at one step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment {
    /// In the grid frame, as beacons tell it: with the vehicle's own idea of where it is.
    pub(crate) state: AgentState,
    /// How far that is off the truth.
    pub(crate) error: [f64; 2],
    /// In the map's plane.
    pub(crate) map: Point,
}

impl Moment {
    /// Where it really is, in the grid frame.
    pub(crate) fn truth(&self) -> Position {
        let Position { x, y } = self.state.position;
        Position::new(x - self.error[0], y - self.error[1])
    }

    fn displace(&mut self, grid: &covey_world::GridFrame, error: [f64; 2]) {
        self.error = error;
        let Position { x, y } = self.state.position;
        self.state.position = Position::new(x + error[0], y + error[1]);
        self.map = grid.to_map(Point::new(x + error[0], y + error[1]));
    }
}

/// Lists by place, flat.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T> {
    pub(crate) begin: Vec<u32>,
    pub(crate) items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            begin: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T> Lists<T> {
    /// The list of a place; empty where there is none.
    pub(crate) fn of(&self, slot: u32) -> &[T] {
        match (
            self.begin.get(slot as usize),
            self.begin.get(slot as usize + 1),
        ) {
            (Some(&a), Some(&b)) => &self.items[a as usize..b as usize],
            _ => &[],
        }
    }
}

impl<T: Copy> Lists<T> {
    /// Keeps the items for which `keep(place, item)` holds.
    fn retain(&mut self, keep: impl Fn(u32, &T) -> bool) {
        let (mut from, mut to) = (0, 0);
        for place in 1..self.begin.len() {
            let end = self.begin[place] as usize;
            for at in from..end {
                let item = self.items[at];
                if keep(place as u32 - 1, &item) {
                    self.items[to] = item;
                    to += 1;
                }
            }
            self.begin[place] = to as u32;
            from = end;
        }
        self.items.truncate(to);
    }
}

/// Links of participants, by sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    pub(crate) begin: Vec<u32>,
    /// Receivers' places.
    pub(crate) receivers: Vec<u32>,
    /// Receivers' numbers, for draws.
    pub(crate) ids: Vec<u32>,
    pub(crate) links: Vec<PairLink>,
}

impl Links {
    /// Where the links of a sender are.
    pub(crate) fn range(&self, sender: u32) -> std::ops::Range<usize> {
        match (
            self.begin.get(sender as usize),
            self.begin.get(sender as usize + 1),
        ) {
            (Some(&a), Some(&b)) => a as usize..b as usize,
            _ => 0..0,
        }
    }
}

impl Links {
    /// Keeps the links for which `keep(sender, receiver)` holds.
    fn retain(&mut self, keep: impl Fn(u32, u32) -> bool) {
        let (mut from, mut to) = (0, 0);
        for place in 1..self.begin.len() {
            let end = self.begin[place] as usize;
            for at in from..end {
                if keep(place as u32 - 1, self.receivers[at]) {
                    self.receivers[to] = self.receivers[at];
                    self.ids[to] = self.ids[at];
                    self.links[to] = self.links[at];
                    to += 1;
                }
            }
            self.begin[place] = to as u32;
            from = end;
        }
        self.receivers.truncate(to);
        self.ids.truncate(to);
        self.links.truncate(to);
    }
}

/// The shared part of a run.
#[derive(Debug)]
pub(crate) struct Shared<'p> {
    pub(crate) prepared: &'p Prepared,
    pub(crate) seed: u64,
    pub(crate) step: u32,
    /// The step that stamp 1 stands for.
    pub(crate) origin: u32,
    /// Steps after which the origin moves.
    pub(crate) rebase_at: u32,
    pub(crate) frame: Frame,
    pub(crate) slots: Slots,
    /// Place by index in the frame.
    pub(crate) places: Vec<u32>,
    /// Places left and taken in this step.
    pub(crate) left: Vec<u32>,
    pub(crate) taken: Vec<u32>,
    /// Index in the frame by place; [`NO_SLOT`] for free places.
    pub(crate) index: Vec<u32>,
    pub(crate) participant: Vec<bool>,
    /// Participants' places, ascending.
    pub(crate) participants: Vec<u32>,
    /// Since which step a place is taken.
    pub(crate) appeared: Vec<u32>,
    /// Tile by place.
    pub(crate) tile: Vec<u32>,
    ring: Vec<Vec<Moment>>,
    /// The step of the newest sensing.
    pub(crate) sensed_step: u32,
    /// Objects seen at that step, by observer.
    pub(crate) seen: Lists<u32>,
    /// Cells seen at that step, by observer.
    pub(crate) cells: Lists<Cell>,
    /// Newest own sensing, by object and observer.
    pub(crate) sensed: Matrix<Stamp>,
    /// Newest sensing by any participant, by object.
    pub(crate) sensed_by_any: Vec<Stamp>,
    /// Whether cells are wanted at all.
    pub(crate) with_cells: bool,
    /// Neither sight nor links are wanted.
    pub(crate) blind: bool,
    /// What vehicles without a radio see matters: they have no part in a run, only in one of its measures.
    pub(crate) everyone_looks: bool,
    pub(crate) links: Links,
    /// By place.
    pub(crate) beacon_timers: Vec<BeaconTimer>,
    /// Threads that may work on the run.
    pub(crate) threads: usize,
    /// CPU seconds of threads other than the run's own.
    pub(crate) helpers_cpu_s: f64,
    relevance: paths::Relevance,
    pub(crate) relevant: RelevantPairs,
    pub(crate) timing: Timing,
    eyes: Eyes,
    ears: Ears,
    /// Working memory: places that were left.
    gone: Vec<bool>,
}

impl<'p> Shared<'p> {
    pub(crate) fn new(prepared: &'p Prepared, seed: u64, with_cells: bool, margin_m: f64) -> Self {
        let scenario = &prepared.scenario;
        let mut relevance = scenario.evaluation.relevance(&scenario.protocol);
        relevance.margin = margin_m;
        Self {
            prepared,
            seed,
            step: 0,
            origin: 0,
            rebase_at: REBASE_AT,
            frame: Frame::default(),
            slots: Slots::default(),
            places: Vec::new(),
            left: Vec::new(),
            taken: Vec::new(),
            index: Vec::new(),
            participant: Vec::new(),
            participants: Vec::new(),
            appeared: Vec::new(),
            tile: Vec::new(),
            ring: vec![Vec::new(); RING],
            sensed_step: 0,
            seen: Lists::default(),
            cells: Lists::default(),
            sensed: Matrix::default(),
            sensed_by_any: Vec::new(),
            with_cells,
            blind: false,
            everyone_looks: true,
            links: Links::default(),
            beacon_timers: Vec::new(),
            threads: 1,
            helpers_cpu_s: 0.0,
            relevance: paths::Relevance::new(
                prepared.predictor.clone(),
                prepared.conflicts.clone(),
                relevance,
            ),
            relevant: RelevantPairs::new(),
            timing: Timing::default(),
            eyes: Eyes::default(),
            ears: Ears::default(),
            gone: Vec::new(),
        }
    }

    /// The present.
    pub(crate) fn now(&self) -> Instant {
        self.instant(self.step)
    }

    /// The time of a step.
    pub(crate) fn instant(&self, step: u32) -> Instant {
        Instant::from_micros(i64::from(step) * STEP_US)
    }

    /// The stamp of a step.
    pub(crate) fn stamp(&self, step: u32) -> Stamp {
        (step + 1).saturating_sub(self.origin) as Stamp
    }

    /// The step of a stamp that is not zero.
    pub(crate) fn step_of(&self, stamp: Stamp) -> u32 {
        u32::from(stamp) + self.origin - 1
    }

    /// A vehicle's state at a step of the last [`RING`].
    pub(crate) fn moment(&self, slot: u32, step: u32) -> &Moment {
        &self.ring[step as usize % RING][slot as usize]
    }

    /// A vehicle's present state.
    pub(crate) fn here(&self, slot: u32) -> &Moment {
        self.moment(slot, self.step)
    }

    /// The agent at a place.
    pub(crate) fn agent(&self, slot: u32) -> AgentId {
        AgentId(u64::from(self.slots.id(slot)))
    }

    /// The place of an object, if it is present.
    pub(crate) fn slot_of(&self, object: ObjectId) -> Option<u32> {
        self.slots.of(u32::try_from(object.0).ok()?)
    }

    /// Steps into the cycle.
    pub(crate) fn phase(&self) -> u32 {
        self.step % self.prepared.timeline.cycle
    }

    /// This step is that of the hosts' decision and of the metric.
    pub(crate) fn is_decision(&self) -> bool {
        self.phase() == self.prepared.timeline.decision
    }

    /// Sensors look at this step.
    pub(crate) fn is_sensing(&self) -> bool {
        self.step.is_multiple_of(self.prepared.timeline.beacon)
    }

    /// Takes in the frame of the next step, which the caller put into `self.frame`. Gives whether stamps have a new origin:
    /// all matrices must then be moved by [`rebase`].
    pub(crate) fn advance(&mut self, step: u32, evaluate: bool) -> bool {
        self.step = step;
        let rebased = step - self.origin >= self.rebase_at;
        if rebased {
            self.origin += u32::from(REBASE_BY);
            self.sensed.each(rebase);
            self.sensed_by_any.iter_mut().for_each(rebase);
        }
        self.place();
        if self.is_sensing() && !self.blind {
            self.look();
        }
        if evaluate && self.is_decision() {
            let clock = Clock::now();
            self.relevance.step(&self.frame, &mut self.relevant);
            self.timing.paths_s += clock.elapsed().as_secs_f64();
        }
        rebased
    }

    /// Gives vehicles their places and states.
    fn place(&mut self) {
        let ids = self.frame.vehicles.iter().map(|v| v.id.0);
        self.slots.update(
            self.step,
            ids,
            &mut self.places,
            &mut self.left,
            &mut self.taken,
        );
        let size = self.slots.len();
        self.index.clear();
        self.index.resize(size, NO_SLOT);
        self.participant.resize(size, false);
        self.appeared.resize(size, 0);
        self.tile.resize(size, 0);
        self.sensed_by_any.resize(size, 0);
        self.sensed.grow(size);
        for &slot in &self.left {
            self.sensed.clear(slot);
            self.sensed_by_any[slot as usize] = 0;
            self.participant[slot as usize] = false;
        }
        if !self.left.is_empty() && !self.is_sensing() {
            self.forget_left();
        }
        let equipment = Draws::new(self.seed, EQUIPMENT, 0, 0);
        for &slot in &self.taken {
            let id = self.slots.id(slot);
            let share = equipment.at(id, 0).uniform();
            let scenario = &self.prepared.scenario;
            self.participant[slot as usize] =
                share < scenario.penetration && !scenario.unequipped.contains(&id);
            self.appeared[slot as usize] = self.step;
        }
        self.participants.clear();
        let grid = &self.prepared.grid;
        let errors = &self.prepared.scenario.errors;
        let tile_m = self.prepared.scenario.protocol.tile_m;
        let mut moments = std::mem::take(&mut self.ring[self.step as usize % RING]);
        moments.resize(size, Moment::default());
        for (at, (vehicle, &slot)) in self.frame.vehicles.iter().zip(&self.places).enumerate() {
            self.index[slot as usize] = at as u32;
            let mut moment = moment(grid, self.prepared.azimuth, vehicle);
            let tile = Tile::containing(moment.state.position, tile_m);
            self.tile[slot as usize] = self.prepared.tiles.number(tile);
            if errors.position_error_m > 0.0 {
                let before = (self.appeared[slot as usize] < self.step).then(|| {
                    self.ring[(self.step as usize + RING - 1) % RING][slot as usize].error
                });
                moment.displace(
                    grid,
                    errors.next(self.seed, vehicle.id.0, self.step, before),
                );
            }
            moments[slot as usize] = moment;
        }
        self.ring[self.step as usize % RING] = moments;
        for slot in 0..size as u32 {
            if self.participant[slot as usize] && self.index[slot as usize] != NO_SLOT {
                self.participants.push(slot);
            }
        }
    }

    /// Takes who left out of what was last sensed and linked, before others get their places. Where sensors look in this
    /// step all of it is found anew.
    fn forget_left(&mut self) {
        let gone = &mut self.gone;
        gone.clear();
        gone.resize(self.slots.len(), false);
        for &slot in &self.left {
            gone[slot as usize] = true;
        }
        let gone = &self.gone;
        let stays = |slot: u32| !gone[slot as usize];
        self.seen
            .retain(|observer, &object| stays(observer) && stays(object));
        self.cells.retain(|observer, _| stays(observer));
        self.links
            .retain(|sender, receiver| stays(sender) && stays(receiver));
    }

    /// Sensors look and links are found anew: side by side where there is a thread to spare.
    fn look(&mut self) {
        let stamp = self.stamp(self.step);
        self.sensed_step = self.step;
        let scene = Scene {
            prepared: self.prepared,
            seed: self.seed,
            step: self.step,
            observed: self.prepared.sight.observe(&self.frame.vehicles),
            frame: &self.frame,
            slots: &self.slots,
            places: &self.places,
            index: &self.index,
            participant: &self.participant,
            participants: &self.participants,
        };
        let sensing = Sensing {
            stamp,
            with_cells: self.with_cells,
            everyone_looks: self.everyone_looks,
            seen: &mut self.seen,
            cells: &mut self.cells,
            sensed: &mut self.sensed,
            sensed_by_any: &mut self.sensed_by_any,
        };
        let (links, eyes, ears) = (&mut self.links, &mut self.eyes, &mut self.ears);
        let sense = || {
            let clock = Clock::now();
            scene.sense(sensing, eyes);
            clock.elapsed().as_secs_f64()
        };
        let mut link = || {
            let clock = Clock::now();
            scene.link(links, ears);
            clock.elapsed().as_secs_f64()
        };
        if self.threads > 1 {
            thread::scope(|scope| {
                let helper = scope.spawn(|| (link(), thread_cpu_s()));
                self.timing.sight_s += sense();
                let (links_s, cpu_s) = helper
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                self.timing.links_s += links_s;
                self.helpers_cpu_s += cpu_s;
            });
        } else {
            self.timing.sight_s += sense();
            self.timing.links_s += link();
        }
    }

    /// Participants that may have been within a radius of a place at some time of so many seconds, itself not included.
    pub(crate) fn around(
        &self,
        slot: u32,
        radius_m: f64,
        seconds: f64,
    ) -> impl Iterator<Item = u32> + '_ {
        let speeds = self.frame.vehicles.iter().map(|v| v.speed);
        let fastest = speeds.fold(0.0, f64::max);
        // A vehicle may have been a little faster than the fastest is now.
        let reach = radius_m + 2.0 * (fastest + 15.0) * seconds;
        let here = self.here(slot).truth();
        let participants = self.participants.iter().copied();
        participants
            .filter(move |&other| other != slot && self.here(other).truth().distance(here) <= reach)
    }

    /// An object as it was at a step; its position is exact.
    pub(crate) fn object(&self, slot: u32, step: u32) -> ObjectState {
        let moment = self.moment(slot, step);
        let state = &moment.state;
        ObjectState {
            id: ObjectId(u64::from(self.slots.id(slot))),
            position: moment.truth(),
            velocity: state.velocity(),
            size: state.size,
            sensed_at: self.instant(step),
            confidence: Confidence::FULL,
        }
    }

    /// An object as somebody sensed it at a step.
    pub(crate) fn perceived(&self, observer: u32, object: u32, step: u32) -> ObjectState {
        let state = self.object(object, step);
        let errors = &self.prepared.scenario.errors;
        if errors.are_none() {
            return state;
        }
        let ids = [self.slots.id(observer), self.slots.id(object)];
        let own = self.moment(observer, step).error;
        ObjectState {
            position: errors.perceived(self.seed, ids, step, own, state.position),
            ..state
        }
    }

    /// Bytes that a tile carries in a cycle.
    pub(crate) fn cycle_capacity(&self) -> f64 {
        let p = &self.prepared.scenario.protocol;
        p.capacity_bytes_per_s * p.cycle_s
    }
}

/// Moves a stamp to the new origin; what is older than that is forgotten.
pub(crate) fn rebase(stamp: &mut Stamp) {
    *stamp = stamp.saturating_sub(REBASE_BY);
}

fn moment(grid: &covey_world::GridFrame, azimuth: f64, vehicle: &VehicleState) -> Moment {
    let p = grid.to_grid(vehicle.position);
    Moment {
        state: AgentState {
            position: Position::new(p.x, p.y),
            heading: vehicle.heading - azimuth,
            speed: vehicle.speed,
            size: Size {
                length: vehicle.body.length,
                width: vehicle.body.width,
                height: vehicle.body.height,
            },
        },
        error: [0.0; 2],
        map: vehicle.position,
    }
}
