//! Arms on the channel slot by slot, in several resource pools, beside the channel by load.

use std::io;
use std::path::Path;

use crate::field::DELIVERY_RANGES;
use crate::names::{DEMAND, ORACLE, strategy_of};
use crate::plan::{BASELINE, VARIANT};
use crate::report::figures::with_interval;
use crate::report::{Finding, Verdict};
use crate::stats::{self, Estimate, FEWEST_SEEDS, Share};
use crate::summary::{Difference, PairedSummary};
use crate::tables::typed::{self, Cell};
use crate::text_table::TextTable;

const NONE: &str = "\u{2013}";

/// A mean with its weight.
#[derive(Debug, Clone, Copy, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
}

impl Weighted {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.sum += value * weight;
            self.weight += weight;
        }
    }

    fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Means of a run, by column.
#[derive(Debug, Clone, Copy)]
enum Quantity {
    Load,
    Resources,
    Busy,
    Occupancy,
    Latency,
}

const MEANS: [&str; 5] = [
    "load",
    "load_resources",
    "cbr",
    "channel_occupancy",
    "latency_s",
];

/// An arm in a world, pooled over its seeds.
#[derive(Debug, Clone, Default)]
struct ArmRuns {
    name: String,
    /// Missed and relevant, by seed.
    deficits: Vec<Share>,
    means: [Weighted; MEANS.len()],
    /// Pairs in range and delivered, by distance.
    delivery: [[f64; 2]; DELIVERY_RANGES.len()],
}

impl ArmRuns {
    fn deficit(&self) -> Option<Estimate> {
        stats::pooled(&self.deficits)
    }

    fn mean(&self, quantity: Quantity) -> Option<f64> {
        self.means[quantity as usize].value()
    }
}

/// A world: what it is called, its arms in the order of the table, and what its summary says.
#[derive(Debug, Clone, Default)]
pub(crate) struct SidelinkWorld {
    title: String,
    encoded: bool,
    arms: Vec<ArmRuns>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) paired: Vec<PairedSummary>,
}

impl SidelinkWorld {
    fn arm(&self, name: &str) -> Option<&ArmRuns> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// The place of an arm among all that could be sent: 1 misses least.
    fn rank(&self, name: &str) -> Option<usize> {
        let deficit = |arm: &ArmRuns| Some(arm.deficit()?.mean);
        let of = deficit(self.arm(name)?)?;
        let others = self.arms.iter().filter(|arm| arm.name != ORACLE);
        (name != ORACLE).then(|| 1 + others.filter(|arm| deficit(arm) < Some(of)).count())
    }

    fn is_by_slots(&self) -> bool {
        let busy = |arm: &ArmRuns| arm.mean(Quantity::Busy).is_some();
        self.arms.iter().any(busy)
    }
}

/// Reads the runs of a sweep over pools.
pub(crate) fn read(folder: &Path, encoded: bool) -> io::Result<Vec<SidelinkWorld>> {
    let mut columns: Vec<String> = [VARIANT, "arm", "relevant", "missed", "participant_cycles"]
        .map(str::to_string)
        .to_vec();
    columns.extend(MEANS.map(str::to_string));
    for range in DELIVERY_RANGES {
        columns.extend(["pairs", "delivered"].map(|what| range.column(what)));
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut worlds: Vec<SidelinkWorld> = Vec::new();
    typed::read(&folder.join("runs.parquet"), &columns, |row| {
        let (Some(variant), Some(name)) = (row[0].text(), row[1].text()) else {
            return;
        };
        let title = match (variant, encoded) {
            (BASELINE, false) => "by load".to_string(),
            (BASELINE, true) => "by load, encoded sizes".to_string(),
            (pool, false) => pool.to_string(),
            (pool, true) => format!("{pool}, encoded sizes"),
        };
        let at = worlds.iter().position(|world| world.title == title);
        let at = at.unwrap_or_else(|| {
            worlds.push(SidelinkWorld {
                title,
                encoded,
                ..SidelinkWorld::default()
            });
            worlds.len() - 1
        });
        let arms = &mut worlds[at].arms;
        let at = arms.iter().position(|arm| arm.name == name);
        let at = at.unwrap_or_else(|| {
            arms.push(ArmRuns {
                name: name.to_string(),
                ..ArmRuns::default()
            });
            arms.len() - 1
        });
        arms[at].add(&row[2..]);
    })?;
    Ok(worlds)
}

impl ArmRuns {
    /// Adds a seed, from its cells after the names.
    fn add(&mut self, row: &[Cell]) {
        let value = |at: usize| row[at].number();
        let count = |at: usize| value(at).unwrap_or(0.0);
        self.deficits.push(Share {
            part: count(1),
            whole: count(0),
        });
        let (weight, means) = (count(2), 3);
        for (at, mean) in self.means.iter_mut().enumerate() {
            mean.add(value(means + at), weight);
        }
        let delivery = means + MEANS.len();
        for (at, sum) in self.delivery.as_flattened_mut().iter_mut().enumerate() {
            *sum += count(delivery + at);
        }
    }
}

/// All parts of documents that these worlds make.
pub(crate) fn parts(worlds: &[SidelinkWorld]) -> Vec<(String, String)> {
    let parts = [
        ("sidelink", deficits(worlds)),
        ("sidelink-channel", channel(worlds)),
        ("sidelink-delivery", delivery(worlds)),
        ("sidelink-findings", findings(worlds)),
        ("sidelink-demand", demand(worlds)),
    ];
    parts.map(|(name, text)| (name.to_string(), text)).to_vec()
}

fn names(worlds: &[SidelinkWorld]) -> impl Iterator<Item = &str> {
    let first = worlds.first().map_or(&[][..], |world| &world.arms);
    first.iter().map(|arm| arm.name.as_str())
}

fn shown(value: Option<f64>, scale: f64, decimals: usize) -> String {
    value.map_or_else(
        || NONE.to_string(),
        |value| format!("{:.decimals$}", scale * value),
    )
}

fn table_of(head: &[String]) -> TextTable {
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    TextTable::new(&head)
}

/// What every arm misses in every world, and its place.
fn deficits(worlds: &[SidelinkWorld]) -> String {
    let mut head = vec!["arm".to_string()];
    head.extend(
        worlds
            .iter()
            .map(|world| format!("#{}: deficit, % (place)", world.title)),
    );
    let mut table = table_of(&head);
    for name in names(worlds) {
        let mut row = vec![name.to_string()];
        row.extend(worlds.iter().map(|world| {
            let runs = world.arm(name);
            let Some(deficit) = runs.and_then(ArmRuns::deficit) else {
                return NONE.to_string();
            };
            let seeds = runs.map_or(0, |runs| runs.deficits.len());
            let deficit = deficit.scaled(100.0);
            let text = match seeds >= FEWEST_SEEDS {
                true => with_interval(deficit, 2, ""),
                false => format!("{:.2}", deficit.mean),
            };
            match world.rank(name) {
                Some(rank) => format!("{text} ({rank})"),
                None => text,
            }
        }));
        table.row(row);
    }
    table.markdown()
}

/// What every arm takes of the channel.
fn channel(worlds: &[SidelinkWorld]) -> String {
    let mut head = vec!["arm".to_string()];
    for world in worlds {
        if world.is_by_slots() {
            let of = |what| format!("#{}: {what}", world.title);
            head.push(of("load in resources"));
            head.push(of("busy ratio"));
            if !world.encoded {
                head.push(of("own occupancy, %"));
                head.push(of("latency, ms"));
            }
        } else {
            head.push(format!("#{}: load in bytes", world.title));
        }
    }
    let mut table = table_of(&head);
    for name in names(worlds) {
        let mut row = vec![name.to_string()];
        for world in worlds {
            let mean = |quantity| world.arm(name).and_then(|arm| arm.mean(quantity));
            if !world.is_by_slots() {
                row.push(shown(mean(Quantity::Load), 1.0, 3));
                continue;
            }
            row.push(shown(mean(Quantity::Resources), 1.0, 3));
            row.push(shown(mean(Quantity::Busy), 1.0, 3));
            if !world.encoded {
                row.push(shown(mean(Quantity::Occupancy), 100.0, 2));
                row.push(shown(mean(Quantity::Latency), 1e3, 0));
            }
        }
        table.row(row);
    }
    table.markdown()
}

/// Delivery of beacons over distance.
fn delivery(worlds: &[SidelinkWorld]) -> String {
    let worlds: Vec<&SidelinkWorld> = worlds.iter().filter(|world| !world.encoded).collect();
    let ranges: Vec<String> = DELIVERY_RANGES
        .iter()
        .map(|range| range.metres()[1].to_string())
        .collect();
    let ranges = ranges.join(" / ");
    let mut head = vec!["arm".to_string()];
    head.extend(
        worlds
            .iter()
            .map(|world| format!("#{}: %, to {ranges} m", world.title)),
    );
    let mut table = table_of(&head);
    let first = worlds.first().map_or(&[][..], |world| &world.arms);
    for arm in first {
        let mut row = vec![arm.name.clone()];
        row.extend(worlds.iter().map(|world| {
            let Some(arm) = world.arm(&arm.name) else {
                return NONE.to_string();
            };
            let share = |&[pairs, delivered]: &[f64; 2]| {
                shown((pairs > 0.0).then(|| delivered / pairs), 100.0, 1)
            };
            let all: Vec<String> = arm.delivery.iter().map(share).collect();
            all.join(" / ")
        }));
        table.row(row);
    }
    table.markdown()
}

/// Findings of the letter whose verdict is not the same in all worlds.
fn findings(worlds: &[SidelinkWorld]) -> String {
    let judged: Vec<&SidelinkWorld> = worlds
        .iter()
        .filter(|world| !world.findings.is_empty())
        .collect();
    let mut head = vec!["finding of the letter".to_string()];
    head.extend(judged.iter().map(|world| world.title.clone()));
    let mut table = table_of(&head);
    let Some(first) = judged.first() else {
        return table.markdown();
    };
    let mut counts = vec!["all findings: held / not / undecided".to_string()];
    counts.extend(judged.iter().map(|world| {
        let count = |wanted| {
            let found = world.findings.iter().filter(|one| one.verdict == wanted);
            found.count()
        };
        format!(
            "{} / {} / {}",
            count(Verdict::Held),
            count(Verdict::NotHeld),
            count(Verdict::Undecided)
        )
    }));
    table.row(counts);
    for (at, finding) in first.findings.iter().enumerate() {
        let of: Vec<Option<&Finding>> = judged.iter().map(|world| world.findings.get(at)).collect();
        if of
            .iter()
            .all(|one| one.is_some_and(|one| one.verdict == finding.verdict))
        {
            continue;
        }
        let mut row = vec![finding.claim.to_string()];
        row.extend(of.into_iter().map(|one| {
            one.map_or_else(String::new, |one| {
                format!("**{}**: {}", one.verdict.text(), one.ours)
            })
        }));
        table.row(row);
    }
    table.markdown()
}

/// By how many points choice by demand misses less than each other arm, in every world.
fn demand(worlds: &[SidelinkWorld]) -> String {
    let compared: Vec<&SidelinkWorld> = worlds
        .iter()
        .filter(|world| !world.paired.is_empty())
        .collect();
    let mut head = vec!["misses less than".to_string()];
    head.extend(
        compared
            .iter()
            .map(|world| format!("#{}: by, points", world.title)),
    );
    let mut table = table_of(&head);
    let of_demand = |pair: &&PairedSummary| strategy_of(&pair.better) == DEMAND;
    let pairs = compared.first().map_or(&[][..], |world| &world.paired);
    for pair in pairs.iter().filter(of_demand) {
        let mut row = vec![pair.worse.clone()];
        row.extend(compared.iter().map(|world| {
            let mut pairs = world.paired.iter();
            let same = pairs.find(|one| one.better == pair.better && one.worse == pair.worse);
            same.map_or_else(
                || NONE.to_string(),
                |same| points(&same.deficit_reduction_pp),
            )
        }));
        table.row(row);
    }
    table.markdown()
}

fn points(difference: &Difference) -> String {
    let (Some(mean), Some(lo), Some(hi)) = (difference.mean, difference.lo, difference.hi) else {
        return NONE.to_string();
    };
    with_interval(Estimate { mean, lo, hi }, 2, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use crate::tables::typed::{Column, Kind, ParquetTable};

    /// A seed of an arm in a variant: what it misses of 1,000, and what it takes of the channel if slots are simulated.
    fn row(variant: &str, arm: &str, missed: f64, slots: Option<f64>) -> Vec<Cell> {
        let mut row: Vec<Cell> = vec![variant.into(), arm.into()];
        row.extend([1000.0, missed, 10.0, 0.25].map(Cell::from));
        row.extend([slots, slots.map(|x| 2.0 * x), slots, slots.map(|_| 0.03)].map(Cell::from));
        for at in 0..DELIVERY_RANGES.len() {
            row.extend([200.0, 200.0 - 10.0 * at as f64].map(Cell::from));
        }
        row
    }

    fn worlds(name: &str, rows: &[Vec<Cell>], encoded: bool) -> Vec<SidelinkWorld> {
        let folder = Folder::new(name);
        std::fs::create_dir_all(&folder.0).unwrap();
        let mut columns = vec![
            Column::new(VARIANT, Kind::Text),
            Column::new("arm", Kind::Text),
        ];
        let numbers = ["relevant", "missed", "participant_cycles"].into_iter();
        columns.extend(
            numbers
                .chain(MEANS)
                .map(|name| Column::new(name, Kind::Number)),
        );
        for range in DELIVERY_RANGES {
            let names = ["pairs", "delivered"].map(|what| range.column(what));
            columns.extend(names.map(|name| Column::new(name, Kind::Number)));
        }
        let mut table = ParquetTable::new(Vec::new(), columns).unwrap();
        table.rows(rows).unwrap();
        std::fs::write(folder.0.join("runs.parquet"), table.finish().unwrap()).unwrap();
        read(&folder.0, encoded).unwrap()
    }

    #[test]
    fn pools_stand_beside_the_channel_by_load() {
        let rows = [
            row(BASELINE, "demand@0.15", 1.0, None),
            row(BASELINE, "cpm-etsi", 20.0, None),
            row(BASELINE, "oracle", 0.0, None),
            row("narrow", "demand@0.15", 30.0, Some(0.4)),
            row("narrow", "cpm-etsi", 10.0, Some(0.3)),
            row("narrow", "cpm-etsi", 14.0, Some(0.5)),
            row("narrow", "oracle", 0.0, Some(0.0)),
        ];
        let mut all = worlds("sidelink-table", &rows, false);
        all.extend(worlds("sidelink-encoded", &rows[3..], true));
        let parts = parts(&all);
        let part = |wanted: &str| {
            let found = parts.iter().find(|(name, _)| name == wanted);
            found.unwrap().1.clone()
        };
        // One seed each but for one arm, so no intervals; the oracle has no place.
        let text = part("sidelink");
        assert!(
            text.contains("| demand@0.15 | 0.10 (1) | 3.00 (2) | 3.00 (2) |"),
            "{text}"
        );
        assert!(
            text.contains("| cpm-etsi | 2.00 (2) | 1.20 (1) | 1.20 (1) |"),
            "{text}"
        );
        assert!(text.contains("| oracle | 0.00 | 0.00 | 0.00 |"), "{text}");
        let text = part("sidelink-channel");
        assert!(
            text.contains("| cpm-etsi | 0.250 | 0.400 | 0.800 | 40.00 | 30 | 0.400 | 0.800 |"),
            "{text}"
        );
        let text = part("sidelink-delivery");
        assert!(
            text.contains("narrow: %, to 100 / 200 / 300 / 400 / 500 m"),
            "{text}"
        );
        assert!(
            text.contains("| 100.0 / 95.0 / 90.0 / 85.0 / 80.0 |"),
            "{text}"
        );
    }

    #[test]
    fn findings_are_shown_where_they_change_and_demand_with_its_intervals() {
        let finding = |key, verdict| Finding {
            key,
            claim: key,
            rule: "",
            ours: "ours".to_string(),
            verdict,
            reason: String::new(),
        };
        let pair = |mean: f64| PairedSummary {
            better: "demand@0.15".to_string(),
            worse: "cpm-etsi".to_string(),
            deficit_reduction_pp: Difference {
                mean: Some(mean),
                lo: Some(mean - 0.5),
                hi: Some(mean + 0.5),
                ..Difference::default()
            },
            deficit_reduction_rel: Difference::default(),
        };
        let world = |title: &str, second, mean| SidelinkWorld {
            title: title.to_string(),
            findings: vec![finding("same", Verdict::Held), finding("other", second)],
            paired: vec![pair(mean)],
            ..SidelinkWorld::default()
        };
        let worlds = [
            world("by load", Verdict::Held, 2.0),
            world("narrow", Verdict::NotHeld, -1.0),
        ];
        let text = findings(&worlds);
        assert!(text.contains("| 2 / 0 / 0 | 1 / 1 / 0 |"), "{text}");
        assert!(
            text.contains("| other | **held**: ours | **not held**: ours |"),
            "{text}"
        );
        assert!(!text.contains("| same |"), "{text}");
        let text = demand(&worlds);
        let row = "| cpm-etsi | 2.00 [1.50, 2.50] | \u{2212}1.00 [\u{2212}1.50, \u{2212}0.50] |";
        assert!(text.contains(row), "{text}");
    }
}
