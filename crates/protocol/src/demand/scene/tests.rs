use super::*;

pub(super) fn car(id: u64, x: f64, y: f64) -> Body {
    Body {
        id: ObjectId(id),
        position: Position::new(x, y),
        heading: Some(0.0),
        speed: 10.0,
        size: Size::default(),
        silent: false,
        spoken: None,
    }
}

fn scene(bodies: &[Body]) -> Scene {
    let mut scene = Scene::default();
    scene.rebuild(
        Position::new(0.0, 0.0),
        500.0,
        bodies.iter().map(|&b| (b, 0.0)),
        None,
        |b| 5.0 * b.speed + 10.0,
    );
    scene
}

#[test]
fn a_car_hides_the_one_behind_it_and_a_bus_looks_over_it() {
    let mut bodies = [
        car(1, 0.0, 0.0),
        car(2, 15.0, 0.0),
        car(3, 60.0, 0.0),
        car(4, 60.0, 7.0),
    ];
    let seen = scene(&bodies);
    assert!(seen.sees(0, 1, None));
    assert!(!seen.sees(0, 2, None), "the second leader is hidden");
    assert!(seen.sees(0, 3, None), "past the leader's corner");
    bodies[0].size = Size {
        length: 13.0,
        width: 2.6,
        height: 3.0,
    };
    // From 3.1 m the line to a roof-high leader 15 m ahead passes above it, to a car 60 m away.
    assert!(scene(&bodies).sees(0, 2, None));
}

#[test]
fn walking_the_index_finds_the_same_blockers_as_trying_all() {
    let unit = |k: u64| (crate::AgentId(k).mixed() >> 11) as f64 / (1u64 << 53) as f64;
    let bodies: Vec<Body> = (0..120)
        .map(|k| Body {
            heading: (k % 7 != 0).then(|| 6.3 * unit(k + 900)),
            ..car(k, 300.0 * (unit(k) - 0.5), 300.0 * (unit(k + 500) - 0.5))
        })
        .collect();
    let scene = scene(&bodies);
    let mut hidden = 0;
    for a in 0..120 {
        for b in 0..120 {
            if a == b {
                continue;
            }
            let line = scene.line(a, b);
            let plain = (0..120).any(|c| c != a && c != b && scene.in_the_way(&line, c));
            assert_eq!(scene.sees(a, b, None), !plain, "{a} {b}");
            hidden += usize::from(plain);
        }
    }
    assert!(hidden > 1_000 && hidden < 13_000, "{hidden}");
}

#[test]
fn bodies_in_a_box_are_found_once_in_order() {
    let unit = |k: u64| (crate::AgentId(k).mixed() >> 11) as f64 / (1u64 << 53) as f64;
    let bodies: Vec<Body> = (0..150)
        .map(|k| car(k, 400.0 * (unit(k) - 0.5), 400.0 * (unit(k + 500) - 0.5)))
        .collect();
    let scene = scene(&bodies);
    for k in 0..100 {
        let at = |j: u64| 500.0 * (unit(1_000 + 10 * k + j) - 0.5);
        let (low, high) = (Position::new(at(0), at(1)), Position::new(at(2), at(3)));
        let mut found = std::vec![7];
        scene.in_box(low, high, &mut found);
        assert!(found[1..].is_sorted_by(|a, b| a < b), "{found:?}");
        let inside = |b: &&Body| {
            let Position { x, y } = b.position;
            (low.x..=high.x).contains(&x) && (low.y..=high.y).contains(&y)
        };
        for body in scene.bodies().iter().filter(inside) {
            let number = scene.find(body.id).unwrap();
            assert!(found[1..].contains(&number), "{number}");
        }
    }
}

/// Lanes along the first axis, 3.5 m apart.
#[derive(Debug)]
struct Lanes;

impl RoadMap for Lanes {
    fn building_between(&self, _: Position, _: Position) -> bool {
        false
    }
    fn way_ahead(&self, _: Position, _: f64, _: f64, _: &mut Vec<Position>) {}
    fn lane_heading(&self, _: Position) -> Option<f64> {
        None
    }
    fn lane_point(&self, position: Position, _: f64) -> Option<Position> {
        Some(Position::new(
            position.x,
            3.5 * libm::round(position.y / 3.5),
        ))
    }
}

#[test]
fn bodies_are_put_on_lanes_and_stay_there_until_they_clearly_leave() {
    let lanes = |mut scene: Scene, across: &[f64]| -> Vec<f64> {
        let place = |&y: &f64| {
            let body = [(car(1, 10.0, y), 0.0)];
            scene.rebuild(Position::new(0.0, 0.0), 500.0, body, Some(&Lanes), |_| 10.0);
            assert_eq!(scene.bodies()[0].position.x, 10.0);
            scene.bodies()[0].position.y
        };
        across.iter().map(place).collect()
    };
    let across = [1.0, 1.9, 2.2, 3.2, 1.6];
    assert_eq!(lanes(Scene::default(), &across), [0.0, 3.5, 3.5, 3.5, 0.0]);
    let with_memory = lanes(Scene::with_memory(), &across);
    assert_eq!(with_memory, [0.0, 0.0, 0.0, 3.5, 3.5]);
}

#[test]
fn what_cannot_be_is_left_out_or_replaced() {
    let odd = [
        Body {
            position: Position::new(f64::NAN, 0.0),
            ..car(1, 0.0, 0.0)
        },
        car(2, 1e12, 0.0),
        Body {
            heading: Some(f64::INFINITY),
            speed: f64::NAN,
            size: Size {
                length: f64::INFINITY,
                width: -1.0,
                height: f64::NAN,
            },
            ..car(3, 5.0, 0.0)
        },
    ];
    let scene = scene(&odd);
    assert_eq!(scene.bodies().len(), 1);
    assert_eq!(scene.bodies()[0].size, NOMINAL);
    assert!(scene.way(0).is_empty());
}

/// Steps of a quarter of a metre and lines that are so many of them long that all shares of them are exact: lines that touch are told from
/// those that pass.
fn touched(line: &Line, body: &Body) -> bool {
    let half = match body.heading {
        Some(_) => [0.5 * body.size.length, 0.5 * body.size.width],
        None => [0.5 * body.size.width; 2],
    };
    let from = [line.from.x - body.position.x, line.from.y - body.position.y];
    let mut shares = std::vec![0.0, 1.0];
    for axis in 0..2 {
        for edge in [-half[axis], half[axis]] {
            let share = (edge - from[axis]) / line.span[axis];
            if (0.0..=1.0).contains(&share) {
                shares.push(share);
            }
        }
    }
    // Over the box it is lowest where it begins or ends, enters or leaves.
    shares.into_iter().any(|share| {
        let over = |axis: usize| (from[axis] + share * line.span[axis]).abs() <= half[axis];
        over(0) && over(1) && line.height - share * line.fall < body.size.height
    })
}

proptest::proptest! {
    #[test]
    fn lines_that_touch_a_box_are_told_from_those_that_pass(
        exponents in (0i32..8, 0i32..8),
        signs in (-1i8..=1, -1i8..=1),
        heights in (0usize..3, 0usize..3),
        bodies in proptest::collection::vec(
            (-80i32..80, -80i32..80, 0usize..4, 0usize..4, 0usize..4, proptest::bool::ANY),
            1..30,
        ),
    ) {
        let height = |k: usize| [1.5, 1.6, 3.2, 0.5][k];
        let upright = |id: u64, x: f64, y: f64, [length, width]: [f64; 2], height: f64| Body {
            size: Size { length, width, height },
            ..car(id, x, y)
        };
        let along = |sign: i8, exponent: i32| 0.25 * f64::from(sign) * libm::exp2(f64::from(exponent));
        let (dx, dy) = (along(signs.0, exponents.0), along(signs.1, exponents.1));
        let mut all = std::vec![
            upright(0, 0.0, 0.0, [4.0, 2.0], height(heights.0)),
            upright(1, dx, dy, [4.0, 2.0], height(heights.1)),
        ];
        all.extend((2u64..).zip(&bodies).map(|(id, &(x, y, length, width, high, known))| {
            // Most lie along the line.
            let share = f64::from((x + y).rem_euclid(9)) / 8.0;
            let near = |d: f64, off: i32| libm::round(4.0 * share * d) / 4.0 + 0.25 * f64::from(off / 8);
            let size = [[0.5, 1.0, 4.0, 9.0][length], [0.5, 1.0, 2.0, 3.0][width]];
            Body {
                heading: known.then_some(0.0),
                ..upright(id, near(dx, x), near(dy, y), size, height(high))
            }
        }));
        for body in &mut all {
            body.speed = 0.0;
        }
        let scene = scene(&all);
        let line = scene.line(0, 1);
        let mut hidden = false;
        for (k, body) in (2u32..).zip(&all[2..]) {
            let touched = touched(&line, body);
            proptest::prop_assert_eq!(scene.in_the_way(&line, k), touched, "{:?}", body);
            let [x, y, reach, height] = scene.disc(k);
            proptest::prop_assert!(!touched || !line.clears(x, y, reach, height));
            hidden |= touched;
        }
        proptest::prop_assert_eq!(scene.sees(0, 1, None), !hidden);
        proptest::prop_assert_eq!(scene.blocked(&line, 0, 1), hidden, "once more");
    }

    #[test]
    fn a_walk_looks_at_the_cells_under_the_line_and_no_others(
        ends in (-90.0..90.0, -90.0..90.0, -90.0..90.0, -90.0..90.0),
    ) {
        let (ax, ay, bx, by) = ends;
        let bodies = [car(0, ax, ay), car(1, bx, by), car(2, -130.0, -130.0), car(3, 130.0, 130.0)];
        let scene = scene(&bodies);
        scene.allow(10_000);
        proptest::prop_assert!(scene.sees(0, 1, None));
        let steps = 10_000 - scene.left().unwrap();
        // Borders between cells lie every 20 m from 30 m before the first body on.
        let cell = |at: f64| libm::floor((at + 160.0) / 20.0);
        let crossed = (cell(ax) - cell(bx)).abs() + (cell(ay) - cell(by)).abs();
        // A step for each cell, and one for each of the two cars in each of the up to two by two cells that it lies in.
        let least = crossed as u32 + 1;
        proptest::prop_assert!((least..=least + 8).contains(&steps), "{} of {}", steps, least);
    }
}

#[test]
fn bodies_go_on_for_up_to_two_seconds_and_are_as_large_and_fast_as_can_be() {
    let settled = |body: Body, seconds: f64| body.settled(seconds).0;
    let x = |seconds: f64| settled(car(1, 3.0, 4.0), seconds).position.x;
    assert_eq!(
        [x(-1.0), x(0.0), x(1.5), x(2.0), x(9.0)],
        [3.0, 3.0, 18.0, 23.0, 23.0]
    );
    let north = Body {
        heading: Some(core::f64::consts::FRAC_PI_2),
        ..car(1, 3.0, 4.0)
    };
    let Position { x, y } = settled(north, 1.0).position;
    assert!((x - 3.0).abs() < 1e-9 && (y - 14.0).abs() < 1e-9, "{x} {y}");
    let speed = |speed: f64| {
        settled(
            Body {
                speed,
                ..car(1, 0.0, 0.0)
            },
            0.0,
        )
        .speed
    };
    assert_eq!(
        [-3.0, 79.0, 81.0, f64::INFINITY].map(speed),
        [0.0, 79.0, 80.0, 0.0]
    );
    let length = |length: f64| {
        let size = Size {
            length,
            width: 1.0,
            height: 1.0,
        };
        settled(
            Body {
                size,
                ..car(1, 0.0, 0.0)
            },
            0.0,
        )
        .size
        .length
    };
    assert_eq!(
        [0.0, 0.5, 30.0, 31.0, f64::NAN].map(length),
        [5.0, 0.5, 30.0, 30.0, 5.0]
    );
    let station = Body {
        size: Size::roadside(6.0),
        ..car(1, 0.0, 0.0)
    };
    let station = settled(station, 1.0);
    assert_eq!(
        (station.heading, station.position.x, station.size.height),
        (None, 0.0, 6.0)
    );
    assert!(!station.is_object() && settled(car(1, 0.0, 0.0), 0.0).is_object());
}

#[test]
fn ways_go_straight_on_where_no_map_knows_better() {
    let mut bodies = [car(1, 3.0, 4.0), car(2, 9.0, 4.0), car(3, 0.0, 0.0)];
    bodies[1].heading = Some(core::f64::consts::PI);
    bodies[2].heading = None;
    let mut scene = scene(&bodies);
    let ends = |scene: &Scene, body: u32| -> Vec<f64> {
        scene.way(body).iter().map(|p| libm::round(p.x)).collect()
    };
    assert_eq!(ends(&scene, 0), [3.0, 63.0]);
    assert_eq!(ends(&scene, 1), [9.0, -51.0]);
    assert!(ends(&scene, 2).is_empty() && scene.segments(2).is_empty());
    let [segment] = scene.segments(1) else {
        panic!("{:?}", scene.segments(1));
    };
    assert_eq!((segment.length, segment.begin), (60.0, 0.0));
    assert_eq!(segment.direction[0], -1.0);
    assert_eq!((libm::round(segment.low.x), segment.high.x), (-51.0, 9.0));
    // Only some have a way.
    scene.lay_ways(None, |number, _| (number == 1).then_some(7.0));
    assert!(ends(&scene, 0).is_empty());
    assert_eq!(ends(&scene, 1), [9.0, 2.0]);
    assert_eq!(scene.segments(1).len(), 1);
}

#[test]
fn work_is_counted_down_to_nothing() {
    let scene = scene(&[]);
    scene.spend(5);
    assert_eq!((scene.left(), scene.is_spent()), (None, false));
    scene.allow(7);
    scene.spend(5);
    assert_eq!((scene.left(), scene.is_spent()), (Some(2), false));
    scene.spend(3);
    assert_eq!((scene.left(), scene.is_spent()), (Some(0), true));
}
