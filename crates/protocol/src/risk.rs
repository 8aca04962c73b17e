//! The risk map: where the members of the service scope are about to drive, and how soon they would have to know.

use alloc::vec::Vec;

/// Task risk rho and reaction deadline, cell by cell of a host's window.
///
/// Each member of the service scope adds the weight of every cell on its predicted path: 1 for the path, less for approaches
/// that conflict with it. A cell's deadline is the mean of the members' reaction deadlines, by the same weights.
#[derive(Debug, Clone, Default)]
pub(crate) struct RiskMap {
    rho: Vec<f64>,
    /// Sum of weight x deadline while members are added; the mean after [`finish`](Self::finish).
    deadline_s: Vec<f64>,
    /// Cells with risk: most of a window has none.
    touched: Vec<u32>,
}

impl RiskMap {
    /// Forgets everything; `cells` is the size of the window.
    pub(crate) fn reset(&mut self, cells: usize) {
        for cell in self.touched.drain(..) {
            self.rho[cell as usize] = 0.0;
            self.deadline_s[cell as usize] = 0.0;
        }
        self.rho.resize(cells, 0.0);
        self.deadline_s.resize(cells, 0.0);
    }

    /// Adds a member that must react within `deadline_s` seconds: its cells and their weights. Cells beyond the window and
    /// weights that are not positive numbers are passed over.
    pub(crate) fn add(&mut self, deadline_s: f64, cells: &[(u32, f64)]) {
        for &(cell, weight) in cells {
            if weight > 0.0
                && let Some(rho) = self.rho.get_mut(cell as usize)
            {
                if *rho == 0.0 {
                    self.touched.push(cell);
                }
                *rho += weight;
                self.deadline_s[cell as usize] += weight * deadline_s;
            }
        }
    }

    /// Turns the sums of deadlines into means; call once, after the last member.
    pub(crate) fn finish(&mut self) {
        for &cell in &self.touched {
            self.deadline_s[cell as usize] /= self.rho[cell as usize];
        }
    }

    /// Risk, cell by cell.
    #[must_use]
    pub(crate) fn rho(&self) -> &[f64] {
        &self.rho
    }

    /// Mean reaction deadline in seconds, cell by cell; 0 where there is no risk.
    #[must_use]
    pub(crate) fn deadline_s(&self) -> &[f64] {
        &self.deadline_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_add_up_and_deadlines_are_weighted_means() {
        let mut risk = RiskMap::default();
        risk.reset(4);
        risk.add(0.2, &[(0, 1.0), (1, 1.0)]);
        risk.add(0.8, &[(1, 0.5), (9, 1.0), (2, f64::NAN)]);
        risk.finish();
        assert_eq!(risk.rho(), [1.0, 1.5, 0.0, 0.0]);
        assert!((risk.deadline_s()[1] - 0.4).abs() < 1e-12);
        assert_eq!(risk.deadline_s()[2], 0.0);
        risk.reset(3);
        assert_eq!(risk.rho(), [0.0; 3]);
        risk.reset(5);
        assert_eq!(
            (risk.rho(), risk.deadline_s()),
            (&[0.0; 5][..], &[0.0; 5][..])
        );
    }
}
