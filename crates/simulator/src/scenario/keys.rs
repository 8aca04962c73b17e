//! Every key of a scenario file, and what is said of one that is none.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use covey_parameters::ranges::any;
use covey_parameters::{Field, Kind, Value, nearest, unknown_field};
use toml::de::{DeTable, DeValue};

use super::{Readings, TAKEN, retired};
use crate::calibrated::Calibrated;

/// Roads and buildings.
const MAP: &[Field] = &[
    Field::new(
        "net",
        Kind::Text,
        "SUMO network, plain or gzipped; may be left out where `source.sumocfg` names it.",
    ),
    Field::new(
        "buildings",
        Kind::List(&Kind::Text),
        "SUMO polygons, plain or gzipped; of a SUMO configuration without net here, those it names itself.",
    ),
    Field::new(
        "stations",
        Kind::List(&Kind::Text),
        "Files of stations beside the road, besides `stations`: SUMO's points of interest (`<poi>`) whose type begins with `rsu`.",
    ),
];

/// Traffic that others made.
pub(super) const SOURCE: &[Field] = &[
    Field::new(
        "sumocfg",
        Kind::Text,
        "A SUMO configuration; SUMO is run for its traffic, once a seed.",
    ),
    Field::new(
        "fcd",
        Kind::Text,
        "Recorded floating-car data on the map's net: XML, CSV or Parquet, plain or gzipped.",
    ),
    Field::new(
        "begin_s",
        Kind::Number,
        "Where our time 0 lies in the traffic's own time; where it is left out, at its beginning.",
    )
    .optional()
    .unit("s")
    .range(covey_parameters::ranges::at_least(0.0).at_most(1e9)),
    Field::new(
        "fill_s",
        Kind::Number,
        "How much of SUMO's traffic before that is simulated, traffic alone, to fill the streets; where it is left out, all of it.",
    )
    .optional()
    .unit("s")
    .range(covey_parameters::ranges::at_least(0.0).at_most(1e9)),
    Field::new(
        "depart_offset_s",
        Kind::Number,
        "Everybody of a SUMO configuration departs later by a time drawn by seed from 0 to this, so that seeds differ in demand; 10 where \
         it is left out, 0 for departures as published.",
    )
    .optional()
    .unit("s")
    .range(covey_parameters::ranges::at_least(0.0).at_most(3600.0)),
];

/// The keys that hold no parameter of a run, before and after those that do.
const BEFORE: &[Field] = &[
    Field::new(
        "name",
        Kind::Text,
        "What the scenario is called; where it is left out, as its folder.",
    ),
    Field::new(
        "corridor_km",
        Kind::Number,
        "Length of the corridor, for the record; nothing is computed from it.",
    )
    .optional()
    .unit("km")
    .range(covey_parameters::ranges::above(0.0)),
    Field::new(
        "map",
        Kind::Group(MAP),
        "Roads and buildings; paths are relative to the scenario's folder.",
    ),
    Field::new(
        "source",
        Kind::Group(SOURCE),
        "Traffic that others made, in place of the built-in one; paths are relative to the scenario's folder.",
    )
    .optional(),
];
const AFTER: &[Field] = &[
    Field::new(
        "unequipped",
        Kind::List(&Kind::Whole),
        "Vehicles that do not participate whatever the share, by their number in order of first appearance: for scenarios \
         small enough to know every vehicle.",
    ),
    Field::new(
        "calibrated",
        Kind::Group(Calibrated::FIELDS),
        "What `covey calibrate` found; takes effect where the file does not set the margin itself.",
    )
    .optional(),
];

/// The definitions of a scenario's keys, in order, sections as groups.
static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| [BEFORE, Readings::FIELDS, AFTER].concat());

/// A key of a scenario file.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioKey {
    /// Its name, with dots: `protocol.target`.
    pub name: String,
    /// Its definition.
    pub field: &'static Field,
    /// Its default; none where there is none or where it has none by itself.
    pub default: Option<Value>,
}

/// The definitions of a scenario's keys, in order, sections as groups.
#[must_use]
pub fn fields() -> &'static [Field] {
    &FIELDS
}

/// Every key of a scenario that takes a value, in order.
#[must_use]
pub fn keys() -> Vec<ScenarioKey> {
    let mut defaults = BTreeMap::new();
    Readings::default().each(&mut |key, _, value| {
        defaults.insert(key.to_string(), value);
    });
    let mut all = Vec::new();
    collect("", fields(), &defaults, &mut all);
    all
}

fn collect(
    group: &str,
    fields: &'static [Field],
    defaults: &BTreeMap<String, Value>,
    all: &mut Vec<ScenarioKey>,
) {
    for field in fields {
        let name = join(group, field.name);
        if taken(&name).is_some() {
            continue;
        }
        // A power law stands for the name of a table; its key takes both.
        if !matches!(field.kind, Kind::Group(_)) {
            all.push(ScenarioKey {
                default: defaults.get(&name).cloned(),
                name: name.clone(),
                field,
            });
        }
        collect(&name, field.kind.fields(), defaults, all);
    }
}

fn join(group: &str, name: &str) -> String {
    match group {
        "" => name.to_string(),
        group => format!("{group}.{name}"),
    }
}

/// The key that a run takes the value of `key` from.
pub(super) fn taken(key: &str) -> Option<&'static str> {
    let found = TAKEN.iter().find(|(taken, _)| *taken == key);
    found.map(|(_, from)| *from)
}

/// What is wrong with a dotted key: none where it is one of a scenario.
#[must_use]
pub fn wrong_key(key: &str) -> Option<String> {
    let mut fields = fields();
    let mut group = String::new();
    for name in key.split('.') {
        let full = join(&group, name);
        match look_up(&group, name, fields) {
            Err(problem) => return Some(problem),
            // What has no keys of its own is told by its value's type.
            Ok(field) if field.kind.fields().is_empty() => return None,
            Ok(field) => fields = field.kind.fields(),
        }
        group = full;
    }
    None
}

/// The key that takes the value of which a dotted key of a scenario is a part: `channel.collision` takes a name or a table, so that
/// `channel.collision.exponent` is a part of it.
#[must_use]
pub fn value_key(key: &str) -> &str {
    let mut fields = fields();
    let ends = key.match_indices('.').map(|(at, _)| at).chain([key.len()]);
    for end in ends {
        let name = key[..end].rsplit('.').next().unwrap_or(key);
        match fields
            .iter()
            .find(|field| field.name == name)
            .map(|f| f.kind)
        {
            Some(Kind::Group(inner)) => fields = inner,
            _ => return &key[..end],
        }
    }
    key
}

/// The definition of `name` in `group`, or what is wrong with it.
fn look_up(group: &str, name: &str, fields: &'static [Field]) -> Result<&'static Field, String> {
    let full = join(group, name);
    if let Some(from) = taken(&full) {
        return Err(format!(
            "`{full}` is no key of a scenario: set `{from}`, which it is taken from"
        ));
    }
    if let Some(field) = fields.iter().find(|field| field.name == name) {
        return Ok(field);
    }
    if let Some(field) = retired::field(group, name) {
        return Ok(field);
    }
    let here: Vec<&str> = fields
        .iter()
        .map(|field| field.name)
        .filter(|name| taken(&join(group, name)).is_none())
        .collect();
    // The right key in the wrong section; of some, the least deep.
    let all = keys();
    let elsewhere = all
        .iter()
        .filter(|key| key.field.name == name)
        .min_by_key(|key| key.name.matches('.').count());
    if let Some(elsewhere) = elsewhere
        && nearest(name, here.iter().copied()).is_none()
    {
        let place = match group {
            "" => "at the top".to_string(),
            group => format!("in `{group}`"),
        };
        return Err(format!(
            "unknown field `{name}` {place}: did you mean `{}`?",
            elsewhere.name
        ));
    }
    let mut problem = unknown_field(group, name, &here);
    // A mistyped key of another section.
    if !problem.contains("did you mean")
        && let Some(near) = nearest(name, all.iter().map(|key| key.field.name))
        && let Some(key) = all
            .iter()
            .filter(|key| key.field.name == near)
            .min_by_key(|key| key.name.matches('.').count())
    {
        let place = match group {
            "" => "at the top".to_string(),
            group => format!("in `{group}`"),
        };
        return Err(format!(
            "unknown field `{name}` {place}: did you mean `{}`?",
            key.name
        ));
    }
    if !problem.contains(':') {
        problem.push_str("; `covey schema --markdown` lists all keys");
    }
    Err(problem)
}

/// Something wrong with a key or a name, and where in the text it stands.
pub(super) struct Wrong {
    at: usize,
    pub(super) problem: String,
}

impl Wrong {
    /// Its line, from 1.
    pub(super) fn line(&self, text: &str) -> usize {
        line(text, self.at)
    }
}

/// The line of a byte of a text, from 1.
#[must_use]
pub fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

/// The first key that a scenario does not have, or value that is none for its key.
pub(super) fn first_wrong(text: &str, table: &DeTable<'_>) -> Option<Wrong> {
    let mut all = Vec::new();
    find_wrong(text, "", table, fields(), &mut all);
    all.into_iter().min_by_key(|wrong| wrong.at)
}

fn find_wrong(
    text: &str,
    group: &str,
    table: &DeTable<'_>,
    fields: &'static [Field],
    all: &mut Vec<Wrong>,
) {
    for (key, value) in table {
        let name: &str = key.get_ref();
        let field = match look_up(group, name, fields) {
            Ok(field) => field,
            Err(problem) => {
                all.push(Wrong {
                    at: key.span().start,
                    problem,
                });
                continue;
            }
        };
        let full = join(group, name);
        if let Some(expected) = misfit(field, value.get_ref()) {
            let found = match value.get_ref() {
                DeValue::Table(_) => "a section of keys",
                DeValue::Array(_) => "a list",
                _ => text.get(value.span()).unwrap_or_default(),
            };
            all.push(Wrong {
                at: value.span().start,
                problem: format!("{full}: found {found}, expected {expected}"),
            });
        } else if let Some(inner) = value.get_ref().as_table() {
            find_wrong(text, &full, inner, field.kind.fields(), all);
        } else if let (Kind::List(Kind::Group(fields)), DeValue::Array(items)) =
            (field.kind, value.get_ref())
        {
            for item in items {
                match item.get_ref().as_table() {
                    Some(inner) => {
                        find_wrong(text, &full, inner, fields, all);
                        find_missing(item.span().start, &full, inner, fields, all);
                    }
                    None => all.push(Wrong {
                        at: item.span().start,
                        problem: format!("{full}: found a value, expected sections `[[{full}]]`"),
                    }),
                }
            }
        }
    }
}

/// What a section of a list must have.
fn find_missing(
    at: usize,
    group: &str,
    table: &DeTable<'_>,
    fields: &'static [Field],
    all: &mut Vec<Wrong>,
) {
    let given = |name: &str| table.iter().any(|(key, _)| key.get_ref() == name);
    let places = ["x_m", "y_m"];
    let missing = fields
        .iter()
        .filter(|field| field.required || places.contains(&field.name))
        .find(|field| !given(field.name));
    if let Some(field) = missing {
        all.push(Wrong {
            at,
            problem: format!("{group}: missing field `{}`", field.name),
        });
    }
}

/// What the value of a parameter may be, where `value` is of another kind or is no name to choose.
fn misfit(field: &Field, value: &DeValue<'_>) -> Option<String> {
    let choices = field.kind.choices();
    let fits = match (field.kind, value) {
        (Kind::Number, DeValue::Integer(_) | DeValue::Float(_))
        | (Kind::Switch, DeValue::Boolean(_))
        | (Kind::Text, DeValue::String(_))
        | (Kind::List(_), DeValue::Array(_))
        | (Kind::Group(_) | Kind::Either(..), DeValue::Table(_)) => true,
        (Kind::Whole, DeValue::Integer(number)) => !number.as_str().starts_with('-'),
        (Kind::Choice(_) | Kind::Either(..), DeValue::String(name)) => {
            choices.iter().any(|choice| choice.name == name)
        }
        _ => false,
    };
    if fits {
        return None;
    }
    Some(match field.kind {
        Kind::Number => field.expected(),
        Kind::Whole if field.range == any() => "a whole number from 0 on".to_string(),
        Kind::Whole => format!("a whole number, {}", field.expected()),
        Kind::Switch => "true or false".to_string(),
        Kind::Text => "text in quotes".to_string(),
        Kind::List(_) => "a list in brackets".to_string(),
        Kind::Group(_) => "a section of keys".to_string(),
        Kind::Choice(_) | Kind::Either(..) => {
            let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
            format!("\"{}\"", names.join("\", \""))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn every_key_is_there_once_with_its_default() {
        let keys = keys();
        let mut names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        let find = |name: &str| keys.iter().find(|key| key.name == name).unwrap();
        assert_eq!(find("protocol.target").default, Some(Value::Number(0.3)));
        // Cars and trucks share a definition, not defaults.
        assert_eq!(find("traffic.car.accel").default, Some(Value::Number(2.6)));
        assert_eq!(
            find("traffic.heavy.accel").default,
            Some(Value::Number(1.3))
        );
        assert_eq!(
            find("channel.collision").default,
            Some(Value::Name("s2-23dbm"))
        );
        for name in [
            "map.net",
            "protocol.handover",
            "protocol.handover.beyond_m",
            "penetration",
            "calibrated.seeds",
        ] {
            assert!(
                names.contains(&name) != name.ends_with("handover"),
                "{name}"
            );
        }
        assert!(!names.contains(&"channel.capacity_bytes_per_s"));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for key in &keys {
            assert!(
                key.field.text.ends_with('.'),
                "{}: {}",
                key.name,
                key.field.text
            );
            assert_eq!(wrong_key(&key.name), None);
        }
    }

    #[test]
    fn every_number_of_a_run_has_a_source() {
        Readings::default().each(&mut |key, field, _| {
            assert!(!field.source.is_empty(), "{key}");
        });
    }

    #[test]
    fn a_wrong_key_is_answered_with_the_right_one() {
        for (key, answer) in [
            (
                "protocol.targt",
                "unknown field `targt` in `protocol`: did you mean `target`?",
            ),
            (
                "penetraton",
                "unknown field `penetraton`: did you mean `penetration`?",
            ),
            (
                "protocol.margin_m",
                "unknown field `margin_m` in `protocol`: did you mean `evaluation.margin_m`?",
            ),
            (
                "allowance",
                "unknown field `allowance` at the top: did you mean `protocol.allowance`?",
            ),
            (
                "channel.capacity_bytes_per_s",
                "`channel.capacity_bytes_per_s` is no key of a scenario: set `protocol.capacity_bytes_per_s`, which it is taken from",
            ),
            (
                "protocol.colour",
                "unknown field `colour` in `protocol`; `covey schema --markdown` lists all keys",
            ),
            (
                "map.colour",
                "unknown field `colour` in `map`: it has `net`, `buildings` and `stations`",
            ),
            (
                "taget",
                "unknown field `taget` at the top: did you mean `protocol.target`?",
            ),
            (
                "traffic.car.acel",
                "unknown field `acel` in `traffic.car`: did you mean `accel`?",
            ),
        ] {
            assert_eq!(wrong_key(key).as_deref(), Some(answer));
        }
        assert_eq!(wrong_key("channel.collision.exponent"), None);
        assert_eq!(wrong_key("penetration.x"), None);
        for (part, whole) in [
            ("channel.collision.exponent", "channel.collision"),
            ("channel.collision", "channel.collision"),
            ("protocol.target", "protocol.target"),
            ("penetration", "penetration"),
        ] {
            assert_eq!(value_key(part), whole);
        }
    }

    #[test]
    fn the_first_mistake_of_a_file_is_named_with_its_line() {
        let error = |text: &str| Scenario::parse("x.toml", text).unwrap_err().to_string();
        assert_eq!(
            error("map.net = \"a\"\n[traffic]\nmain_densty = 3\n[demand]\nvews = \"digests\"\n"),
            "x.toml: line 3: unknown field `main_densty` in `traffic`: did you mean `main_density`?"
        );
        assert_eq!(
            error("map.net = \"a\"\nsizes = \"huge\"\n"),
            "x.toml: line 2: sizes: found \"huge\", expected \"tr103562\", \"uper\""
        );
        assert!(
            error("map.net = \"a\"\nchannel.collision = \"s3-23dbm\"\n").contains("\"s2-23dbm\"")
        );
        for (line, problem) in [
            (
                "protocol.n_max = -1",
                "protocol.n_max: found -1, expected a whole number from 0 on",
            ),
            (
                "protocol.report_window = 1.5",
                "protocol.report_window: found 1.5, expected a whole number, 1 to 32 cycles",
            ),
            (
                "protocol.target = \"x\"",
                "protocol.target: found \"x\", expected above 0 and at most 1 (a share of capacity)",
            ),
            (
                "protocol.novelty = 1",
                "protocol.novelty: found 1, expected true or false",
            ),
            (
                "protocol = 1",
                "protocol: found 1, expected a section of keys",
            ),
            ("name = 3", "name: found 3, expected text in quotes"),
            (
                "penetration.x = 3",
                "penetration: found a section of keys, expected above 0 and at most 1 (a share of vehicles)",
            ),
            (
                "name = [\"a\",\n \"b\"]",
                "name: found a list, expected text in quotes",
            ),
            (
                "unequipped = 3",
                "unequipped: found 3, expected a list in brackets",
            ),
        ] {
            let text = format!("map.net = \"a\"\n{line}\n");
            assert_eq!(error(&text), format!("x.toml: line 2: {problem}"));
        }
        assert_eq!(
            error("map.net = \"a\"\ndemand.sensor_range_m = 100.0\n"),
            "x.toml: line 2: `demand.sensor_range_m` is no key of a scenario: set `sensing.range_m`, which it is taken from"
        );
    }
}
