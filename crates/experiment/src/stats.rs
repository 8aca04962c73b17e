//! Statistics over paired seeds: pooled ratios, per-seed differences, and seed-level bootstrap intervals.
//!
//! A seed is the unit of replication: cycles and vehicles of one seed depend on each other, so whole seeds are drawn again, with
//! replacement. All intervals are percentile intervals of 95 % from [`RESAMPLES`] resamples. Which seed stands at which place
//! of a resample is a function of (resample, place) alone: every statistic over the same number of seeds sees the same
//! resamples, results do not depend on order or threads, and run again they are the same.

use std::sync::{Arc, Mutex, PoisonError};

use covey_draws::mix;
use serde::{Deserialize, Serialize};

/// Resamples of an interval.
pub const RESAMPLES: u64 = 10_000;
/// Share of resamples below the lower end, and above the upper end.
pub const TAIL: f64 = 0.025;
/// The bootstrap's own seed.
pub const SEED: u64 = 0x0C0F_FEE5;
/// With fewer seeds than this an interval says little: even if all seeds agree in sign, chance alone would do the same in more
/// than one of twenty repetitions (2^(1-n) > 0.05).
pub const FEWEST_SEEDS: usize = 6;

/// An estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate from the seeds as they are.
    pub mean: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
}

impl Estimate {
    /// Zero lies in the interval, ends included: the sign is not decided.
    #[must_use]
    pub fn includes_zero(self) -> bool {
        self.lo <= 0.0 && self.hi >= 0.0
    }

    /// The same in another unit; `factor` is not negative.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            lo: self.lo * factor,
            hi: self.hi * factor,
        }
    }
}

/// A part of a whole, counted on one seed: missed of relevant objects, or a sum of loads of so many (tile, cycle).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The part, or the sum.
    pub part: f64,
    /// The whole, or how many.
    pub whole: f64,
}

/// Which of `n` seeds stands at `place` of resample `resample`.
fn drawn(resample: u64, place: usize, n: usize) -> usize {
    let bits = mix(mix(mix(SEED) ^ resample) ^ place as u64);
    // The upper 64 bits of the product: uniform on 0..n to within n / 2^64.
    ((u128::from(bits) * n as u128) >> 64) as usize
}

/// The seeds of all resamples of `n`, one resample after the other. Every statistic needs them, so the last ones are kept.
fn resamples(n: usize) -> Arc<[u32]> {
    type Kept = Mutex<Option<(usize, Arc<[u32]>)>>;
    static KEPT: Kept = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some((of, seeds)) if *of == n => Arc::clone(seeds),
        _ => {
            let seeds: Arc<[u32]> = (0..RESAMPLES)
                .flat_map(|resample| (0..n).map(move |place| drawn(resample, place, n) as u32))
                .collect();
            *kept = Some((n, Arc::clone(&seeds)));
            seeds
        }
    }
}

/// The quantile `q` of sorted values, linear between neighbours: numpy's default.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = at.floor();
    let (i, t) = (below as usize, at - below);
    match sorted.get(i + 1) {
        Some(&above) if t > 0.0 => sorted[i] + (above - sorted[i]) * t,
        _ => sorted[i],
    }
}

/// `count` statistics of `n` seeds, computed together, with the interval of each. `statistics` gets the numbers of the seeds drawn
/// and a place for each value; a place left at NaN has none. Resamples without a value are left out.
pub fn estimates(
    n: usize,
    count: usize,
    mut statistics: impl FnMut(&[usize], &mut [f64]),
) -> Vec<Option<Estimate>> {
    if n == 0 {
        return vec![None; count];
    }
    let mut seeds: Vec<usize> = (0..n).collect();
    let mut means = vec![f64::NAN; count];
    statistics(&seeds, &mut means);
    let mut values = vec![f64::NAN; count];
    let mut resampled = vec![Vec::with_capacity(RESAMPLES as usize); count];
    for resample in resamples(n).chunks_exact(n) {
        for (seed, &drawn) in seeds.iter_mut().zip(resample) {
            *seed = drawn as usize;
        }
        values.fill(f64::NAN);
        statistics(&seeds, &mut values);
        for (list, &value) in resampled.iter_mut().zip(&values) {
            if value.is_finite() {
                list.push(value);
            }
        }
    }
    means
        .into_iter()
        .zip(&mut resampled)
        .map(|(mean, list)| {
            list.sort_by(f64::total_cmp);
            (mean.is_finite() && !list.is_empty()).then(|| Estimate {
                mean,
                lo: quantile(list, TAIL),
                hi: quantile(list, 1.0 - TAIL),
            })
        })
        .collect()
}

/// A statistic of `n` seeds with its interval; none where it has no value.
pub fn estimate(n: usize, mut statistic: impl FnMut(&[usize]) -> Option<f64>) -> Option<Estimate> {
    let found = estimates(n, 1, |seeds, value| {
        value[0] = statistic(seeds).unwrap_or(f64::NAN);
    });
    found.into_iter().next().flatten()
}

/// The pooled ratio: all parts over all wholes. None where there is nothing to count.
#[must_use]
pub fn pooled(shares: &[Share]) -> Option<Estimate> {
    estimate(shares.len(), |seeds| {
        let (mut part, mut whole) = (0.0, 0.0);
        for &seed in seeds {
            part += shares[seed].part;
            whole += shares[seed].whole;
        }
        (whole > 0.0).then(|| part / whole)
    })
}

/// The mean of one value per seed. None of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<Estimate> {
    let n = values.len() as f64;
    estimate(values.len(), |seeds| {
        Some(seeds.iter().map(|&seed| values[seed]).sum::<f64>() / n)
    })
}

/// How much better one arm does than another, seed by seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduction {
    /// Mean per-seed difference, in percentage points; positive where the first arm misses less.
    pub points: Option<Estimate>,
    /// Mean per-seed difference relative to the other arm, as a fraction. Seeds on which the other arm misses nothing have no
    /// such ratio and are left out.
    pub relative: Option<Estimate>,
}

/// Compares per-seed ratios of two arms on the same seeds. Seeds on which either has none are left out.
#[must_use]
pub fn reduction(better: &[Option<f64>], worse: &[Option<f64>]) -> Reduction {
    let pairs: Vec<(f64, f64)> = better
        .iter()
        .zip(worse)
        .filter_map(|(&b, &w)| Some((b?, w?)))
        .collect();
    let points: Vec<f64> = pairs.iter().map(|(b, w)| (w - b) * 100.0).collect();
    let relative: Vec<f64> = pairs
        .iter()
        .filter(|(_, w)| *w > 0.0)
        .map(|(b, w)| (w - b) / w)
        .collect();
    Reduction {
        points: mean(&points),
        relative: mean(&relative),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(values: &[(f64, f64)]) -> Vec<Share> {
        values
            .iter()
            .map(|&(part, whole)| Share { part, whole })
            .collect()
    }

    #[test]
    fn ratios_are_pooled_not_averaged() {
        let estimate = pooled(&shares(&[(1.0, 10.0), (30.0, 100.0)])).unwrap();
        assert!((estimate.mean - 31.0 / 110.0).abs() < 1e-15);
        // Both ends are one seed drawn twice.
        assert_eq!((estimate.lo, estimate.hi), (0.1, 0.3));
    }

    #[test]
    fn nothing_to_count_is_no_ratio() {
        assert_eq!(pooled(&[]), None);
        assert_eq!(pooled(&shares(&[(0.0, 0.0), (0.0, 0.0)])), None);
        assert_eq!(mean(&[]), None);
        // A seed without anything to count changes nothing but which resamples there are.
        let one = pooled(&shares(&[(0.0, 0.0), (2.0, 8.0)])).unwrap();
        assert_eq!((one.mean, one.lo, one.hi), (0.25, 0.25, 0.25));
    }

    #[test]
    fn one_seed_has_an_interval_of_no_width() {
        let estimate = mean(&[0.5]).unwrap();
        assert_eq!((estimate.mean, estimate.lo, estimate.hi), (0.5, 0.5, 0.5));
    }

    #[test]
    fn several_statistics_see_the_same_seeds_and_those_without_value_are_none() {
        let values = [1.0, 2.0, 4.0, 7.0, 11.0];
        let of = |seeds: &[usize]| seeds.iter().map(|&i| values[i]).sum::<f64>() / 5.0;
        let together = estimates(5, 3, |seeds, places| {
            places[0] = of(seeds);
            places[1] = 2.0 * of(seeds);
        });
        assert_eq!(together[0], mean(&values));
        assert_eq!(together[1], mean(&values).map(|e| e.scaled(2.0)));
        assert_eq!(together[2], None);
        assert_eq!(estimate(0, |_| Some(1.0)), None);
        assert_eq!(estimate(3, |_| None), None);
    }

    #[test]
    fn the_interval_of_a_mean_is_near_the_normal_one() {
        let values: Vec<f64> = (0..40).map(|i| f64::from((i * 17) % 40)).collect();
        let found = mean(&values).unwrap();
        assert!((found.mean - 19.5).abs() < 1e-9);
        // Standard deviation of 0..40 is 11.54, of the mean 1.825.
        assert!((found.lo - (19.5 - 1.96 * 1.825)).abs() < 0.2, "{found:?}");
        assert!((found.hi - (19.5 + 1.96 * 1.825)).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn draws_are_uniform() {
        let n = 17;
        let mut counts = vec![0u32; n];
        for resample in 0..RESAMPLES {
            for place in 0..n {
                counts[drawn(resample, place, n)] += 1;
            }
        }
        let expected = RESAMPLES as f64;
        let chi: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - expected).powi(2) / expected)
            .sum();
        // 99.9 % of chi-square with 16 degrees of freedom.
        assert!(chi < 39.25, "{chi}");
    }

    #[test]
    fn pairs_without_a_ratio_are_left_out() {
        let r = reduction(
            &[Some(0.01), None, Some(0.02), Some(0.0)],
            &[Some(0.02), Some(0.5), Some(0.04), Some(0.0)],
        );
        assert!((r.points.unwrap().mean - 1.0).abs() < 1e-12);
        assert!((r.relative.unwrap().mean - 0.5).abs() < 1e-12);
        let none = reduction(&[Some(0.0)], &[Some(0.0)]);
        assert!(none.relative.is_none() && none.points.unwrap().includes_zero());
    }
}
