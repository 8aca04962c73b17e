//! The web app, built from `web/` and embedded. `cargo xtask test web` builds it again and fails where the two differ.

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
];

pub(crate) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}
