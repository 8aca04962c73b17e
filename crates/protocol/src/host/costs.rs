//! What a broadcast costs, before it is made.

use alloc::vec::Vec;

use super::fused::FusedState;
use super::members::Reports;
use crate::admission::sum_columns;
use crate::grid::{Cell, Window};
use crate::inclusion::included_share;
use crate::parameters::{BroadcastSize, Parameters, ReportContent};
use crate::policy::HeldObject;

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
    /// The cell of each object that a full refresh would list, and how many of somebody's reports hold it who sees that cell.
    cells: Vec<(u32, f64)>,
    /// How many objects a report holds on average, cell by cell of the window, and how many of them count as new.
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
            let cell = cell.and_then(|cell| window.index(cell));
            let share = reported_share(parameters, object);
            self.cells.extend(cell.map(|cell| (cell, share)));
        }
        self.base_bytes = parameters.empty_bytes()
            + parameters.object_bytes * direct * counted.listed_share
            + parameters.withdrawn_bytes * counted.withdrawn;
    }

    /// Counts them; where `map` covers a cell, what lies in it is not new.
    pub(super) fn weigh(&mut self, map: &[f64]) {
        self.clear();
        for &(cell, share) in &self.cells {
            let [held, new] = &mut self.objects[cell as usize];
            *held += share;
            *new += share * (1.0 - map[cell as usize]);
        }
    }

    fn clear(&mut self) {
        for &(cell, _) in &self.cells {
            self.objects[cell as usize] = [0.0; 2];
        }
    }

    /// How many objects the report of somebody holds who sees `cells`, and how many of them count as new.
    fn objects_in(&self, cells: &[u32]) -> [f64; 2] {
        sum_columns(cells, &self.objects)
    }

    /// Bytes of a contributor's report, and of what it adds to the broadcast: as they were in the last round of reports, where
    /// they are known.
    pub(super) fn of_contributor(
        &mut self,
        parameters: &Parameters,
        reports: &Reports,
        cells: &[u32],
        counted: LastBroadcast,
    ) -> [f64; 2] {
        let round = parameters.reports_in_round();
        let [visible, new] = if reports.is_new(round) {
            self.objects_in(cells)
        } else {
            [0.0; 2]
        };
        let report_bytes = parameters.report_bytes(reports.objects.mean(round, visible));
        if reports.at.is_some() {
            self.reports[0] += report_bytes;
            self.reports[1] += 1.0;
        }
        let expected = new * parameters.object_bytes;
        let listed = reports.broadcast_bytes.mean(round, expected) * counted.listed_share;
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

/// In how many of its reports somebody who sees an object is taken to tell of it.
pub(super) fn reported_share(parameters: &Parameters, object: &HeldObject) -> f64 {
    match parameters.report_content {
        ReportContent::All => 1.0,
        ReportContent::Silent => f64::from(u8::from(!object.announced)),
        // What is held through reports alone is held when somebody told of it.
        ReportContent::Included if !object.direct => 1.0,
        ReportContent::Included => included_share(parameters, object.state.velocity.speed()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_costs_what_those_asked_cost_of_late_or_mostly() {
        let p = Parameters::default();
        let mut asked = AskedReports::new(&p);
        let first = p.report_bytes(1.0);
        asked.count(0, 1e9);
        assert_eq!(asked.bytes(), first);
        asked.count(2, 4.0 * first);
        assert_eq!(asked.bytes(), 2.0 * first);
        // A cycle in which all was lost makes nobody free of charge.
        asked.count(2, 0.0);
        let mean = first + 0.1 * (2.0 * first - first);
        assert!((asked.bytes() - 0.9 * mean).abs() < 1e-9);
    }
}
