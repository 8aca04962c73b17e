//! Calibration: the two numbers that the letter fixes only by their effect, and a third that it fixes by a rule.
//!
//! On seeds that are never evaluated:
//! - the capacity C, so that mandatory beacons alone occupy 0.64 of it on average over tiles and cycles;
//! - then d_min, so that the deficit without cooperation is 5.8 %;
//! - reported only: a tenth of the median positive retention score of `proposed@0.4`, the letter's rule for the half-width x.
//!
//! Nothing else is fitted.

use crate::arms::{Arm, cam_only, proposed};
pub use crate::calibrated::Calibrated;
use crate::measure::{MOST_MARGIN_M, Margins, Nobody};
use crate::outcome::Mean;
use crate::prepared::Prepared;
use crate::run::{FrameSource, Run, RunError, RunOptions};

/// Calibration seeds; evaluation seeds begin at 1.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1001..=1010;
/// Occupancy by beacons alone; letter, setup.
pub const BEACON_OCCUPANCY: f64 = 0.64;
/// Deficit without cooperation; letter, results.
pub const CAM_ONLY_DEFICIT: f64 = 0.058;
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
    let arms = [Arm::plain(&cam_only::ARM)];
    let run = Run::blind(prepared, &arms, seed, options)?;
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
    let arms = [Arm::plain(&cam_only::ARM), Arm::at(&proposed::ARM, 0.4)];
    let run = Run::new(prepared, &arms, seed, options, Some(MOST_MARGIN_M))?;
    let (outcome, margins) = run.finish_with_margins(traffic)?;
    Ok(SeedCalibration {
        margins,
        retention: outcome.arms[1].retention_scores.clone(),
    })
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
        margins.merge(&part.margins);
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
