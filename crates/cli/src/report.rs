//! `covey report`, and the last steps of every run: summary, report, table on the terminal.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use covey_experiment::finish::Finish;
use covey_experiment::folder::Note;
use covey_experiment::report::{Input, SERIES_FILE, SeriesBuilder};
use covey_experiment::store::{Fingerprint, Store};
use covey_experiment::summary::{FILE as SUMMARY_FILE, Summary};
use covey_experiment::world::{World, hash_file};
use covey_experiment::{files, revision, usage};
use covey_simulator::Arms;

use crate::failure::{Failure, print};
use crate::laboratory::{WorkOptions, file_failure, finish_failure, on_top};
use crate::outcome_table;
use crate::terminal::{error_width, fold, output_width};

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
    /// Write it even where somebody changed it, or where figures of it cannot be made again
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments, arms: &Arms) -> Result<(), Failure> {
    if !arguments.folder.join(SUMMARY_FILE).exists() {
        check_finished(&arguments.folder)?;
    }
    let input =
        Input::read(&arguments.folder).map_err(|error| Failure::Input(error.to_string()))?;
    if !arguments.force {
        check_replaceable(&input, &arguments.folder, arms)?;
    }
    write_report(&input, &arguments.folder, arms)?;
    tell(&input.summary, &arguments.folder, arguments.json)
}

const REPORT_FILE: &str = "report.html";

/// Says so where a folder is that of a run which was stopped, or of a sweep.
fn check_finished(folder: &Path) -> Result<(), Failure> {
    let problem = if folder.join("sweep.json").exists() {
        "found the results of a sweep, which has tables (arms.parquet, sweep.json) and no report"
    } else if folder.join("seeds").is_dir() {
        "found a run that is not finished: its seeds are kept, tables and report are not made yet; run the same command again to go on, it \
         makes the report"
    } else {
        return Ok(());
    };
    Err(Failure::input(folder.display(), problem))
}

/// The report that is there is one that a program made, and this one makes all of it again.
fn check_replaceable(input: &Input, folder: &Path, arms: &Arms) -> Result<(), Failure> {
    let path = folder.join(REPORT_FILE);
    let made = Note::read(folder).map(|note| note.report);
    let there = hash_file(&path).ok();
    if let (Some(made), Some(there)) = (made.filter(|made| !made.is_empty()), there)
        && made != there
    {
        return Err(Failure::input(
            path.display(),
            "it was changed since it was made; --force writes it anew",
        ));
    }
    let report = covey_experiment::report::render(input, arms);
    let again = |name: &str| {
        let made = report.figures.iter().map(|(figure, _)| figure);
        made.chain(&report.kept).any(|figure| *figure == name)
    };
    let figures = std::fs::read_dir(folder.join("figures"));
    let mut lost: Vec<String> = figures
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".svg") && !again(name))
        .collect();
    lost.sort();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(Failure::input(
            folder.join("figures").display(),
            format!(
                "{} cannot be made again from what is here; --force writes the others",
                lost.join(", ")
            ),
        )),
    }
}

/// Writes `report.html` and the figures into `folder`.
fn write_report(input: &Input, folder: &Path, arms: &Arms) -> Result<(), Failure> {
    let report = covey_experiment::report::render(input, arms);
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures).map_err(|error| {
        Failure::Other(format!("{}: cannot be made: {error}", figures.display()))
    })?;
    for (name, svg) in &report.figures {
        files::write(&figures.join(name), svg.as_bytes()).map_err(file_failure)?;
    }
    for (name, pdf) in &report.pdfs {
        files::write(&figures.join(name), pdf).map_err(file_failure)?;
    }
    let path = folder.join(REPORT_FILE);
    files::write(&path, report.html.as_bytes()).map_err(file_failure)?;
    if let (Some(mut note), Ok(hash)) = (Note::read(folder), hash_file(&path)) {
        note.report = hash;
        note.write(folder).map_err(file_failure)?;
    }
    Ok(())
}

/// A run of one world that is ready to be put together.
pub(crate) struct Conclusion<'a> {
    pub(crate) world: &'a World,
    pub(crate) seeds: &'a [u64],
    pub(crate) store: &'a Store,
    pub(crate) prints: &'a [Fingerprint],
    pub(crate) out: &'a Path,
    /// The scenario, as it was given.
    pub(crate) source: &'a Path,
    pub(crate) options: &'a WorkOptions,
    /// The summary goes to standard output instead of tables.
    pub(crate) json: bool,
    /// Standard output is somebody else's: tables go to standard error.
    pub(crate) aside: bool,
    /// The arms that the program knows.
    pub(crate) arms: &'a Arms,
}

impl Conclusion<'_> {
    /// Writes tables, summary and report of a run that began at `start`, and tells about it.
    pub(crate) fn write(&self, start: Instant) -> Result<(), Failure> {
        let input = self.make(start)?;
        match self.aside {
            true => {
                let width = error_width();
                self.options
                    .remark(&outcome_table::render(&input.summary, width));
                Ok(())
            }
            false => tell(&input.summary, self.out, self.json),
        }
    }

    /// Writes them, and gives what the report was made from.
    pub(crate) fn make(&self, start: Instant) -> Result<Input, Failure> {
        on_top(self.out, self.source, self.options)?;
        let finish = Finish {
            store: self.store,
            worlds: std::slice::from_ref(self.world),
            prints: self.prints,
            seeds: self.seeds,
            folder: self.out,
            csv: self.options.csv,
            cycles: true,
            revision: revision::REVISION,
            known: self.arms,
        };
        let mut series = SeriesBuilder::new(self.world.scenario.protocol.cycle_s);
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
        files::write(&self.out.join(SUMMARY_FILE), text.as_bytes()).map_err(file_failure)?;
        let input = Input {
            summary,
            series: series.finish(),
            kept: Vec::new(),
        };
        let series = serde_json::to_string(&input.series)
            .map_err(|error| Failure::Other(format!("series: {error}")))?;
        files::write(&self.out.join(SERIES_FILE), series.as_bytes()).map_err(file_failure)?;
        write_report(&input, self.out, self.arms)?;
        Ok(input)
    }
}

fn tell(summary: &Summary, out: &Path, json: bool) -> Result<(), Failure> {
    if json {
        let text = summary
            .to_json()
            .map_err(|error| Failure::Other(format!("summary: {error}")))?;
        return print(&text);
    }
    let width = output_width();
    let mut text = outcome_table::render(summary, width);
    text.push('\n');
    for (name, what) in [
        ("report.html", "the report"),
        (SUMMARY_FILE, "every figure"),
        ("runs.parquet", "a row per arm and seed"),
        ("cycles.parquet", "a row per arm, seed, tile and cycle"),
    ] {
        let path = out.join(name);
        if path.is_file() {
            let line = format!("{}  {what}\n", path.display());
            text.push_str(&fold(&line, width));
        }
    }
    print(&text)
}
