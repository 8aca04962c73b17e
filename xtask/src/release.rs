//! Whether a release could be made: numbers agree, and every library crate is packaged and built from its package.

use std::fs;
use std::path::Path;

use crate::metadata::{self, Kind, Package};
use crate::process::Call;
use crate::step_report::Report;

pub(crate) const HELP: &str = "\
Checks that a release could be made; uploads nothing.

Usage: cargo xtask release [--allow-dirty]

  --allow-dirty   package files that are not committed, too

Versions of manifests and CITATION.cff must agree, and CHANGELOG.md must have a heading for what is released. Then every library
crate is packaged in order and built from its package, each against the packages before it, as `cargo publish` would do it.
What is left to do by hand is in CONTRIBUTING.md.
";

/// Checks everything.
pub(crate) fn run(root: &Path, allow_dirty: bool, report: &mut Report) {
    let packages = match metadata::workspace(root) {
        Ok(packages) => packages,
        Err(error) => return report.fail(&error),
    };
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))
    };
    let complaints = read("CITATION.cff").and_then(|citation| {
        let changelog = read("CHANGELOG.md")?;
        Ok(disagreements(&packages, &citation, &changelog))
    });
    report.complain(complaints);
    let libraries: Vec<&Package> = packages.iter().filter(|one| one.published).collect();
    report.complain(Ok(unpublished(&libraries, &packages)));
    if report.failed() {
        return;
    }
    let mut words = vec!["publish", "--dry-run", "--locked"];
    for library in &libraries {
        words.extend(["-p", &library.name]);
    }
    if allow_dirty {
        words.push("--allow-dirty");
    }
    report.note(format!("packaging and building {} crates", libraries.len()));
    let call = Call::new(root, "cargo", &words).env("CARGO_TERM_COLOR", "never");
    let output = report.call_for_output(call);
    for line in output.lines().filter(|line| line.contains("Packaged")) {
        report.tell(line.trim());
    }
}

/// Where numbers of the release differ.
fn disagreements(packages: &[Package], citation: &str, changelog: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(version) = packages.first().map(|package| package.version.as_str()) else {
        return vec!["the workspace has no packages".to_owned()];
    };
    for package in packages.iter().filter(|package| package.version != version) {
        wrong.push(format!(
            "{}: found version {}, expected {version} as everywhere",
            package.name, package.version
        ));
    }
    let cited = citation
        .lines()
        .find_map(|line| line.strip_prefix("version:"));
    if cited.map(str::trim) != Some(version) {
        wrong.push(format!(
            "CITATION.cff: found version {}, expected {version}",
            cited.unwrap_or("none").trim()
        ));
    }
    let heading = changelog
        .lines()
        .find_map(|line| line.strip_prefix("## "))
        .unwrap_or_default();
    if heading != "Unreleased" && !heading.starts_with(version) {
        wrong.push(format!(
            "CHANGELOG.md: found `## {heading}` first, expected `## {version} (DATE)` or `## Unreleased`"
        ));
    }
    wrong
}

/// What libraries need that is not published with them. Tests may use anything: it is left out of a package.
fn unpublished(libraries: &[&Package], packages: &[Package]) -> Vec<String> {
    let mut wrong = Vec::new();
    for library in libraries {
        let needed = library.local_dependencies.iter();
        for (_, folder) in needed.filter(|(kind, _)| *kind != Kind::Dev) {
            let other = packages.iter().find(|package| package.folder == *folder);
            if let Some(other) = other.filter(|other| !other.published) {
                wrong.push(format!(
                    "{} needs {}, which is not published",
                    library.name, other.name
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, published: bool, needs: &[(Kind, &str)]) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            folder: format!("/{name}"),
            license: None,
            has_license_file: false,
            description: String::new(),
            foreign: false,
            features: Default::default(),
            local_dependencies: needs
                .iter()
                .map(|&(kind, folder)| (kind, folder.to_owned()))
                .collect(),
            published,
        }
    }

    #[test]
    fn numbers_that_differ_are_named() {
        let packages = [package("a", "0.1.0", true, &[])];
        let none = disagreements(&packages, "version: 0.1.0\n", "# C\n\n## Unreleased\n");
        assert_eq!(none, [""; 0]);
        let two = disagreements(&packages, "version: 0.2.0\n", "# C\n\n## 0.0.9 (2026)\n");
        assert_eq!(two.len(), 2, "{two:?}");
        assert!(two[0].contains("CITATION.cff: found version 0.2.0"));
    }

    #[test]
    fn what_is_not_published_is_no_part_of_what_is() {
        let packages = [
            package("a", "1", true, &[(Kind::Dev, "/b"), (Kind::Normal, "/c")]),
            package("b", "1", false, &[]),
            package("c", "1", false, &[]),
        ];
        let wrong = unpublished(&[&packages[0]], &packages);
        assert_eq!(wrong, ["a needs c, which is not published"]);
    }
}
