//! From finished output folders to what the repository shows: `results/`, figures in `docs/figures`, and the generated parts of
//! `docs/results.md`, `docs/beyond-the-letter.md`, `docs/channel.md`, `docs/security.md` and `README.md`.
//!
//! Folders that are missing are named together with the command that makes them. A run whose folder is missing is taken from
//! `results/`, where its summary was kept; what cannot be made from either stays as it was. Nothing is written unless everything
//! that is there could be read.

mod demand;
mod demand_road;
mod density;
pub mod markers;
mod misbehaviour;
mod road;
mod runs;
mod sidelink;
mod sweep;
mod tiles;
mod verdict;

use std::io;
use std::path::{Path, PathBuf};

use covey_simulator::Arms;
use thiserror::Error;

use crate::files::{self, FileError};
use crate::report::{self, Input, ReadError, SERIES_FILE};
use crate::summary::FILE as SUMMARY_FILE;
use runs::Run;

/// The figure that README shows, beside its summary.
const PARETO: &str = "1-deficit-over-load.svg";
/// Where the density figure goes.
const DENSITY_FIGURE: &str = "docs/figures/density-penetration.svg";
/// Documents with generated parts.
const DOCUMENTS: [&str; 5] = [
    "docs/results.md",
    "docs/beyond-the-letter.md",
    "docs/channel.md",
    "docs/security.md",
    "README.md",
];

/// An output folder and the command that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Its name in the folder of outputs and in `results/`.
    pub name: &'static str,
    /// What it is called in tables.
    pub title: &'static str,
    /// The command that makes it.
    pub command: &'static str,
    /// Its constants were fitted to the letter's figures.
    pub fitted: bool,
}

const fn source(name: &'static str, title: &'static str, command: &'static str) -> Source {
    Source {
        name,
        title,
        command,
        fitted: false,
    }
}

const fn fitted(name: &'static str, title: &'static str, command: &'static str) -> Source {
    Source {
        fitted: true,
        ..source(name, title, command)
    }
}

/// The letter's evaluation: as frozen, under fitted profiles, on SUMO's traffic, with encoded sizes.
const LETTER: [Source; 5] = [
    source("letter", "built-in", "cargo run --release -- reproduce"),
    fitted(
        "closest",
        "`closest`",
        "cargo run --release -- reproduce --profile closest",
    ),
    fitted(
        "closest-hosted",
        "`closest-hosted`",
        "cargo run --release -- reproduce --profile closest-hosted",
    ),
    source(
        "letter-sumo",
        "SUMO",
        "cargo run --release -- reproduce --traffic sumo",
    ),
    source(
        "letter-uper",
        "built-in, real bytes (`uper`)",
        "cargo run --release -- reproduce --sizes uper",
    ),
];
/// The policy of our own, on both kinds of traffic.
const BEYOND: [Source; 2] = [
    source(
        "beyond",
        "built-in",
        "cargo run --release -- reproduce --beyond",
    ),
    source(
        "beyond-sumo",
        "SUMO",
        "cargo run --release -- reproduce --beyond --traffic sumo",
    ),
];
const CRITICAL: Source = source(
    "critical-density",
    "1.5 times our own k_c",
    "cargo run --release -- sweep examples/critical-density.toml",
);
const READINGS: Source = source(
    "readings",
    "readings",
    "cargo run --release -- sweep examples/readings.toml",
);
const DENSITY: Source = source(
    "density-penetration",
    "density and penetration",
    "cargo run --release -- sweep examples/density-penetration.toml",
);

const ROBUSTNESS: Source = source(
    "robustness",
    "robustness",
    "cargo run --release -- sweep examples/robustness.toml",
);
const MISBEHAVIOUR: Source = source(
    "misbehaviour",
    "misbehaviour",
    "cargo run --release -- sweep examples/misbehaviour.toml",
);
const DEMAND_SUMO: Source = source(
    "demand-sumo",
    "SUMO",
    "cargo run --release -- sweep examples/demand-sumo.toml",
);

const DEMAND_ROAD: Source = source(
    "demand-road",
    "choice by demand on the road",
    "cargo run --release -- sweep examples/demand-road.toml",
);
const DEMAND_DENSITY: Source = source(
    "demand-density",
    "choice by demand by density and penetration",
    "cargo run --release -- sweep examples/demand-density.toml",
);
const DEMAND_CITIES: Source = source(
    "demand-cities",
    "choice by demand in published cities",
    "examples/demand-cities.sh",
);
const ROAD: Source = source(
    "road",
    "the road as it is",
    "cargo run --release -- sweep examples/road.toml",
);
const SIDELINK: Source = source(
    "sidelink",
    "slot by slot",
    "cargo run --release -- sweep examples/sidelink.toml",
);
const SIDELINK_UPER: Source = source(
    "sidelink-uper",
    "slot by slot, encoded sizes",
    "cargo run --release -- sweep examples/sidelink-uper.toml",
);

/// Why results could not be made.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// A summary cannot be used.
    #[error(transparent)]
    Summary(#[from] ReadError),
    /// A table cannot be used.
    #[error("{}: {source}", path.display())]
    Table {
        /// The table's file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// A document's markers do not match, or it cannot be read.
    #[error("{document}: {problem}")]
    Document {
        /// Its path in the repository.
        document: String,
        /// Where and what.
        problem: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What was made and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    /// Files written, relative to the repository's top.
    pub written: Vec<PathBuf>,
    /// A line for each thing to know: folders missing, with the command that makes them; runs taken from `results/`.
    pub remarks: Vec<String>,
}

/// Files and document parts in the making.
#[derive(Debug)]
struct Gathered<'a> {
    /// The table of arms.
    known: &'a Arms,
    files: Vec<(PathBuf, String)>,
    parts: Vec<(String, String)>,
    remarks: Vec<String>,
}

impl<'a> Gathered<'a> {
    fn part(&mut self, name: &str, text: String) {
        self.parts.push((name.to_string(), text));
    }

    /// A run from its output folder, or from what is kept of it.
    fn run(
        &mut self,
        root: &Path,
        out: &Path,
        source: Source,
    ) -> Result<Option<Run<'a>>, ResultsError> {
        let folder = out.join(source.name);
        let kept = root.join("results").join(source.name);
        let fresh = folder.join(SUMMARY_FILE).is_file();
        if !fresh {
            let instead = if kept.join(SUMMARY_FILE).is_file() {
                format!("; its figures are taken from {}", kept.display())
            } else {
                String::new()
            };
            self.remarks.push(format!(
                "{}: not there{instead}. `{}` makes it",
                folder.display(),
                source.command
            ));
        }
        let from = if fresh { folder } else { kept };
        if !from.join(SUMMARY_FILE).is_file() {
            return Ok(None);
        }
        let run = Run {
            name: source.name,
            title: source.title,
            fitted: source.fitted,
            input: Input::read(&from)?,
            known: self.known,
        };
        if let Some(remark) = run.input.summary.outdated() {
            self.remarks.push(format!("{}: {remark}", from.display()));
        }
        if fresh {
            self.keep_numbers(source, &from)?;
        }
        self.keep(source, &run);
        Ok(Some(run))
    }

    /// What the repository keeps of a run that is there: its summary, of the letter's own evaluation also the series of its figures.
    fn keep_numbers(&mut self, source: Source, folder: &Path) -> Result<(), ResultsError> {
        let kept = Path::new("results").join(source.name);
        let series = source.name == LETTER[0].name && folder.join(SERIES_FILE).is_file();
        let names = [Some(SUMMARY_FILE), series.then_some(SERIES_FILE)];
        for name in names.into_iter().flatten() {
            let path = folder.join(name);
            let text = std::fs::read_to_string(&path)
                .map_err(|source| ResultsError::Table { path, source })?;
            self.files.push((kept.join(name), text));
        }
        Ok(())
    }

    /// What the repository shows of a run besides: the Pareto figure, of the letter's own evaluation report and all figures. They are made
    /// anew of a summary that was kept, too, so that all of them are of one program.
    fn keep(&mut self, source: Source, run: &Run<'_>) {
        let kept = Path::new("results").join(source.name);
        let report = report::render(&run.input, self.known);
        let whole = source.name == LETTER[0].name;
        for (name, svg) in report.figures {
            if whole || name == PARETO {
                self.files.push((kept.join("figures").join(name), svg));
            }
        }
        if whole {
            self.files.push((kept.join("report.html"), report.html));
        }
    }

    fn letter(&mut self, root: &Path, out: &Path) -> Result<(), ResultsError> {
        let mut all = Vec::new();
        for source in LETTER {
            all.extend(self.run(root, out, source)?);
        }
        if all.is_empty() {
            return Ok(());
        }
        let everything: Vec<&Run<'_>> = all.iter().collect();
        // Findings stand side by side; tables of arms would be too wide, and figures that were fitted are better apart anyway.
        let (fitted, frozen): (Vec<&Run<'_>>, Vec<&Run<'_>>) =
            all.iter().partition(|run| run.fitted);
        self.part("setting", runs::setting(&everything));
        self.part("findings-count", runs::finding_counts(&everything));
        self.part("findings", runs::finding_table(&everything));
        self.part("arms", runs::arms(&frozen));
        self.part("paired", runs::paired(&frozen));
        self.part("equal-load", runs::equal_load(&frozen));
        if !fitted.is_empty() {
            self.part("arms-fitted", runs::arms(&fitted));
            self.part("paired-fitted", runs::paired(&fitted));
        }
        for (name, part) in [
            ("letter", "parts"),
            ("letter-sumo", "parts-sumo"),
            ("letter-uper", "parts-uper"),
        ] {
            if let Some(run) = all.iter().find(|run| run.name == name) {
                self.part(part, runs::parts(run));
            }
        }
        if let Some(run) = all.iter().find(|run| run.name == LETTER[0].name) {
            self.part("verdict", verdict::text(run, &fitted));
            self.part("power", runs::power(run));
            self.part("secondary", runs::secondary(run));
            let score = runs::score(run);
            self.parts
                .extend(score.map(|text| ("score".to_string(), text)));
            let figure = format!("results/{}/figures/{PARETO}", LETTER[0].name);
            let caption = runs::caption(run);
            self.part(
                "pareto",
                format!("![Deficit over load]({figure})\n\n{caption}"),
            );
        }
        for (name, part) in [("letter", "tiles"), ("letter-sumo", "tiles-sumo")] {
            let path = out.join(name).join("cycles.parquet");
            if path.is_file() {
                let tiles = tiles::Tiles::read(&path)
                    .map_err(|source| ResultsError::Table { path, source })?;
                self.part(part, tiles.markdown());
            }
        }
        Ok(())
    }

    fn beyond(&mut self, root: &Path, out: &Path) -> Result<(), ResultsError> {
        let mut all = Vec::new();
        for source in BEYOND {
            all.extend(self.run(root, out, source)?);
        }
        if let Some(run) = all.iter().find(|run| run.name == BEYOND[0].name) {
            self.parts.extend(demand::parts(run));
        }
        let all: Vec<&Run<'_>> = all.iter().collect();
        if !all.is_empty() {
            self.part("beyond", runs::arms(&all));
            self.part("beyond-paired", runs::paired(&all));
        }
        Ok(())
    }

    /// Arms on the channel slot by slot, beside the channel by load.
    fn sidelink(&mut self, out: &Path) -> Result<(), ResultsError> {
        let mut worlds = Vec::new();
        for (source, encoded) in [(SIDELINK, false), (SIDELINK_UPER, true)] {
            if self.sweep(out, source, &[crate::plan::VARIANT])?.is_none() {
                continue;
            }
            let folder = out.join(source.name);
            let more = sidelink::read(&folder, encoded).map_err(|source| ResultsError::Table {
                path: folder.clone(),
                source,
            })?;
            for (number, mut world) in more.into_iter().enumerate() {
                let kept = folder.join("worlds").join((number + 1).to_string());
                if !encoded && kept.join(SUMMARY_FILE).is_file() {
                    let input = Input::read(&kept)?;
                    world.findings = report::findings(&input, self.known);
                    world.paired = input.summary.paired;
                }
                worlds.push(world);
            }
        }
        if !worlds.is_empty() {
            self.parts.extend(sidelink::parts(&worlds));
        }
        Ok(())
    }

    /// The runs of a sweep, if it is there.
    fn sweep(
        &mut self,
        out: &Path,
        source: Source,
        keys: &[&str],
    ) -> Result<Option<Vec<sweep::WorldRuns>>, ResultsError> {
        let path = out.join(source.name).join("runs.parquet");
        if !path.is_file() {
            self.remarks.push(format!(
                "{}: not there; its tables stay as they are. `{}` makes it",
                path.display(),
                source.command
            ));
            return Ok(None);
        }
        sweep::read(&path, keys)
            .map(Some)
            .map_err(|source| ResultsError::Table { path, source })
    }

    /// The arm `demand` on roads as they are, beside its rivals.
    fn demand_road(&mut self, out: &Path) -> Result<(), ResultsError> {
        type Made = fn(&Path) -> io::Result<Option<String>>;
        let tables: [(Source, &[&str], Made); 2] = [
            (DEMAND_ROAD, &[crate::plan::VARIANT], demand_road::tables),
            (
                DEMAND_DENSITY,
                &demand_road::DENSITY_KEYS,
                demand_road::density_table,
            ),
        ];
        for (source, keys, table) in tables {
            if self.sweep(out, source, keys)?.is_none() {
                continue;
            }
            let path = out.join(source.name).join("runs.parquet");
            let made = table(&path).map_err(|source| ResultsError::Table { path, source })?;
            self.parts
                .extend(made.map(|text| (source.name.to_string(), text)));
        }
        let path = out.join(DEMAND_CITIES.name);
        if !path.is_dir() {
            self.remarks.push(format!(
                "{}: not there; its tables stay as they are. `{}` makes it",
                path.display(),
                DEMAND_CITIES.command
            ));
            return Ok(());
        }
        let made = demand_road::cities_tables(&path)
            .map_err(|source| ResultsError::Table { path, source })?;
        self.parts
            .extend(made.map(|text| (DEMAND_CITIES.name.to_string(), text)));
        Ok(())
    }

    fn sweeps(&mut self, out: &Path) -> Result<(), ResultsError> {
        let keys = [crate::plan::VARIANT, crate::world::MARGIN];
        if let Some(worlds) = self.sweep(out, READINGS, &keys)?
            && let Some(table) = sweep::readings_table(&worlds)
        {
            self.part("readings", table);
        }
        if let Some(worlds) = self.sweep(out, DENSITY, &density::KEYS)? {
            self.parts.extend(density::table(&worlds).map(|text| {
                let figure = "![deficit and load over penetration, by density](figures/density-penetration.svg)";
                ("density-penetration".to_string(), format!("{figure}\n\n{text}"))
            }));
            self.files.extend(
                density::figure(&worlds, self.known)
                    .map(|svg| (PathBuf::from(DENSITY_FIGURE), svg)),
            );
        }
        if let Some(worlds) = self.sweep(out, CRITICAL, &[])? {
            self.parts.extend(
                worlds
                    .first()
                    .map(|world| ("critical-density".to_string(), sweep::arms_table(world))),
            );
        }
        if let Some(worlds) = self.sweep(out, ROBUSTNESS, &[crate::plan::VARIANT])?
            && let Some(table) = demand::robustness_table(&worlds)
        {
            self.part("robustness", table);
        }
        if let Some(worlds) = self.sweep(out, MISBEHAVIOUR, &[crate::plan::VARIANT])?
            && let Some(table) = misbehaviour::table(&worlds)
        {
            self.part("misbehaviour", table);
        }
        self.sidelink(out)?;
        if self.sweep(out, ROAD, &[crate::plan::VARIANT])?.is_some() {
            let path = out.join(ROAD.name).join("runs.parquet");
            let tables =
                road::tables(&path).map_err(|source| ResultsError::Table { path, source })?;
            self.part("road", tables);
        }
        self.demand_road(out)?;
        if self.sweep(out, DEMAND_SUMO, &[])?.is_some() {
            let read = |name: &str, table: fn(&Path) -> io::Result<String>| {
                let path = out.join(DEMAND_SUMO.name).join(name);
                table(&path).map_err(|source| ResultsError::Table { path, source })
            };
            self.part("demand-sumo", read("arms.parquet", demand::arms_table)?);
            self.part(
                "demand-sumo-paired",
                read("paired.parquet", demand::paired_table)?,
            );
        }
        Ok(())
    }
}

/// Makes everything that the folders in `out` allow, in the repository at `root`. Order and looks of arms come from `known`.
///
/// # Errors
/// A file that is there cannot be read or is not what it should be, markers of a document do not match, or a file cannot be
/// written.
pub fn make(root: &Path, out: &Path, known: &Arms) -> Result<Made, ResultsError> {
    let mut gathered = Gathered {
        known,
        files: Vec::new(),
        parts: Vec::new(),
        remarks: Vec::new(),
    };
    gathered.letter(root, out)?;
    gathered.beyond(root, out)?;
    gathered.sweeps(out)?;
    let Gathered {
        mut files,
        parts,
        mut remarks,
        ..
    } = gathered;
    let mut known = Vec::new();
    for document in DOCUMENTS {
        let wrong = |problem: String| ResultsError::Document {
            document: document.to_string(),
            problem,
        };
        let before = std::fs::read_to_string(root.join(document))
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        known.extend(markers::names(&before));
        let after = markers::fill(&before, &parts).map_err(|error| wrong(error.to_string()))?;
        if after != before {
            files.push((PathBuf::from(document), after));
        }
    }
    for (name, _) in parts.iter().filter(|(name, _)| !known.contains(name)) {
        remarks.push(format!(
            "no document has a place for `{name}` (`<!-- begin: {name} -->`)"
        ));
    }
    let mut written = Vec::new();
    for (path, text) in files {
        let full = root.join(&path);
        if std::fs::read_to_string(&full).is_ok_and(|there| there == text) {
            continue;
        }
        if let Some(folder) = full.parent() {
            files::make_folder(folder)?;
        }
        files::write(&full, text.as_bytes())?;
        written.push(path);
    }
    Ok(Made { written, remarks })
}

#[cfg(test)]
mod tests;
