//! With encoded sizes, what the channel books is what a capture holds, message by message, for every arm.

mod support;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use covey_its::decode_frame;
use covey_its::frame::Message as Framed;
use covey_its::pcap::Reader;
use covey_protocol::beacons::BeaconRule;
use covey_protocol::security::Security;
use covey_protocol::{Instant, Message, Tile};
use covey_simulator::events::StepView;
use covey_simulator::readings::SizeModel;
use covey_simulator::stations::Station;
use covey_simulator::{
    Arm, Arms, Capture, CaptureFilter, MapReference, Observer, Prepared, Scenario, simulate,
};
use support::{scenario, seconds, traffic};

/// Bytes that can be looked at while they are written.
#[derive(Clone, Default)]
struct Tape(Rc<RefCell<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Header of a capture, of a record in it, and of an Ethernet frame, which the channel does not have.
const CAPTURE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const ETHERNET: u32 = 14;

impl Tape {
    /// Bytes on the air of the frames written since the tape was last looked at.
    fn on_air(&self) -> u32 {
        let mut bytes = self.0.borrow_mut();
        let (mut at, mut sum) = (0, 0);
        while at + RECORD_HEADER <= bytes.len() {
            let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let (captured, carried) = (number(at + 8), number(at + 12));
            assert!(captured <= carried, "{captured} of {carried}");
            sum += carried - ETHERNET;
            at += RECORD_HEADER + captured as usize;
        }
        bytes.clear();
        sum
    }
}

struct Scales {
    captures: Vec<(Tape, Capture<Tape>)>,
    weighed: Vec<[u64; 3]>,
}

impl Observer for Scales {
    fn step(&mut self, view: &StepView<'_>) {
        for (_, capture) in &mut self.captures {
            capture.step(view);
        }
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(
        &mut self,
        arm: usize,
        now: Instant,
        tile: Option<Tile>,
        message: &Message,
        bytes: u32,
    ) {
        let (tape, capture) = &mut self.captures[arm];
        Capture::message(capture, now, tile, message, bytes);
        assert_eq!(tape.on_air(), bytes, "arm {arm} at {now}: {message:?}");
        let kind = match message {
            Message::Beacon(_) => 0,
            Message::Report(_) => 1,
            Message::Broadcast(_) => 2,
        };
        self.weighed[arm][kind] += 1;
    }
}

#[test]
fn what_is_booked_is_what_is_captured_for_every_arm() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.sizes = SizeModel::Uper;
    weigh(&scenario, false);
}

/// Cars that look to the front and rear, stations of two kinds.
fn outfitted() -> Scenario {
    let mut scenario = scenario("toy/blind-junction");
    scenario.sizes = SizeModel::Uper;
    scenario.classes.car.range_m = Some(80.0);
    scenario.classes.car.sectors_deg = vec![-60.0, 60.0, 150.0, 210.0];
    let corner = Station {
        x_m: 7.0,
        y_m: 7.0,
        range_m: Some(120.0),
        heading_deg: 30.0,
        sectors_deg: vec![-45.0, 45.0],
        ..Station::default()
    };
    let blind = Station {
        x_m: -60.0,
        range_m: Some(0.0),
        ..Station::default()
    };
    scenario.stations = vec![corner, blind];
    scenario
}

#[test]
fn so_it_is_with_sensors_by_class_and_stations_beside_the_road() {
    weigh(&outfitted(), false);
}

#[test]
fn everybody_tells_its_own_sensors() {
    let prepared = Prepared::new(&outfitted()).unwrap();
    let reference = MapReference::of(&prepared.scenario, &prepared.map).unwrap();
    let mut capture = Capture::new(Vec::new(), reference, CaptureFilter::default()).unwrap();
    let arms = [Arm::plain(Arms::builtin().get("cpm-etsi").unwrap())];
    let mut traffic = traffic(&prepared, 3);
    simulate(
        &prepared,
        &mut traffic,
        &arms,
        3,
        &seconds(1.0, 1.0),
        &mut capture,
    )
    .unwrap();
    let (bytes, _) = capture.finish().unwrap();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let (mut cars, mut others, mut corners) = (0, 0, 0);
    while let Some((_, frame)) = reader.next_frame().unwrap() {
        let Framed::Cpm(cpm) = decode_frame(&frame).unwrap().message else {
            continue;
        };
        let told: Vec<_> = cpm.sensors.iter().map(|s| (s.range, s.sector)).collect();
        match (cpm.orientation.is_some(), told.is_empty()) {
            (_, true) => {}
            // Heavy ones have everybody's.
            (true, false) if told.len() == 1 => {
                assert_eq!(told, [(Some(1_500), None)]);
                others += 1;
            }
            (true, false) => {
                let (front, rear) = ([3_000, 600], [1_500, 2_100]);
                assert_eq!(told, [front, rear].map(|sector| (Some(800), Some(sector))));
                cars += 1;
            }
            (false, false) => {
                // It has no direction to tell: its sector counts from east, and the map lies along north.
                assert_eq!(told.len(), 1);
                assert_eq!(told[0].0, Some(1_200));
                let [from, to] = told[0].1.unwrap();
                assert!(
                    from.abs_diff(3_450) <= 20 && to.abs_diff(750) <= 20,
                    "{told:?}"
                );
                corners += 1;
            }
        }
    }
    assert!(cars > 10 && corners > 0 && others < cars);
}

#[test]
fn what_is_booked_of_signed_messages_is_what_captures_tell() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.sizes = SizeModel::Uper;
    scenario.protocol.security = Security::Signed;
    weigh(&scenario, true);
    scenario.protocol.beacons = BeaconRule::Measured;
    weigh(&scenario, true);
}

/// Runs all arms and weighs every message.
fn weigh(scenario: &Scenario, signed: bool) {
    let prepared = Prepared::new(scenario).unwrap();
    let arms: Vec<Arm> = Arms::builtin()
        .iter()
        .map(|strategy| match strategy.has_allowance() {
            true => Arm::at(strategy, 0.4),
            false => Arm::plain(strategy),
        })
        .collect();
    let captures = arms.iter().map(|_| {
        let tape = Tape::default();
        let reference = MapReference::of(&prepared.scenario, &prepared.map).unwrap();
        let filter = CaptureFilter::default();
        let mut capture = Capture::new(tape.clone(), reference, filter).unwrap();
        if signed {
            capture = capture.with_carried_lengths();
        }
        let header = std::mem::take(&mut *tape.0.borrow_mut());
        assert_eq!(header.len(), CAPTURE_HEADER);
        (tape, capture)
    });
    let mut scales = Scales {
        captures: captures.collect(),
        weighed: vec![[0; 3]; arms.len()],
    };
    let mut traffic = traffic(&prepared, 3);
    let options = seconds(2.0, 6.0);
    simulate(&prepared, &mut traffic, &arms, 3, &options, &mut scales).unwrap();
    for (arm, [beacons, reports, broadcasts]) in arms.iter().zip(&scales.weighed) {
        assert!(*beacons > 100, "{arm}");
        let hosted = arm.strategy.is_hosted();
        assert!(!hosted || *reports > 0 && *broadcasts > 0, "{arm}");
    }
    for (_, capture) in scales.captures {
        capture.finish().unwrap();
    }
}
