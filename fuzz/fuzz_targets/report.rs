//! `cargo fuzz run --features libfuzzer report`
#![no_main]

covey_fuzz::libfuzzer_target!("report");
