//! How old the knowledge of an object may be: the letter's reaction deadline.

use crate::geometry::Point;
use crate::scene::VehicleState;

/// What "relative speed" means in the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum RelativeSpeed {
    /// The length of the difference of the two velocity vectors.
    #[default]
    VelocityDifference,
    /// The rate at which the distance of the two centres shrinks; 0 where it grows or the centres coincide.
    ClosingSpeed,
    /// The larger of the two speeds.
    MaximumSpeed,
}

/// The letter's reaction deadline, tau_r + v_rel / (2 a_br).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReactionDeadline {
    /// Reaction time tau_r in microseconds. Default 200,000 (the letter's table: 0.2 s).
    pub reaction_us: i64,
    /// Braking a_br in m/s^2. Default 9 (the letter's table). Anything not above 0 leaves the reaction time alone.
    pub braking: f64,
    /// What v_rel is. Default: the length of the velocity difference.
    pub relative_speed: RelativeSpeed,
}

impl Default for ReactionDeadline {
    fn default() -> Self {
        Self {
            reaction_us: 200_000,
            braking: 9.0,
            relative_speed: RelativeSpeed::default(),
        }
    }
}

impl ReactionDeadline {
    /// The deadline for a relative speed in m/s, in microseconds, rounded down.
    ///
    /// Ages are whole microseconds, so an age is above the exact deadline exactly when it is above the rounded one; with
    /// a relative speed of 0 the deadline is the reaction time, exactly. A speed that is not a finite number counts as 0.
    #[must_use]
    pub fn for_speed(&self, speed: f64) -> i64 {
        let braking_us = speed * 1e6 / (2.0 * self.braking);
        if self.braking > 0.0 && braking_us.is_finite() && braking_us > 0.0 {
            self.reaction_us.saturating_add(braking_us.floor() as i64)
        } else {
            self.reaction_us
        }
    }

    /// The deadline for what `vehicle` must know of `object`, in microseconds.
    #[must_use]
    pub fn between(&self, vehicle: &VehicleState, object: &VehicleState) -> i64 {
        self.between_moving(&Moving::of(vehicle), &Moving::of(object))
    }

    pub(super) fn between_moving(&self, vehicle: &Moving, object: &Moving) -> i64 {
        let motion = vehicle.velocity - object.velocity;
        self.for_speed(match self.relative_speed {
            RelativeSpeed::VelocityDifference => motion.length(),
            RelativeSpeed::ClosingSpeed => {
                let apart = object.position - vehicle.position;
                motion.dot(apart) / apart.length()
            }
            RelativeSpeed::MaximumSpeed => vehicle.speed.max(object.speed),
        })
    }
}

/// How a body moves, cleaned of odd numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moving {
    pub(super) position: Point,
    pub(super) velocity: Point,
    pub(super) speed: f64,
}

impl Moving {
    /// The velocity is 0 where the heading is not finite.
    pub(super) fn of(state: &VehicleState) -> Self {
        let speed = clean(state.speed);
        let velocity = if state.heading.is_finite() {
            Point::from_heading(state.heading) * speed
        } else {
            Point::default()
        };
        Self {
            position: state.position,
            velocity,
            speed,
        }
    }
}

/// A speed or length that is safe to compute with: what is not finite or below 0 counts as 0.
pub(super) fn clean(value: f64) -> f64 {
    if value.is_finite() {
        value.max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Body, VehicleId};

    fn state(x: f64, heading: f64, speed: f64) -> VehicleState {
        VehicleState {
            id: VehicleId(0),
            position: Point::new(x, 0.0),
            heading,
            speed,
            body: Body::CAR,
            lane: None,
            lane_position: 0.0,
            next: None,
        }
    }

    #[test]
    fn a_standing_pair_has_the_reaction_time_exactly() {
        let deadline = ReactionDeadline::default();
        for heading in [0.0, 1.234, -3.0] {
            assert_eq!(
                deadline.between(&state(0.0, heading, 0.0), &state(9.0, 2.0, 0.0)),
                200_000
            );
        }
        assert_eq!(
            deadline.between(&state(0.0, 1.1, 7.7), &state(9.0, 1.1, 7.7)),
            200_000
        );
    }

    #[test]
    fn the_three_readings_of_relative_speed() {
        let of = |relative_speed, a: &VehicleState, b: &VehicleState| {
            ReactionDeadline {
                relative_speed,
                ..ReactionDeadline::default()
            }
            .between(a, b)
        };
        // Head on at 9 m/s each: 18 m/s / (2 x 9 m/s^2) = 1 s.
        let (east, west) = (state(0.0, 0.0, 9.0), state(50.0, std::f64::consts::PI, 9.0));
        assert_eq!(
            of(RelativeSpeed::VelocityDifference, &east, &west),
            1_200_000
        );
        assert_eq!(of(RelativeSpeed::ClosingSpeed, &east, &west), 1_200_000);
        assert_eq!(of(RelativeSpeed::MaximumSpeed, &east, &west), 700_000);
        // Past each other: the distance grows.
        assert_eq!(
            of(RelativeSpeed::ClosingSpeed, &west, &state(80.0, 0.0, 9.0)),
            200_000
        );
        // At the same place there is no direction to close in.
        assert_eq!(of(RelativeSpeed::ClosingSpeed, &east, &east), 200_000);
    }

    #[test]
    fn odd_numbers_leave_the_reaction_time() {
        let deadline = ReactionDeadline::default();
        assert_eq!(deadline.for_speed(f64::NAN), 200_000);
        assert_eq!(deadline.for_speed(-3.0), 200_000);
        assert_eq!(
            deadline.between(&state(0.0, f64::NAN, 5.0), &state(1.0, 0.0, f64::INFINITY)),
            200_000
        );
        assert_eq!(
            ReactionDeadline {
                braking: 0.0,
                ..deadline
            }
            .for_speed(10.0),
            200_000
        );
        // 1 m/s: 55,555.55 us, rounded down.
        assert_eq!(deadline.for_speed(1.0), 255_555);
    }
}
