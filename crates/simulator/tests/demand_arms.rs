//! Choice by demand, its steps, its rivals and its yardstick, as arms of a run.

mod support;

use covey_protocol::demand::BodySizes;
use covey_protocol::demand::associate::Identities;
use covey_simulator::{Outcome, Prepared};
use support::{arms, run, scenario, seconds};

/// The blind junction, half of whose vehicles have a radio, on a channel that carries all that is said.
fn junction() -> Prepared {
    let mut scenario = scenario("toy/blind-junction");
    scenario.penetration = 0.5;
    scenario.traffic.main_density = 30.0;
    scenario.traffic.side_density = 25.0;
    scenario.traffic.warmup_s = 10.0;
    Prepared::new(&scenario).unwrap()
}

const NEW: [&str; 9] = [
    "proposed-lean@0.1",
    "cpm-utility",
    "nearest@0.1",
    "max-age@0.1",
    "cmass@0.1",
    "demand-random@0.1",
    "demand-digest@0.1",
    "demand@0.1",
    "omniscient@0.1",
];

fn load(outcome: &Outcome) -> f64 {
    outcome.load.value().unwrap()
}

fn deficit(outcome: &Outcome) -> f64 {
    outcome.deficit.ratio().unwrap()
}

#[test]
fn every_new_arm_speaks_and_helps() {
    let prepared = junction();
    let mut names = vec!["cam-only", "oracle"];
    names.extend(NEW);
    let outcome = run(&prepared, &arms(&names), 3, &seconds(3.0, 3.0));
    let [cam_only, oracle, new @ ..] = &outcome.arms[..] else {
        panic!("{} arms", outcome.arms.len());
    };
    assert!(deficit(cam_only) > deficit(oracle), "nothing to gain");
    for arm in new {
        assert!(load(arm) > 0.0, "{} is silent", arm.arm);
        assert!(deficit(arm) <= deficit(cam_only), "{}", arm.arm);
        assert!(deficit(arm) >= deficit(oracle), "{}", arm.arm);
    }
    let demand = new.iter().find(|arm| arm.arm == "demand@0.1").unwrap();
    assert!(deficit(demand) < deficit(cam_only));
    assert_eq!(demand.load_digest.value(), Some(0.0), "no digest is needed");
    // The allowance bounds what hosts plan; what contributors really say is a little more or less.
    assert!(load(demand) <= 0.12, "{}", load(demand));
}

#[test]
fn a_new_arm_alone_is_the_same_as_among_others() {
    let prepared = junction();
    let text = |outcome: &Outcome| serde_json::to_string(outcome).unwrap();
    let together = run(&prepared, &arms(&NEW), 4, &seconds(2.0, 1.0));
    for name in ["demand@0.1", "demand-random@0.1", "omniscient@0.1"] {
        let alone = run(&prepared, &arms(&[name]), 4, &seconds(2.0, 1.0));
        let among = together.arms.iter().find(|arm| arm.arm == name).unwrap();
        assert_eq!(text(&alone.arms[0]), text(among));
    }
}

/// The junction with a change to its scenario; deficits and loads of CAM-only and of choice by demand.
fn changed(change: impl Fn(&mut covey_simulator::Scenario)) -> [f64; 3] {
    let mut scenario = junction().scenario.clone();
    change(&mut scenario);
    let prepared = Prepared::new(&scenario).unwrap();
    let arms = arms(&["cam-only", "demand@0.1"]);
    let outcome = run(&prepared, &arms, 3, &seconds(3.0, 3.0));
    let [cam_only, demand] = &outcome.arms[..] else {
        panic!("two arms");
    };
    [deficit(cam_only), deficit(demand), load(demand)]
}

#[test]
fn with_exact_positions_association_is_as_good_as_true_ids() {
    let [_, associated, load] = changed(|_| ());
    let [cam_only, named, load_named] = changed(|s| s.demand.identities = Identities::True);
    assert!(
        (associated - named).abs() < 0.1 * cam_only,
        "{associated} {named} {cam_only}"
    );
    assert!(
        (load - load_named).abs() < 0.2 * load_named,
        "{load} {load_named}"
    );
}

#[test]
fn choice_by_demand_still_helps_where_positions_are_off_and_sizes_unknown() {
    for metres in [0.5, 2.0] {
        let [cam_only, demand, _] = changed(|s| {
            s.errors.position_error_m = metres;
            s.errors.object_error_m = 0.2;
            s.demand.sizes = BodySizes::Nominal;
        });
        assert!(demand < cam_only, "{metres} m: {demand} {cam_only}");
    }
}

#[test]
fn the_rules_of_the_road_are_those_of_the_arm_without_a_number() {
    let text = |outcome: &Outcome| serde_json::to_string(outcome).unwrap();
    let rows = |on_road: bool, odd: bool| {
        let mut scenario = junction().scenario.clone();
        scenario.demand.on_road = on_road;
        if odd {
            let road = &mut scenario.demand.road;
            (road.idle_load, road.idle_gain, road.beacons_within_s) = (0.59, 0.09, 0.01);
            road.counts_said = true;
        }
        let prepared = Prepared::new(&scenario).unwrap();
        let names = ["demand@0.2", "autocast@0.1", "demand"];
        let outcome = run(&prepared, &arms(&names), 3, &seconds(2.0, 2.0));
        let arms = outcome.arms.iter();
        arms.map(|arm| text(arm).replace("demand@0.2", "demand"))
            .collect::<Vec<_>>()
    };
    let plain = rows(false, false);
    let odd = rows(false, true);
    assert_eq!(plain[0], odd[0], "demand@B knows nothing of them");
    assert_eq!(plain[1], odd[1]);
    assert_ne!(plain[2], odd[2], "the arm without a number goes by them");
    assert_ne!(plain[0], plain[2]);
    // The ceiling is 0.2: with the rules in force both are the same.
    let road = rows(true, false);
    assert_eq!(road[0], road[2]);
    assert_eq!(plain[2], road[2], "it needs no key");
}
