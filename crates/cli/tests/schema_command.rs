//! The schema of scenario files and the table of their keys.

mod common;

use std::path::Path;

use serde_json::Value;

use crate::common::covey;

fn top(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn schema() -> Value {
    serde_json::from_str(&covey(&["schema"], "").done()).expect("JSON")
}

#[test]
fn the_documents_are_what_the_program_makes() {
    for (arguments, file) in [
        (&["schema"][..], "docs/scenario.schema.json"),
        (&["schema", "--markdown"], "docs/parameters.md"),
    ] {
        let kept = std::fs::read_to_string(top(file)).expect("the document");
        let made = covey(arguments, "").done();
        let fix = format!("cargo run -- {} > {file}", arguments.join(" "));
        assert!(kept == made, "{file} is not what the program makes: {fix}");
    }
}

/// What is wrong with `value` by those keywords that our schema uses; any other keyword is a mistake of this test.
fn wrong(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let number = value.as_f64();
    for (keyword, rule) in schema.as_object().expect("a schema") {
        let bound = |fine: fn(f64, f64) -> bool| match (number, rule.as_f64()) {
            (Some(x), Some(bound)) => fine(x, bound),
            _ => true,
        };
        let fine = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => match rule.as_str().expect("a type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "number" => value.is_number(),
                "integer" => value.is_i64() || value.is_u64(),
                other => panic!("type {other}"),
            },
            "enum" => rule.as_array().expect("names").contains(value),
            "minimum" => bound(|x, low| x >= low),
            "exclusiveMinimum" => bound(|x, low| x > low),
            "maximum" => bound(|x, high| x <= high),
            "exclusiveMaximum" => bound(|x, high| x < high),
            "anyOf" => {
                let any = rule.as_array().expect("schemas");
                any.iter().any(|one| wrong(one, value, at).is_none())
            }
            "required" => rule
                .as_array()
                .expect("names")
                .iter()
                .all(|name| value.get(name.as_str().expect("a name")).is_some()),
            "items" => {
                let items = value.as_array().into_iter().flatten();
                if let Some(inner) = items.filter_map(|item| wrong(rule, item, at)).next() {
                    return Some(inner);
                }
                true
            }
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        None => return Some(format!("{at}.{name} is unknown")),
                        Some(rule) => {
                            let inner = wrong(rule, value, &format!("{at}.{name}"));
                            if inner.is_some() {
                                return inner;
                            }
                        }
                    }
                }
                true
            }
            "additionalProperties" => *rule == Value::Bool(false),
            other => panic!("keyword {other}"),
        };
        if !fine {
            return Some(format!("{at}: {keyword} {rule} does not hold for {value}"));
        }
    }
    None
}

fn checked(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().expect("TOML");
    let value = serde_json::to_value(table).expect("JSON");
    wrong(&schema(), &value, "scenario")
}

#[test]
fn bundled_scenarios_keep_to_the_schema() {
    for name in ["tamagawa", "toy/blind-junction", "toy/bus", "toy/straight"] {
        let file = top(&format!("scenarios/{name}/scenario.toml"));
        let text = std::fs::read_to_string(file).expect("the scenario");
        assert_eq!(checked(&text), None, "{name}");
    }
}

#[test]
fn the_schema_refuses_what_the_program_refuses() {
    let folder = std::env::temp_dir().join(format!("covey-schema-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("scenario.toml");
    for (line, expected) in [
        (
            "protocol.allowance = 0.0",
            "protocol.allowance: found 0, expected above 0",
        ),
        (
            "protocol.targt = 0.3",
            "line 2: unknown field `targt` in `protocol`: did you mean `target`?",
        ),
        (
            "channel.capacity_bytes_per_s = 1e5",
            "set `protocol.capacity_bytes_per_s`",
        ),
        ("traffic.car.accel = 3.0", "missing field"),
        ("sizes = \"huge\"", "found \"huge\", expected \"tr103562\""),
        (
            "evaluation.sample_one_in = 0",
            "evaluation.sample_one_in: found 0",
        ),
        ("protocol.novelty = 1", "found 1, expected true or false"),
        ("demand.target = 1.5", "demand.target: found 1.5"),
    ] {
        let text = format!("map.net = \"a.net.xml\"\n{line}\n");
        assert!(checked(&text).is_some(), "{line}");
        std::fs::write(&file, text).expect("the scenario");
        covey(&["run", &file.to_string_lossy()], "").refused(&["scenario.toml", expected]);
    }
    std::fs::remove_dir_all(folder).expect("the folder goes");
}
