//! Misses by the margin with which objects are relevant, for calibration.

use super::knowledge::{Knowledge, in_time};
use crate::ids::FrameIndex;
use crate::world::World;

/// Margins up to this are tried, in metres.
pub(crate) const MOST_MARGIN_M: f64 = 60.0;
/// Step of the margin, in metres.
const MARGIN_STEP_M: f64 = 0.05;

/// Relevant and missed pairs by the least margin with which they are relevant.
#[derive(Debug, Clone, PartialEq)]
pub struct Margins {
    /// Relevant and missed, by step of the margin.
    bins: Vec<[u64; 2]>,
}

impl Default for Margins {
    fn default() -> Self {
        Self {
            bins: vec![[0; 2]; (MOST_MARGIN_M / MARGIN_STEP_M) as usize + 2],
        }
    }
}

impl Margins {
    /// One relevant pair.
    fn add(&mut self, least_margin_m: f64, missed: bool) {
        let bin = (least_margin_m.max(0.0) / MARGIN_STEP_M).ceil() as usize;
        if let Some([relevant, misses]) = self.bins.get_mut(bin) {
            *relevant += 1;
            *misses += u64::from(missed);
        }
    }

    /// The deficit with each margin.
    fn deficits(&self) -> impl Iterator<Item = (f64, f64)> {
        let mut sum = [0; 2];
        self.bins.iter().enumerate().map(move |(bin, counts)| {
            sum[0] += counts[0];
            sum[1] += counts[1];
            (bin as f64 * MARGIN_STEP_M, sum[1] as f64 / sum[0] as f64)
        })
    }

    /// The margin whose deficit is nearest to `target`, and that deficit.
    pub(crate) fn nearest(&self, target: f64) -> Option<(f64, f64)> {
        self.deficits()
            .filter(|(_, deficit)| deficit.is_finite())
            .min_by(|a, b| (a.1 - target).abs().total_cmp(&(b.1 - target).abs()))
    }

    /// Adds those of another seed.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, bin) in self.bins.iter_mut().zip(&other.bins) {
            sum[0] += bin[0];
            sum[1] += bin[1];
        }
    }
}

/// Adds all relevant pairs of participants to the margins that they need.
pub(crate) fn by_margin(world: &World<'_>, knowledge: &Knowledge<'_>, margins: &mut Margins) {
    for (vehicle, relevant) in world.relevant().iter() {
        let vehicle = world.road.at(FrameIndex(vehicle));
        if world.road.participates(vehicle) {
            let object = world.road.at(FrameIndex(relevant.object));
            let told = knowledge.told(world, object, vehicle);
            let newest = told.max(world.sights.sensed.at(object, vehicle));
            let missed = !in_time(world, newest, relevant.deadline_us);
            margins.add(relevant.least_margin, missed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_the_one_that_meets_the_target() {
        let mut margins = Margins::default();
        for pair in 0..1_000 {
            // Pairs need margins of 0 to 10 m; one in ten of those beyond 5 m is missed.
            let least = f64::from(pair) * 0.01;
            margins.add(least, least > 5.0 && pair % 10 == 0);
        }
        margins.add(-3.0, false);
        margins.add(1e9, true);
        let (margin, deficit) = margins.nearest(0.03).unwrap();
        assert!((deficit - 0.03).abs() < 0.002, "{margin} {deficit}");
        assert!((margin - 7.1).abs() < 0.3, "{margin}");
    }
}
