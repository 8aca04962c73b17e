//! Where connections meet, and which way a path takes.

mod paths_support;

use covey_world::network::{ConnectionIx, JunctionIx, LaneIx, Turn};
use covey_world::paths::predict::{MAX_PIECES, straight_ahead};
use covey_world::paths::{ConflictKind, ConflictTable, PathBuffer, PathStart, Predictor};
use covey_world::{Network, Point};
use paths_support::{NetBuilder, Tables, connection, corridor, four_arms, four_arms_with, lane};

fn table(network: &Network) -> (Predictor, ConflictTable) {
    let predictor = Predictor::new(network);
    let conflicts = ConflictTable::new(network, &predictor);
    (predictor, conflicts)
}

fn path(predictor: &Predictor, start: PathStart, horizon: f64) -> Vec<(LaneIx, f64, f64, f64)> {
    let mut buffer = PathBuffer::new();
    predictor.predict(start, horizon, &mut buffer);
    let pieces = buffer.path(0).pieces;
    pieces
        .iter()
        .map(|p| (p.lane, p.start, p.end, p.distance))
        .collect()
}

#[test]
fn the_four_arm_junction_as_text() {
    let network = four_arms(false).build();
    let (predictor, conflicts) = table(&network);
    let text = conflicts.describe(&network, &predictor, JunctionIx(0));
    // The other arms are this one turned by quarters.
    let west: Vec<&str> = text.lines().take(17).collect();
    insta::assert_snapshot!(west.join("\n"), @r"
    w_in_0 -> s_out_0 (Right, 16.9 m)
      at 16.9 m merges with e_in_0 -> s_out_0 at 22.0 m
      at 16.9 m merges with n_in_0 -> s_out_0 at 24.0 m
    w_in_0 -> e_out_0 (Straight, 24.0 m)
      at 9.9 m crosses s_in_0 -> w_out_0 at 11.3 m
      at 10.4 m crosses n_in_0 -> s_out_0 at 13.6 m
      at 13.6 m crosses s_in_0 -> n_out_0 at 10.4 m
      at 14.1 m crosses e_in_0 -> s_out_0 at 10.7 m
      at 24.0 m merges with s_in_0 -> e_out_0 at 16.9 m
      at 24.0 m merges with n_in_0 -> e_out_0 at 22.0 m
    w_in_0 -> n_out_0 (Left, 22.0 m)
      at 7.8 m crosses s_in_0 -> w_out_0 at 14.2 m
      at 10.7 m crosses e_in_0 -> w_out_0 at 14.1 m
      at 11.3 m crosses n_in_0 -> s_out_0 at 9.9 m
      at 14.2 m crosses n_in_0 -> e_out_0 at 7.8 m
      at 22.0 m merges with s_in_0 -> n_out_0 at 24.0 m
      at 22.0 m merges with e_in_0 -> n_out_0 at 16.9 m
    ");
    let mut turned = text.clone();
    for way in ["in", "out"] {
        for (place, arm) in ["w", "s", "e", "n"].iter().enumerate() {
            turned = turned.replace(&format!("{arm}_{way}_0"), &format!("<{place}_{way}_0"));
        }
        for (place, arm) in ["s", "e", "n", "w"].iter().enumerate() {
            turned = turned.replace(&format!("<{place}_{way}_0"), &format!("{arm}_{way}_0"));
        }
    }
    let blocks = |text: &str| {
        let mut blocks: Vec<Vec<String>> = Vec::new();
        for line in text.lines() {
            if !line.starts_with("  ") {
                blocks.push(Vec::new());
            }
            blocks.last_mut().unwrap().push(line.to_owned());
        }
        blocks.iter_mut().for_each(|block| block[1..].sort());
        blocks.sort();
        blocks
    };
    assert_eq!(blocks(&turned), blocks(&text));
}

#[test]
fn two_straight_ways_cross_where_geometry_says() {
    // Eastbound on y = -1.6 and northbound on x = 1.6, both from 12 m before the middle.
    let network = four_arms(false).build();
    let (_, conflicts) = table(&network);
    let east = connection(&network, "w_in_0", "e_out_0");
    let north = connection(&network, "s_in_0", "n_out_0");
    let found = conflicts
        .of(east)
        .iter()
        .find(|c| c.other == north)
        .unwrap();
    assert_eq!(found.kind, ConflictKind::Crossing);
    assert!((found.own - 13.6).abs() < 1e-9);
    assert!((found.theirs - 10.4).abs() < 1e-9);
    assert!(found.point.distance(Point::new(1.6, -1.6)) < 1e-9);
    // The oncoming straight way is called a foe by this table and never comes near.
    let west = connection(&network, "e_in_0", "w_out_0");
    assert!(conflicts.of(east).iter().all(|c| c.other != west));
}

#[test]
fn parting_ways_are_no_conflict_and_merging_ones_meet_at_the_lane() {
    for tables in [Tables::AllFoes, Tables::NoFoes, Tables::None] {
        let mut builder = NetBuilder::new(false);
        builder.tables = tables;
        let network = four_arms_with(builder).build();
        let (predictor, conflicts) = table(&network);
        let straight = connection(&network, "w_in_0", "e_out_0");
        let left = connection(&network, "w_in_0", "n_out_0");
        assert!(conflicts.of(straight).iter().all(|c| c.other != left));
        let right_from_south = connection(&network, "s_in_0", "e_out_0");
        let found = conflicts
            .of(straight)
            .iter()
            .find(|c| c.other == right_from_south)
            .unwrap();
        assert_eq!(found.kind, ConflictKind::Merging);
        assert_eq!(found.own, predictor.connection_length(straight));
        assert_eq!(found.theirs, predictor.connection_length(right_from_south));
        // Only merging is left where the table knows no foes.
        let crossings = network
            .connections
            .iter()
            .zip(0..)
            .flat_map(|(_, c)| conflicts.of(ConnectionIx(c)));
        let crossings = crossings
            .filter(|c| c.kind == ConflictKind::Crossing)
            .count();
        assert_eq!(crossings == 0, tables == Tables::NoFoes);
    }
}

#[test]
fn the_table_is_symmetric_and_left_hand_mirrors_right_hand() {
    let (right, left) = (four_arms(false).build(), four_arms(true).build());
    let ((_, of_right), (_, of_left)) = (table(&right), table(&left));
    assert_eq!(of_right.pairs(), of_left.pairs());
    for (c, own) in (0..).map(ConnectionIx).zip(&right.connections) {
        for conflict in of_right.of(c) {
            let back = of_right
                .of(conflict.other)
                .iter()
                .find(|b| b.other == c)
                .unwrap();
            assert_eq!(
                (back.own, back.theirs, back.kind),
                (conflict.theirs, conflict.own, conflict.kind)
            );
            // Mirror west and east: w_in -> n_out becomes e_in -> n_out.
            let mirrored = |connection: &covey_world::network::Connection| {
                let name = |lane: LaneIx| {
                    let name = &right.lanes[lane.index()].name;
                    match name.as_bytes()[0] {
                        b'w' => name.replacen('w', "e", 1),
                        b'e' => name.replacen('e', "w", 1),
                        _ => name.clone(),
                    }
                };
                crate::connection(&left, &name(connection.from), &name(connection.to))
            };
            let other = mirrored(&right.connections[conflict.other.index()]);
            let found = of_left
                .of(mirrored(own))
                .iter()
                .find(|b| b.other == other)
                .unwrap();
            assert!((found.own - conflict.own).abs() < 1e-9);
            assert!((found.theirs - conflict.theirs).abs() < 1e-9);
        }
    }
}

#[test]
fn without_internal_lanes_ways_still_meet_at_coordinate_zero() {
    let mut builder = NetBuilder::new(false);
    builder.internal_lanes = false;
    builder.tables = Tables::None;
    let network = four_arms_with(builder).build();
    let (predictor, conflicts) = table(&network);
    let east = connection(&network, "w_in_0", "e_out_0");
    let north = connection(&network, "s_in_0", "n_out_0");
    let found = conflicts
        .of(east)
        .iter()
        .find(|c| c.other == north)
        .unwrap();
    assert_eq!((found.own, found.theirs), (0.0, 0.0));
    assert!(found.point.distance(Point::new(1.6, -1.6)) < 1e-9);
    assert_eq!(predictor.connection_length(east), 0.0);
}

#[test]
fn internal_lanes_of_a_single_point_do_no_harm() {
    let mut network = four_arms(false).build();
    for lane in &mut network.lanes {
        if lane.name.starts_with(':') {
            let middle = lane.shape.point_at(lane.shape.length() / 2.0);
            lane.shape = covey_world::Polyline::new(vec![middle]).unwrap();
            lane.length = 0.1;
        }
    }
    let (predictor, conflicts) = table(&network);
    let east = connection(&network, "w_in_0", "e_out_0");
    let north = connection(&network, "s_in_0", "n_out_0");
    let found = conflicts
        .of(east)
        .iter()
        .find(|c| c.other == north)
        .unwrap();
    assert!((0.0..=0.1).contains(&found.own) && (0.0..=0.1).contains(&found.theirs));
    assert_eq!(predictor.connection_length(east), 0.1);
}

#[test]
fn a_path_goes_straight_unless_the_driver_means_otherwise() {
    let network = four_arms(false).build();
    let (predictor, _) = table(&network);
    let from = lane(&network, "w_in_0");
    let straight = connection(&network, "w_in_0", "e_out_0");
    let via = network.connections[straight.index()].via[0];
    let to = lane(&network, "e_out_0");
    let start = PathStart {
        lane: from,
        position: 150.0,
        next: None,
    };
    assert_eq!(
        path(&predictor, start, 100.0),
        vec![
            (from, 150.0, 200.0, 0.0),
            (via, 0.0, 24.0, 50.0),
            (to, 0.0, 26.0, 74.0)
        ]
    );
    let left = connection(&network, "w_in_0", "n_out_0");
    let meant = PathStart {
        next: Some(left),
        ..start
    };
    let length = predictor.connection_length(left);
    let turned = path(&predictor, meant, 100.0);
    assert_eq!(turned[1].0, network.connections[left.index()].via[0]);
    assert_eq!(turned[2].0, lane(&network, "n_out_0"));
    assert!((turned[2].2 - (50.0 - length)).abs() < 1e-9);
    assert!((turned[2].3 - (50.0 + length)).abs() < 1e-9);
    // An intention that does not fit the lane, or does not exist, is passed over.
    for odd in [
        connection(&network, "s_in_0", "n_out_0"),
        ConnectionIx(9999),
    ] {
        let odd = PathStart {
            next: Some(odd),
            ..start
        };
        assert_eq!(path(&predictor, odd, 100.0), path(&predictor, start, 100.0));
    }
}

#[test]
fn on_an_internal_lane_the_path_goes_on_along_its_connection() {
    let network = four_arms(false).build();
    let (predictor, _) = table(&network);
    let left = connection(&network, "w_in_0", "n_out_0");
    let via = network.connections[left.index()].via[0];
    let mut buffer = PathBuffer::new();
    predictor.predict(
        PathStart {
            lane: via,
            position: 3.0,
            next: None,
        },
        30.0,
        &mut buffer,
    );
    let view = buffer.path(0);
    assert_eq!(view.connections[0].connection, left);
    assert_eq!(view.connections[0].distance, -3.0);
    assert_eq!(view.pieces[1].lane, lane(&network, "n_out_0"));
    assert!((view.length() - 30.0).abs() < 1e-9);
    // The arm ends in a dead end, and so does the path.
    buffer.clear();
    predictor.predict(
        PathStart {
            lane: via,
            position: 3.0,
            next: None,
        },
        1e6,
        &mut buffer,
    );
    assert!(
        (buffer.path(0).length() - (predictor.connection_length(left) - 3.0 + 200.0)).abs() < 1e-9
    );
}

#[test]
fn straight_is_first_what_the_net_calls_so_then_what_turns_least() {
    let mut builder = NetBuilder::new(false);
    let middle = builder.junction("m", 0.0, 0.0);
    let start = builder.junction("a", -100.0, 0.0);
    let ahead = builder.junction("b", 100.0, 0.0);
    let aside = builder.junction("c", 100.0, 40.0);
    builder.edge("a", start, middle, 1);
    builder.edge("b", middle, ahead, 1);
    builder.edge("c", middle, aside, 1);
    let [a, b, c] = ["a_0", "b_0", "c_0"].map(|name| lane(&builder.network, name));
    let to_c = builder.connect(middle, a, c, Turn::Left);
    let to_b = builder.connect(middle, a, b, Turn::Right);
    let mut network = builder.build();
    assert_eq!(Predictor::new(&network).straightest(a), Some(to_b));
    network.connections[to_c.index()].turn = Turn::Straight;
    assert_eq!(Predictor::new(&network).straightest(a), Some(to_c));
    assert_eq!(Predictor::new(&network).straightest(b), None);
}

#[test]
fn circles_of_short_lanes_end() {
    let mut network = four_arms(false).build();
    for lane in &mut network.lanes {
        lane.length = 0.0;
    }
    // East out leads back to west in.
    let (e, w) = (lane(&network, "e_out_0"), lane(&network, "w_in_0"));
    let mut back = network.connections[0].clone();
    (back.from, back.to) = (e, w);
    back.via.clear();
    network.lanes[e.index()]
        .outgoing
        .push(ConnectionIx(network.connections.len() as u32));
    network.connections.push(back);
    let predictor = Predictor::new(&network);
    let pieces = path(
        &predictor,
        PathStart {
            lane: w,
            position: 0.0,
            next: None,
        },
        50.0,
    );
    assert_eq!(pieces.len(), MAX_PIECES);
}

#[test]
fn odd_numbers_give_short_paths() {
    let network = four_arms(false).build();
    let predictor = Predictor::new(&network);
    let w = lane(&network, "w_in_0");
    let at = |position| PathStart {
        lane: w,
        position,
        next: None,
    };
    assert!(path(&predictor, at(f64::NAN), 10.0).is_empty());
    assert!(
        path(
            &predictor,
            PathStart {
                lane: LaneIx(9999),
                ..at(0.0)
            },
            10.0
        )
        .is_empty()
    );
    assert_eq!(
        path(&predictor, at(10.0), f64::NAN),
        vec![(w, 10.0, 10.0, 0.0)]
    );
    assert_eq!(path(&predictor, at(-5.0), 10.0), vec![(w, 0.0, 10.0, 0.0)]);
    assert_eq!(path(&predictor, at(900.0), 1.0)[0], (w, 200.0, 200.0, 0.0));
    assert_eq!(
        straight_ahead(Point::new(1.0, 2.0), 0.0, 5.0).unwrap()[1],
        Point::new(6.0, 2.0)
    );
    assert!(straight_ahead(Point::new(f64::NAN, 2.0), 0.0, 5.0).is_none());
}

#[test]
fn lane_positions_are_counted_in_the_lanes_own_length() {
    // SUMO's length of an internal lane may differ from its drawn one: here twice as long.
    let mut network = four_arms(false).build();
    let east = connection(&network, "w_in_0", "e_out_0");
    let via = network.connections[east.index()].via[0];
    network.lanes[via.index()].length *= 2.0;
    let (_, conflicts) = table(&network);
    let north = connection(&network, "s_in_0", "n_out_0");
    let found = conflicts
        .of(east)
        .iter()
        .find(|c| c.other == north)
        .unwrap();
    assert!((found.own - 27.2).abs() < 1e-9);
    assert!((found.theirs - 10.4).abs() < 1e-9);
}

#[test]
fn the_corridor_has_conflicts_at_each_junction_alike() {
    let network = corridor(3, 3, true);
    let (predictor, conflicts) = table(&network);
    let names = |text: String, k: u32| {
        // East and west edges are numbered from the junction on their left.
        let text = text
            .replace(&format!("east{}_", k - 1), "eastA_")
            .replace(&format!("east{k}_"), "eastB_");
        let text = text
            .replace(&format!("west{}_", k - 1), "westA_")
            .replace(&format!("west{k}_"), "westB_");
        text.replace(&format!("north{k}_"), "north_")
            .replace(&format!("south{k}_"), "south_")
    };
    let first = names(conflicts.describe(&network, &predictor, JunctionIx(1)), 1);
    assert!(first.contains("crosses"));
    for k in 2..=3 {
        assert_eq!(
            names(conflicts.describe(&network, &predictor, JunctionIx(k)), k),
            first
        );
    }
}
