//! What a finished run tells on the terminal: our figures beside the letter's.

use covey_experiment::letter;
use covey_experiment::summary::{Difference, Interval, Summary};

use crate::laboratory::counted;
use crate::terminal::fold;
use crate::terminal_table::Table;

/// The tables, each with a head of its own.
pub(crate) fn render(summary: &Summary, width: Option<usize>) -> String {
    let mut text = String::new();
    let scenario = &summary.scenario;
    let whole = |x: Option<f64>| x.map_or("no".to_string(), |x| format!("{x:.0}"));
    text.push_str(&format!(
        "{}: {}, {} s measured after {} s, {} traffic, {} vehicles, {} with a radio\n",
        scenario.name,
        counted(summary.seeds.len(), "seed"),
        summary.measure_s,
        summary.warmup_s,
        summary.traffic,
        whole(scenario.vehicles),
        whole(scenario.participants),
    ));
    let classes = &scenario.classes.0;
    if classes
        .iter()
        .any(|(name, _)| name != "car" && name != "heavy")
    {
        let told: Vec<String> = classes
            .iter()
            .map(|(name, count)| format!("{name} {:.0} ({:.0})", count.present, count.participants))
            .collect();
        text.push_str(&format!(
            "on the road by class (with a radio): {}\n",
            told.join(", ")
        ));
    }
    text.push('\n');
    let warning = summary.warning();
    if let Some(warning) = &warning {
        text.push_str(&format!("{warning}\n\n"));
    }
    text.push_str(&arms(summary, width));
    if !summary.paired.is_empty() {
        text.push('\n');
        text.push_str(&paired(summary, width));
    }
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}\n"));
    }
    if let Some(remark) = summary.outdated() {
        text.push_str(&format!("\nNote: {remark}.\n"));
    }
    if let Some(remark) = &summary.intervals.remark {
        text.push_str(&format!("\nNote: {remark}.\n"));
    }
    fold(&text, width)
}

/// The table of arms, with what the letter has.
pub(crate) fn arms(summary: &Summary, width: Option<usize>) -> String {
    let head = [
        "arm",
        "deficit %",
        "95 %",
        LETTER,
        "load",
        "95 %",
        LETTER,
        "price",
        LETTER,
        "members",
        "digest B",
    ];
    let mut table = Columns::new(1, &head, summary);
    for (name, arm) in &summary.arms.0 {
        let figures = letter::arm(name);
        let hosted = arm.digest_bytes.mean != Some(0.0);
        let if_hosted = |x: Option<f64>, places: usize| match hosted {
            true => number(x, places),
            false => String::new(),
        };
        table.row(vec![
            name.clone(),
            number(arm.deficit.mean.map(|x| x * 100.0), 2),
            interval(&arm.deficit, 100.0, 2),
            known(figures.and_then(|f| f.deficit).map(|x| x * 100.0), 1),
            number(arm.load.mean, 3),
            interval(&arm.load, 1.0, 3),
            known(figures.and_then(|f| f.load), 2),
            if_hosted(arm.price.mean, 3),
            letter::price(name).map_or(String::new(), |x| format!("{x}")),
            if_hosted(arm.contributors.mean, 1),
            if_hosted(arm.digest_bytes.mean, 1),
        ]);
    }
    let beacons = summary
        .arms
        .0
        .first()
        .and_then(|(_, arm)| arm.beacon_load.mean);
    let distance = summary.distance_to_letter.map_or_else(String::new, |x| {
        format!(
            "distance to the letter's figures: {x:.3} (root mean square of ln(ours / theirs))\n"
        )
    });
    let theirs = match is_the_letters(summary) {
        true => format!(
            " (letter {}); digest in the letter: {} B, {} of capacity",
            letter::BEACON_LOAD,
            letter::DIGEST_BYTES,
            letter::DIGEST_LOAD
        ),
        false => String::new(),
    };
    format!(
        "{}beacons alone: {} of capacity{theirs}\n{distance}",
        table.table.fit(width),
        number(beacons, 3)
    )
}

/// The head of a column with the letter's figures.
const LETTER: &str = "letter";

/// There are figures of the letter to stand beside ours.
fn is_the_letters(summary: &Summary) -> bool {
    !summary.letter.0.is_empty()
}

/// A table whose columns of the letter's are there for the letter's scenario alone.
struct Columns {
    table: Table,
    kept: Vec<bool>,
}

impl Columns {
    fn new(names: usize, head: &[&str], summary: &Summary) -> Self {
        let letters = is_the_letters(summary);
        let kept: Vec<bool> = head.iter().map(|name| letters || *name != LETTER).collect();
        let heads: Vec<&str> = head
            .iter()
            .zip(&kept)
            .filter_map(|(name, kept)| kept.then_some(*name))
            .collect();
        Self {
            table: Table::new(names, &heads),
            kept,
        }
    }

    fn row(&mut self, row: Vec<String>) {
        let row = row.into_iter().zip(&self.kept);
        let row = row
            .filter_map(|(cell, kept)| kept.then_some(cell))
            .collect();
        self.table.row(row);
    }
}

fn paired(summary: &Summary, width: Option<usize>) -> String {
    let head = [
        "arm",
        "against",
        "",
        "points less",
        "95 %",
        LETTER,
        "% less",
        "95 %",
        LETTER,
        "",
    ];
    let mut table = Columns::new(3, &head, summary);
    for pair in &summary.paired {
        let said = letter::paired(&pair.better, &pair.worse);
        let (points, relative) = (&pair.deficit_reduction_pp, &pair.deficit_reduction_rel);
        let remark = match points.includes_zero {
            Some(true) => "interval includes 0",
            _ => "",
        };
        table.row(vec![
            pair.better.clone(),
            pair.worse.clone(),
            String::new(),
            number(points.mean, 2),
            range(points, 1.0, 2),
            said.and_then(|s| s.points)
                .map_or(String::new(), |[mean, lo, hi]| {
                    format!("{mean:.2} [{lo:.2}, {hi:.2}]")
                }),
            number(relative.mean.map(|x| x * 100.0), 0),
            range(relative, 100.0, 0),
            known(said.and_then(|s| s.relative).map(|x| x * 100.0), 0),
            remark.to_string(),
        ]);
    }
    format!("Deficit, seed by seed:\n{}", table.table.fit(width))
}

/// A figure; what has nothing to count is a dash.
fn number(x: Option<f64>, places: usize) -> String {
    x.map_or("-".to_string(), |x| format!("{x:.places$}"))
}

/// A figure of the letter; nothing where it gives none.
fn known(x: Option<f64>, places: usize) -> String {
    x.map_or(String::new(), |x| format!("{x:.places$}"))
}

fn ends(lo: Option<f64>, hi: Option<f64>, scale: f64, places: usize) -> String {
    match (lo, hi) {
        (Some(lo), Some(hi)) => format!("[{:.places$}, {:.places$}]", lo * scale, hi * scale),
        _ => String::new(),
    }
}

fn interval(x: &Interval, scale: f64, places: usize) -> String {
    ends(x.lo, x.hi, scale, places)
}

fn range(x: &Difference, scale: f64, places: usize) -> String {
    ends(x.lo, x.hi, scale, places)
}
