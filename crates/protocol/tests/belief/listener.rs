//! What a listener knows: the newest, for a soft-state time, however and in whatever order it came.

use covey_protocol::listener::{LearnedFrom, Listener};
use covey_protocol::messages::{Broadcast, Confidence, ObjectState, Size};
use covey_protocol::{AgentId, Event, Input, Instant, ObjectId, Output, Parameters};

use super::{at, beacon, broadcast, object, report, standing};

fn listener() -> Listener {
    Listener::new(&Parameters::default(), AgentId(1))
}

fn events(listener: &mut Listener) -> Vec<Event> {
    std::iter::from_fn(|| listener.poll_event()).collect()
}

fn sense(listener: &mut Listener, now: i64, objects: &[ObjectState]) {
    let cells = &[];
    listener.handle_input(at(now), Input::Sensed { objects, cells });
}

/// Where an object is known to be, and when it was seen there.
fn known(listener: &Listener, id: u64) -> Option<(f64, Instant)> {
    let known = listener.known(ObjectId(id))?;
    Some((known.state.position.x, known.state.sensed_at))
}

#[test]
fn the_newest_state_wins_then_the_surer_then_the_nearer_source_in_any_order() {
    let sure = |x, millis, percent| ObjectState {
        confidence: Confidence::from_percent(percent),
        ..object(70, x, millis)
    };
    type Told = (ObjectState, Option<u64>, Option<u64>);
    // From the best to the worst: sensed oneself, or told by a reporter, or by a host.
    let all: [Told; 7] = [
        (sure(1.0, 500, 10), None, Some(9)),
        (sure(2.0, 400, 90), None, None),
        (sure(3.0, 400, 90), Some(3), None),
        (sure(4.0, 400, 90), Some(4), None),
        (sure(5.0, 400, 90), None, Some(2)),
        (sure(6.0, 400, 90), None, Some(3)),
        (sure(7.0, 400, 89), None, None),
    ];
    let tell = |listener: &mut Listener, &(state, reporter, host): &Told| match (reporter, host) {
        (Some(by), _) => {
            listener.handle_input(at(500), Input::Report(&report(by, 500, vec![state])));
        }
        (_, Some(by)) => {
            let told = Broadcast {
                objects: vec![state],
                ..broadcast(by, 500, &[])
            };
            listener.handle_input(at(500), Input::Broadcast(&told));
        }
        _ => sense(listener, 500, &[state]),
    };
    for (worse, b) in all.iter().enumerate() {
        for (better, a) in all[..worse].iter().enumerate() {
            for order in [[a, b], [b, a]] {
                let mut listener = listener();
                order.iter().for_each(|told| tell(&mut listener, told));
                assert_eq!(
                    known(&listener, 70),
                    Some((a.0.position.x, a.0.sensed_at)),
                    "{better} {worse}"
                );
            }
        }
    }
}

#[test]
fn where_a_state_comes_from_is_told_with_it() {
    let mut listener = listener();
    sense(&mut listener, 100, &[object(70, 10.0, 100)]);
    listener.handle_input(at(100), Input::Beacon(&beacon(5, 100, 20.0)));
    listener.handle_input(
        at(100),
        Input::Report(&report(6, 100, vec![object(71, 30.0, 90)])),
    );
    let told = Broadcast {
        objects: vec![object(72, 40.0, 80)],
        ..broadcast(7, 100, &[])
    };
    listener.handle_input(at(100), Input::Broadcast(&told));
    let source = |id| listener.known(ObjectId(id)).map(|known| known.source);
    assert_eq!(source(70), Some(LearnedFrom::Sensing));
    assert_eq!(source(5), Some(LearnedFrom::Beacon));
    assert_eq!(source(71), Some(LearnedFrom::Report(AgentId(6))));
    assert_eq!(source(72), Some(LearnedFrom::Broadcast(AgentId(7))));
    assert_eq!(listener.iter().len(), 4);
    let age = |id| listener.age(ObjectId(id)).map(|age| age.micros() / 1_000);
    assert_eq!([age(70), age(72), age(99)], [Some(0), Some(20), None]);
}

#[test]
fn a_state_is_known_for_a_second_and_its_end_is_told() {
    let mut listener = listener();
    sense(
        &mut listener,
        100,
        &[object(70, 1.0, 100), object(71, 1.0, 50)],
    );
    assert_eq!(
        events(&mut listener),
        [70, 71].map(|id| Event::Appeared(ObjectId(id)))
    );
    // It wakes up when the first of them is too old, a microsecond after its second; and says so once.
    let wake = Instant::from_micros(1_050_001);
    assert_eq!(listener.poll_output(), Some(Output::WakeAt(wake)));
    assert_eq!(listener.poll_output(), None);
    listener.handle_input(at(1_050), Input::Tick);
    assert_eq!(listener.iter().len(), 2);
    listener.handle_input(wake, Input::Tick);
    assert_eq!(listener.iter().len(), 1);
    assert_eq!(
        listener.poll_output(),
        Some(Output::Event(Event::Expired(ObjectId(71))))
    );
    // One that was seen again stays for another second.
    sense(&mut listener, 1_060, &[object(70, 2.0, 1_060)]);
    listener.handle_input(at(1_101), Input::Tick);
    assert_eq!(known(&listener, 70), Some((2.0, at(1_060))));
    listener.handle_input(at(2_061), Input::Tick);
    assert_eq!(events(&mut listener), [Event::Expired(ObjectId(70))]);
    assert_eq!(listener.poll_output(), None);
}

#[test]
fn neither_oneself_nor_the_future_nor_the_past_nor_what_is_no_number_is_learned() {
    let mut listener = listener();
    sense(
        &mut listener,
        2_000,
        &[
            object(1, 1.0, 2_000),
            object(70, 1.0, 2_001),
            object(71, 1.0, 999),
            object(72, f64::NAN, 2_000),
        ],
    );
    assert_eq!(listener.iter().len(), 0);
    sense(
        &mut listener,
        2_000,
        &[object(70, 1.0, 2_000), object(71, 1.0, 1_000)],
    );
    assert_eq!(listener.iter().len(), 2);
    // A station beside the road is no object.
    let mut pole = beacon(5, 2_000, 1.0);
    pole.state.size = Size::roadside(5.0);
    listener.handle_input(at(2_000), Input::Beacon(&pole));
    assert_eq!(known(&listener, 5), None);
    // Nor is what one says oneself, or what is said from the future or from long ago.
    for (host, said) in [(1, 2_000), (9, 2_001), (9, 999)] {
        let told = Broadcast {
            objects: vec![object(73, 1.0, 1_999)],
            ..broadcast(host, said, &[])
        };
        listener.handle_input(at(2_000), Input::Broadcast(&told));
        assert_eq!(known(&listener, 73), None, "{host} {said}");
    }
}

#[test]
fn of_a_long_message_five_hundred_and_twelve_objects_are_learned() {
    let many: Vec<ObjectState> = (0..600).map(|k| object(1_000 + k, 1.0, 100)).collect();
    let mut reported = listener();
    reported.handle_input(at(100), Input::Report(&report(5, 100, many.clone())));
    let mut listed = listener();
    let told = Broadcast {
        objects: many,
        ..broadcast(9, 100, &[])
    };
    listed.handle_input(at(100), Input::Broadcast(&told));
    for listener in [&reported, &listed] {
        assert_eq!(listener.iter().len(), 512);
        assert!(known(listener, 1_511).is_some() && known(listener, 1_512).is_none());
    }
}

#[test]
fn beyond_the_most_the_object_that_was_sensed_first_is_let_go() {
    let mut parameters = Parameters::default();
    parameters.guard.objects = 8;
    let mut listener = Listener::new(&parameters, AgentId(1));
    for k in 0..8 {
        sense(
            &mut listener,
            200,
            &[object(70 + k, 1.0, 100 + 10 * k as i64)],
        );
    }
    // 70 was sensed first, but has been seen again since.
    sense(&mut listener, 200, &[object(70, 1.0, 200)]);
    events(&mut listener);
    sense(&mut listener, 200, &[object(90, 1.0, 195)]);
    assert_eq!((listener.iter().len(), listener.crowded_out()), (8, 1));
    assert!(known(&listener, 70).is_some() && known(&listener, 71).is_none());
    assert_eq!(
        events(&mut listener),
        [Event::Expired(ObjectId(71)), Event::Appeared(ObjectId(90))]
    );
}

/// Broadcasts of host 9 that list object 70 first and then say nothing of it.
fn followed(change: impl FnOnce(&mut Broadcast)) -> Option<(f64, Instant)> {
    let mut listener = listener();
    let first = Broadcast {
        objects: vec![object(70, 10.0, 100)],
        sequence: 7,
        ..broadcast(9, 100, &[])
    };
    listener.handle_input(at(100), Input::Broadcast(&first));
    let mut second = Broadcast {
        full: false,
        sequence: 8,
        unchanged_since: at(280),
        ..broadcast(9, 300, &[])
    };
    change(&mut second);
    listener.handle_input(at(300), Input::Broadcast(&second));
    known(&listener, 70)
}

#[test]
fn what_a_host_listed_and_does_not_withdraw_is_as_it_was() {
    assert_eq!(followed(|_| {}), Some((10.0, at(280))));
    let old = Some((10.0, at(100)));
    assert_eq!(followed(|b| b.sequence = 9), old, "one was missed");
    assert_eq!(followed(|b| b.sequence = 7), old, "it began anew");
    assert_eq!(followed(|b| b.full = true), old, "not in a whole list");
    assert_eq!(
        followed(|b| b.withdrawn = vec![ObjectId(70)]),
        old,
        "withdrawn"
    );
    assert_eq!(
        followed(|b| b.host = AgentId(8)),
        old,
        "another host's silence"
    );
    assert_eq!(
        followed(|b| b.unchanged_since = at(5_000)),
        Some((10.0, at(300))),
        "nobody holds anything as sensed later than it speaks"
    );
    assert_eq!(
        followed(|b| b.unchanged_since = at(50)),
        old,
        "silence makes nothing older"
    );
    assert_eq!(
        followed(|b| b.objects = vec![object(70, 12.0, 250)]),
        Some((12.0, at(250))),
        "listed anew"
    );
    assert_eq!(
        followed(|b| b.at = at(100)),
        old,
        "a word of the same time says nothing of silence"
    );
}

#[test]
fn silence_goes_on_telling_over_unbroken_broadcasts_and_not_where_it_is_no_rule() {
    let run = |silence_refreshes: bool, lost: Option<u32>| {
        let parameters = Parameters {
            silence_refreshes,
            ..Parameters::default()
        };
        let mut listener = Listener::new(&parameters, AgentId(1));
        for k in 0..10u32 {
            let now = 100 + 200 * i64::from(k);
            let word = Broadcast {
                objects: match k {
                    0 => vec![object(70, 10.0, now)],
                    _ => Vec::new(),
                },
                full: k == 0,
                sequence: u32::MAX.wrapping_sub(3).wrapping_add(k),
                ..broadcast(9, now, &[])
            };
            if lost != Some(k) {
                listener.handle_input(at(now), Input::Broadcast(&word));
            }
        }
        known(&listener, 70)
    };
    assert_eq!(run(true, None), Some((10.0, at(1_900))));
    assert_eq!(run(false, None), None, "a second old");
    // From the gap on nothing is known of it any more.
    assert_eq!(run(true, Some(8)), Some((10.0, at(1_500))));
    assert_eq!(run(true, Some(3)), None);
}

#[test]
fn a_late_broadcast_still_tells_of_its_objects_and_breaks_nothing() {
    let mut listener = listener();
    let word = |sequence: u32, millis: i64, objects| Broadcast {
        full: sequence == 0,
        sequence,
        objects,
        ..broadcast(9, millis, &[])
    };
    let mut hear = |now: i64, word: &Broadcast| {
        listener.handle_input(at(now), Input::Broadcast(word));
        [70, 71].map(|id| known(&listener, id))
    };
    hear(100, &word(0, 100, vec![object(70, 10.0, 100)]));
    hear(500, &word(1, 500, Vec::new()));
    let after = hear(520, &word(2, 300, vec![object(71, 5.0, 290)]));
    assert_eq!(after, [Some((10.0, at(500))), Some((5.0, at(290)))]);
    // The late one was not the newest: the next follows the one before it.
    let after = hear(700, &word(2, 700, Vec::new()));
    assert_eq!(after, [Some((10.0, at(700))), Some((5.0, at(290)))]);
}

#[test]
fn hosts_beyond_the_most_are_let_go_the_longest_unheard_first() {
    let mut parameters = Parameters::default();
    parameters.guard.hosts = 2;
    let mut listener = Listener::new(&parameters, AgentId(1));
    let mut hear = |host: u64, sequence: u32, now: i64, objects: Vec<ObjectState>| {
        let word = Broadcast {
            full: false,
            sequence,
            objects,
            ..broadcast(host, now, &[])
        };
        listener.handle_input(at(now), Input::Broadcast(&word));
        (
            listener.crowded_out(),
            known(&listener, 70),
            known(&listener, 80),
        )
    };
    hear(7, 0, 100, vec![object(70, 1.0, 100)]);
    hear(8, 0, 110, vec![object(80, 2.0, 110)]);
    assert_eq!(hear(9, 0, 120, Vec::new()).0, 1, "7 is let go");
    let (_, of_7, of_8) = hear(8, 1, 310, Vec::new());
    assert_eq!((of_7, of_8), (Some((1.0, at(100))), Some((2.0, at(310)))));
    // 7 comes back for 9 and begins anew: its silence tells nothing.
    let (out, of_7, _) = hear(7, 1, 320, Vec::new());
    assert_eq!((out, of_7), (2, Some((1.0, at(100)))));
    // Those that were not heard for a second make room by themselves.
    let (out, ..) = hear(5, 0, 1_400, Vec::new());
    assert_eq!(out, 2);
}

#[test]
fn a_restart_forgets_all_and_goes_on_from_an_earlier_time() {
    let mut listener = listener();
    sense(&mut listener, 5_000, &[object(70, 1.0, 5_000)]);
    let word = Broadcast {
        objects: vec![object(71, 1.0, 5_000)],
        ..broadcast(9, 5_000, &[])
    };
    listener.handle_input(at(5_000), Input::Broadcast(&word));
    events(&mut listener);
    listener.restart(at(1_000));
    assert_eq!(listener.iter().len(), 0);
    assert_eq!(
        events(&mut listener),
        [70, 71].map(|id| Event::Expired(ObjectId(id)))
    );
    listener.handle_input(at(1_000), Input::Beacon(&beacon(5, 1_000, 3.0)));
    assert_eq!(known(&listener, 5), Some((3.0, at(1_000))));
    let state = listener.known(ObjectId(5)).unwrap().state;
    assert_eq!(state.size, standing(3.0).size);
    // The host's next word follows nothing.
    let next = Broadcast {
        full: false,
        sequence: 1,
        ..broadcast(9, 1_100, &[])
    };
    listener.handle_input(at(1_100), Input::Broadcast(&next));
    assert_eq!(known(&listener, 71), None);
}

#[test]
fn events_that_nobody_asks_for_do_not_pile_up() {
    let mut listener = listener();
    for k in 0..20_000 {
        sense(&mut listener, k, &[object(1_000 + k as u64, 1.0, k)]);
    }
    let all = events(&mut listener);
    assert_eq!(all.len(), 16_384);
    assert!(all.contains(&Event::Appeared(ObjectId(20_999))));
    assert!(!all.contains(&Event::Appeared(ObjectId(1_000))));
}
