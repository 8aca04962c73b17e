//! Who hears whom: power sums, half duplex, blocks and second transmissions.

use super::*;

#[test]
fn nobody_hears_while_it_sends_and_the_stronger_captures() {
    // 0 and 1 send in one slot and subchannel; 2 receives 0 with 20 dB more.
    let scene = Scene::new(3, |from, to| match (from, to) {
        (1, 2) | (2, 1) => -80.0,
        _ => -60.0,
    });
    let mut sidelink = letter(3);
    for station in [0, 1] {
        sends(&mut sidelink, station, 10, [0, 1], 0);
    }
    assert_eq!(run(&mut sidelink, &scene, 11), [(0, vec![2]), (1, vec![])]);
    // In different subchannels 2 hears both; they still miss each other.
    sends(&mut sidelink, 0, 20, [0, 1], 0);
    sends(&mut sidelink, 1, 20, [1, 1], 0);
    assert_eq!(run(&mut sidelink, &scene, 21), [(0, vec![2]), (1, vec![2])]);
}

#[test]
fn interferers_add_up() {
    // Each interferer is 12 dB below what station 0 sends to 9; eight of them are 3 dB below it together.
    let scene = Scene::new(10, |from, to| match (from, to) {
        (0, 9) => -70.0,
        (1..9, 9) => -82.0,
        _ => NEVER,
    });
    let heard = |interferers: u32| {
        let mut sidelink = letter(10);
        let mut delivered = 0;
        for slot in 0..200 {
            sends(&mut sidelink, 0, slot, [0, 1], 0);
            for station in 1..=interferers {
                sends(&mut sidelink, station, slot, [0, 1], 0);
            }
        }
        for (ticket, receivers) in run(&mut sidelink, &scene, 200) {
            delivered += usize::from(ticket == 0 && receivers == [9]);
        }
        delivered
    };
    // 12 dB: 0.1 % lost. 3 dB: half, by the curve.
    assert!(heard(1) >= 197, "{}", heard(1));
    assert!((70..=130).contains(&heard(8)), "{}", heard(8));
}

#[test]
fn those_who_are_in_no_list_are_not_forgotten() {
    let scene = Scene::new(3, |from, to| if from + to == 1 { -85.0 } else { NEVER });
    // Station 2 is far from both, and still received with -83 dBm.
    let far = |from, to| if from == to { NEVER } else { -83.0 };
    let scene = scene.within(&[0, 0, 1], 2, far);
    let mut sidelink = letter(3);
    sends(&mut sidelink, 0, 10, [0, 1], 0);
    assert_eq!(run(&mut sidelink, &scene, 11), [(0, vec![1])]);
    sends(&mut sidelink, 0, 20, [0, 1], 0);
    sends(&mut sidelink, 2, 20, [0, 1], 0);
    assert_eq!(run(&mut sidelink, &scene, 21), [(0, vec![]), (2, vec![])]);
    // It is sensed, too: two subchannels of 100 in which something was sent are above -94 dBm.
    run(&mut sidelink, &scene, 100);
    assert_eq!(sidelink.busy_ratio(1), 2.0 / 200.0);
}

#[test]
fn who_is_listed_does_not_count_by_its_area_too() {
    // Of the areas of 0 and 1 some pairs are far from each other, of which one transmission gives -83 dBm; these two are listed.
    let scene = Scene::new(3, |from, to| if from + to == 1 { -85.0 } else { NEVER });
    let far = |from, to| if from == to { NEVER } else { -83.0 };
    let scene = scene.within(&[0, 1, 1], 2, far);
    let mut sidelink = letter(3);
    sends(&mut sidelink, 0, 10, [0, 1], 0);
    // It does not disturb itself.
    assert_eq!(run(&mut sidelink, &scene, 11), [(0, vec![1])]);
    // Station 1 senses the -85 dBm of the pair, station 2 the -83 dBm of the areas; noise adds 0.1 dB at most.
    let sensed = |station: u64| {
        let level = sidelink.medium.sensed_at(station as usize, 10)[0];
        10.0 * libm::log10(f64::from(levels::power(level)))
    };
    assert!((sensed(1) + 85.0).abs() < 0.4, "{}", sensed(1));
    assert!((sensed(2) + 83.0).abs() < 0.4, "{}", sensed(2));
}

#[test]
fn in_band_emission_drowns_the_weak_beside_the_strong() {
    // 1 is received 30 dB below 0, in the other subchannel; of 0 leaks 22 dB less.
    let scene = Scene::new(3, |from, _| if from == 1 { -80.0 } else { -50.0 });
    for (in_band_emission, heard) in [(false, vec![2]), (true, vec![])] {
        let mut sidelink = pool(
            3,
            SidelinkParameters {
                in_band_emission,
                ..SidelinkParameters::default()
            },
        );
        sends(&mut sidelink, 0, 10, [0, 1], 0);
        sends(&mut sidelink, 1, 10, [1, 1], 0);
        assert_eq!(run(&mut sidelink, &scene, 11), [(0, vec![2]), (1, heard)]);
    }
}

#[test]
fn without_its_control_message_a_block_is_neither_read_nor_counted_as_reserved() {
    // A wide block of station 0 meets a narrow one of 1 in its first subchannel, where its control message is.
    let scene = Scene::new(3, |from, _| if from == 1 { -60.0 } else { -70.0 });
    let mut sidelink = letter(3);
    sends(&mut sidelink, 0, 30, [0, 2], 100);
    sends(&mut sidelink, 1, 30, [0, 1], 100);
    assert_eq!(run(&mut sidelink, &scene, 50), [(0, vec![]), (1, vec![2])]);
    let of_2 = left(&mut sidelink, 2, 1);
    assert!(of_2.contains(&(80, 1)) && !of_2.contains(&(80, 0)));
}

#[test]
fn a_message_of_several_blocks_needs_all_of_them_in_slots_of_their_own() {
    let scene = Scene::new(2, |_, _| -70.0);
    let mut sidelink = letter(2);
    // Nine blocks of both subchannels.
    assert!(sidelink.offer(&message(0, 5_500), &scene.reach()));
    let mut slots = sidelink.stations[0].planned.clone();
    slots.sort_unstable();
    slots.dedup();
    assert_eq!(slots.len(), 9);
    assert!(
        slots.iter().all(|slot| (1..=50).contains(slot)),
        "{slots:?}"
    );
    assert_eq!(run(&mut sidelink, &scene, 60), [(9, vec![1])]);
    // If one of them cannot be read, it is lost: station 1 sends in the slot of the fifth.
    let again = Message {
        address: 4,
        ..message(0, 5_500)
    };
    while sidelink.now < 200 {
        run(&mut sidelink, &scene, 200);
    }
    assert!(sidelink.offer(&again, &scene.reach()));
    let mut later = sidelink.stations[0].planned.clone();
    later.sort_unstable();
    // Its resources were reserved, and are used again.
    assert_eq!(
        later,
        slots.iter().map(|slot| slot + 200).collect::<Vec<_>>()
    );
    sends(&mut sidelink, 1, later[4], [0, 1], 0);
    let arrived = run(&mut sidelink, &scene, 260);
    assert!(arrived.contains(&(9, vec![])), "{arrived:?}");
}

#[test]
fn a_block_that_is_sent_twice_is_read_if_either_is() {
    // Interference 2 dB below: seven of ten are lost each time by the curve.
    let scene = Scene::new(3, |from, to| match (from, to) {
        (0, 2) => -70.0,
        (1, 2) => -72.0,
        _ => NEVER,
    });
    let delivered = |retransmission| {
        let parameters = SidelinkParameters {
            retransmission,
            ..SidelinkParameters::default()
        };
        let mut sidelink = pool(3, parameters);
        let mut count = 0;
        for round in 0..300u32 {
            let begin = u64::from(round) * 200;
            run(&mut sidelink, &scene, begin);
            let message = Message {
                address: round,
                ..message(0, 121)
            };
            sidelink.offer(&message, &scene.reach());
            for slot in begin + 1..begin + 66 {
                sends(&mut sidelink, 1, slot, [0, 2], 0);
            }
            let arrived = run(&mut sidelink, &scene, begin + 100);
            count += arrived
                .iter()
                .filter(|(ticket, receivers)| *ticket == 9 && receivers == &[2])
                .count();
        }
        count as f64 / 300.0
    };
    let (once, twice) = (delivered(false), delivered(true));
    assert!(
        (twice - (1.0 - (1.0 - once).powi(2))).abs() < 0.1,
        "{once} {twice}"
    );
    assert!(once > 0.2 && twice > once + 0.1, "{once} {twice}");
}

#[test]
fn the_second_transmission_is_near_the_first_and_within_the_bound() {
    let scene = Scene::new(3, |_, _| -70.0);
    let parameters = SidelinkParameters {
        retransmission: true,
        ..SidelinkParameters::default()
    };
    let mut sidelink = pool(3, parameters);
    let mut before = 0;
    for round in 0..200u64 {
        let begin = 200 * round;
        run(&mut sidelink, &scene, begin);
        assert!(sidelink.offer(&message(0, 121), &scene.reach()));
        let planned = &sidelink.stations[0].planned;
        let [.., first, second] = planned[..] else {
            panic!("{planned:?}");
        };
        assert!((1..=15).contains(&first.abs_diff(second)), "{planned:?}");
        assert!(first.max(second) <= begin + 50, "{planned:?}");
        before += u32::from(second < first);
    }
    assert!((1..200).contains(&before), "{before}");
}
