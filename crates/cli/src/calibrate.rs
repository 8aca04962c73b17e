//! `covey calibrate`: d_min of a scenario, by what the letter says of its effect.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use covey_experiment::world::Base;
use covey_simulator::calibrate::{self, Calibrated};
use covey_simulator::{Prepared, RunError, RunOptions, Scenario};
use covey_traffic::builtin::Builtin;

use crate::failure::{Failure, note, print, write_atomically};
use crate::laboratory::world_failure;
use crate::reproduce::{find_profile, profiles};

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
    #[arg(long)]
    quiet: bool,
}

/// Where the part that this command writes begins.
const MARK: &str = "# Written by `covey calibrate`; run it again to change it. Nothing may follow.";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let file = &arguments.scenario;
    let scenario = match &arguments.profile {
        None => Scenario::read(file).map_err(|error| bad(&error))?,
        Some(name) => {
            let changes = find_profile(name)?.changes().map_err(Failure::Other)?;
            let changed = Base::read(file).and_then(|base| base.with(&changes));
            changed.map_err(world_failure)?.scenario
        }
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Input(format!("{}: cannot be read: {error}", file.display())))?;
    let seeds: Vec<u64> = calibrate::SEEDS.take(arguments.seeds as usize).collect();
    let options = RunOptions {
        warmup_s: arguments.warmup,
        measure_s: arguments.measure,
        ..RunOptions::default()
    };
    let jobs = Jobs {
        seeds: &seeds,
        threads: arguments.jobs.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        }),
        quiet: arguments.quiet,
    };

    for word in &scenario.words {
        note(&format!("{}: {word}", file.display()));
    }
    let prepared = Prepared::new(&scenario).map_err(|error| bad(&error))?;
    let parts = jobs.each("calibration", |seed| {
        let mut traffic = Builtin::new(&prepared.map.network, &prepared.scenario.traffic, seed)
            .map_err(|error| RunError::Traffic(error.to_string()))?;
        calibrate::seed(&prepared, &mut traffic, seed, &options)
    })?;
    let calibrated = calibrate::conclude(&seeds, &parts).ok_or_else(|| {
        Failure::Input(format!(
            "{}: nobody takes part or nothing is relevant, so there is nothing to calibrate with",
            file.display()
        ))
    })?;
    let block = block(&calibrated)?;
    print(&block)?;
    if (calibrated.cam_only_deficit - calibrate::CAM_ONLY_DEFICIT).abs() > calibrate::TOLERANCE {
        note("no margin up to 60 m gives a deficit of 5.8 %; the nearest was taken");
    }
    if arguments.dry_run || arguments.profile.is_some() {
        return Ok(());
    }
    let kept = text.split(MARK).next().unwrap_or(&text).trim_end();
    if kept.contains("[calibrated]") {
        return Err(Failure::Input(format!(
            "{}: it has a [calibrated] table that this command did not write; remove it first",
            file.display()
        )));
    }
    write_atomically(file, format!("{kept}\n\n{block}").as_bytes())
}

fn block(calibrated: &Calibrated) -> Result<String, Failure> {
    let values = toml::to_string(calibrated).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(format!("{MARK}\n[calibrated]\n{values}"))
}

/// The same work for every seed, some at a time.
struct Jobs<'a> {
    seeds: &'a [u64],
    threads: usize,
    quiet: bool,
}

impl Jobs<'_> {
    fn each<T: Send>(
        &self,
        what: &str,
        work: impl Fn(u64) -> Result<T, RunError> + Sync,
    ) -> Result<Vec<T>, Failure> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Option<Result<T, RunError>>>> =
            Mutex::new(self.seeds.iter().map(|_| None).collect());
        std::thread::scope(|scope| {
            for _ in 0..self.threads.clamp(1, self.seeds.len()) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&seed) = self.seeds.get(at) else {
                            return;
                        };
                        let result = work(seed);
                        if let Ok(mut done) = done.lock() {
                            done[at] = Some(result);
                            let finished = done.iter().flatten().count();
                            if !self.quiet {
                                note(&format!("{what}: {finished} of {} seeds", self.seeds.len()));
                            }
                        }
                    }
                });
            }
        });
        let done = done
            .into_inner()
            .map_err(|_| Failure::Other("a worker died".to_string()))?;
        done.into_iter()
            .flatten()
            .map(|result| result.map_err(|error| Failure::Input(error.to_string())))
            .collect()
    }
}
