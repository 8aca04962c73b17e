//! `cargo fuzz run --features libfuzzer cam`
#![no_main]

covey_fuzz::libfuzzer_target!("cam");
