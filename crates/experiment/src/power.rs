//! Errors of measurement: how much deficits spread between seeds and between windows of one seed, and how small a difference so many
//! seeds can show.

use crate::names::{
    CAM_ONLY, CPM_RMR, ORACLE, PROPOSED_02, PROPOSED_04, PROPOSED_08, RANDOM_02, RANDOM_04,
    RANDOM_08, rung,
};
use crate::summary::{ArmSummary, PerSeed, Summary};

/// The chance with which a difference is to be shown.
pub const POWER: f64 = 0.8;
/// The chance of showing one that is not there, on both sides together.
pub const LEVEL: f64 = 0.05;

/// How much an arm's deficit spreads, in percentage points.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The arm's name.
    pub arm: String,
    /// Seeds with a deficit.
    pub seeds: usize,
    /// Standard deviation between seeds.
    pub between_seeds: Option<f64>,
    /// Standard deviation between the windows of a seed, mean over seeds.
    pub between_windows: Option<f64>,
}

/// How much a comparison's paired differences spread, in percentage points, and what that allows to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The arm that the letter says misses less.
    pub better: String,
    /// The arm it is compared with.
    pub worse: String,
    /// Seeds on which both have a deficit.
    pub seeds: usize,
    /// Mean difference, positive where `better` misses less.
    pub difference: f64,
    /// Standard deviation of the difference between seeds.
    pub between_seeds: Option<f64>,
    /// Standard deviation of the difference between the windows of a seed, mean over seeds.
    pub between_windows: Option<f64>,
    /// The smallest difference that so many seeds show, by [`smallest_difference`].
    pub smallest: Option<f64>,
}

/// The letter's comparisons: its steps, its gains over random admission, and what its findings set against each other.
fn pairs() -> Vec<(String, String)> {
    let named = [
        (PROPOSED_02, RANDOM_02),
        (PROPOSED_04, RANDOM_04),
        (PROPOSED_08, RANDOM_08),
        (PROPOSED_08, CPM_RMR),
        (PROPOSED_04, PROPOSED_02),
        (PROPOSED_08, PROPOSED_04),
        (ORACLE, PROPOSED_08),
        (CAM_ONLY, RANDOM_02),
    ];
    let mut pairs: Vec<(String, String)> = named
        .into_iter()
        .map(|(better, worse)| (better.to_string(), worse.to_string()))
        .collect();
    // Random admission is no rung of the letter's.
    pairs.extend((2..=4).map(|step| (rung(step), rung(step - 1))));
    pairs
}

/// The spread of every arm.
#[must_use]
pub fn spreads(summary: &Summary) -> Vec<Spread> {
    let spread = |(arm, of): &(String, ArmSummary)| {
        let deficits: Vec<f64> = of.per_seed.iter().filter_map(|seed| seed.deficit).collect();
        let windows: Vec<f64> = of
            .per_seed
            .iter()
            .filter_map(|seed| deviation(&points(&seed.windows)?))
            .collect();
        Spread {
            arm: arm.clone(),
            seeds: deficits.len(),
            between_seeds: deviation(&deficits).map(|x| 100.0 * x),
            between_windows: mean(&windows),
        }
    };
    summary.arms.0.iter().map(spread).collect()
}

/// The letter's comparisons among the arms that were run.
#[must_use]
pub fn comparisons(summary: &Summary) -> Vec<Comparison> {
    pairs()
        .into_iter()
        .filter_map(|(better, worse)| {
            let (a, b) = (summary.arms.get(&better)?, summary.arms.get(&worse)?);
            compare(&a.per_seed, &b.per_seed, (better, worse))
        })
        .collect()
}

fn compare(better: &[PerSeed], worse: &[PerSeed], names: (String, String)) -> Option<Comparison> {
    let mut differences = Vec::new();
    let mut windows = Vec::new();
    for a in better {
        let Some(b) = worse.iter().find(|b| b.seed == a.seed) else {
            continue;
        };
        let (Some(ours), Some(theirs)) = (a.deficit, b.deficit) else {
            continue;
        };
        differences.push(100.0 * (theirs - ours));
        let both = points(&a.windows).zip(points(&b.windows));
        if let Some((ours, theirs)) = both.filter(|(ours, theirs)| ours.len() == theirs.len()) {
            let by_window: Vec<f64> = theirs.iter().zip(&ours).map(|(t, o)| t - o).collect();
            windows.extend(deviation(&by_window));
        }
    }
    let between_seeds = deviation(&differences);
    Some(Comparison {
        better: names.0,
        worse: names.1,
        seeds: differences.len(),
        difference: mean(&differences)?,
        between_seeds,
        between_windows: mean(&windows),
        smallest: between_seeds.and_then(|sd| smallest_difference(sd, differences.len())),
    })
}

/// Deficits of windows in percentage points; none where a window has none.
fn points(windows: &[Option<f64>]) -> Option<Vec<f64>> {
    windows.iter().map(|x| x.map(|x| 100.0 * x)).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample's standard deviation; none of fewer than two.
fn deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|x| (x - middle).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The smallest paired difference that `seeds` seeds show with a power of 80 % at 5 %, two-sided, where differences have the
/// standard deviation `sd`: (t at 0.975 + t at 0.8, both with seeds - 1 degrees of freedom) sd / sqrt(seeds). None of one seed.
#[must_use]
pub fn smallest_difference(sd: f64, seeds: usize) -> Option<f64> {
    let freedom = u32::try_from(seeds.checked_sub(1)?).ok()?;
    let t = student(1.0 - LEVEL / 2.0, freedom)? + student(POWER, freedom)?;
    Some(t * sd / (seeds as f64).sqrt())
}

/// The quantile of Student's distribution with a whole number of degrees of freedom, for a probability from 0.5 on; none for less,
/// for 1, or without freedom. For whole degrees the distribution is a finite sum, so no library is needed for it.
#[must_use]
pub fn student(probability: f64, freedom: u32) -> Option<f64> {
    if freedom == 0 || !(0.5..1.0).contains(&probability) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while below(high, freedom) < probability {
        low = high;
        high *= 2.0;
    }
    // Bisection ends where no number lies between the two.
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return Some(middle);
        }
        if below(middle, freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The probability of a value up to `t`, which is not negative: Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn below(t: f64, freedom: u32) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= freedom {
        sum += term;
        let next = f64::from(power + 1) / f64::from(power + 2);
        term *= cosine * cosine * next;
        power += 2;
    }
    let inside = match odd {
        true => std::f64::consts::FRAC_2_PI * (angle + sine * sum),
        false => sine * sum,
    };
    f64::midpoint(1.0, inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Named;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, freedom, expected) in [
            (0.975, 1, 12.7062),
            (0.975, 2, 4.3027),
            (0.975, 3, 3.1824),
            (0.975, 5, 2.5706),
            (0.975, 16, 2.1199),
            (0.975, 17, 2.1098),
            (0.8, 1, 1.3764),
            (0.8, 2, 1.0607),
            (0.8, 16, 0.8647),
            (0.995, 30, 2.7500),
            (0.975, 1000, 1.9623),
            (0.5, 7, 0.0),
        ] {
            let found = student(probability, freedom).unwrap();
            assert!(
                (found - expected).abs() < 6e-5,
                "{probability} {freedom}: {found}"
            );
        }
        assert_eq!(student(0.975, 0), None);
        assert_eq!(student(1.0, 5), None);
        assert_eq!(student(0.3, 5), None);
    }

    #[test]
    fn more_seeds_show_smaller_differences() {
        // (2.1199 + 0.8647) / sqrt(17)
        let of_17 = smallest_difference(1.0, 17).unwrap();
        assert!((of_17 - 0.72387).abs() < 1e-4, "{of_17}");
        assert!(smallest_difference(1.0, 6).unwrap() > of_17);
        assert_eq!(smallest_difference(1.0, 1), None);
        assert_eq!(smallest_difference(1.0, 0), None);
    }

    fn seed(seed: u64, windows: [f64; 4]) -> PerSeed {
        PerSeed {
            seed,
            deficit: Some(windows.iter().sum::<f64>() / 4.0),
            load: Some(0.1),
            load_digest: None,
            relevant: 100,
            missed: 1,
            windows: windows.map(Some).to_vec(),
        }
    }

    #[test]
    fn spreads_and_differences_are_by_seed_and_by_window() {
        let arm = |per_seed| ArmSummary {
            per_seed,
            ..ArmSummary::default()
        };
        let summary = Summary {
            arms: Named(vec![
                (
                    RANDOM_02.to_string(),
                    arm(vec![seed(1, [0.05, 0.07, 0.05, 0.07]), seed(2, [0.08; 4])]),
                ),
                (
                    PROPOSED_02.to_string(),
                    arm(vec![seed(2, [0.04; 4]), seed(1, [0.04, 0.06, 0.04, 0.06])]),
                ),
            ]),
            ..Summary::default()
        };
        let all = spreads(&summary);
        // Seeds at 6 and 8 points; windows 5, 7, 5, 7 in one and none in the other.
        assert!((all[0].between_seeds.unwrap() - 2f64.sqrt()).abs() < 1e-9);
        let windows = (4f64 / 3.0).sqrt() / 2.0;
        assert!((all[0].between_windows.unwrap() - windows).abs() < 1e-9);
        let pairs = comparisons(&summary);
        assert_eq!(pairs.len(), 1);
        let pair = &pairs[0];
        assert_eq!((pair.better.as_str(), pair.seeds), (PROPOSED_02, 2));
        // One point less on the first seed, in each of its windows; four on the second.
        assert!((pair.difference - 2.5).abs() < 1e-9);
        assert!((pair.between_seeds.unwrap() - 4.5f64.sqrt()).abs() < 1e-9);
        assert!(pair.between_windows.unwrap().abs() < 1e-9);
        let smallest = smallest_difference(4.5f64.sqrt(), 2).unwrap();
        assert!((pair.smallest.unwrap() - smallest).abs() < 1e-9);
    }
}
