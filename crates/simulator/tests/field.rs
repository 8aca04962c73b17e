//! The metrics of the field: awareness, ages, redundancy, busy ratio and near-conflicts.

mod support;

use covey_simulator::{Outcome, Prepared, SeedOutcome};
use support::{arms, car, empty_channel, run, scenario, seconds, still};

const ARMS: [&str; 4] = ["cam-only", "oracle", "cpm-etsi", "proposed@0.4"];

fn at_the_junction() -> SeedOutcome {
    let mut scenario = scenario("toy/blind-junction");
    scenario.evaluation.sample_one_in = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    run(&prepared, &arms(&ARMS), 3, &seconds(5.0, 15.0))
}

fn ratio([part, all]: [u64; 2]) -> f64 {
    part as f64 / all as f64
}

#[test]
fn whoever_is_told_more_knows_more() {
    let outcome = at_the_junction();
    let arm = |name: &str| outcome.arms.iter().find(|arm| arm.arm == name).unwrap();
    let aware = |name: &str, at: usize| ratio(arm(name).field.aware[at]);
    for arm in &outcome.arms {
        let field = &arm.field;
        // Within more there are more, and the same in all arms.
        let all = field.aware.map(|[_, all]| all);
        assert!(all.is_sorted() && all[0] > 0, "{all:?}");
        assert_eq!(all, outcome.arms[0].field.aware.map(|[_, all]| all));
        let known = |[known, all]: [u64; 2]| known <= all;
        assert!(field.aware.iter().copied().all(known));
        // Ages are of those known within 150 m.
        assert_eq!(field.ages.iter().sum::<u64>(), arm.aware[0], "{}", arm.arm);
        let taken = field.taken.value().unwrap();
        assert!((0.0..=1.0).contains(&taken), "{taken}");
        assert!(taken <= arm.busy.value().unwrap() + 1e-9);
        assert_eq!(field.near[1], outcome.arms[0].field.near[1]);
        assert!(field.near[0] <= field.near[1]);
        assert!(arm.field.near[0] >= outcome.arms[1].field.near[0]);
    }
    for at in 0..3 {
        assert!(aware("cpm-etsi", at) >= aware("cam-only", at));
        for name in ARMS {
            assert!(aware("oracle", at) >= aware(name, at), "{name} {at}");
        }
    }
    let again = |outcome: &Outcome| outcome.field.redundancy.value().unwrap();
    assert!(again(arm("cpm-etsi")) > again(arm("cam-only")));
}

#[test]
fn ten_beacons_a_second_are_nine_too_many() {
    let mut scenario = scenario("toy/straight");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.evaluation.sample_one_in = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    let lane = network.lanes.iter();
    let lane = lane.max_by(|a, b| a.length.total_cmp(&b.length)).unwrap();
    let cars = vec![
        car(network, 0, &lane.name, 30.0, 0.0),
        car(network, 1, &lane.name, 60.0, 0.0),
    ];
    let arms = arms(&["cam-only"]);
    let options = seconds(2.0, 10.0);
    let nobody = &mut covey_simulator::Nobody;
    let mut traffic = still(cars);
    let outcome =
        covey_simulator::simulate(&prepared, &mut traffic, &arms, 3, &options, nobody).unwrap();
    let field = &outcome.arms[0].field;
    assert_eq!(field.redundancy.value(), Some(9.0));
    assert_eq!(field.aware.map(ratio), [1.0; 3]);
    // They stand: nobody is about to collide.
    assert_eq!(field.near, [0, 0]);
}
