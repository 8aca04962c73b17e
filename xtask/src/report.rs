//! Counting: what the tools said about their tests, the table of steps and the closing line.

use std::fmt;
use std::time::Duration;

/// How many tests passed, failed and were skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that ran and succeeded.
    pub(crate) passed: u64,
    /// Tests that ran and did not succeed, and steps that failed without saying which test did.
    pub(crate) failed: u64,
    /// Tests that exist but were not run.
    pub(crate) skipped: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// The closing line: `12 passed, 0 failed`, with `, 3 skipped` where there are any.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// Reads nextest's line `Summary [ 0.1s] 12 tests run: 11 passed (1 slow), 1 failed, 2 skipped`.
///
/// Returns `None` where there is no such line: nextest did not get as far as running tests.
pub(crate) fn nextest_counts(output: &str) -> Option<Counts> {
    let summary = output
        .lines()
        .rev()
        .find(|line| line.trim_start().starts_with("Summary ["))?;
    let (_, parts) = summary.split_once(" run: ")?;
    let mut counts = Counts::default();
    for part in without_parentheses(parts).split(',') {
        let Some((number, what)) = number_and_words(part) else {
            continue;
        };
        match what {
            "passed" => counts.passed += number,
            "skipped" => counts.skipped += number,
            // "failed", "timed out", "exec failed" and whatever else may happen to a test.
            _ => counts.failed += number,
        }
    }
    Some(counts)
}

/// Adds up the lines `test result: ok. 3 passed; 0 failed; 1 ignored; ...` that the standard harness prints.
///
/// Returns `None` where there is none: the tests were not built.
pub(crate) fn harness_counts(output: &str) -> Option<Counts> {
    let mut sum = None;
    for line in output.lines() {
        let Some(rest) = line.trim_start().strip_prefix("test result: ") else {
            continue;
        };
        let counts = sum.get_or_insert_with(Counts::default);
        let rest = rest.split_once(". ").map_or(rest, |(_, parts)| parts);
        for (number, what) in rest.split(';').filter_map(number_and_words) {
            match what {
                "passed" => counts.passed += number,
                "failed" => counts.failed += number,
                "ignored" => counts.skipped += number,
                _ => {}
            }
        }
    }
    sum
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|&c| {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

pub(crate) fn number_and_words(part: &str) -> Option<(u64, &str)> {
    let (number, what) = part.trim().split_once(' ')?;
    Some((number.parse().ok()?, what.trim()))
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It succeeded.
    Passed,
    /// It failed.
    Failed,
    /// It was not reached, because a step before it failed.
    NotRun,
}

/// One row of the closing table.
pub(crate) struct Row {
    /// The step.
    pub(crate) step: &'static str,
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// How long it took.
    pub(crate) duration: Duration,
    /// The tests it counted, if it counts any.
    pub(crate) counts: Option<Counts>,
}

/// The closing table: a line per step with its duration and counts, and the sum of the durations.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut total = Duration::ZERO;
    for row in rows {
        total += row.duration;
        let outcome = match row.outcome {
            Outcome::Passed => "ok",
            Outcome::Failed => "FAILED",
            Outcome::NotRun => "not run",
        };
        let counts = row.counts.map(|counts| format!("  {counts}"));
        text.push_str(&format!(
            "{:<10} {:>8.1} s  {outcome}{}\n",
            row.step,
            row.duration.as_secs_f64(),
            counts.unwrap_or_default()
        ));
    }
    text.push_str(&format!("{:<10} {:>8.1} s\n", "all", total.as_secs_f64()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
        Counts {
            passed,
            failed,
            skipped,
        }
    }

    #[test]
    fn the_closing_line_mentions_skips_only_where_there_are_some() {
        assert_eq!(counts(12, 0, 0).to_string(), "12 passed, 0 failed");
        assert_eq!(
            counts(12, 1, 3).to_string(),
            "12 passed, 1 failed, 3 skipped"
        );
    }

    #[test]
    fn nextest_summaries_are_read() {
        let check = |summary: &str, expected| {
            let output =
                format!("  PASS [ 0.0s] a b::c\n------------\n{summary}\n  FAIL [ 0.0s] a b::d\n");
            assert_eq!(nextest_counts(&output), expected, "{summary}");
        };
        check(
            "     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped",
            Some(counts(3, 0, 0)),
        );
        check(
            "     Summary [   9.123s] 1 test run: 1 passed (1 slow), 2 skipped",
            Some(counts(1, 0, 2)),
        );
        check(
            "     Summary [ 1.2s] 9/12 tests run: 5 passed (1 slow, 2 leaky), 2 failed, 1 exec failed, 1 timed out, 4 skipped",
            Some(counts(5, 4, 4)),
        );
        check("error: could not compile `covey`", None);
    }

    #[test]
    fn doc_test_results_add_up_over_crates() {
        let output = "   Doc-tests a\nrunning 2 tests\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s\n\
            test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
        assert_eq!(harness_counts(output), Some(counts(3, 3, 1)));
        assert_eq!(harness_counts("error[E0432]"), None);
    }

    #[test]
    fn the_table_has_a_line_per_step() {
        let rows = [
            Row {
                step: "fmt",
                outcome: Outcome::Passed,
                duration: Duration::from_millis(1500),
                counts: None,
            },
            Row {
                step: "unit",
                outcome: Outcome::Failed,
                duration: Duration::from_secs(60),
                counts: Some(counts(4, 1, 0)),
            },
            Row {
                step: "docs",
                outcome: Outcome::NotRun,
                duration: Duration::ZERO,
                counts: None,
            },
        ];
        assert_eq!(
            table(&rows),
            "fmt             1.5 s  ok\n\
             unit           60.0 s  FAILED  4 passed, 1 failed\n\
             docs            0.0 s  not run\n\
             all            61.5 s\n"
        );
    }
}
