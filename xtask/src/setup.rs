//! What the tests need that cargo does not bring: is it there, and if not, install it.
//!
//! Each component is one entry of [`COMPONENTS`] or of [`browser::COMPONENTS`]: how to see that it runs, where to get it (by name, from a public
//! registry, never from a bare address) and what it is for. A component that is missing and cannot be installed fails
//! the step: no test is left out because of it.

use std::path::Path;

use crate::browser;
use crate::process::Call;
use crate::steps::Report;

/// The project's own Python environment, at the top of the repository.
const VENV: &str = ".venv";

/// What comes from npm, at the top of the repository.
const NPM: &str = ".npm";

/// SUMO's version: results of the SUMO tests were checked with this one.
const SUMO: &str = "1.28.0";

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

const COMPONENTS: &[Component] = &[
    Component {
        name: "git",
        purpose: "lists the files that the tidy checks read",
        probe: (&["git", "--version"], "git version"),
        source: Source::Apt { packages: &["git"] },
    },
    Component {
        name: "rustfmt",
        purpose: "checks the layout of the source",
        probe: (&["cargo", "fmt", "--version"], "rustfmt"),
        source: Source::Toolchain {
            advice: "rustup component add rustfmt",
        },
    },
    Component {
        name: "clippy",
        purpose: "checks the source for mistakes",
        probe: (&["cargo", "clippy", "--version"], "clippy"),
        source: Source::Toolchain {
            advice: "rustup component add clippy",
        },
    },
    Component {
        name: "nextest",
        purpose: "runs the tests, each in a process of its own",
        probe: (&["cargo", "nextest", "--version"], "cargo-nextest 0.9."),
        source: Source::Cargo {
            package: "cargo-nextest",
            version: "0.9.151",
        },
    },
    Component {
        name: "sumo",
        purpose: "the traffic simulator that `--traffic sumo`, `--sumocfg` and the map reader are tested against",
        probe: (&[".venv/bin/sumo", "--version"], SUMO),
        source: Source::Pip {
            package: "eclipse-sumo",
            version: SUMO,
        },
    },
    Component {
        name: "pycrate",
        purpose: "a foreign decoder that CAMs with a coverage digest are tested against",
        probe: (
            &[
                ".venv/bin/python",
                "-c",
                "import importlib.metadata as m, pycrate_asn1dir.ITS_CAM_2; print(m.version('pycrate'))",
            ],
            "0.8.1",
        ),
        source: Source::Pip {
            package: "pycrate",
            version: "0.8.1",
        },
    },
    Component {
        name: "slurm",
        purpose: "the job scheduler that sweeps as job arrays are tested with, two nodes on this machine",
        probe: (&["slurmctld", "-V"], "slurm"),
        source: Source::Apt {
            packages: &["slurm-wlm"],
        },
    },
    Component {
        name: "munge",
        purpose: "what Slurm's daemons know each other by",
        probe: (&["munged", "--version"], "munge"),
        source: Source::Apt {
            packages: &["munge"],
        },
    },
    Component {
        name: "mcap",
        purpose: "Foxglove's reader, which exported recordings are tested against",
        probe: (
            &[
                ".venv/bin/python",
                "-c",
                "import importlib.metadata as m, mcap.reader; print(m.version('mcap'))",
            ],
            "1.6.0",
        ),
        source: Source::Pip {
            package: "mcap",
            version: "1.6.0",
        },
    },
    Component {
        name: "asn1tools",
        purpose: "a foreign decoder that CAMs with a coverage digest are tested against",
        probe: (
            &[
                ".venv/bin/python",
                "-c",
                "import importlib.metadata as m, asn1tools; print(m.version('asn1tools'))",
            ],
            "0.169.0",
        ),
        source: Source::Pip {
            package: "asn1tools",
            version: "0.169.0",
        },
    },
    Component {
        name: "asn1tools' source",
        purpose: "the ASN.1 modules of CAMs that asn1tools reads, which its tests bring",
        probe: (&["ls", ".venv/source/asn1tools-0.169.0.tar.gz"], "0.169.0"),
        source: Source::PipArchive {
            package: "asn1tools",
            version: "0.169.0",
        },
    },
    Component {
        name: "wiregasm",
        purpose: "Wireshark, the foreign dissector that captures are tested against",
        probe: (
            &[
                "node",
                "-p",
                "require('./.npm/node_modules/@goodtools/wiregasm/package.json').version",
            ],
            "1.9.1",
        ),
        source: Source::Npm {
            package: "@goodtools/wiregasm",
            version: "1.9.1",
        },
    },
    Component {
        name: "vite",
        purpose: "builds the viewer's page from web/, to be compared with what is embedded; beside it Foxglove's schemas",
        probe: (
            &[
                "node",
                "-p",
                "['typescript', '@foxglove/schemas', '@mcap/core', '@mcap/support', 'ajv', 'vite'].map((name) => require(`./web/node_modules/${name}/package.json`).version).pop()",
            ],
            "8.3.8",
        ),
        source: Source::NpmLock { folder: "web" },
    },
];

/// Probes every component and installs what is missing.
pub(crate) fn run(root: &Path, report: &mut Report) {
    for component in COMPONENTS.iter().chain(browser::COMPONENTS) {
        if let Ok(version) = component.probe(root) {
            report.note(format!("{}: {version}", component.name));
            continue;
        }
        report.note(format!(
            "{}: missing, installing it ({})",
            component.name, component.purpose
        ));
        if !component.source.install(root, report) {
            report.fail(&format!(
                "{} is missing and could not be installed. It is for this: {}. {}",
                component.name,
                component.purpose,
                component.source.advice()
            ));
            continue;
        }
        match component.probe(root) {
            Ok(version) => report.note(format!("{}: {version}", component.name)),
            Err(error) => report.fail(&format!(
                "{} was installed but does not run as expected: {error}",
                component.name
            )),
        }
    }
}

impl Component {
    /// The first line of what the probe says, if the component is there and of the right version.
    fn probe(&self, root: &Path) -> Result<String, String> {
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
    fn install(&self, root: &Path, report: &mut Report) -> bool {
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
            Self::Pip { package, version } => {
                let python = root
                    .join(VENV)
                    .join("bin/python")
                    .to_string_lossy()
                    .into_owned();
                ensure_venv(root, &python, report)
                    && report.call(Call::new(
                        root,
                        &python,
                        &[
                            "-m",
                            "pip",
                            "install",
                            "--disable-pip-version-check",
                            // Repairs an installation whose folder was moved, too.
                            "--force-reinstall",
                            &format!("{package}=={version}"),
                        ],
                    ))
            }
            Self::PipArchive { package, version } => {
                let python = root
                    .join(VENV)
                    .join("bin/python")
                    .to_string_lossy()
                    .into_owned();
                let pinned = format!("{package}=={version}");
                ensure_venv(root, &python, report)
                    && report.call(Call::new(
                        root,
                        &python,
                        &[
                            "-m",
                            "pip",
                            "download",
                            "--disable-pip-version-check",
                            "--no-deps",
                            "--no-binary",
                            package,
                            "--dest",
                            &format!("{VENV}/source"),
                            &pinned,
                        ],
                    ))
            }
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
                // Not `npm ci`: it wants the lock to list what optional packages of other platforms would need.
                &[
                    "install",
                    "--prefix",
                    folder,
                    "--no-save",
                    "--no-audit",
                    "--no-fund",
                ],
            )),
            Self::Apt { packages } => apt(root, packages, report),
        }
    }

    /// What a person can do where installing failed.
    fn advice(&self) -> String {
        match *self {
            Self::Toolchain { advice } => format!("Install it with `{advice}`."),
            Self::Cargo { package, version } => {
                format!("Try `cargo install --locked --version {version} {package}`.")
            }
            Self::Pip { package, version } => format!(
                "Try `python3 -m venv {VENV} && {VENV}/bin/python -m pip install {package}=={version}`."
            ),
            Self::PipArchive { package, version } => format!(
                "Try `{VENV}/bin/python -m pip download --no-deps --no-binary {package} --dest {VENV}/source {package}=={version}`."
            ),
            Self::Npm { package, version } => format!(
                "Node 20.19 or newer is needed. Try `npm install --prefix {NPM} {package}@{version}`."
            ),
            Self::NpmLock { folder } => {
                format!(
                    "Node 20.19 or newer is needed. Try `npm install --no-save --prefix {folder}`."
                )
            }
            Self::Apt { packages } => {
                format!("Try, as root, `apt-get install {}`.", packages.join(" "))
            }
        }
    }
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
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
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

    #[test]
    fn every_component_says_what_it_is_for() {
        assert!(
            COMPONENTS
                .iter()
                .chain(browser::COMPONENTS)
                .all(|component| !component.purpose.is_empty())
        );
    }
}
