//! The outcome of an arm depends on scenario, arm and seed, and on nothing else: not on the other arms, on their order, on
//! repetition or on threads.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use covey_simulator::{
    Arm, Arms, Prepared, RunOptions, Scenario, SeedOutcome, Strategy, simulate_together,
};
use support::{arms, crowded_junction, run, seconds, traffic};

/// Everything that a seed says of its arms, timing apart, by arm.
fn text(outcome: &SeedOutcome) -> Vec<String> {
    outcome
        .arms
        .iter()
        .zip(&outcome.cycles)
        .map(|(arm, rows)| {
            format!(
                "{}\n{}\n{}",
                serde_json::to_string(&outcome.shared).unwrap(),
                serde_json::to_string(arm).unwrap(),
                serde_json::to_string(rows).unwrap()
            )
        })
        .collect()
}

fn letter_run(prepared: &Prepared, arms: &[Arm], seed: u64) -> Vec<String> {
    text(&run(prepared, arms, seed, &seconds(1.6, 1.0)))
}

#[test]
fn an_arm_alone_is_the_same_as_among_all() {
    let prepared = crowded_junction();
    let all = Arms::builtin().letter();
    let together = letter_run(&prepared, &all, 7);
    for (arm, among) in all.iter().zip(&together) {
        if arm.allowance.is_some_and(|b| b != 0.4) {
            continue;
        }
        let alone = letter_run(&prepared, &[*arm], 7);
        assert_eq!(
            alone[..],
            *std::slice::from_ref(among),
            "{arm} alone and among all"
        );
    }
    // The test would show nothing if arms did not differ.
    for (at, one) in together.iter().enumerate() {
        for other in &together[at + 1..] {
            assert_ne!(one, other);
        }
    }
}

#[test]
fn the_order_of_arms_does_not_matter_and_runs_repeat() {
    let prepared = crowded_junction();
    let mut all = Arms::builtin().letter();
    let forth = letter_run(&prepared, &all, 8);
    assert_eq!(forth, letter_run(&prepared, &all, 8));
    all.reverse();
    let mut back = letter_run(&prepared, &all, 8);
    back.reverse();
    assert_eq!(forth, back);
    assert_ne!(forth, letter_run(&prepared, &Arms::builtin().letter(), 9));
}

#[test]
fn arms_beyond_sixteen_run_as_the_first_do() {
    let prepared = crowded_junction();
    let few = arms(&[
        "cam-only",
        "cpm-rmr",
        "proposed@0.4",
        "random@0.4",
        "oracle",
    ]);
    let expected = letter_run(&prepared, &few, 5);
    // The same five, two to a group and then three.
    let mut many: Vec<Arm> = (1..=14)
        .map(|at| {
            Arm::at(
                &covey_simulator::arms::random_redraw::ARM,
                f64::from(at) / 20.0,
            )
        })
        .collect();
    many.extend(&few);
    let found = letter_run(&prepared, &many, 5);
    assert_eq!(found.len(), 19);
    assert_eq!(expected, found[14..]);
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let prepared = crowded_junction();
    let chosen = arms(&["cpm-etsi", "proposed@0.4", "oracle"]);
    let seeds: Vec<u64> = (1..=5).collect();
    let with_threads = |threads: usize| {
        let next = AtomicUsize::new(0);
        let results: Vec<std::sync::Mutex<Vec<String>>> =
            seeds.iter().map(|_| Default::default()).collect();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&seed) = seeds.get(at) else { break };
                        *results[at].lock().unwrap() = letter_run(&prepared, &chosen, seed);
                    }
                });
            }
        });
        results
            .into_iter()
            .map(|result| result.into_inner().unwrap())
            .collect::<Vec<_>>()
    };
    let one = with_threads(1);
    assert_eq!(one.len(), 5);
    assert_eq!(one, with_threads(2));
    assert_eq!(one, with_threads(5));
}

#[test]
fn a_run_on_several_threads_is_the_same_run() {
    let prepared = crowded_junction();
    let mut chosen = Arms::builtin().letter();
    chosen.extend(arms(&["demand@0.2", "omniscient@0.2"]));
    let with_threads = |threads| {
        let options = RunOptions {
            threads,
            ..seconds(1.6, 1.0)
        };
        run(&prepared, &chosen, 6, &options)
    };
    let one = with_threads(1);
    assert_eq!(one.helpers_cpu_s, 0.0);
    for threads in [2, 3, 100] {
        let several = with_threads(threads);
        assert_eq!(text(&one), text(&several), "{threads} threads");
        assert!(several.helpers_cpu_s > 0.0);
    }
}

#[test]
fn a_policy_of_ones_own_that_does_as_the_letter_has_the_letters_outcome() {
    use covey_protocol::policy::ConditionalCoverage;
    use covey_simulator::{Nobody, simulate};
    let prepared = crowded_junction();
    let [arm] = arms(&["proposed@0.4"])[..] else {
        unreachable!()
    };
    let mine = Strategy::own("mine", "as the letter", |_| Box::new(ConditionalCoverage));
    let all = Arms::builtin().with(mine).unwrap();
    let mut outcome = simulate(
        &prepared,
        &mut support::traffic(&prepared, 3),
        &[arm, all.parse("mine@0.4").unwrap()],
        3,
        &seconds(1.6, 1.0),
        &mut Nobody,
    )
    .unwrap();
    assert_eq!(outcome.arms[1].arm, "mine@0.4");
    outcome.arms[1].arm = "proposed@0.4".to_string();
    let [letter, own] = &text(&outcome)[..] else {
        unreachable!()
    };
    assert_eq!(letter, own);
}

/// The crowded junction as each of these changes it.
fn changed(changes: &[fn(&mut Scenario)]) -> Vec<Prepared> {
    let plain = crowded_junction();
    let change = |change: &fn(&mut Scenario)| {
        let mut scenario = plain.scenario.clone();
        change(&mut scenario);
        plain.like(&scenario).unwrap()
    };
    changes.iter().map(change).collect()
}

/// Scenarios over one road, each with its own arms, against each alone.
fn assert_together_as_alone(scenarios: &[Prepared], threads: usize) {
    let few = arms(&["proposed@0.4", "demand@0.15"]);
    let more = arms(&["cam-only", "omniscient@0.4", "cpm-rmr", "proposed@0.8"]);
    let both = [&few[..], &more[..]].into_iter().cycle();
    let with_arms: Vec<(&Prepared, &[Arm])> = scenarios.iter().zip(both).collect();
    let options = RunOptions {
        threads,
        ..seconds(1.6, 1.0)
    };
    let mut road = traffic(&scenarios[0], 7);
    let together = simulate_together(&with_arms, &mut road, 7, &options).unwrap();
    assert_eq!(together.len(), scenarios.len());
    let mut different = Vec::new();
    for (number, ((prepared, arms), together)) in with_arms.iter().zip(&together).enumerate() {
        let alone = text(&run(prepared, arms, 7, &seconds(1.6, 1.0)));
        assert_eq!(text(together), alone, "scenario {number}");
        different.push(alone);
    }
    // The test would show nothing if scenarios did not differ.
    different.sort();
    different.dedup();
    assert_eq!(different.len(), scenarios.len());
}

#[test]
fn scenarios_over_one_road_are_the_same_as_alone() {
    let scenarios = changed(&[
        |_| {},
        |_| {},
        |s| s.evaluation.margin_m = 3.0,
        |s| {
            s.conduct.misbehaving = 0.3;
            s.conduct.misbehaviour = covey_simulator::conduct::Misbehaviour::Elsewhere;
        },
        |s| s.sizes = covey_simulator::readings::SizeModel::Uper,
        |s| s.protocol.beacons = covey_protocol::beacons::BeaconRule::Triggered,
        |s| s.protocol.target = 0.5,
        |s| s.protocol.reaction_s = 0.5,
        |s| s.channel.hard_cap = false,
        |s| s.senders.phase = covey_simulator::readings::SenderPhase::Common,
    ]);
    assert_together_as_alone(&scenarios, 1);
}

#[test]
fn imperfect_sensors_and_threads_do_not_part_scenarios() {
    let imperfect = |s: &mut Scenario| {
        s.errors.position_error_m = 1.0;
        s.sensing.missed = 0.1;
        s.sensing.ghosts_per_s = 0.5;
        s.sensing.latency_s = 0.1;
        s.sensing.position_error_m = 0.5;
    };
    let plain = crowded_junction();
    let mut scenarios = Vec::new();
    for margin_m in [7.0, 3.0, 5.0] {
        let mut scenario = plain.scenario.clone();
        imperfect(&mut scenario);
        scenario.evaluation.margin_m = margin_m;
        scenarios.push(plain.like(&scenario).unwrap());
    }
    assert_together_as_alone(&scenarios, 2);
}

#[test]
fn pools_of_slots_share_a_road() {
    let plain = crowded_junction();
    let mut scenarios = Vec::new();
    for keep in [0.0, 0.4, 0.8] {
        let mut scenario = plain.scenario.clone();
        scenario.channel.model = covey_radio::ChannelModel::Sps;
        scenario.channel.sidelink.keep_probability = keep;
        scenarios.push(plain.like(&scenario).unwrap());
    }
    assert_together_as_alone(&scenarios, 1);
}

#[test]
fn scenarios_of_several_roads_are_refused() {
    let scenarios = changed(&[|_| {}, |s| s.penetration = 0.3]);
    let arms = arms(&["cam-only"]);
    let both: Vec<(&Prepared, &[Arm])> = scenarios.iter().map(|s| (s, &arms[..])).collect();
    let mut road = traffic(&scenarios[0], 7);
    let error = simulate_together(&both, &mut road, 7, &seconds(1.6, 1.0)).unwrap_err();
    assert!(error.to_string().contains("found several roads"), "{error}");
}
