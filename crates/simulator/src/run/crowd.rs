//! How many vehicles a run takes: what it keeps of pairs must fit into memory.

use std::collections::BTreeMap;

use covey_world::VehicleState;

use super::RunError;

/// Vehicles at a time: a city's. 1,209 of the corridor take 76 kB each over a second, map included; as many as these would take 10 GB.
pub(super) const MOST_VEHICLES: usize = 120_000;
/// Pairs within reach of each other, the two ways counted apart: as many as 10,000 vehicles in one spot have. A link takes 40 B.
pub(super) const MOST_PAIRS: u64 = 100_000_000;

/// The vehicles of a step at `at_s` seconds, heard up to `reach_m`, are not too many.
pub(super) fn check(at_s: f64, reach_m: f64, vehicles: &[VehicleState]) -> Result<(), RunError> {
    let found = vehicles.len();
    if found > MOST_VEHICLES {
        return Err(RunError::TooMany {
            at_s,
            found,
            most: MOST_VEHICLES,
        });
    }
    if (found as u64).pow(2) <= MOST_PAIRS {
        return Ok(());
    }
    // By squares of the reach: all that are heard in one are in it or in the eight around it.
    let side = reach_m.max(1.0);
    let mut squares: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    for vehicle in vehicles {
        let square = |metres: f64| (metres / side).floor() as i64;
        let p = vehicle.position;
        *squares.entry((square(p.x), square(p.y))).or_default() += 1;
    }
    let around = |&(x, y): &(i64, i64)| {
        let nine = (-1..=1).flat_map(|dx: i64| (-1..=1).map(move |dy: i64| (dx, dy)));
        let beside = nine.map(|(dx, dy)| (x.saturating_add(dx), y.saturating_add(dy)));
        beside
            .filter_map(|square| squares.get(&square))
            .sum::<u64>()
    };
    let pairs = |(square, count): (&(i64, i64), &u64)| count * around(square);
    let pairs: u64 = squares.iter().map(pairs).sum();
    if pairs <= MOST_PAIRS {
        return Ok(());
    }
    let (&(x, y), &crowd) = squares
        .iter()
        .max_by_key(|&(square, &count)| (count, std::cmp::Reverse(*square)))
        .unwrap_or((&(0, 0), &0));
    Err(RunError::TooClose {
        at_s,
        crowd,
        side_m: side,
        x_m: (x as f64 + 0.5) * side,
        y_m: (y as f64 + 0.5) * side,
        pairs,
        most: MOST_PAIRS,
    })
}

#[cfg(test)]
mod tests {
    use covey_world::{Body, Point, VehicleId};

    use super::*;

    fn at(places: impl Iterator<Item = (f64, f64)>) -> Vec<VehicleState> {
        let vehicle = |(id, (x, y))| VehicleState {
            id: VehicleId(id),
            position: Point::new(x, y),
            heading: 0.0,
            speed: 0.0,
            body: Body::CAR,
            lane: None,
            lane_position: 0.0,
            next: None,
        };
        (0..).zip(places).map(vehicle).collect()
    }

    #[test]
    fn crowds_are_refused_with_their_number_and_a_cure() {
        let spot = |n: u32| at((0..n).map(|k| (f64::from(k % 100), f64::from(k / 100))));
        assert!(check(0.0, 500.0, &spot(10_000)).is_ok());
        let error = check(1.25, 500.0, &spot(20_000)).unwrap_err().to_string();
        assert_eq!(
            error,
            "traffic: at 1.25 s 20000 vehicles are in the square of 500 m around (250, 250) m, and 400000000 pairs within \
             reach of each other; expected at most 100000000; take fewer vehicles, or a smaller part of the recording"
        );
        let error = check(0.0, 500.0, &spot(2_000_000)).unwrap_err().to_string();
        assert_eq!(
            error,
            "traffic: at 0.00 s there are 2000000 vehicles; expected at most 120000 at a time; take fewer vehicles, or a \
             smaller part of the recording"
        );
    }

    #[test]
    fn as_many_spread_over_a_city_are_taken() {
        // 25,000 on 5 km by 5 km: 40 in a square of 200 m.
        let spread = |side: f64| {
            at((0..25_000u32).map(move |k| {
                (
                    f64::from(k % 158) * side / 158.0,
                    f64::from(k / 158) * side / 158.0,
                )
            }))
        };
        assert!(check(0.0, 500.0, &spread(5_000.0)).is_ok());
        // Pairs over the edges of squares count: the same on 2 km by 2 km are too close.
        assert!(check(0.0, 500.0, &spread(2_000.0)).is_err());
        // Negative places are squares of their own.
        let mut beyond = spread(5_000.0);
        for vehicle in &mut beyond {
            vehicle.position.x -= 2_500.0;
        }
        assert!(check(0.0, 500.0, &beyond).is_ok());
    }
}
