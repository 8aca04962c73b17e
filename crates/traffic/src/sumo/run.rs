//! Runs a user's scenario and keeps its traffic.

use covey_world::Network;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::config::SumoConfig;
use super::discovery::Sumo;
use super::error::SumoError;
use super::process::{Output, Running, Stop};
use super::workspace::Workspace;
use crate::recorded::{FcdOptions, FloatingCarData, VehicleTypes};
use crate::{Recording, STEP_US};

/// How a scenario is run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// SUMO's seed. SUMO takes 31 bits; others are folded into them.
    pub seed: u64,
    /// Where our time 0 lies in SUMO's time, in seconds. Default: where the scenario begins. SUMO simulates what comes
    /// before without being recorded.
    pub begin_s: Option<f64>,
    /// How much of what comes before `begin_s` is simulated, in seconds: traffic alone, to fill the streets. Default: all of it, from
    /// where the scenario begins.
    pub fill_s: Option<f64>,
    /// Everybody departs later by a time drawn from 0 to this, in seconds, so that demand differs from seed to seed. Default 0: as
    /// published. A scenario that says so itself has its own way.
    pub depart_offset_s: f64,
    /// How much is recorded, in seconds. Default 80 (40 of warm-up and 40 of measurement).
    pub duration_s: f64,
    /// SUMO's step, in seconds, in the place of the scenario's own. Default: as published; frames are interpolated.
    pub step_s: Option<f64>,
    /// How many seconds more are simulated and looked at to know what drivers meant to do next. Default 60, about the
    /// longest wait at a light. With 10 s, on a filling corridor, the intentions of 38 % of the vehicles were known 10 s
    /// before the end of the recording.
    pub look_ahead_s: f64,
    /// Persons on foot are recorded. Default true.
    pub persons: bool,
    /// For how long SUMO may give no output before it is ended. Default 600 s: large scenarios take minutes to load.
    pub quiet_limit: Duration,
    /// By which SUMO is ended early. Default: never.
    pub stop: Stop,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            begin_s: None,
            fill_s: None,
            depart_offset_s: 0.0,
            duration_s: 80.0,
            step_s: None,
            look_ahead_s: 60.0,
            persons: true,
            quiet_limit: Duration::from_secs(600),
            stop: Stop::default(),
        }
    }
}

impl RunOptions {
    /// Frames to record, with those of the look-ahead.
    pub(super) fn frames(&self) -> Result<(usize, usize), SumoError> {
        let check = |field, value: f64, most: f64, expected| {
            if value >= 0.0 && value <= most {
                Ok(())
            } else {
                Err(SumoError::Parameter {
                    field,
                    found: value.to_string(),
                    expected,
                })
            }
        };
        check("duration_s", self.duration_s, 604_800.0, "0 to 604800 s")?;
        check("look_ahead_s", self.look_ahead_s, 3600.0, "0 to 3600 s")?;
        if let Some(step) = self.step_s {
            check("step_s", step, 10.0, "more than 0, at most 10 s")?;
            if step < 0.001 {
                check("step_s", -1.0, 10.0, "0.001 to 10 s")?;
            }
        }
        if let Some(begin) = self.begin_s {
            check("begin_s", begin, 1e9, "0 to 1e9 s")?;
        }
        if let Some(fill) = self.fill_s {
            check("fill_s", fill, 1e9, "0 to 1e9 s")?;
        }
        let offset = self.depart_offset_s;
        check("depart_offset_s", offset, 3600.0, "0 to 3600 s")?;
        let frames = |seconds: f64| (seconds * 1e6 / STEP_US as f64).round() as usize;
        Ok((
            frames(self.duration_s),
            frames(self.duration_s + self.look_ahead_s),
        ))
    }

    /// When SUMO begins, and where our time 0 lies, in SUMO's seconds.
    fn times(&self, config: &SumoConfig) -> (f64, f64) {
        let from = |begin: f64| match self.fill_s {
            Some(fill) => (begin - fill).max(config.begin_s),
            None => config.begin_s,
        };
        match self.begin_s {
            Some(begin) => {
                let begin = begin.max(config.begin_s);
                (from(begin), begin)
            }
            None => (config.begin_s, config.begin_s + self.fill_s.unwrap_or(0.0)),
        }
    }

    /// The seed as SUMO takes it.
    pub(super) fn sumo_seed(&self) -> u64 {
        (self.seed ^ (self.seed >> 31) ^ (self.seed >> 62)) & 0x7fff_ffff
    }
}

/// Runs a scenario and records its traffic on `network`, which is the scenario's net.
///
/// # Errors
/// SUMO fails, is quiet for too long, or writes what does not fit the net; a parameter lies outside its range.
pub fn record(
    sumo: &Sumo,
    config: &SumoConfig,
    network: &Network,
    options: &RunOptions,
) -> Result<Recording, SumoError> {
    let (frames, all_frames) = options.frames()?;
    let (from, begin) = options.times(config);
    let step = options.step_s.unwrap_or(config.step_s);
    let space = Workspace::new(config)?;
    let mut command = sumo.command("sumo")?;
    command.current_dir(&space.here);
    for (name, value) in &config.options {
        let ours = match name.as_str() {
            "step-length" => options.step_s.is_some(),
            "begin" | "b" => true,
            _ => false,
        };
        if value.is_empty() || ours {
            continue;
        }
        let dashes = if name.len() == 1 { "-" } else { "--" };
        command
            .arg(format!("{dashes}{name}"))
            .arg(space.value(config, value));
    }
    command.args(["--begin", &format!("{from:.3}")]);
    let own_offset = config
        .options
        .iter()
        .any(|(name, _)| name == "random-depart-offset");
    if options.depart_offset_s > 0.0 && !own_offset {
        let offset = options.depart_offset_s.to_string();
        command.args(["--random-depart-offset", &offset]);
    }
    if let Some(step) = options.step_s {
        command.arg("--step-length").arg(step.to_string());
    }
    // Older versions have no such option; there all is written and read over.
    if begin > from + step && sumo.is_at_least(1, 16) {
        command
            .arg("--device.fcd.begin")
            .arg((begin - step).max(from).to_string());
    }
    let end = begin + options.duration_s + options.look_ahead_s + 2.0 * step;
    common_arguments(&mut command, options, end);
    let fcd = FcdOptions {
        persons: options.persons,
        ..fcd_options(begin, config.types.clone())
    };
    let (mut recording, _) = capture(command, network, fcd, all_frames, options)?;
    recording.derive_next(network);
    recording.truncate(frames);
    recording.origin = format!(
        "SUMO {}, {}, seed {}",
        sumo.version,
        config.file.display(),
        options.seed
    );
    Ok(recording)
}

/// What every recorded run is told.
pub(super) fn common_arguments(command: &mut Command, options: &RunOptions, end: f64) {
    command
        .args(["--fcd-output", "stdout", "--precision", "4"])
        .args(["--xml-validation", "never", "--xml-validation.net", "never"])
        .args(["--no-step-log", "true", "--duration-log.disable", "true"])
        .args(["--end", &format!("{end:.3}")])
        .args(["--seed", &options.sumo_seed().to_string()]);
}

/// Runs `command`, whose output is floating-car data, and takes frames from it; also gives the end of what it said.
pub(super) fn capture(
    command: Command,
    network: &Network,
    fcd: FcdOptions,
    frames: usize,
    options: &RunOptions,
) -> Result<(Recording, String), SumoError> {
    let program = PathBuf::from(command.get_program());
    let mut running = Running::start(command, options.quiet_limit, options.stop.clone())?;
    let timed_out = Arc::new(AtomicBool::new(false));
    let Some(output) = running.take_output() else {
        return Err(running.quiet());
    };
    let stream = Box::new(Watched {
        output,
        timed_out: Arc::clone(&timed_out),
    });
    let captured = FloatingCarData::from_stream("SUMO's output", stream, network, fcd)
        .and_then(|mut source| Recording::capture(&mut source, frames));
    if timed_out.load(Ordering::Relaxed) {
        return Err(running.quiet());
    }
    match captured {
        // All that was wanted: what SUMO would still do does not matter.
        Ok(recording) if recording.steps() >= frames => Ok((recording, running.said())),
        // It ended early: with an error, or because somebody stopped it. A scenario that is over goes on with empty streets.
        Ok(recording) => {
            running.finish()?;
            let seconds = |frames: usize| frames as f64 * STEP_US as f64 / 1e6;
            Err(SumoError::CutShort {
                program,
                found_s: seconds(recording.steps()),
                expected_s: seconds(frames),
                said: running.said(),
            })
        }
        // SUMO's own word comes first: it breaks off its output where it fails.
        Err(error) => {
            if is_truncation(&error) {
                running.finish()?;
            }
            Err(SumoError::Output(error))
        }
    }
}

fn is_truncation(error: &crate::recorded::FcdError) -> bool {
    use crate::recorded::FcdError;
    matches!(
        error,
        FcdError::Truncated { .. } | FcdError::NotFloatingCarData { .. }
    )
}

/// Output that remembers that nothing came for too long.
struct Watched {
    output: Output,
    timed_out: Arc<AtomicBool>,
}

impl BufRead for Watched {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.output.fill_buf() {
            Err(error) => {
                self.timed_out.store(true, Ordering::Relaxed);
                Err(error)
            }
            filled => filled,
        }
    }

    fn consume(&mut self, n: usize) {
        self.output.consume(n);
    }
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

/// How SUMO's output is read: our time 0 at `begin_s`, nobody on foot.
pub(super) fn fcd_options(begin_s: f64, types: VehicleTypes) -> FcdOptions {
    FcdOptions {
        begin_us: Some((begin_s * 1e6).round() as i64),
        types,
        persons: false,
    }
}
