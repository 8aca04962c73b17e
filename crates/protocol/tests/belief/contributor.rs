//! Whom a contributor serves, and for how long.

use covey_protocol::contributor::Contributor;
use covey_protocol::messages::{Broadcast, Content};
use covey_protocol::{AgentId, Duration, Event, ObjectId, Parameters, Position};

use super::{at, broadcast, object};

fn contributor() -> Contributor {
    Contributor::new(&Parameters::default(), AgentId(1))
}

fn place(x: f64) -> Option<Position> {
    Some(Position::new(x, 250.0))
}

/// Who asks from `x`.
fn asks(host: u64, millis: i64, x: f64) -> Broadcast {
    Broadcast {
        position: Position::new(x, 250.0),
        ..broadcast(host, millis, &[1])
    }
}

/// It reports at some time of the cycle that begins at `millis`; gives which objects it was asked for by name.
fn reports(contributor: &mut Contributor, millis: i64) -> Option<Vec<ObjectId>> {
    let now = at(millis) + contributor.phase();
    let mut requested = None;
    let report = contributor.report(now, |asked, _| {
        requested = Some(asked.requested.clone());
        vec![object(70, 260.0, millis)]
    });
    report.and(requested)
}

#[test]
fn one_word_holds_for_its_lease_and_never_longer_than_a_second() {
    for (lease, holds) in [(100, 100), (600, 600), (1_000, 1_000), (65_535, 1_000)] {
        let mut contributor = contributor();
        let word = Broadcast {
            lease: Duration::from_millis(lease),
            ..asks(9, 0, 250.0)
        };
        contributor.obey(at(0), place(250.0), &word);
        assert!(contributor.is_admitted());
        contributor.lapse(at(holds));
        assert!(contributor.is_admitted(), "{lease}");
        contributor.lapse(at(holds + 1));
        assert!(!contributor.is_admitted(), "{lease}");
    }
}

#[test]
fn events_tell_of_the_first_that_asks_and_of_the_last_that_does_not() {
    let mut contributor = contributor();
    let events = |contributor: &mut Contributor| {
        let mut all = Vec::new();
        while let Some(event) = contributor.poll_event() {
            all.push(event);
        }
        all
    };
    contributor.obey(at(0), place(250.0), &asks(8, 0, 250.0));
    assert_eq!(
        events(&mut contributor),
        [Event::Admitted { host: AgentId(8) }]
    );
    contributor.obey(at(0), place(250.0), &asks(9, 0, 250.0));
    assert_eq!(events(&mut contributor), []);
    contributor.obey(at(200), place(250.0), &broadcast(8, 200, &[5]));
    assert_eq!(events(&mut contributor), []);
    contributor.obey(at(200), place(250.0), &broadcast(9, 200, &[5]));
    assert_eq!(events(&mut contributor), [Event::Released]);
    contributor.obey(at(400), place(250.0), &asks(8, 400, 250.0));
    assert_eq!(events(&mut contributor).len(), 1);
    contributor.lapse(at(1_001));
    assert_eq!(events(&mut contributor), [Event::Released]);
    contributor.lapse(at(1_002));
    assert_eq!(events(&mut contributor), []);
}

#[test]
fn words_of_the_future_of_the_past_and_of_oneself_are_passed_over() {
    let mut contributor = contributor();
    contributor.obey(at(100), place(250.0), &asks(9, 101, 250.0));
    contributor.obey(at(100), place(250.0), &asks(1, 100, 250.0));
    assert!(!contributor.is_admitted());
    contributor.obey(at(100), place(250.0), &broadcast(9, 100, &[]));
    contributor.obey(at(100), place(250.0), &asks(9, 100, 250.0));
    contributor.obey(at(100), place(250.0), &asks(9, 50, 250.0));
    assert!(!contributor.is_admitted(), "the host has said no since");
    contributor.obey(at(101), place(250.0), &asks(9, 101, 250.0));
    assert!(contributor.is_admitted());
}

#[test]
fn nobody_asks_from_beyond_its_footprint() {
    // 300 m and 200 m for two vehicles that part.
    for (x, asked) in [(749.0, true), (751.0, false), (f64::NAN, false)] {
        let mut contributor = contributor();
        contributor.obey(at(0), place(250.0), &asks(9, 0, x));
        assert_eq!(contributor.is_admitted(), asked, "{x}");
        // One that does not know where it is cannot tell.
        let mut lost = Contributor::new(&Parameters::default(), AgentId(1));
        lost.obey(at(0), None, &asks(9, 0, x));
        assert!(lost.is_admitted());
    }
}

#[test]
fn of_more_than_eight_hosts_the_nearest_are_served() {
    let mut contributor = contributor();
    let word = |host: u64, x: f64| Broadcast {
        content: Content::Requested,
        requested: vec![ObjectId(host)],
        ..asks(host, 0, x)
    };
    for k in 0..9 {
        // The farthest is the fourth to be heard.
        let x = if k == 3 {
            600.0
        } else {
            250.0 + 10.0 * k as f64
        };
        contributor.obey(at(0), place(250.0), &word(100 + k, x));
    }
    let asked = reports(&mut contributor, 200).unwrap();
    let expected: Vec<ObjectId> = (0..9)
        .filter(|&k| k != 3)
        .map(|k| ObjectId(100 + k))
        .collect();
    assert_eq!(asked, expected);
    assert_eq!(contributor.crowded_out(), 1);
}

#[test]
fn hosts_beyond_the_most_are_remembered_only_while_there_is_room() {
    // Four times as many words as hosts that are served.
    let mut contributor = contributor();
    for k in 0..32 {
        contributor.obey(at(k), place(250.0), &broadcast(100 + k as u64, k, &[5]));
    }
    assert_eq!(contributor.crowded_out(), 0);
    // One that asks takes the place of the longest unheard that does not.
    contributor.obey(at(40), place(250.0), &asks(200, 40, 250.0));
    assert!(contributor.is_admitted());
    assert_eq!(contributor.crowded_out(), 1);
    // One that does not ask is not remembered: so an older word of it counts as its first.
    contributor.obey(at(50), place(250.0), &broadcast(300, 50, &[5]));
    assert_eq!(contributor.crowded_out(), 2);
    contributor.obey(at(50), place(250.0), &asks(300, 45, 250.0));
    contributor.obey(at(400), place(250.0), &broadcast(200, 400, &[5]));
    assert!(contributor.is_admitted(), "the second asks still");
}

#[test]
fn a_contributor_reports_once_a_cycle_from_the_cycle_after_it_was_asked() {
    let mut contributor = contributor();
    // Asked within the slot of its report: it begins with the next.
    let slot = contributor.phase();
    let now = at(0) + slot;
    let word = Broadcast {
        at: now,
        ..asks(9, 0, 250.0)
    };
    contributor.obey(now, place(250.0), &word);
    assert_eq!(reports(&mut contributor, 0), None);
    assert!(reports(&mut contributor, 200).is_some());
    assert_eq!(reports(&mut contributor, 200), None, "once a cycle");
    assert!(reports(&mut contributor, 400).is_some());
}

#[test]
fn nothing_to_say_is_told_to_those_who_ask_by_rule_with_word_of_the_sensors() {
    let ask = |content| {
        let mut contributor = contributor();
        let word = Broadcast {
            content,
            ..asks(9, 0, 250.0)
        };
        contributor.obey(at(0), place(250.0), &word);
        let now = at(200) + contributor.phase();
        contributor.report(now, |_, _| Vec::new())
    };
    for rule in [Content::AllVisible, Content::SilentOnly, Content::Included] {
        assert!(
            ask(rule).is_some_and(|report| report.sensor_information),
            "{rule:?}"
        );
    }
    for need in [Content::Demanded, Content::Requested] {
        assert!(ask(need).is_none(), "{need:?}");
    }
    // Sensors are told of once a second.
    let mut contributor = contributor();
    let mut told = Vec::new();
    for cycle in 1..=11 {
        let begin = 200 * cycle;
        contributor.obey(at(begin - 10), place(250.0), &asks(9, begin - 10, 250.0));
        let now = at(begin) + contributor.phase();
        let report = contributor.report(now, |_, _| vec![object(70, 260.0, begin)]);
        told.push(report.unwrap().sensor_information);
    }
    let expected: Vec<bool> = (0..11).map(|k| k % 5 == 0).collect();
    assert_eq!(told, expected);
}
