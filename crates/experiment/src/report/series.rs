//! What figures need besides the summary: series over time, where misses come from, score and benefit, time by phase.
//!
//! They are gathered run by run ([`SeriesBuilder`]) and kept beside the summary as `report.json`, so that a report can be made
//! again without the runs. The order in which runs are added does not matter.

use std::collections::BTreeMap;
use std::path::Path;

use covey_simulator::outcome::Misses;
use covey_simulator::{CycleRow, Outcome, Timing};
use serde::{Deserialize, Serialize};

use super::ReadError;
use crate::stats;

/// Points of a series over time are means over this long, in seconds.
const TIME_BIN_S: f64 = 1.0;
/// Groups of equal size into which contributors of decisions are sorted by score.
const SCORE_BINS: usize = 8;

/// The series of a report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    /// Name and version of the file: `covey.report/1`.
    pub schema: String,
    /// Price, contributors and occupancy over time, by arm.
    pub over_time: Vec<Trace>,
    /// Where misses come from, by arm.
    pub misses: Vec<ArmMisses>,
    /// Score and benefit, by arm.
    pub cured: Vec<ArmCured>,
    /// Time by phase, by the clocks of the threads, over all seeds.
    pub phases: Vec<Phase>,
    /// Explanations of differences to the letter that are known of this run, by arm or finding; they are shown besides those
    /// that come with the report.
    pub explanations: BTreeMap<String, String>,
}

impl Series {
    /// Reads the series of a file; none where there is no file, for a summary makes a report without them, too.
    pub(super) fn read(file: &Path) -> Result<Self, ReadError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(source) => {
                return Err(ReadError::Unreadable {
                    file: file.to_path_buf(),
                    source,
                });
            }
        };
        let mut json = serde_json::Deserializer::from_str(&text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| ReadError::Series {
            file: file.to_path_buf(),
            problem: error.to_string(),
        })
    }
}

/// An arm over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// The arm's name.
    pub arm: String,
    /// A point a second, ascending.
    pub points: Vec<TracePoint>,
}

/// Means over tiles, seeds and one second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TracePoint {
    /// Middle of the second, from the beginning of the run.
    pub time_s: f64,
    /// Congestion price, over tiles with a host weighted by their participants.
    pub price: Option<f64>,
    /// Contributors, over tiles with a host.
    pub contributors: Option<f64>,
    /// Cooperative bytes offered over capacity, over tiles weighted by their participants.
    pub load: Option<f64>,
    /// All bytes offered over capacity, over tiles weighted by their participants.
    pub busy: Option<f64>,
}

/// Where an arm's misses come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArmMisses {
    /// The arm's name.
    pub arm: String,
    /// Relevant pairs over all seeds.
    pub relevant: u64,
    /// Missed pairs over all seeds.
    pub missed: u64,
    /// The missed pairs by kind.
    pub misses: Misses,
}

/// Score and benefit of an arm's contributors, admitted or kept: decisions of sampled cycles.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArmCured {
    /// The arm's name.
    pub arm: String,
    /// How many contributors were counted.
    pub admissions: u64,
    /// Groups of about equal size, by ascending score.
    pub bins: Vec<CuredBin>,
    /// Spearman's rank correlation of score and misses cured: mean over seeds with its 95 % interval.
    pub rank_correlation: Option<[f64; 3]>,
}

/// Contributors of similar score.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CuredBin {
    /// Lowest score in the group.
    pub score_lo: f64,
    /// Highest score in the group.
    pub score_hi: f64,
    /// Mean score of the group.
    pub score: f64,
    /// Contributors in the group.
    pub admissions: u64,
    /// Mean misses cured in the cycle after, per contributor.
    pub cured: f64,
    /// Lower end of its 95 % interval over seeds.
    pub cured_lo: f64,
    /// Upper end of that interval.
    pub cured_hi: f64,
}

/// Time of one phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Phase {
    /// What is done in it.
    pub name: String,
    /// CPU seconds over all seeds.
    pub seconds: f64,
}

/// Sums of one arm, seed and second.
#[derive(Debug, Clone, Copy, Default)]
struct TimeSums {
    hosts: u64,
    /// Participants in tiles with a host.
    served: u64,
    /// Participants in all tiles.
    participants: u64,
    price: f64,
    contributors: f64,
    load: f64,
    busy: f64,
}

impl TimeSums {
    fn add(&mut self, other: &Self) {
        self.hosts += other.hosts;
        self.served += other.served;
        self.participants += other.participants;
        self.price += other.price;
        self.contributors += other.contributors;
        self.load += other.load;
        self.busy += other.busy;
    }
}

/// One arm on one seed.
#[derive(Debug, Clone, Default)]
struct RunPart {
    by_time: BTreeMap<u32, TimeSums>,
    relevant: u64,
    missed: u64,
    misses: Misses,
    cured: Vec<[f64; 2]>,
}

/// Gathers the series run by run. Holds sums, not the rows.
#[derive(Debug, Clone)]
pub struct SeriesBuilder {
    cycle_s: f64,
    runs: BTreeMap<String, BTreeMap<u64, RunPart>>,
    timing: BTreeMap<u64, Timing>,
}

impl SeriesBuilder {
    /// For runs whose service cycle takes `cycle_s` seconds.
    #[must_use]
    pub fn new(cycle_s: f64) -> Self {
        Self {
            cycle_s: if cycle_s > 0.0 { cycle_s } else { 0.2 },
            runs: BTreeMap::new(),
            timing: BTreeMap::new(),
        }
    }

    /// One run and its table of cycles. A run added twice counts once, the later one.
    pub fn add(&mut self, outcome: &Outcome, cycles: &[CycleRow]) {
        let mut part = RunPart {
            relevant: outcome.deficit.relevant,
            missed: outcome.deficit.missed,
            misses: outcome.misses,
            cured: outcome
                .cured
                .iter()
                .copied()
                .filter(|pair| pair.iter().all(|x| x.is_finite()))
                .collect(),
            ..RunPart::default()
        };
        for row in cycles {
            let second = (f64::from(row.cycle) * self.cycle_s / TIME_BIN_S + 1e-9).floor();
            let sums = part.by_time.entry(second as u32).or_default();
            let participants = u64::from(row.participants);
            let weight = f64::from(row.participants);
            sums.participants += participants;
            sums.load += weight * row.load;
            sums.busy += weight * row.busy;
            if row.host.is_some() {
                sums.hosts += 1;
                sums.served += participants;
                sums.price += weight * row.price;
                sums.contributors += f64::from(row.contributors);
            }
        }
        self.runs
            .entry(outcome.arm.clone())
            .or_default()
            .insert(outcome.seed, part);
    }

    /// The time that a seed took.
    pub fn add_timing(&mut self, seed: u64, timing: &Timing) {
        self.timing.insert(seed, timing.clone());
    }

    /// The series of all runs added.
    #[must_use]
    pub fn finish(&self) -> Series {
        let mut series = Series {
            schema: "covey.report/1".to_string(),
            phases: phases(self.timing.values()),
            ..Series::default()
        };
        for (arm, seeds) in &self.runs {
            series.misses.push(sum_misses(arm, seeds));
            // Prices and contributors exist only where hosts decide.
            if arm.contains('@') {
                series.over_time.push(trace(arm, seeds));
                series.cured.extend(cured(arm, seeds));
            }
        }
        series
    }
}

/// Time by phase, by the clocks of the threads, summed over seeds.
fn phases<'a>(timings: impl IntoIterator<Item = &'a Timing>) -> Vec<Phase> {
    let mut sums: Vec<Phase> = Vec::new();
    for timing in timings {
        for (i, (name, seconds)) in timing.phases().into_iter().enumerate() {
            match sums.get_mut(i) {
                Some(sum) => sum.seconds += seconds,
                None => sums.push(Phase {
                    name: name.to_string(),
                    seconds,
                }),
            }
        }
    }
    sums
}

fn sum_misses(arm: &str, seeds: &BTreeMap<u64, RunPart>) -> ArmMisses {
    let mut all = ArmMisses {
        arm: arm.to_string(),
        ..ArmMisses::default()
    };
    for run in seeds.values() {
        all.relevant += run.relevant;
        all.missed += run.missed;
        all.misses.add(&run.misses);
    }
    all
}

fn trace(arm: &str, seeds: &BTreeMap<u64, RunPart>) -> Trace {
    let mut all: BTreeMap<u32, TimeSums> = BTreeMap::new();
    for run in seeds.values() {
        for (&second, sums) in &run.by_time {
            all.entry(second).or_default().add(sums);
        }
    }
    let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
    Trace {
        arm: arm.to_string(),
        points: all
            .iter()
            .map(|(&second, sums)| TracePoint {
                time_s: (f64::from(second) + 0.5) * TIME_BIN_S,
                price: mean(sums.price, sums.served),
                contributors: mean(sums.contributors, sums.hosts),
                load: mean(sums.load, sums.participants),
                busy: mean(sums.busy, sums.participants),
            })
            .collect(),
    }
}

/// None where nobody was admitted.
fn cured(arm: &str, seeds: &BTreeMap<u64, RunPart>) -> Option<ArmCured> {
    // (score, cured, index of the seed), ascending by score.
    let mut all: Vec<(f64, f64, usize)> = seeds
        .values()
        .enumerate()
        .flat_map(|(seed, run)| {
            run.cured
                .iter()
                .map(move |&[score, cured]| (score, cured, seed))
        })
        .collect();
    all.sort_by(|a, b| {
        a.0.total_cmp(&b.0)
            .then(a.2.cmp(&b.2))
            .then(a.1.total_cmp(&b.1))
    });
    if all.is_empty() {
        return None;
    }
    let count = SCORE_BINS.min(all.len());
    let bins = (0..count)
        .map(|bin| {
            let group = &all[bin * all.len() / count..(bin + 1) * all.len() / count];
            cured_bin(group, seeds.len())
        })
        .collect();
    let correlations: Vec<f64> = seeds
        .values()
        .filter_map(|run| spearman(&run.cured))
        .collect();
    let rank_correlation = stats::mean(&correlations).map(|found| [found.mean, found.lo, found.hi]);
    Some(ArmCured {
        arm: arm.to_string(),
        admissions: all.len() as u64,
        bins,
        rank_correlation,
    })
}

/// The mean of a group's misses cured, with the interval over seeds.
fn cured_bin(group: &[(f64, f64, usize)], seeds: usize) -> CuredBin {
    let mut by_seed = vec![(0.0, 0.0); seeds];
    for &(_, cured, seed) in group {
        by_seed[seed].0 += cured;
        by_seed[seed].1 += 1.0;
    }
    let found = stats::estimate(seeds, |drawn| {
        let (sum, count) = drawn.iter().fold((0.0, 0.0), |sum, &i| {
            (sum.0 + by_seed[i].0, sum.1 + by_seed[i].1)
        });
        (count > 0.0).then(|| sum / count)
    });
    let (cured, cured_lo, cured_hi) = found.map_or((0.0, 0.0, 0.0), |i| (i.mean, i.lo, i.hi));
    CuredBin {
        score_lo: group.first().map_or(0.0, |first| first.0),
        score_hi: group.last().map_or(0.0, |last| last.0),
        score: group.iter().map(|item| item.0).sum::<f64>() / group.len().max(1) as f64,
        admissions: group.len() as u64,
        cured,
        cured_lo,
        cured_hi,
    }
}

/// Rank correlation with mean ranks for ties; none where one side does not vary.
fn spearman(pairs: &[[f64; 2]]) -> Option<f64> {
    let count = pairs.len();
    let ranks = |side: usize| -> Vec<f64> {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| pairs[a][side].total_cmp(&pairs[b][side]));
        let mut ranks = vec![0.0; count];
        let mut begin = 0;
        while begin < count {
            let value = pairs[order[begin]][side];
            let mut end = begin;
            while end < count && pairs[order[end]][side] == value {
                end += 1;
            }
            for &i in &order[begin..end] {
                ranks[i] = (begin + end - 1) as f64 / 2.0;
            }
            begin = end;
        }
        ranks
    };
    let (x, y) = (ranks(0), ranks(1));
    let middle = (count as f64 - 1.0) / 2.0;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(&y) {
        xx += (x - middle) * (x - middle);
        yy += (y - middle) * (y - middle);
        xy += (x - middle) * (y - middle);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use covey_simulator::outcome::Deficit;

    fn row(cycle: u32, host: Option<u64>, price: f64, load: f64) -> CycleRow {
        CycleRow {
            cycle,
            tile: [0, 0],
            participants: 3,
            host,
            epoch: 0,
            contributors: 4,
            price,
            load,
            busy: load + 0.6,
            airtime_s: 0.0,
            binding: None,
            deficit: Deficit::default(),
        }
    }

    fn run(seed: u64, cured: Vec<[f64; 2]>) -> Outcome {
        Outcome {
            arm: "proposed@0.4".to_string(),
            seed,
            deficit: Deficit {
                relevant: 100,
                missed: 5,
            },
            misses: Misses {
                equipped_stale: 5,
                ..Misses::default()
            },
            cured,
            ..Outcome::default()
        }
    }

    #[test]
    fn time_is_cut_into_seconds_and_tiles_without_host_have_no_price() {
        let mut builder = SeriesBuilder::new(0.2);
        let mut cycles = [
            row(4, Some(1), 2.0, 0.2),
            row(4, None, 9.0, 0.4),
            row(5, Some(1), 3.0, 0.2),
        ];
        cycles[0].participants = 9;
        builder.add(&run(1, vec![]), &cycles);
        let series = builder.finish();
        let points = &series.over_time[0].points;
        assert_eq!(points.len(), 2);
        assert_eq!(points[0].time_s, 0.5);
        assert_eq!(points[0].price, Some(2.0));
        // Nine participants met 0.2, three 0.4.
        assert!((points[0].load.unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(points[1].price, Some(3.0));
    }

    #[test]
    fn the_order_of_runs_does_not_matter_and_no_run_counts_twice() {
        let pairs = |seed: u64| -> Vec<[f64; 2]> {
            (0..50)
                .map(|i| [f64::from(i) * 0.1, f64::from(i) * 0.01 + seed as f64])
                .collect()
        };
        let mut one = SeriesBuilder::new(0.2);
        let mut two = SeriesBuilder::new(0.2);
        for seed in [1, 2, 3] {
            one.add(
                &run(seed, pairs(seed)),
                &[row(0, Some(1), 0.1 * seed as f64, 0.3)],
            );
        }
        for seed in [3, 1, 2, 1] {
            two.add(
                &run(seed, pairs(seed)),
                &[row(0, Some(1), 0.1 * seed as f64, 0.3)],
            );
        }
        let series = one.finish();
        assert_eq!(series, two.finish());
        assert_eq!(series.misses[0].relevant, 300);
        let cured = &series.cured[0];
        assert_eq!(cured.admissions, 150);
        assert_eq!(
            cured.bins.iter().map(|bin| bin.admissions).sum::<u64>(),
            150
        );
        assert!(cured.bins[0].score < cured.bins[7].score);
        assert_eq!(cured.rank_correlation, Some([1.0, 1.0, 1.0]));
    }

    #[test]
    fn ranks_of_ties_are_shared() {
        let found = spearman(&[[1.0, 1.0], [2.0, 2.0], [2.0, 3.0], [4.0, 4.0]]).unwrap();
        // By hand: ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
        assert!((found - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[[1.0, 1.0], [1.0, 2.0]]), None);
    }

    #[test]
    fn the_series_survive_their_file() {
        let mut builder = SeriesBuilder::new(0.2);
        builder.add(
            &run(1, vec![[0.3, 1.0], [0.7, 2.0]]),
            &[row(0, Some(1), 0.5, 0.3)],
        );
        builder.add_timing(
            1,
            &Timing {
                sight_s: 1.5,
                ..Timing::default()
            },
        );
        let series = builder.finish();
        let text = serde_json::to_string(&series).unwrap();
        assert_eq!(serde_json::from_str::<Series>(&text).unwrap(), series);
        assert_eq!(series.phases[1].seconds, 1.5);
    }
}
