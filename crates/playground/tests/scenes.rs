//! Scenes whose outcome anybody can foresee.

use covey_playground::{Building, Scene, Vehicle, answer, play};

fn car(id: u32, x: f64, y: f64, radio: bool) -> Vehicle {
    Vehicle {
        id,
        x,
        y,
        speed: 8.0,
        heavy: false,
        radio,
        dies: false,
    }
}

fn scene(vehicles: Vec<Vehicle>, arms: &[&str]) -> Scene {
    Scene {
        vehicles,
        buildings: vec![
            Building {
                x: -60.0,
                y: -60.0,
                w: 54.0,
                h: 54.0,
            },
            Building {
                x: 6.0,
                y: -60.0,
                w: 54.0,
                h: 54.0,
            },
        ],
        arms: arms.iter().map(|arm| (*arm).to_string()).collect(),
        seed: 1,
        target: 0.3,
        capacity_bytes_per_s: 242_000.0,
        price_step: 0.5,
        seconds: 2.0,
        dead_s: 1.0,
    }
}

#[test]
fn a_witness_cures_a_blind_corner() {
    // One from the south behind a building, one without radio from the west, and one that sees both from the north.
    let blind = vec![car(1, -1.5, -25.0, true), car(2, -30.0, 1.5, false)];
    let alone = play(&scene(blind.clone(), &["cam-only", "demand@0.2"])).unwrap();
    let missed = |at: usize| alone.arms[at].missed.len();
    assert!(missed(0) >= 1 && missed(1) >= 1, "{alone:?}");
    assert!(alone.arms[1].missed[0].seen_by.is_empty(), "{alone:?}");
    let mut helped = blind;
    helped.push(car(3, 1.5, 30.0, true));
    let helped = play(&scene(helped, &["cam-only", "demand@0.2"])).unwrap();
    let pair = |m: &covey_playground::Missed| (m.vehicle, m.object) == (1, 2);
    let before = helped.arms[0].missed.iter().find(|m| pair(m)).unwrap();
    assert_eq!(before.seen_by, [3], "{helped:?}");
    assert!(!helped.arms[1].missed.iter().any(pair), "{helped:?}");
    assert!(!helped.arms[1].hosts.is_empty(), "{helped:?}");
}

#[test]
fn what_is_no_scene_is_explained() {
    for (text, says) in [
        ("{", "scene: "),
        ("{\"vehicles\":[],\"arms\":[\"nobody\"]}", "arms: "),
        (
            "{\"vehicles\":[{\"id\":1,\"x\":9999,\"y\":0,\"speed\":1}],\"arms\":[]}",
            "vehicle 1: ",
        ),
        ("{\"vehicles\":[],\"arms\":[],\"prize\":1}", "prize"),
    ] {
        let said = answer(text);
        assert!(said.contains(says), "{text}: {said}");
    }
}
