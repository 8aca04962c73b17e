//! `cargo fuzz run --features libfuzzer polyline`
#![no_main]

covey_fuzz::libfuzzer_target!("polyline");
