//! `covey clean`: what a results folder holds, and what of it is stale.

use std::path::{Path, PathBuf};

use clap::Args;
use covey_experiment::folder::{EARLIER, Lock, Writing};
use covey_experiment::outputs::PARKED;
use covey_experiment::store::Store;
use covey_experiment::{files, revision};

use crate::failure::{Failure, note, print};
use crate::laboratory::file_failure;
use crate::terminal::output_width;
use crate::terminal_table::Table;

/// Show what a results folder holds, and remove what is stale
///
/// Results of different programs and parameters live side by side in one folder. Stale is what this program can neither use nor make
/// again: results, tables and reports of other programs, damaged files, and what ended processes left. Results of this program with
/// other parameters are not stale: a call with those parameters finds them again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  covey clean out/letter\n  covey clean out/letter --remove")]
pub(crate) struct Arguments {
    /// A folder that `covey reproduce`, `covey run` or `covey sweep` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Remove what is stale
    #[arg(long)]
    remove: bool,
}

/// Something in a results folder.
struct Item {
    what: String,
    path: PathBuf,
    stale: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    if !folder.is_dir() {
        return Err(Failure::input(folder.display(), "found no such folder"));
    }
    let known = ["seeds", EARLIER, PARKED, "traffic", "stale", "damaged"];
    let ours = known.iter().any(|name| folder.join(name).is_dir());
    if !ours && !folder.join("summary.json").is_file() && !folder.join("sweep.json").is_file() {
        return Err(Failure::input(
            folder.display(),
            "found no results, expected a folder that `covey reproduce`, `covey run` or `covey sweep` wrote",
        ));
    }
    // Whoever works there would have its files taken away.
    let lock = match arguments.remove {
        true => Some(
            Lock::ask(folder, Writing::Alone)
                .map_err(file_failure)?
                .ok_or_else(|| {
                    let who = Lock::holder(folder).unwrap_or_else(|| "another process".to_string());
                    Failure::Other(format!("{}: in use by {who}", folder.display()))
                })?,
        ),
        false => None,
    };
    let alone = lock.as_ref().is_some_and(Lock::is_alone);
    let items = items(folder, alone);
    let mut table = Table::new(2, &["what", "where", "MB", ""]);
    for item in &items {
        table.row(vec![
            item.what.clone(),
            name_within(&item.path, folder),
            format!("{:.1}", files::size(&item.path) as f64 / 1e6),
            match (item.stale, arguments.remove) {
                (true, true) => "removed".to_string(),
                (true, false) => "stale".to_string(),
                (false, _) => String::new(),
            },
        ]);
    }
    let text = table.fit(output_width());
    let stale = items.iter().filter(|item| item.stale);
    if arguments.remove {
        for item in stale {
            files::remove(&item.path);
        }
        for name in [EARLIER, PARKED, "stale", "damaged"] {
            // Where something is left in it, it stays.
            let _ = std::fs::remove_dir(folder.join(name));
        }
    } else if stale.count() > 0 {
        note("nothing was removed; --remove removes what is stale");
    }
    print(&text)
}

fn name_within(path: &Path, folder: &Path) -> String {
    let within = path.strip_prefix(folder).unwrap_or(path);
    within.display().to_string()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    all.sort();
    all
}

fn items(folder: &Path, alone: bool) -> Vec<Item> {
    let mut items = Vec::new();
    for kept in Store::existing(folder).all() {
        let (what, stale) = match &kept.note {
            None => ("results of an earlier revision".to_string(), true),
            Some(note) => {
                let mut what = format!("{}, {}, {}", note.scenario, note.traffic, note.window);
                if !note.values.is_empty() {
                    what.push_str(&format!(", {}", note.values));
                }
                let other = note.program != revision::program();
                if other {
                    what.push_str(&format!("; another program's, revision {}", note.revision));
                }
                (what, other)
            }
        };
        items.push(Item {
            what: format!(
                "{} of {what}",
                crate::laboratory::counted(kept.seeds, "seed")
            ),
            path: kept.path,
            stale,
        });
    }
    let mut add = |name: &str, what: &str, stale: bool| {
        for path in entries(&folder.join(name)) {
            let what = what.to_string();
            items.push(Item { what, path, stale });
        }
    };
    add(
        EARLIER,
        "summary, tables and report of another program",
        true,
    );
    add("stale", "set aside by an earlier revision", true);
    add("damaged", "damaged", true);
    add(PARKED, "recordings of another run", false);
    add("fits", "a fit of d_min", false);
    for path in entries(&folder.join("traffic")) {
        let name = name_within(&path, &folder.join("traffic"));
        let stale = !covey_traffic::sumo::is_current_trace(&name);
        let what = match stale {
            true => "traffic of an earlier edition",
            false => "SUMO's traffic of one seed",
        };
        items.push(Item {
            what: what.to_string(),
            path,
            stale,
        });
    }
    let leftovers = files::leftovers(folder, alone);
    items.retain(|item| !leftovers.contains(&item.path));
    items.extend(leftovers.into_iter().map(|path| Item {
        what: "left by a process that was ended".to_string(),
        path,
        stale: true,
    }));
    items
}
