//! `covey run`: arms on any scenario.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgGroup, Args};
use covey_experiment::outputs::Output;
use covey_experiment::plan;
use covey_experiment::world::{Base, TrafficSource, World, WorldError};
use covey_simulator::scenario::Readings;
use covey_simulator::{Arm, Arms};

use crate::capture::{self, CaptureOptions};
use crate::failure::Failure;
use crate::laboratory::{Bench, WorkOptions, own_folder, window, world_failure};
use crate::models::{model, with_models};
use crate::report::Conclusion;
use crate::reproduce::{Traffic, find_profile, profiles};
use crate::shown::{ShowOptions, Shown};

/// Run arms on any scenario, your own SUMO scenario included
///
/// A scenario is a file of ours (`covey schema --markdown` lists its keys, and so does docs/parameters.md), a SUMO configuration, or
/// a SUMO network with recorded floating-car data. Finished seeds are kept: run again, it goes on where it stopped.
#[derive(Debug, Default, Args)]
#[command(
    group(ArgGroup::new("source").required(true).args(["scenario", "sumocfg", "net"])),
    after_help = "Examples:\n  \
    covey run scenarios/tamagawa/scenario.toml --arm proposed@0.4 --arm cam-only --seed 1 --seed 2\n  \
    covey run --sumocfg city.sumocfg --buildings city.poly.xml --arm proposed@0.4\n  \
    covey run --sumocfg city.sumocfg --begin 28800 --fill 900 --seeds 1..=6 --set protocol.target=0.2\n  \
    covey run scenarios/toy/blind-junction/scenario.toml --arm cpm-rmr --arm proposed@0.4 --record --out junction\n  \
    covey run scenarios/toy/blind-junction/scenario.toml --arm proposed@0.4 --arm demand@0.2 --view\n  \
    covey run --net city.net.xml --fcd trace.parquet --warmup 10 --measure 20")]
pub(crate) struct Arguments {
    /// A scenario file: map, traffic, parameters
    #[arg(value_name = "SCENARIO.toml")]
    pub(crate) scenario: Option<PathBuf>,
    /// A SUMO configuration; SUMO is run for its traffic
    #[arg(long, value_name = "X.sumocfg")]
    pub(crate) sumocfg: Option<PathBuf>,
    /// A SUMO network, for --fcd
    #[arg(long, value_name = "N.net.xml", requires = "fcd")]
    pub(crate) net: Option<PathBuf>,
    /// Recorded floating-car data on that network: XML, CSV or Parquet
    #[arg(long, value_name = "FILE", requires = "net")]
    pub(crate) fcd: Option<PathBuf>,
    /// Buildings, as SUMO polygons; may be given several times
    #[arg(long, value_name = "Y.poly.xml", conflicts_with = "scenario")]
    pub(crate) buildings: Vec<PathBuf>,
    /// Stations beside the road, with radio and sensors: SUMO's points of interest of type `rsu`; may be given several times
    #[arg(long, value_name = "R.add.xml")]
    pub(crate) stations: Vec<PathBuf>,
    /// An arm, as `covey arms` lists them; may be given several times. Default: the letter's
    #[arg(long, value_name = "NAME")]
    pub(crate) arm: Vec<String>,
    /// One more arm, NAME@B: hosts ask whom a network in an ONNX file scores highest (docs/python.md); may be given several times
    #[arg(long, value_name = "NAME=FILE.onnx", value_parser = model)]
    pub(crate) model: Vec<(String, PathBuf)>,
    /// A seed; may be given several times. Default: 1
    #[arg(long, value_name = "N")]
    pub(crate) seed: Vec<u64>,
    /// Seeds from A to B, both included
    #[arg(long, value_name = "A..=B", conflicts_with = "seed")]
    pub(crate) seeds: Option<String>,
    /// Any key of a scenario file, with dots, and its value in TOML; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, toml::Value)>,
    /// Seconds before measuring begins
    #[arg(long, value_name = "S", default_value_t = 40.0)]
    pub(crate) warmup: f64,
    /// Seconds to measure after that
    #[arg(long, value_name = "S", default_value_t = 40.0)]
    pub(crate) measure: f64,
    /// Readings of a profile in place of the scenario's: `closest` and `closest-hosted` were fitted to the letter's figures on the
    /// bundled corridor, which is evidence for nothing
    #[arg(long, value_name = "NAME", value_parser = profiles())]
    pub(crate) profile: Option<String>,
    /// Share of vehicles with a radio, above 0 and at most 1
    #[arg(long, value_name = "F")]
    pub(crate) penetration: Option<f64>,
    /// Where time begins, in seconds of SUMO's or the recording's own time: the day's peak, say. Default: where that begins
    #[arg(long, value_name = "S")]
    pub(crate) begin: Option<f64>,
    /// How many seconds before that SUMO simulates traffic alone, to fill the streets. Default: all of them
    #[arg(long, value_name = "S")]
    pub(crate) fill: Option<f64>,
    /// Who drives the vehicles of a scenario file; default: as it says, the built-in traffic where it does not
    #[arg(long, value_enum, conflicts_with_all = ["sumocfg", "net"])]
    pub(crate) traffic: Option<Traffic>,
    /// Record every seed for `covey view`, beside the results
    #[arg(long)]
    pub(crate) record: bool,
    /// Where results go; default out/ and the scenario's name
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    #[command(flatten)]
    pub(crate) capture: CaptureOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

/// A key and its value. A word that is no TOML stands for itself, so that names need no quotes.
pub(crate) fn setting(text: &str) -> Result<(String, toml::Value), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("expected KEY=VALUE, such as protocol.target=0.2")?;
    let (key, value) = (key.trim(), value.trim());
    let parsed: Result<toml::Table, _> = toml::from_str(&format!("value = {value}"));
    match parsed.ok().and_then(|mut table| table.remove("value")) {
        Some(parsed) => Ok((key.to_string(), parsed)),
        None if !value.is_empty() && !value.contains(['"', '\'', '[', '{', '\n']) => {
            Ok((key.to_string(), value.into()))
        }
        None => Err(format!("found {value}, expected a value in TOML")),
    }
}

/// The file that says what is run.
fn source(arguments: &Arguments) -> &Path {
    let named = [&arguments.scenario, &arguments.sumocfg, &arguments.net];
    named
        .into_iter()
        .flatten()
        .next()
        .map_or(Path::new(""), PathBuf::as_path)
}

pub(crate) fn run(arguments: &Arguments, known: &Arms) -> Result<(), Failure> {
    work(arguments, known, |conclusion, start| {
        conclusion.write(start)
    })
}

/// Computes what is missing, and ends as `end` does with what is there and when it began.
pub(crate) fn work<T>(
    arguments: &Arguments,
    known: &Arms,
    end: impl FnOnce(&Conclusion<'_>, Instant) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let start = Instant::now();
    let (known, options) = with_models(known, &arguments.model, &arguments.work)?;
    let (known, options) = (&known, &options);
    let window = window(arguments.warmup, arguments.measure)?;
    let seeds = match (arguments.seed.as_slice(), &arguments.seeds) {
        ([], Some(range)) => plan::range(range)
            .and_then(|seeds| plan::check_seeds(&seeds))
            .map_err(|problem| Failure::input("--seeds", problem))?,
        ([], None) => vec![1],
        (seeds, _) => {
            plan::check_seeds(seeds).map_err(|problem| Failure::input("--seed", problem))?
        }
    };
    let arms = match arguments.arm.as_slice() {
        [] => known.letter(),
        names => plan::arms(names, known).map_err(|problem| Failure::input("--arm", problem))?,
    };
    arguments.capture.check(arms.len(), seeds.len(), window)?;
    options.workers()?;
    let world = world(arguments, arms, window)?;
    let out = arguments.out.clone().unwrap_or_else(|| {
        let profile = arguments.profile.as_ref();
        let profile = profile.map_or_else(String::new, |name| format!("-{name}"));
        own_folder(
            &format!("run-{}{profile}", world.scenario.name),
            source(arguments),
        )
    });
    let capture = arguments.capture.output(&out);
    let shown = arguments.show.begin(&out, &seeds)?;
    let mut outputs: Vec<&dyn Output> = capture.iter().map(|c| c as &dyn Output).collect();
    outputs.extend(shown.as_ref().map(Shown::output));
    let ready = Bench {
        worlds: std::slice::from_ref(&world),
        seeds: &seeds,
        out: &out,
        cycles: true,
        options,
        record: if arguments.record || shown.is_some() {
            &seeds
        } else {
            &[]
        },
        watched: shown.as_ref().map(Shown::growth),
        outputs: &outputs,
        shard: None,
    }
    .compute();
    if let Some(shown) = &shown {
        shown.end();
    }
    let ready = ready?;
    if let Some(capture) = &capture {
        capture::remark(capture, options);
    }
    let conclusion = Conclusion {
        world: &world,
        seeds: &seeds,
        store: &ready.store,
        prints: &ready.prints,
        out: &out,
        source: source(arguments),
        options,
        json: arguments.json,
        aside: capture.as_ref().is_some_and(|c| c.file.as_os_str() == "-"),
        arms: known,
    };
    let ended = end(&conclusion, start)?;
    drop(ready);
    if let Some(shown) = shown {
        shown.stay();
    }
    Ok(ended)
}

fn world(arguments: &Arguments, arms: Vec<Arm>, window: (f64, f64)) -> Result<World, Failure> {
    let mut base = if let Some(file) = &arguments.scenario {
        Base::read(file)?
    } else if let Some(file) = &arguments.sumocfg {
        Base::from_sumocfg(&plan::name_of(file), file, &arguments.buildings)?
    } else if let (Some(net), Some(fcd)) = (&arguments.net, &arguments.fcd) {
        Base::from_recording(&plan::name_of(net), net, fcd, &arguments.buildings)
    } else {
        return Err(Failure::Input(
            "no scenario: give a scenario file, --sumocfg, or --net with --fcd".to_string(),
        ));
    };
    for file in &arguments.stations {
        base.add_stations(file).map_err(world_failure)?;
    }
    let profile = match &arguments.profile {
        Some(name) => Some(find_profile(name)?),
        None => None,
    };
    let mut changes = match &profile {
        Some(profile) => profile.changes().map_err(Failure::Other)?,
        None => Vec::new(),
    };
    if let Some(penetration) = arguments.penetration {
        let asked = Readings {
            penetration,
            ..Readings::default()
        };
        asked.validate().map_err(|error| {
            let problem = format!("found {}, expected {}", error.found, error.expected);
            Failure::input("--penetration", problem)
        })?;
        changes.push(("penetration".to_string(), toml::Value::Float(penetration)));
    }
    for (key, seconds) in [
        ("source.begin_s", arguments.begin),
        ("source.fill_s", arguments.fill),
    ] {
        if let Some(seconds) = seconds {
            changes.push((key.to_string(), toml::Value::Float(seconds)));
        }
    }
    for (key, value) in &arguments.set {
        // Each alone first, so that an error is about this one.
        base.with(&[(key.clone(), value.clone())])
            .map_err(|error| match error {
                WorldError::Scenario { problem, .. } => Failure::input("--set", problem),
                error => world_failure(error),
            })?;
        changes.push((key.clone(), value.clone()));
    }
    let changed = base.with(&changes).map_err(world_failure)?;
    let traffic = match arguments.traffic {
        Some(Traffic::Builtin) => TrafficSource::Builtin,
        Some(Traffic::Sumo) => TrafficSource::Sumo,
        None => TrafficSource::of(&changed.scenario),
    };
    let mut world = World::new(changed, traffic, arms, window).map_err(world_failure)?;
    world.profile = profile;
    Ok(world)
}
