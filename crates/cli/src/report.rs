//! `covey report`, and the last steps of every run: summary, report, table on the terminal.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use covey_experiment::finish::Finish;
use covey_experiment::report::{Input, SERIES_FILE, SUMMARY_FILE, SeriesBuilder, render};
use covey_experiment::store::SeedResult;
use covey_experiment::summary::Summary;
use covey_experiment::world::World;
use covey_experiment::{files, revision, usage};

use crate::failure::{Failure, print};
use crate::laboratory::{Ready, file_failure, finish_failure};
use crate::outcome_table;

/// Make the report of a finished run again
///
/// Reads summary.json and report.json of the folder and writes report.html and figures/.
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
    let folder = &arguments.folder;
    let input = Input::read(folder).map_err(|error| Failure::Input(error.to_string()))?;
    let file = folder.join(SUMMARY_FILE);
    let summary: Summary = serde_json::from_value(input.summary.clone())
        .map_err(|error| Failure::input(file.display(), format!("no summary: {error}")))?;
    write_report(&input, folder)?;
    tell(&summary, folder, arguments.json)
}

/// Writes the page and its figures.
fn write_report(input: &Input, out: &Path) -> Result<(), Failure> {
    let report = render(input);
    let figures = out.join("figures");
    files::make_folder(&figures).map_err(file_failure)?;
    for (name, content) in &report.figures {
        files::write(&figures.join(name), content.as_bytes()).map_err(file_failure)?;
    }
    files::write(&out.join("report.html"), report.html.as_bytes()).map_err(file_failure)
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
    let mut gather = |result: &SeedResult| {
        for (outcome, cycles) in result.arms.iter().zip(&result.cycles) {
            series.add(outcome, cycles);
        }
        series.add_timing(result.seed, &result.timing);
    };
    let mut summary = finish.run(&mut gather).map_err(finish_failure)?;
    summary.timing.wall_s = start.elapsed().as_secs_f64();
    summary.peak_rss_bytes = usage::peak_rss_bytes();
    let text = summary.to_json().map_err(json_failure)?;
    files::write(&out.join(SUMMARY_FILE), text.as_bytes()).map_err(file_failure)?;
    let series = series.finish();
    let text = serde_json::to_string(&series).map_err(json_failure)?;
    files::write(&out.join(SERIES_FILE), text.as_bytes()).map_err(file_failure)?;
    let summary_value = serde_json::to_value(&summary).map_err(json_failure)?;
    let input = Input {
        summary: summary_value,
        series,
    };
    write_report(&input, out)?;
    tell(&summary, out, json)
}

fn json_failure(error: serde_json::Error) -> Failure {
    Failure::Other(format!("summary: {error}"))
}

fn tell(summary: &Summary, out: &Path, json: bool) -> Result<(), Failure> {
    if json {
        return print(&summary.to_json().map_err(json_failure)?);
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
