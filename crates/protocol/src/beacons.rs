//! When beacons are due.
//!
//! By default an agent beacons at a fixed rate, as in the letter. With [`BeaconRule::Triggered`] it beacons by the generation
//! rules of EN 302 637-2 (clause 6.1.3): when it has moved more than 4 m, turned by more than 4 degrees or changed its speed by
//! more than 0.5 m/s since its last beacon, but not more often than the fixed rate, and at least once a second. The interval that
//! a change made (T_GenCam) holds for the next three beacons (N_GenCam) that nothing else makes due, then a second again.

use crate::measured::{MeasuredBeacon, MeasuredBeacons, stands};
use crate::messages::AgentState;
use crate::time::{Duration, Instant};

/// A beacon is due after this displacement, in metres.
pub const MOVED_M: f64 = 4.0;
/// A beacon is due after this change of heading, in radians: 4 degrees.
pub const TURNED_RAD: f64 = 4.0 * core::f64::consts::PI / 180.0;
/// A beacon is due after this change of speed, in m/s.
pub const FASTER_M_PER_S: f64 = 0.5;
/// A beacon is due after this time at the latest, in seconds.
pub const LONGEST_S: f64 = 1.0;

covey_parameters::choices! {
    /// When an agent beacons.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BeaconRule {
        /// At the fixed rate of `beacon_s`.
        Periodic = "periodic",
        /// When its motion calls for it, by EN 302 637-2, with `beacon_s` as the shortest interval.
        Triggered = "triggered",
        /// At intervals and with sizes that were measured of cars on sale (`beacon_maker`, `beacon_road`), once a second while standing. A
        /// participant whose profile has no numbers to draw them by beacons as if triggered.
        Measured = "measured",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(BeaconRule);

/// How `now` differs from `last`: metres, radians, m/s.
pub(crate) fn change(last: &AgentState, now: &AgentState) -> [f64; 3] {
    let turned = now.heading - last.heading;
    [
        now.position.distance(last.position),
        libm::atan2(libm::sin(turned), libm::cos(turned)).abs(),
        (now.speed - last.speed).abs(),
    ]
}

/// Above any of these a [`change`] makes a beacon due.
pub(crate) const LIMITS: [f64; 3] = [MOVED_M, TURNED_RAD, FASTER_M_PER_S];

/// An agent whose last beacon told `last` has changed enough to beacon `now`.
#[must_use]
pub fn has_changed(last: &AgentState, now: &AgentState) -> bool {
    let changed = change(last, now);
    changed.iter().zip(LIMITS).any(|(&x, limit)| x > limit)
}

/// An agent whose last beacon, `since` ago, told `last` has to beacon `now`, whatever it sent before.
#[must_use]
pub fn is_due(last: &AgentState, now: &AgentState, since: Duration) -> bool {
    since >= Duration::from_seconds(LONGEST_S) || has_changed(last, now)
}

/// N_GenCam: so many beacons keep the interval that a change made.
const KEPT: u8 = 3;

/// The shortest time between two low-frequency containers: EN 302 637-2, clause 6.1.3.
const LOW_FREQUENCY: Duration = Duration::from_millis(500);

/// When one agent last beaconed, and what it told: what its next beacon depends on.
#[derive(Debug, Clone, Copy, Default)]
pub struct BeaconTimer {
    last: Option<(AgentState, Instant)>,
    low_frequency_at: Option<Instant>,
    /// T_GenCam, where a change made it shorter than the longest interval, and how many beacons will keep it.
    kept: Option<(Duration, u8)>,
    planned: Option<Planned>,
}

/// What comes next, where beacons are measured ones.
#[derive(Debug, Clone, Copy)]
struct Planned {
    /// How many came before it.
    number: u32,
    /// The one before it.
    last: Option<MeasuredBeacon>,
    beacon: MeasuredBeacon,
    /// It is due so long after this.
    from: Instant,
    wait: Duration,
}

/// What a number from 0 to 1 decides of a measured beacon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decides {
    /// When it comes; how large it is, too, where both were measured together.
    Interval,
    /// How large it is.
    Size,
    /// How long the first is waited for, so that those who come together do not beacon together.
    First,
    /// How large it is where it waited.
    DelayedSize,
}

/// An agent is asked at its slots, but clocks are not exact.
const EARLY: Duration = Duration::from_millis(25);

/// A beacon that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueBeacon {
    /// It has the low-frequency container.
    pub low_frequency: bool,
    /// When the one before it was sent.
    pub previous: Option<Instant>,
    /// Its bytes without a digest, where they are as measured.
    pub bytes: Option<u32>,
}

impl BeaconTimer {
    /// The beacon that an agent in `state` has to send in the slot of `now`, if it has to; it counts as sent. To be asked
    /// once per slot.
    pub fn next(
        &mut self,
        rule: BeaconRule,
        state: &AgentState,
        now: Instant,
    ) -> Option<DueBeacon> {
        if rule != BeaconRule::Periodic && !self.is_triggered(state, now) {
            return None;
        }
        Some(self.send(state, now))
    }

    /// By the generation rules, a beacon is due; if so, what they keep in mind is as if it were sent.
    fn is_triggered(&mut self, state: &AgentState, now: Instant) -> bool {
        let Some((last, at)) = &self.last else {
            return true;
        };
        let since = now.since(*at);
        if has_changed(last, state) {
            self.kept = Some((since, KEPT));
            return true;
        }
        match &mut self.kept {
            Some((interval, left)) if since >= *interval => {
                *left -= 1;
                if *left == 0 {
                    self.kept = None;
                }
                true
            }
            _ => since >= Duration::from_seconds(LONGEST_S),
        }
    }

    /// The beacon that an agent in `state` sends `now`, whatever made it due.
    pub fn send(&mut self, state: &AgentState, now: Instant) -> DueBeacon {
        let previous = self.last.replace((*state, now)).map(|(_, at)| at);
        let low_frequency = self
            .low_frequency_at
            .is_none_or(|at| now.since(at) >= LOW_FREQUENCY);
        if low_frequency {
            self.low_frequency_at = Some(now);
        }
        DueBeacon {
            low_frequency,
            previous,
            bytes: None,
        }
    }

    /// The same by what was measured. `unit` gives numbers from 0 to 1 by number of the beacon and what it decides; always the same for
    /// the same.
    ///
    /// Whoever stood at its last beacon and still does waits for a second to pass; whoever moves off meanwhile beacons at once if a
    /// beacon was drawn to come before.
    pub fn next_measured(
        &mut self,
        measured: MeasuredBeacons,
        unit: impl Fn(u32, Decides) -> f64,
        state: &AgentState,
        now: Instant,
    ) -> Option<DueBeacon> {
        let units = |number| [Decides::Interval, Decides::Size].map(|what| unit(number, what));
        let planned = *self.planned.get_or_insert_with(|| {
            let beacon = measured.first(units(0));
            let share = unit(0, Decides::First);
            Planned {
                number: 0,
                last: None,
                beacon,
                from: now,
                wait: Duration::from_seconds(beacon.interval().seconds() * share),
            }
        });
        let waited = now.since(planned.from) + EARLY;
        let stood = self.last.is_some_and(|(last, _)| stands(&last)) && stands(state);
        if waited < planned.wait || stood && waited < Duration::from_seconds(LONGEST_S) {
            return None;
        }
        let sent = match planned.last {
            // By half a step or more.
            Some(last) if waited >= planned.wait + EARLY.times(3) => {
                let interval = now.since(planned.from);
                measured.delayed(last, interval, unit(planned.number, Decides::DelayedSize))
            }
            _ => planned.beacon,
        };
        let number = planned.number.wrapping_add(1);
        let beacon = measured.next(sent, units(number));
        self.planned = Some(Planned {
            number,
            last: Some(sent),
            beacon,
            from: now,
            wait: beacon.interval(),
        });
        Some(DueBeacon {
            bytes: Some(measured.bytes(sent)),
            ..self.send(state, now)
        })
    }

    /// When the last one was sent.
    #[must_use]
    pub fn last_at(&self) -> Option<Instant> {
        self.last.map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Position;
    use crate::ids::AgentId;
    use crate::parameters::Parameters;

    fn at(x: f64, heading: f64, speed: f64) -> AgentState {
        AgentState {
            position: Position::new(x, 0.0),
            heading,
            speed,
            ..AgentState::default()
        }
    }

    #[test]
    fn a_beacon_is_due_by_motion_or_by_time() {
        let last = at(0.0, 3.1, 10.0);
        let tenth = Duration::from_millis(100);
        assert!(!is_due(&last, &at(4.0, 3.1, 10.0), tenth));
        assert!(is_due(&last, &at(4.1, 3.1, 10.0), tenth));
        assert!(is_due(&last, &at(0.0, 3.1, 9.4), tenth));
        // Over the seam at pi: 0.05 rad are less than 4 degrees, 0.08 are more.
        let seam = core::f64::consts::PI * 2.0;
        assert!(!is_due(&last, &at(0.0, 3.15 - seam, 10.0), tenth));
        assert!(is_due(&last, &at(0.0, 3.18 - seam, 10.0), tenth));
        assert!(!is_due(&last, &last, Duration::from_millis(999)));
        assert!(is_due(&last, &last, Duration::from_millis(1_000)));
    }

    #[test]
    fn containers_come_with_the_first_beacon_and_then_in_their_turn() {
        let p = Parameters {
            digest_every: 5,
            ..Parameters::default()
        };
        let mut timer = BeaconTimer::default();
        let (mut low, mut digests) = (std::vec::Vec::new(), std::vec::Vec::new());
        for beacon in 0..40 {
            let now = Instant::from_millis(50 + 100 * beacon);
            let due = timer.next(BeaconRule::Periodic, &at(0.0, 0.0, 0.0), now);
            let due = due.unwrap();
            low.extend(due.low_frequency.then_some(beacon));
            if p.carries_digest(AgentId(7), due.previous, now) {
                digests.push(beacon);
            }
        }
        assert_eq!(low, [0, 5, 10, 15, 20, 25, 30, 35]);
        assert_eq!(digests[0], 0);
        assert!(digests[1] <= 5);
        assert!(
            digests[1..].windows(2).all(|d| d[1] - d[0] == 5),
            "{digests:?}"
        );
        let every = |digest_every| {
            let p = Parameters {
                digest_every,
                ..Parameters::default()
            };
            p.carries_digest(AgentId(7), None, Instant::ZERO)
        };
        assert_eq!([every(0), every(1), every(2)], [false, true, true]);
        // Triggered: nothing is due where nothing changed, and then not before a second has passed.
        let mut timer = BeaconTimer::default();
        let sent = (0..21).filter(|&k| {
            let state = at(0.0, 0.0, 0.0);
            let now = Instant::from_millis(100 * k);
            timer.next(BeaconRule::Triggered, &state, now).is_some()
        });
        assert_eq!(sent.collect::<std::vec::Vec<_>>(), [0, 10, 20]);
    }

    #[test]
    fn the_interval_of_a_change_holds_for_three_more() {
        // Every 100 ms: 10 m/s for 3 s, then standing. More than 4 m every 0.5 s; once it stands, three beacons 0.5 s
        // after each other, then one a second.
        let mut timer = BeaconTimer::default();
        let sent = |k: &i64| {
            let state = at((*k).min(30) as f64, 0.0, 10.0);
            let now = Instant::from_millis(100 * k);
            timer.next(BeaconRule::Triggered, &state, now).is_some()
        };
        let sent: std::vec::Vec<i64> = (0..80).filter(sent).collect();
        assert_eq!(sent, [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 55, 65, 75]);
    }

    /// When somebody with measured beacons sends, in units of 100 ms: by check, the speed and how far the clock is off.
    fn measured(checks: impl Iterator<Item = (f64, i64)>) -> std::vec::Vec<(usize, u32)> {
        let mut timer = BeaconTimer::default();
        let unit = |number: u32, what: Decides| {
            let mixed = AgentId(u64::from(number) * 4 + what as u64).mixed();
            (mixed >> 11) as f64 / (1u64 << 53) as f64
        };
        let sent = checks.enumerate().filter_map(|(k, (speed, off))| {
            let now = Instant::from_micros(100_000 * k as i64 + off);
            let kind = MeasuredBeacons::default();
            let due = timer.next_measured(kind, unit, &at(0.0, 0.0, speed), now)?;
            Some((k, due.bytes.unwrap()))
        });
        sent.collect()
    }

    #[test]
    fn measured_beacons_come_as_drawn_while_one_moves() {
        let sent = measured((0..40_000).map(|_| (9.0, 0)));
        let intervals = |sent: &[(usize, u32)]| -> std::vec::Vec<usize> {
            sent.windows(2).map(|two| two[1].0 - two[0].0).collect()
        };
        let all = intervals(&sent);
        assert!(all.iter().all(|&k| (1..=10).contains(&k)));
        let mean = all.iter().sum::<usize>() as f64 / all.len() as f64;
        assert!((mean - 4.87).abs() < 0.15, "{mean}");
        let bytes = sent.iter().map(|s| f64::from(s.1)).sum::<f64>() / sent.len() as f64;
        assert!((bytes - 337.0).abs() < 5.0, "{bytes}");
        // A clock that is a little off changes nothing.
        let off = |k: i64| [0, 9_000, -9_000, 4_000][k as usize % 4];
        assert_eq!(measured((0..40_000).map(|k| (9.0, off(k)))), sent);
    }

    #[test]
    fn whoever_is_never_held_up_sends_the_chain_that_was_measured() {
        let unit = |number: u32, what: Decides| {
            let mixed = AgentId(u64::from(number) * 4 + what as u64).mixed();
            (mixed >> 11) as f64 / (1u64 << 53) as f64
        };
        let units = |number| [Decides::Interval, Decides::Size].map(|what| unit(number, what));
        let sent = measured((0..2_000).map(|_| (9.0, 0)));
        let kind = MeasuredBeacons::default();
        let mut beacon = kind.first(units(0));
        let mut at = sent[0].0;
        for (number, &(step, bytes)) in (1..).zip(&sent) {
            assert_eq!((step, bytes), (at, kind.bytes(beacon)));
            beacon = kind.next(beacon, units(number));
            at += (beacon.interval().micros() / 100_000) as usize;
        }
        assert!(sent.len() > 300, "{}", sent.len());
    }

    #[test]
    fn whoever_stands_waits_for_a_second_and_whoever_moves_off_does_not() {
        // Moving for 20 s, standing for 20, moving on.
        let speed = |k: i32| if (200..400).contains(&k) { 0.0 } else { 5.0 };
        let sent = measured((0..600).map(|k| (speed(k), 0)));
        let standing: std::vec::Vec<_> = sent
            .iter()
            .filter(|(k, _)| (210..400).contains(k))
            .collect();
        // The beacon that tells of the stop, or the one after it, is the last that does not wait.
        assert!(standing.windows(2).all(|two| two[1].0 - two[0].0 == 10));
        assert!(standing.iter().all(|(_, bytes)| *bytes == 455));
        let longest = sent.windows(2).map(|two| two[1].0 - two[0].0).max();
        assert_eq!(longest, Some(10));
        let p = Parameters {
            beacons: BeaconRule::Measured,
            ..Parameters::default()
        };
        assert_eq!(p.beacon_interval_s(0.0), 1.0);
        assert_eq!(
            p.beacon_interval_s(5.0),
            p.measured_beacons().mean_interval_s()
        );
        let (then, now) = (Instant::ZERO, Instant::from_millis(500));
        let between = |a, b| {
            let (a, b) = (at(0.0, 0.0, a), at(0.0, 0.0, b));
            p.beacon_interval((&a, then), (&b, now)).seconds()
        };
        assert_eq!(between(0.0, 0.0), 1.0);
        for (a, b) in [(0.0, 5.0), (5.0, 0.0), (5.0, 5.0)] {
            let mean = p.measured_beacons().mean_interval_s();
            assert!((between(a, b) - mean).abs() < 1e-5);
        }
    }

    #[test]
    fn whoever_moves_off_does_not_wait_for_the_second_to_pass() {
        let gaps = (210..430).map(|off| {
            let speed = |k: i32| if (200..off).contains(&k) { 0.0 } else { 5.0 };
            let sent = measured((0..600).map(|k| (speed(k), 0)));
            let moving = sent.iter().position(|s| s.0 >= off as usize).unwrap();
            sent[moving].0 - sent[moving - 1].0
        });
        let gaps: std::vec::Vec<usize> = gaps.collect();
        let early = gaps.iter().filter(|&&gap| gap < 10).count();
        // After a second mostly another is drawn.
        assert!(early > 0, "{gaps:?}");
    }

    #[test]
    fn what_is_expected_is_what_the_rules_send() {
        let mut p = Parameters::default();
        assert_eq!(p.beacon_interval_s(0.0), 0.1);
        assert_eq!(p.heard_within(0.5), Duration::from_millis(500));
        p.beacons = BeaconRule::Triggered;
        assert_eq!(p.heard_within(0.5), Duration::from_millis(1_200));
        for speed in [0.0, 1.0, 3.9, 4.0, 4.1, 8.0, 10.0, 13.3, 20.0, 41.0, 90.0] {
            // Checked every 0.1 s over a minute.
            let (mut last, mut sent) = ((0.0, 0), 0);
            for check in 1..=600 {
                let x = speed * f64::from(check) * 0.1;
                let since = Duration::from_millis(100 * (check - last.1) as i64);
                if is_due(&at(last.0, 0.0, speed), &at(x, 0.0, speed), since) {
                    last = (x, check);
                    sent += 1;
                }
            }
            let expected = 60.0 / p.beacon_interval_s(speed);
            assert!(
                (f64::from(sent) - expected).abs() <= 1.0,
                "{speed} m/s: {sent} for {expected}"
            );
        }
        // Braking at 5 m/s2 makes beacons due every 0.2 s, whatever the displacement.
        let interval = p.beacon_interval(
            (&at(0.0, 0.0, 5.0), Instant::ZERO),
            (
                &at(2.0, 0.0, 2.5),
                Instant::ZERO + Duration::from_millis(500),
            ),
        );
        assert_eq!(interval, Duration::from_millis(200));
        // Nonsense is expected once a second.
        assert_eq!(p.beacon_interval_s(f64::NAN), 1.0);
    }

    #[test]
    fn hosts_do_not_take_rare_beacons_for_lost_ones() {
        use crate::host::Host;
        use crate::messages::Beacon;
        use crate::{Input, Profile, Tile};
        let share = |beacons| {
            let parameters = Parameters {
                beacons,
                ..Parameters::default()
            };
            let tile = Tile { tx: 0, ty: 0 };
            let profile = Profile::letter_with(parameters);
            let mut host = Host::new(&profile, AgentId(1), tile, Instant::ZERO, None);
            // 10 m/s: a beacon every 0.5 s; every fourth is lost.
            for k in (1..400).filter(|k| k % 4 != 0) {
                let now = Instant::ZERO + Duration::from_millis(500 * k);
                let beacon = Beacon {
                    sender: AgentId(2),
                    at: now,
                    state: at(5.0 * k as f64 - 1_900.0, 0.0, 10.0),
                    digest: None,
                    low_frequency: false,
                };
                host.handle_input(now, Input::Moved(&at(5.0 * k as f64 - 1_880.0, 0.0, 10.0)));
                host.handle_input(now, Input::Beacon(&beacon));
            }
            host.handle_input(Instant::ZERO + Duration::from_millis(200_150), Input::Tick);
            host.links().over(20.0)
        };
        let triggered = share(BeaconRule::Triggered);
        assert!((0.7..0.8).contains(&triggered), "{triggered}");
        assert!(share(BeaconRule::Periodic) < 0.3);
    }

    #[test]
    fn when_the_last_beacon_was_sent_is_told() {
        let mut timer = BeaconTimer::default();
        assert_eq!(timer.last_at(), None);
        for millis in [300, 700] {
            timer.send(&at(0.0, 0.0, 0.0), Instant::from_millis(millis));
            assert_eq!(timer.last_at(), Some(Instant::from_millis(millis)));
        }
    }
}
