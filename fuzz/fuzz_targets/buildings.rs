//! `cargo fuzz run --features libfuzzer buildings`
#![no_main]

covey_fuzz::libfuzzer_target!("buildings");
