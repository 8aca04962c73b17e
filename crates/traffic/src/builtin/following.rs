//! Car following: the safe speed of Krauss's model, as SUMO's default uses it.
//!
//! Guarantee: a vehicle that keeps to [`safe_speed`] in every step, with a step of at most twice `tau`, never needs to
//! brake harder than `decel` and never reaches the point that it keeps clear of, whatever the vehicle in front does
//! within its own `decel`.

/// The highest speed (m/s) from which a driver with reaction time `tau` (s) who brakes with `decel` (m/s²) stops within
/// `gap` metres plus the stopping distance of a leader at `leader_speed` who brakes with `leader_decel`.
///
/// It solves v tau + v² / (2 decel) = gap + leader_speed² / (2 max(decel, leader_decel)).
pub(crate) fn safe_speed(
    gap: f64,
    leader_speed: f64,
    decel: f64,
    leader_decel: f64,
    tau: f64,
) -> f64 {
    let room = gap + leader_speed * leader_speed / (2.0 * decel.max(leader_decel));
    if room <= 0.0 {
        return 0.0;
    }
    let bt = decel * tau;
    (bt * bt + 2.0 * decel * room).sqrt() - bt
}

/// The distance (m) in which a vehicle at `speed` stops when it brakes with `decel`.
pub(crate) fn braking_distance(speed: f64, decel: f64) -> f64 {
    speed * speed / (2.0 * decel)
}

/// The time (s) to cover `distance` metres from `speed`, accelerating with `accel` up to `limit`; 0 for no distance.
pub(crate) fn travel_time(distance: f64, speed: f64, accel: f64, limit: f64) -> f64 {
    if distance <= 0.0 {
        return 0.0;
    }
    let limit = limit.max(speed).max(0.1);
    let ramp = (limit * limit - speed * speed) / (2.0 * accel);
    if distance <= ramp {
        ((speed * speed + 2.0 * accel * distance).sqrt() - speed) / accel
    } else {
        (limit - speed) / accel + (distance - ramp) / limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A follower at the highest safe speed against a leader who brakes to a stop at once.
    #[test]
    fn a_full_stop_of_the_leader_is_survived_at_every_speed() {
        for step in [0.05, 0.25, 0.5] {
            for start in [1.0, 5.0, 16.7, 33.0] {
                let (decel, tau) = (4.5, 1.0);
                let mut leader = (0.0, start);
                let gap0 = start * tau + 0.001;
                let mut follower = (-gap0, start);
                for _ in 0..2000 {
                    let safe = safe_speed(leader.0 - follower.0, leader.1, decel, decel, tau);
                    let next: f64 = safe.min(follower.1);
                    assert!(
                        next >= follower.1 - decel * step - 1e-9,
                        "needs {} m/s² at step {step}",
                        (follower.1 - next) / step
                    );
                    follower.1 = next;
                    follower.0 += next * step;
                    leader.1 = (leader.1 - decel * step).max(0.0);
                    leader.0 += leader.1 * step;
                    assert!(follower.0 <= leader.0);
                }
            }
        }
    }

    #[test]
    fn travel_times_are_those_of_uniform_acceleration() {
        assert_eq!(travel_time(0.0, 3.0, 2.0, 10.0), 0.0);
        assert!((travel_time(4.0, 0.0, 2.0, 10.0) - 2.0).abs() < 1e-12);
        // 5 s to reach 10 m/s over 25 m, then 10 m at 10 m/s.
        assert!((travel_time(35.0, 0.0, 2.0, 10.0) - 6.0).abs() < 1e-12);
    }
}
