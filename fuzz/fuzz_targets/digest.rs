//! `cargo fuzz run --features libfuzzer digest`
#![no_main]

covey_fuzz::libfuzzer_target!("digest");
