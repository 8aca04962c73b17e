//! Resampling of seeds, for what the report derives itself from the per-seed figures.
//!
//! Percentile bootstrap, 95 %, as in the summary but with 2,000 resamples, and a fixed seed; draws are addressed by (resample, position),
//! so that the same seeds are drawn for every quantity and differences stay paired.

use super::view::{ArmView, Interval, SeedRow};

const RESAMPLES: u64 = 2_000;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// A well-mixed 64-bit number of its argument (the finaliser of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `statistic` of the indices 0..count, with the interval over resamples of them. None where it has no value.
pub(crate) fn interval(
    count: usize,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    intervals(count, 1, |drawn| statistic(drawn).map(|value| vec![value]))
        .pop()
        .flatten()
}

/// The same for `values` statistics that are computed together.
pub(crate) fn intervals(
    count: usize,
    values: usize,
    mut statistics: impl FnMut(&[usize]) -> Option<Vec<f64>>,
) -> Vec<Option<Interval>> {
    let all: Vec<usize> = (0..count).collect();
    let means = if count == 0 { None } else { statistics(&all) };
    let Some(means) = means.filter(|means| means.len() == values) else {
        return vec![None; values];
    };
    let mut drawn = all;
    let mut resampled: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES as usize); values];
    for resample in 0..RESAMPLES {
        for (position, slot) in drawn.iter_mut().enumerate() {
            let address = (resample << 16).wrapping_add(position as u64 + 1);
            *slot = (mix(address.wrapping_mul(SEED)) % count as u64) as usize;
        }
        if let Some(found) = statistics(&drawn) {
            for (list, value) in resampled.iter_mut().zip(found) {
                if value.is_finite() {
                    list.push(value);
                }
            }
        }
    }
    means
        .into_iter()
        .zip(&mut resampled)
        .map(|(mean, list)| {
            list.sort_by(f64::total_cmp);
            (mean.is_finite() && !list.is_empty()).then(|| Interval {
                mean,
                lo: quantile(list, 0.025),
                hi: quantile(list, 0.975),
            })
        })
        .collect()
}

/// Linear between order statistics.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

/// The rows of several arms on the seeds that all of them have: `[seed][arm]`.
pub(crate) fn paired_rows(arms: &[&ArmView]) -> Vec<Vec<SeedRow>> {
    let Some(first) = arms.first() else {
        return Vec::new();
    };
    first
        .seeds
        .iter()
        .filter_map(|row| {
            arms.iter()
                .map(|arm| {
                    arm.seeds
                        .iter()
                        .find(|other| other.seed == row.seed)
                        .copied()
                })
                .collect()
        })
        .collect()
}

/// Missed over relevant of arm `arm`, pooled over the drawn seeds.
pub(crate) fn pooled_deficit(rows: &[Vec<SeedRow>], drawn: &[usize], arm: usize) -> Option<f64> {
    let (missed, relevant) = drawn.iter().fold((0.0, 0.0), |sum, &i| {
        (sum.0 + rows[i][arm].missed, sum.1 + rows[i][arm].relevant)
    });
    (relevant > 0.0).then(|| missed / relevant)
}

/// Mean load of arm `arm` over the drawn seeds.
pub(crate) fn mean_load(rows: &[Vec<SeedRow>], drawn: &[usize], arm: usize) -> Option<f64> {
    let sum: f64 = drawn.iter().map(|&i| rows[i][arm].load).sum();
    (!drawn.is_empty()).then(|| sum / drawn.len() as f64)
}

/// Mean over the drawn seeds of a per-seed value of the row.
pub(crate) fn mean_of(
    rows: &[Vec<SeedRow>],
    drawn: &[usize],
    value: impl Fn(&[SeedRow]) -> Option<f64>,
) -> Option<f64> {
    let mut sum = 0.0;
    for &i in drawn {
        sum += value(&rows[i])?;
    }
    (!drawn.is_empty()).then(|| sum / drawn.len() as f64)
}

/// A seed's own deficit.
pub(crate) fn deficit_of(row: &SeedRow) -> Option<f64> {
    (row.relevant > 0.0).then(|| row.missed / row.relevant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_near_the_normal_one() {
        let values: Vec<f64> = (0..40).map(|i| f64::from((i * 17) % 40)).collect();
        let mean = |drawn: &[usize]| {
            Some(drawn.iter().map(|&i| values[i]).sum::<f64>() / drawn.len() as f64)
        };
        let found = interval(values.len(), mean).unwrap();
        assert!((found.mean - 19.5).abs() < 1e-9);
        // Standard deviation of 0..40 is 11.54, of the mean 1.825.
        assert!((found.lo - (19.5 - 1.96 * 1.825)).abs() < 0.2, "{found:?}");
        assert!((found.hi - (19.5 + 1.96 * 1.825)).abs() < 0.2, "{found:?}");
        assert_eq!(interval(values.len(), mean), Some(found));
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(interval(0, |_| Some(1.0)), None);
        assert_eq!(interval(3, |_| None), None);
    }
}
