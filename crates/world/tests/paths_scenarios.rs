//! Paths, conflicts, relevance and lane matching on the bundled maps, as SUMO writes them.

mod paths_support;

use std::path::Path;
use std::sync::Arc;

use covey_world::network::{Connection, ConnectionIx, EdgeKind, JunctionIx, LaneIx};
use covey_world::paths::conflict::NEAR_MISS;
use covey_world::paths::{
    ConflictKind, ConflictTable, LaneMatchParameters, LaneMatcher, PathBuffer, PathStart,
    Predictor, Relevance, RelevanceParameters, RelevantPairs,
};
use covey_world::{Frame, Network, Point, Polyline};
use paths_support::{by_brute_force, car, lane};

fn network(file: &str) -> Network {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(file);
    let (network, warnings) = Network::read(&path, covey_world::xml::Limits::default()).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    network
}

fn tables(network: &Network) -> (Arc<Predictor>, Arc<ConflictTable>) {
    let predictor = Arc::new(Predictor::new(network));
    let conflicts = Arc::new(ConflictTable::new(network, &predictor));
    (predictor, conflicts)
}

#[test]
fn the_blind_junction_as_text() {
    let network = network("toy/blind-junction/blind-junction.net.xml");
    let (predictor, conflicts) = tables(&network);
    let centre = network
        .junctions
        .iter()
        .position(|j| j.name == "C")
        .unwrap();
    let text = conflicts.describe(&network, &predictor, JunctionIx(centre as u32));
    // The ways out of the south: left, straight, and right over the other carriageway.
    let south = text
        .split_inclusive('\n')
        .skip_while(|line| !line.starts_with("SC_0"));
    let south: String = south.take_while(|line| !line.starts_with("WC_0")).collect();
    insta::assert_snapshot!(south, @r"
    SC_0 -> CW_0 (Left, 8.9 m)
      at 8.9 m merges with EC_0 -> CW_0 at 14.0 m
      at 8.9 m merges with NC_0 -> CW_0 at 13.7 m
    SC_0 -> CN_0 (Straight, 14.0 m)
      at 5.5 m crosses EC_0 -> CW_0 at 8.5 m
      at 6.9 m crosses WC_0 -> CS_0 at 5.8 m
      at 7.1 m crosses NC_0 -> CW_0 at 7.9 m
      at 8.5 m crosses WC_0 -> CE_0 at 5.5 m
      at 14.0 m merges with EC_0 -> CN_0 at 13.7 m
      at 14.0 m merges with WC_0 -> CN_0 at 8.9 m
    SC_0 -> CE_0 (Right, 13.7 m)
      at 5.6 m crosses WC_0 -> CS_0 at 8.1 m
      at 5.8 m crosses EC_0 -> CW_0 at 6.9 m
      at 6.9 m crosses NC_0 -> CW_0 at 6.9 m
      at 7.9 m crosses NC_0 -> CS_0 at 7.1 m
      at 8.1 m crosses EC_0 -> CN_0 at 5.6 m
      at 13.7 m merges with NC_0 -> CE_0 at 8.9 m
      at 13.7 m merges with WC_0 -> CE_0 at 14.0 m
    ");
}

#[test]
fn hidden_cross_traffic_at_the_blind_junction_is_relevant() {
    let network = network("toy/blind-junction/blind-junction.net.xml");
    let (predictor, conflicts) = tables(&network);
    // Both 40 m before their stop lines at 10 m/s, so within 40 m + d_min of what lies d_min behind the line.
    let relevant = |other: &str, margin: f64| {
        let parameters = RelevanceParameters {
            margin,
            ..RelevanceParameters::default()
        };
        let mut relevance = Relevance::new(predictor.clone(), conflicts.clone(), parameters);
        let vehicles = ["SC_0", other].map(|name| lane(&network, name));
        let vehicles = vehicles
            .iter()
            .zip(0..)
            .map(|(&l, id)| car(&network, id, l, 153.0, 10.0));
        let mut pairs = RelevantPairs::new();
        relevance.step(
            &Frame {
                time_us: 0,
                vehicles: vehicles.collect(),
            },
            &mut pairs,
        );
        (pairs.of(0).len(), pairs.of(1).len())
    };
    // Northbound meets westbound 5.5 m behind its own line and 8.5 m behind the other's, eastbound the other way round.
    for other in ["EC_0", "WC_0"] {
        assert_eq!(relevant(other, 8.4), (0, 0));
        assert_eq!(relevant(other, 8.6), (1, 1));
    }
    // Oncoming never meets.
    assert_eq!(relevant("NC_0", 100.0), (0, 0));
}

/// Points at most 0.2 m apart along a connection's internal lanes, with connection coordinates.
fn sampled(network: &Network, connection: &Connection) -> Vec<(Point, f64)> {
    let mut points = Vec::new();
    let mut begin = 0.0;
    for via in &connection.via {
        let lane = &network.lanes[via.index()];
        let steps = (lane.length / 0.2).ceil().max(1.0) as u32;
        for k in 0..=steps {
            let share = f64::from(k) / f64::from(steps);
            points.push((
                lane.shape.point_at(share * lane.shape.length()),
                begin + share * lane.length,
            ));
        }
        begin += lane.length;
    }
    points
}

#[test]
fn conflicts_on_the_corridor_are_where_sampling_finds_them() {
    let network = network("tamagawa/tamagawa.net.xml.gz");
    let (_, conflicts) = tables(&network);
    let samples: Vec<Vec<(Point, f64)>> = network
        .connections
        .iter()
        .map(|c| sampled(&network, c))
        .collect();
    let at = |samples: &[(Point, f64)], s: f64| {
        let nearest = samples
            .iter()
            .min_by(|a, b| (a.1 - s).abs().total_cmp(&(b.1 - s).abs()));
        nearest.unwrap().0
    };
    let (mut crossing, mut apart) = (0, 0);
    for (a, first) in network.connections.iter().enumerate() {
        for (b, second) in network.connections.iter().enumerate().skip(a + 1) {
            if first.junction != second.junction {
                continue;
            }
            let found = conflicts
                .of(ConnectionIx(a as u32))
                .iter()
                .find(|c| c.other.index() == b);
            let requests = &network.junctions[first.junction.index()].requests;
            let foes = match (first.request, second.request) {
                (Some(i), Some(j)) => {
                    requests[i as usize].foes[j as usize] || requests[j as usize].foes[i as usize]
                }
                _ => false,
            };
            if first.to == second.to && first.from != second.from {
                assert_eq!(found.unwrap().kind, ConflictKind::Merging);
                continue;
            }
            if first.from == second.from || !foes {
                assert!(found.is_none());
                continue;
            }
            let mut nearest = f64::INFINITY;
            for p in &samples[a] {
                for q in &samples[b] {
                    nearest = nearest.min(p.0.distance(q.0));
                }
            }
            match found {
                Some(found) => {
                    crossing += 1;
                    assert!(nearest <= NEAR_MISS + 0.2);
                    // The point lies on both ways, or as near to both as they come.
                    assert!(at(&samples[a], found.own).distance(found.point) < 0.15);
                    assert!(at(&samples[b], found.theirs).distance(found.point) < nearest + 0.15);
                }
                None => {
                    apart += 1;
                    assert!(nearest > NEAR_MISS - 0.01, "{nearest}");
                }
            }
        }
    }
    assert!(
        crossing > 400 && apart > 0,
        "{crossing} crossings, {apart} foes that never meet"
    );
}

#[test]
fn relevance_on_the_corridor_agrees_with_looking_at_every_pair() {
    let network = network("tamagawa/tamagawa.net.xml.gz");
    let (predictor, conflicts) = tables(&network);
    // A vehicle every 9 to 24 m on every lane, standing and moving, the turn drawn from what the lane offers.
    let mut vehicles = Vec::new();
    for (l, lane) in (0u32..)
        .zip(&network.lanes)
        .filter(|(_, lane)| lane.drivable)
    {
        let mut at = 5.0 + f64::from(l % 7);
        while at <= lane.length {
            let id = vehicles.len() as u32;
            let mut vehicle = car(&network, id, LaneIx(l), at, f64::from(id * 5 % 7) * 2.5);
            if !lane.outgoing.is_empty() {
                vehicle.next = Some(lane.outgoing[id as usize % lane.outgoing.len()]);
            }
            vehicles.push(vehicle);
            at += 9.0 + f64::from(id % 16);
        }
    }
    assert!(vehicles.len() > 1_000, "{}", vehicles.len());
    let parameters = RelevanceParameters::default();
    let expected = by_brute_force(&predictor, &conflicts, &vehicles, &parameters);
    let mut pairs = RelevantPairs::new();
    Relevance::new(predictor, conflicts, parameters).step(
        &Frame {
            time_us: 0,
            vehicles,
        },
        &mut pairs,
    );
    let found: Vec<(u32, u32)> = pairs.iter().map(|(i, o)| (i, o.object)).collect();
    assert_eq!(found, expected);
    for kind in [
        pairs.iter().filter(|(_, o)| o.reasons.ahead()).count(),
        pairs.iter().filter(|(_, o)| o.reasons.crossing()).count(),
        pairs.iter().filter(|(_, o)| o.reasons.merging()).count(),
    ] {
        assert!(kind > 100, "{kind}");
    }
}

#[test]
fn every_lane_of_the_corridor_is_matched_from_place_and_heading() {
    let network = network("tamagawa/tamagawa.net.xml.gz");
    let predictor = Predictor::new(&network);
    let matcher = LaneMatcher::new(&predictor, LaneMatchParameters::default());
    let (mut inside, mut right_inside) = (0, 0);
    for (l, lane) in (0u32..)
        .zip(&network.lanes)
        .filter(|(_, lane)| lane.drivable)
    {
        for tenth in 0..10 {
            let s = (f64::from(tenth) + 0.5) / 10.0 * lane.shape.length();
            let found = matcher.match_lane(lane.shape.point_at(s), lane.shape.heading_at(s));
            if network.edges[lane.edge.index()].kind == EdgeKind::Internal {
                inside += 1;
                right_inside += u32::from(found.is_some_and(|(lane, _)| lane.0 == l));
            } else {
                let (found, at) = found.unwrap();
                assert_eq!(network.lanes[found.index()].name, lane.name);
                assert!((at * lane.shape.length() / lane.length - s).abs() < 0.01);
            }
        }
    }
    // Where ways have hardly parted the straight one is taken for granted.
    assert!(
        f64::from(right_inside) > 0.8 * f64::from(inside),
        "{right_inside} of {inside}"
    );
}

#[test]
fn paths_on_the_corridor_run_on_without_jumps() {
    let network = network("tamagawa/tamagawa.net.xml.gz");
    let predictor = Predictor::new(&network);
    let mut buffer = PathBuffer::new();
    let end = |line: &Polyline| *line.points().last().unwrap();
    for (l, lane) in (0u32..)
        .zip(&network.lanes)
        .filter(|(_, lane)| lane.drivable)
    {
        buffer.clear();
        predictor.predict(
            PathStart {
                lane: LaneIx(l),
                position: lane.length / 2.0,
                next: None,
            },
            300.0,
            &mut buffer,
        );
        let path = buffer.path(0);
        for pair in path.pieces.windows(2) {
            let [from, to] = [0, 1].map(|k: usize| &network.lanes[pair[k].lane.index()].shape);
            assert!(end(from).distance(to.points()[0]) < 0.1);
            assert!(
                (pair[1].distance - (pair[0].distance + pair[0].end - pair[0].start)).abs() < 1e-9
            );
        }
        // A path is cut short only where the road ends.
        let last = path.pieces[path.pieces.len() - 1];
        let dead_end = network.lanes[last.lane.index()].outgoing.is_empty();
        assert!(
            (path.length() - 300.0).abs() < 1e-6 || dead_end,
            "{} ends after {} m",
            lane.name,
            path.length()
        );
    }
}
