//! Values to send, for tests. Each test uses some of them.
#![allow(dead_code, unreachable_pub)]

use covey_its::{EarthPosition, ItsTime, Sensor, TangentPlane};
use covey_protocol::messages::{AgentState, Broadcast, Confidence, Content, ObjectState, Size};
use covey_protocol::{AgentId, Duration, Instant, ObjectId, Position, Tile, Velocity};
use proptest::prelude::*;

/// The start of a run: 2026-11-15 23:00:00 UTC.
pub fn zero() -> ItsTime {
    ItsTime::from_unix_millis(1_794_783_600_000).unwrap()
}

/// Tamagawa, with the plane turned by some odd angle.
pub fn plane() -> TangentPlane {
    TangentPlane::new(EarthPosition::new(35.6123, 139.6273), 77.3)
}

pub fn contents() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::AllVisible),
        Just(Content::SilentOnly),
        Just(Content::Demanded),
        Just(Content::Requested),
        Just(Content::Included),
    ]
}

prop_compose! {
    pub fn states()(
        x in -5_000.0..5_000.0_f64,
        y in -5_000.0..5_000.0_f64,
        heading in -10.0..10.0_f64,
        speed in -20.0..160.0_f64,
        length in 0.5..25.0_f64,
        width in 0.5..6.0_f64,
    ) -> AgentState {
        AgentState { position: Position::new(x, y), heading, speed, size: Size { length, width, height: 0.0 } }
    }
}

pub const SENSOR: Sensor = Sensor {
    id: 1,
    kind: 12,
    range: Some(1_500),
    sector: None,
};

/// Who sends in these tests, and hosts.
pub const SENDER: AgentId = AgentId(3_000_000_001);

/// Small numbers, station ids, numbers of the sender's own and of somebody else.
pub fn ids() -> impl Strategy<Value = ObjectId> {
    prop_oneof![
        (0..70_000_u64).prop_map(ObjectId),
        any::<u32>().prop_map(|id| ObjectId(u64::from(id))),
        any::<u16>().prop_map(|number| ObjectId::perceived(SENDER, number)),
        any::<u16>().prop_map(|number| ObjectId::perceived(AgentId(7), number)),
    ]
}

prop_compose! {
    pub fn objects()(
        id in ids(),
        place in (-900.0..900.0_f64, -900.0..900.0_f64),
        velocity in (-100.0..100.0_f64, -100.0..100.0_f64),
        size in (0.1..25.0_f64, 0.1..25.0_f64, 0.1..25.0_f64),
        age_ms in -2_000..2_000_i64,
        percent in 0..=100_u8,
    ) -> ObjectState {
        ObjectState {
            id,
            position: Position::new(place.0, place.1),
            velocity: Velocity::new(velocity.0, velocity.1),
            size: Size { length: size.0, width: size.1, height: size.2 },
            sensed_at: Instant::from_millis(10_000 - age_ms),
            confidence: Confidence::from_percent(percent),
        }
    }
}

/// All but the ids are the same, within the resolution of a CPM.
pub fn assert_same(sent: &[ObjectState], got: &[ObjectState], reach: f64) {
    assert_eq!(sent.len(), got.len());
    for (sent, got) in sent.iter().zip(got) {
        assert!(
            sent.position.distance(got.position) < reach,
            "{sent:?} {got:?}"
        );
        assert!((sent.velocity.x - got.velocity.x).abs() < 0.01);
        assert!((sent.velocity.y - got.velocity.y).abs() < 0.01);
        assert!((sent.size.length - got.size.length).abs() < 0.051);
        assert!((sent.size.height - got.size.height).abs() < 0.051);
        assert_eq!(sent.sensed_at, got.sensed_at);
        assert!(sent.confidence.percent().abs_diff(got.confidence.percent()) <= 4);
    }
}

pub fn object(id: u64, x: f64, y: f64) -> ObjectState {
    ObjectState {
        id: ObjectId(id),
        position: Position::new(x, y),
        velocity: Velocity::new(3.0, -4.0),
        size: Size {
            length: 4.5,
            width: 1.8,
            height: 1.5,
        },
        sensed_at: Instant::from_millis(9_950),
        confidence: Confidence::FULL,
    }
}

pub fn broadcast(objects: u64) -> Broadcast {
    Broadcast {
        host: AgentId(77),
        tile: Tile::new(-1, 2),
        at: Instant::from_millis(10_000),
        position: Position::new(-250.0, 1_250.0),
        sequence: 12,
        epoch: 3,
        tenure: Duration::from_millis(4_000),
        price: 0.7,
        cycle_start: Instant::from_millis(9_850),
        contributors: vec![AgentId(5), AgentId(3_000_000_009)],
        lease: Duration::from_millis(600),
        content: Content::Requested,
        requested: vec![ObjectId(3_000_000_001), ObjectId(4)],
        full: true,
        objects: (0..objects)
            .map(|id| {
                object(
                    3_000_000_000 + id,
                    -250.0 + id as f64,
                    1_250.0 - 0.5 * id as f64,
                )
            })
            .collect(),
        withdrawn: vec![
            ObjectId(700),
            ObjectId(3_000_000_002),
            ObjectId::perceived(AgentId(77), 65_535),
        ],
        unchanged_since: Instant::from_millis(9_850),
    }
}
