//! Lists by place, flat.

use crate::ids::Slot;

/// A list of items for each place.
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
    #[inline]
    pub(crate) fn of(&self, slot: Slot) -> &[T] {
        match (
            self.begin.get(slot.index()),
            self.begin.get(slot.index() + 1),
        ) {
            (Some(&a), Some(&b)) => &self.items[a as usize..b as usize],
            _ => &[],
        }
    }

    /// Begins anew with the list of the first place.
    pub(super) fn restart(&mut self) {
        self.begin.clear();
        self.begin.push(0);
        self.items.clear();
    }

    /// The list of the present place goes on.
    pub(super) fn extend(&mut self, items: impl Iterator<Item = T>) {
        self.items.extend(items);
    }

    /// Goes on with the lists of places that were made elsewhere.
    pub(super) fn append(&mut self, more: &mut Self) {
        let base = self.items.len() as u32;
        self.items.append(&mut more.items);
        self.begin
            .extend(more.begin.drain(..).skip(1).map(|end| base + end));
    }

    /// The list of the present place is done.
    pub(super) fn next(&mut self) {
        self.begin.push(self.items.len() as u32);
    }
}

impl<T: Copy> Lists<T> {
    /// Keeps the items for which `keep(place, item)` holds.
    pub(super) fn retain(&mut self, keep: impl Fn(Slot, &T) -> bool) {
        let (mut from, mut to) = (0, 0);
        for place in 1..self.begin.len() {
            let end = self.begin[place] as usize;
            for at in from..end {
                let item = self.items[at];
                if keep(Slot(place as u32 - 1), &item) {
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
