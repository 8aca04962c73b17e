//! `covey drive`: a simulated world played into real nodes.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Args, ValueEnum};
use covey_node::drive::{self, DriveError, Network, Options};

use crate::failure::{Failure, note, print};
use crate::stopping::Stopping;

/// Play a simulated world into real nodes
///
/// The built-in traffic of a scenario drives in this process, in real time; N of its vehicles are nodes, each a process of its own, in
/// network namespaces joined by a relay where there are rights for that, else over UDP on the loopback interface. Reports deficit, load and
/// host changes of the nodes, and of the same arm in the simulator beside them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey drive scenarios/toy/blind-junction/scenario.toml --nodes 6 --measure 60\n  \
    covey drive scenarios/toy/blind-junction/scenario.toml --nodes 6 --loss 0.2 --kill-host 10 --kill-host 20\n  \
    covey drive scenarios/toy/blind-junction/scenario.toml --nodes 6 --partition 8..12 --flood 10000@15..20\n  \
    covey drive scenarios/toy/blind-junction/scenario.toml --nodes 6 --signed --measure 3600 --clock-step 1800:800")]
pub(crate) struct Arguments {
    /// A scenario file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// How many vehicles are nodes
    #[arg(long, value_name = "N", default_value_t = 6)]
    nodes: usize,
    /// The seed of the traffic
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// By what hosts choose, as `covey arms` lists them
    #[arg(long, value_name = "NAME", default_value = "proposed@0.4")]
    arm: String,
    /// Seconds before measuring begins
    #[arg(long, value_name = "S", default_value_t = 4.0)]
    warmup: f64,
    /// Seconds to measure after that
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    measure: f64,
    /// Share of frames that a receiver loses
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    loss: f64,
    /// Frames arrive so many milliseconds later
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    delay: f64,
    /// From when to when, in seconds, two halves of the nodes do not hear each other; may be given several times
    #[arg(long, value_name = "FROM..TO", value_parser = span)]
    partition: Vec<(f64, f64)>,
    /// When, in seconds, the host is killed; may be given several times
    #[arg(long, value_name = "S")]
    kill_host: Vec<f64>,
    /// Seconds after which a killed node is started again
    #[arg(long, value_name = "S")]
    revive: Option<f64>,
    /// A stranger sends so many frames a second to every node
    #[arg(long, value_name = "RATE@FROM..TO", value_parser = flood)]
    flood: Option<(f64, f64, f64)>,
    /// The nodes' clocks are set ahead at so many seconds, by so many milliseconds
    #[arg(long, value_name = "S:MS", value_parser = step)]
    clock_step: Option<(f64, f64)>,
    /// Frames are signed and checked, with keys made for it
    #[arg(long)]
    signed: bool,
    /// How often names change, in seconds; only with --signed
    #[arg(long, value_name = "S", default_value_t = 0.0, requires = "signed")]
    change: f64,
    /// How frames travel
    #[arg(long, value_enum, default_value_t = Way::Auto)]
    network: Way,
    /// Where sockets, configurations, logs and keys of the nodes go; default: a folder of its own in the temporary one, which goes after it
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Write all frames of nodes to FILE
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Way {
    /// Namespaces where there are rights for them, else loopback
    Auto,
    /// Raw Ethernet in network namespaces
    Namespaces,
    /// UDP on the loopback interface
    Loopback,
}

fn number(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.trim().parse().ok();
    value
        .filter(|value| value.is_finite())
        .ok_or_else(|| format!("found {text:?}, expected a number"))
}

fn span(text: &str) -> Result<(f64, f64), String> {
    let (from, to) = text
        .split_once("..")
        .ok_or("expected FROM..TO in seconds, such as 8..12")?;
    Ok((number(from)?, number(to)?))
}

fn flood(text: &str) -> Result<(f64, f64, f64), String> {
    let (rate, rest) = text
        .split_once('@')
        .ok_or("expected RATE@FROM..TO, such as 10000@5..10")?;
    let (from, to) = span(rest)?;
    Ok((number(rate)?, from, to))
}

fn step(text: &str) -> Result<(f64, f64), String> {
    let (at, by) = text
        .split_once(':')
        .ok_or("expected S:MS, such as 30:500")?;
    Ok((number(at)?, number(by)?))
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Other(format!("the own program: {error}")))?;
    let own = std::env::temp_dir().join(format!("covey-drive-{}", std::process::id()));
    let options = Options {
        scenario: arguments.scenario.clone(),
        nodes: arguments.nodes,
        seed: arguments.seed,
        arm: arguments.arm.clone(),
        warmup_s: arguments.warmup,
        measure_s: arguments.measure,
        loss: arguments.loss,
        delay_ms: arguments.delay,
        partitions: arguments.partition.clone(),
        kills: arguments.kill_host.clone(),
        revive_s: arguments.revive,
        flood: arguments.flood,
        clock_step: arguments.clock_step,
        signed: arguments.signed,
        change_s: arguments.change,
        network: match arguments.network {
            Way::Auto => Network::Auto,
            Way::Namespaces => Network::Namespaces,
            Way::Loopback => Network::Loopback,
        },
        program,
        folder: arguments.work.clone().unwrap_or_else(|| own.clone()),
        pcap: arguments.pcap.clone(),
    };
    let mut tell = |text: &str| {
        if !arguments.quiet {
            note(text);
        }
    };
    let stopping = Stopping::install()?;
    let gently = stopping.gently();
    let temporary = arguments.work.is_none().then(|| own.clone());
    std::thread::spawn(move || {
        while !stopping.flag().load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        drive::abandon();
        if let Some(folder) = temporary {
            let _ = std::fs::remove_dir_all(folder);
        }
        note("error: stopped before its end");
        std::process::exit(1);
    });
    let report = drive::run(&options, &mut tell);
    drop(gently);
    if arguments.work.is_none() {
        let _ = std::fs::remove_dir_all(&own);
    }
    let report = report.map_err(|error| match error {
        DriveError::Input(text) => Failure::Input(text),
        DriveError::Machine(text) => Failure::Other(text),
    })?;
    match arguments.json {
        true => {
            let text = serde_json::to_string_pretty(&report)
                .map_err(|error| Failure::Other(error.to_string()))?;
            print(&format!("{text}\n"))
        }
        false => print(&report.text()),
    }
}
