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
            _ => number.to_string().trim_end_matches(".0").to_string(),
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

/// Unit and source of a parameter by the last part of its name.
fn known(name: &str) -> (&'static str, &'static str) {
    let last = name.rsplit('.').next().unwrap_or(name);
    match last {
        "cell_m" | "tile_m" => ("m", "letter, table I (design)"),
        "cycle_s" => ("s", "letter, table I (T_s)"),
        "beacon_s" => ("s", "letter, table I; EN 302 637-2"),
        "slot_s" | "step_s" => ("s", "letter, table I (step); reading 31"),
        "decision_phase_s" => ("s", "reading 31"),
        "kappa_per_s" => ("1/s", "letter, table I"),
        "eta_add" | "eta_rem" => ("value units", "letter, table I; reading 41"),
        "n_max" => ("changes per cycle", "letter, table I"),
        "allowance" => (
            "share of capacity",
            "letter, table I; the arm's name overrides",
        ),
        "target" => ("share of capacity", "letter, table I"),
        "price_step" => ("", "letter, congestion control (\u{b5})"),
        "t_max_s" => ("s", "reading 10 (inert at these allowances)"),
        "rate_bytes_per_s" => ("B/s", "reading 10 (QPSK r = 0.5, 10 MHz)"),
        "airtime_unit_s" => ("s", "reading 10"),
        "capacity_bytes_per_s" => ("B/s", "reading 11, calibrated to CAM occupancy 0.64"),
        "footprint_m" => ("m", "reading 15"),
        "candidates_in_tile_only" => ("", "reading 15"),
        "refresh_s" => ("s", "letter, vehicular instantiation"),
        "soft_state_s" => ("s", "letter (1 s refresh); readings 28, 37"),
        "lease_s" => ("s", "design: three cycles"),
        "changed_m" => ("m", "reading 20"),
        "changed_m_per_s" => ("m/s", "reading 20"),
        "silence_refreshes" | "broadcast_content" => ("", "reading 20"),
        "report_silent_only" => ("", "reading 18"),
        "digest_every" => ("beacons", "letter; reading 32"),
        "report_window" => ("cycles", "reading 38"),
        "beacon_window" => ("beacons", "reading 38"),
        "reaction_s" => ("s", "letter, table I (\u{3c4}_r)"),
        "braking_m_per_s2" => ("m/s\u{b2}", "letter, table I (a_br)"),
        "message_bytes" | "sensor_bytes" | "object_bytes" => {
            ("B", "TR 103 562, table 3; reading 21")
        }
        "withdrawn_bytes" => ("B", "reading 20"),
        "contributor_bytes" => ("B", "design: a station id"),
        "novelty" | "risk" | "timeliness" => ("", "letter; masked in ablations (reading 36)"),
        "penetration" => ("share of vehicles", "letter, table I"),
        "main_density" => ("vehicles/km/lane", "letter (1.5 k_c); reading 42"),
        "side_density" => ("vehicles/km/lane", "reading 42"),
        "sensing_m" | "range_m" | "sensor_range_m" => ("m", "letter, table I; TR 103 562"),
        "horizon_s" => ("s", "reading 1 (H)"),
        "d_min_m" | "margin_m" => (
            "m",
            "reading 1 (d_min), calibrated to a CAM-only deficit of 5.8 %",
        ),
        "cam_bytes" | "beacon_bytes" => ("B", "letter, table I; EN 302 637-2"),
        "warmup_s" | "measure_s" => ("s", "letter, setup"),
        "corridor_km" => ("km", ""),
        "speed_m_per_s" => ("m/s", ""),
        _ => ("", ""),
    }
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
