//! `summary.json`, schema `covey.summary/1`: what a finished run says in numbers.
//!
//! Made from the outcomes of all seeds alone, so its bytes do not depend on how they were obtained; `timing` and
//! `peak_rss_bytes` are the exception and are filled in by whoever ran the seeds. Deficits and loads are fractions. A field
//! that does not apply to an arm (the price of an arm without hosts) is 0; a ratio with nothing to count is null.

mod file;
mod make;
mod named;
#[cfg(test)]
mod tests;

use covey_simulator::outcome::{Misses, Timing};
use covey_simulator::readings::SizeModel;
use covey_simulator::scenario::Readings;
use serde::{Deserialize, Serialize};

use crate::letter::Figures;
use crate::profile::Profile;
use crate::stats::{self, Estimate};
pub use file::SummaryError;
use make::note;
pub use named::Named;

/// Name and version of the format.
pub const SCHEMA: &str = "covey.summary/1";
/// Name of the file in a folder of results.
pub const FILE: &str = "summary.json";

/// The measured window is cut into so many, to see how much deficits spread within a seed.
pub const WINDOWS: usize = 4;

/// An estimate with its interval, or nulls where there was nothing to count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// From the seeds as they are.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end of the 95 % interval.
    pub hi: Option<f64>,
}

impl From<Option<Estimate>> for Interval {
    fn from(estimate: Option<Estimate>) -> Self {
        Self {
            mean: estimate.map(|e| e.mean),
            lo: estimate.map(|e| e.lo),
            hi: estimate.map(|e| e.hi),
        }
    }
}

impl Interval {
    /// The estimate, if there is one. Ends that are missing are the mean itself.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        estimate(self.mean, self.lo, self.hi)
    }
}

fn estimate(mean: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> Option<Estimate> {
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    let mean = finite(mean)?;
    Some(Estimate {
        mean,
        lo: finite(lo).unwrap_or(mean),
        hi: finite(hi).unwrap_or(mean),
    })
}

/// A difference with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Difference {
    /// From the seeds as they are.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end of the 95 % interval.
    pub hi: Option<f64>,
    /// Zero lies in the interval: the sign is not decided.
    pub includes_zero: Option<bool>,
}

impl From<Option<Estimate>> for Difference {
    fn from(estimate: Option<Estimate>) -> Self {
        Self {
            mean: estimate.map(|e| e.mean),
            lo: estimate.map(|e| e.lo),
            hi: estimate.map(|e| e.hi),
            includes_zero: estimate.map(Estimate::includes_zero),
        }
    }
}

impl Difference {
    /// The estimate, if there is one. Ends that are missing are the mean itself.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        estimate(self.mean, self.lo, self.hi)
    }
}

/// A mean without interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Average {
    /// Null where there was nothing to count.
    pub mean: Option<f64>,
}

/// Load by kind of message, fractions of capacity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadParts {
    /// Coverage digests in beacons.
    pub digest: Option<f64>,
    /// What contributors or senders report of objects.
    pub reports: Option<f64>,
    /// Fused states that hosts broadcast.
    pub broadcast: Option<f64>,
}

/// An arm on one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerSeed {
    /// Which seed; all arms of one share traffic and channel.
    pub seed: u64,
    /// Missed over relevant pairs.
    pub deficit: Option<f64>,
    /// Cooperative bytes offered over capacity.
    pub load: Option<f64>,
    /// The part of digests.
    #[serde(default)]
    pub load_digest: Option<f64>,
    /// Pairs of participant and decision-relevant object, over all cycles.
    pub relevant: u64,
    /// Those of them unknown or too old.
    pub missed: u64,
    /// The deficit in each quarter of the measured window, null where there was nothing to count; empty in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Option<f64>>,
}

/// An arm over all seeds.
///
/// Whatever came after the first version of the file may be absent, so that old files can still be read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ArmSummary {
    /// Missed over relevant, pooled over seeds.
    pub deficit: Interval,
    /// The load that a participant meets: cooperative bytes offered over capacity, averaged over tiles and cycles weighted by the
    /// participants in them.
    pub load: Interval,
    /// The same with every (tile, cycle) that holds a participant counted once. Absent in files from before there was a weight:
    /// there `load` is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_by_tile: Option<Average>,
    /// The load by kind.
    pub load_parts: LoadParts,
    /// Congestion price, averaged as the load is, over (tile, cycle) with a host.
    pub price: Interval,
    /// Contributors besides the host, mean over (tile, cycle) with a host.
    pub contributors: Interval,
    /// Size of a digest.
    pub digest_bytes: Interval,
    /// The same deficit over all vehicles, those without a radio included.
    #[serde(default)]
    pub deficit_all: Interval,
    /// Load of mandatory beacons.
    #[serde(default)]
    pub beacon_load: Average,
    /// The same with its interval; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beacon_occupancy: Option<Interval>,
    /// Load of everything, beacons included.
    #[serde(default)]
    pub busy: Average,
    /// Busy ratio: as participants measure it where slots are simulated, else the share of capacity that is offered, at most 1; absent
    /// in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cbr: Option<Average>,
    /// Share of the channel's resources that cooperative messages take; absent likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_resources: Option<Average>,
    /// Changes of the contributor set per (tile, cycle) with a host.
    #[serde(default)]
    pub churn: Average,
    /// Age of what participants hold of vehicles within sensing range, in seconds.
    #[serde(default)]
    pub age_s: Average,
    /// Share of other vehicles within 150 m that participants know of.
    pub awareness: Option<f64>,
    /// States of objects received per second and participant.
    #[serde(default)]
    pub redundancy: Average,
    /// The metrics of the field; absent in older files.
    #[serde(flatten)]
    pub field: FieldSummary,
    /// Share of 5 m cells on participants' own paths that were seen in time.
    pub path_coverage: Option<f64>,
    /// Where misses come from: counts over all seeds.
    #[serde(default, serialize_with = "file::by_name")]
    pub misses: Misses,
    /// How often each constraint bound a host's decision, over all seeds.
    #[serde(default)]
    pub binding: Named<u64>,
    /// The arm on each seed, ascending.
    pub per_seed: Vec<PerSeed>,
}

/// What papers of the field report, each defined in docs/metrics.md. Every entry is absent in files from before there was one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldSummary {
    /// Share of other vehicles within 100 m that participants know of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awareness_100: Option<Average>,
    /// The same within 200 m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awareness_200: Option<Average>,
    /// The same within 300 m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awareness_300: Option<Average>,
    /// The age that 95 % of what is known of vehicles within 150 m does not pass, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_p95_s: Option<Average>,
    /// Times per second that an object within 200 m is received beyond the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redundancy_per_s: Option<Average>,
    /// Beacons by distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reception: Vec<ReceptionSummary>,
    /// Of the pairs below 1.5 s to collision, those of which one did not know of the other in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_conflicts: Option<NearConflicts>,
    /// Ghosts believed to be relevant, over relevant objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_alarms: Option<Average>,
}

/// What becomes of beacons over some distance.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ReceptionSummary {
    /// From so many metres.
    pub from_m: f64,
    /// To so many metres.
    pub to_m: f64,
    /// Packet reception ratio.
    pub ratio: Option<f64>,
    /// Mean time between two beacons received of the same sender, in seconds.
    pub gap_s: Option<f64>,
}

/// Pairs that are about to collide, counted once a cycle over all seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NearConflicts {
    /// One did not know of the other in time.
    pub unaware: u64,
    /// All of them.
    pub all: u64,
}

/// Two arms compared seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedSummary {
    /// The arm expected to miss less.
    pub better: String,
    /// The arm it is compared with.
    pub worse: String,
    /// Mean per-seed difference, in percentage points; positive where `better` misses less.
    pub deficit_reduction_pp: Difference,
    /// Mean per-seed relative reduction, a fraction.
    pub deficit_reduction_rel: Difference,
}

/// How the intervals were made and whether they mean anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IntervalNote {
    /// By which method, in words.
    pub method: String,
    /// How often seeds were drawn anew.
    pub resamples: u64,
    /// False for quick runs, for few seeds, and where traffic is the same on all of them.
    pub meaningful: bool,
    /// Why not, if so.
    pub remark: Option<String>,
}

impl Default for IntervalNote {
    /// What goes without saying: a file that has no such note has intervals like any other.
    fn default() -> Self {
        note(false, stats::FEWEST_SEEDS, "")
    }
}

/// Time spent. Not reproducible, and the only such part together with `peak_rss_bytes`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TimingSummary {
    /// Seconds from start to end of the last invocation.
    pub wall_s: f64,
    /// CPU seconds of all seeds.
    pub cpu_s: f64,
    /// CPU seconds of all seeds by phase, sorted by name.
    pub phases: Named<f64>,
}

impl TimingSummary {
    /// One more seed: its time by phase, and its CPU seconds altogether.
    pub fn add(&mut self, timing: &Timing, cpu_s: f64) {
        self.cpu_s += cpu_s;
        for (phase, seconds) in timing.phases() {
            let name = format!("{phase}_s");
            match self.phases.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += seconds,
                None => self.phases.0.push((name, seconds)),
            }
        }
        self.phases.0.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// Which scenario was run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ScenarioSummary {
    /// As the scenario file calls itself.
    pub name: String,
    /// Its files, by their contents.
    #[serde(default)]
    pub files: Named<String>,
    /// Distinct vehicles present in the measured window, mean over seeds.
    pub vehicles: Option<f64>,
    /// Those of them with a radio, mean over seeds.
    pub participants: Option<f64>,
    /// Everybody on the road by class, persons on foot included, mean over seeds.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub classes: Named<ClassCount>,
    /// Tiles that held a participant, mean over seeds.
    pub tiles: Option<f64>,
    /// Mean speed, in m/s.
    pub speed_m_per_s: Option<f64>,
    /// Length of the corridor; null where there is none.
    pub corridor_km: Option<f64>,
    /// Capacity share of a tile.
    pub capacity_bytes_per_s: f64,
}

/// One class of those on the road.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ClassCount {
    /// How many were there in the measured window, mean over seeds.
    pub present: f64,
    /// Those of them with a radio, mean over seeds.
    pub participants: f64,
}

/// The whole file: written by a run, read by everything that shows one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Which source made it.
    pub revision: String,
    /// Every parameter and reading in force.
    pub readings: Readings,
    /// Where it was run.
    pub scenario: ScenarioSummary,
    /// Ascending.
    pub seeds: Vec<u64>,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Length of the measured window, in seconds.
    pub measure_s: f64,
    /// Where vehicles came from: `builtin`, `sumo`, `sumocfg` or `fcd`.
    pub traffic: String,
    /// The profile of readings, where it was asked for by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What has to be said wherever these figures appear; of fitted profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How to take the intervals.
    #[serde(default)]
    pub intervals: IntervalNote,
    /// By name, in the order of the run.
    pub arms: Named<ArmSummary>,
    /// Arms compared seed by seed, better against worse.
    #[serde(default)]
    pub paired: Vec<PairedSummary>,
    /// What the letter says of those arms that it has; nothing for another scenario than the letter's.
    #[serde(default)]
    pub letter: Named<Figures>,
    /// How far all figures are from the letter's, as [`letter::distance`](crate::letter::distance) says; absent where an arm of the
    /// letter was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance_to_letter: Option<f64>,
    /// What the run cost.
    #[serde(default)]
    pub timing: TimingSummary,
    /// Highest resident memory of the last invocation.
    pub peak_rss_bytes: Option<u64>,
}

/// What was run, apart from outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Which source computes.
    pub revision: String,
    /// Every parameter and reading in force.
    pub readings: Readings,
    /// As the scenario file calls itself.
    pub scenario: String,
    /// Its files with the hash of each.
    pub files: Vec<(String, String)>,
    /// Length of the corridor, if there is one.
    pub corridor_km: Option<f64>,
    /// Capacity share of a tile.
    pub capacity_bytes_per_s: f64,
    /// Seconds before the measured window.
    pub warmup_s: f64,
    /// Length of the measured window, in seconds.
    pub measure_s: f64,
    /// Where vehicles came from: `builtin`, `sumo`, `sumocfg` or `fcd`.
    pub traffic: String,
    /// A run too short to take its figures for results.
    pub quick: bool,
    /// It is the letter's corridor: its figures can be held against the letter's.
    pub letters: bool,
    /// The profile of readings, if it was asked for by name.
    pub profile: Option<Profile>,
}

impl Summary {
    /// The regional congestion target in force, as a share of capacity.
    #[must_use]
    pub fn target(&self) -> f64 {
        self.readings.protocol.target
    }

    /// What has to be said of all figures, with the profile's name.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let label = self.label.as_ref()?;
        let name = self.profile.as_deref().unwrap_or("of readings");
        Some(format!("Profile {name}: {label}."))
    }

    /// What has to be said of loads and prices of a file from before they were weighted by participants.
    #[must_use]
    pub fn outdated(&self) -> Option<&'static str> {
        let old = |(_, arm): &(String, ArmSummary)| arm.load_by_tile.is_none();
        self.arms.0.iter().any(old).then_some(
            "an older revision made these figures: its loads and prices count every tile once, however many participants it holds; \
             run the command that made the folder again to have them weighted",
        )
    }

    /// By which sizes messages were counted.
    #[must_use]
    pub fn sizes(&self) -> SizeModel {
        self.readings.sizes
    }
}
