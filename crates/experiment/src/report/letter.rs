//! What the letter prints besides the deficit and load of its arms, and what is known of differences to it.

/// Relative deficit reduction, as a share.
pub(crate) fn reduction(better: &str, worse: &str) -> Option<f64> {
    match (better, worse) {
        ("proposed@0.2", "random@0.2") => Some(0.26),
        ("proposed@0.4", "random@0.4") => Some(0.33),
        ("proposed@0.8", "random@0.8") => Some(0.10),
        _ => None,
    }
}

/// A step of the ladder in percentage points: mean and ends of its interval.
pub(crate) fn step(arm: &str, below: &str) -> Option<[f64; 3]> {
    match (arm, below) {
        ("conditional@0.4", "coverage-only@0.4") => Some([0.65, 0.32, 0.98]),
        ("conditional-risk@0.4", "conditional@0.4") => Some([0.39, 0.13, 0.68]),
        ("proposed@0.4", "conditional-risk@0.4") => Some([0.21, -0.02, 0.41]),
        _ => None,
    }
}

/// Why an arm or finding is known, or thought, to differ from the letter. Each names the reading it rests on; none is a proof.
pub(crate) fn known_reason(key: &str) -> Option<&'static str> {
    Some(match key {
        "cam-only" => {
            "Calibrated: d_min of the relevance rule is set on seeds that are never evaluated so that this arm has 5.8 % (reading 1). No finding."
        }
        "cpm-etsi" => {
            "Message sizes follow TR 103 562 (reading 21), and the letter gives neither its sizes nor its collision law; the load is a check, not fitted. A steeper law of collision loss hurts this arm most (reading 22)."
        }
        "cpm-rmr" => {
            "The letter does not say over which window an object counts as already announced or received. Under reading 17 a prototype saw loads from 0.15 to 0.34; a steeper collision law takes this arm's benefit away (reading 22)."
        }
        "random@0.2" | "random-worse-than-cam" => {
            "The letter finds random admission worse than CAM-only here. A prototype saw that only under a steeper law of collision loss, which in turn ruins CPM-ETSI (reading 22)."
        }
        "random@0.4" | "random@0.8" => {
            "The letter's text fits a set that is kept and a set redrawn every cycle; they differ much (reading 16). This arm keeps its set."
        }
        "proposed@0.2" => {
            "Decided mostly by what the broadcast repeats, since that decides how many contributors fit in a small allowance (readings 12 and 20), and by the digest's real size (reading 6)."
        }
        "proposed@0.4" | "proposed@0.8" | "fourfold" => {
            "A price that holds the load near the target makes b = 0.4 and b = 0.8 alike; the letter's 3.1 % and 1.4 % were never attained together in a prototype. The unit of airtime that the price pays for is a reading (10)."
        }
        "oracle" | "near-oracle" => {
            "The floor is made of objects that nobody sees. It depends on how narrow side streets are and on turning traffic, which the letter does not describe."
        }
        "digest" => {
            "The digest is charged at its real encoded size. With a cell counted visible by its centre (reading 6) views are wider and runs longer than the letter's 1 B; with the strict rule the size is the letter's, but the score loses its power."
        }
        "price" => {
            "The price scales with the unit of airtime, which the letter does not give (reading 10)."
        }
        _ => return None,
    })
}
