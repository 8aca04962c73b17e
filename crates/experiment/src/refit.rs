//! d_min fitted anew for every world of a sweep, so that a change of readings is not hidden behind a margin that fits another world.
//!
//! For each world `cam-only` is run on calibration seeds with all margins at once, and the margin with which it misses 5.8 % is taken
//! (the nearest, where none does). Fits are kept in `DIR/fits`, under a fingerprint of all that they depend on, so that neither a
//! resumed run nor another shard repeats them. Worlds that differ only in keys that hosts alone read share a fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use covey_simulator::calibrate::{self, Margins};

use crate::files::{self, FileError};
use crate::lab::{Computed, LabError};
use crate::pool::{self, JobError, PoolState};
use crate::runner::{Runner, RunnerError};
use crate::seeds;
use crate::store::Fingerprint;
use crate::world::{Fit, World};

/// Keys that only hosts, contributors and senders of reports read: without cooperation nothing changes with them.
const HOSTS_ONLY: [&str; 11] = [
    "protocol.airtime_unit_s",
    "protocol.broadcast_content",
    "protocol.broadcast_counts",
    "protocol.candidates_in_tile_only",
    "protocol.rate_bytes_per_s",
    "protocol.report_content",
    "protocol.report_silent_only",
    "protocol.silence_refreshes",
    "senders.interval_s",
    "senders.phase",
    "sensing.cell",
];
/// Keys whose value the fit takes the place of.
const REPLACED: [&str; 2] = ["calibrated.margin_m", "evaluation.margin_m"];

/// Everything that a world's fit depends on. `program` stands for the program's own version.
#[must_use]
pub fn fingerprint(world: &World, program: &str) -> Fingerprint {
    let counts = |line: &&str| {
        let key = line.split(" = ").next().unwrap_or_default();
        !HOSTS_ONLY.contains(&key) && !REPLACED.contains(&key)
    };
    let settled: Vec<&str> = world.settled().filter(counts).collect();
    let settled = settled.join("\n");
    let window = format!("{:?} {:?}", world.warmup_s, world.measure_s);
    let seeds = format!("{:?}", world.refit);
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("fit", b"margin of cam-only"),
        ("program", program.as_bytes()),
        ("scenario", settled.as_bytes()),
        ("traffic", world.traffic.name().as_bytes()),
        ("window", window.as_bytes()),
        ("seeds", seeds.as_bytes()),
    ];
    for (_, hash) in &world.files {
        parts.push(("file", hash.as_bytes()));
    }
    Fingerprint::new(parts)
}

/// What to say of a fit that did not find its margin.
#[must_use]
pub fn remark(fit: &Fit) -> Option<String> {
    let missed = (fit.cam_only_deficit - calibrate::CAM_ONLY_DEFICIT).abs() > calibrate::TOLERANCE;
    missed.then(|| {
        format!(
            "no margin makes cam-only miss 5.8 %; the nearest was taken, {} m, with {:.2} %",
            fit.margin_m,
            100.0 * fit.cam_only_deficit
        )
    })
}

/// Worlds that share a fit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    print: Fingerprint,
    worlds: Vec<usize>,
}

/// The worlds among `which` that want a fit, those with the same fingerprint together.
fn groups(worlds: &[World], which: &[usize], program: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &number in which {
        let Some(world) = worlds.get(number).filter(|world| !world.refit.is_empty()) else {
            continue;
        };
        let print = fingerprint(world, program);
        match groups.iter_mut().find(|group| group.print == print) {
            Some(group) => group.worlds.push(number),
            None => groups.push(Group {
                print,
                worlds: vec![number],
            }),
        }
    }
    groups
}

/// How many fits all of `worlds` need, and how many seeds each takes.
#[must_use]
pub fn needed(worlds: &[World], program: &str) -> (usize, usize) {
    let which: Vec<usize> = (0..worlds.len()).collect();
    let groups = groups(worlds, &which, program);
    let seeds = groups
        .first()
        .map_or(0, |group| worlds[group.worlds[0]].refit.len());
    (groups.len(), seeds)
}

/// The fits under one folder of results.
#[derive(Debug, Clone)]
struct Fits {
    folder: PathBuf,
}

impl Fits {
    fn path(&self, print: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.json", print.as_str()))
    }

    /// The fit, if it is there; a damaged file counts as none and is written anew.
    fn get(&self, print: &Fingerprint) -> Option<Fit> {
        let text = fs::read_to_string(self.path(print)).ok()?;
        let fit: Fit = serde_json::from_str(&text).ok()?;
        (fit.margin_m.is_finite() && fit.margin_m >= 0.0).then_some(fit)
    }

    fn put(&self, print: &Fingerprint, fit: &Fit) -> Result<(), FileError> {
        let path = self.path(print);
        let text = serde_json::to_string(fit)
            .map_err(|error| FileError::new(&path, "cannot be written")(error.into()))?;
        files::write(&path, format!("{text}\n").as_bytes())
    }
}

/// How to fit.
pub struct Work<'a> {
    /// The folder of results.
    pub folder: &'a Path,
    /// Stands for the program's own version.
    pub program: &'a str,
    /// How many at once.
    pub workers: usize,
    /// Set to end the work.
    pub stop: &'a AtomicBool,
}

impl Work<'_> {
    /// Fits those of `worlds` with the numbers `which` that want it, and puts each margin into force. `begin` is told the names of
    /// the runs that it takes before the first of them starts; none where all fits are kept already.
    ///
    /// # Errors
    /// A seed cannot be run, a file cannot be written, or nothing is relevant in a world.
    pub fn fit(
        &self,
        worlds: &mut [World],
        which: &[usize],
        begin: impl FnOnce(Vec<String>),
        watch: impl FnMut(&PoolState),
    ) -> Result<Computed, LabError> {
        let fits = Fits {
            folder: self.folder.join("fits"),
        };
        let groups = groups(worlds, which, self.program);
        if groups.is_empty() {
            return Ok(Computed {
                done: 0,
                stopped: false,
            });
        }
        files::make_folder(&fits.folder)?;
        let missing: Vec<&Group> = groups
            .iter()
            .filter(|group| fits.get(&group.print).is_none())
            .collect();
        let computed = self.compute(&fits, worlds, &missing, begin, watch)?;
        if computed.stopped {
            return Ok(computed);
        }
        for group in &groups {
            // What was written a moment ago and cannot be read is nobody's input.
            let fit = fits.get(&group.print).ok_or_else(|| {
                let path = fits.path(&group.print);
                RunnerError::Other(format!("{}: cannot be read back", path.display()))
            })?;
            for &world in &group.worlds {
                worlds[world].put_into_force(fit);
            }
        }
        Ok(computed)
    }

    /// Runs all seeds of the missing fits; a fit is kept as soon as its last seed has ended.
    fn compute(
        &self,
        fits: &Fits,
        worlds: &[World],
        missing: &[&Group],
        begin: impl FnOnce(Vec<String>),
        watch: impl FnMut(&PoolState),
    ) -> Result<Computed, LabError> {
        let world = |group: usize| &worlds[missing[group].worlds[0]];
        let jobs: Vec<(usize, usize)> = (0..missing.len())
            .flat_map(|group| (0..world(group).refit.len()).map(move |seed| (group, seed)))
            .collect();
        begin(
            jobs.iter()
                .map(|&(group, seed)| {
                    format!(
                        "d_min, seed {} of {}",
                        world(group).refit[seed],
                        world(group).label()
                    )
                })
                .collect(),
        );
        let parts: Vec<Mutex<Vec<Margins>>> = missing.iter().map(|_| Mutex::default()).collect();
        let runner = Runner::new(worlds, self.workers, self.folder);
        let work = |&(group, seed): &(usize, usize), monitor: pool::Monitor<'_>| {
            let number = missing[group].worlds[0];
            let margins = runner
                .margins(number, world(group).refit[seed], monitor)
                .map_err(|error| match error {
                    JobError::Stopped => JobError::Stopped,
                    JobError::Failed(error) => JobError::Failed(LabError::Run(error)),
                })?;
            let mut parts = parts[group].lock().unwrap_or_else(PoisonError::into_inner);
            parts.push(margins);
            if parts.len() < world(group).refit.len() {
                return Ok(());
            }
            // Counts are added up: the order in which seeds ended does not matter.
            let fit = calibrate::fit_margin(&parts).ok_or_else(|| {
                JobError::Failed(LabError::Run(RunnerError::Input(format!(
                    "refit_margin: nothing is relevant on seeds {} in {}, so there is no margin to fit",
                    seeds::told(&world(group).refit),
                    world(group).label()
                ))))
            })?;
            let fit = Fit {
                margin_m: fit.margin_m,
                cam_only_deficit: fit.cam_only_deficit,
            };
            fits.put(&missing[group].print, &fit)
                .map_err(|error| JobError::Failed(LabError::File(error)))
        };
        let outcome = pool::run(&jobs, self.workers, self.stop, work, watch);
        match outcome.failure {
            Some((_, error)) => Err(error),
            None => Ok(Computed {
                done: outcome.done,
                stopped: outcome.stopped && outcome.done < jobs.len(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use crate::world::{Base, TrafficSource};

    fn world(changes: &[(&str, toml::Value)]) -> World {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/toy/blind-junction");
        let base = Base::from_map(
            "toy",
            &folder.join("blind-junction.net.xml"),
            &[folder.join("blind-junction.poly.xml")],
        );
        let mut all: Vec<(String, toml::Value)> = vec![
            ("traffic.main_density".to_string(), 20.0.into()),
            ("traffic.side_density".to_string(), 20.0.into()),
            ("traffic.warmup_s".to_string(), 2.0.into()),
            ("traffic.dead_ends".to_string(), "avoid".into()),
        ];
        all.extend(
            changes
                .iter()
                .map(|(key, value)| ((*key).to_string(), value.clone())),
        );
        let mut world = World::new(
            base.with(&all).unwrap(),
            TrafficSource::Builtin,
            vec!["cam-only".parse().unwrap()],
            (0.4, 2.0),
        )
        .unwrap();
        world.refit = vec![1001, 1002];
        world
    }

    fn fit(worlds: &mut [World], which: &[usize], folder: &Path) -> (Computed, Vec<String>) {
        let stop = AtomicBool::new(false);
        let work = Work {
            folder,
            program: "p",
            workers: 2,
            stop: &stop,
        };
        let mut names = Vec::new();
        let computed = work.fit(worlds, which, |all| names = all, |_| {}).unwrap();
        (computed, names)
    }

    /// A value that differs from the default, for every key that only hosts read.
    const OTHERWISE: [(&str, &str); 11] = [
        ("protocol.airtime_unit_s", "0.07446"),
        ("protocol.broadcast_content", "\"silent-only\""),
        ("protocol.broadcast_counts", "\"last-cycle\""),
        ("protocol.candidates_in_tile_only", "true"),
        ("protocol.rate_bytes_per_s", "242000.0"),
        ("protocol.report_content", "\"all\""),
        ("protocol.report_silent_only", "true"),
        ("protocol.silence_refreshes", "false"),
        ("senders.interval_s", "0.2"),
        ("senders.phase", "\"common\""),
        ("sensing.cell", "\"strict\""),
    ];

    #[test]
    fn what_only_hosts_read_changes_nothing_without_cooperation() {
        let margins = |world: World| {
            let worlds = [world];
            let folder = Folder::new("refit-hosts-only");
            let runner = Runner::new(&worlds, 1, &folder.0);
            let stop = AtomicBool::new(false);
            let found = Mutex::new(None);
            let work = |&seed: &u64, monitor: pool::Monitor<'_>| {
                let margins = runner.margins(0, seed, monitor)?;
                *found.lock().unwrap() = Some(margins);
                Ok(())
            };
            let outcome = pool::run(&[1001], 1, &stop, work, |_| {});
            assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
            found.into_inner().unwrap().unwrap()
        };
        let base = world(&[]);
        let expected = margins(base.clone());
        assert_ne!(expected, Margins::default());
        for key in HOSTS_ONLY {
            let value = OTHERWISE
                .iter()
                .find(|(name, _)| *name == key)
                .expect(key)
                .1;
            let table: toml::Table = toml::from_str(&format!("value = {value}")).unwrap();
            let changed = world(&[(key, table["value"].clone())]);
            assert_ne!(
                base.fingerprint("p"),
                changed.fingerprint("p"),
                "{key} = {value}"
            );
            assert_eq!(fingerprint(&base, "p"), fingerprint(&changed, "p"), "{key}");
            assert_eq!(expected, margins(changed), "{key} = {value}");
        }
        // The test would see a key that does count.
        let seen = margins(world(&[("sensing.range_m", 30.0.into())]));
        assert_ne!(expected, seen);
    }

    #[test]
    fn everything_else_that_counts_is_in_the_fingerprint() {
        let base = fingerprint(&world(&[]), "p");
        assert_ne!(base, fingerprint(&world(&[]), "q"));
        assert_ne!(
            base,
            fingerprint(&world(&[("penetration", 0.5.into())]), "p")
        );
        assert_eq!(
            base,
            fingerprint(&world(&[("evaluation.margin_m", 3.0.into())]), "p")
        );
        let mut other = world(&[]);
        other.refit.pop();
        assert_ne!(base, fingerprint(&other, "p"));
        other = world(&[]);
        other.measure_s = 1.0;
        assert_ne!(base, fingerprint(&other, "p"));
        other = world(&[]);
        other.traffic = TrafficSource::Sumo;
        assert_ne!(base, fingerprint(&other, "p"));
    }

    #[test]
    fn fits_are_put_into_force_kept_and_shared() {
        let folder = Folder::new("refit");
        let mut worlds = [
            world(&[]),
            world(&[("sensing.cell", "strict".into())]),
            world(&[("penetration", 0.4.into())]),
            world(&[]),
        ];
        worlds[3].refit.clear();
        let print = worlds[0].fingerprint("p");
        let untouched = worlds[3].scenario.evaluation.margin_m;
        let (computed, names) = fit(&mut worlds, &[0, 1, 2, 3], &folder.0);
        // Two seeds of two worlds; the second shares with the first, the last wants none.
        assert_eq!((computed.done, names.len()), (4, 4));
        assert!(names[0].starts_with("d_min, seed 1001 of "), "{names:?}");
        let margin = |world: &World| world.scenario.evaluation.margin_m;
        assert_eq!(margin(&worlds[0]), margin(&worlds[1]));
        assert_eq!(margin(&worlds[3]), untouched);
        assert_eq!(worlds[0].fit.unwrap().margin_m, margin(&worlds[0]));
        assert_ne!(worlds[0].fit, worlds[2].fit);
        let shown = format!("evaluation.margin_m = {:?}", margin(&worlds[0]));
        assert_eq!(worlds[0].label(), shown);
        // A result belongs to the world that is fitted, before and after.
        assert_eq!(worlds[0].fingerprint("p"), print);
        // Another process, another shard: nothing is run again, and the margins are the same.
        let mut again = [world(&[]), world(&[("penetration", 0.4.into())])];
        let (computed, names) = fit(&mut again, &[1], &folder.0);
        assert_eq!((computed.done, names.len()), (0, 0));
        assert_eq!(again[1].fit, worlds[2].fit);
        assert_eq!(again[0].fit, None, "a shard fits its own worlds alone");
        // A damaged fit is made anew.
        let path = Fits {
            folder: folder.0.join("fits"),
        }
        .path(&fingerprint(&again[0], "p"));
        fs::write(&path, "{\"margin_m\": ").unwrap();
        let (computed, _) = fit(&mut again, &[0], &folder.0);
        assert_eq!(computed.done, 2);
        assert_eq!(again[0].fit, worlds[0].fit);
    }

    #[test]
    fn a_fit_that_did_not_find_its_margin_says_so() {
        let of = |cam_only_deficit| Fit {
            margin_m: 60.0,
            cam_only_deficit,
        };
        assert_eq!(remark(&of(0.0585)), None);
        let text = remark(&of(0.031)).unwrap();
        assert!(text.contains("60 m") && text.contains("3.10 %"), "{text}");
    }
}
