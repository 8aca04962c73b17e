//! The command line of Covey: arguments, wiring, and how errors reach a person.

mod arms;
mod calibrate;
mod capture;
mod decide;
mod digest;
mod failure;
mod hex;
mod import;
mod laboratory;
mod link;
mod messages;
mod outcome_table;
mod progress;
mod report;
mod reproduce;
mod run;
mod sweep;
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
                  covey reproduce --quick\n  \
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
    /// Fix a scenario's capacity and d_min on calibration seeds
    Calibrate(calibrate::Arguments),
    /// List the arms: the policies that can be compared
    Arms(arms::Arguments),
    /// Make one host decision from a JSON snapshot and explain it, factor by factor
    Decide(decide::Arguments),
    /// Turn a set of visible cells into a coverage digest, or back
    Digest(digest::Arguments),
    /// Make a scenario from an OpenStreetMap extract, with SUMO's own converters
    Import(import::Arguments),
    /// Show the mean channel between two vehicles as JSON
    Link(link::Arguments),
    /// Make the report of a finished run again
    Report(report::Arguments),
    /// Reproduce the letter: all arms on paired seeds, with statistics, tables and report
    Reproduce(reproduce::Arguments),
    /// Run arms on any scenario, your own SUMO scenario included
    Run(Box<run::Arguments>),
    /// Run many worlds, arms and seeds after a plan, here or as a Slurm job array
    Sweep(sweep::Arguments),
    /// Show ITS messages, from captures or in hex, as JSON
    Messages(messages::Arguments),
    /// Measure flow over density on a scenario's main road
    Traffic(traffic::Arguments),
    /// Show a recorded run in the browser
    View(view::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Arms(arguments) => arms::run(&arguments),
        Command::Decide(arguments) => decide::run(&arguments),
        Command::Digest(arguments) => digest::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Messages(arguments) => messages::run(&arguments),
        Command::Traffic(arguments) => traffic::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
