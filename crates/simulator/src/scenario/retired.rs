//! Keys that scenarios of earlier programs have: still read, and said to be so.

use covey_parameters::{Field, Kind};
use toml::de::DeTable;
use toml::{Table, Value};

/// A key of earlier programs.
struct Retired {
    section: &'static str,
    field: Field,
    /// What it comes to now, for people.
    word: &'static str,
    /// What becomes of its value in its section.
    read: fn(&mut Table, Value),
}

static RETIRED: [Retired; 2] = [
    Retired {
        section: "calibrated",
        field: Field::new("capacity_bytes_per_s", Kind::Number, "Ignored."),
        word: "is ignored: capacity is nominal and no longer calibrated; set `protocol.capacity_bytes_per_s` to have another, and \
               run `covey calibrate` again for a margin that fits",
        read: |_, _| {},
    },
    Retired {
        section: "protocol",
        field: Field::new(
            "report_silent_only",
            Kind::Switch,
            "Read as `report_content`.",
        ),
        word: "is read as `protocol.report_content = \"silent\"` where it is true; write that instead",
        read: |section, value| {
            if value.as_bool() == Some(true) {
                section
                    .entry("report_content")
                    .or_insert_with(|| "silent".into());
            }
        },
    },
];

/// The definition of a key of earlier programs.
pub(super) fn field(section: &str, name: &str) -> Option<&'static Field> {
    let found = RETIRED
        .iter()
        .find(|retired| retired.section == section && retired.field.name == name);
    found.map(|retired| &retired.field)
}

/// What is to be said of the keys of earlier programs in a scenario; nothing of most.
pub(super) fn words(document: &DeTable<'_>) -> Vec<String> {
    let given = |retired: &&Retired| {
        let section = document.get(retired.section);
        let section = section.and_then(|value| value.get_ref().as_table());
        section.is_some_and(|keys: &DeTable<'_>| keys.contains_key(retired.field.name))
    };
    RETIRED
        .iter()
        .filter(given)
        .map(|retired| {
            let Retired {
                section,
                field,
                word,
                ..
            } = retired;
            format!("`{section}.{}` {word}", field.name)
        })
        .collect()
}

/// Puts today's keys in the place of earlier ones.
pub(super) fn modernise(scenario: &mut Table) {
    for retired in &RETIRED {
        let section = scenario
            .get_mut(retired.section)
            .and_then(Value::as_table_mut);
        if let Some(section) = section
            && let Some(value) = section.remove(retired.field.name)
        {
            (retired.read)(section, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use covey_protocol::parameters::ReportContent;

    fn parse(text: &str) -> Scenario {
        Scenario::parse("x.toml", &format!("map.net = \"a\"\n{text}")).unwrap()
    }

    #[test]
    fn a_calibrated_capacity_is_ignored_with_a_word() {
        let scenario = parse(
            "[calibrated]\ncapacity_bytes_per_s = 195203.0\nmargin_m = 8.75\nseeds = [1001]\n\
             beacon_occupancy = 0.64\ncam_only_deficit = 0.058\nhysteresis_by_rule = 0.5\n",
        );
        assert_eq!(scenario.protocol.capacity_bytes_per_s, 242_000.0);
        assert_eq!(scenario.evaluation.margin_m, 8.75);
        assert_eq!(scenario.words.len(), 1);
        assert!(
            scenario.words[0].starts_with("`calibrated.capacity_bytes_per_s` is ignored: "),
            "{:?}",
            scenario.words
        );
    }

    #[test]
    fn reports_of_silent_objects_only_are_asked_for_in_both_ways() {
        let old = parse("protocol.report_silent_only = true\n");
        assert_eq!(old.protocol.report_content, ReportContent::Silent);
        assert!(old.words[0].contains("report_content"), "{:?}", old.words);
        let off = parse("protocol.report_silent_only = false\n");
        assert_eq!(off.protocol.report_content, ReportContent::Included);
        let both = parse("protocol = { report_silent_only = true, report_content = \"all\" }\n");
        assert_eq!(both.protocol.report_content, ReportContent::All);
        let new = parse("protocol.report_content = \"silent\"\n");
        assert_eq!(new.protocol, old.protocol);
        assert!(new.words.is_empty());
        let wrong = Scenario::parse(
            "x.toml",
            "map.net = \"a\"\nprotocol.report_silent_only = 3\n",
        );
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "x.toml: line 2: protocol.report_silent_only: found 3, expected true or false"
        );
    }
}
