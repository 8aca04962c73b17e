//! The arm `demand` on roads as they are, beside its rivals: deficits, loads, and the difference to each rival, paired by seed.

use std::io;
use std::path::Path;

use crate::names::DEMAND;
use crate::plan::{BASELINE, VARIANT};
use crate::report::figures::with_interval;
use crate::stats::{self, Estimate, FEWEST_SEEDS, Share};
use crate::tables::typed::{self, Cell};
use crate::text_table::TextTable;

/// The table of runs in a folder of results.
const RUNS_FILE: &str = "runs.parquet";

const NONE: &str = "\u{2013}";

/// Columns of the table of runs that are read, after what sets a world apart.
const COLUMNS: [&str; 9] = [
    "arm",
    "seed",
    "relevant",
    "missed",
    "missed_by_provenance",
    "load",
    "participant_cycles",
    "load_resources",
    "false_alarms",
];

/// An arm on one seed.
#[derive(Debug, Clone, Copy, Default)]
struct SeedRun {
    seed: i64,
    relevant: f64,
    missed: f64,
    by_provenance: f64,
    load: f64,
    cycles: f64,
    resources: Option<f64>,
    false_alarms: f64,
}

impl SeedRun {
    fn over_relevant(&self, part: f64) -> Option<f64> {
        (self.relevant > 0.0).then(|| part / self.relevant)
    }
}

/// An arm in a world.
#[derive(Debug, Clone, Default)]
struct ArmRuns {
    name: String,
    seeds: Vec<SeedRun>,
}

impl ArmRuns {
    /// A share of relevant pairs, over all seeds.
    fn share(&self, part: impl Fn(&SeedRun) -> f64) -> Option<Estimate> {
        let shares: Vec<Share> = self
            .seeds
            .iter()
            .map(|run| Share {
                part: part(run),
                whole: run.relevant,
            })
            .collect();
        stats::pooled(&shares)
    }

    fn deficit(&self) -> Option<Estimate> {
        self.share(|run| run.missed)
    }

    fn load(&self) -> Option<f64> {
        let cycles: f64 = self.seeds.iter().map(|run| run.cycles).sum();
        let load: f64 = self.seeds.iter().map(|run| run.load * run.cycles).sum();
        (cycles > 0.0).then(|| load / cycles)
    }

    /// Of the channel's resources, where slots are simulated.
    fn resources(&self) -> Option<f64> {
        let shares: Vec<f64> = self.seeds.iter().filter_map(|run| run.resources).collect();
        let used = shares.iter().any(|share| *share > 0.0);
        used.then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// What it takes of the channel: resources where they are counted, else bytes.
    fn spent(&self) -> Option<f64> {
        self.resources().or_else(|| self.load())
    }

    /// By how many points this arm misses less than `other`, seed by seed.
    fn less_than(&self, other: &Self, part: impl Fn(&SeedRun) -> f64 + Copy) -> Option<Estimate> {
        let ratio = |runs: &Self, seed: i64| {
            let run = runs.seeds.iter().find(|run| run.seed == seed)?;
            run.over_relevant(part(run))
        };
        let seeds = || self.seeds.iter().map(|run| run.seed);
        let own: Vec<Option<f64>> = seeds().map(|seed| ratio(self, seed)).collect();
        let theirs: Vec<Option<f64>> = seeds().map(|seed| ratio(other, seed)).collect();
        stats::reduction(&own, &theirs).points
    }
}

/// A world: what sets it apart, and its arms in the order of the table.
#[derive(Debug, Clone, Default)]
struct RoadWorld {
    key: Vec<Cell>,
    arms: Vec<ArmRuns>,
}

impl RoadWorld {
    fn arm(&self, name: &str) -> Option<&ArmRuns> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    fn title(&self) -> String {
        match self.key.first().and_then(Cell::text) {
            Some(BASELINE) => "clean".to_string(),
            other => other.unwrap_or_default().to_string(),
        }
    }

    /// Everyone but the arm in question, and other budgets of it.
    fn rivals(&self) -> impl Iterator<Item = &ArmRuns> {
        let own = format!("{DEMAND}@");
        let rival = move |arm: &&ArmRuns| arm.name != DEMAND && !arm.name.starts_with(&own);
        self.arms.iter().filter(rival)
    }
}

fn read(file: &Path, keys: &[&str]) -> io::Result<Vec<RoadWorld>> {
    let columns = [keys, &COLUMNS].concat();
    let mut worlds: Vec<RoadWorld> = Vec::new();
    typed::read(file, &columns, |row| {
        let (key, row) = row.split_at(keys.len());
        let (Some(arm), Cell::Integer(seed)) = (row[0].text(), &row[1]) else {
            return;
        };
        let at = worlds.iter().position(|world| world.key == key);
        let at = at.unwrap_or_else(|| {
            worlds.push(RoadWorld {
                key: key.to_vec(),
                arms: Vec::new(),
            });
            worlds.len() - 1
        });
        let arms = &mut worlds[at].arms;
        let at = arms.iter().position(|known| known.name == arm);
        let at = at.unwrap_or_else(|| {
            arms.push(ArmRuns {
                name: arm.to_string(),
                seeds: Vec::new(),
            });
            arms.len() - 1
        });
        let number = |at: usize| row[at].number().unwrap_or(0.0);
        arms[at].seeds.push(SeedRun {
            seed: *seed,
            relevant: number(2),
            missed: number(3),
            by_provenance: number(4),
            load: number(5),
            cycles: number(6),
            resources: row[7].number(),
            false_alarms: number(8),
        });
    })?;
    Ok(worlds)
}

/// A number of points with its interval where seeds are enough for one.
fn points(difference: Option<Estimate>, seeds: usize) -> String {
    match difference {
        Some(found) if seeds >= FEWEST_SEEDS => with_interval(found, 2, ""),
        Some(found) => format!("{:.2}", found.mean).replace('-', "\u{2212}"),
        None => NONE.to_string(),
    }
}

/// A row per arm and a column per world.
fn by_world(
    worlds: &[RoadWorld],
    rows: &[&str],
    shown: impl Fn(&RoadWorld, &ArmRuns) -> String,
) -> String {
    let mut head = vec!["arm".to_string()];
    head.extend(worlds.iter().map(|world| format!("#{}", world.title())));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&head);
    for name in rows {
        let mut row = vec![(*name).to_string()];
        row.extend(worlds.iter().map(|world| {
            let arm = world.arm(name);
            arm.map_or_else(|| NONE.to_string(), |arm| shown(world, arm))
        }));
        table.row(row);
    }
    table.markdown().trim_end().to_string()
}

/// What is told of the plan `demand-road`: deficits, what arms spend, and `demand` beside each other arm. None where there are no worlds.
pub(crate) fn tables(file: &Path) -> io::Result<Option<String>> {
    let worlds = read(file, &[VARIANT])?;
    let Some(first) = worlds.first() else {
        return Ok(None);
    };
    let names: Vec<&str> = first.arms.iter().map(|arm| &arm.name[..]).collect();
    let others: Vec<&str> = names.iter().copied().filter(|n| *n != DEMAND).collect();
    let per_cent = |share: Option<Estimate>, decimals: usize| {
        share.map_or_else(
            || NONE.to_string(),
            |share| format!("{:.decimals$}", 100.0 * share.mean),
        )
    };
    let deficit = by_world(&worlds, &names, |_, arm| {
        let deficit = arm.deficit().map(|share| share.scaled(100.0));
        points(deficit, arm.seeds.len())
    });
    let provenance = by_world(&worlds, &names, |_, arm| {
        per_cent(arm.share(|run| run.by_provenance), 2)
    });
    let number = |value: Option<f64>| value.map_or(NONE.to_string(), |x| format!("{x:.3}"));
    let spent = by_world(&worlds, &names, |_, arm| match arm.resources() {
        Some(resources) => format!("{} ({resources:.3})", number(arm.load())),
        None => number(arm.load()),
    });
    let alarms = by_world(&worlds, &names, |_, arm| {
        per_cent(arm.share(|run| run.false_alarms), 3)
    });
    let paired = |part: fn(&SeedRun) -> f64| {
        by_world(&worlds, &others, |world, arm| {
            let Some(own) = world.arm(DEMAND) else {
                return NONE.to_string();
            };
            let text = points(own.less_than(arm, part), own.seeds.len());
            // Whoever spends no more is set apart.
            match (arm.spent(), own.spent()) {
                (Some(theirs), Some(ours)) if theirs <= ours => format!("**{text}**"),
                _ => text,
            }
        })
    };
    let parts = [
        ("Deficit, %", deficit),
        ("Deficit by provenance, %", provenance),
        (
            "Load in bytes; in brackets of the channel's resources, where slots are simulated",
            spent,
        ),
        ("False alarms, % of relevant objects", alarms),
        (
            "`demand` misses less by, points; bold: the other arm spends no more",
            paired(|run| run.missed),
        ),
        (
            "The same by provenance, points",
            paired(|run| run.by_provenance),
        ),
    ];
    let parts = parts.map(|(title, table)| format!("**{title}**\n\n{table}"));
    Ok(Some(parts.join("\n\n")))
}

/// The keys in which worlds of the plan `demand-density` differ.
pub(crate) const DENSITY_KEYS: [&str; 2] = ["traffic.main_density", "penetration"];

/// What a rival that misses less may be ahead by if it spends more, in points.
const AHEAD_POINTS: f64 = 0.05;

/// The rival that misses least, of those that `counts` lets through.
fn least(world: &RoadWorld, counts: impl Fn(&ArmRuns) -> bool) -> Option<&ArmRuns> {
    let deficit = |arm: &ArmRuns| arm.deficit().map_or(f64::INFINITY, |share| share.mean);
    let rivals = world.rivals().filter(|arm| counts(arm));
    rivals.min_by(|a, b| deficit(a).total_cmp(&deficit(b)))
}

/// In each world `demand`, the best rival that spends no more, and the best of those that spend more, each with the difference paired by
/// seed. Last, in how many worlds no rival is ahead. `named` is what stands first in a row, under the heads `keys`.
fn beside_rivals(
    worlds: &[RoadWorld],
    keys: &[&str],
    named: impl Fn(&RoadWorld) -> Vec<String>,
) -> String {
    let columns = [
        "#`demand`: deficit, % / load",
        "best that spends no more",
        "#`demand` misses less by, points",
        "best that spends more",
        "#`demand` misses less by, points",
    ];
    let mut table = TextTable::new(&[keys, &columns].concat());
    let mut held = 0;
    for world in worlds {
        let Some(own) = world.arm(DEMAND) else {
            continue;
        };
        let cell = |arm: &ArmRuns| super::sweep::cell(arm.deficit().map(|d| d.mean), arm.load());
        let frugal = |arm: &ArmRuns| arm.load() <= own.load();
        let mut row = named(world);
        row.push(cell(own));
        for counts in [true, false] {
            let rival = least(world, |arm| frugal(arm) == counts);
            let named = |arm: &ArmRuns| format!("{} {}", arm.name, cell(arm));
            row.push(rival.map_or_else(|| NONE.to_string(), named));
            let less = rival.and_then(|arm| own.less_than(arm, |run| run.missed));
            row.push(points(less, own.seeds.len()));
        }
        table.row(row);
        let ahead = |arm: &ArmRuns| {
            let less = own.less_than(arm, |run| run.missed);
            less.is_some_and(|less| match frugal(arm) {
                true => less.hi < 0.0,
                false => less.mean < -AHEAD_POINTS,
            })
        };
        held += usize::from(!world.rivals().any(ahead));
    }
    let text = table.markdown();
    format!(
        "{}\n\nIn {held} of {} worlds no rival that spends no more has an interval below it, and none that spends more is ahead by more than {AHEAD_POINTS} points.",
        text.trim_end(),
        worlds.len()
    )
}

/// What is told of the plan `demand-density`. None where there are no worlds.
pub(crate) fn density_table(file: &Path) -> io::Result<Option<String>> {
    let worlds = read(file, &DENSITY_KEYS)?;
    if worlds.is_empty() {
        return Ok(None);
    }
    let keys = ["#vehicles per km and lane", "#penetration, %"];
    let table = beside_rivals(&worlds, &keys, |world| {
        let number = |at: usize| world.key.get(at).and_then(Cell::number).unwrap_or(0.0);
        vec![
            format!("{:.2}", number(0)),
            format!("{:.0}", 100.0 * number(1)),
        ]
    });
    Ok(Some(table))
}

/// What is told of the cities of `examples/demand-cities.sh`: a folder each, called as its city, with the table of its runs. First deficit and
/// load of every arm, then `demand` beside its rivals. None where there are no runs.
pub(crate) fn cities_tables(folder: &Path) -> io::Result<Option<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    names.sort();
    let mut worlds = Vec::new();
    for name in names {
        let file = folder.join(&name).join(RUNS_FILE);
        if !file.is_file() {
            continue;
        }
        worlds.extend(read(&file, &[])?.into_iter().map(|world| RoadWorld {
            key: vec![Cell::from(&*name.to_string_lossy())],
            ..world
        }));
    }
    let Some(first) = worlds.first() else {
        return Ok(None);
    };
    let arms: Vec<&str> = first.arms.iter().map(|arm| &arm.name[..]).collect();
    let all = by_world(&worlds, &arms, |_, arm| {
        super::sweep::cell(arm.deficit().map(|d| d.mean), arm.load())
    });
    let beside = beside_rivals(&worlds, &["city"], |world| vec![world.title()]);
    Ok(Some(format!(
        "Deficit, % / load:\n\n{all}\n\nBeside the rivals, six seeds, 95 % intervals:\n\n{beside}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use crate::tables::typed::{Column, Kind, ParquetTable};

    /// A run: its keys, arm, seed, missed of a thousand, load, resources.
    type Row<'a> = (Vec<Cell>, &'a str, i64, f64, f64, Option<f64>);

    /// A table of runs in a folder: keys, arm, seed, missed of a thousand, load, resources.
    fn written(name: &str, keys: &[(&'static str, Kind)], rows: &[Row<'_>]) -> Folder {
        let folder = Folder::new(name);
        std::fs::create_dir_all(&folder.0).unwrap();
        let mut columns: Vec<Column> = keys.iter().map(|&(k, kind)| Column::new(k, kind)).collect();
        columns.extend(COLUMNS.map(|column| {
            let kind = match column {
                "arm" => Kind::Text,
                "seed" => Kind::Integer,
                _ => Kind::Number,
            };
            Column::new(column, kind)
        }));
        let rows: Vec<Vec<Cell>> = rows
            .iter()
            .map(|(key, arm, seed, missed, load, resources)| {
                let mut row = key.clone();
                row.push((*arm).into());
                row.push(Cell::Integer(*seed));
                row.extend([1_000.0, *missed, missed / 2.0, *load, 10.0].map(Cell::from));
                row.push((*resources).into());
                row.push(3.0.into());
                row
            })
            .collect();
        let mut table = ParquetTable::new(Vec::new(), columns).unwrap();
        table.rows(&rows).unwrap();
        std::fs::write(folder.0.join("runs.parquet"), table.finish().unwrap()).unwrap();
        folder
    }

    #[test]
    fn each_world_has_its_differences_and_who_spends_no_more_stands_out() {
        let mut rows = Vec::new();
        for seed in 1..=6 {
            let odd = (seed % 2) as f64;
            let clean = || vec![BASELINE.into()];
            let pool = || vec!["pool".into()];
            rows.push((clean(), "demand", seed, 5.0, 0.1, None));
            rows.push((clean(), "cheap@0.1", seed, 15.0 + odd, 0.1, None));
            rows.push((clean(), "dear", seed, 4.0 + 2.0 * odd, 0.9, None));
            rows.push((pool(), "demand", seed, 20.0, 0.1, Some(0.04)));
            rows.push((pool(), "cheap@0.1", seed, 10.0, 0.1, Some(0.05)));
        }
        let folder = written("demand-road", &[(VARIANT, Kind::Text)], &rows);
        let text = tables(&folder.0.join("runs.parquet")).unwrap().unwrap();
        for line in [
            "| arm | clean | pool |",
            "| demand | 0.50 [0.50, 0.50] | 2.00 [2.00, 2.00] |",
            // By provenance.
            "| demand | 0.25 | 1.00 |",
            "| demand | 0.100 | 0.100 (0.040) |",
            "| demand | 0.300 | 0.300 |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let paired = text.split("misses less by").nth(1).unwrap();
        let cheap = paired.lines().find(|l| l.starts_with("| cheap")).unwrap();
        // In bytes it spends as much, of the resources more.
        assert!(cheap.starts_with("| cheap@0.1 | **1.05 [1."), "{cheap}");
        assert!(
            cheap.ends_with("| \u{2212}1.00 [\u{2212}1.00, \u{2212}1.00] |"),
            "{cheap}"
        );
        let dear = paired.lines().find(|l| l.starts_with("| dear")).unwrap();
        assert!(
            dear.starts_with("| dear | 0.00 [") && dear.ends_with("| \u{2013} |"),
            "{dear}"
        );
    }

    #[test]
    fn worlds_in_which_nobody_is_ahead_are_counted() {
        let mut rows = Vec::new();
        for seed in 1..=6 {
            let world = |density: f64| vec![density.into(), 0.4.into()];
            for (density, cheap) in [(10.0, 8.0), (20.0, 2.0)] {
                rows.push((world(density), "demand", seed, 5.0, 0.1, None));
                rows.push((world(density), "demand@0.3", seed, 0.0, 0.1, None));
                rows.push((world(density), "cheap@0.1", seed, cheap, 0.05, None));
                rows.push((world(density), "dear", seed, 4.6, 0.9, None));
            }
            rows.push((world(30.0), "demand", seed, 5.0, 0.1, None));
            rows.push((world(30.0), "dear", seed, 4.0, 0.9, None));
        }
        let keys = DENSITY_KEYS.map(|key| (key, Kind::Number));
        let folder = written("demand-density", &keys, &rows);
        let text = density_table(&folder.0.join("runs.parquet"))
            .unwrap()
            .unwrap();
        let line = "| 10.00 | 40 | 0.50 / 0.100 | cheap@0.1 0.80 / 0.050 | 0.30 [0.30, 0.30] | dear 0.46 / 0.900 | \u{2212}0.04 [\u{2212}0.04, \u{2212}0.04] |";
        assert!(text.contains(line), "{text}");
        assert!(
            text.contains("| 30.00 | 40 | 0.50 / 0.100 | \u{2013} | \u{2013} | dear"),
            "{text}"
        );
        assert!(text.contains("In 1 of 3 worlds no rival"), "{text}");
    }

    #[test]
    fn cities_are_told_apart_by_their_folders() {
        let folder = Folder::new("demand-cities");
        for (city, missed) in [("Berlin", 10.0), ("Athens", 4.0)] {
            let rows: Vec<Row<'_>> = (1..=6)
                .flat_map(|seed| {
                    [
                        (vec![], "demand", seed, 5.0, 0.1, None),
                        (vec![], "cheap@0.1", seed, missed, 0.05, None),
                    ]
                })
                .collect();
            let written = written(city, &[], &rows);
            let place = folder.0.join(city);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::copy(written.0.join(RUNS_FILE), place.join(RUNS_FILE)).unwrap();
        }
        let text = cities_tables(&folder.0).unwrap().unwrap();
        for line in [
            "| arm | Athens | Berlin |",
            "| cheap@0.1 | 0.40 / 0.050 | 1.00 / 0.050 |",
            "| Berlin | 0.50 / 0.100 | cheap@0.1 1.00 / 0.050 | 0.50 [0.50, 0.50] | \u{2013} | \u{2013} |",
            "In 1 of 2 worlds no rival",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
