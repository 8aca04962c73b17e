//! Stations beside the road, and sensors by class: at the blind junction of `toys.rs`. 0 comes from the south between two buildings and
//! does not see 1, which comes from the west and has no radio.

mod support;

use std::collections::BTreeSet;

use covey_protocol::parameters::ReportContent;
use covey_simulator::events::{HostView, Miss};
use covey_simulator::stations::Station;
use covey_simulator::{CycleRow, Observer, Prepared, Scenario, SeedOutcome, simulate};
use covey_world::scene::BodyKind;
use covey_world::{Point, VehicleState};
use support::{arms, car, empty_channel, scenario, seconds, still};

const ARMS: [&str; 3] = ["cam-only", "proposed@0.4", "demand@0.15"];

/// Hosts by arm, and what was missed in the last cycle of each.
#[derive(Default)]
struct Notes {
    hosts: BTreeSet<(usize, u64)>,
    objects: BTreeSet<u32>,
    missed: Vec<Vec<(u32, u32)>>,
}

impl Observer for Notes {
    fn decision(&mut self, arm: usize, view: &HostView<'_>) {
        self.hosts.insert((arm, view.host));
    }

    fn cycle(&mut self, arm: usize, _: &[CycleRow], misses: &[Miss]) {
        self.missed.resize_with(ARMS.len(), Vec::new);
        self.missed[arm] = misses.iter().map(|m| (m.vehicle, m.object)).collect();
        self.objects.extend(misses.iter().map(|m| m.object));
    }
}

fn junction(change: impl FnOnce(&mut Scenario)) -> Prepared {
    let mut scenario = scenario("toy/blind-junction");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1];
    // What does not move is told of in every cycle.
    scenario.protocol.report_content = ReportContent::All;
    change(&mut scenario);
    Prepared::new(&scenario).unwrap()
}

fn hidden_pair(prepared: &Prepared) -> Vec<VehicleState> {
    let network = &prepared.map.network;
    vec![
        car(network, 0, "SC_0", 170.0, 8.0),
        car(network, 1, "WC_0", 165.0, 8.0),
    ]
}

fn watch(prepared: &Prepared, vehicles: Vec<VehicleState>) -> (Notes, SeedOutcome) {
    let mut notes = Notes::default();
    let outcome = simulate(
        prepared,
        &mut still(vehicles),
        &arms(&ARMS),
        1,
        &seconds(0.0, 4.0),
        &mut notes,
    )
    .unwrap();
    (notes, outcome)
}

/// On the far corner, where both streets can be seen.
fn corner() -> Station {
    Station {
        name: "corner".to_string(),
        x_m: 7.0,
        y_m: 7.0,
        ..Station::default()
    }
}

/// The number that the first station has among agents.
const STATION: u64 = 1 << 20;

#[test]
fn a_station_at_the_corner_hosts_and_tells_of_the_hidden_car() {
    let plain = junction(|_| {});
    let (notes, alone) = watch(&plain, hidden_pair(&plain));
    assert!(notes.missed.iter().all(|missed| *missed == [(0, 1)]));
    let prepared = junction(|scenario| scenario.stations = vec![corner()]);
    let (notes, outcome) = watch(&prepared, hidden_pair(&prepared));
    // It is nearest to the tile's centre.
    assert!(notes.hosts.contains(&(1, STATION)), "{:?}", notes.hosts);
    assert!(notes.hosts.contains(&(2, STATION)));
    assert_eq!(notes.missed[0], [(0, 1)]);
    for (arm, missed) in ARMS.iter().zip(&notes.missed).skip(1) {
        assert!(missed.is_empty(), "{arm}");
    }
    // It is an object to nobody, and counted apart.
    assert_eq!(notes.objects, BTreeSet::from([1]));
    let relevant = |outcome: &SeedOutcome| outcome.arms[0].deficit.relevant;
    assert_eq!(relevant(&outcome), relevant(&alone));
    assert_eq!(
        (outcome.shared.vehicles, outcome.shared.participants),
        (2, 1)
    );
    assert_eq!(outcome.shared.classes["roadside"], [1, 1]);
    assert_eq!(outcome.shared.speed, alone.shared.speed);
}

#[test]
fn a_station_that_looks_elsewhere_or_has_no_sensors_cures_nothing() {
    for station in [
        Station {
            range_m: Some(0.0),
            ..corner()
        },
        // East and north alone.
        Station {
            sectors_deg: vec![-30.0, 100.0],
            ..corner()
        },
    ] {
        let prepared = junction(|scenario| scenario.stations = vec![station]);
        let (notes, _) = watch(&prepared, hidden_pair(&prepared));
        assert!(notes.hosts.contains(&(1, STATION)));
        assert!(notes.missed.iter().all(|missed| *missed == [(0, 1)]));
    }
}

#[test]
fn sensors_of_a_class_are_those_of_whoever_has_a_radio() {
    // 2 stands in the north and sees 1.
    let everyone = |prepared: &Prepared| {
        let mut vehicles = hidden_pair(prepared);
        vehicles.push(car(&prepared.map.network, 2, "NC_0", 150.0, 0.0));
        vehicles
    };
    let seeing = junction(|_| {});
    let (notes, _) = watch(&seeing, everyone(&seeing));
    assert!(notes.missed[1].is_empty());
    for (key, value) in [("range_m", "0"), ("sectors_deg", "[90, 270]")] {
        let text = format!("map.net = \"a\"\n[classes.car]\n{key} = {value}\n");
        let classes = Scenario::parse("x.toml", &text).unwrap().classes;
        let blind = junction(|scenario| scenario.classes = classes);
        let (notes, _) = watch(&blind, everyone(&blind));
        // Looking back, 2 does not see the junction before it.
        assert!(notes.missed[1].contains(&(0, 1)), "{key}");
    }
}

#[test]
fn whoever_walks_on_the_carriageway_matters_and_who_walks_beside_it_does_not() {
    let prepared = junction(|_| {});
    let network = &prepared.map.network;
    let coming = car(network, 0, "WC_0", 100.0, 10.0);
    let walker = |beside: f64| {
        let ahead = Point::from_heading(coming.heading);
        let mut walker = coming;
        walker.id.0 = 1;
        walker.position = coming.position + ahead * 25.0 + Point::new(-ahead.y, ahead.x) * beside;
        walker.lane = None;
        walker.speed = 1.0;
        walker.body.kind = BodyKind::Pedestrian;
        walker
    };
    let relevant = |beside: f64| {
        let (_, outcome) = watch(&prepared, vec![coming, walker(beside)]);
        outcome.arms[0].deficit.relevant
    };
    assert_eq!(relevant(0.5), 20);
    assert_eq!(relevant(-6.0), 0);
}

#[test]
fn sizes_of_a_class_leave_fronts_where_they_are() {
    let text = "map.net = \"a\"\n[classes.car]\nlength_m = 9.0\nheight_m = 3.0\n";
    let classes = Scenario::parse("x.toml", text).unwrap().classes;
    let prepared = junction(|scenario| scenario.classes = classes);
    #[derive(Default)]
    struct Sizes(Vec<(f64, f64, Point)>);
    impl Observer for Sizes {
        fn step(&mut self, view: &covey_simulator::events::StepView<'_>) {
            let fronts = view.vehicles.iter().map(|v| {
                let front = v.position + Point::from_heading(v.heading) * (v.body.length / 2.0);
                (v.body.length, v.body.height, front)
            });
            self.0 = fronts.collect();
        }
    }
    let vehicles = hidden_pair(&prepared);
    let mut sizes = Sizes::default();
    let mut traffic = still(vehicles.clone());
    simulate(
        &prepared,
        &mut traffic,
        &arms(&["cam-only"]),
        1,
        &seconds(0.0, 0.2),
        &mut sizes,
    )
    .unwrap();
    for ((length, height, front), before) in sizes.0.iter().zip(&vehicles) {
        assert_eq!((*length, *height), (9.0, 3.0));
        let was =
            before.position + Point::from_heading(before.heading) * (before.body.length / 2.0);
        assert!(front.distance(was) < 1e-9);
    }
}
