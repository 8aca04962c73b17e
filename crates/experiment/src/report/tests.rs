//! The page and its figures as a whole.

use super::{Finding, Input, Report, Series, SeriesBuilder, Summary, Verdict, sample};
use covey_simulator::Arms;

use crate::letter::Figures;
use crate::summary::{ArmSummary, Difference, Interval, Named, PairedSummary, PerSeed};

/// The report with the arms that come with Covey.
fn render(input: &Input) -> Report {
    super::render(input, &Arms::builtin())
}

fn findings(input: &Input) -> Vec<Finding> {
    super::findings(input, &Arms::builtin())
}

fn summary(seeds: u64) -> Summary {
    Summary::parse(&sample::summary(seeds)).unwrap()
}

fn difference(mean: f64, lo: f64, hi: f64) -> Difference {
    Difference {
        mean: Some(mean),
        lo: Some(lo),
        hi: Some(hi),
        includes_zero: Some(lo <= 0.0 && hi >= 0.0),
    }
}

fn input(seeds: u64) -> Input {
    let mut builder = SeriesBuilder::new(0.2);
    for (outcome, cycles) in sample::runs(seeds) {
        builder.add(&outcome, &cycles);
        builder.add_timing(outcome.seed, &sample::timing());
    }
    Input {
        summary: summary(seeds),
        series: builder.finish(),
        kept: Vec::new(),
    }
}

#[test]
fn a_whole_result_has_all_sections_and_figures() {
    let report = render(&input(17));
    let names: Vec<&str> = report
        .figures
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "1-deficit-over-load.svg",
            "2-benefit-over-random.svg",
            "3-factor-ladder.svg",
            "4-price-contributors-occupancy.svg",
            "5-where-misses-come-from.svg",
            "6-against-the-letter.svg",
            "7-score-and-benefit.svg",
            "8-timing.svg",
        ]
    );
    for id in [
        "pareto", "benefit", "ladder", "time", "misses", "letter", "score", "timing", "errors",
        "setup",
    ] {
        assert!(
            report.html.contains(&format!("<section id=\"{id}\">")),
            "{id}"
        );
    }
    // Chosen with the letter's results in view: must be said.
    assert!(report.html.contains("6, 10 and 15"));
    assert!(
        report
            .html
            .contains("with the letter&#39;s results in view")
    );
    assert!(!report.html.contains("not meaningful"));
    // The sample has no windows, but seeds that differ.
    let errors = report.html.split("<section id=\"errors\">").nth(1).unwrap();
    assert!(errors.contains("smallest difference shown") && errors.contains("proposed@0.8"));
    // Opens offline: nothing is fetched, nothing runs.
    assert!(!report.html.contains("<script"));
    let outside = report.html.matches("http").count() - report.html.matches("http-equiv").count();
    assert_eq!(outside, 0, "an address in the page");
}

#[test]
fn same_input_same_bytes() {
    let input = input(5);
    let again: Input = serde_json::from_str(&serde_json::to_string(&input).unwrap()).unwrap();
    assert_eq!(render(&input), render(&again));
}

#[test]
fn figures_are_well_formed_and_stand_alone() {
    for (name, svg) in render(&input(5)).figures {
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""),
            "{name}"
        );
        assert!(
            svg.contains("<title>") && svg.contains("prefers-color-scheme"),
            "{name}"
        );
        assert!(
            !svg.contains("NaN") && !svg.contains("\"inf") && !svg.contains(",inf"),
            "{name}"
        );
        let mut open: Vec<&str> = Vec::new();
        for tag in svg.split('<').skip(1) {
            let name = tag
                .trim_start_matches('/')
                .split([' ', '>', '/'])
                .next()
                .unwrap_or_default();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.split('>').next().unwrap_or_default().ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    }
}

#[test]
fn figures_without_their_series_are_shown_as_an_earlier_report_left_them() {
    let whole = input(17);
    let made = render(&whole).figures;
    let time = "4-price-contributors-occupancy.svg";
    let old = made.iter().find(|(name, _)| name == time).unwrap();
    let alone = Input {
        summary: whole.summary.clone(),
        kept: vec![
            old.clone(),
            (
                "7-score-and-benefit.svg".into(),
                "<svg><script>x</script>".into(),
            ),
        ],
        ..Input::default()
    };
    let report = render(&alone);
    assert_eq!(report.kept, [time, "7-score-and-benefit.svg"]);
    assert!(report.figures.iter().all(|(name, _)| name != time));
    assert_eq!(report.html.matches("data:image/svg+xml,%3Csvg").count(), 2);
    assert!(!report.html.contains("<script"));
    // Whatever can be made is made.
    let with_series = Input {
        kept: vec![old.clone()],
        ..whole
    };
    let report = render(&with_series);
    assert!(report.kept.is_empty() && !report.html.contains("data:image"));
}

#[test]
fn a_quick_run_is_marked_as_one() {
    let report = render(&input(3));
    assert!(report.html.contains("Intervals are not meaningful."));
    assert!(report.html.contains("smoke test"));
    let all = findings(&Input {
        summary: summary(3),
        ..Input::default()
    });
    assert!(
        all.iter()
            .all(|one| matches!(one.verdict, Verdict::NotMeaningful | Verdict::Calibrated))
    );
}

#[test]
fn a_fitted_profile_is_marked_at_the_top_and_under_every_figure() {
    let plain = render(&input(17)).html;
    assert!(!plain.contains("evidence for nothing"));
    let mut fitted = input(17);
    fitted.summary.profile = Some("closest".to_string());
    fitted.summary.label = Some(crate::profile::LABEL.to_string());
    let report = render(&fitted);
    let label = "Profile closest: fitted to the letter&#39;s figures, evidence for nothing.";
    // Once at the top, once under each figure.
    assert_eq!(report.html.matches(label).count(), 1 + report.figures.len());
    let top = report.html.find(label).unwrap();
    assert!(top < report.html.find("class=\"answer\"").unwrap());
}

#[test]
fn an_interval_with_zero_is_said_to_have_it() {
    let mut input = input(17);
    input.summary.paired[0].deficit_reduction_rel = difference(0.02, -0.03, 0.07);
    let html = render(&input).html.replace('\u{a0}', " ");
    assert!(html.contains("2 % less [\u{2212}3, 7], an interval that includes zero, at 0.2"));
    let gain = findings(&input)
        .into_iter()
        .find(|one| one.key == "gain-0.2")
        .unwrap();
    assert_eq!(gain.verdict, Verdict::Undecided);
    assert_eq!(gain.ours, "2.0 % [\u{2212}3.0, 7.0]");
}

#[test]
fn worse_is_called_worse() {
    let mut input = input(17);
    input.summary.paired[1].deficit_reduction_rel = difference(-0.2, -0.3, -0.1);
    let html = render(&input).html.replace('\u{a0}', " ");
    assert!(html.contains("20 % more [10, 30] at 0.2"));
}

#[test]
fn findings_are_judged_by_intervals() {
    let all = findings(&input(17));
    let verdict = |key: &str| all.iter().find(|one| one.key == key).unwrap().verdict;
    assert_eq!(verdict("cam-only"), Verdict::Calibrated);
    assert_eq!(all.len(), 25);
    // 0.634 is short of what rounds to 0.64, by a thousandth.
    assert_eq!(verdict("beacons"), Verdict::NotHeld);
    assert_eq!(verdict("gain-0.2"), Verdict::Held);
    assert_eq!(verdict("falls-with-b"), Verdict::Held);
    assert_eq!(verdict("random-worse-than-cam"), Verdict::Held);
    assert_eq!(verdict("random-over-target"), Verdict::Held);
    // 0.47 points in the means, but not decided.
    assert_eq!(verdict("near-oracle"), Verdict::Undecided);
    // The sample's digest is larger than the letter's.
    let digest = all.iter().find(|one| one.key == "digest").unwrap();
    assert_eq!(digest.verdict, Verdict::NotHeld);
    assert!(digest.reason.contains("reading 6"));
}

#[test]
fn beacons_are_held_where_the_interval_meets_what_rounds_to_the_letters() {
    let verdict = |lo: f64, hi: f64| {
        let mut input = input(17);
        input.summary.arms.0[0].1.beacon_occupancy = Some(Interval {
            mean: Some(f64::midpoint(lo, hi)),
            lo: Some(lo),
            hi: Some(hi),
        });
        let all = findings(&input);
        let found = all.into_iter().find(|one| one.key == "beacons").unwrap();
        (found.ours, found.verdict)
    };
    assert_eq!(
        verdict(0.61, 0.636),
        ("62.3 % [61.0, 63.6]".to_string(), Verdict::Held)
    );
    assert_eq!(verdict(0.646, 0.66).1, Verdict::NotHeld);
    // An older summary has a mean alone.
    let mut old = input(17);
    old.summary.arms.0[0].1.beacon_occupancy = None;
    old.summary.arms.0[0].1.beacon_load.mean = Some(0.6437);
    let all = findings(&old);
    let found = all.iter().find(|one| one.key == "beacons").unwrap();
    assert_eq!(found.verdict, Verdict::Held);
}

#[test]
fn nothing_that_is_missing_or_hostile_makes_it_fail() {
    let empty = render(&Input::default());
    assert!(empty.html.contains("nothing to answer") && empty.figures.is_empty());
    let extreme = |mean: f64| Interval {
        mean: Some(mean),
        lo: Some(-mean),
        hi: Some(mean),
    };
    let arm = |deficit: Interval, load: Interval| ArmSummary {
        deficit,
        load,
        per_seed: vec![PerSeed {
            seed: 1,
            deficit: None,
            load: Some(0.0),
            load_digest: None,
            relevant: 0,
            missed: 0,
            windows: Vec::new(),
        }],
        ..ArmSummary::default()
    };
    let mut hostile = Summary {
        revision: "<script>alert(1)</script>".to_string(),
        seeds: vec![1, u64::MAX],
        arms: Named(vec![
            ("<b>@1e999".to_string(), arm(extreme(1e300), extreme(1e300))),
            ("proposed@0.4".to_string(), arm(extreme(0.0), extreme(0.0))),
            (
                "random@0.4".to_string(),
                arm(Interval::default(), extreme(f64::NAN)),
            ),
        ]),
        paired: vec![PairedSummary {
            better: "\u{0}".to_string(),
            worse: String::new(),
            deficit_reduction_pp: Difference::default(),
            deficit_reduction_rel: Difference::default(),
        }],
        letter: Named(vec![(
            "<i>".to_string(),
            Figures {
                deficit: Some(1e308),
                load: None,
            },
        )]),
        ..Summary::default()
    };
    hostile.scenario.name = "tam<agawa".to_string();
    hostile.timing.phases = Named(vec![
        ("sight_s".to_string(), -1.0),
        ("</svg>".to_string(), 2.0),
    ]);
    let report = render(&Input {
        summary: hostile,
        ..Input::default()
    });
    assert!(!report.html.contains("<script") && !report.html.contains("<b>@"));
    assert!(!report.html.contains("NaN"));
}

#[test]
fn a_folder_is_read_with_or_without_series() {
    let folder = std::env::temp_dir().join(format!("covey-report-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let missing = Input::read(&folder).unwrap_err().to_string();
    assert!(
        missing.contains("summary.json: cannot be read"),
        "{missing}"
    );
    let refused = |text: &str| {
        std::fs::write(folder.join("summary.json"), text).unwrap();
        Input::read(&folder).unwrap_err().to_string()
    };
    let other = refused("{\"schema\": \"other/1\"}");
    assert!(
        other.contains("found `other/1`, expected `covey.summary/1`"),
        "{other}"
    );
    // Whatever is wrong, the file and the field are named, and what to do.
    let text = sample::summary(5);
    let wrong = refused(&text.replacen("\"relevant\":400000", "\"relevant\":\"many\"", 1));
    assert!(
        wrong.contains("summary.json: field arms.cam-only.per_seed[0].relevant: ")
            && wrong.contains("invalid type: string \"many\", expected u64")
            && wrong.contains("run the command that made the folder again"),
        "{wrong}"
    );
    let missing = refused(&text.replacen("\"measure_s\"", "\"measured\"", 1));
    assert!(missing.contains("missing field `measure_s`"), "{missing}");
    assert!(refused("{").contains("summary.json: not JSON: EOF"));
    assert!(refused("[]").contains("summary.json: no summary: "));
    let whole = input(5);
    std::fs::write(
        folder.join("summary.json"),
        whole.summary.to_json().unwrap(),
    )
    .unwrap();
    assert_eq!(Input::read(&folder).unwrap().series, Series::default());
    std::fs::write(
        folder.join("report.json"),
        serde_json::to_string(&whole.series).unwrap(),
    )
    .unwrap();
    assert_eq!(Input::read(&folder).unwrap(), whole);
    std::fs::write(folder.join("report.json"), "{").unwrap();
    assert!(
        Input::read(&folder)
            .unwrap_err()
            .to_string()
            .contains("report.json: not the series")
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn three_lines_come_first_and_then_figure_1() {
    let input = input(17);
    let html = render(&input).html.replace('\u{a0}', " ");
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    let order = [
        "<b>Run</b>",
        "<b>Verdict</b>",
        "<b>Best</b>",
        "id=\"figure-1\"",
        "class=\"answer\"",
        "class=\"facts\"",
        "id=\"figure-2\"",
    ];
    assert!(order.map(at).is_sorted(), "{:?}", order.map(at));
    let all = findings(&input);
    let count = |verdict| all.iter().filter(|one| one.verdict == verdict).count();
    let [held, not, open] = [Verdict::Held, Verdict::NotHeld, Verdict::Undecided].map(count);
    let told = format!(
        "Of {} findings of the letter that could be judged, {held} held, {not} not held, {open} undecided.",
        held + not + open
    );
    assert!(html.contains(&told), "{told}");
    let caveats = html[at("<b>Best</b>")..at("id=\"figure-1\"")]
        .matches("Caveat: ")
        .count();
    assert_eq!(caveats, 1);
}

#[test]
fn the_letter_is_judged_only_where_it_was_run() {
    let mut other = input(17);
    other.summary.letter = Named(Vec::new());
    let html = render(&other).html;
    assert!(html.contains("The letter is not judged: this is not its evaluation."));
    assert!(html.contains("Nothing to hold against the letter"));
    assert!(!html.contains("findings of the letter that could be judged"));
    assert!(
        !html.contains("the letter&#39;s value"),
        "a figure shows the letter's values"
    );
}

#[test]
fn choice_by_demand_has_its_place_where_it_ran() {
    let mut with = input(17);
    let (_, mut arm) = with.summary.arms.0.last().cloned().unwrap();
    arm.deficit = Interval {
        mean: Some(0.009),
        lo: Some(0.008),
        hi: Some(0.01),
    };
    arm.load = Interval {
        mean: Some(0.2),
        lo: Some(0.19),
        hi: Some(0.21),
    };
    with.summary.arms.0.push(("demand@0.45".to_string(), arm));
    let html = render(&with).html.replace('\u{a0}', " ");
    assert!(html.contains("<b>Best</b> demand@0.45 misses 0.9 % [0.8, 1.0] at load 0.20"));
    assert!(html.contains("Choice by demand misses 0.9 % [0.8, 1.0] at an allowance of 0.45"));
    assert!(html.contains("Parameters: demand"));
    let without = render(&input(17)).html;
    assert!(!without.contains("Parameters: demand") && !without.contains("Choice by demand"));
    assert!(without.contains("Parameters: protocol"));
}

#[test]
fn the_target_stands_at_its_load_or_says_that_it_is_beyond() {
    let figure = |factor: f64| {
        let mut input = input(17);
        for (_, arm) in &mut input.summary.arms.0 {
            for x in [&mut arm.load.mean, &mut arm.load.lo, &mut arm.load.hi] {
                *x = x.map(|x| x * factor);
            }
        }
        let figures = render(&input).figures;
        let (_, svg) = figures
            .into_iter()
            .find(|(name, _)| name.starts_with("1-"))
            .unwrap();
        svg
    };
    let within = figure(1.0);
    assert!(
        within.contains("congestion target: 0.3 of capacity</title>"),
        "{within}"
    );
    assert!(!within.contains("beyond the axis"));
    let beyond = figure(0.01);
    assert!(beyond.contains("congestion target: 0.3 of capacity, beyond the axis"));
    assert!(beyond.contains("target 0.3 \u{2192}"));
}

#[test]
fn a_legend_names_what_is_drawn_and_nothing_else() {
    let mut input = input(17);
    for row in &mut input.series.misses {
        row.misses.behind_vehicle = 0;
        row.misses.seen_by_nobody = 0;
    }
    let figures = render(&input).figures;
    let (_, svg) = figures
        .iter()
        .find(|(name, _)| name.starts_with("5-"))
        .unwrap();
    assert!(svg.contains(">behind a building<") && !svg.contains(">behind a vehicle<"));
    assert!(!svg.contains("seen or heard by nobody"));
}

#[test]
fn what_is_too_little_to_be_seen_has_no_entry_and_the_caption_says_so() {
    let text_with = |part: u64| {
        let mut input = input(17);
        for row in &mut input.series.misses {
            let all = row.misses.equipped_stale
                + row.misses.equipped_unknown
                + row.misses.unequipped_stale
                + row.misses.unequipped_unknown;
            // Counts of the sample are small: a thousand times as many relevant objects and misses leave all shares as they are.
            row.relevant *= 1000;
            for count in [
                &mut row.misses.equipped_stale,
                &mut row.misses.equipped_unknown,
                &mut row.misses.unequipped_stale,
                &mut row.misses.unequipped_unknown,
            ] {
                *count *= 1000;
            }
            row.misses.seen_by_nobody = part * all;
        }
        let report = render(&input);
        let svg = report.figures.into_iter();
        let svg = svg.filter(|(name, _)| name.starts_with("5-"));
        let svg: String = svg.map(|(_, svg)| svg).collect();
        (svg, report.html)
    };
    let (svg, html) = text_with(100);
    assert!(svg.contains("seen or heard by nobody") && html.contains("The line under a bar is"));
    let (svg, html) = text_with(1);
    assert!(!svg.contains("seen or heard by") && html.contains("is too little to be seen here"));
}

#[test]
fn the_axis_of_loads_is_broken_for_few_of_many_arms_alone() {
    let broken = |arms: usize, last: f64| {
        let mut input = input(17);
        input.summary.arms.0.retain(|(name, _)| name != "oracle");
        input.summary.arms.0.truncate(arms);
        let count = input.summary.arms.0.len();
        for (number, (_, arm)) in input.summary.arms.0.iter_mut().enumerate() {
            let load = if number + 1 == count { last } else { 0.1 };
            for x in [&mut arm.load.mean, &mut arm.load.lo, &mut arm.load.hi] {
                *x = Some(load);
            }
        }
        let figures = render(&input).figures;
        let (_, svg) = figures
            .into_iter()
            .find(|(name, _)| name.starts_with("1-"))
            .unwrap();
        // The two strokes of a break slant.
        svg.lines().any(|line| {
            let at = |key: &str| {
                let from = line.split_once(key)?.1;
                from.split('"').next()?.parse::<f64>().ok()
            };
            let ends = (at(" x1=\""), at(" x2=\""), at(" y1=\""), at(" y2=\""));
            line.starts_with("<line")
                && matches!(ends, (Some(a), Some(b), Some(c), Some(d)) if (b - a - 5.0).abs() < 0.1 && (c - d - 10.0).abs() < 0.1)
        })
    };
    assert!(!broken(3, 0.5), "one of three");
    assert!(broken(8, 0.5), "one of eight, at five times the load");
    assert!(!broken(8, 0.25), "one of eight, not far off");
}

#[test]
fn figures_are_pdf_files_too() {
    let report = render(&input(5));
    assert_eq!(report.pdfs.len(), report.figures.len());
    for (name, pdf) in &report.pdfs {
        let text = String::from_utf8_lossy(pdf);
        assert!(
            name.ends_with(".pdf") && text.starts_with("%PDF-1.4\n"),
            "{name}"
        );
        assert!(text.ends_with("%%EOF\n") && !text.contains("NaN"), "{name}");
        // Every object is where the table says.
        let table = text
            .rsplit("startxref\n")
            .next()
            .unwrap()
            .lines()
            .next()
            .unwrap();
        let table: usize = table.parse().unwrap();
        let rows = text[table..].lines().skip(3).take(7);
        for (number, row) in (1..).zip(rows) {
            let offset: usize = row[..10].parse().unwrap();
            assert!(
                text[offset..].starts_with(&format!("{number} 0 obj")),
                "{name}: {row}"
            );
        }
    }
}

#[test]
fn the_viewer_has_the_colours_of_the_figures() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/palette.css");
    let page = std::fs::read_to_string(page).unwrap();
    let (light, dark) = page.split_once(":root[data-theme=\"dark\"]").unwrap();
    let css = super::draw::css();
    let (ours, night) = css.split_once("@media").unwrap();
    for (ours, theirs) in [(ours, light), (night, dark)] {
        let variables = ours.split("--").skip(1);
        let variables = variables.filter_map(|text| text.split(';').next()?.split_once(':'));
        // What is drawn on, and lines to read values by, are the page's own.
        let marks = variables.filter(|(name, _)| !["paper", "grid"].contains(name));
        let marks: Vec<(&str, &str)> = marks
            .filter(|(name, value)| !name.contains(')') && value.starts_with('#'))
            .collect();
        assert!(marks.len() > 20, "{marks:?}");
        for (name, value) in marks {
            assert!(
                theirs.contains(&format!("--paint-{name}: {value};")),
                "{name} {value}"
            );
        }
    }
}
