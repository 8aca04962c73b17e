//! Who sees what: objects and cells, found anew at every beacon interval.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use covey_protocol::Cell;
use covey_world::sight::Scratch;

use super::lists::Lists;
use super::scene::Scene;
use super::stamps::{PairStamps, Stamp, Time, rebase};
use crate::ids::{FrameIndex, Slot, Step};

/// What everybody saw at the newest sensing, and when it last saw what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sights {
    /// The step of the newest sensing.
    pub(crate) step: Step,
    /// Objects seen at that step, by observer.
    pub(crate) seen: Arc<Lists<Slot>>,
    /// Cells seen at that step, by observer.
    pub(crate) cells: Arc<Lists<Cell>>,
    /// Newest own sensing, by object and observer, as far back as anybody remembers.
    pub(crate) sensed: Arc<PairStamps>,
    /// Newest sensing by any participant, by object.
    by_any: Vec<Stamp>,
}

/// How everybody looks, and what it saw that it does not know yet.
#[derive(Debug, Default)]
pub(super) struct Eyes {
    /// Whether cells are wanted at all.
    with_cells: bool,
    /// What vehicles without a radio see matters: they have no part in a run, only in one of its measures.
    pub(super) everyone_looks: bool,
    /// Looks whose outcome is not at hand yet, the oldest first, where sensors take their time.
    pending: VecDeque<Look>,
    /// CPU seconds of threads other than the caller's.
    pub(super) helpers_cpu_s: f64,
    /// One for each piece of the work.
    lookers: Vec<Looker>,
}

/// What those of one piece saw, and working memory.
#[derive(Debug, Default)]
struct Looker {
    seen: Lists<Slot>,
    cells: Lists<Cell>,
    scratch: Scratch,
    objects: Vec<u32>,
    visible: Vec<(i32, i32)>,
}

/// What everybody saw at one look.
#[derive(Debug, Default)]
struct Look {
    step: Step,
    seen: Arc<Lists<Slot>>,
    cells: Arc<Lists<Cell>>,
}

impl Sights {
    /// The newest sensing of an object by any participant.
    pub(crate) fn by_any(&self, object: Slot) -> Stamp {
        self.by_any[object.index()]
    }

    /// Moves all stamps to the new origin.
    pub(super) fn rebase(&mut self) {
        Arc::make_mut(&mut self.sensed).each(rebase);
        self.by_any.iter_mut().for_each(rebase);
    }

    /// Makes room, and forgets who left.
    pub(super) fn begin(&mut self, size: usize, left: &[Slot], now: Stamp) {
        self.by_any.resize(size, 0);
        let sensed = &mut self.sensed;
        if size > sensed.size() || !left.is_empty() {
            Arc::make_mut(sensed).grow(size);
        }
        for &slot in left {
            Arc::make_mut(sensed).clear(slot, now);
            self.by_any[slot.index()] = 0;
        }
    }

    /// What was seen at the look of a step is at hand.
    fn note(&mut self, scene: &Scene<'_>, time: &Time, step: Step) {
        let stamp = time.stamp(step);
        let soft_state = scene.prepared.timeline.soft_state;
        let oldest = Step(scene.step.0.saturating_sub(soft_state));
        let oldest = time.stamp(oldest);
        let sensed = Arc::make_mut(&mut self.sensed);
        for slot in scene.road.places() {
            let seen = self.seen.of(slot);
            sensed.set_all(seen, slot, stamp, oldest);
            if scene.road.participates(slot) {
                for &object in seen {
                    self.by_any[object.index()] = stamp;
                }
            }
        }
    }
}

/// Keeps what was seen of and by places that were not left.
fn keep(
    (seen, cells): (&mut Arc<Lists<Slot>>, &mut Arc<Lists<Cell>>),
    stays: &impl Fn(Slot) -> bool,
) {
    Arc::make_mut(seen).retain(|observer, &object| stays(observer) && stays(object));
    Arc::make_mut(cells).retain(|observer, _| stays(observer));
}

/// An empty list in the place of one that others may still ask for.
fn emptied<T: Clone>(list: &mut Arc<Lists<T>>) -> &mut Lists<T> {
    if Arc::get_mut(list).is_none() {
        *list = Arc::default();
    }
    let list = Arc::make_mut(list);
    list.restart();
    list
}

impl Eyes {
    /// Nothing seen yet; whether cells are wanted at all.
    pub(super) fn new(with_cells: bool) -> Self {
        Self {
            with_cells,
            ..Self::default()
        }
    }

    /// Nothing is seen any more of or by places that were left.
    pub(super) fn retain(&mut self, sights: &mut Sights, stays: impl Fn(Slot) -> bool) {
        for look in &mut self.pending {
            keep((&mut look.seen, &mut look.cells), &stays);
        }
        keep((&mut sights.seen, &mut sights.cells), &stays);
    }

    /// Everyone looks around, and what is at hand by now is taken for the newest.
    pub(super) fn look(&mut self, scene: &Scene<'_>, time: &Time, sights: &mut Sights) {
        let sensing = &scene.prepared.scenario.sensing;
        if sensing.latency_s <= 0.0 {
            self.look_now(scene, sights);
            sights.note(scene, time, scene.step);
            return;
        }
        // What was at hand until now.
        let mut newest = Look {
            step: sights.step,
            seen: std::mem::take(&mut sights.seen),
            cells: std::mem::take(&mut sights.cells),
        };
        self.look_now(scene, sights);
        self.pending.push_back(Look {
            step: scene.step,
            seen: std::mem::take(&mut sights.seen),
            cells: std::mem::take(&mut sights.cells),
        });
        let latency = sensing.latency_steps();
        while let Some(look) = self.pending.front()
            && look.step.after(latency) <= scene.step
            && let Some(look) = self.pending.pop_front()
        {
            newest = look;
            std::mem::swap(&mut sights.seen, &mut newest.seen);
            sights.note(scene, time, newest.step);
            std::mem::swap(&mut sights.seen, &mut newest.seen);
        }
        (sights.step, sights.seen, sights.cells) = (newest.step, newest.seen, newest.cells);
    }

    /// Everyone looks around.
    fn look_now(&mut self, scene: &Scene<'_>, sights: &mut Sights) {
        self.lookers
            .resize_with(scene.gang.pieces(), Looker::default);
        let everyone = (self.everyone_looks, self.with_cells);
        let lookers = &mut self.lookers[..];
        self.helpers_cpu_s += scene.share_out(lookers, |looker, places| {
            looker.look(scene, places, everyone);
        });
        sights.step = scene.step;
        let seen = emptied(&mut sights.seen);
        let cells = emptied(&mut sights.cells);
        for looker in &mut self.lookers {
            seen.append(&mut looker.seen);
            cells.append(&mut looker.cells);
        }
    }
}

impl Looker {
    /// Those at some places look around: everyone, or participants alone; at cells, too, or not.
    fn look(
        &mut self,
        scene: &Scene<'_>,
        places: Range<u32>,
        (everyone, with_cells): (bool, bool),
    ) {
        let road = scene.road;
        let sensing = &scene.prepared.scenario.sensing;
        self.seen.restart();
        self.cells.restart();
        for slot in places.map(Slot) {
            let participates = road.participates(slot);
            if let Some(at) = road.index(slot)
                && (everyone || participates)
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
                if with_cells && participates {
                    view.cells(&scene.prepared.grid, &mut self.visible);
                    let visible = self.visible.iter();
                    self.cells.extend(visible.map(|&(ix, iy)| Cell { ix, iy }));
                }
                let objects = self.objects.iter();
                self.seen
                    .extend(objects.map(|&object| road.at(FrameIndex(object))));
            }
            self.seen.next();
            self.cells.next();
        }
    }
}
