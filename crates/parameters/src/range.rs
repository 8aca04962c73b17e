//! Which numbers are allowed.

use alloc::format;
use alloc::string::{String, ToString};

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// The number.
    pub at: f64,
    /// The number itself is out of range.
    pub open: bool,
}

/// Which finite numbers are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    /// The lower end, if there is one.
    pub low: Option<End>,
    /// The upper end, if there is one.
    pub high: Option<End>,
}

/// Every finite number.
#[must_use]
pub const fn any() -> Range {
    Range {
        low: None,
        high: None,
    }
}

/// `at` and all numbers above it.
#[must_use]
pub const fn at_least(at: f64) -> Range {
    Range {
        low: Some(End { at, open: false }),
        high: None,
    }
}

/// All numbers above `at`.
#[must_use]
pub const fn above(at: f64) -> Range {
    Range {
        low: Some(End { at, open: true }),
        high: None,
    }
}

/// `at` and all numbers below it.
#[must_use]
pub const fn at_most(at: f64) -> Range {
    any().at_most(at)
}

/// All numbers below `at`.
#[must_use]
pub const fn below(at: f64) -> Range {
    any().below(at)
}

impl Range {
    /// Of these, `at` and what is below it.
    #[must_use]
    pub const fn at_most(self, at: f64) -> Self {
        Self {
            low: self.low,
            high: Some(End { at, open: false }),
        }
    }

    /// Of these, what is below `at`.
    #[must_use]
    pub const fn below(self, at: f64) -> Self {
        Self {
            low: self.low,
            high: Some(End { at, open: true }),
        }
    }

    /// `x` is allowed; NaN and infinities never are.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        let above = |end: End| x > end.at || (!end.open && x >= end.at);
        let below = |end: End| x < end.at || (!end.open && x <= end.at);
        x.is_finite() && self.low.is_none_or(above) && self.high.is_none_or(below)
    }

    /// The range in words, with the unit of its numbers.
    #[must_use]
    pub fn text(&self, unit: &str) -> String {
        let words = match (self.low, self.high) {
            (None, None) => "a finite number".to_string(),
            (Some(low), None) if low.open => format!("a number above {}", low.at),
            (Some(low), None) => format!("a number of at least {}", low.at),
            (None, Some(high)) if high.open => format!("a number below {}", high.at),
            (None, Some(high)) => format!("a number of at most {}", high.at),
            (Some(low), Some(high)) => match (low.open, high.open) {
                (false, false) => format!("{} to {}", low.at, high.at),
                (true, false) => format!("above {} and at most {}", low.at, high.at),
                (false, true) => format!("at least {} and below {}", low.at, high.at),
                (true, true) => format!("above {} and below {}", low.at, high.at),
            },
        };
        if unit.starts_with("share of") {
            format!("{words} (a {unit})")
        } else if unit.is_empty() || self.low.is_none() || self.high.is_none() {
            words
        } else {
            format!("{words} {unit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_in_or_out_as_said_and_nan_is_nowhere() {
        for (range, inside, outside) in [
            (any(), &[-1e300, 0.0][..], &[][..]),
            (at_least(1.0), &[1.0, 2.0], &[0.99]),
            (above(1.0).at_most(2.0), &[1.5, 2.0], &[1.0, 2.1]),
            (at_least(1.0).below(2.0), &[1.0, 1.9], &[2.0, 0.5]),
            (below(0.0), &[-1.0], &[0.0]),
            (at_most(0.0), &[0.0, -1.0], &[0.1]),
        ] {
            assert!(inside.iter().all(|&x| range.contains(x)), "{range:?}");
            assert!(!outside.iter().any(|&x| range.contains(x)), "{range:?}");
            for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(!range.contains(x), "{range:?} has {x}");
            }
        }
    }

    #[test]
    fn ranges_read_as_people_say_them() {
        for (range, unit, text) in [
            (
                above(0.0).at_most(1.0),
                "share of capacity",
                "above 0 and at most 1 (a share of capacity)",
            ),
            (at_least(0.5).at_most(500.0), "m", "0.5 to 500 m"),
            (at_least(0.0), "m", "a number of at least 0"),
            (above(0.0), "", "a number above 0"),
            (any(), "m", "a finite number"),
            (at_least(0.0).below(2.0), "", "at least 0 and below 2"),
        ] {
            assert_eq!(range.text(unit), text);
        }
    }
}
