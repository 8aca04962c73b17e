//! Calibration: the one number that the letter fixes only by its effect, and two that are reported beside it.
//!
//! On seeds that are never evaluated:
//! - d_min, so that the deficit without cooperation is 5.8 %;
//! - reported only: how much of the nominal capacity beacons alone occupy (0.64 in the letter), and a tenth of the median positive
//!   retention score of `proposed@0.4`, the letter's rule for the half-width x.
//!
//! Nothing else is fitted.

use crate::arms::{Arm, cam_only, proposed};
pub use crate::calibrated::Calibrated;
use crate::measure::MOST_MARGIN_M;
pub use crate::measure::Margins;
use crate::outcome::Mean;
use crate::prepared::Prepared;
use crate::run::{FrameSource, Run, RunError, RunOptions};

/// Calibration seeds; whatever else a seed is for, it is below them.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1001..=1010;
/// Deficit without cooperation; letter, results.
pub const CAM_ONLY_DEFICIT: f64 = 0.058;
/// A margin that gives this much more or less is not what was asked for.
pub const TOLERANCE: f64 = 0.002;

/// What one seed says of the margin, of occupancy and of x.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeedCalibration {
    margins: Margins,
    beacon_load: Mean,
    retention: Vec<u64>,
}

/// Runs `cam-only` and `proposed@0.4` on one seed with all margins at once.
///
/// # Errors
/// As for [`simulate`](crate::simulate).
pub fn seed(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    seed: u64,
    options: &RunOptions,
) -> Result<SeedCalibration, RunError> {
    let arms = [Arm::plain(&cam_only::ARM), Arm::at(&proposed::ARM, 0.4)];
    let run = Run::new(&[(prepared, &arms)], seed, options, Some(MOST_MARGIN_M))?;
    let (outcome, margins) = run.finish_with_margins(traffic)?;
    Ok(SeedCalibration {
        margins,
        beacon_load: outcome.arms[0].beacon_load,
        retention: outcome.arms[1].retention_scores.clone(),
    })
}

/// Runs `cam-only` alone on one seed with all margins at once.
///
/// # Errors
/// As for [`simulate`](crate::simulate).
pub fn margins_without_cooperation(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    seed: u64,
    options: &RunOptions,
) -> Result<Margins, RunError> {
    let arms = [Arm::plain(&cam_only::ARM)];
    let run = Run::new(&[(prepared, &arms)], seed, options, Some(MOST_MARGIN_M))?;
    Ok(run.finish_with_margins(traffic)?.1)
}

/// A margin d_min, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedMargin {
    /// d_min in metres, to the centimetre.
    pub margin_m: f64,
    /// Deficit of `cam-only` with it, pooled over the seeds.
    pub cam_only_deficit: f64,
}

/// The margin with which the seeds together miss 5.8 % without cooperation, or the one that comes nearest; none where nothing
/// is relevant.
#[must_use]
pub fn fit_margin(seeds: &[Margins]) -> Option<FittedMargin> {
    let mut all = Margins::default();
    for margins in seeds {
        all.merge(margins);
    }
    let (margin_m, cam_only_deficit) = all.nearest(CAM_ONLY_DEFICIT)?;
    Some(FittedMargin {
        margin_m: (margin_m * 100.0).round() / 100.0,
        cam_only_deficit,
    })
}

/// Puts the seeds together; none where nobody takes part or nothing is relevant.
#[must_use]
pub fn conclude(seeds: &[u64], parts: &[SeedCalibration]) -> Option<Calibrated> {
    let margins: Vec<Margins> = parts.iter().map(|part| part.margins.clone()).collect();
    let fitted = fit_margin(&margins)?;
    let mut beacons = Mean::default();
    let mut retention: Vec<u64> = Vec::new();
    for part in parts {
        beacons.sum += part.beacon_load.sum;
        beacons.count += part.beacon_load.count;
        retention.resize(retention.len().max(part.retention.len()), 0);
        for (sum, bin) in retention.iter_mut().zip(&part.retention) {
            *sum += bin;
        }
    }
    let all: u64 = retention.iter().sum();
    let mut below = 0;
    let median = retention.iter().position(|&bin| {
        below += bin;
        2 * below >= all
    });
    Some(Calibrated {
        margin_m: fitted.margin_m,
        seeds: seeds.to_vec(),
        beacon_occupancy: beacons.value()?,
        cam_only_deficit: fitted.cam_only_deficit,
        // The middle of the bin of 0.1.
        hysteresis_by_rule: median.map_or(0.0, |bin| (bin as f64 + 0.5) * 0.1 * 0.1),
    })
}
