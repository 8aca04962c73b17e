//! The web app and the playground, built from `web/` and `crates/playground` and embedded. `cargo xtask test web` builds them again
//! and fails where they differ.

/// A file of the web app.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Where it is served.
    pub(crate) path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// What paths of the playground begin with.
pub(crate) const PLAYGROUND: &str = "/playground/";

const ASSETS: &[Asset] = &[
    Asset {
        path: "/",
        content_type: HTML,
        bytes: include_bytes!("../assets/index.html"),
    },
    Asset {
        path: "/app.js",
        content_type: SCRIPT,
        bytes: include_bytes!("../assets/app.js"),
    },
    Asset {
        path: "/app.css",
        content_type: STYLE,
        bytes: include_bytes!("../assets/app.css"),
    },
    Asset {
        path: "/icon.svg",
        content_type: "image/svg+xml",
        bytes: include_bytes!("../assets/icon.svg"),
    },
    Asset {
        path: "/playground/",
        content_type: HTML,
        bytes: include_bytes!("../playground/index.html"),
    },
    Asset {
        path: "/playground/playground.js",
        content_type: SCRIPT,
        bytes: include_bytes!("../playground/playground.js"),
    },
    Asset {
        path: "/playground/worker.js",
        content_type: SCRIPT,
        bytes: include_bytes!("../playground/worker.js"),
    },
    Asset {
        path: "/playground/playground.css",
        content_type: STYLE,
        bytes: include_bytes!("../playground/playground.css"),
    },
    Asset {
        path: "/playground/playground.wasm",
        content_type: "application/wasm",
        bytes: include_bytes!("../playground/playground.wasm"),
    },
];

pub(crate) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}
