//! The fundamental diagram of the built-in traffic on a ring.

mod support;

use covey_traffic::builtin::{Builtin, BuiltinConfig, main_road};
use covey_traffic::fundamental::{Critical, MainRoad, Plan, measure};
use support::ring;

/// Without lights, Krauss's model has its capacity near 1 / (tau + length / speed) per lane.
#[test]
fn a_ring_has_its_capacity_where_the_model_says() {
    let network = ring(1500.0, 1, 13.9);
    let road = MainRoad::new(&network, &main_road(&network, &[]).unwrap());
    assert!((road.lane_km - 1.5).abs() < 0.03);
    let plan = Plan {
        densities: vec![10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0],
        seeds: vec![1],
        seconds: 60.0,
    };
    let diagram = measure(&road, &plan, |density, seed| {
        let config = BuiltinConfig {
            main_density: density,
            heavy_share: 0.0,
            warmup_s: 120.0,
            ..BuiltinConfig::default()
        };
        Builtin::new(&network, &config, seed)
    })
    .unwrap();
    let Critical::Found { density, flow } = diagram.critical else {
        panic!("{}", diagram.table());
    };
    // 7.5 m per vehicle at rest and 1 s of headway make 52 vehicles per km at 11.6 m/s, the speed of the slowest drivers.
    assert!((45.0..60.0).contains(&density), "{}", diagram.table());
    assert!((1700.0..2400.0).contains(&flow), "{}", diagram.table());
    assert!(diagram.table().contains("k_c ="));
}

#[test]
fn a_density_that_does_not_fit_names_itself() {
    let network = ring(500.0, 1, 13.9);
    let road = MainRoad::new(&network, &main_road(&network, &[]).unwrap());
    let plan = Plan {
        densities: vec![140.0],
        ..Plan::default()
    };
    let error = measure(&road, &plan, |density, seed| {
        let config = BuiltinConfig {
            main_density: density,
            ..BuiltinConfig::default()
        };
        Builtin::new(&network, &config, seed)
    })
    .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("at 140 vehicles per km and lane"),
        "{error}"
    );
}
