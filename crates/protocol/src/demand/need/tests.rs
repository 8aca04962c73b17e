use super::*;
use crate::demand::scene::Body;
use crate::ids::ObjectId;
use crate::messages::Size;
use core::f64::consts::FRAC_PI_2;

fn body(id: u64, x: f64, y: f64, heading: f64, speed: f64) -> Body {
    Body {
        id: ObjectId(id),
        position: Position::new(x, y),
        heading: Some(heading),
        speed,
        size: Size::default(),
        silent: false,
        spoken: None,
    }
}

/// Who needs whom, by id.
fn needs(bodies: &[Body]) -> Vec<(u64, u64)> {
    let course = Course::default();
    let mut scene = Scene::default();
    scene.rebuild(
        Position::new(0.0, 0.0),
        500.0,
        bodies.iter().map(|&b| (b, 0.0)),
        None,
        |b| course.reach_m(b.speed) + 10.0,
    );
    let listeners: Vec<u32> = (0..bodies.len() as u32).collect();
    let mut needs = Needs::default();
    needs.find(
        &scene,
        &course,
        &Parameters::default(),
        &listeners,
        |_| true,
        |i, o| f64::from(u8::from(scene.sees(i, o, None))),
    );
    let unseen = needs.pairs().iter().filter(|pair| pair.unseen > 0.5);
    let id = |k: u32| scene.bodies()[k as usize].id.0;
    unseen
        .map(|pair| (id(pair.listener), id(pair.object)))
        .collect()
}

#[test]
fn the_second_leader_is_needed_and_not_the_first() {
    let queue = [
        body(1, 0.0, 0.0, 0.0, 5.0),
        body(2, 10.0, 0.3, 0.0, 5.0),
        body(3, 20.0, -0.4, 0.0, 5.0),
        body(4, 20.0, 3.5, 0.0, 5.0),
        body(5, 90.0, 0.0, 0.0, 5.0),
    ];
    // Number 4 is in the next lane, number 5 out of reach.
    assert_eq!(needs(&queue), [(1, 3)]);
}

#[test]
fn a_hidden_crossing_car_is_needed_by_both() {
    let mut junction = [
        body(1, -30.0, 0.0, 0.0, 10.0),
        body(2, 0.0, -30.0, FRAC_PI_2, 10.0),
        // A bus on the corner between them.
        body(3, -15.0, -15.0, 0.785, 0.0),
    ];
    junction[2].size = Size {
        length: 13.0,
        width: 2.6,
        height: 3.0,
    };
    assert_eq!(needs(&junction), [(1, 2), (2, 1)]);
    assert_eq!(needs(&junction[..2]), [], "in plain sight");
    junction[1].speed = 0.0;
    assert_eq!(needs(&junction), [], "it stands far from the junction");
}

#[test]
fn few_wanted_objects_are_found_as_among_many() {
    let unit = |k: u64| (crate::AgentId(k).mixed() >> 11) as f64 / (1u64 << 53) as f64;
    let bodies: Vec<Body> = (0..150)
        .map(|k| {
            let heading = FRAC_PI_2 * (4.0 * unit(k + 900)) as u8 as f64;
            let (x, y) = (120.0 * unit(k) - 60.0, 120.0 * unit(k + 500) - 60.0);
            body(k, x, y, heading, 12.0 * unit(k + 300))
        })
        .collect();
    let course = Course::default();
    let mut scene = Scene::default();
    let all = bodies.iter().map(|&b| (b, 0.0));
    scene.rebuild(Position::default(), 500.0, all, None, |b| {
        course.reach_m(b.speed) + 10.0
    });
    let listeners: Vec<u32> = (0..150).collect();
    let mut needs = Needs::default();
    let mut find = |wanted: &dyn Fn(u32) -> bool| {
        let parameters = Parameters::default();
        needs.find(&scene, &course, &parameters, &listeners, wanted, |_, _| 0.0);
        needs.pairs().to_vec()
    };
    let of_all = find(&|_| true);
    for every in [5, 11, 40] {
        let wanted = |object: u32| object.is_multiple_of(every);
        let expected: Vec<Pair> = of_all
            .iter()
            .copied()
            .filter(|p| wanted(p.object))
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(find(&wanted), expected, "one in {every}");
    }
    assert_eq!(find(&|_| false), []);
}

/// What the first rule says, over the points of ways and all bodies: how far along, and in which direction.
fn plain_spot(way: &[Position], p: Position, off_m: f64) -> Option<(f64, [f64; 2])> {
    let (mut begin, mut best): (f64, Option<(f64, f64, [f64; 2])>) = (0.0, None);
    for ends in way.windows(2) {
        let d = [ends[1].x - ends[0].x, ends[1].y - ends[0].y];
        let length = length_of(d);
        if length > 0.0 {
            let direction = [d[0] / length, d[1] / length];
            let o = [p.x - ends[0].x, p.y - ends[0].y];
            let along = (o[0] * direction[0] + o[1] * direction[1]).clamp(0.0, length);
            let off = length_of([o[0] - along * direction[0], o[1] - along * direction[1]]);
            if off <= off_m && best.is_none_or(|(least, ..)| off < least) {
                best = Some((off, begin + along, direction));
            }
        }
        begin += length;
    }
    best.map(|(_, along, direction)| (along, direction))
}

/// The shares at which two pieces of ways come together.
fn plain_approach(p: &[Position], q: &[Position], near_m: f64) -> Option<(f64, f64)> {
    let of = |ends: &[Position]| [ends[1].x - ends[0].x, ends[1].y - ends[0].y];
    let (da, db) = (of(p), of(q));
    let turn = da[0] * db[1] - da[1] * db[0];
    let r = [q[0].x - p[0].x, q[0].y - p[0].y];
    if turn.abs() > 1e-9 {
        let ta = (r[0] * db[1] - r[1] * db[0]) / turn;
        let tb = (r[0] * da[1] - r[1] * da[0]) / turn;
        if (0.0..=1.0).contains(&ta) && (0.0..=1.0).contains(&tb) {
            return Some((ta, tb));
        }
    }
    let foot = |x: Position, s: &[Position], d: [f64; 2]| {
        let square = d[0] * d[0] + d[1] * d[1];
        (((x.x - s[0].x) * d[0] + (x.y - s[0].y) * d[1]) / square).clamp(0.0, 1.0)
    };
    let ends = [
        (0.0, foot(p[0], q, db)),
        (foot(q[0], p, da), 0.0),
        (foot(q[1], p, da), 1.0),
        (1.0, foot(p[1], q, db)),
    ];
    let off = |(ta, tb): (f64, f64)| {
        length_of([
            p[0].x + ta * da[0] - q[0].x - tb * db[0],
            p[0].y + ta * da[1] - q[0].y - tb * db[1],
        ])
    };
    let near = ends.into_iter().filter(|&t| off(t) <= near_m);
    near.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Where two ways first come together, by their points: mine, theirs and the cosine between them.
fn plain_meet(a: &[Position], b: &[Position], near_m: f64) -> Option<[f64; 3]> {
    let of = |ends: &[Position]| [ends[1].x - ends[0].x, ends[1].y - ends[0].y];
    let mut begin_a = 0.0;
    for p in a.windows(2) {
        let (da, mut begin_b) = (of(p), 0.0);
        let la = length_of(da);
        let mut first: Option<[f64; 3]> = None;
        for q in b.windows(2) {
            let db = of(q);
            let lb = length_of(db);
            let high = |of: fn(&Position) -> f64, s: &[Position]| of(&s[0]).max(of(&s[1]));
            let low = |of: fn(&Position) -> f64, s: &[Position]| of(&s[0]).min(of(&s[1]));
            let axes: [fn(&Position) -> f64; 2] = [|p| p.x, |p| p.y];
            let apart = axes.iter().any(|&axis| {
                high(axis, p) + near_m < low(axis, q) || high(axis, q) + near_m < low(axis, p)
            });
            if la > 0.0
                && lb > 0.0
                && !apart
                && let Some((ta, tb)) = plain_approach(p, q, near_m)
                && first.is_none_or(|[mine, ..]| begin_a + ta * la < mine)
            {
                let cosine = (da[0] * db[0] + da[1] * db[1]) / (la * lb);
                first = Some([begin_a + ta * la, begin_b + tb * lb, cosine]);
            }
            begin_b += lb;
        }
        if first.is_some() {
            return first;
        }
        begin_a += la;
    }
    None
}

/// Who needs what, every listener with every body: listener and object.
fn plain_pairs(scene: &Scene, course: &Course) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let all = 0..scene.bodies().len() as u32;
    for i in all.clone() {
        let (me, way) = (&scene.bodies()[i as usize], scene.way(i));
        let (front, reach) = (0.5 * me.size.length, course.reach_m(me.speed));
        let mut ahead: Vec<(f64, u32)> = Vec::new();
        for o in all.clone().filter(|&o| o != i) {
            let other = &scene.bodies()[o as usize];
            if let Some((along, [c, s])) = plain_spot(way, other.position, course.lane_half_m) {
                let [oc, os] = scene.direction(o);
                let same_way = other.heading.is_none() || oc * c + os * s > 0.5;
                let gap = along - front - 0.5 * other.size.length;
                if along > 0.5 && gap <= reach && same_way {
                    ahead.push((along, o));
                }
            }
        }
        ahead.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        pairs.extend(ahead.iter().skip(1).map(|&(_, o)| (i, o)));
        for o in all.clone().filter(|&o| o != i) {
            let other = &scene.bodies()[o as usize];
            let met = plain_meet(way, scene.way(o), course.meeting_m);
            if let Some([mine, theirs, cosine]) = met
                && !ahead.iter().any(|&(_, there)| there == o)
                && !(mine < 1.0 && cosine > 0.7)
                && mine - front <= reach
                && theirs - 0.5 * other.size.length <= course.reach_m(other.speed)
            {
                pairs.push((i, o));
            }
        }
    }
    pairs
}

/// Roads that bend and cross: the way ahead turns a little every 15 m.
#[derive(Debug)]
struct Bends(f64);

impl crate::map::RoadMap for Bends {
    fn building_between(&self, _: Position, _: Position) -> bool {
        false
    }
    fn way_ahead(&self, position: Position, heading: f64, length: f64, way: &mut Vec<Position>) {
        let (mut at, mut heading, mut left) = (position, heading, length);
        way.push(at);
        // Some points come twice.
        way.extend((self.0 > 0.0).then_some(at));
        while left > 0.0 {
            let step = left.min(15.0);
            at.x += step * libm::cos(heading);
            at.y += step * libm::sin(heading);
            way.push(at);
            heading += self.0;
            left -= 15.0;
        }
    }
    fn lane_heading(&self, _: Position) -> Option<f64> {
        None
    }
}

proptest::proptest! {
    #[test]
    fn needs_are_those_that_every_pair_by_itself_has(
        bodies in proptest::collection::vec(
            (-150.0..150.0, -150.0..150.0, 0u8..12, 0.0..14.0, proptest::bool::ANY),
            2..60,
        ),
        bend in -0.3..0.3,
    ) {
        let bodies: Vec<Body> = (0u64..)
            .zip(bodies)
            .map(|(id, (x, y, heading, speed, known))| Body {
                heading: known.then_some(FRAC_PI_2 * f64::from(heading) / 3.0),
                // Some on common lanes, so that there is something ahead.
                ..body(id, x, if id % 2 == 0 { 3.5 * libm::round(y / 30.0) } else { y }, 0.0, speed)
            })
            .collect();
        let course = Course::default();
        let mut scene = Scene::default();
        let all = bodies.iter().map(|&b| (b, 0.0));
        let reach = |b: &Body| course.reach_m(b.speed) + 10.0;
        scene.rebuild(Position::default(), 500.0, all, Some(&Bends(bend)), reach);
        let listeners: Vec<u32> = (0..bodies.len() as u32).collect();
        let mut needs = Needs::default();
        let parameters = Parameters::default();
        needs.find(&scene, &course, &parameters, &listeners, |_| true, |_, _| 0.0);
        let found: Vec<(u32, u32)> =
            needs.pairs().iter().map(|pair| (pair.listener, pair.object)).collect();
        let plain = plain_pairs(&scene, &course);
        proptest::prop_assert_eq!(&found, &plain);
        for object in 0..bodies.len() as u32 {
            needs.find(&scene, &course, &parameters, &listeners, |o| o == object, |_, _| 0.0);
            let found = needs.pairs().iter().map(|pair| (pair.listener, pair.object));
            let of_it = plain.iter().copied().filter(|&(_, o)| o == object);
            proptest::prop_assert!(found.eq(of_it), "{} alone", object);
        }
    }
}

/// Streets along both axes, on a grid of half metres: everybody turns left half-way.
#[derive(Debug)]
struct Blocks;

impl crate::map::RoadMap for Blocks {
    fn building_between(&self, _: Position, _: Position) -> bool {
        false
    }
    fn way_ahead(&self, from: Position, heading: f64, length: f64, way: &mut Vec<Position>) {
        let [x, y] = match libm::round(heading / FRAC_PI_2) as i32 {
            0 => [1.0, 0.0],
            1 => [0.0, 1.0],
            2 => [-1.0, 0.0],
            _ => [0.0, -1.0],
        };
        let half = 0.5 * length;
        let turn = Position::new(from.x + half * x, from.y + half * y);
        let end = Position::new(turn.x - half * y, turn.y + half * x);
        way.extend([from, turn, end]);
    }
    fn lane_heading(&self, _: Position) -> Option<f64> {
        None
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(96))]
    #[test]
    fn needs_begin_and_end_where_those_of_every_pair_by_itself_do(
        bodies in proptest::collection::vec(
            (-48i32..48, -48i32..48, 0u8..4, 0u8..5, 0u8..8),
            2..48,
        ),
    ) {
        // Gaps, reaches and distances that are often the same to the last bit.
        let course = Course {
            horizon_s: 2.0,
            margin_m: 4.0,
            lane_half_m: 1.5,
            meeting_m: 1.0,
            ..Course::default()
        };
        let bodies: Vec<Body> = (0u64..)
            .zip(bodies)
            .map(|(id, (x, y, heading, speed, kind))| Body {
                heading: (kind > 0).then_some(FRAC_PI_2 * f64::from(heading)),
                size: Size {
                    length: [4.0, 5.0, 8.0][usize::from(kind) % 3],
                    width: 2.0,
                    height: 1.5,
                },
                ..body(id, 0.5 * f64::from(x), 0.5 * f64::from(y), 0.0, 2.0 * f64::from(speed))
            })
            .collect();
        let mut scene = Scene::default();
        let all = bodies.iter().map(|&b| (b, 0.0));
        let reach = |b: &Body| course.reach_m(b.speed) + b.size.length;
        scene.rebuild(Position::default(), 500.0, all, Some(&Blocks), reach);
        let listeners: Vec<u32> = (0..bodies.len() as u32).collect();
        let mut needs = Needs::default();
        let parameters = Parameters::default();
        let mut found = |wanted: &dyn Fn(u32) -> bool| -> Vec<(u32, u32)> {
            needs.find(&scene, &course, &parameters, &listeners, wanted, |_, _| 0.25);
            for pair in needs.pairs() {
                assert_eq!(pair.unseen, 0.75);
                let deadline = deadline_s(&scene, &parameters, pair.listener, pair.object);
                assert_eq!(pair.deadline_s, deadline);
            }
            needs.pairs().iter().map(|pair| (pair.listener, pair.object)).collect()
        };
        let plain = plain_pairs(&scene, &course);
        proptest::prop_assert_eq!(found(&|_| true), &plain[..]);
        for rest in 0..3 {
            let some = found(&|object| object % 3 == rest);
            let of_them = plain.iter().copied().filter(|&(_, o)| o % 3 == rest);
            proptest::prop_assert!(some.into_iter().eq(of_them));
        }
    }
}

#[test]
fn the_deadline_follows_the_relative_speed() {
    let bodies = [
        body(1, 0.0, 0.0, 0.0, 4.0),
        body(2, 9.0, 0.0, FRAC_PI_2, 3.0),
        body(3, 9.0, 9.0, core::f64::consts::PI, 5.0),
    ];
    let mut scene = Scene::default();
    let all = bodies.iter().map(|&b| (b, 0.0));
    scene.rebuild(Position::default(), 500.0, all, None, |_| 10.0);
    let parameters = Parameters::default();
    let relative = |a: u32, b: u32| {
        let deadline = deadline_s(&scene, &parameters, a, b);
        libm::round(1e9 * (deadline - 0.2) * 18.0) / 1e9
    };
    assert_eq!(
        [relative(0, 1), relative(1, 0), relative(0, 2)],
        [5.0, 5.0, 9.0]
    );
    assert_eq!(relative(1, 2), libm::round(1e9 * libm::sqrt(34.0)) / 1e9);
}

#[test]
fn where_work_does_not_suffice_those_nearest_to_the_middle_are_looked_after() {
    // 400 pairs of queues of three, each of whose last needs its first, in a row of streets.
    let bodies: Vec<Body> = (0..1_200)
        .map(|k| {
            let (street, place) = (k / 3, k % 3);
            body(k, 10.0 * place as f64, 10.0 * street as f64, 0.0, 5.0)
        })
        .collect();
    let course = Course::default();
    let mut scene = Scene::default();
    let all = bodies.iter().map(|&b| (b, 0.0));
    let middle = Position::new(0.0, 3_000.0);
    let reach = |b: &Body| course.reach_m(b.speed) + 10.0;
    scene.rebuild(middle, 5_000.0, all, None, reach);
    let listeners: Vec<u32> = (0..400).map(|street| 3 * street).collect();
    let mut needs = Needs::default();
    let mut served = |work: Option<u32>| {
        if let Some(work) = work {
            scene.allow(work);
        }
        let parameters = Parameters::default();
        needs.find(
            &scene,
            &course,
            &parameters,
            &listeners,
            |_| true,
            |_, _| 0.0,
        );
        let pairs = needs.pairs();
        assert!(pairs.is_sorted_by_key(|pair| pair.listener));
        let served: Vec<u32> = pairs.iter().map(|pair| pair.listener / 3).collect();
        served
    };
    assert_eq!(served(None).len(), 400);
    assert_eq!(served(Some(u32::MAX)).len(), 400);
    let few = served(Some(8_000));
    assert!((20..200).contains(&few.len()), "{}", few.len());
    // They are those around street 300.
    let farthest = few.iter().map(|&street| street.abs_diff(300)).max();
    assert!(farthest <= Some(few.len() as u32 / 2 + 1), "{farthest:?}");
    assert!(served(Some(0)).is_empty());
}

#[test]
fn who_comes_from_behind_or_the_other_way_is_not_needed() {
    let bodies = [
        body(1, 0.0, 0.0, 0.0, 10.0),
        body(2, -20.0, 0.0, 0.0, 10.0),
        body(3, 40.0, 3.5, core::f64::consts::PI, 10.0),
    ];
    assert_eq!(needs(&bodies), []);
}
