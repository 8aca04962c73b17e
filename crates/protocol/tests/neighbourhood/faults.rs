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
