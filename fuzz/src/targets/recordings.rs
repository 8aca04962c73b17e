//! Floating-car data: any bytes are frames or an error that names the file; frames are what they claim to be.

use std::io::Cursor;
use std::sync::LazyLock;

use covey_traffic::Source;
use covey_traffic::recorded::{FcdOptions, FloatingCarData};
use covey_world::{Frame, Network};

use super::maps::straight_road;

static NETWORK: LazyLock<Network> = LazyLock::new(straight_road);

/// Frames that are looked at; a recording may span years.
const FRAMES: usize = 60;

pub(crate) fn run(bytes: &[u8]) {
    let stream = Box::new(Cursor::new(bytes.to_vec()));
    let source = FloatingCarData::from_stream("fuzz.xml", stream, &NETWORK, FcdOptions::default());
    let mut source = match source {
        Ok(source) => source,
        Err(error) => {
            assert!(error.to_string().contains("fuzz.xml"), "{error}");
            return;
        }
    };
    let mut frame = Frame::default();
    for step in 0..FRAMES {
        match source.next_frame(&mut frame) {
            Ok(false) => return,
            Err(error) => {
                assert!(error.to_string().contains("fuzz.xml"), "{error}");
                return;
            }
            Ok(true) => {}
        }
        assert_eq!(frame.time_us, step as i64 * 50_000);
        assert!(frame.vehicles.is_sorted_by(|a, b| a.id < b.id));
        for vehicle in &frame.vehicles {
            assert!(vehicle.position.is_finite() && vehicle.heading.is_finite());
            assert!(vehicle.speed >= 0.0 && vehicle.speed.is_finite());
            assert!(
                vehicle
                    .lane
                    .is_none_or(|lane| lane.index() < NETWORK.lanes.len())
            );
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let lane = NETWORK
        .lanes
        .iter()
        .find(|lane| lane.drivable)
        .map_or("", |lane| lane.name.as_str());
    let row = |x: f64, pos: f64| {
        format!(
            "<vehicle id=\"a\" x=\"{x}\" y=\"1.6\" angle=\"90\" type=\"car\" speed=\"10\" pos=\"{pos}\" lane=\"{lane}\" slope=\"0\"/>"
        )
    };
    let xml = format!(
        "<fcd-export><timestep time=\"0.00\">{}</timestep><timestep time=\"0.50\">{}</timestep></fcd-export>",
        row(10.0, 10.0),
        row(15.0, 15.0)
    );
    let csv = format!(
        "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed;vehicle_pos;vehicle_lane\n\
         0.00;a;10;1.6;90;car;10;10;{lane}\n0.10;a;11;1.6;90;car;10;11;{lane}\n"
    );
    vec![xml.into_bytes(), csv.into_bytes()]
}
