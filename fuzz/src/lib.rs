//! Fuzz targets: bytes that anybody may have written, given to the code that reads them.
//!
//! A target is a function of bytes that panics if a promise of the code under test is broken: that it does not panic
//! itself, and whatever else holds for all inputs, such as "what was decoded is encoded to the same bytes again". All of
//! them are in [`TARGETS`], one module per subject under `targets`.
//!
//! `cargo xtask fuzz` builds them with libFuzzer and coverage counters, on a stable toolchain, and lets it search; what it found worth
//! keeping is in `fuzz/corpus/TARGET/`. `cargo xtask test fuzz` replays the corpora and searches for some seconds.

mod targets;

/// Something to be fuzzed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: the name of its folder in `fuzz/corpus`.
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
        "envelope",
        targets::node::envelopes,
        targets::node::envelope_seeds,
    ),
    target_of(
        "floating-car-data",
        targets::recordings::run,
        targets::recordings::seeds,
    ),
    target_of("frame", targets::its::frames, targets::its::frame_seeds),
    target_of(
        "neighbourhood",
        targets::stations::neighbourhood,
        targets::stations::seeds,
    ),
    target_of(
        "network",
        targets::maps::network,
        targets::maps::network_seeds,
    ),
    target_of("onnx", targets::onnx::run, targets::onnx::seeds),
    target_of(
        "openstreetmap",
        targets::openstreetmap::run,
        targets::openstreetmap::seeds,
    ),
    target_of(
        "participant",
        targets::stations::participant,
        targets::stations::seeds,
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
    target_of(
        "station",
        targets::node::stations,
        targets::node::station_seeds,
    ),
    target_of(
        "vehicle",
        targets::node::vehicles,
        targets::node::vehicle_seeds,
    ),
];

const fn target_of(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

/// The target called `name`.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
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
    fn every_target_has_a_corpus_and_every_corpus_a_target() {
        let names: BTreeSet<String> = TARGETS.iter().map(|t| t.name.to_owned()).collect();
        assert_eq!(names.len(), TARGETS.len(), "a name is used twice");
        assert_eq!(names, names_in("corpus"), "corpus/ and TARGETS differ");
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
