//! Which seeds are for what.
//!
//! | seeds | for |
//! |---|---|
//! | 1 to 17 | tuning, trying, tests and examples: they were looked at while readings changed |
//! | 101 to 117 | the evaluation; more of them, up to 1000, where more are asked for |
//! | from 1001 on | calibration and fits, never evaluated |

use std::ops::RangeInclusive;

use covey_simulator::calibrate;

/// Seeds to tune, try and test with; those of `--quick` and of examples.
pub const TRIED: RangeInclusive<u64> = 1..=17;
/// How many of them a quick run takes.
pub const QUICK: u64 = 3;
/// The seeds of the evaluation: as many as the letter's.
pub const EVALUATED: RangeInclusive<u64> = 101..=117;
/// The first seed that is never evaluated: calibration and fits begin here.
pub const FIRST_CALIBRATION: u64 = *calibrate::SEEDS.start();

/// The first `count` seeds of the evaluation, or of those to try with where the run is a quick one.
///
/// # Errors
/// There are not so many: how many there may be.
pub fn first(count: u64, quick: bool) -> Result<Vec<u64>, String> {
    let (begin, end) = match quick {
        true => (*TRIED.start(), *EVALUATED.start()),
        false => (*EVALUATED.start(), FIRST_CALIBRATION),
    };
    let most = end - begin;
    if count == 0 || count > most {
        return Err(format!(
            "found {count}, expected 1 to {most}: seeds begin at {begin} here, and those from {end} on are {}",
            if quick {
                "evaluated"
            } else {
                "for calibration"
            }
        ));
    }
    Ok((begin..begin + count).collect())
}

/// `seeds` may be fitted to.
///
/// # Errors
/// One of them may be evaluated.
pub fn check_calibration(seeds: &[u64]) -> Result<(), String> {
    match seeds.iter().find(|&&seed| seed < FIRST_CALIBRATION) {
        None => Ok(()),
        Some(seed) => Err(format!(
            "found {seed}, expected calibration seeds, from {FIRST_CALIBRATION} on: nothing is fitted to what is evaluated"
        )),
    }
}

/// Seeds in words: `101 to 117`, `1, 3`.
#[must_use]
pub fn told(seeds: &[u64]) -> String {
    let in_a_row = seeds.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match seeds {
        [first, .., last] if in_a_row && seeds.len() > 2 => format!("{first} to {last}"),
        seeds => seeds
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_seeds_do_not_meet() {
        assert!(TRIED.end() < EVALUATED.start());
        assert!(*EVALUATED.end() < FIRST_CALIBRATION);
        assert_eq!(EVALUATED.count(), TRIED.count());
        assert_eq!(first(17, false).unwrap(), EVALUATED.collect::<Vec<_>>());
        assert_eq!(first(3, true).unwrap(), [1, 2, 3]);
        assert_eq!(first(900, false).unwrap().last(), Some(&1000));
        assert_eq!(first(100, true).unwrap().last(), Some(&100));
        for (count, quick) in [(0, false), (901, false), (0, true), (101, true)] {
            let problem = first(count, quick).unwrap_err();
            assert!(
                problem.starts_with(&format!("found {count}, ")),
                "{problem}"
            );
        }
    }

    #[test]
    fn only_calibration_seeds_are_fitted_to() {
        assert_eq!(check_calibration(&[1001, 1010]), Ok(()));
        for seed in [1, 101, 1000] {
            let problem = check_calibration(&[1001, seed]).unwrap_err();
            assert!(problem.starts_with(&format!("found {seed}, ")), "{problem}");
        }
    }

    #[test]
    fn rows_of_seeds_are_told_by_their_ends() {
        assert_eq!(told(&[101, 102, 103]), "101 to 103");
        assert_eq!(told(&[1, 2]), "1, 2");
        assert_eq!(told(&[1, 3, 4]), "1, 3, 4");
        assert_eq!(told(&[]), "");
    }
}
