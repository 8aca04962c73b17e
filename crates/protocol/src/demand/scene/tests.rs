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
