//! What a participant lets in, and what it does when its own clock jumps.

use covey_protocol::guard::Refusals;
use covey_protocol::messages::{Broadcast, Message};
use covey_protocol::{
    AgentId, Duration, Event, Input, Instant, ObjectId, Output, Participant, Position, Profile,
    Tile,
};

use super::{TILE, at, beacon, broadcast, object, report, standing};

/// A participant at 260 m that has listened since 0.
fn participant() -> Participant {
    let mut participant = Participant::new(&Profile::letter(), AgentId(1), at(0));
    participant.handle_input(at(0), Input::Moved(&standing(260.0)));
    participant
}

fn knows(participant: &Participant, id: u64) -> bool {
    participant
        .listener()
        .iter()
        .any(|entry| entry.state.id == ObjectId(id))
}

fn refused(participant: &Participant) -> Refusals {
    participant.refusals()
}

fn outputs(participant: &mut Participant) -> Vec<Output> {
    let mut all = Vec::new();
    while let Some(output) = participant.poll_output() {
        all.push(output);
        if matches!(all.last(), Some(Output::WakeAt(_))) {
            break;
        }
    }
    all
}

/// It ticks every 50 ms from `from` until `until`, and hears what `say` gives.
fn run(
    participant: &mut Participant,
    from: i64,
    until: i64,
    mut say: impl FnMut(i64) -> Vec<Message>,
) -> Vec<(Instant, Output)> {
    let mut all = Vec::new();
    for millis in (from..until).step_by(50) {
        for message in say(millis) {
            let input = match &message {
                Message::Beacon(beacon) => Input::Beacon(beacon),
                Message::Report(report) => Input::Report(report),
                Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
            };
            participant.handle_input(at(millis), input);
        }
        participant.handle_input(at(millis), Input::Moved(&standing(260.0)));
        participant.handle_input(at(millis), Input::Tick);
        all.extend(
            outputs(participant)
                .into_iter()
                .map(|output| (at(millis), output)),
        );
    }
    all
}

#[test]
fn what_is_passed_over_is_counted_by_why_and_leaves_nothing_behind() {
    let mut p = participant();
    let now = at(5_000);
    for millis in (0..=5_000).step_by(500) {
        p.handle_input(at(millis), Input::Tick);
    }
    let hear = |p: &mut Participant, sender, millis, x| {
        p.handle_input(now, Input::Beacon(&beacon(sender, millis, x)));
    };
    hear(&mut p, 10, 3_999, 250.0);
    assert_eq!((refused(&p).old, knows(&p, 10)), (1, false));
    hear(&mut p, 10, 4_000, 250.0);
    assert_eq!((refused(&p).old, knows(&p, 10)), (1, true));
    hear(&mut p, 11, 5_051, 250.0);
    assert_eq!((refused(&p).ahead, knows(&p, 11)), (1, false));
    hear(&mut p, 11, 5_050, 250.0);
    assert_eq!((refused(&p).ahead, knows(&p, 11)), (1, true));
    hear(&mut p, 11, 5_050, 250.0);
    hear(&mut p, 11, 5_040, 250.0);
    assert_eq!(refused(&p).repeated, 2);
    hear(&mut p, 12, 5_000, 1_761.0);
    assert_eq!((refused(&p).places, knows(&p, 12)), (1, false));
    hear(&mut p, 12, 5_000, 1_759.0);
    assert_eq!((refused(&p).places, knows(&p, 12)), (1, true));
    // Its own name, from somebody else.
    hear(&mut p, 1, 5_000, 250.0);
    assert!(!knows(&p, 1));
    let beside = Broadcast {
        position: Position::new(501.0, 250.0),
        objects: vec![object(70, 250.0, 5_000)],
        ..broadcast(13, 5_000, &[1])
    };
    p.handle_input(now, Input::Broadcast(&beside));
    assert_eq!((refused(&p).hosts, knows(&p, 70)), (1, false));
    assert!(!p.is_admitted());
    let inside = Broadcast {
        position: Position::new(500.0, 250.0),
        ..beside
    };
    p.handle_input(now, Input::Broadcast(&inside));
    assert_eq!((refused(&p).hosts, knows(&p, 70)), (1, true));
    assert!(p.is_admitted());
    assert_eq!((refused(&p).jumps, refused(&p).stations), (0, 0));
}

#[test]
fn what_comes_from_a_clock_ahead_counts_from_when_it_is_heard() {
    let mut p = participant();
    let now = at(400);
    let early = report(9, 440, vec![object(70, 250.0, 430)]);
    p.handle_input(now, Input::Report(&early));
    let entry = p
        .listener()
        .iter()
        .find(|entry| entry.state.id == ObjectId(70));
    assert_eq!(entry.map(|entry| entry.state.sensed_at), Some(at(390)));
    let early = Broadcast {
        objects: vec![object(71, 250.0, 425)],
        ..broadcast(8, 445, &[1])
    };
    p.handle_input(now, Input::Broadcast(&early));
    let entry = p
        .listener()
        .iter()
        .find(|entry| entry.state.id == ObjectId(71));
    assert_eq!(entry.map(|entry| entry.state.sensed_at), Some(at(380)));
    assert!(p.is_admitted());
}

#[test]
fn a_clock_that_jumps_is_noticed_from_a_tenth_of_a_second_back_and_a_second_ahead() {
    for (by, jumps) in [(-100, false), (-101, true), (1_000, false), (1_001, true)] {
        let mut p = participant();
        for millis in (0..=5_000).step_by(500) {
            p.handle_input(at(millis), Input::Tick);
        }
        p.handle_input(at(5_000), Input::Beacon(&beacon(9, 5_000, 250.0)));
        outputs(&mut p);
        p.handle_input(at(5_000 + by), Input::Tick);
        let told = outputs(&mut p).into_iter().find_map(|output| match output {
            Output::Event(Event::ClockJumped { by }) => Some(by),
            _ => None,
        });
        assert_eq!(told, jumps.then(|| Duration::from_millis(by)), "{by}");
        assert_eq!(refused(&p).jumps, u64::from(jumps));
        assert_eq!(knows(&p, 9), !jumps && by <= 1_000, "{by}");
    }
}

#[test]
fn what_was_let_go_stays_counted_when_the_clock_jumps() {
    let mut p = participant();
    for host in 0..10 {
        let asks = broadcast(100 + host, 0, &[1]);
        p.handle_input(at(0), Input::Broadcast(&asks));
    }
    assert_eq!(refused(&p).others, 2, "eight hosts are served");
    for jump in [3_600_000, 7_200_000] {
        p.handle_input(at(jump), Input::Tick);
        assert_eq!(refused(&p).others, 2);
    }
    assert_eq!(refused(&p).jumps, 2);
}

#[test]
fn a_beacon_goes_out_once_in_its_slot_with_what_is_seen() {
    let mut p = participant();
    let cells: Vec<_> = (0..4).map(|ix| covey_protocol::Cell::new(ix, 12)).collect();
    let sensed = Input::Sensed {
        objects: &[],
        cells: &cells,
    };
    p.handle_input(at(0), sensed);
    let sent = run(&mut p, 0, 1_000, |_| Vec::new());
    let beacons: Vec<_> = sent
        .iter()
        .filter_map(|(at, output)| match output {
            Output::Transmit(Message::Beacon(beacon)) => Some((*at, beacon)),
            _ => None,
        })
        .collect();
    assert_eq!(beacons.len(), 10);
    for pair in beacons.windows(2) {
        assert_eq!(pair[1].0.since(pair[0].0), Duration::from_millis(100));
    }
    for (at, beacon) in beacons {
        assert_eq!((beacon.at, beacon.sender), (at, AgentId(1)));
        assert_eq!(beacon.state, standing(260.0));
        assert_eq!(
            beacon.digest.as_ref().map(|digest| digest.cells().len()),
            Some(4)
        );
    }
}

#[test]
fn before_it_knows_where_it_is_a_participant_says_nothing() {
    let mut p = Participant::new(&Profile::letter(), AgentId(1), at(0));
    for millis in (0..4_000).step_by(50) {
        p.handle_input(at(millis), Input::Tick);
        p.handle_input(at(millis), Input::Broadcast(&broadcast(9, millis, &[1])));
        let said = outputs(&mut p);
        let spoken = said
            .iter()
            .filter(|output| matches!(output, Output::Transmit(_)));
        assert_eq!(spoken.count(), 0);
    }
    assert!(p.host().is_none());
    assert!(p.is_admitted(), "it may be asked all the same");
    // A place that is no place is none.
    let mut nowhere = standing(f64::NAN);
    nowhere.speed = 3.0;
    p.handle_input(at(4_000), Input::Moved(&nowhere));
    assert!(
        outputs(&mut p)
            .iter()
            .all(|output| !matches!(output, Output::Transmit(_)))
    );
}

/// A participant alone in its tile takes office after a second; then hears another host of it.
fn in_office_hearing(other: impl Fn(i64) -> Broadcast) -> (bool, bool) {
    let mut p = participant();
    run(&mut p, 0, 2_000, |_| Vec::new());
    let was = p.host().is_some_and(|host| host.tile() == TILE);
    run(&mut p, 2_000, 2_450, |millis| {
        vec![
            Message::Beacon(beacon(9, millis, 250.0)),
            Message::Broadcast(other(millis)),
        ]
    });
    (was, p.host().is_some())
}

#[test]
fn a_host_yields_to_one_longer_in_office_in_its_own_tile() {
    let with_tenure = |millis: i64, tenure: i64| Broadcast {
        tenure: Duration::from_millis(tenure),
        ..broadcast(9, millis, &[1])
    };
    assert_eq!(in_office_hearing(|ms| with_tenure(ms, ms)), (true, false));
    assert_eq!(in_office_hearing(|ms| with_tenure(ms, 100)), (true, true));
    // A longer term in another tile is nothing to it.
    let elsewhere = |ms: i64| Broadcast {
        tile: Tile::new(1, 0),
        position: Position::new(510.0, 250.0),
        ..with_tenure(ms, ms)
    };
    assert_eq!(in_office_hearing(elsewhere), (true, true));
}

#[test]
fn a_new_host_goes_on_from_what_it_heard() {
    let mut p = participant();
    // Somebody else hosts, with a price and an epoch, and then is gone.
    run(&mut p, 0, 2_000, |millis| {
        let word = Broadcast {
            price: 7.5,
            epoch: 41,
            ..broadcast(9, millis, &[1])
        };
        vec![
            Message::Beacon(beacon(9, millis, 250.0)),
            Message::Broadcast(word),
            Message::Beacon(beacon(5, millis, 300.0)),
        ]
    });
    assert!(p.host().is_none());
    // Its beacon tells that it has left the tile.
    let away = run(&mut p, 2_000, 2_800, |millis| {
        let x = (250 - (millis - 1_950)).max(-20);
        vec![
            Message::Beacon(beacon(9, millis, x as f64)),
            Message::Beacon(beacon(5, millis, 300.0)),
        ]
    });
    let host = p.host().expect("it is the nearest");
    assert_eq!(host.tile(), TILE);
    assert!(host.epoch() >= 41, "{}", host.epoch());
    assert!(
        host.price() > 6.0 && host.price() <= 7.5,
        "{}",
        host.price()
    );
    let took = away.iter().filter(
        |(_, output)| matches!(output, Output::Event(Event::TookOffice(tile)) if *tile == TILE),
    );
    assert_eq!(took.count(), 1);
    // It lists who it heard before it took office.
    let listed = away.iter().any(|(_, output)| {
        matches!(output, Output::Transmit(Message::Broadcast(b)) if b.objects.iter().any(|o| o.id == ObjectId(5)))
    });
    assert!(listed);
}

#[test]
fn what_nobody_asks_for_does_not_pile_up() {
    let mut p = participant();
    for n in 0..40_000 {
        let now = n / 40;
        p.handle_input(at(now), Input::Beacon(&beacon(100 + n as u64, now, 250.0)));
    }
    let mut count = 0;
    while p.poll_output().is_some() {
        count += 1;
    }
    assert!((10_000..=16_400).contains(&count), "{count}");
}
