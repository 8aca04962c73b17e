//! Scenes of a few stations, worked out by hand: who may not take which resource, who hears whom, and why.

use super::*;
use crate::{ChannelParameters, CongestionControl, CustomPool, LinkKind, PoolChoice, PoolPreset};

/// Stations that receive each other with the given powers in dBm; none where nothing is listed.
struct Scene {
    begin: Vec<u32>,
    receivers: Vec<u32>,
    power_mw: Vec<f32>,
    links: Vec<LinkClass>,
    ids: Vec<u32>,
    area: Vec<u16>,
    far_mw: Vec<f32>,
}

impl Scene {
    fn new(stations: u32, dbm: impl Fn(u32, u32) -> f64) -> Self {
        let mut scene = Self {
            begin: vec![0],
            receivers: Vec::new(),
            power_mw: Vec::new(),
            links: Vec::new(),
            ids: (100..100 + stations).collect(),
            area: Vec::new(),
            far_mw: Vec::new(),
        };
        for from in 0..stations {
            for to in (0..stations).filter(|&to| to != from && dbm(from, to).is_finite()) {
                scene.receivers.push(to);
                scene
                    .power_mw
                    .push(levels::milliwatts(dbm(from, to)) as f32);
            }
            scene.begin.push(scene.receivers.len() as u32);
        }
        let link = LinkClass::new(LinkKind::Los, true);
        scene.links.resize(scene.receivers.len(), link);
        scene
    }

    fn reach(&self) -> Reach<'_> {
        let far = (!self.area.is_empty()).then_some(Far {
            area: &self.area,
            power_mw: &self.far_mw,
            areas: self.far_mw.len().isqrt(),
        });
        Reach {
            begin: &self.begin,
            receivers: &self.receivers,
            power_mw: &self.power_mw,
            links: &self.links,
            ids: &self.ids,
            far,
        }
    }
}

const NEVER: f64 = f64::NEG_INFINITY;

fn pool(stations: usize, sidelink: SidelinkParameters) -> Sidelink {
    let parameters = ChannelParameters {
        sidelink,
        ..ChannelParameters::default()
    };
    let mut sidelink = Sidelink::new(&Channel::new(parameters).unwrap(), 5).unwrap();
    sidelink.resize(stations);
    sidelink
}

/// The letter's pool: two subchannels.
fn letter(stations: usize) -> Sidelink {
    pool(stations, SidelinkParameters::default())
}

/// Somebody sends in a slot, whatever it would have chosen.
fn sends(sidelink: &mut Sidelink, station: u32, slot: u64, [first, count]: [u8; 2], period: u16) {
    let message = sidelink.flights.len() as u32;
    sidelink.flights.push(Flight {
        ticket: u64::from(station),
        station,
        left: 1,
        parts: vec![Vec::new()],
        ..Flight::default()
    });
    sidelink.queue[slot as usize % ROWS].push(Transmission {
        station,
        first,
        count,
        cooperative: 0,
        class: 0,
        period,
        address: slot << 32,
        message,
    });
}

fn run(sidelink: &mut Sidelink, scene: &Scene, until: u64) -> Vec<(u64, Vec<u32>)> {
    let mut arrived = Vec::new();
    sidelink.run(until, &scene.reach(), &mut arrived);
    arrived
        .into_iter()
        .map(|arrival| (arrival.ticket, arrival.receivers))
        .collect()
}

/// What is left for a station to choose from: slots counted from now, and first subchannels.
fn left(sidelink: &mut Sidelink, station: u32, count: u8) -> Vec<(u16, u8)> {
    let wish = Wish {
        count,
        period: 100,
        first: 1,
        last: 100,
    };
    let (now, rule) = (sidelink.now, sidelink.rule);
    let subchannels = sidelink.pool.subchannels();
    sidelink
        .medium
        .choose(station, now, &wish, &rule, |_| false, 77);
    sidelink.medium.choice.left(subchannels, &wish)
}

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
    let mut scene = Scene::new(3, |from, to| if from + to == 1 { -85.0 } else { NEVER });
    // Station 2 is far from both, and still received with -83 dBm.
    scene.area = vec![0, 0, 1];
    let far = levels::milliwatts(-83.0) as f32;
    scene.far_mw = vec![0.0, far, far, 0.0];
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

fn message(station: u32, bytes: u32) -> Message {
    Message {
        ticket: 9,
        station,
        class: 2,
        bytes,
        period: 200,
        latency: 50,
        priority: 5,
        ..Message::default()
    }
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
