//! What decisions were good for, and what participants know of their own paths, in worlds small enough to check by hand.
//!
//! The blind junction is that of the other toys: 0 comes from the south between two buildings and hosts; 1 comes from the
//! west and has no radio; 2 and 3 stand in the north and see 1; 4 follows 0.

mod support;

use covey_simulator::{Prepared, SeedOutcome, simulate};
use covey_world::VehicleState;
use support::{arms, car, empty_channel, scenario, seconds, still};

fn junction(change: impl FnOnce(&mut covey_simulator::Scenario)) -> Prepared {
    let mut scenario = scenario("toy/blind-junction");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1];
    scenario.evaluation.sample_one_in = 1;
    change(&mut scenario);
    Prepared::new(&scenario).unwrap()
}

fn only(prepared: &Prepared, ids: &[u32]) -> Vec<VehicleState> {
    let network = &prepared.map.network;
    let mut vehicles = vec![
        car(network, 0, "SC_0", 170.0, 8.0),
        car(network, 1, "WC_0", 165.0, 8.0),
        car(network, 2, "NC_0", 150.0, 0.0),
        car(network, 3, "NC_0", 138.0, 0.0),
        car(network, 4, "SC_0", 158.0, 10.0),
    ];
    vehicles.retain(|vehicle| ids.contains(&vehicle.id.0));
    vehicles
}

fn run(prepared: &Prepared, ids: &[u32], names: &[&str]) -> SeedOutcome {
    simulate(
        prepared,
        &mut still(only(prepared, ids)),
        &arms(names),
        1,
        &seconds(0.0, 4.0),
        &mut covey_simulator::Nobody,
    )
    .unwrap()
}

#[test]
fn the_only_one_who_tells_cures_everyone_who_needs_it() {
    let prepared = junction(|_| {});
    // One evaluation of the twenty is looked at after an admission.
    let one = run(&prepared, &[0, 1, 2], &["proposed@0.4"]);
    let [[score, cured]] = one.arms[0].cured[..] else {
        panic!("{:?}", one.arms[0].cured);
    };
    assert!(score > 0.0);
    assert_eq!(cured, 1.0);
    // 4 misses the hidden car too.
    let two = run(&prepared, &[0, 1, 2, 4], &["proposed@0.4"]);
    assert_eq!(two.arms[0].cured.len(), 1);
    assert_eq!(two.arms[0].cured[0][1], 2.0);
}

#[test]
fn who_tells_what_another_tells_too_cures_nothing() {
    // Visible cells alone count, and everyone who sees any is admitted.
    let prepared = junction(|scenario| scenario.protocol.n_max = 10);
    let outcome = run(
        &prepared,
        &[0, 1, 2, 3],
        &["coverage-only@0.4", "random@0.4"],
    );
    let cured = &outcome.arms[0].cured;
    assert!(cured.len() >= 2, "{cured:?}");
    assert!(cured.iter().all(|pair| pair[1] == 0.0), "{cured:?}");
    // Without a score there is nothing that could foretell.
    assert!(outcome.arms[1].cured.is_empty());
}

#[test]
fn cells_on_the_own_path_are_seen_by_oneself_or_by_someone_heard() {
    let mut scenario = scenario("toy/straight");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1];
    scenario.evaluation.sample_one_in = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    // A bus without a radio hides the road from the car right behind it; the car right ahead of the bus sees it.
    let mut bus = car(network, 1, "AB_0", 120.0, 10.0);
    bus.body.height = 3.2;
    bus.body.width = 2.5;
    let vehicles = vec![
        car(network, 0, "AB_0", 110.0, 10.0),
        bus,
        car(network, 2, "AB_0", 128.0, 10.0),
    ];
    let run = |vehicles: Vec<VehicleState>| {
        let names = ["cam-only", "cpm-etsi", "proposed@0.4", "oracle"];
        let outcome = simulate(
            &prepared,
            &mut still(vehicles),
            &arms(&names),
            1,
            &seconds(2.0, 2.2),
            &mut covey_simulator::Nobody,
        )
        .unwrap();
        outcome
            .arms
            .iter()
            .map(|arm| arm.path_cells)
            .collect::<Vec<_>>()
    };
    let [cam, etsi, proposed, oracle] = run(vehicles.clone())[..] else {
        unreachable!()
    };
    // 60 m of path are 12 cells, or 13 where it begins within one; two vehicles, one evaluation in eleven.
    assert!((24..=26).contains(&cam[1]), "{cam:?}");
    for arm in [etsi, proposed, oracle] {
        assert_eq!(arm[1], cam[1]);
    }
    // The car ahead sees all of its path; the car behind the bus hardly any of its own.
    assert!(cam[0] >= 12 && cam[0] < oracle[0], "{cam:?} {oracle:?}");
    assert!(etsi[0] > cam[0] && etsi[0] <= oracle[0], "{etsi:?}");
    assert!(proposed[0] > cam[0] && proposed[0] <= oracle[0]);
    // Cells under the bus and the cars are seen by nobody.
    assert!(oracle[0] < oracle[1]);
    // On a free road everything is seen.
    let [free, ..] = run(vec![vehicles[2]])[..] else {
        unreachable!()
    };
    assert_eq!(free[0], free[1]);
}
