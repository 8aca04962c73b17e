//! What holds for sight in any scene.

mod sight_scenes;

use covey_world::scene::{Body, VehicleState};
use covey_world::sight::{Link, LinkState, LinkTable, Scratch, Sight, SightOptions, Sighting};
use covey_world::{Building, GridFrame, Point};
use proptest::prelude::*;
use sight_scenes::{Scene, corridor, jumble, vehicle};

fn grid() -> GridFrame {
    GridFrame::new(Point::new(1.0, 2.0), 0.4, 20.0).unwrap()
}

/// All that is seen in a frame: objects and cells by vehicle.
type Seen = Vec<(Vec<u32>, Vec<(i32, i32)>)>;

fn see(scene: &Scene) -> Seen {
    let sight = Sight::new(&scene.buildings, SightOptions::default());
    let observed = sight.observe(&scene.vehicles);
    let mut scratch = Scratch::default();
    (0..scene.vehicles.len() as u32)
        .map(|i| {
            let (mut objects, mut cells) = (Vec::new(), Vec::new());
            let mut view = observed.view(i, &mut scratch);
            view.objects(&mut objects);
            view.cells(&grid(), &mut cells);
            (objects, cells)
        })
        .collect()
}

fn onward(scene: &Scene) -> Vec<Vec<Link>> {
    let options = SightOptions {
        link_range: 150.0,
        ..SightOptions::default()
    };
    let sight = Sight::new(&scene.buildings, options);
    let observed = sight.observe(&scene.vehicles);
    let mut scratch = Scratch::default();
    (0..scene.vehicles.len() as u32)
        .map(|i| {
            let mut out = Vec::new();
            observed.links_onward(i, &mut scratch, &mut out);
            out
        })
        .collect()
}

fn scenes() -> impl Strategy<Value = Scene> {
    (1_usize..25, 0_usize..12, 20.0..300.0, any::<u64>())
        .prop_map(|(vehicles, buildings, size, seed)| jumble(vehicles, buildings, size, seed))
}

/// How bad a link is: the order in which more occluders can change it.
fn badness(state: LinkState) -> f64 {
    match state {
        LinkState::Clear => 0.0,
        LinkState::Vehicle { tallest } => tallest,
        LinkState::Building => f64::INFINITY,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn another_occluder_never_makes_anything_visible(scene in scenes(), seed in any::<u64>()) {
        let before = see(&scene);
        let links_before = LinkTable::new(&onward(&scene));
        let more = jumble(3, 3, 300.0, seed);
        let n = scene.vehicles.len() as u32;
        let Scene { mut buildings, mut vehicles } = scene;
        buildings.extend(more.buildings);
        vehicles.extend(more.vehicles);
        let after_scene = Scene { buildings, vehicles };
        let after = see(&after_scene);
        let links_after = LinkTable::new(&onward(&after_scene));
        for i in 0..n {
            let (objects, cells) = &before[i as usize];
            let (objects_after, cells_after) = &after[i as usize];
            prop_assert!(objects_after.iter().all(|j| *j >= n || objects.contains(j)));
            prop_assert!(cells_after.iter().all(|cell| cells.contains(cell)));
            let kept = links_after.of(i).iter().filter(|link| link.other < n);
            for (new, old) in kept.zip(links_before.of(i)) {
                prop_assert_eq!(new.other, old.other);
                prop_assert!(badness(new.state) >= badness(old.state));
            }
        }
    }

    #[test]
    fn links_are_symmetric(scene in scenes()) {
        let table = LinkTable::new(&onward(&scene));
        for i in 0..scene.vehicles.len() as u32 {
            prop_assert!(table.of(i).is_sorted_by_key(|link| link.other));
            for link in table.of(i) {
                let back = table.of(link.other).iter().find(|back| back.other == i);
                prop_assert_eq!(back.map(|back| back.state), Some(link.state));
            }
        }
    }

    #[test]
    fn a_mask_leaves_out_links_and_changes_none(scene in scenes(), mask in prop::collection::vec(any::<bool>(), 0..25)) {
        let has = |i: u32| mask.get(i as usize) == Some(&true);
        let options = SightOptions { link_range: 150.0, ..SightOptions::default() };
        let sight = Sight::new(&scene.buildings, options);
        let observed = sight.observe(&scene.vehicles);
        let all = LinkTable::new(&onward(&scene));
        let mut scratch = Scratch::default();
        // The table has held something else before.
        let mut table = all.clone();
        observed.links_among(&mask, &mut scratch, &mut table);
        for i in 0..scene.vehicles.len() as u32 {
            let expected: Vec<Link> =
                all.of(i).iter().filter(|link| has(i) && has(link.other)).copied().collect();
            prop_assert_eq!(table.of(i), &expected[..]);
        }
        let lists: Vec<Vec<Link>> = (0..scene.vehicles.len() as u32)
            .map(|i| {
                let mut out = Vec::new();
                observed.links_onward_among(i, &mask, &mut scratch, &mut out);
                out
            })
            .collect();
        prop_assert_eq!(&LinkTable::new(&lists), &table);
        prop_assert_eq!(table.begin().last().copied(), Some(table.links().len() as u32));
    }

    #[test]
    fn only_buildings_hide_once_the_vehicles_are_gone(scene in scenes()) {
        let sight = Sight::new(&scene.buildings, SightOptions::default());
        let observed = sight.observe(&scene.vehicles);
        for i in 0..scene.vehicles.len() {
            for j in (0..scene.vehicles.len()).filter(|&j| j != i) {
                let alone = [scene.vehicles[i], scene.vehicles[j]];
                let expected = match observed.hidden_by(i as u32, j as u32) {
                    Sighting::Vehicle => Sighting::Seen,
                    same => same,
                };
                prop_assert_eq!(sight.observe(&alone).hidden_by(0, 1), expected);
            }
        }
        let nobody = scene.vehicles.len() as u32;
        prop_assert_eq!(observed.hidden_by(0, nobody), Sighting::OutOfRange);
    }

    #[test]
    fn the_order_of_vehicles_does_not_matter(scene in scenes(), shift in 0_usize..25) {
        let n = scene.vehicles.len();
        let turn = |i: u32| (i + (n - shift % n) as u32) % n as u32;
        let before = see(&scene);
        let table_before = LinkTable::new(&onward(&scene));
        let mut turned = scene;
        turned.vehicles.rotate_left(shift % n);
        let after = see(&turned);
        let table_after = LinkTable::new(&onward(&turned));
        for i in 0..n as u32 {
            let (objects, cells) = &before[i as usize];
            let (objects_after, cells_after) = &after[turn(i) as usize];
            let mut objects: Vec<u32> = objects.iter().map(|&j| turn(j)).collect();
            objects.sort_unstable();
            prop_assert_eq!(&objects, objects_after);
            prop_assert_eq!(cells, cells_after);
            let mut links: Vec<Link> = table_before.of(i).to_vec();
            for link in &mut links {
                link.other = turn(link.other);
            }
            links.sort_by_key(|link| link.other);
            prop_assert_eq!(&links[..], table_after.of(turn(i)));
        }
    }

    #[test]
    fn senseless_vehicles_neither_see_nor_are_seen(scene in scenes(), bad in bad_vehicle(), at in 0_usize..25) {
        let n = scene.vehicles.len();
        let at = at % (n + 1);
        let before = see(&scene);
        let mut with = scene;
        with.vehicles.insert(at, bad);
        let mut after = see(&with);
        let table = LinkTable::new(&onward(&with));
        prop_assert_eq!(table.of(at as u32), &[]);
        let (objects, cells) = after.remove(at);
        prop_assert!(objects.is_empty() && cells.is_empty());
        for ((objects, cells), (old_objects, old_cells)) in after.iter().zip(&before) {
            let objects: Vec<u32> = objects
                .iter()
                .map(|&j| if j as usize > at { j - 1 } else { j })
                .collect();
            prop_assert!(!objects.contains(&(at as u32)) || old_objects.contains(&(at as u32)));
            prop_assert_eq!(&objects, old_objects);
            prop_assert_eq!(cells, old_cells);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_numbers_make_it_panic(
        numbers in prop::collection::vec(any_number(), 40),
        options in (any_number(), any_number(), any_number(), any_number()),
    ) {
        let point = |i: usize| Point::new(numbers[i], numbers[i + 1]);
        let buildings = vec![
            Building { outline: vec![point(0), point(2), point(4)], height: numbers[6] },
            Building { outline: vec![point(7), point(9), point(11), point(13)], height: numbers[15] },
        ];
        let body = |i: usize| Body { length: numbers[i], width: numbers[i + 1], height: numbers[i + 2], ..Body::CAR };
        let vehicles = vec![
            vehicle(0, point(16), numbers[18], body(19)),
            vehicle(1, point(22), numbers[24], body(25)),
            vehicle(2, point(28), numbers[30], Body::HEAVY),
            vehicle(3, point(31), numbers[33], Body::CAR),
            vehicle(4, Point::new(0.0, 0.0), 0.0, Body::CAR),
        ];
        let options = SightOptions {
            range: options.0.min(1e3),
            cell_height: options.1,
            link_range: options.2,
            sensor: covey_world::sight::SensorHeight::AboveRoof(options.3),
            ..SightOptions::default()
        };
        let sight = Sight::new(&buildings, options);
        let observed = sight.observe(&vehicles);
        let mut scratch = Scratch::default();
        let (mut objects, mut cells, mut points, mut links) = (vec![], vec![], vec![], vec![]);
        // One index is out of the frame.
        for i in 0..6 {
            let mut view = observed.view(i, &mut scratch);
            view.objects(&mut objects);
            view.cells(&grid(), &mut cells);
            view.points(&[point(34), point(36)], numbers[38], &mut points);
            observed.links_onward(i, &mut scratch, &mut links);
        }
    }
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -200.0..200.0,
        2 => (-20_i32..20).prop_map(f64::from),
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e15, 1e-300]),
    ]
}

fn bad_vehicle() -> impl Strategy<Value = VehicleState> {
    let bad = prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    (bad, 0..6).prop_map(|(bad, which)| {
        let mut v = vehicle(99, Point::new(30.0, 30.0), 0.0, Body::HEAVY);
        match which {
            0 => v.position.x = bad,
            1 => v.position.y = bad,
            2 => v.heading = bad,
            3 => v.body.length = bad,
            4 => v.body.width = bad,
            _ => v.body.height = bad,
        }
        v
    })
}

/// A thread's scratch has seen other frames before; the answers are those of a fresh one.
#[test]
fn scratch_never_influences_an_answer() {
    let scene = corridor(120, 3);
    let sight = Sight::new(&scene.buildings, SightOptions::default());
    let observed = sight.observe(&scene.vehicles);
    let other = jumble(30, 20, 200.0, 4);
    let other_sight = Sight::new(&other.buildings, SightOptions::default());
    let other_observed = other_sight.observe(&other.vehicles);
    let mut used = Scratch::default();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let (mut links_a, mut links_b) = (Vec::new(), Vec::new());
    for i in 0..scene.vehicles.len() as u32 {
        other_observed.view(i % 30, &mut used).objects(&mut a);
        other_observed.links_onward(i % 30, &mut used, &mut links_a);
        observed.view(i, &mut used).objects(&mut a);
        observed.view(i, &mut Scratch::default()).objects(&mut b);
        assert_eq!(a, b);
        observed.links_onward(i, &mut used, &mut links_a);
        observed.links_onward(i, &mut Scratch::default(), &mut links_b);
        assert_eq!(links_a, links_b);
    }
}

/// Threads share the frame and what is made of the map on demand.
#[test]
fn threads_see_the_same() {
    let scene = corridor(120, 3);
    let expected = see(&scene);
    let sight = Sight::new(&scene.buildings, SightOptions::default());
    let observed = sight.observe(&scene.vehicles);
    std::thread::scope(|scope| {
        for thread in 0..3_usize {
            let (observed, expected) = (&observed, &expected);
            scope.spawn(move || {
                let mut scratch = Scratch::default();
                let n = expected.len();
                for k in 0..n {
                    let i = (k * 7 + thread * 11) % n;
                    let (mut objects, mut cells) = (Vec::new(), Vec::new());
                    let mut view = observed.view(i as u32, &mut scratch);
                    view.objects(&mut objects);
                    view.cells(&grid(), &mut cells);
                    assert_eq!((&objects, &cells), (&expected[i].0, &expected[i].1));
                }
            });
        }
    });
}
