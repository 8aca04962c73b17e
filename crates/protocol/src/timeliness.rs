//! Timely delivery: the chance that what a receiver holds is no older than its reaction deadline.
//!
//! A host broadcasts once per cycle of period `T_s`; what it broadcasts is complete `T` seconds after the cycle's start
//! (the airtime of reports and broadcast); a receiver decodes each broadcast with probability `p`. At a random instant,
//! with `y = (deadline - T) / T_s`, `n = floor(y)` and `f = y - n`, the newest decoded state is within the deadline with
//!
//! ```text
//! P = 0                          where y <= 0
//! P = 1 - (1 - p)^n (1 - p f)    otherwise
//! ```
//!
//! In `T` this is continuous and made of straight pieces, one for each `n`, which is what lets the host score a thousand
//! candidates, each with a `T` of its own, from one table (see [`Line`]).

/// The timeliness factor for one cycle period and one delivery probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timeliness {
    cycle_s: f64,
    delivery: f64,
}

/// The factor as a straight line in the completion time: `P(T) = at + slope (T - from)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// The factor at the beginning of the range.
    pub at: f64,
    /// Change per second of completion time; never positive.
    pub slope: f64,
}

impl Timeliness {
    /// For cycles of `cycle_s` seconds (> 0) and broadcasts decoded with probability `delivery` (0..=1).
    #[must_use]
    pub(crate) fn new(cycle_s: f64, delivery: f64) -> Self {
        Self { cycle_s, delivery }
    }

    /// The chance that information is within `deadline_s`, when a cycle completes after `completion_s` seconds.
    #[must_use]
    pub(crate) fn probability(&self, deadline_s: f64, completion_s: f64) -> f64 {
        let y = (deadline_s - completion_s) / self.cycle_s;
        if y.is_nan() || y <= 0.0 {
            return 0.0;
        }
        let n = libm::floor(y);
        1.0 - self.all_lost(n) * (1.0 - self.delivery * (y - n))
    }

    /// The factor over the whole range `from_s..=to_s` of completion times, where it is one straight line there.
    #[must_use]
    pub(crate) fn line(&self, deadline_s: f64, from_s: f64, to_s: f64) -> Option<Line> {
        let first = (deadline_s - from_s) / self.cycle_s;
        let last = (deadline_s - to_s) / self.cycle_s;
        if first.is_nan() || first <= 0.0 {
            return Some(Line {
                at: 0.0,
                slope: 0.0,
            });
        }
        let n = libm::floor(first);
        if last.is_nan() || last <= n {
            return None;
        }
        let lost = self.all_lost(n);
        Some(Line {
            at: 1.0 - lost * (1.0 - self.delivery * (first - n)),
            slope: -lost * self.delivery / self.cycle_s,
        })
    }

    /// (1 - p)^n for whole n >= 0.
    fn all_lost(&self, n: f64) -> f64 {
        let lost = 1.0 - self.delivery;
        // Deadlines beyond a few cycles are rare; `powi` is not in core and `pow` is slow.
        match n {
            n if n < 0.5 => 1.0,
            n if n < 1.5 => lost,
            n if n < 2.5 => lost * lost,
            n => libm::pow(lost, n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_by_hand() {
        let t = Timeliness::new(0.2, 0.9);
        assert_eq!(t.probability(0.2, 0.2), 0.0);
        assert_eq!(t.probability(0.0, 0.0), 0.0);
        // Half a cycle: half the instants have a broadcast within reach.
        assert!((t.probability(0.15, 0.05) - 0.45).abs() < 1e-12);
        // One and a half cycles: lost both only if the certain one and the half one are lost.
        assert!((t.probability(0.35, 0.05) - (1.0 - 0.1 * (1.0 - 0.45))).abs() < 1e-12);
        assert_eq!(Timeliness::new(0.2, 1.0).probability(0.4, 0.1), 1.0);
        assert_eq!(Timeliness::new(0.2, 0.0).probability(9.0, 0.1), 0.0);
        assert_eq!(t.probability(f64::NAN, 0.1), 0.0);
    }

    #[test]
    fn lines_agree_with_the_definition_and_refuse_kinks() {
        for delivery in [0.0, 0.3, 0.95, 1.0] {
            let t = Timeliness::new(0.2, delivery);
            let mut kinks = 0;
            for deadline_ms in 0..900 {
                let deadline = f64::from(deadline_ms) * 1e-3;
                let (from, to) = (0.0207, 0.0233);
                match t.line(deadline, from, to) {
                    None => kinks += 1,
                    Some(line) => {
                        for at in [from, 0.0219, to] {
                            let exact = t.probability(deadline, at);
                            let by_line = line.at + line.slope * (at - from);
                            assert!((exact - by_line).abs() < 1e-12, "{deadline} {at}");
                        }
                    }
                }
            }
            assert!((10..=15).contains(&kinks), "{kinks}");
        }
    }
}
