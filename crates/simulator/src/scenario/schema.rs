//! The keys of a scenario for editors (JSON schema) and for readers (Markdown).

use std::fmt::Write as _;

use covey_parameters::{Field, Kind, Value};
use serde_json::{Map, Value as Json, json};

use super::keys::{ScenarioKey, fields, keys, taken};

/// The JSON schema (draft 2020-12) of a scenario file.
#[must_use]
pub fn json_schema() -> Json {
    let mut schema = object("", fields(), &keys());
    schema.insert(
        "$schema".to_string(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".to_string(), json!("Covey scenario"));
    schema.insert(
        "description".to_string(),
        json!("A scenario of Covey: which map, which grid, which traffic, which parameters. Made by `covey schema`."),
    );
    Json::Object(schema)
}

fn object(group: &str, fields: &'static [Field], keys: &[ScenarioKey]) -> Map<String, Json> {
    let name = |field: &Field| match group {
        "" => field.name.to_string(),
        group => format!("{group}.{}", field.name),
    };
    let known = fields.iter().filter(|field| taken(&name(field)).is_none());
    let properties: Map<String, Json> = known
        .map(|field| (field.name.to_string(), property(&name(field), field, keys)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    let mut object = Map::new();
    object.insert("type".to_string(), json!("object"));
    object.insert("additionalProperties".to_string(), json!(false));
    object.insert("properties".to_string(), Json::Object(properties));
    if !required.is_empty() {
        object.insert("required".to_string(), json!(required));
    }
    object
}

fn property(name: &str, field: &'static Field, keys: &[ScenarioKey]) -> Json {
    let mut property = match field.kind {
        Kind::Group(fields) => object(name, fields, keys),
        Kind::Either(choices, fields) => {
            let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
            let mut either = Map::new();
            let object = Json::Object(object(name, fields, keys));
            either.insert("anyOf".to_string(), json!([{"enum": names}, object]));
            either
        }
        Kind::List(Kind::Group(fields)) => {
            let mut list = Map::new();
            list.insert("type".to_string(), json!("array"));
            let item = Json::Object(object(name, fields, keys));
            list.insert("items".to_string(), item);
            list
        }
        kind => simple(&kind),
    };
    if matches!(field.kind, Kind::Number | Kind::Whole) {
        for (end, closed, open) in [
            (field.range.low, "minimum", "exclusiveMinimum"),
            (field.range.high, "maximum", "exclusiveMaximum"),
        ] {
            if let Some(end) = end {
                let keyword = if end.open { open } else { closed };
                property.insert(keyword.to_string(), number(end.at));
            }
        }
    }
    property.insert("description".to_string(), json!(description(field)));
    let default = keys.iter().find(|key| key.name == name);
    if let Some(value) = default.and_then(|key| key.default.as_ref())
        && let Some(value) = as_json(value)
    {
        property.insert("default".to_string(), value);
    }
    Json::Object(property)
}

fn simple(kind: &Kind) -> Map<String, Json> {
    let schema = match kind {
        Kind::Number => json!({"type": "number"}),
        Kind::Whole => json!({"type": "integer", "minimum": 0}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Text => json!({"type": "string"}),
        Kind::List(item) => json!({"type": "array", "items": simple(item)}),
        Kind::Choice(choices) | Kind::Either(choices, _) => {
            let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
            json!({"enum": names})
        }
        Kind::Group(_) => json!({"type": "object"}),
    };
    match schema {
        Json::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Whole numbers without a fraction.
fn number(x: f64) -> Json {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        json!(x as i64)
    } else {
        json!(x)
    }
}

/// A value as JSON; nothing where none is set or its parameters have values of their own.
fn as_json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::None | Value::Group => return None,
        Value::Number(x) => number(*x),
        Value::Whole(n) => json!(n),
        Value::Switch(yes) => json!(yes),
        Value::Name(name) => json!(name),
        Value::Text(text) => json!(text),
        Value::List(values) => Json::Array(values.iter().filter_map(as_json).collect()),
    })
}

fn description(field: &Field) -> String {
    let mut text = field.text.to_string();
    for choice in field.kind.choices() {
        let _ = write!(text, " `{}`: {}", choice.name, choice.text);
    }
    if !field.unit.is_empty() {
        let _ = write!(text, " Unit: {}.", field.unit);
    }
    if !field.source.is_empty() {
        let _ = write!(text, " Source: {}.", field.source);
    }
    text
}

/// Every key in tables, one for each section.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(
        "# Parameters\n\n\
         Every key of a scenario file, made by `covey schema --markdown`; keys of plans (`set`, `vary`, variants) are the same. \
         Every key may be left out but `map.net`, and that where `source.sumocfg` is given. Numbers are checked against their ranges before anything runs; NaN and \
         infinities are in none. \"Letter\" is the research letter that the protocol comes from, \"reading\" a row of \
         [readings.md](readings.md), \"design\" a choice of this project.\n\n\
         For an editor: [scenario.schema.json](scenario.schema.json) is the same as a JSON schema, made by `covey schema`. \
         Editors with Taplo or Even Better TOML check and complete a scenario file whose first line is \
         `#:schema PATH/scenario.schema.json`.\n",
    );
    let all = keys();
    section(&mut text, "", fields(), &all);
    text
}

const HEAD: &str =
    "\n| key | default | unit | range | what it is | source |\n|---|---|---|---|---|---|\n";

/// The keys of `fields` that take a value, then the groups among them.
fn section(text: &mut String, group: &str, fields: &'static [Field], all: &[ScenarioKey]) {
    let name = |field: &Field| match group {
        "" => field.name.to_string(),
        group => format!("{group}.{}", field.name),
    };
    let rows: Vec<&ScenarioKey> = fields
        .iter()
        .flat_map(|field| {
            let name = name(field);
            let inside = format!("{name}.");
            let either = matches!(field.kind, Kind::Either(..));
            all.iter()
                .filter(move |key| key.name == name || either && key.name.starts_with(&inside))
        })
        .collect();
    if !rows.is_empty() {
        text.push_str(HEAD);
    }
    for key in rows {
        text.push_str(&row(key));
    }
    for field in fields {
        if let Kind::Group(inner) | Kind::List(&Kind::Group(inner)) = field.kind {
            let name = name(field);
            let _ = write!(text, "\n## {name}\n\n{}\n", cell(field.text));
            section(text, &name, inner, all);
        }
    }
}

fn row(key: &ScenarioKey) -> String {
    let field = key.field;
    let mut what = field.text.to_string();
    for choice in field.kind.choices() {
        let _ = write!(what, " `{}`: {}", choice.name, choice.text);
    }
    let range = match field.kind {
        Kind::Number | Kind::Whole if field.range != Default::default() => field.range.text(""),
        Kind::Whole => "whole".to_string(),
        Kind::Switch => "true, false".to_string(),
        _ => String::new(),
    };
    let default = match &key.default {
        Some(value) => as_json(value).map_or("none".to_string(), |value| format!("`{value}`")),
        None if field.required => "must be given".to_string(),
        None => String::new(),
    };
    format!(
        "| `{}` | {default} | {} | {range} | {} | {} |\n",
        key.name,
        cell(field.unit),
        cell(&what),
        cell(field.source)
    )
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_says_the_same_in_schema_and_table() {
        let schema = json_schema();
        let target = &schema["properties"]["protocol"]["properties"]["target"];
        assert_eq!(
            *target,
            json!({
                "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.3,
                "description": "Regional congestion target Gamma. Unit: share of capacity. Source: letter, table I."
            })
        );
        assert!(schema.get("required").is_none());
        let channel = &schema["properties"]["channel"]["properties"];
        assert!(channel.get("capacity_bytes_per_s").is_none());
        assert_eq!(channel["collision"]["anyOf"][0]["enum"][0], "s2-23dbm");
        let text = markdown();
        assert!(text.contains(
            "| `protocol.target` | `0.3` | share of capacity | above 0 and at most 1 | Regional congestion target Gamma. | letter, table I |"
        ));
        for key in keys() {
            let rows = text.matches(&format!("\n| `{}` |", key.name)).count();
            assert_eq!(rows, 1, "{}", key.name);
        }
    }
}
