//! Bytes and lines that anybody may have written: nothing panics, and whoever is true is still heard.

mod air;

use air::{Air, SECOND, plain, security};
use covey_node::secure::certificate::Known;
use covey_node::secure::envelope;
use covey_node::vehicle::lines::Line;
use covey_node::vehicle::{gpsd, nmea};
use covey_protocol::Duration;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_an_envelope_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), nested in 0..200_usize) {
        let _ = envelope::open(&bytes);
        let _ = Known::read(&bytes);
        // Envelopes in envelopes, as deep as fits.
        let mut frame = vec![0xFF; 12];
        frame.extend([0x89, 0x47, 0x12, 0, 0x50, 1]);
        for _ in 0..nested {
            frame.extend([3, 0x81, 0, 0x40]);
        }
        frame.extend(&bytes);
        let _ = envelope::open(&frame);
    }

    #[test]
    fn any_text_is_a_line_or_refused(text in "\\PC{0,80}", fields in "[$A-Z0-9,.*]{0,90}") {
        for text in [&text, &fields] {
            let _ = nmea::read(text);
            let _ = nmea::read(&format!("$GPRMC,{text}"));
            let _ = gpsd::read(text);
            let _ = gpsd::read(&format!("{{\"class\":\"TPV\",\"mode\":3,\"time\":{text:?},\"lat\":1,\"lon\":2}}"));
            let _ = serde_json::from_str::<Line>(text);
        }
    }
}

#[test]
fn a_station_takes_whatever_is_on_the_air() {
    let mut air = Air::new(3, true);
    air.run(2 * SECOND);
    let frames: Vec<Vec<u8>> = air.sent.iter().map(|(_, frame)| frame.clone()).collect();
    let now = air.now;
    let station = &mut air.stations[0];
    let before = station.tally().beacons_heard;
    // Every kind of damage to true frames, and as many cut ones, under a thousand addresses.
    for (number, frame) in frames.iter().cycle().take(3_000).enumerate() {
        let mut damaged = frame.clone();
        let at = (number * 7_919) % damaged.len();
        damaged[at] ^= 1 << (number % 8);
        damaged[10..12].copy_from_slice(&(number as u16).to_be_bytes());
        if number.is_multiple_of(3) {
            damaged.truncate(at);
        }
        station.hear(now + Duration::from_micros(number as i64 * 10), &damaged);
    }
    let tally = station.tally();
    assert!(tally.flooded > 1_000 && tally.frames > 3_000, "{tally:?}");
    assert!(tally.beacons_heard - before < 40, "{tally:?}");
    // The others are heard as before.
    let before = tally.beacons_heard;
    air.run(2 * SECOND);
    assert!(
        air.stations[0].tally().beacons_heard >= before + 36,
        "{:?}",
        air.stations[0].tally()
    );
}

#[test]
fn a_flood_of_signed_cams_under_many_addresses_is_one_flood() {
    let mut air = Air::new(3, true);
    air.run(3 * SECOND);
    let mut stranger = security(7);
    let before = air.stations[0].tally().to_owned();
    let mut number = 0_u32;
    // A fifth of a second of 10,000 a second, each as true as any: one ticket, addresses at will.
    for _ in 0..4 {
        for part in 0..500 {
            number += 1;
            let at = air.now + Duration::from_micros(part * 100);
            let cam = plain(stranger.ticket().station_id());
            let mut frame = stranger.seal(at.micros(), 36, &cam).unwrap();
            frame[8..12].copy_from_slice(&number.to_be_bytes());
            for station in &mut air.stations {
                station.hear(at, &frame);
            }
        }
        air.run(50);
    }
    let tally = air.stations[0].tally();
    let let_in = tally.beacons_heard - before.beacons_heard;
    // All that are new share 200 at once and 500 a second.
    assert!((1..=310).contains(&let_in), "{tally:?}");
    assert!(tally.flooded - before.flooded >= 1_690, "{tally:?}");
    // Whoever is known is heard as before, and one hosts as before.
    let (before, broadcasts) = (tally.beacons_heard, air.broadcasts());
    air.run(2 * SECOND);
    assert!(air.stations[0].tally().beacons_heard >= before + 36);
    assert!(air.broadcasts() >= broadcasts + 9);
}
