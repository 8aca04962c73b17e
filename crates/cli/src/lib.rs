//! Covey's command line as a library: a program of its own adds its arms, and has every command for them.
//!
//! Runs on paired seeds, resuming, intervals, report, sweeps, recordings and the viewer all work on own arms as on those that come
//! with Covey. `docs/write-a-policy.md` walks through an example.
//!
//! ```no_run
//! use covey::protocol::policy::ConditionalCoverage;
//! use covey::{ArmError, Arms, Strategy};
//!
//! fn main() -> Result<std::process::ExitCode, ArmError> {
//!     let mine = Strategy::own("mine", "hosts do what I want", |_seed| Box::new(ConditionalCoverage));
//!     Ok(covey::main_with(Arms::builtin().with(mine)?))
//! }
//! ```

mod arms;
pub mod attendant;
mod calibrate;
pub mod calls;
mod capture;
mod clean;
mod completions;
mod decide;
mod digest;
mod failure;
mod hex;
mod import;
mod interim;
mod laboratory;
mod link;
mod live;
mod messages;
mod models;
mod outcome_table;
mod pcapng;
mod program;
mod progress;
mod report;
mod reproduce;
mod run;
mod schema;
mod shown;
mod stopping;
mod sweep;
mod teller;
mod terminal;
mod terminal_table;
mod traffic;
mod validate;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
pub use covey_protocol as protocol;
pub use covey_simulator as simulator;
pub use covey_simulator::arms::{Paint, Seat, Shape};
pub use covey_simulator::{Arm, ArmError, Arms, Strategy};

use covey_experiment::revision;

pub use crate::failure::Failure;
use crate::program::Program;

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

// What a command does is said where its arguments are: a text here would take the place of it, the long one included.
#[derive(Debug, Subcommand)]
enum Command {
    Calibrate(calibrate::Arguments),
    Arms(arms::Arguments),
    Clean(clean::Arguments),
    Completions(completions::Arguments),
    Decide(decide::Arguments),
    Digest(digest::Arguments),
    Import(import::Arguments),
    Drive(Box<live::DriveArguments>),
    Link(link::Arguments),
    Node(live::NodeArguments),
    Pki(live::PkiArguments),
    Report(report::Arguments),
    Reproduce(reproduce::Arguments),
    Run(Box<run::Arguments>),
    Man(completions::ManArguments),
    Schema(schema::Arguments),
    Sweep(sweep::Arguments),
    Messages(messages::Arguments),
    Traffic(traffic::Arguments),
    Validate(validate::Arguments),
    View(view::Arguments),
}

impl Command {
    fn run(self, program: &Program, command: &mut clap::Command) -> Result<(), Failure> {
        match self {
            Self::Calibrate(arguments) => calibrate::run(&arguments),
            Self::Arms(arguments) => arms::run(&arguments, program),
            Self::Clean(arguments) => clean::run(&arguments),
            Self::Completions(arguments) => completions::run(&arguments, command),
            Self::Man(arguments) => completions::man(&arguments, command),
            Self::Decide(arguments) => decide::run(&arguments),
            Self::Digest(arguments) => digest::run(&arguments),
            Self::Import(arguments) => import::run(&arguments),
            Self::Drive(arguments) => live::drive(&arguments),
            Self::Link(arguments) => link::run(&arguments),
            Self::Node(arguments) => live::node(&arguments),
            Self::Pki(arguments) => live::pki(&arguments),
            Self::Report(arguments) => report::run(&arguments, &program.arms),
            Self::Reproduce(arguments) => reproduce::run(&arguments, &program.arms),
            Self::Run(arguments) => run::run(&arguments, &program.arms),
            Self::Schema(arguments) => schema::run(&arguments),
            Self::Sweep(arguments) => sweep::run(&arguments, program),
            Self::Messages(arguments) => messages::run(&arguments),
            Self::Traffic(arguments) => traffic::run(&arguments),
            Self::Validate(arguments) => validate::run(&arguments),
            Self::View(arguments) => view::run(&arguments),
        }
    }
}

/// Does what the command line says, with these arms: the whole of a program's `main`.
///
/// Help, arms and messages go by the name that the program was called by. Results are kept under a fingerprint of the program's own
/// file: after a change of a policy nothing old is taken for its result.
pub fn main_with(arms: Arms) -> ExitCode {
    let program = Program::new(arms);
    let version = format!("{} ({})", env!("CARGO_PKG_VERSION"), revision::REVISION);
    let mut command = program.speaking(Arguments::command().version(version.leak() as &str));
    let matches = command.get_matches_mut();
    let outcome = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments.command.run(&program, &mut command),
        Err(error) => error.format(&mut command).exit(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&program),
    }
}
