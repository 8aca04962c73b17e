//! One highway of one's own on the channel slot by slot, to stand beside another simulator: a line of vehicles that send 190 B ten times a
//! second in one of two subchannels with 23 dBm.
//!
//! `cargo run --release -p covey-radio --example highway -- VEHICLES ROAD_M WARMUP_S MEASURE_S KEEP_PROBABILITY`
//!
//! Prints the busy ratio and delivery over distance. Take the time with `time`.

#![allow(clippy::print_stdout)]

use covey_radio::highway::{Options, Published, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Result<Vec<f64>, _> = std::env::args().skip(1).map(|text| text.parse()).collect();
    let [vehicles, road_m, warmup_s, measure_s, keep_probability] = numbers?[..] else {
        return Err("expected VEHICLES ROAD_M WARMUP_S MEASURE_S KEEP_PROBABILITY".into());
    };
    let setting = Published {
        subchannels: 2,
        tx_dbm: 23.0,
        rate_hz: 10,
        vehicles_per_m: vehicles / road_m,
        cbr: 0.0,
        distance_m: Vec::new(),
        pdr: Vec::new(),
        half_duplex: Vec::new(),
    };
    let options = Options {
        keep_probability,
        warmup_s,
        measure_s,
        road_m,
        ..Options::default()
    };
    let measured = run(&setting, &options)?;
    println!("half duplex {:.4}", measured.half_duplex);
    for (distance, pdr) in (0..).step_by(25).zip(&measured.pdr) {
        println!("{distance:>4} m  {pdr:.4}");
    }
    Ok(())
}
