//! The command line of Covey: arguments, wiring, and how errors reach a person.

mod decide;
mod digest;
mod failure;
mod import;
mod link;
mod table;
mod traffic;
mod view;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Who should speak? Contributor admission for vehicles that share what they see over a congested channel.
#[derive(Debug, Parser)]
#[command(
    name = "covey",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
                  covey decide examples/snapshot.json\n  \
                  covey link --distance 150 --state nlosv\n\n\
                  Exit codes: 0 done; 2 the input or the call was wrong; 1 anything else.\n\
                  Results go to stdout, diagnostics and progress to stderr."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make one host decision from a JSON snapshot and explain it, factor by factor
    Decide(decide::Arguments),
    /// Turn a set of visible cells into a coverage digest, or back
    Digest(digest::Arguments),
    /// Make a scenario from an OpenStreetMap extract, with SUMO's own converters
    Import(import::Arguments),
    /// Show the mean channel between two vehicles as JSON
    Link(link::Arguments),
    /// Measure flow over density on a scenario's main road
    Traffic(traffic::Arguments),
    /// Show a recorded run in the browser
    View(view::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Decide(arguments) => decide::run(&arguments),
        Command::Digest(arguments) => digest::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::Traffic(arguments) => traffic::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
