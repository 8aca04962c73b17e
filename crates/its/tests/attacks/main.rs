//! Attacks on real participants over real bytes. Each is a row of docs/security.md.

mod air;

use air::{Air, STEP, beacon, claim, object, report, standing_at};
use covey_protocol::messages::{Broadcast, Message};
use covey_protocol::{AgentId, Cell, Duration, Event, Instant, Position, Profile};

/// Eight stations along a road; number 4 is nearest the centre and hosts.
fn road(profile: Profile) -> Air {
    let mut air = Air::new(profile);
    for (id, x) in (1..=8).zip([40.0, 100.0, 170.0, 245.0, 300.0, 350.0, 410.0, 470.0]) {
        air.add(id, x, 250.0);
    }
    air.run(2_000, |_| {});
    assert_eq!(air.hosts(), [4]);
    air
}

fn is_cycle(now: Instant) -> bool {
    let cycle = Duration::from_millis(200);
    now.floor_to(cycle, Duration::from_millis(150)) == now
}

fn is_beacon_slot(now: Instant) -> bool {
    now.floor_to(Duration::from_millis(100), Duration::ZERO) == now
}

/// Somebody who beacons and claims the tile, cycle by cycle.
fn pretend(air: &mut Air, id: u64, place: Position, change: impl Fn(&mut Broadcast)) {
    let now = air.now;
    if is_beacon_slot(now) {
        air.forge(&beacon(id, place, now, &[]), &standing_at(place));
    }
    if is_cycle(now) {
        let mut forged = claim(id, place, now, (now.micros() / 200_000) as u32);
        change(&mut forged);
        air.forge(&Message::Broadcast(forged), &standing_at(place));
    }
}

/// When real hosts spoke since `since`: the longest pause, in milliseconds.
fn longest_pause(air: &Air, since: Instant) -> i64 {
    let mut last = since;
    let mut longest = 0;
    for broadcast in air.broadcasts(since) {
        longest = longest.max(broadcast.at.since(last).micros() / 1_000);
        last = broadcast.at;
    }
    longest.max(air.now.since(last).micros() / 1_000)
}

fn changes_of_office(air: &Air, since: Instant) -> usize {
    let events = air.events.iter().filter(|(at, _, _)| *at >= since);
    events
        .filter(|(_, _, event)| matches!(event, Event::LeftOffice(_) | Event::TookOffice(_)))
        .count()
}

#[test]
fn a_host_far_off_is_no_host() {
    let mut air = road(Profile::letter());
    let since = air.now;
    air.run(5_000, |air| {
        pretend(air, 66, Position::new(80_000.0, 250.0), |forged| {
            forged.tenure = Duration::from_millis(4_000_000_000);
            forged.price = 1_677.0;
        });
    });
    assert_eq!((air.hosts(), changes_of_office(&air, since)), (vec![4], 0));
    assert_eq!(air.broadcasts(since).len(), 25);
    assert!(air.broadcasts(since).iter().all(|b| b.price < 1.0));
    let refusals = air.node(4).participant.refusals();
    assert!(
        refusals.hosts >= 20 && refusals.places >= 20,
        "{refusals:?}"
    );
    // Nor is one that says that it is in another tile than the one that it claims.
    air.run(2_000, |air| {
        pretend(air, 67, Position::new(520.0, 250.0), |_| {});
    });
    assert_eq!(air.hosts(), [4]);
}

#[test]
fn a_host_nearby_that_serves_nobody_loses_the_office() {
    for names in [Vec::new(), vec![AgentId(900), AgentId(901)]] {
        for profile in [Profile::letter(), Profile::demand()] {
            let mut air = road(profile);
            let since = air.now;
            air.run(30_000, |air| {
                pretend(air, 66, Position::new(255.0, 260.0), |forged| {
                    forged.contributors.clone_from(&names);
                });
            });
            // It is believed for 3 s, and none like it for a minute.
            let pause = longest_pause(&air, since);
            assert!(pause <= 4_600, "{pause} ms");
            let spoken = air.broadcasts(since).len();
            assert!(spoken >= 120, "{spoken} of 150");
            // Another of its kind is not believed before it has served.
            let since = air.now;
            air.run(10_000, |air| {
                pretend(air, 67, Position::new(250.0, 255.0), |_| {});
            });
            let pause = longest_pause(&air, since);
            assert!(pause <= 400, "{pause} ms");
        }
    }
}

#[test]
fn a_host_that_falls_silent_is_passed_over() {
    // As it is, and where nobody waits for one whose every beacon is heard.
    for (silent_share, most_ms) in [(2.0, 2_600), (1.0, 1_400)] {
        let mut profile = Profile::letter();
        profile.parameters.guard.silent_share = silent_share;
        let mut air = road(profile);
        let place = Position::new(250.0, 252.0);
        air.run(1_000, |air| pretend(air, 66, place, |_| {}));
        let since = air.now;
        // It goes on to beacon from the very centre.
        air.run(6_000, |air| {
            if is_beacon_slot(air.now) {
                let now = air.now;
                air.forge(&beacon(66, place, now, &[]), &standing_at(place));
            }
        });
        let pause = longest_pause(&air, since);
        assert!(pause <= most_ms, "{pause} ms");
        assert_eq!(air.hosts().len(), 1);
    }
}

#[test]
fn beacons_from_the_centre_do_not_unseat_a_host() {
    for count in [1, 20] {
        let mut air = Air::new(Profile::demand());
        for (id, x) in [(1, 100.0), (2, 60.0), (3, 20.0)] {
            air.add(id, x, 250.0);
        }
        air.run(2_000, |_| {});
        assert_eq!(air.hosts(), [1]);
        let since = air.now;
        air.run(60_000, |air| {
            if is_beacon_slot(air.now) {
                for k in 0..count {
                    let place = Position::new(250.0 + k as f64, 250.0);
                    let now = air.now;
                    air.forge(&beacon(600 + k, place, now, &[]), &standing_at(place));
                }
            }
        });
        let spoken = air.broadcasts(since).len();
        assert!(spoken >= 270, "{count} forged: {spoken} of 300");
    }
}

#[test]
fn what_was_said_an_hour_or_65_seconds_ago_is_not_said_again() {
    let mut air = road(Profile::letter());
    let cam = |air: &Air, id| {
        let mut sent = air.sent.iter().rev();
        let found = sent.find(|(_, m, _)| matches!(m, Message::Beacon(_)) && m.sender() == id);
        found.unwrap().2.clone()
    };
    let mut sent = air.sent.iter().rev();
    let old = sent.find(|(_, m, _)| matches!(m, Message::Broadcast(_)));
    let old = old.unwrap().2.clone();
    let old_cam = cam(&air, AgentId(8));
    air.node(4).alive = false;
    air.run(65_536 - 86, |_| {});
    let host = air.hosts();
    let before = air.now;
    // The CAM's sixteen bits of time say the same again; its sender has gone elsewhere in the meantime.
    air.node(8).position = Position::new(150.0, 255.0);
    air.run(1_000, |_| {});
    for _ in 0..20 {
        air.replay(old.clone());
        air.replay(old_cam.clone());
        air.run(50, |_| {});
    }
    assert_eq!((air.hosts(), changes_of_office(&air, before)), (host, 0));
    let known = air.node(2).participant.listener();
    let seen = known.known(covey_protocol::ObjectId(8)).unwrap().state;
    assert!(seen.position.distance(Position::new(150.0, 255.0)) < 1.0);
}

/// The header of a packet tells an old CAM from a new one.
#[test]
fn a_packet_tells_how_old_its_cam_is() {
    use covey_its::frame::{Message as Read, PORT_CAM, Source, decode_frame, encode_frame};
    use covey_its::{EarthPosition, ItsTime, TangentPlane, Wire};
    let plane = TangentPlane::new(EarthPosition::new(35.6123, 139.6273), 0.0);
    // 2^32 ms of ITS time pass within the next seconds, and 2^16 do.
    let wrap = (1_u64 << 32) * 170;
    for zero in [
        ItsTime(wrap - 2_000),
        ItsTime::from_unix_millis(1_794_783_600_000).unwrap(),
    ] {
        let wire = Wire::new(&plane, zero);
        for millis in [0, 1_999, 2_000, 2_001, 70_000] {
            let at = Instant::from_millis(millis);
            let Message::Beacon(said) = beacon(5, Position::new(10.0, 20.0), at, &[]) else {
                unreachable!()
            };
            let cam = wire.cam(&said, None).unwrap();
            let source = Source::of_cam(&cam, wire.its_time(at).unwrap());
            let frame = encode_frame(&cam.encode().unwrap(), PORT_CAM, &source).unwrap();
            let decoded = decode_frame(&frame).unwrap();
            let Read::Cam(read) = &decoded.message else {
                panic!("{decoded:?}")
            };
            for late in [0, 3, 65_536, 3_600_000] {
                let heard = at + Duration::from_millis(late);
                let packet_ms = decoded.time_ms.unwrap();
                let heard_as = wire.beacon_in(read, packet_ms, heard).unwrap();
                assert_eq!(heard_as.at, at, "{late} ms late");
            }
            // By itself it seems to be new.
            let again = wire.beacon(read, at + Duration::from_millis(65_536));
            assert_eq!(again.unwrap().at, at + Duration::from_millis(65_536));
        }
    }
}

#[test]
fn one_word_makes_nobody_speak_for_seconds_and_many_hosts_not_more_than_one() {
    let mut air = road(Profile::letter());
    let place = Position::new(255.0, 260.0);
    // The 65 s of the longest lease, said once.
    let mut forged = claim(66, place, air.now, 0);
    forged.contributors = vec![AgentId(1), AgentId(2)];
    forged.lease = Duration::from_millis(65_535);
    let since = air.now;
    air.forge(&Message::Broadcast(forged), &standing_at(place));
    air.run(5_000, |_| {});
    assert!(
        air.reports_of(2, since) <= 5,
        "{}",
        air.reports_of(2, since)
    );
    // Forty hosts ask, each in every cycle: one report a cycle.
    let since = air.now;
    air.run(5_000, |air| {
        for k in 0..40 {
            pretend(
                air,
                700 + k,
                Position::new(200.0 + k as f64, 260.0),
                |forged| {
                    forged.contributors = vec![AgentId(2)];
                    forged.tenure = Duration::ZERO;
                },
            );
        }
    });
    assert!(air.reports_of(2, since) <= 26);
    // One that is farther off than any host asks is not obeyed.
    let mut air = road(Profile::letter());
    let far = Position::new(250.0, 1_200.0);
    let since = air.now;
    air.run(3_000, |air| {
        pretend(air, 66, far, |forged| {
            forged.tile = covey_protocol::Tile::new(0, 2);
            forged.contributors = vec![AgentId(2)];
        });
    });
    assert_eq!(air.reports_of(2, since), 0);
}

#[test]
fn a_price_is_inherited_within_bounds() {
    let mut air = road(Profile::letter());
    let place = Position::new(255.0, 260.0);
    air.run(1_000, |air| {
        pretend(air, 66, place, |forged| forged.price = 1_677.0);
    });
    let gone = air.now;
    air.run(3_000, |_| {});
    let first = air.broadcasts(gone)[0].price;
    assert!(first <= 64.0, "{first}");
    air.run(45_000, |_| {});
    let last = air.broadcasts(gone).last().unwrap().price;
    assert!(last < 0.1, "{last}");
}

#[test]
fn ghosts_do_not_silence_a_host() {
    for profile in [Profile::letter(), Profile::demand()] {
        let mut air = road(profile);
        let place = Position::new(260.0, 240.0);
        let since = air.now;
        air.run(6_000, |air| {
            let now = air.now;
            if is_beacon_slot(now) {
                air.forge(&beacon(66, place, now, &[]), &standing_at(place));
                for part in 0..4 {
                    let ghosts = (0..150).map(|k| {
                        let k = 150 * part + k;
                        let at = Position::new(
                            120.0 + 12.0 * (k % 25) as f64,
                            180.0 + 6.0 * (k / 25) as f64,
                        );
                        object(5_000 + k, at, now)
                    });
                    air.forge(&report(66, now, ghosts.collect()), &standing_at(place));
                }
            }
        });
        // Every broadcast went into bytes, or this would have stopped; none is longer than ghosts may make it.
        let broadcasts = air.broadcasts(since);
        assert_eq!(broadcasts.len(), 30);
        let most = broadcasts.iter().map(|b| b.objects.len()).max().unwrap();
        assert!(most <= 192 + 8, "{most}");
        assert_eq!(air.hosts(), [4]);
    }
}

#[test]
fn a_digest_without_anything_behind_it_is_not_asked_for_long() {
    let mut air = road(Profile::conditional_with(
        covey_protocol::Parameters::default(),
    ));
    let cells: Vec<Cell> = (0..25)
        .flat_map(|ix| (11..14).map(move |iy| Cell::new(ix, iy)))
        .collect();
    let place = Position::new(260.0, 240.0);
    let since = air.now;
    let mut named = 0;
    air.run(30_000, |air| {
        let now = air.now;
        if is_beacon_slot(now) {
            air.forge(&beacon(66, place, now, &cells), &standing_at(place));
        }
    });
    for broadcast in air.broadcasts(since) {
        named += usize::from(broadcast.contributors.contains(&AgentId(66)));
    }
    assert!((1..=40).contains(&named), "asked in {named} of 150 cycles");
    let host = air.node(4).participant.host().unwrap();
    assert!(!host.contributors().contains(&AgentId(66)));
}

#[test]
fn stations_that_jump_or_are_out_of_reach_are_not_believed() {
    let mut air = road(Profile::letter());
    let lie = Position::new(470.0, 480.0);
    // Somebody speaks in the name of 5, of which 5 itself tells the truth.
    air.run(2_000, |air| {
        let now = air.now + Duration::from_millis(1);
        air.forge(&beacon(5, lie, now, &[]), &standing_at(lie));
    });
    let listener = air.node(2).participant.listener();
    let known = listener.known(covey_protocol::ObjectId(5)).unwrap().state;
    assert!(known.position.distance(Position::new(300.0, 250.0)) < 1.0);
    let far = Position::new(2_500.0, 250.0);
    air.run(1_000, |air| {
        let now = air.now;
        air.forge(&beacon(77, far, now, &[]), &standing_at(far));
    });
    let listener = air.node(2).participant.listener();
    assert!(listener.known(covey_protocol::ObjectId(77)).is_none());
}

#[test]
fn clocks_that_differ_or_jump_do_not_stop_the_service() {
    // Some tens of milliseconds apart, all know each other and one hosts.
    let mut air = road(Profile::letter());
    for (id, millis) in [(1, 40), (2, -40), (5, 25), (7, -25)] {
        air.node(id).clock = Duration::from_millis(millis);
    }
    let since = air.now;
    air.run(5_000, |_| {});
    assert_eq!((air.hosts(), changes_of_office(&air, since)), (vec![4], 0));
    for id in 1..=8 {
        let known = air.node(id).participant.listener().iter().count();
        assert_eq!(known, 7, "{id}");
    }
    // The host's clock jumps for one step, and is right again: the service is back within 1.4 s.
    for jump in [3_600_000, -3_600_000, 700] {
        let mut air = road(Profile::letter());
        let since = air.now;
        air.node(4).clock = Duration::from_millis(jump);
        air.run(50, |_| {});
        air.node(4).clock = Duration::ZERO;
        air.run(4_000, |_| {});
        let pause = longest_pause(&air, since);
        assert!(pause <= 1_400, "{jump}: {pause} ms");
        assert_eq!(air.hosts().len(), 1);
        let beacons = air.sent.iter().filter(|(at, m, _)| {
            *at >= since + STEP && matches!(m, Message::Beacon(_)) && m.sender() == AgentId(4)
        });
        assert!(beacons.count() >= 38);
        assert_eq!(air.node(4).participant.listener().iter().count(), 7);
    }
    // A sender an hour ahead is not heard, and holds nothing back.
    let mut air = road(Profile::letter());
    air.run(1_000, |air| {
        let place = Position::new(255.0, 260.0);
        let later = air.now + Duration::from_millis(20_000);
        let forged = claim(66, place, later, 1);
        air.forge(&Message::Broadcast(forged), &standing_at(place));
    });
    assert_eq!(air.hosts(), [4]);
    assert!(air.node(4).participant.refusals().ahead >= 20);
}

#[test]
fn a_flood_of_names_crowds_nobody_out() {
    let mut air = road(Profile::letter());
    let since = air.now;
    let mut next = 10_000_u64;
    air.run(5_000, |air| {
        // 2,000 a second are more than the channel carries.
        for _ in 0..100 {
            next += 1;
            let place = Position::new(200.0 + (next % 97) as f64, 200.0 + (next % 89) as f64);
            let now = air.now;
            air.forge(&beacon(next, place, now, &[]), &standing_at(place));
        }
    });
    assert_eq!((air.hosts(), changes_of_office(&air, since)), (vec![4], 0));
    assert_eq!(air.broadcasts(since).len(), 25);
    for id in [1, 2, 8] {
        let listener = air.node(id).participant.listener();
        for other in (1..=8).filter(|&other| other != id) {
            assert!(listener.known(covey_protocol::ObjectId(other)).is_some());
        }
    }
    assert!(air.node(1).participant.refusals().stations > 1_000);
}
