//! `covey view` as far as it can be seen without a browser.

mod common;

use crate::common::{Directory, covey};

#[test]
fn what_is_no_recording_is_refused_with_advice() {
    let folder = Directory::new("view-nothing");
    covey(&["view", &folder.path("")], "").refused(&["--record"]);
    folder.file("x.covey", "COVEYREC but then nothing");
    covey(&["view", &folder.path("")], "").refused(&["x.covey", "cut short"]);
    folder.file("x.covey", "something else");
    covey(&["view", &folder.path("")], "").refused(&["x.covey", "another kind of file"]);
    covey(&["view", "no/such/folder"], "").refused(&["no/such/folder"]);
}

#[test]
fn the_example_becomes_an_mcap_file() {
    let folder = Directory::new("view-mcap");
    let out = folder.path("junction.mcap");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/blind-junction");
    assert_eq!(covey(&["view", example, "--mcap", &out], "").done(), "");
    let bytes = std::fs::read(&out).unwrap();
    assert!(bytes.starts_with(b"\x89MCAP0\r\n") && bytes.ends_with(b"\x89MCAP0\r\n"));
}
