//! The coverage map without one contributor, kept as the cells in which it differs from the map itself.
//!
//! Both start equal and age alike, so they can differ only where the contributor has seen something since its admission, and
//! no longer than it takes to fade: a few per cent of the window.

use alloc::vec::Vec;

use crate::admission::{Admission, AdmissionContributor};

/// Coverage below this is none; it keeps the map from filling up with numbers too small to matter.
const NO_COVERAGE: f64 = 1e-12;

/// The map without one contributor: cells that differ, by ascending number.
#[derive(Debug, Clone, Default)]
pub(super) struct MapWithout {
    cells: Vec<(u32, f64)>,
}

impl MapWithout {
    /// Appends its value in each of `cells`, which ascend; `map` is the map itself.
    pub(super) fn read(&self, map: &[f64], cells: &[u32], out: &mut Vec<f64>) {
        let mut differing = self.cells.iter().copied().peekable();
        out.extend(cells.iter().map(|&cell| {
            while differing.next_if(|&(at, _)| at < cell).is_some() {}
            match differing.peek() {
                Some(&(at, value)) if at == cell => value,
                _ => map[cell as usize],
            }
        }));
    }

    /// Brings it from the cycle before to that of `admission`, whose rules leave `decay` of a map. `before` are its values in
    /// the cells of `contributor`; `spare` is a buffer.
    pub(super) fn age(
        &mut self,
        admission: &Admission,
        decay: f64,
        contributor: &AdmissionContributor<'_>,
        before: &[f64],
        spare: &mut Vec<(u32, f64)>,
    ) {
        spare.clear();
        let map = admission.map();
        let mut keep = |cell: u32, value: f64| {
            let value = without_trace(value);
            if value != without_trace(map[cell as usize]) {
                spare.push((cell, value));
            }
        };
        let mut differing = self.cells.iter().copied().peekable();
        for (&cell, &prior) in contributor.cells.iter().zip(before) {
            while let Some((at, value)) = differing.next_if(|&(at, _)| at <= cell) {
                if at < cell {
                    keep(at, admission.aged(decay, at, value));
                }
            }
            let value = admission.aged_without(decay, cell, prior, contributor.coverage());
            keep(cell, value);
        }
        for (at, value) in differing {
            keep(at, admission.aged(decay, at, value));
        }
        core::mem::swap(&mut self.cells, spare);
    }
}

/// Coverage that is too little to matter is none.
pub(super) fn without_trace(coverage: f64) -> f64 {
    if coverage < NO_COVERAGE {
        0.0
    } else {
        coverage
    }
}
