//! `cargo fuzz run --features libfuzzer beacon`
#![no_main]

covey_fuzz::libfuzzer_target!("beacon");
