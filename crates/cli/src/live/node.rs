//! `covey node`: one participant as a process.

use std::path::PathBuf;

use clap::Args;
use covey_node::config::Checked;
use covey_node::node;

use crate::failure::{Failure, print};
use crate::run::setting;

/// Run one participant as a process on real frames
///
/// Sends and hears GeoNetworking frames over UDP multicast or on an Ethernet interface, with what the own vehicle tells over a local
/// socket, NMEA or gpsd. Runs until it is stopped (Ctrl-C, SIGTERM); logs are JSON lines on standard error. docs/node.md has every key.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey node node.toml\n  \
    covey node node.toml --set station_id=7 --set radio.link=ethernet --set radio.interface=eth0\n  \
    covey node --check --set station_id=7 --set scenario=scenarios/toy/blind-junction/scenario.toml")]
pub(crate) struct Arguments {
    /// The configuration; may be left out where flags say everything
    #[arg(value_name = "NODE.toml")]
    config: Option<PathBuf>,
    /// Any key of the configuration, with dots, and its value in TOML; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, toml::Value)>,
    /// Only read configuration, map and keys, and say whether they are good
    #[arg(long)]
    check: bool,
    /// End when standard input does, for programs that start nodes
    #[arg(long)]
    while_stdin: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let failure = |error: node::NodeError| match error.is_input() {
        true => Failure::Input(error.to_string()),
        false => Failure::Other(error.to_string()),
    };
    let checked = Checked::read(arguments.config.as_deref(), &arguments.set)
        .map_err(|error| Failure::Input(error.to_string()))?;
    if arguments.check {
        node::check(&checked).map_err(failure)?;
        return print("The configuration is good.\n");
    }
    node::run(&checked, arguments.while_stdin).map_err(failure)
}
