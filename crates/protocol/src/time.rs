//! Time as the caller tells it: integer microseconds.
//!
//! The crate never reads a clock. Steps of 50 ms, beacons of 100 ms and cycles of 200 ms are exact, in simulated and in
//! real time alike. Arithmetic saturates: hostile timestamps cannot overflow.

use core::fmt;
use core::ops::{Add, Sub};

/// A point in time, in microseconds from an epoch that all participants share (on the road: GNSS time).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(i64);

/// A length of time, in microseconds; may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

impl Instant {
    /// The beginning of time: whatever the caller counts from.
    pub const ZERO: Self = Self(0);

    /// From microseconds since the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From milliseconds since the epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// How long ago `earlier` was; negative if it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The last multiple of `period` at or before this instant, shifted by `phase`: the newest instant `phase + k * period`
    /// that is not in the future. A period that is not positive gives the instant itself.
    #[must_use]
    pub const fn floor_to(self, period: Duration, phase: Duration) -> Self {
        if period.0 <= 0 {
            return self;
        }
        let past = self.0.saturating_sub(phase.0).rem_euclid(period.0);
        Self(self.0.saturating_sub(past))
    }

    /// The next instant `phase + k * period` that is strictly later than this one.
    #[must_use]
    pub const fn next_after(self, period: Duration, phase: Duration) -> Self {
        let floor = self.floor_to(period, phase);
        Self(floor.0.saturating_add(period.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A duration of so many microseconds.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// A duration of so many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// From seconds, rounded to the nearest microsecond; not-a-number gives zero, the rest saturates.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        // `as` saturates and maps NaN to 0.
        Self(libm::round(seconds * 1e6) as i64)
    }

    /// The whole duration in microseconds, which is exact.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The whole duration in seconds, for formulas.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// `count` times this.
    #[must_use]
    pub const fn times(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later.0))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.0 as f64 * 1e-6)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_on_either_side_of_zero() {
        let period = Duration::from_millis(200);
        let phase = Duration::from_millis(150);
        let at = |ms| Instant::from_millis(ms);
        assert_eq!(at(150).floor_to(period, phase), at(150));
        assert_eq!(at(149).floor_to(period, phase), at(-50));
        assert_eq!(at(150).next_after(period, phase), at(350));
        assert_eq!(at(-51).next_after(period, phase), at(-50));
    }

    #[test]
    fn hostile_times_saturate() {
        let far = Instant::from_micros(i64::MAX);
        assert_eq!(far + Duration::from_millis(1), far);
        assert_eq!(far.since(Instant::from_micros(i64::MIN)).micros(), i64::MAX);
        assert_eq!(Duration::from_seconds(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_seconds(f64::INFINITY).micros(), i64::MAX);
        let _ = Instant::from_micros(i64::MIN)
            .floor_to(Duration::from_millis(7), Duration::from_micros(3));
    }
}
