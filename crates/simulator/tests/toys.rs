//! Worlds small enough to check by hand.
//!
//! The blind junction: 0 comes from the south between two buildings, at 8 m/s, and does not see 1, which comes from the west
//! at 8 m/s and has no radio. 2 stands in the north and sees 1; so does 3, right behind 2. 4 follows 0 at 10 m/s and sees
//! nothing that 0 does not see. The vehicles stay where they are, whatever they say of their speed, so that every cycle is
//! the same. 0 is the nearest to the tile's centre and becomes its host.

mod support;

use std::collections::BTreeSet;

use covey_protocol::AgentId;
use covey_protocol::admission::Action;
use covey_protocol::parameters::ReportContent;
use covey_simulator::events::{HostView, Miss};
use covey_simulator::{
    Arm, Arms, CycleRow, Nobody, Observer, Prepared, SeedOutcome, Strategy, simulate,
};
use covey_world::{Point, VehicleState};
use support::{Script, arms, car, empty_channel, scenario, seconds, still};

/// The junction where contributors report all that they see in every cycle.
fn junction() -> Prepared {
    junction_with(ReportContent::All)
}

fn junction_with(report_content: ReportContent) -> Prepared {
    let mut scenario = scenario("toy/blind-junction");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1];
    scenario.protocol.report_content = report_content;
    Prepared::new(&scenario).unwrap()
}

fn everyone(prepared: &Prepared) -> Vec<VehicleState> {
    let network = &prepared.map.network;
    vec![
        car(network, 0, "SC_0", 170.0, 8.0),
        car(network, 1, "WC_0", 165.0, 8.0),
        car(network, 2, "NC_0", 150.0, 0.0),
        car(network, 3, "NC_0", 138.0, 0.0),
        car(network, 4, "SC_0", 158.0, 10.0),
    ]
}

fn only(prepared: &Prepared, ids: &[u32]) -> Vec<VehicleState> {
    let mut vehicles = everyone(prepared);
    vehicles.retain(|vehicle| ids.contains(&vehicle.id.0));
    vehicles
}

/// What hosts of the second arm did, and what vehicles missed in each arm.
#[derive(Default)]
struct Notes {
    hosts: BTreeSet<u64>,
    admitted: Vec<u64>,
    removed: Vec<u64>,
    contributors: Vec<AgentId>,
    missed: Vec<BTreeSet<(u32, u32)>>,
}

impl Observer for Notes {
    fn decision(&mut self, arm: usize, view: &HostView<'_>) {
        assert_eq!(arm, 1);
        self.hosts.insert(view.host);
        for change in &view.decision.changes {
            match change.action {
                Action::Admit => self.admitted.push(change.id.0),
                Action::Remove => self.removed.push(change.id.0),
            }
        }
        self.contributors = view.contributors.to_vec();
    }

    fn cycle(&mut self, arm: usize, _: &[CycleRow], misses: &[Miss]) {
        self.missed.resize_with(3, BTreeSet::new);
        self.missed[arm].extend(misses.iter().map(|miss| (miss.vehicle, miss.object)));
    }
}

/// Four seconds of `cam-only`, `proposed@0.4` and `oracle`, from the beginning.
fn watch(prepared: &Prepared, vehicles: Vec<VehicleState>) -> (Notes, SeedOutcome) {
    let mut notes = Notes::default();
    let outcome = simulate(
        prepared,
        &mut still(vehicles),
        &arms(&["cam-only", "proposed@0.4", "oracle"]),
        1,
        &seconds(0.0, 4.0),
        &mut notes,
    )
    .unwrap();
    (notes, outcome)
}

fn missed_by_cycle(outcome: &SeedOutcome, arm: usize) -> Vec<u64> {
    let cycles = outcome.arms[arm].by_cycle.iter();
    cycles.map(|cycle| cycle.missed).collect()
}

#[test]
fn the_only_one_who_sees_the_hidden_car_is_admitted_and_the_deficit_goes_to_zero() {
    let prepared = junction();
    let (notes, outcome) = watch(&prepared, only(&prepared, &[0, 1, 2]));
    assert_eq!(notes.hosts, BTreeSet::from([0]));
    assert_eq!(
        (&notes.admitted[..], &notes.removed[..]),
        (&[2][..], &[][..])
    );
    // Without cooperation the hidden car is missed in each of 20 cycles; the oracle never misses it.
    assert_eq!(missed_by_cycle(&outcome, 0), [1; 20]);
    assert_eq!(missed_by_cycle(&outcome, 2), [0; 20]);
    assert_eq!(notes.missed[0], BTreeSet::from([(0, 1)]));
    // A host takes office after one second of listening, admits, and hears the first report a cycle later.
    let proposed = missed_by_cycle(&outcome, 1);
    let cured = proposed.iter().position(|&missed| missed == 0).unwrap();
    assert!((5..=8).contains(&cured), "{proposed:?}");
    assert_eq!(proposed[cured..], vec![0; 20 - cured]);
    let unequipped_unknown = outcome.arms[1].misses.unequipped_unknown;
    assert_eq!(unequipped_unknown, cured as u64);
    assert_eq!(outcome.arms[1].misses.behind_building, cured as u64);
    assert_eq!(outcome.arms[1].misses.seen_by_nobody, 0);
}

#[test]
fn ordinary_reports_tell_of_what_does_not_change_once_a_second() {
    let prepared = junction_with(ReportContent::Included);
    let (notes, outcome) = watch(&prepared, only(&prepared, &[0, 1, 2]));
    assert_eq!(notes.admitted, [2]);
    let proposed = &outcome.arms[1];
    let missed = missed_by_cycle(&outcome, 1);
    // The hidden car, which the script does not move, must be known within 0.64 s: after each report with it there are four
    // cycles in which it is, the host's broadcast of it being as old as the report, and one or two in which it is not.
    let cured = missed.iter().position(|&missed| missed == 0).unwrap();
    assert!((5..=8).contains(&cured), "{missed:?}");
    let after = &missed[cured..];
    assert!(
        (1..=after.len() as u64 / 2).contains(&after.iter().sum()),
        "{missed:?}"
    );
    // A report every cycle nonetheless: 156 B, and 35 B for each of the two others once a second.
    let reports = &proposed.traffic[1];
    let without = reports.messages * (121 + 35);
    let objects = (reports.bytes - without) / 35;
    assert_eq!(reports.bytes, without + 35 * objects);
    assert_eq!(objects, 2 * reports.messages.div_ceil(5), "{reports:?}");
}

#[test]
fn redundant_neighbours_are_not_admitted() {
    let prepared = junction();
    let (notes, outcome) = watch(&prepared, everyone(&prepared));
    // One of the two who see the hidden car reports; the other is never asked, nor is anyone else.
    assert_eq!(notes.admitted.len(), 1, "{:?}", notes.admitted);
    assert!([2, 3].contains(&notes.admitted[0]), "{:?}", notes.admitted);
    assert!(notes.removed.is_empty());
    assert_eq!(notes.contributors, [AgentId(notes.admitted[0])]);
    assert_eq!(missed_by_cycle(&outcome, 1)[8..], [0; 12]);
}

#[test]
fn who_is_in_danger_is_not_for_that_reason_worth_hearing() {
    let prepared = junction();
    let (notes, outcome) = watch(&prepared, only(&prepared, &[0, 1, 2, 4]));
    // 4 is in danger: alone it misses the hidden car. Its view is redundant, and it is refused.
    assert!(notes.missed[0].contains(&(4, 1)));
    assert!(!notes.admitted.contains(&4));
    // 2 is at no risk: nothing is relevant to it. Its view is the only one, and it is admitted.
    let (_, safe) = watch(&prepared, only(&prepared, &[1, 2]));
    assert_eq!(safe.arms[0].deficit.relevant, 0);
    assert_eq!(notes.admitted, [2]);
    assert_eq!(missed_by_cycle(&outcome, 1)[8..], [0; 12]);
}

#[test]
fn bytes_of_two_cars_add_up() {
    let mut scenario = scenario("toy/straight");
    empty_channel(&mut scenario);
    scenario.protocol.capacity_bytes_per_s = 242_000.0;
    scenario.penetration = 1.0;
    scenario.evaluation.sample_one_in = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    let both = vec![
        car(network, 0, "AB_0", 260.0, 0.0),
        car(network, 1, "AB_0", 280.0, 0.0),
    ];
    let outcome = simulate(
        &prepared,
        &mut still(both),
        &arms(&["cam-only", "cpm-etsi", "proposed@0.4"]),
        1,
        &seconds(2.0, 1.0),
        &mut Nobody,
    )
    .unwrap();
    let [cam, etsi, proposed] = &outcome.arms[..] else {
        unreachable!()
    };
    // Two cars, 10 beacons each, 121 B; one receiver in range of each.
    for arm in &outcome.arms {
        assert_eq!((arm.traffic[0].messages, arm.traffic[0].in_range), (20, 20));
    }
    assert_eq!(cam.traffic[0].bytes, 2_420);
    assert_eq!(cam.traffic[1].messages + cam.traffic[2].messages, 0);
    // 484 B a cycle of 242,000 B/s x 0.2 s: 1 %.
    let near = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    };
    near(cam.beacon_load.value(), 0.01);
    near(cam.busy.value(), 0.01);
    near(cam.load.value(), 0.0);
    // Five cycles, in a tile with two participants.
    assert_eq!((cam.busy.count, cam.load_by_tile.count), (10, 5));

    // Standing cars are included once a second, 121 B + 35 B; sensor information goes along once a second, 35 B more, or in
    // a message of its own in another interval.
    let bytes: u64 = [0, 1]
        .map(|id| {
            let together = (AgentId(id).mixed() >> 8).is_multiple_of(10);
            if together {
                121 + 35 + 35
            } else {
                121 + 35 + 121 + 35
            }
        })
        .iter()
        .sum();
    assert_eq!(etsi.traffic[1].bytes, bytes);
    near(etsi.load.value(), bytes as f64 / 5.0 / 48_400.0);
    near(etsi.load_reports.value(), bytes as f64 / 5.0 / 48_400.0);
    near(etsi.beacon_load.value(), 0.01);

    // One host, the car behind. It does not see the road right before the other and admits it: 5 reports with sensor
    // information, one of them with the host as their object. Of 5 broadcasts, each with one contributor of 4 B, one a second lists the
    // other car, and silence tells of it in between.
    let (reports, broadcasts) = (5 * (121 + 35) + 35, 5 * (121 + 4) + 35);
    let messages = proposed.traffic.map(|class| class.messages);
    assert_eq!(messages, [20, 5, 5]);
    assert_eq!(proposed.traffic[1].bytes, reports);
    assert_eq!(proposed.traffic[2].bytes, broadcasts);
    near(
        proposed.load_reports.value(),
        reports as f64 / 5.0 / 48_400.0,
    );
    near(
        proposed.load_broadcast.value(),
        broadcasts as f64 / 5.0 / 48_400.0,
    );
    let digests = proposed.digest_bytes.sum;
    assert_eq!(proposed.digest_bytes.count, 20);
    assert_eq!(proposed.traffic[0].bytes as f64, 2_420.0 + digests);
    near(proposed.load_digest.value(), digests / 5.0 / 48_400.0);
    near(
        proposed.busy.value(),
        0.01 + ((reports + broadcasts) as f64 + digests) / 5.0 / 48_400.0,
    );
    // Nothing is lost, so in one second two participants receive 20 beacons, and one object each of one report and of one
    // broadcast.
    near(cam.redundancy.value(), 20.0 / 2.0);
    near(proposed.redundancy.value(), 22.0 / 2.0);
}

/// Someone leaves between two sensings and a newcomer appears elsewhere in the same step. With a ghost that leaves then
/// too, the newcomer gets the ghost's place; without, that of who left. Nobody can tell the difference.
#[test]
fn whose_place_a_newcomer_gets_does_not_matter() {
    let mut scenario = scenario("toy/straight");
    scenario.penetration = 1.0;
    scenario.unequipped = vec![0, 4];
    scenario.evaluation.sample_one_in = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    let change = 31;
    let frames = |ghost: bool, step: u32| {
        let mut vehicles = Vec::new();
        if ghost && step < change {
            let mut far = car(network, 0, "AB_0", 100.0, 0.0);
            far.position = Point::new(5_000.0, 5_000.0);
            far.lane = None;
            far.next = None;
            vehicles.push(far);
        }
        for (id, position) in [(1, 100.0), (2, 140.0), (3, 170.0), (4, 200.0), (5, 240.0)] {
            if id != 3 || step < change {
                vehicles.push(car(network, id, "AB_0", position, 5.0));
            }
        }
        if step >= change {
            vehicles.push(car(network, 6, "BA_0", 300.0, 5.0));
        }
        debug_assert!(vehicles.is_sorted_by_key(|v| v.id));
        vehicles
    };
    let run = |ghost: bool| {
        let mut traffic = Script::new(|step| Some(frames(ghost, step)));
        let mut outcome = simulate(
            &prepared,
            &mut traffic,
            &Arms::builtin().letter(),
            1,
            &seconds(1.0, 3.0),
            &mut Nobody,
        )
        .unwrap();
        assert_eq!(outcome.shared.vehicles, if ghost { 7 } else { 6 });
        assert_eq!(outcome.shared.participants, 5);
        outcome.shared = Default::default();
        serde_json::to_string(&(&outcome.arms, &outcome.cycles)).unwrap()
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn a_window_that_makes_no_sense_is_explained() {
    let prepared = junction();
    let error = |warmup, measure, steps: u32| {
        let vehicles = only(&prepared, &[0]);
        let mut traffic = Script::new(|step| (step < steps).then(|| vehicles.clone()));
        let options = seconds(warmup, measure);
        simulate(
            &prepared,
            &mut traffic,
            &arms(&["cam-only"]),
            1,
            &options,
            &mut Nobody,
        )
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        error(0.0, 0.0, 100),
        "measure: found 0, expected whole cycles of 0.2 s, at least 0.2, at most 100000 s"
    );
    assert_eq!(
        error(0.3, 1.0, 100),
        "warmup: found 0.3, expected whole cycles of 0.2 s, at least 0, at most 100000 s"
    );
    for senseless in [f64::NAN, f64::INFINITY, -1.0, 1e9] {
        assert!(error(1.0, senseless, 100).starts_with("measure: found"));
    }
    assert_eq!(
        error(0.2, 1.0, 10),
        "traffic: it ends after 0.50 s, expected 1.20 s (warm-up and measurement); shorten them or record more"
    );
    let greedy = Strategy::own("greedy", "wants all", |_| {
        Box::new(covey_protocol::policy::ConditionalCoverage)
    });
    let arms = Arms::builtin().with(greedy).unwrap();
    let own = Arm::at(arms.get("greedy").unwrap(), 1.5);
    let error = simulate(
        &prepared,
        &mut still(Vec::new()),
        &[own],
        1,
        &seconds(0.0, 1.0),
        &mut Nobody,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "allowance: found 1.5, expected above 0 and at most 1 (arm `greedy@1.5`)"
    );
}

#[test]
fn nobody_on_the_road_and_nobody_with_a_radio_are_runs_too() {
    let prepared = junction();
    for vehicles in [Vec::new(), only(&prepared, &[1])] {
        let outcome = simulate(
            &prepared,
            &mut still(vehicles),
            &Arms::builtin().letter(),
            1,
            &seconds(0.0, 1.0),
            &mut Nobody,
        )
        .unwrap();
        for arm in &outcome.arms {
            assert_eq!(arm.deficit.relevant, 0);
            assert_eq!(arm.traffic.map(|class| class.messages), [0; 3]);
        }
    }
}

#[test]
fn toy_scenarios_run_with_their_own_traffic() {
    for name in ["blind-junction", "bus", "straight"] {
        let scenario = scenario(&format!("toy/{name}"));
        assert_eq!(scenario.name, name);
        let prepared = Prepared::new(&scenario).unwrap();
        let outcome = support::run(&prepared, &arms(&["cam-only"]), 1, &seconds(0.2, 0.2));
        assert!(outcome.shared.vehicles >= 8, "{name}");
    }
}
