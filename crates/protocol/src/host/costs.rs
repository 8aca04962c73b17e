//! What a broadcast costs, before it is made.

use alloc::vec::Vec;

use super::fused::FusedState;
use super::members::Reports;
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
    /// Bytes of the contributors' reports, and how many they are.
    reports: [f64; 2],
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
        self.reports = [0.0; 2];
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
    fn objects_in(&self, cells: &[u32]) -> [f64; 2] {
        sum_columns(cells, &self.objects)
    }

    /// Bytes of a contributor's report, and of what it adds to the broadcast: as they last were, where they are known.
    pub(super) fn of_contributor(
        &mut self,
        parameters: &Parameters,
        reports: &Reports,
        cells: &[u32],
        counted: LastBroadcast,
    ) -> [f64; 2] {
        let [visible, new] = if reports.is_new() {
            self.objects_in(cells)
        } else {
            [0.0; 2]
        };
        let report_bytes = match reports.at {
            Some(_) => parameters.report_bytes(reports.objects as f64),
            None => parameters.report_bytes(visible),
        };
        if reports.at.is_some() {
            self.reports[0] += report_bytes;
            self.reports[1] += 1.0;
        }
        let listed = reports
            .broadcast_bytes
            .unwrap_or(new * parameters.object_bytes)
            * counted.listed_share;
        [report_bytes, listed + parameters.contributor_bytes]
    }

    /// The same for a candidate, by what the host holds in its cells; its report is taken to be no shorter than the mean of
    /// the contributors', who must have been asked for first.
    pub(super) fn of_candidate(
        &self,
        parameters: &Parameters,
        cells: &[u32],
        counted: LastBroadcast,
    ) -> [f64; 2] {
        let [visible, new] = self.objects_in(cells);
        let [sum, count] = self.reports;
        let mean = if count > 0.0 { sum / count } else { 0.0 };
        [
            parameters.report_bytes(visible).max(mean),
            new * parameters.object_bytes * counted.listed_share + parameters.contributor_bytes,
        ]
    }
}

/// What reports of one's own choice cost: contributors that judge what is needed say as much as they find worth it, or nothing,
/// so the host goes by what those it asked have cost of late, and in the last cycle where that is more.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedReports {
    /// Mean bytes of whoever was asked, over many cycles; reports that were lost count as none.
    mean_bytes: f64,
    /// The same in the last cycle in which somebody was.
    last_bytes: f64,
}

/// Weight of a cycle in that mean.
const NEWS: f64 = 0.1;

impl AskedReports {
    /// One object each, to begin with.
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            mean_bytes: parameters.report_bytes(1.0),
            last_bytes: 0.0,
        }
    }

    /// So many were asked, and sent so many bytes.
    pub(super) fn count(&mut self, asked: usize, bytes: f64) {
        if asked > 0 {
            self.last_bytes = bytes / asked as f64;
            self.mean_bytes += NEWS * (self.last_bytes - self.mean_bytes);
        }
    }

    /// What one more is taken to cost.
    pub(super) fn bytes(&self) -> f64 {
        self.mean_bytes.max(self.last_bytes)
    }
}
