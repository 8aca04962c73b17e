use super::*;

fn beacon(millis: i64, speed: f64) -> Beacon {
    Beacon {
        sender: AgentId(5),
        at: Instant::from_millis(millis),
        state: AgentState {
            heading: 1.0,
            speed,
            ..AgentState::default()
        },
        digest: None,
        low_frequency: false,
    }
}

fn seen(millis: i64, vx: f64, vy: f64) -> ObjectState {
    ObjectState {
        id: ObjectId(5),
        position: Position::default(),
        velocity: Velocity::new(vx, vy),
        size: crate::messages::Size::default(),
        sensed_at: Instant::from_millis(millis),
        confidence: Confidence::FULL,
    }
}

fn known(fused: &FusedState, now: i64) -> KnownObject {
    let (cycle, now) = (Instant::from_millis(now - 100), Instant::from_millis(now));
    let known = fused.known(&Parameters::default(), AgentId(1), cycle, now);
    known[0]
}

#[test]
fn how_often_a_station_beacons_is_the_mean_of_the_gaps_between() {
    let mut fused = FusedState::default();
    let mut every = |millis| {
        fused.announced(&beacon(millis, 3.0));
        let known = known(&fused, millis.max(500));
        let announced = known.announced_at.map(|at| at.micros() / 1_000);
        let every = known.beacons_every_s.map(|s| (1e6 * s).round() / 1e6);
        (every, announced)
    };
    assert_eq!(every(0), (None, Some(0)));
    assert_eq!(every(0), (None, Some(0)), "the same once more");
    assert_eq!(every(400), (Some(0.4), Some(400)));
    assert_eq!(every(300), (Some(0.4), Some(400)), "a late one");
    assert_eq!(every(1_200), (Some(0.5), Some(1_200)));
    // A long silence tells no more than 1.2 s.
    let (long, _) = every(61_200);
    assert!(long.is_some_and(|s| (s - 0.675).abs() < 1e-9), "{long:?}");
}

#[test]
fn a_direction_is_that_of_the_last_beacon_or_motion() {
    let mut fused = FusedState::default();
    let state = |fused: &mut FusedState, s: &ObjectState| {
        fused.sensed(s, s.id);
        known(fused, 500).heading
    };
    assert_eq!(state(&mut fused, &seen(0, 0.3, 0.3)), None, "too slow");
    let half_turn = state(&mut fused, &seen(10, 0.0, 0.5));
    assert_eq!(half_turn, Some(core::f64::consts::FRAC_PI_2));
    assert_eq!(state(&mut fused, &seen(20, 0.49, 0.0)), half_turn);
    assert_eq!(state(&mut fused, &seen(5, 9.0, 0.0)), half_turn, "old news");
    fused.announced(&beacon(30, 2.0));
    let told = known(&fused, 500);
    assert_eq!(told.heading, Some(1.0));
    assert!((told.state.velocity.speed() - 2.0).abs() < 1e-12);
    assert_eq!(told.announced_at, Some(Instant::from_millis(30)));
    assert_eq!(known(&fused, 1_030).announced_at, told.announced_at);
    assert_eq!(known(&fused, 1_031).announced_at, None);
}

#[test]
fn what_a_report_adds_is_shared_by_those_who_report_it() {
    let p = Parameters::default();
    let mut fused = FusedState::default();
    let object = |id: u64| ObjectState {
        id: ObjectId(id),
        ..seen(10, 0.0, 0.0)
    };
    for (by, ids) in [(2, &[70, 71, 72][..]), (3, &[71, 72]), (4, &[72])] {
        for &id in ids {
            fused.reported(AgentId(by), &object(id), ObjectId(id), true);
            fused.reported(AgentId(by), &object(id), ObjectId(id), true);
        }
    }
    fused.sensed(&object(72), ObjectId(72));
    let (start, now) = (Instant::ZERO, Instant::from_millis(150));
    fused.gather(&p, AgentId(1), Position::default(), start, now);
    let shares = [2, 3, 4].map(|id| fused.share(AgentId(id)) / p.object_bytes);
    assert_eq!(shares, [1.5, 0.5, 0.0]);
    assert_eq!(
        [2, 3, 4].map(|id| fused.backed(AgentId(id))),
        [2.0, 2.0, 1.0]
    );
    let lonely: Vec<u64> = fused.lonely().map(|(o, _)| o.state.id.0).collect();
    assert_eq!(lonely, [70]);
    // Nobody told of anything since.
    fused.gather(&p, AgentId(1), Position::default(), start, now);
    assert_eq!(fused.share(AgentId(2)), 0.0);
    assert_eq!((fused.backed(AgentId(2)), fused.lonely().count()), (0.0, 0));
}

#[test]
fn reports_of_stations_add_nothing_where_only_silent_objects_are_listed() {
    let share = |content| {
        let p = Parameters {
            broadcast_content: content,
            ..Parameters::default()
        };
        let mut fused = FusedState::default();
        // A cycle ago.
        fused.announced(&beacon(10, 0.0));
        for id in [5, 70] {
            let state = ObjectState {
                id: ObjectId(id),
                ..seen(120, 0.0, 0.0)
            };
            fused.reported(AgentId(2), &state, state.id, true);
        }
        let (start, now) = (Instant::from_millis(100), Instant::from_millis(150));
        fused.gather(&p, AgentId(1), Position::default(), start, now);
        fused.share(AgentId(2)) / p.object_bytes
    };
    assert_eq!(share(BroadcastContent::All), 2.0);
    assert_eq!(share(BroadcastContent::SilentOnly), 1.0);
}

#[test]
fn what_is_left_out_is_not_known_and_all_else_is() {
    let mut p = Parameters::default();
    p.guard.unconfirmed = 2;
    let mut fused = FusedState::default();
    for id in [70, 71, 72, 73] {
        let state = ObjectState {
            id: ObjectId(id),
            position: Position::new(100.0 - id as f64, 0.0),
            ..seen(10, 0.0, 0.0)
        };
        // Nobody was asked for them.
        fused.reported(AgentId(2), &state, state.id, false);
    }
    let (start, now) = (Instant::ZERO, Instant::from_millis(150));
    fused.gather(&p, AgentId(1), Position::default(), start, now);
    let known = fused.known(&p, AgentId(1), start, now);
    let known: Vec<u64> = known.iter().map(|k| k.state.id.0).collect();
    assert_eq!(known, [72, 73], "the nearest two");
    let own = fused.known(&p, AgentId(72), start, now);
    assert_eq!(own.len(), 1, "nobody is an object to itself");
}

#[test]
fn what_was_listed_is_unchanged_changed_or_withdrawn_until_all_is_listed_anew() {
    let p = Parameters {
        changed_m: 0.5,
        changed_m_per_s: 0.5,
        ..Parameters::default()
    };
    let mut fused = FusedState::default();
    let mut see = |millis: i64, all: &[(u64, f64, f64)]| {
        for &(id, x, vx) in all {
            let state = ObjectState {
                id: ObjectId(id),
                position: Position::new(x, 0.0),
                ..seen(millis, vx, 0.0)
            };
            fused.sensed(&state, state.id);
        }
        let (start, now) = (millis - millis % 200, millis - millis % 200 + 150);
        let (start, now) = (Instant::from_millis(start), Instant::from_millis(now));
        fused.gather(&p, AgentId(1), Position::default(), start, now);
        let listings = fused.listings(&p, now);
        let withdrawn = fused.withdrawals(&p, &listings, now);
        let ids: Vec<ObjectId> = fused.fresh().iter().map(|o| o.state.id).collect();
        let fitting = fused.fitting(&p, listings.clone(), &ids, 2.0 * p.object_bytes - 4.0);
        let listed = fused.list_picked(&p, &ids, now);
        assert_eq!(listed.withdrawn.len(), if millis == 210 { 1 } else { 0 });
        (listings, withdrawn, fitting.len(), listed.objects.len())
    };
    let first: Vec<(u64, f64, f64)> = (70..75).map(|id| (id, 0.0, 0.0)).collect();
    let anew = |count| std::vec![Listing::None; count];
    assert_eq!(see(10, &first), (anew(5), 0, 1, 5));
    // Two moved or sped up by as much as makes no difference, one by more; one is gone, and one has come.
    let next = [
        (70, 0.0, 0.0),
        (71, 0.5, 0.0),
        (72, 0.75, 0.0),
        (73, 0.0, 0.5),
        (75, 9.0, 0.0),
    ];
    let (same, other) = (Listing::Unchanged, Listing::Changed);
    let listings = std::vec![same, same, other, same, Listing::None];
    // What changed is not withdrawn where it is listed: that leaves room for what is new.
    assert_eq!(see(210, &next), (listings, 2, 2, 2));
    let still = next.map(|(id, x, vx)| (id, if id == 71 { 0.0 } else { x }, vx));
    assert_eq!(see(810, &still), (std::vec![same; 5], 0, 0, 0));
    assert_eq!(see(1_010, &still), (anew(5), 0, 1, 5), "a second later");
}
