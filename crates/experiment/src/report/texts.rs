//! Small texts of the page.

use super::draw::plain;
use super::findings::Verdict;
use super::parameters;
use super::view::ArmView;
use crate::markup::escape;
use crate::summary::ScenarioSummary;

/// A sign before a verdict, to be found at a glance.
pub(super) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "\u{2713}\u{a0}",
        Verdict::NotHeld => "\u{2717}\u{a0}",
        Verdict::Undecided => "?\u{a0}",
        Verdict::Calibrated | Verdict::NotMeaningful | Verdict::NotRun => "",
    }
}

/// Text whose brackets and per cent signs do not part from their numbers at the end of a line.
pub(super) fn unbroken(text: &str) -> String {
    let mut inside = false;
    let text: String = text
        .chars()
        .map(|c| {
            inside = (inside || c == '[') && c != ']';
            if inside && c == ' ' { '\u{a0}' } else { c }
        })
        .collect();
    text.replace(" %", "\u{a0}%")
}

/// What the summary says of the scenario, sorted by name.
pub(super) fn scenario_rows(scenario: &ScenarioSummary) -> Vec<(String, String)> {
    // Means over seeds: more digits than these say nothing.
    let number =
        |x: Option<f64>| x.map_or_else(dash, |x| parameters::short((x * 10.0).round() / 10.0));
    let mut rows = vec![
        (
            "capacity_bytes_per_s".to_string(),
            format!(
                "{} B/s",
                parameters::thousands(scenario.capacity_bytes_per_s.round())
            ),
        ),
        (
            "corridor_km".to_string(),
            scenario
                .corridor_km
                .map_or_else(dash, |km| format!("{} km", plain(km, 2))),
        ),
    ];
    let mut files: Vec<_> = scenario.files.0.iter().collect();
    files.sort();
    for (name, hash) in files {
        rows.push((format!("files.{name}"), hash.clone()));
    }
    rows.extend([
        ("name".to_string(), scenario.name.clone()),
        ("participants".to_string(), number(scenario.participants)),
        (
            "speed_m_per_s".to_string(),
            format!("{} m/s", number(scenario.speed_m_per_s)),
        ),
        ("tiles".to_string(), number(scenario.tiles)),
        ("vehicles".to_string(), number(scenario.vehicles)),
    ]);
    rows
}

/// A paragraph of plain text.
pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// Where there is nothing to say.
pub(super) fn dash() -> String {
    "\u{2013}".to_string()
}

/// What a load is made of. Arms without host have reports alone.
pub(super) fn load_parts(arm: &ArmView<'_>) -> String {
    let all = &arm.all.load_parts;
    let parts = if arm.who.is_hosted() {
        vec![all.digest, all.reports, all.broadcast]
    } else {
        vec![all.reports]
    };
    let parts: Vec<String> = parts.into_iter().map(|part| shown(part, 3)).collect();
    parts.join(" + ")
}

/// A number with so many decimals, if there is one.
pub(super) fn shown(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(dash, |x| plain(x, decimals))
}

/// Whether an interval includes zero, in words.
pub(super) fn zero(includes: bool) -> String {
    if includes {
        "interval includes zero"
    } else {
        "excluded"
    }
    .to_string()
}
