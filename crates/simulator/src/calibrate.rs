//! Calibration: the two numbers that the letter fixes only by their effect, and a third that it fixes by a rule.
//!
//! On seeds that are never evaluated:
//! - the capacity C, so that mandatory beacons alone occupy 0.64 of it on average over tiles and cycles;
//! - then d_min, so that the deficit without cooperation is 5.8 %;
//! - reported only: a tenth of the median positive retention score of `proposed@0.4`, the letter's rule for the half-width x.
//!
//! Nothing else is fitted.

use serde::{Deserialize, Serialize};

use crate::arm::{Arm, Contender, Strategy};
use crate::observe::Nobody;
use crate::outcome::Mean;
use crate::prepared::Prepared;
use crate::run::{FrameSource, Run, RunError, RunOptions};

/// Calibration seeds; evaluation seeds begin at 1.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1001..=1010;
/// Occupancy by beacons alone; letter, setup.
pub const BEACON_OCCUPANCY: f64 = 0.64;
/// Deficit without cooperation; letter, results.
pub const CAM_ONLY_DEFICIT: f64 = 0.058;
/// Margins up to this are tried, in metres.
const MOST_MARGIN_M: f64 = 60.0;
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
    pub(crate) fn add(&mut self, least_margin_m: f64, missed: bool) {
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
    fn nearest(&self, target: f64) -> Option<(f64, f64)> {
        self.deficits()
            .filter(|(_, deficit)| deficit.is_finite())
            .min_by(|a, b| (a.1 - target).abs().total_cmp(&(b.1 - target).abs()))
    }
}

/// Bytes of beacons over capacity, by (tile, cycle), on one seed. Sight and links are left out.
///
/// # Errors
/// As for [`simulate`](crate::simulate).
pub fn beacon_load(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    seed: u64,
    options: &RunOptions,
) -> Result<Mean, RunError> {
    let arms = [Contender::from(Arm::plain(Strategy::CamOnly))];
    let run = Run::new(prepared, &arms, seed, options, None)?.blind();
    Ok(run.finish(traffic, &mut Nobody)?.arms[0].beacon_load)
}

/// What one seed says of the margin and of x.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeedCalibration {
    margins: Margins,
    retention: Vec<u64>,
}

/// Runs `cam-only` and `proposed@0.4` on one seed with all margins at once.
///
/// # Errors
/// As for [`simulate`](crate::simulate).
pub fn margins(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    seed: u64,
    options: &RunOptions,
) -> Result<SeedCalibration, RunError> {
    let arms = [
        Arm::plain(Strategy::CamOnly),
        Arm::at(Strategy::Proposed, 0.4),
    ]
    .map(Contender::from);
    let run = Run::new(prepared, &arms, seed, options, Some(MOST_MARGIN_M))?;
    let (outcome, margins) = run.finish_with_margins(traffic)?;
    Ok(SeedCalibration {
        margins,
        retention: outcome.arms[1].retention_scores.clone(),
    })
}

/// What calibration gives, as it stands in a scenario file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated {
    /// Capacity of a tile, in bytes per second.
    pub capacity_bytes_per_s: f64,
    /// d_min, in metres.
    pub margin_m: f64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Occupancy by beacons with that capacity, over the seeds.
    pub beacon_occupancy: f64,
    /// Deficit of `cam-only` with that margin, pooled over the seeds.
    pub cam_only_deficit: f64,
    /// A tenth of the median positive retention score of `proposed@0.4`: the letter's rule for x, not applied.
    pub hysteresis_by_rule: f64,
}

/// The capacity with which the beacons of all seeds occupy 0.64.
#[must_use]
pub fn capacity(prepared: &Prepared, loads: &[Mean]) -> Option<f64> {
    let (sum, count) = loads.iter().fold((0.0, 0), |(sum, count), load| {
        (sum + load.sum, count + load.count)
    });
    let used = prepared.scenario.protocol.capacity_bytes_per_s;
    // Whole bytes: more digits than that would claim too much.
    (count > 0).then(|| (used * sum / count as f64 / BEACON_OCCUPANCY).round())
}

/// Puts the seeds together. `occupancy` is that of beacons with the capacity in force.
#[must_use]
pub fn conclude(
    prepared: &Prepared,
    seeds: &[u64],
    occupancy: f64,
    parts: &[SeedCalibration],
) -> Option<Calibrated> {
    let mut margins = Margins::default();
    let mut retention: Vec<u64> = Vec::new();
    for part in parts {
        for (sum, bin) in margins.bins.iter_mut().zip(&part.margins.bins) {
            sum[0] += bin[0];
            sum[1] += bin[1];
        }
        retention.resize(retention.len().max(part.retention.len()), 0);
        for (sum, bin) in retention.iter_mut().zip(&part.retention) {
            *sum += bin;
        }
    }
    let (margin_m, cam_only_deficit) = margins.nearest(CAM_ONLY_DEFICIT)?;
    let all: u64 = retention.iter().sum();
    let mut below = 0;
    let median = retention.iter().position(|&bin| {
        below += bin;
        2 * below >= all
    });
    Some(Calibrated {
        capacity_bytes_per_s: prepared.scenario.protocol.capacity_bytes_per_s,
        margin_m: (margin_m * 100.0).round() / 100.0,
        seeds: seeds.to_vec(),
        beacon_occupancy: occupancy,
        cam_only_deficit,
        // The middle of the bin of 0.1.
        hysteresis_by_rule: median.map_or(0.0, |bin| (bin as f64 + 0.5) * 0.1 * 0.1),
    })
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
