//! How well messages get through, by distance: learned from beacons.
//!
//! Whoever hears beacons knows how many were due. [`LinkQuality`] counts due and decoded ones by the sender's distance, in
//! bins of 50 m, and slowly forgets. What is learned of beacons serves for reports and broadcasts alike, and for links
//! between others: the channel is taken to be the same for everyone nearby.

use crate::grid::Position;
use crate::time::{Duration, Instant};

/// Width of a distance bin, in metres.
pub const BIN_M: f64 = 50.0;
/// Number of bins; the last one holds everything further off.
pub const BINS: usize = 12;

/// What a bin is worth before anything was counted: as many beacons as this.
const PRIOR_WEIGHT: f64 = 10.0;

/// Share of messages decoded, by distance.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkQuality {
    due: [f64; BINS],
    decoded: [f64; BINS],
    share: [f64; BINS],
    forgetting: Duration,
    aged_at: Option<Instant>,
}

impl LinkQuality {
    /// Nothing counted yet; what is counted loses its weight with the time constant `forgetting`.
    #[must_use]
    pub fn new(forgetting: Duration) -> Self {
        let mut links = Self {
            due: [0.0; BINS],
            decoded: [0.0; BINS],
            share: [0.0; BINS],
            forgetting,
            aged_at: None,
        };
        links.refresh();
        links
    }

    /// A table given outright: shares by bin, cut to 0..=1; the last one given holds for the bins beyond it.
    #[must_use]
    pub fn fixed(shares: &[f64]) -> Self {
        let mut links = Self::new(Duration::from_seconds(10.0));
        let last = shares.last().copied().unwrap_or(1.0);
        for (bin, share) in links.share.iter_mut().enumerate() {
            let given = shares.get(bin).copied().unwrap_or(last);
            *share = if given.is_finite() {
                given.clamp(0.0, 1.0)
            } else {
                0.0
            };
        }
        links
    }

    /// `due` beacons of a sender `distance_m` away were due since the last one heard of it, and `decoded` of them came.
    pub fn count(&mut self, distance_m: f64, due: f64, decoded: f64) {
        if !(distance_m >= 0.0 && due > 0.0 && decoded >= 0.0) {
            return;
        }
        let bin = bin(distance_m);
        // A sender unheard for long was probably not there.
        self.due[bin] += due.min(20.0);
        self.decoded[bin] += decoded.min(due).min(20.0);
    }

    /// Lets time pass and brings the shares up to date.
    pub fn age(&mut self, now: Instant) {
        let passed = self.aged_at.map_or(Duration::ZERO, |at| now.since(at));
        self.aged_at = Some(now);
        let kept = libm::exp(-passed.seconds().max(0.0) / self.forgetting.seconds().max(1e-3));
        for bin in 0..BINS {
            self.due[bin] *= kept;
            self.decoded[bin] *= kept;
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        for bin in 0..BINS {
            let prior = prior(bin);
            let share = (self.decoded[bin] + PRIOR_WEIGHT * prior) / (self.due[bin] + PRIOR_WEIGHT);
            self.share[bin] = share.clamp(0.0, 1.0);
        }
    }

    /// The share of messages that get through over `distance_m` metres.
    #[must_use]
    pub fn over(&self, distance_m: f64) -> f64 {
        self.share[bin(distance_m)]
    }

    /// The share of messages that get from `a` to `b`.
    #[must_use]
    pub fn between(&self, a: Position, b: Position) -> f64 {
        self.over(a.distance(b))
    }

    /// The shares by bin, nearest first.
    #[must_use]
    pub fn shares(&self) -> &[f64; BINS] {
        &self.share
    }
}

/// What a link is believed to be before it was tried: good nearby, poor far off.
fn prior(bin: usize) -> f64 {
    (0.98 - 0.06 * bin as f64).max(0.3)
}

fn bin(distance_m: f64) -> usize {
    // Casting maps not-a-number to 0 and saturates.
    ((distance_m / BIN_M) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_what_is_heard_and_forget() {
        let mut links = LinkQuality::new(Duration::from_seconds(10.0));
        assert!(links.over(10.0) > links.over(400.0));
        let mut now = Instant::ZERO;
        for _ in 0..100 {
            now = now + Duration::from_millis(200);
            links.count(120.0, 20.0, 5.0);
            links.age(now);
        }
        assert!(
            (links.over(149.0) - 0.25).abs() < 0.02,
            "{}",
            links.over(149.0)
        );
        assert!(links.over(151.0) > 0.7, "other bins are untouched");
        for _ in 0..300 {
            now = now + Duration::from_millis(200);
            links.age(now);
        }
        assert!(links.over(120.0) > 0.7, "forgotten after a minute");
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        let mut links = LinkQuality::new(Duration::ZERO);
        links.count(f64::NAN, 1.0, 1.0);
        links.count(-1.0, 1.0, 1.0);
        links.count(1e300, 1.0, f64::INFINITY);
        links.age(Instant::from_micros(i64::MIN));
        links.age(Instant::from_micros(i64::MAX));
        assert!(links.shares().iter().all(|p| (0.0..=1.0).contains(p)));
        assert!((0.0..=1.0).contains(&links.over(f64::NAN)));
        let fixed = LinkQuality::fixed(&[0.9, f64::NAN, 7.0]);
        assert_eq!(fixed.shares()[..4], [0.9, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn shares_are_of_what_was_due_and_what_is_believed_before() {
        let mut links = LinkQuality::new(Duration::from_seconds(10.0));
        let prior = |bin: usize| LinkQuality::new(Duration::ZERO).shares()[bin];
        assert!((prior(0) - 0.98).abs() < 1e-12 && (prior(3) - 0.8).abs() < 1e-12);
        assert!((prior(11) - 0.32).abs() < 1e-12);
        // Ten beacons weigh as much as what is believed; of a long silence twenty count.
        links.count(0.0, 10.0, 5.0);
        links.count(60.0, 1_000.0, 1.0);
        links.count(110.0, 4.0, 9.0);
        links.count(599.0, 10.0, 0.0);
        links.count(1e9, 10.0, 0.0);
        links.age(Instant::ZERO);
        let near = |bin: usize, share: f64| (links.shares()[bin] - share).abs() < 1e-12;
        assert!(near(0, (5.0 + 9.8) / 20.0));
        assert!(near(1, (1.0 + 9.2) / 30.0));
        assert!(near(2, (4.0 + 8.6) / 14.0));
        assert!(near(11, 3.2 / 30.0));
        assert!((links.over(49.9) - 0.74).abs() < 1e-12 && links.over(50.0) < 0.35);
        let at = |x| Position::new(x, 0.0);
        assert_eq!(links.between(at(-30.0), at(30.0)), links.shares()[1]);
        // What makes no sense is not counted.
        let before = links.clone();
        for (distance, due, decoded) in [(-1.0, 5.0, 5.0), (10.0, 0.0, 0.0), (10.0, 5.0, -1.0)] {
            links.count(distance, due, decoded);
        }
        links.age(Instant::ZERO);
        assert_eq!(links, before);
        // After ten seconds an e-th is left.
        links.age(Instant::from_millis(10_000));
        let left = libm::exp(-1.0);
        assert!((links.shares()[0] - (5.0 * left + 9.8) / (10.0 * left + 10.0)).abs() < 1e-12);
    }
}
