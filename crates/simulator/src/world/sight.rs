//! Who sees what: objects and cells, found anew at every beacon interval.

use std::collections::VecDeque;

use covey_protocol::Cell;
use covey_world::sight::Scratch;

use super::lists::Lists;
use super::scene::Scene;
use super::stamps::{Matrix, Stamp, Time, rebase};
use crate::ids::{FrameIndex, Slot, Step};

/// What everybody saw at the newest sensing, and when it last saw what.
#[derive(Debug, Default)]
pub(crate) struct Sights {
    /// The step of the newest sensing.
    pub(crate) step: Step,
    /// Objects seen at that step, by observer.
    pub(crate) seen: Lists<Slot>,
    /// Cells seen at that step, by observer.
    pub(crate) cells: Lists<Cell>,
    /// Newest own sensing, by object and observer.
    pub(crate) sensed: Matrix<Stamp>,
    /// Newest sensing by any participant, by object.
    by_any: Vec<Stamp>,
    /// Whether cells are wanted at all.
    with_cells: bool,
    /// What vehicles without a radio see matters: they have no part in a run, only in one of its measures.
    pub(super) everyone_looks: bool,
    /// Looks whose outcome is not at hand yet, the oldest first, where sensors take their time.
    pending: VecDeque<Look>,
    scratch: Scratch,
    objects: Vec<u32>,
    visible: Vec<(i32, i32)>,
}

/// What everybody saw at one look.
#[derive(Debug, Default)]
struct Look {
    step: Step,
    seen: Lists<Slot>,
    cells: Lists<Cell>,
}

impl Sights {
    /// Nothing seen yet; whether cells are wanted at all.
    pub(super) fn new(with_cells: bool) -> Self {
        Self {
            with_cells,
            ..Self::default()
        }
    }

    /// The newest sensing of an object by any participant.
    pub(crate) fn by_any(&self, object: Slot) -> Stamp {
        self.by_any[object.index()]
    }

    /// Moves all stamps to the new origin.
    pub(super) fn rebase(&mut self) {
        self.sensed.each(rebase);
        self.by_any.iter_mut().for_each(rebase);
    }

    /// Makes room, and forgets who left.
    pub(super) fn begin(&mut self, size: usize, left: &[Slot]) {
        self.by_any.resize(size, 0);
        self.sensed.grow(size);
        for &slot in left {
            self.sensed.clear(slot);
            self.by_any[slot.index()] = 0;
        }
    }

    /// Nothing is seen any more of or by places that were left.
    pub(super) fn retain(&mut self, stays: impl Fn(Slot) -> bool) {
        let pending = self.pending.iter_mut();
        let lists = pending.map(|look| (&mut look.seen, &mut look.cells));
        for (seen, cells) in lists.chain([(&mut self.seen, &mut self.cells)]) {
            seen.retain(|observer, &object| stays(observer) && stays(object));
            cells.retain(|observer, _| stays(observer));
        }
    }

    /// Everyone looks around, and what is at hand by now is taken for the newest.
    pub(super) fn look(&mut self, scene: &Scene<'_>, time: &Time) {
        let sensing = &scene.prepared.scenario.sensing;
        if sensing.latency_s <= 0.0 {
            self.look_now(scene, Some(time.stamp(scene.step)));
            return;
        }
        // What was at hand until now.
        let mut newest = Look {
            step: self.step,
            seen: std::mem::take(&mut self.seen),
            cells: std::mem::take(&mut self.cells),
        };
        self.look_now(scene, None);
        self.pending.push_back(Look {
            step: scene.step,
            seen: std::mem::take(&mut self.seen),
            cells: std::mem::take(&mut self.cells),
        });
        let latency = sensing.latency_steps();
        while let Some(look) = self.pending.front()
            && look.step.after(latency) <= scene.step
            && let Some(look) = self.pending.pop_front()
        {
            newest = look;
            self.note(scene, &newest, time.stamp(newest.step));
        }
        (self.step, self.seen, self.cells) = (newest.step, newest.seen, newest.cells);
    }

    /// What was seen at a look is at hand.
    fn note(&mut self, scene: &Scene<'_>, look: &Look, stamp: Stamp) {
        for slot in scene.road.places() {
            for &object in look.seen.of(slot) {
                self.sensed.row_mut(object)[slot.index()] = stamp;
                if scene.road.participates(slot) {
                    self.by_any[object.index()] = stamp;
                }
            }
        }
    }

    /// Everyone looks around; with a `stamp`, what is seen is at hand.
    fn look_now(&mut self, scene: &Scene<'_>, stamp: Option<Stamp>) {
        self.step = scene.step;
        let road = scene.road;
        let sensing = &scene.prepared.scenario.sensing;
        self.seen.restart();
        self.cells.restart();
        for slot in road.places() {
            let participates = road.participates(slot);
            if let Some(at) = road.index(slot)
                && (self.everyone_looks || participates)
            {
                let mut view = match road.sensor(scene.prepared, slot) {
                    None => scene.observed.view(at.0, &mut self.scratch),
                    Some(own) => scene.observed.view_with(at.0, own, &mut self.scratch),
                };
                view.objects(&mut self.objects);
                if participates && sensing.misses() {
                    let here = road.vehicle(slot).position;
                    let own = road.sensor(scene.prepared, slot);
                    let range = own.map_or(sensing.range_m, |own| own.range);
                    self.objects.retain(|&object| {
                        let other = &scene.road.frame.vehicles[object as usize];
                        let off = [(other.position - here).length(), range];
                        let ids = [road.id(slot), other.id.0];
                        let shown = || view.shown(object);
                        !sensing.is_missed(scene.seed, ids, scene.step, off, shown)
                    });
                }
                if self.with_cells && participates {
                    view.cells(&scene.prepared.grid, &mut self.visible);
                    let visible = self.visible.iter();
                    self.cells.extend(visible.map(|&(ix, iy)| Cell { ix, iy }));
                }
                for &object in &self.objects {
                    let object = road.at(FrameIndex(object));
                    self.seen.push(object);
                    let Some(stamp) = stamp else {
                        continue;
                    };
                    self.sensed.row_mut(object)[slot.index()] = stamp;
                    if participates {
                        self.by_any[object.index()] = stamp;
                    }
                }
            }
            self.seen.next();
            self.cells.next();
        }
    }
}
