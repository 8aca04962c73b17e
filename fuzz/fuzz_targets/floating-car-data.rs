//! `cargo fuzz run --features libfuzzer floating-car-data`
#![no_main]

covey_fuzz::libfuzzer_target!("floating-car-data");
