use super::*;
use std::vec::Vec;

const TILE: Tile = Tile::new(0, 0);

/// What somebody heard: beacons, and a claim to the tile.
#[derive(Default)]
struct Notes {
    beacons: Vec<(u64, f64, f64, Instant)>,
    claim: Option<(u64, f64, Instant)>,
    /// Who claimed it last, and when, however long ago.
    last_word: Option<(u64, Instant)>,
}

impl Neighbourhood for Notes {
    fn claim(&self, tile: Tile) -> Option<Claim> {
        let (host, x, at) = self.claim.filter(|_| tile == TILE)?;
        Some(claim(host, 400, x, at))
    }

    fn beaconed_since(&self, host: AgentId, since: Instant, _: Tile) -> Option<Position> {
        let mut newer = self.beacons.iter().filter(|b| b.0 == host.0 && b.3 > since);
        newer.next().map(|b| Position::new(b.1, b.2))
    }

    fn last_word(&self, tile: Tile, host: AgentId) -> Option<Instant> {
        let (by, at) = self.last_word.filter(|_| tile == TILE)?;
        (by == host.0).then_some(at)
    }

    fn beacons_since(&self, agent: AgentId, since: Instant) -> u32 {
        let newer = |b: &&(u64, f64, f64, Instant)| b.0 == agent.0 && b.3 > since;
        self.beacons.iter().filter(newer).count() as u32
    }

    fn any_other(
        &self,
        tile: Tile,
        reach_m: f64,
        mut found: impl FnMut(AgentId, Position) -> bool,
    ) -> bool {
        let places = self.beacons.iter();
        let mut places = places.map(|&(id, x, y, _)| (AgentId(id), Position::new(x, y)));
        // Nobody is asked about who need not be.
        let centre = tile.centre(500.0);
        places.any(|(id, at)| at.distance(centre) <= reach_m && found(id, at))
    }
}

fn claim(host: u64, tenure_ms: i64, x: f64, at: Instant) -> Claim {
    Claim {
        host: AgentId(host),
        at,
        position: Position::new(x, 250.0),
        tenure: Duration::from_millis(tenure_ms),
        inheritance: Inheritance::default(),
    }
}

fn rule(handover: Option<Handover>) -> OfficeRule {
    OfficeRule::new(&Parameters {
        handover,
        ..Parameters::default()
    })
}

fn standing(id: u64, x: f64, office: Option<Tile>) -> Standing {
    Standing {
        id: AgentId(id),
        position: Position::new(x, 250.0),
        listening_since: Instant::ZERO,
        office,
    }
}

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

/// What comes of an election at 10 s.
fn elect(
    rule: &OfficeRule,
    standing: &Standing,
    vacancy: Option<(Tile, Instant)>,
    heard: &Notes,
) -> Election {
    let mut watch = Watch {
        vacancy,
        ..Watch::default()
    };
    rule.elect(at(10_000), standing, &mut watch, heard)
}

fn heard(beacons: &[(u64, f64)]) -> Notes {
    let beacon = |&(id, x): &(u64, f64)| (id, x, 250.0, at(9_900));
    Notes {
        beacons: beacons.iter().map(beacon).collect(),
        ..Notes::default()
    }
}

#[test]
fn the_nearest_takes_office_and_others_wait_their_turn() {
    let rule = rule(None);
    let notes = heard(&[(2, 300.0), (3, 900.0), (4, 200.0)]);
    let near = standing(1, 260.0, None);
    assert_eq!(elect(&rule, &near, None, &notes).takes, Some(TILE));
    let far = standing(1, 450.0, None);
    assert_eq!(elect(&rule, &far, None, &notes), Election::default());
    // Two are nearer: one is passed over after a second, the other after two.
    for (waited, takes) in [(999, None), (1_999, None), (2_000, Some(TILE))] {
        let vacancy = Some((TILE, at(10_000 - waited)));
        assert_eq!(elect(&rule, &far, vacancy, &notes).takes, takes, "{waited}");
    }
    // Of two as near the lower id comes first; whoever has just been switched on does not stand.
    let tie = standing(5, 200.0, None);
    assert_eq!(elect(&rule, &tie, None, &notes).takes, None);
    let new = Standing {
        listening_since: at(9_500),
        ..near
    };
    assert_eq!(elect(&rule, &new, None, &notes).takes, None);
}

#[test]
fn an_incumbent_counts_while_it_is_in_the_tile() {
    let rule = rule(None);
    let near = standing(1, 250.0, None);
    let mut notes = heard(&[]);
    notes.claim = Some((9, 480.0, at(9_950)));
    let mut watch = Watch {
        vacancy: Some((TILE, at(1_000))),
        ..Watch::default()
    };
    assert_eq!(
        rule.elect(at(10_000), &near, &mut watch, &notes),
        Election::default()
    );
    assert_eq!(watch, Watch::default());
    // A newer beacon tells that it has left; an older one tells nothing.
    for (beaconed, takes) in [(9_960, Some(TILE)), (9_940, None)] {
        notes.beacons = std::vec![(9, 510.0, 250.0, at(beaconed))];
        assert_eq!(elect(&rule, &near, None, &notes).takes, takes);
    }
}

#[test]
fn a_host_that_is_heard_to_beacon_and_says_nothing_is_passed_over_at_once() {
    let mut parameters = Parameters::default();
    parameters.guard.silent_share = 1.0;
    let rule = OfficeRule::new(&parameters);
    // What the next nearest does, so long after the last word of host 9, so many of whose beacons it heard in the last second.
    let next = |silent_ms: i64, beacons: i64| {
        let mut notes = heard(&[]);
        let beacon = |k: i64| (9, 250.0, 250.0, at(10_000 - 100 * k));
        notes.beacons = (0..beacons).map(beacon).collect();
        let last = at(10_000 - silent_ms);
        notes.claim = Some((9, 250.0, last)).filter(|_| silent_ms <= 1_000);
        notes.last_word = Some((9, last));
        elect(&rule, &standing(1, 300.0, None), None, &notes).takes
    };
    assert_eq!(next(1_000, 10), None, "it may still be in office");
    assert_eq!(next(1_001, 10), Some(TILE));
    assert_eq!(next(2_000, 10), Some(TILE));
    assert_eq!(next(2_001, 10), None, "it is somebody near the centre");
    assert_eq!(next(1_200, 9), None, "its broadcasts may be lost, too");
}

#[test]
fn a_host_leaves_with_its_tile_and_may_take_the_next() {
    let rule = rule(None);
    let stays = elect(&rule, &standing(1, 10.0, Some(TILE)), None, &heard(&[]));
    assert_eq!(stays, Election::default());
    let moved = elect(&rule, &standing(1, 510.0, Some(TILE)), None, &heard(&[]));
    assert!(moved.leaves);
    assert_eq!(moved.takes, Some(Tile::new(1, 0)));
}

#[test]
fn a_host_far_off_hands_over_only_to_one_much_nearer() {
    let rule = rule(Some(Handover::USUAL));
    let host = |x: f64| standing(1, x, Some(TILE)); // 400: 150 m off the centre
    let leaves = |x: f64, rival: f64| elect(&rule, &host(x), None, &heard(&[(2, rival)])).leaves;
    assert!(leaves(400.0, 340.0));
    assert!(!leaves(400.0, 360.0));
    assert!(!leaves(345.0, 250.0), "95 m is near enough");
    assert!(!leaves(400.0, 600.0));
    // The rival sees it the same way, and takes over.
    let mut notes = heard(&[(1, 400.0)]);
    notes.claim = Some((1, 400.0, at(9_950)));
    let takes = |x| elect(&rule, &standing(2, x, None), None, &notes).takes;
    assert_eq!([takes(340.0), takes(360.0)], [Some(TILE), None]);
}

#[test]
fn exactly_one_of_two_hosts_stays() {
    let now = at(0);
    let usual = rule(Some(Handover::USUAL));
    for (a, b) in [
        (claim(1, 400, 0.0, now), claim(2, 200, 250.0, now)),
        (claim(1, 200, 0.0, now), claim(2, 200, 250.0, now)),
        (claim(1, 200, 240.0, now), claim(2, 200, 260.0, now)),
        (claim(1, 200, f64::NAN, now), claim(2, 200, 260.0, now)),
    ] {
        for rule in [rule(None), usual] {
            assert_ne!(rule.yields(TILE, &a, &b), rule.yields(TILE, &b, &a));
        }
    }
    let (long, short) = (claim(2, 400, 0.0, now), claim(1, 200, 250.0, now));
    assert!(!rule(None).yields(TILE, &long, &short));
    assert!(usual.yields(TILE, &long, &short), "it is handed over");
    // Of two as long in office the nearer stays, of two as near the lower id.
    let (near, far) = (claim(9, 400, 260.0, now), claim(1, 400, 150.0, now));
    assert!(rule(None).yields(TILE, &far, &near));
    assert!(!rule(None).yields(TILE, &near, &far));
    let (low, high) = (claim(1, 400, 240.0, now), claim(2, 400, 260.0, now));
    assert!(rule(None).yields(TILE, &high, &low));
    assert!(!rule(None).yields(TILE, &low, &high));
}

#[test]
fn a_wary_host_stays_and_one_that_hands_over_remembers_where() {
    let rule = rule(Some(Handover::USUAL));
    let outcome = |x: f64, let_down: Option<i64>| {
        let mut watch = Watch {
            let_down: let_down.map(at),
            ..Watch::default()
        };
        let host = standing(1, x, Some(TILE));
        let election = rule.elect(at(10_000), &host, &mut watch, &heard(&[(2, 300.0)]));
        (election.leaves, watch.handed_over)
    };
    let handed_over = (true, Some((TILE, at(10_000))));
    assert_eq!(outcome(400.0, None), handed_over);
    let wary_ms = (1e3 * Parameters::default().guard.wary_s) as i64;
    assert_eq!(outcome(400.0, Some(10_000)), (false, None));
    assert_eq!(outcome(400.0, Some(10_000 - wary_ms)), (false, None));
    assert_eq!(outcome(400.0, Some(9_999 - wary_ms)), handed_over);
    // Outside its tile it leaves, wary or not, and hands nothing over.
    assert_eq!(outcome(510.0, None), (true, None));
    assert_eq!(outcome(510.0, Some(10_000)), (true, None));
}

#[test]
fn hosts_give_way_beyond_100_m_to_who_is_50_m_nearer_and_in_the_tile() {
    let gives_way = |x: f64, rival: f64| {
        let place = |x: f64| Position::new(x, 250.0);
        rule(Some(Handover::USUAL)).gives_way(TILE, place(x), place(rival))
    };
    assert!(!gives_way(350.0, 250.0), "100 m are not beyond");
    assert!(gives_way(351.0, 250.0));
    assert!(gives_way(400.0, 350.0) && !gives_way(400.0, 351.0));
    assert!(gives_way(100.0, 150.0) && !gives_way(100.0, 149.0));
    assert!(gives_way(600.0, 499.0) && !gives_way(600.0, 501.0));
}

#[test]
fn a_vacancy_elsewhere_tells_nothing_of_the_own_tile() {
    let rule = rule(None);
    let notes = heard(&[(2, 300.0)]);
    let far = standing(1, 450.0, None);
    for (of, takes) in [(TILE, Some(TILE)), (Tile::new(1, 0), None)] {
        let mut watch = Watch {
            vacancy: Some((of, at(8_000))),
            ..Watch::default()
        };
        let election = rule.elect(at(10_000), &far, &mut watch, &notes);
        assert_eq!(election.takes, takes);
        let vacancy = takes.is_none().then_some((TILE, at(10_000)));
        assert_eq!(watch.vacancy, vacancy, "it begins when it is found");
    }
}
