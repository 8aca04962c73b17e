//! With encoded sizes, what the channel books is what a capture holds, message by message, for every arm.

mod support;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use covey_protocol::{Instant, Message, Tile};
use covey_simulator::events::StepView;
use covey_simulator::readings::SizeModel;
use covey_simulator::{
    Arm, Arms, Capture, CaptureFilter, MapReference, Observer, Prepared, simulate,
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
            let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap());
            sum += length - ETHERNET;
            at += RECORD_HEADER + length as usize;
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
        Capture::message(capture, now, tile, message);
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
    let prepared = Prepared::new(&scenario).unwrap();
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
        let capture = Capture::new(tape.clone(), reference, 150.0, filter).unwrap();
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
        assert!(*beacons > 500, "{arm}");
        let hosted = arm.strategy.is_hosted();
        assert!(!hosted || *reports > 0 && *broadcasts > 0, "{arm}");
    }
    for (_, capture) in scales.captures {
        capture.finish().unwrap();
    }
}
