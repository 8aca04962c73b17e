//! `covey validate`: parts of Covey against published results.

mod figure;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use clap::{Args, Subcommand};
use covey_radio::highway::{self, Measured, Options, Published};
use serde::Serialize;

use crate::failure::{Failure, print, write_atomically};
use crate::terminal::output_width;
use crate::terminal_table::Table;

/// Hold a part of Covey against published results
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey validate channel\n  \
    covey validate channel --json | jq '.settings[0].pdr'\n  \
    covey validate channel --seconds 2 --figure delivery.svg")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The channel slot by slot against delivery over distance in twelve published settings
    Channel(Channel),
}

/// The channel slot by slot against delivery over distance in twelve published settings
///
/// González-Martín et al., IEEE TVT 68(2), 2019: 190 B on a highway, 2 and 4 subchannels, 20 and 23 dBm, 10 and 20 Hz, 0.1 to 0.3
/// vehicles per m. docs/channel.md says what the setting is and what it leaves open.
#[derive(Debug, Args)]
struct Channel {
    /// Chance to keep a resource when its counter has run out, 0 to 0.8; the table shows 0.4 beside it
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    keep: f64,
    /// Seconds measured in each setting
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,
    /// What all random draws begin with
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Close the road to a ring: no ends, near which there is less interference
    #[arg(long)]
    ring: bool,
    /// Where the figure goes; none is drawn otherwise
    #[arg(long, value_name = "FILE.svg")]
    figure: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Chance to keep a resource that is shown beside.
const BESIDE: f64 = 0.4;
/// Mean difference of delivery that the source's own model keeps in ten of twelve settings.
const CLOSE: f64 = 0.02;

#[derive(Debug, Serialize)]
struct Output<'a> {
    schema: &'static str,
    keep_probability: f64,
    settings: Vec<Setting<'a>>,
}

#[derive(Debug, Serialize)]
struct Setting<'a> {
    subchannels: u32,
    tx_dbm: f64,
    rate_hz: u32,
    vehicles_per_m: f64,
    cbr: f64,
    cbr_single: f64,
    distance_m: &'a [f64],
    pdr: &'a [f64],
    half_duplex: f64,
    published_cbr: f64,
    published_pdr: &'a [f64],
    mean_difference: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let What::Channel(channel) = &arguments.what;
    validate_channel(channel)
}

fn validate_channel(arguments: &Channel) -> Result<(), Failure> {
    if !(arguments.seconds > 0.0 && arguments.seconds <= 1_000.0) {
        let problem = format!(
            "found {}, expected above 0 and at most 1000 s",
            arguments.seconds
        );
        return Err(Failure::input("--seconds", problem));
    }
    if !(0.0..=0.8).contains(&arguments.keep) {
        let problem = format!("found {}, expected 0 to 0.8", arguments.keep);
        return Err(Failure::input("--keep", problem));
    }
    let published = highway::published();
    let options = Options {
        keep_probability: arguments.keep,
        measure_s: arguments.seconds,
        ring: arguments.ring,
        seed: arguments.seed,
        ..Options::default()
    };
    let measured = run_all(&published, &options)?;
    if let Some(path) = &arguments.figure {
        write_atomically(path, figure::draw(&published, &measured).as_bytes())?;
    }
    if arguments.json {
        return print_json(arguments.keep, &published, &measured);
    }
    let beside = Options {
        keep_probability: BESIDE,
        ..options
    };
    let beside = run_all(&published, &beside)?;
    print(&table(&published, &measured, &beside))
}

/// Runs all settings, on as many threads as there are cores.
fn run_all(published: &[Published], options: &Options) -> Result<Vec<Measured>, Failure> {
    let next = Mutex::new(0);
    let results = Mutex::new(vec![None; published.len()]);
    let work = || loop {
        let at = {
            let Ok(mut next) = next.lock() else { return };
            *next += 1;
            *next - 1
        };
        let Some(setting) = published.get(at) else {
            return;
        };
        let outcome = highway::run(setting, options);
        if let Ok(mut results) = results.lock() {
            results[at] = Some(outcome);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let results = results
        .into_inner()
        .map_err(|_| Failure::Other("a setting broke off".to_string()))?;
    results
        .into_iter()
        .flatten()
        .map(|outcome| outcome.map_err(|error| Failure::Other(error.to_string())))
        .collect()
}

fn print_json(
    keep_probability: f64,
    published: &[Published],
    measured: &[Measured],
) -> Result<(), Failure> {
    let settings = published
        .iter()
        .zip(measured)
        .map(|(theirs, ours)| Setting {
            subchannels: theirs.subchannels,
            tx_dbm: theirs.tx_dbm,
            rate_hz: theirs.rate_hz,
            vehicles_per_m: theirs.vehicles_per_m,
            cbr: ours.cbr,
            cbr_single: ours.cbr_single,
            distance_m: &theirs.distance_m,
            pdr: &ours.pdr,
            half_duplex: ours.half_duplex,
            published_cbr: theirs.cbr,
            published_pdr: &theirs.pdr,
            mean_difference: ours.difference(theirs),
        });
    let output = Output {
        schema: "covey.validate-channel/1",
        keep_probability,
        settings: settings.collect(),
    };
    let json = serde_json::to_string(&output).map_err(|error| Failure::Other(error.to_string()))?;
    print(&format!("{json}\n"))
}

/// Ours beside theirs, a setting a row.
fn table(published: &[Published], measured: &[Measured], beside: &[Measured]) -> String {
    let mut table = Table::new(
        0,
        &[
            "subch",
            "dBm",
            "Hz",
            "veh/m",
            "CBR",
            "single",
            "theirs",
            "half duplex %",
            "theirs",
            "100 m",
            "theirs",
            "300 m",
            "theirs",
            "points apart",
            "kept 0.4",
            "",
        ],
    );
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let mut close = 0;
    for ((theirs, ours), kept) in published.iter().zip(measured).zip(beside) {
        let apart = ours.difference(theirs);
        close += usize::from(apart <= CLOSE);
        let at = |pdr: &[f64], metres: f64| {
            let place = theirs
                .distance_m
                .iter()
                .position(|&distance| distance == metres);
            place
                .and_then(|at| pdr.get(at))
                .map_or_else(String::new, |&pdr| percent(pdr))
        };
        let half_duplex =
            theirs.half_duplex.iter().sum::<f64>() / theirs.half_duplex.len().max(1) as f64;
        table.row(vec![
            theirs.subchannels.to_string(),
            theirs.tx_dbm.to_string(),
            theirs.rate_hz.to_string(),
            theirs.vehicles_per_m.to_string(),
            format!("{:.3}", ours.cbr),
            format!("{:.3}", ours.cbr_single),
            format!("{:.3}", theirs.cbr),
            format!("{:.2}", 100.0 * ours.half_duplex),
            format!("{:.2}", 100.0 * half_duplex),
            at(&ours.pdr, 100.0),
            at(&theirs.pdr, 100.0),
            at(&ours.pdr, 300.0),
            at(&theirs.pdr, 300.0),
            format!("{:.2}", 100.0 * apart),
            format!("{:.2}", 100.0 * kept.difference(theirs)),
            if apart <= CLOSE { "close" } else { "" }.to_string(),
        ]);
    }
    format!(
        "Delivery in %, and its mean difference over 0 to 500 m in points; CBR at -90.5 dBm, of all power and as the source's \
         model counts, of single vehicles, beside the model's.\n\n{}\n\
         {close} of {} settings within {} points.\n",
        table.fit(output_width()),
        published.len(),
        100.0 * CLOSE
    )
}
