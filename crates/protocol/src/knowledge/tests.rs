use super::*;
use crate::contributor::Memory;
use crate::demand::road::Road;
use crate::ears::Ears;
use crate::grid::Velocity;
use crate::messages::{Beacon, Confidence, Size};

/// Roads without bends, and a building between any two points.
#[derive(Debug)]
struct WalledUp;

impl RoadMap for WalledUp {
    fn building_between(&self, _: Position, _: Position) -> bool {
        true
    }

    fn way_ahead(&self, from: Position, heading: f64, length: f64, way: &mut Vec<Position>) {
        let (s, c) = (libm::sin(heading), libm::cos(heading));
        way.push(from);
        way.push(Position::new(from.x + length * c, from.y + length * s));
    }

    fn lane_heading(&self, _: Position) -> Option<f64> {
        Some(0.0)
    }
}

fn agent_at(x: f64, y: f64, height: f64) -> AgentState {
    AgentState {
        position: Position::new(x, y),
        heading: 0.0,
        speed: 10.0,
        size: Size {
            length: 5.0,
            width: 2.0,
            height,
        },
    }
}

/// Whether somebody beside the road reports a silent car 55 m ahead of a listener of this height, with a car between
/// them or without, of which everyone was told a moment ago.
fn reports(options: &DemandOptions, height: f64, between: bool, map: Option<&dyn RoadMap>) -> bool {
    let now = Instant::ZERO + Duration::from_millis(1_000);
    let hidden = ObjectState {
        id: ObjectId(3),
        position: Position::new(55.0, 0.0),
        velocity: Velocity { x: 10.0, y: 0.0 },
        size: agent_at(0.0, 0.0, 1.6).size,
        sensed_at: now,
        confidence: Confidence::FULL,
    };
    let neighbour = |id, state| Neighbour {
        id: AgentId(id),
        state,
        at: now,
        beacons: 10,
        first_at: now - Duration::from_millis(901),
    };
    let mut heard = Notes {
        neighbours: alloc::vec![neighbour(1, agent_at(0.0, 0.0, height))],
        said: alloc::vec![(Instant::ZERO, AgentId(7), alloc::vec![hidden])],
    };
    if between {
        heard
            .neighbours
            .push(neighbour(2, agent_at(15.0, 0.0, 1.6)));
    }
    let observer = Observer {
        now,
        id: AgentId(9),
        state: &agent_at(40.0, 30.0, 1.6),
        sensed: &[hidden],
        map,
    };
    let asked = Asked::new([Content::Demanded], Vec::new());
    let parameters = Parameters::default();
    let chosen = Chooser::default().choose(
        &parameters,
        Some(options),
        &observer,
        &asked,
        &mut Memory::default(),
        &heard,
    );
    !chosen.is_empty()
}

/// What somebody heard.
#[derive(Default)]
struct Notes {
    neighbours: Vec<Neighbour>,
    said: Vec<(Instant, AgentId, Vec<ObjectState>)>,
}

impl Heard for Notes {
    fn hears(&self, agent: AgentId) -> bool {
        self.neighbours.iter().any(|n| n.id == agent)
    }

    fn neighbours(&self, _: f64, tell: impl FnMut(Neighbour)) {
        self.neighbours.iter().copied().for_each(tell);
    }

    fn sayings<'s>(&'s self, mut tell: impl FnMut(Instant, AgentId, &'s [ObjectState])) {
        for (at, by, objects) in &self.said {
            tell(*at, *by, objects);
        }
    }
}

#[test]
fn a_map_without_buildings_hides_nothing() {
    let walls = DemandOptions::default();
    let none = DemandOptions {
        buildings: false,
        ..DemandOptions::default()
    };
    // A bus looks over the car between, but not through a wall.
    assert!(reports(&walls, 3.0, true, Some(&WalledUp)));
    assert!(!reports(&none, 3.0, true, Some(&WalledUp)));
    assert!(reports(&none, 1.6, true, Some(&WalledUp)), "cars still do");
}

/// A silent car that stands at (x, y), as somebody saw it.
fn standing(id: u64, x: f64, y: f64, sensed_at: Instant) -> ObjectState {
    ObjectState {
        id: ObjectId(id),
        position: Position::new(x, y),
        velocity: Velocity::default(),
        size: agent_at(0.0, 0.0, 1.6).size,
        sensed_at,
        confidence: Confidence::FULL,
    }
}

const NOW: Instant = Instant::from_millis(10_000);

fn ago(millis: i64) -> Instant {
    NOW - Duration::from_millis(millis)
}

/// A contributor at the origin that sees `sensed`.
fn observer<'a>(state: &'a AgentState, sensed: &'a [ObjectState]) -> Observer<'a> {
    Observer {
        now: NOW,
        id: AgentId(9),
        state,
        sensed,
        map: None,
    }
}

#[test]
fn links_are_what_came_of_the_beacons_of_the_last_second() {
    let parameters = Parameters::default();
    let state = agent_at(0.0, 0.0, 1.6);
    // Twenty neighbours beacon at 10 Hz for three seconds; of the last second every so many come.
    let links = |every: i64, before: i64| {
        let mut ears = Ears::new(AgentId(9), &Parameters::default(), true);
        for millis in (0..30).rev().map(|k| 50 + 100 * k) {
            let each = if millis < 1_000 { every } else { before };
            for id in (20..40).filter(|_| millis / 100 % each == 0) {
                let beacon = Beacon {
                    sender: AgentId(id),
                    at: ago(millis),
                    state: agent_at(100.0 + id as f64, 0.0, 1.6),
                    digest: None,
                    low_frequency: false,
                };
                ears.hear(ago(millis), &beacon);
            }
        }
        ears.forget(NOW);
        let mut chooser = Chooser::default();
        let links = chooser.listen(&parameters, &observer(&state, &[]), &ears);
        assert_eq!(chooser.heard.len(), 20);
        links
    };
    let [all, half, now_half] = [links(1, 1), links(2, 2), links(2, 1)];
    assert!(all.over(130.0) > 0.97, "{}", all.over(130.0));
    let share = half.over(130.0);
    assert!((0.4..0.6).contains(&share), "{share}");
    assert_eq!(
        now_half, half,
        "what was before the last second is forgotten"
    );
    // Elsewhere nothing was learned.
    assert_eq!(half.over(30.0), all.over(30.0));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one scene, told by several")]
fn what_several_speak_of_is_one_object() {
    let parameters = Parameters::default();
    let options = DemandOptions::default();
    let state = agent_at(0.0, 0.0, 1.6);
    let station = agent_at(60.0, 3.5, 1.6);
    let heard = Notes {
        neighbours: alloc::vec![Neighbour {
            id: AgentId(5),
            state: station,
            at: ago(50),
            beacons: 10,
            first_at: ago(950),
        }],
        // All speak of the car at 40; some of the contributor itself, of the station, and of what the contributor sees.
        said: alloc::vec![
            (
                ago(300),
                AgentId(6),
                alloc::vec![standing(1, 40.0, 0.0, ago(350))]
            ),
            (
                ago(100),
                AgentId(7),
                alloc::vec![standing(77, 40.2, 0.1, ago(120))]
            ),
            (
                ago(200),
                AgentId(8),
                alloc::vec![
                    standing(1, 80.0, -3.5, ago(220)),
                    standing(2, 39.9, -0.1, ago(220)),
                    ObjectState {
                        velocity: station.velocity(),
                        ..standing(3, 60.0, 3.5, ago(50))
                    },
                    ObjectState {
                        velocity: state.velocity(),
                        ..standing(4, 0.0, 0.0, NOW)
                    },
                ]
            ),
            // What it said itself, what is too old, too far off, or not yet.
            (
                ago(200),
                AgentId(9),
                alloc::vec![standing(1, 120.0, 0.0, ago(220))]
            ),
            (
                ago(900),
                AgentId(6),
                alloc::vec![standing(1, 140.0, 0.0, ago(1_001))]
            ),
            (
                ago(200),
                AgentId(6),
                alloc::vec![standing(1, 301.0, 0.0, ago(200))]
            ),
            (
                ago(200),
                AgentId(7),
                alloc::vec![standing(1, 160.0, 0.0, ago(-1))]
            ),
        ],
    };
    let sensed = [
        standing(1, 80.0, -3.5, ago(10)),
        standing(1, 20.0, 7.0, ago(10)),
    ];
    let observer = observer(&state, &sensed);
    let mut labelled = Labelled::new(&options, &observer, &heard.neighbours);
    let mut told = |x: f64| -> Vec<(ObjectId, Instant)> {
        let mut around = Around::default();
        around.add(Position::new(x, 0.0), 1_000.0);
        let told = labelled.told(&parameters, &options, &observer, &heard, &around);
        told.iter().map(|t| (t.id, t.sensed_at)).collect()
    };
    assert_eq!(told(5_000.0), [], "nothing that would matter there");
    let told = told(0.0);
    let expected = [
        (ObjectId(5), ago(50)),
        (ObjectId(9), NOW),
        (ObjectId(TOLD_LABELS), ago(120)),
        (ObjectId(OWN_LABELS), ago(220)),
    ];
    assert_eq!(told, expected);
    let own: Vec<ObjectId> = labelled.sensed.iter().map(|s| s.id).collect();
    assert_eq!(own, [ObjectId(OWN_LABELS), ObjectId(OWN_LABELS + 1)]);
}

#[test]
fn a_silent_object_is_reported_when_nobody_spoke_of_it_for_a_second() {
    let parameters = Parameters::default();
    let options = DemandOptions::default();
    // Far off the road of the contributor and of who hears it: nobody needs it.
    let state = agent_at(0.0, 0.0, 1.6);
    let sensed = [standing(50, 0.0, 60.0, ago(10))];
    let reports = |age: i64, content: Content| {
        let heard = Notes {
            said: alloc::vec![(
                ago(age),
                AgentId(7),
                alloc::vec![standing(3, 0.0, 60.0, ago(age))]
            )],
            ..Notes::default()
        };
        let asked = Asked::new([content], Vec::new());
        let observer = observer(&state, &sensed);
        let chosen = Chooser::default().choose(
            &parameters,
            Some(&options),
            &observer,
            &asked,
            &mut Memory::default(),
            &heard,
        );
        !chosen.is_empty()
    };
    for content in [Content::Demanded, Content::Requested] {
        assert!(
            !reports(0, content) && !reports(1_000, content),
            "{content:?}"
        );
        assert!(reports(1_001, content), "{content:?}");
    }
    assert!(reports(0, Content::SilentOnly), "whoever spoke of it");
}

#[test]
fn without_judgement_what_sends_no_beacon_is_reported() {
    let state = agent_at(0.0, 0.0, 1.6);
    let sensed = [5, 50, 9, 51].map(|id| standing(id, 10.0 + id as f64, 0.0, NOW));
    let heard = Notes {
        neighbours: alloc::vec![Neighbour {
            id: AgentId(5),
            state: agent_at(-90.0, 0.0, 1.6),
            at: ago(900),
            beacons: 1,
            first_at: ago(900),
        }],
        said: alloc::vec![(NOW, AgentId(5), sensed.to_vec())],
    };
    let choose = |content: Content| {
        let asked = Asked::new([content], alloc::vec![ObjectId(5)]);
        let observer = observer(&state, &sensed);
        Chooser::default().choose(
            &Parameters::default(),
            None,
            &observer,
            &asked,
            &mut Memory::default(),
            &heard,
        )
    };
    // By the number alone; 9 is the contributor itself.
    for content in [Content::SilentOnly, Content::Demanded, Content::Requested] {
        assert_eq!(choose(content), [1, 3], "{content:?}");
    }
    assert_eq!(choose(Content::AllVisible), [0, 1, 3]);
}

/// Whether somebody beside the road, asked by name, reports a station 55 m ahead of a listener behind another car, which was heard
/// so many times in the last second, last `age_ms` ago; and that although `said_ms` ago somebody spoke of it.
fn reports_station(
    options: &DemandOptions,
    beacons: u32,
    age_ms: i64,
    said_ms: Option<i64>,
) -> bool {
    let station = agent_at(55.0, 0.0, 1.6);
    let neighbour = |id, state, beacons: u32, age_ms: i64| Neighbour {
        id: AgentId(id),
        state,
        at: ago(age_ms),
        beacons,
        first_at: ago(1_000.min(age_ms + 900 * i64::from(beacons > 1))),
    };
    let seen = |sensed_at| ObjectState {
        velocity: station.velocity(),
        ..standing(70, 55.0, 0.0, sensed_at)
    };
    let moved = |ms: i64| {
        let mut state = seen(ago(ms));
        state.position.x -= 0.01 * ms as f64;
        state
    };
    let mut last = station;
    last.position.x -= 0.01 * age_ms as f64;
    let heard = Notes {
        neighbours: alloc::vec![
            neighbour(1, agent_at(0.0, 0.0, 1.6), 10, 50),
            neighbour(2, agent_at(15.0, 0.0, 1.6), 10, 50),
            neighbour(3, last, beacons, age_ms),
        ],
        said: said_ms
            .map(|ms| (ago(ms), AgentId(2), alloc::vec![moved(ms)]))
            .into_iter()
            .collect(),
    };
    let observer = Observer {
        now: NOW,
        id: AgentId(9),
        state: &agent_at(40.0, 30.0, 1.6),
        sensed: &[seen(NOW)],
        map: None,
    };
    let asked = Asked::new([Content::Requested], Vec::new());
    let (parameters, mut none) = (Parameters::default(), Memory::default());
    let mut chooser = Chooser::default();
    let chosen = chooser.choose(
        &parameters,
        Some(options),
        &observer,
        &asked,
        &mut none,
        &heard,
    );
    !chosen.is_empty()
}

#[test]
fn a_station_that_beacons_too_rarely_is_reported_like_a_silent_one() {
    let options = DemandOptions {
        on_road: true,
        ..DemandOptions::default()
    };
    let with = |change: fn(&mut Road)| {
        let mut changed = options.clone();
        change(&mut changed.road);
        changed
    };
    assert!(
        !reports_station(&options, 10, 50, None),
        "ten a second tell"
    );
    assert!(
        reports_station(&options, 2, 250, None),
        "one a second does not"
    );
    assert!(!reports_station(&DemandOptions::default(), 2, 250, None));
    let trusting = with(|road| road.beacons_within_s = 3_600.0);
    assert!(!reports_station(&trusting, 2, 250, None));
    // What somebody else just said need not be said again.
    let heeding = with(|road| road.counts_said = true);
    assert!(reports_station(&heeding, 2, 250, None));
    assert!(!reports_station(&heeding, 2, 250, Some(20)));
    assert!(reports_station(&options, 2, 250, Some(20)));
    // Whoever may be somebody else is reported, too.
    let doubtful = DemandOptions {
        position_error_m: 3.0,
        ..options
    };
    assert!(reports_station(&doubtful, 10, 50, None));
}

#[test]
fn what_others_told_of_stands_in_the_way_of_listeners_too() {
    let options = DemandOptions::default();
    let state = agent_at(40.0, 30.0, 1.6);
    let hidden = ObjectState {
        velocity: Velocity { x: 10.0, y: 0.0 },
        ..standing(70, 55.0, 0.0, NOW)
    };
    let choose = |told: Vec<ObjectState>| {
        let listener = Neighbour {
            id: AgentId(1),
            state: agent_at(0.0, 0.0, 1.6),
            at: NOW,
            beacons: 10,
            first_at: ago(901),
        };
        let heard = Notes {
            neighbours: alloc::vec![listener],
            said: alloc::vec![(ago(100), AgentId(7), told)],
        };
        let sensed = [hidden];
        Chooser::default().choose(
            &Parameters::default(),
            Some(&options),
            &observer(&state, &sensed),
            &Asked::new([Content::Demanded], Vec::new()),
            &mut Memory::default(),
            &heard,
        )
    };
    let earlier = ObjectState {
        position: Position::new(54.0, 0.0),
        sensed_at: ago(100),
        ..hidden
    };
    let leader = ObjectState {
        velocity: Velocity { x: 10.0, y: 0.0 },
        ..standing(80, 15.0, 0.0, ago(100))
    };
    assert!(
        choose(alloc::vec![earlier]).is_empty(),
        "it is the one ahead"
    );
    assert_eq!(choose(alloc::vec![earlier, leader]), [0]);
}

#[test]
fn where_sensors_see_ghosts_what_one_alone_sees_is_told_once_it_stays_in_sight() {
    let errs = DemandOptions {
        on_road: true,
        ghosts_per_s: 0.1,
        ..DemandOptions::default()
    };
    // Cycle by cycle, whether it is told; somebody else tells of it or not.
    let tells = |options: &DemandOptions, content: Content, by_others: bool| {
        let (mut chooser, mut memory) = (Chooser::default(), Memory::default());
        let state = agent_at(40.0, 30.0, 1.6);
        let cycle = |cycle: i64| {
            let now = NOW + Duration::from_millis(200 * cycle);
            let neighbour = |id, x| Neighbour {
                id: AgentId(id),
                state: agent_at(x, 0.0, 1.6),
                at: now,
                beacons: 10,
                first_at: now - Duration::from_millis(901),
            };
            let told = standing(5, 55.0, 0.0, now - Duration::from_millis(300));
            let said = (told.sensed_at, AgentId(2), alloc::vec![told]);
            let heard = Notes {
                neighbours: alloc::vec![neighbour(1, 0.0), neighbour(2, 15.0)],
                said: Vec::from_iter(by_others.then_some(said)),
            };
            let sensed = [standing(70, 55.0, 0.0, now)];
            let observer = Observer {
                now,
                ..observer(&state, &sensed)
            };
            let asked = match content {
                // Stands for nobody.
                Content::AllVisible => Asked::default(),
                content => Asked::new([content], Vec::new()),
            };
            let parameters = Parameters::default();
            let options = Some(options);
            let chosen =
                chooser.choose(&parameters, options, &observer, &asked, &mut memory, &heard);
            !chosen.is_empty()
        };
        let told: Vec<bool> = (0..8).map(cycle).collect();
        let first = told.iter().position(|told| *told);
        assert!(
            told[first.unwrap_or(0)..]
                .iter()
                .all(|t| *t == first.is_some())
        );
        first
    };
    let asked = [Content::Demanded, Content::Requested, Content::SilentOnly];
    for content in asked.into_iter().chain([Content::AllVisible]) {
        assert_eq!(tells(&errs, content, false), Some(6), "{content:?}");
        assert_eq!(tells(&errs, content, true), Some(0), "{content:?}");
        let mut wary = errs.clone();
        wary.road.others_confirm = false;
        assert_eq!(tells(&wary, content, false), Some(6), "{content:?}");
        assert_eq!(tells(&wary, content, true), Some(6), "{content:?}");
        let mut at_once = errs.clone();
        at_once.road.confirm_s = 0.0;
        for options in [
            at_once,
            DemandOptions {
                ghosts_per_s: 0.0,
                ..errs.clone()
            },
        ] {
            assert_eq!(tells(&options, content, false), Some(0), "{content:?}");
        }
    }
    let off_road = DemandOptions {
        on_road: false,
        ..errs
    };
    assert_eq!(tells(&off_road, Content::Demanded, false), Some(0));
}

#[test]
fn what_is_around_is_within_one_of_the_circles() {
    let circles = [(0.0, 0.0, 5.0), (20.0, 0.0, 10.0), (4.0, 30.0, 13.0)];
    let mut around = Around::default();
    assert!(!around.holds(Position::default()));
    for (x, y, radius) in circles {
        around.add(Position::new(x, y), radius);
    }
    let mut held = 0;
    for (x, y) in (-20..50).flat_map(|x| (-20..60).map(move |y| (f64::from(x), f64::from(y)))) {
        let within = |&(cx, cy, radius): &(f64, f64, f64)| {
            (x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius
        };
        let expected = circles.iter().any(within);
        assert_eq!(around.holds(Position::new(x, y)), expected, "{x} {y}");
        held += usize::from(expected);
    }
    assert!((900..1_000).contains(&held), "{held}");
    assert!(!around.holds(Position::new(f64::NAN, 0.0)));
}

#[test]
fn all_of_a_message_counts_where_its_sender_may_be_off_and_what_is_around_otherwise() {
    let parameters = Parameters::default();
    let state = agent_at(0.0, 0.0, 1.6);
    let observer = observer(&state, &[]);
    let message = [0.0, 50.0, 200.0].map(|x| standing(1, x, 0.0, ago(100)));
    let elsewhere = [standing(2, 90.0, 0.0, ago(100))];
    let heard = Notes {
        neighbours: Vec::new(),
        said: alloc::vec![
            (ago(100), AgentId(5), message.to_vec()),
            (ago(100), AgentId(6), elsewhere.to_vec()),
        ],
    };
    let mut around = Around::default();
    around.add(Position::new(0.0, 0.0), 10.0);
    let counted = |position_error_m: f64| -> Vec<(u64, usize)> {
        let options = DemandOptions {
            position_error_m,
            ..DemandOptions::default()
        };
        let all = Saying::all(&parameters, &options, &observer, &heard, &around);
        all.iter().map(|s| (s.sender.0, s.fresh.len())).collect()
    };
    assert_eq!(counted(0.0), [(5, 1)]);
    assert_eq!(counted(0.5), [(5, 3)]);
}

#[test]
fn around_an_object_lies_what_is_between_it_and_the_farthest_that_may_need_it() {
    let options = DemandOptions::default();
    let object = standing(1, 0.0, 0.0, NOW);
    // A neighbour at 10 m/s looks 60 m ahead, whoever stands 10 m; both may have moved by 30 m since.
    let holds = |off: f64, place: f64| {
        let heard = Neighbour {
            id: AgentId(5),
            state: agent_at(off, 0.0, 1.6),
            at: NOW,
            beacons: 10,
            first_at: ago(950),
        };
        let around = around(&options, &[heard], &[object]);
        around.holds(Position::new(place, 0.0))
    };
    assert!(holds(100.0, 130.0) && !holds(100.0, 130.1));
    assert!(holds(-50.0, 80.0) && !holds(-50.0, -80.1));
    assert!(
        holds(100.1, 30.0) && !holds(100.1, 30.1),
        "it is too far off"
    );
}
