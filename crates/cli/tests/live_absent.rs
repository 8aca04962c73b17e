//! Without the feature `node` its commands say how to get it.

#![cfg(not(feature = "node"))]

mod common;

use crate::common::covey;

#[test]
fn commands_of_the_live_node_name_the_feature() {
    for command in [
        &["node", "node.toml"][..],
        &["drive", "x", "--nodes", "6"],
        &["pki", "init", "x"],
    ] {
        let call = covey(command, "");
        assert_eq!(call.code, Some(2));
        assert!(call.stderr.contains("--features node"), "{}", call.stderr);
        let help = covey(&[command[0], "--help"], "").done();
        assert!(help.contains("--features node"), "{help}");
    }
}
