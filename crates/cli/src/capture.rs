//! `covey run --pcap`: what a run sends, as a capture.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use clap::Args;
use covey_experiment::files::Pending;
use covey_experiment::pool::{self, JobError};
use covey_experiment::runner::{Runner, RunnerError};
use covey_experiment::world::World;
use covey_protocol::{AgentId, Duration, Instant, Tile};
use covey_simulator::capture::{Capture, CaptureCounts, CaptureFilter};
use covey_simulator::georeference::MapReference;

use crate::failure::Failure;
use crate::laboratory::{WorkOptions, file_failure};

/// Options of the capture.
#[derive(Debug, Args)]
pub(crate) struct CaptureOptions {
    /// Write every message that was sent to a capture; needs one --arm and one --seed
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Capture one tile only
    #[arg(long, value_name = "X,Y", requires = "pcap", value_parser = tile, allow_hyphen_values = true)]
    pcap_tile: Option<Tile>,
    /// Capture one station only
    #[arg(long, value_name = "ID", requires = "pcap")]
    pcap_station: Option<u64>,
    /// Capture from this second of the run on, warm-up included
    #[arg(long, allow_negative_numbers = true, value_name = "S", requires = "pcap", value_parser = second)]
    pcap_from: Option<Duration>,
    /// Capture until before this second of the run
    #[arg(long, allow_negative_numbers = true, value_name = "S", requires = "pcap", value_parser = second)]
    pcap_to: Option<Duration>,
}

fn tile(text: &str) -> Result<Tile, String> {
    let number = |text: &str| text.trim().parse().ok();
    text.split_once(',')
        .and_then(|(x, y)| Some(Tile::new(number(x)?, number(y)?)))
        .ok_or_else(|| "expected the tile's column and row, as in 3,0".to_string())
}

fn second(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e6).contains(&seconds) => Ok(Duration::from_seconds(seconds)),
        _ => Err("expected seconds, from 0 to 1000000".to_string()),
    }
}

impl CaptureOptions {
    /// A capture holds one arm of one seed.
    pub(crate) fn check(&self, arms: usize, seeds: usize) -> Result<(), Failure> {
        if self.pcap.is_some() && (arms, seeds) != (1, 1) {
            return Err(Failure::input(
                "--pcap",
                format!("found {arms} arms and {seeds} seeds, expected one --arm and one --seed"),
            ));
        }
        Ok(())
    }

    /// Runs the seed once more and writes what it sends, if that was asked for. Results that are there already have no messages.
    pub(crate) fn write(
        &self,
        world: &World,
        seed: u64,
        out: &Path,
        options: &WorkOptions,
    ) -> Result<(), Failure> {
        let Some(path) = &self.pcap else {
            return Ok(());
        };
        let from_start = |after: Duration| Instant::ZERO + after;
        let filter = CaptureFilter {
            tile: self.pcap_tile,
            station: self.pcap_station.map(AgentId),
            from: self.pcap_from.map(from_start),
            to: self.pcap_to.map(from_start),
        };
        let runner = Runner::new(std::slice::from_ref(world), 1, out);
        let counts = Mutex::new(CaptureCounts::default());
        let stop = AtomicBool::new(false);
        let outcome = pool::run(
            &[seed],
            1,
            &stop,
            |&seed, monitor| {
                let other = |text: String| JobError::Failed(Failure::Other(text));
                let scenario = &world.scenario;
                let input = |error: &dyn std::fmt::Display| {
                    JobError::Failed(Failure::Input(error.to_string()))
                };
                let (map, _) = scenario.read_map().map_err(|error| input(&error))?;
                let reference = MapReference::of(scenario, &map).map_err(|error| input(&error))?;
                let file =
                    Pending::new(path).map_err(|error| JobError::Failed(file_failure(error)))?;
                let named = |problem: &dyn std::fmt::Display| {
                    other(format!("{}: {problem}", path.display()))
                };
                let mut capture = Capture::new(file, reference, scenario.sensing.range_m, filter)
                    .map_err(|error| named(&error))?;
                runner
                    .observe(0, seed, monitor, &mut capture)
                    .map_err(|error| match error {
                        JobError::Stopped => JobError::Stopped,
                        JobError::Failed(RunnerError::Input(text)) => {
                            JobError::Failed(Failure::Input(text))
                        }
                        JobError::Failed(RunnerError::Other(text)) => other(text),
                    })?;
                let (file, written) = capture.finish().map_err(|error| named(&error))?;
                file.commit()
                    .map_err(|error| JobError::Failed(file_failure(error)))?;
                *counts
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner) = written;
                Ok(())
            },
            |_| {},
        );
        if let Some((_, failure)) = outcome.failure {
            return Err(failure);
        }
        let counts = counts
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        options.remark(&format!(
            "{}: {} CAMs, {} CPMs and {} fused states",
            path.display(),
            counts.cams,
            counts.reports,
            counts.fused
        ));
        Ok(())
    }
}
