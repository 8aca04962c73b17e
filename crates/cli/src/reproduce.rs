//! `covey reproduce`: the letter's whole evaluation.

use std::path::PathBuf;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use covey_experiment::profile::{self, Profile};
use covey_experiment::runner::find_sumo;
use covey_experiment::store::{Fingerprint, Store};
use covey_experiment::world::{Base, TrafficSource, World};
use covey_experiment::{bundled, seeds};
use covey_simulator::Arms;

use crate::failure::Failure;
use crate::interim::Interim;
use crate::laboratory::{
    Bench, WorkOptions, file_failure, folder_name, runner_failure, world_failure,
};
use crate::report::Conclusion;

/// Reproduce the letter: all arms on paired seeds, with statistics, tables and report
///
/// Runs the letter's arms, and random admission redrawn every cycle, on the bundled corridor. Seeds 101 to 117 are evaluated; 1 to 17 are
/// for tuning, trying and tests; those from 1001 on are for calibration. Finished seeds are kept: run again after an interruption, it
/// goes on where it stopped. Results of another revision or other parameters are set aside, never mixed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey reproduce\n  \
    covey reproduce --quick\n  \
    covey reproduce --traffic sumo --out out/letter-sumo\n  \
    covey reproduce --beyond\n  \
    covey reproduce --quick --channel sps\n  \
    covey reproduce --profile closest")]
pub(crate) struct Arguments {
    /// Seeds 1 to 3, 15 s + 15 s: to see that it works; the intervals mean nothing
    #[arg(long)]
    quick: bool,
    /// The first N seeds from 101 on; default 17, the letter's number. With --quick: seeds 1 to N
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Readings: as frozen, or one of two sets whose constants were fitted to the letter's figures, which is evidence for nothing
    #[arg(long, value_name = "NAME", default_value = profile::LETTER, value_parser = profiles())]
    profile: String,
    /// Who drives the vehicles
    #[arg(long, value_enum, default_value_t = Traffic::Builtin)]
    traffic: Traffic,
    /// What messages weigh: the letter's table, or really encoded bytes
    #[arg(long, value_enum, default_value_t = Sizes::Tr103562)]
    sizes: Sizes,
    /// How the channel is modelled: by load as in the letter, or slot by slot with sensing-based scheduling
    #[arg(long, value_enum, default_value_t = ChannelModel::Load)]
    channel: ChannelModel,
    /// The arms beyond the letter as well: choice by demand, the steps to it, rivals, the yardstick; twice the time
    #[arg(long)]
    beyond: bool,
    /// Two calibration seeds, 0.4 s + 1 s: to try the machinery without looking at an evaluation seed
    #[arg(long, hide = true, conflicts_with_all = ["quick", "seeds", "record_seed"])]
    trial: bool,
    /// Record seed N for `covey view`, beside the results
    #[arg(long, value_name = "N")]
    record_seed: Option<u64>,
    /// Where results go; default out/letter, out/beyond or out/PROFILE, with -quick, -sumo, -uper and -sps for those
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: WorkOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Traffic {
    /// The built-in traffic, which needs no other program
    Builtin,
    /// SUMO, with a closed population
    Sumo,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ChannelModel {
    /// Bytes offered to a tile against its capacity, collisions by a published table
    Load,
    /// Every slot: sensing-based semi-persistent scheduling and power sums
    Sps,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Sizes {
    /// 121 B + 35 B per sensor and object
    Tr103562,
    /// Encoded messages with their headers
    Uper,
}

pub(crate) fn run(arguments: &Arguments, known: &Arms) -> Result<(), Failure> {
    let start = Instant::now();
    let seeds = chosen_seeds(arguments)?;
    arguments.work.workers()?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| default_out(arguments));
    if arguments.traffic == Traffic::Sumo {
        find_sumo().map_err(runner_failure)?;
    }
    let file = bundled::unpack(&out.join("scenario")).map_err(file_failure)?;
    let sizes = match arguments.sizes {
        Sizes::Tr103562 => "tr103562",
        Sizes::Uper => "uper",
    };
    let profile = find_profile(&arguments.profile)?;
    let mut changes = profile.changes().map_err(Failure::Other)?;
    changes.push(("sizes".to_string(), sizes.into()));
    if arguments.channel == ChannelModel::Sps {
        changes.push(("channel.model".to_string(), "sps".into()));
    }
    let changed = Base::read(&file)
        .and_then(|base| base.with(&changes))
        .map_err(world_failure)?;
    let traffic = match arguments.traffic {
        Traffic::Builtin => TrafficSource::Builtin,
        Traffic::Sumo => TrafficSource::Sumo,
    };
    let window = match (arguments.trial, arguments.quick) {
        (true, _) => (0.4, 1.0),
        (false, true) => (15.0, 15.0),
        (false, false) => (40.0, 40.0),
    };
    let arms = if arguments.beyond {
        known.beyond()
    } else {
        known.letter()
    };
    let mut world = World::new(changed, traffic, arms, window).map_err(world_failure)?;
    world.quick = arguments.quick || arguments.trial;
    world.profile = Some(profile);
    let interim = Interim {
        world: &world,
        seeds: &seeds,
        out: &out,
        source: &file,
        options: &arguments.work,
        arms: known,
        start,
    };
    // A table that cannot be made now is no reason to stop: the results say what is wrong, if it still is.
    let early = |store: &Store, prints: &[Fingerprint]| interim.make(store, prints).ok().flatten();
    let ready = Bench {
        worlds: std::slice::from_ref(&world),
        seeds: &seeds,
        out: &out,
        cycles: true,
        options: &arguments.work,
        record: arguments.record_seed.as_slice(),
        watched: None,
        outputs: &[],
        shard: None,
    }
    .compute_and_tell((!arguments.work.quiet).then_some(&early))?;
    Conclusion {
        world: &world,
        seeds: &seeds,
        store: &ready.store,
        prints: &ready.prints,
        out: &out,
        source: &file,
        options: &arguments.work,
        json: arguments.json,
        aside: false,
        arms: known,
    }
    .write(start)?;
    interim.clear();
    Ok(())
}

/// What `--profile` takes.
pub(crate) fn profiles() -> PossibleValuesParser {
    PossibleValuesParser::new(profile::ALL.map(|profile| profile.name))
}

pub(crate) fn find_profile(name: &str) -> Result<Profile, Failure> {
    Profile::find(name).map_err(|problem| Failure::input("--profile", problem))
}

/// The seeds that are run.
fn chosen_seeds(arguments: &Arguments) -> Result<Vec<u64>, Failure> {
    if arguments.trial {
        return Ok(vec![seeds::FIRST_CALIBRATION, seeds::FIRST_CALIBRATION + 1]);
    }
    let count = match (arguments.seeds, arguments.quick) {
        (Some(count), _) => count,
        (None, true) => seeds::QUICK,
        (None, false) => seeds::EVALUATED.count() as u64,
    };
    let chosen = seeds::first(count, arguments.quick)
        .map_err(|problem| Failure::input("--seeds", problem))?;
    match arguments.record_seed.filter(|seed| !chosen.contains(seed)) {
        None => Ok(chosen),
        Some(seed) => Err(Failure::input(
            "--record-seed",
            format!(
                "found {seed}, expected one of the seeds that are run, {}",
                seeds::told(&chosen)
            ),
        )),
    }
}

fn default_out(arguments: &Arguments) -> PathBuf {
    let mut name = match (arguments.profile.as_str(), arguments.beyond) {
        (profile::LETTER, true) => "beyond".to_string(),
        (profile, true) => format!("{profile}-beyond"),
        (profile, false) => profile.to_string(),
    };
    if arguments.traffic == Traffic::Sumo {
        name.push_str("-sumo");
    }
    if arguments.sizes == Sizes::Uper {
        name.push_str("-uper");
    }
    if arguments.channel == ChannelModel::Sps {
        name.push_str("-sps");
    }
    if arguments.quick {
        name.push_str("-quick");
    }
    if arguments.trial {
        name.push_str("-trial");
    }
    folder_name(&name)
}
