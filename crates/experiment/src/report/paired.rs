//! Rows of several arms on the seeds that all of them have, for what the report derives itself. Intervals are those of
//! [`crate::stats`], so the same seeds are drawn for every quantity and differences stay paired.

use super::view::{ArmView, SeedRow};

/// The rows of several arms on the seeds that all of them have: `[seed][arm]`.
pub(crate) fn paired_rows(arms: &[&ArmView<'_>]) -> Vec<Vec<SeedRow>> {
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

/// Mean over the drawn seeds of a value that a row of arm `arm` may lack.
pub(crate) fn mean_value(
    rows: &[Vec<SeedRow>],
    drawn: &[usize],
    arm: usize,
    value: impl Fn(&SeedRow) -> Option<f64>,
) -> Option<f64> {
    mean_of(rows, drawn, |row| value(&row[arm]))
}
