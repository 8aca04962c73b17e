//! Time to collision: when two bodies touch if both go on as they go. For evaluation only.

use super::deadline::{Moving, clean};
use crate::geometry::Point;
use crate::scene::VehicleState;

/// Seconds until two bodies touch at constant velocity and heading; 0 where they overlap, none where they never do.
///
/// Bodies are their boxes on the ground. Two boxes touch when their shadows overlap on each side's direction, so the time is
/// the latest at which a shadow meets the other's, if none has left it by then.
#[must_use]
pub fn time_to_collision(a: &VehicleState, b: &VehicleState) -> Option<f64> {
    let (one, other) = (Moving::of(a), Moving::of(b));
    let apart = other.position - one.position;
    let motion = other.velocity - one.velocity;
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for heading in [a.heading, b.heading] {
        let along = Point::from_heading(heading);
        for axis in [along, Point::new(-along.y, along.x)] {
            let reach = extent(a, axis) + extent(b, axis);
            let (at, speed) = (apart.dot(axis), motion.dot(axis));
            if !(at.is_finite() && reach.is_finite()) {
                return None;
            }
            if speed.abs() < 1e-9 {
                if at.abs() > reach {
                    return None;
                }
                continue;
            }
            let times = [(-reach - at) / speed, (reach - at) / speed];
            enter = enter.max(times[0].min(times[1]));
            leave = leave.min(times[0].max(times[1]));
        }
    }
    (enter <= leave).then_some(enter)
}

/// Half the length of a body's shadow on an axis.
fn extent(state: &VehicleState, axis: Point) -> f64 {
    let along = Point::from_heading(state.heading);
    let across = Point::new(-along.y, along.x);
    0.5 * (clean(state.body.length) * along.dot(axis).abs()
        + clean(state.body.width) * across.dot(axis).abs())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::scene::{Body, BodyKind, VehicleId};

    fn car(x: f64, y: f64, heading: f64, speed: f64) -> VehicleState {
        VehicleState {
            id: VehicleId(0),
            position: Point::new(x, y),
            heading,
            speed,
            body: Body {
                length: 5.0,
                width: 2.0,
                height: 1.6,
                kind: BodyKind::Car,
            },
            lane: None,
            lane_position: 0.0,
            next: None,
        }
    }

    fn seconds(a: &VehicleState, b: &VehicleState) -> Option<f64> {
        let (one, other) = (time_to_collision(a, b), time_to_collision(b, a));
        assert_eq!(one.is_some(), other.is_some());
        if let (Some(one), Some(other)) = (one, other) {
            assert!((one - other).abs() < 1e-9, "{one} {other}");
        }
        one
    }

    #[test]
    fn a_follower_needs_the_gap_over_what_it_gains() {
        let follower = car(0.0, 0.0, 0.0, 15.0);
        // 20 m from bumper to bumper, 5 m/s faster.
        let time = seconds(&follower, &car(25.0, 0.5, 0.0, 10.0)).unwrap();
        assert!((time - 4.0).abs() < 1e-9, "{time}");
        assert_eq!(seconds(&follower, &car(25.0, 0.0, 0.0, 15.0)), None);
        assert_eq!(seconds(&follower, &car(25.0, 0.0, 0.0, 16.0)), None);
        // In the next lane nothing happens, at any speed.
        assert_eq!(seconds(&follower, &car(25.0, 3.2, 0.0, 0.0)), None);
        assert_eq!(seconds(&follower, &car(4.0, 1.0, 0.0, 0.0)), Some(0.0));
        // Head on.
        let time = seconds(&follower, &car(65.0, 0.0, PI, 5.0)).unwrap();
        assert!((time - 3.0).abs() < 1e-9, "{time}");
    }

    #[test]
    fn crossing_ways_meet_only_at_the_same_time() {
        let east = car(-30.0, 0.0, 0.0, 10.0);
        let time = seconds(&east, &car(0.0, -30.0, FRAC_PI_2, 10.0)).unwrap();
        // Fronts are 2.5 m ahead, sides 1 m off the middle.
        assert!((time - 2.65).abs() < 1e-9, "{time}");
        assert_eq!(seconds(&east, &car(0.0, -60.0, FRAC_PI_2, 10.0)), None);
        assert_eq!(
            seconds(&east, &car(f64::NAN, 0.0, 0.0, 1.0)),
            None,
            "nonsense meets nobody"
        );
    }
}
