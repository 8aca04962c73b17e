//! `covey report`, and the last steps of every run: summary, report, table on the terminal.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use covey_experiment::finish::Finish;
use covey_experiment::report::{Input, ReadError, SERIES_FILE, SUMMARY_FILE, SeriesBuilder};
use covey_experiment::summary::Summary;
use covey_experiment::world::World;
use covey_experiment::{files, revision, usage};

use crate::failure::{Failure, print};
use crate::laboratory::{Ready, file_failure, finish_failure};
use crate::outcome_table;

/// Make the report of a finished run again
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  covey report out/letter")]
pub(crate) struct Arguments {
    /// A folder that `covey reproduce` or `covey run` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.folder.join("summary.json");
    let shown = file.display();
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Failure::input(
            shown,
            format!("cannot be read: {error}; expected a folder that `covey reproduce` or `covey run` wrote"),
        )
    })?;
    let summary: Summary = serde_json::from_str(&text)
        .map_err(|error| Failure::input(file.display(), format!("no summary: {error}")))?;
    write_report(&arguments.folder)?;
    tell(&summary, &arguments.folder, arguments.json)
}

/// Makes `report.html` and the figures from the summary and the series in `folder`.
fn write_report(folder: &Path) -> Result<(), Failure> {
    let input = Input::read(folder).map_err(|error| match error {
        ReadError::Read { .. } => Failure::Other(error.to_string()),
        ReadError::Parse { .. } => Failure::Input(error.to_string()),
    })?;
    let report = covey_experiment::report::render(&input);
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures).map_err(|error| {
        Failure::Other(format!("{}: cannot be made: {error}", figures.display()))
    })?;
    for (name, svg) in &report.figures {
        files::write(&figures.join(name), svg.as_bytes()).map_err(file_failure)?;
    }
    files::write(&folder.join("report.html"), report.html.as_bytes()).map_err(file_failure)
}

/// Puts a run of one world together and tells about it.
pub(crate) fn conclude(
    world: &World,
    seeds: &[u64],
    ready: &Ready,
    out: &Path,
    csv: bool,
    start: Instant,
    json: bool,
) -> Result<(), Failure> {
    let finish = Finish {
        store: &ready.store,
        worlds: std::slice::from_ref(world),
        prints: &ready.prints,
        seeds,
        folder: out,
        csv,
        cycles: true,
        revision: revision::REVISION,
    };
    let mut series = SeriesBuilder::new(world.scenario.protocol.cycle_s);
    let mut summary = finish
        .run(&mut |result| {
            for (arm, cycles) in result.arms.iter().zip(&result.cycles) {
                series.add(arm, cycles);
            }
            series.add_timing(result.shared.seed, &result.timing);
        })
        .map_err(finish_failure)?;
    summary.timing.wall_s = start.elapsed().as_secs_f64();
    summary.peak_rss_bytes = usage::peak_rss_bytes();
    let text = summary
        .to_json()
        .map_err(|error| Failure::Other(format!("summary: {error}")))?;
    files::write(&out.join(SUMMARY_FILE), text.as_bytes()).map_err(file_failure)?;
    let series = serde_json::to_string(&series.finish())
        .map_err(|error| Failure::Other(format!("series: {error}")))?;
    files::write(&out.join(SERIES_FILE), series.as_bytes()).map_err(file_failure)?;
    write_report(out)?;
    tell(&summary, out, json)
}

fn tell(summary: &Summary, out: &Path, json: bool) -> Result<(), Failure> {
    if json {
        let text = summary
            .to_json()
            .map_err(|error| Failure::Other(format!("summary: {error}")))?;
        return print(&text);
    }
    let mut text = outcome_table::render(summary);
    text.push('\n');
    for (name, what) in [
        ("report.html", "the report"),
        ("summary.json", "every figure"),
        ("runs.parquet", "a row per arm and seed"),
        ("cycles.parquet", "a row per arm, seed, tile and cycle"),
    ] {
        let path = out.join(name);
        if path.is_file() {
            text.push_str(&format!("{}  {what}\n", path.display()));
        }
    }
    print(&text)
}
