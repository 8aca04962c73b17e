//! Fuzz targets: bytes that anybody may have written, given to the code that reads them.
//!
//! A target is a function of bytes that panics if a promise of the code under test is broken: that it does not panic
//! itself, and whatever else holds for all inputs, such as "what was decoded is encoded to the same bytes again". All of
//! them are in [`TARGETS`], one module per subject under `targets`.
//!
//! They run in two ways. `fuzz-short` (part of `cargo xtask test`, any stable toolchain) replays the corpus and makes a
//! bounded, seeded random run with the mutations of [`mutate`], blind to coverage. `cargo fuzz run --features libfuzzer
//! TARGET` lets libFuzzer search for as long as one likes, guided by coverage; inputs worth keeping go to
//! `fuzz/corpus/TARGET/`, from where both take their start.

pub mod mutate;
mod targets;

/// Something to be fuzzed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: the name of its folder in `fuzz/corpus` and of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Runs the code under test on any bytes; panics if a promise is broken.
    pub run: fn(&[u8]),
    /// Inputs to begin with, besides the corpus: valid ones, so that mutations reach the code behind the first checks.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target, by name.
pub const TARGETS: &[Target] = &[
    target_of(
        "beacon",
        targets::messages::beacons,
        targets::messages::seeds,
    ),
    target_of(
        "broadcast",
        targets::messages::broadcasts,
        targets::messages::seeds,
    ),
    target_of(
        "buildings",
        targets::maps::buildings,
        targets::maps::building_seeds,
    ),
    target_of("cam", targets::its::cams, targets::its::cam_seeds),
    target_of("cpm", targets::its::cpms, targets::its::cpm_seeds),
    target_of("digest", targets::digest::run, targets::digest::seeds),
    target_of(
        "floating-car-data",
        targets::recordings::run,
        targets::recordings::seeds,
    ),
    target_of("frame", targets::its::frames, targets::its::frame_seeds),
    target_of(
        "network",
        targets::maps::network,
        targets::maps::network_seeds,
    ),
    target_of("polyline", targets::polyline::run, targets::polyline::seeds),
    target_of("recording", targets::runs::run, targets::runs::seeds),
    target_of(
        "report",
        targets::messages::reports,
        targets::messages::seeds,
    ),
    target_of(
        "segments",
        targets::its::segments,
        targets::its::segment_seeds,
    ),
    target_of("snapshot", targets::snapshot::run, targets::snapshot::seeds),
];

const fn target_of(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

/// The target called `name`.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// What [`libfuzzer_target!`] needs of libFuzzer's wrapper.
#[cfg(feature = "libfuzzer")]
#[doc(hidden)]
pub use libfuzzer_sys;

/// The whole body of a binary in `fuzz_targets`: hands libFuzzer's inputs to the target of that name.
///
/// A name that is not in [`TARGETS`] does not compile.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! libfuzzer_target {
    ($name:literal) => {
        const TARGET: &$crate::Target = $crate::known_target($name);
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
    };
}

/// The target called `name`, found at compile time.
#[cfg(feature = "libfuzzer")]
#[doc(hidden)]
#[must_use]
pub const fn known_target(name: &str) -> &'static Target {
    let mut i = 0;
    while i < TARGETS.len() {
        let (a, b) = (TARGETS[i].name.as_bytes(), name.as_bytes());
        let mut same = a.len() == b.len();
        let mut k = 0;
        while same && k < a.len() {
            same = a[k] == b[k];
            k += 1;
        }
        if same {
            return &TARGETS[i];
        }
        i += 1;
    }
    panic!("no such target in TARGETS")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn names_in(folder: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                path.file_stem().unwrap().to_str().unwrap().to_owned()
            })
            .collect()
    }

    #[test]
    fn every_target_has_its_files() {
        let names: BTreeSet<String> = TARGETS.iter().map(|t| t.name.to_owned()).collect();
        assert_eq!(names.len(), TARGETS.len(), "a name is used twice");
        assert_eq!(
            names,
            names_in("fuzz_targets"),
            "fuzz_targets/ and TARGETS differ"
        );
        let strangers: Vec<_> = names_in("corpus").difference(&names).cloned().collect();
        assert!(
            strangers.is_empty(),
            "corpus/ has folders of no target: {strangers:?}"
        );
        let manifest = include_str!("../Cargo.toml");
        for name in &names {
            assert!(
                manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")),
                "Cargo.toml has no [[bin]] for {name}"
            );
        }
    }

    #[test]
    fn every_target_takes_its_own_seeds_and_no_bytes() {
        for target in TARGETS {
            (target.run)(&[]);
            for seed in (target.seeds)() {
                (target.run)(&seed);
            }
        }
    }
}
