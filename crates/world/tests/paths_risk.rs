//! The risk prior and lane matching: what a host can make of a beacon.

mod paths_support;

use std::sync::Arc;

use covey_world::paths::{
    BeaconState, ConflictTable, LaneMatchParameters, LaneMatcher, PathBuffer, PathReach, Predictor,
    RiskCell, RiskPrior, RiskPriorParameters, own_path_cells,
};
use covey_world::{GridFrame, Network, Point};
use paths_support::{car, connection, corridor, four_arms, lane};
use proptest::prelude::*;

/// Cells of 20 m whose corners are at odd multiples of 10 m, so that the arms run through the middle of cells.
fn grid() -> GridFrame {
    GridFrame::new(Point::new(-10.0, -10.0), 0.0, 20.0).unwrap()
}

fn prior(network: &Network, grid: GridFrame) -> RiskPrior {
    let predictor = Arc::new(Predictor::new(network));
    let conflicts = ConflictTable::new(network, &predictor);
    RiskPrior::new(predictor, &conflicts, grid, RiskPriorParameters::default())
}

fn cells(prior: &RiskPrior, beacon: BeaconState) -> Vec<RiskCell> {
    let mut out = Vec::new();
    prior.cells(&beacon, &mut PathBuffer::new(), &mut out);
    out
}

/// A picture of the cells around the junction, north up: `#` on the path, `+` of conflicting approaches.
fn picture(cells: &[RiskCell]) -> String {
    let mut text = String::new();
    for iy in (-4..=4).rev() {
        for ix in -5..=5 {
            let found = cells.iter().find(|c| (c.ix, c.iy) == (ix, iy));
            text.push(match found.map(|c| c.weight) {
                None => '.',
                Some(weight) if weight >= 1.0 => '#',
                Some(_) => '+',
            });
        }
        text.push('\n');
    }
    text
}

#[test]
fn an_approach_to_the_junction_as_a_picture() {
    let network = four_arms(false).build();
    let prior = prior(&network, grid());
    // Eastbound, 44 m before the middle, at 10 m/s: 60 m of path, over the junction. Conflicting ways: from the south and
    // north over all four lanes, and the oncoming left turn; the last 50 m before the conflict points.
    let beacon = BeaconState {
        position: Point::new(-44.0, -1.6),
        heading: 0.0,
        speed: 10.0,
    };
    let found = cells(&prior, beacon);
    insta::assert_snapshot!(picture(&found), @r"
    ...........
    ...........
    .....+.....
    .....+.....
    ...####++..
    .....+.....
    .....+.....
    .....+.....
    ...........
    ");
    // At the middle (cell 0, 0), 34 m on, in 3.4 s.
    let middle = found.iter().find(|c| (c.ix, c.iy) == (0, 0)).unwrap();
    assert_eq!((middle.arrival_us, middle.weight), (3_400_000, 1.0));
    // Approach cells carry the arrival at the first conflict that they lead to.
    let south = found.iter().find(|c| (c.ix, c.iy) == (0, -1)).unwrap();
    assert_eq!(south.weight, 0.5);
    assert!(
        (4_100_000..=4_200_000).contains(&south.arrival_us),
        "{}",
        south.arrival_us
    );
}

#[test]
fn before_the_reach_of_the_junction_only_the_path_counts() {
    let network = four_arms(false).build();
    let prior = prior(&network, grid());
    let beacon = BeaconState {
        position: Point::new(-44.0, -1.6),
        heading: 0.0,
        speed: 2.0,
    };
    insta::assert_snapshot!(picture(&cells(&prior, beacon)), @r"
    ...........
    ...........
    ...........
    ...........
    ...##......
    ...........
    ...........
    ...........
    ...........
    ");
    // Past the last conflict nothing conflicts any more.
    let leaving = BeaconState {
        position: Point::new(14.0, -1.6),
        heading: 0.0,
        speed: 10.0,
    };
    assert!(cells(&prior, leaving).iter().all(|c| c.weight >= 1.0));
}

#[test]
fn off_the_map_the_path_is_straight() {
    let network = four_arms(false).build();
    let prior = prior(&network, grid());
    let beacon = BeaconState {
        position: Point::new(60.0, 60.0),
        heading: 0.5,
        speed: 4.0,
    };
    let found = cells(&prior, beacon);
    assert!(
        prior
            .matcher()
            .match_lane(beacon.position, beacon.heading)
            .is_none()
    );
    assert_eq!(
        found
            .iter()
            .map(|c| (c.ix, c.iy, c.weight))
            .collect::<Vec<_>>(),
        vec![(3, 3, 1.0), (4, 3, 1.0), (4, 4, 1.0)]
    );
    assert!(
        cells(
            &prior,
            BeaconState {
                position: Point::new(f64::NAN, 0.0),
                ..beacon
            }
        )
        .is_empty()
    );
    assert!(
        cells(
            &prior,
            BeaconState {
                heading: f64::NAN,
                ..beacon
            }
        )
        .is_empty()
    );
    assert!(
        cells(
            &prior,
            BeaconState {
                speed: 1e300,
                ..beacon
            }
        )
        .len()
            < 60
    );
}

#[test]
fn lanes_are_matched_by_place_and_direction() {
    let network = four_arms(false).build();
    let predictor = Predictor::new(&network);
    let matcher = LaneMatcher::new(&predictor, LaneMatchParameters::default());
    let at = |x: f64, y: f64, heading: f64| matcher.match_lane(Point::new(x, y), heading);
    let (found, s) = at(-112.0, -2.0, 0.05).unwrap();
    assert_eq!(found, lane(&network, "w_in_0"));
    assert!((s - 100.0).abs() < 1e-9);
    // The same place in the other direction is the other lane, 3.6 m off: too far; nearer the middle it is found.
    assert_eq!(at(-112.0, -2.0, 3.1), None);
    assert_eq!(at(-112.0, -1.0, 3.1).unwrap().0, lane(&network, "w_out_0"));
    // Where ways part inside the junction the straight one is taken, until the heading says otherwise.
    let via = |to: &str| network.connections[connection(&network, "w_in_0", to).index()].via[0];
    assert_eq!(at(-11.0, -1.6, 0.0).unwrap().0, via("e_out_0"));
    let shape = &network.lanes[via("s_out_0").index()].shape;
    let (middle, heading) = (shape.point_at(9.0), shape.heading_at(9.0));
    assert_eq!(at(middle.x, middle.y, heading).unwrap().0, via("s_out_0"));
    assert_eq!(at(500.0, 500.0, 0.0), None);
    assert_eq!(at(f64::NAN, 0.0, 0.0), None);
    assert_eq!(at(-112.0, -2.0, f64::INFINITY), None);
    let nothing = LaneMatcher::new(
        &Predictor::new(&Network::default()),
        LaneMatchParameters::default(),
    );
    assert_eq!(nothing.match_lane(Point::new(0.0, 0.0), 0.0), None);
}

#[test]
fn the_own_path_in_small_cells_follows_the_intention() {
    let network = four_arms(false).build();
    let predictor = Predictor::new(&network);
    let small = grid().with_cell_size(5.0).unwrap();
    let reach = PathReach {
        extra: 0.0,
        ..PathReach::default()
    };
    let mut vehicle = car(&network, 1, lane(&network, "w_in_0"), 190.0, 8.0);
    let (mut buffer, mut out) = (PathBuffer::new(), Vec::new());
    own_path_cells(&predictor, &vehicle, &reach, &small, &mut buffer, &mut out);
    // From x = -22 to x = 18 on y = -1.6: columns -3 to 5 of row 1, a cell each 0.625 s.
    assert_eq!(
        out.iter().map(|c| (c.ix, c.iy)).collect::<Vec<_>>(),
        (-3..=5).map(|ix| (ix, 1)).collect::<Vec<_>>()
    );
    assert_eq!(out[1].arrival_us, 250_000);
    assert_eq!(out[2].arrival_us, 875_000);
    vehicle.next = Some(connection(&network, "w_in_0", "s_out_0"));
    own_path_cells(&predictor, &vehicle, &reach, &small, &mut buffer, &mut out);
    assert_eq!(out.last().map(|c| c.ix), Some(1));
    assert!(out.last().unwrap().iy < -2);
    // Off the road: straight ahead.
    vehicle.lane = None;
    own_path_cells(&predictor, &vehicle, &reach, &small, &mut buffer, &mut out);
    assert!(out.iter().all(|c| c.iy == 1) && out.len() == 9);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_beacon(x in -50.0..700.0f64, y in -200.0..200.0f64, heading in -4.0..4.0f64, speed in 0.0..30.0f64, azimuth in -4.0..4.0f64) {
        let network = corridor(3, 2, true);
        let grid = GridFrame::new(Point::new(7.0, -3.0), azimuth, 20.0).unwrap();
        let prior = prior(&network, grid);
        let beacon = BeaconState { position: Point::new(x, y), heading, speed };
        let found = cells(&prior, beacon);
        // Each cell once, in order; some on the path; no later than the path's end.
        prop_assert!(found.windows(2).all(|w| (w[0].iy, w[0].ix) < (w[1].iy, w[1].ix)));
        prop_assert!(found.iter().any(|c| c.weight >= 1.0));
        let longest = (5e6 + 10e6 / speed.max(1.0)) as i64 + 1;
        prop_assert!(found.iter().all(|c| (0..=longest).contains(&c.arrival_us)));
        if prior.matcher().match_lane(beacon.position, heading).is_none() {
            let here = grid.cell_of(beacon.position).unwrap();
            prop_assert!(found.iter().any(|c| (c.ix, c.iy) == here && c.arrival_us == 0));
        }
    }

    #[test]
    fn a_vehicle_on_a_lane_is_matched_to_where_it_is(l in 0..80usize, share in 0.0..1.0f64) {
        let network = corridor(3, 2, true);
        let l = l % network.lanes.len();
        let shape = &network.lanes[l].shape;
        let s = share * shape.length();
        let (point, heading) = (shape.point_at(s), shape.heading_at(s));
        let predictor = Predictor::new(&network);
        let matcher = LaneMatcher::new(&predictor, LaneMatchParameters::default());
        let (found, at) = matcher.match_lane(point, heading).unwrap();
        let other = &network.lanes[found.index()];
        prop_assert!(other.shape.point_at(at).distance(point) < 1.0);
        if !network.lanes[l].name.starts_with(':') {
            prop_assert_eq!(found.index(), l);
            prop_assert!((at - s).abs() < 1e-6);
        }
    }
}
