//! `covey node`, `covey drive` and `covey pki`, where the program was built without them.

use std::ffi::OsString;

use clap::Args;

use crate::failure::Failure;

/// How to get a program that has them.
const HOW: &str = "this program was built without the live node; `cargo build --release --features node` builds one that has it";

/// Run one participant as a process on real frames (needs the feature `node`)
///
/// This program was built without it: `cargo build --release --features node` builds one that has it. docs/node.md says what it does.
#[derive(Debug, Args)]
pub(crate) struct NodeArguments {
    /// Whatever it would be told
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Play a simulated world into real nodes (needs the feature `node`)
///
/// This program was built without it: `cargo build --release --features node` builds one that has it. docs/node.md says what it does.
#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    /// Whatever it would be told
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Make keys and certificates for tests of signed frames (needs the feature `node`)
///
/// This program was built without it: `cargo build --release --features node` builds one that has it. docs/node.md says what it does.
#[derive(Debug, Args)]
pub(crate) struct PkiArguments {
    /// Whatever it would be told
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

fn missing(command: &str, rest: &[OsString]) -> Result<(), Failure> {
    let _ = rest;
    Err(Failure::Input(format!("`covey {command}`: {HOW}")))
}

pub(crate) fn node(arguments: &NodeArguments) -> Result<(), Failure> {
    missing("node", &arguments.rest)
}

pub(crate) fn drive(arguments: &DriveArguments) -> Result<(), Failure> {
    missing("drive", &arguments.rest)
}

pub(crate) fn pki(arguments: &PkiArguments) -> Result<(), Failure> {
    missing("pki", &arguments.rest)
}
