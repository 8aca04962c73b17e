//! The channel slot by slot in a run: messages take their time, arms stay apart, and threads do not matter.

mod support;

use covey_protocol::Instant;
use covey_protocol::messages::Message;
use covey_radio::{ChannelModel, CongestionControl, PoolChoice, PoolPreset, Reservation};
use covey_simulator::{
    Arms, Nobody, Observer, Prepared, RunOptions, Scenario, SeedOutcome, simulate,
};
use support::{Script, arms, car, crowded_junction, run, scenario, seconds, traffic};

fn scheduled(change: impl FnOnce(&mut Scenario)) -> Prepared {
    let mut scenario = crowded_junction().scenario;
    scenario.channel.model = ChannelModel::Sps;
    change(&mut scenario);
    Prepared::new(&scenario).unwrap()
}

fn text(outcome: &SeedOutcome) -> String {
    serde_json::to_string(&(&outcome.arms, &outcome.cycles)).unwrap()
}

#[test]
fn any_number_of_threads_and_any_order_of_arms_give_the_same() {
    let prepared = scheduled(|_| {});
    let mut chosen = Arms::builtin().letter();
    chosen.extend(arms(&["demand@0.2", "omniscient@0.2"]));
    let with_threads = |threads| {
        let options = RunOptions {
            threads,
            ..seconds(1.6, 1.0)
        };
        run(&prepared, &chosen, 6, &options)
    };
    let one = text(&with_threads(1));
    assert_eq!(one, text(&with_threads(3)));
    let proposed = arms(&["proposed@0.4"]);
    let alone = run(&prepared, &proposed, 6, &seconds(1.6, 1.0));
    let among = with_threads(1);
    let same = among.arms.iter().find(|arm| arm.arm == "proposed@0.4");
    assert_eq!(same, alone.arms.first());
}

#[test]
fn messages_arrive_later_than_they_are_offered_and_are_counted() {
    let chosen = arms(&["cam-only", "cpm-etsi", "proposed@0.4"]);
    let window = seconds(2.0, 2.0);
    let by_load = run(&crowded_junction(), &chosen, 3, &window);
    let by_slot = run(&scheduled(|_| {}), &chosen, 3, &window);
    for (load, slot) in by_load.arms.iter().zip(&by_slot.arms) {
        assert_eq!(load.latency.count, 0);
        let latency = slot.latency.value().unwrap();
        assert!((0.02..0.08).contains(&latency), "{}: {latency} s", slot.arm);
        let [older, newer] = [slot, load].map(|arm| arm.age.value().unwrap());
        assert!(older > newer, "{}: {older} s, {newer} s", slot.arm);
        let busy = slot.cbr.value().unwrap();
        assert!(busy > 0.01 && busy < 1.0, "{}: {busy}", slot.arm);
        // Ten beacons a second in one of two subchannels.
        let occupancy = slot.channel_occupancy.value().unwrap();
        assert!(
            (0.004..0.05).contains(&occupancy),
            "{}: {occupancy}",
            slot.arm
        );
        for traffic in &slot.traffic {
            let pairs = traffic.delivered + traffic.thinned + traffic.lost;
            assert_eq!(pairs, traffic.in_range);
        }
    }
}

/// How long messages took to arrive, in microseconds: beacons, reports, broadcasts.
#[derive(Default)]
struct Waited([Vec<i64>; 3]);

impl Observer for Waited {
    fn wants_deliveries(&self) -> bool {
        true
    }

    fn delivered(&mut self, _: usize, now: Instant, message: &Message, _: &[u32]) {
        let (class, at) = match message {
            Message::Beacon(beacon) => (0, beacon.at),
            Message::Report(report) => (1, report.at),
            Message::Broadcast(broadcast) => (2, broadcast.at),
        };
        self.0[class].push(now.micros() - at.micros());
    }
}

#[test]
fn what_has_50_ms_is_there_one_step_later() {
    // Reports of the last step before a decision have to be there for it, and broadcasts of several blocks before the next cycle:
    // none may end in the first slot of the step after.
    let mut waited = Waited::default();
    let prepared = scheduled(|_| {});
    simulate(
        &prepared,
        &mut traffic(&prepared, 3),
        &arms(&["proposed@0.9"]),
        3,
        &seconds(2.0, 8.0),
        &mut waited,
    )
    .unwrap();
    let [beacons, reports, broadcasts] = &waited.0;
    assert!(
        beacons
            .iter()
            .all(|waited| [50_000, 100_000].contains(waited))
    );
    for all in [reports, broadcasts] {
        assert!(all.len() > 100, "{}", all.len());
        assert!(all.iter().all(|&waited| waited == 50_000), "{all:?}");
    }
}

#[test]
fn who_comes_between_two_looks_is_on_the_air() {
    let mut scenario = scenario("toy/straight");
    scenario.channel.model = ChannelModel::Sps;
    scenario.penetration = 1.0;
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    // One car more in every step; links are found anew in every other one.
    let mut frames = Script::new(|step| {
        let cars = 0..=step.min(19);
        Some(
            cars.map(|id| car(network, id, "AB_0", 20.0 + 10.0 * f64::from(id), 0.0))
                .collect(),
        )
    });
    let window = seconds(0.0, 2.0);
    let chosen = arms(&["cam-only"]);
    let outcome = simulate(&prepared, &mut frames, &chosen, 1, &window, &mut Nobody).unwrap();
    let [beacons, ..] = &outcome.arms[0].traffic;
    // Twenty cars, the last of them after a second: ten beacons a second each, less those of the last 100 ms.
    assert!((250..310).contains(&beacons.messages), "{beacons:?}");
    assert!(beacons.delivered > beacons.in_range * 8 / 10, "{beacons:?}");
}

#[test]
fn every_class_of_message_is_delivered() {
    // Tiles of the crowded junction are small: with an allowance of 0.4 a host has room for no report, on either channel.
    let chosen = arms(&["proposed@0.9"]);
    let by_slot = run(&scheduled(|_| {}), &chosen, 3, &seconds(2.0, 2.0));
    for traffic in &by_slot.arms[0].traffic {
        assert!(traffic.delivered > 0, "{:?}", by_slot.arms[0].traffic);
    }
}

#[test]
fn a_digest_costs_resources_where_it_passes_a_boundary() {
    let chosen = arms(&["proposed@0.4"]);
    let taken = |preset| {
        let prepared = scheduled(|scenario| {
            scenario.channel.sidelink.pool = PoolChoice::Preset(preset);
        });
        let outcome = run(&prepared, &chosen, 3, &seconds(2.0, 2.0));
        outcome.arms[0].channel_occupancy.value().unwrap()
    };
    // 134 B fit one of the letter's two subchannels (0.5 % of the channel at ten a second) and take two of Europe's five (0.4 %): more than
    // the 0.2 % of a plain beacon.
    assert!(taken(PoolPreset::Letter) >= 0.005);
    assert!(taken(PoolPreset::Europe) >= 0.004);
}

#[test]
fn options_of_the_pool_are_in_force() {
    let chosen = arms(&["cpm-etsi"]);
    let outcome = |change: fn(&mut Scenario)| {
        let outcome = run(&scheduled(change), &chosen, 3, &seconds(2.0, 1.0));
        (text(&outcome), outcome)
    };
    let (plain, _) = outcome(|_| {});
    let changes: [fn(&mut Scenario); 5] = [
        |s| s.channel.sidelink.keep_probability = 0.8,
        |s| s.channel.sidelink.reports = Reservation::OneShot,
        |s| s.channel.sidelink.retransmission = true,
        |s| s.channel.sidelink.in_band_emission = true,
        |s| s.channel.sidelink.report_latency_ms = 20,
    ];
    for change in changes {
        assert_ne!(outcome(change).0, plain);
    }
    // Nothing may be sent above the limit: with a threshold under the noise all is busy.
    let (_, limited) = outcome(|s| {
        s.channel.sidelink.busy_threshold_dbm = -125.0;
        s.channel.sidelink.congestion_control = CongestionControl::Ts103574;
    });
    let [beacons, reports, _] = &limited.arms[0].traffic;
    assert!(beacons.thinned + reports.thinned > 0);
    let most = limited.arms[0].channel_occupancy.value().unwrap();
    assert!(most <= 0.0031, "{most}");
}

#[test]
fn a_broadcast_over_the_limit_is_not_sent() {
    let chosen = arms(&["proposed@0.9"]);
    let broadcasts = |congestion_control| {
        let prepared = scheduled(|scenario| {
            // Under the noise: all is busy, and a station may take six subchannels of 2,000 a second.
            scenario.channel.sidelink.busy_threshold_dbm = -125.0;
            scenario.channel.sidelink.congestion_control = congestion_control;
        });
        let outcome = run(&prepared, &chosen, 3, &seconds(2.0, 2.0));
        outcome.arms[0].traffic[2]
    };
    let free = broadcasts(CongestionControl::Off);
    assert!(free.delivered > 0 && free.thinned == 0, "{free:?}");
    // Beacons alone take more than that: what hosts say is handed over, and most of it goes nowhere.
    let limited = broadcasts(CongestionControl::Ts103574);
    assert!(limited.messages > 0, "{limited:?}");
    assert!(limited.thinned > limited.in_range / 2, "{limited:?}");
}
