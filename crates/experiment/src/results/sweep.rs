//! What a finished sweep says: pooled deficits and loads by world and arm, and whether the order of arms holds.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::names::{CAM_ONLY, CPM_RMR, PROPOSED_04, RANDOM_04, RANDOM_REDRAW_04};
use crate::plan::BASELINE;
use crate::tables::typed::{self, Cell};
use crate::text_table::TextTable;

/// An arm in a world, pooled over its seeds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArmRuns {
    relevant: f64,
    missed: f64,
    relevant_all: f64,
    missed_all: f64,
    load_sum: f64,
    participant_cycles: f64,
    /// Deficit by seed, of participants and of all vehicles.
    by_seed: BTreeMap<i64, [Option<f64>; 2]>,
}

impl ArmRuns {
    pub(crate) fn deficit(&self) -> Option<f64> {
        (self.relevant > 0.0).then(|| self.missed / self.relevant)
    }

    fn deficit_all(&self) -> Option<f64> {
        (self.relevant_all > 0.0).then(|| self.missed_all / self.relevant_all)
    }

    pub(crate) fn load(&self) -> Option<f64> {
        (self.participant_cycles > 0.0).then(|| self.load_sum / self.participant_cycles)
    }
}

/// A world: what sets it apart, and its arms, both in the order of the table.
#[derive(Debug, Clone)]
pub(crate) struct WorldRuns {
    pub(crate) key: Vec<Cell>,
    pub(crate) arms: Vec<(String, ArmRuns)>,
}

impl WorldRuns {
    pub(crate) fn arm(&self, name: &str) -> Option<&ArmRuns> {
        self.arms
            .iter()
            .find(|(arm, _)| arm == name)
            .map(|(_, runs)| runs)
    }

    fn arm_mut(&mut self, name: &str) -> &mut ArmRuns {
        let at = match self.arms.iter().position(|(arm, _)| arm == name) {
            Some(at) => at,
            None => {
                self.arms.push((name.to_string(), ArmRuns::default()));
                self.arms.len() - 1
            }
        };
        &mut self.arms[at].1
    }
}

/// Reads the runs of a sweep whose worlds differ in `keys`.
pub(crate) fn read(file: &Path, keys: &[&str]) -> io::Result<Vec<WorldRuns>> {
    let columns = [
        keys,
        &[
            "arm",
            "seed",
            "relevant",
            "missed",
            "relevant_all",
            "missed_all",
            "load",
            "participant_cycles",
        ],
    ]
    .concat();
    let mut worlds: Vec<WorldRuns> = Vec::new();
    typed::read(file, &columns, |row| {
        let (key, rest) = row.split_at(keys.len());
        let (Some(arm), Cell::Integer(seed)) = (rest[0].text(), &rest[1]) else {
            return;
        };
        let at = match worlds.iter().rposition(|world| world.key == key) {
            Some(at) => at,
            None => {
                worlds.push(WorldRuns {
                    key: key.to_vec(),
                    arms: Vec::new(),
                });
                worlds.len() - 1
            }
        };
        let value = |i: usize| rest[i].number().unwrap_or(0.0);
        let runs = worlds[at].arm_mut(arm);
        let ratio = |missed: f64, relevant: f64| (relevant > 0.0).then(|| missed / relevant);
        runs.relevant += value(2);
        runs.missed += value(3);
        runs.relevant_all += value(4);
        runs.missed_all += value(5);
        runs.load_sum += value(6) * value(7);
        runs.participant_cycles += value(7);
        runs.by_seed.insert(
            *seed,
            [ratio(value(3), value(2)), ratio(value(5), value(4))],
        );
    })?;
    Ok(worlds)
}

/// The arms whose order is asked for.
const ORDERED: [&str; 5] = [CAM_ONLY, CPM_RMR, RANDOM_04, RANDOM_REDRAW_04, PROPOSED_04];

/// Which of two arms misses less, and whether all seeds say so.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Relation {
    /// Pooled difference of deficits, first less second.
    difference: f64,
    sure: bool,
}

/// `metric` 0: of participants, 1: of all vehicles.
fn relation(a: &ArmRuns, b: &ArmRuns, metric: usize) -> Option<Relation> {
    let pooled = |runs: &ArmRuns| match metric {
        0 => runs.deficit(),
        _ => runs.deficit_all(),
    };
    let difference = pooled(a)? - pooled(b)?;
    let mut seeds = 0;
    let sure = a.by_seed.iter().all(|(seed, values)| {
        let other = b.by_seed.get(seed).and_then(|values| values[metric]);
        match (values[metric], other) {
            (Some(x), Some(y)) => {
                seeds += 1;
                (x - y) * difference > 0.0
            }
            _ => true,
        }
    });
    Some(Relation {
        difference,
        sure: sure && seeds > 1,
    })
}

/// What became of the order: pairs whose means changed places, with or without all seeds agreeing in both worlds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Order {
    reversed: Vec<String>,
    unclear: Vec<String>,
}

impl Order {
    fn add(&mut self, names: (&str, &str), before: Relation, after: Relation) {
        if before.difference * after.difference > 0.0 {
            return;
        }
        let (less, more) = if after.difference <= 0.0 {
            names
        } else {
            (names.1, names.0)
        };
        if before.sure && after.sure {
            self.reversed
                .push(format!("{less} now misses less than {more}"));
        } else {
            self.unclear.push(format!("{less} and {more}"));
        }
    }

    fn text(&self) -> String {
        let unclear = if self.unclear.is_empty() {
            String::new()
        } else {
            format!(
                "{} changed places in the means, not in all seeds",
                self.unclear.join(", ")
            )
        };
        match (self.reversed.is_empty(), unclear.is_empty()) {
            (true, true) => "yes".to_string(),
            (true, false) => format!("yes, but {unclear}"),
            (false, true) => format!("**no**: {}", self.reversed.join("; ")),
            (false, false) => format!("**no**: {}; and {unclear}", self.reversed.join("; ")),
        }
    }
}

/// The order of the arms in `after` beside that in `before`; the metric of each world may differ.
fn order(before: (&WorldRuns, usize), after: (&WorldRuns, usize)) -> Order {
    let mut order = Order::default();
    for (i, a) in ORDERED.iter().enumerate() {
        for b in &ORDERED[i + 1..] {
            let of = |(world, metric): (&WorldRuns, usize)| {
                relation(world.arm(a)?, world.arm(b)?, metric)
            };
            if let (Some(before), Some(after)) = (of(before), of(after)) {
                order.add((a, b), before, after);
            }
        }
    }
    order
}

/// The order where `random@0.4` is read as redrawn every cycle.
fn order_redrawn(world: &WorldRuns) -> Order {
    let mut all = Order::default();
    let (sticky, redrawn) = (RANDOM_04, RANDOM_REDRAW_04);
    for other in ORDERED
        .iter()
        .filter(|arm| **arm != sticky && **arm != redrawn)
    {
        let of = |random: &str| relation(world.arm(other)?, world.arm(random)?, 0);
        if let (Some(before), Some(after)) = (of(sticky), of(redrawn)) {
            all.add((other, redrawn), before, after);
        }
    }
    all
}

pub(crate) fn cell(deficit: Option<f64>, load: Option<f64>) -> String {
    match (deficit, load) {
        (Some(deficit), Some(load)) => format!("{:.2} / {load:.3}", 100.0 * deficit),
        _ => "\u{2013}".to_string(),
    }
}

/// The leading number of a variant's name, for the order of rows.
fn reading(name: &str) -> u32 {
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The sensitivity table. None where the unchanged world is not among the worlds.
pub(crate) fn readings_table(worlds: &[WorldRuns]) -> Option<String> {
    let name = |world: &WorldRuns| world.key.first().and_then(Cell::text).map(str::to_string);
    let base = worlds
        .iter()
        .find(|world| name(world).as_deref() == Some(BASELINE))?;
    let arms: Vec<&str> = base.arms.iter().map(|(arm, _)| arm.as_str()).collect();
    let heads: Vec<String> = arms.iter().map(|arm| format!("#{arm}")).collect();
    let margin = |world: &WorldRuns| {
        let margin = world.key.get(1).and_then(Cell::number);
        margin.map_or_else(|| "\u{2013}".to_string(), |x| format!("{x:.2}"))
    };
    let mut head = vec!["reading changed", "#d_min, m"];
    head.extend(heads.iter().map(String::as_str));
    head.push("order holds?");
    let cells = |world: &WorldRuns, all: bool| -> Vec<String> {
        arms.iter()
            .map(|arm| {
                let runs = world.arm(arm);
                let deficit = runs.and_then(|r| if all { r.deficit_all() } else { r.deficit() });
                cell(deficit, runs.and_then(ArmRuns::load))
            })
            .collect()
    };
    let mut rows: Vec<(u32, Vec<String>)> = Vec::new();
    for world in worlds {
        let name = name(world).unwrap_or_default();
        let (number, label, holds) = if name == BASELINE {
            (0, "none: as frozen".to_string(), "\u{2013}".to_string())
        } else {
            let holds = order((base, 0), (world, 0)).text();
            (reading(&name), name, holds)
        };
        let mut row = vec![label, margin(world)];
        row.extend(cells(world, false));
        row.push(holds);
        rows.push((number, row));
    }
    let mut row = vec![
        "4 all vehicles, not participants alone".to_string(),
        margin(base),
    ];
    row.extend(cells(base, true));
    row.push(order((base, 0), (base, 1)).text());
    rows.push((4, row));
    let mut row = vec![
        "16 random admission redrawn every cycle".to_string(),
        margin(base),
    ];
    row.extend(arms.iter().map(|arm| match *arm {
        RANDOM_04 => format!("as {RANDOM_REDRAW_04}"),
        _ => "as frozen".to_string(),
    }));
    row.push(order_redrawn(base).text());
    rows.push((16, row));
    // Rows of one reading stay in the order of the plan.
    rows.sort_by_key(|(number, _)| *number);
    let mut table = TextTable::new(&head);
    for (_, row) in rows {
        table.row(row);
    }
    Some(table.markdown())
}

/// A row per arm of one world.
pub(crate) fn arms_table(world: &WorldRuns) -> String {
    let mut table = TextTable::new(&["arm", "#deficit, %", "#load", "#of all vehicles, %"]);
    let shown = |value: Option<f64>, scale: f64, decimals: usize| {
        value.map_or_else(
            || "\u{2013}".to_string(),
            |value| format!("{:.decimals$}", scale * value),
        )
    };
    for (name, runs) in &world.arms {
        table.row([
            name.clone(),
            shown(runs.deficit(), 100.0, 2),
            shown(runs.load(), 1.0, 3),
            shown(runs.deficit_all(), 100.0, 2),
        ]);
    }
    table.markdown()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A world in which every arm has these deficits on its seeds, of 1,000 relevant objects each.
    pub(crate) fn world(key: &[Cell], arms: &[(&str, &[f64])]) -> WorldRuns {
        let mut world = WorldRuns {
            key: key.to_vec(),
            arms: Vec::new(),
        };
        for (arm, deficits) in arms {
            let runs = world.arm_mut(arm);
            for (seed, deficit) in deficits.iter().enumerate() {
                runs.relevant += 1000.0;
                runs.missed += 1000.0 * deficit;
                runs.relevant_all += 2000.0;
                runs.missed_all += 3000.0 * deficit;
                runs.load_sum += 0.25;
                runs.participant_cycles += 1.0;
                runs.by_seed
                    .insert(seed as i64, [Some(*deficit), Some(1.5 * deficit)]);
            }
        }
        world
    }

    fn base() -> WorldRuns {
        world(
            &[BASELINE.into(), 8.75.into()],
            &[
                ("cam-only", &[0.058, 0.060]),
                ("cpm-rmr", &[0.050, 0.049]),
                ("random@0.4", &[0.045, 0.046]),
                ("random-redraw@0.4", &[0.030, 0.036]),
                ("proposed@0.4", &[0.031, 0.032]),
            ],
        )
    }

    #[test]
    fn an_order_that_all_seeds_reverse_is_told_from_noise() {
        let mut same = base();
        same.key = vec!["2 v_rel: closing speed".into()];
        let mut noise = base();
        noise.key = vec!["12 allowance: broadcast as last cycle's".into()];
        *noise.arm_mut("random-redraw@0.4") = world(&[], &[("random-redraw@0.4", &[0.029, 0.031])])
            .arms[0]
            .1
            .clone();
        let mut reversed = base();
        reversed.key = vec!["1 relevant: kinematic overlap".into(), 21.3.into()];
        *reversed.arm_mut("cpm-rmr") = world(&[], &[("cpm-rmr", &[0.070, 0.071])]).arms[0]
            .1
            .clone();
        let text = readings_table(&[base(), same, noise, reversed]).unwrap();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows.len(), 6, "{text}");
        assert!(rows[0].starts_with("| none: as frozen | 8.75 | 5.90 / 0.250 |"));
        assert!(
            rows[1].starts_with("| 1 relevant: kinematic overlap | 21.30 |"),
            "{text}"
        );
        assert!(
            rows[1].ends_with("| **no**: cam-only now misses less than cpm-rmr |"),
            "{text}"
        );
        assert!(rows[2].starts_with("| 2 v_rel") && rows[2].ends_with("| yes |"));
        assert!(
            rows[3].starts_with("| 4 all vehicles, not participants alone | 8.75 | 8.85 / 0.250 |")
        );
        assert!(rows[4].contains(
            "| yes, but random-redraw@0.4 and proposed@0.4 changed places in the means, not in all seeds |"
        ), "{text}");
        // Proposed misses less than the sticky set on all seeds, than the redrawn one not on all.
        assert!(
            rows[5].starts_with("| 16 random admission redrawn") && rows[5].ends_with("| yes |"),
            "{text}"
        );
    }

    #[test]
    fn a_plan_without_the_unchanged_world_has_no_table() {
        assert_eq!(readings_table(&[]), None);
    }
}
