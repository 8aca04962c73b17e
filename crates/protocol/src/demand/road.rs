//! What choice by demand heeds where the road is not as the letter has it.
//!
//! Beacons come more rarely than every 0.1 s, positions are off, the channel is nearly empty or nearly full. Each rule is a row
//! below; none is in force unless [`on_road`](super::DemandOptions::on_road) says so.

use covey_parameters::{OutOfRange, parameters};

use super::DemandOptions;
use super::scene::Body;
use crate::associate::Identities;
use crate::parameters::Parameters;
use crate::time::Duration;

parameters! {
    /// What choice by demand heeds on the road.
    #[derive(Debug, Clone, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
    pub struct Road, checked by Self::agree {
        /// A station whose beacons come more rarely than this does not tell of itself in time: it is reported as silent objects
        /// are, where somebody needs it. At an hour every station tells of itself.
        beacons_within_s: f64 = 0.25, unit "s", range above(0.0).at_most(3_600.0),
            source "design: choice by demand; the shortest deadline is 0.2 s";
        /// Share of stations whose beacons get lost for everybody for a while, as where two keep sending at the same time: a station
        /// with several beacons in a row unheard is taken for one of them, and reported as silent objects are. At 0 every beacon is
        /// lost by itself.
        lost_together: f64 = 0.03, range at_least(0.0).at_most(0.9), source "docs/beyond-the-letter.md: on tuning seeds";
        /// Who sees a silent object that somebody needs, and has heard nobody tell of it for so long, tells it unasked, the
        /// nearest two of those who see it first. At an hour nobody speaks unasked.
        unasked_after_s: f64 = 0.22, unit "s", range above(0.0).at_most(3_600.0),
            source "design: a little more than a cycle, in which whoever is asked tells again";
        /// Where sensors see what is not there, a silent object of which nobody else told is told once it was in sight for so long.
        /// At 0 at once.
        confirm_s: f64 = 1.1, unit "s", range at_least(0.0).at_most(60.0), source "docs/beyond-the-letter.md: on tuning seeds";
        /// What somebody else tells of is told at once all the same; else whoever sees it waits, and leaves it to others.
        others_confirm: bool = true, source "docs/beyond-the-letter.md: on tuning seeds";
        /// What others just said lowers what a contributor takes to be needed.
        counts_said: bool = false, source "design: choice by demand";
        /// The channel is idle up to this load, beacons included: contributors are asked for all that is silent.
        idle_load: f64 = 0.15, unit "share of capacity", range at_least(0.0).at_most(1.0),
            source "design: half of the busy ratio up to which TS 103 574, table 1, knows no limits";
        /// At this load a pick is worth at least `least_gain`, below it less, above it up to three times as much; above `idle_load`.
        full_load: f64 = 0.6, unit "share of capacity", range above(0.0).at_most(1.0),
            source "design: choice by demand";
        /// On an idle channel a pick is worth at least this.
        idle_gain: f64 = 0.005, unit "needs", range above(0.0), source "design: choice by demand";
        /// The allowance of the arm `demand`, which has none in its name, where messages are not signed and positions have no errors:
        /// it grows by as much as a signature makes an empty message longer, and by the host's doubt in stations.
        ceiling: f64 = 0.2, unit "share of capacity", range above(0.0).at_most(1.0), source "design: choice by demand";
        /// Chance, for a host, that what is taken for a station is somebody else, for each square metre of `position_error_m`:
        /// from `least_doubt` on stations are reported as silent objects are.
        doubt_per_m2: f64 = 0.05, unit "per m²", range at_least(0.0).at_most(1.0),
            source "docs/protocol.md: 1.4, 11 and 36 % at 1, 2 and 3 m";
        /// Bodies without a radio that may stand where a contributor sees a station, for each square metre of road: by how far off
        /// a station is from where it says, and by how many others could be there, it doubts who that is.
        strangers_per_m2: f64 = 0.03, unit "per m²", range at_least(0.0).at_most(1.0),
            source "design: one vehicle in 33 m² of a road, as in a queue";
        /// A contributor reports what it takes for a station from this doubt on, where somebody needs it.
        least_doubt: f64 = 0.2, range above(0.0).at_most(1.0), source "design: choice by demand";
    }
}

impl Road {
    fn agree(&self) -> Result<(), OutOfRange> {
        if self.full_load <= self.idle_load {
            let expected = "above idle_load and at most 1";
            return Err(OutOfRange::new("full_load", self.full_load, expected));
        }
        Ok(())
    }
}

/// No two bodies are nearer to each other, in metres: the width of a lane.
const APART_M: f64 = 3.0;

/// Nobody waits so long, in seconds.
const NEVER_S: f64 = 3_600.0;
/// A station is silent for now if its beacons are lost for everybody by this chance.
const LOST: f64 = 0.5;

impl DemandOptions {
    /// The rules of the road, where they are in force.
    pub(crate) fn road(&self) -> Option<&Road> {
        self.on_road.then_some(&self.road)
    }

    /// Chance, for a host, that what is taken for a station is somebody else.
    pub(super) fn doubt(&self) -> f64 {
        let per_m2 = match (self.road(), self.identities) {
            (Some(road), Identities::Associated) => road.doubt_per_m2,
            _ => 0.0,
        };
        (per_m2 * self.position_error_m * self.position_error_m).clamp(0.0, 1.0)
    }

    /// The share of stations whose beacons get lost for everybody at a time.
    pub(crate) fn lost_together(&self) -> f64 {
        self.road().map_or(0.0, |road| road.lost_together)
    }

    /// After how long those who see what is needed tell of it unasked, where they do.
    #[must_use]
    pub fn unasked_after_s(&self) -> Option<f64> {
        let after_s = self.road()?.unasked_after_s;
        (after_s < NEVER_S).then_some(after_s)
    }

    /// For how long something must have been in sight before it is told of, where nobody else tells of it; none: at once.
    pub(crate) fn confirm(&self) -> Option<Duration> {
        let road = self.road().filter(|_| self.ghosts_per_s > 0.0)?;
        (road.confirm_s > 0.0).then(|| Duration::from_seconds(road.confirm_s))
    }

    /// The allowance of the arm that has none in its name, a share of capacity.
    #[must_use]
    pub fn ceiling(&self, parameters: &Parameters) -> f64 {
        let longer = parameters.empty_bytes() / parameters.message_bytes.max(1.0);
        let ceiling = self.road.ceiling * longer * (1.0 + self.doubt());
        if ceiling.is_finite() {
            ceiling.clamp(0.0, 1.0)
        } else {
            self.road.ceiling
        }
    }

    /// Chance that what is seen at a place is not the station that it is taken for, which says that it is `off_m` metres away from there.
    pub(crate) fn doubt_at(&self, off_m: f64) -> f64 {
        let Some(road) = self.road().filter(|_| self.position_error_m > 0.0) else {
            return 0.0;
        };
        let variance = self.accuracy().spread_m2();
        let likely =
            libm::exp(-0.5 * off_m * off_m / variance) / (core::f64::consts::TAU * variance);
        // Somebody else is not where the station is: so much farther off the station must be.
        let nearer = (APART_M - off_m).max(0.0);
        let other = road.strangers_per_m2 * libm::exp(-0.5 * nearer * nearer / variance);
        let doubt = other / (other + likely);
        if doubt.is_finite() { doubt } else { 0.0 }
    }

    /// What a station tells of itself does not suffice: it speaks too rarely, or may be somebody else.
    pub(crate) fn is_rare(&self, body: &Body) -> bool {
        match (self.road(), body.spoken) {
            (Some(road), Some(spoken)) => {
                spoken.every_s > road.beacons_within_s
                    || spoken.doubt >= road.least_doubt
                    || spoken.lost >= LOST
            }
            _ => false,
        }
    }

    /// The beacons of a station are lost for everybody at present.
    pub(crate) fn is_lost(&self, body: &Body) -> bool {
        self.on_road && body.spoken.is_some_and(|spoken| spoken.lost >= LOST)
    }

    /// Chance that somebody lacks a body that it does not see, to whom a share `heard` of its messages gets through and for whom
    /// they are news for `deadline_s`, `ahead_s` seconds from now.
    pub(crate) fn lacking(
        &self,
        parameters: &Parameters,
        body: &Body,
        heard: impl Fn() -> f64,
        [deadline_s, ahead_s]: [f64; 2],
    ) -> f64 {
        match body.spoken {
            _ if body.silent => 1.0,
            None => libm::pow(
                1.0 - heard(),
                deadline_s / parameters.beacon_interval_s(body.speed),
            ),
            Some(spoken) => {
                let missed = spoken.missed(heard(), deadline_s, ahead_s);
                spoken.doubt + (1.0 - spoken.doubt) * missed
            }
        }
    }

    /// What a pick is worth at least where so much of the channel is taken, and whether it is idle.
    pub(super) fn least_gain_at(&self, load: f64) -> (f64, bool) {
        let Some(road) = self.road().filter(|_| load.is_finite()) else {
            return (self.least_gain, false);
        };
        let share = (load - road.idle_load) / (road.full_load - road.idle_load);
        if share <= 0.0 {
            return (road.idle_gain.min(self.least_gain), true);
        }
        if share >= 1.0 {
            let over = (load - road.full_load) / (1.0 - road.full_load).max(1e-3);
            return (self.least_gain * (1.0 + 2.0 * over.clamp(0.0, 1.0)), false);
        }
        // From one to the other by equal factors.
        let low = road.idle_gain.min(self.least_gain).max(1e-9);
        let high = self.least_gain.max(low);
        (low * libm::pow(high / low, share), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_road() -> DemandOptions {
        DemandOptions {
            on_road: true,
            ..DemandOptions::default()
        }
    }

    #[test]
    fn the_least_gain_follows_the_load() {
        assert_eq!(DemandOptions::default().least_gain_at(0.0), (0.1, false));
        let adapts = on_road();
        let at = |load| {
            let (gain, idle) = adapts.least_gain_at(load);
            ((gain * 1e4).round() / 1e4, idle)
        };
        assert_eq!([at(0.0), at(0.15)], [(0.005, true); 2]);
        // Half-way between both loads: the mean by factors.
        assert_eq!(at(0.375), (0.0224, false));
        assert_eq!(
            [at(0.6), at(0.8), at(1.0), at(7.0)],
            [(0.1, false), (0.2, false), (0.3, false), (0.3, false)]
        );
        assert_eq!(at(f64::NAN), (0.1, false));
        let mut odd = adapts.clone();
        odd.road.full_load = 0.15;
        assert!(odd.validate().is_err());
    }

    #[test]
    fn who_is_far_from_where_it_says_may_be_somebody_else() {
        let with = |position_error_m| DemandOptions {
            position_error_m,
            ..on_road()
        };
        let one = with(1.0);
        assert!(one.doubt_at(0.0) < 0.03, "{}", one.doubt_at(0.0));
        assert!((0.3..0.8).contains(&one.doubt_at(2.5)));
        assert!(with(3.0).doubt_at(0.0) > 0.1);
        for options in [
            with(0.0),
            DemandOptions {
                on_road: false,
                ..one
            },
        ] {
            assert_eq!(options.doubt_at(2.5), 0.0);
        }
        assert_eq!(with(1.0).doubt_at(f64::NAN), 0.0);
    }

    #[test]
    fn the_ceiling_grows_with_signatures_and_doubt() {
        use crate::security::Security;
        let plain = Parameters::default();
        let exact = on_road();
        assert!((exact.ceiling(&plain) - exact.road.ceiling).abs() < 1e-12);
        let signed = Parameters {
            security: Security::Signed,
            ..plain.clone()
        };
        assert!(exact.ceiling(&signed) > 1.3 * exact.ceiling(&plain));
        let off = DemandOptions {
            position_error_m: 3.0,
            ..on_road()
        };
        assert!(off.ceiling(&plain) > 1.3 * exact.ceiling(&plain));
        let odd = Parameters {
            message_bytes: f64::NAN,
            ..plain
        };
        assert!((0.0..=1.0).contains(&exact.ceiling(&odd)));
    }
}
