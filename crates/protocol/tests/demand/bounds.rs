//! What a host that chooses by demand keeps to where there is a target, little time, or a crowd.

use std::collections::BTreeMap;

use covey_protocol::demand::DemandOptions;
use covey_protocol::demand::associate::Identities;
use covey_protocol::{Input, ObjectId, Parameters, Profile};

use crate::scenes::{Car, Stage, allowing, car, mute, queue};

#[test]
fn the_budget_follows_what_was_planned_and_the_room_that_was_measured() {
    let (target, allowance) = (0.05, 0.02);
    let options = DemandOptions {
        target: Some(target),
        ..DemandOptions::default()
    };
    let mut stage = Stage::new(options, allowance, &queue());
    let usual = Parameters::default();
    let capacity = usual.capacity_bytes_per_s * usual.cycle_s;
    stage.cycle(&[(3, &[90, 91])]);
    for room in [0.0, 0.002, -0.001, 0.001] {
        let planned = stage.explained().1.bytes;
        stage
            .host
            .handle_input(stage.now, Input::Occupancy(target - room));
        stage.cycle(&[(3, &[90, 91])]);
        let expected = (planned + room * capacity).min(allowance * capacity);
        let budget = stage.explained().0.budget_bytes;
        assert!((budget - expected).abs() < 1e-6, "{budget} {expected}");
        assert!(budget > 0.1 * allowance * capacity);
    }
}

/// Lanes side by side, 4 m apart, from `y` on: in each one that beacons behind three silent ones, of which it sees the first.
fn lanes(first: u64, count: u64, y: f64) -> Vec<Car> {
    let lane = |k: u64| {
        let (id, y) = (first + k, y + 4.0 * k as f64);
        [
            car(id, 250.0, y),
            mute(1_000 + id, 262.0, y),
            mute(2_000 + id, 274.0, y),
            mute(3_000 + id, 286.0, y),
        ]
    };
    (0..count).flat_map(lane).collect()
}

/// A host among `lanes`, all of whose silent cars were reported in the last two cycles.
fn crowd(parameters: Parameters, lanes: &[Car]) -> Stage {
    let options = DemandOptions {
        identities: Identities::True,
        ..DemandOptions::default()
    };
    let mut cars = vec![car(9, 200.0, 300.0)];
    cars.extend(lanes);
    let mut stage = Stage::with(Profile::demand_with(parameters, options), &cars);
    let reports: Vec<(u64, [u64; 3])> = lanes
        .iter()
        .filter(|car| car.equipped)
        .map(|car| (car.id, [1_000, 2_000, 3_000].map(|k| k + car.id)))
        .collect();
    let reports: Vec<(u64, &[u64])> = reports.iter().map(|(id, of)| (*id, &of[..])).collect();
    for _ in 0..2 {
        stage.cycle(&reports);
    }
    // What candidates see is told by sight from now on: reports are stale.
    for _ in 0..3 {
        stage.cycle(&[]);
    }
    stage
}

#[test]
fn a_crowd_far_away_changes_nothing_in_what_those_here_see() {
    let here = lanes(100, 30, 110.0);
    let mut all = here.clone();
    all.extend(lanes(200, 50, 390.0));
    let views = |cars: &[Car]| {
        let stage = crowd(allowing(0.4), cars);
        let problem = stage.explained().0;
        let here = problem.candidates.iter().filter(|c| c.id.0 < 200);
        let views: BTreeMap<u64, Vec<(ObjectId, f64)>> = here
            .map(|candidate| {
                let of = |&(k, chance): &(u32, f64)| (problem.objects[k as usize].id, chance);
                (candidate.id.0, candidate.views.iter().map(of).collect())
            })
            .collect();
        (views, problem.objects.len())
    };
    let ((alone, few), (among, many)) = (views(&here), views(&all));
    // More than are looked at one by one.
    assert!(few < 128 && many > 128, "{few} {many}");
    assert_eq!(alone.len(), 30);
    assert!(alone.values().all(|seen| seen.len() >= 2), "{alone:?}");
    assert_eq!(alone, among);
}

#[test]
fn where_looking_takes_all_the_time_there_is_some_left_for_choosing() {
    let cars = lanes(100, 30, 110.0);
    for (work, all) in [(1_000, false), (4_000, false), (400_000, true)] {
        let mut parameters = allowing(0.4);
        parameters.guard.work = work;
        let stage = crowd(parameters, &cars);
        let (problem, chosen) = stage.explained();
        // Not everybody was looked at; of those who were, some are asked.
        assert_eq!(problem.candidates.len() == 30, all, "{work}");
        assert!(!chosen.reports().is_empty(), "{work}");
    }
}
