//! What the commands do, as calls of a library: for programs that are no command line.
//!
//! The same code runs; an [`Attendant`] takes the place of terminal and signals, and what a command would print is given back.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use covey_experiment::bundled;
use covey_experiment::plan::Plan;
pub use covey_experiment::report::Input;
pub use covey_experiment::summary::Summary;
use covey_experiment::world::World;
use covey_simulator::Arms;

use crate::attendant::Attendant;
pub use crate::decide::Decided;
use crate::failure::Failure;
use crate::laboratory::{WorkOptions, file_failure, plan_failure};
use crate::{decide as deciding, messages, outcome_table, run as running, sweep as sweeping};

/// What `covey run` is told by its arguments.
#[derive(Debug, Clone)]
pub struct RunCall {
    /// A scenario file; the bundled corridor where there is none.
    pub scenario: Option<PathBuf>,
    /// Names of arms; the letter's where there are none.
    pub arms: Vec<String>,
    /// The seeds; 1 where there are none.
    pub seeds: Vec<u64>,
    /// Seconds before measuring begins.
    pub warmup_s: f64,
    /// Seconds to measure after that.
    pub measure_s: f64,
    /// Keys of the scenario file, with dots, and their values.
    pub set: Vec<(String, toml::Value)>,
    /// Record every seed for the viewer.
    pub record: bool,
    /// Tables as CSV, too.
    pub csv: bool,
    /// How many seeds at once; one per core where it is not said.
    pub jobs: Option<usize>,
    /// Where results go.
    pub out: PathBuf,
}

fn options(jobs: Option<usize>, csv: bool, attendant: Arc<dyn Attendant>) -> WorkOptions {
    WorkOptions {
        jobs,
        csv,
        quiet: false,
        attendant: Some(attendant),
        own_program: None,
    }
}

/// Runs arms on a scenario and writes all that `covey run` writes; gives what its report was made from.
///
/// # Errors
/// The call or the scenario is wrong, a file cannot be used, or the attendant ended it.
pub fn run(call: &RunCall, known: &Arms, attendant: Arc<dyn Attendant>) -> Result<Input, Failure> {
    let scenario = match &call.scenario {
        Some(file) => file.clone(),
        None => bundled::unpack(&call.out.join("scenario")).map_err(file_failure)?,
    };
    let arguments = running::Arguments {
        scenario: Some(scenario),
        arm: call.arms.clone(),
        seed: call.seeds.clone(),
        set: call.set.clone(),
        warmup: call.warmup_s,
        measure: call.measure_s,
        record: call.record,
        out: Some(call.out.clone()),
        work: options(call.jobs, call.csv, attendant),
        ..running::Arguments::default()
    };
    running::work(&arguments, known, |conclusion, start| {
        conclusion.make(start)
    })
}

/// The tables of a run, as `covey run` prints them in lines of this width.
#[must_use]
pub fn table(summary: &Summary, width: Option<usize>) -> String {
    outcome_table::render(summary, width)
}

/// What a sweep gives.
#[derive(Debug)]
pub struct Swept {
    /// Its name, from the plan.
    pub name: String,
    /// What sets each world apart, and what came of it.
    pub worlds: Vec<(String, Summary)>,
    /// The tables that `covey sweep` prints.
    pub told: String,
}

/// Runs all worlds of a plan and writes all that `covey sweep` writes into `out`.
///
/// # Errors
/// The plan is wrong, a file cannot be used, or the attendant ended it.
pub fn sweep(
    plan: &Path,
    out: &Path,
    jobs: Option<usize>,
    csv: bool,
    known: &Arms,
    attendant: Arc<dyn Attendant>,
) -> Result<Swept, Failure> {
    let arguments = sweeping::Arguments {
        plan: plan.to_path_buf(),
        out: Some(out.to_path_buf()),
        work: options(jobs, csv, attendant),
        ..sweeping::Arguments::default()
    };
    let plan = Plan::read(plan, known).map_err(plan_failure)?;
    let base = plan
        .scenario
        .base(|| bundled::unpack(&out.join("scenario")).map_err(file_failure))?;
    let mut worlds = plan.worlds(&base).map_err(plan_failure)?;
    let ready = sweeping::compute(&arguments, &plan, &mut worlds, out, None)?;
    let summaries = sweeping::conclude(&arguments, &plan, &worlds, out, &ready, known)?;
    let told = sweeping::outcome(&worlds, &summaries);
    let labels = worlds.iter().map(World::label);
    Ok(Swept {
        name: plan.name.clone(),
        worlds: labels.zip(summaries).collect(),
        told,
    })
}

/// One host decision from a snapshot, which messages call `name`.
///
/// # Errors
/// It is no snapshot.
pub fn decide(name: &str, snapshot: &str) -> Result<Decided, Failure> {
    deciding::decide(name, snapshot)
}

/// An Ethernet frame, a GeoNetworking packet or an ITS message as JSON, as `covey messages decode` prints it.
///
/// # Errors
/// It is none of these.
pub fn decode_message(name: &str, bytes: &[u8]) -> Result<String, Failure> {
    messages::decode(name, bytes)
}

/// Hands every frame of a capture (pcap or pcapng) to `each`: as JSON, or what is wrong with it. Gives how many there are.
///
/// # Errors
/// The file cannot be read or is no capture, or what `each` gave.
pub fn read_capture(
    file: &Path,
    each: impl FnMut(Result<String, String>) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let name = file.display().to_string();
    let input = File::open(file)
        .map_err(|error| Failure::input(&name, format!("cannot be read: {error}")))?;
    messages::read_capture(&name, input, each)
}
