//! One target under libFuzzer, guided by coverage: `cargo xtask fuzz` builds this with its counters and runs it for every target.
//!
//! Which target it is says the environment (`COVEY_FUZZ_TARGET`); all other arguments are libFuzzer's. Where `COVEY_FUZZ_SEEDS` names
//! a folder, the target's own seeds are written there first, for libFuzzer to begin with.
#![no_main]
#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use std::path::Path;
use std::process::exit;
use std::sync::OnceLock;

use covey_fuzz::Target;
use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fuzz_target!(
    init: {
        let target = chosen();
        if let Some(folder) = std::env::var_os("COVEY_FUZZ_SEEDS") {
            write_seeds(target, Path::new(&folder));
        }
        let _ = TARGET.set(target);
    },
    |bytes: &[u8]| {
        if let Some(target) = TARGET.get() {
            (target.run)(bytes);
        }
    }
);

/// The target that the environment names; without one, or with an unknown one, the program ends and lists them.
fn chosen() -> &'static Target {
    let name = std::env::var("COVEY_FUZZ_TARGET").unwrap_or_default();
    covey_fuzz::target(&name).unwrap_or_else(|| {
        eprintln!("COVEY_FUZZ_TARGET is `{name}`; it has to be one of:");
        for target in covey_fuzz::TARGETS {
            eprintln!("  {}", target.name);
        }
        exit(2)
    })
}

/// Writes what the target begins with, one file each. A folder that cannot be written to ends the program: a search without the
/// seeds would look like one that found nothing.
fn write_seeds(target: &Target, folder: &Path) {
    let seeds = (target.seeds)();
    for (number, bytes) in seeds.iter().enumerate() {
        let file = folder.join(format!("seed-{number}"));
        if let Err(error) = std::fs::write(&file, bytes) {
            eprintln!("cannot write {}: {error}", file.display());
            exit(2);
        }
    }
}
