//! Draws addressed by what they are for: the same address always gives the same number, in any order of asking.

use covey_draws::mix;

/// The seed of the bundled maps.
const SEED: u64 = 0x7461_6d61_6761_7761;

/// A number from 0 up to but not including 1, for `purpose` and the place `(a, b, c)`.
pub(crate) fn draw(purpose: &str, a: usize, b: usize, c: usize) -> f64 {
    let mut state = SEED;
    for byte in purpose.bytes() {
        state = mix(state ^ u64::from(byte));
    }
    for part in [a, b, c] {
        state = mix(state ^ part as u64);
    }
    (mix(state) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number between `low` and `high`.
pub(crate) fn between(low: f64, high: f64, draw: f64) -> f64 {
    low + (high - low) * draw
}

/// The value of a log-normal distribution, given by its median and its 90th percentile, that a share `quantile` of all
/// values lie below.
pub(crate) fn log_normal(median: f64, p90: f64, quantile: f64) -> f64 {
    let sigma = (p90 / median).ln() / normal_quantile(0.9);
    median * (sigma * normal_quantile(quantile)).exp()
}

/// The value that a share `quantile` of a standard normal distribution lies below, by bisection of its integral.
fn normal_quantile(quantile: f64) -> f64 {
    let below = |x: f64| 0.5 + 0.5 * error_function(x / 2.0_f64.sqrt());
    let (mut low, mut high) = (-6.0, 6.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if below(middle) < quantile {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Abramowitz and Stegun 7.1.26, good to 1.5e-7.
fn error_function(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let sum = series.iter().rev().fold(0.0, |sum, a| (sum + a) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_normal_has_the_median_and_percentile_asked_for() {
        assert!((log_normal(15.0, 43.0, 0.5) - 15.0).abs() < 0.001);
        assert!((log_normal(15.0, 43.0, 0.9) - 43.0).abs() < 0.001);
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-4);
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mean: f64 = (0..10_000).map(|i| draw("test", i, 0, 0)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
