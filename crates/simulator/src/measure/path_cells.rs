//! The 5 m grid of the letter, as a secondary metric (reading 40): of the cells on a participant's own path, those that are
//! seen in time by itself, or by someone whose report or broadcast it decoded.
//!
//! The path is the true one, 5 s of travel and 10 m; the deadline of its cells is the reaction deadline at the vehicle's own
//! speed. A cell is seen as a 20 m cell is: its centre, half a metre above the ground. What a sender sees now stands for
//! what it saw at the sensing of its message, whose age must be within the deadline.
//!
//! Views are expensive, so only one cycle in [`EVERY`] and one participant in `evaluation.sample_one_in` are looked at, drawn
//! by address, and what an observer sees of the sampled paths is found once for all arms.

use covey_world::Point;
use covey_world::paths::{PathBuffer, PathReach, own_path_cells};
use covey_world::sight::{Observed, Scratch};

use super::knowledge::{Knowledge, age_us};
use crate::channel::Speaker;
use crate::ids::{Slot, Step};
use crate::world::World;

/// Side of a cell, in metres: letter, section on the digest.
const CELL_M: f64 = 5.0;
/// One cycle in this many is looked at; prime to the cycles from one full broadcast to the next.
pub(crate) const EVERY: u32 = 11;

/// A participant whose path is looked at.
#[derive(Debug, Clone)]
struct Sampled {
    slot: Slot,
    cells: std::ops::Range<usize>,
    deadline_us: i64,
    /// Whoever is farther away sees none of the path.
    reach_m: f64,
}

/// The sampled paths of one evaluation.
#[derive(Debug, Default)]
pub(crate) struct PathCells {
    sampled: Vec<Sampled>,
    points: Vec<Point>,
    /// By place: which of the points it sees, where somebody asked.
    views: Vec<Option<Vec<bool>>>,
    scratch: Scratch,
    seen: Vec<bool>,
}

impl PathCells {
    /// Finds the paths; none where this is not a cycle to look at.
    pub(crate) fn new(world: &World<'_>) -> Self {
        let mut cells = Self::default();
        let prepared = world.prepared;
        let cycle = world.cycle();
        let Some(grid) = prepared.grid.with_cell_size(CELL_M) else {
            return cells;
        };
        if !cycle.is_multiple_of(EVERY) {
            return cells;
        }
        let one_in = u64::from(prepared.scenario.evaluation.sample_one_in);
        let reach = PathReach::default();
        let evaluation = &prepared.scenario.evaluation;
        let deadline = evaluation.relevance(&prepared.scenario.protocol).deadline;
        let (mut buffer, mut path) = (PathBuffer::default(), Vec::new());
        for &slot in world.road.participants() {
            if !(world.agent(slot).mixed() >> 12).is_multiple_of(one_in) {
                continue;
            }
            let vehicle = world.road.vehicle(slot);
            own_path_cells(
                &prepared.predictor,
                vehicle,
                &reach,
                &grid,
                &mut buffer,
                &mut path,
            );
            let begin = cells.points.len();
            let centres = path.iter().map(|cell| grid.centre_of((cell.ix, cell.iy)));
            cells.points.extend(centres);
            cells.sampled.push(Sampled {
                slot,
                cells: begin..cells.points.len(),
                deadline_us: deadline.for_speed(vehicle.speed),
                reach_m: prepared.outfits.farthest(&prepared.scenario.sensing)
                    + reach.length(vehicle.speed)
                    + vehicle.body.length
                    + CELL_M,
            });
        }
        cells.views.resize(world.road.size(), None);
        cells
    }

    /// Cells seen in time in an arm, and all of them.
    pub(crate) fn count(
        &mut self,
        world: &World<'_>,
        observed: &Observed<'_>,
        knowledge: &Knowledge<'_>,
    ) -> [u64; 2] {
        if self.points.is_empty() {
            return [0, 0];
        }
        self.seen.clear();
        self.seen.resize(self.points.len(), false);
        let mut sampled = std::mem::take(&mut self.sampled);
        let by_itself = age_us(world, world.time.stamp(world.sights.step));
        for vehicle in &sampled {
            if by_itself.is_some_and(|age| age <= vehicle.deadline_us) {
                self.add(world, observed, vehicle, vehicle.slot);
            }
        }
        if knowledge.oracle {
            for &speaker in world.road.participants() {
                for vehicle in &sampled {
                    self.add(world, observed, vehicle, speaker);
                }
            }
        }
        let sensing = world.prepared.timeline.beacon;
        for (step, speaker, receivers) in knowledge.told.messages() {
            let (Speaker::Reporter(speaker) | Speaker::Host(speaker)) = speaker else {
                continue;
            };
            // With the newest sensing before it.
            let stamp = world.time.stamp(Step(step.0 - step.0 % sensing));
            let Some(age) = age_us(world, stamp) else {
                continue;
            };
            for vehicle in &sampled {
                if age <= vehicle.deadline_us && receivers.has(vehicle.slot) {
                    self.add(world, observed, vehicle, speaker);
                }
            }
        }
        std::mem::swap(&mut self.sampled, &mut sampled);
        let seen = self.seen.iter().filter(|&&seen| seen).count();
        [seen as u64, self.points.len() as u64]
    }

    /// Adds what `speaker` sees of a vehicle's path.
    fn add(
        &mut self,
        world: &World<'_>,
        observed: &Observed<'_>,
        vehicle: &Sampled,
        speaker: Slot,
    ) {
        let apart = world.here(speaker).map - world.here(vehicle.slot).map;
        if apart.dot(apart) > vehicle.reach_m * vehicle.reach_m {
            return;
        }
        let Some(at) = world.road.index(speaker) else {
            return;
        };
        let view = self.views[speaker.index()].get_or_insert_with(|| {
            let mut view = Vec::new();
            let height = world.prepared.scenario.sensing.cell_height_m;
            let mut looks = match world.road.sensor(world.prepared, speaker) {
                None => observed.view(at.0, &mut self.scratch),
                Some(own) => observed.view_with(at.0, own, &mut self.scratch),
            };
            looks.points(&self.points, height, &mut view);
            view
        });
        for at in vehicle.cells.clone() {
            self.seen[at] |= view[at];
        }
    }
}
