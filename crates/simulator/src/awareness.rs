//! What everyone knows: the newest step whose state of an object a receiver holds.
//!
//! Age is all that the metric asks for, and the newest state always wins, so knowledge is a matrix of step numbers, by object
//! and receiver. Zero stands for never. A test compares it with the protocol's listener.

use covey_radio::LANES;

/// Steps are kept in 16 bits; the run moves its origin before they run out.
pub(crate) type Stamp = u16;

/// Square matrix by object and receiver, growing with the places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matrix<T> {
    size: usize,
    cells: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    /// Makes room for `size` places.
    pub(crate) fn grow(&mut self, size: usize) {
        if size <= self.size {
            return;
        }
        // Some to spare, so that open traffic does not copy every few steps.
        let wide = if self.size == 0 {
            size
        } else {
            size + size / 4
        };
        let mut cells = vec![T::default(); wide * wide];
        for row in 0..self.size {
            cells[row * wide..][..self.size]
                .copy_from_slice(&self.cells[row * self.size..][..self.size]);
        }
        self.size = wide;
        self.cells = cells;
    }

    /// All receivers' entries of one object.
    pub(crate) fn row_mut(&mut self, object: u32) -> &mut [T] {
        &mut self.cells[object as usize * self.size..][..self.size]
    }

    /// One entry.
    pub(crate) fn at(&self, object: u32, receiver: u32) -> T {
        self.cells[object as usize * self.size + receiver as usize]
    }

    /// Forgets a place, as object and as receiver.
    pub(crate) fn clear(&mut self, slot: u32) {
        if slot as usize >= self.size {
            return;
        }
        self.row_mut(slot).fill(T::default());
        for row in 0..self.size {
            self.cells[row * self.size + slot as usize] = T::default();
        }
    }

    /// Changes every entry.
    pub(crate) fn each(&mut self, f: impl Fn(&mut T)) {
        self.cells.iter_mut().for_each(f);
    }
}

/// Beacons heard, of up to [`LANES`] arms side by side.
pub(crate) type BeaconMatrix = Matrix<[Stamp; LANES]>;

impl Matrix<Stamp> {
    /// The receivers learn that the object was sensed at `stamp`.
    pub(crate) fn learn(&mut self, object: u32, receivers: &[u32], stamp: Stamp) {
        let row = self.row_mut(object);
        for &receiver in receivers {
            let held = &mut row[receiver as usize];
            *held = (*held).max(stamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knowledge_survives_growth_and_is_forgotten_on_leaving() {
        let mut matrix = Matrix::<Stamp>::default();
        matrix.grow(2);
        matrix.learn(1, &[0], 7);
        matrix.learn(1, &[0], 5);
        matrix.grow(5);
        matrix.learn(1, &[4], 9);
        assert_eq!((matrix.at(1, 0), matrix.at(1, 4)), (7, 9));
        matrix.clear(0);
        assert_eq!((matrix.at(1, 0), matrix.at(1, 4)), (0, 9));
        matrix.clear(1);
        assert_eq!(matrix.at(1, 4), 0);
    }
}
