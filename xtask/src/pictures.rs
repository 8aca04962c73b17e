//! The pictures of README.md and docs/viewer.md, made anew from a release build of this source.

use std::path::Path;

use crate::metadata;
use crate::process::Call;
use crate::step_report::Report;

/// Where the pictures are.
const FIGURES: &str = "docs/figures";
/// What the picture of the corridor shows: a run on a tuning seed.
const CORRIDOR: [&str; 11] = [
    "run",
    "scenarios/tamagawa/scenario.toml",
    "--arm",
    "proposed@0.4",
    "--seed",
    "3",
    "--warmup",
    "20",
    "--measure",
    "20",
    "--record",
];

/// Builds the program, records the corridor, and lets the browser look at it, at the bundled demonstration and at the playground.
pub(crate) fn run(root: &Path, report: &mut Report) {
    let build = ["build", "--quiet", "--locked", "--release", "-p", "covey"];
    if !report.call(Call::new(root, "cargo", &build)) {
        return;
    }
    let target = match metadata::target_folder(root) {
        Ok(target) => target,
        Err(error) => return report.complain(Err(error)),
    };
    let covey = format!("{target}/release/covey");
    let corridor = format!("{target}/pictures");
    let mut record = CORRIDOR.to_vec();
    record.extend(["--quiet", "--out", &corridor]);
    // `covey run` adds nothing to a run that is there already, and moves one of another program away.
    if report.call(Call::new(root, &covey, &record)) {
        let script = ["web/e2e/screens.mjs", ".npm", &covey, FIGURES, &corridor];
        report.call(Call::new(root, "node", &script));
    }
}
