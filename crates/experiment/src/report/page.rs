//! The page: what was run, the answer, and the ten sections.

use covey_simulator::Arms;

use super::draw::{css, plain};
use super::figures::benefit::{self, EqualLoad};
use super::figures::{self, Figure, with_interval};
use super::findings::{self, Finding, Verdict};
use super::series::Series;
use super::texts::{dash, load_parts, mark, paragraph, scenario_rows, shown, unbroken, zero};
use super::view::{ArmView, Interval, View};
use super::{Input, Report, answer, errors, field, glance, parameters};
use crate::letter;
use crate::markup::escape;
use crate::names::{CAM_ONLY, DEMAND, ORACLE, PROPOSED, RANDOM, RIVALS, at};
use crate::text_table::TextTable;

/// A section: where links go, its title, what it holds.
struct Section {
    id: &'static str,
    title: &'static str,
    body: String,
}

/// The files and the pieces of the page, as they come.
struct Page<'a> {
    view: &'a View<'a>,
    series: &'a Series,
    kept: &'a [(String, String)],
    sections: Vec<Section>,
    files: Vec<(String, String)>,
    pdfs: Vec<(String, Vec<u8>)>,
    shown_again: Vec<String>,
    findings: Vec<Finding>,
}

pub(crate) fn render(input: &Input, known: &Arms) -> Report {
    let view = View::new(&input.summary, known);
    let curves = RIVALS.map(|rival| benefit::equal_load(&view, rival));
    let mut page = Page {
        view: &view,
        series: &input.series,
        kept: &input.kept,
        sections: Vec::new(),
        files: Vec::new(),
        pdfs: Vec::new(),
        shown_again: Vec::new(),
        findings: findings::findings(&view),
    };
    page.pareto();
    page.benefit(&curves);
    page.ladder();
    page.over_time();
    page.misses();
    page.against_letter();
    page.score();
    page.timing();
    page.errors();
    page.field();
    page.setup();
    let html = page.html(&answer::paragraph(&view, &curves));
    Report {
        html,
        figures: page.files,
        pdfs: page.pdfs,
        kept: page.shown_again,
    }
}

/// A text as part of an address.
fn in_address(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4);
    for c in text.chars() {
        match c {
            '%' | '#' | '<' | '>' | '"' | '\'' | '&' | '\n' => {
                out.push_str(&format!("%{:02X}", c as u32));
            }
            _ => out.push(c),
        }
    }
    out
}

impl Page<'_> {
    fn section(&mut self, id: &'static str, title: &'static str, body: String) {
        self.sections.push(Section { id, title, body });
    }

    /// The figure with its caption; a sentence where there is none. Keeps the file.
    fn figure(&mut self, figure: Option<Figure>, caption: &str, missing: &str) -> String {
        let Some(figure) = figure else {
            return format!("<p class=\"subtitle\">{}</p>\n", escape(missing));
        };
        self.files.push((figure.file.to_string(), figure.svg()));
        let paper = figure.file.replace(".svg", ".pdf");
        self.pdfs.push((paper, figure.pdf()));
        let number = figure.file.split('-').next().unwrap_or_default();
        let caveat = self
            .view
            .caveat()
            .map_or_else(String::new, |caveat| format!(" {caveat}"));
        format!(
            "<figure id=\"figure-{number}\">\n{}<figcaption><b>Figure {number}.</b> {}{}</figcaption>\n</figure>\n",
            figure.inline(),
            escape(caption),
            escape(&caveat)
        )
    }

    /// As [`Page::figure`], of one that needs series. Where they are not there, the one that an earlier report left is shown, as a
    /// picture: whatever it holds, nothing of it runs.
    fn figure_of_series(
        &mut self,
        figure: Option<Figure>,
        name: &str,
        caption: &str,
        missing: &str,
    ) -> String {
        let kept = self.kept.iter().find(|(kept, _)| kept == name);
        match (&figure, kept) {
            (None, Some((name, svg))) => {
                self.shown_again.push(name.clone());
                let number = name.split('-').next().unwrap_or_default();
                format!(
                    "<figure id=\"figure-{number}\">\n<div class=\"kept\" tabindex=\"0\"><img class=\"kept\" src=\"data:image/svg+xml,{}\" alt=\"Figure {number}, as it was drawn when the run was made\"></div>\n<figcaption><b>Figure {number}.</b> {} It is \
                     shown as it was drawn when the run was made: what it is drawn from is not kept.</figcaption>\n</figure>\n",
                    in_address(svg),
                    escape(caption),
                )
            }
            _ => self.figure(figure, caption, missing),
        }
    }

    fn pareto(&mut self) {
        let band = if self.view.deficit(ORACLE).is_some() {
            " The band is the oracle's interval."
        } else {
            ""
        };
        let caption = format!(
            "Deficit over the cooperative load that a participant meets. Bars are arm-wise 95 % intervals on both axes, not pairwise comparisons. Allowances b of \
             one strategy are joined.{band} A hollow arm is dominated: another arm, oracle and yardstick aside, has \
             no more deficit and no more load in the means, and less of one."
        );
        let mut body = self.figure(
            figures::pareto::figure(self.view),
            &caption,
            "No arm of this summary has both a deficit and a load.",
        );
        let mut head = vec![
            "arm",
            "#deficit, %",
            "#of all vehicles, %",
            "#load",
            "#by tile",
            "#digest + reports + broadcast",
            "#price",
            "#contri\u{ad}butors",
            "dominated by",
        ];
        let path = (self.view.arms.iter()).any(|arm| arm.all.path_coverage.is_some());
        if path {
            head.push("#own path seen, %");
        }
        let mut table = TextTable::new(&head);
        for arm in &self.view.arms {
            let host = |value: Option<f64>, decimals| {
                if arm.who.is_hosted() {
                    shown(value, decimals)
                } else {
                    String::new()
                }
            };
            let mut row = vec![
                arm.name.to_string(),
                arm.deficit
                    .map_or_else(dash, |value| with_interval(value.scaled(100.0), 2, "")),
                shown(arm.all.deficit_all.mean.map(|x| 100.0 * x), 2),
                arm.load
                    .map_or_else(dash, |value| with_interval(value, 3, "")),
                shown(arm.all.load_by_tile.and_then(|load| load.mean), 3),
                load_parts(arm),
                host(arm.price.map(|price| price.mean), 3),
                host(arm.all.contributors.mean, 1),
                if arm.who.strategy == ORACLE {
                    String::new()
                } else {
                    self.view.dominated_by(arm).unwrap_or_default().to_string()
                },
            ];
            if path {
                row.push(shown(arm.all.path_coverage.map(|x| 100.0 * x), 1));
            }
            table.row(row);
        }
        body.push_str(&table.folded("Values of all arms"));
        body.push_str(&paragraph(
            "By tile, a column of these values: the load with every tile and cycle that holds a participant counted once, however many it holds.",
        ));
        if path {
            body.push_str(&paragraph(
                "Own path seen, a column of these values: share of 5 m cells on participants' own paths of the next 5 s that they see themselves, or that a sender \
                 or host whose message they decoded sees, in time (reading 40); a secondary metric that the letter names and never uses.",
            ));
        }
        self.section("pareto", "1. Deficit over load", body);
    }

    fn benefit(&mut self, curves: &[EqualLoad]) {
        let mut body = self.figure(
            benefit::figure(self.view, curves),
            "Share of the rival's misses that the proposed selection avoids; below zero it misses more. Left or above: mean paired \
             per-seed reduction at the same allowance. Right or below: at the same load, each strategy's deficit interpolated linearly \
             between its allowances, over the loads that both reach; band and bars are 95 % intervals over seeds.",
            "This needs the proposed selection and random admission at the same allowances, or at several; this run has too few of these arms.",
        );
        for curve in curves.iter().filter(|curve| curve.overlap.is_none()) {
            if !self.view.allowances(curve.rival).is_empty() {
                body.push_str(&paragraph(&format!(
                    "Against {}: no comparison at equal load, for the ranges of load do not overlap.",
                    curve.rival
                )));
            }
        }
        let mut table = TextTable::new(&[
            "comparison",
            "#misses avoided, %",
            "#points",
            "zero",
            "#letter, %",
        ]);
        for b in self.view.allowances(PROPOSED) {
            for rival in RIVALS {
                let (better, worse) = (at(PROPOSED, b), at(rival, b));
                let Some(pair) = self.view.pair(&better, &worse) else {
                    continue;
                };
                table.row(vec![
                    format!("{better} against {worse}"),
                    pair.relative
                        .map_or_else(dash, |value| with_interval(value.scaled(100.0), 1, "")),
                    pair.points
                        .map_or_else(dash, |value| with_interval(value, 2, "")),
                    zero(pair.relative.is_some_and(Interval::includes_zero)),
                    letter::paired(&better, &worse)
                        .filter(|_| self.view.is_the_letters())
                        .and_then(|pair| pair.relative)
                        .map_or_else(dash, |x| plain(100.0 * x, 0)),
                ]);
            }
        }
        for curve in curves {
            for (load, value) in &curve.points {
                table.row(vec![
                    format!("proposed against {} at load {load:.3}", curve.rival),
                    with_interval(*value, 1, ""),
                    dash(),
                    zero(value.includes_zero()),
                    dash(),
                ]);
            }
        }
        body.push_str(&table.folded("Values"));
        self.section(
            "benefit",
            "2. What selection gains over random admission",
            body,
        );
    }

    fn ladder(&mut self) {
        let mut body = self.figure(
            figures::ladder::figure(self.view),
            "One factor of the score after another at allowance 0.4. Intervals of deficits and loads are arm-wise; the middle panel \
             has the paired per-seed reduction from the row above, which is what tells the rows apart.",
            "Fewer than two rungs of the ladder were run.",
        );
        let mut table = TextTable::new(&[
            "rung",
            "arm",
            "#deficit, %",
            "#step, points",
            "zero",
            "#letter's step, points",
            "#load",
        ]);
        let mut below: Option<String> = None;
        for (arm, label) in figures::ladder::rungs() {
            let Some(deficit) = self.view.deficit(&arm) else {
                continue;
            };
            let below_it = below.as_deref();
            let step = below_it.and_then(|below| self.view.pair(&arm, below)?.points);
            let theirs = below_it
                .filter(|_| self.view.is_the_letters())
                .and_then(|below| letter::paired(&arm, below)?.points);
            table.row(vec![
                label.to_string(),
                arm.clone(),
                with_interval(deficit.scaled(100.0), 2, ""),
                step.map_or_else(dash, |value| with_interval(value, 2, "")),
                zero(step.is_some_and(Interval::includes_zero)),
                theirs.map_or_else(dash, |[mean, lo, hi]| {
                    with_interval(Interval { mean, lo, hi }, 2, "")
                }),
                self.view
                    .load(&arm)
                    .map_or_else(dash, |value| with_interval(value, 3, "")),
            ]);
            below = Some(arm);
        }
        body.push_str(&table.folded("Values"));
        self.section("ladder", "3. The factor ladder", body);
    }

    fn over_time(&mut self) {
        let random = if self.view.allowances(RANDOM).is_empty() {
            ""
        } else {
            " Random admission does not heed the price."
        };
        let caption = format!(
            "Means of each second over tiles and seeds: load over tiles weighted by the participants in them, price likewise over tiles with a \
             host, contributors per host. The price acts on the load that reports, digests and broadcasts make; mandatory beacons are not in it.{random}"
        );
        let body = self.figure_of_series(
            figures::time::figure(self.view, self.series),
            figures::time::FILE,
            &caption,
            "There are no series over time beside this summary (report.json).",
        );
        self.section(
            "time",
            "4. Price, contributors and occupancy over time",
            body,
        );
    }

    fn misses(&mut self) {
        let bars = figures::misses::bars(self.view, self.series);
        let nobody = if figures::misses::shows_nobody(&bars) {
            "The line under a bar is the part that no participant saw or heard in time: no policy could have helped."
        } else {
            "What no participant saw or heard in time, so that no policy could have helped, is too little to be seen here."
        };
        let caption = format!(
            "Missed objects by what the vehicle held of them (stale: known once, older than its deadline), and by what hides them from \
             the vehicle's own sensor. {nobody}"
        );
        let mut body = self.figure(
            figures::misses::figure(&bars),
            &caption,
            "There are no counts of misses beside this summary (report.json).",
        );
        let mut table = TextTable::new(&[
            "arm",
            "#with radio, stale",
            "#with radio, unknown",
            "#no radio, stale",
            "#no radio, unknown",
            "#behind building",
            "#behind vehicle",
            "#out of range",
            "#seen by nobody",
        ]);
        for bar in &bars {
            let m = &bar.misses;
            let counts = [
                m.equipped_stale,
                m.equipped_unknown,
                m.unequipped_stale,
                m.unequipped_unknown,
                m.behind_building,
                m.behind_vehicle,
                m.out_of_range,
                m.seen_by_nobody,
            ];
            let mut cells = vec![bar.arm.clone()];
            cells.extend(counts.map(|count| plain(bar.share(count), 2)));
            table.row(cells);
        }
        body.push_str(&table.folded("Values, in % of relevant objects"));
        self.section("misses", "5. Where misses come from", body);
    }

    fn against_letter(&mut self) {
        let has = |arm: &ArmView<'_>| self.view.letter(arm.name).is_some();
        if !self.view.is_the_letters() || !self.view.arms.iter().any(has) {
            let body = paragraph(
                "Nothing to hold against the letter: it has other arms, or another scenario.",
            );
            self.section("letter", "6. Against the letter", body);
            return;
        }
        let mut body = paragraph(
            "Every arm beside the letter, then every finding of the letter with what this run says of it. A finding about an order or \
             a sign is held where the interval lies on its side, not held where it lies on the other, undecided where it has both. A \
             finding about a value is held where the letter's value, to its last printed digit, meets our interval; the letter's own \
             intervals of these values are not printed.",
        );
        if let Some(distance) = self.view.summary.distance_to_letter {
            body.push_str(&paragraph(&format!(
                "Distance to the letter: {}, the root mean square over the {} figures that the letter prints of the natural logarithm of ours over \
                 theirs (0.1 is about 10 % off in every figure); CAM-only's deficit is not among them, being calibrated.",
                plain(distance, 3),
                letter::printed().len()
            )));
        }
        body.push_str(&self.figure(
            figures::letter::figure(self.view),
            "Every arm with its 95 % interval, and the letter's value where its text prints one.",
            "This summary has no arms.",
        ));
        body.push_str(&self.arm_table());
        body.push_str("<h3>Findings</h3>\n");
        body.push_str(&self.finding_table(&self.findings));
        self.section("letter", "6. Against the letter", body);
    }

    fn arm_table(&self) -> String {
        let mut table = TextTable::new(&[
            "arm",
            "#deficit, %",
            "#letter, %",
            "#load",
            "#letter's load",
            "difference",
        ]);
        for arm in &self.view.arms {
            let theirs = self.view.letter(arm.name);
            let (deficit, load) =
                theirs.map_or((None, None), |theirs| (theirs.deficit, theirs.load));
            let outside = |ours: Option<Interval>, theirs: Option<f64>| {
                ours.zip(theirs)
                    .is_some_and(|(ours, x)| x < ours.lo || x > ours.hi)
            };
            let differs = outside(arm.deficit, deficit) || outside(arm.load, load);
            table.row(vec![
                arm.name.to_string(),
                arm.deficit
                    .map_or_else(dash, |value| with_interval(value.scaled(100.0), 2, "")),
                deficit.map_or_else(dash, |x| plain(100.0 * x, 1)),
                arm.load
                    .map_or_else(dash, |value| with_interval(value, 3, "")),
                load.map_or_else(dash, |x| plain(x, 2)),
                self.explanation(arm.name, differs),
            ]);
        }
        table.html()
    }

    /// What is known of a difference: what comes with the run, then what comes with the report.
    fn explanation(&self, key: &str, differs: bool) -> String {
        let own = self.series.explanations.get(key).cloned();
        let known = findings::known_reason(key, self.view).map(str::to_string);
        match (own, differs) {
            (Some(own), _) => own,
            (None, true) => known.unwrap_or_else(|| "Not explained.".to_string()),
            // Calibration is said even where it worked.
            (None, false) if key == CAM_ONLY => known.unwrap_or_default(),
            (None, false) => String::new(),
        }
    }

    fn finding_table(&self, findings: &[Finding]) -> String {
        let mut table = TextTable::new(&["the letter", "this run", "verdict", "why", "rule"]);
        let known = findings
            .iter()
            .filter(|finding| finding.verdict != Verdict::NotRun);
        for finding in known {
            let differs = matches!(finding.verdict, Verdict::NotHeld | Verdict::Undecided);
            let why = match self.series.explanations.get(finding.key) {
                Some(own) => own.clone(),
                None if differs && finding.reason.is_empty() => "Not explained.".to_string(),
                None => finding.reason.clone(),
            };
            table.row(vec![
                finding.claim.to_string(),
                finding.ours.clone(),
                format!("{}{}", mark(finding.verdict), finding.verdict.text()),
                why,
                finding.rule.to_string(),
            ]);
        }
        table.html()
    }

    fn score(&mut self) {
        let arms = figures::score::shown(self.view, self.series);
        let mut body = self.figure_of_series(
            figures::score::figure(self.view, &arms),
            figures::score::FILE,
            "Contributors admitted or kept, in groups of equal size by the score that they had in the decision (of one cycle in eleven), with the mean misses cured by each and \
             its 95 % interval over seeds. A miss cured is a relevant object of a member of the service scope whose only in-time \
             information in the next cycle came from that contributor, directly or by broadcast: the benefit of eq. (2), where the score \
             is its surrogate, eq. (3), less the price of airtime. Rank correlation: Spearman's, mean over seeds.",
            "No contributor of the proposed selection is on record beside this summary (report.json).",
        );
        let mut table =
            TextTable::new(&["arm", "#scores", "#contributors", "#misses cured by each"]);
        for arm in &arms {
            for bin in &arm.bins {
                table.row(vec![
                    arm.arm.clone(),
                    format!("{} to {}", plain(bin.score_lo, 2), plain(bin.score_hi, 2)),
                    parameters::thousands(bin.admissions as f64),
                    format!(
                        "{} [{}, {}]",
                        plain(bin.cured, 3),
                        plain(bin.cured_lo, 3),
                        plain(bin.cured_hi, 3)
                    ),
                ]);
            }
        }
        body.push_str(&table.folded("Values"));
        self.section("score", "7. Does the score foretell the benefit?", body);
    }

    fn timing(&mut self) {
        let phases = figures::timing::phases(self.view, self.series);
        let summary = self.view.summary;
        let mut facts = vec![
            format!("{} s from start to end", plain(summary.timing.wall_s, 1)),
            format!("{} CPU seconds", plain(summary.timing.cpu_s, 1)),
        ];
        if let Some(bytes) = summary.peak_rss_bytes {
            let megabytes = plain(bytes as f64 / 1e6, 0);
            facts.push(format!("{megabytes} MB of memory at most"));
        }
        let mut body = paragraph(&format!("The run took {}.", facts.join(", ")));
        body.push_str(&self.figure(
            figures::timing::figure(&phases),
            "Time by phase, by the clocks of the threads that worked on it, summed over all seeds; waiting for a busy processor counts. Motion, sight, links and relevance are done once per seed for all arms.",
            "No times were recorded.",
        ));
        self.section("timing", "8. Timing", body);
    }

    fn errors(&mut self) {
        let summary = self.view.summary;
        let mut body = paragraph(&errors::explanation());
        body.push_str(&errors::comparisons(summary).html());
        body.push_str(&errors::spreads(summary).folded("Spread of every arm"));
        self.section("errors", "9. Errors of measurement", body);
    }

    fn field(&mut self) {
        let body = match field::table(&self.view.arms) {
            None => paragraph("This summary is from before these metrics were told."),
            Some(table) => paragraph(field::EXPLANATION) + &table.html(),
        };
        self.section("field", "10. The metrics of the field", body);
    }

    fn setup(&mut self) {
        let summary = self.view.summary;
        let mut body = paragraph(
            "Rows 6, 10 and 15 of the readings (when a cell counts as visible; the unit of airtime that the price pays for; who is a \
             candidate) were chosen in a prototype with the letter's results in view. Agreement that rests on them is weaker evidence than \
             agreement that does not.",
        );
        let readings = parameters::in_force(&summary.readings);
        let group = |row: &parameters::Parameter| {
            let name = row.name.split([':', '.']).next().unwrap_or_default();
            name.to_string()
        };
        let mut groups: Vec<String> = readings.iter().map(group).collect();
        groups.dedup();
        groups.sort();
        groups.dedup();
        groups.retain(|group| self.concerns(group));
        for name in groups {
            let mut table = TextTable::new(&["parameter or reading", "value", "source"]);
            for row in readings.iter().filter(|row| group(row) == name) {
                let value = parameters::with_unit(row);
                table.row(vec![row.name.clone(), value, row.source.clone()]);
            }
            body.push_str(&table.folded(&format!("Parameters: {name}")));
        }
        let mut table = TextTable::new(&["scenario", "value"]);
        for (name, value) in scenario_rows(&summary.scenario) {
            table.row(vec![name, value]);
        }
        body.push_str(&table.folded("Scenario"));
        body.push_str("<h3>Seeds</h3>\n");
        let seeds: Vec<String> = summary.seeds.iter().map(u64::to_string).collect();
        body.push_str(&paragraph(&seeds.join(", ")));
        self.section("setup", "Parameters, readings, scenario and seeds", body);
    }

    /// Parameters of this section were in force in an arm that ran.
    fn concerns(&self, section: &str) -> bool {
        let ran = |start: &str| {
            let arms = self.view.arms.iter();
            arms.map(|arm| arm.who.strategy)
                .any(|strategy| strategy.starts_with(start))
        };
        match section {
            "demand" => ran(DEMAND),
            "senders" => ran("cpm"),
            _ => true,
        }
    }

    fn facts(&self) -> String {
        let summary = self.view.summary;
        let scenario = &summary.scenario;
        let rounded = |x: Option<f64>| x.map_or_else(dash, |x| parameters::thousands(x.round()));
        let mut facts = vec![
            ("scenario", scenario.name.clone()),
            ("traffic", summary.traffic.clone()),
            ("profile", summary.profile.clone().unwrap_or_else(dash)),
            (
                "vehicles (with radio)",
                format!(
                    "{} ({})",
                    rounded(scenario.vehicles),
                    rounded(scenario.participants)
                ),
            ),
            ("paired seeds", summary.seeds.len().to_string()),
            (
                "warm-up + measured",
                format!(
                    "{} s + {} s",
                    parameters::short(summary.warmup_s),
                    parameters::short(summary.measure_s)
                ),
            ),
            (
                "capacity of a tile",
                format!("{} B/s", rounded(Some(scenario.capacity_bytes_per_s))),
            ),
            ("revision", summary.revision.clone()),
        ];
        if let Some(distance) = summary.distance_to_letter {
            facts.push(("distance to the letter", plain(distance, 3)));
        }
        if let Some(km) = scenario.corridor_km {
            facts.insert(1, ("corridor", format!("{} km", plain(km, 2))));
        }
        let mut html = String::from("<dl class=\"facts\">");
        for (name, value) in facts {
            html.push_str(&format!(
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escape(name),
                escape(&value)
            ));
        }
        html.push_str("</dl>\n");
        html
    }

    fn html(&self, answer: &str) -> String {
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>Who should speak? Covey report</title>\n<style>\n{}\n{}</style>\n</head>\n<body>\n<main>\n",
            css(),
            include_str!("page.css")
        );
        html.push_str("<h1>Who should speak?</h1>\n");
        html.push_str(
            "<p class=\"subtitle\">Contributor selection for regional digital twins: a run of Covey beside the letter \
             (T. Yu, Conditional-Coverage Contributor Selection for Regional Digital Twins Under Mobility)</p>\n",
        );
        if let Some(label) = &self.view.summary.label {
            let name = self.view.summary.profile.as_deref().unwrap_or_default();
            html.push_str(&format!(
                "<div class=\"warning\" role=\"note\"><strong>Profile {}: {}.</strong>Constants of this profile were chosen so that its figures come near \
                 the letter&#39;s. That they do shows nothing.</div>\n",
                escape(name),
                escape(label)
            ));
        }
        if let Some(remark) = self.view.summary.outdated() {
            html.push_str(&format!(
                "<div class=\"warning\" role=\"note\"><strong>Of an older revision.</strong>{}</div>\n",
                escape(remark)
            ));
        }
        if self.view.quick {
            let remark = self.view.summary.intervals.remark.as_deref().unwrap_or(
                "Too few seeds, or too short: good to see that everything works, not to conclude from.",
            );
            html.push_str(&format!(
                "<div class=\"warning\" role=\"note\"><strong>Intervals are not meaningful.</strong>{}</div>\n",
                escape(remark)
            ));
        }
        html.push_str("<div class=\"glance\" role=\"note\" aria-label=\"At a glance\">\n");
        for (what, text) in glance::lines(self.view, &self.findings) {
            html.push_str(&format!(
                "<p><b>{what}</b> {}</p>\n",
                escape(&unbroken(&text))
            ));
        }
        html.push_str("</div>\n");
        let (first, others) = self.sections.split_at(self.sections.len().min(1));
        push_sections(&mut html, first);
        html.push_str("<h2 id=\"words\">In words</h2>\n");
        html.push_str(&format!(
            "<p class=\"answer\">{}</p>\n",
            escape(&unbroken(answer))
        ));
        html.push_str(
            "<p>The deficit is the share of decision-relevant objects that a vehicle does not know of, or knows of too late to react; \
             the load is the cooperative load that a participant meets: bytes offered beyond mandatory beacons over capacity, averaged over tiles \
             and cycles weighted by the participants in them. Three readings of the \
             letter&#39;s open points, rows <a href=\"#setup\">6, 10 and 15</a>, were chosen in a prototype with the letter&#39;s results in view.</p>\n",
        );
        html.push_str("<nav aria-label=\"Sections\"><ol>");
        for section in &self.sections {
            html.push_str(&format!(
                "<li><a href=\"#{}\">{}</a></li>",
                section.id,
                escape(section.title)
            ));
        }
        html.push_str("</ol></nav>\n");
        html.push_str(&self.facts());
        push_sections(&mut html, others);
        html.push_str(
            "<footer>Made by covey report from summary.json and report.json of the same folder. \
             Rest the pointer on a mark to read its values; figures are also in figures/, as SVG and as PDF.</footer>\n</main>\n</body>\n</html>\n",
        );
        html
    }
}

fn push_sections(html: &mut String, sections: &[Section]) {
    for section in sections {
        html.push_str(&format!(
            "<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n",
            section.id,
            escape(section.title),
            section.body
        ));
    }
}
