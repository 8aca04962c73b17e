//! A map out of its files: one net and any number of polygon files.

use std::path::{Path, PathBuf};

use crate::map_error::{MapError, Warnings};
use crate::network::{Map, Network};
use crate::polygons::{BuildingRule, read_buildings};
use crate::xml::Limits;

/// How maps are read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MapOptions {
    /// Which polygons are buildings.
    pub buildings: BuildingRule,
    /// How much a file may unpack to.
    pub limits: Limits,
}

impl Map {
    /// Reads the net at `net` and the buildings of all `polygons`, in that order.
    ///
    /// What was left out is counted in the [`Warnings`].
    ///
    /// # Errors
    /// If a file cannot be read or is damaged; the error names file and line.
    pub fn read(
        net: &Path,
        polygons: &[PathBuf],
        options: &MapOptions,
    ) -> Result<(Self, Warnings), MapError> {
        let (network, mut warnings) = Network::read(net, options.limits)?;
        let mut buildings = Vec::new();
        for path in polygons {
            buildings.extend(read_buildings(
                path,
                &options.buildings,
                network.location.as_ref(),
                options.limits,
                &mut warnings,
            )?);
        }
        Ok((Self { network, buildings }, warnings))
    }
}
