//! What calibration gives, for a scenario's file.

use covey_parameters::parameters;
use serde::{Deserialize, Serialize};

parameters! {
    /// What calibration gives, as it stands in a scenario file.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Calibrated without default {
        /// d_min; stands for `evaluation.margin_m` where the file does not set that.
        margin_m: f64, unit "m", range at_least(0.0).at_most(1_000.0), source "reading 1 (d_min)";
        /// The seeds it was found on.
        seeds: Vec<u64>, source "`covey calibrate`";
        /// Occupancy by beacons alone, over the seeds: a check, nothing is fitted to it.
        beacon_occupancy: f64, unit "share of capacity", range at_least(0.0), source "measured";
        /// Deficit of `cam-only` with that margin, pooled over the seeds.
        cam_only_deficit: f64, unit "share of relevant objects", range at_least(0.0).at_most(1.0), source "measured";
        /// A tenth of the median positive retention score of `proposed@0.4`: the letter's rule for x, not applied.
        hysteresis_by_rule: f64, unit "value units", source "reading 41";
    }
}
