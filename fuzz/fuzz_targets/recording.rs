//! `cargo fuzz run --features libfuzzer recording`
#![no_main]

covey_fuzz::libfuzzer_target!("recording");
