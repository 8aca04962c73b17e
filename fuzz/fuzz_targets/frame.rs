//! `cargo fuzz run --features libfuzzer frame`
#![no_main]

covey_fuzz::libfuzzer_target!("frame");
