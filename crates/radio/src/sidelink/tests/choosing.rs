//! Who may not take which resource, and why.

use super::*;

#[test]
fn a_station_does_not_take_slots_that_it_could_not_sense() {
    let scene = Scene::new(2, |_, _| -70.0);
    let mut sidelink = letter(2);
    sends(&mut sidelink, 0, 30, [0, 1], 0);
    run(&mut sidelink, &scene, 50);
    // Slot 130 repeats slot 30, in which station 0 sent and was deaf: both subchannels are out. Station 1 heard all.
    let of_0 = left(&mut sidelink, 0, 1);
    assert!(!of_0.contains(&(80, 0)) && !of_0.contains(&(80, 1)));
    assert_eq!(of_0.len(), 198);
    assert_eq!(left(&mut sidelink, 1, 1).len(), 200);
    // After a second it is forgotten.
    run(&mut sidelink, &scene, 1_031);
    assert_eq!(left(&mut sidelink, 0, 1).len(), 200);
}

#[test]
fn an_announced_resource_is_left_to_who_announced_it() {
    let scene = Scene::new(3, |a, b| if a + b == 1 { -70.0 } else { NEVER });
    let mut sidelink = letter(3);
    sends(&mut sidelink, 0, 30, [1, 1], 100);
    run(&mut sidelink, &scene, 50);
    let of_1 = left(&mut sidelink, 1, 1);
    assert!(of_1.contains(&(80, 0)) && !of_1.contains(&(80, 1)));
    assert_eq!(of_1.len(), 199);
    // A message that needs both subchannels cannot have the slot at all.
    assert_eq!(left(&mut sidelink, 1, 2).len(), 99);
    // Station 2 hears nobody.
    assert_eq!(left(&mut sidelink, 2, 1).len(), 200);
    // The reservation is for one use: when it has passed, nothing is left of it.
    run(&mut sidelink, &scene, 131);
    assert_eq!(left(&mut sidelink, 1, 1).len(), 200);
}

#[test]
fn longer_periods_are_met_where_ones_own_uses_would_meet_them() {
    let scene = Scene::new(2, |_, _| -70.0);
    let mut sidelink = letter(2);
    // Announced for slot 230: who sends every 100 slots from 130 on would collide there.
    sends(&mut sidelink, 0, 30, [0, 1], 200);
    run(&mut sidelink, &scene, 50);
    assert!(!left(&mut sidelink, 1, 1).contains(&(80, 0)));
}

#[test]
fn who_comes_more_often_is_left_more_slots() {
    // A period of 20 slots, announced in slot 30, counts for the next 100 slots.
    let scene = Scene::new(3, |_, _| -70.0);
    let mut sidelink = letter(3);
    sends(&mut sidelink, 0, 30, [1, 1], 20);
    run(&mut sidelink, &scene, 31);
    let free = left(&mut sidelink, 1, 1);
    let out: Vec<u16> = (1..=100)
        .filter(|&ahead| !free.contains(&(ahead, 1)))
        .collect();
    // Slots 50, 70, 90, 110 and 130, seen from 31.
    assert_eq!(out, [19, 39, 59, 79, 99]);
    assert_eq!(free.len(), 195);
}

#[test]
fn the_last_use_and_what_is_too_weak_exclude_nothing() {
    for (dbm, period, excluded) in [(-70.0, 100, true), (-70.0, 0, false), (-95.0, 100, false)] {
        let scene = Scene::new(2, |_, _| dbm);
        let mut sidelink = letter(2);
        sends(&mut sidelink, 0, 30, [0, 1], period);
        run(&mut sidelink, &scene, 50);
        let taken = !left(&mut sidelink, 1, 1).contains(&(80, 0));
        // -110 dBm of reference power are -85.2 dBm over the 300 subcarriers of 25 blocks.
        assert_eq!(taken, excluded, "{dbm} dBm, {period}");
    }
}

#[test]
fn the_threshold_rises_until_a_fifth_is_left() {
    // Ten neighbours reserve all of the next 100 slots: 0 to 7 are received strongly, 8 and 9 by some 6 dB more weakly.
    let scene = Scene::new(11, |from, _| if from < 8 { -70.0 } else { -76.0 });
    let mut sidelink = letter(11);
    for slot in 0..100 {
        sends(&mut sidelink, (slot % 10) as u32, slot, [0, 2], 100);
    }
    run(&mut sidelink, &scene, 100);
    let left = left(&mut sidelink, 10, 1);
    // Those of stations 8 and 9 alone, and slot 200, which nobody has reserved yet.
    let free = |&(ahead, _): &(u16, u8)| ahead % 10 >= 8 || ahead == 100;
    assert!(left.len() == 42 && left.iter().all(free), "{left:?}");
}

#[test]
fn the_threshold_rises_by_three_decibels_at_a_time() {
    // -110 dBm of reference power are -85.2 dBm over the 300 subcarriers of 25 blocks. Of 100 slots, all reserved, station 0 has
    // ten with 1 dB more than the threshold, station 1 twenty with 4 dB more, station 2 the rest with 7 dB more.
    let scene = Scene::new(4, |from, _| -84.2 + 3.0 * f64::from(from) + 3.0);
    let mut sidelink = letter(4);
    for slot in 0..100 {
        let station = match slot {
            0..10 => 0,
            10..30 => 1,
            _ => 2,
        };
        // Both subchannels: half of the power in each.
        sends(&mut sidelink, station, slot, [0, 2], 100);
    }
    run(&mut sidelink, &scene, 100);
    // At -107 dBm station 0's ten slots would be free, less than a fifth; at -104 dBm station 1's are, too. Slot 200 is nobody's.
    let free: Vec<(u16, u8)> = (0..30u16)
        .chain([100])
        .filter(|&ahead| ahead > 0)
        .flat_map(|ahead| [(ahead, 0), (ahead, 1)])
        .collect();
    assert_eq!(left(&mut sidelink, 3, 1), free);
}

#[test]
fn of_what_is_left_the_quietest_fifth_is_taken() {
    // A neighbour that reserves nothing uses all but the last 20 of 100 slots.
    let scene = Scene::new(2, |_, _| -70.0);
    let wish = Wish {
        count: 1,
        period: 100,
        first: 1,
        last: 100,
    };
    for average in [true, false] {
        let mut sidelink = pool(
            2,
            SidelinkParameters {
                average_rssi: average,
                ..SidelinkParameters::default()
            },
        );
        for slot in (0..1_000).filter(|slot| slot % 100 < 80) {
            sends(&mut sidelink, 0, slot, [0, 2], 0);
        }
        run(&mut sidelink, &scene, 1_000);
        let rule = sidelink.rule;
        let quiet = (0..200u64).all(|try_| {
            let bits = try_.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let taken = sidelink
                .medium
                .choose(1, 1_000, &wish, &rule, |_| false, bits);
            (80..=99).contains(&taken.unwrap().0)
        });
        // LTE listens to the average; NR takes any that is not reserved.
        assert_eq!(quiet, average);
    }
}

#[test]
fn a_message_takes_a_slot_between_t1_and_t2() {
    let scene = Scene::new(3, |_, _| -70.0);
    let parameters = SidelinkParameters {
        t1_ms: 4,
        t2_ms: 20,
        ..SidelinkParameters::default()
    };
    let mut sidelink = pool(3, parameters);
    let mut taken = [0u32; 101];
    for round in 0..400u32 {
        let message = Message {
            period: 0,
            latency: 100,
            address: round,
            ..message(round % 3, 121)
        };
        let begin = sidelink.now;
        assert!(sidelink.offer(&message, &scene.reach()));
        let planned = &sidelink.stations[round as usize % 3].planned;
        taken[(planned.last().unwrap() - begin) as usize] += 1;
        run(&mut sidelink, &scene, begin + 30);
    }
    let slots = |range: std::ops::RangeInclusive<usize>| taken[range].iter().sum::<u32>();
    assert_eq!((slots(0..=3), slots(4..=20), slots(21..=100)), (0, 400, 0));
    assert!(taken[4] > 0 && taken[20] > 0, "{taken:?}");
}

#[test]
fn what_a_station_sends_does_not_meet_itself() {
    // Beacons, reports and broadcasts of several blocks, all reserved: never two of them in one slot.
    let scene = Scene::new(3, |_, _| -70.0);
    let mut sidelink = letter(3);
    for round in 0..60u64 {
        run(&mut sidelink, &scene, 100 * round);
        for (class, bytes, period, latency) in
            [(0, 121, 100, 100), (1, 400, 200, 50), (2, 4_000, 200, 50)]
        {
            if class > 0 && round % 2 == 1 {
                continue;
            }
            let message = Message {
                class,
                period,
                latency,
                ..message(0, bytes)
            };
            assert!(sidelink.offer(&message, &scene.reach()));
        }
        let now = sidelink.now;
        let mut planned = sidelink.stations[0].planned.clone();
        planned.retain(|&slot| slot >= now);
        let all = planned.len();
        planned.sort_unstable();
        planned.dedup();
        assert_eq!(planned.len(), all);
    }
}

#[test]
fn senseless_parameters_are_refused_by_name() {
    let refused = |change: fn(&mut SidelinkParameters)| {
        let mut parameters = ChannelParameters::default();
        change(&mut parameters.sidelink);
        Channel::new(parameters).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|p| p.pool = PoolChoice::Custom(CustomPool {
            subchannels: 0,
            resource_blocks: 10,
            mcs: 6
        })),
        "sidelink.pool.subchannels: found 0, expected 1 to 10"
    );
    assert_eq!(
        refused(|p| p.pool = PoolChoice::Custom(CustomPool {
            subchannels: 5,
            resource_blocks: 10,
            mcs: 29
        })),
        "sidelink.pool.mcs: found 29, expected 0 to 20"
    );
    assert_eq!(
        refused(|p| p.t2_ms = 0),
        "sidelink.t2_ms: found 0, expected 20 to 100 ms"
    );
    assert!(refused(|p| p.counter_max = 2).starts_with("sidelink.counter_max: found 2"));
    assert!(refused(|p| p.keep_probability = 0.9).starts_with("sidelink.keep_probability"));
    assert!(
        refused(|p| {
            p.in_band_emission = true;
            p.pool = PoolChoice::Custom(CustomPool {
                subchannels: 3,
                resource_blocks: 10,
                mcs: 6,
            });
        })
        .starts_with("sidelink.pool.subchannels: found 3")
    );
}
