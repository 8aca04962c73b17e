//! Rules of docs/node.md that a station keeps, each by itself.

mod air;

use air::{Air, SECOND};
use covey_its::frame::{PORT_CPM, Source, encode_frame};
use covey_its::{Cpm, samples};
use covey_node::secure::envelope;
use covey_node::station::Station;
use covey_protocol::messages::Size;
use covey_protocol::{AgentState, Duration, Instant, Position};

const STEP: Duration = Duration::from_millis(50);

fn driving() -> AgentState {
    AgentState {
        position: Position::new(200.0, 250.0),
        heading: 0.0,
        speed: 10.0,
        size: Size {
            length: 4.5,
            width: 1.8,
            height: 1.5,
        },
    }
}

/// Lets time pass without a word of the vehicle; when frames were sent, in milliseconds from now on.
fn left_alone(station: &mut Station, from: Instant, millis: i64) -> Vec<i64> {
    let mut sent = Vec::new();
    let mut at = from;
    while at.since(from) <= Duration::from_millis(millis) {
        station.tick(at);
        if !station.take_frames().is_empty() {
            sent.push(at.since(from).micros() / 1_000);
        }
        at = at + STEP;
    }
    sent
}

#[test]
fn a_place_is_moved_on_for_a_second_and_a_half_and_then_the_station_is_silent() {
    let mut air = Air::new(1, false);
    air.run(2 * SECOND);
    let now = air.now;
    let station = &mut air.stations[0];
    station.locate(now, &driving(), now);
    let later = station.here(now + Duration::from_millis(1_000)).unwrap();
    assert!((later.position.x - 210.0).abs() < 0.2, "{later:?}");
    assert!(
        station
            .here(now + Duration::from_millis(1_500))
            .is_some_and(|here| (here.position.x - 215.0).abs() < 0.2)
    );
    assert!(station.here(now + Duration::from_millis(1_501)).is_none());
    let sent = left_alone(station, now, 4_000);
    assert!(sent.len() >= 14, "{sent:?}");
    assert!(sent.iter().all(|&at| at <= 1_500), "{sent:?}");
    // Told where it is, it speaks again.
    let back = now + Duration::from_millis(4_050);
    station.locate(back, &driving(), back);
    assert!(!left_alone(station, back, 300).is_empty());
}

#[test]
fn who_is_switched_on_listens_for_a_second_before_it_hosts() {
    let mut air = Air::new(1, false);
    air.run(950);
    assert_eq!(air.broadcasts(), 0);
    assert!(air.stations[0].tally().beacons_sent > 5);
    air.run(450);
    assert!(air.broadcasts() > 0);
}

fn frame(cpm: &Cpm) -> Vec<u8> {
    encode_frame(&cpm.encode().unwrap(), PORT_CPM, &Source::of_cpm(cpm, 0)).unwrap()
}

#[test]
fn of_a_report_what_came_counts_and_of_a_fused_state_nothing() {
    for fused in [false, true] {
        let mut air = Air::new(1, false);
        air.run(SECOND);
        let now = air.now;
        let station = &mut air.stations[0];
        let whole = match fused {
            false => samples::report(3),
            true => samples::fused_state(3, 2, 0),
        };
        let part = Cpm {
            segment: Some((1, 2)),
            ..whole
        };
        station.hear(now, &frame(&part));
        station.tick(now + Duration::from_millis(50));
        assert_eq!(station.tally().incomplete, 0);
        station.tick(now + Duration::from_millis(100));
        let tally = station.tally();
        assert_eq!(tally.incomplete, 1, "{tally:?}");
        let heard = (tally.reports_heard, tally.broadcasts_heard);
        assert_eq!(heard, (u64::from(!fused), 0), "{tally:?}");
    }
}

#[test]
fn the_modem_knows_better_than_own_counts_if_it_tells_a_share() {
    let mut air = Air::new(2, false);
    air.run(2 * SECOND);
    let now = air.now;
    let station = &mut air.stations[0];
    let (counted, measured) = station.occupancy(now);
    assert!(counted > 0.0 && !measured);
    station.set_busy(Some(0.5));
    assert_eq!(station.occupancy(now), (0.5, true));
    for none in [Some(1.5), Some(-0.1), Some(f64::NAN), None] {
        station.set_busy(none);
        assert_eq!(station.occupancy(now), (counted, false), "{none:?}");
    }
}

#[test]
fn own_frames_come_back_and_those_of_a_namesake_are_noticed() {
    let mut air = Air::new(2, true);
    air.run(SECOND);
    let now = air.now;
    let address = air.stations[0].address();
    let own: Vec<Vec<u8>> = air
        .sent
        .iter()
        .filter(|(_, frame)| frame[6..12] == address)
        .map(|(_, frame)| frame.clone())
        .collect();
    let station = &mut air.stations[0];
    let last = own.last().unwrap();
    station.hear(now, last);
    assert_eq!((station.tally().own, station.tally().namesakes), (1, 0));
    // Under its next name, too.
    assert!(station.change_pseudonym(now, true));
    assert_ne!(station.address(), address);
    let before = station.tally().beacons_heard;
    station.hear(now, last);
    assert_eq!(
        (station.tally().own, station.tally().beacons_heard),
        (2, before)
    );
    // What it never sent, under its address.
    let mut other = air::plain(5);
    other[6..12].copy_from_slice(&station.address());
    station.hear(now, &other);
    assert_eq!((station.tally().own, station.tally().namesakes), (2, 1));
}

#[test]
fn a_signed_frame_that_is_played_again_means_nothing() {
    let mut air = Air::new(2, true);
    air.run(2 * SECOND);
    let cam = |frame: &[u8]| envelope::open(frame).unwrap().header.aid == 36;
    let of_the_first = air.stations[0].address();
    let heard = |(_, frame): &&(Instant, Vec<u8>)| frame[6..12] == of_the_first && cam(frame);
    let (at, frame) = air.sent.iter().rev().find(heard).unwrap().clone();
    let station = &mut air.stations[1];
    let believed = |station: &Station| {
        let known = station.participant().listener().known(station_of(&frame));
        known.map(|known| known.state.sensed_at)
    };
    let before = believed(station);
    let refused = |station: &Station| {
        let refusals = station.participant().refusals();
        refusals.old + refusals.repeated
    };
    // Within a second it is a duplicate, then it is old to the participant, and after two seconds by its signature.
    station.hear(at + Duration::from_millis(500), &frame);
    assert_eq!(station.tally().duplicates, 1);
    let (participant, replayed) = (refused(station), station.tally().replayed);
    station.hear(at + Duration::from_millis(1_500), &frame);
    assert_eq!(refused(station), participant + 1);
    station.hear(at + Duration::from_millis(2_700), &frame);
    assert_eq!(station.tally().replayed, replayed + 1);
    // Forgotten by now, or known as before.
    assert!(believed(station).is_none_or(|at| Some(at) == before));
}

/// The station that a signed CAM is of.
fn station_of(frame: &[u8]) -> covey_protocol::ObjectId {
    let [.., a, b, c, d] = frame[6..12] else {
        panic!("an address has six bytes");
    };
    covey_protocol::ObjectId(u64::from(u32::from_be_bytes([a, b, c, d])))
}
