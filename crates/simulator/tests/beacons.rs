//! Beacons as cars on sale send them, and what signing adds.

mod support;

use covey_protocol::beacons::BeaconRule;
use covey_protocol::measured::{Maker, MeasuredBeacons, RoadType};
use covey_protocol::security::Security;
use covey_simulator::{Prepared, Scenario, SeedOutcome};
use support::{arms, car, run, scenario, seconds, still};

/// Forty cars in a row that stay where they are for a while, and say that they go at such a speed; what they send.
fn row(speed: f64, change: impl Fn(&mut Scenario)) -> SeedOutcome {
    let mut scenario = scenario("toy/straight");
    scenario.penetration = 1.0;
    change(&mut scenario);
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    let lane = network.lanes.iter();
    let lane = lane.max_by(|a, b| a.length.total_cmp(&b.length)).unwrap();
    let room = lane.length / 41.0;
    let cars: Vec<_> = (0..40)
        .map(|id| car(network, id, &lane.name, room * f64::from(id + 1), speed))
        .collect();
    let mut traffic = still(cars);
    let options = seconds(10.0, 100.0);
    let arms = arms(&["cam-only"]);
    let nobody = &mut covey_simulator::Nobody;
    covey_simulator::simulate(&prepared, &mut traffic, &arms, 3, &options, nobody).unwrap()
}

#[test]
fn measured_beacons_come_as_often_and_as_large_as_measured() {
    for (maker, road, bytes) in [
        (Maker::Volkswagen, RoadType::Urban, 337.0),
        (Maker::Renault, RoadType::Highway, 416.0),
    ] {
        let outcome = row(8.0, |s| {
            s.protocol.beacons = BeaconRule::Measured;
            s.protocol.beacon_maker = maker;
            s.protocol.beacon_road = road;
            // It is in the sizes already.
            s.protocol.security = Security::Signed;
        });
        let beacons = &outcome.arms[0].traffic[0];
        let interval = 4_000.0 / beacons.messages as f64;
        let expected = MeasuredBeacons { maker, road }.mean_interval_s();
        assert!(
            (interval / expected - 1.0).abs() < 0.03,
            "{interval} {expected}"
        );
        let mean = beacons.bytes as f64 / beacons.messages as f64;
        assert!((mean / bytes - 1.0).abs() < 0.02, "{mean} {bytes}");
    }
}

#[test]
fn whoever_stands_sends_a_measured_beacon_once_a_second() {
    let outcome = row(0.0, |s| s.protocol.beacons = BeaconRule::Measured);
    let beacons = &outcome.arms[0].traffic[0];
    assert_eq!(beacons.messages, 40 * 100);
    // All beacons of Volkswagen cars in town that came after a second were so large.
    assert_eq!(beacons.bytes, beacons.messages * 455);
}

#[test]
fn signed_beacons_carry_a_certificate_once_a_second() {
    let [plain, signed] = [Security::None, Security::Signed].map(|security| {
        let outcome = row(0.0, |s| s.protocol.security = security);
        outcome.arms[0].traffic[0]
    });
    assert_eq!(plain.messages, signed.messages);
    let more = (signed.bytes - plain.bytes) as f64 / plain.messages as f64;
    // Nine of ten have a digest.
    assert!((more - (0.9 * 93.0 + 0.1 * 232.0)).abs() < 0.5, "{more}");
}

#[test]
fn reports_and_broadcasts_are_signed_too_and_hosts_know() {
    let [plain, signed] = [Security::None, Security::Signed].map(|security| {
        let mut scenario = scenario("toy/blind-junction");
        scenario.protocol.security = security;
        let prepared = Prepared::new(&scenario).unwrap();
        let arms = arms(&["cpm-etsi", "proposed@0.4"]);
        run(&prepared, &arms, 3, &seconds(5.0, 10.0))
    });
    for (plain, signed) in plain.arms.iter().zip(&signed.arms) {
        for (class, least) in [(1, 93.0), (2, 60.0)] {
            let mean = |outcome: &covey_simulator::Outcome| {
                let traffic = &outcome.traffic[class];
                traffic.bytes as f64 / traffic.messages.max(1) as f64
            };
            let more = mean(signed) - mean(plain);
            assert!(
                signed.traffic[class].messages == 0 || more > least - 40.0,
                "{} {class}: {more}",
                plain.arm
            );
        }
    }
}
