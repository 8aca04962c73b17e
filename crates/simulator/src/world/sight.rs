//! Who sees what: objects and cells, found anew at every beacon interval.

use covey_protocol::Cell;
use covey_world::sight::Scratch;

use super::lists::Lists;
use super::scene::Scene;
use super::stamps::{Matrix, Stamp, rebase};
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
    scratch: Scratch,
    objects: Vec<u32>,
    visible: Vec<(i32, i32)>,
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

    /// Everyone looks around; `stamp` is that of the step.
    pub(super) fn look(&mut self, scene: &Scene<'_>, stamp: Stamp) {
        self.step = scene.step;
        let road = scene.road;
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
                if self.with_cells && participates {
                    view.cells(&scene.prepared.grid, &mut self.visible);
                    let visible = self.visible.iter();
                    self.cells.extend(visible.map(|&(ix, iy)| Cell { ix, iy }));
                }
                for &object in &self.objects {
                    let object = road.at(FrameIndex(object));
                    self.seen.push(object);
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
