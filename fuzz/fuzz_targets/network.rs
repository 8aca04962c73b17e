//! `cargo fuzz run --features libfuzzer network`
#![no_main]

covey_fuzz::libfuzzer_target!("network");
