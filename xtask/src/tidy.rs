//! Tidiness: rules of the house that no compiler checks. Each is one check with its own count.

use std::path::Path;

use crate::process::Call;
use crate::report::Counts;
use crate::step_report::Report;
use crate::{arrows, metadata, modules, source};

/// Source files longer than this are to be split by topic.
const MOST_LINES: usize = 800;

/// Source files that may be longer: path from the top, and why splitting would not help.
const LONG_FILES: &[(&str, &str)] = &[];

/// Folders under which no path of a developer's machine may be named. Written in two parts, for this file is checked too.
const MACHINE_PATHS: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "Users/"),
    concat!("/", "work/"),
];

/// Files whose text is looked through.
const TEXT: &[&str] = &[
    "cff", "css", "html", "js", "json", "lock", "md", "py", "rs", "sh", "svelte", "toml", "ts",
    "txt", "xml", "yaml", "yml",
];

/// Larger files hold data, not text that someone wrote.
const MOST_BYTES: u64 = 2_000_000;

type Check = fn(&Path) -> Result<Vec<String>, String>;

const CHECKS: &[(&str, Check)] = &[
    (
        "crates use only crates that ARCHITECTURE.md lists",
        crate_arrows,
    ),
    (
        "modules of a crate do not use each other in a circle",
        module_cycles,
    ),
    (
        "crates have a description, a licence and the workspace's lints",
        manifests,
    ),
    ("source files are not too long", file_lengths),
    ("no file names a path of somebody's machine", machine_paths),
    ("no source is left to be done", unfinished),
];

/// Runs every check.
pub(crate) fn run(root: &Path, report: &mut Report) {
    let mut counts = Counts::default();
    for (name, check) in CHECKS {
        match check(root) {
            Ok(complaints) if complaints.is_empty() => {
                counts.passed += 1;
                report.say(&format!("ok: {name}"));
            }
            result => {
                counts.failed += 1;
                report.say(&format!("FAILED: {name}"));
                report.complain(result);
            }
        }
    }
    report.count(counts);
}

fn crate_arrows(root: &Path) -> Result<Vec<String>, String> {
    let document = read(root, "ARCHITECTURE.md")?;
    Ok(arrows::check(
        &arrows::parse(&document)?,
        &metadata::workspace(root)?,
    ))
}

fn module_cycles(root: &Path) -> Result<Vec<String>, String> {
    let mut sources = modules::Sources::new();
    for path in files(root, &["rs"])? {
        let text = read(root, &path)?;
        sources.insert(path, text);
    }
    let mut complaints = Vec::new();
    for package in metadata::workspace(root)? {
        let folder = Path::new(&package.folder);
        let folder = folder.strip_prefix(root).unwrap_or(folder);
        complaints.extend(modules::check(&sources, &folder.to_string_lossy())?);
    }
    Ok(complaints)
}

fn manifests(root: &Path) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for package in metadata::workspace(root)? {
        let manifest = std::fs::read_to_string(Path::new(&package.folder).join("Cargo.toml"))
            .map_err(|error| format!("{}'s Cargo.toml: {error}", package.name))?;
        let mut miss =
            |what: &str| complaints.push(format!("{}'s Cargo.toml has no {what}", package.name));
        if package.description.trim().is_empty() {
            miss("`description`");
        }
        if package.license.is_none() {
            miss("`license` (write `license.workspace = true`)");
        }
        if !has_workspace_lints(&manifest) {
            miss("section `[lints]` with `workspace = true`");
        }
    }
    Ok(complaints)
}

fn has_workspace_lints(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let setting: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        (section == "[lints]" && setting == "workspace=true") || setting == "lints.workspace=true"
    })
}

fn file_lengths(root: &Path) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for path in files(root, &["rs", "ts"])? {
        let lines = read(root, &path)?.lines().count();
        let excused = LONG_FILES.iter().any(|&(long, _)| long == path);
        if lines > MOST_LINES && !excused {
            complaints.push(format!(
                "{path} has {lines} lines, more than {MOST_LINES}: split it by topic, or list it in LONG_FILES of \
                 xtask/src/tidy.rs with a reason"
            ));
        } else if lines <= MOST_LINES && excused {
            complaints.push(format!(
                "{path} has only {lines} lines: take it off LONG_FILES of xtask/src/tidy.rs"
            ));
        }
    }
    Ok(complaints)
}

fn machine_paths(root: &Path) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for path in files(root, TEXT)? {
        let text = read(root, &path)?;
        for (number, line) in text.lines().enumerate() {
            if let Some(found) = machine_path(line) {
                complaints.push(format!(
                    "{path} line {}: names `{found}…`, a path of one machine: use a path relative to the repository",
                    number + 1
                ));
            }
        }
    }
    Ok(complaints)
}

/// The first path in `line` that begins with one of `MACHINE_PATHS`.
fn machine_path(line: &str) -> Option<&'static str> {
    MACHINE_PATHS.iter().copied().find(|&folder| {
        line.match_indices(folder).any(|(at, _)| {
            // Not in the middle of an address or of a relative path.
            !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/~}".contains(c))
                || line[..at].ends_with("file://")
        })
    })
}

fn unfinished(root: &Path) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for path in files(root, &["rs"])? {
        let code = source::code_only(&read(root, &path)?);
        for word in [concat!("to", "do!("), concat!("unimpl", "emented!(")] {
            for line in source::lines_with(&code, word) {
                complaints.push(format!("{path} line {line}: `{word}…)`: finish it"));
            }
        }
    }
    Ok(complaints)
}

/// The files of the repository with one of `extensions`, tracked or about to be, as paths from the top with `/`.
fn files(root: &Path, extensions: &[&str]) -> Result<Vec<String>, String> {
    let mut files = tracked(root)?;
    files.retain(|path| {
        Path::new(path)
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| extensions.contains(&extension))
            && std::fs::metadata(root.join(path)).is_ok_and(|file| file.len() <= MOST_BYTES)
    });
    Ok(files)
}

/// All files of the repository, tracked or about to be, as paths from the top with `/`.
pub(crate) fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let list = Call::new(
        root,
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    )
    .read()
    .map_err(|error| format!("git is asked for the list of files: {error}"))?;
    let mut files: Vec<String> = list
        .split('\0')
        // A file deleted but not yet committed is still listed.
        .filter(|path| root.join(path).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    let bytes = std::fs::read(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_paths_are_told_from_addresses() {
        let home = concat!("/", "home/");
        assert_eq!(
            machine_path(&format!("let p = \"{home}me/x\";")),
            Some(home)
        );
        assert_eq!(machine_path(&format!("{home}me")), Some(home));
        assert_eq!(machine_path(&format!("file://{home}me")), Some(home));
        assert_eq!(
            machine_path(&format!("https://example.org{home}page")),
            None
        );
        assert_eq!(machine_path(&format!("../net{home}x")), None);
        assert_eq!(machine_path("no path at all"), None);
    }

    #[test]
    fn lints_are_found_in_both_spellings() {
        assert!(has_workspace_lints(
            "[package]\nname = \"x\"\n[lints]\nworkspace = true\n"
        ));
        assert!(has_workspace_lints("lints.workspace = true\n"));
        assert!(!has_workspace_lints(
            "[dependencies]\nworkspace = true\n[lints]\n"
        ));
    }

    #[test]
    fn every_long_file_has_a_reason() {
        assert!(
            LONG_FILES
                .iter()
                .all(|(path, reason)| !path.is_empty() && reason.len() > 10)
        );
    }
}
