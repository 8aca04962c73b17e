//! What stops a service, and how soon it is back: 1.4 s after the host's last word, or after the cause has ended.

use covey_protocol::messages::{AgentState, Beacon, Message};
use covey_protocol::{AgentId, Duration, Event, Input, Instant, Position};

use super::{Fate, Network, TILE, five};

/// The longest time without a broadcast for the tile since `since`.
fn longest_pause(network: &Network, since: Instant) -> Duration {
    let spoken = network.sent.iter().filter(|(at, message)| {
        *at >= since && matches!(message, Message::Broadcast(b) if b.tile == TILE)
    });
    let mut last = since;
    let mut longest = Duration::ZERO;
    for &(at, _) in spoken {
        longest = longest.max(at.since(last));
        last = at;
    }
    longest.max(network.now.since(last))
}

const BACK: Duration = Duration::from_millis(1_400);

#[test]
fn after_a_host_has_died_another_speaks() {
    let mut network = five();
    network.run(3_000);
    let since = network.now;
    network.node(3).alive = false;
    network.run(6_000);
    assert!(longest_pause(&network, since) <= BACK);
    assert_eq!(network.hosts(TILE), [4]);
}

#[test]
fn a_part_that_is_cut_off_has_a_host_and_after_it_there_is_one() {
    let mut network = five();
    network.run(3_000);
    assert_eq!(network.hosts(TILE), [3]);
    network.separate(&[1, 2], &[3, 4, 5]);
    network.run(1_400);
    assert_eq!(network.hosts(TILE), [2, 3], "each part has one");
    network.run(5_000);
    network.deaf.clear();
    network.run(400);
    assert_eq!(network.hosts(TILE), [3]);
    let since = network.now;
    network.run(3_000);
    assert!(longest_pause(&network, since) <= Duration::from_millis(400));
}

#[test]
fn after_a_jump_of_the_hosts_clock_the_service_goes_on() {
    // A second back is a leap second in a clock that has them.
    for by in [-3_600_000, -1_000, -500, 1_500, 3_600_000] {
        let mut network = five();
        network.run(3_000);
        let since = network.now;
        let now = network.now + Duration::from_millis(by);
        let participant = &mut network.node(3).participant;
        participant.handle_input(now, Input::Tick);
        let mut jumped = false;
        while let Some(output) = participant.poll_output() {
            jumped |= matches!(
                output,
                covey_protocol::Output::Event(Event::ClockJumped { .. })
            );
            if matches!(output, covey_protocol::Output::WakeAt(_)) {
                break;
            }
        }
        assert!(jumped, "{by}");
        network.run(5_000);
        assert!(longest_pause(&network, since) <= BACK, "{by}");
        assert_eq!(network.hosts(TILE).len(), 1);
        // It knows everybody again, and beacons.
        assert_eq!(network.node(3).participant.listener().iter().count(), 4);
        let beacons = network.sent.iter().filter(|(at, message)| {
            *at > since && matches!(message, Message::Beacon(_)) && message.sender() == AgentId(3)
        });
        assert!(beacons.count() >= 48, "{by}");
    }
}

#[test]
fn a_host_goes_on_under_another_name_without_a_pause() {
    // Before a decision and after one, and with neighbours that have been let down before.
    for at_ms in [0, 50, 100, 150] {
        let mut network = five();
        for id in [1, 5] {
            network.node(id).cells = vec![covey_protocol::Cell::new(id as i32, 12)];
        }
        network.run(4_000 + at_ms);
        let since = network.now;
        let host = network.host(3);
        let (epoch, price) = (host.epoch(), host.price());
        network.node(3).participant.rename(since, AgentId(70));
        assert_eq!(network.hosts(TILE), [70]);
        let host = network.host(3);
        assert_eq!((host.epoch(), host.price()), (epoch, price));
        // Its claim is that of somebody new.
        assert_eq!(host.claim(since).tenure, Duration::ZERO);
        network.run(3_000);
        assert!(longest_pause(&network, since) <= Duration::from_millis(250));
        assert_eq!(network.hosts(TILE), [70], "nobody else took office");
        for id in [1, 2, 4, 5] {
            let listener = network.node(id).participant.listener();
            assert!(listener.known(AgentId(3).into()).is_none());
            assert!(listener.known(AgentId(70).into()).is_some());
        }
        let known = network.node(3).participant.listener().iter().count();
        assert_eq!(known, 4);
    }
}

#[test]
fn a_new_name_yields_to_whoever_was_in_office_longer() {
    let mut network = five();
    network.run(3_000);
    network.separate(&[1, 2], &[3, 4, 5]);
    network.run(4_000);
    assert_eq!(network.hosts(TILE), [2, 3]);
    // The one that is longer in office would stay; under a new name its tenure counts from the change.
    let now = network.now;
    network.node(3).participant.rename(now, AgentId(70));
    network.deaf.clear();
    network.run(600);
    assert_eq!(network.hosts(TILE), [2]);
}

#[test]
fn a_contributor_with_another_name_is_silent_until_it_is_asked_again() {
    let mut network = five();
    network.run(3_000);
    let now = network.now;
    let participant = &mut network.node(4).participant;
    participant.rename(now, AgentId(70));
    assert!(!participant.is_admitted());
    assert_eq!(
        participant.listener().iter().count(),
        4,
        "what it knew it knows"
    );
    network.run(3_000);
    assert_eq!(network.hosts(TILE), [3]);
}

#[test]
fn a_flood_of_names_stops_nothing() {
    let mut network = five();
    network.run(3_000);
    let since = network.now;
    let mut name = 1_000;
    for _ in 0..40 {
        for _ in 0..500 {
            name += 1;
            let x = 100.0 + (name % 301) as f64;
            let beacon = Beacon {
                sender: AgentId(name),
                at: network.now - Duration::from_millis(1),
                state: AgentState {
                    position: Position::new(x, 240.0),
                    ..AgentState::default()
                },
                digest: None,
                low_frequency: false,
            };
            for id in 1..=5 {
                let now = network.now;
                let participant = &mut network.node(id).participant;
                participant.handle_input(now, Input::Beacon(&beacon));
            }
        }
        network.run(50);
    }
    assert!(longest_pause(&network, since) <= Duration::from_millis(400));
    assert_eq!(network.hosts(TILE), [3]);
    let refusals = network.node(2).participant.refusals();
    assert!(refusals.stations > 10_000, "{refusals:?}");
    network.run(1_400);
    assert_eq!(network.node(2).participant.listener().iter().count(), 4);
}

#[test]
fn a_message_counts_once_and_by_when_it_was_said() {
    // Every message comes again after 30 ms, from clocks that are 20 ms ahead.
    let mut network = five();
    network.rule = Box::new(|_, _, _| Fate::Repeat(Duration::from_millis(50)));
    network.run(5_000);
    assert_eq!(network.hosts(TILE), [3]);
    let since = network.now;
    network.run(3_000);
    assert!(longest_pause(&network, since) <= Duration::from_millis(400));
}
