//! Which objects are decision-relevant: cases to check by hand, and what must hold for any scene.
//!
//! With the defaults (H = 4 s, d_min = 7 m) a car at 10 m/s reaches 47 m, a standing one 7 m.

mod paths_support;

use std::sync::Arc;

use covey_world::network::{ConnectionIx, LaneIx};
use covey_world::paths::{
    ConflictTable, Predictor, Relevance, RelevanceParameters, RelevanceRule, RelevantPairs,
};
use covey_world::scene::BodyKind;
use covey_world::{Body, Frame, Network, Point, VehicleId, VehicleState};
use paths_support::{
    NetBuilder, Tables, by_brute_force, car, connection, corridor, four_arms, four_arms_with, lane,
};
use proptest::prelude::*;

struct World {
    network: Network,
    predictor: Arc<Predictor>,
    conflicts: Arc<ConflictTable>,
}

impl World {
    fn new(network: Network) -> Self {
        let predictor = Arc::new(Predictor::new(&network));
        let conflicts = Arc::new(ConflictTable::new(&network, &predictor));
        Self {
            network,
            predictor,
            conflicts,
        }
    }

    fn pairs_with(
        &self,
        vehicles: &[VehicleState],
        parameters: RelevanceParameters,
    ) -> RelevantPairs {
        let frame = Frame {
            time_us: 0,
            vehicles: vehicles.to_vec(),
        };
        let mut out = RelevantPairs::new();
        Relevance::new(self.predictor.clone(), self.conflicts.clone(), parameters)
            .step(&frame, &mut out);
        out
    }

    /// The pairs as text, "1>2 ahead": object 2 is relevant to vehicle 1.
    fn text(&self, vehicles: &[VehicleState]) -> String {
        self.text_with(vehicles, RelevanceParameters::default())
    }

    fn text_with(&self, vehicles: &[VehicleState], parameters: RelevanceParameters) -> String {
        let pairs = self.pairs_with(vehicles, parameters);
        let id = |place: u32| vehicles[place as usize].id.0;
        let mut lines = Vec::new();
        for (i, found) in pairs.iter() {
            let mut line = format!("{}>{}", id(i), id(found.object));
            for (holds, word) in [
                (found.reasons.ahead(), " ahead"),
                (found.reasons.crossing(), " crossing"),
                (found.reasons.merging(), " merging"),
            ] {
                if holds {
                    line.push_str(word);
                }
            }
            lines.push(line);
        }
        lines.join(", ")
    }

    fn car(&self, id: u32, lane_name: &str, position: f64, speed: f64) -> VehicleState {
        car(
            &self.network,
            id,
            lane(&self.network, lane_name),
            position,
            speed,
        )
    }

    /// On the internal lane of a connection.
    fn inside(&self, id: u32, from: &str, to: &str, position: f64, speed: f64) -> VehicleState {
        let c = connection(&self.network, from, to);
        car(
            &self.network,
            id,
            self.network.connections[c.index()].via[0],
            position,
            speed,
        )
    }

    fn meaning(&self, mut vehicle: VehicleState, from: &str, to: &str) -> VehicleState {
        vehicle.next = Some(connection(&self.network, from, to));
        vehicle
    }
}

fn cross() -> World {
    World::new(four_arms(false).build())
}

fn rule(rule: RelevanceRule) -> RelevanceParameters {
    RelevanceParameters {
        rule,
        ..RelevanceParameters::default()
    }
}

fn margin(margin: f64) -> RelevanceParameters {
    RelevanceParameters {
        margin,
        ..RelevanceParameters::default()
    }
}

#[test]
fn leaders_in_the_lane_count_up_to_the_reach() {
    let world = cross();
    // Gaps from the front bumper at 100 m to rear bumpers: 15 m, 35 m, 47 m, 47.5 m.
    let follower = world.car(1, "w_in_0", 100.0, 10.0);
    let ahead = [120.0, 140.0, 152.0, 152.5].map(|at| (at, 0.0));
    let mut scene = vec![follower];
    scene.extend(
        (2u32..)
            .zip(ahead)
            .map(|(id, (at, v))| world.car(id, "w_in_0", at, v)),
    );
    // The standing ones reach 7 m: from 140 m to the rear at 147 m, not to the one at 147.5 m.
    assert_eq!(
        world.text(&scene),
        "1>2 ahead, 1>3 ahead, 1>4 ahead, 3>4 ahead, 4>5 ahead"
    );
}

#[test]
fn a_neighbouring_or_oncoming_lane_is_not_ahead() {
    let world = World::new(corridor(2, 3, false));
    let scene = [
        world.car(1, "east1_0", 20.0, 10.0),
        world.car(2, "east1_1", 35.0, 10.0),
        world.car(3, "east1_2", 30.0, 0.0),
        world.car(4, "west1_0", 80.0, 10.0),
    ];
    assert_eq!(world.text(&scene), "");
}

#[test]
fn the_path_goes_on_over_the_junction() {
    let world = cross();
    let straight = world.car(1, "w_in_0", 190.0, 10.0);
    let beyond = world.car(2, "e_out_0", 10.0, 0.0);
    let aside = world.car(3, "n_out_0", 10.0, 0.0);
    // 10 m to the stop line, 24 m over the junction, 10 m, less 5 m of body: 39 m.
    assert_eq!(world.text(&[straight, beyond, aside]), "1>2 ahead");
    let turning = world.meaning(straight, "w_in_0", "n_out_0");
    assert_eq!(world.text(&[turning, beyond, aside]), "1>3 ahead");
    // A body inside the junction on the same connection.
    let inside = world.inside(4, "w_in_0", "e_out_0", 9.0, 0.0);
    assert_eq!(world.text(&[straight, inside]), "1>4 ahead");
}

#[test]
fn crossing_needs_both_within_reach() {
    let world = cross();
    // The ways meet 13.6 m and 10.4 m behind the stop lines.
    let east = world.car(1, "w_in_0", 170.0, 10.0); // 43.6 m to go
    let near = world.car(2, "s_in_0", 180.0, 10.0); // 30.4 m
    assert_eq!(world.text(&[east, near]), "1>2 crossing, 2>1 crossing");
    let far = world.car(2, "s_in_0", 160.0, 10.0); // 50.4 m
    assert_eq!(world.text(&[east, far]), "");
    // It waits at the line, 10.4 m before the point: out of its reach of 7 m, within one of 11 m, whatever the light shows.
    let waiting = world.car(2, "s_in_0", 200.0, 0.0);
    assert_eq!(world.text(&[east, waiting]), "");
    assert_eq!(
        world.text_with(&[east, waiting], margin(11.0)),
        "1>2 crossing, 2>1 crossing"
    );
    // Turning right it never crosses, and the merging is still 54 m off.
    let right = world.meaning(near, "s_in_0", "e_out_0");
    assert_eq!(world.text(&[east, right]), "");
}

#[test]
fn merging_counts_where_both_reach_the_lane() {
    let world = cross();
    // Straight: 24 m over the junction; right turn from the south: 16.9 m.
    let east = world.car(1, "w_in_0", 180.0, 10.0); // 44 m
    let right = world.meaning(world.car(2, "s_in_0", 190.0, 5.5), "s_in_0", "e_out_0"); // 26.9 of 29 m
    assert_eq!(world.text(&[east, right]), "1>2 merging, 2>1 merging");
    let slower = VehicleState {
        speed: 4.9,
        ..right
    }; // reaches 26.6 m
    assert_eq!(world.text(&[east, slower]), "");
    // Once merged it is simply ahead.
    let merged = world.car(2, "e_out_0", 6.0, 5.0);
    assert_eq!(
        world.text(&[
            VehicleState {
                lane_position: 190.0,
                ..east
            },
            merged
        ]),
        "1>2 ahead"
    );
}

#[test]
fn a_conflict_is_over_when_the_rear_bumper_is_past() {
    let world = cross();
    let east = world.car(1, "w_in_0", 190.0, 10.0);
    // The point is at 10.4 m of the other's way; the body is 5 m long.
    let on_it = world.inside(2, "s_in_0", "n_out_0", 15.4, 0.0);
    assert_eq!(world.text(&[east, on_it]), "1>2 crossing, 2>1 crossing");
    let past = world.inside(2, "s_in_0", "n_out_0", 15.5, 10.0);
    assert_eq!(world.text(&[east, past]), "");
    // So for oneself.
    let north = world.car(3, "s_in_0", 190.0, 10.0);
    let out_of_it = world.inside(1, "w_in_0", "e_out_0", 18.7, 0.0);
    assert_eq!(world.text(&[out_of_it, north]), "");
}

#[test]
fn a_tail_counts_where_it_stands() {
    let world = cross();
    let north = world.car(1, "s_in_0", 190.0, 10.0);
    let bus = |from: &str| {
        // Front bumper 2 m behind the junction, rear end 11 m back inside it.
        let mut bus = world.car(2, "e_out_0", 2.0, 0.0);
        bus.body = Body::HEAVY;
        let c = connection(&world.network, from, "e_out_0");
        let via = &world.network.lanes[world.network.connections[c.index()].via[0].index()].shape;
        let rear = via.point_at(via.length() - 11.0);
        let front = Point::new(14.0, -1.6);
        bus.position = (rear + front) * 0.5;
        bus.heading = (front - rear).y.atan2((front - rear).x);
        bus
    };
    // Straight on its rear end is at 13 of 24 m: still on the point at 13.6 m.
    assert_eq!(
        world.text(&[north, bus("w_in_0")]),
        "1>2 crossing, 2>1 crossing"
    );
    // Out of the north it is at 11 of 22 m, past the crossing at 10.7 m.
    assert_eq!(world.text(&[north, bus("n_in_0")]), "");
    // From the south it turned out of the lane in front of us, 5.9 m into the junction.
    assert_eq!(world.text(&[north, bus("s_in_0")]), "");
    // A car that has begun to turn off still blocks the lane with its tail.
    let follower = world.car(1, "w_in_0", 180.0, 10.0);
    let turning = world.inside(2, "w_in_0", "s_out_0", 2.0, 0.0);
    assert_eq!(world.text(&[follower, turning]), "1>2 ahead");
    let turned = world.inside(2, "w_in_0", "s_out_0", 6.0, 0.0);
    assert_eq!(world.text(&[follower, turned]), "");
}

#[test]
fn only_what_would_meet_in_time_overlaps() {
    let world = cross();
    let kinematic = rule(RelevanceRule::KinematicOverlap);
    // Gap 35 m at 10 m/s: a leader as fast is never reached, a standing one is.
    let follower = world.car(1, "w_in_0", 100.0, 10.0);
    let moving = world.car(2, "w_in_0", 140.0, 10.0);
    assert_eq!(world.text_with(&[follower, moving], kinematic), "");
    let standing = world.car(2, "w_in_0", 140.0, 0.0);
    assert_eq!(
        world.text_with(&[follower, standing], kinematic),
        "1>2 ahead"
    );
    // Crossing: 43.6 m at 10 m/s covers the point from 3.66 s (7 m before) to 4.86 s.
    let east = world.car(1, "w_in_0", 170.0, 10.0);
    // 10.4 m at 10 m/s: until 1.54 s.
    let early = world.car(2, "s_in_0", 200.0, 10.0);
    assert_eq!(world.text(&[east, early]), "1>2 crossing, 2>1 crossing");
    assert_eq!(world.text_with(&[east, early], kinematic), "");
    // 30.4 m at 8 m/s: from 2.93 to 4.43 s.
    let together = world.car(2, "s_in_0", 180.0, 8.0);
    assert_eq!(
        world.text_with(&[east, together], kinematic),
        "1>2 crossing, 2>1 crossing"
    );
    // A body that stands on the point never leaves it.
    let stuck = world.inside(2, "s_in_0", "n_out_0", 12.0, 0.0);
    assert_eq!(
        world.text_with(&[east, stuck], kinematic),
        "1>2 crossing, 2>1 crossing"
    );
}

#[test]
fn leader_and_crossings_leaves_out_the_rest() {
    let world = cross();
    let few = rule(RelevanceRule::LeaderAndCrossings);
    let scene = [
        world.car(1, "w_in_0", 170.0, 10.0),
        world.car(2, "w_in_0", 180.0, 10.0),
        world.car(3, "w_in_0", 190.0, 10.0),
        world.meaning(world.car(4, "s_in_0", 190.0, 10.0), "s_in_0", "e_out_0"),
        world.car(5, "n_in_0", 190.0, 10.0),
    ];
    let all = world.text(&scene);
    assert!(all.contains("1>3 ahead") && all.contains("3>4 merging"));
    assert_eq!(
        world.text_with(&scene, few),
        "1>2 ahead, 1>5 crossing, 2>3 ahead, 2>5 crossing, 3>5 crossing, \
         5>1 crossing, 5>2 crossing, 5>3 crossing"
    );
}

#[test]
fn deadlines_are_those_of_the_letter() {
    let world = cross();
    let standing = [
        world.car(1, "w_in_0", 180.0, 0.0),
        world.car(2, "w_in_0", 187.0, 0.0),
    ];
    let pairs = world.pairs_with(&standing, RelevanceParameters::default());
    assert_eq!(pairs.of(0)[0].deadline_us, 200_000);
    assert_eq!(pairs.of(0)[0].least_margin, 2.0);
    // At right angles with 10 m/s each: sqrt(200) / 18 s = 0.785674 s.
    let crossing = [
        world.car(1, "w_in_0", 180.0, 10.0),
        world.car(2, "s_in_0", 180.0, 10.0),
    ];
    let pairs = world.pairs_with(&crossing, RelevanceParameters::default());
    assert_eq!(pairs.of(0)[0].deadline_us, 985_674);
    assert_eq!(pairs.of(1)[0].deadline_us, 985_674);
}

#[test]
fn left_hand_traffic_is_the_mirror_image() {
    let (right, left) = (cross(), World::new(four_arms(true).build()));
    let scene = |world: &World, w: &str, e: &str| {
        let of = |arm: &str, way: &str| format!("{arm}_{way}_0");
        vec![
            world.car(1, &of(w, "in"), 150.0, 12.0),
            world.car(2, &of(w, "in"), 170.0, 9.0),
            world.meaning(world.car(3, "s_in_0", 180.0, 8.0), "s_in_0", &of(e, "out")),
            world.car(4, "n_in_0", 185.0, 11.0),
            world.meaning(
                world.car(5, &of(e, "in"), 190.0, 6.0),
                &of(e, "in"),
                "s_out_0",
            ),
            world.inside(6, "s_in_0", &of(w, "out"), 14.0, 3.0),
            world.car(7, &of(e, "out"), 3.0, 5.0),
        ]
    };
    let text = right.text(&scene(&right, "w", "e"));
    assert!(text.contains("crossing") && text.contains("merging") && text.contains("ahead"));
    assert_eq!(left.text(&scene(&left, "e", "w")), text);
}

#[test]
fn a_net_without_internal_lanes_and_tables_works_too() {
    let mut builder = NetBuilder::new(false);
    builder.internal_lanes = false;
    builder.tables = Tables::None;
    let world = World::new(four_arms_with(builder).build());
    let east = world.car(1, "w_in_0", 160.0, 10.0);
    let north = world.car(2, "s_in_0", 160.0, 10.0);
    assert_eq!(world.text(&[east, north]), "1>2 crossing, 2>1 crossing");
    // Its tail is over the point until it is 5 m into the next lane.
    let over = world.car(2, "n_out_0", 4.9, 0.0);
    assert_eq!(world.text(&[east, over]), "1>2 crossing, 2>1 crossing");
    assert_eq!(world.text(&[east, world.car(2, "n_out_0", 5.1, 0.0)]), "");
}

#[test]
fn walkers_and_bodies_off_the_road_have_no_path() {
    let world = cross();
    let follower = world.car(1, "w_in_0", 180.0, 10.0);
    let mut walker = world.car(2, "w_in_0", 185.0, 1.0);
    walker.body.kind = BodyKind::Pedestrian;
    let leader = world.car(3, "w_in_0", 195.0, 10.0);
    // On a lane a walker is an object like any other; nothing is relevant to it.
    assert_eq!(
        world.text(&[follower, walker, leader]),
        "1>2 ahead, 1>3 ahead"
    );
    let parked = VehicleState {
        lane: None,
        ..leader
    };
    assert_eq!(world.text(&[follower, walker, parked]), "1>2 ahead");
}

fn arbitrary_scene(world: &World) -> impl Strategy<Value = Vec<VehicleState>> + use<> {
    let network = world.network.clone();
    let lanes = network.lanes.len() as u32;
    let one = (
        0..lanes,
        0.0..1.0f64,
        prop_oneof![Just(0.0), 0.0..20.0f64],
        0..4u32,
        any::<bool>(),
    );
    proptest::collection::vec(one, 0..60).prop_map(move |drawn| {
        let place = |(id, (l, share, speed, next, heavy)): (u32, (u32, f64, f64, u32, bool))| {
            let l = LaneIx(l);
            let mut state = car(
                &network,
                id,
                l,
                share * network.lanes[l.index()].length,
                speed,
            );
            if heavy {
                state.body = Body::HEAVY;
            }
            state.next = network.lanes[l.index()]
                .outgoing
                .get(next as usize)
                .copied();
            state
        };
        (0u32..).zip(drawn).map(place).collect()
    })
}

fn as_set(vehicles: &[VehicleState], pairs: &RelevantPairs) -> Vec<(u32, u32, u8, i64)> {
    let id = |place: u32| vehicles[place as usize].id.0;
    let mut all: Vec<_> = pairs
        .iter()
        .map(|(i, o)| {
            let reasons = u8::from(o.reasons.ahead())
                + 2 * u8::from(o.reasons.crossing())
                + 4 * u8::from(o.reasons.merging());
            (id(i), id(o.object), reasons, o.deadline_us)
        })
        .collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_scene(scene in arbitrary_scene(&World::new(corridor(3, 2, false))), small in 0.0..20.0f64, more in 0.0..20.0f64, seed in any::<u64>()) {
        let world = World::new(corridor(3, 2, false));
        for rule in [RelevanceRule::Reach, RelevanceRule::KinematicOverlap, RelevanceRule::LeaderAndCrossings] {
            let parameters = |margin| RelevanceParameters { rule, margin, ..RelevanceParameters::default() };
            let wide = world.pairs_with(&scene, parameters(small + more));
            let narrow = world.pairs_with(&scene, parameters(small));
            prop_assert_eq!(wide.vehicles(), scene.len());
            // Nobody is relevant to itself; objects come in order, once.
            for i in 0..scene.len() {
                prop_assert!(wide.of(i).iter().all(|o| o.object as usize != i));
                prop_assert!(wide.of(i).windows(2).all(|w| w[0].object < w[1].object));
            }
            // A wider margin adds pairs, takes none away, and tells which ones a narrower margin has.
            let kept: Vec<(u32, u32)> = wide
                .iter()
                .filter(|(_, o)| o.least_margin <= small)
                .map(|(i, o)| (i, o.object))
                .collect();
            let narrow: Vec<(u32, u32)> = narrow.iter().map(|(i, o)| (i, o.object)).collect();
            prop_assert_eq!(&kept, &narrow);
            // Conflicts hold both ways.
            for (i, o) in wide.iter() {
                if o.reasons.crossing() {
                    prop_assert!(wide.of(o.object as usize).iter().any(|b| b.object == i && b.reasons.crossing()));
                }
            }
            // The order of vehicles does not matter.
            let mut shuffled = scene.clone();
            shuffled.sort_by_key(|v| (u64::from(v.id.0) + 1).wrapping_mul(seed | 1).rotate_left(17));
            let again = world.pairs_with(&shuffled, parameters(small + more));
            prop_assert_eq!(as_set(&shuffled, &again), as_set(&scene, &wide));
        }
    }

    #[test]
    fn every_pair_looked_at_gives_the_same(mut scene in arbitrary_scene(&World::new(corridor(3, 2, true)))) {
        let world = World::new(corridor(3, 2, true));
        // Bodies of one lane only.
        scene.retain(|v| v.lane_position >= v.body.length);
        let parameters = RelevanceParameters::default();
        let found: Vec<(u32, u32)> =
            as_set(&scene, &world.pairs_with(&scene, parameters)).iter().map(|p| (p.0, p.1)).collect();
        prop_assert_eq!(found, by_brute_force(&world.predictor, &world.conflicts, &scene, &parameters));
    }

    #[test]
    fn odd_numbers_never_panic(
        mut scene in arbitrary_scene(&World::new(corridor(1, 1, false))),
        odd in proptest::collection::vec((0..8u32, prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(1e300)]), 60),
    ) {
        let world = World::new(corridor(1, 1, false));
        let mut whole = Vec::new();
        for (vehicle, (field, value)) in scene.iter_mut().zip(odd) {
            match field {
                0 => vehicle.speed = value,
                1 => vehicle.heading = value,
                2 => vehicle.position.x = value,
                3 => vehicle.lane_position = value,
                4 => vehicle.body.length = value,
                5 => vehicle.lane = Some(LaneIx(u32::MAX)),
                6 => vehicle.next = Some(ConnectionIx(u32::MAX)),
                _ => whole.push(vehicle.id),
            }
        }
        let parameters = RelevanceParameters::default();
        let pairs = world.pairs_with(&scene, parameters);
        for (i, o) in pairs.iter() {
            prop_assert!(i != o.object && o.deadline_us >= 200_000);
        }
        // What is wrong with others does not touch the pairs of the sound ones.
        let sound: Vec<VehicleState> = scene.iter().filter(|v| whole.contains(&v.id)).copied().collect();
        let alone = as_set(&sound, &world.pairs_with(&sound, parameters));
        let together = as_set(&scene, &pairs);
        let is_sound = |id: u32| whole.contains(&VehicleId(id));
        let together: Vec<_> = together.into_iter().filter(|p| is_sound(p.0) && is_sound(p.1)).collect();
        prop_assert_eq!(together, alone);
        let _ = world.pairs_with(&scene, RelevanceParameters { horizon: f64::NAN, margin: f64::NAN, ..parameters });
    }
}
