//! The browser that pages are tested in: Chromium from Debian, driven from Node by playwright-core, which brings no browser of its
//! own.

use crate::component::{Component, Source};

pub(crate) const COMPONENTS: &[Component] = &[
    Component {
        name: "chromium",
        purpose: "the browser that the report and the viewer are tested in",
        probe: (&["chromium", "--version"], "Chromium "),
        source: Source::Apt {
            // The fonts make text as wide on every machine.
            packages: &["chromium", "fonts-dejavu-core"],
        },
    },
    Component {
        name: "playwright-core",
        purpose: "drives the browser",
        probe: (
            &[
                "node",
                "-p",
                "require('./.npm/node_modules/playwright-core/package.json').version",
            ],
            "1.65.0",
        ),
        source: Source::Npm {
            package: "playwright-core",
            version: "1.65.0",
        },
    },
];
