//! `cargo fuzz run --features libfuzzer cpm`
#![no_main]

covey_fuzz::libfuzzer_target!("cpm");
