//! The viewer's page and the playground's: their sources in `web/`, what is built from them in `crates/viewer`.
//!
//! The built files are committed, so that building the binary needs no Node. This step builds them again beside them and
//! complains where the two differ.

use std::collections::BTreeMap;
use std::path::Path;

use crate::playground;
use crate::process::Call;
use crate::step_report::Report;

const EMBEDDED: &str = "crates/viewer/assets";
const PLAYGROUND: &str = "crates/viewer/playground";

pub(crate) fn run(root: &Path, report: &mut Report) {
    let web = root.join("web");
    let out = root.join("target/web");
    let played = root.join("target/web-playground");
    let npm = |script: &str| {
        Call::new(&web, "npm", &["run", script])
            .env("COVEY_WEB_OUT", &out.to_string_lossy())
            .env("COVEY_PLAYGROUND_OUT", &played.to_string_lossy())
    };
    if report.call(npm("check")) && report.call(npm("build")) {
        report.complain(compare(root, EMBEDDED, &out));
        report.complain(compare(root, PLAYGROUND, &played));
    }
    playground::check(root, report);
}

/// How the files of two folders differ.
fn compare(root: &Path, folder: &str, built: &Path) -> Result<Vec<String>, String> {
    let (embedded, built) = (files(&root.join(folder))?, files(built)?);
    let mut complaints = Vec::new();
    let names: std::collections::BTreeSet<_> = embedded.keys().chain(built.keys()).collect();
    for name in names {
        let problem = match (embedded.get(name), built.get(name)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(_), Some(_)) => "is not what web/ builds",
            (Some(_), None) => "is not built from web/",
            (None, _) => "is built from web/ but not there",
        };
        complaints.push(format!(
            "{folder}/{name} {problem}: run `npm run build` in web/ and commit the result"
        ));
    }
    Ok(complaints)
}

fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if playground::OTHERS
            .iter()
            .any(|name| entry.file_name() == *name)
        {
            continue;
        }
        let bytes = std::fs::read(entry.path()).map_err(unreadable)?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), bytes);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named() {
        let folder = std::env::temp_dir().join(format!("covey-web-{}", std::process::id()));
        let (a, b) = (folder.join("a"), folder.join("b"));
        for (path, text) in [
            (a.join("same"), "x"),
            (b.join("same"), "x"),
            (a.join("other"), "x"),
            (b.join("other"), "y"),
            (b.join("new"), "z"),
        ] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let complaints = compare(&folder, "a", &b).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("/new is built from web/ but not there"));
        assert!(complaints[1].contains("/other is not what web/ builds"));
    }
}
