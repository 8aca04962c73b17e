//! `covey sweep`: many worlds after a plan.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use covey_experiment::finish::Finish;
use covey_experiment::plan::{self, Plan};
use covey_experiment::runner::Runner;
use covey_experiment::slurm::{self, Script};
use covey_experiment::summary::Summary;
use covey_experiment::world::World;
use covey_experiment::{bundled, cost, files, refit, revision, seeds};
use covey_simulator::Arms;

use crate::failure::{Failure, print};
use crate::laboratory::{
    Bench, Ready, WorkOptions, counted, enter, file_failure, finish_failure, fit_margins,
    folder_name, on_top, plan_failure, runner_failure,
};
use crate::program::Program;
use crate::progress::for_people;
use crate::terminal::output_width;
use crate::terminal_table::Table;

/// Run many worlds, arms and seeds after a plan, here or as a Slurm job array
///
/// A plan lists values of any key of the scenario file; every combination is a world. Arms share their world, so work is split by
/// world and seed. Finished runs are kept: run again, it goes on where it stopped, on one machine or on many with a common folder.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:\n  \
    covey sweep examples/density-penetration.toml\n  \
    covey sweep examples/readings.toml --shard 3/10\n  \
    covey sweep examples/readings.toml --emit-slurm > readings.sh")]
pub(crate) struct Arguments {
    /// The plan: worlds, arms and seeds
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: PathBuf,
    /// Only every N-th run, beginning with the I-th; no tables. In a Slurm job array: taken from SLURM_ARRAY_TASK_ID
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Print a script that submits the plan as a Slurm job array, and run nothing
    #[arg(long)]
    pub(crate) emit_slurm: bool,
    /// Tasks of the job array; default one per run, at most 1000
    #[arg(long, value_name = "N", requires = "emit_slurm")]
    pub(crate) tasks: Option<usize>,
    /// Say what would be run and what it would cost, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Where results go; default out/ and the plan's name
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

pub(crate) fn run(arguments: &Arguments, program: &Program) -> Result<(), Failure> {
    let start = Instant::now();
    let plan = Plan::read(&arguments.plan, &program.arms).map_err(plan_failure)?;
    let workers = arguments.work.workers()?;
    let shard = match &arguments.shard {
        Some(text) => {
            Some(plan::parse_shard(text).map_err(|problem| Failure::input("--shard", problem))?)
        }
        None => slurm::shard_from(|name| std::env::var(name).ok()),
    };
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| folder_name(&plan.name));
    let base = plan
        .scenario
        .base(|| bundled::unpack(&out.join("scenario")).map_err(file_failure))?;
    let mut worlds = plan.worlds(&base).map_err(plan_failure)?;
    // A shard is a part of a plan that was looked at before; those who want silence do not ask what it costs.
    let wanted = arguments.emit_slurm || (shard.is_none() && !arguments.work.quiet);
    let cost = if wanted { estimate(&worlds)? } else { None };
    let total = cost.map(|per_world| per_world.iter().sum::<f64>() * plan.seeds.len() as f64);
    if arguments.emit_slurm {
        let runs = worlds.len() * plan.seeds.len();
        return emit_slurm(arguments, &plan, &out, runs, total);
    }
    announce(arguments, &plan, &worlds, workers, total);
    if arguments.dry_run {
        return print(&worlds_table(&worlds));
    }
    let ready = compute(arguments, &plan, &mut worlds, &out, shard)?;
    if let Some((number, count)) = shard {
        return print(&program.named(&format!(
            "shard {number} of {count}: {} computed, {} were there; `covey sweep {}` without --shard makes the tables\n",
            counted(ready.computed, "run"),
            ready.kept,
            arguments.plan.display()
        )));
    }
    let summaries = conclude(arguments, &plan, &worlds, &out, &ready, &program.arms)?;
    arguments.work.remark(&format!(
        "{} computed, {} were there, {}",
        counted(ready.computed, "run"),
        ready.kept,
        for_people(start.elapsed())
    ));
    print(&format!(
        "{}\n{}",
        outcome(&worlds, &summaries),
        paths(&out, plan.cycles)
    ))
}

/// Fits margins where the plan asks for that, and computes what is missing.
pub(crate) fn compute(
    arguments: &Arguments,
    plan: &Plan,
    worlds: &mut [World],
    out: &Path,
    shard: Option<(usize, usize)>,
) -> Result<Ready, Failure> {
    let workers = arguments.work.workers()?;
    // Checked before anything is written; margins do not change what was checked.
    bench(arguments, plan, worlds, out, shard).runner()?;
    let entered = enter(out, shard, &arguments.work)?;
    fit_margins(worlds, &plan.seeds, shard, out, &arguments.work, &entered)?;
    let runner = Runner::new(worlds, workers, out);
    bench(arguments, plan, worlds, out, shard).compute_within(&runner, entered, None)
}

/// Writes the tables of all worlds, and gives the summary of each.
pub(crate) fn conclude(
    arguments: &Arguments,
    plan: &Plan,
    worlds: &[World],
    out: &Path,
    ready: &Ready,
    known: &Arms,
) -> Result<Vec<Summary>, Failure> {
    on_top(out, &arguments.plan, &arguments.work)?;
    let finish = Finish {
        store: &ready.store,
        worlds,
        prints: &ready.prints,
        seeds: &plan.seeds,
        folder: out,
        csv: arguments.work.csv,
        cycles: plan.cycles,
        revision: revision::REVISION,
        known,
    };
    finish.sweep(&plan.name).map_err(finish_failure)
}

fn bench<'a>(
    arguments: &'a Arguments,
    plan: &'a Plan,
    worlds: &'a [World],
    out: &'a Path,
    shard: Option<(usize, usize)>,
) -> Bench<'a> {
    Bench {
        worlds,
        seeds: &plan.seeds,
        out,
        cycles: plan.cycles,
        options: &arguments.work,
        record: &[],
        watched: None,
        outputs: &[],
        shard,
    }
}

/// Says what will be run, and what it will cost where that is known: CPU seconds of all runs.
fn announce(
    arguments: &Arguments,
    plan: &Plan,
    worlds: &[World],
    workers: usize,
    total: Option<f64>,
) {
    arguments.work.remark(&format!(
        "{}: {} x {} = {} of {}{}",
        plan.name,
        counted(worlds.len(), "world"),
        counted(plan.seeds.len(), "seed"),
        counted(worlds.len() * plan.seeds.len(), "run"),
        counted(plan.arms.len(), "arm"),
        total.map_or(String::new(), |seconds| format!(
            "; about {} of CPU time by a short trial here, {} with {workers} workers",
            for_people(Duration::from_secs_f64(seconds)),
            for_people(Duration::from_secs_f64(seconds / workers as f64))
        ))
    ));
    let (fits, seeds) = refit::needed(worlds, arguments.work.program());
    if fits > 0 {
        arguments.work.remark(&format!(
            "d_min is fitted before: {fits} fits x {seeds} seeds ({}) of cam-only alone, which that does not count; fits that are kept are not repeated",
            seeds::told(&plan.refit_margin)
        ));
    }
}

fn paths(out: &Path, cycles: bool) -> String {
    let mut text = String::new();
    for (name, what) in [
        ("arms.parquet", "estimates with intervals by world and arm"),
        ("paired.parquet", "comparisons of arms by world"),
        ("runs.parquet", "a row per world, arm and seed"),
        ("sweep.json", "what was run"),
    ] {
        text.push_str(&format!("{}  {what}\n", out.join(name).display()));
    }
    if cycles {
        let path = out.join("cycles.parquet");
        text.push_str(&format!("{}  a row per cycle\n", path.display()));
    }
    text
}

/// CPU seconds of a run of each world, from a short run on this machine.
fn estimate(worlds: &[World]) -> Result<Option<Vec<f64>>, Failure> {
    cost::estimate(worlds).map_err(runner_failure)
}

fn emit_slurm(
    arguments: &Arguments,
    plan: &Plan,
    out: &Path,
    runs: usize,
    total: Option<f64>,
) -> Result<(), Failure> {
    let tasks = match arguments.tasks {
        Some(0) => return Err(Failure::input("--tasks", "found 0, expected at least 1")),
        Some(tasks) => tasks.min(runs),
        None => runs.min(slurm::MOST_TASKS),
    };
    let absolute = |path: &Path| {
        std::path::absolute(path)
            .map_err(|error| Failure::Other(format!("{}: {error}", path.display())))
    };
    files::make_folder(out).map_err(file_failure)?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::Other(format!("this program's own path: {error}")))?;
    let mut more = Vec::new();
    if arguments.work.csv {
        more.push("--csv".to_string());
    }
    print(&slurm::script(&Script {
        name: &plan.name,
        program: &program,
        plan: &absolute(&arguments.plan)?,
        out: &absolute(out)?,
        runs,
        tasks,
        // A task fits the worlds of its runs itself, unless another has done so: two thirds of a run for each of its seeds.
        seconds_per_run: total
            .map(|seconds| seconds / runs as f64 * (1.0 + 0.7 * plan.refit_margin.len() as f64)),
        more: &more,
    }))
}

fn worlds_table(worlds: &[World]) -> String {
    let mut table = Table::new(1, &["world", ""]);
    for (number, world) in worlds.iter().enumerate() {
        let label = match world.label() {
            label if label.is_empty() => "as the scenario says".to_string(),
            label => label,
        };
        table.row(vec![(number + 1).to_string(), label]);
    }
    table.fit(output_width())
}

/// Every world's distance to the letter and fitted margin, where there are any.
fn distances(worlds: &[World], summaries: &[Summary]) -> Option<String> {
    let any = |summary: &Summary| summary.distance_to_letter.is_some();
    if !summaries.iter().any(any) && !worlds.iter().any(|world| world.fit.is_some()) {
        return None;
    }
    let mut table = Table::new(
        1,
        &[
            "world",
            "d_min, m",
            "cam-only % in the fit",
            "distance to the letter",
            "",
        ],
    );
    for (world, summary) in worlds.iter().zip(summaries) {
        let fit = world.fit;
        let shown = |x: Option<f64>, places: usize| {
            x.map_or_else(|| "-".to_string(), |x| format!("{x:.places$}"))
        };
        table.row(vec![
            world.label(),
            shown(Some(world.scenario.evaluation.margin_m), 2),
            shown(fit.map(|fit| 100.0 * fit.cam_only_deficit), 2),
            shown(summary.distance_to_letter, 3),
        ]);
    }
    Some(table.fit(output_width()))
}

/// Deficit and load of every arm in every world.
pub(crate) fn outcome(worlds: &[World], summaries: &[Summary]) -> String {
    let mut text = String::new();
    for (world, summary) in worlds.iter().zip(summaries) {
        let mut table = Table::new(1, &["arm", "deficit %", "95 %", "load", "95 %", ""]);
        for (name, arm) in &summary.arms.0 {
            let number = |x: Option<f64>, scale: f64, places: usize| {
                x.map_or("-".to_string(), |x| format!("{:.places$}", x * scale))
            };
            table.row(vec![
                name.clone(),
                number(arm.deficit.mean, 100.0, 2),
                format!(
                    "[{}, {}]",
                    number(arm.deficit.lo, 100.0, 2),
                    number(arm.deficit.hi, 100.0, 2)
                ),
                number(arm.load.mean, 1.0, 3),
                format!(
                    "[{}, {}]",
                    number(arm.load.lo, 1.0, 3),
                    number(arm.load.hi, 1.0, 3)
                ),
            ]);
        }
        text.push_str(&format!(
            "{}\n{}\n",
            world.label(),
            table.fit(output_width())
        ));
    }
    if let Some(table) = distances(worlds, summaries) {
        text.push_str(&format!("{table}\n"));
    }
    if let Some(remark) = summaries.first().and_then(|s| s.intervals.remark.as_ref()) {
        text.push_str(&format!("Note: {remark}.\n"));
    }
    text
}
