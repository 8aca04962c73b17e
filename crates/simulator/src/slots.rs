//! Places for vehicles: a small number for each that is present, given again once it has left.

/// No place.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// Which vehicle has which place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    /// Place by vehicle number.
    of_id: Vec<u32>,
    /// Vehicle number by place.
    ids: Vec<u32>,
    free: Vec<u32>,
    /// Step at which the vehicle was last seen, by place.
    seen: Vec<u32>,
}

impl Slots {
    /// How many places there are, free ones included.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The place of a vehicle, if it is present.
    pub(crate) fn of(&self, id: u32) -> Option<u32> {
        let slot = *self.of_id.get(id as usize)?;
        (slot != NO_SLOT).then_some(slot)
    }

    /// The vehicle at a place.
    pub(crate) fn id(&self, slot: u32) -> u32 {
        self.ids[slot as usize]
    }

    /// Gives everyone in `present` a place at `step`; writes places that were left into `left` and places newly taken into
    /// `taken`.
    pub(crate) fn update(
        &mut self,
        step: u32,
        present: impl Iterator<Item = u32>,
        places: &mut Vec<u32>,
        left: &mut Vec<u32>,
        taken: &mut Vec<u32>,
    ) {
        places.clear();
        left.clear();
        taken.clear();
        let mut new = Vec::new();
        for id in present {
            if self.of_id.len() <= id as usize {
                self.of_id.resize(id as usize + 1, NO_SLOT);
            }
            let slot = self.of_id[id as usize];
            if slot == NO_SLOT {
                new.push((places.len(), id));
            } else {
                self.seen[slot as usize] = step;
            }
            places.push(slot);
        }
        for slot in 0..self.ids.len() as u32 {
            let id = self.ids[slot as usize];
            if id != NO_SLOT && self.seen[slot as usize] != step {
                self.of_id[id as usize] = NO_SLOT;
                self.ids[slot as usize] = NO_SLOT;
                self.free.push(slot);
                left.push(slot);
            }
        }
        // The lowest free place first.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        for (at, id) in new {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.ids.push(NO_SLOT);
                self.seen.push(0);
                self.ids.len() as u32 - 1
            });
            self.ids[slot as usize] = id;
            self.seen[slot as usize] = step;
            self.of_id[id as usize] = slot;
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
        let (mut places, mut left, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        slots.update(1, [0, 1, 2].into_iter(), &mut places, &mut left, &mut taken);
        assert_eq!((&places[..], &taken[..]), (&[0, 1, 2][..], &[0, 1, 2][..]));
        slots.update(2, [0, 2, 3].into_iter(), &mut places, &mut left, &mut taken);
        assert_eq!(
            (&places[..], &left[..], &taken[..]),
            (&[0, 2, 1][..], &[1][..], &[1][..])
        );
        assert_eq!(slots.of(1), None);
        assert_eq!((slots.of(3), slots.id(1), slots.len()), (Some(1), 3, 3));
    }
}
