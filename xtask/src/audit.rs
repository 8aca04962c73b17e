//! Is anything known against what we depend on? cargo-deny, with RustSec's database of advisories.
//!
//! Outside the usual tests: the database is a git repository and not a package, and what it says changes from day to day without a
//! change of ours. What is decided about findings stands in `deny.toml`.

use std::path::Path;

use crate::component::{Component, Source};
use crate::process::Call;
use crate::step_report::Report;

/// The help text of `cargo xtask audit`.
pub(crate) const HELP: &str = "\
Checks what cargo brings against RustSec's advisories, and licences and sources against deny.toml, with cargo-deny.

Usage: cargo xtask audit [DATABASE]

DATABASE is a folder with a git clone of https://github.com/rustsec/advisory-db, for machines without that address; without
it cargo-deny fetches the database itself.
";

const TOOL: Component = Component {
    name: "cargo-deny",
    purpose: "checks dependencies against known advisories",
    probe: (&["cargo", "deny", "--version"], "cargo-deny 0.20."),
    source: Source::Cargo {
        package: "cargo-deny",
        version: "0.20.2",
    },
};

/// Where the database is, as `deny.toml` has it.
const ADDRESS: &str = "https://github.com/rustsec/advisory-db";

/// Runs the check, with the database in `database` where it is given.
pub(crate) fn run(root: &Path, database: Option<&str>, report: &mut Report) {
    if TOOL.probe(root).is_err() && !TOOL.source.install(root, report) {
        return report.fail("cargo-deny cannot be installed; it needs crates.io");
    }
    let rules = match rules(root, database) {
        Ok(rules) => rules,
        Err(error) => return report.fail(&error),
    };
    let arguments = [
        "deny",
        "check",
        "--config",
        &rules,
        "advisories",
        "licenses",
        "sources",
    ];
    let output = report.call_for_output(Call::new(root, "cargo", &arguments));
    for line in output.lines() {
        report.tell(line);
    }
}

/// The file of rules: `deny.toml`, or a copy of it that names the folder of the database.
fn rules(root: &Path, database: Option<&str>) -> Result<String, String> {
    let Some(database) = database else {
        return Ok("deny.toml".to_owned());
    };
    let problem = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let folder = Path::new(database);
    let folder = folder
        .canonicalize()
        .map_err(|error| problem(folder, error))?;
    let from = root.join("deny.toml");
    let text = std::fs::read_to_string(&from).map_err(|error| problem(&from, error))?;
    if !text.contains(ADDRESS) {
        return Err(format!(
            "deny.toml: found no `{ADDRESS}`, expected it as the database"
        ));
    }
    let text = text.replace(ADDRESS, &format!("file://{}", folder.display()));
    let to = root.join("target/deny.toml");
    std::fs::write(&to, text).map_err(|error| problem(&to, error))?;
    Ok(to.to_string_lossy().into_owned())
}
