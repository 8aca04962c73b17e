//! What the tests need that cargo does not bring: is it there, and if not, install it.
//!
//! Each component is one entry of [`COMPONENTS`] or of [`browser::COMPONENTS`]: how to see that it runs, where to get it (by name, from a public
//! registry, never from a bare address) and what it is for. A component that is missing and cannot be installed fails
//! the step: no test is left out because of it.

use std::path::Path;

use crate::browser;
use crate::component::{Component, Source};
use crate::python;
use crate::step_report::Report;

/// SUMO's version: results of the SUMO tests were checked with this one.
const SUMO: &str = "1.28.0";

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
        name: "g++",
        purpose: "compiles libFuzzer, which searches for inputs that break a promise",
        probe: (&["c++", "--version"], "++"),
        source: Source::Apt { packages: &["g++"] },
    },
    Component {
        name: "valgrind",
        purpose: "counts the instructions of short runs",
        probe: (&["valgrind", "--version"], "valgrind"),
        source: Source::Apt {
            packages: &["valgrind"],
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
        name: "cryptography",
        purpose: "OpenSSL for Python, which verifies the signatures of the live node a second time",
        probe: (
            &[
                ".venv/bin/python",
                "-c",
                "import importlib.metadata as m, cryptography.hazmat.primitives.asymmetric.ec; print(m.version('cryptography'))",
            ],
            "50.0.2",
        ),
        source: Source::Pip {
            package: "cryptography",
            version: "50.0.2",
        },
    },
    Component {
        name: "pytest and others",
        purpose: "what the Python package is built and tested with",
        probe: (
            &[
                ".venv/bin/python",
                "python/tests/installed.py",
                python::REQUIREMENTS,
            ],
            "all are there",
        ),
        source: Source::PipFile {
            file: python::REQUIREMENTS,
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
            "8.3.5",
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

#[cfg(test)]
mod tests {
    use super::*;

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
