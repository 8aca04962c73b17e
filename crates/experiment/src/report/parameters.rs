//! Parameters and readings in force, each with its unit and source, from their definitions.

use covey_parameters::{Field, Kind, Value as Set, Visit};
use covey_simulator::scenario::{Readings, TAKEN};
use serde_json::Value;

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) unit: String,
    pub(crate) source: String,
}

/// Values longer than this are cut: a page is no archive, the summary has them all.
const MOST_CHARS: usize = 120;

/// Every parameter in force. What one section takes from another stands where it is set, and only there.
pub(crate) fn in_force(readings: &Readings) -> Vec<Parameter> {
    let mut rows = Vec::new();
    readings.each(&mut |key, field, value| {
        let name = key.to_string();
        if TAKEN.iter().any(|(taken, _)| *taken == name) {
            return;
        }
        if let Kind::List(Kind::Group(_)) = field.kind {
            rows.extend(listed(readings, field));
            return;
        }
        rows.push(Parameter {
            unit: match value {
                Set::Number(_) | Set::Whole(_) => field.unit.to_string(),
                _ => String::new(),
            },
            value: told(&value),
            source: field.source.to_string(),
            name,
        });
    });
    rows
}

/// A line for each type and each station that the scenario has.
fn listed(readings: &Readings, field: &Field) -> Vec<Parameter> {
    let row = |name: &str, values: Vec<String>| Parameter {
        name: format!("{}: {name}", field.name),
        value: shown(&Value::from(values.join(", "))),
        unit: String::new(),
        source: field.source.to_string(),
    };
    match field.name {
        "types" => {
            let rules = readings.types.iter().map(|rule| {
                let class = rule.class.map(|class| format!("class {}", class.name()));
                let mut values = given(&|visit| rule.outfit.each(visit));
                values.splice(0..0, class);
                row(&rule.name, values)
            });
            rules.collect()
        }
        "stations" => {
            let stations = readings.stations.iter().enumerate().map(|(at, station)| {
                let name = match station.name.as_str() {
                    "" => (at + 1).to_string(),
                    name => name.to_string(),
                };
                let mut values = given(&|visit| station.each(visit));
                values.retain(|value| !value.starts_with("name "));
                row(&name, values)
            });
            stations.collect()
        }
        _ => Vec::new(),
    }
}

/// What is set, as text.
fn given(each: &dyn Fn(&mut Visit<'_>)) -> Vec<String> {
    let mut values = Vec::new();
    each(&mut |key, _, value| {
        let empty = matches!(&value, Set::List(list) if list.is_empty());
        if value != Set::None && !empty {
            values.push(format!("{key} {}", told(&value)));
        }
    });
    values
}

/// A parameter's value as people write it.
fn told(value: &Set) -> String {
    match value {
        Set::None | Set::Group => shown(&Value::Null),
        Set::Number(x) => shown(&Value::from(*x)),
        Set::Whole(n) => shown(&Value::from(*n)),
        Set::Switch(yes) => shown(&Value::Bool(*yes)),
        Set::Name(name) => (*name).to_string(),
        Set::Text(text) => shown(&Value::from(text.as_str())),
        Set::List(values) if values.is_empty() => shown(&Value::Null),
        Set::List(values) => {
            let values: Vec<String> = values.iter().map(told).collect();
            shown(&Value::from(values.join(", ")))
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
            Some(x) => short(x),
            None => number.to_string(),
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

/// A number as people write it: at most six significant digits behind the point, thousands apart.
pub(crate) fn short(x: f64) -> String {
    if x.abs() >= 10_000.0 {
        return thousands(x);
    }
    let whole = if x.abs() >= 1.0 {
        x.abs().log10().floor() as usize + 1
    } else {
        0
    };
    let leading = if x != 0.0 && x.abs() < 1.0 {
        (-x.abs().log10()).floor() as usize
    } else {
        0
    };
    if leading > 6 {
        return format!("{x:e}").replace('-', "\u{2212}");
    }
    let decimals = 6usize.saturating_sub(whole) + leading;
    let text = format!("{x:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    text.replace('-', "\u{2212}")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(readings: &Readings) -> Vec<String> {
        in_force(readings)
            .iter()
            .map(|row| format!("{}|{}|{}|{}", row.name, row.value, row.unit, row.source))
            .collect()
    }

    #[test]
    fn every_parameter_stands_once_with_unit_and_source() {
        let mut readings = Readings::default();
        readings.protocol.capacity_bytes_per_s = 195_203.0;
        readings.errors.position_error_m = 1.5;
        let rows = rows(&readings);
        let has = |row: &str| assert!(rows.iter().any(|found| found == row), "{row}\n{rows:#?}");
        has("protocol.capacity_bytes_per_s|195,203|B/s|reading 11");
        has("protocol.cell_m|20|m|letter, table I (design)");
        has("protocol.eta_rem|\u{2212}0.25|value units|letter, table I; reading 41");
        has("protocol.requested_bytes|3|B|design: a number that the host gave the object");
        has("protocol.handover|\u{2013}||letter; docs/protocol.md, handover");
        has("errors.position_error_m|1.5|m|docs/readings.md, errors of positions");
        has("evaluation.relevance|reach||reading 1");
        has("traffic.main_edges|\u{2013}||scenario");
        let capacities = rows
            .iter()
            .filter(|row| row.contains("capacity_bytes_per_s"));
        assert_eq!(capacities.count(), 1);
        let mut names: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.split('|').next())
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(!rows.iter().any(|row| row.ends_with('|')), "{rows:#?}");
    }

    #[test]
    fn types_and_stations_have_a_line_each() {
        let types = serde_json::json!([
            {"name": "taxi*", "class": "car", "radio": 1.0, "range_m": null}
        ]);
        let stations = serde_json::json!([
            {"name": "corner", "x_m": 7.0, "range_m": 120.0, "sectors_deg": [-45.0, 45.0]}, {}
        ]);
        let readings = Readings {
            types: serde_json::from_value(types).unwrap(),
            stations: serde_json::from_value(stations).unwrap(),
            ..Readings::default()
        };
        let mut rows = rows(&readings);
        rows.retain(|row| row.starts_with("types") || row.starts_with("stations"));
        assert_eq!(
            rows,
            [
                "types: taxi*|class car, radio 1||design",
                "stations: corner|x_m 7, y_m 0, height_m 6, range_m 120, heading_deg 0, sectors_deg \u{2212}45, 45||scenario",
                "stations: 2|x_m 0, y_m 0, height_m 6, heading_deg 0||scenario",
            ]
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(966.705_882_352_941_2), "966.706");
        assert_eq!(short(0.1 + 0.2), "0.3");
        assert_eq!(short(-0.25), "\u{2212}0.25");
        assert_eq!(short(242_000.0), "242,000");
        assert_eq!(short(0.000_123_456_789), "0.000123457");
        assert_eq!(short(20.0), "20");
        assert_eq!(short(0.0), "0");
    }

    #[test]
    fn a_monstrous_value_stays_a_line() {
        let long: String = "x".repeat(100_000);
        let mut readings = Readings::default();
        readings.traffic.main_edges = vec![long; 100];
        assert!(
            in_force(&readings)
                .iter()
                .all(|row| row.value.chars().count() <= MOST_CHARS + 1)
        );
    }
}
