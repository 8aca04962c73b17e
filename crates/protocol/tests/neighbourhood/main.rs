//! Real roles in a network in memory: what happens when hosts come, go, die, meet, and when messages are lost, late or
//! doubled.

mod bounds;
mod faults;
mod network;

use covey_protocol::messages::Message;
use covey_protocol::parameters::{BroadcastSize, Handover, ReportContent};
use covey_protocol::{AgentId, Cell, Duration, Event, ObjectId, Position, Profile, Tile};
use network::{Fate, Network, draw};

const TILE: Tile = Tile::new(0, 0);

/// Five agents in one tile; number 3 is nearest the centre.
fn five() -> Network {
    five_in(Network::new())
}

fn five_in(mut network: Network) -> Network {
    for (id, x, y) in [
        (1, 20.0, 250.0),
        (2, 120.0, 250.0),
        (3, 240.0, 250.0),
        (4, 330.0, 250.0),
        (5, 450.0, 250.0),
    ] {
        network.add(id, x, y);
    }
    network
}

/// Five agents; agent 4 alone sees the cell (20, 12), through which agent 2 is about to drive, and object 99 in it.
fn hidden_object() -> Network {
    // It stands: ordinary reports would tell of it once a second.
    let mut profile = Profile::letter();
    profile.parameters.report_content = ReportContent::All;
    let mut network = five_in(Network::of(profile));
    network.node(4).cells = vec![Cell::new(20, 12)];
    network.node(4).objects = vec![(ObjectId(99), Position::new(410.0, 250.0))];
    network.run(1_200); // a host is in office
    network.predict(2, &[Cell::new(20, 12)]);
    network
}

#[test]
fn cold_start_makes_the_nearest_to_the_centre_host() {
    let mut network = five();
    network.run(1_000);
    assert!(
        network.hosts(TILE).is_empty(),
        "nobody stands before it has listened"
    );
    network.run(400);
    assert_eq!(network.hosts(TILE), [3]);
    network.run(5_000);
    assert_eq!(network.hosts(TILE), [3]);
    let took: Vec<_> = network
        .events
        .iter()
        .filter(|(_, _, event)| matches!(event, Event::TookOffice(_)))
        .collect();
    assert_eq!(took.len(), 1, "{took:?}");
}

#[test]
fn an_empty_tile_has_no_host_until_somebody_comes() {
    let mut network = Network::new();
    network.add(1, 600.0, 250.0);
    network.run(3_000);
    assert!(network.hosts(TILE).is_empty());
    assert_eq!(network.hosts(Tile::new(1, 0)), [1]);
    network.node(1).speed = -50.0; // enters tile 0 after 2 s
    network.run(3_000);
    assert_eq!(network.hosts(TILE), [1]);
    assert!(network.hosts(Tile::new(1, 0)).is_empty());
}

#[test]
fn the_hidden_object_reaches_everyone_through_the_one_who_sees_it() {
    let mut network = hidden_object();
    network.run(1_000);
    assert_eq!(network.host(3).contributors(), [AgentId(4)]);
    for id in [1, 2, 3, 5] {
        let age = network.node(id).participant.listener().age(ObjectId(99));
        assert!(
            age.is_some_and(|age| age <= Duration::from_millis(200)),
            "{id}: {age:?}"
        );
    }
    // One report a cycle, no more.
    let since = network.now;
    network.run(2_000);
    assert_eq!(network.reports_of(4, since).len(), 10);
    assert_eq!(network.host(3).epoch(), 1);
}

#[test]
fn a_host_that_leaves_is_replaced_and_price_and_epoch_go_on() {
    let mut network = hidden_object();
    network.occupancy = 0.5;
    network.run(2_000);
    let (price, epoch) = (network.host(3).price(), network.host(3).epoch());
    assert!(price > 1.0 && epoch == 1, "{price} {epoch}");
    network.occupancy = 0.3; // the price rests
    network.node(3).speed = 90.0; // it is outside after 2.9 s
    network.run(3_000);
    network.node(3).speed = 0.0;
    network.run(600);
    assert_eq!(network.hosts(TILE), [4], "the next nearest hosts");
    let next = network.host(4);
    assert!(
        (next.price() - price).abs() < 0.2,
        "{} after {price}",
        next.price()
    );
    assert!(next.epoch() >= epoch);
    assert_eq!(
        network.hosts(Tile::new(1, 0)),
        [3],
        "the old one hosts where it is now"
    );
}

#[test]
fn a_host_that_dies_is_replaced_and_its_contributor_falls_silent() {
    let mut network = hidden_object();
    network.run(1_000);
    let since = network.now;
    network.node(3).alive = false;
    network.run(3_000);
    assert_eq!(network.hosts(TILE), [4]);
    let took = network
        .events
        .iter()
        .rfind(|(_, _, event)| matches!(event, Event::TookOffice(_)))
        .unwrap();
    assert!(
        took.0.since(since) <= Duration::from_millis(1_400),
        "{took:?}"
    );
    // The lease of 0.6 s ran out long before the new host took office.
    let reports = network.reports_of(4, since);
    assert!(
        reports
            .iter()
            .all(|at| at.since(since) <= Duration::from_millis(600)),
        "{reports:?}"
    );
}

#[test]
fn the_contributor_falls_silent_when_broadcasts_are_lost_and_comes_back() {
    let mut network = hidden_object();
    network.run(1_000);
    network.rule = Box::new(|message, to, _| match message {
        Message::Broadcast(_) if to == AgentId(4) => Fate::Lose,
        _ => Fate::Deliver,
    });
    let since = network.now;
    network.run(3_000);
    let reports = network.reports_of(4, since);
    assert!(!reports.is_empty());
    assert!(
        reports
            .iter()
            .all(|at| at.since(since) <= Duration::from_millis(600)),
        "{reports:?}"
    );
    assert!(!network.node(4).participant.is_admitted());
    network.rule = Box::new(|_, _, _| Fate::Deliver);
    let since = network.now;
    network.run(1_000);
    assert!(network.reports_of(4, since).len() >= 3);
}

#[test]
fn two_hosts_of_one_tile_resolve_to_the_one_longer_in_office() {
    let mut network = Network::new();
    network.add(1, 100.0, 250.0);
    network.add(2, 200.0, 250.0);
    network.run(2_000);
    assert_eq!(network.hosts(TILE), [2]);
    network.add(3, 250.0, 250.0); // right in the middle, but deaf to the others
    network.separate(&[1, 2], &[3]);
    network.run(2_000);
    assert_eq!(network.hosts(TILE), [2, 3]);
    network.deaf.clear();
    network.run(400); // the cycle in which they hear each other, and the rest of the one before
    assert_eq!(network.hosts(TILE), [2], "tenure counts before nearness");
}

#[test]
fn hosts_of_adjacent_tiles_count_what_they_overhear() {
    let mut network = Network::new();
    network.add(1, 400.0, 250.0);
    network.add(2, 600.0, 250.0);
    // Host 2 alone sees an object close to the border, on host 1's side.
    network.node(2).objects = vec![(ObjectId(7), Position::new(490.0, 250.0))];
    network.run(3_000);
    assert_eq!(network.hosts(TILE), [1]);
    assert_eq!(network.hosts(Tile::new(1, 0)), [2]);
    let covered = |network: &Network, id| {
        let cell = Cell::new(24, 12);
        network
            .host(id)
            .coverage()
            .find(|&(c, _)| c == cell)
            .map_or(0.0, |(_, m)| m)
    };
    // It stands, so it is listed once a second; the map remembers in between.
    assert!(covered(&network, 1) > 0.0);
    network.separate(&[1], &[2]);
    network.run(8_000);
    assert!(covered(&network, 1) < 1e-6, "{}", covered(&network, 1));
}

#[test]
fn an_agent_admitted_by_two_hosts_reports_once_a_cycle() {
    let mut network = Network::new();
    network.add(1, 400.0, 250.0); // host of tile 0
    network.add(2, 600.0, 250.0); // host of tile 1
    network.add(3, 499.0, 100.0); // sees what both want; never nearest
    network.node(3).cells = vec![Cell::new(25, 5)];
    network.node(3).objects = vec![(ObjectId(7), Position::new(510.0, 110.0))];
    network.run(2_000);
    network.predict(1, &[Cell::new(25, 5)]);
    network.predict(2, &[Cell::new(25, 5)]);
    network.run(1_000);
    assert_eq!(network.host(1).contributors(), [AgentId(3)]);
    assert_eq!(network.host(2).contributors(), [AgentId(3)]);
    let since = network.now;
    network.run(2_000);
    assert_eq!(network.reports_of(3, since).len(), 10);
    // One of them goes; the word of the other still counts.
    network.node(2).alive = false;
    let since = network.now;
    network.run(2_000);
    assert_eq!(network.reports_of(3, since).len(), 10);
}

#[test]
fn late_and_doubled_messages_change_nothing_that_lasts() {
    let mut plain = hidden_object();
    let mut noisy = hidden_object();
    noisy.rule = Box::new(
        |message, to, at| match (draw(7, message, to, at) * 4.0) as u32 {
            0 => Fate::Repeat(Duration::from_millis(400)),
            1 => Fate::Repeat(Duration::from_millis(50)),
            _ => Fate::Deliver,
        },
    );
    for network in [&mut plain, &mut noisy] {
        network.run(6_000);
    }
    assert_eq!(plain.hosts(TILE), noisy.hosts(TILE));
    assert_eq!(plain.host(3).epoch(), noisy.host(3).epoch());
    assert_eq!(plain.host(3).contributors(), noisy.host(3).contributors());
    let ages = |network: &mut Network| -> Vec<_> {
        (1..=5)
            .map(|id| network.node(id).participant.listener().age(ObjectId(99)))
            .collect()
    };
    assert_eq!(ages(&mut plain), ages(&mut noisy));
    // A broadcast that comes a second late must not bring back a contributor's lease.
    noisy.rule = Box::new(|message, _, _| match message {
        Message::Broadcast(_) => Fate::Delay(Duration::from_millis(1_000)),
        _ => Fate::Deliver,
    });
    noisy.run(2_000);
    let since = noisy.now;
    noisy.run(2_000);
    assert_eq!(noisy.reports_of(4, since), []);
}

#[test]
fn under_heavy_loss_one_host_stays_and_the_object_stays_known() {
    for seed in 0..20 {
        let mut network = hidden_object();
        network.rule = Box::new(move |message, to, at| {
            if draw(seed, message, to, at) < 0.3 {
                Fate::Lose
            } else {
                Fate::Deliver
            }
        });
        network.run(2_000);
        let mut known = 0;
        for _ in 0..40 {
            network.run(200);
            assert_eq!(network.hosts(TILE), [3], "seed {seed} at {}", network.now);
            known += usize::from(
                network
                    .node(1)
                    .participant
                    .listener()
                    .known(ObjectId(99))
                    .is_some(),
            );
        }
        assert!(known >= 38, "seed {seed}: known in {known} of 40 cycles");
    }
}

#[test]
fn a_vehicle_that_only_beacons_does_not_keep_a_tile_without_host() {
    // Agent 1 stands in the middle and beacons, but never hosts: everything it broadcasts is lost.
    let mut network = Network::new();
    network.add(1, 250.0, 250.0);
    network.add(2, 300.0, 250.0);
    network.add(3, 400.0, 250.0);
    network.rule = Box::new(|message, _, _| match message {
        Message::Broadcast(b) if b.host == AgentId(1) => Fate::Lose,
        _ => Fate::Deliver,
    });
    network.run(4_000);
    assert!(
        network.hosts(TILE).contains(&2),
        "{:?}",
        network.hosts(TILE)
    );
    assert!(!network.hosts(TILE).contains(&3));
}

#[test]
fn a_run_is_a_function_of_its_inputs() {
    let trace = || {
        let mut network = hidden_object();
        network.rule = Box::new(|message, to, at| {
            if draw(3, message, to, at) < 0.2 {
                Fate::Lose
            } else {
                Fate::Deliver
            }
        });
        network.run(3_000);
        format!("{:?}", network.sent)
    };
    assert_eq!(trace(), trace());
}

#[test]
fn a_host_far_off_the_centre_hands_over_where_that_is_the_rule() {
    for (handover, expected) in [(None, [1]), (Some(Handover::USUAL), [2])] {
        let mut network = Network::new();
        network.profile.parameters.handover = handover;
        network.add(1, 240.0, 250.0);
        network.run(2_000);
        assert_eq!(network.hosts(TILE), [1]);
        network.add(2, 340.0, 250.0);
        network.run(2_000);
        assert_eq!(network.hosts(TILE), [1], "the incumbent is near the centre");
        // To 30 and 245 m.
        network.node(1).speed = -70.0;
        network.node(2).speed = -31.65;
        network.run(3_000);
        network.node(1).speed = 0.0;
        network.node(2).speed = 0.0;
        network.run(1_000);
        assert_eq!(network.hosts(TILE), expected);
        network.run(3_000);
        assert_eq!(network.hosts(TILE), expected, "and it stays so");
    }
}

#[test]
fn a_broadcast_counts_in_full_or_as_the_last_one_was() {
    // Nobody moves: between two full refreshes a broadcast lists nothing.
    let sizes = |counts| {
        let mut network = Network::new();
        network.profile.parameters.broadcast_counts = counts;
        let (capacity, cycle) = (
            network.profile.parameters.capacity_bytes_per_s,
            network.profile.parameters.cycle_s,
        );
        let mut network = five_in(network);
        network.run(6_000);
        let decided = network
            .events
            .iter()
            .filter_map(|(_, _, event)| match event {
                Event::Decided(decision) => Some(decision.airtime.fraction),
                _ => None,
            });
        let bytes = decided.map(|fraction| (fraction * capacity * cycle).round() as u64);
        bytes.skip(5).take(10).collect::<Vec<u64>>()
    };
    assert_eq!(sizes(BroadcastSize::FullRefresh), [261; 10]);
    let last = sizes(BroadcastSize::LastCycle);
    assert_eq!(
        last.iter().filter(|&&size| size == 261).count(),
        2,
        "{last:?}"
    );
    assert_eq!(
        last.iter().filter(|&&size| size == 121).count(),
        8,
        "{last:?}"
    );
}
