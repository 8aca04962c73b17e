//! What stations measure of the channel, and what congestion control makes of it.

use super::*;

#[test]
fn busy_ratio_and_occupancy_are_shares_of_all_subchannels() {
    let scene = Scene::new(3, |from, to| match (from, to) {
        (0, 1) => -80.0,
        (0, 2) => -100.0,
        _ => NEVER,
    });
    let mut sidelink = letter(3);
    for slot in 0..10 {
        sends(&mut sidelink, 0, 10 * slot, [0, 1], 0);
    }
    run(&mut sidelink, &scene, 100);
    // Ten of 200; at -100 dBm it is not busy; the sender senses 90 slots, all idle.
    let busy = [0, 1, 2].map(|station| sidelink.busy_ratio(station));
    assert_eq!(busy, [0.0, 0.05, 0.0]);
    assert_eq!(sidelink.occupancy(0), 10.0 / 2_000.0);
    assert_eq!(sidelink.occupancy(1), 0.0);
}

#[test]
fn what_beacons_do_not_need_is_told_apart() {
    let scene = Scene::new(2, |_, _| -70.0);
    let mut sidelink = pool(
        2,
        SidelinkParameters {
            pool: PoolChoice::Preset(PoolPreset::Europe),
            ..SidelinkParameters::default()
        },
    );
    // A beacon of 121 B fits one of five subchannels; a digest of 13 B takes another.
    for (bytes, cooperative) in [(121, 0.0), (134, 1.0)] {
        let beacon = Message {
            class: 0,
            mandatory_bytes: 121,
            latency: 100,
            ..message(0, bytes)
        };
        let begin = sidelink.now;
        sidelink.offer(&beacon, &scene.reach());
        run(&mut sidelink, &scene, begin + 200);
        assert_eq!(sidelink.cooperative_ratio(1, 4), cooperative / 1_000.0);
    }
}

#[test]
fn a_subchannel_in_which_two_are_heard_is_taken_once() {
    // 0 and 1 do not hear each other and report in the same slot; 2 and 3 hear both. 3 sends in a slot of its own.
    let scene = Scene::new(4, |from, to| match from + to {
        1 => NEVER,
        _ => -70.0,
    });
    let mut sidelink = letter(4);
    for (station, slot, cells) in [(0, 10, [0, 1]), (1, 10, [0, 2]), (3, 20, [1, 1])] {
        sends(&mut sidelink, station, slot, cells, 0);
        sidelink.queue[slot as usize]
            .last_mut()
            .unwrap()
            .cooperative = cells[1];
    }
    run(&mut sidelink, &scene, 50);
    let heard = [2, 3].map(|station| sidelink.cooperative_ratio(station, 1));
    // 2 hears three of 100 taken, 3 two of the 98 in whose slots it does not send.
    assert_eq!(heard, [3.0 / 100.0, 2.0 / 98.0]);
}

#[test]
fn congestion_control_stops_what_passes_its_limit() {
    // Everything is busy: messages of priority 5 may take 0.3 % of the channel, six subchannels of 2,000 a second.
    let scene = Scene::new(2, |_, _| -70.0);
    let mut sidelink = pool(
        2,
        SidelinkParameters {
            congestion_control: CongestionControl::Ts103574,
            ..SidelinkParameters::default()
        },
    );
    let mut sent = 0;
    for round in 0..10 {
        let begin = 100 * round;
        for slot in begin..begin + 100 {
            sends(&mut sidelink, 1, slot, [0, 2], 0);
        }
        let beacon = Message {
            class: 0,
            period: 100,
            latency: 100,
            ..message(0, 121)
        };
        sent += u32::from(sidelink.offer(&beacon, &scene.reach()));
        run(&mut sidelink, &scene, begin + 100);
    }
    // The first went before the channel was found busy.
    assert_eq!(sent, 6);
    // A long broadcast never fits.
    assert!(!sidelink.offer(&message(0, 5_500), &scene.reach()));
}

#[test]
fn occupancy_counts_what_is_granted_and_what_is_of_lower_priority() {
    // Everything is busy. Of 2,000 subchannels a second, priorities 3 to 5 may take six, 1 and 2 forty.
    let scene = Scene::new(3, |_, _| -70.0);
    let parameters = SidelinkParameters {
        congestion_control: CongestionControl::Ts103574,
        beacon_priority: 2,
        report_priority: 5,
        broadcast_priority: 8,
        ..SidelinkParameters::default()
    };
    let mut sidelink = pool(3, parameters);
    for slot in 0..100 {
        sends(&mut sidelink, 1, slot, [0, 2], 0);
    }
    run(&mut sidelink, &scene, 100);
    let sent = |sidelink: &mut Sidelink, class: u8, priority, times: usize| {
        let message = Message {
            class,
            priority,
            period: 0,
            latency: 100,
            ..message(0, 121)
        };
        (0..times)
            .filter(|_| sidelink.offer(&message, &scene.reach()))
            .count()
    };
    // Priority 8 may take four; nothing of it has been sent when the fifth is offered.
    assert_eq!(sent(&mut sidelink, 2, 8, 6), 4);
    // They count for priority 5, which has six in all, and both for priority 2.
    assert_eq!(sent(&mut sidelink, 1, 5, 6), 2);
    assert_eq!(sent(&mut sidelink, 0, 2, 50), 34);
}
