//! Claims to an office.

use covey_protocol::guard::{Rules, Whereabouts};
use covey_protocol::messages::Broadcast;
use covey_protocol::office::{Claims, Evidence, OfficeRule};
use covey_protocol::{AgentId, Duration, Instant, Parameters, Position, Tile};

use super::{TILE, at, broadcast, object};

/// Who is heard to beacon, and whether anybody is around.
struct Heard<'a> {
    beacons: &'a [u64],
    crowd: bool,
}

impl Evidence for Heard<'_> {
    fn beacon(&self, agent: AgentId) -> Option<Whereabouts> {
        let here = (Position::new(250.0, 250.0), at(0));
        self.beacons.contains(&agent.0).then_some(here)
    }

    fn anybody_near(&self, _: Position, _: f64, _: AgentId) -> bool {
        self.crowd
    }
}

const EVERYBODY: Heard<'static> = Heard {
    beacons: &[1, 2, 3, 4, 5],
    crowd: true,
};

struct Office {
    rule: OfficeRule,
    claims: Claims,
}

impl Office {
    fn new() -> Self {
        Self {
            rule: OfficeRule::new(&Parameters::default()),
            claims: Claims::default(),
        }
    }

    /// Station 1 hears a broadcast; the tenure that is believed, if it is.
    fn hear(&mut self, broadcast: &Broadcast, heard: &Heard<'_>) -> Option<Duration> {
        let claim = self
            .claims
            .hear(&self.rule, broadcast.at, AgentId(1), broadcast, heard);
        claim.map(|claim| claim.tenure)
    }

    fn host(&self, now: Instant) -> Option<u64> {
        let claim = self.claims.newest(&self.rule, now, TILE);
        claim.map(|claim| claim.host.0)
    }
}

fn millis(duration: Duration) -> i64 {
    duration.micros() / 1_000
}

#[test]
fn a_tenure_grows_no_faster_than_time() {
    let mut office = Office::new();
    let says = |at, tenure| Broadcast {
        tenure: Duration::from_millis(tenure),
        ..broadcast(2, at, &[1])
    };
    let mut hear = |at, tenure| office.hear(&says(at, tenure), &EVERYBODY).map(millis);
    assert_eq!(hear(1_000, 400), Some(400));
    assert_eq!(hear(1_200, 600), Some(600));
    // Ten milliseconds may come of rounding; more is cut to what its first word allows.
    assert_eq!(hear(1_400, 810), Some(810));
    assert_eq!(hear(1_600, 60_000), Some(1_010));
    // One that was out of office in between counts from there.
    assert_eq!(hear(1_800, 100), Some(100));
    assert_eq!(hear(2_000, 1_400), Some(300));
    assert_eq!(hear(2_200, -5), Some(-5), "a negative one is from now");
}

#[test]
fn only_the_newest_word_of_a_host_counts() {
    let mut office = Office::new();
    assert!(
        office
            .hear(&broadcast(2, 1_000, &[1]), &EVERYBODY)
            .is_some()
    );
    assert!(
        office
            .hear(&broadcast(2, 1_000, &[1]), &EVERYBODY)
            .is_none()
    );
    assert!(office.hear(&broadcast(2, 800, &[1]), &EVERYBODY).is_none());
    assert!(
        office
            .hear(&broadcast(2, 1_001, &[1]), &EVERYBODY)
            .is_some()
    );
    // Of two of one time the first that was heard is in office, and a newer one takes its place.
    assert!(
        office
            .hear(&broadcast(3, 1_001, &[1]), &EVERYBODY)
            .is_some()
    );
    assert_eq!(office.host(at(1_001)), Some(2));
    assert!(
        office
            .hear(&broadcast(3, 1_002, &[1]), &EVERYBODY)
            .is_some()
    );
    assert_eq!(office.host(at(1_002)), Some(3));
    assert_eq!((office.claims.len(), office.claims.is_empty()), (2, false));
    // For as long as the soft-state time, and for its own tile.
    assert_eq!(office.host(at(2_002)), Some(3));
    assert_eq!(office.host(at(2_003)), None);
    let elsewhere = office
        .claims
        .newest(&office.rule, at(1_002), Tile::new(1, 0));
    assert!(elsewhere.is_none());
    // When each last spoke is remembered beyond that, by tile and host.
    let last = |tile, host| office.claims.last_word(tile, AgentId(host));
    assert_eq!(last(TILE, 2), Some(at(1_001)));
    assert_eq!(last(TILE, 3), Some(at(1_002)));
    assert_eq!((last(TILE, 4), last(Tile::new(1, 0), 3)), (None, None));
    office.claims.clear();
    assert!(office.claims.is_empty());
}

#[test]
fn who_does_not_beacon_is_believed_for_fifteen_words() {
    let unseen = Heard {
        beacons: &[1, 3],
        crowd: true,
    };
    let mut office = Office::new();
    for at in (0..3_000).step_by(200) {
        assert!(
            office.hear(&broadcast(2, at, &[1]), &unseen).is_some(),
            "{at}"
        );
    }
    assert!(office.hear(&broadcast(2, 3_000, &[1]), &unseen).is_none());
    assert_eq!(office.host(at(3_000)), None);
    // A beacon brings it back, and a long way between two words is nothing against it.
    assert!(
        office
            .hear(&broadcast(2, 3_400, &[1]), &EVERYBODY)
            .is_some()
    );
    for at in (0..15).map(|k| 8_000 + 2_000 * k) {
        assert!(
            office.hear(&broadcast(2, at, &[1]), &unseen).is_some(),
            "{at}"
        );
    }
    assert!(office.hear(&broadcast(2, 40_000, &[1]), &unseen).is_none());
}

#[test]
fn who_serves_nobody_is_believed_for_three_seconds_and_others_then_once_they_serve() {
    let mut office = Office::new();
    for at in (0..=3_000).step_by(200) {
        assert!(
            office.hear(&broadcast(2, at, &[]), &EVERYBODY).is_some(),
            "{at}"
        );
    }
    assert!(office.hear(&broadcast(2, 3_200, &[]), &EVERYBODY).is_none());
    // For a minute whoever claims next has to serve first.
    assert!(office.hear(&broadcast(3, 3_400, &[]), &EVERYBODY).is_none());
    assert_eq!(office.host(at(3_400)), None);
    assert!(
        office
            .hear(&broadcast(3, 3_600, &[1]), &EVERYBODY)
            .is_some()
    );
    assert_eq!(office.host(at(3_600)), Some(3));
    assert!(
        office
            .hear(&broadcast(4, 63_200, &[]), &EVERYBODY)
            .is_none()
    );
    assert!(
        office
            .hear(&broadcast(5, 63_201, &[]), &EVERYBODY)
            .is_some()
    );
}

#[test]
fn to_serve_is_to_ask_or_to_list_somebody_who_is_there() {
    // Whether a host that says this for five seconds is still believed.
    let believed = |say: &dyn Fn(i64) -> Broadcast, heard: &Heard<'_>| {
        let mut office = Office::new();
        let mut last = None;
        for at in (0..5_000).step_by(200) {
            last = office.hear(&say(at), heard);
        }
        last.is_some()
    };
    assert!(
        believed(&|at| broadcast(2, at, &[1]), &EVERYBODY),
        "oneself"
    );
    assert!(
        believed(&|at| broadcast(2, at, &[3]), &EVERYBODY),
        "another"
    );
    assert!(
        !believed(&|at| broadcast(2, at, &[9]), &EVERYBODY),
        "nobody who is there"
    );
    assert!(
        !believed(&|at| broadcast(2, at, &[2]), &EVERYBODY),
        "the host itself"
    );
    let lists = |id: u64| {
        move |at| Broadcast {
            objects: vec![object(id, 260.0, at)],
            ..broadcast(2, at, &[])
        }
    };
    assert!(believed(&lists(3), &EVERYBODY), "a station");
    assert!(believed(&lists(1), &EVERYBODY), "oneself");
    assert!(
        !believed(&lists(9), &EVERYBODY),
        "a station that is not there"
    );
    assert!(!believed(&lists(2), &EVERYBODY), "the host itself");
    // Where nobody is there to be served, nothing is to be done.
    let alone = Heard {
        beacons: &[2],
        crowd: false,
    };
    assert!(believed(&|at| broadcast(2, at, &[]), &alone));
}

#[test]
fn claimants_beyond_the_most_are_let_go_the_longest_unheard_first() {
    let mut office = Office::new();
    for host in 0..32 {
        office.hear(
            &broadcast(100 + host, 1_000 + host as i64, &[1]),
            &EVERYBODY,
        );
    }
    assert_eq!(office.claims.len(), 32);
    office.hear(&broadcast(100, 1_100, &[1]), &EVERYBODY);
    office.hear(&broadcast(200, 1_101, &[1]), &EVERYBODY);
    assert_eq!(office.claims.len(), 32);
    // The first was heard again and stays: its words still count once.
    assert!(
        office
            .hear(&broadcast(100, 1_100, &[1]), &EVERYBODY)
            .is_none()
    );
    // The second is forgotten: what it said before is news again.
    assert!(
        office
            .hear(&broadcast(101, 1_001, &[1]), &EVERYBODY)
            .is_some()
    );
    // After a minute all of them are.
    office.hear(&broadcast(300, 90_000, &[1]), &EVERYBODY);
    assert_eq!(office.claims.len(), 1);
}

#[test]
fn claimants_are_remembered_for_as_long_as_there_is_room() {
    let mut office = Office::new();
    let begins = |host, at| Broadcast {
        tenure: Duration::ZERO,
        ..broadcast(host, at, &[1])
    };
    office.hear(&begins(100, 1_000), &EVERYBODY);
    office.hear(&begins(101, 90_000), &EVERYBODY);
    assert_eq!(office.claims.len(), 2);
    // It cannot have been in office for longer than since its first word.
    let tenure = office.hear(&broadcast(100, 91_000, &[1]), &EVERYBODY);
    assert_eq!(tenure.map(millis), Some(90_000));
}

#[test]
fn a_host_is_in_its_tile_in_reach_and_where_its_beacon_was() {
    let rules = Rules::new(&Parameters::default());
    let own = Some(Position::new(250.0, 250.0));
    let from = |x: f64, y: f64, said: i64| Broadcast {
        position: Position::new(x, y),
        ..broadcast(2, said, &[])
    };
    let can_be = |b: &Broadcast| rules.is_host(at(1_000), own, None, b);
    assert!(can_be(&from(250.0, 250.0, 1_000)));
    assert!(can_be(&from(250.0, 250.0, 0)) && !can_be(&from(250.0, 250.0, -1)));
    assert!(!can_be(&from(250.0, 250.0, 1_001)));
    // Half a metre beside the tile may come of rounding.
    for (x, y, inside) in [
        (500.4, 250.0, true),
        (500.6, 250.0, false),
        (-0.4, 250.0, true),
        (-0.6, 250.0, false),
        (250.0, 500.4, true),
        (250.0, 500.6, false),
        (250.0, -0.6, false),
        (f64::NAN, 250.0, false),
    ] {
        assert_eq!(can_be(&from(x, y, 1_000)), inside, "{x} {y}");
    }
    let beacon = |x: f64| Some((Position::new(x, 250.0), at(900)));
    let agrees = |x| rules.is_host(at(1_000), own, beacon(x), &from(250.0, 250.0, 1_000));
    assert!(agrees(309.0) && !agrees(311.0));
    let far = Some(Position::new(1_751.0, 250.0));
    assert!(!rules.is_host(at(1_000), far, None, &from(250.0, 250.0, 1_000)));
}
