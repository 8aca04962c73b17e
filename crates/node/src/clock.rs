//! The time of a node: as even as the monotonic clock, and where the wall clock is.
//!
//! Slots, cycles and time stamps count ITS time in microseconds (TAI since 2004-01-01), which all stations share. It is taken from
//! the wall clock once and then runs with the monotonic one; small differences are made up for bit by bit, so that a correction by
//! NTP or PTP moves no slot. Where the wall clock is more than [`STEP_US`] off, it was set: the node's time is set with it, and the
//! participant finds out for itself what that means ([`covey_protocol::Event::ClockJumped`]).

use std::time::{Instant as Monotonic, SystemTime, UNIX_EPOCH};

use covey_its::ItsTime;
use covey_protocol::Instant;

/// From this difference on the wall clock was set, in microseconds.
pub const STEP_US: i64 = 20_000;
/// The share of a small difference that is made up for at a look.
const SHARE: i64 = 16;

/// Microseconds of ITS time of a Unix time in microseconds.
#[must_use]
pub fn its_micros(unix_us: i64) -> i64 {
    let millis = unix_us.div_euclid(1_000);
    let its = ItsTime::from_unix_millis(millis).map_or(0, |time| time.0 as i64);
    its * 1_000 + unix_us.rem_euclid(1_000)
}

/// Microseconds of Unix time of an instant of a node.
#[must_use]
pub fn unix_micros(at: Instant) -> i64 {
    let micros = at.micros().max(0);
    ItsTime((micros / 1_000) as u64).to_unix_micros() + micros % 1_000
}

/// The wall clock, in microseconds of Unix time.
#[must_use]
pub fn wall_micros() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    }
}

/// Follows the wall clock evenly. It is told what both clocks show, so that tests need no waiting.
#[derive(Debug, Clone)]
pub struct Follower {
    /// ITS time minus monotonic time.
    offset_us: i64,
    last_us: i64,
    steps: u64,
}

impl Follower {
    /// At a moment at which the monotonic clock shows `monotonic_us` and it is `its_us` of ITS time.
    #[must_use]
    pub fn new(monotonic_us: i64, its_us: i64) -> Self {
        Self {
            offset_us: its_us.saturating_sub(monotonic_us),
            last_us: its_us,
            steps: 0,
        }
    }

    /// The time, when the clocks show this. It never goes back, but for steps of the wall clock.
    pub fn look(&mut self, monotonic_us: i64, its_us: i64) -> Instant {
        let mine = monotonic_us.saturating_add(self.offset_us);
        let apart = its_us.saturating_sub(mine);
        if apart.abs() > STEP_US {
            self.offset_us = self.offset_us.saturating_add(apart);
            self.steps += 1;
            self.last_us = its_us;
        } else {
            self.offset_us += apart / SHARE;
            self.last_us = self
                .last_us
                .max(monotonic_us.saturating_add(self.offset_us));
        }
        Instant::from_micros(self.last_us)
    }

    /// How often the wall clock was set.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// The machine's clocks, followed.
#[derive(Debug)]
pub struct Clock {
    begin: Monotonic,
    follower: Follower,
    /// Told by the vehicle: how far its time is ahead of the machine's.
    ahead_us: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// From now on.
    #[must_use]
    pub fn new() -> Self {
        Self {
            begin: Monotonic::now(),
            follower: Follower::new(0, its_micros(wall_micros())),
            ahead_us: 0,
        }
    }

    /// What time it is.
    pub fn now(&mut self) -> Instant {
        let monotonic = i64::try_from(self.begin.elapsed().as_micros()).unwrap_or(i64::MAX);
        let wall = its_micros(wall_micros().saturating_add(self.ahead_us));
        self.follower.look(monotonic, wall)
    }

    /// The vehicle knows the time better: it is ahead of the machine's by so much.
    pub fn set_ahead(&mut self, micros: i64) {
        self.ahead_us = micros;
    }

    /// How often the clock was set.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.follower.steps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_made_up_for_and_large_ones_taken_over() {
        let mut follower = Follower::new(0, 1_000_000);
        // The wall clock is 8 ms ahead from now on: followed within a second of looks, never faster than a sixteenth a look.
        let mut last = 1_000_000;
        for look in 1..=100_i64 {
            let mono = look * 10_000;
            let now = follower.look(mono, 1_008_000 + mono).micros();
            assert!(now - last <= 10_000 + 8_000 / SHARE && now > last, "{look}");
            last = now;
        }
        assert!((last - 2_008_000).abs() < 100, "{last}");
        assert_eq!(follower.steps(), 0);
        // Set back by a minute, and forward by an hour.
        assert_eq!(follower.look(1_000_000, 1_000).micros(), 1_000);
        let hour = 3_600_000_000;
        assert_eq!(follower.look(1_010_000, hour).micros(), hour);
        assert_eq!(follower.steps(), 2);
        // Time does not run backwards for a jitter of the wall clock.
        let before = follower.look(1_020_000, hour + 10_000);
        assert!(follower.look(1_020_000, hour + 4_000) >= before);
    }

    #[test]
    fn its_time_and_unix_time_are_inverse() {
        let unix = 1_794_783_600_123_456;
        assert_eq!(unix_micros(Instant::from_micros(its_micros(unix))), unix);
        assert_eq!(its_micros(1_072_915_200_000_000), 5_000_000);
    }
}
