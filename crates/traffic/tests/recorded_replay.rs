//! Recordings: kept once, replayed as often as needed, saved and loaded.

mod common;

use common::{corner, folder, frames, overwrite};
use covey_traffic::recording::RecordingFileError;
use covey_traffic::{Recording, STEP_US, Source};
use covey_world::network::{
    Connection, ConnectionIx, Edge, EdgeIx, EdgeKind, JunctionIx, Lane, LaneIx, Turn,
};
use covey_world::scene::BodyKind;
use covey_world::{Body, Frame, Network, Point, VehicleId, VehicleState};
use proptest::prelude::*;
use std::convert::Infallible;
use std::fs;

/// A source that gives frames made beforehand.
struct Made(std::vec::IntoIter<Frame>);

impl Source for Made {
    type Error = Infallible;

    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, Infallible> {
        match self.0.next() {
            Some(next) => {
                *frame = next;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn vehicle_name(&self, id: VehicleId) -> Option<&str> {
        ["zero", "one", "zwei", "三"].get(id.0 as usize).copied()
    }
}

fn capture(frames: Vec<Frame>) -> Recording {
    let Ok(recording) = Recording::capture(&mut Made(frames.into_iter()), usize::MAX);
    recording
}

fn state(id: u32, x: f64, y: f64, heading: f32, speed: f32, lane: Option<u32>) -> VehicleState {
    let body = match id % 4 {
        0 => Body::CAR,
        1 => Body::HEAVY,
        2 => Body {
            kind: BodyKind::TwoWheeler,
            ..Body::CAR
        },
        _ => Body {
            kind: BodyKind::Pedestrian,
            ..Body::CAR
        },
    };
    VehicleState {
        id: VehicleId(id),
        position: Point::new(x, y),
        heading: f64::from(heading),
        speed: f64::from(speed),
        body,
        lane: lane.map(LaneIx),
        lane_position: f64::from(speed * 3.0),
        next: None,
    }
}

prop_compose! {
    fn any_frames()(steps in prop::collection::vec(prop::collection::btree_map(
        0u32..9,
        (-1e6..1e6f64, any::<f64>().prop_filter("a number", |y| y.is_finite()), -3.2..3.2f32, 0.0..60.0f32, prop::option::of(0u32..3)),
        0..6,
    ), 0..12)) -> Vec<Frame> {
        steps
            .into_iter()
            .zip(0..)
            .map(|(vehicles, step)| Frame {
                time_us: step * STEP_US,
                vehicles: vehicles
                    .into_iter()
                    .map(|(id, (x, y, heading, speed, lane))| state(id, x, y, heading, speed, lane))
                    .collect(),
            })
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_went_in_comes_out(made in any_frames()) {
        let recording = capture(made.clone());
        prop_assert_eq!(recording.steps(), made.len());
        prop_assert_eq!(frames(recording.replay()).unwrap(), made.clone());
        for (step, frame) in made.iter().enumerate().rev() {
            let found = recording.frame(step);
            prop_assert_eq!(found.as_ref(), Some(frame));
        }
        prop_assert_eq!(recording.frame(made.len()), None);
        let path = folder("round_trip").join("some.trace");
        recording.save(&path).unwrap();
        prop_assert_eq!(Recording::load(&path, &corner()).unwrap(), recording);
    }
}

#[test]
fn bodies_and_names_are_those_of_the_first_appearance() {
    let frame = |vehicles| Frame {
        time_us: 0,
        vehicles,
    };
    let recording = capture(vec![
        frame(vec![state(3, 0.0, 0.0, 0.0, 0.0, None)]),
        frame(vec![
            state(0, 0.0, 0.0, 0.0, 0.0, None),
            state(3, 0.0, 0.0, 0.0, 0.0, None),
        ]),
    ]);
    assert_eq!(recording.vehicles(), 4);
    assert_eq!(recording.body(VehicleId(0)), Some(Body::CAR));
    assert_eq!(recording.name(VehicleId(0)), Some("zero"));
    assert_eq!(recording.name(VehicleId(3)), Some("三"));
    assert_eq!(recording.name(VehicleId(1)), None, "never seen");
    assert_eq!(recording.ids(1), [0, 3]);
    assert!(!recording.is_closed_population());
    assert_eq!(recording.entries(), 3);
}

#[test]
fn damaged_files_are_refused() {
    let folder = folder("damaged_recordings");
    let path = folder.join("whole.trace");
    let made = (0..3)
        .map(|step| Frame {
            time_us: step * STEP_US,
            vehicles: vec![state(0, step as f64, 0.0, 0.0, 1.0, Some(2))],
        })
        .collect();
    let mut recording = capture(made);
    recording.origin = "a test".into();
    recording.save(&path).unwrap();
    let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file stays");
    let whole = fs::read(&path).unwrap();
    for end in 0..whole.len() {
        overwrite(&path, &whole[..end]);
        Recording::load(&path, &corner()).unwrap_err();
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        overwrite(&path, &changed);
        Recording::load(&path, &corner()).unwrap_err();
    }
    fs::write(&path, &whole).unwrap();
    let other = Recording::load(&path, &Network::default()).unwrap_err();
    assert!(matches!(other, RecordingFileError::OtherNetwork { .. }));
    assert!(
        other
            .to_string()
            .ends_with("the recording was made on another net (it names lane 2, the net has 0)")
    );
    let mut text = whole.clone();
    text[8] = 9;
    fs::write(&path, &text).unwrap();
    let error = Recording::load(&path, &corner()).unwrap_err().to_string();
    assert!(error.ends_with("found version 9, expected a traffic recording of version 2"));
}

/// Two lanes in, one of them to the right only; the other straight on and to the right.
fn fork() -> Network {
    let mut network = corner();
    let lane = |name: &str, edge: u32| Lane {
        name: name.into(),
        edge: EdgeIx(edge),
        ..network.lanes[0].clone()
    };
    let edge = |name: &str, kind, lanes: &[u32]| Edge {
        name: name.into(),
        kind,
        lanes: lanes.iter().map(|&l| LaneIx(l)).collect(),
        ..network.edges[0].clone()
    };
    let connection = |from, to, via: Option<u32>| Connection {
        from: LaneIx(from),
        to: LaneIx(to),
        via: via.map(LaneIx).into_iter().collect(),
        junction: JunctionIx(0),
        request: None,
        turn: Turn::Other,
        signal: None,
    };
    let mut lanes = vec![
        lane("in_0", 0),
        lane("in_1", 0),
        lane("straight_0", 1),
        lane("right_0", 2),
        lane(":a_0", 3),
        lane(":b_0", 4),
    ];
    let connections = vec![
        connection(0, 2, Some(4)),
        connection(0, 3, None),
        connection(1, 3, Some(5)),
    ];
    lanes[0].outgoing = vec![ConnectionIx(0), ConnectionIx(1)];
    lanes[1].outgoing = vec![ConnectionIx(2)];
    network.edges = vec![
        edge("in", EdgeKind::Normal, &[0, 1]),
        edge("straight", EdgeKind::Normal, &[2]),
        edge("right", EdgeKind::Normal, &[3]),
        edge(":a", EdgeKind::Internal, &[4]),
        edge(":b", EdgeKind::Internal, &[5]),
    ];
    network.lanes = lanes;
    network.connections = connections;
    network
}

#[test]
fn intentions_are_read_from_where_vehicles_went() {
    let network = fork();
    // By vehicle, the lane in each step; none is off the road.
    let went: [&[Option<u32>]; 4] = [
        &[Some(0), Some(0), Some(4), Some(2), Some(2)],
        &[Some(0), Some(1), Some(5), Some(3), Some(3)],
        &[Some(1), Some(1), Some(0), Some(3), Some(3)],
        &[Some(0), None, Some(4), Some(4), Some(2)],
    ];
    let made = (0..5)
        .map(|step| Frame {
            time_us: step as i64 * STEP_US,
            vehicles: (0..4)
                .map(|id| state(id, 0.0, 0.0, 0.0, 0.0, went[id as usize][step]))
                .collect(),
        })
        .collect();
    let mut recording = capture(made);
    recording.derive_next(&network);
    let found = |id: usize| -> Vec<Option<u32>> {
        (0..5)
            .map(|step| {
                recording.frame(step).unwrap().vehicles[id]
                    .next
                    .map(|c| c.0)
            })
            .collect()
    };
    assert_eq!(found(0), [Some(0), Some(0), Some(0), None, None]);
    // From the left lane it could have gone right as well; from the other lane that is the only way.
    assert_eq!(found(1), [Some(1), Some(2), Some(2), None, None]);
    assert_eq!(found(2), [Some(2), Some(2), Some(1), None, None]);
    assert_eq!(found(3), [None, None, Some(0), Some(0), None]);
    recording.truncate(2);
    assert_eq!(recording.steps(), 2);
    assert_eq!(recording.entries(), 8);
    assert_eq!(
        recording.frame(1).unwrap().vehicles[0].next,
        Some(ConnectionIx(0))
    );
    assert_eq!(recording.frame(2), None);
    assert!(recording.is_closed_population());
}
