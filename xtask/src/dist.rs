//! What people get who build nothing: one static binary, and an archive around it.
//!
//! The binary is linked with the C library of the machine that builds it, statically. Another one (musl) would need no more of a
//! system, but its sines and exponentials differ in the last bit, and with them rows of results; see `docs/decisions/0005-dist.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::{self, Package};
use crate::process::Call;
use crate::step_report::Report;

pub(crate) const HELP: &str = "\
Makes a static binary and an archive for people who build nothing.

Usage: cargo xtask dist [--try]

  --try   afterwards, make a bare Debian root with debootstrap and run the binary in it; needs root

Writes target/dist/covey-VERSION-x86_64-linux.tar.gz (binary, completions, man pages, examples, a container definition, licence
texts of everything linked) and its SHA-256 beside it. The same source gives the same archive on the same machine.

Examples:
  cargo xtask dist
  cargo xtask dist --try
";

/// What is built for: the binary's target and the flags that make it stand alone.
const TARGET: &str = "x86_64-unknown-linux-gnu";
const FLAGS: &str = "-C target-feature=+crt-static";
/// Files of the repository that go into the archive as they are.
const FILES: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/python.md",
];
/// Folders of examples that do.
const FOLDERS: [&str; 3] = ["examples/blind-junction", "examples/node", "scenarios/toy"];
/// How files are called that hold a licence or a notice.
const LICENCE_NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "UNLICENSE",
    "COPYRIGHT",
];

/// Makes the archive; with `try_it` runs the binary on a bare system.
pub(crate) fn run(root: &Path, try_it: bool, report: &mut Report) {
    if let Err(problem) = make(root, try_it, report) {
        report.fail(&problem);
    }
}

fn make(root: &Path, try_it: bool, report: &mut Report) -> Result<(), String> {
    let target = PathBuf::from(metadata::target_folder(root)?).join("dist");
    let version = version(root)?;
    let name = format!("covey-{version}-x86_64-linux");
    let folder = target.join(&name);
    report.note("building (some minutes)".to_owned());
    build(root, &target, report)?;
    let binary = target.join(TARGET).join("release/covey");
    // What an earlier call left there is made anew.
    let _ = fs::remove_dir_all(&folder);
    fill(root, &binary, &folder)?;
    let archive = pack(&target, &name)?;
    report.note(archive.display().to_string());
    if try_it {
        try_on_a_bare_system(root, &target, &binary, report)?;
    }
    Ok(())
}

fn version(root: &Path) -> Result<String, String> {
    let packages = metadata::workspace(root)?;
    let cli = packages.iter().find(|package| package.name == "covey");
    cli.map(|package| package.version.clone())
        .ok_or_else(|| "the workspace has no package `covey`".to_owned())
}

fn build(root: &Path, target: &Path, report: &mut Report) -> Result<(), String> {
    let folder = target.to_string_lossy().into_owned();
    let call = Call::new(
        root,
        "cargo",
        &[
            "build",
            "--release",
            "--locked",
            "-p",
            "covey",
            "--features",
            "node",
            "--target",
            TARGET,
            "--target-dir",
            &folder,
        ],
    );
    run_to_its_end(call.env("RUSTFLAGS", FLAGS), report).map(drop)
}

/// Output of a call, or what it said when it failed.
fn run_to_its_end(call: Call, report: &mut Report) -> Result<String, String> {
    let shown = call.shown().to_owned();
    let finished = call.run(|passed, line| {
        report.tell(&format!(
            "   still at it after {} s: {line}",
            passed.as_secs()
        ));
    });
    match finished.ok {
        true => Ok(finished.output),
        false => Err(format!("`{shown}` failed\n{}", finished.output)),
    }
}

fn fill(root: &Path, binary: &Path, folder: &Path) -> Result<(), String> {
    let made = |path: &Path| fs::create_dir_all(path).map_err(|error| told(path, &error));
    for below in ["completions", "man"] {
        made(&folder.join(below))?;
    }
    copy(binary, &folder.join("covey"))?;
    for file in FILES {
        if root.join(file).exists() {
            copy(&root.join(file), &folder.join(file))?;
        }
    }
    for below in FOLDERS {
        copy_folder(&root.join(below), &folder.join(below))?;
    }
    let program = folder.join("covey").to_string_lossy().into_owned();
    for (shell, file) in [
        ("bash", "covey.bash"),
        ("zsh", "_covey"),
        ("fish", "covey.fish"),
    ] {
        let script = quietly(root, &program, &["completions", shell])?;
        write(&folder.join("completions").join(file), &script)?;
    }
    let pages = folder.join("man").to_string_lossy().into_owned();
    quietly(root, &program, &["man", "--out", &pages])?;
    write(&folder.join("Containerfile"), CONTAINER)?;
    write(&folder.join("THIRD-PARTY.txt"), &third_parties(root)?)
}

/// An image with nothing but the binary.
const CONTAINER: &str = "\
# docker build -t covey -f Containerfile .   (or podman)
# docker run --rm -v \"$PWD:/work\" covey reproduce --quick
FROM scratch
COPY covey /covey
WORKDIR /work
ENTRYPOINT [\"/covey\"]
";

fn quietly(root: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let call = Call::new(root, program, arguments);
    let shown = call.shown().to_owned();
    let finished = call.run(|_, _| ());
    match finished.ok {
        true => Ok(finished.output),
        false => Err(format!("`{shown}` failed\n{}", finished.output)),
    }
}

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| told(path, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| told(folder, &error))?;
    }
    fs::copy(from, to).map_err(|error| told(from, &error))?;
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    for entry in fs::read_dir(from).map_err(|error| told(from, &error))? {
        let path = entry.map_err(|error| told(from, &error))?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        match path.is_dir() {
            true => copy_folder(&path, &to.join(name))?,
            false => copy(&path, &to.join(name))?,
        }
    }
    Ok(())
}

/// What is linked, by package, with its licence texts; each text once.
fn third_parties(root: &Path) -> Result<String, String> {
    let listed = quietly(
        root,
        "cargo",
        &[
            "tree",
            "--locked",
            "-p",
            "covey",
            "--features",
            "node",
            "--target",
            TARGET,
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
    )?;
    let linked: BTreeSet<(String, String)> = listed.lines().filter_map(package_of).collect();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut out = String::from("What the binary holds of others, and their terms.\n\n");
    out.push_str("GNU C Library, LGPL-2.1-or-later: linked statically; `cargo xtask dist` links it anew with any other.\n");
    out.push_str("Rust's standard library: MIT OR Apache-2.0.\n");
    for package in metadata::everything(root)? {
        let key = (package.name.clone(), package.version.clone());
        if !package.foreign || !linked.contains(&key) {
            continue;
        }
        let name = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("see its text");
        out.push_str(&format!("{name}: {licence}\n"));
        for text in licence_texts(&package) {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    for (text, names) in texts {
        out.push_str(&format!(
            "\n{}\n{}\n\n{}\n",
            "=".repeat(78),
            names.join(", "),
            text.trim_end()
        ));
    }
    Ok(out)
}

/// Name and version of a line of `cargo tree`: `serde v1.0.228 (proc-macro)`.
fn package_of(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let version = words.next()?.strip_prefix('v')?;
    Some((name.to_owned(), version.to_owned()))
}

fn licence_texts(package: &Package) -> Vec<String> {
    let Ok(entries) = fs::read_dir(&package.folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let is_licence = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        let name = name.to_uppercase();
        LICENCE_NAMES.iter().any(|begin| name.starts_with(begin)) && path.is_file()
    };
    let read = paths.iter().filter(|path| is_licence(path));
    read.filter_map(|path| fs::read_to_string(path).ok())
        .collect()
}

/// Packs the folder so that the same files give the same bytes.
fn pack(target: &Path, name: &str) -> Result<PathBuf, String> {
    let archive = format!("{name}.tar.gz");
    quietly(
        target,
        "tar",
        &[
            "--sort=name",
            "--mtime=@0",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "-I",
            "gzip -9n",
            "-cf",
            &archive,
            name,
        ],
    )?;
    let sum = quietly(target, "sha256sum", &[&archive])?;
    write(&target.join(format!("{archive}.sha256")), &sum)?;
    Ok(target.join(archive))
}

/// Runs the binary in a root that holds no more than Debian's smallest system.
fn try_on_a_bare_system(
    root: &Path,
    target: &Path,
    binary: &Path,
    report: &mut Report,
) -> Result<(), String> {
    let bare = target.join("bare-debian");
    let path = bare.to_string_lossy().into_owned();
    if !bare.join("bin/sh").exists() {
        report.note("making a bare Debian root".to_owned());
        let call = Call::new(
            target,
            "debootstrap",
            &["--variant=minbase", "stable", &path],
        );
        run_to_its_end(call, report).map_err(|problem| {
            format!("{problem}\n`apt-get install debootstrap` brings it; it needs root")
        })?;
    }
    copy(binary, &bare.join("covey"))?;
    copy_folder(&root.join("scenarios/toy"), &bare.join("toy"))?;
    let short =
        "/covey run /toy/blind-junction/scenario.toml --warmup 2 --measure 2 --quiet --out /out";
    let short: Vec<&str> = short.split(' ').collect();
    for arguments in [&["/covey", "--version"][..], &["/covey", "arms"], &short] {
        let mut all = vec![path.as_str()];
        all.extend(arguments);
        let said = run_to_its_end(Call::new(target, "chroot", &all), report)?;
        let first = said.lines().next().unwrap_or("");
        report.note(format!("{}: {first}", arguments.join(" ")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_tree_are_packages() {
        let of = |line| package_of(line).map(|(name, version)| format!("{name} {version}"));
        assert_eq!(of("serde v1.0.228").as_deref(), Some("serde 1.0.228"));
        assert_eq!(
            of("thiserror-impl v2.0.17 (proc-macro)").as_deref(),
            Some("thiserror-impl 2.0.17")
        );
        assert_eq!(of(""), None);
        assert_eq!(of("covey"), None);
    }
}
