//! What a host's broadcasts list, and what they leave unsaid.

use covey_protocol::host::Host;
use covey_protocol::messages::{Broadcast, Confidence, ObjectState};
use covey_protocol::parameters::BroadcastContent;
use covey_protocol::{
    AgentId, Duration, Event, Input, ObjectId, Output, Parameters, Position, Profile, Velocity,
};

use super::host::{cycle, host, listed};
use super::{TILE, at, beacon, broadcast, object, report, standing};

/// A cycle in which the host's own sensors see these.
fn seeing(host: &mut Host, begin: i64, objects: &[ObjectState]) -> Broadcast {
    let cells = &[];
    cycle(host, begin, |host, ms| {
        let fresh: Vec<ObjectState> = objects
            .iter()
            .map(|o| ObjectState {
                sensed_at: at(ms),
                ..*o
            })
            .collect();
        let objects = &fresh;
        host.handle_input(at(ms), Input::Sensed { objects, cells });
    })
}

fn moving(id: u64, x: f64, y: f64, vx: f64, vy: f64) -> ObjectState {
    ObjectState {
        position: Position::new(x, y),
        velocity: Velocity::new(vx, vy),
        ..object(id, x, 0)
    }
}

#[test]
fn once_a_second_all_is_listed_and_between_only_what_changed() {
    let mut host = host();
    let objects = [moving(70, 260.0, 250.0, 5.0, 0.0)];
    for k in 0..11 {
        let spoken = seeing(&mut host, 200 * k, &objects);
        assert_eq!(spoken.full, k % 5 == 0, "{k}");
        assert_eq!(spoken.objects.len(), usize::from(k % 5 == 0), "{k}");
        assert_eq!(spoken.withdrawn, []);
        // What is left unsaid is as it was when it was last seen.
        let since = if k % 5 == 0 { 199 } else { 10 };
        assert_eq!(spoken.unchanged_since, at(200 * k + since), "{k}");
        assert_eq!(spoken.sequence, k as u32);
        assert_eq!(spoken.cycle_start, at(200 * k));
        assert_eq!(spoken.tenure, Duration::from_millis(200 * k + 199));
    }
}

#[test]
fn a_tenth_of_a_metre_or_of_a_metre_per_second_is_a_change() {
    let first = moving(70, 260.0, 250.0, 5.0, 0.0);
    for (next, changed) in [
        (moving(70, 260.09, 250.0, 5.0, 0.0), false),
        (moving(70, 260.11, 250.0, 5.0, 0.0), true),
        (moving(70, 260.0, 249.91, 5.0, 0.0), false),
        (moving(70, 260.0, 249.89, 5.0, 0.0), true),
        (moving(70, 260.08, 250.08, 5.0, 0.0), true),
        (moving(70, 260.0, 250.0, 5.09, 0.0), false),
        (moving(70, 260.0, 250.0, 5.11, 0.0), true),
        (moving(70, 260.0, 250.0, 5.0, -0.09), false),
        (moving(70, 260.0, 250.0, 5.0, -0.11), true),
    ] {
        let mut host = host();
        seeing(&mut host, 0, &[first]);
        let spoken = seeing(&mut host, 200, &[next]);
        assert_eq!(spoken.objects.len(), usize::from(changed), "{next:?}");
        // Changes are held against what was last listed, not against what was last seen.
        let by = |o: ObjectState| ObjectState {
            position: Position::new(
                o.position.x + (next.position.x - first.position.x),
                o.position.y + (next.position.y - first.position.y),
            ),
            velocity: Velocity::new(
                o.velocity.x + (next.velocity.x - first.velocity.x),
                o.velocity.y + (next.velocity.y - first.velocity.y),
            ),
            ..o
        };
        let spoken = seeing(&mut host, 400, &[by(next)]);
        assert_eq!(spoken.objects.len(), 1, "{next:?}");
    }
}

#[test]
fn what_is_seen_no_more_is_withdrawn_once() {
    let mut host = host();
    let both = [object(70, 260.0, 0), object(71, 270.0, 0)];
    seeing(&mut host, 0, &both);
    let spoken = seeing(&mut host, 200, &both[..1]);
    assert_eq!(spoken.withdrawn, [ObjectId(71)]);
    let spoken = seeing(&mut host, 400, &both[..1]);
    assert_eq!((spoken.withdrawn.len(), spoken.objects.len()), (0, 0));
    // It comes back as something new.
    let spoken = seeing(&mut host, 600, &both);
    assert_eq!(listed(&spoken), [71].into());
    // A whole list withdraws nothing.
    let spoken = seeing(&mut host, 800, &both);
    assert!(!spoken.full);
    let spoken = seeing(&mut host, 1_000, &both[..1]);
    assert!(spoken.full && spoken.withdrawn.is_empty());
    assert_eq!(listed(&spoken), [70].into());
}

#[test]
fn only_what_was_seen_in_the_cycle_within_the_footprint_is_listed_and_never_the_host() {
    let mut host = host();
    let spoken = cycle(&mut host, 200, |host, ms| {
        let objects = [
            object(70, 549.9, ms),
            object(71, 550.1, ms),
            object(72, 260.0, 200),
            object(73, 260.0, 199),
            object(1, 250.0, ms),
        ];
        let cells = &[];
        let objects = &objects;
        host.handle_input(at(ms), Input::Sensed { objects, cells });
        host.handle_input(at(ms), Input::Beacon(&beacon(5, ms, -49.9)));
        host.handle_input(at(ms), Input::Beacon(&beacon(6, ms, -50.1)));
    });
    assert_eq!(listed(&spoken), [5, 70, 72].into());
}

#[test]
fn the_newest_and_surest_of_what_sensors_beacons_and_reports_say_is_listed() {
    let mut host = host();
    let spoken = cycle(&mut host, 0, |host, ms| {
        host.handle_input(at(ms), Input::Beacon(&beacon(5, ms, 200.0)));
        let told = |id: u64, x: f64, millis: i64, percent: u8| ObjectState {
            confidence: Confidence::from_percent(percent),
            ..object(id, x, millis)
        };
        let sensed = [told(70, 260.0, ms, 50), told(71, 260.0, ms, 60)];
        let cells = &[];
        let objects = &sensed;
        host.handle_input(at(ms), Input::Sensed { objects, cells });
        let told = vec![
            told(70, 261.0, ms - 1, 90),
            told(71, 262.0, ms, 61),
            told(5, 203.0, ms - 2, 90),
        ];
        host.handle_input(at(ms), Input::Report(&report(6, ms, told)));
    });
    let place = |id| {
        let found = spoken.objects.iter().find(|o| o.id == ObjectId(id));
        found.map(|o| (o.position.x, o.sensed_at))
    };
    assert_eq!(place(70), Some((260.0, at(10))));
    assert_eq!(place(71), Some((262.0, at(10))));
    assert_eq!(place(5), Some((200.0, at(10))));
    // What is passed on loses confidence with its age.
    let sure = |id| {
        let found = spoken.objects.iter().find(|o| o.id == ObjectId(id));
        found.map(|o| o.confidence)
    };
    let age = Duration::from_millis(189);
    assert_eq!(sure(5), Some(Confidence::FULL.relayed(age)));
    assert!(sure(5) < Some(Confidence::FULL));
}

#[test]
fn where_only_silent_objects_are_listed_stations_are_not() {
    let parameters = Parameters {
        broadcast_content: BroadcastContent::SilentOnly,
        ..Parameters::default()
    };
    let profile = Profile::letter_with(parameters);
    let mut host = Host::new(&profile, AgentId(1), TILE, at(0), None);
    host.handle_input(at(0), Input::Moved(&standing(250.0)));
    let spoken = cycle(&mut host, 0, |host, ms| {
        host.handle_input(at(ms), Input::Beacon(&beacon(5, ms, 200.0)));
        let told = vec![object(70, 210.0, ms), object(5, 200.0, ms)];
        host.handle_input(at(ms), Input::Report(&report(6, ms, told)));
    });
    assert_eq!(listed(&spoken), [70].into());
    // A second after its last beacon a station that is still reported counts as silent.
    for (begin, silent) in [(800, false), (1_000, true)] {
        let spoken = cycle(&mut host, begin, |host, ms| {
            let told = vec![object(5, 200.0, ms)];
            host.handle_input(at(ms), Input::Report(&report(6, ms, told)));
        });
        assert_eq!(listed(&spoken).contains(&5), silent, "{begin}");
    }
}

#[test]
fn a_contributor_that_is_gone_or_out_of_the_footprint_is_dropped_with_an_epoch() {
    for (x, until, stays) in [
        (300.0, 2_000, true),
        (300.0, 400, false),
        // It drives off at 60 m/s: 302 m off after the seventh cycle.
        (470.0, 2_000, false),
    ] {
        let mut host = host();
        let mut dropped = Vec::new();
        let mut epochs = Vec::new();
        for begin in (0..2_000).step_by(200) {
            if begin < until {
                let drives = if x > 400.0 { 0.06 * begin as f64 } else { 0.0 };
                let said = beacon(5, begin + 10, x + drives);
                host.handle_input(at(begin + 10), Input::Beacon(&said));
            }
            host.handle_input(at(begin + 199), Input::Tick);
            while let Some(output) = host.poll_output() {
                match output {
                    Output::Event(Event::Dropped(id)) => dropped.push((begin, id)),
                    Output::WakeAt(_) => break,
                    _ => {}
                }
            }
            epochs.push(host.epoch());
        }
        assert_eq!(host.contributors().contains(&AgentId(5)), stays, "{x}");
        assert_eq!(dropped.len(), usize::from(!stays), "{x} {dropped:?}");
        assert_eq!(epochs.last(), Some(&(1 + u32::from(!stays))), "{x}");
    }
}

#[test]
fn who_overhears_another_host_takes_nothing_of_it_into_its_own_list() {
    let mut host = host();
    let spoken = cycle(&mut host, 0, |host, ms| {
        let other = Broadcast {
            objects: vec![object(70, 260.0, ms)],
            ..broadcast(9, ms, &[])
        };
        host.handle_input(at(ms), Input::Broadcast(&other));
    });
    assert_eq!(listed(&spoken), [].into());
    assert_eq!(host.source_of(ObjectId(70)), None);
}
