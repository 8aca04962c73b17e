//! What a broadcast costs, before it is made.

use alloc::vec::Vec;

use super::fused::FusedState;
use crate::admission::sum_columns;
use crate::grid::{Cell, Window};
use crate::parameters::{BroadcastSize, Parameters};

/// How a broadcast differed from a full refresh.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastBroadcast {
    /// Objects listed over those that a full refresh would have listed.
    pub(super) listed_share: f64,
    /// Objects withdrawn.
    pub(super) withdrawn: f64,
}

impl Default for LastBroadcast {
    /// A full refresh.
    fn default() -> Self {
        Self {
            listed_share: 1.0,
            withdrawn: 0.0,
        }
    }
}

impl LastBroadcast {
    /// The broadcast that counts in this decision.
    pub(super) fn counted(self, size: BroadcastSize) -> Self {
        match size {
            BroadcastSize::FullRefresh => Self::default(),
            BroadcastSize::LastCycle => self,
        }
    }
}

/// What a broadcast costs, and how many objects the host holds in each cell; used again from decision to decision.
#[derive(Debug, Clone, Default)]
pub(super) struct Costs {
    /// Bytes of the broadcast at the size that counts, without what is held through contributors alone.
    pub(super) base_bytes: f64,
    /// The cell of each object that a full refresh would list.
    cells: Vec<u32>,
    /// How many these are, cell by cell of the window, and how many of them count as new.
    objects: Vec<[f64; 2]>,
}

impl Costs {
    /// Finds the objects that a full refresh would list.
    pub(super) fn begin(
        &mut self,
        parameters: &Parameters,
        fused: &FusedState,
        window: &Window,
        counted: LastBroadcast,
    ) {
        self.clear();
        self.objects.resize(window.len(), [0.0; 2]);
        self.cells.clear();
        let mut direct = 0.0;
        for object in fused.listable(parameters.broadcast_content) {
            if object.direct {
                direct += 1.0;
            }
            let cell = Cell::containing(object.state.position, parameters.cell_m);
            self.cells.extend(cell.and_then(|cell| window.index(cell)));
        }
        self.base_bytes = parameters.message_bytes
            + parameters.object_bytes * direct * counted.listed_share
            + parameters.withdrawn_bytes * counted.withdrawn;
    }

    /// Counts them; where `map` covers a cell, what lies in it is not new.
    pub(super) fn weigh(&mut self, map: &[f64]) {
        self.clear();
        for &cell in &self.cells {
            let [held, new] = &mut self.objects[cell as usize];
            *held += 1.0;
            *new += 1.0 - map[cell as usize];
        }
    }

    fn clear(&mut self) {
        for &cell in &self.cells {
            self.objects[cell as usize] = [0.0; 2];
        }
    }

    /// How many held objects lie in `cells`, and how many of them count as new.
    pub(super) fn objects_in(&self, cells: &[u32]) -> [f64; 2] {
        sum_columns(cells, &self.objects)
    }
}
