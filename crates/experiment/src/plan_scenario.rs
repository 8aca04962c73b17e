//! What a plan is about: a scenario of ours, a SUMO configuration, or a recording.

use std::path::{Path, PathBuf};

use crate::world::{Base, WorldError};

/// What a plan is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanScenario {
    /// The bundled scenario.
    Bundled,
    /// A scenario file.
    File(PathBuf),
    /// A SUMO configuration, with polygon files.
    Sumocfg(PathBuf, Vec<PathBuf>),
    /// Recorded floating-car data on a net, with polygon files.
    Recording {
        /// The net.
        net: PathBuf,
        /// The recording.
        fcd: PathBuf,
        /// Polygon files.
        buildings: Vec<PathBuf>,
    },
}

impl PlanScenario {
    /// From what a plan names: scenario, SUMO configuration, net, recording; and polygon files.
    pub(crate) fn new(
        named: [Option<PathBuf>; 4],
        buildings: Vec<PathBuf>,
    ) -> Result<Self, String> {
        match named {
            [None, Some(file), None, None] => Ok(Self::Sumocfg(file, buildings)),
            [None, None, Some(net), Some(fcd)] => Ok(Self::Recording {
                net,
                fcd,
                buildings,
            }),
            [None, None, None, None] if buildings.is_empty() => Ok(Self::Bundled),
            [Some(file), None, None, None] if buildings.is_empty() => Ok(Self::File(file)),
            _ => Err(
                "expected one of `scenario`, `sumocfg`, or `net` with `fcd`; `buildings` goes with the last two"
                    .to_string(),
            ),
        }
    }

    /// With paths from `folder` on.
    pub(crate) fn within(self, folder: &Path) -> Self {
        let all = |files: Vec<PathBuf>| files.iter().map(|file| folder.join(file)).collect();
        match self {
            Self::Bundled => Self::Bundled,
            Self::File(file) => Self::File(folder.join(file)),
            Self::Sumocfg(file, buildings) => Self::Sumocfg(folder.join(file), all(buildings)),
            Self::Recording {
                net,
                fcd,
                buildings,
            } => Self::Recording {
                net: folder.join(net),
                fcd: folder.join(fcd),
                buildings: all(buildings),
            },
        }
    }

    /// The scenario before anything is changed in it; `bundled` gives the path of the bundled one.
    ///
    /// # Errors
    /// A file cannot be read or is no scenario.
    pub fn base<E: From<WorldError>>(
        &self,
        bundled: impl FnOnce() -> Result<PathBuf, E>,
    ) -> Result<Base, E> {
        Ok(match self {
            Self::Bundled => Base::read(&bundled()?)?,
            Self::File(file) => Base::read(file)?,
            Self::Sumocfg(file, buildings) => Base::from_sumocfg(&name_of(file), file, buildings)?,
            Self::Recording {
                net,
                fcd,
                buildings,
            } => Base::from_recording(&name_of(net), net, fcd, buildings),
        })
    }
}

/// What a scenario that is no file of ours is called: as its file, or, where that says nothing (`run.sumocfg`), as its folder.
#[must_use]
pub fn name_of(file: &Path) -> String {
    const SAYING_NOTHING: [&str; 12] = [
        "run",
        "osm",
        "sumo",
        "scenario",
        "config",
        "conf",
        "simulation",
        "sim",
        "net",
        "map",
        "test",
        "main",
    ];
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default().to_string();
    let full = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let folder = full.parent().and_then(Path::file_name);
    match folder {
        Some(folder) if SAYING_NOTHING.contains(&stem.to_ascii_lowercase().as_str()) => {
            folder.to_string_lossy().into_owned()
        }
        _ if stem.is_empty() => "scenario".to_string(),
        _ => stem,
    }
}
