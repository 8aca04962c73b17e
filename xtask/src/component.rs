//! Something that the tests need: whether it runs, and how to get it.

use std::path::Path;

use crate::process::Call;
use crate::step_report::Report;

/// The project's own Python environment, at the top of the repository.
pub(crate) const VENV: &str = ".venv";

/// What comes from npm, at the top of the repository.
const NPM: &str = ".npm";

/// Folders at the top of the repository that hold what was installed.
pub(crate) const INSTALLED: [&str; 2] = [VENV, NPM];

/// Something the tests need.
pub(crate) struct Component {
    pub(crate) name: &'static str,
    /// What would be missing without it.
    pub(crate) purpose: &'static str,
    /// A command that shows that it runs, at the top of the repository, and what its output must contain.
    pub(crate) probe: (&'static [&'static str], &'static str),
    pub(crate) source: Source,
}

/// Where a component comes from.
pub(crate) enum Source {
    /// The Rust toolchain: the person's own choice, nothing that this program would change.
    Toolchain { advice: &'static str },
    /// crates.io, through `cargo install`.
    Cargo {
        package: &'static str,
        version: &'static str,
    },
    /// PyPI, into the project's own environment.
    Pip {
        package: &'static str,
        version: &'static str,
    },
    /// PyPI, all that a file lists, into the project's own environment.
    PipFile { file: &'static str },
    /// PyPI, the source archive as it is, for files that are not installed.
    PipArchive {
        package: &'static str,
        version: &'static str,
    },
    /// npm, into the project's own folder; needs Node.
    Npm {
        package: &'static str,
        version: &'static str,
    },
    /// npm, into a folder that has a lock file; needs Node.
    NpmLock { folder: &'static str },
    /// Debian; needs root.
    Apt { packages: &'static [&'static str] },
}

impl Component {
    /// The first line of what the probe says, if the component is there and of the right version.
    pub(crate) fn probe(&self, root: &Path) -> Result<String, String> {
        let (command, expected) = self.probe;
        let (program, arguments) = command.split_first().ok_or("there is no probe")?;
        // A relative path of a program would be looked up from wherever this process was started.
        let program = if program.contains('/') {
            root.join(program).to_string_lossy().into_owned()
        } else {
            (*program).to_owned()
        };
        let output = Call::new(root, &program, arguments).read()?;
        let first = output.lines().next().unwrap_or_default().trim().to_owned();
        if first.contains(expected) {
            Ok(first)
        } else {
            Err(format!(
                "`{}` says `{first}`, expected `{expected}`",
                command.join(" ")
            ))
        }
    }
}

impl Source {
    /// Installs the component; whether every command succeeded. Output goes to `report`.
    pub(crate) fn install(&self, root: &Path, report: &mut Report) -> bool {
        match *self {
            Self::Toolchain { .. } => false,
            // Without default features: what they add (nextest's self-update) would double the time to build.
            Self::Cargo { package, version } => report.call(Call::new(
                root,
                "cargo",
                &[
                    "install",
                    "--locked",
                    "--no-default-features",
                    "--version",
                    version,
                    package,
                ],
            )),
            Self::Pip { package, version } => pip(
                root,
                &[
                    "install",
                    "--disable-pip-version-check",
                    // Repairs an installation whose folder was moved, too.
                    "--force-reinstall",
                    &format!("{package}=={version}"),
                ],
                report,
            ),
            Self::PipFile { file } => pip(
                root,
                &["install", "--disable-pip-version-check", "-r", file],
                report,
            ),
            Self::PipArchive { package, version } => pip(
                root,
                &[
                    "download",
                    "--disable-pip-version-check",
                    "--no-deps",
                    "--no-binary",
                    package,
                    "--dest",
                    &format!("{VENV}/source"),
                    &format!("{package}=={version}"),
                ],
                report,
            ),
            Self::Npm { package, version } => report.call(Call::new(
                root,
                "npm",
                &[
                    "install",
                    "--prefix",
                    NPM,
                    "--save-exact",
                    "--no-audit",
                    "--no-fund",
                    &format!("{package}@{version}"),
                ],
            )),
            Self::NpmLock { folder } => report.call(Call::new(
                root,
                "npm",
                &["ci", "--prefix", folder, "--no-audit", "--no-fund"],
            )),
            Self::Apt { packages } => apt(root, packages, report),
        }
    }

    /// What a person can do where installing failed.
    pub(crate) fn advice(&self) -> String {
        match *self {
            Self::Toolchain { advice } => format!("Install it with `{advice}`."),
            Self::Cargo { package, version } => {
                format!("Try `cargo install --locked --version {version} {package}`.")
            }
            Self::Pip { package, version } => format!(
                "Try `python3 -m venv {VENV} && {VENV}/bin/python -m pip install {package}=={version}`."
            ),
            Self::PipFile { file } => {
                format!(
                    "Try `python3 -m venv {VENV} && {VENV}/bin/python -m pip install -r {file}`."
                )
            }
            Self::PipArchive { package, version } => format!(
                "Try `{VENV}/bin/python -m pip download --no-deps --no-binary {package} --dest {VENV}/source {package}=={version}`."
            ),
            Self::Npm { package, version } => format!(
                "Node 20.19 or newer is needed. Try `npm install --prefix {NPM} {package}@{version}`."
            ),
            Self::NpmLock { folder } => {
                format!("Node 20.19 or newer is needed. Try `npm ci --prefix {folder}`.")
            }
            Self::Apt { packages } => {
                format!("Try, as root, `apt-get install {}`.", packages.join(" "))
            }
        }
    }
}

/// Calls pip in the project's environment, which is made if need be.
fn pip(root: &Path, arguments: &[&str], report: &mut Report) -> bool {
    let python = root.join(VENV).join("bin/python");
    let python = python.to_string_lossy();
    let mut all = vec!["-m", "pip"];
    all.extend(arguments);
    ensure_venv(root, &python, report) && report.call(Call::new(root, &python, &all))
}

/// Makes the project's Python environment unless it is there and has pip.
fn ensure_venv(root: &Path, python: &str, report: &mut Report) -> bool {
    let has_pip = || {
        Call::new(root, python, &["-m", "pip", "--version"])
            .read()
            .is_ok()
    };
    if has_pip() {
        return true;
    }
    let make = || Call::new(root, "python3", &["-m", "venv", "--clear", VENV]);
    let first = make().read();
    if first.is_ok() && has_pip() {
        return true;
    }
    // Debian's python3 comes without ensurepip; python3-venv brings it.
    if let Err(error) = first {
        report.say(&error);
    }
    apt(root, &["python3-venv"], report) && report.call(make())
}

fn apt(root: &Path, packages: &[&str], report: &mut Report) -> bool {
    let apt = |arguments: &[&str]| {
        Call::new(root, "apt-get", arguments).env("DEBIAN_FRONTEND", "noninteractive")
    };
    // Somebody else may be installing.
    const PATIENCE: [&str; 2] = ["-o", "DPkg::Lock::Timeout=300"];
    let mut install = PATIENCE.to_vec();
    install.extend(["install", "--yes", "--no-install-recommends"]);
    install.extend(packages);
    // The package lists of a fresh machine are empty or old.
    report.call(apt(&["update"])) && report.call(apt(&install))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_there_only_in_the_right_version() {
        let component = |expected| Component {
            name: "shell",
            purpose: "",
            probe: (&["sh", "-c", "echo shell 1.2; echo more"], expected),
            source: Source::Toolchain { advice: "" },
        };
        let root = Path::new(".");
        assert_eq!(component("1.2").probe(root), Ok("shell 1.2".to_owned()));
        let error = component("1.3").probe(root).unwrap_err();
        assert!(
            error.contains("says `shell 1.2`, expected `1.3`"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_toolchain_part_is_a_failure_with_advice() {
        let source = Source::Toolchain {
            advice: "rustup component add rustfmt",
        };
        let mut report = Report::silent();
        assert!(!source.install(Path::new("."), &mut report));
        assert_eq!(
            source.advice(),
            "Install it with `rustup component add rustfmt`."
        );
    }
}
