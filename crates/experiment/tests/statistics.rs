//! Our statistics against numpy and scipy. The fixture and the script that makes it are in `fixtures`.

use covey_experiment::stats::{Estimate, Share, pooled, reduction};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    relevant: Vec<f64>,
    better: Vec<f64>,
    worse: Vec<f64>,
    pooled_better: Reference,
    pooled_worse: Reference,
    points: Reference,
    relative: Reference,
}

#[derive(Deserialize)]
struct Reference {
    /// Estimate, lower and upper end from numpy on the same resamples.
    exact: [f64; 3],
    /// Ends from scipy.stats.bootstrap with many resamples of its own.
    scipy: [f64; 2],
    /// Standard deviation of its ends with as many resamples as ours.
    noise: [f64; 2],
}

impl Reference {
    fn check(&self, what: &str, ours: Option<Estimate>) {
        let ours = ours.expect("there is something to count");
        for (ours, exact) in [ours.mean, ours.lo, ours.hi].iter().zip(self.exact) {
            assert!(
                (ours - exact).abs() <= 1e-12 * exact.abs().max(1e-3),
                "{what}: {ours} is not numpy's {exact}"
            );
        }
        for ((ours, scipy), noise) in [ours.lo, ours.hi].iter().zip(self.scipy).zip(self.noise) {
            let allowed = 4.0 * noise + 1e-9;
            assert!(
                (ours - scipy).abs() <= allowed,
                "{what}: {ours} is more than {allowed} from scipy's {scipy}"
            );
        }
    }
}

#[test]
fn estimates_and_intervals_are_those_of_numpy_and_scipy() {
    let fixture: Fixture =
        serde_json::from_str(include_str!("fixtures/statistics.json")).expect("the fixture");
    assert_eq!(fixture.cases.len(), 4);
    for case in fixture.cases {
        let n = case.relevant.len();
        let shares = |parts: &[f64]| -> Vec<Share> {
            parts
                .iter()
                .zip(&case.relevant)
                .map(|(&part, &whole)| Share { part, whole })
                .collect()
        };
        let ratios = |parts: &[f64]| -> Vec<Option<f64>> {
            shares(parts)
                .iter()
                .map(|s| Some(s.part / s.whole))
                .collect()
        };
        case.pooled_better
            .check(&format!("pooled, {n} seeds"), pooled(&shares(&case.better)));
        case.pooled_worse
            .check(&format!("pooled, {n} seeds"), pooled(&shares(&case.worse)));
        let reduction = reduction(&ratios(&case.better), &ratios(&case.worse));
        case.points
            .check(&format!("points, {n} seeds"), reduction.points);
        case.relative
            .check(&format!("relative, {n} seeds"), reduction.relative);
    }
}
