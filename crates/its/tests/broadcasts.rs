//! Broadcasts and the ids of objects over the air: what was listed, withdrawn, asked for and said of whom comes back, from one
//! message or several.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use covey_its::sizes::{FusedCounts, Model};
use covey_its::{Cpm, CpmOptions, DecodeError, Numbering, Wire, frame};
use covey_protocol::messages::{AgentState, Broadcast, Content, ObjectState, Report};
use covey_protocol::{AgentId, Duration, Instant, ObjectId, Position};
use proptest::prelude::*;

use common::{SENDER, assert_same, broadcast, contents, ids, object, objects, plane, zero};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_broadcast_comes_back_from_any_split(
        seen in prop::collection::vec(objects(), 0..120), contributors in prop::collection::vec(any::<u32>(), 0..40),
        requested in prop::collection::vec(any::<u32>(), 0..40), withdrawn in prop::collection::vec(ids(), 0..200),
        content in contents(), max_bytes in 600..2_000_usize,
    ) {
        let plane = plane();
        let wire = Wire::new(&plane, zero());
        let sent = Broadcast {
            host: SENDER,
            position: Position::new(0.0, 0.0),
            contributors: contributors.iter().map(|&id| AgentId(u64::from(id))).collect(),
            requested: requested.iter().map(|&id| ObjectId(u64::from(id))).collect(),
            withdrawn,
            content,
            objects: seen,
            ..broadcast(0)
        };
        let options = CpmOptions { max_bytes, ..CpmOptions::default() };
        let mut numbering = Numbering::new();
        let cpms = wire.broadcast_cpms(&sent, &options, &mut numbering).unwrap();
        prop_assert_eq!(cpms.left_out, 0);
        let read: Vec<Cpm> = cpms.messages.iter().map(|cpm| Cpm::decode(&cpm.encode().unwrap()).unwrap()).collect();
        let back = wire.broadcast(&read).unwrap();
        prop_assert_eq!(&back.contributors, &sent.contributors);
        prop_assert_eq!(&back.requested, &sent.requested);
        prop_assert_eq!(back.content, content);
        // Shared ids first, as they are; then labels of the host, one for each.
        let mut labels: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
        let mut same = |sent: ObjectId, got: ObjectId| match sent.shared() {
            Some(_) => got == sent,
            None => got.scope().is_some_and(|(by, number)| by == SENDER && number >= 32_768)
                && *labels.entry(sent).or_insert(got) == got,
        };
        let sorted = |ids: &[ObjectId]| {
            let (mut shared, scoped): (Vec<_>, Vec<_>) = ids.iter().copied().partition(|id| id.scope().is_none());
            shared.extend(scoped);
            shared
        };
        let ids = |objects: &[ObjectState]| objects.iter().map(|object| object.id).collect::<Vec<_>>();
        for (sent, got) in sorted(&sent.withdrawn).into_iter().zip(&back.withdrawn) {
            prop_assert!(same(sent, *got), "{sent} {got}");
        }
        for (sent, got) in sorted(&ids(&sent.objects)).into_iter().zip(ids(&back.objects)) {
            prop_assert!(same(sent, got), "{sent} {got}");
        }
        prop_assert_eq!((back.withdrawn.len(), back.objects.len()), (sent.withdrawn.len(), sent.objects.len()));
        let distinct: BTreeSet<ObjectId> = labels.values().copied().collect();
        prop_assert_eq!(labels.len(), distinct.len());
        // Sizes: each fits, the model knows the total, and no message could be spared.
        let lengths: Vec<usize> = cpms.messages.iter().map(|cpm| cpm.encode().unwrap().len()).collect();
        prop_assert!(lengths.iter().all(|&length| length <= max_bytes));
        let model = Model { max_bytes, ..Model::new() };
        let total: usize = lengths.iter().map(|length| length + frame::HEADERS_LEN).sum();
        prop_assert_eq!(model.fused(FusedCounts::of(&sent)), total);
        for pair in lengths.windows(2) {
            prop_assert!(pair[0] + 33 > max_bytes, "{lengths:?}: another entry would have fitted");
        }
    }
}

#[test]
fn a_broadcast_comes_back_whole_from_its_segments_in_any_order() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    for (objects, segments) in [(0, 1), (10, 1), (135, 3)] {
        let sent = broadcast(objects);
        let cpms = wire
            .broadcast_cpms(&sent, &CpmOptions::default(), &mut Numbering::new())
            .unwrap();
        assert_eq!(cpms.messages.len(), segments);
        let mut read: Vec<Cpm> = cpms
            .messages
            .iter()
            .map(|cpm| {
                let bytes = cpm.encode().unwrap();
                assert!(bytes.len() <= 1_394);
                Cpm::decode(&bytes).unwrap()
            })
            .collect();
        read.reverse();
        let back = wire.broadcast(&read).unwrap();
        assert_same(&sent.objects, &back.objects, 0.011);
        let ids = |broadcast: &Broadcast| -> Vec<ObjectId> {
            broadcast.objects.iter().map(|object| object.id).collect()
        };
        assert_eq!(ids(&back), ids(&sent));
        assert!(back.position.distance(sent.position) < 0.02);
        let rest = |broadcast: &Broadcast| Broadcast {
            position: Position::default(),
            objects: vec![],
            ..broadcast.clone()
        };
        assert_eq!(rest(&back), rest(&sent));
        if segments > 1 {
            let error = wire.broadcast(&read[1..]).unwrap_err().to_string();
            assert!(error.starts_with("2 segments of a fused state, 3 belong together"));
        }
        assert!(wire.broadcast(&[]).is_err());
    }
}

#[test]
fn two_stations_object_1_stay_two_and_neither_is_station_1() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let heard = |sender: u64| {
        let report = Report {
            sender: AgentId(sender),
            at: Instant::from_millis(10_000),
            objects: vec![ObjectState {
                id: ObjectId::perceived(AgentId(sender), 1),
                ..object(0, 0.0, 0.0)
            }],
            sensor_information: false,
        };
        let sent = wire
            .report_cpms(
                &report,
                &AgentState::default(),
                &CpmOptions::default(),
                &mut Numbering::new(),
            )
            .unwrap();
        assert_eq!(sent.messages[0].objects[0].id, Some(1));
        wire.report(&sent.messages[0]).unwrap().objects[0].id
    };
    let ids = BTreeSet::from([heard(1), heard(2), heard(3_000_000_001), ObjectId(1)]);
    assert_eq!(ids.len(), 4);
}

#[test]
fn large_station_ids_and_labels_travel_in_every_list() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let station = |id| object(id, -250.0, 1_250.0);
    let label = ObjectState {
        id: ObjectId::perceived(AgentId(77), 65_535),
        ..station(0)
    };
    let sent = Broadcast {
        contributors: vec![AgentId(3_000_000_001), AgentId(4_294_967_295)],
        requested: vec![ObjectId(3_000_000_001), ObjectId(0)],
        objects: vec![station(3_000_000_001), station(1), station(65_536), label],
        withdrawn: vec![
            ObjectId(3_000_000_007),
            ObjectId::perceived(AgentId(77), 32_768),
        ],
        ..broadcast(0)
    };
    let mut numbering = Numbering::new();
    let cpms = wire
        .broadcast_cpms(&sent, &CpmOptions::default(), &mut numbering)
        .unwrap();
    let read = Cpm::decode(&cpms.messages[0].encode().unwrap()).unwrap();
    let numbers: Vec<u16> = read.objects.iter().filter_map(|object| object.id).collect();
    assert_eq!(numbers, [0, 1, 2, 65_535]);
    let back = wire.broadcast(&[read]).unwrap();
    assert_eq!(back.contributors, sent.contributors);
    assert_eq!(back.requested, sent.requested);
    assert_eq!(back.withdrawn, sent.withdrawn);
    let ids = |objects: &[ObjectState]| objects.iter().map(|object| object.id).collect::<Vec<_>>();
    assert_eq!(ids(&back.objects), ids(&sent.objects));
    // Numbers stay with their objects in the next message of the host, also in a report of its own.
    let report = Report {
        sender: AgentId(77),
        at: sent.at + Duration::from_millis(200),
        objects: vec![
            ObjectState {
                sensed_at: sent.at,
                ..station(65_536)
            },
            ObjectState {
                sensed_at: sent.at,
                ..label
            },
        ],
        sensor_information: false,
    };
    let own = AgentState {
        position: sent.position,
        ..AgentState::default()
    };
    let cpms = wire
        .report_cpms(&report, &own, &CpmOptions::default(), &mut numbering)
        .unwrap();
    let numbers: Vec<Option<u16>> = cpms.messages[0].objects.iter().map(|o| o.id).collect();
    assert_eq!(numbers, [Some(2), Some(65_535)]);
}

#[test]
fn segments_that_do_not_belong_together_are_refused() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let cpms = wire
        .broadcast_cpms(
            &broadcast(80),
            &CpmOptions::default(),
            &mut Numbering::new(),
        )
        .unwrap();
    let [first, second] = &cpms.messages[..] else {
        panic!("two messages");
    };
    let lists = first.fused.as_ref().unwrap();
    assert_eq!((lists.contributors.len(), lists.withdrawn.len()), (2, 1));
    let rest = second.fused.as_ref().unwrap();
    assert_eq!((rest.contributors.len(), rest.requested.len()), (0, 0));
    assert_eq!(rest.stations.len(), second.objects.len());
    let together = |change: fn(&mut Cpm)| {
        let mut other = second.clone();
        change(&mut other);
        wire.broadcast(&[first.clone(), other])
    };
    assert!(together(|_| {}).is_ok());
    let apart: [fn(&mut Cpm); 8] = [
        |cpm| cpm.station_id += 1,
        |cpm| cpm.reference_ms += 1,
        |cpm| cpm.position.latitude += 1,
        |cpm| cpm.segment = Some((1, 2)),
        |cpm| cpm.segment = Some((2, 3)),
        |cpm| cpm.segment = None,
        |cpm| cpm.fused.as_mut().unwrap().sequence += 1,
        |cpm| cpm.fused.as_mut().unwrap().content = Content::Demanded,
    ];
    for change in apart {
        assert!(matches!(
            together(change),
            Err(DecodeError::Segments { found: 2, .. })
        ));
    }
    assert!(matches!(
        together(|cpm| cpm.fused = None),
        Err(DecodeError::Missing(_))
    ));
    let wrong: [fn(&mut Cpm); 5] = [
        |cpm| cpm.fused.as_mut().unwrap().withdrawn.push(32_767),
        |cpm| cpm.fused.as_mut().unwrap().stations.push(1),
        |cpm| cpm.fused.as_mut().unwrap().stations.truncate(1),
        |cpm| cpm.objects[0].id = Some(32_768),
        |cpm| cpm.fused.as_mut().unwrap().contributors = vec![1; 254],
    ];
    for change in wrong {
        assert!(matches!(
            together(change),
            Err(DecodeError::Unexpected { .. })
        ));
    }
}

#[test]
fn lists_that_fill_a_message_go_on_in_the_next() {
    let plane = plane();
    let wire = Wire::new(&plane, zero());
    let sent = Broadcast {
        contributors: (0..255).map(AgentId).collect(),
        requested: (0..255).map(ObjectId).collect(),
        withdrawn: (0..1_023)
            .map(ObjectId)
            .chain((0..500).map(|number| ObjectId::perceived(AgentId(77), 32_768 + number)))
            .collect(),
        ..broadcast(20)
    };
    let options = CpmOptions::default();
    let cpms = wire
        .broadcast_cpms(&sent, &options, &mut Numbering::new())
        .unwrap();
    assert_eq!(cpms.messages.len(), 6);
    let total: usize = cpms
        .messages
        .iter()
        .map(|cpm| cpm.encode().unwrap().len() + frame::HEADERS_LEN)
        .sum();
    assert_eq!(Model::new().fused(FusedCounts::of(&sent)), total);
    let back = wire.broadcast(&cpms.messages).unwrap();
    assert_eq!(back.contributors, sent.contributors);
    assert_eq!(back.requested, sent.requested);
    assert_eq!(back.withdrawn, sent.withdrawn);
    assert_eq!(back.objects.len(), 20);
}
