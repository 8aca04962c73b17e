//! Closed populations, run with the real SUMO.

mod common;
#[path = "common/sumo_net.rs"]
mod sumo_net;

use common::folder;
use covey_traffic::sumo::{ClosedPopulation, RunOptions, record_closed, record_closed_cached};
use covey_world::scene::BodyKind;
use covey_world::xml::Limits;
use covey_world::{Frame, Network, VehicleState};
use std::fs;
use sumo_net::{crossing, run, sumo};

/// Little traffic for a short time.
fn short(seed: u64) -> (ClosedPopulation, RunOptions) {
    let population = ClosedPopulation {
        main_density: 30.0,
        side_density: 10.0,
        main_edges: vec!["w".into(), "cw".into(), "e".into(), "ce".into()],
        heavy_share: 0.25,
        warmup_s: 60.0,
        ..ClosedPopulation::default()
    };
    let options = RunOptions {
        seed,
        duration_s: 5.0,
        look_ahead_s: 2.0,
        ..RunOptions::default()
    };
    (population, options)
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one run of SUMO, which takes long, and all that holds of it"
)]
fn the_population_is_exact_at_all_times() {
    let folder = folder("closed_exact");
    let sumo = sumo();
    crossing(&sumo, &folder, "net.net.xml.gz");
    let net = folder.join("net.net.xml.gz");
    let (network, _) = Network::read(&net, Limits::default()).unwrap();
    let (population, options) = short(1);
    let recording = record_closed(&sumo, &net, &network, &population, &options).unwrap();
    let metres = |main: bool| -> f64 {
        let lanes = network.lanes.iter().filter(|lane| lane.drivable);
        lanes
            .filter(|lane| {
                let edge = &network.edges[lane.edge.index()].name;
                !edge.starts_with(':')
                    && population
                        .main_edges
                        .iter()
                        .any(|m| edge.starts_with(m.as_str()))
                        == main
            })
            .map(|lane| lane.length)
            .sum()
    };
    let on_main = (metres(true) * 0.030).round() as usize;
    let expected = on_main + (metres(false) * 0.010).round() as usize;
    assert!(expected > 40, "{expected}");
    assert_eq!(recording.steps(), 100);
    assert_eq!(recording.vehicles(), expected);
    assert!(recording.is_closed_population());
    assert!(
        recording
            .origin
            .contains(&format!("closed population of {expected} ({on_main} on"))
    );

    let mut frame = Frame::default();
    let mut moved = 0.0;
    let mut unknown = 0;
    for step in 0..recording.steps() {
        let before = std::mem::take(&mut frame.vehicles);
        recording.frame_into(step, &mut frame);
        for (a, b) in before.iter().zip(&frame.vehicles) {
            let way = a.position.distance(b.position);
            assert!(way < 2.0, "nobody jumps: {way} m from step to step");
            moved += way;
        }
        let overlapping = |a: &VehicleState, b: &VehicleState| {
            a.lane.is_some()
                && a.lane == b.lane
                && (a.lane_position - b.lane_position).abs()
                    < 0.9
                        * if a.lane_position > b.lane_position {
                            a.body.length
                        } else {
                            b.body.length
                        }
        };
        for (i, a) in frame.vehicles.iter().enumerate() {
            // Not known are those alone who have yet to change to a lane that leads where they go.
            unknown += usize::from(a.next.is_none());
            assert!(
                !frame.vehicles[..i].iter().any(|b| overlapping(a, b)),
                "step {step}"
            );
        }
    }
    assert!(moved > 100.0, "{moved}");
    assert!(unknown * 10 < recording.entries(), "{unknown}");
    let heavy = frame
        .vehicles
        .iter()
        .filter(|v| v.body.kind == BodyKind::Heavy)
        .count();
    let share = heavy as f64 / expected as f64;
    assert!((0.05..0.5).contains(&share), "{share}");
    assert!(
        frame
            .vehicles
            .iter()
            .any(|v| v.body.length == 13.0 && v.body.height == 3.0)
    );

    // The same inputs give the same traffic, also from the cache; another seed gives another.
    let kept = folder.join("kept");
    for _ in 0..2 {
        let again = record_closed_cached(&sumo, &net, &network, &population, &options, &kept);
        assert_eq!(again.unwrap(), recording);
    }
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 1);
    let (_, other) = short(2);
    let other = record_closed(&sumo, &net, &network, &population, &other).unwrap();
    assert_eq!(other.vehicles(), expected);
    assert_ne!(other.frame(99), recording.frame(99));
}

#[test]
fn what_cannot_be_is_said() {
    let folder = folder("closed_wrong");
    let sumo = sumo();
    crossing(&sumo, &folder, "net.net.xml");
    let net = folder.join("net.net.xml");
    let (network, _) = Network::read(&net, Limits::default()).unwrap();
    let (population, options) = short(1);
    let said = |population: &ClosedPopulation| {
        record_closed(&sumo, &net, &network, population, &options)
            .unwrap_err()
            .to_string()
    };
    let dense = said(&ClosedPopulation {
        main_density: 140.0,
        ..population.clone()
    });
    assert!(
        dense.starts_with("SUMO traffic: ") && dense.contains("on the main road, room for"),
        "{dense}"
    );
    let none = said(&ClosedPopulation {
        main_edges: vec!["x".into()],
        ..population.clone()
    });
    assert!(none.contains("`main_edges` is `x`"), "{none}");
    let nan = said(&ClosedPopulation {
        heavy_share: f64::NAN,
        ..population.clone()
    });
    assert_eq!(nan, "SUMO traffic: `heavy_share` is NaN, expected 0 to 1");

    let plain = [
        "-n",
        "plain.nod.xml",
        "-e",
        "plain.edg.xml",
        "-o",
        "open.net.xml",
    ];
    let arguments = [&plain[..], &["--no-turnarounds", "true"]].concat();
    run(&sumo, "netconvert", &folder, &arguments);
    let net = folder.join("open.net.xml");
    let (network, _) = Network::read(&net, Limits::default()).unwrap();
    let open = record_closed(&sumo, &net, &network, &population, &options)
        .unwrap_err()
        .to_string();
    assert!(
        open.contains("no road of the net leads on for ever"),
        "{open}"
    );
}
