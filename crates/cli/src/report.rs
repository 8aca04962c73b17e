//! `covey report`, and the last steps of every run: summary, report, table on the terminal.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use covey_experiment::finish::Finish;
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
    tell(&summary, &arguments.folder, arguments.json)
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
    let mut summary = finish.run(&mut |_| {}).map_err(finish_failure)?;
    summary.timing.wall_s = start.elapsed().as_secs_f64();
    summary.peak_rss_bytes = usage::peak_rss_bytes();
    let text = summary
        .to_json()
        .map_err(|error| Failure::Other(format!("summary: {error}")))?;
    files::write(&out.join("summary.json"), text.as_bytes()).map_err(file_failure)?;
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
