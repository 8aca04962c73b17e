//! Errors of positions: what participants believe of where they are and of where they see others.
//!
//! Everyone's estimate of its own position is off by an error that changes slowly, as that of a satellite receiver does: per
//! axis a Gauss-Markov process of the standard deviation `position_error_m` whose correlation falls to 1/e within
//! `position_correlation_s`. What somebody sees is displaced by its own error, and by a small error of the sensor
//! (`object_error_m`) that is new with every look. Speeds, headings and sizes have no errors, nor have the cells of digests.
//!
//! Physics (sight, links, the tile whose load a message adds to, the metric) go by true positions; beacons, reports,
//! broadcasts, the host rule and everything that a participant computes go by estimates. Draws are addressed by seed,
//! vehicle and step, so that errors do not depend on what arms do.

use covey_draws::{Draws, Purpose};
use covey_parameters::parameters;
use covey_protocol::Position;
use serde::{Deserialize, Serialize};

/// Seconds of a step.
const STEP_S: f64 = covey_traffic::STEP_US as f64 * 1e-6;

parameters! {
    /// Errors of positions. All default to none.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Errors {
        /// Standard deviation of everyone's own position, per axis.
        position_error_m: f64 = 0.0, unit "m", range at_least(0.0).at_most(20.0), source "docs/readings.md, errors of positions";
        /// Time in which the correlation of that error falls to 1/e.
        position_correlation_s: f64 = 20.0, unit "s", range at_least(0.0).at_most(1e6),
            source "docs/readings.md, errors of positions";
        /// Standard deviation of where a sensor sees an object, per axis, new with every look.
        object_error_m: f64 = 0.0, unit "m", range at_least(0.0).at_most(20.0), source "docs/readings.md, errors of positions";
    }
}

impl Errors {
    /// There are none.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.position_error_m <= 0.0 && self.object_error_m <= 0.0
    }

    /// The error of a vehicle's own position at a step, from that of the step before; none where it has just appeared.
    pub(crate) fn next(
        &self,
        seed: u64,
        vehicle: u32,
        step: u32,
        before: Option<[f64; 2]>,
    ) -> [f64; 2] {
        if self.position_error_m <= 0.0 {
            return [0.0; 2];
        }
        let draws = Draws::new(seed, Purpose::OwnPosition, 0, u64::from(step));
        let news = [0, 1].map(|axis| self.position_error_m * draws.at(vehicle, axis).normal());
        match before {
            None => news,
            Some(before) => {
                let keep = (-STEP_S / self.position_correlation_s.max(STEP_S)).exp();
                let change = (1.0 - keep * keep).sqrt();
                [0, 1].map(|axis: usize| keep * before[axis] + change * news[axis])
            }
        }
    }

    /// Where `observer`, whose own position is off by `own`, sees `object` that is at `truth`.
    pub(crate) fn perceived(
        &self,
        seed: u64,
        [observer, object]: [u32; 2],
        step: u32,
        own: [f64; 2],
        truth: Position,
    ) -> Position {
        let mut off = own;
        if self.object_error_m > 0.0 {
            for (axis, off) in (0u8..).zip(&mut off) {
                let draws = Draws::new(seed, Purpose::SensedPosition, axis, u64::from(step));
                *off += self.object_error_m * draws.at(observer, object).normal();
            }
        }
        Position::new(truth.x + off[0], truth.y + off[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_errors_have_the_spread_and_the_memory_they_should() {
        let errors = Errors {
            position_error_m: 2.0,
            ..Errors::default()
        };
        // 200 vehicles at the beginning and 20 s later.
        let (mut square, mut product, mut later) = (0.0, 0.0, 0.0);
        for vehicle in 0..200 {
            let mut error = errors.next(7, vehicle, 0, None);
            let first = error;
            for step in 1..=400 {
                error = errors.next(7, vehicle, step, Some(error));
            }
            for axis in 0..2 {
                square += first[axis] * first[axis] / 400.0;
                later += error[axis] * error[axis] / 400.0;
                product += first[axis] * error[axis] / 400.0;
            }
        }
        assert!((square / 4.0 - 1.0).abs() < 0.2, "{square}");
        assert!((later / 4.0 - 1.0).abs() < 0.2, "{later}");
        assert!((product / 4.0 - 0.37).abs() < 0.15, "{product}");
        assert_eq!(errors.next(7, 3, 9, None), errors.next(7, 3, 9, None));
        assert_ne!(errors.next(7, 3, 9, None), errors.next(8, 3, 9, None));
    }

    #[test]
    fn errors_of_sensed_positions_have_their_spread_and_no_memory() {
        let errors = Errors {
            object_error_m: 0.5,
            ..Errors::default()
        };
        let truth = Position::new(10.0, 20.0);
        let off = |observer, step| {
            let seen = errors.perceived(1, [observer, 6], step, [0.0; 2], truth);
            [seen.x - truth.x, seen.y - truth.y]
        };
        let mean = |of: &dyn Fn(u32, u32) -> f64| {
            let all = (0..100).flat_map(|observer| (0..100).map(move |step| of(observer, step)));
            all.sum::<f64>() / 1e4
        };
        for axis in 0..2 {
            assert!(mean(&|o, s| off(o, s)[axis]).abs() < 0.02);
            let square = mean(&|o, s| off(o, s)[axis].powi(2));
            assert!((square / 0.25 - 1.0).abs() < 0.06, "{square}");
            // Neither the next look nor the next observer nor the other axis tells anything.
            for product in [
                mean(&|o, s| off(o, s)[axis] * off(o, s + 2)[axis]),
                mean(&|o, s| off(o, s)[axis] * off(o + 1, s)[axis]),
                mean(&|o, s| off(o, s)[axis] * off(o, s)[1 - axis]),
            ] {
                assert!((product / 0.25).abs() < 0.05, "{product}");
            }
        }
    }

    #[test]
    fn everything_one_sees_shares_its_own_error_but_for_the_sensor() {
        let errors = Errors {
            position_error_m: 2.0,
            object_error_m: 0.2,
            ..Errors::default()
        };
        let truth = Position::new(10.0, 20.0);
        let see = |object| errors.perceived(1, [5, object], 40, [3.0, -1.0], truth);
        let (a, b) = (see(6), see(7));
        assert_ne!(a, b);
        for p in [a, b] {
            assert!(p.distance(Position::new(13.0, 19.0)) < 1.2, "{p:?}");
        }
        let none = Errors::default();
        assert!(none.are_none());
        assert_eq!(none.perceived(1, [5, 6], 40, [0.0; 2], truth), truth);
        assert_eq!(none.next(1, 5, 40, Some([0.0; 2])), [0.0; 2]);
    }
}
