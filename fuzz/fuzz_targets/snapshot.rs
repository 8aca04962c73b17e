//! `cargo fuzz run --features libfuzzer snapshot`
#![no_main]

covey_fuzz::libfuzzer_target!("snapshot");
