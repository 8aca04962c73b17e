//! `cargo fuzz run --features libfuzzer broadcast`
#![no_main]

covey_fuzz::libfuzzer_target!("broadcast");
