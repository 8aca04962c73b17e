//! Which objects an ordinary report includes: the generation rules of TS 103 324 for vehicles, from the sender's own history.
//!
//! An object is due if the sender did not include it within the last second, or if since then it moved by more than 4 m, or
//! changed its speed by more than 0.5 m/s or its direction by more than 4 degrees. The direction of what hardly moves is
//! nothing to go by, and whoever drives off changes its speed.

use crate::grid::{Position, Velocity};
use crate::ids::ObjectId;
use crate::messages::{AgentState, ObjectState};
use crate::parameters::{Parameters, ReportContent};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Displacement since the last inclusion above which an object is due, in metres: minPositionChangeThreshold.
pub const MOVED_M: f64 = 4.0;
/// Change of speed above which it is, in m/s: minGroundSpeedChangeThreshold.
pub const FASTER_M_PER_S: f64 = 0.5;
/// Change of direction above which it is, in radians: minGroundVelocityOrientationChangeThreshold, 4 degrees.
pub const TURNED_RAD: f64 = 4.0 / 180.0 * core::f64::consts::PI;
/// The tangent of that, and how much rounding may leave open of it.
const TURNED_TAN: f64 = 0.069_926_811_943_510_41;
const DOUBT: f64 = 1e-9;
/// The longest time between two inclusions: T_GenCpmMax.
pub const AT_LEAST_EVERY: Duration = Duration::from_millis(1_000);
/// The direction of whatever is slower may be anything, in m/s.
const SLOW_M_PER_S: f64 = 0.5;

/// What the rules compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// Centre of the body.
    pub position: Position,
    /// Its speed, in m/s.
    pub speed: f64,
    /// Its direction, in radians.
    pub heading: f64,
}

impl From<&ObjectState> for Motion {
    fn from(state: &ObjectState) -> Self {
        Self {
            position: state.position,
            speed: state.velocity.speed(),
            heading: libm::atan2(state.velocity.y, state.velocity.x),
        }
    }
}

impl From<&AgentState> for Motion {
    fn from(state: &AgentState) -> Self {
        Self {
            position: state.position,
            speed: state.speed,
            heading: state.heading,
        }
    }
}

impl Motion {
    /// It moved or changed its speed since it was `then`, by more than the thresholds.
    #[must_use]
    pub fn has_moved_since(&self, then: &Self) -> bool {
        self.position.distance(then.position) > MOVED_M
            || libm::fabs(self.speed - then.speed) > FASTER_M_PER_S
    }

    /// The same, or it turned.
    #[must_use]
    pub fn has_changed_since(&self, then: &Self) -> bool {
        self.has_moved_since(then)
            || self.speed.min(then.speed) >= SLOW_M_PER_S
                && turn(self.heading, then.heading) > TURNED_RAD
    }
}

/// The angle between two directions, in radians.
#[must_use]
pub fn turn(a: f64, b: f64) -> f64 {
    let between = libm::fabs(a - b);
    if between <= core::f64::consts::PI {
        between
    } else if between <= core::f64::consts::TAU {
        core::f64::consts::TAU - between
    } else {
        libm::fabs(libm::atan2(libm::sin(between), libm::cos(between)))
    }
}

/// What a sender included in its reports of the last second.
#[derive(Debug, Clone, Default)]
pub struct Inclusion {
    /// When each was included last, and how it moved then.
    included: SortedMap<ObjectId, (Instant, Then)>,
}

/// How an object moved when it was included.
#[derive(Debug, Clone, Copy)]
struct Then {
    position: Position,
    velocity: Velocity,
}

impl From<&ObjectState> for Then {
    fn from(state: &ObjectState) -> Self {
        Self {
            position: state.position,
            velocity: state.velocity,
        }
    }
}

impl Then {
    /// The rules want an object in a report again that is `now`.
    fn has_changed(&self, now: &ObjectState) -> bool {
        // Roots and directions are dear: they are worked out only where they matter.
        let off = [
            now.position.x - self.position.x,
            now.position.y - self.position.y,
        ];
        let off_m2 = off[0] * off[0] + off[1] * off[1];
        if off_m2 > MOVED_M * MOVED_M * (1.0 + DOUBT) {
            return true;
        }
        let (a, b) = (self.velocity, now.velocity);
        let speeds = [a.speed(), b.speed()];
        if libm::fabs(speeds[1] - speeds[0]) > FASTER_M_PER_S {
            return true;
        }
        let (cross, along) = (libm::fabs(a.x * b.y - a.y * b.x), a.x * b.x + a.y * b.y);
        let turns = speeds[0].min(speeds[1]) >= SLOW_M_PER_S;
        if turns && cross > along * (TURNED_TAN + DOUBT) {
            return true;
        }
        let straight = !turns || cross < along * (TURNED_TAN - DOUBT);
        if straight && off_m2 < MOVED_M * MOVED_M * (1.0 - DOUBT) {
            return false;
        }
        let then = Motion {
            position: self.position,
            speed: speeds[0],
            heading: libm::atan2(a.y, a.x),
        };
        Motion::from(now).has_changed_since(&then)
    }
}

impl Inclusion {
    /// The rules want the object in a report at `now`.
    #[must_use]
    pub fn is_due(&self, now: Instant, state: &ObjectState) -> bool {
        let Some((at, then)) = self.included.get(state.id) else {
            return true;
        };
        if !is_recent(now, *at) {
            return true;
        }
        then.has_changed(state)
    }

    /// A report at `now` includes `objects`.
    pub fn note(&mut self, now: Instant, objects: &[ObjectState]) {
        // What lies longer back is due whatever it does, as if it had never been included.
        self.included.retain(|_, &mut (at, _)| is_recent(now, at));
        for state in objects {
            self.included.insert(state.id, (now, Then::from(state)));
        }
    }
}

/// Not so long ago that the object is due whatever it does; what lies ahead was said by another clock.
fn is_recent(now: Instant, at: Instant) -> bool {
    (Duration::ZERO..AT_LEAST_EVERY).contains(&now.since(at))
}

/// The share of cycles in which an ordinary report includes an object of this speed that goes straight on: what a host takes
/// the report of somebody to hold of it.
#[must_use]
pub fn included_share(parameters: &Parameters, speed: f64) -> f64 {
    let longest = libm::ceil(AT_LEAST_EVERY.seconds() / parameters.cycle_s - 1e-9);
    // After so many cycles it has moved by more than the threshold.
    let moved = libm::floor(MOVED_M / (speed.max(1e-9) * parameters.cycle_s) + 1e-9) + 1.0;
    1.0 / moved.min(longest).max(1.0)
}

impl Parameters {
    /// How many reports a host goes by for what a contributor's reports hold: reports by the generation rules come in rounds of
    /// a second, all others are as the last one was.
    #[must_use]
    pub(crate) fn reports_in_round(&self) -> usize {
        match self.report_content {
            ReportContent::Included => {
                libm::round(AT_LEAST_EVERY.seconds() / self.cycle_s).max(1.0) as usize
            }
            ReportContent::All | ReportContent::Silent => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Confidence, Size};
    use alloc::vec;

    fn object(id: u64, x: f64, velocity: (f64, f64)) -> ObjectState {
        ObjectState {
            id: ObjectId(id),
            position: Position::new(x, 0.0),
            velocity: Velocity::new(velocity.0, velocity.1),
            size: Size::default(),
            sensed_at: Instant::ZERO,
            confidence: Confidence::FULL,
        }
    }

    fn at(ms: i64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn an_object_is_due_when_new_changed_or_a_second_old() {
        let mut history = Inclusion::default();
        let first = object(1, 0.0, (10.0, 0.0));
        assert!(history.is_due(at(0), &first));
        history.note(at(0), &[first]);
        assert!(!history.is_due(at(200), &object(1, 4.0, (10.0, 0.0))));
        assert!(history.is_due(at(200), &object(1, 4.1, (10.0, 0.0))));
        assert!(!history.is_due(at(200), &object(1, 0.0, (10.5, 0.0))));
        assert!(history.is_due(at(200), &object(1, 0.0, (10.6, 0.0))));
        let turned = |degrees: f64| {
            let angle = degrees.to_radians();
            object(1, 0.0, (10.0 * libm::cos(angle), 10.0 * libm::sin(angle)))
        };
        assert!(!history.is_due(at(200), &turned(3.9)));
        assert!(history.is_due(at(200), &turned(4.1)));
        assert!(history.is_due(at(200), &turned(-4.1)));
        assert!(!history.is_due(at(999), &first));
        assert!(history.is_due(at(1_000), &first));
        assert!(history.is_due(at(200), &object(2, 0.0, (0.0, 0.0))));
    }

    #[test]
    fn turns_are_found_as_by_directions() {
        assert!((libm::tan(TURNED_RAD) - TURNED_TAN).abs() < 1e-16);
        let mut number = 1u64;
        let mut next = || {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (number >> 40) as f64 / (1u64 << 24) as f64
        };
        let (mut turned, mut straight) = (0, 0);
        for k in 0..20_000 {
            let (heading, speed) = (7.0 * next() - 3.5, 0.3 + 20.0 * next());
            let off = match k % 4 {
                0 => 7.0 * next() - 3.5,
                // Where there is doubt.
                1 => TURNED_RAD + 1e-8 * (next() - 0.5),
                2 => -TURNED_RAD + 1e-15 * (next() - 0.5),
                _ => 0.2 * next() - 0.1,
            };
            let state = |heading: f64| {
                object(
                    1,
                    0.0,
                    (speed * libm::cos(heading), speed * libm::sin(heading)),
                )
            };
            let (then, now) = (state(heading), state(heading + off));
            let plain = Motion::from(&now).has_changed_since(&Motion::from(&then));
            let found = Then::from(&then).has_changed(&now);
            assert_eq!(found, plain, "{then:?} {now:?}");
            turned += u32::from(found);
            straight += u32::from(!found);
        }
        assert!(turned > 1_000 && straight > 1_000, "{turned} {straight}");
    }

    #[test]
    fn the_direction_of_what_stands_is_nothing_to_go_by() {
        let mut history = Inclusion::default();
        history.note(at(0), &[object(1, 0.0, (0.01, 0.0))]);
        assert!(!history.is_due(at(200), &object(1, 0.0, (-0.01, 0.0))));
    }

    #[test]
    fn a_turn_counts_from_half_a_metre_a_second_on_and_over_the_seam() {
        let heading = |speed: f64, heading: f64| Motion {
            position: Position::default(),
            speed,
            heading,
        };
        let turned = |speed, from, to| heading(speed, to).has_changed_since(&heading(speed, from));
        assert!(turned(0.5, 0.0, 1.0) && !turned(0.49, 0.0, 1.0));
        // Both have to move.
        assert!(!heading(0.4, 1.0).has_changed_since(&heading(0.8, 0.0)));
        assert!(!turned(10.0, 3.12, -3.12) && turned(10.0, 3.1, -3.1));
        assert!((turn(3.1, -3.1) - (2.0 * core::f64::consts::PI - 6.2)).abs() < 1e-12);
        assert!((turn(0.1, 0.4) - 0.3).abs() < 1e-12);
        assert!((turn(0.0, 3.0) - 3.0).abs() < 1e-12);
        let of_agent = Motion::from(&AgentState {
            heading: 0.7,
            speed: 3.0,
            ..AgentState::default()
        });
        assert_eq!(of_agent, heading(3.0, 0.7));
        assert_eq!(
            Motion::from(&object(1, 0.0, (0.0, 2.0))),
            heading(2.0, core::f64::consts::FRAC_PI_2)
        );
    }

    #[test]
    fn reports_by_these_rules_come_in_rounds_of_a_second() {
        let mut p = Parameters::default();
        for (content, reports) in [
            (ReportContent::Included, 5),
            (ReportContent::All, 1),
            (ReportContent::Silent, 1),
        ] {
            p.report_content = content;
            assert_eq!(p.reports_in_round(), reports);
        }
    }

    #[test]
    fn a_clock_that_was_set_back_makes_everything_due() {
        let mut history = Inclusion::default();
        history.note(at(5_000), &[object(1, 0.0, (0.0, 0.0))]);
        assert!(history.is_due(at(0), &object(1, 0.0, (0.0, 0.0))));
        history.note(at(0), &[]);
        assert!(history.included.iter().next().is_none());
    }

    #[test]
    fn a_second_is_all_that_is_remembered() {
        let mut history = Inclusion::default();
        for k in 0..100 {
            let objects = vec![object(k, 0.0, (0.0, 0.0)), object(k + 1, 0.0, (0.0, 0.0))];
            history.note(at(200 * k as i64), &objects);
            assert!(history.included.len() <= 6, "{}", history.included.len());
            assert!(history.included.iter().is_sorted_by_key(|(id, _)| id));
        }
    }

    #[test]
    fn hosts_expect_what_the_rules_give() {
        let p = Parameters::default();
        assert_eq!(included_share(&p, f64::INFINITY), 1.0);
        for speed in [0.0, 3.0, 6.0, 9.5, 15.0, 25.0] {
            let mut history = Inclusion::default();
            let mut included = 0.0;
            let reports = 300;
            for k in 0..reports {
                let now = object(1, 0.2 * speed * k as f64, (speed, 0.0));
                if history.is_due(at(200 * k), &now) {
                    history.note(at(200 * k), &[now]);
                    included += 1.0;
                }
            }
            let expected = reports as f64 * included_share(&p, speed);
            assert!(
                (included - expected).abs() <= 1.0,
                "{speed} m/s: {included}, expected {expected}"
            );
        }
    }
}
