//! How often agents with given parameters beacon: how many beacons a receiver may expect, and which of them carry a digest.
//!
//! CAMs carry no sequence number, so a receiver cannot count what it missed. It need not: two states of a sender tell how
//! fast it moved between them, and the rules say how often such a motion makes a beacon due.

use crate::beacons::{BeaconRule, LIMITS, LONGEST_S, change};
use crate::ids::AgentId;
use crate::measured::{MeasuredBeacons, STANDING_M_PER_S, stands};
use crate::messages::AgentState;
use crate::parameters::Parameters;
use crate::time::{Duration, Instant};

/// How much later than the longest interval somebody still counts as heard, in seconds.
const SLACK_S: f64 = 0.2;

impl Parameters {
    /// A beacon of `agent` at `now`, whose last one was at `previous`, carries a digest: the first ever does, then the first in
    /// each span of `digest_every` intervals, which begin at a time of each agent's own.
    #[must_use]
    pub fn carries_digest(&self, agent: AgentId, previous: Option<Instant>, now: Instant) -> bool {
        let every = i64::from(self.digest_every);
        if every <= 1 {
            return every == 1;
        }
        let interval = Duration::from_seconds(self.beacon_s).micros().max(1);
        let turn = (agent.mixed() >> 16) as i64 & 0xFFFF;
        let span = |at: Instant| (at.micros().div_euclid(interval) + turn).div_euclid(every);
        previous.is_none_or(|previous| span(previous) < span(now))
    }

    /// What was measured of beacons like those that are sent by [`BeaconRule::Measured`].
    #[must_use]
    pub fn measured_beacons(&self) -> MeasuredBeacons {
        MeasuredBeacons {
            maker: self.beacon_maker,
            road: self.beacon_road,
        }
    }

    /// From one beacon to the next of an agent whose state changes by `per_second` (metres, radians, m/s).
    fn interval_s(&self, per_second: [f64; 3]) -> f64 {
        let longest = libm::round(LONGEST_S / self.beacon_s).max(1.0);
        let mut checks = longest;
        for (rate, limit) in per_second.into_iter().zip(LIMITS) {
            // The first check at which the change is above the limit.
            let needed = libm::floor(limit / (rate * self.beacon_s) + 1e-9) + 1.0;
            // Also for what is not a number.
            if needed < checks {
                checks = needed;
            }
        }
        checks * self.beacon_s
    }

    /// Seconds from one beacon to the next of an agent that goes straight on at `speed`.
    #[must_use]
    pub fn beacon_interval_s(&self, speed: f64) -> f64 {
        match self.beacons {
            BeaconRule::Periodic => self.beacon_s,
            BeaconRule::Triggered => self.interval_s([speed.abs(), 0.0, 0.0]),
            BeaconRule::Measured if speed.abs() < STANDING_M_PER_S => LONGEST_S,
            BeaconRule::Measured => self.measured_beacons().mean_interval_s(),
        }
    }

    /// The time from one beacon to the next of an agent that went from one state to another.
    #[must_use]
    pub fn beacon_interval(
        &self,
        (last, at): (&AgentState, Instant),
        (next, then): (&AgentState, Instant),
    ) -> Duration {
        Duration::from_seconds(match self.beacons {
            BeaconRule::Periodic => self.beacon_s,
            BeaconRule::Triggered => {
                let seconds = then.since(at).seconds().max(self.beacon_s);
                self.interval_s(change(last, next).map(|x| x / seconds))
            }
            BeaconRule::Measured if stands(last) && stands(next) => LONGEST_S,
            BeaconRule::Measured => self.measured_beacons().mean_interval_s(),
        })
    }

    /// For how long somebody counts as heard who must have been heard within `usual_s` seconds at the fixed rate.
    #[must_use]
    pub fn heard_within(&self, usual_s: f64) -> Duration {
        Duration::from_seconds(match self.beacons {
            BeaconRule::Periodic => usual_s,
            BeaconRule::Triggered | BeaconRule::Measured => usual_s.max(LONGEST_S + SLACK_S),
        })
    }
}
