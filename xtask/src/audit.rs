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
    let mut call = Call::new(
        root,
        "cargo",
        &["deny", "check", "advisories", "licenses", "sources"],
    );
    for (name, value) in match database.map(instead).transpose() {
        Ok(settings) => settings.into_iter().flatten(),
        Err(error) => return report.fail(&error),
    } {
        call = call.env(name, &value);
    }
    let output = report.call_for_output(call);
    for line in output.lines() {
        report.tell(line);
    }
}

/// What makes git fetch from `folder` whatever is asked for at [`ADDRESS`]. cargo-deny takes no `file://` for a database, and asks git.
fn instead(folder: &str) -> Result<[(&'static str, String); 3], String> {
    let folder = Path::new(folder)
        .canonicalize()
        .map_err(|error| format!("{folder}: {error}"))?;
    if !folder.join("HEAD").exists() && !folder.join(".git").exists() {
        return Err(format!(
            "{}: found no git repository, expected a clone of {ADDRESS}",
            folder.display()
        ));
    }
    Ok([
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        (
            "GIT_CONFIG_KEY_0",
            format!("url.file://{}.insteadOf", folder.display()),
        ),
        ("GIT_CONFIG_VALUE_0", ADDRESS.to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_comes_from_the_folder_that_is_named() {
        let rules = include_str!("../../deny.toml");
        assert!(rules.contains(ADDRESS) && rules.contains("git-fetch-with-cli = true"));
        let folder = empty_folder();
        let error = instead(&folder.to_string_lossy()).unwrap_err();
        assert!(error.contains("expected a clone"), "{error}");
        let git = |arguments: &[&str]| {
            let mut call = std::process::Command::new("git");
            call.arg("-C").arg(&folder).args(arguments);
            call
        };
        assert!(git(&["init", "--quiet"]).status().unwrap().success());
        // git itself says where it would go.
        let mut asked = git(&["ls-remote", "--get-url", ADDRESS]);
        asked.envs(instead(&folder.to_string_lossy()).unwrap());
        let said = String::from_utf8(asked.output().unwrap().stdout).unwrap();
        let there = folder.canonicalize().unwrap();
        assert_eq!(said.trim(), format!("file://{}", there.display()));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(
            instead("no/such/folder")
                .unwrap_err()
                .contains("no/such/folder")
        );
    }

    /// An empty folder of this process.
    fn empty_folder() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("covey-audit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}
