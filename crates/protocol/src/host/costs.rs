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

/// What a broadcast costs, and how many objects the host holds in each cell.
pub(super) struct Costs {
    /// Bytes of the broadcast at the size that counts, without what is held through contributors alone.
    pub(super) base_bytes: f64,
    /// Objects that a full refresh would list, cell by cell of the window, and how many of them count as new.
    objects: Vec<[f64; 2]>,
}

impl Costs {
    pub(super) fn new(
        parameters: &Parameters,
        fused: &FusedState,
        window: &Window,
        map: &[f64],
        counted: LastBroadcast,
    ) -> Self {
        let mut direct = 0.0;
        let mut objects = alloc::vec![[0.0; 2]; window.len()];
        for object in fused.listable(parameters.broadcast_content) {
            if object.direct {
                direct += 1.0;
            }
            let cell = Cell::containing(object.state.position, parameters.cell_m);
            if let Some(at) = cell.and_then(|cell| window.index(cell)) {
                let [held, new] = &mut objects[at as usize];
                *held += 1.0;
                *new += 1.0 - map[at as usize];
            }
        }
        Self {
            base_bytes: parameters.message_bytes
                + parameters.object_bytes * direct * counted.listed_share
                + parameters.withdrawn_bytes * counted.withdrawn,
            objects,
        }
    }

    /// How many held objects lie in `cells`, and how many of them count as new.
    pub(super) fn objects_in(&self, cells: &[u32]) -> [f64; 2] {
        sum_columns(cells, &self.objects)
    }
}
