//! `covey run --pcap`: what a run sends, as a capture.

use std::path::{Path, PathBuf};

use clap::Args;
use covey_experiment::outputs::Captures;
use covey_protocol::{AgentId, Duration, Instant, Tile};
use covey_simulator::capture::CaptureFilter;

use crate::failure::Failure;
use crate::laboratory::{WorkOptions, counted};

// Options of the capture.
#[derive(Debug, Default, Args)]
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
    /// A capture holds one arm of one seed, and some of its time: warm-up and measured seconds are `window`.
    pub(crate) fn check(
        &self,
        arms: usize,
        seeds: usize,
        window: (f64, f64),
    ) -> Result<(), Failure> {
        if self.pcap.is_some() && (arms, seeds) != (1, 1) {
            return Err(Failure::input(
                "--pcap",
                format!(
                    "found {} and {}, expected one --arm and one --seed",
                    counted(arms, "arm"),
                    counted(seeds, "seed")
                ),
            ));
        }
        let end = window.0 + window.1;
        if let Some(from) = self.pcap_from
            && from.seconds() >= end
        {
            let problem = format!(
                "found {} s, expected less than {end} s, the end of the run: nothing would be captured",
                from.seconds()
            );
            return Err(Failure::input("--pcap-from", problem));
        }
        if let (Some(from), Some(to)) = (self.pcap_from, self.pcap_to)
            && from >= to
        {
            return Err(Failure::input(
                "--pcap-to",
                format!(
                    "found {} s with --pcap-from {} s, expected a later second: nothing would be captured",
                    to.seconds(),
                    from.seconds()
                ),
            ));
        }
        Ok(())
    }

    /// The capture that was asked for, of results in `out`.
    pub(crate) fn output<'a>(&'a self, out: &'a Path) -> Option<Captures<'a>> {
        let from_start = |after: Duration| Instant::ZERO + after;
        Some(Captures {
            file: self.pcap.as_deref()?,
            folder: out,
            filter: CaptureFilter {
                tile: self.pcap_tile,
                station: self.pcap_station.map(AgentId),
                from: self.pcap_from.map(from_start),
                to: self.pcap_to.map(from_start),
            },
        })
    }
}

/// Says what is in a capture that was written.
pub(crate) fn remark(capture: &Captures<'_>, options: &WorkOptions) {
    if let Some(note) = capture.note() {
        options.remark(&format!(
            "{}: {} CAMs, {} CPMs and {} fused states",
            capture.file.display(),
            note.cams,
            note.reports,
            note.fused
        ));
    }
}
