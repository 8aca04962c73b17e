//! Places for vehicles: a small number for each that is present, given again once it has left.

use crate::ids::{Slot, Step};

/// No vehicle has this number.
const NOBODY: u32 = u32::MAX;

/// Which vehicle has which place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    /// Place by vehicle number.
    of_id: Vec<Option<Slot>>,
    /// Vehicle number by place; [`NOBODY`] where the place is free.
    ids: Vec<u32>,
    free: Vec<Slot>,
    /// Step at which the vehicle was last seen, by place.
    seen: Vec<Step>,
}

/// What a step changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placed {
    /// Place by index in the frame.
    pub(crate) places: Vec<Slot>,
    /// Places left and places newly taken in this step.
    pub(crate) left: Vec<Slot>,
    pub(crate) taken: Vec<Slot>,
}

impl Slots {
    /// How many places there are, free ones included.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The place of a vehicle, if it is present.
    pub(crate) fn of(&self, id: u32) -> Option<Slot> {
        *self.of_id.get(id as usize)?
    }

    /// The vehicle at a place; of a free one [`NOBODY`].
    pub(crate) fn id(&self, slot: Slot) -> u32 {
        self.ids[slot.index()]
    }

    /// Gives everyone in `present` a place at `step`.
    pub(crate) fn update(
        &mut self,
        step: Step,
        present: impl Iterator<Item = u32>,
        placed: &mut Placed,
    ) {
        let Placed {
            places,
            left,
            taken,
        } = placed;
        places.clear();
        left.clear();
        taken.clear();
        let mut new = Vec::new();
        for id in present {
            if self.of_id.len() <= id as usize {
                self.of_id.resize(id as usize + 1, None);
            }
            match self.of_id[id as usize] {
                Some(slot) => {
                    self.seen[slot.index()] = step;
                    places.push(slot);
                }
                None => {
                    new.push((places.len(), id));
                    places.push(Slot::default());
                }
            }
        }
        for slot in (0..self.ids.len() as u32).map(Slot) {
            let id = self.ids[slot.index()];
            if id != NOBODY && self.seen[slot.index()] != step {
                self.of_id[id as usize] = None;
                self.ids[slot.index()] = NOBODY;
                self.free.push(slot);
                left.push(slot);
            }
        }
        // The lowest free place first.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        for (at, id) in new {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.ids.push(NOBODY);
                self.seen.push(Step(0));
                Slot(self.ids.len() as u32 - 1)
            });
            self.ids[slot.index()] = id;
            self.seen[slot.index()] = step;
            self.of_id[id as usize] = Some(slot);
            places[at] = slot;
            taken.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_again() {
        let mut slots = Slots::default();
        let mut placed = Placed::default();
        let list = |numbers: &[u32]| numbers.iter().copied().map(Slot).collect::<Vec<_>>();
        slots.update(Step(1), [0, 1, 2].into_iter(), &mut placed);
        assert_eq!(placed.places, list(&[0, 1, 2]));
        assert_eq!(placed.taken, list(&[0, 1, 2]));
        slots.update(Step(2), [0, 2, 3].into_iter(), &mut placed);
        assert_eq!(placed.places, list(&[0, 2, 1]));
        assert_eq!((&placed.left, &placed.taken), (&list(&[1]), &list(&[1])));
        assert_eq!(slots.of(1), None);
        assert_eq!((slots.of(3), slots.len()), (Some(Slot(1)), 3));
        assert_eq!(slots.id(Slot(1)), 3);
    }
}
