//! The bundled scenario, kept in the program so that the reproduction runs from anywhere.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::files::{self, FileError};

/// Its files, as they are in `scenarios/tamagawa`.
const FILES: [(&str, &[u8]); 6] = [
    (
        "scenario.toml",
        include_bytes!("../../../scenarios/tamagawa/scenario.toml"),
    ),
    (
        "tamagawa.net.xml.gz",
        include_bytes!("../../../scenarios/tamagawa/tamagawa.net.xml.gz"),
    ),
    (
        "tamagawa.poly.xml.gz",
        include_bytes!("../../../scenarios/tamagawa/tamagawa.poly.xml.gz"),
    ),
    (
        "PROVENANCE.md",
        include_bytes!("../../../scenarios/tamagawa/PROVENANCE.md"),
    ),
    (
        "profiles/closest.toml",
        include_bytes!("../../../scenarios/tamagawa/profiles/closest.toml"),
    ),
    (
        "profiles/closest-hosted.toml",
        include_bytes!("../../../scenarios/tamagawa/profiles/closest-hosted.toml"),
    ),
];

/// The hash is that of the bundled net, as [`hash_file`](crate::world::hash_file) gives it: results are of the letter's corridor.
#[must_use]
pub fn is_net(hash: &str) -> bool {
    static NET: OnceLock<String> = OnceLock::new();
    let net = NET.get_or_init(|| blake3::hash(FILES[1].1).to_hex()[..32].to_string());
    hash == net
}

/// Puts the scenario into `folder`, where results can be traced back to it, and gives the path of its `scenario.toml`.
///
/// # Errors
/// The folder cannot be made or written.
pub fn unpack(folder: &Path) -> Result<PathBuf, FileError> {
    files::make_folder(&folder.join("profiles"))?;
    for (name, bytes) in FILES {
        let path = folder.join(name);
        // Another process may be reading the file: what is right already is left alone.
        if std::fs::read(&path).is_ok_and(|there| there == bytes) {
            continue;
        }
        files::write(&path, bytes)?;
    }
    Ok(folder.join(FILES[0].0))
}

#[cfg(test)]
mod tests {
    use covey_simulator::Scenario;

    use super::*;
    use crate::files::tests::Folder;

    #[test]
    fn everything_that_the_scenario_names_comes_with_it() {
        let folder = Folder::new("bundled");
        let file = unpack(&folder.0.join("scenario")).unwrap();
        let scenario = Scenario::read(&file).unwrap();
        assert_eq!(scenario.name, "tamagawa");
        assert!(scenario.net().is_file());
        assert!(scenario.buildings().iter().all(|file| file.is_file()));
        assert_eq!(unpack(&folder.0.join("scenario")).unwrap(), file);
    }
}
