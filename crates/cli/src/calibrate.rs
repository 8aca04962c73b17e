//! `covey calibrate`: d_min of a scenario, by what the letter says of its effect.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use covey_experiment::pool;
use covey_experiment::runner::Runner;
use covey_experiment::world::{Base, TrafficSource, World};
use covey_simulator::calibrate::{self, Calibrated, SeedCalibration};

use crate::failure::{Failure, note, print, write_atomically};
use crate::laboratory::{counted, folder_name, runner_failure};
use crate::progress::Progress;
use crate::reproduce::{find_profile, profiles};
use crate::stopping::Stopping;

/// Fix a scenario's d_min on calibration seeds
///
/// On ten seeds that are never evaluated it finds the margin d_min with which the deficit without cooperation is 5.8 %, and
/// reports how much of the capacity beacons alone occupy (0.64 in the letter) and what the letter's rule gives for the hysteresis
/// x; neither takes effect. All three go into the scenario file, as the table "calibrated".
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey calibrate scenarios/tamagawa/scenario.toml\n  \
    covey calibrate scenarios/tamagawa/scenario.toml --profile closest\n  \
    covey calibrate scenarios/tamagawa/scenario.toml --dry-run --seeds 2 --warmup 2 --measure 2")]
pub(crate) struct Arguments {
    /// The scenario file to calibrate
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// How many of the ten calibration seeds to use
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10))]
    seeds: u64,
    /// Seconds before measuring begins
    #[arg(long, value_name = "S", default_value_t = 40.0)]
    warmup: f64,
    /// Seconds to measure after that
    #[arg(long, value_name = "S", default_value_t = 40.0)]
    measure: f64,
    /// Seeds to run at the same time; default one per core
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Say what would be written, and leave the file alone
    #[arg(long)]
    dry_run: bool,
    /// Under the readings of this profile; says what d_min it needs, and leaves the file alone
    #[arg(long, value_name = "NAME", value_parser = profiles())]
    profile: Option<String>,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

/// Where the part that this command writes begins.
const MARK: &str = "# Written by `covey calibrate`; run it again to change it. Nothing may follow.";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = &arguments.scenario;
    let changes = match &arguments.profile {
        None => Vec::new(),
        Some(name) => find_profile(name)?.changes().map_err(Failure::Other)?,
    };
    let changed = Base::read(file).and_then(|base| base.with(&changes))?;
    let traffic = TrafficSource::of(&changed.scenario);
    let window = (arguments.warmup, arguments.measure);
    let world = World::new(changed, traffic, Vec::new(), window)?;
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Input(format!("{}: cannot be read: {error}", file.display())))?;
    let seeds: Vec<u64> = calibrate::SEEDS.take(arguments.seeds as usize).collect();
    let kept = text.split(MARK).next().unwrap_or(&text).trim_end();
    let written = !(arguments.dry_run || arguments.profile.is_some());
    let table: toml::Table = toml::from_str(kept).unwrap_or_default();
    if written && table.contains_key("calibrated") {
        return Err(Failure::Input(format!(
            "{}: it has a [calibrated] table that this command did not write; remove it first",
            file.display()
        )));
    }
    let remark = |text: &str| {
        if !arguments.quiet {
            note(text);
        }
    };
    for word in &world.scenario.words {
        remark(&format!("{}: {word}", file.display()));
    }
    let parts = parts(&world, &seeds, arguments)?;
    let calibrated = calibrate::conclude(&seeds, &parts).ok_or_else(|| {
        Failure::Input(format!(
            "{}: nobody takes part or nothing is relevant, so there is nothing to calibrate with",
            file.display()
        ))
    })?;
    let block = block(&calibrated)?;
    print(&block)?;
    if (calibrated.cam_only_deficit - calibrate::CAM_ONLY_DEFICIT).abs() > calibrate::TOLERANCE {
        remark("no margin up to 60 m gives a deficit of 5.8 %; the nearest was taken");
    }
    if !written {
        return Ok(());
    }
    write_atomically(file, format!("{kept}\n\n{block}").as_bytes())
}

fn block(calibrated: &Calibrated) -> Result<String, Failure> {
    let values = toml::to_string(calibrated).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(format!("{MARK}\n[calibrated]\n{values}"))
}

/// What each seed gives, some at a time.
fn parts(
    world: &World,
    seeds: &[u64],
    arguments: &Arguments,
) -> Result<Vec<SeedCalibration>, Failure> {
    let workers = arguments
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    // SUMO's traffic is kept, for results and further calibrations.
    let folder = folder_name(&format!("calibrate-{}", world.scenario.name));
    let runner = Runner::new(std::slice::from_ref(world), workers, &folder);
    runner.check().map_err(runner_failure)?;
    let done: Mutex<Vec<(u64, SeedCalibration)>> = Mutex::default();
    let work = |seed: &u64, monitor: pool::Monitor<'_>| {
        let part = runner.calibrate(0, *seed, monitor)?;
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push((*seed, part));
        Ok(())
    };
    let stopped = |done: usize| {
        let seeds = counted(seeds.len(), "seed");
        format!("stopped after {done} of {seeds}; nothing was written")
    };
    let names = seeds.iter().map(|seed| format!("calibration, seed {seed}"));
    let mut progress = Progress::new(names.collect(), arguments.quiet);
    let stopping = Stopping::install()?;
    let mut gently = stopping.gently();
    let outcome = pool::run(seeds, workers, stopping.flag(), work, |state| {
        progress.show(state);
        gently.look(|| stopped(state.done));
    });
    if outcome.stopped {
        return Err(Failure::Other(stopped(outcome.done)));
    }
    if let Some((_, error)) = outcome.failure {
        return Err(runner_failure(error));
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(seed, _)| *seed);
    Ok(done.into_iter().map(|(_, part)| part).collect())
}
