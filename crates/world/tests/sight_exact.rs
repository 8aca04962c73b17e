//! The fast path gives the answers of the plain rule, bit for bit, on scenes of many kinds.

mod sight_scenes;

use covey_world::sight::{
    CellRule, ObjectRule, Scratch, SensorHeight, Sight, SightOptions, Sighting, plain,
};
use covey_world::{GridFrame, Point};
use sight_scenes::{Random, Scene, corridor, jumble};

/// Compares both for each vehicle; returns how many objects and cells were seen.
fn compare(scene: &Scene, options: SightOptions) -> (usize, usize) {
    compare_with(scene, options, &mut Scratch::default())
}

/// As [`compare`], with working memory that may have been used before.
fn compare_with(scene: &Scene, options: SightOptions, scratch: &mut Scratch) -> (usize, usize) {
    let sight = Sight::new(&scene.buildings, options);
    let observed = sight.observe(&scene.vehicles);
    let grid = GridFrame::new(Point::new(3.0, -4.0), 0.2, 20.0).unwrap();
    let (mut fast_objects, mut slow_objects) = (Vec::new(), Vec::new());
    let (mut fast_cells, mut slow_cells) = (Vec::new(), Vec::new());
    let (mut fast_points, mut slow_points) = (Vec::new(), Vec::new());
    let (mut fast_links, mut slow_links) = (Vec::new(), Vec::new());
    let mut random = Random::new(7);
    let mut seen = (0, 0);
    for i in 0..scene.vehicles.len() as u32 {
        let mut view = observed.view(i, scratch);
        view.objects(&mut fast_objects);
        plain::objects(&observed, i, &mut slow_objects);
        assert_eq!(fast_objects, slow_objects, "objects of {i}");

        view.cells(&grid, &mut fast_cells);
        plain::cells(&observed, i, &grid, &mut slow_cells);
        assert_eq!(fast_cells, slow_cells, "cells of {i}");

        let at = scene.vehicles[i as usize].position;
        let points: Vec<Point> = (0..10)
            .map(|_| at + Point::new(random.between(-150.0, 150.0), random.between(-150.0, 150.0)))
            .collect();
        let height = random.between(0.0, 20.0);
        view.points(&points, height, &mut fast_points);
        plain::points(&observed, i, &points, height, &mut slow_points);
        assert_eq!(fast_points, slow_points, "points of {i}");

        observed.links_onward(i, scratch, &mut fast_links);
        fast_links.sort_by_key(|link| link.other);
        plain::links_onward(&observed, i, &mut slow_links);
        assert_eq!(fast_links, slow_links, "links of {i}");

        // Why each object is not seen agrees with whether it is.
        for (j, other) in scene.vehicles.iter().enumerate() {
            let sighting = observed.hidden_by(i, j as u32);
            let is_seen = slow_objects.binary_search(&(j as u32)).is_ok();
            assert_eq!(sighting == Sighting::Seen, is_seen, "{j} from {i}");
            let far = other.position - at;
            let out_of_range = far.dot(far) > options.range * options.range || j == i as usize;
            assert_eq!(sighting == Sighting::OutOfRange, out_of_range);
        }
        seen.0 += fast_objects.len();
        seen.1 += fast_cells.len();
    }
    seen
}

#[test]
fn in_a_street_canyon() {
    let scene = corridor(150, 1);
    let (objects, cells) = compare(&scene, SightOptions::default());
    let n = scene.vehicles.len();
    assert!(objects > n && cells > n);
}

#[test]
fn in_jumbles() {
    for seed in 0..24 {
        let options = SightOptions {
            object_rule: [
                ObjectRule::Centre,
                ObjectRule::AnyCorner,
                ObjectRule::AllCorners,
            ][seed as usize % 3],
            cell_rule: [CellRule::Centre, CellRule::Strict][seed as usize % 2],
            sensor: [SensorHeight::AboveRoof(0.1), SensorHeight::AboveGround(0.8)]
                [seed as usize / 2 % 2],
            range: [150.0, 60.0, 300.0][seed as usize / 3 % 3],
            link_range: 200.0,
            vehicle_link_range: [150.0, f64::INFINITY][seed as usize / 2 % 2],
            building_link_range: [100.0, f64::INFINITY, 170.0][seed as usize % 3],
            ..SightOptions::default()
        };
        let crowd = [(20, 5, 100.0), (60, 30, 400.0), (8, 3, 30.0)][seed as usize % 3];
        compare(&jumble(crowd.0, crowd.1, crowd.2, seed), options);
    }
}

/// What working memory remembers of the last instant never matters: whether vehicles move on, or change their numbers, or the
/// map is another one.
#[test]
fn with_memory_of_other_instants() {
    let mut scratch = Scratch::default();
    for seed in 0..8 {
        let mut scene = if seed % 4 == 3 {
            corridor(40, seed)
        } else {
            jumble(40, 15, [60.0, 250.0][seed as usize % 2], seed)
        };
        let options = SightOptions {
            sensor: [SensorHeight::AboveRoof(0.1), SensorHeight::AboveGround(6.0)]
                [seed as usize / 2 % 2],
            link_range: 200.0,
            ..SightOptions::default()
        };
        let mut random = Random::new(seed);
        for step in 0..4 {
            for v in &mut scene.vehicles {
                v.position = v.position + Point::from_heading(v.heading) * random.between(0.0, 1.5);
            }
            if step == 2 {
                scene.vehicles.reverse();
                scene.vehicles.truncate(35);
            }
            compare_with(&scene, options, &mut scratch);
        }
    }
}

/// Everything on whole numbers: lines run through corners and along walls, sensors stand on walls and in boxes.
#[test]
fn on_a_lattice_where_everything_touches() {
    for seed in 0..40 {
        let mut scene = jumble(30, 12, 60.0, seed);
        for building in &mut scene.buildings {
            for p in &mut building.outline {
                *p = Point::new((p.x / 5.0).round() * 5.0, (p.y / 5.0).round() * 5.0);
            }
        }
        for v in &mut scene.vehicles {
            v.position = Point::new(v.position.x.round(), v.position.y.round());
            v.heading = 0.0;
            v.body.length = v.body.length.ceil();
            v.body.width = 2.0;
        }
        compare(&scene, SightOptions::default());
    }
}

/// Walls as long as streets, seen from close by and from afar, and ranges beyond what single precision serves.
#[test]
fn beside_long_walls() {
    for seed in 0..9 {
        let mut scene = jumble(12, 10, 500.0, seed);
        let stretch = [20.0, 60.0][seed as usize % 2];
        for building in &mut scene.buildings {
            let middle = building.outline[0];
            for p in &mut building.outline {
                p.x = middle.x + (p.x - middle.x) * stretch;
            }
        }
        let options = SightOptions {
            range: [150.0, 400.0, 1_050.0][seed as usize % 3],
            link_range: [500.0, 900.0, 1_200.0][seed as usize / 3 % 3],
            ..SightOptions::default()
        };
        compare(&scene, options);
    }
}
