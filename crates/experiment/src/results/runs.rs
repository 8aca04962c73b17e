//! Tables of single worlds: our figures beside the letter's, findings, parts of the load, comparisons.

use covey_simulator::Arms;

use crate::letter;
use crate::names::{CAM_ONLY, CPM_RMR, PROPOSED_08, RIVALS};
use crate::profile;
use crate::report::errors;
use crate::report::figures::benefit;
use crate::report::figures::with_interval;
use crate::report::view::{Interval, View};
use crate::report::{self, Finding, Input, Verdict};
use crate::text_table::TextTable;

/// A finished run and what it is called in tables.
pub(crate) struct Run<'a> {
    /// The name of its folder.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Its constants were fitted to the letter's figures.
    pub(crate) fitted: bool,
    pub(crate) input: Input,
    /// The table of arms.
    pub(crate) known: &'a Arms,
}

impl Run<'_> {
    fn view(&self) -> View<'_> {
        View::new(&self.input.summary, self.known)
    }

    /// What it is called where its figures stand: with what has to be said of them.
    pub(crate) fn head(&self) -> String {
        let label = self.input.summary.label.as_deref();
        match label.or(self.fitted.then_some(profile::LABEL)) {
            Some(label) => format!("{} ({label})", self.title),
            None => self.title.to_string(),
        }
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        report::findings(&self.input, self.known)
    }
}

const NONE: &str = "\u{2013}";

fn percent(value: Option<Interval>) -> String {
    value.map_or_else(
        || NONE.to_string(),
        |value| with_interval(value.scaled(100.0), 2, ""),
    )
}

fn plain(value: Option<Interval>, decimals: usize) -> String {
    value.map_or_else(
        || NONE.to_string(),
        |value| with_interval(value, decimals, ""),
    )
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NONE.to_string(), |value| format!("{value:.decimals$}"))
}

/// What was run: a row per run.
pub(crate) fn setting(runs: &[&Run<'_>]) -> String {
    let mut table = TextTable::new(&[
        "run",
        "#seeds",
        "#warm-up + measured, s",
        "#vehicles (with radio)",
        "#beacons alone",
        "#distance to the letter",
        "sizes",
        "#CPU s",
        "#wall s",
        "revision",
    ]);
    for run in runs {
        let summary = &run.input.summary;
        let beacons = summary.arms.get(CAM_ONLY);
        let whole = |x: f64| number(Some(x), 0);
        table.row([
            run.head(),
            summary.seeds.len().to_string(),
            format!("{} + {}", whole(summary.warmup_s), whole(summary.measure_s)),
            format!(
                "{} ({})",
                number(summary.scenario.vehicles, 0),
                number(summary.scenario.participants, 0)
            ),
            number(beacons.and_then(|arm| arm.beacon_load.mean), 3),
            number(summary.distance_to_letter, 3),
            summary.sizes().name().to_string(),
            whole(summary.timing.cpu_s),
            whole(summary.timing.wall_s),
            summary.revision.clone(),
        ]);
    }
    table.markdown()
}

/// Deficit and load of every arm in every run, beside the letter's.
pub(crate) fn arms(runs: &[&Run<'_>]) -> String {
    let mut head = vec!["arm".to_string(), "#letter: deficit, %".to_string()];
    head.extend(
        runs.iter()
            .map(|run| format!("#{}: deficit, %", run.head())),
    );
    head.push("#letter: load".to_string());
    head.extend(runs.iter().map(|run| format!("#{}: load", run.head())));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&head);
    let views: Vec<View<'_>> = runs.iter().map(|run| run.view()).collect();
    for name in arm_names(&views) {
        let theirs = letter::arm(&name);
        let mut row = vec![
            name.clone(),
            number(theirs.and_then(|f| f.deficit).map(|x| 100.0 * x), 1),
        ];
        row.extend(views.iter().map(|view| percent(view.deficit(&name))));
        row.push(number(theirs.and_then(|f| f.load), 2));
        row.extend(views.iter().map(|view| plain(view.load(&name), 3)));
        table.row(row);
    }
    table.markdown()
}

/// Arms of all runs, in the order of tables.
fn arm_names(views: &[View<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for view in views {
        for arm in &view.arms {
            if !names.iter().any(|name| name == arm.name) {
                names.push(arm.name.to_string());
            }
        }
    }
    names
}

/// Every finding of the letter with its rule and what each run says.
pub(crate) fn finding_table(runs: &[&Run<'_>]) -> String {
    let mut head = vec!["finding of the letter".to_string()];
    head.extend(runs.iter().map(|run| run.head()));
    head.push("rule".to_string());
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&head);
    let all: Vec<_> = runs.iter().map(|run| run.findings()).collect();
    let Some(first) = all.first() else {
        return table.markdown();
    };
    for (i, finding) in first.iter().enumerate() {
        let mut row = vec![finding.claim.to_string()];
        row.extend(all.iter().map(|of_run| {
            of_run
                .get(i)
                .map_or_else(String::new, |one| match one.verdict {
                    Verdict::NotRun => one.verdict.text().to_string(),
                    verdict => format!("**{}**: {}", verdict.text(), one.ours),
                })
        }));
        row.push(finding.rule.to_string());
        table.row(row);
    }
    table.markdown()
}

/// How many findings each run holds.
pub(crate) fn finding_counts(runs: &[&Run<'_>]) -> String {
    let mut table = TextTable::new(&[
        "run",
        "#held",
        "#not held",
        "#undecided",
        "#calibrated",
        "#not run or not meaningful",
    ]);
    for run in runs {
        let all = run.findings();
        let count = |wanted: &[Verdict]| {
            let found = all.iter().filter(|one| wanted.contains(&one.verdict));
            found.count().to_string()
        };
        table.row([
            run.head(),
            count(&[Verdict::Held]),
            count(&[Verdict::NotHeld]),
            count(&[Verdict::Undecided]),
            count(&[Verdict::Calibrated]),
            count(&[Verdict::NotRun, Verdict::NotMeaningful]),
        ]);
    }
    table.markdown()
}

/// What loads are made of, price, contributors and digest of every arm that offers more than beacons.
pub(crate) fn parts(run: &Run<'_>) -> String {
    let mut table = TextTable::new(&[
        "arm",
        "#load",
        "#digests",
        "#reports",
        "#broadcasts",
        "#price",
        "#letter: price",
        "#contributors",
        "#digest, B",
    ]);
    let view = run.view();
    for arm in &view.arms {
        if arm.load.is_none_or(|load| load.mean <= 0.0) {
            continue;
        }
        let hosted = |text: String| {
            if arm.who.is_hosted() {
                text
            } else {
                String::new()
            }
        };
        table.row([
            arm.name.to_string(),
            number(arm.load.map(|load| load.mean), 3),
            hosted(number(arm.all.load_parts.digest, 3)),
            number(arm.all.load_parts.reports, 3),
            hosted(number(arm.all.load_parts.broadcast, 3)),
            hosted(plain(arm.price, 3)),
            letter::price(arm.name).map_or_else(String::new, |price| price.to_string()),
            hosted(number(arm.all.contributors.mean, 1)),
            hosted(plain(arm.digest_bytes, 1)),
        ]);
    }
    table.markdown()
}

/// Paired comparisons at equal allowance, against mitigation, and along the ladder.
pub(crate) fn paired(runs: &[&Run<'_>]) -> String {
    let mut head = vec![
        "arm".to_string(),
        "against".to_string(),
        "letter".to_string(),
    ];
    for run in runs {
        head.push(format!("#{}: points less", run.head()));
        head.push(format!("#{}: % less", run.head()));
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&head);
    let views: Vec<View<'_>> = runs.iter().map(|run| run.view()).collect();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in runs.iter().flat_map(|run| &run.input.summary.paired) {
        let names = (pair.better.clone(), pair.worse.clone());
        if !pairs.contains(&names) {
            pairs.push(names);
        }
    }
    let zero = |value: Interval| {
        if value.includes_zero() {
            ", zero inside"
        } else {
            ""
        }
    };
    for (better, worse) in pairs {
        let said = letter::paired(&better, &worse).map_or_else(
            || NONE.to_string(),
            |said| match (said.points, said.relative) {
                (Some([mean, lo, hi]), _) => format!("{mean} points [{lo}, {hi}]"),
                (None, Some(relative)) => format!("{:.0} %", 100.0 * relative),
                (None, None) => NONE.to_string(),
            },
        );
        let mut row = vec![better.clone(), worse.clone(), said];
        for view in &views {
            let pair = view.pair(&better, &worse);
            let shown = |value: Option<Interval>, decimals: usize| {
                value.map_or_else(
                    || NONE.to_string(),
                    |value| format!("{}{}", with_interval(value, decimals, ""), zero(value)),
                )
            };
            row.push(shown(pair.and_then(|p| p.points), 2));
            row.push(shown(
                pair.and_then(|p| p.relative).map(|r| r.scaled(100.0)),
                1,
            ));
        }
        table.row(row);
    }
    table.markdown()
}

/// The proposal against both random admissions at equal load.
pub(crate) fn equal_load(runs: &[&Run<'_>]) -> String {
    let mut table = TextTable::new(&["run", "against", "#load", "#misses avoided, %", "zero"]);
    for run in runs {
        let view = run.view();
        for rival in RIVALS {
            let curve = benefit::equal_load(&view, rival);
            if curve.points.is_empty() {
                table.row([
                    run.head(),
                    rival.to_string(),
                    NONE.to_string(),
                    "no load that both reach".to_string(),
                    String::new(),
                ]);
            }
            for (load, value) in curve.points.iter().step_by(3) {
                table.row([
                    run.head(),
                    rival.to_string(),
                    format!("{load:.3}"),
                    with_interval(*value, 1, ""),
                    if value.includes_zero() {
                        "inside"
                    } else {
                        "outside"
                    }
                    .to_string(),
                ]);
            }
        }
    }
    table.markdown()
}

/// Secondary metrics of every arm of one run.
pub(crate) fn secondary(run: &Run<'_>) -> String {
    let view = run.view();
    let path = view.arms.iter().any(|arm| arm.all.path_coverage.is_some());
    let mut head = vec![
        "arm",
        "#deficit of all vehicles, %",
        "#known within 150 m, %",
        "#age, s",
        "#times received per s",
    ];
    if path {
        head.push("#own path seen, %");
    }
    let mut table = TextTable::new(&head);
    for arm in &view.arms {
        let all = arm.all;
        let mut row = vec![
            arm.name.to_string(),
            number(all.deficit_all.mean.map(|x| 100.0 * x), 2),
            number(all.awareness.map(|x| 100.0 * x), 1),
            number(all.age_s.mean, 3),
            number(all.redundancy.mean, 2),
        ];
        if path {
            row.push(number(all.path_coverage.map(|x| 100.0 * x), 1));
        }
        table.row(row);
    }
    table.markdown()
}

/// Whether the score foretells the benefit: rank correlations.
pub(crate) fn score(run: &Run<'_>) -> Option<String> {
    let mut table = TextTable::new(&[
        "arm",
        "#contributors",
        "#rank correlation",
        "#misses cured: lowest scores",
        "#highest scores",
    ]);
    let cured = &run.input.series.cured;
    let mut any = false;
    for arm in cured.iter().filter(|arm| !arm.bins.is_empty()) {
        any = true;
        let bin = |bin: Option<&crate::report::CuredBin>| {
            bin.map_or_else(
                || NONE.to_string(),
                |bin| {
                    format!(
                        "{:.3} [{:.3}, {:.3}]",
                        bin.cured, bin.cured_lo, bin.cured_hi
                    )
                },
            )
        };
        table.row([
            arm.arm.clone(),
            arm.admissions.to_string(),
            plain(
                arm.rank_correlation
                    .map(|[mean, lo, hi]| Interval { mean, lo, hi }),
                3,
            ),
            bin(arm.bins.first()),
            bin(arm.bins.last()),
        ]);
    }
    any.then(|| table.markdown())
}

/// Spreads between seeds and windows, and what differences the seeds can show.
pub(crate) fn power(run: &Run<'_>) -> String {
    let summary = &run.input.summary;
    format!(
        "{}\n\n{}\n{}",
        errors::explanation(),
        errors::comparisons(summary).markdown(),
        errors::spreads(summary).markdown()
    )
}

/// A sentence on where the proposal stands against both randoms, for captions.
pub(crate) fn caption(run: &Run<'_>) -> String {
    let view = run.view();
    let seeds = run.input.summary.seeds.len();
    let shown = |name: &str| match (view.deficit(name), view.load(name)) {
        (Some(deficit), Some(load)) => format!(
            "{name} {:.1} % at load {:.2}",
            100.0 * deficit.mean,
            load.mean
        ),
        _ => format!("{name} not run"),
    };
    let caveat = view
        .caveat()
        .map_or_else(String::new, |caveat| format!(" **{caveat}**"));
    format!(
        "Deficit over cooperative load, {} traffic, {seeds} paired seeds, 95 % intervals: {}; {}; {}.{caveat} CAM-only is calibrated to the \
         letter's 5.8 %, and readings 6, 10 and 15 were chosen in a prototype with the letter's results in view \
         ([readings](docs/readings.md)).",
        run.input.summary.traffic,
        shown(CAM_ONLY),
        shown(CPM_RMR),
        shown(PROPOSED_08)
    )
}
