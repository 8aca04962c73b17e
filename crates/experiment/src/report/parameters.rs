//! Parameters and readings in force, each with its unit and source.

use serde_json::Value;

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) unit: String,
    pub(crate) source: String,
}

/// Lists deeper or longer than this are cut: a page is no archive, the summary has them all.
const MOST_DEPTH: usize = 6;
const MOST_ROWS: usize = 400;
const MOST_CHARS: usize = 120;

/// Every leaf of `value`. An object with a `value` is one leaf, with its own `unit` and `source`.
pub(crate) fn flatten(value: &Value) -> Vec<Parameter> {
    let mut rows = Vec::new();
    walk(value, String::new(), 0, &mut rows);
    rows.truncate(MOST_ROWS);
    rows
}

fn walk(value: &Value, name: String, depth: usize, rows: &mut Vec<Parameter>) {
    if rows.len() > MOST_ROWS {
        return;
    }
    match value {
        Value::Object(object) if object.contains_key("value") => {
            let field = |key: &str| object.get(key).map(shown).unwrap_or_default();
            let (unit, source) = known(&name);
            let own = |given: String, known: &str| {
                if given.is_empty() {
                    known.to_string()
                } else {
                    given
                }
            };
            rows.push(Parameter {
                value: field("value"),
                unit: own(field("unit"), unit),
                source: own(field("source"), source),
                name,
            });
        }
        Value::Object(object) if depth < MOST_DEPTH => {
            for (key, inner) in object {
                let path = if name.is_empty() {
                    key.clone()
                } else {
                    format!("{name}.{key}")
                };
                walk(inner, path, depth + 1, rows);
            }
        }
        other => {
            let (unit, source) = known(&name);
            rows.push(Parameter {
                value: shown(other),
                unit: unit.to_string(),
                source: source.to_string(),
                name,
            });
        }
    }
}

/// A value as people write it.
pub(crate) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "\u{2013}".to_string(),
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(x) if x.abs() >= 10_000.0 && x.fract().abs() < 1e-9 => thousands(x),
            _ => number
                .to_string()
                .trim_end_matches(".0")
                .replace('-', "\u{2212}"),
        },
        other => other.to_string(),
    };
    if text.chars().count() > MOST_CHARS {
        let mut cut: String = text.chars().take(MOST_CHARS).collect();
        cut.push('\u{2026}');
        cut
    } else {
        text
    }
}

/// 242000 as 242,000.
pub(crate) fn thousands(x: f64) -> String {
    let digits = format!("{:.0}", x.abs());
    let mut text = if x < 0.0 {
        "\u{2212}".to_string()
    } else {
        String::new()
    };
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The value with its unit: short ones behind it, long ones in brackets.
pub(crate) fn with_unit(row: &Parameter) -> String {
    match row.unit.as_str() {
        "" => row.value.clone(),
        unit if unit.len() <= 5 => format!("{} {unit}", row.value),
        unit => format!("{} ({unit})", row.value),
    }
}

/// Unit and source of a parameter, by its name.
fn known(name: &str) -> (&'static str, &'static str) {
    let (group, last) = match name.rsplit_once('.') {
        Some((path, last)) => (path.split('.').next().unwrap_or_default(), last),
        None => ("", name),
    };
    let (unit, source) = by_name(group, last);
    (
        if unit.is_empty() { unit_of(last) } else { unit },
        if source.is_empty() {
            source_of(group)
        } else {
            source
        },
    )
}

fn by_name(group: &str, last: &str) -> (&'static str, &'static str) {
    match (group, last) {
        (_, "cell_m" | "tile_m") => ("", "letter, table I (design)"),
        (_, "cycle_s") => ("", "letter, table I (T_s)"),
        (_, "beacon_s") => ("", "letter, table I; EN 302 637-2"),
        (_, "beacons") => ("", "letter; reading 44"),
        (_, "slot_s") => ("", "letter, table I (step); reading 31"),
        (_, "decision_phase_s") => ("", "reading 31"),
        (_, "kappa_per_s") => ("", "letter, table I"),
        (_, "eta_add" | "eta_rem") => ("value units", "letter, table I; reading 41"),
        (_, "n_max") => ("changes per cycle", "letter, table I"),
        (_, "allowance") => (
            "share of capacity",
            "letter, table I; an arm's name overrides it",
        ),
        (_, "target") => ("share of capacity", "letter, table I"),
        (_, "price_step") => ("", "letter, congestion control (\u{b5})"),
        (_, "t_max_s") => ("", "reading 10 (inert at these allowances)"),
        (_, "rate_bytes_per_s") => ("", "reading 10 (QPSK r = 0.5, 10 MHz)"),
        (_, "airtime_unit_s") => ("", "reading 10"),
        (_, "capacity_bytes_per_s") => ("", "reading 11, calibrated to CAM occupancy 0.64"),
        (_, "footprint_m" | "candidates_in_tile_only") => ("", "reading 15"),
        (_, "refresh_s") => ("", "letter, vehicular instantiation"),
        (_, "soft_state_s") => ("", "letter (1 s refresh); readings 28, 37"),
        (_, "lease_s") => ("", "design: three cycles"),
        (
            _,
            "changed_m" | "changed_m_per_s" | "silence_refreshes" | "broadcast_content"
            | "withdrawn_bytes",
        ) => ("", "reading 20"),
        (_, "broadcast_counts") => ("", "reading 12"),
        (_, "report_silent_only") => ("", "reading 18"),
        (_, "digest_every") => ("beacons", "letter; reading 32"),
        (_, "report_window") => ("cycles", "reading 38"),
        (_, "beacon_window") => ("beacons", "reading 38"),
        (_, "reaction_s") => ("", "letter, table I (\u{3c4}_r)"),
        (_, "braking_m_per_s2") => ("", "letter, table I (a_br)"),
        (_, "message_bytes" | "sensor_bytes" | "object_bytes") => {
            ("", "TR 103 562, table 3; reading 21")
        }
        (_, "contributor_bytes") => ("", "design: a station id"),
        ("protocol", "novelty" | "risk" | "timeliness") => {
            ("", "letter; masked in ablations (reading 36)")
        }
        (_, "penetration") => ("share of vehicles", "letter, table I"),
        (_, "sizes") => ("", "reading 21"),
        (_, "main_density") => ("vehicles per km and lane", "letter (1.5 k_c); reading 42"),
        (_, "side_density") => ("vehicles per km and lane", "reading 42"),
        ("sensing", "range_m") => ("", "letter, table I; TR 103 562"),
        ("sensing", "cell" | "cell_height_m") => ("", "reading 6"),
        ("sensing", _) => ("", "reading 5"),
        (_, "horizon_s") => ("", "reading 1 (H)"),
        (_, "margin_m" | "d_min_m") => (
            "",
            "reading 1 (d_min), calibrated to a CAM-only deficit of 5.8 %",
        ),
        (_, "relevance") => ("", "reading 1"),
        (_, "relative_speed") => ("", "reading 2"),
        ("channel", "range_los_m" | "range_nlosv_m" | "range_nlos_m") => ("", "reading 26"),
        ("channel", "collision") => ("", "reading 22"),
        ("channel", "block_error" | "block_error_nlos") => ("", "published curve; letter, table I"),
        ("channel", "hard_cap") => ("", "letter, table I"),
        ("channel", "carrier_ghz" | "tx_power_dbm" | "resource_blocks") => {
            ("", "letter, table I; TR 37.885")
        }
        _ => ("", ""),
    }
}

/// Where a whole group comes from.
fn source_of(group: &str) -> &'static str {
    match group {
        "channel" => "TR 37.885, TR 36.885; docs/channel.md",
        "grid" => "scenario; reading 7",
        "conduct" => "reading 45",
        "demand" => "design: choice by demand",
        "traffic" => "scenario",
        _ => "",
    }
}

/// The unit that a name ends with.
fn unit_of(name: &str) -> &'static str {
    const ENDS: [(&str, &str); 14] = [
        ("_bytes_per_s", "B/s"),
        ("_dbm_per_hz", "dBm/Hz"),
        ("_m_per_s2", "m/s\u{b2}"),
        ("_m_per_s", "m/s"),
        ("_per_s", "per s"),
        ("_bytes", "B"),
        ("_dbm", "dBm"),
        ("_dbi", "dBi"),
        ("_db", "dB"),
        ("_ghz", "GHz"),
        ("_deg", "\u{b0}"),
        ("_km", "km"),
        ("_ms", "ms"),
        ("_s", "s"),
    ];
    ENDS.iter()
        .find(|(end, _)| name.ends_with(end))
        .map_or(if name.ends_with("_m") { "m" } else { "" }, |(_, unit)| {
            unit
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn leaves_have_names_units_and_sources() {
        let rows = flatten(&json!({
            "protocol": {"cell_m": 20.0, "capacity_bytes_per_s": 242000.0},
            "relevance": {"value": "path", "source": "reading 1"},
            "odd": [1, 2]
        }));
        let texts: Vec<String> = rows
            .iter()
            .map(|row| format!("{}|{}|{}|{}", row.name, row.value, row.unit, row.source))
            .collect();
        assert_eq!(
            texts,
            [
                "odd|[1,2]||",
                "protocol.capacity_bytes_per_s|242,000|B/s|reading 11, calibrated to CAM occupancy 0.64",
                "protocol.cell_m|20|m|letter, table I (design)",
                "relevance|path||reading 1",
            ]
        );
    }

    #[test]
    fn a_monstrous_summary_stays_a_page() {
        let long: String = "x".repeat(100_000);
        let many: Vec<(String, Value)> = (0..10_000)
            .map(|i| (format!("k{i}"), json!(long)))
            .collect();
        let value = Value::Object(many.into_iter().collect());
        let rows = flatten(&value);
        assert_eq!(rows.len(), MOST_ROWS);
        assert!(
            rows.iter()
                .all(|row| row.value.chars().count() <= MOST_CHARS + 1)
        );
    }
}
