//! What all arms of a seed share, step by step: traffic, sight, links, relevance. None of it depends on who transmits.

use std::time::Instant as Clock;

use covey_protocol::messages::{AgentState, Confidence, ObjectState, PathCell, Size};
use covey_protocol::{AgentId, Cell, Duration, Instant, ObjectId, Position, Tile};
use covey_radio::draw::{Draws, Purpose};
use covey_radio::{Blockage, FadingDraws, LinkGeometry, LinkState, PairLink};
use covey_traffic::STEP_US;
use covey_world::paths::{BeaconState, PathBuffer, RelevantPairs, RiskCell};
use covey_world::sight::{self, Scratch};
use covey_world::{Frame, Point, VehicleState, paths};

use crate::awareness::{Matrix, Stamp};
use crate::beaconing::Beaconing;
use crate::outcome::Timing;
use crate::pair_memory::{PairMemory, Vehicle};
use crate::prepared::Prepared;
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
    pub(crate) map_heading: f64,
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
    begin: Vec<u32>,
    items: Vec<T>,
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
    begin: Vec<u32>,
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
    pub(crate) beaconing: Beaconing,
    /// Fading by unordered pair.
    fading: PairMemory,
    relevance: paths::Relevance,
    pub(crate) relevant: RelevantPairs,
    pub(crate) timing: Timing,
    scratch: Scratch,
    buffers: Buffers,
}

#[derive(Debug, Default)]
struct Buffers {
    objects: Vec<u32>,
    cells: Vec<(i32, i32)>,
    onward: Vec<sight::Link>,
    linked: Vec<bool>,
    gone: Vec<bool>,
    pairs: Vec<(u32, u32, PairLink)>,
    next: Vec<u32>,
    turned: Vec<(u32, PairLink)>,
    present: Vec<u64>,
    by_place: Vec<PairLink>,
}

/// Working memory for paths.
#[derive(Debug, Default)]
pub(crate) struct PathScratch {
    path: PathBuffer,
    risk: Vec<RiskCell>,
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
            beaconing: Beaconing::default(),
            fading: PairMemory::default(),
            relevance: paths::Relevance::new(
                prepared.predictor.clone(),
                prepared.conflicts.clone(),
                relevance,
            ),
            relevant: RelevantPairs::new(),
            timing: Timing::default(),
            scratch: Scratch::default(),
            buffers: Buffers::default(),
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
            let clock = Clock::now();
            self.sense();
            self.timing.sight_s += clock.elapsed().as_secs_f64();
            let clock = Clock::now();
            self.link();
            self.timing.links_s += clock.elapsed().as_secs_f64();
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
        let gone = &mut self.buffers.gone;
        gone.clear();
        gone.resize(self.slots.len(), false);
        for &slot in &self.left {
            gone[slot as usize] = true;
        }
        let gone = &self.buffers.gone;
        let stays = |slot: u32| !gone[slot as usize];
        self.seen
            .retain(|observer, &object| stays(observer) && stays(object));
        self.cells.retain(|observer, _| stays(observer));
        self.links
            .retain(|sender, receiver| stays(sender) && stays(receiver));
    }

    fn sense(&mut self) {
        self.sensed_step = self.step;
        let stamp = self.stamp(self.step);
        let observed = self.prepared.sight.observe(&self.frame.vehicles);
        let buffers = &mut self.buffers;
        for lists in [&mut self.seen.begin, &mut self.cells.begin] {
            lists.clear();
            lists.push(0);
        }
        self.seen.items.clear();
        self.cells.items.clear();
        for slot in 0..self.slots.len() {
            let at = self.index[slot];
            if at != NO_SLOT && (self.everyone_looks || self.participant[slot]) {
                let mut view = observed.view(at, &mut self.scratch);
                view.objects(&mut buffers.objects);
                if self.with_cells && self.participant[slot] {
                    view.cells(&self.prepared.grid, &mut buffers.cells);
                    let cells = buffers.cells.iter();
                    self.cells
                        .items
                        .extend(cells.map(|&(ix, iy)| Cell { ix, iy }));
                }
                for &object in &buffers.objects {
                    let object = self.places[object as usize];
                    self.seen.items.push(object);
                    self.sensed.row_mut(object)[slot] = stamp;
                    if self.participant[slot] {
                        self.sensed_by_any[object as usize] = stamp;
                    }
                }
            }
            self.seen.begin.push(self.seen.items.len() as u32);
            self.cells.begin.push(self.cells.items.len() as u32);
        }
    }

    fn link(&mut self) {
        let observed = self.prepared.sight.observe(&self.frame.vehicles);
        let channel = &self.prepared.channel;
        let ranges = channel.parameters();
        let draws = FadingDraws::new(self.seed, u64::from(self.step));
        let buffers = &mut self.buffers;
        buffers.pairs.clear();
        buffers.linked.clear();
        let linked = self.places.iter();
        buffers
            .linked
            .extend(linked.map(|&slot| self.participant[slot as usize]));
        let last_update = self.step.saturating_sub(self.prepared.timeline.beacon);
        self.fading.begin(self.step, last_update, self.slots.len());
        for &slot in &self.participants {
            let at = self.index[slot as usize];
            observed.links_onward_among(
                at,
                &buffers.linked,
                &mut self.scratch,
                &mut buffers.onward,
            );
            let vehicle = &self.frame.vehicles[at as usize];
            self.fading.visit(Vehicle {
                place: slot,
                id: vehicle.id.0,
            });
            for link in &buffers.onward {
                let other = self.places[link.other as usize];
                let peer = &self.frame.vehicles[link.other as usize];
                let offset = vehicle.position - peer.position;
                let antennas = [vehicle.body.height, peer.body.height];
                let dz = antennas[0] - antennas[1];
                let distance = (offset.dot(offset) + dz * dz).sqrt();
                let (state, case) = match link.state {
                    sight::LinkState::Clear => (LinkState::Los, None),
                    sight::LinkState::Vehicle { tallest } => (
                        LinkState::NlosV {
                            blocker_height_m: tallest,
                        },
                        Some(Blockage::of(antennas, tallest)),
                    ),
                    sight::LinkState::Building => (LinkState::Nlos, None),
                };
                if distance > ranges.range_m(state.kind()) {
                    continue;
                }
                let mean = match state {
                    LinkState::Nlos => None,
                    _ => self.prepared.mean_errors.of(case, distance),
                };
                let pair = match mean {
                    Some(error) => PairLink::new(distance, 1.0 - error),
                    None => {
                        let id = peer.id.0;
                        let fading = self.fading.of(Vehicle { place: other, id });
                        // The order of the ends must not change from update to update.
                        let (offset, antennas) = if vehicle.id < peer.id {
                            (offset, antennas)
                        } else {
                            (offset * -1.0, [antennas[1], antennas[0]])
                        };
                        let geometry = LinkGeometry {
                            offset_m: [offset.x, offset.y],
                            antennas_m: antennas,
                            state,
                        };
                        channel.update(fading, &draws, [vehicle.id.0, id], &geometry)
                    }
                };
                if pair.success > 0.0 {
                    buffers.pairs.push((slot, other, pair));
                }
            }
        }
        self.tabulate();
    }

    /// Lists the pairs at both ends, each sender's receivers by ascending place. Pairs come by ascending first end.
    fn tabulate(&mut self) {
        let Buffers {
            pairs,
            next,
            turned,
            present,
            by_place,
            ..
        } = &mut self.buffers;
        let links = &mut self.links;
        let size = self.slots.len();
        // Each pair at its second end.
        next.clear();
        next.resize(size + 1, 0);
        for &(_, b, _) in pairs.iter() {
            next[b as usize + 1] += 1;
        }
        for slot in 0..size {
            next[slot + 1] += next[slot];
        }
        turned.resize(pairs.len(), (0, PairLink::LOST));
        for &(a, b, link) in pairs.iter() {
            let place = &mut next[b as usize];
            turned[*place as usize] = (a, link);
            *place += 1;
        }
        // A row is sorted by marking its receivers: all of that stays in the nearest cache.
        present.resize(size.div_ceil(64), 0);
        by_place.resize(size, PairLink::LOST);
        links.begin.clear();
        links.begin.push(0);
        links.receivers.clear();
        links.ids.clear();
        links.links.clear();
        let (mut first, mut back) = (0, 0);
        for (row, &end) in next[..size].iter().enumerate() {
            let (mut low, mut high) = (usize::MAX, 0);
            let mut mark = |other: u32, link: PairLink| {
                let word = other as usize / 64;
                by_place[other as usize] = link;
                present[word] |= 1 << (other % 64);
                low = low.min(word);
                high = high.max(word + 1);
            };
            for &(other, link) in &turned[back..end as usize] {
                mark(other, link);
            }
            back = end as usize;
            while let Some(&(_, other, link)) =
                pairs.get(first).filter(|&&(a, ..)| a as usize == row)
            {
                mark(other, link);
                first += 1;
            }
            // Where nothing is marked, nothing is taken.
            for (word, set) in present.iter_mut().enumerate().take(high).skip(low) {
                let mut set = std::mem::take(set);
                while set != 0 {
                    let other = (word * 64) as u32 + set.trailing_zeros();
                    set &= set - 1;
                    links.receivers.push(other);
                    links.ids.push(self.slots.id(other));
                    links.links.push(by_place[other as usize]);
                }
            }
            links.begin.push(links.receivers.len() as u32);
        }
    }

    /// The cells that matter to a vehicle, by its state at a step: what its beacon then told.
    pub(crate) fn path_of(
        &self,
        slot: u32,
        step: u32,
        scratch: &mut PathScratch,
        out: &mut Vec<PathCell>,
    ) {
        let moment = &self.ring[step as usize % RING][slot as usize];
        let beacon = BeaconState {
            position: moment.map,
            heading: moment.map_heading,
            speed: moment.state.speed,
        };
        self.prepared
            .risk_prior
            .cells(&beacon, &mut scratch.path, &mut scratch.risk);
        out.clear();
        out.extend(scratch.risk.iter().map(|cell| PathCell {
            cell: Cell {
                ix: cell.ix,
                iy: cell.iy,
            },
            after: Duration::from_micros(cell.arrival_us),
            weight: cell.weight,
        }));
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
        map_heading: vehicle.heading,
    }
}
