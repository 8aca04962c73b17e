//! Made-up outputs through the whole of it.

use std::fs;

use super::*;
use crate::files::tests::Folder;
use crate::report::{SeriesBuilder, sample};
use crate::tables::typed::{Cell, Column, Kind, ParquetTable};

/// A repository with the documents.
fn repository(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir_all(folder.0.join("docs")).unwrap();
    let part = |name: &str| format!("<!-- begin: {name} -->\nnot yet\n<!-- end -->\n");
    let names = [
        "verdict",
        "power",
        "arms-fitted",
        "paired-fitted",
        "setting",
        "arms",
        "findings-count",
        "findings",
        "paired",
        "equal-load",
        "parts",
        "parts-sumo",
        "parts-uper",
        "secondary",
        "score",
        "tiles",
        "tiles-sumo",
        "readings",
        "density-penetration",
        "critical-density",
        "road",
        "beyond",
        "beyond-paired",
    ];
    let text: String = names.iter().map(|name| part(name)).collect();
    fs::write(
        folder.0.join("docs/results.md"),
        format!("# Results\n{text}"),
    )
    .unwrap();
    let names = [
        "demand-gains",
        "demand-steps",
        "demand-misses",
        "robustness",
        "demand-sumo",
        "demand-sumo-paired",
    ];
    let text: String = names.iter().map(|name| part(name)).collect();
    fs::write(folder.0.join("docs/beyond-the-letter.md"), text).unwrap();
    let names = [
        "sidelink",
        "sidelink-channel",
        "sidelink-delivery",
        "sidelink-findings",
        "sidelink-demand",
    ];
    let text: String = names.iter().map(|name| part(name)).collect();
    fs::write(folder.0.join("docs/channel.md"), text).unwrap();
    fs::write(folder.0.join("docs/security.md"), part("misbehaviour")).unwrap();
    fs::write(
        folder.0.join("README.md"),
        format!("# Covey\n{}", part("pareto")),
    )
    .unwrap();
    folder
}

fn put_run(folder: &Path, seeds: u64) {
    fs::create_dir_all(folder).unwrap();
    let mut builder = SeriesBuilder::new(0.2);
    for (outcome, cycles) in sample::runs(seeds) {
        builder.add(&outcome, &cycles);
    }
    fs::write(folder.join(SUMMARY_FILE), sample::summary(seeds)).unwrap();
    let series = serde_json::to_string(&builder.finish()).unwrap();
    fs::write(folder.join(report::SERIES_FILE), series).unwrap();
}

fn put_table(file: &Path, columns: &[(&str, Kind)], rows: &[Vec<Cell>]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let columns = columns.iter().map(|(name, kind)| Column::new(*name, *kind));
    let mut table = ParquetTable::new(Vec::new(), columns.collect()).unwrap();
    table.rows(rows).unwrap();
    fs::write(file, table.finish().unwrap()).unwrap();
}

#[test]
fn everything_that_is_there_is_shown_and_the_rest_is_named() {
    let repository = repository("results");
    let root = &repository.0;
    let out = root.join("out");
    put_run(&out.join("letter"), 17);
    put_run(&out.join("letter-uper"), 17);
    put_table(
        &out.join("letter/cycles.parquet"),
        &[
            ("arm", Kind::Text),
            ("tile_x", Kind::Integer),
            ("tile_y", Kind::Integer),
            ("occupancy", Kind::Number),
            ("busy", Kind::Number),
        ],
        &[vec![
            "cam-only".into(),
            3u64.into(),
            0u64.into(),
            0.0.into(),
            0.64.into(),
        ]],
    );
    put_run(&out.join("beyond"), 6);
    let made = make(root, &out, &Arms::builtin()).unwrap();
    let has = |path: &str| made.written.contains(&PathBuf::from(path));
    assert!(has("results/letter/summary.json") && has("results/letter/report.html"));
    assert!(has("results/letter/figures/1-deficit-over-load.svg"));
    assert!(
        has("results/letter/figures/3-factor-ladder.svg"),
        "{:?}",
        made.written
    );
    assert!(has("results/letter-uper/figures/1-deficit-over-load.svg"));
    assert!(!has("results/letter-uper/report.html") && !has(DENSITY_FIGURE));
    let remarks = made.remarks.join("\n");
    assert!(
        remarks.contains(
            "letter-sumo: not there. `cargo run --release -- reproduce --traffic sumo` makes it"
        ),
        "{remarks}"
    );
    assert!(remarks.contains("examples/readings.toml"), "{remarks}");
    let text = fs::read_to_string(root.join("docs/results.md")).unwrap();
    assert!(
        text.contains("| CAM-only misses 5.8 % | **calibrated, no finding**: "),
        "{text}"
    );
    assert!(text.contains("built-in, real bytes (`uper`)"));
    assert!(text.contains("| cam-only | 1 | 0.000 | 0.000 | 0.000 | 0.640 |"));
    assert!(text.contains("<!-- begin: readings -->\nnot yet\n"));
    let text = fs::read_to_string(root.join("docs/beyond-the-letter.md")).unwrap();
    for part in [
        "| `cam-only` | 6.11 [5.85, 6.38] | 0.000 ",
        "| the letter's protocol | `proposed@0.4` | ",
        "| what was missed | `cam-only` | `proposed@0.4` |\n",
        "| object without a radio, never told | ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("demand@0.15"), "{text}");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(
        readme.contains("![Deficit over load](results/letter/figures/1-deficit-over-load.svg)")
    );
    assert!(readme.contains(
        "readings 6, 10 and 15 were chosen in a prototype with the letter's results in view"
    ));

    // Without outputs the kept summaries serve, and nothing changes.
    fs::remove_dir_all(&out).unwrap();
    let again = make(root, &out, &Arms::builtin()).unwrap();
    assert!(
        again.remarks[0].contains("taken from"),
        "{:?}",
        again.remarks
    );
    assert!(again.written.is_empty(), "{:?}", again.written);
}

#[test]
fn figures_and_report_of_the_repository_are_those_of_this_program() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arms = Arms::builtin();
    let mut gathered = Gathered {
        known: &arms,
        files: Vec::new(),
        parts: Vec::new(),
        remarks: Vec::new(),
    };
    let nowhere = top.join("no-such-folder");
    gathered.letter(&top, &nowhere).unwrap();
    gathered.beyond(&top, &nowhere).unwrap();
    assert!(gathered.files.len() >= 10, "{:?}", gathered.files.len());
    let stale = gathered
        .files
        .iter()
        .filter(|(path, text)| fs::read_to_string(top.join(path)).ok().as_ref() != Some(text));
    let stale: Vec<&PathBuf> = stale.map(|(path, _)| path).collect();
    assert!(
        stale.is_empty(),
        "`cargo xtask results` makes them anew: {stale:?}"
    );
}

#[test]
fn fitted_profiles_stand_apart_and_say_so() {
    let repository = repository("results-fitted");
    let root = &repository.0;
    let out = root.join("out");
    put_run(&out.join("letter"), 17);
    put_run(&out.join("closest"), 17);
    let file = out.join("closest").join(SUMMARY_FILE);
    let labelled = fs::read_to_string(&file).unwrap().replacen(
        '{',
        "{\"profile\": \"closest\", \"label\": \"fitted to the letter's figures, evidence for nothing\",",
        1,
    );
    // Its gain at 0.2 is undecided, its digest is the letter's.
    let mut summary: serde_json::Value = serde_json::from_str(&labelled).unwrap();
    for arm in summary["arms"].as_object_mut().unwrap().values_mut() {
        arm["digest_bytes"]["mean"] = 13.0.into();
        arm["load_parts"]["digest"] = 0.07.into();
    }
    fs::write(&file, summary.to_string()).unwrap();
    make(root, &out, &Arms::builtin()).unwrap();
    let text = fs::read_to_string(root.join("docs/results.md")).unwrap();
    // The label stands wherever figures of a fitted profile do, and nowhere else.
    let part = |name: &str| {
        let begin = format!("<!-- begin: {name} -->\n");
        let rest = text.split(&begin).nth(1).unwrap();
        rest.split("<!-- end -->").next().unwrap().to_string()
    };
    let head = "`closest` (fitted to the letter's figures, evidence for nothing)";
    for name in [
        "findings",
        "findings-count",
        "arms-fitted",
        "paired-fitted",
        "setting",
    ] {
        assert!(part(name).contains(head), "{name}: {}", part(name));
    }
    for name in ["arms", "paired", "equal-load", "parts"] {
        assert!(!part(name).contains("closest"), "{name}: {}", part(name));
    }
    let verdict = part("verdict");
    assert!(
        verdict.contains("**Stand, under the frozen readings (`letter`): "),
        "{verdict}"
    );
    let only = verdict.split("**Stand only under ").nth(1).unwrap();
    let (only, none) = only.split_once("**Stand under none of these: ").unwrap();
    assert!(
        only.starts_with("a fitted profile (`closest`), which is evidence for nothing: 1 of 24**")
    );
    assert!(
        only.contains("- A digest has about 13 B and takes 0.07 of capacity: `closest` 13.0 B"),
        "{only}"
    );
    assert!(
        none.contains("- Beacons alone occupy 64 % of capacity: 62.7 %"),
        "{none}"
    );
    assert!(!verdict.contains("CAM-only misses 5.8 %") && !verdict.contains("Not judged"));
    let power = part("power");
    assert!(
        power.contains("| proposed@0.2 | random@0.2 | 17 | "),
        "{power}"
    );
}

/// The runs of a sweep over a pool, and what each world says in all.
fn put_sidelink(folder: &Path) {
    use crate::tables::rows::{run_columns, run_row};
    use covey_simulator::{Outcome, SharedOutcome};

    let mut columns = vec![("variant", Kind::Text)];
    let runs = run_columns();
    columns.extend(
        runs.iter()
            .map(|column| (column.name.as_str(), column.kind)),
    );
    let mut rows = Vec::new();
    for (variant, missed) in [("base", 2), ("a pool", 30)] {
        let mut outcome = Outcome {
            arm: "demand@0.15".to_string(),
            reception: vec![[10, 9]; 20],
            ..Outcome::default()
        };
        outcome.deficit.relevant = 1000;
        outcome.deficit.missed = missed;
        let mut row = vec![variant.into()];
        row.extend(run_row(&SharedOutcome::default(), &outcome));
        rows.push(row);
    }
    put_table(&folder.join("runs.parquet"), &columns, &rows);
    for world in ["1", "2"] {
        put_run(&folder.join("worlds").join(world), 17);
    }
}

#[test]
fn the_sidelink_has_its_tables() {
    let repository = repository("results-sidelink");
    let out = repository.0.join("out");
    put_sidelink(&out.join("sidelink"));
    make(&repository.0, &out, &Arms::builtin()).unwrap();
    let text = fs::read_to_string(repository.0.join("docs/channel.md")).unwrap();
    let row = "| demand@0.15 | 0.20 (1) | 3.00 (1) |";
    assert!(text.contains(row), "{text}");
    let row = "| demand@0.15 | 90.0 / 90.0 / 90.0 / 90.0 / 90.0 |";
    assert!(text.contains(row), "{text}");
    // Both worlds say the same, so no finding changes.
    let head = "| finding of the letter | by load | a pool |";
    assert!(text.contains(head), "{text}");
    let part = text.split("<!-- begin: sidelink-findings -->\n").nth(1);
    let lines = part.unwrap().split("<!-- end -->").next().unwrap().lines();
    assert_eq!(
        lines.filter(|line| line.starts_with('|')).count(),
        3,
        "{text}"
    );
    assert!(!text.contains("not yet"), "{text}");
}

/// The tables of a sweep of one world: runs, estimates and comparisons.
fn put_sweep_of_one_world(folder: &Path, columns: &[(&str, Kind)], run: Vec<Cell>) {
    put_table(&folder.join("runs.parquet"), columns, &[run]);
    let numbers = |names: [&'static str; 6]| names.map(|name| (name, Kind::Number));
    let mut columns = vec![("arm", Kind::Text)];
    columns.extend(numbers([
        "deficit",
        "deficit_lo",
        "deficit_hi",
        "load",
        "load_lo",
        "load_hi",
    ]));
    let mut arm: Vec<Cell> = vec!["demand@0.15".into()];
    arm.extend([0.003, 0.002, 0.004, 0.1, 0.09, 0.11].map(Cell::from));
    put_table(&folder.join("arms.parquet"), &columns, &[arm]);
    let mut columns = vec![("better", Kind::Text), ("worse", Kind::Text)];
    columns.extend(numbers([
        "reduction_pp",
        "reduction_pp_lo",
        "reduction_pp_hi",
        "reduction_rel",
        "reduction_rel_lo",
        "reduction_rel_hi",
    ]));
    let pair = |better: &str, worse: &str, values: [f64; 6]| {
        let mut row: Vec<Cell> = vec![better.into(), worse.into()];
        row.extend(values.map(Cell::from));
        row
    };
    let pairs = [
        pair("demand@0.15", "cam-only", [6.0, 5.0, 7.0, 0.95, 0.9, 0.99]),
        pair(
            "demand@0.15",
            "nearest@0.2",
            [0.1, -0.1, 0.3, 0.2, -0.2, 0.5],
        ),
        pair("proposed@0.4", "random@0.4", [1.0, 0.5, 1.5, 0.3, 0.2, 0.4]),
    ];
    put_table(&folder.join("paired.parquet"), &columns, &pairs);
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "all kinds of sweeps, one after the other"
)]
fn sweeps_become_tables_and_the_figure() {
    let repository = repository("results-sweeps");
    let root = &repository.0;
    let out = root.join("out");
    let numbers = [
        "relevant",
        "missed",
        "relevant_all",
        "missed_all",
        "load",
        "participant_cycles",
    ];
    let columns = |keys: &[(&'static str, Kind)]| {
        let mut columns = keys.to_vec();
        columns.extend([("arm", Kind::Text), ("seed", Kind::Integer)]);
        columns.extend(numbers.map(|name| (name, Kind::Number)));
        columns
    };
    let row = |keys: &[Cell], arm: &str, seed: u64, missed: f64| {
        let mut row = keys.to_vec();
        row.extend([arm.into(), seed.into()]);
        row.extend([1000.0, missed, 1200.0, missed + 20.0, 0.3, 100.0].map(Cell::from));
        row
    };
    let mut rows = Vec::new();
    for (variant, more) in [("base", 0.0), ("6 cell visible: strict", 30.0)] {
        let keys = [variant.into(), 8.75.into()];
        for seed in 1..=4 {
            rows.push(row(&keys, "random@0.4", seed, 45.0));
            rows.push(row(&keys, "proposed@0.4", seed, 31.0 + more));
        }
    }
    put_table(
        &out.join("readings/runs.parquet"),
        &columns(&[
            ("variant", Kind::Text),
            ("evaluation.margin_m", Kind::Number),
        ]),
        &rows,
    );
    let mut rows = Vec::new();
    for density in [14.36, 28.72] {
        for penetration in [0.2, 1.0] {
            rows.push(row(
                &[density.into(), penetration.into()],
                "cam-only",
                1,
                density,
            ));
        }
    }
    let keys = [
        ("traffic.main_density", Kind::Number),
        ("penetration", Kind::Number),
    ];
    put_table(
        &out.join("density-penetration/runs.parquet"),
        &columns(&keys),
        &rows,
    );
    put_table(
        &out.join("robustness/runs.parquet"),
        &columns(&[("variant", Kind::Text)]),
        &[
            row(&["nominal sizes".into()], "demand@0.15", 1, 8.0),
            row(&["base".into()], "demand@0.15", 1, 2.0),
        ],
    );
    put_table(
        &out.join("misbehaviour/runs.parquet"),
        &columns(&[("variant", Kind::Text)]),
        &[
            row(&["base".into()], "demand@0.15", 1, 2.0),
            row(&["1 % claim views".into()], "demand@0.15", 1, 2.0),
            row(&["5 % claim views".into()], "demand@0.15", 1, 3.0),
            row(&["5 % stay silent".into()], "demand@0.15", 1, 4.0),
        ],
    );
    put_sweep_of_one_world(
        &out.join("demand-sumo"),
        &columns(&[]),
        row(&[], "demand@0.15", 1, 3.0),
    );
    let made = make(root, &out, &Arms::builtin()).unwrap();
    assert!(made.written.contains(&PathBuf::from(DENSITY_FIGURE)));
    let text = fs::read_to_string(root.join("docs/beyond-the-letter.md")).unwrap();
    let rows = "| nothing | 0.20 / 0.300 |\n| nominal sizes | 0.80 / 0.300 |\n";
    assert!(text.contains(rows), "{text}");
    let arm = "| demand@0.15 | 0.30 [0.20, 0.40] | 0.100 [0.090, 0.110] |";
    assert!(text.contains(arm), "{text}");
    let clear = "| demand@0.15 | cam-only | 6.00 [5.00, 7.00] | 95.0 [90.0, 99.0] | yes |";
    assert!(text.contains(clear), "{text}");
    let unclear = "| demand@0.15 | nearest@0.2 | 0.10 [\u{2212}0.10, 0.30] | 20.0 [\u{2212}20.0, 50.0] | **no** |";
    assert!(text.contains(unclear), "{text}");
    assert!(!text.contains("proposed@0.4"), "{text}");
    let text = fs::read_to_string(root.join("docs/security.md")).unwrap();
    for row in [
        "| who lies | demand@0.15: 1 % | demand@0.15: 5 % | 5 % cost, points |",
        "| nobody | 0.20 / 0.300 |  |  |",
        "| claim views | 0.20 / 0.300 | 0.30 / 0.300 | +0.10 |",
        "| stay silent | \u{2013} | 0.40 / 0.300 | **+0.20** |",
    ] {
        assert!(text.contains(row), "{text}");
    }
    let text = fs::read_to_string(root.join("docs/results.md")).unwrap();
    assert!(text.contains("| 6 cell visible: strict | 8.75 | 4.50 / 0.300 | 6.10 / 0.300 | **no**: random@0.4 now misses less than proposed@0.4 |"), "{text}");
    assert!(
        text.contains("| 28.72 (1 k_c) | 100 | 2.87 / 0.300 |"),
        "{text}"
    );
}

#[test]
fn what_is_damaged_is_named_and_nothing_is_written() {
    let repository = repository("results-damaged");
    let out = repository.0.join("out");
    put_run(&out.join("letter"), 6);
    fs::create_dir_all(out.join("readings")).unwrap();
    fs::write(out.join("readings/runs.parquet"), "no table").unwrap();
    let error = make(&repository.0, &out, &Arms::builtin())
        .unwrap_err()
        .to_string();
    assert!(error.contains("readings/runs.parquet"), "{error}");
    assert!(!repository.0.join("results").exists());
}
