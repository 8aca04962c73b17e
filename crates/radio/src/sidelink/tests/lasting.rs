//! How long resources are kept, when messages are sent, and what others are told of it.

use super::*;

/// Beacons of station 0 every 100 slots: by round, the slot that each took, and whether station 1 was told of the same one
/// 100 slots later.
fn beacons(parameters: SidelinkParameters, rounds: u32) -> Vec<(u64, bool)> {
    let scene = Scene::new(3, |_, _| -70.0);
    let mut sidelink = pool(3, parameters);
    let mut all = Vec::new();
    for round in 0..rounds {
        let beacon = Message {
            class: 0,
            period: 100,
            latency: 100,
            address: round,
            ..message(0, 121)
        };
        let begin = sidelink.now;
        assert!(sidelink.offer(&beacon, &scene.reach()));
        let slot = *sidelink.stations[0].planned.last().unwrap();
        run(&mut sidelink, &scene, begin + 100);
        run(&mut sidelink, &scene, slot + 1);
        let after = sidelink.medium.reserved_at(1, slot + 100);
        all.push((slot, after.iter().any(|&level| level > 0)));
    }
    all
}

#[test]
fn messages_keep_their_latency_bound() {
    let scene = Scene::new(2, |_, _| -70.0);
    for latency in [20, 50, 100] {
        let mut sidelink = letter(2);
        for round in 0..40 {
            let message = Message {
                latency,
                ..message(0, 121)
            };
            assert!(sidelink.offer(&message, &scene.reach()));
            let slot = sidelink.stations[0].planned.last().unwrap() - sidelink.now;
            assert!((1..=u64::from(latency)).contains(&slot), "{slot}");
            run(&mut sidelink, &scene, 200 * (round + 1));
        }
    }
}

#[test]
fn a_message_arrives_when_its_last_block_was_sent() {
    let scene = Scene::new(2, |_, _| -70.0);
    let mut sidelink = letter(2);
    for bytes in [121, 1_500] {
        run(&mut sidelink, &scene, 1_000 * u64::from(bytes));
        assert!(sidelink.offer(&message(0, bytes), &scene.reach()));
        let planned = sidelink.stations[0].planned.clone();
        let mut arrived = Vec::new();
        let until = sidelink.now + 60;
        sidelink.run(until, &scene.reach(), &mut arrived);
        assert_eq!(arrived.len(), 1);
        assert_eq!(planned.iter().max(), Some(&arrived[0].slot), "{bytes}");
    }
}

#[test]
fn a_resource_is_used_as_often_as_the_standard_says() {
    for (period, least, most) in [(100u16, 5, 15), (50, 10, 30), (20, 25, 75), (200, 5, 15)] {
        let drawn = |number| {
            let draw = Draws::new(1, DrawPurpose::Uses, 0, number).at(3, 0);
            uses(&SidelinkParameters::default(), period, draw)
        };
        let all: Vec<u32> = (0..2_000).map(drawn).collect();
        assert_eq!(
            all.iter().min().zip(all.iter().max()),
            Some((&least, &most)),
            "{period}"
        );
    }
    let draw = Draws::new(1, DrawPurpose::Uses, 0, 0).at(3, 0);
    assert_eq!(uses(&SidelinkParameters::default(), 0, draw), 1);
}

#[test]
fn resources_are_kept_as_often_as_asked_for() {
    let scene = Scene::new(1, |_, _| NEVER);
    let changes = |keep_probability| {
        let parameters = SidelinkParameters {
            keep_probability,
            ..SidelinkParameters::default()
        };
        let mut sidelink = pool(1, parameters);
        let (mut changes, mut last) = (0, u64::MAX);
        for round in 0..2_000 {
            let message = Message {
                period: 100,
                latency: 100,
                class: 0,
                ..message(0, 121)
            };
            sidelink.offer(&message, &scene.reach());
            let slot = sidelink.stations[0].planned.last().unwrap() % 100;
            changes += u32::from(slot != last);
            last = slot;
            run(&mut sidelink, &scene, 100 * (round + 1));
        }
        changes
    };
    // Every ten messages on average, or a fifth of that.
    let [never, often] = [changes(0.0), changes(0.8)];
    assert!((170..=230).contains(&never), "{never}");
    assert!((25..=60).contains(&often), "{often}");
}

#[test]
fn each_use_announces_the_next_but_for_the_last() {
    let parameters = SidelinkParameters {
        counter_min: 5,
        counter_max: 5,
        ..SidelinkParameters::default()
    };
    let told: Vec<bool> = beacons(parameters.clone(), 15)
        .iter()
        .map(|&(_, told)| told)
        .collect();
    let five = [true, true, true, true, false];
    assert_eq!(told, [five, five, five].concat());
    // Where a resource is kept, that is announced; so what is announced is what happens.
    let kept = SidelinkParameters {
        keep_probability: 0.6,
        ..parameters
    };
    let all = beacons(kept, 100);
    for pair in all.windows(2) {
        let [(slot, told), (next, _)] = pair else {
            continue;
        };
        assert_eq!(*told, *next == slot + 100, "{all:?}");
    }
    let last_uses = all.iter().skip(4).step_by(5);
    assert!(last_uses.clone().any(|(_, told)| *told));
    assert!(last_uses.clone().any(|(_, told)| !told));
}

#[test]
fn an_unused_reservation_is_lost_to_all_and_lapses() {
    let scene = Scene::new(3, |_, _| -70.0);
    for (reselect_after, keeps) in [(1, false), (2, true)] {
        let parameters = SidelinkParameters {
            reselect_after,
            ..SidelinkParameters::default()
        };
        let mut sidelink = pool(3, parameters);
        let beacon = Message {
            class: 0,
            period: 100,
            latency: 100,
            ..message(0, 121)
        };
        assert!(sidelink.offer(&beacon, &scene.reach()));
        let slot = sidelink.stations[0].planned[0];
        // The next message does not come. Stations 1 and 2 leave its resource alone all the same.
        run(&mut sidelink, &scene, 101);
        let ahead = (slot + 100 - 101) as u16;
        for station in [1, 2] {
            let free = left(&mut sidelink, station, 1);
            assert_eq!(free.len(), if ahead == 0 { 200 } else { 199 }, "{slot}");
        }
        // The one after it: the resource has passed once unused.
        run(&mut sidelink, &scene, 201);
        assert!(sidelink.offer(&beacon, &scene.reach()));
        let next = *sidelink.stations[0].planned.last().unwrap();
        assert_eq!(next == slot + 200, keeps, "{slot} {next}");
    }
}

#[test]
fn a_message_that_outgrows_its_resource_chooses_anew() {
    let scene = Scene::new(3, |_, _| -70.0);
    let parameters = SidelinkParameters {
        pool: PoolChoice::Preset(PoolPreset::Europe),
        ..SidelinkParameters::default()
    };
    let mut sidelink = pool(3, parameters);
    // In Europe's pool 121 B take one subchannel, 13 B of digest one more.
    let mut slots = Vec::new();
    for (round, bytes, count) in [(0, 121, 1), (1, 121, 1), (2, 134, 2), (3, 121, 2)] {
        let beacon = Message {
            class: 0,
            period: 100,
            latency: 100,
            ..message(0, bytes)
        };
        run(&mut sidelink, &scene, 100 * round);
        assert!(sidelink.offer(&beacon, &scene.reach()));
        let slot = *sidelink.stations[0].planned.last().unwrap();
        let sent = sidelink.queue[slot as usize % ROWS][0];
        assert_eq!(sent.count, count, "{round}");
        slots.push((slot - 100 * round, sent.first));
    }
    // The same resource until it is too small; a wider one is kept.
    assert_eq!(slots[0], slots[1]);
    assert_ne!(slots[1].0, slots[2].0);
    assert_eq!(slots[2], slots[3]);
}

#[test]
fn who_leaves_is_forgotten() {
    let scene = Scene::new(3, |_, _| -70.0);
    let mut sidelink = letter(3);
    sends(&mut sidelink, 1, 30, [0, 1], 100);
    run(&mut sidelink, &scene, 40);
    assert!(sidelink.offer(&message(0, 121), &scene.reach()));
    sidelink.forget(0);
    assert_eq!(left(&mut sidelink, 0, 1).len(), 200);
    assert!(sidelink.stations[0].grants.is_empty());
    assert_eq!(run(&mut sidelink, &scene, 200), []);
}

#[test]
fn a_pool_grows_without_forgetting() {
    let small = Scene::new(2, |_, _| -70.0);
    let mut sidelink = letter(2);
    sends(&mut sidelink, 0, 30, [0, 1], 100);
    run(&mut sidelink, &small, 50);
    sidelink.resize(40);
    assert_eq!(left(&mut sidelink, 1, 1).len(), 199);
    assert_eq!(left(&mut sidelink, 0, 1).len(), 198);
    assert_eq!(left(&mut sidelink, 30, 1).len(), 200);
}

#[test]
fn same_offers_same_arrivals() {
    let scene = Scene::new(10, |from, to| -60.0 - 2.0 * f64::from(from.abs_diff(to)));
    let all = || {
        let mut sidelink = letter(10);
        let mut arrived = Vec::new();
        for round in 0..20u64 {
            for station in 0..10 {
                let beacon = Message {
                    class: 0,
                    period: 100,
                    latency: 100,
                    address: round as u32,
                    ..message(station, 121)
                };
                sidelink.offer(&beacon, &scene.reach());
            }
            sidelink.run(100 * (round + 1), &scene.reach(), &mut arrived);
        }
        arrived
    };
    let one = all();
    assert_eq!(one, all());
    assert!(one.len() > 180);
}
